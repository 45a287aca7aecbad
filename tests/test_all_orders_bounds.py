"""Bounds over all orders are below the optimum, and close where they should be."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from free_cases import free_case

from seqclass.pomdp import (
    ExactFreeOrder,
    FirstK,
    GridValueIteration,
    Lookahead,
    MixtureProblem,
    TableProblem,
    certify,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.account import planned_prices, price_of_question
from seqclass.pomdp.bounds import policy_cost
from seqclass.pomdp.bounds.certificate import lowest
from seqclass.pomdp.bounds.hints import HintedValues, bounds_of
from seqclass.pomdp.bounds.optimum import OnePriceBounds
from seqclass.pomdp.bounds.policy_cost import PolicyCost
from seqclass.pomdp.bounds.repeats import RepeatValues
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.solvers.simple import OrderBoundPolicy
from seqclass.pomdp.walk import join_beliefs

pytestmark = pytest.mark.usefixtures("whole_certificates")


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
    return TableProblem(prior, tables, prices, costs, groups=groups, full_prices=full, any_order=True)


def everywhere(problem, rng):
    """Some information states of every stage, with answers that are missing among them."""
    info = problem.initial_belief(6)
    while True:
        yield info
        if info.stage == problem.n_stages:
            return
        parts = []
        for row in range(len(info)):
            one = info[np.array([row])]
            question = int(rng.choice(np.flatnonzero(one.available[0])))
            asked = one.asking(question)
            outcome = (
                -1
                if rng.random() < 0.2
                else int(rng.choice(asked.outcome_probabilities.size, p=asked.outcome_probabilities[0]))
            )
            parts.append(asked.update(np.array([outcome])))
        info = join_beliefs(parts)


def optimum_from(info):
    """Optimal cost of going on from each row, by all that may follow: an independent recursion."""

    def value(one):
        best = float(one.stopping_cost[0])
        for question in np.flatnonzero(one.available[0]).tolist():
            asked = one.asking(question)
            cost = float(price_of_question(asked)[0])
            for outcome in np.flatnonzero(asked.outcome_probabilities[0] > 0).tolist():
                cost += float(asked.outcome_probabilities[0, outcome]) * value(asked.update(np.array([outcome])))
            best = min(best, cost)
        return best

    rows = np.column_stack([info.probabilities, info.available, np.broadcast_to(info.prices, info.available.shape)])
    _, different, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.array([value(info[np.array([row])]) for row in different])[place.ravel()]


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), most_once=st.integers(0, 4), n_classes=st.sampled_from([2, 2, 3]))
def test_values_of_repeats_are_below_the_optimum_everywhere(seed, most_once, n_classes):
    problem = naive_problem(seed, n_questions=1 + seed // 6 % 3, n_classes=n_classes)
    values, weak = RepeatValues(problem, most_once), OnePriceBounds(problem)
    for info in everywhere(problem, np.random.default_rng(seed)):
        truth = optimum_from(info)
        for bounds in (values, weak):
            assert (bounds.lower(info) <= truth + 1e-9).all()
            costs = bounds.question_bounds(info)
            assert np.isinf(costs[~info.available]).all()
            assert (np.minimum(costs.min(axis=1, initial=np.inf), info.stopping_cost) <= truth + 1e-9).all()


def mixture_problem(seed, *, n_questions=3, price=0.06):
    """Two classes of two hidden states each, now and then one that cannot be."""
    rng = np.random.default_rng(seed)
    tables = [rng.dirichlet(np.full(rng.integers(2, 4), 0.8), size=4).T for _ in range(n_questions)]
    prior = rng.dirichlet(np.full(4, 2.0))
    if seed % 3 == 0:
        prior = np.array([*prior[:3] / prior[:3].sum(), 0.0])
    return MixtureProblem(prior, [0, 0, 1, 1], tables, rng.uniform(0.2, 1.0, n_questions) * price, any_order=True)


@pytest.mark.slow_cells("12", "6", "9")
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow if seed in (4, 5, 8, 10, 11, 13) else ()) for seed in range(14)]
)
def test_values_with_a_hint_are_below_the_optimum_everywhere(seed):
    n = 1 + seed // 6 % 3
    hidden = seed % 4 == 3
    problem = mixture_problem(seed, n_questions=n) if hidden else naive_problem(seed, n_questions=n, n_classes=4)
    values = HintedValues(problem)
    assert values.value <= optimal_cost(problem) + 1e-9
    for info in everywhere(problem, np.random.default_rng(seed)):
        truth = optimum_from(info)
        assert (values.lower(info) <= truth + 1e-9).all()
        costs = values.question_bounds(info)
        assert np.isinf(costs[~info.available]).all()
        assert (np.minimum(costs.min(axis=1, initial=np.inf), info.stopping_cost) <= truth + 1e-9).all()


@pytest.mark.slow
def test_a_hint_makes_problems_of_few_classes():
    """No policy without a hint costs less than the best with it, whatever the hint; theirs are the values."""
    rng = np.random.default_rng(0)
    problem = naive_problem(0, n_questions=5, n_classes=6, price=0.03)
    problem = problem.replace(groups=None, full_prices=problem.prices)
    truth, values = optimal_cost(problem), HintedValues(problem)

    def hinted(faces, shares):
        total = 0.0
        for states, share in zip(faces, shares):
            mass = share * problem.prior[states]
            part = TableProblem(
                mass / mass.sum(),
                [table[:n, states] for table, n in zip(problem.structure.class_tables, problem.n_outcomes)],
                problem.prices,
                problem.decision_costs[states],
                any_order=True,
            )
            total += mass.sum() * optimal_cost(part)
        return total

    found = hinted([face.states for face in values.faces], [face.share for face in values.faces])
    assert 0.8 * found <= values.value <= found + 1e-9 <= truth + 2e-9
    # any other hint is none the wiser, and none the dearer
    pairs = [np.array(pair) for pair in itertools.combinations(range(6), 2)]
    for _ in range(3):
        share = rng.dirichlet(np.ones(5), size=6)
        each = [np.array([share[i, j - 1], share[j, i]]) for i, j in pairs]
        assert hinted(pairs, each) <= min(truth, values.value) + 1e-9


def exchangeable_optimum(prior, rates, price, n_questions):
    """Optimal cost of questions of two answers that are all alike: only how many said yes matters."""
    value = None
    for asked in range(n_questions, -1, -1):
        yes = np.arange(asked + 1)[:, None]
        joint = prior * rates**yes * (1 - rates) ** (asked - yes)
        stop = joint.sum(axis=1) - joint.max(axis=1)
        value = stop if value is None else np.minimum(stop, price * joint.sum(axis=1) + value[:-1] + value[1:])
    return float(value[0])


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "share"), [pytest.param(4, 0.75, marks=pytest.mark.slow), (6, 0.75)])
def test_bounds_of_many_classes_are_near_the_optimum(n_classes, share):
    rates, prior = np.linspace(0.08, 0.92, n_classes), np.full(n_classes, 1 / n_classes)
    tables = np.tile(np.stack([1 - rates, rates]), (15, 1, 1))
    problem = TableProblem(prior, tables, 0.01, any_order=True)
    truth, values = exchangeable_optimum(prior, rates, 0.01, 15), bounds_of(problem)
    assert isinstance(values, HintedValues)
    assert share * truth <= values.value <= truth
    assert OrderSearch(problem).low < 0.4 * truth
    if n_classes == 4:
        certificate = certify(problem, FirstK(0, certificate_paths=0).solve(problem), max_histories=1, n_paths=10)
        assert values.value <= certificate.lower <= truth


@pytest.mark.slow
def test_a_search_closes_sooner_with_hints():
    problem = naive_problem(3, n_questions=7, n_classes=4, price=0.03)
    found = ExactFreeOrder(60, certificate_paths=0).solve(problem).info
    without = OrderSearch(problem)
    without.run(60)
    assert found.lower <= optimal_cost(problem) + 1e-9
    assert (found.upper - found.lower) < 0.6 * (without.high - without.low)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_bounds_are_free_of_units_and_of_what_cannot_be():
    tables, wrong = np.random.default_rng(0).dirichlet(np.ones(2), size=(6, 5)).transpose(0, 2, 1), 1 - np.eye(5)
    found = [
        bounds_of(TableProblem(np.full(5, 0.2), tables, 0.02 * unit, unit * wrong, any_order=True)).value / unit
        for unit in (1e-9, 1.0, 1e12)
    ]
    np.testing.assert_allclose(found, found[1], rtol=1e-9)
    assert found[1] > 0.1
    any_order = TableProblem(np.full(5, 0.2), tables[:3], 0.0, wrong, any_order=True)
    assert 0.1 < bounds_of(any_order).value <= optimal_cost(any_order)
    sure = TableProblem([1.0, 0, 0, 0, 0], tables, 0.02, wrong, any_order=True)
    assert bounds_of(sure).lower(sure.initial_belief()).tolist() == [0.0]
    assert bounds_of(sure).question_bounds(sure.initial_belief())[0].tolist() == [0.02] * 6


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_where_there_is_nothing_to_ask_or_to_tell(n_classes):
    for tables in (np.empty((0, 2, n_classes)), np.full((3, 2, n_classes), 0.5)):
        problem = TableProblem(np.full(n_classes, 1 / n_classes), tables, np.full(len(tables), 0.1), any_order=True)
        policy = FirstK(0, certificate_paths=0).solve(problem)
        found = certify(problem, policy, method="simulation", n_paths=10)
        assert found.lower == found.upper == pytest.approx(1 - 1 / n_classes)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_of_questions_that_are_alike_answers_are_counted(n_classes):
    """Twenty-four questions have 3^24 partial answers, and few counts: the optimum takes no time."""
    rates, prior = np.linspace(0.1, 0.85, n_classes), np.full(n_classes, 1 / n_classes)
    tables = np.tile(np.stack([1 - rates, rates]), (24, 1, 1))
    problem = TableProblem(prior, tables, 0.01, any_order=True)
    assert optimal_cost(problem, max_histories=5000) == pytest.approx(exchangeable_optimum(prior, rates, 0.01, 24))
    short = TableProblem(prior, tables, 0.01, any_order=True, max_questions=3)
    assert optimal_cost(short) == pytest.approx(exchangeable_optimum(prior, rates, 0.01, 3))


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 2)
@given(seed=st.integers(0, 10_000))
def test_the_optimum_with_questions_alike_is_that_of_all_told_apart(seed):
    rng = np.random.default_rng(seed)
    kinds = [rng.dirichlet(np.full(2 + kind, 0.8), size=4).T for kind in range(2)]
    which = rng.integers(0, 2, 4)
    prices = np.array([0.02, 0.03])[which] + 0.01 * (rng.random(4) < 0.2)
    problem = MixtureProblem(
        rng.dirichlet(np.full(4, 2.0)), [0, 0, 1, 1], [kinds[kind] for kind in which], prices, any_order=True
    )
    assert optimal_cost(problem) == pytest.approx(float(optimum_from(problem.initial_belief())[0]), abs=1e-12)


def many_states(n_states, n_questions=3):
    rng = np.random.default_rng(n_states)
    tables = rng.dirichlet(np.ones(2), size=(n_questions, n_states)).transpose(0, 2, 1)
    return MixtureProblem(np.full(n_states, 1 / n_states), np.arange(n_states) % 4, tables, 0.02, any_order=True)


def test_of_many_states_a_search_has_no_hints_and_of_more_there_are_none():
    assert bounds_of(many_states(20)) is None
    with pytest.raises(ValueError, match="at most 100 hidden states"):
        HintedValues(many_states(101))


@pytest.mark.slow
@pytest.mark.parametrize("n_states", [17, pytest.param(30, marks=pytest.mark.slow)])
def test_hints_of_pairs_of_many_states_are_below_the_optimum_everywhere(n_states):
    problem = many_states(n_states)
    values = HintedValues(problem)
    assert all(len(face.states) == 2 for face in values.faces)
    for info in everywhere(problem, np.random.default_rng(n_states)):
        assert (values.lower(info) <= optimum_from(info) + 1e-9).all()
    one_price = OrderSearch(problem)
    searched = OrderSearch(problem, values)
    for search in (one_price, searched):
        search.run(10)
        assert search.low <= optimal_cost(problem) + 1e-9


def test_asked_once_each_the_values_are_the_optimum():
    for seed in range(12):
        problem = naive_problem(seed)
        values, truth = RepeatValues(problem, problem.n_questions), optimal_cost(problem)
        assert len(values.once) == problem.n_questions
        assert truth * (1 - 2e-3) - 1e-9 <= values.value <= truth + 1e-9


@pytest.mark.slow
def test_more_questions_asked_once_never_loosen_the_bound():
    for seed in range(20, 23):
        problem = naive_problem(seed, n_questions=6)
        bounds = [RepeatValues(problem, most).value for most in range(5)]
        assert (np.diff(bounds) >= -1e-9).all()
        assert bounds[-1] <= optimal_cost(problem) + 1e-9


@pytest.mark.slow
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


def cost_of(policy, n_paths, seed):
    """Estimate and upper end of a policy's cost by paths."""
    cost = PolicyCost(policy.problem, policy, np.random.default_rng(seed))
    cost.run(n_paths)
    return cost.ends(0.01)


def test_what_a_policy_costs_where_all_histories_weigh_enough():
    for seed in range(30, 36):
        problem = naive_problem(seed)
        for policy in (OrderBoundPolicy(RepeatValues(problem, 0)), Lookahead(1, certificate_paths=0).solve(problem)):
            exact = evaluate(problem, policy, method="exact").cost
            assert cost_of(policy, 10**6, seed) == pytest.approx((exact, exact), abs=1e-9)


@pytest.mark.slow
def test_what_is_sampled_of_a_policy_s_cost_is_right_on_average_and_too_low_seldom():
    """A dear branch of little weight: the mean of few paths misses it, its upper end must not."""
    problem = naive_problem(40, n_questions=5)
    policy = FirstK(None, certificate_paths=0).solve(problem)
    exact = evaluate(problem, policy, method="exact").cost
    found = np.array([cost_of(policy, 3, seed) for seed in range(144)])
    assert found[:, 0].mean() == pytest.approx(exact, abs=5 * found[:, 0].std() / 12)
    assert found[:, 0].std() > 1e-5
    assert (found[:, 1] < exact).mean() <= 0.02


@pytest.mark.slow
def test_of_many_outcomes_a_few_are_followed_which_is_right_on_average_and_too_low_seldom():
    rng, visits = np.random.default_rng(0), []
    tables = np.stack([rng.dirichlet(np.ones(60), size=2).T for _ in range(3)])
    problem = TableProblem([0.6, 0.4], tables, prices=0.03, any_order=True)
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    exact = evaluate(problem, policy, method="exact", max_histories=10**6).cost
    real, owner = policy_cost.PolicyCost._path_costs, policy_cost.PolicyCost
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, "_path_costs", lambda *given: visits.append(real(*given)) or visits[-1])
        found = np.array([cost_of(policy, 100, seed) for seed in range(100)])
    assert found[:, 0].mean() == pytest.approx(exact, abs=4 * found[:, 0].std() / 10)
    assert found[:, 0].std() > 1e-6
    assert (found[:, 1] < exact).mean() <= 0.02
    assert max(len(paths.cost) for paths in visits) < 3000  # and not 60 for each of a hundred histories


@pytest.mark.slow
def test_certificates_of_all_orders_bracket_the_optimum():
    for seed in range(1100, 1104):
        case = free_case(seed, tree=bool(seed % 2), most=4)
        truth = case.optimum()
        for solver in (FirstK(0, certificate_paths=0), Lookahead(2, certificate_paths=0)):
            policy = solver.solve(case.problem)
            cost = case.run(policy)[0]
            assert cost >= truth - 1e-9
            for options in ({}, {"max_histories": 2}, {"method": "deterministic"}, {"method": "simulation"}):
                found = certify(case.problem, policy, n_paths=1000, **options)
                assert found.scope == "all orders"
                assert found.lower <= truth + 1e-9
                assert found.upper >= cost - (0.02 if found.n_paths else 1e-9)
        assert lowest(case.problem, bounds_of(case.problem)) <= truth + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "n_questions"), [(2, 10), (4, 5)])  # by values of repeats, and by paths
def test_width_is_of_what_a_policy_of_any_order_costs(n_classes, n_questions):
    problem = naive_problem(1, n_questions=n_questions, n_classes=n_classes, price=0.02 if n_classes == 2 else 0.002)
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    first, wide, narrow, most = (
        certify(problem, policy, method="deterministic", max_histories=1, n_paths=20, **given)
        for given in ({}, {"width": 1.0}, {"width": 0.1}, {"width": 1e-9, "max_paths": 70})
    )
    assert (first.n_paths, wide.n_paths) == (20, 20)
    assert most.n_paths == (40 if n_classes == 2 else 70)  # of repeats, none is left to be drawn
    assert 40 <= narrow.n_paths < 1_000_000
    assert narrow.upper - narrow.upper_mean <= 0.1 * narrow.upper
    assert first.upper - first.upper_mean > 0.1 * first.upper
    assert first.upper < wide.upper  # looking at more than once is paid for
    cost = evaluate(problem, policy, method="exact", max_histories=10**7).cost
    assert narrow.upper_mean == pytest.approx(cost, rel=0.05)
    assert narrow.upper >= cost


@pytest.mark.parametrize(
    ("n_questions", "limit"),
    [(8, None), (12, 3)],  # 3^8 = 6561 in all; 313 that leave more to ask
)
def test_certificates_look_at_partial_answers_that_are_too_many_to_visit(n_questions, limit):
    tables = np.random.default_rng(1).dirichlet(np.ones(2), size=(n_questions, 3)).transpose(0, 2, 1)
    problem = TableProblem(np.full(3, 1 / 3), tables, prices=0.005, any_order=True, max_questions=limit)
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    found = certify(problem, policy, max_histories=400 if limit is None else 50)
    assert (found.method, found.n_paths) == ("exact", 0)
    assert found.lower == pytest.approx(ExactFreeOrder().solve(problem).info.upper, abs=1e-9)
    assert found.upper == pytest.approx(evaluate(problem, policy, method="exact").cost, abs=1e-9)


def test_a_fixed_order_may_be_compared_with_all_orders():
    for seed in (1, 2, 4, 5):  # no groups
        any_order = naive_problem(seed)
        fixed = any_order.replace(any_order=False)
        policy = GridValueIteration().solve(fixed)
        order, every = certify(fixed, policy), certify(fixed, policy, scope="all orders")
        assert (order.scope, every.scope) == ("order", "all orders")
        assert every.lower == pytest.approx(optimal_cost(any_order), abs=1e-9)
        assert every.lower <= order.lower + 1e-9
        assert every.upper == order.upper
        assert "over all orders" in str(every)
        assert "in this order" in str(order)
        relaxed = certify(fixed, policy, scope="all orders", max_histories=1, n_paths=500)
        assert relaxed.lower <= every.lower + 1e-9


def test_discounts_count_in_all_orders() -> None:
    """What the first of a group costs after another one is known in a fixed order too."""
    any_order = naive_problem(3, n_questions=4)
    any_order = any_order.replace(
        groups=np.array([0, 0, -1, -1]), full_prices=any_order.prices + np.array([0.05, 0.02, 0, 0])
    )
    fixed = any_order.replace(any_order=False)
    every = certify(fixed, FirstK(0, certificate_paths=0).solve(fixed), scope="all orders")
    assert every.lower == pytest.approx(optimal_cost(any_order), abs=1e-9)
    assert planned_prices(fixed).tolist() == [any_order.full_prices[0], *any_order.prices[1:]]


def test_scopes_that_are_not_to_be_had():
    any_order = naive_problem(3, n_questions=4)
    with pytest.raises(ValueError, match=r'scope="order".*needs a fixed order'):
        certify(any_order, FirstK(0, certificate_paths=0).solve(any_order), scope="order")
    contexts = TableProblem(
        [0.5, 0.5],
        [np.full((1, 2, 2), 0.5), np.full((2, 2, 2), 0.5)],
        0.1,
        transitions=[[[0, 1, 0]], [[0, 0, 0], [0, 0, 0]]],
    )
    with pytest.raises(ValueError, match="contexts belong to its order"):
        certify(contexts, FirstK(0, certificate_paths=0).solve(contexts), scope="all orders")
    with pytest.raises(ValueError, match="two or three classes"):
        RepeatValues(naive_problem(0, n_classes=4))
