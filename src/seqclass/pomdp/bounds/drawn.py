"""Costs that no order of questions beats, with a stated confidence: the best that could be done on drawn cases."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, row_sums
from seqclass.pomdp.answers import SampledAnswers
from seqclass.pomdp.bounds.optimum import row_keys
from seqclass.pomdp.bounds.search import Grown, OrderSearch, ranges
from seqclass.pomdp.information import TIE
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import everything, opened, walk

__all__: list[str] = []


#: Cases that are drawn at once, each of which may look at all tables.
_TOGETHER = 1000


class DrawnCases(NamedTuple):
    """Cases drawn from a problem: all their answers, and what each decision is expected to cost given all of these.

    Attributes
    ----------
    answers : ndarray of int of shape (n, n_questions)
        What each question shows.
    costs : ndarray of shape (n, n_decisions)
        Expected cost of each decision, the class unknown.
    """

    answers: IntArray
    costs: FloatArray

    @classmethod
    def of(cls, problem: AcquisitionProblem, n: int, rng: np.random.Generator) -> DrawnCases:
        """Draw cases from a free problem of one start."""
        parts = [cls._part(problem, min(_TOGETHER, n - first), rng) for first in range(0, n, _TOGETHER)]
        return cls(*(np.concatenate(column) for column in zip(*parts)))

    @classmethod
    def _part(cls, problem: AcquisitionProblem, n: int, rng: np.random.Generator) -> DrawnCases:
        drawn = problem.draw_cases(n, rng)
        if drawn is not None:
            return cls(drawn, problem.belief_of(drawn) @ problem.decision_costs)
        # what no budget limits costs no more
        plain = problem.replace(max_questions=None, max_cost=None, rules=None)
        answers = SampledAnswers(rng)
        *_, last = walk(*opened(plain, float(n), answers), everything, answers)
        assert last.info.seen is not None
        rows = np.repeat(np.arange(len(last.weight)), last.weight.astype(np.int64))
        return cls(np.asarray(last.info.seen[rows], dtype=np.intp), (last.info.belief @ problem.decision_costs)[rows])


class _Nodes:
    """Partial answers of drawn cases; reads as the information states of a search do.

    Attributes
    ----------
    member, size
        Cases that gave each, side by side, and how many.
    asked : ndarray of bool of shape (n, n_questions)
    stopping_cost, known : ndarray of shape (n,)
        Mean cost of the best decision, and that of cases each of which has its own.
    """

    #: What there is of each node but its cases.
    _NAMES = ("size", "first", "asked", "stopping_cost", "known", "prices")

    def __init__(self, member: IntArray, size: IntArray, **of_each: npt.NDArray[Any]) -> None:
        self.member, self.size = member, size
        self.first: IntArray = np.asarray(np.cumsum(size) - size)
        self.asked, self.stopping_cost = of_each["asked"], of_each["stopping_cost"]
        self.known, self.prices = of_each["known"], of_each["prices"]
        self._grown: Grown | None = None

    def __len__(self) -> int:
        return len(self.size)

    @property
    def open(self) -> BoolArray:
        return ~self.asked

    def __getitem__(self, rows: IntArray) -> _Nodes:
        member = self.member[ranges(self.first[rows], self.size[rows])]
        return _Nodes(member, **{name: getattr(self, name)[rows] for name in self._NAMES if name != "first"})

    @classmethod
    def concatenate(cls, parts: Sequence[_Nodes]) -> _Nodes:
        """Nodes of two, in the room behind those of the first where it has any."""
        before, after = parts
        grown = before._grown or Grown({name: getattr(before, name) for name in ("member", *cls._NAMES)})
        before._grown = None  # nobody else writes into that room
        found = copy(before)
        found._grown = grown
        more = {name: getattr(after, name) for name in ("member", *cls._NAMES)}
        vars(found).update(grown.add(more | {"first": after.first + before.member.size}))
        return found


class DrawnSearch(OrderSearch):
    """AO* over the partial answers of drawn cases: the least mean cost that any policy has on them, and no less.

    Whoever decides knows that the case is one of those drawn, so that with few cases left hardly anything is unknown:
    the least mean cost is below the optimum in expectation, and above it by chance alone. Where the search has not come
    to, one more price is paid, and all other answers are known.
    """

    def __init__(self, problem: AcquisitionProblem, cases: DrawnCases) -> None:
        self.problem, self.cases = problem, cases
        self.least: FloatArray = cases.costs.min(axis=1)
        #: Answers that were looked at so far.
        self.work = 0
        n = len(cases.costs)
        self._start(self._nodes(np.arange(n), np.array([n]), np.zeros((1, problem.n_questions), dtype=bool)))

    def lower(self, z: float) -> float:
        """What no policy costs less than, by so many standard errors."""
        costs = self.costs_of_cases()
        return max(self.low - z * float(costs.std()) / float(np.sqrt(len(costs))), 0.0)

    def _nodes(self, member: IntArray, size: IntArray, asked: BoolArray) -> _Nodes:
        first = np.cumsum(size) - size
        stop = np.add.reduceat(self.cases.costs[member], first, axis=0).min(axis=1) / size
        known = np.add.reduceat(self.least[member], first) / size
        prices = np.broadcast_to(self.problem.prices_beside(self.problem.paid_after(asked)), asked.shape)
        return _Nodes(member, size, asked=asked, stopping_cost=stop, known=known, prices=prices)

    def _keys(self, info: Any) -> npt.NDArray[np.bytes_]:
        return row_keys([np.where(info.asked, self.cases.answers[info.member[info.first]], -1).astype(np.int32)])

    def _tips(self, info: Any) -> tuple[FloatArray, FloatArray]:
        cheapest = np.where(info.asked, np.inf, self.problem.prices).min(axis=1, initial=np.inf)
        return np.minimum(info.stopping_cost, cheapest + info.known), info.stopping_cost.copy()

    def _costs(self, info: Any) -> tuple[FloatArray, FloatArray]:
        n, n_questions = len(info), self.problem.n_questions
        self.work += info.member.size * n_questions
        prices = np.where(info.asked, np.inf, info.prices)
        low, once = prices.copy(), prices.copy()
        node: IntArray = np.repeat(np.arange(n), info.size)
        left = np.where(info.asked, np.inf, self.problem.prices)
        costs, least = self.cases.costs[info.member], self.least[info.member]
        for question in range(n_questions):
            width = int(self.problem.n_outcomes[question])
            place = node * width + self.cases.answers[info.member, question]
            stop = np.bincount(place, costs[:, 0], n * width).astype(np.float64)
            for cost in costs.T[1:]:
                np.minimum(stop, np.bincount(place, cost, n * width), out=stop)
            others = np.delete(left, question, axis=1).min(axis=1, initial=np.inf)
            count = np.bincount(place, minlength=n * width)
            further = np.where(count > 0, np.repeat(others, width), 0.0) * count
            after: FloatArray = np.minimum(stop, further + np.bincount(place, least, n * width))
            once[:, question] += row_sums(stop.reshape(n, width)) / info.size
            low[:, question] += row_sums(after.reshape(n, width)) / info.size
        return low, once

    def _asked(self, info: Any, row: IntArray, question: IntArray) -> tuple[Any, IntArray, FloatArray]:
        size, first = info.size[row], info.first[row]
        member = info.member[ranges(first, size)]
        pair: IntArray = np.repeat(np.arange(len(row)), size)
        widest = int(self.problem.n_outcomes.max())
        place = pair * widest + self.cases.answers[member, question[pair]]
        order = np.argsort(place, kind="stable")
        begun = np.flatnonzero(np.diff(place[order], prepend=-1))
        count = np.diff(begun, append=len(place))
        entry = pair[order[begun]]
        asked = info.asked[row[entry]]
        asked[np.arange(len(entry)), question[entry]] = True
        return self._nodes(member[order], count, asked), entry, count / size[entry]

    def costs_of_cases(self) -> FloatArray:
        """What each case costs by what is known of the best policy."""
        result = np.empty(len(self.least))
        reached, paid = np.zeros(1, dtype=np.intp), np.zeros(1)
        for layer in self.layers:
            info = layer.info[reached]
            choice = np.full(len(layer.info), -1)
            if layer.rows.size:
                choice[layer.rows] = layer.best(layer.choices.low)
            choice = choice[reached]
            decides = layer.low[reached] >= info.stopping_cost * (1 - TIE)
            follows = ~decides & (choice >= 0)
            follows[follows] = layer.choices.n_branches[choice[follows]] > 0
            self._end(result, info, np.where(decides, np.nan, layer.low[reached]) + paid, paid, ~follows)
            on = choice[follows]
            count = layer.choices.n_branches[on]
            paid = np.repeat(paid[follows] + layer.choices.price[on], count)
            reached = layer.target[ranges(layer.choices.first[on], count)]
            if not reached.size:
                break
        return result

    def _end(self, result: FloatArray, info: _Nodes, mean: FloatArray, paid: FloatArray, ends: BoolArray) -> None:
        """Note the costs of the cases of nodes that end: by the node's decision, or where it has none by their own."""
        node = np.repeat(np.arange(len(info)), info.size)
        costs = self.cases.costs[info.member]
        best = np.add.reduceat(costs, info.first, axis=0).argmin(axis=1)
        known = (mean - info.known)[node] + self.least[info.member]
        decided = paid[node] + costs[np.arange(len(node)), best[node]]
        value = np.where(np.isnan(mean)[node], decided, known)
        result[info.member[ends[node]]] = value[ends[node]]
