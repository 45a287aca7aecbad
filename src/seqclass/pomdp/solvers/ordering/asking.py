"""What a policy asks where it does not see the histories as they are, or may not stop before a budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import InformationState
from seqclass.pomdp.solvers.ordering.information import ClassInformation
from seqclass.pomdp.walk import Level

#: Rows of a level, and what a policy sees there: parts of one stage each.
View = Callable[[Level], Sequence[tuple[IntArray, InformationState]]]


def as_it_is(level: Level) -> Sequence[tuple[IntArray, InformationState]]:
    """All of a level, as the walk has it.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> from seqclass.pomdp.walk import walk
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> ask = lambda level: np.full(len(level.info), -1)
    >>> [len(as_it_is(level)) for level in walk(problem.begin(), np.ones(1), ask)]
    [1]
    """
    return [(np.arange(len(level.info)), level.info)]


def asking(policy: Policy, see: View = as_it_is, budget: int | None = None) -> Callable[[Level], IntArray]:
    """What each history asks next, for `acquire`.

    Parameters
    ----------
    policy : Policy
        The policy.
    see : callable
        What it sees of a level.
    budget : int, optional
        So many questions are asked of each history, as long as any is open, whether or not the policy would stop: its
        own as far as it goes on, see `next_question`. By default the policy says when.

    Returns
    -------
    callable
        From a `Level` of a walk to the question of each row, -1 where it decides.

    Examples
    --------
    >>> from seqclass.pomdp import DecideNow, TableProblem, acquire
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.1)
    >>> policy = DecideNow().solve(problem)
    >>> acquire(policy, np.array([[0, 0, 1]]), ask=asking(policy, budget=2)).leaf_outcome
    array([[0, 0]], dtype=int32)
    """

    def ask(level: Level) -> IntArray:
        question = np.full(len(level.info), DECIDE)
        if budget is None or level.stage < budget:
            for rows, info in see(level):
                question[rows] = policy.act(info) if budget is None else next_question(policy, info)
        return question

    return ask


def next_question(policy: Policy, info: InformationState) -> IntArray:
    """Question that a policy would ask if it had to go on, (n,); -1 where none is open.

    It is the policy's own, `Policy.following`. Where a policy of any order does not tell, because it would stop there
    and has no rule, it is the one that tells most about the class per price (`ClassInformation`).

    Parameters
    ----------
    policy : Policy
        The policy.
    info : InformationState
        What is known of ``n`` instances.

    Returns
    -------
    ndarray of int of shape (n,)

    Examples
    --------
    >>> from seqclass.pomdp import DecideNow, TableProblem
    >>> likelihoods = np.array([[[0.6, 0.5], [0.4, 0.5]], [[0.9, 0.2], [0.1, 0.8]]])
    >>> problem = TableProblem([0.5, 0.5], likelihoods, prices=0.1, free=True)
    >>> next_question(DecideNow().solve(problem), problem.begin())
    array([1])
    """
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
