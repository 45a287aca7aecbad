"""Alpha vectors: sets by context, the backup, and the choice of vectors to keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqclass.pomdp import TableProblem
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors, backup, cover


def test_sets_keep_contexts_apart():
    rng = np.random.default_rng(0)
    vectors, everywhere = rng.random((5, 3)), rng.random((2, 3)) + 0.5
    pointer = np.array([0, 2, 2, 5])
    alpha = AlphaSet(vectors, pointer, everywhere)
    assert len(alpha) == 5
    belief = rng.dirichlet(np.ones(3), size=40)
    context = rng.integers(3, size=40)
    value, vector = alpha.best(belief, context)
    for i in range(40):
        own = np.vstack([everywhere, vectors[pointer[context[i]] : pointer[context[i] + 1]]])
        assert value[i] == pytest.approx((own @ belief[i]).min())
        np.testing.assert_array_equal(vector[i], own[(own @ belief[i]).argmin()])


def test_a_context_without_vectors_is_not_known():
    alpha = AlphaSet(np.ones((1, 2)), np.array([0, 0, 1]))
    assert alpha.value(np.array([[0.5, 0.5]] * 2), np.array([0, 1])).tolist() == [np.inf, 1.0]
    assert AlphaSet(np.empty((0, 2))).value(np.array([[0.5, 0.5]])).tolist() == [np.inf]
    assert AlphaSet(np.ones((1, 2))).value(np.empty((0, 2))).size == 0


def test_an_unknown_context_means_stopping():
    problem = TableProblem(
        [0.5, 0.5],
        [np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)],
        [0.01],
        transitions=[[[0, 0, 0]] * 2],
    )
    values = AlphaVectors(problem, [AlphaSet(np.array([[0.1, 0.1]]), np.array([0, 1, 1]))])
    belief = np.array([[0.5, 0.5]] * 2)
    np.testing.assert_allclose(values.value(0, belief, np.array([0, 1])), [0.1, 0.5])
    assert values.size == 1


def test_large_batches_are_cut_without_a_seam():
    rng = np.random.default_rng(0)
    vectors = rng.random((700, 2))
    belief = rng.dirichlet(np.ones(2), size=1000)  # several pieces of the score matrix
    value, vector = AlphaSet(vectors).best(belief)
    np.testing.assert_allclose(value, (belief @ vectors.T).min(axis=1), atol=1e-15)
    np.testing.assert_allclose((vector * belief).sum(axis=1), value, atol=1e-15)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_backup_is_bellmans_equation(seed, n_classes, n_outcomes, contexts):
    rng = np.random.default_rng(seed)
    belief = rng.dirichlet(np.ones(n_classes), size=7)
    likelihood = rng.dirichlet(np.ones(n_outcomes), size=(7, n_classes)).transpose(0, 2, 1)
    price, successors, pointer = 0.3, None, None
    vectors = rng.random((6, n_classes))
    if contexts:
        successors, pointer = rng.integers(2, size=(7, n_outcomes)), np.array([0, 4, 6])
    else:
        likelihood = likelihood[:1]
    following = AlphaSet(vectors, pointer)
    new, values = backup(belief, likelihood, following, price, successors)
    for i in range(7):
        table = likelihood[i if contexts else 0]
        expected = price
        for v in range(n_outcomes):
            valid = vectors if not contexts else (vectors[:4] if successors[i, v] == 0 else vectors[4:])
            expected += (valid @ (table[v] * belief[i])).min()
        assert values[i] == pytest.approx(expected, abs=1e-12)
        assert new[i] @ belief[i] == pytest.approx(expected, abs=1e-12)
        # the vector is one plan's cost: elsewhere it is no better than the best plan
        other = rng.dirichlet(np.ones(n_classes))
        best, _ = backup(
            other[None], table[None], following, price, None if successors is None else successors[i : i + 1]
        )
        assert new[i] @ other >= best[0] @ other - 1e-12


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-3, 0.1]), st.integers(0, 200))
def test_cover_leaves_nobody_above_its_own_value(seed, tolerance, n):
    rng = np.random.default_rng(seed)
    belief = rng.dirichlet(np.ones(3), size=n)
    planes = rng.random((12, 3))
    vectors = planes[(belief @ planes.T).argmin(axis=1)] + 1e-17  # differences the published rule loops on
    values = np.einsum("nc,nc->n", vectors, belief)
    kept = cover(belief, vectors, values, tolerance, rng.permutation(n))
    assert (np.diff(kept) > 0).all()
    if n:
        assert ((belief @ vectors[kept].T).min(axis=1) <= values + tolerance + 1e-11).all()
        # at most a block's worth more than there are distinct vectors
        assert len(np.unique(vectors[kept], axis=0)) <= 12
    else:
        assert kept.size == 0


def test_cover_ends_on_costs_whose_rounding_exceeds_any_tolerance():
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.ones(5), size=500)
    vectors = rng.random((500, 5)) * 1e12
    values = np.einsum("nc,nc->n", vectors, belief)
    kept = cover(belief, vectors, values * (1 - 1e-15), 0.0, rng.permutation(500))
    assert ((belief @ vectors[kept].T).min(axis=1) <= values * (1 + 1e-12)).all()


def test_cover_keeps_few_where_few_will_do():
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.ones(2), size=2000)
    vectors = np.column_stack([1 - belief[:, 0] ** 2, 1 - belief[:, 1] ** 2])  # all different
    values = np.einsum("nc,nc->n", vectors, belief)
    sizes = [len(cover(belief, vectors, values, t, rng.permutation(2000))) for t in (1e-4, 1e-2, 1.0)]
    assert 500 > sizes[0] > sizes[1] > sizes[2] == 1
