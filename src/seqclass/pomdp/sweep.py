"""Policies for many multipliers of the prices, found and run together where a solver can share work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._arrays import BoolArray, FloatArray
from seqclass._validation import check_integer
from seqclass.pomdp._grid_sweep import GridBlock, solve_many
from seqclass.pomdp._team import Look, Team
from seqclass.pomdp._value_team import ValueTeam, anchors
from seqclass.pomdp.grid import GridValueIteration
from seqclass.pomdp.perseus import Perseus
from seqclass.pomdp.policy import LookaheadPolicy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.randomised import scale_prices
from seqclass.pomdp.solver import Solver
from seqclass.pomdp.steered import Steered


class _GridTeam(Team):
    """Grid policies act all at once."""

    def __init__(self, problem: AcquisitionProblem, multipliers: FloatArray, blocks: Sequence[GridBlock]) -> None:
        policies: list[Any] = [None] * len(multipliers)
        for block in blocks:
            for position, column in enumerate(block.columns):
                values = block.values(position)
                info = SolveInfo(
                    "converged" if block.converged[position] else "truncated",
                    n_stages=values.n_stages,
                    size=values.size,
                    # the interpolated value of a concave function is below it
                    lower=float(block.lower[position]) if block.interpolation == "freudenthal" else float("nan"),
                )
                policies[column] = LookaheadPolicy(values, info)
        super().__init__(problem, multipliers, policies)
        self.blocks = blocks

    def goes_on(self, info: InformationState, active: BoolArray) -> tuple[BoolArray, list[Look]]:
        go_on, looks = np.zeros_like(active), []
        for block in self.blocks:
            positions = np.flatnonzero(active[:, block.columns].any(axis=0))
            look = block.look(info, positions) if positions.size else None
            if look is not None:
                go_on[np.ix_(look.rows, look.columns)] = look.go_on
                looks.append(look)
        return go_on & active, looks


@singledispatch
def solve_sweep(solver: Any, problem: AcquisitionProblem, multipliers: FloatArray) -> Team:
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
    Team

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
def _(solver: GridValueIteration, problem: AcquisitionProblem, multipliers: FloatArray) -> Team:
    return _GridTeam(problem, multipliers, solve_many(solver, problem, multipliers))


@solve_sweep.register
def _(solver: Perseus, problem: AcquisitionProblem, multipliers: FloatArray) -> Team:
    if solver.target_gap is not None or solver.max_seconds is not None:  # each point is to have them
        return _one_by_one(solver, problem, multipliers)
    return _blended(solver, problem, multipliers)


@solve_sweep.register
def _(solver: Steered, problem: AcquisitionProblem, multipliers: FloatArray) -> Team:
    return _blended(solver, problem, multipliers)


def _one_by_one(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> Team:
    return Team(problem, multipliers, [solver.solve(scale_prices(problem, float(m))) for m in multipliers])


def _blended(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> Team:
    if len(anchors(multipliers)) == len(multipliers):
        return _one_by_one(solver, problem, multipliers)
    paths = check_integer(solver.certificate_paths, "certificate_paths", 0)
    bare = clone(solver).set_params(certificate_paths=0)
    return ValueTeam(problem, multipliers, bare, max(2, paths) if paths else 0)
