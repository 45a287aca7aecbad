"""Tests of whether one method is better than another on the same folds or data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student
from scipy.stats import wilcoxon

from seqclass._validation import check_real
from seqclass.statistics._scores import TOLERANCE, check_pairs
from seqclass.statistics.intervals import standard_error


@dataclass(frozen=True)
class PairedTest:
    """Outcome of a two-sided paired test.

    Attributes
    ----------
    name : str
        ``"paired t"``, ``"corrected paired t"`` or ``"Wilcoxon signed rank"``.
    difference : float
        Mean of a - b; for Wilcoxon's test the median.
    statistic : float
        t, or the smaller of the two sums of ranks.
    p_value : float
        Two-sided.
    interval : tuple of float, or None
        Confidence interval of the mean difference; none for Wilcoxon's test.
    n : int
        Pairs.

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
) -> PairedTest:
    """Compare two methods by the t test on their differences, corrected for folds that share training rows.

    Without the correction of Nadeau and Bengio ([1]_) repeated cross-validation finds differences where there are none.

    Parameters
    ----------
    a, b : array-like of one shape
        Scores of the two methods on the same folds.
    test_to_train : float
        Rows of a test part over rows of its training part: 1 / (k - 1) for k-fold cross-validation, repeated or not; 0
        for scores that are independent.
    confidence : float
        Coverage of the interval, between 0 and 1.
    nan : "raise" or "omit"
        What to do about missing scores; "omit" leaves out the pair.

    Returns
    -------
    PairedTest
        All differences equal: p is 1 if they are zero and 0 else.

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
    n, mean = differences.size, float(differences.mean())
    error = standard_error(differences, test_to_train)
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max():  # equal but for rounding
        statistic, p_value, reach = (0.0 if mean == 0 else float(np.copysign(np.inf, mean))), float(mean == 0), 0.0
    else:
        statistic = mean / error
        p_value = float(2 * student.sf(abs(statistic), n - 1))
        reach = error * float(student.ppf(0.5 + confidence / 2, n - 1))
    name = "corrected paired t" if test_to_train else "paired t"
    return PairedTest(name, mean, statistic, p_value, (mean - reach, mean + reach), n)


def wilcoxon_test(
    a: npt.ArrayLike, b: npt.ArrayLike, *, tolerance: float = TOLERANCE, nan: str = "raise"
) -> PairedTest:
    """Compare two methods over data sets by Wilcoxon's signed-rank test.

    Ranks of zero differences are split evenly between the two sums, as Demsar ([1]_) advises for comparing classifiers.

    Parameters
    ----------
    a, b : array-like of one shape
        Scores of the two methods on the same data sets.
    tolerance : float
        Scores that differ by no more are equal, and differences are ranked in steps of it.
    nan : "raise" or "omit"
        What to do about missing scores; "omit" leaves out the pair.

    Returns
    -------
    PairedTest
        ``statistic`` is the smaller sum of ranks; p is scipy's, exact where it can be. All differences zero: p is 1.

    Raises
    ------
    ValueError
        If the shapes differ, there are fewer than two pairs, or a score is missing.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, section 3.1.3.

    Examples
    --------
    >>> wilcoxon_test([0.9, 0.8, 0.7, 0.95, 0.85], [0.8, 0.75, 0.72, 0.8, 0.7]).statistic
    1.0
    """
    first, second = check_pairs(a, b, nan)
    step = check_real(tolerance, "tolerance", 0)
    differences = first - second
    median = float(np.median(differences))
    steps = np.rint(differences / step) if step else differences
    if not steps.any():
        half = differences.size * (differences.size + 1) / 4
        return PairedTest("Wilcoxon signed rank", median, half, 1.0, None, differences.size)
    found = wilcoxon(steps, zero_method="zsplit")
    return PairedTest(
        "Wilcoxon signed rank", median, float(found.statistic), float(found.pvalue), None, differences.size
    )
