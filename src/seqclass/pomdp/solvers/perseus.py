"""Perseus: point-based value iteration on beliefs that the model reaches."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, as_generator
from seqclass._validation import check_integer, check_real
from seqclass.pomdp.alpha.points import Points, point_based, sample_beliefs
from seqclass.pomdp.needs import needed_order, needed_tables
from seqclass.pomdp.policy import LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.repricing import unit
from seqclass.pomdp.solvers._perseus_rounds import BeliefRounds
from seqclass.pomdp.solvers.base import FIRST_HORIZON, ValueSolver
from seqclass.pomdp.values import ValueFunction


class Perseus(ValueSolver):
    """Point-based value iteration over stages, for any number of classes.

    Beliefs are sampled from the model's own trajectories, all of them where they are few; each stage's vectors are
    backed up at its beliefs in one batch, and few vectors that give every belief its own backed-up value are kept.
    A second round samples beliefs from the first round's policy, where they matter. Two deviations from the published
    algorithm, which reuses the rule for a stationary value function: value functions of different stages are not
    compared, and beliefs come from the model rather than from uniform outcomes. A third one, unless `share_contexts`
    is set: a vector is read only in the context it was computed in.

    With ``target_gap`` or ``max_seconds`` rounds go on: beliefs are doubled, half of the new ones from the newest
    policy and half from all trajectories, as the certificate follows them, until the certified gap is small enough.
    Where sampling error is what keeps the gap open, paths are doubled instead. The policy of the smallest gap is
    returned, with a certificate on paths that played no part in choosing it.

    Parameters
    ----------
    n_beliefs : int
        Most beliefs a stage; of several rounds the first, which only has to find where to look, takes a quarter.
    n_rounds : int
        BeliefRounds of sampling; 1 is the paper's.
    target_gap : float or None
        Certified gap to reach, as of ``policy.info.gap``; the status is ``"converged"`` where it is reached and
        ``"limit"`` where not. ``horizon_tolerance`` has to be well below.
    max_seconds : float or None
        Go on until then (or ``target_gap``, 0 if none is given); no round is begun that is not expected to end in time.
    max_beliefs : int
        Most beliefs a stage of the rounds that go on.
    share_contexts : bool
        Read every vector in every context, as the paper does: an approximation for comparison, which also serves
        problems without tables. What such values claim, ``policy.values.value(0, prior)``, may be below the optimum;
        the bounds of ``policy.info`` are those of the policy that is executed. `ProjectedValueIteration` approximates
        better.
    tolerance : float
        How far above its own backed-up value a belief may be left, in units of cost.
    horizon_tolerance : float
        The horizon is doubled until its two bounds differ by less than this share.
    first_horizon : int
        The horizon that is tried first.
    max_stages : int or None
        Longest horizon.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the beliefs, the order of the visits and the certificate.

    References
    ----------
    .. [1] M. T. J. Spaan and N. Vlassis, "Perseus: randomized point-based value iteration for POMDPs", JAIR 24, 2005.
    .. [2] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE TAI 2021, section V.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Perseus, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = Perseus().solve(problem)
    >>> policy.info.status, round(policy.info.upper, 3), policy.info.gap
    ('converged', 0.25, 0.0)
    >>> Perseus(target_gap=0.01).solve(problem).info.trace[-1].gap
    0.0
    """

    def __init__(
        self,
        n_beliefs: int = 3000,
        *,
        n_rounds: int = 2,
        target_gap: float | None = None,
        max_seconds: float | None = None,
        max_beliefs: int = 50_000,
        share_contexts: bool = False,
        tolerance: float = 1e-4,
        horizon_tolerance: float = 1e-4,
        first_horizon: int = FIRST_HORIZON,
        max_stages: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.n_beliefs = n_beliefs
        self.n_rounds = n_rounds
        self.target_gap = target_gap
        self.max_seconds = max_seconds
        self.max_beliefs = max_beliefs
        self.share_contexts = share_contexts
        self.tolerance = tolerance
        self.horizon_tolerance = horizon_tolerance
        self.first_horizon = first_horizon
        self.max_stages = max_stages
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    @classmethod
    def published(cls, random_state: Any = 0) -> Perseus:
        """Return the paper's settings: 100 beliefs, one round, vectors shared across contexts.

        Examples
        --------
        >>> Perseus.published()
        Perseus(n_beliefs=100, n_rounds=1, share_contexts=True)
        """
        return cls(100, n_rounds=1, share_contexts=True, random_state=random_state)

    def _check(self, problem: AcquisitionProblem) -> None:
        check_integer(self.n_beliefs, "n_beliefs", 1)
        check_integer(self.n_rounds, "n_rounds", 1)
        check_integer(self.max_beliefs, "max_beliefs", 1)
        check_real(self.tolerance, "tolerance", 0)
        for name in ("target_gap", "max_seconds"):
            if getattr(self, name) is None:
                continue
            check_real(getattr(self, name), name, 0)
            if self.certificate_paths == 0:
                raise ValueError(f"{name} needs the certificate; set certificate_paths to some thousands.")
        needed_order(problem, "Perseus")
        if not self.share_contexts:
            needed_tables(
                problem, "Perseus", "ProjectedValueIteration, Lookahead, or the approximation share_contexts=True"
            )

    def _shares(self, problem: AcquisitionProblem) -> bool:
        """Whether vectors are to be read where they are not valid; with a single context there is no such place."""
        tables = problem.tables
        return self.share_contexts and not (tables is not None and tables.single)

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> list[Points]:
        # a rough policy is enough to find where the beliefs of the next round should lie
        n_beliefs = self.n_beliefs if self.n_rounds == 1 else -(-self.n_beliefs // 4)
        rng = as_generator(self.random_state)
        return sample_beliefs(problem, n_stages, n_beliefs, rng, share_contexts=self._shares(problem))

    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        rng = as_generator(self.random_state)
        return point_based(problem, prepared, terminal, self.tolerance * unit(problem), rng)

    def _finish(self, problem: AcquisitionProblem, values: ValueFunction, prepared: Any) -> ValueFunction:
        rng = as_generator(self.random_state)
        for _ in range(self.n_rounds - 1):
            policy = LookaheadPolicy(values)
            points = sample_beliefs(
                problem, values.n_stages, self.n_beliefs, rng, policy, share_contexts=self._shares(problem)
            )
            values = point_based(problem, points, problem.decision_costs.T, self.tolerance * unit(problem), rng)
        return values

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a problem; see `Solver.solve`."""
        if self.target_gap is None and self.max_seconds is None:
            return super().solve(problem)
        started = time.perf_counter()
        self._check(problem)
        settings = self.get_params() | {"target_gap": None, "max_seconds": None, "certificate_paths": 0}
        policy = type(self)(**settings).solve(problem)
        assert isinstance(policy, LookaheadPolicy)
        return BeliefRounds(
            policy,
            time.perf_counter() - started,
            target_gap=0.0 if self.target_gap is None else self.target_gap,
            max_seconds=np.inf if self.max_seconds is None else self.max_seconds,
            n_beliefs=self.n_beliefs,
            max_beliefs=self.max_beliefs,
            tolerance=self.tolerance,
            n_paths=max(2, self.certificate_paths),
            random_state=self.random_state,
        ).run()
