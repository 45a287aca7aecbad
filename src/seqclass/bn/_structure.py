"""Structures of a network over the features: spanning tree, line, random, clique, or a given graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import xlogy

from seqclass._arrays import CHUNK_BYTES, FloatArray, IntArray, chunks
from seqclass._pairs import conditional_mutual_information
from seqclass.bn._checks import Codes
from seqclass.bn._cpds import dense_columns

#: Name of the class's node in graphs.
CLASS_NODE = "class"
#: More features would need more memory for the weights of all pairs than a structure is worth.
MAX_PAIRED = 20_000
#: From so many features on, weights are kept in single precision.
_SINGLE = 4000
#: Relative difference below which two weights count as equal.
_TIE = 1e-12
#: Feature parents that a feature of a random structure has on average.
_RANDOM_PARENTS = 2.0


def pair_weights(X: Codes, codes: IntArray, sizes: IntArray, n_classes: int, weight: FloatArray | None) -> FloatArray:
    """I(feature; feature | class) of all pairs, in nats.

    Raises
    ------
    ValueError
        If there are too many features for a matrix of all pairs.

    Examples
    --------
    >>> X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
    >>> float(pair_weights(X, y, np.array([2, 2]), 2, None)[0, 1].round(4))
    0.6931
    """
    K = X.shape[1]
    if K > MAX_PAIRED:
        raise ValueError(
            f"the structure of {K} features needs the dependence of {K * (K - 1) // 2} pairs, which does not fit in "
            f"memory: keep at most {MAX_PAIRED} features, for example with InformationFilter, or give the graph."
        )
    if weight is None:
        dtype = np.float32 if K > _SINGLE else np.float64
        return np.asarray(conditional_mutual_information(X, codes, dtype=dtype))
    return _weighted(X, codes, sizes, n_classes, weight)


def _weighted(X: Codes, codes: IntArray, sizes: IntArray, n_classes: int, weight: FloatArray) -> FloatArray:
    """Do the same for weighted rows, by products of indicators."""
    K = X.shape[1]
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
                told, both = shared_nats(a[rows].T @ (b[rows] * w), starts_a, starts_b)
                value += told
                total += both
            value = np.maximum(value / np.where(total > 0, total, 1.0), 0.0)
            result[np.ix_(left, right)] = value
            result[np.ix_(right, left)] = value.T
    return result


def shared_nats(joint: FloatArray, starts_a: IntArray, starts_b: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sum over the rows of the information, in nats, that features share, and those rows where both are present.

    Parameters
    ----------
    joint : ndarray of shape (n_outcomes_a, n_outcomes_b)
        Joint counts of the outcomes of some features and of others.
    starts_a, starts_b : ndarray of int
        Where the outcomes of each feature begin.

    Examples
    --------
    >>> told, both = shared_nats(np.diag([2.0, 2.0]), np.array([0]), np.array([0]))
    >>> float((told / both)[0, 0].round(4))
    0.6931
    """
    of_a, of_b = np.add.reduceat(joint, starts_b, axis=1), np.add.reduceat(joint, starts_a, axis=0)
    both = np.add.reduceat(of_a, starts_a, axis=0)
    told = np.add.reduceat(np.add.reduceat(xlogy(joint, joint), starts_a, axis=0), starts_b, axis=1) + xlogy(both, both)
    told -= np.add.reduceat(xlogy(of_a, of_a), starts_a, axis=0)
    told -= np.add.reduceat(xlogy(of_b, of_b), starts_b, axis=1)
    return told, both


def _indicators(X: Codes, columns: IntArray, sizes: IntArray) -> tuple[FloatArray, IntArray]:
    """Indicators of all outcomes of some features, and where each feature's begin."""
    block = dense_columns(X, columns)
    ends = np.cumsum(sizes[columns])
    starts = ends - sizes[columns]
    outcome = np.arange(ends[-1]) - np.repeat(starts, sizes[columns])
    indicator = (np.repeat(block, sizes[columns], axis=1) == outcome).astype(np.float64)
    return indicator, starts


def maximum_spanning_tree(weights: FloatArray) -> IntArray:
    """Edges of the spanning tree with the largest total weight, by Prim's algorithm.

    Weights of zero are edges like others. Weights that differ by rounding only count as equal; the lower feature
    then wins.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Symmetric.

    Returns
    -------
    ndarray of int of shape (n - 1, 2)

    References
    ----------
    .. [1] N. Friedman, D. Geiger, M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.

    Examples
    --------
    >>> maximum_spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]])).tolist()
    [[0, 1], [1, 2]]
    """
    n = len(weights)
    edges = np.empty((max(n - 1, 0), 2), dtype=np.intp)
    if n < 2:
        return edges
    off = float(np.abs(weights[0]).max(initial=0.0))
    for row in weights:
        off = max(off, float(np.abs(row).max()))
    tie = off * (_TIE if weights.dtype == np.float64 else 1e-6)
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
    """Point the edges of a forest away from the feature of the highest score in each tree.

    Parameters
    ----------
    edges : ndarray of int of shape (n_edges, 2)
    scores : ndarray of shape (n_features,)

    Returns
    -------
    list of ndarray of int
        Parent of each feature, empty at a root.

    Examples
    --------
    >>> [p.tolist() for p in orient(np.array([[0, 1], [1, 2]]), np.array([0.1, 0.2, 0.5]))]
    [[1], [2], []]
    """
    neighbours: list[list[int]] = [[] for _ in scores]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    parents: list[IntArray] = [np.empty(0, dtype=np.intp) for _ in scores]
    reached = [False] * len(scores)
    for root in by_score(scores).tolist():
        if reached[root]:
            continue
        reached[root] = True
        stack = [root]
        while stack:
            node = stack.pop()
            for other in neighbours[node]:
                if not reached[other]:
                    reached[other] = True
                    parents[other] = np.array([node], dtype=np.intp)
                    stack.append(other)
    return parents


def by_score(scores: FloatArray) -> IntArray:
    """Features by falling score; scores that differ by rounding only go by index.

    Examples
    --------
    >>> by_score(np.array([0.1, 0.5, 0.1 + 1e-17])).tolist()
    [1, 0, 2]
    """
    step = _TIE * max(float(np.abs(scores).max(initial=0.0)), 1e-300)
    return np.argsort(-np.round(scores / step), kind="stable")


def line(scores: FloatArray) -> list[IntArray]:
    """Each feature below the one of the next higher score.

    Examples
    --------
    >>> [p.tolist() for p in line(np.array([0.1, 0.5, 0.3]))]
    [[2], [], [1]]
    """
    order = by_score(scores)
    parents: list[IntArray] = [np.empty(0, dtype=np.intp) for _ in scores]
    for above, below in pairwise(order.tolist()):
        parents[below] = np.array([above], dtype=np.intp)
    return parents


def clique(scores: FloatArray) -> list[IntArray]:
    """Each feature below all of higher score.

    Examples
    --------
    >>> [p.tolist() for p in clique(np.array([0.1, 0.5, 0.3]))]
    [[1, 2], [], [1]]
    """
    order = by_score(scores)
    parents: list[IntArray] = [np.empty(0, dtype=np.intp) for _ in scores]
    for at, feature in enumerate(order):
        parents[feature] = np.sort(order[:at])
    return parents


def random_graph(n: int, rng: np.random.Generator) -> list[IntArray]:
    """Random directed acyclic graph: a random order, and each edge along it with the same probability.

    The probability makes two feature parents a feature on average, or all earlier ones where there are fewer.

    Examples
    --------
    >>> parents = random_graph(50, np.random.default_rng(0))
    >>> 1 < np.mean([len(p) for p in parents]) < 3
    np.True_
    """
    order = rng.permutation(n)
    chance = min(1.0, 2 * _RANDOM_PARENTS / max(n - 1, 1))
    parents: list[IntArray] = [np.empty(0, dtype=np.intp)] * n
    for at, feature in enumerate(order):
        parents[feature] = np.sort(order[:at][rng.random(at) < chance])
    return parents


def given_graph(graph: Any, n: int, scores: FloatArray) -> list[IntArray]:
    """Read a networkx graph over the features 0..n-1, the class's node being optional.

    A directed graph is taken as it is; an undirected one has to be a forest, and is oriented.

    Raises
    ------
    TypeError
        If it is no graph.
    ValueError
        If a node is unknown or missing, an edge is not allowed, or there is a cycle.

    Examples
    --------
    >>> import networkx as nx
    >>> [p.tolist() for p in given_graph(nx.DiGraph([(1, 0)]), 2, np.zeros(2))]
    [[1], []]
    """
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
    _check_forest(edges, n)
    return orient(np.array(edges, dtype=np.intp).reshape(-1, 2), scores)


def _check_forest(edges: list[tuple[int, int]], n: int) -> None:
    """Raise if an undirected graph has a cycle."""
    of = list(range(n))

    def find(node: int) -> int:
        while of[node] != node:
            of[node] = of[of[node]]
            node = of[node]
        return node

    for a, b in edges:
        first, second = find(a), find(b)
        if first == second:
            raise ValueError(
                f"structure has a cycle through the edge between {a} and {b}: an undirected graph must be a tree or "
                "a forest; give a DiGraph for features with several parents."
            )
        of[first] = second


def topological(parents: Sequence[IntArray]) -> IntArray:
    """Order in which every feature follows its parents.

    Raises
    ------
    ValueError
        If there is a cycle.

    Examples
    --------
    >>> topological([np.array([1]), np.array([], dtype=int)]).tolist()
    [1, 0]
    """
    children: list[list[int]] = [[] for _ in parents]
    waiting = [len(p) for p in parents]
    for child, above in enumerate(parents):
        for parent in above.tolist():
            children[parent].append(child)
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
