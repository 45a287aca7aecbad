"""Likelihood tables P(outcome | class): smoothing, tempering, and sums of their logarithms over features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks

#: Entries of a joint table of several features: small enough to stay in cache.
_JOINT_LEVELS = 4096
#: Rows handled at a time: what they need stays in cache.
_ROWS = 16384


def smooth(counts: FloatArray, n_outcomes: IntArray, alpha: float) -> FloatArray:
    """Turn counts into P(outcome | class) = (count + alpha) / (S + alpha V).

    Parameters
    ----------
    counts : ndarray of shape (n_features, V_max, n_classes)
        Weight of the rows with that outcome in that class; S is their sum over outcomes.
    n_outcomes : ndarray of shape (n_features,)
        V of each feature.
    alpha : float
        Pseudo-count, at least 0. Where it is 0 and nothing was counted, the outcomes are equally likely.

    Returns
    -------
    ndarray of shape (n_features, V_max, n_classes)
        Zero beyond V.

    Examples
    --------
    >>> smooth(np.array([[[2.0], [1.0], [0.0]]]), np.array([2]), 1.0).ravel().tolist()
    [0.6, 0.4, 0.0]
    """
    real = (np.arange(counts.shape[1]) < n_outcomes[:, None])[:, :, None]
    table = counts + alpha * real
    total = table.sum(axis=1, keepdims=True)
    if total.min(initial=1.0) > 0:
        table /= total
        return table
    uniform = np.broadcast_to(real / n_outcomes[:, None, None], table.shape)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), uniform)


def temper(table: FloatArray, prior: FloatArray, temperature: float | FloatArray) -> FloatArray:
    """Flatten P(v | c) towards the marginal P(v): P_T(v | c) is proportional to P(v) (P(v | c) / P(v))^(1/T).

    Parameters
    ----------
    table : ndarray of shape (n_features, V_max, n_classes)
    prior : ndarray of shape (n_classes,)
        Weights of the classes in the marginal.
    temperature : float or ndarray of shape (n_features,)
        T, one for all or one each: 1 leaves the table as it is, infinity makes every class's row the marginal.

    Returns
    -------
    ndarray of shape (n_features, V_max, n_classes)

    Examples
    --------
    >>> table = np.array([[[0.9, 0.1], [0.1, 0.9]]])
    >>> temper(table, np.array([0.5, 0.5]), 2.0).round(3)
    array([[[0.75, 0.25],
            [0.25, 0.75]]])
    """
    exponent = 1 / np.asarray(temperature, dtype=np.float64)
    if (exponent == 1.0).all():
        return table
    marginal = (table @ prior)[:, :, None]
    ratio = np.divide(table, marginal, out=np.zeros_like(table), where=marginal > 0)
    flat = marginal * ratio ** (exponent if exponent.ndim == 0 else exponent[:, None, None])
    total = flat.sum(axis=1, keepdims=True)
    # a class of zero prior can have all of its outcomes outside the marginal: it stays as it is
    tempered: FloatArray = np.divide(flat, total, out=table.copy(), where=total > 0)
    return tempered


def temper_family(table: FloatArray, prior: FloatArray, temperature: float) -> FloatArray:
    """Flatten P(v | parents, c) towards P(v | parents), the mean over the classes, for all outcomes of the parents.

    Examples
    --------
    >>> temper_family(np.array([[[0.9, 0.1]], [[0.1, 0.9]]]), np.array([0.5, 0.5]), 2.0).round(2)[:, 0]
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    by_parents = table.reshape(len(table), -1, table.shape[-1]).transpose(1, 0, 2)
    return np.ascontiguousarray(temper(by_parents, prior, temperature).transpose(1, 0, 2)).reshape(table.shape)


def log_table(table: FloatArray) -> FloatArray:
    """Logarithm of a likelihood table; -inf where it is 0.

    Examples
    --------
    >>> log_table(np.array([1.0, 0.0]))
    array([  0., -inf])
    """
    with np.errstate(divide="ignore"):
        return np.log(table)


def sum_dense(codes: Any, table: FloatArray, out: FloatArray) -> None:
    """Add the logarithms of the features' likelihoods to ``out``, a missing outcome adding nothing.

    Several features are read as one digit of a joint code, so that a row costs a few look-ups instead of one
    a feature; the codes come from a product in float32, which is exact for integers below 2^24.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features)
        Outcomes, -1 where nothing is known.
    table : ndarray of shape (n_features, V_max, n_classes)
        Log-likelihoods.
    out : ndarray of shape (n_classes, n_rows)
        Changed in place.

    Examples
    --------
    >>> out = np.zeros((1, 2))
    >>> sum_dense(np.array([[0, 1], [-1, 1]]), np.array([[[1.0], [2.0]], [[10.0], [20.0]]]), out)
    >>> out
    array([[21., 20.]])
    """
    n_rows, n_features = codes.shape
    n_levels, n_classes = table.shape[1] + 1, table.shape[2]
    width = 1
    while n_levels ** (width + 1) <= min(_JOINT_LEVELS, max(n_rows, 1)):
        width += 1
    if width == 1:
        _sum_few_rows(codes, table, out)
        return
    block = width * max(1, 48 // width)
    for start in range(0, n_features, block):
        stop = min(start + block, n_features)
        joints = [_joint(table[at : min(at + width, stop)]) for at in range(start, stop, width)]
        weights = np.zeros((stop - start, len(joints)), dtype=np.float32)
        for at in range(stop - start):
            last = min((at // width + 1) * width, stop - start) - 1
            weights[at, at // width] = n_levels ** (last - at)
        for first in range(0, n_rows, _ROWS):
            rows = slice(first, min(first + _ROWS, n_rows))
            digits = codes[rows, start:stop].astype(np.float32)
            digits += 1.0
            keys = (digits @ weights).T.astype(np.intp)
            for key, joint in zip(keys, joints):
                for c in range(n_classes):
                    out[c, rows] += joint[c].take(key)


def _joint(table: FloatArray) -> FloatArray:
    """Sums over all combinations of outcomes, shape (n_classes, (V + 1)^width); digit 0 is missing."""
    digits = np.concatenate([np.zeros_like(table[:, :1]), table], axis=1).transpose(0, 2, 1)
    joint = digits[0]
    for digit in digits[1:]:
        joint = (joint[:, :, None] + digit[:, None, :]).reshape(len(joint), -1)
    return np.ascontiguousarray(joint)


def _sum_few_rows(codes: Any, table: FloatArray, out: FloatArray) -> None:
    n_rows, n_features = codes.shape
    n_classes = table.shape[2]
    for cols in chunks(n_features, 8.0 * n_classes * max(n_rows, table.shape[1] + 1) + 8 * n_rows):
        padded = np.concatenate([table[cols], np.zeros_like(table[cols, :1])], axis=1)
        # -1 picks the last level, which is the padding
        for rows in chunks(n_rows, 8.0 * (n_classes + 1) * (cols.stop - cols.start)):
            picked = padded[np.arange(len(padded)), codes[rows, cols]]
            out[:, rows] += picked.sum(axis=1).T


def sum_sparse(codes: Any, table_of: Callable[[slice], FloatArray], out: FloatArray, n_outcomes: int) -> None:
    """Do what :func:`sum_dense` does for CSR codes, up to a constant per row that all classes share.

    It is the sum for a row of zeros, plus a difference per stored entry.

    Parameters
    ----------
    codes : CSR matrix of shape (n_rows, n_features)
    table_of : callable
        Log-likelihoods of a slice of features, shape (slice, V_max, n_classes).
    out : ndarray of shape (n_classes, n_rows)
        Changed in place.
    n_outcomes : int
        V_max.

    Examples
    --------
    >>> from scipy import sparse
    >>> out, table = np.zeros((2, 2)), np.array([[[1.0, 0.0], [2.0, 0.0]], [[10.0, 0.0], [20.0, 0.0]]])
    >>> sum_sparse(sparse.csr_array(np.array([[0, 1], [-1, 1]])), lambda s: table[s], out, 2)
    >>> out[0] - out[1]
    array([21., 20.])
    """
    n_classes = out.shape[0]
    bytes_per_feature = 8.0 * n_classes * (n_outcomes + 1) * 6
    slices = list(chunks(codes.shape[1], bytes_per_feature))
    by_column = codes if len(slices) == 1 else codes.tocsc()
    for cols in slices:
        part = by_column if len(slices) == 1 else by_column[:, cols].tocsr()
        table = table_of(cols)
        # infinities would make inf - inf below: they are counted beside the finite part
        impossible = np.isneginf(table)
        # only differences between classes matter, and a million large equal terms would cost digits
        largest = table.max(axis=2, keepdims=True)
        largest[np.isneginf(largest)] = 0.0
        out += _stored_sum(part, np.where(impossible, 0.0, table - largest))
        if impossible.any():
            out[_stored_sum(part, impossible.astype(np.float64)) > 0.5] = -np.inf


def _stored_sum(codes: Any, table: FloatArray) -> FloatArray:
    zero = table[:, 0]
    levels = np.concatenate([table, np.zeros_like(table[:, :1])], axis=1) - zero[:, None]
    n_levels = levels.shape[1]
    # -1 picks the last level
    column = codes.indices.astype(np.int64) * n_levels + codes.data.astype(np.int64) % n_levels
    picker = type(codes)((np.ones(len(column)), column, codes.indptr), shape=(codes.shape[0], n_levels * len(levels)))
    return np.asarray((picker @ levels.reshape(-1, table.shape[2]) + zero.sum(axis=0)).T)
