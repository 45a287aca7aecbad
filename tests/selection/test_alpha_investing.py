"""Alpha-investing against regressions made one by one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2, norm

from seqclass.selection import OSFS, SAOLA, AlphaInvesting


def plain_alpha_investing(X, y, likelihood=True, wealth=0.5, gain=0.5):
    n, p = X.shape
    target = y.astype(float)[:, None] if len(np.unique(y)) == 2 else np.eye(y.max() + 1)[y]
    if target.shape[1] > 1:
        centred = target - target.mean(axis=0)
        target = np.linalg.svd(centred, full_matrices=False)[0][:, : target.shape[1] - 1]
    kept, p_values = [], []

    def residual(columns):
        model = np.column_stack([np.ones(n), X[:, columns]])
        return ((target - model @ np.linalg.lstsq(model, target, rcond=None)[0]) ** 2).sum()

    for i in range(p):
        alpha = wealth / (2 * (i + 1))
        old, new = residual(kept), residual([*kept, i])
        q = target.shape[1]
        if not likelihood:
            free = n - len(kept) - 2
            p_value = 2 * norm.sf(np.sqrt((old - new) / (new / free)))
        elif q <= 2:
            p_value = np.exp(-(old - new) / (2 * old / (n * q)))
        else:
            p_value = chi2.sf((old - new) / (old / (n * q)), q)
        p_values.append(p_value)
        wealth -= alpha
        if p_value < alpha:
            kept.append(i)
            wealth += gain
    return kept, wealth, p_values


@pytest.mark.slow_cells("2", "5")
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_equals_single_regressions(n_classes):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, n_classes, 80)
        X = rng.normal(size=(80, 40)) + (rng.random(40) < 0.3) * rng.normal(size=(n_classes, 40))[y]
        X[rng.random(X.shape) < 0.4] = 0
        X = X + 3
        for likelihood in (True, False) if n_classes == 2 else (True,):
            kept, wealth, p_values = plain_alpha_investing(X, y, likelihood)
            selector = AlphaInvesting(p_value="likelihood" if likelihood else "normal")
            assert selector.fit(X, y).selected_.tolist() == kept
            assert selector.wealth_ == pytest.approx(wealth)
            np.testing.assert_allclose(selector.p_values_, p_values, rtol=1e-6, atol=1e-12)
            assert len(kept) > 1
        sparse = AlphaInvesting().fit(sp.csr_array(X - 3), y)
        assert sparse.selected_.tolist() == AlphaInvesting().fit(X - 3, y).selected_.tolist()


def test_numbers_of_classes_do_not_matter():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    X = rng.normal(size=(100, 20)) + rng.normal(size=(3, 20))[y] * (np.arange(20) % 4 == 0)
    first = AlphaInvesting().fit(X, y)
    again = AlphaInvesting().fit(X, np.array([5, 1, 9])[y])
    assert first.selected_.tolist() == again.selected_.tolist()
    coded = AlphaInvesting(class_coding="codes")
    assert not np.allclose(coded.fit(X, y).p_values_, coded.fit(X, np.array([5, 1, 9])[y]).p_values_)


def test_what_cannot_add_anything():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    x = y + rng.normal(size=40) * 0.3
    X = np.stack([np.ones(40), x, 2 * x + 1, x], axis=1)
    selector = AlphaInvesting().fit(X, y)
    assert selector.get_support(indices=True).tolist() == [1]
    assert selector.p_values_[[0, 2, 3]].tolist() == [1, 1, 1]
    # once the class is explained in full nothing is left to test
    assert AlphaInvesting().fit(np.stack([y, x], axis=1), y).get_support(indices=True).tolist() == [0]


@pytest.mark.parametrize("name", ["initial_wealth", "wealth_gain"])
def test_bad_settings(name):
    with pytest.raises(ValueError, match=f"{name} must be between"):
        AlphaInvesting(**{name: -1}).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="p_value must be one of"):
        AlphaInvesting(p_value="exact").fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize("p_value", ["likelihood", "normal"])
def test_a_column_far_from_zero_tells_the_same(p_value):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 4)) + np.array([0, 1, 0, 0]) * y[:, None]
    near = AlphaInvesting(p_value=p_value).fit(X, y)
    X[:, 3] = 0.1
    wanted = AlphaInvesting(p_value=p_value).fit(X, y)
    far = AlphaInvesting(p_value=p_value).fit(X + 1e7, y)
    assert 1 in near.selected_
    assert far.selected_.tolist() == wanted.selected_.tolist()
    np.testing.assert_allclose(far.p_values_, wanted.p_values_, rtol=1e-5)
    assert far.p_values_[3] == 1


@pytest.mark.parametrize("scale", [1e-3, 1e5])
@pytest.mark.parametrize("offset", [1e7, -1e9])
def test_what_varies_little_beside_its_mean_counts_in_sparse_columns_too(offset, scale):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 8)) + np.array([0, 1, 0, 1.5, 0, 0, 1, 0]) * y[:, None]
    X[:, 2] = 3.0  # constant
    X[:, 6] = X[:, 3] + 0.01 * X[:, 4]
    X[:, 4:6][rng.random((80, 2)) < 0.5] = 0
    near = X * (X != 0)
    far = np.where(X != 0, X + offset * np.array([1, 1, 1, 1, 0, 0, 1, 0]), 0) * scale
    for selector in (
        AlphaInvesting(),
        SAOLA(measure="fisher_z", class_coding="codes"),
        OSFS(test="fisher_z"),
    ):
        wanted = selector.fit(near, y).selected_.tolist()
        assert 3 in wanted or 6 in wanted
        for kind in (sp.csc_array, sp.csr_matrix):
            assert selector.fit(kind(far), y).selected_.tolist() == wanted
        assert selector.fit(far, y).selected_.tolist() == wanted
