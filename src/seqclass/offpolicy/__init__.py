"""Learning from records: what a policy would have cost where somebody else's rule decided what was recorded of whom."""

from __future__ import annotations

from seqclass.offpolicy.evaluation import compare, estimate_cost

__all__ = ["compare", "estimate_cost"]
