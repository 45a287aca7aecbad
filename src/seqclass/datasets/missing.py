"""Masks of missing cells, by the mechanisms that studies of missing values use."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from seqclass._utils.arrays import BoolArray, FloatArray, as_generator
from seqclass._utils.validation import check_choice, check_real

MECHANISMS = ("mcar", "mar", "mnar_logistic", "mnar_self")


def missing_mask(
    X: npt.ArrayLike, share: float, mechanism: str = "mcar", *, inputs: float = 0.3, random_state: Any = 0
) -> BoolArray:
    """Draw which cells are missing, at random or depending on values.

    - ``"mcar"``: every cell with the same probability.
    - ``"mar"``: some columns are always there; a cell of another column is missing with a probability that is a
      logistic function of them, with weights drawn at random.
    - ``"mnar_logistic"``: the same, and then cells of the columns that it depends on are missing at random.
    - ``"mnar_self"``: the probability is a logistic function of the cell's own value, rising or falling at random.

    Scores are standardised, so that units do not matter. Intercepts are such that the expected share of missing cells
    is ``share`` in each column, and 0 in those that are always there.

    Parameters
    ----------
    X : array-like of numbers of shape (n, n_features)
        The data. NaN counts as the mean of its column.
    share : float
        Expected share of missing cells in a column, from 0 to 1.
    mechanism : str
        One of the above.
    inputs : float
        Share of the columns that missingness depends on, rounded down, at least one and not all; for ``"mar"`` and
        ``"mnar_logistic"``.
    random_state : None, int or numpy generator
        Seed.

    Returns
    -------
    ndarray of bool of shape (n, n_features)
        True where a cell is missing; apply it by ``np.where(mask, np.nan, X)``, or ``frame.mask(mask)`` for a data
        frame.

    Raises
    ------
    ValueError
        If X is not a table of finite numbers, or has a single column for a mechanism that needs others; or a setting is
        out of range.

    References
    ----------
    .. [1] B. Muzellec, J. Josse, C. Boyer, M. Cuturi, "Missing data imputation using optimal transport", ICML 2020.
    .. [2] "AFABench: a generic framework for benchmarking active feature acquisition", arXiv 2508.14734, and its code,
       github.com/Linusaronsson/AFA-Benchmark: these four, shares 0.3, 0.5 and 0.7, inputs 0.3, of training and
       validation rows; test rows are complete.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 4))
    >>> missing_mask(X, 0.3, "mar").mean(axis=0).round(1)
    array([0.3, 0.3, 0.3, 0. ])
    """
    check_choice(mechanism, "mechanism", MECHANISMS)
    check_real(share, "share", 0, 1)
    check_real(inputs, "inputs", 0, 1)
    values = _standard(X)
    n, d = values.shape
    rng = as_generator(random_state)
    if mechanism == "mcar":
        return np.asarray(rng.random((n, d)) < share)
    if mechanism == "mnar_self":
        return np.asarray(rng.random((n, d)) < _probabilities(values * rng.choice([-1.0, 1.0], d), share))
    if d < 2:
        raise ValueError(f"mechanism {mechanism!r} needs a column for others to depend on: X has {d}.")
    shown = np.zeros(d, dtype=bool)
    shown[rng.choice(d, min(max(int(inputs * d), 1), d - 1), replace=False)] = True
    scores = values[:, shown] @ rng.normal(size=(int(shown.sum()), int((~shown).sum())))
    mask = np.zeros((n, d), dtype=bool)
    mask[:, ~shown] = rng.random(scores.shape) < _probabilities(_standardise(scores), share)
    if mechanism == "mnar_logistic":
        mask[:, shown] = rng.random((n, int(shown.sum()))) < share
    return mask


def _standard(X: npt.ArrayLike) -> FloatArray:
    """Columns of mean 0 and standard deviation 1, or of zeros where constant; missing ones are 0."""
    try:
        values = np.array(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("X must be a table of numbers: encode columns of text first.") from None
    if values.ndim != 2 or not values.size or np.isinf(values).any():
        raise ValueError(f"X must be a table of finite numbers with rows and columns, got shape {values.shape}.")
    unknown = np.isnan(values)
    values -= np.divide(np.where(unknown, 0.0, values).sum(axis=0), np.maximum((~unknown).sum(axis=0), 1))
    values[unknown] = 0.0
    return _standardise(values)


def _standardise(scores: FloatArray) -> FloatArray:
    deviation = scores.std(axis=0)
    # what is left of a constant column is rounding
    varies = deviation > 1e-12 * np.abs(scores).max(axis=0)
    return np.asarray((scores - scores.mean(axis=0)) * varies / np.where(varies, deviation, 1.0))


def _probabilities(scores: FloatArray, share: float) -> FloatArray:
    """Logistic functions of the scores, of mean ``share`` in each column."""
    if share in (0, 1):
        return np.full(scores.shape, float(share))
    low, high = logit(share) - scores.max(axis=0), logit(share) - scores.min(axis=0)
    for _ in range(60):  # halvings, after which the interval is as small as rounding
        middle = (low + high) / 2
        above = expit(scores + middle).mean(axis=0) > share
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(expit(scores + (low + high) / 2))
