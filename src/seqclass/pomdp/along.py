"""Walks along policies: enumerated, sampled, or whatever is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.progress import TimeUp, left, look, within
from seqclass.pomdp.answers import Answers, SampledAnswers, TooLarge
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.walk import ALL, Level, walk

R = TypeVar("R")
#: Share of the time that is left which an enumeration may take before paths are sampled.
_ENUMERATING = 0.25


def everything(level: Level) -> IntArray:
    """Ask every question, the open one of lowest number first, whatever was seen: for `walk`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> len(list(walk(problem.begin(), np.ones(1), everything)))
    2
    """
    return first_open(level.info)


def first_open(info: InformationState) -> IntArray:
    """Open question of lowest number of each row, -1 where none is.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> first_open(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1).begin())
    array([0])
    """
    problem = info.problem
    if not problem.free:
        return np.full(len(info), info.stage if info.stage < problem.n_stages else DECIDE)
    return np.where(info.open.any(axis=1), info.open.argmax(axis=1), DECIDE)


def begin(
    problem: AcquisitionProblem, policy: Policy, total: float, answers: Answers = ALL
) -> tuple[InformationState, FloatArray]:
    """First histories of a walk along a policy, one for each lot it draws, and their weights.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem to walk through.
    policy : Policy
        The policy.
    total : float
        Sum of the weights: 1, or the number of paths.
    answers : Answers
        Where answers come from.

    Returns
    -------
    info : InformationState
    weight : ndarray of shape (n_lots,)

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import LookaheadPolicy, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> begin(problem, LookaheadPolicy(StoppingValue(problem)), 100.0)[1]
    array([100.])
    """
    _check_same_questions(problem, policy)
    info, probability = policy.begin()
    weight = answers.spread(total, probability)
    drawn = np.flatnonzero(weight)
    first = problem.begin(len(info))
    first.lot = info.lot
    return first[drawn], weight[drawn]


def _check_same_questions(problem: AcquisitionProblem, policy: Policy) -> None:
    """Refuse a policy whose questions stand for other features than the problem's."""
    other = policy.problem
    if other is problem:
        return
    n = min(problem.n_questions, other.n_questions)
    differs = np.flatnonzero(problem.features[:n] != other.features[:n])
    if differs.size:
        first = int(differs[0])
        raise ValueError(
            f"the policy's question {first} asks for feature {int(other.features[first])}, where this problem's asks "
            f"for feature {int(problem.features[first])}: it was made for another order."
        )


def along(
    problem: AcquisitionProblem,
    policy: Policy,
    total: float,
    answers: Answers = ALL,
    max_histories: float = np.inf,
) -> Iterator[Level]:
    """Walk along a policy, a stage at a time, until it has stopped everywhere.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem to walk through.
    policy : Policy
        The policy.
    total : float
        Sum of the weights: 1, or the number of paths.
    answers : Answers
        Where answers come from.
    max_histories : float
        Most histories to visit.

    Yields
    ------
    Level

    Raises
    ------
    TooLarge
        If there are more histories.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> [level.weight.tolist() for level in along(problem, GridValueIteration().solve(problem), 1.0)]
    [[1.0], [0.55, 0.45]]
    """
    info, weight = begin(problem, policy, total, answers)
    return walk(info, weight, lambda level: policy.act(level.info), answers, max_histories)


def enumerated_or_sampled(
    run: Callable[[Answers, float], R], method: str, max_histories: float, random_state: Any
) -> R:
    """Enumerate, or sample where ``method`` says so or there are too many histories for ``"auto"``.

    Parameters
    ----------
    run : callable
        Called with the source of answers and the most histories it may visit.
    method : {"auto", "exact", "simulation"}
        What to do.
    max_histories : float
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the sampling.

    Returns
    -------
    object
        What ``run`` returns.

    Raises
    ------
    TooLarge
        If there are more histories and ``method`` is ``"exact"``.

    Examples
    --------
    >>> enumerated_or_sampled(lambda answers, most: type(answers).__name__, "auto", 10, 0)
    'AllAnswers'
    """
    if method != "simulation":
        try:
            with within(left() * (1.0 if method == "exact" else _ENUMERATING)):
                return run(ALL, max_histories)
        except (TooLarge, TimeUp):
            if method == "exact":
                raise
            look()
    return run(SampledAnswers(as_generator(random_state)), np.inf)
