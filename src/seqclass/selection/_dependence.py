"""Dependence of columns with the class and with one another: information for discrete data, correlation for numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import stats

from seqclass._utils.arrays import CHUNK_BYTES, FloatArray, IntArray, chunks, chunks_by_size, smallest_int
from seqclass._utils.information import _mutual_information, tables_of
from seqclass._utils.model_files import register
from seqclass._utils.pair_counts import Indicators, indicators, joint_information
from seqclass.selection._reasons import ReasonLog


@dataclass(frozen=True)
class ColumnTuning:
    """How columns are coded, and what is worked on at a time."""

    max_span: int = 64  #: a column whose values reach further is recoded to those that it has


TUNING = ColumnTuning()


def columns_of_cells(X: Any) -> IntArray:
    """The column of each cell, or of each that a sparse matrix stores."""
    return np.asarray(X.tocoo().col if sp.issparse(X) else np.broadcast_to(np.arange(X.shape[1]), X.shape))


def outcome_columns(X: Any) -> Any:
    """Recode columns of integers to outcomes 0..V-1, -1 where missing."""
    is_sparse = sp.issparse(X)
    values, column = X.data if is_sparse else X, columns_of_cells(X)
    missing = _missing_cells(values, column)
    lowest, highest = _range(X, values, missing)
    # without negative values and without leaps the numbers are outcomes already
    offenders = np.flatnonzero((lowest < 0) | (highest >= TUNING.max_span))
    plain, top = values if missing is None else np.where(missing, -1, values), int(highest.max(initial=0))
    if offenders.size:
        plain, top = np.where(np.isin(column, offenders), 0, plain), max(TUNING.max_span, int(X.shape[0]))
    codes = plain.astype(smallest_int(top), order="F")
    for j in offenders:
        place = slice(X.indptr[j], X.indptr[j + 1]) if is_sparse else (slice(None), j)
        codes[place] = _recode(values[place], None if missing is None else missing[place], zero=is_sparse)
    return sp.csc_array((codes, X.indices, X.indptr), shape=X.shape) if is_sparse else codes


def check_whole_numbers(X: Any, first: int = 0, names: Any = None) -> None:
    """Refuse numbers that are no integers (NaN may be); the error names the column."""
    if X.dtype.kind != "f":
        return
    values = X.data if sp.issparse(X) else X
    for part in chunks(len(values), 24.0 * max(1, values[:1].size)):
        some = values[part]
        bad = (some != np.floor(some)) & ~np.isnan(some)
        if bad.any():
            column = int(columns_of_cells(X)[part][bad][0])
            name = first + column if names is None else repr(str(names[column]))
            raise ValueError(
                f"column {name} of X holds {some[bad][0]:g}: mutual information and symmetric uncertainty need "
                "discrete data. Discretise X first (seqclass.discretize.Discretizer), or use a measure for continuous "
                "data (measure='fisher_z' of SAOLA, test='fisher_z' of OSFS)."
            )


def _missing_cells(values: npt.NDArray[Any], column: IntArray) -> npt.NDArray[np.bool_] | None:
    """Which cells are missing, or None if none is."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    else:
        missing = values == -1
        if missing.any() and values.min() < -1:
            # no codes with missing ones: a column that goes below -1 holds -1 as a value
            wide = np.zeros(int(column.max()) + 1, dtype=bool)
            wide[column[values < -1]] = True
            missing &= ~wide[column]
    return missing if missing.any() else None


def _range(X: Any, values: Any, missing: npt.NDArray[np.bool_] | None) -> tuple[Any, Any]:
    """Smallest and largest value of each column; zero counts as one of them."""
    present = values if missing is None else np.where(missing, 0, values)
    if not sp.issparse(X):
        return present.min(axis=0, initial=0), present.max(axis=0, initial=0)
    lowest, highest = np.zeros((2, X.shape[1]), dtype=values.dtype)
    full = np.flatnonzero(np.diff(X.indptr))
    if full.size:
        lowest[full] = np.minimum(np.minimum.reduceat(present, X.indptr[full]), 0)
        highest[full] = np.maximum(np.maximum.reduceat(present, X.indptr[full]), 0)
    return lowest, highest


def _recode(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None, zero: bool) -> IntArray:
    """Rank each value among those of its column; ``zero`` says that zero must be outcome 0."""
    codes = np.full(len(values), -1)
    present = slice(None) if missing is None else ~missing
    if not zero:
        low = values[present].min(initial=np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).max)
        span = float(values[present].max(initial=low)) - float(low)
        if span < TUNING.max_span:
            codes[present] = (values[present] - low).astype(np.intp)
            return codes
    kinds, code = np.unique(values[present], return_inverse=True)
    if zero:
        # a zero that is stored is the same outcome as one that is not
        code = np.where(kinds == 0, 0, np.cumsum(kinds != 0))[code]
    codes[present] = code
    return codes


#: Differences below this are rounding.
TOLERANCE = 1e-11


@register
@dataclass
class Columns:
    """Columns that a measure has prepared; ``stats`` has a row for each."""

    values: Any
    stats: FloatArray
    #: Indicators of the outcomes, where a measure keeps them.
    cache: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def take(self, which: Any) -> Columns:
        """Return some of the columns."""
        if isinstance(which, slice):
            return Columns(self.values[:, which], self.stats[which])
        return Columns(self.values[:, np.asarray(which, dtype=np.intp)], self.stats[which])

    def join(self, other: Columns) -> Columns:
        """Return these columns and then the others."""
        stats = np.concatenate([self.stats, other.stats])
        if sp.issparse(self.values):
            return Columns(sp.hstack([self.values, other.values], format="csc"), stats)
        dtype = np.promote_types(self.values.dtype, other.values.dtype)
        values = np.empty((len(self.values), len(self) + len(other)), dtype=dtype, order="F")
        values[:, : len(self)], values[:, len(self) :] = self.values, other.values
        return Columns(values, stats)


class Dependence(ABC):
    """A symmetric measure of dependence, for rows of known classes."""

    @abstractmethod
    def prepare(self, X: Any) -> tuple[Columns, FloatArray]:
        """Turn raw columns into prepared ones, and work out the relevance of each."""

    @abstractmethod
    def relevant(self, relevance: FloatArray) -> Any:
        """Which columns are relevant."""

    @abstractmethod
    def pairs(self, a: Columns, b: Columns) -> FloatArray:
        """Dependence of every column of ``a`` with every one of ``b``, of shape (len(a), len(b))."""


def class_directions(codes: IntArray, values: FloatArray | None, n_classes: int) -> FloatArray:
    """Orthonormal directions of the class, (n, q): that of its numbers, or without such those of several groups."""
    if values is None and n_classes > 2:
        sizes = np.bincount(codes, minlength=n_classes)
        centred = (codes[:, None] == np.arange(n_classes)) / np.sqrt(sizes) - np.sqrt(sizes) / len(codes)
        return np.asarray(np.linalg.svd(centred, full_matrices=False)[0][:, : n_classes - 1])
    label = (codes if values is None else values).astype(np.float64)
    label = label - label.mean()
    return np.asarray(label / np.linalg.norm(label))[:, None]


@lru_cache(maxsize=64)
def critical_correlation(alpha: float, freedom: int, q: int) -> float:
    """Correlation with q directions below which a test does not reject; above one where there are too few rows."""
    if freedom <= 0:
        return 2.0
    if q == 1:
        return float(np.tanh(stats.norm.isf(alpha / 2) / np.sqrt(freedom)))
    # H0: eta^2 freedom / ((1 - eta^2) q) is F distributed
    critical = q / freedom * stats.f.isf(alpha, q, freedom)
    return float(np.sqrt(critical / (1 + critical)))


@register
class CorrelationDependence(Dependence):
    """Absolute correlation of columns of numbers, with the class as numbers or by groups."""

    def __init__(self, alpha: float, codes: IntArray, values: FloatArray | None, n_classes: int) -> None:
        n, lost = len(codes), n_classes if values is None and n_classes > 2 else 3
        if n <= lost:
            raise ValueError(f"measure='fisher_z' needs more than {lost} rows, got {n}.")
        self.basis = class_directions(codes, values, n_classes)
        self.threshold = critical_correlation(alpha, n - lost, self.basis.shape[1])

    def prepare(self, X: Any) -> tuple[Columns, FloatArray]:
        """Centre and scale; a sparse column stays as it is, and `stats` are its mean and one over its norm."""
        X = moderate(X.astype(np.float64))
        if sp.issparse(X):
            X, n = centre_full_columns(X), X.shape[0]
            mean, square = np.asarray(X.sum(axis=0)).ravel() / n, _column_squares(X)
            rest = square - n * mean**2
            scale = _inverse_root(rest, 1e-13 * square)
            columns = Columns(X, np.stack([mean, scale], axis=1))
            return columns, _length(self.with_class(columns))
        columns = Columns(np.asfortranarray(unit_columns(X)), np.zeros((X.shape[1], 2)))
        return columns, _length(self.with_class(columns))

    def relevant(self, relevance: FloatArray) -> Any:
        """Test at the level of significance."""
        return relevance >= self.threshold - TOLERANCE

    def pairs(self, a: Columns, b: Columns) -> FloatArray:
        return np.asarray(np.abs(self.correlations(a, b)))

    def correlations(self, a: Columns, b: Columns) -> FloatArray:
        """Correlation of every column of ``a`` with every one of ``b``."""
        if not sp.issparse(a.values):
            return np.asarray(np.clip(a.values.T @ b.values, -1.0, 1.0))
        (mean_a, scale_a), (mean_b, scale_b) = a.stats.T, b.stats.T
        product = (a.values.T @ b.values).toarray() - np.outer(a.values.shape[0] * mean_a, mean_b)
        return np.asarray(np.clip(product * np.outer(scale_a, scale_b), -1.0, 1.0))

    def with_class(self, columns: Columns) -> FloatArray:
        """Correlation of every column with each direction of ``basis``."""
        projection = columns.values.T @ self.basis
        return np.asarray(projection * columns.stats[:, 1:] if sp.issparse(columns.values) else projection)


def unit_columns(X: FloatArray) -> FloatArray:
    """Columns about their mean, of length 1; constant ones are zero."""
    square = np.einsum("ij,ij->j", X, X)
    X = X - X.mean(axis=0)
    X *= _inverse_root(np.einsum("ij,ij->j", X, X), 1e-26 * square)
    return X


def centre_full_columns(X: Any) -> Any:
    """Sparse columns without an implicit zero about their mean; ``X`` is changed in place.

    Beside the mean what a column tells may be small. Where there is a zero, it is not: that differs by the mean itself.
    """
    stored = np.diff(X.indptr)
    full = stored == X.shape[0]
    if full.any():
        square = _column_squares(X)
        X.data -= np.repeat(np.where(full, np.asarray(X.sum(axis=0)).ravel() / X.shape[0], 0.0), stored)
        X.data[np.repeat(full & (_column_squares(X) <= 1e-26 * square), stored)] = 0.0  # constant, but for rounding
    return X


def _column_squares(X: Any) -> FloatArray:
    """Sum of the squares of each sparse column."""
    return np.asarray(np.add.reduceat(np.append(X.data**2, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0))


def _inverse_root(squares: FloatArray, rounding: FloatArray) -> FloatArray:
    """1/sqrt, 0 for what only rounding keeps from zero."""
    constant = squares <= rounding
    return np.where(constant, 0.0, 1 / np.sqrt(np.where(constant, 1.0, squares)))


def _length(projection: FloatArray) -> FloatArray:
    return np.asarray(np.minimum(np.sqrt(np.einsum("ij,ij->i", projection, projection)), 1.0))


def moderate(X: Any) -> Any:
    """Scale columns of floats whose squares would overflow or vanish; ``X`` may be changed in place."""
    if sp.issparse(X):
        peak = np.maximum.reduceat(np.append(np.abs(X.data), 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
    else:
        peak = np.maximum(X.max(axis=0), -X.min(axis=0))
    extreme = ((peak > 1e100) | (peak < 1e-100)) & (peak > 0)
    if not extreme.any():
        return X
    scale = np.where(extreme, peak, 1.0)
    if sp.issparse(X):
        X.data /= np.repeat(scale, np.diff(X.indptr))
    else:
        X /= scale
    return X


def blocks(X: Any) -> Iterator[tuple[int, int]]:
    """Cut columns so that what is made of a block fits in memory."""
    n, n_features = X.shape
    parts = chunks(n_features, 16 * n)
    if sp.issparse(X):
        # what is made of a column takes as much as sixteen stored values
        parts = chunks_by_size(X.indptr[1:] + 16 * np.arange(1, n_features + 1), CHUNK_BYTES // 32)
    for part in parts:
        yield part.start, part.stop


def relevant_columns(
    measure: Dependence, X: Any, log: ReasonLog, first: int = 0
) -> Iterator[tuple[Columns, IntArray, FloatArray]]:
    """Prepared columns that are relevant, block by block, with their numbers from ``first`` on and their relevance."""
    for start, stop in blocks(X):
        columns, relevance = measure.prepare(X[:, start:stop])
        log.scores(relevance)
        relevant = np.flatnonzero(measure.relevant(relevance))
        if relevant.size:
            yield columns.take(relevant), first + start + relevant, relevance[relevant]


@register
class InformationDependence(Dependence):
    """Mutual information in bits, or symmetric uncertainty 2 I / (H + H), over rows where both are present."""

    def __init__(self, normalised: bool, threshold: float, codes: IntArray, n_classes: int) -> None:
        self.normalised, self.threshold = normalised, threshold
        self.codes, self.n_classes = codes, n_classes

    def prepare(self, X: Any) -> tuple[Columns, FloatArray]:
        """Recode to outcomes; `stats` are the number of outcomes and the entropy in nats."""
        return self.count_kinds(X)[:2]

    def count_kinds(self, X: Any) -> tuple[Columns, FloatArray, IntArray]:
        """As `prepare`, and how many outcomes occur in each column: fewer than there are where numbers have gaps."""
        codes = outcome_columns(X)
        stats, kinds = np.empty((codes.shape[1], 2)), np.empty(codes.shape[1], dtype=np.intp)
        relevance = np.empty(codes.shape[1])
        for part, counts in tables_of(codes, self.codes, self.n_classes, None, None):
            information, h_feature, h_class = _mutual_information(counts)
            present = counts.sum(axis=2) > 0
            stats[part, 0] = counts.shape[1] - np.argmax(present[:, ::-1], axis=1)
            stats[part, 1], kinds[part] = h_feature, present.sum(axis=1)
            both = h_feature + h_class
            scaled = np.divide(2 * information, both, out=np.zeros_like(both), where=both > 0)
            relevance[part] = scaled if self.normalised else information / np.log(2)
        return Columns(codes, stats), relevance, kinds

    def relevant(self, relevance: FloatArray) -> Any:
        """Compare with the threshold."""
        return relevance > self.threshold + TOLERANCE

    def pairs(self, a: Columns, b: Columns) -> FloatArray:
        result = np.empty((len(a), len(b)))
        for left in _indicators(a):
            for right in _indicators(b):
                result[np.ix_(left.columns, right.columns)] = joint_information(left, right, self.normalised)
        return result if self.normalised else result / np.log(2)


def _indicators(columns: Columns) -> list[Indicators]:
    if columns.cache is not None:
        return list(columns.cache)
    sizes = columns.stats[:, 0].astype(np.intp)
    groups = indicators(columns.values, sizes, columns.stats[:, 1])
    size = 0 if sp.issparse(columns.values) else 8 * columns.values.shape[0] * int(sizes.sum())
    if size < CHUNK_BYTES:
        columns.cache = groups
    return groups
