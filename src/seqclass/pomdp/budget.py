"""Budgets: a limit that holds for every instance, and a mean that holds over many."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray
from seqclass._validation import check_integer, check_real
from seqclass.pomdp.frontier import cost_sweep, default_solver
from seqclass.pomdp.grid import GridValueIteration
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.randomised import RandomisedPolicy
from seqclass.pomdp.solver import Solver

#: At the lowest multiplier all features together cost this share of the dearest decision.
_FREE = 1e-4
#: Multipliers go down by this factor until the target is passed, in several steps where they are solved together.
_STRIDE, _AT_ONCE = 30.0, 6
#: A policy this little below the chord of two others is on it.
_ON_THE_CHORD = 1e-9
_MOST_STEPS = 60


def within_budget(
    problem: AcquisitionProblem, *, max_features: int | None = None, max_cost: float | None = None
) -> AcquisitionProblem:
    """Cut a problem to the first features of its order, so that no instance can ever exceed a budget.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    max_features : int, optional
        Most features asked for, missing ones included.
    max_cost : float, optional
        Most that may be paid for an instance. A feature whose price would exceed it ends the order; where features of a
        group are cheaper together, the dearest case counts (its first ones missing).

    Returns
    -------
    AcquisitionProblem
        Any solver solves it, and its certificate compares with all policies within the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, within_budget
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 5), prices=0.1)
    >>> within_budget(problem, max_features=4, max_cost=0.3).n_stages
    3
    """
    n_stages = problem.n_stages
    if max_features is not None:
        n_stages = min(n_stages, check_integer(max_features, "max_features", 0))
    if max_cost is not None:
        limit = check_real(max_cost, "max_cost", 0)
        # what sums up to the budget but for rounding is within it
        fits = worst_costs(problem) <= limit * (1 + 1e-12)
        n_stages = min(n_stages, int(fits.size if fits.all() else fits.argmin()))
    if n_stages == problem.n_stages:
        return problem
    cut = copy.copy(problem)
    for name in ("prices", "full_prices", "n_outcomes", "features", "groups", "likelihoods", "transitions"):
        value = getattr(problem, name, None)
        if value is not None:
            setattr(cut, name, value[:n_stages])
    return cut


def worst_costs(problem: AcquisitionProblem) -> FloatArray:
    """Most that can have been paid after each stage, (n_stages,).

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.

    Returns
    -------
    ndarray of shape (n_stages,)

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> worst_costs(problem)
    array([0.1, 0.2])
    """
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
    """Find the policy of least decision cost among those whose prices paid are ``target_cost`` an instance on average.

    It is optimal for the prices times some multiplier. Of two policies on either side of the target the multiplier that
    is indifferent between them is solved for, until nothing is found between them. Expected prices jump from one
    optimal policy to the next; where the target lies within a jump, each instance draws by lot one of the two policies
    beside it, with the probabilities that meet the target.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem; its own prices are what the target is measured in.
    target_cost : float
        Expected prices paid per instance. Where even free features would not be worth more, less is paid.
    solver : Solver, optional
        By default a grid for two or three classes and Perseus beyond.
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
        A `RepricedPolicy`, or a `RandomisedPolicy` of two. ``info.upper`` is its expected prices plus decision cost;
        no policy that pays as much on average has less than ``info.lower``. Both are at ``info.confidence``.

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
    started = time.perf_counter()
    target = check_real(target_cost, "target_cost", 0, np.finfo(float).max)
    check_real(tolerance, "tolerance", 0, 1)
    solver = default_solver(problem) if solver is None else solver
    settings = {"n_paths": n_paths, "max_histories": max_histories, "random_state": _seed(random_state)}
    search = _Search(problem, target, solver, settings)
    above, below = search.bracket()
    points, shares, policy = [below], [1.0], below.policy
    if above is not None:
        above, below = search.narrow(above, below, tolerance)
        points, shares, policy = [below], [1.0], below.policy
        if randomise and below.price < target * (1 - tolerance):
            share = (target - below.price) / (above.price - below.price)
            points, shares = [above, below], [share, 1 - share]
            policy = RandomisedPolicy([point.policy for point in points], shares, random_state)
    info = _mixed_info(points, shares, search.lowers)
    info |= {"n_stages": policy.n_stages, "seconds": time.perf_counter() - started}
    return policy.with_info(**info)


@dataclass(frozen=True)
class _Point:
    """One policy of a frontier."""

    multiplier: float
    price: float
    decision_cost: float
    upper: float
    lower: float
    policy: Policy


class _Search:
    """Looks for the policies on either side of a target among those that are optimal for some multiplier."""

    def __init__(self, problem: AcquisitionProblem, target: float, solver: Solver, settings: dict[str, Any]) -> None:
        self.problem, self.target, self.solver, self.settings = problem, target, solver, settings
        self.steps = _AT_ONCE if isinstance(solver, GridValueIteration) else 1
        self.lowers: list[tuple[float, float]] = []

    def tried(self, multipliers: npt.ArrayLike) -> list[_Point]:
        frontier = cost_sweep(self.problem, multipliers, self.solver, **self.settings)
        columns = (frontier.multipliers, frontier.price, frontier.decision_cost, frontier.upper, frontier.lower)
        points = [_Point(*row) for row in zip(*(column.tolist() for column in columns), frontier.policies)]
        self.lowers += [(point.multiplier, point.lower) for point in points]
        return points

    def bracket(self) -> tuple[_Point | None, _Point]:
        """A policy on each side of the target; the first is None where nothing worth paying for exceeds the target."""
        problem = self.problem
        free = problem.full_prices <= 0
        if free.all():
            return None, self.tried([1.0])[0]
        # beyond the one multiplier no feature with a price is worth it, at the other all of them cost next to nothing
        scale = float(problem.decision_costs.max() or 1.0)
        most = 2 * scale / float(problem.full_prices[~free].min())
        worst = float(worst_costs(problem)[-1])
        least = _FREE * scale / worst
        if worst <= self.target:
            return None, self.tried([least])[0]
        below, low = None, most
        while below is None or low > least:
            high, low = low, max(low / _STRIDE, least)
            for point in self.tried(np.geomspace(high, low, self.steps + 1)[0 if below is None else 1 :]):
                if point.price > self.target and below is not None:
                    return point, below
                below = point
        return None, below

    def narrow(self, above: _Point, below: _Point, tolerance: float) -> tuple[_Point, _Point]:
        """Solve for the multiplier that is indifferent between the two, until nothing lies below their chord."""
        for _ in range(_MOST_STEPS):
            if below.price >= self.target * (1 - tolerance):
                break
            multiplier = (below.decision_cost - above.decision_cost) / (above.price - below.price)
            if not above.multiplier < multiplier < below.multiplier:
                break
            point = self.tried([multiplier])[0]
            chord = multiplier * below.price + below.decision_cost
            if multiplier * point.price + point.decision_cost >= chord * (1 - _ON_THE_CHORD):
                break
            above, below = (above, point) if point.price <= self.target else (point, below)
        return above, below


def _mixed_info(points: list[_Point], shares: list[float], lowers: list[tuple[float, float]]) -> dict[str, Any]:
    infos = [point.policy.info for point in points]
    price = sum(share * point.price for share, point in zip(shares, points))
    # at its own prices each policy's certificate is for multiplier * price + decision cost
    upper = sum(share * (p.upper + (1 - p.multiplier) * p.price) for share, p in zip(shares, points))
    # the best of the dual bounds: multiplier * price + decision cost is at least `low`, whatever the policy
    bounds = [low + (1 - multiplier) * price for multiplier, low in lowers if np.isfinite(low)]
    lower = min(max([0.0, *bounds]), upper) if bounds else float("nan")
    gap = (upper - lower) / upper if upper > 0 else 0.0
    return {
        "status": next((info.status for info in infos if info.status != "converged"), "converged"),
        "upper": upper,
        "lower": lower,
        "gap": 0.0 if gap < 1e-12 else gap,
        "size": sum(info.size for info in infos),
        "confidence": min(info.confidence for info in infos),
    }


def _seed(random_state: Any) -> Any:
    """The same paths for every sweep of a search, so that it compares policies on equal terms."""
    if random_state is None or hasattr(random_state, "integers") or hasattr(random_state, "randint"):
        return 0
    return random_state
