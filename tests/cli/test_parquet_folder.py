"""``seqclass fit`` and ``seqclass predict`` on folders of Parquet files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass


@pytest.fixture
def parts(folder: Path, patients: pd.DataFrame) -> Path:
    """The patients in two files of a folder, and in one beside it."""
    (folder / "parts").mkdir()
    for number, rows in enumerate((patients[:120], patients[120:])):
        rows.to_parquet(folder / "parts" / f"{number}.parquet", index=False)
    patients.to_parquet(folder / "all.parquet", index=False)
    return Path("parts")


@pytest.mark.slow
def test_a_folder_gives_the_model_of_its_rows(parts: Path, run: Any) -> None:
    common = ("--target", "the label", "--drop", "id", "--json")
    one = run("fit", "all.parquet", *common, "-o", "one.seq", "--held-out", "3")
    other = run("fit", parts, *common, "-o", "other.seq", "--held-out", "3")
    assert (one.exit_code, other.exit_code) == (0, 0), other.stderr
    told = [json.loads(result.stdout) for result in (one, other)]
    for key in ("n_rows", "classes", "features", "gap", "held_out"):
        assert told[0][key] == told[1][key], key
    first, second = (seqclass.load(f"{name}.seq") for name in ("one", "other"))
    assert first.model_.counts_.tolist() == second.model_.counts_.tolist()
    assert second.target_name_ == "the label"


@pytest.mark.slow
def test_costs_of_decisions_and_rows_without_label(parts: Path, run: Any, refuses: Any) -> None:
    Path("costs.csv").write_text("true,maybe,no,yes\nmaybe,0,1,1\nno,1,0,1\nyes,5,5,0\n")
    more = ("--drop", "id", "--decision-costs", "costs.csv", "-o", "m.seq")
    assert run("fit", parts, "--target", "the label", *more).exit_code == 0
    assert seqclass.load("m.seq").decision_costs_.max() == 5
    frame = pd.read_parquet(parts / "1.parquet")
    frame.loc[4, "the label"] = None
    frame.to_parquet(parts / "1.parquet", index=False)
    assert "has a missing label in row 5" in refuses("fit", parts, "--target", "the label", *more)
    result = run("fit", parts, "--target", "the label", "--drop-unlabelled", *more)
    assert result.exit_code == 0, result.stderr
    assert "Learnt from 199 rows" in result.stdout


def test_what_needs_all_rows_is_refused(parts: Path, refuses: Any) -> None:
    fit = ("fit", parts, "-o", "m.seq")
    assert "name the column of the labels with --target" in refuses(*fit)
    for given in (("--method", "ifc2f"), ("--method", "adaptive"), ("--select", "fcbf"), ("--missing", "informative")):
        assert "needs all rows in memory" in refuses(*fit, "--target", "the label", "--drop", "id", *given)
    assert "has no column 'sick'" in refuses(*fit, "--target", "sick")
    assert "'id' has 200 different texts" in refuses(*fit, "--target", "the label")
    assert not Path("m.seq").exists()


@pytest.mark.slow
def test_decisions_go_part_by_part(parts: Path, model: str, run: Any) -> None:
    result = run("predict", model, parts, "-o", "decided", "--keep", "id")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Decided 200 rows in 2 parts in ")
    assert run("predict", model, "all.parquet", "-o", "all.csv", "--keep", "id").exit_code == 0
    found = pd.concat([pd.read_parquet(f"decided/{number}.parquet") for number in (0, 1)], ignore_index=True)
    whole = pd.read_csv("all.csv", keep_default_na=False)
    assert found.columns.tolist() == whole.columns.tolist()
    for name in ("id", "decision", "asked", "n_features"):
        assert found[name].tolist() == whole[name].tolist()
    Path("decided/0.parquet").unlink()
    again = run("predict", model, parts, "-o", "decided", "--keep", "id")
    assert "1 part was there already." in again.stdout
    told = json.loads(run("predict", model, parts, "-o", "decided", "--keep", "id", "--json").stdout)
    assert (told["n_rows"], told["n_parts"], told["n_skipped"]) == (200, 2, 2)
    assert run("predict", model, parts, "-o", "decided", "--keep", "id").stdout.startswith("Decided nothing now")
    assert run("predict", model, "all.parquet", "-o", "one").stdout.startswith("Decided 200 rows in 1 part in ")
    assert Path("one/all.parquet").is_file()


@pytest.mark.slow
def test_where_decisions_cannot_go(parts: Path, model: str, run: Any, refuses: Any) -> None:
    assert "name a folder for what is decided" in refuses("predict", model, parts)
    assert "name a folder for what is decided" in refuses("predict", model, parts, "-o", "a.csv")
    assert "holds what is read" in refuses("predict", model, parts, "-o", parts / "out")
    assert "--keep: the output has a column 'paid' of its own" in refuses(
        "predict", model, parts, "-o", "out", "--keep", "paid"
    )
    run("predict", model, parts, "-o", "out")
    assert run("fit", parts, "--target", "the label", "--drop", "id", "--price", "0.03", "-o", "b.seq").exit_code == 0
    assert "decided by another model" in refuses("predict", "b.seq", parts, "-o", "out")


def test_columns_of_a_folder_are_checked_as_those_of_a_file(folder: Path, run: Any) -> None:
    """What is wrong came one by one, each after a minute of work; and a number of the case was learnt unsaid."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1100)
    table = pd.DataFrame({"order": rng.permutation(1100), "flow": rng.normal(size=1100) + y, "y": y})
    wrong = table.assign(day=pd.Timestamp("2026-01-01"), comment=[f"text {i}" for i in range(1100)])
    for name, frame in (("wrong", wrong), ("right", table)):
        (folder / name).mkdir()
        for part, rows in enumerate((frame[:1000], frame[1000:])):
            rows.to_parquet(folder / name / f"{part}.parquet", index=False)
    told = run("fit", "wrong", "--target", "y", "-o", "m.seq").stderr
    assert "0.parquet: column 'day' holds dates" in told
    assert "column 'comment' has 1000 different texts in 1,000 rows" in told
    result = run("fit", "right", "--target", "y", "-o", "m.seq", "--held-out", "0")
    assert "column 'order' numbers the rows" in result.stderr


def test_folders_of_other_files_are_refused_at_once(folder: Path, model: str, refuses: Any) -> None:
    (folder / "day").mkdir()
    (folder / "day" / "0.csv").write_text("a\n1\n")
    for output in ((), ("-o", "o.csv"), ("-o", "out")):
        assert "day holds no file that ends in .parquet or .pq; only folders of Parquet files are read." in refuses(
            "predict", model, "day", *output
        )


def test_a_folder_without_rows_has_the_code_of_a_table_without(parts: Path, model: str, run: Any) -> None:
    """It told of 0 rows with 0 features, and went on with code 0."""
    for file in parts.iterdir():
        pd.read_parquet(file)[:0].to_parquet(file, index=False)
    for more in ((), ("--json",)):
        result = run("predict", model, parts, "-o", "out", *more)
        assert (result.exit_code, result.stdout) == (7, "")
        assert result.stderr.strip() == "Error: parts holds no row."
    assert not Path("out").exists()


def test_what_is_decided_of_files_that_are_gone_is_told(parts: Path, model: str, run: Any) -> None:
    assert "holds" not in run("predict", model, parts, "-o", "out/").stdout
    (parts / "1.parquet").unlink()
    told = run("predict", model, parts, "-o", "out").stdout
    assert "out holds 1 file that was not decided from parts as it is now: '1.parquet'." in " ".join(told.split())
    assert json.loads(run("predict", model, parts, "-o", "out", "--json").stdout)["stale"] == ["1.parquet"]
    assert Path("out/1.parquet").is_file()


def test_an_unknown_category_is_told_with_its_file_and_row(parts: Path, model: str, refuses: Any) -> None:
    for kind in (object, "category"):
        frame = pd.read_parquet(parts / "1.parquet")
        frame.loc[4, "colour"] = "pink"
        frame.astype({"colour": kind}).to_parquet(parts / "1.parquet", index=False)
        told = refuses("predict", model, parts, "-o", "out")
        assert f"{parts / '1.parquet'}: column 'colour' holds the unknown category 'pink'" in told
        assert "First in row 5. --unknown missing takes such cells as missing." in told
