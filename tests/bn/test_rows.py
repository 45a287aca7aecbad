from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from seqclass.bn._messages import distinct_rows


@pytest.mark.parametrize("n, n_columns, size", [(500, 2, 3), (5000, 40, 3), (300, 3, 70), (1, 2, 2), (50, 0, 2)])
def test_every_row_has_its_representative(n, n_columns, size):
    rng = np.random.default_rng(n)
    patterns = rng.integers(-1, size, (20, n_columns)).astype(np.int8)
    X = patterns[rng.integers(0, 20, n)]
    rows, inverse = distinct_rows({j: X[:, j] for j in range(n_columns)}, dict.fromkeys(range(n_columns), size), n)
    assert_array_equal(X[rows][inverse], X)
    assert len(rows) <= min(20, n)


def test_rows_that_differ_are_left_alone():
    column = np.arange(100)
    rows, inverse = distinct_rows({0: column}, {0: 100}, 100)
    assert_array_equal(rows, column)
    assert_array_equal(inverse, column)
