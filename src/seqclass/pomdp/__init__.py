"""Acquisition problems, solvers, policies and certificates."""

from __future__ import annotations

from seqclass.pomdp.alpha import AlphaSet, AlphaVectors, backup
from seqclass.pomdp.certificate import Certificate, certify, optimal_cost
from seqclass.pomdp.evaluation import Evaluation, evaluate
from seqclass.pomdp.execution import Acquisition, acquire
from seqclass.pomdp.grid import GridValueIteration, GridValues
from seqclass.pomdp.perseus import Perseus
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.solver import Solver
from seqclass.pomdp.tables import TableProblem
from seqclass.pomdp.values import StoppingValue, ValueFunction

__all__ = [
    "DECIDE",
    "Acquisition",
    "AcquisitionProblem",
    "AlphaSet",
    "AlphaVectors",
    "Certificate",
    "Evaluation",
    "GridValueIteration",
    "GridValues",
    "InformationState",
    "LookaheadPolicy",
    "Perseus",
    "Policy",
    "SolveInfo",
    "Solver",
    "StoppingValue",
    "TableProblem",
    "ValueFunction",
    "acquire",
    "backup",
    "certify",
    "evaluate",
    "optimal_cost",
]
