"""Plain ways to ask for little, each tuned on training rows by realised cost, beside `seqclass.adaptive`'s own table.

    python benchmarks/tuned_peers.py [--data DIR] [--sets SET ...] [--prices P ...] [--json FILE] [--quick]

The five stratified folds of chosen.py; in the training rows of each, three folds choose among settings by what they
would have cost: prices of all features that are looked at, and 1 for an error. A decision tree pays for the features on
the path of a row, and is tuned in its pruning and its leaves; L1-penalised logistic regression for those with a weight,
tuned in its penalty; forward selection adds a feature to logistic regression while that saves more errors than it
costs, among the 30 that differ most between classes and on at most 1000 rows; naive Bayes asks greedily for what is
expected to save most, one question ahead, tuned in its bins and in how much of the price it looks at.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import parser, write_json
from _real import CHOICE_SETS, add_data_option, each_set
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from seqclass import SequentialClassifier
from seqclass.bn import NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.pomdp import Lookahead

MOST_ROWS, MOST_COLUMNS = 1000, 30
#: What each row is decided as, and how many features it was asked for.
Asked = tuple[np.ndarray, np.ndarray]


def tree(price: float, alpha: float, leaf: int) -> Any:
    return DecisionTreeClassifier(ccp_alpha=alpha, min_samples_leaf=leaf, random_state=0)


def tree_asks(clf: Any, X: np.ndarray) -> Asked:
    path = clf.decision_path(X).tocoo()
    feature = clf.tree_.feature[path.col]
    seen = np.zeros(X.shape, dtype=bool)
    seen[path.row[feature >= 0], feature[feature >= 0]] = True
    return clf.predict(X), seen.sum(axis=1)


def lasso(price: float, C: float) -> Any:
    one = LogisticRegression(penalty="l1", C=C, solver="liblinear", random_state=0)
    return make_pipeline(StandardScaler(), OneVsRestClassifier(one))


def lasso_asks(clf: Any, X: np.ndarray) -> Asked:
    used = np.any([np.any(one.coef_ != 0, axis=0) for one in clf[-1].estimators_], axis=0)
    return clf.predict(X), np.full(len(X), used.sum())


class Forward:
    """Forward selection for logistic regression, on rows and columns that are few enough."""

    def __init__(self, price: float, C: float) -> None:
        self.price, self.C = price, C

    def fit(self, X: np.ndarray, y: np.ndarray) -> Forward:
        few = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        if np.bincount(y[few])[np.unique(y)].min() < 3:  # a class that the sample hardly has
            few = np.arange(len(y))
        self.before_ = make_pipeline(StandardScaler(), SelectKBest(f_classif, k=min(MOST_COLUMNS, X.shape[1])))
        Z, model = self.before_.fit_transform(X, y), LogisticRegression(C=self.C)
        search = SequentialFeatureSelector(
            model, n_features_to_select="auto", tol=self.price, scoring="accuracy", cv=StratifiedKFold(3)
        )
        one = Z.shape[1] == 1  # of which nothing can be selected
        self.used_ = np.ones(1, dtype=bool) if one else search.fit(Z[few], y[few]).get_support()
        self.model_ = model.fit(Z[:, self.used_], y)
        return self


def forward_asks(clf: Forward, X: np.ndarray) -> Asked:
    return clf.model_.predict(clf.before_.transform(X)[:, clf.used_]), np.full(len(X), clf.used_.sum())


def greedy(price: float, n_bins: int, share: float) -> Any:
    return SequentialClassifier(
        NaiveBayes(),
        Lookahead(certificate_paths=0),
        discretizer=Discretizer(n_bins, strategy="quantile"),
        order="adaptive",
        feature_costs=share * price,
    )


def greedy_asks(clf: Any, X: np.ndarray) -> Asked:
    record = clf.acquire(X)
    return record.decision, record.n_features


METHODS: dict[str, tuple[Callable[..., Any], Callable[[Any, np.ndarray], Asked], list[tuple[float, ...]]]] = {
    "decision tree": (
        tree,
        tree_asks,
        [(alpha, leaf) for alpha in (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0) for leaf in (1, 5, 20)],
    ),
    "L1 logistic": (lasso, lasso_asks, [(C,) for C in np.geomspace(0.001, 10, 9)]),
    "forward selection": (Forward, forward_asks, [(1.0,)]),
    "greedy naive Bayes": (
        greedy,
        greedy_asks,
        [(bins, share) for bins in (4, 8) for share in (1.0, 0.3, 0.1)],
    ),
}


def losses(method: str, price: float, setting: tuple[float, ...], fold: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    """What each test row costs, and the features it is asked for."""
    make, asks, _ = METHODS[method]
    X, y, train, test = fold
    decided, count = asks(make(price, *setting).fit(X[train], y[train]), X[test])
    return price * count + (decided != y[test]), count


def tuned(method: str, price: float, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> tuple[float, ...]:
    """The setting that costs least on three folds of the training rows."""
    settings = METHODS[method][2]
    if len(settings) == 1:
        return settings[0]
    parts = list(StratifiedKFold(3, shuffle=True, random_state=0).split(train, y[train]))
    costs = [
        np.concatenate([losses(method, price, setting, (X, y, train[a], train[b]))[0] for a, b in parts]).mean()
        for setting in settings
    ]
    return settings[int(np.argmin(costs))]


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=CHOICE_SETS)
    made.add_argument("--prices", nargs="+", type=float, default=[0.1, 0.01, 0.001])
    made.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    arguments = made.parse_args()
    warnings.simplefilter("ignore")  # of convergence, and of columns without values
    rows: list[dict[str, Any]] = []
    for name, data in each_set(arguments, "5-fold"):
        X, y, folds = np.asarray(data[0], dtype=float), np.unique(data[1], return_inverse=True)[1], data[2]
        X = SimpleImputer().fit_transform(X) if np.isnan(X).any() else X
        if arguments.quick:
            X, y = X[::5, :3], y[::5]
            folds = list(StratifiedKFold(2).split(X, y))
        for price in [0.01] if arguments.quick else arguments.prices:
            for method in arguments.methods:
                began = time.process_time()
                found = [
                    losses(method, price, tuned(method, price, X, y, train), (X, y, train, test))
                    for train, test in folds
                ]
                seconds = (time.process_time() - began) / len(folds)
                loss, count = (np.concatenate(part) for part in zip(*found))
                error = loss.std(ddof=1) / np.sqrt(len(loss))
                told = f"{loss.mean():.4f} (se {error:.4f}), {count.mean():.1f} features"
                print(
                    f"{name:18} {price:6g}  {method:20} {told}, {seconds:.1f} s of CPU a fold, with tuning", flush=True
                )
                row = {"name": f"{name}, {price:g}, {method}", "ours_s": seconds, "peer": None, "peer_s": None}
                row |= {"ratio": None, "peak_mb": None, "cost": float(loss.mean()), "standard_error": float(error)}
                rows.append(row | {"n_features": float(count.mean()), "losses": loss.tolist()})
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
