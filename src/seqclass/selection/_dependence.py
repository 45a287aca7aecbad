"""Dependence of columns with the class and with one another: information for discrete data, correlation for numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import stats
from scipy.special import xlogy

from seqclass._utils.arrays import FloatArray, IntArray, chunks, chunks_by_size, smallest_int
from seqclass._utils.information import _mutual_information, canonical, tables_of
from seqclass._utils.model_files import register

#: Outcomes are padded to one of these, so that columns of similar sizes go together.
_SIZES = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])


@dataclass(frozen=True)
class CountingTuning:
    """How pairs of columns are counted, and what is worked on at a time."""

    max_products: int = 48  #: pairs of outcomes beyond which rows of dense columns are counted one by one
    chunk_cells: int = 2**19  #: counts of pairs held at a time
    chunk_counted: int = 2**20  #: rows times columns counted at a time
    max_span: int = 64  #: a column whose values reach further is recoded to those that it has
    chunk_columns: int = 2**17  #: columns of a sparse matrix that are prepared at a time
    chunk_stored: int = 2**21  #: stored values of it, likewise
    max_kept_bytes: int = 32 * 2**20  #: indicators that take less are kept for the next comparison


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
    for rows, columns, counts in _joint_counts(left, right):
        if missing:
            information, h_left, h_right = _with_missing(counts, left.values.shape[0])
        else:
            n = left.values.shape[0]
            h_left, h_right = left.entropy[rows, None], right.entropy[None, columns]
            h_joint = np.log(n) - _n_log_n(counts, n).sum(axis=(0, 1)) / n
            information = np.maximum(h_left + h_right - h_joint, 0.0)
        if normalised:
            both = h_left + h_right
            information = np.divide(2 * information, both, out=np.zeros_like(information), where=both > 0)
        result[rows, columns] = information
    return result


def _with_missing(counts: IntArray, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    by_left, by_right = counts.sum(axis=1), counts.sum(axis=0)
    present = by_left.sum(axis=0)
    some = np.maximum(present, 1)
    log_n = np.log(some)
    h_left = np.maximum(log_n - _n_log_n(by_left, n).sum(axis=0) / some, 0.0)
    h_right = np.maximum(log_n - _n_log_n(by_right, n).sum(axis=0) / some, 0.0)
    h_joint = log_n - _n_log_n(counts, n).sum(axis=(0, 1)) / some
    return np.maximum(h_left + h_right - h_joint, 0.0), h_left, h_right


@lru_cache(maxsize=2)
def _log_table(n: int) -> FloatArray:
    k = np.arange(n + 1.0)
    return np.asarray(xlogy(k, k))


def _n_log_n(counts: IntArray, n: int) -> FloatArray:
    if n < 2**22:
        return np.take(_log_table(n), counts)
    return np.asarray(xlogy(counts, counts))


def _joint_counts(left: Indicators, right: Indicators) -> Iterator[tuple[slice, slice, IntArray]]:
    """Counts (outcomes of left, of right, left columns, right columns) of one block of pairs after the other."""
    dense = not sp.issparse(left.values)
    if dense and left.n_indicators * right.n_indicators > TUNING.max_products:
        yield from _tables_by_counting(left, right)
        return
    left.build()
    right.build()
    n_left, n_right = left.n_indicators, right.n_indicators
    m, width = len(left.columns), len(right.columns)
    cells = (n_left + 1) * (n_right + 1)
    for columns in chunks(width, cells, TUNING.chunk_cells):
        b = right.matrix if columns == slice(0, width) else right.matrix[_index(n_right, width, columns)]
        budget = 4 * TUNING.chunk_cells if dense else TUNING.chunk_cells
        for rows in chunks(m, cells * (columns.stop - columns.start), budget):
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


def _tables_by_counting(left: Indicators, right: Indicators) -> Iterator[tuple[slice, slice, IntArray]]:
    """Contingency tables by counting rows, for many outcomes."""
    n, m = left.values.shape
    n_left, n_right = left.n_outcomes + left.missing, right.n_outcomes + right.missing
    cells = n_left * n_right
    dtype = smallest_int(cells * m)
    for rows in chunks(m, max(n, cells), TUNING.chunk_counted):
        width = rows.stop - rows.start
        # missing cells come first, where there are any
        base = (left.values[:, rows] + left.missing).astype(dtype)
        base *= n_right
        base += (np.arange(width) * cells).astype(dtype)
        for j in range(right.values.shape[1]):
            index = base + (right.values[:, j, None] + right.missing).astype(dtype)
            table = np.bincount(index.ravel(), minlength=width * cells).reshape(width, n_left, n_right)
            table = table[:, int(left.missing) :, int(right.missing) :]
            yield rows, slice(j, j + 1), table.transpose(1, 2, 0)[..., None]


def outcome_columns(X: Any, first: int = 0) -> Any:
    """Recode columns of integers to outcomes 0..V-1, -1 where missing."""
    if sp.issparse(X):
        X = canonical(X)
        values, column = X.data, np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    else:
        values, column = X, np.broadcast_to(np.arange(X.shape[1]), X.shape)
    missing = _missing_cells(values, column, first)
    lowest, highest = _range(X, values, missing)
    # without negative values and without leaps the numbers are outcomes already
    offenders = np.flatnonzero((lowest < 0) | (highest >= TUNING.max_span))
    wide = np.zeros(X.shape[1], dtype=bool)
    wide[offenders] = True
    plain = values if missing is None else np.where(missing, -1, values)
    if offenders.size:
        plain = np.where(wide[column], 0, plain)
    top = max(TUNING.max_span, int(X.shape[0])) if offenders.size else int(highest.max(initial=0))
    codes = plain.astype(smallest_int(top))
    if not sp.issparse(X):
        codes = np.asfortranarray(codes)
        for j in offenders:
            codes[:, j] = _recode(X[:, j], None if missing is None else missing[:, j], zero=False)
        return codes
    for j in offenders:
        part = slice(X.indptr[j], X.indptr[j + 1])
        codes[part] = _recode(X.data[part], None if missing is None else missing[part], zero=True)
    return sp.csc_array((codes, X.indices, X.indptr), shape=X.shape)


def check_whole_numbers(X: Any, first: int = 0, names: Any = None) -> None:
    """Refuse numbers that are no integers (NaN may be); the error names the column."""
    if X.dtype.kind != "f":
        return
    X = canonical(X) if sp.issparse(X) else X
    values = X.data if sp.issparse(X) else X
    for part in chunks(len(values), 24.0 * max(1, values[:1].size)):
        some = values[part]
        bad = (some != np.floor(some)) & ~np.isnan(some)
        if bad.any():
            where = X.tocoo().col[part] if sp.issparse(X) else np.broadcast_to(np.arange(X.shape[1]), some.shape)
            column = int(where[bad][0])
            _refuse(first + column if names is None else repr(str(names[column])), some[bad][0])


def _refuse(column: int | str, value: Any) -> NoReturn:
    raise ValueError(
        f"column {column} of X holds {value:g}: mutual information and symmetric uncertainty need discrete data. "
        "Discretise X first (seqclass.discretize.Discretizer), or use a measure for continuous data "
        "(measure='fisher_z' of SAOLA, test='fisher_z' of OSFS)."
    )


def _missing_cells(values: npt.NDArray[Any], column: IntArray, first: int) -> npt.NDArray[np.bool_] | None:
    """Which cells are missing, or None if none is; refuses what is no outcome."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
        bad = (values != np.floor(values)) & ~missing
        if bad.any():
            _refuse(first + int(column[bad][0]), values[bad][0])
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
    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray]:
        """Turn raw columns into prepared ones, and work out the relevance of each; ``first`` is the first's number."""

    @abstractmethod
    def relevant(self, relevance: FloatArray) -> Any:
        """Which columns are relevant."""

    @abstractmethod
    def pairs(self, a: Columns, b: Columns) -> FloatArray:
        """Dependence of every column of ``a`` with every one of ``b``, of shape (len(a), len(b))."""


@register
class CorrelationDependence(Dependence):
    """Absolute correlation of columns of numbers, with the class as numbers or by groups."""

    def __init__(self, alpha: float, codes: IntArray, values: FloatArray | None, n_classes: int) -> None:
        n = len(codes)
        groups = values is None and n_classes > 2
        if n <= (n_classes if groups else 3):
            raise ValueError(f"measure='fisher_z' needs more than {n_classes if groups else 3} rows, got {n}.")
        if groups:
            # H0: eta^2 (n - C) / ((1 - eta^2) (C - 1)) is F distributed
            critical = (n_classes - 1) / (n - n_classes) * stats.f.isf(alpha, n_classes - 1, n - n_classes)
            self.threshold = float(np.sqrt(critical / (1 + critical)))
            sizes = np.bincount(codes, minlength=n_classes)
            centred = (codes[:, None] == np.arange(n_classes)) / np.sqrt(sizes) - np.sqrt(sizes) / n
            self.basis = np.linalg.svd(centred, full_matrices=False)[0][:, : n_classes - 1]
        else:
            self.threshold = float(np.tanh(stats.norm.isf(alpha / 2) / np.sqrt(n - 3)))
            label = (codes if values is None else values).astype(np.float64)
            label = label - label.mean()
            self.basis = (label / np.linalg.norm(label))[:, None]

    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray]:
        """Centre and scale; a sparse column stays as it is, and `stats` are its mean and one over its norm."""
        X = moderate(X.astype(np.float64))
        if sp.issparse(X):
            n = X.shape[0]
            mean = np.asarray(X.sum(axis=0)).ravel() / n
            square = np.add.reduceat(np.append(X.data**2, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
            rest = square - n * mean**2
            scale = _inverse_root(rest, 1e-13 * square)
            columns = Columns(X, np.stack([mean, scale], axis=1))
            return columns, _length(self.with_class(columns))
        square = np.einsum("ij,ij->j", X, X)
        X = X - X.mean(axis=0)
        X *= _inverse_root(np.einsum("ij,ij->j", X, X), 1e-26 * square)
        columns = Columns(np.asfortranarray(X), np.zeros((X.shape[1], 2)))
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
        parts = chunks_by_size(X.indptr[1:], TUNING.chunk_stored, TUNING.chunk_columns)
    for part in parts:
        yield part.start, part.stop


@register
class InformationDependence(Dependence):
    """Mutual information in bits, or symmetric uncertainty 2 I / (H + H), over rows where both are present."""

    def __init__(self, normalised: bool, threshold: float, codes: IntArray, n_classes: int) -> None:
        self.normalised, self.threshold = normalised, threshold
        self.codes, self.n_classes = codes, n_classes

    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray]:
        """Recode to outcomes; `stats` are the number of outcomes and the entropy in nats."""
        codes = outcome_columns(X, first)
        stats = np.empty((codes.shape[1], 2))
        relevance = np.empty(codes.shape[1])
        for part, counts in tables_of(codes, self.codes, self.n_classes, None, None):
            information, h_feature, h_class = _mutual_information(counts)
            present = counts.sum(axis=2) > 0
            stats[part, 0] = counts.shape[1] - np.argmax(present[:, ::-1], axis=1)
            stats[part, 1] = h_feature
            both = h_feature + h_class
            scaled = np.divide(2 * information, both, out=np.zeros_like(both), where=both > 0)
            relevance[part] = scaled if self.normalised else information / np.log(2)
        return Columns(codes, stats), relevance

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
    size = 0 if sp.issparse(columns.values) else 4 * columns.values.shape[0] * int(sizes.sum())
    if size < TUNING.max_kept_bytes:
        columns.cache = groups
    return groups
