"""One cell of an experiment: a pure function of its settings, its method and its data."""

from __future__ import annotations

import platform
import threading
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

from seqclass import __version__
from seqclass._arrays import FloatArray
from seqclass._fitting import PREPROCESSING
from seqclass._frames import is_frame
from seqclass.classifier import SequentialClassifier
from seqclass.costs import resolve_prices
from seqclass.datasets import Dataset
from seqclass.experiment._memory import peak_memory
from seqclass.experiment._purchases import Decided, purchases
from seqclass.experiment._scores import scores
from seqclass.experiment.protocols import Protocol
from seqclass.pomdp import evaluate

_STEPS = (*PREPROCESSING, "solve", "certify")
#: Instances that are simulated where a policy's expected cost cannot be enumerated.
_PATHS = 10_000
#: Characters of a warning or an error.
_LONGEST = 500
#: Warnings, threads of BLAS and memory belong to a process: cells in threads of one take turns.
_ONE_AT_A_TIME = threading.Lock()


class Held:
    """A data set whose size tells dask to send it to each worker once, not with every cell."""

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def __sizeof__(self) -> int:
        X = self.data.X
        parts = [X.data, X.indices, X.indptr] if hasattr(X, "indptr") else [X]
        return 64 + sum(int(part.memory_usage().sum()) if is_frame(part) else part.nbytes for part in parts)


@dataclass(frozen=True, eq=False)
class Cell:
    """What one cell is to do.

    Attributes
    ----------
    key : str
        Hash of ``settings``.
    settings : dict
        Canonical settings.
    labels : dict
        What the table says of the cell: data, method, price, seed, fold.
    estimator : estimator
        The unfitted method, its price and seed set.
    costs : dict
        ``feature_costs`` and the data set's other costs.
    protocol : Protocol
        How rows are cut.
    """

    key: str
    settings: dict[str, Any]
    labels: dict[str, Any]
    estimator: Any
    costs: dict[str, Any]
    protocol: Protocol


def run_cell(cell: Cell, held: Held) -> tuple[str, dict[str, Any]]:
    """Fit on the training rows of a cell, score on the others; an error becomes part of the answer.

    Parameters
    ----------
    cell : Cell
        What to do.
    held : Held
        The data set.

    Returns
    -------
    key : str
    result : dict
        Column of the table to value.
    """
    found: dict[str, Any] = {"error": ""}
    # one thread, so that neither results nor seconds hang on how many cells run at a time
    with _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught, threadpool_limits(1), peak_memory() as peak:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)  # for developers, as Python itself has it
        started = time.perf_counter()
        try:
            _fit_and_score(cell, held.data, found)
        except Exception as error:
            found["error"] = _message(type(error), error)
        found["seconds_total"] = time.perf_counter() - started
    texts = dict.fromkeys(_message(w.category, w.message) for w in caught)
    return cell.key, found | {"warnings": "\n".join(texts), "peak_mb": peak.mb} | _versions()


def _message(category: type, text: Any) -> str:
    """Name and words of an error or a warning, on one line that is not too long."""
    line = f"{category.__name__}: {' '.join(str(text).split())}"
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def failed(error: str) -> dict[str, Any]:
    """Result of a cell of which nothing is known but why."""
    return {"error": error} | _versions()


def _versions() -> dict[str, str]:
    return {
        "version_seqclass": __version__,
        "version_numpy": np.__version__,
        "version_sklearn": sklearn.__version__,
        "version_python": platform.python_version(),
    }


def _fit_and_score(cell: Cell, data: Dataset, found: dict[str, Any]) -> None:
    train, scored = cell.protocol.split(data, cell.labels["fold"], cell.labels["seed"])
    shared = np.intersect1d(train, scored)
    if shared.size:
        raise ValueError(f"{cell.protocol!r} puts row {shared[0]} both into the training rows and into those scored.")
    found |= {"n_train": len(train), "n_test": len(scored), "n_columns": data.X.shape[1]}
    X = data.X
    X_train, X_test = (X.iloc[train], X.iloc[scored]) if is_frame(X) else (X[train], X[scored])
    started = time.perf_counter()
    fitted = clone(cell.estimator, safe=False).fit(X_train, data.y[train])
    found["seconds_fit"] = time.perf_counter() - started
    clf, X_seen = _sequential(fitted, _known(X_train, X_test) if is_frame(X) else X_test)
    if clf is not None:
        _note_sequential(clf, cell.labels["seed"], found)
    started = time.perf_counter()
    decided = _plain(cell, fitted, X_test) if clf is None else _acquire(clf, X_seen)
    found["seconds_classify"] = time.perf_counter() - started
    proba = decided.proba
    if proba is not None:
        proba = _spread(proba, np.asarray(fitted.classes_), data.n_classes)
    found |= scores(data, data.y[scored], Decided(decided.decision, proba, decided.n_features, decided.cost))


def _sequential(fitted: Any, X: Any) -> tuple[SequentialClassifier | None, Any]:
    """Return the sequential classifier inside a fitted method, if there is one, and what reaches it of ``X``."""
    fitted = getattr(fitted, "best_estimator_", fitted)
    if isinstance(fitted, Pipeline) and isinstance(fitted[-1], SequentialClassifier):
        return fitted[-1], fitted[:-1].transform(X) if len(fitted) > 1 else X
    return (fitted if isinstance(fitted, SequentialClassifier) else None), X


def _known(train: Any, test: Any) -> Any:
    """Test rows in which a category that no training row has is missing."""
    test = test.copy()
    for name in train.columns:
        if train[name].dtype.kind not in "biuf":
            test[name] = test[name].where(test[name].isin(train[name].dropna().unique()))
    return test


def _note_sequential(clf: SequentialClassifier, seed: int, found: dict[str, Any]) -> None:
    """Note what a sequential classifier says of itself."""
    expected = evaluate(clf.problem_, clf.policy_, n_paths=_PATHS, random_state=seed)
    info = clf.policy_.info
    found |= {"expected_cost": expected.cost, "expected_n_features": expected.n_features}
    found |= {"status": info.status, "lower": info.lower, "upper": info.upper, "gap": info.gap}
    found |= {f"seconds_{step}": clf.timings_[step] for step in _STEPS}
    found["seconds_preprocess"] = sum(clf.timings_[step] for step in PREPROCESSING)
    found["seconds_learn"] = clf.timings_["structure"] + clf.timings_["parameters"]


def _acquire(clf: SequentialClassifier, X: Any) -> Decided:
    record = clf.acquire(X)
    return Decided(record.decision, record.posterior, record.n_features, record.cost)


def _plain(cell: Cell, fitted: Any, X: Any) -> Decided:
    """Decide by a classifier without a stopping rule, which acquires all that it needs."""
    decision = np.asarray(fitted.predict(X))
    proba = None
    if hasattr(fitted, "predict_proba"):
        proba = np.asarray(fitted.predict_proba(X), dtype=np.float64)
        proba /= proba.sum(axis=1, keepdims=True)  # which of single precision is not quite 1
    names = [str(name) for name in X.columns] if is_frame(X) else None
    costs = {name: cell.costs.get(name) for name in ("groups", "discounted_costs")}
    prices = resolve_prices(cell.costs["feature_costs"], X.shape[1], names, **costs)
    return Decided(decision, proba, *purchases(fitted, X, prices))


def _spread(proba: FloatArray, known: npt.NDArray[Any], n_classes: int) -> FloatArray:
    """Probabilities of all classes: 0 for those that the training rows lack."""
    if len(known) == n_classes:
        return proba
    spread = np.zeros((len(proba), n_classes))
    spread[:, known] = proba
    return spread
