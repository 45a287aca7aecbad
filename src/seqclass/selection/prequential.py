"""Prequential evaluation: test on each batch of a stream, then learn from it."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.information import canonical
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, plain_labels
from seqclass.selection._base import naming_columns
from seqclass.selection.stability import windowed_stability


@dataclass(frozen=True, repr=False)
class Prequential(Readable):
    """Results of a selector and a classifier on a stream of T batches.

    Attributes
    ----------
    accuracy : ndarray of shape (T,)
        Share of each batch that was classified correctly before anything was learnt from it; NaN for the first batch if
        nothing was learnt before.
    stability : ndarray of shape (T,)
        Stability of the supports after each batch and the ``window`` - 1 batches before it; NaN until there are that
        many.
    selected : tuple of T ndarrays of int
        Features selected after each batch, in rising order.
    selection_seconds : ndarray of shape (T,)
        Time that the selector took for each batch.
    learning_seconds : ndarray of shape (T,)
        Time that the classifier took to learn each batch.
    n_features : int
        Number of features to select from.
    selector, classifier : estimator
        As they are after the last batch; ``selector`` is None if all features were used.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([0.1, 0.1])
    >>> run = Prequential(np.array([np.nan, 0.8]), np.full(2, np.nan), (), times, times, 3)
    >>> run.mean_accuracy, run.mean_seconds
    (0.8, 0.2)
    """

    _in_summary = ("accuracy", "mean_accuracy", "mean_stability", "n_features", "mean_seconds")
    _axis = "batch"

    accuracy: FloatArray
    stability: FloatArray
    selected: tuple[IntArray, ...]
    selection_seconds: FloatArray
    learning_seconds: FloatArray
    n_features: int
    selector: Any = field(default=None, repr=False)
    classifier: Any = field(default=None, repr=False)

    def _table(self) -> Any:
        columns = ("accuracy", "stability", "selection_seconds", "learning_seconds")
        n_selected = [len(one) for one in self.selected] or [self.n_features] * len(self.accuracy)
        return {name: getattr(self, name) for name in columns} | {"n_selected": n_selected}

    @property
    def mean_accuracy(self) -> float:
        """Mean accuracy over the batches that were tested."""
        return _mean(self.accuracy)

    @property
    def mean_stability(self) -> float:
        """Mean stability over the full windows; NaN if there is none."""
        return _mean(self.stability)

    @property
    def mean_seconds(self) -> float:
        """Mean time of a batch: selection and learning."""
        return float(np.mean(self.selection_seconds + self.learning_seconds))


def prequential(
    selector: Any,
    classifier: Any,
    X: Any,
    y: npt.ArrayLike,
    *,
    batch_size: int = 100,
    classes: npt.ArrayLike | None = None,
    window: int = 10,
    select_first: bool = False,
    warm_up: int = 0,
) -> Prequential:
    """Evaluate a selector and a classifier on a stream, batch by batch: test, then learn.

    The classifier always sees the same number of columns; those that are not selected are zero. A batch is tested with
    the features selected before it came, then the selector learns from it, then the classifier does, with the features
    selected now. The first batch is not tested, and is masked like all others when the classifier learns it.

    Parameters
    ----------
    selector : selector with ``partial_fit(X, y, classes=...)``, or None
        Selector, which is cloned; None uses all features.
    classifier : classifier with ``partial_fit(X, y, classes=...)`` and ``predict``
        Classifier, which is cloned. One of River's, or any with ``learn_one`` and ``predict_one``, works as well.
    X : array-like, data frame or sparse matrix of shape (n, n_features)
        The stream, in order.
    y : array-like of shape (n,)
        Labels of any kind.
    batch_size : int
        Rows of a batch; the last may have fewer.
    classes : array-like, optional
        All possible labels; by default those in ``y``.
    window : int
        Number of supports over which stability is computed.
    select_first : bool
        Whether the selector learns from a batch before the classifier is tested on it. The published experiments do so;
        the labels of a batch then influence the choice of the features that it is tested with.
    warm_up : int
        Number of rows at the start that the classifier learns with all features; these are not used for testing or
        selection, and the first batch after them is tested too. 100 in the authors' code.

    Returns
    -------
    Prequential

    Raises
    ------
    TypeError
        If the selector or the classifier has no ``partial_fit``.
    ValueError
        If the data are unsuitable, or ``batch_size`` or ``window`` is out of range.

    References
    ----------
    Haug et al., "Leveraging Model Inherent Variable Importance for Stable Online Feature Selection", KDD 2020:
    section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Perceptron
    >>> from seqclass.selection import FIRES
    >>> X = np.random.default_rng(0).normal(size=(2000, 50))
    >>> run = prequential(FIRES(2), Perceptron(), X, np.where(X[:, 7] > X[:, 30], "yes", "no"))
    >>> run.selected[-1], run.mean_accuracy > 0.85
    (array([ 7, 30]), True)
    """
    check_integer(batch_size, "batch_size", 1)
    check_integer(window, "window", 2)
    check_integer(warm_up, "warm_up", 0)
    if hasattr(classifier, "learn_one") and not hasattr(classifier, "partial_fit"):
        classifier = RiverClassifier(classifier)
    for name, estimator in (("selector", selector), ("classifier", classifier)):
        if not hasattr(estimator, "partial_fit") and not (name == "selector" and estimator is None):
            raise TypeError(f"{name} must have partial_fit to learn from a stream, {estimator!r} has none.")
    with naming_columns(X):
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
    labels = column_or_1d(plain_labels(y))
    check_consistent_length(X, labels)
    known = np.unique(labels if classes is None else plain_labels(classes, "classes"))
    run = _Run(clone(selector) if selector is not None else None, clone(classifier), known, X.shape[1], select_first)
    if warm_up:
        run.learn(X[:warm_up], labels[:warm_up])
    for start in range(warm_up, X.shape[0], batch_size):
        run.step(X[start : start + batch_size], labels[start : start + batch_size])
    return Prequential(
        accuracy=np.array(run.accuracy),
        stability=windowed_stability(run.selected, window, n_features=X.shape[1]),
        selected=tuple(run.selected),
        selection_seconds=np.array(run.selection_seconds),
        learning_seconds=np.array(run.learning_seconds),
        n_features=X.shape[1],
        selector=run.selector,
        classifier=run.classifier,
    )


class _Run:
    """Where an evaluation stands."""

    def __init__(self, selector: Any, classifier: Any, classes: Any, n_features: int, select_first: bool) -> None:
        self.selector = selector
        self.classifier = classifier
        self.classes = classes
        self.select_first = select_first
        self.has_learnt = False
        self.columns: IntArray = np.arange(n_features)
        self.accuracy: list[float] = []
        self.selected: list[IntArray] = []
        self.selection_seconds: list[float] = []
        self.learning_seconds: list[float] = []

    def step(self, X: Any, y: npt.NDArray[Any]) -> None:
        if not self.select_first:
            self._test(X, y)
        start = time.perf_counter()
        if self.selector is not None:
            self.selector.partial_fit(X, y, classes=self.classes)
            self.columns = self.selector.get_support(indices=True)
        self.selection_seconds.append(time.perf_counter() - start)
        if self.select_first:
            self._test(X, y)
        self.selected.append(self.columns)
        masked = self._mask(X)
        start = time.perf_counter()
        self.learn(masked, y)
        self.learning_seconds.append(time.perf_counter() - start)

    def learn(self, X: Any, y: npt.NDArray[Any]) -> None:
        self.classifier.partial_fit(X, y, classes=self.classes)
        self.has_learnt = True

    def _test(self, X: Any, y: npt.NDArray[Any]) -> None:
        right = self.classifier.predict(self._mask(X)) == y if self.has_learnt else np.nan
        self.accuracy.append(float(np.mean(right)))

    def _mask(self, X: Any) -> Any:
        if self.selector is None:
            return X
        mask = np.zeros(X.shape[1])
        mask[self.columns] = 1
        return X @ sp.diags_array(mask) if sp.issparse(X) else X * mask


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


class RiverClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of River, or any with ``learn_one`` and ``predict_one``, with the methods of scikit-learn.

    Such models take one instance at a time, a dictionary of features; a row's dictionary has its column numbers as
    keys, of a sparse matrix only those of stored values.

    Parameters
    ----------
    model : object
        Has ``learn_one(x, y)`` and ``predict_one(x)``. A copy is trained.

    Attributes
    ----------
    model_ : object
        The trained model.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen.

    Examples
    --------
    >>> class Last:
    ...     label = None
    ...     def learn_one(self, x, y):
    ...         self.label = y
    ...     def predict_one(self, x):
    ...         return self.label
    >>> RiverClassifier(Last()).fit([[0.0], [1.0]], ["a", "b"]).predict([[5.0]]).tolist()
    ['b']
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: npt.ArrayLike) -> RiverClassifier:
        """Train a new copy of the model on the rows, one after another."""
        if hasattr(self, "model_"):
            del self.model_
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: npt.ArrayLike, classes: npt.ArrayLike | None = None) -> RiverClassifier:
        """Train on further rows."""
        first = not hasattr(self, "model_")
        with naming_columns(X):
            X, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype=np.float64)
        if first:
            self.model_ = copy.deepcopy(self.model)
            self.classes_ = np.unique(y if classes is None else np.asarray(classes))
        for row, label in zip(_dictionaries(X), np.asarray(y).tolist()):
            self.model_.learn_one(row, label)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Labels of rows; the first class where the model knows none yet."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        labels = [self.model_.predict_one(row) for row in _dictionaries(X)]
        return np.asarray([self.classes_[0] if label is None else label for label in labels], dtype=self.classes_.dtype)


def _dictionaries(X: Any) -> list[dict[int, float]]:
    if not sp.issparse(X):
        return [dict(enumerate(row)) for row in X.tolist()]
    X = canonical(X)
    bounds = zip(X.indptr[:-1], X.indptr[1:])
    return [dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist())) for a, b in bounds]
