"""Rows of outcome codes as a matrix of zeros and ones, so that sums over their tables are matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from seqclass._arrays import CHUNK_BYTES, FloatArray, IntArray, chunks
from seqclass.bn._checks import Codes

#: Up to this share of ones a sparse product is faster than a dense one.
_DENSITY = 0.06
#: Up to so many bytes a dense matrix is kept between products.
_KEPT_BYTES = 4 * CHUNK_BYTES


class Design:
    """Which outcome other than 0 each row has of each feature, and where it is missing.

    A feature whose outcome is 0 has no one in its row: 0 is what the others are compared with. There is a column for
    each other outcome that occurs, and one for each feature that is missing somewhere. Sparse codes stay sparse.

    Parameters
    ----------
    codes : ndarray or CSR matrix of int of shape (n, n_features)
        Outcomes, -1 where missing.
    n_outcomes : int
        Most outcomes of a feature.

    Attributes
    ----------
    feature, level : ndarray of int of shape (n_columns,)
        What each column of an outcome stands for.
    missing : ndarray of int of shape (n_missing,)
        Features of the columns that follow.

    Examples
    --------
    >>> design = Design(np.array([[0, 2], [1, -1], [0, 0]]), 3)
    >>> design.feature, design.level, design.missing
    (array([0, 1]), array([1, 2]), array([1]))
    >>> design.times(np.array([[1.0], [10.0], [100.0]])).ravel()
    array([ 10., 101.,   0.])
    """

    def __init__(self, codes: Codes, n_outcomes: int) -> None:
        self.n_rows, self.n_features = codes.shape
        seen = _occurring(codes, n_outcomes)
        self.feature, self.level = np.nonzero(seen[:, 1:-1])
        self.level = self.level + 1
        self.missing = np.flatnonzero(seen[:, -1])
        self.n_columns = len(self.feature) + len(self.missing)
        column = np.full((self.n_features, n_outcomes + 1), -1)
        column[self.feature, self.level] = np.arange(len(self.feature))
        column[self.missing, -1] = np.arange(len(self.feature), self.n_columns)
        n_ones = codes.nnz if sparse.issparse(codes) else np.count_nonzero(codes)
        self._codes: Any = None
        self._kept: Any = None
        if sparse.issparse(codes) or n_ones <= _DENSITY * self.n_rows * self.n_columns:
            self._kept = _ones(sparse.csr_array(codes), column, self.n_columns)
            self._transposed = self._kept.T.tocsr()
        else:
            self._codes = np.asfortranarray(codes)
            if 8 * self.n_rows * self.n_columns <= _KEPT_BYTES:
                self._kept = self._dense(slice(None))

    def parts(self, width: int) -> Iterator[tuple[slice, Any]]:
        """Slices of rows and their ones, a part at a time: ``width`` numbers of each row are computed meanwhile."""
        if self._kept is None:
            for rows in chunks(self.n_rows, 8.0 * (self.n_columns + 3 * width)):
                yield rows, self._dense(rows)
            return
        for rows in chunks(self.n_rows, 8.0 * 3 * width):
            whole = rows.stop - rows.start == self.n_rows
            yield rows, self._kept if whole else self._kept[rows]

    def times(self, table: FloatArray) -> FloatArray:
        """Sum of the rows of a table where there are ones, (n_rows, m); ``table`` has a row a column."""
        result = np.empty((self.n_rows, table.shape[1]))
        for rows, ones in self.parts(table.shape[1]):
            result[rows] = ones @ table
        return result

    def sums(self, weight: FloatArray) -> FloatArray:
        """Sum of the rows' weights (n_rows, m) where there are ones, (n_columns, m)."""
        result = np.zeros((self.n_columns, weight.shape[1]))
        for rows, ones in self.parts(weight.shape[1]):
            result += self.transposed(ones) @ weight[rows]
        return result

    def transposed(self, ones: Any) -> Any:
        """Turn what `parts` gave, by column; of a sparse matrix that takes time and is kept."""
        return self._transposed if ones is self._kept and sparse.issparse(ones) else ones.T

    def _dense(self, rows: slice) -> FloatArray:
        codes = self._codes[rows]
        ones = np.empty((len(codes), self.n_columns))
        for at, (feature, level) in enumerate(zip(self.feature.tolist(), self.level.tolist())):
            np.equal(codes[:, feature], level, out=ones[:, at])
        for at, feature in enumerate(self.missing.tolist(), start=len(self.feature)):
            np.equal(codes[:, feature], -1, out=ones[:, at])
        return ones


def _occurring(codes: Codes, n_outcomes: int) -> Any:
    """Which outcomes other than 0 occur of each feature, (n_features, n_outcomes + 1); the last is missing."""
    seen = np.zeros((codes.shape[1], n_outcomes + 1), dtype=bool)
    if sparse.issparse(codes):
        seen[codes.indices, codes.data] = True
    else:
        for feature, column in enumerate(np.asfortranarray(codes).T):
            seen[feature, np.unique(column)] = True
    seen[:, 0] = False
    return seen


def _ones(codes: Any, column: IntArray, n_columns: int) -> Any:
    """CSR matrix of the ones; a stored zero has none."""
    place = column[codes.indices, codes.data]
    entry = place >= 0
    pointer = np.append(0, np.cumsum(entry))[codes.indptr]
    data = np.ones(int(entry.sum()))
    return sparse.csr_array((data, place[entry], pointer), shape=(codes.shape[0], n_columns))


def distinct(codes: Codes, weight: FloatArray, seed: int = 0) -> tuple[IntArray, FloatArray]:
    """First of each kind of equal rows, in order, and the weight of its kind; kinds of no weight are left out.

    Rows are compared by a random key of 64 bits.

    Parameters
    ----------
    codes : ndarray or CSR matrix of int of shape (n, n_features)
    weight : ndarray of shape (n,)

    Returns
    -------
    rows : ndarray of int
    weight : ndarray

    Examples
    --------
    >>> distinct(np.array([[1, 0], [0, 1], [1, 0], [2, 2]]), np.array([1.0, 1.0, 2.0, 0.0]))
    (array([0, 1]), array([3., 1.]))
    """
    factor = np.random.default_rng(seed).integers(-(2**63), 2**63, codes.shape[1], dtype=np.int64)
    key = np.zeros(codes.shape[0], dtype=np.int64)
    for rows in chunks(codes.shape[0], 8.0 * codes.shape[1]):
        key[rows] = codes[rows].astype(np.int64) @ factor  # products wrap around, as they may
    key[weight == 0] = 0
    some = np.flatnonzero(weight > 0)
    _, first, kind = np.unique(key[some], return_index=True, return_inverse=True)
    order = np.argsort(first)
    total = np.bincount(kind.ravel(), weight[some]).astype(np.float64)
    return some[first[order]], total[order]
