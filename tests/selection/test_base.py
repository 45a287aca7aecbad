"""What selectors share: checks of data, labels, names, and streams of features."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass.selection import (
    EFS,
    FCBF,
    FIRES,
    OFS,
    OFSA3M,
    OSFS,
    SAOLA,
    AlphaInvesting,
    FastOSFS,
    OFSDensity,
    Selector,
    prequential,
)

STREAMS = [
    *(SAOLA(measure="fisher_z"), AlphaInvesting(), OSFS(), FastOSFS()),
    *(OFSA3M(random_state=0), OFSDensity(random_state=0)),
]


class Everything(Selector):
    def fit(self, X, y):
        X, self.codes_ = self._check_Xy(X, y)
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self

    def partial_fit(self, X, y, classes=None):
        X, y = self._check_X_target(X, y, reset=not hasattr(self, "classes_"))
        self.codes_ = self._check_labels(y, classes, reset=not hasattr(self, "classes_"))
        return self


def expected_failures(estimator):
    if get_tags(estimator).input_tags.categorical:
        reason = "takes the mean off what should be integers; they are refused if they are none"
        return {"check_positive_only_tag_during_fit": reason}
    return {}


# a selector may find nothing to keep in noise, and scikit-learn warns of that
@pytest.mark.covering(1)
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(
    [SAOLA(measure="fisher_z"), SAOLA(), AlphaInvesting(), OSFS(), OFSA3M(random_state=0), FCBF()],
    expected_failed_checks=expected_failures,
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(
    [SAOLA("su", bound="max"), OSFS("g2"), FastOSFS(), FastOSFS("g2"), OFSDensity(random_state=0)],
    expected_failed_checks=expected_failures,
)
def test_estimator_of_another_test(estimator, check):
    """Of a class, or a base, whose checks run by default."""
    check(estimator)


@pytest.mark.parametrize(
    "labels", [["b", "a", "b"], [3, -1, 3], [True, False, True], np.array([2, 0, 2], dtype=np.uint8)]
)
def test_labels_of_any_kind(labels):
    selector = Everything().fit(np.eye(3), labels)
    assert selector.codes_.tolist() == [1, 0, 1]
    assert selector.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))


def as_objects(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


@pytest.mark.parametrize(
    ("labels", "kind"), [([3, -1, 3], "i"), ([True, False, True], "b"), ([2.0, 1.0, 2.0], "f"), (["b", "a", "b"], "O")]
)
def test_labels_as_objects(labels, kind):
    selector = Everything().fit(np.eye(3), as_objects(labels))
    assert selector.codes_.tolist() == [1, 0, 1]
    assert selector.classes_.tolist() == sorted(set(labels))
    assert selector.classes_.dtype.kind == kind
    frame = pd.Series(labels).convert_dtypes()
    assert Everything().fit(np.eye(3), frame).codes_.tolist() == [1, 0, 1]
    declared = Everything().partial_fit(np.eye(3), as_objects(labels), classes=as_objects(labels[:2]))
    assert declared.partial_fit(np.eye(3), labels).codes_.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, True, 1], "y mixes numbers with booleans, as 1 and True"),
        ([1, "a", 1], "y mixes numbers with texts, as 1 and 'a'"),
        ([1, 0, None], "y holds None in row 2: leave out"),
        ([1, np.nan, 1], "y holds nan in row 1: leave out"),
        ([1, pd.NA, 1], "y holds <NA> in row 1: leave out"),
    ],
)
def test_labels_of_mixed_kinds_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        Everything().fit(np.eye(3), as_objects(labels))
    with pytest.raises(ValueError, match=message):
        Everything().fit(np.eye(3), labels)
    for given in (as_objects(labels), labels):
        with pytest.raises(ValueError, match="classes"):
            Everything().partial_fit(np.eye(2), [0, 1], classes=given)


def test_labels_of_another_kind_are_strangers():
    numbers = Everything().partial_fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="'a', which is no class"):
        numbers.partial_fit(np.eye(2), as_objects(["a", "b"]))
    words = Everything().partial_fit(np.eye(2), as_objects(["a", "b"]))
    with pytest.raises(ValueError, match="0, which is"):
        words.partial_fit(np.eye(2), [0, 1])


def test_declared_classes():
    selector = Everything().partial_fit(np.eye(2), ["b", "b"], classes=["c", "a", "b"])
    assert selector.codes_.tolist() == [1, 1]
    with pytest.raises(ValueError, match="'d', which is no class"):
        selector.partial_fit(np.eye(2), ["a", "d"])
    with pytest.raises(ValueError, match="classes must stay the same"):
        selector.partial_fit(np.eye(2), ["a", "b"], classes=["a", "b"])


def test_a_batch_without_a_class_says_how_to_name_it():
    with pytest.raises(ValueError, match=r"only one class, 'b': .* Classes that come later .* classes=\[\.\.\.\]\.$"):
        OFS().partial_fit(np.eye(2), ["b", "b"])
    for form in (list, np.array):  # arrays go a way of their own
        selector = OFS().partial_fit(np.eye(2), form(["a", "b"]))
        with pytest.raises(ValueError, match=r"'c', which is no class .* Classes that come later"):
            selector.partial_fit(np.eye(2), form(["a", "c"]))
    with pytest.raises(ValueError, match=r"nothing to select by\.$"):
        OFS().fit(np.eye(2), ["b", "b"])


def test_bad_columns_are_named():
    X = pd.DataFrame({"fine": [0.0, 1.0], "gap": [np.nan, 1.0]})
    with pytest.raises(ValueError, match="column 'gap' of X contains NaN"):
        Everything().fit(X, [0, 1])
    with pytest.raises(ValueError, match="column 1 of X contains infinity"):
        SAOLA("su").fit(np.array([[0, np.inf], [1.0, 1.0]]), [0, 1])
    with pytest.raises(ValueError, match="column 2 of X contains NaN"):
        SAOLA("fisher_z").fit(sp.csr_array([[0, 0, np.nan], [1.0, 0, 2.0]]), [0, 1])
    with pytest.raises(ValueError, match="only one class, 'a'"):
        Everything().fit(np.eye(2), ["a", "a"])


COLOURS = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["1", "red", None], "shape": ["a", "b", "a"]})


@pytest.mark.parametrize("form", ["frame", "categories", "objects", "lists", "texts"])
def test_columns_of_text_are_named(form):
    X = {
        "frame": COLOURS,
        "categories": COLOURS.astype({"colour": "category"}),
        "objects": COLOURS.to_numpy(dtype=object),
        "lists": COLOURS.to_numpy(dtype=object).tolist(),
        "texts": COLOURS.fillna("").to_numpy(dtype=str),
    }[form]
    name = "'colour'" if form in ("frame", "categories") else "1"
    message = f"column {name} of X holds the text 'red', and selectors take numbers: encode the column"
    for call in (
        lambda: FCBF().fit(X, [0, 1, 1]),
        lambda: SAOLA("su").partial_fit_features(X, [0, 1, 1]),
        lambda: FIRES().partial_fit(X, [0, 1, 1]),
        lambda: prequential(FIRES(), GaussianNB(), X, [0, 1, 1]),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_an_error_about_numbers_copies_none_of_them():
    X = np.zeros((2000, 200))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            FCBF().fit(X, [0, 1, 1])
        assert tracemalloc.get_traced_memory()[1] < X.nbytes / 4
    finally:
        tracemalloc.stop()


def test_what_is_no_text_keeps_its_error():
    with pytest.raises(TypeError, match="argument must be"):
        FCBF().fit(np.array([[{}, 1], [0, 1]], dtype=object), [0, 1])
    with pytest.raises(ValueError, match="2D array"):
        FCBF().fit([1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match="column 'day' of X holds dates or durations"):
        FCBF().fit(COLOURS[["size"]].assign(day=pd.Timestamp("2020-01-01")), [0, 1, 1])
    numbers = np.array([["1", "0"], ["0", "1"], ["1", "1"]], dtype=object)
    assert FCBF().fit(numbers, [0, 1, 0]).n_features_in_ == 2


def test_huge_numbers_are_finite():
    X = np.full((6, 2), np.finfo(float).max)
    assert Everything().fit(X, [0, 1] * 3).get_support().all()


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_units_do_not_matter(stream, form):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    X = np.abs(rng.normal(size=(50, 6))) + y[:, None] * np.arange(6) / 4
    scale = np.array([1e-200, 1e290, 1.0, 1e-150, 1e150, 1e-5])
    expected = type(stream)(**stream.get_params()).fit(form(X), y).selected_.tolist()
    assert expected
    assert type(stream)(**stream.get_params()).fit(form(X * scale), y).selected_.tolist() == expected


@pytest.mark.parametrize("stream", [*STREAMS, SAOLA(), OSFS("g2")])
class TestStreams:
    def data(self):
        rng = np.random.default_rng(3)
        y = rng.integers(0, 3, 120)
        X = rng.integers(0, 3, (120, 24)).astype(float)
        X[:, ::3] = np.where(rng.random((120, 8)) < np.linspace(0.2, 0.8, 8), y[:, None], X[:, ::3])
        return X, y

    @pytest.mark.covering(1)
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
    def test_blocks_do_not_matter(self, stream, form):
        X, y = self.data()
        whole = type(stream)(**stream.get_params()).fit(X, y)
        assert 0 < whole.get_support().sum() < 24
        for cuts in ([12], [1, 2, 7, 23], range(1, 24)):
            parts = type(stream)(**stream.get_params())
            for block in np.split(X, cuts, axis=1):
                parts.partial_fit_features(form(block), y)
            assert parts.selected_.tolist() == whole.selected_.tolist()
            assert parts.n_seen_ == parts.n_features_in_ == 24
            assert parts.transform(X).shape == (120, len(whole.selected_))

    def test_names(self, stream):
        X, y = self.data()
        stream = type(stream)(**stream.get_params())
        names = [f"f{j}" for j in range(24)]
        stream.partial_fit_features(X[:, :10], y, names[:10])
        stream.partial_fit_features(pd.DataFrame(X[:, 10:], columns=names[10:]), y)
        assert stream.get_feature_names_out().tolist() == [f"f{j}" for j in np.flatnonzero(stream.support_)]
        with pytest.raises(ValueError, match="with every block"):
            stream.partial_fit_features(X, y)
        with pytest.raises(ValueError, match="24 names"):
            stream.partial_fit_features(X, y, ["one"])

    def test_rows_stay_the_same(self, stream):
        X, y = self.data()
        stream = type(stream)(**stream.get_params()).partial_fit_features(X, y)
        with pytest.raises(ValueError, match="the same labels"):
            stream.partial_fit_features(X, y[::-1])
        assert stream.fit(X[:60], y[:60]).n_features_in_ == 24

    @pytest.mark.slow_cells("stream4")
    def test_labels_and_columns_of_any_type(self, stream):
        X, y = self.data()
        selected = type(stream)(**stream.get_params()).fit(X, y).selected_
        for labels in (np.array(["x", "y", "z"])[y], y.astype(np.uint8), y * 1.0):
            for dtype in (np.float32, np.int8, np.int64, np.uint8):
                again = type(stream)(**stream.get_params()).fit(X.astype(dtype), labels)
                assert again.selected_.tolist() == selected.tolist()


def test_unfitted():
    with pytest.raises(ValueError, match="not fitted"):
        SAOLA().get_support()
    for estimator in (SAOLA(), OSFS(), AlphaInvesting(), FCBF()):
        assert not hasattr(estimator, "support_")
        assert not hasattr(estimator, "scores_")


@pytest.mark.parametrize("stream", [*STREAMS, SAOLA(), OSFS("g2")])
def test_a_stream_goes_on_after_pickling(stream):
    X, y = TestStreams().data()
    stream = type(stream)(**stream.get_params())
    expected = type(stream)(**stream.get_params()).fit(X, y)
    again = pickle.loads(pickle.dumps(stream.partial_fit_features(X[:, :11], y)))
    again.partial_fit_features(X[:, 11:], y)
    assert again.selected_.tolist() == expected.selected_.tolist()
    if isinstance(stream, SAOLA):
        assert again.explain().by.tolist() == expected.explain().by.tolist()


@pytest.mark.parametrize("selector", [FCBF(), SAOLA(), OSFS(test="g2"), EFS()])
def test_the_column_that_is_refused_is_called_by_its_name(selector: Any) -> None:
    X, y = pd.DataFrame({"age": [1.0, 2.0, 1.0, 2.0], "sex": [0.0, -0.5, 1.0, 0.0]}), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="column 'sex'"):
        clone(selector).fit(X, y)
    with pytest.raises(ValueError, match="column 1"):
        clone(selector).fit(X.to_numpy(), y)
    if hasattr(selector, "partial_fit_features"):
        with pytest.raises(ValueError, match="column 'sex'"):
            clone(selector).partial_fit_features(X, y)


@pytest.mark.parametrize("selector", [FCBF(), SAOLA(), OSFS(test="g2")], ids=["fcbf", "saola", "osfs"])
def test_integers_are_integers_in_lists_and_as_objects(selector: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.where(rng.random((60, 3)) < 0.3, -1, y[:, None] * 2 + rng.integers(0, 2, (60, 3)))  # -1 is missing
    wanted = clone(selector).fit(X, y).scores_
    frame = pd.DataFrame(X)
    for form in (X.tolist(), [tuple(row) for row in X], X.astype(object), frame, frame.astype(object)):
        np.testing.assert_array_equal(clone(selector).fit(form, y).scores_, wanted)
        if hasattr(selector, "partial_fit_features"):
            np.testing.assert_array_equal(clone(selector).partial_fit_features(form, y).scores_, wanted)
