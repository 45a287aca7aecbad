"""Figures of randomised searches: error against evaluations on the generated data of the Semi-RFS paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification

from seqclass._arrays import FloatArray
from seqclass.reproduction._context import Context
from seqclass.reproduction.table import Row, Table
from seqclass.selection import SemiRFS

__all__ = ["SearchTable", "SmallBayes", "paper_data"]

_DATA = "made, 300 x 500"
#: Subsets scored in a run, runs and features; of a quick run.
_BUDGET, _RUNS, _FEATURES = 1000, 4, 500
_QUICK = 20, 1, 60
_MARKS = (10, 25, 50, 100)
_BASELINE = "RFS"


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


def paper_data(run: int, n_features: int = _FEATURES) -> tuple[Any, Any, Any, Any]:
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
        """Search in each form, and give a row a quantity."""
        budget, runs, n_features = _QUICK if context.quick else (_BUDGET, _RUNS, _FEATURES)
        forms = [(what, *form) for what in ("published", "ours") for form in self._forms(what)]
        missing = {_key(settings): settings for *_, settings in forms if _key(settings) not in context.shared}
        jobs = [(key, run) for key in missing for run in range(runs)]
        curves = Parallel(context.n_jobs)(delayed(_curve)(missing[key], budget, run, n_features) for key, run in jobs)
        for key in missing:
            found = [curve for (of, _), curve in zip(jobs, curves) if of == key]
            context.shared[key] = {name: np.mean([curve[name] for curve in found], axis=0) for name in found[0]}
        rfs = context.shared[_key(self.forms[_BASELINE])]
        for what, name, settings in forms:
            for quantity, value in _quantities(context.shared[_key(settings)], rfs).items():
                shown: dict[str, Any] = {what: value}
                yield replace(Row(_DATA, name, quantity), **shown)

    def _forms(self, what: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        yield from (self.forms if what == "published" else self.ours).items()


def _key(settings: Mapping[str, Any]) -> tuple[str, str]:
    return "search", repr(sorted(settings.items()))


def _curve(settings: Mapping[str, Any], budget: int, run: int, n_features: int) -> dict[str, Any]:
    """Best error after each evaluation of one run, its seconds and group sizes, and what came of it."""
    X, y, X_test, y_test = paper_data(run, n_features)
    learner = SmallBayes()
    made = SemiRFS(learner, max_evaluations=budget, patience=None, random_state=run, **settings).fit(X, y)
    short = budget - len(made.evaluations_["best_score"])  # a search that was exhausted stays where it is
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


def _quantities(curve: Mapping[str, Any], rfs: Mapping[str, Any]) -> dict[str, float]:
    error = curve["error"]
    found = {f"CV error after {mark}%": float(error[max(1, len(error) * mark // 100) - 1]) for mark in _MARKS}
    there = np.flatnonzero(error <= rfs["error"][-1] + 1e-12)
    found["evaluations to RFS's final error"] = float(there[0] + 1) if there.size else np.nan
    found["seconds to RFS's final error"] = float(curve["seconds"][there[0]]) if there.size else np.nan
    names = {"test": "test error", "features": "features", "first": "group size, first quarter"}
    names["last"] = "group size, last quarter"
    return found | {shown: float(curve[name]) for name, shown in names.items()}
