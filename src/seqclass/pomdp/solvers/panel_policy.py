"""What to order together, grown question by question on values of what follows."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, lower_envelope, row_sums
from seqclass._utils.model_files import register
from seqclass.costs import Visits
from seqclass.pomdp.account import least_surcharges, prices_without_visits
from seqclass.pomdp.bounds.optimum import ask_once
from seqclass.pomdp.one_step import (
    fill_rows,
    perfect_cost,
    remaining_questions,
    row_parts,
    stopping_is_certain,
    stopping_threshold,
)
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.ties import TIE, affords
from seqclass.pomdp.visits import without_visits

__all__ = ["PanelPolicy", "PanelValues"]


@register
class PanelValues:
    """Expected cost of going on from a belief, by a regression; without weights nothing follows a visit."""

    def __init__(self, problem: AcquisitionProblem, weights: FloatArray | None = None) -> None:
        self.problem = problem
        self.weights = weights

    @property
    def size(self) -> int:
        """Number of weights."""
        return 0 if self.weights is None else self.weights.size

    @cached_property
    def least(self) -> float:
        """The least that going on costs beyond the decision."""
        return float(self.problem.prices.min(initial=np.inf))

    def regressors(self, belief: BeliefState) -> FloatArray:
        """What the cost of going on is explained by, (n, n_columns)."""
        stop, posterior = belief.stopping_cost, belief.probabilities
        columns = self._of_belief(posterior, stop, np.ones(len(belief)))
        share = (~remaining_questions(belief)).mean(axis=1)
        return np.column_stack([*columns, share, share * stop])

    def _of_belief(self, joint: FloatArray, stop: FloatArray, total: FloatArray) -> list[FloatArray]:
        """Columns about beliefs that are not normalised, times their totals."""
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = total - np.where(total > 0, row_sums(joint**2) / total, 0.0)
            squares = [np.where(total > 0, x / total, 0.0) for x in (stop**2, stop * spread, spread**2)]
        columns = [stop, spread, np.sqrt(stop * total), np.sqrt(np.maximum(spread, 0.0) * total), *squares]
        # up to so many classes the regression knows the belief in each of them
        if joint.shape[-1] <= 10:
            columns += [joint[..., c] for c in range(joint.shape[-1])]
        return columns

    def costs_after(self, belief: BeliefState, questions: IntArray, closed: BoolArray | None = None) -> FloatArray:
        """Expected cost after each question, without prices: of deciding, or less by going on where not ``closed``."""
        if self.weights is None:
            return np.asarray(belief.problem.structure.costs_after(questions, belief))
        problem, weights = self.problem, self.weights
        result = np.empty((len(belief), len(questions)))
        share = ((~remaining_questions(belief)).sum(axis=1) + 1) / problem.n_questions
        offset = (weights[0] + weights[-2] * share)[:, None, None]
        factor = (weights[-1] * share)[:, None, None]
        vectors, known = problem.decision_costs.T, perfect_cost(problem)
        n_columns = 4 * problem.n_classes
        for part, places, likelihood in problem.structure.likelihood_parts(questions, belief.state, n_columns):
            joint = likelihood * belief.probabilities[part, None, None]
            stop, total = lower_envelope(joint, vectors), row_sums(joint)
            cost = total * offset[part] + stop * factor[part]
            for column, w in zip(self._of_belief(joint, stop, total), weights[1:-2]):
                cost += w * column
            floor = total * self.least + joint @ known
            cost = np.minimum(stop, np.maximum(cost, floor))
            if closed is not None:
                cost = np.where(closed[part, None, None], stop, cost)
            result[part, places] = row_sums(cost)
        return result


class Best(NamedTuple):
    """The best panel of each row.

    Attributes
    ----------
    panel : ndarray of bool of shape (n, n_questions)
        The panel; of none where nothing can be ordered.
    cost : ndarray of shape (n,)
        What ordering it and going on is expected to cost; inf where nothing can be ordered.
    """

    panel: BoolArray
    cost: FloatArray

    def worthwhile_panels(self, belief: BeliefState) -> BoolArray:
        """The panels, and none where deciding costs no more, (n, n_questions)."""
        return np.asarray(self.panel & (self.cost < stopping_threshold(belief))[:, None])


class PanelPolicy(Policy):
    """Orders the panel that greed finds while ordering it is expected to cost less than deciding.

    Questions are added one by one, each time the one after which the expected cost is least; the answers of those
    before are followed, all of them or where they are many an even sample of fixed size.

    ``sizes`` are the least and most questions of a panel, as far as so many are open; ``once``: one visit at most.
    """

    def __init__(
        self,
        values: PanelValues,
        sizes: tuple[int, int],
        n_branches: int = 16,
        once: bool = False,
        info: SolveInfo | None = None,
    ) -> None:
        super().__init__(values.problem, info=info)
        if info is None:
            self.info = replace(self.info, size=values.size)
        self.values, self.sizes, self.n_branches, self.once = values, sizes, n_branches, once

    @cached_property
    def _problem_without_visits(self) -> AcquisitionProblem:
        """The questions without visits and budgets, which count elsewhere."""
        return without_visits(self.problem).replace(max_cost=None, max_questions=None)

    def panels(self, belief: BeliefState, least: int = 0) -> BoolArray:
        """What each row orders now, (n, n_questions); see `Policy.panels`."""
        panels = np.zeros((len(belief), self.problem.n_questions), dtype=bool)
        rows = np.flatnonzero(self.chooses(belief) & ((least > 0) | ~stopping_is_certain(belief)))
        if rows.size:
            some = belief[rows]
            best = self.best(some, least)
            panels[rows] = best.panel if least else best.worthwhile_panels(some)
        return panels

    def chooses(self, belief: BeliefState) -> BoolArray:
        """Where a panel may be ordered now, (n,): nothing is waited for, and there may be another visit."""
        if belief.stage >= self.n_stages:
            return np.zeros(len(belief), dtype=bool)
        return ~belief.account.waits & ~self._is_terminal(belief)

    def _is_terminal(self, belief: BeliefState) -> BoolArray:
        """Where the one visit was made, and all of it answered, (n,)."""
        if not self.once or belief.account.n_visits is None:
            return np.zeros(len(belief), dtype=bool)
        return ~belief.account.waits & (belief.account.n_visits > 0)

    def _action(self, belief: BeliefState) -> IntArray:
        panels = belief.account.ordered
        if not belief.account.ordering_is_known:
            chosen = self.panels(belief)
            panels = chosen if panels is None else chosen | panels
        return first_of(panels, len(belief))

    def next_question(self, belief: BeliefState) -> IntArray:
        """What was ordered, else the first question of the panel that comes next wherever it goes on, (n,)."""
        question = first_of(belief.account.ordered, len(belief))
        open_ = (question == DECIDE) & self.chooses(belief)
        return fill_rows(question, open_, lambda rows: first_of(self.best(belief[rows]).panel, rows.size))

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Expected cost of ordering the best panel and going on, (n,); inf where nothing can be ordered.

        Where an answer of the last panel is still waited for, the cost is NaN: nothing is chosen there.
        """
        cost = np.where(belief.account.waits, np.nan, np.inf)
        return fill_rows(cost, self.chooses(belief), lambda rows: self.best(belief[rows]).cost)

    def _cost_without(self, belief: BeliefState, questions: BoolArray) -> FloatArray:
        if not self.problem.any_order:  # what comes after the panel is not the next of the order
            return np.full(len(belief), np.nan)
        return super()._cost_without(belief, questions)

    def best(self, belief: BeliefState, least: int = 0) -> Best:
        """The best panel of each row, whether it is worth ordering or not."""
        n, problem = len(belief), self.problem
        panel, cost = np.zeros((n, problem.n_questions), dtype=bool), np.full(n, np.inf)
        row_bytes = 8.0 * 4 * self.n_branches * (problem.n_questions + problem.n_classes)
        for part, some in row_parts(belief, row_bytes, 2**28):
            panel[part], cost[part] = self._grow(some, least)
        return Best(panel, cost)

    def _grow(self, belief: BeliefState, least: int) -> tuple[BoolArray, FloatArray]:
        if (early := belief._early) is None:
            return Growing(self, belief, least).grow()
        panel, cost = np.zeros(early.shape, dtype=bool), np.full(len(belief), np.inf)
        number = np.unique(early != OPEN, axis=0, return_inverse=True)[1].reshape(-1)
        for rows in (np.flatnonzero(number == one) for one in np.unique(number)):  # who pass over the same
            panel[rows], cost[rows] = Growing(self, belief[rows], least).grow()
        return panel, cost


def first_of(panels: BoolArray | None, n: int) -> IntArray:
    """Question of lowest number of each panel, -1 of none."""
    if panels is None:
        return np.full(n, DECIDE)
    return np.where(panels.any(axis=1), panels.argmax(axis=1), DECIDE)


def panel_prices(belief: BeliefState, panels: BoolArray) -> FloatArray:
    """Prices of what is in a panel of each row, (n,), that of the visit left out; one of a group pays in full."""
    total = panels @ prices_without_visits(belief.problem)
    if belief.account.groups_paid is None:
        return np.asarray(total)
    least = least_surcharges(belief.problem, panels)
    return np.asarray(total + np.where(belief.account.groups_paid | np.isinf(least), 0.0, least).sum(axis=1))


class Growing:
    """Panels of a batch of rows that grow by a question at a time."""

    def __init__(self, policy: PanelPolicy, belief: BeliefState, least: int = 0) -> None:
        self.policy, self.info = policy, belief
        self.problem = problem = belief.problem
        assert problem.visits is not None
        self.visits: Visits = problem.visits
        n = len(belief)
        self.open = belief.available if problem.any_order else remaining_questions(belief)
        if belief._early is not None:  # in a fixed order what was answered before its turn is passed over
            self.open = self.open & (belief._early == OPEN)
        most = min(
            max(policy.sizes[1], least), problem.n_stages - belief.stage, self.visits.max_panel or problem.n_questions
        )
        self.most = np.minimum(most, self.open.sum(axis=1))
        self.least = np.minimum(max(policy.sizes[0], least), self.most)
        self.panel = np.zeros((n, problem.n_questions), dtype=bool)
        self.known = belief.probabilities @ perfect_cost(problem)
        # answers of each row so far: their histories, whose they are, and their shares
        self.branches = belief.replace(problem=policy._problem_without_visits, account=belief.account.without_visits())
        self.owner, self.weight = np.arange(n), np.ones(n)

    def grow(self) -> tuple[BoolArray, FloatArray]:
        """Best panels and their costs."""
        n = len(self.info)
        best, cost, since = self.panel.copy(), np.full(n, np.inf), np.zeros(n, dtype=int)
        total = cost.copy()
        rows = np.flatnonzero(self.most > 0)
        self._keep(rows)
        size = 0
        while rows.size:
            size += 1
            question, cost_with = self.next(rows)
            left = np.isfinite(cost_with)
            full = rows[~left & ~np.isfinite(cost[rows])]  # the budget leaves nothing to add to what is too few
            best[full], cost[full] = self.panel[full], total[full]
            rows, question, cost_with = rows[left], question[left], cost_with[left]
            self.panel[rows, question], total[rows] = True, cost_with
            counts = size >= self.least[rows]
            better = counts & (cost_with < cost[rows] * (1 - TIE))
            best[rows[better]], cost[rows[better]] = self.panel[rows[better]], cost_with[better]
            since[rows] = np.where(better | ~counts, 0, since[rows] + 1)
            # whatever is added, what was spent is spent
            floor = self._price(rows, self.panel[rows]) + self.known[rows]
            # a panel grows on for so many questions that save nothing yet
            on = (size < self.most[rows]) & (~counts | ((since[rows] < 2) & (floor < cost[rows])))
            rows, question = rows[on], question[on]
            if rows.size:
                self._keep(rows)
                self.follow(rows, question)
        return best, cost

    def _price(self, rows: IntArray, panel: BoolArray) -> FloatArray:
        return np.asarray(panel_prices(self.info[rows], panel) + self.visits.panel_costs(panel))

    def _keep(self, rows: IntArray) -> None:
        """Leave the branches of other rows."""
        if rows.size == len(np.unique(self.owner)):
            return
        kept = np.flatnonzero(np.isin(self.owner, rows))
        self.branches, self.owner, self.weight = self.branches[kept], self.owner[kept], self.weight[kept]

    def next(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """The question that each row adds, and what its panel then costs."""
        panel, problem = self.panel[rows], self.problem
        allowed = self.open[rows] & ~panel
        if not problem.any_order:  # the next one of the order
            allowed &= np.cumsum(allowed, axis=1) == 1
        asked = np.flatnonzero(allowed.any(axis=0))
        place = np.searchsorted(rows, self.owner)
        closed = None
        if self.policy.values.weights is not None:
            closed = (self.open[rows].sum(axis=1) - panel.sum(axis=1) <= 1)[place]
        after = self.policy.values.costs_after(self.branches, asked, closed)
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        expected = np.add.reduceat(after * self.weight[:, None], starts, axis=0)
        waits = self.visits.delay_cost * self.visits.delays
        longest = np.where(panel, waits, 0.0).max(axis=1)
        prices = np.broadcast_to(self.branches.prices, (len(place), problem.n_questions))[starts][:, asked]
        spent = panel_prices(self.info[rows], panel)
        paid = self.info.account.groups_paid
        if problem.groups is not None and paid is not None and (least := least_surcharges(problem, panel)).size:
            # one that adds less to its price than those before pays in full instead of them
            before, added = least[:, problem.groups], problem.full_prices - problem.prices
            instead = (problem.groups >= 0) & np.isfinite(before) & ~paid[rows][:, problem.groups]
            prices = prices + np.where(instead, np.minimum(added - before, 0.0), 0.0)[:, asked]
        total = spent[:, None] + prices + self.visits.cost + np.maximum(longest[:, None], waits[asked]) + expected
        if problem.limits.max_cost is not None:
            paid = total - expected + self.info.spent[rows][:, None]
            total = np.where(affords(problem.limits.max_cost, paid), total, np.inf)
        total = np.where(allowed[:, asked], total, np.inf)
        best = (total <= total.min(axis=1, keepdims=True) * (1 + TIE)).argmax(axis=1)
        return asked[best], total[np.arange(len(rows)), best]

    def follow(self, rows: IntArray, question: IntArray) -> None:
        """Follow the answers of the question that each row adds, an even sample where they are too many."""
        place = np.searchsorted(rows, self.owner)
        asked = question[place] if self.problem.any_order else np.full(len(place), self.branches.stage)
        level = ask_once(self.branches, np.arange(len(place)), asked)
        owner = self.owner[level.parent]
        order = np.argsort(owner, kind="stable")
        owner, weight, most = owner[order], (self.weight[level.parent] * level.weight)[order], self.policy.n_branches
        count = np.bincount(np.searchsorted(rows, owner), minlength=len(rows))
        many = np.flatnonzero(count > most)
        if many.size:
            end = np.cumsum(weight)
            start = np.append(0.0, end)[np.append(0, np.cumsum(count))]
            share = (np.arange(most) + 0.5) / most
            wanted = (start[many, None] + share * (start[many + 1] - start[many])[:, None]).ravel()
            drawn, times = np.unique(np.minimum(np.searchsorted(end, wanted), len(end) - 1), return_counts=True)
            few = np.flatnonzero(~np.isin(owner, rows[many]))
            kept = np.concatenate([few, drawn])
            share_of = np.concatenate([weight[few], times / most])
            again = np.argsort(kept, kind="stable")
            order, owner, weight = order[kept[again]], owner[kept[again]], share_of[again]
        self.branches, self.owner, self.weight = level.belief[order], owner, weight
