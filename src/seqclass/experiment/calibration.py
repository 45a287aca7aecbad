"""Calibration: whether what is said to be 90% sure is right nine times in ten."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqclass._validation import check_integer


def calibration_error(y_true: npt.ArrayLike, proba: npt.ArrayLike, *, n_bins: int = 15) -> float:
    """Expected calibration error (ECE) of the likeliest class.

    Instances are put into bins of equal width by the probability of their likeliest class; the error is the mean, over
    instances, of the distance between their bin's mean probability and its share of right answers.

    Parameters
    ----------
    y_true : array-like of int of shape (n,)
        True class codes, columns of ``proba``.
    proba : array-like of shape (n, n_classes)
        Class probabilities.
    n_bins : int
        Number of bins between 0 and 1.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If the shapes differ.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural networks", ICML 2017, eq. (3).

    Examples
    --------
    >>> round(calibration_error([0, 0, 0, 1], [[0.95, 0.05]] * 4), 3)
    0.2
    """
    truth, belief = np.asarray(y_true), np.asarray(proba, dtype=np.float64)
    check_integer(n_bins, "n_bins", 1)
    if belief.ndim != 2 or truth.shape != belief.shape[:1] or not truth.size:
        raise ValueError(f"proba must have a row for each label, got shapes {truth.shape} and {belief.shape}.")
    confidence = belief.max(axis=1)
    right = belief.argmax(axis=1) == truth
    # bins are open below and closed above
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
    distance = np.bincount(bins, weights=right - confidence, minlength=n_bins)
    return float(np.abs(distance).sum() / truth.size)
