"""Figures of randomised searches: error against evaluations on the generated data of the Semi-RFS paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification

from reproduction._context import Context
from reproduction._pieces import Piece, Result, compute
from reproduction.row import Curve, Row
from reproduction.table import Table, failure
from seqclass._utils.arrays import FloatArray
from seqclass.experiment._keys import canonical, key_of
from seqclass.selection import SemiRFS
from seqclass.stats import paired_t_test

__all__ = ["SearchTable", "SmallBayes", "paper_data", "search_curve"]

_DATA = "made, 300 x 500"
_MARKS = (10, 25, 50, 100)
_BASELINE = "RFS"


class _Size(NamedTuple):
    """How much is computed: subsets scored in a run, runs, and features."""

    budget: int
    runs: int
    n_features: int


_FULL, _QUICK = _Size(1000, 20, 500), _Size(20, 2, 60)
#: Figures of a run whose differences to the baseline's are told, and how they are called.
_COMPARED = {"error": "CV error", "test": "test error"}


class SmallBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian naive Bayes in a few lines: the search rather than input checks takes the time.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.

    Examples
    --------
    >>> SmallBayes().fit(np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])).predict(np.array([[4.0]]))
    array([1])
    """

    def fit(self, X: FloatArray, y: npt.NDArray[Any]) -> SmallBayes:
        """Learn means and variances, class by class."""
        self.classes_, counts = np.unique(y, return_counts=True)
        member = (y == self.classes_[:, None]) / counts[:, None]
        self.mean_ = member @ X
        self.precision_ = 1 / (member @ X**2 - self.mean_**2 + 1e-9)
        self.offset_ = np.log(counts) + 0.5 * np.log(self.precision_).sum(1)
        self.offset_ -= 0.5 * (self.mean_**2 * self.precision_).sum(1)
        return self

    def predict(self, X: FloatArray) -> npt.NDArray[Any]:
        """Most probable labels."""
        logs = X @ (self.mean_ * self.precision_).T - 0.5 * X**2 @ self.precision_.T + self.offset_
        found: npt.NDArray[Any] = self.classes_[logs.argmax(1)]
        return found

    def score(self, X: FloatArray, y: npt.NDArray[Any], sample_weight: Any = None) -> float:
        """Accuracy."""
        return float(np.mean(self.predict(X) == y))


def paper_data(run: int, n_features: int = 500) -> tuple[Any, Any, Any, Any]:
    """Data of the paper's figures: 300 instances to search on, and 2000 that the search never sees.

    Parameters
    ----------
    run : int
        Seed.
    n_features : int
        Features, of which 26 are informative and 4 redundant with them.

    Returns
    -------
    X, y, X_test, y_test : ndarray

    Examples
    --------
    >>> X, y, X_test, y_test = paper_data(0)
    >>> X.shape, X_test.shape, len(set(y.tolist()))
    ((300, 500), (2000, 500), 3)
    """
    X, y = make_classification(
        2300, n_features, n_informative=26, n_redundant=4, n_classes=3, n_clusters_per_class=1, random_state=run
    )
    return X[:300], y[:300], X[300:], y[300:]


@dataclass(frozen=True)
class SearchTable(Table):
    """Forms of the search, each with as many evaluations.

    Attributes
    ----------
    forms : mapping
        Settings of `seqclass.selection.SemiRFS` as published, by name.
    ours : mapping
        Settings of ours, by name.

    Examples
    --------
    >>> SearchTable("toy-1", "One search", forms={"static": {"adaptive": False}}).files()
    {}
    """

    forms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ours: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def files(self) -> Mapping[str, str]:
        """None: the data is generated."""
        return {}

    def rows(self, context: Context) -> Iterator[Row]:
        """Search in each form, and give a row a quantity; means over the runs that did not fail.

        Differences to the baseline are those of runs on the same data, with their 95% intervals.
        """
        forms = [("published", *form) for form in self.forms.items()] + [("ours", *form) for form in self.ours.items()]
        runs = (_QUICK if context.quick else _FULL).runs
        pieces = [_piece(name, settings, run, context) for _, name, settings in forms for run in range(runs)]
        results = compute(pieces, context)
        found = {name: results[k * runs : (k + 1) * runs] for k, (_, name, _) in enumerate(forms)}
        baseline = _mean_curve(found[_BASELINE])
        for what, name, _ in forms:
            errors = [result.error for result in found[name] if result.error]
            context.curves += _curves(name, what, found[name])
            note = failure(f"{len(errors)} of {runs} runs of {name}", errors[0]) if errors else ""
            quantities = _quantities(_mean_curve(found[name]), baseline) | _less(found[name], found[_BASELINE])
            for quantity, value in quantities.items():
                shown: dict[str, Any] = {what: value}
                yield replace(Row(_DATA, name, quantity, note=note), **shown)


def _piece(name: str, settings: Mapping[str, Any], run: int, context: Context) -> Piece:
    size = _QUICK if context.quick else _FULL
    made = SemiRFS(SmallBayes(), max_evaluations=size.budget, patience=None, random_state=run, **settings)
    return Piece(
        f"{name}, run {run + 1} of {size.runs}",
        search_curve,
        lambda: (made, *paper_data(run, size.n_features)),
        {"search": made, "data": _data_key(run, size.n_features)},
    )


@cache
def _data_key(run: int, n_features: int) -> str:
    return key_of({"arrays": canonical(paper_data(run, n_features))})


def search_curve(
    search: SemiRFS, X: FloatArray, y: npt.NDArray[Any], X_test: FloatArray, y_test: npt.NDArray[Any]
) -> dict[str, Any]:
    """Run a search: best error after each evaluation, its seconds and group sizes, and what came of it.

    Parameters
    ----------
    search : SemiRFS
        Its settings, with a bound on evaluations.
    X, y : ndarray of shape (n, n_features) and (n,)
        What it searches on.
    X_test, y_test : ndarray of shape (n_test, n_features) and (n_test,)
        What the subset that it finds is tested on.

    Returns
    -------
    dict
        ``"error"`` and ``"seconds"``, ndarrays of shape (n_evaluations,), and ``"features"``, ``"test"``, ``"first"``
        and ``"last"``.

    Examples
    --------
    >>> search = SemiRFS(SmallBayes(), max_evaluations=20, patience=None, random_state=0)
    >>> curve = search_curve(search, *paper_data(0, 60))
    >>> curve["error"].shape, bool(curve["error"][-1] <= curve["error"][0])
    ((20,), True)
    """
    made = clone(search).fit(X, y)
    learner = clone(search.estimator)
    n_done = len(made.evaluations_["best_score"])
    short = max(n_done, search.max_evaluations or 0) - n_done  # an exhausted search stays where it is
    sizes = made.history_["group_size"]
    sizes = sizes[sizes > 0]  # of moves that add something
    quarter = max(1, len(sizes) // 4)
    return {
        "error": np.pad(1 - made.evaluations_["best_score"], (0, short), mode="edge"),
        "seconds": np.pad(made.evaluations_["time"], (0, short), mode="edge"),
        "features": float(made.n_features_),
        "test": 1 - learner.fit(made.transform(X), y).score(made.transform(X_test), y_test),
        "first": float(sizes[:quarter].mean()) if len(sizes) else np.nan,
        "last": float(sizes[-quarter:].mean()) if len(sizes) else np.nan,
    }


def _mean_curve(results: Sequence[Result]) -> dict[str, Any]:
    """Means over runs of each figure, those that failed left out; nothing if all did."""
    done = [result.figures for result in results if not result.error]
    return {name: np.mean([figures[name] for figures in done], axis=0) for name in done[0]} if done else {}


def _curves(name: str, source: str, results: Sequence[Result]) -> list[Curve]:
    """Error against evaluations: mean and range over the runs that did not fail; none if all did."""
    errors = np.array([result.figures["error"] for result in results if not result.error])
    if not errors.size:
        return []
    x = tuple(range(1, errors.shape[1] + 1))
    ends = (tuple(of(axis=0).tolist()) for of in (errors.mean, errors.min, errors.max))
    return [Curve(_DATA, name, "CV error", source, x, *ends)]


def _quantities(curve: Mapping[str, Any], rfs: Mapping[str, Any]) -> dict[str, float]:
    """Figures of a mean curve by quantity, some of them against that of the baseline; NaN where a curve is missing."""
    error = curve.get("error", np.full(1, np.nan))
    found = {f"CV error after {mark}%": float(error[max(1, len(error) * mark // 100) - 1]) for mark in _MARKS}
    there = np.flatnonzero(error <= rfs["error"][-1] + 1e-12) if rfs else np.empty(0)
    found["evaluations to RFS's final error"] = float(there[0] + 1) if there.size else np.nan
    found["seconds to RFS's final error"] = float(curve["seconds"][there[0]]) if there.size else np.nan
    names = {"test": "test error", "features": "features", "first": "group size, first quarter"}
    names["last"] = "group size, last quarter"
    return found | {shown: float(curve.get(name, np.nan)) for name, shown in names.items()}


def _less(results: Sequence[Result], baseline: Sequence[Result]) -> dict[str, float]:
    """Mean differences of final errors to the baseline's, run by run, and their intervals; NaN where there is none."""
    pairs = [(a.figures, b.figures) for a, b in zip(results, baseline) if not (a.error or b.error)]
    found: dict[str, float] = {}
    for figure, shown in _COMPARED.items():
        told = f"{shown} less RFS's"
        ends: tuple[float, ...] = (np.nan, np.nan, np.nan)
        if len(pairs) > 1 and results is not baseline:
            ours, theirs = ([float(np.ravel(one[figure])[-1]) for one in side] for side in zip(*pairs))
            test = paired_t_test(ours, theirs)
            ends = test.difference, *(test.interval or ends[1:])
        found |= dict(zip((told, f"{told}, from", f"{told}, to"), ends))
    return found
