"""Frontiers of solvers that solve for few multipliers and blend values between them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqclass.agent.problem import ModelProblem
from seqclass.pomdp import (
    GridValueIteration,
    Perseus,
    ProjectedValueIteration,
    TableProblem,
    certify,
    cost_sweep,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.bounds.optimum import optimal_costs
from seqclass.pomdp.policy import LookaheadPolicy, scale_prices
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.sweeps.solving import MAX_RATIO, InterpolatedSweep, InterpolatedValues, anchors, solve_sweep
from seqclass.pomdp.values import ProjectedValues

CLOSE = np.geomspace(0.3, 3.0, 12)


def weak_features(n_classes=4, n_stages=9, concentration=3.0):
    """Weak enough that all stages matter, and too many histories to enumerate."""
    tables = np.random.default_rng(0).dirichlet(np.full(4, concentration), (n_stages, n_classes)).transpose(0, 2, 1)
    return TableProblem(np.full(n_classes, 1 / n_classes), np.ascontiguousarray(tables), 0.01)


def tree_problem(tree, price=0.03):
    """The problem of a tree that is told to have no tables."""
    prices = np.full(len(tree.order), price)
    return ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(len(tree.prior)), max_contexts=1)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_anchors_have_both_ends_and_no_wide_gap(multipliers):
    factors = np.array(multipliers)
    at = factors[anchors(factors)]
    assert (np.diff(at) > 0).all()
    assert (at[0], at[-1]) == (factors.min(), factors.max())
    for low, high in itertools.pairwise(at):
        between = (factors > low) & (factors < high)
        assert high <= MAX_RATIO * low or not between.any()


@pytest.mark.parametrize("contexts", [False, True])
def test_bounds_of_blends_contain_the_optimum_and_points_are_attained(contexts, make_case, oracle):
    for seed in range(2):
        case = make_case(seed, "decisions", contexts=contexts, n_classes=4, n_stages=4)
        solver = Perseus(200, certificate_paths=200)
        frontier = cost_sweep(case.problem, CLOSE, solver)
        assert frontier.method == "exact"
        assert isinstance(solve_sweep(solver, case.problem, CLOSE), InterpolatedSweep)
        for j, multiplier in enumerate(CLOSE):
            case.prices, kept = [p * multiplier for p in case.prices], case.prices
            truth = oracle.optimum(case)
            case.prices = kept
            assert frontier.lower[j] == pytest.approx(truth, abs=1e-12)
            assert frontier.upper[j] >= truth - 1e-12
            run = oracle.run_policy(case, frontier.policies[j])
            assert (run.price, run.cost - run.price) == pytest.approx((frontier.price[j], frontier.decision_cost[j]))
            assert frontier.upper[j] == pytest.approx(multiplier * run.price + run.cost - run.price)
        assert (frontier.confidence == 1).all()
        assert frontier.gap.max() < 0.005


@pytest.mark.slow
def test_sampled_bounds_hold_and_blends_are_as_good_as_solving_alone():
    problem, solver = weak_features(), Perseus(300, certificate_paths=2000)
    multipliers = np.geomspace(0.4, 6.0, 10)
    frontier = cost_sweep(problem, multipliers, solver, n_paths=1000, max_histories=1000, random_state=1)
    assert frontier.method == "simulation"
    assert (frontier.confidence == 0.99).all()
    assert (frontier.gap > 0).all()
    assert frontier.gap.max() < 0.03
    bare = Perseus(300, certificate_paths=0)
    for j in (1, 4, 8):
        scaled = scale_prices(problem, multipliers[j])
        own, alone = frontier.policies[j].policy, bare.solve(scaled)
        assert isinstance(own.values, InterpolatedValues)
        here, there = (
            certify(scaled, policy, method="simulation", n_paths=2000, random_state=5) for policy in (own, alone)
        )
        assert here.upper_mean < 1.005 * there.upper_mean
        # independent paths of other values say the same
        assert frontier.lower[j] <= here.upper
        assert frontier.upper[j] >= here.lower
        truth = evaluate(scaled, own, method="simulation", n_paths=20_000, random_state=2)
        assert abs(frontier.cost[j] - truth.cost) < 4.5 * np.hypot(truth.cost_std_error, frontier.std_error[j])
        assert abs(frontier.price[j] * multipliers[j] - truth.price) < 0.05 * truth.price


@pytest.mark.slow
def test_sampled_lower_bounds_fail_no_more_often_than_they_say(make_case):
    too_low, too_high = 0, 0
    for seed in range(12):
        problem = make_case(seed, n_classes=4, n_stages=4).problem
        solver = Perseus(8, certificate_paths=300, random_state=seed)
        frontier = cost_sweep(problem, [0.5, 0.7, 0.9, 1.1], solver, method="simulation", max_histories=1, n_paths=300)
        truth = [optimal_cost(scale_prices(problem, m)) for m in frontier.multipliers]
        costs = [evaluate(scale_prices(problem, p.multiplier), p.policy).cost for p in frontier.policies]
        too_high += (frontier.lower > np.array(truth) + 1e-9).any()
        too_low += (frontier.upper < np.array(costs) - 1e-9).any()
    assert too_high <= 1
    assert too_low <= 1


def test_a_cut_horizon_is_bounded_from_below(repeated):
    problem = repeated(12, 0.004, 0.6)
    solver = Perseus(300, max_stages=5, certificate_paths=500)
    multipliers = np.array([0.5, 0.8, 1.0])
    truth = np.array([optimal_cost(scale_prices(problem, m)) for m in multipliers])
    for method in ("exact", "simulation"):
        most = 20_000 if method == "exact" else 1
        frontier = cost_sweep(problem, multipliers, solver, method=method, max_histories=most, n_paths=2000)
        assert (frontier.lower <= truth + 1e-9).all()
        assert (frontier.upper >= truth).all()
        assert (frontier.gap > 0.01).all()
        assert {p.info.status for p in frontier.policies} == {"truncated"}


def test_optimal_costs_are_those_of_each_multiplier_alone(make_case):
    multipliers = np.array([3.0, 0.0, 0.4, 1.0])
    for seed in range(6):
        problem = make_case(seed, "free", contexts=seed % 2 == 0).problem
        found = optimal_costs(problem, multipliers, max_histories=1e6)
        wanted = [optimal_cost(scale_prices(problem, m)) for m in multipliers]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
        if problem.n_stages > 2:
            cut = optimal_costs(problem, multipliers, n_stages=problem.n_stages - 2, max_histories=1e6)
            alone = [optimal_cost(scale_prices(problem, m), n_stages=problem.n_stages - 2) for m in multipliers]
            np.testing.assert_allclose(cut, alone, rtol=0, atol=1e-12)
            assert (cut <= found + 1e-12).all()


def test_blends_are_means_of_their_ends_and_plans_stay_above_look_ahead(make_case):
    problem = make_case(3, n_classes=4, n_stages=5).problem
    ends = [Perseus(300, certificate_paths=0).solve(scale_prices(problem, m)).values for m in (1.0, 2.0)]
    middle = scale_prices(problem, 1.25)
    blend = InterpolatedValues(middle, *ends, share=0.25)
    posterior = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    for stage in range(problem.n_stages + 1):
        first, second = (values.value(stage, posterior) for values in ends)
        np.testing.assert_allclose(blend.value(stage, posterior), 0.75 * first + 0.25 * second)
    belief = middle.initial_belief()
    rows = np.arange(1)
    assert blend.plan_cost(belief, rows)[0] >= LookaheadPolicy(blend).continuation_cost(belief)[0] - 1e-12
    end = BeliefState(middle, problem.n_stages, posterior[:1], belief.state)
    assert np.isinf(blend.plan_cost(end, rows)).all()
    assert blend.size == sum(values.size for values in ends)


def test_a_blend_of_one_end_alone_is_that_end(make_case):
    problem = make_case(3, n_classes=4, n_stages=5).problem
    ends = [Perseus(300, certificate_paths=0).solve(scale_prices(problem, m)).values for m in (1.0, 2.0)]
    posterior = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    for share, end in enumerate(ends):
        blend = InterpolatedValues(end.problem, *ends, share=share)
        for stage in range(problem.n_stages):
            np.testing.assert_array_equal(blend.value(stage, posterior), end.value(stage, posterior))
            belief, rows = BeliefState(problem, stage, posterior, problem.start(50)), np.arange(50)
            np.testing.assert_array_equal(
                blend.plan_cost(belief, rows), end.plan_cost(belief, rows)
            )  # some are infinite
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        InterpolatedValues(problem, *ends, share=1.5)


@pytest.mark.slow
def test_problems_without_tables_are_steered_by_blends(make_tree):
    tree = make_tree(2, n_classes=2, spread=0.7)
    problem = tree_problem(tree)
    frontier = cost_sweep(problem, CLOSE, ProjectedValueIteration(certificate_paths=500))
    for j, multiplier in enumerate(CLOSE):
        truth = tree.optimum(problem.prices * multiplier, problem.decision_costs)
        assert frontier.lower[j] <= truth + 1e-9
        assert truth - 1e-9 <= frontier.upper[j] <= 1.02 * truth
    blended = [p.policy.values for p in frontier.policies if isinstance(p.policy.values, InterpolatedValues)]
    assert len(blended) == len(CLOSE) - len(anchors(CLOSE))
    assert all(isinstance(values.lower, ProjectedValues) for values in blended)
    no_bound = cost_sweep(problem, CLOSE, ProjectedValueIteration(certificate_paths=0))
    assert np.isnan(no_bound.lower).all()
    np.testing.assert_array_equal(no_bound.cost, frontier.cost)


def test_a_wanted_gap_is_reached_at_every_point():
    problem = weak_features(n_stages=4)
    frontier = cost_sweep(problem, [0.8, 1.0, 1.2], Perseus(20, target_gap=0.02, certificate_paths=2000))
    assert (frontier.gap <= 0.02).all()
    assert not any(isinstance(p.policy.values, InterpolatedValues) for p in frontier.policies)


@pytest.mark.slow
def test_blends_that_do_worse_than_another_point_are_solved_for(make_case):
    multipliers = np.geomspace(0.3, 3, 12)
    refined = 0
    for seed in range(6):
        problem = make_case(seed, contexts=True, n_classes=4).problem
        frontier = cost_sweep(problem, multipliers, Perseus(200, certificate_paths=0))
        lines = multipliers[:, None] * frontier.price + frontier.decision_cost
        assert (frontier.cost <= lines.min(axis=1) * 1.0021).all()
        blended = sum(isinstance(p.policy.values, InterpolatedValues) for p in frontier.policies)
        refined += blended < len(multipliers) - len(anchors(multipliers))
    assert refined


def test_repeated_multipliers_in_any_order_agree():
    problem = weak_features(n_stages=4)
    multipliers = np.array([1.0, 0.5, 2.0, 0.7, 1.0, 0.7])
    frontier = cost_sweep(problem, multipliers, Perseus(100))
    assert frontier.cost[0] == frontier.cost[4]
    assert frontier.cost[3] == frontier.cost[5]
    rising = cost_sweep(problem, np.unique(multipliers), Perseus(100))
    np.testing.assert_allclose(rising.cost, frontier.cost[[1, 3, 0, 2]], rtol=1e-12)


def test_the_team_acts_as_its_policies_do():
    problem = weak_features(n_stages=5)
    for solver in (Perseus(200), GridValueIteration(6)):
        team = solve_sweep(solver, problem, CLOSE)
        info, rng = problem.initial_belief(), np.random.default_rng(0)
        for _ in range(problem.n_stages):
            active = np.ones((len(info), len(CLOSE)), dtype=bool)
            go_on = team.goes_on(info, active)[0]
            for j, policy in enumerate(team.policies):
                np.testing.assert_array_equal(go_on[:, j], policy.action(info) >= 0)
            rows = np.repeat(np.arange(len(info)), 3)
            info = info.update(rng.integers(4, size=rows.size), rows=rows)


def test_multipliers_that_are_solved_for_are_close_to_each_other():
    assert anchors(np.array([1.0, 2.0, 2.5, 2.7, 6.4])).tolist() == [0, 2, 4]
    assert anchors(np.array([1.0, 2.0, 2.5, 2.7, 6.6])).tolist() == [0, 2, 3, 4]
