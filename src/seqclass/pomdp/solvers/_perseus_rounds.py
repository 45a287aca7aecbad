"""BeliefRounds of point-based backups that go on until a wanted gap, time or size."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from seqclass._arrays import as_generator
from seqclass.pomdp.alpha.points import Points, merged, point_based, sample_beliefs
from seqclass.pomdp.alpha.vectors import SharedVectors
from seqclass.pomdp.bounds.certificate import Certificate, certify
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.policy import LookaheadPolicy, Policy, SolveStep
from seqclass.pomdp.repricing import unit

#: What limits of time are measured by.
_clock = time.perf_counter
#: Paths may grow to this many times what they start with.
_MOST_PATHS = 64


class BeliefRounds:
    """Improve a policy until its certified gap is small enough, or a limit is hit.

    Parameters
    ----------
    policy : LookaheadPolicy
        Policy to begin with; its values have the horizon.
    elapsed : float
        Seconds that solving has taken so far.
    target_gap : float
        Gap to reach.
    max_seconds : float
        No round is begun that is not expected to end by then.
    n_beliefs, max_beliefs : int
        Most beliefs a stage, now and in the end.
    tolerance : float
        See `cover`; it is halved as beliefs are doubled.
    n_paths : int
        Sampled paths of the first certificate.
    random_state : int, generator or None
        Seed.
    """

    def __init__(
        self,
        policy: LookaheadPolicy,
        elapsed: float,
        target_gap: float,
        max_seconds: float,
        n_beliefs: int,
        max_beliefs: int,
        tolerance: float,
        n_paths: int,
        random_state: Any,
    ) -> None:
        self.policy = self.best = policy
        self.best_gap = np.inf
        self.problem = policy.problem
        self.started, self.target_gap, self.max_seconds = _clock() - elapsed, target_gap, max_seconds
        self.n_beliefs, self.max_beliefs, self.tolerance = n_beliefs, max_beliefs, tolerance
        self.n_paths, self.max_paths = n_paths, _MOST_PATHS * n_paths
        # streams of their own: paths must not be those that beliefs were learned from
        rng = as_generator(random_state)
        self.belief_rng, self.path_rng = (np.random.default_rng(seed) for seed in rng.integers(2**63, size=(2, 2)))
        self.points: list[Points] | None = None
        self.trace: list[SolveStep] = []
        self.attempts = 0
        self._last_round = elapsed

    def run(self) -> Policy:
        """Return the policy of the smallest gap, certified on paths that were not used to choose it."""
        while True:
            measured = self._measure()
            if measured.gap <= self.target_gap:
                final = self._certify()
                if final.gap <= self.target_gap:
                    return self._finished(final)
            if not self._grow(measured):
                return self._finished(self._certify())

    def _measure(self) -> Certificate:
        measured = certify(self.problem, self.policy, n_paths=self.n_paths, random_state=self.path_rng)
        self._note(measured)
        if measured.gap < self.best_gap:
            self.best, self.best_gap = self.policy, measured.gap
        return measured

    def _certify(self) -> Certificate:
        # whichever attempt is reported in the end, all of them hold with the probability that is stated
        self.attempts += 1
        confidence = 1 - (1 - CONFIDENCE) / 2**self.attempts
        final = certify(
            self.problem, self.best, n_paths=self.n_paths, confidence=confidence, random_state=self.path_rng
        )
        self._note(final)
        return final

    def _note(self, found: Certificate) -> None:
        seconds = _clock() - self.started
        self.trace.append(SolveStep(seconds, self.n_beliefs, found.upper, found.lower, found.gap))

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
        return _clock() - self.started + needed > self.max_seconds

    def _add_beliefs(self) -> None:
        began = _clock()
        self.n_beliefs = min(2 * self.n_beliefs, self.max_beliefs)
        self.tolerance /= 2
        n_stages, half = self.policy.n_stages, -(-self.n_beliefs // 2)
        for policy in (self.policy, None):
            shared = isinstance(self.policy.values, SharedVectors)
            new = sample_beliefs(self.problem, n_stages, half, self.belief_rng, policy, share_contexts=shared)
            self.points = new if self.points is None else merged(self.points, new)
        assert self.points is not None
        stopping = self.problem.decision_costs.T
        values = point_based(self.problem, self.points, stopping, self.tolerance * unit(self.problem), self.belief_rng)
        self.policy = LookaheadPolicy(values, self.policy.info)
        self._last_round = _clock() - began

    def _finished(self, final: Certificate) -> Policy:
        exact = final.confidence == 1.0
        return self.best.with_info(
            status="converged" if final.gap <= self.target_gap else "limit",
            upper=final.upper,
            lower=final.lower,
            gap=final.gap,
            confidence=1.0 if exact else CONFIDENCE,
            seconds=_clock() - self.started - final.seconds,
            certify_seconds=final.seconds,
            size=self.best.values.size,
            trace=tuple(self.trace),
        )
