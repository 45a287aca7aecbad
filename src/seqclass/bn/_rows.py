"""Rows that agree on what matters are computed once, where that pays."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import IntArray

#: Outcome codes of features: feature -> column of shape (n_rows,), -1 where unknown.
Columns = dict[int, IntArray]


def distinct_rows(columns: Columns, sizes: dict[int, int], n: int) -> tuple[IntArray, IntArray]:
    """Find one row of each distinct combination, and the combination of each row.

    Where more than half of the rows are distinct, all are returned as they are.

    Parameters
    ----------
    columns : dict of int to ndarray of shape (n,)
        Codes -1..V-1 of some features.
    sizes : dict of int to int
        V of each of them.
    n : int
        Number of rows.

    Returns
    -------
    rows : ndarray of shape (n_distinct,)
        A row of each combination, or all.
    inverse : ndarray of shape (n,)
        Position among ``rows`` of the combination of each row.

    Examples
    --------
    >>> rows, inverse = distinct_rows({3: np.array([1, -1, 1, 1])}, {3: 2}, 4)
    >>> len(rows), inverse.tolist()
    (2, [1, 0, 1, 1])
    """
    key: IntArray = np.zeros(n, dtype=np.intp)
    size = 1
    for feature, column in columns.items():
        width = sizes[feature] + 1
        if size > 2**62 // width:
            key, size = _number(key, size)
        key = key * width  # then in place: codes may be of a type that ends at V - 1
        key += column
        key += 1
        size *= width
    inverse, count = _number(key, size)
    if 2 * count > n:
        return np.arange(n), np.arange(n)
    rows = np.empty(count, dtype=np.intp)
    rows[inverse] = np.arange(n)
    return rows, inverse


def _number(key: IntArray, size: int) -> tuple[IntArray, int]:
    """Number the keys that occur 0, 1, ... in their order."""
    if size > 4 * len(key) + 1024:
        distinct, inverse = np.unique(key, return_inverse=True)
        return inverse.astype(np.intp, copy=False), len(distinct)
    present = np.zeros(size, dtype=bool)
    present[key] = True
    number = np.cumsum(present) - 1
    return number[key], int(number[-1]) + 1
