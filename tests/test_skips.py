"""Skip logic: follow-up questions and answers that follow from others, against brute force and in every use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from seqclass import Costs, Rules, SequentialClassifier, SkipLogic, SkipRule, load
from seqclass.analysis import what_if
from seqclass.bn import ClassMixture, TreeNetwork
from seqclass.cli import main
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
)
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.rules import with_rules
from seqclass.selection import SAOLA

QUICK = Adaptive([ClassInformation()], n_paths=100, n_cases=100, max_rounds=0, certificate_paths=0)
NOT_ASKED = -2


def random_logic(rng: np.random.Generator, sizes: list[int]) -> list[SkipRule]:
    """Rules of questions, each about one before it in a random order, so that there is no circle."""
    order, rules = rng.permutation(len(sizes)).tolist(), []
    for place, question in enumerate(order[1:], 1):
        for after in order[:place]:
            if rng.random() < 0.35:
                answers = np.flatnonzero(rng.random(sizes[after]) < 0.6).tolist() or None
                implied = int(rng.integers(sizes[question])) if rng.random() < 0.4 else None
                rules.append(SkipRule(question, after, answers, implied, "any" if question % 2 else "all"))
    return rules


def values_of(rules: list[SkipRule], answers: dict[int, int]) -> dict[int, int]:
    """Answers, -1 where there is none, and what follows from them."""
    known = dict(answers)
    while True:
        more = {
            r.question: r.implied
            for r in rules
            if r.implied is not None and r.question not in known and accepts(r, known.get(r.after, -1))
        }
        if not more:
            return known
        known.update(dict([next(iter(more.items()))]))


def accepts(rule: SkipRule, answer: int) -> bool:
    return answer >= 0 and (rule.answers is None or answer in rule.answers)


def may_ask(rules: list[SkipRule], answers: dict[int, int], n: int) -> set[int]:
    """What the rules mean, word by word."""
    known, result = values_of(rules, answers), set()
    for q in range(n):
        opens = [accepts(r, known.get(r.after, -1)) for r in rules if r.question == q and r.implied is None]
        some = any(r.match == "any" for r in rules if r.question == q)
        if q not in known and (not opens or (any(opens) if some else all(opens))):
            result.add(q)
    return result


def optimum(problem: Any, rules: list[SkipRule], joint: np.ndarray, answers: dict[int, int], first: bool) -> float:
    """Cost of the best policy from an unnormalised belief; ``first``: only the first open question may come next."""
    best = float((joint @ problem.decision_costs).min())
    if problem.limits.max_questions is not None and len(answers) >= problem.limits.max_questions:
        return best
    for q in sorted(may_ask(rules, answers, problem.n_questions))[: 1 if first else None]:
        table = problem.likelihoods[q]
        after = sum(
            optimum(problem, rules, joint * table[v], answers | {q: v}, first) for v in range(problem.n_outcomes[q])
        )
        best = min(best, joint.sum() * problem.prices[q] + after)
    return best


def random_problem(seed: int, any_order: bool) -> tuple[AcquisitionProblem, list[SkipRule]]:
    """Up to five questions of two or three outcomes, and rules that do not contradict each other."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, rng.integers(3, 5)).tolist()
    tables = [rng.dirichlet(np.full(size, 0.7), 2).T for size in sizes]
    if rng.random() < 0.3:
        tables[0] = np.tile(rng.dirichlet(np.ones(sizes[0]))[:, None], 2)  # what says nothing, and opens much
    prices = rng.uniform(0, 0.1, len(sizes)) * (rng.random(len(sizes)) < 0.8)
    limit = {"max_questions": 2} if any_order and rng.random() < 0.3 else {}
    problem = TableProblem(rng.dirichlet([1, 1]), tables, prices, any_order=any_order, **limit)
    while True:
        if rules := random_logic(rng, sizes):
            try:
                return with_rules(problem, SkipLogic(rules)), rules
            except ValueError:  # they contradict each other
                continue


def check(seed: int, any_order: bool, thorough: bool = False) -> None:
    problem, rules = random_problem(seed, any_order)
    best = optimum(problem, rules, problem.prior, {}, not any_order)
    assert optimal_cost(problem) == pytest.approx(best, abs=1e-9)
    for max_nodes in (10**6, 3):
        exact = ExactFreeOrder(max_nodes=max_nodes, certificate_paths=0).solve(problem)
        assert exact.info.lower <= best + 1e-9 <= exact.info.upper + 2e-9
        assert evaluate(problem, exact).cost >= best - 1e-9
    assert evaluate(problem, ExactFreeOrder().solve(problem)).cost == pytest.approx(best, abs=1e-9)
    searched = [Adaptive(n_paths=40, n_cases=40, max_nodes=20, max_rounds=0, certificate_paths=20)] if thorough else []
    for solver in (Lookahead(2, certificate_paths=0), QUICK, FirstK(None, certificate_paths=0), *searched):
        policy = solver.solve(problem)
        cost = evaluate(problem, policy, method="exact").cost
        assert cost >= best - 1e-9
        for how in ({"method": "exact"}, {"max_histories": 1, "n_paths": 50}):
            found = certify(problem, policy, **how)
            assert found.lower <= best + 1e-9 or found.confidence < 1, (seed, solver, how)
            assert found.upper >= cost - 1e-9 or found.confidence < 1, (seed, solver, how)


@pytest.mark.parametrize("seed", [1, 8])
@pytest.mark.parametrize("any_order", [True, False])
def test_plans_are_what_brute_force_says(seed: int, any_order: bool) -> None:
    check(seed, any_order)


@pytest.mark.slow
def test_three_hundred_plans_are_what_brute_force_says() -> None:
    for seed in range(1000, 1300):
        check(seed, seed % 3 > 0, thorough=seed % 5 == 0)


@settings(max_examples=settings.default.max_examples * 2 // 5, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.booleans(), st.data())
def test_no_policy_asks_what_no_answer_has_opened(seed: int, any_order: bool, data: Any) -> None:
    problem, rules = random_problem(seed, any_order)
    policy = FirstK(None, certificate_paths=0).solve(problem) if seed % 2 else QUICK.solve(problem)
    belief, answers = problem.initial_belief(), {}
    while True:
        assert set(np.flatnonzero(belief.available[0]).tolist()) <= may_ask(rules, answers, problem.n_questions)
        if (question := int(policy.action(belief)[0])) < 0:
            break
        assert question in may_ask(rules, answers, problem.n_questions)
        answers[question] = data.draw(st.integers(-1, int(problem.n_outcomes[question]) - 1))
        belief = belief.asking(question).update(np.array([answers[question]]))


FORM = {
    "packs": [{"after": "smokes", "answers": ["yes", "at times"]}, {"after": "smokes", "answers": "no", "implied": 0}],
    "pregnant": [SkipRule("pregnant", after="sex", answers="f"), {"after": "sex", "answers": "m", "implied": "no"}],
    "vomits": {"after": "pregnant", "answers": "yes"},
}


def form(seed: int = 0, n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    """Answers to a form; what nobody is asked has an answer all the same, that may be wrong."""
    rng = np.random.default_rng(seed)
    smokes, sex = rng.choice(["no", "at times", "yes"], n), rng.choice(["f", "m"], n)
    X = pd.DataFrame({"smokes": smokes, "packs": rng.integers(0, 4, n), "sex": sex})
    X["pregnant"], X["vomits"], X["fever"] = (rng.choice(["no", "yes"], n) for _ in range(3))
    y = ((smokes != "no") & (X["packs"] > 1)) | ((sex == "f") & (X["pregnant"] == "yes") & (X["vomits"] == "yes"))
    return X, y.to_numpy().astype(int)


def keeps(asked: list[str], row: dict[str, Any], known: tuple[str, ...] = ()) -> bool:
    """Whether a case was asked what the form asks, in its order."""
    told = [*known, *asked]
    after = {"packs": ("smokes", ("yes", "at times")), "pregnant": ("sex", ("f",)), "vomits": ("pregnant", ("yes",))}
    return all(
        gate in told[: told.index(q)] and row[gate] in answers for q, (gate, answers) in after.items() if q in told
    )


WAYS = {
    "any order": {"order": "adaptive", "solver": QUICK},
    "fixed": {"order": ["sex", "smokes", "vomits", "pregnant", "packs", "fever"], "solver": FirstK(None)},
    "tree": {"order": "adaptive", "solver": FirstK(None, certificate_paths=0), "observation_model": TreeNetwork()},
    "mixture": {"order": "adaptive", "solver": QUICK, "observation_model": ClassMixture(2, random_state=0)},
    "exact": {"order": "adaptive", "solver": ExactFreeOrder(2000, certificate_paths=20)},
    "known": {"order": "adaptive", "solver": FirstK(None, certificate_paths=0), "known": ["sex"]},
    "fixed, known": {"known": ["sex"], "order": ["smokes", "packs", "pregnant", "vomits", "fever"]},
    "groups": {
        "order": "adaptive",
        "solver": QUICK,
        "feature_costs": Costs(0.003, groups=[0, 0, -1, 1, 1, -1], discounted_costs=0.001),
    },
    "few": {"order": "adaptive", "solver": FirstK(None, certificate_paths=0), "max_candidates": 3, "max_features": 3},
}


@pytest.mark.slow_cells("any order", "fixed")
@pytest.mark.parametrize(
    "way",
    [way if way in ("any order", "fixed", "known") else pytest.param(way, marks=pytest.mark.slow) for way in WAYS],
)
def test_a_form_is_kept_to_in_every_use(way: str, tmp_path: Path) -> None:
    (X, y), how = form(), {"feature_costs": 0.002} | WAYS[way]
    known = tuple(how.get("known", ()))
    clf = SequentialClassifier(rules=SkipLogic(FORM), **how).fit(X, y)
    X, columns = X[:40], list(X)
    record = clf.acquire(X)
    paths = [[columns[j] for j in row if j >= 0] for row in record.order]
    rows = X.to_dict("records")
    assert all(keeps(path, row, known) for path, row in zip(paths, rows))
    assert any("packs" in path for path in paths)
    clf.save(tmp_path / "m.seq")
    assert (load(tmp_path / "m.seq").acquire(X).order == record.order).all()
    found = certify(clf.problem_, clf.policy_, n_paths=100)
    assert found.lower <= found.upper
    for path, row in zip(paths[:6], rows):
        case, asked = clf.session(known={name: row[name] for name in known}), []
        while (question := case.next_feature) is not None:
            assert {q.name for q in case.suggestions(6)} <= {
                q for q in columns if keeps([*asked, q], row, known) and q not in asked
            }
            asked.append(question.name)
            case.observe(question.name, row[question.name])
        assert asked == path
        assert case.paid == pytest.approx(sum(answer.price for answer in case.history))
        if "packs" in asked:  # what was opened by an answer goes with it
            text = case.to_json()
            case.correct("smokes", "no")
            assert "packs" not in [answer.name for answer in case.history]
            assert len(case.history) < len(known) + len(asked)
            case.restore(text)
        if asked:
            case.undo()
            assert case.next_feature.name == asked[-1]
    told = clf.acquire(X.assign(smokes="no"), known=[*known, "smokes"]).order
    assert columns.index("packs") not in told
    unanswered = clf.acquire(X.assign(smokes=None, sex=None)).order
    assert not np.isin(unanswered, [columns.index(q) for q in ("packs", "pregnant", "vomits")]).any()
    dearer = what_if(clf.problem_, clf.policy_, prices=clf.problem_.prices * 2, solver=FirstK(1, certificate_paths=0))
    assert dearer.policy.problem.limits.rules is not None
    if way != "few":
        assert policy_data(clf)["kind"] == "program"
        for name in ("m.html", "m.c"):
            export_policy(clf, tmp_path / name)


def test_model_learns_of_those_who_are_asked() -> None:
    X, y = form()
    clf = SequentialClassifier(rules=SkipLogic(FORM), order="adaptive", solver=QUICK).fit(X, y)
    asked = X["smokes"] != "no"
    hidden = X.assign(packs=X["packs"].where(asked), pregnant=X["pregnant"].where(X["sex"] == "f"))
    hidden["vomits"] = X["vomits"].where((X["sex"] == "f") & (X["pregnant"] == "yes"))
    other = SequentialClassifier(order="adaptive", solver=QUICK).fit(hidden, y)
    nothing = np.full((1, 6), -1)
    for feature in range(6):
        one, two = (c.model_.likelihood(feature, nothing) for c in (clf, other))
        np.testing.assert_allclose(one, two)


def test_implied_answers_open_others_and_cost_nothing() -> None:
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)
    logic = [SkipRule(1, 0, 0, implied=1), SkipRule(2, 1, 1)]
    for problem in (
        with_rules(TableProblem([0.5, 0.5], table, 0.1, any_order=order), SkipLogic(logic)) for order in (True, False)
    ):
        belief = problem.initial_belief().update(0, 0)
        assert belief.available.tolist() == [[False, False, True]]
        assert belief.spent == pytest.approx(0.1)
        other = problem.initial_belief().update(0, 1)
        assert other.available.tolist() == [[False, True, False]]
        assert not other.update(1, -1).available.any()  # an unanswered question opens nothing


@pytest.mark.parametrize("implied", [0, 1])
def test_what_follows_from_what_is_known_opens_others_too(implied: int) -> None:
    rules = [SkipRule(1, 0, 0, implied=implied), SkipRule(2, 1, 0), SkipRule(3, 1, 1)]
    X = np.random.default_rng(0).integers(0, 2, (80, 4))
    settings: dict[str, Any] = {"discretizer": "precomputed", "solver": FirstK(None, certificate_paths=0)}
    clf = SequentialClassifier(order="adaptive", rules=SkipLogic(rules), known=[0], **settings).fit(X, X[:, 1])
    for told in (0, 1):
        case, answers = clf.session(known={"x0": told}), {0: told}
        while True:
            may = clf.problem_.features[np.flatnonzero(case.belief.available[0])].tolist()
            assert set(may) == may_ask(rules, answers, 4)
            if not may:
                break
            case.observe(f"x{may[0]}", 0)
            answers[may[0]] = 0
        assert len(answers) == (2 if told == 0 else 3)


@pytest.mark.parametrize("price", [0.0, 0.01])
def test_what_tells_nothing_itself_is_asked_for_what_it_opens(price: float) -> None:
    tables = [[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]]
    problem = TableProblem([0.5, 0.5], tables, [price, 0.01], any_order=True)
    problem = with_rules(problem, SkipLogic([SkipRule(1, after=0, answers=1)]))
    policy = Lookahead(2, certificate_paths=0).solve(problem)
    assert evaluate(problem, policy).cost == pytest.approx(optimal_cost(problem)) == pytest.approx(price + 0.305)


WRONG = [
    ([SkipRule("a", "b"), SkipRule("b", "a")], "a is asked only after b, and that only after a"),
    ([SkipRule("a", "b"), SkipRule("b", "c"), SkipRule("c", "a")], "is asked only after"),
    ([SkipRule("a", "a")], "a is asked only after a"),
    ([SkipRule("a", "b", "9")], "b has no answer '9'; it has 'no', 'yes'"),
    ([SkipRule("a", "b", implied="9")], "a has no answer '9'"),
    ([SkipRule("a", "b", "no", "no"), SkipRule("a", "b", ["no", "yes"], "yes")], "imply answers of a that contradict"),
    ([SkipRule("a", "b", "no", "no"), SkipRule("a", "c", "no", "yes")], "imply answers of a that contradict"),
    ([SkipRule("a", "b", "no", "no"), SkipRule("b", "a", "no", "yes")], "imply answers of b that contradict"),
    ([SkipRule("a", "b", "no"), SkipRule("a", "b", "yes")], "no answer of b opens a"),
    ([SkipRule("z", "b")], "names 'z', which is not a feature"),
    ([{"question": "a"}], "does not say 'after'"),
    ([{"question": "a", "before": "b"}], "a rule has no 'before'; it has"),
    ([{"question": "a", "after": "b", "answers": []}], "the rule for 'a' after 'b' names no answers"),
    ([{"question": "a", "after": ["b", "c"]}], "after must be one column; write one rule for each"),
    ([{"question": "a", "after": "b", "match": "both"}], 'match must be "all" or "any", got \'both\''),
    ("a", "skip logic must be a list of rules"),
    ([3], "a rule must be a SkipRule or a mapping"),
]


@pytest.mark.parametrize(("rules", "message"), WRONG)
def test_what_cannot_be_is_refused_in_a_sentence(rules: Any, message: str) -> None:
    X = pd.DataFrame({name: ["no", "yes"] * 10 for name in "abc"})
    with pytest.raises(ValueError, match=message) as found:
        SequentialClassifier(rules=Rules(skip=rules), order="adaptive", solver=QUICK).fit(X, np.arange(20) % 2)
    assert "\n" not in str(found.value)


def test_what_follows_from_one_another_in_both_ways_is_no_contradiction() -> None:
    X = pd.DataFrame({name: ["no", "yes"] * 10 for name in "ab"})
    logic = [SkipRule("a", "b", "no", "no"), SkipRule("b", "a", "yes", "yes")]
    clf = SequentialClassifier(rules=SkipLogic(logic), order="adaptive", solver=QUICK).fit(X, np.arange(20) % 2)
    assert clf.problem_.initial_belief().available.all()


@pytest.mark.parametrize(
    ("rules", "settings", "message"),
    [
        (Rules(skip=FORM, mandatory=["packs"]), {}, "packs has to be asked.* and skip logic"),
        (SkipLogic(FORM), {"feature_costs": Costs(0.01, visit_cost=0.1)}, "visits"),
        (SkipLogic(FORM), {"feature_costs": Costs(0.01, bundles=[-1, 0, -1, 0, -1, -1])}, "take it out of the bundle"),
        (
            SkipLogic([SkipRule("packs", "sex", "f", match="any"), SkipRule("packs", "smokes", match="any")]),
            {"known": ["sex"]},
            'packs has rules of match="any"',
        ),
    ],
)
def test_what_does_not_serve_skip_logic_says_so(rules: Any, settings: dict[str, Any], message: str) -> None:
    X, y = form(n=60)
    with pytest.raises(ValueError, match=message):
        SequentialClassifier(rules=rules, **{"order": "adaptive", "solver": QUICK} | settings).fit(X, y)


def test_numbers_that_are_cut_into_bins_have_no_single_answer() -> None:
    X, y = form(n=120)
    X["age"] = np.linspace(0, 90, len(X))
    with pytest.raises(ValueError, match="age has no answer 18; it has"):
        SequentialClassifier(rules=SkipLogic({"fever": {"after": "age", "answers": 18}})).fit(X, y)


def test_what_a_selector_leaves_out_is_told_by_its_name() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "iron": y + rng.normal(0, 0.3, 300)})
    logic = SkipLogic({"iron": {"after": "sex", "answers": "f"}})
    with pytest.raises(ValueError, match="skip logic: sex, which opens iron, is left out of the model"):
        SequentialClassifier(rules=logic, selector=SAOLA()).fit(X, y)


@pytest.mark.slow
def test_skip_logic_comes_from_files(tmp_path: Path) -> None:
    X, y = form()
    X.assign(ill=np.where(y, "yes", "no")).to_csv(tmp_path / "data.csv", index=False)
    lines = "question,after,answers,implied\npacks,smokes,yes; at times,\npacks,smokes,no,0\n"
    (tmp_path / "form.csv").write_text(lines + "pregnant,sex,f,\nvomits,pregnant,yes,\n", "utf-8")
    (tmp_path / "form.json").write_text('{"packs": [{"after": "smokes", "answers": ["yes", "at times"]}]}', "utf-8")
    assert SkipLogic.read(tmp_path / "form.csv").rules[0] == SkipRule("packs", "smokes", ("yes", "at times"))
    command = ["fit", str(tmp_path / "data.csv"), "-t", "ill", "-o", str(tmp_path / "m.seq"), "--held-out", "0"]
    assert len(SkipLogic.read(tmp_path / "form.json")) == 1
    with pytest.raises(ValueError, match="the rule for 'packs' after None names None, which is not a feature"):
        SkipLogic({"packs": None}).numbers(2, ["packs", "smokes"])  # as JSON's null
    for name in ["form.csv"]:
        told = CliRunner().invoke(main, [*command, "--method", "etana", "--skip-logic", str(tmp_path / name)])
        assert not told.exit_code, told.output
        order = load(tmp_path / "m.seq").acquire(X).order
        assert all(1 not in row or X["smokes"].iloc[i] != "no" for i, row in enumerate(order.tolist()))
    (tmp_path / "form.csv").write_text("a,b\n1,2\n", "utf-8")
    told = CliRunner().invoke(main, [*command, "--skip-logic", str(tmp_path / "form.csv")])
    assert "holds no skip logic: its first line must name" in " ".join(told.output.split())


def test_files_of_rules_are_read_as_other_files_are(tmp_path: Path) -> None:
    file = tmp_path / "form.csv"
    file.write_text('question;after;answers\npacks;smokes;"yes; at times"\n;;\n', "utf-8-sig")
    assert SkipLogic.read(file).rules == (SkipRule("packs", "smokes", ("yes", "at times")),)
    file.write_text('question,after,answers\n"packs\na day",smokes,yes\n', "utf-8")
    assert SkipLogic.read(file).rules[0].question == "packs\na day"
    file.write_text("question,after,answers\npacks,raucht,täglich\n", "latin-1")
    with pytest.raises(ValueError, match=r"form.csv holds no skip logic: it is no text in UTF-8\."):
        SkipLogic.read(file)
    rules = tmp_path / "rules.json"
    rules.write_text('{"first": ["smokes"]}', "utf-8-sig")
    assert Rules.read(rules).first == ["smokes"]
    rules.write_text('{"frist": ["smokes"]}', "utf-8")
    with pytest.raises(ValueError, match=r"rules.json: rules: there is no 'frist'"):
        Rules.read(rules)


def test_a_rule_names_one_mark_of_a_question_with_several() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    slow = rng.random(200) < np.where(y, 0.7, 0.2)
    see = [";".join(["slow"] * a + ["loud"] * b) for a, b in zip(slow.tolist(), (rng.random(200) < 0.3).tolist())]
    how = np.where(rng.random(200) < np.where(y, 0.95, 0.05), "x", "z").astype(object)
    X = pd.DataFrame({"see": [cell or "none of these" for cell in see], "how": np.where(slow, how, None)})
    logic = SkipLogic({"how": {"after": "see: slow", "answers": "yes"}})
    prices = Costs(0.001, marks=["see"])
    clf = SequentialClassifier(order="adaptive", solver=QUICK, feature_costs=prices, rules=logic).fit(X, y)
    opened = {}
    for mark in ("slow", "loud"):
        case = clf.session()
        case.observe("see", [mark])
        opened[mark] = case.next_feature is not None and case.next_feature.name == "how"
    assert opened == {"slow": True, "loud": False}
    with pytest.raises(ValueError, match="did you mean 'see: slow' or 'see: loud'"):
        SequentialClassifier(feature_costs=prices, rules=SkipLogic({"how": {"after": "see"}})).fit(X, y)


def test_what_stands_twice_in_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"first": ["smokes"], "mandatory": [], "first": ["sex"]}', "utf-8")
    with pytest.raises(ValueError, match=r"a.json is no JSON \('first' stands twice in one object\): write"):
        Rules.read(file)
    file.write_text('{"packs": [{"after": "smokes", "after": "sex"}]}', "utf-8")
    with pytest.raises(ValueError, match=r"a.json holds no skip logic: 'after' stands twice in one object.$"):
        SkipLogic.read(file)
