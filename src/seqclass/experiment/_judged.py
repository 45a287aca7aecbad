"""Kept instances of some cells with what each cost: curves, scores by class, and differences case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.evaluation.decision_curves import DecisionCurve, class_position, decision_curve, miss_cost
from seqclass.evaluation.scores import ClassScores, Told
from seqclass.experiment._keeping import COSTS, INSTANCES, Arrays, unpack, unpacking
from seqclass.experiment._store import opened, parts_of


@dataclass(frozen=True, eq=False)
class Judged:
    """Instances that some cells of one method on one data set kept, one cell's after the other's.

    Attributes
    ----------
    classes : list of str
        Labels of the classes.
    rows : ndarray of int of shape (n,)
        Rows of the data set.
    told : Told
        Labels, decisions, prices paid, costs of decisions, and features.
    proba : ndarray of shape (n, n_classes) or None
        Class probabilities, where the method has them.
    n_train : float
        Mean number of training rows.
    """

    classes: list[str]
    rows: IntArray
    told: Told
    proba: FloatArray | None
    n_train: float

    @property
    def costs(self) -> FloatArray:
        """Price paid plus decision cost of each instance, (n,)."""
        return self.told.paid + self.told.wrong

    def curve(
        self,
        name: str,
        positive: Any = None,
        thresholds: npt.ArrayLike | None = None,
        prevalence: float | None = None,
    ) -> DecisionCurve:
        """Decision curve of the pooled instances, each of which was held out of its own fit."""
        if self.proba is None:
            raise ValueError(f"{name!r} gives no class probabilities, and so has no decision curve.")
        column = class_position(np.array(self.classes), positive)
        labels = np.array(self.classes)[self.told.label]
        return decision_curve(
            labels,
            self.proba[:, column],
            positive=self.classes[column],
            classes=self.classes,
            thresholds=thresholds,
            price=self.told.paid,
            benefit=miss_cost(self.told.decision_costs, column),
            prevalence=prevalence,
            name=name,
            shared=1 / self.n_train,
        )

    def scores(self) -> tuple[ClassScores, ...]:
        """Scores class by class."""
        return self.told.classes(self.classes)


def judged(path: Path, cells: Any) -> Judged:
    """Read what some cells of one method on one data set kept."""
    kept = parts_of(path, cells, INSTANCES)
    with unpacking():
        parts = [unpack(content) for _, content in kept]
    with opened(path) as store:
        priced = any("decision_costs" in name for name, _ in store.settings(cells.index[0])["costs"]["mapping"])
    classes, decisions = list(parts[0][1]["classes"]), max((about["decisions"] for _, about in parts), key=len)
    proba = [arrays.get("proba") for arrays, _ in parts]
    told = Told(
        _whole(parts, "truth"),
        _whole(parts, "decision"),
        _joined(parts, "cost"),
        _decision_costs(parts[0][1], priced, len(classes), len(decisions)),
        _whole(parts, "n_features"),
    )
    there = [one for one in proba if one is not None]
    pooled = np.concatenate(there).astype(np.float64) if len(there) == len(proba) else None
    return Judged(classes, _whole(parts, "row"), told, pooled, float(cells["n_train"].mean()))


def _decision_costs(about: dict[str, Any], priced: bool, n_classes: int, n_decisions: int) -> FloatArray:
    if not priced:
        return np.ones((n_classes, n_decisions)) - np.eye(n_classes, n_decisions)
    if COSTS not in about:
        raise ValueError("these instances were kept without the costs of decisions, which are too many.")
    return np.array(about[COSTS], dtype=np.float64)


def _joined(parts: Sequence[tuple[Arrays, Any]], name: str) -> npt.NDArray[Any]:
    return np.concatenate([arrays[name] for arrays, _ in parts])


def _whole(parts: Sequence[tuple[Arrays, Any]], name: str) -> IntArray:
    return _joined(parts, name).astype(np.intp)


def case_scores(path: Path, cells: Any, metric: str) -> FloatArray | None:
    """Score of each case by one method on one data set, in the order of its rows, mean over prices."""
    by_price = []
    for _, one in cells.groupby(["price", "budget"], sort=False, dropna=False):
        try:
            kept = judged(path, one)
        except ValueError:
            return None
        if len(kept.rows) != int(one["n_test"].sum()):
            return None
        scored = kept.costs if metric == "realised_cost" else kept.told.right
        by_price.append(scored[np.argsort(kept.rows, kind="stable")])
    found: FloatArray | None = np.mean(by_price, axis=0) if len({len(one) for one in by_price}) == 1 else None
    return found
