"""Marks of the rows that a classifier was fitted to, by which it knows them again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.stats import binom

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass._utils.model_files import register

Marks = npt.NDArray[np.uint64]

#: Most marks that a classifier keeps: those of the rows with the least, which is a sample of rows.
MOST_MARKS = 4096
#: So improbable a number of familiar rows is not taken for chance.
_CHANCE = 1e-4
#: Standard errors that the number of twins is allowed.
_ERRORS = 4.0
#: Cells that a column's training range is cut into, in which rounded values stay; so odd a number that values of few
#: digits do not lie on their ends.
_CELLS = 271.8


@register
@dataclass(frozen=True, eq=False)
class SeenRows:
    """Marks of training rows: all of them, or the least ones where there are many."""

    marks: Marks
    complete: bool
    n_rows: int
    n_twins: int
    coarse: SeenRows | None = None

    @classmethod
    def of(cls, marks: Marks) -> SeenRows:
        """Keep marks of training rows."""
        return cls.counted(*np.unique(marks, return_counts=True))

    @classmethod
    def counted(cls, distinct: Marks, counts: IntArray) -> SeenRows:
        """Keep distinct marks, in rising order, of so many training rows each: of all, or more than are kept."""
        complete = distinct.size <= MOST_MARKS
        distinct, counts = distinct[:MOST_MARKS], counts[:MOST_MARKS]
        return cls(distinct, complete, int(counts.sum()), int(counts[counts > 1].sum()))

    def familiar(self, marks: Marks) -> tuple[int, int]:
        """How many rows have a mark that is kept, and how many could have had one."""
        could = marks if self.complete else marks[marks <= self.marks[-1]]
        return int(np.isin(could, self.marks).sum()), int(could.size)

    def beyond_chance(self, marks: Marks, coarse: bool = False) -> bool:
        """Whether more rows are familiar than fresh ones would be, of which as many have a twin as of training rows."""
        n_familiar, n_rows = self.familiar(marks)
        few = 2 * _ERRORS if coarse or self.n_twins or np.unique(marks).size < marks.size else 1.0
        twins = self.n_twins + _ERRORS * np.sqrt(2 * self.n_twins) + few
        share = min(1.0, 2 * twins / (self.n_rows + 1))
        return n_familiar > 0 and float(binom.sf(n_familiar - 1, n_rows, share)) < _CHANCE

    def recognised(self, marks: list[Marks]) -> tuple[IntArray, int] | None:
        """Rows, given by their marks, that look like training rows, of so many; None where that may be chance."""
        for own, these in zip((self, self.coarse), marks):
            if own is not None and own.beyond_chance(these, coarse=own is self.coarse):
                return np.flatnonzero(np.isin(these, own.marks)), own.familiar(these)[1]
        return None


def row_marks(X: Any, columns: IntArray, codes: IntArray, cells: FloatArray | None = None) -> Marks:
    """A number for each row, the same for the same values in some columns and the same class, (n,)."""
    factors = _mixed(columns.astype(np.uint64) + np.uint64(1)) | np.uint64(1)
    total = _mixed(codes.astype(np.uint64) + np.uint64(2**32))
    if sp.issparse(X):
        some = sp.csr_array(X[:, columns])
        some.sum_duplicates()
        some.data = some.data if cells is None else np.floor(some.data / cells[some.indices])
        bits = sp.csr_array((_bits(some.data), some.indices, some.indptr), shape=some.shape)
        total += np.asarray(bits @ factors, dtype=np.uint64)
    else:
        for part in chunks(X.shape[0], 16.0 * columns.size):
            values = X[part][:, columns]
            total[part] += _bits(values if cells is None else np.floor(values / cells)) @ factors
    return _mixed(total)


def _bits(values: Any) -> Marks:
    """Bits of single precision, in which the same table from another file agrees; one NaN, and one zero."""
    with np.errstate(over="ignore"):
        single = np.asarray(values).astype(np.float32)
    single[single == 0] = 0.0
    bits = single.view(np.uint32)
    bits[np.isnan(single)] = 0x7FC00000
    return bits.astype(np.uint64)


def _mixed(numbers: Marks) -> Marks:
    """Spread numbers over all 64 bits (the finaliser of splitmix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def both_marks(seen: list[SeenRows]) -> SeenRows:
    """Marks of rows with those of their cells beside them, if there are."""
    return replace(seen[0], coarse=seen[1] if len(seen) > 1 else None)


def cells_of(value_range: FloatArray | None, columns: IntArray) -> list[FloatArray | None]:
    """For each kind of marks the widths of cells; None for the values themselves."""
    if value_range is None:
        return [None]
    low, high = value_range[:, columns]
    with np.errstate(invalid="ignore", over="ignore"):
        width = (high - low) / _CELLS
    return [None, np.where(np.isfinite(width) & (width > 0), width, 1.0)]


def least_marks(X: Any, columns: IntArray, codes: IntArray, cells: FloatArray | None = None) -> tuple[Marks, IntArray]:
    """The least marks of some of the rows, one more than are kept, and how many rows have each; see `row_marks`."""
    distinct, counts = np.unique(row_marks(X, columns, codes, cells), return_counts=True)
    return distinct[: MOST_MARKS + 1], counts[: MOST_MARKS + 1]


def least_of_both(one: tuple[Marks, IntArray], other: tuple[Marks, IntArray]) -> tuple[Marks, IntArray]:
    """The same of the rows of both."""
    distinct, at = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(counts, at.ravel(), np.concatenate([one[1], other[1]]))
    return distinct[: MOST_MARKS + 1], counts[: MOST_MARKS + 1]


def check_seen(seen: SeenRows) -> None:
    """Check marks that were read from a file; raises where they are wrong."""
    marks, n = seen.marks, seen.n_rows
    sound = isinstance(marks, np.ndarray) and marks.dtype == np.uint64 and marks.ndim == 1 and marks.size > 0
    if not sound or (marks[1:] <= marks[:-1]).any() or type(seen.complete) is not bool:
        raise ValueError("marks of training rows are wrong")
    if not (type(n) is int and type(seen.n_twins) is int and marks.size <= n and 0 <= seen.n_twins <= n):
        raise ValueError("numbers of training rows are wrong")
    if not (seen.coarse is None or isinstance(seen.coarse, SeenRows)):
        raise ValueError("marks of cells of training rows are wrong")
