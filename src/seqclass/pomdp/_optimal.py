"""Optimal costs for many multipliers of the prices, by one enumeration of histories."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.randomised import scale_prices
from seqclass.pomdp.walk import TooLarge, branch

#: Histories of a stage, the rows of them that branch, the row each branch leaves, and its probability given that row.
_Level = tuple[InformationState, IntArray, IntArray, FloatArray]


def optimal_costs(
    problem: AcquisitionProblem, multipliers: FloatArray, horizon: IntArray, max_histories: float
) -> FloatArray:
    """Optimal cost at each multiplier, by backward recursion over every history that may be worth reaching.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    multipliers : ndarray of shape (n_multipliers,)
        Factors of all prices.
    horizon : ndarray of int of shape (n_multipliers,)
        Horizons; the longest one holds for all. What lies beyond is bounded from below by one more price and perfect
        knowledge, so the results are then lower bounds.
    max_histories : float
        Most histories to visit.

    Returns
    -------
    ndarray of shape (n_multipliers,)

    Raises
    ------
    TooLarge
        If there are more histories.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> optimal_costs(problem, np.array([1.0, 2.0, 10.0]), np.array([1, 1, 1]), 100).round(3)
    array([0.25, 0.35, 0.5 ])
    """
    last = int(horizon.max())
    # whatever is settled at the smallest prices is at all others
    cheapest = scale_prices(problem, float(multipliers.min()))
    info, visited = cheapest.begin(), 1
    levels: list[_Level] = []
    while True:
        on = np.flatnonzero(~info.settled) if info.stage < last else np.empty(0, dtype=np.intp)
        if not on.size:
            levels.append((info, on, on, np.empty(0)))
            break
        parent, outcome, share = branch(info[on], np.ones(on.size))
        visited += parent.size
        if visited > max_histories:
            raise TooLarge(max_histories)
        levels.append((info, on, parent, share))
        info = info[on].update(outcome, parent)
    result = np.empty(len(multipliers))
    for part in chunks(len(result), 8.0 * 4 * max(len(level[0]) for level in levels)):
        result[part] = _backward(problem, levels, multipliers[part])
    return result


def _backward(problem: AcquisitionProblem, levels: list[_Level], multipliers: FloatArray) -> FloatArray:
    value: FloatArray = np.empty((0, len(multipliers)))
    for info, on, parent, share in reversed(levels):
        stop = np.repeat(info.stopping_cost[:, None], len(multipliers), axis=1)
        if info is levels[-1][0] and info.stage < problem.n_stages:
            known = (info.belief @ problem.perfect_cost)[:, None]
            stop = np.minimum(stop, multipliers * problem.prices[info.stage] + known)
        if on.size:
            info.problem = problem  # its prices as they are
            expected = info.price[on, None] * multipliers
            # the branches of a history lie side by side, and each has one at least
            expected += np.add.reduceat(share[:, None] * value, np.searchsorted(parent, np.arange(on.size)), axis=0)
            stop[on] = np.minimum(stop[on], expected)
        value = stop
    return np.asarray(value[0])
