"""One cell of an experiment: a pure function of its settings, its method and its data."""

from __future__ import annotations

import platform
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

from seqclass._utils.frames import is_frame
from seqclass.costs import resolve_prices
from seqclass.datasets import Dataset
from seqclass.deciding._record import AcquisitionRecord
from seqclass.experiment._keeping import (
    Decided,
    Keep,
    Reached,
    Scored,
    keep_parts,
    known_categories,
    purchases,
    reached,
    spread,
)
from seqclass.experiment._keys import code_version
from seqclass.experiment._scores import scores
from seqclass.experiment.protocols import Protocol
from seqclass.fitting._steps import PREPROCESSING
from seqclass.pomdp import evaluate

_PROCESS = Path("/proc/self")


class PeakMemory:
    """Growth of a process's resident memory over what it held before."""

    def __init__(self) -> None:
        #: Megabytes; NaN where the system does not tell.
        self.mb = float("nan")


@contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measure the peak of resident memory during a block, above what was resident before."""
    peak = PeakMemory()
    try:
        (_PROCESS / "clear_refs").write_text("5")
        before = _kilobytes("VmRSS")
    except OSError:
        yield peak
        return
    yield peak
    peak.mb = max(0, _kilobytes("VmHWM") - before) * 1024 / 1e6


def _kilobytes(entry: str) -> int:
    lines = (_PROCESS / "status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(entry)).split()[1])


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
        What the table says of the cell: data, method, price, seed, fold, and its hard budget if any.
    estimator : estimator
        The unfitted method, its price and seed set.
    costs : dict
        ``feature_costs`` and the data set's other costs.
    protocol : Protocol
        How rows are cut.
    keep : Keep
        How much to keep of the instances.
    known : tuple of str
        Columns of the data set that are known at the start.
    budget : int or None
        Hard budget.
    """

    key: str
    settings: dict[str, Any]
    labels: dict[str, Any]
    estimator: Any
    costs: dict[str, Any]
    protocol: Protocol
    keep: Keep = field(default_factory=Keep)
    known: tuple[str, ...] = ()
    budget: int | None = None


def run_cell(cell: Cell, held: Held) -> tuple[str, dict[str, Any], dict[str, bytes]]:
    """Fit on the training rows of a cell, score on the others; an error becomes part of the answer."""
    # one thread, so that neither results nor seconds hang on how many cells run at a time
    with _ONE_AT_A_TIME, threadpool_limits(1):
        found, scored = _measured(cell, held.data)
        parts: dict[str, bytes] = {}
        if scored is not None:  # neither seconds nor memory of the cell have this in them
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parts, troubles = keep_parts(cell.keep, held.data, scored)
            texts = [found["warnings"], *(_message(UserWarning, trouble) for trouble in troubles)]
            found["warnings"] = "\n".join(filter(None, texts))
    return cell.key, found | _versions(), parts


def _measured(cell: Cell, data: Dataset) -> tuple[dict[str, Any], Scored | None]:
    """Figures of a cell with its error, warnings, seconds and memory, and what it decided."""
    found: dict[str, Any] = {"error": ""}
    scored = None
    with warnings.catch_warnings(record=True) as caught, peak_memory() as peak:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)  # for developers, as Python itself has it
        started = time.perf_counter()
        try:
            scored = _fit_and_score(cell, data, found)
        except Exception as error:
            found["error"] = _message(type(error), error)
        found["seconds_total"] = time.perf_counter() - started
    texts = dict.fromkeys(_message(w.category, w.message) for w in caught)
    return found | {"warnings": "\n".join(texts), "peak_mb": peak.mb}, scored


def _message(category: type, text: Any) -> str:
    """Name and words of an error or a warning, on one line that is not too long."""
    line = f"{category.__name__}: {' '.join(str(text).split())}"
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def failed(error: str) -> dict[str, Any]:
    """Result of a cell of which nothing is known but why."""
    return {"error": error} | _versions()


def _versions() -> dict[str, str]:
    return {
        "version_seqclass": code_version(),
        "version_numpy": np.__version__,
        "version_sklearn": sklearn.__version__,
        "version_python": platform.python_version(),
    }


def _fit_and_score(cell: Cell, data: Dataset, found: dict[str, Any]) -> Scored:
    train, rows = cell.protocol.split(data, cell.labels["fold"], cell.labels["seed"])
    shared = np.intersect1d(train, rows)
    if shared.size:
        raise ValueError(f"{cell.protocol!r} puts row {shared[0]} both into the training rows and into those scored.")
    found |= {"n_train": len(train), "n_test": len(rows), "n_columns": data.X.shape[1]}
    X = data.X
    X_train, X_test = (X.iloc[train], X.iloc[rows]) if is_frame(X) else (X[train], X[rows])
    started = time.perf_counter()
    fitted = clone(cell.estimator, safe=False).fit(X_train, data.y[train])
    found["seconds_fit"] = time.perf_counter() - started
    inside = reached(fitted, known_categories(X_train, X_test) if is_frame(X) else X_test, data)
    if inside is not None:
        inside = inside.under(cell.known, data.names(), cell.budget)
        _note_sequential(inside, cell.labels["seed"], found)
    started = time.perf_counter()
    decided, record = (_plain(cell, fitted, X_test, data), None) if inside is None else _acquire(inside)
    found["seconds_classify"] = time.perf_counter() - started
    if decided.proba is not None:
        decided = replace(decided, proba=spread(decided.proba, np.asarray(fitted.classes_), data.n_classes))
    found |= scores(data, data.y[rows], decided)
    return Scored(rows, decided, inside, record)


def _note_sequential(inside: Reached, seed: int, found: dict[str, Any]) -> None:
    """Note what a sequential classifier says of itself."""
    clf = inside.classifier
    info = clf.policy_.info
    found["status"] = info.status
    if inside.is_plain:  # what it expects and certifies is of its policy, from nothing to its own stop
        expected = evaluate(clf.problem_, clf.policy_, n_paths=_PATHS, random_state=seed)
        found |= {"expected_cost": expected.cost, "expected_n_features": expected.n_features}
        found |= {"lower": info.lower, "upper": info.upper, "gap": info.gap, "scope": info.scope}
    found |= {f"seconds_{step}": clf.timings_[step] for step in _STEPS}
    found["seconds_preprocess"] = sum(clf.timings_[step] for step in PREPROCESSING)
    found["seconds_learn"] = clf.timings_["structure"] + clf.timings_["parameters"]


def _acquire(inside: Reached) -> tuple[Decided, AcquisitionRecord]:
    record = inside.acquire(inside.X)
    return Decided(record.decision, record.posterior, record.n_features, record.cost), record


def _plain(cell: Cell, fitted: Any, X: Any, data: Dataset) -> Decided:
    """Decide by a classifier without a stopping rule, which acquires all that it needs."""
    decision = np.asarray(fitted.predict(X))
    proba = None
    if hasattr(fitted, "predict_proba"):
        proba = np.asarray(fitted.predict_proba(X), dtype=np.float64)
        proba /= proba.sum(axis=1, keepdims=True)  # which of single precision is not quite 1
    names = [str(name) for name in X.columns] if is_frame(X) else None
    costs = {name: cell.costs.get(name) for name in ("groups", "discounted_costs")}
    prices = resolve_prices(cell.costs["feature_costs"], X.shape[1], names, **costs)
    own = data.names() if cell.known else []
    n_features, cost = purchases(fitted, X, prices, [own.index(name) for name in cell.known])
    if cell.budget is not None and n_features.max(initial=0) > cell.budget:
        raise ValueError(
            f"the method acquires {n_features.max()} features, more than the hard budget of {cell.budget}, and cannot "
            "be cut short; put a selector of so many features before it."
        )
    return Decided(decision, proba, n_features, cost)
