"""Acquisition problems, solvers, policies and certificates."""

from __future__ import annotations

from seqclass.pomdp.alpha import AlphaSet, AlphaVectors, SharedVectors, backup
from seqclass.pomdp.baselines import AcquireAll, DecideNow, FirstK, Lookahead, PosteriorThreshold
from seqclass.pomdp.blended import BlendedValues
from seqclass.pomdp.bounds import grid_lower_bound, sawtooth_lower_bound
from seqclass.pomdp.bridge import PomdpPyModels, PomdpPyPlanner, PomdpPyPolicy, to_pomdp_py
from seqclass.pomdp.budget import solve_for_budget, within_budget
from seqclass.pomdp.certificate import Certificate, certify, optimal_cost
from seqclass.pomdp.defaults import default_solver
from seqclass.pomdp.dual import LowerBound, clairvoyant_bound, dual_bound
from seqclass.pomdp.evaluation import Evaluation, evaluate
from seqclass.pomdp.exact import ExactValueIteration
from seqclass.pomdp.execution import Acquisition, acquire
from seqclass.pomdp.files import read_policy, write_pomdp, write_pomdpx
from seqclass.pomdp.frontier import CostFrontier, cost_sweep
from seqclass.pomdp.grid import GridValueIteration, GridValues
from seqclass.pomdp.perseus import Perseus
from seqclass.pomdp.policy import DECIDE, FunctionPolicy, LookaheadPolicy, Policy, SolveInfo, SolveStep
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.pruned import PrunedLookaheadPolicy
from seqclass.pomdp.randomised import RandomisedPolicy, RepricedPolicy, scale_prices
from seqclass.pomdp.regression import CorrectedValues
from seqclass.pomdp.solver import Solver, ValueSolver
from seqclass.pomdp.spsa import LinearThresholdSPSA
from seqclass.pomdp.steered import Steered
from seqclass.pomdp.tables import TableProblem
from seqclass.pomdp.thresholds import LinearThresholdPolicy
from seqclass.pomdp.values import SteeringValues, StoppingValue, ValueFunction

__all__ = [
    "DECIDE",
    "AcquireAll",
    "Acquisition",
    "AcquisitionProblem",
    "AlphaSet",
    "AlphaVectors",
    "BlendedValues",
    "Certificate",
    "CorrectedValues",
    "CostFrontier",
    "DecideNow",
    "Evaluation",
    "ExactValueIteration",
    "FirstK",
    "FunctionPolicy",
    "GridValueIteration",
    "GridValues",
    "InformationState",
    "LinearThresholdPolicy",
    "LinearThresholdSPSA",
    "Lookahead",
    "LookaheadPolicy",
    "LowerBound",
    "Perseus",
    "Policy",
    "PomdpPyModels",
    "PomdpPyPlanner",
    "PomdpPyPolicy",
    "PosteriorThreshold",
    "PrunedLookaheadPolicy",
    "RandomisedPolicy",
    "RepricedPolicy",
    "SharedVectors",
    "SolveInfo",
    "SolveStep",
    "Solver",
    "Steered",
    "SteeringValues",
    "StoppingValue",
    "TableProblem",
    "ValueFunction",
    "ValueSolver",
    "acquire",
    "backup",
    "certify",
    "clairvoyant_bound",
    "cost_sweep",
    "default_solver",
    "dual_bound",
    "evaluate",
    "grid_lower_bound",
    "optimal_cost",
    "read_policy",
    "sawtooth_lower_bound",
    "scale_prices",
    "solve_for_budget",
    "to_pomdp_py",
    "within_budget",
    "write_pomdp",
    "write_pomdpx",
]
