"""Bounds over all orders are below the optimum, and close where they should be."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from free_cases import free_case

from seqclass.pomdp import (
    AcquireAll,
    DecideNow,
    GridValueIteration,
    Lookahead,
    TableProblem,
    certify,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.bounds.certificate import lowest
from seqclass.pomdp.bounds.optimum import OnePriceBounds
from seqclass.pomdp.bounds.repeats import RepeatValues, cost_above
from seqclass.pomdp.solvers.simple import OrderBoundPolicy


def naive_problem(seed, *, n_questions=None, n_classes=2, price=0.06):
    """Independent questions of two or three classes: prices that differ, some zero, groups, further decisions."""
    rng = np.random.default_rng(seed)
    n = n_questions or int(rng.integers(1, 6))
    tables = [rng.dirichlet(np.full(rng.integers(2, 5), 0.8), size=n_classes).T for _ in range(n)]
    full = rng.uniform(0.2, 1.0, n) * price
    full[rng.random(n) < 0.1] = 0.0
    groups = rng.integers(-1, 2, n) if seed % 3 == 0 else None
    prices = full if groups is None else np.where(groups >= 0, full * rng.uniform(0, 1, n), full)
    costs = rng.uniform(0.3, 1.0, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    if seed % 2:
        costs = np.column_stack([costs, rng.uniform(0.05, 0.4, n_classes)])
    prior = rng.dirichlet(np.full(n_classes, 2.0))
    return TableProblem(prior, tables, prices, costs, groups=groups, full_prices=full, free=True)


def everywhere(problem, rng):
    """Some information states of every stage, with answers that are missing among them."""
    info = problem.begin(6)
    while True:
        yield info
        if info.stage == problem.n_stages:
            return
        parts = []
        for row in range(len(info)):
            one = info[np.array([row])]
            question = int(rng.choice(np.flatnonzero(one.open[0])))
            asked = one.asking(question)
            outcome = -1 if rng.random() < 0.2 else int(rng.choice(asked.predictive.size, p=asked.predictive[0]))
            parts.append(asked.update(np.array([outcome])))
        info = type(info).concatenate(parts)


def optimum_from(info):
    """Optimal cost of going on from each row, by all that may follow: an independent recursion."""

    def value(one):
        best = float(one.stopping_cost[0])
        for question in np.flatnonzero(one.open[0]).tolist():
            asked = one.asking(question)
            cost = float(asked.price[0])
            for outcome in np.flatnonzero(asked.predictive[0] > 0).tolist():
                cost += float(asked.predictive[0, outcome]) * value(asked.update(np.array([outcome])))
            best = min(best, cost)
        return best

    rows = np.column_stack([info.belief, info.open, np.broadcast_to(info.prices, info.open.shape)])
    _, different, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.array([value(info[np.array([row])]) for row in different])[place.ravel()]


@given(seed=st.integers(0, 10_000), most_once=st.integers(0, 4), n_classes=st.sampled_from([2, 2, 3]))
def test_values_of_repeats_are_below_the_optimum_everywhere(seed, most_once, n_classes):
    problem = naive_problem(seed, n_questions=1 + seed // 6 % 3, n_classes=n_classes)
    values, weak = RepeatValues(problem, most_once), OnePriceBounds(problem)
    for info in everywhere(problem, np.random.default_rng(seed)):
        truth = optimum_from(info)
        for bounds in (values, weak):
            assert (bounds.lower(info) <= truth + 1e-9).all()
            costs = bounds.asking(info)
            assert np.isinf(costs[~info.open]).all()
            assert (np.minimum(costs.min(axis=1, initial=np.inf), info.stopping_cost) <= truth + 1e-9).all()


def test_asked_once_each_the_values_are_the_optimum():
    for seed in range(12):
        problem = naive_problem(seed)
        values, truth = RepeatValues(problem, problem.n_questions), optimal_cost(problem)
        assert len(values.once) == problem.n_questions
        assert truth * (1 - 2e-3) - 1e-9 <= values.value <= truth + 1e-9


def test_more_questions_asked_once_never_loosen_the_bound():
    for seed in range(20, 23):
        problem = naive_problem(seed, n_questions=6)
        bounds = [RepeatValues(problem, most).value for most in range(5)]
        assert (np.diff(bounds) >= -1e-9).all()
        assert bounds[-1] <= optimal_cost(problem) + 1e-9


def test_a_discount_that_the_sets_do_not_tell_is_taken_as_given():
    """Of a group some of which may be asked again it is not known whether anything was paid for."""
    for seed in range(2):
        full = np.array([0.05, 0.06, 0.05, 0.07])
        problem = naive_problem(seed, n_questions=4).replace(
            groups=np.zeros(4, dtype=int), full_prices=full, prices=0.1 * full
        )
        truth, rng = optimal_cost(problem), np.random.default_rng(seed)
        _, *later = (info[np.arange(2)] for info in everywhere(problem, rng))
        truths = [optimum_from(info) for info in later]
        for most_once in range(1, 5):
            values = RepeatValues(problem, most_once)
            assert values.value <= truth + 1e-9
            for info, best in zip(later, truths):
                assert (values.lower(info) <= best + 1e-9).all()


def test_interpolation_is_in_the_probability():
    """In the log-odds, where the points are even, the costs are not concave."""
    values = RepeatValues(naive_problem(1), 0)
    share = values.grid.points[:, 1]
    middle = (share[1:] + share[:-1]) / 2
    read = values.grid.read(values.values[0], np.column_stack([1 - middle, middle]), "freudenthal")
    np.testing.assert_allclose(read, (values.values[0, 1:] + values.values[0, :-1]) / 2, atol=1e-12)
    slope = np.diff(values.values[0]) / np.diff(share)
    assert (np.diff(slope) <= 1e-6).all()


def test_what_a_policy_costs_above_the_values():
    for seed in range(30, 36):
        problem = naive_problem(seed)
        values = RepeatValues(problem, 0)
        for policy in (OrderBoundPolicy(values), Lookahead(1, certificate_paths=0).solve(problem)):
            exact = evaluate(problem, policy, method="exact").cost
            mean, most = cost_above(policy, values, 10**6, np.random.default_rng(seed))
            assert values.value + mean == pytest.approx(exact, abs=1e-9)  # all histories weigh enough
            assert mean <= most + 1e-12


def test_what_is_sampled_of_a_policy_s_cost_is_right_on_average_and_too_low_seldom():
    """A dear branch of little weight: the mean of few paths misses it, its upper end must not."""
    problem = naive_problem(40, n_questions=5)
    values = RepeatValues(problem, 0)
    policy = AcquireAll(certificate_paths=0).solve(problem)
    exact = evaluate(problem, policy, method="exact").cost - values.value
    found = np.array([cost_above(policy, values, 3, np.random.default_rng(seed)) for seed in range(144)])
    assert found[:, 0].mean() == pytest.approx(exact, abs=5 * found[:, 0].std() / 12)
    assert found[:, 0].std() > 1e-5
    assert (found[:, 1] < exact).mean() <= 0.02


def test_certificates_of_all_orders_bracket_the_optimum():
    for seed in range(1100, 1106):
        case = free_case(seed, tree=bool(seed % 2), most=4)
        truth = case.optimum()
        for solver in (DecideNow(certificate_paths=0), Lookahead(2, certificate_paths=0)):
            policy = solver.solve(case.problem)
            cost = case.run(policy)[0]
            assert cost >= truth - 1e-9
            for options in ({}, {"max_histories": 2}, {"method": "deterministic"}, {"method": "simulation"}):
                found = certify(case.problem, policy, n_paths=1000, **options)
                assert found.scope == "all orders"
                assert found.lower <= truth + 1e-9
                assert found.upper >= cost - (0.02 if found.n_paths else 1e-9)
        assert lowest(case.problem) <= truth + 1e-9


def test_a_fixed_order_may_be_compared_with_all_orders():
    for seed in (1, 2, 4, 5):  # no groups
        free = naive_problem(seed)
        fixed = free.replace(free=False)
        policy = GridValueIteration().solve(fixed)
        order, every = certify(fixed, policy), certify(fixed, policy, scope="all orders")
        assert (order.scope, every.scope) == ("order", "all orders")
        assert every.lower == pytest.approx(optimal_cost(free), abs=1e-9)
        assert every.lower <= order.lower + 1e-9
        assert every.upper == order.upper
        assert "over all orders" in str(every)
        assert "in this order" in str(order)
        relaxed = certify(fixed, policy, scope="all orders", max_histories=1, n_paths=500)
        assert relaxed.lower <= every.lower + 1e-9


def test_discounts_count_in_all_orders() -> None:
    """What the first of a group costs after another one is known in a fixed order too."""
    free = naive_problem(3, n_questions=4)
    free = free.replace(groups=np.array([0, 0, -1, -1]), full_prices=free.prices + np.array([0.05, 0.02, 0, 0]))
    fixed = free.replace(free=False)
    every = certify(fixed, DecideNow(certificate_paths=0).solve(fixed), scope="all orders")
    assert every.lower == pytest.approx(optimal_cost(free), abs=1e-9)
    assert fixed.planned_prices.tolist() == [free.full_prices[0], *free.prices[1:]]


def test_scopes_that_are_not_to_be_had():
    free = naive_problem(3, n_questions=4)
    with pytest.raises(ValueError, match=r'scope="order".*needs a fixed order'):
        certify(free, DecideNow(certificate_paths=0).solve(free), scope="order")
    contexts = TableProblem(
        [0.5, 0.5],
        [np.full((1, 2, 2), 0.5), np.full((2, 2, 2), 0.5)],
        0.1,
        transitions=[[[0, 1, 0]], [[0, 0, 0], [0, 0, 0]]],
    )
    with pytest.raises(ValueError, match="contexts belong to its order"):
        certify(contexts, DecideNow(certificate_paths=0).solve(contexts), scope="all orders")
    with pytest.raises(ValueError, match="two or three classes"):
        RepeatValues(naive_problem(0, n_classes=4))
