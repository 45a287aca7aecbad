"""``seqclass compare``: what it prints, what it keeps, what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass.experiment import Results

TREE = "sklearn:DecisionTreeClassifier(max_depth=2)"
RUN = ("compare", "iris", "-m", "etana", "-m", f"tree={TREE}", "--folds", "2", "-o", "run.db")


@pytest.mark.quick
def test_summary(folder: Path, run: Any) -> None:
    result = run(*RUN, "--price", "0.01", ".1")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["data", "method", "price", "realised", "cost", "accuracy", "features", "paid", "cells"]
    assert [line[:3] for line in lines[1:5]] == [
        ["iris", method, price] for method in ("etana", "tree") for price in ("0.01", "0.1")
    ]
    summary = Results.load("run.db").summary()
    assert lines[1][3] == f"{summary['realised_cost'].iloc[0]:.4f}"
    assert "8 cells in run.db; computed with seqclass" in result.stdout
    # what the library says, also of one data set
    said = str(Results.load("run.db").compare()).replace("price= (--price on the command line)", "--price")
    pooled, differences = said.splitlines()[:2]  # what is pooled is to be known before a figure is read
    assert pooled.endswith(": --price compares at one.")
    assert differences.startswith("differences of realised_cost, paired")
    assert "means over the prices 0.01, 0.1, which count the same" in pooled
    in_euros = run(*RUN, "--price", "0.01", ".1", "--currency", "EUR").stdout  # nothing is computed again
    assert in_euros.splitlines()[0].split("  ")[-1].strip() == "cells"
    assert "realised cost (EUR)" in in_euros
    assert "paid (EUR)" in in_euros
    assert all(f"  {line}\n" in result.stdout for line in said.splitlines())
    assert sorted(file.name for file in folder.iterdir()) == ["data.csv", "run.db"]


@pytest.mark.slow
def test_the_same_command_goes_on(folder: Path, run: Any) -> None:
    first = run(*RUN)
    stored = Results.load("run.db").to_frame()
    assert run(*RUN).stdout == first.stdout
    pd.testing.assert_frame_equal(Results.load("run.db").to_frame(), stored)
    more = run(*RUN, "--seeds", "0", "1")
    assert "8 cells in run.db" in more.stdout
    grown = Results.load("run.db").to_frame()
    pd.testing.assert_frame_equal(grown.loc[stored.index], stored)


@pytest.mark.slow
def test_json_and_csv(folder: Path, run: Any) -> None:
    text = run(*RUN, "--json", "--seeds", "3").stdout
    content = json.loads(text)
    assert content["run"] == "run.db"
    assert [row["method"] for row in content["summary"]] == ["etana", "tree"]
    (apart,) = content["differences"]
    assert apart == Results.load("run.db").compare().differences.to_dict("records")[0]
    table = Results.load("run.db").to_frame()
    assert [cell["key"] for cell in content["cells"]] == table.index.tolist()
    assert content["cells"][0]["accuracy"] == table["accuracy"].iloc[0]
    assert content["cells"][2]["gap"] is None
    assert content["differences_over"] == {"price": [0.01], "budget": [None]}
    assert {cell["seed"] for cell in content["cells"]} == {3}
    frame = pd.read_csv(io.StringIO(run(*RUN, "--csv", "--seeds", "3").stdout), index_col="key")
    assert frame.index.tolist() == table.index.tolist()
    np.testing.assert_allclose(frame["realised_cost"], table["realised_cost"])


@pytest.mark.slow_cells("arguments0-seeds0-prices0", "arguments1-seeds1-prices1", "arguments3-seeds3-prices3")
@pytest.mark.parametrize(
    "arguments, seeds, prices",
    [
        (["--seeds", "4", "5", "--price", "0.5", "1", ".25"], {4, 5}, {0.5, 1.0, 0.25}),
        (["--seeds", "4", "--seeds", "5", "--price=0.5"], {4, 5}, {0.5}),
        (["--price", "1e-2", "--seeds", "4", "5"], {4, 5}, {0.01}),
        (["--price", "0.5", "--seeds", "4", "5", "--"], {4, 5}, {0.5}),
    ],
)
def test_options_take_several_numbers(folder: Path, run: Any, arguments: list[str], seeds: Any, prices: Any) -> None:
    result = run("compare", "-m", "tree=" + TREE, "--folds", "2", "-o", "run.db", *arguments, "iris")
    assert result.exit_code == 0, result.stderr
    table = Results.load("run.db").to_frame()
    assert (set(table["seed"]), set(table["price"])) == (seeds, prices)


def test_files_with_prices(folder: Path, run: Any) -> None:
    Path("data.costs.csv").write_text("feature,cost\ncolour,5\nage in years,1\nsmokes,\nempty,30\n")
    command = ("compare", "data.csv", "--target", "the label", "--drop", "id", "-m", "etana", "--split", "60/20/20")
    result = run(*command, "--dataset-costs", "--missing-cost", "2", "--price", "0.001", "-o", "run.db")
    assert result.exit_code == 0, result.stderr
    row = Results.load("run.db").to_frame().iloc[0]
    assert (row["data"], row["error"], row["n_train"], row["n_test"]) == ("data", "", 120, 40)
    assert 0 < row["paid_max"] <= 0.038


@pytest.mark.slow
def test_prices_of_a_file_count_as_they_are(folder: Path, run: Any) -> None:
    Path("data.costs.csv").write_text("feature,cost\ncolour,.05\nage in years,.01\nsmokes,.02\nempty,.3\n")
    command = ("compare", "data.csv", "--target", "the label", "--drop", "id", "-m", "etana", "--folds", "2")
    assert run(*command, "--dataset-costs", "-o", "run.db").exit_code == 0
    table = Results.load("run.db").to_frame()
    assert table["price"].tolist() == [1, 1]
    assert table["paid_max"].min() >= 0.01


@pytest.mark.slow
def test_several_data_sets_are_compared(folder: Path, run: Any) -> None:
    stump = "sklearn:DecisionTreeClassifier(max_depth=1)"
    result = run(*RUN[:2], "wine", *RUN[2:], "-m", f"stump={stump}")
    assert "wins/ties/losses by realised_cost" in result.stdout
    assert "3 methods on 2 data sets" in result.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("default:.*cells failed")
def test_failures_and_warnings_are_told(folder: Path, run: Any) -> None:
    result = run(
        *RUN, "-m", "lr=sklearn:LogisticRegression(C=-1.0)", "-m", "short=sklearn:LogisticRegression(max_iter=2)"
    )
    assert result.exit_code == 5, result.stderr
    assert result.stderr.startswith(
        "Warning: 2 of 8 cells failed and are left out of all means: 2 of 'lr', the first on 'iris': Invalid"
    )
    assert "--retry-failed computes them again" in result.stderr
    assert "2 cells of lr on iris failed: InvalidParameterError: The 'C' parameter" in result.stdout
    assert "2 cells of short on iris warned: ConvergenceWarning" in result.stdout
    assert result.stdout.splitlines()[3].split() == ["iris", "lr", "0.01", "-", "-", "-", "-", "2"]
    alone = run("compare", "iris", "-m", "lr=sklearn:LogisticRegression(C=-1.0)", "--folds", "2", "-o", "other.db")
    assert alone.exit_code == 2
    assert "all 2 cells failed; the first: InvalidParameterError" in alone.stderr
    assert "failed" in alone.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("default:.*cells failed")
def test_a_method_that_always_fails_hides_nothing(folder: Path, run: Any) -> None:
    bad = ("-m", "bad=sklearn:GaussianNB(var_smoothing=-1)")
    result = run(*RUN[:2], "wine", *RUN[2:], *bad)
    assert result.exit_code == 5, result.stderr
    assert "left out, without a score: bad" in result.stdout
    assert "2 cells of bad on wine failed: InvalidParameterError" in result.stdout
    alone = run("compare", "iris", "wine", *bad, "-m", "etana", "--folds", "2", "-o", "other.db")
    assert alone.exit_code == 5, alone.stderr
    assert "nothing to compare: two methods or more" in alone.stdout
    assert "2 cells of bad on wine failed" in alone.stdout


@pytest.mark.slow
def test_settings_of_files_leave_other_data_alone(folder: Path, run: Any, refuses: Any) -> None:
    settings = ("--target", "the label", "--drop", "id", "-m", "etana", "--folds", "2", "-o", "run.db")
    result = run("compare", "iris", "data.csv", *settings)
    assert result.exit_code == 0, result.stderr
    assert Results.load("run.db").to_frame()["data"].tolist() == ["iris", "iris", "data", "data"]
    assert "--target and --drop: none of the data is a file" in refuses("compare", "iris", *settings)


def test_refusals_name_options(folder: Path, refuses: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEQCLASS_DATA", raising=False)
    assert "name it by --target" in refuses("compare", "data.csv", "-o", "run.db")
    assert "give each once" in refuses("compare", "iris", *RUN[1:])
    assert "give --data-dir or set SEQCLASS_DATA" in refuses("compare", "irys", "-o", "run.db")
    assert "--missing-cost is for --dataset-costs" in refuses(*RUN, "--missing-cost", "1")
    assert "use --folds, or --split 60/20/20" in refuses("compare", "iris", "--split", "source", "-o", "run.db")
    Path("data.costs.csv").write_text("feature,cost\ncolour,5\nage in years,1\nsmokes,\nempty,30\nid,1\n")
    command = ("compare", "data.csv", "--target", "the label", "-o", "run.db")
    assert "give --missing-cost" in refuses(*command, "--dataset-costs")


@pytest.mark.slow
@pytest.mark.filterwarnings("default:.*cells failed")
def test_failed_cells_are_kept_unless_asked(folder: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("seqclass.experiment.grid.scores", fail)
        assert run(*RUN).exit_code == 2
    assert run(*RUN).exit_code == 2
    assert run(*RUN, "--retry-failed").exit_code == 0


def test_what_is_refused(folder: Path, refuses: Any) -> None:
    assert "did you mean 'iris'" in refuses("compare", "irys", "-o", "run.db")
    assert "did you mean 'etana'" in refuses(*RUN, "-m", "etanna")
    assert "two are called 'tree'" in refuses(*RUN, "-m", "tree=etana")
    assert "--csv and --json" in refuses(*RUN, "--csv", "--json")
    assert "--folds and --split" in refuses(*RUN, "--split", "source")
    assert "train_index" in refuses("compare", "iris", "--split", "source", "-o", "run.db")
    assert "--jobs" in refuses(*RUN, "--jobs", "0")
    assert "no prices of its own" in refuses(*RUN, "--dataset-costs")
    assert "no folder none" in refuses(*RUN[:-1], "none/run.db")
    assert "cannot be read as a run" in refuses(*RUN[:-1], "data.csv")
    assert "--seeds" in refuses(*RUN, "--seeds", "-1")
    assert "--output" in refuses("compare", "iris")
    assert "--keep-instances" in refuses(*RUN, "--keep-instances", "-1")
    assert "--keep-explanations" in refuses(*RUN, "--keep-explanations", "-1")
    assert not Path("run.db").exists()
