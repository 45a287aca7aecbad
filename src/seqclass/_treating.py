"""Costs of decisions in the terms of decision curves: one class is found or missed, the others needlessly treated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._messages import near


def class_position(classes: npt.NDArray[Any], positive: Any = None) -> int:
    """Position of the class to be found among the classes, as texts; by default the last."""
    names = [str(label) for label in classes.tolist()]
    if positive is None:
        return len(names) - 1
    if str(positive) not in names:
        raise ValueError(f"positive: {str(positive)!r} is no class; {near(str(positive), names, 'there are')}")
    return names.index(str(positive))


def miss_cost(decision_costs: npt.ArrayLike, positive: int) -> float:
    """What a missed positive row costs more than one that is found: the unit of net benefit, in those of costs.

    Parameters
    ----------
    decision_costs : array-like of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    positive : int
        Position of the positive class.

    Returns
    -------
    float
        Of several ways to miss it that of the cheapest class; 1 where a wrong class costs 1.

    Raises
    ------
    ValueError
        If missing it costs nothing, so that there is no such unit.

    Examples
    --------
    >>> miss_cost([[0, 1], [5, 0]], 1)
    5.0
    """
    costs = np.asarray(decision_costs, dtype=np.float64)
    others = np.delete(costs[positive, : len(costs)], positive)
    least = float(others.min() - costs[positive, positive])
    if not least > 0:
        raise ValueError("positive: missing this class costs nothing, so that its net benefit has no unit of cost.")
    return least


def own_threshold(decision_costs: npt.ArrayLike, positive: int) -> float:
    """Threshold probability from which on deciding for the positive one of two classes costs less.

    There the saving over treating none, divided by `miss_cost`, *is* the net benefit after prices.

    Parameters
    ----------
    decision_costs : array-like of shape (2, n_decisions)
        Cost of each decision when each class is true.
    positive : int
        Position of the positive class.

    Returns
    -------
    float

    Examples
    --------
    >>> own_threshold([[0, 1], [4, 0]], 1)
    0.2
    """
    costs = np.asarray(decision_costs, dtype=np.float64)
    if len(costs) != 2:
        raise ValueError(f"decision_costs must be of two classes, got {len(costs)}.")
    needless = float(costs[1 - positive, positive] - costs[1 - positive, 1 - positive])
    return needless / (needless + miss_cost(costs, positive))
