"""Columns on every back end of pandas, and polars, are the same columns; and categories are spelt in one way."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass import SequentialClassifier, load
from seqclass.bn import ClassMixture, ContextBayes, NetworkTables, TreeNetwork
from seqclass.large import from_dask, read_parquet

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

RNG = np.random.default_rng(0)
N = 120
Y = RNG.choice(["ill", "well"], N)
ILL = Y == "ill"
#: Of each kind of column the values, some of them missing.
COLUMNS = {
    "text": np.where(RNG.random(N) < 0.8, np.where(ILL, "high", "low"), "some").astype(object),
    "truth": np.where(RNG.random(N) < 0.8, ILL, ~ILL).astype(object),
    "whole": (RNG.integers(0, 4, N) + 2 * ILL).astype(object),
    "real": (RNG.integers(0, 40, N) / 4 + 6.0 * ILL).astype(object),
}
GAPS = RNG.random((len(COLUMNS), N)) < 0.1
for _column, _gaps in zip(COLUMNS.values(), GAPS):
    _column[_gaps] = None


def _arrow(kind: Any) -> Callable[[Any], Any]:
    return lambda values: pd.Series(values, dtype=pd.ArrowDtype(kind))


def _decimals(values: Any) -> list[Any]:
    return [None if value is None else Decimal(str(value)) for value in values]


def _dictionary(values: Any) -> Any:
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values.tolist()).dictionary_encode()))


TEXTS = {
    "object": lambda values: pd.Series(values, dtype=object),
    "str": lambda values: pd.Series(values, dtype="str"),
    "string[python]": lambda values: pd.Series(values, dtype="string[python]"),
    "string[pyarrow]": lambda values: pd.Series(values, dtype="string[pyarrow]"),
    "arrow": _arrow(pa.string()),
    "arrow large": _arrow(pa.large_string()),
    "arrow dictionary": _dictionary,
    "category": lambda values: pd.Series(values, dtype=object).astype("category"),
    "category of string": lambda values: pd.Series(values, dtype="string[pyarrow]").astype("category"),
    "category of arrow": lambda values: _arrow(pa.string())(values).astype("category"),
}
BACK_ENDS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "text": TEXTS,
    "truth": {
        "object": lambda values: pd.Series(values, dtype=object),
        "boolean": lambda values: pd.Series(values, dtype="boolean"),
        "arrow": _arrow(pa.bool_()),
    },
    "whole": {
        "object": lambda values: pd.Series(values, dtype=object),
        "float": lambda values: pd.Series(values, dtype=float),
        "Int64": lambda values: pd.Series(values, dtype="Int64"),
        "Float64": lambda values: pd.Series(values, dtype="Float64"),
        "arrow": _arrow(pa.int8()),
        "arrow half": lambda values: _arrow(pa.float16())(np.array(values, dtype=np.float16)),
        "texts": lambda values: pd.Series([None if v is None else f" {v}" for v in values], dtype="str"),
        "arrow texts": lambda values: _arrow(pa.string())([None if v is None else str(v) for v in values]),
    },
    "real": {
        "object": lambda values: pd.Series(values, dtype=object),
        "float": lambda values: pd.Series(values, dtype=float),
        "Float64": lambda values: pd.Series(values, dtype="Float64"),
        "arrow": _arrow(pa.float32()),
        "arrow with nan": lambda values: _arrow(pa.float64())(pa.array(values.astype(float), from_pandas=False)),
        "decimals": lambda values: pd.Series(_decimals(values), dtype=object),
        "arrow decimals": lambda values: _arrow(pa.decimal128(10, 2))(_decimals(values)),
    },
}


def _frame(kind: str, back_end: str) -> pd.DataFrame:
    made = BACK_ENDS[kind][back_end](COLUMNS[kind])
    return pd.DataFrame({"seen": made, "noise": np.arange(N) % 5})


def _fitted(X: Any) -> SequentialClassifier:
    return SequentialClassifier(order="given", feature_costs=0.001).fit(X, Y)


CASES = [(kind, back_end) for kind in BACK_ENDS for back_end in BACK_ENDS[kind]]


@pytest.mark.covering(1)
@pytest.mark.parametrize(("kind", "back_end"), CASES)
def test_every_back_end_fits_and_predicts_as_objects_do(kind: str, back_end: str) -> None:
    plain, frame = _frame(kind, "object"), _frame(kind, back_end)
    one, other = _fitted(plain), _fitted(frame)
    assert other.model_.n_outcomes_[0] > 1
    assert one.score(plain, Y) > 0.7
    for clf, data in product((one, other), (plain, frame)):
        np.testing.assert_array_equal(clf.predict_proba(data), one.predict_proba(plain))
        np.testing.assert_array_equal(clf.acquire(data).outcome, one.acquire(plain).outcome)
    assert [str(e) for e in other.explain(frame[:3])] == [str(e) for e in one.explain(plain[:3])]


@pytest.mark.parametrize("back_end", TEXTS)
def test_texts_where_numbers_belong_are_refused(back_end: str) -> None:
    clf = _fitted(_frame("real", "float"))
    with pytest.raises(ValueError, match="column 'seen' must hold numbers, but row 0 has '"):
        clf.predict(_frame("text", back_end))


@pytest.mark.covering(1)
@pytest.mark.parametrize(("one", "other"), product(TEXTS, ["object", "arrow", "arrow dictionary"]))
def test_unknown_categories_are_refused_whatever_the_back_end(one: str, other: str) -> None:
    clf = _fitted(_frame("text", one))
    data = COLUMNS["text"].copy()
    data[0] = "higher"
    frame = pd.DataFrame({"seen": TEXTS[other](data), "noise": 0})
    with pytest.raises(ValueError, match="unknown category 'higher'"):
        clf.predict(frame)


@pytest.mark.parametrize("dtype", ["int64", "Int64", "float", "Float64", "int16[pyarrow]", "double[pyarrow]"])
def test_categories_that_are_numbers(dtype: str) -> None:
    grade = pd.Series(np.where(ILL, 3, np.arange(N) % 3), dtype=dtype)
    clf = _fitted(pd.DataFrame({"grade": grade.astype("category")}))
    assert clf.encoder_ is not None
    assert clf.encoder_.categories_["grade"].tolist() == ["0", "1", "2", "3"]
    for data in (grade, grade.astype("int64").astype("category"), grade.astype("int64").astype(str)):
        assert clf.score(pd.DataFrame({"grade": data}), Y) == 1.0
    gaps = grade.astype("float").mask(np.arange(N) == 0)
    assert clf.predict(pd.DataFrame({"grade": gaps}))[1:].tolist() == Y[1:].tolist()
    session = clf.session()
    session.observe("grade", 3.0)
    assert session.decision == "ill"


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.date_range("2020-01-01", periods=N)),
        pd.Series(pd.date_range("2020-01-01", periods=N)).astype(pd.ArrowDtype(pa.timestamp("us"))),
        pd.Series([datetime.date(2020, 1, 1)] * N, dtype=pd.ArrowDtype(pa.date32())),
        pd.Series([datetime.date(2020, 1, 1)] * N, dtype=object),
        pd.Series([datetime.time(1)] * N, dtype=pd.ArrowDtype(pa.time64("us"))),
        pd.Series([datetime.timedelta(1)] * N, dtype=pd.ArrowDtype(pa.duration("us"))),
    ],
    ids=lambda column: str(column.dtype),
)
def test_dates_are_refused(column: Any) -> None:
    with pytest.raises(ValueError, match="column 'seen' holds dates or durations; turn it into numbers first"):
        _fitted(pd.DataFrame({"seen": column}))


def test_labels_on_arrow() -> None:
    frame = _frame("text", "object")
    plain = _fitted(frame)
    for dtype in ("str", "string[pyarrow]", pd.ArrowDtype(pa.string()), "category"):
        clf = SequentialClassifier(order="given", feature_costs=0.001).fit(frame, pd.Series(Y, dtype=dtype))
        assert clf.predict(frame).tolist() == plain.predict(frame).tolist()


def test_polars() -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    plain = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in COLUMNS.items()})
    columns = {name: values.tolist() for name, values in COLUMNS.items()}
    clf = _fitted(plain)
    for kind in (pl.String, pl.Categorical, pl.Enum(["high", "low", "none", "some"])):
        frame = pl.DataFrame(columns).with_columns(
            pl.col("text").cast(kind), pl.col("whole").cast(pl.Int8), pl.col("real").cast(pl.Decimal(10, 2))
        )
        np.testing.assert_array_equal(clf.predict_proba(frame), clf.predict_proba(plain))
        other = _fitted(frame)
        assert other.predict(plain).tolist() == clf.predict(plain).tolist()
        assert ("none" in other.encoder_.categories_["text"]) == isinstance(kind, pl.Enum)
    with pytest.raises(ValueError, match="must hold numbers"):
        clf.predict(frame.with_columns(pl.lit("x").alias("real")))


class TestDeclaredCategories:
    KNOWN = ["high", "low", "none", "some"]  # "none" is shown by no row
    FRAME = pd.DataFrame(
        {
            "text": pd.Categorical(np.where(ILL, "high", np.where(np.arange(N) % 3, "low", "some")), KNOWN),
            "noise": np.arange(N) % 5 / 2,
        }
    )
    NEW = FRAME.assign(text=pd.Categorical(["none"] * N, KNOWN))

    @pytest.mark.parametrize("model", [None, TreeNetwork(), ClassMixture(2, random_state=0), ContextBayes()], ids=repr)
    @pytest.mark.parametrize("order", ["given", "adaptive"])
    def test_are_known(self, model: Any, order: str) -> None:
        clf = SequentialClassifier(model, order=order, feature_costs=0.001).fit(self.FRAME, Y)
        record = clf.acquire(self.NEW)
        assert (record.outcome[:, 0] == 2).all()
        assert clf.score(self.FRAME, Y) == 1.0
        with pytest.raises(ValueError, match="unknown category 'other'"):
            clf.predict(self.NEW.assign(text="other"))

    def test_in_texts_sessions_and_files(self, tmp_path: Any) -> None:
        clf = _fitted(self.FRAME)
        clf.save(tmp_path / "m.seq")
        for one in (clf, load(tmp_path / "m.seq")):
            np.testing.assert_array_equal(one.predict_proba(self.NEW.assign(text="none")), clf.predict_proba(self.NEW))
            session = one.session()
            assert session.next_feature.categories == tuple(self.KNOWN)
            session.observe("text", "none")
            assert session.history[0].outcome == 2

    def test_in_chunks(self, tmp_path: Any) -> None:
        self.FRAME.assign(y=Y).to_parquet(tmp_path / "0.parquet")
        self.FRAME[:7].assign(y=Y[:7]).to_parquet(tmp_path / "1.parquet")
        both = pd.concat([self.FRAME, self.FRAME[:7]]), np.r_[Y, Y[:7]]
        whole = SequentialClassifier(order="given", feature_costs=0.001).fit(*both)
        halves = [(self.FRAME, Y), (self.FRAME[:7], Y[:7])]
        for chunks in (halves, read_parquet(tmp_path, target="y")):
            clf = SequentialClassifier(order="given", feature_costs=0.001).fit_chunks(chunks)
            np.testing.assert_allclose(clf.predict_proba(self.NEW), whole.predict_proba(self.NEW))

    @pytest.mark.slow
    def test_in_dask(self) -> None:
        dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
        frame = dd.from_pandas(self.FRAME.assign(y=Y), npartitions=2)
        clf = SequentialClassifier(order="given", feature_costs=0.001).fit_chunks(from_dask(frame, target="y"))
        np.testing.assert_allclose(clf.predict_proba(self.NEW), _fitted(self.FRAME).predict_proba(self.NEW))

    def test_more_than_rows_can_tell(self) -> None:
        known = [f"town {i}" for i in range(500)]
        frame = pd.DataFrame({"town": pd.Categorical(np.array(known)[np.arange(N) % 9], known)})
        with pytest.raises(ValueError, match=r"has 500 different texts in 120 rows.*remove_unused_categories"):
            _fitted(frame)


class TestSpelling:
    FRAME = pd.DataFrame(
        {"sex": np.where(ILL, "M ", np.where(np.arange(N) % 2, " F", "F\t")), "noise": np.arange(N) % 5}
    )

    def test_blanks_at_the_edge_are_none(self) -> None:
        clf = _fitted(self.FRAME)
        assert clf.encoder_ is not None
        assert clf.encoder_.categories_["sex"].tolist() == ["F", "M"]
        for sex in ("M", "M ", "\nM"):
            session = clf.session()
            session.observe("sex", sex)
            assert session.decision == "ill"
        assert clf.score(self.FRAME.assign(sex=self.FRAME["sex"].str.strip()), Y) == 1.0
        declared = self.FRAME.assign(sex=self.FRAME["sex"].astype("category"))
        assert _fitted(declared).encoder_.categories_["sex"].tolist() == ["F", "M"]
        assert clf.score(declared, Y) == 1.0
        explained = clf.explain(self.FRAME[:1])[0]
        assert explained.steps[0].value in ("F", "M")

    def test_blanks_alone_are_missing(self) -> None:
        blank = self.FRAME.assign(sex=self.FRAME["sex"].mask(np.arange(N) % 10 == 0, "  "))
        gone = blank.assign(sex=blank["sex"].mask(blank["sex"] == "  "))
        one, other = _fitted(blank), _fitted(gone)
        assert one.encoder_ is not None
        assert one.encoder_.categories_["sex"].tolist() == ["F", "M"]
        np.testing.assert_array_equal(one.predict_proba(blank), other.predict_proba(gone))
        number = pd.DataFrame({"x": np.where(np.arange(N) % 10 == 0, " ", np.where(ILL, " 1.5", "3"))})
        assert _fitted(number).acquire(number).outcome[0, 0] == -1
        assert _fitted(number).score(number, Y) > 0.9

    @pytest.mark.parametrize("others", [("False", "True"), ("FALSE", "TRUE"), ("false", "true")])
    def test_true_and_false_in_other_letters(self, others: tuple[str, str]) -> None:
        """A file has texts, which pandas reads as truth values, and programs write them in small letters."""
        truth = ILL.astype(int)
        clf = _fitted(pd.DataFrame({"seen": np.array(others)[truth]}))
        for written in ([False, True], [0, 1], ["FALSE", "TRUE"], ["false", "true"], ["False", "True"]):
            assert clf.score(pd.DataFrame({"seen": np.array(written)[truth]}), Y) == 1
        session = clf.session()
        session.observe("seen", True)
        assert session.history[0].outcome == 1

    def test_states_of_networks(self) -> None:
        tables = [np.array([0.5, 0.5]), np.array([[0.9, 0.2], [0.1, 0.8]])]
        network = NetworkTables(["fault", "lamp"], [["a", "b"], ["on ", "off"]], [[], [0]], tables)
        clf = SequentialClassifier.from_network(network, "fault", feature_costs=0.01)
        session = clf.session()
        assert session.next_feature.categories == ("on", "off")  # in the order of the network
        session.observe("lamp", "on ")
        assert session.history[0].outcome >= 0
        twice = NetworkTables(["fault", "lamp"], [["a", "b"], ["on ", "on"]], [[], [0]], tables)
        with pytest.raises(ValueError, match="node 'lamp': its states 'on', 'on ' must differ by more than blanks"):
            SequentialClassifier.from_network(twice, "fault", feature_costs=0.01)
