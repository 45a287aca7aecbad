"""Frontiers of price against decision cost, mean budgets and hard budgets."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass.costs import Visits
from seqclass.pomdp import (
    FirstK,
    GridValueIteration,
    Lookahead,
    Perseus,
    acquire,
    certify,
    cost_sweep,
    evaluate,
    optimal_cost,
    solve_for_budget,
)
from seqclass.pomdp.policy import RepricedPolicy, draw_lots, scale_prices, uniforms
from seqclass.pomdp.sweeps.budget import RandomisedPolicy, within_budget
from seqclass.pomdp.sweeps.solving import solve_sweep
from seqclass.pomdp.visits import with_visits

MULTIPLIERS = np.geomspace(0.05, 20, 9)


def lower_hull(points):
    """Corners of the lower left boundary of a set of points, cheapest first, by falling decision cost."""
    corners = []
    for x, y in sorted(points):
        if corners and y >= corners[-1][1] - 1e-14:
            continue
        while len(corners) > 1:
            (a, b), (c, d) = corners[-2:]
            if (d - b) * (x - a) < (y - b) * (c - a) - 1e-18:
                break
            corners.pop()
        corners.append((x, y))
    return corners


def frontier_of(case, stage=0, joint=None, context=0):
    """Every expected (price, decision cost) on the convex frontier, by recursion over histories."""
    joint = case.prior if joint is None else joint
    points = [(0.0, case.stop(joint))]
    if stage < len(case.prices):
        sums = [(case.prices[stage] * sum(joint), 0.0)]
        for _, following, after in case.successors(stage, joint, context):
            branch = frontier_of(case, stage + 1, following, after)
            sums = lower_hull([(x + p, y + q) for x, y in sums for p, q in branch])
        points += sums
    return lower_hull(points)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["plain", "zeros", "prior", "free", "useless", "equal", "decisions"])
@pytest.mark.parametrize("contexts", [False, True])
def test_grid_points_are_what_solving_alone_gives(kind, contexts, make_case):
    for interpolation, multipliers in (("freudenthal", MULTIPLIERS[::2]), ("nearest", MULTIPLIERS[1::4])):
        case = make_case(5, kind, contexts=contexts)
        solver = GridValueIteration(7, interpolation=interpolation, certificate_paths=0)
        team = solve_sweep(solver, case.problem, multipliers)
        frontier = cost_sweep(case.problem, multipliers, solver)
        for j, multiplier in enumerate(multipliers):
            scaled = scale_prices(case.problem, multiplier)
            alone, shared = solver.solve(scaled), team.policies[j].policy
            assert (alone.n_stages, alone.info.status) == (shared.n_stages, shared.info.status)
            for a, b in zip(alone.values.continuation, shared.values.continuation, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
            truth = evaluate(scaled, alone)
            assert frontier.cost[j] == pytest.approx(truth.cost, abs=1e-9)
            again = evaluate(case.problem, frontier.policies[j])
            got = (frontier.price[j], frontier.error[j], frontier.n_features[j], frontier.decision_cost[j])
            wanted = (again.price, again.error, again.n_features, again.cost - again.price)
            assert got == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_each_multiplier_has_its_own_horizon(repeated):
    problem = repeated(80, 0.002, 0.6)
    solver = GridValueIteration(40, certificate_paths=0)
    multipliers = np.array([0.01, 100.0, 0.1])
    frontier = cost_sweep(problem, multipliers, solver, n_paths=500)
    alone = [solver.solve(scale_prices(problem, m)) for m in multipliers]
    assert [p.n_stages for p in frontier.policies] == [p.n_stages for p in alone]
    assert len({p.n_stages for p in alone}) > 1
    cut = cost_sweep(problem, multipliers, GridValueIteration(40, max_stages=20), n_paths=500)
    assert [p.info.status for p in cut.policies] == ["truncated", "converged", "truncated"]
    assert (cut.lower <= frontier.cost + 4 * frontier.std_error).all()


@pytest.mark.parametrize(
    "solver", [GridValueIteration(12), Perseus(40, certificate_paths=200), Lookahead(2), FirstK(2)]
)
def test_bounds_contain_the_optimum(solver, make_case, oracle):
    for seed in range(2):
        case = make_case(seed, "decisions", n_classes=2 + seed % 2)
        frontier = cost_sweep(case.problem, MULTIPLIERS[::2], solver)
        assert frontier.method == "exact"
        for multiplier, lower, upper in zip(frontier.multipliers, frontier.lower, frontier.upper):
            case.prices, kept = [p * multiplier for p in case.prices], case.prices
            truth = oracle.optimum(case)
            case.prices = kept
            assert lower <= truth + 1e-12 <= upper + 2e-12
        assert (frontier.gap >= 0).all()
        np.testing.assert_allclose(frontier.cost, frontier.multipliers * frontier.price + frontier.decision_cost)


@pytest.mark.slow
@given(seed=st.integers(0, 500), kind=st.sampled_from(["plain", "zeros", "free", "useless"]))
def test_the_frontier_is_convex_and_falls(seed, kind, make_case, exact):
    case = make_case(seed, kind, n_stages=1 + seed % 4)
    frontier = cost_sweep(case.problem, MULTIPLIERS[::2], exact(Perseus))
    assert (np.diff(frontier.price) <= 1e-9).all()
    assert (np.diff(frontier.decision_cost) >= -1e-9).all()
    corners = np.array(frontier_of(case))
    for multiplier, cost in zip(frontier.multipliers, frontier.cost):
        assert cost == pytest.approx((corners @ [multiplier, 1.0]).min(), abs=1e-9)


def test_simulated_frontier_agrees_with_the_exact_one(make_case):
    problem = make_case(2, n_classes=3, n_stages=6).problem
    exact = cost_sweep(problem, MULTIPLIERS, GridValueIteration(10))
    sampled = cost_sweep(problem, MULTIPLIERS, GridValueIteration(10), method="simulation", n_paths=10_000)
    assert (sampled.method, exact.method) == ("simulation", "exact")
    assert (np.abs(sampled.cost - exact.cost) <= 4.5 * sampled.std_error + 1e-12).all()
    assert (sampled.upper >= sampled.cost).all()
    again = cost_sweep(problem, MULTIPLIERS[3:4], GridValueIteration(10), method="simulation", n_paths=10_000)
    assert again.price == pytest.approx(sampled.price[3], abs=0.01)


@pytest.mark.slow_cells("decisions", "free", "zeros")
@pytest.mark.parametrize("kind", ["plain", "zeros", "free", "decisions"])
def test_mean_budget_is_met_at_least_decision_cost(kind, make_case, exact, oracle):
    drawn, solver = 0, exact(Perseus).set_params(certificate_paths=100)
    for seed in range(2):
        case = make_case(seed, kind, n_stages=3, contexts=seed % 2 == 0)
        corners = frontier_of(case)
        prices, costs = (np.array(column) for column in zip(*corners))
        for share in (0.1, 0.45, 0.8):
            target = share * prices[-1]
            policy = solve_for_budget(case.problem, target, solver, tolerance=0.0)
            result = evaluate(case.problem, policy)
            best = np.interp(target, prices, costs)
            if prices[-1] == 0:
                continue
            slope = np.diff(costs) / np.diff(prices)
            if -slope[np.searchsorted(prices, target) - 1] < 0.01:  # next to nothing is left to save
                continue
            assert result.price == pytest.approx(target, abs=1e-9)
            assert result.cost - result.price == pytest.approx(best, abs=1e-9)
            assert policy.info.upper == pytest.approx(result.cost, abs=1e-9)
            assert policy.info.gap < 1e-8
            if isinstance(policy, RandomisedPolicy):
                drawn += 1
                mixed = [oracle.run_policy(case, part) for part in policy.policies]
                assert policy.probabilities @ [run.price for run in mixed] == pytest.approx(target, abs=1e-9)
            cheap = solve_for_budget(case.problem, target, solver, tolerance=0.0, randomise=False)
            assert isinstance(cheap, RepricedPolicy)
            assert evaluate(case.problem, cheap).price <= target + 1e-12
    assert drawn


@pytest.mark.parametrize("solver", [None, Perseus(100, certificate_paths=200)])
def test_budgets_at_the_ends(solver, make_case):
    problem = make_case(1, n_classes=3, n_stages=5).problem
    nothing = solve_for_budget(problem, 0.0, solver)
    assert evaluate(problem, nothing).n_features == 0
    plenty = solve_for_budget(problem, 100.0, solver)
    result = evaluate(problem, plenty)
    free = optimal_cost(scale_prices(problem, 0.0))
    assert result.cost - result.price == pytest.approx(free, abs=1e-3)


def test_a_policy_close_to_the_target_needs_no_lots(repeated):
    problem = repeated(12, 0.01, 0.6)
    policy = solve_for_budget(problem, 0.05, tolerance=0.2)
    assert isinstance(policy, RepricedPolicy)
    assert 0.04 <= evaluate(problem, policy).price <= 0.05


def test_free_features_take_no_budget(repeated):
    policy = solve_for_budget(repeated(5, 0.0), 0.1)
    assert evaluate(policy.problem, policy).n_features > 1
    assert solve_for_budget(within_budget(repeated(5), max_features=0), 0.1).info.upper == 0.5


@pytest.mark.slow
def test_simulated_bounds_of_a_mixture_hold(repeated):
    problem = repeated(16, 0.01, 0.6)
    policy = solve_for_budget(problem, 0.05, n_paths=2000, max_histories=10)
    assert isinstance(policy, RandomisedPolicy)
    info = policy.info
    assert info.confidence == 0.99
    assert info.gap == pytest.approx((info.upper - info.lower) / info.upper)
    assert info.gap > 0
    exact = evaluate(problem, policy, max_histories=10**6)
    assert exact.price == pytest.approx(0.05, rel=0.05)
    assert exact.cost <= policy.info.upper + 0.002
    certificate = certify(problem, policy, method="simulation", n_paths=2000)
    assert abs(certificate.upper_mean - exact.cost) < 0.02
    sampled = evaluate(problem, policy, method="simulation", n_paths=5000)
    assert sampled.cost == pytest.approx(exact.cost, abs=4.5 * sampled.cost_std_error)
    assert sampled.stage.sum() == pytest.approx(1)


def test_lots_do_not_depend_on_the_batch(make_case):
    case = make_case(4, n_stages=4)
    problem, rng = case.problem, np.random.default_rng(0)
    X = np.column_stack([rng.integers(v, size=400) for v in problem.n_outcomes])
    parts = [FirstK(0).solve(problem), FirstK(None).solve(problem)]
    policy = RandomisedPolicy(parts, [0.3, 0.7])
    keys = rng.normal(size=(400, 3))
    whole = acquire(policy, X, keys=keys)
    asked = (whole.leaf_path >= 0).sum(axis=1)[whole.leaf]
    assert set(asked) == {0, 4}
    assert abs((asked == 4).mean() - 0.7) < 0.1
    order = rng.permutation(400)
    shuffled = acquire(policy, X[order], keys=keys[order])
    np.testing.assert_array_equal((shuffled.leaf_path >= 0).sum(axis=1)[shuffled.leaf], asked[order])
    for i in (0, 7, 399):
        alone = acquire(policy, X[[i]], keys=keys[[i]], record_beliefs=True)
        assert (alone.leaf_path[0] >= 0).sum() == asked[i]
        np.testing.assert_array_equal(alone.leaf_belief[0], whole.leaf_belief[whole.leaf[i]])
    other = acquire(RandomisedPolicy(parts, [0.3, 0.7], random_state=1), X, keys=keys)
    assert ((other.leaf_path >= 0).sum(axis=1)[other.leaf] != asked).any()
    with pytest.raises(ValueError, match="start from its initial_belief"):
        policy.action(problem.initial_belief())


def test_lots_are_uniform_and_the_same_for_sparse_rows():
    rng = np.random.default_rng(1)
    dense = rng.integers(0, 4, size=(20_000, 12)) * (rng.random((20_000, 12)) < 0.5)
    lots = uniforms(dense, 3)
    distinct = np.unique(lots[np.unique(dense, axis=0, return_index=True)[1]])
    assert distinct.size == len(np.unique(dense, axis=0))
    assert 0 <= distinct.min() < 0.01 < 0.99 < distinct.max() < 1
    assert np.abs(np.histogram(distinct, 10, (0, 1))[0] / distinct.size - 0.1).max() < 0.02
    np.testing.assert_array_equal(uniforms(sp.csr_array(dense), 3), lots)
    np.testing.assert_array_equal(uniforms(sp.csc_matrix(dense), 3), lots)
    assert abs(np.corrcoef(uniforms(dense, 4), lots)[0, 1]) < 0.05
    same = uniforms(np.array([[0.0, np.nan], [-0.0, -np.nan]]), 0)
    assert same[0] == same[1]


def test_hard_budgets_cut_the_order(make_case, case_of):
    case = make_case(2, n_stages=6)
    total = np.cumsum(case.prices)
    assert within_budget(case.problem) is case.problem
    for k in range(7):
        assert within_budget(case.problem, max_features=k).n_stages == k
        budget = 0.0 if k == 0 else total[k - 1]
        assert within_budget(case.problem, max_cost=float(budget)).n_stages == k
    cut = within_budget(case.problem, max_cost=float(total[3]), max_features=5)
    policy = Perseus().solve(cut)
    short = make_case(2, n_stages=6)
    short = case_of(short.prior, short.tables[:4], short.prices[:4], short.costs)
    assert (policy.info.status, policy.n_stages) == ("converged", 4)
    assert policy.info.lower == pytest.approx(optimal_cost(short.problem))
    assert cost_sweep(cut, [1e-3]).n_features[0] <= 4
    for wrong in ({"max_features": -1}, {"max_cost": -0.1}):
        with pytest.raises(ValueError, match="max_"):
            within_budget(case.problem, **wrong)


@pytest.mark.parametrize("charge_missing", [False, True])
@pytest.mark.parametrize("visits", [False, True])
def test_no_instance_exceeds_a_hard_budget(charge_missing, visits, case_of):
    rng = np.random.default_rng(0)
    for seed in range(10):
        n = 7
        groups = rng.integers(-1, 2, size=n)
        full = rng.random(n)
        discounted = np.where(groups >= 0, full * rng.random(n), full)
        first = np.unique(groups, return_index=True)[1]
        discounted[first] = full[first]
        table = [[[0.6, 0.3], [0.4, 0.7]]]
        case = case_of(
            [0.5, 0.5], [table] * n, discounted.tolist(), [[0, 1], [1, 0]], None, groups.tolist(), full.tolist()
        )
        problem = with_visits(case.problem, Visits(0.3, rng.random(n), 0.2, 1) if visits else None)
        budget = float(rng.random() * problem.full_prices.sum())
        cut = within_budget(problem, max_cost=budget)
        X = rng.integers(-1, 2, size=(2000, n))
        paid = acquire(FirstK(None, certificate_paths=0).solve(cut), X, charge_missing=charge_missing).leaf_price
        assert paid.max() <= budget + 1e-9, seed
        if cut.n_stages < n and not charge_missing:  # one feature more, and some instance would exceed it
            longer = within_budget(problem, max_features=cut.n_stages + 1)
            more = acquire(FirstK(None, certificate_paths=0).solve(longer), X).leaf_price
            assert more.max() > budget - 1e-9, seed


@pytest.mark.slow
def test_classifier_with_budgets(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, ::5]
    solver = GridValueIteration(30, certificate_paths=0)
    clf = seqclass.etana(solver=solver, target_cost=0.015, feature_costs=0.01).fit(X, y)
    expected = evaluate(clf.problem_, clf.policy_, max_histories=10**6)
    assert expected.price == pytest.approx(0.015, rel=0.02)
    assert isinstance(clf.policy_, RandomisedPolicy)
    record = clf.acquire(X)
    assert record.paid == pytest.approx(0.01 * record.n_features)
    assert 0.01 < record.paid.mean() < 0.02
    np.testing.assert_array_equal(clf.predict(X[::-1])[::-1], record.decision)
    np.testing.assert_array_equal(clf.predict(X[:50]), record.decision[:50])
    np.testing.assert_array_equal(clf.predict(sp.csr_array(X)), record.decision)
    clf.save(tmp_path / "model.seq")
    np.testing.assert_array_equal(seqclass.load(tmp_path / "model.seq").acquire(X).paid, record.paid)
    assert evaluate(*_pair(clf.with_prior([0.2, 0.8])), max_histories=10**6).price == pytest.approx(0.015, rel=0.02)

    few = seqclass.etana(solver=solver, feature_costs=0.001, max_features=2).fit(X, y)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    assert (few.acquire(holes).order >= 0).sum(axis=1).max() == 2
    assert len(few.order_) == 2
    cheap = seqclass.etana(solver=solver, feature_costs=0.001, max_cost=0.0035).fit(X, y)
    assert cheap.acquire(X).n_features.max() == 3
    nothing = seqclass.etana(feature_costs=0.001, max_cost=0.0005).fit(X, y)
    assert nothing.acquire(X).n_features.max() == 0
    assert set(nothing.predict(X)) == {1}


def _pair(clf):
    return clf.problem_, clf.policy_


def test_sessions_draw_their_lot(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, ::5]
    solver = GridValueIteration(40, certificate_paths=0)
    clf = seqclass.etana(solver=solver, target_cost=0.005, feature_costs=0.01).fit(X, y)
    probability = clf.policy_.probabilities
    cases = [clf.session(key=f"case {i}") for i in range(200)]
    asks = np.array([case.next_feature is not None for case in cases])
    wanted = probability @ [evaluate(clf.problem_, p).n_features > 0 for p in clf.policy_.policies]
    assert 0 < wanted < 1
    assert abs(asks.mean() - wanted) < 0.12
    for i in range(20):
        again = clf.session(key=f"case {i}")
        assert (again.next_feature is not None) == asks[i]
        restored = clf.session(cases[i].to_json())
        assert (restored.next_feature is not None) == asks[i]
    assert {clf.session().next_feature is None for _ in range(50)} == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("solver", [None, Perseus(60, certificate_paths=300)])
def test_sampled_bounds_of_a_budget_fail_no_more_often_than_they_say(solver, make_case):
    too_low, too_high, seeds = [], [], range(8)
    for seed in seeds:
        case = make_case(seed, n_classes=2, n_stages=4)
        policy = solve_for_budget(case.problem, 0.01, solver, max_histories=1, n_paths=300, random_state=seed)
        truth = evaluate(case.problem, policy, method="exact")
        prices, costs = np.array(frontier_of(case)).T
        # the cheapest way to pay as much as the policy does
        best = truth.price + np.interp(truth.price, prices, costs)
        too_low.append(policy.info.upper < truth.cost - 1e-9)
        too_high.append(policy.info.lower > best + 1e-9)
        assert policy.info.lower <= policy.info.upper
        assert policy.info.gap < 0.6
        assert policy.info.upper < truth.cost + 1e-4  # what chance does to prices and to costs cancels out
    # of 8 intervals at 0.99, more than one fail once in four hundred times
    assert sum(too_low) <= 1
    assert sum(too_high) <= 1


@pytest.mark.slow
def test_exact_bounds_of_a_budget_stay_exact(make_case, exact):
    for seed in range(3):
        case = make_case(seed, n_classes=2, n_stages=4)
        for solver in (None, exact(Perseus).set_params(certificate_paths=100)):
            policy = solve_for_budget(case.problem, 0.01, solver)
            assert policy.info.confidence == 1.0
            assert policy.info.upper == pytest.approx(evaluate(case.problem, policy).cost, abs=1e-14)


def test_no_certificate_asked_for_is_none_given(make_case):
    problem = make_case(0, n_classes=2, n_stages=4).problem
    policy = solve_for_budget(problem, 0.01, Perseus(60, certificate_paths=0), max_histories=1, n_paths=300)
    assert np.isnan(policy.info.lower)
    cost = evaluate(problem, policy, method="exact").cost
    assert cost - 1e-9 <= policy.info.upper <= cost + 1e-4


@pytest.mark.parametrize("max_histories", [1, 20_000])
def test_a_target_below_what_a_solver_always_pays_is_refused(max_histories, repeated):
    problem = repeated(7, 0.004)
    with pytest.raises(ValueError, match=r"target_cost=0.005 cannot be met: FirstK\(k=5\) pays 0.02 an instance"):
        solve_for_budget(problem, 0.005, FirstK(5), max_histories=max_histories)
    policy = solve_for_budget(problem, 0.02, FirstK(5))
    assert evaluate(problem, policy).price == pytest.approx(0.02)
    assert solve_for_budget(problem, 0.0).info.upper == pytest.approx(0.5)


def test_a_feature_that_is_cheap_after_a_free_one_needs_a_high_multiplier(case_of):
    table = [[[0.9, 0.2], [0.1, 0.8]]]
    case = case_of([0.5, 0.5], [table] * 3, [0.0, 0.001, 0.5], [[0, 1], [1, 0]], None, [0, 0, -1], [0.0, 0.6, 0.5])
    policy = solve_for_budget(case.problem, 0.0)
    assert evaluate(case.problem, policy).price == 0
    assert evaluate(case.problem, policy).n_features == 1


def test_the_only_lot_is_drawn(make_case):
    case = make_case(3, n_stages=4)
    problem, part = case.problem, Perseus().solve(case.problem)
    alone = RandomisedPolicy([part], [1.0])
    for method in ("exact", "simulation"):
        one, other = (evaluate(problem, policy, method=method, n_paths=300) for policy in (alone, part))
        assert one.cost == other.cost
        np.testing.assert_array_equal(one.stage, other.stage)
    assert certify(problem, alone).upper == certify(problem, part).upper
    # so few histories are all followed, and what is left is rounding
    assert certify(problem, alone, method="simulation").upper >= optimal_cost(problem) * (1 - 1e-12)


def test_lots_within_lots_are_refused(make_case):
    problem = make_case(3, n_stages=4).problem
    part = FirstK(0).solve(problem)
    mixed = RandomisedPolicy([part, part], [0.3, 0.7])
    for inner in (mixed, RepricedPolicy(RepricedPolicy(mixed, problem, 1.0), problem, 1.0)):
        with pytest.raises(ValueError, match=r"policies\[1\] draws lots itself"):
            RandomisedPolicy([part, inner], [0.5, 0.5])


def test_a_budget_serves_solvers_that_work_towards_a_gap(make_case):
    problem = make_case(1, n_classes=4, n_stages=3).problem
    policy = solve_for_budget(problem, 0.02, Perseus(50, target_gap=0.05, certificate_paths=500))
    assert np.isfinite(policy.info.lower)
    assert policy.info.lower <= evaluate(problem, policy).cost <= policy.info.upper + 1e-12


def test_repriced_policies_draw_the_lots_of_the_policy_inside(make_case):
    problem, rng = make_case(4, n_stages=4).problem, np.random.default_rng(0)
    dear = scale_prices(problem, 3.0)
    mixed = RandomisedPolicy([FirstK(0).solve(dear), FirstK(None).solve(dear)], [0.3, 0.7])
    policy = RepricedPolicy(mixed, problem, 3.0)
    result = evaluate(problem, policy)
    assert result.n_features == pytest.approx(0.7 * 4)
    assert result.price == pytest.approx(0.7 * problem.prices.sum())
    X = np.column_stack([rng.integers(v, size=400) for v in problem.n_outcomes])
    keys = rng.normal(size=(400, 3))
    np.testing.assert_array_equal(draw_lots(policy, keys), draw_lots(mixed, keys))
    record = acquire(policy, X, keys=keys)
    asked = (record.leaf_path >= 0).sum(axis=1)[record.leaf]
    np.testing.assert_array_equal(asked, 4 * draw_lots(mixed, keys))


def test_what_going_on_costs_is_told_at_the_prices_of_the_policy(make_case):
    problem = make_case(2, n_classes=2, n_stages=4).problem
    multipliers, inner = (0.5, 3.0), []
    for multiplier in multipliers:
        inner.append(GridValueIteration().solve(scale_prices(problem, multiplier)))
    parts = [RepricedPolicy(policy, problem, m) for policy, m in zip(inner, multipliers)]
    mixed = RandomisedPolicy([*parts, FirstK(2).solve(problem)], [0.2, 0.3, 0.5])
    belief = mixed.initial_belief()[0]
    cost = mixed.continuation_cost(belief)
    for j, (policy, multiplier) in enumerate(zip(inner, multipliers)):
        scaled = scale_prices(problem, multiplier)
        assert (
            cost[j]
            == policy.continuation_cost(scaled.initial_belief())[0]
            == parts[j].continuation_cost(problem.initial_belief())[0]
        )
        after = belief[np.array([j])].update(np.array([0]))
        np.testing.assert_array_equal(
            parts[j].action(after) >= 0, parts[j].continuation_cost(after) < after.stopping_cost
        )
    assert np.isnan(cost[2])
    assert np.isnan(RepricedPolicy(FirstK(1).solve(problem), problem, 1.0).continuation_cost(belief)).all()
    with pytest.raises(ValueError, match="start from its initial_belief"):
        mixed.continuation_cost(problem.initial_belief())
