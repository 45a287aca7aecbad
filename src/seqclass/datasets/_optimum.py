"""Least expected cost of acquiring features, by enumeration of every history."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray
from seqclass.costs import Prices

#: Cells of the joint table up to which it is made.
MAX_CELLS = 2**22


def stop_cost(joint: FloatArray, decision_costs: FloatArray) -> FloatArray:
    """Cost of the best decision at each history, times the history's probability.

    Parameters
    ----------
    joint : ndarray of shape (..., n_classes)
        P(history, class).
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.

    Returns
    -------
    ndarray of shape (...)
    """
    return np.asarray((joint @ decision_costs).min(axis=-1))


def cost_in_order(joint: FloatArray, prices: npt.ArrayLike, decision_costs: FloatArray) -> float:
    """Least expected cost when features come in the order of the axes, and all that one may do is to stop.

    Parameters
    ----------
    joint : ndarray of shape (V_1, ..., V_K, n_classes)
        P(outcomes, class).
    prices : array-like of shape (K,)
        Price of each feature where it stands in the order.
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.

    Returns
    -------
    float
    """
    # Bellman backward, on values that are multiplied by the probability of the history: no division
    value = stop_cost(joint, decision_costs)
    for price in np.asarray(prices, dtype=np.float64)[::-1]:
        joint = joint.sum(axis=-2)
        value = np.minimum(stop_cost(joint, decision_costs), price * joint.sum(axis=-1) + value.sum(axis=-1))
    return float(value)


def cost_any_order(joint: FloatArray, prices: Prices, decision_costs: FloatArray) -> float:
    """Least expected cost when any feature may be asked for at any time: Bellman over all sets of features.

    Parameters
    ----------
    joint : ndarray of shape (V_1, ..., V_K, n_classes)
        P(outcomes, class).
    prices : Prices
        Prices of the features, with their discounts.
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.

    Returns
    -------
    float
    """
    n = joint.ndim - 1
    values = {tuple(range(n)): stop_cost(joint, decision_costs)}
    for size in range(n - 1, -1, -1):
        values = {
            known: _backup(known, joint, values, prices, decision_costs) for known in combinations(range(n), size)
        }
    return float(values[()])


def _backup(
    known: tuple[int, ...],
    joint: FloatArray,
    after: dict[tuple[int, ...], FloatArray],
    prices: Prices,
    decision_costs: FloatArray,
) -> FloatArray:
    """Value of every outcome of the features ``known``, from the values with one feature more."""
    unknown = [j for j in range(joint.ndim - 1) if j not in known]
    seen = joint.sum(axis=tuple(unknown))
    best, mass = stop_cost(seen, decision_costs), seen.sum(axis=-1)
    for j in unknown:
        more = tuple(sorted((*known, j)))
        np.minimum(best, _price(j, known, prices) * mass + after[more].sum(axis=more.index(j)), out=best)
    return best


def _price(feature: int, known: tuple[int, ...], prices: Prices) -> float:
    groups: Any = prices.groups
    shared = groups is not None and groups[feature] >= 0 and any(groups[k] == groups[feature] for k in known)
    return float((prices.discounted if shared else prices.full)[feature])
