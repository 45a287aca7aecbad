"""FSDS against plain frequent directions, and the bound that the sketch keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass.selection import FSDS
from seqclass.selection.fsds import main_directions


@parametrize_with_checks([FSDS()])
def test_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([FSDS(0.5, shuffle=True)])
def test_estimator_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


def plainly(X: Any, batch: int, size: int, k: int, ridge: float) -> tuple[Any, Any]:
    B = np.empty((X.shape[1], 0))
    for start in range(0, len(X), batch):
        U, s, _ = np.linalg.svd(np.hstack([B, X[start : start + batch].T]), full_matrices=False)
        if len(s) >= size:
            U, s = U[:, :size], np.sqrt(s[:size] ** 2 - s[size - 1] ** 2)
        B = U * s
    ridges = s[:k] / (s[:k] ** 2 + ridge * s[k - 1])
    return B, np.max(abs(U[:, :k] * ridges), axis=1)


@pytest.mark.parametrize("J, batch, size, k", [(20, 50, None, 2), (200, 25, None, 3), (30, 10, 12, 2), (8, 100, 7, 1)])
def test_it_is_the_algorithm(J: int, batch: int, size: int | None, k: int) -> None:
    X = np.random.default_rng(0).normal(size=(300, J)) * np.linspace(1, 3, J)
    selector = FSDS(3, k, size, batch_size=batch).fit(X)
    B, weights = plainly(X, batch, size or max(int(np.sqrt(J)), k + 1), k, 8.0)
    np.testing.assert_allclose(selector.sketch_ @ selector.sketch_.T, B @ B.T, atol=1e-6 * np.linalg.norm(B) ** 2)
    np.testing.assert_allclose(selector.weights_, weights, rtol=1e-6)


@given(st.integers(1, 40), st.integers(2, 12), st.integers(1, 15), st.integers(0, 5))
def test_the_sketch_keeps_its_bound(n: int, J: int, batch: int, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(n, J)) * np.logspace(0, 2, J)
    selector = FSDS(1, 1, 3, batch_size=batch).fit(X)
    assert selector.sketch_.shape[1] <= 3
    difference = np.linalg.eigvalsh(X.T @ X - selector.sketch_ @ selector.sketch_.T)
    total = np.linalg.norm(X) ** 2
    assert difference.min() >= -1e-8 * total  # never more than there is
    assert difference.max() <= total / 3 + 1e-8 * total  # and little less


def test_labels_play_no_part() -> None:
    X = np.random.default_rng(0).normal(size=(300, 10)) * np.arange(1, 11)
    plain = FSDS(3).fit(X)
    assert plain.get_support(indices=True).tolist() == [7, 8, 9]
    labelled = FSDS(3)
    for start in range(0, 300, 100):
        rows = slice(start, start + 100)
        labelled.partial_fit(X[rows], ["same"] * 100, classes=["same", "other"])
    assert np.array_equal(labelled.weights_, plain.weights_)
    assert labelled.n_seen_ == 300


@pytest.mark.parametrize("scale", [0.0, 1e-160, 1e160, 1e307])
def test_extreme_values(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(60, 5)) * scale
    selector = FSDS(2).fit(X)
    assert np.isfinite(selector.weights_).all()
    assert np.isfinite(selector.sketch_).all()
    assert selector.get_support().sum() == 2
    assert np.isfinite(selector.partial_fit(X / (scale or 1)).weights_).all()


def test_missing_values_name_the_column() -> None:
    X = np.ones((4, 3))
    X[1, 2] = np.nan
    with pytest.raises(ValueError, match="column 2 of X contains NaN"):
        FSDS().fit(X)


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (6, 6)])
def test_main_directions_are_singular_vectors(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(0).normal(size=shape)
    vectors, values = main_directions(matrix, 3)
    U, s, _ = np.linalg.svd(matrix)
    np.testing.assert_allclose(values, s[:3])
    np.testing.assert_allclose(abs(np.sum(vectors * U[:, :3], axis=0)), 1)


@pytest.mark.parametrize("settings", [{"n_directions": 0}, {"sketch_size": 2}, {"ridge": -1.0}], ids=str)
def test_settings_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        FSDS(**settings).fit(np.eye(2))


def test_columns_of_opposite_scales_leave_no_nan() -> None:
    X = np.random.default_rng(0).random((205, 6)) * [1e308, 1, 1e-308, 1, 1, 1]
    selector = FSDS(2)
    for start in range(0, 205, 50):
        selector.partial_fit(X[start : start + 50])
        assert np.isfinite(selector.sketch_).all()
        assert np.isfinite(selector.weights_).all()
    assert selector.get_support()[0]
