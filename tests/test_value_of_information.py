"""What information is worth: against the definitions by hand, and by enumeration of all answers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.analysis import value_of_information, what_if
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.costs import Visits
from seqclass.plots import ValueOfInformationDisplay
from seqclass.pomdp import (
    ExactFreeOrder,
    ExactValueIteration,
    FirstK,
    FixedPanels,
    Lookahead,
    PosteriorThreshold,
    TableProblem,
    evaluate,
    optimal_values,
)
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.visits import with_visits

matplotlib.use("Agg")
import matplotlib.pyplot as plt

#: P(negative, positive | ill, well) of two tests: sensitivity .9 and .6, specificity .8 and .95.
TESTS = [[[0.1, 0.8], [0.9, 0.2]], [[0.4, 0.95], [0.6, 0.05]]]
#: Treating costs 10 if well, leaving 100 if ill.
COSTS = [[0.0, 100.0], [10.0, 0.0]]


def two_tests(**settings: Any) -> TableProblem:
    return TableProblem([0.2, 0.8], TESTS, [1.0, 0.5], COSTS, **{"any_order": True, **settings})


def test_a_worked_toy_by_hand() -> None:
    """The definitions of R's voi: evpi = mean of max of nb - max of mean of nb, evsi = E max E(nb | data) - max E nb.

    Prior .2 ill. Treating costs .8 * 10 = 8, leaving .2 * 100 = 20: one treats. Known, nothing is lost: EVPI 8.
    First test: + ill .18, well .16: treat 1.6; - ill .02, well .64: leave 2. EVSI 8 - 3.6 = 4.4.
    Second test: + ill .12, well .04: treat .4; - ill .08, well .76: treat 7.6: it changes nothing. EVSI 0.
    Both: ++ treat .08; +- ill .072, well .152: treat 1.52; -+ treat .32; -- ill .008, well .608: leave .8. 8 - 2.72.
    Best: the first, and after - (.66) the second, which saves 2 - 1.12 = .88 for .33 there; after + it saves 0.
    """
    problem = two_tests()
    found = value_of_information(problem, ExactFreeOrder().solve(problem), population=1000, periods=10, discount=0.035)
    assert found.stopping_cost == pytest.approx(8)
    assert found.perfect == pytest.approx(8)
    np.testing.assert_allclose(found.value, [4.4, 0], atol=1e-12)
    np.testing.assert_allclose(found.net, [3.4, -0.5], atol=1e-12)
    assert found.pairs.tolist() == [[0, 1]]
    np.testing.assert_allclose([*found.pair_value, *found.pair_price], [5.28, 1.5])
    np.testing.assert_allclose(found.asked, [1, 0.66])
    np.testing.assert_allclose(found.value_when_asked, [4.4, 0.88 / 0.66])
    np.testing.assert_allclose([found.policy_value, found.policy_price, found.policy_net], [5.28, 1.33, 3.95])
    assert (found.method, found.policy_std_error, found.value_std_error.tolist()) == ("exact", 0.0, [0.0, 0.0])
    # pop_voi of voi: voi * pop / dis * (1 - exp(-dis * time))
    many = 1000 / 0.035 * (1 - math.exp(-0.35))
    assert found.population == pytest.approx(many)
    summary = found.to_frame("summary").set_index("information")
    assert summary.population_net.to_dict() == pytest.approx({"perfect": 8 * many, "policy": 3.95 * many})
    assert found.to_frame("pairs").synergy[0] == pytest.approx(0.88)
    # two draws of nb, by the functions of voi themselves, (states, decisions)
    nb, weight = -np.array(COSTS), np.array([0.2, 0.8])
    assert found.perfect == pytest.approx(weight @ nb.max(axis=1) - (weight @ nb).max())


def draw(rng: np.random.Generator, n_questions: int = 4, **settings: Any) -> TableProblem:
    n_classes = int(rng.integers(2, 4))
    tables = [rng.dirichlet(np.ones(int(rng.integers(2, 4))), n_classes).T for _ in range(n_questions)]
    prices = rng.uniform(0, 0.1, n_questions).round(3)
    costs = np.column_stack([rng.uniform(0, 1, (n_classes, n_classes)), np.full(n_classes, 0.3)])
    groups = np.array([0, 0, -1, 1])[:n_questions]
    full = prices + np.where(groups == 0, rng.uniform(0, 0.1, n_questions), 0)
    shares = rng.dirichlet(np.ones(n_classes))
    more = {"groups": groups, "full_prices": full, **settings}
    return TableProblem(shares, tables, prices, costs, **more)


def cost_after(problem: TableProblem, prior: Any, questions: tuple[int, ...]) -> float:
    """Expected cost of deciding once some questions are answered, one set of answers after the other."""
    total = 0.0
    for answers in itertools.product(*(range(problem.n_outcomes[q]) for q in questions)):
        joint = [float(p) for p in prior]
        for q, v in zip(questions, answers):
            joint = [p * float(problem.likelihoods[q][v][c]) for c, p in enumerate(joint)]
        total += min(
            sum(p * problem.decision_costs[c, d] for c, p in enumerate(joint)) for d in range(problem.n_decisions)
        )
    return total


@pytest.mark.parametrize("seed", range(25))
def test_values_are_those_of_plain_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = draw(rng, any_order=bool(seed % 3))
    policy = Lookahead(certificate_paths=0).solve(problem)
    found = value_of_information(problem, policy)
    now = cost_after(problem, problem.prior, ())
    assert found.stopping_cost == pytest.approx(now)
    assert found.perfect == pytest.approx(now - problem.prior @ problem.decision_costs.min(axis=1))
    alone = [now - cost_after(problem, problem.prior, (q,)) for q in range(4)]
    np.testing.assert_allclose(found.value, alone, atol=1e-12)
    np.testing.assert_allclose(found.price, problem.full_prices)
    assert found.pairs.tolist() == [list(pair) for pair in itertools.combinations(range(4), 2)]
    both = [now - cost_after(problem, problem.prior, pair) for pair in itertools.combinations(range(4), 2)]
    np.testing.assert_allclose(found.pair_value, both, atol=1e-12)
    full, less = problem.full_prices, problem.prices
    dear = [
        min(full[a] + (less if b == 1 and a == 0 else full)[b], full[b] + (less if b == 1 else full)[a])
        for a, b in found.pairs
    ]
    np.testing.assert_allclose(found.pair_price, dear)
    # along the policy: what questions bring where they are asked adds up to what it saves
    expected = evaluate(problem, policy)
    assert found.policy_net == pytest.approx(now - expected.cost)
    assert found.policy_price == pytest.approx(expected.price)
    assert np.nansum(found.asked * found.value_when_asked) == pytest.approx(found.policy_value)
    # nothing is worth more than perfect information, and a pair at least as much as either
    most = [found.policy_net, *found.value, *found.pair_value]
    assert max(most) <= found.perfect + 1e-12
    assert (found.pair_value >= found.value[found.pairs].max(axis=1) - 1e-12).all()


def test_any_belief() -> None:
    problem = two_tests()
    policy = ExactFreeOrder().solve(problem)
    other = value_of_information(problem, policy, belief=[0.05, 0.95])
    same = value_of_information(problem.replace(prior=np.array([0.05, 0.95])), policy)
    np.testing.assert_allclose(other.value, same.value)
    np.testing.assert_allclose([other.perfect, other.policy_net], [same.perfect, same.policy_net])
    # after the first test was positive or negative, the second is worth nothing or something, the first is gone
    after = problem.initial_belief().asking(0).update(np.array([1, 0]), rows=np.zeros(2, dtype=int))
    one, two = (value_of_information(problem, policy, belief=after[np.array([row])]) for row in (0, 1))
    assert np.isnan(one.value[0])
    np.testing.assert_allclose([one.value[1], two.value[1]], [0, 0.88 / 0.66], atol=1e-12)
    np.testing.assert_allclose(two.policy_net, 0.88 / 0.66 - 0.5)  # what was paid before is gone
    assert np.isnan([*two.pair_value, *two.pair_price]).all()
    assert "of 1 question " in repr(two)
    both = value_of_information(problem, policy, belief=after)
    np.testing.assert_allclose(both.value[1], two.value[1] / 2)
    np.testing.assert_allclose(both.policy_net, (one.policy_net + two.policy_net) / 2)


def test_a_fixed_order_at_any_stage_and_contexts() -> None:
    fixed, free = two_tests(any_order=False), two_tests()
    later = fixed.initial_belief().update(np.array([0]))
    found = value_of_information(fixed, FirstK(None).solve(fixed), belief=later)
    np.testing.assert_allclose(found.value, [np.nan, 0.88 / 0.66])
    # where likelihoods look at the answer before, only what comes next has a value
    tables = [np.array([TESTS[0]]), np.array([TESTS[1], TESTS[0]])]
    follow = [np.array([[0, 1, 0]]), np.array([[0, 0, 0]] * 2)]
    staged = TableProblem([0.2, 0.8], tables, [1.0, 0.5], COSTS, transitions=follow)
    found = value_of_information(staged, FirstK(None).solve(staged))
    np.testing.assert_allclose(found.value, [4.4, np.nan])
    assert found.value_when_asked[1] >= 0
    assert value_of_information(free).net[0] == pytest.approx(3.4)  # of a problem alone its default solver's policy


def test_pairs_are_limited_and_ordered_together_where_visits_cost_something() -> None:
    problem = draw(np.random.default_rng(3), any_order=True)
    policy = FirstK(1).solve(problem)
    for most, left in ((0, 0), (1, 1), (2, 1), (3, 3), (5, 3), (6, 6), (300, 6)):
        found = value_of_information(problem, policy, max_pairs=most)
        assert (len(found.pairs), found.n_possible_pairs) == (left, 6)
        assert set(found.pairs.ravel().tolist()) <= set(np.argsort(-found.value)[:4].tolist())
    best = value_of_information(problem, policy, max_pairs=1)
    assert best.pairs[0].tolist() == sorted(np.argsort(-best.value)[:2].tolist())
    visited = with_visits(two_tests(), Visits(0.25, np.array([1.0, 3.0]), 0.1))
    found = value_of_information(visited, FirstK(0).solve(visited))
    np.testing.assert_allclose([*found.price, *found.pair_price], [1.35, 1.05, 1.5 + 0.25 + 0.3])
    single = with_visits(two_tests(), Visits(0.25, np.zeros(2), max_panel=1))
    assert value_of_information(single, FirstK(0).solve(single)).pair_price[0] == pytest.approx(2.0)


@pytest.mark.slow
def test_simulated_figures_have_standard_errors_that_hold() -> None:
    problem = two_tests()
    policy = ExactFreeOrder().solve(problem)
    exact = value_of_information(problem, policy)
    many = [value_of_information(problem, policy, method="simulation", n_paths=400, random_state=s) for s in range(40)]
    assert repr(many[0]) == repr(
        value_of_information(problem, policy, method="simulation", n_paths=400, random_state=0)
    )
    net = np.array([one.policy_net for one in many])
    error = np.mean([one.policy_std_error for one in many])
    assert abs(net.mean() - exact.policy_net) < 4 * error / math.sqrt(len(many))
    assert 0.75 < net.std() / error < 1.3
    assert "standard error" in repr(many[0])
    # what a question brings where it stands is exact at each history, and varies over those in which it is asked
    coins = [[[0.8, 0.3], [0.2, 0.7]], [[0.6, 0.3], [0.4, 0.7]], [[0.9, 0.6], [0.1, 0.4]], [[0.7, 0.2], [0.3, 0.8]]]
    four = TableProblem([0.4, 0.6], coins, 0.01)  # in one order: each is asked where it stands
    long = ExactValueIteration(certificate_paths=0).solve(four)
    exact = value_of_information(four, long)
    some = [
        value_of_information(four, long, max_pairs=0, method="simulation", n_paths=400, random_state=s)
        for s in range(25)
    ]
    means, errors = (np.array([getattr(one, name) for one in some]) for name in ("value_when_asked", "value_std_error"))
    vary = errors.mean(axis=0) > 1e-9
    assert vary.sum() >= 2
    apart = means.mean(axis=0) - exact.value_when_asked
    assert (np.abs(apart) <= 4 * errors.mean(axis=0) / 5 + 1e-12)[~np.isnan(apart)].all()
    spread = means[:, vary].std(axis=0) / errors[:, vary].mean(axis=0)
    assert ((spread > 0.6) & (spread < 1.5)).all()


@pytest.fixture(scope="module")
def irises() -> seqclass.SequentialClassifier:
    X, y = load_iris(return_X_y=True, as_frame=True)
    costs = Costs([0.02, 0.02, 0.1, 0.1], unit="EUR")
    return seqclass.SequentialClassifier(feature_costs=costs, order="adaptive", known=["sepal width (cm)"]).fit(X, y)


def test_a_classifier_has_names_and_begins_as_its_cases_do(irises: seqclass.SequentialClassifier) -> None:
    found = value_of_information(irises, population=50)
    assert set(found.names) == {"sepal length (cm)", "petal length (cm)", "petal width (cm)"}
    begun, share = initial_beliefs(irises.problem_)
    assert found.stopping_cost == pytest.approx(share @ begun.stopping_cost)
    assert len(begun) > 1
    frame = found.to_frame()
    assert frame.columns.tolist() == [
        *("question", "price", "value", "net", "asked", "value_when_asked", "value_std_error", "population_net")
    ]
    assert frame.net.is_monotonic_decreasing
    assert frame.population_net[0] == pytest.approx(50 * frame.net[0])
    assert found.to_frame("pairs").columns[:5].tolist() == ["question", "other", "price", "value", "net"]
    text = found._repr_html_()
    assert "petal width (cm)" in text
    assert "EVPI" in text
    assert len(str(found).splitlines()) == 3


def test_pictures(irises: seqclass.SequentialClassifier) -> None:
    for display in (
        value_of_information(irises).plot(title="irises"),
        ValueOfInformationDisplay.from_estimator(irises, max_names=3),
        ValueOfInformationDisplay.from_policy(irises.policy_),
    ):
        points = np.vstack([drawn.get_offsets() for drawn in display.ax_.collections[1:]])
        values = display.values
        assert sorted(points.tolist()) == sorted(np.column_stack([values.price, values.value]).tolist())
        names = [text.get_text() for text in display.ax_.texts]
        assert len(names) <= 3
        assert set(names) <= set(values.names)
    plt.close("all")
    none = TableProblem([1.0, 0.0], TESTS, 0.0, COSTS, any_order=True)  # nothing to find out, nothing to pay
    assert len(value_of_information(none).plot().ax_.texts) == 0
    plt.close("all")


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"belief": [0.5, 0.6]}, "belief must sum to 1"),
        ({"belief": two_tests().initial_belief(0)}, "belief must be about at least one case"),
        ({"belief": draw(np.random.default_rng(0)).initial_belief()}, "of this problem"),
        ({"max_pairs": -1}, "max_pairs must be at least 0"),
        ({"population": -1}, "population must be between 0 and inf"),
        ({"population": 1, "discount": -0.1}, "discount must be between 0 and inf"),
        ({"population": 1, "periods": -1}, "periods must be between 0 and inf"),
        ({"method": "guess"}, "method must be"),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], words: str) -> None:
    problem = two_tests()
    with pytest.raises(ValueError, match=words):
        value_of_information(problem, FirstK(0).solve(problem), **settings)


def test_what_is_no_problem_is_refused() -> None:
    with pytest.raises(TypeError, match="problem must be an AcquisitionProblem or a fitted classifier"):
        value_of_information(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="of must be"):
        value_of_information(two_tests()).to_frame("answers")
    assert value_of_information(two_tests(), population=3).population == 3  # a period, no discount


def test_at_another_belief_the_policy_is_planned_for_that_belief():
    """A plan of partial answers from the prior on says nothing of another belief."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        tests = rng.dirichlet(np.ones(2), size=(3, 3)).transpose(0, 2, 1)
        problem = TableProblem(rng.dirichlet(np.ones(3)), tests, prices=0.03, any_order=True)
        belief = rng.dirichlet(np.ones(3) * 0.5)
        values = value_of_information(problem, belief=belief)
        least = optimal_values(problem, belief)["total"].min()
        assert values.policy_net == pytest.approx(values.stopping_cost - least, abs=1e-9)


@pytest.mark.slow_cells("bayes-panels", "tree-panels")
@pytest.mark.parametrize("how", [{}, {"visit_cost": 0.01}], ids=["one by one", "panels"])
@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork()], ids=["bayes", "tree"])
def test_what_was_told_before_its_turn_is_passed_over(model: Any, how: dict[str, float]) -> None:
    """Values along a policy are those of all cases that sessions go on to, and what was answered has none."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    alike = rng.random(300) < 0.2 + 0.6 * y
    X = np.column_stack([rng.random(300) < np.where(alike, 0.85, 0.25) for _ in range(5)]).astype(int)
    solver = FixedPanels(2, certificate_paths=0) if how else PosteriorThreshold(0.9, certificate_paths=0)
    settings: dict[str, Any] = {"order": "given", "discretizer": "precomputed", "feature_costs": Costs(0.01, **how)}
    clf = SequentialClassifier(model, solver, **settings).fit(X, y)

    def go_on(told: dict[int, int]) -> Any:
        case = clf.session(known={1: 1, 3: 0})
        for column, value in told.items():
            case.observe(column, value)
        return case, np.array([[({1: 1, 3: 0} | told).get(j, -1) for j in range(5)]])

    def cost(told: dict[int, int]) -> float:
        case, seen = go_on(told)
        if (question := case.next_feature) is None:
            return float(case.paid + case.expected_cost)
        chance = clf.model_.predictive(question.column, seen)[0]
        return sum(chance[v] * cost(told | {question.column: v}) for v in range(2))

    (case, seen), belief = go_on({}), clf.belief({1: 1, 3: 0})
    assert cost({}) < case.expected_cost + 0.1
    assert clf.policy_.value(belief)[0] == pytest.approx(cost({}), abs=1e-12)
    values = value_of_information(clf, belief=belief)
    assert values.policy_net == pytest.approx(case.expected_cost - cost({}), abs=1e-12)
    assert np.isnan(values.value).tolist() == [False, True, False, True, False]
    chance = clf.model_.predictive(2, seen)[0]
    after = [clf.model_.posterior(np.where(np.arange(5) == 2, v, seen))[0].min() for v in range(2)]
    assert values.value[2] == pytest.approx(max(case.expected_cost - chance @ after, 0), abs=1e-12)


def test_what_pandas_has_by_name_goes_by_the_names() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = pd.DataFrame(rng.normal(y[:, None] * [2, 1], 1.0, (100, 2)), columns=["a", "b"])
    clf = SequentialClassifier(order="adaptive").fit(X, np.where(y, "ill", "well"))
    problem, policy = clf.problem_, clf.policy_
    chance = pd.Series({"well": 0.9, "ill": 0.1})
    found, wanted = (value_of_information(clf, belief=one, max_pairs=0) for one in (chance, [0.1, 0.9]))
    np.testing.assert_array_equal(found.value, wanted.value)
    lookahead = Lookahead(certificate_paths=0).solve(problem)
    assert lookahead.value(chance) == lookahead.value([0.1, 0.9])
    costs = pd.DataFrame([[0, 1], [5, 0]], index=["well", "ill"], columns=["well", "ill"])
    for name, by_name, plain in (
        ("prior", chance, [0.1, 0.9]),
        ("prices", pd.Series({"b": 0.2, "a": 0.01}), [{"a": 0.01, "b": 0.2}[q] for q in problem.names.questions]),
        ("decision_costs", costs, [[0, 5], [1, 0]]),
    ):
        told: Any = {name: by_name}, {name: plain}
        one, other = (what_if(problem, policy, **one) for one in told)
        assert one.after.cost == other.after.cost
