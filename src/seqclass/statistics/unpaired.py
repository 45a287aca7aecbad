"""Difference of the means of two sets of other rows, such as two groups of patients."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from seqclass._validation import check_real
from seqclass.statistics._scores import check_vector


def mean_difference(
    a: npt.ArrayLike, b: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Difference of two means with Welch's interval ([1]_), for rows that are not paired and vary as they like.

    Parameters
    ----------
    a, b : array-like
        Scores of the two sets; none may be missing.
    confidence : float
        Coverage of the interval, between 0 and 1.

    Returns
    -------
    difference : float
        Mean of ``a`` less mean of ``b``; NaN where either is empty.
    interval : tuple of float
        Its ends; NaN where either has fewer than two scores.

    References
    ----------
    .. [1] B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
       involved", Biometrika 34, 1947.

    Examples
    --------
    >>> difference, (low, high) = mean_difference([3.0, 4.0, 5.0], [1.0, 2.0, 3.0])
    >>> difference, round(low, 3), round(high, 3)
    (2.0, -0.267, 4.267)
    """
    first, second = check_vector(a, "a", "raise"), check_vector(b, "b", "raise")
    check_real(confidence, "confidence", 0, 1)
    if not first.size or not second.size:
        return float("nan"), (float("nan"), float("nan"))
    difference = float(first.mean() - second.mean())
    if min(first.size, second.size) < 2:
        return difference, (float("nan"), float("nan"))
    parts = np.array([v.var(ddof=1) / v.size for v in (first, second)])
    if parts.sum() <= 0:
        return difference, (difference, difference)
    free = parts.sum() ** 2 / (parts**2 / (np.array([first.size, second.size]) - 1)).sum()
    reach = float(student.ppf(0.5 + confidence / 2, free) * np.sqrt(parts.sum()))
    return difference, (difference - reach, difference + reach)
