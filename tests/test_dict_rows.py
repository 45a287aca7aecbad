"""Cases as dicts, of which what is left out is missing, and frames, whose columns go by name."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass import SequentialClassifier, certify_error, load
from seqclass.bn import ClassMixture, ContextBayes, NaiveBayes, TreeNetwork
from seqclass.export import model_card, policy_data
from seqclass.metrics import score_rows
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


@pytest.mark.covering(1)
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


@pytest.mark.covering(1)
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


KINDS = ["pandas", "polars", "pyarrow"]


def make(kind: str, frame: pd.DataFrame) -> Any:
    """A data frame of another kind."""
    module = pytest.importorskip(kind, reason=f"{kind} is not installed")
    return frame if kind == "pandas" else getattr(module, "Table", module).from_pandas(frame)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_frames_go_by_name(kind: str) -> None:
    """In any order, others are never looked at; the same table was refused or decided by what stood in its place."""
    clf, _, _ = fitted("frame")
    dates = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(300), unit="D")
    more = FRAME.assign(comment=[f"text {i}" for i in range(300)], day=dates)[
        ["day", "bmi", "comment", "colour", "age"]
    ]
    X = make(kind, more)
    record = clf.acquire(FRAME)
    assert clf.predict(X).tolist() == record.decision.tolist()
    np.testing.assert_array_equal(clf.predict_proba(X), record.posterior)
    np.testing.assert_array_equal(clf.acquire(X).order, record.order)
    np.testing.assert_array_equal(clf.encode(X).codes, clf.encode(FRAME).codes)
    assert clf.score(X, LABEL) == clf.score(FRAME, LABEL)
    assert str(clf.explain(X[:3])) == str(clf.explain(FRAME[:3])), kind
    assert score_rows(clf, X, LABEL).record() == score_rows(clf, FRAME, LABEL).record()
    told = certify_error(clf, X, LABEL, alpha=0.6, allow_seen=True).record()
    assert told == certify_error(clf, FRAME, LABEL, alpha=0.6, allow_seen=True).record()
    with pytest.raises(ValueError, match=r"known goes by the columns of the fit .*: give X\[clf.feature_names_in_\]"):
        clf.next_question(X, np.zeros(FRAME.shape, dtype=bool))


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_a_row_needs_is_asked_for(kind: str) -> None:
    """It was taken for missing, without a word."""
    clf, _, _ = fitted("frame")
    order = clf.acquire(FRAME).order
    for name, column in (("colour", 1), ("bmi", 2), ("age", 0)):
        row = int(np.isin(order, column).any(axis=1).argmax())
        part = make(kind, FRAME.drop(columns=name).assign(day=1.0))
        says = f"X lacks the column '{name}', which row {row} needs; "
        for function in (clf.predict, clf.predict_proba, clf.acquire, clf.explain):
            with pytest.raises(ValueError, match=says):
                function(part)
        for function in (clf.encode, partial(certify_error, clf, y=LABEL, alpha=0.6, allow_seen=True)):
            with pytest.raises(ValueError, match=f"X lacks the column '{name}'"):
                function(part)
    with pytest.raises(ValueError, match=r"did you mean 'bim'\? If no row has it, give X\.reindex"):
        clf.predict(FRAME.rename(columns={"bmi": "bim"}))
    with pytest.raises(ValueError, match="lacks the column"):
        clf.predict(make(kind, FRAME[["age"]].rename(columns={"age": "day"})))
    with pytest.raises(ValueError, match="X has more than one column named 'bmi'"):
        clf.predict(pd.concat([FRAME, FRAME[["bmi"]]], axis=1))


def test_a_frame_without_a_column_that_no_row_needs() -> None:
    clf, _, _ = fitted("frame")
    part, whole = FRAME[["bmi", "age"]], FRAME.assign(colour=None)
    assert clf.predict(part.reindex(columns=clf.feature_names_in_)).tolist() == clf.predict(whole).tolist()
    assert clf.next_question(part).tolist() == clf.next_question(whole).tolist()
    assert clf.next_question(FRAME[[]].iloc[:2]).tolist() == clf.next_question([{}, {}]).tolist()
    few = SequentialClassifier(feature_costs={"age": 0.01, "bmi": 5.0, "colour": 5.0}).fit(FRAME, LABEL)
    assert few.acquire(FRAME[["age"]]).to_frame().index.equals(FRAME.index)
    assert few.predict(FRAME[["age"]]).tolist() == few.predict(FRAME).tolist()
    with pytest.raises(ValueError, match="lacks the column 'bmi', which row 0 needs"):
        few.acquire(FRAME[["age"]], known=["bmi"])
    by_number = FRAME.set_axis([5, 6, 7], axis=1)
    clf = SequentialClassifier(feature_costs=0.02).fit(by_number, LABEL)
    assert clf.predict(by_number[[7, 5, 6]]).tolist() == clf.predict(by_number).tolist()


def test_further_rows_go_by_name_too() -> None:
    clf = SequentialClassifier(discretizer="precomputed")
    codes = pd.DataFrame(RNG.integers(0, 2, (60, 3)), columns=["a", "b", "c"])
    clf.partial_fit(codes, LABEL[:60], classes=["no", "yes"], n_outcomes=2)
    other = copy.deepcopy(clf).partial_fit(codes.assign(day="x")[["c", "day", "a", "b"]], LABEL[60:120])
    assert (other.predict_proba(codes) == clf.partial_fit(codes, LABEL[60:120]).predict_proba(codes)).all()
    with pytest.raises(ValueError, match="X lacks the column 'b'"):
        clf.partial_fit(codes[["a", "c"]], LABEL[:60])


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
    assert set(told) == {"event", "model", "questions", "visits", "paid", "decision", "posterior"}


def test_a_logical_column_takes_numbers_too(tmp_path: Path) -> None:
    """JSON has 1 where a file has True; a file that is cut off is named in a user's words."""
    clf = SequentialClassifier().fit(FRAME[["age"]].assign(flag=np.where(LABEL == "yes", "True", "False")), LABEL)
    for value, known in ((1, "True"), (0, "False"), ("1", "True"), (1.0, "True"), (True, "True")):
        assert clf.predict_proba([{"flag": value}]).tolist() == clf.predict_proba([{"flag": known}]).tolist()
    path = tmp_path / "m.seq"
    clf.save(path)
    for content, says in ((path.read_bytes()[:-300], "it is cut off"), (b"", "it is empty")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=says):
            load(path)
