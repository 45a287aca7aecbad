"""Few of many weighted items, that stand for all."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray


def select(weight: FloatArray, n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Choose at most ``n`` of the weighted items without repetition, in proportion to weight; heavy ones always stay.

    The chosen ones stand for those left out: each light one gets the same new weight, so that the expected weight of
    every item is its own. Neighbours are rarely chosen together, so that similar items are best put side by side.

    Parameters
    ----------
    weight : ndarray of shape (m,)
        Positive weights.
    n : int
        Largest number of items to keep.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    chosen : ndarray of int of shape (at most n,)
        The items kept, in increasing order.
    weight : ndarray of the same shape
        Their new weights.

    References
    ----------
    .. [1] P. Fearnhead and P. Clifford, "On-line inference for hidden Markov models via particle filters",
       JRSS B 65, 2003 (optimal resampling for discrete states).

    Examples
    --------
    >>> import numpy as np
    >>> chosen, weight = select(np.array([0.5, 0.1, 0.1]), 2, np.random.default_rng(0))
    >>> chosen.size, weight
    (2, array([0.5, 0.2]))
    """
    if weight.size <= n:
        return np.arange(weight.size), weight
    ascending = np.sort(weight)
    light_sum = np.cumsum(ascending)
    n_heavy = weight.size - 1 - np.arange(weight.size)
    # threshold c with sum(min(1, w / c)) = n: the lightest items share what the heavy ones leave of n
    room = np.maximum(n - n_heavy, 0)
    with np.errstate(divide="ignore"):
        threshold = np.where(room > 0, light_sum / room, np.inf)
    fits = np.flatnonzero(threshold >= ascending)
    c = threshold[fits[-1]]
    keep = weight > c
    light = np.flatnonzero(~keep)
    ticks = np.floor(np.cumsum(weight[light]) / c + rng.random())
    keep[light[np.diff(ticks, prepend=0.0) > 0]] = True
    chosen = np.flatnonzero(keep)
    return chosen, np.maximum(weight[chosen], c)
