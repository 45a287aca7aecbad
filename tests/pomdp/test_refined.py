"""Refined values: tighter bounds of the same policy, whose decisions they must not touch."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.agent.problem import ModelProblem
from seqclass.pomdp import ProjectedValueIteration, StoppingValue, TableProblem
from seqclass.pomdp.bounds.dual import DualPaths
from seqclass.pomdp.solvers.correlated import CorrectedValues, CostsAhead, MartingaleValues, sample_visited_states
from seqclass.pomdp.values import ProjectedValues


def refit(values, states):
    """The refinement of values that are fitted, stage by stage from the last on, at other states."""
    refined = MartingaleValues(values)
    for stage in reversed(range(1, values.n_stages)):
        lots = [lot[stage] for lot in states if stage < len(lot) and len(lot[stage])]
        if lots and values.is_corrected(stage):
            refined.fit_stage(stage, lots, [values.costs_ahead(info) for info in lots])
    return refined


def solved(tree, price=0.03):
    """A tree's problem without tables, its policy, its optimum and refined values."""
    n_classes = len(tree.prior)
    prices = np.full(len(tree.order), price)
    problem = ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(n_classes), max_contexts=1)
    policy = ProjectedValueIteration(max_contexts=1, certificate_paths=0).solve(problem)
    steering = ProjectedValues(problem, policy.values.projection, policy.values.values)
    states = sample_visited_states(steering, 2000, np.random.default_rng(0))
    return (
        problem,
        policy,
        tree.optimum(problem.prices, problem.decision_costs),
        refit(policy.values, states),
    )


@pytest.mark.slow
def test_the_bound_is_sound_and_tighter(make_tree):
    gaps = []
    for n_classes in (2, 3, 4):
        for price in (0.03, 0.003):
            for seed in range(2):
                tree = make_tree(seed, n_classes=n_classes, spread=0.7)
                problem, policy, truth, refined = solved(tree, price)
                ends = [DualPaths(problem, policy, values, None).run(1) for values in (policy.values, refined)]
                assert max(e.low for e in ends) <= truth + 1e-12
                gaps.append([1 - e.low / truth for e in ends])
    before, after = np.transpose(gaps)
    assert after.mean() < 0.95 * before.mean()
    assert (after < before).mean() > 0.7


def test_decisions_do_not_change(make_tree):
    tree = make_tree(3, n_features=7, n_classes=2, spread=0.7)
    problem = solved(tree)[0]
    bare, certified = (ProjectedValueIteration(certificate_paths=n).solve(problem) for n in (0, 10_000))
    assert isinstance(certified.values, CorrectedValues)
    for a, b in zip(bare.values.weights, certified.values.weights):
        assert (a is None and b is None) or (a == b).all()
    info = problem.initial_belief()
    for _ in range(problem.n_stages):
        assert (bare.action(info) == certified.action(info)).all()
        parent, outcome = np.nonzero(info.outcome_probabilities > 0)
        info = info.update(outcome, rows=parent)
    assert np.isnan(bare.info.upper)
    assert certified.info.certify_seconds > 0


def test_values_are_homogeneous_and_no_more_than_stopping(make_tree):
    problem, _, _, refined = solved(make_tree(1, n_classes=3))
    info = problem.initial_belief()
    for _ in range(problem.n_stages):
        found = refined.successor_values(info)
        stop = problem.stopping_cost(info.joint)
        assert found.shape == stop.shape
        assert (found <= stop + 1e-12).all()
        assert (found >= 0).all()
        if info.stage + 1 < problem.n_stages:
            ahead = refined.values.costs_ahead(info)
            twice, nothing = (
                refined._refine(info.stage + 1, CostsAhead(*(scale * values for values in ahead))) for scale in (2, 0)
            )
            np.testing.assert_allclose(twice, 2 * found.ravel(), rtol=1e-9, atol=1e-12)
            assert (nothing == 0).all()
        parent, outcome = np.nonzero(info.outcome_probabilities > 0)
        info = info.update(outcome, rows=parent)


def test_unfitted_values_are_those_that_were_given():
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)
    problem = TableProblem([0.5, 0.5], table, prices=0.1)
    values = CorrectedValues(problem, ProjectedValues(problem, problem, StoppingValue(problem)))
    refined = MartingaleValues(values)
    belief = problem.initial_belief()
    assert (refined.successor_values(belief) == values.successor_values(belief)).all()
    assert (refined.value(0, belief.probabilities) == values.value(0, belief.probabilities)).all()
