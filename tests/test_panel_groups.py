"""Groups whose full price one member pays, where several of them are ordered in one visit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from live_cases import reader

from seqclass import Costs, SequentialClassifier
from seqclass.analysis import sensitivity
from seqclass.bn import NaiveBayes
from seqclass.costs import Visits
from seqclass.experiment import action_table
from seqclass.export import policy_data
from seqclass.pomdp import MixtureProblem, Panels, TableProblem, certify, evaluate
from seqclass.pomdp.visits import with_visits

#: What is in a group costs this much more alone, here the last of them least.
SURCHARGES = [0.19, 0.05, 0.01]


def problem_of(seed: int, any_order: bool = True) -> Any:
    """Two or three questions of two outcomes, most of them in one of two groups, with surcharges of their own."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    yes = rng.beta(0.6, 0.6, (n, 1, n_classes))
    groups, prices = rng.choice([-1, 0, 0, 1], n), rng.uniform(0, 0.05, n)
    full = prices + np.where(groups < 0, 0.0, rng.choice([0.0, 0.02, 0.1, 0.2], n))
    most = [None, None, 2][rng.integers(3)]
    visits = Visits(
        float(rng.choice([0.0, 0.01, 0.05])), rng.integers(0, 2, n) * 1.0, float(rng.choice([0, 0.02])), most
    )
    prior, costs = rng.dirichlet(np.full(n_classes, 2.0)), rng.uniform(0.5, 2, (n_classes, n_classes))
    np.fill_diagonal(costs, 0)
    tables = np.concatenate([yes, 1 - yes], axis=1)
    problem = TableProblem(prior, tables, prices, costs, groups=groups, full_prices=full, any_order=any_order)
    return with_visits(problem, visits), (prior, yes[:, 0], prices, full, groups, costs, visits)


def least_cost(prior, yes, prices, full, groups, costs, visits, any_order=True):
    """The optimum over all sets after all answers, by recursion, in plain Python."""
    n, known = len(prices), {}

    def bill(panel, asked):
        paid, total = {groups[q] for q in asked}, visits.cost + max(visits.delay_cost * visits.delays[q] for q in panel)
        ways = [total]  # who pays for a group is as good as can be
        for group in {groups[q] for q in panel}:
            own = [q for q in panel if groups[q] == group]
            if group < 0 or group in paid:
                ways = [way + sum(prices[q] for q in own) for way in ways]
            else:
                ways = [way + sum(full[q] if q == one else prices[q] for q in own) for way in ways for one in own]
        return min(ways)

    def sets(left):
        for size in range(1, min(visits.max_panel or n, len(left)) + 1):
            yield from itertools.combinations(left, size) if any_order else [tuple(left[:size])]

    def best(seen):
        if seen not in known:
            weight = [
                p * np.prod([yes[q, c] if v == 0 else 1 - yes[q, c] for q, v in seen]) for c, p in enumerate(prior)
            ]
            least = min(sum(w * costs[c, d] for c, w in enumerate(weight)) for d in range(len(costs)))
            asked = {q for q, _ in seen}
            for panel in sets([q for q in range(n) if q not in asked]):
                cost = bill(panel, asked) * sum(weight)
                for answers in itertools.product((0, 1), repeat=len(panel)):
                    cost += best(tuple(sorted((*seen, *zip(panel, answers)))))
                least = min(least, cost)
            known[seen] = least
        return known[seen]

    return best(())


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 200), marks=pytest.mark.slow)])
def test_the_plan_is_the_optimum_over_sets_and_runs_cost_what_it_says(seeds: range) -> None:
    for seed in seeds:
        problem, given = problem_of(seed)
        wanted = least_cost(*given)
        policy = Panels().solve(problem)
        assert policy.info.upper == pytest.approx(wanted, abs=1e-9)
        if seed % 5 == 0:
            assert evaluate(problem, policy).cost == pytest.approx(wanted, abs=1e-9)
            assert certify(problem, policy).lower <= wanted + 1e-9


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 100), marks=pytest.mark.slow)])
def test_bounds_and_policies_of_a_fixed_order_are_about_the_same_prices(seeds: range) -> None:
    apart = 0
    for seed in seeds:
        problem, given = problem_of(seed, any_order=False)
        wanted = least_cost(*given, any_order=False)
        policy = Panels(20, max_rounds=0, certificate_paths=0).solve(problem)
        certificate = certify(problem, policy)
        assert certificate.lower <= wanted + 1e-9 <= certificate.upper + 2e-9
        apart += certificate.upper > wanted * 1.01
    assert 10 * apart <= len(seeds)  # panels are grown, and hardly ever miss the best by much


def parity(order: list[int], any_order: bool = True) -> Any:
    """Two bits and a third question, of which the class is the parity, in one group."""
    tables = [
        np.array(bit, dtype=float)[:, [0, 1, 2, 3]]
        for bit in ([[1, 1, 0, 0], [0, 0, 1, 1]], [[1, 0, 1, 0], [0, 1, 0, 1]])
    ]
    prices, full = np.array([0.01, 0.02])[order], np.array([0.2, 0.03])[order]
    problem = MixtureProblem(
        np.full(4, 0.25),
        [0, 1, 1, 0],
        [tables[q] for q in order],
        prices=prices,
        full_prices=full,
        groups=[0, 0],
        any_order=any_order,
    )
    return with_visits(problem, Visits(0.05, np.zeros(2)))


@pytest.mark.parametrize("any_order", [True, False])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_panel_costs_the_least_whichever_comes_first(order: list[int], any_order: bool) -> None:
    problem = parity(order, any_order)
    policy = Panels().solve(problem)
    assert evaluate(problem, policy).cost == pytest.approx(0.09)
    assert policy.continuation_cost(problem.initial_belief()) == pytest.approx(0.09)  # what is said is what is paid
    certificate = certify(problem, policy)
    assert (certificate.lower, certificate.upper) == (pytest.approx(0.09), pytest.approx(0.09))
    found = sensitivity(problem, policy)
    assert found.full_price[order].tolist() == [0.0, 1.0]  # the second of the bits pays in full
    assert found.price[order].tolist() == [1.0, 0.0]


@pytest.fixture(scope="module", params=["adaptive", "given"])
def clf(request: pytest.FixtureRequest) -> SequentialClassifier:
    """Orders three of a group and a fourth question in its first visit."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = (rng.random((400, 4)) < np.where(y[:, None] == 1, 0.75, 0.25)).astype(float)
    full = [0.01 + more for more in SURCHARGES]
    costs = Costs([*full, 0.02], groups=["blood"] * 3 + [None], discounted_costs=0.01, visit_cost=0.2)
    costs = Costs(
        costs.feature_costs,
        groups=costs.groups,
        discounted_costs=[0.01] * 3 + [0.02],
        visit_cost=0.2,
        decision_costs=9 * (1 - np.eye(2)),
    )
    made = SequentialClassifier(
        NaiveBayes(), Panels(50, certificate_paths=0), order=request.param, discretizer=None, feature_costs=costs
    ).fit(X, y)
    assert len(made.session().next_panel) == 4
    return made


def bill(acquired: set[int]) -> float:
    """What the first visit costs where these of its questions were answered."""
    owed = [SURCHARGES[q] for q in acquired if q < 3]
    return 0.2 + 0.01 * len(owed) + 0.02 * (3 in acquired) + min(owed, default=0.0)


def test_a_session_costs_the_same_in_any_order_of_answers(clf: Any) -> None:
    data = policy_data(clf) if clf.order == "adaptive" else None
    prices = [question.price for question in clf.session().next_panel]
    assert prices == pytest.approx([0.01, 0.01, 0.02, 0.02])  # the third pays in full
    for order in ((*some, 3) for some in itertools.permutations(range(3))):
        for missing in ((), (2,), (1, 2), (0, 2), (0, 1, 2)):
            case, told = clf.session(), None if data is None else reader()(data)
            spent = []
            for q in order:
                if q in missing:
                    case.unavailable(f"x{q}")
                else:
                    case.observe(f"x{q}", 0)
                if told is not None:
                    told.tell(q, [-1 if q in missing else 0])
                    assert told.case["spent"] == pytest.approx(case.paid)
                spent.append(case.paid)
            assert case.paid == pytest.approx(bill(set(range(4)) - {*missing}))
            assert sum(answer.price for answer in case.history) == pytest.approx(case.paid)
            assert min(np.diff(spent)) >= -1e-12


def test_what_is_left_or_known_does_not_pay_for_its_group(clf: Any) -> None:
    case = clf.session()
    case.observe("x0", 0)
    assert case.paid == pytest.approx(0.21)  # the third is waited for, and will pay in full
    case.leave()
    assert case.paid == pytest.approx(bill({0}))
    case = clf.session()
    case.observe("x0", 0)
    case.observe("x2", 1, known=True)
    assert case.paid == pytest.approx(0.21)
    case.observe("x1", 1, known=True)
    assert case.paid == pytest.approx(bill({0}))
    assert case.history[-1].price == 0


def test_records_tell_what_each_step_cost(clf: Any) -> None:
    X = np.zeros((4, 4))
    X[1, 2] = X[2, [1, 2]] = X[3, :3] = np.nan
    record = clf.acquire(X)
    wanted = [bill({0, 1, 2, 3}), bill({0, 1, 3}), bill({0, 3}), bill({3})]
    first = (record.visit == 1).sum(axis=1)
    assert first.tolist() == [4] * 4
    assert record.n_visits.tolist() == [1] * 4
    np.testing.assert_allclose(record.paid, wanted)
    table = action_table(clf, X)
    np.testing.assert_allclose(table.groupby("row")["price"].sum(), wanted)
    assert table.loc[table["row"] == 1, "price"].iloc[1] == pytest.approx(0.06)  # of those that are there the second
    told = clf.explain(X)
    np.testing.assert_allclose([one.paid for one in told], wanted)
    assert [step.paid for step in told[1].steps] == pytest.approx([0.01, 0.06, 0.0, 0.02])
