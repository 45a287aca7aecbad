"""``seqclass report``: what it writes, what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from seqclass.cli import main
from seqclass.experiment import Results
from seqclass.report import write_report

pytestmark = pytest.mark.usefixtures("undrawn")
TREE = "sklearn:DecisionTreeClassifier(max_depth=2)"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two methods on irises."""
    path = tmp_path_factory.mktemp("run") / "run.db"
    given = ["compare", "iris", "-m", "etana", "-m", f"tree={TREE}", "--folds", "2", "-o", str(path), "--price", "0.1"]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.stderr
    return path


@pytest.fixture
def made(folder: Path, once: Path) -> Path:
    """The folder, with that run as ``run.db``."""
    shutil.copy(once, folder / "run.db")
    return folder


def explored(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="explored">(.*?)</script>', Path(page).read_text("utf-8"))
    return json.loads(found[1]) if found else None


@pytest.mark.quick
def test_a_page(made: Path, run: Any) -> None:
    before = sorted(file.name for file in made.iterdir())
    result = run("report", "run.db")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "Wrote run.html: 4 cells, 20 instances to step through.\n"
    assert result.stderr == ""
    assert sorted(file.name for file in made.iterdir()) == sorted([*before, "run.html"])
    text = Path("run.html").read_text("utf-8")
    assert re.search(r"<h1>[^<]+ on [^<]+</h1>", text)
    assert [one["name"] for one in explored("run.html")] == ["etana on iris"]
    assert f"{Results.load('run.db').summary()['accuracy'].iloc[0]:.4f}" in text


@pytest.mark.slow
def test_title_and_instances(made: Path, run: Any) -> None:
    result = run("report", "run.db", "-o", "page.html", "--title", "Irises & <co>", "--explore", "iris", "etana")
    assert "Wrote page.html: 4 cells, 20 instances to step through." in result.stdout
    [content] = explored("page.html")
    assert content["name"] == "etana on iris"
    assert content["classes"] == ["setosa", "versicolor", "virginica"]
    assert "<title>Irises &amp; &lt;co&gt;</title>" in Path("page.html").read_text("utf-8")
    run("report", "run.db", "-o", "page.html", "--explore", "iris", "etana", "--instances", "3", "--price", "0.1")
    assert len(explored("page.html")[0]["cases"]) == 3


@pytest.mark.slow
def test_without_instances(made: Path, run: Any) -> None:
    result = run("report", "run.db", "--no-explorer")
    assert result.stdout == "Wrote run.html: 4 cells.\n"
    assert explored("run.html") is None
    command = ("compare", "iris", "-m", "etana", "--folds", "2", "-o", "bare.db")
    assert run(*command, "--keep-explanations", "0", "--keep-instances", "5").exit_code == 0
    assert len(Results.load("bare.db").instances()) == 10
    result = run("report", "bare.db")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "Wrote bare.html: 2 cells, 0 instances to step through.\nThis run keeps no explained"
    )
    assert "This run keeps no explained instances" in Path("bare.html").read_text("utf-8")
    result = run("report", "bare.db", "--explore", "iris", "etana")
    assert result.exit_code == 2
    assert "it was run with keep_explanations=0" in result.stderr


@pytest.mark.slow
def test_prices(made: Path, run: Any) -> None:
    more = ("compare", "iris", "-m", "etana", "--folds", "2", "-o", "run.db", "--price", "0.1", "0.3")
    assert run(*more).exit_code == 0
    assert run("report", "run.db", "--price", "0.3", "--instances", "7").exit_code == 0
    [content] = explored("run.html")
    assert content["note"].startswith("Price 0.3, seed 0, fold 0: 7 of the 75 rows scored")
    assert "etana on iris, price 0.3: 150 instances" in Path("run.html").read_text("utf-8")


@pytest.mark.slow
def test_a_method_with_a_name_on_a_file(folder: Path, run: Any) -> None:
    given = ("--target", "the label", "--drop", "id", "-m", "plain=etana(order='error')")
    assert run("compare", "data.csv", *given, "--folds", "2", "-o", "run.db").exit_code == 0
    result = run("report", "run.db", "-o", "page.html", "--explore", "data", "plain", "--instances", "5")
    assert result.exit_code == 0, result.stderr
    [content] = explored("page.html")
    assert content["name"] == "plain on data"
    assert content["classes"] == ["maybe", "no", "yes"]
    asked = {step["name"] for case in content["cases"] for step in case["steps"]}
    assert asked <= {"colour", "age in years", "empty", "smokes"}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nothing.db"], "there is no file nothing.db."),
        (["data.csv"], "data.csv cannot be read as a run: it is a file of another kind"),
        (["run.db", "-o", "run.db"], "run.db is read; name another file to write."),
        (["run.db", "-o", "no/page.html"], "there is no folder no"),
        (
            ["run.db", "--explore", "iris", "tree"],
            "nothing to step through of 'tree' on 'iris': it asks for no features",
        ),
        (["run.db", "--explore", "iris", "ifc2f"], "the run has no method 'ifc2f'"),
        (["run.db", "--explore", "wine", "etana"], "the run has no data 'wine'"),
        (["run.db", "--explore", "iris", "etana", "--price", "0.2"], "the run has no price 0.2"),
        (["run.db", "--explore", "iris", "etana(order='error')"], "the run has no method"),
        (["run.db", "--price", "0.2"], "the run has no price 0.2"),
        (["run.db", "--positive", "ill"], "--positive must name classes of data sets whose instances are kept, got"),
        (["run.db", "--no-explorer", "--explore", "iris", "etana"], "--no-explorer leaves out"),
        (["run.db", "--no-explorer", "--instances", "3"], "--no-explorer leaves out"),
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of POSIX systems")
def test_a_device_is_not_replaced(made: Path, refuses: Any) -> None:
    os.mkfifo("pipe")
    assert "pipe is a device or pipe; name a file" in refuses("report", "run.db", "-o", "pipe")
    with pytest.raises(ValueError, match="pipe: it is a folder, device or pipe"):
        write_report(Results.load("run.db"), "pipe")
    assert Path("pipe").is_fifo()
