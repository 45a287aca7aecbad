"""Visits: several questions ordered together, planned, bounded, followed and told."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from live_cases import reader
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.naive_bayes import GaussianNB
from two_threads import interrupted

from seqclass import Costs, SequentialClassifier, adaptive, adaptive_classifier, certify_error, load
from seqclass.agent.agent import agent_of
from seqclass.agent.session import Session
from seqclass.analysis import sensitivity, what_if
from seqclass.bn import ClassMixture, NaiveBayes, NetworkTables, TreeNetwork
from seqclass.cli import main
from seqclass.costs import Visits
from seqclass.datasets import load as load_data
from seqclass.discretize import Discretizer
from seqclass.experiment import Experiment, action_table
from seqclass.export import policy_data
from seqclass.large import decisions_frame
from seqclass.pomdp import (
    Adaptive,
    FixedPanels,
    Panels,
    StoppingValue,
    TableProblem,
    acquire,
    certify,
    dual_bound,
    evaluate,
)
from seqclass.pomdp.bounds.certificate import grid_lower_bound, sawtooth_lower_bound
from seqclass.pomdp.one_step import cost_lower_bound, initial_beliefs
from seqclass.pomdp.policy import scale_prices
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.sweeps.budget import RandomisedPolicy, within_budget
from seqclass.pomdp.sweeps.ladder import StopWhenSure, run_ladder
from seqclass.pomdp.visits import order_panels, orders_panels, with_visits, without_visits
from seqclass.pomdp.walk import order_next_panel
from seqclass.testing import check_solver
from seqclass.testing.solvers import sample_problems

FAST = {"n_paths": 200, "certificate_paths": 100}


def random_problem(seed: int, any_order: bool = True) -> TableProblem:
    """A problem of up to six questions, perhaps with groups, delays and a largest panel."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(1, 7)), int(rng.integers(2, 4))
    sizes = rng.integers(2, 4 if n < 6 else 3, n)
    tables = np.zeros((n, sizes.max(), n_classes))
    for question, size in enumerate(sizes):
        tables[question, :size] = rng.dirichlet(np.full(size, 0.6), n_classes).T
    prices, groups = rng.uniform(0, 0.08, n), None
    full = prices
    if rng.random() < 0.5:
        groups = rng.integers(-1, 2, n)
        full = prices + np.where(groups >= 0, np.random.default_rng([seed, 1]).uniform(0, 0.08, n), 0.0)
    costs = 1 - np.eye(n_classes)
    if rng.random() < 0.5:
        costs = rng.uniform(0.2, 2, (n_classes, n_classes)) * costs
    most = None if rng.random() < 0.7 else int(rng.integers(1, n + 1))
    visits = Visits(
        float(rng.choice([0.01, 0.03, 0.1])), rng.integers(0, 3, n) * 1.0, float(rng.choice([0, 0.02])), most
    )
    prior = rng.dirichlet(np.full(n_classes, 2.0))
    problem = TableProblem(
        prior, tables, prices, costs, n_outcomes=sizes, groups=groups, full_prices=full, any_order=any_order
    )
    return with_visits(problem, visits)


def by_hand(problem: TableProblem) -> float:
    """The optimum over all panels, by recursion over what was seen, set by set and answer by answer."""
    visits, tables, groups = problem.visits, problem.structure.class_tables, problem.groups
    own, full = problem.prices - visits.single_costs, problem.full_prices - visits.single_costs
    known: dict[Any, float] = {}

    def panels(left: list[int]) -> Iterator[tuple[int, ...]]:
        for size in range(1, min(visits.max_panel or len(left), len(left)) + 1):
            yield from itertools.combinations(left, size) if problem.any_order else [tuple(left[:size])]

    def best(seen: tuple[tuple[int, int], ...]) -> float:
        if seen not in known:
            belief = problem.prior.copy()
            for question, outcome in seen:
                belief = belief * tables[question, outcome]
            least = float((belief @ problem.decision_costs).min())
            asked = {question for question, _ in seen}
            for panel in panels([q for q in range(len(tables)) if q not in asked]):
                spent = visits.cost + max(visits.delay_cost * visits.delays[q] for q in panel)
                spent += sum(own[q] for q in panel)
                for group in (
                    set() if groups is None else {groups[q] for q in panel} - {groups[q] for q in asked} - {-1}
                ):
                    spent += min(full[q] - own[q] for q in panel if groups[q] == group)
                cost = spent * belief.sum()
                for outcomes in itertools.product(*(range(problem.n_outcomes[q]) for q in panel)):
                    if cost >= least:
                        break
                    cost += best(tuple(sorted((*seen, *zip(panel, outcomes)))))
                least = min(least, cost)
            known[seen] = least
        return known[seen]

    return best(())


@pytest.mark.parametrize("seed", range(40))
def test_the_recursion_is_the_optimum(seed):
    problem = random_problem(seed)
    policy, optimum = Panels().solve(problem), by_hand(problem)
    assert policy.info.upper == pytest.approx(optimum, abs=1e-9)
    assert policy.info.lower == policy.info.upper
    assert evaluate(problem, policy, method="exact").cost == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("any_order", [True, False])
@pytest.mark.parametrize("seed", range(3000, 3010))
def test_where_a_visit_is_free_and_one_answer_waited_for_nothing_is_ordered_together(seed, any_order):
    problem = without_visits(random_problem(seed, any_order))
    delays = np.where(np.arange(problem.n_questions) == seed % problem.n_questions, 2.0, 0.0)
    problem = with_visits(problem, Visits(0.0, delays, 0.02))
    together = not any_order and problem.groups is not None  # there the dearest of a group may come first
    assert orders_panels(problem) == (together and problem.n_questions > 1)
    policy, optimum = Panels(certificate_paths=0).solve(problem), by_hand(problem)
    if not together:
        assert policy.panels(problem.initial_belief()) is None
        assert evaluate(problem, policy, method="exact").cost == pytest.approx(optimum, rel=1e-6)
    two = with_visits(without_visits(problem), Visits(0.0, np.full(problem.n_questions, 2.0), 0.02))
    assert orders_panels(two) == (problem.n_questions > 1)


@pytest.mark.slow
def test_grown_panels_are_near_the_optimum_and_bounds_hold():
    above = []
    for seed in range(20):
        problem = random_problem(1000 + seed)
        optimum = Panels().solve(problem).info.upper
        policy = Panels(max_nodes=0, **FAST).solve(problem)
        cost = evaluate(problem, policy, method="exact").cost
        assert cost >= optimum - 1e-9
        assert policy.info.lower <= optimum + 1e-9
        assert policy.info.scope == ("all panels" if orders_panels(problem) else "all orders")
        above.append(cost / optimum - 1 if optimum > 1e-9 else 0.0)
    assert np.mean(above) < 0.01
    assert max(above) < 0.1


@pytest.mark.slow
def test_panels_of_a_fixed_order_are_near_the_optimum():
    above = []
    for seed in range(20):
        problem = random_problem(2000 + seed, any_order=False)
        optimum, policy = by_hand(problem), Panels(**FAST).solve(problem)
        cost = evaluate(problem, policy, method="exact").cost
        assert policy.info.lower <= optimum + 1e-9
        assert cost >= optimum - 1e-9
        above.append(cost / optimum - 1 if optimum > 1e-9 else 0.0)
    assert np.mean(above) < 0.01


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 3 // 5, deadline=None)
@given(seed=st.integers(0, 10_000), factor=st.floats(1, 5))
def test_dearer_visits_cost_no_less(seed, factor):
    problem = random_problem(seed)
    visits = problem.visits
    other = with_visits(without_visits(problem), Visits(visits.cost * factor, visits.delays, visits.delay_cost))
    cheap = with_visits(without_visits(problem), Visits(visits.cost, visits.delays, visits.delay_cost))
    least = Panels().solve(cheap).info.upper
    assert Panels().solve(other).info.upper >= least - 1e-12
    assert Panels().solve(scale_prices(cheap, factor)).info.upper >= least - 1e-12


@pytest.mark.slow
def test_where_visits_cost_nothing_nothing_changes():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, 24:]
    for order in ("adaptive", "conditional"):
        plain = SequentialClassifier(order=order).fit(X[:300], y[:300])
        said = Costs(visit_cost=0.0, delays=np.ones(X.shape[1]), delay_cost=0.0, max_panel=3)
        for solver in (None, Panels()):
            clf = SequentialClassifier(feature_costs=said, order=order, solver=solver).fit(X[:300], y[:300])
            mine, theirs = clf.acquire(X[300:]), plain.acquire(X[300:])
            assert mine.visit is None
            np.testing.assert_array_equal(mine.order, theirs.order)
            np.testing.assert_array_equal(mine.paid, theirs.paid)
            assert clf.policy_.info.upper == plain.policy_.info.upper


@pytest.mark.slow_cells(
    "FixedPanels(certificate_paths=100, n_paths=200, once=True)-False",
    "FixedPanels(certificate_paths=100, n_paths=200, size=2)-True",
)
@pytest.mark.parametrize(
    ("solver", "any_order"),
    [
        (Panels(**FAST), True),
        pytest.param(Panels(max_nodes=0, **FAST), True, marks=pytest.mark.slow),
        pytest.param(Panels(**FAST), False, marks=pytest.mark.slow),
        pytest.param(Panels(max_nodes=0, **FAST), False, marks=pytest.mark.slow),
        (FixedPanels(2, **FAST), True),
        pytest.param(FixedPanels(2, **FAST), False, marks=pytest.mark.slow),
        pytest.param(FixedPanels(once=True, **FAST), True, marks=pytest.mark.slow),
        (FixedPanels(once=True, **FAST), False),
    ],
    ids=repr,
)
def test_solvers_of_panels_do_what_solvers_promise(solver, any_order):
    problems = sample_problems(8, any_order=any_order)
    check_solver(solver, [with_visits(p, Visits(0.03, np.arange(p.n_questions) % 2.0, 0.01)) for p in problems])


@pytest.mark.slow
def test_fixed_panels_are_of_their_size():
    problem = next(p for p in map(random_problem, range(100)) if p.n_questions == 6 and p.visits.max_panel is None)
    for size in (1, 3, None):
        policy = FixedPanels(size, **FAST).solve(problem)
        policy = type(policy)(policy.values, policy.sizes)
        assert policy.best(problem.initial_belief()).panel.sum() == (size or 6)


def test_what_going_on_costs_along_fixed_panels_is_learnt_without_what_was_paid_before() -> None:
    """It is near what the policy costs, and that is near the optimum, after several visits too."""
    rng = np.random.default_rng(1)
    right = rng.uniform(0.55, 0.9, 6)
    tables = np.array([[[p, 1 - p], [1 - p, p]] for p in right])
    plain = TableProblem([0.5, 0.5], tables, prices=rng.uniform(0.005, 0.03, 6), any_order=True)
    problem = with_visits(plain, Visits(rng.uniform(0.01, 0.06), np.zeros(6)))
    policy = FixedPanels(2, certificate_paths=0).solve(problem)
    cost = evaluate(problem, policy, method="exact").cost
    assert policy.continuation_cost(policy.initial_belief()[0])[0] == pytest.approx(cost, rel=0.1)
    assert cost < 1.03 * Panels().solve(problem).info.upper


@pytest.mark.parametrize("model", [TreeNetwork(), ClassMixture(2, random_state=0)])
def test_three_classes_are_planned_for_in_one_order_by_default(model):
    X, y = load_wine(return_X_y=True, as_frame=True)
    costs = Costs(0.02, visit_cost=0.02)
    clf = SequentialClassifier(model, order="given", known=["alcohol"], discretizer=Discretizer(3), feature_costs=costs)
    record = clf.fit(X.iloc[:, :4], y).acquire(X.iloc[:, :4])
    assert record.n_visits.max() > 0


def test_certificates_of_other_policies_are_about_panels_too():
    problem = random_problem(7)
    optimum = Panels().solve(problem).info.upper
    certificate = certify(problem, Adaptive().solve(problem))
    assert certificate.scope == "all panels"
    assert certificate.lower <= optimum + 1e-9 <= certificate.upper + 2e-9
    assert "over all panels" in str(certificate)


def test_what_knows_of_one_question_at_a_time_refuses_or_says_the_same():
    problem, fixed = random_problem(11), random_problem(11, any_order=False)
    for who in (lambda p: dual_bound(p, StoppingValue(p)), grid_lower_bound, sawtooth_lower_bound):
        with pytest.raises(ValueError, match="one question at a time"):
            who(fixed)
    policy = Panels(**FAST).solve(problem)
    cost = evaluate(problem, policy, method="exact").cost
    assert sensitivity(problem, policy, method="exact").cost == pytest.approx(cost)
    assert what_if(problem, policy, prior=problem.prior, method="exact").held.cost == pytest.approx(cost)
    alone = with_visits(without_visits(problem), replace(problem.visits, max_panel=1))
    assert Panels().solve(alone).info.upper == pytest.approx(by_hand(alone))
    with pytest.raises(ValueError, match="max_cost"):
        within_budget(random_problem(2, any_order=False), max_cost=0.1)
    assert Panels(**FAST).solve(problem.replace(max_questions=0)).n_stages == 0


@pytest.mark.parametrize("seed, most, nodes", [(3, 0.1, 1000), (7, 0.2, 0), (10, 0.1, 0)])
def test_a_budget_counts_visits(seed, most, nodes):
    problem = random_problem(seed).replace(max_cost=most)
    policy = Panels(max_nodes=nodes, **FAST).solve(problem)
    rng = np.random.default_rng(0)
    X = rng.integers(0, problem.n_outcomes, (200, problem.n_questions))
    assert acquire(policy, X).leaf_price.max() <= most + 1e-9


def test_a_limit_of_questions_holds_for_panels():
    rng = np.random.default_rng(0)
    X = rng.integers(0, random_problem(3).n_outcomes, (200, random_problem(3).n_questions))
    few = random_problem(3).replace(max_questions=2)
    assert (acquire(Panels(**FAST).solve(few), X).leaf_question >= 0).sum(axis=1).max() <= 2


def test_a_panel_is_grown_as_far_as_the_budget_goes() -> None:
    sensor = [[0.8, 0.3], [0.2, 0.7]]
    prices = [0.03, 0.02, 0.02, 0.02]
    problem = TableProblem([0.5, 0.5], np.array([sensor] * 4), prices, any_order=True, max_cost=0.07)
    problem = with_visits(problem, Visits(0.01, np.zeros(4)))
    policy = Panels(**FAST).solve(problem)
    assert 0 < evaluate(problem, policy).price <= 0.07 + 1e-9
    # four together are beyond it: it orders the three that are not
    assert policy.panels(problem.initial_belief(), 4).sum() == 3


def test_what_may_not_be_ordered():
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.1, any_order=True)
    with pytest.raises(ValueError, match="visits cost nothing"):
        order_panels(problem.initial_belief(), np.array([[True, False, False]]))
    belief = with_visits(problem, Visits(0.1, np.zeros(3), max_panel=2)).initial_belief()
    with pytest.raises(ValueError, match="max_panel=2"):
        order_panels(belief, np.array([[True, True, True]]))
    ordered = order_panels(belief, np.array([[True, True, False]]))
    with pytest.raises(ValueError, match="not been answered"):
        order_panels(ordered, np.array([[False, False, True]]))
    with pytest.raises(ValueError, match="asked before"):
        order_panels(
            ordered.asking(0).update(np.array([0])).asking(1).update(np.array([0])), np.array([[True, False, False]])
        )
    with pytest.raises(ValueError, match="FixedPanels"):
        FixedPanels(2).solve(problem)
    with pytest.raises(ValueError, match="a delay for each"):
        with_visits(problem, Visits(0.1, np.zeros(2)))
    assert repr(default_solver(with_visits(problem, Visits(0.1, np.zeros(3))))) == "Panels()"


@pytest.mark.parametrize(
    "wrong, why",
    [
        ({"visit_cost": -1}, "visit_cost must not be negative"),
        ({"visit_cost": float("nan")}, "visit_cost must"),
        ({"visit_cost": [1, 2]}, "visit_cost must be one number"),
        ({"visit_cost": 0.1, "max_panel": 0}, "max_panel must be at least 1"),
        ({"delays": [1, 1]}, "belong together"),
        ({"delay_cost": 1}, "belong together"),
        ({"delays": [1, -1], "delay_cost": 1}, "delays must not be negative"),
        ({"delays": {"c": 1}, "delay_cost": 1}, "delays"),
        ({"delays": {"a": 1}, "delay_cost": 1, "bundles": {"a": "x", "b": "x"}}, "has one delay"),
    ],
)
def test_costs_of_visits_that_cannot_be(wrong, why):
    with pytest.raises(ValueError, match=why):
        Costs(0.1, **wrong).prices(2, ["a", "b"])


@pytest.fixture(scope="module")
def table() -> Any:
    return load_breast_cancer(as_frame=True).frame.rename(columns={"target": "diagnosis"}).iloc[:, -12:]


COSTS = {
    "plain": Costs(0.01, visit_cost=0.03),
    "delays": Costs(
        0.01, visit_cost=0.03, delays={"worst area": 2, "worst texture": 1}, delay_cost=0.01, max_panel=3, unit="EUR"
    ),
    "groups": Costs(np.linspace(0.02, 0.01, 11), visit_cost=0.02, groups=[0] * 5 + [-1] * 6, discounted_costs=0.004),
    "bundles": Costs(0.02, visit_cost=0.03, bundles=["scan", "scan"] + [None] * 9, charge_missing=True),
}
MODELS = {
    "naive": (NaiveBayes(), "adaptive"),
    "fixed": (NaiveBayes(), "conditional"),
    "mixture": (ClassMixture(2, max_iter=10), "adaptive"),
    "tree": (TreeNetwork(), "adaptive"),
}


#: Of those the quick run leaves out.
LONG = [
    *itertools.product(["naive"], ["plain", "bundles", "delays"]),
    *itertools.product(["mixture"], ["plain", "groups", "bundles"]),
    *itertools.product(["tree"], ["plain", "groups", "bundles"]),
    *itertools.product(["fixed"], ["plain", "delays"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model, costs",
    [pytest.param(*pair, marks=pytest.mark.slow if pair in LONG else ()) for pair in itertools.product(MODELS, COSTS)],
)
def test_every_way_to_run_agrees(model, costs, table, tmp_path):
    X, y = table.drop(columns="diagnosis"), table["diagnosis"]
    made, order = MODELS[model]
    solver = Panels(150, n_branches=8, max_rounds=1, certificate_paths=0)
    clf = SequentialClassifier(made, solver, discretizer=Discretizer(3), feature_costs=COSTS[costs], order=order).fit(
        X[:300], y[:300]
    )
    some = X[300:309].reset_index(drop=True)
    some.iloc[::3, 2] = np.nan
    record = clf.acquire(some)
    assert record.n_visits.max() >= 1
    frame = record.to_frame(clf.classes_, list(X.columns))
    assert frame["n_visits"].tolist() == record.n_visits.tolist() == [len(asked) for asked in frame["asked"]]
    np.testing.assert_allclose(action_table(clf, some).groupby("row")["price"].sum(), record.paid)
    rng = np.random.default_rng(0)
    for row in range(len(some)):
        case = clf.session()
        while panel := case.next_panel:
            for question in rng.permutation(np.array(panel, dtype=object)):
                names = [feature.name for feature in question.features] or [question.name]
                values = {name: v for name in names if (v := some.loc[row, name]) == v}
                if not values:
                    case.unavailable(question.name)
                else:
                    case.observe(question.name, values if question.features else values[question.name])
        assert case.decision == record.decision[row]
        assert case.n_visits == record.n_visits[row]
        np.testing.assert_allclose(case.posterior, record.posterior[row], atol=1e-9)
        assert case.paid == pytest.approx(record.paid[row])
        again = clf.session()
        again.restore(case.to_json())
        assert (again.paid, again.n_visits) == (case.paid, case.n_visits)
    told = clf.explain(some)
    np.testing.assert_allclose([one.paid for one in told], record.paid)
    assert [max((step.visit for step in one.steps), default=0) for one in told] == record.n_visits.tolist()
    assert "Visit 1" in str(told[int(record.n_visits.argmax())])
    clf.save(tmp_path / "model.seq")
    same = load(tmp_path / "model.seq")
    np.testing.assert_array_equal(same.acquire(some).order, record.order)
    np.testing.assert_array_equal(same.predict(some), record.decision)
    budget = clf.acquire(some, budget=3)
    assert ((budget.order >= 0).sum(axis=1) == 3).all()
    known = clf.acquire(some, known=["worst radius"])
    radius = list(X.columns).index("worst radius")
    assert costs == "bundles" or not (known.order == radius).any()
    assert clf.next_question(some).shape == (9,)


@pytest.mark.slow
def test_a_session_waits_leaves_and_takes_back(table):
    X, y = table.drop(columns="diagnosis"), table["diagnosis"]
    clf = SequentialClassifier(feature_costs=Costs(0.01, visit_cost=0.03), order="adaptive").fit(X[:300], y[:300])
    case = clf.session()
    names = [question.name for question in case.next_panel]
    assert len(names) > 1
    assert case.visit_cost == 0.03
    assert case.paid == 0
    case.observe(names[1], float(X.iloc[301][names[1]]))
    assert [question.name for question in case.next_panel] == [names[0], *names[2:]]
    assert (case.n_visits, case.visit_cost) == (1, 0)
    assert case.paid == pytest.approx(0.04)
    case.undo()
    assert (case.n_visits, case.paid) == (0, 0)
    case.order([names[0]])
    assert (case.n_visits, case.paid) == (1, 0.03)
    with pytest.raises(ValueError, match="not been answered"):
        case.order([names[1]])
    case.leave()
    with pytest.raises(ValueError, match="waited for"):
        case.leave()
    case.observe(names[0], float(X.iloc[301][names[0]]), known=True)
    assert case.paid == pytest.approx(0.03)
    fresh = clf.session()
    fresh.restore(case.to_json())
    assert repr(fresh) == repr(case)
    assert "next: " in str(fresh)
    fresh.correct(names[0], float(X.iloc[302][names[0]]))
    assert (fresh.n_visits, fresh.paid) == (case.n_visits, case.paid)  # what was ordered stays ordered
    fresh.correct(names[0], float(X.iloc[301][names[0]]))
    assert fresh.to_json() == case.to_json()
    first = clf.session(first=["mean symmetry", "worst area"]) if "mean symmetry" in X else clf.session(first=names[:2])
    assert len(first.next_panel) == 2


@pytest.mark.slow
def test_a_fitted_adaptive_classifier_orders_panels(few_ways, table):
    X, y = table.iloc[:, :4], table["diagnosis"]
    clf = adaptive(Costs(0.01, visit_cost=0.05), effort="quick").fit(X[:200], y[:200])
    record = clf.acquire(X[300:])
    assert isinstance(clf.solver, Panels)
    assert (record.n_features[record.n_visits == 1] > 1).any()


@pytest.mark.slow
def test_an_adaptive_classifier_with_a_budget_leaves_out_what_asks_in_one_order(loose_mixtures, monkeypatch, table):
    every, some = adaptive_classifier.candidates, (adaptive_classifier.NOTHING, "naive Bayes, one order")
    monkeypatch.setattr(
        adaptive_classifier,
        "candidates",
        lambda *how: {name: way for name, way in every(*how).items() if name in (*some, "mixture of densities")},
    )
    X, y = table.iloc[:200, :4], table["diagnosis"][:200]
    clf = adaptive(Costs(0.01, visit_cost=0.02), effort="quick", max_cost=0.05).fit(X, y)
    assert clf.choice_.skipped == ("what asks in one order, as max_cost with costs of visits needs any order",)
    assert clf.acquire(X).paid.max() <= 0.05 + 1e-9


@pytest.mark.slow
def test_the_command_line_orders_panels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ill = rng.integers(2, size=300)
    tests = {f"test {k}": np.where(rng.random(300) < 0.8, ill, 1 - ill) for k in range(4)}
    rows = pd.DataFrame(tests | {"diagnosis": ill})
    rows[:250].to_csv("data.csv", index=False)
    rows[250:260].drop(columns="diagnosis").to_csv("new.csv", index=False)
    Path("costs.json").write_text(json.dumps({"feature_costs": 0.01, "visit_cost": 0.03, "max_panel": 2}))
    Path("costs.csv").write_text("feature,cost,delay\ntest 1,0.01,3\n")
    runner = CliRunner()

    def run(*arguments: str, answers: str | None = None) -> str:
        result = runner.invoke(main, arguments, input=answers)
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    fit = ("fit", "data.csv", "-t", "diagnosis", "-o", "m.seq", "--method", "etana", "--order", "adaptive")
    run(*fit, "--visit-cost", "0.05", "--price", "0.005", "--held-out", "0")
    told = run("show", "m.seq")
    assert "over all panels" in told
    assert "0.05 each" in told
    assert "Order together" in run("ask", "m.seq", answers="1\n" * 20)
    assert "ordered together" in run("explain", "m.seq", "new.csv")
    run("predict", "m.seq", "new.csv", "-o", "decided.csv")
    decided = pd.read_csv("decided.csv")
    assert (decided["asked"].str.count(";") + 1 == decided["n_visits"]).all()
    assert (decided["asked"].str.count("[;+]") + 1 == decided["n_features"]).all()
    assert decided["asked"].str.contains("+", regex=False).any()
    both = ["compare", "data.csv", "-t", "diagnosis", "--folds", "2", "-m", "etana(order='adaptive')", "-o", "r.db"]
    both += ["-m", "sklearn:GaussianNB", "--visit-cost", "0.05", "--max-panel", "3", "--price", "0.01", "--json"]
    both += ["--quiet"]
    cells = json.loads(run(*both))["cells"]
    plain = [cell for cell in cells if cell["method"] == "sklearn:GaussianNB"]
    assert [cell["paid_mean"] for cell in plain] == [pytest.approx(0.01 * 4 + 0.05 * 2)] * 2
    assert max(cell["paid_mean"] - 0.01 * cell["n_features_mean"] for cell in cells) > 0.04
    refused = runner.invoke(main, [*both, "--delay-cost", "0.01"])
    assert refused.exit_code == 2
    assert "does not say how long answers take" in refused.output
    run(*fit, "--costs", "costs.json", "--held-out", "0")
    assert load("m.seq").problem_.visits.max_panel == 2
    run(*fit, "--costs", "costs.csv", "--price", "0.01", "--delay-cost", "0.02", "--held-out", "0")
    assert load("m.seq").problem_.visits.delays.max() == 3
    without = runner.invoke(main, [*fit, "--costs", "costs.csv", "--price", "0.01"])
    assert without.exit_code == 2
    assert "belong together" in without.output
    run("export", "m.seq", "-o", "page.html")
    assert '"delay_cost":0.02' in Path("page.html").read_text(encoding="utf-8")


def test_a_graph_of_panels_is_refused(table):
    costs = Costs(0.01, visit_cost=0.05)
    tree = SequentialClassifier(TreeNetwork(conditioning="ancestor"), order="adaptive", feature_costs=costs)
    with pytest.raises(ValueError, match="a graph asks one question at a time"):
        policy_data(tree.fit(table.iloc[::3, :3], table["diagnosis"][::3]))


def test_costs_beside_data_tell_of_visits(tmp_path):
    (tmp_path / "toy.csv").write_text("a,b,y\n" + "0,1,u\n1,0,v\n" * 10)
    told = {"feature_costs": 1, "delays": {"b": 2}, "delay_cost": 0.5, "visit_cost": 3, "max_panel": 1}
    (tmp_path / "toy.costs.json").write_text(json.dumps(told))
    costs = load_data(tmp_path / "toy.csv", target="y").costs(0.1)
    visits = costs.prices(2).visits
    assert (visits.cost, visits.delays.tolist(), visits.max_panel) == (pytest.approx(0.3), [0, 2], 1)
    for key, wrong in (("visit_cost", -1), ("max_panel", 0), ("delay_cost", "x")):
        (tmp_path / "toy.costs.json").write_text(json.dumps(told | {key: wrong}))
        with pytest.raises(ValueError, match=key):
            load_data(tmp_path / "toy.csv", target="y")


def test_names_of_what_was_ordered_together_can_be_told_apart():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]] * 20) + np.random.default_rng(0).normal(0, 0.6, (40, 3))
    frame = pd.DataFrame(X, columns=["a+b", "c;d", "e"])
    clf = SequentialClassifier(feature_costs=Costs(0.01, visit_cost=0.03), order="adaptive").fit(frame, [0, 1] * 20)
    record = clf.acquire(frame)
    for text, order, visit in zip(decisions_frame(clf, record, None)["asked"], record.order, record.visit):
        told = {"a+b": '"a+b"', "c;d": '"c;d"', "e": "e"}
        visits = [[told[frame.columns[j]] for j, v in zip(order, visit) if v == n] for n in range(1, visit.max() + 1)]
        assert text == ";".join("+".join(names) for names in visits)


@pytest.mark.slow
def test_an_experiment_says_what_visits_cost(tmp_path):
    data = load_data("wine")
    wrong = Experiment([data], ["etana"], visits={"visit": 1.0})
    with pytest.raises(ValueError, match="'visit' is not one of visit_cost"):
        wrong.run(tmp_path / "a.db")
    with pytest.raises(ValueError, match="does not say how long"):
        Experiment([data], ["etana"], visits={"delay_cost": 1.0}).run(tmp_path / "a.db")
    with pytest.raises(ValueError, match="visits: max_panel must be"):
        Experiment([data], ["etana"], visits={"visit_cost": 0.05, "max_panel": 0}).run(tmp_path / "a.db")
    found = Experiment([data], {"nb": GaussianNB()}, cv=2, visits={"visit_cost": 0.5}).run(tmp_path / "a.db").to_frame()
    alone = Experiment([data], {"nb": GaussianNB()}, cv=2).run(tmp_path / "a.db").to_frame()
    assert len(found) == len(alone) == 2
    np.testing.assert_allclose(found["paid_mean"].to_numpy() - alone["paid_mean"].to_numpy(), 0.5)


def ways(policy: Any, problem: TableProblem) -> list[tuple[list[int], list[int], int]]:
    """All ways of a policy through a problem: sizes of its visits, questions in order, and how sure it was at each."""
    found = []

    def follow(info: Any, visits: list[int], asked: list[int]) -> None:
        made = int(info.account.n_visits[0])
        info = order_next_panel(policy, info)
        question = int(policy.action(info)[0])
        if question < 0:
            found.append((visits, asked, info))
            return
        if info.account.n_visits[0] > made or not info.account.ordered[0, question]:
            visits = [*visits, max(int(info.account.ordered[0].sum()), 1)]
        for outcome in range(problem.n_outcomes[question]):
            follow(info.asking(question).update(np.array([outcome])), visits, [*asked, question])

    follow(problem.initial_belief(), [], [])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver, any_order",
    [
        (Panels(certificate_paths=0), True),
        (Panels(max_nodes=0, **FAST), False),
        (FixedPanels(2), True),
        pytest.param(Panels(certificate_paths=0), False, marks=pytest.mark.slow),
        pytest.param(Panels(max_nodes=0, **FAST), True, marks=pytest.mark.slow),
        pytest.param(FixedPanels(2), False, marks=pytest.mark.slow),
    ],
)
def test_a_ladder_orders_panels_that_fit_in_what_is_left(solver, any_order):
    found = 0
    for seed in (3, 4, 5):
        problem = random_problem(seed, any_order)
        if problem.n_questions < 4 or not orders_panels(problem):
            continue
        policy = solver.solve(problem)
        for limit, most in [(0.0, 3), (0.05, None), (0.02, 5), (10.0, None)]:
            ladder = StopWhenSure(policy, limit, most)
            n = min(problem.n_questions, most or problem.n_questions)
            for visits, asked, info in ways(ladder, problem):
                assert sum(visits) == len(asked) <= n
                assert info.stopping_cost[0] <= limit + 1e-9 or len(asked) == n
                assert int(info.account.n_visits[0]) == len(visits)
                found += max(visits, default=0) > 1
            if limit == 0.0:
                rng = np.random.default_rng(seed)
                X = np.column_stack([rng.integers(0, size, 40) for size in problem.n_outcomes])
                run = run_ladder(policy, X, [limit, 0.05], max_questions=most)
                for column, cost in enumerate([limit, 0.05]):
                    alone = acquire(StopWhenSure(policy, cost, most), X)
                    np.testing.assert_allclose(run.price[:, column], alone.leaf_price[alone.leaf])
                    assert (run.decision[:, column] == alone.leaf_decision[alone.leaf]).all()
    assert found > 20


@pytest.mark.slow
def test_a_hard_budget_orders_panels_that_fit(table):
    X, y = table.iloc[::2, :-1], table["diagnosis"][::2]
    for order in ("adaptive", "conditional"):
        costs = Costs(0.01, visit_cost=0.03, max_panel=4)
        clf = SequentialClassifier(ClassMixture(2, random_state=0), feature_costs=costs, order=order).fit(X, y)
        for budget in (1, 3, 6):
            record = clf.acquire(X, budget=budget)
            assert (record.n_features == budget).all()
            assert record.n_visits.max() <= budget
            np.testing.assert_allclose(record.paid, 0.01 * budget + 0.03 * record.n_visits)
            known = clf.acquire(X, known=["mean concavity"] if "mean concavity" in X else [0], budget=budget)
            assert (known.n_features == budget).all()
        assert clf.acquire(X, budget=6).n_visits.mean() < 4


@pytest.mark.slow
def test_certified_ladders_order_panels(table):
    X, y = table.iloc[:, :-1], table["diagnosis"]
    costs = Costs(0.01, visit_cost=0.03)
    clf = SequentialClassifier(feature_costs=costs, order="adaptive").fit(X[::2], y[::2])
    certified = certify_error(clf, X[1::2], y[1::2], 0.15)
    record = certified.acquire(X[1::2])
    assert (record.n_visits < record.n_features).any()
    np.testing.assert_allclose(record.paid, 0.01 * record.n_features + 0.03 * record.n_visits)


@pytest.mark.slow_cells("adaptive")
@pytest.mark.parametrize("order", ["adaptive", "conditional"])
def test_a_ladder_along_one_visit_ends_with_it_in_sessions_too(order, table):
    X, y = table.iloc[:, :-1], table["diagnosis"]
    solver, costs = FixedPanels(2, once=True, **FAST), Costs(0.004, visit_cost=0.01)
    clf = SequentialClassifier(NaiveBayes(), solver, order=order, feature_costs=costs).fit(X[::2], y[::2])
    ladder = certify_error(clf, X[1::2], y[1::2], 0.3).classifier
    codes = np.random.default_rng(0).integers(0, 2, (50, clf.problem_.n_questions))
    for cost in (0.0, 0.03):
        alone = acquire(StopWhenSure(clf.policy_, cost), codes)
        run = run_ladder(clf.policy_, codes, [cost])
        np.testing.assert_allclose(run.price[:, 0], alone.leaf_price[alone.leaf])
        assert set(run.n_features[:, 0]) in ({2}, {0, 2})
    record = ladder.acquire(X)
    assert record.n_visits.max() == 1
    for row in range(20):
        case = ladder.session()
        while (question := case.next_feature) is not None:
            case.observe(question.name, X[question.name].iloc[row])
        assert (case.n_visits, case.n_features) == (record.n_visits[row], record.n_features[row])


@pytest.mark.slow
def test_a_session_asks_on_where_a_drawn_policy_orders_no_panels(table):
    X, y = table.iloc[:, :-1], table["diagnosis"]
    clf = SequentialClassifier(NaiveBayes(), FixedPanels(2, **FAST), feature_costs=Costs(0.004, visit_cost=0.01))
    clf = clf.set_params(order="adaptive").fit(X, y)
    single = Adaptive(max_rounds=0, certificate_paths=0).solve(clf.problem_)
    mixed = replace(agent_of(clf), policy=RandomisedPolicy([clf.policy_, single], [0.5, 0.5]))
    first = {len(Session(mixed, key).next_panel) for key in range(20)}
    assert first == {1, 2}


def test_budgets_of_adaptive_refuse_visits(table):
    with pytest.raises(ValueError, match=r"leave out visit_cost.*acquire\(X, budget=k\)"):
        adaptive(Costs(0.01, visit_cost=0.03), budget=3).fit(table.iloc[:, :-1], table["diagnosis"])


@pytest.mark.slow_cells("0-0.005", "0-0.02", "0-0.06")
@pytest.mark.parametrize("visit", [0.005, 0.02, 0.06, 0.15])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_bounds_of_several_starts_hold_and_count_visits(visit, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=300)
    X = y[:, None] * [1.0, 0.8, 1.2, 0.5, 1.5] + rng.normal(size=(300, 5))
    costs = Costs(0.01, visit_cost=visit)
    clf = SequentialClassifier(
        NaiveBayes(),
        discretizer=Discretizer(3),
        order="adaptive",
        feature_costs=costs,
        known=[4],
        solver=Panels(**FAST),
    ).fit(X, y)
    problem = clf.problem_
    begun, share = initial_beliefs(problem)
    assert len(share) > 1
    each = [by_hand(problem.replace(starts=None, prior=belief)) for belief in begun.probabilities]
    optimum = float(share @ each)
    info = certify(problem, clf.policy_, n_paths=200)
    assert info.lower <= optimum + 1e-9
    assert info.upper >= optimum - 1e-9
    drawn = certify(problem, clf.policy_, method="simulation", n_paths=100, width=1e-9, max_paths=300)
    assert drawn.n_paths == 300 or drawn.upper - drawn.upper_mean <= 1e-9 * drawn.upper
    assert drawn.upper >= optimum - 1e-9
    plain = certify(without_visits(problem), lambda belief: np.full(len(belief), -1), n_paths=200).lower
    floor = float(share @ np.minimum(begun.stopping_cost, cost_lower_bound(begun)))
    assert info.lower >= max(plain, floor) - 1e-9
    if visit == 0.02:  # beyond what is told by prices alone
        assert info.lower > max(plain, floor) + 1e-3


@pytest.mark.slow
def test_a_visit_is_paid_for_whatever_comes_of_it(table):
    costs = Costs(0.01, visit_cost=0.1)
    clf = SequentialClassifier(feature_costs=costs, order="adaptive").fit(table.iloc[:, :-1], table["diagnosis"])
    case, names = clf.session(), list(table.columns[:3])
    case.order(names[:2])
    case.unavailable(names[2])  # which was not ordered, and takes a visit of its own
    assert (case.n_visits, case.paid) == (2, pytest.approx(0.2))
    case.observe(names[0], 0.02)
    assert (case.n_visits, case.paid) == (2, pytest.approx(0.21))


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, pytest.param(3, marks=pytest.mark.slow)])
def test_in_one_order_what_is_known_is_passed_over_row_by_row(budget):
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=200)
    X = np.where(rng.random((200, 7)) < 0.3, np.nan, rng.normal(size=(200, 7)) + y[:, None] * np.arange(7) / 4)
    costs = Costs(0.01, visit_cost=0.01, max_panel=2)
    clf = SequentialClassifier(NaiveBayes(), feature_costs=costs, order=[6, 5, 2, 1, 4, 3, 0]).fit(X, y)
    known = clf.acquire(X[:60], known=[1, 5], budget=budget)
    assert known.visit.max() > 2
    for row in range(60):
        alone = clf.acquire(X[[row]], known=[1, 5], budget=budget)
        asked = known.order[row][known.order[row] >= 0].tolist()
        assert (alone.order[0].tolist(), alone.paid[0]) == (asked, pytest.approx(known.paid[row]))
        assert alone.visit[0].tolist() == known.visit[row][: len(asked)].tolist()


@pytest.mark.parametrize("model", [TreeNetwork(), ClassMixture(2, random_state=0)], ids=["tree", "mixture"])
def test_a_fixed_order_of_three_classes_with_something_known(model: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = (rng.random((200, 4)) < np.array([0.2, 0.5, 0.8])[y][:, None]).astype(int)
    costs = Costs(0.01, visit_cost=0.02)
    clf = SequentialClassifier(model, order="given", known=[0], feature_costs=costs, discretizer="precomputed")
    policy = clf.fit(X, y).policy_
    assert policy.info.lower - 1e-9 <= evaluate(clf.problem_, policy).cost <= policy.info.upper + 0.02


@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork()], ids=["bayes", "tree"])
def test_panels_of_one_order_pass_over_what_was_told_before_its_turn(model: Any) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    first = rng.random(400) < 0.1 + 0.8 * y
    X = np.column_stack([rng.random(400) < np.where(column, 0.8, 0.3) + 0.1 * y for column in [first] * 5]).astype(int)
    costs = Costs([0.01, 0.02, 0.03, 0.04, 0.05], visit_cost=0.02)
    how: dict[str, Any] = {"order": "given", "discretizer": "precomputed", "feature_costs": costs}
    clf = SequentialClassifier(model, FixedPanels(2, once=True), **how).fit(X, y)

    def stop(seen: dict[int, int], weight: float) -> float:
        belief = clf.model_.posterior([[seen.get(j, -1) for j in range(5)]])[0]
        return weight * float((belief @ clf.decision_costs_).min())

    def shows(question: int, seen: dict[int, int]) -> Any:
        return clf.model_.predictive(question, [[seen.get(j, -1) for j in range(5)]])[0]

    for early, wanted in (([1], [0, 2]), ([0, 2], [1, 3]), ([1, 2, 4], [0, 3])):
        case, found = clf.session(), reader()(policy_data(clf))
        for question in early:
            case.observe(question, 1, known=True)
            found.tell(question, [1], known=True)
        seen, cost = dict.fromkeys(early, 1), 0.02 + sum(costs.feature_costs[j] for j in wanted)
        for one, other in np.ndindex(2, 2):
            weight = shows(wanted[0], seen)[one] * shows(wanted[1], seen | {wanted[0]: one})[other]
            cost += stop(seen | {wanted[0]: one, wanted[1]: other}, weight)
        policy, belief = clf.policy_, case.belief
        assert np.flatnonzero(policy.panels(belief, least=1)[0]).tolist() == wanted
        assert policy.continuation_cost(belief)[0] == pytest.approx(cost)
        assert [one.column for one in case.next_panel] == (wanted if cost < case.expected_cost else [])
        assert found.panel(found.policy, found.view(), 5) == (wanted, pytest.approx(cost))
        rows = np.where(np.isin(np.arange(5), early), 1, X[:20])
        asked = np.sort(clf.acquire(rows, known=early).order, axis=1)
        assert (asked == wanted).all() if cost < case.expected_cost else not (asked >= 0).any()


@pytest.mark.parametrize("kept", ["saved", "corrected"])
def test_undoing_takes_back_the_visit_that_an_answer_began_also_where_a_case_was_kept(kept: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 4)) < 0.2 + 0.6 * y[:, None]).astype(float)
    how: dict[str, Any] = {"order": "adaptive", "discretizer": "precomputed"}
    clf = SequentialClassifier(feature_costs=Costs(0.01, visit_cost=0.02), solver=FixedPanels(2), **how).fit(X, y)
    panel = [question.name for question in clf.session().next_panel]
    other = next(f"x{j}" for j in range(4) if f"x{j}" not in panel)
    for answers in ([other], panel, [panel[1]], [panel[1], other]):
        case, ends = clf.session(), []
        for name in answers:
            ends.append((case.paid, case.n_visits, [question.name for question in case.next_panel], str(case)))
            case.observe(name, 1.0)
        if kept == "saved":
            case = clf.session(case.to_json())
        else:
            case.correct(answers[0], 0.0)
            case.correct(answers[0], 1.0)
        again = clf.session(case.to_json())
        for end in ends[::-1]:
            for one in (case, again):
                one.undo()
                for now in (one, clf.session(one.to_json())):
                    assert (now.paid, now.n_visits, [question.name for question in now.next_panel], str(now)) == end
    case = clf.session()
    case.order()  # which stays, as nobody answered it
    case.observe(panel[0], 1.0)
    again = clf.session(case.to_json())
    again.undo()
    assert (again.paid, again.n_visits) == (0.02, 1)
    case.leave()
    case.order([other])
    case.undo()  # and with the answer what was ordered after it
    for now in (case, clf.session(case.to_json())):
        assert (now.n_visits, [question.name for question in now.next_panel]) == (1, panel)


def test_an_answer_that_fails_or_is_interrupted_begins_no_visit() -> None:
    likely = [[[0.5, 0.5]], [[1.0, 0.2], [0.0, 0.8]], [[0.3, 1.0], [0.7, 0.0]]]
    tables = NetworkTables(["d", "a", "b"], [["no", "yes"]] * 3, [[], [0], [0]], [np.array(likely[0][0]), *likely[1:]])
    clf = SequentialClassifier.from_network(tables, "d", feature_costs=Costs(0.01, visit_cost=0.02))

    def told(case: Session) -> Any:
        again = clf.session(case.to_json())
        return [(one.to_json(), str(one), one.paid, one.n_visits) for one in (case, again)]

    def begin() -> Session:
        case = clf.session()
        case.observe("a", "yes")
        return case

    case, before = begin(), told(begin())
    assert case.paid == pytest.approx(0.03)
    with pytest.raises(ValueError, match="impossible given a = yes"):
        case.observe("b", "yes")
    assert told(case) == before
    case.observe("b", "no")
    after = told(case)
    answered = [told(one) for one in interrupted(begin, lambda one: one.observe("b", "no"), {"_advance"})]
    assert len(answered) > 10
    assert all(one in (before, after) for one in answered)
    undone = [told(one) for one in interrupted(begin, lambda one: one.undo(), {"undo"})]
    assert len(undone) > 3
    assert all(one in (before, told(clf.session())) for one in undone)
