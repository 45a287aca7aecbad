"""Columns of few whole numbers: which these are, and that people are shown the numbers rather than bins."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import seqclass
from seqclass import analysis, load
from seqclass.agent.agent import outcome_labels
from seqclass.cli import main
from seqclass.discretize import Discretizer
from seqclass.persistence import ModelFileError, save


def plain(column: Any) -> list[float]:
    """The few whole numbers of a column, found one by one."""
    known = sorted({float(v) for v in column if np.isfinite(v)})
    few = len(known) <= 10 and all(v == int(v) for v in known)
    return known if few and known and known[-1] - known[0] < 63 else []


NUMBERS = st.one_of(st.integers(-4, 9).map(float), st.sampled_from([0.5, np.nan, np.inf, -np.inf, 70.0, 2.0**60]))


@given(st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_they_are_found_dense_and_sparse(columns: list[list[float]], sparse: bool, quantile: bool) -> None:
    X = np.array(columns).T
    made = Discretizer(4, strategy="quantile" if quantile else "uniform").fit(sp.csr_array(X) if sparse else X)
    for j in range(X.shape[1]):
        found = made.few_values(j).tolist()
        assert found == plain(X[:, j])
        labels = made.bin_labels(j)
        assert len(labels) == made.n_outcomes_[j] or labels == ["any"]
        if made.n_outcomes_[j] == 1:
            continue
        outcomes = made._outcomes(np.array(found), j)
        # each number is named by the label of its own outcome, or that has its interval for being too long
        intervals = made.bin_labels(j, intervals=True)
        for value, outcome in zip(found, outcomes.tolist()):
            assert (
                f"{value:.0f}" in labels[outcome].split(", ")
                or " to " in labels[outcome]
                or (labels[outcome] == intervals[outcome])
            )
        for outcome in set(range(len(labels))) - set(outcomes.tolist()):
            assert labels[outcome] == intervals[outcome]


def test_a_part_is_described_as_the_whole() -> None:
    X = np.array([[1.0, 0.1], [2.0, 0.7], [2.0, 0.5]])
    made = Discretizer(3, zero_bin=False).fit(X)
    assert made.restrict([0]).bin_labels(0) == made.bin_labels(0) == ["1", "[1.333, 1.667)", "2"]
    assert made.bin_labels(1) == made.bin_labels(1, intervals=True)


@pytest.mark.parametrize("n", [10, 11])
def test_ten_are_few_and_eleven_are_not(n: int) -> None:
    X = np.arange(100.0)[:, None] % n
    for made in (Discretizer(3).fit(X), Discretizer(3).fit(sp.csr_array(X)), Discretizer(3).fit(X[::-1])):
        assert made.few_values(0).tolist() == (np.arange(n).tolist() if n == 10 else [])
    far = Discretizer(3).fit(
        np.array([[0.0] * 3, [62.0, 63.0, 64.0]])
    )  # numbers that are few lie within 63 of one another
    assert [far.few_values(j).tolist() for j in range(3)] == [[0, 62], [], []]
    late = np.repeat([0.0, 1.0], 100)  # what a glance at the first rows does not show
    late[-1] = 0.5
    assert Discretizer(3).fit(late[:, None]).few_values(0).tolist() == []


def test_what_is_long_is_shortened() -> None:
    many = Discretizer(2).fit(np.arange(10.0)[:, None])
    assert many.bin_labels(0) == ["0 to 4", "5 to 9"]
    spread = Discretizer(2).fit(np.array([[0.0], [2], [4], [1000], [1002], [1004]]))
    assert spread.bin_labels(0) == ["< 502", ">= 502"]  # too far apart
    wide = Discretizer(2).fit(1e9 + np.array([[0.0], [2], [4], [50], [52], [54]]))
    assert wide.few_values(0).size == 6
    assert wide.bin_labels(0)[0].startswith("< ")


@pytest.fixture(scope="module")
def coded() -> tuple[Any, pd.DataFrame]:
    """A classifier of a yes-or-no coded 1 and 2, a score from 0 to 4 and a number; asked for in this order."""
    rng = np.random.default_rng(0)
    y = np.tile(["ill", "well"], 150)
    ill = y == "ill"
    frame = pd.DataFrame({"smokes": 1.0 + ill, "score": ill + rng.integers(0, 4, 300), "age": rng.normal(50, 9, 300)})
    frame["smokes"] = np.where(rng.random(300) < 0.15, 3 - frame["smokes"], frame["smokes"])
    bins = Discretizer(zero_bin=False)
    return seqclass.etana(0.01, order=[0, 1, 2], discretizer=bins).fit(frame, y), frame


def test_explanations_name_them(coded: tuple[Any, pd.DataFrame]) -> None:
    clf, frame = coded
    assert outcome_labels(clf.agent_, 0) == ["1", "[1.2, 1.4)", "[1.4, 1.6)", "[1.6, 1.8)", "2"]
    [told] = clf.explain(frame[frame["smokes"] == 2][:1])
    assert str(told).splitlines()[1].startswith("1. smokes = 2: ")
    other = frame[:1].assign(smokes=[1.3])
    assert str(clf.explain(other)[0]).splitlines()[1].startswith("1. smokes = 1.3 ([1.2, 1.4)): ")
    beyond = frame[:1].assign(smokes=[7.0])  # counts as 2, but is not called so
    assert str(clf.explain(beyond)[0]).splitlines()[1].startswith("1. smokes = 7 (>= 1.8): ")


def test_graphs_and_show_name_them(coded: tuple[Any, pd.DataFrame], tmp_path: Path) -> None:
    clf, _ = coded
    graph = analysis.decision_graph(clf)
    assert re.search(r'label=" 2: [\d.]+% "', graph)
    clf.save(tmp_path / "m.seq")
    result = CliRunner().invoke(main, ["show", str(tmp_path / "m.seq")])
    assert result.exit_code == 0, result.output
    listed = result.stdout.partition("asked for:")[2].partition("Settings")[0]
    lines = {words[1]: words[3:] for words in map(str.split, listed.splitlines()) if words and words[0].isdigit()}
    assert lines["smokes"] == ["2", "1", "|", "2"]
    assert lines["score"] == ["5", "0", "|", "1", "|", "2", "|", "3", "|", "4"]
    assert lines["age"][:2] == ["5", "<"]


def test_a_feature_that_cannot_pay_is_said_to_be_worth_nothing() -> None:
    """ "Going on is expected to cost 1.0000 more than deciding" is not what people want to know."""
    X, y = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    for price in (1.0, 0.01):
        clf = seqclass.SequentialClassifier(feature_costs=[0.01, price], order="given").fit(X, y)
        text = clf.explain(X[:1])[0].stop_text
        assert text == (
            f"Stopped before x1 (price {price:g}): what is left to ask is expected to save nothing, so going on only "
            "costs its price."
        )
    (told,) = clf.explain(X[:1])
    assert told.not_asked is not None
    for saving, price, words in (
        (-0.0096, 0.01, ": going on is expected to cost 0.0096 more than deciding."),
        (-0.995, 1.0, ": going on is expected to cost 0.9950 more than deciding."),
        (-0.00001, 0.01, ": going on is not expected to be any cheaper than deciding."),
        (np.nan, 0.01, "."),
    ):
        other = replace(told, not_asked=replace(told.not_asked, expected_saving=saving, price=price))
        assert other.stop_text == f"Stopped before x1 (price {price:g}){words}"
    (step,) = told.steps
    for saving, words in ((-0.01, "save nothing"), (-0.004, "save 0.0040 less than it costs")):
        other = replace(told, steps=(replace(step, expected_saving=saving, price=0.01),))
        assert str(other).splitlines()[2] == f"   price 0.01, going on is expected to {words}"


def test_kept_values_of_another_shape_are_refused_when_a_model_is_read(tmp_path: Path) -> None:
    discretizer = Discretizer().fit(np.array([[1.0, 2.0], [2.0, 5.0], [3.0, 4.0]]))
    save(discretizer, tmp_path / "d.model")
    assert load(tmp_path / "d.model").few_values(0).tolist() == [1, 2, 3]
    discretizer.few_values_ = discretizer.few_values_[..., None]
    save(discretizer, tmp_path / "d.model")
    with pytest.raises(ModelFileError, match="few_values_"):
        load(tmp_path / "d.model")
