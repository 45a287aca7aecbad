"""The optimum over all orders: recursion over partial answers where they are few, search with bounds beyond."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, another_stream, as_generator
from seqclass._utils.progress import TimeUp, within
from seqclass.pomdp.answers import TooLarge
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
    most_asked,
    partial_answers,
    row_keys,
)
from seqclass.pomdp.bounds.policy_cost import cost_at_most
from seqclass.pomdp.bounds.repeats import RepeatValues
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.evaluation import MAX_HISTORIES, evaluate
from seqclass.pomdp.information import TIE, InformationState
from seqclass.pomdp.policy import DECIDE, WIDE_GAP, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.solvers.simple import DeepLookaheadPolicy, OrderBoundPolicy
from seqclass.pomdp.walk import along

__all__ = ["ExactFreeOrder"]


#: Where nothing is planned, two questions ahead at the most promising ones.
_DEPTH, _CANDIDATES = 2, 5

#: Up to so many partial answers they are listed anew whenever one is missing.
ANEW = 2_000_000

#: Costs of questions that are remembered, of all partial answers: 128 MB.
_REMEMBERED = 2**24
#: Partial answers in all lists that are kept, some 30 bytes each.
_KEPT = 2**22

_clock = time.perf_counter


@dataclass(repr=False, eq=False)
class ExactFreeOrder(Solver):
    """The best policy over all orders of a free problem, or bounds of its cost that close in until a limit is reached.

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
    >>> problem = TableProblem([0.5, 0.5], np.array([sensor, sensor]), prices=[0.1, 0.02], free=True)
    >>> info = ExactFreeOrder().solve(problem).info
    >>> info.status, round(info.upper, 3), info.gap
    ('converged', 0.17, 0.0)
    """

    _least = {"max_nodes": 1, "max_seconds": 0.0, "target_gap": 0.0}

    max_nodes: int = 200_000
    max_seconds: float | None = None
    _: KW_ONLY
    target_gap: float = 0.0

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a free problem; see `Solver.solve`."""
        started, limit = _clock(), np.inf if self.max_seconds is None else self.max_seconds
        self._check(problem)
        values, search, reached = None, None, False
        try:
            with within(limit):
                if (exact := exactly(problem, self.max_nodes)) is not None:
                    return exact.with_info(seconds=_clock() - started)
                values = bounds_of(problem)
                if problem.closes:
                    raise ValueError(
                        "ExactFreeOrder lists all partial answers where rules say what has to be asked, and here they "
                        "are too many; use Adaptive, or raise max_nodes."
                    )
                search = OrderSearch(problem, values)
                reached = search.run(self.max_nodes, tolerance=self.target_gap)
        except TimeUp:
            if self.max_seconds is None:
                raise
        search = search or OrderSearch(problem, values)
        policy = planned(search).with_info(status="converged" if reached else "limit", seconds=_clock() - started)
        return policy if reached or not self.certificate_paths else self._better(policy, values, limit)

    def _better(self, policy: PlannedPolicy, values: OrderBounds | None, limit: float) -> Policy:
        """Return the policy with its own cost, or one with another fall-back that costs less for sure."""
        started, problem, lower = _clock(), policy.problem, policy.info.lower
        found = policy
        with suppress(TooLarge, TimeUp), within(limit / 2 if isinstance(values, RepeatValues) else limit):
            cost = evaluate(problem, policy, method="exact", max_histories=MAX_HISTORIES).cost
            found = _bounded(policy, lower, min(policy.info.upper, cost))
        if isinstance(values, RepeatValues):
            other = PlannedPolicy(problem, policy.plan, OrderBoundPolicy(values), policy.info)
            rng, most = as_generator(another_stream(self.random_state)), np.inf
            with suppress(TimeUp), within(limit / 2):
                most = cost_at_most(other, max(2, self.certificate_paths), rng, CONFIDENCE, lower)
            if most < found.info.upper:
                found = _bounded(other, lower, most, CONFIDENCE)
        return found.with_info(certify_seconds=_clock() - started)

    def _check(self, problem: AcquisitionProblem) -> None:
        self._check_settings()
        if not problem.free:
            raise ValueError(
                "ExactFreeOrder chooses among questions, and this problem asks them in a fixed order; make it with "
                "free=True, or use GridValueIteration or ExactValueIteration."
            )
        if problem.starts is not None:
            raise ValueError(
                "ExactFreeOrder makes a table of partial answers to one start, and something is known here of each "
                "case (known); use Adaptive or Lookahead."
            )
        if problem.samples:
            raise ValueError(
                "ExactFreeOrder visits every outcome, and a bundle of this problem has too many to list them; use "
                "Lookahead, or smaller bundles."
            )


def exactly(problem: AcquisitionProblem, most: int) -> PlannedPolicy | None:
    """The best policy where no more than so many partial answers have to be looked at, enumerated or listed."""
    if are_few(problem, most):
        return enumerated(problem)
    listed = PartialAnswers.of(problem, most)
    return None if listed is None else from_list(listed)


def enumerated(problem: AcquisitionProblem) -> PlannedPolicy:
    """The best policy, by recursion over all partial answers."""
    tree = expand(problem.begin(), problem.n_stages)
    cost, plan = tree.plan()
    size = sum(len(stage.info) for stage in tree.stages)
    info = SolveInfo("converged", n_stages=problem.n_stages, size=size)
    if are_few(problem, FEW):
        return _bounded(PlannedPolicy(problem, plan, RecursionPolicy(problem), info), cost, cost)
    # too much to be written: what the policy comes to
    levels = along(problem, PlannedPolicy(problem, plan), 1.0)
    reached: Plan = []
    for level, (keys, question, costs) in zip(levels, plan):
        at = np.searchsorted(keys, np.unique(evidence(level.info)))
        reached.append((keys[at], question[at], costs[at]))
    return _bounded(PlannedPolicy(problem, reached, RecursionPolicy(problem), info), cost, cost)


def from_list(listed: PartialAnswers) -> PlannedPolicy:
    """The best policy, by least costs of all partial answers in one array."""
    problem, cost = listed.problem, listed.solve()
    info = SolveInfo("converged", n_stages=problem.n_stages, size=len(listed.costs))
    fallback = RecursionPolicy(problem)
    return _bounded(PlannedPolicy(problem, listed.plan(), fallback if fallback.lists else None, info), cost, cost)


def planned(search: OrderSearch) -> PlannedPolicy:
    """What a search has come to, with its bounds."""
    problem = search.problem
    info = SolveInfo("converged", n_stages=problem.n_stages, size=search.n_nodes)
    if search.high - search.low > WIDE_GAP * search.high:
        info = replace(info, status="wide gap")
    return _bounded(PlannedPolicy(problem, search.plan(), None, info), search.low, search.high)


def _bounded(policy: PlannedPolicy, lower: float, upper: float, confidence: float = 1.0) -> PlannedPolicy:
    lower = min(lower, upper)
    gap = (upper - lower) / upper if upper - lower > TIE * upper else 0.0
    return policy.with_info(upper=upper, lower=lower, gap=gap, confidence=confidence, scope="all orders")


class PlannedPolicy(Policy):
    """A table of what to ask after each partial answer, and another policy wherever it says nothing."""

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

    def _act(self, info: InformationState) -> IntArray:
        question, cost, known = self._planned(info)
        question[cost >= info.to_beat] = DECIDE  # of what is not known (nan) that is never so
        rows = np.flatnonzero(~known)
        if rows.size:
            question[rows] = self.fallback.act(info[rows])
        return question

    def _planned(self, info: InformationState) -> tuple[IntArray, FloatArray, BoolArray]:
        """The most promising question, what asking it costs (nan: not known), and whether the plan says anything."""
        question, cost = np.full(len(info), DECIDE), np.full(len(info), np.nan)
        known = np.zeros(len(info), dtype=bool)
        if info.stage < len(self.plan) and len(self.plan[info.stage][0]):
            keys, questions, costs = self.plan[info.stage]
            wanted = evidence(info)
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            known = keys[place] == wanted
            question[known], cost[known] = questions[place[known]], costs[place[known]]
        return question, cost, known

    def following(self, info: InformationState) -> IntArray:
        """The question asked, or where it decides the most promising one; see `Policy.following`."""
        question, _, _ = self._planned(info)
        rows = np.flatnonzero(question == DECIDE)
        if rows.size:
            some = info[rows]
            asked = self.act(some)
            question[rows] = np.where(asked >= 0, asked, self.fallback.following(some))
        return question

    def continuation_cost(self, info: InformationState) -> FloatArray:
        """Cost of the most promising question, where the plan does not say it by the policy to fall back on, (n,)."""
        _, cost, _ = self._planned(info)
        rows = np.flatnonzero(np.isnan(cost))
        if rows.size:
            cost[rows] = self.fallback.continuation_cost(info[rows])
        return cost

    def _cost_without(self, info: InformationState, questions: BoolArray) -> FloatArray:
        cost = self.fallback._cost_without(info, questions)
        if not isinstance(self.fallback, RecursionPolicy):  # which is as exact as the plan
            cost = np.where(np.isnan(self._planned(info)[1]), cost, np.nan)
        return cost


class _Known:
    """Costs of each question after partial answers: by the number of those asked the sorted keys, and a row each."""

    def __init__(self) -> None:
        self.tables: dict[int, tuple[npt.NDArray[np.bytes_], FloatArray]] = {}

    def find(self, info: InformationState) -> tuple[FloatArray, BoolArray]:
        """Costs of all questions, and of which rows they are known."""
        costs, known = np.full((len(info), info.problem.n_questions), np.inf), np.zeros(len(info), dtype=bool)
        if info.stage in self.tables:
            keys, table = self.tables[info.stage]
            wanted = evidence(info)
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            known = keys[place] == wanted
            costs[known] = table[place[known]]
        return costs, known

    def add(self, tree: Enumeration) -> FloatArray:
        """Remember a tree; the costs of its first histories."""
        found = tree.question_costs()
        if sum(table.size for _, table in self.tables.values()) + sum(costs.size for costs in found) > _REMEMBERED:
            self.tables = {}
        for stage, costs in zip(tree.stages, found):
            keys, number = evidence(stage.info), stage.info.stage
            if number in self.tables:
                before = self.tables[number]
                keys, costs = np.concatenate([before[0], keys]), np.concatenate([before[1], costs])
            keys, kept = np.unique(keys, return_index=True)
            self.tables[number] = keys, costs[kept]
        return found[0]


class RecursionPolicy(DeepLookaheadPolicy):
    """Asks what is best from wherever a case stands, by recursion over all that may follow, and remembers that.

    Where it may, it lists all partial answers once for each set of questions without an answer or a price.
    """

    def __init__(self, problem: AcquisitionProblem, info: SolveInfo | None = None) -> None:
        super().__init__(problem, _DEPTH, _CANDIDATES, info)

    @cached_property
    def lists(self) -> bool:
        """Whether partial answers can be listed, and no answer is of several features."""
        return self.problem.bundles is None and PartialAnswers.serves(self.problem, ANEW)

    def question_costs(self, info: InformationState) -> FloatArray:
        """Cost of asking each question and going on as well as can be, (n, n_questions); inf where it is not open."""
        costs, known = self._known.find(info)
        rows = np.flatnonzero(info.settled)
        if rows.size:
            costs[rows] = super().question_costs(info[rows])
        rows = np.flatnonzero(~known & ~info.settled)
        if rows.size:
            costs[rows] = self._found(info[rows])
        return costs

    def _found(self, info: InformationState) -> FloatArray:
        return self._by_list(info) if self.lists else self._by_recursion(info)

    def _by_list(self, info: InformationState) -> FloatArray:
        assert info.seen is not None
        problem, seen, gone = info.problem, info.seen >= 0, (info.seen < 0) & ~info.unasked
        groups = problem.paid_after(np.eye(problem.n_questions, dtype=bool))
        paid = np.zeros((len(info), groups.shape[1]), dtype=bool) if info.paid is None else info.paid
        # answers that paid for no group, groups that no answer paid for, and what else has been asked and spent
        told = seen & groups.any(axis=1) & ~(paid @ groups.T), paid & ~(seen @ groups)
        asked, spent = np.zeros(len(info), dtype=np.intp), np.zeros(len(info))
        if problem.max_questions is not None:
            asked = info.stage - seen.sum(axis=1)
        if problem.max_cost is not None:
            spent = np.round(info.spent - seen @ problem.prices, 12) + 0.0
        keys = row_keys([gone, *told, asked[:, None], spent[:, None]])
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        costs = np.empty(seen.shape)
        for number, row in enumerate(first.tolist()):
            rows = np.flatnonzero(place.reshape(-1) == number)
            kind = gone[row], told[0][row], told[1][row], int(asked[row]), float(spent[row])
            listed = self._listed(keys[row], *kind)
            at = listed.numbers(info.seen[rows])
            costs[rows] = listed.asking(at) / listed.chance[at, None]
        return np.where(info.open, costs, np.inf)

    def _listed(self, key: bytes, *kind: Any) -> PartialAnswers:
        if key not in self._lists:
            found = PartialAnswers(self.problem, *kind)
            found.solve()
            if sum(one.costs.size for one in self._lists.values()) + found.costs.size > _KEPT:
                self._lists.clear()
            self._lists[key] = found
        return self._lists[key]

    def _by_recursion(self, info: InformationState) -> FloatArray:
        _, first, place = np.unique(evidence(info), return_index=True, return_inverse=True)
        some, problem = info[first], info.problem
        left = most_asked(some)
        most = max(float(partial_answers(problem.n_outcomes[asked], left).sum()) for asked in some.unasked)
        costs = np.empty((len(some), problem.n_questions))
        for part, whose in some.parts(8.0 * 4 * problem.n_questions * most):
            costs[part] = self._known.add(expand(whose, problem.n_stages - info.stage))
        return np.asarray(costs[place.reshape(-1)])

    @cached_property
    def _known(self) -> _Known:
        return _Known()

    @cached_property
    def _lists(self) -> dict[bytes, PartialAnswers]:
        return {}
