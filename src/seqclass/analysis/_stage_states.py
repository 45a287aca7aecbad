"""Belief states of a stage at any posteriors."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_integer
from seqclass.pomdp import Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, with_component


def _select_component(policy: Policy, lot: int) -> IntArray | None:
    """Lot of one belief, (1,); None where the policy draws none."""
    begun, probability = policy.initial_belief()
    check_integer(lot, "lot", 0, len(probability) - 1)
    return begun.account[np.array([lot])].component


def one_row(policy: Policy, stage: int, context: int, lot: int) -> BeliefState:
    """A belief state of a stage, the groups of earlier features paid for; its belief is the prior."""
    problem = policy.problem
    begun = problem.initial_belief()
    tables = problem.structure.tables
    state = _nothing_seen(problem, stage) if tables is None else tables.state_in(stage, context)
    if begun.account.groups_paid is not None and problem.groups is not None:
        groups = problem.groups[:stage]
        begun.account.groups_paid[:, groups[groups >= 0]] = True
    row = BeliefState(problem, stage, begun.probabilities, state, begun.account)
    return with_component(row, _select_component(policy, lot))


def _nothing_seen(problem: AcquisitionProblem, stage: int) -> Any:
    state = problem.start(1)
    for earlier in range(stage):
        state = problem.advance(earlier, state, np.full(1, -1))
    return state


def n_contexts(problem: AcquisitionProblem, stage: int) -> int:
    """Number of contexts of a stage; 1 where there are no tables."""
    return 1 if problem.structure.tables is None else problem.structure.tables.n_contexts(stage)


def spread(row: BeliefState, belief: FloatArray) -> BeliefState:
    """The same at any posteriors."""
    rows = np.zeros(len(belief), dtype=np.intp)
    return BeliefState(row.problem, row.stage, belief, row.state[rows], row.account[rows])
