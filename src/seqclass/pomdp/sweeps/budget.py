"""Budgets: a limit that holds for every instance, and a mean that holds over many."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, another_stream, as_generator
from seqclass._utils.stored import require
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_distribution, check_integer, check_part, check_real
from seqclass.pomdp.bounds.certificate import Certificate, certify
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.bounds.policy_cost import PolicyCost, fewer_paths
from seqclass.pomdp.evaluation import evaluate_policy
from seqclass.pomdp.needs import check_problem
from seqclass.pomdp.observations import TooLarge
from seqclass.pomdp.policy import DECIDE, Policy, RepricedPolicy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, has_requirements, with_component
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.base import Solver, without_certificate
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.sweeps.frontier import sweep_prices
from seqclass.pomdp.table_problem import select_questions
from seqclass.pomdp.ties import affords
from seqclass.pomdp.visits import orders_panels, without_visits
from seqclass.pomdp.walk import Simulation

__all__ = ["RandomisedPolicy", "solve_for_budget", "within_budget"]


class RandomisedPolicy(Policy, Readable):
    """Draws for each instance, before anything is acquired, which of several policies it follows.

    The lot is a hash of the seed and of numbers that tell instances apart (`draw`), so that it depends neither on the
    other rows nor on their order: the same instance always draws the same. Under the model, lots and outcomes are
    independent.

    Parameters
    ----------
    policies : sequence of Policy
        Policies of one problem.
    probabilities : array-like of shape (n_policies,)
        Probability of each.
    random_state : int, generator or None
        Seed of the lots.
    info : SolveInfo, optional
        What the solver reports.

    Raises
    ------
    ValueError
        If there is no policy, one draws lots itself, or the probabilities are none.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> both = [solver.solve(problem) for solver in (FirstK(0), FirstK(None))]
    >>> evaluate(problem, RandomisedPolicy(both, [0.3, 0.7])).n_features
    0.7
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        probabilities: npt.ArrayLike,
        random_state: Any = 0,
        info: SolveInfo | None = None,
    ) -> None:
        if not policies:
            raise ValueError("policies must name at least one policy.")
        for number, policy in enumerate(policies):
            if policy.initial_belief()[0].account.component is not None:
                raise ValueError(
                    f"policies[{number}] draws lots itself, and an instance draws one only; give the policies inside "
                    "it in its place, their probabilities multiplied by its own."
                )
        super().__init__(policies[0].problem, max(policy.n_stages for policy in policies), info)
        self.policies = tuple(policies)
        self.probabilities = check_distribution(probabilities, len(policies), "probabilities")
        self.seed = int(as_generator(random_state).integers(2**62))

    def _table(self) -> Any:
        return {"policy": list(map(repr, self.policies)), "probability": self.probabilities}

    def initial_belief(self) -> tuple[BeliefState, FloatArray]:
        """Return a row for each policy, and their probabilities; see `Policy.initial_belief`."""
        belief = self.problem.initial_belief(len(self.policies))
        return with_component(belief, np.arange(len(self.policies))), self.probabilities

    @property
    def _seed(self) -> int:
        return self.seed

    def next_question(self, belief: BeliefState) -> IntArray:
        """Question that comes next wherever the policy that each row drew goes on, (n,); see `Policy.next_question`."""
        return self._of_each(belief, DECIDE, lambda policy, rows: policy.next_question(belief[rows]))

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Expected cost of going on under the policy that each row drew, (n,); NaN where that cannot tell.

        A `RepricedPolicy` counts prices as often as its multiplier says, see there.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances, their lots drawn.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._of_each(belief, np.nan, lambda policy, rows: policy.continuation_cost(belief[rows]))

    def _cost_without(self, belief: BeliefState, questions: BoolArray) -> FloatArray:
        return self._of_each(belief, np.nan, lambda policy, rows: policy._cost_without(belief[rows], questions[rows]))

    def panels(self, belief: BeliefState, least: int = 0) -> BoolArray | None:
        """What each row orders now under the policy that it drew; see `Policy.panels`."""
        if self.problem.visits is None:
            return None
        panels = np.zeros((len(belief), self.problem.n_questions), dtype=bool)
        for policy, rows in self._by_component(belief):
            if (own := policy.panels(belief[rows], least)) is not None:
                panels[rows] = own
        return panels

    def _is_terminal(self, belief: BeliefState) -> BoolArray:
        return self._of_each(belief, False, lambda policy, rows: policy._is_terminal(belief[rows]))

    def _action(self, belief: BeliefState) -> IntArray:
        return self._of_each(belief, DECIDE, lambda policy, rows: policy.action(belief[rows]))

    def _of_each(self, belief: BeliefState, fill: float, ask: Callable[[Policy, IntArray], Any]) -> npt.NDArray[Any]:
        """What the policy that each row drew says of it, (n,)."""
        answer = np.full(len(belief), fill)
        for policy, rows in self._by_component(belief):
            answer[rows] = ask(policy, rows)
        return answer

    @property
    def _knows_any_belief(self) -> bool:
        return all(policy._knows_any_belief for policy in self.policies)

    def _by_component(self, belief: BeliefState) -> list[tuple[Policy, IntArray]]:
        if (component := belief.account.component) is None:
            raise ValueError("a randomised policy acts once lots are drawn: start from its initial_belief().")
        pairs = [(policy, np.flatnonzero(component == number)) for number, policy in enumerate(self.policies)]
        return [(policy, rows) for policy, rows in pairs if rows.size]

    def _check_stored(self) -> None:
        own = (isinstance(one, Policy) and one.problem.n_stages == self.problem.n_stages for one in self.policies)
        require(all(own), "policies are of other problems")
        check_distribution(self.probabilities, len(self.policies), "probabilities")


def within_budget(
    problem: AcquisitionProblem, *, max_features: int | None = None, max_cost: float | None = None
) -> AcquisitionProblem:
    """Cut a problem so that no instance can ever exceed a budget: a fixed order to its first features."""
    n_stages, limit = problem.n_stages, problem.limits.max_cost
    if max_features is not None:
        n_stages = min(n_stages, check_integer(max_features, "max_features", 0))
    if max_cost is not None:
        limit = min(check_real(max_cost, "max_cost", 0), np.inf if limit is None else limit)
    if problem.any_order:
        most = problem.limits.max_questions if max_features is None else n_stages
        return problem.replace(max_questions=most, max_cost=limit)
    if max_cost is not None and limit is not None:
        if orders_panels(problem):
            raise ValueError(
                "max_cost cuts a fixed order where one visit a feature would exceed it, and here a visit may hold "
                'several: use order="adaptive" (any_order=True), or max_features.'
            )
        problem = problem.replace(max_cost=limit)
        fits = affords(limit, worst_costs(problem))
        n_stages = min(n_stages, int(fits.size if fits.all() else fits.argmin()))
    return problem if n_stages == problem.n_stages else select_questions(problem, np.arange(n_stages))


def worst_costs(problem: AcquisitionProblem) -> FloatArray:
    """Most that can have been paid after each stage, (n_stages,)."""
    if problem.visits is not None:  # which are paid for where an answer is missing, too
        return np.asarray(worst_costs(without_visits(problem)) + np.cumsum(problem.visits.single_costs))
    if problem.groups is None:
        return np.cumsum(problem.prices)
    step = problem.prices.copy()
    most: dict[int, float] = {}
    for stage in np.flatnonzero(problem.groups >= 0):
        group = int(problem.groups[stage])
        before = most.get(group, 0.0)
        # either it comes after others of its group, or all before it were missing and it costs its full price
        most[group] = max(before + float(problem.prices[stage]), float(problem.full_prices[stage]))
        step[stage] = most[group] - before
    return np.cumsum(step)


def solve_for_budget(
    problem: AcquisitionProblem,
    target_cost: float,
    solver: Solver | None = None,
    *,
    randomise: bool = True,
    tolerance: float = 0.005,
    n_paths: int = 10_000,
    max_histories: int = 20_000,
    random_state: Any = 0,
) -> Policy:
    """Find the policy of least decision cost among those that pay ``target_cost`` per instance on average.

    It is optimal for the prices times some multiplier. Given two policies on either side of the target, the problem is
    solved for the multiplier at which both cost the same, until no policy is found between them. Expected prices jump
    from one optimal policy to the next; if the target lies within a jump, each instance draws one of the two policies
    beside it at random, with the probabilities that meet the target.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem; its own prices are what the target is measured in.
    target_cost : float
        Expected prices paid per instance. Where even free features would not be worth more, less is paid.
    solver : Solver, optional
        By default as for `cost_sweep`.
    randomise : bool
        False: of the two policies beside the target take the cheaper one, without lots.
    tolerance : float
        A policy that pays less than the target, by no more than this share of it, is taken as it is.
    n_paths, max_histories : int
        See `cost_sweep`.
    random_state : int, generator or None
        Seed of the lots and of simulation.

    Returns
    -------
    Policy
        A `RepricedPolicy`, or a `RandomisedPolicy` of two. Its expected prices plus decision cost are at most
        ``info.upper``; no policy that pays as much on average has less than ``info.lower``. Both hold together at
        ``info.confidence``, which is 1.0 where nothing is sampled; else they are from paths that the search has not
        seen.

    Raises
    ------
    ValueError
        If the solver pays more than the target even where every feature costs more than any decision, as solvers do
        that ignore prices.

    References
    ----------
    .. [1] E. Altman, "Constrained Markov decision processes", 1999 (a mixture of two policies is optimal under one
       constraint).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, evaluate, solve_for_budget
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = solve_for_budget(problem, 0.03)
    >>> policy.probabilities.round(3), round(evaluate(problem, policy).price, 3)
    (array([0.3, 0.7]), 0.03)
    """
    check_problem(problem)
    started = time.perf_counter()
    target = check_real(target_cost, "target_cost", 0, np.finfo(float).max)
    check_real(tolerance, "tolerance", 0, 1)
    solver = default_solver(problem) if solver is None else solver
    check_part(solver, "solver", "a solver such as Lookahead()", ("solve",))
    check_integer(n_paths, "n_paths", 2)
    simulation = Simulation("auto", n_paths, max_histories, _common_seed(random_state))
    search = _MultiplierSearch(problem, target, solver, simulation)
    above, below = search.bracket()
    policy: Policy = below.policy
    points, shares = [below], [1.0]
    if above is not None:
        above, below = search.narrow(above, below, tolerance)
        points, shares, policy = [below], [1.0], below.policy
        if randomise and below.price < target * (1 - tolerance):
            share = (target - below.price) / (above.price - below.price)
            points, shares = [above, below], [share, 1 - share]
            policy = RandomisedPolicy([point.policy for point in points], shares, random_state)
    info = _Bounds(search, points, shares).info()
    info |= {"n_stages": policy.n_stages, "seconds": time.perf_counter() - started}
    return with_info(policy, **info)


@dataclass(frozen=True)
class _Point:
    """One policy of a frontier."""

    multiplier: float
    price: float
    decision_cost: float
    upper: float
    lower: float
    policy: RepricedPolicy


class _MultiplierSearch:
    """Looks for the policies on either side of a target among those that are optimal for some multiplier."""

    def __init__(self, problem: AcquisitionProblem, target: float, solver: Solver, simulation: Simulation) -> None:
        self.problem, self.target, self.solver, self.simulation = problem, target, solver, simulation
        #: A grid's bounds come with its values and are certain; those of others are left until the search is over.
        self.certain = solver._bounds_with_values
        # several steps where they are solved together
        self.steps = 6 if self.certain else 1
        self.searcher = solver if self.certain else without_certificate(solver)
        self.points: list[_Point] = []

    def try_multipliers(self, multipliers: npt.ArrayLike) -> list[_Point]:
        frontier = sweep_prices(self.problem, np.array(multipliers), self.searcher, self.simulation)
        columns = (frontier.multipliers, frontier.price, frontier.decision_cost, frontier.upper, frontier.lower)
        points = [_Point(*row) for row in zip(*(column.tolist() for column in columns), frontier.policies)]
        self.points += points
        return points

    def bracket(self) -> tuple[_Point | None, _Point]:
        """A policy on each side of the target; the first is None where nothing worth paying for exceeds the target."""
        problem = self.problem
        free = problem.full_prices <= 0
        if free.all():
            return None, self.try_multipliers([1.0])[0]
        # beyond the one multiplier no feature with a price is worth it, at the other all of them cost next to nothing
        scale = float(problem.decision_costs.max() or 1.0)
        asked = np.concatenate([problem.prices, problem.full_prices])
        most = 2 * scale / float(asked[asked > 0].min())
        worst = float(problem.full_prices.sum() if problem.any_order else worst_costs(problem)[-1])
        # at the lowest multiplier all features together cost this share of the dearest decision
        least = 1e-4 * scale / worst
        if worst <= self.target:
            return None, self.try_multipliers([least])[0]
        below, low = self.try_multipliers([most])[0], most
        if below.price > self.target:
            remedy = "drop rules of what has to be asked" if has_requirements(problem) else "cut the problem"
            raise ValueError(
                f"target_cost={self.target:.6g} cannot be met: {self.solver!r} pays {below.price:.6g} an instance "
                f"even where every feature costs more than any decision; use a solver that heeds prices, or {remedy}."
            )
        while low > least:
            # multipliers go down by this factor until the target is passed, in several steps where they are solved
            # together
            high, low = low, max(low / 30.0, least)
            for point in self.try_multipliers(np.geomspace(high, low, self.steps + 1)[1:]):
                if point.price > self.target:
                    return point, below
                below = point
        return None, below

    def narrow(self, above: _Point, below: _Point, tolerance: float) -> tuple[_Point, _Point]:
        """Solve for the multiplier that is indifferent between the two, until nothing lies below their chord."""
        for _ in range(60):
            if below.price >= self.target * (1 - tolerance):
                break
            multiplier = (below.decision_cost - above.decision_cost) / (above.price - below.price)
            if not above.multiplier < multiplier < below.multiplier:
                break
            point = self.try_multipliers([multiplier])[0]
            chord = multiplier * below.price + below.decision_cost
            # a policy this little below the chord of two others is on it
            if multiplier * point.price + point.decision_cost >= chord * (1 - 1e-9):
                break
            above, below = (above, point) if point.price <= self.target else (point, below)
        return above, below


class _Bounds:
    """Certifies a mixture of points on paths of its own: those of the search chose the policies, and flatter them."""

    def __init__(self, search: _MultiplierSearch, points: list[_Point], shares: list[float]) -> None:
        self.search, self.points, self.shares = search, points, shares
        # twice another one: neither the search's stream, nor that of the solver's certificates with the same seed
        self.rng = as_generator(another_stream(another_stream(search.simulation.random_state)))
        self.simulation = replace(search.simulation, random_state=self.rng)
        # for all intervals to hold together: two for each policy (its cost, its price), and one lower bound
        self.confidence = 1 - (1 - CONFIDENCE) / (2 * len(points) + 1)
        self.sampled = False
        self.certificates: dict[int, Certificate] = {}

    def info(self) -> dict[str, Any]:
        ends = np.array([self._ends(point) for point in self.points])
        upper, least, most = (float(end) for end in np.array(self.shares) @ ends)
        lower = self._lower(least, most)
        if np.isfinite(lower):
            lower = min(max(lower, 0.0), upper)
        gap = (upper - lower) / upper if upper > 0 else 0.0
        infos = [point.policy.info for point in self.points]
        return {
            "status": next((info.status for info in infos if info.status != "converged"), "converged"),
            "upper": upper,
            "lower": lower,
            "gap": 0.0 if gap < 1e-12 else gap,
            "size": sum(info.size for info in infos),
            "confidence": CONFIDENCE if self.sampled else 1.0,
        }

    def _ends(self, point: _Point) -> tuple[float, float, float]:
        """Upper end of the cost, and both ends of the prices paid, at the problem's own prices."""
        problem, policy = self.search.problem, point.policy
        try:
            exact = evaluate_policy(problem, policy, replace(self.simulation, method="exact"))
            return exact.cost, exact.price, exact.price
        except TooLarge:
            self.sampled = True
        paid, failing = PolicyCost(problem, policy, self.rng, decides=False), (1 - self.confidence) / 2
        paid.run(fewer_paths(self.simulation.n_paths))
        least, most = paid.at_least(failing), paid.ends(failing)[1]
        # at its own prices the policy's values cancel most of what chance does to its cost
        cost, share = self._certificate(point, "simulation").upper, 1 - point.multiplier
        return cost + max(share * least, share * most), least, most

    def _certificate(self, point: _Point, method: str) -> Certificate:
        own = point.policy.policy
        if id(point) not in self.certificates:
            settings = vars(replace(self.simulation, method=method))
            self.certificates[id(point)] = certify(own.problem, own, confidence=self.confidence, **settings)
        return self.certificates[id(point)]

    def _lower(self, least: float, most: float) -> float:
        """Best of the dual bounds: multiplier * price + decision cost is at least `low`, whatever the policy."""

        def bound(multiplier: float, low: float) -> float:
            return low + min((1 - multiplier) * least, (1 - multiplier) * most)

        tried = self.search.points
        if self.search.certain:
            return max(bound(point.multiplier, point.lower) for point in tried)
        if self.search.searcher is self.search.solver and not any(np.isfinite(point.lower) for point in tried):
            return float("nan")  # no certificate is asked for
        # the search's estimates choose, and paths that it has not seen give the bound
        promising = max(tried, key=lambda p: bound(p.multiplier, p.multiplier * p.price + p.decision_cost))
        certificate = self._certificate(promising, "auto")
        self.sampled = self.sampled or certificate.confidence < 1
        return bound(promising.multiplier, certificate.lower)


def _common_seed(random_state: Any) -> Any:
    """One seed for every sweep of a search, so that it compares policies on the same paths."""
    moving = isinstance(random_state, (np.random.Generator, np.random.RandomState))
    return 0 if random_state is None or moving else random_state
