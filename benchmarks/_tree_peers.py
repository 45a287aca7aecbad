"""Peers that know prices as they grow: trees pruned by price, optimal trees (STreeD), boosting with price penalties."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Asked(NamedTuple):
    """What each row is decided as and how many features it was asked for."""

    decided: np.ndarray
    count: np.ndarray


class Grown(NamedTuple):
    """What was asked and decided by the size at which growth ends."""

    at: dict[Any, Asked]

    def stopped(self, size: Any) -> Asked:
        return self.at[size]


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


class PricedTree:
    """A decision tree that grows by Gini less so much of the price of what is new on a path, and is pruned by cost.

    A branch stays where its errors and the prices of what it asks are below the errors without, each leaf counting
    as ``alpha`` errors.
    """

    depth, n_bins, fewest = 8, 16, 3

    def __init__(self, price: float, of_price: float, alpha: float) -> None:
        self.price, self.of_price, self.alpha = price, of_price, alpha

    def fit(self, X: np.ndarray, y: np.ndarray) -> PricedTree:
        self.classes_, self.label = np.unique(y, return_inverse=True)
        self.cuts = Cuts(self.n_bins)
        self.codes = self.cuts.fit_transform(X)
        self.root, _ = self._grow(np.arange(len(y)), frozenset(), 0)
        return self

    def _grow(self, rows: np.ndarray, asked: frozenset[int], depth: int) -> tuple[Any, float]:
        """A leaf, the number of its class, or (column, last code to the left, left, right); and its cost."""
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
        new = np.ones(width)
        new[list(asked)] = 0.0
        column, code = np.unravel_index(
            (gain - self.of_price * self.price * len(rows) * new[:, None]).argmax(), gain.shape
        )
        if gain[column, code] <= 1e-9:
            return leaf
        to_left, asked_then = self.codes[rows, column] <= code, asked | {int(column)}
        sides = [self._grow(rows[side], asked_then, depth + 1) for side in (to_left, ~to_left)]
        cost = sides[0][1] + sides[1][1] + self.price * len(rows) * new[column]
        return ((int(column), int(code), sides[0][0], sides[1][0]), cost) if cost < leaf[1] else leaf


def priced_tree_asks(clf: PricedTree, X: np.ndarray) -> Asked:
    codes = clf.cuts.transform(X)
    decided, seen = np.zeros(len(X), dtype=int), np.zeros(X.shape, dtype=bool)
    todo = [(clf.root, np.arange(len(X)))]
    while todo:
        node, rows = todo.pop()
        if isinstance(node, int):
            decided[rows] = node
            continue
        column, code, *below = node
        seen[rows, column] = True
        left = codes[rows, column] <= code
        todo += [(below[0], rows[left]), (below[1], rows[~left])]
    return Asked(clf.classes_[decided], seen.sum(axis=1))


class OptimalTree:
    """STreeD's tree of least cost on the training rows, over a few cuts a column, of which one is paid for."""

    def __init__(self, price: float, depth: int, n_bins: int, fewest: int) -> None:
        self.price, self.depth, self.n_bins, self.fewest = price, depth, n_bins, fewest

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
            streed.FeatureCostSpecifier(self.price, self.price, f"g{j}", int(a), int(b) - 1)
            for j, a, b in zip(self.used, starts, ends)
        ]
        wrong = 1.0 - np.eye(len(self.classes_))
        self.tree = streed.STreeDCostSensitiveClassifier(
            max_depth=self.depth, min_leaf_node_size=self.fewest, time_limit=10
        )
        self.tree.fit(self._binary(codes), label, streed.CostSpecifier(wrong.tolist(), prices))
        return self

    def _binary(self, codes: np.ndarray) -> np.ndarray:
        return (codes[:, self.owner] > self.step).astype(np.int32)


def optimal_tree_asks(clf: OptimalTree, X: np.ndarray) -> Asked:
    binary = clf._binary(clf.cuts.transform(X))
    decided, seen = np.zeros(len(X), dtype=int), np.zeros(X.shape, dtype=bool)
    todo = [(clf.tree.get_tree(), np.arange(len(X)))]
    while todo:
        node, rows = todo.pop()
        if node.is_leaf_node():
            decided[rows] = int(node.label)
            continue
        seen[rows, clf.owner[node.feature]] = True
        right = binary[rows, node.feature] == 1
        todo += [(node.left_child, rows[~right]), (node.right_child, rows[right])]
    return Asked(clf.classes_[decided], seen.sum(axis=1))


#: Numbers of trees that are tried of one fit.
SIZES: tuple[int, ...] = (3, 10, 30, 60)


def penalised_boosting(price: float, kind: str, penalty: float) -> Any:
    """LightGBM that pays ``penalty`` a feature: for each row that it is new to (lazy), or once for all (coupled)."""
    return _Penalised(kind, penalty)


class _Penalised:
    def __init__(self, kind: str, penalty: float) -> None:
        self.kind, self.penalty = kind, penalty

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Penalised:
        lightgbm = importlib.import_module("lightgbm")
        penalty = self.penalty * (len(y) if self.kind == "coupled" else 1)
        more = {f"cegb_penalty_feature_{self.kind}": [penalty] * X.shape[1]}
        self.model = lightgbm.LGBMClassifier(
            n_estimators=SIZES[-1], num_leaves=8, min_child_samples=5, n_jobs=1, verbose=-1, cegb_tradeoff=1.0, **more
        ).fit(X, y)
        return self


def penalised_asks(clf: _Penalised, X: np.ndarray) -> Grown:
    n_classes = len(clf.model.classes_)
    each = 1 if n_classes == 2 else n_classes
    trees = clf.model.booster_.dump_model()["tree_info"]
    leaf = np.asarray(clf.model.predict(X, pred_leaf=True)).reshape(len(X), -1)
    seen, at = np.zeros(X.shape, dtype=bool), {}
    for number, tree in enumerate(trees):
        used = np.zeros((max(tree["num_leaves"], 1), X.shape[1]), dtype=bool)
        _note_paths(tree["tree_structure"], (), used)
        seen |= used[leaf[:, number]]
        rounds = (number + 1) / each
        if rounds in SIZES:
            at[int(rounds)] = Asked(clf.model.predict(X, num_iteration=int(rounds)), seen.sum(axis=1))
    last = Asked(clf.model.predict(X), seen.sum(axis=1))  # it may end before
    return Grown({size: at.get(size, last) for size in SIZES})


def _note_paths(node: dict[str, Any], path: tuple[int, ...], used: np.ndarray) -> None:
    if "split_feature" not in node:
        used[node.get("leaf_index", 0), list(path)] = True
        return
    for side in ("left_child", "right_child"):
        _note_paths(node[side], (*path, node["split_feature"]), used)


def absent(modules: Sequence[str]) -> list[str]:
    """Which of some modules cannot be imported."""
    return [module for module in modules if importlib.util.find_spec(module) is None]
