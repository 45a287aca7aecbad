from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass.discretize import Discretizer
from seqclass.discretize.outcomes import check_outcomes

STRATEGIES = ["uniform", "quantile"]
ZERO_BINS = [False, True, "auto"]


@pytest.mark.covering(1)
@parametrize_with_checks([Discretizer(), Discretizer(3, strategy="quantile", zero_bin=True)])
def test_sklearn_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        pytest.skip("array API input is not claimed")
    check(estimator)


def edges_naively(column, n_bins, strategy, zero_bin, sparse):
    """Inner edges and whether zeros have a bin of their own, one column at a time."""
    finite = column[np.isfinite(column)]
    if len(finite) == 0 or finite.min() == finite.max():
        return [], False
    own = bool(sparse or np.mean(finite == 0) > 0.5) if zero_bin == "auto" else zero_bin
    own = own and n_bins > 1
    parts = n_bins - own
    if own:
        finite = finite[finite != 0]
    if strategy == "uniform":
        if finite.min() == finite.max():
            return [], own
        return list(np.linspace(finite.min(), finite.max(), parts + 1)[1:-1]), own
    ordered = np.sort(finite)
    edges = sorted({ordered[len(ordered) * k // parts] for k in range(1, parts)} - {ordered[0]})
    return edges, own


def codes_naively(column, edges, own, sparse):
    edges = np.asarray(edges)
    first = int((edges <= 0).sum()) if sparse and not own else None
    codes = []
    for x in column.astype(float):
        code = int((edges <= x).sum())
        if own:
            code = 0 if x == 0 else code + 1
        elif first is not None:
            code = 0 if code == first else code + (code < first)
        codes.append(-1 if np.isnan(x) else code)
    return codes


values = st.one_of(
    st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 2.5, np.nan, np.inf, -np.inf]),
    st.floats(-100, 100).map(lambda x: round(x, 2)),
)
matrices = hnp.arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 5)), elements=values)


@given(matrices, st.integers(1, 6), st.sampled_from(STRATEGIES), st.sampled_from(ZERO_BINS), st.booleans())
def test_equals_one_column_at_a_time(X, n_bins, strategy, zero_bin, sparse):
    discretizer = Discretizer(n_bins, strategy=strategy, zero_bin=zero_bin)
    codes = discretizer.fit_transform(sp.csr_array(X) if sparse else X)
    codes = codes.toarray() if sparse else codes
    for j, column in enumerate(X.T):
        edges, own = edges_naively(column, n_bins, strategy, zero_bin, sparse)
        stored = discretizer.bin_edges_[j]
        assert np.isinf(stored[len(edges) :]).all()
        np.testing.assert_allclose(stored[: len(edges)], edges, rtol=1e-14, atol=1e-13)
        assert discretizer._has_own_bin[j] == own
        assert discretizer.n_outcomes_[j] == len(edges) + 1 + own
        expected = codes_naively(column, stored[: len(edges)], own, sparse)
        # an infinite value in a column without any range has but one bin to go to
        np.testing.assert_array_equal(codes[:, j], np.minimum(expected, discretizer.n_outcomes_[j] - 1))


@pytest.mark.slow
@given(matrices, matrices, st.integers(1, 5), st.sampled_from(STRATEGIES), st.sampled_from(ZERO_BINS))
def test_new_data_dense_and_sparse(X, new, n_bins, strategy, zero_bin):
    new = np.resize(new, (len(new), X.shape[1]))
    discretizer = Discretizer(n_bins, strategy=strategy, zero_bin=zero_bin).fit(sp.csr_array(X))
    dense, sparse = discretizer.transform(new), discretizer.transform(sp.csr_array(new))
    np.testing.assert_array_equal(dense, sparse.toarray())
    np.testing.assert_array_equal(dense == -1, np.isnan(new))
    assert (dense < discretizer.n_outcomes_).all()
    assert (dense[new == 0] == 0).all()
    assert all(len(discretizer.bin_labels(j)) == V for j, V in enumerate(discretizer.n_outcomes_))


@given(matrices, st.integers(1, 5), st.sampled_from(STRATEGIES), st.sampled_from([False, True]))
def test_dense_and_sparse_find_the_same_bins(X, n_bins, strategy, zero_bin):
    settings_ = Discretizer(n_bins, strategy=strategy, zero_bin=zero_bin)
    dense, sparse = clone(settings_).fit(X), clone(settings_).fit(sp.csc_matrix(X))
    np.testing.assert_array_equal(dense.bin_edges_, sparse.bin_edges_)
    np.testing.assert_array_equal(dense.n_outcomes_, sparse.n_outcomes_)


@pytest.mark.parametrize("n_bins", [2, 3, 10, 40])
def test_uniform_equals_kbins(n_bins):
    rng = np.random.default_rng(n_bins)
    X, new = rng.normal(size=(300, 7)), 2 * rng.normal(size=(300, 7))
    peer = KBinsDiscretizer(n_bins, encode="ordinal", strategy="uniform").fit(X)
    ours = Discretizer(n_bins).fit(X)
    np.testing.assert_array_equal(ours.transform(X), peer.transform(X))
    np.testing.assert_array_equal(ours.transform(new), peer.transform(new))


def test_quantile_bins_are_equally_full():
    X = np.random.default_rng(0).normal(size=(103, 4))
    codes = Discretizer(5, strategy="quantile").fit_transform(X)
    for column in codes.T:
        assert set(np.bincount(column, minlength=5)) <= {20, 21}


@pytest.mark.parametrize("n_bins", [3, 60])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_float32_falls_where_its_float64_does(strategy, n_bins):
    X = np.random.default_rng(2).random((500, 3)).astype(np.float32)
    # values on the edges, and one step to either side of them
    ours = Discretizer(n_bins, strategy=strategy).fit(X)
    near = np.unique(ours.bin_edges_[np.isfinite(ours.bin_edges_)].astype(np.float32))
    near = np.concatenate([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))])
    near = np.column_stack([near] * 3)
    np.testing.assert_array_equal(ours.transform(X), ours.transform(X.astype(np.float64)))
    np.testing.assert_array_equal(ours.transform(near), ours.transform(near.astype(np.float64)))
    sparse = Discretizer(n_bins, strategy=strategy).fit(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.transform(sp.csr_array(near)).toarray(), sparse.transform(near))
    np.testing.assert_array_equal(
        ours.bin_edges_, Discretizer(n_bins, strategy=strategy).fit(X.astype(float)).bin_edges_
    )


def test_float32_against_edges_beyond_its_range():
    ours = Discretizer(3).fit(np.array([[-1e300], [1e300]]))
    new = np.array([[-np.inf], [-3e38], [0.0], [3e38], [np.inf]])
    np.testing.assert_array_equal(ours.transform(new.astype(np.float32)), ours.transform(new))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_huge_magnitudes(strategy, convert):
    X = np.array([[-1.7e308], [-1e308], [3.0], [1e308], [1.7e308]])
    ours = Discretizer(4, strategy=strategy, zero_bin=False).fit(convert(X))
    expected = [-0.85e308, 0, 0.85e308] if strategy == "uniform" else [-1e308, 3, 1e308]
    np.testing.assert_allclose(ours.bin_edges_[0], expected)
    assert Discretizer(4, strategy=strategy, zero_bin=False).fit_transform(X).ravel().tolist() == (
        [0, 0, 2, 3, 3] if strategy == "uniform" else [0, 1, 2, 3, 3]
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "column", [[5.0] * 4, [0.0] * 4, [np.nan] * 4, [np.inf, np.nan, -np.inf, np.inf], [np.nan, 2, 2, 2]]
)
def test_columns_without_a_range_have_one_outcome(strategy, convert, column):
    X = np.column_stack([column, [1.0, 2, 3, 4]])
    ours = Discretizer(3, strategy=strategy).fit(convert(X))
    assert ours.n_outcomes_.tolist() == [1, 3]
    assert ours.bin_labels(0) == ["any"]
    new = np.array([[-9.0, 1], [0, 2], [9, 3], [np.nan, 4]])
    assert ours.transform(new)[:, 0].tolist() == [0, 0, 0, -1]


def test_one_row():
    assert Discretizer().fit_transform([[1.0, np.nan]]).tolist() == [[0, -1]]
    assert Discretizer().fit_transform(sp.csr_array([[1.0, 0.0]])).toarray().tolist() == [[0, 0]]


def test_the_maximum_and_what_lies_beyond_fall_in_the_last_bin():
    ours = Discretizer(4).fit([[0.0], [1.0], [8.0]])
    assert ours.transform([[8.0], [9.0], [np.inf], [-1.0], [-np.inf], [2.0]]).ravel().tolist() == [
        3,
        3,
        3,
        0,
        0,
        1,
    ]
    assert ours.n_outcomes_.tolist() == [4]


def test_a_rounded_edge_does_not_pass_the_maximum():
    low, high = 1.0, np.nextafter(1.0, 2)
    for n_bins in (2, 3, 7):
        assert Discretizer(n_bins).fit_transform([[low], [high]])[1, 0] == n_bins - 1


def test_zero_bin_of_inflated_columns_only():
    X = np.array([[0, 0.0], [0, 0], [0, 3], [2, 4], [4, 5], [np.nan, 6]])
    ours = Discretizer(3).fit(X)
    assert ours.own_bins_.tolist() == [[0, 0], [pytest.approx(np.nan, nan_ok=True)] * 2]
    assert ours.transform(X)[:, 0].tolist() == [0, 0, 0, 1, 2, -1]
    assert ours.bin_labels(0, intervals=True) == ["0", "< 3, not 0", ">= 3"]
    assert ours.transform([[-1.0, 0], [1e-300, 0], [-0.0, 0]])[:, 0].tolist() == [1, 1, 0]
    # one other value: in or out
    assert Discretizer(3).fit([[0.0], [0.0], [0.0], [7.5]]).bin_labels(0) == ["0", "not 0"]
    # a single bin has no room for it
    assert Discretizer(1, zero_bin=True).fit(X).n_outcomes_.tolist() == [1, 1]


def test_a_frequent_value_is_met_to_five_digits():
    ours = Discretizer(3).fit([[2.5]] * 6 + [[1.0], [2.0], [3.0], [4.0]])
    own, inside, beside = ours.transform([[2.5], [2.500024], [2.500026]])[:, 0]
    assert own == inside != beside


def test_sparse_fit_puts_the_bin_of_zero_first():
    X = np.array([[-4.0], [-1], [0], [0], [2], [4]])
    ours = Discretizer(4, zero_bin=False).fit(sp.csr_array(X))
    assert ours.bin_edges_.tolist() == [[-2, 0, 2]]
    assert ours.bin_labels(0, intervals=True) == ["[0, 2)", "< -2", "[-2, 0)", ">= 2"]
    assert ours.bin_labels(0) == ["0", "-4", "-1", "2, 4"]
    codes = ours.transform(sp.csr_array(X))
    assert codes.toarray().ravel().tolist() == [1, 2, 0, 0, 3, 3]
    assert codes.nnz == 4, "outcome 0 is not stored"


def test_dense_fit_and_sparse_data():
    ours = Discretizer(4, zero_bin=False).fit(pd.DataFrame({"age": [0.0, 4, 8], "shift": [-4.0, 0, 4]}))
    with (
        pytest.raises(ValueError, match="column 'shift' was fitted on dense data, in which 0 is outcome 2"),
        pytest.warns(UserWarning, match="feature names"),
    ):
        ours.transform(sp.csr_array([[1.0, 0.0]]))
    positive = Discretizer(4, zero_bin=False).fit([[0.0], [4.0]])
    assert positive.transform(sp.csr_array([[0.0], [4.0]])).toarray().tolist() == [[0], [3]]


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_kind_and_input_are_kept(container):
    Z = container(np.array([[0, 1.5], [np.nan, 0], [3, -2]]))
    before = Z.copy()
    codes = Discretizer(3).fit_transform(Z)
    assert codes.format == "csr"
    assert codes.dtype == np.int8
    assert isinstance(codes, sp.sparray) == isinstance(Z, sp.sparray)
    assert codes[1, 0] == -1
    np.testing.assert_array_equal(Z.toarray(), before.toarray())


def test_duplicate_sparse_entries_are_summed():
    Z = sp.csr_array((np.array([1.0, 2.0, 1.0]), np.array([0, 0, 0]), np.array([0, 2, 3, 3])), shape=(3, 1))
    np.testing.assert_array_equal(
        Discretizer(3).fit_transform(Z).toarray(),
        Discretizer(3).fit_transform(sp.csr_array([[3.0], [1], [0]])).toarray(),
    )
    assert Z.nnz == 3


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, np.float32, bool, object])
def test_number_types(dtype):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 1]]).astype(dtype)
    np.testing.assert_array_equal(Discretizer(2, zero_bin=False).fit_transform(X), X.astype(int))


@pytest.mark.parametrize("n_bins, dtype", [(127, np.int8), (128, np.int8), (129, np.int16), (40_000, np.int32)])
def test_the_smallest_integers_that_hold_the_outcomes(n_bins, dtype):
    codes = Discretizer(n_bins, zero_bin=False).fit_transform(np.arange(n_bins)[:, None])  # as many values as bins
    assert codes.dtype == dtype
    assert codes.flags.c_contiguous
    assert codes[[0, -1], 0].tolist() == [0, n_bins - 1]


def test_beyond_32_bins_a_feature_gets_no_more_than_it_has_values():
    codes = Discretizer(40_000, zero_bin=False).fit_transform([[0.0, 5.0], [1.0, 5.0]])
    assert codes.dtype == np.int8
    assert codes.max(axis=0).tolist() == [31, 0]


def test_bins_of_each_feature():
    X = np.arange(12.0).reshape(6, 2)
    ours = Discretizer([2, 30]).fit(X)
    assert ours.n_outcomes_.tolist() == [2, 30]
    assert ours.transform(X).max(axis=0).tolist() == [1, 29]
    assert ours.transform([[np.inf, np.inf]]).tolist() == [[1, 29]]


def test_frames():
    frame = pd.DataFrame({"a": [1.0, 2, None, 4], "b": pd.array([1, None, 3, 4], dtype="Int64")})
    ours = Discretizer(2).fit(frame)
    assert ours.transform(frame).tolist() == [[0, 0], [0, -1], [-1, 1], [1, 1]]
    assert ours.get_feature_names_out().tolist() == ["a", "b"]
    assert ours.bin_labels("b") == ["1", "3, 4"]
    with pytest.raises(ValueError, match="feature 'c'"):
        ours.bin_labels("c")
    with pytest.raises(ValueError, match="between 0 and 1"):
        ours.bin_labels(2)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_restricted_to_some_columns(convert):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(30, 5)), 1) * (rng.random((30, 5)) < [0.3, 0.9, 1, 0, 0.5])
    whole = Discretizer([3, 4, 5, 2, 6], zero_bin=False).fit(convert(X))
    columns = [4, 1, 0, 3]
    part = whole.restrict(columns)
    codes, expected = part.transform(convert(X[:, columns])), whole.transform(X)[:, columns]
    np.testing.assert_array_equal(codes.toarray() if sp.issparse(codes) else codes, expected)
    assert [part.bin_labels(i) for i in range(4)] == [whole.bin_labels(j) for j in columns]
    assert clone(part).fit(X[:, columns]).n_outcomes_.tolist() == part.n_outcomes_.tolist()
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert Discretizer().fit(frame).restrict([2, 0]).get_feature_names_out().tolist() == ["c", "a"]
    with pytest.raises(ValueError, match="4 features"):
        part.transform(X)


def test_labels_tell_close_edges_apart():
    labels = Discretizer(3).fit([[1.0], [1.0 + 3e-9]]).bin_labels(0)
    assert len(set(labels)) == 3
    low, high = map(float, re.findall(r"[\d.]+", labels[1]))
    assert low < high


@pytest.mark.parametrize(
    "settings_, message",
    [
        ({"n_bins": 0}, "n_bins must be at least 1"),
        ({"n_bins": [3]}, "one for each of the 2 features"),
        ({"n_bins": [3.5, 2.0]}, "n_bins must be a positive integer"),
        ({"strategy": "kmeans"}, "strategy must be one of 'uniform', 'quantile'"),
        ({"zero_bin": "yes"}, "zero_bin must be True, False or 'auto'"),
    ],
)
def test_settings_are_checked(settings_, message):
    with pytest.raises(ValueError, match=message):
        Discretizer(**settings_).fit([[1.0, 2.0], [2.0, 3.0]])


@pytest.mark.parametrize(
    "X, name",
    [
        (pd.DataFrame({"age": [1, 2], "town": ["x", "y"]}), "'town'"),
        (np.array([[1, "x"], [2, "y"]], dtype=object), "1"),
        (np.array([["1", "x"], ["2", "y"]]), "1"),
    ],
)
def test_text_is_refused_by_column(X, name):
    with pytest.raises(ValueError, match=rf"column {name} does not hold numbers: .*OrdinalEncoder"):
        Discretizer().fit(X)


def test_dates_are_refused():
    with pytest.raises((TypeError, ValueError)):
        Discretizer().fit(np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[s]"))


# ---- check_outcomes


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64, object])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_outcomes_of_any_type(dtype, convert):
    if dtype is object and convert is not np.asarray:
        pytest.skip("sparse matrices hold no objects")
    X = np.array([[0, 2], [1, 0], [0, 5]])
    codes = check_outcomes(convert(X.astype(dtype)), [2, 6], n_features=2)
    assert codes.dtype == np.int8
    assert not sp.issparse(codes) or codes.format == "csr"
    np.testing.assert_array_equal(codes.toarray() if sp.issparse(codes) else codes, X)


def test_outcomes_that_need_no_work_are_not_copied():
    X = np.array([[0, 2], [-1, 0]], dtype=np.int8)
    assert check_outcomes(X, 3) is X
    Z = sp.csr_array(X)
    assert check_outcomes(Z, 3) is Z
    assert check_outcomes(np.asfortranarray(X)).flags.c_contiguous
    assert check_outcomes(np.array([[True], [False]])).tolist() == [[1], [0]]
    assert check_outcomes(np.array([[0], [300]])).dtype == np.int16


def test_missing_outcomes():
    assert check_outcomes([[np.nan, 1.0], [2.0, -1.0]]).tolist() == [[-1, 1], [2, -1]]
    sparse = check_outcomes(sp.csr_array(np.array([[np.nan, 0.0], [2.0, 1.0]])))
    assert sparse.toarray().tolist() == [[-1, 0], [2, 1]]
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0.0, 1.0]})
    assert check_outcomes(frame).tolist() == [[1, 0], [-1, 1]]
    assert check_outcomes(np.full((2, 1), np.nan)).tolist() == [[-1], [-1]]


def test_outcomes_of_other_transformers():
    X = np.random.default_rng(0).normal(size=(50, 3))
    codes = KBinsDiscretizer(4, encode="ordinal", strategy="uniform").fit_transform(X)
    np.testing.assert_array_equal(check_outcomes(codes, 4, n_features=3), codes)
    encoder = OrdinalEncoder(encoded_missing_value=-1, handle_unknown="use_encoded_value", unknown_value=-1)
    codes = encoder.fit_transform(np.array([["a"], ["b"], [np.nan]], dtype=object))
    assert check_outcomes(codes, 2).ravel().tolist() == [0, 1, -1]
    onehot = KBinsDiscretizer(4, strategy="uniform").fit_transform(X)
    with pytest.raises(ValueError, match=r"turned 3 features into 12 columns.*one-hot.*ordinal"):
        check_outcomes(onehot, n_features=3)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "bad, message",
    [
        (1.5, "column 1 holds 1.5, which is not a whole number"),
        (np.inf, "column 1 holds inf, too large"),
        (-np.inf, "column 1 holds -inf, below 0"),
        (-2.0, "column 1 holds -2.0, below 0"),
        (3.0, "column 1 holds 3.0, not an outcome of the model"),
        (1e300, "column 1 holds 1e"),
    ],
)
def test_outcomes_that_are_none(convert, bad, message):
    X = np.array([[3.0, 0.0], [2.0, 1.0], [np.nan, bad]])
    with pytest.raises(ValueError, match=message):
        check_outcomes(convert(X), [4, 3])


def test_outcomes_of_frames_are_named():
    with pytest.raises(ValueError, match="column 'b' holds"):
        check_outcomes(pd.DataFrame({"a": [0, 1], "b": [0.5, 1]}))
    with pytest.raises(ValueError, match="must be whole numbers: could not convert"):
        check_outcomes([["x"]])
    with pytest.raises(ValueError, match="must be a matrix"):
        check_outcomes([1, 2])


@pytest.mark.slow
def test_a_million_sparse_columns():
    rng = np.random.default_rng(0)
    n, F, nnz = 2000, 1_355_191, 3_000_000
    Z = sp.coo_array((rng.normal(size=nnz), (rng.integers(0, n, nnz), rng.integers(0, F, nnz))), shape=(n, F)).tocsr()
    some = rng.choice(F, 20, replace=False)
    for strategy in STRATEGIES:
        ours = Discretizer(4, strategy=strategy).fit(Z)
        part = Discretizer(4, strategy=strategy).fit(Z[:, some])
        np.testing.assert_array_equal(ours.transform(Z)[:, some].toarray(), part.transform(Z[:, some]).toarray())


@pytest.mark.parametrize("share, n_bins", [(0.3, 4), (0.49, 4), (0.51, 10), (0.7, 10)])
def test_sparsity_decides_on_the_number_of_bins(share, n_bins):
    rng = np.random.default_rng(0)
    X = rng.permutation(np.where(np.arange(1000) < 1000 * share, 0.0, rng.uniform(1, 2, 1000))).reshape(50, 20)
    assert max(Discretizer("sparsity").fit(X).n_outcomes_) == n_bins
    assert max(Discretizer("sparsity").fit(sp.csr_array(X)).n_outcomes_) == n_bins
    holes = np.full((50, 20), np.nan)  # missing cells are neither zero nor not
    assert max(Discretizer("sparsity").fit(np.vstack([X, holes])).n_outcomes_) == n_bins
    assert max(Discretizer("sparsity").fit(sp.csr_array(np.vstack([X, holes]))).n_outcomes_) == n_bins
    assert max(Discretizer(5).fit(X).n_outcomes_) == 5


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_many_bins_are_bounded_by_distinct_values(strategy, form):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=120), rng.integers(0, 2, 120), rng.integers(0, 60, 120), np.full(120, np.nan)]
    fitted = Discretizer(10**12, strategy=strategy).fit(form(X))
    distinct = [len(np.unique(column[~np.isnan(column)])) for column in X.T]
    assert (fitted.n_outcomes_ <= np.maximum(distinct, 32)).all()
    assert fitted.n_outcomes_[0] > 60
    assert fitted.bin_edges_.nbytes < 10_000
    each = Discretizer([10**12, 5, 40, 7], strategy=strategy).fit(form(X))
    assert (each.n_outcomes_ <= [120, 5, 40, 1]).all()
    # up to 32 bins nothing is bounded, whatever the values
    assert Discretizer(32, zero_bin=False).fit(X).n_outcomes_.tolist() == [32, 32, 32, 1]


def spiked(seed: int = 0, n: int = 300) -> np.ndarray:
    """Columns that are mostly zero: a measurement, counts, a yes or no; one is not; eighths, which shift exactly."""
    rng = np.random.default_rng(seed)
    rare = rng.random((n, 3)) < 0.4
    X = np.column_stack([rare * np.rint(8 * rng.normal(size=(n, 3))) / 8, np.rint(8 * rng.normal(size=n)) / 8])
    X[:, 1] = rare[:, 1] * rng.integers(0, 9, n)
    X[:, 2] = rare[:, 2]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "auto", "mdlp"])
@pytest.mark.parametrize("n_bins", [2, 5, "auto"])
def test_a_frequent_value_has_its_bin_wherever_it_lies(strategy, n_bins):
    X = spiked()
    y = np.nan_to_num(X[:, 0] + X[:, 1] + X[:, 3]) > 0.5
    plain = Discretizer(n_bins, strategy=strategy).fit(X, y)
    assert (plain.transform(X)[:, :3] == 0).sum() == (X[:, :3] == 0).sum()
    for shift in (-3.125, 0.25, 1000.0):
        moved = Discretizer(n_bins, strategy=strategy).fit(X + shift, y)
        np.testing.assert_array_equal(moved.transform(X + shift), plain.transform(X))
        np.testing.assert_array_equal(moved.n_outcomes_, plain.n_outcomes_)
        np.testing.assert_array_equal(moved.bin_edges_ - shift, plain.bin_edges_)
        single = moved.transform((X + shift).astype(np.float32))
        np.testing.assert_array_equal(single, plain.transform(X))


def test_a_value_of_half_the_cells_is_not_frequent():
    half = Discretizer(4).fit([[5.0], [5], [5], [1], [2], [3], [np.nan]])
    assert half.bin_edges_.tolist() == [[2, 3, 4]]
    more = Discretizer(4).fit([[5.0], [5], [5], [1], [2], [np.nan]])
    assert more.bin_labels(0) == ["5", "1", "[1.333, 1.667)", "2"]
    assert more.bin_labels(0, intervals=True) == ["5", "< 1.333", "[1.333, 1.667)", ">= 1.667, not 5"]
    assert more.transform([[5.0], [4.9], [0], [7]]).ravel().tolist() == [0, 3, 1, 3]
    assert more.restrict([0]).transform([[5.0], [4.9]]).ravel().tolist() == [0, 3]


def test_a_frequent_value_is_known_again_when_it_was_rounded():
    X = np.random.default_rng(0).normal(size=(200, 1))
    X[:120] = -1 / 3
    X[120] = -1 / 3 + 1e-7  # a value of its own
    cut = Discretizer(4).fit(X)
    assert (cut.transform(X)[:, 0] == 0).sum() == 120
    other = Discretizer(4).fit(np.delete(X, 120, axis=0))
    assert other.transform([[-0.333333], [-0.33334], [-0.3334]]).ravel().tolist()[:2] == [0, 2]


def test_sparse_data_after_a_frequent_value_that_is_not_zero():
    cut = Discretizer(3).fit([[5.0], [5], [5], [0], [1]])
    with pytest.raises(ValueError, match="in which 0 is outcome 1"):
        cut.transform(sp.csr_array([[5.0]]))
