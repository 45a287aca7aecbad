"""The martingale dual of optimal stopping: lower bounds from any value function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, check_kind
from seqclass.pomdp.margins import DrawnMeans, DrawnValues, StratifiedAnswers, quantile
from seqclass.pomdp.needs import check_problem, require_fixed_order, require_no_visits
from seqclass.pomdp.observations import ObservationSource
from seqclass.pomdp.one_step import cost_lower_bound, stopping_is_certain, stopping_threshold
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy, cost_of_going_on
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.walk import (
    ALL,
    MAX_HISTORIES,
    Fork,
    Level,
    Simulation,
    check_questions,
    initial_histories,
    walk_to_end,
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
        Sampled paths that were asked for; 0 where exact. See `certify` for how many histories are followed for them.

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
    check_problem(problem)
    values = _Nothing(problem, problem.n_stages) if values is None else values
    check_kind(values, ValueFunction, "values", "a ValueFunction, such as policy.values, or None")
    simulation = Simulation(method, check_integer(n_paths, "n_paths", 2), max_histories, random_state)
    require_fixed_order(problem, "dual_bound", "certify")
    require_no_visits(problem, "dual_bound", "certify")

    def run(answers: ObservationSource, most: float) -> LowerBound:
        if answers is ALL:
            mean = DualPaths(problem, None, values, None, most).run(1).low
            return LowerBound(mean, mean, 1.0, "exact", 0)
        ends = DualPaths(problem, None, values, as_generator(random_state)).run(n_paths)
        value = max(ends.least(quantile(2 * CONFIDENCE - 1)), 0.0)
        return LowerBound(value, ends.low, CONFIDENCE, "simulation", n_paths)

    return simulation.run(run)


class _Nothing(ValueFunction):
    """Values of zero, whose martingale is zero."""

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return np.zeros(len(belief))

    def successor_values(self, belief: BeliefState) -> FloatArray:
        return np.zeros(belief.outcome_probabilities.shape)


@dataclass(frozen=True)
class Ends:
    """The lower and the upper end of the interval from the same paths, over all paths so far."""

    drawn: DrawnMeans

    @property
    def low(self) -> float:
        """Estimate of the lower end."""
        return float(self.drawn.means[0])

    @property
    def up(self) -> float:
        """Estimate of the upper end."""
        return float(self.drawn.means[1])

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
        both = self.drawn.parts @ self.drawn.parts.T + self.drawn.covariance
        # where all paths cost the same, what is left is rounding
        share = float(both[0, 1] / both[1, 1]) if both[1, 1] > (1e-12 * self.up) ** 2 else 0.0
        margin, share = min((self._excess(-1.0, share, z), share), (self._excess(-1.0, 0.0, z), 0.0))
        low = self.low - share * (self.up - cost)
        return low - margin, low

    def _excess(self, of_low: float, of_up: float, z: float) -> float:
        """How far a sum of both estimates, so many times each, may be below its expectation."""
        return self.drawn.margin(np.array([of_low, of_up]), z)


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
        self.problem, self.policy, self.values = problem, policy, values
        self.answers = None if rng is None else StratifiedAnswers(rng)
        self.horizon = min(values.n_stages, problem.n_stages)
        self.max_histories = max_histories
        #: Whether the policy is one step of look-ahead on these very values, and whether it finds that the plain way.
        self.follows = policy is not None and policy._lookahead_values is values
        self.plainly = self.follows and getattr(type(policy), "_action", None) is LookaheadPolicy._action
        self.n_paths, self._total = 0, 0.0
        #: Low and up of histories; differences are too small to be told from sums of squares.
        self.ended = DrawnValues()

    def run(self, n_paths: int) -> Ends:
        """Follow more paths; return the estimates from all that were followed so far."""
        self.n_paths += n_paths
        total, answers = (n_paths, ALL) if self.answers is None else (self.answers.begin(n_paths), self.answers)
        self._total += total
        belief, weight = initial_histories(self.problem, self.policy, total, answers)
        walk_to_end(belief, weight, _DualHistories(self, len(weight)).ask, answers, self.max_histories)
        alike = np.array([True, self.follows or self.policy is None])
        n_lots = 0 if self.answers is None else self.answers.n_lots
        return Ends(self.ended.means(self._total, n_lots, alike))


class _DualHistories:
    """What the dual keeps of the histories of a level."""

    def __init__(self, paths: DualPaths, n: int) -> None:
        self.paths, self.policy = paths, paths.policy
        self.martingale, self.low = np.zeros(n), np.full(n, np.inf)
        # without a policy nothing is decided, and the upper end is nothing to wait for
        self.up, self.closed = np.full(n, 0.0 if self.policy is None else np.nan), np.zeros(n, dtype=bool)
        self.lot = np.full(n, -1)
        #: Of what asked last: values of the outcomes, their chances, and whether they let one go on.
        self.values, self.chance, self.goes_on = np.empty((0, 0)), np.empty((0, 0)), np.empty(0, dtype=bool)

    def ask(self, level: Level) -> Fork:
        if self.values.size:
            self._come_to(level)
        if self.paths.answers is not None:
            self.lot = self.paths.answers.lots(self.lot)
        belief, horizon = level.belief, self.paths.horizon
        stop_cost = belief.spent + belief.stopping_cost - self.martingale
        self.low = np.where(self.closed, self.low, np.minimum(self.low, stop_cost))
        if belief.stage == horizon:
            known = belief.spent + cost_lower_bound(belief) - self.martingale
            self.low = np.where(self.closed, self.low, np.minimum(self.low, known))
        self.closed = self.closed | stopping_is_certain(belief) | (belief.stage >= horizon)
        fork = self._look_ahead(level, np.flatnonzero(~self.closed)) if self.paths.plainly else None
        self.up = np.where(self._decides(belief, fork), stop_cost, self.up)
        done = self.closed & ~np.isnan(self.up)
        self.paths.ended.add(level.weight[done], np.stack([self.low, self.up])[:, done], self.lot[done])
        return self._look_ahead(level, np.flatnonzero(~done)) if fork is None else fork

    def _come_to(self, level: Level) -> None:
        """Follow each history to the next level."""
        seen = level.entry, level.outcome
        step = self.values[seen] / self.chance[seen] - self.values.sum(axis=1)[level.entry]
        self.martingale = self.martingale[level.parent] + step
        self.low, self.up, self.closed = self.low[level.parent], self.up[level.parent], self.closed[level.parent]
        self.lot = self.lot[level.parent]

    def _look_ahead(self, level: Level, row: IntArray) -> Fork:
        """Ask the next question of some rows, and note the values of its outcomes."""
        question, self.goes_on = np.full(row.size, level.stage), np.zeros(row.size, dtype=bool)
        if row.size:
            ((_, part),) = level.split(row, question)
            self.values, self.chance = self.paths.values.successor_values(part), part.outcome_probabilities
            self.goes_on = cost_of_going_on(part, self.values) < stopping_threshold(part)
        return Fork(row, question, level.weight[row])

    def _decides(self, belief: BeliefState, fork: Fork | None) -> BoolArray:
        """Where the policy stops now; one that follows the values stops where they are closed."""
        undecided: BoolArray = np.isnan(self.up)
        if self.policy is None:
            return undecided
        if fork is not None:
            undecided[fork.row[self.goes_on]] = False
            return undecided
        # of all rows what was worked out of them serves the policy as well
        question = self.policy.action(belief if undecided.all() else belief[undecided])
        check_questions(belief, np.flatnonzero(undecided)[question != DECIDE], question[question != DECIDE])
        undecided[undecided] = question == DECIDE
        return undecided
