"""Beliefs that the model reaches, and values backed up at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.pomdp.alpha.vectors import AlphaSet, AlphaVectors, SharedVectors, backup, cover
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.values import ProjectedValues, StoppingValue, ValueFunction
from seqclass.pomdp.walk import Fork, Level, walk


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


__all__ = ["ALWAYS", "Points", "merged", "point_based", "quick_values", "sample_beliefs", "sample_states", "select"]

#: Beliefs closer than this, reached by different histories, are the same but for rounding.
_SAME_BELIEF = 1e-12
#: So many stages get their states, however few cases come to them: a policy that is yet to be improved may stop early.
ALWAYS = 16
#: Contexts a stage of the projection of a problem without tables, for `quick_values`.
_QUICK_CONTEXTS = 32


class Points(NamedTuple):
    """Beliefs of one stage at which values are backed up.

    Attributes
    ----------
    belief : ndarray of shape (n, n_classes)
        The beliefs.
    context : ndarray of int of shape (n,)
        Context of each; 0 where contexts are shared.
    likelihood : ndarray of shape (n, n_outcomes, n_classes) or None
        What each may see next, where contexts are shared.

    Examples
    --------
    >>> import numpy as np
    >>> Points(np.array([[0.5, 0.5]]), np.array([0])).belief
    array([[0.5, 0.5]])
    """

    belief: FloatArray
    context: IntArray
    likelihood: FloatArray | None = None


def sample_beliefs(
    problem: AcquisitionProblem,
    n_stages: int,
    n_beliefs: int,
    rng: np.random.Generator,
    policy: Policy | None = None,
    *,
    share_contexts: bool = False,
) -> list[Points]:
    """Beliefs of each stage that the model reaches and where there is something to decide.

    Histories are followed breadth first, those that lead to the same belief as one; where they are more than
    ``n_beliefs`` some are chosen in proportion to the square root of their probability, without repetition.
    Beliefs at which stopping is optimal for certain are left out.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables, or any if contexts are shared.
    n_stages : int
        Number of stages.
    n_beliefs : int
        Most beliefs a stage.
    rng : numpy.random.Generator
        Source of randomness.
    policy : Policy, optional
        Follow only histories on which this policy goes on; by default all are followed.
    share_contexts : bool
        Take down what each belief may see next in place of its context.

    Returns
    -------
    list of Points
        One entry a stage.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.01)
    >>> [len(p.belief) for p in sample_beliefs(problem, 2, 10, np.random.default_rng(0))]
    [1, 2]
    """
    points: list[Points] = []
    for info in sample_states(problem, n_stages, n_beliefs, rng, policy, share_contexts=share_contexts):
        context = np.zeros(len(info), dtype=np.intp) if share_contexts or info.context is None else info.context
        likelihood = info.likelihood if len(info) else np.empty((0, 1, problem.n_classes))
        points.append(Points(info.belief, context, likelihood if share_contexts else None))
    return points


def sample_states(
    problem: AcquisitionProblem,
    n_stages: int,
    n_beliefs: int,
    rng: np.random.Generator,
    policy: Policy | None = None,
    *,
    share_contexts: bool = False,
    merge: bool = True,
    least_reach: float = 0.0,
) -> Iterator[InformationState]:
    """Information states of each stage behind the beliefs of `sample_beliefs`.

    Parameters
    ----------
    problem, n_stages, n_beliefs, rng, policy, share_contexts
        See `sample_beliefs`.
    merge : bool
        Whether histories of the same belief and context count as one.
    least_reach : float
        Give no states from the stage on that a smaller share of the cases comes to with something to decide, but of
        the first 16 stages in any case.

    Yields
    ------
    InformationState
        One a stage; where none is left, empty ones of the last stage that had some.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.01)
    >>> [info.stage for info in sample_states(problem, 2, 10, np.random.default_rng(0))]
    [0, 1]
    """
    found: list[InformationState] = []
    reach = 1.0

    def ask(level: Level) -> Fork:
        nonlocal reach
        info, weight = level.info, level.weight
        open_: IntArray = np.flatnonzero(~info.settled)
        if merge:
            open_, weight = _distinct(info, weight, open_, rng, share_contexts)
        else:
            weight = weight[open_]
        reach *= float(weight.sum())
        if reach < least_reach and info.stage >= ALWAYS:
            open_, weight = open_[:0], weight[:0]
        # the square root: rare beliefs are many, and the bounds suffer where the values have seen none of them
        chosen, root = select(np.sqrt(weight), n_beliefs, rng)
        weight = root**2 / max((root**2).sum(), np.finfo(float).tiny)
        rows = open_[chosen]
        found.append(info[rows])
        if info.stage + 1 == n_stages:
            rows = rows[:0]
        elif policy is not None and rows.size:
            on = policy.act(found[-1]) != DECIDE
            rows, weight = rows[on], weight[on]
        return Fork(rows, np.full(rows.size, info.stage), weight[: rows.size])

    for _ in walk(problem.begin(), np.ones(1), ask) if n_stages else ():
        yield found[-1]
    nothing = np.empty(0, dtype=np.intp)
    for _ in range(len(found), n_stages):
        if merge:  # what is drawn later does not depend on when histories ran out
            _distinct(found[-1][nothing], np.empty(0), nothing, rng, share_contexts)
        yield found[-1][nothing]


def _distinct(
    info: InformationState, weight: FloatArray, rows: IntArray, rng: np.random.Generator, share_contexts: bool
) -> tuple[IntArray, FloatArray]:
    """Of the given rows one for each belief and context, similar ones side by side, and their weights added up."""
    belief, context = info.belief[rows], info.context
    place = np.zeros(len(rows)) if context is None else context[rows]
    if share_contexts and len(rows):
        ahead = info[rows].likelihood.reshape(len(rows), -1)
        place = np.round(ahead @ rng.random(ahead.shape[1]), 10)
    # equal beliefs have equal projections on any direction, up to rounding
    order = np.lexsort((np.round(belief @ rng.random(belief.shape[1]), 10), place))
    rows, belief, place, weight = rows[order], belief[order], place[order], weight[rows[order]]
    same = (np.diff(place) == 0) & (np.abs(np.diff(belief, axis=0)).max(axis=1, initial=0.0) < _SAME_BELIEF)
    number = np.cumsum(np.append(True, ~same)[: len(rows)]) - 1
    first = np.flatnonzero(np.diff(number, prepend=-1))
    return rows[first], np.asarray(np.bincount(number, weights=weight), dtype=np.float64)


def point_based(
    problem: AcquisitionProblem,
    points: list[Points],
    terminal: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> AlphaVectors:
    """Back up each stage's beliefs from the last stage to the first.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables, or any if the points bring their likelihoods.
    points : list of Points
        Beliefs of each stage.
    terminal : ndarray of shape (m, n_classes)
        Vectors whose lower envelope is the cost after the last stage.
    tolerance : float
        See `cover`.
    rng : numpy.random.Generator
        Order of the visits.

    Returns
    -------
    AlphaVectors
        `SharedVectors` if the points bring their likelihoods.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> points = [Points(np.array([[0.5, 0.5]]), np.array([0]))]
    >>> values = point_based(problem, points, problem.decision_costs.T, 0.0, np.random.default_rng(0))
    >>> values.sets[0].vectors.round(3)
    array([[0.2, 0.3]])
    """
    stopping, tables = problem.decision_costs.T, problem.tables
    following = AlphaSet(np.empty((0, problem.n_classes)), everywhere=terminal)
    sets: list[AlphaSet] = []
    for stage in reversed(range(len(points))):
        belief, context, likelihood = points[stage]
        n_contexts, successors = 1, None
        if likelihood is None:
            assert tables is not None  # or else the points bring their likelihoods
            n_contexts = tables.n_contexts(stage)
            likelihood, successors = tables.likelihood(stage, context), tables.successors(stage, context)
        vectors, values = backup(belief, likelihood, following, problem.planned_prices[stage], successors)
        kept = _keep(belief, context if n_contexts > 1 else None, vectors, values, tolerance, rng)
        pointer = None
        if n_contexts > 1:
            kept = kept[np.argsort(context[kept], kind="stable")]
            pointer = np.searchsorted(context[kept], np.arange(n_contexts + 1))
        sets.append(AlphaSet(vectors[kept], pointer))
        following = AlphaSet(vectors[kept], pointer, everywhere=stopping)
    shared = any(p.likelihood is not None for p in points)
    return (SharedVectors if shared else AlphaVectors)(problem, sets[::-1])


def _keep(
    belief: FloatArray,
    context: IntArray | None,
    vectors: FloatArray,
    values: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> IntArray:
    order = rng.permutation(len(belief))
    if context is None:
        return cover(belief, vectors, values, tolerance, order)
    kept = [np.empty(0, dtype=np.intp)]
    for number in np.unique(context):
        rows = np.flatnonzero(context == number)
        visits = np.argsort(np.argsort(order[rows]))
        kept.append(rows[cover(belief[rows], vectors[rows], values[rows], tolerance, visits)])
    return np.concatenate(kept)


def quick_values(
    problem: AcquisitionProblem, n_beliefs: int, rng: np.random.Generator, max_stages: int = 512
) -> ValueFunction:
    """Values good enough for a lower bound: two rounds of few beliefs, a second for some tens of stages.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem; where it has no tables its projection is solved, and where it has none the values are those of
        stopping.
    n_beliefs : int
        Most beliefs a stage.
    rng : numpy.random.Generator
        Source of randomness.
    max_stages : int
        Longest horizon.

    Returns
    -------
    ValueFunction

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> quick_values(problem, 10, np.random.default_rng(0)).value(0, problem.prior[None])
    array([0.25])
    """
    if problem.tables is None:
        projection = problem.projection(_QUICK_CONTEXTS)
        if projection is None:
            return StoppingValue(problem)
        return ProjectedValues(problem, projection, quick_values(projection, n_beliefs, rng, max_stages))
    n_stages = min(problem.n_stages, max_stages)
    stopping = problem.decision_costs.T
    points = sample_beliefs(problem, n_stages, n_beliefs, rng)
    values = point_based(problem, points, stopping, 0.0, rng)
    again = sample_beliefs(problem, n_stages, n_beliefs, rng, LookaheadPolicy(values))
    return point_based(problem, merged(points, again), stopping, 0.0, rng)


def merged(first: list[Points], second: list[Points]) -> list[Points]:
    """Beliefs of both lists, stage by stage, those that are in both once.

    Examples
    --------
    >>> import numpy as np
    >>> points = [Points(np.array([[0.5, 0.5]]), np.array([0]))]
    >>> merged(points, points)[0].belief
    array([[0.5, 0.5]])
    """
    result = []
    for a, b in zip(first, second):
        belief = np.concatenate([a.belief, b.belief])
        context = np.concatenate([a.context, b.context])
        key = np.column_stack([np.round(belief, 11), context])
        likelihood = None
        if a.likelihood is not None and b.likelihood is not None:
            both = [part for part in (a.likelihood, b.likelihood) if len(part)]
            likelihood = np.concatenate(both) if both else a.likelihood
            key = np.column_stack([key, np.round(likelihood.reshape(len(belief), -1), 11)])
        kept = np.sort(np.unique(key, axis=0, return_index=True)[1])
        if likelihood is not None:
            likelihood = likelihood[kept]
        result.append(Points(belief[kept], context[kept], likelihood))
    return result
