"""The solver that is used where none is named."""

from __future__ import annotations

from typing import Any

from seqclass.pomdp.baselines import Lookahead
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solver import Solver
from seqclass.pomdp.steered import Steered, table_solver


def default_solver(problem: AcquisitionProblem, random_state: Any = 0) -> Solver:
    """Solver for a problem of this kind.

    With tables a grid for at most three classes and `Perseus` beyond; without, `Steered` by a projection where the
    problem has one, else look-ahead of two features.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    random_state : int, generator or None
        Seed of the solver.

    Returns
    -------
    Solver

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> default_solver(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1))
    GridValueIteration()
    """
    if problem.has_tables:
        return table_solver(problem, random_state)
    if problem.projection(1) is not None:
        return Steered(random_state=random_state)
    return Lookahead(2, random_state=random_state)
