"""Checks of acquisition problems."""

from __future__ import annotations

import itertools

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass.pomdp import AcquisitionProblem
from seqclass.pomdp.one_step import available_questions
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.structure import likelihood_of
from seqclass.testing._models import ROUNDING, equal, require
from seqclass.testing.solvers import walk_beliefs


def check_problem(problem: AcquisitionProblem, *, max_rows: int = 50) -> None:
    """Check that a problem keeps the promises of `AcquisitionProblem`.

    Likelihoods are probabilities of the outcomes, the same for a row alone as among others and when asked again;
    `advance` gives a state of as many rows, and leaves the one that it was given as it is. In any order states are
    joined, and two questions show the same together, given the class, whichever of them is asked first.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem, with questions of few outcomes.
    max_rows : int
        Most beliefs to look at after each question.

    Raises
    ------
    AssertionError
        At the first property that does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> check_problem(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1, any_order=True))
    """
    begun, where = problem.initial_belief(), "0 asked"
    try:
        for belief in walk_beliefs(begun, np.random.default_rng(0), max_rows):
            where, questions = f"{belief.stage} asked", available_questions(belief).tolist()
            for question in questions:
                _check_question(_open_for(belief, question), question, f"{where}, question {question}")
            for first, second in itertools.pairwise(questions):
                both = _open_for(belief, first, second)
                _check_both_orders(both, first, second, f"{where}, questions {first} and {second}")
    except (ValueError, TypeError, IndexError) as error:
        raise AssertionError(f"{where}: {error}") from error


def _open_for(belief: BeliefState, *questions: int) -> BeliefState:
    """Rows that may be asked any of some questions."""
    return belief[np.flatnonzero(belief.available[:, questions].all(axis=1))]


def _check_question(belief: BeliefState, question: int, where: str) -> None:
    problem, state, n = belief.problem, belief.state, len(belief)
    likelihood, turned = likelihood_of(problem, question, state), np.arange(n)[::-1]
    other = likelihood_of(problem, question, state[turned])
    equal(other, likelihood[turned], ROUNDING, f"{where}: the likelihood depends on the order of the rows")
    alone = likelihood_of(problem, question, state[turned[:1]])
    equal(alone, likelihood[-1:], ROUNDING, f"{where}: the likelihood of a row depends on the other rows")
    outcome = np.arange(n) % (int(problem.n_outcomes[question]) + 1) - 1  # missing ones among them
    after = problem.advance(question, state, outcome)
    require(len(after) == n, f"{where}: advance gives {len(after)} rows for {n}")
    again = likelihood_of(problem, question, state)
    equal(again, likelihood, 0, f"{where}: advance changed the state it was given, or likelihoods are random")


def _check_both_orders(belief: BeliefState, first: int, second: int, where: str) -> None:
    one, other = _together(belief, first, second), _together(belief, second, first).swapaxes(1, 2)
    equal(one, other, ROUNDING, f"{where}: what they show together depends on which is asked first")


def _together(belief: BeliefState, first: int, second: int) -> FloatArray:
    """P(outcomes of two questions asked in this order | what was seen, class), (n, V, W, n_classes)."""
    problem, state = belief.problem, belief.state
    likelihood, then = likelihood_of(problem, first, state), []
    for outcome in range(int(problem.n_outcomes[first])):
        after = problem.advance(first, state, np.full(len(belief), outcome))
        then.append(likelihood_of(problem, second, after))
    return likelihood[:, :, None] * np.stack(then, axis=1)
