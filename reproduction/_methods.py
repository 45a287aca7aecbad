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

from seqclass._utils.arrays import BoolArray, as_generator
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
    """Classifier on the features that a selector keeps."""
    made = KNeighborsClassifier(n_neighbors) if classifier == "KNN" else DecisionTreeClassifier(min_samples_leaf=2)
    return make_pipeline(selector, made)


class ShuffledColumns(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selector that is given the columns in random order."""

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
    """Takes a share of the cells away from the rows to classify; training rows stay whole."""

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
    """Recipe of F-ETANA as published, with so many simulated paths a step and so many steps."""

    def __init__(self, n_paths: int, max_iterations: int) -> None:
        self.n_paths, self.max_iterations = n_paths, max_iterations

    def __call__(self, random_state: Any = 0, **settings: Any) -> Any:
        clf = f_etana(published=True, random_state=random_state, **settings)
        return clf.set_params(solver__n_paths=self.n_paths, solver__max_iterations=self.max_iterations)


class IFC2FWithMissing:
    """Recipe of IFC2F on rows of which cells are missing when they are classified."""

    def __init__(self, share: float, published: bool) -> None:
        self.share, self.published = share, published

    def __call__(self, random_state: Any = 0, **settings: Any) -> Pipeline:
        clf = ifc2f(published=self.published, random_state=random_state, **settings)
        return make_pipeline(MissingAtTest(self.share, random_state), clf)
