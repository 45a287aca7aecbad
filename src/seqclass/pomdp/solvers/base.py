"""Solvers: settings in, certified policy out."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from seqclass._utils.arrays import FloatArray, another_stream, as_generator
from seqclass._utils.model_files import Stored
from seqclass._utils.text import shown
from seqclass._utils.validation import check_integer, check_real
from seqclass.pomdp.bounds.certificate import certify, search_of_cases
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.bounds.policy_cost import ROUNDING
from seqclass.pomdp.evaluation import MAX_HISTORIES
from seqclass.pomdp.policy import WIDE_GAP, LookaheadPolicy, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.values import ValueFunction

__all__ = ["Solver", "ValueSolver"]


#: The horizon is doubled from here on.
FIRST_HORIZON = 64


# its settings are fields of solvers that are dataclasses; others have constructors of their own, or none
@dataclass(repr=False, eq=False, init=False)
class Solver(Stored, BaseEstimator, ABC):  # type: ignore[misc]
    """Settings of a method that turns an acquisition problem into a policy.

    Parameters
    ----------
    certificate_paths : int
        Sampled paths of the certificate where it is not exact; 0 leaves it out.
    random_state : int, generator or None
        Seed of whatever is random; the certificate's paths are independent of the solver's.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp.policy import LookaheadPolicy
    >>> from seqclass.pomdp import StoppingValue, TableProblem
    >>> class Myopic(Solver):
    ...     def solve(self, problem):
    ...         return certified(LookaheadPolicy(StoppingValue(problem)), 1000, 0)
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(Myopic().solve(problem).info.upper, 3)
    0.25
    """

    #: Least values of settings, by name: of whole numbers whole ones.
    _least: ClassVar[dict[str, float]] = {}

    _: KW_ONLY
    certificate_paths: int = 10_000
    random_state: Any = 0

    def _check_settings(self) -> None:
        """Refuse settings that no problem makes right."""
        kinds = {field.name: str(field.type) for field in fields(type(self))}
        for name, low in {"certificate_paths": 0, **self._least}.items():
            value = getattr(self, name)
            if value is not None or "None" not in kinds.get(name, ""):
                (check_integer if isinstance(low, int) else check_real)(value, name, low)  # type: ignore[arg-type]

    @property
    def certifies_last(self) -> bool:
        """Whether the certificate comes when the policy is found, so that without one the policy is the same."""
        settings = self.get_params(deep=False)
        return settings.get("target_gap") is None and settings.get("max_seconds") is None

    @abstractmethod
    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a problem.

        Parameters
        ----------
        problem : AcquisitionProblem
            The problem.

        Returns
        -------
        Policy
            Its `info` has the status, the certified bounds and the sizes.

        Raises
        ------
        ValueError
            If the problem needs what the solver does not have; the message says what to use instead.
        """


def policy_of(solver: Solver, problem: AcquisitionProblem) -> Policy:
    """What a solver makes of a problem, if it is a policy."""
    policy = solver.solve(problem)
    if not isinstance(policy, Policy):
        raise TypeError(
            f"solver: {type(solver).__name__}.solve must return a policy, such as LookaheadPolicy(values); it returned "
            f"{shown(policy)}."
        )
    if policy.problem is not problem:
        raise ValueError(f"solver: {type(solver).__name__}.solve must return a policy for the problem it was given.")
    return policy


class ValueSolver(Solver):
    """A solver that works out values backward over stages.

    Subclasses give `_solve` and declare what they need in `_check`; `solve` adds the doubling horizon, one step of
    look-ahead and the certificate.

    Parameters
    ----------
    horizon_tolerance : float
        The horizon is doubled until the cost with the rest of the features left out and the cost with the rest
        replaced by perfect knowledge for one more price differ by less than this share of the former.
    max_stages : int or None
        Longest horizon; None for no limit.
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, StoppingValue
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> class Myopic(ValueSolver):
    ...     def __init__(self, horizon_tolerance=1e-3, max_stages=None, certificate_paths=1000, random_state=0):
    ...         self.horizon_tolerance, self.max_stages = horizon_tolerance, max_stages
    ...         self.certificate_paths, self.random_state = certificate_paths, random_state
    ...     def _prepare(self, problem, n_stages):
    ...         return None
    ...     def _solve(self, problem, n_stages, terminal, prepared):
    ...         return StoppingValue(problem, n_stages)
    >>> round(Myopic().solve(problem).info.upper, 3)
    0.25
    """

    horizon_tolerance: float
    max_stages: int | None
    first_horizon: int = FIRST_HORIZON
    #: Whether the certificate's gap is paired; see `certify`.
    _paired: bool = False

    @abstractmethod
    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> Any:
        """Grid, beliefs, or whatever else does not depend on the terminal cost."""

    @abstractmethod
    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        """Values over ``n_stages`` stages whose cost after the last is ``min(belief @ terminal.T)``, (m, n_classes)."""

    def _check(self, problem: AcquisitionProblem) -> None:
        """Refuse what the solver cannot do, before any work."""

    def _finish(self, problem: AcquisitionProblem, values: ValueFunction, prepared: Any) -> ValueFunction:
        """Improve the values once the horizon is known; ``prepared`` is that of this horizon."""
        return values

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a problem; see `Solver.solve`."""
        started = time.perf_counter()
        check_real(self.horizon_tolerance, "horizon_tolerance", 0)
        check_integer(self.certificate_paths, "certificate_paths", 0)
        self._check(problem)
        values, prepared, converged = self._solve_horizon(problem)
        values = self._finish(problem, values, prepared)
        status = "converged" if converged else "truncated"
        info = SolveInfo(
            status="limit" if values.limited else status,
            seconds=time.perf_counter() - started,
            n_stages=values.n_stages,
            size=values.size,
        )
        policy = LookaheadPolicy(values, info)
        return certified(policy, self.certificate_paths, self.random_state, paired=self._paired)

    def _solve_horizon(self, problem: AcquisitionProblem) -> tuple[ValueFunction, Any, bool]:
        """Double the horizon until its two bounds agree; the values, what was prepared, and whether they agree."""
        stopping = problem.decision_costs.T
        for n_stages, last in horizons(problem, self.max_stages, self.first_horizon):
            prepared = self._prepare(problem, n_stages)
            values = self._solve(problem, n_stages, stopping, prepared)
            converged = n_stages == problem.n_stages or values.limited
            if not converged:
                # after one more price the class may as well be known: no rest of features can be better
                terminal = np.vstack([stopping, problem.rest(n_stages)])
                lower = self._solve(problem, n_stages, terminal, prepared)
                values.limited |= lower.limited
                upper_cost, lower_cost = (_at_prior(problem, v) for v in (values, lower))
                converged = upper_cost - lower_cost <= self.horizon_tolerance * upper_cost
            if converged or last:
                break
        return values, prepared, converged


def horizons(
    problem: AcquisitionProblem, max_stages: int | None = None, first: int = FIRST_HORIZON
) -> Iterator[tuple[int, bool]]:
    """Horizons to try, each twice the one before, and whether it is the last."""
    check_integer(first, "first_horizon", 1)
    limit = problem.n_stages
    if max_stages is not None:
        limit = min(check_integer(max_stages, "max_stages", 1), limit)
    n_stages = min(first, limit)
    while True:
        yield n_stages, n_stages == limit
        if n_stages == limit:
            return
        n_stages = min(2 * n_stages, limit)


#: Histories a path up to which a certificate enumerates, and how many it does in any case: beyond, paths are quicker.
_HISTORIES, _SURE_HISTORIES = 10, 20_000


def certified(
    policy: Policy,
    n_paths: int,
    random_state: Any,
    values: ValueFunction | None = None,
    *,
    paired: bool = False,
    tolerance: float = WIDE_GAP,
) -> Policy:
    """Return the policy with its certificate in `info`; unchanged where ``n_paths`` is 0."""
    if check_integer(n_paths, "certificate_paths", 0) == 0:
        return policy
    # a stream of its own: the paths must not be those that the solver learned from
    seed = another_stream(random_state)
    most = min(MAX_HISTORIES, max(_SURE_HISTORIES, _HISTORIES * n_paths))
    if policy.problem.visits is not None:  # of which each takes long
        most = max(2, n_paths)
    certificate = certify(
        policy.problem,
        policy,
        values=values,
        n_paths=max(2, n_paths),
        paired=paired,
        max_histories=most,
        random_state=seed,
        hindsight=False,  # which takes longer than to solve
    )
    status = policy.info.status
    return policy.with_info(
        status="wide gap" if status == "converged" and certificate.gap > tolerance else status,
        scope=certificate.scope,
        upper=certificate.upper,
        lower=certificate.lower,
        gap=certificate.gap,
        confidence=certificate.confidence,
        certify_seconds=certificate.seconds,
    )


def on_cases(policy: Policy, n_paths: int, random_state: Any) -> Policy:
    """Return a policy of certain bounds over all orders with a lower end by drawn cases, where that is nearer."""
    began, info = time.perf_counter(), policy.info
    rng = as_generator(another_stream(random_state))
    search = search_of_cases(policy.problem, info.upper, info.lower, n_paths, rng)
    lower = 0.0 if search is None else search.lower((1 - CONFIDENCE) / 2)
    if not info.lower < lower <= info.upper * (1 + ROUNDING):  # what is above the upper end, which is certain, is wrong
        return policy
    lower = min(lower, info.upper)
    gap = (info.upper - lower) / info.upper
    return policy.with_info(
        status="converged" if info.status == "wide gap" and gap <= WIDE_GAP else info.status,
        lower=lower,
        gap=gap,
        confidence=CONFIDENCE,
        certify_seconds=time.perf_counter() - began,
    )


def uncertified(solver: Solver) -> Solver:
    """Return the solver without its certificate; as it is where it has none, or works towards one."""
    if not solver.certifies_last or not solver.get_params(deep=False).get("certificate_paths"):
        return solver
    return clone(solver).set_params(certificate_paths=0)  # type: ignore[no-any-return]


def _at_prior(problem: AcquisitionProblem, values: ValueFunction) -> float:
    info, weight = problem.opening()
    return float(weight @ values.value(0, info.belief, info.context))
