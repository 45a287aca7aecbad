"""The grid's dynamic program for many price multipliers at once.

The successors of grid points do not depend on prices, so one sparse matrix of interpolation weights a stage serves
all multipliers: a column each of one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks, row_sums
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp._team import Look
from seqclass.pomdp.grid import GridValueIteration, GridValues
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.randomised import scale_prices
from seqclass.pomdp.solver import FIRST_HORIZON

#: Working memory of a matrix product: small enough to stay in the cache.
_PRODUCT_BYTES = 2**22


@dataclass(frozen=True)
class GridBlock:
    """Values of several multipliers that share a horizon.

    Attributes
    ----------
    columns : ndarray of int of shape (m,)
        Numbers of the multipliers among those that were asked for.
    multipliers : ndarray of shape (m,)
        The multipliers.
    tables : list of ndarray of shape (n_contexts * n_points, m)
        Cost of going on at each stage.
    lower : ndarray of shape (m,)
        Interpolated lower bound on the optimal cost at each multiplier's prices.
    converged : ndarray of bool of shape (m,)
        Whether the horizon holds all that matters.
    """

    problem: AcquisitionProblem
    grid: SimplexGrid
    interpolation: str
    columns: IntArray
    multipliers: FloatArray
    tables: list[FloatArray]
    lower: FloatArray
    converged: BoolArray

    @property
    def n_stages(self) -> int:
        """Horizon."""
        return len(self.tables)

    def values(self, position: int) -> GridValues:
        """Value function of one multiplier, on the problem at its prices."""
        problem, multiplier = self.problem, float(self.multipliers[position])
        values = GridValues(
            scale_prices(problem, multiplier), self.grid, self.n_stages, np.empty((0, 0)), self.interpolation
        )
        values.close()
        for stage, table in enumerate(self.tables):
            values.continuation[stage] = table[:, position].reshape(problem.n_contexts(stage), -1).copy()
        return values

    def look(self, info: InformationState, positions: IntArray) -> Look | None:
        """What some of the multipliers' policies see ahead; None where all of them stop."""
        if info.stage >= self.n_stages:
            return None
        problem, factor = self.problem, self.multipliers[positions]
        known = (info.belief @ problem.perfect_cost)[:, None]
        open_ = info.to_beat[:, None] > factor * problem.prices[info.stage] + known
        rows = np.flatnonzero(open_.any(axis=1))
        if not rows.size:
            return None
        joint = info.joint[rows]
        context = None if info.context is None else info.context[rows]
        following = problem.successor_contexts(info.stage, context)
        table = None
        if info.stage + 1 < self.n_stages:
            table = self.tables[info.stage + 1]
            table = table if len(positions) == table.shape[1] else table[:, positions]
        ahead = np.empty((len(rows), joint.shape[1], len(positions)))
        for part in chunks(len(rows), 8.0 * joint.shape[1] * len(positions), _PRODUCT_BYTES):
            where = None if following is None else following[part].ravel()
            flat = joint[part].reshape(-1, joint.shape[2])
            values = self._value(table, flat, where)
            ahead[part] = values.reshape(-1, joint.shape[1], values.shape[1])
        total = ahead.sum(axis=1)
        stop = info.to_beat[rows, None]
        go_on = open_[rows] & (info.price[rows, None] * factor + total < stop)
        return Look(rows, self.columns[positions], go_on, ahead, total)

    def _value(self, table: FloatArray | None, belief: FloatArray, context: IntArray | None) -> FloatArray:
        stop = self.problem.stopping_cost(belief)[:, None]
        if table is None:
            return stop
        read = read_tables(self.grid, self.interpolation, table, belief, context)
        return read if self.interpolation == "nearest" else np.minimum(read, stop, out=read)


def read_tables(
    grid: SimplexGrid, interpolation: str, tables: FloatArray, belief: FloatArray, context: IntArray | None
) -> FloatArray:
    """Values of unnormalised beliefs in every column of the tables, (n, m)."""
    return np.asarray(_weights(grid, interpolation, len(tables), belief, context) @ tables)


def _weights(
    grid: SimplexGrid, interpolation: str, size: int, belief: FloatArray, context: IntArray | None
) -> sp.csr_array:
    total = row_sums(belief)
    normalised = belief / np.where(total > 0, total, 1.0)[:, None]
    if interpolation == "nearest":
        vertices, weights = grid.nearest(normalised)[:, None], np.ones((len(belief), 1))
    else:
        vertices, weights = grid.weights(normalised)
    if context is not None:
        vertices = vertices + (context * len(grid.points))[:, None]
    # of the index type that scipy would choose, so that it need not look
    kind = np.int32 if max(vertices.size, size) < 2**31 else np.int64
    pointer = np.arange(0, vertices.size + 1, vertices.shape[1], dtype=kind)
    return sp.csr_array(
        ((weights * total[:, None]).ravel(), vertices.ravel().astype(kind), pointer), shape=(len(belief), size)
    )


def solve_many(solver: GridValueIteration, problem: AcquisitionProblem, multipliers: FloatArray) -> list[GridBlock]:
    """Solve for every multiplier; each gets what `solver` gives for it alone.

    Parameters
    ----------
    solver : GridValueIteration
        Settings of the grid.
    problem : AcquisitionProblem
        A problem with tables.
    multipliers : ndarray of shape (n_multipliers,)
        Factors of all prices.

    Returns
    -------
    list of GridBlock
        Their columns make up all multipliers.
    """
    solver._check(problem)
    limit = problem.n_stages if solver.max_stages is None else min(solver.max_stages, problem.n_stages)
    blocks: list[GridBlock] = []
    left = np.arange(len(multipliers))
    n_stages = min(FIRST_HORIZON, limit)
    while left.size:
        grid = solver._prepare(problem, n_stages)
        stages = 8.0 * len(grid.points) * sum(problem.n_contexts(k) for k in range(n_stages))
        for part in chunks(len(left), 2 * stages, int(solver.max_bytes)):
            blocks += _solve_block(solver, problem, grid, n_stages, left[part], multipliers, n_stages == limit)
        left = np.setdiff1d(left, np.concatenate([np.empty(0, dtype=np.intp), *(block.columns for block in blocks)]))
        n_stages = min(2 * n_stages, limit)
    return blocks


def _solve_block(
    solver: GridValueIteration,
    problem: AcquisitionProblem,
    grid: SimplexGrid,
    n_stages: int,
    columns: IntArray,
    multipliers: FloatArray,
    last: bool,
) -> list[GridBlock]:
    """Solve some multipliers over a horizon; return those for which it is long enough, or all if it is the last."""
    factor, n = multipliers[columns], len(columns)
    ends = n_stages == problem.n_stages
    # with the rest of the features left out, and with perfect knowledge for one more price in their place
    doubled = factor if ends else np.concatenate([factor, factor])
    rest = None if ends else problem.prices[n_stages] * factor
    tables = _sweep(solver, problem, grid, n_stages, doubled, rest)
    info = problem.begin()
    bounds = np.broadcast_to(info.stopping_cost, (len(doubled),))
    if n_stages:
        read = read_tables(grid, solver.interpolation, tables[0], info.belief, info.context)[0]
        bounds = read if solver.interpolation == "nearest" else np.minimum(read, bounds)
    elif rest is not None:
        bounds = np.minimum(bounds, np.concatenate([bounds[:n], rest + info.belief @ problem.perfect_cost]))
    lower = bounds[-n:]
    converged = np.full(n, True) if ends else bounds[:n] - lower <= solver.horizon_tolerance * bounds[:n]
    keep = np.flatnonzero(converged | last)
    if not keep.size:
        return []
    if len(keep) < len(doubled):
        tables = [np.ascontiguousarray(table[:, keep]) for table in tables]
    return [
        GridBlock(
            problem, grid, solver.interpolation, columns[keep], factor[keep], tables, lower[keep], converged[keep]
        )
    ]


def _sweep(
    solver: GridValueIteration,
    problem: AcquisitionProblem,
    grid: SimplexGrid,
    n_stages: int,
    factor: FloatArray,
    rest: FloatArray | None,
) -> list[FloatArray]:
    """Tables of every stage, (n_contexts * n_points, m); the second half of the columns ends in ``rest`` if given."""
    points = grid.points
    tables: list[FloatArray] = [np.empty((0, 0))] * n_stages
    for stage in reversed(range(n_stages)):
        n_contexts = problem.n_contexts(stage)
        table = np.empty((n_contexts * len(points), len(factor)))
        table[:] = problem.prices[stage] * factor
        several = problem.has_contexts
        # a context's points at a time, or part of them, so that the products stay in the cache
        for number in range(n_contexts):
            context = np.array([number]) if several else None
            likelihood = problem.context_likelihood(stage, context)[0]
            after = problem.successor_contexts(stage, context)
            for part in chunks(len(points), 8.0 * len(factor), _PRODUCT_BYTES):
                rows = slice(number * len(points) + part.start, number * len(points) + part.stop)
                for v, column in enumerate(likelihood):
                    joint = points[part] * column
                    where = None if after is None else np.full(len(joint), after[0, v])
                    table[rows] += _after(solver, problem, grid, stage + 1, n_stages, tables, joint, where, rest)
        if solver.interpolation == "nearest":
            stop = np.tile(problem.stopping_cost(points), n_contexts)[:, None]
            np.minimum(table, stop, out=table)
        tables[stage] = table
    return tables


def _after(
    solver: GridValueIteration,
    problem: AcquisitionProblem,
    grid: SimplexGrid,
    stage: int,
    n_stages: int,
    tables: list[FloatArray],
    joint: FloatArray,
    context: IntArray | None,
    rest: FloatArray | None,
) -> FloatArray:
    stop = problem.stopping_cost(joint)[:, None]
    if stage < n_stages:
        read = read_tables(grid, solver.interpolation, tables[stage], joint, context)
        return read if solver.interpolation == "nearest" else np.minimum(read, stop, out=read)
    if rest is None:
        return stop
    known = row_sums(joint)[:, None] * rest + (joint @ problem.perfect_cost)[:, None]
    return np.column_stack([np.repeat(stop, len(rest), axis=1), np.minimum(stop, known)])
