"""From raw features to outcomes: categories, a discretiser, and the number of outcomes of each feature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks, smallest_int
from seqclass._utils.frames import (
    FrameEncoder,
    Levels,
    all_numbers,
    array_if_empty,
    is_frame,
    plain_data,
    refuse_numbers,
    take_columns,
    to_frame,
)
from seqclass._utils.information import canonical
from seqclass._utils.model_files import register
from seqclass._utils.stored import check_array, check_whole, is_fitted, require, require_array
from seqclass._utils.text import raise_all, short_repr
from seqclass._utils.validation import check_n_classes, columns_of, plain_labels
from seqclass.bn._checks import count_outcomes
from seqclass.discretize import Discretizer
from seqclass.discretize._sums import ColumnSums, fit_to_sums
from seqclass.discretize.outcomes import check_outcomes

#: Number types that are taken as they are.
_DTYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8]


def check_training(
    estimator: Any, X: Any, y: npt.ArrayLike, encoder: FrameEncoder | None = None
) -> tuple[Any, npt.NDArray[Any], FrameEncoder | None]:
    """Check training data and turn a data frame into numbers, with an encoder that is given or one of its own."""
    X = plain_data(X)
    encoder = (encoder or FrameEncoder().fit(X)) if is_frame(X) else None
    if encoder is not None:
        X = encoder.encode(X)
    y = plain_labels(y)
    X, y = check_features(estimator, X, y=y)
    check_classification_targets(y)
    classes = np.unique(y)
    check_n_classes(len(classes))
    if len(classes) < 2:
        raise ValueError(f"y holds only one class, {short_repr(classes.tolist()[0])}; a classifier needs at least two.")
    return X, np.asarray(y), encoder


def check_input(estimator: Any, X: Any, encoder: FrameEncoder | None, unknown: str = "error") -> Any:
    """Check new data against the training data."""
    given, X = X, plain_data(X)
    if not is_frame(X) and encoder is not None and encoder.categories_:
        X = to_frame(X)  # a part of an array with texts that holds none
    if is_frame(X) and not hasattr(given, "columns"):
        encoder = FrameEncoder().fit_levels(dict.fromkeys(X.columns, Levels())) if encoder is None else encoder
        if encoder.categories_ and encoder.columns_ != X.columns.tolist():
            raise ValueError("X must be a data frame: the classifier was fitted on one with categorical columns.")
    if encoder is not None and is_frame(X):
        X = encoder.encode(X, unknown)
    return check_features(estimator, X, reset=False)


def check_features(estimator: Any, X: Any, **how: Any) -> Any:
    """Check features; the estimator gets ``n_features_in_`` and ``feature_names_in_``, unless it has them."""
    if how.get("reset", True) and isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iu":
        for j, column in enumerate(np.asarray(X).T):  # of a matrix, which scikit-learn refuses, columns too
            refuse_numbers(column, j)
    if not how.get("reset", True) and (values := _plain_floats(estimator, X)) is not None:
        return values
    X = array_if_empty(X) if how.get("reset", True) else X  # of which scikit-learn says what is wrong
    try:
        # sums of hostile columns overflow, which tells scikit-learn what it wants to know
        with np.errstate(all="ignore"):
            return validate_data(
                estimator, X, accept_sparse=("csr", "csc"), dtype=_DTYPES, ensure_all_finite="allow-nan", **how
            )
    except ValueError as error:
        if "infinity" not in str(error):
            raise
        raise_all(_infinite(X))
        raise


def _plain_floats(estimator: Any, X: Any) -> FloatArray | None:
    """New data that scikit-learn would give back as they are: finite floats, of a frame in the columns it knows."""
    if (names := getattr(estimator, "feature_names_in_", None)) is not None:
        X = X.to_numpy() if is_frame(X) and X.columns.tolist() == names.tolist() and all_numbers(X) else None
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or not len(X):
        return None
    return X if X.shape[1] == estimator.n_features_in_ and not np.isinf(X).any() else None


def _infinite(X: Any) -> list[str]:
    """Say where the first infinite number of each column is."""
    if sp.issparse(X):
        X = X.tocoo()
        at = np.flatnonzero(np.isinf(X.data.astype(np.float64)))
        where = [(int(X.row[i]), int(X.col[i])) for i in at]
    else:
        with np.errstate(over="ignore"):
            where = list(zip(*(at.tolist() for at in np.isinf(np.asarray(X, dtype=np.float64)).nonzero())))
    first = {column: row for row, column in reversed(where)}
    names = getattr(X, "columns", None)
    return [
        f"column {short_repr(column if names is None else names[column])} holds infinity in row "
        f"{row if names is None else X.index[row]}: correct it, or leave it missing."
        for column, row in sorted(first.items())
    ]


def complete_rows(X: Any, names: npt.NDArray[Any] | None, encoder: FrameEncoder | None, n_columns: int) -> Any:
    """Rows of dicts by feature, or of a data frame by names of its columns: what is left out is missing."""
    if hasattr(X, "columns"):
        return take_columns(X, names, encoder)
    rows = [X] if isinstance(X, Mapping) else X
    if not isinstance(rows, (list, tuple)) or not rows or not all(isinstance(row, Mapping) for row in rows):
        return X
    table = np.full((len(rows), n_columns), None, dtype=object)
    columns: dict[tuple[Any, ...], list[int]] = {}  # most rows name the same
    for i, row in enumerate(rows):
        if (keys := tuple(row)) not in columns:
            columns[keys] = columns_of(row, n_columns, names, f"row {i}").tolist()
        for column, value in zip(columns[keys], row.values()):
            table[i, column] = value
    if names is None and (encoder is None or not encoder.categories_):
        return to_numeric_table(table)
    import pandas as pd

    frame = pd.DataFrame(table, columns=encoder.columns_ if names is None and encoder is not None else names)
    return frame.infer_objects()


def to_numeric_table(table: npt.NDArray[Any]) -> FloatArray:
    """Cells as numbers; NaN where there is None."""
    with suppress(TypeError, ValueError, OverflowError):
        return table.astype(np.float64)
    numbers = np.full(table.shape, np.nan)
    for i, j in zip(*np.nonzero(table != None)):  # noqa: E711 (cell by cell)
        try:
            numbers[i, j] = float(table[i, j])
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"row {i}: x{j} must be a number, got {short_repr(table[i, j])}.") from None
    return numbers


def category_counts(encoder: FrameEncoder | None) -> dict[int, int]:
    """Number of categories of each categorical column, by column number."""
    if encoder is None:
        return {}
    position = {name: j for j, name in enumerate(encoder.columns_)}
    return {position[name]: len(categories) for name, categories in encoder.categories_.items()}


@register
class OutcomeCoder:
    """Turns a numeric matrix into outcomes: categorical columns as they are, the others through a discretiser.

    Parameters
    ----------
    discretizer : transformer, "precomputed" or None
        An unfitted transformer to non-negative integers; None: `Discretizer` with its defaults; ``"precomputed"``: the
        matrix holds outcomes already.
    categories : dict of int to int
        Number of categories of each categorical column, whose values are the categories' numbers.
    informative : bool
        Whether a missing cell is an outcome, the last one, of each column that lacks some in training.
    names : sequence or None
        Names of the columns, for messages about outcomes that are computed elsewhere.

    Attributes
    ----------
    discretizer_ : transformer or None
        The fitted transformer of the numeric columns.
    n_outcomes_ : ndarray of int of shape (n_features,)
        Number of outcomes of each feature.
    missing_ : ndarray of bool of shape (n_features,) or None
        Columns of which a missing cell is an outcome; None: of none.
    range_ : ndarray of shape (2, n_features) or None
        Smallest and largest value of each feature in training, NaN where all are missing. None in a coder of some
        columns only.

    Examples
    --------
    >>> import numpy as np
    >>> coder = OutcomeCoder(Discretizer(2), {})
    >>> coder.fit_transform(np.array([[0.5], [1.5], [2.5]]), None)
    array([[0],
           [1],
           [1]], dtype=int8)
    """

    discretizer_: Any
    n_outcomes_: IntArray
    example_: Any
    range_: FloatArray | None = None
    missing_: BoolArray | None = None
    #: Names or numbers of the columns of outcomes that are computed elsewhere, for messages.
    names_: list[Any] | None = None

    def __init__(
        self,
        discretizer: Any = None,
        categories: dict[int, int] | None = None,
        informative: bool = False,
        names: Sequence[Any] | None = None,
    ) -> None:
        self.discretizer, self.informative = discretizer, informative
        self.categories = {} if categories is None else categories
        if names is not None and isinstance(discretizer, str):
            self.names_ = list(names)

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Fit the discretiser and return the outcomes of the training data."""
        self._begin(X.shape[1])
        if self.numeric_.size and not isinstance(self.discretizer, str):
            self.discretizer_ = clone(Discretizer() if self.discretizer is None else self.discretizer)
            self._despite_gaps(lambda part: self.discretizer_.fit(part, y), self._numeric_part(X))
            self._read_n_outcomes()
        self._remember(X)
        codes = self._code(X)
        self._check_by_column(X)
        if not hasattr(self.discretizer_, "n_outcomes_"):
            self.n_outcomes_ = np.maximum(self.n_outcomes_, count_outcomes(codes))
        if self.informative:
            self.missing_as_outcome(_any_missing(codes))
        return self._code_missing(codes)

    def missing_as_outcome(self, columns: BoolArray) -> None:
        """Make missing cells an outcome of some columns, a mask of them."""
        self.missing_, self.n_outcomes_ = columns, self.n_outcomes_ + columns

    @property
    def n_value_outcomes(self) -> IntArray:
        """Number of outcomes of each feature that are values, (n_features,)."""
        return self.n_outcomes_ if self.missing_ is None else self.n_outcomes_ - self.missing_

    @property
    def missing_code(self) -> IntArray:
        """What a missing cell of each feature is, (n_features,): its last outcome, or -1."""
        if self.missing_ is None:
            return np.full(len(self.n_outcomes_), -1, dtype=np.intp)
        return np.where(self.missing_, self.n_outcomes_ - 1, -1)

    def fit_sums(
        self, sums: ColumnSums, first: FloatArray, n_classes: int, sparse: bool, sample: Callable[[], tuple[Any, Any]]
    ) -> list[OutcomeCoder]:
        """Fit the discretiser to what is known of the columns of rows that come in chunks.

        Gives this coder; or, where the labels choose between two ways to cut, one for each. ``sample`` gives some rows
        and their labels, for bins that need these.
        """
        self._begin(len(sums.low))
        self.example_, self.range_ = first, sums.range
        for j, n_categories in self.categories.items():
            self.range_[:, j] = (0, n_categories - 1) if n_categories else np.nan
        if isinstance(self.discretizer, str):
            highest = np.nan_to_num(self.range_[1], nan=0.0).astype(np.intp)
            self.n_outcomes_ = np.maximum(self.n_outcomes_, highest + 1)
        elif self.numeric_.size:
            discretizer = Discretizer() if self.discretizer is None else self.discretizer
            if type(discretizer) is not Discretizer:
                return [self.with_bins(discretizer)]

            def numeric() -> tuple[Any, Any]:
                X, y = sample()
                return self._numeric_part(X), y

            ways = fit_to_sums(discretizer, sums.take(self.numeric_), n_classes, sparse, numeric)
            return [self.with_bins(way) for way in ways]
        return [self]

    def as_fitted(self, X: Any) -> OutcomeCoder:
        """Take the discretiser as it is, fitted already, for data such as these."""
        self._begin(X.shape[1])
        if not isinstance(self.discretizer, str):
            self.discretizer_ = check_fitted_bins(self.discretizer)
            self._read_n_outcomes()
        self._remember(X)
        self._check_by_column(X)
        return self

    def with_bins(self, discretizer: Any) -> OutcomeCoder:
        """Return the same coder with other bins, which are fitted."""
        coder = copy(self)
        coder.discretizer_, coder.n_outcomes_ = discretizer, self.n_outcomes_.copy()
        coder._read_n_outcomes()
        return coder

    def transform(self, X: Any) -> Any:
        """Return the outcomes of new data, -1 where missing and that is no outcome."""
        codes = self._code(X)
        if not hasattr(self.discretizer_, "n_outcomes_"):
            codes = check_outcomes(codes, self.n_value_outcomes, names=self.names_)
        return self._code_missing(codes)

    def _code_missing(self, codes: Any) -> Any:
        """Codes in which missing cells are outcomes, where they are."""
        if self.missing_ is None or not self.missing_.any():
            return codes
        dtype = np.promote_types(codes.dtype, smallest_int(int(self.n_outcomes_.max())))
        if sp.issparse(codes):
            cells = codes.tocoo()
            data, gone = cells.data.astype(dtype), self.missing_code[cells.col]
            data = np.where(data < 0, gone, data).astype(dtype)
            return sp.coo_array((data, (cells.row, cells.col)), shape=codes.shape).asformat(codes.format)
        result = codes.astype(dtype)
        np.copyto(result, self.missing_code.astype(dtype), where=result < 0)
        return result

    def restrict(self, columns: IntArray) -> OutcomeCoder:
        """Return a coder of some columns only, where the discretiser can do that; else itself."""
        if self.discretizer_ is not None and not hasattr(self.discretizer_, "restrict"):
            return self
        part = OutcomeCoder(self.discretizer)
        part.example_ = self.example_[:, columns]
        position = {int(j): i for i, j in enumerate(columns)}
        part.categories = {position[j]: n for j, n in self.categories.items() if j in position}
        part.numeric_ = np.flatnonzero(np.isin(columns, self.numeric_))
        part.n_outcomes_ = self.n_outcomes_[columns]
        part.missing_ = None if self.missing_ is None else self.missing_[columns]
        part.names_ = columns.tolist() if self.names_ is None else [self.names_[j] for j in columns]
        part.discretizer_ = None
        if self.discretizer_ is not None:
            # numeric columns are in increasing order
            inner = np.searchsorted(self.numeric_, columns[part.numeric_])
            part.discretizer_ = self.discretizer_.restrict(inner)
        return part

    @property
    def bins(self) -> Discretizer | None:
        """The discretiser, where it is seqclass's own, whose bins are known; else None."""
        return self.discretizer_ if isinstance(self.discretizer_, Discretizer) else None

    def code_value(self, column: int, value: float) -> int:
        """Outcome of one value of a column; see `code_values`."""
        if value == value and column in self.categories:  # whose numbers are the outcomes
            return int(value)
        return int(self.code_values(column, np.array([value]))[0])

    def code_values(self, column: int, values: FloatArray) -> IntArray:
        """Outcomes of some values of a column, -1 where missing and that is no outcome."""
        if self.bins is not None and column not in self.categories:
            inner = column if not self.categories else int(np.searchsorted(self.numeric_, column))
            outcomes = self.bins._outcomes(values, inner)
            return outcomes if self.missing_ is None else np.where(outcomes < 0, self.missing_code[column], outcomes)
        outcome = np.full(len(values), self.missing_code[column], dtype=np.int32)
        there = np.flatnonzero(~np.isnan(values))
        if column in self.categories:  # whose numbers are the outcomes
            outcome[there] = values[there].astype(np.intp)
            return outcome
        coder = self.restrict(np.array([column]))
        at = column if coder is self else 0
        for part in chunks(there.size, 16.0 * coder.example_.shape[1]):
            rows = np.repeat(coder.example_.astype(np.float64), len(there[part]), axis=0)
            rows[:, at] = values[there[part]]
            outcome[there[part]] = coder.transform(rows)[:, at]
        return outcome

    def training_range(self, column: int) -> tuple[float, float] | None:
        """Smallest and largest value of a column in training; None where that is not known."""
        low, high = (math.nan, math.nan) if self.range_ is None else self.range_[:, column].tolist()
        return None if math.isnan(low) else (low, high)

    def labels(self, feature: int, *, intervals: bool = False) -> list[str]:
        """Describe the outcomes of a numeric feature for people, such as ``"[1.2, 3.4)"``; see `Discretizer`."""
        position = int(np.searchsorted(self.numeric_, feature))
        last = ["missing"] if self.missing_code[feature] >= 0 else []
        if self.bins is not None and feature not in self.categories:
            return self.bins.bin_labels(position, intervals=intervals) + last
        if hasattr(self.discretizer_, "bin_labels") and feature not in self.categories:
            return list(self.discretizer_.bin_labels(position)) + last
        return [str(v) for v in range(int(self.n_value_outcomes[feature]))] + last

    def few_values(self, feature: int) -> FloatArray:
        """Whole numbers that training showed of a numeric feature, where they are few; else none."""
        if self.bins is None or feature in self.categories:
            return np.empty(0)
        return self.bins.few_values(int(np.searchsorted(self.numeric_, feature)))

    def _remember(self, X: Any) -> None:
        # one row that any discretiser takes, for the values of live cases; its own, or all rows would stay in memory
        self.example_ = X[:1].copy() if hasattr(X, "dtype") and not sp.issparse(X) else X[[0]].toarray()
        self.range_ = value_range(X)

    def _begin(self, n_features: int) -> None:
        self.numeric_ = np.setdiff1d(np.arange(n_features), list(self.categories), assume_unique=True)
        self.n_outcomes_ = np.ones(n_features, dtype=np.intp)
        for j, n_categories in self.categories.items():
            self.n_outcomes_[j] = max(1, n_categories)
        self.discretizer_ = None
        self.missing_ = None
        if isinstance(self.discretizer, str) and self.discretizer != "precomputed":
            raise ValueError(
                f'discretizer must be a transformer such as seqclass.discretize.Discretizer(strategy="mdlp"), None or '
                f'"precomputed", got {short_repr(self.discretizer)}.'
            )

    def _numeric_part(self, X: Any) -> Any:
        return X if len(self.numeric_) == X.shape[1] else X[:, self.numeric_]

    def _despite_gaps(self, work: Callable[[Any], Any], X: Any) -> tuple[Any, BoolArray | None]:
        """What is made of numeric columns; where missing cells are refused, of others in their place, and which."""
        X = X if self.bins is not None else X.copy()  # one of another package may write into what it is given
        gaps = None if self.bins is not None or sp.issparse(X) or X.dtype.kind != "f" else np.isnan(X)
        try:
            return work(X), None
        except ValueError:
            if gaps is None or not gaps.any():
                raise
        filled = X.copy()
        low = None if self.range_ is None else np.nan_to_num(self.range_[0, self.numeric_])
        for j in np.flatnonzero(gaps.any(axis=0)).tolist():  # known cells again and again, which bins are cut by alike
            known = X[~gaps[:, j], j]
            filled[gaps[:, j], j] = np.resize(known, gaps[:, j].sum()) if known.size else 0 if low is None else low[j]
        return work(filled), gaps

    def _code_numeric(self, X: Any) -> Any:
        """Outcomes of the numeric columns alone."""
        if type(self.discretizer_) is Discretizer and type(X) is np.ndarray and X.shape[1] == len(self.numeric_):
            return self.discretizer_._codes(X)  # rows were checked before
        part, gaps = self._despite_gaps(self.discretizer_.transform, X)
        if self.bins is None:
            part = check_outcomes(part, n_features=X.shape[1], names=self.numeric_.tolist())
            if part.shape[0] != X.shape[0]:
                raise ValueError(
                    f"the discretiser turned {X.shape[0]} rows into {part.shape[0]}; it must keep them all."
                )
        return part if gaps is None else np.where(gaps, -1, part)

    def _check_by_column(self, X: Any) -> None:
        """Refuse a discretiser by which the outcome of a cell depends on other cells, as some training rows tell."""
        if self.bins is not None or self.discretizer_ is None or sp.issparse(X):
            return
        rows, own = X[:: max(1, len(X) // 64)], self.numeric_
        n = len(rows)
        # each column turned by another number of rows, and half of the rows: its outcomes have to turn along
        turned = (np.arange(n)[:, None] + np.arange(1, len(own) + 1)) % n
        mixed = rows.copy()
        mixed[:, own] = np.take_along_axis(rows[:, own], turned, axis=0)
        expected = np.take_along_axis(self._code(rows)[:, own], turned, axis=0)[::2]
        if (wrong := own[(self._code(mixed[::2])[:, own] != expected).any(axis=0)]).size:
            raise ValueError(
                f"discretizer: by {type(self.discretizer_).__name__} outcomes of column {wrong[0]} depend on other "
                "columns or rows; it must turn each column by itself into one of outcomes, and keep their order."
            )

    def _code(self, X: Any) -> Any:
        if self.discretizer_ is None:
            return check_outcomes(X, names=self.names_)
        if not self.categories:
            return self._code_numeric(X)
        # columns of a data frame: dense
        codes = np.full(X.shape, -1, dtype=smallest_int(int(self.n_outcomes_.max(initial=1))))
        if self.numeric_.size:
            part = self._code_numeric(self._numeric_part(X))
            codes = codes.astype(np.promote_types(codes.dtype, part.dtype))
            codes[:, self.numeric_] = part
        for j in self.categories:
            present = ~np.isnan(X[:, j])
            codes[present, j] = X[present, j].astype(np.intp)
        return codes

    def _read_n_outcomes(self) -> None:
        for attribute in ("n_outcomes_", "n_bins_"):
            if hasattr(self.discretizer_, attribute):
                self.n_outcomes_[self.numeric_] = getattr(self.discretizer_, attribute)
                return

    def _check_stored(self) -> None:
        require(hasattr(self, "discretizer"), "discretizer is missing")
        if not is_fitted(self):
            return
        n_outcomes = require_array(self, "n_outcomes_", "iu", None, low=1)
        n = len(n_outcomes)
        require(type(self.categories) is dict, "categories is no table")
        known = np.array([check_whole(j, "a categorical column", 0, n - 1) for j in self.categories], dtype=np.intp)
        if self.missing_ is not None:
            require_array(self, "missing_", "b", n)
        own = check_array(self.n_value_outcomes, "n_outcomes_", "iu", n, low=1)
        sizes = {j: check_whole(k, "a number of categories", 0) for j, k in self.categories.items()}
        require(all(own[j] == max(1, k) for j, k in sizes.items()), "categories")
        numeric = np.setdiff1d(np.arange(n), known)
        require(np.array_equal(require_array(self, "numeric_", "iu", None), numeric), "numeric_ is wrong")
        require_array(self, "example_", "biuf", 1, n)
        inner = self.discretizer_
        require(inner is None or hasattr(inner, "transform"), "discretizer_ is none")
        if self.bins is not None:
            require(np.array_equal(self.bins.n_outcomes_, own[numeric]), "discretizer_ has other outcomes")
        if self.range_ is not None:
            require_array(self, "range_", "f", 2, n)


def _any_missing(codes: Any) -> BoolArray:
    """Which columns lack a cell."""
    if not sp.issparse(codes):
        return np.asarray((codes < 0).any(axis=0))
    cells = codes.tocoo()
    return np.asarray(np.bincount(cells.col[cells.data < 0], minlength=codes.shape[1]) > 0)


def check_fitted_bins(discretizer: Any) -> Any:
    """Give a transformer to outcomes that is fitted and says how many there are."""
    if not hasattr(discretizer, "n_outcomes_") and not hasattr(discretizer, "n_bins_"):
        raise ValueError(
            f"discretizer: {type(discretizer).__name__} has no n_outcomes_ or n_bins_, which its fit sets, and bins "
            'cannot be found from parts of the rows in its way: give it fitted, or take Discretizer, or "precomputed".'
        )
    return discretizer


def value_range(X: Any) -> FloatArray:
    """Smallest and largest value of each column, (2, n_features); NaN where all are missing."""
    if sp.issparse(X):
        X = canonical(X)
        ends = [X.nanmin(axis=0), X.nanmax(axis=0)]
        return np.array([np.ravel(end.toarray() if sp.issparse(end) else end) for end in ends], dtype=np.float64)
    return np.array([np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)], dtype=np.float64)
