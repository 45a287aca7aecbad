"""What feature selectors share: scikit-learn's contract, and the checks of data."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from seqclass._arrays import BoolArray, IntArray
from seqclass._frames import is_frame
from seqclass._validation import plain_labels

#: Number types that are taken as they are; anything else becomes the first.
DTYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8]


class Selector(SelectorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the feature selectors.

    A subclass sets `support_` in ``fit`` and says in class attributes what data it takes; ``get_support``,
    ``transform`` and ``get_feature_names_out`` come from scikit-learn's ``SelectorMixin``.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
        Which features are kept.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; where the target is a class.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Their names, where the data have any.

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
    #: Whether missing values (NaN) are taken.
    _allows_nan = False
    #: Whether data must be integers.
    _discrete = False
    #: Fewest rows that `fit` needs.
    _min_rows = 1

    support_: BoolArray
    classes_: npt.NDArray[Any]
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

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

    def _check_Xy(self, X: Any, y: npt.ArrayLike, *, reset: bool = True, dtype: Any = DTYPES) -> tuple[Any, IntArray]:
        """Check data with labels: X as an array or a CSR/CSC matrix, labels as codes 0..n_classes-1.

        Sets `n_features_in_` and `feature_names_in_`, or checks against them if ``reset`` is false, and `classes_`.
        """
        X, y = self._check_X_target(X, y, reset=reset, dtype=dtype)
        return X, self._check_labels(y, reset=reset)

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
        check_finite_columns(X, self._allows_nan, getattr(self, "feature_names_in_", None))
        return X, y

    def _check_labels(self, y: npt.ArrayLike, classes: npt.ArrayLike | None = None, *, reset: bool = True) -> IntArray:
        """Codes 0..n_classes-1 of labels of any kind.

        Sets `classes_` from ``classes`` (all labels that a stream will have), else from ``y``, if ``reset``; else the
        labels must be among `classes_`, and ``classes`` must be the same as before where it is given.
        """
        labels = column_or_1d(plain_labels(y), warn=True)
        check_classification_targets(labels)
        if classes is not None:
            classes = plain_labels(classes, "classes")
        if reset:
            self.classes_ = np.unique(labels if classes is None else classes)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"y holds only one class, {self.classes_.tolist()[0]!r}: there is nothing to select by."
                )
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes must stay the same from call to call: {self.classes_.tolist()}.")
        try:
            codes = np.searchsorted(self.classes_, labels)
        except TypeError:  # text among numbers, or the other way round
            raise ValueError(
                f"y holds {labels[:1].tolist()[0]!r}, which is of another kind than {self.classes_.tolist()}."
            ) from None
        known = self.classes_[np.minimum(codes, len(self.classes_) - 1)] == labels
        if not np.all(known):
            stranger = labels[[np.argmin(known)]].tolist()[0]
            raise ValueError(f"y holds the label {stranger!r}, which is none of {self.classes_.tolist()}.")
        return np.asarray(codes)


def mark_missing(X: Any) -> Any:
    """Put NaN for -1 in the integer columns of a data frame that may become one of floats.

    Examples
    --------
    >>> import pandas as pd
    >>> mark_missing(pd.DataFrame({"a": [0, -1], "b": [0.0, -1.0]})).to_numpy()
    array([[ 0.,  0.],
           [nan, -1.]])
    """
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return X
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
    """Refuse masked data, and have an error about data that are no numbers name the column.

    Examples
    --------
    >>> with naming_columns([[1.0, "red"]]):
    ...     np.array([[1.0, "red"]]).astype(np.float64)
    Traceback (most recent call last):
        ...
    ValueError: column 1 of X holds the text 'red', and selectors take numbers: ...
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise ValueError("X is masked, and selectors do not look at masks: fill it first, X.filled(...).")
    try:
        yield
    except (TypeError, ValueError) as error:
        found = _first_text(X)
        if found is None:
            raise
        name, value = found
        raise ValueError(
            f"column {name} of X holds {value}, and selectors take numbers: encode the column (OrdinalEncoder or "
            "OneHotEncoder of sklearn.preprocessing), leave it out, or put NaN where it means that nothing is known. "
            "SequentialClassifier(selector=...) encodes columns of text by itself."
        ) from error


def _first_text(X: Any) -> tuple[Any, str] | None:
    """Name of the first column that holds no numbers, and what it holds."""
    columns: list[tuple[Any, Any]]
    if is_frame(X):
        columns = [(repr(str(name)), X.iloc[:, j]) for j, name in enumerate(X.columns)]
        if any(getattr(column.dtype, "kind", "O") in "mM" for _, column in columns):
            name = next(name for name, column in columns if getattr(column.dtype, "kind", "O") in "mM")
            return name, "dates or durations"
    else:
        table = None if sp.issparse(X) else _as_objects(X)
        columns = [] if table is None or table.ndim != 2 else list(enumerate(table.T))
    for name, column in columns:
        if getattr(column.dtype, "kind", "O") not in "biufc":
            for value in column.tolist():
                if isinstance(value, str) and not _is_number(value):
                    return name, f"the text {value!r}"
    return None


def _as_objects(X: Any) -> npt.NDArray[Any] | None:
    if isinstance(X, np.ndarray) and X.dtype.kind in "biufc":  # has no text, and may be large
        return None
    try:
        return np.asarray(X, dtype=object)
    except ValueError:  # rows of several lengths
        return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_finite_columns(X: Any, allow_nan: bool, names: Any = None) -> None:
    """Refuse infinite values, and missing ones unless they are allowed; the error names the column.

    Examples
    --------
    >>> check_finite_columns(np.array([[0.0, np.nan]]), True)
    >>> check_finite_columns(np.array([[0.0, np.nan]]), False)
    Traceback (most recent call last):
    ValueError: column 1 of X contains NaN: fill in or leave out what is missing.
    """
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind != "f" or np.isfinite(np.sum(values, dtype=np.float64)):
            return
    bad = np.isinf(values) if allow_nan else ~np.isfinite(values)
    if not bad.any():
        return
    if sp.issparse(X):
        at = int(np.argmax(bad))
        column = int(X.tocoo(copy=False).col[at])
        value = values[at]
    else:
        at, column = np.argwhere(bad)[0]
        value = values[at, column]
    name = repr(str(names[column])) if names is not None else column
    if np.isnan(value):
        raise ValueError(f"column {name} of X contains NaN: fill in or leave out what is missing.")
    raise ValueError(f"column {name} of X contains infinity: clip it, or leave the column out.")
