from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import adjusted_mutual_info_score, mutual_info_score

from seqclass._utils import pair_counts
from seqclass._utils.information import (
    adjusted_mutual_information,
    chance_p_values,
    contingency_table,
    label_codes,
    mutual_information,
)
from seqclass._utils.pair_counts import indicators, joint_information
from seqclass.bn._checks import count_outcomes
from seqclass.bn._structure import conditional_mutual_information

KINDS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


def draw(seed, n=80, n_features=6, V=4, C=3, missing=0.2):
    """Random outcomes with a constant, an all-missing and an informative column; unequal classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(C, n, p=rng.dirichlet(np.ones(C)))
    X = rng.integers(0, V, (n, n_features)).astype(np.int8)
    X[:, 1] = np.where(rng.random(n) < 0.8, y % V, X[:, 1])
    X[rng.random(X.shape) < missing] = -1
    X[:, 0] = V - 1
    X[:, 2] = -1
    return X, y, rng.random(n)


def count_naively(X, y, C, V, weight):
    table = np.zeros((X.shape[1], V, C))
    for i, j in np.argwhere(X >= 0):
        table[j, X[i, j], y[i]] += weight[i]
    return table


def present(X, y, j):
    rows = X[:, j] >= 0
    return X[rows, j], y[rows]


cases = st.builds(
    draw,
    st.integers(0, 10**6),
    n=st.integers(1, 60),
    n_features=st.integers(3, 7),
    V=st.integers(1, 7),
    C=st.integers(1, 5),
    missing=st.sampled_from([0.0, 0.1, 0.8]),
)


@given(cases)
@pytest.mark.parametrize("kind", KINDS)
def test_contingency_equals_counting_cell_by_cell(kind, case):
    X, y, weight = case
    C, V = int(y.max()) + 1, int(X.max()) + 1
    Z = KINDS[kind](X)
    np.testing.assert_array_equal(contingency_table(Z, y, C, V), count_naively(X, y, C, V, np.ones(len(y))))
    weighted = contingency_table(Z, y, C, V, weight)
    np.testing.assert_allclose(weighted, count_naively(X, y, C, V, weight), atol=1e-12)
    assert (weighted >= 0).all()


def test_contingency_with_stored_zeros_and_duplicates():
    row, column, value = [0, 1, 1, 2, 2], [0, 0, 0, 0, 1], [0, 1, 1, -1, 1]
    Z = sp.coo_array((np.array(value, dtype=np.int8), (row, column)), shape=(3, 2))
    np.testing.assert_array_equal(
        contingency_table(Z, [0, 0, 1], 2, 3),
        [[[1, 0], [0, 0], [1, 0]], [[2, 0], [0, 1], [0, 0]]],
    )
    assert Z.nnz == 5, "the input must not be changed"


def test_contingency_leaves_no_dust_of_weights_where_no_zero_is():
    X = np.ones((1000, 1), dtype=np.int8)
    weight = np.random.default_rng(0).random(1000)
    table = contingency_table(sp.csr_array(X), np.zeros(1000, dtype=int), 1, 2, weight)
    assert table[0, 0, 0] == 0


def test_contingency_pads_to_the_largest_number_of_outcomes():
    assert contingency_table(np.zeros((3, 2), dtype=np.int8), [0, 0, 0], 2, [2, 5]).shape == (2, 5, 2)


@pytest.mark.parametrize(
    "X, codes, weight, message",
    [
        ([[0], [2]], [0, 1], None, r"X must hold outcomes -1\.\.1, got 0\.\.2"),
        ([[0], [-2]], [0, 1], None, r"X must hold outcomes -1\.\.1, got -2"),
        ([[0], [1]], [0, 2], None, r"codes must be in 0\.\.1"),
        ([[0], [1]], [0], None, "codes must have shape"),
        ([[0], [1]], [0, 1], [1.0], "sample_weight must have shape"),
    ],
)
def test_contingency_refuses(X, codes, weight, message):
    with pytest.raises(ValueError, match=message):
        contingency_table(np.array(X), codes, 2, 2, weight)


@pytest.mark.slow
@given(cases)
def test_information_equals_sklearn_over_the_present_rows(case):
    X, y, _ = case
    found = {
        kind: (mutual_information(convert(X), y), adjusted_mutual_information(convert(X), y))
        for kind, convert in KINDS.items()
    }
    for j in range(X.shape[1]):
        x, labels = present(X, y, j)
        one_class = len(set(labels)) < 2
        expected = (0, 0) if one_class else (mutual_info_score(labels, x), adjusted_mutual_info_score(labels, x))
        for kind, (mutual, adjusted) in found.items():
            if one_class:
                assert mutual[j] == adjusted[j] == 0, kind
            else:
                assert mutual[j] == pytest.approx(expected[0], abs=1e-12), kind
                assert adjusted[j] == pytest.approx(expected[1], abs=1e-10), kind


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_adjusted_information_of_many_rows(missing):
    # long hypergeometric sums, of which only the middle is computed
    X, y, _ = draw(11, n=30_000, n_features=4, V=3, missing=missing)
    adjusted = adjusted_mutual_information(X, y)
    for j in (0, 1, 3):
        x, labels = present(X, y, j)
        assert adjusted[j] == pytest.approx(adjusted_mutual_info_score(labels, x), abs=1e-10)


def test_adjusted_information_of_distinct_values_is_one():
    for n in (2, 3, 10, 57, 300):
        X = np.random.default_rng(n).permutation(n)[:, None]
        assert adjusted_mutual_information(X, np.arange(n))[0] == 1


def test_adjusted_information_of_a_perfect_and_an_unrelated_feature():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    X = np.column_stack([2 - y, rng.integers(0, 50, 3000)])
    perfect, unrelated = adjusted_mutual_information(X, np.array(["a", "b", "c"])[y])
    assert perfect == pytest.approx(1, abs=1e-12)
    assert abs(unrelated) < 0.01 < mutual_information(X, y)[1]


def test_weights_count_like_repeated_rows():
    X, y, _ = draw(7)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    expected = mutual_information(np.repeat(X, times, axis=0), np.repeat(y, times))
    for convert in KINDS.values():
        np.testing.assert_allclose(mutual_information(convert(X), y, sample_weight=times), expected, atol=1e-12)


def condition_naively(X, y):
    F = X.shape[1]
    result = np.zeros((F, F))
    for i in range(F):
        for j in range(F):
            both = (X[:, i] >= 0) & (X[:, j] >= 0)
            for c in np.unique(y[both]):
                rows = both & (y == c)
                result[i, j] += rows.sum() / both.sum() * mutual_info_score(X[rows, i], X[rows, j])
    return result


def shared_by_pairs(X, y, dtype=np.float64):
    codes, n_classes = label_codes(y)
    return conditional_mutual_information(X, codes, count_outcomes(X), n_classes, dtype)


@pytest.mark.slow
@given(cases, st.lists(st.integers(1, 6), min_size=7, max_size=7))
@settings(max_examples=settings.default.max_examples * 8 // 25)
def test_conditional_information_equals_a_loop_over_pairs(case, sizes):
    X, y, _ = case
    X = np.minimum(X, np.array(sizes[: X.shape[1]]) - 1).astype(np.int8)
    expected = condition_naively(X, y)
    for kind, convert in KINDS.items():
        result = shared_by_pairs(convert(X), y)
        np.testing.assert_allclose(result, expected, atol=1e-12, err_msg=kind)
        np.testing.assert_array_equal(result, result.T, err_msg=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_conditional_information_of_chosen_columns(kind):
    X, y, _ = draw(2, n_features=8)
    whole = shared_by_pairs(X, y)
    columns = [7, 1, 4]
    part = shared_by_pairs(KINDS[kind](X[:, columns]), y, np.float32)
    assert part.dtype == np.float32
    np.testing.assert_allclose(part, whole[np.ix_(columns, columns)], atol=1e-6)


@pytest.mark.parametrize("measure", [mutual_information, adjusted_mutual_information])
def test_labels_are_checked(measure):
    X = np.zeros((3, 2), dtype=np.int8)
    with pytest.raises(ValueError, match="missing labels"):
        measure(X, [0.0, np.nan, 1.0])
    with pytest.raises(ValueError, match="none missing"):
        measure(X, np.array(["a", None, "b"], dtype=object))
    with pytest.raises(ValueError, match="one label a row"):
        measure(X, [[0], [1], [1]])
    with pytest.raises(ValueError, match="for each"):
        measure(X, [0, 1])


@pytest.mark.slow
def test_counting_a_million_sparse_columns():
    rng = np.random.default_rng(0)
    n, F, nnz = 20_000, 1_355_191, 9_000_000
    Z = sp.coo_array((np.ones(nnz, dtype=np.int8), (rng.integers(0, n, nnz), rng.integers(0, F, nnz))), shape=(n, F))
    Z = Z.tocsr()
    Z.data[:] = rng.integers(1, 4, Z.nnz)
    y = rng.integers(0, 2, n)
    table = contingency_table(Z, y, 2, 4)
    assert (table.sum(axis=1) == np.bincount(y)).all()
    for j in rng.integers(0, F, 5):
        np.testing.assert_array_equal(table[j], contingency_table(Z[:, [j]].toarray(), y, 2, 4)[0])


def test_chances_are_those_of_the_g_test() -> None:
    rng = np.random.default_rng(3)
    y, X = rng.integers(3, size=200), rng.integers(4, size=(200, 9))
    for j in range(8):
        X[:, j] = np.where(rng.random(200) < 0.1 + 0.06 * j, y, X[:, j])
    tables = [np.array([[np.sum((column == v) & (y == c)) for c in range(3)] for v in range(4)]) for column in X.T]
    p = [stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue for table in tables]
    np.testing.assert_allclose(chance_p_values(X, y), p, rtol=1e-9)


def test_a_constant_feature_is_explained_by_chance() -> None:
    y = np.repeat([0, 1], 20)
    X = np.column_stack([np.zeros(40, dtype=int), y, np.full(40, -1)])
    assert chance_p_values(X, y).round(6).tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("n_outcomes", [3, 30])  # by products of indicators, and counted row by row
@pytest.mark.parametrize("missing", [False, True])
def test_pairs_of_several_columns(n_outcomes: int, missing: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_outcomes, size=(400, 4))
    X[:, 1] = np.where(rng.random(400) < 0.7, X[:, 0], X[:, 1])
    X[-1] = n_outcomes - 1
    if missing:
        X[rng.random(X.shape) < 0.1] = -1
    entropy = np.array([mutual_info_score(column, column) for column in X.T])
    (group,) = indicators(X, np.full(4, n_outcomes), entropy)
    found = joint_information(group, group, normalised=False)
    for i, one in enumerate(X.T):
        for j, other in enumerate(X.T):
            both = (one >= 0) & (other >= 0)
            assert found[i, j] == pytest.approx(mutual_info_score(one[both], other[both]), abs=1e-9)


@pytest.mark.parametrize("largest", [126, 127])  # the last that int8 holds, and the one before
def test_pairs_of_columns_whose_outcomes_fill_their_type(largest: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(largest - 6, largest + 1, size=(300, 2)).astype(np.int8)
    X[:, 1] = np.where(rng.random(300) < 0.7, X[:, 0], X[:, 1])
    X[rng.random(X.shape) < 0.1] = -1
    both = (X >= 0).all(axis=1)
    (group,) = indicators(X, np.full(2, largest + 1), np.zeros(2))
    found = joint_information(group, group, normalised=False)
    assert found[0, 1] == pytest.approx(mutual_info_score(*X[both].T), abs=1e-9)


def with_gaps(n=400, n_outcomes=9, missing=True):
    """Columns that share information, and a class of which few rows are."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, n_outcomes, (n, 5)).astype(np.int8), (np.arange(n) < 30).astype(int)
    X[:, 1] = np.where(rng.random(n) < 0.5, X[:, 0], X[:, 1])
    X[:, 2] = 4
    if missing:
        X[rng.random(X.shape) < 0.1] = -1
    return X, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [False, True])
def test_pairs_that_occur_are_counted_where_the_tables_of_all_would_be_large(kind, missing, monkeypatch):
    X, y = with_gaps(missing=missing)
    Z = KINDS[kind](X) if kind == "dense" else KINDS["csc"](X)
    entropy = np.array([mutual_info_score(column, column) for column in X.T])
    (group,) = indicators(Z, np.full(5, 9), entropy)
    expected = joint_information(group, group, normalised=True), shared_by_pairs(Z, y)
    monkeypatch.setattr(pair_counts, "TUNING", pair_counts.CountingTuning(max_cells=0, cells_per_row=0))
    np.testing.assert_allclose(joint_information(group, group, normalised=True), expected[0], atol=1e-12)
    found = shared_by_pairs(Z, y)
    np.testing.assert_allclose(found, expected[1], atol=1e-12)
    assert (found[2] == 0).all(), "a constant column tells exactly nothing"


def test_two_columns_of_many_outcomes_take_no_table_of_all_pairs() -> None:
    X = np.random.default_rng(0).integers(0, 30_000, (300, 2))
    (group,) = indicators(X, np.full(2, 30_000), np.log([300.0, 300.0]))
    tracemalloc.start()
    joint_information(group, group, normalised=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("few", [0, 1])
def test_pairs_are_weighed_alike_where_one_class_has_few_rows(few, monkeypatch):
    """The blocks of columns of a class with few rows are as those of one with many."""
    X, y = with_gaps()
    y = y if few else 1 - y
    expected = shared_by_pairs(X, y)
    monkeypatch.setattr(pair_counts, "CACHE_BYTES", 1800)
    np.testing.assert_allclose(shared_by_pairs(X, y), expected, atol=1e-12)
