"""Policies along ordering rules, their improvement and the choice among them, against enumeration."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).parent))
from free_cases import free_case, mixture_case
from network_cases import random_network

from seqclass import SequentialClassifier, load
from seqclass.agent.problem import ModelProblem
from seqclass.bn import DiscreteNetwork, TreeNetwork
from seqclass.datasets.pointer import make_indicator, make_sensors
from seqclass.persistence import save
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ClassInformation,
    ExpectedSaving,
    GridValueIteration,
    HiddenInformation,
    Lookahead,
    LookaheadSaving,
    MixtureProblem,
    TableProblem,
    acquire,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.account import price_of_question
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.one_step import one_step_costs
from seqclass.pomdp.solvers.base import without_certificate
from seqclass.pomdp.solvers.ordering import adaptive, values
from seqclass.pomdp.solvers.ordering.adaptive import ImprovedRule
from seqclass.pomdp.solvers.ordering.cases import mean_and_error, model_cases
from seqclass.pomdp.solvers.ordering.given import GivenOrder, greedy_order
from seqclass.pomdp.solvers.ordering.values import NextQuestion, RulePolicy, clip_to_bounds, fit_values, ridge
from seqclass.pomdp.sweeps.budget import within_budget
from seqclass.testing.solvers import count_ticks

CASES = {
    "naive": free_case,
    "tree": lambda seed: free_case(seed, tree=True),
    "mixture": lambda seed: mixture_case(seed, most=6),
}
#: No enumeration, no certificate.
SEARCH = Adaptive(max_nodes=0, certificate_paths=0, n_paths=300, n_cases=1000)


def along(problem, rule, n_paths=1000):
    return fit_values(problem, rule, problem.n_stages, n_paths, np.random.default_rng(0))


def exact(problem, policy):
    return evaluate(problem, policy, method="exact").cost


def above_optimum(kind, seeds):
    """How far the search is above the optimum, as a share of it."""
    found = []
    for seed in seeds:
        problem = CASES[kind](seed).problem
        optimum, cost = optimal_cost(problem), exact(problem, SEARCH.solve(problem))
        assert cost >= optimum - 1e-9
        found.append(cost / optimum - 1)
    return np.array(found)


@pytest.mark.slow_cells("naive")
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if kind == "tree" else ()) for kind in CASES]
)
def test_the_search_comes_close_to_the_optimum_over_all_orders(kind):
    above = above_optimum(kind, range(2))
    assert above.mean() < 0.01
    assert above.max() < 0.04


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_the_search_comes_close_to_the_optimum_of_many_problems(kind):
    above = above_optimum(kind, range(100, 200))
    print(f"{kind}: {above.mean():.2%} above the optimum on average, {above.max():.2%} at worst")
    assert above.mean() < 0.01
    assert above.max() < 0.04


@pytest.mark.parametrize("kind", CASES)
def test_few_partial_answers_are_all_enumerated(kind):
    case = CASES[kind](3)
    policy = Adaptive(max_nodes=100_000).solve(case.problem)
    assert case.run(policy)[0] == pytest.approx(case.optimum(), abs=1e-9)
    assert policy.info.ordering.chosen == "all orders, exactly"


@pytest.mark.slow_cells("tree")
@pytest.mark.parametrize("kind", CASES)
def test_stopping_along_an_order_is_close_to_the_best(kind):
    for seed in range(2):
        case = CASES[kind](seed)
        problem = case.problem
        order = np.random.default_rng(seed).permutation(problem.n_questions).tolist()
        best = case.fixed_optimum(order)
        cost, asked, price = case.run(RulePolicy(along(problem, GivenOrder(order))))
        assert best - 1e-9 <= cost <= 1.01 * best
        found = evaluate(problem, RulePolicy(along(problem, GivenOrder(order))), method="exact")
        assert (found.cost, found.n_features, found.price) == pytest.approx((cost, asked, price), abs=1e-9)


def test_values_at_the_start_are_what_the_policy_costs_where_all_cases_are_followed():
    for seed in range(4):
        problem = free_case(seed, most=5).problem
        values = along(problem, EC2(), n_paths=4000)
        assert values.value(problem.initial_belief())[0] == pytest.approx(exact(problem, RulePolicy(values)), abs=1e-6)


@pytest.mark.slow_cells("naive", "tree")
@pytest.mark.parametrize("kind", CASES)
def test_sampled_cases_give_nearly_the_values_of_all(kind):
    for seed in range(2):
        problem = CASES[kind](seed).problem
        every, some = (along(problem, EC2(), n_paths) for n_paths in (4000, 30))
        costs = [exact(problem, RulePolicy(values)) for values in (every, some)]
        assert costs[1] <= 1.05 * costs[0]


@pytest.mark.covering(0)
@pytest.mark.parametrize("kind", CASES)
def test_one_step_on_its_own_values_improves_a_rule(kind):
    before, after = [], []
    for seed in range(3):
        problem = CASES[kind](seed).problem
        values = along(problem, EC2())
        optimum = optimal_cost(problem)
        before.append(exact(problem, RulePolicy(values)) / optimum)
        after.append(exact(problem, RulePolicy(along(problem, ImprovedRule(values)))) / optimum)
        assert after[-1] >= 1 - 1e-9
        assert after[-1] <= before[-1] * 1.02
    assert np.mean(after) - 1 < (np.mean(before) - 1) / 2


def test_an_improved_rule_asks_what_its_values_say():
    problem = mixture_case(2).problem
    values = along(problem, ClassInformation())
    belief = problem.initial_belief()
    scores = ImprovedRule(values, n_candidates=99).scores(belief)[0]
    for question in range(problem.n_questions):
        asked = belief.asking(question)
        outcome = np.flatnonzero(asked.outcome_probabilities[0] > 0)
        after = asked.update(outcome, rows=np.zeros(outcome.size, dtype=int))
        cost = price_of_question(asked)[0] + asked.outcome_probabilities[0, outcome] @ values.value(after)
        assert belief.stopping_cost[0] - scores[question] == pytest.approx(cost, abs=1e-12)
    few = ImprovedRule(values, n_candidates=1).scores(belief)[0]
    tried = {int(one_step_costs(belief)[0].argmin()), int(ClassInformation().next(belief)[0])}
    assert set(np.flatnonzero(np.isfinite(few)).tolist()) == tried


@pytest.mark.slow_cells("rule1-tree")
@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("rule", [ClassInformation(), LookaheadSaving(2, 2)])
def test_a_policy_answers_each_row_as_it_answers_it_alone(kind, rule):
    case = CASES[kind](4)
    rng = np.random.default_rng(0)
    policy = RulePolicy(along(case.problem, rule, 200))
    X = np.column_stack([rng.integers(-1, size, 15) for size in case.joint.shape[:-1]])
    whole = acquire(policy, X)
    for row in range(len(X)):
        alone = acquire(policy, X[[row]])
        assert whole.leaf_path[whole.leaf[row]][whole.leaf_path[whole.leaf[row]] >= 0].tolist() == (
            alone.leaf_path[0][alone.leaf_path[0] >= 0].tolist()
        )
    belief = case.problem.initial_belief()
    question = policy.next_question(belief)
    assert question[0] >= 0
    assert (policy.continuation_cost(belief) < belief.stopping_cost) == (policy.action(belief) == question)
    assert policy.next_question(belief.asking(0).update(np.array([0]))).shape == (1,)


@pytest.mark.parametrize("kind", CASES)
def test_few_cases_are_all_taken(kind):
    case = CASES[kind](5)
    problem, cases = case.problem, model_cases(case.problem, 4000, np.random.default_rng(0))
    policy = RulePolicy(along(problem, ClassInformation(), 100))
    costs, asked = cases.costs(policy, 0, len(cases.weight))
    found = evaluate(problem, policy, method="exact")
    assert cases.mean_and_error(costs) == (pytest.approx(found.cost, abs=1e-9), 0.0)
    assert cases.mean_and_error(asked)[0] == pytest.approx(found.n_features, abs=1e-9)
    cell = np.ravel_multi_index(tuple(cases.X[:, cases.columns].T), case.joint.shape[:-1])
    share = np.bincount(cell, cases.weight, case.joint[..., 0].size)
    np.testing.assert_allclose(share, case.joint.sum(axis=-1).ravel(), atol=1e-12)


def test_cases_are_drawn_from_the_model():
    rng = np.random.default_rng(0)
    tables, prior = rng.dirichlet(np.ones(2), size=(13, 2)).transpose(0, 2, 1), np.array([0.3, 0.7])
    problem = TableProblem(prior, tables, prices=0.03, any_order=True)
    cases = model_cases(problem, 4000, rng)
    assert not cases.exact
    policy = RulePolicy(along(problem, ClassInformation(), 100))
    costs, asked = cases.costs(policy, 0, 4000)
    found = evaluate(problem, policy, method="exact")
    for figures, truth in ((costs, found.cost), (asked, found.n_features)):
        mean, error = cases.mean_and_error(figures)
        assert mean == pytest.approx(truth, abs=4 * error)
    truth = np.einsum("c,ic,jc->ij", prior, tables[:, 0], tables[:, 0])
    both = (cases.answers == 0).T.astype(float) @ (cases.answers == 0) / 4000
    apart = ~np.eye(13, dtype=bool)
    assert (np.abs(both - truth)[apart] <= 5 * np.sqrt(truth * (1 - truth) / 4000)[apart]).all()


def pointing(data):
    tables, edges = data.truth.tables()
    sizes = [1 + int(np.isfinite(row).sum()) for row in edges]
    return MixtureProblem(
        data.truth.hidden_prior, data.truth.hidden_class, tables, data.feature_costs, n_outcomes=sizes, any_order=True
    )


@pytest.mark.slow_cells("make_indicator")
@pytest.mark.parametrize("make", [make_sensors, make_indicator])
def test_what_says_where_to_look_is_asked_first(make):
    data = make(10)
    policy = SEARCH.solve(pointing(data))
    assert evaluate(policy.problem, policy).cost == pytest.approx(data.optimum.any_order, abs=1e-9)
    assert policy.action(policy.problem.initial_belief()).tolist() == [0]
    fixed = [c for c in policy.info.ordering.candidates if c.name.startswith("fixed")]
    assert min(c.cost for c in fixed) == pytest.approx(data.optimum.in_order, abs=0.01)


@pytest.mark.slow
def test_the_report_says_what_was_tried():
    problem = free_case(4).problem
    policy = SEARCH.solve(problem)
    choice = policy.info.ordering
    (chosen,) = [c for c in choice.candidates if c.name == choice.chosen]
    assert (chosen.above, chosen.above_std_error) == (0.0, 0.0)
    assert chosen.cost == pytest.approx(exact(problem, policy), abs=4 * chosen.std_error + 1e-9)
    for candidate in choice.candidates:
        assert candidate.name in str(choice)
        # nothing was left that was clearly better
        assert candidate.above > -3 * candidate.above_std_error - 1e-3 * chosen.cost
    assert "cases of the model itself" in str(choice)


@pytest.mark.slow
def test_nobody_does_more_work_for_a_thousandth_of_deciding_at_once():
    # free tests, of which all others together make nearly sure: what can still be saved is next to nothing
    right = np.random.default_rng(12).uniform(0.5, 0.9, size=30)
    problem = TableProblem([0.5, 0.5], [[[p, 1 - p], [1 - p, p]] for p in right], prices=0.0, any_order=True)
    choice = Adaptive(n_paths=300, n_cases=500, certificate_paths=0, random_state=0).solve(problem).info.ordering
    tried = {candidate.name: candidate for candidate in choice.candidates}
    assert choice.chosen == "fixed order by saving"
    asks_more = tried["ExpectedSaving()"]
    assert asks_more.n_questions > 2 * tried[choice.chosen].n_questions
    assert -0.001 * 0.5 < asks_more.above < -asks_more.above_std_error


@pytest.mark.slow
def test_the_same_seed_gives_the_same_policy():
    problem = mixture_case(5, most=6).problem
    first, second = SEARCH.solve(problem), SEARCH.solve(problem)
    assert first.info.ordering.chosen == second.info.ordering.chosen
    for ours, theirs in zip(first.values.weights, second.values.weights):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["naive", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("tree", "network"))]
)
def test_whenever_the_time_is_up_what_is_returned_is_sound(kind):
    if kind == "network":
        model = DiscreteNetwork(random_network(3, 7), "n0").fit()
        prices, costs = np.full(6, 0.02), 1 - np.eye(len(model.classes_))
        problem = ModelProblem(model, model.class_prior_, np.arange(6), prices, costs, any_order=True)
    else:
        problem = CASES[kind](5).problem
    best, ends = optimal_cost(problem), set()
    settings = {"n_paths": 200, "n_cases": 200, "max_rounds": 1, "certificate_paths": 100}
    for rules, limit in itertools.product([None, [EC2(), ClassInformation()]], [0, 1, 10, 60, 300, 1000, 10**6]):
        with count_ticks() as looks:
            policy = Adaptive(rules, max_nodes=0, max_seconds=limit, **settings).solve(problem)
            assert looks() < limit + 40
        info, cost = policy.info, exact(problem, policy)
        assert info.lower - 1e-9 <= best <= cost + 1e-9
        assert cost <= info.upper + 1e-9
        assert info.scope == "all orders"
        assert info.status == "limit" or limit >= 300
        ends.add(type(policy).__name__)
    assert ends >= {"PlannedPolicy", "RulePolicy"}  # what there is at first, and what there is with time enough


@pytest.mark.slow
@pytest.mark.parametrize("limit", [560, 1000])
@pytest.mark.filterwarnings("error")
def test_what_was_tried_on_no_case_when_the_time_was_up_is_left_out(limit):
    table = np.random.default_rng(0).dirichlet([1, 1], (12, 2)).transpose(0, 2, 1)
    problem = TableProblem([0.5, 0.5], table, prices=0.005, any_order=True)
    with count_ticks() as looks:
        policy = Adaptive(
            [EC2(), ClassInformation()],
            max_nodes=0,
            max_seconds=limit,
            n_paths=40,
            n_cases=50,
            max_rounds=1,
            certificate_paths=200,
        ).solve(problem)
    assert looks() < limit + 40  # the certificate within
    assert (policy.info.status, policy.info.upper < 0.2) == ("limit", True)


def test_bundles_of_too_many_outcomes_are_decided_at_once_where_there_is_no_time():
    problem = bundled()
    with count_ticks() as looks:
        policy = Adaptive(max_seconds=2).solve(problem)
    assert looks() < 40
    assert (policy.info.status, policy.info.upper) == (
        "limit",
        pytest.approx(problem.initial_belief().stopping_cost[0]),
    )
    assert policy.action(problem.initial_belief()).tolist() == [-1]
    assert 0 <= policy.info.lower <= policy.info.upper


def test_what_is_too_much_work_at_each_partial_answer_is_not_enumerated():
    small, large = (
        TableProblem(np.full(n, 1 / n), np.full((9, 2, n), 0.5), prices=0.1, any_order=True) for n in (2, 300)
    )
    assert Adaptive().enumerates(small)
    assert not Adaptive().enumerates(large)


@pytest.mark.slow
def test_no_further_candidate_is_begun_when_the_time_is_up():
    problem = free_case(4).problem
    with count_ticks() as looks:
        info = Adaptive(max_nodes=0, max_seconds=450, certificate_paths=0).solve(problem).info
        assert looks() < 460
    assert 1 < len(info.ordering.candidates) < 5
    assert "LookaheadSaving()" in info.ordering.skipped
    assert info.status == "limit"
    assert "not tried for want of time or work" in str(info.ordering)
    little = Adaptive(max_nodes=0, max_work=1.0, max_seconds=1000, certificate_paths=0).solve(problem).info.ordering
    assert [c.name for c in little.candidates][:3] == ["ExpectedSaving()", "ClassInformation()", "EC2()"]
    assert "LookaheadSaving()" in little.skipped


def test_rules_of_ones_own_are_tried():
    problem = free_case(4).problem
    rules = [GivenOrder(list(range(problem.n_questions))), ClassInformation()]
    found = Adaptive(rules, max_nodes=0, max_rounds=0, certificate_paths=0).solve(problem).info.ordering
    assert [c.name for c in found.candidates] == [repr(rule) for rule in rules]
    with pytest.raises(ValueError, match="HiddenInformation needs a problem with hidden states"):
        Adaptive([HiddenInformation()]).solve(free_case(4, tree=True).problem)
    with pytest.raises(
        ValueError, match=r"Adaptive needs a problem in which any question may come next.*any_order=True"
    ):
        Adaptive().solve(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1))


@pytest.mark.slow
def test_budgets_hold():
    for seed in range(2):
        case = free_case(seed)
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(-1, size, 60) for size in case.joint.shape[:-1]])
        for limits in ({"max_features": 2}, {"max_cost": 0.09}):
            problem = within_budget(case.problem, **limits)
            policy = SEARCH.solve(problem)
            found = acquire(policy, X)
            assert (found.leaf_question >= 0).sum(axis=1).max() <= limits.get("max_features", 99)
            assert found.leaf_price.max() <= limits.get("max_cost", 99) + 1e-12
            assert exact(problem, policy) <= 1.04 * optimal_cost(problem)


def bundled():
    """A problem with a bundle of more outcomes than are listed."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = ((rng.random((300, 7)) < 0.4 + 0.2 * y[:, None]).astype(int) + rng.integers(0, 2, (300, 1))) % 3
    model = TreeNetwork("line").fit(X, y, n_outcomes=3)
    bundles = [Bundle(np.arange(6), np.full(6, 3)), None]
    prices, costs = np.array([0.05, 0.02]), 1 - np.eye(2)
    return ModelProblem(model, model.class_prior_, np.array([0, 6]), prices, costs, any_order=True, bundles=bundles)


@pytest.mark.slow
def test_bundles_of_too_many_outcomes_are_searched_too():
    problem = bundled()
    assert problem.structure.samples
    ours = Adaptive(n_paths=100, n_cases=200, certificate_paths=0).solve(problem)
    theirs = Lookahead(2, certificate_paths=0).solve(problem)
    first, second = (evaluate(problem, policy, n_paths=2000).cost for policy in (ours, theirs))
    assert first <= second + 0.02
    assert len(acquire(ours, np.zeros((300, 7), dtype=int)).leaf) == 300


def test_everything_known_or_too_dear_is_decided_at_once():
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)
    for problem in (
        TableProblem([1.0, 0.0], table, prices=0.1, any_order=True),
        TableProblem([0.5, 0.5], table, prices=2.0, any_order=True),
    ):
        policy = SEARCH.solve(problem)
        assert policy.action(problem.initial_belief()).tolist() == [-1]


def test_ridge_is_weighted_least_squares_where_data_are_many():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(500, 3)), rng.random(500)
    X[:, 2] = 7.0  # tells nothing
    y = 2 + X[:, 0] - 3 * X[:, 1] + rng.normal(size=500)
    found = ridge(X, y, weight)
    design = np.column_stack([np.ones(500), X[:, :2]]) * np.sqrt(weight)[:, None]
    expected = np.linalg.lstsq(design, y * np.sqrt(weight), rcond=None)[0]
    np.testing.assert_allclose(found[:3], expected, atol=0.02)
    assert found[3] == 0.0


@pytest.mark.parametrize("longest", [0, 1, 4])
def test_beyond_the_longest_questions_follow_as_they_promise(longest):
    tables = np.array([[[p, 1 - p], [1 - p, p]] for p in (0.6, 0.9, 0.7, 0.8)])
    problem = TableProblem([0.5, 0.5], tables, prices=0.001, any_order=True)
    every = model_cases(problem, 100, np.random.default_rng(0))
    assert greedy_order(problem, ClassInformation(), every, longest=longest).order == [1, 3, 2, 0]


def test_costs_of_going_on_are_kept_between_their_bounds():
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=[0.1, 0.05], any_order=True)
    following = NextQuestion(ExpectedSaving(), problem.initial_belief(3))
    # the lower price, and then the class is known; that of the question asked, and then the decision
    assert clip_to_bounds(np.array([-1.0, 0.1, 9.0]), following) == pytest.approx([0.05, 0.1, 0.05 + 0.15])


@pytest.mark.slow
def test_expected_saving_stops_in_time_along_its_rule():
    sensors = np.array([[[0.8, 0.3], [0.2, 0.7]]] * 30)
    problem = TableProblem([0.5, 0.5], sensors, prices=0.01, any_order=True)
    policy = RulePolicy(along(problem, ExpectedSaving(), 500))
    fixed = TableProblem([0.5, 0.5], sensors, prices=0.01)
    best = GridValueIteration().solve(fixed).info.upper
    assert evaluate(problem, policy, method="simulation", n_paths=20_000).cost <= 1.02 * best


@pytest.mark.covering(0)
@pytest.mark.parametrize("kind", CASES)
def test_policies_come_back_from_files(kind, tmp_path):
    problem = CASES[kind](4).problem
    values = along(problem, ClassInformation(), 200)
    policy = RulePolicy(along(problem, ImprovedRule(values), 200))
    save(policy, tmp_path / "policy.seq")
    again = load(tmp_path / "policy.seq")
    assert exact(again.problem, again) == exact(problem, policy)


@pytest.mark.slow
def test_a_classifier_says_what_order_was_chosen(tmp_path):
    data = make_sensors(2000)
    clf = SequentialClassifier(TreeNetwork(), discretizer="precomputed", order="adaptive", feature_costs=0.03)
    clf.set_params(solver=Adaptive(n_paths=300, n_cases=500, certificate_paths=100))
    clf.fit(data.X, data.y)
    assert clf.ordering_.chosen in str(clf.ordering_)
    assert clf.score(data.X, data.y) > 0.9
    clf.save(tmp_path / "model.seq")
    assert load(tmp_path / "model.seq").ordering_ == clf.ordering_
    assert SequentialClassifier(discretizer="precomputed").fit(data.X, data.y).ordering_ is None


@pytest.mark.slow
def test_bounds_are_gone_by_where_they_are_close():
    rng = np.random.default_rng(3)
    sharp = rng.dirichlet(np.full(3, 0.4), size=(16, 2)).transpose(0, 2, 1)
    problem = TableProblem([0.4, 0.6], sharp, 0.02, any_order=True)
    policy = Adaptive().solve(problem)
    assert str(policy.info.ordering) == "one step on bounds over all orders"
    assert (policy.info.status, policy.info.scope) == ("converged", "all orders")
    assert policy.info.gap <= 0.02
    run = evaluate(problem, policy, method="simulation", n_paths=4000)
    assert run.cost - 4 * run.cost_std_error <= policy.info.upper
    assert policy.info.lower <= run.cost + 4 * run.cost_std_error
    # rules that are asked for are tried all the same
    assert Adaptive([EC2()], n_paths=200, n_cases=200).solve(problem).info.ordering.chosen.startswith("EC2()")


def test_without_a_certificate_the_policy_is_the_same() -> None:
    problem = TableProblem(
        [0.5, 0.5],
        np.random.default_rng(0).dirichlet(np.ones(2), (6, 2)).transpose(0, 2, 1),
        prices=0.02,
        any_order=True,
    )
    named = Adaptive([ClassInformation()], max_nodes=0, n_paths=100, n_cases=100)
    bare = without_certificate(named)
    assert bare.certificate_paths == 0
    first, second = named.solve(problem), bare.solve(problem)
    assert np.isnan(second.info.gap)
    assert first.info.gap >= 0
    costs = [evaluate(problem, policy, method="exact").cost for policy in (first, second)]
    assert costs[0] == costs[1]
    # bounds that may be gone by need one
    assert without_certificate(Adaptive()).certificate_paths == 10_000


def test_values_without_foresight_need_more_cases_and_come_to_the_same():
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.ones(4), size=(8, 2)).transpose(0, 2, 1)
    problem = TableProblem([0.6, 0.4], tables, prices=0.03, any_order=True)
    cases = model_cases(problem, 4000, np.random.default_rng(1))

    def cost(exact_expectation, n_paths):
        values = fit_values(
            problem,
            ClassInformation(),
            8,
            n_paths,
            np.random.default_rng(2),
            first_horizon=8,
            exact_expectation=exact_expectation,
        )
        return float(cases.costs(RulePolicy(values), 0, len(cases.answers))[0].mean())

    assert cost(False, 2000) == pytest.approx(cost(True, 600), rel=0.02)


def test_without_foresight_no_answer_is_looked_at_but_the_one_given(monkeypatch):
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 8), prices=0.03, any_order=True)
    expected = []
    real = values._expected_values

    def counted(values, lots):
        expected.append(sum(len(lot.question) for lot in lots))
        return real(values, lots)

    monkeypatch.setattr(values, "_expected_values", counted)
    for exact_expectation, looked in ((False, 0), (True, 1)):
        expected.clear()
        fit_values(problem, ClassInformation(), 8, 50, np.random.default_rng(0), exact_expectation=exact_expectation)
        assert (sum(expected) > 0) == bool(looked)


def priced(seed, n=14, high=0.12, prior=(0.5, 0.3, 0.2)):
    """Few classes, and questions of very different prices: too many partial answers to enumerate."""
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(3, 0.6), size=(n, len(prior))).transpose(0, 2, 1)
    return TableProblem(prior, tables, prices=rng.uniform(0.01, high, n), any_order=True)


#: Four classes, of which bounds over all orders are not close.
FOUR = (0.4, 0.3, 0.2, 0.1)


ONE_RULE = Adaptive([ClassInformation()], max_rounds=0, n_paths=200, n_cases=300, certificate_paths=0)


def with_nodes(n):
    return clone(ONE_RULE).set_params(search_nodes=n)


@pytest.mark.slow
def test_a_search_that_closes_is_taken_and_no_rule_is_tried(monkeypatch):
    monkeypatch.setattr(adaptive, "fit_values", None)
    problem = priced(0, 10, 0.5)
    policy = with_nodes(20_000).solve(problem)
    info = policy.info
    assert (info.ordering.chosen, info.status, info.scope) == ("search over all orders", "converged", "all orders")
    assert (info.confidence, info.ordering.candidates) == (1.0, ())
    assert info.gap <= 0.01
    assert info.lower <= exact(problem, policy) <= info.upper + 1e-12


@pytest.mark.slow
def test_what_a_search_comes_to_is_taken_where_it_costs_less():
    problem = priced(0)
    rule, found = with_nodes(0).solve(problem), with_nodes(5000).solve(problem)
    assert found.info.status == "wide gap"
    assert found.info.ordering.chosen == "search over all orders"
    tried = {candidate.name: candidate for candidate in found.info.ordering.candidates}
    assert tried["search over all orders"].above == 0 < tried["ClassInformation()"].above
    run = evaluate(problem, found, method="simulation", n_paths=10_000)
    other = evaluate(problem, rule, method="simulation", n_paths=10_000)
    assert run.cost < other.cost - 3 * np.hypot(run.cost_std_error, other.cost_std_error)
    # its bounds need no certificate, and are certain
    assert found.info.lower < run.cost < found.info.upper + 3 * run.cost_std_error


@pytest.mark.slow
def test_a_search_that_is_far_off_is_left():
    """Its bound after a fifth of its work is above what the rule costs by more than a tenth."""
    rng = np.random.default_rng(0)
    sharp = rng.dirichlet(np.full(4, 0.8), size=(20, 4)).transpose(0, 2, 1)
    problem = TableProblem(np.full(4, 0.25), sharp, prices=0.005, any_order=True)
    found = with_nodes(200).set_params(certificate_paths=10).solve(problem)
    assert [candidate.name for candidate in found.info.ordering.candidates] == ["ClassInformation()"]
    # where there is nothing to compare it with, and nobody asks what it costs, it is not tried on any case
    bare = with_nodes(200).solve(problem)
    assert np.isnan(bare.info.upper)
    assert (bare.info.ordering.chosen, bare.info.ordering.candidates) == ("ClassInformation()", ())
    for mine, theirs in zip(bare.values.weights, found.values.weights, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("exact_expectation", [False, True])
def test_a_longer_horizon_goes_on_with_the_same_cases(monkeypatch, exact_expectation):
    """Cases are followed once, whatever the horizon begins with."""
    tables = np.array([[[0.75, 0.3], [0.25, 0.7]]] * 12)
    problem = TableProblem([0.5, 0.5], tables, prices=0.005, any_order=True)
    begun = []

    def counted(info, *given):
        begun.append(info.stage)
        return real(info, *given)

    real = values.walk
    monkeypatch.setattr(values, "walk", counted)

    def cost(first_horizon):
        settings = {"first_horizon": first_horizon, "exact_expectation": exact_expectation}
        found = fit_values(problem, ClassInformation(), 12, 300, np.random.default_rng(0), **settings)
        assert found.n_stages == 12
        return exact(problem, RulePolicy(found))

    whole = cost(12)
    assert set(begun) == {0}
    begun.clear()
    assert cost(3) <= 1.02 * whole
    assert [stage for stage in begun if stage] == [3, 3, 6, 6]


@pytest.mark.parametrize("seed", [0, 2, 3, 9])
def test_values_are_the_same_in_any_unit(seed):
    """Free questions that change no decision cost what deciding does, and rounding does not say whether to ask on."""
    rng = np.random.default_rng(seed)
    tables = np.array([rng.dirichlet(np.full(3, 2.0), size=3).T for _ in range(10)])
    found = []
    for unit in (1.0, 0.3):
        prices, costs = unit * np.array([0.0] * 3 + [0.01] * 7), unit * (1 - np.eye(3))
        problem = TableProblem([0.3, 0.3, 0.4], tables, prices, decision_costs=costs, any_order=True)
        settings = {"first_horizon": 4, "exact_expectation": False}
        values = fit_values(problem, ClassInformation(), 10, 60, np.random.default_rng(0), **settings)
        found.append(values.value(problem.initial_belief())[0] / unit)
    assert found[0] == pytest.approx(found[1], abs=1e-12)


@pytest.mark.slow
def test_a_search_takes_no_more_work_than_it_may(monkeypatch):
    known = []
    real = adaptive.OrderSearch.run

    def counted(self, max_nodes, **more):
        known.append(max_nodes)
        return real(self, max_nodes, **more)

    monkeypatch.setattr(adaptive.OrderSearch, "run", counted)
    problem = priced(0)
    with_nodes(400).solve(problem)
    work = ExpectedSaving().work(problem)
    assert known == [80, 400]
    monkeypatch.setattr(adaptive, "_TUNING", replace(adaptive._TUNING, search_products=400 * work))
    with_nodes(5000).solve(problem)
    assert known[2:] == [80, 400]
    # too few to come far, or none at all
    monkeypatch.setattr(adaptive, "_TUNING", replace(adaptive._TUNING, search_products=99 * work))
    for nodes in (5000, 0):
        with_nodes(nodes).solve(problem)
    assert len(known) == 4


@pytest.mark.slow
def test_with_and_without_a_certificate_the_same_search_is_taken():
    problem = priced(1)
    bare, certified = (clone(with_nodes(1000)).set_params(certificate_paths=n).solve(problem) for n in (0, 500))
    assert bare.info.ordering.chosen == certified.info.ordering.chosen == "search over all orders"
    assert (bare.info.lower, bare.info.upper) == (certified.info.lower, certified.info.upper)


def compared(costs, works):
    """A candidate of such costs in a hundred cases, beside one that costs 5 in each."""
    search = adaptive._RuleSearch(Adaptive(n_cases=100), free_case(0).problem)
    search.cases = SimpleNamespace(
        exact=False,
        answers=np.zeros((100, 3)),
        costs=lambda policy, first, last: (costs[first:last], np.zeros(last - first)),
        mean_and_error=mean_and_error,
    )
    search.tried = [adaptive.TriedPolicy("best", None, np.full(100, 5.0), np.zeros(100))]
    found = adaptive.TriedPolicy("another", None, works=works)
    search._compare(found)
    return found


@pytest.mark.parametrize(
    "errors, works, tried_on, dropped",
    [(2.0, False, 100, ""), (4.0, False, 10, "clearly behind"), (-1.5, True, 100, ""), (-0.5, True, 10, "not ahead")],
)
def test_a_candidate_is_left_once_it_is_behind_another(errors, works, tried_on, dropped):
    # on the first tenth of the cases it is so many standard errors above
    error = 1 / np.sqrt(9)
    costs = 5 + errors * error + np.tile([-1.0, 1.0], 50)
    found = compared(costs, works)
    assert (len(found.costs), found.dropped) == (tried_on, dropped)
    assert found.may_save == pytest.approx(max(0, 2 - errors) * error if dropped else 0)


def test_what_is_more_work_is_looked_at_again_after_three_tenths_of_the_cases():
    costs = np.repeat([4.0, 6.0], [10, 90])  # ahead on the first tenth, and then behind
    found = compared(costs, True)
    assert len(found.costs) == 30


def test_one_case_alone_is_no_more_than_chance():
    """It is above zero by its standard error exactly, which rounding must not decide."""
    search = adaptive._RuleSearch(Adaptive(n_cases=73), free_case(0).problem)
    search.cases = SimpleNamespace(mean_and_error=mean_and_error)
    for factor in np.random.default_rng(0).uniform(0.1, 1e4, 20):
        costs = np.full(73, factor)
        best = adaptive.TriedPolicy("best", None, costs, np.zeros(73))
        search.tried = [adaptive.TriedPolicy("simple", None, costs.copy(), np.zeros(73)), best]
        search.tried[0].costs[20] *= 1.9
        assert search._simplest().name == "simple", factor


def test_what_is_simpler_may_cost_a_thousandth_of_deciding_at_once_more():
    problem = free_case(0).problem
    once = float(problem.stopping_cost(problem.prior[None])[0])
    for more, chosen in ((0.0008 * once, "simple"), (0.0012 * once, "best")):
        search = adaptive._RuleSearch(Adaptive(n_cases=100), problem)
        search.cases = SimpleNamespace(mean_and_error=mean_and_error)
        search.tried = [
            adaptive.TriedPolicy(name, None, np.full(100, cost), np.zeros(100))
            for name, cost in (("simple", 0.1 + more), ("best", 0.1))
        ]
        assert search._simplest().name == chosen


def test_look_ahead_tries_all_of_few_questions():
    settings = Adaptive()
    assert [adaptive._RuleSearch(settings, priced(0, n))._candidates for n in (16, 17)] == [16, settings.n_candidates]


def test_how_many_partial_answers_a_search_keeps():
    small, large = priced(0, 14), priced(0, 600)
    assert Adaptive()._nodes(small) == 5000
    assert ExpectedSaving().work(large) > 1e8 / 5000
    assert Adaptive()._nodes(large) == pytest.approx(1e8 / ExpectedSaving().work(large))


def test_a_search_goes_on_if_its_policy_costs_a_tenth_more_at_most(monkeypatch):
    monkeypatch.setattr(adaptive, "policy_of_search", lambda search: None)
    monkeypatch.setattr(adaptive._RuleSearch, "_compare_with", lambda self, chosen, other, started: other)
    rules = adaptive._RuleSearch(Adaptive(), free_case(0).problem)
    rules.cases = SimpleNamespace(mean_and_error=mean_and_error)
    chosen = adaptive.TriedPolicy("best", None, np.full(100, 5.0), np.zeros(100))
    for high, goes_on in ((5.45, True), (5.55, False)):
        run = []
        search = SimpleNamespace(high=high, run=lambda most, tolerance, run=run: run.append(tolerance))
        assert (rules._compare_with_search(chosen, search) is not chosen) == goes_on
        assert run == [0.01] * goes_on


@pytest.mark.slow
def test_the_race_is_told_and_values_are_fitted_in_full_once(monkeypatch):
    problem, real, fitted = priced(0, prior=FOUR), adaptive.fit_values, []

    def counted(problem, rule, n_stages, n_paths, *others, **settings):
        fitted.append(n_paths)
        return real(problem, rule, n_stages, n_paths, *others, **settings)

    monkeypatch.setattr(adaptive, "fit_values", counted)
    info = clone(SEARCH).set_params(search_nodes=0, max_work=1e12).solve(problem).info
    frame = info.ordering.to_frame()
    assert {"n_paths", "n_cases", "dropped", "may_save"} <= {*frame.columns}
    tried = info.ordering.candidates
    assert sorted(fitted) == [50, 100, 100, 100, 100, 100, 300]  # look-ahead has half of them
    assert {c.n_paths for c in tried if "improved" not in c.name} <= {*fitted}
    for candidate in tried:
        assert (candidate.dropped != "") == (candidate.n_cases < 1000)
        assert candidate.name != info.ordering.chosen or not candidate.dropped
        assert (f"after {candidate.n_cases} cases" in str(info.ordering)) or not candidate.dropped
    assert any(candidate.dropped for candidate in tried)


@pytest.mark.slow
def test_the_race_loses_little_to_fitting_all_in_full(monkeypatch):
    problem = priced(1, prior=FOUR)
    tuned = adaptive._TUNING
    costs = []
    for share in (tuned.race_share, 1.0):
        monkeypatch.setattr(adaptive, "_TUNING", replace(tuned, race_share=share, min_paths=100 if share < 1 else 300))
        policy = clone(SEARCH).set_params(search_nodes=0).solve(problem)
        costs.append(evaluate(problem, policy, n_paths=20_000, random_state=1).cost)
    assert costs[0] <= 1.01 * costs[1]


def test_a_rule_that_looks_ahead_may_decide_by_what_it_expects_itself():
    problem = priced(2)
    rule = ImprovedRule(along(problem, ClassInformation(), 100))
    belief = problem.initial_belief()
    following = NextQuestion(rule, belief)
    own = values.expected_values(problem, rule, problem.n_stages)
    np.testing.assert_allclose(own.going_on(following), clip_to_bounds(following.ahead, following), rtol=1e-12)
    assert own.going_on(following)[0] < following.once[0]


def test_what_lots_expect_together_each_expects_by_itself():
    problem = priced(3)
    fitted = along(problem, EC2(), 100)
    belief = problem.initial_belief()[np.zeros(5, dtype=int)].asking(2).update(np.array([0, 1, 2, 0, 1]))
    lots = [NextQuestion(EC2(), belief[rows]) for rows in (np.arange(2), np.arange(2, 5))]
    together, ends = values._expected_values(fitted, lots)
    assert ends.tolist() == [2]
    alone = [values._expected_values(fitted, [lot])[0] for lot in lots]
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-12)
