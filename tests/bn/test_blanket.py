from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqclass.bn import NaiveBayes, ordering
from seqclass.bn.ordering import order_by_name


def blanket_order(scores, parents, costs=1.0, *, go_on=True):
    prices = np.broadcast_to(np.asarray(costs, dtype=float), len(scores))
    return ordering.blanket_order(np.asarray(scores), parents, prices, go_on=go_on)


@st.composite
def graphs(draw, most=9):
    """Parents of a random directed graph without circles, its features in any order."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    place = rng.permutation(n)
    parents = [[] for _ in range(n)]
    for later in range(n):
        for earlier in range(later):
            if rng.random() < density:
                parents[place[later]].append(int(place[earlier]))
    return parents, rng


def plain_blanket(parents, node, present):
    """By definition, edge by edge, within the graph that the present features induce."""
    near = set()
    for child in present:
        above = [p for p in parents[child] if p in present]
        if child == node:
            near.update(above)
        elif node in above:
            near.update([child, *above])
    return near - {node}


def plain_order(rates, parents, go_on):
    rest = set(range(len(parents)))
    order = []
    while rest:
        pool, taken = set(rest), []
        while pool:
            best = max(pool, key=lambda j: (rates[j], -j))
            taken.append(best)
            pool -= {best} | plain_blanket(parents, best, rest)
        order += taken
        rest -= set(taken)
        if not go_on:
            break
    return order


@given(graphs())
def test_blanket_separates(graph):
    parents, _ = graph
    network = nx.DiGraph()
    network.add_nodes_from(range(len(parents)))
    network.add_edges_from((p, j) for j, above in enumerate(parents) for p in above)
    separated = nx.is_d_separator
    for node in network:
        blanket = plain_blanket(parents, node, set(network))
        others = set(network) - blanket - {node}
        assert not others or separated(network, {node}, others, blanket)


@given(graphs(), st.booleans())
def test_order_by_definition(graph, go_on):
    parents, rng = graph
    # few distinct scores, so that there are ties
    scores = rng.integers(1, 4, len(parents)) / 10
    assert blanket_order(scores, parents, go_on=go_on).tolist() == plain_order(scores, parents, go_on)
    costs = rng.integers(1, 4, len(parents)) / 8
    rates = np.round(scores / costs, 9) + 1e-5 * scores
    assert blanket_order(scores, parents, costs, go_on=go_on).tolist() == plain_order(rates, parents, go_on)


@given(graphs())
def test_what_the_paper_takes_is_independent_and_leaves_no_one_out(graph):
    parents, rng = graph
    taken = blanket_order(rng.random(len(parents)), parents, go_on=False)
    reached = set(taken.tolist())
    for feature in taken:
        blanket = plain_blanket(parents, feature, set(range(len(parents))))
        assert not blanket & set(taken.tolist())
        reached |= blanket
    assert reached == set(range(len(parents)))
    full = blanket_order(rng.random(len(parents)), parents)
    assert sorted(full.tolist()) == list(range(len(parents)))


def test_examples_of_networks():
    scores = [0.5, 0.4, 0.3, 0.2, 0.1]
    chain = [[], [0], [1], [2], [3]]
    assert blanket_order(scores, chain, go_on=False).tolist() == [0, 2, 4]
    assert blanket_order(scores, chain).tolist() == [0, 2, 4, 1, 3]
    clique = [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert blanket_order(scores, clique, go_on=False).tolist() == [0]
    assert blanket_order(scores, clique).tolist() == [0, 1, 2, 3, 4]
    star = [[4], [4], [4], [4], []]
    assert blanket_order(scores, star, go_on=False).tolist() == [0, 1, 2, 3]
    assert blanket_order([*scores[:4], 0.9], star, go_on=False).tolist() == [4]
    # features that share a child are in each other's blankets
    collider = [[], [], [0, 1]]
    assert blanket_order([0.3, 0.2, 0.1], collider, go_on=False).tolist() == [0]
    # and once the child is gone they are not
    assert blanket_order([0.2, 0.1, 0.3], collider).tolist() == [2, 0, 1]
    empty = [[]] * 5
    assert blanket_order(scores[::-1], empty).tolist() == [4, 3, 2, 1, 0]


def test_free_features_first_and_information_per_cost():
    chain = [[], [0], [1], [2]]
    scores = [0.1, 0.4, 0.3, 0.2]
    assert blanket_order(scores, chain, [1, 4, 1, 1], go_on=False).tolist() == [2, 0]
    assert blanket_order(scores, chain, [0, 1, 1, 1], go_on=False).tolist() == [0, 2]
    assert blanket_order(scores, chain, 0.3).tolist() == blanket_order(scores, chain).tolist()


def test_rounding_is_no_difference():
    scores = np.full(50, 0.3) * (1 + 1e-14 * np.random.default_rng(0).standard_normal(50))
    assert blanket_order(scores, [[]] * 50).tolist() == list(range(50))


@pytest.mark.slow
def test_work_grows_with_the_features_not_with_their_square(steps):
    counts = []
    for n in (1000, 2000):
        rng = np.random.default_rng(1)
        parents = [[] if j == 0 else [int(rng.integers(max(0, j - 50), j))] for j in range(n)]
        scores, order = rng.random(n), []
        counts.append(steps(lambda: order.append(blanket_order(scores, parents))))  # noqa: B023
        assert sorted(order[0].tolist()) == list(range(n))
    assert counts[1] < 2.2 * counts[0]


@pytest.mark.parametrize(
    "parents, message",
    [
        ([[], [2]], "feature 1 has the parent 2"),
        ([[0], []], "feature 0 has the parent 0"),
        ([[], [0.0]], "parents of feature 1 must be a list of feature numbers"),
        ([[], 0], "parents of feature 1 must be a list of feature numbers"),
    ],
)
def test_orders_name_what_is_wrong(parents, message):
    with pytest.raises(ValueError, match=message):
        blanket_order([0.1, 0.2], parents)


def test_as_a_named_order(data):
    model = NaiveBayes().fit(*data)
    for name in ("blanket", "blanket_only"):
        with pytest.raises(ValueError, match=f"order '{name}' follows the graph.*NaiveBayes has none"):
            order_by_name(name, model, np.ones(5))
    model.parents_ = [[], [0], [1], [2], [3]]
    ranked = order_by_name("information", model, np.ones(5))
    rates = np.empty(5)
    rates[ranked] = np.arange(5, 0, -1)
    assert order_by_name("blanket", model, np.ones(5)).tolist() == plain_order(rates, model.parents_, True)
    assert order_by_name("blanket_only", model, np.ones(5)).tolist() == plain_order(rates, model.parents_, False)
    costs = np.array([1.0, 1, 1, 1, 0])
    assert order_by_name("blanket", model, costs)[0] == 4
