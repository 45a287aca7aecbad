"""The solver that is used where none is named."""

from __future__ import annotations

from typing import Any

from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.solvers.correlated import sequential_solver
from seqclass.pomdp.solvers.panels import Panels
from seqclass.pomdp.visits import orders_panels

__all__ = ["default_solver"]


def default_solver(problem: AcquisitionProblem, random_state: Any = 0) -> Solver:
    """Solver for a problem of this kind.

    With tables a grid for at most three classes and `Perseus` beyond; without, `ProjectedValueIteration` where the
    problem has a projection, else look-ahead of two features. In a problem in any order `Adaptive`. Where visits
    cost something `Panels`, of either.
    """
    return sequential_solver(problem, random_state) if not orders_panels(problem) else Panels(random_state=random_state)
