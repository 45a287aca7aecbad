"""Costs that no order of questions beats, for any number of classes: a hint leaves few hidden states to tell apart."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from seqclass._utils.arrays import FloatArray, IntArray, lower_envelope
from seqclass._utils.progress import look
from seqclass.pomdp._simplex import SimplexGrid, grid_size
from seqclass.pomdp.bounds.optimum import OrderBounds, StateBounds
from seqclass.pomdp.bounds.repeats import (
    BeliefProgram,
    LogOddsLine,
    RepeatValues,
    ValuesOfSets,
    has_repeats,
    told_apart,
)
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.table_problem import TableProblem

__all__: list[str] = []


#: Of more hidden states a hint would leave too much untold to search for long; certificates take up to so many.
_MOST_STATES, MANY_STATES = 16, 100
#: Distance in log-odds for two states, steps along an edge for three and four; of many states, pairs alone are looked
#: at, and these coarsely and for less time.
_DISTANCE, _STEPS = 0.05, {3: 30, 4: 20}
_COARSE, _LESS = 2.0, 0.1
#: Products of all programs together, and of those of one size: a few seconds.
_MOST_WORK, _MOST_ONCE, _MOST_FREE, _ROUNDS = 2e9, 14, 4, 3
#: Iterations that a program is reckoned to take.
_ITERATIONS = 40
#: Points of a line between two states, about.
_LINE = 400
#: Weights of grid points, and differences of answers, below this are rounding.
_NOTHING = 1e-12
_TINY = np.finfo(float).tiny
#: The mixture is found where no point is farther above it than this share of the largest value.
_CLOSE = 1e-6


def has_hints(problem: AcquisitionProblem, most_states: int = MANY_STATES) -> bool:
    """Whether `HintedValues` serves a problem: answers depend on hidden states alone, and these are not too many."""
    states = None if problem.samples else problem.state_tables
    return states is not None and 2 <= len(states[1]) <= most_states


def bounds_of(problem: AcquisitionProblem, most_states: int = _MOST_STATES) -> OrderBounds | None:
    """The best bounds over all orders that there are for a problem; None where there are none but one price more."""
    if problem.samples or not problem.n_questions:
        return None
    if has_repeats(problem):
        return RepeatValues(problem)
    return HintedValues(problem) if has_hints(problem, most_states) else None


class _Face(ValuesOfSets):
    """The program of a few hidden states that a hint has left, and how likely each gives that hint."""

    _program: BeliefProgram | None = None

    def __init__(
        self, problem: AcquisitionProblem, tables: FloatArray, costs: FloatArray, states: IntArray, distance: float
    ) -> None:
        self.states, size = states, len(states)
        own = np.ascontiguousarray(tables[:, :, states])
        self.problem = TableProblem(
            np.full(size, 1 / size),
            own,
            problem.prices,
            costs[states],
            n_outcomes=problem.n_outcomes,
            groups=problem.groups,
            full_prices=problem.full_prices,
            free=True,
        )
        self.grid = LogOddsLine.of(self.problem, distance) if size == 2 else SimplexGrid(size, _STEPS[size])
        self._tables, program = own, BeliefProgram(self.problem, own, self.grid)
        # what is free of charge would tell all if it were asked again
        free = np.flatnonzero((problem.prices == 0) & (problem.n_outcomes > 1))
        self.once = free[:_MOST_FREE].tolist()
        self.values, self._stop = program.solve(self.once, program.begin()), program.stop
        self.share: FloatArray = np.zeros(size)

    def points(self) -> FloatArray:
        """Lower bounds at the grid's points, (n_points,)."""
        return np.asarray(np.minimum(self.values[0], self._stop))

    def forget_program(self) -> None:
        """Leave what only programs need, which is large."""
        self._program = None

    def tell_apart(self, prior: FloatArray, most_work: float) -> bool:
        """Let fewer of the questions be asked again; whether there was anything to gain."""
        if self._program is None:  # only the few that are chosen keep theirs
            self._program = BeliefProgram(self.problem, self._tables, self.grid)
        before, mass = len(self.once), self.share * prior[self.states]
        self.once, self.values = told_apart(
            self._program, self.once, self.values, mass / mass.sum(), _MOST_ONCE, most_work
        )
        return len(self.once) > before


class HintedValues(StateBounds):
    """Optimal costs of a relaxed problem: a hint at the start names a few hidden states, one of which is the case's.

    The hint costs nothing, and whoever has it may ignore it, so that no policy without it costs less than the best one
    with it. Given the hint few states are left, whose program `RepeatValues` describes. How likely each state gives
    each hint is free; a linear program over the points of all grids finds the hints that help the least.

    Attributes
    ----------
    value : float
        No policy costs less, over all orders.
    """

    def __init__(self, problem: AcquisitionProblem, most_work: float = _MOST_WORK) -> None:
        super().__init__(problem)
        states = problem.state_tables
        if states is None or not has_hints(problem):
            raise ValueError(f"HintedValues is for answers that depend on at most {MANY_STATES} hidden states alone.")
        many = len(states[1]) > _MOST_STATES
        sizes = [2] if many else [2, *_STEPS]
        work, self._coarser = most_work * (_LESS if many else 1.0), _COARSE if many else 1.0
        self._share = work / len(sizes)
        self.tables, classes = states
        self.costs: FloatArray = problem.decision_costs[classes]
        self._perfect: FloatArray = self.costs.min(axis=1)
        begun, weight = problem.opening()
        self.prior = weight @ begun.states
        self.faces: list[_Face] = []
        n_states = int(np.count_nonzero(self.prior))
        self._choose()
        for size in sizes:
            if size > n_states:
                break
            for some in self._candidates(size):
                look()
                distance = _DISTANCE * self._coarser
                self.faces.append(_Face(problem, self.tables, self.costs, np.array(some), distance))
            self._choose()
        work /= _ITERATIONS
        for _ in range(_ROUNDS):
            chosen = [face for face in self.faces if face.share.any()]
            gained = [face.tell_apart(self.prior, work / len(chosen)) for face in chosen]
            if not any(gained):
                break
            self._choose()
        self.faces = [face for face in self.faces if face.share.any()]
        for face in self.faces:
            face.forget_program()

    def _candidates(self, size: int) -> list[tuple[int, ...]]:
        """Sets of states that are hard to tell apart, for each state the hardest first, as many as the work allows."""
        possible = np.flatnonzero(self.prior > 0)
        sets = np.array(list(combinations(possible.tolist(), size)), dtype=np.intp).reshape(-1, size)
        alike = np.zeros(len(sets))
        for i, j in combinations(range(size), 2):
            alike += self._likeness[sets[:, i], sets[:, j]]
        sets = sets[np.argsort(-alike, kind="stable")][: np.count_nonzero(alike)]
        rank: IntArray = np.full(len(sets), len(sets))
        for state in possible:
            own = (sets == state).any(axis=1)
            rank[own] = np.minimum(rank[own], np.arange(own.sum()))
        n_points = _LINE / self._coarser if size == 2 else grid_size(size, _STEPS[size])
        work = _ITERATIONS * n_points * size * float(self.problem.n_outcomes.sum())
        most = max(int(self._share / work), 1)
        return [tuple(some) for some in sets[np.argsort(rank, kind="stable")[:most]].tolist()]

    @cached_property
    def _likeness(self) -> FloatArray:
        """How much has to be paid to tell two states apart, (n_states, n_states); 0 where one decision suits both."""
        rate = np.zeros((len(self.prior), len(self.prior)))
        least = 0.01 * self.problem.prices.mean() + 1e-6 * self.costs.max() + _TINY
        prices = np.maximum(self.problem.prices, least)
        for table, price in zip(np.sqrt(self.tables), prices):
            distance = -np.log(np.clip(table.T @ table, _TINY, 1.0))
            np.maximum(rate, distance / price, out=rate)
        suits = self.costs <= self._perfect[:, None]
        return np.where(suits.astype(np.float64) @ suits.T > 0, 0.0, 1 / np.maximum(rate, _NOTHING))

    def _choose(self) -> None:
        """Find the hints that help the least: the prior as a mixture of grid points, of the dearest there is."""
        n_states = len(self.prior)
        first = np.cumsum([n_states, *(len(face.grid.points) for face in self.faces)])
        points = np.zeros((int(first[-1]), n_states))
        points[:n_states] = np.eye(n_states)
        values = np.concatenate([self._perfect, *(face.points() for face in self.faces)])
        for face, begin, end in zip(self.faces, first, first[1:]):
            points[begin:end, face.states] = face.grid.points
        weight = _mixture(points, values, self.prior, np.concatenate([[0], first[:-1]]))
        mass = weight @ points
        scale = self.prior / np.maximum(mass, _TINY)  # rounding must not give more of a state than there is
        self._untold: FloatArray = weight[:n_states] * scale / np.maximum(self.prior, _TINY)
        for face, begin, end in zip(self.faces, first, first[1:]):
            own = (weight[begin:end] @ face.grid.points) * scale[face.states]
            face.share = own / np.maximum(self.prior[face.states], _TINY)
        begun, weight_of = self.problem.opening()
        self.value = float(weight_of @ self.lower(begun))

    def known(self, info: InformationState, states: FloatArray, question: IntArray | None = None) -> FloatArray:
        """See `StateBounds.known`."""
        hinted: FloatArray = states @ (self._untold * self._perfect)
        for face in self.faces:
            if face.share.any():
                hinted += face.known(info, states[..., face.states] * face.share, question)
        one_price = states @ (self.problem.prices.min() + self._perfect)
        return np.asarray(np.minimum(np.maximum(hinted, one_price), lower_envelope(states, self.costs.T)))

    def lower(self, info: InformationState) -> FloatArray:
        """No way on costs less, (n,)."""
        return np.minimum(info.stopping_cost, np.maximum(super().lower(info), info.cost_floor()))


def _mixture(points: FloatArray, values: FloatArray, prior: FloatArray, starts: IntArray) -> FloatArray:
    """Weights of the points, which mix to the prior, of the largest mean value, (n_points,)."""
    n, largest = len(prior), float(values.max(initial=0.0))
    weight = np.zeros(len(values))
    weight[:n] = prior  # the corners, with which there is always a mixture
    active = np.arange(n)
    while largest > 0:
        look()
        # in units of its own: a solver takes what is large or small for what has no solution
        found = linprog(-values[active] / largest, A_eq=points[active].T, b_eq=prior, method="highs")
        if found.x is None:
            break  # what was found before is a mixture too
        weight = np.zeros(len(values))
        weight[active] = np.where(found.x > _NOTHING, found.x, 0.0)
        above = values / largest + points @ found.eqlin.marginals
        above[active] = 0.0
        best = np.maximum.reduceat(above, starts)
        if best.max(initial=0.0) <= _CLOSE:
            break
        # of each face the point that is farthest above what is known
        size = np.diff(starts, append=len(values))
        active = np.concatenate([active, np.flatnonzero((above >= np.repeat(best, size)) & (above > 0))])
    return weight
