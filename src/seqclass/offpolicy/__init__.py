"""Learning from records: what a policy would have cost people for whom another rule decided what was recorded."""

from __future__ import annotations

from seqclass.offpolicy.evaluation import compare, estimate_cost

__all__ = ["compare", "estimate_cost"]
__dir__ = __all__.copy  # tab completion
