"""Structure and tables of a network from a discretised matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._information import _mutual_information, contingency_table
from seqclass.bn import _structure
from seqclass.bn._all_pairs import check_pairs, sum_pairs
from seqclass.bn._checks import Codes
from seqclass.bn._cpds import (
    count_family,
    count_pairs,
    laplace,
    pays_off,
    shared_information,
    smooth_family,
)

#: Entries of a table of a feature with several feature parents; larger ones are not kept.
_MAX_TABLE = 2**16


class Learner:
    """Counts of a training set, taken when they are needed.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Outcomes, -1 where missing.
    codes : ndarray of shape (n_rows,)
        Class of each row.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.
    sizes : ndarray of shape (n_features,)
        Number of outcomes of each feature.
    n_classes : int
    alpha, smoothing
        As in `TreeNetwork`.
    """

    def __init__(
        self,
        X: Codes,
        codes: IntArray,
        weight: FloatArray | None,
        sizes: IntArray,
        n_classes: int,
        alpha: float,
        smoothing: str | float,
    ) -> None:
        self.X = X.tocsc() if sparse.issparse(X) else X
        self.codes = codes
        self.weight = weight
        self.sizes = sizes
        self.n_classes = n_classes
        self.alpha = alpha
        self.smoothing = smoothing
        self.unit = 1.0 if weight is None else float(weight[weight > 0].mean())

    @cached_property
    def singles(self) -> FloatArray:
        """Counts of each feature's outcomes in each class, (n_features, V_max, n_classes)."""
        return contingency_table(self.X, self.codes, self.n_classes, self.sizes, self.weight)

    @cached_property
    def scores(self) -> FloatArray:
        """I(feature; class) in nats."""
        scores = np.empty(len(self.singles))
        for part in chunks(len(scores), 40.0 * max(1, self.singles[:1].size)):
            scores[part] = _mutual_information(self.singles[part])[0]
        return scores

    def parents(self, structure: Any, rng: np.random.Generator) -> list[IntArray]:
        """Feature parents of each feature under a structure; see `TreeNetwork`."""
        if not isinstance(structure, str):
            return _structure.given_graph(structure, len(self.sizes), self.scores)
        if structure == "line":
            return _structure.line(self.scores)
        if structure == "clique":
            return _structure.clique(self.scores)
        if structure == "random":
            return _structure.random_graph(len(self.sizes), rng)
        edges = _structure.maximum_spanning_tree(self.pair_weights())
        if structure == "forest":
            edges = edges[self._pays(edges)]
        return _structure.orient(edges, self.scores)

    def tables(self, parents: list[IntArray], edges: IntArray) -> tuple[list[Any], FloatArray, FloatArray]:
        """Tables of the features, weights of the edges (parent, child), and strengths of the backoff."""
        strengths = np.full(len(parents), np.nan)
        tables: list[Any] = [None] * len(parents)
        weights = np.empty(len(edges))
        # the tables of pairs of a dense graph are not kept, only what they share
        for at in self._chunks(edges):
            part = edges[at]
            counts = self.count_pairs(part[:, ::-1])
            weights[at] = [shared_information(table) for table in counts]
            for (_, child), table in zip(part.tolist(), counts):
                if len(parents[child]) == 1:
                    tables[child], strengths[child] = self.smooth(table, self.single(child))
        for child, above in enumerate(parents):
            if len(above) == 0:
                tables[child] = laplace(self.single(child), self.alpha)
            elif len(above) > 1:
                tables[child], strengths[child] = self._joint(child, above)
        return tables, weights, strengths

    def single(self, feature: int) -> FloatArray:
        """Counts of a feature's outcomes in each class, (V, n_classes)."""
        return self.singles[feature, : self.sizes[feature]]

    def smooth(self, counts: FloatArray, single: FloatArray) -> tuple[FloatArray, float]:
        """P(outcome | parents, class) and the strength of its backoff, NaN for Laplace."""
        return smooth_family(counts, single, self.alpha, self.smoothing, self.unit)

    def pair_counts(self) -> FloatArray:
        """Joint counts of all outcomes of all features within each class, (S, S, n_classes)."""
        check_pairs(self.sizes, self.n_classes)
        counts = sum_pairs(self.X, self.codes, self.sizes, self.n_classes, self.weight)
        return np.ascontiguousarray(counts.transpose(1, 2, 0))

    def pair_weights(self) -> FloatArray:
        """I(feature; feature | class) of all pairs, in nats."""
        return _structure.pair_weights(self.X, self.codes, self.sizes, self.n_classes, self.weight)

    def count_pairs(self, edges: IntArray) -> list[FloatArray]:
        """Counts of child, parent and class for each edge (child, parent)."""
        return count_pairs(self.X, self.codes, edges, self.sizes, self.n_classes, self.weight)

    def _joint(self, child: int, above: IntArray) -> tuple[FloatArray | None, float]:
        family = [child, *above.tolist()]
        # of thousands of parents this is infinite, which numpy would warn of
        size = math.prod(self.sizes[family].astype(np.float64).tolist()) * self.n_classes
        if size > _MAX_TABLE:
            return None, np.nan
        counts = count_family(self.X, self.codes, family, self.sizes, self.n_classes, self.weight)
        return self.smooth(counts, self.single(child))

    def _pays(self, edges: IntArray) -> BoolArray:
        """Which edges of a tree predict the held-out child better than the class alone does."""
        parent = np.full(len(self.sizes), -1)
        for child, above in enumerate(_structure.orient(edges, self.scores)):
            parent[child] = above[0] if len(above) else -1
        downward = parent[edges[:, 1]] == edges[:, 0]
        directed = np.where(downward[:, None], edges[:, ::-1], edges)
        pays = np.zeros(len(edges), dtype=bool)
        for at in self._chunks(directed):
            counts = self.count_pairs(directed[at])
            for i, (child, table) in enumerate(zip(directed[at, 0], counts), at.start):
                pays[i] = pays_off(table, self.single(int(child)), self.alpha, self.smoothing, self.unit)
        return pays

    def _chunks(self, edges: IntArray) -> Iterator[slice]:
        return chunks(len(edges), 8.0 * float(self.sizes.max(initial=1)) ** 2 * self.n_classes)
