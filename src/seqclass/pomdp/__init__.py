"""Acquisition problems, solvers, policies and certificates."""

from __future__ import annotations

from seqclass.costs import Visits
from seqclass.pomdp.acquisition import acquire
from seqclass.pomdp.bounds.certificate import certify
from seqclass.pomdp.bounds.dual import dual_bound
from seqclass.pomdp.bounds.optimum import optimal_cost, optimal_values
from seqclass.pomdp.bridge import PomdpPyPlanner, to_pomdp_py
from seqclass.pomdp.episodes import Episodes, simulate, stepthrough
from seqclass.pomdp.evaluation import evaluate
from seqclass.pomdp.files import read_policy, write_pomdp
from seqclass.pomdp.mixture_problem import MixtureProblem
from seqclass.pomdp.names import with_names
from seqclass.pomdp.policy import DECIDE, FunctionPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.base import Solver, ValueSolver
from seqclass.pomdp.solvers.correlated import ProjectedValueIteration
from seqclass.pomdp.solvers.exact import ExactValueIteration
from seqclass.pomdp.solvers.exact_free_order import ExactFreeOrder
from seqclass.pomdp.solvers.fitted import FittedValueIteration
from seqclass.pomdp.solvers.grid import GridValueIteration
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.rules import (
    EC2,
    ClassInformation,
    CrossEntropy,
    ExpectedSaving,
    HiddenInformation,
    LookaheadSaving,
)
from seqclass.pomdp.solvers.panels import FixedPanels, Panels
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.solvers.priced_tree import PricedTree
from seqclass.pomdp.solvers.simple import FirstK, FunctionSolver, Lookahead, PosteriorThreshold
from seqclass.pomdp.solvers.thresholds import LinearThresholdSPSA
from seqclass.pomdp.sweeps.budget import solve_for_budget
from seqclass.pomdp.sweeps.frontier import cost_sweep
from seqclass.pomdp.table_problem import TableProblem, in_any_order
from seqclass.pomdp.values import StoppingValue, ValueFunction

__all__ = [
    "DECIDE",
    "EC2",
    "AcquisitionProblem",
    "Adaptive",
    "BeliefState",
    "ClassInformation",
    "CrossEntropy",
    "Episodes",
    "ExactFreeOrder",
    "ExactValueIteration",
    "ExpectedSaving",
    "FirstK",
    "FittedValueIteration",
    "FixedPanels",
    "FunctionPolicy",
    "FunctionSolver",
    "GridValueIteration",
    "HiddenInformation",
    "LinearThresholdSPSA",
    "Lookahead",
    "LookaheadSaving",
    "MixtureProblem",
    "OrderingRule",
    "Panels",
    "Perseus",
    "Policy",
    "PomdpPyPlanner",
    "PosteriorThreshold",
    "PricedTree",
    "ProjectedValueIteration",
    "SolveInfo",
    "Solver",
    "StoppingValue",
    "TableProblem",
    "ValueFunction",
    "ValueSolver",
    "Visits",
    "acquire",
    "certify",
    "cost_sweep",
    "dual_bound",
    "evaluate",
    "in_any_order",
    "optimal_cost",
    "optimal_values",
    "read_policy",
    "simulate",
    "solve_for_budget",
    "stepthrough",
    "to_pomdp_py",
    "with_names",
    "write_pomdp",
]
__dir__ = __all__.copy  # tab completion
