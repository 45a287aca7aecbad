"""Plain ways to ask for little, each tuned on training rows by realised cost, beside quick `seqclass.adaptive`.

    python benchmarks/tuned_peers.py [--data DIR] [--sets SET ...] [--prices P ...] [--methods METHOD ...] [--json FILE]
                                     [--splits N] [--quick]

The five stratified folds of chosen.py; in the training rows of each, of at most 10,000, three folds choose among
settings by what they would have cost: prices of all features that are looked at, and 1 for an error. Categories are
numbers by what they say of the class (scikit-learn's `TargetEncoder`), but for `adaptive`, which takes them as they
are, and missing numbers are the mean.

A decision tree pays for the features on the path of a row, and is tuned in its pruning and its leaves; L1-penalised
logistic regression for those with a weight, tuned in its penalty; forward selection adds a feature to logistic
regression while that saves more errors than it costs; histogram boosting pays for the k columns that a forest ranks
first, and k is tuned. Three ask one feature after another: the cascade is logistic regression on the first one, two
and so on of an order by forward selection, and stops as soon as it is sure enough or has asked so many; naive Bayes the
same way, tuned in its bins, too; and naive Bayes that asks greedily for what is expected to save most, one question
ahead, tuned in its bins and in how much of the price it looks at. Three know prices as they learn: the price-pruned
tree, tuned in how much of the price it grows by and in its pruning; STreeD, the tree of least cost on the training rows
(depth 2 or 3, two or four bins a column, of 30 columns at most); and LightGBM with cost-effective penalties, for each
row that a feature is new to or once for all, tuned in these, their size and the number of trees; a row pays for what
its paths look at. Where pystreed or lightgbm is not installed, theirs are left out. Forward selection and orders look
at the 30 features that differ most between classes and at 1000 rows at most.

Beside each cost its difference to that of `adaptive` on the same rows, with a 95% interval that counts that folds share
training rows. At the end the means over the sets; where ours is dearer beyond chance, the interval is below zero. What
does not depend on the price is fitted once for all, and the seconds of a fold are by prices.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import left_out, parser, write_json
from _real import CHOICE_SETS, LABELS, add_data_option, each_set
from _tree_peers import (
    SIZES,
    Asked,
    Grown,
    OptimalTree,
    PricedTree,
    absent,
    optimal_tree_asks,
    penalised_asks,
    penalised_boosting,
    priced_tree_asks,
)
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

import seqclass
from seqclass import SequentialClassifier
from seqclass.bn import NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.fitting._folds import sample_rows
from seqclass.pomdp import Lookahead
from seqclass.stats import paired_t_test

MOST_ROWS, MOST_COLUMNS, MOST_TUNED = 1000, 30, 10_000
OURS = "adaptive quick"


class Course(NamedTuple):
    """What each row is decided as after no feature, one and so on, and how sure that is, (features + 1, rows)."""

    decided: np.ndarray
    sure: np.ndarray

    def stopped(self, most: int, enough: float) -> Asked:
        """Where it is sure enough, or has asked so many."""
        most = min(most, len(self.sure) - 1)
        count = np.where((done := self.sure[:most] >= enough).any(axis=0), done.argmax(axis=0), most) if most else 0
        count = np.broadcast_to(count, self.sure.shape[1])
        return Asked(self.decided[count, np.arange(len(count))], count)


def tree(price: float, alpha: float, leaf: int) -> Any:
    return DecisionTreeClassifier(ccp_alpha=alpha, min_samples_leaf=leaf, random_state=0)


def tree_asks(clf: Any, X: np.ndarray) -> Asked:
    path = clf.decision_path(X).tocoo()
    feature = clf.tree_.feature[path.col]
    seen = np.zeros(X.shape, dtype=bool)
    seen[path.row[feature >= 0], feature[feature >= 0]] = True
    return Asked(clf.predict(X), seen.sum(axis=1))


def lasso(price: float, C: float) -> Any:
    one = LogisticRegression(penalty="l1", C=C, solver="liblinear", random_state=0)
    return make_pipeline(StandardScaler(), OneVsRestClassifier(one))


def lasso_asks(clf: Any, X: np.ndarray) -> Asked:
    used = np.any([np.any(one.coef_ != 0, axis=0) for one in clf[-1].estimators_], axis=0)
    return Asked(clf.predict(X), np.full(len(X), used.sum()))


def most_different(X: np.ndarray) -> Any:
    return make_pipeline(StandardScaler(), SelectKBest(f_classif, k=min(MOST_COLUMNS, X.shape[1])))


def few_rows(y: np.ndarray) -> np.ndarray:
    few = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    # all, where there is a class that the sample hardly has
    return few if np.bincount(y[few], minlength=y.max() + 1)[np.unique(y)].min() >= 3 else np.arange(len(y))


class Forward:
    """Forward selection for logistic regression, on rows and columns that are few enough."""

    def __init__(self, price: float, C: float) -> None:
        self.price, self.C = price, C

    def fit(self, X: np.ndarray, y: np.ndarray) -> Forward:
        few, self.before_ = few_rows(y), most_different(X)
        Z, model = self.before_.fit_transform(X, y), LogisticRegression(C=self.C)
        search = SequentialFeatureSelector(
            model, n_features_to_select="auto", tol=self.price, scoring="accuracy", cv=StratifiedKFold(3)
        )
        one = Z.shape[1] == 1  # of which nothing can be selected
        self.used_ = np.ones(1, dtype=bool) if one else search.fit(Z[few], y[few]).get_support()
        self.model_ = model.fit(Z[:, self.used_], y)
        return self


def forward_asks(clf: Forward, X: np.ndarray) -> Asked:
    return Asked(clf.model_.predict(clf.before_.transform(X)[:, clf.used_]), np.full(len(X), clf.used_.sum()))


def in_order(loss: Callable[[list[int]], float], n: int) -> list[int]:
    """All of n columns, each time the one with which those so far lose least."""
    used: list[int] = []
    while len(used) < n:
        used.append(min(set(range(n)) - set(used), key=lambda j: loss([*used, j])))
    return used


class Cascade:
    """Logistic regression on no feature, one, two and so on."""

    def __init__(self, price: float, C: float) -> None:
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
        return self

    def beliefs(self, X: np.ndarray) -> list[np.ndarray]:
        Z = self.before_.transform(X)
        told = [model.predict_proba(Z[:, self.order_[:k]]) for k, model in enumerate(self.models_, 1)]
        return [self.prior_.predict_proba(X), *told]

    @property
    def classes_(self) -> np.ndarray:
        return self.prior_.classes_


class OneOrder:
    """Naive Bayes on bins, a feature after the other."""

    def __init__(self, price: float, n_bins: int) -> None:
        self.n_bins = n_bins

    def fit(self, X: np.ndarray, y: np.ndarray) -> OneOrder:
        bins = KBinsDiscretizer(
            self.n_bins, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
        )
        self.before_ = make_pipeline(*most_different(X), bins)
        codes = self.before_.fit_transform(X, y).astype(int)
        self.model_ = CategoricalNB(min_categories=self.n_bins).fit(codes, y)
        few = few_rows(y)
        told, at = self._told(codes[few]), np.searchsorted(self.classes_, y[few])

        def loss(used: list[int]) -> float:
            joint = self.model_.class_log_prior_ + told[used].sum(axis=0)
            return float((np.logaddexp.reduce(joint, axis=1) - joint[np.arange(len(at)), at]).sum())

        self.order_ = in_order(loss, codes.shape[1])
        return self

    def _told(self, codes: np.ndarray) -> np.ndarray:
        return np.stack([table.T[column] for table, column in zip(self.model_.feature_log_prob_, codes.T)])

    def beliefs(self, X: np.ndarray) -> list[np.ndarray]:
        told = self._told(self.before_.transform(X).astype(int))[self.order_]
        joint = self.model_.class_log_prior_ + np.concatenate([np.zeros_like(told[:1]), told.cumsum(axis=0)])
        return list(np.exp(joint - np.logaddexp.reduce(joint, axis=2, keepdims=True)))

    @property
    def classes_(self) -> np.ndarray:
        return self.model_.classes_


def one_by_one(clf: Cascade | OneOrder, X: np.ndarray) -> Course:
    beliefs = clf.beliefs(X)
    return Course(
        *(np.stack(part) for part in zip(*((clf.classes_[b.argmax(axis=1)], b.max(axis=1)) for b in beliefs)))
    )


def boosting(price: float, k: int) -> Any:
    if not k:
        return make_pipeline("passthrough", DummyClassifier(strategy="prior"))
    ranked = SelectFromModel(
        ExtraTreesClassifier(random_state=0), threshold=-np.inf, max_features=lambda X: min(k, X.shape[1])
    )
    return make_pipeline(ranked, HistGradientBoostingClassifier(min_samples_leaf=5, random_state=0))


def boosting_asks(clf: Any, X: np.ndarray) -> Asked:
    k = 0 if clf[0] == "passthrough" else clf[0].get_support().sum()
    return Asked(clf.predict(X), np.full(len(X), k))


def greedy(price: float, n_bins: int, share: float) -> Any:
    return SequentialClassifier(
        NaiveBayes(),
        Lookahead(certificate_paths=0),
        discretizer=Discretizer(n_bins, strategy="quantile"),
        order="adaptive",
        feature_costs=share * price,
    )


def ours(price: float) -> Any:
    return seqclass.adaptive(price, effort="quick", handle_unknown="missing")


def acquired(clf: Any, X: Any) -> Asked:
    record = clf.acquire(X)
    return Asked(record.decision, record.n_features)


class Method(NamedTuple):
    """How it is made for a price and a setting, what it asks, and its settings; those of when to stop need no fit."""

    make: Callable[..., Any]
    asks: Callable[[Any, Any], Asked | Course | Grown]
    settings: Sequence[tuple[Any, ...]]
    stops: Sequence[tuple[Any, ...]] = ((),)
    by_price: bool = False
    as_given: bool = False
    needs: tuple[str, ...] = ()


#: Features at most, and how sure is enough.
STOPS = list(product((0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30), 1 - np.geomspace(0.5, 0.001, 14)))
METHODS = {
    OURS: Method(ours, acquired, [()], by_price=True, as_given=True),
    "decision tree": Method(
        tree, tree_asks, list(product((0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0), (1, 5, 20)))
    ),
    "price-pruned tree": Method(
        PricedTree, priced_tree_asks, list(product((1.0, 0.3), (0.0, 0.5, 1.0, 2.0, 4.0, 8.0))), by_price=True
    ),
    "STreeD": Method(
        OptimalTree,
        optimal_tree_asks,
        [(2, 4, 3), (3, 2, 3), (3, 4, 3), (3, 4, 10)],
        by_price=True,
        needs=("pystreed",),
    ),
    "LightGBM, penalties": Method(
        penalised_boosting,
        penalised_asks,
        list(product(("lazy", "coupled"), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 10.0))),
        [(size,) for size in SIZES],
        needs=("lightgbm",),
    ),
    "L1 logistic": Method(lasso, lasso_asks, [(C,) for C in np.geomspace(1e-5, 10, 13)]),
    "forward selection": Method(Forward, forward_asks, [(1.0,)], by_price=True),
    "boosting on k best": Method(boosting, boosting_asks, [(k,) for k in (0, 1, 2, 3, 5, 8, 13, 21, 34)]),
    "cascade": Method(Cascade, one_by_one, [(1.0,)], STOPS),
    "naive Bayes, one order": Method(OneOrder, one_by_one, [(4,), (8,)], STOPS),
    "greedy naive Bayes": Method(greedy, acquired, list(product((4, 8), (1.0, 0.3, 0.1))), by_price=True),
}


class Part:
    """Rows to learn from and rows to tell on; what is fitted for one price is kept for the next."""

    def __init__(self, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
        self.X, self.y, self.train, self.test = X, y, train, test
        self.numbers: tuple[np.ndarray, np.ndarray] | None = None
        self.kept: dict[tuple[Any, ...], Asked | Course | Grown] = {}

    def lost(self, name: str, price: float, setting: tuple[Any, ...], stop: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
        """What each test row costs, and the features it is asked for."""
        method = METHODS[name]
        key = (name, setting, price if method.by_price else None)
        if key not in self.kept:
            train, test = self._as_given() if method.as_given else self._as_numbers()
            self.kept[key] = method.asks(method.make(price, *setting).fit(train, self.y[self.train]), test)
        found = self.kept[key]
        decided, count = found.stopped(*stop) if isinstance(found, Course | Grown) else found
        return price * count + (decided != self.y[self.test]), count

    def _as_given(self) -> tuple[Any, Any]:
        return tuple(
            self.X.iloc[at] if isinstance(self.X, pd.DataFrame) else self.X[at] for at in (self.train, self.test)
        )  # type: ignore[return-value]

    def _as_numbers(self) -> tuple[np.ndarray, np.ndarray]:
        if self.numbers is None:
            train, test = self._as_given()
            if isinstance(self.X, pd.DataFrame):
                text = list(self.X.select_dtypes(exclude="number"))
                train, test, encoder = train.copy(), test.copy(), TargetEncoder(random_state=0)
                if text:
                    train[text] = encoder.fit_transform(train[text], self.y[self.train])
                    test[text] = encoder.transform(test[text])
            train, test = np.asarray(train, dtype=float), np.asarray(test, dtype=float)
            if np.isnan(train).any() or np.isnan(test).any():
                fill = SimpleImputer(keep_empty_features=True).fit(train)
                train, test = fill.transform(train), fill.transform(test)
            self.numbers = train, test
        return self.numbers


class Fold:
    """A part of the rows that tells what a method costs which is tuned on the others."""

    def __init__(self, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
        self.whole = Part(X, y, train, test)
        train = train[sample_rows(y[train], MOST_TUNED, 0)]
        parts = StratifiedKFold(3, shuffle=True, random_state=0).split(train, y[train])
        self.parts = [Part(X, y, train[a], train[b]) for a, b in parts]

    def tuned(self, name: str, price: float) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The setting that costs least on three folds of the training rows."""
        choices = list(product(METHODS[name].settings, METHODS[name].stops))
        if len(choices) == 1:
            return choices[0]
        costs = [np.concatenate([part.lost(name, price, *one)[0] for part in self.parts]).mean() for one in choices]
        return choices[int(np.argmin(costs))]

    def lost(self, name: str, price: float) -> tuple[np.ndarray, ...]:
        """What each test row costs, and the features it is asked for."""
        return self.whole.lost(name, price, *self.tuned(name, price))


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=[*CHOICE_SETS, *LABELS])
    made.add_argument("--prices", nargs="+", type=float, default=[0.1, 0.01, 0.001])
    made.add_argument("--splits", type=int, default=5, help="of the five folds so many (default 5)")
    made.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    arguments = made.parse_args()
    warnings.simplefilter("ignore")  # of convergence, and of columns without values
    if arguments.quick:
        METHODS.update({name: method._replace(settings=method.settings[:2]) for name, method in METHODS.items()})
    rows: list[dict[str, Any]] = []
    methods = installed(arguments.methods)
    for name, (X, labels, splits) in each_set(arguments, "5-fold"):
        y = np.unique(labels, return_inverse=True)[1]
        if arguments.quick:
            X, y = X[::5, :3], y[::5]
            splits = list(StratifiedKFold(2).split(X, y))
        folds = [Fold(X, y, *split) for split in splits[: arguments.splits]]
        for method in methods:
            prices, began, found = [0.01] if arguments.quick else arguments.prices, time.process_time(), {}
            for price in prices:
                found[price] = [np.concatenate(part) for part in zip(*(fold.lost(method, price) for fold in folds))]
            seconds = (time.process_time() - began) / len(folds) / len(prices)
            rows += [
                row_of(name, method, price, seconds, len(splits[0][0]), *told, rows) for price, told in found.items()
            ]
    for price in dict.fromkeys(row["price"] for row in rows):
        show_means([row for row in rows if row["price"] == price])
    if arguments.json:
        write_json(rows, arguments.json)


def installed(methods: Sequence[str]) -> list[str]:
    """Those of some methods that can be run here; of others it is said what they lack."""
    found = []
    for method in methods:
        lacking = absent(METHODS[method].needs) if method in METHODS else []
        if lacking:
            left_out(method, f"{lacking[0]} is not installed")
        else:
            found.append(method)
    return found


def row_of(
    name: str,
    method: str,
    price: float,
    seconds: float,
    n_train: int,
    loss: np.ndarray,
    count: np.ndarray,
    rows: list[dict[str, Any]],
) -> dict[str, Any]:
    """A row as all benchmarks write it, printed; what is apart from ours, if that was run before."""
    row = {"name": f"{name}, {price:g}, {method}", "ours_s": seconds, "peer": None, "peer_s": None, "ratio": None}
    row |= {"peak_mb": None, "set": name, "price": price, "method": method, "cost": float(loss.mean())}
    told = f"{name:18} {price:6g}  {method:24} {row['cost']:.4f}, {count.mean():4.1f} features, {seconds:5.1f} s a fold"
    beside = next((r for r in rows if (r["set"], r["price"], r["method"]) == (name, price, OURS)), None)
    if beside:
        # of rows, not folds: n / k rows a fold that share (k - 1) / k of n
        test = paired_t_test(loss, beside["losses"], test_to_train=1 / n_train)
        assert test.interval is not None
        row |= {"apart": test.difference, "interval": list(test.interval)}
        told += f", apart {test.difference:+.4f} ({test.interval[0]:+.4f} to {test.interval[1]:+.4f})"
    print(told, flush=True)
    return row | {"n_features": float(count.mean()), "losses": loss.tolist()}


def show_means(rows: list[dict[str, Any]]) -> None:
    """Means over the sets of a price, apart from ours, and which sets are lost beyond chance."""
    head = f"\nat {rows[0]['price']:g}, mean of sets"
    print(
        f"{head:25}     cost   apart  95% interval        s a fold  sets on which ours is dearer, cheaper beyond chance"
    )
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        cost, seconds = (np.mean([row[key] for row in own]) for key in ("cost", "ours_s"))
        told = f"{method:24} {cost:8.4f}"
        if all("apart" in row for row in own):
            apart, reach = np.mean([row["apart"] for row in own]), [row["interval"][1] - row["apart"] for row in own]
            half = np.linalg.norm(reach) / len(own)  # sets are apart from one another
            lost = [row["set"] for row in own if row["interval"][1] < 0]
            won = sum(row["interval"][0] > 0 for row in own)
            told += f" {apart:+7.4f}  {apart - half:+.4f} to {apart + half:+.4f}  {seconds:8.1f}  "
            told += f"{len(lost)}, {won} of {len(own)} {' '.join(lost)}"
        else:
            told += f"{'':29}{seconds:10.1f}"
        print(told, flush=True)


if __name__ == "__main__":
    main()
