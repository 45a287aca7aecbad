"""Methods of the papers beyond the recipes: a selector before a classifier, shuffled columns, missing cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from seqclass._arrays import BoolArray, as_generator
from seqclass.recipes import f_etana, ifc2f
from seqclass.selection import OSFS, SAOLA, AlphaInvesting, FastOSFS

#: Streaming selectors of the comparisons, as published: classes are numbers, and the significance level is 0.01.
SELECTORS: dict[str, Any] = {
    "SAOLA": lambda coding: SAOLA("fisher_z", alpha=0.01, class_coding=coding),
    "Fast-OSFS": lambda coding: FastOSFS(alpha=0.01, class_coding=coding),
    "OSFS": lambda coding: OSFS(alpha=0.01, class_coding=coding),
    "Alpha-investing": lambda coding: AlphaInvesting(class_coding=coding),
}


def selected(selector: Any, classifier: str, n_neighbors: int = 3) -> Pipeline:
    """Classifier on the features that a selector keeps.

    Parameters
    ----------
    selector : selector
        Fitted to the training rows as they are.
    classifier : {"KNN", "tree"}
        Nearest neighbours, or a decision tree in place of J48.
    n_neighbors : int
        Neighbours that vote.

    Examples
    --------
    >>> selected(SAOLA(), "KNN")[-1]
    KNeighborsClassifier(n_neighbors=3)
    """
    made = KNeighborsClassifier(n_neighbors) if classifier == "KNN" else DecisionTreeClassifier(min_samples_leaf=2)
    return make_pipeline(selector, made)


class ShuffledColumns(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selector that is given the columns in random order.

    Parameters
    ----------
    selector : selector
        The selector; a clone is fitted.
    random_state : int, generator or None
        Seed of the order.

    Attributes
    ----------
    selector_ : selector
        The fitted selector, in terms of the shuffled columns.
    support_ : ndarray of bool of shape (n_features,)
        Columns it keeps.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> ShuffledColumns(SAOLA("fisher_z"), random_state=0).fit(X, X[:, 2] > 0).support_
    array([False, False,  True, False])
    """

    def __init__(self, selector: Any, random_state: Any = 0) -> None:
        self.selector = selector
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ShuffledColumns:
        """Fit the selector to shuffled columns."""
        X, y = validate_data(self, X, y, accept_sparse="csc", ensure_all_finite=False)
        order = as_generator(self.random_state).permutation(X.shape[1])
        self.selector_ = clone(self.selector).fit(X[:, order], y)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[order[self.selector_.get_support(indices=True)]] = True
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_


class MissingAtTest(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Takes a share of the cells away from the rows to classify; training rows stay whole.

    Parameters
    ----------
    share : float
        Probability that a cell is missing.
    random_state : int, generator or None
        Seed of what is missing.

    Examples
    --------
    >>> X = np.ones((2, 3))
    >>> gone = MissingAtTest(0.5)
    >>> bool(np.isnan(gone.fit_transform(X)).any()), np.isnan(gone.transform(X)).astype(int).tolist()
    (False, [[0, 1, 1], [1, 0, 0]])
    """

    def __init__(self, share: float, random_state: Any = 0) -> None:
        self.share = share
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> MissingAtTest:
        """Nothing is learnt."""
        validate_data(self, X, ensure_all_finite=False)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Training rows, as they are."""
        self.fit(X)
        return X

    def transform(self, X: Any) -> Any:
        """Rows to classify, with cells that are NaN."""
        gone = as_generator(self.random_state).random(X.shape) < self.share
        return np.where(gone, np.nan, np.asarray(X, dtype=np.float64))


class FETANASteps:
    """Recipe of F-ETANA as published, with so many simulated paths a step and so many steps.

    Examples
    --------
    >>> FETANASteps(10, 300)(feature_costs=0.01).solver.n_paths
    10
    """

    def __init__(self, n_paths: int, max_iterations: int) -> None:
        self.n_paths, self.max_iterations = n_paths, max_iterations

    def __call__(self, random_state: Any = 0, **settings: Any) -> Any:
        clf = f_etana(published=True, random_state=random_state, **settings)
        return clf.set_params(solver__n_paths=self.n_paths, solver__max_iterations=self.max_iterations)


class IFC2FWithMissing:
    """Recipe of IFC2F on rows of which cells are missing when they are classified.

    Examples
    --------
    >>> IFC2FWithMissing(0.1, published=False)(feature_costs=0.01, random_state=0)[0]
    MissingAtTest(share=0.1)
    """

    def __init__(self, share: float, published: bool) -> None:
        self.share, self.published = share, published

    def __call__(self, random_state: Any = 0, **settings: Any) -> Pipeline:
        clf = ifc2f(published=self.published, random_state=random_state, **settings)
        return make_pipeline(MissingAtTest(self.share, random_state), clf)
