"""Linear thresholds and their learning: trajectories, gradients, the published objective, and how near the optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass.pomdp import DECIDE, AcquisitionProblem, LinearThresholdSPSA, TableProblem, evaluate
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.solvers import thresholds as spsa
from seqclass.pomdp.solvers.thresholds import (
    LinearThresholdPolicy,
    SampledPaths,
    close_corners,
    initial_thresholds,
    joint_gradient,
    normalise,
)

QUICK = {"certificate_paths": 0}


def random_problem(seed, n_classes=3, n_stages=6, n_outcomes=3, price=0.02):
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(n_outcomes, 0.7), size=(n_stages, n_classes)).transpose(0, 2, 1)
    return TableProblem(rng.dirichlet(np.full(n_classes, 5.0)), tables, price)


def random_thresholds(problem, seed):
    shape = (problem.n_stages, problem.n_decisions, problem.n_classes)
    return close_corners(problem, np.random.default_rng(seed).normal(0.3, 1, size=shape))


# -- the policy


@pytest.mark.parametrize("price", [0.0, 0.05])
@pytest.mark.parametrize("n_decisions", [2, 3, 5])
def test_corners_always_stop(n_decisions, price):
    rng = np.random.default_rng(n_decisions)
    tables = rng.dirichlet(np.ones(2), size=(2, 3)).transpose(0, 2, 1)
    problem = TableProblem(np.full(3, 1 / 3), tables, price, rng.uniform(0.1, 1, size=(3, n_decisions)))
    policy = LinearThresholdPolicy(problem, np.ones((2, n_decisions, 3)))
    corners = np.eye(3)
    own = policy.thresholds[:, problem.decide(corners), np.arange(3)]
    assert (own <= 0).all()
    for stage in range(2):
        belief = BeliefState(problem, stage, corners, np.zeros(3, dtype=int), None)
        assert policy.action(belief).tolist() == [DECIDE] * 3
    assert policy.action(problem.initial_belief()).tolist() == [0]


def test_the_threshold_of_the_cheapest_decision_counts():
    problem = TableProblem([0.5, 0.5], [[[0.6, 0.4], [0.4, 0.6]]], 0.001)
    policy = LinearThresholdPolicy(problem, [[[-1.0, 3.0], [9.0, -1.0]]])
    posterior = np.array([[0.8, 0.2], [0.7, 0.3], [0.2, 0.8], [0.05, 0.95]])
    belief = BeliefState(problem, 0, posterior, np.zeros(4, dtype=int), None)
    assert policy.action(belief).tolist() == [DECIDE, 0, 0, DECIDE]


def test_scale_of_thresholds_is_irrelevant():
    problem = random_problem(0)
    thresholds = random_thresholds(problem, 1)
    costs = [evaluate(problem, LinearThresholdPolicy(problem, s * thresholds)).cost for s in (1e-9, 1, 1e9)]
    assert costs[0] == pytest.approx(costs[1], abs=1e-12) == costs[2]
    assert np.abs(normalise(thresholds)).max(axis=-1) == pytest.approx(1)


@pytest.mark.parametrize("shape", [(7, 3, 3), (2, 3, 2), (2, 2, 3), (3, 3)])
def test_a_wrong_shape_is_refused(shape):
    with pytest.raises(ValueError, match="thresholds must have shape"):
        LinearThresholdPolicy(random_problem(0), np.zeros(shape))


# -- the trajectories


@pytest.mark.parametrize("kind", ["plain", "zeros", "prior", "free", "decisions"])
@pytest.mark.parametrize("contexts", [False, True])
def test_cost_on_paths_is_the_policys_cost(kind, contexts, make_case):
    problem = make_case(1, kind, contexts=contexts).problem
    paths = SampledPaths(problem, problem.n_stages, 20_000, np.random.default_rng(0))
    for seed in range(3):
        thresholds = random_thresholds(problem, seed)
        cost = paths.costs(paths.stops(thresholds))
        mean = paths.weight @ cost
        error = np.sqrt(paths.weight @ (cost - mean) ** 2 / paths.n_paths)
        exact = evaluate(problem, LinearThresholdPolicy(problem, thresholds), method="exact").cost
        assert paths.cost(thresholds) == pytest.approx(exact, abs=4 * error + 1e-12)


def test_group_prices_are_paid(case_of, make_case):
    case = make_case(2)
    n = len(case.prices)
    grouped = case_of(case.prior, case.tables, case.prices, case.costs, None, [0] * n, [p + 0.05 for p in case.prices])
    paths = SampledPaths(grouped.problem, n, 20_000, np.random.default_rng(0))
    thresholds = random_thresholds(grouped.problem, 0)
    policy = LinearThresholdPolicy(grouped.problem, thresholds)
    assert paths.cost(thresholds) == pytest.approx(evaluate(grouped.problem, policy).cost, abs=5e-3)


def test_short_thresholds_stop_after_their_last_stage():
    problem = random_problem(3)
    paths = SampledPaths(problem, 6, 2000, np.random.default_rng(0))
    thresholds = close_corners(problem, np.ones((6, 3, 3)))
    padded = thresholds.copy()
    padded[2:] = 0
    assert paths.cost(thresholds[:2]) == paths.cost(padded) != paths.cost(thresholds)
    assert paths.stage[paths.nodes[paths.stops(thresholds[:2])]].max() == 2
    policy = LinearThresholdPolicy(problem, thresholds[:2])
    assert np.flatnonzero(evaluate(problem, policy).stage).max() == 2


def test_paths_share_their_histories():
    problem = random_problem(4)
    paths = SampledPaths(problem, 6, 5000, np.random.default_rng(0))
    assert paths.weight.sum() == pytest.approx(1)
    assert paths.share[paths.stage == 0].tolist() == [1]
    assert (np.bincount(paths.stage) <= 3 ** np.arange(paths.stage.max() + 1)).all()
    assert len(paths.weight) < 5000
    # the steps of a path are one node a stage
    first = np.diff(paths.path, prepend=-1) > 0
    assert (np.diff(paths.stage[paths.nodes])[~first[1:]] == 1).all()
    assert (paths.nodes[first] == 0).all()


# -- the gradient


@pytest.mark.slow
def test_common_paths_make_differences_precise():
    problem = random_problem(5)
    thresholds = random_thresholds(problem, 0)
    nudged = thresholds + 0.02
    same, other = [], []
    for seed in range(40):
        paths, fresh = (SampledPaths(problem, 6, 300, np.random.default_rng([seed, i])) for i in (0, 1))
        same.append(paths.cost(nudged) - paths.cost(thresholds))
        other.append(paths.cost(nudged) - fresh.cost(thresholds))
    assert np.std(same) < np.std(other) / 3


def test_credit_to_the_thresholds_met_is_unbiased_and_less_noisy():
    """Over all directions the credited gradient has the mean of plain SPSA, eq. (17), and a smaller variance."""
    rng = np.random.default_rng(0)
    problem = TableProblem([0.5, 0.5], rng.dirichlet(np.ones(3), size=(2, 2)).transpose(0, 2, 1), 0.02)
    paths = SampledPaths(problem, 2, 500, rng)
    point, size = close_corners(problem, rng.normal(size=(2, 2, 2))), 0.9
    credited, plain = [], []
    for signs in itertools.product([-1.0, 1.0], repeat=8):
        direction = np.reshape(signs, (2, 2, 2))
        credited.append(joint_gradient(paths, point, size, direction)[0])
        up, down = (paths.cost(np.sinh(close_corners(problem, point + s * size * direction))) for s in (1, -1))
        plain.append((up - down) / (2 * size) * direction)
    np.testing.assert_allclose(np.mean(credited, axis=0), np.mean(plain, axis=0), atol=1e-12)
    assert np.abs(np.mean(plain, axis=0)).max() > 1e-3
    assert np.var(credited, axis=0).sum() < 0.8 * np.var(plain, axis=0).sum()


def test_published_gains():
    solver = LinearThresholdSPSA(gain=0.3, stability=7, gain_decay=0.8, perturbation=0.2, perturbation_decay=0.6)
    for t in (0, 1, 50):
        assert solver.gains(t) == pytest.approx((0.3 * (t + 1 + 7) ** -0.8, 0.2 * (t + 1) ** -0.6))


def test_the_published_objective_is_degenerate():
    """E[M_j pi_R] = M_j pi_0 under every stopping rule, so that eq. (16) only counts prices."""
    problem = random_problem(6)
    paths = SampledPaths(problem, 6, 40_000, np.random.default_rng(0))
    nothing = np.zeros((6, 3))
    for decision in range(3):
        prior_cost = problem.prior @ problem.decision_costs[:, decision]
        assert paths.cost_one(nothing, decision) == pytest.approx(prior_cost)
        for seed in range(4):
            thresholds = np.random.default_rng(seed).normal(0.5, 1, size=(6, 3))
            nodes = paths.nodes[paths.stops_one(thresholds)]
            paid = paths.weight @ paths.paid[nodes]
            assert paid > 0.005
            decided = paths.belief[nodes] @ problem.decision_costs[:, decision]
            error = np.sqrt(paths.weight @ (decided - prior_cost) ** 2 / paths.n_paths)
            assert paths.cost_one(thresholds, decision) - paid == pytest.approx(prior_cost, abs=4 * error)


@pytest.mark.slow
def test_published_descent_buys_less_and_less():
    problem = random_problem(6, price=0.01)
    counts = []
    for n in (1, 500):
        solver = LinearThresholdSPSA(300, published=True, max_iterations=n, gain=2.0, **QUICK)
        counts.append(evaluate(problem, solver.solve(problem)).n_features)
    joint = evaluate(problem, LinearThresholdSPSA(300, **QUICK).solve(problem))
    assert joint.n_features > counts[0] > 1
    assert counts[1] == 0


# -- the solver


@pytest.mark.slow
def test_near_the_optimum_on_random_problems(make_case, oracle):
    ratios = []
    for seed in range(12):
        case = make_case(seed, contexts=seed % 3 == 2)
        truth = oracle.optimum(case)
        policy = LinearThresholdSPSA(300, max_iterations=60, batch_iterations=20, random_state=seed, **QUICK).solve(
            case.problem
        )
        cost = oracle.run_policy(case, policy).cost
        assert cost >= truth - 1e-9
        ratios.append(cost / truth)
    assert np.mean(ratios) < 1.02
    assert max(ratios) < 1.1


@pytest.mark.slow_cells("10")
@pytest.mark.parametrize("n_classes", [2, 10])
def test_certified_close_for_any_number_of_classes(n_classes):
    problem = random_problem(n_classes, n_classes, n_stages=10)
    info = LinearThresholdSPSA(500, max_iterations=150, certificate_paths=2000).solve(problem).info
    assert info.gap < 0.1
    assert info.lower <= info.upper
    assert info.size == 10 * n_classes**2


@pytest.mark.slow
def test_descent_finds_its_way_from_a_poor_start():
    problem = random_problem(8, n_classes=4, n_stages=12, price=0.01)
    paths = SampledPaths(problem, 12, 10_000, np.random.default_rng(1))
    poor = close_corners(problem, np.tile(problem.decision_costs.T - 0.3, (12, 1, 1)))  # stops at an error of 0.3
    (last, average), flat = LinearThresholdSPSA(500)._descend(problem, poor, np.random.default_rng(0))
    best = initial_thresholds(paths, 12)[0].cost
    assert not flat
    assert paths.cost(poor) > 2 * best
    for thresholds in (last, average):
        assert paths.cost(thresholds) - best < 0.2 * (paths.cost(poor) - best)


def test_first_feature_useless_second_perfect():
    """One-step look-ahead stops at once; a start that is optimistic about what follows goes on."""
    useless, perfect = [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    problem = TableProblem([0.5, 0.5], [useless, perfect], 0.1)
    policy = LinearThresholdSPSA().solve(problem)
    assert policy.info.upper == pytest.approx(0.2)
    assert policy.info.gap == 0


@pytest.mark.slow
def test_deterministic_by_seed():
    problem = random_problem(9)
    solver = LinearThresholdSPSA(300, max_iterations=50, n_restarts=2, certificate_paths=500, random_state=3)
    one, two = solver.solve(problem), clone(solver).solve(problem)
    np.testing.assert_array_equal(one.thresholds, two.thresholds)
    assert (one.info.upper, one.info.lower) == (two.info.upper, two.info.lower)
    other = clone(solver).set_params(random_state=4).solve(problem)
    assert not np.array_equal(one.thresholds, other.thresholds)


def test_status():
    problem = random_problem(10, price=0.01)
    short = {"n_paths": 200, "max_iterations": 60, "batch_iterations": 5, "certificate_paths": 0}
    assert LinearThresholdSPSA(**short).solve(problem).info.status == "limit"
    assert LinearThresholdSPSA(**short, tolerance=1e9).solve(problem).info.status == "converged"
    cut = LinearThresholdSPSA(**short, max_stages=1).solve(problem)
    assert (cut.info.status, cut.n_stages) == ("truncated", 1)


def test_long_orders_are_cut(repeated):
    """A thousand features of which a few are worth buying cost a horizon, not a thousand stages."""
    policy = LinearThresholdSPSA(500, max_iterations=50, certificate_paths=500).solve(repeated(1000, 0.02, 0.8))
    assert policy.n_stages <= 32
    assert policy.info.status != "truncated"
    assert policy.info.gap < 0.05


def test_no_tables_needed():
    class Fading(AcquisitionProblem):
        """The same coin again and again, less telling with each head."""

        def start(self, n):
            return np.zeros(n)

        def likelihood(self, stage, state):
            head = np.stack([0.5 + 0.4 / (1 + state), 0.5 - 0.4 / (1 + state)], axis=1)
            return np.stack([head, 1 - head], axis=1)

        def advance(self, stage, state, outcome):
            return state + (outcome == 0)

    problem = Fading([0.5, 0.5], np.full(5, 0.02), np.full(5, 2), 1 - np.eye(2))
    policy = LinearThresholdSPSA(500, max_iterations=100).solve(problem)
    assert policy.info.lower <= policy.info.upper <= 1.05 * policy.info.lower


@pytest.mark.parametrize(
    "settings, name",
    [
        ({"n_paths": 0}, "n_paths"),
        ({"gain": 0.0}, "gain"),
        ({"gain_decay": 0.4}, "gain_decay"),
        ({"perturbation_decay": 1.5}, "perturbation_decay"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"n_restarts": 0}, "n_restarts"),
    ],
)
def test_wrong_settings_are_named(settings, name):
    with pytest.raises(ValueError, match=name):
        LinearThresholdSPSA(**settings).solve(random_problem(0))


# -- the recipe


def test_a_saved_classifier_comes_back(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    solver = LinearThresholdSPSA(200, max_iterations=20, certificate_paths=0)
    clf = seqclass.f_etana(solver=solver).fit(X, y)
    clf.save(tmp_path / "model")
    again = seqclass.load(tmp_path / "model")
    np.testing.assert_array_equal(again.policy_.thresholds, clf.policy_.thresholds)
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    assert again.solver.get_params() == solver.get_params()


def test_recipe_settings():
    clf = seqclass.f_etana(0.02, published=True, random_state=5, n_bins=3)
    assert clf.solver.published
    assert 0.5 < clf.solver.perturbation_decay <= 1
    assert (clf.solver.random_state, clf.feature_costs, clf.order, clf.discretizer.n_bins) == (5, 0.02, "error", 3)
    assert not seqclass.f_etana().solver.published


def training_set(name, load_data):
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    data = load_data(name.split()[0])
    return (data.X[data.train_idx], data.y[data.train_idx]) if name == "mll split" else (data.X, data.y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:column.* lies so far from all other values:UserWarning")
@pytest.mark.parametrize(
    "name",
    ["breast_cancer", *(pytest.param(name, marks=pytest.mark.slow) for name in ("colon_disc", "mll", "mll split"))],
)
def test_within_five_percent_on_real_data(name, load_data):
    X, y = training_set(name, load_data)
    best, ours = (recipe(0.01).fit(X, y) for recipe in (seqclass.etana, seqclass.f_etana))
    exact, run = (evaluate(best.problem_, clf.policy_) for clf in (best, ours))
    assert run.cost <= 1.05 * best.policy_.info.upper
    assert 0.5 < run.n_features / exact.n_features < 2
    assert ours.policy_.info.gap < 0.05


@pytest.mark.slow
def test_few_features_on_madelon(load_data):
    """The authors' version buys 211."""
    data = load_data("madelon")
    best, ours = (recipe(0.01).fit(data.X[:2000], data.y[:2000]) for recipe in (seqclass.etana, seqclass.f_etana))
    exact, run = (evaluate(best.problem_, clf.policy_) for clf in (best, ours))
    assert run.cost <= 1.05 * best.policy_.info.upper
    assert run.n_features < 2 * exact.n_features
    assert ours.acquire(data.X[2000:]).n_features.mean() < 20


def test_the_published_descent_goes_down(monkeypatch):
    least = np.array([[0.1, 0.25, 0.47], [0.31, 0.03, 0.6]])

    class Bowl:
        """A cost whose least is at `least`."""

        def __init__(self, problem, n_stages, n_paths, rng):
            pass

        def cost_one(self, point, decision):
            return float(((point - least) ** 2).sum())

    monkeypatch.setattr(spsa, "SampledPaths", Bowl)
    problem = random_problem(0, n_stages=2)
    start = np.ones((2, problem.n_decisions, problem.n_classes))
    solver = LinearThresholdSPSA(max_iterations=400, tolerance=0.0, certificate_paths=0)
    found, _ = solver._descend_published(problem, start, np.random.default_rng(0))
    assert ((found - least[:, None]) ** 2).sum() < 0.2 * ((start - least[:, None]) ** 2).sum()
