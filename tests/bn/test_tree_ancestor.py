"""Second-order conditioning: the nearest acquired ancestor alone."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from seqclass.bn import NaiveBayes, TreeNetwork


def data(seed, n=200, n_features=7, n_classes=2):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, n_features)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, 60, (n, n_features)) % sizes
    for j in range(1, n_features):
        copied = rng.random(n) < 0.5
        X[copied, j] = (X[copied, rng.integers(j)] + y[copied]) % sizes[j]
    return X, y


def nearest(model, feature, known):
    """Nearest known ancestor: by distance in the graph, then weight of the pair, then number."""
    features = model.graph_.subgraph(range(model.n_features_in_))
    away = nx.single_source_shortest_path_length(features.reverse(), feature)
    found = [j for j in away if j in known and j != feature]
    return found and [j for j in found if away[j] == min(away[i] for i in found)]


def pair_table(X, y, feature, ancestor, u, c, V):
    rows = (y == c) & (X[:, ancestor] == u) & (X[:, feature] >= 0)
    return [((X[rows, feature] == v).sum() + 1) / (rows.sum() + V) for v in range(V)]


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 8 // 25)
@given(st.integers(0, 10**6))
def test_on_a_tree_the_path_to_the_ancestor_is_summed_out(seed):
    X, y = data(seed)
    model = TreeNetwork(conditioning="ancestor").fit(X, y)
    full = TreeNetwork(conditioning="full").fit(X, y)
    rng = np.random.default_rng(seed)
    evidence = np.where(rng.random((12, 7)) < 0.4, X[:12], -1)
    for j in range(7):
        found = model.likelihood(j, evidence)
        for row, table in zip(evidence, found):
            known = set(np.flatnonzero(row >= 0)) - {j}
            above = nearest(model, j, known)
            only = np.full((1, 7), -1)
            if above:
                only[0, above[0]] = row[above[0]]
            assert_allclose(table, full.likelihood(j, only)[0], rtol=1e-10)


@pytest.mark.slow_cells("0.0-clique")
@pytest.mark.covering(1)
@pytest.mark.parametrize("structure", ["clique", "random"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_on_a_graph_the_table_of_the_pair_is_taken(structure, missing):
    X, y = data(1)
    rng = np.random.default_rng(2)
    X[rng.random(X.shape) < missing] = -1
    model = TreeNetwork(structure, random_state=1).fit(X, y)
    assert model.conditioning_ == "ancestor"
    assert not model.is_forest_
    alone = NaiveBayes().fit(X, y).likelihood_table()
    evidence = np.where(rng.random((40, 7)) < 0.5, X[:40], -1)
    for j, V in enumerate(model.n_outcomes_):
        for row, table in zip(evidence, model.likelihood(j, evidence)):
            known = set(np.flatnonzero(row >= 0)) - {j}
            above = nearest(model, j, known)
            if not above:
                rows_with_all = alone[j, :V]
                assert_allclose(table, rows_with_all, rtol=1e-10)
                continue
            tables = [np.transpose([pair_table(X, y, j, i, row[i], c, V) for c in range(2)]) for i in above]
            assert any(np.allclose(table, one, rtol=1e-10) for one in tables)
            direct = [i for i in above if (i, j) in model.graph_.edges]
            if direct:  # of several parents the one of the largest weight
                best = max(direct, key=lambda i: model.graph_.edges[i, j]["weight"])
                assert_allclose(table, tables[above.index(best)], rtol=1e-10)


@pytest.mark.parametrize("structure", ["tree", "line", "clique", "random"])
def test_the_posterior_is_the_chain_in_topological_order(structure):
    X, y = data(3)
    model = TreeNetwork(structure, conditioning="ancestor", random_state=2).fit(X, y)
    features = model.graph_.subgraph(range(7))
    evidence = np.where(np.random.default_rng(4).random((25, 7)) < 0.6, X[:25], -1)
    joint = np.tile(model.class_prior_, (25, 1))
    seen = np.full_like(evidence, -1)
    for j in nx.topological_sort(features):
        known = evidence[:, j] >= 0
        joint[known] *= model.likelihood(j, seen)[known, evidence[known, j]]
        seen[:, j] = evidence[:, j]
    assert_allclose(model.posterior(evidence), joint / joint.sum(axis=1, keepdims=True), rtol=1e-10)
    assert_allclose(model.posterior(np.full((1, 7), -1))[0], model.class_prior_)


@pytest.mark.parametrize("structure", ["tree", "clique", "random"])
@pytest.mark.parametrize("smoothing", ["laplace", "backoff", 3.0])
def test_stages_are_the_likelihood_of_what_was_acquired(structure, smoothing):
    X, y = data(5)
    model = TreeNetwork(structure, conditioning="ancestor", smoothing=smoothing).fit(X, y)
    rng = np.random.default_rng(6)
    rows, seen, state = np.arange(len(X)), np.full_like(X, -1), model.start(len(X))
    for feature in rng.permutation(7).tolist():
        outcome = np.where(rng.random(len(rows)) < 0.8, X[rows, feature], -1)
        likelihood = model.stage_likelihood(feature, state)
        assert_allclose(likelihood, model.likelihood(feature, seen[rows]), rtol=1e-11, atol=1e-11)
        advanced = model.advance(feature, state, outcome)
        assert_array_equal(model.stage_likelihood(feature, state), likelihood)  # the state that was given stays
        seen[rows, feature] = outcome
        some = np.flatnonzero(rng.random(len(rows)) < 0.9)[::-1]
        state, rows = advanced[some], rows[some]
    assert_allclose(model.predictive(2, X).sum(axis=1), 1)
    assert model.likelihoods(X[:3]).shape == (3, 7, 3, 2)


def test_skipping_a_node_ignores_its_other_children():
    """0 -> 1 -> 2 and 0 -> 1 -> 3 with 1 skipped: published, 3 is given 0 alone; in truth 2 bears on it."""
    flip = np.array([[[0.9], [0.1]], [[0.1], [0.9]]])
    tables = [np.full((2, 1), 0.5), flip, flip, flip]
    models = [
        TreeNetwork.from_cpds([0], [1.0], [[], [0], [1], [1]], tables, conditioning=kind)
        for kind in ("full", "ancestor")
    ]
    row = [[0, -1, 1, -1]]
    full, published = (model.likelihood(3, row)[0, 0, 0] for model in models)
    assert_allclose(published, 0.9 * 0.9 + 0.1 * 0.1)
    assert_allclose(full, (0.81 * 0.1 + 0.01 * 0.9) / (0.9 * 0.1 + 0.1 * 0.9))


def test_ancestors_in_a_graph_need_counts():
    tables = [np.full((2, 1), 0.5), np.full((2, 1), 0.5), np.full((2, 2, 2, 1), 0.5)]
    parents = [[], [], [0, 1]]
    assert TreeNetwork.from_cpds([0], [1.0], parents, tables).conditioning_ == "full"
    with pytest.raises(ValueError, match="needs counts"):
        TreeNetwork.from_cpds([0], [1.0], parents, tables, conditioning="ancestor")


def test_tables_of_many_parents_are_left_out():
    X, y = data(6, n_features=14)
    model = TreeNetwork("clique").fit(X, y)
    assert model.cpds_[int(np.argmax([len(p) for p in model.parents_]))] is None
    assert model.posterior(X[:5]).shape == (5, 2)
    exact = TreeNetwork("clique", conditioning="full").fit(X, y)
    with pytest.raises(ValueError, match="conditioning='ancestor'"):
        exact.posterior(X[:5])
    with pytest.raises(ValueError, match="too many"):
        exact.sample(3)


def test_impossible_evidence_is_named():
    X, y = np.array([[0, 0], [1, 1], [0, 0], [1, 1]]), np.array([0, 0, 1, 1])
    model = TreeNetwork(alpha=0.0, conditioning="ancestor").fit(X, y)
    with pytest.raises(ValueError, match="outcome 1 of feature 1"):
        model.posterior([[0, 0], [0, 1]])


def test_the_class_node_has_a_name():
    X, y = data(7)
    graph = TreeNetwork("line").fit(X, y).graph_
    assert "class" == "class"
    assert graph.out_degree("class") == 7
    assert graph.in_degree("class") == 0
