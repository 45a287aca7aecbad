"""Checks of the data that a classifier is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from seqclass._frames import FrameEncoder, is_frame, plain
from seqclass._messages import shown
from seqclass._validation import check_n_classes, plain_labels

#: Number types that are taken as they are.
_DTYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8]


def check_training(estimator: Any, X: Any, y: npt.ArrayLike) -> tuple[Any, npt.NDArray[Any], FrameEncoder | None]:
    """Check training data and turn a data frame into numbers.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like, data frame or sparse array of shape (n, n_features)
        The features; NaN where missing.
    y : array-like of shape (n,)
        The labels: numbers, texts or booleans, also as objects of one of these kinds.

    Returns
    -------
    X : ndarray or sparse array
    y : ndarray of shape (n,)
    encoder : FrameEncoder or None
        Where ``X`` is a data frame, what turns others like it into numbers.

    Raises
    ------
    ValueError
        If a column cannot be used, or ``y`` holds a single class, more than 5000, or labels of several kinds.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> check_training(BaseEstimator(), [[0.0], [1.0]], ["a", "b"])[1].tolist()
    ['a', 'b']
    """
    X = plain(X)
    encoder = FrameEncoder().fit(X) if is_frame(X) else None
    if encoder is not None:
        X = encoder.encode(X)
    y = plain_labels(y)
    X, y = _validated(estimator, X, y=y)
    check_classification_targets(y)
    classes = np.unique(y)
    check_n_classes(len(classes))
    if len(classes) < 2:
        raise ValueError(f"y holds only one class, {shown(classes.tolist()[0])}; a classifier needs at least two.")
    return X, np.asarray(y), encoder


def check_input(estimator: Any, X: Any, encoder: FrameEncoder | None, unknown: str = "error") -> Any:
    """Check new data against the training data.

    Parameters
    ----------
    estimator : BaseEstimator
        A fitted estimator.
    X : array-like, data frame or sparse array of shape (n, n_features)
        The features; NaN where missing.
    encoder : FrameEncoder or None
        What `check_training` gave.
    unknown : {"error", "missing"}
        Whether to refuse a category that training did not show, or to take it as missing.

    Returns
    -------
    ndarray or sparse array

    Raises
    ------
    ValueError
        If columns differ from training, or a value cannot be read; the message names it.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> estimator = BaseEstimator()
    >>> _ = check_training(estimator, [[0.0], [1.0]], ["a", "b"])
    >>> check_input(estimator, [[2.0]], None)
    array([[2.]])
    """
    X = plain(X)
    if encoder is not None and is_frame(X):
        X = encoder.encode(X, unknown)
    elif encoder is not None and encoder.categories_:
        raise ValueError("X must be a data frame: the classifier was fitted on one with categorical columns.")
    return _validated(estimator, X, reset=False)


def check_features(estimator: Any, X: Any) -> Any:
    """Check the features of some rows alone; the estimator gets ``n_features_in_`` and ``feature_names_in_``.

    Raises
    ------
    ValueError
        If a column cannot be used.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> check_features(BaseEstimator(), [[2.0]])
    array([[2.]])
    """
    return _validated(estimator, X)


def _validated(estimator: Any, X: Any, **how: Any) -> Any:
    try:
        # sums of hostile columns overflow, which tells scikit-learn what it wants to know
        with np.errstate(all="ignore"):
            return validate_data(
                estimator, X, accept_sparse=("csr", "csc"), dtype=_DTYPES, ensure_all_finite="allow-nan", **how
            )
    except ValueError as error:
        if "infinity" not in str(error):
            raise
        raise ValueError(_infinite(X) or str(error)) from error


def _infinite(X: Any) -> str:
    """Say where the first infinite number is."""
    if sp.issparse(X):
        X = X.tocoo()
        at = np.flatnonzero(np.isinf(X.data.astype(np.float64)))[:1]
        where = [(int(X.row[i]), int(X.col[i])) for i in at]
    else:
        with np.errstate(over="ignore"):
            where = [
                (int(row), int(column)) for row, column in np.argwhere(np.isinf(np.asarray(X, dtype=np.float64)))[:1]
            ]
    names = getattr(X, "columns", None)
    return "".join(
        f"column {shown(column if names is None else names[column])} holds infinity in row "
        f"{row if names is None else X.index[row]}: correct it, or leave it missing."
        for row, column in where
    )


def category_counts(encoder: FrameEncoder | None) -> dict[int, int]:
    """Number of categories of each categorical column, by column number.

    Examples
    --------
    >>> category_counts(None)
    {}
    """
    if encoder is None:
        return {}
    position = {name: j for j, name in enumerate(encoder.columns_)}
    return {position[name]: len(categories) for name, categories in encoder.categories_.items()}
