"""``seqclass reproduce``: what it lists, computes, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from seqclass.experiment import Results


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
    result = run("reproduce", "--list", "--data", data)
    assert result.exit_code == 0, result.stderr
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert "part: data absent: mll (MLL), lung2_desouto1543 (Lung2)" in lines["etana-2"]
    assert "data absent: spambase_pystreamfs" in lines["fires-3"]
    assert lines["semi_rfs-fig3"].endswith("available")
    assert "not possible" in lines["ifc2f-fig4"]
    assert list({line.split()[0] for line in run("reproduce", "saola", "--list").stdout.splitlines()[1:]}) != []


def test_figures_side_by_side_and_files(data: Path, folder: Path, run: Any) -> None:
    arguments = ("reproduce", "etana-2", "ifc2f-fig4", "--quick", "--data", data, "-o", "run.db")
    result = run(*arguments, "--json", "found.json", "--markdown", "found.md")
    assert result.exit_code == 0, result.stderr
    assert "etana-2: Table 2" in result.stderr
    line = next(line.split() for line in result.stdout.splitlines() if line.split()[:2] == ["Madelon", "ETANA"])
    assert line[2:5] == ["accuracy", "0.6233", "0.602"]
    content = json.loads(Path("found.json").read_text())
    assert [part["name"] for part in content["tables"]] == ["etana-2", "ifc2f-fig4"]
    row = content["tables"][0]["rows"][0]
    assert (row["data"], row["paper"], row["code"]) == ("Madelon", 0.6233, 0.602)
    assert content["quick"] is True
    assert content["tables"][0]["left_out"]["MLL"] == "there is no mll in the folder of data"
    text = Path("found.md").read_text()
    assert "the figures mean nothing" in text
    assert "| Madelon | ETANA | accuracy | 0.6233 | 0.602 |" in text
    stored = Results.load("run.db").table()
    again = run(*arguments)
    assert again.stdout == result.stdout
    assert len(Results.load("run.db").table()) == len(stored)


def test_json_on_standard_output(data: Path, run: Any) -> None:
    result = run("reproduce", "semi_rfs-fig3", "--quick", "--json", "-")
    assert result.stderr == ""
    rows = json.loads(result.stdout)["tables"][0]["rows"]
    assert rows[0]["paper"] is None
    assert 0 < rows[0]["published"] < 1


def test_refusals(data: Path, folder: Path, refuses: Callable[..., str]) -> None:
    assert "there is no table 'etana-9'" in refuses("reproduce", "etana-9")
    assert "no folder nowhere" in refuses("reproduce", "etana-2", "-o", "nowhere/run.db")
    assert "there is no such folder" in refuses("reproduce", "etana-2", "--data", "nowhere")
    assert "--jobs must not be 0" in refuses("reproduce", "etana-2", "--jobs", 0)


def test_nothing_to_compute(data: Path, run: Any) -> None:
    result = run("reproduce", "fires-fig6", "--data", data)
    assert result.exit_code == 2
    assert "there is no gisette_valid1000 in the folder of data" in result.stdout
    assert "nothing could be computed" in result.stderr
