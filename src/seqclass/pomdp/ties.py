"""What is equal but for rounding: costs that tie, and what is still within a budget."""

from __future__ import annotations

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray

#: Costs that differ by less than this share of themselves are a tie, so that batch size and BLAS change no answer. They
#: are sums of what is not negative, so each is rounded by a share of itself; one of the dearest decision hides others.
TIE = 1e-12


def budget_of(most: float) -> float:
    """What may be spent: what sums up to the most but for rounding is within it."""
    return most * (1 + TIE)


def affords(most: float, spent: FloatArray) -> BoolArray:
    """Whether what is spent is within the budget, but for rounding."""
    return spent <= budget_of(most)


def less(surcharge: FloatArray, other: FloatArray) -> BoolArray:
    """Which surcharges are less than others but for rounding."""
    return np.asarray(surcharge < other * (1 - TIE))
