"""What a feature selector derives from its mask, without the second that importing scikit-learn's selectors takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from seqclass._utils.arrays import BoolArray, IntArray


class SupportMixin(TransformerMixin, ABC):  # type: ignore[misc]
    """The methods of ``sklearn.feature_selection.SelectorMixin``, for a selector that is imported with the package.

    A subclass gives ``_get_support_mask``.
    """

    @abstractmethod
    def _get_support_mask(self) -> BoolArray:
        """Which features are kept, (n_features_in_,)."""

    def get_support(self, indices: bool = False) -> BoolArray | IntArray:
        """Which features are kept.

        Parameters
        ----------
        indices : bool
            Whether to give their numbers instead of a mask.

        Returns
        -------
        ndarray of bool of shape (n_features_in_,), or of int of shape (n_kept,)
        """
        mask = self._get_support_mask()
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X: Any) -> Any:
        """Columns of the features that are kept.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features_in_)
            Data as in `fit`.

        Returns
        -------
        ndarray or sparse matrix of shape (n_rows, n_kept)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, accept_sparse=("csr", "csc"), ensure_all_finite=False, reset=False)
        return X[:, self.get_support(indices=True)]

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Names of the features that are kept.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features_in_,), optional
            Names of all features; by default those seen in `fit`, or ``x0``, ``x1``, ...

        Returns
        -------
        ndarray of str of shape (n_kept,)
        """
        check_is_fitted(self)
        return np.asarray(_check_feature_names_in(self, input_features)[self.get_support(indices=True)])


def check_support(selector: Any) -> None:
    """Check that a selector that was read from a file knows which features it keeps, if it was fitted."""
    if not any(name.endswith("_") for name in vars(selector)):
        return
    mask = np.asarray(selector.get_support())
    if mask.dtype != bool or mask.shape != (selector.n_features_in_,):
        raise ValueError(f"a {type(selector).__name__} keeps other features than it has")
