"""Value iteration over stages by regression on smooth functions of the belief."""

from __future__ import annotations

from typing import Any

from seqclass._arrays import FloatArray, as_generator
from seqclass._validation import check_integer
from seqclass.pomdp.alpha.points import Points, merged, sample_beliefs
from seqclass.pomdp.needs import needed_order, needed_tables
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import FIRST_HORIZON, ValueSolver
from seqclass.pomdp.solvers.fitted_values import FittedValues, fitted_values
from seqclass.pomdp.values import ValueFunction


class FittedValueIteration(ValueSolver):
    """Value iteration over stages by least squares on smooth functions of the belief, for any number of classes.

    Beliefs are sampled from the model's own trajectories, as `Perseus` samples them. At each stage, from the last to
    the first, the cost of going on at them is one step of look-ahead on the stage after, and a regression on
    `BeliefFunctions` carries it to beliefs between. Further rounds sample half of the beliefs from the newest policy,
    where they matter. A few hundred weights a stage say what takes thousands of alpha vectors. The values are no plan's
    cost; the certificate is that of the policy, as valid as any, and its gap paired (see `certify`). `Perseus` is exact
    where beliefs are few, and the better choice with twenty classes and more.

    Parameters
    ----------
    n_beliefs : int
        Most beliefs a stage, half of them from all trajectories, half from the newest policy's.
    n_rounds : int
        Rounds of sampling, the first of which knows no policy.
    horizon_tolerance : float
        The horizon is doubled until its two bounds differ by less than this share.
    first_horizon : int
        The horizon that is tried first.
    max_stages : int or None
        Longest horizon.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the beliefs and the certificate.

    References
    ----------
    .. [1] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.
    .. [2] R. Munos and C. Szepesvari, "Finite-time bounds for fitted value iteration", JMLR 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FittedValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = FittedValueIteration().solve(problem)
    >>> policy.info.status, round(policy.info.upper, 3), policy.info.gap
    ('converged', 0.25, 0.0)
    """

    _paired = True

    def __init__(
        self,
        n_beliefs: int = 2000,
        *,
        n_rounds: int = 2,
        horizon_tolerance: float = 1e-3,
        first_horizon: int = FIRST_HORIZON,
        max_stages: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.n_beliefs = n_beliefs
        self.n_rounds = n_rounds
        self.horizon_tolerance = horizon_tolerance
        self.first_horizon = first_horizon
        self.max_stages = max_stages
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    def _check(self, problem: AcquisitionProblem) -> None:
        check_integer(self.n_beliefs, "n_beliefs", 1)
        check_integer(self.n_rounds, "n_rounds", 1)
        needed_order(problem, "FittedValueIteration")
        needed_tables(problem, "FittedValueIteration", "ProjectedValueIteration or Lookahead")

    @property
    def _half(self) -> int:
        return -(-self.n_beliefs // 2)

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> list[Points]:
        return sample_beliefs(problem, n_stages, self._half, as_generator(self.random_state))

    def _solve(
        self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: list[Points]
    ) -> FittedValues:
        return fitted_values(problem, prepared, terminal)

    def _finish(self, problem: AcquisitionProblem, values: ValueFunction, prepared: list[Points]) -> ValueFunction:
        n_stages, rng = values.n_stages, as_generator(self.random_state)
        for _ in range(self.n_rounds - 1):
            visited = sample_beliefs(problem, n_stages, self._half, rng, LookaheadPolicy(values))
            values = fitted_values(problem, merged(prepared, visited), problem.decision_costs.T)
        return values
