"""The shipped check of problems passes ours and what is right, and names what is wrong with one of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seqclass import SequentialClassifier
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork
from seqclass.pomdp import AcquisitionProblem, FirstK, optimal_cost
from seqclass.testing import check_problem
from seqclass.testing.solvers import sample_problems

TOLD = np.array([[[0.9, 0.3], [0.1, 0.7]], [[0.7, 0.1], [0.3, 0.9]], [[0.6, 0.3], [0.4, 0.7]]])
YES = np.array([[0.95], [0.05]])


class Exaggerates(AcquisitionProblem):
    """Some patients say yes to nearly everything: the state is P(this one does | answers, class)."""

    def start(self, n: int) -> Any:
        return np.full((n, 2), 0.2)

    def likelihood(self, question: Any, state: Any) -> Any:
        return (1 - state[:, None]) * TOLD[question] + state[:, None] * YES

    def advance(self, question: Any, state: Any, outcome: Any) -> Any:
        yes, no = state * YES[outcome], (1 - state) * TOLD[question][outcome]
        return np.where(outcome[:, None] >= 0, yes / (yes + no), state)


class Tires(Exaggerates):
    """Every answer before makes the next one more of a guess: it counts when a question is asked."""

    def advance(self, question: Any, state: Any, outcome: Any) -> Any:
        return np.where(outcome[:, None] >= 0, 1 - 0.8 * (1 - state), state)


class Rows(list[Any]):
    """Cannot be picked by an array of numbers."""


class OnLists(Exaggerates):
    def start(self, n: int) -> Any:
        return Rows([[0.2, 0.2]] * n)

    def likelihood(self, question: Any, state: Any) -> Any:
        return super().likelihood(question, np.array(state))


class LooksAround(Exaggerates):
    def likelihood(self, question: Any, state: Any) -> Any:
        return super().likelihood(question, state * 0 + state.mean(axis=0))


class Ranks(Exaggerates):
    def likelihood(self, question: Any, state: Any) -> Any:
        return super().likelihood(question, state / (1 + np.arange(len(state)))[:, None])


class Loses(Exaggerates):
    def advance(self, question: Any, state: Any, outcome: Any) -> Any:
        return super().advance(question, state, outcome)[outcome >= 0]


class Guesses(Exaggerates):
    drawn = 0

    def likelihood(self, question: Any, state: Any) -> Any:
        self.drawn += 1
        return super().likelihood(question, state * 0 + 1 / (1 + self.drawn % 5))


def made(kind: Any, any_order: bool = True) -> Any:
    return kind([0.4, 0.6], [0.02, 0.03, 0.01], [2, 2, 2], 1 - np.eye(2), any_order=any_order)


@pytest.mark.parametrize("any_order", [False, True])
def test_sound_problems_pass(any_order: bool) -> None:
    check_problem(made(Exaggerates, any_order))
    for problem in sample_problems(8, any_order=any_order):
        check_problem(problem)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    order = "adaptive" if any_order else "given"
    for model in (NaiveBayes(), TreeNetwork(), ClassMixture(2)):
        clf = SequentialClassifier(model, FirstK(2), discretizer="precomputed", order=order).fit(X, y)
        check_problem(clf.problem_)


@pytest.mark.parametrize(
    "kind, sentence",
    [
        (Tires, "0 asked, questions 0 and 1: what they show together depends on which is asked first"),
        (OnLists, "0 asked: .*indices|0 asked: .*index"),
        (LooksAround, "the likelihood of a row depends on the other rows"),
        (Ranks, "the likelihood depends on the order of the rows"),
        (Loses, "0 asked, question 0: advance gives 0 rows for 1"),
        (Guesses, "likelihoods are random|depends on"),
    ],
)
def test_broken_problems_are_named(kind: Any, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_problem(made(kind))


def test_answers_that_depend_on_their_order_are_right_in_a_fixed_one() -> None:
    """Optima over all orders rely on it that they do not; in a fixed order nothing does."""
    problem = made(Tires, any_order=False)
    check_problem(problem)

    def least(belief: Any, question: int, state: Any) -> float:
        stop = float(belief.sum() - belief.max())
        if question == 3:
            return stop
        shown = problem.likelihood(question, state)[0]
        after = [problem.advance(question, state, np.array([o])) for o in (0, 1)]
        then = sum(least(belief * shown[o], question + 1, after[o]) for o in (0, 1))
        return min(stop, float(belief.sum() * problem.prices[question]) + then)

    assert optimal_cost(problem) == pytest.approx(least(problem.prior, 0, problem.start(1)))
