"""Costs that no order of questions beats: all but a few questions may be asked again, with a fresh answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, FloatArray, IntArray, chunks, row_sums
from seqclass._utils.model_files import register
from seqclass._utils.stored import check_whole, require, require_numbers, require_part
from seqclass._utils.validation import check_integer
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.bounds.optimum import StateBounds
from seqclass.pomdp.one_step import initial_beliefs, perfect_cost
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, BeliefState
from seqclass.pomdp.ties import TIE


@register
class LogOddsLine:
    """Beliefs of two classes, dense where deciding may be worth putting off; reads as `SimplexGrid` does."""

    def __init__(self, first: float, last: float, n_points: int) -> None:
        odds = np.linspace(first, last, n_points - 2)
        share = np.concatenate([[0.0], 1 / (1 + np.exp(-odds)), [1.0]])
        self.points: FloatArray = np.column_stack([1 - share, share])

    @classmethod
    def from_problem(cls, problem: AcquisitionProblem, distance: float) -> LogOddsLine:
        """Points where one more price may be worth paying."""
        # log-odds beyond which nothing is told apart
        odds = np.linspace(-18.0, 18.0, 6001)
        share = 1 / (1 + np.exp(-odds))
        belief = np.column_stack([1 / (1 + np.exp(odds)), share])
        least = problem.prices.min(initial=np.inf) + belief @ perfect_cost(problem)
        worth = np.flatnonzero(problem.stopping_cost(belief) > least)
        if not worth.size:
            return cls(-1.0, 1.0, 5)
        step = float(odds[1] - odds[0])
        first, last = float(odds[worth[0]]) - step, float(odds[worth[-1]]) + step
        return cls(first, last, 3 + int(np.ceil((last - first) / distance)))

    def weights(self, belief: FloatArray) -> tuple[IntArray, FloatArray]:
        """Points on both sides of normalised beliefs and their weights, (n, 2) each."""
        left, right_weight = self._interpolate(belief[:, 1])
        return np.column_stack([left, left + 1]), np.column_stack([1 - right_weight, right_weight])

    def _interpolate(self, second: FloatArray) -> tuple[IntArray, FloatArray]:
        """The point on the left of probabilities of the second class, and the weight of the one on its right."""
        share = self.points[:, 1]
        left: IntArray = np.minimum(np.maximum(share.searchsorted(second, side="right") - 1, 0), len(share) - 2)
        before = share[left]
        return left, np.minimum(np.maximum((second - before) / (share[left + 1] - before), 0.0), 1.0)

    def read(
        self, values: FloatArray, belief: FloatArray, interpolation: str, context: IntArray | None = None
    ) -> FloatArray:
        """Values of unnormalised beliefs, which scale with them; see `SimplexGrid.read`."""
        total = row_sums(belief)
        left, right_weight = self._interpolate(belief[:, 1] / np.where(total > 0, total, 1.0))
        if context is not None:
            left = left + context * len(self.points)
        return np.asarray(total * (values[left] * (1 - right_weight) + values[left + 1] * right_weight))

    def _check_stored(self) -> None:
        points = require_numbers(self, "points", None, 2)
        require(len(points) >= 2 and (np.diff(points[:, 1]) > 0).all(), "points do not rise")
        require(points[0, 1] == 0 and points[-1, 1] == 1, "points do not reach both ends")
        require(np.allclose(points.sum(axis=1), 1), "points are no beliefs")


#: Questions are counted among those asked once as long as they are expected to be asked so often.
_SELDOM = 1e-4


def has_repeats(problem: AcquisitionProblem) -> bool:
    """Whether `RepeatValues` serves a problem: two or three classes, and answers that depend on the class alone."""
    return problem.structure.class_tables is not None and 2 <= problem.n_classes <= 3


class ValuesOfSets:
    """Values at the points of a grid, for each set of the few questions that were asked."""

    problem: AcquisitionProblem
    grid: SimplexGrid | LogOddsLine
    once: list[int]
    values: FloatArray

    def decision_bounds(self, belief: BeliefState, states: FloatArray, question: IntArray | None = None) -> FloatArray:
        """See `StateBounds.decision_bounds`."""
        bits = np.zeros(self.problem.n_questions, dtype=np.intp)
        bits[self.once] = 1 << np.arange(len(self.once))
        if belief.observed is None:
            sets: IntArray = np.full(len(belief), int(bits[: belief.stage].sum()))
        else:
            sets = np.asarray((belief.observed != OPEN) @ bits)
        if question is not None:
            sets = (sets if np.ndim(question) < 2 else sets[:, None]) | bits[question]
        sets = np.broadcast_to(sets.reshape(*sets.shape, *[1] * (states.ndim - 1 - sets.ndim)), states.shape[:-1])
        rows = states.reshape(-1, states.shape[-1])
        going_on = self.grid.read(self.values.reshape(-1), rows, "freudenthal", sets.ravel())
        # where few questions are left to look at, the bound may be above the cost of deciding
        return np.minimum(going_on, self.problem.stopping_cost(rows)).reshape(states.shape[:-1])


@register
class RepeatValues(ValuesOfSets, StateBounds):
    """Optimal costs of a relaxed problem in which all but a few questions may be asked again, with a fresh answer.

    Attributes
    ----------
    once : list of int
        The few questions.
    values : ndarray of shape (2 ** len(once), n_points)
        Cost of going on at each point, for each set of the few questions that were asked.
    """

    near = True

    def __init__(self, problem: AcquisitionProblem, most_once: int = 14) -> None:
        super().__init__(problem)
        tables = problem.structure.class_tables
        if tables is None or not has_repeats(problem):
            raise ValueError("RepeatValues is for two or three classes and answers that depend on the class alone.")
        check_integer(most_once, "most_once", 0)
        self.tables = tables
        # in log-odds for two classes, along an edge for three
        self.grid = LogOddsLine.from_problem(problem, 0.03) if problem.n_classes == 2 else SimplexGrid(3, 50)
        program = BeliefProgram(problem, tables, self.grid)
        # values that may be kept: 64 MB
        most = min(most_once, int(np.log2(2**23 / len(self.grid.points))))
        every = problem.n_questions <= most
        self.once = list(range(problem.n_questions)) if every else []
        self.values = program.solve(self.once, program.begin())
        if not every:
            # products of the largest program of which some questions may be asked again: a second or two
            self.once, self.values = choose_once(program, self.once, self.values, problem.prior, most, 1e8)

    @property
    def value(self) -> float:
        """No policy costs less, over all orders."""
        begun, weight = initial_beliefs(self.problem)
        return float(weight @ self.lower(begun))

    def _check_stored(self) -> None:
        problem, grid = require_part(self, "problem", AcquisitionProblem), self.grid
        require(has_repeats(problem), "bounds are of another problem")
        own = isinstance(grid, (SimplexGrid, LogOddsLine)) and grid.points.shape[1] == problem.n_classes
        require(own, "grid is wrong")
        wanted: Any = problem.structure.class_tables
        tables = require_numbers(self, "tables", *wanted.shape)
        require(np.array_equal(tables, wanted), "tables are of another problem")
        once = self.once
        require(type(once) is list and len(set(once)) == len(once) <= 30, "once is wrong")
        for question in once:
            check_whole(question, "once", 0, problem.n_questions - 1)
        require_numbers(self, "values", 2 ** len(once), len(grid.points))


class BeliefProgram:
    """The dynamic program on a grid: a sparse matrix takes expectations over the outcomes of questions."""

    def __init__(self, problem: AcquisitionProblem, tables: FloatArray, grid: SimplexGrid | LogOddsLine) -> None:
        self.problem, self.grid = problem, grid
        #: Questions of the same number answer alike.
        self.kinds: IntArray = np.unique(tables.reshape(len(tables), -1), axis=0, return_inverse=True)[1].reshape(-1)
        asked = list(zip(self.kinds.tolist(), problem.n_outcomes.tolist()))
        first = dict[tuple[int, int], int]()
        for question, alike in enumerate(asked):
            first.setdefault(alike, question)
        rows, n = dict[int, tuple[IntArray, FloatArray]](), len(grid.points)
        for width in {size for _, size in first}:
            some = np.array([question for (_, size), question in first.items() if size == width])
            rows |= zip(some.tolist(), _expectations(grid, tables[some, :width]))
        at, data = (np.concatenate(column) for column in zip(*(rows[question] for question in first.values())))
        ends = np.cumsum(np.repeat([rows[question][1].size // n for question in first.values()], n))
        #: Of all kinds of questions one below the other, and where each question's is.
        self._all = sp.csr_array((data, at, np.append(0, ends)), shape=(len(ends), n))
        place = {alike: number for number, alike in enumerate(first)}
        self._place = np.array([place[alike] for alike in asked])
        self.work = 20.0 * sum(rows[first[alike]][1].size for alike in asked)
        self._made = dict[int, sp.csr_array]()
        self.stop = problem.stopping_cost(grid.points)
        self.known: FloatArray = grid.points @ perfect_cost(problem)

    def expect(self, question: int) -> sp.csr_array:
        """Matrix that takes values at the points to their expectation after a question."""
        place, n = int(self._place[question]), len(self.stop)
        if place not in self._made:
            self._made[place] = self._all[place * n : (place + 1) * n]
        return self._made[place]

    def begin(self) -> FloatArray:
        """Bounds to iterate from: one more price, then the class is known."""
        least = self.problem.prices.min(initial=np.inf) + self.known
        return np.asarray(np.minimum(self.stop, least)[None])

    def prices(self, once: list[int], sets: IntArray) -> FloatArray:
        """Price of each question where the sets have been asked, (n_sets, n_questions); the lowest it may be."""
        problem = self.problem
        prices = np.tile(problem.prices, (len(sets), 1))
        if problem.groups is None:
            return prices
        asked = np.zeros((len(sets), problem.n_questions), dtype=bool)
        asked[:, once] = (sets[:, None] >> np.arange(len(once))) & 1
        for group in np.unique(problem.groups[problem.groups >= 0]):
            members = np.flatnonzero(problem.groups == group)
            if np.isin(members, once).all():  # else one may have been asked that the sets do not tell
                unpaid = np.flatnonzero(~asked[:, members].any(axis=1))
                prices[np.ix_(unpaid, members)] = problem.full_prices[members]
        return prices

    def solve(self, once: list[int], known: FloatArray) -> FloatArray:
        """Values of all sets, (n_sets, n_points), from bounds ``known``, of each or of all, that it does not lower."""
        n_sets = 2 ** len(once)
        values: FloatArray = np.array(np.broadcast_to(known, (n_sets, known.shape[1])))
        size = np.array([int(number).bit_count() for number in range(n_sets)])
        rest = np.setdiff1d(np.arange(self.problem.n_questions), once)
        for n_asked in range(len(once), -1, -1):
            for part in chunks(int((size == n_asked).sum()), 8.0 * 3 * len(self.stop) * max(len(rest), 1)):
                sets = np.flatnonzero(size == n_asked)[part]
                prices = self.prices(once, sets)
                best = np.tile(self.stop, (len(sets), 1))
                for place, question in enumerate(once):
                    at = np.flatnonzero(~(sets >> place) & 1)
                    if at.size:
                        after = (self.expect(question) @ values[sets[at] | 1 << place].T).T
                        best[at] = np.minimum(best[at], prices[at, question, None] + after)
                values[sets] = self._again(rest, prices[:, rest], best, values[sets])
        return values

    def _again(self, rest: IntArray, prices: FloatArray, best: FloatArray, values: FloatArray) -> FloatArray:
        """Iterate from below where the rest of the questions may be asked time and again."""
        if not rest.size:
            return best
        values = np.minimum(values, best)
        # of those that are alike any one serves
        alike = np.column_stack([self.kinds[rest], prices.T])
        first = np.sort(np.unique(alike, axis=0, return_index=True)[1])
        rest, prices = rest[first], prices[:, first]
        scale = float(self.problem.decision_costs.max() or 1.0)
        whole = np.array_equal(self._place[rest], np.arange(self._place.max() + 1))
        expect = self._all if whole else sp.vstack([self.expect(question) for question in rest], format="csr")
        shape = (len(rest), -1, len(values))
        for _ in range(200):
            costs = (expect @ values.T).reshape(shape) + prices.T[:, None]
            after = np.minimum(best, costs.min(axis=0).T)
            change = float((after - values).max())
            values = np.maximum(values, after)
            # iterations from below end where they change little of the dearest decision; any of them is a bound
            if change <= 1e-5 * scale:
                break
        return values

    def usage(self, once: list[int], values: FloatArray, prior: FloatArray) -> FloatArray:
        """How often the relaxed problem's best policy asks each question, (n_questions,)."""
        n_questions = self.problem.n_questions
        mass = np.zeros_like(values)
        vertices, weights = self.grid.weights(prior[None])
        np.add.at(mass[0], vertices[0], weights[0])
        used = np.zeros(n_questions)
        place = {question: number for number, question in enumerate(once)}
        back = [self.expect(question).T for question in range(n_questions)]
        for number in np.arange(len(values)).tolist():
            if mass[number].sum() < _SELDOM:
                continue
            action = self._action(number, place, values)
            here = mass[number]
            for _ in range(200):
                following = np.zeros_like(here)
                for question in np.unique(action[(action >= 0) & (here > 0)]).tolist():
                    asking = np.where(action == question, here, 0.0)
                    used[question] += asking.sum()
                    if question in place:
                        mass[number | 1 << place[question]] += back[question] @ asking
                    else:
                        following += back[question] @ asking
                here = following
                if here.sum() < _SELDOM:
                    break
        return used

    def _action(self, number: int, place: dict[int, int], values: FloatArray) -> IntArray:
        """Best question at each point where a set was asked, -1 to decide."""
        prices = self.prices(list(place), np.array([number]))[0]
        best, action = self.stop * (1 - TIE), np.full(len(self.stop), -1)
        for question in range(self.problem.n_questions):
            bit = 1 << place[question] if question in place else 0
            if number & bit:
                continue
            cost = prices[question] + self.expect(question) @ values[number | bit]
            better: BoolArray = cost < best
            action[better], best = question, np.where(better, cost, best)
        return action


def choose_once(
    program: BeliefProgram, once: list[int], values: FloatArray, prior: FloatArray, most: int, most_work: float
) -> tuple[list[int], FloatArray]:
    """Count the questions that would be asked again the most among those asked once, as far as the work allows."""
    once = list(once)
    while len(once) < most and program.work * 2 ** len(once) <= most_work:
        used = program.usage(once, values, prior)
        used[once] = -np.inf
        if used.max(initial=-np.inf) < _SELDOM:
            break
        once.append(int(used.argmax()))
        # what was known bounds the next program from below
        values = program.solve(once, np.concatenate([values, values]))
    return once, values


def _expectations(grid: SimplexGrid | LogOddsLine, tables: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
    """Points and weights of expectations at each point after questions with P(outcome | class), (m, V, C)."""
    n, (_, n_outcomes, n_classes) = len(grid.points), tables.shape
    for part in chunks(len(tables), 8.0 * 6 * n * n_outcomes * n_classes, CACHE_BYTES):  # in the cache
        joint = grid.points[:, None] * tables[part, None]
        mass = row_sums(joint)
        vertices, weights = grid.weights((joint / np.where(mass > 0, mass, 1.0)[..., None]).reshape(-1, n_classes))
        data = (weights * mass.reshape(-1, 1)).reshape(-1, n * n_outcomes * vertices.shape[1])
        yield from zip(vertices.reshape(data.shape), data)
