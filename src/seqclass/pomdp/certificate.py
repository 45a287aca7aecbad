"""Certificates: how far from optimal a policy is, whatever solver it came from."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, as_generator
from seqclass._validation import check_choice, check_integer
from seqclass.pomdp.evaluation import MAX_HISTORIES, check_feature, evaluate
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.values import StoppingValue, ValueFunction
from seqclass.pomdp.walk import TooLarge, branch

#: Two-sided normal quantile of the 99% interval.
_Z = 2.5758293035489004
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Certificate:
    """A certified interval around the optimal cost.

    Attributes
    ----------
    upper : float
        The executed policy's cost is at most this.
    lower : float
        No policy costs less than this.
    gap : float
        ``(upper - lower) / upper``; 0 where `upper` is 0.
    upper_mean, lower_mean : float
        Estimates before the margin of confidence is added.
    confidence : float
        1.0 where both ends are exact, else 0.99.
    method : str
        ``"exact"``, ``"simulation"``, or ``"mixed"``: upper exact, lower simulated.
    n_paths : int
        Sampled paths; 0 where exact.
    seconds : float
        Wall-clock time.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, LookaheadPolicy, StoppingValue, certify
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> certify(problem, LookaheadPolicy(StoppingValue(problem))).method
    'exact'
    """

    upper: float
    lower: float
    gap: float
    upper_mean: float
    lower_mean: float
    confidence: float
    method: str
    n_paths: int
    seconds: float


def certify(
    problem: AcquisitionProblem,
    policy: Policy,
    *,
    values: ValueFunction | None = None,
    method: str = "auto",
    n_paths: int = 4000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Certificate:
    """Bound the optimal cost from below and the policy's cost from above.

    Where histories are few both ends are computed by enumeration. Elsewhere the lower end is the martingale dual of
    optimal stopping: on sampled paths with any value function J, ``M`` adds up ``J(k+1, next) - E[J(k+1, next)]``, and
    the mean of ``min over stages of (prices paid + stopping cost - M)`` is below the optimum. The policy's cost on the
    same paths, with ``M`` at its stop as a control variate, is the upper end. A path ends where one more price would
    cost more than knowing the class can save, for there stopping is optimal.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    policy : Policy
        Any policy for it.
    values : ValueFunction, optional
        Value function of the martingale; by default the policy's own, or the stopping cost if it has none. The bounds
        hold with any; the better it is, the smaller the gap.
    method : {"auto", "exact", "simulation"}
        ``"auto"`` enumerates what has at most ``max_histories`` histories.
    n_paths : int
        Sampled paths.
    max_histories : int
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the paths; take another one than the solver's.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If ``method="exact"`` meets more than ``max_histories`` histories.

    References
    ----------
    .. [1] L. C. G. Rogers, "Monte Carlo valuation of American options", Mathematical Finance 12, 2002.
    .. [2] M. B. Haugh and L. Kogan, "Pricing American options: a duality approach", Operations Research 52, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, certify
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> certificate = certify(problem, GridValueIteration().solve(problem))
    >>> round(certificate.upper, 3), round(certificate.lower, 3), certificate.gap
    (0.25, 0.25, 0.0)
    """
    started = time.perf_counter()
    check_choice(method, "method", ("auto", "exact", "simulation"))
    check_integer(n_paths, "n_paths", 2)
    check_integer(max_histories, "max_histories", 1)
    if values is None:
        values = policy.values if isinstance(policy, LookaheadPolicy) else StoppingValue(problem)
    upper = lower = None
    if method != "simulation":
        try:
            upper = evaluate(problem, policy, method="exact", max_histories=max_histories).cost
            lower = optimal_cost(problem, n_stages=values.n_stages, max_histories=max_histories)
        except TooLarge:
            if method == "exact":
                raise
    if upper is not None and lower is not None:
        return _certificate(upper, upper, lower, lower, "exact", 0, started)
    paths = _Paths(problem, policy, values, n_paths, as_generator(random_state))
    low, low_error, up, up_error = paths.run()
    if upper is not None:
        return _certificate(upper, upper, low - _Z * low_error, low, "mixed", n_paths, started)
    return _certificate(up + _Z * up_error, up, low - _Z * low_error, low, "simulation", n_paths, started)


def _certificate(
    upper: float,
    upper_mean: float,
    lower: float,
    lower_mean: float,
    method: str,
    n_paths: int,
    started: float,
) -> Certificate:
    # costs are not negative, and exact ends may differ by rounding
    lower = min(max(lower, 0.0), upper)
    gap = (upper - lower) / upper if upper > 0 else 0.0
    if method == "exact" and gap < 1e-12:
        gap = 0.0
    confidence = 1.0 if method == "exact" else CONFIDENCE
    seconds = time.perf_counter() - started
    return Certificate(upper, lower, gap, upper_mean, lower_mean, confidence, method, n_paths, seconds)


def optimal_cost(
    problem: AcquisitionProblem, *, n_stages: int | None = None, max_histories: int = MAX_HISTORIES
) -> float:
    """Optimal cost by backward recursion over every history that may be worth reaching.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    n_stages : int, optional
        Cut the horizon here; what lies beyond is bounded from below by one more price and perfect knowledge, so the
        result is then a lower bound.
    max_histories : int
        Most histories to visit.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are more histories than ``max_histories``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(optimal_cost(problem), 3)
    0.25
    """
    horizon = problem.n_stages if n_stages is None else min(n_stages, problem.n_stages)
    info, weight = problem.begin(), np.ones(1)
    levels: list[tuple[FloatArray, BoolArray, FloatArray, Any, FloatArray]] = []
    visited = 1
    while True:
        closed = info.settled | (info.stage >= horizon)
        stop = info.stopping_cost.copy()
        if info.stage >= horizon:
            stop = np.minimum(stop, _beyond(info))
        on = info[~closed]
        if not len(on):
            break
        branches = branch(on, np.ones(len(on)))
        visited += branches.parent.size
        if visited > max_histories:
            raise TooLarge(max_histories)
        levels.append((stop, closed, on.price, branches.parent, branches.weight))
        info = on.update(branches.outcome, branches.parent)
    value = stop
    for stop, closed, price, parent, share in reversed(levels):
        expected = price + np.bincount(parent, weights=share * value, minlength=price.size)
        value = stop.copy()
        value[~closed] = np.minimum(value[~closed], expected)
    return float(weight @ value)


def _beyond(info: InformationState) -> FloatArray:
    """Lower bound of going on at a cut horizon: one more price, then the class is known."""
    problem = info.problem
    if info.stage >= problem.n_stages:
        return np.full(len(info), np.inf)
    return np.asarray(problem.prices[info.stage] + info.belief @ problem.perfect_cost)


class _Paths:
    """Sampled paths of the dual, each distinct history once, weighted by its number of paths."""

    def __init__(
        self,
        problem: AcquisitionProblem,
        policy: Policy,
        values: ValueFunction,
        n_paths: int,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.policy, self.values = problem, policy, values
        self.n_paths, self.rng = n_paths, rng
        self.horizon = min(values.n_stages, problem.n_stages)
        self.sums = np.zeros(4)  # of low, low^2, up, up^2

    def run(self) -> tuple[float, float, float, float]:
        info = self.problem.begin()
        weight = np.array([float(self.n_paths)])
        paid, martingale, low, up = np.zeros(1), np.zeros(1), np.full(1, np.inf), np.full(1, np.nan)
        closed = np.zeros(1, dtype=bool)
        while len(info):
            stop_cost = paid + info.stopping_cost - martingale
            low = np.where(closed, low, np.minimum(low, stop_cost))
            if info.stage == self.horizon:
                low = np.where(closed, low, np.minimum(low, paid + _beyond(info) - martingale))
            closed = closed | info.settled | (info.stage >= self.horizon)
            deciding = np.isnan(up)
            feature = self.policy.act(info[deciding])
            check_feature(self.problem, info.stage, feature[feature != DECIDE])
            deciding[deciding] = feature == DECIDE
            up = np.where(deciding, stop_cost, up)
            done = closed & ~np.isnan(up)
            self._add(weight[done], low[done], up[done])
            on = np.flatnonzero(~done)
            if on.size == 0:
                break
            info = info[on]
            values = self.values.successor_values(info)
            parent, outcome, share = branch(info, weight[on], self.rng)
            step = values[parent, outcome] / info.predictive[parent, outcome] - values.sum(axis=1)[parent]
            source = on[parent]
            paid = paid[source] + info.price[parent]
            martingale = martingale[source] + step
            low, up, closed, weight = low[source], up[source], closed[source], share
            info = info.update(outcome, parent)
        mean = self.sums / self.n_paths
        deviation = np.sqrt(np.maximum(mean[[1, 3]] - mean[[0, 2]] ** 2, 0.0) / (self.n_paths - 1))
        return float(mean[0]), float(deviation[0]), float(mean[2]), float(deviation[1])

    def _add(self, weight: FloatArray, low: FloatArray, up: FloatArray) -> None:
        self.sums += [weight @ low, weight @ low**2, weight @ up, weight @ up**2]
