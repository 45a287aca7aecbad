"""Lower bounds on the optimal cost that no sampling makes uncertain, for few classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._utils.validation import check_integer
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.alpha.points import Points, sample_beliefs
from seqclass.pomdp.needs import needed_tables
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.tables import Tables

#: Steps along an edge by number of classes.
_RESOLUTION = {1: 1, 2: 2000, 3: 200}
#: Beliefs are compared with points in pieces of this size.
_PIECE_BYTES = 2**22
#: A function of unnormalised beliefs and their contexts.
_Function = Callable[[FloatArray, IntArray], FloatArray]


def grid_lower_bound(
    problem: AcquisitionProblem, resolution: int | None = None, *, n_stages: int | None = None
) -> float:
    """Lower bound by dynamic programming on a grid, for up to three classes.

    The cost of going on is concave in the belief, so that interpolating it between lower bounds at the points of the
    Freudenthal triangulation gives a lower bound everywhere.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables.
    resolution : int, optional
        Steps along an edge of the simplex: 2000 for two classes and 200 for three.
    n_stages : int, optional
        Cut the horizon here; what lies beyond is bounded by one more price and perfect knowledge.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the problem has no tables or more than three classes.

    References
    ----------
    .. [1] W. S. Lovejoy, "Computationally feasible bounds for partially observed Markov decision processes",
       Operations Research 39, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, grid_lower_bound
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(grid_lower_bound(problem), 3)
    0.25
    """
    tables = needed_tables(problem, "grid_lower_bound", "dual_bound")
    if problem.n_classes > 3:
        raise ValueError(
            f"grid_lower_bound serves up to 3 classes, and this problem has {problem.n_classes}; use dual_bound."
        )
    steps = _RESOLUTION[problem.n_classes] if resolution is None else check_integer(resolution, "resolution", 1)
    grid = SimplexGrid(problem.n_classes, steps)
    n_points = len(grid.points)

    def points(stage: int) -> Points:
        n_contexts = tables.n_contexts(stage)
        return Points(np.tile(grid.points, (n_contexts, 1)), np.repeat(np.arange(n_contexts), n_points))

    def interpolation(points: Points, values: FloatArray, price: float) -> _Function:
        return lambda belief, context: grid.read(values, belief, "freudenthal", context)

    return _backward(problem, tables, _horizon(problem, n_stages), points, interpolation)


def sawtooth_lower_bound(
    problem: AcquisitionProblem,
    n_points: int = 1000,
    *,
    n_stages: int | None = None,
    random_state: Any = 0,
) -> float:
    """Lower bound by dynamic programming on beliefs that the model reaches.

    A belief is a mixture of the simplex's corners, where the class is known, and any one point; the cost of going on is
    concave, so that the mixture of the costs at these is a lower bound, and the best point gives the bound. Certain for
    any number of classes and any points; good for two or three classes, weak beyond.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables.
    n_points : int
        Most points a stage.
    n_stages : int, optional
        Cut the horizon here; what lies beyond is bounded by one more price and perfect knowledge.
    random_state : int, generator or None
        Seed of the points.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the problem has no tables.

    References
    ----------
    .. [1] M. Hauskrecht, "Value-function approximations for partially observable Markov decision processes",
       JAIR 13, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, sawtooth_lower_bound
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(sawtooth_lower_bound(problem), 3)
    0.25
    """
    tables = needed_tables(problem, "sawtooth_lower_bound", "dual_bound")
    check_integer(n_points, "n_points", 1)
    horizon = _horizon(problem, n_stages)
    sampled = sample_beliefs(problem, horizon, n_points, as_generator(random_state))

    def interpolation(points: Points, values: FloatArray, price: float) -> _Function:
        corner = price + problem.perfect_cost
        return lambda belief, context: _sawtooth(belief, context, points, values, corner)

    return _backward(problem, tables, horizon, lambda stage: sampled[stage], interpolation)


def _horizon(problem: AcquisitionProblem, n_stages: int | None) -> int:
    return problem.n_stages if n_stages is None else min(check_integer(n_stages, "n_stages", 0), problem.n_stages)


def _backward(
    problem: AcquisitionProblem,
    tables: Tables,
    horizon: int,
    points: Callable[[int], Points],
    interpolation: Callable[[Points, FloatArray, float], _Function],
) -> float:
    """Back up lower bounds of the cost of going on at each stage's points; return the bound at the prior."""
    going_on: _Function | None = None
    if horizon < problem.n_stages:
        rest = problem.rest(horizon)
        going_on = lambda belief, context: np.asarray(belief @ rest)  # noqa: E731

    def value(belief: FloatArray, context: IntArray) -> FloatArray:
        stop = problem.stopping_cost(belief)
        return stop if going_on is None else np.minimum(stop, going_on(belief, context))

    for stage in reversed(range(1, horizon)):
        at, price = points(stage), float(problem.planned_prices[stage])
        going_on = interpolation(at, price + _expected(problem, tables, stage, at, value), price)
    info = problem.begin()
    at = Points(info.belief, tables.contexts(0, info.state))
    if not horizon:
        return float(value(at.belief, at.context)[0])
    # at the prior nothing has to be interpolated
    return float(min(info.stopping_cost[0], problem.planned_prices[0] + _expected(problem, tables, 0, at, value)[0]))


def _expected(problem: AcquisitionProblem, tables: Tables, stage: int, at: Points, value: _Function) -> FloatArray:
    """Sum over outcomes of the values of the unnormalised successors, (n,)."""
    total = np.zeros(len(at.belief))
    for part in chunks(len(total), 8.0 * 12 * problem.n_classes * float(problem.n_outcomes[stage])):
        context = at.context[part]
        likelihood, successors = tables.likelihood(stage, context), tables.successors(stage, context)
        for v in range(likelihood.shape[1]):
            joint = likelihood[:, v] * at.belief[part]
            total[part] += value(joint, successors[:, v])
    return total


def _sawtooth(
    belief: FloatArray, context: IntArray, points: Points, values: FloatArray, corner: FloatArray
) -> FloatArray:
    """Value of the best mixture of corners and a point of the belief's context, (n,)."""
    result = np.asarray(belief @ corner)
    for number in np.unique(context):
        rows, own = context == number, points.context == number
        result[rows] += _gain(belief[rows], points.belief[own], values[own], corner)
    return result


def _gain(belief: FloatArray, points: FloatArray, values: FloatArray, corner: FloatArray) -> FloatArray:
    """How far the best point's mixture is above that of the corners alone, (n,)."""
    above = values - points @ corner
    gain = np.zeros(len(belief))
    if not len(points):
        return gain
    for part in chunks(len(belief), 8.0 * 3 * len(points), _PIECE_BYTES):
        share = np.full((len(belief[part]), len(points)), np.inf)
        for c in range(points.shape[1]):
            there = np.flatnonzero(points[:, c] > 0)
            share[:, there] = np.minimum(share[:, there], belief[part, c, None] / points[there, c])
        gain[part] = np.maximum((share * above).max(axis=1), 0.0)
    return gain
