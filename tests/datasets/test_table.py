"""A table read in Python as on the command line: the same cells, the same refusals, the same model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import seqclass
from seqclass.cli import main
from seqclass.datasets import read_table

N = 90
RNG = np.random.default_rng(0)
ILL = RNG.random(N) < 0.45
#: As other countries write it, with everything that is missing in some row.
AGE = [f"{value:.1f}".replace(".", ",") for value in RNG.normal(50 + 9 * ILL, 6)]
COUGH = np.where(RNG.random(N) < 0.2 + 0.5 * ILL, "dry", "wet").astype(object)
AGE[3], AGE[7], COUGH[1], COUGH[2], COUGH[4] = "?", " ", "?", " ", "NA"
FRAME = pd.DataFrame(
    {
        "age": AGE,
        "cough": COUGH,
        "signs": np.where(ILL, "fever; rash", "rash"),
        "ward": RNG.choice(["a", "b"], N),
        "y": np.where(ILL, "ill", "well"),
    }
)
FRAME.loc[5, "y"] = ""
CLI = ("--sep", ";", "--decimal", ",", "--drop-unlabelled", "--drop", "ward", "--marks", "signs", "--held-out", "0")
HERE: dict[str, Any] = {"sep": ";", "decimal": ",", "drop_unlabelled": True, "drop": ["ward"], "marks": ["signs"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    FRAME.to_csv(tmp_path / "t.csv.gz", index=False, sep=";")
    return tmp_path / "t.csv.gz"


@pytest.mark.slow_cells("adaptive")
@pytest.mark.parametrize("method", ["adaptive", "etana"])
def test_the_model_is_that_of_the_command_line(path: Path, method: str) -> None:
    more = ("--max-features", "1") if method == "adaptive" else ("--method", method)  # the default, and quickly
    out = str(path.with_name("m.seq"))
    run = CliRunner().invoke(main, ["fit", str(path), "--target", "y", "-o", out, *CLI, *more])
    assert run.exit_code == 0, run.output
    X, y = read_table(path, "y", **HERE)
    limit = {"max_features": 1} if method == "adaptive" else {}
    costs = seqclass.Costs(0.01, marks=["signs"])
    theirs, ours = seqclass.load(out), getattr(seqclass, method)(costs, **limit).fit(X, y, held_out=0)
    assert ours.target_name_ == theirs.target_name_ == "y"
    assert ours.feature_names_in_.tolist() == theirs.feature_names_in_.tolist()
    a, b = ours.acquire(X), theirs.acquire(X)
    assert a.n_features.mean() > 0.5
    np.testing.assert_array_equal(a.decision, b.decision)
    np.testing.assert_array_equal(a.paid, b.paid)
    np.testing.assert_array_equal(a.posterior, b.posterior)
    assert ours.problem_.prices.tolist() == theirs.problem_.prices.tolist()


def test_what_is_missing_and_what_is_returned(path: Path) -> None:
    X, y, ward = read_table(path, "y", groups="ward", **HERE)
    assert X.index[X["age"].isna()].tolist() == [4, 8]
    assert X.index[seqclass.etana().fit(X, y).encoder_.encode(X)["cough"].isna()].tolist() == [2, 3, 5]
    assert X["age"][1] == float(AGE[0].replace(",", "."))
    assert 6 not in X.index
    assert X.index.equals(y.index)
    assert ward.tolist() == FRAME["ward"].drop(5).tolist()
    new = read_table(path, sep=";", decimal=",", drop=["y"])
    assert new.columns.tolist() == ["age", "cough", "signs", "ward"]
    new, ward = read_table(path, sep=";", groups="ward", drop=["y", "ward"])
    assert len(new) == len(ward) == N
    assert "ward" not in new


def test_what_is_wrong_is_told_by_the_names_of_here(path: Path) -> None:
    form = {"sep": ";", "decimal": ","}
    for settings, words in (
        ({"target": "Y"}, r"^target: .* has no column 'Y'; did you mean 'y'\?"),
        ({"target": "y"}, r"missing label in 1 row, first in row 6; .* with drop_unlabelled=True"),
        ({"drop": ["x"]}, r"^drop: .* has no column 'x'"),
        ({"groups": "cough"}, r"^groups: .* has no 'cough' in 3 rows, first in row 2"),
        ({"drop": list(FRAME)}, "has no feature: drop names all columns"),
    ):
        with pytest.raises(ValueError, match=words):
            read_table(path, **form, **settings)
    FRAME.assign(**{"the (id)": [f"p{i}" for i in range(N)]}).drop(5).to_csv(path.with_name("u.csv"), index=False)
    with pytest.raises(ValueError, match=r"leave it out with drop=\['the \(id\)'\] "):
        read_table(path.with_name("u.csv"), "y")
    told = CliRunner().invoke(main, ["fit", str(path.with_name("u.csv")), "-t", "y", "-o", str(path)]).output
    assert 'leave it out with --drop "the (id)".' in told


def test_arrays(tmp_path: Path) -> None:
    file, X = tmp_path / "a.npz", RNG.random((6, 2))
    np.savez(file, X=X, y=[0, 1, 0, 1, 0, 1], class_names=["no", "yes"], feature_names=["a", "b"])
    read, y = read_table(file, "y", drop=["a"])
    assert read.columns.tolist() == ["b"]
    assert y.tolist() == ["no", "yes"] * 3
    assert read_table(file)["b"].tolist() == X[:, 1].tolist()
    with pytest.raises(ValueError, match=r"^target: .* has no array 'z'"):
        read_table(file, "z")
