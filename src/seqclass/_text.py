"""How probabilities and values are written for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


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
