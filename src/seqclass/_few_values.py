"""Columns of few whole numbers, such as codes and counts: which numbers, and how bins of them are called.

Of each column two numbers are kept: the least, and as bits how far above it each of them lies; zeros for columns that
show other numbers or too many.
"""

from __future__ import annotations

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray

#: Most numbers of a column, and how far apart they may lie.
_MOST, _SPAN = 10, 63
#: Whole numbers up to here have neighbours one apart.
_EXACT = 2.0**53
#: Rows that tell most columns of other numbers from the rest.
_GLANCE = 64
#: Characters of a label.
_LONGEST = 24


def few_dense(values: FloatArray) -> IntArray:
    """Of each row of ``values``, NaN where missing; (n, 2).

    Examples
    --------
    >>> few_dense(np.array([[1.0, 3.0, np.nan], [0.5, 1.0, 2.0]])).tolist()
    [[1, 5], [0, 0]]
    """
    found = np.zeros((len(values), 2), dtype=np.int64)
    rows = np.flatnonzero(_seem_few(values[:, :_GLANCE]))
    low, high = np.fmin.reduce(values[rows], axis=1), np.fmax.reduce(values[rows], axis=1)
    near = _may_be_few(low, high)
    rows, low, high = rows[near], low[near], high[near]
    values, span = values[rows], high - low
    n_left, bits = np.count_nonzero(~np.isnan(values), axis=1), np.zeros(len(rows), dtype=np.int64)
    for k in range(int(span.max(initial=-1)) + 1):
        n_here = np.count_nonzero(values == (low + k)[:, None], axis=1)
        n_left -= n_here
        bits |= np.where(n_here > 0, np.int64(1) << k, 0)
    found[rows] = np.where((n_left == 0)[:, None], _kept(low, bits), 0)
    return found


def few_sparse(values: FloatArray, column: IntArray, size: IntArray, has_zero: BoolArray) -> IntArray:
    """Of columns whose finite values other than zero stand in a row, so many each; (n, 2).

    Examples
    --------
    >>> few_sparse(np.array([2.0, 5.0, 0.5]), np.array([0, 0, 1]), np.array([2, 1]), np.array([True, True])).tolist()
    [[0, 37], [0, 0]]
    """
    n, filled = len(size), np.flatnonzero(size)
    start = (np.cumsum(size) - size)[filled]
    low, high, whole = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
    if filled.size:
        low[filled], high[filled] = np.minimum.reduceat(values, start), np.maximum.reduceat(values, start)
        whole[filled] = np.logical_and.reduceat(_whole(values), start)
    low, high = np.where(has_zero, np.minimum(low, 0), low), np.where(has_zero, np.maximum(high, 0), high)
    whole &= _may_be_few(low, high)
    bits = np.where(whole & has_zero, _bits(np.where(whole, -low, 0)), 0)
    if filled.size:
        offset = np.where(whole[column], values, np.nan) - low[column]
        bits[filled] |= np.bitwise_or.reduceat(_bits(offset), start)
    return np.where(whole[:, None], _kept(np.where(whole, low, 0), bits), 0)


def few_of_both(one: IntArray, other: IntArray, one_shows: BoolArray, other_shows: BoolArray) -> IntArray:
    """Of columns whose rows came in two parts; each part says whether a column shows any number in it; (n, 2).

    Examples
    --------
    >>> shows = np.array([True, True])
    >>> few_of_both(np.array([[1, 5], [0, 1]]), np.array([[0, 1], [0, 0]]), shows, shows).tolist()
    [[0, 11], [0, 0]]
    """
    low = np.minimum(one[:, 0], other[:, 0])
    above = np.stack([one[:, 0], other[:, 0]]) - low
    few = (one[:, 1] != 0) & (other[:, 1] != 0) & (above < _SPAN).all(axis=0)
    bits = np.zeros(len(one), dtype=np.int64)
    for kept, distance in zip((one, other), above):
        shift = np.where(few, distance, 0)
        few &= np.frexp(kept[:, 1].astype(np.float64))[1] + shift <= _SPAN
        bits |= np.left_shift(np.where(few, kept[:, 1], 0), np.where(few, shift, 0))
    both = np.where(few[:, None], _kept(np.where(few, low, 0).astype(np.float64), np.where(few, bits, 0)), 0)
    return np.where(~one_shows[:, None], other, np.where(~other_shows[:, None], one, both))


def numbers(kept: IntArray) -> FloatArray:
    """Whole numbers of one column, ascending; none where there are others or too many.

    Examples
    --------
    >>> numbers(np.array([1, 5])).tolist()
    [1.0, 3.0]
    """
    low, bits = map(int, kept)
    return np.array([low + k for k in range(bits.bit_length()) if bits >> k & 1], dtype=np.float64)


def listed(values: FloatArray) -> str:
    """Write whole numbers that fall into one bin; empty if that gets long.

    Examples
    --------
    >>> listed(np.array([1.0, 2.0])), listed(np.array([0.0, 1.0, 2.0, 3.0])), listed(np.array([1.0, 2.0, 7.0]))
    ('1, 2', '0 to 3', '1, 2, 7')
    """
    if len(values) > 2 and values[-1] - values[0] == len(values) - 1:
        return f"{values[0]:.0f} to {values[-1]:.0f}"
    text = ", ".join(f"{value:.0f}" for value in values)
    return text if len(text) <= _LONGEST else ""


def _may_be_few(low: FloatArray, high: FloatArray) -> BoolArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((high - low < _SPAN) & (np.abs(low) < _EXACT) & (low == np.floor(low)))


def _seem_few(values: FloatArray) -> BoolArray:
    """Whether each row has whole numbers only and few of them, as far as a few values tell."""
    ordered = np.sort(values, axis=1)  # NaN last, and not above what is before
    return np.asarray(_whole(ordered).all(axis=1) & ((ordered[:, 1:] > ordered[:, :-1]).sum(axis=1) < _MOST))


def _whole(values: FloatArray) -> BoolArray:
    """Which values are whole numbers; those that are missing count as well."""
    return np.asarray((values == np.floor(values)) | np.isnan(values))


def _bits(offset: FloatArray) -> IntArray:
    """One bit a distance, none for NaN."""
    known = ~np.isnan(offset)
    return np.where(known, np.left_shift(np.int64(1), np.where(known, offset, 0).astype(np.int64)), 0)


def _kept(low: FloatArray, bits: IntArray) -> IntArray:
    few = np.bitwise_count(bits) <= _MOST
    return np.stack([np.where(few, low, 0).astype(np.int64), np.where(few, bits, 0)], axis=1)
