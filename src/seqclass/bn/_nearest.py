"""Likelihoods given the nearest acquired ancestor alone, as published."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Protocol

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.bn._cpds import laplace, shared_information, smooth_family
from seqclass.bn._messages import Forest
from seqclass.bn._rows import Columns
from seqclass.bn._structure import topological


class AncestorTables(Protocol):
    """Tables P(outcome | outcome of an ancestor, class)."""

    order: list[int]
    """Features, each after its ancestors."""

    def above(self, feature: int, known: Container[int]) -> Iterator[int]:
        """Yield the ancestors of a feature among some, nearest first."""

    def table(self, feature: int, ancestor: int) -> FloatArray:
        """P(outcome | outcome of the ancestor, class), (V, V_ancestor, n_classes)."""

    def single(self, feature: int) -> FloatArray:
        """P(outcome | class), (V, n_classes)."""


class NearestAncestor:
    """Second-order conditioning: each feature given its nearest acquired ancestor and the class.

    The dependence of a feature on what was acquired is limited to its first ancestor among it ([1]_, section V-A).
    The probability of evidence is the product over its features in topological order, each given the nearest
    ancestor that is in the evidence. It does not depend on the order of acquisition; the product of the likelihoods
    along an order does, as there an ancestor acquired later was not yet known.

    Parameters
    ----------
    tables : AncestorTables

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois, C. Chelmis, "Dynamic instance-wise joint feature selection and classification",
       IEEE Transactions on Artificial Intelligence, 2021.
    """

    def __init__(self, tables: AncestorTables) -> None:
        self.tables = tables

    def conditional(self, feature: int, codes: Columns, n: int) -> FloatArray:
        """P(outcome | evidence, class), (n, V, n_classes); see `Forest.conditional`."""
        single = self.tables.single(feature)
        result: FloatArray | None = None
        for rows, ancestor in self._groups(feature, codes, n):
            if ancestor < 0:
                if result is None:
                    return np.broadcast_to(single, (n, *single.shape))
                result[rows] = single
                continue
            result = np.empty((n, *single.shape)) if result is None else result
            table = self.tables.table(feature, ancestor).transpose(1, 0, 2)
            result[rows] = table[codes[ancestor][rows]]
        return np.broadcast_to(single, (n, *single.shape)) if result is None else result

    def log_evidence(self, codes: Columns, n: int) -> FloatArray:
        """Log P(evidence | class) of each class and row, shape (n_classes, n); of one feature at least."""
        n_classes = self.tables.single(next(iter(codes))).shape[-1]
        result = np.zeros((n_classes, n))
        for feature in self.tables.order:
            if feature not in codes:
                continue
            own = codes[feature]
            for rows, ancestor in self._groups(feature, codes, n):
                rows = rows[own[rows] >= 0]
                if ancestor < 0:
                    likelihood = self.tables.single(feature)[own[rows]]
                else:
                    likelihood = self.tables.table(feature, ancestor)[own[rows], codes[ancestor][rows]]
                with np.errstate(divide="ignore"):
                    result[:, rows] += np.log(likelihood).T
        return result

    def nearest(self, feature: int, known: Container[int]) -> int:
        """Nearest ancestor of a feature among some, -1 if there is none."""
        return next(self.tables.above(feature, known), -1)

    def _groups(self, feature: int, codes: Columns, n: int) -> Iterator[tuple[IntArray, int]]:
        """Rows by their nearest observed ancestor, -1 where there is none."""
        rows: IntArray = np.arange(n)
        for ancestor in self.tables.above(feature, codes):
            known = codes[ancestor][rows] >= 0
            if known.any():
                yield rows[known], ancestor
                rows = rows[~known]
            if not len(rows):
                return
        yield rows, -1


class PathTables:
    """Tables of ancestors in a forest: products of the tables along the path.

    Parameters
    ----------
    forest : Forest
    """

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.order = sorted(range(len(forest.parent)), key=forest.rank.__getitem__)

    def above(self, feature: int, known: Container[int]) -> Iterator[int]:
        """Yield the ancestors of a feature among some, nearest first."""
        at = self.forest.parent[feature]
        while at >= 0:
            if at in known:
                yield at
            at = self.forest.parent[at]

    def table(self, feature: int, ancestor: int) -> FloatArray:
        """P(outcome | outcome of the ancestor, class), (V, V_ancestor, n_classes)."""
        table: FloatArray = self.forest.cpds[feature]
        at = self.forest.parent[feature]
        while at != ancestor:
            table = np.einsum("vpc,pgc->vgc", table, self.forest.cpds[at])
            at = self.forest.parent[at]
        return np.asarray(table)

    def single(self, feature: int) -> FloatArray:
        """P(outcome | class), (V, n_classes)."""
        return np.asarray(self.forest.marginals[feature].T)


class PairTables:
    """Tables of ancestors in a graph with several parents, each from the counts of the pair.

    The nearest ancestor is the one with the shortest directed path; of several the one that shares most information
    with the feature given the class, and then the lowest.

    Parameters
    ----------
    parents : list of ndarray of int
        Feature parents of each feature.
    sizes : ndarray of shape (n_features,)
        Number of outcomes of each feature.
    counts : ndarray of shape (S, S, n_classes)
        Joint counts of all outcomes.
    alpha, smoothing, unit
        As in `TreeNetwork`, and the weight of a row.
    """

    def __init__(
        self,
        parents: Sequence[IntArray],
        sizes: IntArray,
        counts: FloatArray,
        alpha: float,
        smoothing: str | float,
        unit: float,
    ) -> None:
        self.parents = parents
        self.order: list[int] = topological(parents).tolist()
        self.ends = np.cumsum(sizes)
        self.starts = self.ends - sizes
        self.counts = counts
        self.alpha = alpha
        self.smoothing = smoothing
        self.unit = unit
        self._tables: dict[tuple[int, int], FloatArray] = {}
        self._shares: dict[tuple[int, int], float] = {}

    def above(self, feature: int, known: Container[int]) -> Iterator[int]:
        """Yield the ancestors of a feature among some, nearest first."""
        level, seen = [feature], {feature}
        while level:
            level = sorted({int(p) for j in level for p in self.parents[j]} - seen)
            seen.update(level)
            found = [j for j in level if j in known]
            yield from sorted(found, key=lambda j: (-self._share(feature, j), j))

    def table(self, feature: int, ancestor: int) -> FloatArray:
        """P(outcome | outcome of the ancestor, class), (V, V_ancestor, n_classes)."""
        if (feature, ancestor) not in self._tables:
            table, _ = smooth_family(
                self._pair(feature, ancestor), self._alone(feature), self.alpha, self.smoothing, self.unit
            )
            self._tables[feature, ancestor] = table
        return self._tables[feature, ancestor]

    def single(self, feature: int) -> FloatArray:
        """P(outcome | class), (V, n_classes)."""
        return laplace(self._alone(feature), self.alpha)

    def _pair(self, feature: int, ancestor: int) -> FloatArray:
        rows, columns = (slice(self.starts[j], self.ends[j]) for j in (feature, ancestor))
        return np.asarray(self.counts[rows, columns])

    def _alone(self, feature: int) -> FloatArray:
        at = np.arange(self.starts[feature], self.ends[feature])
        return np.asarray(self.counts[at, at])

    def _share(self, feature: int, ancestor: int) -> float:
        if (feature, ancestor) not in self._shares:
            self._shares[feature, ancestor] = round(shared_information(self._pair(feature, ancestor)), 12)
        return self._shares[feature, ancestor]
