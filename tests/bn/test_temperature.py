from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from seqclass.bn import NaiveBayes


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


def test_tempered_tables_are_distributions_that_flatten():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [50, 80, 20])
    X = np.column_stack([(rng.random(150) * (4 - y) ** rng.random()).astype(int) % 4 for _ in range(10)])
    plain = NaiveBayes().fit(X, y, n_outcomes=4)
    table, prior = plain.likelihood_table(), plain.class_prior_
    marginal = (table @ prior)[:, :, None]
    for T in (1.0, 1.5, 4.0):
        tempered = NaiveBayes(temperature=T).fit(X, y, n_outcomes=4).likelihood_table()
        assert_allclose(tempered.sum(axis=1), 1, rtol=1e-12)
        weights = marginal * (table / marginal) ** (1 / T)
        assert_allclose(tempered, weights / weights.sum(axis=1, keepdims=True), rtol=1e-12)
    flat = NaiveBayes(temperature=1e12).fit(X, y, n_outcomes=4).likelihood_table()
    assert_allclose(flat, np.broadcast_to(marginal, table.shape), rtol=1e-9)


def test_tempering_keeps_zeros_and_classes_of_no_prior():
    X, y = np.array([[0], [1], [1], [1], [2], [2]]), np.array([0, 0, 1, 1, 2, 2])
    table = NaiveBayes(alpha=0.0).fit(X, y).likelihood_table()
    prior = np.array([0.5, 0.5, 0.0])
    tempered = NaiveBayes(alpha=0.0, temperature=2.0, prior=prior).fit(X, y).likelihood_table()
    assert (table == 0).sum() == 5
    assert_array_equal(tempered == 0, table == 0)
    assert_allclose(tempered.sum(axis=1), 1)


def test_one_is_off_and_large_gives_the_prior():
    X, y = copied(1)
    plain = NaiveBayes().fit(X, y)
    assert plain.temperature_ == 1
    assert_array_equal(NaiveBayes(temperature=1).fit(X, y).posterior(X), plain.posterior(X))
    flat = NaiveBayes(temperature=1e9).fit(X, y)
    assert_allclose(flat.posterior(X), np.tile(plain.class_prior_, (len(y), 1)), atol=1e-5)
