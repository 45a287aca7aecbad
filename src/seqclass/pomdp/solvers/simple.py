"""Simple policies: rules that need no values of what follows, and look-ahead of a few questions."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, row_sums
from seqclass._utils.validation import check_part, check_real
from seqclass.pomdp.bounds.optimum import OrderBounds, asked_once, distinct, promising
from seqclass.pomdp.information import TIE, InformationState
from seqclass.pomdp.policy import DECIDE, Policy, SolveInfo, unit
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver, certified
from seqclass.pomdp.walk import first_open

if TYPE_CHECKING:
    from seqclass.pomdp.solvers.ordering.base import OrderingRule

__all__ = ["FirstK", "Lookahead", "PosteriorThreshold"]


class Rule(Solver):
    """A solver that looks at nothing but its settings: the policy is written down, then certified.

    Parameters
    ----------
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    >>> issubclass(FirstK, Rule)
    True
    """

    @abstractmethod
    def _policy(self, problem: AcquisitionProblem) -> Policy:
        """The rule as a policy."""

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Write the rule down as a policy of the problem; see `Solver.solve`."""
        started = time.perf_counter()
        self._check_settings()
        policy = self._policy(problem)
        policy = policy.with_info(n_stages=policy.n_stages, seconds=time.perf_counter() - started)
        return certified(policy, self.certificate_paths, self.random_state)


@dataclass(repr=False, eq=False)
class FirstK(Rule):
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
    >>> policy = FirstK(2, rule=ClassInformation()).solve(TableProblem([0.5, 0.5], sensors, prices=0.1, free=True))
    >>> policy.act(policy.problem.begin())
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
class PosteriorThreshold(Rule):
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

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return PosteriorThresholdPolicy(problem, check_real(self.threshold, "threshold", 0, 1), self.rule)


class _Asking(Policy):
    """A policy that asks in the order of the problem, or by an ordering rule."""

    def __init__(
        self, problem: AcquisitionProblem, n_stages: int | None = None, rule: OrderingRule | None = None
    ) -> None:
        super().__init__(problem, n_stages)
        if rule is not None:
            check_part(rule, "rule", "an ordering rule such as ClassInformation()", ("next", "check"))
            if not problem.free:
                raise ValueError(
                    f"rule={rule!r} needs a problem in which any question may come next: make it with free=True (a "
                    'classifier with order="adaptive"), or leave out the rule.'
                )
            rule.check(problem)
        self.rule = rule

    def following(self, info: InformationState) -> IntArray:
        """What the order or the rule puts next, (n,), a rule beyond the horizon too; see `Policy.following`."""
        if info.stage >= self.n_stages and (self.rule is None or info.stage >= self.problem.n_stages):
            return np.full(len(info), DECIDE)
        return self._next(info)

    def _next(self, info: InformationState) -> IntArray:
        return first_open(info) if self.rule is None else self.rule.next(info)


class FixedLengthPolicy(_Asking):
    """Asks for the features before its horizon, in a free problem by a rule or else the open one of lowest number."""

    def _act(self, info: InformationState) -> IntArray:
        return self._next(info)


class PosteriorThresholdPolicy(_Asking):
    """Stops once the largest posterior reaches a threshold."""

    def __init__(self, problem: AcquisitionProblem, threshold: float, rule: OrderingRule | None = None) -> None:
        super().__init__(problem, None, rule)
        self.threshold = threshold

    def _act(self, info: InformationState) -> IntArray:
        question = np.full(len(info), DECIDE)
        unsure = np.flatnonzero(info.belief.max(axis=1) < self.threshold - TIE)
        if unsure.size:
            question[unsure] = self._next(info[unsure])
        return question


class _ByCosts(Policy):
    """Asks the question that promises most where it costs less than to decide."""

    @abstractmethod
    def question_costs(self, info: InformationState) -> FloatArray:
        """Price of each question plus what follows it, (n, n_questions); inf where it is not open."""

    def following(self, info: InformationState) -> IntArray:
        """The most promising question, worth its price or not, (n,); see `Policy.following`."""
        if not self.problem.free or info.stage >= self.n_stages:
            return super().following(info)
        return promising(self.question_costs(info), info.problem)[0]

    def continuation_cost(self, info: InformationState) -> FloatArray:
        """Cost of the most promising question, (n,); inf where nothing is open."""
        if info.stage >= self.n_stages:
            return np.full(len(info), np.inf)
        return np.asarray(self.question_costs(info).min(axis=1))

    def _act(self, info: InformationState) -> IntArray:
        question = np.full(len(info), DECIDE)
        rows = np.flatnonzero(~info.settled)
        if rows.size:
            asked, best = promising(self.question_costs(info[rows]), info.problem)
            question[rows] = np.where(best < info.to_beat[rows], asked, DECIDE)
        return question


class OrderBoundPolicy(_ByCosts):
    """Asks the question that promises most if what follows costs no more than its lower bound."""

    def __init__(self, bounds: OrderBounds, info: SolveInfo | None = None) -> None:
        super().__init__(bounds.problem, info=info)
        self.bounds = bounds

    def question_costs(self, info: InformationState) -> FloatArray:
        """Price of each question plus the lower bound after it."""
        return np.where(info.sensible, self.bounds.asking(info), np.inf)


#: Working memory of an enumeration.
_TREE_BYTES = 2**28


@dataclass(repr=False, eq=False)
class Lookahead(Rule):
    """Goes on if that pays within the next few questions, as if one had to decide after them.

    In a free problem it asks the question with the largest expected saving; ties go to the lowest number.

    Parameters
    ----------
    depth : int
        Questions it looks ahead: 1 is the myopic rule. The work grows with the number of outcomes to the power of it,
        in a free problem with that of outcomes times questions.
    certificate_paths, random_state
        As in `Solver`.
    n_candidates : int or None
        From depth 2 on, in a free problem, look further only at so many questions of each history: those after which
        deciding is expected to cost least, prices included. None: at all that a bound does not rule out.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, evaluate
    >>> useless, perfect = [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]
    >>> problem = TableProblem([0.5, 0.5], np.array([useless, perfect]), prices=0.1)
    >>> [evaluate(problem, Lookahead(depth).solve(problem)).n_features for depth in (1, 2)]
    [0.0, 2.0]
    >>> free = TableProblem([0.5, 0.5], np.array([useless, perfect]), prices=0.1, free=True)
    >>> evaluate(free, Lookahead(1).solve(free)).n_features
    1.0
    """

    _least = {"depth": 1, "n_candidates": 1}

    depth: int = 1
    _: KW_ONLY
    n_candidates: int | None = None

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return DeepLookaheadPolicy(problem, self.depth, self.n_candidates)


class DeepLookaheadPolicy(_ByCosts):
    """Look-ahead of several questions on the stopping cost."""

    def __init__(
        self, problem: AcquisitionProblem, depth: int, n_candidates: int | None = None, info: SolveInfo | None = None
    ) -> None:
        super().__init__(problem, info=info)
        self.depth = depth
        self.n_candidates = n_candidates

    def question_costs(self, info: InformationState) -> FloatArray:
        """Price of each question plus the expected cost after it, looking ahead."""
        costs = lookahead_costs(info, self.depth, self.n_candidates)
        return costs if self.problem.rules is None else np.where(info.sensible, costs, np.inf)


def lookahead_costs(info: InformationState, depth: int, n_candidates: int | None = None) -> FloatArray:
    """Cost of asking each question and then acting as well as can be within a few more, prices included."""
    problem, result = info.problem, np.full((len(info), info.problem.n_questions), np.inf)
    if not problem.free and depth == 1:  # what look-ahead computes serves the update as well
        if info.stage < problem.n_stages:
            result[:, info.stage] = info.price + row_sums(problem.stopping_cost(info.joint))
        return result
    widest = float(problem.n_outcomes.max(initial=1)) * problem.n_questions if problem.free else 8.0
    for part, some in info.parts(8.0 * 4 * problem.n_classes * widest ** (depth - 1), _TREE_BYTES):
        result[part] = _ahead(some, depth, n_candidates)
    return result


def _ahead(info: InformationState, depth: int, n_candidates: int | None) -> FloatArray:
    problem, every = info.problem, np.arange(info.problem.n_questions)
    # in a fixed order the stage's question alone
    asked = every if problem.free else every[info.stage : info.stage + 1]
    open_, prices = info.open[:, asked], np.broadcast_to(info.prices, (len(info), len(every)))[:, asked]
    costs = np.full((len(info), len(every)), np.inf)
    last = depth == 1 or info.stage + 1 >= problem.n_stages
    if last or problem.free:
        once = np.where(open_, prices + problem.costs_after(asked, info), np.inf)
        open_ = open_ if last else _candidates(info, asked, prices, once, n_candidates)
    costs[:, asked] = once if last else _further(info, asked, prices, open_, depth, n_candidates)
    return costs


def _further(
    info: InformationState,
    asked: IntArray,
    prices: FloatArray,
    followed: BoolArray,
    depth: int,
    n_candidates: int | None,
) -> FloatArray:
    """Cost of the questions that are followed; inf for all others."""
    row, place = np.nonzero(followed)
    costs = np.full(followed.shape, np.inf)
    if not row.size:
        return costs
    level = asked_once(info, row, asked[place], merged=True)
    root = level.parent
    kept, branch = distinct(level.info, root)
    after = level.info[kept]
    value = after.stopping_cost.copy()
    open_ = np.flatnonzero(~after.settled)
    if open_.size:
        value[open_] = np.minimum(value[open_], _ahead(after[open_], depth - 1, n_candidates).min(axis=1))
    expected = np.bincount(level.entry, level.weight * value[branch], minlength=row.size)
    costs[row, place] = prices[row, place] + expected
    return costs


def _candidates(
    info: InformationState, asked: IntArray, prices: FloatArray, once: FloatArray, n_candidates: int | None
) -> BoolArray:
    """Questions that may be the best, (n, m), from one step of look-ahead at all of them."""
    problem = info.problem
    further = np.vstack([problem.decision_costs.T, problem.prices.min() + problem.perfect_cost])
    least = prices + problem.costs_after(asked, info, further)
    had = once if problem.rules is None else np.where(info.standing.closed_after, np.inf, once)
    reached = np.minimum(info.finishing_cost, had.min(axis=1)) * (1 + TIE)
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
