"""What a fitted classifier does on rows whose labels are known: over all, by class, group, threshold and questions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from seqclass._record import AcquisitionRecord
from seqclass._record_rows import repriced
from seqclass._scoring import ClassScores, GroupScores, Told
from seqclass._validation import check_costs, class_numbers
from seqclass.calibration import QuestionCalibration, calibration_by_questions
from seqclass.costs import Prices
from seqclass.decision_curves import DecisionCurve, acquired_curve
from seqclass.held_out import Interval, row_interval

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

__all__ = ["ClassScores", "GroupScores", "Scores", "score_rows"]


@dataclass(frozen=True)
class Scores:
    """What a classifier did on given rows; costs in units of misclassification cost, a row.

    Intervals are at 95%, for rows that the classifier was not fitted to.

    Attributes
    ----------
    n_rows : int
        Rows.
    realised_cost : float
        Mean of prices paid plus decision cost.
    realised_cost_interval : tuple of float
        Interval of it.
    accuracy : float
        Share of rows decided for their class; a further decision, such as "refer", is not right.
    accuracy_interval : tuple of float
        Interval of it.
    mean_features : float
        Features acquired of a row on average; a bundle counts once.
    mean_price : float
        Prices paid for a row on average.
    mean_decision_cost : float
        What a decision cost on average.
    classes : tuple of ClassScores
        The same class by class.
    groups : tuple of GroupScores
        The same group by group, where groups were given.
    calibration : tuple of QuestionCalibration
        Whether those who stopped after so many questions were as sure as they were right.
    decision_curve : DecisionCurve or None
        Net benefit against threshold probability: of two classes for the second, or of the one that was named.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import etana
    >>> X, y = load_iris(return_X_y=True)
    >>> found = score_rows(etana(0.05).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found.n_rows, found.accuracy > 0.9, found.classes[0].sensitivity
    (75, True, 1.0)
    """

    n_rows: int
    realised_cost: float
    realised_cost_interval: Interval
    accuracy: float
    accuracy_interval: Interval
    mean_features: float
    mean_price: float
    mean_decision_cost: float
    classes: tuple[ClassScores, ...]
    groups: tuple[GroupScores, ...] = ()
    calibration: tuple[QuestionCalibration, ...] = ()
    decision_curve: DecisionCurve | None = field(default=None, compare=False)

    def record(self) -> dict[str, Any]:
        """Return the figures as a plain record."""
        curve = self.decision_curve
        return asdict(replace(self, decision_curve=None)) | {
            "decision_curve": None if curve is None else curve.record()
        }


def score_rows(
    clf: SequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    record: AcquisitionRecord | None = None,
    prices: Prices | None = None,
    decision_costs: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    positive: Any = None,
    thresholds: npt.ArrayLike | None = None,
    prevalence: float | None = None,
) -> Scores:
    """Acquire and decide for rows whose labels are known, and say what that cost.

    Parameters
    ----------
    clf : SequentialClassifier
        A fitted classifier.
    X : array-like, data frame or sparse array of shape (n, n_features)
        Instances in the form of the training data; looked at only where there is no ``record``.
    y : array-like of shape (n,)
        Their labels.
    record : AcquisitionRecord, optional
        What ``clf.acquire(X)`` gave, so that it is not done again.
    prices : Prices, optional
        Prices that are paid in place of those that the classifier plans with, see `seqclass.costs.resolve_prices`.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        What decisions cost in place of ``clf.decision_costs_``.
    groups : array-like of shape (n,), optional
        Group of each row, such as the sex, to be scored by itself; taken as text.
    positive : label, optional
        The class whose decision curve is wanted; by default of two classes the last of ``clf.classes_``, of more none.
    thresholds : array-like of shape (m,), optional
        Threshold probabilities of the decision curve; by default 0.01 to 0.99.
    prevalence : float, optional
        Share of ``positive`` where the decision curve is to hold, if it is not that of these rows; see
        `seqclass.metrics.decision_curve`.

    Returns
    -------
    Scores

    Raises
    ------
    ValueError
        If there is no row, lengths differ, or a label or ``positive`` is none of ``clf.classes_``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X, y = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    >>> clf = SequentialClassifier().fit(X, y)
    >>> round(score_rows(clf, X, y).realised_cost, 3), round(score_rows(clf, X[:10], ["b"] * 10).realised_cost, 3)
    (0.01, 1.01)
    """
    record = clf.acquire(X) if record is None else record
    label = class_numbers(clf.classes_, y)
    if len(label) != len(record) or not len(label):
        raise ValueError(
            f"y must have one label for each of the rows, at least one; got {len(label)} of {len(record)}."
        )
    costs = clf.decision_costs_
    if decision_costs is not None:
        costs = check_costs(decision_costs, "decision_costs", costs.shape)
    paid = record.cost if prices is None else repriced(record, prices, clf.charge_missing)
    told = Told(label, class_numbers(clf.decisions_, record.decision), paid, costs, record.n_features)
    names = [str(name) for name in clf.classes_.tolist()]
    curve = None
    if positive is not None or prevalence is not None or (len(names) == 2 and costs[1, 0] > costs[1, 1]):
        about = {"positive": positive, "thresholds": thresholds, "price": paid, "decision_costs": costs}
        curve = acquired_curve(clf, None, y, record=record, prevalence=prevalence, **about)
    return Scores(
        **told.means(),
        accuracy=float(told.right.mean()),
        accuracy_interval=row_interval(told.right, 1.0),
        mean_decision_cost=float(told.wrong.mean()),
        classes=told.classes(names),
        groups=() if groups is None else told.groups(groups, names),
        calibration=calibration_by_questions(label, record.posterior, (record.order >= 0).sum(axis=1)),
        decision_curve=curve,
    )
