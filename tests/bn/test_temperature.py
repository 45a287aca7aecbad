from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import log_loss

from seqclass.bn import NaiveBayes
from seqclass.bn._tables import temper
from seqclass.bn._temperature import PREFIXES, stratified_folds
from seqclass.bn.ordering import information_order


def copied(seed, n=600, copies=12, n_classes=2):
    """Three noisy looks at the class, each repeated with a little noise of its own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    looks = np.where(rng.random((n, 3)) < 0.4, rng.integers(0, 3, (n, 3)), y[:, None])
    X = np.repeat(looks, copies, axis=1)
    X = np.where(rng.random(X.shape) < 0.05, rng.integers(0, 3, X.shape), X)
    return X.astype(np.int8), y


def independent(seed, n=3000):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.where(rng.random((n, 8)) < 0.6, rng.integers(0, 3, (n, 8)), y[:, None]).astype(np.int8), y


def test_temper_is_a_distribution_that_flattens():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(4), (10, 3)).transpose(0, 2, 1)
    prior = rng.dirichlet(np.ones(3))
    marginal = (table @ prior)[:, :, None]
    for T in (1.0, 1.5, 4.0):
        tempered = temper(table, prior, T)
        assert_allclose(tempered.sum(axis=1), 1, rtol=1e-12)
        weights = marginal * (table / marginal) ** (1 / T)
        assert_allclose(tempered, weights / weights.sum(axis=1, keepdims=True), rtol=1e-12)
    assert_array_equal(temper(table, prior, 1.0), table)
    assert_allclose(temper(table, prior, 1e12), np.broadcast_to(marginal, table.shape), rtol=1e-9)


def test_temper_keeps_zeros_and_classes_of_no_prior():
    table = np.array([[[0.5, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    tempered = temper(table, np.array([0.5, 0.5, 0.0]), 2.0)
    assert_array_equal(tempered == 0, table == 0)
    assert_allclose(tempered.sum(axis=1), 1)


def test_one_is_off_and_large_gives_the_prior():
    X, y = copied(1)
    plain = NaiveBayes().fit(X, y)
    assert plain.temperature_ == 1
    assert_array_equal(NaiveBayes(temperature=1).fit(X, y).posterior(X), plain.posterior(X))
    flat = NaiveBayes(temperature=1e9).fit(X, y)
    assert_allclose(flat.posterior(X), np.tile(plain.class_prior_, (len(y), 1)), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fitted_on_copies_is_above_one_and_predicts_better(n_classes):
    X, y = copied(2, n_classes=n_classes)
    new_X, new_y = copied(3, n_classes=n_classes)
    plain = NaiveBayes().fit(X, y)
    fitted = NaiveBayes(temperature="fit").fit(X, y)
    assert fitted.temperature_ > 1.5
    order = information_order(plain.likelihood_table(), plain.class_prior_)
    losses = []
    for model in (plain, fitted):
        loss = 0.0
        for k in PREFIXES:
            known = np.full_like(new_X, -1)
            known[:, order[:k]] = new_X[:, order[:k]]
            loss += log_loss(new_y, model.posterior(known))
        losses.append(loss)
    assert losses[1] < 0.95 * losses[0]


def test_fitted_on_independent_features_is_about_one():
    assert NaiveBayes(temperature="fit").fit(*independent(4)).temperature_ < 1.15


def test_sparse_gives_the_same():
    X, y = copied(5, n=200)
    dense = NaiveBayes(temperature="fit").fit(X, y)
    assert dense.temperature_ > 1
    assert NaiveBayes(temperature="fit").fit(sparse.csr_array(X), y).temperature_ == dense.temperature_


def test_weightless_rows_do_not_count():
    X, y = copied(6, n=300)
    weight = np.where(np.arange(300) < 200, 1.0, 0.0)
    rubbish = np.where(np.arange(300)[:, None] < 200, X, 2)
    one = NaiveBayes(temperature="fit").fit(X, y, weight)
    other = NaiveBayes(temperature="fit").fit(rubbish, y, weight)
    assert one.temperature_ == other.temperature_


def test_random_state():
    X, y = copied(7, n=80)
    fits = [NaiveBayes(temperature="fit", random_state=seed).fit(X, y).temperature_ for seed in (0, 0, 1, 2)]
    assert fits[0] == fits[1]
    assert len(set(fits)) > 1


@pytest.mark.parametrize("alpha", [0, 1])
def test_classes_that_are_too_small_to_split(alpha):
    X, y = copied(8, n=60)
    y[0] = 7
    assert 1 <= NaiveBayes(temperature="fit", alpha=alpha, cv=10).fit(X, y).temperature_ <= 32
    alone = NaiveBayes(temperature="fit", alpha=alpha).fit([[0, 1], [1, 0]], ["a", "b"])
    assert alone.temperature_ == 1
    assert NaiveBayes(temperature="fit").fit(X, np.zeros(60, dtype=int)).temperature_ == 1


def test_missing_cells_and_a_constant_feature():
    X, y = copied(9, n=200)
    X[::3, ::2] = -1
    X[:, 4] = 0
    X[:, 5] = -1
    assert NaiveBayes(temperature="fit").fit(X, y).temperature_ > 1


def test_folds_are_stratified_and_leave_each_class_in_training():
    codes = np.repeat([0, 1, 2, 3], [40, 11, 2, 1])
    folds = stratified_folds(codes, 4, 5, np.random.default_rng(0))
    assert folds[-1] == -1
    sizes = np.bincount(folds[:-1], minlength=5)
    assert sizes.max() - sizes.min() <= 1
    for c in range(3):
        per_fold = np.bincount(folds[codes == c], minlength=5)
        assert per_fold.max() - per_fold.min() <= 1
        assert per_fold.max() < (codes == c).sum()
