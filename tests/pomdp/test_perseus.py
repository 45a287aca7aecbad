"""Perseus against recursion over all histories."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqclass.pomdp import Perseus, TableProblem, certify, evaluate, optimal_cost
from seqclass.pomdp.alpha import BackupPoints, merge_points, sample_beliefs, sample_states
from seqclass.pomdp.one_step import context_of, stopping_is_certain
from seqclass.testing.solvers import count_ticks

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "pomdp" / "problem.json"
KINDS = ("plain", "zeros", "prior", "free", "single", "useless", "equal", "decisions", "sharp")


def at_prior(policy):
    info = policy.problem.initial_belief()
    return float(policy.values.value(0, info.probabilities, context_of(info))[0])


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contexts", [False, True])
def test_all_beliefs_give_the_optimum(kind, contexts, make_case, oracle, exact):
    for seed in range(6):
        case = make_case(seed, kind, contexts=contexts)
        truth = oracle.optimum(case)
        policy = exact(Perseus).solve(case.problem)
        assert at_prior(policy) == pytest.approx(truth, abs=1e-9), (kind, seed)
        assert evaluate(case.problem, policy, method="exact").cost == pytest.approx(truth, abs=1e-9)
        assert optimal_cost(case.problem) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("n_rounds", [1, 2, 3])
def test_rounds_and_few_beliefs_never_claim_too_little(n_rounds, make_case, oracle):
    for seed in range(8):
        case = make_case(seed, contexts=seed % 2 == 1)
        solver = Perseus(n_beliefs=3, n_rounds=n_rounds, certificate_paths=0)
        policy = solver.solve(case.problem)
        cost = oracle.run_policy(case, policy).cost
        assert at_prior(policy) >= oracle.optimum(case) - 1e-9
        assert cost >= oracle.optimum(case) - 1e-9
        # look-ahead on the cost of plans does at least as well as the plans
        assert cost <= at_prior(policy) + 1e-9


def test_tolerance_bounds_the_loss(make_case, oracle):
    for seed in range(8):
        case = make_case(seed)
        tolerance = 0.01
        solver = Perseus(n_beliefs=10**6, tolerance=tolerance, n_rounds=1, certificate_paths=0)
        policy = solver.solve(case.problem)
        truth = oracle.optimum(case)
        assert truth - 1e-9 <= at_prior(policy) <= truth + tolerance * case.problem.n_stages + 1e-9


def test_tolerance_saves_vectors():
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.ones(3), size=(9, 3)).transpose(0, 2, 1)
    problem = TableProblem(np.full(3, 1 / 3), tables, 0.005)
    sizes = [Perseus(tolerance=t, certificate_paths=0).solve(problem).info.size for t in (0.0, 1e-2, 1e-1)]
    assert sizes[0] > sizes[1] > sizes[2] > 0


def test_vectors_are_not_shared_across_contexts(case_of, oracle, exact):
    """The first feature says nothing of the class; the second is perfect after 0 and useless after 1."""
    first = [[[0.5, 0.5], [0.5, 0.5]]]
    perfect, useless = [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]
    case = case_of(
        [0.5, 0.5],
        [first, [perfect, useless]],
        [0.0, 0.2],
        [[0.0, 1.0], [1.0, 0.0]],
        [[[0, 1, 1]], [[0, 0, 0], [0, 0, 0]]],
    )
    policy = exact(Perseus).solve(case.problem)
    assert oracle.optimum(case) == pytest.approx(0.35)
    assert at_prior(policy) == pytest.approx(0.35)
    run = oracle.run_policy(case, policy)
    assert run.cost == pytest.approx(0.35)
    assert run.stage.tolist() == pytest.approx([0, 0.5, 0.5])


def test_values_of_different_stages_are_not_compared(case_of, oracle, exact):
    """The next feature is useless and the last one perfect: two prices for what one would be worth."""
    useless, perfect = [[[0.5, 0.5], [0.5, 0.5]]], [[[1.0, 0.0], [0.0, 1.0]]]
    case = case_of([0.5, 0.5], [useless, perfect], [0.3, 0.3], [[0.0, 1.0], [1.0, 0.0]])
    policy = exact(Perseus).solve(case.problem)
    assert oracle.optimum(case) == pytest.approx(0.5)
    assert at_prior(policy) == pytest.approx(0.5)
    assert policy.action(case.problem.initial_belief()).tolist() == [-1]
    assert oracle.run_policy(case, policy).cost == pytest.approx(0.5)


def test_golden_optimum():
    if not GOLDEN.exists():
        pytest.skip(f"no golden data at {GOLDEN}")
    golden = json.loads(GOLDEN.read_text())
    problem = TableProblem(golden["prior"], golden["likelihood"], golden["costs"], np.array(golden["decision_costs"]))
    policy = Perseus(n_beliefs=1000, tolerance=0).solve(problem)
    assert at_prior(policy) == pytest.approx(golden["optimum"], abs=1e-9)
    assert policy.info.upper == pytest.approx(golden["optimum"], abs=1e-9)
    assert policy.info.lower == pytest.approx(golden["optimum"], abs=1e-9)


@given(
    seed=st.integers(0, 3),
    stage=st.integers(0, 3),
    draw=st.integers(0, 2**32 - 1),
    scale=st.floats(1e-6, 1e6),
)
def test_values_are_concave_and_homogeneous(seed, stage, draw, scale):
    problem, values = _solved(seed)
    belief = np.random.default_rng(draw).dirichlet(np.full(problem.n_classes, 0.5), size=2)
    ends = values.value(stage, belief)
    middle = values.value(stage, belief.mean(axis=0, keepdims=True))
    assert middle[0] >= ends.mean() - 1e-12
    np.testing.assert_allclose(values.value(stage, belief * scale), ends * scale, rtol=1e-9)
    assert (ends <= problem.stopping_cost(belief) + 1e-15).all()


def _solved(seed, cache={}):  # noqa: B006
    if seed not in cache:
        rng = np.random.default_rng(seed)
        n_classes = 2 + seed
        tables = rng.dirichlet(np.ones(3), size=(4, n_classes)).transpose(0, 2, 1)
        problem = TableProblem(np.full(n_classes, 1 / n_classes), tables, 0.02)
        cache[seed] = problem, Perseus(n_beliefs=50, certificate_paths=0).solve(problem).values
    return cache[seed]


def test_beliefs_are_reachable_and_open():
    rng = np.random.default_rng(3)
    tables = rng.dirichlet(np.ones(3), size=(5, 3)).transpose(0, 2, 1)
    problem = TableProblem([0.2, 0.3, 0.5], tables, 0.02)
    points = sample_beliefs(problem, 5, 20, np.random.default_rng(0))
    assert [len(p.belief) for p in points[:3]] == [1, 3, 9]
    assert all(len(p.belief) <= 20 for p in points)
    reachable = np.array([[0.2, 0.3, 0.5]])
    for stage, point in enumerate(points):
        distance = np.abs(point.belief[:, None] - reachable[None]).max(axis=2).min(axis=1)
        assert (distance < 1e-12).all()
        assert (problem.stopping_cost(point.belief) > problem.prices[stage]).all()
        joint = (reachable[:, None, :] * tables[stage][None]).reshape(-1, 3)
        reachable = joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.slow
def test_histories_that_lead_to_the_same_belief_count_once(repeated):
    """The k-th of n equal features has k + 1 beliefs, however many histories."""
    n_stages = 100
    problem = repeated(n_stages, 0.0005, 0.6)
    points = sample_beliefs(problem, n_stages, 10**6, np.random.default_rng(0))
    assert [len(p.belief) for p in points[:6]] == [1, 2, 3, 4, 5, 6]
    assert max(len(p.belief) for p in points) <= n_stages
    policy = Perseus(certificate_paths=2000).solve(problem)
    assert policy.info.gap < 1e-3


def test_equal_beliefs_of_different_contexts_are_kept_apart():
    coin, table = np.full((1, 2, 2), 0.5), np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.4], [0.4, 0.6]]])
    moves = [[[0, 1, 0]], [[0, 0, 0]] * 2]
    problem = TableProblem([0.5, 0.5], [coin, table], [0.0, 0.01], transitions=moves)
    points = sample_beliefs(problem, 2, 10, np.random.default_rng(0))
    np.testing.assert_array_equal(points[1].belief, np.full((2, 2), 0.5))
    assert sorted(points[1].context) == [0, 1]


@pytest.mark.slow
def test_few_beliefs_stand_for_the_others():
    """Selection keeps the distribution: the mean belief stays the prior, however few are kept."""
    rng = np.random.default_rng(0)
    likelihood = rng.uniform(0.3, 0.7, size=(30, 3))
    problem = TableProblem(np.full(3, 1 / 3), np.stack([likelihood, 1 - likelihood], axis=1), 1e-4)
    last = [sample_beliefs(problem, 30, 50, np.random.default_rng(s))[-1].belief for s in range(20)]
    # beliefs of kept histories have similar weights late on, so plain averages come close
    middle = np.mean([b.max(axis=1).mean() for b in last])
    path = problem.initial_belief(2000)
    for stage in range(29):
        draw = rng.random(2000)
        path = path.update((draw > path.outcome_probabilities[:, 0]).astype(int))
        assert path.stage == stage + 1
    open_ = ~stopping_is_certain(path)
    assert middle == pytest.approx(path.probabilities[open_].max(axis=1).mean(), abs=0.05)


def test_same_seed_same_policy_and_ends_on_many_outcomes():
    rng = np.random.default_rng(5)
    tables = rng.dirichlet(np.ones(30), size=(5, 4)).transpose(0, 2, 1)
    problem = TableProblem(np.full(4, 0.25), tables, 0.01)
    first, second = (Perseus(n_beliefs=100, certificate_paths=500, random_state=7).solve(problem) for _ in range(2))
    assert first.info.upper == second.info.upper
    assert first.info.lower == second.info.lower
    for a, b in zip(first.values.sets, second.values.sets):
        np.testing.assert_array_equal(a.vectors, b.vectors)


@pytest.mark.slow
def test_more_beliefs_and_the_second_round_help():
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.ones(4), size=(12, 6)).transpose(0, 2, 1)
    problem = TableProblem(np.full(6, 1 / 6), tables, 0.01)
    costs = {}
    for n_beliefs, n_rounds in ((10, 1), (10, 2), (500, 2)):
        policy = Perseus(n_beliefs=n_beliefs, n_rounds=n_rounds, certificate_paths=0).solve(problem)
        costs[n_beliefs, n_rounds] = certify(problem, policy, n_paths=2000).upper_mean
    assert costs[500, 2] < costs[10, 1]
    assert costs[500, 2] < costs[10, 2]


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"n_beliefs": 0}, ValueError),
        ({"n_beliefs": 2.5}, TypeError),
        ({"n_rounds": 0}, ValueError),
        ({"tolerance": -1.0}, ValueError),
        ({"tolerance": "small"}, TypeError),
        ({"certificate_paths": -1}, ValueError),
        ({"horizon_tolerance": -0.1}, ValueError),
        ({"max_stages": 0}, ValueError),
        ({"max_stages": 2.5}, TypeError),
        ({"random_state": "seed"}, ValueError),
    ],
)
def test_bad_settings_name_the_parameter(settings, error, repeated):
    with pytest.raises(error, match=next(iter(settings))):
        Perseus(**settings).solve(repeated(3))


def digits_like(seed=1, n_classes=10, n_stages=16):
    tables = np.random.default_rng(seed).dirichlet(np.full(4, 3.0), size=(n_stages, n_classes)).transpose(0, 2, 1)
    return TableProblem(np.full(n_classes, 1 / n_classes), tables, 0.005)


@pytest.mark.slow
def test_rounds_go_on_until_the_target_gap():
    problem = digits_like()
    settings = {"n_beliefs": 100, "certificate_paths": 2000}
    before = Perseus(**settings).solve(problem).info
    assert before.gap > 0.05
    assert before.trace == ()
    policy = Perseus(**settings, target_gap=0.03).solve(problem)
    info = policy.info
    assert info.status == "converged"
    assert info.gap <= 0.03
    assert (info.confidence, info.n_stages, info.size) == (0.99, 16, policy.values.size)
    assert info.gap == pytest.approx((info.upper - info.lower) / info.upper)
    last = info.trace[-1]
    assert (last.upper, last.lower, last.gap) == (info.upper, info.lower, info.gap)
    seconds = [step.seconds for step in info.trace]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    assert info.seconds <= seconds[-1]
    beliefs = [step.n_beliefs for step in info.trace]
    assert beliefs == sorted(beliefs)
    assert beliefs[-1] > beliefs[0] == 100
    assert info.trace[0].gap > 0.03
    fresh = certify(problem, policy, n_paths=4000, random_state=99)
    assert fresh.gap < 0.035


def test_target_gap_is_deterministic_by_seed():
    problem = digits_like(n_classes=4, n_stages=6)

    def trace(seed):
        solver = Perseus(25, certificate_paths=200, target_gap=0.02, max_beliefs=100, random_state=seed)
        info = solver.solve(problem).info
        return info.status, info.upper, [(s.n_beliefs, s.upper, s.lower, s.gap) for s in info.trace]

    first = trace(0)
    assert first == trace(0)
    assert first != trace(1)
    assert trace(np.random.default_rng(3)) == trace(np.random.default_rng(3))


@pytest.mark.slow
def test_a_limit_on_beliefs_ends_the_rounds():
    problem = digits_like(n_stages=10)
    info = Perseus(20, certificate_paths=100, target_gap=1e-4, max_beliefs=60).solve(problem).info
    assert info.status == "limit"
    assert info.gap > 1e-4
    assert max(step.n_beliefs for step in info.trace) == 60
    assert info.gap < info.trace[0].gap


def test_seconds_of_all_certificates_are_told(monkeypatch):
    seconds = []

    def timed(*args, **settings):
        certificate = certify(*args, **settings)
        seconds.append(certificate.seconds)
        return certificate

    monkeypatch.setattr("seqclass.pomdp.solvers.perseus.certify", timed)
    solver = Perseus(n_beliefs=10, target_gap=0.0, max_beliefs=40, certificate_paths=100)
    info = solver.solve(digits_like(n_classes=4, n_stages=6)).info
    assert len(seconds) > 2
    assert info.certify_seconds == pytest.approx(sum(seconds))


@pytest.mark.slow
def test_a_limit_on_time_ends_the_rounds():
    problem = digits_like()
    with count_ticks():
        short, longer = (Perseus(50, certificate_paths=500, max_seconds=s).solve(problem).info for s in (0.0, 60.0))
    assert short.status == longer.status == "limit"
    # measured once, and once more on paths of its own
    assert len(short.trace) == 2
    assert short.trace[0].upper != short.trace[1].upper
    assert len(longer.trace) > 3
    assert longer.gap < short.gap


@pytest.mark.parametrize("contexts", [False, True])
def test_target_zero_on_small_problems_is_the_optimum(contexts, make_case, oracle):
    for seed in range(8):
        case = make_case(seed, KINDS[seed], contexts=contexts)
        info = Perseus(2, tolerance=0, target_gap=0.0, max_beliefs=5000).solve(case.problem).info
        assert info.upper == pytest.approx(oracle.optimum(case), abs=1e-9)
        assert (info.status, info.confidence, info.gap) == ("converged", 1.0, 0.0)


def test_published_settings():
    solver = Perseus.from_paper(random_state=3)
    assert (solver.n_beliefs, solver.n_rounds, solver.random_state, solver.target_gap) == (100, 1, 3, None)


def test_merged_points_are_distinct():
    first = BackupPoints(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([0, 1]))
    second = BackupPoints(np.array([[0.5, 0.5], [0.5, 0.5 + 1e-16]]), np.array([1, 0]))
    result = merge_points([first], [second])[0]
    np.testing.assert_array_equal(result.belief, [[0.5, 0.5], [0.2, 0.8], [0.5, 0.5]])
    assert result.context.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"target_gap": -0.1}, ValueError),
        ({"target_gap": "small"}, TypeError),
        ({"max_seconds": -1}, ValueError),
        ({"max_beliefs": 0}, ValueError),
        ({"target_gap": 0.1, "certificate_paths": 0}, ValueError),
        ({"max_seconds": 1.0, "certificate_paths": 0}, ValueError),
    ],
)
def test_bad_settings_of_the_rounds_name_the_parameter(settings, error, repeated):
    with pytest.raises(error, match=next(iter(settings))):
        Perseus(**settings).solve(repeated(3))


@pytest.mark.parametrize("n_stages", [1, 2, 3, 4])
def test_states_are_sampled_of_the_stages_asked_for_and_no_more(n_stages, repeated):
    problem = repeated(5, 0.001, 0.6)
    assert [belief.stage for belief in sample_states(problem, n_stages, 10, np.random.default_rng(0))] == [
        *range(n_stages)
    ]
