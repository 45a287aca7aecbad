"""Figures of one cell: what a method's decisions were worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import f1_score, log_loss, roc_auc_score

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.datasets import Dataset
from seqclass.evaluation.calibration_curves import calibration_error
from seqclass.experiment._keeping import Decided
from seqclass.metrics import realised_cost

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def scores(data: Dataset, y: IntArray, decided: Decided) -> dict[str, float]:
    """Scores of decisions on rows with labels ``y``; NaN where one is not defined."""
    classes = np.arange(data.n_classes)
    known = data.decision_costs is not None
    figures = {
        "realised_cost": realised_cost(
            y,
            decided.decision,
            decided.paid,
            decision_costs=data.decision_costs,
            classes=classes if known else None,
            decisions=np.arange(data.n_classes + len(data.decisions)) if known else None,
        ),
        "accuracy": float(np.mean(decided.decision == y)),
        "referred": float(np.mean(~np.isin(decided.decision, classes))),
        "macro_f1": _macro_f1(y, decided.decision, classes),
        **_class_shares(y, decided.decision, data.n_classes),
        "auroc": float("nan"),
        "log_loss": float("nan"),
        "calibration_error": float("nan"),
    }
    if decided.proba is not None:
        figures["auroc"] = _auroc(y, decided.proba)
        figures["log_loss"] = float(log_loss(y, decided.proba, labels=classes))
        figures["calibration_error"] = calibration_error(y, decided.proba)
    return figures | _spread("n_features", decided.n_features) | _spread("paid", decided.paid)


def _macro_f1(y: IntArray, decision: npt.NDArray[Any], classes: IntArray) -> float:
    # decisions beyond the classes, such as "refer", take part as misses of every class
    decided = np.where(np.isin(decision, classes), decision, -1).astype(np.intp)
    present = np.union1d(y, decided[decided >= 0])
    return float(f1_score(y, decided, labels=present, average="macro", zero_division=0.0))


def _class_shares(y: IntArray, decision: npt.NDArray[Any], n_classes: int) -> dict[str, float]:
    """Sensitivity and specificity of the second of two classes; of more classes the means over those there are."""
    figures = {}
    for name, of_class in (("sensitivity", True), ("specificity", False)):
        shares = []
        for c in [1] if n_classes == 2 else range(n_classes):
            rows = (y == c) == of_class
            shares += [np.mean((decision[rows] == c) == of_class)] if rows.any() else []
        figures[name] = float(np.mean(shares)) if shares else float("nan")
    return figures


def _auroc(y: IntArray, proba: FloatArray) -> float:
    """Mean over classes of the area for that class against the rest; of two classes, that of the second."""
    n_classes = proba.shape[1]
    if np.unique(y).size < n_classes or n_classes < 2:
        return float("nan")
    areas = [roc_auc_score(y == c, proba[:, c]) for c in ([1] if n_classes == 2 else range(n_classes))]
    return float(np.mean(areas))


def _spread(name: str, values: npt.NDArray[Any]) -> dict[str, float]:
    figures = {f"{name}_mean": float(np.mean(values))}
    for q, value in zip(QUANTILES, np.quantile(values, QUANTILES).tolist()):
        figures[f"{name}_q{round(100 * q):02d}"] = value
    return figures | {f"{name}_max": float(np.max(values))}
