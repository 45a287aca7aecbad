"""Information that pairs of columns share, whichever way their joint counts are made."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from seqclass.selection._dependence import indicators, joint_information


@pytest.mark.parametrize("n_outcomes", [3, 30])  # by products of indicators, and counted row by row
@pytest.mark.parametrize("missing", [False, True])
def test_pairs_of_several_columns(n_outcomes: int, missing: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_outcomes, size=(400, 4))
    X[:, 1] = np.where(rng.random(400) < 0.7, X[:, 0], X[:, 1])
    X[-1] = n_outcomes - 1
    if missing:
        X[rng.random(X.shape) < 0.1] = -1
    entropy = np.array([mutual_info_score(column, column) for column in X.T])
    (group,) = indicators(X, np.full(4, n_outcomes), entropy)
    found = joint_information(group, group, normalised=False)
    for i, one in enumerate(X.T):
        for j, other in enumerate(X.T):
            both = (one >= 0) & (other >= 0)
            assert found[i, j] == pytest.approx(mutual_info_score(one[both], other[both]), abs=1e-9)
