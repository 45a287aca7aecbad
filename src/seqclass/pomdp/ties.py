"""What is equal but for rounding: costs that tie, and what is still within a budget."""

from __future__ import annotations

import numpy as np

from seqclass._utils.arrays import TIE as TIE
from seqclass._utils.arrays import BoolArray, FloatArray

# Costs are sums of what is not negative, so each is rounded by a share of itself, by which they tie; a share of the
# dearest decision would hide others.


def budget_of(most: float) -> float:
    """What may be spent: what sums up to the most but for rounding is within it."""
    return most * (1 + TIE)


def affords(most: float, spent: FloatArray) -> BoolArray:
    """Whether what is spent is within the budget, but for rounding."""
    return spent <= budget_of(most)


def less(surcharge: FloatArray, other: FloatArray) -> BoolArray:
    """Which surcharges are less than others but for rounding."""
    return np.asarray(surcharge < other * (1 - TIE))


def beyond(error: float) -> float:
    """What a mean has to be above to be more than its standard error, which it equals where one case alone differs."""
    return error * (1 + 1000 * TIE)  # sums over cases round more than one cost does
