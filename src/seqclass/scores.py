"""What a fitted classifier does on rows whose labels are known: realised cost, accuracy, and both class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass._messages import listed, shown
from seqclass._record import AcquisitionRecord
from seqclass._validation import check_costs, plain_labels
from seqclass.costs import Prices
from seqclass.held_out import Interval, cost_interval, row_interval

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

__all__ = ["ClassScores", "Scores", "score_rows"]


@dataclass(frozen=True)
class ClassScores:
    """What was done with the rows of one class.

    Attributes
    ----------
    label : str
        The class.
    n_rows : int
        Its rows.
    sensitivity : float
        Share of them that were decided for it; NaN where there is none.
    realised_cost : float
        Mean of prices paid plus decision cost over them; NaN where there is none.
    mean_features : float
        Features acquired of each on average; NaN where there is none.

    Examples
    --------
    >>> ClassScores("ill", 10, 0.9, 0.12, 2.5).sensitivity
    0.9
    """

    label: str
    n_rows: int
    sensitivity: float
    realised_cost: float
    mean_features: float


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

    def record(self) -> dict[str, Any]:
        """Return the figures as a plain record."""
        return asdict(self)


def score_rows(
    clf: SequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    record: AcquisitionRecord | None = None,
    prices: Prices | None = None,
    decision_costs: npt.ArrayLike | None = None,
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

    Returns
    -------
    Scores

    Raises
    ------
    ValueError
        If there is no row, lengths differ, or a label is none of ``clf.classes_``.

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
    label = class_numbers(clf.classes_, np.asarray(plain_labels(y)))
    if len(label) != len(record) or not len(label):
        raise ValueError(
            f"y must have one label for each of the rows, at least one; got {len(label)} of {len(record)}."
        )
    costs = clf.decision_costs_
    if decision_costs is not None:
        costs = check_costs(decision_costs, "decision_costs", costs.shape)
    paid = record.cost if prices is None else repriced(record, prices, clf.charge_missing)
    decided = _positions(clf.decisions_, record.decision)
    return _scores(clf.classes_, label, decided, paid, costs, record.n_features)


def class_numbers(classes: npt.NDArray[Any], y: npt.NDArray[Any]) -> IntArray:
    """Position of each label among the classes."""
    unknown = np.setdiff1d(y.astype(str), classes.astype(str))
    if unknown.size:
        raise ValueError(
            f"y holds {shown(unknown.tolist()[0])}, which is no class of the model: {listed(classes.tolist())}."
        )
    return _positions(classes, y)


def _positions(known: npt.NDArray[Any], labels: npt.NDArray[Any]) -> IntArray:
    """Where each label stands, as texts: a file may hold "1" where a model has 1."""
    texts = known.astype(str)
    order = np.argsort(texts)
    return np.asarray(order[np.searchsorted(texts[order], labels.astype(str))])


def _scores(
    classes: npt.NDArray[Any],
    label: IntArray,
    decided: IntArray,
    paid: FloatArray,
    costs: FloatArray,
    n_features: IntArray,
) -> Scores:
    wrong, right = costs[label, decided], (decided == label).astype(np.float64)
    by_class = []
    for number, name in enumerate(classes.tolist()):
        rows = np.flatnonzero(label == number)
        means = [float(values[rows].mean()) if rows.size else np.nan for values in (right, paid + wrong, n_features)]
        by_class.append(ClassScores(str(name), int(rows.size), *means))
    return Scores(
        n_rows=len(label),
        realised_cost=float((paid + wrong).mean()),
        realised_cost_interval=cost_interval(paid, wrong, float(costs.max())),
        accuracy=float(right.mean()),
        accuracy_interval=row_interval(right, 1.0),
        mean_features=float(n_features.mean()),
        mean_price=float(paid.mean()),
        mean_decision_cost=float(wrong.mean()),
        classes=tuple(by_class),
    )


def repriced(record: AcquisitionRecord, prices: Prices, charge_missing: bool = False) -> FloatArray:
    """What was acquired would have cost at other prices, (n,): of a group the first in full, the others less."""
    total: FloatArray = np.zeros(len(record))
    groups = np.full(prices.full.shape, -1) if prices.groups is None else prices.groups
    paid = np.zeros((len(record), int(groups.max(initial=-1)) + 2), dtype=bool)
    for column, outcome in zip(record.order.T, record.outcome.T):
        rows = np.flatnonzero((column >= 0) & ((outcome >= 0) | charge_missing))
        bought, group = column[rows], groups[column[rows]]
        less = paid[rows, group] & (group >= 0)
        total[rows] += np.where(less, prices.discounted[bought], prices.full[bought])
        paid[rows, group] = True
    return total


def joined(records: Sequence[AcquisitionRecord]) -> AcquisitionRecord:
    """Records of parts of some rows as one, without beliefs."""
    longest = max((part.order.shape[1] for part in records), default=0)

    def wide(values: IntArray) -> IntArray:
        return np.pad(values, ((0, 0), (0, longest - values.shape[1])), constant_values=-1)

    return AcquisitionRecord(
        decision=np.concatenate([part.decision for part in records]),
        posterior=np.concatenate([part.posterior for part in records]),
        n_features=np.concatenate([part.n_features for part in records]),
        cost=np.concatenate([part.cost for part in records]),
        order=np.concatenate([wide(part.order) for part in records]),
        outcome=np.concatenate([wide(part.outcome) for part in records]),
    )


def rows_of(record: AcquisitionRecord, rows: IntArray) -> AcquisitionRecord:
    """Some rows of a record, without beliefs."""
    return AcquisitionRecord(
        record.decision[rows],
        record.posterior[rows],
        record.n_features[rows],
        record.cost[rows],
        record.order[rows],
        record.outcome[rows],
    )
