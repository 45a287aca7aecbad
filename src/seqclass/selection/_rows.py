"""Selectors to which rows come in batches, for features that stay the same."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._validation import check_integer, check_real
from seqclass.selection._base import Selector, check_finite_columns

_Self = TypeVar("_Self", bound="RowStream")

#: Weights closer than this, relative to the largest, are tied.
TIE = 1e-12


class RowStream(Selector):
    """Base of the selectors that learn from a stream of rows and keep the features of largest weight.

    A subclass checks its settings in `_check_settings()`, begins with `_start(n_features)` and learns from a batch in
    `_learn(X, codes)`, after which `weights_` holds a weight of each feature. X comes as a float64 array, or CSR matrix
    where the class accepts sparse data.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        Weight of each feature.
    support_ : ndarray of bool of shape (n_features_in_,)
        The features of largest weight; ties go to the first.
    n_seen_ : int
        Rows learnt from.

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

    n_features_to_select: float
    batch_size: int = 100
    n_epochs: int = 1
    shuffle: bool = False
    random_state: Any = None
    weights_: FloatArray
    n_seen_: int

    def _check_settings(self) -> None:
        """Refuse settings that make no sense."""

    @abstractmethod
    def _start(self, n_features: int) -> None:
        """Forget all, and begin anew; `classes_` is known."""

    @abstractmethod
    def _learn(self, X: Any, codes: IntArray) -> None:
        """Learn from a batch and set `weights_`."""

    def fit(self: _Self, X: Any, y: npt.ArrayLike) -> _Self:
        """Start anew and learn from the rows, batch by batch.

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
        X, codes = self._checked(X, y, None, first=True)
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

    def partial_fit(self: _Self, X: Any, y: npt.ArrayLike, classes: npt.ArrayLike | None = None) -> _Self:
        """Learn from a batch of rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, n_features)
            The batch.
        y : array-like of shape (n,)
            Labels of any kind.
        classes : array-like of shape (n_classes,), optional
            All labels that the stream will have; needed with the first batch if that lacks some.

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
            X, codes = self._checked(X, y, classes, first=first)
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

    def _checked(self, X: Any, y: Any, classes: npt.ArrayLike | None, *, first: bool) -> tuple[Any, IntArray]:
        X, labels = self._check_X_target(X, y, reset=first, dtype=np.float64)
        return X.tocsr() if sp.issparse(X) else X, self._check_labels(labels, classes, reset=first)

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
            return self._check_labels(y, classes, reset=False)
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
    """Mask of the largest weights; of those that are tied, the first.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 2.0, 2.0]), 2).tolist()
    [False, True, True, False]
    """
    n = len(weights)
    if number >= n:
        return np.ones(n, dtype=bool)
    least = np.partition(weights, n - number)[n - number]
    slack = TIE * max(abs(float(weights.max())), abs(float(least)))
    chosen = weights > least + slack
    tied = np.flatnonzero(~chosen & (weights >= least - slack))
    chosen[tied[: number - int(np.count_nonzero(chosen))]] = True
    return np.asarray(chosen)


def still_constant(X: Any, columns: IntArray, first: FloatArray) -> IntArray:
    """Those of some columns whose values in a batch all equal the first ever seen.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
        The batch.
    columns : ndarray of int
        Columns that have not varied so far.
    first : ndarray of shape (n_features,)
        The first row of the stream.

    Returns
    -------
    ndarray of int
        The columns that have still not varied.

    Examples
    --------
    >>> still_constant(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([0, 1]), np.array([1.0, 2.0])).tolist()
    [0]
    """
    if not sp.issparse(X):
        batch = X if len(columns) == X.shape[1] else X[:, columns]
        return np.asarray(columns[(batch == first[columns]).all(axis=0)])
    stored = X.indices[X.data != 0]
    filled = np.bincount(stored, minlength=X.shape[1])[columns]
    # an empty column is its zero; of full ones, which are few, the values are looked at
    full = columns[filled == X.shape[0]]
    same = full[(X[:, full].toarray() == first[full]).all(axis=0)] if len(full) else full
    return np.sort(np.concatenate([columns[(filled == 0) & (first[columns] == 0)], same]))
