"""``seqclass report``: what it writes, what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from seqclass.experiment import Results

TREE = "sklearn:DecisionTreeClassifier(max_depth=2)"


@pytest.fixture
def made(folder: Path, run: Any) -> Path:
    """The folder, with a run of two methods on irises."""
    result = run(
        "compare", "iris", "-m", "etana", "-m", f"tree={TREE}", "--folds", "2", "-o", "run.db", "--price", "0.1"
    )
    assert result.exit_code == 0, result.stderr
    return folder


def explored(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="explored">(.*?)</script>', Path(page).read_text("utf-8"))
    return json.loads(found[1]) if found else None


@pytest.mark.quick
def test_a_page(made: Path, run: Any) -> None:
    before = sorted(file.name for file in made.iterdir())
    result = run("report", "run.db")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "Wrote run.html: 4 cells, 0 instances to step through.\n"
    assert result.stderr == ""
    assert sorted(file.name for file in made.iterdir()) == sorted([*before, "run.html"])
    text = Path("run.html").read_text("utf-8")
    assert "<h1>run.db</h1>" in text
    assert explored("run.html") is None
    assert f"{Results.load('run.db').summary()['accuracy'].iloc[0]:.4f}" in text


def test_title_and_instances(made: Path, run: Any) -> None:
    result = run("report", "run.db", "-o", "page.html", "--title", "Irises & <co>", "--explore", "iris", "etana")
    assert "Wrote page.html: 4 cells, 20 instances to step through." in result.stdout
    [content] = explored("page.html")
    assert content["name"] == "etana on iris"
    assert content["classes"] == ["setosa", "versicolor", "virginica"]
    assert "<title>Irises &amp; &lt;co&gt;</title>" in Path("page.html").read_text("utf-8")
    run("report", "run.db", "-o", "page.html", "--explore", "iris", "etana", "--instances", "3", "--price", "0.1")
    assert len(explored("page.html")[0]["cases"]) == 3


def test_a_method_with_a_name_on_a_file(folder: Path, run: Any) -> None:
    method = "plain=etana(order='error')"
    given = ("--target", "the label", "--drop", "id")
    assert run("compare", "data.csv", *given, "-m", method, "--folds", "2", "-o", "run.db").exit_code == 0
    page = ("report", "run.db", "-o", "page.html", "--explore", "data.csv", method, "--instances", "5")
    result = run(*page, *given)
    assert result.exit_code == 0, result.stderr
    [content] = explored("page.html")
    assert content["name"] == "plain on data"
    assert content["classes"] == ["maybe", "no", "yes"]
    asked = {step["name"] for case in content["cases"] for step in case["steps"]}
    assert asked <= {"colour", "age in years", "empty", "smokes"}
    result = run(*page, "--target", "the label")
    assert result.exit_code == 2
    assert "the data of 'plain' on 'data' are not what the run had" in result.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nothing.db"], "there is no file nothing.db."),
        (["data.csv"], "data.csv cannot be read as a run"),
        (["run.db", "-o", "run.db"], "is the run itself"),
        (["run.db", "-o", "no/page.html"], "there is no folder no"),
        (["run.db", "--explore", "iris", "tree"], "there is no method 'tree'"),
        (["run.db", "--explore", "iris", f"tree={TREE}"], "nothing to step through"),
        (["run.db", "--explore", "iris", "ifc2f"], "the run has no method 'ifc2f'"),
        (["run.db", "--explore", "wine", "etana"], "the run has no data 'wine'"),
        (["run.db", "--explore", "iris", "etana", "--price", "0.2"], "the run has no price 0.2"),
        (["run.db", "--explore", "iris", "etana(order='error')"], "the run has no method"),
        (["run.db", "--explore", "iris", "etana=etana(order='error')"], "the method of 'etana' on 'iris' are not"),
        (["run.db", "--explore", "iris", "etana", "--explore", "iris", "etana"], "is given twice"),
        (["run.db", "--instances", "0"], "--instances"),
    ],
)
def test_refusals(made: Path, run: Any, arguments: list[str], message: str) -> None:
    before = {file.name: file.read_bytes() for file in made.iterdir()}
    result = run("report", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert {file.name: file.read_bytes() for file in made.iterdir()} == before
