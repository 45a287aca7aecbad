"""The cost of a classifier on rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, effective_size, mean_and_variance
from seqclass._utils.model_files import register
from seqclass._utils.stored import require, require_array, require_numbers
from seqclass._utils.tables import Readable, plain_figures
from seqclass._utils.text import digits_text, percent, range_text
from seqclass.stats.intervals import mean_interval
from seqclass.stats.paired import PairedTest, paired_t_test

Interval = tuple[float, float]
#: Figures that tables and records hold, each with its interval.
_FIGURES = ("cost", "price", "decision_cost", "error", "n_features")


@register
@dataclass(frozen=True, eq=False, repr=False)
class HeldOut(Readable):
    """What a classifier costs on rows that it has not seen, by cross-fitting.

    Every row is decided once, by a classifier that was fitted without the fold of this row; this includes its
    discretiser, selector, model, order and stopping rule. `SequentialClassifier.fit` makes it with ``held_out``. Costs
    are per row, in units of misclassification cost; `compare` compares two classifiers on the same folds row by row.

    Intervals are at 95%, for the classifier fitted to all rows on new rows. Rows of a fold share a fit, and fits share
    training rows ([1]_, [2]_). Costs and errors are what every fit makes as small as it can; for them, the variance is
    that of n rows times k / (k - 1) for k folds, that is, for as many rows as a fit has learned from. Prices and
    features may differ from fit to fit, so their variance also gets 1 + 1/k times the variance of the means of the
    folds: the mean is over k fits, and the interval is for one more, which learns from all rows. Rows count as they do
    in the fit, by ``sample_weight`` and ``half_life``, and in intervals as so many rows of equal weight tell as much:
    (sum w)**2 / sum w**2. Means of figures that
    cannot be negative have Wilson's interval; see `seqclass.stats.mean_interval`. ``python benchmarks/held_out.py
    --coverage 200`` counts how often the intervals cover the truth.

    Attributes
    ----------
    name : str
        Name of the classifier or yardstick.
    fold : ndarray of int of shape (n,)
        Fold of each row of the training data; -1 for a row that was in every training part, as the only one of its
        class or, with ``half_life``, as one from before the last three half-lives.
    prices : ndarray of shape (n_rows,)
        Prices paid for each row that was held out, in the order of the data.
    decision_costs : ndarray of shape (n_rows,)
        Cost of the decision for each row.
    decisions : ndarray of int of shape (n_rows,)
        Decision for each row, as a position in ``decisions_``.
    errors : ndarray of bool of shape (n_rows,)
        Whether a row was decided for a wrong class; a further decision, such as "refer", does not count.
    counts : ndarray of int of shape (n_rows,)
        Number of features acquired for each row; a bundle counts once.
    max_decision_cost : float
        Highest cost that a decision can have.
    weights : ndarray of shape (n_rows,) or None
        Weight of each row; None where all count alike.
    n_classes : int
        Number of classes, which are the first decisions; 0 where no other can be made.
    unit : str
        Of the costs, such as "EUR"; empty where none was told.
    expected_cost : float
        Mean cost that the model, fitted to all rows, itself expects; NaN for a yardstick.
    remedies : tuple of str
        What is worth trying if the model expects too low a cost.
    deciding_at_once : HeldOut or None
        Yardstick on the same folds: the best decision by the class frequencies of the training part, with nothing
        bought.
    linear : HeldOut or None
        Yardstick on the same folds: a linear model on a few features that are bought for every row. It is logistic
        regression (multinomial for several classes) with almost no penalty, on standardised numbers and on categories
        as columns of 0 and 1; a missing cell counts as the mean. Features are added one by one, by what they explain
        for their price; how many, and how much the price counts, is chosen by realised cost in four parts of the
        training rows. With more than 300 features only those take part that tell most by themselves, and with more than
        5000 rows a sample is used.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    .. [2] S. Bates, T. Hastie, R. Tibshirani, "Cross-validation: what does it estimate and how well does it do it?",
       Journal of the American Statistical Association 119, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import seqclass
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> held = seqclass.etana(0.01).fit(X, y, held_out=5).held_out_
    >>> round(held.cost, 3), held.expected_cost < held.cost_interval[0]
    (0.075, True)
    >>> held.compare(held.deciding_at_once).interval[1] < 0
    True
    """

    _in_summary = ("name", "n_folds", "n_rows", "cost", "cost_interval", "price", "error", "n_features")

    name: str
    fold: IntArray
    prices: FloatArray
    decision_costs: FloatArray
    decisions: IntArray
    errors: BoolArray
    counts: IntArray
    max_decision_cost: float = 1.0
    expected_cost: float = float("nan")
    remedies: tuple[str, ...] = ()
    deciding_at_once: HeldOut | None = None
    linear: HeldOut | None = None
    weights: FloatArray | None = None
    n_classes: int = 0
    unit: str = ""

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    @property
    def n_rows(self) -> int:
        """Number of rows that were held out."""
        return int(self.prices.size)

    @property
    def costs(self) -> FloatArray:
        """Price paid plus decision cost of each row, (n_rows,)."""
        return self.prices + self.decision_costs

    @property
    def cost(self) -> float:
        """Mean price paid plus decision cost."""
        return self._mean(self.costs)

    @property
    def cost_interval(self) -> Interval:
        """Interval of `cost`."""
        return cost_interval(
            self.prices, self.decision_costs, self.max_decision_cost, self._variance_of_fits(), self.weights
        )

    @property
    def price(self) -> float:
        """Mean price paid."""
        return self._mean(self.prices)

    @property
    def price_interval(self) -> Interval:
        """Interval of `price`."""
        return self._of_fits(self.prices)

    @property
    def decision_cost(self) -> float:
        """Mean cost of the decisions; equals `error` if a wrong class costs 1 and there are no further decisions."""
        return self._mean(self.decision_costs)

    @property
    def decision_cost_interval(self) -> Interval:
        """Interval of `decision_cost`."""
        return self._interval(self.decision_costs, self.max_decision_cost)

    @property
    def error(self) -> float:
        """Share of rows decided for a wrong class, of all rows."""
        return self._mean(self.errors.astype(np.float64))

    @property
    def error_interval(self) -> Interval:
        """Interval of `error`."""
        return self._interval(self.errors.astype(np.float64), 1.0)

    @property
    def referred(self) -> float:
        """Share of rows decided for no class, but for a further decision such as "refer"."""
        return self._mean((self.decisions >= self.n_classes).astype(np.float64)) if self.n_classes else 0.0

    @property
    def n_features(self) -> float:
        """Mean number of features acquired."""
        return self._mean(self.counts.astype(np.float64))

    @property
    def n_features_interval(self) -> Interval:
        """Interval of `n_features`."""
        return self._of_fits(self.counts.astype(np.float64))

    @property
    def advice(self) -> str:
        """Sentences on what is worth knowing before the classifier is used; empty if all is as expected."""
        return " ".join(
            filter(None, (self._referral(), self._against_expected(), self.against_deciding(), self._against_linear()))
        )

    def compare(self, other: HeldOut) -> PairedTest:
        """Compare the costs of two classifiers on the same folds, row by row.

        Parameters
        ----------
        other : HeldOut
            That of another classifier on the same rows and folds, or a yardstick.

        Returns
        -------
        PairedTest
            ``difference`` is this cost less the other's, with its 95% ``interval``; its variance is that of n rows
            times 1 + k / (k - 1), as Nadeau and Bengio propose for a test.

        Raises
        ------
        ValueError
            If the folds differ.
        """
        if not np.array_equal(self.fold, other.fold):
            raise ValueError("other must be of the same folds; fit both on the same rows with one random_state.")
        return paired_t_test(
            self.costs, other.costs, test_to_train=self.n_folds * self._variance_of_fits(), weights=self.weights
        )

    def record(self) -> dict[str, Any]:
        """Return the figures as a plain record, without the rows."""
        plain_record: dict[str, Any] = {"n_folds": self.n_folds, "n_rows": self.n_rows, "referred": self.referred}
        for name in _FIGURES:
            plain_record |= {name: getattr(self, name), f"{name}_interval": list(getattr(self, f"{name}_interval"))}
        for name, other in self._yardsticks.items():
            test = self.compare(other)
            less = {"difference": test.difference, "difference_interval": list(test.interval or ())}
            plain_record[name] = other.record() | less
        return plain_record | ({"advice": self.advice} if np.isfinite(self.expected_cost) else {})

    def _table(self) -> Any:
        names = ("name", "n_rows", *(name for figure in _FIGURES for name in (figure, f"{figure}_interval")))
        return [
            plain_figures({name: getattr(one, name) for name in names}) for one in (self, *self._yardsticks.values())
        ]

    def __str__(self) -> str:
        unit = f", costs in {self.unit}" if self.unit else ""
        lines = [f"{self.name}, held out ({self.n_folds} folds, {self.n_rows} rows{unit}): {self._figures()}"]
        for other in self._yardsticks.values():
            test = self.compare(other)
            apart, sign = _range(test.interval or (np.nan, np.nan)), "" if test.difference < 0 else "+"
            lines.append(
                f"{other.name}: {other._figures()}; the difference is {sign}{digits_text(test.difference)} ({apart})"
            )
        return "\n".join([*lines, *filter(None, [self.advice])])

    def against_deciding(self) -> str:
        """Return a sentence if deciding at once costs less; otherwise empty."""
        other = self.deciding_at_once
        if other is None or self.cost <= other.cost * (1 + 1e-9):
            return ""
        return (
            f"Held out, a row costs {digits_text(self.cost)}, and deciding at once, with nothing bought, "
            f"{digits_text(other.cost)}: what is bought does not pay on rows that were not seen."
        )

    def _figures(self) -> str:
        named = f"cost {_with_interval(self.cost, self.cost_interval)}"
        parts = [f"price {digits_text(self.price)}", f"decision cost {digits_text(self.decision_cost)}"]
        if self.decision_cost != self.error:
            parts.append(f"error {_with_interval(self.error, self.error_interval)}")
        parts += [f"referred {self.referred:.3g}"] if self.referred else []
        return f"{named}: {', '.join(parts)}, features {self.n_features:.3g}"

    def _referral(self) -> str:
        if not 0 < self.referred < 1:
            return "Every row is decided for no class (referred)." if self.referred else ""
        return (
            f"{percent(self.referred)} of rows are decided for no class (referred), which is no error; of the others "
            f"{percent(self.error / (1 - self.referred))} are decided for a wrong class."
        )

    def _against_expected(self) -> str:
        lower, upper = self.cost_interval
        if not (self.expected_cost < lower or self.expected_cost > upper):
            return ""
        text = (
            f"The model expects a cost of {digits_text(self.expected_cost)} and had "
            f"{_with_interval(self.cost, (lower, upper))} on rows that it had not seen: it is "
        )
        if self.expected_cost > upper:
            return f"{text}less sure than it could be."
        trying = f" Worth trying, and judging in the same way: {'; '.join(self.remedies)}." if self.remedies else ""
        return f"{text}too sure of itself.{trying}"

    def _against_linear(self) -> str:
        test = None if self.linear is None else self.compare(self.linear)
        if self.linear is None or test is None or test.interval is None or not test.interval[0] > 0:
            return ""
        return (
            f"A linear model on {self.linear.n_features:.3g} features costs {digits_text(self.linear.cost)} on the "
            "same rows, which is less."
        )

    @property
    def _yardsticks(self) -> dict[str, HeldOut]:
        """The yardsticks that it has."""
        held = {"deciding_at_once": self.deciding_at_once, "linear": self.linear}
        return {name: other for name, other in held.items() if other is not None}

    def _variance_of_fits(self) -> float:
        """Addition to 1/n in the variance of a mean over n rows, for what fits share."""
        return 1 / ((self.n_folds - 1) * effective_size(self.weights, self.n_rows))

    def _mean(self, values: FloatArray) -> float:
        return mean_and_variance(values, self.weights)[0]

    def _interval(self, values: FloatArray, high: float) -> Interval:
        return row_interval(values, high, self._variance_of_fits(), self.weights)

    def _of_fits(self, values: FloatArray) -> Interval:
        """Interval of what may differ from fit to fit: k of them have the mean, and one more is meant."""
        fold, weight = self.fold[self.fold >= 0], np.ones(self.n_rows) if self.weights is None else self.weights
        rows = mean_and_variance(values, self.weights)[1]
        means = np.bincount(fold, weight * values) / np.bincount(fold, weight)
        fits = (1 + 1 / self.n_folds) * float(means.var(ddof=1))
        return row_interval(values, np.inf, self._variance_of_fits() + (fits / rows if rows > 0 else 0.0), self.weights)

    def _check_stored(self) -> None:
        fold = require_array(self, "fold", "i", None, low=-1)
        n = int((fold >= 0).sum())
        require(n > 0 and len(np.unique(fold[fold >= 0])) == fold.max() + 1 > 1, "its folds are wrong")
        for name in ("prices", "decision_costs", *["weights"] * (self.weights is not None)):
            require_numbers(self, name, n, low=0)
        require_array(self, "errors", "b", n)
        for name in ("decisions", "counts"):
            require_array(self, name, "i", n, low=0)
        require(
            type(self.name) is str and type(self.unit) is str and all(type(remedy) is str for remedy in self.remedies),
            "its texts are none",
        )
        dearest = self.max_decision_cost
        require(type(dearest) is float and dearest >= self.decision_costs.max(), "max_decision_cost is wrong")
        require(type(self.expected_cost) is float, "expected_cost is no number")
        for other in (self.deciding_at_once, self.linear):
            same = isinstance(other, HeldOut) and np.array_equal(other.fold, fold)
            require(other is None or same, "a yardstick is of other folds")


def row_interval(values: FloatArray, high: float, shared: float = 0.0, weights: FloatArray | None = None) -> Interval:
    """Interval at 95% of a mean over rows of what lies between 0 and ``high``; ``shared`` is for what fits share."""
    interval = mean_interval(values, test_to_train=shared, bounds=(0.0, high) if high > 0 else None, weights=weights)
    return interval.lower, interval.upper


def cost_interval(
    prices: FloatArray,
    decision_costs: FloatArray,
    max_decision_cost: float,
    shared: float = 0.0,
    weights: FloatArray | None = None,
) -> Interval:
    """Interval at 95% of the mean over rows of what was paid and what the decision cost."""
    if np.ptp(decision_costs) > 0:
        return row_interval(prices + decision_costs, np.inf, shared, weights)
    # not one decision cost more than another: that some row's might is in their own interval alone
    price = row_interval(prices, np.inf, shared, weights)
    decision = row_interval(decision_costs, max_decision_cost, shared, weights)
    return price[0] + decision[0], price[1] + decision[1]


def _range(interval: Interval) -> str:
    return range_text(interval, digits_text)


def _with_interval(value: float, interval: Interval) -> str:
    return f"{digits_text(value)} ({_range(interval)})"
