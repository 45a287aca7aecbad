"""Edges of the bins that a discretiser cuts, and the search for a value's bin."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

from seqclass._utils.arrays import CACHE_BYTES, CHUNK_BYTES, BoolArray, FloatArray, IntArray, chunks, chunks_by_size
from seqclass._utils.information import canonical
from seqclass._utils.text import MAX_EXACT, short_repr
from seqclass._utils.validation import check_choice, check_integer


@dataclass(frozen=True)
class EdgeTuning:
    """How values are looked at, and how bins are counted."""

    max_outcomes: int = 2**16  #: of a column: each has a place in tables of all columns
    max_values: int = 10  #: whole numbers of a column that are kept
    max_span: int = 63  #: bits: how far apart they may lie
    n_first_rows: int = 64  #: that tell most columns of other numbers from the rest
    max_label: int = 24  #: characters
    many_edges: int = 24  #: from which on a binary search in each column beats one comparison per edge
    free_bins: int = 32  #: that a feature gets whatever its values
    near: float = 1e-5  #: share of a frequent value within which lies what is that value written with five digits


TUNING = EdgeTuning()


def few_dense(values: FloatArray) -> IntArray:
    """Of each row of ``values``, NaN where missing; (n, 2)."""
    few = np.zeros((len(values), 2), dtype=np.int64)
    rows = np.flatnonzero(_seem_few(values[:, : TUNING.n_first_rows]))
    low, high = np.fmin.reduce(values[rows], axis=1), np.fmax.reduce(values[rows], axis=1)
    near = _may_be_few(low, high)
    rows, low, high = rows[near], low[near], high[near]
    values, span = values[rows], high - low
    n_left, bits = np.count_nonzero(~np.isnan(values), axis=1), np.zeros(len(rows), dtype=np.int64)
    for k in range(int(span.max(initial=-1)) + 1):
        n_here = np.count_nonzero(values == (low + k)[:, None], axis=1)
        n_left -= n_here
        bits |= np.where(n_here > 0, np.int64(1) << k, 0)
    few[rows] = np.where((n_left == 0)[:, None], _keep_few(low, bits), 0)
    return few


def few_sparse(values: FloatArray, column: IntArray, size: IntArray, has_zero: BoolArray) -> IntArray:
    """Of columns whose finite values other than zero stand in a row, so many each; (n, 2)."""
    n, filled = len(size), np.flatnonzero(size)
    start = (np.cumsum(size) - size)[filled]
    low, high, whole = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
    if filled.size:
        low[filled], high[filled] = np.minimum.reduceat(values, start), np.maximum.reduceat(values, start)
        whole[filled] = np.logical_and.reduceat(_are_whole(values), start)
    low, high = np.where(has_zero, np.minimum(low, 0), low), np.where(has_zero, np.maximum(high, 0), high)
    whole &= _may_be_few(low, high)
    bits = np.where(whole & has_zero, _bits(np.where(whole, -low, 0)), 0)
    if filled.size:
        offset = np.where(whole[column], values, np.nan) - low[column]
        bits[filled] |= np.bitwise_or.reduceat(_bits(offset), start)
    return np.where(whole[:, None], _keep_few(np.where(whole, low, 0), bits), 0)


def few_of_both(one: IntArray, other: IntArray, one_shows: BoolArray, other_shows: BoolArray) -> IntArray:
    """Of columns whose rows came in two parts; each part says whether a column shows any number in it; (n, 2)."""
    low = np.minimum(one[:, 0], other[:, 0])
    above = np.stack([one[:, 0], other[:, 0]]) - low
    few = (one[:, 1] != 0) & (other[:, 1] != 0) & (above < TUNING.max_span).all(axis=0)
    bits = np.zeros(len(one), dtype=np.int64)
    for kept, distance in zip((one, other), above):
        shift = np.where(few, distance, 0)
        few &= np.frexp(kept[:, 1].astype(np.float64))[1] + shift <= TUNING.max_span
        bits |= np.left_shift(np.where(few, kept[:, 1], 0), np.where(few, shift, 0))
    both = np.where(few[:, None], _keep_few(np.where(few, low, 0).astype(np.float64), np.where(few, bits, 0)), 0)
    return np.where(~one_shows[:, None], other, np.where(~other_shows[:, None], one, both))


def numbers(kept: IntArray) -> FloatArray:
    """Whole numbers of one column, ascending; none where there are others or too many."""
    low, bits = map(int, kept)
    return np.array([low + k for k in range(bits.bit_length()) if bits >> k & 1], dtype=np.float64)


def list_values(values: FloatArray) -> str:
    """Write whole numbers that fall into one bin; empty if that gets long."""
    if len(values) > 2 and values[-1] - values[0] == len(values) - 1:
        return f"{values[0]:.0f} to {values[-1]:.0f}"
    text = ", ".join(f"{value:.0f}" for value in values)
    return text if len(text) <= TUNING.max_label else ""


def _may_be_few(low: FloatArray, high: FloatArray) -> BoolArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((high - low < TUNING.max_span) & (np.abs(low) < MAX_EXACT) & (low == np.floor(low)))


def _seem_few(values: FloatArray) -> BoolArray:
    """Whether each row has whole numbers only and few of them, as far as a few values tell."""
    ordered = np.sort(values, axis=1)  # NaN last, and not above what is before
    return np.asarray(
        _are_whole(ordered).all(axis=1) & ((ordered[:, 1:] > ordered[:, :-1]).sum(axis=1) < TUNING.max_values)
    )


def _are_whole(values: FloatArray) -> BoolArray:
    """Which values are whole numbers; those that are missing count as well."""
    return np.asarray((values == np.floor(values)) | np.isnan(values))


def _bits(offset: FloatArray) -> IntArray:
    """One bit a distance, none for NaN."""
    known = ~np.isnan(offset)
    return np.where(known, np.left_shift(np.int64(1), np.where(known, offset, 0).astype(np.int64)), 0)


def _keep_few(low: FloatArray, bits: IntArray) -> IntArray:
    few = np.bitwise_count(bits) <= TUNING.max_values
    return np.stack([np.where(few, low, 0).astype(np.int64), np.where(few, bits, 0)], axis=1)


class ClassCodes(NamedTuple):
    """Numbers of the rows' classes, and how many classes there are."""

    codes: IntArray
    n_classes: int


class Seen(NamedTuple):
    """Values of columns, which ascend, and ascend in each: classes, and how many rows show them."""

    column: IntArray
    value: FloatArray
    code: IntArray
    many: IntArray


def count_once(column: IntArray, value: FloatArray, code: IntArray) -> Seen:
    return Seen(column, value, code, np.ones(len(column), dtype=np.int64))


def in_order(*parts: Seen) -> Seen:
    """Values that stand in any order, ascending."""
    column, value, code, many = map(np.concatenate, zip(*parts))
    order = np.lexsort((value, column))
    return Seen(column[order], value[order], code[order], many[order])


def dense_label_edges(values: FloatArray, labels: ClassCodes, parts: IntArray, width: int) -> FloatArray:
    """Edges of columns that stand in rows, (n_columns, n), NaN what is not to be cut."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    known = ~np.isnan(ordered)
    column = np.repeat(np.arange(len(values)), known.sum(axis=1))
    return label_edges(count_once(column, ordered[known], labels.codes[order][known]), labels.n_classes, parts, width)


def label_edges(seen: Seen, n_classes: int, parts: IntArray, width: int) -> FloatArray:
    """Inner edges, up to ``parts[j] - 1`` of each column, halfway between values that training showed."""
    edges = np.full((len(parts), width), np.inf)
    size = np.bincount(seen.column, minlength=len(parts))
    stop = np.cumsum(size)
    for group in chunks_by_size(stop, CHUNK_BYTES // (64 + 16 * n_classes)):
        own = slice(int(stop[group.start] - size[group.start]), int(stop[group.stop - 1]))
        if own.start < own.stop:
            some = Seen(seen.column[own] - group.start, seen.value[own], seen.code[own], seen.many[own])
            edges[group] = _Cuts(some, n_classes).edges(parts[group], width)
    return edges


class _Cuts:
    """Distinct values of some columns, the labels seen up to each, and the stretch between cuts in which it lies."""

    def __init__(self, seen: Seen, n_classes: int) -> None:
        new = np.append(True, (np.diff(seen.column) != 0) | (seen.value[1:] != seen.value[:-1]))
        self.column, self.value = seen.column[new], seen.value[new]
        n = len(self.column)
        cell = seen.code * (n + 1) + np.cumsum(new)
        counts = np.bincount(cell, weights=seen.many, minlength=(n + 1) * n_classes).astype(np.int64)
        # a row a class: sums over few classes are fast along the first axis only
        self.below = np.cumsum(counts.reshape(n_classes, n + 1), axis=1)
        self.head = np.flatnonzero(np.append(True, np.diff(self.column) != 0))
        self.rank = np.repeat(np.arange(len(self.head)), np.diff(np.append(self.head, n)))
        self.start, self.stop = self.head[self.rank], np.append(self.head[1:], n)[self.rank]
        rows = np.diff(self.below[:, np.append(self.head, n)].sum(axis=0)).max()
        number, k = np.arange(rows + 1.0), np.arange(1.0, n_classes + 1)
        #: Of so many rows n log n, and log(n - 1); of so many classes k what Fayyad and Irani's equation has of them.
        self.n_log_n, self.log_before = xlogy(number, number), np.log(np.maximum(number - 1, 1))
        self.of_classes = np.append(0.0, k * np.log(3) + np.log1p(-2 * 3.0**-k))

    def edges(self, parts: IntArray, width: int) -> FloatArray:
        edges = np.full((len(parts), width), np.inf)
        saved = np.empty(len(self.column))
        fresh = np.ones(len(self.column), dtype=bool)
        left = parts[self.column[self.head]] - 1
        for k in range(width):
            self._weigh(saved, np.flatnonzero(fresh))
            best = np.maximum.reduceat(saved, self.head)
            hits = np.flatnonzero((saved == best[self.rank]) & ((best > 0) & (left > k))[self.rank])
            if not len(hits):
                break
            cut = hits[np.append(True, np.diff(self.column[hits]) != 0)]
            low, high = self.value[cut], self.value[cut + 1]
            middle = low / 2 + high / 2
            edges[self.column[cut], k] = np.where(middle > low, middle, high)
            fresh = self._split(cut)
        return np.sort(edges, axis=1)

    def _split(self, cut: IntArray) -> BoolArray:
        """Part the stretches after these values, one of a column at most; which values lie in one of them."""
        at = np.full(len(self.head), -1)
        at[self.rank[cut]] = cut
        here = at[self.rank]
        inside = (here >= 0) & (self.start == self.start[here])
        lower = inside & (np.arange(len(here)) <= here)
        upper = inside & ~lower
        self.stop[lower], self.start[upper] = here[lower] + 1, here[upper] + 1
        return np.asarray(inside)

    def _weigh(self, saved: FloatArray, values: IntArray) -> None:
        """Nats that a cut after each value saves of the labels' description, less what it takes to tell the cut."""
        for some in chunks(len(values), 120 * len(self.below), CACHE_BYTES):
            at = values[some]
            start, cut, stop = (self.below.take(place, axis=1) for place in (self.start[at], at + 1, self.stop[at]))
            parts = (stop - start, cut - start, stop - cut)
            (n, k, whole), (n1, k1, lower), (n2, k2, upper) = map(self._describe, parts)
            log_weight = self.log_before[n] + self.of_classes[k]
            log_weight += k1 * lower / n1 + k2 * upper / np.maximum(n2, 1) - k * whole / n
            # rounded, so that of equal cuts it is the lowest
            saved[at] = np.where(n2 > 0, np.round(whole - lower - upper - log_weight, 9), -np.inf)

    def _describe(self, counts: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Rows, classes shown, and the entropy of their labels times the rows."""
        n = counts.sum(axis=0)
        return n, np.count_nonzero(counts, axis=0), self.n_log_n[n] - self.n_log_n[counts].sum(axis=0)


STRATEGIES = ("uniform", "quantile", "auto", "mdlp")


def check_cuts(strategy: Any, zero_bin: Any) -> None:
    check_choice(strategy, "strategy", STRATEGIES)
    if not isinstance(zero_bin, (bool, np.bool_)) and zero_bin != "auto":
        raise ValueError(f"zero_bin must be True, False or 'auto', got {short_repr(zero_bin)}.")


def check_n_bins(n_bins: Any, X: Any, y: Any) -> IntArray:
    n_rows, n_features = X.shape
    if not isinstance(n_bins, str):
        bins = bins_per_feature(n_bins, n_features)
        many = np.flatnonzero(bins > TUNING.free_bins)
        if many.size:  # many only where there are as many distinct values
            bins[many] = np.minimum(bins[many], np.maximum(_n_distinct(X, many), TUNING.free_bins))
        return bins
    if n_bins == "n_classes" and y is None:
        raise ValueError("n_bins='n_classes' needs the labels y in fit.")
    n_classes = 1 if y is None else len(np.unique(np.asarray(y)))
    return np.full(n_features, bins_by_rule(n_bins, n_rows, n_classes, lambda: _mostly_zero(X)), dtype=np.int64)


def bins_by_rule(rule: str, n_rows: int, n_classes: int, mostly_zero: Callable[[], bool]) -> int:
    check_choice(rule, "n_bins", ("auto", "n_classes", "sparsity"))
    if rule == "sparsity":
        return 10 if mostly_zero() else 4
    # cube root of the rows a class: finer bins than the counts can bear cost accuracy
    return n_classes if rule == "n_classes" else int(np.clip(np.rint(np.cbrt(n_rows / n_classes)), 3, 6))


def bins_per_feature(n_bins: Any, n_features: int) -> IntArray:
    if np.ndim(n_bins) == 0:
        return np.full(n_features, min(check_integer(n_bins, "n_bins", 1), sys.maxsize), dtype=np.int64)
    array = np.asarray(n_bins)
    if array.dtype.kind not in "iu" or array.shape != (n_features,) or array.min(initial=1) < 1:
        raise ValueError(
            f"n_bins must be a positive integer or one for each of the {n_features} features, got {short_repr(n_bins)}."
        )
    return np.asarray(np.minimum(array, sys.maxsize), dtype=np.int64)


def _n_distinct(X: Any, features: IntArray) -> IntArray:
    """Number of distinct finite values of some features, a zero that is not stored included."""
    n_distinct = np.zeros(len(features), dtype=np.int64)
    X = canonical(X).tocsc() if sp.issparse(X) else X
    for i, j in enumerate(features.tolist()):
        if sp.issparse(X):
            values = np.unique(X.data[X.indptr[j] : X.indptr[j + 1]])
            implicit = X.shape[0] > X.indptr[j + 1] - X.indptr[j] and 0 not in values
        else:
            values, implicit = np.unique(X[:, j]), False
        n_distinct[i] = np.isfinite(values).sum() + implicit
    return n_distinct


def _mostly_zero(X: Any) -> bool:
    """Whether more than half of all cells that are not missing are zero, dense or sparse."""
    if sp.issparse(X):
        stored = canonical(X).data
        missing = np.isnan(stored).sum()
        known = X.shape[0] * X.shape[1] - missing
        return bool(2 * (np.count_nonzero(stored) - missing) < known)
    zeros = known = 0
    for rows in chunks(X.shape[0], 2.0 * X.shape[1]):
        zeros += int((X[rows] == 0).sum())
        known += int((~np.isnan(X[rows])).sum())
    return 2 * zeros > known


def has_own_bin(option: Any, auto: BoolArray, n_bins: IntArray) -> BoolArray:
    wanted = auto if isinstance(option, str) else np.full(len(auto), bool(option))
    return wanted & (n_bins > 1)


def single_value_bins(own: BoolArray, value: FloatArray, distance: FloatArray) -> FloatArray:
    """Ends of the bins of single values, (n, 2), NaN where there is none; nearest other values are so far away."""
    reach = np.where(own, np.minimum(TUNING.near * np.abs(value), distance / 2), np.nan)
    return np.stack([value - reach, value + reach], axis=1)


def frequent_values(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """The value that more than half of each row's known cells hold, NaN where there is none, and how many hold it."""
    missing = np.isnan(values)
    n_known = values.shape[1] - missing.sum(axis=1)
    count = np.count_nonzero(values == 0, axis=1)
    value = np.where(2 * count > n_known, 0.0, np.nan)
    # of more than half of all cells two are neighbours, the last and the first among them
    near = (values[:, 1:] == values[:, :-1]).any(axis=1) | (values[:, 0] == values[:, -1]) | missing.any(axis=1)
    for j in np.flatnonzero(near & np.isnan(value) & (n_known > 0)):
        middle = n_known[j] // 2
        value[j] = np.partition(values[j], middle)[middle]
        count[j] = np.count_nonzero(values[j] == value[j])
    value[2 * count <= n_known] = np.nan
    return value, np.where(np.isnan(value), 0, count)


def fit_dense(
    X: Any, n_bins: IntArray, strategy: str, option: Any, labels: ClassCodes
) -> tuple[FloatArray, FloatArray, BoolArray, IntArray]:
    n, n_features = X.shape
    edges = np.full((n_features, int(n_bins.max(initial=1)) - 1), np.inf)
    bins = np.full((n_features, 2), np.nan)
    constant = np.ones(n_features, dtype=bool)
    few = np.zeros((n_features, 2), dtype=np.int64)
    for columns in chunks(n_features, 24 * n):
        values = np.array(X[:, columns].T, dtype=np.float64, order="C")
        values[np.isinf(values)] = np.nan
        few[columns] = few_dense(values)
        value = frequent_values(values)[0] if isinstance(option, str) else np.zeros(len(values))
        low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
        constant[columns] = ~(low < high)
        own = has_own_bin(option, ~np.isnan(value), n_bins[columns]) & ~constant[columns]
        parts = n_bins[columns] - own
        if own.any():
            values[own[:, None] & (values == value[:, None])] = np.nan
            distance = np.fmin.reduce(np.abs(values - value[:, None]), axis=1)
            bins[columns] = single_value_bins(own, value, distance)
            low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
        if strategy == "mdlp":
            edges[columns] = dense_label_edges(values, labels, parts, edges.shape[1])
        elif strategy == "quantile":
            values.sort(axis=1)
            size = n - np.isnan(values).sum(axis=1)
            edges[columns] = quantile_edges(
                lambda position: np.take_along_axis(values, position[:, None], axis=1)[:, 0],  # noqa: B023
                size,
                parts,
                edges.shape[1],
            )
        else:
            edges[columns] = uniform_edges(low, high, parts, edges.shape[1])
    return edges, bins, constant, few


def fit_sparse(
    X: Any, n_bins: IntArray, strategy: str, option: Any, labels: ClassCodes
) -> tuple[FloatArray, FloatArray, BoolArray, IntArray]:
    n, n_features = X.shape
    X = canonical(X).tocsc()
    column = np.repeat(np.arange(n_features, dtype=np.int32), np.diff(X.indptr))
    value = X.data.astype(np.float64)
    known = np.isfinite(value)
    n_known = n - np.bincount(column[~known], minlength=n_features)
    keep = known & (value != 0)
    row, column, value = X.indices[keep], column[keep], value[keep]
    size = np.bincount(column, minlength=n_features)
    start = np.cumsum(size) - size
    low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    filled = size > 0
    if filled.any():
        low[filled] = np.minimum.reduceat(value, start[filled])
        high[filled] = np.maximum.reduceat(value, start[filled])
    has_zero = n_known > size
    few = few_sparse(value, column, size, has_zero)
    low0, high0 = np.where(has_zero, np.minimum(low, 0), low), np.where(has_zero, np.maximum(high, 0), high)
    constant = ~(low0 < high0)
    own = has_own_bin(option, np.ones(n_features, dtype=bool), n_bins) & ~constant
    parts = n_bins - own
    width = int(n_bins.max(initial=1)) - 1
    if strategy == "mdlp":
        stored = count_once(column, value, labels.codes[row])
        zeros = _zeros(X, labels, np.flatnonzero(~own))
        edges = label_edges(in_order(stored, zeros), labels.n_classes, parts, width)
    elif strategy == "quantile":
        n_zero = np.where(own, 0, n_known - size)
        pick = _order_statistics(column, value, size, n_zero)
        edges = quantile_edges(pick, size + n_zero, parts, width)
    else:
        edges = uniform_edges(np.where(own, low, low0), np.where(own, high, high0), parts, width)
    nothing = np.zeros(n_features)
    return edges, single_value_bins(own, nothing, nothing), constant, few


def _zeros(X: Any, labels: ClassCodes, wanted: IntArray) -> Seen:
    """Zeros of some columns of a CSC matrix, stored or not."""
    rank = np.full(X.shape[1], -1)
    rank[wanted] = np.arange(len(wanted))
    at = np.repeat(rank, np.diff(X.indptr))
    other = (at >= 0) & (X.data != 0)
    k = labels.n_classes
    shown = np.bincount(at[other] * k + labels.codes[X.indices[other]], minlength=len(wanted) * k)
    zeros = np.bincount(labels.codes, minlength=k) - shown.reshape(len(wanted), k)
    column, code = np.nonzero(zeros)
    return Seen(wanted[column], np.zeros(len(column)), code, zeros[column, code])


def _order_statistics(column: IntArray, value: FloatArray, size: IntArray, n_zero: IntArray) -> Any:
    """Give a function from a position in every sorted column to the values there, implicit zeros included."""
    m = max(len(value), 1)
    n_negative = np.bincount(column[value < 0], minlength=len(size))
    start = np.cumsum(size) - size
    # sorts by column, then value; much faster than lexsort
    order = np.argsort(value)
    key = column[order] * np.int64(m) + np.arange(len(value))
    key.sort()
    ordered = value[order[key % m]] if len(value) else np.zeros(1)

    def pick(position: IntArray) -> FloatArray:
        # the implicit zeros stand between the negative and the positive values
        beyond = position >= n_negative + n_zero
        stored = ordered[np.clip(start + position - np.where(beyond, n_zero, 0), 0, m - 1)]
        return np.where(beyond | (position < n_negative), stored, 0.0)

    return pick


def uniform_edges(low: FloatArray, high: FloatArray, parts: IntArray, width: int) -> FloatArray:
    """Inner edges of `parts` bins of equal width; the columns without a range get none."""
    edges = np.full((len(low), width), np.inf)
    cut = low < high
    low, high, parts = np.where(cut, low, 0.0), np.where(cut, high, 0.0), np.maximum(parts, 1)
    with np.errstate(over="ignore"):
        # a range beyond the largest float is cut at half its size
        scale = np.where(np.isfinite(high - low), 1.0, 0.5)[:, None]
        start, stop = low[:, None] * scale, high[:, None] * scale
        step = (stop - start) / parts[:, None]
        k = np.arange(1, width + 1)
        for rows in chunks(len(low), 32 * max(width, 1)):
            # rounding must not lift an edge above the maximum, which belongs to the last bin
            edge = np.minimum(start[rows] + k * step[rows], stop[rows]) / scale[rows]
            edges[rows] = np.where(cut[rows, None] & (k < parts[rows, None]), edge, np.inf)
    return edges


def quantile_edges(pick: Any, size: IntArray, parts: IntArray, width: int) -> FloatArray:
    """Inner edges at order statistics, each above the one before it and above the smallest value."""
    edges = np.full((len(size), width), np.inf)
    last = pick(np.zeros(len(size), dtype=np.int64))
    filled = np.zeros(len(size), dtype=np.int64)
    for k in range(1, width + 1):
        edge = pick(np.minimum(size * k // np.maximum(parts, 1), np.maximum(size - 1, 0)))
        new = np.flatnonzero((k < parts) & (size > 0) & (edge > last))
        edges[new, filled[new]] = edge[new]
        last[new] = edge[new]
        filled[new] += 1
    return edges


def count_edges(block: npt.NDArray[Any], edges: npt.NDArray[Any], out: IntArray) -> None:
    """Count in `out` the edges at or below each value of a dense block."""
    if edges.shape[1] >= TUNING.many_edges:
        for j in range(block.shape[1]):
            out[:, j] = np.searchsorted(edges[j], block[:, j], side="right")
        return
    out[:] = 0
    for edge in np.ascontiguousarray(edges.T):
        out += block >= edge


def search_edges(values: FloatArray, edges: FloatArray, columns: IntArray) -> IntArray:
    """Count the edges at or below each of `values`, by binary search in the edges of their columns."""
    n_edges = edges.shape[1]
    count = np.zeros(len(values), dtype=np.int64)
    base = columns.astype(np.int64) * n_edges - 1
    flat = edges.ravel()
    for power in reversed(range(n_edges.bit_length())):
        guess = count + 2**power
        inside = guess <= n_edges
        below = inside & (flat[np.where(inside, base + guess, 0)] <= values)
        count[below] = guess[below]
    return count


def float32_at_least(edges: FloatArray) -> npt.NDArray[np.float32]:
    """Smallest float32 at or above each edge: comparing float32 values with it decides as in float64."""
    with np.errstate(over="ignore"):
        rounded = edges.astype(np.float32)
    return np.where(rounded < edges, np.nextafter(rounded, np.float32(np.inf)), rounded)


def interval_labels(edges: FloatArray, apart: float | None = None) -> list[str]:
    """Names of the intervals between edges; the first is that of a value which has a bin of its own, if one has."""
    if apart is not None:
        labels, value = interval_labels(edges), f"{apart:.4g}"
        if not edges.size:
            return [value, f"not {value}"]
        labels[int((edges <= apart).sum())] += f", not {value}"
        return [value, *labels]
    for digits in range(4, 18):
        text = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(text)) == len(set(edges.tolist())):
            break
    if not text:
        return ["any"]
    inner = [f"[{a}, {b})" for a, b in pairwise(text)]
    return [f"< {text[0]}", *inner, f">= {text[-1]}"]
