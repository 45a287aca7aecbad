"""Decision curves: what a probability is worth to whoever treats from some threshold on, less what it cost to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import BoolArray, FloatArray
from seqclass._record import AcquisitionRecord
from seqclass._treating import class_position, miss_cost, own_threshold
from seqclass._validation import check_not_negative, check_real, plain_labels
from seqclass.statistics import PairedTest, paired_t_test
from seqclass.statistics.intervals import interval_ends

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

__all__ = ["DecisionCurve", "acquired_curve", "decision_curve", "miss_cost", "own_threshold"]

#: Probabilities that differ by less are equal: a constant one is to be at its own threshold.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit against threshold probability ([1]_).

    Whoever treats from a probability of p on holds a missed case for (1 - p) / p times as bad as a needless treatment.
    Net benefit counts in true positives a row: the share of rows that are rightly treated, less the share that are
    needlessly, times p / (1 - p). Prices come in units of misclassification cost; divided by ``benefit``, what one
    right treatment saves in that unit, they are in units of net benefit, and are taken off (the "test harm" of [1]_).

    Attributes
    ----------
    name : str
        What decides.
    positive : str
        The class that is to be found and treated; all others together are the rest.
    thresholds : ndarray of shape (m,)
        Threshold probabilities, rising.
    net_benefit : ndarray of shape (m,)
        Net benefit at each, nothing taken off.
    after_price : ndarray of shape (m,)
        Net benefit less the mean price.
    lower, upper : ndarray of shape (m,)
        95% interval of ``after_price``, by the t distribution over rows.
    mean_price : float
        Mean price a row, in units of net benefit.
    prevalence : float
        Share of positive rows.
    benefit : float
        What treating a positive row saves, in units of misclassification cost: by this, prices are divided.
    truth : ndarray of bool of shape (n,)
        Which rows are positive.
    probability : ndarray of shape (n,)
        Probability that each row is.
    price : ndarray of shape (n,)
        What was paid for each, in units of net benefit.
    shared : float
        Addition to 1 / n in the variance of a mean, of rows whose fits share training rows.

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

    def treat_all(self) -> DecisionCurve:
        """Yardstick on the same rows: everybody is treated, and nothing is bought."""
        return self.at_once(1.0, "treat all")

    def treat_none(self) -> DecisionCurve:
        """Yardstick on the same rows: nobody is treated; its net benefit is zero."""
        return self.at_once(0.0, "treat none")

    def at_once(self, probability: float, name: str = "decide at once") -> DecisionCurve:
        """Yardstick on the same rows: everybody has one probability, and nothing is bought.

        Parameters
        ----------
        probability : float
            Such as the share of positive rows in the training data.
        name : str
            What it is called.

        Returns
        -------
        DecisionCurve
        """
        level = np.full(len(self.truth), check_real(probability, "probability", 0, 1))
        return _curve(self.truth, level, np.zeros(len(level)), self.thresholds, name, self.positive, self.benefit)

    def benefits(self, threshold: float) -> FloatArray:
        """What each row adds to the net benefit at a threshold, less its price.

        Parameters
        ----------
        threshold : float
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n,)
        """
        (p,) = _levels([check_real(threshold, "threshold", 0, 1)])
        treated = self.probability >= p - _TOLERANCE
        return np.where(treated, np.where(self.truth, 1.0, -p / (1 - p)), 0.0) - self.price

    def compare(self, other: DecisionCurve, threshold: float) -> PairedTest:
        """Compare with another curve of the same rows, row by row.

        Parameters
        ----------
        other : DecisionCurve
            Such as ``treat_all()``.
        threshold : float
            Between 0 and 1.

        Returns
        -------
        PairedTest
            ``difference`` is this net benefit after prices less the other's, with its 95% ``interval``.

        Raises
        ------
        ValueError
            If the other curve is of other rows.
        """
        if not np.array_equal(self.truth, other.truth):
            raise ValueError("other must be a decision curve of the same rows, in the same order.")
        return paired_t_test(self.benefits(threshold), other.benefits(threshold), test_to_train=self.shared)

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
    thresholds: npt.ArrayLike | None = None,
    price: npt.ArrayLike = 0.0,
    benefit: float = 1.0,
    name: str = "model",
    shared: float = 0.0,
) -> DecisionCurve:
    """Net benefit of treating from each threshold probability on, with intervals.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    probability : array-like of shape (n,)
        Probability that each row is of the class ``positive``; those at a threshold are treated.
    positive : label, optional
        The class to be found; by default the last of the sorted labels, as in scikit-learn.
    thresholds : array-like of shape (m,), optional
        Rising, strictly between 0 and 1; by default 0.01 to 0.99.
    price : float or array-like of shape (n,)
        What was paid to know the probability, in units of misclassification cost.
    benefit : float
        What treating a positive row saves, in the same units; see `miss_cost`.
    name : str
        What the probabilities come from.
    shared : float
        Addition to 1 / n in the variance of a mean over n rows, for what fits share: 1 / (rows of a training part)
        where each row was held out of its own fit; 0 for rows of one fit.

    Returns
    -------
    DecisionCurve

    Raises
    ------
    ValueError
        If lengths differ, there is no row, or a probability or threshold is out of range.

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
    labels, chance = np.asarray(plain_labels(y)), np.asarray(probability, dtype=np.float64)
    if labels.ndim != 1 or not labels.size or chance.shape != labels.shape:
        raise ValueError(
            f"probability must have an entry for each label, at least one; got shapes {chance.shape}, {labels.shape}."
        )
    if not ((chance >= -_TOLERANCE) & (chance <= 1 + 1e-6)).all():
        raise ValueError("probability must lie between 0 and 1.")
    paid = np.broadcast_to(check_not_negative(price, "price"), chance.shape)
    if not check_real(benefit, "benefit", 0) > 0:
        raise ValueError("benefit must be above 0.")
    wanted = np.unique(labels)[-1] if positive is None else positive
    truth = labels.astype(str) == str(wanted)
    return _curve(truth, chance, paid / benefit, _levels(thresholds), name, str(wanted), float(benefit), shared)


def acquired_curve(
    clf: SequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    record: AcquisitionRecord | None = None,
    positive: Any = None,
    thresholds: npt.ArrayLike | None = None,
    price: npt.ArrayLike | None = None,
    decision_costs: npt.ArrayLike | None = None,
) -> DecisionCurve:
    """Decision curve of a sequential classifier: it asks as it does, and treats by its posterior at the stop.

    What it asks was planned for its own costs of decisions, and so for one threshold, `own_threshold`; far from there a
    classifier that is fitted with other decision costs may do better.

    Parameters
    ----------
    clf : SequentialClassifier
        A fitted classifier.
    X : array-like, data frame or sparse array of shape (n, n_features)
        Instances; looked at only where there is no ``record``.
    y : array-like of shape (n,)
        Their labels.
    record : AcquisitionRecord, optional
        What ``clf.acquire(X)`` gave.
    positive : label, optional
        The class to be found; by default the last of ``clf.classes_``.
    thresholds : array-like of shape (m,), optional
        By default 0.01 to 0.99.
    price : array-like of shape (n,), optional
        What was paid for each row, if not the prices of the record.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        By default ``clf.decision_costs_``: prices are divided by their `miss_cost`.

    Returns
    -------
    DecisionCurve

    Raises
    ------
    ValueError
        If ``positive`` is no class of the model, or lengths differ.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import seqclass
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = seqclass.etana(0.01).fit(X[::2], y[::2])
    >>> curve = acquired_curve(clf, X[1::2], y[1::2], positive=0, thresholds=[0.5])
    >>> bool(curve.after_price[0] > curve.treat_all().after_price[0])
    True
    """
    record = clf.acquire(X) if record is None else record
    column = class_position(clf.classes_, positive)
    costs = clf.decision_costs_ if decision_costs is None else np.asarray(decision_costs, dtype=np.float64)
    return decision_curve(
        y,
        record.posterior[:, column],
        positive=clf.classes_[column],
        thresholds=thresholds,
        price=record.cost if price is None else price,
        benefit=miss_cost(costs, column),
        name="sequential",
    )


def _levels(thresholds: npt.ArrayLike | None) -> FloatArray:
    if thresholds is None:
        return np.arange(1, 100) / 100
    levels = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    if levels.ndim != 1 or not levels.size or not ((levels > 0) & (levels < 1)).all() or (np.diff(levels) <= 0).any():
        raise ValueError(f"thresholds must rise, each above 0 and below 1, got {levels.tolist()[:10]}.")
    return levels


def _curve(
    truth: BoolArray,
    probability: FloatArray,
    price: FloatArray,
    levels: FloatArray,
    name: str,
    positive: str,
    benefit: float,
    shared: float = 0.0,
) -> DecisionCurve:
    """All thresholds at once: the rows that are treated are the first ones by falling probability."""
    n, weight = len(truth), levels / (1 - levels)
    order = np.argsort(-probability, kind="stable")
    treated = np.searchsorted(-probability[order], -(levels - _TOLERANCE), side="right")

    def among_treated(values: Any) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(values[order])])[treated]

    found, needless = among_treated(truth), among_treated(~truth)
    benefit_sum, price_sum = found - weight * needless, float(price.sum())
    crossed = among_treated(truth * price) - weight * among_treated(~truth * price)
    mean = (benefit_sum - price_sum) / n
    squares = found + weight**2 * needless - 2 * crossed + float(price @ price)
    variance = np.maximum(squares - n * mean**2, 0.0) / max(n - 1, 1)
    error = np.sqrt((1 / n + shared) * variance)
    lower, upper = interval_ends(mean, error, np.full(len(levels), n), 0.95, (-np.inf, np.inf))
    about = (price_sum / n, float(truth.mean()), benefit)
    return DecisionCurve(
        name, positive, levels, benefit_sum / n, mean, lower, upper, *about, truth, probability, price, shared
    )
