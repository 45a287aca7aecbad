"""Forms through everything: what a form may say, under each model and in each order, in every use of it.

A cell is a structure (skip logic, several marks, prices that depend, rules), a model, an order and a use. Each is held
against what the structure means, word by word, and the model's own posterior; what does not go together is refused.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from headless import browser as browser
from live_cases import reader

from seqclass import Costs, Rules, SequentialClassifier, SkipLogic, load
from seqclass.analysis import what_if
from seqclass.bn import ClassMixture, DiscreteNetwork, NaiveBayes, NetworkTables, TreeNetwork
from seqclass.cli import main
from seqclass.datasets import split_marks
from seqclass.export import export_policy, policy_data
from seqclass.pomdp import Adaptive, ClassInformation, Lookahead, certify, evaluate

ANSWERS = {
    "smokes": ["at times", "daily", "no"],
    "packs": ["few", "many"],
    "where: arm": ["no", "yes"],
    "where: head": ["no", "yes"],
    "where: neck": ["no", "yes"],
    "scan": ["clear", "shadow"],
}
COLUMNS = list(ANSWERS)
MARKS = [name for name in COLUMNS if name.startswith("where")]
PRICES = {"smokes": 0.003, "packs": 0.006, "scan": 0.012} | dict.fromkeys(MARKS, 0.004)
WHOLE = {"smokes": 0.003, "packs": 0.006, "where": 0.004, "scan": 0.012}
SKIPS = {
    "packs": [
        {"after": "smokes", "answers": ["at times", "daily"]},
        {"after": "smokes", "answers": "no", "implied": "few"},
    ],
    "scan": {"after": "where: head", "answers": "yes"},
}
AFTER = {("packs", "smokes"): 0.001, ("scan", ("smokes", ("daily", "at times"))): 0.002, ("scan", "packs"): 0.02}
RULES = Rules(
    areas={"where": {"items": MARKS, "at_least": 1, "at_most": 2}}, enemies=[["packs", "scan"]], first=["smokes"]
)
STRUCTURES: dict[str, dict[str, Any]] = {
    "skips": {"feature_costs": PRICES, "rules": SkipLogic(SKIPS)},
    "marks": {"feature_costs": Costs(WHOLE, marks=["where"])},
    "prices": {"feature_costs": Costs(PRICES, prices_after=AFTER)},
    "rules": {"feature_costs": PRICES, "rules": RULES},
    "all": {"feature_costs": Costs(WHOLE, marks=["where"], prices_after=AFTER), "rules": SkipLogic(SKIPS)},
}


@functools.cache
def table(n: int = 200) -> tuple[pd.DataFrame, Any]:
    """Answers of everybody to everything, the marks of a question in one column."""
    rng = np.random.default_rng(3)
    ill = rng.random(n) < 0.45
    smokes = np.where(rng.random(n) < 0.3 + 0.3 * ill, rng.choice(["at times", "daily"], n), "no")
    X = pd.DataFrame({"smokes": smokes, "packs": np.where(rng.random(n) < 0.2 + 0.6 * ill, "many", "few")})
    has = rng.random((n, 3)) < np.where(ill[:, None], [0.6, 0.5, 0.3], [0.2, 0.4, 0.4])
    X["where"] = ["; ".join(np.array(["arm", "head", "neck"])[row]) or "none of these" for row in has]
    X["scan"] = np.where(rng.random(n) < np.where(ill, 0.85, 0.1), "shadow", "clear")
    return X, np.where(ill, "ill", "well")


def network() -> DiscreteNetwork:
    """Nodes of the same answers, of which packs depend on smoking, and two marks on each other."""
    rng = np.random.default_rng(4)
    sizes, parents = [len(answers) for answers in ANSWERS.values()], [[0], [0, 1], [0], [0, 3], [0], [0]]
    nodes, states = ["state", *COLUMNS], [["ill", "well"], *ANSWERS.values()]
    above = [[len(states[p]) for p in own] for own in parents]
    tables = [rng.dirichlet(np.full(size, 0.7), own) for size, own in zip(sizes, above)]
    moved = [np.moveaxis(own, -1, 0) for own in tables]
    return NetworkTables(nodes, states, [[], *parents], [np.array([0.45, 0.55]), *moved])


MODELS: dict[str, Any] = {
    "bayes": NaiveBayes,
    "mixture": functools.partial(ClassMixture, 2, random_state=0),
    "tree": TreeNetwork,
    "network": None,
}
ORDERS: dict[str, dict[str, Any]] = {
    "fixed": {
        "order": ["smokes", "where: head", "where: arm", "packs", "scan", "where: neck"],
        "solver": Lookahead(2, certificate_paths=0),
    },
    "any": {
        "order": "adaptive",
        "solver": Adaptive([ClassInformation()], n_paths=50, n_cases=50, max_rounds=0, certificate_paths=0),
    },
}


@functools.cache
def rows(structure: str) -> tuple[pd.DataFrame, Any]:
    X, y = table()
    return (X, y) if Form(structure, "any").has_marks else (split_marks(X, ["where"]), y)


def build(structure: str, model: str, kind: str, **more: Any) -> SequentialClassifier:
    settings = ORDERS[kind] | STRUCTURES[structure] | more
    if model == "network":
        return SequentialClassifier.from_network(network(), "state", **settings)
    return SequentialClassifier(MODELS[model](), **settings)


@functools.cache
def fitted(structure: str, model: str, order: str) -> SequentialClassifier:
    clf = build(structure, model, order)
    return clf if model == "network" else clf.fit(*rows(structure))


class Form:
    """What a structure means, word by word, for one case; and its best policy by recursion over all answers."""

    def __init__(self, structure: str, order: str) -> None:
        self.has_skips, self.has_rules = structure in ("skips", "all"), structure == "rules"
        self.has_marks, self.has_prices = structure in ("marks", "all"), structure in ("prices", "all")
        shows = {name: [name] for name in ORDERS["fixed"]["order"]}
        if self.has_marks:
            shows = {"smokes": ["smokes"], "where": MARKS, "packs": ["packs"], "scan": ["scan"]}
        #: Columns of each question, in the order in which they come where that is fixed.
        self.shows = shows
        self.is_fixed = order == "fixed"

    def price(self, question: str, told: dict[str, str]) -> float:
        price = (PRICES | WHOLE)[question]
        if self.has_prices and question == "packs" and "smokes" in told:
            price = 0.001
        if self.has_prices and question == "scan":
            price = 0.02 if "packs" in told else 0.002 if told.get("smokes", "no") != "no" else price
        return price

    def may_ask(self, question: str, told: dict[str, str], asked: frozenset[str]) -> bool:
        """Whether a question that was not asked is open; ``told`` has answers by column."""
        if self.has_skips:
            packs = told.get("smokes") in ("at times", "daily")
            return {"packs": packs, "scan": told.get("where: head") == "yes"}.get(question, True)
        if self.has_rules:
            full = question in MARKS and len(asked & {*MARKS}) == 2
            enemy = {"packs": "scan", "scan": "packs"}.get(question) in asked
            return not full and not enemy and (question == "smokes" or "smokes" in asked)
        return True

    def open(self, told: dict[str, str], asked: frozenset[str], known: frozenset[str] = frozenset()) -> list[str]:
        """Questions that may come next; in a fixed order what is not open when its turn comes is passed over."""
        left = list(self.shows)
        if self.is_fixed:
            left = left[max((left.index(q) + 1 for q in asked - known), default=0) :]
        found = [q for q in left if q not in asked and self.may_ask(q, told, asked)]
        return found[:1] if self.is_fixed else found

    def may_stop(self, asked: frozenset[str]) -> bool:
        return not self.has_rules or bool(asked & {*MARKS})

    def optimum(self, joint: Any) -> float:
        """Least expected cost of all policies that keep to the form; ``joint`` is P(answers, class)."""

        @functools.cache
        def value(told: tuple[tuple[str, int], ...], asked: frozenset[str]) -> float:
            at = dict(told)
            mass = joint[tuple(at.get(name, slice(None)) for name in COLUMNS)]
            mass = mass.reshape(-1, 2).sum(axis=0)
            best = float(mass.min()) if self.may_stop(asked) else np.inf
            answers = {name: ANSWERS[name][v] for name, v in told}
            for question in self.open(answers, asked):
                cost = float(mass.sum()) * self.price(question, answers)
                for shown in np.ndindex(*(len(ANSWERS[name]) for name in self.shows[question])):
                    more = at | dict(zip(self.shows[question], map(int, shown)))
                    cost += value(tuple(sorted(more.items())), asked | {question})
                best = min(best, cost)
            return best

        return value((), frozenset())


def codes(told: dict[str, str]) -> Any:
    return np.array([[ANSWERS[name].index(told[name]) if name in told else -1 for name in COLUMNS]])


def joint_of(model: Any) -> Any:
    """P(answers, class) of a model, one answer after the other."""
    shape = [len(answers) for answers in ANSWERS.values()]
    every = np.array(list(np.ndindex(*shape)))
    weight, seen = np.ones(len(every)), np.full(every.shape, -1)
    for j in range(len(COLUMNS)):
        weight *= model.predictive(j, seen)[np.arange(len(every)), every[:, j]]
        seen[:, j] = every[:, j]
    return (weight[:, None] * model.posterior(every)).reshape(*shape, 2)


class Walk(NamedTuple):
    """A case by its session: what was asked, and where it ended."""

    asked: list[str]
    beliefs: list[Any]
    paid: float
    decision: str


#: Rows that are told, and in one of them what nobody answers.
CASES = [1, 4, 7]
GAPS = {4: ["smokes", "where: head", "where: arm", "where: neck"]}


@functools.cache
def answers(row: int) -> dict[str, str]:
    """What a row answers, by column."""
    one = split_marks(table()[0], ["where"]).iloc[row].to_dict()
    return {name: str(value) for name, value in one.items() if name not in GAPS.get(row, ())}


@functools.cache
def walk(cell: tuple[str, str, str], row: int, known: tuple[str, ...] = (), clf: Any = None) -> Walk:
    """Play a case, and hold each question, price and belief against what the form and the model say."""
    clf, form, all_ = clf or fitted(*cell), Form(cell[0], cell[2]), answers(row)
    given = {q: told_of(form, q, all_) for q in known}
    case = clf.session(known={q: value for q, value in given.items() if value is not None})
    told = {name: all_[name] for q in known for name in form.shows[q] if name in all_}
    # what is known of every case is never asked; of this case alone, where it has an answer
    before = frozenset(q for q in known if clf.known or given[q] is not None)
    asked, beliefs, paid, path = before, [case.posterior], 0.0, []
    while (question := case.next_feature) is not None:
        open_ = form.open(told, asked, before)
        assert question.name in open_
        if not form.is_fixed:
            assert {one.name for one in case.suggestions(9)} == {*open_}
        assert question.price == pytest.approx(form.price(question.name, told), abs=1e-12)
        value = told_of(form, question.name, all_)
        case.unavailable(question.name) if value is None else case.observe(question.name, value)
        paid += 0.0 if value is None else form.price(question.name, told)
        told |= {name: all_[name] for name in form.shows[question.name] if name in all_}
        asked |= {question.name}
        path.append(question.name)
        np.testing.assert_allclose(case.posterior, clf.model_.posterior(codes(told))[0], atol=1e-9)
        beliefs.append(case.posterior)
    assert form.may_stop(asked)
    assert case.paid == pytest.approx(paid, abs=1e-12)
    return Walk(path, beliefs, paid, str(case.decision))


def told_of(form: Form, question: str, all_: dict[str, str]) -> Any:
    """What a session is told of a question: an answer, or marks; None where there is none."""
    if question != "where":
        return all_.get(question)
    return [name.removeprefix("where: ") for name in MARKS if all_[name] == "yes"] if MARKS[0] in all_ else None


CELLS = [(s, m, o) for s in STRUCTURES for m in MODELS for o in ORDERS]
#: What is known of a case beforehand, or of all.
KNOWN = {"skips": "smokes", "marks": "where", "prices": "where: arm", "rules": "where: arm", "all": "where"}


@functools.cache
def frame(structure: str) -> pd.DataFrame:
    """The rows of `CASES`, as a table has them."""
    X = pd.DataFrame([answers(row) for row in CASES], columns=COLUMNS)
    if not (form := Form(structure, "any")).has_marks:
        return X
    lists = [told_of(form, "where", answers(row)) for row in CASES]
    cells = [None if one is None else "; ".join(one) or "none of these" for one in lists]
    return X.drop(columns=MARKS).assign(where=cells)[["smokes", "packs", "where", "scan"]]


def paths(record: Any, form: Form) -> list[list[str]]:
    """Questions of each row in the order in which they were asked."""
    of = {name: question for question, own in form.shows.items() for name in own}
    return [list(dict.fromkeys(of[COLUMNS[j]] for j in row if j >= 0)) for row in record.order.tolist()]


def in_sessions(cell: tuple[str, str, str], folder: Path) -> None:
    for row in CASES:
        path = walk(cell, row)
        case, form = fitted(*cell).session(), Form(cell[0], cell[2])
        for question in path.asked:
            value = told_of(form, question, answers(row))
            case.unavailable(question) if value is None else case.observe(question, value)
        again = fitted(*cell).session(case.to_json())
        assert (str(again.decision), again.paid, again.next_feature) == (path.decision, pytest.approx(path.paid), None)
        for belief in path.beliefs[-2::-1]:
            case.undo()
            np.testing.assert_allclose(case.posterior, belief, atol=1e-12)


def in_batches(cell: tuple[str, str, str], folder: Path) -> None:
    clf, X, walks = fitted(*cell), frame(cell[0]), [walk(cell, row) for row in CASES]
    record = clf.acquire(X)
    assert paths(record, Form(cell[0], cell[2])) == [one.asked for one in walks]
    assert clf.predict(X).tolist() == [one.decision for one in walks]
    np.testing.assert_allclose(record.paid, [one.paid for one in walks], atol=1e-12)
    np.testing.assert_allclose(clf.predict_proba(X), [one.beliefs[-1] for one in walks], atol=1e-9)


def in_the_terminal(cell: tuple[str, str, str], folder: Path) -> None:
    fitted(*cell).save(folder / "m.seq")
    row, form, lines = CASES[1], Form(cell[0], cell[2]), list[str]()
    path = walk(cell, row)
    for question in path.asked:
        value = told_of(form, question, answers(row))
        lines.append("?" if value is None else "; ".join(value) or ";" if isinstance(value, list) else value)
    told = run("ask", folder / "m.seq", input="\n".join([*lines, ""]))
    assert re.findall(r"^\d+\. (.*?)  \(", told, re.MULTILINE) == path.asked
    assert f"Decision: {path.decision}" in told


def of_a_table(cell: tuple[str, str, str], folder: Path) -> None:
    fitted(*cell).save(folder / "m.seq")
    frame(cell[0]).to_csv(folder / "d.csv", index=False)
    run("predict", folder / "m.seq", folder / "d.csv", "-o", folder / "p.csv")
    found = pd.read_csv(folder / "p.csv")
    assert found.iloc[:, 0].tolist() == [walk(cell, row).decision for row in CASES]
    np.testing.assert_allclose(found["paid"], [walk(cell, row).paid for row in CASES], atol=1e-9)


def run(*args: object, **how: str) -> str:
    result = CliRunner().invoke(main, list(map(str, args)), **how)
    assert result.exit_code == 0, result.output
    return result.output


def as_data(cell: tuple[str, str, str], folder: Path) -> None:
    reads_as(policy_data(fitted(*cell)), [walk(cell, row) for row in CASES])


def reads_as(data: dict[str, Any], walks: list[Walk]) -> None:
    data = json.loads(json.dumps(data))
    for row, path in zip(CASES, walks):
        asked, end = (by_program if data["kind"] == "program" else by_graph)(data, answers(row))
        assert [data["questions"][q]["name"] for q in asked] == path.asked
        assert data["decisions"][end["decision"]] == path.decision
        np.testing.assert_allclose([end["cost"], *end["belief"]], [path.paid, *path.beliefs[-1]], atol=1e-9)


def outcomes(data: dict[str, Any], question: int, told: dict[str, str]) -> list[int]:
    """What a question shows of a case, by number."""
    shown = [data["features"][f] for f in data["questions"][question]["features"]]
    return [f["categories"].index(told[f["name"]]) if f["name"] in told else -1 for f in shown]


def by_program(data: dict[str, Any], told: dict[str, str]) -> tuple[list[int], dict[str, Any]]:
    program, asked = reader()(data), list[int]()
    for number, question in enumerate(data["questions"]):
        if question.get("known") and max(shown := outcomes(data, number, told)) >= 0:
            program.tell(number, shown, True)
    while (stand := program.stand())[1] >= 0:
        asked.append(stand[1])
        program.tell(stand[1], outcomes(data, stand[1], told))
    return asked, {"decision": stand[3], "cost": program.case["spent"], "belief": stand[0]}


def by_graph(data: dict[str, Any], told: dict[str, str]) -> tuple[list[int], dict[str, Any]]:
    node, asked, paid = data["nodes"][0], list[int](), 0.0
    while "ask" in node:
        (outcome,) = outcomes(data, node["ask"], told)
        asked.append(node["ask"])
        paid += node["price"] if outcome >= 0 else 0.0
        node = data["nodes"][node["missing"] if outcome < 0 else node["next"][outcome]]
    return asked, node | {"cost": paid}


IN_C = """
#include <stdio.h>
#include "policy.c"
int main(void)
{
    int row[SEQ_FEATURES], i, q;
    for (;;) {
        seq_case c;
        for (i = 0; i < SEQ_FEATURES; i++) if (scanf("%d", &row[i]) != 1) return 0;
        seq_begin(&c);
        while ((q = seq_question(&c)) >= 0) { printf("%d ", q); if (TELL(&c, q, row + seq_feature_start[q])) return 1; }
        printf("| %d %.17g", seq_decision(&c), seq_paid(c));
        for (i = 0; i < SEQ_CLASSES; i++) printf(" %.17g", seq_belief(&c)[i]);
        printf("\\n");
    }
}
"""


def in_c(cell: tuple[str, str, str], folder: Path) -> None:
    data, ends = played_in_c(cell, folder, [answers(row) for row in CASES])
    for row, (asked, decision, numbers) in zip(CASES, ends, strict=True):
        path = walk(cell, row)
        assert [data["questions"][q]["name"] for q in asked] == path.asked
        assert data["decisions"][decision] == path.decision
        np.testing.assert_allclose(numbers, [path.paid, *path.beliefs[-1]], atol=1e-9)


def played_in_c(
    cell: tuple[str, str, str], folder: Path, cases: list[dict[str, str]]
) -> tuple[dict[str, Any], list[tuple[list[int], int, list[float]]]]:
    """The data of a source, and of each case what the source asks, decides, is paid and believes."""
    data = export_policy(fitted(*cell), folder / "policy.c", format="c")
    tell = "seq_answer_all(c, q, o)" if data["kind"] == "program" else "seq_answer(c, q, *(o))"
    (folder / "main.c").write_text(f"#define TELL(c, q, o) ({tell})\n{IN_C}")
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O0", "main.c", "-o", "main", "-lm"]
    subprocess.run(["cc", *strict], cwd=folder, check=True)
    lines = [" ".join(str(v) for q in range(len(data["questions"])) for v in outcomes(data, q, told)) for told in cases]
    done = subprocess.run([folder / "main"], input="\n".join(lines), capture_output=True, text=True, check=True)
    ends = []
    for line in done.stdout.splitlines():
        asked, end = line.split("|")
        decision, *numbers = end.split()
        ends.append(([*map(int, asked.split())], int(decision), [*map(float, numbers)]))
    return data, ends


def by_certificates(cell: tuple[str, str, str], folder: Path) -> None:
    clf = fitted(*cell)
    cost = evaluate(clf.problem_, clf.policy_, method="exact").cost
    best = Form(cell[0], cell[2]).optimum(joint_of(clf.model_))
    assert clf.expected_cost_ == pytest.approx(cost, abs=1e-9)
    found = certify(clf.problem_, clf.policy_, method="exact")
    assert found.lower <= best + 1e-9
    assert best <= cost + 1e-9
    assert cost <= found.upper + 1e-9


def by_drawn_cases(cell: tuple[str, str, str], folder: Path) -> None:
    clf = fitted(*cell)
    found = certify(clf.problem_, clf.policy_, max_histories=1, n_paths=100)
    assert found.lower <= Form(cell[0], cell[2]).optimum(joint_of(clf.model_)) + 1e-9
    assert evaluate(clf.problem_, clf.policy_, method="exact").cost <= found.upper + 1e-9


def saved_and_loaded(cell: tuple[str, str, str], folder: Path) -> None:
    clf = fitted(*cell)
    clf.save(folder / "m.seq")
    again = load(folder / "m.seq")
    records = [one.acquire(frame(cell[0])) for one in (clf, again)]
    for name in ("order", "paid", "posterior", "decision"):
        np.testing.assert_array_equal(*(getattr(record, name) for record in records))
    assert walk(cell, CASES[0], clf=again).asked == walk(cell, CASES[0]).asked


def with_what_is_known(cell: tuple[str, str, str], folder: Path) -> None:
    question, form = KNOWN[cell[0]], Form(cell[0], cell[2])
    walks = [walk(cell, row, (question,)) for row in CASES]
    record = fitted(*cell).acquire(frame(cell[0]), known=form.shows[question])
    assert paths(record, form) == [one.asked for one in walks]
    np.testing.assert_allclose(record.paid, [one.paid for one in walks], atol=1e-12)


@functools.cache
def knowing(cell: tuple[str, str, str]) -> SequentialClassifier:
    """A plan for cases of which an answer is known before the first question."""
    question, order = KNOWN[cell[0]], ORDERS[cell[2]]["order"]
    order = order if order == "adaptive" else [q for q in order if q not in Form(cell[0], "any").shows[question]]
    clf = build(*cell, known=[question], order=order)
    return clf if cell[1] == "network" else clf.fit(*rows(cell[0]))


def planned_after_what_is_known(cell: tuple[str, str, str], folder: Path) -> None:
    clf, walks = knowing(cell), [walk(cell, row, (KNOWN[cell[0]],), knowing(cell)) for row in CASES]
    record = clf.acquire(frame(cell[0]))
    assert paths(record, Form(cell[0], cell[2])) == [one.asked for one in walks]
    np.testing.assert_allclose(record.paid, [one.paid for one in walks], atol=1e-12)
    found = certify(clf.problem_, clf.policy_, method="exact")
    assert found.lower - 1e-9 <= evaluate(clf.problem_, clf.policy_, method="exact").cost <= found.upper + 1e-9


def as_data_after_what_is_known(cell: tuple[str, str, str], folder: Path) -> None:
    reads_as(policy_data(knowing(cell)), [walk(cell, row, (KNOWN[cell[0]],), knowing(cell)) for row in CASES])


def in_explanations(cell: tuple[str, str, str], folder: Path) -> None:
    for row, told in zip(CASES, fitted(*cell).explain(frame(cell[0]))):
        path = walk(cell, row)
        assert [step.name for step in told.steps] == path.asked
        assert (str(told.decision), told.paid) == (path.decision, pytest.approx(path.paid))
        beliefs = [told.prior, *(step.after for step in told.steps)]
        np.testing.assert_allclose(beliefs, path.beliefs, atol=1e-9)
        assert all(name in str(told) for name in path.asked)


def in_chunks(cell: tuple[str, str, str], folder: Path) -> None:
    X, y = table()
    X = split_marks(X, ["where"])
    if Form(cell[0], "any").has_skips:  # rows are taken as they are: what the form does not ask is empty
        X = X.assign(packs=X["packs"].where(X["smokes"] != "no"), scan=X["scan"].where(X["where: head"] == "yes"))
    parts = [(X[at : at + 100], y[at : at + 100]) for at in range(0, len(y), 100)]
    clf = build(*cell).fit_chunks(parts)
    record, whole = clf.acquire(frame(cell[0])), fitted(*cell).acquire(frame(cell[0]))
    assert record.order.tolist() == whole.order.tolist()
    np.testing.assert_allclose(record.posterior, whole.posterior, atol=1e-9)
    np.testing.assert_allclose(record.paid, whole.paid, atol=1e-12)


def if_prices_change(cell: tuple[str, str, str], folder: Path) -> None:
    clf = fitted(*cell)
    problem, before = clf.problem_, evaluate(clf.problem_, clf.policy_, method="exact")
    found = what_if(problem, clf.policy_, prices=problem.prices + 0.001, solver=clf.solver)
    assert found.held.cost == pytest.approx(before.cost + 0.001 * before.n_features)
    assert found.policy.problem.limits.rules == problem.limits.rules or found.policy.problem.limits.rules is not None


IN_A_PAGE = """
((rows) => {
  const { data, stand } = window.seqclassPolicy;
  return rows.map((row) => {
    const told = [];
    let at = stand(told);
    while (at.asked) {
      const question = at.asked.question;
      told.push({ question, known: false, outcomes: data.questions[question].features.map((f) => row[f]) });
      at = stand(told);
    }
    return { asked: told.map((one) => one.question), decision: at.decision, cost: at.paid, belief: at.belief };
  });
})(%s)
"""


def in_a_page(cell: tuple[str, str, str], folder: Path, browser: Any) -> None:
    data = export_policy(fitted(*cell), folder / "page.html")
    shown = [
        [outcome for q in range(len(data["questions"])) for outcome in outcomes(data, q, answers(row))] for row in CASES
    ]
    browser.open(folder / "page.html", width=390)
    for row, end in zip(CASES, browser.run(IN_A_PAGE % json.dumps(shown)), strict=True):
        path = walk(cell, row)
        assert [data["questions"][q]["name"] for q in end["asked"]] == path.asked
        assert data["decisions"][end["decision"]] == path.decision
        np.testing.assert_allclose([end["cost"], *end["belief"]], [path.paid, *path.beliefs[-1]], atol=1e-9)
    assert browser.faults == []


USES: dict[str, Any] = {
    "session": in_sessions,
    "predict": in_batches,
    "ask": in_the_terminal,
    "json": as_data,
    "certificate": by_certificates,
    "save": saved_and_loaded,
    "known": with_what_is_known,
    "plan after known": planned_after_what_is_known,
    "json after known": as_data_after_what_is_known,
    "explain": in_explanations,
    "chunks": in_chunks,
    "what if": if_prices_change,
    "page": in_a_page,
    "c": in_c,
    "predict a file": of_a_table,
    "drawn certificate": by_drawn_cases,
}


def refusal(structure: str, order: str) -> str:
    """What is said where a cell does not go together; nothing where it does."""
    needs_any = structure == "rules" and order == "fixed"
    return 'rules need order="adaptive", in which any question may come next' if needs_any else ""


#: A cell in a use, by its values of structure, model, order and use.
Case = tuple[str, str, str, str]
EVERY: list[Case] = [(*cell, use) for use in USES for cell in CELLS]


def pairs(case: Case) -> set[tuple[tuple[int, str], ...]]:
    """Two values of a case each, by what they are of."""
    return {*combinations(enumerate(case), 2)}


def covering(cases: list[Case], done: set[Any]) -> list[Case]:
    """Cases in which any two values that are together in some are: each adds most that is new, the first of equals."""
    left, chosen = set().union(*map(pairs, cases)) - done, list[Case]()
    while left:
        chosen.append(max(cases, key=lambda case: len(pairs(case) & left)))
        left -= pairs(chosen[-1])
    return chosen


REFUSED = [case for case in EVERY if refusal(case[0], case[2])]
#: What runs by default; all others are slow. What is refused stands for no other two values.
CHOSEN = covering([case for case in EVERY if case not in REFUSED], set())
CHOSEN += covering(REFUSED, set().union(*map(pairs, CHOSEN)))


def test_any_two_values_of_the_matrix_run_by_default() -> None:
    assert len(EVERY) == 640
    assert set().union(*map(pairs, CHOSEN)) == set().union(*map(pairs, EVERY))
    assert len(CHOSEN) < 90


@pytest.mark.slow_cells(
    "page-marks-mixture-any",
    "c-prices-tree-fixed",
    "c-rules-network-any",
    "c-all-bayes-fixed",
    "c-marks-mixture-any",
    "c-skips-bayes-fixed",
    "drawn certificate-marks-mixture-any",
    "drawn certificate-rules-network-any",
    "page-skips-bayes-fixed",
    "save-rules-tree-any",
)
@pytest.mark.parametrize(
    ("use", "cell"),
    [pytest.param(case[3], case[:3], marks=() if case in CHOSEN else pytest.mark.slow) for case in EVERY],
    ids=lambda one: one if isinstance(one, str) else "-".join(one),
)
def test_a_form_in_every_use(use: str, cell: tuple[str, str, str], tmp_path: Path, request: Any) -> None:
    more = [request.getfixturevalue("browser")] if use == "page" else []
    if use == "c" and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if why := refusal(cell[0], cell[2]):
        with pytest.raises(ValueError, match=why) as found:
            USES[use](cell, tmp_path, *more)
        assert "\n" not in str(found.value)
    else:
        USES[use](cell, tmp_path, *more)


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("model", MODELS)
def test_a_source_ends_every_case_as_a_batch_does(model: str, order: str, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    cell = ("all", model, order)
    every = [dict(zip(COLUMNS, row)) for row in product(*([*shown, None] for shown in ANSWERS.values()))]
    record = fitted(*cell).acquire(pd.DataFrame(every, columns=COLUMNS))
    cases = [{name: value for name, value in case.items() if value is not None} for case in every]
    data, ends = played_in_c(cell, tmp_path, cases)
    for path, paid, posterior, decision, end in zip(
        paths(record, Form(cell[0], order)), record.paid, record.posterior, record.decision, ends, strict=True
    ):
        assert ([data["questions"][q]["name"] for q in end[0]], data["decisions"][end[1]]) == (path, decision)
        np.testing.assert_allclose(end[2], [paid, *posterior], atol=1e-9)
