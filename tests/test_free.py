"""Problems in which any question may come next: questions, states, walks and look-ahead against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from free_cases import free_case

from seqclass.agent.problem import ModelProblem
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.pomdp import (
    DECIDE,
    ExactValueIteration,
    FirstK,
    FunctionPolicy,
    GridValueIteration,
    LinearThresholdSPSA,
    Lookahead,
    Perseus,
    PosteriorThreshold,
    ProjectedValueIteration,
    TableProblem,
    acquire,
    certify,
    dual_bound,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.account import price_of_question
from seqclass.pomdp.bounds.certificate import grid_lower_bound
from seqclass.pomdp.bounds.optimum import merge_histories
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.observations import PlannedAnswers
from seqclass.pomdp.problem import outcome_likelihood
from seqclass.pomdp.solvers.simple import lookahead_costs
from seqclass.pomdp.sweeps.budget import within_budget

pytestmark = pytest.mark.usefixtures("whole_certificates")


def check_full_lookahead(seed, tree, most=6):
    case = free_case(seed, tree=tree, most=most)
    problem, truth = case.problem, case.optimum()
    policy = Lookahead(problem.n_questions, certificate_paths=0).solve(problem)
    cost, n_asked, price = case.run(policy)
    assert cost == pytest.approx(truth, abs=1e-9)
    assert optimal_cost(problem) == pytest.approx(truth, abs=1e-9)
    found = evaluate(problem, policy, method="exact")
    assert (found.cost, found.n_features, found.price) == pytest.approx((cost, n_asked, price), abs=1e-9)


@pytest.mark.slow_cells("True")
@pytest.mark.parametrize("tree", [False, True])
def test_full_lookahead_is_the_optimum_over_all_orders(tree):
    for seed in range(4):
        check_full_lookahead(seed, tree, most=5)


@pytest.mark.slow
@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("block", range(6))
def test_full_lookahead_is_the_optimum_of_many_problems(tree, block):
    for seed in range(100 + 25 * block, 125 + 25 * block):
        check_full_lookahead(seed, tree)


@pytest.mark.parametrize("tree", [False, True])
def test_lookahead_costs_what_recursion_to_its_depth_says(tree):
    for seed in range(6):
        case = free_case(seed, tree=tree, most=4)
        belief = case.problem.initial_belief()
        for depth in (1, 2, 3):
            costs = lookahead_costs(belief, depth)
            best = min(costs.min(), belief.stopping_cost[0])
            assert best == pytest.approx(case.optimum(depth), abs=1e-9)
        assert (lookahead_costs(belief, 2, 1) < np.inf).sum() <= 1


@pytest.mark.slow
def test_candidates_that_are_ruled_out_change_no_action():
    for seed in range(6):
        case = free_case(seed, most=5)
        problem = case.problem
        belief = problem.initial_belief()
        while belief.stage < problem.n_stages and len(belief):
            pruned, costs = lookahead_costs(belief, 2), lookahead_costs_of_all(belief)
            best = np.minimum(costs.min(axis=1), belief.stopping_cost)
            rows = np.flatnonzero(costs.min(axis=1) <= best)
            assert pruned[rows].argmin(axis=1).tolist() == costs[rows].argmin(axis=1).tolist()
            np.testing.assert_allclose(np.minimum(pruned.min(axis=1), belief.stopping_cost), best, atol=1e-12)
            question = int(np.flatnonzero(belief.available[0])[0])
            parent, outcome = np.nonzero(belief.asking(question).outcome_probabilities > 0)
            belief = belief.asking(question).update(outcome, rows=parent)


def lookahead_costs_of_all(info):
    """Two questions ahead, nothing left out, one by one."""
    problem = info.problem
    costs = np.full((len(info), problem.n_questions), np.inf)
    for question in range(problem.n_questions):
        for row in np.flatnonzero(info.available[:, question]):
            one = info[np.array([row])].asking(question)
            total = price_of_question(one)[0]
            for outcome in np.flatnonzero(one.outcome_probabilities[0] > 0):
                after = one.update(np.array([outcome]))
                value = after.stopping_cost[0]
                for further in np.flatnonzero(after.available[0]):
                    asked = after.asking(int(further))
                    value = min(value, price_of_question(asked)[0] + problem.stopping_cost(asked.joint).sum())
                total += one.outcome_probabilities[0, outcome] * value
            costs[row, question] = total
    return costs


@pytest.mark.slow_cells("True")
@pytest.mark.parametrize("tree", [False, True])
def test_acquire_agrees_with_following_each_row(tree):
    for seed in range(2):
        case = free_case(seed, tree=tree, most=5)
        problem, rng = case.problem, np.random.default_rng(seed)
        policy = Lookahead(2, certificate_paths=0).solve(problem)
        X = np.column_stack([rng.integers(-1, size, 10) for size in case.joint.shape[:-1]])
        for charged in (False, True):
            found = acquire(policy, X, charge_missing=charged)
            for i, row in enumerate(X):
                belief, path = problem.initial_belief(), []
                while (question := int(policy.action(belief)[0])) != DECIDE:
                    members = problem.structure.members(question)
                    bundle = problem.structure.bundle(question)
                    code = row[members] if bundle is None else bundle.encode(row[members][None])
                    path.append((question, int(code[0])))
                    belief = belief.asking(question).update(code, charge_missing=charged)
                leaf = found.leaf[i]
                asked = [
                    (int(q), int(v)) for q, v in zip(found.leaf_question[leaf], found.leaf_outcome[leaf]) if q >= 0
                ]
                assert asked == path
                np.testing.assert_allclose(found.leaf_belief[leaf], belief.probabilities[0], atol=1e-12)
                assert found.leaf_price[leaf] == pytest.approx(belief.spent[0], abs=1e-12)
                seen = tuple(None if f not in problem_members(problem, path) or v < 0 else v for f, v in enumerate(row))
                expected = case.mass(seen)
                np.testing.assert_allclose(belief.probabilities[0], expected / expected.sum(), atol=1e-9)


def problem_members(problem, path):
    return {int(feature) for question, _ in path for feature in problem.structure.members(question)}


def test_the_first_of_a_group_that_is_acquired_pays_in_full_in_any_order():
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)
    problem = TableProblem(
        [0.5, 0.5], table, [0.01, 0.02, 0.03], groups=[0, 0, -1], full_prices=[0.05, 0.06, 0.03], any_order=True
    )
    belief = problem.initial_belief()
    assert belief.prices.tolist() == [[0.05, 0.06, 0.03]]
    later = belief.asking(1).update(np.array([0]))
    assert later.prices.tolist() == [[0.01, 0.02, 0.03]]
    missed = belief.asking(1).update(np.array([-1]))
    assert (missed.prices.tolist(), missed.spent.tolist()) == ([[0.05, 0.06, 0.03]], [0.0])
    assert missed.available.tolist() == [[True, False, True]]
    assert later.asking(0).update(np.array([1])).spent == pytest.approx([0.07])


@pytest.mark.parametrize("make", [lambda: TreeNetwork("line"), NaiveBayes, lambda: TreeNetwork("clique")])
def test_an_answer_stays_whatever_is_missing_later(make):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(80, 4))
    X[:, 1] = (X[:, 0] + rng.integers(0, 2, 80)) % 3
    model = make().fit(X, (X[:, 1] > 0).astype(int))
    rows = np.arange(6)
    state = model.advance(0, model.start(6), X[rows, 0])
    again = model.advance(0, state, np.full(6, -1))
    mixed = model.advance(0, state, np.where(rows % 2, -1, X[rows, 0]))
    for feature in (1, 2, 3):
        expected = model.stage_likelihood(feature, state)
        np.testing.assert_array_equal(model.stage_likelihood(feature, again), expected)
        np.testing.assert_array_equal(model.stage_likelihood(feature, mixed), expected)


@pytest.mark.parametrize("make", [lambda: TreeNetwork("line"), lambda: TreeNetwork("tree"), NaiveBayes])
def test_states_are_joined_and_asked_together(make):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(60, 5))
    X[:, 2] = (X[:, 0] + X[:, 1]) % 3
    model = make().fit(X, (X[:, 2] > 0).astype(int))
    first = model.advance(0, model.start(3), X[:3, 0])
    second = model.advance(2, model.advance(4, model.start(4), X[3:7, 4]), np.array([-1, 0, 1, 2]))
    joined = model.join([first, second])
    assert len(joined) == 7
    for feature in (1, 3):
        parts = [model.stage_likelihood(feature, state) for state in (first, second)]
        np.testing.assert_allclose(model.stage_likelihood(feature, joined), np.concatenate(parts), atol=1e-14)
    many = model.stage_likelihoods(np.array([3, 1]), joined)
    assert many.shape == (7, 2, 3, 2)
    np.testing.assert_allclose(many[:, 0], model.stage_likelihood(3, joined), atol=1e-12)
    np.testing.assert_allclose(many[:, 1], model.stage_likelihood(1, joined), atol=1e-12)


def test_codes_of_bundles_come_back():
    rng = np.random.default_rng(0)
    for sizes in ([2], [2, 3], [4, 1, 3], [9] * 17):
        bundle = Bundle(np.arange(len(sizes)), sizes)
        values = np.column_stack([rng.integers(-1, size, 200) for size in sizes])
        codes = bundle.encode(values)
        np.testing.assert_array_equal(bundle.decode(codes), values)
        complete = (values >= 0).all(axis=1)
        assert (codes[complete] < bundle.n_complete).all()
        assert (codes[~complete & (values >= 0).any(axis=1)] >= bundle.n_complete).all()
        assert (codes[(values < 0).all(axis=1)] == -1).all()
        assert codes.max() < bundle.n_codes
    with pytest.raises(ValueError, match=r"feature 4: outcome 3 is not in 0..2"):
        Bundle([7, 4], [2, 3]).encode([[0, 3]])


def test_outcomes_too_many_to_be_numbered_go_by_fingerprints_that_are_the_same_in_every_process():
    values = np.random.default_rng(0).integers(-1, 2, (500, 100))
    values[0], values[1] = -1, 0
    one, two = (Bundle(np.arange(100), [2] * 100) for _ in range(2))
    codes = one.encode(values)
    assert not one.numbered
    assert codes[0] == -1
    assert codes[1:].min() >= 0
    assert codes.max() < one.n_codes
    assert len(np.unique(codes)) == len(np.unique(values, axis=0))
    np.testing.assert_array_equal(one.decode(codes[::-1]), values[::-1])
    with pytest.raises(ValueError, match="is one that its encode gave"):
        two.decode(codes)
    np.testing.assert_array_equal(two.encode(values), codes)


def sampled_problem(n_columns=10, *, any_order=True, seed=0):
    """A bundle of too many joint outcomes to list them, and a question of its own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 300)
    X = ((rng.random((300, n_columns + 1)) < 0.4 + 0.2 * y[:, None]).astype(int) + rng.integers(0, 2, (300, 1))) % 3
    model = TreeNetwork("line").fit(X, y, n_outcomes=3)
    bundle = Bundle(np.arange(n_columns), np.full(n_columns, 3))
    features = np.array([0, n_columns])
    prices, costs = np.array([0.05, 0.02]), 1 - np.eye(2)
    problem = ModelProblem(
        model, model.class_prior_, features, prices, costs, any_order=any_order, bundles=[bundle, None]
    )
    return model, X, y, problem


def test_more_than_256_joint_outcomes_are_sampled():
    for n_columns, sampled in ((8, False), (9, True)):
        X, y = np.arange(20 * n_columns).reshape(20, n_columns) // 3 % 2, np.arange(20) % 2
        model, bundle = NaiveBayes().fit(X, y), Bundle(np.arange(n_columns), np.full(n_columns, 2))
        problem = ModelProblem(
            model,
            model.class_prior_,
            np.zeros(1, int),
            np.full(1, 0.05),
            1 - np.eye(2),
            any_order=True,
            bundles=[bundle],
        )
        assert problem.structure.is_sampled(0) == sampled
        assert problem.n_outcomes.tolist() == [256]


def test_a_large_bundle_is_planned_for_by_a_sample_and_believed_exactly():
    model, X, _, problem = sampled_problem()
    assert problem.structure.is_sampled(0)
    assert not problem.structure.is_sampled(1)
    info = problem.initial_belief(1).asking(0)
    assert outcome_likelihood(info).shape == (1, 256, 2)
    np.testing.assert_allclose(outcome_likelihood(info).sum(axis=1), 1.0)
    # what was seen is believed as the model says, some of it missing or not
    evidence = X[:20].copy()
    evidence[:, 10] = -1
    evidence[::2, 3] = -1
    bundle = problem.structure.bundle(0)
    after = problem.initial_belief(20).asking(0).update(bundle.encode(evidence[:, :10]))
    np.testing.assert_allclose(after.probabilities, model.posterior(evidence), atol=1e-10)
    np.testing.assert_allclose(outcome_likelihood(after.asking(1)), model.likelihood(10, evidence), atol=1e-10)
    # the sample stands for the whole: the same expected cost as by simulation
    expected = problem.structure.costs_after(np.array([0]), problem.initial_belief())[0, 0]
    ask = FunctionPolicy(problem, lambda belief: np.full(len(belief), 0 if belief.stage == 0 else DECIDE))
    simulated = evaluate(problem, ask, n_paths=20_000)
    assert simulated.method == "simulation"
    assert expected + 0.05 == pytest.approx(simulated.cost, abs=0.02)
    branches = PlannedAnswers().branch(info, np.ones(1), np.arange(1))
    np.testing.assert_array_equal(np.unique(bundle.decode(branches.outcome)), [0, 1, 2])


@pytest.mark.slow_cells("True")
@pytest.mark.parametrize("any_order", [False, True])
def test_policies_run_on_problems_with_large_bundles(any_order):
    _, X, y, problem = sampled_problem(7, any_order=any_order)
    assert problem.structure.is_sampled(0)
    policy = Lookahead(2, certificate_paths=100).solve(problem)
    assert policy.info.lower <= policy.info.upper
    found = acquire(policy, X)
    assert (np.sort(found.leaf_question[found.leaf], axis=1)[:, -1] <= 1).all()
    right = found.leaf_decision[found.leaf] == y
    assert right.mean() > 0.6
    with pytest.raises(ValueError, match="too many outcomes"):
        optimal_cost(problem)


FIXED_ONLY = [
    GridValueIteration(),
    Perseus(),
    Perseus(share_contexts=True),
    ExactValueIteration(),
    LinearThresholdSPSA(),
    ProjectedValueIteration(),
]


@pytest.mark.parametrize("solver", FIXED_ONLY, ids=lambda s: type(s).__name__)
def test_solvers_of_a_fixed_order_refuse_before_work_starts(solver):
    problem = free_case(1).problem
    with pytest.raises(ValueError, match=rf"{type(solver).__name__} needs a fixed order.*Lookahead"):
        solver.solve(problem)


def test_what_else_needs_a_fixed_order_says_so():
    problem = free_case(1).problem
    values = None
    calls = [
        lambda: grid_lower_bound(problem),
        lambda: dual_bound(problem, values),
        lambda: dual_bound(problem),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="fixed order of questions"):
            call()


@pytest.mark.parametrize("rule", [FirstK(0), FirstK(None), FirstK(2), PosteriorThreshold(0.8)])
def test_simple_rules_ask_the_open_question_of_lowest_number(rule):
    case = free_case(2)
    policy = rule.solve(case.problem)
    assert policy.info.upper == pytest.approx(case.run(policy)[0], abs=1e-9)
    assert policy.info.lower <= case.optimum() + 1e-9


def test_budgets_of_a_free_problem_hold_on_every_way():
    for seed in range(3):  # with a bundle, with groups, with a further decision
        case = free_case(seed, most=5)
        assert case.problem.n_questions > 2
        for limits in ({"max_features": 2}, {"max_cost": 0.09}, {"max_features": 3, "max_cost": 0.12}):
            problem = within_budget(case.problem, **limits)
            policy = FirstK(None, certificate_paths=0).solve(problem)
            rng = np.random.default_rng(seed)
            X = np.column_stack([rng.integers(-1, size, 100) for size in case.joint.shape[:-1]])
            found = acquire(policy, X)
            asked = (found.leaf_question >= 0).sum(axis=1)
            assert asked.max() <= limits.get("max_features", 99)
            assert found.leaf_price.max() <= limits.get("max_cost", 99) + 1e-12
            best = Lookahead(problem.n_stages or 1, certificate_paths=0).solve(problem)
            assert evaluate(problem, best, method="exact").cost == pytest.approx(optimal_cost(problem), abs=1e-9)
            assert optimal_cost(problem) >= case.optimum() - 1e-12


def test_a_policy_that_asks_what_is_not_open_is_refused():
    problem = free_case(2).problem
    again = FunctionPolicy(problem, lambda belief: np.full(len(belief), 0))
    with pytest.raises(ValueError, match=r"question 0.* at stage 1, which was asked before"):
        evaluate(problem, again)
    beyond = FunctionPolicy(problem, lambda belief: np.full(len(belief), 99))
    with pytest.raises(ValueError, match="question 99 at stage 0"):
        evaluate(problem, beyond)
    with pytest.raises(ValueError, match="name the question"):
        evaluate(problem, FunctionPolicy(problem, lambda belief: belief.probabilities[:, 0] > 0.5))
    with pytest.raises(ValueError, match="say which"):
        price_of_question(problem.initial_belief())


def test_histories_that_all_differ_keep_their_order():
    belief = free_case(2).problem.initial_belief(2).asking(0).update(np.array([1, 0]))
    kept, place = merge_histories(belief, np.zeros(2, dtype=int))
    assert (kept.tolist(), place.tolist()) == ([0, 1], [0, 1])
    kept, place = merge_histories(belief[np.array([0, 1, 0])], np.zeros(3, dtype=int))
    np.testing.assert_array_equal(kept[place][[0, 2]], kept[place][0])


@pytest.mark.slow
def test_certificates_bracket_the_optimum_over_all_orders():
    for seed in range(6):
        case = free_case(seed, most=4)
        policy = Lookahead(1, certificate_paths=0).solve(case.problem)
        cost, truth = case.run(policy)[0], case.optimum()
        exact = certify(case.problem, policy)
        assert (exact.upper, exact.lower) == pytest.approx((cost, truth), abs=1e-9)
        sampled = certify(case.problem, policy, method="simulation", n_paths=500)
        assert sampled.lower <= truth + 1e-12
        assert sampled.upper >= cost - 0.02


def test_of_questions_that_differ_by_rounding_the_lowest_number_is_asked(monkeypatch):
    sensor = [[0.9, 0.2], [0.1, 0.8]]
    problem = TableProblem([0.5, 0.5], np.array([sensor, sensor, sensor]), prices=0.05, any_order=True)
    policy = Lookahead(2, certificate_paths=0).solve(problem)
    costs = np.array([[0.25, 0.2 * (1 + 1e-15), 0.2]])
    monkeypatch.setattr(policy, "question_costs", lambda info: costs[: len(info)])
    assert policy.action(problem.initial_belief()).tolist() == [1]
