"""Fitted value iteration: regression on functions of the belief against recursion over all histories."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass import load
from seqclass.agent.problem import ModelProblem
from seqclass.persistence import ModelFileError, save
from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    FittedValueIteration,
    GridValueIteration,
    MixtureProblem,
    Perseus,
    ProjectedValueIteration,
    TableProblem,
    certify,
    cost_sweep,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.alpha import BackupPoints
from seqclass.pomdp.one_step import latent_posterior, perfect_information_bound
from seqclass.pomdp.policy import scale_prices
from seqclass.pomdp.problem import Visits, deciding_cost
from seqclass.pomdp.solvers.fitted import BeliefFunctions, FittedValues, StageSaving, fit_values, stage_saving
from seqclass.pomdp.sweeps.solving import InterpolatedSweep, solve_sweep
from seqclass.pomdp.visits import with_visits


def weak_problem(n_classes, n_stages, price=0.01, seed=0, concentration=3.0):
    """Features so weak that all stages matter."""
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(4, concentration), (n_stages, n_classes)).transpose(0, 2, 1)
    return TableProblem(rng.dirichlet(np.full(n_classes, 8.0)), np.ascontiguousarray(tables), price)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 9])
def test_sums_are_those_of_the_design(n_classes):
    problem = weak_problem(n_classes, 4)
    functions, rng = BeliefFunctions(problem), np.random.default_rng(1)
    belief = rng.dirichlet(np.full(n_classes, 0.5), 50)
    belief[:n_classes] = np.eye(n_classes)  # where a logarithm has none
    design, weights = functions.design(belief), rng.normal(size=functions.count)
    assert design.shape == (50, functions.count)
    assert np.isfinite(design).all()
    np.testing.assert_allclose(functions.sums(belief, weights), design @ weights, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_design_holds_the_functions_it_names(n_classes):
    problem = weak_problem(n_classes, 3)
    functions = BeliefFunctions(problem)
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes))
    s = 1 - p.max()
    pairs = [np.sqrt(p[i] * p[j]) for i, j in zip(functions.first, functions.second)]
    wanted = [*p, *(p * np.sqrt(s)), *(p * np.log(s)), *(p * np.log(p)), s, np.sqrt(s), s**1.5, s * s]
    wanted += [*pairs, *(np.log(s) * np.array(pairs))]
    np.testing.assert_allclose(functions.design(p[None])[0], wanted)


def test_pairs_are_those_that_are_told_apart_least():
    n_classes, n_stages = 6, 8
    rng = np.random.default_rng(3)
    tables = rng.dirichlet(np.full(5, 0.4), (n_stages, n_classes)).transpose(0, 2, 1).copy()
    tables[:, :, 4] = 0.9 * tables[:, :, 1] + 0.1 * tables[:, :, 4]  # 1 and 4 answer nearly alike
    functions = BeliefFunctions(TableProblem(np.full(n_classes, 1 / n_classes), tables, 0.01))
    pairs = list(zip(functions.first.tolist(), functions.second.tolist()))
    assert len(pairs) == 2 * n_classes
    assert (1, 4) in pairs
    overlap = {}
    for i in range(n_classes):
        for j in range(i):
            overlap[j, i] = np.prod([np.sqrt(t[:, i] * t[:, j]).sum() for t in tables])
    assert set(pairs) == set(sorted(overlap, key=overlap.get)[-2 * n_classes :])


@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("kind", ["plain", "decisions"])
def test_policies_cost_little_more_than_the_optimum(kind, contexts, make_case, oracle):
    losses = []
    for seed in range(6):
        case = make_case(seed, kind, contexts=contexts, n_classes=4, n_stages=5)
        policy = FittedValueIteration(certificate_paths=200).solve(case.problem)
        truth, cost = oracle.optimum(case), oracle.run_policy(case, policy).cost
        assert policy.info.lower <= truth + 1e-9
        assert policy.info.upper >= cost - 1e-9
        losses.append(cost / truth - 1)
    assert min(losses) >= -1e-9
    assert np.mean(losses) < 0.01


def test_sampled_bounds_hold_the_optimum():
    for seed in range(3):
        problem = weak_problem(4, 6, 0.02, seed, 1.0)
        policy = FittedValueIteration(500, certificate_paths=0).solve(problem)
        found = certify(problem, policy, method="simulation", n_paths=3000, paired=True, random_state=seed)
        truth, cost = optimal_cost(problem), evaluate(problem, policy, method="exact").cost
        assert found.lower <= truth <= cost <= found.upper
        assert (cost - truth) / cost <= found.gap < 0.05


@pytest.mark.slow
def test_with_many_classes_few_weights_do_what_many_vectors_do():
    problem = weak_problem(10, 15, 0.002, concentration=2.0)
    fitted = FittedValueIteration(certificate_paths=4000).solve(problem)
    perseus = Perseus(2000, certificate_paths=0).solve(problem)
    here, there = (
        certify(problem, policy, method="simulation", n_paths=1000, paired=True, random_state=3)
        for policy in (fitted, perseus)
    )
    assert here.gap < 0.03
    assert abs(here.upper_mean - there.upper_mean) < 0.03 * there.upper_mean
    assert fitted.info.gap < 0.02
    assert 10 * fitted.info.size < perseus.info.size


def test_values_scale_with_the_belief_and_know_their_floor():
    problem = weak_problem(4, 12)
    values = FittedValueIteration(300, certificate_paths=0).solve(problem).values
    assert isinstance(values, FittedValues)
    belief = np.random.default_rng(0).dirichlet(np.full(4, 0.3), 40)
    for stage in (0, 5, 11):
        value = values.value(stage, belief)
        np.testing.assert_allclose(values.value(stage, 3 * belief), 3 * value)
        assert (value <= problem.stopping_cost(belief) + 1e-12).all()
        assert (
            values._continuation(stage, belief, np.zeros(40, int))
            >= belief @ perfect_information_bound(problem, stage) - 1e-12
        ).all()
    assert values.value(3, np.zeros((1, 4))) == 0
    assert values.size == sum(len(w) for w in values.weights)


def test_a_stage_without_beliefs_is_a_stop():
    problem = weak_problem(3, 3)
    points = [BackupPoints(problem.prior[None], np.array([0])), *[BackupPoints(np.empty((0, 3)), np.empty(0, int))] * 2]
    values = fit_values(problem, points, problem.decision_costs.T)
    assert values.weights[1:] == [None, None]
    belief = np.full((1, 3), 1 / 3)
    assert values.value(1, belief) == pytest.approx(problem.stopping_cost(belief))


def test_the_unit_of_costs_does_not_matter():
    problem = weak_problem(5, 10)
    dear = TableProblem(problem.prior, problem.likelihoods, 1000 * problem.prices, 1000 * problem.decision_costs)
    one, other = (FittedValueIteration(400, certificate_paths=500).solve(p) for p in (problem, dear))
    assert one.info.upper == pytest.approx(other.info.upper / 1000)
    assert one.info.lower == pytest.approx(other.info.lower / 1000)


@pytest.mark.slow
def test_same_seed_same_policy():
    problem = weak_problem(4, 8)
    first, second, third = (FittedValueIteration(200, random_state=seed).solve(problem) for seed in (1, 1, 2))
    assert first.info.upper == second.info.upper
    same = [np.array_equal(a, b) for a, b in zip(first.values.weights, second.values.weights)]
    assert all(same)
    assert not all(np.array_equal(a, b) for a, b in zip(first.values.weights, third.values.weights))


def test_with_a_margin_it_stops_a_little_earlier():
    problem = weak_problem(4, 8)
    plain, early = (FittedValueIteration(400, margin=m, certificate_paths=500).solve(problem) for m in (0.0, 0.05))
    for ours, theirs in zip(plain.values.weights, early.values.weights):
        np.testing.assert_allclose(theirs, 1.05 * ours)
    runs = [evaluate(problem, policy, method="exact") for policy in (plain, early)]
    assert runs[1].n_features < runs[0].n_features
    # certificates are about the policy that stops early
    assert early.info.lower - 1e-9 <= runs[1].cost <= early.info.upper + 1e-9
    assert runs[1].cost <= 1.02 * runs[0].cost


@pytest.mark.parametrize(
    ("name", "bad"), [("n_beliefs", 0), ("n_rounds", 0), ("margin", -0.1), ("horizon_tolerance", -1.0)]
)
def test_errors_name_the_parameter(name, bad):
    with pytest.raises(ValueError, match=name):
        FittedValueIteration(**{name: bad}).solve(weak_problem(3, 3))


def test_a_problem_without_tables_is_refused(make_tree):
    tree = make_tree(0)
    n, n_classes = len(tree.order), len(tree.prior)
    problem = ModelProblem(tree.model, tree.prior, tree.order, np.full(n, 0.1), 1 - np.eye(n_classes), max_contexts=1)
    with pytest.raises(ValueError, match=r"FittedValueIteration.*ProjectedValueIteration or Lookahead"):
        FittedValueIteration().solve(problem)


@pytest.mark.slow
def test_frontiers_blend_their_values():
    problem, multipliers = weak_problem(4, 9), np.geomspace(0.5, 2.0, 6)
    solver = FittedValueIteration(400, certificate_paths=2000)
    assert isinstance(solve_sweep(solver, problem, multipliers), InterpolatedSweep)
    frontier = cost_sweep(problem, multipliers, solver, n_paths=1000, max_histories=1000)
    assert frontier.gap.max() < 0.03
    alone = FittedValueIteration(400, certificate_paths=2000).solve(scale_prices(problem, multipliers[2])).info
    assert frontier.lower[2] <= alone.upper
    assert alone.lower <= frontier.upper[2]


def test_fitted_values_of_a_projection_are_fitted_to_the_problem_itself(make_tree):
    tree = make_tree(2, n_features=7, n_classes=4, spread=0.7)
    prices = np.full(len(tree.order), 0.02)
    problem = ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(4), max_contexts=1)
    inner = FittedValueIteration(500, n_rounds=1, certificate_paths=0)
    bare = ProjectedValueIteration(inner, n_beliefs=0).solve(problem)
    corrected = ProjectedValueIteration(inner).solve(problem)
    truth = tree.optimum(problem.prices, problem.decision_costs)
    costs = [evaluate(problem, policy, method="exact", max_histories=10**6).cost for policy in (bare, corrected)]
    assert truth - 1e-9 <= costs[1] <= min(costs[0], 1.005 * truth)
    assert corrected.info.lower <= truth + 1e-9
    before, after = bare.values.values.weights, corrected.values.values.weights
    assert not any(np.array_equal(a, b) for a, b in zip(before[1:4], after[1:4]))


def test_the_horizon_grows_while_cases_reach_its_end(make_tree, monkeypatch):
    tree = make_tree(0, n_features=8, n_classes=2, spread=0.3)
    prices = np.full(len(tree.order), 0.001)
    problem = ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(2), max_contexts=1)
    # a projection that is sure of itself after two questions
    inner = GridValueIteration(50, first_horizon=2, horizon_tolerance=1e9, certificate_paths=0)
    assert inner.solve(problem.structure.projection(1)).n_stages == 2
    policy = ProjectedValueIteration(inner).solve(problem)
    assert policy.n_stages > 4
    cut = ProjectedValueIteration(inner.set_params(max_stages=3)).solve(problem)
    assert cut.n_stages == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.weights.append(None), "weights are of other stages"),
        (lambda v: v.weights.__setitem__(1, v.weights[1][:-1]), "weights"),
        (lambda v: v.weights.__setitem__(1, np.full_like(v.weights[1], np.nan)), "weights"),
        (lambda v: setattr(v.functions, "unit", 0.0), "functions are of other classes"),
        (lambda v: setattr(v.functions, "n_classes", 3), "functions are of other classes"),
        (lambda v: setattr(v.functions, "problem", weak_problem(4, 6, seed=1)), "functions are of another problem"),
        (lambda v: setattr(v.functions, "second", v.functions.second + 4), "functions are wrong"),
        (lambda v: setattr(v.functions, "first", v.functions.first[:-1]), "second"),
        (lambda v: setattr(v.functions, "count", v.functions.count + 1), "functions are wrong"),
    ],
)
def test_a_file_whose_parts_do_not_belong_together_is_refused(change, message, tmp_path):
    values = FittedValueIteration(100, certificate_paths=0).solve(weak_problem(4, 6)).values
    save(values, tmp_path / "values.model")
    load(tmp_path / "values.model")
    change(values)
    save(values, tmp_path / "values.model")
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "values.model")


def hidden_problem(seed, n_questions, n_states=12, n_classes=4, price=0.02, sharpness=1.0):
    """Any question may come next, of states that are told apart by several questions together."""
    rng = np.random.default_rng(seed)
    tables = [rng.dirichlet(np.full(3, sharpness), n_states).T for _ in range(n_questions)]
    prior = rng.dirichlet(np.full(n_states, 5.0))
    return MixtureProblem(prior, np.arange(n_states) % n_classes, tables, price, any_order=True)


def test_savings_are_those_of_the_best_vector_after_each_answer():
    problem = hidden_problem(0, 3)
    vectors = np.random.default_rng(1).uniform(size=(5, 4))
    rule, info = (
        StageSaving([problem.decision_costs.T, vectors]),
        problem.initial_belief().asking(1).update(np.array([2])),
    )
    scores = rule.scores(info)
    states = latent_posterior(info)[0]
    for question in (0, 2):
        joint = problem.likelihoods[question] * states
        classes = np.stack([joint[:, problem.hidden_class == c].sum(axis=1) for c in range(4)], axis=1)
        after = sum(min(vectors @ belief) for belief in classes)
        assert scores[0, question] == pytest.approx(deciding_cost(info)[0] - 0.02 - after)
    assert scores[0, 1] == -np.inf
    assert rule.value(info)[0] == pytest.approx(deciding_cost(info)[0] - max(scores[0].max(), 0.0))


def test_savings_know_of_the_questions_after_the_next():
    problem = hidden_problem(0, 4)
    start, once = problem.initial_belief(), StageSaving([problem.decision_costs.T])
    rule = stage_saving(problem, 500, 4, np.random.default_rng(0))
    assert len(rule.vectors) > 1
    assert rule.value(start)[0] < once.value(start)[0] * 0.9


@pytest.mark.parametrize("seed", range(6))
def test_in_any_order_it_is_near_the_optimum(seed):
    problem = hidden_problem(seed, 4)
    policy = FittedValueIteration(1000, random_state=seed).solve(problem)
    best, cost = optimal_cost(problem), evaluate(problem, policy, method="exact").cost
    assert best * (1 - 1e-9) <= cost < 1.03 * best
    assert policy.info.lower <= best * (1 + 1e-9)
    assert policy.info.upper == pytest.approx(cost)
    assert policy.info.scope == "all orders"


@pytest.mark.slow
def test_where_questions_are_many_it_costs_about_what_a_rule_does():
    problem = hidden_problem(3, 20, n_states=12, n_classes=5, price=0.02)
    rule = Adaptive([ClassInformation()], max_nodes=0, max_rounds=0, certificate_paths=0)
    fitted, ruled = (
        evaluate(problem, solver.solve(problem), method="simulation", n_paths=2000, random_state=1).cost
        for solver in (FittedValueIteration(certificate_paths=0), rule)
    )
    assert fitted < 1.05 * ruled < 0.6 * problem.stopping_cost(problem.prior[None])[0]


@pytest.mark.slow
def test_in_any_order_the_unit_and_the_seed_do_as_elsewhere():
    problem = hidden_problem(1, 5)
    dear = problem.replace(prices=1024 * problem.prices, decision_costs=1024 * problem.decision_costs)
    one, other = (FittedValueIteration(300, certificate_paths=0).solve(p) for p in (problem, dear))
    for some, dearer in zip(one.values.rule.vectors, other.values.rule.vectors):
        np.testing.assert_allclose(1024 * some, dearer)
    again = FittedValueIteration(300, certificate_paths=0).solve(problem)
    assert all(map(np.array_equal, one.values.rule.vectors, again.values.rule.vectors))
    assert repr(one.values.rule) == one.info.ordering.chosen == "fitted values of 5 stages"


@pytest.mark.slow
def test_in_any_order_frontiers_solve_anew_for_each_price():
    problem = hidden_problem(2, 4)
    solver, multipliers = FittedValueIteration(300, certificate_paths=0), np.array([0.5, 2.0])
    frontier = cost_sweep(problem, multipliers, solver)
    for total, multiplier in zip(frontier.upper, multipliers):
        dear = scale_prices(problem, multiplier)
        assert total == pytest.approx(evaluate(dear, solver.solve(dear), method="exact").cost)


def test_rules_of_fitted_values_are_kept_and_checked(tmp_path):
    problem = hidden_problem(1, 5)
    policy = FittedValueIteration(300, certificate_paths=0).solve(problem)
    save(policy, tmp_path / "rule.seqclass")
    info = problem.initial_belief().asking(0).update(np.array([1]))
    np.testing.assert_array_equal(
        load(tmp_path / "rule.seqclass").continuation_cost(info), policy.continuation_cost(info)
    )
    for vectors in ([], [np.ones((0, 4))], [np.ones((2, 3))], [np.full((2, 4), np.nan)]):
        policy.values.rule.vectors = vectors
        save(policy, tmp_path / "bad.seqclass")
        with pytest.raises(ModelFileError, match="vectors"):
            load(tmp_path / "bad.seqclass")


def test_visits_are_for_panels():
    problem = with_visits(hidden_problem(0, 3), Visits(0.1, np.zeros(3), 0.0))
    with pytest.raises(ValueError, match=r"FittedValueIteration.*Panels"):
        FittedValueIteration().solve(problem)


def two_classes():
    return TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.01)


def test_what_is_known_at_one_belief_alone_is_hardly_shrunk():
    problem, belief = two_classes(), np.array([[0.6, 0.4]])
    values = FittedValues(problem, [None, None])
    values.refit(0, belief, np.array([0.3]))
    # one row of as many columns of size 1 as there are functions, and a penalty of 2000 rows' share of 1e-4
    count = values.functions.count
    told = values.functions.sums(belief, values.weights[0]) * values.functions.unit
    assert told == pytest.approx(0.3 * count / (count + 0.2), rel=1e-3)


@pytest.mark.parametrize("beyond, heed", [(1.1, 0.47), (2.0, 0.004)])
def test_what_costs_more_than_stopping_counts_less_the_farther_it_is_beyond(beyond, heed):
    problem = two_classes()
    belief = np.repeat([[0.6, 0.4]], 2000, axis=0)
    stop = float(problem.stopping_cost(belief[:1])[0])
    values = FittedValues(problem, [None, None])
    values.refit(0, belief, np.tile([0.5 * stop, beyond * stop], 1000))
    told = float(values.functions.sums(belief[:1], values.weights[0])[0]) * values.functions.unit
    assert told == pytest.approx(stop * (0.5 + heed * beyond) / (1 + heed), rel=0.01)
