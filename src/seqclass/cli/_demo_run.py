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
from seqclass.adaptive_classifier import adaptive
from seqclass.classifier import SequentialClassifier
from seqclass.cli._progress import progress, working
from seqclass.held_out import HeldOut
from seqclass.metrics import realised_cost
from seqclass.recipes import etana

#: Price of a measurement; a wrong diagnosis costs 1.
PRICE = 0.01
#: The method whose model tells the story.
OURS = "adaptive"
#: The one whose stopping rule is certified for its order.
ETANA = "ETANA"


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
        Mean time per fold; of ours, of a fit to all rows, with what it tries.
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
        One a method, ours first.
    gap : float
        Largest certified gap of ETANA over the folds; NaN where it was left out.
    chosen : str
        What ours chose among the ways to learn that it tried.
    model : SequentialClassifier
        What ours chose, fitted without the first fold.
    X_held_out : DataFrame of shape (n, 30)
        The first fold.
    y_held_out : ndarray of shape (n,)
        Its labels.
    held_out : HeldOut
        What ours, fitted to all rows, expects, and what the choice costs on the same folds, beside its yardsticks.
    """

    results: list[Result]
    gap: float
    chosen: str
    model: SequentialClassifier
    X_held_out: Any
    y_held_out: Any
    held_out: HeldOut


def others(seed: int) -> dict[str, Callable[[], Any]]:
    """Return the methods that ours is compared with, unfitted, by name."""
    return {
        ETANA: lambda: etana(feature_costs=PRICE, random_state=seed),
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
        Names of the methods that ours is compared with; by default all.
    n_splits : int
        Number of folds.

    Returns
    -------
    Comparison
    """
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target.to_numpy()]
    folds = list(StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(X, y))
    with working("choosing how to learn"):
        started = time.perf_counter()
        whole = adaptive(PRICE, effort="quick", random_state=seed).fit(X, y, held_out=n_splits)
        took = time.perf_counter() - started
        way = "" if whole.choice_ is None else whole.choice_.chosen
        train, held_out = folds[0]
        model = whole.chosen().fit(X.iloc[train], y[train])
        started = time.perf_counter()
        model.predict(X.iloc[held_out])
        predicting = time.perf_counter() - started
    results = [_of_ours(whole.held_out_, took, predicting)]
    chosen = {name: make for name, make in others(seed).items() if only is None or name in only}
    runs: dict[str, list[tuple[FloatArray, float, float]]] = {name: [] for name in chosen}
    gaps: list[float] = []
    for name, fold in progress([(name, fold) for name in chosen for fold in folds], "cross-validating"):
        clf, run = _run(chosen[name](), X, y, *fold)
        runs[name].append(run)
        if name == ETANA:
            gaps.append(clf.policy_.info.gap)
    results += [_result(name, parts) for name, parts in runs.items()]
    gap = max(gaps, default=float("nan"))
    return Comparison(results, gap, way, model, X.iloc[held_out], y[held_out], whole.held_out_)


def _run(clf: Any, X: Any, y: Any, train: Any, test: Any) -> tuple[Any, tuple[FloatArray, float, float]]:
    """A fitted method, and of its test rows errors and features (n, 2), seconds to fit and to predict."""
    started = time.perf_counter()
    clf.fit(X.iloc[train], y[train])
    fitted = time.perf_counter()
    decision = clf.predict(X.iloc[test])
    predicted = time.perf_counter()
    wrong = (decision != y[test]).astype(float)
    found = np.column_stack([wrong, features_used(clf, X.iloc[test])])
    return clf, (found, fitted - started, predicted - fitted)


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


def _of_ours(held: HeldOut, fit_seconds: float, predict_seconds: float) -> Result:
    return Result(OURS, 1 - held.error, held.n_features, held.price, held.cost, fit_seconds, predict_seconds)


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
