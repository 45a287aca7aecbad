"""Scores of a fitted classifier on labelled rows: overall, and by class, group, threshold and number of questions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.prices_after import take_prices_after
from seqclass._utils.tables import Readable, rows_of
from seqclass._utils.validation import check_decision_costs, class_numbers, group_numbers
from seqclass.agent.agent import agent_of, check_classifier, naming_of
from seqclass.agent.record import AcquisitionRecord, waits
from seqclass.costs import Prices, full_price_steps
from seqclass.evaluation.calibration_curves import QuestionCalibration, calibration_by_questions
from seqclass.evaluation.decision_curves import DecisionCurve, acquired_curve
from seqclass.fitting.held_out import Interval, cost_interval, row_interval
from seqclass.pomdp.prices_after import code_answers
from seqclass.stats.paired import group_differences

if TYPE_CHECKING:
    from seqclass._base import BaseSequentialClassifier


def step_prices(record: AcquisitionRecord, prices: Prices, charge_missing: bool = False) -> FloatArray:
    """What each step costs, (n, longest): one of a group in full, the others less; 0 beyond the stop.

    What a visit costs is part of its first step.
    """
    groups = np.full(prices.full.shape, -1) if prices.groups is None else prices.groups
    order, acquired = record.order, (record.order >= 0) & ((record.outcome >= 0) | charge_missing)
    full = full_price_steps(order, acquired, record.visit, groups, prices.full - prices.discounted)
    spent = np.where(full, prices.full[order], prices.discounted[order])
    if prices.bundles is not None and any(prices.bundles[gate] >= 0 for one in prices.after for gate in one.after):
        raise ValueError("prices_after: a record does not tell the answers of a bundle one by one; see its cost.")
    answers, rows = np.full((len(prices.full), len(order)), -1), np.arange(len(order))
    for step in range(order.shape[1] if prices.after else 0):
        asked, shown = order[:, step], record.outcome[:, step]
        for one in prices.after:
            spent[one.holds(answers) & (asked == one.question), step] = one.price
        answers[asked, rows] = np.where(asked < 0, answers[asked, rows], shown)
    spent = np.where(acquired, spent, 0.0)
    if prices.visits is not None and record.visit is not None:
        begins = (record.visit > 0) & (np.diff(record.visit, axis=1, prepend=0) != 0)
        longest = waits(record.order, record.visit, prices.visits.delays)
        spent += np.where(begins, prices.visits.cost + prices.visits.delay_cost * longest, 0.0)
    return spent


def steps_of(record: AcquisitionRecord, taken: BoolArray) -> tuple[IntArray, IntArray]:
    """Instance and number of each step that is taken, (n, longest), and of the stop, which comes last."""
    rows, step = np.nonzero(taken)
    rows = np.concatenate([rows, np.arange(len(record))])
    step = np.concatenate([step, (record.order >= 0).sum(axis=1)])
    order = np.lexsort((step, rows))
    return rows[order], step[order]


_NONE: Interval = (float("nan"), float("nan"))


@dataclass(frozen=True, repr=False)
class ClassScores(Readable):
    """Scores on the rows of one class.

    Attributes
    ----------
    label : str
        The class.
    n_rows : int
        Number of its rows.
    sensitivity : float
        Share of its rows that were decided for it; NaN if there are none.
    realised_cost : float
        Mean of prices paid plus decision cost over its rows; NaN if there are none.
    mean_features : float
        Mean number of features acquired per row; NaN if there are no rows.
    mean_price : float
        Mean price paid per row; NaN if there are no rows.
    specificity : float
        Share of the rows of all *other* classes that were not decided for it; NaN if there are none.
    sensitivity_interval, specificity_interval : tuple of float
        95% intervals.
    referred : float
        Share of its rows that got a further decision, such as "refer"; NaN if there are none.
    n_decided : int
        Number of rows, of whatever class, that were decided for it.
    predictive_value : float
        Share of these that are of the class, which is how far the decision can be relied on where classes are as
        frequent as here; NaN if there are none.
    predictive_value_interval : tuple of float
        95% interval.

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
    mean_price: float = float("nan")
    specificity: float = float("nan")
    sensitivity_interval: Interval = _NONE
    specificity_interval: Interval = _NONE
    referred: float = float("nan")
    n_decided: int = 0
    predictive_value: float = float("nan")
    predictive_value_interval: Interval = _NONE


@dataclass(frozen=True, repr=False)
class GroupScores(Readable):
    """Scores on the rows of one group, such as a sex or a clinic; costs are as in `Scores`.

    Attributes
    ----------
    group : str
        The group.
    n_rows : int
        Number of its rows.
    realised_cost : float
        Mean of prices paid plus decision cost.
    realised_cost_interval : tuple of float
        Its 95% interval; NaN for a single row.
    difference : float
        ``realised_cost`` less that of all rows of other groups; NaN if there are none.
    difference_interval : tuple of float
        95% interval of the difference, not corrected for the number of groups. NaN if the group, or all others
        together, have fewer than 20 rows; see `seqclass.stats.group_differences`.
    error : float
        Share of rows decided for a wrong class; a further decision, such as "refer", is neither right nor wrong.
    error_interval : tuple of float
        Its 95% interval.
    mean_features, mean_price : float
        Mean number of features acquired, and mean price paid, per row.
    classes : tuple of ClassScores
        Scores of the group class by class.
    p_value : float
        P-value of the difference, corrected for the number of groups; NaN if there are too few rows.
    referred : float
        Share of rows that got a further decision.

    Examples
    --------
    >>> one = GroupScores("north", 50, 0.2, (0.1, 0.3), 0.02, (-0.1, 0.14), 0.15, (0.06, 0.24), 2.5, 0.05)
    >>> one.differs
    False
    """

    _costs = ("difference", "difference_lower", "difference_upper")

    group: str
    n_rows: int
    realised_cost: float
    realised_cost_interval: Interval
    difference: float
    difference_interval: Interval
    error: float
    error_interval: Interval
    mean_features: float
    mean_price: float
    classes: tuple[ClassScores, ...] = ()
    p_value: float = float("nan")
    referred: float = float("nan")

    @property
    def differs(self) -> bool:
        """Whether the difference is beyond chance: p is at most 0.05, and zero lies outside the interval."""
        return self.p_value <= 0.05 and (self.difference_interval[0] > 0 or self.difference_interval[1] < 0)


@dataclass(frozen=True, eq=False)
class LabelledDecisions:
    """Rows with their labels, decisions, prices paid and features."""

    label: IntArray
    decided: IntArray
    paid: FloatArray
    decision_costs: FloatArray
    n_features: IntArray

    @property
    def wrong(self) -> FloatArray:
        """Cost of each decision."""
        return np.asarray(self.decision_costs[self.label, self.decided])

    @property
    def right(self) -> FloatArray:
        """1 where the decision is the class, else 0."""
        return np.where(self.decided == self.label, 1.0, 0.0)

    @property
    def is_referred(self) -> BoolArray:
        """Where the decision is beyond the classes."""
        return np.asarray(self.decided >= len(self.decision_costs))

    def select(self, rows: IntArray | BoolArray) -> LabelledDecisions:
        """Some of the rows."""
        parts = (self.label[rows], self.decided[rows], self.paid[rows])
        return LabelledDecisions(*parts, self.decision_costs, self.n_features[rows])

    def means(self) -> dict[str, Any]:
        """What all scores of some rows have; NaN where there is no row."""
        n = len(self.label)
        interval = cost_interval(self.paid, self.wrong, float(self.decision_costs.max())) if n else _NONE
        return {
            "n_rows": n,
            "realised_cost": _mean(self.paid + self.wrong),
            "realised_cost_interval": interval,
            "mean_features": _mean(self.n_features),
            "mean_price": _mean(self.paid),
            "referred": _mean(self.is_referred),
        }

    def classes(self, names: list[str]) -> tuple[ClassScores, ...]:
        """Scores class by class."""
        scores = []
        for number, name in enumerate(names):
            own = self.label == number
            decisions, spared = self.select(own), (self.decided[~own] != number).astype(np.float64)
            relied_on = own[self.decided == number].astype(np.float64)
            means = decisions.means()
            del means["realised_cost_interval"]
            scores.append(
                ClassScores(
                    label=name,
                    **means,
                    sensitivity=_mean(decisions.right),
                    specificity=_mean(spared),
                    sensitivity_interval=_ends(decisions.right),
                    specificity_interval=_ends(spared),
                    n_decided=len(relied_on),
                    predictive_value=_mean(relied_on),
                    predictive_value_interval=_ends(relied_on),
                )
            )
        return tuple(scores)

    def groups(self, group: npt.ArrayLike, names: list[str]) -> tuple[GroupScores, ...]:
        """Scores group by group."""
        number, _ = group_numbers(group, len(self.label))
        scores = []
        for i, one in enumerate(group_differences(self.paid + self.wrong, group, low=0.0)):
            decisions = self.select(number == i)
            errors = (decisions.decided != decisions.label) & ~decisions.is_referred
            scores.append(
                GroupScores(
                    group=one.group,
                    **decisions.means(),
                    difference=one.difference,
                    difference_interval=one.interval,
                    error=float(errors.mean()),
                    error_interval=_ends(errors.astype(np.float64)),
                    classes=decisions.classes(names),
                    p_value=one.p_value,
                )
            )
        return tuple(scores)


def _mean(values: Any) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _ends(values: FloatArray) -> Interval:
    return row_interval(values, 1.0) if len(values) else _NONE


@dataclass(frozen=True, repr=False)
class Scores(Readable):
    """Scores of a classifier on given rows; costs are per row, in units of misclassification cost.

    Intervals are at 95%, for rows that the classifier was not fitted to.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    realised_cost : float
        Mean of prices paid plus decision cost.
    realised_cost_interval : tuple of float
        Its interval.
    accuracy : float
        Share of rows decided for their class; a further decision, such as "refer", is neither right nor wrong.
    accuracy_interval : tuple of float
        Its interval.
    mean_features : float
        Mean number of features acquired per row; a bundle counts once.
    mean_price, mean_decision_cost : float
        Mean price paid per row; mean cost of a decision.
    classes : tuple of ClassScores
        Scores class by class.
    groups : tuple of GroupScores
        Scores group by group, if groups were given.
    calibration : tuple of QuestionCalibration
        How sure and how often right the beliefs were, by the number of questions asked.
    decision_curve : DecisionCurve or None
        Net benefit by threshold probability, for the class that was named or for the second of two.
    decisions : tuple of str
        Names of the decisions: the classes, then further ones such as "refer".
    confusion : tuple of tuple of int
        Number of rows by class (a row, as in `classes`) and decision (a column, as in `decisions`).
    referred : float
        Share of rows that got a further decision.
    unit : str
        Of the costs, such as "EUR"; empty where none was told.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import etana
    >>> X, y = load_iris(return_X_y=True)
    >>> found = score_rows(etana(0.05).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found.n_rows, found.accuracy > 0.9, found.classes[0].sensitivity
    (75, True, 1.0)
    """

    _in_summary = (
        "n_rows",
        "realised_cost",
        "realised_cost_interval",
        "accuracy",
        "mean_features",
        "mean_price",
        "groups",
    )
    _costs = GroupScores._costs

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
    decisions: tuple[str, ...] = ()
    confusion: tuple[tuple[int, ...], ...] = ()
    referred: float = float("nan")
    unit: str = ""

    @property
    def error(self) -> float:
        """Share of rows decided for a wrong class: what `accuracy` and `referred` leave."""
        right = sum(counts[number] for number, counts in enumerate(self.confusion))
        return (sum(sum(counts[: len(self.confusion)]) for counts in self.confusion) - right) / self.n_rows

    def _table(self) -> Any:
        rows = rows_of([self, *self.classes, *self.groups])
        kinds = ["all rows", *["class"] * len(self.classes), *["group"] * len(self.groups)]
        labels = ["", *(one.label for one in self.classes), *(one.group for one in self.groups)]
        own = ({name: value for name, value in row.items() if name not in ("label", "group")} for row in rows)
        return [{"rows": kind, "label": label} | row for kind, label, row in zip(kinds, labels, own)]

    def record(self) -> dict[str, Any]:
        """Return the figures as a plain record."""
        curve = self.decision_curve
        described = {"error": self.error, "decision_curve": None if curve is None else curve.record()}
        return asdict(replace(self, decision_curve=None)) | described


def score_rows(
    clf: BaseSequentialClassifier,
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
    """Acquire features and decide for labelled rows, and return what that cost and how good it was.

    Parameters
    ----------
    clf : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    X : array-like, data frame or sparse array of shape (n, n_features)
        Instances in the form of the training data; not used if there is a ``record``.
    y : array-like of shape (n,)
        Labels of the instances.
    record : AcquisitionRecord, optional
        What ``clf.acquire(X)`` returned, so that it is not done again.
    prices : Prices, optional
        Prices to pay instead of those that the classifier plans with; see `seqclass.costs.Costs.prices`.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        Cost of decisions, instead of ``clf.decision_costs_``.
    groups : array-like of shape (n,), optional
        Group of each row, such as the sex; each group is scored separately. Labels of groups are taken as text.
    positive : label, optional
        The class for the decision curve; by default the last of two ``clf.classes_``, and no curve if there are more.
    thresholds : array-like of shape (m,), optional
        Threshold probabilities of the decision curve; by default 0.01 to 0.99.
    prevalence : float, optional
        Share of ``positive`` in the population that the decision curve is meant for, if it differs from that of these
        rows; see `seqclass.metrics.decision_curve`.

    Returns
    -------
    Scores

    Raises
    ------
    ValueError
        If there are no rows, lengths differ, or a label or ``positive`` is not among ``clf.classes_``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X, y = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    >>> clf = SequentialClassifier().fit(X, y)
    >>> round(score_rows(clf, X, y).realised_cost, 3), round(score_rows(clf, X[:10], ["b"] * 10).realised_cost, 3)
    (0.01, 1.01)
    """
    check_classifier(clf)
    record = clf.acquire(X) if record is None else record
    label = class_numbers(clf.classes_, y)
    if len(label) != len(record) or not len(label):
        raise ValueError(
            f"y must have one label for each of the rows, at least one; got {len(label)} of {len(record)}."
        )
    costs = clf.decision_costs_
    if decision_costs is not None:
        costs = check_decision_costs(decision_costs, clf.classes_, clf.decisions_)
    charged = (agent := agent_of(clf)).charge_missing
    if prices is not None and prices.after:
        coded = code_answers(prices.take(agent.support).after, naming_of(agent), agent.model.n_outcomes_)
        prices = replace(prices, after=take_prices_after(coded, dict(enumerate(agent.support.tolist()))))
    paid = record.paid if prices is None else step_prices(record, prices, charged).sum(axis=1)
    decisions = LabelledDecisions(label, class_numbers(clf.decisions_, record.decision), paid, costs, record.n_features)
    names = [str(name) for name in clf.classes_.tolist()]
    counts = np.zeros(costs.shape, dtype=int)
    np.add.at(counts, (decisions.label, decisions.decided), 1)
    curve = None
    if positive is not None or prevalence is not None or (len(names) == 2 and costs[1, 0] > costs[1, 1]):
        about = {"positive": positive, "thresholds": thresholds, "price": paid, "decision_costs": costs}
        curve = acquired_curve(clf, None, y, record=record, prevalence=prevalence, **about)
    return Scores(
        **decisions.means(),
        accuracy=float(decisions.right.mean()),
        accuracy_interval=row_interval(decisions.right, 1.0),
        mean_decision_cost=float(decisions.wrong.mean()),
        classes=decisions.classes(names),
        groups=() if groups is None else decisions.groups(groups, names),
        calibration=calibration_by_questions(label, record.posterior, (record.order >= 0).sum(axis=1)),
        decision_curve=curve,
        decisions=tuple(map(str, clf.decisions_.tolist())),
        confusion=tuple(map(tuple, counts.tolist())),
        unit=agent.unit,
    )
