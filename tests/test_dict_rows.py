"""Cases as dicts, lists of dicts, and frames of some of the columns: what is left out is missing."""

from __future__ import annotations

import asyncio
import json
import logging
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass import SequentialClassifier
from seqclass.bn import ClassMixture, ContextBayes, NaiveBayes, TreeNetwork
from seqclass.export import model_card, policy_data
from seqclass.pomdp import GridValueIteration

RNG = np.random.default_rng(0)
LABEL = RNG.choice(["no", "yes"], 300)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(size=300) + 1.5 * (LABEL == "yes"),
        "colour": np.where(RNG.random(300) < 0.8, np.where(LABEL == "yes", "red", "green"), "red"),
        "bmi": RNG.normal(size=300) + (LABEL == "yes"),
    }
)
NUMBERS = FRAME.assign(colour=(FRAME["colour"] == "red") * 1.0).to_numpy()


def fitted(kind: str, **how: Any) -> tuple[SequentialClassifier, list[dict[Any, Any]], Any]:
    """A classifier, rows as dicts from which a third of the cells is left out, and the same with all columns."""
    gone = np.random.default_rng(1).random(FRAME.shape) < 0.33
    X: Any = FRAME if kind == "frame" else NUMBERS
    clf = SequentialClassifier(feature_costs=0.02, **how).fit(X, LABEL)
    whole = FRAME.mask(gone) if kind == "frame" else np.where(gone, np.nan, NUMBERS)
    names: list[Any] = list(FRAME) if kind == "frame" else ["x0", 1, np.int64(2)]
    cells = whole.to_numpy(dtype=object) if kind == "frame" else whole
    rows = [{names[j]: cells[i, j] for j in range(3) if not gone[i, j]} for i in range(len(cells))]
    return clf, rows, whole


@pytest.mark.parametrize("kind", ["frame", "numbers"])
@pytest.mark.parametrize("how", [{}, {"order": "adaptive"}, {"missing": "informative"}], ids=str)
def test_dicts_are_rows_without_what_they_leave_out(kind: str, how: dict[str, Any]) -> None:
    clf, rows, whole = fitted(kind, **how)
    assert clf.predict(rows).tolist() == clf.predict(whole).tolist()
    assert clf.next_question(rows).tolist() == clf.next_question(whole).tolist()
    ours, theirs = clf.acquire(rows), clf.acquire(whole)
    np.testing.assert_array_equal(ours.order, theirs.order)
    np.testing.assert_array_equal(clf.predict_proba(tuple(rows)), theirs.posterior)
    at = next(i for i, row in enumerate(rows) if len(row) == 3)
    assert clf.predict(rows[at]).tolist() == clf.predict(whole[at : at + 1]).tolist()
    assert clf.explain(rows[at])[0].decision == theirs.decision[at]
    with clf.session() as case:
        assert clf.next_question({}).tolist() == [-1 if (q := case.next_feature) is None else q.column]


MODELS = {"naive": NaiveBayes, "tree": TreeNetwork, "mixture": partial(ClassMixture, 2), "context": ContextBayes}


@pytest.mark.parametrize("in_chunks", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_dicts_and_origins_go_with_every_model(model: str, in_chunks: bool) -> None:
    """Through explanations and exports, of models that were fitted at once or in chunks."""
    clf = SequentialClassifier(MODELS[model](), GridValueIteration(10, certificate_paths=0), feature_costs=0.02)
    chunks = [(FRAME[:40], LABEL[:40]), (FRAME[40:80], LABEL[40:80])]
    if in_chunks and model == "context":
        with pytest.raises(ValueError, match="learns from all rows at once"):
            clf.fit_chunks(chunks)
        return
    if in_chunks:
        clf.fit_chunks(chunks)
    else:
        clf.fit(FRAME[:80], LABEL[:80])
    rows = [{"age": 0.3}, {"colour": "red", "bmi": None}, {"bmi": 1.0, "age": 2.0, "colour": "green"}, {}]
    whole = pd.DataFrame(rows, columns=list(FRAME))
    assert clf.predict(rows).tolist() == clf.predict(whole).tolist()
    np.testing.assert_array_equal(clf.acquire(rows).order, clf.acquire(whole).order)
    assert [str(one) for one in clf.explain(rows)] == [str(one) for one in clf.explain(whole)]
    assert clf.provenance_.n_rows == 80
    assert policy_data(clf)["provenance"]["n_rows"] == 80
    assert "from 80 rows" in model_card(clf)


def test_frames_may_have_fewer_columns() -> None:
    clf, _, _ = fitted("frame")
    part = FRAME[["bmi", "age"]]
    assert clf.predict(part).tolist() == clf.predict(FRAME.assign(colour=None)).tolist()
    assert clf.acquire(part).to_frame().index.equals(FRAME.index)
    assert clf.next_question(FRAME[[]].iloc[:2]).tolist() == clf.next_question([{}, {}]).tolist()
    with pytest.raises(ValueError, match="unseen at fit time"):
        clf.predict(part.rename(columns={"bmi": "bim"}))


@pytest.mark.parametrize(
    ("kind", "rows", "says"),
    [
        ("frame", [{"age": 1.0}, {"aeg": 1.0}], "row 1 names 'aeg', which is not a feature; did you mean 'age'?"),
        ("frame", {"colour": "blue"}, "column 'colour' holds the unknown category 'blue'; known are"),
        ("frame", {"age": "old"}, "column 'age'"),
        ("numbers", {"x1": "old"}, "row 0: x1 must be a number, got 'old'."),
        ("numbers", {7: 1.0}, "row 0 names 7, which is not a feature; they are 0..2."),
        ("numbers", {"x1": 1.0, 1: 2.0}, "row 0 names feature 1 more than once."),
        ("numbers", {"x1": float("inf")}, "holds infinity"),
    ],
)
def test_what_is_wrong_is_said_by_row_and_name(kind: str, rows: Any, says: str) -> None:
    clf, _, _ = fitted(kind)
    with pytest.raises(ValueError) as error:
        clf.predict(rows)
    assert says in str(error.value)


def test_a_case_in_with_is_told_to_the_log_without_its_answers(caplog: pytest.LogCaptureFixture) -> None:
    clf, _, _ = fitted("frame")

    async def work() -> str:
        async with clf.session() as case:
            while (question := case.next_feature) is not None:
                case.observe(question.name, FRAME[question.name].iloc[0])
            return str(case.decision)

    with caplog.at_level(logging.INFO, "seqclass"):
        decision = asyncio.run(work())
    told = json.loads(caplog.records[-1].message)
    assert (told["event"], told["decision"]) == ("case", decision)
    assert set(told) == {"event", "model", "questions", "visits", "cost", "decision", "posterior"}
