"""Decision curves: what a probability is worth if cases are treated from some threshold on, less what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._utils.arrays import BoolArray, FloatArray
from seqclass._utils.tables import Readable
from seqclass._utils.text import near, short_repr
from seqclass._utils.validation import (
    as_number,
    check_decision_costs,
    check_finite,
    check_not_negative,
    check_real,
    check_weights,
    class_numbers,
    plain_labels,
)
from seqclass.agent.record import AcquisitionRecord
from seqclass.stats import paired_t_test
from seqclass.stats._scores import TOLERANCE
from seqclass.stats.intervals import interval_ends
from seqclass.stats.paired import PairedTest

if TYPE_CHECKING:
    from seqclass._base import BaseSequentialClassifier


def class_position(classes: npt.NDArray[Any], positive: Any = None, name: str = "positive") -> int:
    """Position of the class to be found among the classes, by value; by default the last in sorted order."""
    if positive is None:
        values = [as_number(label) for label in classes.tolist()]
        names = values if not any(isinstance(value, str) for value in values) else classes.astype(str).tolist()
        return max(range(len(names)), key=names.__getitem__)
    try:
        return int(class_numbers(classes, [positive])[0])
    except ValueError:
        names = [str(label) for label in classes.tolist()]
        raise ValueError(
            f"{name}: {short_repr(positive)} is no class of the model; {near(str(positive), names, 'there are')}"
        ) from None


def miss_cost(decision_costs: npt.ArrayLike, positive: int) -> float:
    """What a missed positive row costs more than one that is found: the unit of net benefit, in those of costs."""
    # of several ways to miss it that of the cheapest class
    costs = np.asarray(decision_costs, dtype=np.float64)
    others = np.delete(costs[positive, : len(costs)], positive)
    least = float(others.min() - costs[positive, positive])
    if not least > 0:
        raise ValueError("positive: missing this class costs nothing, so that its net benefit has no unit of cost.")
    return least


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Readable):
    """Net benefit at each threshold probability ([1]_).

    To treat from a probability of p on means to hold a missed case for (1 - p) / p times as bad as a needless
    treatment. Net benefit is counted in true positives per row: the share of rows that are rightly treated, less p / (1
    - p) times the share that are needlessly treated. Prices are in units of misclassification cost. Divided by
    ``benefit``, what one right treatment saves in that unit, they are in units of net benefit, and are subtracted (the
    "test harm" of [1]_).

    Attributes
    ----------
    name : str
        Name of what the probabilities come from.
    positive : str
        The class that is to be found and treated; all other classes count as negative.
    thresholds, net_benefit : ndarray of shape (m,)
        Threshold probabilities in rising order; net benefit at each, before prices.
    after_price : ndarray of shape (m,)
        Net benefit less the mean price.
    lower, upper : ndarray of shape (m,)
        95% interval of ``after_price``, by the t distribution over rows.
    mean_price, prevalence : float
        Mean price per row, in units of net benefit; share of positive rows.
    benefit : float
        What treating a positive row saves, in units of misclassification cost; prices are divided by it.
    truth : ndarray of bool of shape (n,)
        Which rows are positive.
    probability, price : ndarray of shape (n,)
        Probability that each row is positive; what was paid for each, in units of net benefit.
    shared : float
        Term added to 1 / n in the variance of a mean, as the fits of these rows share training rows.
    weight : ndarray of shape (n,) or None
        Weight of each row; None if all count alike.
    by_class : bool
        Whether the prevalence was given, so that means are taken in each class separately.

    References
    ----------
    .. [1] A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
       Medical Decision Making 26, 2006, doi 10.1177/0272989X06295361.

    Examples
    --------
    >>> curve = decision_curve([1, 1, 0, 0], [0.9, 0.6, 0.7, 0.1], thresholds=[0.5], price=0.01)
    >>> curve.net_benefit, curve.after_price, curve.treat_all().net_benefit, curve.treat_none().net_benefit
    (array([0.25]), array([0.24]), array([0.]), array([0.]))
    """

    _columns = ("thresholds", "net_benefit", "after_price", "lower", "upper")
    _in_summary = ("name", "positive", "thresholds", "net_benefit", "after_price", "mean_price")

    name: str
    positive: str
    thresholds: FloatArray
    net_benefit: FloatArray
    after_price: FloatArray
    lower: FloatArray
    upper: FloatArray
    mean_price: float
    prevalence: float
    benefit: float
    truth: BoolArray = field(repr=False)
    probability: FloatArray = field(repr=False)
    price: FloatArray = field(repr=False)
    shared: float = 0.0
    weight: FloatArray | None = field(default=None, repr=False)
    by_class: bool = False

    def treat_all(self) -> DecisionCurve:
        """Return a yardstick on the same rows: everybody is treated, and nothing is bought."""
        return self.at_once(1.0, "treat all")

    def treat_none(self) -> DecisionCurve:
        """Return a yardstick on the same rows: nobody is treated; its net benefit is zero."""
        return self.at_once(0.0, "treat none")

    def at_once(self, probability: float, name: str = "decide at once") -> DecisionCurve:
        """Return a yardstick on the same rows: everybody has the same probability, and nothing is bought.

        Parameters
        ----------
        probability : float
            The probability, such as the share of positive rows in the training data.
        name : str
            Name of the yardstick.

        Returns
        -------
        DecisionCurve
        """
        level = np.full(len(self.truth), check_real(probability, "probability", 0, 1))
        about: dict[str, Any] = {"weight": self.weight, "by_class": self.by_class}
        free = np.zeros(len(level))
        return _curve(self.truth, level, free, self.thresholds, name, self.positive, self.benefit, **about)

    def benefits(self, threshold: float) -> FloatArray:
        """Return what each row adds to the net benefit at a threshold, less its price.

        Parameters
        ----------
        threshold : float
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n,)
        """
        (p,) = _levels([check_real(threshold, "threshold", 0, 1)])
        treated = self.probability >= p - TOLERANCE
        return np.where(treated, np.where(self.truth, 1.0, -p / (1 - p)), 0.0) - self.price

    def compare(self, other: DecisionCurve, threshold: float) -> PairedTest:
        """Compare this curve with another one of the same rows, row by row.

        Parameters
        ----------
        other : DecisionCurve
            The other curve, such as ``treat_all()``.
        threshold : float
            Between 0 and 1.

        Returns
        -------
        PairedTest
            ``difference`` is this net benefit after prices less the other's, with its 95% ``interval``.

        Raises
        ------
        ValueError
            If the other curve is of other rows, or weights them differently.
        """
        same = [np.array_equal(getattr(self, name), getattr(other, name)) for name in ("truth", "weight", "by_class")]
        if not all(same):
            raise ValueError("other must be a decision curve of the same rows, in the same order, of the same weights.")
        gains = self.benefits(threshold), other.benefits(threshold)
        if self.weight is None:
            return paired_t_test(*gains, test_to_train=self.shared)
        return _test_weighted_mean(gains[0] - gains[1], self)

    def record(self) -> dict[str, Any]:
        """Return the figures beside those of the yardsticks as a plain record, without the rows."""
        names = ("thresholds", "net_benefit", "after_price", "lower", "upper")
        about = {name: getattr(self, name) for name in ("positive", "prevalence", "mean_price", "benefit")}
        figures = {name: getattr(self, name).tolist() for name in names}
        return about | figures | {"treat_all": self.treat_all().net_benefit.tolist()}


def decision_curve(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    *,
    positive: Any = None,
    classes: npt.ArrayLike | None = None,
    thresholds: npt.ArrayLike | None = None,
    price: npt.ArrayLike = 0.0,
    benefit: float = 1.0,
    prevalence: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    name: str = "model",
    shared: float = 0.0,
) -> DecisionCurve:
    """Return the net benefit of treating from each threshold probability on, with intervals.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, compared by value: 1, 1.0, True and the text "1" are one label.
    probability : array-like of shape (n,)
        Probability that each row is of the class ``positive``; a row exactly at a threshold is treated.
    positive : label, optional
        The class to be found; by default the last of ``classes`` in sorted order.
    classes : array-like of shape (n_classes,), optional
        All possible labels; by default those in ``y``, sorted, which must then be two.
    thresholds : array-like of shape (m,), optional
        Thresholds in rising order, strictly between 0 and 1; by default 0.01 to 0.99.
    price : float or array-like of shape (n,)
        What was paid to know the probability, in units of misclassification cost.
    benefit : float
        What treating a positive row saves, in the same units; see `miss_cost`.
    prevalence : float, optional
        Share of positive rows in the population that the curve is meant for, if it differs from that in ``y``, as in a
        case-control study. Rows are weighted so that positive ones have that share, and intervals are those of two
        samples, one of each class.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    name : str
        What the probabilities come from.
    shared : float
        Term added to 1 / n in the variance of a mean over n rows, for what fits share: 1 / (rows of a training part) if
        each row was held out of its own fit; 0 for rows of one fit.

    Returns
    -------
    DecisionCurve

    Raises
    ------
    ValueError
        If lengths differ, there are no rows, a label is missing or not among ``classes``, ``positive`` is not a class,
        or a probability or threshold is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> proba = GaussianNB().fit(X[::2], y[::2]).predict_proba(X[1::2])
    >>> curve = decision_curve(y[1::2], proba[:, 0], positive=0, thresholds=[0.1, 0.5])
    >>> bool((curve.net_benefit > curve.treat_all().net_benefit).all())
    True
    """
    labels, chance = np.asarray(plain_labels(y)).reshape(-1), check_finite(probability, "probability")
    if labels.ndim != 1 or not labels.size or chance.shape != labels.shape:
        raise ValueError(
            f"probability must have an entry for each label, at least one; got shapes {chance.shape}, {labels.shape}."
        )
    if not ((chance >= -TOLERANCE) & (chance <= 1 + 1e-6)).all():
        raise ValueError("probability must lie between 0 and 1.")
    paid = np.broadcast_to(check_not_negative(price, "price"), chance.shape)
    if not check_real(benefit, "benefit", 0) > 0:
        raise ValueError("benefit must be above 0.")
    known = np.unique(labels) if classes is None else np.asarray(plain_labels(classes, "classes"))
    label = class_numbers(known, labels)
    if len(known) < 2 and positive is None:
        raise ValueError(
            f"y holds {short_repr(known.tolist()[0])} only: say which label is positive, or what classes are."
        )
    column = class_position(known, positive)
    truth, weight = label == column, check_weights(sample_weight, len(labels))
    if prevalence is not None:
        weight = _reweigh(truth, weight, check_real(prevalence, "prevalence", 0, 1))
    about: dict[str, Any] = {"weight": weight, "by_class": prevalence is not None}
    levels, positive_label = _levels(thresholds), str(known[column])
    return _curve(truth, chance, paid / benefit, levels, name, positive_label, float(benefit), shared, **about)


def acquired_curve(
    clf: BaseSequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    record: AcquisitionRecord | None = None,
    positive: Any = None,
    price: npt.ArrayLike | None = None,
    decision_costs: npt.ArrayLike | None = None,
    **settings: Any,
) -> DecisionCurve:
    """Decision curve of a sequential classifier: it asks as it does, and treats by its posterior at the stop.

    What it asks was planned for its own costs of decisions, and so for one threshold; far from there a classifier that
    is fitted with other decision costs may do better.
    """
    record = clf.acquire(X) if record is None else record
    column = class_position(clf.classes_, positive)
    costs = clf.decision_costs_
    if decision_costs is not None:
        costs = check_decision_costs(decision_costs, clf.classes_, clf.decisions_)
    return decision_curve(
        y,
        record.posterior[:, column],
        positive=clf.classes_[column],
        classes=clf.classes_,
        price=record.paid if price is None else price,
        benefit=miss_cost(costs, column),
        name="sequential",
        **settings,
    )


def _levels(thresholds: npt.ArrayLike | None) -> FloatArray:
    if thresholds is None:
        return np.arange(1, 100) / 100
    levels = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    if levels.ndim != 1 or not levels.size or not ((levels > 0) & (levels < 1)).all() or (np.diff(levels) <= 0).any():
        raise ValueError(f"thresholds must rise, each above 0 and below 1, got {levels.tolist()[:10]}.")
    return levels


def _reweigh(truth: BoolArray, weight: FloatArray | None, prevalence: float) -> FloatArray:
    """Weights by which the positive rows are the share that was given."""
    weight = np.ones(len(truth)) if weight is None else weight
    positives, rest = float(weight[truth].sum()), float(weight[~truth].sum())
    if not (positives > 0 and rest > 0):
        raise ValueError("prevalence: y must hold positive rows and others, to be weighed against each other.")
    return np.where(truth, weight * (prevalence / positives), weight * ((1 - prevalence) / rest))


def _test_weighted_mean(gains: FloatArray, curve: DecisionCurve) -> PairedTest:
    """Test of a weighted mean of differences; see `paired_t_test`."""
    weight: Any = curve.weight
    total, variance = float(weight.sum()), 0.0
    for rows in (curve.truth, ~curve.truth) if curve.by_class else (weight >= 0,):
        w, z = weight[rows], gains[rows]
        n, mean = int((w > 0).sum()), float(w @ z) / max(float(w.sum()), np.finfo(float).tiny)
        variance += n / max(n - 1, 1) * float(w**2 @ (z - mean) ** 2)
    variance *= 1 + curve.shared * int((weight > 0).sum())
    mean, error = float(weight @ gains) / total, float(np.sqrt(variance)) / total
    size = np.array([total**2 / float(weight @ weight)])
    lower, upper = interval_ends(np.array([mean]), np.array([error]), size, 0.95, (-np.inf, np.inf))
    statistic = mean / error if error > 0 else float(np.copysign(np.inf, mean)) if mean else 0.0
    p_value = float(2 * stats.t.sf(abs(statistic), max(float(size[0]) - 1, 1)))
    return PairedTest("weighted t", mean, statistic, p_value, (float(lower[0]), float(upper[0])), len(gains))


def _curve(
    truth: BoolArray,
    probability: FloatArray,
    price: FloatArray,
    levels: FloatArray,
    name: str,
    positive: str,
    benefit: float,
    shared: float = 0.0,
    weight: FloatArray | None = None,
    by_class: bool = False,
) -> DecisionCurve:
    """All thresholds at once: the rows that are treated are the first ones by falling probability."""
    order = np.argsort(-probability, kind="stable")
    treated = np.searchsorted(-probability[order], -(levels - TOLERANCE), side="right")
    mass = np.ones(len(truth)) if weight is None else weight
    total, odds = float(mass.sum()), levels / (1 - levels)
    price_sum = float(mass @ price)
    apart = price - price_sum / total  # variances are the same, and dear prices leave them their digits

    def among_treated(values: Any) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(values[order])])[treated]

    def sums(rows: BoolArray, gain: Any) -> FloatArray:
        """Of w, w**2, w z, w**2 z and (w z)**2, where z is what a treated row gains, less its price by `apart`."""
        w = np.where(rows, mass, 0.0)
        one, two, crossed = (among_treated(values) for values in (w, w**2, w**2 * apart))
        square = gain**2 * two - 2 * gain * crossed + float(w**2 @ apart**2)
        parts = (float(w.sum()), float(w @ w), gain * one - float(w @ apart), gain * two - float(w**2 @ apart), square)
        return np.stack(np.broadcast_arrays(*parts))

    parts = [sums(truth, 1.0), sums(~truth, -odds)]
    counts = [int((mass[rows] > 0).sum()) for rows in (truth, ~truth)]
    if not by_class:
        parts, counts = [parts[0] + parts[1]], [sum(counts)]
    benefit_sum = among_treated(mass * truth) - odds * among_treated(mass * ~truth)
    mean = (benefit_sum - price_sum) / total
    variance = np.sum([_spread(part, n) for part, n in zip(parts, counts)], axis=0) / total**2
    error = np.sqrt((1 + shared * int((mass > 0).sum())) * variance)
    size = np.full(len(levels), total**2 / float(mass @ mass))
    lower, upper = interval_ends(mean, error, size, 0.95, (-np.inf, np.inf))
    about = (price_sum / total, float(mass @ truth) / total, benefit)
    return DecisionCurve(
        *(name, positive, levels, benefit_sum / total, mean, lower, upper, *about, truth, probability, price, shared),
        weight=weight,
        by_class=by_class,
    )


def _spread(sums: FloatArray, n: int) -> FloatArray:
    """Sum of the squares of w (z - mean z), as of a sample of n."""
    mass, squares, first, second, third = sums
    mean = first / np.maximum(mass, np.finfo(float).tiny)
    return np.asarray(np.maximum(third - 2 * mean * second + mean**2 * squares, 0.0) * (n / max(n - 1, 1)))
