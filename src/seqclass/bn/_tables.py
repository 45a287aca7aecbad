"""Likelihood tables P(outcome | class): smoothing, tempering, and sums of their logarithms over features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from seqclass._utils.arrays import FloatArray, IntArray, chunks, log_or_infinite
from seqclass.bn._checks import Codes, raise_impossible


def smooth(counts: FloatArray, n_outcomes: IntArray, alpha: float) -> FloatArray:
    """Turn counts into P(outcome | class) = (count + alpha) / (S + alpha V)."""
    real = (np.arange(counts.shape[1]) < n_outcomes[:, None])[:, :, None]
    table = counts + alpha * real
    total = table.sum(axis=1, keepdims=True)
    if total.min(initial=1.0) > 0:
        table /= total
        return table
    uniform = np.broadcast_to(real / n_outcomes[:, None, None], table.shape)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), uniform)


def temper(table: FloatArray, prior: FloatArray, temperature: float | FloatArray) -> FloatArray:
    """Flatten P(v | c) towards the marginal P(v): P_T(v | c) is proportional to P(v) (P(v | c) / P(v))^(1/T)."""
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
    """Flatten P(v | parents, c) towards P(v | parents), the mean over the classes, for all outcomes of the parents."""
    by_parents = table.reshape(len(table), -1, table.shape[-1]).transpose(1, 0, 2)
    return np.ascontiguousarray(temper(by_parents, prior, temperature).transpose(1, 0, 2)).reshape(table.shape)


def sum_dense(codes: Any, table: FloatArray, out: FloatArray) -> None:
    """Add the logarithms of the features' likelihoods to ``out``, a missing outcome adding nothing."""
    n_rows, n_features = codes.shape
    n_levels, n_classes = table.shape[1] + 1, table.shape[2]
    width = 1
    # so many entries of a joint table of several features, and rows below, stay in cache
    while n_levels ** (width + 1) <= min(4096, max(n_rows, 1)):
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
        for first in range(0, n_rows, 16384):
            rows = slice(first, min(first + 16384, n_rows))
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
    """Do what :func:`sum_dense` does for CSR codes, up to a constant per row that all classes share."""
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
        out += _sum_stored(part, np.where(impossible, 0.0, table - largest))
        if impossible.any():
            out[_sum_stored(part, impossible.astype(np.float64)) > 0.5] = -np.inf


def _sum_stored(codes: Any, table: FloatArray) -> FloatArray:
    zero = table[:, 0]
    levels = np.concatenate([table, np.zeros_like(table[:, :1])], axis=1) - zero[:, None]
    n_levels = levels.shape[1]
    # -1 picks the last level
    column = codes.indices.astype(np.int64) * n_levels + codes.data.astype(np.int64) % n_levels
    picker = type(codes)((np.ones(len(column)), column, codes.indptr), shape=(codes.shape[0], n_levels * len(levels)))
    return np.asarray((picker @ levels.reshape(-1, table.shape[2]) + zero.sum(axis=0)).T)


def state_posterior(evidence: Codes, prior: FloatArray, table_of: Callable[[slice], FloatArray]) -> FloatArray:
    """P(state | evidence), (n_states, n_rows)."""
    joint = log_joint(evidence, prior, table_of)
    largest = joint.max(axis=0)
    if np.isneginf(largest).any():
        _explain_impossible(evidence[[int(np.argmin(largest))]], prior, table_of)
    joint -= largest
    np.exp(joint, out=joint)
    joint /= joint.sum(axis=0)
    return joint


def log_joint(evidence: Codes, prior: FloatArray, table_of: Callable[[slice], FloatArray]) -> FloatArray:
    """Logarithm of P(state, evidence), (n_states, n_rows), of sparse evidence up to a constant per row."""
    n_rows, n_features = evidence.shape
    joint = np.empty((len(prior), n_rows))
    joint[:] = log_or_infinite(prior)[:, None]
    n_outcomes = table_of(slice(0, 1)).shape[1] if n_features else 1
    if sparse.issparse(evidence):
        sum_sparse(evidence, lambda part: log_or_infinite(table_of(part)), joint, n_outcomes)
        return joint
    # whole blocks of 48 features keep the blocks of joint codes whole
    step = max(48, 48 * int(2**26 // (48 * 8 * 6 * max(1, n_outcomes * len(prior)))))
    for start in range(0, n_features, step):
        part = slice(start, min(start + step, n_features))
        codes = evidence[:, part]
        known = (codes >= 0).any(axis=0)
        if known.all():
            sum_dense(codes, log_or_infinite(table_of(part)), joint)
        elif known.any():
            sum_dense(codes[:, known], log_or_infinite(table_of(part)[known]), joint)
    return joint


def _explain_impossible(evidence: Codes, prior: FloatArray, table_of: Callable[[slice], FloatArray]) -> None:
    """Raise the error that names the feature whose outcome leaves no state."""
    outcomes = (evidence.toarray() if sparse.issparse(evidence) else evidence)[0].astype(np.intp)
    possible = prior > 0
    for feature in np.flatnonzero(outcomes >= 0).tolist():
        possible = possible & (table_of(slice(feature, feature + 1))[0, outcomes[feature]] > 0)
        if not possible.any():
            raise_impossible(feature, int(outcomes[feature]))
