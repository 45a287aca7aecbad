"""A ladder of stopping rules along the questions of one policy, and all of them run on data in one walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.stored import require, require_part
from seqclass._utils.validation import check_not_negative, check_real
from seqclass.pomdp.acquisition import initial_rows
from seqclass.pomdp.observations import DataObservations
from seqclass.pomdp.one_step import fill_rows
from seqclass.pomdp.policy import DECIDE, BorrowedPolicy, Policy
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.ordering.rules import force_question, next_panels
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.visits import order_panels
from seqclass.pomdp.walk import Level, walk_to_end

__all__ = ["StopWhenSure"]


class StopWhenSure(BorrowedPolicy):
    """Asks what another policy would ask next, until deciding is expected to cost little enough.

    Where that policy orders panels, so does this, none larger than what is left of ``max_questions``. Where it makes
    one visit at most, so does this: it then decides, however unsure it is.
    """

    def __init__(self, policy: Policy, cost: float, max_questions: int | None = None) -> None:
        problem = policy.problem
        n_stages = problem.n_stages if max_questions is None else min(problem.n_stages, max_questions)
        super().__init__(policy, problem)
        self.n_stages, self.info = n_stages, SolveInfo("converged", n_stages=n_stages)
        self.cost = check_real(cost, "cost", 0)

    def panels(self, belief: BeliefState, least: int = 0) -> BoolArray | None:
        """What the policy would order next, as far as it is not sure yet; see `Policy.panels`."""
        panels = next_panels(self.policy, belief, self.n_stages - belief.stage, max(least, 1))
        if panels is not None and not least:
            panels[belief.stopping_cost <= enough(belief, self.cost)] = False
        return panels

    def next_question(self, belief: BeliefState) -> IntArray:
        """Question that comes next wherever it goes on, (n,); see `Policy.next_question`."""
        if belief.stage >= self.n_stages:
            return np.full(len(belief), DECIDE)
        return np.where(self._is_terminal(belief), DECIDE, force_question(self.policy, belief))

    def _action(self, belief: BeliefState) -> IntArray:
        unsure = (belief.stopping_cost > enough(belief, self.cost)) & ~self._is_terminal(belief)
        on = belief.account.waits | unsure  # what was ordered is answered, however sure it is by then
        return fill_rows(np.full(len(belief), DECIDE), on, lambda rows: force_question(self.policy, belief[rows]))

    def _check_stored(self) -> None:
        require(require_part(self, "policy", Policy).problem is self.problem, "it asks for nothing")
        require(0 <= float(self.cost) < np.inf, "cost is wrong")


def enough(belief: BeliefState, cost: Any) -> Any:
    """Expected cost of deciding at which to stop, ties within the rounding of the costs."""
    return cost + TIE * float(belief.problem.decision_costs.max(initial=0.0))


@dataclass(frozen=True)
class LadderRun:
    """What rules of a ladder do with instances, a column a rule.

    Attributes
    ----------
    decision : ndarray of int of shape (n, n_rules)
        Decision of each instance.
    price : ndarray of shape (n, n_rules)
        Prices paid.
    n_features : ndarray of int of shape (n, n_rules)
        Questions answered; a missing one does not count.
    """

    decision: IntArray
    price: FloatArray
    n_features: IntArray


def run_ladder(
    policy: Policy,
    X: Any,
    costs: npt.ArrayLike,
    *,
    max_questions: int | None = None,
    columns: IntArray | None = None,
    charge_missing: bool = False,
    keys: Any = None,
    start: tuple[BeliefState, IntArray] | None = None,
) -> LadderRun:
    """Run `StopWhenSure` for many costs on rows of outcomes, in one walk: each stops somewhere on the same way."""
    limits = check_not_negative(costs, "costs")
    belief, node = initial_rows(policy, X if keys is None else keys) if start is None else start
    data = DataObservations(X, columns, node, charge_missing)
    ladder = _Ladder(policy, limits, data, max_questions)
    if X.shape[0]:
        walk_to_end(belief, np.zeros(len(belief)), ladder.ask, data)
    return LadderRun(ladder.decision, ladder.price, ladder.n_features)


class _Ladder:
    """Which rules are still under way at each history, and where each stopped."""

    def __init__(self, policy: Policy, limits: FloatArray, data: DataObservations, most: int | None) -> None:
        self.policy, self.data = policy, data
        self.number = np.argsort(limits, kind="stable")
        self.limits = limits[self.number]
        self.last = policy.problem.n_stages if most is None else min(most, policy.problem.n_stages)
        shape = (len(data.rows), limits.size)
        self.decision, self.n_features = np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.intp)
        self.price = np.zeros(shape)
        #: Of each history: how many rules, those of the least costs, are under way, and what was answered.
        self.left = np.empty(0, dtype=np.intp)
        self.answered = np.empty(0, dtype=np.intp)

    def ask(self, level: Level) -> IntArray:
        belief = level.belief
        if level.stage == 0:
            self.left, self.answered = np.full(len(belief), self.limits.size), np.zeros(len(belief), dtype=np.intp)
        else:
            self.left = self.left[level.parent]
            self.answered = self.answered[level.parent] + (level.outcome >= 0)
        going = np.minimum(self.left, np.searchsorted(enough(belief, self.limits), belief.stopping_cost))
        going = np.where(belief.account.waits, self.left, np.where(self.policy._is_terminal(belief), 0, going))
        question = np.full(len(belief), DECIDE)
        on = np.flatnonzero(going > 0)
        if on.size and level.stage < self.last:
            panels = next_panels(self.policy, belief[on], self.last - level.stage, 1)
            if panels is not None:
                every = np.zeros((len(belief), belief.problem.n_questions), dtype=bool)
                every[on] = panels
                level.belief = order_panels(belief, every)
            question[on] = force_question(self.policy, level.belief[on])
        going[question == DECIDE] = 0
        self._stop(belief, going)
        self.left = going
        return question

    def _stop(self, belief: BeliefState, going: IntArray) -> None:
        """Note what the rules that stop here decide, for all instances of each history."""
        there = self.data.node
        at = np.flatnonzero((going < self.left)[there])
        place = there[at]
        n = self.left[place] - going[place]
        row = np.repeat(self.data.rows[at], n)
        history = np.repeat(place, n)
        rule = self.number[np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + going[history]]
        self.decision[row, rule] = self.policy.problem.decide(belief.probabilities)[history]
        self.price[row, rule] = belief.spent[history]
        self.n_features[row, rule] = self.answered[history]
