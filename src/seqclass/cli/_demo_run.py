"""The comparison of `seqclass demo`: cross-validation of ours and of ordinary classifiers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from seqclass._arrays import FloatArray
from seqclass.classifier import SequentialClassifier
from seqclass.cli._progress import progress, working
from seqclass.held_out import HeldOut
from seqclass.metrics import realised_cost
from seqclass.recipes import etana

#: Price of a measurement; a wrong diagnosis costs 1.
PRICE = 0.01
#: The method whose model tells the story.
OURS = "ETANA"


@dataclass(frozen=True)
class Result:
    """Cross-validated measures of one method; costs in units of misclassification cost.

    Attributes
    ----------
    method : str
        Its name.
    accuracy : float
        Share of right decisions.
    mean_features, mean_cost, realised_cost : float
        Features acquired, prices paid, and prices plus errors, per instance.
    fit_seconds, predict_seconds : float
        Mean time per fold.
    """

    method: str
    accuracy: float
    mean_features: float
    mean_cost: float
    realised_cost: float
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class Comparison:
    """What the demo found.

    Attributes
    ----------
    results : list of Result
        One a method.
    gap : float
        Largest certified gap of ours over the folds.
    model : SequentialClassifier
        Ours, as fitted without the first fold.
    X_held_out : DataFrame of shape (n, 30)
        The first fold.
    y_held_out : ndarray of shape (n,)
        Its labels.
    held_out : HeldOut
        What ours, fitted to all rows, expects, and what it costs on the same folds, beside its yardsticks.
    """

    results: list[Result]
    gap: float
    model: SequentialClassifier
    X_held_out: Any
    y_held_out: Any
    held_out: HeldOut


def methods(seed: int) -> dict[str, Callable[[], Any]]:
    """Return the methods that are compared, unfitted, by name."""
    return {
        OURS: lambda: etana(feature_costs=PRICE, random_state=seed),
        "ETANA as published": lambda: etana(feature_costs=PRICE, published=True, random_state=seed),
        "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "random forest": lambda: RandomForestClassifier(random_state=seed),
        "decision tree": lambda: DecisionTreeClassifier(random_state=seed),
        "naive Bayes": GaussianNB,
    }


def compare(seed: int = 0, only: Sequence[str] | None = None, n_splits: int = 5) -> Comparison:
    """Cross-validate.

    Parameters
    ----------
    seed : int
        Seed of the folds and of the methods.
    only : sequence of str, optional
        Names of the methods to run, ours among them; by default all.
    n_splits : int
        Number of folds.

    Returns
    -------
    Comparison
    """
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target.to_numpy()]
    chosen = {name: make for name, make in methods(seed).items() if only is None or name in only}
    folds = list(StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(X, y))
    runs: dict[str, list[tuple[FloatArray, float, float]]] = {name: [] for name in chosen}
    ours: list[SequentialClassifier] = []
    for name, (train, test) in progress([(name, fold) for name in chosen for fold in folds], "cross-validating"):
        clf = chosen[name]()
        started = time.perf_counter()
        clf.fit(X.iloc[train], y[train])
        fitted = time.perf_counter()
        decision = clf.predict(X.iloc[test])
        predicted = time.perf_counter()
        used = features_used(clf, X.iloc[test])
        wrong = (decision != y[test]).astype(float)
        runs[name].append((np.column_stack([wrong, used]), fitted - started, predicted - fitted))
        if name == OURS:
            ours.append(clf)
    results = [_result(name, parts) for name, parts in runs.items()]
    held_out = folds[0][1]
    gap = max(clf.policy_.info.gap for clf in ours)
    with working("fitting to all rows"):
        whole = methods(seed)[OURS]().fit(X, y, held_out=n_splits)
    return Comparison(results, gap, ours[0], X.iloc[held_out], y[held_out], whole.held_out_)


def features_used(clf: Any, X: Any) -> FloatArray:
    """Number of features that a classifier looks at, for each row, (n,)."""
    if isinstance(clf, SequentialClassifier):
        return clf.acquire(X).n_features.astype(float)
    if isinstance(clf, DecisionTreeClassifier):
        path = clf.decision_path(X).tocoo()
        feature = clf.tree_.feature[path.col]
        inner = feature >= 0
        seen = np.zeros((X.shape[0], X.shape[1]), dtype=bool)
        seen[path.row[inner], feature[inner]] = True
        return np.asarray(seen.sum(axis=1), dtype=float)
    return np.full(X.shape[0], float(X.shape[1]))


def _result(name: str, parts: list[tuple[FloatArray, float, float]]) -> Result:
    wrong, used = np.concatenate([part[0] for part in parts]).T
    return Result(
        method=name,
        accuracy=float(1 - wrong.mean()),
        mean_features=float(used.mean()),
        mean_cost=float(PRICE * used.mean()),
        realised_cost=realised_cost(np.zeros(len(wrong)), wrong, PRICE * used),
        fit_seconds=float(np.mean([part[1] for part in parts])),
        predict_seconds=float(np.mean([part[2] for part in parts])),
    )
