"""Vectors shared across contexts, as published: what they claim, and what is certified in its place."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.agent.problem import ModelProblem
from seqclass.pomdp import Perseus, TableProblem, evaluate
from seqclass.pomdp.alpha import SharedVectors

SHARED = {"share_contexts": True, "n_rounds": 1, "tolerance": 0.0}


def claim(policy):
    return float(policy.values.value(0, policy.problem.prior[None])[0])


def perfect_or_useless(price=0.2):
    """f1 says nothing of the class; f2 tells it where f1 was 0 and nothing where it was 1."""
    nothing, perfect = [[0.5, 0.5], [0.5, 0.5]], np.eye(2).tolist()
    return TableProblem(
        [0.5, 0.5],
        [np.array([nothing]), np.array([perfect, nothing])],
        [price, price],
        transitions=[np.array([[0, 1, 0]]), np.array([[0, 0, 0], [0, 0, 0]])],
    )


def test_vectors_of_one_context_are_wrong_in_another():
    problem = perfect_or_useless()
    belief, both = np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0, 1])
    kept_apart = Perseus(n_rounds=1).solve(problem)
    assert kept_apart.values.value(1, belief, both) == pytest.approx([0.2, 0.5])
    assert kept_apart.info.upper == kept_apart.info.lower == pytest.approx(0.5)
    shared = Perseus(**SHARED).solve(problem)
    # after f1 the truth is .35 on average: .2 where it goes on, .5 where it stops; the claim is .2 in both
    assert shared.values.value(1, belief, both) == pytest.approx([0.2, 0.2])
    assert claim(shared) == pytest.approx(0.4)
    assert evaluate(problem, shared).cost == pytest.approx(0.55)
    assert shared.info.upper == pytest.approx(0.55)
    assert shared.info.lower == pytest.approx(0.5)


def test_the_next_stages_vectors_are_not_kept_for_being_lower():
    """Next a useless feature, then a perfect one, at .3 each: stop, at .5; not claim .3, go on and pay .6."""
    problem = TableProblem([0.5, 0.5], np.array([np.full((2, 2), 0.5), np.eye(2)]), 0.3)
    for solver in (Perseus(), Perseus(**SHARED), Perseus.from_paper()):
        policy = solver.solve(problem)
        assert claim(policy) == pytest.approx(0.5)
        assert policy.info.upper == policy.info.lower == pytest.approx(0.5)


@pytest.mark.slow
def test_nothing_it_claims_is_reported(make_tree):
    claims, costs = [], []
    for seed in range(6):
        tree = make_tree(seed)
        prices, loss = np.full(5, 0.03), 1 - np.eye(3)
        truth = tree.optimum(prices, loss)
        for max_contexts in (1, 256):
            problem = ModelProblem(tree.model, tree.prior, tree.order, prices, loss, max_contexts=max_contexts)
            policy = Perseus(10**5, **SHARED).solve(problem)
            assert isinstance(policy.values, SharedVectors)
            assert np.isinf(policy.values.plan_cost(problem.initial_belief(), np.arange(1))).all()
            cost = evaluate(problem, policy).cost
            assert policy.info.lower <= truth + 1e-9
            assert policy.info.upper >= cost - 1e-9
            claims.append(claim(policy) / truth - 1)
            costs.append(cost / truth - 1)
        assert claims[-1] == pytest.approx(claims[-2])
    # with look-ahead in execution little is lost, but the claims are far too low
    assert np.mean(claims) < -0.15
    assert max(claims) < 0
    assert 0 <= np.mean(costs) < 0.03


def test_with_one_context_there_is_nothing_to_share(repeated):
    problem = repeated(6)
    shared = Perseus(**SHARED).solve(problem)
    assert not isinstance(shared.values, SharedVectors)
    assert shared.info.upper == Perseus(n_rounds=1, tolerance=0.0).solve(problem).info.upper


def test_rounds_go_on_with_shared_vectors(make_tree):
    tree = make_tree(3)
    problem = ModelProblem(tree.model, tree.prior, tree.order, np.full(5, 0.03), 1 - np.eye(3), max_contexts=1)
    policy = Perseus(20, share_contexts=True, target_gap=1e-6, max_beliefs=80).solve(problem)
    assert isinstance(policy.values, SharedVectors)
    assert len(policy.info.trace) > 1


def test_published_settings_share():
    assert Perseus.from_paper().get_params()["share_contexts"] is True
