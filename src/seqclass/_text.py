"""How probabilities and values are written for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

#: A saving that is this close to none, or to the price lost, is taken for it: texts have four decimals.
_NEAR = 5e-5


def value_text(value: Any) -> str:
    """Write a raw value as a person would: six digits, no trailing zeros.

    Examples
    --------
    >>> value_text(0.1 + 0.2), value_text(47.0), value_text("red")
    ('0.3', '47', 'red')
    """
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    return str(value)


def unit_text(decision_costs: Any) -> str:
    """Say what costs are counted in, after a comma: wrong decisions, unless decisions cost what the user says.

    Examples
    --------
    >>> unit_text(1 - np.eye(2)), unit_text([[0, 40], [900, 0]])
    (', in units of misclassification cost', '')
    """
    costs = np.asarray(decision_costs)
    wrong = costs.shape[0] == costs.shape[1] and np.array_equal(costs, 1 - np.eye(len(costs)))
    return ", in units of misclassification cost" if wrong else ""


def belief_text(labels: Sequence[Any], posterior: Sequence[float], most: int = 4) -> str:
    """Write the probabilities of the likeliest classes, best first where there are many.

    Examples
    --------
    >>> belief_text(["sick", "well"], [0.25, 0.75])
    'sick 25.0%, well 75.0%'
    """
    index = list(range(len(labels)))
    if len(index) > most:
        index = sorted(index, key=lambda i: -posterior[i])[:most]
    return ", ".join(f"{labels[i]} {percent(posterior[i])}" for i in index)


def percent(p: float) -> str:
    """Write a probability in percent, without calling anything certain that is not.

    Examples
    --------
    >>> percent(0.5), percent(0.99999), percent(1e-9), percent(1.0)
    ('50.0%', '>99.9%', '<0.1%', '100.0%')
    """
    if 0 < p < 0.0005:
        return "<0.1%"
    if 0.9995 <= p < 1:
        return ">99.9%"
    return f"{100 * p:.1f}%"


def saving_text(saving: float, price: float) -> str:
    """What asking was expected to save beyond its price, in words; empty where that is not known.

    Examples
    --------
    >>> saving_text(0.25, 0.1), saving_text(-0.04, 0.1), saving_text(-0.1, 0.1), saving_text(float("nan"), 0.1)
    ('expected to save 0.2500 beyond it', 'expected to save 0.0400 less than it', 'expected to save nothing', '')
    """
    if math.isnan(saving):
        return ""
    if saving > -_NEAR:
        return f"expected to save {max(saving, 0.0):.4f} beyond it"
    return "expected to save nothing" if worthless(saving, price) else f"expected to save {-saving:.4f} less than it"


def going_on_text(saving: float, price: float) -> str:
    """What going on was expected to come to, where it was not worth while; empty where that is not known.

    Examples
    --------
    >>> going_on_text(-0.0096, 0.01)
    'going on is expected to cost 0.0096 more than deciding'
    >>> going_on_text(-1.0, 1.0)
    'what is left to ask is expected to save nothing, so going on only costs its price'
    """
    if math.isnan(saving):
        return ""
    if saving > -_NEAR:
        return "going on is not expected to be any cheaper than deciding"
    if worthless(saving, price):
        return "what is left to ask is expected to save nothing, so going on only costs its price"
    return f"going on is expected to cost {-saving:.4f} more than deciding"


def worthless(saving: float, price: float) -> bool:
    """Whether going on is expected to cost its price and to save nothing at all of what a wrong decision costs.

    Examples
    --------
    >>> worthless(-0.01, 0.01), worthless(-0.0096, 0.01)
    (True, False)
    """
    return bool(price > 0 and saving <= -price + min(_NEAR, 0.005 * price))
