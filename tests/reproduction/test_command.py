"""``python -m reproduction``: what it lists, computes, writes and refuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

import seqclass
from seqclass.experiment import Results

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

import reproduction
from reproduction import Progress, get_tables, iter_reproduced
from reproduction.__main__ import _Watch
from reproduction.page_files import BEGIN, END


@pytest.fixture
def data(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for one set, in a folder of its own."""
    monkeypatch.delenv("SEQCLASS_DATA", raising=False)
    X, y = make_classification(120, 12, n_informative=4, random_state=0)
    (folder / "sets").mkdir()
    np.savez(folder / "sets" / "madelon.npz", X=X, y=y, train_idx=np.arange(90), valid_idx=np.arange(90, 120))
    return folder / "sets"


@pytest.mark.quick
def test_list(data: Path, run: Any) -> None:
    result = run("--list", "--data", data)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert all(len(line) <= 100 for line in lines)
    papers = [line for line in lines if line and not line.startswith(" ")]
    assert [paper.split(":")[0] for paper in papers] == ["ETANA", "FIRES", "Semi-RFS", "IFC2F", "SAOLA", "GDFS"]
    told = {
        line.split()[0]: lines[i + 1].strip() for i, line in enumerate(lines) if line[2:3].strip() and line[0] == " "
    }
    assert told["etana-2"].startswith("part: data absent: mll (MLL), lung2_desouto1543 (Lung2)")
    assert told["fires-3"].startswith("part: data absent: spambase_pystreamfs")
    assert told["fires-fig6"] == "data absent: gisette_valid1000 (Gisette)"
    assert told["semi_rfs-fig3"] == "available"
    assert told["ifc2f-fig4"].startswith("not possible")
    some = run("saola-2", "gdfs", "--list").stdout.splitlines()
    assert [line.split()[0] for line in some if line[:3].strip()] == ["SAOLA:", "saola-2", "GDFS:", "gdfs-spambase"]


def untimed(text: str) -> str:
    """Without the seconds that tables took."""
    return re.sub(r" \([\d. smin]+\)$", "", text, flags=re.MULTILINE)


@pytest.mark.slow
def test_figures_side_by_side_and_files(data: Path, folder: Path, run: Any) -> None:
    arguments = ("etana-2", "ifc2f-fig4", "--quick", "--data", data, "-o", "run.db")
    result = run(*arguments, "--json", "found.json", "--markdown", "found.md")
    assert result.exit_code == 0, result.stderr
    assert "[1 of 2] etana-2: Table 2" in result.stderr
    assert re.search(r"^etana-2: Table 2: accuracy at price 0.01 \([\d.]+ s\)$", result.stdout, re.MULTILINE)
    line = next(line.split() for line in result.stdout.splitlines() if line.split()[:2] == ["Madelon", "ETANA"])
    assert line[2:4] == ["0.6233", "0.602"]
    content = json.loads(Path("found.json").read_text())
    assert [part["name"] for part in content["tables"]] == ["etana-2", "ifc2f-fig4"]
    row = content["tables"][0]["rows"][0]
    assert (row["data"], row["paper"], row["code"]) == ("Madelon", 0.6233, 0.602)
    assert content["quick"] is True
    assert content["tables"][0]["left_out"]["MLL"] == "there is no mll in the folder of data"
    assert content["tables"][0]["work"] > 0
    stored = Results.load("run.db").to_frame()
    again = run(*arguments)
    assert untimed(again.stdout) == untimed(result.stdout)
    assert len(Results.load("run.db").to_frame()) == len(stored)


@pytest.mark.slow
def test_the_page_tells_the_command_and_no_folder(data: Path, folder: Path, run: Any) -> None:
    (folder / "out").mkdir()
    arguments = ("etana-2", "--quick", "--data", data, "-o", "out/run.db", "--markdown", "out/found.md")
    assert run(*arguments).exit_code == 0
    text = Path("out/found.md").read_text()
    assert text.startswith("# Reproduction\n\n## The run\n")
    command = "python -m reproduction etana-2 --data DIR --quick --output run.db --markdown found.md"
    assert f"```text\n{command}\n```\n" in text
    assert "the figures mean nothing" in text
    assert f"seqclass {seqclass.__version__}, Python 3." in text
    assert str(folder) not in text
    assert "| Madelon | ETANA | 0.6233 | 0.602 |" in text


@pytest.mark.slow
def test_a_page_keeps_what_is_around_the_tables(
    data: Path, folder: Path, run: Any, refuses: Callable[..., str]
) -> None:
    page = folder / "page.md"
    page.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nThe end.\n")
    arguments = ("semi_rfs-2", "semi_rfs-fig3", "--quick", "--markdown", page)
    assert run(*arguments).exit_code == 0
    first = page.read_text()
    assert first.startswith(f"# Mine\n\n{BEGIN}\n\n## The run\n")
    assert first.endswith(f"\n\n{END}\n\nThe end.\n")
    assert "\nold\n" not in first
    assert first.count("## The run") == 1
    assert run(*arguments).exit_code == 0
    assert page.read_text().count("## The run") == 1
    page.write_text(f"# Mine\n\n{BEGIN}\nold\n")
    assert "but none" in refuses(*arguments)


@pytest.mark.slow
def test_pictures_are_drawn_as_tables_are_done_and_shown_on_the_page(
    data: Path, folder: Path, run: Any, monkeypatch: Any
) -> None:
    pytest.importorskip("matplotlib")
    seen = []

    def watched(*arguments: Any, **settings: Any) -> Iterator[Any]:
        for part in iter_reproduced(*arguments, **settings):
            seen.append(sorted(path.name for path in Path("docs/my images").glob("*")))
            yield part

    monkeypatch.setattr("reproduction.__main__.iter_reproduced", watched)
    (folder / "docs").mkdir()
    names = ("semi_rfs-2", "semi_rfs-fig3", "fires-fig6", "semi_rfs-fig6")  # there is no data for fires-fig6
    page, images = folder / "docs" / "page.md", "docs/my images"
    result = run(*names, "--quick", "--markdown", page, "--pictures", images)
    assert result.exit_code == 0, result.stderr
    assert seen == [[], [], ["semi_rfs-fig3.png"], ["semi_rfs-fig3.png"]]
    text = page.read_text()
    links = re.findall(r"^!\[[^\]]+\]\((.*)\)$", text, re.MULTILINE)
    assert links == ["my%20images/semi_rfs-fig3.png", "my%20images/semi_rfs-fig6.png"]
    assert all((page.parent / link.replace("%20", " ")).read_bytes()[1:4] == b"PNG" for link in links)
    assert "--markdown page.md --pictures 'my images'\n```" in text.replace(" \\\n    ", " ")
    svg = run("semi_rfs-fig3", "--quick", "--pictures", "other", "--picture-format", "svg")
    assert svg.exit_code == 0, svg.stderr
    assert [path.name for path in Path("other").iterdir()] == ["semi_rfs-fig3.svg"]


@pytest.mark.slow
def test_a_picture_that_fails_does_not_end_the_run(data: Path, folder: Path, run: Any, monkeypatch: Any) -> None:
    pytest.importorskip("matplotlib")

    def full(*arguments: Any) -> Path:
        raise OSError("the disk is full")

    monkeypatch.setattr("reproduction.__main__.save_picture", full)
    names = ("semi_rfs-fig3", "semi_rfs-fig6")
    result = run(*names, "--quick", "--pictures", "images", "--markdown", "found.md")
    assert result.exit_code == 1
    assert "2 of 2 pictures failed: semi_rfs-fig3 (OSError: the disk is full); semi_rfs-fig6 (" in result.stderr
    text = Path("found.md").read_text()
    assert "`semi_rfs-fig6`" in text
    assert "![" not in text


def test_pictures_are_refused_before_anything_is_computed(
    data: Path, folder: Path, refuses: Callable[..., str], monkeypatch: Any
) -> None:
    arguments = ("semi_rfs-fig3", "--pictures")
    assert "data.csv is not a folder" in refuses(*arguments, "data.csv")
    assert "by --pictures" in refuses("semi_rfs-fig3", "--picture-format", "svg")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "seqclass[plot]" in refuses(*arguments, "images")
    assert not Path("images").exists()


@pytest.mark.slow
def test_files_are_written_after_each_table(data: Path, folder: Path, run: Any, monkeypatch: Any) -> None:
    seen = []

    def watched(*arguments: Any, **settings: Any) -> Iterator[Any]:
        for part in iter_reproduced(*arguments, **settings):
            seen.append(len(json.loads(Path("found.json").read_text())["tables"]) if seen else 0)
            yield part

    monkeypatch.setattr("reproduction.__main__.iter_reproduced", watched)
    names = ("semi_rfs-2", "semi_rfs-fig3", "ifc2f-fig4")
    assert run(*names, "--quick", "--json", "found.json", "--markdown", "found.md").exit_code == 0
    assert seen == [0, 1, 2]


@pytest.mark.slow
def test_a_table_that_fails_does_not_end_the_others(data: Path, folder: Path, run: Any) -> None:
    (data / "mll.npz").write_bytes(b"no archive")
    result = run("etana-fig3", "semi_rfs-fig3", "--quick", "--data", data, "--markdown", "found.md")
    assert result.exit_code == 1
    assert "1 of 2 tables failed: etana-fig3 (MLL cannot be read" in result.stderr
    assert "Failed: MLL cannot be read" in result.stdout
    assert "our defaults" in result.stdout
    assert (
        "| `etana-fig3` | Fig. 3: where ETANA goes on at stages 4 and 5 on MLL | failed |"
        in Path("found.md").read_text()
    )


def test_signs_of_life_without_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (table,) = get_tables(["fires-4"])
    clock = iter([0.0, 0.0, 30.0, 90.0, 100.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    watch = _Watch(silent=False)
    for done, latest in ((0, ""), (2, ""), (3, "OFS"), (6, "EFS on KDD"), (7, "FSDS")):
        watch(Progress(table, 2, 5, done, 0 if not done else 10, latest))
    watch.close()
    assert capsys.readouterr().err.splitlines() == [
        "[3 of 5] fires-4: Table 4: stability",
        "fires-4: 6 of 10 (EFS on KDD), 1 min 30 s left",
    ]


@pytest.mark.slow
def test_json_on_standard_output(data: Path, run: Any) -> None:
    result = run("semi_rfs-fig3", "--quick", "--json", "-")
    assert result.stderr == ""
    rows = json.loads(result.stdout)["tables"][0]["rows"]
    assert rows[0]["paper"] is None
    assert 0 < rows[0]["published"] < 1


def test_refusals(data: Path, folder: Path, refuses: Callable[..., str]) -> None:
    assert "there is no table 'etana-9'" in refuses("etana-9")
    assert "no folder nowhere" in refuses("etana-2", "-o", "nowhere/run.db")
    assert "there is no such folder" in refuses("etana-2", "--data", "nowhere")
    Path("text.db").write_text("no database, but long enough to be taken for one" * 20)
    assert "text.db" in refuses("semi_rfs-2", "-o", "text.db")
    assert "--jobs must not be 0" in refuses("etana-2", "--jobs", 0)


def test_nothing_to_compute(data: Path, run: Any) -> None:
    result = run("fires-fig6", "--data", data)
    assert result.exit_code == 2
    assert "there is no gisette_valid1000 in the folder of data" in result.stdout
    assert "nothing could be computed" in result.stderr


@pytest.mark.parametrize("option, name", [("--json", "data.csv"), ("--markdown", "data.csv"), ("-o", "data.costs.csv")])
def test_no_output_is_an_input(folder: Path, refuses: Any, option: str, name: str) -> None:
    Path("data.costs.csv").write_text("feature,cost\ncolour,0.1\n")
    Path("data.csv").write_text("colour,label\n1,2\n")
    before = Path(name).read_bytes()
    assert f"{name} is read; name another file to write." in refuses("etana-2", "--data", ".", option, name)
    assert Path(name).read_bytes() == before


def test_two_outputs_are_two_files(folder: Path, refuses: Any) -> None:
    message = refuses("etana-2", "--json", "a.txt", "--markdown", "./a.txt")
    assert "a.txt is written, too; name another file" in message.replace("./a.txt is the same file as ", "")
    assert not Path("a.txt").exists()


@pytest.mark.slow
def test_from_the_root_of_a_checkout(run: Callable[..., Any]) -> None:
    """As the page says it; ``--quiet`` is among the options, and wrong ones name the command."""
    assert "--quiet" in run("--help").stdout
    command = [sys.executable, "-m", "reproduction", "--bogus"]
    root = Path(reproduction.__file__).parents[1]
    wrong = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.endswith("See 'python -m reproduction --help'.\n")
