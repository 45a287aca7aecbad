"""Confidence intervals of means over folds and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._utils.arrays import FloatArray, IntArray, effective_size, mean_and_variance, unmask
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_not_negative, check_real
from seqclass.stats._scores import check_vector, like_rows


@dataclass(frozen=True, repr=False)
class MeanInterval(Readable):
    """A mean and its confidence interval.

    Attributes
    ----------
    mean : float
        Mean of the scores.
    lower, upper : float
        Ends of the interval; NaN if there is a single score inside the range.
    standard_error : float
        Standard error of the mean, corrected if asked for; NaN for a single score.
    confidence : float
        Coverage of the interval.
    n : int
        Number of scores.

    Examples
    --------
    >>> print(MeanInterval(0.9, 0.85, 0.95, 0.02, 0.95, 5))
    0.9 [0.85, 0.95]
    """

    mean: float
    lower: float
    upper: float
    standard_error: float
    confidence: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.lower:.4g}, {self.upper:.4g}]"


def mean_interval(
    scores: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    test_to_train: float = 0.0,
    bounds: tuple[float, float] | None = None,
    nan: str = "raise",
    weights: npt.ArrayLike | None = None,
) -> MeanInterval:
    """Compute the mean of scores with a t interval, or with one that stays within the range of the scores.

    Scores of folds or random splits of one data set share training rows, so their plain standard error is too small.
    Nadeau and Bengio ([1]_) estimate the variance of the mean as (1/n + test_to_train) s**2.

    A t interval is symmetric, and for scores near the end of their range it reaches beyond it. With ``bounds`` the
    interval is Wilson's ([2]_) instead. It holds the means mu that a t test does not reject, where the standard error
    at mu is that of the scores times sqrt(v(mu) / v(mean)), with v(mu) = (mu - low) (high - mu), or mu - low if there
    is no upper end. These are the variances of proportions and of counts up to a factor, which comes from the scores.
    The interval lies in the range and misses about as often on either side, unlike a clipped t interval. In the middle
    of the range, and with many scores, it equals the t interval. Among intervals for proportions it is one of those
    that Brown, Cai and DasGupta ([3]_) recommend.

    Independent scores that all lie at the ends of a finite range, such as right or wrong, get the exact binomial
    interval of Clopper and Pearson ([4]_): five rows without an error do not show that there are no errors. If all
    scores lie at the same end, they get it even if they share training rows, computed for the smaller number of rows
    that they are worth.

    Parameters
    ----------
    scores : array-like
        Scores of any shape, such as (n_seeds, n_folds).
    confidence : float
        Coverage, between 0 and 1.
    test_to_train : float
        Rows of a test part over rows of its training part: 1 / (k - 1) for k-fold cross-validation. 0 means that the
        scores are independent of each other, such as over data sets or fresh samples.
    bounds : (low, high), optional
        Range of the scores: (0, 1) for accuracies, (0, inf) for costs and counts. None: a t interval.
    nan : "raise" or "omit"
        What to do about missing scores.
    weights : array-like, optional
        Weight of each score, above 0. Scores w then count as (sum w)**2 / sum w**2 scores of equal weight.

    Returns
    -------
    MeanInterval
        If all scores are equal, and not at an end of a finite range, both ends are the mean.

    Raises
    ------
    ValueError
        If there are no scores, a score is missing or outside ``bounds``, or an argument is out of range.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    .. [2] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
       Statistical Association 22, 1927.
    .. [3] L. D. Brown, T. T. Cai, A. DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16,
       2001.
    .. [4] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
       binomial", Biometrika 26, 1934.

    Examples
    --------
    >>> folds = [0.90, 0.92, 0.88, 0.91, 0.89]
    >>> print(mean_interval(folds))
    0.9 [0.8804, 0.9196]
    >>> print(mean_interval(folds, test_to_train=1 / 4))
    0.9 [0.8706, 0.9294]
    >>> good = [1.0, 0.96, 1.0, 0.98, 1.0]
    >>> print(mean_interval(good))
    0.988 [0.9658, 1.01]
    >>> print(mean_interval(good, bounds=(0, 1)))
    0.988 [0.9393, 0.9977]
    >>> print(mean_interval([1, 1, 1, 1, 1], bounds=(0, 1)))
    1 [0.4782, 1]
    """
    values = check_vector(scores, "scores", nan)
    if not values.size:
        raise ValueError("scores must hold at least one score.")
    check_real(confidence, "confidence", 0, 1)
    low, high = _check_bounds(bounds)
    if values.min() < low or values.max() > high:
        wrong = float(values.min() if values.min() < low else values.max())
        raise ValueError(f"scores must lie in bounds, between {low:g} and {high:g}, got {wrong:g}.")
    named = like_rows(weights, scores)
    weight = None if weights is None else check_not_negative(named, "weights", np.shape(scores)).reshape(-1)
    if weight is not None:
        weight = weight[~np.isnan(np.asarray(unmask(scores), dtype=np.float64).reshape(-1))]
        if not weight.min() > 0:
            raise ValueError("weights must be above 0: leave out the scores that do not count.")
    error, mean = standard_error(values, test_to_train, weight), mean_and_variance(values, weight)[0]
    size = effective_size(weight, values.size)
    exact = _exact_ends(values, test_to_train, confidence, (low, high), size)
    if exact is not None:
        return MeanInterval(mean, *exact, error, float(confidence), int(values.size))
    lower, upper = interval_ends(np.array([mean]), np.array([error]), np.array([size]), confidence, (low, high))
    return MeanInterval(mean, float(lower[0]), float(upper[0]), error, float(confidence), int(values.size))


def _exact_ends(
    values: FloatArray, test_to_train: float, confidence: float, bounds: tuple[float, float], size: float
) -> tuple[float, float] | None:
    """Clopper and Pearson's ends of scores that all lie at the ends of a finite range; None of others."""
    low, high = bounds
    at_high, missed = values == high, values == low
    alike = at_high.all() or missed.all()
    plain = test_to_train == 0 and size == values.size
    if not (np.isfinite(low) and np.isfinite(high)) or not (alike or (plain and (at_high | missed).all())):
        return None
    tail, n, k = (1 - confidence) / 2, 1 / (1 / size + test_to_train), int(at_high.sum())
    if alike:
        most = (1 - tail ** (1 / n)) * (high - low)
        return (high - most, high) if k else (low, low + most)
    lower, upper = stats.beta.ppf(tail, k, n - k + 1), stats.beta.ppf(1 - tail, k + 1, n - k)
    return low + float(lower) * (high - low), low + float(upper) * (high - low)


def interval_ends(
    mean: FloatArray, error: FloatArray, n: IntArray | FloatArray, confidence: float, bounds: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Ends of many intervals at once; see `mean_interval`."""
    quantile = stats.t.ppf(0.5 + confidence / 2, np.maximum(n - 1, 1))
    reach = np.multiply(quantile, error, out=np.zeros_like(error), where=error > 0)  # an infinite one times 0 is 0
    reach = np.where(n > 1, reach, np.nan)
    low, high = bounds
    if (np.isinf(low) and np.isinf(high)) or np.isinf(reach).any():
        return np.maximum(mean - reach, low), np.minimum(mean + reach, high)
    if np.isinf(low):
        lower, upper = interval_ends(-mean, error, n, confidence, (-high, -low))
        return -upper, -lower
    width = 1.0 if np.isinf(high) else high - low
    share, reach = (mean - low) / width, reach / width
    part = 0.0 if np.isinf(high) else share
    spread = share * (1 - part)
    # roots mu of (mu - share)**2 = factor * v(mu); without spread all scores are at one end
    factor = np.divide(reach**2, spread, out=np.zeros_like(reach), where=~(spread <= 0))
    bend = 0.0 if np.isinf(high) else factor
    middle = (share + factor / 2) / (1 + bend)
    half = np.sqrt(factor * spread + factor**2 / 4) / (1 + bend)
    lower, upper = low + width * np.maximum(middle - half, 0), low + width * (middle + half)
    return np.minimum(lower, mean), np.maximum(np.minimum(upper, high), mean)


def _check_bounds(bounds: Sequence[float] | None) -> tuple[float, float]:
    if bounds is None:
        return -np.inf, np.inf
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise ValueError(f"bounds must be the least and the greatest score that there can be, got {bounds!r}.")
    low, high = (check_real(bound, "bounds") for bound in bounds)
    if not low < high:
        raise ValueError(f"bounds must rise, got {low:g} and {high:g}.")
    return low, high


def standard_error(values: FloatArray, test_to_train: float, weight: FloatArray | None = None) -> float:
    """Standard error of the mean of scores, corrected for shared training rows."""
    check_real(test_to_train, "test_to_train", 0)
    size = effective_size(weight, values.size)
    return float(np.sqrt((1 / size + test_to_train) * mean_and_variance(values, weight)[1]))
