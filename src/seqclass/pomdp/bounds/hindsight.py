"""Costs that no order of questions beats, with a stated confidence: the best of first questions in hindsight, less luck

For problems of many hidden states, of which all answers together leave little unknown.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass._utils.progress import look
from seqclass.pomdp.problem import AcquisitionProblem

__all__: list[str] = []


Single = npt.NDArray[np.float32]


#: Questions that are followed at most, vectors of the values after them, and beliefs these are fitted to: those after
#: questions drawn from so many that are best to be the last.
_DEEPEST, _VECTORS, _BELIEFS, _AMONG = 3, 64, 16_000, 10
#: How they are fitted: rounds, what holds vectors to where they were, and what being above weighs.
_ROUNDS, _RIDGE, _ABOVE = 40, 0.01, 20.0
#: Cases that are drawn, at least and at most, and products that they may take, the tables included; of them a second
#: does so many. To compare costs of answers takes so many times longer than a product.
_FEWEST, _CASES, _WORK, _A_SECOND, _VECTOR = 25, 200, 8.5e11, 1.5e10, 4
#: Where fewer states are hidden, hints tell more.
_FEWEST_STATES = 17
#: Sets of questions whose end is looked at together, and bytes of products at once.
_LOT, _BYTES = 1000, 2**20
#: Single precision suffices: its rounding is far below this share of the bound, which is taken off.
_ROUNDING = 1e-5
_TINY, _NEVER = 1e-30, np.float32(np.inf)


class HindsightValues:
    """Least costs of drawn cases in hindsight, over all sets of a few first questions, of which luck was taken away.

    After ``depth`` questions one more is asked, and then either a decision made, or the cheapest price paid once more
    and the class known. Until then whoever asks knows the case's answers beforehand, but pays for each answer how much
    better it is than expected, by values that are exact until the last of these questions, and fitted after it.
    """

    def __init__(self, problem: AcquisitionProblem, depth: int, rng: np.random.Generator) -> None:
        assert problem.state_tables is not None  # see `deepest`
        self.depth, self._rng = depth, rng
        tables, classes = problem.state_tables
        begun, weight = problem.opening()
        prior = weight @ begun.states
        order = np.flatnonzero(prior > 0)[np.argsort(classes[prior > 0], kind="stable")]
        #: Of all answers, one question's after the other's: the question, and their probabilities in each state.
        self.question: IntArray = np.repeat(np.arange(problem.n_questions), problem.n_outcomes)
        self.first: IntArray = np.cumsum(problem.n_outcomes) - problem.n_outcomes
        self.answer: Single = np.concatenate(
            [table[:size][:, order] for table, size in zip(tables, problem.n_outcomes.tolist())]
        ).astype(np.float32)
        self.prior: Single = prior[order].astype(np.float32)
        self.prices: Single = problem.prices.astype(np.float32)
        self.classes, begins = np.unique(classes[order], return_index=True)
        self._members = [slice(*ends) for ends in zip(begins, [*begins[1:], len(order)])]
        self._by_class = [np.ascontiguousarray(self.answer[:, own].T) for own in self._members]
        costs = problem.decision_costs[self.classes].astype(np.float32)
        self.decide = costs.T
        #: Deciding, or one more price and then the class is known.
        self.known: Single = np.vstack([costs.T, self.prices.min() + costs.min(axis=1)])
        self._sets = [sets_of(problem.n_questions, size) for size in range(depth + 1)]
        self._rows = [
            _rows(smaller, larger, problem.n_questions) for smaller, larger in zip(self._sets, self._sets[1:])
        ]
        self.after = self._fitted()
        #: What it costs to ask each question first, and second after each answer: all but the last.
        self.asking = self._tabled()

    def values(self, n: int) -> FloatArray:
        """Least costs in hindsight of ``n`` cases, (n,)."""
        return np.array([self.least(answers) for answers in self.draw(n)])

    def draw(self, n: int) -> IntArray:
        """Answers of cases, by their places among all, (n, n_questions)."""
        share = self.prior.astype(np.float64)
        state = self._rng.choice(len(share), n, p=share / share.sum())
        place = np.empty((n, len(self.prices)), dtype=np.intp)
        for question, own in enumerate(np.split(self.answer, self.first[1:])):
            below = np.cumsum(own, axis=0, dtype=np.float64)[:, state]
            place[:, question] = self.first[question] + (below[:-1] <= self._rng.random(n) * below[-1]).sum(axis=0)
        return place

    def least(self, place: IntArray) -> float:
        """Least cost of a case in hindsight: prices less what was lucky, and what remains at the end."""
        look()
        shown, least = self.answer[place], np.inf
        sets, states, spent = self._sets[0], self.prior[None], np.zeros(1, dtype=np.float32)
        for n_asked in range(self.depth):
            if n_asked == self.depth - 1:
                costs = self._asked(states, self.after, sets)
            else:
                costs = self.asking[n_asked][place[sets[:, 0]] if n_asked else [0]]
            stop = self._class_costs(states, self.decide)
            if n_asked:
                spent = spent - np.minimum(stop, costs.min(axis=1))
            least = min(least, float((spent + stop).min()))
            costs = spent[:, None] + costs
            rows, further = self._rows[n_asked], self._sets[n_asked + 1]
            # whichever of a set was asked last
            spent = costs[rows, further].min(axis=1)
            row, last = rows[:, -1], further[:, -1]
            if n_asked < self.depth - 1:
                sets, states = further, states[row] * shown[last]
                states /= states.sum(axis=1, keepdims=True)
        return self._ended(spent, states, shown, row, last, least)

    def _class_costs(self, states: Single, vectors: Single) -> Single:
        """Cost of the best of some vectors, (n,)."""
        return np.asarray((self._of_classes(states) @ vectors.T).min(axis=1))

    def _of_classes(self, states: Single) -> Single:
        return np.asarray(np.stack([states[:, own].sum(axis=1) for own in self._members], axis=1), dtype=states.dtype)

    def _asked(self, states: Single, vectors: Single, asked: IntArray) -> Single:
        """What each question costs, and the best of some vectors after it; inf of those asked, (n, n_questions)."""
        result = np.empty((len(states), len(self.prices)), dtype=np.float32)
        n_answers = len(self.answer)
        for part in chunks(len(states), 4.0 * len(self.classes) * n_answers, _BYTES):
            joint = np.empty((len(self.classes), part.stop - part.start, n_answers), dtype=np.float32)
            for of_class, own, table in zip(joint, self._members, self._by_class):
                np.matmul(states[part, own], table, out=of_class)
            best = (vectors @ joint.reshape(len(joint), -1)).min(axis=0)
            result[part] = np.add.reduceat(best.reshape(-1, n_answers), self.first, axis=1)
        result += states.sum(axis=1, keepdims=True) * self.prices
        np.put_along_axis(result, asked, _NEVER, axis=1)
        return result

    def _best(self, states: Single, asking: Single) -> Single:
        return np.asarray(np.minimum(self._class_costs(states, self.decide), asking.min(axis=1)))

    def _fitted(self) -> Single:
        """Vectors of classes, the least of which is about what going on costs after ``depth`` questions."""
        place, row = self.draw(_BELIEFS), np.arange(_BELIEFS)
        states, asked = np.tile(self.prior, (_BELIEFS, 1)), np.empty((_BELIEFS, 0), dtype=np.intp)
        for _ in range(self.depth):
            look()
            costs, among = self._asked(states, self.decide, asked), min(_AMONG, len(self.prices) - asked.shape[1])
            nearest = np.argpartition(costs, among - 1, axis=1)[:, :among]
            chosen = nearest[row, self._rng.integers(0, among, _BELIEFS)]
            states = states * self.answer[place[row, chosen]]
            states /= states.sum(axis=1, keepdims=True)
            asked = np.column_stack([asked, chosen])
        values = self._best(states, self._asked(states, self.known, asked))
        # what is above would be taken for luck where there was none; what is below, everywhere alike, does no harm
        return least_of(self._of_classes(states), values, _VECTORS, self._rng, _ABOVE).astype(np.float32)

    def _tabled(self) -> list[Single]:
        """What asking costs where fewer than ``depth - 1`` questions were asked, from the last of these back."""
        none = np.empty((1, 0), dtype=np.intp)
        if self.depth == 1:
            return []
        alone = self.prior * self.answer
        if self.depth == 2:
            known = self._best(alone, self._asked(alone, self.after, self.question[:, None]))
            return [self._summed(known[None], np.ones(1, dtype=np.float32), none)]
        pairs = np.zeros((len(alone), len(alone)), dtype=np.float32)
        for place, question in enumerate(self.question.tolist()):
            look()
            others = np.arange(self.first[question] + np.count_nonzero(self.question == question), len(alone))
            both = alone[place] * self.answer[others]
            asked = np.column_stack([np.full(len(others), question), self.question[others]])
            pairs[place, others] = self._best(both, self._asked(both, self.after, asked))
            pairs[others, place] = pairs[place, others]
        second = self._summed(pairs, alone.sum(axis=1), self.question[:, None])
        known = self._best(alone, second)
        return [
            self._summed(known[None], np.ones(1, dtype=np.float32), none),
            second / np.maximum(alone.sum(axis=1, keepdims=True), _TINY),
        ]

    def _summed(self, values: Single, mass: Single, asked: IntArray) -> Single:
        costs: Single = np.add.reduceat(values, self.first, axis=1) + mass[:, None] * self.prices
        np.put_along_axis(costs, asked, _NEVER, axis=1)
        return costs

    def _ended(
        self, spent: Single, states: Single, shown: Single, row: IntArray, last: IntArray, least: float
    ) -> float:
        """The least of what is known, and of rows that ask a last question before what remains."""
        every = [states[:, own] @ shown[:, own].T for own in self._members]
        joint = np.stack([of_class[row, last] for of_class in every], axis=1)
        joint /= joint.sum(axis=1, keepdims=True)
        fitted = (joint @ self.after.T).min(axis=1)
        spent = spent - fitted
        floor = spent + (joint @ self.known.T).min(axis=1)
        ahead = np.argsort(spent + fitted)
        while (ahead := ahead[floor[ahead] < least]).size:
            lot, ahead = ahead[:_LOT], ahead[_LOT:]
            some = states[row[lot]] * shown[last[lot]]
            some /= some.sum(axis=1, keepdims=True)
            asked = self._sets[self.depth][lot]
            least = min(least, float((spent[lot] + self._best(some, self._asked(some, self.known, asked))).min()))
        return least


def least_of(classes: Any, values: Any, n_vectors: int, rng: np.random.Generator, above: float = 1.0) -> FloatArray:
    """Vectors the least of which is near to values of beliefs, being above weighted more, (n_vectors, n_classes)."""
    centres = classes[rng.choice(len(classes), n_vectors, replace=False)]
    nearest = ((classes[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    vectors: FloatArray = np.full_like(centres, values.mean())
    ridge, weight = _RIDGE * np.eye(classes.shape[1]), np.ones(len(values))
    best, least = vectors, np.inf
    for _ in range(_ROUNDS):
        for number in np.unique(nearest).tolist():
            own = nearest == number
            weighted = classes[own].T * weight[own]
            square, side = weighted @ classes[own], weighted @ values[own]
            vectors[number] = np.linalg.solve(square + ridge, side + ridge @ vectors[number])
        every = classes @ vectors.T
        nearest, off = every.argmin(axis=1), values - every.min(axis=1)
        weight = np.where(off < 0, above, 1.0)
        if (error := float(weight @ off**2)) < least:
            best, least = vectors.copy(), error
    return best


def sets_of(n_questions: int, size: int) -> IntArray:
    """All sets of so many questions, (n, size)."""
    return np.array(list(combinations(range(n_questions), size)), dtype=np.intp).reshape(comb(n_questions, size), size)


def _rows(smaller: IntArray, larger: IntArray, n_questions: int) -> IntArray:
    """Of each set, the row of what is left without each of its questions, (n, size)."""
    digits = n_questions ** np.arange(smaller.shape[1])
    place = np.zeros(n_questions ** smaller.shape[1], dtype=np.intp)
    place[smaller @ digits] = np.arange(len(smaller))
    without = [np.delete(larger, column, axis=1) for column in range(larger.shape[1])]
    return np.stack([place[some @ digits] for some in without], axis=1)


def work_of(problem: AcquisitionProblem, depth: int) -> tuple[float, float]:
    """Products that tables take, and those of a case, about."""
    assert problem.state_tables is not None
    n_answers, costs = float(problem.n_outcomes.sum()), problem.decision_costs
    each = n_answers * (len(problem.state_tables[1]) + _VECTOR * costs.size)
    return each * n_answers ** (depth - 1), each * comb(problem.n_questions, depth)


def in_hindsight(problem: AcquisitionProblem, n: int, seconds: float, rng: np.random.Generator) -> FloatArray | None:
    """Least costs in hindsight of up to ``n`` cases, as deep as the work allows; None where others serve better."""
    states = None if problem.samples or problem.starts is not None else problem.state_tables
    if states is None or len(states[1]) < _FEWEST_STATES:
        return None
    work = min(_WORK, _A_SECOND * seconds)
    for depth in range(min(_DEEPEST, problem.n_questions), 0, -1):
        once, each = work_of(problem, depth)
        n_cases = int(min(n, _CASES, (work - once) / each))
        if n_cases >= _FEWEST:
            return HindsightValues(problem, depth, rng).values(n_cases)
    return None


def surely_less(values: FloatArray, confidence: float) -> float:
    """What their expectation is not below, with this confidence of one side."""
    n = len(values)
    margin = float(student.ppf(confidence, n - 1)) * float(values.std(ddof=1)) / float(np.sqrt(n))
    return max((float(values.mean()) - margin) * (1 - _ROUNDING), 0.0)
