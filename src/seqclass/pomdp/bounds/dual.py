"""The martingale dual of optimal stopping: lower bounds from any value function."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_choice, check_integer
from seqclass.pomdp.needs import require_fixed_order, require_no_visits
from seqclass.pomdp.observations import Branches, ObservationSource, TooLarge
from seqclass.pomdp.one_step import cost_lower_bound, stopping_is_certain
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.walk import (
    ALL,
    MAX_HISTORIES,
    Fork,
    Level,
    check_questions,
    initial_histories,
    initial_histories_without_policy,
    walk_to_end,
)

__all__ = ["LowerBound", "dual_bound"]


#: Probability that a sampled interval holds.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class DualTuning:
    """How paths are drawn, and what those that were not may cost."""

    #: Paths that are begun for each that is asked for: those that are dear are followed more often.
    begun: float = 0.75
    #: How many times the mean cost of deciding makes a history as likely to be followed as it is to be met.
    dear: float = 2.0
    #: Share of what a path costs by which one that is missed may differ from all that were seen.
    share: float = 0.2
    #: How many times as far off it may be at most as the worst that was seen, or this share where all cost the same.
    times: float = 100.0
    same: float = 1e-3


_TUNING = DualTuning()


@dataclass(frozen=True, repr=False)
class LowerBound(Readable):
    """A lower bound on the optimal cost.

    Attributes
    ----------
    value : float
        No policy costs less than this.
    mean : float
        Estimate before the margin of confidence is taken off; `value` where exact.
    confidence : float
        1.0 where exact, else 0.99.
    method : str
        ``"exact"`` or ``"simulation"``.
    n_paths : int
        Sampled paths; 0 where exact.

    Examples
    --------
    >>> LowerBound(0.2, 0.2, 1.0, "exact", 0).value
    0.2
    """

    _costs = ("value", "mean")

    value: float
    mean: float
    confidence: float
    method: str
    n_paths: int


def dual_bound(
    problem: AcquisitionProblem,
    values: ValueFunction | None = None,
    *,
    method: str = "auto",
    n_paths: int = 4000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> LowerBound:
    """Lower bound of the optimal cost, from a value function and the martingale dual.

    With any values J, ``M`` adds up ``J(k+1, next) - E[J(k+1, next)]`` along a history, and the mean over histories of
    ``min over stages of (prices paid + stopping cost - M)`` is below the optimum; it is the optimum where J is optimal.
    Without values M is zero: all outcomes are then known in advance at no cost, and the bound is loose. Its distance
    from the optimum is the value of perfect foresight [2]_.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    values : ValueFunction, optional
        Values for the martingale, right or wrong; what lies beyond their horizon is bounded by one more price and
        perfect knowledge.
    method : {"auto", "exact", "simulation"}
        The mean over all histories, over sampled ones, or over all if they are at most ``max_histories``.
    n_paths : int
        Sampled paths.
    max_histories : int
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the paths; they must not be those that the values were made from.

    Returns
    -------
    LowerBound

    Raises
    ------
    ValueError
        If ``method="exact"`` meets more than ``max_histories`` histories.

    References
    ----------
    .. [1] L. C. G. Rogers, "Monte Carlo valuation of American options", Mathematical Finance 12, 2002.
    .. [2] D. B. Brown, J. E. Smith and P. Sun, "Information relaxations and duality in stochastic dynamic programs",
       Operations Research 58, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import StoppingValue, TableProblem, dual_bound
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.02)
    >>> [round(dual_bound(problem, values).value, 4) for values in (StoppingValue(problem), None)]
    [0.146, 0.0966]
    """
    values = _Nothing(problem, problem.n_stages) if values is None else values
    check_choice(method, "method", ("auto", "exact", "simulation"))
    check_integer(n_paths, "n_paths", 2)
    check_integer(max_histories, "max_histories", 1)
    require_fixed_order(problem, "dual_bound", "certify")
    require_no_visits(problem, "dual_bound", "certify")
    if method != "simulation":
        try:
            mean = DualPaths(problem, None, values, None, max_histories).run(1).low
            return LowerBound(mean, mean, 1.0, "exact", 0)
        except TooLarge:
            if method == "exact":
                raise
    ends = DualPaths(problem, None, values, as_generator(random_state)).run(n_paths)
    value = max(ends.least(quantile(2 * CONFIDENCE - 1)), 0.0)
    return LowerBound(value, ends.low, CONFIDENCE, "simulation", n_paths)


class _Nothing(ValueFunction):
    """Values of zero, whose martingale is zero."""

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return np.zeros(len(belief))

    def successor_values(self, belief: BeliefState) -> FloatArray:
        return np.zeros(belief.outcome_probabilities.shape)


def quantile(confidence: float) -> float:
    """Two-sided normal quantile."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def excess(parts: FloatArray, missed: float, z: float) -> float:
    """How far a sum of parts that chance has drawn may be below its expectation, one-sided, at a normal quantile ``z``.

    Few large parts make up the sum where what is rare is dear, and chance is more likely to miss one than the normal
    approximation has it: so the interval is corrected for skewness [1]_, and one part more is counted, ``missed``.

    .. [1] N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical populations", Journal of the
       American Statistical Association 73, 1978.
    """
    square = float(parts @ parts) + missed**2
    if square == 0:
        return 0.0
    skew = (float(parts**2 @ parts) + missed**3) / (6 * square)
    return float(missed + z * np.sqrt(square) + (1 + 2 * z**2) * max(skew, 0.0))


@dataclass(frozen=True)
class Ends:
    """Estimates of both ends of the interval from the same paths, over all paths so far.

    Attributes
    ----------
    low, up : float
        Estimates of the lower and of the upper end.
    parts : ndarray of shape (2, n_drawn)
        What each lot of histories that chance has drawn adds to these two, less what it would add on average.
    single : ndarray of shape (2, n_histories)
        What one lot more like each history that was seen would add: of a path, or less where more lots are drawn.
    covariance : ndarray of shape (2, 2)
        Covariance of the two estimates, had all histories been drawn.
    unlike : ndarray of shape (2,)
        What one lot unlike all that were seen may add; 0 where nothing was left to chance.
    """

    low: float
    up: float
    parts: FloatArray
    single: FloatArray
    covariance: FloatArray
    unlike: FloatArray

    def least(self, z: float) -> float:
        """What the lower end is not below, one-sided, at a normal quantile."""
        return self.low - self._excess(-1.0, 0.0, z)

    def most(self, z: float) -> float:
        """What the upper end is not above."""
        return self.up + self._excess(0.0, 1.0, z)

    def most_gap(self, z: float) -> float:
        """What ``(up - low) / up`` is not above: less than of `least` and `most`, for both err alike on each path."""
        if self.up <= 0:
            return 0.0
        ratio = (self.up - self.low) / self.up
        return ratio + self._excess(-1 / self.up, (1 - ratio) / self.up, z)

    def least_where_up_is(self, cost: float, z: float) -> tuple[float, float]:
        """What the lower end is not below, and its estimate, where the upper one is known to be ``cost``.

        That tells how lucky the paths were.
        """
        both = self.parts @ self.parts.T + self.covariance
        # where all paths cost the same, what is left is rounding
        share = float(both[0, 1] / both[1, 1]) if both[1, 1] > (1e-12 * self.up) ** 2 else 0.0
        margin, share = min((self._excess(-1.0, share, z), share), (self._excess(-1.0, 0.0, z), 0.0))
        low = self.low - share * (self.up - cost)
        return low - margin, low

    def _excess(self, of_low: float, of_up: float, z: float) -> float:
        """How far a sum of both estimates, so many times each, may be below its expectation: one lot more is missed.

        It adds as much as that of those that were seen which adds most, or as one unlike these.
        """
        parts, single = of_low * self.parts[0] + of_up * self.parts[1], of_low * self.single[0] + of_up * self.single[1]
        unlike = float(np.abs([of_low, of_up]) @ self.unlike)
        return excess(parts, max(float(single.max()), unlike), z)


class StratifiedAnswers(ObservationSource):
    """Every outcome that weighs a path or more, and as many of the others as their weights, or their costs, come to.

    What is left out is made up for by more weight of the like that is not: the weight of each is right on average. An
    outcome after which deciding costs much more than elsewhere at this level is followed more often than paths would
    come to it, with less weight: so a rare class that is dear to miss is met, or any answer that tells of it.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def spread(self, total: float, probability: FloatArray) -> FloatArray:
        """The lots that weigh a path or more, and some of the others; see `ObservationSource.spread`."""
        share = total * probability[None]
        return np.asarray(self._draw(share, np.minimum(share, 1.0))[0])

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `ObservationSource.branch`."""
        each, probability = weight[:, None], belief.outcome_probabilities
        cost = each * belief.problem.stopping_cost(belief.joint)
        # a path that was begun is followed to its end
        often, mean = probability * np.maximum(each, 1.0), float(cost.sum() / weight.sum())
        if mean > 0:  # at most half as many again are followed for what they cost
            often = np.maximum(often, cost / (_TUNING.dear * mean))
        drawn = self._draw(each * probability, np.minimum(often, 1.0))
        parent, outcome = np.nonzero(drawn)
        return Branches(parent, outcome, drawn[parent, outcome])

    def _draw(self, share: FloatArray, chance: FloatArray) -> FloatArray:
        """Weights of which each is there with its chance, of each row as many as the sum of these, and else 0."""
        reach = np.cumsum(chance, axis=1) + self.rng.random((len(chance), 1))
        whole, there = np.floor(reach), chance >= 1
        there[:, 0] |= whole[:, 0] > 0
        there[:, 1:] |= whole[:, 1:] > whole[:, :-1]
        weight: FloatArray = np.divide(share, chance, out=np.zeros_like(share), where=there)
        return weight


class DualPaths:
    """Paths of the dual, each distinct history once, weighted by how many paths it stands for or its probability."""

    def __init__(
        self,
        problem: AcquisitionProblem,
        policy: Policy | None,
        values: ValueFunction,
        rng: np.random.Generator | None,
        max_histories: float = np.inf,
    ) -> None:
        self.problem, self.policy, self.values, self.rng = problem, policy, values, rng
        self.horizon = min(values.n_stages, problem.n_stages)
        self.max_histories = max_histories
        self.n_paths = 0
        #: Weight, low, up and lot of histories; differences are too small to be told from sums of squares.
        self._ended: list[FloatArray] = []
        self._total, self._n_lots = 0.0, 0

    def run(self, n_paths: int) -> Ends:
        """Follow more paths; return the estimates from all that were followed so far."""
        self.n_paths += n_paths
        answers = ALL if self.rng is None else StratifiedAnswers(self.rng)
        total = n_paths if self.rng is None else max(_TUNING.begun * n_paths, 1.0)  # one at least is met
        self._total += total
        if self.policy is None:
            belief, weight = initial_histories_without_policy(self.problem, total, answers)
        else:
            belief, weight = initial_histories(self.problem, self.policy, total, answers)
        along = _DualHistories(self, weight)
        walk_to_end(belief, weight, along.ask, answers, self.max_histories)
        return self._ends()

    def begin_lots(self, lot: IntArray, begins: BoolArray) -> IntArray:
        """Number of the lot of each history, that of the first on its way which chance has drawn; -1 where none was."""
        begins = begins & (lot < 0)
        n = int(begins.sum())
        lot = lot.copy()
        lot[begins] = np.arange(self._n_lots, self._n_lots + n)
        self._n_lots += n
        return lot

    def add(self, weight: FloatArray, low: FloatArray, up: FloatArray, lot: IntArray) -> None:
        """Note paths that have ended: their weights, both ends of each, and which were drawn together."""
        if weight.size:
            self._ended.append(np.stack([weight, low, up, lot]))

    def _ends(self) -> Ends:
        ended = np.concatenate(self._ended, axis=1)
        self._ended = [ended]
        share, values, lot = ended[0], ended[1:3], ended[3].astype(np.intp)
        # what chance has drawn weighs as much as all together on average only
        followed, lot_weight = float(share.sum()), np.minimum(share, 1.0)
        share = share / (self._total if self.rng is None else followed)
        mean = values @ share
        drawn, off = lot >= 0, values - mean[:, None]
        parts = np.zeros((2, self._n_lots))
        for row, part in zip(off * share, parts):
            part += np.bincount(lot[drawn], row[drawn], self._n_lots)
        covariance = np.asarray((off * share) @ off.T / self._total)
        whole = self._n_lots == 0 and followed > self._total * (1 - 1e-9)
        single = np.zeros_like(off) if whole else off * lot_weight / self._total
        unlike = np.zeros(2) if whole else self._unlike(np.abs(single).max(axis=1), mean / self._total)
        return Ends(float(mean[0]), float(mean[1]), parts, single, covariance, unlike)

    def _unlike(self, worst: FloatArray, path: FloatArray) -> FloatArray:
        """What a lot may add that is unlike all that were seen, by the worst of these and what a mean path adds.

        Where all were alike values are nearly right, and a policy that follows them; others may be foolish anywhere.
        """
        unlike = _TUNING.share * np.maximum(worst, path)
        like = np.maximum(_TUNING.times * worst, _TUNING.same * path)
        follows = isinstance(self.policy, LookaheadPolicy) and self.policy.values is self.values
        alike = np.array([True, follows or self.policy is None])
        return np.where(alike, np.minimum(unlike, like), unlike)


class _DualHistories:
    """What the dual keeps of the histories of a level."""

    def __init__(self, paths: DualPaths, weight: FloatArray) -> None:
        self.paths, self.policy, n = paths, paths.policy, len(weight)
        self.martingale, self.low = np.zeros(n), np.full(n, np.inf)
        # without a policy nothing is decided, and the upper end is nothing to wait for
        self.up, self.closed = np.full(n, 0.0 if self.policy is None else np.nan), np.zeros(n, dtype=bool)
        # a start that weighs less than a path was drawn
        self.lot = paths.begin_lots(np.full(n, -1), (weight <= 1) & (paths.rng is not None))
        #: Of what asked at the last level: weights, values of the outcomes, and their chances.
        self.weight, self.values, self.chance = weight, np.empty((0, 0)), np.empty((0, 0))

    def ask(self, level: Level) -> Fork:
        if self.values.size:
            self._come_to(level)
        belief, horizon = level.belief, self.paths.horizon
        stop_cost = belief.spent + belief.stopping_cost - self.martingale
        self.low = np.where(self.closed, self.low, np.minimum(self.low, stop_cost))
        if belief.stage == horizon:
            known = belief.spent + cost_lower_bound(belief) - self.martingale
            self.low = np.where(self.closed, self.low, np.minimum(self.low, known))
        self.closed = self.closed | stopping_is_certain(belief) | (belief.stage >= horizon)
        self.up = np.where(self._decides(belief), stop_cost, self.up)
        done = self.closed & ~np.isnan(self.up)
        self.paths.add(level.weight[done], self.low[done], self.up[done], self.lot[done])
        row = np.flatnonzero(~done)
        question = np.full(row.size, belief.stage)
        if row.size:
            ((_, part),) = level.split(row, question)
            self.values, self.chance = self.paths.values.successor_values(part), part.outcome_probabilities
        self.weight = level.weight[row]
        return Fork(row, question, self.weight)

    def _come_to(self, level: Level) -> None:
        """Follow each history to the next level."""
        seen = level.entry, level.outcome
        step = self.values[seen] / self.chance[seen] - self.values.sum(axis=1)[level.entry]
        self.martingale = self.martingale[level.parent] + step
        self.low, self.up, self.closed = self.low[level.parent], self.up[level.parent], self.closed[level.parent]
        followed = self.weight[level.entry] * self.chance[seen]
        # those that chance might have left out weigh more
        self.lot = self.paths.begin_lots(self.lot[level.parent], level.weight > followed * (1 + 1e-9))

    def _decides(self, belief: BeliefState) -> BoolArray:
        undecided: BoolArray = np.isnan(self.up)
        if self.policy is None:
            return undecided
        # of all rows what was worked out of them serves the policy as well
        question = self.policy.action(belief if undecided.all() else belief[undecided])
        check_questions(belief, np.flatnonzero(undecided)[question != DECIDE], question[question != DECIDE])
        undecided[undecided] = question == DECIDE
        return undecided
