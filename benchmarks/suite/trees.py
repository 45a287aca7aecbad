"""Peers that know prices as they grow: trees pruned by price, optimal trees (STreeD), boosting with price penalties."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.suite.cases import Cases, open_cases


class Asked(NamedTuple):
    """What each row is decided as, and which of some columns (by default of all) were looked at for it."""

    decided: np.ndarray
    seen: np.ndarray
    columns: np.ndarray | None = None

    def lost(self, prices: np.ndarray, y: np.ndarray) -> np.ndarray:
        """What each row costs: prices of what was looked at, and 1 for an error."""
        cost: np.ndarray = self.seen @ (prices if self.columns is None else prices[self.columns]) + (self.decided != y)
        return cost


class Grown(NamedTuple):
    """What was asked and decided by the size at which growth ends."""

    at: dict[Any, Asked]

    def stopped(self, size: Any) -> Asked:
        return self.at[size]


def walk(root: Any, cases: Cases, cast: Any = float) -> np.ndarray:
    """The leaf of each case: a node that is no leaf is (column, cut, node where no larger, node where larger)."""
    leaf = np.zeros(len(cases), dtype=float)
    todo = [(root, np.arange(len(cases)))]
    while todo:
        node, rows = todo.pop()
        if not isinstance(node, tuple):
            leaf[rows] = node
        elif len(rows):
            column, cut, *below = node
            left = np.asarray(cases.ask(column, rows)).astype(cast) <= cut
            todo += [(below[0], rows[left]), (below[1], rows[~left])]
    return leaf


class Tree:
    """What the trees share: they ask on the way to a leaf, whose number is that of its class."""

    root: Any
    classes_: np.ndarray
    cast: Any = float

    def acquire(self, cases: Cases) -> np.ndarray:
        return self.classes_[walk(self.root, cases, self.cast).astype(int)]

    def asks(self, X: np.ndarray) -> Asked:
        cases, asked = open_cases(X)
        return Asked(self.acquire(cases), asked())


class GiniTree(Tree):
    """scikit-learn's tree, which knows no prices."""

    cast = np.float32  # as it compares

    def __init__(self, prices: np.ndarray, alpha: float, leaf: int) -> None:
        self.settings = {"ccp_alpha": alpha, "min_samples_leaf": leaf, "random_state": 0}

    def fit(self, X: np.ndarray, y: np.ndarray) -> GiniTree:
        model = DecisionTreeClassifier(**self.settings).fit(X, y)
        self.classes_, self.root = model.classes_, self._node(model.tree_, 0)
        return self

    def _node(self, tree: Any, at: int) -> Any:
        if tree.feature[at] < 0:
            return int(tree.value[at, 0].argmax())
        sides = (self._node(tree, side[at]) for side in (tree.children_left, tree.children_right))
        return (int(tree.feature[at]), tree.threshold[at], *sides)


class Cuts:
    """Columns as few numbers, by quantiles."""

    def __init__(self, n_bins: int) -> None:
        self.n_bins = n_bins

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        at = np.linspace(0, 1, self.n_bins + 1)[1:-1]
        self.edges = [
            (values[1:] + values[:-1]) / 2
            if len(values := np.unique(column)) <= self.n_bins
            else np.unique(np.quantile(column, at, method="averaged_inverted_cdf"))
            for column in X.T
        ]
        return self.transform(X)

    def transform(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([np.searchsorted(edge, column) for edge, column in zip(self.edges, X.T)])


class PricedTree(Tree):
    """A decision tree that grows by Gini less so much of the price of what is new on a path, and is pruned by cost.

    A branch stays where its errors and the prices of what it asks are below the errors without, each leaf counting
    as ``alpha`` errors.
    """

    depth, n_bins, fewest = 8, 16, 3

    def __init__(self, prices: np.ndarray, of_price: float, alpha: float) -> None:
        self.prices, self.of_price, self.alpha = prices, of_price, alpha

    def fit(self, X: np.ndarray, y: np.ndarray) -> PricedTree:
        self.classes_, self.label = np.unique(y, return_inverse=True)
        self.cuts = Cuts(self.n_bins)
        self.codes = self.cuts.fit_transform(X)
        self.root, _ = self._grow(np.arange(len(y)), frozenset(), 0)
        return self

    def _grow(self, rows: np.ndarray, asked: frozenset[int], depth: int) -> tuple[Any, float]:
        """A node as in `walk`, and its cost."""
        n_classes, label = len(self.classes_), self.label[rows]
        total = np.bincount(label, minlength=n_classes)
        leaf = (int(total.argmax()), float(len(rows) - total.max() + self.alpha))
        if depth == self.depth or total.max() == len(rows) or len(rows) < 2 * self.fewest:
            return leaf
        width = self.codes.shape[1]
        cell = (self.codes[rows] + self.n_bins * np.arange(width)) * n_classes + label[:, None]
        counts = np.bincount(cell.ravel(), minlength=width * self.n_bins * n_classes)
        left = counts.reshape(width, self.n_bins, n_classes).cumsum(axis=1)[:, :-1]
        right = total - left
        n_left, n_right = left.sum(axis=2), right.sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = (left**2).sum(axis=2) / n_left + (right**2).sum(axis=2) / n_right
        gain = np.where(np.minimum(n_left, n_right) >= self.fewest, kept - (total**2).sum() / len(rows), -np.inf)
        new = self.prices.copy()  # to be paid once
        new[list(asked)] = 0.0
        column, code = np.unravel_index((gain - self.of_price * len(rows) * new[:, None]).argmax(), gain.shape)
        if gain[column, code] <= 1e-9:
            return leaf
        to_left, asked_then = self.codes[rows, column] <= code, asked | {int(column)}
        sides = [self._grow(rows[side], asked_then, depth + 1) for side in (to_left, ~to_left)]
        cost = sides[0][1] + sides[1][1] + len(rows) * new[column]
        cut = self.cuts.edges[column][code]
        return ((int(column), cut, sides[0][0], sides[1][0]), cost) if cost < leaf[1] else leaf


class OptimalTree(Tree):
    """STreeD's tree of least cost on the training rows, over a few cuts a column, of which one is paid for."""

    def __init__(self, prices: np.ndarray, depth: int, n_bins: int, fewest: int) -> None:
        self.prices, self.depth, self.n_bins, self.fewest = prices, depth, n_bins, fewest

    def fit(self, X: np.ndarray, y: np.ndarray) -> OptimalTree:
        streed = importlib.import_module("pystreed")
        self.classes_, label = np.unique(y, return_inverse=True)
        self.cuts = Cuts(self.n_bins)
        codes = self.cuts.fit_transform(X)
        # of the many columns those that differ most between classes
        spread = [codes[label == c].mean(axis=0) for c in range(len(self.classes_))]
        self.used = np.sort(np.argsort(-np.std(spread, axis=0) / (codes.std(axis=0) + 1e-9), kind="stable")[:30])
        self.used = self.used[[len(self.cuts.edges[j]) > 0 for j in self.used]]
        self.owner = np.concatenate([np.full(len(self.cuts.edges[j]), j) for j in self.used])
        self.step = np.concatenate([np.arange(len(self.cuts.edges[j])) for j in self.used])
        ends = np.searchsorted(self.owner, self.used, side="right")
        starts = np.searchsorted(self.owner, self.used)
        prices = [
            streed.FeatureCostSpecifier(self.prices[j], self.prices[j], f"g{j}", int(a), int(b) - 1)
            for j, a, b in zip(self.used, starts, ends)
        ]
        wrong = 1.0 - np.eye(len(self.classes_))
        model = streed.STreeDCostSensitiveClassifier(
            max_depth=self.depth, min_leaf_node_size=self.fewest, time_limit=10
        )
        model.fit(self._binary(codes), label, streed.CostSpecifier(wrong.tolist(), prices))
        self.root = self._node(model.get_tree())
        return self

    def _node(self, node: Any) -> Any:
        if node.is_leaf_node():
            return int(node.label)
        column = int(self.owner[node.feature])
        cut = self.cuts.edges[column][self.step[node.feature]]
        return column, cut, self._node(node.left_child), self._node(node.right_child)

    def _binary(self, codes: np.ndarray) -> np.ndarray:
        return (codes[:, self.owner] > self.step).astype(np.int32)


#: Numbers of trees that are tried of one fit.
SIZES: tuple[int, ...] = (3, 10, 30, 60)


class PenalisedBoosting:
    """LightGBM that pays ``penalty`` a price for each row that a feature is new to (lazy) or once for all (coupled)."""

    def __init__(self, prices: np.ndarray, kind: str, penalty: float) -> None:
        self.prices, self.kind, self.penalty = prices, kind, penalty

    def fit(self, X: np.ndarray, y: np.ndarray) -> PenalisedBoosting:
        lightgbm = importlib.import_module("lightgbm")
        penalty = self.penalty * (len(y) if self.kind == "coupled" else 1)
        # of prices only how they are to one another: what they are to an error is in the penalty, which is tuned
        prices = self.prices / self.prices.mean() if self.prices.any() else np.ones(X.shape[1])
        more = {f"cegb_penalty_feature_{self.kind}": (penalty * prices).tolist()}
        model = lightgbm.LGBMClassifier(
            n_estimators=SIZES[-1], num_leaves=8, min_child_samples=5, n_jobs=1, verbose=-1, cegb_tradeoff=1.0, **more
        ).fit(X, y)
        self.classes_ = model.classes_
        self.trees = [_boosted(tree["tree_structure"]) for tree in model.booster_.dump_model()["tree_info"]]
        return self

    def _grow(self, cases: Cases, sizes: Sequence[int]) -> Iterator[np.ndarray]:
        """Decisions by the first so many rounds of trees."""
        each = 1 if len(self.classes_) == 2 else len(self.classes_)
        score, done = np.zeros((len(cases), each)), 0
        for size in sizes:
            for number, tree in enumerate(self.trees[done : size * each], done):
                score[:, number % each] += walk(tree, cases)
            done = max(done, min(size * each, len(self.trees)))
            yield self.classes_[(score[:, 0] > 0).astype(int) if each == 1 else score.argmax(axis=1)]

    def asks(self, X: np.ndarray) -> Grown:
        cases, asked = open_cases(X)
        return Grown({size: Asked(tree, asked(end=False)) for size, tree in zip(SIZES, self._grow(cases, SIZES))})

    def acquire(self, cases: Cases, size: int) -> np.ndarray:
        return next(self._grow(cases, [size]))


def _boosted(node: dict[str, Any]) -> Any:
    if "split_feature" not in node:
        return float(node["leaf_value"])
    sides = (_boosted(node[side]) for side in ("left_child", "right_child"))
    return (int(node["split_feature"]), node["threshold"], *sides)
