"""What questions tell and save, in single precision first: in double only where that may say what is best."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks, equal_errors, smallest_int
from seqclass.pomdp.latent import Hidden, nearly_nothing
from seqclass.pomdp.one_step import candidate_questions
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import BeliefState, has_requirements
from seqclass.pomdp.solvers.ordering.base import best_question, gain_per_price

_EPS = float(np.finfo(np.float32).eps)


def leading_questions(
    belief: BeliefState, unit_prices: FloatArray, min_answers: int = 2048
) -> tuple[IntArray, FloatArray, FloatArray] | None:
    """Question of most information a unit of price, and `one_step_costs` of it and of the cheapest one, each (n,).

    None of fewer answers, of all rows to a question, for which it would not pay, and of problems without hidden states,
    with bundles or with what has to be asked.
    """
    problem, hidden = belief.problem, belief.problem.structure.latent
    if hidden is None or problem.bundles is not None or has_requirements(problem):
        return None
    if len(belief) * max(hidden.widest, 8) < min_answers:  # of few outcomes the rows themselves take longest
        return None
    scores, decision = QuestionScores(hidden, problem.decision_costs.T), problem.decide(belief.probabilities)
    order = np.argsort(decision.astype(smallest_int(problem.n_decisions)), kind="stable")
    decision, states = decision[order], hidden.probability(belief).take(order, axis=0).take(scores.columns, axis=1)
    ends = np.bincount(decision, minlength=problem.n_decisions).cumsum()
    parts = (candidate_questions(belief), belief.available, unit_prices, belief.prices)
    # a question a row: what is done to all of them goes along the cases
    choice = Offers(*(np.ascontiguousarray(of.take(order, axis=0).T) if len(of) > 1 else of.T for of in parts))
    first, wanted = may_lead(scores, states, ends, choice)
    tied = first & (first.sum(axis=0) > 1)
    told, saved = scores.of(states, ends, tied, wanted | tied)
    # what changes no decision costs what that does, of all outcomes together
    costs = np.where(choice.available, scores.of_decisions(states, decision) - saved + choice.prices, np.inf)
    asked, rows = np.where(first.any(axis=0), first.argmax(axis=0), DECIDE), tied.any(axis=0).nonzero()[0]
    asked[rows] = best_question(gain_per_price(told[:, rows], np.broadcast_to(choice.units, told.shape)[:, rows]).T)
    once = np.where(asked == DECIDE, np.inf, costs[asked, np.arange(len(asked))])
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return asked[back], once[back], costs.min(axis=0)[back]


class Offers(NamedTuple):
    """What may be asked and at what price, (n_questions, n), of prices perhaps (n_questions, 1)."""

    among: BoolArray
    available: BoolArray
    units: FloatArray
    prices: FloatArray


def may_lead(
    scores: QuestionScores, states: FloatArray, ends: IntArray, choice: Offers, part_rows: int = 2048
) -> tuple[BoolArray, BoolArray]:
    """Where a question may be the first, and where one that may, or may be the cheapest, may save, (n_questions, n).

    What is certain in single precision is left out. The answers of a part's rows stay in the cache.
    """
    # each is a sum of so many rounded numbers, whose sizes sum up to no more, and is rounded where it is compared
    answers = len(scores.by_class) * scores.hidden.widest
    handicap = 2 * (states.shape[1] + 4) * _EPS
    error = ((states.shape[1] + answers + 4) * _EPS + handicap) * (1 + float(np.log(answers)))
    error += 2e-6  # by which tables may miss a sum of 1
    first, wanted = np.empty(choice.among.shape, dtype=bool), np.empty(choice.among.shape, dtype=bool)
    for part in chunks(len(states), 1.0, part_rows):
        among, asked = choice.among[:, part], choice.available[:, part]
        single, there = states[part].astype(np.float32), np.maximum(ends - part.start, 0)
        told, saved = scores.of(single, there, asked, asked, handicap)
        unit, price = (
            np.minimum(of[:, part] if of.shape[1] > 1 else of, 1e30).astype(np.float32)
            for of in (choice.units, choice.prices)
        )
        told /= unit
        slack = error / unit
        least = np.where(among, told - slack, -np.inf).max(axis=0)
        least -= 1e-9 * np.maximum(np.abs(least), 1)
        first[:, part] = among & (told + slack >= least)
        worth = np.where(asked, saved - price, -np.inf)
        least = worth.max(axis=0)
        least -= 2 * error * float(scores.vectors.max()) + 4 * _EPS * np.abs(least)
        wanted[:, part] = (first[:, part] | (asked & (worth >= least))) & (saved > 0)
    return first, wanted


class QuestionScores:
    """What questions tell about the class, and what they save by the decisions that they change.

    Rows are sorted by the decision that one would take now, ``ends`` says up to which row each is, and hidden states
    are sorted by class.
    """

    def __init__(self, hidden: Hidden, vectors: FloatArray) -> None:
        self.hidden, self.vectors, self.error = hidden, vectors, equal_errors(vectors)
        self.columns = np.concatenate(hidden.members)
        self.by_class = _slices(np.cumsum([len(own) for own in hidden.members]))

    def of_decisions(self, states: FloatArray, decision: IntArray) -> FloatArray:
        """Expected cost of the same decision whatever the answer, (n_questions, n)."""
        classes = self.hidden.classes[self.columns]
        return np.asarray(self.hidden.sums[:, self.columns] @ (states * self.vectors[:, classes][decision]).T)

    def of(
        self, states: npt.NDArray[Any], ends: IntArray, among: BoolArray, wanted: BoolArray, handicap: float = 0.0
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """I(answer; class) in nats, and what is saved by answers that change the decision, both (n_questions, n).

        In the precision of ``states``; -inf if not ``among`` those wanted, and 0 if not wanted. The present decision is
        worth less by a share, the handicap: what then saves nothing does so for certain, whatever the rounding.
        """
        kind = states.dtype
        states, ones = states + nearly_nothing(kind), np.ones(self.hidden.widest, kind)
        if handicap and self.error is not None:
            for own, rows in zip(self.by_class, _slices(ends)):
                states[rows, own] *= 1 - handicap
        told, saved = np.full(wanted.shape, -np.inf, kind), np.zeros(wanted.shape, kind)
        of_questions = self.hidden.tables_in(kind)
        for question in wanted.any(axis=1).nonzero()[0].tolist():
            tables, rows = of_questions[question], wanted[question].nonzero()[0]
            some = states if len(rows) == len(states) else states.take(rows, axis=0)
            joint = np.empty((len(tables), len(rows), tables[0].shape[1]), kind)
            for own, table, of_class in zip(self.by_class, tables, joint):
                np.matmul(some[:, own], table, out=of_class)
            sums = ones[: joint.shape[2]]
            saved[question][rows] = self._savings(joint, rows.searchsorted(ends), handicap) @ sums
            if among is not wanted:
                scored = among[question][rows].nonzero()[0]
                if not scored.size:
                    continue
                rows, joint = rows[scored], joint.take(scored, axis=1)
            each = joint / reduce(np.add, joint)
            np.log(each, out=each)
            each *= joint
            told[question][rows] = reduce(np.add, each @ sums)
        known = [states[:, own] @ np.ones(own.stop - own.start, kind) for own in self.by_class]
        told -= reduce(np.add, [share * np.log(share) for share in known])
        if self.error not in (None, 1):
            saved *= self.error
        return told, saved

    def _savings(self, joint: npt.NDArray[Any], ends: IntArray, handicap: float) -> npt.NDArray[Any]:
        """What the best decision on each outcome is worth more than the present one, (n, V), by P(class, outcome)."""
        worth, now = joint, _slices(ends)
        if self.error is None:
            costs = self.vectors.astype(joint.dtype) @ joint.reshape(len(joint), -1)
            worth = -costs.reshape(-1, *joint.shape[1:])
            for of_decision, rows in zip(worth, now):
                of_decision[rows] *= 1 + handicap
        more: npt.NDArray[Any] = reduce(np.maximum, worth[1:-1], np.maximum(worth[0], worth[-1]))
        for of_decision, rows in zip(worth, now):
            more[rows] -= of_decision[rows]
        return more


def _slices(ends: IntArray) -> list[slice]:
    return [slice(*pair) for pair in pairwise([0, *ends.tolist()])]
