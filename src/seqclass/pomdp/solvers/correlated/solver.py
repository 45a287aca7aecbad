"""Problems without tables: a simpler process is solved, and its values steer look-ahead on the problem itself."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._arrays import as_generator
from seqclass._validation import check_integer
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.needs import needed_order
from seqclass.pomdp.policy import LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver, certified
from seqclass.pomdp.solvers.correlated.bounded import BoundedLookaheadPolicy
from seqclass.pomdp.solvers.correlated.corrected import CorrectedValues, visited_states
from seqclass.pomdp.solvers.correlated.martingale import MartingaleValues
from seqclass.pomdp.solvers.fitted import FittedValueIteration
from seqclass.pomdp.solvers.grid import GridValueIteration
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.values import ProjectedValues, ValueFunction

#: Contexts a stage and levels of the grid for up to two classes, where the user names none: values that only steer need
#: no fine one. With more classes functions of the belief, in one context, say as much with a thousandth of the numbers.
_MAX_CONTEXTS, _LEVELS = 32, 200
#: Beliefs a stage of the first fit with more classes, which only has to find where to look.
_FIRST_BELIEFS = 1000
#: Beliefs a stage at which values are corrected, up to three classes and beyond; beyond, up to so many times as many
#: where a question costs less than this share of deciding at once: late and rare errors count there.
_N_BELIEFS, _MANY_BELIEFS, _MOST_TIMES, _CHEAP = 1000, 2000, 2.0, 0.01


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
        Solves the projection; by default a grid for two classes and `FittedValueIteration` beyond, whose functions are
        then fitted to the problem itself.
    max_contexts : int or None
        Most contexts of a stage of the projection; 1 leaves nothing but the belief. None: 32 for two classes; 1 beyond.
    n_beliefs : int or None
        Most beliefs a stage, reached by the problem itself, at which the values are corrected; 0 leaves them as they
        are. None: 1000; with more than three classes 2000, and up to 4000 as questions cost less than a hundredth of
        deciding at once.
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
        few = _MAX_CONTEXTS if problem.n_classes <= 2 else 1
        most = few if self.max_contexts is None else self.max_contexts
        needed_order(problem, "ProjectedValueIteration")
        check_integer(most, "max_contexts", 1)
        n_beliefs = _n_beliefs(problem) if self.n_beliefs is None else check_integer(self.n_beliefs, "n_beliefs", 0)
        check_integer(self.certificate_paths, "certificate_paths", 0)
        projection = problem if problem.tables is not None else problem.projection(most)
        if projection is None:
            raise ValueError(
                "ProjectedValueIteration needs a problem with tables or a projection, and this "
                f"{type(problem).__name__} has neither; use Lookahead."
            )
        solver = self._inner(projection, projection is not problem)
        policy = self._planned(solver, projection)
        if projection is problem:
            return self._certified(policy, policy.values, started)
        while True:
            steering = ProjectedValues(problem, projection, policy.values)
            states = visited_states(steering, n_beliefs, as_generator(self.random_state))
            if not _reaches_end(states, steering.n_stages, problem) or "first_horizon" not in solver.get_params():
                break
            # the projection is the surer of itself: where it has long decided the problem may not have
            longer = self._planned(solver.set_params(first_horizon=2 * steering.n_stages), projection)
            if longer.n_stages == policy.n_stages:
                break
            policy = longer
        if not states:
            return self._certified(LookaheadPolicy(steering, policy.info), steering, started)
        values = CorrectedValues(problem, steering)
        refined = MartingaleValues(values)
        values.fit(states, refined.fit_stage if self.certificate_paths else None)
        return self._certified(BoundedLookaheadPolicy(values, policy.info), refined, started)

    def _planned(self, solver: Solver, projection: AcquisitionProblem) -> LookaheadPolicy:
        policy = solver.solve(projection)
        if not isinstance(policy, LookaheadPolicy):
            raise ValueError(
                "ProjectedValueIteration needs a solver that works out values, such as Perseus, and "
                f"{self.solver!r} does not."
            )
        return policy

    def _certified(self, policy: LookaheadPolicy, values: ValueFunction, started: float) -> Policy:
        """The policy with its certificate, whose lower bound is made of the values."""
        solved = time.perf_counter()
        result: Policy = policy.with_info(seconds=solved - started, size=policy.values.size)
        if not self.certificate_paths:
            return result
        result = certified(result, self.certificate_paths, self.random_state, values, paired=True)
        return result.with_info(certify_seconds=time.perf_counter() - solved)

    def _inner(self, projection: AcquisitionProblem, steering: bool) -> Solver:
        if self.solver is not None:
            solver = clone(self.solver)
        elif steering and projection.n_classes <= 2:
            solver = GridValueIteration(_LEVELS, random_state=self.random_state)
        elif steering:
            solver = FittedValueIteration(_FIRST_BELIEFS, n_rounds=1, random_state=self.random_state)
        else:
            solver = table_solver(projection, self.random_state)
        # its certificate would be about the projection
        return solver.set_params(certificate_paths=0)  # type: ignore[no-any-return]


def _reaches_end(states: list[list[InformationState]], n_stages: int, problem: AcquisitionProblem) -> bool:
    """Whether cases still go on at the last stage of the horizon, and there are stages beyond."""
    return bool(n_stages < problem.n_stages and states and len(states[0]) == n_stages and len(states[0][-1]))


def _n_beliefs(problem: AcquisitionProblem) -> int:
    if problem.n_classes <= 3:
        return _N_BELIEFS
    dear = _CHEAP * float(problem.stopping_cost(problem.prior[None])[0])
    cheaper = dear / max(float(problem.prices.mean()), np.finfo(float).tiny)
    return int(_MANY_BELIEFS * np.clip(np.sqrt(cheaper), 1.0, _MOST_TIMES))


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
