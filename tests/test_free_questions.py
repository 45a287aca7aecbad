"""Questions for nothing: what can change nothing is not asked, what can is, and nothing costs more for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    ExactFreeOrder,
    ExpectedSaving,
    Lookahead,
    LookaheadSaving,
    TableProblem,
    acquire,
    evaluate,
    optimal_cost,
)

SAME, LITTLE = np.full((2, 2), 0.5), np.array([[0.52, 0.5], [0.48, 0.5]])
STRONG, WEAK = np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([[0.7, 0.3], [0.3, 0.7]])
SOLVERS = [
    ExactFreeOrder(),
    Lookahead(2),
    Adaptive(),
    *(Adaptive([rule], search_nodes=0) for rule in (ExpectedSaving(), ClassInformation(), LookaheadSaving(2))),
]


def problem(tables: Any, prices: Any) -> TableProblem:
    costs = [[0, 100], [100, 0]]
    return TableProblem([0.5, 0.5], tables, prices=prices, decision_costs=costs, any_order=True)


def asked(any_order: TableProblem, solver: Any) -> set[int]:
    rows = np.array(list(np.ndindex(2, 2, 2)))
    return set(acquire(solver.solve(any_order), rows).leaf_question.ravel().tolist()) - {-1}


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize(("tables", "prices"), [([SAME, STRONG, WEAK], [0, 1, 1]), ([SAME, STRONG, WEAK], [0, 0, 1])])
def test_what_can_change_nothing_is_not_asked(solver: Any, tables: Any, prices: Any) -> None:
    free = problem(tables, prices)
    questions = asked(free, solver)
    assert questions
    assert 0 not in questions
    assert evaluate(free, solver.solve(free)).cost == pytest.approx(optimal_cost(free))


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_what_can_change_something_is_asked(solver: Any) -> None:
    free = problem([WEAK, STRONG, WEAK], [0, 1, 1])
    assert 0 in asked(free, solver)
    assert evaluate(free, solver.solve(free)).cost == pytest.approx(optimal_cost(free))


def test_an_answer_that_changes_no_decision_is_not_asked() -> None:
    free = problem([LITTLE, STRONG, WEAK], [0, 1, 1])  # it moves the belief, and never what is decided
    assert asked(free, ExactFreeOrder()) == {1}
    assert evaluate(free, ExactFreeOrder().solve(free)).cost == pytest.approx(optimal_cost(free))


def test_free_questions_that_tell_only_together_are_asked() -> None:
    """Two bits whose parity is the class, and noise before them."""
    from seqclass.pomdp import MixtureProblem

    a, b = np.array([[1, 1, 0, 0], [0, 0, 1, 1.0]]), np.array([[1, 0, 1, 0], [0, 1, 0, 1.0]])
    likelihoods = [np.full((2, 4), 0.5), a, b]
    any_order = MixtureProblem(np.full(4, 0.25), [0, 1, 1, 0], likelihoods, prices=np.zeros(3), any_order=True)
    assert asked(any_order, ExactFreeOrder()) == {1, 2}
    assert evaluate(any_order, ExactFreeOrder().solve(any_order)).cost == 0


@pytest.mark.parametrize("solver", [ExactFreeOrder(), Adaptive()], ids=repr)
def test_what_a_question_adds_is_what_is_lost_without_it(solver: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(4):
        tables = [rng.dirichlet([0.6, 0.6], 2).T for _ in range(3)]
        prices = [0.0, 2.0, 5.0]
        free = problem(tables, prices)
        found = acquire(solver.solve(free), np.zeros((1, 3), dtype=int), record_expected=True)
        question, told = int(found.leaf_question[0, 0]), found.leaf_expected
        rest = [q for q in range(3) if q != question]
        left = problem([tables[q] for q in rest], [prices[q] for q in rest])
        assert told is not None
        assert told.saving[0, 0] == pytest.approx(50 - optimal_cost(free))
        assert told.added[0, 0] == pytest.approx(optimal_cost(left) - optimal_cost(free), abs=1e-9)
