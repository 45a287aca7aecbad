"""Rules about what may be asked, against brute force over sets of questions and over all histories."""

from __future__ import annotations

import json
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from covering import first

import seqclass
from seqclass import Costs, Rules, SequentialClassifier, load
from seqclass.analysis import what_if
from seqclass.bn import NaiveBayes
from seqclass.cli import main
from seqclass.exams import ExposureControl, ItemResponse, SkillProfile
from seqclass.export import export_policy, policy_data
from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    ExactFreeOrder,
    FirstK,
    Lookahead,
    TableProblem,
    certify,
    evaluate,
    optimal_cost,
    solve_for_budget,
)
from seqclass.pomdp.problem import AcquisitionProblem, constraint_status, must_continue
from seqclass.pomdp.rules import with_rules
from seqclass.pomdp.sweeps.budget import within_budget
from seqclass.pomdp.table_problem import select_questions

QUICK = Adaptive([ClassInformation()], n_paths=200, n_cases=300, max_rounds=0, certificate_paths=0)


def random_rules(rng: np.random.Generator, n: int) -> Rules:
    """Rules of any kind, which may be impossible to meet."""
    labels = rng.integers(0, 3, n)
    areas: dict[str, Any] = {}
    for number in range(2):
        least = int(rng.integers(0, 3))
        items = np.flatnonzero(labels == number).tolist()
        areas[f"area {number}"] = {"items": items, "at_least": least, "at_most": least + int(rng.integers(0, 3))}
    enemies: list[Any] = []
    left = rng.permutation(n).tolist()
    while len(left) >= 2 and rng.random() < 0.6:
        size = min(int(rng.integers(2, 4)), len(left))
        enemies.append([left.pop() for _ in range(size)])
    first = rng.permutation(n)[: rng.integers(0, 3)].tolist() if rng.random() < 0.5 else []
    mandatory = rng.permutation(n)[: rng.integers(0, 2)].tolist()
    return Rules(areas, enemies, first, mandatory)


def random_problem(rng: np.random.Generator, n: int = 5) -> tuple[AcquisitionProblem, list[np.ndarray]]:
    """Items of a random bank, skills or naive Bayes, sometimes with a limit of their number or of what they cost.

    With it come the unnormalised beliefs over hidden states that cases begin with: of one more item that is known, or
    of nothing.
    """
    kind = rng.random()
    if kind < 0.5:
        bank = {"a": rng.lognormal(0.3, 0.4, n + 1), "b": rng.normal(size=n + 1), "c": np.full(n + 1, 0.2)}
        model: Any = ItemResponse.from_items(bank, cuts=[0.0], points=4)
    elif kind < 0.75:
        needs = np.concatenate([np.eye(2, dtype=int), rng.integers(0, 2, (n - 1, 2)) | [1, 0]])
        model = SkillProfile.from_items(needs, guess=0.2, slip=0.1, target=0)
    else:
        y = rng.integers(0, 2, 60)
        model = NaiveBayes().fit((rng.random((60, n + 1)) < 0.3 + 0.4 * y[:, None]).astype(int), y)
    known = [n] if rng.random() < 0.4 else []
    prices = rng.uniform(0.005, 0.08, n + 1)
    how = {"feature_costs": prices, "solver": FirstK(0, certificate_paths=0), "known": known}
    problem = SequentialClassifier.from_model(model, **how).problem_
    if not known:
        problem = select_questions(problem, np.arange(n))
    tables, classes = model_states(model)
    state = model.class_prior_[classes] * (model.weights_ if hasattr(model, "weights_") else 1.0)
    begun = [state * row for row in tables[n]] if known else [state]
    kind = rng.random()
    if kind < 0.3:
        problem = within_budget(problem, max_features=int(rng.integers(2, n)))
    elif kind < 0.6:
        problem = within_budget(problem, max_cost=float(prices.sum() * rng.uniform(0.3, 0.9)))
    return problem, begun


def model_states(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """P(outcome | hidden state) of each item, and the class of each state."""
    if hasattr(model, "tables_"):
        return model.tables_, model.hidden_class_
    return model.likelihood_table(), np.arange(len(model.classes_))


class BruteForce:
    """What rules mean, word by word, over sets of questions."""

    def __init__(self, rules: Rules, problem: AcquisitionProblem) -> None:
        self.rules, self.problem, self.n = rules, problem, problem.n_questions
        self.complete = cache(self.complete)  # type: ignore[method-assign]

    def legal(self, asked: frozenset[int]) -> bool:
        """Whether a set breaks none of what must not be."""
        at_most = all(len(asked & set(a["items"])) <= a.get("at_most", 99) for a in self.rules.areas.values())
        enemies = all(len(asked & set(group)) <= 1 for group in self.rules.enemies)
        cost = self.problem.prices[list(asked)].sum()
        within = self.problem.limits.max_cost is None or cost <= self.problem.limits.max_cost * (1 + 1e-12)
        return at_most and enemies and within and len(asked) <= self.problem.n_stages

    def met(self, asked: frozenset[int]) -> bool:
        """Whether it may be decided."""
        least = all(len(asked & set(a["items"])) >= a.get("at_least", 0) for a in self.rules.areas.values())
        return least and set(self.rules.mandatory) <= asked

    def after(self, asked: frozenset[int]) -> list[int]:
        """Questions that break nothing, first ones first."""
        free = [q for q in range(self.n) if q not in asked and self.legal_but_money(asked | {q})]
        pending = [q for q in self.rules.first if q in free]
        free = pending[:1] if pending else free
        return [q for q in free if self.legal(asked | {q})]

    def legal_but_money(self, asked: frozenset[int]) -> bool:
        at_most = all(len(asked & set(a["items"])) <= a.get("at_most", 99) for a in self.rules.areas.values())
        return at_most and all(len(asked & set(group)) <= 1 for group in self.rules.enemies)

    def complete(self, asked: frozenset[int]) -> bool:  # type: ignore[misc]
        """Whether all that has to be asked can still be."""
        return self.met(asked) or any(self.complete(asked | {q}) for q in self.after(asked))

    def open(self, asked: frozenset[int]) -> set[int]:
        return {q for q in self.after(asked) if self.complete(asked | {q})}


def optimum(brute: BruteForce, state: np.ndarray, asked: frozenset[int]) -> float:
    """Cost of the best policy from an unnormalised belief over hidden states."""
    problem: Any = brute.problem
    tables, classes = problem.structure.state_tables
    best = float((state @ problem.decision_costs[classes]).min()) if brute.met(asked) else np.inf
    for q in brute.open(asked):
        after = sum(optimum(brute, state * tables[q, v], asked | {q}) for v in range(problem.n_outcomes[q]))
        best = min(best, state.sum() * problem.prices[q] + after)
    return best


def check(seed: int) -> bool:
    """Compare one random problem with brute force; whether its rules can be met."""
    rng = np.random.default_rng(seed)
    (problem, begun), rules = random_problem(rng), random_rules(rng, 5)
    brute = BruteForce(rules, problem)
    named = frozenset([*rules.first, *rules.mandatory])
    if not brute.legal_but_money(named) or not brute.complete(frozenset()):
        with pytest.raises(ValueError, match="rules: "):
            with_rules(problem, rules)
        return False
    try:
        ruled: Any = with_rules(problem, rules)
    except ValueError as error:
        if "max_cost does not know" in str(error):
            return False
        raise
    reached = {frozenset(): ruled.initial_belief()}
    for size in range(6):
        for asked in [one for one in reached if len(one) == size]:
            info = reached[asked]
            assert set(np.flatnonzero(info.available[0])) == brute.open(asked), (seed, asked)
            assert bool(must_continue(info)[0]) is not brute.met(asked), (seed, asked)
            for q in brute.open(asked):
                reached.setdefault(asked | {q}, info.asking(q).update(np.array([0])))
    best = sum(optimum(brute, state, frozenset()) for state in begun)
    assert optimal_cost(ruled) == pytest.approx(best, abs=1e-9), seed
    if ruled.structure.starts is None:
        exact = ExactFreeOrder().solve(ruled)
        assert exact.info.upper == pytest.approx(best, abs=1e-9)
        assert evaluate(ruled, exact).cost == pytest.approx(best, abs=1e-9)
    for solver in (FirstK(0, certificate_paths=0), Lookahead(2, certificate_paths=0), QUICK):
        policy = solver.solve(ruled)
        cost = evaluate(ruled, policy, method="exact").cost
        assert cost >= best - 1e-9
        for method in ("exact", "deterministic"):
            found = (
                certify(ruled, policy, method=method) if method == "exact" else certify(ruled, policy, max_histories=1)
            )
            assert found.lower <= best + 1e-9, (seed, solver, method)
            assert found.upper >= cost - 1e-9 or found.confidence < 1, (seed, solver, method)
    return True


@pytest.mark.slow_cells("5", "6")
@pytest.mark.parametrize("seed", first(range(12), 8))
def test_problems_with_rules_are_what_brute_force_says(seed: int) -> None:
    check(seed)


@pytest.mark.slow
def test_three_hundred_problems_with_rules_are_what_brute_force_says() -> None:
    assert sum(check(seed) for seed in range(1000, 1820)) >= 300


BANK = {"a": [1.5, 1.2, 0.8, 1.9, 1.0, 1.4, 0.7, 1.1], "b": [-1.0, 0.2, 0.5, 0.0, 1.0, -0.4, 0.3, -0.2]}
RULES = Rules(
    areas={"algebra": {"items": [0, 1, 2], "at_least": 2}, "geometry": {"items": ["x3", "x4"], "at_most": 1}},
    enemies=[["x0", "x5"], [4, 6]],
    first=["x7"],
    mandatory=["x6"],
)


def exam(n: int = 8, **settings: Any) -> SequentialClassifier:
    """A plan for a bank of eight items, or fewer, with rules."""
    bank = {name: values[:n] for name, values in BANK.items()}
    model = ItemResponse.from_items(bank, cuts=[0.0], labels=["fail", "pass"], points=9)
    given = {"feature_costs": 0.01, "solver": QUICK, "rules": RULES} | settings
    return SequentialClassifier.from_model(model, **given)


def every_answer(n: int = 8) -> np.ndarray:
    return np.array(np.meshgrid(*[[0, 1]] * n)).reshape(n, -1).T


def keeps(order: np.ndarray) -> bool:
    """Whether questions that were asked, one after the other, are what the rules of the exam want."""
    asked = order[order >= 0].tolist()
    least = len({0, 1, 2} & set(asked)) >= 2 and 6 in asked
    excluded = {0, 5} <= set(asked) or {4, 6} <= set(asked) or {3, 4} <= set(asked)
    return asked[0] == 7 and least and not excluded


LONGER = pytest.param(Adaptive(max_nodes=0, n_paths=200, n_cases=300, certificate_paths=50), marks=pytest.mark.slow)


@pytest.mark.slow_cells("Adaptive0", "Lookahead")
@pytest.mark.parametrize(
    "solver", [QUICK, LONGER, FirstK(0), Lookahead(1), ExactFreeOrder()], ids=lambda solver: type(solver).__name__
)
def test_batches_and_sessions_keep_to_rules(solver: Any, tmp_path: Path) -> None:
    clf, X = exam(solver=solver), every_answer()
    record = clf.acquire(X)
    assert all(keeps(order) for order in record.order)
    clf.save(tmp_path / "exam.seq")
    again = load(tmp_path / "exam.seq")
    assert (again.acquire(X).order == record.order).all()
    for row in (0, 77, 255):
        case, asked = again.session(), []
        while (question := case.next_feature) is not None:
            offered = [one.column for one in case.suggestions(8)]
            assert question.column == offered[0]
            assert np.isfinite(case.expected_cost)
            assert not {0, 5} <= {*asked, *offered} or not {0, 5} & set(asked)
            asked.append(question.column)
            case.observe(question.name, int(X[row, question.column]))
        assert asked == record.order[row][record.order[row] >= 0].tolist()
    assert "x7" in str(clf.explain(X[:1])[0])
    known = np.zeros(X.shape, dtype=bool)
    assert (clf.next_question(X, known) == 7).all()


def test_what_is_told_unasked_closes_nothing_for_good() -> None:
    """Whoever is told two enemies is asked what is left to ask, and decides."""
    clf = exam()
    case = clf.session(known={"x0": 1, "x5": 0, "x4": 1, "x6": 1})
    asked = []
    while (question := case.next_feature) is not None:
        asked.append(question.name)
        case.observe(question.name, 1)
    assert asked[0] == "x7"
    assert {"x1", "x2"} & set(asked)
    assert "x3" not in asked  # at most one of geometry
    record = clf.acquire(every_answer(), known=["x0", "x5"])
    assert all(order[0] == 7 and {1, 2} & set(order.tolist()) for order in record.order)


TOLD = [  # rules, what is told, and what is asked all the same
    (Rules(mandatory=[2, 3], enemies=[[3, 4]]), {}, [4], {2}),
    (Rules({"a": {"items": [0, 1], "at_least": 2}}, [[0, 4]], mandatory=[2]), {}, [4], {1, 2}),
    (Rules({"a": {"items": [0, 1, 3], "at_least": 2}}, [[0, 4]], mandatory=[0]), {}, [4], {1, 3}),
    (Rules({"a": {"items": [0], "at_least": 1}, "b": {"items": [1], "at_least": 1}}, [[0, 4]]), {}, [4], {1}),
    (
        Rules({"a": {"items": [0], "at_least": 1}, "b": {"items": [1, 2], "at_least": 2}}),
        {"max_features": 3},
        [3],
        {0, 1},
    ),
    (Rules(mandatory=[2, 3]), {"max_features": 2}, [0], {2}),
    (Rules(mandatory=[3], first=[2]), {"max_cost": 0.025}, [0], {2}),
    (Rules({"a": {"items": [1, 2], "at_least": 2}}), {"max_cost": 0.025}, [0], {1}),
]


@pytest.mark.parametrize(("rules", "settings", "told", "wanted"), TOLD)
def test_what_can_no_longer_be_met_leaves_the_rest(
    rules: Rules, settings: dict[str, Any], told: list[int], wanted: set[int]
) -> None:
    case = exam(rules=rules, solver=FirstK(0, certificate_paths=0), **settings).session()
    for column in told:
        case.observe(f"x{column}", 1)
    asked = set()
    while (question := case.next_feature) is not None:
        asked.add(question.column)
        case.observe(question.name, 1)
    assert wanted <= asked
    assert len(asked) == len(wanted)


@pytest.mark.parametrize(
    "rules",
    [
        Rules({"a": {"items": [0, 1], "at_least": 2}}, [[0, 2], [2, 3]]),
        Rules({"a": {"items": [0, 1, 4], "at_least": 2}}, [[0, 2], [1, 2], [3, 4]]),
    ],
)
def test_what_is_in_two_groups_of_enemies_takes_nothing_that_areas_need(rules: Rules) -> None:
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 5)
    belief = with_rules(TableProblem([0.5, 0.5], table, prices=0.1, any_order=True), rules).initial_belief()
    assert belief.available[0].tolist() == [True, True, False, True, True]


def test_what_a_plan_knows_at_the_start_counts_as_asked() -> None:
    areas = {"a": {"items": [0, 1, 2], "at_least": 2, "at_most": 2}}
    rules, X = Rules(areas, enemies=[[3, 4], [4, 5]], first=[5, 3]), every_answer()
    how = {"rules": rules, "feature_costs": 0.001, "solver": FirstK(0, certificate_paths=0)}
    planned, told = exam(known=[4, 0], **how), exam(**how)
    assert not {3, 5} & set(planned.problem_.features.tolist())
    for order in (planned.acquire(X).order, told.acquire(X, known=[4, 0]).order):
        assert all(len({1, 2} & set(row.tolist())) == 1 and not {3, 5} & set(row.tolist()) for row in order)
    bundled = Costs(0.001, bundles={"x2": "testlet", "x3": "testlet"})
    y = (X.sum(axis=1) > 4).astype(int)
    how |= {"feature_costs": bundled, "rules": Rules(enemies=[[3, 4]], first=[2]), "discretizer": "precomputed"}
    clf = SequentialClassifier(order="adaptive", known=[4], **how).fit(X, y)
    assert not {2, 3} & set(clf.acquire(X).order.ravel().tolist())  # the testlet is closed as a whole
    with pytest.raises(ValueError, match="mandatory names 'x3', an enemy of 'x4', which is known at the start"):
        exam(rules=Rules(enemies=[[3, 4]], mandatory=[3]), known=[4])
    with pytest.raises(ValueError, match="is an enemy of what is known at the start, so that there is nothing to ask"):
        exam(n=2, rules=Rules(enemies=[[0, 1]]), known=[0])


def test_what_is_missing_counts_as_asked() -> None:
    record = exam().acquire(np.full((1, 8), np.nan))
    assert keeps(record.order[0])
    assert record.paid[0] == 0


@pytest.mark.slow
def test_a_graph_of_a_policy_keeps_to_rules(tmp_path: Path) -> None:
    # money is set aside for what has to be asked, which no program says
    clf, X = (
        exam(rules=Rules({"algebra": {"items": [0, 1, 2], "at_least": 2}}, first=[7]), max_cost=0.08),
        every_answer(),
    )
    data = policy_data(clf)
    assert data["kind"] == "graph"
    order = clf.acquire(X).order
    names = [question["features"][0] for question in data["questions"]]
    columns = [int(data["features"][number]["name"][1:]) for number in names]
    for row in (0, 9, 100, 255):
        node, asked = data["nodes"][0], []
        while "ask" in node:
            asked.append(columns[node["ask"]])
            node = data["nodes"][node["next"][int(X[row, asked[-1]])]]
        assert asked == order[row][order[row] >= 0].tolist()
    for name in ("exam.html", "exam.c"):
        export_policy(clf, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_no_rules_change_nothing() -> None:
    X = every_answer()
    one, other = exam(rules=None), exam(rules={})
    assert one.policy_.info.upper == other.policy_.info.upper
    assert (one.acquire(X).order == other.acquire(X).order).all()
    assert (one.acquire(X).posterior == other.acquire(X).posterior).all()


@pytest.mark.parametrize("rules", [{}, Rules(), Rules({}, [], [], [])])
def test_empty_rules_cost_nothing(rules: Any) -> None:
    for settings in ({}, {"order": "information"}, {"feature_costs": Costs(0.01, visit_cost=0.1)}):
        clf = exam(n=4, rules=rules, **({"solver": FirstK(0, certificate_paths=0)} | settings))
        assert clf.problem_.limits.rules is None
    clf = exam(n=4, rules=rules, solver=FirstK(0, certificate_paths=0))
    assert clf.acquire(every_answer(4), budget=2).n_features.max() == 2
    with pytest.raises(ValueError, match="enemies must be a list"):
        exam(rules={"enemies": 0})


def test_rules_count_a_bundle_once() -> None:
    costs = Costs(0.02, bundles={"x0": "testlet", "x1": "testlet"})
    X = np.tile(every_answer(), (3, 1))
    y = (X.sum(axis=1) + np.arange(len(X)) % 3 > 4).astype(int)
    how = {"order": "adaptive", "discretizer": "precomputed", "solver": QUICK, "feature_costs": costs}
    rules = Rules(areas={"both": {"items": [0, 1, 2], "at_least": 2, "at_most": 2}})
    order = SequentialClassifier(rules=rules, **how).fit(X, y).acquire(X).order
    assert all({0, 2} <= set(row.tolist()) for row in order)  # of the testlet the first column stands for it
    with pytest.raises(ValueError, match="a bundle is in area 'two' and in another"):
        SequentialClassifier(rules={"areas": {"one": {"items": [0]}, "two": {"items": [1]}}}, **how).fit(X, y)


@pytest.mark.parametrize("rules", [Rules(first=[9]), Rules(mandatory=[9])])
def test_what_tells_most_is_kept_though_rules_close_it_at_the_start(rules: Rules, tmp_path: Path) -> None:
    bank = {"a": [0.3] * 4 + [2.0] * 3 + [0.3] * 3, "b": [0.0] * 10}
    model = ItemResponse.from_items(bank, cuts=[0.0], points=9)
    clf = SequentialClassifier.from_model(
        model, feature_costs=0.01, solver=FirstK(0, certificate_paths=0), rules=rules, max_candidates=3
    )
    assert clf.problem_.features.tolist() == [4, 5, 6, 9]
    whole = SequentialClassifier.from_model(
        model, feature_costs=0.01, solver=FirstK(0, certificate_paths=0), rules=rules
    )
    whole.save(tmp_path / "m.seq")
    told = CliRunner().invoke(main, ["show", str(tmp_path / "m.seq")]).output
    assert told.index("x6") < told.index("x0 ")


WRONG = [
    ({"frist": [1]}, {}, "there is no 'frist'; there are"),
    ({"first": "x1"}, {}, "first must be a list"),
    ({"first": ["x99"]}, {}, "first names 'x99', which is not a feature"),
    ({"mandatory": [["x1"]]}, {}, "mandatory names .* which is no feature: give names or numbers"),
    ({"enemies": [["x1"]]}, {}, "two columns or more"),
    ({"areas": {"a": {"items": [1], "at_last": 1}}}, {}, "area 'a' must be a mapping such as"),
    ({"areas": {"a": {"items": [1, 2], "at_least": 2, "at_most": 1}}}, {}, "lower at_least, or raise at_most"),
    ({"areas": {"a": {"items": [1, 2], "at_least": 3}}}, {}, "at_least asks for 3 items of area 'a'.* 2 can be asked"),
    ({"areas": {"a": {"items": [1]}, "b": {"items": [1]}}}, {}, "'x1' is in area 'a' and in area 'b'"),
    ({"areas": {"a": {"items": [1, 2], "at_least": 2}}, "enemies": [[1, 2]]}, {}, "and 1 can be asked, enemies"),
    ({"areas": {"a": {"items": [1, 2], "at_most": 1}}, "mandatory": [1, 2]}, {}, "raise at_most"),
    ({"mandatory": [1, 2], "enemies": [[1, 2]]}, {}, "x1 and x2 are mandatory .* enemies"),
    (
        {"areas": {"a": {"items": [1, 2, 3], "at_least": 1}}, "enemies": [[1, 2], [1, 3]]},
        {},
        "an item of area 'a' is in two groups of enemies",
    ),
    ({"mandatory": [1, 2, 3]}, {"max_features": 2}, "3 questions have to be asked, and at most 2"),
    ({"mandatory": [1, 2, 3]}, {"max_cost": 0.02}, "costs 0.03 at full prices, above max_cost=0.02"),
    ({"mandatory": [1]}, {"order": "information"}, 'need order="adaptive"'),
    ({"mandatory": [1]}, {"feature_costs": Costs(0.01, visit_cost=0.1)}, "visits that cost something"),
    ([1], {}, r"must be a seqclass.Rules or a mapping"),
]


@pytest.mark.parametrize("n_areas", [8, 9])
def test_enemies_tie_eight_areas_at_most(n_areas: int) -> None:
    """All sets of those tied together are kept in step."""
    model = ItemResponse.from_items({"b": np.zeros(2 * n_areas)}, cuts=[0.0], points=9)
    areas = {f"a{k}": {"items": [2 * k, 2 * k + 1], "at_least": 1} for k in range(n_areas)}
    rules = Rules(areas, enemies=[[2 * k, 2 * k + 3] for k in range(n_areas - 1)])
    settings = {"feature_costs": 0.01, "solver": FirstK(0, certificate_paths=0), "rules": rules, "order": "adaptive"}
    with pytest.raises(ValueError, match=r"tie 9 areas .*at most 8") if n_areas == 9 else nullcontext():
        SequentialClassifier.from_model(model, **settings)


@pytest.mark.parametrize(("rules", "settings", "message"), WRONG)
def test_wrong_rules_are_refused_in_a_sentence(rules: Any, settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as found:
        exam(rules=rules, **settings)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "rules",
    [
        Rules(mandatory=[0, 2]),
        Rules(first=[1], mandatory=[3]),
        Rules({"a": {"items": [0, 1, 2], "at_least": 2}}),
        Rules({"a": {"items": [0, 1, 2], "at_least": 1}}, enemies=[[1, 3]], mandatory=[3]),
    ],
)
def test_whether_it_has_to_go_on_after_a_question_is_told_before_it_is_asked(rules: Rules) -> None:
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 4)
    problem = with_rules(TableProblem([0.5, 0.5], table, prices=0.1, any_order=True), rules)
    beliefs, told = [problem.initial_belief()], set()
    while beliefs:
        belief = beliefs.pop()
        after = constraint_status(belief).must_continue_after[0]
        for question in np.flatnonzero(belief.available[0]).tolist():
            beliefs.append(belief.update(question, 0))
            assert after[question] == must_continue(beliefs[-1])[0]
            told.add(bool(after[question]))
    assert told == {True, False}


def test_limits_and_prices_that_come_after_rules_are_refused_too() -> None:
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)
    problem = with_rules(TableProblem([0.5, 0.5], table, prices=0.1, any_order=True), Rules(mandatory=[0, 1]))
    assert within_budget(problem, max_features=2, max_cost=0.2).limits.rules is not None
    with pytest.raises(ValueError, match="2 questions have to be asked, and at most 1"):
        within_budget(problem, max_features=1)
    with pytest.raises(ValueError, match=r"costs 0.2 at full prices, above max_cost=0.1"):
        within_budget(problem, max_cost=0.1)
    limited = within_budget(problem, max_cost=0.2)
    with pytest.raises(ValueError, match=r"costs 1 at full prices, above max_cost=0.2"):
        what_if(limited, FirstK(0).solve(limited), prices=[0.5, 0.5, 0.5])
    with pytest.raises(ValueError, match=r"cannot be met: .* pays 0\.2 .* drop rules of what has to be asked"):
        solve_for_budget(problem, 0.1, FirstK(0))


def test_exposure_is_compared_with_each_area_before_any_work() -> None:
    rules = Rules({"a": {"items": [0, 1, 2], "at_least": 2}, "b": {"items": [3, 4], "at_least": 1}}, mandatory=[2])
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 12)
    problem = with_rules(TableProblem([0.5, 0.5], table, prices=0.1, any_order=True), rules)
    with pytest.raises(ValueError, match=r"of 2 questions of area 'a' allows 0.9 a case, and rules ask for 1"):
        ExposureControl(QUICK, max_exposure=0.45).solve(problem)
    assert ExposureControl(QUICK, max_exposure=0.5, n_cases=50, max_rounds=1, certificate_paths=0).solve(problem)


def test_what_does_not_serve_rules_says_so() -> None:
    clf = exam()
    with pytest.raises(ValueError, match="budget does not know of rules"):
        clf.acquire(every_answer(), budget=3)


def test_rules_of_iterators_sets_and_arrays_are_lists(tmp_path: Path) -> None:
    rules = Rules({"a": {"items": {10, 2}}}, ({3, one} for one in (4, 5)), np.array([7]), (one for one in [1]))
    assert rules == Rules({"a": {"items": [2, 10]}}, [[3, 4], [3, 5]], [7], [1])
    rules.areas["a"]["items"] = {2}
    for _ in range(2):
        clf = exam(rules=rules, solver=FirstK(0, certificate_paths=0))
        assert clf.problem_.limits.rules.compelled.tolist() == [one in (1, 7) for one in range(8)]
    clf.save(tmp_path / "m.seq")
    assert load(tmp_path / "m.seq").rules == rules


@pytest.mark.slow
def test_rules_come_from_a_file(tmp_path: Path) -> None:
    import pandas as pd

    X = every_answer(4)
    table = pd.DataFrame(np.tile(X, (5, 1)), columns=["age", "ct", "mri", "swab"])
    table["ill"] = (table["ct"] + table["swab"] > 1).map({True: "yes", False: "no"})
    table.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "rules.json").write_text('{"enemies": [["ct", "mri"]], "first": ["age"], "mandatory": ["swab"]}')
    command = ["fit", str(tmp_path / "data.csv"), "-t", "ill", "-o", str(tmp_path / "m.seq"), "--held-out", "0"]
    command += ["--rules", str(tmp_path / "rules.json")]
    told = CliRunner().invoke(main, [*command, "--method", "etana"])
    assert told.exit_code, told.output
    assert "order" in told.output
    for way in (["--order", "adaptive"], []):
        told = CliRunner().invoke(main, [*command, *way])
        assert not told.exit_code, told.output
        order = load(tmp_path / "m.seq").acquire(table.drop(columns="ill")).order
        assert all(row[0] == 0 and 3 in row and not {1, 2} <= set(row.tolist()) for row in order)
    (tmp_path / "rules.json").write_text("[1]")
    assert "must hold an object" in CliRunner().invoke(main, [*command, "--order", "adaptive"]).output


@pytest.mark.slow
def test_what_has_to_be_asked_comes_first_and_no_more_than_pays_after_it() -> None:
    """Questions that are paid for in any case may as well tell whether others still pay."""
    rng = np.random.default_rng(1)
    bank = {"a": rng.lognormal(0.2, 0.3, 20), "b": rng.normal(size=20), "c": np.full(20, 0.2)}
    model = ItemResponse.from_items(bank, cuts=[0.0], points=15)
    rules = Rules({f"area {k}": {"items": list(range(k, 20, 4)), "at_least": 2} for k in range(4)})
    X, _ = model.sample(100, random_state=2)
    plain, ruled = (
        SequentialClassifier.from_model(model, feature_costs=0.005, solver=QUICK, rules=r).acquire(X)
        for r in (None, rules)
    )
    assert ((ruled.order[:, :8] % 4)[:, :, None] == np.arange(4)).sum(axis=1).min() == 2
    assert ruled.n_features.min() == 8
    assert ruled.n_features.mean() < np.maximum(plain.n_features, 8).mean() + 1.5


def test_deciding_at_once_pays_for_what_has_to_be_asked_and_explanations_say_why() -> None:
    X, y = np.random.default_rng(0).integers(0, 2, (90, 3)), np.arange(90) % 2
    X[:, 0] = y
    settings: dict[str, Any] = {"order": "adaptive", "feature_costs": [0.01, 0.5, 0.5], "discretizer": "precomputed"}
    clf = SequentialClassifier(NaiveBayes(), QUICK, rules=Rules(mandatory=[1]), **settings).fit(X, y, held_out=3)
    at_once = clf.held_out_.deciding_at_once
    assert (at_once.price, at_once.n_features) == (pytest.approx(0.5), 1)
    told = clf.explain(X[:1])[0]
    asked = {step.column: step for step in told.steps}
    assert asked.keys() == {0, 1}
    assert asked[1].compelled
    assert str(told).count("price 0.5, asked because the rules demand it, whether it pays or not") == 1
    assert "less than it" not in str(told)
    again = seqclass.Explanation.from_dict(json.loads(told.to_json()))
    assert str(again) == str(told)
    free = SequentialClassifier(NaiveBayes(), QUICK, **settings).fit(X, y).explain(X[:1])[0]
    assert [(step.column, step.compelled) for step in free.steps] == [(0, False)]


@pytest.mark.slow
def test_what_chooses_how_to_learn_keeps_to_rules(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + X[:, 1] > 0
    rules = Rules(mandatory=[2], enemies=[[0, 3]])
    clf = seqclass.adaptive(0.02, effort="quick", rules=rules).fit(X, y)
    assert clf.choice_ is not None
    names = [one.name for one in clf.choice_.candidates]
    assert "deciding at once" in names
    assert not any("one order" in name for name in names)
    at_once = clf.choice_.candidates[names.index("deciding at once")]
    assert (at_once.n_features, at_once.price) == (1, pytest.approx(0.02))  # what has to be asked
    assert clf.held_out_.deciding_at_once.cost == pytest.approx(at_once.cost)
    clf.save(tmp_path / "m.seq")
    for one in (clf, load(tmp_path / "m.seq"), clf.chosen_classifier().fit(X, y)):
        asked = [set(row[row >= 0].tolist()) for row in one.acquire(X).order]
        assert all(2 in row and not {0, 3} <= row for row in asked)
    with pytest.raises(ValueError, match="leave out rules"):
        seqclass.adaptive(0.02, effort="quick", rules=rules, budget=2).fit(X, y)
    with pytest.raises(ValueError, match="nobody"):
        seqclass.adaptive(0.02, effort="quick", rules={"mandatory": ["nobody"]}).fit(X, y)


def test_what_cannot_be_met_is_said_before_anything_is_tried() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    for rules, settings, told in (
        (Rules(mandatory=[0, 1]), {"max_features": 1}, "^rules: 2 questions have to be asked"),
        (Rules(mandatory=[0]), {"feature_costs": Costs(0.01, visit_cost=0.05)}, "^rules do not know of visits"),
    ):
        with pytest.raises(ValueError, match=told):
            seqclass.adaptive(**{"feature_costs": 0.02, **settings}, effort="quick", rules=rules).fit(X, X[:, 0] > 0)


def test_a_model_alone_is_not_calibrated() -> None:
    model = ItemResponse.from_items({"a": [1.0, 1.0], "b": [0.0, 1.0]}, cuts=[0.0], points=5)
    with pytest.raises(ValueError, match="calibrate needs rows"):
        SequentialClassifier.from_model(model, calibrate=True)
