"""Where a semi-randomised search starts: a random subset, one that a light selector gives, or all features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.impute import SimpleImputer

from seqclass._arrays import BoolArray, IntArray

#: Size of the initial subset of the paper's experiments.
N_INITIAL = 20


def child_seed(seed: int, purpose: int) -> int:
    """Seed of something other than the iterations.

    Examples
    --------
    >>> child_seed(0, 1) == child_seed(0, 2)
    False
    """
    return int(np.random.default_rng([seed, 0, purpose]).integers(2**31 - 1))


def with_seeds(estimator: Any, seed: int) -> Any:
    """Clone of an estimator in which every open ``random_state`` has been given a seed.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> with_seeds(DecisionTreeClassifier(), 7), with_seeds(DecisionTreeClassifier(random_state=0), 7)
    (DecisionTreeClassifier(random_state=7), DecisionTreeClassifier(random_state=0))
    """
    made = clone(estimator)
    values = made.get_params(deep=True)
    open_ones = [name for name, value in values.items() if name.split("__")[-1] == "random_state" and value is None]
    return made.set_params(**dict.fromkeys(sorted(open_ones), seed)) if open_ones else made


def initial_subset(
    warm_start: Any, n_initial: int | None, X: Any, y: npt.NDArray[Any], *, classify: bool, seed: int, limit: int
) -> BoolArray:
    """Mask of the features that the search starts with.

    Parameters
    ----------
    warm_start : bool, "all", array-like or selector
        As in `SemiRFS`.
    n_initial : int or None
        Size of a subset that is drawn, or made with trees.
    X, y : ndarray or sparse matrix, ndarray
        The data.
    classify : bool
        Whether y holds classes.
    seed : int
        Seed of the draw.
    limit : int
        Largest size allowed.

    Returns
    -------
    ndarray of bool of shape (n_features,)

    Examples
    --------
    >>> initial_subset([2, 0], None, np.zeros((4, 3)), np.zeros(4), classify=True, seed=0, limit=3)
    array([ True, False,  True])
    """
    n = X.shape[1]
    size = min(N_INITIAL, max(1, n // 2)) if n_initial is None else n_initial
    size = min(size, n, limit)
    mask = np.zeros(n, dtype=bool)
    if warm_start is None or warm_start is False:
        mask[np.random.default_rng([seed, 0, 2]).choice(n, size, replace=False)] = True
    elif warm_start is True:
        mask[important(X, y, size, classify, child_seed(seed, 3))] = True
    elif isinstance(warm_start, str):
        if warm_start != "all":
            raise ValueError(f"warm_start must be a bool, 'all', features or a selector, got {warm_start!r}.")
        mask[:] = True
    elif hasattr(warm_start, "fit"):
        mask[_fitted_support(warm_start, X, y, child_seed(seed, 3))] = True
    else:
        mask[given_features(warm_start, n)] = True
    if mask.sum() > limit:
        raise ValueError(
            f"warm_start gives {mask.sum()} features, more than max_features={limit}: start with fewer, or allow more."
        )
    return mask


def important(X: Any, y: npt.NDArray[Any], size: int, classify: bool, seed: int) -> IntArray:
    """The features that low-depth extremely randomised trees use most, as in the paper's experiments."""
    if not sp.issparse(X) and X.dtype.kind == "f" and np.isnan(X).any():  # trees of older scikit-learns refuse these
        X = SimpleImputer(keep_empty_features=True).fit_transform(X)
    trees = ExtraTreesClassifier if classify else ExtraTreesRegressor
    model = trees(n_estimators=100, max_depth=3, random_state=seed).fit(X, y)
    return np.asarray(np.argsort(-model.feature_importances_, kind="stable")[:size])


def _fitted_support(selector: Any, X: Any, y: npt.NDArray[Any], seed: int) -> IntArray:
    if not hasattr(selector, "get_support"):
        raise TypeError(f"warm_start: {type(selector).__name__} has no get_support, so it is no feature selector.")
    support = np.asarray(with_seeds(selector, seed).fit(X, y).get_support(indices=True))
    if not len(support):
        raise ValueError(f"warm_start: {type(selector).__name__} kept no feature; loosen its threshold.")
    return support


def given_features(features: npt.ArrayLike, n: int) -> IntArray:
    """Columns of a mask or a list of columns.

    Examples
    --------
    >>> given_features([True, False, True], 3), given_features([2, 1], 3)
    (array([0, 2]), array([2, 1]))
    """
    given = np.asarray(features)
    if given.dtype == bool and given.shape == (n,):
        given = np.flatnonzero(given)
    if given.ndim != 1 or not given.size or given.dtype.kind not in "iu":
        raise ValueError(f"warm_start must be a bool, 'all', a selector, columns or a mask of {n}, got {features!r}.")
    if given.min() < 0 or given.max() >= n:
        raise ValueError(f"warm_start names column {given.min() if given.min() < 0 else given.max()}, of {n} columns.")
    return given
