"""Records of what was acquired: whatever field they have reaches all that is made of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from seqclass import Costs, SequentialClassifier
from seqclass.agent.record import (
    CLASSES,
    STEPS,
    AcquisitionRecord,
    axes_of,
    join_records,
    layout,
    record_columns,
    row_fields,
    select_rows,
)
from seqclass.cli import main
from seqclass.experiment import Experiment
from seqclass.large import predict_parquet
from seqclass.pomdp import GridValueIteration, acquire


@dataclass(frozen=True)
class Longer(AcquisitionRecord):
    """A record to which fields were added."""

    wait: npt.NDArray[Any] | None = None
    effort: npt.NDArray[Any] | None = field(default=None, metadata=layout(STEPS, in_table=False))
    doubt: npt.NDArray[Any] | None = field(default=None, metadata=layout(CLASSES, in_table=False))

    @classmethod
    def from_acquisition(cls, *args: Any) -> Longer:
        record = super().from_acquisition(*args)
        effort = np.where(record.order >= 0, record.order + 100, -1)
        return replace(record, wait=3 * record.paid + 1, effort=effort, doubt=1 - record.posterior)  # type: ignore[call-arg]


def filled(n: int, longest: int) -> Longer:
    """A record with something in every field, all different."""
    sizes, count, values = {"n_classes": 3, "longest": longest, "longest + 1": longest + 1}, 0, {}
    for held in row_fields(Longer):
        shape = (n, *(sizes[axis] for axis in axes_of(held)))
        values[held.name] = count + np.arange(np.prod(shape)).reshape(shape)
        count += 1000
    return Longer(**values)


def test_the_docstring_tells_of_every_field_and_its_axes() -> None:
    assert AcquisitionRecord.__doc__ is not None
    for held in row_fields(AcquisitionRecord):
        shape = re.escape(", ".join(("n", *axes_of(held))) + "," * (not axes_of(held)))
        none = " or None" if held.default is None else ""
        assert re.search(
            rf"^ *{held.name} : (ndarray( of \w+)?|pandas.Index) of shape \({shape}\){none}$",
            AcquisitionRecord.__doc__,
            re.M,
        )


def test_joined_records_have_all_fields_in_full() -> None:
    parts = [filled(2, 3), filled(1, 1), filled(3, 0)]
    whole = join_records(parts)
    assert type(whole) is Longer
    for held in row_fields(Longer):
        value = getattr(whole, held.name)
        if held.name == "history":  # a number among the rows of its part
            assert value is None
            continue
        assert value is not None, held.name
        start = 0
        for part in parts:
            rows, own = value[start : start + len(part)], getattr(part, held.name)
            start += len(part)
            beyond = rows[:, own.shape[1] :] if own.ndim > 1 else rows[:, None][:, 1:]
            np.testing.assert_array_equal(rows[:, : own.shape[1]] if own.ndim > 1 else rows, own, err_msg=held.name)
            last = own[:, -1:] if held.name == "beliefs" else -1
            assert (beyond == last).all(), held.name
    with pytest.raises(ValueError, match="dimension"):
        join_records([filled(1, 1), replace(filled(1, 1), wait=None)])


def test_some_rows_have_all_fields() -> None:
    record, rows = filled(4, 2), np.array([3, 1])
    some = select_rows(record, rows)
    assert type(some) is Longer
    for held in row_fields(Longer):
        np.testing.assert_array_equal(getattr(some, held.name), getattr(record, held.name)[rows], err_msg=held.name)
    assert select_rows(replace(record, time=None), rows).time is None


def test_tables_have_all_fields_or_are_told_how() -> None:
    record = filled(2, 2)
    columns = record_columns(record, posterior=lambda p: {"p": p[:, 0]}, order=lambda _: {}, differential=lambda _: {})
    assert list(columns) == ["decision", "p", "n_features", "paid", "n_visits", "time", "wait"]

    @dataclass(frozen=True)
    class Other(AcquisitionRecord):
        pain: Any = field(default=None, metadata=layout(STEPS))

    plain = {held.name: getattr(record, held.name) for held in fields(AcquisitionRecord)}
    with pytest.raises(ValueError, match="must each be 1-dimensional"):  # it has to be said which columns it makes
        Other(**plain | {"posterior": record.posterior / 1e4}, pain=record.order).to_frame()


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let classifiers give longer records, and runs read them."""
    monkeypatch.setattr("seqclass.agent.agent.AcquisitionRecord", Longer)
    monkeypatch.setattr("seqclass.experiment.records.AcquisitionRecord", Longer)


def test_a_field_that_is_added_reaches_frames_and_files(longer: None, tmp_path: Path) -> None:
    frame = pd.DataFrame({"dose": np.repeat([0.0, 1.0], 20), "age": 5.0})
    clf = SequentialClassifier(solver=GridValueIteration()).fit(frame, np.repeat(["a", "b"], 20))
    assert clf.acquire(frame[:2]).to_frame()["wait"].tolist() == [1.03, 1.03]
    clf.save(tmp_path / "m.seq")
    frame.to_csv(tmp_path / "new.csv", index=False)
    frame.to_parquet(tmp_path / "new.parquet")
    done = CliRunner().invoke(
        main, ["predict", str(tmp_path / "m.seq"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv")]
    )
    assert done.exit_code == 0, done.output
    predict_parquet(clf, tmp_path / "new.parquet", tmp_path / "out")
    for found in (pd.read_csv(tmp_path / "out.csv"), pd.read_parquet(tmp_path / "out" / "new.parquet")):
        assert found["wait"].tolist() == pytest.approx([1.03] * 40)
    with pytest.raises(ValueError, match="keep: the output has a column 'wait' of its own"):
        predict_parquet(clf, tmp_path / "new.parquet", tmp_path / "out", keep=["wait"])


def test_a_field_that_is_added_is_kept_by_runs(longer: None, tmp_path: Path) -> None:
    record: Any = Experiment(["iris"], ["etana"], cv=2).run(tmp_path / "a.run").record("iris", "etana").record
    np.testing.assert_allclose(record.wait, 3 * record.paid + 1)
    np.testing.assert_array_equal(record.effort, np.where(record.order >= 0, record.order + 100, -1))
    np.testing.assert_allclose(record.doubt, 1 - record.posterior, atol=1e-6)


def test_what_is_said_of_tables_names_all_their_columns() -> None:
    names = record_columns(filled(2, 2), posterior=lambda _: {}, order=lambda _: {"asked": 0}, wait=lambda _: {})
    assert "n_visits" in names
    assert [name for name in names if f"``{name}``" not in str(AcquisitionRecord.to_frame.__doc__)] == []
    help_ = CliRunner().invoke(main, ["predict", "--help"]).output
    assert [name for name in names if not re.search(rf"^ +{name}  +\S", help_, re.M)] == []


def test_labels_of_a_table_are_as_many_as_it_needs() -> None:
    record = SequentialClassifier().fit([[0.0, 5.0], [1.0, 6.0]] * 20, ["a", "b"] * 20).acquire([[0.0, 5.0]])
    assert list(record.to_frame(classes=["no", "yes"], names=["dose", "age"])["asked"]) == [("dose",)]
    with pytest.raises(ValueError, match="classes must be 2 labels, one a class; got 1"):
        record.to_frame(classes=["a"])
    with pytest.raises(ValueError, match="names must name every column of X, and column 0 was asked for; got 0"):
        record.to_frame(names=[])


class ColumnsKept(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps the columns that it is told to."""

    def __init__(self, keep: tuple[int, ...] = ()) -> None:
        self.keep = keep

    def fit(self, X: Any, y: Any = None) -> ColumnsKept:
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        return np.isin(np.arange(self.n_features_in_), self.keep)


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
@pytest.mark.parametrize("keep", [(0, 1, 2), (1, 2)])
def test_a_bundle_that_was_asked_goes_by_its_name(order: str, keep: tuple[int, ...], tmp_path: Path) -> None:
    """In any order, whichever of its columns comes first; what is left of it alone has its own name."""
    y = np.arange(120) % 2
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"crp": y + rng.normal(0, 2, 120), "age": y + rng.normal(0, 1, 120), "wbc": y + rng.random(120)})
    costs = Costs(bundles={"crp": "blood", "wbc": "blood"})
    selector = ColumnsKept(keep)
    clf = SequentialClassifier(feature_costs=costs, order=order, selector=selector).fit(X, y)
    session, names = clf.session(), {"blood", "age"} if 0 in keep else {"wbc", "age"}
    assert session.next_feature is not None
    record = clf.acquire(X)
    asked = record.to_frame()["asked"]
    assert {one[0] for one in asked} == {session.next_feature.name}
    assert {name for one in asked for name in one} <= names
    X.to_parquet(tmp_path / "rows.parquet")
    predict_parquet(clf, tmp_path / "rows.parquet", tmp_path / "out")
    found = pd.concat([pd.read_parquet(file) for file in (tmp_path / "out").glob("*.parquet")])["asked"]
    assert found.str.split(";").map(tuple).tolist() == asked.tolist()
    if 0 in keep:  # also where columns have no names, beside their numbers
        costs = Costs(bundles={0: "blood", 2: "blood"})
        plain = SequentialClassifier(feature_costs=costs, order=order).fit(X.to_numpy(), y).acquire(X.to_numpy())
        assert {"blood"} <= {name for one in plain.to_frame()["asked"] for name in one} <= {"blood", 1}


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_what_is_written_into_results_or_rows_changes_no_classifier(order):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    X = rng.normal(size=(120, 3)) + (y == "b")[:, None]
    clf = SequentialClassifier(feature_costs=0.02, order=order).fit(X, y)
    assert not any(np.shares_memory(X, value) for value in vars(clf.coder_).values() if isinstance(value, np.ndarray))
    belief = clf.problem_.initial_belief()
    for rows in (X[:1], X[:30]):
        before, drawn = clf.acquire(rows), acquire(clf.policy_, np.zeros((len(rows), 3), dtype=int))
        for told in (clf.acquire(rows).classes, drawn.features):
            told[...] = told[::-1].copy()
        assert clf.acquire(rows).classes.tolist() == before.classes.tolist() == clf.classes_.tolist()
        assert clf.acquire(rows).to_frame().equals(before.to_frame())
    for array in (belief.prices, clf.problem_.likelihood(0, belief.state)):
        with pytest.raises(ValueError, match="read-only"):
            array += 1
