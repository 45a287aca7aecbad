"""The optimum over all orders: recursion over partial answers where they are few, search with bounds beyond."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import CHUNK_BYTES, BoolArray, FloatArray, IntArray, another_stream, as_generator
from seqclass._utils.progress import DeadlineExceeded, time_limit
from seqclass._utils.stored import check_array, require, require_part
from seqclass.pomdp.account import groups_paid_after
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.bounds.hints import bounds_of
from seqclass.pomdp.bounds.optimum import (
    FEW,
    Enumeration,
    OrderBounds,
    PartialAnswers,
    Plan,
    are_few,
    evidence,
    expand,
    find_rows,
    most_asked,
    partial_answers,
    row_keys,
)
from seqclass.pomdp.bounds.policy_cost import cost_at_most
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.evaluation import evaluate
from seqclass.pomdp.observations import TooLarge
from seqclass.pomdp.one_step import fill_rows, remaining_questions, row_parts, stopping_is_certain, stopping_threshold
from seqclass.pomdp.policy import DECIDE, Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, has_requirements
from seqclass.pomdp.solve_info import WIDE_GAP, SolveInfo
from seqclass.pomdp.solvers.base import Solver, with_bounds
from seqclass.pomdp.solvers.simple import DeepLookaheadPolicy, OrderBoundPolicy
from seqclass.pomdp.walk import MAX_HISTORIES, walk_policy

__all__ = ["ExactFreeOrder"]


#: Where nothing is planned, two questions ahead at the most promising ones.
_DEPTH, _CANDIDATES = 2, 5

#: Up to so many partial answers they are listed anew whenever one is missing.
ANEW = 2_000_000


@dataclass(repr=False, eq=False)
class ExactFreeOrder(Solver):
    """The best policy over all orders of a problem in any order, or bounds of its cost that close in until a limit
    is reached.

    If there are few partial answers (up to 50,000 that leave more to ask; 400,000 with a limit of questions or cost),
    it recurs over all of them, where the same answers in different orders count as one. If answers are independent
    given the class or hidden states, with no rules or visits, and no limit of cost where there are groups, the costs of
    up to ``max_nodes`` partial answers are listed in one array (20 million at most, some 40 bytes each, in some
    seconds). Otherwise it uses AO* [1]_, a search that follows the questions of smallest lower bound and can stop at
    any time. The policy is a table of what to ask after each partial answer. If an answer is missing, what follows is
    optimal again: the recursion goes on from there, or up to 2 million partial answers (without bundles) are listed
    once more without that question. With a longer list, or a search, the bounds are about cases without missing
    answers. Where an answer is missing, and where the search did not get, the policy then looks two questions ahead, or
    one question ahead on lower bounds where these are good.

    Parameters
    ----------
    max_nodes : int
        Most partial answers to keep. Of a search a thousand take about a megabyte at ten questions.
    max_seconds : float or None
        Longest time of the search, and of the certificate after one that came to a limit; None for no limit.
    target_gap : float
        Stop where the bounds differ by at most this share of the upper one; the status is then ``"converged"``.
    certificate_paths : int
        Where a limit was hit: sampled paths of what the policy costs, if that is too much to enumerate and two or three
        classes and independent answers give good bounds to compare with; 0 leaves the policy's own cost out.
    random_state : int, generator or None
        Seed of the paths.

    Notes
    -----
    The bounds of the search are certain (``info.confidence`` 1), whenever it stopped; they are there without any
    certificate. ``info.size`` is the number of partial answers that were kept.

    References
    ----------
    .. [1] N. J. Nilsson, "Principles of Artificial Intelligence", Tioga 1980, section 3.2.
    .. [2] V. Bayer-Zubek, "Learning diagnostic policies from examples by systematic search", UAI 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ExactFreeOrder, TableProblem
    >>> sensor = [[0.9, 0.2], [0.1, 0.8]]
    >>> problem = TableProblem([0.5, 0.5], np.array([sensor, sensor]), prices=[0.1, 0.02], any_order=True)
    >>> info = ExactFreeOrder().solve(problem).info
    >>> info.status, round(info.upper, 3), info.gap
    ('converged', 0.17, 0.0)
    """

    _least = {"max_nodes": 1, "max_seconds": 0.0, "target_gap": 0.0}

    max_nodes: int = 200_000
    max_seconds: float | None = None
    _: KW_ONLY
    target_gap: float = 0.0

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        limit = np.inf if self.max_seconds is None else self.max_seconds
        values, search, reached = None, None, False
        try:
            with time_limit(limit):
                if (exact := solve_exact(problem, self.max_nodes)) is not None:
                    return exact
                values = bounds_of(problem)
                if has_requirements(problem):
                    raise ValueError(
                        "ExactFreeOrder lists all partial answers where rules say what has to be asked, and here they "
                        "are too many; use Adaptive, or raise max_nodes."
                    )
                search = OrderSearch(problem, values)
                reached = search.run(self.max_nodes, tolerance=self.target_gap)
        except DeadlineExceeded:
            if self.max_seconds is None:
                raise
        search = search or OrderSearch(problem, values)
        policy = with_info(policy_of_search(search), status="converged" if reached else "limit")
        return policy if reached or not self.certificate_paths else self._improve(policy, values, limit)

    def _improve(self, policy: PlannedPolicy, values: OrderBounds | None, limit: float) -> Policy:
        """Return the policy with its own cost, or one with another fall-back that costs less for sure."""
        started, problem, lower = time.perf_counter(), policy.problem, policy.info.lower
        better, near = policy, values is not None and values.near
        with suppress(TooLarge, DeadlineExceeded), time_limit(limit / 2 if near else limit):
            cost = evaluate(problem, policy, method="exact", max_histories=MAX_HISTORIES).cost
            better = with_bounds(policy, lower, min(policy.info.upper, cost))
        if values is not None and near:
            other = PlannedPolicy(problem, policy.plan, OrderBoundPolicy(values), policy.info)
            rng, most = as_generator(another_stream(self.random_state)), np.inf
            with suppress(DeadlineExceeded), time_limit(limit / 2):
                most = cost_at_most(other, max(2, self.certificate_paths), rng, CONFIDENCE, lower)
            if most < better.info.upper:
                better = with_bounds(other, lower, most, CONFIDENCE)
        return with_info(better, certify_seconds=time.perf_counter() - started)

    def _check(self, problem: AcquisitionProblem) -> None:
        if not problem.any_order:
            raise ValueError(
                "ExactFreeOrder chooses among questions, and this problem asks them in a fixed order; make it with "
                "any_order=True, or use GridValueIteration or ExactValueIteration."
            )
        if problem.structure.starts is not None:
            raise ValueError(
                "ExactFreeOrder makes a table of partial answers to one start, and something is known here of each "
                "case (known); use Adaptive or Lookahead."
            )
        if problem.structure.samples:
            raise ValueError(
                "ExactFreeOrder visits every outcome, and a bundle of this problem has too many to list them; use "
                "Lookahead, or smaller bundles."
            )


def solve_exact(problem: AcquisitionProblem, most: int) -> PlannedPolicy | None:
    """The best policy where no more than so many partial answers have to be looked at, enumerated or listed."""
    if are_few(problem, most):
        return solve_by_enumeration(problem)
    listed = PartialAnswers.from_problem(problem, most)
    return None if listed is None else from_list(listed)


def solve_by_enumeration(problem: AcquisitionProblem) -> PlannedPolicy:
    """The best policy, by recursion over all partial answers."""
    tree = expand(problem.initial_belief(), problem.n_stages)
    cost, plan = tree.plan()
    size = sum(len(stage.belief) for stage in tree.stages)
    info = SolveInfo("converged", n_stages=problem.n_stages, size=size)
    if not are_few(problem, FEW):  # too much to be written: what the policy comes to
        whole, plan = plan, []
        for level, (keys, question, costs) in zip(walk_policy(problem, PlannedPolicy(problem, whole), 1.0), whole):
            at = np.searchsorted(keys, np.unique(evidence(level.belief)))
            plan.append((keys[at], question[at], costs[at]))
    return with_bounds(PlannedPolicy(problem, plan, RecursionPolicy(problem), info), cost, cost)


def from_list(listed: PartialAnswers) -> PlannedPolicy:
    """The best policy, by least costs of all partial answers in one array."""
    problem, cost = listed.problem, listed.solve()
    info = SolveInfo("converged", n_stages=problem.n_stages, size=len(listed.costs))
    fallback = RecursionPolicy(problem)
    return with_bounds(PlannedPolicy(problem, listed.plan(), fallback if fallback.lists else None, info), cost, cost)


def policy_of_search(search: OrderSearch) -> PlannedPolicy:
    """What a search has come to, with its bounds."""
    problem, wide = search.problem, search.high - search.low > WIDE_GAP * search.high
    info = SolveInfo("wide gap" if wide else "converged", n_stages=problem.n_stages, size=search.n_nodes)
    return with_bounds(PlannedPolicy(problem, search.plan(), None, info), search.low, search.high)


class PlannedPolicy(Policy):
    """A table of what to ask after each partial answer, and another policy wherever it says nothing."""

    _knows_any_belief = False

    def __init__(
        self,
        problem: AcquisitionProblem,
        plan: Plan,
        fallback: Policy | None = None,
        info: SolveInfo | None = None,
    ) -> None:
        super().__init__(problem, info=info)
        self.plan = plan
        self.fallback = DeepLookaheadPolicy(problem, _DEPTH, _CANDIDATES) if fallback is None else fallback

    def _question_scores(self, belief: BeliefState) -> FloatArray | None:
        return self.fallback._question_scores(belief)

    def _action(self, belief: BeliefState) -> IntArray:
        question, cost, known = self._look_up(belief)
        question[cost >= stopping_threshold(belief)] = DECIDE  # of what is not known (nan) that is never so
        return fill_rows(question, ~known, lambda rows: self.fallback.action(belief[rows]))

    def _look_up(self, belief: BeliefState) -> tuple[IntArray, FloatArray, BoolArray]:
        """The most promising question, what asking it costs (nan: not known), and whether the plan says anything."""
        question, cost = np.full(len(belief), DECIDE), np.full(len(belief), np.nan)
        known = np.zeros(len(belief), dtype=bool)
        if belief.stage < len(self.plan) and len(self.plan[belief.stage][0]):
            keys, questions, costs = self.plan[belief.stage]
            place, known = find_rows(keys, belief)
            question[known], cost[known] = questions[place[known]], costs[place[known]]
        return question, cost, known

    def next_question(self, belief: BeliefState) -> IntArray:
        """The question asked, or where it decides the most promising one; see `Policy.next_question`."""
        question, _, _ = self._look_up(belief)
        rows = np.flatnonzero(question == DECIDE)
        if rows.size:
            some = belief[rows]
            asked = self.action(some)
            question[rows] = np.where(asked >= 0, asked, self.fallback.next_question(some))
        return question

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Cost of the most promising question, where the plan does not say it by the policy to fall back on, (n,)."""
        _, cost, _ = self._look_up(belief)
        return fill_rows(cost, np.isnan(cost), lambda rows: self.fallback.continuation_cost(belief[rows]))

    def _cost_without(self, belief: BeliefState, questions: BoolArray) -> FloatArray:
        cost = self.fallback._cost_without(belief, questions)
        if not isinstance(self.fallback, RecursionPolicy):  # which is as exact as the plan
            cost = np.where(np.isnan(self._look_up(belief)[1]), cost, np.nan)
        return cost

    def _check_stored(self) -> None:
        require(self.problem.any_order and type(self.plan) is list, "a plan is of another problem")
        require(require_part(self, "fallback", Policy).problem is self.problem, "a plan is of another problem")
        for keys, questions, costs in self.plan:
            check_array(keys, "keys", "S", None)
            check_array(questions, "questions", "i", len(keys))
            check_array(costs, "costs", "f", len(keys))


class RecursionPolicy(DeepLookaheadPolicy):
    """Asks what is best from wherever a case stands, by recursion over all that may follow, and remembers that.

    Where it may, it lists all partial answers once for each set of questions without an answer or a price.
    """

    def __init__(self, problem: AcquisitionProblem) -> None:
        super().__init__(problem, _DEPTH, _CANDIDATES)

    @cached_property
    def lists(self) -> bool:
        """Whether partial answers can be listed, and no answer is of several features."""
        return self.problem.bundles is None and PartialAnswers.serves(self.problem, ANEW)

    def question_costs(self, belief: BeliefState) -> FloatArray:
        """Cost of asking each question and going on as well as can be, (n, n_questions); inf where it is not open."""
        costs, known = np.full((len(belief), belief.problem.n_questions), np.inf), np.zeros(len(belief), dtype=bool)
        if (kept := self._tables.get(belief.stage)) is not None:
            keys, table = kept
            place, known = find_rows(keys, belief)
            costs[known] = table[place[known]]
        ahead, find = super().question_costs, self._by_list if self.lists else self._by_recursion
        costs = fill_rows(costs, stopping_is_certain(belief), lambda rows: ahead(belief[rows]))
        return fill_rows(costs, ~known & ~stopping_is_certain(belief), lambda rows: find(belief[rows]))

    def _by_list(self, belief: BeliefState) -> FloatArray:
        assert belief.observed is not None
        problem, seen, gone = belief.problem, belief.observed >= 0, (belief.observed < 0) & ~remaining_questions(belief)
        groups, paid = groups_paid_after(problem, np.eye(problem.n_questions, dtype=bool)), belief.account.groups_paid
        paid = np.zeros((len(belief), groups.shape[1]), dtype=bool) if paid is None else paid
        # answers that paid for no group, groups that no answer paid for, and what else has been asked and spent
        group_status = seen & groups.any(axis=1) & ~(paid @ groups.T), paid & ~(seen @ groups)
        asked, spent = np.zeros(len(belief), dtype=np.intp), np.zeros(len(belief))
        if problem.limits.max_questions is not None:
            asked = belief.stage - seen.sum(axis=1)
        if problem.limits.max_cost is not None:
            spent = np.round(belief.spent - seen @ problem.prices, 12) + 0.0
        keys = row_keys([gone, *group_status, asked[:, None], spent[:, None]])
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        costs = np.empty(seen.shape)
        for number, row in enumerate(first.tolist()):
            rows = np.flatnonzero(place.reshape(-1) == number)
            kind = gone[row], group_status[0][row], group_status[1][row], int(asked[row]), float(spent[row])
            listed = self._partial_answers(keys[row], *kind)
            at = listed.numbers(belief.observed[rows])
            costs[rows] = listed.question_costs(at) / listed.chance[at, None]
        return np.where(belief.available, costs, np.inf)

    def _partial_answers(self, key: bytes, *kind: Any) -> PartialAnswers:
        if (answers := self._lists.get(key)) is None:
            answers = PartialAnswers(self.problem, *kind)
            answers.solve()
            if sum(one.costs.size for one in [*self._lists.values()]) + answers.costs.size > CHUNK_BYTES // 16:
                self._lists.clear()
            self._lists[key] = answers
        return answers

    def _by_recursion(self, belief: BeliefState) -> FloatArray:
        _, first, place = np.unique(evidence(belief), return_index=True, return_inverse=True)
        some, problem = belief[first], belief.problem
        left = most_asked(some)
        most = max(float(partial_answers(problem.n_outcomes[asked], left).sum()) for asked in remaining_questions(some))
        costs = np.empty((len(some), problem.n_questions))
        for part, whose in row_parts(some, 8.0 * 4 * problem.n_questions * most):
            costs[part] = self._remember(expand(whose, problem.n_stages - belief.stage))
        return np.asarray(costs[place.reshape(-1)])

    def _remember(self, tree: Enumeration) -> FloatArray:
        """Keep what a tree tells; the costs of its first histories."""
        by_stage, known = tree.question_costs(), self._tables
        # costs of questions that are remembered, of all partial answers: 128 MB
        if sum(table.size for _, table in [*known.values()]) + sum(costs.size for costs in by_stage) > 2**24:
            known.clear()
        for stage, costs in zip(tree.stages, by_stage):
            keys, number = evidence(stage.belief), stage.belief.stage
            if (before := known.get(number)) is not None:  # read once: another thread may forget all
                keys, costs = (np.concatenate(both) for both in zip(before, (keys, costs)))
            keys, kept = np.unique(keys, return_index=True)
            known[number] = keys, costs[kept]
        return by_stage[0]

    @cached_property
    def _tables(self) -> dict[int, tuple[npt.NDArray[np.bytes_], FloatArray]]:
        """Costs of each question after partial answers: by the number of those asked sorted keys, and a row each."""
        return {}

    @cached_property
    def _lists(self) -> dict[bytes, PartialAnswers]:
        return {}
