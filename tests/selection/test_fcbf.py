"""FCBF against a plain version, one pair at a time."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from seqclass.selection import FCBF


def entropy(values):
    return math.log2(len(values)) - sum(c * math.log2(c) for c in Counter(values).values()) / len(values)


def uncertainty(a, b):
    both = [(x, y) for x, y in zip(a, b) if x >= 0 and y >= 0]
    h_a, h_b = entropy([x for x, _ in both]), entropy([y for _, y in both])
    return 2 * max(h_a + h_b - entropy(both), 0) / (h_a + h_b) if h_a + h_b > 0 else 0.0


def plain_fcbf(X, y, delta):
    relevance = [round(uncertainty(x, y), 11) for x in X.T]
    left = sorted((j for j in range(X.shape[1]) if relevance[j] > delta), key=lambda j: (-relevance[j], j))
    kept = []
    while left:
        best = left.pop(0)
        kept.append(best)
        left = [j for j in left if uncertainty(X[:, best], X[:, j]) < relevance[j] - 1e-10]
    return kept


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_equals_plain(missing):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 60)
        X = rng.integers(0, 4, (60, 30))
        for j in range(30):
            source = y if rng.random() < 0.6 else X[:, rng.integers(30)]
            follow = rng.random(60) < rng.random()
            X[follow, j] = source[follow]
        X[rng.random(X.shape) < missing] = -1
        for delta in (0.0, 0.1):
            kept = plain_fcbf(X, y, delta)
            selector = FCBF(delta).fit(X, y)
            assert selector.ranking_.tolist() == kept
            assert selector.get_support(indices=True).tolist() == sorted(kept)
            floats = np.where(X < 0, np.nan, X)
            assert FCBF(delta).fit(sp.csr_array(floats), y).ranking_.tolist() == kept
        np.testing.assert_allclose(selector.scores_, [uncertainty(x, y) for x in X.T], atol=1e-12)


def test_of_copies_the_first_is_kept():
    y = np.array([0, 0, 1, 1] * 5)
    X = np.stack([np.arange(20) % 3, y, y, 1 - y], axis=1)
    selector = FCBF().fit(X, y)
    assert selector.ranking_.tolist()[0] == 1
    assert not selector.get_support()[2:].any()
    assert selector.explain().by.tolist()[2:] == [1, 1]


def test_nothing_relevant():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert FCBF().fit(X, [0, 1, 1, 0]).get_support().sum() == 0


def test_bad_input():
    with pytest.raises(ValueError, match="delta must be between"):
        FCBF(-1).fit(np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match=r"column 1 of X holds 0\.5"):
        FCBF().fit(np.array([[1, 0.5], [2, 1]]), [0, 1])
