"""Cuts where the labels change: as Fayyad and Irani have it, of all columns at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from seqclass import SequentialClassifier, etana
from seqclass.discretize import Discretizer


def entropy(labels: list[int]) -> float:
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(-(shares * np.log2(shares)).sum())


def saved_bits(lower: list[int], upper: list[int]) -> float:
    """Gain of a cut times the rows, less what equation (9) of the paper asks for."""
    whole = lower + upper
    n, (k, k1, k2) = len(whole), (len(set(part)) for part in (whole, lower, upper))
    gain = n * entropy(whole) - len(lower) * entropy(lower) - len(upper) * entropy(upper)
    delta = np.log2(3.0**k - 2) - (k * entropy(whole) - k1 * entropy(lower) - k2 * entropy(upper))
    return float(gain - np.log2(n - 1) - delta)


def edges_naively(value: np.ndarray, y: np.ndarray, parts: int) -> list[float]:
    """The best cut of any stretch first, until there are enough or none saves anything."""
    edges: list[float] = []
    while len(edges) < parts - 1:
        found = []
        for low, high in zip([-np.inf, *sorted(edges)], [*sorted(edges), np.inf]):
            inside = (value >= low) & (value < high)
            distinct = np.unique(value[inside])
            for one, other in pairwise(distinct):
                lower, upper = y[inside & (value <= one)].tolist(), y[inside & (value >= other)].tolist()
                found.append((round(saved_bits(lower, upper), 8), -(one + other) / 2))
        if not found or max(found)[0] <= 0:
            break
        edges.append(-max(found)[1])
    return sorted(edges)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns that tell the class more or less, with ties, zeros and missing cells."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 60)), int(rng.integers(1, 4))
    y = rng.integers(n_classes, size=n)
    X = np.round(rng.normal(size=(n, 4)) + 3 * rng.integers(-1, 2, size=(n_classes, 4))[y], int(rng.integers(3)))
    X[rng.random(X.shape) < 0.2] = 0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans(), st.booleans())
def test_one_column_at_a_time(seed: int, n_bins: int, sparse: bool, zero_bin: bool) -> None:
    X, y = drawn(seed)
    n, d = X.shape
    stored = sp.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=(n, d))
    data = stored if sparse else X
    found = Discretizer(n_bins, strategy="mdlp", zero_bin=zero_bin).fit(data, y)
    if sparse:
        same = Discretizer(n_bins, strategy="mdlp", zero_bin=zero_bin).fit(sp.csr_array(X), y)
        np.testing.assert_array_equal(same.bin_edges_, found.bin_edges_)
    for j, column in enumerate(X.T):
        own = zero_bin and n_bins > 1 and len(set(column[~np.isnan(column)])) > 1
        kept = ~np.isnan(column) & ~(own & (column == 0))
        edges = edges_naively(column[kept], y[kept], n_bins - own)
        inner = found.bin_edges_[j]
        np.testing.assert_allclose(inner[np.isfinite(inner)], edges)
        assert found.n_outcomes_[j] == len(edges) + 1 + own
        assert found._has_own_bin[j] == own


def test_zeros_that_are_stored_count_as_zeros() -> None:
    y = np.repeat([0, 1], 10)
    stored = sp.csr_array((y.astype(float), (np.arange(20), np.zeros(20, dtype=int))), shape=(20, 1))
    assert stored.nnz == 20
    for data in (stored, sp.csr_array(y[:, None].astype(float))):
        assert Discretizer(3, strategy="mdlp", zero_bin=False).fit(data, y).bin_edges_.tolist() == [[0.5]]


def test_a_sharp_threshold_is_found_and_noise_is_not_cut() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3))
    y = np.array(["ill", "well"])[(X[:, 0] < 1.7).astype(int)]
    found = Discretizer(8, strategy="mdlp").fit(X, y)
    assert found.n_outcomes_.tolist() == [2, 1, 1]
    assert X[y == "well", 0].max() < found.bin_edges_[0, 0] < X[y == "ill", 0].min()
    assert found.bin_labels(1) == ["any"]


@pytest.mark.parametrize("n, cut", [(5, True), (6, True), (7, False)])
def test_one_of_six_pays_for_its_cut_and_one_of_seven_does_not(n: int, cut: bool) -> None:
    # of six the cut gains 3.90 bits and 3.83 are asked for, of which log2(5) tell where it is
    found = Discretizer(4, strategy="mdlp").fit(np.arange(n)[:, None], np.arange(n) == n - 1)
    assert found.bin_edges_.tolist() == ([[n - 1.5]] if cut else [[]])


def test_edges_lie_between_neighbours_too_close_for_a_middle() -> None:
    low = np.float64(1.0)
    high = np.nextafter(low, 2)
    X = np.repeat([low, high], 20)[:, None]
    y = np.repeat([0, 1], 20)
    codes = Discretizer(2, strategy="mdlp").fit_transform(X, y)
    np.testing.assert_array_equal(codes[:, 0], y)
    huge = np.repeat([-1.7e308, 1.7e308], 20)[:, None]
    np.testing.assert_array_equal(Discretizer(2, strategy="mdlp").fit_transform(huge, y)[:, 0], y)


def test_labels_are_asked_for() -> None:
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="strategy='mdlp' needs the labels y in fit"):
        Discretizer(strategy="mdlp").fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Discretizer(strategy="mdlp").fit(X, [0, 1])


def test_in_a_recipe_and_from_chunks() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = np.where((X["b"] > -0.4) & (X["b"] < 0.7), "yes", "no")
    X["sex"] = rng.choice(["f", "m"], size=300)
    clf = etana(strategy="mdlp").fit(X, y)
    cuts = Discretizer("auto", strategy="mdlp").fit(X[["a", "b", "c"]], y)
    np.testing.assert_array_equal(clf.coder_.discretizer_.bin_edges_, cuts.bin_edges_)
    assert clf.score(X, y) == 1.0
    chunked = SequentialClassifier(discretizer=Discretizer("auto", strategy="mdlp"))
    chunked.fit_chunks([(X[:170], y[:170]), (X[170:], y[170:])])
    np.testing.assert_array_equal(chunked.coder_.discretizer_.bin_edges_, cuts.bin_edges_)
    np.testing.assert_array_equal(chunked.predict(X), y)
    sampled = SequentialClassifier(discretizer=Discretizer("auto", strategy="mdlp"))
    sampled.fit_chunks([(X[:170], y[:170]), (X[170:], y[170:])], sample_rows=100)
    assert np.mean(sampled.predict(X) == y) > 0.9


def test_labels_of_a_file_and_of_a_table_score_alike():
    """Classes may be texts where a table has booleans or numbers, as in a model of the command line."""
    y = np.arange(40) % 2
    for texts, labels in ((["False", "True"], y == 1), (["0", "1"], y)):
        clf = SequentialClassifier().fit(y[:, None], np.array(texts, dtype=object)[y])
        assert clf.score(y[:, None], labels) == clf.score(y[:, None], labels.astype(str)) == 1.0
