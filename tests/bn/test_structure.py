from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from seqclass.bn import TreeNetwork, _structure
from seqclass.bn._structure import maximum_spanning_tree, pair_weights


def dependent_data(seed, n=400, n_features=8, n_classes=3):
    """Each feature copies an earlier one in part."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, n_features)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, 60, (n, n_features)) % sizes
    for j in range(1, n_features):
        copied = rng.random(n) < rng.uniform(0.2, 0.6)
        X[copied, j] = (X[copied, rng.integers(j)] + y[copied]) % sizes[j]
    return X.astype(np.int8), y, sizes


def loop_weight(X, y, i, j, weight=None):
    """I(F_i; F_j | C) cell by cell, rows with both present."""
    weight = np.ones(len(y)) if weight is None else weight
    keep = (X[:, i] >= 0) & (X[:, j] >= 0)
    a, b, c, w = X[keep, i], X[keep, j], y[keep], weight[keep]
    total = 0.0
    for u, v, k in {*zip(a.tolist(), b.tolist(), c.tolist())}:
        n_c = w[c == k].sum()
        n_u, n_v = w[(c == k) & (a == u)].sum(), w[(c == k) & (b == v)].sum()
        n_uv = w[(c == k) & (a == u) & (b == v)].sum()
        if n_uv:
            total += n_uv * np.log(n_uv * n_c / (n_u * n_v))
    return total / w.sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_of_pairs_against_a_plain_loop(weighted, form):
    X, y, sizes = dependent_data(0, n=150)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.2] = -1
    weight = rng.random(len(y)) if weighted else None
    W = pair_weights(form(X), y, sizes, 3, weight)
    for i in range(X.shape[1]):
        for j in range(i):
            assert_allclose([W[i, j], W[j, i]], loop_weight(X, y, i, j, weight), rtol=1e-9, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_the_tree_is_scipys(seed, n):
    W = np.random.default_rng(seed).random((n, n))
    W = (W + W.T) / 2
    edges = maximum_spanning_tree(W)
    peer = minimum_spanning_tree(np.triu(-W, 1))
    assert {frozenset(e) for e in edges.tolist()} == {frozenset(map(int, e)) for e in zip(*peer.nonzero())}


def test_weights_of_zero_are_edges():
    assert len(maximum_spanning_tree(np.zeros((5, 5)))) == 4
    assert maximum_spanning_tree(np.zeros((3, 3))).tolist() == [[0, 1], [0, 2]]


def test_ties_up_to_rounding_go_to_the_lowest_feature():
    rng = np.random.default_rng(4)
    W = np.ones((20, 20)) + 1e-15 * rng.random((20, 20))
    assert maximum_spanning_tree(W).tolist() == [[0, j] for j in range(1, 20)]


def test_the_root_is_the_most_informative_feature_and_the_tree_spans_all():
    X, y, sizes = dependent_data(5)
    X[:, 3] = y % sizes[3]
    model = TreeNetwork().fit(X, y, n_outcomes=sizes)
    assert [j for j, p in enumerate(model.parents_) if len(p) == 0] == [3]
    W = pair_weights(X, y, sizes, 3, None)
    peer = minimum_spanning_tree(np.triu(-W - 1e-6, 1))
    mine = {frozenset((j, int(p[0]))) for j, p in enumerate(model.parents_) if len(p)}
    assert mine == {frozenset(map(int, e)) for e in zip(*peer.nonzero())}
    edges = [(a, b) for a, b in model.graph_.edges if a != "class"]
    assert_allclose(model.edge_weights_, [W[a, b] for a, b in edges], rtol=1e-9, atol=1e-12)
    assert_allclose([model.graph_.edges[e]["weight"] for e in edges], model.edge_weights_)


def test_sparse_and_dense_give_the_same_network():
    X, y, sizes = dependent_data(6)
    X[np.random.default_rng(7).random(X.shape) < 0.1] = -1
    for structure in ("tree", "forest", "line", "clique"):
        dense = TreeNetwork(structure).fit(X, y, n_outcomes=sizes)
        thin = TreeNetwork(structure).fit(sparse.csr_array(X), y, n_outcomes=sizes)
        for j in range(X.shape[1]):
            assert_array_equal(dense.parents_[j], thin.parents_[j])
            assert_allclose(dense.cpds_[j], thin.cpds_[j], rtol=1e-12)


def test_a_forest_drops_what_does_not_pay():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 300)
    X = rng.integers(0, 4, (300, 6))
    X[:, 1] = np.where(rng.random(300) < 0.7, X[:, 0], X[:, 1])
    for smoothing in ("laplace", "backoff", 1.0):
        model = TreeNetwork("forest", smoothing=smoothing).fit(X, y)
        edges = [e for e in model.graph_.to_undirected().edges if "class" not in e]
        # the best of many pairs of noise may pay by chance
        assert (0, 1) in edges
        assert len(edges) <= 3
    tree = TreeNetwork("tree").fit(X, y)
    assert sum(len(p) for p in tree.parents_) == 5


def test_a_forest_keeps_a_tree_that_pays():
    X, y, _sizes = dependent_data(9, n=20_000)
    tree, forest = TreeNetwork("tree").fit(X, y), TreeNetwork("forest").fit(X, y)
    assert set(tree.graph_.edges) == set(forest.graph_.edges)


def test_line_and_clique_follow_the_information_about_the_class():
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 500)
    X = np.column_stack([np.where(rng.random(500) < keep, y, 1 - y) for keep in (0.6, 0.9, 0.75)])
    line, clique = TreeNetwork("line").fit(X, y), TreeNetwork("clique").fit(X, y)
    assert [p.tolist() for p in line.parents_] == [[2], [], [1]]
    assert [p.tolist() for p in clique.parents_] == [[1, 2], [], [1]]
    assert line.is_forest_
    assert line.conditioning_ == "full"
    assert not clique.is_forest_
    assert clique.conditioning_ == "ancestor"


def test_random_structures_are_acyclic_and_repeatable():
    X, y, _ = dependent_data(11, n_features=40)
    first = TreeNetwork("random", random_state=3).fit(X, y)
    again = TreeNetwork("random", random_state=3).fit(X, y)
    other = TreeNetwork("random", random_state=4).fit(X, y)
    assert nx.is_directed_acyclic_graph(first.graph_)
    assert set(first.graph_.edges) == set(again.graph_.edges) != set(other.graph_.edges)
    assert 1.2 < np.mean([len(p) for p in first.parents_]) < 2.8


def test_a_given_graph_is_taken_as_it_is():
    X, y, _ = dependent_data(12, n_features=4)
    graph = nx.DiGraph([(2, 0), (2, 1), (0, 3), (1, 3), ("class", 0)])
    model = TreeNetwork(graph).fit(X, y)
    assert [p.tolist() for p in model.parents_] == [[2], [2], [], [0, 1]]
    tree = nx.Graph([(0, 1), (1, 2)])
    tree.add_node(3)
    model = TreeNetwork(tree).fit(X, y)
    assert {frozenset(e) for e in model.graph_.edges if "class" not in e} == {frozenset((0, 1)), frozenset((1, 2))}


@pytest.mark.parametrize("n_parents, kept", [(14, True), (15, False)])
def test_a_table_of_65_536_numbers_is_kept_and_no_larger_one(n_parents, kept):
    X = np.random.default_rng(0).integers(0, 2, (50, n_parents + 1))
    graph = nx.DiGraph([(j, n_parents) for j in range(n_parents)])
    table = TreeNetwork(graph).fit(X, np.arange(50) % 2).cpds_[n_parents]
    assert (table is not None and table.size == 2**16) if kept else table is None


@pytest.mark.parametrize(
    "graph, words",
    [
        (nx.DiGraph([(0, 1), (1, 2), (2, 0)]), "cycle"),
        (nx.Graph([(0, 1), (1, 2), (2, 0)]), "cycle"),
        (nx.DiGraph([(0, 1)]), "lacks the node 2"),
        (nx.DiGraph([(0, 1), (1, 7)]), "the node 7"),
        (nx.DiGraph([(0, 1), (1, 2), (2, "class")]), "the class is a parent"),
        (nx.Graph([(0, 1), (1, 2), (2, 2)]), "to itself"),
        (nx.Graph([("a", 1), (1, 2)]), "'a'"),
        ("star", "'tree', 'forest'"),
    ],
)
def test_wrong_structures_are_named(graph, words):
    X, y, _ = dependent_data(13, n_features=3)
    with pytest.raises(ValueError, match=words):
        TreeNetwork(graph).fit(X, y)


def test_what_is_no_graph_is_refused():
    with pytest.raises(TypeError, match="networkx graph"):
        TreeNetwork([(0, 1)]).fit([[0, 1], [1, 0]], [0, 1])


def test_pairs_of_twenty_thousand_features_are_weighed_and_of_no_more(monkeypatch):
    weighed = []
    monkeypatch.setattr(_structure, "conditional_mutual_information", lambda X, *_: weighed.append(X.shape[1]))
    pair_weights(sparse.csr_array((4, 20_000)), np.array([0, 1, 0, 1]), np.full(20_000, 2), 2, None)
    with pytest.raises(ValueError, match="keep at most 20000 features"):
        pair_weights(sparse.csr_array((4, 20_001)), np.array([0, 1, 0, 1]), np.full(20_001, 2), 2, None)
    assert weighed == [20_000]


@pytest.mark.slow
def test_too_many_features_are_refused_before_the_memory_is_taken():
    X = sparse.csr_array((4, 50_000), dtype=np.int8)
    with pytest.raises(ValueError, match="InformationFilter"):
        TreeNetwork().fit(X, [0, 1, 0, 1])
    # no pairs are needed here
    assert TreeNetwork("line").fit(X[:, :600], [0, 1, 0, 1]).is_forest_
    with pytest.raises(ValueError, match="InformationFilter"):
        TreeNetwork("random").fit(X[:, :10_000], [0, 1, 0, 1])
