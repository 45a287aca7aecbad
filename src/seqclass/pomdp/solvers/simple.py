"""Simple policies: rules that need no values of what follows, and look-ahead of a few questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, row_sums
from seqclass._utils.stored import require, require_part
from seqclass._utils.validation import check_part, check_real
from seqclass.pomdp.account import price_of_question
from seqclass.pomdp.bounds.optimum import OrderBounds, ask_once, merge_histories
from seqclass.pomdp.one_step import (
    candidate_questions,
    fill_rows,
    finishing_cost,
    perfect_cost,
    row_parts,
    stopping_is_certain,
    unit,
)
from seqclass.pomdp.policy import DECIDE, FunctionPolicy, LeastCostPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, constraint_status, pass_answered
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.walk import first_open

if TYPE_CHECKING:
    from seqclass.pomdp.solvers.ordering.base import OrderingRule

__all__ = ["FirstK", "FunctionSolver", "Lookahead", "PosteriorThreshold"]


@dataclass(repr=False, eq=False)
class FunctionSolver(Solver, stored=False):
    """A function of beliefs, which says what to ask and when to decide, as the solver of a classifier or experiment.

    Parameters
    ----------
    function : callable
        As in `FunctionPolicy`: of a `BeliefState`, the question of each row, or -1 to decide.
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> def until_sure(belief):
    ...     return np.where(belief.probabilities.max(axis=1) < 0.9, belief.available.argmax(axis=1), -1)
    >>> clf = SequentialClassifier(order="adaptive", solver=FunctionSolver(until_sure))
    >>> clf.fit(*load_iris(return_X_y=True)).policy_
    <FunctionPolicy: at most 4 of 4 questions in any order; wide gap, costs 0.09025 to 0.1074, gap 16.0%>
    """

    function: Callable[[BeliefState], Any]

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return FunctionPolicy(problem, self.function)


@dataclass(repr=False, eq=False)
class FirstK(Solver):
    """Asks the first ``k`` questions of the order, or those that an ordering rule puts first, whatever the answers.

    Parameters
    ----------
    k : int or None
        Number of questions: 0 decides from the prior, None asks all that there are or that a budget leaves.
    rule : OrderingRule, optional
        Which question comes next, such as `ClassInformation()`; for problems in which any may. By default the open one
        of lowest number.
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.1)
    >>> evaluate(problem, FirstK(2).solve(problem)).n_features
    2.0
    >>> FirstK(0).solve(problem).info.upper, evaluate(problem, FirstK(None).solve(problem)).n_features
    (0.5, 3.0)

    Two questions of each instance, by what the answers so far make worth asking:

    >>> from seqclass.pomdp import ClassInformation
    >>> sensors = np.array([[[0.6, 0.5], [0.4, 0.5]], [[0.9, 0.2], [0.1, 0.8]]])
    >>> policy = FirstK(2, rule=ClassInformation()).solve(TableProblem([0.5, 0.5], sensors, prices=0.1, any_order=True))
    >>> policy.action(policy.problem.initial_belief())
    array([1])
    """

    _least = {"k": 0}

    k: int | None = 1
    _: KW_ONLY
    rule: OrderingRule | None = None

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        k = problem.n_stages if self.k is None else self.k
        return FixedLengthPolicy(problem, min(k, problem.n_stages), self.rule)


@dataclass(repr=False, eq=False)
class PosteriorThreshold(Solver):
    """Asks until one class is likely enough; prices play no part.

    Parameters
    ----------
    threshold : float
        It stops once the largest posterior of a class reaches this.
    rule : OrderingRule, optional
        Which question comes next, such as `ClassInformation()`; for problems in which any may. By default the open one
        of lowest number.
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import PosteriorThreshold, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> evaluate(problem, PosteriorThreshold(0.85).solve(problem)).stage  # .9 / 1.1 is below, .8 / .9 above
    array([0.  , 0.45, 0.55])
    """

    threshold: float = 0.95
    _: KW_ONLY
    rule: OrderingRule | None = None

    def _check_settings(self) -> None:
        super()._check_settings()
        check_real(self.threshold, "threshold", 0, 1)

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return PosteriorThresholdPolicy(problem, self.threshold, self.rule)


class _AskingPolicy(Policy):
    """A policy that asks in the order of the problem, or by an ordering rule."""

    def __init__(
        self, problem: AcquisitionProblem, n_stages: int | None = None, rule: OrderingRule | None = None
    ) -> None:
        super().__init__(problem, n_stages)
        if rule is not None:
            check_part(rule, "rule", "an ordering rule such as ClassInformation()", ("next", "check"))
            if not problem.any_order:
                raise ValueError(
                    f"rule={rule!r} needs a problem in which any question may come next: make it with any_order=True "
                    '(a classifier with order="adaptive"), or leave out the rule.'
                )
            rule.check(problem)
        self.rule = rule

    def next_question(self, belief: BeliefState) -> IntArray:
        """What the order or the rule puts next, (n,), a rule beyond the horizon too; see `Policy.next_question`."""
        if belief.stage >= self.n_stages and (self.rule is None or belief.stage >= self.problem.n_stages):
            return np.full(len(belief), DECIDE)
        return self._next(belief)

    def _question_scores(self, belief: BeliefState) -> FloatArray | None:
        return None if self.rule is None else self.rule.scores(belief)

    def _next(self, belief: BeliefState) -> IntArray:
        return first_open(belief) if self.rule is None else self.rule.next(belief)


class FixedLengthPolicy(_AskingPolicy):
    """Asks for the features before its horizon, in any order by a rule or else the open one of lowest number."""

    def _action(self, belief: BeliefState) -> IntArray:
        return self._next(belief)


class PosteriorThresholdPolicy(_AskingPolicy):
    """Stops once the largest posterior reaches a threshold."""

    def __init__(self, problem: AcquisitionProblem, threshold: float, rule: OrderingRule | None = None) -> None:
        super().__init__(problem, None, rule)
        self.threshold = threshold

    def _action(self, belief: BeliefState) -> IntArray:
        unsure = belief.probabilities.max(axis=1) < self.threshold - TIE
        return fill_rows(np.full(len(belief), DECIDE), unsure, lambda rows: self._next(belief[rows]))


class OrderBoundPolicy(LeastCostPolicy):
    """Asks the question that promises most if what follows costs no more than its lower bound."""

    def __init__(self, bounds: OrderBounds) -> None:
        super().__init__(bounds.problem)
        self.bounds = bounds

    def question_costs(self, belief: BeliefState) -> FloatArray:
        """Price of each question plus the lower bound after it."""
        return np.where(candidate_questions(belief), self.bounds.question_bounds(belief), np.inf)

    def _question_scores(self, belief: BeliefState) -> FloatArray:
        return -self.bounds.question_bounds(belief)

    def _check_stored(self) -> None:
        bounds = require_part(self, "bounds", OrderBounds)
        require(bounds.problem is self.problem, "bounds are of another problem")


@dataclass(repr=False, eq=False)
class Lookahead(Solver):
    """Goes on if that pays within the next few questions, as if one had to decide after them.

    In a problem in any order it asks the question with the largest expected saving; ties go to the lowest number.

    Parameters
    ----------
    depth : int
        Questions it looks ahead: 1 is the myopic rule. The work grows with the number of outcomes to the power of it,
        in a problem in any order with that of outcomes times questions.
    certificate_paths, random_state
        As in `Solver`.
    n_candidates : int or None
        From depth 2 on, in any order, look further only at so many questions of each history: those after which
        deciding is expected to cost least, prices included. None: at all that a bound does not rule out.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, evaluate
    >>> useless, perfect = [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    >>> problem = TableProblem([0.5, 0.5], np.array([useless, perfect]), prices=0.1)
    >>> [evaluate(problem, Lookahead(depth).solve(problem)).n_features for depth in (1, 2)]
    [0.0, 2.0]
    >>> free = TableProblem([0.5, 0.5], np.array([useless, perfect]), prices=0.1, any_order=True)
    >>> evaluate(free, Lookahead(1).solve(free)).n_features
    1.0
    """

    _least = {"depth": 1, "n_candidates": 1}

    depth: int = 1
    _: KW_ONLY
    n_candidates: int | None = None

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return DeepLookaheadPolicy(problem, self.depth, self.n_candidates)


class DeepLookaheadPolicy(LeastCostPolicy):
    """Look-ahead of several questions on the stopping cost."""

    def __init__(self, problem: AcquisitionProblem, depth: int, n_candidates: int | None = None) -> None:
        super().__init__(problem)
        self.depth, self.n_candidates = depth, n_candidates

    def question_costs(self, belief: BeliefState) -> FloatArray:
        """Price of each question plus the expected cost after it, looking ahead."""
        costs = lookahead_costs(belief, self.depth, self.n_candidates)
        return costs if self.problem.limits.rules is None else np.where(candidate_questions(belief), costs, np.inf)


def lookahead_costs(belief: BeliefState, depth: int, n_candidates: int | None = None) -> FloatArray:
    """Cost of asking each question and then acting as well as can be within a few more, prices included."""
    problem, result = belief.problem, np.full((len(belief), belief.problem.n_questions), np.inf)
    if not problem.any_order and depth == 1:  # what look-ahead computes serves the update as well
        if belief.stage < problem.n_stages:
            result[:, belief.stage] = price_of_question(belief) + row_sums(problem.stopping_cost(belief.joint))
        return result
    widest = float(problem.n_outcomes.max(initial=1)) * problem.n_questions if problem.any_order else 8.0
    for part, some in row_parts(belief, 8.0 * 4 * problem.n_classes * widest ** (depth - 1), 2**28):
        result[part] = _ahead(some, depth, n_candidates)
    return result


def _ahead(belief: BeliefState, depth: int, n_candidates: int | None) -> FloatArray:
    problem, every = belief.problem, np.arange(belief.problem.n_questions)
    # in a fixed order the stage's question alone
    asked = every if problem.any_order else every[belief.stage : belief.stage + 1]
    open_, prices = belief.available[:, asked], np.broadcast_to(belief.prices, (len(belief), len(every)))[:, asked]
    costs = np.full((len(belief), len(every)), np.inf)
    last = depth == 1 or belief.stage + 1 >= problem.n_stages
    if last or problem.any_order:
        once = np.where(open_, prices + problem.structure.costs_after(asked, belief), np.inf)
        if last:
            costs[:, asked] = once
            return costs
        open_ = _candidates(belief, asked, prices, once, n_candidates)
    row, place = np.nonzero(open_)
    if row.size:
        costs[row, asked[place]] = prices[row, place] + _after(belief, row, asked[place], depth, n_candidates)
    return costs


def _after(belief: BeliefState, row: IntArray, question: IntArray, depth: int, n_candidates: int | None) -> FloatArray:
    """Cost of acting as well as can be within a few more questions, (m,), once rows asked one."""
    level = ask_once(belief, row, question, merged=True)
    kept, branch = merge_histories(level.belief, level.parent)
    value = level.belief[kept].stopping_cost.copy()
    for rows, after in pass_answered(level.belief[kept]):
        open_ = np.flatnonzero(~stopping_is_certain(after))
        if open_.size:
            ahead = _ahead(after[open_], depth - 1, n_candidates).min(axis=1)
            value[rows[open_]] = np.minimum(value[rows[open_]], ahead)
    return np.bincount(level.entry, level.weight * value[branch], minlength=row.size).astype(np.float64)


def _candidates(
    belief: BeliefState, asked: IntArray, prices: FloatArray, once: FloatArray, n_candidates: int | None
) -> BoolArray:
    """Questions that may be the best, (n, m), from one step of look-ahead at all of them."""
    problem = belief.problem
    further = np.vstack([problem.decision_costs.T, problem.prices.min() + perfect_cost(problem)])
    least = prices + problem.structure.costs_after(asked, belief, further)
    rules = problem.limits.rules
    had = once if rules is None else np.where(constraint_status(belief).must_continue_after, np.inf, once)
    reached = np.minimum(finishing_cost(belief), had.min(axis=1)) * (1 + TIE)
    kept: BoolArray = (once < np.inf) & (least <= reached[:, None])
    if n_candidates is not None and n_candidates < len(asked):
        order = cheapest(np.where(kept, once, np.inf), n_candidates, problem)
        chosen = np.zeros_like(kept)
        np.put_along_axis(chosen, order, True, axis=1)
        kept &= chosen
    return kept


def cheapest(costs: FloatArray, n: int, problem: AcquisitionProblem) -> IntArray:
    """Questions of the ``n`` smallest costs of each row; ties, as of all that tell nothing, go to the lowest number."""
    return np.argsort(np.round(costs / unit(problem), 10), axis=1, kind="stable")[:, :n]
