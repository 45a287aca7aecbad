"""What a policy costs at most: of histories that weigh enough every answer is followed, of each of the others paths."""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, draw_columns
from seqclass._utils.progress import DeadlineExceeded, remaining_seconds
from seqclass.pomdp.margins import greatest_price
from seqclass.pomdp.observations import Branches, ObservationSource, SampledObservations
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.walk import Fork, Level, initial_histories, next_of, walk_to_end

#: Ends that are certain, or computed of the same, differ by less than this share of them: programs are solved to it.
ROUNDING = 1e-6


class ThinnedAnswers(ObservationSource):
    """Every outcome of histories that weigh enough, and of all others one that is drawn, which keeps their weight."""

    def __init__(self, least: float, rng: np.random.Generator) -> None:
        self.least, self.rng = least, rng

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `ObservationSource.branch`."""
        share = weight[:, None] * belief.outcome_probabilities
        light = np.flatnonzero(weight < self.least)
        if light.size:
            drawn = draw_columns(belief.outcome_probabilities[light], self.rng.random(light.size))
            share[light] = 0
            share[light, drawn] = weight[light]
        # of a question with more outcomes, those too light to be followed each are drawn as well: a few stand for all
        if share.shape[1] > 32:
            thin = (share > 0) & (share < self.least)
            thin[light] = False
            kept = self.rng.random(int(thin.sum())) * self.least < share[thin]
            share[thin] = np.where(kept, np.nextafter(self.least, 0), 0.0)  # which is light still
        parent, outcome = np.nonzero(share > 0)
        return Branches(parent, outcome, share[parent, outcome])


def greatest_cost(problem: AcquisitionProblem) -> float:
    """What no path costs more than: everything is bought, and one decision made whatever the class."""
    return greatest_price(problem) + float(problem.decision_costs.max(axis=0).min())


def greatest_expected_cost(problem: AcquisitionProblem) -> float:
    """What no policy is expected to cost more than: everything is bought, of which deciding is none the dearer."""
    belief, share = initial_beliefs(problem)
    return greatest_price(problem) + float(share @ belief.stopping_cost)


class PathCosts(NamedTuple):
    """Costs of histories: of those that were followed whole together, of each of the others on paths of its own.

    Attributes
    ----------
    known : float
        Expected cost of what was followed whole.
    n_begun : int
        Histories of which paths were followed.
    weight, times : ndarray of shape (n,)
        What each path weighs, and how many were alike.
    guess : ndarray of shape (n,)
        Cost of deciding where the paths begin, which says roughly what they cost.
    cost : ndarray of shape (n,)
        Cost of each from there on.
    """

    known: float
    n_begun: int
    weight: FloatArray
    times: FloatArray
    guess: FloatArray
    cost: FloatArray

    @property
    def mean(self) -> float:
        """Unbiased estimate of the policy's cost."""
        return self.known + float(self.times @ (self.weight * self.cost))

    @property
    def standard_error(self) -> float:
        """Standard error of this, what the guesses say not being left to chance; 0 where all was followed whole."""
        return float(np.sqrt(self.times @ self.weight**2 * self.spread()[1])) if self.cost.size else 0.0

    def spread(self) -> tuple[float, float]:
        """How much the costs are of the guesses, and their variance about these by the sum of squared weights."""
        share = self.times * self.weight**2
        square = float(share @ self.guess**2)
        slope = max(float(share @ (self.guess * self.cost)) / square, 0.0) if square > 0 else 0.0
        return slope, float(share @ (self.cost - slope * self.guess) ** 2 / share.sum())

    def end(self, before: PathCosts | None, greatest: float, failing: float, sign: float) -> float:
        """What the policy costs at most (sign -1) or least (1), but for a chance: however rare the dearest paths are.

        For independent costs X of weights w, any guesses a and theta > 0 for which no factor can be negative, the
        product of 1 + theta w (a - X) has at most the mean exp(theta sum of w (a - E X)), and by Markov's inequality is
        seldom above it by a factor of 1 / failing; the lower end is by the product of 1 + theta w (X - a). Guesses and
        theta are from the run ``before``.
        """
        if not self.cost.size or greatest <= 0:
            return self.mean
        share, surprise = self.times * self.weight**2, -log(failing)
        if before is None or not before.cost.size:
            # where no run has told yet how much the cost of going on is of that of deciding, and how far off that is
            slope, variance = 0.5, float(share @ (0.5 * self.guess) ** 2)
        else:
            slope, variance = before.spread()
            variance *= float(share.sum())
        guess = np.minimum(slope * self.guess, greatest)
        # how near to nothing a factor may come
        most = 0.9 / (float(self.weight.max()) * greatest)
        theta = min(sqrt(2 * surprise / variance), most) if variance > 0 else most
        factors = float(self.times @ np.log1p(sign * theta * self.weight * (self.cost - guess)))
        return self.known + float(self.times @ (self.weight * guess)) + sign * (factors - surprise) / theta


def cost_at_most(policy: Policy, n_paths: int, rng: np.random.Generator, confidence: float, lower: float) -> float:
    """What a policy costs at most under its own problem, where none costs less than ``lower``."""
    cost = PolicyCost(policy.problem, policy, rng)
    cost.run(n_paths)
    high = cost.ends(1 - confidence)[1]
    if high < lower * (1 - ROUNDING):  # the sample has failed
        return greatest_expected_cost(policy.problem)
    return max(high, lower)


def fewer_paths(n_paths: int) -> int:
    """Paths of a `PolicyCost` that tell as much as so many plain ones: what weighs much is followed whole."""
    return max(n_paths // 4, 1)


class PolicyCost:
    """Bounds what a policy costs from ever more paths; or where it is not to decide, what it pays."""

    def __init__(
        self, problem: AcquisitionProblem, policy: Policy, rng: np.random.Generator, decides: bool = True
    ) -> None:
        self.problem, self.policy, self.rng, self.decides = problem, policy, rng, decides
        self.greatest = greatest_cost(problem) if decides else greatest_price(problem)
        #: The last run and the one before, and how many paths the last was to have.
        self._runs: list[PathCosts] = []
        self.n_paths = 0
        #: What histories weigh of which all answers are followed.
        self._least = 1.0

    def run(self, n_paths: int) -> None:
        """Follow about so many paths; fewer where the time is up, which is raised where it was up before any were."""
        try:
            while self.n_paths < n_paths:
                run_costs = self._paths(n_paths)
                self._runs = [*self._runs[-1:], run_costs[0]]
                self.n_paths = run_costs[1]
        except DeadlineExceeded:
            if not self._runs:
                raise

    def ends(self, failing: float) -> tuple[float, float]:
        """Estimate of the cost, and what it is at most but for a chance ``failing``."""
        return self._runs[-1].mean, self._end(failing, -1.0)

    def at_least(self, failing: float) -> float:
        """What it costs at least but for a chance ``failing``."""
        return max(self._end(failing, 1.0), self._runs[-1].known)

    def _end(self, failing: float, sign: float) -> float:
        *before, last = self._runs
        return last.end(before[0] if before else None, self.greatest, failing, sign)

    @property
    def standard_error(self) -> float:
        """Standard error of the estimate."""
        return self._runs[-1].standard_error

    def _paths(self, n_paths: int) -> tuple[PathCosts, int]:
        """Costs of one run more, and for how many paths it will do."""
        limited = remaining_seconds() < np.inf
        # the first run takes few: how much costs differ is told by the run before the last
        first = min(250, n_paths) if limited else max(1, round(0.125 * n_paths))
        n = n_paths if self._runs and not limited else min(max(first, 2 * self.n_paths), n_paths)
        if self.problem.structure.samples:
            return self._path_costs(SampledObservations(self.rng), n), n
        begun = self._runs[-1].n_begun if self._runs else 0
        # histories are followed to less weight until there are so many others for each path, or all weigh so little
        if self._runs and begun >= 0.25 * n:
            return self._path_costs(ThinnedAnswers(self._least, self.rng), 1, 1 / n), n
        self._least = self._least * min(max(begun / n, 0.1), 0.5) if self._runs else 1 / first
        costs = self._path_costs(ThinnedAnswers(self._least, self.rng), 1, self._least)
        return costs, n_paths if not costs.cost.size or self._least <= 1e-10 else self.n_paths

    def _path_costs(self, answers: ThinnedAnswers | SampledObservations, total: int, unit: float = np.inf) -> PathCosts:
        """Costs of all histories that weigh enough, and of paths of at most a unit of others; or of ``total`` paths."""
        belief, weight = initial_histories(self.problem, self.policy, float(total), answers)
        least = answers.least if isinstance(answers, ThinnedAnswers) else np.inf
        known, n_begun, ended = 0.0, 0, []
        # of each history what was paid where its paths begin, nan where all answers are followed; and what it may
        # cost then
        paid, guess = np.full((2, len(belief)), np.nan)
        if least == np.inf:  # how many paths begin where is a matter of chance
            paid[:], guess[:] = 0.0, float(weight @ belief.stopping_cost) / total

        def ask(level: Level) -> Fork:
            nonlocal known, n_begun, paid, guess
            paid, guess = paid[level.parent], guess[level.parent]
            begins = np.isnan(paid) & (level.weight < least)
            surely = begins & (level.weight < np.nextafter(least, 0))
            paid[begins], guess[begins] = 0.0, 0.0  # whether one that was thinned is followed is a matter of chance
            paid[surely], guess[surely] = level.belief.spent[surely], level.belief.stopping_cost[surely]
            known += float(level.weight[surely] @ paid[surely])
            question = next_of(self.policy, level)
            stops, cost = question == DECIDE, level.belief.spent + self.decides * level.belief.stopping_cost
            certain = stops & (np.isnan(paid) | surely)
            known += float(level.weight[certain] @ (cost - np.where(surely, paid, 0.0))[certain])
            path = stops & ~certain
            ended.append(np.stack([level.weight, guess, cost - paid])[:, path])
            row = np.flatnonzero(~stops)
            copies = np.where(surely[row], np.ceil(level.weight[row] / unit), 1).astype(np.intp)
            n_begun += int((begins[row]).sum())
            row, share = np.repeat(row, copies), np.repeat(level.weight[row] / copies, copies)
            return Fork(row, question[row], share)

        walk_to_end(belief, weight, ask, answers)
        weight, guess, cost = np.concatenate(ended, axis=1)
        if least == np.inf:
            return PathCosts(0.0, total, np.full(len(cost), 1 / total), weight, guess, cost)
        return PathCosts(known, n_begun, weight, np.ones(len(cost)), guess, cost)
