"""Counts and information measures of discretised features, vectorised over columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import chdtrc, gammaln, xlogy

from seqclass._utils.arrays import CHUNK_BYTES, FloatArray, IntArray, chunks, smallest_int


@dataclass(frozen=True)
class ChunkSizes:
    """What is counted, and summed, at a time."""

    columns: int = 1024  #: wide enough to vectorise, narrow enough that their counts stay in cache
    terms: int = 2**19  #: of the expected information


CHUNK_SIZES = ChunkSizes()


def contingency_table(
    X: Any,
    codes: npt.ArrayLike,
    n_classes: int,
    n_outcomes: int | npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
) -> FloatArray:
    """Count the rows of every (feature, outcome, class)."""
    V = int(np.max(n_outcomes, initial=1))
    y = np.asarray(codes)
    if y.shape != (X.shape[0],):
        raise ValueError(f"codes must have shape ({X.shape[0]},), one for each row of X, got {y.shape}.")
    if y.size and (y.min() < 0 or y.max() >= n_classes):
        raise ValueError(f"codes must be in 0..{n_classes - 1}, got {y.min()}..{y.max()}.")
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight is not None and weight.shape != y.shape:
        raise ValueError(f"sample_weight must have shape {y.shape}, got {weight.shape}.")
    values = X.data if sp.issparse(X) else X
    if values.size and (values.min() < -1 or values.max() >= V):
        raise ValueError(f"X must hold outcomes -1..{V - 1}, got {values.min()}..{values.max()}.")
    if sp.issparse(X):
        return _count_sparse(X, y, n_classes, V, weight)
    return _count_dense(np.asarray(X), y, n_classes, V, weight)


def _count_dense(X: IntArray, y: IntArray, C: int, V: int, weight: FloatArray | None) -> FloatArray:
    n, n_features = X.shape
    counts = np.empty((n_features, V, C))
    y = y.astype(np.intp, copy=False)
    for columns in chunks(n_features, 1, budget=CHUNK_SIZES.columns):
        width = columns.stop - columns.start
        # a slot for the missing cells in front of the outcomes spares a mask
        block = np.zeros((width, V + 1, C))
        offset = np.arange(width) * ((V + 1) * C) + C
        for rows in chunks(n, 24 * width, budget=CHUNK_BYTES // 4):
            index = X[rows, columns].astype(np.intp)
            index *= C
            index += offset
            index += y[rows, None]
            w = None if weight is None else np.repeat(weight[rows], width)
            block += np.bincount(index.ravel(), w, minlength=block.size).reshape(block.shape)
        counts[columns] = block[:, 1:]
    return counts


def _count_sparse(X: Any, y: IntArray, C: int, V: int, weight: FloatArray | None) -> FloatArray:
    n_features = X.shape[1]
    entries = canonical(X).tocoo(copy=False)
    total = np.bincount(y, weight, minlength=C).astype(np.float64)
    counts = np.zeros((n_features, V, C))
    missing = np.zeros((n_features, C))
    y = y.astype(smallest_int(C))
    for part in chunks(entries.nnz, 48):
        row, column, value = entries.row[part], entries.col[part], entries.data[part]
        index = column.astype(np.intp) * C + y[row]
        absent = value < 0
        if absent.any():
            np.add.at(missing.ravel(), index[absent], 1.0 if weight is None else weight[row[absent]])
        stored = value > 0
        index = (column.astype(np.intp) * V + value) * C + y[row]
        np.add.at(counts.ravel(), index[stored], 1.0 if weight is None else weight[row[stored]])
    zeros = total - counts.sum(axis=1) - missing
    if weight is not None:
        # rounding of the subtraction must not look like a row
        zeros[zeros < 1e-12 * total] = 0.0
    counts[:, 0] = zeros
    return counts


def canonical(X: Any) -> Any:
    """Return a sparse matrix without duplicate entries, copied only if it has some."""
    if getattr(X, "has_canonical_format", True):
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def mutual_information(
    X: Any,
    y: npt.ArrayLike,
    *,
    n_outcomes: int | npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> FloatArray:
    """Mutual information of every feature and the label, in nats."""
    codes, n_classes = label_codes(y)
    result = np.empty(X.shape[1])
    for columns, counts in tables_of(X, codes, n_classes, n_outcomes, sample_weight):
        result[columns] = _mutual_information(counts)[0]
    return result


def adjusted_mutual_information(X: Any, y: npt.ArrayLike) -> FloatArray:
    """Mutual information corrected for chance, of every feature and the label."""
    codes, n_classes = label_codes(y)
    expected = _ExpectedInformation(np.bincount(codes, minlength=n_classes))
    result = np.empty(X.shape[1])
    for columns, counts in tables_of(X, codes, n_classes, None, None):
        information, h_feature, h_class = _mutual_information(counts)
        chance = expected(counts.sum(axis=2).astype(np.int64), counts.sum(axis=1).astype(np.int64))
        above, room = information - chance, (h_feature + h_class) / 2 - chance
        # with all values distinct every pairing is perfect, and so is the score
        perfect = room <= 1e-12 * (h_feature + h_class)
        score = np.divide(above, room, where=~perfect, out=np.ones_like(room))
        result[columns] = np.where((h_feature > 0) & (h_class > 0), score, 0.0)
    return result


def chance_p_values(X: Any, y: npt.ArrayLike) -> FloatArray:
    """How often chance alone would tell as much about the label: the p-value of the G-test of every feature."""
    codes, n_classes = label_codes(y)
    result = np.ones(X.shape[1])
    for columns, counts in tables_of(X, codes, n_classes, None, None):
        outcomes, classes = counts.sum(axis=2), counts.sum(axis=1)
        freedom = ((outcomes > 0).sum(axis=1) - 1) * ((classes > 0).sum(axis=1) - 1)
        test = 2 * classes.sum(axis=1) * _mutual_information(counts)[0]
        result[columns] = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), test), 1.0)
    return result


def label_codes(y: npt.ArrayLike) -> tuple[IntArray, int]:
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one label a row, got shape {labels.shape}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("y must not hold missing labels (NaN); leave these rows out.")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one kind, none missing: {error}.") from error
    return codes, len(classes)


def tables_of(
    X: Any,
    codes: IntArray,
    n_classes: int,
    n_outcomes: int | npt.ArrayLike | None,
    sample_weight: npt.ArrayLike | None,
) -> Iterator[tuple[slice, FloatArray]]:
    """Contingency tables of one block of columns after the other."""
    values = X.data if sp.issparse(X) else X
    V = int(values.max(initial=0)) + 1 if n_outcomes is None else int(np.max(n_outcomes, initial=1))
    if sp.issparse(X):
        X = canonical(X).tocsc()
    # counts, their logarithms and sums
    for columns in chunks(X.shape[1], 40 * V * n_classes):
        yield columns, contingency_table(X[:, columns], codes, n_classes, V, sample_weight)


def _mutual_information(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """I(feature; class), H(feature) and H(class) of each table (features, outcomes, classes)."""
    by_outcome, by_class = counts.sum(axis=2), counts.sum(axis=1)
    total = by_class.sum(axis=1)
    scale = 1 / np.where(total > 0, total, 1)
    log_total = np.log(total, where=total > 0, out=np.zeros_like(total))
    h_outcome = log_total - xlogy(by_outcome, by_outcome).sum(axis=1) * scale
    h_class = log_total - xlogy(by_class, by_class).sum(axis=1) * scale
    h_joint = log_total - xlogy(counts, counts).sum(axis=(1, 2)) * scale
    # a constant has no information, whatever the rounding of its sums
    one_outcome, one_class = (by_outcome > 0).sum(axis=1) < 2, (by_class > 0).sum(axis=1) < 2
    h_outcome[one_outcome], h_class[one_class] = 0.0, 0.0
    information = np.where(one_outcome | one_class, 0.0, np.maximum(h_outcome + h_class - h_joint, 0.0))
    return information, h_outcome, h_class


class _ExpectedInformation:
    """E[I] of tables with given marginals, under random pairing."""

    def __init__(self, class_counts: IntArray) -> None:
        self.class_counts = class_counts
        self.n = int(class_counts.sum())
        self.log_factorial = gammaln(np.arange(self.n + 1) + 1.0)
        self.known = np.full(self.n + 1, np.nan)
        self.known[0] = 0.0

    def __call__(self, by_outcome: IntArray, by_class: IntArray) -> FloatArray:
        """E[I] of each column: counts (columns, outcomes) and (columns, classes)."""
        complete = by_class.sum(axis=1) == self.n
        result = np.empty(len(by_outcome))
        rows = by_outcome[complete]
        seen = np.zeros(self.n + 1, dtype=bool)
        seen[rows.ravel()] = True
        new = np.flatnonzero(seen & np.isnan(self.known))
        if new.size:
            pairs = np.broadcast_arrays(new[:, None], self.class_counts)
            terms = self.terms(np.full(pairs[0].size, self.n), pairs[0].ravel(), pairs[1].ravel())
            self.known[new] = terms.reshape(pairs[0].shape).sum(axis=1)
        result[complete] = self.known[rows].sum(axis=1)
        partial = np.flatnonzero(~complete)
        if partial.size:
            result[partial] = self._with_missing(by_outcome[partial], by_class[partial])
        return result

    def _with_missing(self, by_outcome: IntArray, by_class: IntArray) -> FloatArray:
        a, b = np.broadcast_arrays(by_outcome[:, :, None], by_class[:, None, :])
        n = np.broadcast_to(by_class.sum(axis=1)[:, None, None], a.shape)
        # many columns share the same triple; its first two numbers are coded as one to sort less
        base = self.n + 1
        kinds, kind = np.unique((n * base + b).ravel(), return_inverse=True)
        triples, which = np.unique(kind * base + a.ravel(), return_inverse=True)
        kind_of = kinds[triples // base]
        terms = self.terms(kind_of // base, triples % base, kind_of % base)
        return np.asarray(terms[which].reshape(a.shape).sum(axis=(1, 2)))

    def terms(self, n: IntArray, a: IntArray, b: IntArray) -> FloatArray:
        """Sum over k of k/n log(n k/(a b)) P(k), k hypergeometric: b draws from n of which a count."""
        safe = np.maximum(n, 1)
        mean = a * (b / safe)
        # Bernstein: beyond this distance from the mean lies less than exp(-45) of the probability
        variance = mean * (1 - np.maximum(a, b) / safe)
        reach = 15 + np.sqrt(225 + 90 * variance)
        low = np.maximum(np.maximum(1, a + b - n), np.floor(mean - reach).astype(np.int64))
        high = np.minimum(np.minimum(a, b), np.ceil(mean + reach).astype(np.int64))
        length = np.where((a > 0) & (b > 0), np.maximum(high - low + 1, 0), 0)
        result = np.zeros(len(n))
        step = CHUNK_SIZES.terms
        edges = np.searchsorted(np.cumsum(length), np.arange(0, length.sum() + step, step), side="right")
        edges = np.unique(np.append(edges, [0, len(n)]))
        for start, stop in pairwise(edges):
            part = slice(start, stop)
            result[part] = self._sum_terms(n[part], a[part], b[part], low[part], length[part])
        return result

    def _sum_terms(self, n: IntArray, a: IntArray, b: IntArray, low: IntArray, length: IntArray) -> FloatArray:
        lf = self.log_factorial
        owner = np.repeat(np.arange(len(n)), length)
        first = np.cumsum(length) - length
        k = np.arange(len(owner)) + (low - first)[owner]
        fixed = lf[a] + lf[b] + lf[n - a] + lf[n - b] - lf[n]
        a, b, n = a[owner], b[owner], n[owner]
        log_p = fixed[owner] - lf[k] - lf[a - k] - lf[b - k] - lf[n - a - b + k]
        value = k / n * np.log(n * k / (a * b.astype(np.float64))) * np.exp(log_p)
        return np.asarray(np.bincount(owner, value, minlength=len(length)), dtype=np.float64)
