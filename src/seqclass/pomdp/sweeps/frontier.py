"""The whole frontier between what features cost and what errors cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, another_stream, as_generator
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, check_not_negative
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.bounds.optimum import optimal_costs
from seqclass.pomdp.bounds.policy_cost import PolicyCost, fewer_paths
from seqclass.pomdp.evaluation import evaluate_policy
from seqclass.pomdp.margins import DrawnMeans, DrawnValues, StratifiedAnswers, quantile
from seqclass.pomdp.needs import check_problem
from seqclass.pomdp.observations import ObservationSource, SampledObservations, TooLarge
from seqclass.pomdp.policy import Policy, RepricedPolicy, scale_prices, with_info
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver, policy_of
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.sweeps.solving import SweepPolicies, SweepView, solve_sweep
from seqclass.pomdp.walk import ALL, Fork, Level, Simulation, initial_histories, walk_to_end

__all__ = ["CostFrontier", "cost_sweep"]


@dataclass(frozen=True, repr=False)
class CostFrontier(Readable):
    """Expected price paid against expected decision cost, a point for each multiplier of the prices.

    All arrays have shape (n_multipliers,) and are expectations per instance under the model.

    Attributes
    ----------
    multipliers : ndarray
        Factors of all prices.
    price : ndarray
        Prices paid, as they are: not multiplied.
    decision_cost : ndarray
        Cost of the decisions.
    error : ndarray
        Probability of deciding for a wrong class.
    n_features : ndarray
        Number of features.
    cost : ndarray
        ``multipliers * price + decision_cost``: what the policy of that multiplier minimises.
    upper, lower : ndarray
        The policy's `cost` is at most `upper`, no policy's is less than `lower`; NaN where no bound was asked for.
    confidence : ndarray
        1.0 where both bounds are exact, else their confidence.
    std_error : ndarray
        Standard error of `cost`; 0 where exact.
    policies : tuple of Policy
        The policies, to be run on the problem itself.
    method : str
        ``"exact"`` or ``"simulation"``: how the expectations were computed.
    seconds : float
        Wall-clock time.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, cost_sweep
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> frontier = cost_sweep(problem, [1.0, 10.0])
    >>> len(frontier), frontier.policies[0].action(problem.initial_belief())
    (2, array([0]))
    """

    _in_summary = ("multipliers", "price", "decision_cost", "error", "n_features", "gap", "method", "seconds")
    _costs = ("upper", "lower", "std_error")

    multipliers: FloatArray
    price: FloatArray
    decision_cost: FloatArray
    error: FloatArray
    n_features: FloatArray
    cost: FloatArray
    upper: FloatArray
    lower: FloatArray
    confidence: FloatArray
    std_error: FloatArray
    policies: tuple[Policy, ...]
    method: str
    seconds: float

    def __len__(self) -> int:
        return len(self.multipliers)

    @property
    def gap(self) -> FloatArray:
        """``(upper - lower) / upper``; 0 where `upper` is 0."""
        upper = np.where(self.upper == 0, 1.0, self.upper)
        return np.where(self.upper == 0, 0.0, (self.upper - self.lower) / upper)


def cost_sweep(
    problem: AcquisitionProblem,
    multipliers: npt.ArrayLike,
    solver: Solver | None = None,
    *,
    method: str = "auto",
    n_paths: int = 5000,
    max_histories: int = 20_000,
    random_state: Any = 0,
) -> CostFrontier:
    """Solve a problem for many multipliers of its prices, sharing what does not depend on them.

    The policies are evaluated on the same histories: all of them where they are few, else the same sampled paths for
    all. A grid (`GridValueIteration`) makes one backward sweep for all multipliers, gives each what it finds for it
    alone, and its interpolated values are the lower bounds. `Perseus`, `FittedValueIteration` and
    `ProjectedValueIteration` solve for few multipliers, no further apart than a factor of 2.6 unless yours are. Between
    two of them look-ahead goes by a weighted mean of their values (`InterpolatedValues`), which costs next to nothing
    in quality. Where another point's policy turns out to be better they solve for it as well. All bounds come from one
    set of paths (`certificate_paths` of them, or ``n_paths`` if more). Other solvers, and `Perseus` with a gap or time
    to reach, solve and certify multiplier by multiplier; in a problem in any order all do, and policies are
    evaluated one by one.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    multipliers : array-like of shape (n_multipliers,)
        Factors of all prices; not negative, in any order.
    solver : Solver, optional
        By default `Adaptive` in any order; in one a grid for at most three classes, `Perseus` beyond, and without
        tables `ProjectedValueIteration` or look-ahead; where several may be ordered in one visit, `Panels`.
    method : {"auto", "exact", "simulation"}
        Enumerate every history that a policy meets, sample them, or enumerate if they are at most ``max_histories``.
    n_paths : int
        Sampled paths, for simulation. They are drawn as those of `certify`, so that bounds hold where a class is rare.
    max_histories : int
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the simulation.

    Returns
    -------
    CostFrontier

    Raises
    ------
    ValueError
        If a multiplier is negative or not finite, or 0 where `max_cost` limits what is paid, or the solver refuses the
        problem.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, cost_sweep
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> frontier = cost_sweep(problem, [0.1, 1.0, 10.0])
    >>> frontier.price.round(3), frontier.error.round(3)
    (array([0.155, 0.1  , 0.   ]), array([0.115, 0.15 , 0.5  ]))
    """
    check_problem(problem)
    factors = np.atleast_1d(check_not_negative(multipliers, "multipliers"))
    if factors.ndim != 1 or not factors.size:
        raise ValueError(f"multipliers must be a vector of at least one number, got shape {factors.shape}.")
    if problem.any_order and problem.limits.max_cost is not None and not factors.all():
        raise ValueError(
            "multipliers must be above 0 in a problem with max_cost, which is scaled with the prices and would limit "
            "nothing at 0; use a small one, such as 1e-6."
        )
    check_integer(n_paths, "n_paths", 2)
    simulation = Simulation(method, n_paths, max_histories, random_state)
    return sweep_prices(problem, factors, default_solver(problem) if solver is None else solver, simulation)


def sweep_prices(
    problem: AcquisitionProblem, factors: FloatArray, solver: Solver, simulation: Simulation
) -> CostFrontier:
    """Solve a problem for many multipliers of its prices; see `cost_sweep`."""
    started = time.perf_counter()
    if problem.any_order or problem.visits is not None:  # panels part histories as orders do
        return separate_sweep(problem, factors, solver, simulation)
    team = solve_sweep(solver, problem, factors)

    def measure() -> CostFrontier:
        return _run(problem, team, simulation).frontier(team, time.perf_counter() - started)

    frontier = measure()
    for _ in range(3):
        better = team.refine(frontier.price, frontier.decision_cost, frontier.std_error)
        if better is None:
            break
        team = better
        frontier = measure()
    return frontier


def _run(problem: AcquisitionProblem, team: SweepPolicies, simulation: Simulation) -> _SweepTally:
    if team.certificate_paths:
        # with the same seed, the paths of a bound must not be those that the solver learned from
        n_paths = max(simulation.n_paths, team.certificate_paths)
        simulation = replace(simulation, n_paths=n_paths, random_state=another_stream(simulation.random_state))

    def run(answers: ObservationSource, most: float) -> _SweepTally:
        drawn = None if answers is ALL else StratifiedAnswers(as_generator(simulation.random_state))
        tally = _SweepTally(team, drawn, 1.0 if drawn is None else drawn.begin(simulation.n_paths))
        belief, weight = initial_histories(problem, None, tally.total, drawn or answers)
        walk_to_end(belief, weight, _SweepHistories(team, tally, len(belief)).ask, drawn or answers, most)
        return tally

    tally = simulation.run(run)
    if team.certificate_paths:
        try:
            horizon = int(team.horizon.max())
            costs = optimal_costs(problem, team.multipliers, n_stages=horizon, max_histories=simulation.max_histories)
            tally.bounds = costs, 1.0
        except TooLarge:
            sampled = run(SampledObservations(as_generator(simulation.random_state)), np.inf) if tally.exact else tally
            tally.bounds = sampled.dual_bounds(), CONFIDENCE
    return tally


class _SweepHistories:
    """Which policies are still on each history, and what their bounds need."""

    def __init__(self, team: SweepPolicies, tally: _SweepTally, n: int) -> None:
        self.team, self.tally = team, tally
        shape, self.lot = (n, len(team.multipliers)), np.full(n, -1)
        self.active, self.open = np.ones(shape, dtype=bool), np.ones(shape, dtype=bool)
        self.low = np.full(shape, np.inf)
        self.bounding = not tally.exact and team.certificate_paths > 0
        # sums of (value of the successor - its expectation): of mean zero, they cancel most of what chance does
        self.martingale = np.zeros(shape)
        self.looks: list[SweepView] = []
        self.chance = np.empty((0, 0))

    def ask(self, level: Level) -> Fork:
        team, belief = self.team, level.belief
        if level.stage:
            self._come_to(level)
        if self.tally.answers is not None:
            self.lot = self.tally.answers.lots(self.lot)
        go_on, self.looks = np.zeros_like(self.active), []
        if self.bounding:
            ends = team.multipliers * belief.spent[:, None] + team.at_best(belief) - self.martingale
            self.low = np.where(self.open, np.minimum(self.low, ends), self.low)
            self.open = self.open & team.may_go_on(belief)
        if belief.stage < team.problem.n_stages:
            go_on, self.looks = team.goes_on(belief, self.open if self.bounding else self.active)
        self.tally.add(level, self.active & ~go_on, self.martingale, self.lot)
        self.active = self.active & go_on
        going = (self.open if self.bounding else self.active).any(axis=1)
        if self.bounding:
            self.tally.lows.add(level.weight[~going], self.low[~going].T, self.lot[~going])
        row = np.flatnonzero(going)
        question = np.full(row.size, belief.stage)
        if row.size and self.looks:
            ((_, part),) = level.split(row, question)
            self.chance = part.outcome_probabilities
        return Fork(row, question, level.weight[row])

    def _come_to(self, level: Level) -> None:
        """Follow each history to the next level."""
        source = level.parent
        self.active, self.martingale, self.lot = self.active[source], self.martingale[source], self.lot[source]
        if self.bounding:
            self.open, self.low = self.open[source], self.low[source]
        for look in self.looks if not self.tally.exact else []:
            look.add_surprise(self.martingale, source, level.outcome, self.chance[level.entry, level.outcome])


class _SweepTally:
    """Sums over stopped histories, a column a policy."""

    def __init__(self, team: SweepPolicies, answers: StratifiedAnswers | None, total: float) -> None:
        self.problem, self.multipliers, self.follows = team.problem, team.multipliers, team.follows_values
        self.answers, self.total, self.exact = answers, total, answers is None
        self.sums = np.zeros((5, len(self.multipliers)))
        #: Of drawn histories what each policy costs, and the lower ends of all.
        self.costs, self.lows = [DrawnValues() for _ in self.multipliers], DrawnValues()
        #: Lower bounds and their confidence, where the policies do not bring their own.
        self.bounds: tuple[FloatArray, float] | None = None

    def add(self, level: Level, stopped: BoolArray, martingale: FloatArray, lot: IntArray) -> None:
        rows = np.flatnonzero(stopped.any(axis=1))
        belief, weight, stopped = level.belief[rows], level.weight[rows], stopped[rows]
        paid, stop = belief.spent, belief.stopping_cost
        decision, n_classes = self.problem.decide(belief.probabilities), self.problem.n_classes
        right = belief.probabilities[np.arange(len(rows)), np.minimum(decision, n_classes - 1)]
        error = np.where(decision < n_classes, 1 - right, 0.0)
        features = np.full(len(rows), float(belief.stage))
        self.sums += np.array([np.ones(len(rows)), paid, stop, error, features]) @ (stopped * weight[:, None])
        if not self.exact:
            cost = self.multipliers * paid[:, None] + stop[:, None] - martingale[rows]
            for own, each, there in zip(self.costs, cost.T, stopped.T):
                own.add(weight[there], each[None, there], lot[rows[there]])

    def dual_bounds(self) -> FloatArray:
        """Lower end of the martingale dual, (n_multipliers,)."""
        lows = self._means(self.lows, np.ones(len(self.multipliers), dtype=bool))
        return lows.means - [lows.margin(-one, quantile(CONFIDENCE)) for one in np.eye(len(lows.means))]

    def _means(self, values: DrawnValues, alike: BoolArray) -> DrawnMeans:
        assert self.answers is not None  # nothing is drawn where all histories are followed
        return values.means(self.total, self.answers.n_lots, alike)

    def frontier(self, team: SweepPolicies, seconds: float) -> CostFrontier:
        followed, *sums = self.sums
        price, stop, error, features = np.array(sums) / followed
        m = self.multipliers
        deviation = margin = np.zeros_like(m)
        if not self.exact:  # the price is estimated as it is, so chance is cancelled in the decision cost
            drawn = [self._means(own, np.array([self.follows])) for own in self.costs]
            deviation = np.array([own.standard_errors[0] for own in drawn])
            margin = np.array([own.margin(np.ones(1), quantile(CONFIDENCE)) for own in drawn])
            stop = np.maximum([own.means[0] for own in drawn] - m * price, 0.0)
        cost = m * price + stop
        infos = [policy.info for policy in team.policies]
        low, trust = np.array([info.lower for info in infos]), np.array([info.confidence for info in infos])
        if self.bounds is not None:
            low, trust = self.bounds[0], np.full(len(m), self.bounds[1])
        # exact costs come first, then a solver's own certificate; where there is neither the walk gives the upper end
        certified = np.array([np.isfinite(info.upper) for info in infos]) & (not self.exact)
        upper = np.where(certified, [info.upper for info in infos], cost + margin)
        # a grid's bound is certain, and its confidence is NaN
        sampled = (trust < 1) | ~(certified | self.exact)
        confidence = np.where(sampled, CONFIDENCE, 1.0)
        columns = (price, stop, error, features, cost, upper, np.minimum(np.maximum(low, 0.0), upper), confidence)
        return _frontier(m, team.policies, (*columns, deviation), self.exact, seconds)


def _frontier(
    multipliers: FloatArray, policies: Sequence[Policy], columns: Sequence[Any], exact: bool, seconds: float
) -> CostFrontier:
    """The frontier of its columns, from `CostFrontier.price` on, each policy with its own bounds."""
    rest: dict[str, Any] = {"policies": (), "method": "exact" if exact else "simulation", "seconds": seconds}
    frontier = CostFrontier(multipliers, *columns, **rest)
    bounds = (frontier.upper, frontier.lower, frontier.gap, frontier.confidence)
    bounded = [
        with_info(policy, upper=upper, lower=lower, gap=gap, confidence=confidence)
        for policy, upper, lower, gap, confidence in zip(policies, *(ends.tolist() for ends in bounds))
    ]
    return replace(frontier, policies=tuple(bounded))


def separate_sweep(
    problem: AcquisitionProblem, factors: FloatArray, solver: Solver, simulation: Simulation
) -> CostFrontier:
    """Frontier of a problem in any order, in which policies ask different questions and so share no histories."""
    started, columns, policies, exact = time.perf_counter(), [], [], True
    simulation = replace(simulation, random_state=another_stream(simulation.random_state))
    for multiplier in factors.tolist():
        priced = scale_prices(problem, multiplier)
        solved = policy_of(solver, priced)
        policy = RepricedPolicy(solved, problem, multiplier)
        evaluation = evaluate_policy(problem, policy, simulation)
        exact = exact and evaluation.method == "exact"
        cost, deviation = multiplier * evaluation.price + evaluation.cost - evaluation.price, 0.0
        info, drawn = solved.info, evaluation.method != "exact"
        upper, confidence = info.upper, info.confidence
        if not np.isfinite(upper):  # it brings none of its own
            upper, confidence = cost, 1.0
            if drawn:
                bound = PolicyCost(priced, solved, as_generator(simulation.random_state))
                bound.run(fewer_paths(simulation.n_paths))
                (cost, upper), deviation = bound.ends(1 - CONFIDENCE), bound.standard_error
                confidence = 1.0 if upper == cost else CONFIDENCE
        elif drawn:
            at_prices = evaluate_policy(priced, solved, simulation)
            cost, deviation = at_prices.cost, at_prices.cost_std_error
        policies.append(policy)
        decision = max(cost - multiplier * evaluation.price, 0.0)
        bounds = (upper, min(max(info.lower, 0.0), upper), confidence, deviation)
        columns.append((evaluation.price, decision, evaluation.error, evaluation.n_features, cost, *bounds))
    by_column = np.array(columns, dtype=float).T
    return _frontier(factors, policies, by_column, exact, time.perf_counter() - started)
