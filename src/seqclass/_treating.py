"""Costs of decisions in the terms of decision curves: one class is found or missed, the others needlessly treated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._messages import near, shown
from seqclass._validation import as_number, class_numbers


def class_position(classes: npt.NDArray[Any], positive: Any = None, name: str = "positive") -> int:
    """Position of the class to be found among the classes, by value; by default the last in sorted order."""
    if positive is None:
        values = [as_number(label) for label in classes.tolist()]
        names = values if not any(isinstance(value, str) for value in values) else classes.astype(str).tolist()
        return max(range(len(names)), key=names.__getitem__)
    try:
        return int(class_numbers(classes, [positive])[0])
    except ValueError:
        names = [str(label) for label in classes.tolist()]
        raise ValueError(
            f"{name}: {shown(positive)} is no class of the model; {near(str(positive), names, 'there are')}"
        ) from None


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
