"""Policies for many multipliers of the prices, found and run together where a solver can share work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray
from seqclass.pomdp._grid_sweep import GridBlock, Look, solve_many
from seqclass.pomdp.grid import GridValueIteration
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.randomised import RepricedPolicy, scale_prices
from seqclass.pomdp.walk import check_feature


class Team:
    """Policies for several multipliers, which share a walk.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    multipliers : ndarray of shape (n_multipliers,)
        Factors of all prices.
    policies : sequence of Policy
        Policy of each, on the problem at its prices.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem, scale_prices
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policies = [FirstK(1).solve(scale_prices(problem, m)) for m in (1.0, 2.0)]
    >>> Team(problem, np.array([1.0, 2.0]), policies).goes_on(problem.begin(), np.array([[True, False]]))[0]
    array([[ True, False]])
    """

    def __init__(self, problem: AcquisitionProblem, multipliers: FloatArray, policies: Sequence[Policy]) -> None:
        self.problem = problem
        self.multipliers = multipliers
        self.policies = [RepricedPolicy(p, problem, float(m)) for p, m in zip(policies, multipliers)]

    def goes_on(self, info: InformationState, active: BoolArray) -> tuple[BoolArray, list[Look]]:
        """Which of the policies that are still active at each history buy the next feature, (n, n_multipliers).

        Second comes what they saw ahead, where they can tell: it cancels most of what chance does to sampled paths.
        """
        go_on = np.zeros_like(active)
        for j, policy in enumerate(self.policies):
            rows = np.flatnonzero(active[:, j])
            if rows.size:
                feature = policy.act(info[rows])
                check_feature(self.problem, info.stage, feature[feature != DECIDE])
                go_on[rows, j] = feature != DECIDE
        return go_on, []


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
    return Team(problem, multipliers, [solver.solve(scale_prices(problem, float(m))) for m in multipliers])


@solve_sweep.register
def _(solver: GridValueIteration, problem: AcquisitionProblem, multipliers: FloatArray) -> Team:
    return _GridTeam(problem, multipliers, solve_many(solver, problem, multipliers))
