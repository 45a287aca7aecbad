"""The optimum over all orders: exact, searched for, and bounded, against recursions that share no code with them."""

from __future__ import annotations

import itertools
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from free_cases import free_case
from two_threads import answers_of_two

from seqclass import Rules, load
from seqclass.persistence import save
from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    ExactFreeOrder,
    FirstK,
    Lookahead,
    MixtureProblem,
    TableProblem,
    acquire,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.bounds.optimum import PartialAnswers, are_few, expand
from seqclass.pomdp.bounds.repeats import RepeatValues
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.one_step import stopping_is_certain, stopping_threshold
from seqclass.pomdp.rules import with_rules
from seqclass.pomdp.solvers import exact_free_order as free_order
from seqclass.pomdp.solvers.simple import DeepLookaheadPolicy, OrderBoundPolicy
from seqclass.pomdp.sweeps.budget import within_budget
from seqclass.testing.solvers import count_ticks

pytestmark = pytest.mark.usefixtures("whole_certificates")


def cases(first, last, most=5):
    return [free_case(seed, tree=bool(seed % 2), most=most) for seed in range(first, last)]


def check_exact(case):
    problem, truth = case.problem, case.optimum()
    policy = ExactFreeOrder().solve(problem)
    info = policy.info
    assert (info.upper, info.lower) == pytest.approx((truth, truth), abs=1e-9)
    assert (info.status, info.gap, info.confidence) == ("converged", 0.0, 1.0)
    assert case.run(policy)[0] == pytest.approx(truth, abs=1e-9)
    return truth


def check_search(case, truth, n_nodes):
    """Stopped early it brackets the optimum; left alone it reaches it; its plan costs no more than its upper bound."""
    search = OrderSearch(case.problem)
    for most in (1, n_nodes):
        search.run(most)
        assert search.low - 1e-9 <= truth <= search.high + 1e-9
        policy = free_order.PlannedPolicy(case.problem, search.plan())
        assert truth - 1e-9 <= case.run(policy)[0] <= search.high + 1e-9
    assert search.run()
    assert (search.low, search.high) == pytest.approx((truth, truth), abs=1e-9)
    assert case.run(free_order.PlannedPolicy(case.problem, search.plan()))[0] == pytest.approx(truth, abs=1e-9)


@pytest.mark.slow
def test_exact_free_order_is_the_optimum():
    for case in cases(1000, 1018):
        check_exact(case)


@pytest.mark.slow
def test_a_list_of_all_partial_answers_has_the_optimum_and_its_plan():
    """Of independent answers, with groups or a further decision, against a recursion that shares no code with it."""
    for seed in range(1000, 1018):
        case = free_case(seed, tree=False)
        listed = PartialAnswers.from_problem(case.problem, 10**6)
        policy, truth = free_order.from_list(listed), case.optimum()
        assert (policy.info.upper, policy.info.lower) == pytest.approx((truth, truth), abs=1e-12)
        assert case.run(policy)[0] == pytest.approx(truth, abs=1e-9)
        assert policy.info.size == len(listed.costs) == np.prod(case.problem.n_outcomes + 1)


@pytest.mark.parametrize("listed", [True, False])
def test_what_another_thread_forgets_of_partial_answers_is_still_read(listed):
    problem = many_sensors(3)
    policy, belief = free_order.RecursionPolicy(problem), problem.initial_belief().asking(0).update([-1])
    policy.__dict__["lists"] = listed

    def forget(shared):
        shared._lists.clear()
        shared._tables.clear()

    def ask(shared):
        return shared.question_costs(belief).tolist()

    alone, names = ask(policy), {"_partial_answers" if listed else "question_costs"}
    answers = [*answers_of_two(lambda: policy, ask, forget, names)]
    assert len(answers) > 2
    assert answers == [(alone, None)] * len(answers)


@pytest.mark.parametrize("n_questions, most, few", [(9, None, True), (10, None, False), (27, 5, True), (30, 5, False)])
def test_up_to_how_many_partial_answers_are_few(n_questions, most, few):
    """50,000 before the last answer; 400,000 where not all questions can be asked: there are 19,171 to 472,761."""
    problem = TableProblem([0.5, 0.5], np.full((n_questions, 2, 2), 0.5), 0.1, any_order=True)
    limited = problem if most is None else within_budget(problem, max_features=most)
    assert are_few(limited, np.inf) == few


@pytest.mark.parametrize("limit", [{}, {"max_questions": 2}, {"max_cost": 0.08}])
def test_a_list_agrees_with_an_enumeration_at_all_prices_and_whatever_is_hidden(limit):
    factors = np.array([0.0, 0.3, 1.0, 4.0])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        sizes, classes = rng.integers(2, 5, 5).tolist(), np.repeat(np.arange(3), rng.integers(1, 4, 3))
        problem = MixtureProblem(
            rng.dirichlet(np.ones(len(classes))),
            classes,
            [rng.dirichlet(np.ones(size), size=len(classes)).T for size in sizes],
            rng.uniform(0.01, 0.05, 5),
            rng.uniform(0.3, 1.0, (3, 3)) * (1 - np.eye(3)),
            any_order=True,
            **limit,
        )
        listed = PartialAnswers.from_problem(problem, 10**6)
        wanted = expand(problem.initial_belief(), problem.n_stages, 0.0).values(factors)[0]
        assert [listed.solve(factor) for factor in factors] == pytest.approx(wanted, rel=1e-12)
        policy = free_order.from_list(listed)
        assert evaluate(problem, policy, method="exact").cost == pytest.approx(wanted[2], rel=1e-12)


def random_histories(problem, seed, n_rows=100):
    """Where cases stand after each number of questions asked at random, some missing or answered for nothing."""
    rng, info = np.random.default_rng(seed), problem.initial_belief()[np.zeros(n_rows, dtype=np.intp)]
    charged = bool(seed % 2)
    while len(info):
        yield info
        info = info[np.flatnonzero(info.available.any(axis=1))]
        question = np.array([rng.choice(np.flatnonzero(one)) for one in info.available], dtype=np.intp)
        outcome, before = rng.integers(-1, problem.n_outcomes[question]), info
        info = info.asking(question).update(np.where(rng.random(len(info)) < 0.3, -1, outcome), charge_missing=charged)
        nothing = rng.random(len(info)) < 0.3
        account = replace(info.account, spent=np.where(nothing, before.spent, info.spent))
        if (paid := before.account.groups_paid) is not None:
            account = replace(account, groups_paid=np.where(nothing[:, None], paid, account.groups_paid))
        info = info.replace(account=account)


@pytest.mark.slow_cells("0-groups2-limit2", "1-None-limit5", "1-groups1-limit1")
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    ("groups", "limit"),
    [
        (None, {}),
        ([0, 0, 0, 1, 1], {}),
        ([0, -1, 0, 1, -1], {}),
        (None, {"max_questions": 3}),
        ([0, -1, 0, 1, -1], {"max_questions": 3}),
        (None, {"max_cost": 0.07}),
        (None, {"max_cost": 0.07, "max_questions": 3}),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_listed_plan_is_the_best_wherever_an_answer_was_not_to_be_had(seed, groups, limit):
    rng = np.random.default_rng(seed)
    classes, sizes = np.repeat(np.arange(3), 2), rng.integers(2, 4, 5)
    problem = MixtureProblem(
        rng.dirichlet(np.ones(6)),
        classes,
        [rng.dirichlet(np.ones(size), size=6).T for size in sizes],
        rng.uniform(0.01, 0.04, 5),
        1 - np.eye(3),
        any_order=True,
        **limit,
    )
    if groups is not None:
        problem = problem.replace(groups=np.array(groups), full_prices=problem.prices * 2)
    policy = free_order.from_list(PartialAnswers.from_problem(problem, 10**6))
    assert policy.fallback.lists
    for info in random_histories(problem, seed):
        on = info[np.flatnonzero(~stopping_is_certain(info))]
        if len(on):
            costs = expand(on, problem.n_stages - info.stage).question_costs()[0]
            np.testing.assert_allclose(policy.fallback.question_costs(on), costs, rtol=1e-12)
            asked, least = policy.action(on), costs.min(axis=1)
            np.testing.assert_array_equal(asked >= 0, least < stopping_threshold(on))
            np.testing.assert_allclose(costs[np.arange(len(on)), asked][asked >= 0], least[asked >= 0], rtol=1e-12)


def test_lists_are_kept_by_what_was_missing_and_no_more_than_memory_allows(monkeypatch):
    problem = many_sensors(6)
    fallback = free_order.from_list(PartialAnswers.from_problem(problem, 10**6)).fallback
    made, real = [], PartialAnswers.solve
    monkeypatch.setattr(PartialAnswers, "solve", lambda self, *more: made.append(self.costs.size) or real(self, *more))
    missing = [problem.initial_belief().asking(q).update(np.array([-1])) for q in (0, 1, 0)]
    for info in missing:
        fallback.question_costs(info)
    assert made == [4**5, 4**5]
    monkeypatch.setattr(free_order, "CHUNK_BYTES", 16 * (4**5))
    for info in missing:
        fallback.question_costs(info)
    assert made == [4**5, 4**5]
    fallback.question_costs(problem.initial_belief())
    fallback.question_costs(missing[0])
    assert made == [4**5, 4**5, 4**6, 4**5]


@pytest.mark.slow_cells("limit1")
@pytest.mark.parametrize("limit", [{"max_questions": 2}, {"max_cost": 0.045}])
def test_few_questions_of_many_are_planned_exactly(limit):
    """Two of forty questions: 120 histories are kept, whose second question is looked at without following it."""
    rng = np.random.default_rng(3)
    tables = [rng.dirichlet(np.ones(3), size=6).T for _ in range(40)]
    prices = rng.uniform(0.016, 0.022, 40)
    prior, costs = rng.dirichlet(np.ones(6)), 1 - np.eye(3)
    problem = MixtureProblem(prior, np.repeat(np.arange(3), 2), tables, prices, costs, any_order=True, **limit)

    def stopping(weight):
        return min(weight.reshape(3, 2).sum(axis=1) @ costs)

    def best(weight, left, asked=()):
        stop = stopping(weight)
        if left == 0:
            return stop
        on = [
            prices[q] * weight.sum() + sum(best(weight * row, left - 1, (q,)) for row in table)
            for q, table in enumerate(tables)
            if q not in asked
        ]
        return min(stop, *on)

    truth = best(prior, 2)
    for solver in (ExactFreeOrder(), Adaptive()):
        policy = solver.solve(problem)
        assert (policy.info.upper, policy.info.gap) == (pytest.approx(truth, rel=1e-12), 0.0)
        assert evaluate(problem, policy, method="exact").cost == pytest.approx(truth, rel=1e-12)
    assert policy.info.size == 1 + 40 * 3
    # after a missing answer, which is one of the two unless the budget does not mind
    belief = problem.initial_belief().asking(5).update(np.array([-1]))
    truth = best(prior, 1 if "max_questions" in limit else 2, (5,))
    costs_then = policy.fallback.question_costs(belief).min()
    assert min(costs_then, belief.stopping_cost[0]) == pytest.approx(truth, rel=1e-12)


@pytest.mark.slow
def test_adaptive_lists_two_million_unless_rules_are_named():
    problem = many_sensors(10)  # 1,048,576
    info = Adaptive(certificate_paths=0).solve(problem).info
    assert (info.gap, info.size, info.ordering.chosen) == (0.0, 4**10, "all orders, exactly")
    named = Adaptive([ClassInformation()], n_paths=20, n_cases=20, max_rounds=0, certificate_paths=0)
    assert named.solve(problem).info.ordering.chosen != "all orders, exactly"


def test_what_is_listed():
    """Answers that depend on states alone, as many as are asked for; not where rules or orders tell more apart."""
    problem = many_sensors(4)
    assert PartialAnswers.from_problem(problem, 255) is None
    assert len(PartialAnswers.from_problem(problem, 256).costs) == 256
    within = within_budget(problem, max_cost=0.03)
    assert PartialAnswers.from_problem(within, 256) is not None
    assert PartialAnswers.from_problem(within.replace(groups=np.zeros(4), full_prices=within.prices), 256) is None
    assert PartialAnswers.from_problem(with_rules(problem, Rules(mandatory=[1])), 256) is None
    assert PartialAnswers.from_problem(problem.replace(any_order=False), 256) is None
    assert PartialAnswers.from_problem(free_case(1, tree=True).problem, 10**6) is None


@pytest.mark.slow
def test_more_than_are_enumerated_are_listed():
    problem = many_sensors(8)  # 65,536
    info, other = (solver.solve(problem).info for solver in (ExactFreeOrder(), Adaptive(max_nodes=4**8)))
    assert (info.status, info.gap, info.size) == ("converged", 0.0, 4**8)
    assert (other.upper, other.lower, other.size) == (info.upper, info.lower, info.size)
    search = OrderSearch(problem)
    search.run(2000)
    assert search.low - 1e-9 <= info.upper <= search.high + 1e-9


@pytest.mark.slow
def test_search_brackets_the_optimum_and_reaches_it():
    for case in cases(1030, 1034):
        check_search(case, case.optimum(), 40)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_exact_and_search_on_many_problems_of_up_to_seven_questions(block):
    for case in cases(2000 + 30 * block, 2030 + 30 * block, most=7):
        truth = check_exact(case)
        check_search(case, truth, 200)
        for solver in (FirstK(0, certificate_paths=0), Lookahead(2, certificate_paths=0)):
            assert case.run(solver.solve(case.problem))[0] >= truth - 1e-9


def test_no_fixed_order_is_better():
    for case in cases(1040, 1046, most=4):
        truth = ExactFreeOrder().solve(case.problem).info.lower
        orders = itertools.permutations(range(len(case.questions)))
        assert min(case.fixed_optimum(order) for order in orders) >= truth - 1e-9


@pytest.mark.slow
def test_search_within_budgets():
    # 1051: groups, where nothing merges although the order of asking tells
    for case in cases(1050, 1056):
        for limits in ({"max_features": 2}, {"max_cost": 0.09}, {"max_features": 3, "max_cost": 0.12}):
            problem = within_budget(case.problem, **limits)
            best = ExactFreeOrder().solve(problem)
            search = OrderSearch(problem)
            search.run()
            assert (search.low, search.high) == pytest.approx((best.info.lower, best.info.upper), abs=1e-9)
            assert evaluate(problem, best, method="exact").cost == pytest.approx(best.info.upper, abs=1e-9)


def many_sensors(n_questions=14, *, n_outcomes=3, n_classes=3, seed=0, price=0.02):
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.ones(n_outcomes), size=(n_questions, n_classes)).transpose(0, 2, 1)
    prices = price * rng.uniform(0.5, 1.5, n_questions)
    return TableProblem(np.full(n_classes, 1 / n_classes), tables, prices, any_order=True)


@pytest.mark.slow
def test_more_partial_answers_within_a_limit_are_planned_exactly_where_the_policy_comes_to():
    problem = many_sensors(10, price=0.01).replace(max_questions=6)
    policy = Adaptive(random_state=0).solve(problem)
    assert (policy.info.gap, policy.info.status) == (0.0, "converged")
    assert 50_000 < policy.info.size < 100_000  # those that leave more to ask
    assert PartialAnswers(problem).solve() == pytest.approx(policy.info.upper, abs=1e-12)
    assert evaluate(problem, policy, method="exact").cost == pytest.approx(policy.info.upper, abs=1e-12)
    assert sum(len(keys) for keys, _, _ in policy.plan) < 3**6
    without = problem.initial_belief().asking(5).update(np.array([-1]))  # where the plan says nothing
    assert policy.action(without).tolist() == policy.fallback.action(without).tolist() != [5]


@pytest.mark.slow
def test_where_an_answer_is_missing_many_partial_answers_are_planned_anew():
    """Three bits of which only all together tell the class, the first of them twice, among much noise."""
    bits = np.arange(8)[:, None] >> np.arange(3) & 1
    sure = np.stack([1 - bits.T, bits.T], axis=1) * 0.92 + 0.04
    tables = np.concatenate([sure[[0, 0, 1, 2]], np.full((36, 2, 8), 0.5)])
    problem = MixtureProblem(
        np.full(8, 0.125), bits.sum(axis=1) % 2, tables, np.full(40, 0.001), any_order=True, max_questions=4
    )
    policy = ExactFreeOrder(certificate_paths=0).solve(problem)
    assert policy.info.size > 50_000
    first = int(policy.action(problem.initial_belief())[0])
    belief = problem.initial_belief().asking(first).update(np.array([-1]))
    asked = {first}
    for _ in range(3):
        asked.add(int(policy.action(belief)[0]))
        belief = belief.asking(int(policy.action(belief)[0])).update(np.array([0]))
    assert asked == {0, 1, 2, 3}
    assert belief.stopping_cost[0] < 0.16


@pytest.mark.slow
def test_limits_end_the_search_with_bounds_that_hold():
    problem = many_sensors(10)
    short, longer = (ExactFreeOrder(most, certificate_paths=0).solve(problem).info for most in (100, 400))
    assert short.status == longer.status == "limit"
    assert short.size < longer.size < 900
    assert short.lower <= longer.lower < longer.upper <= short.upper
    with count_ticks() as looks:
        timed = ExactFreeOrder(max_seconds=60, certificate_paths=0).solve(problem).info
    assert timed.status == "limit"
    assert looks() < 70
    assert 1 < timed.size < longer.size
    assert timed.lower <= longer.lower
    wanted = ExactFreeOrder(target_gap=0.1, certificate_paths=0).solve(problem).info
    assert wanted.status == "converged"
    assert 0 < wanted.gap <= 0.1
    assert wanted.size < short.size


@pytest.mark.parametrize(
    "n_classes, seed, fallback",
    [
        pytest.param(4, 0, DeepLookaheadPolicy, marks=pytest.mark.slow),
        *((2, 0, DeepLookaheadPolicy), (2, 2, OrderBoundPolicy)),
    ],
)
def test_a_policy_of_a_limit_is_certified_by_the_least_of_what_is_known(n_classes, seed, fallback):
    """The search's own bound, what the policy costs with look-ahead, and what it costs by bounds where that is less."""
    problem = many_sensors(6, n_classes=n_classes, seed=seed)
    bare, policy = (ExactFreeOrder(10, certificate_paths=n).solve(problem) for n in (0, 2000))
    ahead, cost = (evaluate(problem, one, method="exact").cost for one in (bare, policy))
    assert bare.info.status == policy.info.status == "limit"
    assert type(policy.fallback) is fallback
    assert policy.info.upper == pytest.approx(cost, abs=1e-9)
    assert ahead < bare.info.upper
    assert policy.info.upper < ahead if fallback is OrderBoundPolicy else policy.info.upper == pytest.approx(ahead)


@pytest.mark.slow
def test_policies_of_limits_answer_whatever_is_missing_and_come_back_from_files(tmp_path):
    problem = many_sensors(6, n_classes=2)
    for most in (30, 200_000):
        policy = ExactFreeOrder(most).solve(problem)
        X = np.random.default_rng(0).integers(-1, 3, (200, 6))
        found = acquire(policy, X, record_expected=True)
        save(policy, tmp_path / "policy.seqclass")
        again = acquire(load(tmp_path / "policy.seqclass"), X)
        np.testing.assert_array_equal(found.leaf_question, again.leaf_question)
    by_bounds = free_order.PlannedPolicy(problem, policy.plan[:1], OrderBoundPolicy(RepeatValues(problem, 3)))
    save(by_bounds, tmp_path / "policy.seqclass")
    again = acquire(load(tmp_path / "policy.seqclass"), X)
    np.testing.assert_array_equal(acquire(by_bounds, X).leaf_question, again.leaf_question)


def test_what_exact_free_order_refuses():
    fixed = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    with pytest.raises(ValueError, match="fixed order; make it with any_order=True"):
        ExactFreeOrder().solve(fixed)
    with pytest.raises(ValueError, match="max_nodes"):
        ExactFreeOrder(0).solve(many_sensors(2))


def test_asking_nothing_and_everything_are_possible():
    problem = many_sensors(3).replace(prices=np.full(3, 9.0), full_prices=np.full(3, 9.0))
    policy = ExactFreeOrder().solve(problem)
    assert evaluate(problem, policy).n_features == 0
    free_of_charge = many_sensors(3).replace(prices=np.zeros(3), full_prices=np.zeros(3))
    all_of_them = evaluate(free_of_charge, FirstK(None).solve(free_of_charge)).cost
    assert ExactFreeOrder().solve(free_of_charge).info.upper == pytest.approx(all_of_them, abs=1e-12)


def test_converged_is_said_only_where_the_gap_is_small():
    problem = many_sensors(5, n_classes=2)
    poor, best = FirstK(0).solve(problem).info, ExactFreeOrder().solve(problem).info
    assert (poor.status, best.status) == ("wide gap", "converged")
    assert (poor.scope, best.scope) == ("all orders", "all orders")
    assert poor.gap > 0.02
    assert "ExactFreeOrder" in poor.advice
    assert best.advice == ""
    fixed = FirstK(0).solve(problem.replace(any_order=False)).info
    assert (fixed.status, fixed.scope) == ("wide gap", "order")
    assert "Perseus" in fixed.advice
    assert FirstK(0, certificate_paths=0).solve(problem).info.status == "converged"  # nothing was certified
    assert "max_nodes" in ExactFreeOrder(10).solve(many_sensors(6)).info.advice


def best_cost(problem, asked, weight):
    """Cost from here on of the best policy, by plain recursion: P(what was seen, class) is ``weight``."""
    tables, prices = problem.structure.class_tables, problem.prices
    cost = float((weight @ problem.decision_costs).min())
    for question in range(problem.n_questions):
        if question not in asked:
            after = sum(best_cost(problem, asked | {question}, weight * row) for row in tables[question])
            cost = min(cost, float(prices[question] * weight.sum() + after))
    return cost


def followed_cost(policy, info, weight):
    """Cost from here on of a policy, where no further answer is missing."""
    problem, question = policy.problem, int(policy.action(info)[0])
    if question < 0:
        return float((weight @ problem.decision_costs).min())
    rows = problem.structure.class_tables[question]
    after = [info.asking(question).update(np.array([v])) for v in range(len(rows))]
    costs = [followed_cost(policy, one, weight * row) for one, row in zip(after, rows)]
    return float(problem.prices[question] * weight.sum() + sum(costs))


@pytest.mark.slow
def test_after_an_answer_that_is_not_to_be_had_an_exact_plan_goes_on_as_well_as_can_be():
    asked = 0
    for seed in range(60):
        problem = many_sensors(4, n_outcomes=2 + seed % 2, n_classes=2 + seed % 3, seed=seed, price=0.05)
        problem = problem.replace(prior=np.random.default_rng(seed).dirichlet(np.ones(problem.n_classes)))
        policy = ExactFreeOrder().solve(problem)
        assert policy.info.gap == 0
        info, weight, missing = problem.initial_belief(), problem.prior, set()
        for _ in range(2):  # the first answer is missing, and if another question is asked, that one too
            question = int(policy.action(info)[0])
            if question < 0:
                break
            missing, asked = missing | {question}, asked + 1
            info = info.asking(question).update(np.array([-1]))
            best = best_cost(problem, missing, weight)
            assert followed_cost(policy, info, weight) == pytest.approx(best, abs=1e-9)
            costs = np.append(policy.continuation_cost(info), info.stopping_cost)
            assert costs.min() == pytest.approx(best, abs=1e-9)
    assert asked > 60


def test_a_missing_answer_of_a_group_leaves_the_full_price_to_be_paid():
    """The same was seen by who paid for it and who did not: what follows has another price."""
    sensor = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)
    problem = TableProblem(
        [0.5, 0.5], sensor, prices=[0.01, 0.01], groups=[0, 0], full_prices=[0.2, 0.4], any_order=True
    )
    policy = ExactFreeOrder().solve(problem)
    assert policy.action(problem.initial_belief()).tolist() == [0]
    for charged, question in ((False, -1), (True, 1)):
        belief = problem.initial_belief().asking(0).update(np.array([-1]), charge_missing=charged)
        assert policy.action(belief).tolist() == [question], charged


def test_the_time_binds_where_all_are_enumerated():
    problem = many_sensors(6, n_classes=2)
    best = ExactFreeOrder().solve(problem).info.upper
    for limit in (0, 2, 5):
        with count_ticks() as looks:
            policy = ExactFreeOrder(max_seconds=limit, certificate_paths=0).solve(problem)
        assert looks() < limit + 10
        assert policy.info.status == "limit"
        assert policy.info.lower <= best <= evaluate(problem, policy, method="exact").cost <= policy.info.upper + 1e-9


def test_a_plan_with_thousands_of_outcomes_takes_no_square_of_them() -> None:
    many = np.random.default_rng(0).dirichlet(np.full(2000, 0.3), 2).T
    once, twice = np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[0.9, 0.4], [0.1, 0.6]])
    problem = TableProblem([0.5, 0.5], [many, once, twice], prices=[0.001, 0.002, 0.003], any_order=True)
    found = PartialAnswers(problem)
    assert found.solve() == pytest.approx(optimal_cost(problem))
    tracemalloc.start()
    plan = found.plan()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(keys) for keys, _, _ in plan][:2] == [1, 2000]
    assert plan[1][1].max() > 0  # others follow the one of 2,000 outcomes, which were listed for these as well
    assert peak < 8 * 2000**2 / 4
