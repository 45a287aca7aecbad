"""Ordering rules: which of the open questions to ask next."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from seqclass._utils.arrays import CHUNK_BYTES, FloatArray, IntArray
from seqclass._utils.model_files import Stored
from seqclass.pomdp.one_step import available_questions, candidate_questions, one_step_costs, row_parts, unit
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, deciding_cost
from seqclass.pomdp.ties import TIE

__all__ = ["OrderingRule"]


_HUGE = np.finfo(float).max


class OrderingRule(Stored, BaseEstimator, ABC):  # type: ignore[misc]
    """Settings of a rule that says which question to ask next; whether to ask at all is left to a stopping rule.

    A subclass defines `gains`, the expected gain of each question. If ``per_price`` is true, the score of a question is
    its gain per unit of price, at its present price.

    Attributes
    ----------
    per_price : bool
        Whether gains are divided by prices.
    saves : bool
        Whether gains are what asking saves over deciding now, prices counted.
    by_belief : bool
        Whether gains follow from the belief, and from which questions were asked, but not from what these showed: what
        leads to the same belief is then looked at once.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> class LastFirst(OrderingRule):
    ...     per_price = False
    ...     def gains(self, info, questions):
    ...         return np.tile(questions.astype(float), (len(info), 1))
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.1, any_order=True)
    >>> LastFirst().next(problem.initial_belief())
    array([2])
    """

    per_price: bool = True
    saves: bool = False
    by_belief: bool = False

    @abstractmethod
    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """What each of some questions promises.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances.
        questions : ndarray of int of shape (m,)
            The questions.

        Returns
        -------
        ndarray of shape (n, m)
            More is better; -inf for a question that is not to be asked; anything for one that is not open.
        """

    def check(self, problem: AcquisitionProblem) -> None:
        """Refuse a problem that does not offer what the rule looks at.

        Parameters
        ----------
        problem : AcquisitionProblem
            The problem.

        Raises
        ------
        ValueError
            If it does not; the message says what to use instead.
        """

    def work(self, problem: AcquisitionProblem) -> float:
        """Products that scoring all questions of one instance takes, and what deciding after each costs, roughly.

        Parameters
        ----------
        problem : AcquisitionProblem
            The problem.

        Returns
        -------
        float
        """
        width = problem.n_classes if problem.structure.latent is None else len(problem.structure.latent.classes)
        answers = problem.n_outcomes.astype(np.float64)
        for question in np.flatnonzero([problem.structure.is_sampled(q) for q in range(problem.n_questions)]).tolist():
            if (
                problem.structure.latent is None
            ):  # what stands for a bundle is drawn anew for each instance, column by column
                bundle = problem.structure.bundle(question)
                answers[question] *= 1 if bundle is None else bundle.sizes.sum()
        return float(answers.sum()) * width * (1 + problem.n_decisions)

    def scores(self, belief: BeliefState) -> FloatArray:
        """Score of every question; -inf where it is not open, and where rules of the problem ask for others first.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances.

        Returns
        -------
        ndarray of shape (n, n_questions)
        """
        problem = belief.problem
        result = np.full((len(belief), problem.n_questions), -np.inf)
        questions = available_questions(belief)
        if questions.size:
            questions.flags.writeable = False
            score = self._gains(belief, questions)
            if self.per_price:
                score = gain_per_price(score, unit_prices(belief)[:, questions])
            result[:, questions] = np.where(candidate_questions(belief)[:, questions], score, -np.inf)
            if np.isnan(result.max(initial=-np.inf)):
                raise ValueError(
                    f"{type(self).__name__}.gains is NaN for question {int(np.isnan(result).any(axis=0).argmax())}: it "
                    "must be a number for every question that is open, -inf for one that is not to be asked."
                )
        return result

    def leading(self, belief: BeliefState) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """What it asks next, and what it looks at to say what going on costs.

        Parameters
        ----------
        belief : BeliefState
            A batch of n instances.

        Returns
        -------
        question : ndarray of int of shape (n,)
            What is asked next; -1 where nothing is.
        once : ndarray of shape (n,)
            Cost of asking it and deciding then; inf where nothing is asked.
        least_once : ndarray of shape (n,)
            Cost of asking the question that is best if one has to decide then, and deciding.
        ahead : ndarray of shape (n,)
            What the rule itself expects it to cost, if it looks further ahead; else `once`.
        """
        scores, costs = self.scores(belief), one_step_costs(belief)
        question, rows = best_question(scores), np.arange(len(belief))
        once: FloatArray = np.where(question == DECIDE, np.inf, costs[rows, question])
        ahead = once
        if self.saves:
            ahead = np.where(question == DECIDE, np.inf, deciding_cost(belief) - scores[rows, question])
        return question, once, costs.min(axis=1), ahead

    def _gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """What `gains` gives, if it is numbers of the shape that it must have."""
        score, shape = np.asarray(self.gains(belief, questions)), (len(belief), questions.size)
        if score.shape != shape or score.dtype.kind not in "biuf":
            raise ValueError(
                f"{type(self).__name__}.gains must give numbers in an array of shape {shape}: instances, questions; it "
                f"gave {score.dtype} of shape {score.shape}."
            )
        return score

    def next(self, belief: BeliefState) -> IntArray:
        """Question to ask next of each row, the one of lowest number where several are best.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances.

        Returns
        -------
        ndarray of int of shape (n,)
            -1 where nothing is open, or nothing that the rule would ask.
        """
        question = np.full(len(belief), DECIDE)
        for part, some in row_parts(belief, 8.0 * 6 * belief.problem.n_questions, CHUNK_BYTES // 8):
            question[part] = self._next_of(some)
        return question

    def _next_of(self, belief: BeliefState) -> IntArray:
        """What `next` says of as many rows as are scored at a time."""
        return best_question(self.scores(belief))

    def _check_stored_for(self, problem: AcquisitionProblem) -> None:
        """Check a rule that was read from a file with values of this problem."""


def unit_prices(belief: BeliefState) -> FloatArray:
    """Prices that gains are divided by, in a unit of their own, so that ties are the same in any."""
    # a free question is not worth infinitely much: one that promises nothing comes last
    return np.asarray(np.maximum(belief.prices, smallest_price(belief.problem)) / unit(belief.problem))


def gain_per_price(gain: FloatArray, unit_prices: FloatArray) -> FloatArray:
    """Gains a unit of price; where they may be rounding, which next to no price would make a lot of, they are none."""
    return np.asarray(np.where(np.abs(gain) <= TIE, 0.0, gain) / unit_prices)


def smallest_price(problem: AcquisitionProblem) -> float:
    """What a question for nothing counts as costing, so that gains can be divided by it."""
    return TIE * float(problem.decision_costs.max() or 1.0)


def best_question(scores: FloatArray) -> IntArray:
    """Question of the best score of each row, of equals the one of lowest number; -1 where none is finite."""
    top = scores.max(axis=1, initial=-np.inf)
    # scores closer than this, or than this share of the best, are a tie
    near = scores >= (top - 1e-10 * np.maximum(np.minimum(np.abs(top), _HUGE), 1.0))[:, None]
    return np.where(top == -np.inf, DECIDE, near.argmax(axis=1) if near.size else DECIDE)
