"""Plain ways to ask for little, each tuned on training rows by realised cost.

In the training rows three folds choose among settings by what they would have cost: prices of all features that are
looked at, and 1 for an error.

A decision tree pays for the features on the path of a row, and is tuned in its pruning and its leaves; L1-penalised
logistic regression for those with a weight, tuned in its penalty; forward selection adds a feature to logistic
regression while that saves more errors than it costs (at the mean price); histogram boosting pays for the k columns
that a forest ranks first, and k is tuned. Three ask one feature after another: the cascade is logistic regression on
the first one, two and so on of an order by forward selection, and stops as soon as it is sure enough or has asked so
many; naive Bayes the same way, tuned in its bins, too; and naive Bayes that asks greedily for what is expected to save
most, one question ahead, tuned in its bins and in how much of the price it looks at. Three know prices as they learn:
the price-pruned tree, tuned in how much of the price it grows by and in its pruning; STreeD, the tree of least cost on
the training rows (depth 2 or 3, two or four bins a column, of 30 columns at most); and LightGBM with cost-effective
penalties, for each row that a feature is new to or once for all, tuned in these, their size and the number of trees; a
row pays for what its paths look at. Forward selection and orders look at the 30 features that differ most between
classes and at 1000 rows at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from benchmarks.suite.cases import Cases, open_cases
from benchmarks.suite.trees import SIZES, Asked, GiniTree, OptimalTree, PenalisedBoosting, PricedTree
from seqclass import SequentialClassifier
from seqclass.bn import NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.fitting._folds import sample_rows
from seqclass.pomdp import Lookahead

MOST_ROWS, MOST_COLUMNS, MOST_TUNED = 1000, 30, 10_000


class Course(NamedTuple):
    """What each row is decided as after no feature, one and so on, how sure that is, and in which order they come."""

    decided: np.ndarray
    sure: np.ndarray
    order: np.ndarray

    def stopped(self, most: int, enough: float) -> Asked:
        """Where it is sure enough, or has asked so many."""
        most = min(most, len(self.sure) - 1)
        count = np.where((done := self.sure[:most] >= enough).any(axis=0), done.argmax(axis=0), most) if most else 0
        count = np.broadcast_to(count, self.sure.shape[1])
        seen = np.arange(len(self.order)) < count[:, None]
        return Asked(self.decided[count, np.arange(len(count))], seen, self.order)


class OnSome:
    """What looks at the same columns of every row."""

    used: np.ndarray
    model: Any

    def asks(self, X: np.ndarray) -> Asked:
        return Asked(self.model.predict(X), np.ones((len(X), len(self.used)), dtype=bool), self.used)

    def acquire(self, cases: Cases) -> np.ndarray:
        X = np.zeros((len(cases), cases.n_features))  # what has no weight may be anything
        for column in self.used.tolist():
            X[:, column] = cases.ask(column)
        decided: np.ndarray = self.model.predict(X)
        return decided


class Lasso(OnSome):
    def __init__(self, prices: np.ndarray, C: float) -> None:
        binary = LogisticRegression(penalty="l1", C=C, solver="liblinear", random_state=0)
        self.model = make_pipeline(StandardScaler(), OneVsRestClassifier(binary))

    def fit(self, X: np.ndarray, y: np.ndarray) -> Lasso:
        weights = [one.coef_ != 0 for one in self.model.fit(X, y)[-1].estimators_]
        self.used = np.flatnonzero(np.any(weights, axis=(0, 1)))
        return self


def most_different(X: np.ndarray) -> Any:
    return make_pipeline(StandardScaler(), SelectKBest(f_classif, k=min(MOST_COLUMNS, X.shape[1])))


def few_rows(y: np.ndarray) -> np.ndarray:
    few = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    # all, where there is a class that the sample hardly has
    return few if np.bincount(y[few], minlength=y.max() + 1)[np.unique(y)].min() >= 3 else np.arange(len(y))


class Forward(OnSome):
    """Forward selection for logistic regression, on rows and columns that are few enough."""

    def __init__(self, prices: np.ndarray, C: float) -> None:
        self.price, self.C = float(prices.mean()), C

    def fit(self, X: np.ndarray, y: np.ndarray) -> Forward:
        few, before = few_rows(y), most_different(X)
        Z, model = before.fit_transform(X, y), LogisticRegression(C=self.C)
        search = SequentialFeatureSelector(
            model, n_features_to_select="auto", tol=self.price, scoring="accuracy", cv=StratifiedKFold(3)
        )
        single = Z.shape[1] == 1  # of which nothing can be selected
        chosen = np.ones(1, dtype=bool) if single else search.fit(Z[few], y[few]).get_support()
        self.used = before[-1].get_support(indices=True)[chosen]
        self.model = make_pipeline(ColumnTransformer([("used", StandardScaler(), self.used)]), model).fit(X, y)
        return self


def in_order(loss: Callable[[list[int]], float], n: int) -> list[int]:
    """All of n columns, each time the one with which those so far lose least."""
    used: list[int] = []
    while len(used) < n:
        used.append(min(set(range(n)) - set(used), key=lambda j: loss([*used, j])))
    return used


class OneByOne:
    """What asks in one order, and has a belief after each answer."""

    before_: Any
    order_: list[int]  # of the columns that are left of ``before_``
    classes_: np.ndarray

    def after(self, k: int, Z: np.ndarray) -> np.ndarray:
        """Beliefs by the first k of the order."""
        raise NotImplementedError

    @property
    def columns(self) -> np.ndarray:
        """The order, by the columns of the table."""
        asked: np.ndarray = self.before_[1].get_support(indices=True)[self.order_]
        return asked

    def asks(self, X: np.ndarray) -> Course:
        Z = self.before_.transform(X)
        beliefs = [self.after(k, Z) for k in range(len(self.order_) + 1)]
        decided = np.stack([self.classes_[belief.argmax(axis=1)] for belief in beliefs])
        return Course(decided, np.stack([belief.max(axis=1) for belief in beliefs]), self.columns)

    def acquire(self, cases: Cases, most: int, enough: float) -> np.ndarray:
        X, rows = np.tile(self.before_[0].mean_, (len(cases), 1)), np.arange(len(cases))
        decided = np.zeros(len(cases), dtype=self.classes_.dtype)
        for k in range(min(most, len(self.order_)) + 1):
            if k and len(rows):
                X[rows, self.columns[k - 1]] = cases.ask(int(self.columns[k - 1]), rows)
            if len(rows):
                belief = self.after(k, self.before_.transform(X[rows]))
                decided[rows] = self.classes_[belief.argmax(axis=1)]
                rows = rows[belief.max(axis=1) < enough]
        return decided


class Cascade(OneByOne):
    """Logistic regression on no feature, one, two and so on."""

    def __init__(self, prices: np.ndarray, C: float) -> None:
        self.C = C

    def fit(self, X: np.ndarray, y: np.ndarray) -> Cascade:
        few, self.before_ = few_rows(y), most_different(X)
        Z, model = self.before_.fit_transform(X, y), LogisticRegression(C=self.C)
        some, label = Z[few], y[few]
        self.order_ = in_order(
            lambda used: log_loss(label, model.fit(some[:, used], label).predict_proba(some[:, used])), Z.shape[1]
        )
        prefixes = (self.order_[:k] for k in range(1, Z.shape[1] + 1))
        self.models_ = [LogisticRegression(C=self.C).fit(Z[:, used], y) for used in prefixes]
        self.prior_ = DummyClassifier(strategy="prior").fit(X, y)
        self.classes_ = self.prior_.classes_
        return self

    def after(self, k: int, Z: np.ndarray) -> np.ndarray:
        shares: np.ndarray = (
            self.models_[k - 1].predict_proba(Z[:, self.order_[:k]]) if k else self.prior_.predict_proba(Z)
        )
        return shares


class OneOrder(OneByOne):
    """Naive Bayes on bins, a feature after the other."""

    def __init__(self, prices: np.ndarray, n_bins: int) -> None:
        self.n_bins = n_bins

    def fit(self, X: np.ndarray, y: np.ndarray) -> OneOrder:
        bins = KBinsDiscretizer(
            self.n_bins, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
        )
        self.before_ = make_pipeline(*most_different(X), bins)
        codes = self.before_.fit_transform(X, y).astype(int)
        self.model_ = CategoricalNB(min_categories=self.n_bins).fit(codes, y)
        self.classes_ = self.model_.classes_
        few = few_rows(y)
        shares, at = self._told(codes[few], list(range(codes.shape[1]))), np.searchsorted(self.classes_, y[few])

        def loss(used: list[int]) -> float:
            joint = self.model_.class_log_prior_ + shares[used].sum(axis=0)
            return float((np.logaddexp.reduce(joint, axis=1) - joint[np.arange(len(at)), at]).sum())

        self.order_ = in_order(loss, codes.shape[1])
        return self

    def _told(self, codes: np.ndarray, used: list[int]) -> np.ndarray:
        """Log-likelihoods of the classes by column, of no column an array without entries."""
        tables = self.model_.feature_log_prob_
        return np.array([tables[j].T[codes[:, j]] for j in used]).reshape(len(used), len(codes), -1)

    def after(self, k: int, Z: np.ndarray) -> np.ndarray:
        joint = np.tile(self.model_.class_log_prior_, (len(Z), 1))
        if k:
            joint = joint + self._told(Z.astype(int), self.order_[:k]).sum(axis=0)
        belief: np.ndarray = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
        return belief


class Boosting(OnSome):
    """Histogram boosting on the k columns that a forest ranks first."""

    def __init__(self, prices: np.ndarray, k: int) -> None:
        self.k = k

    def fit(self, X: np.ndarray, y: np.ndarray) -> Boosting:
        if not self.k:
            self.used, self.model = np.empty(0, dtype=int), DummyClassifier(strategy="prior").fit(X, y)
            return self
        ranked = SelectFromModel(
            ExtraTreesClassifier(random_state=0), threshold=-np.inf, max_features=lambda X: min(self.k, X.shape[1])
        )
        self.model = make_pipeline(ranked, HistGradientBoostingClassifier(min_samples_leaf=5, random_state=0)).fit(X, y)
        self.used = ranked.get_support(indices=True)
        return self


class Greedy:
    """Naive Bayes that asks for what is expected to save most, one question ahead."""

    def __init__(self, prices: np.ndarray, n_bins: int, share: float) -> None:
        self.model = SequentialClassifier(
            NaiveBayes(),
            Lookahead(certificate_paths=0),
            discretizer=Discretizer(n_bins, strategy="quantile"),
            order="adaptive",
            feature_costs=share * prices,
        )

    def fit(self, X: np.ndarray, y: np.ndarray) -> Greedy:
        self.model.fit(X, y)
        return self

    def asks(self, X: np.ndarray) -> Asked:
        cases, asked = open_cases(X)
        return Asked(self.acquire(cases), asked())

    def acquire(self, cases: Cases) -> np.ndarray:
        decided: np.ndarray = self.model.acquire(
            provider=lambda rows, feature: cases.ask(int(feature), rows), n=len(cases)
        ).decision
        return decided


class Peer(NamedTuple):
    """How it is made for prices and a setting, and its settings; those of when to stop need no fit of their own."""

    make: Callable[..., Any]
    settings: Sequence[tuple[Any, ...]]
    stops: Sequence[tuple[Any, ...]] = ((),)
    by_price: bool = False
    needs: tuple[str, ...] = ()


#: Features at most, and how sure is enough.
STOPS = list(product((0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30), 1 - np.geomspace(0.5, 0.001, 14)))
PEERS = {
    "decision tree": Peer(GiniTree, list(product((0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0), (1, 5, 20)))),
    "price-pruned tree": Peer(PricedTree, list(product((1.0, 0.3), (0.0, 0.5, 1.0, 2.0, 4.0, 8.0))), by_price=True),
    "STreeD": Peer(OptimalTree, [(2, 4, 3), (3, 2, 3), (3, 4, 3), (3, 4, 10)], by_price=True, needs=("pystreed",)),
    "LightGBM, penalties": Peer(
        PenalisedBoosting,
        list(product(("lazy", "coupled"), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 10.0))),
        [(size,) for size in SIZES],
        needs=("lightgbm",),
    ),
    "L1 logistic": Peer(Lasso, [(C,) for C in np.geomspace(1e-5, 10, 13)]),
    "forward selection": Peer(Forward, [(1.0,)], by_price=True),
    "boosting on k best": Peer(Boosting, [(k,) for k in (0, 1, 2, 3, 5, 8, 13, 21, 34)]),
    "cascade": Peer(Cascade, [(1.0,)], STOPS),
    "naive Bayes, one order": Peer(OneOrder, [(4,), (8,)], STOPS),
    "greedy naive Bayes": Peer(Greedy, list(product((4, 8), (1.0, 0.3, 0.1))), by_price=True),
}


class Tuned:
    """A peer with the setting that costs least on three folds of its training rows.

    What does not depend on the price is fitted once for all prices, as long as the rows are the same.
    """

    def __init__(self, peer: Peer) -> None:
        self.peer, self.X = peer, None

    def fit(self, X: np.ndarray, y: np.ndarray, prices: np.ndarray) -> Tuned:
        if self.X is None or not (np.array_equal(X, self.X) and np.array_equal(y, self.y)):
            few = sample_rows(y, MOST_TUNED, 0)
            parts = StratifiedKFold(3, shuffle=True, random_state=0).split(few, y[few])
            self.X, self.y, self.parts = X, y, [(few[a], few[b]) for a, b in parts]
            self.kept: dict[Any, Any] = {}
        if self.peer.by_price:
            self.kept.clear()
        setting, self.stop = self._best(prices)
        if (key := (-1, setting)) not in self.kept:
            self.kept[key] = self.peer.make(prices, *setting).fit(X, y)
        self.model = self.kept[key]
        return self

    def _best(self, prices: np.ndarray) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        choices = list(product(self.peer.settings, self.peer.stops))
        if len(choices) == 1:
            return choices[0]
        costs = [np.concatenate(list(self._lost(prices, *choice))).mean() for choice in choices]
        return choices[int(np.argmin(costs))]

    def _lost(self, prices: np.ndarray, setting: tuple[Any, ...], stop: tuple[Any, ...]) -> Iterator[np.ndarray]:
        assert self.X is not None
        for number, (train, test) in enumerate(self.parts):
            if (key := (number, setting)) not in self.kept:
                model = self.peer.make(prices, *setting).fit(self.X[train], self.y[train])
                self.kept[key] = model.asks(self.X[test])
            asked = self.kept[key]
            yield (asked if isinstance(asked, Asked) else asked.stopped(*stop)).lost(prices, self.y[test])

    def acquire(self, cases: Cases) -> np.ndarray:
        decided: np.ndarray = self.model.acquire(cases, *self.stop)
        return decided
