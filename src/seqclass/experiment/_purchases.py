"""What a method acquires of each instance it is scored on, and what it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._charging import charged
from seqclass._frames import is_frame
from seqclass.costs import Prices

#: Steps whose output column j needs input column j and no other, where there are as many out as in.
_BY_COLUMN = (
    *(Binarizer, MaxAbsScaler, MinMaxScaler, OrdinalEncoder, PowerTransformer, QuantileTransformer, RobustScaler),
    *(SimpleImputer, StandardScaler),
)


@dataclass(frozen=True)
class Decided:
    """Decisions on ``n`` instances, and what they took.

    Attributes
    ----------
    decision : ndarray of shape (n,)
        Labels.
    proba : ndarray of shape (n, n_classes) or None
        Class probabilities; None of a method that has none.
    n_features : ndarray of int of shape (n,)
        Features acquired.
    cost : ndarray of shape (n,)
        Prices paid.
    """

    decision: npt.NDArray[Any]
    proba: FloatArray | None
    n_features: IntArray
    cost: FloatArray


def purchases(estimator: Any, X: Any, prices: Prices, known: Sequence[int] = ()) -> tuple[IntArray, FloatArray]:
    """Features that a classifier without a stopping rule needs of each instance, and what they cost.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier.
    X : ndarray, sparse array or DataFrame of shape (n, n_features)
        The instances. A missing cell is neither acquired nor paid for.
    prices : Prices
        Price of each feature.
    known : sequence of int
        Columns that are known at the start, and so neither acquired nor paid for.

    Returns
    -------
    n_features : ndarray of int of shape (n,)
    cost : ndarray of shape (n,)
    """
    missing, wanted = _missing(X), np.ones(X.shape[1], dtype=bool)
    wanted[list(known)] = False
    if hasattr(estimator, "tree_"):  # a single tree asks for what lies on the way to the leaf
        asked = sp.csr_array(_paths(estimator, X).multiply(wanted)) if len(known) else _paths(estimator, X)
        if missing is not None:
            asked = sp.csr_array(asked.multiply(~missing))
        return charged(asked, prices)
    columns = needed(estimator, X.shape[1]) & wanted
    if missing is None:
        n_features, cost = charged(sp.csr_array(columns[None, :].astype(np.float64)), prices)
        return np.repeat(n_features, X.shape[0]), np.repeat(cost, X.shape[0])
    parts = [
        charged(sp.csr_array((columns & ~missing[rows]).astype(np.float64)), prices)
        for rows in chunks(X.shape[0], 24.0 * X.shape[1])
    ]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _missing(X: Any) -> BoolArray | None:
    """Which cells are missing; None if none is."""
    if sp.issparse(X):
        return None
    missing = X.isna().to_numpy() if is_frame(X) else np.isnan(X) if X.dtype.kind == "f" else None
    return missing if missing is not None and missing.any() else None


def _paths(tree: Any, X: Any) -> Any:
    """Sparse matrix with a one for every feature that a tree asks for of an instance."""
    feature = tree.tree_.feature
    inner = np.flatnonzero(feature >= 0)
    asks = sp.csr_array((np.ones(inner.size), (inner, feature[inner])), shape=(feature.size, X.shape[1]))
    asked = sp.csr_array(tree.decision_path(X)).astype(np.float64) @ asks
    asked.data[:] = 1.0
    return asked


def needed(estimator: Any, n_features: int) -> BoolArray:
    """Columns that a fitted classifier needs to decide.

    A linear model needs those with a weight other than zero for some class, a tree or forest those that it asks for
    somewhere; behind a selector only what it keeps counts, and a scaler or imputer passes on what comes after it
    needs. Any other model, and any other step before one, needs all columns that it was given.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier.
    n_features : int
        Number of columns that it is given.

    Returns
    -------
    ndarray of bool of shape (n_features,)

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> needed(DecisionTreeClassifier().fit([[0, 5], [1, 5]], [0, 1]), 2)
    array([ True, False])
    """
    estimator = getattr(estimator, "best_estimator_", estimator)
    everything = np.ones(n_features, dtype=bool)
    if isinstance(estimator, Pipeline):
        return _through(estimator, everything)
    if hasattr(estimator, "coef_") and not sp.issparse(estimator.coef_):
        weights = np.atleast_2d(estimator.coef_)
        return (weights != 0).any(axis=0) if weights.shape[1] == n_features else everything
    trees = [estimator] if hasattr(estimator, "tree_") else list(np.ravel(getattr(estimator, "estimators_", [])))
    shared = not hasattr(estimator, "estimators_features_")  # each is given all columns
    if not trees or not shared or not all(hasattr(tree, "tree_") for tree in trees):
        return everything
    asked = np.concatenate([tree.tree_.feature for tree in trees])
    return np.isin(np.arange(n_features), asked)


def _through(pipeline: Pipeline, everything: BoolArray) -> BoolArray:
    """Columns that a pipeline needs: those of its last step, traced back through the steps before."""
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    widths = [getattr(step, "n_features_in_", None) for step in [*steps, pipeline.steps[-1][1]]]
    if None in widths:
        return everything
    mask = needed(pipeline.steps[-1][1], int(widths[-1] or 0))
    for step, width in zip(reversed(steps), reversed(widths[:-1])):
        behind = np.zeros(int(width or 0), dtype=bool)
        if hasattr(step, "get_support"):
            behind[step.get_support()] = mask
        elif isinstance(step, _BY_COLUMN) and mask.size == behind.size:
            behind = mask
        else:
            behind[:] = mask.any()
        mask = behind
    return mask if mask.size == everything.size else everything
