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
from seqclass.pomdp.observations import SampledObservations, TooLarge
from seqclass.pomdp.one_step import cost_lower_bound, stopping_is_certain
from seqclass.pomdp.policy import DECIDE, Policy
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
    walk,
)

__all__ = ["LowerBound", "dual_bound"]


#: Probability that a sampled interval holds.
CONFIDENCE = 0.99


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
    value = max(ends.low - quantile(2 * CONFIDENCE - 1) * ends.low_error, 0.0)
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


@dataclass(frozen=True)
class Ends:
    """Estimates of both ends of the interval from the same paths, over all paths so far.

    Attributes
    ----------
    low, low_error : float
        Estimate of the lower end and its standard error.
    up, up_error : float
        The same of the upper end.
    covariance : float
        Covariance of the two estimates.
    gap, gap_error : float
        Estimate of ``(up - low) / up`` from the differences along each path, and its standard error; 0 where `up` is.
    gap_skew : float
        Third central moment of that estimate over six times its variance, or 0 if it is negative; see `most_gap`.
    """

    low: float
    low_error: float
    up: float
    up_error: float
    covariance: float = 0.0
    gap: float = 0.0
    gap_error: float = 0.0
    gap_skew: float = 0.0

    def low_given(self, cost: float) -> tuple[float, float]:
        """Estimate of the lower end and its error, where it is known that the upper end's expectation is ``cost``."""
        if self.up_error == 0:
            return self.low, self.low_error
        share = self.covariance / self.up_error**2
        error = np.sqrt(max(self.low_error**2 - share * self.covariance, 0.0))
        return float(self.low - share * (self.up - cost)), float(error)

    def most_gap(self, z: float) -> float:
        """End of the one-sided interval of the gap at a quantile ``z``, corrected for skewness [1]_."""
        return self.gap + z * self.gap_error + (1 + 2 * z**2) * self.gap_skew


class DualPaths:
    """Paths of the dual, each distinct history once, weighted by its number of paths or its probability."""

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
        #: Weight, low and up of lots of histories; differences are too small to be told from sums of squares.
        self._ended: list[FloatArray] = []

    def run(self, n_paths: int) -> Ends:
        """Follow more paths; return the estimates from all that were followed so far."""
        self.n_paths += n_paths
        answers = ALL if self.rng is None else SampledObservations(self.rng)
        if self.policy is None:
            belief, weight = initial_histories_without_policy(self.problem, n_paths, answers)
        else:
            belief, weight = initial_histories(self.problem, self.policy, n_paths, answers)
        along = _DualHistories(self, len(belief))
        for _ in walk(belief, weight, along.ask, answers, self.max_histories):
            pass
        return self._ends()

    def add(self, weight: FloatArray, low: FloatArray, up: FloatArray) -> None:
        """Note paths that have ended: their weights, and both ends of each."""
        if weight.size:
            self._ended.append(np.stack([weight, low, up]))

    def _ends(self) -> Ends:
        ended = np.concatenate(self._ended, axis=1)
        self._ended = [ended]
        share, values = ended[0] / self.n_paths, ended[1:]
        mean = values @ share
        low, up = mean.tolist()
        if self.rng is None:
            return Ends(low, 0.0, up, 0.0, gap=(up - low) / up if up > 0 else 0.0)
        off = values - mean[:, None]
        covariance = (off * share) @ off.T / (self.n_paths - 1)
        errors = np.sqrt(covariance.diagonal()).tolist()
        gap = self._gap(values, share, mean) if up > 0 else (0.0, 0.0, 0.0)
        return Ends(low, errors[0], up, errors[1], float(covariance[0, 1]), *gap)

    def _gap(self, values: FloatArray, share: FloatArray, mean: FloatArray) -> tuple[float, float, float]:
        """Ratio of the mean difference and the mean upper end, its error by linearisation, and its skew."""
        low, up = values
        ratio = (mean[1] - mean[0]) / mean[1]
        # of mean zero
        off = (up - low - ratio * up) / mean[1]
        square, cube = share @ off**2, share @ off**3
        skew = cube / (6 * square * self.n_paths) if square > 0 else 0.0
        return float(ratio), float(np.sqrt(square / (self.n_paths - 1))), float(max(skew, 0.0))


class _DualHistories:
    """What the dual keeps of the histories of a level."""

    def __init__(self, paths: DualPaths, n: int) -> None:
        self.paths, self.policy = paths, paths.policy
        self.martingale, self.low = np.zeros(n), np.full(n, np.inf)
        # without a policy nothing is decided, and the upper end is nothing to wait for
        self.up, self.closed = np.full(n, 0.0 if self.policy is None else np.nan), np.zeros(n, dtype=bool)
        #: Of what asked at the last level: values of the outcomes, and their chances.
        self.values, self.chance = np.empty((0, 0)), np.empty((0, 0))

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
        self.paths.add(level.weight[done], self.low[done], self.up[done])
        row = np.flatnonzero(~done)
        question = np.full(row.size, belief.stage)
        if row.size:
            ((_, part),) = level.split(row, question)
            self.values, self.chance = self.paths.values.successor_values(part), part.outcome_probabilities
        return Fork(row, question, level.weight[row])

    def _come_to(self, level: Level) -> None:
        """Follow each history to the next level."""
        seen = level.entry, level.outcome
        step = self.values[seen] / self.chance[seen] - self.values.sum(axis=1)[level.entry]
        self.martingale = self.martingale[level.parent] + step
        self.low, self.up, self.closed = self.low[level.parent], self.up[level.parent], self.closed[level.parent]

    def _decides(self, belief: BeliefState) -> BoolArray:
        undecided: BoolArray = np.isnan(self.up)
        if self.policy is None:
            return undecided
        question = self.policy.action(belief[undecided])
        check_questions(belief, np.flatnonzero(undecided)[question != DECIDE], question[question != DECIDE])
        undecided[undecided] = question == DECIDE
        return undecided
