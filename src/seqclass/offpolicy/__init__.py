"""Learning from records: what a policy would have cost where somebody else's rule decided what was recorded of whom."""

from __future__ import annotations

from seqclass.offpolicy.estimate import Comparison, Estimate, Part
from seqclass.offpolicy.evaluation import compare, evaluate

__all__ = ["Comparison", "Estimate", "Part", "compare", "evaluate"]
