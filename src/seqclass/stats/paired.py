"""Tests of whether one method is better than another on the same folds or data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._utils.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    another_stream,
    chunks,
    effective_size,
    mean_and_variance,
)
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, check_not_negative, check_real, group_numbers
from seqclass.stats._scores import check_pairs, check_vector, like_rows
from seqclass.stats.intervals import interval_ends, standard_error

#: Rows that a group, and all others together, must have before anything is said of their difference.
LEAST_ROWS = 20


@dataclass(frozen=True, repr=False)
class GroupDifference(Readable):
    """How far the mean of a group is above that of all other rows.

    Attributes
    ----------
    group : str
        The group.
    n_rows : int
        Number of its rows.
    difference : float
        Its mean less that of all other rows; NaN if there are none.
    interval : tuple of float
        Interval of the difference, not corrected for the number of groups; NaN if there are too few rows, or nothing
        varies.
    p_value : float
        P-value corrected for the number of groups; NaN if there are too few rows.

    Examples
    --------
    >>> GroupDifference("north", 12, 0.2, (float("nan"), float("nan")), float("nan")).n_rows
    12
    """

    group: str
    n_rows: int
    difference: float
    interval: tuple[float, float]
    p_value: float


def group_differences(
    scores: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    low: float = -np.inf,
    least_rows: int = LEAST_ROWS,
    n_shuffles: int | None = None,
) -> tuple[GroupDifference, ...]:
    """Compare the mean of each group with that of all other rows, by dividing the rows anew at random.

    The statistic is the difference over its standard error, for which either side has its own variance or, where that
    is larger, the one of both together: a small group in which nothing went wrong is not sure for that. How large the
    largest statistic of all groups gets where groups are alike is seen on random divisions of these rows into groups of
    these sizes (E. Chung, J. P. Romano, "Exact and asymptotically robust permutation tests", Annals of Statistics 41,
    2013). So p-values are exact, however the scores are distributed, and right for all groups at once, as Holm's are,
    but without his loss where groups depend on one another: two groups are one comparison (P. H. Westfall, S. S. Young,
    "Resampling-based multiple testing", Wiley 1993, section 2.3). Of groups beyond 1000 rows a thousand are divided, on
    which the statistic is as good as normal.

    Intervals are of each difference by itself: the two means' intervals as in `mean_interval`, put together (R. G.
    Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven methods",
    Statistics in Medicine 17, 1998), again by the larger of a side's own variance and that of both together.
    """
    values = check_vector(scores, "scores", "raise")
    number, names = group_numbers(groups, len(values))
    if values.size and values.min() < low:
        raise ValueError(f"scores must be at least low, {low:g}, got {values.min():g}.")
    sizes = np.bincount(number, minlength=len(names))
    sides = _Sides.from_groups(values[None, np.argsort(number, kind="stable")], sizes)
    difference, statistic = sides.difference[0], sides.statistic[0]
    judged = (sizes >= least_rows) & (len(values) - sizes >= least_rows)
    lower, upper = sides.intervals(low)
    largest = np.sort(_largest(values, sizes, judged, n_shuffles)) if judged.any() else np.empty(0)
    differences = []
    for i, name in enumerate(names):
        p_value, ends = float("nan"), (float("nan"), float("nan"))
        if judged[i]:
            beyond = len(largest) - int(np.searchsorted(largest, statistic[i] * (1 - 1e-9)))
            p_value, ends = (1 + beyond) / (1 + len(largest)), (float(lower[i]), float(upper[i]))
        differences.append(GroupDifference(str(name), int(sizes[i]), float(difference[i]), ends, p_value))
    return tuple(differences)


def _largest(values: FloatArray, sizes: IntArray, judged: BoolArray, n_shuffles: int | None) -> FloatArray:
    """The largest statistic of the judged groups in each of some random divisions."""
    rng, largest = np.random.default_rng(another_stream(0)), []
    # of so many rows of a group, and of all together, the statistic is as good as normal: no more are divided
    sizes = np.minimum(sizes, max(LEAST_ROWS, min(1000, 50_000 // len(sizes))))
    n = int(sizes.sum())
    values = rng.choice(values, n, replace=False) if n < len(values) else values
    # divisions: of many rows as many as take ten million numbers
    most = int(np.clip(10**7 // n, 199, 1999))
    for part in chunks(most if n_shuffles is None else check_integer(n_shuffles, "n_shuffles", 1), 24.0 * n):
        drawn = rng.permuted(np.tile(values, (part.stop - part.start, 1)), axis=1)
        largest.append(_Sides.from_groups(drawn, sizes).statistic[:, judged].max(axis=1))
    return np.concatenate(largest)


class _Sides(NamedTuple):
    """Means and variances of each group and of all its others, (2, m, n_groups), in m divisions of the same rows."""

    sizes: IntArray
    mean: FloatArray
    variance: FloatArray
    pooled: FloatArray  # of both sides together, (m, n_groups)

    @classmethod
    def from_groups(cls, values: FloatArray, sizes: IntArray) -> _Sides:
        """Of rows whose groups stand one after the other."""
        centre, n = values.mean(axis=1, keepdims=True), np.stack([sizes, values.shape[1] - sizes])[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        sums, squares = (np.add.reduceat(power, starts, axis=1) for power in (values - centre, (values - centre) ** 2))
        # about their mean the sums of both sides are the same but for the sign
        both = np.stack([sums, -sums]), np.stack([squares, squares.sum(axis=1, keepdims=True) - squares])
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(n > 0, both[0] / n, np.nan)
            spread = np.maximum(both[1] - n * mean**2, 0)
            variance, pooled = spread / np.maximum(n - 1, 1), spread.sum(axis=0) / max(values.shape[1] - 2, 1)
        return cls(n, mean + centre, variance, pooled)

    @property
    def difference(self) -> FloatArray:
        """Mean of each group less that of all others."""
        return np.asarray(self.mean[0] - self.mean[1])

    @property
    def statistic(self) -> FloatArray:
        """Difference over its standard error, without the sign; 0 where nothing varies."""
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt((np.fmax(self.variance, self.pooled) / self.sizes).sum(axis=0))
            statistic: FloatArray = np.nan_to_num(np.abs(self.difference) / error, nan=0.0, posinf=np.inf)
        return statistic

    def intervals(self, low: float) -> tuple[FloatArray, FloatArray]:
        """95% intervals of the differences of one division; NaN where nothing varies."""
        n, mean = self.sizes[:, 0], self.mean[:, 0]
        # two sides that vary within neither: as much as both together
        apart = self.difference[0] ** 2 * np.prod(n / n.sum(axis=0), axis=0)
        pooled = np.where(self.pooled[0] > 0, self.pooled[0], apart)
        varies = pooled > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            if np.isfinite(low):
                # the variance of both together, in proportion to how far a mean is from the end
                middle = (n * mean).sum(axis=0) / n.sum(axis=0)
                mean = np.maximum(mean, low + 1e-9 * (middle - low))
                pooled = pooled * (mean - low) / (middle - low)
            error = np.sqrt(np.fmax(self.variance[:, 0], pooled) / n)
            ends = [interval_ends(*side, 0.95, (low, np.inf)) for side in zip(mean, error, n)]
            (low_own, high_own), (low_other, high_other) = ends
            below = np.hypot(mean[0] - low_own, high_other - mean[1])
            above = np.hypot(high_own - mean[0], mean[1] - low_other)
        difference = mean[0] - mean[1]
        return np.where(varies, difference - below, np.nan), np.where(varies, difference + above, np.nan)


@dataclass(frozen=True, repr=False)
class PairedTest(Readable):
    """Outcome of a two-sided paired test.

    Attributes
    ----------
    name : str
        ``"paired t"``, ``"corrected paired t"`` or ``"Wilcoxon signed rank"``.
    difference : float
        Mean of a - b; for Wilcoxon's test the median.
    statistic, p_value : float
        t, or the smaller of the two sums of ranks; two-sided p-value.
    interval : tuple of float, or None
        Confidence interval of the mean difference; None for Wilcoxon's test.
    n : int
        Number of pairs.

    Examples
    --------
    >>> test = paired_t_test([0.9, 0.8, 0.85], [0.7, 0.75, 0.8])
    >>> test.name, test.n
    ('paired t', 3)
    """

    name: str
    difference: float
    statistic: float
    p_value: float
    interval: tuple[float, float] | None
    n: int

    def __str__(self) -> str:
        return f"{self.name}: difference {self.difference:.4g}, p = {self.p_value:.3g}, n = {self.n}"


def paired_t_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    test_to_train: float = 0.0,
    confidence: float = 0.95,
    nan: str = "raise",
    weights: npt.ArrayLike | None = None,
) -> PairedTest:
    """Compare two methods by a t test on their differences, corrected for folds that share training rows.

    Without the correction of Nadeau and Bengio ([1]_), repeated cross-validation finds differences where there are
    none.

    Parameters
    ----------
    a, b : array-like of one shape
        Scores of the two methods on the same folds; of two Series with the same labels, such as data sets, by these.
    test_to_train : float
        Rows of a test part over rows of its training part: 1 / (k - 1) for k-fold cross-validation, repeated or not; 0
        for scores that are independent.
    confidence : float
        Coverage of the interval, between 0 and 1.
    nan : "raise" or "omit"
        What to do about missing scores; "omit" leaves out the pair.
    weights : array-like, optional
        Weight of each pair, of which then none may be missing; see `mean_interval`.

    Returns
    -------
    PairedTest
        If all differences are equal, p is 1 if they are zero, and 0 otherwise.

    Raises
    ------
    ValueError
        If the shapes differ, there are fewer than two pairs, or a score is missing.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    Examples
    --------
    >>> a, b = [0.90, 0.92, 0.88, 0.91, 0.89], [0.88, 0.91, 0.86, 0.90, 0.88]
    >>> paired_t_test(a, b).p_value < paired_t_test(a, b, test_to_train=1 / 4).p_value < 0.05
    True
    """
    first, second = check_pairs(a, b, nan)
    check_real(confidence, "confidence", 0, 1)
    differences = first - second
    weight = None if weights is None else check_not_negative(like_rows(weights, a), "weights", differences.shape)
    n, mean = effective_size(weight, differences.size), mean_and_variance(differences, weight)[0]
    error = standard_error(differences, test_to_train, weight)
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max():  # equal but for rounding
        statistic, p_value, reach = (0.0 if mean == 0 else float(np.copysign(np.inf, mean))), float(mean == 0), 0.0
    else:
        statistic, degrees = mean / error, max(n - 1, 1)
        p_value = float(2 * stats.t.sf(abs(statistic), degrees))
        reach = error * float(stats.t.ppf(0.5 + confidence / 2, degrees))
    name = "corrected paired t" if test_to_train else "paired t"
    return PairedTest(name, mean, statistic, p_value, (mean - reach, mean + reach), differences.size)
