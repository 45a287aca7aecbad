"""Checks for parts that you write yourself: observation models, problems, policies, solvers and ordering rules.

Each check raises an `AssertionError` whose message says what is wrong.
"""

from seqclass.testing._models import check_observation_model
from seqclass.testing.problems import check_problem
from seqclass.testing.solvers import check_ordering_rule, check_policy, check_solver

__all__ = ["check_observation_model", "check_ordering_rule", "check_policy", "check_problem", "check_solver"]
__dir__ = __all__.copy  # tab completion
