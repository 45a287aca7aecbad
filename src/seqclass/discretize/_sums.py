"""What bins are cut by, of rows that come in chunks: counts, ranges and sketches of columns, which add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.information import canonical
from seqclass.discretize import Discretizer
from seqclass.discretize._edges import (
    TUNING,
    bins_by_rule,
    bins_per_feature,
    check_cuts,
    few_dense,
    few_of_both,
    few_sparse,
    frequent_values,
    has_own_bin,
    quantile_edges,
    single_value_bins,
    uniform_edges,
)
from seqclass.discretize.discretizer import leave_one_out_by_counts


class Sketches:
    """Sketches of the quantiles of some columns (KLL), of their values but for one apart."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @classmethod
    def empty(cls, n: int) -> Sketches:
        try:
            from datasketches import kll_doubles_sketch
        except ImportError as error:
            raise ValueError(
                "quantile bins from chunks need datasketches: run pip install 'seqclass[large]', or take "
                "strategy='uniform'."
            ) from error
        # ranks are right to 0.14% of the rows with 99% confidence, as its `normalized_rank_error` says
        return cls([kll_doubles_sketch(2000) for _ in range(n)])

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
        return Sketches([self.parts[j] for j in columns.tolist()])

    def quantile_at(self, position: IntArray) -> FloatArray:
        """Value of each column at a position in rising order; 0 of a column without values."""
        values = np.zeros(len(self.parts))
        for j, (part, place) in enumerate(zip(self.parts, position.tolist())):
            if part.n:
                rank = (min(max(place, 0), part.n - 1) + 0.5) / part.n
                values[j] = part.get_quantile(rank, True)
        return values


@dataclass
class ColumnSums:
    """Counts and ranges of the columns of some rows, one value of each column apart from the others."""

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
    def from_rows(cls, X: Any, sketch: bool = False, value: FloatArray | None = None) -> ColumnSums:
        """Look at some rows, dense or sparse, without infinity."""
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
        return np.asarray(self.n_rows - self.n_missing)

    @property
    def range(self) -> FloatArray:
        """Smallest and largest value of each column, (2, n_features); NaN where all are missing."""
        low = np.where(self.n_own > 0, np.minimum(self.low, self.value), self.low)
        high = np.where(self.n_own > 0, np.maximum(self.high, self.value), self.high)
        return np.where(self.n_known > 0, np.stack([low, high]), np.nan)

    def take(self, columns: IntArray) -> ColumnSums:
        arrays: dict[str, Any] = {
            name: each[columns] for name, each in vars(self).items() if isinstance(each, np.ndarray)
        }
        return replace(self, **arrays, sketches=None if self.sketches is None else self.sketches.take(columns))

    def value_at(self, position: IntArray, whole: BoolArray) -> FloatArray:
        """Value of each column at a position in rising order, of all its values or of the others; by sketches."""
        assert self.sketches is not None
        n_own = np.where(whole, self.n_own, 0)
        beyond = position >= self.n_below + n_own
        quantile = self.sketches.quantile_at(position - np.where(beyond, n_own, 0))
        return np.where(beyond | (position < self.n_below), quantile, self.value)


def number_of_bins(n_bins: Any, sums: ColumnSums, n_classes: int) -> IntArray:
    """Outcomes of each feature that a setting asks for."""
    n_features = len(sums.low)
    if isinstance(n_bins, str):
        mostly_zero = bool(2 * sums.n_zero.sum() > sums.n_known.sum())
        return np.full(n_features, bins_by_rule(n_bins, sums.n_rows, n_classes, lambda: mostly_zero), dtype=np.int64)
    number = bins_per_feature(n_bins, n_features)
    if (number > TUNING.free_bins).any():
        raise ValueError(
            f"n_bins beyond {TUNING.free_bins} are bounded by the number of distinct values, which chunks do not tell: "
            f"give {TUNING.free_bins} at most, or fit to a sample of the rows."
        )
    return number


def fit_to_sums(
    discretizer: Discretizer, sums: ColumnSums, n_classes: int, sparse: bool, sample: Callable[[], tuple[Any, Any]]
) -> list[Discretizer]:
    """Fit a discretiser to what is known of the columns; with ``strategy="auto"`` both of which the labels choose."""
    check_cuts(discretizer.strategy, discretizer.zero_bin)
    if discretizer.strategy == "mdlp":
        part = clone(discretizer).fit(*sample())
        part.few_values_ = sums.few
        return [part]
    n_bins = number_of_bins(discretizer.n_bins, sums, n_classes)
    often = np.ones(len(n_bins), dtype=bool) if sparse else 2 * sums.n_own > sums.n_known
    low, high = sums.range
    constant = ~(low < high)
    own = has_own_bin(discretizer.zero_bin, often, n_bins) & ~constant
    kinds = {"uniform": (False,), "quantile": (True,), "auto": (False, True)}[discretizer.strategy]
    discretizers = []
    for quantile in kinds:
        part = clone(discretizer)
        part.n_features_in_ = len(n_bins)
        part.own_bins_ = single_value_bins(own, sums.value, sums.distance)
        part.zero_first_, part.few_values_ = sparse, sums.few
        part._cut(_edges(sums, own, n_bins, quantile), constant)
        discretizers.append(part)
    return discretizers


def _edges(sums: ColumnSums, own: BoolArray, n_bins: IntArray, quantile: bool) -> FloatArray:
    parts, width = n_bins - own, int(n_bins.max(initial=1)) - 1
    if quantile:
        size = sums.n_known - np.where(own, sums.n_own, 0)
        return quantile_edges(lambda position: sums.value_at(position, ~own), size, parts, width)
    low, high = sums.range
    return uniform_edges(np.where(own, sums.low, low), np.where(own, sums.high, high), parts, width)


def choose_better(one: Discretizer, other: Discretizer, counts: FloatArray, other_counts: FloatArray) -> Discretizer:
    """Of each feature the bins, of two discretisers, that say more of labels left out of the count."""
    takes = leave_one_out_by_counts(other_counts) > leave_one_out_by_counts(counts)
    width = max(one.bin_edges_.shape[1], other.bin_edges_.shape[1])
    padded = [
        np.pad(part.bin_edges_, ((0, 0), (0, width - part.bin_edges_.shape[1])), constant_values=np.inf)
        for part in (one, other)
    ]
    constant = (one.n_outcomes_ == 1) & ~one._has_own_bin & (other.n_outcomes_ == 1)
    one._cut(np.where(takes[:, None], padded[1], padded[0]), constant)
    return one
