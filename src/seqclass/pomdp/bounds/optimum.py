"""The optimal cost of small problems, by enumeration of all histories that may be worth reaching."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.validation import check_costs, check_integer
from seqclass.pomdp.account import groups_paid_after, prices_beside
from seqclass.pomdp.action_values import action_frame, ask_each
from seqclass.pomdp.latent import by_question, unpad_tables
from seqclass.pomdp.needs import check_problem
from seqclass.pomdp.observations import PlannedAnswers, TooLarge
from seqclass.pomdp.one_step import (
    cost_lower_bound,
    initial_beliefs,
    latent_posterior,
    one_step_costs,
    perfect_cost,
    row_parts,
    stopping_threshold,
)
from seqclass.pomdp.policy import cheapest_question
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, BeliefState, as_belief, constraint_status, observations
from seqclass.pomdp.ties import TIE, affords
from seqclass.pomdp.walk import ALL, MAX_HISTORIES, Fork, Level, walk, walk_to_end
from seqclass.pomdp.worlds import Game, game_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["optimal_cost", "optimal_values"]


#: Up to so many partial answers all are visited, and of those that leave more to ask within a limit.
FEW, _WITHIN_LIMITS = 50_000, 400_000

#: What to do after partial answers: of each number of questions asked sorted keys, the most promising question, and
#: what asking it costs, all that follows included; where that is not known (nan) the question that is asked, if any.
Plan = list[tuple[npt.NDArray[np.bytes_], IntArray, FloatArray]]


def evidence(
    belief: BeliefState, *columns: FloatArray | IntArray, seen: IntArray | None = None
) -> npt.NDArray[np.bytes_]:
    """Key of what each row has seen, in whatever order, (n,): equal where all that follows is."""
    seen = observations(belief) if seen is None else seen
    return _evidence(belief.problem, seen, belief.account.groups_paid, belief.spent, *columns)


def _evidence(
    problem: AcquisitionProblem, seen: IntArray, paid: BoolArray | None, spent: FloatArray, *columns: Any
) -> npt.NDArray[np.bytes_]:
    # numpy drops zeros at the end of such keys, which are all of one width: no two of them mix
    parts: list[Any] = [seen, *(column[:, None] for column in columns)]
    if paid is not None and paid.shape[1]:  # what was known or missing was seen, and paid for by nobody
        parts.append(paid)
    if problem.limits.max_cost is not None:  # which of a group came first decides what is left to spend
        parts.append(np.round(spent, 12)[:, None])
    return row_keys(parts)


def find_rows(keys: npt.NDArray[np.bytes_], belief: BeliefState) -> tuple[IntArray, BoolArray]:
    """Where sorted keys have what each row has seen, and whether they do."""
    own = evidence(belief)
    place = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    return place, keys[place] == own


def row_keys(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.bytes_]:
    """Key of each row of some arrays side by side, (n,): equal where the rows are."""
    whole = np.concatenate([np.ascontiguousarray(part).view(np.uint8) for part in parts], axis=1)
    if not whole.size:
        return np.zeros(len(whole), dtype="S1")
    return np.asarray(np.ascontiguousarray(whole).view(f"S{whole.shape[1]}").reshape(-1))


class OrderBounds(ABC):
    """Lower bounds on what going on costs in a problem in any order, over all orders."""

    #: Whether they are optimal costs of a program, near enough that no search of cases is worth its time.
    near = False

    def __init__(self, problem: AcquisitionProblem) -> None:
        self.problem = problem

    @abstractmethod
    def question_bounds(self, belief: BeliefState) -> FloatArray:
        """No way of asking each question and going on costs less, (n, n_questions); inf where it is not open."""

    def lower(self, belief: BeliefState) -> FloatArray:
        """No way on costs less, (n,)."""
        least: FloatArray = self.question_bounds(belief).min(axis=1, initial=np.inf)
        return np.minimum(belief.stopping_cost, least)


class OnePriceBounds(OrderBounds):
    """After one answer either decide, or pay the cheapest price once more and know the class."""

    def question_bounds(self, belief: BeliefState) -> FloatArray:
        """See `OrderBounds.question_bounds`."""
        problem = self.problem
        vectors = problem.decision_costs.T
        if belief.stage + 1 < problem.n_stages:
            vectors = np.vstack([vectors, problem.prices.min() + perfect_cost(problem)])
        after = problem.structure.costs_after(np.arange(problem.n_questions), belief, vectors)
        return np.where(belief.available, belief.prices + after, np.inf)


class StateBounds(OrderBounds):
    """Lower bounds where answers depend on states alone: those of `Structure.state_tables`."""

    tables: FloatArray

    @abstractmethod
    def decision_bounds(self, belief: BeliefState, states: FloatArray, question: IntArray | None = None) -> FloatArray:
        """No way costs less, deciding among them, of unnormalised probabilities of the states, (..., n_states).

        They are those of the rows, (n,), or after each answer to a question of each row, (n, V), or to all questions,
        one's answers after the other's, (n, R), with the question of each.
        """

    def lower(self, belief: BeliefState) -> FloatArray:
        """See `OrderBounds.lower`."""
        if belief.stage >= self.problem.n_stages:
            return belief.stopping_cost
        return self.decision_bounds(belief, latent_posterior(belief))

    def question_bounds(self, belief: BeliefState) -> FloatArray:
        """See `OrderBounds.question_bounds`."""
        if belief.stage + 1 >= self.problem.n_stages:
            return asking_once(belief)
        (flat, starts), n = unpad_tables(self.tables), len(self.tables)
        rows = np.full(n, len(flat) // max(n, 1)) if starts is None else np.diff(starts, append=len(flat))
        after, every = np.empty((len(belief), n)), np.repeat(np.arange(n), rows)[None]
        for part, some in row_parts(belief, 8.0 * 12 * flat.size):
            after[part] = by_question(
                self.decision_bounds(some, flat * latent_posterior(some)[:, None], every), n, starts
            )
        return np.where(belief.available, belief.prices + after, np.inf)


def asking_once(belief: BeliefState) -> FloatArray:
    """Cost of asking each question and then deciding, (n, n_questions); inf where it is not open."""
    after, may = belief.problem.structure.costs_after(np.arange(belief.problem.n_questions), belief), belief.available
    if belief.problem.limits.rules is not None:
        may = may & ~constraint_status(belief).must_continue_after
    return np.where(may, belief.prices + after, np.inf)


def optimal_cost(
    problem: AcquisitionProblem, *, n_stages: int | None = None, max_histories: int = MAX_HISTORIES
) -> float:
    """Optimal cost by backward recursion over every history that may be worth reaching.

    In a fixed order it is the cost of stopping at the best moments, in any order also of asking the best
    questions. If answers are independent given the class or hidden states, up to 20 million partial answers are listed
    in one array, some 40 bytes each. With rules or visits, with a budget where questions are in groups, and with
    questions that are alike, histories are visited one by one instead.
    If visits cost something, it is the optimum of asking one question at a time; `Panels` has the optimum over panels.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    n_stages : int, optional
        Cut the horizon here; what lies beyond is bounded from below by one more price and perfect knowledge, so the
        result is then a lower bound.
    max_histories : int
        Most histories to visit one by one; of those that are listed, or within a limit of questions or cost and
        looked at, twenty times as many.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are more histories than ``max_histories``; `certify` bounds the optimum by samples.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(optimal_cost(problem), 3)
    0.25
    """
    try:
        return float(optimal_costs(problem, [1.0], n_stages=n_stages, max_histories=max_histories)[0])
    except TooLarge as error:
        first = "raise it, or " if "max_histories" in error.what else ""
        scope = ", scope='all orders'" if problem.any_order else ""
        remedy = f"{first}bound the optimum: certify(problem, policy{scope})"
        raise TooLarge(f"optimal_cost: {error.what}", remedy) from None


def optimal_values(
    problem: Game,
    belief: BeliefState | npt.ArrayLike,
    *,
    stage: int = 0,
    max_histories: int = MAX_HISTORIES,
) -> pd.DataFrame:
    """What deciding now costs, and asking each open question and then going on as well as can be.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        The problem; where visits cost something, questions are asked one at a time.
    belief : BeliefState, or array-like of shape (n_classes,) or (n, n_classes)
        What is known of ``n`` cases; or P(class) alone.
    stage : int
        Where P(class) alone is given, in a fixed order: the stage at which it is looked at.
    max_histories : int
        Most histories to visit.

    Returns
    -------
    pandas.DataFrame
        As of `Policy.action_values`, exact: the least ``total`` is the optimal cost from here on.

    Raises
    ------
    ValueError
        If there are more histories than ``max_histories``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, optimal_values, with_names
    >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    >>> problem = with_names(TableProblem([0.5, 0.5], likelihoods, prices=0.1, any_order=True), ["test", "look"])
    >>> optimal_values(problem, [0.5, 0.5])["total"].round(3).to_dict()
    {'decide': 0.5, 'test': 0.25, 'look': 0.35}
    """
    problem, _ = game_of(problem)
    start = as_belief(problem, belief, stage)
    row, question = np.nonzero(start.available)
    cost: FloatArray = np.empty(0)
    try:
        after = ask_each(start, row, question, 1.0, ALL, max_histories)
        if after is not None:
            known = after.belief
            value = expand(known, problem.n_stages - known.stage, max_histories=max_histories).values(np.ones(1))[:, 0]
            paid = known.spent - start.spent[row][after.entry]
            cost = np.asarray(np.bincount(after.entry, after.weight * (paid + value), len(row)), dtype=np.float64)
    except TooLarge:
        raise ValueError(
            f"optimal_values: more than max_histories={max_histories} histories from {len(start)} beliefs; raise it, "
            "give fewer, or bound the optimum: certify(problem, policy, scope='all orders')."
        ) from None
    return action_frame(start, row, question, cost)


def optimal_costs(
    problem: AcquisitionProblem,
    multipliers: npt.ArrayLike,
    *,
    n_stages: int | None = None,
    max_histories: float = MAX_HISTORIES,
) -> FloatArray:
    """Optimal cost at several multipliers of the prices, by one enumeration."""
    check_problem(problem)
    factors = np.atleast_1d(check_costs(multipliers, "multipliers"))
    horizon = problem.n_stages
    if n_stages is not None:
        horizon = min(horizon, check_integer(n_stages, "n_stages", 0))
    alike = alike_questions(problem)
    # partial answers that are listed in the time of one history that is visited, about
    listable = 20 * max_histories
    # of what is alike fewer are visited, and of what is within a limit
    one_start = problem.structure.starts is None
    limited = problem.any_order and one_start and is_limited(problem) and are_few(problem, listable)
    whole = horizon == problem.n_stages and not alike and not limited
    if whole and (listed := PartialAnswers.from_problem(problem, listable)) is not None:
        return np.array([listed.solve(factor) for factor in factors.tolist()])
    # whatever is settled at the smallest prices is at all others
    belief, weight = initial_beliefs(problem)
    tree = expand(belief, horizon, float(factors.min()), listable if limited else max_histories, alike)
    return np.asarray(weight @ tree.values(factors))


class PartialAnswers:
    """Least costs from all partial answers, in any order, where answers depend on states alone, times their chances.

    A partial answer is a number: of each question a digit, its outcome, or the number of its outcomes where it was not
    asked. Times the chance of what was seen, costs are sums of what follows, and lie in one array by that number. Of
    questions that are ``gone`` no answer is to be had; they and those answered for ``nothing`` pay for no group, and
    some groups are ``paid`` for already. So many questions were ``asked``, and so much was ``spent``, beside the price
    of what was answered.
    """

    def __init__(
        self,
        problem: AcquisitionProblem,
        gone: BoolArray | None = None,
        nothing: BoolArray | bool = False,
        paid: BoolArray | bool = False,
        asked: int = 0,
        spent: float = 0.0,
    ) -> None:
        states = problem.structure.state_tables
        assert states is not None
        self.problem, self.gone = problem, np.zeros(problem.n_questions, dtype=bool) if gone is None else gone
        self.pays, self.paid = ~(self.gone | nothing), paid
        self.spent, self.longest = spent, min(int((~self.gone).sum()), problem.n_stages - asked)
        self.sizes = np.where(self.gone, 0, problem.n_outcomes) + 1
        self.steps = np.append(np.cumprod(self.sizes[:0:-1])[::-1], 1)
        factors = [np.vstack([table[: n - 1], np.ones(len(states[1]))]) for table, n in zip(states[0], self.sizes)]
        # so many are multiplied out at once
        half = int(np.searchsorted(np.cumsum(np.log(self.sizes[::-1])), np.log(2000)))
        first, rest = (_products(some) for some in (factors[: len(factors) - half], factors[len(factors) - half :]))
        first, costs = first * latent_posterior(problem.initial_belief()), problem.decision_costs[states[1]]
        self.chance, self.stopping = (np.empty(len(first) * len(rest)) for _ in range(2))
        for part in chunks(len(first), 8.0 * 2 * rest.size):
            joint = (first[part, None] * rest).reshape(-1, len(costs))
            where = slice(part.start * len(rest), part.stop * len(rest))
            self.chance[where], self.stopping[where] = joint.sum(axis=1), (joint @ costs).min(axis=1)
        known = np.zeros(1, dtype=np.uint8)
        for size in self.sizes.tolist():
            known = (known[:, None] + (np.arange(size) < size - 1).astype(np.uint8)).reshape(-1)
        self.order = np.argsort(known, kind="stable").astype(np.int32)
        self.first = np.append(0, np.cumsum(np.bincount(known)))
        self.costs = self.stopping

    @classmethod
    def from_problem(cls, problem: AcquisitionProblem, most: float) -> PartialAnswers | None:
        """All partial answers, if this serves."""
        return cls(problem) if cls.serves(problem, most) else None

    @staticmethod
    def serves(problem: AcquisitionProblem, most: float) -> bool:
        """Whether they tell what may be asked and its price, answers depend on states alone, and there are no more."""
        structure = problem.structure
        if not problem.any_order or structure.samples or structure.state_tables is None or not problem.n_questions:
            return False
        if any(one is not None for one in (problem.limits.rules, structure.starts, problem.visits)):
            return False
        if problem.limits.max_cost is not None and problem.groups is not None:  # what is left depends on who came first
            return False
        # no more are listed in one array: some 40 bytes each
        return bool(np.log(problem.n_outcomes + 1.0).sum() <= np.log(max(min(most, 2 * 10**7), 1)) + TIE)

    def solve(self, multiplier: float = 1.0) -> float:
        """Find all least costs at a multiple of the prices; that of the beginning."""
        self.costs = self.stopping.copy()
        for known in range(self.longest - 1, -1, -1):
            number = self.order[self.first[known] : self.first[known + 1]]
            for part in chunks(len(number), 8.0 * 2 * len(self.sizes), CACHE_BYTES):
                some = number[part]
                least = self.question_costs(some, multiplier).min(axis=1)
                self.costs[some] = np.minimum(self.costs[some], least)
        return float(self.costs[-1])

    def question_costs(self, number: IntArray, multiplier: float = 1.0) -> FloatArray:
        """Cost of asking each question after partial answers and going on as well as can be, (n, n_questions)."""
        costs = np.full((len(number), len(self.sizes)), np.inf)
        problem = self.problem
        opened = number[:, None] // self.steps.astype(number.dtype) % self.sizes.astype(number.dtype) == self.sizes - 1
        opened &= ~self.gone
        prices = prices_beside(problem, groups_paid_after(problem, ~opened & self.pays) | self.paid)
        if problem.limits.max_cost is not None:
            opened &= affords(
                problem.limits.max_cost, (self.spent + ~opened @ np.where(self.gone, 0.0, prices[0]))[:, None] + prices
            )
        prices = multiplier * prices
        for question, (step, size) in enumerate(zip(self.steps.tolist(), self.sizes.tolist())):
            rows = np.flatnonzero(opened[:, question])
            some = number[rows]
            price = prices[rows if len(prices) > 1 else 0, question]
            cost = price * self.chance[some]
            for outcome in range(1, size):
                cost += self.costs[some - outcome * step]
            costs[rows, question] = cost
        return costs

    def numbers(self, seen: IntArray) -> IntArray:
        """Numbers of partial answers, (n,)."""
        return np.asarray(np.where(seen < 0, self.sizes - 1, seen) @ self.steps)

    def plan(self) -> Plan:
        """What to ask after each partial answer that the best policy comes to, once all least costs are found."""
        plan: Plan = []
        begun, number = self.problem.initial_belief(), np.array([len(self.costs) - 1])
        while len(number):
            digits = number[:, None] // self.steps % self.sizes
            asked, costs = digits < self.sizes - 1, np.full(digits.shape, np.inf)
            if len(plan) < self.longest:
                costs = self.question_costs(number)
            question, least = cheapest_question(costs, self.problem)
            on = np.flatnonzero(least < self.stopping[number] * (1 - TIE))
            seen = np.where(asked, digits, OPEN).astype(observations(begun).dtype)
            keys = _evidence(self.problem, seen, groups_paid_after(self.problem, asked), asked @ self.problem.prices)
            order = np.argsort(keys)
            plan.append((keys[order], question[order], (least / self.chance[number])[order]))
            after = [np.empty(0, dtype=number.dtype)]
            # one by one, as some questions may have thousands of outcomes and others two
            for asks in np.unique(question[on]).tolist():
                outcome = np.arange(1, self.sizes[asks]) * self.steps[asks]
                after.append(np.subtract.outer(number[on[question[on] == asks]], outcome).ravel())
            number = np.unique(np.concatenate(after))
            number = number[self.chance[number] > 0]
        return plan


def _products(factors: Sequence[FloatArray]) -> FloatArray:
    """Products of a row of each factor, of the last one fastest, (n, n_states)."""
    products = np.ones((1, 1))
    for factor in factors:
        products = (products[:, None] * factor).reshape(-1, factor.shape[1])
    return products


@dataclass
class EnumeratedStage:
    """Histories of one level of an enumeration, and what each may ask.

    Attributes
    ----------
    belief : BeliefState
        The histories, those that saw the same as one.
    row, question, price : ndarray of shape (m,)
        Of each question that is asked its history, its number, and its price there.
    entry, weight, place : ndarray of shape (n_branches,)
        Of each branch that leads here the question of the level before, its probability, and the history it leads to.
    after : ndarray of shape (m,) or None
        Cost of deciding after each question, its price left out, if no other can follow; None where branches lead on.
    """

    belief: BeliefState
    row: IntArray
    question: IntArray
    price: FloatArray
    entry: IntArray
    weight: FloatArray
    place: IntArray
    after: FloatArray | None = None

    def ahead(self, multipliers: FloatArray) -> FloatArray:
        """Cost of each question after which one decides, (m, n_multipliers)."""
        after = np.empty(0) if self.after is None else self.after
        return after[:, None] + self.price[: len(after), None] * multipliers


class Enumeration:
    """All ways on from some histories, over a horizon; see `expand`."""

    def __init__(self, stages: list[EnumeratedStage]) -> None:
        self.stages = stages

    @property
    def _is_cut(self) -> bool:
        """Whether more might be asked after the last stage."""
        return self.stages[-1].after is None

    def values(self, multipliers: FloatArray) -> FloatArray:
        """Cost of the best way on of each first history at each multiplier of the prices, (n, n_multipliers)."""
        result = np.empty((len(self.stages[0].belief), len(multipliers)))
        for part in chunks(len(multipliers), 8.0 * 4 * max(len(s.belief) + s.row.size for s in self.stages)):
            [ahead] = deque(self._backward(multipliers[part], self._is_cut), maxlen=1)  # that of the first level
            result[:, part] = self._best(0, ahead, multipliers[part], bounded=self._is_cut and len(self.stages) == 1)
        return result

    def _backward(self, multipliers: FloatArray, bounded: bool) -> Iterator[FloatArray]:
        """Cost of each question, (m, n_multipliers), of each level from the last on; ``bounded``: beyond that too."""
        ahead = self.stages[-1].ahead(multipliers)
        for number in range(len(self.stages) - 1, 0, -1):
            yield ahead
            after, before = self.stages[number], self.stages[number - 1]
            value = self._best(number, ahead, multipliers, bounded and number == len(self.stages) - 1)
            ahead = before.price[:, None] * multipliers
            # the branches of a question lie side by side, and each has one at least
            starts = np.searchsorted(after.entry, np.arange(before.row.size))
            ahead += np.add.reduceat(after.weight[:, None] * value[after.place], starts, axis=0)
        yield ahead

    def plan(self) -> tuple[float, Plan]:
        """Cost of the best way on of the only first history, in any order, and what to ask after each history."""
        plan: Plan = []
        cost = np.inf
        for stage, costs in zip(self.stages, self.question_costs()):
            question, least = cheapest_question(costs, stage.belief.problem)
            if not plan:
                cost = min(float(stage.belief.stopping_cost[0]), float(least[0]))
            keys = evidence(stage.belief)
            order = np.argsort(keys)
            plan.append((keys[order], question[order], least[order]))
        return cost, plan

    def question_costs(self) -> list[FloatArray]:
        """Cost of asking each question and going on as well as can be, (n, n_questions) for each level."""
        by_level = []
        for stage, ahead in zip(reversed(self.stages), self._backward(np.ones(1), bounded=False)):
            costs = np.full((len(stage.belief), stage.belief.problem.n_questions), np.inf)
            costs[stage.row, stage.question] = ahead[:, 0]
            by_level.append(costs)
        return by_level[::-1]

    def _best(self, number: int, ahead: FloatArray, multipliers: FloatArray, bounded: bool) -> FloatArray:
        stage = self.stages[number]
        best = np.repeat(stage.belief.stopping_cost[:, None], len(multipliers), axis=1)
        if bounded:
            np.minimum(best, cost_lower_bound(stage.belief, multipliers), out=best)
        elif stage.row.size:
            first = np.flatnonzero(np.diff(stage.row, prepend=-1))
            rows = stage.row[first]
            best[rows] = np.minimum(best[rows], np.minimum.reduceat(ahead, first, axis=0))
        return best


def alike_questions(problem: AcquisitionProblem) -> list[IntArray]:
    """Questions that are the same but for their number: in any order which of them gave an answer is no matter."""
    states, structure = problem.structure.state_tables, problem.structure
    if not problem.any_order or states is None or structure.samples or problem.n_questions < 2:
        return []
    if any(one is not None for one in (problem.limits.rules, structure.starts, problem.groups, problem.bundles)):
        return []
    rows = np.column_stack([states[0].reshape(problem.n_questions, -1), problem.n_outcomes, problem.prices])
    _, kind, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return [np.flatnonzero(kind.reshape(-1) == number) for number in np.flatnonzero(count > 1).tolist()]


def expand(
    belief: BeliefState,
    depth: int,
    multiplier: float = 1.0,
    max_histories: float = np.inf,
    alike: Sequence[IntArray] = (),
    *,
    whole: bool = False,
) -> Enumeration:
    """Enumerate every way on from some histories that may be worth going.

    Of questions that are ``alike`` only the first that is open is asked, and how many gave each answer is all that is
    told apart: costs are the same, but a plan is not to be read off. Answers to the last question that a case can
    be asked are only listed where the ``whole`` is wanted.
    """
    last, problem = belief.stage + depth, belief.problem
    whole = whole or not problem.any_order or problem.structure.samples or problem.limits.rules is not None
    stages: list[EnumeratedStage] = []
    root = np.arange(len(belief))

    def ask(level: Level) -> Fork:
        nonlocal root
        root = root[level.parent]
        kept, place = merge_histories(level.belief, root, alike) if stages else (root, root)
        here = level.belief if len(kept) == len(level.belief) else level.belief[kept]
        row, question = open_questions(here, stopping_threshold(here) > cost_lower_bound(here, multiplier))
        if here.stage >= last:
            row, question = row[:0], question[:0]
        for same in alike:
            opened = here.available[:, same]
            other = opened & (np.arange(len(same)) > opened.argmax(axis=1)[:, None])
            spared = np.zeros(here.available.shape, dtype=bool)
            spared[:, same] = other
            wanted = ~spared[row, question]
            row, question = row[wanted], question[wanted]
        price = np.broadcast_to(here.prices, (len(here), here.problem.n_questions))[row, question]
        order = np.argsort(level.entry, kind="stable") if here.problem.any_order else slice(None)
        stage = EnumeratedStage(here, row, question, price, level.entry[order], level.weight[order], place[order])
        if not whole and here.stage < last and most_asked(here) <= 1:
            stage.after = (one_step_costs(here) - here.prices)[row, question]
            row, question = row[:0], question[:0]
        stages.append(stage)
        return Fork(kept[row], question, np.ones(row.size))

    walk_to_end(belief, np.ones(len(belief)), ask, max_histories=max_histories)
    return Enumeration(stages)


def most_asked(belief: BeliefState) -> int:
    """Most questions that any row can still be asked, in any order, by their number and what they cost at least."""
    problem = belief.problem
    most: int = problem.n_stages - belief.stage
    limit = problem.limits.max_cost if problem.any_order and problem.visits is None else None
    if limit is not None and len(belief):
        most = min(most, int(affords(limit, belief.spent.min() + np.cumsum(np.sort(problem.prices))).sum()))
    return most


def are_few(problem: AcquisitionProblem, most: float) -> bool:
    """Whether a problem in any order has so few partial answers, and so little work at each, that all are visited."""
    if most <= 0:
        return False
    counts = partial_answers(problem.n_outcomes, most_asked(problem.initial_belief()))
    width = problem.n_classes if problem.structure.latent is None else len(problem.structure.latent.classes)
    each = np.arange(len(counts)) * float(width)
    kept = counts
    if problem.limits.rules is None:  # the last answers are looked at all at once, and not kept
        # what an answer takes that is not followed, of what others take
        kept, each[-1] = counts[:-1], 0.1 * each[-1]
    most = min(_WITHIN_LIMITS if is_limited(problem) else FEW, most)
    # what may follow them, an answer to each open question times classes or hidden states, takes no long time either
    return bool(kept.sum() <= most and counts @ each <= 3e7)


def is_limited(problem: AcquisitionProblem) -> bool:
    """Whether no case can be asked all questions, in any order, and its last answers are looked at all at once."""
    return problem.limits.rules is None and most_asked(problem.initial_belief()) < problem.n_questions


def partial_answers(n_outcomes: IntArray, most: int) -> FloatArray:
    """How many partial answers there are to each number of questions, up to so many, (most + 1,)."""
    counts = np.zeros(most + 1)
    counts[0] = 1
    for size in n_outcomes.tolist():
        # where there are more partial answers they are not counted on
        counts[1:] = np.minimum(counts[1:] + size * counts[:-1], 1e100)
    return counts


def ask_once(belief: BeliefState, row: IntArray, question: IntArray, merged: bool = False) -> Level:
    """What follows when rows ask questions: a level whose ``entry`` numbers the pairs, each of weight one.

    Where it does not matter which outcome led to a belief, those that give the same may be ``merged``.
    """
    first, nothing = Fork(row, question, np.ones(row.size)), np.empty(0, dtype=np.intp)
    asks = iter([first, Fork(nothing, nothing, np.empty(0))])
    *_, last = walk(belief, np.ones(len(belief)), lambda level: next(asks), PlannedAnswers(merged))
    return last


def merge_histories(belief: BeliefState, root: IntArray, alike: Sequence[IntArray] = ()) -> tuple[IntArray, IntArray]:
    """Histories that saw the same, in whatever order and of whichever question alike, as one."""
    if belief.observed is None or not len(belief):
        return np.arange(len(belief)), np.arange(len(belief))
    seen = belief.observed
    if alike:
        seen = seen.copy()
        for same in alike:
            seen[:, same] = np.sort(seen[:, same], axis=1)
    _, kept, place = np.unique(evidence(belief, root, seen=seen), return_index=True, return_inverse=True)
    # in their own order, so that where all are distinct nothing moves
    order = np.argsort(kept)
    return kept[order], np.argsort(order)[place.reshape(-1)]


def open_questions(belief: BeliefState, where: BoolArray) -> tuple[IntArray, IntArray]:
    """Rows and numbers of the questions that are open to the rows meant, those of a row side by side."""
    if not belief.problem.any_order:
        row = np.flatnonzero(where) if belief.stage < belief.problem.n_stages else np.empty(0, dtype=np.intp)
        return row, np.full(row.size, belief.stage)
    rows = np.flatnonzero(where)
    at, question = np.nonzero(belief.available[rows])
    return rows[at], question
