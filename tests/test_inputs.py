"""Data in forms that numpy, pandas or scikit-learn would read otherwise than they are meant."""

from __future__ import annotations

import re
from datetime import date
from enum import Enum
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import DataConversionWarning

from seqclass import Costs, SequentialClassifier, adaptive, etana, f_etana, ifc2f, load
from seqclass.bn import ClassMixture, InformationFilter, NaiveBayes, TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.discretize.outcomes import check_outcomes
from seqclass.pomdp import Adaptive, GridValueIteration, LinearThresholdSPSA, Lookahead, Perseus, acquire
from seqclass.selection import FIRES, SAOLA
from seqclass.stats import mean_interval, paired_t_test

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b"], 40)
X = np.c_[RNG.normal(size=80) + (Y == "a"), RNG.normal(size=80)].round(2)
GAPS = RNG.random(X.shape) < 0.2


class TestMaskedArrays:
    def test_masked_weights_and_costs_are_refused(self) -> None:
        masked = np.ma.array(np.ones(80), mask=np.arange(80) == 3)
        with pytest.raises(ValueError, match="sample_weight must be finite; it holds masked entries"):
            SequentialClassifier().fit(X, Y, sample_weight=masked)
        with pytest.raises(ValueError, match="feature_costs must be finite; it holds masked entries"):
            SequentialClassifier(feature_costs=Costs(masked[2:4])).fit(X, Y)
        with pytest.raises(ValueError, match="prior must be finite; it holds masked entries"):
            SequentialClassifier().fit(X, Y).with_prior(masked[2:4] / 2)

    def test_masked_cells_are_missing(self) -> None:
        masked = np.ma.array(X, mask=GAPS, fill_value=7.0)
        plain = np.where(GAPS, np.nan, X)
        clf, other = (SequentialClassifier().fit(data, Y) for data in (masked, plain))
        np.testing.assert_array_equal(clf.predict_proba(masked), other.predict_proba(plain))
        np.testing.assert_array_equal(clf.acquire(masked).outcome, other.acquire(plain).outcome)
        assert [str(e) for e in clf.explain(masked[:5])] == [str(e) for e in other.explain(plain[:5])]
        np.testing.assert_array_equal(Discretizer(3).fit(masked).transform(masked), Discretizer(3).fit_transform(plain))

    def test_masked_scores_are_missing(self) -> None:
        scores, others = np.ma.array(X[:, 0], mask=GAPS[:, 0]), X[:, 1]
        with pytest.raises(ValueError, match=r"a is missing at .*; put it right"):
            paired_t_test(scores, others)
        plain = np.where(GAPS[:, 0], np.nan, X[:, 0])
        assert str(mean_interval(scores, nan="omit")) == str(mean_interval(plain, nan="omit"))

    @pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_])
    def test_masked_outcomes_are_missing(self, dtype: Any) -> None:
        codes = (X > 0).astype(dtype)
        masked, plain = np.ma.array(codes, mask=GAPS), np.where(GAPS, -1, codes.astype(np.int64))
        np.testing.assert_array_equal(check_outcomes(masked), plain)
        one, other = NaiveBayes().fit(masked, Y), NaiveBayes().fit(plain, Y)
        np.testing.assert_array_equal(one.counts_, other.counts_)
        scores = [InformationFilter().fit(data, Y).scores_ for data in (masked, plain)]
        np.testing.assert_array_equal(*scores)
        policy = SequentialClassifier(discretizer="precomputed", feature_costs=0.001).fit(plain, Y).policy_
        ended = [acquire(policy, codes) for codes in (masked, plain)]
        np.testing.assert_array_equal(*(one.leaf_belief[one.leaf] for one in ended))

    def test_a_mask_that_hides_nothing(self) -> None:
        masked = np.ma.array(X)
        np.testing.assert_array_equal(etana().fit(masked, Y).predict(masked), etana().fit(X, Y).predict(X))

    @pytest.mark.parametrize("selector", [SAOLA(), FIRES(1)], ids=repr)
    def test_selectors_refuse_them(self, selector: Any) -> None:
        codes = (X > 0).astype(float)
        with pytest.raises(ValueError, match="X is masked, and selectors do not look at masks"):
            selector.fit(np.ma.array(codes, mask=GAPS), Y)
        selector.fit(np.ma.array(codes), Y)

    def test_masked_labels(self) -> None:
        with pytest.raises(ValueError, match="y is masked in row 3: leave out the rows without a label"):
            SequentialClassifier().fit(X, np.ma.array(Y, mask=np.arange(80) == 3))

    def test_live_cases(self) -> None:
        session = SequentialClassifier().fit(X, Y).session()
        with pytest.raises(ValueError, match="must be finite, got masked"):
            session.observe(session.next_feature.name, np.ma.masked)


class TestBytes:
    @pytest.mark.parametrize("data", [X.astype("S8"), X.astype("S8").astype(object), X.astype("S8").tolist()])
    def test_arrays_of_them_are_refused(self, data: Any) -> None:
        for model in (SequentialClassifier(), Discretizer(3)):
            with pytest.raises(ValueError, match="X holds bytes: decode them into texts, or turn them into numbers"):
                model.fit(data, Y)
        with pytest.raises(ValueError, match="holds bytes"):
            SequentialClassifier().fit(X, Y).predict(data)

    def test_columns_of_them_are_refused(self) -> None:
        frame = pd.DataFrame({"x": X[:, 0], "number": [b"1", b"2"] * 40})
        with pytest.raises(ValueError, match="column 'number' holds bytes"):
            SequentialClassifier().fit(frame, Y)
        clf = SequentialClassifier().fit(frame.assign(number=["u", "v"] * 40), Y)
        with pytest.raises(ValueError, match="column 'number' holds bytes"):
            clf.predict(frame)

    @pytest.mark.parametrize("value", [b"1", bytearray(b"1"), "1_000", "\uff11"])
    def test_live_cases(self, value: Any) -> None:
        """Nor what Python alone reads as a number: tables and pages do not."""
        session = SequentialClassifier().fit(X, Y).session()
        with pytest.raises(ValueError, match="must be a number, got"):
            session.observe(session.next_feature.name, value)

    @pytest.mark.parametrize(("value", "hint"), [("1,5", "1.5."), ("1,500", "1.500, or 1500 for thousands.")])
    def test_a_comma_in_a_live_case(self, value: str, hint: str) -> None:
        session = SequentialClassifier().fit(X, Y).session()
        with pytest.raises(ValueError, match=re.escape(f"got '{value}': write {hint}")):
            session.observe(session.next_feature.name, value)


def test_numbers_that_no_float_holds() -> None:
    session = SequentialClassifier().fit(X, Y).session()
    for value in (10**400, -(10**5000), float("inf"), "1e999"):
        with pytest.raises(ValueError, match="must be finite, got"):
            session.observe(session.next_feature.name, value)
    with pytest.raises(ValueError, match="max_cost must be between"):
        SequentialClassifier(max_cost=10**400).fit(X, Y)


@pytest.mark.parametrize("make", [lambda f: f, lambda f: f.to_numpy(), lambda f: sp.csr_array(f.to_numpy())])
def test_infinity_is_found_without_a_warning(make: Any) -> None:
    frame = pd.DataFrame(X.copy(), columns=["p", "q"])  # a frame of pandas 2 would be a view
    frame.loc[[5, 6], "q"] = [np.inf, -np.inf]
    data = make(frame)
    name = "'q'" if hasattr(data, "columns") else "1"
    message = f"column {name} holds infinity in row 5: correct it, or leave it missing"
    with pytest.raises(ValueError, match=message):
        SequentialClassifier().fit(data, Y)
    clf = SequentialClassifier().fit(make(pd.DataFrame(X, columns=["p", "q"])), Y)
    with pytest.raises(ValueError, match=message):
        clf.predict(data)


class TestUnknownCategories:
    FRAME = pd.DataFrame({"colour": np.where(Y == "a", "red", "blue"), "x": X[:, 1]})

    @pytest.mark.parametrize("recipe", [SequentialClassifier, etana, f_etana, ifc2f])
    def test_counted_as_missing(self, recipe: Any) -> None:
        new = self.FRAME.assign(colour=np.where(np.arange(80) % 3, self.FRAME["colour"], "pink"))
        with pytest.raises(ValueError, match="unknown category 'pink'"):
            recipe().fit(self.FRAME, Y).predict(new)
        clf = recipe(handle_unknown="missing").fit(self.FRAME, Y)
        gone = new.replace({"colour": {"pink": None}})
        for method in ("predict", "predict_proba"):
            np.testing.assert_array_equal(getattr(clf, method)(new), getattr(clf, method)(gone))
        np.testing.assert_array_equal(clf.acquire(new).outcome, clf.acquire(gone).outcome)
        assert clf.explain(new.head(1))[0].posterior == clf.explain(gone.head(1))[0].posterior

    def test_live_cases(self) -> None:
        clf = etana(handle_unknown="missing", order=["colour", "x"]).fit(self.FRAME, Y)
        session = clf.session()
        session.observe("colour", "pink")
        [answer] = session.history
        assert (answer.value, answer.outcome, answer.price) == ("pink", -1, 0.0)
        np.testing.assert_array_equal(session.posterior, clf.problem_.prior)
        assert clf.session(session.to_json()).history == session.history

    def test_the_setting_is_checked(self) -> None:
        with pytest.raises(ValueError, match="handle_unknown must be one of 'error', 'missing', got 'ignore'"):
            etana(handle_unknown="ignore").fit(self.FRAME, Y)


class TestTrainingRange:
    def test_of_numbers(self) -> None:
        clf = SequentialClassifier(order="given", feature_costs=0.0).fit(np.where(GAPS, np.nan, X), Y)
        session = clf.session()
        known = X[~GAPS[:, 0], 0]
        assert session.training_range("x0") == (known.min(), known.max())
        assert session.unusual("x0", known.max()) == ""
        note = f"-999 is outside of what training showed of 'x0', {known.min():.6g} to {known.max():.6g}."
        assert session.unusual("x0", -999) == note
        with pytest.raises(ValueError, match="-999 is outside"):
            session.observe("x0", -999, strict=True)
        assert session.history == ()
        session.observe("x0", -999)
        with pytest.raises(ValueError, match="'no' is no feature of this model"):
            session.training_range("no")

    def test_of_sparse_columns(self) -> None:
        data = sp.csr_array(np.where(np.abs(X) < 0.5, 0, np.abs(X)))
        clf = SequentialClassifier(order="given", feature_costs=0.0).fit(data, Y)
        assert clf.session().training_range("x0") == (0.0, data.toarray()[:, 0].max())

    def test_of_categories_and_of_nothing(self) -> None:
        frame = pd.DataFrame({"colour": np.where(Y == "a", "red", "blue"), "none": np.nan})
        clf = SequentialClassifier(order="given", feature_costs=0.0).fit(frame, Y)
        session = clf.session()
        assert session.training_range("colour") is None
        assert session.training_range("none") is None
        assert session.unusual("none", 5) == ""


class TestPolars:
    def test_texts_and_gaps(self) -> None:
        pl = pytest.importorskip("polars", reason="polars is not installed")
        frame = pd.DataFrame(
            {
                "colour": pd.Series(np.where(Y == "a", "red", "blue")).where(~GAPS[:, 0], None),
                "x": np.where(GAPS[:, 1], np.nan, X[:, 1]),
                "count": np.arange(80) % 7,
            }
        )
        columns = {name: [None if v != v else v for v in frame[name].tolist()] for name in frame}
        other = pl.DataFrame(columns).with_columns(pl.col("colour").cast(pl.Categorical))
        for data in (pl.DataFrame(columns), other):
            clf, plain = SequentialClassifier().fit(data, Y), SequentialClassifier().fit(frame, Y)
            assert clf.feature_names_in_.tolist() == ["colour", "x", "count"]
            np.testing.assert_array_equal(clf.predict_proba(data), plain.predict_proba(frame))
            assert [str(e) for e in clf.explain(data[:3])] == [str(e) for e in plain.explain(frame[:3])]

    def test_a_frame_that_only_looks_like_it(self) -> None:
        class Column:
            def __init__(self, values: list[Any]) -> None:
                self.values = values

            def to_numpy(self) -> Any:
                return np.array(self.values, dtype=object)

        class Frame:
            columns = ["colour", "x"]
            shape = (80, 2)

            def get_column(self, name: str) -> Column:
                return Column(np.where(Y == "a", "red", "blue").tolist() if name == "colour" else X[:, 0].tolist())

        clf = SequentialClassifier().fit(Frame(), Y)
        assert list(clf.encoder_.categories_) == ["colour"]
        assert clf.predict(Frame()).shape == (80,)


class TestColumnsOfLabels:
    """scikit-learn's convention: a column of labels is taken, with a warning."""

    @pytest.mark.parametrize(
        "fit",
        [
            lambda y: SequentialClassifier().fit(X, y, held_out=3),
            lambda y: SequentialClassifier(calibrate=True).fit(X, y),
            lambda y: SequentialClassifier().fit_chunks([(X, y)], held_out=3),
            lambda y: adaptive(effort="quick").fit(X, y, held_out=2),
        ],
        ids=["held out", "calibrated", "chunks", "adaptive"],
    )
    def test_fits(self, fit: Any, few_ways: None) -> None:
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            clf = fit(Y[:, None])
        other = fit(Y)
        np.testing.assert_array_equal(clf.predict_proba(X), other.predict_proba(X))
        assert str(vars(clf).get("held_out_")) == str(vars(other).get("held_out_"))

    def test_scores(self) -> None:
        clf = SequentialClassifier().fit(X, Y)
        with pytest.warns(DataConversionWarning):
            assert clf.score(X, Y[:, None]) == clf.score(X, Y)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            clf.score(X, Y[:-1])


class TestCells:
    @pytest.mark.parametrize("cell", [[1, 2], (1, 2), {"a": 1}, np.ones(2)], ids=lambda v: type(v).__name__)
    def test_lists_are_refused(self, cell: Any) -> None:
        frame = pd.DataFrame({"x": X[:, 0], "kind": ["u", "v"] * 40})
        holding = frame.assign(kind=pd.Series([cell] * 80))
        what = f"holds {type(cell).__name__} where one number or text belongs"
        with pytest.raises(ValueError, match=f"column 'kind' {what}"):
            SequentialClassifier().fit(holding, Y)
        with pytest.raises(ValueError, match=f"column 'kind' {what}"):
            SequentialClassifier().fit(frame, Y).predict(holding)

    @pytest.mark.parametrize("dtype", [complex, object])
    def test_complex_numbers_are_refused(self, dtype: Any) -> None:
        frame = pd.DataFrame(X, columns=["x", "z"])
        hidden = frame.assign(z=(X[:, 1] + 1j).astype(dtype))
        with pytest.raises(ValueError, match="column 'z' holds complex numbers"):
            SequentialClassifier().fit(hidden, Y)
        with pytest.raises(ValueError, match="column 'z' holds complex numbers"):
            SequentialClassifier().fit(frame, Y).predict(hidden)
        with pytest.raises(ValueError, match="X holds complex numbers"):
            SequentialClassifier().fit((X + 1j).astype(dtype), Y)

    @pytest.mark.parametrize("kinds", [[], ["u", "v"]], ids=["numbers", "texts"])
    def test_columns_twice_at_predict(self, kinds: list[str]) -> None:
        frame = pd.DataFrame({"x": X[:, 0], "z": kinds * 40 or X[:, 1]})
        clf = SequentialClassifier().fit(frame, Y)
        for wrong in (frame[["x", "x"]], frame[["x", "z", "x"]]):
            with pytest.raises(ValueError, match="X has more than one column named 'x'"):
                clf.predict(wrong)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"solver": 3}, r"solver must be a solver such as seqclass.pomdp.Lookahead\(\), got 3"),
        ({"solver": "perseus"}, "solver must be a solver such as .*, got 'perseus'"),
        ({"solver": Lookahead}, r"solver must be .*, got the class Lookahead: write Lookahead\(\)"),
        ({"observation_model": "bayes"}, "observation_model must be a model such as .*, got 'bayes'"),
        ({"selector": 3}, "selector must be a selector such as .*, got 3"),
        ({"discretizer": 3}, "discretizer must be a transformer such as .*, got 3"),
        ({"calibrate": "yes"}, "calibrate must be True or False, got 'yes'"),
        ({"feature_costs": Costs(charge_missing="no")}, "charge_missing must be True or False, got 'no'"),
        ({"prefit": 0}, "prefit must be True or False, got 0"),
        ({"feature_costs": Costs(groups=3)}, "groups must be a dict, or a list with a label for each feature, got 3"),
        (
            {"feature_costs": Costs(bundles="blood")},
            "bundles must be a dict, or a list with a label for each feature, got 'blood'",
        ),
        (
            {"feature_costs": Costs(decisions="refer", decision_costs=[[0, 1, 0.3], [1, 0, 0.3]])},
            "decisions must be a list of labels",
        ),
    ],
    ids=str,
)
def test_settings_of_the_wrong_kind(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        SequentialClassifier(**settings).fit(X, Y)


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: SequentialClassifier().fit(X, y),
        lambda X, y: adaptive(effort="quick").fit(X, y),
        lambda X, y: SequentialClassifier().fit_chunks([(X, y)]),
        lambda X, y: SequentialClassifier(discretizer="precomputed").partial_fit(X, y, classes=y, n_outcomes=2),
    ],
    ids=["fit", "adaptive", "chunks", "partial"],
)
def test_more_classes_than_can_be(fit: Any) -> None:
    """20,000 took more than 200 s and ten gigabytes."""
    y = np.tile(np.arange(5001), 2)
    with pytest.raises(ValueError, match="y holds more than 5,000 classes, the most that can be planned for"):
        fit((y % 2)[:, None], y)


HAS_STRINGS = hasattr(getattr(np, "dtypes", None), "StringDType")  # since numpy 2


def as_strings(texts: Any) -> Any:
    return texts.astype(np.dtypes.StringDType())


TEXTS = np.c_[np.where(Y == "a", "red", "blue"), X[:, 1].astype(str)]


class TestTextsInArrays:
    """docs/data.md: columns of text are taken as they are, whatever holds them."""

    FRAME = pd.DataFrame({"x0": TEXTS[:, 0], "x1": X[:, 1]})

    @pytest.mark.parametrize(
        "make",
        [
            lambda texts: texts,
            lambda texts: texts.astype(object),
            lambda texts: texts.tolist(),
            lambda texts: [[colour, float(number)] for colour, number in texts],
            as_strings,
        ],
        ids=["numpy", "objects", "lists", "mixed", "StringDType"],
    )
    def test_they_are_categories(self, make: Any) -> None:
        if make is as_strings and not HAS_STRINGS:
            pytest.skip("this numpy has no StringDType")
        clf, plain = SequentialClassifier().fit(make(TEXTS), Y), SequentialClassifier().fit(self.FRAME, Y)
        np.testing.assert_array_equal(clf.predict_proba(make(TEXTS)), plain.predict_proba(self.FRAME))
        assert clf.acquire(make(TEXTS[:5])).order.tolist() == plain.acquire(self.FRAME[:5]).order.tolist()
        assert [str(one) for one in clf.explain(make(TEXTS[:3]))] == [str(one) for one in plain.explain(self.FRAME[:3])]
        assert str(clf.explain(make(TEXTS)[0])[0]) == str(plain.explain(self.FRAME[:1])[0])
        assert clf.session().categories("x0") == ("blue", "red")
        with pytest.raises(ValueError, match="column 0 holds the unknown category 'pink'"):
            clf.predict(make(np.where(TEXTS == "red", "pink", TEXTS)))

    def test_parts_without_texts_and_other_columns(self) -> None:
        clf, named = SequentialClassifier().fit(TEXTS, Y), SequentialClassifier().fit(self.FRAME, Y)
        gone = pd.DataFrame({0: [None] * 80, 1: X[:, 1]}, dtype=object)
        np.testing.assert_array_equal(clf.predict(np.c_[np.full(80, np.nan), X[:, 1]]), clf.predict(gone))
        with pytest.raises(ValueError, match="X must be a data frame: the classifier was fitted on one"):
            named.predict(TEXTS)
        three = r"row 0 has 'red', row 1 has '\w+', row 2 has '\w+' and 77 more have none"
        with pytest.raises(ValueError, match=f"column 0 must hold numbers, but {three}"):
            SequentialClassifier().fit(X, Y).predict(TEXTS)

    def test_chunks_and_bags(self) -> None:
        chunks = [(TEXTS[:30].tolist() + TEXTS[50:].tolist(), [*Y[:30], *Y[50:]]), (TEXTS[30:50].tolist(), Y[30:50])]
        clf = SequentialClassifier().fit_chunks(chunks)
        assert clf.encoder_.categories_[0].tolist() == ["blue", "red"]
        for data in (TEXTS, self.FRAME):
            bag = BaggingClassifier(SequentialClassifier(), 2, random_state=0).fit(data, Y)
            assert bag.score(data, Y) == 1.0

    def test_tables_of_arrow_and_labels(self) -> None:
        pa = pytest.importorskip("pyarrow")
        plain, table = SequentialClassifier().fit(self.FRAME, Y), pa.table(dict(self.FRAME.to_dict("list")))
        labels = [pa.array(Y.tolist()), pa.chunked_array([Y[:3].tolist(), Y[3:].tolist()])]
        if HAS_STRINGS:
            labels.append(Y.astype(np.dtypes.StringDType()))
        for y in labels:
            clf = SequentialClassifier().fit(table, y)
            np.testing.assert_array_equal(clf.predict_proba(table), plain.predict_proba(self.FRAME))
            assert clf.score(table, y) == plain.score(self.FRAME, Y)


@pytest.mark.parametrize("kind", [np.int64, np.uint64, object, "frame", "nullable", "texts"])
def test_whole_numbers_that_floats_do_not_tell_apart(kind: Any) -> None:
    numbers = 2**53 + np.arange(80) % 2
    made = {
        "frame": pd.DataFrame({0: numbers}),
        "nullable": pd.DataFrame({0: pd.array([*numbers[:-1], pd.NA], dtype="Int64")}),
        "texts": pd.DataFrame({0: numbers.astype(str).astype(object)}),
    }
    data = made[kind] if isinstance(kind, str) else numbers[:, None].astype(kind)
    words = "column 0 holds 9007199254740992 and 9007199254740993, which are one number to a float"
    with pytest.raises(ValueError, match=words):
        SequentialClassifier().fit(data, Y)
    SequentialClassifier().fit((numbers[:, None] * 1024).astype(np.int64), Y)  # which floats do tell apart


@pytest.mark.parametrize("value", [10**400, -(10**5000)], ids=["400", "5000"])
def test_whole_numbers_of_many_digits(value: int) -> None:
    cells = np.array([[value], [1]] * 40, dtype=object)
    frame = pd.DataFrame({0: pd.Series(cells[:, 0].tolist(), dtype=object)})  # of an array pandas 2 makes none
    for data in (cells, cells.tolist(), frame):
        with pytest.raises(ValueError, match="column 0 holds infinity in row 0: correct it"):
            SequentialClassifier().fit(data, Y)


def test_missing_answers_of_categories_and_of_numbers() -> None:
    frame = pd.DataFrame({"colour": TEXTS[:, 0], "x": X[:, 1]})
    for unknown in ("error", "missing"):
        session = SequentialClassifier(handle_unknown=unknown).fit(frame, Y).session()
        for name, value in product(("colour", "x"), (None, np.nan, pd.NA)):
            with pytest.raises(ValueError, match=f"feature '{name}' must be .*; call it unavailable if it is"):
                session.observe(name, value)
        with pytest.raises(ValueError, match="feature 'colour' must be a category, got '  '; call it unavailable"):
            session.observe("colour", "  ")


class TestSettings:
    """What cannot be is refused before anything is learnt, and by its name."""

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"random_state": "a"}, "random_state must be None, an integer from 0 on or a numpy generator, got 'a'"),
            ({"random_state": -1}, "random_state must be None"),
            ({"random_state": 1.5}, "random_state must be None"),
            ({"max_candidates": 0}, "max_candidates must be at least 1, got 0"),
            ({"solver": Perseus(n_beliefs=0)}, "n_beliefs must be at least 1, got 0"),
            ({"solver": Perseus(max_seconds=-1.0)}, "max_seconds must be between 0 and inf, got -1"),
            ({"solver": Lookahead(0)}, "depth must be at least 1"),
            ({"solver": GridValueIteration(0)}, "resolution must be at least 1"),
            ({"solver": Adaptive(n_cases=1), "order": "adaptive"}, "n_cases must be at least 2"),
            ({"solver": LinearThresholdSPSA(gain=0.0)}, "gain must be between"),
        ],
        ids=str,
    )
    def test_before_anything_is_learnt(self, settings: dict[str, Any], words: str) -> None:
        class Unlearnt(NaiveBayes):
            def fit(self, *args: Any, **kwargs: Any) -> Any:
                raise AssertionError("the model was fitted")

        with pytest.raises(ValueError, match=words):
            SequentialClassifier(observation_model=Unlearnt(), **settings).fit(X, Y)

    @pytest.mark.parametrize("make", [etana, f_etana, ifc2f, adaptive])
    def test_unknown_ones_are_told_of(self, make: Any) -> None:
        with pytest.raises(TypeError, match=r"has no setting 'cost'; did you mean .*'feature_costs'"):
            make(cost=0.1)

    def test_weights_of_which_no_sums_and_no_squares_can_be_made(self) -> None:
        for clf in (SequentialClassifier(), adaptive(effort="quick"), etana(calibrate=True)):
            for weight in ("1e-300", "1e-200", "1e+308"):
                said = f"sample_weight must be between 1e-100 and 1e+100 where it is largest, got {weight}"
                with pytest.raises(ValueError, match=re.escape(said)):
                    clf.fit(X, Y, sample_weight=np.full(80, float(weight)))

    def test_a_frame_of_no_columns_is_refused_as_an_array_is(self) -> None:
        for rows in (np.empty((80, 0)), pd.DataFrame(index=range(80))):
            with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(80, 0\)\)"):
                SequentialClassifier().fit(rows, Y)


class TestFramesOfNumbers:
    """They are looked at whole, and say what they say column by column."""

    @pytest.mark.parametrize("kind", ["float64", "float32", "int64", "uint8", "Float64", "Int64"])
    def test_of_any_kind_are_as_their_numbers(self, kind: str) -> None:
        numbers = np.abs(X).round() if "nt" in kind else X.astype("float32")
        frame = pd.DataFrame(numbers, columns=["x", "y"]).astype({"y": kind})
        clf, other = (SequentialClassifier().fit(data, Y) for data in (frame, numbers.astype(np.float64)))
        np.testing.assert_array_equal(clf.predict_proba(frame), other.predict_proba(numbers.astype(np.float64)))

    @pytest.mark.parametrize("value", [np.inf, -np.inf, 2**53 + 1])
    def test_wrong_numbers_are_told_of_by_column(self, value: float) -> None:
        frame = pd.DataFrame({"x": np.arange(4), "y": [1, 2, value, value - 1]})
        with pytest.raises(ValueError, match="column 'y' holds"):
            SequentialClassifier().fit(frame, [0, 0, 1, 1])

    def test_new_rows_with_gaps_swapped_columns_and_infinity(self) -> None:
        gaps = np.where(GAPS, np.nan, X)
        frame = pd.DataFrame(gaps, columns=["x", "y"])
        clf, other = SequentialClassifier().fit(frame, Y), SequentialClassifier().fit(gaps, Y)
        for rows in (frame, frame[["y", "x"]]):
            np.testing.assert_array_equal(clf.acquire(rows).outcome, other.acquire(gaps).outcome)
        with pytest.raises(ValueError, match="column 'x' holds infinity in row 5"):
            clf.predict(frame.replace({"x": {frame.x[5]: np.inf}}).iloc[5:6])


class Kind(str, Enum):
    """Texts with names, of which numpy makes the first letters of the names."""

    AB = "a"
    AC = "b"


class TestNamesOfColumnsAndClasses:
    @pytest.mark.parametrize("how", [list, lambda labels: np.array(labels, dtype=object), pd.Series])
    def test_members_of_an_enum_of_texts_are_these_texts(self, how: Any, tmp_path: Any) -> None:
        labels = how([Kind(value) for value in Y.tolist()])
        clf = SequentialClassifier().fit(X, labels)
        assert clf.classes_.tolist() == ["a", "b"]
        assert clf.score(X, labels) == clf.score(X, Y)
        clf.save(tmp_path / "a.seq")

    @pytest.mark.parametrize(
        "names",
        [
            pd.date_range("2020", periods=2),
            [date(2020, 1, 1), date(2020, 1, 2)],
            pd.period_range("2020", periods=2, freq="M"),
            [Enum("Place", ["here"])["here"], 1],
            pd.MultiIndex.from_product([["a"], pd.date_range("2020", periods=2)]),
        ],
        ids=["timestamps", "dates", "periods", "enum", "levels"],
    )
    def test_columns_called_by_what_no_file_keeps_are_refused(self, names: Any) -> None:
        frame = pd.DataFrame(X, columns=names)
        with pytest.raises(TypeError, match=r"^column .* is called by a \w+, which no file can keep: call columns by"):
            SequentialClassifier().fit(frame, Y)
        frame.columns = frame.columns.astype(str) if frame.columns.nlevels == 1 else ["a", "b"]
        SequentialClassifier().fit(frame, Y)

    def test_columns_of_several_levels_and_numbers(self, tmp_path: Any) -> None:
        for names in (pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]), [2, 1], [1.5, 2.5]):
            frame = pd.DataFrame(X, columns=names)
            clf = SequentialClassifier().fit(frame, Y)
            clf.save(tmp_path / "a.seq")
            again = load(tmp_path / "a.seq")
            np.testing.assert_array_equal(again.predict(frame.iloc[:, ::-1]), clf.predict(X))


class TestColumnsOfTrueAndFalse:
    @pytest.mark.parametrize("kind", ["bool", "boolean", "category", "object"])
    def test_are_told_as_they_are(self, kind: str, tmp_path: Any) -> None:
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"fever": rng.random(80) < np.where(Y == "a", 0.9, 0.1), "x": X[:, 1]})
        numbers = SequentialClassifier(feature_costs=0.001).fit(frame.astype({"fever": int}), Y)
        frame = frame.astype({"fever": kind})
        if kind in ("boolean", "object"):
            frame.loc[3, "fever"] = None
        clf = SequentialClassifier(feature_costs=0.001).fit(frame, Y)
        assert f"fever = {frame.fever[0]}: " in str(clf.explain(frame[:1])[0])
        assert clf.problem_.names.outcomes("fever") == ["False", "True"]
        case = clf.session()
        assert case.next_feature is not None
        assert (case.next_feature.name, case.next_feature.categories) == ("fever", ("False", "True"))
        case.observe("fever", True)
        for told in ("True", 1, 1.0, "1", np.True_):
            np.testing.assert_array_equal(clf.session(known={"fever": told}).posterior, case.posterior)
        assert case.posterior.round(1).tolist() == numbers.session(known={"fever": 1}).posterior.round(1).tolist()
        clf.save(tmp_path / "a.seq")
        again = load(tmp_path / "a.seq")
        rows = frame[5:].assign(fever=[int(one) for one in frame.fever[5:]])
        np.testing.assert_array_equal(again.predict(rows), clf.predict(frame[5:]))
        np.testing.assert_array_equal(numbers.predict(rows), numbers.predict(frame[5:]))


@pytest.mark.parametrize("code", [2**16, 10**9, 2**40])
def test_outcomes_beyond_all_tables_are_refused_by_their_column(code: int) -> None:
    rows = pd.DataFrame({"a": np.arange(80) % 2, "id": np.arange(80) % 3})
    rows.loc[5, "id"] = code
    with pytest.raises(ValueError, match=f"column 'id' holds {code}, too large for an outcome, of which .* 65,536"):
        SequentialClassifier(discretizer="precomputed").fit(rows, Y)
    for model in (NaiveBayes(), TreeNetwork(), ClassMixture(1)):
        with pytest.raises(ValueError, match=f"feature 'id' has outcome {code} in row 5, but outcomes are 0..65535"):
            model.fit(rows, Y)
        with pytest.raises(ValueError, match=f"n_outcomes of feature 1 is {code + 1}; it must be 1 to 65,536"):
            model.fit(rows, Y, n_outcomes=[2, code + 1])
    rows.loc[5, "id"] = 2**16 - 1
    assert NaiveBayes().fit(rows, Y).n_outcomes_.tolist() == [2, 2**16]


def test_matrices_of_numpy_are_refused_by_what_they_are() -> None:
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1, 2], [3, 4]])
    for given in (matrix, matrix * 1.0):
        with pytest.raises(TypeError, match=r"np\.matrix is not supported"):
            SequentialClassifier().fit(given, ["a", "b"])
