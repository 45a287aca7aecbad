"""Checks of policies, solvers and ordering rules."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._utils import progress
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass.pomdp import (
    DECIDE,
    AcquisitionProblem,
    OrderingRule,
    Policy,
    SolveInfo,
    Solver,
    TableProblem,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.problem import BeliefState, observations
from seqclass.pomdp.walk import Level, WrongAnswer, first_open, walk
from seqclass.testing._models import ROUNDING, are_same, require


def sample_problems(n: int = 12, random_state: Any = 0, *, any_order: bool = False) -> list[TableProblem]:
    """Small random problems, each with one special thing in it.

    Among them are decisions other than the classes, outcomes that a class never gives, classes of prior 0, free
    features, features that say nothing, equal costs, a single stage, and contexts (in a problem in any order a budget).
    """
    rng = as_generator(random_state)
    return [_sample(rng, 2 + (number + number // 8) % 2, number % 8, any_order) for number in range(n)]


def _sample(rng: np.random.Generator, n_classes: int, kind: int, any_order: bool) -> TableProblem:
    n_stages = 1 if kind == 6 else 4
    sizes = [2 if kind == 7 and stage and not any_order else 1 for stage in range(n_stages)]
    tables = [rng.dirichlet(np.ones(3), size=(size, n_classes)).transpose(0, 2, 1) for size in sizes]
    prior = rng.dirichlet(np.ones(n_classes))
    prices = rng.random(n_stages) * 0.08
    costs = np.column_stack([1 - np.eye(n_classes), rng.random((n_classes, int(kind == 1))) * 0.5])
    if kind == 2:
        tables = [np.where(table == table.min(axis=1, keepdims=True), 0, table) for table in tables]
        tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    elif kind == 3:
        prior[0] = 0.0
        prior /= prior.sum()
    elif kind == 4:
        prices[::2] = 0.0
        tables[1] = np.repeat(tables[1][:, :, :1], n_classes, axis=2)
    elif kind == 5:
        costs[:, 1] = costs[:, 0]
    if kind != 7 or any_order:
        most = 2 if kind == 7 else None
        return TableProblem(
            prior, [table[0] for table in tables], prices, costs, any_order=any_order, max_questions=most
        )
    moves = [rng.integers(after, size=(size, 4)) for size, after in zip(sizes, [*sizes[1:], 1])]
    return TableProblem(prior, tables, prices, costs, transitions=moves)


_STATUSES = ("converged", "wide gap", "truncated", "limit")


@contextmanager
def count_ticks() -> Iterator[Callable[[], int]]:
    """Let limits of time count looks at the clock, each of which takes a second.

    What a solver returns where its ``max_seconds`` are up is then the same on every machine.
    """
    seen, before = 0, progress._clock

    def look() -> float:
        nonlocal seen
        seen += 1
        return float(seen - 1)

    progress._clock = look
    try:
        yield lambda: seen
    finally:
        progress._clock = before


def check_policy(policy: Policy, *, max_rows: int = 200) -> None:
    """Check that a policy answers as it must at the beliefs that its problem can reach.

    It returns the feature of the stage (in a problem in any order, any open question) or -1, and decides at its
    horizon. For each row it answers the same as for that row alone, in any order of rows and when asked again. It
    does not change the belief or the problem, and if it asks, the question is that of `next_question`. In a problem
    in any order it is asked about random partial answers.

    Parameters
    ----------
    policy : Policy
        The policy; its own problem is used.
    max_rows : int
        Most beliefs to ask about at each stage.

    Raises
    ------
    AssertionError
        At the first property that does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> check_policy(GridValueIteration().solve(problem))
    """
    problem, before = policy.problem, _numbers(policy.problem)
    require(isinstance(policy.info, SolveInfo), "policy.info must be a SolveInfo")
    require(0 <= policy.n_stages <= problem.n_stages, "policy.n_stages must lie between 0 and the problem's stages")
    rng = np.random.default_rng(0)
    for belief in walk_beliefs(problem.initial_belief(), rng, max_rows):
        _check_actions(policy, belief, rng)
    require(all(map(are_same, before, _numbers(problem))), "the policy changed the numbers of its problem")


def check_solver(
    solver: Solver,
    problems: Sequence[AcquisitionProblem] | None = None,
    *,
    tolerance: float | None = None,
    max_rows: int = 200,
) -> None:
    """Check a solver on small problems against the optimum, which is found by enumeration.

    Its settings and the problem survive `solve`, and the former cloning; what its `solve` or `_policy` returns is a
    policy of the problem; no cost is below the optimum, and no bound is on the wrong side of it; the same seed
    gives the same policy; every policy passes `check_policy`. Problems that the solver refuses with a `ValueError`
    are skipped, but it must solve at least one.

    Parameters
    ----------
    solver : Solver
        The solver, with a whole number as ``random_state`` if it has one.
    problems : sequence of AcquisitionProblem, optional
        Problems with few histories; by default `sample_problems`, with a fixed order. For a solver of problems in which
        any question may come next, pass ``sample_problems(any_order=True)``.
    tolerance : float, optional
        How far the cost of the executed policy may be above the optimum; by default this is not checked.
    max_rows : int
        See `check_policy`.

    Raises
    ------
    AssertionError
        At the first property that does not hold.

    Examples
    --------
    >>> from seqclass.pomdp import ExactValueIteration
    >>> check_solver(ExactValueIteration(), sample_problems(3), tolerance=1e-9)
    """
    settings = clone(solver).get_params()
    solved, refusal = 0, ""
    for number, problem in enumerate(sample_problems() if problems is None else problems):
        before = _numbers(problem)
        try:
            policy = solver.solve(problem)
        except (WrongAnswer, TypeError) as error:  # the solver refuses nothing, it evaluates its policy or makes none
            raise AssertionError(f"problem {number}: {error}") from error
        except ValueError as error:
            require(bool(str(error)), f"problem {number}: the solver refused without saying why")
            refusal = f", the last with: {error}"
            continue
        solved += 1
        where = f"problem {number}"
        require(isinstance(policy, Policy), f"{where}: solve must return a Policy, got {type(policy).__name__}")
        require(policy.problem is problem, f"{where}: the policy is for another problem")
        require(all(map(are_same, before, _numbers(problem))), f"{where}: solve changed the numbers of the problem")
        check_policy(policy, max_rows=max_rows)
        _check_bounds(problem, policy, tolerance, where)
        again = clone(solver).solve(problem)
        _same_actions(policy, again, max_rows, f"{where}: solving twice with the same seed gives different policies")
    require(solver.get_params() == settings, "solve changed the solver's settings")
    require(solved > 0, f"the solver refused every problem{refusal}")


def check_ordering_rule(
    rule: OrderingRule, problems: Sequence[AcquisitionProblem] | None = None, *, max_rows: int = 200
) -> None:
    """Check that an ordering rule scores the open questions, and asks one with the best score.

    Scores are numbers, and -inf for questions that are not open. The question that is asked is open and has the best
    score, or is -1 if the rule would ask nothing. The answer for a row does not depend on other rows or their
    order, and is the same when asked again; where the rule says `by_belief`, it does not depend on what questions
    showed either. The belief and the settings of the rule do not change. Problems that the rule refuses in `check`
    with a `ValueError` are skipped, but it must score at least one.

    Parameters
    ----------
    rule : OrderingRule
        The rule.
    problems : sequence of AcquisitionProblem, optional
        Problems in which any question may come next; by default ``sample_problems(any_order=True)``.
    max_rows : int
        Most beliefs to ask about after each question.

    Raises
    ------
    AssertionError
        At the first property that does not hold.

    Examples
    --------
    >>> from seqclass.pomdp import ExpectedSaving
    >>> check_ordering_rule(ExpectedSaving())
    """
    settings = rule.get_params()
    clone(rule)  # which refuses a constructor that does more than keep its arguments
    scored = 0
    for number, problem in enumerate(sample_problems(any_order=True) if problems is None else problems):
        where = f"problem {number}"
        try:
            rule.check(problem)
        except ValueError as error:
            require(bool(str(error)), f"{where}: the rule refused without saying why")
            continue
        scored += 1
        require(bool(0 <= rule.work(problem) < np.inf), f"{where}: work must be a number of 0 or more")
        rng = np.random.default_rng(0)
        for belief in walk_beliefs(problem.initial_belief(), rng, max_rows):
            try:
                _check_scores(rule, belief, rng, f"{where}, {belief.stage} asked")
            except ValueError as error:  # by which gains are refused
                raise AssertionError(f"{where}: {error}") from error
    require(rule.get_params() == settings, "scoring changed the rule's settings")
    require(scored > 0, "the rule refused every problem")


def _check_scores(rule: OrderingRule, belief: BeliefState, rng: np.random.Generator, where: str) -> None:
    n, posterior = len(belief), belief.probabilities.copy()
    scores, asked = np.asarray(rule.scores(belief)), np.asarray(rule.next(belief))
    require(scores.shape == (n, belief.problem.n_questions), f"{where}: scores have shape {scores.shape}")
    require(not np.isnan(scores).any(), f"{where}: a score is no number")
    require(bool((scores[~belief.available] == -np.inf).all()), f"{where}: a question that is not open has a score")
    if rule.by_belief:
        seen = observations(belief)
        other = belief.replace(observed=np.where(seen > 0, 0, seen))
        sentence = f"{where}: by_belief is true, and scores depend on what questions showed"
        require(are_same(rule.scores(other), scores), sentence)
    whole = asked.shape == (n,) and np.issubdtype(asked.dtype, np.integer)
    require(whole, f"{where}: next must return one whole number a row, got {asked.dtype} of shape {asked.shape}")
    require(bool((belief.probabilities == posterior).all()), f"{where}: the rule changed the belief")
    asks = asked != DECIDE
    there = (asked >= 0) & (asked < belief.problem.n_questions)
    allowed = there & belief.available[np.arange(n), np.where(there, asked, 0)] if belief.problem.n_questions else there
    wrong = asked[asks & ~allowed]
    require(not wrong.size, f"{where}: next must answer -1 or a question that is open, got {wrong[:1]}")
    best = scores.max(axis=1, initial=-np.inf)
    require(bool((best[~asks] == -np.inf).all()), f"{where}: next answers -1 where a question has a score")
    scores_asked = scores[asks, asked[asks]]
    close = (scores_asked == best[asks]) | (scores_asked >= best[asks] - ROUNDING * np.maximum(1, np.abs(best[asks])))
    require(bool(close.all()), f"{where}: next asks a question that does not score best")
    _check_row_by_row(rule.next, belief, asked, rng, where)


def _check_row_by_row(
    answer: Callable[[BeliefState], Any], belief: BeliefState, expected: IntArray, rng: np.random.Generator, where: str
) -> None:
    """Check that answers depend on nothing but the row that they are for."""
    order = np.arange(len(belief))[::-1]
    require(are_same(answer(belief[order]), expected[order]), f"{where}: the answer depends on the order of the rows")
    some = rng.permutation(len(belief))[:20]
    alone = [int(answer(belief[np.array([row])])[0]) for row in some]
    require(are_same(alone, expected[some]), f"{where}: the answer for a row depends on the other rows")
    require(are_same(answer(belief), expected), f"{where}: the same question asked twice has two answers")


def _check_actions(policy: Policy, belief: BeliefState, rng: np.random.Generator) -> None:
    where = f"stage {belief.stage}"
    posterior, seen = belief.probabilities.copy(), copy.copy(belief.observed)
    try:
        action = policy.action(belief)
    except ValueError as error:
        raise AssertionError(f"{where}: {error}") from error
    same = (belief.probabilities == posterior).all() and np.array_equal(belief.observed, seen)  # type: ignore[arg-type]
    require(same, f"{where}: action changed the belief")
    wrong = np.flatnonzero((action != DECIDE) & ~_is_allowed(policy, belief, action))
    may = "-1 and the questions that are open" if policy.problem.any_order else "-1 and, before the horizon, the stage"
    require(not wrong.size, f"{where}: action must answer one of {may}, got {action[wrong[:1]]}")
    _check_row_by_row(policy.action, belief, action, rng, where)
    if (scores := policy._question_scores(belief)) is not None:
        shape = (len(belief), policy.problem.n_questions)
        require(np.shape(scores) == shape, f"{where}: _question_scores have shape {np.shape(scores)}, not {shape}")
    going = np.flatnonzero(action != DECIDE)
    questions = np.asarray(policy.next_question(belief))[going]
    require(are_same(questions, action[going]), f"{where}: next_question names other questions than action asks")


def _numbers(problem: AcquisitionProblem) -> list[FloatArray]:
    """Copies of what the problem was made with, which nobody may change."""
    return [np.array(part) for part in (problem.prior, problem.prices, problem.full_prices, problem.decision_costs)]


def _is_allowed(policy: Policy, belief: BeliefState, action: IntArray) -> BoolArray:
    """Which actions are questions that each row may ask, (n,)."""
    if belief.stage >= policy.n_stages:
        return np.zeros(len(belief), dtype=bool)
    if not policy.problem.any_order:
        return np.asarray(action == belief.stage)
    there = (action >= 0) & (action < policy.problem.n_questions)
    return np.asarray(there & belief.available[np.arange(len(belief)), np.where(there, action, 0)])


def walk_beliefs(belief: BeliefState, rng: np.random.Generator, max_rows: int) -> Iterator[BeliefState]:
    """Beliefs after no, one, two, ... questions: some of those that may follow, at random."""
    while len(belief):
        yield belief
        following = _beliefs_after(belief, rng)
        belief = following[rng.permutation(len(following))[:max_rows]]


def _beliefs_after(belief: BeliefState, rng: np.random.Generator) -> BeliefState:
    """All that may follow one more question: the next one, in a problem in any order one at random for each row."""

    def ask(level: Level) -> IntArray:
        if not belief.problem.any_order or not level.belief.problem.n_questions:
            return first_open(level.belief)
        scores = np.where(level.belief.available, rng.random(level.belief.available.shape), -1.0)
        return np.where(level.belief.available.any(axis=1), scores.argmax(axis=1), DECIDE)

    levels = list(itertools.islice(walk(belief, np.ones(len(belief)), ask), 2))
    return levels[1].belief if len(levels) > 1 else belief[np.empty(0, dtype=np.intp)]


def _same_actions(first: Policy, second: Policy, max_rows: int, sentence: str) -> None:
    belief, rng = first.problem.initial_belief(), np.random.default_rng(0)
    while len(belief):
        require(are_same(first.action(belief), second.action(belief)), sentence)
        following = _beliefs_after(belief, rng)
        belief = following[np.arange(min(len(following), max_rows))]


def _check_bounds(problem: AcquisitionProblem, policy: Policy, tolerance: float | None, where: str) -> None:
    report = policy.info
    optimum = optimal_cost(problem)
    cost = evaluate(problem, policy, method="exact").cost
    require(report.status in _STATUSES, f"{where}: status must be one of {_STATUSES}, got {report.status!r}")
    # where visits cost something, the optimum is that of one question at a time
    require(
        problem.visits is not None or cost >= optimum - ROUNDING,
        f"{where}: the policy costs {cost:g}, less than the optimum {optimum:g}",
    )
    # NaN where no certificate was asked
    require(not report.lower > optimum + ROUNDING, f"{where}: info.lower {report.lower:g} is above the optimum")
    require(not report.upper < cost - ROUNDING, f"{where}: info.upper {report.upper:g} is below the policy's cost")
    if tolerance is not None:
        sentence = f"{where}: the policy costs {cost:g}, over {tolerance:g} more than the optimum {optimum:g}"
        require(cost <= optimum + tolerance, sentence)
