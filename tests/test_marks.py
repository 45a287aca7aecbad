"""Questions with several marks: a bundle of columns of yes and no, told as a list, a cell of a table or check boxes."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from live_cases import reader

from seqclass import Costs, SequentialClassifier, adaptive, certify_error, load
from seqclass.agent.agent import agent_of
from seqclass.agent.choices import check_labels
from seqclass.bn import ClassMixture, ContextBayes, NaiveBayes, TreeNetwork
from seqclass.cli import main
from seqclass.datasets import split_marks
from seqclass.export import export_policy, policy_data
from seqclass.pomdp import Adaptive, ClassInformation, Lookahead, certify
from seqclass.pomdp.bundles import Bundle

N_MARKS = 70


def table(n_marks: int = N_MARKS, n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    """Three classes, marks that most do not make, and two plain columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    names = np.array([f"m{j}" for j in range(n_marks)])
    has = rng.random((n, n_marks)) < rng.beta(0.4, 2.0, (3, n_marks))[y]
    has[0], has[1] = False, True  # every mark is there
    X = pd.DataFrame({"age": np.where(rng.random(n) < 0.3 + 0.3 * (y == 1), "old", "young")})
    X["pain is"] = ["; ".join(names[row]) or "none of these" for row in has.tolist()]
    X["fever"] = np.where(rng.random(n) < 0.2 + 0.3 * y, "yes", "no")
    return X, y


def classifier(model: object = None, price: float = 0.01, **settings: object) -> SequentialClassifier:
    solver = Adaptive([ClassInformation()], certificate_paths=0, max_rounds=0)
    how: dict[str, object] = {"order": "adaptive", "feature_costs": Costs(price, marks=["pain is"])} | settings
    return SequentialClassifier(model or NaiveBayes(), **({"solver": solver} | how))


@pytest.fixture(scope="module")
def fitted() -> SequentialClassifier:
    X, y = table()
    return classifier().fit(X, y)


def test_cells_become_columns_of_yes_and_no() -> None:
    X = pd.DataFrame({"a": [1, 2, 3, 4, 5], "pain is": ["sharp;burning ", ";", None, ["sharp"], "none of these"]})
    split = split_marks(X, ["pain is"])
    assert list(split.columns) == ["a", "pain is: burning", "pain is: sharp"]
    assert split.astype(object).iloc[:, 1:].to_numpy().tolist() == [
        ["yes", "yes"],
        ["no", "no"],
        [np.nan, np.nan],
        ["no", "yes"],
        ["no", "no"],
    ]
    assert split_marks(split, ["pain is"]) is split
    question = pd.DataFrame({"Where?": ["head;toe"]})
    assert list(split_marks(question, ["Where?"]).columns) == ["Where? head", "Where? toe"]


def test_marks_have_no_blanks_at_their_edges() -> None:
    told = split_marks(pd.DataFrame({"pain is": ["x; y", "y"]}), {"pain is": [" x", "x ", "y"]})
    assert list(told.columns) == ["pain is: x", "pain is: y"]
    assert told["pain is: x"].tolist() == ["yes", "no"]
    rows = pd.DataFrame({f"pain is: {mark}": ["yes", "no"] * 20 for mark in ("x", " x")})
    with pytest.raises(
        ValueError, match="the mark of 'pain is:  x' has blanks at its edges, as no cell has it: rename"
    ):
        SequentialClassifier(feature_costs=Costs(0.01, marks=["pain is"])).fit(rows, [0, 1] * 20)


@pytest.mark.parametrize(
    ("cells", "marks", "message"),
    [
        ([";", "none of these"], ["pain is"], "column 'pain is' must have two marks at least, and rows show none"),
        (["sharp", ";"], ["pain is"], "rows show only 'sharp'"),
        (["sharp;dull"], ["pan is"], "marks names 'pan is'; did you mean 'pain is'"),
        (["sharp;dull"], {"pain is": ["sharp", "burning"]}, "'dull' is no mark of 'pain is'"),
    ],
)
def test_what_cannot_be_a_question_with_marks_is_refused(cells: list[str], marks: object, message: str) -> None:
    X = pd.DataFrame({"pain is": cells})
    with pytest.raises(ValueError, match=message):
        split_marks(X, marks)
    if isinstance(marks, list):
        with pytest.raises(ValueError, match=message):
            classifier(feature_costs=Costs(marks=marks)).fit(X.assign(a=0.5), np.arange(len(X)))


@pytest.mark.parametrize("model", [NaiveBayes(), ClassMixture(2, random_state=0)], ids=["bayes", "mixture"])
def test_few_marks_are_the_bundle_of_their_columns(model: object) -> None:
    X, y = table(4)
    columns = split_marks(X, ["pain is"])
    bundles = {name: "pain is" for name in columns.columns if name.startswith("pain is")}
    one = classifier(model).fit(X, y)
    two = classifier(model, feature_costs=Costs(0.01, bundles=bundles)).fit(columns, y)
    assert one.expected_cost_ == two.expected_cost_
    for left, right in zip((one.acquire(X), one.acquire(columns)), (two.acquire(columns),) * 2):
        np.testing.assert_array_equal(left.posterior, right.posterior)


@pytest.mark.slow
def test_fingerprints_answer_as_numbers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(10)  # 1024 joint outcomes: too many to list them, few enough to be numbered
    one = classifier().fit(X, y)
    made, plain = Bundle.__init__, one.acquire(X)

    def without_numbers(self: Bundle, *args: object) -> None:
        made(self, *args)
        self.numbered, self.n_complete, self.n_codes = False, 2**62, 2**62

    monkeypatch.setattr(Bundle, "__init__", without_numbers)
    two = classifier().fit(X, y)
    np.testing.assert_allclose(two.acquire(X).posterior, plain.posterior, atol=1e-9)
    cost = [c.problem_.structure.costs_after(np.arange(3), c.problem_.initial_belief()) for c in (one, two)]
    np.testing.assert_allclose(*cost, atol=1e-9)
    for marks in ([], ["m1", "m7"]):
        posteriors = []
        for clf in (one, two):
            case = clf.session()
            case.observe("pain is", marks)
            posteriors.append(case.posterior)
        np.testing.assert_allclose(*posteriors, atol=1e-9)


def test_beliefs_are_the_product_of_all_marks(fitted: SequentialClassifier) -> None:
    X, y = table()
    columns = split_marks(X, ["pain is"])
    made = np.array([f"pain is: m{j}" in ("pain is: m3", "pain is: m7") for j in range(N_MARKS)])
    yes = np.array([[(columns[f"pain is: m{j}"][y == c] == "yes").sum() for j in range(N_MARKS)] for c in range(3)])
    n = np.bincount(y)[:, None]
    log = np.where(made, np.log((yes + 1) / (n + 2)), np.log((n - yes + 1) / (n + 2))).sum(axis=1)
    joint = np.exp(log - log.max()) * np.bincount(y)
    case = fitted.session()
    case.observe("pain is", ["m3", "m7"])
    np.testing.assert_allclose(case.posterior, joint / joint.sum(), atol=1e-9)


@pytest.mark.slow
def test_a_session_takes_marks_keeps_them_and_shows_them_by_name(fitted: SequentialClassifier, tmp_path) -> None:
    case = fitted.session()
    assert case.next_feature.name == "pain is"
    case.observe("pain is", ["m3", "m7"])
    belief = case.posterior
    fitted.save(tmp_path / "m.seq")
    for clf in (fitted, load(tmp_path / "m.seq")):
        np.testing.assert_array_equal(clf.session(case.to_json()).posterior, belief)
        for known in (
            "m3; m7",
            ["m7", "m3"],
            {f"pain is: m{j}": "yes" if j in (3, 7) else "no" for j in range(N_MARKS)},
        ):
            np.testing.assert_array_equal(clf.session(known={"pain is": known}).posterior, belief)
    case.undo()
    case.observe("pain is", [])
    assert not np.allclose(case.posterior, belief)
    case.undo()
    case.unavailable("pain is")
    np.testing.assert_allclose(case.posterior, fitted.session().posterior)
    with pytest.raises(ValueError, match="'m99' is no mark of 'pain is'; did you mean"):
        fitted.session().observe("pain is", ["m1", "m99"])
    row = pd.DataFrame({"age": ["old"], "pain is": ["m3;m7"], "fever": ["no"]})
    assert "pain is = m3, m7: " in str(fitted.explain(row)[0])
    assert "pain is = none of these: " in str(fitted.explain(row.assign(**{"pain is": ";"}))[0])


def test_marks_may_be_known_at_the_start(tmp_path) -> None:
    X, y = table(6)
    clf = classifier(known=["pain is"]).fit(X, y)
    columns = [f"pain is: m{j}" for j in range(6)]
    by_column = classifier(known=columns, feature_costs=0.01).fit(split_marks(X, ["pain is"]), y)
    np.testing.assert_allclose(clf.predict_proba(X), by_column.predict_proba(split_marks(X, ["pain is"])), atol=1e-12)
    assert clf.expected_cost_ == pytest.approx(by_column.expected_cost_, abs=1e-12)
    assert clf.problem_.n_questions == by_column.problem_.n_questions == 2
    case = clf.session(known={"pain is": ["m1", "m4"]})
    told = by_column.session(known={c: "yes" if c[-1] in "14" else "no" for c in columns})
    np.testing.assert_allclose(case.posterior, told.posterior, atol=1e-12)
    assert case.paid == 0
    case.correct("pain is", [])
    assert case.paid == 0
    assert case.history[0].known
    clf.save(tmp_path / "m.seq")
    for word, lines in ((["pain is = m1; m4"], "quit\n"), ([], "pain is = m1; m4\nquit\n")):
        known = [part for one in word for part in ("--known", one)]
        out = CliRunner().invoke(main, ["ask", str(tmp_path / "m.seq"), *known], input=lines).output
        assert ("not told yet: 'pain is'." in out) != bool(word)
        assert f"{100 * case.posterior.max():.1f}%" not in out
        assert f"{100 * told.posterior.max():.1f}%" in out


MODELS = {
    "bayes": NaiveBayes(),
    "mixture": ClassMixture(2, random_state=0),
    "context": ContextBayes(),
    "tree": TreeNetwork(),
}
COLUMNS = [f"pain is: m{j}" for j in range(5)]


@cache
def knowing(name: str, order: str) -> SequentialClassifier:
    return classifier(MODELS[name], order=order, known=["pain is"], solver=Lookahead(certificate_paths=0)).fit(
        *table(5)
    )


KNOWING = pytest.mark.parametrize(
    ("name", "order"),
    [
        *((name, "adaptive") for name in MODELS),
        ("tree", "conditional"),
        *(pytest.param(name, "conditional", marks=pytest.mark.slow) for name in ("bayes", "mixture", "context")),
    ],
)


@pytest.mark.slow_cells("bayes-adaptive", "mixture-adaptive", "tree-adaptive", "tree-conditional")
@KNOWING
def test_what_is_said_of_known_marks_is_what_is_said_of_their_columns(name: str, order: str) -> None:
    X, y = table(5)
    clf, split = knowing(name, order), split_marks(X, ["pain is"])
    settings = {"order": order, "solver": clf.solver}
    columns = classifier(MODELS[name], known=COLUMNS, feature_costs=0.01, **settings).fit(split, y)
    bounds = [certify(one.problem_, one.policy_, method="exact") for one in (clf, columns)]
    assert (bounds[0].lower, bounds[0].upper) == pytest.approx((bounds[1].lower, bounds[1].upper), abs=1e-9)
    rates = [certify_error(one, rows, y, alpha=0.5) for one, rows in ((clf, X), (columns, split))]
    assert str(rates[0]) == str(rates[1])
    for row in (2, 3):
        why, alone = clf.explain(X[row : row + 1])[0], columns.explain(split[row : row + 1])[0]
        assert why.known == {"pain is": alone.known}
        assert (*why.prior, why.paid, why.decision) == pytest.approx((*alone.prior, alone.paid, alone.decision))
        assert str(why).startswith(f"Known: pain is = {X['pain is'][row].replace(';', ',')}\n")
        assert type(why).from_dict(why.to_dict()) == why
        assert str(why.in_words({"pain is": {"question": "Where?"}})).startswith("Known: Where? ")
    parts = [(split[at : at + 100], y[at : at + 100]) for at in range(0, len(y), 100)]
    if MODELS[name].__class__ is not ContextBayes:
        whole = classifier(MODELS[name], known=["pain is"], **settings)
        np.testing.assert_allclose(whole.fit_chunks(parts).predict_proba(X), clf.predict_proba(X), atol=1e-9)
    why = "learns from all rows at once" if MODELS[name].__class__ is ContextBayes else "for chunks seqclass"
    with pytest.raises(ValueError, match=why):
        classifier(MODELS[name], known=["pain is"], **settings).fit_chunks([(X, y)])


@KNOWING
def test_a_program_is_told_the_marks_that_are_known(name: str, order: str) -> None:
    clf = knowing(name, order)
    data = json.loads(json.dumps(policy_data(clf)))
    program = reader()(data)
    begun = program.case
    for told in ([], ["m1", "m4"]):
        case, program.case = clf.session(known={"pain is": told}), dict(begun)
        for number, shows in known_questions(data, told):
            program.tell(number, shows, True)
        while True:
            belief, asked, _, decision = program.stand()
            np.testing.assert_allclose(belief, case.posterior, atol=1e-9)
            assert data["decisions"][decision] == str(case.decision)
            if (question := case.next_feature) is None:
                assert asked == -1
                break
            assert data["questions"][asked]["name"] == question.name
            program.tell(asked, [0], False)
            case.observe(question.name, question.categories[0])


def known_questions(data: dict[str, Any], marks: list[str]) -> list[tuple[int, list[int]]]:
    """Number of each question that is known, and its outcomes if these marks were made."""
    found = []
    for number, question in enumerate(data["questions"]):
        if question.get("known"):
            names = [data["features"][feature]["name"] for feature in question["features"]]
            found.append((number, [int(name.removeprefix("pain is: ") in marks) for name in names]))
    return found


@pytest.mark.slow_cells("mixture")
@pytest.mark.parametrize("name", ["mixture", "tree"])
def test_a_source_is_told_the_marks_that_are_known(name: str, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    clf = knowing(name, "adaptive")
    data = export_policy(clf, tmp_path / "policy.c", format="c")
    told = [
        f"{{int o[] = {{{str(o)[1:-1]}}}; seq_know_all(&c, {q}, o);}}" for q, o in known_questions(data, ["m1", "m4"])
    ]
    (tmp_path / "main.c").write_text(f"""
#include <stdio.h>
#include "policy.c"
int main(void)
{{
    seq_case c;
    int i, q;
    seq_begin(&c);
    {" ".join(told)}
    while ((q = seq_question(&c)) >= 0) {{ printf("%d ", q); seq_answer(&c, q, 0); }}
    printf("\\n%d %.17g", seq_decision(&c), seq_paid(c));
    for (i = 0; i < SEQ_CLASSES; i++) printf(" %.17g", seq_belief(&c)[i]);
    return 0;
}}""")
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    asked, stand = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split("\n")
    case, names = clf.session(known={"pain is": ["m1", "m4"]}), []
    while (question := case.next_feature) is not None:
        names.append(question.name)
        case.observe(question.name, question.categories[0])
    assert [data["questions"][int(q)]["name"] for q in asked.split()] == names
    decision, *numbers = stand.split()
    assert data["decisions"][int(decision)] == str(case.decision)
    np.testing.assert_allclose(np.array(numbers, dtype=float), [case.paid, *case.posterior], atol=1e-9)


@pytest.mark.slow
def test_rows_hold_marks_as_cells_lists_or_columns(fitted: SequentialClassifier) -> None:
    X, _ = table()
    record, columns = fitted.acquire(X), split_marks(X, ["pain is"])
    np.testing.assert_array_equal(fitted.acquire(columns).posterior, record.posterior)
    dicts = [{"pain is": cell.split("; "), "age": age} for cell, age in zip(X["pain is"][2:5], X["age"][2:5])]
    np.testing.assert_array_equal(fitted.acquire(dicts).posterior, record.posterior[2:5])
    with pytest.raises(ValueError, match="'m99' is no mark of 'pain is'"):
        fitted.predict(X.assign(**{"pain is": "m99"}))
    lenient = classifier(handle_unknown="missing").fit(X, table()[1])
    assert lenient.acquire(X[:1].assign(**{"pain is": "m99"})).n_features[0] <= 2  # the cell is missing


def run(*args: object, **how: str) -> str:
    result = CliRunner().invoke(main, list(map(str, args)), **how)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.slow
def test_live_cases_and_tables_on_the_command_line_have_marks(fitted: SequentialClassifier, tmp_path) -> None:
    fitted.save(tmp_path / "m.seq")
    asked = run("ask", tmp_path / "m.seq", input="m3; zz\nm3; m7\n?\n?\n")
    assert "any of: m0; m1; m10; m11;" in " ".join(asked.split())
    assert "'zz' is no mark of 'pain is'" in asked
    assert "(pain is = (m3, m7)" in asked
    known = run("ask", tmp_path / "m.seq", "--known", "pain is=none of these", input="?\n?\n")
    assert "pain is = (none of these)" in known
    X, _ = table()
    X[:5].to_csv(tmp_path / "d.csv", index=False)
    run("predict", tmp_path / "m.seq", tmp_path / "d.csv", "-o", tmp_path / "p.csv")
    predicted = pd.read_csv(tmp_path / "p.csv").iloc[:, 0]
    assert predicted.astype(str).tolist() == fitted.predict(X[:5]).astype(str).tolist()


@pytest.mark.parametrize("rows", ["pain is,m3,sharp\npain is,m7,DULL\n", "pain is: m3,,sharp\npain is: m7,yes,DULL\n"])
def test_marks_have_words(rows: str, fitted: SequentialClassifier, tmp_path) -> None:
    fitted.save(tmp_path / "m.seq")
    (tmp_path / "l.csv").write_text(f"feature,answer,text\npain is,,What hurts?\n{rows}")
    data = policy_data(fitted, labels=tmp_path / "l.csv")
    marks = next(one for one in data["questions"] if one["name"] == "pain is")["marks"]
    assert {"sharp", "DULL", "m10"} <= set(marks)
    assert not {"m3", "m7"} & set(marks)
    asked = " ".join(run("ask", tmp_path / "m.seq", "--labels", tmp_path / "l.csv", input="SHARP; m7\n?\n?\n").split())
    assert "m3 = sharp" in asked
    assert "What hurts? (sharp, DULL)" in asked
    told = fitted.explain(table()[0].iloc[1:2])[0].in_words(check_labels(agent_of(fitted), tmp_path / "l.csv"))
    assert "sharp" in str(told)
    assert "m3," not in str(told)
    (tmp_path / "l.csv").write_text("feature,answer,text\npain is,zz,sharp\n")
    with pytest.raises(ValueError, match="'zz', which 'pain is' does not show; its answers are 'm0'"):
        policy_data(fitted, labels=tmp_path / "l.csv")


@pytest.mark.slow
def test_a_table_of_prices_has_bundles_beside_marks(tmp_path: Path) -> None:
    X, y = table(3, 60)
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    rows = "feature,cost,bundle\nage,0.02,{}\npain is,0.01,{}\nfever,0.02,{}\n"
    command = ["fit", str(tmp_path / "d.csv"), "-t", "y", "--marks", "pain is", "--method", "etana", "--held-out", "0"]
    command += ["--costs", str(tmp_path / "p.csv"), "-o", str(tmp_path / "m.seq")]
    for bundles, names in ((("", "", ""), {"pain is"}), (("exam", "", "exam"), {"pain is", "exam"})):
        (tmp_path / "p.csv").write_text(rows.format(*bundles), "utf-8")
        told = CliRunner().invoke(main, command)
        assert not told.exit_code, told.output
        prices = load(tmp_path / "m.seq").agent_.prices
        assert set(prices.bundle_names) == names
        assert prices.full.tolist() == [0.02, 0.01, 0.01, 0.01, 0.02]
    (tmp_path / "p.csv").write_text(rows.format("exam", "exam", ""), "utf-8")
    told = CliRunner().invoke(main, command)
    assert "bundles: 'pain is: m0' is a mark of 'pain is', which is asked by itself" in " ".join(told.output.split())


@pytest.mark.slow
def test_the_command_line_fits_to_marks(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = table(12, 120)
    X.assign(y=y).to_csv("d.csv", index=False)
    how = ("--target", "y", "--marks", "pain is", "--method", "etana", "--order", "adaptive")
    run("fit", "d.csv", *how, "-o", "m.seq")
    assert load("m.seq").acquire(X).n_features.max() <= 3
    unknown = CliRunner().invoke(main, ["fit", "d.csv", "--target", "y", "--marks", "pin", "-o", "n.seq"])
    assert "marks names 'pin'" in unknown.output


def test_a_program_has_the_marks(fitted: SequentialClassifier, tmp_path) -> None:
    question = next(one for one in policy_data(fitted)["questions"] if one["name"] == "pain is")
    assert len(question["marks"]) == len(question["features"]) == N_MARKS
    export_policy(fitted, tmp_path / "m.html")
    assert '"marks"' in (tmp_path / "m.html").read_text("utf-8")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    export_policy(fitted, tmp_path / "m.c")
    subprocess.run(["cc", "-std=c99", "-fsyntax-only", "m.c"], cwd=tmp_path, check=True)


@pytest.mark.slow
def test_the_default_classifier_takes_marks() -> None:
    X, y = table()
    clf = adaptive(Costs(0.01, marks=["pain is"]), effort="quick").fit(X, y)
    assert clf.score(X, y) > 0.8


def test_marks_in_two_spellings_are_told_of_and_none_of_these_is_read_in_any() -> None:
    cells = ["slow; noise", "Slow", "None of these", "noise"] * 30
    frame = pd.DataFrame({"see": cells, "age": np.arange(120.0) % 7})
    with pytest.warns(UserWarning, match="X holds 'see: Slow', 'see: slow' as columns of their own: write alike"):
        clf = SequentialClassifier(feature_costs=Costs(marks=["see"])).fit(frame, np.arange(120) % 2)
    assert clf.feature_names_in_.tolist() == ["see: Slow", "see: noise", "see: slow", "age"]
    case, same = clf.session(), clf.session()
    case.observe("see", "None of these")
    same.observe("see", [])
    assert case.posterior.tolist() == same.posterior.tolist()
