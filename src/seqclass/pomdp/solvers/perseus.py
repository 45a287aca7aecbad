"""Perseus: point-based value iteration on beliefs that the model reaches."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, cast

import numpy as np

from seqclass._utils.arrays import FloatArray, as_generator
from seqclass._utils.progress import now
from seqclass.pomdp.alpha import BackupPoints, back_up_points, merge_points, sample_beliefs
from seqclass.pomdp.bounds.certificate import Certificate, certify
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.needs import require_fixed_order, require_tables
from seqclass.pomdp.one_step import unit
from seqclass.pomdp.policy import LookaheadPolicy, Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solve_info import SolveStep
from seqclass.pomdp.solvers.base import FIRST_HORIZON, ValueSolver, ends_of
from seqclass.pomdp.values import ValueFunction

__all__ = ["Perseus"]


class BeliefRounds:
    """Improve a policy until its certified gap is small enough, or a limit is hit."""

    def __init__(self, policy: LookaheadPolicy, elapsed: float, settings: Perseus) -> None:
        self.policy = self.best = policy
        self.best_gap = np.inf
        self.problem = policy.problem
        self.started, self.target_gap = now() - elapsed, settings.target_gap or 0.0
        self.max_seconds = np.inf if settings.max_seconds is None else settings.max_seconds
        self.n_beliefs, self.max_beliefs = settings.n_beliefs, settings.max_beliefs
        self.tolerance, self.n_paths = settings.tolerance, max(2, settings.certificate_paths)
        # paths may grow to this many times what they start with
        self.max_paths = 64 * self.n_paths
        # streams of their own: paths must not be those that beliefs were learned from
        self.shares = settings._shares(policy.problem)
        rng = as_generator(settings.random_state)
        self.belief_rng, self.path_rng = (np.random.default_rng(seed) for seed in rng.integers(2**63, size=(2, 2)))
        self.points: list[BackupPoints] | None = None
        self.trace: list[SolveStep] = []
        self.attempts, self.certify_seconds = 0, 0.0
        self._last_round = elapsed

    def run(self) -> Policy:
        """Return the policy of the smallest gap, certified on paths that were not used to choose it."""
        while True:
            measured = self._look(self.policy)
            if measured.gap < self.best_gap:
                self.best, self.best_gap = self.policy, measured.gap
            if measured.gap <= self.target_gap:
                final = self._certify()
                if final.gap <= self.target_gap:
                    return self._finish(final)
            if not self._grow(measured):
                return self._finish(self._certify())

    def _certify(self) -> Certificate:
        # whichever attempt is reported in the end, all of them hold with the probability that is stated
        self.attempts += 1
        return self._look(self.best, 1 - (1 - CONFIDENCE) / 2**self.attempts)

    def _look(self, policy: Policy, confidence: float = CONFIDENCE) -> Certificate:
        """The certificate of a policy on new paths, which is noted."""
        found = certify(self.problem, policy, n_paths=self.n_paths, confidence=confidence, random_state=self.path_rng)
        self.certify_seconds += found.seconds
        self.trace.append(SolveStep(now() - self.started, self.n_beliefs, found.upper, found.lower, found.gap))
        return found

    def _grow(self, measured: Certificate) -> bool:
        """More paths where sampling error keeps the gap open, else more beliefs; False where a limit is in the way."""
        mean_gap = (measured.upper_mean - measured.lower_mean) / (measured.upper or 1.0)
        noisy = measured.confidence < 1 and measured.gap > 2 * mean_gap
        more_paths, more_beliefs = self.n_paths < self.max_paths, self.n_beliefs < self.max_beliefs
        if noisy and more_paths:
            if self._late(3 * measured.seconds):
                return False
            self.n_paths *= 2
            return True
        if not more_beliefs or self._late(2 * self._last_round + 2 * measured.seconds):
            return False
        self._add_beliefs()
        return True

    def _late(self, needed: float) -> bool:
        return now() - self.started + needed > self.max_seconds

    def _add_beliefs(self) -> None:
        began = now()
        self.n_beliefs = min(2 * self.n_beliefs, self.max_beliefs)
        self.tolerance /= 2
        n_stages, half = self.policy.n_stages, -(-self.n_beliefs // 2)
        for policy in (self.policy, None):
            new = sample_beliefs(self.problem, n_stages, half, self.belief_rng, policy, share_contexts=self.shares)
            self.points = new if self.points is None else merge_points(self.points, new)
        assert self.points is not None
        stopping = self.problem.decision_costs.T
        values = back_up_points(
            self.problem, self.points, stopping, self.tolerance * unit(self.problem), self.belief_rng
        )
        self.policy = LookaheadPolicy(values, self.policy.info)
        self._last_round = now() - began

    def _finish(self, final: Certificate) -> Policy:
        ends = ends_of(final) | {"confidence": 1.0 if final.confidence == 1.0 else CONFIDENCE}
        ends["status"] = "converged" if final.gap <= self.target_gap else "limit"
        size, trace = self.best.values.size, tuple(self.trace)
        return with_info(self.best, **ends, certify_seconds=self.certify_seconds, size=size, trace=trace)


@dataclass(repr=False, eq=False)
class Perseus(ValueSolver):
    """Point-based value iteration over stages, for any number of classes.

    Beliefs are sampled from the model's own trajectories, or are all beliefs where there are few. The vectors of each
    stage are backed up at its beliefs in one batch, and a few are kept that give every belief at least as good a value.
    A second round samples beliefs from the policy of the first, where they matter. This deviates in two ways from the
    published algorithm, which reuses the rule for a stationary value function: value functions of different stages are
    not compared, and beliefs come from the model rather than from uniform outcomes. There is a third deviation unless
    `share_contexts` is set: a vector is used only in the context it was computed in.

    With ``target_gap`` or ``max_seconds`` there are more rounds until the certified gap is small enough. In each, the
    number of beliefs is doubled, with half of the new ones from the newest policy and half from all trajectories, as
    the certificate follows them. If sampling error keeps the gap open, paths are doubled instead. The policy with the
    smallest gap is returned, with a certificate on paths that played no part in choosing it.

    Parameters
    ----------
    n_beliefs : int
        Most beliefs a stage; of several rounds the first, which only has to find where to look, takes a quarter.
    n_rounds : int
        Rounds of sampling; 1 is the paper's.
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
    certificate_paths, random_state
        As in `Solver`.

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

    _least = {"n_beliefs": 1, "n_rounds": 1, "max_beliefs": 1, "tolerance": 0.0, "target_gap": 0.0, "max_seconds": 0.0}

    n_beliefs: int = 3000
    _: KW_ONLY
    n_rounds: int = 2
    target_gap: float | None = None
    max_seconds: float | None = None
    max_beliefs: int = 50_000
    share_contexts: bool = False
    tolerance: float = 1e-4
    horizon_tolerance: float = 1e-4
    first_horizon: int = FIRST_HORIZON
    max_stages: int | None = None

    @classmethod
    def from_paper(cls, random_state: Any = 0) -> Perseus:
        """Return the paper's settings: 100 beliefs, one round, vectors shared across contexts.

        Examples
        --------
        >>> Perseus.from_paper()
        Perseus(n_beliefs=100, n_rounds=1, share_contexts=True)
        """
        return cls(100, n_rounds=1, share_contexts=True, random_state=random_state)

    def _check_settings(self) -> None:
        super()._check_settings()
        for name in ("target_gap", "max_seconds"):
            if getattr(self, name) is not None and self.certificate_paths == 0:
                raise ValueError(f"{name} needs the certificate; set certificate_paths to some thousands.")

    def _check(self, problem: AcquisitionProblem) -> None:
        require_fixed_order(problem, "Perseus")
        if not self.share_contexts:
            require_tables(
                problem, "Perseus", "ProjectedValueIteration, Lookahead, or the approximation share_contexts=True"
            )

    def _shares(self, problem: AcquisitionProblem) -> bool:
        """Whether vectors are to be read where they are not valid; with a single context there is no such place."""
        tables = problem.structure.tables
        return self.share_contexts and not (tables is not None and tables.single)

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> list[BackupPoints]:
        # a rough policy is enough to find where the beliefs of the next round should lie
        n_beliefs = self.n_beliefs if self.n_rounds == 1 else -(-self.n_beliefs // 4)
        rng = as_generator(self.random_state)
        return sample_beliefs(problem, n_stages, n_beliefs, rng, share_contexts=self._shares(problem))

    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        rng = as_generator(self.random_state)
        return back_up_points(problem, prepared, terminal, self.tolerance * unit(problem), rng)

    def _finish(self, problem: AcquisitionProblem, values: ValueFunction, prepared: Any) -> ValueFunction:
        rng = as_generator(self.random_state)
        for _ in range(self.n_rounds - 1):
            policy = LookaheadPolicy(values)
            points = sample_beliefs(
                problem, values.n_stages, self.n_beliefs, rng, policy, share_contexts=self._shares(problem)
            )
            values = back_up_points(problem, points, problem.decision_costs.T, self.tolerance * unit(problem), rng)
        return values

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        started, policy = now(), super()._policy(problem)
        if self.target_gap is None and self.max_seconds is None:
            return policy
        return BeliefRounds(cast(LookaheadPolicy, policy), now() - started, self).run()
