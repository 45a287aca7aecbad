from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from seqclass.bn import NaiveBayes
from seqclass.bn._em import stratified_folds
from seqclass.bn._tables import temper


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
