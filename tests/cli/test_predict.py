"""``seqclass predict`` and ``seqclass show``."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import seqclass
from seqclass.agent.training_rows import is_outside_training
from seqclass.pomdp import Adaptive, FirstK


@pytest.mark.quick
def test_predict_says_what_acquire_says(model: str, run: Any, patients: pd.DataFrame) -> None:
    result = run("predict", model, "data.csv")
    assert result.exit_code == 0
    assert result.stderr.startswith("On 200 rows with labels, per row:")
    table = pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)
    clf = seqclass.load(model)
    features = patients[clf.feature_names_in_.tolist()].copy()
    features["smokes"] = features["smokes"].map(str, na_action="ignore")
    record = clf.acquire(features)
    posteriors = [f"posterior_{label}" for label in clf.classes_]
    assert table.columns.tolist() == ["decision", *posteriors, "n_features", "paid", "asked"]
    assert table["decision"].tolist() == record.decision.tolist()
    np.testing.assert_allclose(table[posteriors], record.posterior, rtol=1e-5)
    assert table["n_features"].tolist() == record.n_features.tolist()
    np.testing.assert_allclose(table["paid"], record.paid)
    asked = [";".join(clf.feature_name(j) for j in row if j >= 0) for row in record.order]
    assert table["asked"].tolist() == asked
    assert (table["decision"] == patients["the label"]).mean() > 0.7


def test_many_decisions_and_numbers_are_told_apart(folder: Path, run: Any) -> None:
    """Counts do not run into labels that are numbers, and labels beyond the first are counted."""
    y = np.arange(240) % 12
    seqclass.SequentialClassifier(discretizer="precomputed").fit(y[:, None], y).save("many.seq")
    np.savez("rows.npz", X=y[:, None].astype(float))
    told = " ".join(run("predict", "many.seq", "rows.npz", "-o", "out.csv").stdout.split())
    assert told.count(": 20") == 8  # 0: 20, 1: 20, ...
    assert "and 4 more decisions." in told


def test_columns_in_any_order(model: str, run: Any, patients: pd.DataFrame) -> None:
    expected = run("predict", model, "data.csv").stdout
    patients[patients.columns[::-1]].assign(more=1).to_csv("other.csv", index=False)
    assert run("predict", model, "other.csv").stdout == expected


@pytest.mark.slow
def test_a_column_that_nobody_asks_for_may_stay_away(
    model: str, run: Any, refuses: Any, patients: pd.DataFrame
) -> None:
    full = pd.read_csv(io.StringIO(run("predict", model, "data.csv").stdout), keep_default_na=False)
    first = seqclass.load(model).feature_name(seqclass.load(model).order_[0])
    enough = full["asked"] == first
    assert enough.any()
    assert not enough.all()
    patients.loc[enough, [first]].to_csv("few.csv", index=False)
    assert run("predict", model, "few.csv").stdout.count("\n") == enough.sum() + 1
    patients[[first]].to_csv("all.csv", index=False)
    assert f"which row {int(np.argmin(enough)) + 1} needs" in refuses("predict", model, "all.csv")
    patients[["id"]].to_csv("none.csv", index=False)
    assert f"none.csv lacks the column {first!r}" in refuses("predict", model, "none.csv")
    extra = {f"further {i}": 0 for i in range(9)}
    patients.drop(columns=first).assign(**extra).to_csv("without.csv", index=False)
    said = refuses("predict", model, "without.csv")
    assert f" and {len(patients.columns) - 1 + len(extra) - 6} more." in said, said
    patients.rename(columns={first: f" {first}".upper()}).to_csv("slip.csv", index=False, quoting=csv.QUOTE_ALL)
    for command in (["predict"], ["explain", "--row", 1]):
        said = refuses(command[0], model, "slip.csv", *command[1:])
        assert f"which row 1 needs; did you mean {f' {first}'.upper()!r}?" in said


def test_columns_that_numbers_call_are_read_by_their_names(folder: Path, run: Any) -> None:
    """A data frame without names of columns: a file has them as x0 and so on, as everything printed does."""
    rows = np.random.default_rng(0).normal(size=(60, 2))
    clf = seqclass.etana(feature_costs=0.01).fit(pd.DataFrame(rows), np.where(rows[:, 1] > 0, "up", "down"))
    clf.save(folder / "numbers.seq")
    pd.DataFrame(rows, columns=["x0", "x1"]).to_csv(folder / "rows.csv", index=False)
    found = pd.read_csv(io.StringIO(run("predict", "numbers.seq", "rows.csv").stdout))
    assert found["decision"].tolist() == clf.predict(pd.DataFrame(rows)).tolist()
    assert set(found["decision"]) == {"up", "down"}


def test_output_and_json(model: str, run: Any) -> None:
    text = run("predict", model, "data.csv", "--keep", "id").stdout
    assert text.splitlines()[1].startswith("p0000,")
    result = run("predict", model, "data.csv", "--keep", "id", "-o", "out.csv")
    assert Path("out.csv").read_text() == text
    assert "200 rows" in result.stdout
    content = json.loads(run("predict", model, "data.csv", "--json").stdout)
    rows = pd.read_csv(io.StringIO(text))
    assert content["n_rows"] == len(content["predictions"]) == 200
    assert content["mean_paid"] == pytest.approx(rows["paid"].mean())
    assert content["mean_features"] == pytest.approx(rows["n_features"].mean())
    assert content["decisions"] == rows["decision"].value_counts().to_dict()
    assert "predictions" not in json.loads(run("predict", model, "data.csv", "-o", "out.csv", "--json").stdout)


def test_a_failure_leaves_the_old_output(model: str, refuses: Any, patients: pd.DataFrame) -> None:
    Path("out.csv").write_text("old")
    patients.assign(colour="pink").to_csv("new.csv", index=False)
    message = refuses("predict", model, "new.csv", "-o", "out.csv")
    assert "'colour' holds the unknown category 'pink'" in message
    assert " First in row 1." in message
    assert Path("out.csv").read_text() == "old"
    assert not list(Path().glob(".seqclass-*"))


def test_what_is_refused(model: str, refuses: Any, patients: pd.DataFrame) -> None:
    wrong = patients.astype({"age in years": object})
    wrong.loc[3, "age in years"] = "old"
    wrong.to_csv("new.csv", index=False)
    assert "'age in years' must hold numbers, but row 4 has 'old'" in refuses("predict", model, "new.csv")
    assert "no column 'idd'" in refuses("predict", model, "data.csv", "--keep", "idd")
    assert "there is no file" in refuses("predict", model, "missing.csv")
    assert "no folder" in refuses("predict", model, "data.csv", "-o", "nowhere/out.csv")
    np.savez("a.npz", X=np.ones((2, 4)))
    assert "categorical" in refuses("predict", model, "a.npz")


@pytest.mark.parametrize(
    "command", [("predict", "damaged.seq", "data.csv"), ("show", "damaged.seq"), ("ask", "damaged.seq")]
)
def test_a_damaged_model(model: str, refuses: Any, command: tuple[str, ...]) -> None:
    Path("damaged.seq").write_bytes(Path(model).read_bytes()[:-100])
    assert "damaged" in refuses(*command)


def test_show(model: str, run: Any) -> None:
    text = run("show", model).stdout
    for part in (
        "3 classes, 4 features",
        "prior",
        "by the model",
        "horizon",
        "colour",
        "amber | green | red",
        "Settings",
    ):
        assert part in text
    content = json.loads(run("show", model, "--json").stdout)
    clf = seqclass.load(model)
    assert content["prior"] == clf.problem_.prior.tolist()
    assert content["upper"] == clf.policy_.info.upper
    assert [f["column"] for f in content["features"]] == clf.order_.tolist()
    assert [len(f["outcomes"]) for f in content["features"]] == clf.coder_.n_outcomes_[clf.order_].tolist()


@pytest.mark.slow
def test_show_cuts_long_lists(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(0)
    np.savez("a.npz", X=rng.random((60, 30)), y=rng.integers(0, 2, 60))
    assert run("fit", "a.npz", "-o", "m.seq").exit_code == 0
    assert "and 10 more (--all)" in run("show", "m.seq").stdout
    assert "more (--all)" not in run("show", "m.seq", "--all").stdout
    for n_classes, wide in ((12, False), (13, True)):
        X, y = np.zeros((2 * n_classes, 1)), np.arange(2 * n_classes) % n_classes
        seqclass.SequentialClassifier(solver=FirstK(0)).fit(X, y).save("c.seq")
        assert (f"{n_classes} classes by" in run("show", "c.seq").stdout) == wide


def test_another_thing_in_the_file(folder: Path, refuses: Any) -> None:
    from seqclass.persistence import save

    save({"a": 1}, "m.seq")
    assert "is of type dict, no SequentialClassifier" in refuses("show", "m.seq")


@pytest.mark.slow
def test_a_model_that_asks_for_nothing(folder: Path, run: Any) -> None:
    assert run("fit", "data.csv", "-t", "the label", "--drop", "id", "--price", 5, "-o", "m.seq").exit_code == 0
    clf = seqclass.load("m.seq")
    clf.max_features = 0
    frame = pd.read_csv("data.csv")
    clf.fit(frame[clf.feature_names_in_.tolist()], frame["the label"])
    clf.save("none.seq")
    result = run("predict", "none.seq", "data.csv")
    assert result.exit_code == 0
    table = pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)
    assert len(table) == len(frame)
    assert set(table["asked"]) == {""}


def test_f_etana_is_a_method(folder: Path, run: Any) -> None:
    result = run("fit", "data.csv", "-t", "the label", "--drop", "id", "--method", "f_etana", "-o", "m.seq")
    assert result.exit_code == 0, result.stderr
    assert type(seqclass.load("m.seq").policy_).__name__ == "LinearThresholdPolicy"


def test_show_tells_the_cost_on_new_rows_first(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 6)) + 0.5 * y[:, None]
    np.savez("a.npz", X=X, y=y)
    assert run("fit", "a.npz", "-o", "m.seq", "--method", "etana", "--held-out", "3").exit_code == 0
    text = " ".join(run("show", "m.seq").stdout.split())
    clf = seqclass.load("m.seq")
    held_out = f"cost a case {clf.held_out_.cost:.4f} on rows that the fit"
    expected = f"{clf.expected_cost_:.4f} by the model"
    assert held_out in text
    assert text.index(held_out) < text.index(expected)
    assert "and 0.0" not in text.split("horizon")[0]  # no interval of the model's own beside them


def outside(clf: Any, rows: pd.DataFrame) -> list[set[str]]:
    """Which answers of each row a live case calls unusual, among what it is told at the start and asks for."""
    found: list[set[str]] = []
    for row in rows.to_dict("records"):
        case = clf.session(known={name: row[name] for name in clf.known or ()})
        while (question := case.next_feature) is not None:
            names = [feature.name for feature in question.features] or [question.name]
            there = {name: row[name] for name in names if pd.notna(row[name])}
            if there:
                case.observe(question.name, there if question.features else row[question.name])
            else:
                case.unavailable(question.name)
        values = [{a.name: a.value} if not isinstance(a.value, dict) else a.value for a in case.history]
        told = {name: value for part in values for name, value in part.items() if value is not None}
        found.append({name for name, value in told.items() if case.unusual(name, value)})
    return found


@pytest.mark.slow
def test_answers_outside_of_training_are_told(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    numbers = {name: y + rng.normal(0, 0.7, 120) for name in ("temp", "b 1", "b 2", "dose")}
    X = pd.DataFrame(numbers | {"colour": np.where(rng.random(120) < 0.7, y, 1 - y)}).replace(
        {"colour": {0: "r", 1: "g"}}
    )
    costs = seqclass.Costs(0.02, bundles=[None, "b", "b", None, None])
    quick = Adaptive(n_paths=50, n_cases=50, max_rounds=0, certificate_paths=0)
    clf = seqclass.SequentialClassifier(order="adaptive", feature_costs=costs, solver=quick, known=["temp"]).fit(X, y)
    clf.save("m.seq")
    rows = X[:40].copy()
    for j, name in enumerate(numbers):
        rows.loc[rng.random(40) < 0.3, name] = [45.0, -45.0][j % 2]
        rows.loc[rng.random(40) < 0.1, name] = np.nan
    wanted = outside(clf, rows)
    n = sum(map(bool, wanted))
    by_name = {name: sum(name in one for one in wanted) for name in numbers}
    assert min(by_name.values()) > 0
    assert n < (rows[list(numbers)].abs() > 40).any(axis=1).sum()  # of what is not asked nothing is told
    rows.to_csv("rows.csv", index=False)
    content = json.loads(run("predict", "m.seq", "rows.csv", "--json").stdout)
    assert (content["n_outside"], content["outside"]) == (n, by_name)
    most = max(by_name, key=lambda name: by_name[name])
    words = f"{n} rows have an answer outside of what training showed: {most} in {by_name[most]}, "
    assert words in run("predict", "m.seq", "rows.csv", "-o", "out.csv").stdout
    result = run("predict", "m.seq", "rows.csv")
    assert words in result.stderr
    assert result.stdout == Path("out.csv").read_text()
    X[:40].to_csv("rows.csv", index=False)
    assert run("predict", "m.seq", "rows.csv").stderr == ""
    (folder / "parts").mkdir()
    for number, part in enumerate((rows[:25], rows[25:])):
        part.to_parquet(folder / "parts" / f"{number}.parquet", index=False)
    for _ in range(2):  # also where the parts are there already
        assert f"{n} rows have an answer outside of what" in run("predict", "m.seq", "parts", "-o", "out").stdout
    rows.to_csv("rows.csv", index=False)
    for new, more in (("rows.csv", ("--json",)), ("rows.csv", ("-o", "out.csv")), ("parts", ("-o", "out"))):
        result = run("predict", "m.seq", new, *more, "--max-outside", str((n - 1) / 40))
        assert f"Alarm: {n} rows have an answer outside" in " ".join(result.stderr.split())
        assert result.exit_code == 6
        result = run("predict", "m.seq", new, *more, "--max-outside", str(n / 40))
        assert (result.exit_code, "Alarm" in result.stderr) == (0, False)


@pytest.mark.slow
def test_columns_without_a_value_are_told(model: str, run: Any, patients: pd.DataFrame) -> None:
    """But not those that were empty in training, nor those of a single row."""
    [name, *_] = (one for one in seqclass.load(model).feature_names_in_ if patients[one].notna().any())
    patients.assign(**{name: np.nan}).to_csv("hollow.csv", index=False)
    patients.iloc[:1].assign(**{name: np.nan}).to_csv("one.csv", index=False)
    told = f"hollow.csv: no row has a value in {name!r}; what is empty counts as not available.\n"
    for command in ("predict", "evaluate"):
        more = ["-o", "decided.csv"] * (command == "predict")
        assert told in run(command, model, "hollow.csv", *more).stderr
        assert "no row has a value" not in run(command, model, "one.csv", *more).stderr
        assert "no row has a value" not in run(command, model, "data.csv", *more).stderr


def test_answers_outside_of_training_in_sparse_rows() -> None:
    X, y = np.array([[0.0, 5.0], [1.0, 5.0]] * 20), [0, 1] * 20
    clf = seqclass.SequentialClassifier().fit(sp.csr_array(X), y)
    rows = sp.csr_array([[0.0, 7.0], [3.0, 5.0], [0.5, 0.0], [-1.0, 9.0]])
    found = is_outside_training(clf.agent_, rows, clf.acquire(rows).order)
    assert found.any(axis=1).tolist() == [False, True, False, True]  # the other column is not asked for


def test_a_night_without_rows_has_a_code_of_its_own(folder: Path, model: str, run: Any) -> None:
    """It could not be told from a wrong file."""
    pd.read_csv("data.csv").iloc[:0].to_csv("empty.csv", index=False)
    Path("nothing").mkdir()
    fit = ["fit", "empty.csv", "--target", "the label", "-o", "d.csv"]
    for command in (fit, ["predict", model, "empty.csv", "-o", "d.csv"], ["predict", model, "nothing", "-o", "d"]):
        result = run(*command)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (7, "", 1)
        assert "no rows" in result.stderr or "no file" in result.stderr
    assert not Path("d.csv").exists()
    (Path("nothing") / "rows.csv").touch()
    assert run("predict", model, "nothing", "-o", "d").exit_code == 2
    for command in ("fit", "predict", "evaluate", "certify"):
        assert "Exit codes: 0 " in run(command, "--help").stdout


@pytest.mark.slow
def test_the_name_of_the_output_says_how_it_is_written(model: str, run: Any, refuses: Any) -> None:
    """A name ending in .csv.gz was given to plain CSV, which the reader of tables then refused."""
    assert run("predict", model, "data.csv", "-o", "o.csv").exit_code == 0
    for name, sep in {"o.csv.gz": ",", "o.TSV": "\t", "o.tsv.gz": "\t"}.items():
        assert run("predict", model, "data.csv", "-o", name).exit_code == 0
        pd.testing.assert_frame_equal(pd.read_csv(name, sep=sep), pd.read_csv("o.csv"))
    written = Path("o.csv.gz").read_bytes()
    assert written[3:8] == bytes(5)  # neither a name nor a time
    for name in ("o.parquet", "o.xlsx", "o.csv.zip", "o.gz"):
        assert f"{name}: decisions are written as .csv or .tsv (both also .gz)" in refuses(
            "predict", model, "data.csv", "-o", name
        )
    assert "decisions is a folder; name a file to write." in refuses("predict", model, "data.csv", "-o", "decisions/")
    assert not any(Path(name).exists() for name in ("decisions", "o.parquet", "o.xlsx", "o.csv.zip", "o.gz"))


def test_a_label_that_the_model_does_not_know_is_told_by_its_column(
    model: str, run: Any, refuses: Any, patients: pd.DataFrame
) -> None:
    """It was called y, which is no column of the file."""
    patients.assign(**{"the label": "flu"}).to_csv("new.csv", index=False)
    told = "column 'the label' holds 'flu', which is no class of the model"
    assert f"There are no scores: {told}" in run("predict", model, "new.csv", "-o", "o.csv").stdout
    assert told in refuses("evaluate", model, "new.csv")
    assert told in refuses("evaluate", model, "new.csv", "--target", "the label")


_KILLED = """
import os, sys
from seqclass.cli import main

def wait(file):
    print("written", flush=True)
    sys.stdin.read()

os.fsync = wait
main(["predict", *sys.argv[1:]])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
@pytest.mark.parametrize(
    ("end", "left"), [(signal.SIGTERM, 0), pytest.param(signal.SIGKILL, 1, marks=pytest.mark.slow)]
)
def test_what_a_killed_run_writes_goes(model: str, run: Any, end: signal.Signals, left: int) -> None:
    command = [sys.executable, "-c", _KILLED, model, "data.csv", "-o", "o.csv"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert len(list(Path().glob(".seqclass-*"))) == 1
        writer.send_signal(end)
        assert writer.wait() == (-end if left else 130)
    assert len(list(Path().glob(".seqclass-*"))) == left
    assert run("predict", model, "data.csv", "-o", "o.csv").exit_code == 0
    assert not list(Path().glob(".seqclass-*"))
