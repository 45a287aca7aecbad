"""Measures of sequential classifiers on labelled data."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest

from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import (
    check_costs,
    check_decision_costs,
    check_weights,
    class_numbers,
    in_order,
    plain_labels,
)
from seqclass.evaluation.decision_curves import decision_curve
from seqclass.evaluation.scores import score_rows

__all__ = ["decision_curve", "realised_cost", "realised_cost_scorer", "score_rows"]
__dir__ = __all__.copy  # tab completion


def realised_cost(
    y_true: npt.ArrayLike,
    decision: npt.ArrayLike,
    paid: npt.ArrayLike,
    *,
    decision_costs: npt.ArrayLike | None = None,
    classes: npt.ArrayLike | None = None,
    decisions: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean price paid plus the mean cost of the decisions, which a sequential classifier aims to minimise.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    decision : array-like of shape (n,)
        Decisions taken.
    paid : float or array-like of shape (n,)
        Prices paid for the features of each instance.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        Cost of each decision when each class is true; by default 1 for a decision that differs from the label.
    classes : array-like of shape (n_classes,), optional
        Labels of the rows of ``decision_costs``; by default the sorted labels in ``y_true``.
    decisions : array-like of shape (n_decisions,), optional
        Labels of the columns of ``decision_costs``; by default ``classes``.
    sample_weight : array-like of shape (n,), optional
        Weights of the instances.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If lengths differ or are 0, weights are all 0, a label is missing, a label or decision has no row or column, or
        decisions are numbers while labels are texts, or the other way round.

    Examples
    --------
    >>> realised_cost([0, 1, 1], [0, 1, 0], [0.01, 0.02, 0.03])
    0.35333333333333333
    """
    truth, decided = np.asarray(plain_labels(y_true, "y_true")), np.asarray(in_order(decision, "decision", None))
    if truth.shape != decided.shape or truth.ndim != 1:
        raise ValueError(f"y_true and decision must be vectors of one length, got {truth.shape} and {decided.shape}.")
    if not truth.size:
        raise ValueError("y_true must have at least one label.")
    prices = check_costs(paid, "paid")
    if prices.ndim and prices.shape != truth.shape:
        raise ValueError(f"paid must be a number or have one entry an instance, got shape {prices.shape}.")
    rows = np.unique(truth) if classes is None else np.asarray(classes)
    label = class_numbers(rows, truth, "y_true")
    if decision_costs is None:
        at = class_numbers(rows, decided, "decision", other=-1)
        _check_kind(rows.tolist(), decided, at)
        wrong = (label != at).astype(np.float64)
    else:
        columns = rows if decisions is None else np.asarray(decisions)
        matrix = check_decision_costs(decision_costs, rows, columns)
        wrong = matrix[label, class_numbers(columns, decided, "decision")]
    weight = check_weights(sample_weight, len(truth))
    return float(np.average(prices + wrong, weights=weight))


def _check_kind(classes: list[Any], decided: npt.NDArray[Any], at: npt.NDArray[Any]) -> None:
    """Refuse codes beside texts, or texts beside codes, but for a decision such as "refer" among numbers."""
    texts = all(isinstance(label, str) for label in classes)
    other = [one for one in dict.fromkeys(decided[at < 0].tolist()) if isinstance(one, str) != texts]
    if other and (texts or (len(other) > 1 and (at < 0).all())):
        raise ValueError(
            f"decision holds {short_repr(other[0])}, which cannot be compared with the labels of y_true, "
            f"{join_names(classes)}: give both as labels, or both as their numbers."
        )


def realised_cost_scorer(estimator: Any, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
    """Negative realised cost, for ``scoring=realised_cost_scorer`` in scikit-learn's searches: higher is better.

    Prices and decision costs are the classifier's own, so the scores of a search over prices or decision costs are not
    comparable.

    With scikit-learn's metadata routing, ``realised_cost_scorer.set_score_request(sample_weight=True)`` is a scorer
    that weights rows by the weights that the search is given. This one refuses weights, as a search cannot know whether
    it wants them.

    Parameters
    ----------
    estimator : BaseSequentialClassifier or Pipeline
        A fitted classifier, or a pipeline that ends with one.
    X : array-like, data frame or sparse array of shape (n, n_features)
        Instances.
    y : array-like of shape (n,)
        Labels of the instances.
    sample_weight : array-like of shape (n,), optional
        Weights of the instances.

    Returns
    -------
    float

    Raises
    ------
    TypeError
        If the estimator is not one that records what it acquires.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from seqclass import SequentialClassifier
    >>> search = GridSearchCV(SequentialClassifier(), {"order": ["error", "conditional"]}, scoring=realised_cost_scorer)
    >>> bool(search.fit(*load_iris(return_X_y=True)).best_score_ < -0.02)
    True
    """
    while hasattr(estimator, "steps"):  # a pipeline may have one step, and end with a pipeline
        X, estimator = estimator[:-1].transform(X) if len(estimator) > 1 else X, estimator[-1]
    if not hasattr(estimator, "acquire"):
        raise TypeError(
            f"realised_cost_scorer is for a SequentialClassifier, or a pipeline that ends with one; "
            f"{type(estimator).__name__} does not say what it acquires."
        )
    record = estimator.acquire(X)
    costs = {"decision_costs": estimator.decision_costs_, "classes": estimator.classes_}
    return -realised_cost(
        y, record.decision, record.paid, decisions=estimator.decisions_, sample_weight=sample_weight, **costs
    )


class _WeightedScorer:
    """`realised_cost_scorer` that asks for weights of rows, or not, as a scorer of scikit-learn's `make_scorer`."""

    def __init__(self, sample_weight: bool | str | None = None) -> None:
        self.sample_weight = sample_weight

    def __call__(self, estimator: Any, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float:
        return realised_cost_scorer(estimator, X, y, sample_weight)

    def __repr__(self) -> str:
        return f"realised_cost_scorer.set_score_request(sample_weight={self.sample_weight!r})"

    def set_score_request(self, *, sample_weight: bool | str | None) -> _WeightedScorer:
        """A scorer that asks, or does not, for weights of rows; of what all share nothing changes."""
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "weights are routed only after sklearn.set_config(enable_metadata_routing=True), which comes before "
                "set_score_request."
            )
        return _WeightedScorer(sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """What is asked for."""
        request = MetadataRequest(owner="realised_cost_scorer")
        request.score.add_request(param="sample_weight", alias=self.sample_weight)
        return request


_unset = _WeightedScorer()
vars(realised_cost_scorer).update(
    set_score_request=_unset.set_score_request, get_metadata_routing=_unset.get_metadata_routing
)
