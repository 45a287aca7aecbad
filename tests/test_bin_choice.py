"""The choice between equal widths and equal counts, feature by feature."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from seqclass import etana
from seqclass.discretize import Discretizer
from seqclass.discretize.discretizer import leave_one_out_information


@given(st.integers(0, 2**32 - 1))
def test_left_out_information_is_that_of_a_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_classes, V = rng.integers(2, 12), rng.integers(1, 4), rng.integers(1, 4)
    codes, y = rng.integers(-1, V, size=(n, 3)), rng.integers(0, n_classes, size=n)
    found = leave_one_out_information(codes, y, np.full(3, V))
    for j, column in enumerate(codes.T):
        known, told = np.flatnonzero(column >= 0), []
        for row in known:
            share = np.mean(y[known] == y[row])
            others = [i for i in known if i != row and column[i] == column[row]]
            told.append(np.log((sum(y[i] == y[row] for i in others) + share) / (len(others) + 1)) - np.log(share))
        assert found[j] == pytest.approx(np.mean(told) if told else 0.0)


@pytest.fixture(scope="module")
def columns() -> tuple[np.ndarray, np.ndarray]:
    """A heavy tail of which the middle matters, and one of which the tail does."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=600)
    middle = np.exp(4 * rng.normal(size=600) + np.where(y == 1, 4, 0))
    tail = np.where(y == 1, rng.choice([0.0, 10.0], size=600, p=[0.9, 0.1]), rng.uniform(0, 0.1, size=600))
    tail[y == 1] += rng.uniform(0, 0.1, size=(y == 1).sum())
    return np.column_stack([middle, tail]), y


def test_each_feature_has_the_bins_that_say_more(columns: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = columns
    ours = Discretizer(3, strategy="auto").fit(X, y)
    for j, strategy in enumerate(["quantile", "uniform"]):
        single = Discretizer(3, strategy=strategy).fit(X[:, [j]])
        np.testing.assert_array_equal(ours.transform(X)[:, [j]], single.transform(X[:, [j]]))
        assert ours.n_outcomes_[j] == single.n_outcomes_[0]
        assert ours.bin_labels(j) == single.bin_labels(0)
    sparse = Discretizer(3, strategy="auto").fit(sp.csr_array(X), y)
    for j, strategy in enumerate(["quantile", "uniform"]):
        single = Discretizer(3, strategy=strategy).fit(sp.csr_array(X[:, [j]]))
        np.testing.assert_array_equal(sparse.bin_edges_[j, : single.bin_edges_.shape[1]], single.bin_edges_[0])


def test_equal_widths_where_nothing_is_told(columns: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = columns
    one_label = Discretizer(3, strategy="auto").fit(X, np.zeros(len(y)))
    np.testing.assert_array_equal(one_label.bin_edges_, Discretizer(3).fit(X).bin_edges_)


def test_it_needs_the_labels(columns: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="strategy='auto' needs the labels y in fit"):
        Discretizer(strategy="auto").fit(columns[0])


def test_in_a_recipe(columns: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = columns
    clf = etana(strategy="auto", n_bins=3).fit(X, y)
    np.testing.assert_array_equal(
        clf.coder_.discretizer_.bin_edges_, Discretizer(3, strategy="auto").fit(X, y).bin_edges_
    )
