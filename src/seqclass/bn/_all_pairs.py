"""Counts of all pairs of outcomes, which add up over chunks of rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.bn._checks import Codes
from seqclass.bn._cpds import dense_columns

#: Bytes of the counts of all pairs of outcomes.
_MAX_PAIRS = 2**30


def check_pairs(sizes: IntArray, n_classes: int) -> None:
    """Refuse features with so many outcomes that counts of all pairs do not fit.

    Raises
    ------
    ValueError
        If so.

    Examples
    --------
    >>> check_pairs(np.array([4, 4]), 2)
    """
    n_bytes = 8.0 * int(sizes.sum()) ** 2 * n_classes
    if n_bytes > _MAX_PAIRS:
        raise ValueError(
            f"the counts of all pairs of {len(sizes)} features would take {n_bytes / 2**30:.1f} GiB: keep fewer "
            "features, for example with InformationFilter, or choose structure='tree' with all rows in memory."
        )


def sum_pairs(
    X: Codes, codes: IntArray, sizes: IntArray, n_classes: int, weight: FloatArray | None = None
) -> FloatArray:
    """Joint counts of all outcomes of all features within each class, (n_classes, S, S).

    Examples
    --------
    >>> sum_pairs(np.array([[0, 1], [0, 0]]), np.array([0, 0]), np.array([1, 2]), 1)[0]
    array([[2., 1., 1.],
           [1., 1., 0.],
           [1., 0., 1.]])
    """
    S = int(sizes.sum())
    result = np.zeros((n_classes, S, S))
    outcome = np.arange(S) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    feature = np.repeat(np.arange(len(sizes)), sizes)
    by_row = X.tocsr() if sparse.issparse(X) else X
    # without weights whole numbers, which single precision holds exactly in a chunk of rows
    dtype = np.float32 if weight is None else np.float64
    for rows in chunks(len(codes), 24.0 * S):
        block = dense_columns(by_row[rows], np.arange(len(sizes)))
        indicator = (block[:, feature] == outcome).astype(dtype)
        for c in range(n_classes):
            own = indicator[codes[rows] == c]
            w = 1 if weight is None else weight[rows][codes[rows] == c, None]
            result[c] += own.T @ (own * w)
    return result
