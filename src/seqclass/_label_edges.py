"""Edges where the labels change: the cuts of Fayyad and Irani, of all columns at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks, chunks_by_size

#: Memory that the values of one group of columns may take at work.
_BUDGET = 2**26
#: Memory of what is weighed at once, which should stay in cache.
_PIECE = 2**21


class Labels(NamedTuple):
    """Numbers of the rows' classes, and how many classes there are."""

    codes: IntArray
    n_classes: int


class Seen(NamedTuple):
    """Values of columns, which ascend, and ascend in each: classes, and how many rows show them."""

    column: IntArray
    value: FloatArray
    code: IntArray
    many: IntArray


def seen_once(column: IntArray, value: FloatArray, code: IntArray) -> Seen:
    """The same, each shown by one row."""
    return Seen(column, value, code, np.ones(len(column), dtype=np.int64))


def in_order(*parts: Seen) -> Seen:
    """Values that stand in any order, ascending."""
    column, value, code, many = map(np.concatenate, zip(*parts))
    order = np.lexsort((value, column))
    return Seen(column[order], value[order], code[order], many[order])


def dense_label_edges(values: FloatArray, labels: Labels, parts: IntArray, width: int) -> FloatArray:
    """Edges of columns that stand in rows, (n_columns, n), NaN what is not to be cut."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    known = ~np.isnan(ordered)
    column = np.repeat(np.arange(len(values)), known.sum(axis=1))
    return label_edges(seen_once(column, ordered[known], labels.codes[order][known]), labels.n_classes, parts, width)


def label_edges(seen: Seen, n_classes: int, parts: IntArray, width: int) -> FloatArray:
    """Inner edges, up to ``parts[j] - 1`` of each column, halfway between values that training showed.

    The cut that saves most of the description of the labels is made first, and none that does not pay for its own.

    Examples
    --------
    >>> value, code = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> label_edges(seen_once(np.zeros_like(code), value, code), 2, np.array([4]), 3).tolist()
    [[5.0, inf, inf]]
    """
    edges = np.full((len(parts), width), np.inf)
    size = np.bincount(seen.column, minlength=len(parts))
    stop = np.cumsum(size)
    for group in chunks_by_size(stop, _BUDGET // (64 + 16 * n_classes)):
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
            edges[self.column[cut], k] = _between(self.value[cut], self.value[cut + 1])
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
        for some in chunks(len(values), 120 * len(self.below), _PIECE):
            at = values[some]
            start, cut, stop = (self.below.take(place, axis=1) for place in (self.start[at], at + 1, self.stop[at]))
            parts = (stop - start, cut - start, stop - cut)
            (n, k, whole), (n1, k1, lower), (n2, k2, upper) = map(self._described, parts)
            told = self.log_before[n] + self.of_classes[k]
            told += k1 * lower / n1 + k2 * upper / np.maximum(n2, 1) - k * whole / n
            # rounded, so that of equal cuts it is the lowest
            saved[at] = np.where(n2 > 0, np.round(whole - lower - upper - told, 9), -np.inf)

    def _described(self, counts: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Rows, classes shown, and the entropy of their labels times the rows."""
        n = counts.sum(axis=0)
        return n, np.count_nonzero(counts, axis=0), self.n_log_n[n] - self.n_log_n[counts].sum(axis=0)


def _between(low: FloatArray, high: FloatArray) -> FloatArray:
    middle = low / 2 + high / 2
    return np.where(middle > low, middle, high)
