"""``seqclass demo``: its pieces on two folds, and the whole."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass.cli import demo as module
from seqclass.cli.demo import ETANA, OURS, PRICE, Demonstration, compare, tell
from seqclass.datasets import load

pytestmark = pytest.mark.slow  # the demo is the first command that `.ci/run` runs

KEYS = {"method", "accuracy", "mean_features", "mean_paid", "realised_cost", "fit_seconds", "predict_seconds"}


@pytest.fixture(scope="module")
def comparison(few_ways: None, whole_certificates: None) -> Demonstration:
    whole = load("breast_cancer")
    half = replace(whole, X=whole.X[::2], y=whole.y[::2])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "load", lambda name: half)
        return compare(only=[ETANA, "naive Bayes", "decision tree"], n_splits=2)


def test_results(comparison: Demonstration) -> None:
    ours, etana, tree, bayes = comparison.results
    assert [ours.method, etana.method, tree.method, bayes.method] == [OURS, ETANA, "decision tree", "naive Bayes"]
    for sequential in (ours, etana):
        assert sequential.accuracy > 0.9
        assert 1 < sequential.mean_features < 8
    assert 1 < tree.mean_features < 8
    assert bayes.mean_features == 30
    for result in comparison.results:
        assert result.mean_paid == pytest.approx(PRICE * result.mean_features)
        assert result.realised_cost == pytest.approx(result.mean_paid + 1 - result.accuracy)
        assert result.fit_seconds > 0
    assert 0 <= comparison.gap < 0.05


def test_story(comparison: Demonstration) -> None:
    story = tell(comparison)
    record = comparison.model.acquire(comparison.X_held_out.iloc[[story.row]], record_beliefs=True)
    assert 3 <= len(story.steps) <= 5
    assert record.n_features[0] == len(story.steps)
    assert record.decision[0] == story.decision
    assert story.paid == pytest.approx(record.paid[0])
    assert record.beliefs is not None
    np.testing.assert_allclose([story.prior, *(step.belief for step in story.steps)], record.beliefs[0], atol=1e-12)
    assert comparison.y_held_out[story.row] == story.truth
    json.dumps(asdict(story))


@pytest.fixture
def quickly(comparison: Demonstration, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let the command tell of the comparison at hand, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "compare", lambda seed: comparison)


@pytest.mark.usefixtures("quickly")
def test_output(run: Any) -> None:
    pytest.importorskip("matplotlib")
    result = run("demo")
    assert (result.exit_code, result.stderr) == (0, "")
    for words in (
        OURS,
        "naive Bayes",
        "realised cost",
        "prior",
        "deciding at once",
        "The model expects a cost of",
        "the decision is",
        "written to seqclass-demo.png",
    ):
        assert words in result.stdout
    assert Path("seqclass-demo.png").read_bytes().startswith(b"\x89PNG")
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.usefixtures("quickly")
def test_advice_names_no_option(run: Any, comparison: Demonstration, monkeypatch: pytest.MonkeyPatch) -> None:
    too_sure = replace(comparison.held_out, expected_cost=1e-4, remedies=("calibrate=True", "more rows"))
    monkeypatch.setattr(module, "compare", lambda seed: replace(comparison, held_out=too_sure))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # a picture takes its time
    told = " ".join(run("demo").stdout.split())
    assert "Worth trying, and judging in the same way: calibrate=True; more rows." in told


@pytest.mark.usefixtures("quickly")
def test_json_and_nothing_else(run: Any, comparison: Demonstration) -> None:
    result = run("demo", "--json", "-o", "p.svg")
    content = json.loads(result.stdout)
    assert [r["method"] for r in content["results"]] == [r.method for r in comparison.results]
    assert all(set(r) == KEYS for r in content["results"])
    assert content["gap"] == comparison.gap
    # the folds are those of the table
    assert content["held_out"]["cost"] == pytest.approx(content["results"][0]["realised_cost"])
    assert content["expected_cost"] == comparison.held_out.expected_cost
    assert content["story"]["steps"]
    if content["picture"] is not None:
        assert "<svg" in Path(content["picture"]).read_text()


@pytest.mark.usefixtures("quickly")
def test_without_matplotlib(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo")
    assert result.exit_code == 0
    assert "pip install 'seqclass[plot]'" in result.stdout
    result = run("demo", "--json")
    assert json.loads(result.stdout)["picture"] is None
    assert "pip install" in result.stderr
    assert not list(Path().iterdir())


def test_refused_before_the_work(refuses: Any) -> None:
    assert ".png" in refuses("demo", "-o", "picture.gif")
    assert "no folder" in refuses("demo", "-o", "nowhere/picture.png")


def test_the_whole_demo(run: Any, tmp_path: Path) -> None:
    result = run("demo", "--json", "-o", tmp_path / "p.png")
    by_name = {r["method"]: r for r in json.loads(result.stdout)["results"]}
    assert len(by_name) == 7
    assert by_name[OURS]["realised_cost"] == min(r["realised_cost"] for r in by_name.values())


def test_the_example_table_can_be_learnt_from(run: Any, refuses: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--write", "patients.csv")
    assert result.stdout.endswith("seqclass fit patients.csv --target diagnosis --dataset-costs -o model.seq\n")
    frame = pd.read_csv("patients.csv")
    assert frame.shape == (600, 11)
    assert frame["diagnosis"].nunique() == 3
    assert 0.05 < frame["ultrasound"].isna().mean() < 0.25
    fit = ["--method", "etana", "--held-out", "0", "-o", "model.seq"]
    assert run("fit", "patients.csv", "--target", "diagnosis", "--dataset-costs", *fit).exit_code == 0
    clf = seqclass.load("model.seq")
    prices = dict(zip(clf.feature_names_in_[clf.order_], clf.problem_.full_prices))
    assert prices["ultrasound"] == 0.08
    assert clf.score(frame.drop(columns="diagnosis"), frame["diagnosis"]) > 0.85
    before = Path("patients.csv").read_bytes()
    assert "there already" in refuses("demo", "--write", "patients.csv")
    Path("patients.csv").unlink()
    assert "patients.costs.csv is there already" in refuses("demo", "--write", "patients.csv")
    Path("patients.costs.csv").unlink()
    assert ".csv" in refuses("demo", "--write", "patients.parquet")
    told = json.loads(run("demo", "--write", "patients.csv", "--json").stdout)
    assert told["prices"] == "patients.costs.csv"
    assert Path("patients.csv").read_bytes() == before
