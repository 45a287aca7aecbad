"""Rows spread over folds, class by class."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import IntArray


def stratified_folds(codes: IntArray, n_classes: int, cv: int, rng: np.random.Generator) -> IntArray:
    """Spread the rows of each class over the folds; the row of a class that has only one is in none (-1).

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 0, 0, 1]), 2, 2, np.random.default_rng(0))[4]
    np.int64(-1)
    """
    folds = np.full(len(codes), -1)
    offset = 0
    for c in range(n_classes):
        rows = rng.permutation(np.flatnonzero(codes == c))
        if len(rows) > 1:
            folds[rows] = (offset + np.arange(len(rows))) % cv
            offset += len(rows)
    return folds
