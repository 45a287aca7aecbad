"""Policies for many multipliers of the prices, found and run together where a solver can share work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.stored import require, require_part
from seqclass._utils.validation import check_integer, check_real
from seqclass.pomdp.account import price_of_question
from seqclass.pomdp.one_step import context_of, cost_lower_bound, stopping_threshold
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy, RepricedPolicy, scale_prices
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.base import Solver, policy_of
from seqclass.pomdp.solvers.correlated import ProjectedValueIteration
from seqclass.pomdp.solvers.fitted import FittedValueIteration
from seqclass.pomdp.solvers.grid import GridBlock, GridValueIteration
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.walk import check_questions

__all__ = ["InterpolatedValues"]


class InterpolatedValues(ValueFunction):
    """Weighted mean of the values at two multipliers of the prices, for a multiplier between them.

    The optimal cost of a belief is concave in the multiplier, for each policy's is linear; so its chord is below it, by
    a share that falls with the square of the logarithm of the two multipliers' ratio: less than 1% at a ratio of 2.6,
    nearly the same at all beliefs, so that look-ahead chooses almost alike.

    ``share`` is the weight of ``upper``, between 0 and 1.
    """

    def __init__(self, problem: AcquisitionProblem, lower: ValueFunction, upper: ValueFunction, share: float) -> None:
        super().__init__(problem, max(lower.n_stages, upper.n_stages))
        self.lower, self.upper = lower, upper
        self.share = check_real(share, "share", 0, 1)
        self.limited = lower.limited or upper.limited

    @property
    def size(self) -> int:
        """Number of vectors or grid values of both."""
        return self.lower.size + self.upper.size

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go; see `ValueFunction.value`."""
        return self._mean(lambda values: values.value(stage, belief, context))

    def plan_cost(self, belief: BeliefState, rows: IntArray) -> FloatArray:
        """Mean cost of the two plans where both have one; see `ValueFunction.plan_cost`."""
        if belief.stage >= min(self.lower.n_stages, self.upper.n_stages):
            return np.full(len(rows), np.inf)
        return self._mean(lambda values: values.plan_cost(belief, rows))

    def successor_values(self, belief: BeliefState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes); the sum is the expectation."""
        return self._mean(lambda values: values.successor_values(belief))

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.value(stage, belief, context)

    def _mean(self, of: Callable[[ValueFunction], FloatArray]) -> FloatArray:
        first, second = of(self.lower), of(self.upper)
        if self.share in (0.0, 1.0):  # the other may be infinite
            return np.asarray(second if self.share else first)
        return np.asarray((1 - self.share) * first + self.share * second)

    def _check_stored(self) -> None:
        require(0 <= float(self.share) <= 1, "share is wrong")
        ends = [require_part(self, name, ValueFunction).n_stages for name in ("lower", "upper")]
        require(self.n_stages == max(ends), "blended values are of other stages")


@dataclass(frozen=True)
class SweepView:
    """What several policies see ahead at some histories.

    Attributes
    ----------
    rows : ndarray of int of shape (r,)
        The histories; the policies stop at all others.
    columns : ndarray of int of shape (m,)
        Numbers of the policies.
    go_on : ndarray of bool of shape (r, m)
        Whether each buys the next feature.
    ahead : ndarray of shape (r, n_outcomes, k)
        Values of the unnormalised successors.
    total : ndarray of shape (r, k)
        Their sum.
    weights : ndarray of shape (k, m) or None
        The policies' values as mixtures of these k; left out: they are theirs, one each.
    """

    rows: IntArray
    columns: IntArray
    go_on: BoolArray
    ahead: FloatArray
    total: FloatArray
    weights: FloatArray | None = None

    def add_surprise(self, to: FloatArray, history: IntArray, outcome: IntArray, probability: FloatArray) -> None:
        """Add to each branch the value of what it sees less its expectation, at the columns of these policies."""
        place = np.searchsorted(self.rows, history)
        place[place == len(self.rows)] = 0
        there = np.flatnonzero(self.rows[place] == history)
        place = place[there]
        step = self.ahead[place, outcome[there]]
        step /= probability[there, None]
        step -= self.total[place]
        if self.weights is not None:
            step = step @ self.weights
        if len(self.columns) == to.shape[1] and len(there) == len(to):
            to += step
        else:
            to[there[:, None], self.columns] += step


class SweepPolicies:
    """Policies for several multipliers, which share a walk."""

    #: Sampled paths for bounds on the optimal costs; 0 where the policies bring their own, or none are asked for.
    certificate_paths: int = 0
    #: Whether the policies go by the values that are seen ahead.
    follows_values: ClassVar[bool] = False

    def __init__(self, problem: AcquisitionProblem, multipliers: FloatArray, policies: Sequence[Policy]) -> None:
        self.problem = problem
        self.multipliers = multipliers
        self.horizon = np.array([policy.n_stages for policy in policies])
        self.policies = [RepricedPolicy(p, problem, float(m)) for p, m in zip(policies, multipliers)]

    def goes_on(self, belief: BeliefState, active: BoolArray) -> tuple[BoolArray, list[SweepView]]:
        """Which of the policies that are still active at each history ask the next question, (n, n_multipliers)."""
        go_on = np.zeros_like(active)
        for j, policy in enumerate(self.policies):
            rows = np.flatnonzero(active[:, j])
            if rows.size:
                question = policy.action(belief[rows])
                on = question != DECIDE
                check_questions(belief, rows[on], question[on])
                go_on[rows, j] = on
        return go_on, []

    def refine(self, price: FloatArray, decision_cost: FloatArray, std_error: FloatArray) -> SweepPolicies | None:
        """Return a team that does better, for what each policy was found to pay and cost; None: this is the best."""
        return None

    def may_go_on(self, belief: BeliefState) -> BoolArray:
        """Where stopping is not optimal for certain, and the horizon is not reached, (n, n_multipliers)."""
        return np.asarray(
            (stopping_threshold(belief)[:, None] > cost_lower_bound(belief, self.multipliers))
            & (belief.stage < self.horizon)
        )

    def at_best(self, belief: BeliefState) -> FloatArray:
        """Cost of stopping; at a cut horizon, if less, of one more price and perfect knowledge, (n, n_multipliers)."""
        best = np.repeat(belief.stopping_cost[:, None], len(self.multipliers), axis=1)
        cut = np.flatnonzero(self.horizon == belief.stage)
        if cut.size:
            best[:, cut] = np.minimum(best[:, cut], cost_lower_bound(belief, self.multipliers[cut]))
        return best


class _GridSweep(SweepPolicies):
    """Grid policies act all at once."""

    follows_values = True

    def __init__(self, problem: AcquisitionProblem, multipliers: FloatArray, blocks: Sequence[GridBlock]) -> None:
        policies: list[Any] = [None] * len(multipliers)
        for block in blocks:
            for position, column in enumerate(block.columns):
                policies[column] = block.policy(position)
        super().__init__(problem, multipliers, policies)
        self.blocks = blocks

    def goes_on(self, belief: BeliefState, active: BoolArray) -> tuple[BoolArray, list[SweepView]]:
        go_on, looks = np.zeros_like(active), []
        for block in self.blocks:
            positions = np.flatnonzero(active[:, block.columns].any(axis=0))
            look = self._look(block, belief, positions) if positions.size else None
            if look is not None:
                go_on[np.ix_(look.rows, look.columns)] = look.go_on
                looks.append(look)
        return go_on & active, looks

    def _look(self, block: GridBlock, belief: BeliefState, positions: IntArray) -> SweepView | None:
        """What some of a block's policies see ahead; None where all of them stop."""
        problem, factor, columns = self.problem, block.multipliers[positions], block.columns[positions]
        open_ = self.may_go_on(belief)[:, columns]
        rows = np.flatnonzero(open_.any(axis=1))
        if not rows.size:
            return None
        joint, context, tables = belief.joint[rows], context_of(belief), problem.structure.tables
        assert tables is not None  # it was solved by a grid
        assert context is not None
        following = tables.successors(belief.stage, context[rows])
        n, n_outcomes, n_classes = joint.shape
        ahead = np.empty((n, n_outcomes, len(positions)))
        for part in chunks(n, 8.0 * n_outcomes * len(positions), CACHE_BYTES):
            flat, where = joint[part].reshape(-1, n_classes), following[part].reshape(-1)
            values = block.values_after(belief.stage + 1, flat, where, positions)
            ahead[part] = values.reshape(-1, n_outcomes, values.shape[1])
        total = ahead.sum(axis=1)
        stop = stopping_threshold(belief)[rows, None]
        go_on = open_[rows] & (price_of_question(belief)[rows, None] * factor + total < stop)
        return SweepView(rows, columns, go_on, ahead, total)


@singledispatch
def solve_sweep(solver: Any, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    """Solve for every multiplier; register a function for a type of solver that can share work between them."""
    return _one_by_one(solver, problem, multipliers)


@solve_sweep.register
def _(solver: GridValueIteration, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    return _GridSweep(problem, multipliers, solver.solve_many(problem, multipliers))


@solve_sweep.register
def _(solver: Perseus, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    if solver.target_gap is not None or solver.max_seconds is not None:  # each point is to have them
        return _one_by_one(solver, problem, multipliers)
    return _interpolate_sweep(solver, problem, multipliers)


@solve_sweep.register(FittedValueIteration)
@solve_sweep.register(ProjectedValueIteration)
def _(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    return (_one_by_one if problem.any_order else _interpolate_sweep)(solver, problem, multipliers)


def _one_by_one(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    return SweepPolicies(
        problem, multipliers, [policy_of(solver, scale_prices(problem, m)) for m in multipliers.tolist()]
    )


def _interpolate_sweep(solver: Solver, problem: AcquisitionProblem, multipliers: FloatArray) -> SweepPolicies:
    if len(anchors(multipliers)) == len(multipliers):
        return _one_by_one(solver, problem, multipliers)
    paths = check_integer(solver.get_params(deep=False).get("certificate_paths", 0), "certificate_paths", 0)
    bare = clone(solver).set_params(certificate_paths=0) if paths else solver
    return InterpolatedSweep(problem, multipliers, bare, max(2, paths) if paths else 0)


#: Values are blended between multipliers that are no further apart than this.
MAX_RATIO = 2.6


def anchors(multipliers: FloatArray) -> IntArray:
    """Choose which multipliers are solved for: both ends, and few enough between that neighbours are close."""
    rising, number = np.unique(multipliers, return_index=True)
    chosen = [0]
    while chosen[-1] < len(rising) - 1:
        last = chosen[-1]
        far = int(np.searchsorted(rising, MAX_RATIO * rising[last], side="right")) - 1
        chosen.append(max(far, last + 1))
    return np.asarray(number[chosen])


class InterpolatedSweep(SweepPolicies):
    """Look-ahead policies whose values are those of the anchors, or blends of the two beside them."""

    follows_values = True

    def __init__(
        self,
        problem: AcquisitionProblem,
        multipliers: FloatArray,
        solver: Solver,
        certificate_paths: int,
        solved: dict[int, LookaheadPolicy] | None = None,
        more: IntArray | tuple[int, ...] = (),
    ) -> None:
        self.solver, self.certificate_paths = solver, certificate_paths
        self.solved = dict(solved or {})
        for column in [*anchors(multipliers).tolist(), *np.asarray(more).tolist()]:
            if column not in self.solved:
                policy: Any = solver.solve(scale_prices(problem, float(multipliers[column])))
                self.solved[column] = policy
        columns = sorted(self.solved, key=lambda column: multipliers[column])
        at, ends = multipliers[columns], [self.solved[column] for column in columns]
        self.values = [policy.values for policy in ends]
        self.weights = np.zeros((len(at), len(multipliers)))
        policies = []
        for column, multiplier in enumerate(multipliers):
            above = int(np.searchsorted(at, multiplier))
            if at[above] == multiplier:
                self.weights[above, column] = 1.0
                policies.append(ends[above])
                continue
            share = (multiplier - at[above - 1]) / (at[above] - at[above - 1])
            self.weights[[above - 1, above], column] = 1 - share, share
            scaled = scale_prices(problem, float(multiplier))
            policies.append(_interpolate_policies(scaled, ends[above - 1], ends[above], float(share)))
        super().__init__(problem, multipliers, policies)

    def refine(self, price: FloatArray, decision_cost: FloatArray, std_error: FloatArray) -> InterpolatedSweep | None:
        """Solve as well for the multipliers at which another member's policy costs less; None where there is none"""
        lines = self.multipliers[:, None] * price + decision_cost
        # a blend is not trusted where another policy costs less by more than this share of it, and so many standard
        # errors
        doubtful = np.diag(lines) - 3.0 * std_error > lines.min(axis=1) * (1 + 0.002)
        doubtful &= ~np.isin(self.multipliers, self.multipliers[list(self.solved)])
        more = np.unique(self.multipliers[doubtful], return_index=True)[1]
        if not more.size:
            return None
        columns = np.flatnonzero(doubtful)[more]
        return InterpolatedSweep(
            self.problem, self.multipliers, self.solver, self.certificate_paths, self.solved, columns
        )

    def goes_on(self, belief: BeliefState, active: BoolArray) -> tuple[BoolArray, list[SweepView]]:
        """Which policies buy the next feature, and what they saw ahead; see `SweepPolicies.goes_on`."""
        result, wanted = np.zeros_like(active), active & self.may_go_on(belief)
        rows = np.flatnonzero(wanted.any(axis=1))
        if not rows.size:
            return result, []
        _ = belief.joint  # once for all that follows
        part, wanted = belief[rows], wanted[rows]
        ahead = np.zeros((len(rows), part.joint.shape[1], len(self.values)))
        needed = wanted.astype(np.float64) @ (self.weights.T > 0) > 0
        for number, values in enumerate(self.values):
            own = np.flatnonzero(needed[:, number])
            if own.size:
                ahead[own, :, number] = values.successor_values(part if own.size == rows.size else part[own])
        total = ahead.sum(axis=1)
        price = price_of_question(belief)[rows, None] * self.multipliers
        result[rows] = go_on = wanted & (price + total @ self.weights < stopping_threshold(part)[:, None])
        return result, [SweepView(rows, np.arange(len(self.multipliers)), go_on, ahead, total, self.weights)]


def _interpolate_policies(
    problem: AcquisitionProblem, lower: LookaheadPolicy, upper: LookaheadPolicy, share: float
) -> LookaheadPolicy:
    values = InterpolatedValues(problem, lower.values, upper.values, share)
    statuses: list[Any] = [policy.info.status for policy in (lower, upper)]
    status = next((status for status in statuses if status != "converged"), "converged")
    return LookaheadPolicy(values, SolveInfo(status, n_stages=values.n_stages, size=values.size))
