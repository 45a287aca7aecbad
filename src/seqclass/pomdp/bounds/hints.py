"""Costs that no order of questions beats, for any number of classes: a hint leaves few hidden states to tell apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import optimize

from seqclass._utils.arrays import TIE, TINY, FloatArray, IntArray, lower_envelope
from seqclass._utils.progress import check_deadline
from seqclass.pomdp._simplex import SimplexGrid, grid_size
from seqclass.pomdp.bounds.optimum import OrderBounds, StateBounds
from seqclass.pomdp.bounds.repeats import (
    BeliefProgram,
    LogOddsLine,
    RepeatValues,
    ValuesOfSets,
    choose_once,
    has_repeats,
)
from seqclass.pomdp.one_step import cost_lower_bound, initial_beliefs, latent_posterior
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.table_problem import TableProblem


@dataclass(frozen=True)
class HintTuning:
    """How fine the values are that hints are taken from, and how long they may take."""

    #: Of more hidden states a hint would leave too much untold to search for long.
    max_states: int = 16
    #: Of the points between two states, in log-odds.
    distance: float = 0.05
    #: Along an edge, by number of states.
    steps: dict[int, int] = field(default_factory=lambda: {3: 30, 4: 20})
    #: Where there are more hints than these, times questions that differ, all grids are first so many times coarser,
    #: and then those of the hints that are taken, which are few, made finer.
    few_looks: int = 100
    coarser: int = 2
    #: Of many states pairs alone are looked at, so much coarser too, and for this share of the work.
    share_of_many: float = 0.1
    #: Of a pass through all programs together, which take some forty: a few seconds.
    max_products: float = 5e7
    #: Questions that may be asked only once: each doubles what is kept.
    max_once: int = 14
    #: Questions for nothing among these.
    max_free: int = 4
    #: In each of which programs that matter set more questions apart.
    n_rounds: int = 3
    #: Of a line between two states, about.
    n_points: int = 400


_TUNING = HintTuning()


#: Certificates take up to so many hidden states.
MANY_STATES = 100


def has_hints(problem: AcquisitionProblem, most_states: int = MANY_STATES) -> bool:
    """Whether `HintedValues` serves a problem: answers depend on hidden states alone, and these are not too many."""
    states = None if problem.structure.samples else problem.structure.state_tables
    return states is not None and 2 <= len(states[1]) <= most_states


def bounds_of(problem: AcquisitionProblem, most_states: int = _TUNING.max_states) -> OrderBounds | None:
    """The best bounds over all orders that there are for a problem; None where there are none but one price more."""
    if problem.structure.samples or not problem.n_questions:
        return None
    if has_repeats(problem):
        return RepeatValues(problem)
    return HintedValues(problem) if has_hints(problem, most_states) else None


class _Face(ValuesOfSets):
    """The program of a few hidden states that a hint has left, and how likely each gives that hint."""

    _program: BeliefProgram | None = None

    def __init__(self, bounds: HintedValues, states: IntArray, coarser: int) -> None:
        check_deadline()
        self.states, self.coarser, size, problem = states, coarser, len(states), bounds.problem
        own = np.ascontiguousarray(bounds.tables[:, :, states])
        self.problem = TableProblem(
            np.full(size, 1 / size),
            own,
            problem.prices,
            bounds.costs[states],
            n_outcomes=problem.n_outcomes,
            groups=problem.groups,
            full_prices=problem.full_prices,
            any_order=True,
        )
        if size == 2:
            self.grid = LogOddsLine.from_problem(self.problem, coarser * bounds.coarser * _TUNING.distance)
        else:
            self.grid = SimplexGrid(size, _TUNING.steps[size] // coarser)
        self._tables, program = own, BeliefProgram(self.problem, own, self.grid)
        # what is free of charge would tell all if it were asked again
        free = np.flatnonzero((problem.prices == 0) & (problem.n_outcomes > 1))
        self.once = free[: _TUNING.max_free].tolist()
        self.values, self._stop = program.solve(self.once, program.begin()), program.stop
        self.share: FloatArray = np.zeros(size)

    def points(self) -> FloatArray:
        """Lower bounds at the grid's points, (n_points,)."""
        return np.asarray(np.minimum(self.values[0], self._stop))

    def tell_apart(self, prior: FloatArray, most_work: float) -> bool:
        """Let fewer of the questions be asked again; whether there was anything to gain."""
        if self._program is None:  # only the few that are chosen keep theirs
            self._program = BeliefProgram(self.problem, self._tables, self.grid)
        before, mass = len(self.once), self.share * prior[self.states]
        self.once, self.values = choose_once(
            self._program, self.once, self.values, mass / mass.sum(), _TUNING.max_once, most_work
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

    def __init__(self, problem: AcquisitionProblem, most_work: float = _TUNING.max_products) -> None:
        super().__init__(problem)
        states = problem.structure.state_tables
        if states is None or not has_hints(problem):
            raise ValueError(f"HintedValues is for answers that depend on at most {MANY_STATES} hidden states alone.")
        many = len(states[1]) > _TUNING.max_states
        sizes = [2] if many else [2, *_TUNING.steps]
        work = most_work * (_TUNING.share_of_many if many else 1.0)
        self.coarser = _TUNING.coarser if many else 1
        self._share = work / len(sizes)
        self.tables, classes = states
        self.costs: FloatArray = problem.decision_costs[classes]
        self._perfect: FloatArray = self.costs.min(axis=1)
        begun, weight = initial_beliefs(problem)
        self.prior = weight @ latent_posterior(begun)
        self.faces: list[_Face] = []
        n_states = int(np.count_nonzero(self.prior))
        n_kinds = len(np.unique(self.tables.reshape(len(self.tables), -1), axis=0))
        self._choose()
        for size in sizes:
            if size > n_states:
                break
            sets = self._candidates(size)
            coarser = _TUNING.coarser if len(sets) * n_kinds > _TUNING.few_looks else 1
            self.faces += [_Face(self, np.array(some), coarser) for some in sets]
            self._choose()
            while rough := [i for i, face in enumerate(self.faces) if face.coarser > 1 and face.share.any()]:
                for i in rough:
                    self.faces[i] = _Face(self, self.faces[i].states, 1)
                self._choose()
        for _ in range(_TUNING.n_rounds):
            chosen = [face for face in self.faces if face.share.any()]
            gained = [face.tell_apart(self.prior, work / len(chosen)) for face in chosen]
            if not any(gained):
                break
            self._choose()
        self.faces = [face for face in self.faces if face.share.any()]
        for face in self.faces:
            face._program = None  # which is large

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
        n_points = _TUNING.n_points / self.coarser if size == 2 else grid_size(size, _TUNING.steps[size])
        work = n_points * size * float(self.problem.n_outcomes.sum())
        most = max(int(self._share / work), 1)
        return [tuple(some) for some in sets[np.argsort(rank, kind="stable")[:most]].tolist()]

    @cached_property
    def _likeness(self) -> FloatArray:
        """How much has to be paid to tell two states apart, (n_states, n_states); 0 where one decision suits both."""
        rate = np.zeros((len(self.prior), len(self.prior)))
        least = 0.01 * self.problem.prices.mean() + 1e-6 * self.costs.max() + TINY
        prices = np.maximum(self.problem.prices, least)
        for table, price in zip(np.sqrt(self.tables), prices):
            distance = -np.log(np.clip(table.T @ table, TINY, 1.0))
            np.maximum(rate, distance / price, out=rate)
        suits = self.costs <= self._perfect[:, None]
        return np.where(suits.astype(np.float64) @ suits.T > 0, 0.0, 1 / np.maximum(rate, TIE))

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
        scale = self.prior / np.maximum(mass, TINY)  # rounding must not give more of a state than there is
        self._untold: FloatArray = weight[:n_states] * scale / np.maximum(self.prior, TINY)
        for face, begin, end in zip(self.faces, first, first[1:]):
            own = (weight[begin:end] @ face.grid.points) * scale[face.states]
            face.share = own / np.maximum(self.prior[face.states], TINY)
        begun, weight_of = initial_beliefs(self.problem)
        self.value = float(weight_of @ self.lower(begun))

    def decision_bounds(self, belief: BeliefState, states: FloatArray, question: IntArray | None = None) -> FloatArray:
        """See `StateBounds.decision_bounds`."""
        hinted: FloatArray = states @ (self._untold * self._perfect)
        for face in self.faces:
            if face.share.any():
                hinted += face.decision_bounds(belief, states[..., face.states] * face.share, question)
        one_price = states @ (self.problem.prices.min() + self._perfect)
        return np.asarray(np.minimum(np.maximum(hinted, one_price), lower_envelope(states, self.costs.T)))

    def lower(self, belief: BeliefState) -> FloatArray:
        """No way on costs less, (n,)."""
        return np.minimum(belief.stopping_cost, np.maximum(super().lower(belief), cost_lower_bound(belief)))


def _mixture(points: FloatArray, values: FloatArray, prior: FloatArray, starts: IntArray) -> FloatArray:
    """Weights of the points, which mix to the prior, of the largest mean value, (n_points,)."""
    n, largest = len(prior), float(values.max(initial=0.0))
    weight = np.zeros(len(values))
    weight[:n] = prior  # the corners, with which there is always a mixture
    active = np.arange(n)
    while largest > 0:
        check_deadline()
        # in units of its own: a solver takes what is large or small for what has no solution
        solution = optimize.linprog(-values[active] / largest, A_eq=points[active].T, b_eq=prior, method="highs")
        if solution.x is None:
            break  # what was found before is a mixture too
        weight = np.zeros(len(values))
        weight[active] = np.where(solution.x > TIE, solution.x, 0.0)
        above = values / largest + points @ solution.eqlin.marginals
        above[active] = 0.0
        best = np.maximum.reduceat(above, starts)
        # the mixture is found where no point is farther above it than this share of the largest value
        if best.max(initial=0.0) <= 1e-6:
            break
        # of each face the point that is farthest above what is known
        size = np.diff(starts, append=len(values))
        active = np.concatenate([active, np.flatnonzero((above >= np.repeat(best, size)) & (above > 0))])
    return weight
