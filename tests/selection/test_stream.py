"""Feature streams: blocks that are empty, refused, or carry names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from pandas.testing import assert_frame_equal
from sklearn.base import clone

from seqclass.selection import OFSA3M, OSFS, SAOLA, AlphaInvesting, FastOSFS, OFSDensity

SELECTORS = [
    SAOLA(),
    SAOLA("su", delta_1=0.01),
    SAOLA("fisher_z"),
    AlphaInvesting(),
    OSFS(),
    OSFS("g2"),
    FastOSFS("g2"),
    OFSA3M(random_state=0),
    OFSDensity(random_state=0),
]
DISCRETE = [s for s in SELECTORS if s._discrete]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = np.column_stack([*(y + rng.integers(0, 2, (3, 60))), *rng.integers(0, 3, (3, 60))])
    return X, y


def test_a_frame_without_columns_is_an_empty_block(data):
    X, y = data
    frame = pd.DataFrame(X).rename(columns="f{}".format)
    for selector in SELECTORS:
        stream = clone(selector)
        for start, stop in ((0, 0), (0, 3), (3, 3), (3, 6)):
            stream.partial_fit_features(frame.iloc[:, start:stop], y)
        assert stream.selected_.tolist() == clone(selector).fit(frame, y).selected_.tolist()
        assert stream.feature_names_in_.tolist() == list(frame)


@pytest.mark.covering
@pytest.mark.parametrize("selector", SELECTORS, ids=str)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("cuts", [[0, 0, 6], [0, 2, 2, 6], [0, 6, 6]], ids=str)
def test_an_empty_block_changes_nothing(selector, convert, cuts, data):
    X, y = data
    stream = clone(selector)
    for start, stop in pairwise(cuts):
        stream.partial_fit_features(convert(X[:, start:stop]), y)
    whole = clone(selector).fit(convert(X), y)
    assert stream.n_features_in_ == stream.n_seen_ == 6
    assert stream.get_support(indices=True).tolist() == whole.get_support(indices=True).tolist()


def test_an_empty_block_needs_no_names(data):
    X, y = data
    stream = SAOLA().partial_fit_features(X[:, :0], y).partial_fit_features(X[:, :2], y, ["a", "b"])
    stream.partial_fit_features(X[:, 2:2], y).partial_fit_features(pd.DataFrame({"c": X[:, 2]}), y)
    assert stream.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_names_of_earlier_features_are_refused(selector, data):
    X, y = data
    stream = clone(selector).partial_fit_features(X[:, :2], y, ["a", "b"])
    with pytest.raises(ValueError, match="feature_names has 'b', the name of a feature that came before"):
        stream.partial_fit_features(X[:, 2:4], y, ["b", "c"])
    assert stream.n_seen_ == 2
    stream.partial_fit_features(X[:, 2:4], y, ["d", "c"])
    assert stream.feature_names_in_.tolist() == ["a", "b", "d", "c"]
    # names that come from a fit count as well
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    with pytest.raises(ValueError, match="'a'"):
        clone(selector).fit(frame, y).partial_fit_features(frame[["a"]], y)


@pytest.mark.parametrize(("names", "message"), [("ab", "must be a list of names"), ([1, 2], "must be texts, got 1")])
def test_names_that_are_none(names, message, data):
    X, y = data
    with pytest.raises(TypeError, match=message):
        SAOLA().partial_fit_features(X[:, :2], y, names)


@pytest.mark.parametrize("selector", DISCRETE, ids=str)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"])
def test_a_refused_block_leaves_the_stream_as_it_was(selector, convert, data):
    X, y = data
    wrong = X[:, 3:] + 0.0
    wrong[7, 2] = 0.5
    stream = clone(selector)
    with pytest.raises(ValueError, match=r"column 'z' of X holds 0\.5"):
        stream.partial_fit_features(convert(wrong), y[::-1], list("xyz"))
    stream.partial_fit_features(convert(X[:, :3]), y, list("abc"))
    with pytest.raises(ValueError, match=r"column 'f' of X holds 0\.5"):
        stream.partial_fit_features(convert(wrong), y, list("def"))
    stream.partial_fit_features(convert(X[:, 3:]), y, list("def"))
    assert stream.feature_names_in_.tolist() == list("abcdef")
    assert stream.get_support().tolist() == clone(selector).fit(X, y).get_support().tolist()


def test_entries_that_make_a_whole_number_together(data):
    y = data[1]
    halves = sp.csc_array((np.full(8, 0.5), np.repeat(np.arange(4), 2), [0, 8]), shape=(60, 1))
    assert SAOLA().partial_fit_features(halves, y).n_seen_ == 1


@pytest.mark.parametrize(
    ("selector", "wrong"), [(SAOLA(), {"bound": "least"}), (OSFS(), {"test": "t"}), (SAOLA(), {"measure": "mic"})]
)
def test_a_stream_that_could_not_begin_begins_anew(selector, wrong, data):
    X, y = data
    right = {name: selector.get_params()[name] for name in wrong}
    stream = clone(selector).set_params(**wrong)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        stream.partial_fit_features(X[:, :3], y[::-1])
    stream.set_params(**right).partial_fit_features(X, y)
    assert stream.get_support().tolist() == clone(selector).fit(X, y).get_support().tolist()


@pytest.mark.parametrize("selector", DISCRETE, ids=str)
def test_missing_codes_beside_floats(selector, data):
    X, y = data
    X[::6, 0] = -1
    frame = pd.DataFrame(X, columns=list("abcdef")).astype({"c": float, "d": "Int64", "e": bool})
    frame.loc[3, "c"] = np.nan
    frame.loc[5, "d"], frame.loc[7, "d"] = pd.NA, -1
    before = frame.copy()
    whole = clone(selector).fit(frame, y)
    assert_frame_equal(frame, before)
    stream = clone(selector)
    for name in frame:
        stream.partial_fit_features(frame[[name]], y)
    np.testing.assert_allclose(stream.scores_, whole.scores_, rtol=1e-9)
    assert stream.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
