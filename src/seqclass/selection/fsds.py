"""FSDS: unsupervised feature selection on a sketch of the stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_integer, check_real
from seqclass.selection._base import RowStream, check_finite_columns, naming_columns


@dataclass(repr=False, eq=False)
class FSDS(RowStream):
    """Feature selection on data streams: a low-rank sketch of all rows, and ridge regression on its main directions.

    Frequent directions keeps a matrix B of n_features rows and ``sketch_size`` columns with B B^T close to the sum of x
    x^T over all rows. With singular vectors U and values s of B, the coefficients of direction j are U_j s_j / (s_j^2 +
    alpha), and the weight of a feature is its largest absolute coefficient over the first ``n_directions``. Labels are
    not used and may be left out.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep, or their fraction if a float up to 1.
    n_directions : int
        Number of directions to regress on, k.
    sketch_size : int, optional
        Number of columns of the sketch, more than ``n_directions``; by default the square root of the number of
        features.
    ridge : float
        The ridge penalty alpha is this times the k-th singular value.
    batch_size, n_epochs, shuffle, random_state
        As in :class:`FIRES`.

    Attributes
    ----------
    sketch_ : ndarray of shape (n_features_in_, at most sketch_size)
        The matrix B.
    weights_, support_, n_features_in_, feature_names_in_, n_seen_
        As in :class:`FIRES`.

    References
    ----------
    Huang, Yoo and Kasiviswanathan, "Unsupervised Feature Selection on Data Streams", CIKM 2015: alpha = 2^3 s_k,
    sketch of sqrt(m) columns. Liberty, "Simple and Deterministic Matrix Sketching", KDD 2013: frequent directions.
    Written from descriptions of the algorithm; uncertain: k = 2, and that s are the values after the sketch has
    shrunk them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 6)) * [1, 1, 5, 1, 1, 9]
    >>> FSDS(2).fit(X).get_support(indices=True).tolist()
    [2, 5]
    """

    n_directions: int = 2
    sketch_size: int | None = None
    ridge: float = 8.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    def fit(self, X: Any, y: npt.ArrayLike | None = None) -> FSDS:
        """Start again and learn from the rows, batch by batch; labels are not used. See `FIRES.fit`."""
        return super().fit(X, y)  # type: ignore[arg-type]

    def partial_fit(self, X: Any, y: npt.ArrayLike | None = None, classes: npt.ArrayLike | None = None) -> FSDS:
        """Learn from a batch of rows; labels and classes are not used. See `FIRES.partial_fit`."""
        return super().partial_fit(X, y, classes)  # type: ignore[arg-type]

    def _check_rows(
        self, X: Any, y: Any, classes: npt.ArrayLike | None, *, first: bool, hint: str = ""
    ) -> tuple[Any, IntArray]:
        with naming_columns(X):
            X = validate_data(self, X, reset=first, dtype=np.float64, ensure_all_finite=False)
        check_finite_columns(X, False, getattr(self, "feature_names_in_", None))
        return X, np.zeros(len(X), dtype=np.intp)

    def _is_plain(self, X: Any, y: Any) -> bool:
        return False  # labels are not looked at, and an SVD takes longer than any check

    def _check_settings(self) -> None:
        check_integer(self.n_directions, "n_directions", 1)
        check_real(self.ridge, "ridge", 0)
        if self.sketch_size is not None:
            check_integer(self.sketch_size, "sketch_size", self.n_directions + 1)

    def _start(self, n_features: int) -> None:
        self.sketch_ = np.empty((n_features, 0))
        self._size = self.sketch_size or max(int(np.sqrt(n_features)), self.n_directions + 1)

    def _learn(self, X: FloatArray, codes: IntArray) -> None:
        joined = np.hstack([self.sketch_, X.T])
        # singular values scale with the matrix; near 1 nothing overflows
        unit = max(float(np.abs(joined).max()), np.finfo(float).tiny)
        vectors, values = main_directions(joined / unit, self._size)
        if len(values) == self._size:
            values = np.sqrt(np.maximum(values**2 - values[-1] ** 2, 0))
        kept = values > 0
        vectors, values = vectors[:, kept], values[kept]
        with np.errstate(over="ignore"):
            self.sketch_ = np.clip(vectors * values * unit, -np.finfo(float).max, np.finfo(float).max)
        first = values[: self.n_directions]
        penalty = self.ridge * first[-1] / unit if len(first) else 0.0
        coefficients = vectors[:, : len(first)] * (first / (first**2 + penalty))
        self.weights_ = np.abs(coefficients).max(axis=1, initial=0.0) / unit


def main_directions(matrix: FloatArray, number: int) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors and singular values, largest first, without those that are zero to working precision.

    They come from the smaller of the two products of the matrix with itself, several times as fast as its singular
    value decomposition; values below 1e-7 of the largest are lost.
    """
    tall = matrix.shape[0] > matrix.shape[1]
    squares, vectors = np.linalg.eigh(matrix.T @ matrix if tall else matrix @ matrix.T)
    order = np.flatnonzero(squares > max(float(squares[-1]), 0.0) * 1e-14)[::-1][:number]
    values, vectors = np.sqrt(squares[order]), vectors[:, order]
    return (matrix @ vectors) / values if tall else vectors, values
