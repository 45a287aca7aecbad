"""Exponents of answers that rows held out ask for, along the questions that the classifier asks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from seqclass._utils.arrays import CACHE_BYTES, CHUNK_BYTES, LEAST_CHANCE, FloatArray, IntArray, chunks, row_sums
from seqclass._utils.frames import take_rows
from seqclass.agent.agent import Agent, all_outcomes, initial_row_beliefs
from seqclass.agent.calibration import Calibration
from seqclass.agent.record import EncodedRows
from seqclass.fitting._folds import mask_unseen
from seqclass.pomdp import DECIDE, AcquisitionProblem
from seqclass.pomdp.one_step import perfect_cost
from seqclass.pomdp.policy import draw_lots
from seqclass.pomdp.problem import BeliefState, outcome_likelihood, question_is_sampled, with_component
from seqclass.pomdp.walk import join_beliefs, split_by_question


@dataclass(frozen=True)
class CalibrationFold:
    """A classifier that was fitted without a fold, and the rows of the fold."""

    agent: Agent
    codes: Any
    label: IntArray
    #: How many rows each counts as.
    weight: FloatArray

    @classmethod
    def from_fold(
        cls, agent: Agent, X: Any, y: npt.NDArray[Any], fold: IntArray, number: int, weight: FloatArray | None
    ) -> CalibrationFold:
        """The rows of a fold, which the classifier has not seen."""
        held = np.ones(int((fold >= 0).sum())) if weight is None else weight[fold >= 0]
        held = held[fold[fold >= 0] == number] * (held.sum() / (held @ held))
        rows = np.flatnonzero(fold == number)
        codes = all_outcomes(agent, mask_unseen(agent, take_rows(X, rows)))
        return cls(agent, codes, np.searchsorted(agent.classes, y[rows]), held)


class Walk:
    """The rows of a part, so far as any listener goes on with them; the questions do not depend on who listens."""

    def __init__(self, part: CalibrationFold) -> None:
        self.agent, self.codes, self.label, self.weight = part.agent, part.codes, part.label, part.weight
        start = initial_row_beliefs(self.agent, EncodedRows(self.codes, np.arange(len(self.agent.support)), None))
        self.info = self.agent.problem.initial_belief(len(self.label)) if start is None else start[0][start[1]]
        lots = self.agent.policy.initial_belief()[0].account.component
        if lots is not None:
            self.info = with_component(self.info, lots[draw_lots(self.agent.policy, self.codes)])
        #: Whether all rows know the same, which is nothing yet.
        self.alike = start is None and lots is None
        self.first = self.info
        self.listeners: list[Listener] = []
        self.asked: list[list[_Asked]] = []

    def go_on(self, length: int) -> None:
        """Rows that are not settled for all listeners, and the next answers of each."""
        self.asked = []
        if not len(self.label):
            return
        problem, question, n = self.agent.problem, self._next_questions(), len(self.label)
        prices = np.broadcast_to(self.info.prices, (n, problem.n_questions))
        price = prices[np.arange(n), question] if problem.n_questions else np.zeros(n)
        for listener in self.listeners:
            listener.drop_settled(question, price)
        rows = np.unique(np.concatenate([listener.rows for listener in self.listeners]))
        for listener in self.listeners:
            listener.rows = np.searchsorted(rows, listener.rows)
        self.info, self.codes, self.label = self.info[rows], self.codes[rows], self.label[rows]
        self.weight = self.weight[rows]
        self.first, question = self.info, question[rows]
        while len(rows) and not (question == DECIDE).any():
            together = split_by_question(self.info, np.arange(len(rows)), question)
            # where totals by exponent take more each listener makes them anew
            keep = 64.0 * len(_GRID) * problem.n_classes * len(rows) <= CHUNK_BYTES
            answers = [_Asked.from_belief(at, belief, self.codes[at], problem.prior, keep) for at, belief in together]
            self.asked.append(answers)
            beliefs = [belief.update(asked.outcome) for asked, (_, belief) in zip(answers, together)]
            self.info = join_beliefs(beliefs)[np.argsort(np.concatenate([at for at, _ in together]))]
            self.alike = False
            if len(self.asked) == length:
                break
            question = self._next_questions()

    def _next_questions(self) -> IntArray:
        problem = self.agent.problem
        if problem.any_order:
            asking = self.info[np.zeros(1, dtype=np.intp)] if self.alike else self.info
            return np.array(np.broadcast_to(self.agent.policy.next_question(asking), len(self.info)))
        stage = self.info.stage
        return np.full(len(self.info), stage if stage < problem.n_questions else DECIDE)


class Listener:
    """What one calibration makes of the answers of a walk."""

    def __init__(self, walk: Walk) -> None:
        self.walk, n = walk, len(walk.label)
        self.rows: IntArray = np.arange(n)
        #: (n_classes, n), as sums over classes are then quick.
        self.log_belief = _log_of(walk.info.probabilities.T)
        self.heard: list[list[_Asked]] = []
        walk.listeners.append(self)

    def drop_settled(self, question: IntArray, price: FloatArray) -> None:
        """Leave rows for which one more price costs more than knowing the class saves, by what is believed so far."""
        problem, belief = self.walk.agent.problem, np.exp(self.log_belief)
        decide = (problem.decision_costs.T @ belief).min(axis=0)
        pays = decide > price[self.rows] + perfect_cost(problem) @ belief
        kept = np.flatnonzero((question[self.rows] != DECIDE) & pays)
        self.rows, self.log_belief = self.rows[kept], self.log_belief[:, kept]

    def listen(self) -> bool:
        """Hear what its own rows were asked; whether they were asked anything."""
        place = np.full(len(self.walk.label), -1)
        place[self.rows] = np.arange(len(self.rows))
        self.heard = (
            [[asked.select(place) for asked in answers] for answers in self.walk.asked] if len(self.rows) else []
        )
        return bool(self.heard)

    def losses(
        self, exponent: float | None = None, log_belief: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Log losses by exponent, each that is tried or one, and answer, summed over the rows; and the last beliefs."""
        joint, losses, label = self.log_belief if log_belief is None else log_belief, [], self.walk.label[self.rows]
        joint = np.repeat(joint[:, None], len(_GRID) if exponent is None else 1, axis=1)
        for answers in self.heard:
            for asked in answers:
                joint[:, :, asked.at] += asked.log_gain(exponent)
            joint -= joint.max(axis=0)
            joint -= np.log(np.exp(joint).sum(axis=0))
            losses.append(-joint[label, :, np.arange(len(label))].T @ self.walk.weight[self.rows])
        return np.transpose(losses), joint

    def losses_of_model(self) -> FloatArray:
        """Log loss after each answer, as the model has it."""
        return np.asarray(self.losses(1.0, _log_of(self.walk.first.probabilities[self.rows].T))[0][0])

    def believe(self, exponent: float) -> FloatArray:
        """Know the answers; the log loss after each."""
        losses, joint = self.losses(exponent)
        self.log_belief = joint[:, 0]
        return np.asarray(losses[0])

    def columns(self, answer: int) -> IntArray:
        """Columns of the data that rows are asked for, as often as they are."""
        columns, agent = [], self.walk.agent
        for asked in self.heard[answer]:
            questions, counts = np.unique(asked.question, return_counts=True)
            for question, count in zip(questions.tolist(), counts.tolist()):
                columns.append(np.repeat(agent.support[agent.problem.structure.members(question)], count))
        return np.concatenate(columns)


def _log_of(chances: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(chances, LEAST_CHANCE)))


@dataclass(frozen=True)
class _Asked:
    """Rows that ask together, what they ask, and what they are told; tables of one row are the same for all."""

    at: IntArray
    question: IntArray
    outcome: IntArray
    marginal: FloatArray  # (n, 1, n_outcomes)
    ratio: FloatArray  # (n, n_classes, n_outcomes)
    shown: FloatArray  # (n_classes, n)
    totals: FloatArray | None  # (n_classes, n_exponents, n); None where they are many, and worked out when wanted

    @classmethod
    def from_belief(cls, at: IntArray, belief: BeliefState, codes: Any, prior: FloatArray, keep: bool) -> _Asked:
        """The answers of rows that know ``info``."""
        table = outcome_likelihood(belief)
        table = table[:1] if table.strides[0] == 0 else table  # the same for all rows
        outcome = _outcomes(belief, codes)
        row = np.arange(len(at)) if len(table) > 1 else 0
        outcome[table[row, outcome].max(axis=1) <= 0] = -1  # what the training part takes as impossible says nothing
        marginal = (table @ prior)[:, None]
        ratio = np.ascontiguousarray(_log_of(table).transpose(0, 2, 1) - _log_of(marginal))
        shown, question = ratio[row, :, outcome].T, np.broadcast_to(belief.question, len(at))
        totals = _log_totals(marginal, ratio) if keep or len(ratio) == 1 else None
        return cls(at, question, outcome, marginal, ratio, shown, totals)

    def select(self, place: IntArray) -> _Asked:
        """Those of the rows that have a place, there."""
        at = place[self.at]
        own = np.flatnonzero(at >= 0)
        if own.size == at.size:
            own = slice(None)  # type: ignore[assignment]
        each = own if len(self.ratio) > 1 else slice(None)
        alone = at[own], self.question[own], self.outcome[own]
        totals = None if self.totals is None else self.totals[..., each]
        return _Asked(*alone, self.marginal[each], self.ratio[each], self.shown[:, own], totals)

    def log_gain(self, exponent: float | None) -> FloatArray:
        """What the answers add to log P(class), (n_classes, n_exponents, n), up to what all classes share.

        None: for each exponent that is tried.
        """
        if exponent is None:
            factor = _GRID[:, None]
            total = _log_totals(self.marginal, self.ratio) if self.totals is None else self.totals
        else:
            factor = np.array([[exponent]])
            total = np.log((self.marginal * np.exp(exponent * self.ratio)).sum(axis=-1)).T[:, None]
        return np.where(self.outcome >= 0, factor * self.shown[:, None] - total, 0.0)


def _log_totals(marginal: FloatArray, ratio: FloatArray) -> FloatArray:
    """Logarithm of what the outcomes' chances come to by each exponent, (n_classes, n_exponents, n)."""
    totals = np.empty((ratio.shape[1], len(_GRID), len(ratio)))
    for rows in chunks(len(ratio), 16.0 * ratio[0].size, CACHE_BYTES):
        # evenly apart, so that each follows from the one before by a product
        step = np.exp(_GRID[1] * ratio[rows])
        power = np.repeat(marginal[rows], ratio.shape[1], axis=1)
        for number in range(len(_GRID)):
            totals[:, number, rows] = row_sums(power).T
            power *= step
    result: FloatArray = np.log(totals)
    return result


def _outcomes(belief: BeliefState, codes: Any) -> IntArray:
    """Outcome of what each row asks; -1 where it is missing, or part of a bundle is."""
    problem, question = belief.problem, belief.question
    if np.ndim(question):
        shown = codes[np.arange(len(belief)), problem.features[question]]
        return np.array(shown, dtype=np.intp).ravel()
    bundle = problem.structure.bundle(question)
    shown = codes[:, problem.structure.members(question)]
    values: IntArray = np.asarray(shown.toarray() if sparse.issparse(shown) else shown, dtype=np.intp)
    if bundle is None:
        return np.array(values[:, 0])
    whole = (values >= 0).all(axis=1) & (not question_is_sampled(belief))
    return np.asarray(np.where(whole, bundle.encode(np.maximum(values, 0)), -1), dtype=np.intp)


@dataclass(frozen=True)
class ExponentTuning:
    """How exponents are found, block by block of answers."""

    #: answers, one after the other, with an exponent in common; those beyond have the last
    blocks: tuple[int, ...] = (1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16)
    prior_rows: float = 4.0  #: that the exponent before is worth


TUNING = ExponentTuning()

MOST_ANSWERS = sum(TUNING.blocks)
#: Where any question may come next few cases are asked for more, and each answer takes a look at all questions.
MOST_FREE = sum(TUNING.blocks[:8])
#: Exponents that are tried; the mean of their weights lies between.
_GRID = np.linspace(0.0, 1.0, 21)


#: Questions that each answer was to, as columns of the data, and how often each.
Asked = list[tuple[IntArray, IntArray]]


def exponents_of(groups: list[list[CalibrationFold]], repeats: int) -> list[tuple[Calibration, Asked]]:
    """What groups of parts ask for; each part is asked once, whatever groups it is of."""
    parts = {id(part): part for group in groups for part in group}
    walks = {number: Walk(part) for number, part in parts.items()}
    courses = [_Course([Listener(walks[id(part)]) for part in group], repeats) for group in groups]
    going = courses
    for length in TUNING.blocks:
        for walk in walks.values():
            walk.go_on(length)
        going = [course for course in going if course.learn()]
        if not going:
            break
    return [course.result() for course in courses]


class _Course:
    """Exponents that listeners find together, a block of answers at a time."""

    def __init__(self, listeners: list[Listener], repeats: int) -> None:
        self.listeners, self.repeats, self.exponent = listeners, repeats, 1.0
        self.rows: list[tuple[float, float, float, float]] = []
        self.asked: Asked = []

    def learn(self) -> bool:
        """Find the exponent of the answers that were just given; whether there were any."""
        self.listeners = [listener for listener in self.listeners if listener.listen()]
        if not self.listeners:
            return False
        tried = np.sum([one.losses()[0].mean(axis=1) for one in self.listeners], axis=0)
        n = sum(float(one.walk.weight[one.rows].sum()) for one in self.listeners)
        self.exponent = _posterior_mean(tried / self.repeats, self.exponent, n / self.repeats)
        losses = [(one, one.believe(self.exponent), one.losses_of_model()) for one in self.listeners]
        for answer in range(max(len(one.heard) for one in self.listeners)):
            having = [heard for heard in losses if answer < len(heard[0].heard)]
            n = sum(float(one.walk.weight[one.rows].sum()) for one, _, _ in having)
            count = sum(len(one.rows) for one, _, _ in having)
            loss = sum(float(after[answer]) for _, after, _ in having) / n
            before = sum(float(model[answer]) for _, _, model in having) / n
            self.rows.append((self.exponent, count / self.repeats, loss, before))
            asked = np.concatenate([one.columns(answer) for one, _, _ in having])
            self.asked.append(np.unique(asked, return_counts=True))
        return True

    def result(self) -> tuple[Calibration, Asked]:
        return Calibration(*np.array(self.rows, dtype=np.float64).reshape(-1, 4).T), self.asked


def _posterior_mean(loss: FloatArray, before: float, n: float) -> float:
    """Mean of the exponent under what the rows say, and a few more that say it is the one before."""
    curvature = max(0.0, float(loss[0] - 2 * loss[len(_GRID) // 2] + loss[-1]) * 4)
    energy = loss + TUNING.prior_rows * curvature / n / 2 * (_GRID - before) ** 2
    weight = np.exp(energy.min() - energy)
    return float(weight @ _GRID / weight.sum())


def by_column(
    problem: AcquisitionProblem, support: IntArray, columns: int, exponents: FloatArray, asked: Asked
) -> FloatArray:
    """Exponents by column of the data, as far as a fixed or an adaptive order asks for it."""
    if not len(exponents):
        return np.ones(columns)
    if not problem.any_order:
        by_column_of_data = np.full(columns, exponents[-1])
        for question in range(min(problem.n_questions, len(exponents))):
            by_column_of_data[support[problem.structure.members(question)]] = exponents[question]
        return by_column_of_data
    times = np.array([counts.sum() for _, counts in asked], dtype=np.float64)
    # what was never asked is as what is asked on average, by as much as one row weighs
    total, weight = np.full(columns, float(times @ exponents / times.sum())), np.ones(columns)
    for exponent, (column, counts) in zip(exponents, asked):
        total[column] += exponent * counts
        weight[column] += counts
    return np.asarray(total / weight)
