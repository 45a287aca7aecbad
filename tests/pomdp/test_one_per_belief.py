"""Outcomes that give the same belief are looked at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import seqclass.pomdp.table_problem
from seqclass import Rules
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ClassInformation,
    ExpectedSaving,
    Lookahead,
    LookaheadSaving,
    OrderingRule,
    TableProblem,
)
from seqclass.pomdp.bounds.optimum import ask_once
from seqclass.pomdp.latent import one_per_belief
from seqclass.pomdp.rules import with_rules


def counted(
    n_classes: int = 3, sizes: tuple[int, ...] = (120, 3, 80, 4), n_rows: int = 90, seed: int = 0
) -> list[np.ndarray]:
    """Likelihoods as naive Bayes has them, of so few rows that most outcomes of many were counted as often."""
    rng, tables = np.random.default_rng(seed), []
    for size in sizes:
        share = rng.dirichlet(np.ones(size) * 0.5, n_classes)
        counts = np.stack([rng.multinomial(n_rows, p) for p in share], axis=1) + 1.0
        tables.append(counts / counts.sum(axis=0))
    return tables


def problem_of(tables: list[np.ndarray], **settings: Any) -> TableProblem:
    n = tables[0].shape[1]
    prices = np.linspace(0.02, 0.05, len(tables))
    return TableProblem(np.full(n, 1 / n), tables, prices=prices, **({"any_order": True} | settings))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a problem that takes every outcome by itself."""

    def made(tables: list[np.ndarray], **settings: Any) -> TableProblem:
        with monkeypatch.context() as patched:
            patched.setattr(seqclass.pomdp.table_problem, "one_per_belief", lambda table: None)
            problem = problem_of(tables, **settings)
            assert problem.structure.equivalent_outcomes is None  # it is worked out once
            return problem

    return made


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("settings", [{}, {"max_cost": 0.08}, {"max_questions": 2}, {"any_order": False}])
def test_costs_are_the_same(n_classes: int, settings: dict[str, Any], plain: Any) -> None:
    tables = counted(n_classes, n_rows=150 // n_classes)
    costs, scores = [], []
    for problem in (problem_of(tables, **settings), plain(tables, **settings)):
        belief = (
            problem.initial_belief()
            if settings.get("any_order") is False
            else problem.initial_belief(5).asking(0).update(np.arange(5))
        )
        costs.append(
            [Lookahead(depth, certificate_paths=0).solve(problem).question_costs(belief) for depth in (1, 2, 3)]
        )
        if problem.any_order:
            scores.append([rule.scores(belief) for rule in (ExpectedSaving(), ClassInformation(), EC2())])
    assert problem_of(tables, **settings).structure.equivalent_outcomes is not None
    np.testing.assert_allclose(costs[0], costs[1], rtol=1e-12, atol=0)
    if scores:
        np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9, atol=1e-11)


def test_rules_of_a_problem_stay(plain: Any) -> None:
    rules = Rules(mandatory=[1], enemies=[[0, 2]])
    tables = counted()
    found = [
        Lookahead(2, certificate_paths=0)
        .solve(with_rules(problem, rules))
        .question_costs(with_rules(problem, rules).initial_belief())
        for problem in (problem_of(tables), plain(tables))
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_there_is_less_to_follow() -> None:
    tables = counted()
    belief = problem_of(tables).initial_belief(2)
    row, question = np.array([0, 1, 1]), np.array([0, 0, 2])
    every, fewer = (ask_once(belief, row, question, merged) for merged in (False, True))
    distinct = [len(np.unique(np.round(t / t.sum(axis=1, keepdims=True), 12), axis=0)) for t in tables]
    assert len(every.belief) == 2 * 120 + 80
    assert len(fewer.belief) == 2 * distinct[0] + distinct[2] < len(every.belief) / 2
    np.testing.assert_allclose(np.bincount(fewer.entry, fewer.weight), 1.0)
    # each belief weighs what its outcomes weigh together
    for one in range(3):
        beliefs = np.round([*every.belief.probabilities[every.entry == one]], 12)
        kinds, place = np.unique(beliefs, axis=0, return_inverse=True)
        weight = np.bincount(place.reshape(-1), every.weight[every.entry == one])
        own = fewer.belief.probabilities[fewer.entry == one]
        order = np.lexsort(np.round(own, 12).T[::-1])
        np.testing.assert_allclose(own[order], kinds, atol=1e-11)
        np.testing.assert_allclose(fewer.weight[fewer.entry == one][order], weight, rtol=1e-12)


def test_rows_that_ask_different_questions_are_merged_too() -> None:
    belief = problem_of(counted()).initial_belief(2)
    found = ask_once(belief, np.arange(2), np.array([0, 2]), merged=True)
    apart = [ask_once(belief[[row]], np.zeros(1, int), np.array([q]), merged=True) for row, q in ((0, 0), (1, 2))]
    assert len(found.belief) == sum(len(one.belief) for one in apart)


def test_what_is_next_to_nothing_is_told_apart() -> None:
    """After other answers the share that hardly counts now may be all that does."""
    table = np.tile([[1.0, 1e-15], [1.0, 3e-15]], (40, 1))
    merged, stands_for = one_per_belief(table[None]) or (None, None)
    assert merged.shape == (1, 2, 2)
    np.testing.assert_array_equal(np.unique(stands_for), np.unique(stands_for[0, :2]))
    np.testing.assert_array_equal(stands_for[0, ::2], stands_for[0, 0])
    np.testing.assert_allclose(sorted(merged[0, :, 1]), [40e-15, 120e-15])


def test_nothing_is_merged_where_little_is_spared() -> None:
    rng = np.random.default_rng(0)
    assert one_per_belief(rng.dirichlet(np.ones(200), 2).T[None]) is None  # all beliefs differ
    assert one_per_belief(np.full((3, 10, 2), 0.1)) is None  # few outcomes


def test_padding_and_outcomes_that_never_come_are_left_out() -> None:
    tables = counted(2, (100, 2), 30)
    tables = [np.vstack([tables[0], np.zeros((20, 2))]), np.array([[0.9, 0.2], [0.1, 0.8]])]
    problem = problem_of(tables)
    assert problem.structure.equivalent_outcomes is not None
    found = ask_once(problem.initial_belief(), np.zeros(2, int), np.arange(2), merged=True)
    assert found.outcome[found.entry == 0].max() < 100
    assert sorted(found.outcome[found.entry == 1]) == [0, 1]


class Skips(OrderingRule):
    """Asks by what an answer was: not by the belief alone."""

    shown: list[int] = []

    def gains(self, info: Any, questions: Any) -> Any:
        if info.stage == 1:
            self.shown.append(len(np.unique(info.observed, axis=0)))
        return np.where(info.observed[:, :1] % 2 == 0, questions[None], -questions[None]).astype(float)


def test_adaptive_is_the_same_and_rules_that_look_at_answers_see_all(plain: Any) -> None:
    tables = counted(2, (100, 3, 60), 60)
    rules = [ClassInformation(), LookaheadSaving(2), ExpectedSaving()]
    solver = Adaptive(rules, n_paths=300, n_cases=300, max_nodes=0, max_stages=2, certificate_paths=0, random_state=0)
    one, other = (solver.solve(problem).info.ordering for problem in (problem_of(tables), plain(tables)))
    assert one.chosen == other.chosen
    np.testing.assert_allclose([c.cost for c in one.candidates], [c.cost for c in other.candidates], rtol=1e-9)
    Skips.shown.clear()
    replaced = Adaptive([Skips()], n_paths=300, n_cases=50, max_nodes=0, max_stages=2, certificate_paths=0)
    replaced.solve(problem_of(tables))
    assert max(Skips.shown) >= 60
