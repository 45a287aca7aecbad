"""``--labels`` and ``--language``: the commands speak in the words of users, and take answers in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture

CSV = """feature;answer;text;help;unit;url
colour;;Which colour is it?;Look today.;;https://example.org/colour
colour;red;Red, like blood;;;
colour;green;Green;;;
age in years;;How old?;;years;
smokes;True;Yes;;;
"""


@pytest.fixture
def labels(folder: Path) -> str:
    Path("labels.csv").write_text(CSV)
    return "labels.csv"


@pytest.mark.parametrize("answer", ["Red, like blood", "red, LIKE blood", "red", "RED"])
def test_a_case_in_words(model: str, labels: str, run: Any, answer: str) -> None:
    """A question with its name, help and answers in their order; an answer by its words or its name."""
    result = run("ask", model, "--labels", labels, answers=f"best\n{answer}\n?\n")
    assert result.exit_code == 0, result.output
    first = "1. Which colour is it?  [colour]  (price 0.01, going on is expected"
    assert first in result.stdout
    assert "   Look today.\n   https://example.org/colour\n" in result.stdout
    assert "   one of: red = Red, like blood; green = Green; amber\n" in result.stdout
    assert "  Which colour is it?  [colour]: price" in result.stdout
    assert "How old?  [age in years]" in result.stdout
    assert "(Which colour is it? Red, like blood" in result.stdout
    plain = run("ask", model, answers="red\n?\n").stdout
    assert plain.rsplit("Belief: ", 1)[1].split(" (")[0] == result.stdout.rsplit("Belief: ", 1)[1].split(" (")[0]


def test_what_is_known_is_told_in_words(model: str, labels: str, run: Any) -> None:
    result = run("ask", model, "--labels", labels, "--known", "colour=green", answers="")
    assert "(Which colour is it? Green)" in result.stdout
    result = run("ask", model, "--labels", labels, answers="age in years = 51.5\nquit\n")
    assert "(How old? 51.5 years)" in result.stdout


def test_numbers_of_few_values_have_words(folder: Path, run: Any) -> None:
    rows = ["does,y"] + ["1,ill", "0,well"] * 30
    Path("few.csv").write_text("\n".join(rows) + "\n")
    assert run("fit", "few.csv", "--target", "y", "-o", "few.seq").exit_code == 0
    Path("few.json").write_text(json.dumps({"does": {"question": "Does it hurt?", "answers": {"1": "Yes", "0": "No"}}}))
    for answer in ("yes", "1"):
        result = run("ask", "few.seq", "--labels", "few.json", answers=f"{answer}\n")
        assert "   one of: 1 = Yes; 0 = No\n" in result.stdout
        assert "Decision: ill" in result.stdout
        assert "(Does it hurt? Yes)" in result.stdout


def test_a_bundle_in_words(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(rng.normal(size=(200, 3)) + y[:, None], columns=["crp", "wbc", "age"])
    costs = Costs({"blood": 0.01, "age": 5.0}, bundles={"crp": "blood", "wbc": "blood"})
    SequentialClassifier(ClassMixture(2), order="adaptive", feature_costs=costs).fit(X, y).save("blood.seq")
    told = {"blood": {"question": "Blood count", "help": "One sample."}, "crp": {"question": "Protein", "unit": "mg/l"}}
    Path("blood.json").write_text(json.dumps(told))
    result = run("ask", "blood.seq", "--labels", "blood.json", answers="2.5, 1\n")
    assert "1. Blood count  [blood]  (price 0.01" in result.stdout
    assert "   One sample.\n   shows Protein  [crp], wbc: answer with as many values" in result.stdout
    assert "(Blood count = (Protein 2.5 mg/l, wbc 1))" in result.stdout
    assert "(blood = (crp 2.5, wbc 1))" in run("ask", "blood.seq", answers="2.5, 1\n").stdout


def test_answers_of_a_network_in_the_order_of_its_file(folder: Path, run: Any) -> None:
    Path("net.bif").write_text("""network n {}
variable ill { type discrete [ 2 ] { yes, no }; }
variable pain { type discrete [ 3 ] { strong, mild, absent }; }
probability ( ill ) { table 0.4, 0.6; }
probability ( pain | ill ) { (yes) 0.6, 0.3, 0.1; (no) 0.1, 0.2, 0.7; }
""")
    planned = run("plan", "net.bif", "--target", "ill", "-o", "net.seq").stdout
    assert "strong | mild | absent\n" in planned
    assert "strong | mild | absent\n" in run("show", "net.seq").stdout
    assert "one of: strong, mild, absent\n" in run("ask", "net.seq", answers="").stdout


def test_an_explanation_in_words(model: str, labels: str, run: Any) -> None:
    told, plain = run("explain", model, "data.csv", "--labels", labels), run("explain", model, "data.csv")
    assert told.exit_code == 0, told.output
    assert "1. Which colour is it? " in told.stdout
    assert "1. colour = " in plain.stdout
    content = json.loads(run("explain", model, "data.csv", "--labels", labels, "--json").stdout)
    assert content["steps"][0]["name"] == "colour"  # which is for machines, with the words beside it
    assert content["steps"][0]["question"] == "Which colour is it?"
    assert content["steps"][0]["answer"] in ("Red, like blood", "Green", "amber")
    plain = json.loads(run("explain", model, "data.csv", "--json").stdout)
    assert "question" not in plain["steps"][0]
    assert {key: content[key] for key in plain if key != "steps"} == {
        key: plain[key] for key in plain if key != "steps"
    }


def test_classes_and_decisions_in_words(model: str, labels: str, run: Any, refuses: Any) -> None:
    """On the page, in JSON and C, in asking and explaining, in the order of their rows; a feature may be called so."""
    more = ["class;yes;They have it;;;", "class;no;They have it not;;;", "decision;yes;Treat it;;;"]
    Path(labels).write_text(CSV + "\n".join(more) + "\n")
    asked = run("ask", model, "--labels", labels, answers="red\nquit\n").stdout
    assert asked.splitlines()[-3].startswith("Belief: They have it ")
    assert re.search(r"Belief: They have it [\d.%]+, They have it not [\d.%]+, maybe", asked)
    assert re.search(
        r"Decision: .*|decision as things stand: (They have it not  \[no\]|Treat it  \[yes\]|maybe)", asked
    )
    told = run("explain", model, "data.csv", "--labels", labels).stdout
    assert re.search(r"At first: They have it [\d.%]+, They have it not [\d.%]+, maybe [\d.%]+", told)
    assert "(Treat it " in told or "Decision: Treat it, " in told or ", Treat it " in told
    content = json.loads(run("explain", model, "data.csv", "--labels", labels, "--json").stdout)
    assert content["classes"] == ["maybe", "no", "yes"]
    assert content["class_texts"] == ["maybe", "They have it not", "They have it"]
    for kind in ("html", "json", "c"):
        assert run("export", model, "--labels", labels, "--format", kind).exit_code == 0
    data = json.loads(Path("model.json").read_text("utf-8"))
    assert (data["class_texts"], data["class_order"]) == (content["class_texts"], [2, 1, 0])
    assert data["decision_texts"] == ["maybe", "They have it not", "Treat it"]
    assert data["decision_order"] == [1, 2, 0]
    assert "They have it not, Treat it and maybe" in Path("model.html").read_text("utf-8")
    assert '"Treat it"' in Path("model.c").read_text("utf-8")
    Path(labels).write_text(CSV + "class;none;None;;;\n")
    assert "column 'answer', names 'none', which is no class; there are 'maybe', 'no', 'yes'" in refuses(
        "ask", model, "--labels", labels
    )
    Path(labels).write_text(CSV + "class;yes;maybe;;;\n")
    assert "give two of each class the same words, 'maybe'" in refuses("export", model, "--labels", labels)


def test_an_export_in_words_and_languages(model: str, labels: str, run: Any) -> None:
    for kind in ("html", "json", "c"):
        result = run("export", model, "--labels", labels, "--format", kind, "--language", "de", "--currency", "EUR")
        assert result.exit_code == 0, result.output
    content = json.loads(Path("model.json").read_text("utf-8"))
    assert content["unit"] == "EUR"
    colour = next(f for f in content["features"] if f["name"] == "colour")
    assert colour["choices"] == [["red", "Red, like blood"], ["green", "Green"], ["amber", "amber"]]
    page = Path("model.html").read_text("utf-8")
    assert '<html lang="de">' in page
    assert "Preise und Kosten sind in EUR angegeben." in page
    assert "Red, like blood" in page
    source = Path("model.c").read_text("utf-8")
    assert '#define SEQ_UNIT "EUR"' in source
    assert '"Red, like blood"' in source


@pytest.mark.slow
def test_a_report_in_words(folder: Path, run: Any) -> None:
    assert run("compare", "iris", "-m", "etana", "--folds", "2", "-o", "run.db").exit_code == 0
    name = "petal width (cm)"
    told = {name: {"question": "Width of the petal", "unit": "cm"}, "class": {"answers": {"virginica": "Blue flag"}}}
    Path("labels.json").write_text(json.dumps(told))
    result = run("report", "run.db", "--labels", "labels.json", "--currency", "EUR")
    assert result.exit_code == 0, result.output
    page = Path("run.html").read_text("utf-8")
    assert '"name":"Width of the petal","shown":"' in page
    assert ' cm"' in page
    assert '"price":"0.01 EUR"' in page
    assert "Prices and costs are in EUR." in page
    assert name not in page.split("<h2>Settings")[0].split("<h2>Acquisition")[1]
    assert "petal length (cm)" in page
    assert "Blue flag" in page.split("<h2>Acquisition")[1]
    assert "virginica" not in page.split("<h2>Settings")[0].split("<h2>Acquisition")[1]


@pytest.mark.slow
def test_refusals(model: str, labels: str, run: Any, refuses: Any) -> None:
    Path("wrong.csv").write_text("feature,text\ncolor,A\n")
    message = "wrong.csv, row 1, column 'feature', names 'color', which is no feature; did you mean 'colour'?"
    for arguments in (("ask", model), ("explain", model, "data.csv"), ("export", model)):
        assert message in refuses(*arguments, "--labels", "wrong.csv")
        assert "there is no file none.csv" in refuses(*arguments, "--labels", "none.csv")
    assert not Path("model.html").exists()
    assert "is read" in refuses("export", model, "--labels", labels, "-o", labels)
    assert "'en', 'de', 'fr', 'es'" in refuses("export", model, "--language", "xx")
    assert run("compare", "iris", "-m", "etana", "--folds", "2", "-o", "run.db").exit_code == 0
    assert "names 'color', which is no feature" in refuses("report", "run.db", "--labels", "wrong.csv")
