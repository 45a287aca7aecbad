"""Information that pairs of features share given the class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

from seqclass._arrays import CHUNK_BYTES, FloatArray, IntArray, chunks
from seqclass._information import canonical, label_codes

#: float32 holds integers up to here exactly.
_FLOAT32_EXACT = 2**24
#: Indicator columns a block of features has at most in products of pairs.
_INDICATORS = 1536


def conditional_mutual_information(
    X: Any, y: npt.ArrayLike, *, columns: npt.ArrayLike | None = None, dtype: npt.DTypeLike = np.float64
) -> npt.NDArray[Any]:
    """Mutual information of every two features given the label, in nats.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, n_features)
        Discretised matrix.
    y : array-like of shape (n,)
        Labels of any kind.
    columns : array-like of int, optional
        Features to take, F of them; all if not given.
    dtype : dtype, default=float64
        Type of the result; float32 halves its memory.

    Returns
    -------
    ndarray of shape (F, F)
        I(X_i; X_j | y) over the rows in which both are present, 0 where there are none; symmetric, with the
        conditional entropy H(X_i | y) on the diagonal.

    Raises
    ------
    ValueError
        If labels are missing.

    Examples
    --------
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    >>> conditional_mutual_information(X, [0, 0, 1, 1]).round(4)
    array([[0.6931, 0.6931],
           [0.6931, 0.6931]])
    """
    codes, n_classes = label_codes(y)
    if codes.shape != (X.shape[0],):
        raise ValueError(f"y must have one label for each of the {X.shape[0]} rows of X, got {len(codes)}.")
    pick = np.arange(X.shape[1]) if columns is None else np.asarray(columns, dtype=np.intp)
    X = canonical(X).tocsc()[:, pick] if sp.issparse(X) else np.asarray(X)[:, pick]
    values = X.data if sp.issparse(X) else X
    missing = bool(values.size) and bool(values.min() < 0)
    sizes = _column_sizes(X)
    # in order of falling size the columns that have an outcome v are the first ones of any block
    order = np.argsort(-sizes, kind="stable")
    sizes = sizes[order]
    groups = [X[codes == c][:, order] for c in range(n_classes)]
    result = np.empty((len(pick), len(pick)), dtype=dtype)
    blocks = list(_feature_blocks(sizes))
    for i, left in enumerate(blocks):
        for right in blocks[i:]:
            parts = [_pair_information(rows, left, right, sizes, missing) for rows in groups]
            present = np.maximum(sum(n for _, n in parts), 1)
            value = np.maximum(sum(information for information, _ in parts) / present, 0)
            if left == right:
                # rounding differs between the two orders of summation
                value = (value + value.T) / 2
            result[np.ix_(order[left], order[right])] = value
            result[np.ix_(order[right], order[left])] = value.T
    return result


def _column_sizes(X: Any) -> IntArray:
    if not sp.issparse(X):
        return np.asarray(X.max(axis=0, initial=0), dtype=np.int64) + 1
    largest = np.zeros(X.shape[1], dtype=np.int64)
    np.maximum.at(largest, np.repeat(np.arange(X.shape[1]), np.diff(X.indptr)), X.data)
    return largest + 1


def _feature_blocks(sizes: IntArray) -> Iterator[slice]:
    start = 0
    while start < len(sizes):
        stop = min(len(sizes), start + max(1, _INDICATORS // int(sizes[start])))
        yield slice(start, stop)
        start = stop


def _indicators(X: Any, widths: list[int], missing: bool) -> Any:
    """Columns that say which cells are missing, which are 1, 2, ...: outcome v + 1 of the first widths[v]."""
    if sp.issparse(X):
        parts = []
        if missing:
            parts.append(X.copy())
            parts[0].data = (X.data < 0).astype(np.float64)
        for v, width in enumerate(widths):
            part = X[:, :width]
            part.data = (part.data == v + 1).astype(np.float64)
            parts.append(part)
        stacked = sp.hstack(parts, format="csc") if parts else sp.csc_array((X.shape[0], 0))
        stacked.eliminate_zeros()
        return stacked
    result = np.empty((len(X), missing * X.shape[1] + sum(widths)), dtype=np.float32)
    at = missing * X.shape[1]
    if missing:
        result[:, :at] = X < 0
    for v, width in enumerate(widths):
        result[:, at : at + width] = X[:, :width] == v + 1
        at += width
    return result


def _joint_counts(
    X: Any, left: slice, right: slice, widths: tuple[list[int], list[int]], missing: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Products of the two blocks' indicators over the rows, and the sums of each."""
    if sp.issparse(X):
        a, b = (_indicators(X[:, block], w, missing) for block, w in zip((left, right), widths))
        return (a.T @ b).toarray(), np.asarray(a.sum(axis=0)).ravel(), np.asarray(b.sum(axis=0)).ravel()
    n_a, n_b = (missing * (block.stop - block.start) + sum(w) for block, w in zip((left, right), widths))
    joint = np.zeros((n_a, n_b), dtype=np.float32 if len(X) < _FLOAT32_EXACT else np.float64)
    sum_a, sum_b = np.zeros(n_a), np.zeros(n_b)
    for rows in chunks(len(X), 4 * (n_a + n_b), budget=CHUNK_BYTES // 2):
        a = _indicators(X[rows, left], widths[0], missing)
        b = a if left == right else _indicators(X[rows, right], widths[1], missing)
        joint += a.T @ b
        sum_a += a.sum(axis=0)
        sum_b += b.sum(axis=0)
    return joint, sum_a, sum_b


def _pair_information(
    X: Any, left: slice, right: slice, sizes: IntArray, missing: bool
) -> tuple[FloatArray, FloatArray]:
    """Information of each pair within a class times the rows with both present, and their number."""
    n_l, n_r = left.stop - left.start, right.stop - right.start
    k_l, k_r = ([int((sizes[s] > v).sum()) for v in range(1, int(sizes[s.start]))] for s in (left, right))
    joint, sum_l, sum_r = _joint_counts(X, left, right, (k_l, k_r), missing)
    m_l, m_r = missing * n_l, missing * n_r
    n = np.full((n_l, n_r), float(X.shape[0]))
    if missing:
        n += joint[:m_l, :m_r] - sum_l[:m_l, None] - sum_r[:m_r]
    table: FloatArray = xlogy(np.arange(X.shape[0] + 1.0), np.arange(X.shape[0] + 1.0))

    def f(count: npt.NDArray[Any]) -> FloatArray:
        return np.take(table, count.astype(np.intp))

    # outcome 0 has no indicator: its counts are what the others leave of the marginals
    total = f(n)
    zero_left, zero_right = n.copy(), n.copy()
    columns = _marginals(k_r, sum_r[m_r:, None] - joint[:m_l, m_r:].T if missing else sum_r[:, None])
    rest = [np.repeat(c.T, n_l, axis=0) if len(c.T) == 1 else c.T.copy() for c in columns]
    at_l = m_l
    for row in _marginals(k_l, sum_l[m_l:, None] - joint[m_l:, :m_r] if missing else sum_l[:, None]):
        zero_left[: len(row)] -= row
        total[: len(row)] -= f(row)
        left_over = np.repeat(row, n_r, axis=1) if row.shape[1] == 1 else row.copy()
        at_r = m_r
        for below in rest:
            width = below.shape[1]
            cell = joint[at_l : at_l + len(row), at_r : at_r + width]
            total[: len(row), :width] += f(cell)
            left_over[:, :width] -= cell
            below[: len(row)] -= cell
            at_r += width
        total[: len(row)] += f(left_over)
        at_l += len(row)
    total -= f(zero_left)
    for column, below in zip(columns, rest):
        width = below.shape[1]
        zero_right[:, :width] -= column.T
        total[:, :width] += f(below) - f(column.T)
        zero_left[:, :width] -= below
    return total - f(zero_right) + f(zero_left), n


def _marginals(widths: list[int], stacked: FloatArray) -> list[FloatArray]:
    """Cut stacked rows into those of outcome 1, 2, ..."""
    return np.split(stacked, np.cumsum(widths)[:-1]) if widths else []
