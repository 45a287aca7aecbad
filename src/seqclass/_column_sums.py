"""What bins are cut by, of rows that come in chunks: counts, ranges and sketches of columns, which add up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._edges import frequent_values
from seqclass._few_values import few_dense, few_of_both, few_sparse
from seqclass._information import canonical

#: Size of a sketch: ranks are right to 0.14% of the rows with 99% confidence, as its `normalized_rank_error` says.
SKETCH = 2000


class Sketches:
    """Sketches of the quantiles of some columns (KLL), of their values but for one apart."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @classmethod
    def empty(cls, n: int) -> Sketches:
        """Sketches of no rows.

        Raises
        ------
        ValueError
            If datasketches is not installed.
        """
        try:
            from datasketches import kll_doubles_sketch
        except ImportError as error:
            raise ValueError(
                "quantile bins from chunks need datasketches: run pip install 'seqclass[large]', or take "
                "strategy='uniform'."
            ) from error
        return cls([kll_doubles_sketch(SKETCH) for _ in range(n)])

    def __add__(self, other: Sketches) -> Sketches:
        total = Sketches.empty(len(self.parts))
        for one, *parts in zip(total.parts, self.parts, other.parts):
            for part in parts:
                one.merge(part)
        return total

    def __getstate__(self) -> list[bytes]:
        return [part.serialize() for part in self.parts]

    def __setstate__(self, state: list[bytes]) -> None:
        from datasketches import kll_doubles_sketch

        self.parts = [kll_doubles_sketch.deserialize(part) for part in state]

    def take(self, columns: IntArray) -> Sketches:
        """Those of some columns."""
        return Sketches([self.parts[j] for j in columns.tolist()])

    def at(self, position: IntArray) -> FloatArray:
        """Value of each column at a position in rising order; 0 of a column without values."""
        found = np.zeros(len(self.parts))
        for j, (part, place) in enumerate(zip(self.parts, position.tolist())):
            if part.n:
                rank = (min(max(place, 0), part.n - 1) + 0.5) / part.n
                found[j] = part.get_quantile(rank, True)
        return found


@dataclass
class ColumnSums:
    """Counts and ranges of the columns of some rows, one value of each column apart from the others.

    Attributes
    ----------
    n_rows : int
    value : ndarray of shape (n_features,)
        The value apart: zero, or one that may be frequent.
    n_missing, n_zero, n_own, n_below : ndarray of int of shape (n_features,)
        Cells that are NaN, that are zero, that hold the value apart, and that are below it.
    low, high, distance : ndarray of shape (n_features,)
        Least and largest other value, and how far the nearest lies from the one apart; inf, -inf and inf where there is
        none.
    few : ndarray of int of shape (n_features, 2)
        Columns of few whole numbers; see `seqclass._few_values`.
    voted : ndarray of shape (n_features,)
        The only value that more than half of the known cells can hold; see `ahead`.
    ahead : ndarray of int of shape (n_features,)
        By how many cells it is ahead of what was counted against it; 0 where no value is that frequent.
    sketches : Sketches or None
        Of the other values.
    """

    n_rows: int
    value: FloatArray
    n_missing: IntArray
    n_zero: IntArray
    n_own: IntArray
    n_below: IntArray
    low: FloatArray
    high: FloatArray
    distance: FloatArray
    few: IntArray
    voted: FloatArray
    ahead: IntArray
    sketches: Sketches | None = field(default=None, repr=False)

    @classmethod
    def of(cls, X: Any, sketch: bool = False, value: FloatArray | None = None) -> ColumnSums:
        """Look at some rows, dense or sparse, without infinity; of dense ones any value may stand apart, by default 0.

        Examples
        --------
        >>> sums = ColumnSums.of(np.array([[0.0, 1.5], [2.0, np.nan]]))
        >>> sums.n_zero, sums.low
        (array([1, 0]), array([2. , 1.5]))
        >>> both = sums + ColumnSums.of(sp.csr_array([[-1.0, 0.0]]))
        >>> both.range.tolist()
        [[-1.0, 0.0], [2.0, 1.5]]
        """
        n, p = X.shape
        missing, zero, own, below, ahead = np.zeros((5, p), dtype=np.int64)
        low, high, distance, voted = np.zeros((4, p))
        apart, few = np.zeros(p) if value is None else value, np.zeros((p, 2), np.int64)
        sketches = Sketches.empty(p) if sketch else None
        sums = cls(n, apart, missing, zero, own, below, low, high, distance, few, voted, ahead, sketches)
        if sp.issparse(X):
            sums._sparse(canonical(X).tocsc())
            return sums
        for columns in chunks(p, 32 * n):
            sums._dense(np.array(X[:, columns].T, dtype=np.float64, order="C"), columns)
        return sums

    def _dense(self, values: FloatArray, columns: slice) -> None:
        value = self.value[columns, None]
        own = values == value
        self.n_missing[columns] = np.isnan(values).sum(axis=1)
        self.n_zero[columns] = np.count_nonzero(values == 0, axis=1)
        self.n_own[columns], self.n_below[columns] = own.sum(axis=1), (values < value).sum(axis=1)
        self.few[columns] = few_dense(values)
        voted, count = frequent_values(values)
        self.voted[columns] = np.nan_to_num(voted)
        self.ahead[columns] = np.where(np.isnan(voted), 0, 2 * count - self.n_known[columns])
        values[own] = np.nan
        self.low[columns] = np.fmin.reduce(values, axis=1, initial=np.inf)
        self.high[columns] = np.fmax.reduce(values, axis=1, initial=-np.inf)
        self.distance[columns] = np.fmin.reduce(np.abs(values - value), axis=1, initial=np.inf)
        if self.sketches is not None:
            for part, column in zip(self.sketches.parts[columns], values):
                part.update(column[~np.isnan(column)])

    def _sparse(self, X: Any) -> None:
        n, p = X.shape
        column, value = np.repeat(np.arange(p), np.diff(X.indptr)), X.data.astype(np.float64)
        missing = np.isnan(value)
        keep = ~missing & (value != 0)
        self.n_missing[:] = np.bincount(column[missing], minlength=p)
        column, value = column[keep], value[keep]
        size = np.bincount(column, minlength=p)
        self.n_zero[:] = self.n_own[:] = n - self.n_missing - size
        self.n_below[:] = np.bincount(column[value < 0], minlength=p)
        self.low[:], self.high[:], self.distance[:] = np.inf, -np.inf, np.inf
        np.minimum.at(self.low, column, value)
        np.maximum.at(self.high, column, value)
        self.few[:] = few_sparse(value, column, size, self.n_zero > 0)
        if self.sketches is not None:
            for part, own in zip(self.sketches.parts, np.split(value, np.cumsum(size)[:-1])):
                part.update(own)

    def __add__(self, other: ColumnSums) -> ColumnSums:
        # a value of more than half of all cells is ahead in some parts, and by more than all others there
        against = np.where(self.voted == other.voted, other.ahead, -other.ahead)
        return ColumnSums(
            self.n_rows + other.n_rows,
            self.value,
            self.n_missing + other.n_missing,
            self.n_zero + other.n_zero,
            self.n_own + other.n_own,
            self.n_below + other.n_below,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.minimum(self.distance, other.distance),
            few_of_both(self.few, other.few, self.n_known > 0, other.n_known > 0),
            np.where(self.ahead >= other.ahead, self.voted, other.voted),
            np.abs(self.ahead + against),
            None if self.sketches is None or other.sketches is None else self.sketches + other.sketches,
        )

    @property
    def n_known(self) -> IntArray:
        """Cells that are not missing, by column."""
        return np.asarray(self.n_rows - self.n_missing)

    @property
    def range(self) -> FloatArray:
        """Smallest and largest value of each column, (2, n_features); NaN where all are missing."""
        low = np.where(self.n_own > 0, np.minimum(self.low, self.value), self.low)
        high = np.where(self.n_own > 0, np.maximum(self.high, self.value), self.high)
        return np.where(self.n_known > 0, np.stack([low, high]), np.nan)

    def take(self, columns: IntArray) -> ColumnSums:
        """Those of some columns."""
        arrays: dict[str, Any] = {
            name: each[columns] for name, each in vars(self).items() if isinstance(each, np.ndarray)
        }
        return replace(self, **arrays, sketches=None if self.sketches is None else self.sketches.take(columns))

    def at(self, position: IntArray, whole: BoolArray) -> FloatArray:
        """Value of each column at a position in rising order, of all its values or of the others; by sketches."""
        assert self.sketches is not None
        n_own = np.where(whole, self.n_own, 0)
        beyond = position >= self.n_below + n_own
        found = self.sketches.at(position - np.where(beyond, n_own, 0))
        return np.where(beyond | (position < self.n_below), found, self.value)
