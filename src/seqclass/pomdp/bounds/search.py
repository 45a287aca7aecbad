"""AO*: the search over partial answers for the best question after each, with bounds that close in on the optimum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.progress import DeadlineExceeded, check_deadline, time_limit
from seqclass.pomdp.bounds.optimum import OnePriceBounds, OrderBounds, Plan, ask_once, asking_once, evidence
from seqclass.pomdp.one_step import cost_lower_bound, finishing_cost, stopping_is_certain, stopping_threshold
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.walk import join_beliefs

__all__: list[str] = []


class SearchNodes(Protocol):
    """What a search asks of a batch of partial answers: see `BeliefState`."""

    @property
    def available(self) -> BoolArray: ...

    @property
    def prices(self) -> FloatArray: ...

    @property
    def stopping_cost(self) -> FloatArray: ...

    def __len__(self) -> int: ...

    def __getitem__(self: N, rows: IntArray) -> N: ...


N = TypeVar("N", bound=SearchNodes)


class _Choices(NamedTuple):
    """Questions that partial answers may ask, those of a partial answer side by side."""

    row: IntArray
    question: IntArray
    price: FloatArray
    low: FloatArray
    high: FloatArray
    #: Branches of those that were followed, none of all others.
    first: IntArray
    n_branches: IntArray


class _Layer(Generic[N]):
    """Partial answers of equally many questions: the nodes of the search, and what leads on from them."""

    def __init__(self, nodes: N, low: FloatArray, high: FloatArray, keys: list[bytes]) -> None:
        self.nodes = nodes
        self.place = {key: number for number, key in enumerate(keys)}
        self.low, self.high = low, high
        self.opened = np.zeros(len(nodes), dtype=bool)
        nothing, none = np.empty(0), np.empty(0, dtype=np.intp)
        self.choices = _Choices(none, none, nothing, nothing, nothing, none, none)
        #: Rows that were opened, in the order of their choices.
        self.rows, self.starts, self.own = none, none, np.zeros(len(nodes), dtype=np.intp)
        #: Of each branch its choice, probability, and where in the next layer it leads.
        self.choice, self.weight, self.target = none, nothing, none

    def grow(self, **more: npt.NDArray[Any]) -> None:
        """Put more at the ends of arrays of these names."""
        for name, array in more.items():
            setattr(self, name, np.concatenate([getattr(self, name), array]))

    @property
    def gap(self) -> FloatArray:
        """Distance of the bounds of each node, 0 where it is a tie."""
        left = self.high - self.low
        return np.where(left > TIE * self.high, left, 0.0)

    def add(self, nodes: N, low: FloatArray, high: FloatArray, keys: list[bytes]) -> None:
        """Take nodes that have more of them at their end."""
        self.place.update(zip(keys, range(len(self.nodes), len(self.nodes) + len(keys))))
        self.nodes, n = nodes, len(keys)
        self.grow(low=low, high=high, opened=np.zeros(n, dtype=bool), own=np.zeros(n, dtype=np.intp))

    def add_choices(self, rows: IntArray, low: FloatArray, once: FloatArray) -> None:
        """Note the questions of some nodes that may be the best, given bounds of each: of going on, of one question."""
        nodes = self.nodes[rows]
        high = np.minimum(self.high[rows], once.min(axis=1, initial=np.inf))
        at, question = np.nonzero((low <= high[:, None] * (1 + TIE)) & nodes.available)
        prices = np.broadcast_to(nodes.prices, low.shape)[at, question]
        none = np.zeros(at.size, dtype=np.intp)
        choices = _Choices(rows[at], question, prices, low[at, question], once[at, question], none, none)
        kept = np.unique(at)
        starts = self.choices.row.size + np.flatnonzero(np.diff(at, prepend=-1))
        self.own[rows[kept]] = self.rows.size + np.arange(kept.size)
        self.grow(rows=rows[kept], starts=starts)
        columns: Any = zip(self.choices, choices)
        self.choices = _Choices(*map(np.concatenate, columns))
        self.opened[rows] = True
        # of those without a question that may be better than what is known, that is the optimum
        closed = np.setdiff1d(rows, rows[kept])
        self.high[rows] = high
        self.low[closed] = self.high[closed]

    def best(self, values: FloatArray) -> IntArray:
        """Of each opened row that has choices, in the order of `rows`, the choice of least value."""
        least = np.minimum.reduceat(values, self.starts)
        size = np.diff(self.starts, append=values.size)
        first = np.flatnonzero(values <= np.repeat(least * (1 + TIE), size))
        return np.asarray(first[np.searchsorted(first, self.starts)])

    def back_up(self, after: _Layer[N]) -> None:
        """Carry the bounds of the next layer into this one's."""
        choices, n = self.choices, self.choices.row.size
        asked = choices.n_branches > 0
        for mine, own, theirs, tighter in (
            (choices.low, self.low, after.low, np.maximum),
            (choices.high, self.high, after.high, np.minimum),
        ):
            cost = choices.price + np.bincount(self.choice, self.weight * theirs[self.target], minlength=n)
            mine[asked] = tighter(mine[asked], cost[asked])
            best = np.minimum.reduceat(mine, self.starts)
            best = np.minimum(best, self.nodes.stopping_cost[self.rows])
            own[self.rows] = tighter(own[self.rows], best)
        np.minimum(self.low, self.high, out=self.low)


class _Frontier(NamedTuple):
    """Where a layer may be looked at further: rows, the choice of each or -1 where it was not opened, and what for."""

    row: IntArray
    choice: IntArray
    worth: FloatArray


class Search(ABC, Generic[N]):
    """AO* over partial answers: lower and upper bounds of the optimum over all orders, at any time."""

    layers: list[_Layer[N]]

    @property
    def low(self) -> float:
        """No policy costs less, over all orders."""
        return float(self.layers[0].low[0])

    @property
    def high(self) -> float:
        """Cost that can be had."""
        return float(self.layers[0].high[0])

    @property
    def n_nodes(self) -> int:
        """Number of partial answers that are known."""
        return sum(len(layer.nodes) for layer in self.layers)

    def run(
        self,
        max_nodes: float = np.inf,
        max_seconds: float = np.inf,
        tolerance: float = 0.0,
        max_lots: float = np.inf,
    ) -> bool:
        """Search on; up to so many passes through all that is known, where each looks at little."""
        n_lots = 0
        try:
            with time_limit(max_seconds):
                while self.high - self.low > max(tolerance, TIE) * self.high:
                    check_deadline()
                    left = max_nodes - self.n_nodes
                    if left <= 0 or n_lots >= max_lots:
                        return False
                    n_lots += 1
                    frontier = self._frontier()
                    if not any(part.row.size for part in frontier):
                        break  # what is left between the bounds is rounding
                    self._lot(frontier, left)
        except DeadlineExceeded:
            return False
        return True

    def _lot(self, frontier: list[_Frontier], left: float) -> None:
        try:
            self._expand(frontier, left)
        finally:  # also when the time is up on the way: what was opened by then holds
            for layer, after in reversed(list(zip(self.layers, self.layers[1:]))):
                layer.back_up(after)

    def _start(self, nodes: N) -> None:
        self.layers = [_Layer(nodes, *self._tips(nodes), self._keys(nodes).tolist())]

    @abstractmethod
    def _keys(self, nodes: N) -> npt.NDArray[np.bytes_]:
        """What partial answers have seen, in whatever order."""

    @abstractmethod
    def _costs(self, nodes: N) -> tuple[FloatArray, FloatArray]:
        """Bounds of asking each question: of going on from below, and what it costs to decide after it."""

    @abstractmethod
    def _ask_pairs(self, nodes: N, row: IntArray, question: IntArray) -> tuple[N, IntArray, FloatArray]:
        """What follows when rows ask questions: partial answers, of each the pair it comes from, and its share."""

    @abstractmethod
    def _join(self, parts: Sequence[N]) -> N:
        """Put the partial answers of several batches together, one after the other."""

    @abstractmethod
    def _tips(self, nodes: N) -> tuple[FloatArray, FloatArray]:
        """Bounds of partial answers that were not opened."""

    def _frontier(self) -> list[_Frontier]:
        """Where the questions of least lower bound lead to what was not looked at."""
        frontiers = []
        reach: FloatArray = np.ones(1)
        for number, layer in enumerate(self.layers):
            left = layer.gap
            active = (reach > 0) & (left > 0)
            fresh = np.flatnonzero(active & ~layer.opened)
            choice: IntArray = np.empty(0, dtype=np.intp)
            if layer.rows.size:
                on = active & layer.opened
                choice = layer.best(layer.choices.low)
                rows = layer.rows
                keep = on[rows] & (layer.choices.low[choice] < layer.nodes.stopping_cost[rows])
                choice = choice[keep]
            asked = layer.choices.n_branches[choice] > 0
            unasked, followed = choice[~asked], choice[asked]
            row = np.concatenate([fresh, layer.choices.row[unasked]])
            frontiers.append(_Frontier(row, np.concatenate([np.full(fresh.size, -1), unasked]), (reach * left)[row]))
            if number + 1 < len(self.layers):
                count = layer.choices.n_branches[followed]
                branch = ranges(layer.choices.first[followed], count)
                weight = layer.weight[branch] * np.repeat(reach[layer.choices.row[followed]], count)
                n_after = len(self.layers[number + 1].nodes)
                reach = np.bincount(layer.target[branch], weight, minlength=n_after).astype(np.float64)
        return frontiers

    def _expand(self, frontier: list[_Frontier], left: float) -> None:
        """Open and follow what weighs most."""
        worth = np.concatenate([part.worth for part in frontier])
        # of the partial answers that are known, the share that is looked at further between two passes through all of
        # them
        most = int(min(max(32, 0.1 * self.n_nodes), max(left, 1), worth.size))
        least = np.partition(worth, worth.size - most)[worth.size - most]
        for number, part in enumerate(frontier):
            chosen = part.worth >= least * (1 - TIE)
            self._follow(number, part.row[chosen], part.choice[chosen])

    def _follow(self, number: int, row: IntArray, choice: IntArray) -> None:
        layer = self.layers[number]
        fresh = row[choice < 0]
        choice = choice[choice >= 0]
        if fresh.size:
            layer.add_choices(fresh, *self._costs(layer.nodes[fresh]))
            rest = fresh[layer.gap[fresh] > 0]
            if rest.size:
                choice = np.concatenate([choice, layer.best(layer.choices.low)[layer.own[rest]]])
        if choice.size:
            self._ask(number, np.sort(choice))

    def _ask(self, number: int, choice: IntArray) -> None:
        layer = self.layers[number]
        nodes, entry, weight = self._ask_pairs(layer.nodes, layer.choices.row[choice], layer.choices.question[choice])
        order = np.argsort(entry, kind="stable")
        target = self._merge(number + 1, nodes)[order]
        count = np.bincount(entry, minlength=choice.size)
        layer.choices.n_branches[choice] = count
        layer.choices.first[choice] = layer.choice.size + np.cumsum(count) - count
        layer.grow(choice=choice[entry[order]], weight=weight[order], target=target)

    def _merge(self, number: int, nodes: N) -> IntArray:
        """Node of each row, of which those that are new are added."""
        keys, kept, place = np.unique(self._keys(nodes), return_index=True, return_inverse=True)
        if number == len(self.layers):
            some = nodes[kept]
            self.layers.append(_Layer(some, *self._tips(some), keys.tolist()))
            return np.asarray(place.reshape(-1))
        layer, names = self.layers[number], keys.tolist()
        known = np.array([layer.place.get(key, -1) for key in names], dtype=np.intp)
        new = np.flatnonzero(known < 0)
        known[new] = len(layer.nodes) + np.arange(new.size)
        if new.size:
            some = nodes[kept[new]]
            layer.add(self._join([layer.nodes, some]), *self._tips(some), [names[at] for at in new.tolist()])
        return np.asarray(known[place.reshape(-1)])


class OrderSearch(Search[BeliefState]):
    """A search over what may be known in a problem, with bounds of its own from below."""

    def __init__(self, problem: AcquisitionProblem, bounds: OrderBounds | None = None) -> None:
        self.problem = problem
        self.bounds = OnePriceBounds(problem) if bounds is None else bounds
        self._start(problem.initial_belief())

    def _keys(self, nodes: BeliefState) -> npt.NDArray[np.bytes_]:
        return evidence(nodes)

    def _costs(self, nodes: BeliefState) -> tuple[FloatArray, FloatArray]:
        return self.bounds.question_bounds(nodes), asking_once(nodes)

    def _ask_pairs(
        self, nodes: BeliefState, row: IntArray, question: IntArray
    ) -> tuple[BeliefState, IntArray, FloatArray]:
        level = ask_once(nodes, row, question)
        return level.belief, level.entry, level.weight

    def _join(self, parts: Sequence[BeliefState]) -> BeliefState:
        return join_beliefs(parts)

    def _tips(self, nodes: BeliefState) -> tuple[FloatArray, FloatArray]:
        low, high = nodes.stopping_cost.copy(), finishing_cost(nodes).copy()
        rows = np.flatnonzero(~stopping_is_certain(nodes))
        if rows.size:
            some = nodes[rows]
            high[rows] = np.minimum(high[rows], asking_once(some).min(axis=1, initial=np.inf))
            low[rows] = self.bounds.lower(some)
            if self.problem.limits.rules is not None:
                low[rows] = np.maximum(low[rows], np.minimum(some.stopping_cost, cost_lower_bound(some)))
        return np.minimum(low, high), high

    def plan(self) -> Plan:
        """What to do after each partial answer that is known to matter: keys and questions, a layer an entry."""
        plan, reached = [], np.ones(1, dtype=bool)
        for number, layer in enumerate(self.layers):
            keys = evidence(layer.nodes)
            question = np.full(len(layer.nodes), DECIDE)
            following: BoolArray = np.zeros(0, dtype=bool)
            if layer.rows.size:
                choice = layer.best(layer.choices.high)
                on = layer.choices.high[choice] < stopping_threshold(layer.nodes)[layer.rows]
                question[layer.rows[on]] = layer.choices.question[choice[on]]
                followed = choice[on & reached[layer.rows]]
                if number + 1 < len(self.layers):
                    following = np.zeros(len(self.layers[number + 1].nodes), dtype=bool)
                    branch = ranges(layer.choices.first[followed], layer.choices.n_branches[followed])
                    following[layer.target[branch]] = True
            rows = np.flatnonzero(reached & layer.opened)
            rows = rows[np.argsort(keys[rows])]
            plan.append((keys[rows], question[rows], np.full(len(rows), np.nan)))
            if not following.any():
                break
            reached = following
        return plan


def ranges(first: IntArray, count: IntArray) -> IntArray:
    """Whole numbers from each of some first ones on, as many as each has, one after the other."""
    return np.arange(count.sum()) + np.repeat(first - np.cumsum(count) + count, count)
