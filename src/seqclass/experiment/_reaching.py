"""The sequential classifier inside a fitted method, and what reaches it of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import Pipeline

from seqclass._frames import is_frame
from seqclass._record import AcquisitionRecord
from seqclass.classifier import SequentialClassifier
from seqclass.datasets import Dataset


@dataclass(frozen=True, eq=False)
class Reached:
    """A sequential classifier, and the rows as they reach it.

    Attributes
    ----------
    classifier : SequentialClassifier
        Fitted on class codes.
    X : ndarray, sparse array or DataFrame of shape (n, n_columns)
        The rows.
    names : list of str of length n_columns
        What its columns are called.
    of_data : bool
        Whether its columns are those of the data set, in their order.
    known : tuple of int
        Its columns that are known before the first question.
    budget : int or None
        Hard budget.
    """

    classifier: SequentialClassifier
    X: Any
    names: list[str]
    of_data: bool
    known: tuple[int, ...] = ()
    budget: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether nothing is known at the start and the policy says when to stop."""
        return self.budget is None and not self.known

    def acquire(self, X: Any, *, record_beliefs: bool = False) -> AcquisitionRecord:
        """Acquire and decide, of rows as they reach it."""
        if self.is_plain:
            return self.classifier.acquire(X, record_beliefs=record_beliefs)
        return self.classifier.acquire(X, record_beliefs=record_beliefs, known=self.known, budget=self.budget)

    def under(self, known: Sequence[str], data: Sequence[str], budget: int | None) -> Reached:
        """The same with what is known at the start, by the names of the data set's columns, and a hard budget.

        Raises
        ------
        ValueError
            If a step before the classifier makes other columns of those of the data set.
        """
        other = [] if not known else [name for name in self.names if name not in set(data)]
        if other:
            raise ValueError(
                f"known: a step before the classifier makes columns such as {other[0]!r}, of which nobody can tell "
                "whether they are known; use a selector or a scaler, or none."
            )
        # what a selector before the classifier left out changes nothing
        return replace(self, known=tuple(j for j, name in enumerate(self.names) if name in known), budget=budget)


def reached(fitted: Any, X: Any, data: Dataset) -> Reached | None:
    """Find the sequential classifier inside a fitted method.

    Parameters
    ----------
    fitted : estimator
        The method: the classifier itself, the last step of a pipeline, or what a search found best.
    X : ndarray, sparse array or DataFrame of shape (n, n_features)
        Rows of the data set.
    data : Dataset
        Gives the names of its columns.

    Returns
    -------
    Reached or None
        None for a method that is not sequential.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.pipeline import make_pipeline
    >>> from seqclass.datasets import load
    >>> iris = load("iris")
    >>> fitted = make_pipeline(SelectKBest(k=2), SequentialClassifier()).fit(iris.X, iris.y)
    >>> reached(fitted, iris.X, iris).names
    ['petal length (cm)', 'petal width (cm)']
    """
    own = [str(name) for name in X.columns] if is_frame(X) else data.names()
    fitted = getattr(fitted, "best_estimator_", fitted)
    if isinstance(fitted, Pipeline) and isinstance(fitted[-1], SequentialClassifier):
        if len(fitted) == 1:
            return Reached(fitted[-1], X, own, True)
        return Reached(fitted[-1], fitted[:-1].transform(X), _names(fitted, own), False)
    return Reached(fitted, X, own, True) if isinstance(fitted, SequentialClassifier) else None


def _names(pipeline: Pipeline, own: list[str]) -> list[str]:
    """Names of the columns that come out of the steps before the last."""
    clf: SequentialClassifier = pipeline[-1]
    named: list[str] = []
    if not hasattr(clf, "feature_names_in_"):
        try:
            named = [str(name) for name in pipeline[:-1].get_feature_names_out(own)]
        except (AttributeError, TypeError, ValueError):  # not every transformer has any
            named = []
    return named if len(named) == clf.n_features_in_ else [clf.feature_name(j) for j in range(clf.n_features_in_)]


def known_categories(train: Any, test: Any) -> Any:
    """Test rows in which a category that no training row has is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> known_categories(pd.DataFrame({"a": ["x", "y"]}), pd.DataFrame({"a": ["y", "z"]}))["a"].isna().tolist()
    [False, True]
    """
    test = test.copy()
    for name in train.columns:
        if train[name].dtype.kind not in "biuf":
            test[name] = test[name].where(test[name].isin(train[name].dropna().unique()))
    return test
