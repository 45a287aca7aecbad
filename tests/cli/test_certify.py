"""``seqclass certify``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import Costs
from seqclass.evaluation.certified import CertifiedError, certify_error


@pytest.fixture(scope="session")
def others(patients: pd.DataFrame) -> pd.DataFrame:
    """Rows like those of the training table, none of them the same."""
    frame = pd.concat([patients] * 2, ignore_index=True)
    noise = np.random.default_rng(1).normal(0, 3, len(frame)).round(2)
    frame["age in years"] = frame["age in years"] + noise
    frame["ward"] = np.where(np.arange(len(frame)) % 2, "east", "west")
    return frame[frame["age in years"].notna()].reset_index(drop=True)


@pytest.fixture
def table(folder: Any, others: pd.DataFrame) -> str:
    others.to_csv("others.csv", index=False)
    return "others.csv"


CERTIFY = ("--target", "the label", "--alpha", "0.4", "--delta", "0.2")


def test_what_is_certified_is_on_the_page(model: str, table: str, folder: Any, run: Any) -> None:
    written = run("certify", model, table, *CERTIFY, "-o", "certified.seq").stdout
    assert written.endswith("seqclass ask certified.seq, or seqclass predict certified.seq NEW.csv\n")
    assert run("export", "certified.seq", "-o", "page.html", "--currency", "EUR").exit_code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "with 80% confidence at most 40% of its decisions are wrong" in page
    assert "Prices and costs are in EUR." in page
    followed = run("ask", "certified.seq", answers="?\n" * 20).stdout
    told = run("ask", "certified.seq", "--known", "age in years=50", answers="?\n" * 20).stdout
    without = run("ask", model, "--known", "age in years=50", answers="?\n" * 20).stdout
    assert ["Decision: " in one for one in (followed, told, without)] == [True] * 3
    said = "of this one nothing is promised."
    assert [said in " ".join(one.split()) for one in (followed, told, without)] == [False, True, False]


@pytest.mark.slow
@pytest.mark.usefixtures("loose_mixtures")
def test_show_gives_no_figures_of_another_rule_as_those_of_the_contract(table: str, folder: Any, run: Any) -> None:
    """Certifying leaves held-out figures out; what was tried in fitting says that it was before."""
    fit = ("fit", "data.csv", "--target", "the label", "--drop", "id", "--price", "0.01", "-o", "own.seq")
    assert run(*fit, "--method", "adaptive", "--held-out", "3").exit_code == 0
    assert run("certify", "own.seq", table, *CERTIFY, "-o", "certified.seq").exit_code == 0
    before, after = (run("show", name).stdout for name in ("own.seq", "certified.seq"))
    said = "Before it was certified, with the stopping rules that were learnt:\ntried on rows held out"
    assert "tried on rows held out" in before
    assert said in after
    assert said not in before
    assert "On rows that the fit had not seen" in before
    assert "had not seen" not in after


@pytest.mark.quick
def test_it_certifies_what_the_function_does(model: str, table: str, run: Any, others: pd.DataFrame) -> None:
    result = run("certify", model, table, *CERTIFY, "-o", "certified.seq")
    assert (result.exit_code, result.stderr) == (0, "")
    clf = seqclass.load(model)
    features = others[clf.feature_names_in_.tolist()].copy()
    features["smokes"] = features["smokes"].map(str, na_action="ignore")
    contract = certify_error(clf, features, others["the label"].to_numpy(), 0.4, 0.2)
    assert contract.certified
    assert " ".join(result.stdout.split()).startswith(str(contract))
    kept = seqclass.load("certified.seq")
    assert isinstance(kept, CertifiedError)
    assert kept.record() == contract.record()
    predicted = run("predict", "certified.seq", table)
    assert predicted.exit_code == 0
    decided = [line.split(",")[0] for line in predicted.stdout.splitlines()[1:]]
    assert decided == contract.predict(features).tolist()
    shown = run("show", "certified.seq").stdout
    assert "Certified: an error rate of at most 40.0%" in shown
    assert json.loads(run("show", "certified.seq", "--json").stdout)["contract"]["alpha"] == 0.4
    assert run("explain", "certified.seq", table).exit_code == 0


def test_json_and_groups(model: str, table: str, run: Any) -> None:
    told = json.loads(run("certify", model, table, *CERTIFY, "--groups", "ward", "--json").stdout)
    assert [group["label"] for group in told["groups"]] == ["east", "west"]
    assert told["bound"] == max(group["bound"] for group in told["groups"])
    text = run("certify", model, table, *CERTIFY, "--groups", "ward").stdout
    assert "in every group" in text
    assert "east" in text


def test_nothing_certified_writes_nothing(model: str, table: str, run: Any, folder: Any) -> None:
    settings = ("--target", "the label", "--alpha", "0.05", "--class", "yes")
    result = run("certify", model, table, *settings, "-o", "certified.seq")
    assert result.exit_code == 3
    assert " ".join(result.stdout.split()).startswith("Not certified: a share of 'yes' missed of at most 5.0%")
    assert not (folder / "certified.seq").exists()


def test_a_trivial_rule_is_told_and_not_written(folder: Any, run: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.5, "ill", "well")
    X = rng.normal(size=(400, 1))
    clf = seqclass.SequentialClassifier(feature_costs=Costs(decision_costs=[[0, 20], [1, 0]])).fit(X[:200], y[:200])
    clf.save("blind.seq")
    pd.DataFrame({"x0": X[200:, 0], "y": y[200:]}).to_csv("new.csv", index=False)
    settings = ("--target", "y", "--class", "ill", "--alpha", "0.1", "-o", "contract.seq")
    result = run("certify", "blind.seq", "new.csv", *settings)
    assert result.exit_code == 4
    said = " ".join(result.stdout.split())
    assert "decides 'ill' for everybody" in said
    assert "of the other rows 0.0% were not decided for 'ill'" in said
    assert not (folder / "contract.seq").exists()


def test_another_model_beside_it(model: str, table: str, run: Any) -> None:
    arguments = ("fit", "data.csv", "--target", "the label", "--drop", "id", "--held-out", "0", "-o", "second.seq")
    assert run(*arguments).exit_code == 0
    told = json.loads(run("certify", model, table, *CERTIFY, "--also", "second.seq", "--json").stdout)
    assert [rung["classifier"] for rung in told["rungs"]] == [0] * 40 + [1] * 40


def test_another_model_beside_it_that_was_fitted_to_a_further_column_is_refused(
    model: str, table: str, run: Any
) -> None:
    arguments = ("fit", "data.csv", "--target", "the label", "--drop", "id", "--drop", "colour", "-o", "few.seq")
    assert run(*arguments).exit_code == 0
    told = run("certify", "few.seq", table, *CERTIFY, "--also", model)
    assert (told.exit_code, told.stderr.strip()) == (
        2,
        f"Error: --also: {model} reads 'colour', which the model does not know.",
    )
    assert run("certify", model, table, *CERTIFY, "--also", "few.seq").exit_code == 2


def test_labels_that_look_otherwise_in_few_rows(folder: Any, run: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["1", "2", "x"], 300)
    frame = pd.DataFrame({"a": np.where(y == "1", 0.0, 5.0) + rng.normal(size=300), "y": y})
    frame[:150].to_csv("train.csv", index=False)
    few = frame[150:]
    few[few["y"] != "x"].to_csv("few.csv", index=False)
    assert run("fit", "train.csv", "--target", "y", "-o", "model.seq").exit_code == 0
    assert run("certify", "model.seq", "few.csv", "--target", "y", "--alpha", "0.6").exit_code == 0


def test_arrays(folder: Any, run: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = (X[:, 1] > 0).astype(int)
    seqclass.etana().fit(X[:100], y[:100]).save("arrays.seq")
    np.savez("data.npz", X=X[100:], y=y[100:])
    told = json.loads(run("certify", "arrays.seq", "data.npz", "--json").stdout)
    assert told["n_rows"] == 200


def test_the_labels_are_those_of_the_model(model: str, table: str, run: Any) -> None:
    """As in `evaluate`, unless another column is named."""
    told, named = (json.loads(run("certify", model, table, "--json", *more).stdout) for more in ((), CERTIFY[:2]))
    assert told | {"seconds": 0} == named | {"seconds": 0}


@pytest.mark.slow
def test_refusals(model: str, table: str, refuses: Any, others: pd.DataFrame) -> None:
    told = refuses("certify", model, "data.csv", *CERTIFY)
    assert "that the classifier was fitted to" in told
    assert ": rows 1, 2, 3, " in told  # as the rows of files are counted
    others.rename(columns={"the label": "other"}).to_csv("other.csv", index=False)
    assert "name the column of the labels" in refuses("certify", model, "other.csv")
    assert "has no column 'the lable'" in refuses("certify", model, table, "--target", "the lable")
    assert "has no column 'wards'" in refuses("certify", model, table, *CERTIFY, "--groups", "wards")
    assert "'perhaps' is no class of the model" in refuses("certify", model, table, *CERTIFY, "--class", "perhaps")
    of_error = refuses("certify", model, table, *CERTIFY, "--class", "no", "--metric", "cost")
    assert "--class is for --metric sensitivity, and --metric is cost" in of_error
    assert "needs --class" in refuses("certify", model, table, *CERTIFY, "--metric", "sensitivity")
    assert "--card and --json exclude each other" in refuses("show", model, "--card", "--json")
    assert "y holds 'p0000', which is no class" in refuses("certify", model, table, "--target", "id")
    others.drop(columns="colour").to_csv("lacking.csv", index=False)
    assert "lacks the column 'colour'" in refuses("certify", model, "lacking.csv", *CERTIFY)
    others[:15].to_csv("few.csv", index=False)
    assert "it takes at least 22" in refuses("certify", model, "few.csv", "--target", "the label")
    others.assign(ward=others["ward"].where(others.index != 3)).to_csv("holes.csv", index=False)
    assert "has no 'ward' in 1 row, first in row 4; fill it in" in refuses(
        "certify", model, "holes.csv", *CERTIFY, "--groups", "ward"
    )
    assert "--alpha" in refuses("certify", model, table, "--alpha", "0")
