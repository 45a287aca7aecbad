"""Where a model comes from: kept by the model and its file, and told by whatever is made of it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.agent.provenance import Provenance
from seqclass.cli import fit as cli_fit
from seqclass.cli import main
from seqclass.export import export_policy, model_card, policy_data
from seqclass.persistence import ModelFileError
from seqclass.pomdp import GridValueIteration

X = pd.DataFrame({"a": [0.0, 1.0] * 30, "b": [0.0, 0.0, 1.0] * 20})
Y = pd.Series(["no", "yes"] * 30, name="ill")


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795737600")  # 2026-11-27


@pytest.fixture
def run() -> Callable[..., str]:
    def run(*arguments: Any) -> str:
        result = CliRunner().invoke(main, [str(one) for one in arguments])
        assert result.exit_code == 0, result.output
        return result.output

    return run


def test_each_way_to_fit_counts_its_rows() -> None:
    fixed = {"discretizer": "precomputed"}
    ways = {
        60: SequentialClassifier().fit(X, Y),
        59: SequentialClassifier().fit_chunks([(X[:20], Y[:20]), (X[20:59], Y[20:59])]),
        7: SequentialClassifier(**fixed)
        .partial_fit([[0], [1], [1]], [0, 1, 1], classes=[0, 1], n_outcomes=2)
        .partial_fit([[0]] * 4, [0] * 4),
        None: SequentialClassifier.from_model(seqclass.bn.NaiveBayes().fit([[0], [1]], [0, 1])),
    }
    for n_rows, clf in ways.items():
        assert clf.provenance_.n_rows == n_rows
        assert (clf.provenance_.date, clf.provenance_.n_classes) == ("2026-11-27", 2)
        assert dict(clf.provenance_.versions)["numpy"] == np.__version__
    assert [clf.provenance_.target for clf in ways.values()] == ["ill", "ill", None, None]


def test_it_is_kept_by_files_and_copies(tmp_path: Path) -> None:
    (tmp_path / "clinic.csv").write_text("a\n")
    clf = SequentialClassifier().fit(X, Y)
    clf.provenance_ = clf.provenance_.with_source(tmp_path / "clinic.csv", date="2026-01-02")
    assert clf.provenance_.digest == hashlib.sha256(b"a\n").hexdigest()
    assert repr(clf.provenance_) == "<Provenance: from 60 rows of clinic.csv, 2026-01-02>"
    clf.save(tmp_path / "m.seq")
    assert seqclass.load(tmp_path / "m.seq").provenance_ == clf.provenance_ == clf.with_prior([0.3, 0.7]).provenance_
    with pytest.raises(ValueError, match="date must be a day such as"):
        clf.provenance_.with_source(tmp_path / "clinic.csv", date="yesterday")
    one = clf.provenance_.with_source(tmp_path).digest
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.csv").write_text("b\n")
    assert clf.provenance_.with_source(tmp_path).digest != one


def test_files_of_before_are_read_and_wrong_ones_are_not(tmp_path: Path) -> None:
    clf = SequentialClassifier().fit(X, Y)
    del clf.provenance_
    clf.save(tmp_path / "old.seq")
    old = seqclass.load(tmp_path / "old.seq")
    assert policy_data(old)["provenance"]["text"] == ""
    assert "was not kept" in model_card(old)
    export_policy(old, tmp_path / "page.html")
    for wrong in (Provenance(2, date=3), Provenance(2, -1), Provenance(2, versions=(("a", 1),)), "text"):  # type: ignore[arg-type]
        clf.provenance_ = wrong  # type: ignore[assignment]
        clf.save(tmp_path / "wrong.seq")
        with pytest.raises(ModelFileError):
            seqclass.load(tmp_path / "wrong.seq")


@pytest.mark.slow
def test_command_line_page_json_and_c_tell_it(tmp_path: Path, run: Callable[..., str]) -> None:
    X.assign(ill=Y).to_csv(tmp_path / "cli*nic.csv", index=False)
    model = tmp_path / "m.seq"
    run("fit", tmp_path / "cli*nic.csv", "-t", "ill", "-o", model, "--method", "etana", "--currency", "EUR")
    assert "learnt        from 60 rows of cli*nic.csv, 2026-11-27" in run("show", model)
    told = json.loads(run("show", model, "--json"))["provenance"]
    assert (told["n_rows"], told["target"], told["source"]) == (60, "ill", "cli*nic.csv")
    assert told["digest"] == hashlib.sha256((tmp_path / "cli*nic.csv").read_bytes()).hexdigest()
    card = run("show", model, "--card")
    assert "Learnt from 60 rows of cli\\*nic.csv, 2026-11-27." in card
    assert all(f"## {part}" in card for part in ("Intended use", "Data", "Costs", "Calibration", "Limits", "Contract"))
    clf = seqclass.load(model)
    cost = clf.held_out_.cost
    for ending in ("html", "json", "c"):
        export_policy(clf, tmp_path / f"m.{ending}")
        text = (tmp_path / f"m.{ending}").read_text(encoding="utf-8")
        assert f"cli*nic.csv, 2026-11-27, held-out cost {cost:.4g} EUR" in text
        assert json.loads(clf.session().to_json())["model"] in text


def test_a_file_that_goes_while_it_is_learnt_from_is_told_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., str]
) -> None:
    data, fit = tmp_path / "clinic.csv", cli_fit._fit
    data.write_text("a,y\n" + "1,u\n2,v\n" * 20, "utf-8")
    digest = hashlib.sha256(data.read_bytes()).hexdigest()

    def fit_and_lose(*given: Any) -> None:
        fit(*given)
        data.unlink()

    monkeypatch.setattr(cli_fit, "_fit", fit_and_lose)
    run("fit", data, "-t", "y", "-o", tmp_path / "m.seq", "--method", "etana", "--held-out", "0")
    assert seqclass.load(tmp_path / "m.seq").provenance_.digest == digest


def test_the_card_of_a_contract_states_it_and_names_stay_text() -> None:
    rng = np.random.default_rng(0)
    many = pd.DataFrame({"a|b": rng.normal(size=400), "c": rng.normal(size=400)})
    y = np.where(many["a|b"] > 0, "*x*", "y")
    clf = SequentialClassifier(feature_costs=Costs(0.01)).fit(many[:200], y[:200])
    contract = seqclass.certify_error(clf, many[200:], y[200:], alpha=0.2, delta=0.1)
    card = model_card(contract)
    assert "Certified: " in card
    assert "a\\|b" in card
    assert "\\*x\\*" in card
    assert "| *x*" not in card


def test_the_card_gives_prices_by_themselves_and_in_a_group() -> None:
    """A figure of a group's later members alone would be too low, and four digits of 12000 are 12000."""
    costs = Costs(
        [40.0, 60.0], groups=[1, 1], discounted_costs=[5.0, 10.5], decision_costs=[[0, 1500], [12000, 0]], unit="EUR"
    )
    clf = SequentialClassifier(feature_costs=costs).fit(X, Y)
    card = model_card(clf)
    assert "A feature costs 40 EUR to 60 EUR, and 5 EUR to 10.5 EUR once another of its group was acquired." in card
    assert "| 12000 | 0 |" in card


def test_the_card_says_which_way_probabilities_are_off() -> None:
    clf = SequentialClassifier(solver=GridValueIteration(10, certificate_paths=0)).fit(X, Y, held_out=2)
    held_out = clf.held_out_
    for expected, says in (
        (held_out.cost_interval[0] - 0.1, "below that interval: it is too sure of itself"),
        (held_out.cost_interval[1] + 0.1, "above that interval: it is less sure of itself than it might be"),
        (held_out.cost, "which is within the interval"),
    ):
        clf.held_out_ = dataclasses.replace(held_out, expected_cost=expected)
        assert says in model_card(clf)
