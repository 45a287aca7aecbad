"""``seqclass ask``: one case, answered through a pipe."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import Costs
from seqclass.bn import ClassMixture, NetworkTables


@pytest.fixture
def numbers(folder: Path, run: Any) -> str:
    """A model that asks for x1 and then, if that is unavailable, for x0."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([y + 0.6 * rng.random(300), 10.0 * y + rng.random(300)])
    np.savez("a.npz", X=X, y=y)
    assert run("fit", "a.npz", "-o", "numbers.seq").exit_code == 0
    return "numbers.seq"


@pytest.mark.quick
def test_a_case(model: str, run: Any) -> None:
    result = run("ask", model, answers="green\n")
    assert result.exit_code == 0
    session = seqclass.load(model).session()
    assert "1. colour  (price 0.01, going on is expected to save" in result.stdout
    assert "one of: amber, green, red" in result.stdout
    assert f"maybe {100 * session.posterior[0]:.1f}%" in result.stdout
    session.observe("colour", "green")
    assert ("Decision: yes" in result.stdout) == (session.next_feature is None)
    assert "(colour = green)" in result.stdout


def test_numbers(numbers: str, run: Any) -> None:
    result = run("ask", numbers, answers="10.5\n")
    assert "Decision: 1" in result.stdout
    assert "Acquired 1 feature at a price of 0.01" in result.stdout


def test_a_mixture_in_a_fixed_order(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    clf = seqclass.SequentialClassifier(ClassMixture(2), feature_costs=0.001)
    clf.fit(rng.normal(size=(200, 3)) + y[:, None], y).save("mixture.seq")
    result = run("ask", "mixture.seq", answers="0.2\n?\n0.4\n")
    assert result.exit_code == 0
    assert "Decision: " in result.stdout
    assert "= unavailable" in result.stdout


def test_a_gap_that_tells_something_is_an_answer(folder: Path, run: Any) -> None:
    """Alone, and of a whole bundle."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) + y[:, None] * 0.3
    X[:, 1:][rng.random((300, 3)) < np.where(y, 0.6, 0.1)[:, None]] = np.nan
    costs = Costs(0.001, bundles=[None, None, "b", "b"])
    seqclass.SequentialClassifier(missing="informative", feature_costs=costs).fit(X, y).save("gaps.seq")
    known = ("--known", "x1=?")
    for answer in ("?", "?, ?"):
        told = " ".join(run("ask", "gaps.seq", *known, "--first", "b", answers=f"{answer}\n").stdout.split())
        assert "(x1 = missing (counts as an answer), b = missing (counts as an answer))" in told


def test_a_category_that_training_did_not_show_is_named_where_a_gap_tells(folder: Path, run: Any) -> None:
    """It is an answer then, asked for or known at the start, and the user hears what it is taken for."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    colour = np.where(rng.random(300) < np.where(y, 0.6, 0.1), None, np.where(y, "red", "blue"))
    X = pd.DataFrame({"colour": colour, "size": rng.normal(size=300) + y})
    seqclass.SequentialClassifier(missing="informative", handle_unknown="missing").fit(X, y).save("gaps.seq")
    words = "Training did not show 'pink', so it counts as missing."
    assert words in run("ask", "gaps.seq", "--first", "colour", answers="pink\n").stdout
    assert words in run("ask", "gaps.seq", "--known", "colour=pink").stdout
    assert words not in run("ask", "gaps.seq", "--known", "colour=red").stdout


def test_a_state_in_the_spelling_of_a_float_is_known(folder: Path, run: Any) -> None:
    tables = [np.array([0.5, 0.5]), np.array([[0.9, 0.2], [0.1, 0.8]])]
    network = NetworkTables(["ill", "dose"], [["no", "yes"], ["2.50", "3.0"]], [[], [0]], tables)
    seqclass.SequentialClassifier.from_network(network, "ill").save("dose.seq")
    for answer in ("2.5", "2.50", "3"):
        told = run("ask", "dose.seq", answers=f"{answer}\n").stdout
        assert f"dose = {answer})" in told
        assert "Training did not show" not in told


def test_what_is_known_to_be_missing_is_not_asked_for(numbers: str, run: Any) -> None:
    """And stands in the closing list, from a kept case too, where it says nothing of the classes."""
    result = run("ask", numbers, "--known", "x1=?", "--save", "case.json")
    for told in (result, run("ask", numbers, "--resume", "case.json")):
        assert "\n1. x0" in told.stdout
        assert "(x1 = unavailable)" in told.stdout
        assert "Acquired 0 features at a price of 0;" in told.stdout


def test_a_bundle_is_asked_for_though_a_part_is_known_to_be_missing(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    costs = Costs(0.01, bundles=[None, "b", "b"], charge_missing=True)
    seqclass.SequentialClassifier(feature_costs=costs).fit(rng.normal(size=(200, 3)) + y[:, None], y).save("b.seq")
    assert "1. b " in run("ask", "b.seq", "--known", "x1=?", "--first", "b").stdout
    told = run("ask", "b.seq", "--known", "b=?", "--first", "b").stdout
    assert "\n1. x0" in told
    assert "(b = unavailable)" in told
    assert "at a price of 0;" in told


def test_what_is_known_may_be_odd_too(numbers: str, run: Any, refuses: Any) -> None:
    assert "Taken, though 1000 is outside" in run("ask", numbers, "--known", "x1=1000").stdout
    assert "1000 is outside" in refuses("ask", numbers, "--known", "x1=1000", "--strict")


def test_invalid_answers_ask_again(model: str, numbers: str, run: Any) -> None:
    result = run("ask", model, answers="blue\n\nhelp\nGREEN\n")
    assert "'blue'; known are 'amber', 'green', 'red'. Answer ? to take it as missing.\n" in result.stdout
    assert "undo to take" in result.stdout
    assert "(colour = green)" in result.stdout
    result = run("ask", numbers, answers="much\nnan\nundo\n10.5\n")
    corrected = run("ask", numbers, answers="x0 = 1\nx0 = 2\n").stdout
    assert "x0 = 2" in corrected.splitlines()[-1]
    assert "answered before" not in corrected
    for words in ("must be a number, got 'much'", "must be finite", "no answer to take back", "Decision: 1"):
        assert words in result.stdout
    assert result.stdout.count("1. x1") == 1


def test_a_name_may_hold_the_sign_that_parts_it_from_its_value(folder: Path, run: Any) -> None:
    y = np.arange(60) % 2
    X = pd.DataFrame({"a": y, "a=b": y[::-1], "c ": y}, dtype=float)
    seqclass.SequentialClassifier(feature_costs=1e-6, order="adaptive").fit(
        X, np.where(np.arange(60) < 5, 1 - y, y)
    ).save("m.seq")
    result = run("ask", "m.seq", "--known", "a=b=1", answers="c=0\nundo\na = 1\nquit\n")
    assert "Taken back: c  = 0" in result.stdout
    assert "(a=b = 1, a = 1)" in result.stdout


def test_unavailable_and_undo(numbers: str, run: Any) -> None:
    result = run("ask", numbers, answers="?\nundo\n?\n1.2\n")
    assert result.stdout.count("1. x1") == 2
    assert "2. x0" in result.stdout
    assert "(x1 = unavailable, x0 = 1.2)" in result.stdout
    assert "Acquired 1 feature at a price of 0.01" in result.stdout


def test_undo_leaves_what_was_known_at_the_start(numbers: str, run: Any) -> None:
    nothing = "no answer to take back; what --known told stays"
    answers = "undo\nx1 = ?\nundo\nu\nquit\n"
    told = run("ask", numbers, "--known", "x0=0.5", "--save", "case.json", answers=answers).stdout
    assert told.count(nothing) == 2
    assert told.count("  Taken back: x1 = unavailable\n") == 1
    assert told.endswith("(x0 = 0.5)\nThe case is kept in case.json.\n")
    assert nothing in run("ask", numbers, "--known", "x1=?", "--known", "x0=0.5", answers="undo\n").stdout
    # a case that was kept can be put right in no other way
    again = run("ask", numbers, "--resume", "case.json", answers="undo\nundo\n10.5\n").stdout
    assert "Taken back: x0 = 0.5" in again
    assert "there is no answer to take back." in again
    assert "(x1 = 10.5)" in again


@pytest.mark.parametrize("end", ["", "quit\n", "Q\n"])
def test_stopping_early(numbers: str, run: Any, end: str) -> None:
    result = run("ask", numbers, answers="?\n" + end)
    assert result.exit_code == 0
    assert "Stopped before the end; the decision as things stand" in result.stdout
    assert "Acquired 0 features" in result.stdout


def test_save_and_resume(numbers: str, model: str, run: Any, refuses: Any) -> None:
    result = run("ask", numbers, "--save", "case.json", answers="?\n")
    assert "kept in case.json" in result.stdout
    assert run("ask", numbers, "--save", "other.json", answers="?\nundo\n").exit_code == 0
    result = run("ask", numbers, "--resume", "case.json", answers="1.2\n")
    assert "Resumed after 1 answer." in result.stdout
    assert "2. x0" in result.stdout
    assert "(x1 = unavailable, x0 = 1.2)" in result.stdout
    assert "1. x1" in run("ask", numbers, "--resume", "other.json").stdout
    assert "another model" in refuses("ask", model, "--resume", "case.json")
    assert "not a saved session" in refuses("ask", model, "--resume", numbers)
    assert "there is no file" in refuses("ask", model, "--resume", "missing.json")
    assert "no folder" in refuses("ask", model, "--save", "nowhere/case.json")


def test_an_answer_is_put_right_after_the_decision(numbers: str, run: Any) -> None:
    plain = run("ask", numbers, "--save", "case.json", answers="1.2\n").stdout
    assert "Decision: " in plain
    assert not plain.endswith("> \n")
    undone = run("ask", numbers, "--save", "case.json", answers="1.2\nundo\n?\n1.1\n").stdout
    assert undone.count("Decision: ") == 2
    assert undone.endswith("(x1 = unavailable, x0 = 1.1)\nThe case is kept in case.json.\n")
    resumed = run("ask", numbers, "--resume", "case.json", answers="undo\n1.3\nx1 = 0.4\nanything else\nundo\n").stdout
    assert resumed.startswith("Resumed after 2 answers.")
    assert "(x1 = unavailable, x0 = 1.3)" in resumed
    assert "x1 = 0.4" in resumed.rpartition("Decision: ")[2]
    odd = run("ask", numbers, "--resume", "case.json", answers="x1 = many\nundo\nundo\nundo\nquit\n").stdout
    assert "Feature 'x1' must be a number" in odd or "feature 'x1' must be a number" in odd
    assert "Stopped before the end" in odd


@pytest.mark.parametrize("terminal", [True, False])
def test_a_slip_after_the_decision_does_not_end_the_case(
    numbers: str, run: Any, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr("seqclass.cli.ask.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: terminal)))
    told = run("ask", numbers, answers="10.5\nx7 = 1\nx0 = 0.5\n\n").stdout
    assert "'x7' is no feature of this model; did you mean" in told
    assert told.count("Decision: ") == 2
    assert "(x1 = 10.5, x0 = 0.5)" in told


def test_known_first_and_others(numbers: str, run: Any, refuses: Any) -> None:
    result = run("ask", numbers, "--known", "x1=10.5")
    assert "Decision: 1" in result.stdout
    assert "Acquired 0 features at a price of 0; " in result.stdout
    result = run("ask", numbers, "--first", "x0", answers="best\nx1 = 10.5\n1.2\n")
    assert result.stdout.count("1. x0") == 1
    assert "  x1: price 0.01, expected to save" in result.stdout
    assert "(x1 = 10.5, x0 = 1.2)" in result.stdout
    for wrong, words in (("x7=1", "no feature of this model"), ("x1", "NAME=VALUE"), ("x1=a", "must be a number")):
        assert words in refuses("ask", numbers, "--known", wrong)
    assert "no feature of this model" in refuses("ask", numbers, "--first", "x7")
    run("ask", numbers, "--known", "x0=0.5", "--save", "case.json", answers="quit\n")
    assert "Decision: 1" in run("ask", numbers, "--resume", "case.json", answers="10.5\n").stdout
    assert "new case" in refuses("ask", numbers, "--resume", "case.json", "--known", "x1=1")


def test_bundles(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([y + 0.6 * rng.random(300), 10.0 * y + rng.random(300)])
    seqclass.SequentialClassifier(feature_costs=Costs(bundles={0: "blood", 1: "blood"})).fit(X, y).save("bundle.seq")
    result = run("ask", "bundle.seq", answers="1\n0.9, ?\n")
    assert "1. blood" in result.stdout
    assert "shows x0, x1" in result.stdout or "shows x1, x0" in result.stdout
    assert "give 2 values, commas between, of" in result.stdout
    assert "Decision: " in result.stdout
    assert "(blood = (x" in result.stdout


def test_a_category_with_a_comma_is_answered_in_a_bundle(folder: Path, run: Any) -> None:
    ill = np.arange(80) % 2
    X = pd.DataFrame({"pain": np.where(ill, "dull, all day", "none"), "size": ill + np.linspace(0, 0.5, 80)})
    costs = Costs(bundles={"pain": "exam", "size": "exam"})
    seqclass.SequentialClassifier(feature_costs=costs).fit(X, ill).save("m.seq")
    answers = ['"dull, all day"', "1.2"]
    shown = [feature.name for feature in seqclass.load("m.seq").session().next_feature.features]
    line = ", ".join(answers if shown == ["pain", "size"] else answers[::-1])
    result = run("ask", "m.seq", answers=f"dull, all day, 1.2\n{line}\n")
    assert "quotation marks around a value that holds a comma" in " ".join(result.stdout.split())
    assert "Decision: 1" in result.stdout
    assert "pain dull, all day" in result.stdout


def test_categories_that_look_like_commands_or_alike(folder: Path, run: Any) -> None:
    ill = np.arange(120) % 2 == 0
    rows = [f"{'Q ' if one else 'S'},{'Low' if one else 'low'},{'yes' if one else 'no'}\n" for one in ill]
    Path("ports.csv").write_text("port,level,y\n" + "".join(rows), encoding="utf-8")
    fitted = run("fit", "ports.csv", "-t", "y", "-o", "ports.seq", "--drop", "level")
    assert fitted.exit_code == 0
    session = seqclass.load("ports.seq").session()
    assert session.next_feature is not None
    assert session.next_feature.categories == ("Q", "S")
    for told in ("Q\n", " Q \n", "port = Q\n", "port=q\n"):
        result = run("ask", "ports.seq", answers=told)
        assert "Decision: yes" in result.stdout
        assert "(port = Q)" in result.stdout
    assert "Decision: yes" in run("ask", "ports.seq", "--known", "port= Q ").stdout
    assert "Stopped before the end" in run("ask", "ports.seq", answers="q\n").stdout


@pytest.mark.filterwarnings("default:column 'level'")
def test_categories_that_differ_by_case(folder: Path, run: Any) -> None:
    rows = [f"{'Low' if i % 2 else 'low'},{'yes' if i % 2 else 'no'}\n" for i in range(120)]
    Path("levels.csv").write_text("level,y\n" + "".join(rows), encoding="utf-8")
    fitted = run("fit", "levels.csv", "-t", "y", "-o", "levels.seq")
    assert "column 'level' holds 'Low', 'low' as categories of their own" in fitted.stderr
    for level, decision in (("Low", "yes"), ("low", "no")):
        assert f"Decision: {decision}" in run("ask", "levels.seq", answers=f"level = {level}\n").stdout


def test_a_decision_that_is_not_the_likeliest_class_says_why(folder: Path, run: Any) -> None:
    costs = Costs(0.01, decision_costs=[[0, 1], [100, 0]])
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    clf = seqclass.SequentialClassifier(feature_costs=costs).fit(rng.normal(size=(100, 1)) + 0.1 * y[:, None], y)
    clf.save("dear.seq")
    low = float(clf.coder_.discretizer_.bin_edges_[0][0]) - 1
    case = clf.session(known={"x0": low})
    assert case.posterior.argmax() == 0 != case.decision
    result = run("ask", "dear.seq", "--known", f"x0={low}")
    assert "It is the cheapest: " in result.stdout
    assert "for 0, the likeliest class." in result.stdout
