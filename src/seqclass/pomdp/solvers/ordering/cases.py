"""Cases of a problem's own model, with all their answers: every policy is tried on the same ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, effective_size, mean_and_variance
from seqclass.pomdp.acquisition import acquire
from seqclass.pomdp.observations import ObservationSource, SampledObservations
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import OrderingCandidate
from seqclass.pomdp.walk import ALL, ask_everything, walk


def mean_and_error(values: FloatArray, weight: FloatArray | None = None) -> tuple[float, float]:
    """Mean and its standard error, which is infinite for one value."""
    n, (mean, variance) = effective_size(weight, len(values)), mean_and_variance(values, weight)
    return mean, float(np.sqrt(variance / n)) if n > 1 else np.inf


@dataclass(frozen=True)
class TrialCases:
    """Cases, simulated or all that there are.

    Attributes
    ----------
    answers : ndarray of int of shape (n, n_questions)
        Answer to each question.
    X : ndarray of int of shape (n, n_columns)
        Outcome of every feature that a question shows.
    columns : ndarray of int
        Column of each feature; -1 for features that no question shows.
    weight : ndarray of shape (n,)
        Share of all cases that each stands for.
    exact : bool
        Whether these are all.
    start : ndarray of int of shape (n,)
        How each begins: a row of the problem's `initial_beliefs`.
    """

    answers: IntArray
    X: IntArray
    columns: IntArray
    weight: FloatArray
    exact: bool
    start: IntArray

    def begin(self, problem: AcquisitionProblem, first: int, last: int) -> BeliefState:
        """Some cases as they begin."""
        return initial_beliefs(problem)[0][self.start[first:last]]

    def mean_and_error(self, values: FloatArray) -> tuple[float, float]:
        """Mean over the first cases and its standard error, which is 0 where these are all."""
        if self.exact:
            return float(self.weight[: len(values)] @ values), 0.0
        return mean_and_error(values)

    def costs(self, policy: Policy, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """What a policy costs in some cases."""
        start = None
        if policy.problem.structure.starts is not None:
            start = initial_beliefs(policy.problem)[0], self.start[first:last]
        acquired = acquire(policy, self.X[first:last], columns=self.columns, start=start)
        cost = acquired.leaf_price + policy.problem.stopping_cost(acquired.leaf_belief)
        asked = (acquired.leaf_question >= 0).sum(axis=1)
        return cost[acquired.leaf], asked[acquired.leaf]


@dataclass
class TriedPolicy:
    """A policy that was tried, and what it cost in each case."""

    name: str
    policy: Policy
    costs: FloatArray = field(default_factory=lambda: np.empty(0))
    n_questions: FloatArray = field(default_factory=lambda: np.empty(0))
    seconds: float = 0.0
    in_one_order: bool = False
    #: Whether it takes more work than looking at each question once.
    works: bool = False
    #: Cases that its values were fitted to, why it was left, and what that may lose.
    n_paths: int = 0
    dropped: str = ""
    may_save: float = 0.0

    def differs(self, other: TriedPolicy) -> FloatArray:
        """How much more it costs in the cases that both were tried on."""
        n = min(len(self.costs), len(other.costs))
        return self.costs[:n] - other.costs[:n]

    def report(
        self, mean_and_error: Callable[[FloatArray], tuple[float, float]], chosen: TriedPolicy
    ) -> OrderingCandidate:
        """What is told of it beside the one that was chosen."""
        above = (0.0, 0.0) if self is chosen else mean_and_error(self.differs(chosen))
        cost, n_questions = mean_and_error(self.costs), mean_and_error(self.n_questions)[0]
        found = OrderingCandidate(self.name, *cost, *above, n_questions, len(self.costs), self.seconds)
        return replace(found, n_paths=self.n_paths, dropped=self.dropped, may_save=self.may_save)


def model_cases(problem: AcquisitionProblem, n: int, rng: np.random.Generator) -> TrialCases:
    """Cases of a problem's own model: all, where they are few, else drawn at random."""
    with np.errstate(over="ignore"):  # of thousands of questions the number is beyond all floats
        many = float(np.prod(problem.n_outcomes.astype(np.float64))) * len(initial_beliefs(problem)[1])
    exact = not problem.structure.samples and many <= n
    # what a network draws at once knows nothing of how cases begin
    drawn = None if exact or problem.structure.starts is not None else problem.structure.draw_cases(n, rng)
    if drawn is None:
        cases, weight, start = _walk_cases(problem, n, exact, rng)
    else:
        cases, weight, start = drawn, np.full(n, 1 / n), np.zeros(n, dtype=np.intp)
    shown: list[Any] = []
    for question in range(problem.n_questions):
        bundle = problem.structure.bundle(question)
        codes = cases[:, question]
        shown.append(codes[:, None] if bundle is None else bundle.decode(codes))
    features = [int(f) for question in range(problem.n_questions) for f in problem.structure.members(question)]
    columns = np.full(max(features, default=-1) + 1, -1)
    columns[features] = np.arange(len(features))
    X = np.concatenate([*shown, np.empty((len(cases), 0), dtype=cases.dtype)], axis=1)
    return TrialCases(cases, X, columns, weight, exact, start)


def _walk_cases(
    problem: AcquisitionProblem, n: int, exact: bool, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, IntArray]:
    """Answers, weights and starts of cases that are asked everything: all that there are, or a sample."""
    answers: ObservationSource = ALL if exact else SampledObservations(rng)
    first, share = initial_beliefs(without_limits(problem))
    weight = answers.spread(1.0 if exact else float(n), share)
    start = drawn = np.flatnonzero(weight)
    along: IntArray = np.empty((len(drawn), 0), dtype=np.intp)
    for last in walk(first[drawn], weight[drawn], ask_everything, answers):
        start = start[last.parent]
        along = np.column_stack([along[last.parent], last.outcome]) if last.stage else along
    # in a fixed order what was asked came one after the other
    seen = along if last.belief.observed is None else last.belief.observed
    leaf = np.arange(len(last.weight))
    rows = rng.permutation(leaf if exact else np.repeat(leaf, last.weight.astype(np.int64)))
    # what is never asked has no answer
    return np.maximum(seen[rows], -1), last.weight[rows] if exact else np.full(n, 1 / n), start[rows]


def without_limits(problem: AcquisitionProblem) -> AcquisitionProblem:
    """Return the same problem without a budget and rules."""
    if problem.limits.max_questions is None and problem.limits.max_cost is None and problem.limits.rules is None:
        return problem
    return problem.replace(max_questions=None, max_cost=None, rules=None)
