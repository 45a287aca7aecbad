"""What feature selectors share: scikit-learn's contract, and the checks of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.frames import array_if_empty, is_frame, to_frame, to_numeric
from seqclass._utils.information import canonical
from seqclass._utils.model_files import Stored
from seqclass._utils.stored import check_support
from seqclass._utils.validation import check_integer, check_real, class_numbers, plain_labels
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.selection._dependence import check_whole_numbers, columns_of_cells

if TYPE_CHECKING:
    from typing_extensions import Self


#: Number types that are taken as they are; anything else becomes the first.
DTYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8]
#: What an error says of classes that a batch does not hold.
_LATER = " Classes that come later are named at the first call, as classes=[...]."


class Selector(Stored, SelectorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of the feature selectors.

    A subclass sets `support_` in ``fit`` and says in class attributes what data it takes; ``get_support``,
    ``transform`` and ``get_feature_names_out`` come from scikit-learn's ``SelectorMixin``.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
        Which features are kept.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; only if the target is a class.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the features, if the data have any.

    Examples
    --------
    >>> class FirstOnly(Selector):
    ...     def fit(self, X, y):
    ...         X, codes = self._check_Xy(X, y)
    ...         self.support_ = np.arange(X.shape[1]) == 0
    ...         return self
    >>> FirstOnly().fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"]).transform([[5.0, 6.0]])
    array([[5.]])
    """

    #: Whether CSR and CSC matrices are taken; they are never made dense.
    _accepts_sparse = False
    #: Whether data must be integers.
    _discrete = False
    #: Fewest rows that `fit` needs.
    _min_rows = 1

    support_: BoolArray
    classes_: npt.NDArray[Any]
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    @property
    def _allows_nan(self) -> bool:
        """Whether missing values (NaN) are taken."""
        return self._discrete

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._allows_nan
        tags.input_tags.categorical = self._discrete
        return tags

    def _check_Xy(self, X: Any, y: npt.ArrayLike) -> tuple[Any, IntArray]:
        """Check data with labels: X as an array or a CSR/CSC matrix, labels as codes 0..n_classes-1."""
        X, y = self._check_X_target(X, y)
        return X, self._check_labels(y)

    def _check_X_target(self, X: Any, y: npt.ArrayLike, *, reset: bool = True, dtype: Any = DTYPES) -> tuple[Any, Any]:
        """Check data with a target of any kind, which is returned as it is."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        with naming_columns(X):
            X, y = validate_data(
                self,
                mark_missing(X) if self._discrete else X,
                plain_labels(y),
                reset=reset,
                dtype=dtype,
                accept_sparse=("csr", "csc") if self._accepts_sparse else False,
                ensure_all_finite=False,
                ensure_min_samples=self._min_rows,
            )
        X = canonical(X) if sp.issparse(X) else X
        names = getattr(self, "feature_names_in_", None)
        check_finite_columns(X, self._allows_nan, names)
        if self._discrete:
            check_whole_numbers(X, names=names)
        return X, y

    def _check_labels(
        self, y: npt.ArrayLike, classes: npt.ArrayLike | None = None, *, reset: bool = True, hint: str = ""
    ) -> IntArray:
        """Codes 0..n_classes-1 of labels of any kind; the hint is on what to do about a class that was not there."""
        labels = column_or_1d(plain_labels(y), warn=True)
        check_classification_targets(labels)
        if classes is not None:
            classes = plain_labels(classes, "classes")
        if reset:
            self.classes_ = np.unique(labels if classes is None else classes)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"y holds only one class, {self.classes_.tolist()[0]!r}: there is nothing to select by.{hint}"
                )
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes must stay the same from call to call: {self.classes_.tolist()}.")
        return class_numbers(self.classes_, labels, hint=hint)

    def _check_stored(self) -> None:
        check_support(self)


def mark_missing(X: Any) -> Any:
    """Put NaN for -1 in the integer columns of a data frame that may become one of floats.

    Lists and arrays of Python's integers, which would as well, become an array of integers.
    """
    if isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.dtype.kind == "O"):
        with suppress(ValueError):  # rows of several lengths, which others refuse
            whole = np.array(X if isinstance(X, (list, tuple)) else X.tolist())
            return whole if whole.dtype.kind in "iu" else X
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return X
    X = X.infer_objects() if hasattr(X, "infer_objects") and "O" in [dtype.kind for dtype in X.dtypes] else X
    kinds = [getattr(dtype, "kind", "O") for dtype in X.dtypes]
    if "i" not in kinds or all(isinstance(dtype, np.dtype) and dtype.kind in "iub" for dtype in X.dtypes):
        return X
    least = [X.iloc[:, j].min() if kind == "i" else 0 for j, kind in enumerate(kinds)]
    coded = [j for j, low in enumerate(least) if low == -1]
    if not coded:
        return X
    columns = [X.iloc[:, j] for j in range(len(kinds))]
    for j in coded:
        columns[j] = columns[j].astype(np.float64).mask(columns[j] == -1)
    marked = type(X)(dict(enumerate(columns)))
    marked.columns = X.columns
    return marked


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Refuse masked data, and have an error about data that are no numbers name the column."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise ValueError("X is masked, and selectors do not look at masks: fill it first, X.filled(...).")
    try:
        yield
    except (TypeError, ValueError) as error:
        text_cell = _first_text(X)
        if text_cell is None:
            raise
        name, value = text_cell
        raise ValueError(
            f"column {name} of X holds {value}, and selectors take numbers: encode the column (OrdinalEncoder or "
            "OneHotEncoder of sklearn.preprocessing), leave it out, or put NaN where it means that nothing is known. "
            "SequentialClassifier(selector=...) encodes columns of text by itself."
        ) from error


def _first_text(X: Any) -> tuple[Any, str] | None:
    """Name of the first column that holds no numbers, and what it holds."""
    if sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biufc"):  # has no text, and may be large
        return None
    try:
        frame = X if is_frame(X) else to_frame(X)
    except ValueError:  # rows of several lengths
        return None
    for name, column in frame.items():
        shown = repr(str(name)) if is_frame(X) else name
        if column.dtype.kind in "mM":
            return shown, "dates or durations"
        texts = column[column.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)]
        unreadable = texts[to_numeric(texts).isna().to_numpy()]
        if len(unreadable):
            return shown, f"the text {unreadable.iloc[0]!r}"
    return None


def check_finite_columns(X: Any, allow_nan: bool, names: Any = None) -> None:
    """Refuse infinite values, and missing ones unless they are allowed; the error names the column."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind != "f" or np.isfinite(np.sum(values, dtype=np.float64)):
            return
    bad = np.isinf(values) if allow_nan else ~np.isfinite(values)
    if not bad.any():
        return
    column, value = int(columns_of_cells(X)[bad][0]), values[bad][0]
    name = repr(str(names[column])) if names is not None else column
    if np.isnan(value):
        raise ValueError(f"column {name} of X contains NaN: fill in or leave out what is missing.")
    raise ValueError(f"column {name} of X contains infinity: clip it, or leave the column out.")


_Self = TypeVar("_Self", bound="RowStream")

#: Rows of a stream that are scored together while no mistake is made.
WINDOW = 32
#: Most columns of a stream that are tested together; what follows one that changes something is tested again.
MOST_TOGETHER = 1024


@dataclass(repr=False, eq=False, init=False)
class RowStream(Selector):
    """Base class of the selectors that learn from a stream of rows and keep the features of largest weight.

    A subclass checks its settings in `_check_settings()`, begins with `_start(n_features)` and learns from a batch in
    `_learn(X, codes)`, after which `weights_` holds a weight for each feature. X comes as a float64 array, or as a CSR
    matrix if the class accepts sparse data.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        Weight of each feature.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features of largest weight; ties go to the first.
    n_seen_ : int
        Number of rows learnt from.

    Examples
    --------
    >>> class LargestSum(RowStream):
    ...     n_features_to_select = 1
    ...     def _start(self, n_features):
    ...         self.weights_ = np.zeros(n_features)
    ...     def _learn(self, X, codes):
    ...         self.weights_ = self.weights_ + X.sum(axis=0)
    >>> stream = LargestSum()
    >>> for row in [[1.0, 0.0]], [[1.0, 3.0]]:
    ...     stream = stream.partial_fit(row, ["a"], classes=["a", "b"])
    >>> stream.get_support(indices=True).tolist(), stream.n_seen_
    ([1], 2)
    """

    n_features_to_select: float = 10
    _: KW_ONLY
    batch_size: int = 100
    n_epochs: int = 1
    shuffle: bool = False
    random_state: Any = None
    weights_: FloatArray = field(init=False)

    def _check_settings(self) -> None:
        """Refuse settings that make no sense."""

    @abstractmethod
    def _start(self, n_features: int) -> None:
        """Forget all, and begin anew; `classes_` is known."""

    @abstractmethod
    def _learn(self, X: Any, codes: IntArray) -> None:
        """Learn from a batch and set `weights_`."""

    @all_or_nothing
    def fit(self: _Self, X: Any, y: npt.ArrayLike) -> _Self:
        """Start again and learn from the rows, batch by batch.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Labels of any kind.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a setting is out of range, values are missing or infinite, or there is only one class.
        """
        self._check_common()
        X, codes = self._check_rows(X, y, None, first=True)
        self._begin()
        rng = as_generator(self.random_state) if self.shuffle else None
        for _ in range(self.n_epochs):
            order = None if rng is None else rng.permutation(len(codes))
            for start in range(0, len(codes), self.batch_size):
                stop = start + self.batch_size
                rows = slice(start, stop) if order is None else order[start:stop]
                self._learn(X[rows], codes[rows])
                self.n_seen_ += len(codes[rows])
        self._select()
        return self

    @all_or_nothing
    def partial_fit(self: _Self, X: Any, y: npt.ArrayLike, classes: npt.ArrayLike | None = None) -> _Self:
        """Learn from a batch of rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, n_features)
            The batch.
        y : array-like of shape (n,)
            Labels of any kind.
        classes : array-like of shape (n_classes,), optional
            All labels that the stream will have; needed with the first batch if some do not occur in it.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a setting is out of range, values are missing or infinite, the number of features has changed, or a label
            is not among the classes.
        """
        first = not hasattr(self, "n_seen_")
        if first:
            self._check_common()
        if first or not self._is_plain(X, y):
            X, codes = self._check_rows(X, y, classes, first=first, hint=_LATER)
        else:
            check_finite_columns(X, False)
            codes = self._codes(np.asarray(y), classes)
        if first:
            self._begin()
        self._learn(X, codes)
        self.n_seen_ += len(codes)
        self._select()
        return self

    def _check_common(self) -> None:
        if isinstance(self.n_features_to_select, float):
            check_real(self.n_features_to_select, "n_features_to_select", np.finfo(float).tiny, 1.0)
        else:
            check_integer(self.n_features_to_select, "n_features_to_select", 1)
        check_integer(self.batch_size, "batch_size", 1)
        check_integer(self.n_epochs, "n_epochs", 1)
        self._check_settings()

    def _check_rows(
        self, X: Any, y: Any, classes: npt.ArrayLike | None, *, first: bool, hint: str = ""
    ) -> tuple[Any, IntArray]:
        X, labels = self._check_X_target(X, y, reset=first, dtype=np.float64)
        return X.tocsr() if sp.issparse(X) else X, self._check_labels(labels, classes, reset=first, hint=hint)

    def _begin(self) -> None:
        self.n_seen_ = 0
        self._start(self.n_features_in_)

    def _is_plain(self, X: Any, y: Any) -> bool:
        """Whether a further batch is of a form that scikit-learn's checks, dear beside a step, would not change."""
        return (
            type(X) is np.ndarray
            and type(y) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and y.shape == (len(X),)
            and len(X) > 0
            and y.dtype == self.classes_.dtype
            and y.dtype.kind in "iubUS"
            and not hasattr(self, "feature_names_in_")
        )

    def _codes(self, y: npt.NDArray[Any], classes: npt.ArrayLike | None) -> IntArray:
        codes = np.searchsorted(self.classes_, y)
        codes[codes == len(self.classes_)] = 0
        known = classes is None or np.array_equal(classes, self.classes_)
        if not known or not (self.classes_[codes] == y).all():
            return self._check_labels(y, classes, reset=False, hint=_LATER)
        return codes

    def _n_selected(self) -> int:
        """How many features to keep: all if there are fewer than wanted."""
        wanted = self.n_features_to_select
        number = int(np.ceil(wanted * self.n_features_in_ - 1e-9)) if isinstance(wanted, float) else int(wanted)
        return min(number, self.n_features_in_)

    def _select(self) -> None:
        self.support_ = largest(self.weights_, self._n_selected())

    def _check_started(self) -> None:
        check_is_fitted(self, "n_seen_")

    def _signs(self, codes: IntArray) -> FloatArray:
        """Labels -1 and 1, shape (n_problems, n): one problem for two classes, else one for each against the rest."""
        if len(self.classes_) == 2:
            return np.asarray(2.0 * codes[None] - 1)
        return np.where(codes == np.arange(len(self.classes_))[:, None], 1.0, -1.0)


def largest(weights: FloatArray, number: int) -> BoolArray:
    """Mask of the largest weights; of those that are tied, the first."""
    n = len(weights)
    if number >= n:
        return np.ones(n, dtype=bool)
    least = np.partition(weights, n - number)[n - number]
    # weights closer than this, relative to the largest, are tied
    slack = 1e-12 * max(abs(float(weights.max())), abs(float(least)))
    chosen = weights > least + slack
    tied = np.flatnonzero(~chosen & (weights >= least - slack))
    chosen[tied[: number - int(np.count_nonzero(chosen))]] = True
    return np.asarray(chosen)


def still_constant(X: Any, columns: IntArray, first: FloatArray) -> IntArray:
    """Those of some columns whose values in a batch all equal the first ever seen."""
    if not sp.issparse(X):
        batch = X if len(columns) == X.shape[1] else X[:, columns]
        return np.asarray(columns[(batch == first[columns]).all(axis=0)])
    stored = X.indices[X.data != 0]
    filled = np.bincount(stored, minlength=X.shape[1])[columns]
    # an empty column is its zero; of full ones, which are few, the values are looked at
    full = columns[filled == X.shape[0]]
    same = full[(X[:, full].toarray() == first[full]).all(axis=0)] if len(full) else full
    return np.sort(np.concatenate([columns[(filled == 0) & (first[columns] == 0)], same]))


class FeatureStream(Selector):
    """Base class of the selectors that see each feature once, in order.

    A subclass begins with `_begin(codes)` and takes columns in `_absorb(X)`, after which `selected_` holds the features
    kept so far; how the columns are divided into blocks must not matter.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept so far, in the order in which they came.
    n_seen_ : int
        Number of features seen.

    Examples
    --------
    >>> class OneInTwo(FeatureStream):
    ...     def _begin(self, codes):
    ...         self.selected_ = np.empty(0, dtype=np.intp)
    ...     def _absorb(self, X):
    ...         numbers = self.n_seen_ + np.arange(X.shape[1])
    ...         self.selected_ = np.append(self.selected_, numbers[numbers % 2 == 0])
    >>> stream = OneInTwo()
    >>> for block in np.zeros((3, 4)), np.zeros((3, 3)):
    ...     stream = stream.partial_fit_features(block, [0, 1, 1])
    >>> stream.get_support(indices=True)
    array([0, 2, 4, 6])
    """

    selected_: IntArray
    n_seen_: int
    _names_seen: dict[str, None]

    @abstractmethod
    def _begin(self, codes: IntArray) -> None:
        """Start anew for rows of these classes."""

    @abstractmethod
    def _absorb(self, X: Any) -> None:
        """Take the next columns: an array or a CSC matrix."""

    @property
    def support_(self) -> BoolArray:  # type: ignore[override]
        """Which of the features seen so far are kept."""
        check_is_fitted(self, "selected_")
        support = np.zeros(self.n_features_in_, dtype=bool)
        support[self.selected_] = True
        return support

    @all_or_nothing
    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Select among the columns of ``X``, taken from left to right.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            Labels of any kind.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data cannot be used; the message names the column.
        """
        X, codes = self._check_Xy(X, y)
        self._start(codes)
        self._take(X)
        return self

    @all_or_nothing
    def partial_fit_features(self, X_block: Any, y: npt.ArrayLike, feature_names: npt.ArrayLike | None = None) -> Self:
        """Take the next features; the first call starts the stream, and ``fit`` starts it again.

        Parameters
        ----------
        X_block : array-like, data frame or sparse matrix of shape (n, n_new_features)
            The new features of the same rows, in the same order; there may be none.
        y : array-like of shape (n,)
            Labels of the rows, the same in every call.
        feature_names : array-like of str of shape (n_new_features,), optional
            Names of the new features; by default those of a data frame. Either all blocks have names or none.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels differ from those before, names are missing or repeated, the data cannot be used, or a block is
            sparse after a dense one (after a sparse one, dense blocks are made sparse). The stream is then as it was.
        TypeError
            If a name is not a text.
        """
        first = not hasattr(self, "_codes")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        names = _names(X_block, feature_names)
        X_block = array_if_empty(X_block)
        with naming_columns(X_block):
            X = check_array(
                mark_missing(X_block) if self._discrete else X_block,
                accept_sparse=("csr", "csc") if self._accepts_sparse else False,
                dtype=DTYPES,
                ensure_all_finite=False,
                ensure_min_samples=self._min_rows,
                ensure_min_features=0,
            )
        X = canonical(X) if sp.issparse(X) else X
        if names is not None and len(names) != X.shape[1]:
            raise ValueError(f"feature_names must have {X.shape[1]} names, one a column of X_block, got {len(names)}.")
        check_finite_columns(X, self._allows_nan, names)
        check_consistent_length(X, y)
        if self._discrete:
            # before anything is taken, so that a block is taken whole or not at all
            check_whole_numbers(X, 0 if first else self.n_seen_, names)
        codes = self._check_labels(y, reset=first)
        if first:
            self._start(codes)
            self.n_features_in_ = 0
        elif not np.array_equal(codes, self._codes):
            raise ValueError("y must hold the same labels in every call: features stream in, rows stay the same.")
        if not X.shape[1]:
            return self
        known = self._names_so_far(names)
        self._take(X)
        self.n_features_in_ += X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names if known is None else np.concatenate([known, names])
            self._names_seen.update(_as_keys(names))
        return self

    def _names_so_far(self, names: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        """Names so far; checks that names are given with all blocks or none, and are new."""
        known = getattr(self, "feature_names_in_", None) if self.n_seen_ else None
        if self.n_seen_ and (known is None) != (names is None):
            raise ValueError("feature_names must be given with every block, or with none.")
        if len(self._names_seen) != (0 if known is None else len(known)):
            self._names_seen = _as_keys(known)
        twice = self._names_seen.keys() & _as_keys(names).keys()
        if twice:
            raise ValueError(f"feature_names has {min(twice)!r}, the name of a feature that came before.")
        return known

    def _start(self, codes: IntArray) -> None:
        # until this is done the stream has not begun
        self.__dict__.pop("_codes", None)
        self.n_seen_ = 0
        self.selected_ = np.empty(0, dtype=np.intp)
        self._names_seen = {}
        self._begin(codes)
        self._codes = codes

    def _class_values(self, codes: IntArray) -> FloatArray:
        """Numbers that stand for the classes: the labels where they are numbers, else their ranks."""
        numeric = self.classes_.dtype.kind in "iuf"
        return np.asarray(self.classes_[codes] if numeric else codes, dtype=np.float64)

    def _take(self, X: Any) -> None:
        if not self.n_seen_:
            self._sparse = sp.issparse(X)
        elif sp.issparse(X) and not self._sparse:
            raise ValueError(
                "X_block must not be sparse after a dense one; give all blocks dense, or the first sparse."
            )
        self._absorb(sp.csc_array(X) if self._sparse else X)
        self.n_seen_ += X.shape[1]


def _names(X: Any, feature_names: npt.ArrayLike | None) -> npt.NDArray[Any] | None:
    labels: Any = getattr(X, "columns", None) if feature_names is None else feature_names
    if labels is None or (feature_names is None and not all(isinstance(name, str) for name in labels)):
        return None
    if isinstance(labels, str):
        raise TypeError(f"feature_names must be a list of names, got the text {labels!r}.")
    names = np.array(list(labels), dtype=object)
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise TypeError(f"feature_names must be texts, got {other[0]!r}.")
    if len(set(names)) < len(names):
        raise ValueError("feature_names must differ from one another.")
    return names


def _as_keys(names: npt.NDArray[Any] | None) -> dict[str, None]:
    """Names to be looked up; a dict, which unlike a set can be written to a model file."""
    return {} if names is None else dict.fromkeys(str(name) for name in names)
