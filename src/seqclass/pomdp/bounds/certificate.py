"""Certificates: how far from optimal a policy is, whatever solver it came from."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np

from seqclass._utils.arrays import CACHE_BYTES, FloatArray, IntArray, as_generator, chunks
from seqclass._utils.progress import DeadlineExceeded, check_deadline, remaining_seconds, report_progress, time_limit
from seqclass._utils.tables import Readable
from seqclass._utils.text import money
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.alpha import BackupPoints, quick_values, sample_beliefs
from seqclass.pomdp.bounds.drawn import DrawnCases, DrawnSearch, rate_of
from seqclass.pomdp.bounds.dual import CONFIDENCE as CONFIDENCE
from seqclass.pomdp.bounds.dual import DualPaths
from seqclass.pomdp.bounds.hindsight import in_hindsight, surely_less
from seqclass.pomdp.bounds.hints import MANY_STATES, bounds_of
from seqclass.pomdp.bounds.optimum import OrderBounds, optimal_cost
from seqclass.pomdp.bounds.policy_cost import ROUNDING, PolicyCost, greatest_expected_cost
from seqclass.pomdp.bounds.repeats import has_repeats
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.evaluation import evaluate
from seqclass.pomdp.margins import quantile
from seqclass.pomdp.needs import require_fixed_order, require_no_visits, require_tables
from seqclass.pomdp.observations import TooLarge
from seqclass.pomdp.one_step import cost_lower_bound, initial_beliefs, perfect_cost, perfect_information_bound
from seqclass.pomdp.policy import DECIDE, FunctionPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.table_problem import in_any_order
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.visits import with_least_surcharges, without_visits
from seqclass.pomdp.walk import MAX_HISTORIES
from seqclass.pomdp.worlds import Asked, Game, game_and_policy

__all__ = ["Certificate", "certify", "grid_lower_bound", "sawtooth_lower_bound"]


@dataclass(frozen=True)
class CaseSearchTuning:
    """How far the search on drawn cases for the lower end over all orders goes."""

    #: Cases that are drawn, and partial answers that are looked at for each: some seconds.
    max_cases: int = 10_000
    #: Of fewer cases the mean is not yet normal; so many tell first what all answers leave unknown.
    min_cases: int = 500
    #: Share of the upper end: where all answers leave less unknown, drawn cases are known too well.
    min_unknown: float = 0.1
    #: Share of the upper end: ends that are nearer than this are near enough.
    near: float = 0.05
    #: Share of what the policy costs: where drawn cases tell as much, others, which take longer, are left out.
    told: float = 0.6
    #: Answers that are looked at where nobody says how long it may take, and as how many of them a pass counts.
    max_answers: float = 1.3e7
    pass_answers: float = 2.5e4
    #: Partial answers of the search that nothing is drawn for, and passes through them: where each adds one, as of
    #: hundreds of questions that tell little, all of them would take ten seconds and raise the bound by .4%.
    max_nodes: int = 3000
    max_lots: int = 500
    #: Passes where drawn cases tell as much already; and of each try of how much their costs differ.
    few_lots: int = 60
    rough_lots: int = 25
    #: How much costs of cases may differ, as shares of their mean, from alike to far apart.
    spreads: tuple[float, ...] = (0.1, 0.25, 0.6, 1.5)


_TUNING = CaseSearchTuning()


#: A function of unnormalised beliefs and their contexts.
_Function = Callable[[FloatArray, IntArray], FloatArray]


def grid_lower_bound(
    problem: AcquisitionProblem, resolution: int | None = None, *, n_stages: int | None = None
) -> float:
    """Lower bound by dynamic programming on a grid, for up to three classes.

    The cost of going on is concave in the belief, so that interpolating it between lower bounds at the points of the
    Freudenthal triangulation gives a lower bound everywhere.

    W. S. Lovejoy, "Computationally feasible bounds for partially observed Markov decision processes", Operations
    Research 39, 1991.
    """
    tables = _require_grid(problem, "grid_lower_bound", "dual_bound")
    require_no_visits(problem, "grid_lower_bound", "certify")
    usual = {1: 1, 2: 2000, 3: 200}[problem.n_classes]
    grid = SimplexGrid(problem.n_classes, check_integer(usual if resolution is None else resolution, "resolution", 1))
    n_points = len(grid.points)

    def points(stage: int) -> BackupPoints:
        n_contexts = tables.n_contexts(stage)
        return BackupPoints(np.tile(grid.points, (n_contexts, 1)), np.repeat(np.arange(n_contexts), n_points))

    def interpolation(points: BackupPoints, values: FloatArray, price: float) -> _Function:
        return lambda belief, context: grid.read(values, belief, "freudenthal", context)

    return _backward(problem, tables, _horizon(problem, n_stages), points, interpolation)


def _require_grid(problem: AcquisitionProblem, who: str, instead: str) -> Tables:
    """Tables of a problem whose beliefs a grid can be laid over."""
    tables = require_tables(problem, who, instead)
    if problem.n_classes > 3:
        raise ValueError(f"{who} serves up to 3 classes, and this problem has {problem.n_classes}; use {instead}.")
    return tables


def sawtooth_lower_bound(
    problem: AcquisitionProblem,
    n_points: int = 1000,
    *,
    n_stages: int | None = None,
    random_state: Any = 0,
) -> float:
    """Lower bound by dynamic programming on beliefs that the model reaches.

    A belief is a mixture of the simplex's corners, where the class is known, and any one point. The cost of going on is
    concave, so that the mixture of the costs at these is a lower bound, and the best point gives the bound. Certain for
    any number of classes and any points; good for two or three classes, weak beyond.

    M. Hauskrecht, "Value-function approximations for partially observable Markov decision processes", JAIR 13, 2000.
    """
    tables = require_tables(problem, "sawtooth_lower_bound", "dual_bound")
    require_no_visits(problem, "sawtooth_lower_bound", "certify")
    check_integer(n_points, "n_points", 1)
    horizon = _horizon(problem, n_stages)
    sampled = sample_beliefs(problem, horizon, n_points, as_generator(random_state))

    def interpolation(points: BackupPoints, values: FloatArray, price: float) -> _Function:
        corner = price + perfect_cost(problem)
        return lambda belief, context: _sawtooth(belief, context, points, values, corner)

    return _backward(problem, tables, horizon, lambda stage: sampled[stage], interpolation)


def _horizon(problem: AcquisitionProblem, n_stages: int | None) -> int:
    return problem.n_stages if n_stages is None else min(check_integer(n_stages, "n_stages", 0), problem.n_stages)


def _backward(
    problem: AcquisitionProblem,
    tables: Tables,
    horizon: int,
    points: Callable[[int], BackupPoints],
    interpolation: Callable[[BackupPoints, FloatArray, float], _Function],
) -> float:
    """Back up lower bounds of the cost of going on at each stage's points; return the bound at the prior."""
    going_on: _Function | None = None
    if horizon < problem.n_stages:
        rest = perfect_information_bound(problem, horizon)
        going_on = lambda belief, context: np.asarray(belief @ rest)  # noqa: E731

    def value(posterior: FloatArray, context: IntArray) -> FloatArray:
        stop = problem.stopping_cost(posterior)
        return stop if going_on is None else np.minimum(stop, going_on(posterior, context))

    for stage in reversed(range(1, horizon)):
        at, price = points(stage), float(planned_prices(problem)[stage])
        going_on = interpolation(at, price + _expected_value(problem, tables, stage, at, value), price)
    belief, weight = initial_beliefs(problem)
    at = BackupPoints(belief.probabilities, tables.contexts(0, belief.state))
    if not horizon:
        return float(weight @ value(at.belief, at.context))
    # where cases begin nothing has to be interpolated
    ahead = planned_prices(problem)[0] + _expected_value(problem, tables, 0, at, value)
    return float(weight @ np.minimum(belief.stopping_cost, ahead))


def _expected_value(
    problem: AcquisitionProblem, tables: Tables, stage: int, at: BackupPoints, value: _Function
) -> FloatArray:
    """Sum over outcomes of the values of the unnormalised successors, (n,)."""
    total = np.zeros(len(at.belief))
    for part in chunks(len(total), 8.0 * 12 * problem.n_classes * float(problem.n_outcomes[stage])):
        context = at.context[part]
        likelihood, successors = tables.likelihood(stage, context), tables.successors(stage, context)
        for v in range(likelihood.shape[1]):
            joint = likelihood[:, v] * at.belief[part]
            total[part] += value(joint, successors[:, v])
    return total


def _sawtooth(
    belief: FloatArray, context: IntArray, points: BackupPoints, values: FloatArray, corner: FloatArray
) -> FloatArray:
    """Value of the best mixture of corners and a point of the belief's context, (n,)."""
    result = np.asarray(belief @ corner)
    for number in np.unique(context):
        rows, own = context == number, points.context == number
        result[rows] += _gain(belief[rows], points.belief[own], values[own], corner)
    return result


def _gain(belief: FloatArray, points: FloatArray, values: FloatArray, corner: FloatArray) -> FloatArray:
    """How far the best point's mixture is above that of the corners alone, (n,)."""
    above = values - points @ corner
    gain = np.zeros(len(belief))
    if not len(points):
        return gain
    for part in chunks(len(belief), 8.0 * 3 * len(points), CACHE_BYTES):
        share = np.full((len(belief[part]), len(points)), np.inf)
        for c in range(points.shape[1]):
            there = np.flatnonzero(points[:, c] > 0)
            share[:, there] = np.minimum(share[:, there], belief[part, c, None] / points[there, c])
        gain[part] = np.maximum((share * above).max(axis=1), 0.0)
    return gain


class CertifiedEnds(NamedTuple):
    """Bound and estimate of the upper end, and of the lower one, and how they were found.

    And what both ends are for certain; and the most that the gap is, where it has its own.
    """

    high: tuple[float, float]
    low: tuple[float, float]
    confidence: float = 1.0
    method: str = "exact"
    n_paths: int = 0
    sure: tuple[float, float] = (0.0, np.inf)
    gap: float = 1.0

    def certificate(self, started: float, scope: str = "order") -> Certificate:
        """What is certified; for `certify` alone, which is whose caller is warned."""
        (upper, upper_mean), (low, lower_mean), confidence, most = self.high, self.low, self.confidence, self.gap
        if confidence < 1 and low > upper * (1 + ROUNDING):
            low, upper, most, confidence = *self.sure, 1.0, 1.0
            warnings.warn(_CROSSED, stacklevel=4)
        # costs are not negative, and exact ends may differ by rounding
        lower = min(max(low, 0.0), upper)
        gap = max(min((upper - lower) / upper, most), 0.0) if upper > 0 else 0.0
        if confidence == 1.0 and gap < 1e-12:
            gap = 0.0
        found = (upper_mean, lower_mean, confidence, self.method, self.n_paths)
        return Certificate(upper, lower, gap, *found, time.perf_counter() - started, scope)


class Looks(NamedTuple):
    """How many paths are drawn: with a width twice as many each time, until the margin is that narrow."""

    n_paths: int
    width: float | None
    max_paths: int

    def surely(self, failing: float) -> float:
        """Confidence of each look where all of them together may fail so probably."""
        n_looks = 1 if self.width is None else 1 + max(0, ceil(log2(self.max_paths / self.n_paths)))
        return 1 - failing / n_looks

    def more(self, n: int) -> int:
        """Paths to draw after so many."""
        return min(n, self.max_paths - n) if n else self.n_paths

    def enough(self, margin: float, high: float, n: int) -> bool:
        """Whether so many paths will do."""
        return self.width is None or margin <= self.width * high or n >= self.max_paths


class Finding(NamedTuple):
    """How the ends of a certificate are to be found; its settings are those of `certify`."""

    method: str
    looks: Looks
    confidence: float
    max_histories: int
    hindsight: bool | float

    def ends(
        self, problem: AcquisitionProblem, any_order: AcquisitionProblem, policy: Policy, rng: np.random.Generator
    ) -> CertifiedEnds:
        """Both ends: what the policy costs in a problem, and what none costs in another one, the same but free."""
        upper, lower = self.cost(problem, policy), self.optimum(any_order)
        if upper is not None and lower is not None:
            return CertifiedEnds((upper, upper), (lower, lower))
        wanted = lower is None and self.method != "deterministic"
        # bounds by hints take longest, and drawn cases mostly tell more: these go first
        if lower is None and (not wanted or has_repeats(any_order)):
            values = self.bounds(any_order)
            lower = lowest(any_order, values)
            wanted = wanted and not (values is not None and values.near)
        if upper is None:
            # where both ends may be sampled, they hold together
            each = (1 + self.confidence) / 2 if wanted else self.confidence
            mean, high, n_paths = self.simulate(problem, policy, each, rng)
        else:
            mean, high, n_paths = upper, upper, 0
        drawn = search_of_cases(any_order, mean, lower or 0.0, self.looks.n_paths, rng) if wanted else None
        # alone it takes the wider margin too: of 2002 at 99% of one side, 24 were above the optimum
        sampled, n_cases = 0.0, 0
        if drawn is not None:
            sampled, n_cases = drawn.lower((1 - self.confidence) / 2), len(drawn.least)
        if lower is None:
            if sampled >= _TUNING.told * mean > 0:
                lower = lowest(any_order, None, _TUNING.few_lots)
            else:
                lower = lowest(any_order, self.bounds(any_order))
        if drawn is None and wanted and self.hindsight:
            limit = np.inf if self.hindsight is True else float(self.hindsight)
            sampled, n_cases = least_in_hindsight(
                any_order, mean, lower, self.looks.n_paths, self.confidence, limit, rng
            )
        low = max(lower, sampled)
        if upper is None:
            kind = "simulation" if low > lower else "mixed"
            sure = (lower, greatest_expected_cost(problem))
            return CertifiedEnds((high, mean), (low, low), self.confidence, kind, n_paths, sure)
        if low > lower:
            return CertifiedEnds((upper, upper), (low, low), self.confidence, "mixed", n_cases, (lower, upper))
        return CertifiedEnds((upper, upper), (lower, lower), method="deterministic")

    def bounds(self, any_order: AcquisitionProblem) -> OrderBounds | None:
        """Bounds over all orders, as far as the time goes; without them one price more serves."""
        with suppress(DeadlineExceeded), time_limit(remaining_seconds() / 4):
            return bounds_of(any_order, MANY_STATES)
        return None

    def cost(self, problem: AcquisitionProblem, policy: Policy) -> float | None:
        """What a policy costs, if all its histories can be looked at."""
        return self._exactly(
            ("auto", "exact", "deterministic"),
            lambda: evaluate(problem, policy, method="exact", max_histories=self.max_histories).cost,
        )

    def optimum(self, problem: AcquisitionProblem, n_stages: int | None = None) -> float | None:
        """What the best policy costs, if all histories can be looked at."""
        most = self.max_histories
        return self._exactly(("auto", "exact"), lambda: optimal_cost(problem, n_stages=n_stages, max_histories=most))

    def sample(self, paths: DualPaths, upper: float | None, lower: float | None, paired: bool) -> CertifiedEnds:
        """Both ends from paths; one that is known is not sampled."""
        paired = paired and upper is None and lower is None
        # two one-sided statements, or three with the gap's own, fail with the wanted probability in all
        z = quantile(self.looks.surely((1 - self.confidence) * 2 / (3 if paired else 2)))
        while True:
            ends = paths.run(self.looks.more(paths.n_paths))
            if upper is None:
                high, low = (ends.most(z), ends.up), (ends.least(z), ends.low)
            else:
                high, low = (upper, upper), ends.least_where_up_is(upper, z)
            low = low if lower is None else (lower, lower)
            if self.looks.enough(high[0] - high[1] + low[1] - low[0], high[0], paths.n_paths):
                break
        kind = "deterministic" if lower is not None else "simulation" if upper is None else "mixed"
        sure = (lower or 0.0, greatest_expected_cost(paths.problem) if upper is None else upper)
        # differences of the two ends are rare and large where values are good: of fewer paths their mean is not yet
        # normal
        gap = ends.most_gap(z) if paired and paths.n_paths >= 1000 else 1.0
        return CertifiedEnds(high, low, self.confidence, kind, paths.n_paths, sure, gap)

    def simulate(
        self, problem: AcquisitionProblem, policy: Policy, confidence: float, rng: np.random.Generator
    ) -> tuple[float, float, int]:
        """What a policy costs on drawn paths, what it costs at most, and how many paths there were."""
        cost, failing = PolicyCost(problem, policy, rng), 1 - self.looks.surely(1 - confidence)
        n = 0
        while True:
            n += self.looks.more(n)
            cost.run(n)
            mean, high = cost.ends(failing)
            if cost.n_paths < n or self.looks.enough(high - mean, high, n):
                return mean, high, cost.n_paths

    def _exactly(self, methods: tuple[str, ...], find: Callable[[], float]) -> float | None:
        """What is found by looking at all histories, if that is the method and they are not too many."""
        if self.method not in methods:
            return None
        try:
            with time_limit(remaining_seconds() / 8 if self.method != "exact" else np.inf):
                return find()
        except (TooLarge, DeadlineExceeded):
            if self.method == "exact":
                raise
            check_deadline()
        return None


def search_of_cases(
    any_order: AcquisitionProblem, upper: float, lower: float, n_paths: int, rng: np.random.Generator
) -> DrawnSearch | None:
    """A search on drawn cases, where all answers together leave so much unknown that it is worth the while.

    Whether it is made is told by other cases than its own, for that must not hang on what it finds.
    """
    structure, n = any_order.structure, min(_TUNING.max_cases, 3 * n_paths)
    if structure.samples or structure.starts is not None or not any_order.n_questions or n < _TUNING.min_cases:
        return None
    if upper - lower <= _TUNING.near * upper:
        return None
    try:
        with time_limit(remaining_seconds() / 3):
            began, first = time.perf_counter(), _TUNING.min_cases
            tried = DrawnCases.draw(any_order, first, rng)
            if tried.costs.min(axis=1).mean() < _TUNING.min_unknown * upper:
                return None
            if remaining_seconds() < np.inf:  # as many as half of the time is enough for
                n = int(min(n, max(first, first * remaining_seconds() / 2 / (time.perf_counter() - began))))
            search = DrawnSearch(any_order, DrawnCases.draw(any_order, n, rng), best_rate(any_order, tried, upper, n))
    except DeadlineExceeded:
        check_deadline()
        return None
    if remaining_seconds() < np.inf:
        search.run(n, remaining_seconds() / 3)
    else:  # where no time is set, so much work and no more
        left = _TUNING.max_answers
        while not search.run(n, max_lots=1) and search.n_nodes < n and search.work < left:
            left -= _TUNING.pass_answers
    return search


def best_rate(any_order: AcquisitionProblem, cases: DrawnCases, mean: float, n: int) -> float:
    """The rate at which other cases promise most, if costs differ by one of several shares of their mean."""
    failing, promised = (1 - CONFIDENCE) / 2, {}
    for share in _TUNING.spreads:
        search = DrawnSearch(any_order, cases, rate_of(mean, share * mean, n, failing))
        search.run(len(cases.costs), max_lots=_TUNING.rough_lots)
        promised[search.rate] = search.lower(failing, n)
    return max(promised, key=lambda rate: promised[rate])


def least_in_hindsight(
    any_order: AcquisitionProblem,
    upper: float,
    lower: float,
    n_paths: int,
    confidence: float,
    limit: float,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """A lower end from first questions in hindsight, and of how many cases: where many hidden states are told apart."""
    if upper - lower <= _TUNING.near * upper:
        return 0.0, 0
    try:
        with time_limit(min(limit, remaining_seconds() / 3)):
            values = in_hindsight(any_order, n_paths, remaining_seconds(), rng)
    except DeadlineExceeded:
        check_deadline()
        return 0.0, 0
    return (0.0, 0) if values is None else (surely_less(values, (1 + confidence) / 2), len(values))


def lowest(problem: AcquisitionProblem, bounds: OrderBounds | None, n_lots: int = _TUNING.max_lots) -> float:
    """No policy costs less, in any order: a short search, or where questions are sampled one price and knowledge."""
    if not problem.structure.samples and problem.structure.starts is None:
        search = OrderSearch(problem, bounds)
        search.run(_TUNING.max_nodes, remaining_seconds() / 3, max_lots=n_lots)
        return search.low
    begun, weight = initial_beliefs(problem)
    least = np.minimum(begun.stopping_cost, cost_lower_bound(begun))
    if bounds is not None and not problem.structure.samples:
        least = np.maximum(least, np.minimum(begun.stopping_cost, bounds.lower(begun)))
    return float(weight @ least)


#: What a certificate is about, in words.
SCOPES = {"order": "in this order", "all orders": "over all orders", "all panels": "over all panels"}
_CROSSED = (
    "The sampled ends of the certificate contradict each other or what is certain: the draw was one of the few that "
    "fail, and the ends are those that hold for certain, however far apart. Take another random_state, or more n_paths."
)
_METHODS = ("auto", "exact", "simulation", "deterministic")


@dataclass(frozen=True, repr=False)
class Certificate(Readable):
    """A certified interval around the optimal cost.

    Attributes
    ----------
    upper : float
        The executed policy's cost is at most this.
    lower : float
        No policy costs less than this.
    gap : float
        The policy's cost is above the optimum by at most this share of itself; 0 where `upper` is 0. It is
        ``(upper - lower) / upper``, or less with ``paired``, for then the difference is surer than either of them.
    upper_mean, lower_mean : float
        Estimates before the margin of confidence is added; over all orders ``lower_mean`` is `lower` itself.
    confidence : float
        1.0 where neither end is sampled, else what was asked for, of both ends, and a paired gap, together.
    method : str
        ``"exact"``; ``"simulation"``; ``"mixed"``: upper exact, lower simulated; ``"deterministic"``: lower from the
        grid.
    n_paths : int
        Sampled paths that were asked for, or cases where the lower end alone is sampled; 0 where exact.
    seconds : float
        Wall-clock time.
    scope : str
        What no policy means: ``"order"``, of those that ask in this order; ``"all orders"``, whatever it asks next;
        ``"all panels"``, whatever it orders together in a visit.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, StoppingValue, certify
    >>> from seqclass.pomdp.policy import LookaheadPolicy
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> certificate = certify(problem, LookaheadPolicy(StoppingValue(problem)))
    >>> certificate.method
    'exact'
    >>> print(certificate)
    costs at most 0.25, and no policy in this order less than 0.25: another one saves at most 0.0% of that (certain)
    """

    _costs = ("upper", "lower", "upper_mean", "lower_mean")

    upper: float
    lower: float
    gap: float
    upper_mean: float
    lower_mean: float
    confidence: float
    method: str
    n_paths: int
    seconds: float
    scope: str = "order"

    def __str__(self) -> str:
        """Say in words what is certified, and among which policies."""
        among = SCOPES[self.scope]
        sure = "certain" if self.confidence == 1 else f"{self.confidence:.3g} confidence"
        return (
            f"costs at most {money(self.upper)}, and no policy {among} less than {money(self.lower)}: another one "
            f"saves at most {self.gap:.1%} of that ({sure})"
        )


@report_progress("certificate")
def certify(
    problem: Game,
    policy: Asked = None,
    *,
    values: ValueFunction | None = None,
    method: str = "auto",
    n_paths: int = 4000,
    width: float | None = None,
    max_paths: int = 1_000_000,
    confidence: float = CONFIDENCE,
    paired: bool = False,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
    scope: str | None = None,
    hindsight: bool | float = True,
) -> Certificate:
    """Bound the optimal cost from below and the policy's cost from above.

    Where there are few histories, both ends are computed by enumeration. Otherwise the lower end is the martingale dual
    of optimal stopping: on sampled paths with any value function J, ``M`` adds up ``J(k+1, next) - E[J(k+1, next)]``,
    and the mean of ``min over stages of (prices paid + stopping cost - M)`` is below the optimum. The policy's cost on
    the same paths, with ``M`` at its stop as a control variate, is the upper end. A path ends where one more price
    would cost more than knowing the class can save, for there stopping is optimal. Histories that weigh a path or more
    are all followed, and of the others those in which deciding is dear more often than chance would, with less weight:
    so a rare class that is dear to miss is met.

    That is for stopping in a given order. If any question may come next, hindsight would also choose the order, and the
    lower end is a different one. With few histories it is exact; otherwise it is by AO* on a few thousand partial
    answers. If answers depend only on the class, with two or three classes, AO* starts from the bound of a problem in
    which all but a few questions may be asked again with fresh answers. For up to a hundred classes or hidden states,
    it starts from hints that leave few states to tell apart. If all answers together leave much unknown, the lower end
    is the least mean cost that any policy has on drawn cases, less a margin, where that is closer [3]_. If they leave
    little, and more than sixteen states are hidden, it is the mean of the least cost of drawn cases in hindsight, over
    all sets of a few first questions, less luck [4]_ and a margin. With bundles too large to list, the bound is one
    more price, after which the class is known.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        By what is believed and paid.
    policy : Policy or callable, optional
        Any policy for it, or a function of the belief; see `FunctionPolicy`. By default that of the classifier.
    values : ValueFunction, optional
        Value function of the martingale; by default the policy's own. For a policy that has none, values are made in
        two quick rounds of point-based backups of the problem or its projection; where it has neither tables nor a
        projection the stopping cost serves.
        The bounds hold with any; the better they are, the smaller the gap.
    method : {"auto", "exact", "simulation", "deterministic"}
        ``"auto"`` enumerates what has at most ``max_histories`` histories. ``"deterministic"``: the lower end is the
        grid's, certain, for up to three classes, and the policy is enumerated if possible.
    n_paths : int
        Sampled paths, with ``width`` the first lot of them. What takes as long as these is followed: in a given order
        histories of two thirds of their weight, and more often those that are dear.
    width : float, optional
        Sample until the margins of confidence are less than this share of the upper end; over all orders or panels that
        of the upper end alone. Paths are doubled until they suffice or ``max_paths`` is reached; each of the at most K
        looks is at confidence ``1 - (1 - confidence) / K``, so that looking more than once costs no validity.
    max_paths : int
        Most paths, with ``width``.
    confidence : float
        Probability that both sampled ends, and a paired gap, hold. In a given order that is by the approximation of
        what drawn histories add by a normal distribution, corrected for skewness, with one path more that may have been
        missed; in hindsight by a normal one; else without any, however rare the dearest answers are [5]_.
    paired : bool
        Take the gap from what the two ends differ by along each path, where both are sampled on at least 1000. Most of
        what chance does to them is the same, so that the gap is smaller than that of the ends, which become a little
        wider, for three statements are to hold together.
    max_histories : int
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the paths; take another one than the solver's.
    scope : {"order", "all orders"}, optional
        Which policies the lower end is about. By default those of the problem: all orders of a free one. A policy of a
        fixed order may be compared with all orders of its questions, if the problem has a twin of any order
        (`in_any_order`). Where visits cost something, it is about all panels of these. Whatever is
        asked takes one visit at least, or a share of those that its number takes; with that added to the prices, asking
        one at a time costs no more, and its lower end is taken.
    hindsight : bool or float
        Whether cases are looked at in hindsight where that may be nearer, which takes up to a minute with hundreds of
        hidden states; or for how many seconds at most: the longer, the more questions are followed, or cases drawn.
        Solvers, for their own certificates, do without.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If ``method="exact"`` meets more than ``max_histories`` histories, ``method="deterministic"`` a problem
        without tables or of more than three classes, or ``scope`` is not to be had.

    References
    ----------
    .. [1] L. C. G. Rogers, "Monte Carlo valuation of American options", Mathematical Finance 12, 2002.
    .. [2] M. B. Haugh and L. Kogan, "Pricing American options: a duality approach", Operations Research 52, 2004.
    .. [3] A. J. Kleywegt, A. Shapiro and T. Homem-de-Mello, "The sample average approximation method for stochastic
       discrete optimization", SIAM Journal on Optimization 12, 2002.
    .. [4] D. B. Brown, J. E. Smith and P. Sun, "Information relaxations and duality in stochastic dynamic programs",
       Operations Research 58, 2010.
    .. [5] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the
       Royal Statistical Society B 86, 2024.

    Warns
    -----
    UserWarning
        If sampled ends contradict each other, or what is certain: the ends are then those that are certain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, certify
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> certificate = certify(problem, GridValueIteration().solve(problem))
    >>> round(certificate.upper, 3), round(certificate.lower, 3), certificate.gap
    (0.25, 0.25, 0.0)
    >>> round(certify(problem, lambda info: info.probabilities.max(axis=1) < 0.4).gap, 3)  # never buys, at a cost of .5
    0.5
    """
    started = time.perf_counter()
    check_choice(method, "method", _METHODS)
    check_integer(n_paths, "n_paths", 2)
    check_integer(max_paths, "max_paths", 2)
    check_integer(max_histories, "max_histories", 1)
    check_real(confidence, "confidence", 0, 1 - 1e-12)
    if width is not None:
        check_real(width, "width", 0)
    if not isinstance(hindsight, bool):
        check_real(hindsight, "hindsight", 0)
    problem, _, policy = game_and_policy(problem, policy)
    values = policy._lookahead_values if values is None else values
    rng = as_generator(random_state)
    if scope is None:
        scope = "all orders" if problem.any_order else "order"
    check_choice(scope, "scope", ("order", "all orders"))
    finding = Finding(method, Looks(n_paths, width, max_paths), confidence, max_histories, hindsight)
    if problem.visits is not None:
        return _over_panels(problem, policy, finding, scope, rng).certificate(started, "all panels")
    if scope == "all orders":
        return finding.ends(problem, in_any_order(problem), policy, rng).certificate(started, scope)
    require_fixed_order(problem, 'certify(scope="order")', 'scope="all orders"')
    known = None
    if method == "deterministic":
        _require_grid(problem, 'method="deterministic"', 'method="auto"')
        known = grid_lower_bound(problem)
    upper = finding.cost(problem, policy)
    if upper is not None and known is None:
        known = finding.optimum(problem, None if values is None else values.n_stages)
    if upper is not None and known is not None:
        kind = "deterministic" if method == "deterministic" else "exact"
        return CertifiedEnds((upper, upper), (known, known), method=kind).certificate(started)
    if problem.structure.samples:
        finding = finding._replace(method="simulation")
        return finding.ends(problem, problem, policy, rng).certificate(started, scope)
    if values is None:
        values = quick_values(problem, 500, rng)
    return finding.sample(DualPaths(problem, policy, values, rng), upper, known, paired).certificate(started)


def _over_panels(
    problem: AcquisitionProblem, policy: Policy, finding: Finding, scope: str, rng: np.random.Generator
) -> CertifiedEnds:
    """What a policy of visits costs, and what none of any panels costs less than."""
    assert problem.visits is not None
    mean, n_paths = finding.cost(problem, policy), finding.looks.n_paths
    certain, high = mean is not None, mean
    if mean is None or high is None:
        mean, high, n_paths = finding.simulate(problem, policy, (1 + finding.confidence) / 2, rng)
    most, (begun, share) = problem.visits.max_panel or problem.n_stages, initial_beliefs(problem)
    shares = [0.0, 1 / most] if most < problem.n_stages else [0.0]
    inner = [
        certify(
            plain,
            FunctionPolicy(plain, lambda belief: np.full(len(belief), DECIDE)),
            n_paths=finding.looks.n_paths,
            max_histories=finding.max_histories,
            confidence=1 - (1 - finding.confidence) / 4,  # these, and what the policy costs, are to hold together
            random_state=rng,
            scope=scope,
        )
        for plain in (without_visits(with_least_surcharges(problem), share) for share in shares)
    ]
    lower = max(float(share @ np.minimum(begun.stopping_cost, cost_lower_bound(begun))), *(one.lower for one in inner))
    once = float(problem.visits.single_costs.min(initial=np.inf))
    if len(share) == 1:
        lower = min(float(begun.stopping_cost[0]), max(lower, once + inner[0].lower))
    else:  # of several starts some may decide at once
        lower = max(lower, _after_visits(begun, share, once, inner[0].lower))
    surely = all(one.confidence == 1.0 for one in inner)
    if certain and surely:
        return CertifiedEnds((high, mean), (lower, lower))
    sure = (lower if surely else 0.0, high if certain else greatest_expected_cost(problem))
    return CertifiedEnds((high, mean), (lower, lower), finding.confidence, "simulation", n_paths, sure)


def _after_visits(begun: BeliefState, share: FloatArray, once: float, lower: float) -> float:
    """Mean over starts that decide at once or make a visit, where without visits they cost ``lower`` at least.

    Without visits, start i saves some s(i) by not deciding at once, at most c(i), and all of them at most the mean of
    deciding less ``lower``. With visits it saves at most max(s(i) - once, 0), which is at most s(i) (1 - once / c(i)):
    the total is largest where those of the largest factors save all that they can.
    """
    stop, plain = begun.stopping_cost, without_visits(with_least_surcharges(begun.problem))
    most = np.maximum(
        stop - cost_lower_bound(begun.replace(problem=plain, account=begun.account.without_visits())), 0.0
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(most > once, 1 - once / most, 0.0)
    order = np.argsort(-factor, kind="stable")
    room, at_once = (share * most)[order], float(share @ stop)
    saved = np.clip(max(at_once - lower, 0.0) - (np.cumsum(room) - room), 0.0, room)
    return at_once - float(saved @ factor[order])
