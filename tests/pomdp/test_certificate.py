"""Certificates: the truth lies between the bounds, whatever policy and values they are computed with."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from seqclass.pomdp import FirstK, Perseus, StoppingValue, TableProblem, ValueFunction, certify, evaluate, optimal_cost
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.solvers import base
from seqclass.pomdp.structure import Structure

SLACK = 1e-9


class Wrong(ValueFunction):
    """Values with no relation to the problem."""

    def _continuation(self, stage, belief, context):
        return np.abs(np.sin(belief @ np.arange(1.0, belief.shape[1] + 1) * 50)) * 0.2


def candidates(case, policies, seed):
    problem = case.problem
    short = max(1, problem.n_stages // 2)
    yield "few beliefs", Perseus(n_beliefs=2, certificate_paths=0).solve(problem), {}
    yield "myopic", LookaheadPolicy(StoppingValue(problem)), {}
    yield "no values", policies.Fixed(problem), {}
    yield "wild", policies.Random(problem), {}
    yield "wrong values", LookaheadPolicy(Wrong(problem, problem.n_stages)), {}
    yield "truncated", Perseus(max_stages=short, certificate_paths=0).solve(problem), {}
    yield "truncated, no values", policies.Fixed(problem, short), {}
    yield "values of its own", policies.Random(problem), {"values": Wrong(problem, short)}


def test_exact_is_brute_force(make_case, oracle, policies):
    kinds = ("plain", "zeros", "prior", "free", "decisions")
    for seed in range(10):
        case = make_case(seed, kinds[seed % 5], contexts=seed % 2 == 1)
        truth = oracle.optimum(case)
        for name, policy, settings in candidates(case, policies, seed):
            result = certify(case.problem, policy, method="exact", **settings)
            cost = oracle.run_policy(case, policy).cost
            assert result.upper == pytest.approx(cost, abs=1e-9), (seed, name)
            assert result.lower <= truth + SLACK
            if "truncated" not in name and "values" not in settings:
                assert result.lower == pytest.approx(truth, abs=1e-9), (seed, name)
            assert (result.method, result.confidence, result.n_paths) == ("exact", 1.0, 0)
            assert 0 <= result.gap <= 1


def test_cut_horizon_is_a_lower_bound_that_closes(make_case, oracle):
    for seed in range(10):
        case = make_case(seed, n_stages=5)
        truth = oracle.optimum(case)
        lower = [optimal_cost(case.problem, n_stages=n) for n in range(6)]
        assert all(low <= truth + SLACK for low in lower)
        assert lower == sorted(lower) or np.diff(lower).min() > -SLACK
        assert lower[5] == pytest.approx(truth, abs=1e-9)
        assert optimal_cost(case.problem, n_stages=99) == lower[5]


@pytest.mark.slow
def test_simulation_brackets_the_truth_at_its_confidence(make_case, oracle, policies):
    failures, trials = {}, {}
    kinds = ("plain", "zeros", "free", "decisions", "useless")
    for seed in range(50):
        case = make_case(seed, kinds[seed % 5], contexts=seed % 2 == 1)
        truth = oracle.optimum(case)
        for name, policy, settings in candidates(case, policies, seed):
            cost = evaluate(case.problem, policy, method="exact").cost
            for path_seed in (1, 2):
                result = certify(
                    case.problem, policy, method="simulation", n_paths=300, random_state=path_seed, **settings
                )
                trials[name] = trials.get(name, 0) + 1
                fails = not (result.lower <= truth + SLACK and cost <= result.upper + SLACK)
                failures[name] = failures.get(name, 0) + fails
    # at a failure rate of 1% in 100 trials 6 or more have a chance below 0.1%; of all 800, 19 or more
    assert set(trials.values()) == {100}
    assert max(failures.values()) <= 5, failures
    assert sum(failures.values()) <= 18, failures


def test_good_values_close_the_gap(make_case):
    for seed in range(10):
        case = make_case(seed, contexts=seed % 2 == 1)
        policy = Perseus(n_beliefs=10**6, tolerance=0, n_rounds=1, certificate_paths=0).solve(case.problem)
        result = certify(case.problem, policy, method="simulation", n_paths=200)
        # with the optimal values every path costs the same, up to rounding; one that was missed is allowed for
        assert result.gap < 1e-4
        assert result.upper_mean == pytest.approx(result.lower_mean, abs=1e-9)
        worse = certify(case.problem, policy, method="simulation", n_paths=200, values=StoppingValue(case.problem))
        assert worse.gap >= result.gap - 1e-4


def test_mixed_method(repeated):
    problem = repeated(40, 0.001, 0.6)
    policy = LookaheadPolicy(StoppingValue(problem, 3))
    result = certify(problem, policy, values=StoppingValue(problem), max_histories=20, n_paths=500)
    assert result.method == "mixed"
    assert result.confidence == 0.99
    assert result.upper == evaluate(problem, policy, method="exact").cost == result.upper_mean
    assert result.lower < result.lower_mean <= result.upper


@pytest.mark.slow
def test_large_problem_turns_to_simulation(repeated):
    problem = repeated(60, 0.002, 0.6)
    policy = Perseus(certificate_paths=0).solve(problem)
    result = certify(problem, policy, max_histories=50)
    assert result.method == "simulation"
    assert result.n_paths == 4000
    assert result.lower <= result.upper
    assert result.gap < 0.02
    with pytest.raises(ValueError, match="max_histories=50"):
        certify(problem, policy, max_histories=50, method="exact")
    with pytest.raises(ValueError, match=r"max_histories=50 histories; raise it, or .*: certify\(problem, policy\)"):
        optimal_cost(problem, max_histories=50)


@pytest.mark.parametrize("method", ["auto", "simulation"])
def test_nothing_to_lose_has_no_gap(method):
    problem = TableProblem([0.5, 0.5], np.full((3, 2, 2), 0.5), 0.1, np.zeros((2, 2)))
    result = certify(problem, Perseus(certificate_paths=0).solve(problem), method=method)
    assert (result.upper, result.lower, result.gap) == (0.0, 0.0, 0.0)


def test_groups_are_paid_in_the_bounds(case_of, oracle, policies):
    table = [[[0.8, 0.3], [0.2, 0.7]]]
    case = case_of(
        [0.5, 0.5],
        [table] * 3,
        [0.05, 0.01, 0.02],
        [[0.0, 1.0], [1.0, 0.0]],
        groups=[0, 0, -1],
        full_prices=[0.08, 0.04, 0.02],
    )
    for policy in (policies.Fixed(case.problem), Perseus(certificate_paths=0).solve(case.problem)):
        exact = certify(case.problem, policy, method="exact")
        sampled = certify(case.problem, policy, method="simulation")
        assert exact.upper == pytest.approx(oracle.run_policy(case, policy).cost)
        as_paid = case_of(case.prior, case.tables, [0.08, 0.01, 0.02], case.costs)
        assert exact.lower == pytest.approx(oracle.optimum(as_paid))
        assert sampled.lower <= exact.lower + SLACK
        assert exact.upper <= sampled.upper + SLACK
        assert sampled.gap < 0.5


def test_a_policy_for_another_order_is_refused(policies, repeated):
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)
    problem = TableProblem([0.5, 0.5], table, 0.01)
    other = policies.Fixed(TableProblem([0.5, 0.5], table, 0.01, features=[1, 0]))
    for method in ("auto", "exact", "simulation"):
        with pytest.raises(ValueError, match="question 0 asks for feature 1"):
            certify(problem, other, method=method)
    longer = policies.Fixed(TableProblem([0.5, 0.5], np.repeat(table, 2, axis=0), 0.01))
    for method in ("exact", "simulation"):
        with pytest.raises(ValueError, match="after the last stage"):
            certify(problem, longer, method=method)


@pytest.mark.slow
def test_solver_and_certificate_use_different_paths(repeated):
    policy = LookaheadPolicy(StoppingValue(repeated(40, 0.001, 0.6)))
    settings = {"method": "simulation", "n_paths": 100}
    for seed in (3, np.int64(3)):
        own = certify(policy.problem, policy, random_state=3, **settings)
        info = FirstK(certificate_paths=100, random_state=seed).certify(policy).info
        assert info.confidence == 0.99
        assert info.lower != own.lower
        assert info.lower == FirstK(certificate_paths=100, random_state=3).certify(policy).info.lower
    assert FirstK(certificate_paths=0).certify(policy) is policy


def test_state_of_randomness(repeated):
    policy = LookaheadPolicy(StoppingValue(repeated(40, 0.001, 0.6)))

    def lower(state):
        return certify(policy.problem, policy, method="simulation", n_paths=100, random_state=state).lower

    assert lower(1) == lower(1) == lower(np.random.default_rng(1))
    assert lower(1) != lower(2)
    assert lower(np.random.RandomState(1)) == lower(np.random.RandomState(1))
    assert np.isfinite(lower(None))


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"method": "guess"}, ValueError),
        ({"n_paths": 1}, ValueError),
        ({"n_paths": 10.5}, TypeError),
        ({"max_histories": 0}, ValueError),
        ({"random_state": "x", "method": "simulation"}, ValueError),
    ],
)
def test_bad_settings_name_the_parameter(settings, error, repeated, policies):
    problem = repeated(2)
    with pytest.raises(error, match=next(iter(settings))):
        certify(problem, policies.Fixed(problem), **settings)


def test_a_function_gets_the_certificate_of_its_policy(make_case, policies):
    case = make_case(3)
    wild = policies.Random(case.problem)
    for method in ("exact", "simulation"):
        own = certify(case.problem, wild, method=method)
        result = certify(case.problem, lambda belief: wild.action(belief) >= 0, method=method)
        assert (result.upper, result.lower) == (own.upper, own.lower)


@pytest.mark.slow
def test_a_policy_without_values_gets_good_ones(policies):
    tables = np.random.default_rng(0).dirichlet(np.ones(4), size=(12, 5)).transpose(0, 2, 1)
    problem = TableProblem(np.full(5, 0.2), tables, 0.01)
    policy = LookaheadPolicy(StoppingValue(problem))
    foreign = certify(problem, policy.action, n_paths=1000)
    myopic = certify(problem, policy, n_paths=1000)
    best = certify(problem, Perseus(1000, certificate_paths=0).solve(problem), n_paths=1000)
    assert foreign.lower > myopic.lower
    assert foreign.lower > 0.97 * best.lower
    assert foreign.upper >= best.lower

    class Untabled(TableProblem):
        structure = property(Structure)

    blind = certify(Untabled(problem.prior, tables, 0.01), policy.action, n_paths=1000)
    assert (blind.upper, blind.lower) == (myopic.upper, myopic.lower)


@pytest.mark.slow
def test_sampling_goes_on_to_the_wanted_width(repeated):
    policy = LookaheadPolicy(StoppingValue(repeated(30, 0.001, 0.6)))
    sizes = []
    for width in (0.3, 0.1, 0.03):
        result = certify(policy.problem, policy, method="simulation", n_paths=100, width=width)
        margins = result.upper - result.upper_mean + result.lower_mean - result.lower
        assert 0 < margins <= width * result.upper
        assert np.log2(result.n_paths / 100) % 1 == 0
        sizes.append(result.n_paths)
    assert sizes == sorted(set(sizes))
    capped = certify(policy.problem, policy, method="simulation", n_paths=100, width=1e-6, max_paths=950)
    assert capped.n_paths == 950
    # looks more than once, so each has to be surer
    once = certify(policy.problem, policy, method="simulation", n_paths=950)
    assert capped.lower_mean - capped.lower > 1.05 * (once.lower_mean - once.lower)
    again = certify(policy.problem, policy, method="simulation", n_paths=100, width=0.1)
    assert again.n_paths == sizes[1]


@pytest.mark.slow
def test_looking_often_keeps_the_confidence(make_case, oracle):
    failures, looks = 0, set()
    for seed in range(150):
        case = make_case(seed % 15, n_stages=4)
        policy = LookaheadPolicy(StoppingValue(case.problem))
        result = certify(
            case.problem, policy, method="simulation", n_paths=100, width=0.05, max_paths=3200, random_state=seed
        )
        looks.add(result.n_paths)
        cost = evaluate(case.problem, policy, method="exact").cost
        failures += not (result.lower <= oracle.optimum(case) + SLACK and cost <= result.upper + SLACK)
    assert len(looks) > 2
    # of 150 at 1% seven or more have a chance below 0.1%
    assert failures <= 6


def test_confidence_widens_the_interval(repeated):
    policy = LookaheadPolicy(StoppingValue(repeated(40, 0.001, 0.6)))
    loose, tight = (
        certify(policy.problem, policy, method="simulation", n_paths=500, confidence=c) for c in (0.9, 0.999)
    )
    assert tight.lower < loose.lower <= loose.upper < tight.upper
    assert (loose.confidence, tight.confidence) == (0.9, 0.999)
    assert loose.upper_mean == tight.upper_mean


@pytest.mark.slow
def test_deterministic_lower_end(repeated, oracle, make_case):
    case = make_case(5, n_classes=3)
    policy = Perseus(certificate_paths=0).solve(case.problem)
    result = certify(case.problem, policy, method="deterministic")
    assert (result.method, result.confidence, result.n_paths) == ("deterministic", 1.0, 0)
    assert result.lower <= oracle.optimum(case) + SLACK <= result.upper + 2 * SLACK
    long = repeated(60, 0.001, 0.6)
    policy = Perseus(certificate_paths=0).solve(long)
    sampled = certify(long, policy, method="deterministic", max_histories=50)
    assert (sampled.method, sampled.confidence, sampled.n_paths) == ("deterministic", 0.99, 4000)
    assert sampled.lower == sampled.lower_mean
    assert 0 < sampled.gap < 0.01
    four = make_case(0, n_classes=4)
    with pytest.raises(ValueError, match=r'method="deterministic" serves up to 3 classes, .*; use method="auto"'):
        certify(four.problem, LookaheadPolicy(StoppingValue(four.problem)), method="deterministic")


@pytest.mark.parametrize(
    "settings", [{"width": -0.1}, {"max_paths": 1}, {"confidence": 1.0}, {"confidence": -0.1}, {"width": np.nan}]
)
def test_bad_new_settings_name_the_parameter(settings, repeated, policies):
    with pytest.raises(ValueError, match=next(iter(settings))):
        certify(repeated(2), policies.Fixed(repeated(2)), **settings)


@pytest.mark.parametrize(("n_paths", "most"), [(10, 20_000), (3000, 30_000), (10_000, 100_000), (50_000, 100_000)])
def test_a_solver_enumerates_no_longer_than_its_paths_take(monkeypatch, n_paths, most):
    given = []

    def noted(*arguments, max_histories, **settings):
        given.append(max_histories)
        return certify(*arguments, max_histories=max_histories, **settings)

    monkeypatch.setattr(base, "certify", noted)
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    policy = Perseus(certificate_paths=0).solve(problem)
    assert FirstK(certificate_paths=n_paths).certify(policy).info.gap == pytest.approx(0, abs=1e-9)
    assert given == [most]


def test_what_others_save_is_said_as_a_share_of_what_is_certified() -> None:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.1], [0.1, 0.9]]]), prices=0.01)
    found = certify(problem, lambda belief: np.zeros(len(belief), bool))
    assert (found.upper, found.lower, found.gap) == pytest.approx((0.5, 0.11, 0.39 / 0.5))
    assert str(found).endswith("less than 0.11: another one saves at most 78.0% of that (certain)")


def test_a_gap_above_two_in_a_hundred_is_wide(monkeypatch):
    problem = TableProblem([0.5, 0.5], np.repeat([[[0.9, 0.2], [0.1, 0.8]]], 3, axis=0), 0.05)
    for gap, status in ((0.019, "converged"), (0.021, "wide gap")):
        found = SimpleNamespace(scope="order", upper=1.0, lower=1 - gap, gap=gap, confidence=0.99, seconds=0.0)
        monkeypatch.setattr(base, "certify", lambda *how, found=found, **settings: found)
        assert Perseus(10, certificate_paths=10).solve(problem).info.status == status
