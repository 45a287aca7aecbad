"""Joint counts of pairs of discretised columns, by products of indicators, and the information that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from seqclass._utils.arrays import CACHE_BYTES, FloatArray, IntArray, chunks, smallest_int
from seqclass._utils.model_files import register

#: Outcomes are padded to one of these, so that columns of similar sizes go together.
_SIZES = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])


@dataclass(frozen=True)
class CountingTuning:
    """How pairs of columns are counted, and what is worked on at a time."""

    max_products: int = 48  #: pairs of outcomes beyond which rows of dense columns are counted one by one
    max_cells: int = 2**22  #: of the table of two columns, beyond which only pairs that occur are counted
    cells_per_row: int = 16  #: of such a table, which is large only if it has more


TUNING = CountingTuning()


@register
@dataclass
class Indicators:
    """Columns with about the same number of outcomes, ready for joint counts with others."""

    columns: IntArray
    values: Any
    n_outcomes: int
    missing: bool
    entropy: FloatArray
    matrix: Any = None
    counts: Any = None

    @property
    def n_indicators(self) -> int:
        """Indicators of a column."""
        return self.n_outcomes - 1 + self.missing

    def build(self) -> None:
        """Make the indicators, unless they are there."""
        if self.matrix is not None:
            return
        n, m = self.values.shape
        if sp.issparse(self.values):
            data = self.values.data.astype(np.int64)
            which = np.where(data < 0, self.n_outcomes, data) - 1
            column = np.repeat(np.arange(m), np.diff(self.values.indptr))
            kept = which >= 0
            index = (which * m + column)[kept], self.values.indices[kept]
            shape = (self.n_indicators * m, n)
            self.matrix = sp.csr_array((np.ones(len(index[0])), index), shape=shape)
        else:
            dtype = np.float32 if n < 2**24 else np.float64  # up to which float32 holds integers exactly
            kinds = [*range(1, self.n_outcomes), *([-1] if self.missing else [])]
            stacked = np.empty((len(kinds), m, n), dtype=dtype)
            for k, kind in enumerate(kinds):
                stacked[k] = kind == self.values.T
            self.matrix = stacked.reshape(-1, n)
        ones = np.ones(n, dtype=self.matrix.dtype)
        self.counts = np.asarray(self.matrix @ ones).reshape(self.n_indicators, m).astype(np.int64)


def indicators(values: Any, sizes: IntArray, entropy: FloatArray) -> list[Indicators]:
    """Sort columns into groups of about the same number of outcomes."""
    kind = np.searchsorted(_SIZES, sizes)
    groups = []
    for k in np.unique(kind):
        columns = np.flatnonzero(kind == k)
        part = values if len(columns) == len(sizes) else values[:, columns]
        held = part.data if sp.issparse(part) else part
        padded = int(_SIZES[k]) if k < len(_SIZES) else int(sizes[columns].max())
        groups.append(Indicators(columns, part, padded, bool(held.size) and bool(held.min() < 0), entropy[columns]))
    return groups


def joint_information(left: Indicators, right: Indicators, normalised: bool) -> FloatArray:
    """Mutual information (nats) or symmetric uncertainty of each pair, over the rows where both are present."""
    result = np.empty((len(left.columns), len(right.columns)))
    missing = left.missing or right.missing
    for rows, columns, counts in joint_counts(left, right):
        if missing or isinstance(counts, PairSums):
            sums = counts if isinstance(counts, PairSums) else _sums_of(counts, left.values.shape[0])
            information, h_left, h_right = _with_missing(*sums)
        else:
            n = left.values.shape[0]
            h_left, h_right = left.entropy[rows, None], right.entropy[None, columns]
            h_joint = np.log(n) - n_log_n(counts, n).sum(axis=(0, 1)) / n
            information = np.maximum(h_left + h_right - h_joint, 0.0)
        if normalised:
            both = h_left + h_right
            information = np.divide(2 * information, both, out=np.zeros_like(information), where=both > 0)
        result[rows, columns] = information
    return result


class PairSums(NamedTuple):
    """Rows with both of two columns present, and sums of k log k over the counts of either and of both."""

    present: IntArray
    left: FloatArray
    right: FloatArray
    both: FloatArray


def _sums_of(counts: IntArray, n: int) -> PairSums:
    by_left, by_right = counts.sum(axis=1), counts.sum(axis=0)
    left, right = n_log_n(by_left, n).sum(axis=0), n_log_n(by_right, n).sum(axis=0)
    return PairSums(by_left.sum(axis=0), left, right, n_log_n(counts, n).sum(axis=(0, 1)))


def _with_missing(
    present: IntArray, left: FloatArray, right: FloatArray, both: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    some = np.maximum(present, 1)
    log_n = np.log(some)
    h_left = np.maximum(log_n - left / some, 0.0)
    h_right = np.maximum(log_n - right / some, 0.0)
    h_joint = log_n - both / some
    return np.maximum(h_left + h_right - h_joint, 0.0), h_left, h_right


def pair_information(counts: IntArray | PairSums, n: int) -> tuple[FloatArray, IntArray]:
    """Information of each pair times the rows with both present, and their number."""
    if isinstance(counts, PairSums):
        return (n_log_n(counts.present, n) - counts.right) - (counts.left - counts.both), counts.present
    present = counts.sum(axis=(0, 1))
    of_right = n_log_n(present, n) - n_log_n(counts.sum(axis=0), n).sum(axis=0)
    # of a constant feature exactly nothing
    given_left = n_log_n(counts.sum(axis=1), n).sum(axis=0) - n_log_n(counts, n).sum(axis=0).sum(axis=0)
    return of_right - given_left, present


@lru_cache(maxsize=2)
def _log_table(n: int) -> FloatArray:
    k = np.arange(n + 1.0)
    return np.asarray(xlogy(k, k))


def n_log_n(counts: IntArray, n: int) -> FloatArray:
    if n < 2**22:
        return np.take(_log_table(n), counts)
    return np.asarray(xlogy(counts, counts))


def joint_counts(
    left: Indicators, right: Indicators, n: int | None = None
) -> Iterator[tuple[slice, slice, IntArray | PairSums]]:
    """Counts (outcomes of left, of right, left columns, right columns) of one block of pairs after the other.

    Where the table of a pair would be large, the sums of its counts. Blocks are those of ``n`` rows, so that they are
    alike for parts of the rows.
    """
    dense = not sp.issparse(left.values)
    n = left.values.shape[0] if n is None else n
    if left.n_outcomes * right.n_outcomes > max(TUNING.max_cells, TUNING.cells_per_row * n):
        yield from _sums_of_those_that_occur(left, right)
        return
    if dense and left.n_indicators * right.n_indicators > TUNING.max_products:
        yield from _tables_by_counting(left, right, n)
        return
    left.build()
    right.build()
    n_left, n_right = left.n_indicators, right.n_indicators
    m, width = len(left.columns), len(right.columns)
    cells = (n_left + 1) * (n_right + 1)
    for columns in chunks(width, 8.0 * cells, CACHE_BYTES):
        b = right.matrix if columns == slice(0, width) else right.matrix[_index(n_right, width, columns)]
        row_bytes = (2.0 if dense else 8.0) * cells * (columns.stop - columns.start)
        for rows in chunks(m, row_bytes, CACHE_BYTES):
            a = left.matrix if rows == slice(0, m) else left.matrix[_index(n_left, m, rows)]
            product = a @ b.T
            product = product if dense else product.toarray()
            shape = (n_left, rows.stop - rows.start, n_right, columns.stop - columns.start)
            table = _complete(
                product.reshape(shape).transpose(0, 2, 1, 3),
                left.counts[:, rows],
                right.counts[:, columns],
                left.values.shape[0],
            )
            yield rows, columns, table[: left.n_outcomes, : right.n_outcomes]


def _sums_of_those_that_occur(left: Indicators, right: Indicators) -> Iterator[tuple[slice, slice, PairSums]]:
    """Sums of one pair after the other, as many outcomes never meet."""
    n = left.values.shape[0]
    for i in range(len(left.columns)):
        a = _column(left.values, i)
        for j in range(len(right.columns)):
            b = _column(right.values, j)
            there = (a >= 0) & (b >= 0)
            kinds = a[there], b[there], a[there] * right.n_outcomes + b[there]
            sums = [n_log_n(np.unique(kind, return_counts=True)[1], n).sum().reshape(1, 1) for kind in kinds]
            yield slice(i, i + 1), slice(j, j + 1), PairSums(there.sum().reshape(1, 1), *sums)


def _column(values: Any, j: int) -> IntArray:
    column = values[:, [j]]
    return np.asarray(column.toarray() if sp.issparse(column) else column).ravel().astype(np.int64)


def _index(n_indicators: int, m: int, part: slice) -> IntArray:
    return np.asarray((np.arange(n_indicators)[:, None] * m + np.arange(part.start, part.stop)).ravel())


def _complete(inner: FloatArray, left: IntArray, right: IntArray, n: int) -> IntArray:
    """Add outcome 0, which has no indicator: what the others leave of the marginal counts."""
    table = np.empty((inner.shape[0] + 1, inner.shape[1] + 1, *inner.shape[2:]), dtype=np.intp)
    table[1:, 1:] = inner
    table[1:, 0] = left[:, :, None] - table[1:, 1:].sum(axis=1)
    table[0, 1:] = right[:, None, :] - table[1:, 1:].sum(axis=0)
    table[0, 0] = (n - left.sum(axis=0))[:, None] - table[0, 1:].sum(axis=0)
    return table


def _tables_by_counting(left: Indicators, right: Indicators, n: int) -> Iterator[tuple[slice, slice, IntArray]]:
    """Contingency tables by counting rows, for many outcomes."""
    m = len(left.columns)
    n_left, n_right = left.n_outcomes + left.missing, right.n_outcomes + right.missing
    cells = n_left * n_right
    dtype = smallest_int(cells * m)
    for rows in chunks(m, 2.0 * max(n, cells), CACHE_BYTES):
        width = rows.stop - rows.start
        # missing cells come first, where there are any; of a type that holds a number beyond the last outcome
        base = left.values[:, rows].astype(dtype)
        base += left.missing
        base *= n_right
        base += (np.arange(width) * cells + right.missing).astype(dtype)
        for j in range(right.values.shape[1]):
            index = base + right.values[:, j, None].astype(dtype)
            table = np.bincount(index.ravel(), minlength=width * cells).reshape(width, n_left, n_right)
            table = table[:, int(left.missing) :, int(right.missing) :]
            yield rows, slice(j, j + 1), table.transpose(1, 2, 0)[..., None]
