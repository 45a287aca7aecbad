"""What a policy asks where it does not see the histories as they are, or may not stop before a budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import InformationState
from seqclass.pomdp.solvers.ordering.information import ClassInformation
from seqclass.pomdp.walk import Level

__all__: list[str] = []


#: Rows of a level, and what a policy sees there: parts of one stage each.
View = Callable[[Level], Sequence[tuple[IntArray, InformationState]]]


def as_it_is(level: Level) -> Sequence[tuple[IntArray, InformationState]]:
    """All of a level, as the walk has it."""
    return [(np.arange(len(level.info)), level.info)]


def asking(policy: Policy, see: View = as_it_is, budget: int | None = None) -> Callable[[Level], IntArray]:
    """What each history asks next, for `acquire`."""

    def ask(level: Level) -> IntArray:
        question = np.full(len(level.info), DECIDE)
        if budget is None or level.stage < budget:
            for rows, info in see(level):
                question[rows] = policy.act(info) if budget is None else next_question(policy, info)
        return question

    return ask


def next_question(policy: Policy, info: InformationState) -> IntArray:
    """Question that a policy would ask if it had to go on, (n,); -1 where none is open."""
    problem = policy.problem
    if info.stage >= problem.n_stages:
        return np.full(len(info), DECIDE)
    if not problem.free:
        return np.full(len(info), info.stage)
    question = np.array(policy.following(info))
    untold = np.flatnonzero(question == DECIDE)
    if untold.size:
        question[untold] = ClassInformation().next(info[untold])
    return question
