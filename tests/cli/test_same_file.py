"""No output takes the place of an input, by whatever name or link, and no column that of another."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass.cli import COMMANDS

FIT = ("fit", "data.csv", "--target", "the label", "--drop", "id")
#: Every command that writes, with each file that it reads in turn as its output.
CLASHES = [
    ((*FIT, "-o"), "data.csv"),
    ((*FIT, "--costs", "prices.csv", "--price", "0.1", "-o"), "prices.csv"),
    ((*FIT, "--decision-costs", "costs.csv", "-o"), "costs.csv"),
    (("predict", "model.seq", "data.csv", "-o"), "data.csv"),
    (("predict", "model.seq", "data.csv", "-o"), "model.seq"),
    (("ask", "model.seq", "--save"), "model.seq"),
    (("certify", "model.seq", "data.csv", "--target", "the label", "-o"), "data.csv"),
    (("certify", "model.seq", "data.csv", "--target", "the label", "-o"), "model.seq"),
    (("export", "model.seq", "-o"), "model.seq"),
    (("plan", "coin.bif", "--target", "coin", "-o"), "coin.bif"),
    (("plan", "coin.bif", "--target", "coin", "--costs", "prices.csv", "-o"), "prices.csv"),
    (("plan", "coin.bif", "--target", "coin", "--decision-costs", "costs.csv", "-o"), "costs.csv"),
    (("compare", "./data.csv", "--target", "the label", "--drop", "id", "-o"), "data.csv"),
    (("compare", "data", "--data-dir", ".", "--target", "the label", "--drop", "id", "-o"), "data.csv"),
    (("compare", "./data.csv", "--target", "the label", "--drop", "id", "-o"), "data.costs.csv"),
    (("report", "run.db", "-o"), "run.db"),
]
#: Those that write nothing, or read nothing of the user's.
HARMLESS = {"serve", "demo", "evaluate", "explain", "show"}


@pytest.fixture
def files(folder: Path, model: str) -> dict[str, bytes]:
    """All files of the folder and what is in them."""
    Path("prices.csv").write_text("feature,cost\ncolour,0.1\n")
    Path("data.costs.csv").write_text("feature,cost\ncolour,0.1\n")
    Path("costs.csv").write_text("class,maybe,no,yes\nmaybe,0,1,1\nno,1,0,1\nyes,1,1,0\n")
    Path("run.db").write_bytes(b"")
    Path("coin.bif").write_text(
        "network unknown {}\nvariable coin { type discrete [ 2 ] { head, tail }; }\n"
        "variable look { type discrete [ 2 ] { head, tail }; }\n"
        "probability ( coin ) { table 0.5, 0.5; }\n"
        "probability ( look | coin ) { (head) 0.9, 0.1; (tail) 0.2, 0.8; }\n"
    )
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_every_command_is_tried() -> None:
    assert {arguments[0] for arguments, _ in CLASHES} | HARMLESS == set(COMMANDS)


@pytest.mark.quick
@pytest.mark.parametrize("how", ["itself", "another path", "symbolic link", "hard link"])
@pytest.mark.parametrize("arguments, name", CLASHES, ids=lambda v: v[0] if isinstance(v, tuple) else v)
def test_no_output_is_an_input(
    files: dict[str, bytes], folder: Path, refuses: Any, arguments: tuple[str, ...], name: str, how: str
) -> None:
    output = {"itself": name, "another path": f"../{folder.name}/{name}"}.get(how, f"link{Path(name).suffix}")
    if how == "symbolic link":
        os.symlink(name, output)
    if how == "hard link":
        os.link(name, output)
    message = refuses(*arguments, output)
    assert "read; name another file to write." in message
    assert f"Error: {output} is " in message
    assert {file: (folder / file).read_bytes() for file in files} == files


@pytest.mark.slow
def test_the_page_of_a_run_named_like_one(folder: Path, run: Any, refuses: Any) -> None:
    assert run("compare", "iris", "-m", "etana", "--folds", "2", "-o", "run.html").exit_code == 0
    before = Path("run.html").read_bytes()
    assert "run.html is read; name another file" in refuses("report", "run.html")
    assert Path("run.html").read_bytes() == before


def test_a_case_goes_on_in_its_own_file(model: str, run: Any) -> None:
    assert run("ask", model, "--save", "case.json", answers="?\n").exit_code == 0
    once = Path("case.json").read_text()
    assert run("ask", model, "--resume", "case.json", "--save", "case.json").exit_code == 0
    assert Path("case.json").read_text() == once


class TestCopiedColumns:
    @pytest.mark.parametrize("name", ["decision", "posterior_yes", "n_features", "paid", "asked"])
    def test_no_column_takes_the_place_of_one_to_keep(
        self, model: str, run: Any, refuses: Any, patients: pd.DataFrame, name: str
    ) -> None:
        patients.assign(**{name: "mine"}).to_csv("new.csv", index=False)
        message = refuses("predict", model, "new.csv", "--keep", name)
        assert f"--keep: the output has a column {name!r} of its own" in message
        assert run("predict", model, "new.csv").exit_code == 0

    def test_twice_and_empty(self, model: str, refuses: Any, patients: pd.DataFrame) -> None:
        assert "--keep: 'id' is given twice" in refuses("predict", model, "data.csv", "--keep", "id", "--keep", "id")
        patients.to_parquet("new.parquet")
        assert "--keep: the name is empty" in refuses("predict", model, "new.parquet", "--keep", "")
        assert "--keep: the name is empty" in refuses("predict", model, "data.csv", "--keep", "")

    def test_cells_are_copied_as_they_stand(self, model: str, run: Any, patients: pd.DataFrame) -> None:
        age = "age in years"
        texts = ["0012", "NA", "?", "1234567.891", "None", "TRUE", "", "1e5"]
        patients = patients.head(8).assign(note=texts)
        patients[age] = [51.123456789, 1234567.0, np.nan, *patients[age][3:]]
        patients.to_csv("new.csv", index=False)
        result = run("predict", model, "new.csv", "--keep", "note", "--keep", age)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        assert [row["note"] for row in rows] == texts
        assert [row[age] for row in rows[:3]] == ["51.123456789", "1234567.0", ""]

    def test_columns_without_a_name(self, folder: Path, refuses: Any, run: Any) -> None:
        rows = "".join(f"{i},{i % 5},{'ab'[i % 2]}\n" for i in range(40))
        Path("index.csv").write_text(f",x,y\n{rows}")
        assert "--target: the name is empty" in refuses("fit", "index.csv", "--target", "", "-o", "m.seq")
        Path("later.csv").write_text(f"n,x,\n{rows}")
        assert "--target: the name is empty" in refuses("fit", "later.csv", "--target", "", "-o", "m.seq")
        result = run("fit", "later.csv", "--target", "column 3", "-o", "m.seq")
        assert (result.exit_code, result.stderr) == (0, "")

    def test_names_that_hold_the_sign_between_names(self, folder: Path, run: Any) -> None:
        rng = np.random.default_rng(0)
        y = rng.choice(["a", "b"], 200)
        names = ["x;1", 'the "size"', "plain"]
        frame = pd.DataFrame({name: (y == "a") + rng.normal(0, 0.7, 200) for name in names}).assign(y=y)
        frame.to_csv("odd.csv", index=False)
        assert run("fit", "odd.csv", "--target", "y", "-o", "odd.seq").exit_code == 0
        rows = csv.DictReader(io.StringIO(run("predict", "odd.seq", "odd.csv").stdout))
        asked = [next(csv.reader([row["asked"]], delimiter=";")) if row["asked"] else [] for row in rows]
        clf = seqclass.load("odd.seq")
        expected = [[clf.feature_name(j) for j in row if j >= 0] for row in clf.acquire(frame[names]).order]
        assert asked == expected
        assert max(map(len, asked)) == 3
