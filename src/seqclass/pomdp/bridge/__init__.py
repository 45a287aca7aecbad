"""The bridge to pomdp-py: our problems as its models, its planners as our solvers."""

from __future__ import annotations

from seqclass.pomdp.bridge.models import PomdpPyModels, to_pomdp_py
from seqclass.pomdp.bridge.planner import PomdpPyPlanner, PomdpPyPolicy

__all__ = ["PomdpPyModels", "PomdpPyPlanner", "PomdpPyPolicy", "to_pomdp_py"]
