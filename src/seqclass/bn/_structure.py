"""Structures of a network over the features: spanning tree, line, random, clique, or a given graph."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.special import xlogy

from seqclass._utils.arrays import (
    CHUNK_BYTES,
    TIE,
    BoolArray,
    FloatArray,
    IntArray,
    chunks,
    chunks_by_size,
    smallest_int,
)
from seqclass._utils.information import _mutual_information, canonical, contingency_table
from seqclass._utils.pair_counts import Indicators, joint_counts, pair_information
from seqclass.bn._checks import Codes
from seqclass.bn._cpds import (
    conditional_information,
    dense_columns,
    laplace,
    pays_off,
    smooth_family,
)
from seqclass.bn.base import CodedChunks


@dataclass(frozen=True)
class StructureTuning:
    """How pairs of features are weighed, and up to which size."""

    max_indicators: int = 1536  #: columns of a block of features in products of pairs
    max_pair_bytes: int = 2**30  #: counts of all pairs of outcomes
    max_table: int = 2**16  #: entries of a table of several feature parents; larger ones are not kept
    max_paired: int = 20_000  #: features: more need more memory for the weights of all pairs than a structure is worth
    random_parents: float = 2.0  #: feature parents of a feature of a random structure, in the mean


TUNING = StructureTuning()


def conditional_mutual_information(
    X: Codes, codes: IntArray, sizes: IntArray, n_classes: int, dtype: npt.DTypeLike = np.float64
) -> npt.NDArray[Any]:
    """Mutual information of every two features given the class, in nats."""
    X = canonical(X).tocsc() if sparse.issparse(X) else X
    values = X.data if sparse.issparse(X) else X
    missing = bool(values.size) and bool(values.min() < 0)
    order = np.argsort(-sizes, kind="stable")  # features of about as many outcomes go together
    of_class = [X[codes == c] for c in range(n_classes)]
    most = max(part.shape[0] for part in of_class)
    result = np.empty((X.shape[1], X.shape[1]), dtype=dtype)
    blocks = [order[part] for part in _feature_blocks(sizes[order])]
    for i, left in enumerate(blocks):
        a = _class_indicators(of_class, left, sizes, missing)
        for right in blocks[i:]:
            b = a if right is left else _class_indicators(of_class, right, sizes, missing)
            for parts in zip(*(joint_counts(*pair, n=most) for pair in zip(a, b))):
                rows, others, _ = parts[0]
                information, present = map(sum, zip(*(pair_information(counts, X.shape[0]) for _, _, counts in parts)))
                value = np.maximum(information / np.maximum(present, 1), 0)
                result[np.ix_(left[rows], right[others])] = value
                result[np.ix_(right[others], left[rows])] = value.T
        within = np.ix_(left, left)
        result[within] = (result[within] + result[within].T) / 2  # rounding differs between the two orders of summation
    return result


def _feature_blocks(sizes: IntArray) -> Iterator[slice]:
    start = 0
    while start < len(sizes):
        stop = min(len(sizes), start + max(1, TUNING.max_indicators // int(sizes[start])))
        yield slice(start, stop)
        start = stop


def _class_indicators(of_class: list[Any], features: IntArray, sizes: IntArray, missing: bool) -> list[Indicators]:
    """Some features of the rows of each class, ready to be counted jointly with others."""
    width = max(2, int(sizes[features].max()))
    return [Indicators(features, X[:, features], width, missing, np.empty(0)) for X in of_class]


def check_pairs(sizes: IntArray, n_classes: int) -> None:
    """Refuse features with so many outcomes that counts of all pairs do not fit."""
    n_bytes = 8.0 * int(sizes.sum()) ** 2 * n_classes
    if n_bytes > TUNING.max_pair_bytes:
        raise ValueError(
            f"the counts of all pairs of {len(sizes)} features would take {n_bytes / 2**30:.1f} GiB: keep fewer "
            "features, for example with InformationFilter, or choose structure='tree' with all rows in memory."
        )


def sum_pairs(
    X: Codes, codes: IntArray, sizes: IntArray, n_classes: int, weight: FloatArray | None = None
) -> FloatArray:
    """Joint counts of all outcomes of all features within each class, (n_classes, S, S)."""
    S = int(sizes.sum())
    result = np.zeros((n_classes, S, S))
    by_row = X.tocsr() if sparse.issparse(X) else X
    # without weights whole numbers, which single precision holds exactly in a chunk of rows
    dtype = np.float32 if weight is None else np.float64
    for rows in chunks(len(codes), 24.0 * S):
        indicator = _indicators(by_row[rows], np.arange(len(sizes)), sizes, dtype)[0]
        for c in range(n_classes):
            own = indicator[codes[rows] == c]
            w = 1 if weight is None else weight[rows][codes[rows] == c, None]
            result[c] += own.T @ (own * w)
    return result


@dataclass(repr=False, eq=False)
class Learner:
    """Counts of a training set, taken of its rows when they are needed, or those that were summed over chunks."""

    X: Codes
    codes: IntArray
    weight: FloatArray | None
    sizes: IntArray
    n_classes: int
    alpha: float
    smoothing: str | float
    #: Joint counts of all outcomes of all features within each class, where chunks were summed up.
    pairs: FloatArray | None = None

    def __post_init__(self) -> None:
        self.X = self.X.tocsc() if sparse.issparse(self.X) else self.X
        self.unit = 1.0 if self.weight is None else float(self.weight[self.weight > 0].mean())

    @classmethod
    def from_chunks(
        cls, chunks: CodedChunks, sizes: IntArray, n_classes: int, alpha: float, smoothing: str | float
    ) -> Learner:
        """Learn from rows that come in chunks; each feature then has one feature parent at most."""
        check_pairs(sizes, n_classes)
        pairs = chunks.total(partial(sum_pairs, sizes=sizes, n_classes=n_classes), add)
        learner = cls(*chunks.sample, None, sizes, n_classes, alpha, smoothing, pairs)
        learner.singles = chunks.counts
        return learner

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
        n, order = len(self.sizes), by_score(self.scores)
        if not isinstance(structure, str):
            parents = read_graph(structure, n, self.scores)
        elif structure == "clique":
            parents = random_graph(order, 1.0, rng)
        elif structure == "random":
            parents = random_graph(rng.permutation(n), min(1.0, 2 * TUNING.random_parents / max(n - 1, 1)), rng)
        else:
            is_line = structure == "line"
            edges = np.column_stack([order[:-1], order[1:]]) if is_line else maximum_spanning_tree(self.pair_weights())
            parents = orient(edges[self._pays(edges)] if structure == "forest" else edges, self.scores)
        if self.pairs is not None and any(len(above) > 1 for above in parents):
            raise ValueError(
                "structure: from chunks only pairs of features are counted, so a feature has one feature parent at "
                "most; choose 'tree', 'forest' or 'line', or fit to a sample of the rows."
            )
        return parents

    def tables(self, parents: list[IntArray], edges: IntArray) -> tuple[list[Any], FloatArray, FloatArray]:
        """Tables of the features, weights of the edges (parent, child), and strengths of the backoff."""
        strengths = np.full(len(parents), np.nan)
        tables: list[Any] = [None] * len(parents)
        weights = np.empty(len(edges))
        # the tables of pairs of a dense graph are not kept, only what they share
        for at in self._chunks(edges):
            part = edges[at]
            counts = self.count_pairs(part[:, ::-1])
            weights[at] = [conditional_information(table) for table in counts]
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
        if self.pairs is not None:
            parts = [sum_information(joint, self._starts, self._starts) for joint in self.pairs]
            information, both = (sum(part) for part in zip(*parts))
            value = np.maximum(information / np.where(both > 0, both, 1.0), 0.0)
            np.fill_diagonal(value, 0.0)
            return np.asarray(value)
        return pair_weights(self.X, self.codes, self.sizes, self.n_classes, self.weight)

    def count_pairs(self, edges: IntArray) -> list[FloatArray]:
        """Counts of child, parent and class for each edge (child, parent)."""
        if self.pairs is not None:
            places = [slice(start, start + size) for start, size in zip(self._starts.tolist(), self.sizes.tolist())]
            return [self.pairs[:, places[a], places[b]].transpose(1, 2, 0).copy() for a, b in edges.tolist()]
        X, y, C = self.X, self.codes.astype(np.intp), self.n_classes
        counts: list[FloatArray] = []
        for part in self._chunks(edges, 40 * X.shape[0]):
            child, parent = edges[part].T
            # a slot for the missing cells in front of the outcomes spares a mask
            shapes = self.sizes[edges[part]].astype(np.intp) + 1
            ends = np.cumsum(shapes.prod(axis=1) * C)
            key = dense_columns(X, child).astype(np.intp) + 1
            key *= shapes[:, 1]
            key += dense_columns(X, parent)
            key += 1
            key *= C
            key += np.append(0, ends[:-1])
            key += y[:, None]
            repeated = None if self.weight is None else np.repeat(self.weight, len(child))
            flat = np.bincount(key.ravel(), repeated, minlength=int(ends[-1])).astype(np.float64)
            for one, shape in zip(np.split(flat, ends[:-1]), shapes.tolist()):
                counts.append(one.reshape(*shape, C)[1:, 1:].copy())
        return counts

    @property
    def _starts(self) -> IntArray:
        """Where the outcomes of each feature begin among those of all."""
        return np.cumsum(self.sizes) - self.sizes

    def _joint(self, child: int, above: IntArray) -> tuple[FloatArray | None, float]:
        family = [child, *above.tolist()]
        # of thousands of parents this is infinite, which numpy would warn of
        size = math.prod(self.sizes[family].astype(np.float64).tolist()) * self.n_classes
        if size > TUNING.max_table:
            return None, np.nan
        return self.smooth(self._count_family(family), self.single(child))

    def _count_family(self, family: list[int]) -> FloatArray:
        """Count the joint outcomes of some features within each class."""
        columns, shape = dense_columns(self.X, np.asarray(family)), tuple(self.sizes[family].tolist())
        key, step, weight = self.codes.astype(np.intp), self.n_classes, self.weight
        for column, size in zip(columns.T[::-1], shape[::-1]):
            key = key + column.astype(np.intp) * step
            step *= size
        whole = (columns >= 0).all(axis=1)
        if not whole.all():
            key, weight = key[whole], None if weight is None else weight[whole]
        return np.bincount(key, weight, minlength=step).astype(np.float64).reshape(*shape, self.n_classes)

    def _pays(self, edges: IntArray) -> BoolArray:
        """Which edges of a tree predict the held-out child better than the class alone does."""
        parent = np.full(len(self.sizes), -1)
        for child, above in enumerate(orient(edges, self.scores)):
            parent[child] = above[0] if len(above) else -1
        downward = parent[edges[:, 1]] == edges[:, 0]
        directed = np.where(downward[:, None], edges[:, ::-1], edges)
        pays = np.zeros(len(edges), dtype=bool)
        for at in self._chunks(directed):
            counts = self.count_pairs(directed[at])
            for i, (child, table) in enumerate(zip(directed[at, 0], counts), at.start):
                pays[i] = pays_off(table, self.single(int(child)), self.alpha, self.smoothing, self.unit)
        return pays

    def _chunks(self, edges: IntArray, beside: int = 0) -> Iterator[slice]:
        """Cut edges into slices whose tables, and so many bytes beside each, fit into memory."""
        tables = (self.sizes[edges].astype(np.intp) + 1).prod(axis=1) * self.n_classes
        return chunks_by_size(np.cumsum(16 * tables + beside), CHUNK_BYTES)


#: Name of the class's node in graphs.
CLASS_NODE = "class"


def pair_weights(X: Codes, codes: IntArray, sizes: IntArray, n_classes: int, weight: FloatArray | None) -> FloatArray:
    """I(feature; feature | class) of all pairs, in nats; of weighted rows by products of indicators."""
    K = X.shape[1]
    if TUNING.max_paired < K:
        raise ValueError(
            f"the structure of {K} features needs the dependence of {K * (K - 1) // 2} pairs, which does not fit in "
            f"memory: keep at most {TUNING.max_paired} features, for example with InformationFilter, or give the graph."
        )
    if weight is None:
        dtype = np.float32 if 4 * K * K > CHUNK_BYTES else np.float64
        return np.asarray(conditional_mutual_information(X, codes, sizes, n_classes, dtype))
    result = np.zeros((K, K))
    largest = int(sizes.max(initial=1))
    blocks = [np.arange(K)[part] for part in chunks(K, 16.0 * X.shape[0] * largest, CHUNK_BYTES // 2)]
    blocks = [part for block in blocks for part in np.array_split(block, max(1, len(block) * largest // 1024))]
    for i, left in enumerate(blocks):
        a, starts_a = _indicators(X, left, sizes)
        for right in blocks[i:]:
            b, starts_b = _indicators(X, right, sizes)
            total, value = np.zeros((len(left), len(right))), np.zeros((len(left), len(right)))
            for c in range(n_classes):
                rows = codes == c
                w = weight[rows, None]
                information, both = sum_information(a[rows].T @ (b[rows] * w), starts_a, starts_b)
                value += information
                total += both
            value = np.maximum(value / np.where(total > 0, total, 1.0), 0.0)
            result[np.ix_(left, right)] = value
            result[np.ix_(right, left)] = value.T
    return result


def sum_information(joint: FloatArray, starts_a: IntArray, starts_b: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sum over the rows of the information, in nats, that features share, and those rows where both are present."""
    of_a, of_b = np.add.reduceat(joint, starts_b, axis=1), np.add.reduceat(joint, starts_a, axis=0)
    both = np.add.reduceat(of_a, starts_a, axis=0)
    shared = np.add.reduceat(np.add.reduceat(xlogy(joint, joint), starts_a, axis=0), starts_b, axis=1)
    shared += xlogy(both, both)
    shared -= np.add.reduceat(xlogy(of_a, of_a), starts_a, axis=0)
    shared -= np.add.reduceat(xlogy(of_b, of_b), starts_b, axis=1)
    return shared, both


def _indicators(
    X: Codes, columns: IntArray, sizes: IntArray, dtype: npt.DTypeLike = np.float64
) -> tuple[FloatArray, IntArray]:
    """Indicators of all outcomes of some features, and where each feature's begin."""
    block = dense_columns(X, columns)
    ends = np.cumsum(sizes[columns])
    starts = ends - sizes[columns]
    outcome = np.arange(ends[-1]) - np.repeat(starts, sizes[columns])
    return (np.repeat(block, sizes[columns], axis=1) == outcome).astype(dtype), starts


def maximum_spanning_tree(weights: FloatArray) -> IntArray:
    """Edges of the spanning tree with the largest total weight, by Prim's algorithm."""
    n = len(weights)
    edges = np.empty((max(n - 1, 0), 2), dtype=np.intp)
    if n < 2:
        return edges
    off = float(np.abs(weights[0]).max(initial=0.0))
    for row in weights:
        off = max(off, float(np.abs(row).max()))
    tie = off * (TIE if weights.dtype == np.float64 else 1e-6)
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    key, link = weights[0].astype(np.float64), np.zeros(n, dtype=np.intp)
    key[0] = -np.inf
    for at in range(n - 1):
        node = int(np.argmax(key >= key.max() - tie))
        edges[at] = link[node], node
        outside[node] = False
        key[node] = -np.inf
        better = outside & (weights[node] > key + tie)
        key[better] = weights[node][better]
        link[better] = node
    return edges


def orient(edges: IntArray, scores: FloatArray) -> list[IntArray]:
    """Point the edges of a forest away from the feature of the highest score in each tree."""
    n, order = len(scores), by_score(scores)
    _, tree = connected_components(sparse.csr_array((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False)
    roots = order[np.unique(tree[order], return_index=True)[1]]
    # from a node above all roots
    down = np.concatenate([edges, np.column_stack([np.full(len(roots), n), roots])])
    graph = sparse.csr_array((np.ones(len(down)), down.T), shape=(n + 1, n + 1))
    above = breadth_first_order(graph, n, directed=False)[1][:n]
    return [np.array([parent] if parent < n else [], dtype=np.intp) for parent in above.tolist()]


def by_score(scores: FloatArray) -> IntArray:
    """Features by falling score; scores that differ by rounding only go by index."""
    step = TIE * max(float(np.abs(scores).max(initial=0.0)), 1e-300)
    return np.argsort(-np.round(scores / step), kind="stable")


def random_graph(order: IntArray, chance: float, rng: np.random.Generator) -> list[IntArray]:
    """Random directed acyclic graph: each edge along an order with the same probability."""
    parents: list[IntArray] = [np.empty(0, dtype=np.intp)] * len(order)
    for at, feature in enumerate(order):
        parents[feature] = np.sort(order[:at][rng.random(at) < chance])
    return parents


def read_graph(graph: Any, n: int, scores: FloatArray) -> list[IntArray]:
    """Read a networkx graph over the features 0..n-1, the class's node being optional."""
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise TypeError(f"structure must be a name or a networkx graph, got {type(graph).__name__}.")
    nodes = set(graph.nodes) - {CLASS_NODE}
    unknown = nodes - set(range(n))
    if unknown:
        raise ValueError(f"structure has the node {min(unknown, key=repr)!r}; features are the numbers 0..{n - 1}.")
    missing = set(range(n)) - nodes
    if missing:
        raise ValueError(f"structure lacks the node {min(missing)}: add every feature, with edges or without.")
    edges = []
    for a, b in dict.fromkeys(tuple(edge[:2]) for edge in graph.edges):
        if CLASS_NODE in (a, b):
            if graph.is_directed() and b == CLASS_NODE:
                raise ValueError(f"structure has the edge {a!r} -> {b!r}, but the class is a parent of every feature.")
            continue
        if a == b:
            raise ValueError(f"structure joins feature {a} to itself.")
        edges.append((int(a), int(b)))
    if graph.is_directed():
        parents: list[list[int]] = [[] for _ in range(n)]
        for a, b in edges:
            parents[b].append(a)
        result: list[IntArray] = [np.array(sorted(p), dtype=np.intp) for p in parents]
        topological(result)
        return result
    _check_forest(edges)
    return orient(np.array(edges, dtype=np.intp).reshape(-1, 2), scores)


def _check_forest(edges: list[tuple[int, int]]) -> None:
    """Raise if an undirected graph has a cycle."""
    import networkx as nx

    if cycles := nx.cycle_basis(nx.Graph(edges)):
        first, second = cycles[0][:2]
        raise ValueError(
            f"structure has a cycle through the edge between {first} and {second}: an undirected graph must be a tree "
            "or a forest; give a DiGraph for features with several parents."
        )


def ancestors(nodes: Sequence[int], parents: Sequence[Any]) -> list[int]:
    """Nodes and all above them, in increasing order."""
    above: set[int] = set()
    left = list(nodes)
    while left:
        j = left.pop()
        if j not in above:
            above.add(j)
            left.extend(map(int, parents[j]))
    return sorted(above)


def child_lists(parents: Sequence[IntArray]) -> list[list[int]]:
    """Children of each feature."""
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above.tolist():
            children[parent].append(child)
    return children


def topological(parents: Sequence[IntArray]) -> IntArray:
    """Order in which every feature follows its parents."""
    children, waiting = child_lists(parents), [len(p) for p in parents]
    stack = [j for j, count in enumerate(waiting) if count == 0][::-1]
    order = []
    while stack:
        node = stack.pop()
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                stack.append(child)
    if len(order) < len(parents):
        stuck = next(j for j, count in enumerate(waiting) if count)
        raise ValueError(f"structure has a directed cycle at or above feature {stuck}.")
    return np.array(order, dtype=np.intp)


def sample_cases(
    prior: FloatArray,
    parents: list[IntArray],
    cpds: Sequence[FloatArray | None],
    n: int,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Draw outcomes and classes."""
    tables: list[FloatArray] = []
    for feature, table in enumerate(cpds):
        if table is None:
            raise ValueError(f"feature {feature} has {len(parents[feature])} parents, too many to keep its table.")
        tables.append(table)
    largest = max((len(table) for table in tables), default=1) - 1
    X = np.empty((n, len(tables)), dtype=smallest_int(largest), order="F")
    codes = _pick(np.cumsum(prior)[:, None], np.zeros(n, dtype=np.intp), rng)
    for feature in topological(parents).tolist():
        outcomes = tuple(X[:, parent].astype(np.intp) for parent in parents[feature])
        table = np.cumsum(tables[feature], axis=0).reshape(len(tables[feature]), -1)
        state = np.ravel_multi_index((*outcomes, codes), tables[feature].shape[1:])
        X[:, feature] = _pick(table, state, rng)
    return np.ascontiguousarray(X), codes


def _pick(cumulated: FloatArray, column: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw from the distribution in a column for each row; rounding never picks what has probability zero."""
    result = np.empty(len(column), dtype=np.intp)
    for rows in chunks(len(column), 8.0 * len(cumulated)):
        level = cumulated[:, column[rows]]
        result[rows] = (level <= rng.random(level.shape[1]) * level[-1]).sum(axis=0)
    return result
