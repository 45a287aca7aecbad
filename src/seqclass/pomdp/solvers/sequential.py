"""The solver that is used where one question is asked at a time and none is named."""

from __future__ import annotations

from typing import Any

from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.solvers.correlated import ProjectedValueIteration, table_solver
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive
from seqclass.pomdp.solvers.simple import Lookahead

__all__: list[str] = []


def sequential_solver(problem: AcquisitionProblem, random_state: Any = 0) -> Solver:
    """Solver for a problem of this kind; see `default_solver`."""
    if problem.free:
        return Adaptive(random_state=random_state)
    if problem.tables is not None:
        return table_solver(problem, random_state)
    if problem.projection(1) is not None:
        return ProjectedValueIteration(random_state=random_state)
    return Lookahead(2, random_state=random_state)
