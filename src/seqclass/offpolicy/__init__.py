"""Learning from records: what a policy would have cost where somebody else's rule decided what was recorded of whom."""

from __future__ import annotations

from seqclass.offpolicy.estimate import Estimate, Estimates, Part
from seqclass.offpolicy.evaluation import compare, estimate_cost

__all__ = ["Estimate", "Estimates", "Part", "compare", "estimate_cost"]
