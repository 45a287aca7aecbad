"""Acquisition problems, solvers, policies and certificates."""

from __future__ import annotations

from seqclass.pomdp.acquisition import Acquisition, acquire
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors, SharedVectors, backup
from seqclass.pomdp.bounds.certificate import Certificate, certify, grid_lower_bound, sawtooth_lower_bound
from seqclass.pomdp.bounds.dual import LowerBound, clairvoyant_bound, dual_bound
from seqclass.pomdp.bounds.optimum import optimal_cost
from seqclass.pomdp.bridge import PomdpPyModels, PomdpPyPlanner, PomdpPyPolicy, to_pomdp_py
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.evaluation import Evaluation, evaluate
from seqclass.pomdp.files import read_policy, write_pomdp, write_pomdpx
from seqclass.pomdp.hidden import Hidden
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.mixture_problem import MixtureProblem
from seqclass.pomdp.policy import (
    DECIDE,
    FunctionPolicy,
    LookaheadPolicy,
    OrderingCandidate,
    OrderingChoice,
    Policy,
    RepricedPolicy,
    SolveInfo,
    SolveStep,
    scale_prices,
)
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.rules import QuestionRules, Rules
from seqclass.pomdp.solvers.base import Solver, ValueSolver
from seqclass.pomdp.solvers.correlated import BoundedLookaheadPolicy, CorrectedValues, ProjectedValueIteration
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.solvers.exact import ExactValueIteration
from seqclass.pomdp.solvers.exact_free_order import ExactFreeOrder
from seqclass.pomdp.solvers.fitted import FittedValueIteration, FittedValues
from seqclass.pomdp.solvers.grid import GridValueIteration, GridValues
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive, ImprovedRule
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.rules import (
    EC2,
    ClassInformation,
    CrossEntropy,
    ExpectedSaving,
    HiddenInformation,
    LookaheadSaving,
)
from seqclass.pomdp.solvers.ordering.values import RulePolicy, RuleValues
from seqclass.pomdp.solvers.panel_policy import PanelPolicy, PanelValues
from seqclass.pomdp.solvers.panels import FixedPanels, Panels
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.solvers.sequential_tests import FisherInformation, SequentialTest
from seqclass.pomdp.solvers.simple import AcquireAll, DecideNow, FirstK, Lookahead, PosteriorThreshold
from seqclass.pomdp.solvers.thresholds import LinearThresholdPolicy, LinearThresholdSPSA
from seqclass.pomdp.sweeps.budget import RandomisedPolicy, solve_for_budget, within_budget
from seqclass.pomdp.sweeps.exposure import ExposureControl
from seqclass.pomdp.sweeps.frontier import CostFrontier, cost_sweep
from seqclass.pomdp.sweeps.ladder import StopWhenSure
from seqclass.pomdp.sweeps.solving import InterpolatedValues
from seqclass.pomdp.table_problem import TableProblem
from seqclass.pomdp.values import ProjectedValues, StoppingValue, ValueFunction

__all__ = [
    "DECIDE",
    "EC2",
    "AcquireAll",
    "Acquisition",
    "AcquisitionProblem",
    "Adaptive",
    "AlphaSet",
    "AlphaVectors",
    "BoundedLookaheadPolicy",
    "Bundle",
    "Certificate",
    "ClassInformation",
    "CorrectedValues",
    "CostFrontier",
    "CrossEntropy",
    "DecideNow",
    "Evaluation",
    "ExactFreeOrder",
    "ExactValueIteration",
    "ExpectedSaving",
    "ExposureControl",
    "FirstK",
    "FisherInformation",
    "FittedValueIteration",
    "FittedValues",
    "FixedPanels",
    "FunctionPolicy",
    "GivenOrder",
    "GridValueIteration",
    "GridValues",
    "Hidden",
    "HiddenInformation",
    "ImprovedRule",
    "InformationState",
    "InterpolatedValues",
    "LinearThresholdPolicy",
    "LinearThresholdSPSA",
    "Lookahead",
    "LookaheadPolicy",
    "LookaheadSaving",
    "LowerBound",
    "MixtureProblem",
    "OrderingCandidate",
    "OrderingChoice",
    "OrderingRule",
    "PanelPolicy",
    "PanelValues",
    "Panels",
    "Perseus",
    "Policy",
    "PomdpPyModels",
    "PomdpPyPlanner",
    "PomdpPyPolicy",
    "PosteriorThreshold",
    "ProjectedValueIteration",
    "ProjectedValues",
    "QuestionRules",
    "RandomisedPolicy",
    "RepricedPolicy",
    "RulePolicy",
    "RuleValues",
    "Rules",
    "SequentialTest",
    "SharedVectors",
    "SolveInfo",
    "SolveStep",
    "Solver",
    "StopWhenSure",
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


def __dir__() -> list[str]:
    return sorted(__all__)
