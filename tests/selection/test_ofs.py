"""OFS against the algorithm written out row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass.selection import OFS
from seqclass.selection.ofs import norm


@pytest.mark.slow_cells("OFS()-check_estimator_sparse_array", "OFS()-check_estimator_sparse_matrix")
@parametrize_with_checks([OFS()])
def test_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([OFS(0.5, shuffle=True)])
def test_estimator_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


def row_by_row(X: Any, y: Any, number: int, eta: float, lam: float) -> Any:
    w = np.zeros(X.shape[1])
    for x, sign in zip(X, y):
        wrong = sign * (w @ x) <= 1
        w = (1 - lam * eta) * w
        if wrong:
            w = w + eta * sign * x
            w = w * min(1.0, 1 / (np.sqrt(lam) * np.linalg.norm(w)))
            w[np.argsort(-abs(w), kind="stable")[number:]] = 0
    return w


@pytest.mark.covering(1)
@pytest.mark.parametrize("eta, lam, margin_of_data", [(0.2, 0.01, 1.0), (0.5, 0.3, 5.0), (1.5, 0.01, 20.0)])
@pytest.mark.parametrize("batch_size", [1, 17, 400])
def test_it_is_the_algorithm(eta: float, lam: float, margin_of_data: float, batch_size: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12)) * margin_of_data
    y = X[:, 2] - X[:, 9] > 0
    selector = OFS(4, eta, lam, batch_size=batch_size).fit(X, y)
    expected = row_by_row(X, np.where(y, 1, -1), 4, eta, lam)
    np.testing.assert_allclose(selector.coef_[0], expected, atol=1e-12)
    assert np.array_equal(selector.weights_, abs(selector.coef_[0]))
    sparse = OFS(4, eta, lam, batch_size=batch_size).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, selector.coef_, atol=1e-12)


@pytest.mark.quick
def test_it_finds_what_decides() -> None:
    X = np.random.default_rng(1).normal(size=(2000, 30))
    assert OFS(2).fit(X, X[:, 4] + X[:, 20] > 0).get_support(indices=True).tolist() == [4, 20]


def test_each_class_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((3000, 12)), rng.integers(0, 3, 3000)
    X[np.arange(3000), 2 + 4 * y] += 2
    selector = OFS(3).fit(X, np.array(["x", "y", "z"])[y])
    assert selector.get_support(indices=True).tolist() == [2, 6, 10]
    for c in range(3):
        expected = row_by_row(X, np.where(y == c, 1, -1), 3, 0.2, 0.01)
        np.testing.assert_allclose(selector.coef_[c], expected, atol=1e-12)


@pytest.mark.parametrize("size", [1e160, 1.7e308])
def test_an_extreme_batch_does_no_lasting_harm(size: float) -> None:
    X = np.random.default_rng(1).normal(size=(3000, 10))
    y = X[:, 4] + X[:, 7] > 0
    X[500:600] = np.sign(X[500:600]) * size
    selector = OFS(2).fit(X, y)
    assert np.isfinite(selector.weights_).all()
    assert selector.get_support(indices=True).tolist() == [4, 7]


def test_the_norm_does_not_overflow() -> None:
    assert norm(np.array([3e307, 4e307])) == pytest.approx(5e307)
    assert norm(np.zeros(2)) > 0


@pytest.mark.parametrize("settings, word", [({"learning_rate": 0}, "learning_rate"), ({"penalty": -1}, "penalty")])
def test_settings_are_checked(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        OFS(**settings).fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="wipes out"):
        OFS(learning_rate=10, penalty=0.1).fit(np.eye(2), [0, 1])
