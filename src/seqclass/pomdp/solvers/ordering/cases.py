"""Cases drawn from a problem's own model, with all their answers: every policy is tried on the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.along import everything
from seqclass.pomdp.answers import SampledAnswers
from seqclass.pomdp.execution.acquisition import acquire
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import walk


@dataclass(frozen=True)
class Cases:
    """Simulated cases.

    Attributes
    ----------
    answers : ndarray of int of shape (n, n_questions)
        Answer to each question.
    X : ndarray of int of shape (n, n_columns)
        Outcome of every feature that a question shows.
    columns : ndarray of int
        Column of each feature; -1 for features that no question shows.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> simulated_cases(problem, 10, np.random.default_rng(0)).X.shape
    (10, 1)
    """

    answers: IntArray
    X: IntArray
    columns: IntArray

    def costs(self, policy: Policy, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """What a policy costs in some cases.

        Parameters
        ----------
        policy : Policy
            A policy for their problem.
        first, last : int
            Cases ``first..last - 1`` are meant.

        Returns
        -------
        cost : ndarray of shape (last - first,)
            Prices paid plus the expected cost of the decision.
        n_questions : ndarray of int of shape (last - first,)
            Number of questions asked.
        """
        found = acquire(policy, self.X[first:last], columns=self.columns)
        cost = found.leaf_price + policy.problem.stopping_cost(found.leaf_belief)
        asked = (found.leaf_question >= 0).sum(axis=1)
        return cost[found.leaf], asked[found.leaf]


def simulated_cases(problem: AcquisitionProblem, n: int, rng: np.random.Generator) -> Cases:
    """Draw cases from a problem's own model.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem in which any question may come next.
    n : int
        How many.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Cases
        In random order, so that any of them stand for all.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> simulated_cases(problem, 4, np.random.default_rng(0)).answers.shape
    (4, 1)
    """
    *_, last = walk(unlimited(problem).begin(), np.array([float(n)]), everything, SampledAnswers(rng))
    assert last.info.seen is not None  # of a free problem it always is
    answers = rng.permutation(np.repeat(last.info.seen, last.weight.astype(np.int64), axis=0))
    shown: list[Any] = []
    for question in range(problem.n_questions):
        bundle = problem.bundle(question)
        codes = answers[:, question]
        shown.append(codes[:, None] if bundle is None else bundle.decode(codes))
    features = [int(f) for question in range(problem.n_questions) for f in problem.members(question)]
    columns = np.full(max(features, default=-1) + 1, -1)
    columns[features] = np.arange(len(features))
    return Cases(answers, np.concatenate([*shown, np.empty((n, 0), dtype=answers.dtype)], axis=1), columns)


def unlimited(problem: AcquisitionProblem) -> AcquisitionProblem:
    """Return the same problem without a budget.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)
    >>> unlimited(TableProblem([0.5, 0.5], sensors, prices=0.1, free=True, max_questions=1)).n_stages
    2
    """
    if problem.max_questions is None and problem.max_cost is None:
        return problem
    return problem.replace(max_questions=None, max_cost=None)
