"""Walking through histories: the one loop behind enumeration, simulation and sampling.

Instances that share a history share everything the problem knows of them, so a walk carries each distinct history
once, with a weight: its probability (enumeration) or the number of sampled paths that run through it (simulation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState

R = TypeVar("R")


class TooLarge(ValueError):
    """More histories than the walk may visit.

    Examples
    --------
    >>> raise TooLarge(100)
    Traceback (most recent call last):
    ...
    seqclass.pomdp.walk.TooLarge: more than max_histories=100 histories; raise it or use method='simulation'.
    """

    def __init__(self, max_histories: float) -> None:
        super().__init__(f"more than max_histories={max_histories} histories; raise it or use method='simulation'.")


class Branches(NamedTuple):
    """Outcomes that a set of histories branches into.

    Attributes
    ----------
    parent : ndarray of int of shape (m,)
        Row of the history that each branch leaves.
    outcome : ndarray of int of shape (m,)
        Outcome it sees.
    weight : ndarray of shape (m,)
        Its probability or number of paths.

    Examples
    --------
    >>> import numpy as np
    >>> Branches(np.array([0, 0]), np.array([0, 1]), np.array([0.55, 0.45])).outcome
    array([0, 1])
    """

    parent: IntArray
    outcome: IntArray
    weight: FloatArray


def begin(
    problem: AcquisitionProblem, policy: Policy, total: float, rng: np.random.Generator | None = None
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
    rng : numpy.random.Generator, optional
        Given: the paths are spread over the lots at random, whole ones.

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
    info, probability = policy.begin()
    weight = total * probability if rng is None else rng.multinomial(int(total), probability).astype(np.float64)
    drawn = np.flatnonzero(weight)
    first = problem.begin(len(info))
    first.lot = info.lot
    return first[drawn], weight[drawn]


def branch(info: InformationState, weight: FloatArray, rng: np.random.Generator | None = None) -> Branches:
    """Branches of each history on its next feature.

    Parameters
    ----------
    info : InformationState
        The histories, one a row.
    weight : ndarray of shape (n,)
        Probability of each history, or the number of paths through it.
    rng : numpy.random.Generator, optional
        Given: the paths of each history are spread over the outcomes at random. Left out: every outcome of
        positive probability is followed, with its exact share of the weight.

    Returns
    -------
    Branches

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> branch(problem.begin(), np.ones(1)).weight
    array([0.55, 0.45])
    """
    predictive = info.predictive
    if rng is None:
        share = weight[:, None] * predictive
    else:
        share = rng.multinomial(weight.astype(np.int64), _normalised(predictive)).astype(np.float64)
        # rounding in the sampler must not send a path where the model never goes
        share[predictive <= 0] = 0
    parent, outcome = np.nonzero(share)
    return Branches(parent, outcome, share[parent, outcome])


def _normalised(predictive: FloatArray) -> FloatArray:
    return np.asarray(predictive / predictive.sum(axis=1, keepdims=True))


def select(weight: FloatArray, n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Choose at most ``n`` of the weighted items without repetition, in proportion to weight; heavy ones always stay.

    The chosen ones stand for those left out: each light one gets the same new weight, so that the expected weight of
    every item is its own. Neighbours are rarely chosen together, so that similar items are best put side by side.

    Parameters
    ----------
    weight : ndarray of shape (m,)
        Positive weights.
    n : int
        Largest number of items to keep.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    chosen : ndarray of int of shape (at most n,)
        The items kept, in increasing order.
    weight : ndarray of the same shape
        Their new weights.

    References
    ----------
    .. [1] P. Fearnhead and P. Clifford, "On-line inference for hidden Markov models via particle filters",
       JRSS B 65, 2003 (optimal resampling for discrete states).

    Examples
    --------
    >>> import numpy as np
    >>> chosen, weight = select(np.array([0.5, 0.1, 0.1]), 2, np.random.default_rng(0))
    >>> chosen.size, weight
    (2, array([0.5, 0.2]))
    """
    if weight.size <= n:
        return np.arange(weight.size), weight
    ascending = np.sort(weight)
    light_sum = np.cumsum(ascending)
    n_heavy = weight.size - 1 - np.arange(weight.size)
    # threshold c with sum(min(1, w / c)) = n: the lightest items share what the heavy ones leave of n
    room = np.maximum(n - n_heavy, 0)
    with np.errstate(divide="ignore"):
        threshold = np.where(room > 0, light_sum / room, np.inf)
    fits = np.flatnonzero(threshold >= ascending)
    c = threshold[fits[-1]]
    keep = weight > c
    light = np.flatnonzero(~keep)
    ticks = np.floor(np.cumsum(weight[light]) / c + rng.random())
    keep[light[np.diff(ticks, prepend=0.0) > 0]] = True
    chosen = np.flatnonzero(keep)
    return chosen, np.maximum(weight[chosen], c)


@dataclass(frozen=True)
class Level:
    """All distinct histories of one stage of a walk along a policy.

    Attributes
    ----------
    info : InformationState
        What is known, a row a history.
    weight : ndarray of shape (n,)
        Probability of each, or its number of paths.
    paid : ndarray of shape (n,)
        Prices paid on the way.
    go_on : ndarray of bool of shape (n,)
        Where the policy goes on.
    visited : int
        Distinct histories visited so far.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> Level(problem.begin(), np.ones(1), np.zeros(1), np.array([True]), 1).stage
    0
    """

    info: InformationState
    weight: FloatArray
    paid: FloatArray
    go_on: BoolArray
    visited: int

    @property
    def stage(self) -> int:
        """Number of features asked so far."""
        return self.info.stage


def levels(
    problem: AcquisitionProblem,
    policy: Policy,
    total: float,
    rng: np.random.Generator | None = None,
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
    rng : numpy.random.Generator, optional
        Given: paths are sampled; else every history is followed.
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
    >>> [level.weight.tolist() for level in levels(problem, GridValueIteration().solve(problem), 1.0)]
    [[1.0], [0.55, 0.45]]
    """
    info, weight = begin(problem, policy, total, rng)
    paid, visited = np.zeros(len(info)), 1
    while len(info):
        feature = policy.act(info)
        go_on = feature != DECIDE
        check_feature(problem, info.stage, feature[go_on])
        yield Level(info, weight, paid, go_on, visited)
        on = np.flatnonzero(go_on)
        if not on.size:
            return
        info, weight = info[on], weight[on]
        parent, outcome, share = branch(info, weight, rng)
        visited += parent.size
        if visited > max_histories:
            raise TooLarge(max_histories)
        paid = (paid[on] + info.price)[parent]
        info, weight = info.update(outcome, parent), share


def enumerated_or_sampled(
    walk: Callable[[np.random.Generator | None, float], R], method: str, max_histories: float, random_state: Any
) -> R:
    """Enumerate, or sample where ``method`` says so or there are too many histories for ``"auto"``.

    Parameters
    ----------
    walk : callable
        Called with the source of randomness, None to enumerate, and the most histories it may visit.
    method : {"auto", "exact", "simulation"}
        What to do.
    max_histories : float
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the sampling.

    Returns
    -------
    object
        What ``walk`` returns.

    Raises
    ------
    TooLarge
        If there are more histories and ``method`` is ``"exact"``.

    Examples
    --------
    >>> enumerated_or_sampled(lambda rng, most: "exact" if rng is None else "sampled", "auto", 10, 0)
    'exact'
    """
    if method != "simulation":
        try:
            return walk(None, max_histories)
        except TooLarge:
            if method == "exact":
                raise
    return walk(as_generator(random_state), np.inf)


def check_feature(problem: AcquisitionProblem, stage: int, feature: IntArray) -> None:
    """Refuse a policy that asks for another feature than the stage's.

    Raises
    ------
    ValueError
        If it does.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> check_feature(problem, 0, np.array([0]))
    """
    if not feature.size:
        return
    if stage >= problem.n_stages:
        raise ValueError(f"the policy asks for feature {int(feature[0])} after the last stage of the problem.")
    expected = int(problem.features[stage])
    other = feature[feature != expected]
    if other.size:
        raise ValueError(
            f"the policy asks for feature {int(other[0])} at stage {stage}, where this problem's order has feature "
            f"{expected}."
        )
