"""Confidence intervals of means over folds and seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from seqclass._arrays import FloatArray
from seqclass._validation import check_real
from seqclass.statistics._scores import check_vector


@dataclass(frozen=True)
class MeanInterval:
    """A mean and its confidence interval.

    Attributes
    ----------
    mean : float
        Mean of the scores.
    lower, upper : float
        Ends of the interval; NaN where there is a single score.
    standard_error : float
        Standard error of the mean, corrected where asked for; NaN where there is a single score.
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
    scores: npt.ArrayLike, *, confidence: float = 0.95, test_to_train: float = 0.0, nan: str = "raise"
) -> MeanInterval:
    """Mean of scores with a t interval.

    Scores of folds or random splits of one data set share training rows, so that their plain standard error is too
    small. Nadeau and Bengio ([1]_) put the variance of the mean at (1/n + test_to_train) s**2.

    Parameters
    ----------
    scores : array-like
        Scores of any shape, such as (n_seeds, n_folds).
    confidence : float
        Coverage, between 0 and 1.
    test_to_train : float
        Rows of a test part over rows of its training part: 1 / (k - 1) for k-fold cross-validation. 0 says that the
        scores are independent of each other, as over data sets or fresh samples.
    nan : "raise" or "omit"
        What to do about missing scores.

    Returns
    -------
    MeanInterval

    Raises
    ------
    ValueError
        If there is no score, one is missing, or an argument is out of range.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    Examples
    --------
    >>> folds = [0.90, 0.92, 0.88, 0.91, 0.89]
    >>> print(mean_interval(folds))
    0.9 [0.8804, 0.9196]
    >>> print(mean_interval(folds, test_to_train=1 / 4))
    0.9 [0.8706, 0.9294]
    """
    values = check_vector(scores, "scores", nan)
    if not values.size:
        raise ValueError("scores must hold at least one score.")
    check_real(confidence, "confidence", 0, 1)
    error = standard_error(values, test_to_train)
    mean, reach = float(values.mean()), np.nan
    if values.size > 1:
        reach = float(student.ppf(0.5 + confidence / 2, values.size - 1)) * error if error else 0.0
    return MeanInterval(mean, mean - reach, mean + reach, error, float(confidence), int(values.size))


def standard_error(values: FloatArray, test_to_train: float) -> float:
    """Standard error of the mean of scores, corrected for shared training rows.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The scores.
    test_to_train : float
        Rows of a test part over rows of its training part; 0 for independent scores.

    Returns
    -------
    float
        NaN for a single score.

    Examples
    --------
    >>> import numpy as np
    >>> round(standard_error(np.array([1.0, 3.0]), 0.0), 3)
    1.0
    """
    check_real(test_to_train, "test_to_train", 0)
    if values.size < 2:
        return float("nan")
    return float(np.sqrt((1 / values.size + test_to_train) * values.var(ddof=1)))
