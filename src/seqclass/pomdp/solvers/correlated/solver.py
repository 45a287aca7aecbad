"""Problems without tables: a simpler process is solved, and its values steer look-ahead on the problem itself."""

from __future__ import annotations

import time
from typing import Any

from sklearn.base import clone

from seqclass._arrays import as_generator
from seqclass._validation import check_integer
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.needs import needed_order
from seqclass.pomdp.policy import LookaheadPolicy, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver, certified
from seqclass.pomdp.solvers.correlated.bounded import BoundedLookaheadPolicy
from seqclass.pomdp.solvers.correlated.corrected import CorrectedValues, visited_states
from seqclass.pomdp.solvers.correlated.martingale import MartingaleValues
from seqclass.pomdp.solvers.grid import GridValueIteration
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.values import ProjectedValues, ValueFunction

#: Contexts a stage by number of classes, where the user names none; 1 for more classes.
_MAX_CONTEXTS = {1: 32, 2: 32, 3: 32}
#: Levels of the grid by number of classes: values that only steer need no fine one.
_LEVELS = {1: 200, 2: 200, 3: 40}
#: Beliefs a stage at which values are corrected, by number of classes; for more of these, more.
_N_BELIEFS, _MANY_BELIEFS = {1: 1000, 2: 1000, 3: 1000}, 3000


class ProjectedValueIteration(Solver):
    """Solver of problems without tables, such as those of correlated features that depend on too many others.

    The problem's `projection`, in which a stage looks at the few answers that say most about what is to come, is solved
    by any solver that works out values. These say what each answer would be worth in one step of look-ahead on the
    problem itself, with its own likelihoods and beliefs, after a regression has corrected them for the answers that the
    projection does not remember. The values are no plan's cost, but the certificate is that of the policy on the
    problem itself, and as valid as any; for it alone the values are refined once more, and its gap is paired
    (see `certify`). A problem that has tables is left to the solver within.

    Parameters
    ----------
    solver : Solver, optional
        Solves the projection; by default a grid for at most three classes and `Perseus` beyond.
    max_contexts : int or None
        Most contexts of a stage of the projection; 1 leaves nothing but the belief. None: 32 for at most three classes;
        1 beyond, where beliefs are worth more than contexts.
    n_beliefs : int or None
        Most beliefs a stage, reached by the problem itself, at which the values are corrected; 0 leaves them as they
        are. None: 1000 for at most three classes; 3000 beyond.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the beliefs and the certificate, and of the solver if none is given.

    References
    ----------
    .. [1] M. B. Haugh and L. Kogan, "Pricing American options: a duality approach", Operations Research 52, 2004 (why
       any values give a valid bound).
    .. [2] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ProjectedValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(ProjectedValueIteration().solve(problem).info.upper, 3)
    0.25
    """

    def __init__(
        self,
        solver: Solver | None = None,
        *,
        max_contexts: int | None = None,
        n_beliefs: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.solver = solver
        self.max_contexts = max_contexts
        self.n_beliefs = n_beliefs
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a problem; see `Solver.solve`."""
        started = time.perf_counter()
        most = _MAX_CONTEXTS.get(problem.n_classes, 1) if self.max_contexts is None else self.max_contexts
        needed_order(problem, "ProjectedValueIteration")
        check_integer(most, "max_contexts", 1)
        n_beliefs = _N_BELIEFS.get(problem.n_classes, _MANY_BELIEFS) if self.n_beliefs is None else self.n_beliefs
        check_integer(n_beliefs, "n_beliefs", 0)
        check_integer(self.certificate_paths, "certificate_paths", 0)
        projection = problem if problem.tables is not None else problem.projection(most)
        if projection is None:
            raise ValueError(
                "ProjectedValueIteration needs a problem with tables or a projection, and this "
                f"{type(problem).__name__} has neither; use Lookahead."
            )
        policy = self._inner(projection, projection is not problem).solve(projection)
        if not isinstance(policy, LookaheadPolicy):
            raise ValueError(
                "ProjectedValueIteration needs a solver that works out values, such as Perseus, and "
                f"{self.solver!r} does not."
            )
        if projection is problem:
            return self._certified(policy, started)
        steering = ProjectedValues(problem, projection, policy.values)
        states = visited_states(steering, n_beliefs, as_generator(self.random_state))
        return self._steered(steering, states, policy.info, started)

    def _steered(
        self, values: ProjectedValues, states: list[list[InformationState]], info: SolveInfo, started: float
    ) -> Policy:
        if not states:
            return self._certified(LookaheadPolicy(values, info), started)
        corrected = CorrectedValues(values.problem, values).fit(states)
        return self._certified(BoundedLookaheadPolicy(corrected, info), started, states)

    def _certified(
        self, policy: LookaheadPolicy, started: float, states: list[list[InformationState]] | None = None
    ) -> Policy:
        """The policy with its certificate, whose values are refined at the states."""
        solved = time.perf_counter()
        result = policy.with_info(seconds=solved - started, size=policy.values.size)
        if not self.certificate_paths:
            return result
        values: ValueFunction = policy.values
        if states and isinstance(values, CorrectedValues):
            values = MartingaleValues(values).fit(states)
        result = certified(result, self.certificate_paths, self.random_state, values, paired=True)
        return result.with_info(certify_seconds=time.perf_counter() - solved)

    def _inner(self, projection: AcquisitionProblem, steering: bool) -> Solver:
        if self.solver is not None:
            solver = clone(self.solver)
        elif steering and projection.n_classes in _LEVELS:
            solver = GridValueIteration(_LEVELS[projection.n_classes], random_state=self.random_state)
        else:
            solver = table_solver(projection, self.random_state)
        # its certificate would be about the projection
        return solver.set_params(certificate_paths=0)  # type: ignore[no-any-return]


def table_solver(problem: AcquisitionProblem, random_state: Any = 0) -> Solver:
    """Solver for a problem with tables: a grid for at most three classes, Perseus beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> table_solver(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1))
    GridValueIteration()
    """
    if problem.n_classes <= 3:
        return GridValueIteration(random_state=random_state)
    return Perseus(random_state=random_state)
