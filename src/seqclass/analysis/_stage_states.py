"""Information states of a stage at any beliefs."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_integer
from seqclass.pomdp import Policy
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.problem import AcquisitionProblem


def drawn_lot(policy: Policy, lot: int) -> IntArray | None:
    """Lot of one information state, (1,); None where the policy draws none."""
    begun, probability = policy.begin()
    check_integer(lot, "lot", 0, len(probability) - 1)
    return None if begun.lot is None else begun.lot[[lot]]


def information_at(
    problem: AcquisitionProblem, stage: int, belief: FloatArray, context: int = 0, lot: IntArray | None = None
) -> InformationState:
    """Information state at any beliefs of a stage, the groups of earlier features paid for."""
    row = one_row(problem, stage, context)
    row.lot = lot
    return spread(row, belief)


def one_row(problem: AcquisitionProblem, stage: int, context: int) -> InformationState:
    """Everything but the belief, which is the prior."""
    begun = problem.begin()
    tables = problem.tables
    state = _nothing_seen(problem, stage) if tables is None else tables.state_in(stage, context)
    if begun.paid is not None and problem.groups is not None:
        groups = problem.groups[:stage]
        begun.paid[:, groups[groups >= 0]] = True
    return InformationState(problem, stage, begun.belief, state, begun.paid)


def _nothing_seen(problem: AcquisitionProblem, stage: int) -> Any:
    state = problem.start(1)
    for earlier in range(stage):
        state = problem.advance(earlier, state, np.full(1, -1))
    return state


def n_contexts(problem: AcquisitionProblem, stage: int) -> int:
    """Number of contexts of a stage; 1 where there are no tables."""
    return 1 if problem.tables is None else problem.tables.n_contexts(stage)


def spread(row: InformationState, belief: FloatArray) -> InformationState:
    rows = np.zeros(len(belief), dtype=np.intp)
    paid = None if row.paid is None else row.paid[rows]
    lot = None if row.lot is None else row.lot[rows]
    return InformationState(row.problem, row.stage, belief, row.state[rows], paid, lot)
