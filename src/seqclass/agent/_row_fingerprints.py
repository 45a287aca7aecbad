"""Marks of the rows that a classifier was fitted to, by which it knows them again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import stats

from seqclass._utils.arrays import FloatArray, IntArray, chunks, mix_bits
from seqclass._utils.model_files import register
from seqclass._utils.stored import require, require_whole

Marks = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class FingerprintTuning:
    """When rows count as those of the training."""

    max_marks: int = 4096  #: that a classifier keeps: those of the rows with the least, which is a sample of rows
    chance: float = 1e-4  #: so improbable a number of familiar rows is not taken for chance
    twin_errors: float = 4.0  #: standard errors that the number of twins is allowed
    #: that a column's training range is cut into, in which rounded values stay; so odd that values of few digits do not
    #: lie on their ends
    n_cells: float = 271.8


TUNING = FingerprintTuning()


@register
@dataclass(frozen=True, eq=False)
class RowFingerprints:
    """Marks of training rows: all of them, or the least ones where there are many."""

    marks: Marks
    complete: bool
    n_rows: int
    n_twins: int
    coarse: RowFingerprints | None = None

    @classmethod
    def from_counts(cls, distinct: Marks, counts: IntArray) -> RowFingerprints:
        """Keep distinct marks, in rising order, of so many training rows each: of all, or more than are kept."""
        complete = distinct.size <= TUNING.max_marks
        distinct, counts = distinct[: TUNING.max_marks], counts[: TUNING.max_marks]
        return cls(distinct, complete, int(counts.sum()), int(counts[counts > 1].sum()))

    def familiar(self, marks: Marks) -> tuple[int, int]:
        """How many rows have a mark that is kept, and how many could have had one."""
        could = marks if self.complete else marks[marks <= self.marks[-1]]
        return int(np.isin(could, self.marks).sum()), int(could.size)

    def beyond_chance(self, marks: Marks, coarse: bool = False) -> bool:
        """Whether more rows are familiar than fresh ones would be, of which as many have a twin as of training rows."""
        n_familiar, n_rows = self.familiar(marks)
        few = 2 * TUNING.twin_errors if coarse or self.n_twins or np.unique(marks).size < marks.size else 1.0
        twins = self.n_twins + TUNING.twin_errors * np.sqrt(2 * self.n_twins) + few
        share = min(1.0, 2 * twins / (self.n_rows + 1))
        return n_familiar > 0 and float(stats.binom.sf(n_familiar - 1, n_rows, share)) < TUNING.chance

    def recognise(self, marks: list[Marks]) -> tuple[IntArray, int] | None:
        """Rows, given by their marks, that look like training rows, of so many; None where that may be chance."""
        for own, these in zip((self, self.coarse), marks):
            if own is not None and own.beyond_chance(these, coarse=own is self.coarse):
                return np.flatnonzero(np.isin(these, own.marks)), own.familiar(these)[1]
        return None

    def _check_stored(self) -> None:
        marks = self.marks
        sound = isinstance(marks, np.ndarray) and marks.dtype == np.uint64 and marks.ndim == 1 and marks.size > 0
        rising = sound and (marks[1:] > marks[:-1]).all() and type(self.complete) is bool
        require(rising, "marks of training rows are wrong")
        require(marks.size <= require_whole(self, "n_rows", 0), "numbers of training rows are wrong")
        require_whole(self, "n_twins", 0, self.n_rows)
        require(isinstance(self.coarse, (RowFingerprints, type(None))), "marks of cells of training rows are wrong")


def row_marks(X: Any, columns: IntArray, codes: IntArray, cells: FloatArray | None = None) -> Marks:
    """A number for each row, the same for the same values in some columns and the same class, (n,)."""
    factors = mix_bits(columns.astype(np.uint64) + np.uint64(1)) | np.uint64(1)
    total = mix_bits(codes.astype(np.uint64) + np.uint64(2**32))
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
    return mix_bits(total)


def _bits(values: Any) -> Marks:
    """Bits of single precision, in which the same table from another file agrees; one NaN, and one zero."""
    with np.errstate(over="ignore"):
        single = np.asarray(values).astype(np.float32)
    single[single == 0] = 0.0
    bits = single.view(np.uint32)
    bits[np.isnan(single)] = 0x7FC00000
    return bits.astype(np.uint64)


def both_marks(seen: list[RowFingerprints]) -> RowFingerprints:
    """Marks of rows with those of their cells beside them, if there are."""
    return replace(seen[0], coarse=seen[1] if len(seen) > 1 else None)


def cells_of(value_range: FloatArray | None, columns: IntArray) -> list[FloatArray | None]:
    """For each kind of marks the widths of cells; None for the values themselves."""
    if value_range is None:
        return [None]
    low, high = value_range[:, columns]
    with np.errstate(invalid="ignore", over="ignore"):
        width = (high - low) / TUNING.n_cells
    return [None, np.where(np.isfinite(width) & (width > 0), width, 1.0)]


def least_marks(X: Any, columns: IntArray, codes: IntArray, cells: FloatArray | None = None) -> tuple[Marks, IntArray]:
    """The least marks of some of the rows, one more than are kept, and how many rows have each; see `row_marks`."""
    distinct, counts = np.unique(row_marks(X, columns, codes, cells), return_counts=True)
    return distinct[: TUNING.max_marks + 1], counts[: TUNING.max_marks + 1]


def least_of_both(one: tuple[Marks, IntArray], other: tuple[Marks, IntArray]) -> tuple[Marks, IntArray]:
    """The least marks of the rows of both, and how many rows have each; see `least_marks`."""
    distinct, at = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(counts, at.ravel(), np.concatenate([one[1], other[1]]))
    return distinct[: TUNING.max_marks + 1], counts[: TUNING.max_marks + 1]
