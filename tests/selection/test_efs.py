"""EFS against modified balanced Winnow written out row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass.selection import EFS


@parametrize_with_checks([EFS()])
def test_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([EFS(0.5, shuffle=True)])
def test_estimator_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


def row_by_row(X: Any, y: Any, alpha: float, beta: float, theta: float, margin: float) -> tuple[Any, Any]:
    u, v = [2.0] * (X.shape[1] + 1), [1.0] * (X.shape[1] + 1)
    for row, sign in zip(X, y):
        x = [*row, 1.0]
        x = [value / sum(x) for value in x]
        score = sum(x[j] * (u[j] - v[j]) for j in range(len(x))) - theta
        if sign * score <= margin:
            for j in range(len(x)):
                if x[j] > 0:
                    u[j] *= alpha * (1 + x[j]) if sign > 0 else beta * (1 - x[j])
                    v[j] *= beta * (1 - x[j]) if sign > 0 else alpha * (1 + x[j])
    return np.array(u), np.array(v)


@pytest.mark.parametrize("settings", [(1.5, 0.5, 1.0, 1.0), (1.2, 0.9, 0.5, 0.1)])
@pytest.mark.parametrize("batch_size", [1, 17, 200])
def test_it_is_the_algorithm(settings: tuple[float, float, float, float], batch_size: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((200, 8)) * (rng.random((200, 8)) < 0.4)
    y = X[:, 2] > X[:, 5]
    selector = EFS(4, *settings, batch_size=batch_size).fit(X, y)
    u, v = row_by_row(X, np.where(y, 1, -1), *settings)
    np.testing.assert_allclose(selector.positive_[0], u, rtol=1e-10)
    np.testing.assert_allclose(selector.negative_[0], v, rtol=1e-10)
    np.testing.assert_allclose(selector.weights_, abs(u - v)[:-1], rtol=1e-10)
    sparse = EFS(4, *settings, batch_size=batch_size).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.weights_, selector.weights_, rtol=1e-10)


@pytest.mark.quick
def test_it_finds_a_word_that_decides() -> None:
    X = np.random.default_rng(1).random((1000, 30)) < 0.2
    assert EFS(1).fit(X, X[:, 4]).get_support(indices=True).tolist() == [4]


def test_a_feature_that_never_occurs_has_no_weight() -> None:
    X = np.random.default_rng(1).random((300, 6))
    X[:, 3] = 0
    selector = EFS(5).fit(X, X[:, 0] > 0.5)
    assert selector.weights_[3] == 0
    assert selector.get_support(indices=True).tolist() == [0, 1, 2, 4, 5]


def test_each_class_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    X, y = (rng.random((2000, 12)) < 0.1).astype(float), rng.integers(0, 3, 2000)
    X[np.arange(2000), 2 + 4 * y] = 1
    selector = EFS(3).fit(X, np.array(["x", "y", "z"])[y])
    assert selector.positive_.shape == (3, 13)
    u, _ = row_by_row(X, np.where(y == 1, 1, -1), 1.5, 0.5, 1.0, 1.0)
    within = (abs(u) > 1e-99) & (abs(u) < 1e99)
    np.testing.assert_allclose(selector.positive_[1][within], u[within], rtol=1e-6)


def test_weights_stay_finite_and_above_zero() -> None:
    X = np.ones((5000, 2))
    selector = EFS(1).fit(X, np.arange(5000) % 50 > 0)
    for weights in (selector.positive_, selector.negative_):
        assert (weights > 0).all()
        assert np.isfinite(weights).all()
    far = EFS(1, margin=1e300).fit(X, np.arange(5000) > 0)  # where every row is a mistake, and to the same side
    assert (far.positive_.max(), far.negative_.min()) == pytest.approx((1e100, 1e-100))
    for value in (1e160, 1.7e308):
        X = np.random.default_rng(0).random((100, 5)) * value
        assert np.isfinite(EFS(1).fit(X, np.arange(100) % 2).weights_).all()


def test_negative_values_name_the_column() -> None:
    X = np.ones((4, 3))
    X[2, 1] = -1
    for data in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"Negative values .* column 1"):
            EFS().fit(data, [0, 1, 0, 1])


def test_a_first_batch_that_is_refused_begins_no_stream() -> None:
    selector, X, y = EFS(1), np.eye(4), np.arange(4) % 2
    with pytest.raises(ValueError, match="Negative values"):
        selector.partial_fit(-X[:, :2], y)
    assert not hasattr(selector, "n_seen_")
    np.testing.assert_array_equal(selector.partial_fit(X, y + 2).weights_, EFS(1).partial_fit(X, y).weights_)


@pytest.mark.parametrize(
    "settings", [{"promotion": 0.5}, {"demotion": 2}, {"margin": -1}, {"threshold": float("nan")}], ids=str
)
def test_settings_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        EFS(**settings).fit(np.eye(2), [0, 1])
