"""Selectors to which features come in blocks of columns, for rows that stay the same."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.selection._base import DTYPES, Selector, check_finite_columns, mark_missing, naming_columns
from seqclass.selection._outcome_columns import check_whole_numbers

if TYPE_CHECKING:
    from typing_extensions import Self


class FeatureStream(Selector):
    """Base of the selectors that see each feature once, in order.

    A subclass begins with `_begin(codes)` and takes columns in `_absorb(X)`, after which `selected_` holds the features
    kept so far; how the columns were cut into blocks must not matter.

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

    def partial_fit_features(self, X_block: Any, y: npt.ArrayLike, feature_names: npt.ArrayLike | None = None) -> Self:
        """Take the next features; the first call starts the stream, and ``fit`` would start it anew.

        Parameters
        ----------
        X_block : array-like, data frame or sparse matrix of shape (n, n_new_features)
            The new features of the same rows, in the same order; there may be none.
        y : array-like of shape (n,)
            Labels of the rows, the same in every call.
        feature_names : array-like of str of shape (n_new_features,), optional
            Their names; those of a data frame if not given. Either all blocks have names or none.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels differ from those before, names are missing or repeated, the data cannot be used, or a block is
            sparse after a dense one (after a sparse one, dense blocks are made sparse). The stream is then as it was.
        TypeError
            If a name is no text.
        """
        first = not hasattr(self, "_codes")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        names = _names(X_block, feature_names)
        with naming_columns(X_block):
            X = check_array(
                mark_missing(X_block) if self._discrete else X_block,
                accept_sparse=("csr", "csc") if self._accepts_sparse else False,
                dtype=DTYPES,
                ensure_all_finite=False,
                ensure_min_samples=self._min_rows,
                ensure_min_features=0,
            )
        if names is not None and len(names) != X.shape[1]:
            raise ValueError(f"feature_names must have {X.shape[1]} names, one a column of X_block, got {len(names)}.")
        check_finite_columns(X, self._allows_nan, names)
        check_consistent_length(X, y)
        if self._discrete:
            # before anything is taken, so that a block is taken whole or not at all
            check_whole_numbers(X, 0 if first else self.n_seen_)
        codes = self._check_labels(y, reset=first)
        if first:
            self._start(codes)
            self.n_features_in_ = 0
        elif not np.array_equal(codes, self._codes):
            raise ValueError("y must hold the same labels in every call: features stream in, rows stay the same.")
        if not X.shape[1]:
            return self
        known = self._known_names(names)
        self._take(X)
        self.n_features_in_ += X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names if known is None else np.concatenate([known, names])
            self._names_seen.update(_as_keys(names))
        return self

    def _known_names(self, names: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
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
    given: Any = getattr(X, "columns", None) if feature_names is None else feature_names
    if given is None or (feature_names is None and not all(isinstance(name, str) for name in given)):
        return None
    if isinstance(given, str):
        raise TypeError(f"feature_names must be a list of names, got the text {given!r}.")
    names = np.array(list(given), dtype=object)
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise TypeError(f"feature_names must be texts, got {other[0]!r}.")
    if len(set(names)) < len(names):
        raise ValueError("feature_names must differ from one another.")
    return names


def _as_keys(names: npt.NDArray[Any] | None) -> dict[str, None]:
    """Names to be looked up; a dict, which unlike a set can be written to a model file."""
    return {} if names is None else dict.fromkeys(str(name) for name in names)
