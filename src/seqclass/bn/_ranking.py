"""Ranking by scores in which differences of rounding do not count."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_costs

#: Scores that differ by less, relative to themselves, are equal.
RELATIVE = 1e-10
#: Scores that differ by less, relative to the largest of all, are equal.
ABSOLUTE = 1e-12


def rank(*scores: FloatArray) -> IntArray:
    """Order by increasing score; ties by the next score, and at last by the lowest index.

    Parameters
    ----------
    *scores : ndarray of shape (n,)
        The scores, the one that decides first in front. Infinities are allowed.

    Returns
    -------
    ndarray of int of shape (n,)

    Examples
    --------
    >>> rank(np.array([0.3, 0.1 + 0.2, 0.1])).tolist()
    [2, 0, 1]
    """
    # lexsort is stable, and its last key decides first
    return np.lexsort([_levels(score) for score in reversed(scores)])


def rank_by_rate(gains: FloatArray, prices: FloatArray) -> IntArray:
    """Order by decreasing gain per price; what is free comes first, by its gain, and of the useless the cheapest.

    Examples
    --------
    >>> rank_by_rate(np.array([1.0, 3.0, 0.5, 0.7]), np.array([1.0, 2.0, 0.0, 0.0])).tolist()
    [3, 2, 1, 0]
    """
    free = prices == 0
    rate = np.where(free, np.inf, gains / np.where(free, 1.0, prices))
    return rank(-rate, -gains, prices)


def check_prices(costs: Any, n_features: int) -> FloatArray:
    """Give the price of each feature: 1 for all of them by default, and a scalar is for all.

    Raises
    ------
    ValueError
        If a price is negative or not finite, or their number is wrong.

    Examples
    --------
    >>> check_prices(None, 2), check_prices(0.5, 2)
    (array([1., 1.]), array([0.5, 0.5]))
    """
    if costs is None:
        return np.ones(n_features)
    if np.ndim(costs) == 0:
        return np.full(n_features, check_costs(costs, "costs"))
    return check_costs(costs, "costs", (n_features,))


def _levels(score: FloatArray) -> IntArray:
    """Number the distinct values of a score in increasing order, chains of near-equal ones counting once."""
    order = np.argsort(score, kind="stable")
    values = score[order]
    finite = np.abs(values[np.isfinite(values)])
    with np.errstate(invalid="ignore"):
        gap = values[1:] - values[:-1]
        apart = gap > np.maximum(RELATIVE * np.abs(values[1:]), ABSOLUTE * finite.max(initial=0.0))
    # between an infinity and a finite number the tolerance itself is infinite, and the rule above fails
    apart |= np.isinf(gap)
    levels = np.zeros(len(score), dtype=np.intp)
    levels[order[1:]] = np.cumsum(apart)
    return levels
