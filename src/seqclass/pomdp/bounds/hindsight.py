"""Costs that no order of questions beats, with a stated confidence: the best of first questions in hindsight, less luck

For problems of many hidden states, of which all answers together leave little unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._utils.arrays import CACHE_BYTES, CHUNK_BYTES, FloatArray, IntArray, chunks
from seqclass._utils.progress import DeadlineExceeded, check_deadline, now, remaining_seconds, time_limit
from seqclass.pomdp.alpha import least_of
from seqclass.pomdp.bounds.drawn import draw_answers
from seqclass.pomdp.one_step import initial_beliefs, latent_posterior
from seqclass.pomdp.problem import AcquisitionProblem


@dataclass(frozen=True)
class HindsightTuning:
    """How far cases are looked at in hindsight, and when that is worth its time."""

    #: Questions that are followed at most where no time is named: sets grow with the power of it.
    max_depth: int = 3
    #: And where seconds are named, as far as they last.
    max_depth_in_time: int = 5
    #: Vectors of the values after the questions that are followed: more are hardly nearer.
    n_vectors: int = 64
    #: Beliefs that these are fitted to, 250 for each vector.
    n_beliefs: int = 16_000
    #: Questions that are best to be the last, one of which is drawn on the way to such a belief.
    n_best: int = 10
    #: What being above weighs where they are fitted, being below weighing one: above is no bound.
    above_weight: float = 20.0
    #: Rounds in which they are fitted.
    n_rounds: int = 40
    #: Where fewer states are hidden, hints tell more.
    min_states: int = 17
    #: Of fewer cases the margin of the mean is too wide.
    min_cases: int = 25
    #: More cases narrow the margin no more than deeper questions would.
    max_cases: int = 200
    #: Products of all cases, tables included: up to a minute.
    max_products: float = 8.5e11
    #: Of single precision, on one core.
    products_a_second: float = 1.5e10
    #: Products that comparing two costs takes as long as.
    comparison: int = 4
    #: Cases at least where seconds are named: a wider margin, but deeper questions.
    min_cases_in_time: int = 12
    #: Cases that are tried first, for what one costs and how much they differ.
    n_trials: int = 10
    #: Cases that are tried at each further depth.
    n_more_trials: int = 2
    #: At which a deeper one has to promise more.
    confidence: float = 0.995
    #: Sets of questions whose end is looked at together.
    n_together: int = 1000


_TUNING = HindsightTuning()


Single = npt.NDArray[np.float32]


_TINY, _NEVER = 1e-30, np.float32(np.inf)


class HindsightValues:
    """Least costs of drawn cases in hindsight, over all sets of a few first questions, of which luck was taken away.

    After ``depth`` questions one more is asked, and then either a decision made, or the cheapest price paid once more
    and the class known. Until then whoever asks knows the case's answers beforehand, but pays for each answer how much
    better it is than expected, by values that are exact after the first ``n_tabled`` questions, and fitted after more.
    """

    def __init__(self, problem: AcquisitionProblem, depth: int, n_tabled: int, rng: np.random.Generator) -> None:
        assert problem.structure.state_tables is not None  # see `in_hindsight`
        self.depth, self.n_tabled, self._rng = depth, n_tabled, rng
        tables, classes = problem.structure.state_tables
        begun, weight = initial_beliefs(problem)
        prior = weight @ latent_posterior(begun)
        order = np.flatnonzero(prior > 0)[np.argsort(classes[prior > 0], kind="stable")]
        #: Of all answers, one question's after the other's: the question, and their probabilities in each state.
        self.question: IntArray = np.repeat(np.arange(problem.n_questions), problem.n_outcomes)
        self._sizes = problem.n_outcomes
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
        #: By number of questions, vectors of classes of which the least is about what going on costs after them.
        self.after: dict[int, Single] = {}
        for n_asked in range(depth, n_tabled, -1):
            self.after[n_asked] = self._fit_vectors(n_asked)
        #: By tables, what it costs to ask each question after fewer than so many, and to go on after each answer.
        self.asking, self.going_on = self._tabulate()

    def values(self, n: int) -> FloatArray:
        """Least costs in hindsight of ``n`` cases, (n,)."""
        return np.array([self.least_cost(answers) for answers in self.draw(n)])

    def draw(self, n: int) -> IntArray:
        """Answers of cases, by their places among all, (n, n_questions)."""
        tables = np.split(self.answer, self.first[1:])
        return np.add(self.first, draw_answers(tables, self.prior.astype(np.float64), n, self._rng))

    def least_cost(self, place: IntArray) -> float:
        """Least cost of a case in hindsight: prices less what was lucky, and what remains at the end."""
        check_deadline()
        shown, least = self.answer[place], np.inf
        sets, states, spent = self._sets[0], self.prior[None], np.zeros(1, dtype=np.float32)
        for n_asked in range(self.depth):
            if n_asked:
                spent = spent - self._expected_cost(n_asked, place[sets], states)
            least = min(least, float((spent + self._class_costs(states, self.decide)).min()))
            if n_asked == self.depth - 1:
                break
            if n_asked < self.n_tabled:
                costs = self.asking[n_asked][place[sets[:, 0]] if n_asked else [0]]
            else:
                costs = self._question_costs(states, self.after[n_asked + 1], sets)
            costs = spent[:, None] + costs
            rows, further = self._rows[n_asked], self._sets[n_asked + 1]
            # whichever of a set was asked last
            spent = costs[rows, further].min(axis=1)
            sets, states = further, states[rows[:, -1]] * shown[further[:, -1]]
            states /= states.sum(axis=1, keepdims=True)
        return self._least_at_end(spent, states, shown, least)

    def _expected_cost(self, n_asked: int, place: IntArray, states: Single) -> Single:
        """What going on costs after so many questions, by tables or as fitted, (n,)."""
        if n_asked <= self.n_tabled:
            return np.asarray(self.going_on[n_asked - 1][tuple(place.T)])
        return self._class_costs(states, self.after[n_asked])

    def _class_costs(self, states: Single, vectors: Single) -> Single:
        """Cost of the best of some vectors, (n,)."""
        return np.asarray((self._of_classes(states) @ vectors.T).min(axis=1))

    def _of_classes(self, states: Single) -> Single:
        return np.asarray(np.stack([states[:, own].sum(axis=1) for own in self._members], axis=1), dtype=states.dtype)

    def _question_costs(self, states: Single, vectors: Single, asked: IntArray) -> Single:
        """What each question costs, and the best of some vectors after it; inf of those asked, (n, n_questions)."""
        result = np.empty((len(states), len(self.prices)), dtype=np.float32)
        n_classes, n_answers = len(self.classes), len(self.answer)
        for part in chunks(len(states), 4.0 * n_classes * n_answers, CACHE_BYTES):
            joint = np.empty((n_classes, part.stop - part.start, n_answers), dtype=np.float32)
            for of_class, own, table in zip(joint, self._members, self._by_class):
                np.matmul(states[part, own], table, out=of_class)
            best = _least_after(joint.reshape(n_classes, -1), vectors).reshape(-1, n_answers)
            result[part] = np.add.reduceat(best, self.first, axis=1)
        result += states.sum(axis=1, keepdims=True) * self.prices
        np.put_along_axis(result, asked, _NEVER, axis=1)
        return result

    def _best(self, states: Single, asking: Single) -> Single:
        return np.asarray(np.minimum(self._class_costs(states, self.decide), asking.min(axis=1)))

    def _fit_vectors(self, n_asked: int) -> Single:
        """Vectors of classes, the least of which is about what it costs to go on after so many questions."""
        place, row = self.draw(_TUNING.n_beliefs), np.arange(_TUNING.n_beliefs)
        states, asked = np.tile(self.prior, (_TUNING.n_beliefs, 1)), np.empty((_TUNING.n_beliefs, 0), dtype=np.intp)
        for _ in range(n_asked):
            check_deadline()
            costs = self._question_costs(states, self.decide, asked)
            among = min(_TUNING.n_best, len(self.prices) - asked.shape[1])
            nearest = np.argpartition(costs, among - 1, axis=1)[:, :among]
            chosen = nearest[row, self._rng.integers(0, among, _TUNING.n_beliefs)]
            states = states * self.answer[place[row, chosen]]
            states /= states.sum(axis=1, keepdims=True)
            asked = np.column_stack([asked, chosen])
        values = self._best(states, self._question_costs(states, self.after.get(n_asked + 1, self.known), asked))
        beliefs = self._of_classes(states)
        # what is above would be taken for luck where there was none; what is below, everywhere alike, does no harm
        how = (_TUNING.n_vectors, self._rng, _TUNING.above_weight, _TUNING.n_rounds)
        return np.asarray(least_of(beliefs, values, *how), dtype=np.float32)

    def _tabulate(self) -> tuple[list[Single], list[Single]]:
        """What asking costs before ``n_tabled`` questions were asked, and what going on does after one to so many."""
        none, one = np.empty((1, 0), dtype=np.intp), np.ones(1, dtype=np.float32)
        if self.n_tabled == 0:
            return [], []
        alone, after = self.prior * self.answer, self.after[self.n_tabled + 1]
        mass = alone.sum(axis=1)
        if self.n_tabled == 1:
            known = self._best(alone, self._question_costs(alone, after, self.question[:, None]))
            return [self._sum_by_question(known[None], one, none)], [known / np.maximum(mass, _TINY)]
        pairs = np.zeros((len(alone), len(alone)), dtype=np.float32)
        for place, question in enumerate(self.question.tolist()):
            check_deadline()
            others = np.arange(self.first[question] + self._sizes[question], len(alone))
            both = alone[place] * self.answer[others]
            asked = np.column_stack([np.full(len(others), question), self.question[others]])
            pairs[place, others] = self._best(both, self._question_costs(both, after, asked))
            pairs[others, place] = pairs[place, others]
        second = self._sum_by_question(pairs, mass, self.question[:, None])
        known = self._best(alone, second)
        return (
            [self._sum_by_question(known[None], one, none), second / np.maximum(mass[:, None], _TINY)],
            [known / np.maximum(mass, _TINY), pairs / np.maximum(alone @ self.answer.T, _TINY)],
        )

    def _sum_by_question(self, values: Single, mass: Single, asked: IntArray) -> Single:
        costs: Single = np.add.reduceat(values, self.first, axis=1) + mass[:, None] * self.prices
        np.put_along_axis(costs, asked, _NEVER, axis=1)
        return costs

    def _least_at_end(self, spent: Single, states: Single, shown: Single, least: float) -> float:
        """The least of what is known, and of sets whose last question is asked before what remains."""
        asked, rows, sets = self._sets[self.depth - 1], self._rows[-1], self._sets[self.depth]
        every = [states[:, own] @ shown[:, own].T for own in self._members]
        row, last = rows[:, -1], sets[:, -1]
        expected, room = np.empty((2, len(sets)), dtype=np.float32)
        for part in chunks(len(sets), 4.0 * _TUNING.n_vectors):
            joint = np.stack([of_class[row[part], last[part]] for of_class in every])
            joint /= joint.sum(axis=0)
            expected[part] = _least_after(joint, self.after[self.depth])
            # what follows at least, beyond what was expected
            room[part] = _least_after(joint, self.known) - expected[part]
        costs = spent[:, None] + self._question_costs(states, self.after[self.depth], asked)
        total = costs[rows, sets].min(axis=1)
        ahead = np.argsort(total)
        while (ahead := ahead[total[ahead] + room[ahead] < least]).size:
            lot, ahead = ahead[: _TUNING.n_together], ahead[_TUNING.n_together :]
            known = states[row[lot]] * shown[last[lot]]
            known /= known.sum(axis=1, keepdims=True)
            remains = self._best(known, self._question_costs(known, self.known, sets[lot])) - expected[lot]
            least = min(least, float((total[lot] + remains).min()))
        return least


def _least_after(joint: Single, vectors: Single) -> Single:
    """The least of some vectors at columns of class probabilities, (n,)."""
    result = np.empty(joint.shape[1], dtype=np.float32)
    for part in chunks(len(result), 4.0 * len(vectors), CACHE_BYTES):
        (vectors @ joint[:, part]).min(axis=0, out=result[part])
    return result


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


def work_of(problem: AcquisitionProblem, depth: int, n_tabled: int) -> tuple[float, float]:
    """Products that tables and fits take, and those of a case at most, about."""
    assert problem.structure.state_tables is not None
    n_answers, costs = float(problem.n_outcomes.sum()), problem.decision_costs
    each = n_answers * (len(problem.structure.state_tables[1]) + _TUNING.comparison * costs.size)
    return each * n_answers**n_tabled, each * comb(problem.n_questions, depth)


def in_hindsight(problem: AcquisitionProblem, n: int, seconds: float, rng: np.random.Generator) -> FloatArray | None:
    """Least costs in hindsight of up to ``n`` cases, as deep as work or time allows; None where others serve better.

    How deep and how many must not hang on what is found: it is told by the work, and in a limited time by that of other
    cases, which are dropped.
    """
    structure = problem.structure
    states = None if structure.samples or structure.starts is not None else structure.state_tables
    if states is None or len(states[1]) < _TUNING.min_states:
        return None
    if seconds < np.inf:
        with time_limit(seconds):
            return _in_time(problem, min(n, _TUNING.max_cases), rng)
    for depth, n_tabled in _choices(problem, _TUNING.max_depth):
        once, each = work_of(problem, depth, n_tabled)
        n_cases = int(min(n, _TUNING.max_cases, (_TUNING.max_products - once) / each))
        if n_cases >= _TUNING.min_cases:
            return HindsightValues(problem, depth, n_tabled, rng).values(n_cases)
    return None


def _in_time(problem: AcquisitionProblem, n: int, rng: np.random.Generator) -> FloatArray | None:
    """Least costs in hindsight, as deep and of as many cases as lets expect most in the time that is left.

    What each depth finds is told by the same few cases, and how wide the margin will be by those at the least depth.
    """
    if n < _TUNING.min_cases_in_time:
        return None
    best: tuple[float, HindsightValues, int] | None = None
    trials: IntArray = np.empty((0, 0), dtype=np.intp)
    spread, reached = 0.0, 0
    choices = _choices(problem, _TUNING.max_depth_in_time)
    for depth, n_tabled in sorted(choices, key=lambda choice: (choice[0], -choice[1])):
        once, most = work_of(problem, depth, n_tabled)[0], _TUNING.products_a_second * remaining_seconds() / 4
        if depth == reached or once > most or comb(problem.n_questions, depth) > CHUNK_BYTES // 32:
            continue
        try:
            with time_limit(remaining_seconds() / 3):
                made = HindsightValues(problem, depth, n_tabled, rng)
            if best is None:
                trials = made.draw(_TUNING.n_trials)
            with time_limit(remaining_seconds() * _TUNING.n_more_trials / _TUNING.min_cases_in_time / 2):
                began = now()
                costs = np.array([made.least_cost(case) for case in trials])
                each = (now() - began) / len(trials)
        except DeadlineExceeded:
            check_deadline()
            continue
        if best is None:
            trials, spread = trials[: _TUNING.n_more_trials], float(costs.std(ddof=1))
        n_cases = int(min(n, remaining_seconds() / 2 / max(each, _TINY)))
        if n_cases < _TUNING.min_cases_in_time:
            continue
        reached, found = depth, float(costs[: _TUNING.n_more_trials].mean())
        promised = found - margin(n_cases, spread, _TUNING.confidence)
        if best is None or promised > best[0]:
            best = promised, made, n_cases
    return None if best is None else best[1].values(best[2])


def _choices(problem: AcquisitionProblem, deepest: int) -> Iterator[tuple[int, int]]:
    """How many questions are followed, and after how many of them values are exact: the deepest first."""
    for depth in range(min(deepest, problem.n_questions), 0, -1):
        for n_tabled in range(min(depth - 1, 2), min(depth - 2, 0), -1):  # there are tables of one answer, and of two
            yield depth, n_tabled


def margin(n: int, spread: float, confidence: float) -> float:
    """How far the mean of ``n`` values of this standard deviation may be above their expectation."""
    return float(stats.t.ppf(confidence, n - 1)) * spread / float(np.sqrt(n))


def surely_less(values: FloatArray, confidence: float) -> float:
    """What their expectation is not below, with this confidence of one side."""
    off = margin(len(values), float(values.std(ddof=1)), confidence)
    # single precision suffices: its rounding is far below this share of the bound, which is taken off
    return max((float(values.mean()) - off) * (1 - 1e-5), 0.0)
