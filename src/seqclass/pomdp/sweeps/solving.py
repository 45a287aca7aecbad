"""Policies for many multipliers of the prices, found and run together where a solver can share work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._validation import check_integer
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.repricing import scale_prices
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.solvers.correlated.solver import ProjectedValueIteration
from seqclass.pomdp.solvers.fitted import FittedValueIteration
from seqclass.pomdp.solvers.grid import GridValueIteration
from seqclass.pomdp.solvers.grid_program import GridBlock
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.sweeps._interpolated_policies import InterpolatedSweep, anchors
from seqclass.pomdp.sweeps._policies import Look, SweepPolicies

#: Working memory of what a block's policies see ahead: small enough to stay in the cache.
_PRODUCT_BYTES = 2**22


class _GridSweep(SweepPolicies):
    """Grid policies act all at once."""

    def __init__(self, problem: AcquisitionProblem, multipliers: FloatArray, blocks: Sequence[GridBlock]) -> None:
        policies: list[Any] = [None] * len(multipliers)
        for block in blocks:
            for position, column in enumerate(block.columns):
                policies[column] = block.policy(position)
        super().__init__(problem, multipliers, policies)
        self.blocks = blocks

    def goes_on(self, info: InformationState, active: BoolArray) -> tuple[BoolArray, list[Look]]:
        go_on, looks = np.zeros_like(active), []
        for block in self.blocks:
            positions = np.flatnonzero(active[:, block.columns].any(axis=0))
            look = self._look(block, info, positions) if positions.size else None
            if look is not None:
                go_on[np.ix_(look.rows, look.columns)] = look.go_on
                looks.append(look)
        return go_on & active, looks

    def _look(self, block: GridBlock, info: InformationState, positions: IntArray) -> Look | None:
        """What some of a block's policies see ahead; None where all of them stop."""
        if info.stage >= block.n_stages:
            return None
        problem, factor = self.problem, block.multipliers[positions]
        open_ = info.to_beat[:, None] > info.least(factor)
        rows = np.flatnonzero(open_.any(axis=1))
        if not rows.size:
            return None
        joint, context, tables = info.joint[rows], info.context, problem.tables
        assert tables is not None  # it was solved by a grid
        assert context is not None
        following = tables.successors(info.stage, context[rows])
        n, n_outcomes, n_classes = joint.shape
        ahead = np.empty((n, n_outcomes, len(positions)))
        for part in chunks(n, 8.0 * n_outcomes * len(positions), _PRODUCT_BYTES):
            flat, where = joint[part].reshape(-1, n_classes), following[part].reshape(-1)
            values = block.values_after(info.stage + 1, flat, where, positions)
            ahead[part] = values.reshape(-1, n_outcomes, values.shape[1])
        total = ahead.sum(axis=1)
        stop = info.to_beat[rows, None]
        go_on = open_[rows] & (info.price[rows, None] * factor + total < stop)
        return Look(rows, block.columns[positions], go_on, ahead, total)


@singledispatch
def solve_sweep(solver: Any, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    """Solve for every multiplier; register a function for a type of solver that can share work between them.

    Parameters
    ----------
    solver : Solver
        The solver.
    problem : AcquisitionProblem
        The problem.
    multipliers : ndarray of shape (n_multipliers,)
        Factors of all prices.

    Returns
    -------
    SweepPolicies

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> len(solve_sweep(FirstK(1), problem, np.array([0.5, 2.0])).policies)
    2
    """
    return _one_by_one(solver, problem, multipliers)


@solve_sweep.register
def _(solver: GridValueIteration, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    return _GridSweep(problem, multipliers, solver.solve_many(problem, multipliers))


@solve_sweep.register
def _(solver: Perseus, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    if solver.target_gap is not None or solver.max_seconds is not None:  # each point is to have them
        return _one_by_one(solver, problem, multipliers)
    return _blended(solver, problem, multipliers)


@solve_sweep.register(FittedValueIteration)
@solve_sweep.register(ProjectedValueIteration)
def _(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    return _blended(solver, problem, multipliers)


def _one_by_one(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    return SweepPolicies(problem, multipliers, [solver.solve(scale_prices(problem, float(m))) for m in multipliers])


def _blended(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    if len(anchors(multipliers)) == len(multipliers):
        return _one_by_one(solver, problem, multipliers)
    paths = check_integer(solver.certificate_paths, "certificate_paths", 0)
    bare = clone(solver).set_params(certificate_paths=0)
    return InterpolatedSweep(problem, multipliers, bare, max(2, paths) if paths else 0)
