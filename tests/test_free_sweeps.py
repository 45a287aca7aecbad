"""Analyses, frontiers and budgets of problems in which any question may come next."""

from __future__ import annotations

import numpy as np
import pytest
from free_cases import free_case
from slopes import finite_differences

from seqclass.analysis import feature_values, sensitivity, what_if
from seqclass.pomdp import Lookahead, cost_sweep, evaluate, solve_for_budget
from seqclass.pomdp.policy import scale_prices
from seqclass.pomdp.sweeps.budget import within_budget

pytestmark = pytest.mark.usefixtures("whole_certificates")

SEEDS = range(6)


def solved(seed):
    problem = free_case(seed, tree=seed % 2 == 1, most=3).problem
    return problem, Lookahead(2, certificate_paths=0).solve(problem)


@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_questions_sum_up(seed):
    problem, policy = solved(seed)
    values, run = feature_values(problem, policy), evaluate(problem, policy)
    assert values.total_saving == pytest.approx(float(problem.stopping_cost(problem.prior)) - run.cost, abs=1e-12)
    assert values.asked.sum() == pytest.approx(run.n_features, abs=1e-12)
    assert np.nansum(values.asked * values.price) == pytest.approx(run.price, abs=1e-12)
    assert (values.asked <= values.reached + 1e-12).all()
    assert (np.diff(values.asked) <= 1e-12).all()
    first = int(policy.action(problem.initial_belief())[0])
    if first >= 0:  # what the first question saves is all that the policy does
        [place] = np.flatnonzero(values.feature == problem.features[first])
        if values.asked[place] == pytest.approx(1.0) and values.reached[place] == pytest.approx(1.0):
            assert values.saving[place] <= values.total_saving + 1e-12


@pytest.mark.slow_cells("3", "4")
@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives(seed):
    problem, policy = solved(seed)
    found, long_way = sensitivity(problem, policy), finite_differences(problem, policy)
    np.testing.assert_allclose(found.price, long_way.price, atol=1e-5)
    np.testing.assert_allclose(found.full_price, long_way.full_price, atol=1e-5)
    assert found.cost == pytest.approx(evaluate(problem, policy).cost, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_changed_prices(seed):
    problem, policy = solved(seed)
    result = what_if(problem, policy, prices=problem.prices * 1.5, solver=Lookahead(2, certificate_paths=0))
    run = evaluate(problem, policy)
    assert result.before.cost == pytest.approx(run.cost, abs=1e-12)
    shares = sensitivity(problem, policy)
    dearer = 0.5 * (shares.price + shares.full_price) @ problem.prices
    assert result.held.cost == pytest.approx(run.cost + dearer, abs=1e-9)
    assert result.held.n_features == pytest.approx(run.n_features)


@pytest.mark.slow_cells("5")
@pytest.mark.parametrize("seed", SEEDS)
def test_frontiers_are_separate_solutions(seed):
    problem = free_case(seed, tree=seed % 2 == 1, most=4).problem
    solver, factors = Lookahead(2), np.array([0.0, 0.3, 1.0, 4.0])
    frontier = cost_sweep(problem, factors, solver)
    for j, factor in enumerate(factors):
        priced = scale_prices(problem, factor)
        run = evaluate(priced, solver.solve(priced))
        assert frontier.cost[j] == pytest.approx(run.cost, abs=1e-9)
        assert frontier.n_features[j] == pytest.approx(run.n_features, abs=1e-9)
        assert frontier.lower[j] <= frontier.cost[j] + 1e-9
        assert frontier.upper[j] == pytest.approx(run.cost, abs=1e-9)
        assert evaluate(problem, frontier.policies[j]).price == pytest.approx(frontier.price[j], abs=1e-12)
    assert frontier.method == "exact"


def test_without_prices_no_budget_is_kept_to():
    problem = free_case(0, tree=False, most=3).problem.replace(max_cost=0.1)
    with pytest.raises(ValueError, match="multipliers must be above 0 in a problem with max_cost"):
        cost_sweep(problem, [0.0, 1.0])
    assert len(cost_sweep(problem, [1e-6, 1.0])) == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_budgets_on_average(seed):
    problem = free_case(seed, tree=seed % 2 == 1, most=4).problem
    most = evaluate(problem, Lookahead(2, certificate_paths=0).solve(scale_prices(problem, 1e-3))).price
    policy = solve_for_budget(problem, 0.5 * most, Lookahead(2, certificate_paths=0))
    run = evaluate(problem, policy)
    assert run.price <= 0.5 * most + 1e-9
    assert run.cost <= policy.info.upper + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_limits_hold_for_every_instance(seed):
    problem = free_case(seed, tree=seed % 2 == 1, most=4).problem
    limit = float(np.sort(problem.full_prices)[:2].sum())
    cut = within_budget(problem, max_features=2, max_cost=limit)
    policy = Lookahead(2, certificate_paths=0).solve(cut)
    run = evaluate(cut, policy)
    assert run.price <= limit + 1e-12
    assert run.n_features <= 2 + 1e-12
