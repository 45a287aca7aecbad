"""Solvers: settings in, certified policy out."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from inspect import get_annotations
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from seqclass._utils.arrays import FloatArray, another_stream, as_generator
from seqclass._utils.model_files import Stored
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_integer, check_part, check_real
from seqclass.pomdp.bounds.certificate import Certificate, certify, search_of_cases
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.bounds.policy_cost import ROUNDING
from seqclass.pomdp.needs import check_problem
from seqclass.pomdp.one_step import context_of, initial_beliefs, perfect_information_bound
from seqclass.pomdp.policy import LookaheadPolicy, Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solve_info import WIDE_GAP, SolveInfo
from seqclass.pomdp.solvers.training import TrainingCases
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.walk import MAX_HISTORIES

__all__ = ["Solver", "ValueSolver"]

_Policy = TypeVar("_Policy", bound=Policy)


#: The horizon is doubled from here on.
FIRST_HORIZON = 64


# its settings are fields of solvers that are dataclasses; others have constructors of their own, or none
@dataclass(repr=False, eq=False, init=False)
class Solver(Stored, BaseEstimator, ABC):  # type: ignore[misc]
    """Settings of a method that turns an acquisition problem into a policy.

    A subclass gives `_policy`, and in `_check` what it needs of a problem; `solve` checks settings and problem before
    any work, keeps the time, and adds the certificate.

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
    ...     def _policy(self, problem):
    ...         return LookaheadPolicy(StoppingValue(problem))
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(Myopic().solve(problem).info.upper, 3)
    0.25
    """

    #: Least values of settings, by name, beside those of the class above: of whole numbers whole ones.
    _least: ClassVar[dict[str, float]] = {"certificate_paths": 0}
    #: Whether the certificate's gap is paired; see `certify`.
    _paired: ClassVar[bool] = False
    #: Whether bounds come with the values and are certain.
    _bounds_with_values: ClassVar[bool] = False
    #: Whether labelled rows change the policy, so that whoever has some gives them.
    uses_cases: ClassVar[bool] = False

    _: KW_ONLY
    certificate_paths: int = 10_000
    random_state: Any = 0

    def _check_settings(self) -> None:
        """Refuse settings that no problem makes right."""
        least: dict[str, float] = {}
        kinds: dict[str, Any] = {}
        for cls in reversed(type(self).__mro__):
            least |= vars(cls).get("_least", {})
            kinds |= get_annotations(cls)
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None or "None" not in str(kinds.get(name)):
                (check_integer if isinstance(low, int) else check_real)(value, name, low)  # type: ignore[arg-type]

    @property
    def certifies_last(self) -> bool:
        """Whether the certificate comes when the policy is found, so that without one the policy is the same."""
        settings = self.get_params(deep=False)
        return settings.get("target_gap") is None and settings.get("max_seconds") is None

    @property
    def _one_at_a_time(self) -> Solver | None:
        """What solves problems in which nothing is saved by ordering several questions together; None: the usual."""
        return self

    def _without_stopping(self, n_stages: int) -> Solver:
        """A solver of policies that ask the same, perhaps quicker, where nobody wants to know when they stop."""
        return self

    def _check(self, problem: AcquisitionProblem) -> None:
        """Refuse a problem that the solver cannot do, before any work, and say what to use instead."""

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        """Make the policy, with what `info` is to report of it; one that has bounds there is not certified again."""
        raise NotImplementedError(f"{type(self).__name__} must define _policy(problem), which returns a policy.")

    def _policy_on(self, problem: AcquisitionProblem, cases: TrainingCases) -> Policy:
        """Make the policy where labelled rows are at hand; of solvers that have ``uses_cases``."""
        return self._policy(problem)

    def solve(self, problem: AcquisitionProblem, cases: TrainingCases | None = None) -> Policy:
        """Solve a problem.

        Parameters
        ----------
        problem : AcquisitionProblem
            The problem.
        cases : TrainingCases, optional
            Labelled rows: `PricedTree` grows on them, `Panels` chooses by them, and others need the problem alone.

        Returns
        -------
        Policy
            Its `info` has the status, the certified bounds and the sizes.

        Raises
        ------
        ValueError
            If the problem needs what the solver does not have; the message says what to use instead.
        """
        self._check_settings()
        check_problem(problem)
        self._check(problem)
        started = time.perf_counter()
        policy = self._policy(problem) if cases is None else self._policy_on(problem, cases)
        _check_policy(self, problem, policy, "_policy")
        seconds = time.perf_counter() - started - policy.info.certify_seconds
        return self.certify(with_info(policy, seconds=seconds))

    def certify(self, policy: Policy, values: ValueFunction | None = None) -> Policy:
        """Add the certificate that the settings ask for to what a policy reports.

        Parameters
        ----------
        policy : Policy
            A policy that this solver made.
        values : ValueFunction, optional
            See `seqclass.pomdp.certify`.

        Returns
        -------
        Policy
            The same policy, with bounds in its `info` unless it had them, or ``certificate_paths`` is 0.
        """
        if not self.certificate_paths or not np.isnan(policy.info.upper):
            return policy
        n_paths = self.certificate_paths
        # of visits each history takes long, and elsewhere paths are quicker than ten histories for each of them
        most = max(2, n_paths) if policy.problem.visits is not None else min(MAX_HISTORIES, max(20_000, 10 * n_paths))
        certificate = certify(
            policy.problem,
            policy,
            values=values,
            n_paths=max(2, n_paths),
            paired=self._paired,
            max_histories=most,
            # a stream of its own: the paths must not be those that the solver learned from
            random_state=another_stream(self.random_state),
            hindsight=False,  # which takes longer than to solve
        )
        status, seconds = policy.info.status, policy.info.certify_seconds + certificate.seconds
        status = "wide gap" if status == "converged" and certificate.gap > WIDE_GAP else status
        return with_info(policy, **ends_of(certificate), status=status, certify_seconds=seconds)


def ends_of(certificate: Certificate) -> dict[str, Any]:
    """What a certificate says, as fields of `SolveInfo`."""
    return {name: getattr(certificate, name) for name in ("scope", "upper", "lower", "gap", "confidence")}


def policy_of(solver: Solver, problem: AcquisitionProblem, cases: TrainingCases | None = None) -> Policy:
    """What a solver, which may be any object that solves, makes of a problem, if it is a policy."""
    check_part(solver, "solver", "a solver such as Lookahead()", ("solve",))
    policy = solver.solve(problem, cases) if getattr(solver, "uses_cases", False) else solver.solve(problem)
    _check_policy(solver, problem, policy, "solve")
    return policy


def _check_policy(solver: Solver, problem: AcquisitionProblem, policy: object, by: str) -> None:
    if not isinstance(policy, Policy):
        raise TypeError(
            f"solver: {type(solver).__name__}.{by} must return a policy, such as FunctionPolicy(problem, function); it "
            f"returned {short_repr(policy)}."
        )
    if policy.problem is not problem:
        raise ValueError(f"solver: {type(solver).__name__}.{by} must return a policy for the problem it was given.")


class ValueSolver(Solver):
    """A solver that works out values backward over stages.

    Subclasses give `_prepare` and `_solve`; `_policy` doubles the horizon and looks one step ahead on the values.

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

    _least = {"horizon_tolerance": 0.0, "max_stages": 1, "first_horizon": 1}

    horizon_tolerance: float
    max_stages: int | None
    first_horizon: int = FIRST_HORIZON

    @abstractmethod
    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> Any:
        """Grid, beliefs, or whatever else does not depend on the terminal cost."""

    @abstractmethod
    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        """Values over ``n_stages`` stages whose cost after the last is ``min(belief @ terminal.T)``, (m, n_classes)."""

    def _finish(self, problem: AcquisitionProblem, values: ValueFunction, prepared: Any) -> ValueFunction:
        """Improve the values once the horizon is known; ``prepared`` is that of this horizon."""
        return values

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        values, prepared, converged = self._solve_horizon(problem)
        values = self._finish(problem, values, prepared)
        status = "limit" if values.limited else "converged" if converged else "truncated"
        return LookaheadPolicy(values, SolveInfo(status, n_stages=values.n_stages, size=values.size))

    def _solve_horizon(self, problem: AcquisitionProblem) -> tuple[ValueFunction, Any, bool]:
        """Double the horizon until its two bounds agree; the values, what was prepared, and whether they agree."""
        stopping = problem.decision_costs.T
        for n_stages, last in horizons(problem, self.max_stages, self.first_horizon):
            prepared = self._prepare(problem, n_stages)
            values = self._solve(problem, n_stages, stopping, prepared)
            converged = n_stages == problem.n_stages or values.limited
            if not converged:
                # after one more price the class may as well be known: no rest of features can be better
                terminal = np.vstack([stopping, perfect_information_bound(problem, n_stages)])
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
    limit = problem.n_stages if max_stages is None else min(max_stages, problem.n_stages)
    n_stages = min(first, limit)
    while n_stages < limit:
        yield n_stages, False
        n_stages = min(2 * n_stages, limit)
    yield n_stages, True


def on_cases(policy: Policy, n_paths: int, random_state: Any) -> Policy:
    """Return a policy of certain bounds over all orders with a lower end by drawn cases, where that is nearer."""
    began, info = time.perf_counter(), policy.info
    rng = as_generator(another_stream(random_state))
    search = search_of_cases(policy.problem, info.upper, info.lower, n_paths, rng)
    lower = 0.0 if search is None else search.lower((1 - CONFIDENCE) / 2)
    policy = with_info(policy, certify_seconds=info.certify_seconds + time.perf_counter() - began)
    if not info.lower < lower <= info.upper * (1 + ROUNDING):  # what is above the upper end, which is certain, is wrong
        return policy
    policy = with_bounds(policy, lower, info.upper, CONFIDENCE)
    near = info.status == "wide gap" and policy.info.gap <= WIDE_GAP
    return with_info(policy, status="converged") if near else policy


def with_bounds(policy: _Policy, lower: float, upper: float, confidence: float = 1.0, **changes: Any) -> _Policy:
    """Return the policy with bounds over all orders, and other fields of its `info` replaced."""
    lower = min(lower, upper)
    gap = (upper - lower) / upper if upper - lower > TIE * upper else 0.0
    return with_info(policy, upper=upper, lower=lower, gap=gap, confidence=confidence, scope="all orders", **changes)


def without_certificate(solver: Solver) -> Solver:
    """Return the solver without its certificate; as it is where it has none, or works towards one."""
    if not solver.certifies_last or not solver.get_params(deep=False).get("certificate_paths"):
        return solver
    return clone(solver).set_params(certificate_paths=0)  # type: ignore[no-any-return]


def _at_prior(problem: AcquisitionProblem, values: ValueFunction) -> float:
    belief, weight = initial_beliefs(problem)
    return float(weight @ values.value(0, belief.probabilities, context_of(belief)))
