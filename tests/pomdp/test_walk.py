"""Branching of histories, and the choice of few of many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqclass.pomdp import FunctionPolicy, TableProblem, evaluate
from seqclass.pomdp.alpha import select
from seqclass.pomdp.bounds.optimum import optimal_cost
from seqclass.pomdp.observations import AllObservations, SampledObservations, TooLarge
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.table_problem import select_questions
from seqclass.pomdp.walk import split_by_question


def test_all_branches_with_their_probabilities(make_case):
    for seed in range(5):
        case = make_case(seed, "zeros", n_stages=3)
        info, weight = case.problem.initial_belief(), np.ones(1)
        for _ in range(3):
            parent, outcome, following = AllObservations().branch(info, weight, np.arange(len(info)))
            assert following.sum() == pytest.approx(1)
            assert following.min() > 0
            pairs = set(zip(parent.tolist(), outcome.tolist()))
            assert len(pairs) == len(parent)
            expected = {(i, v) for i, row in enumerate(info.outcome_probabilities) for v in np.flatnonzero(row)}
            assert pairs == expected
            np.testing.assert_allclose(following, weight[parent] * info.outcome_probabilities[parent, outcome])
            info, weight = info.update(outcome, rows=parent), following
        assert info.stage == 3


def test_sampled_paths_are_all_kept_and_spread_as_the_model_says():
    table = np.array([[[0.5, 0.1], [0.3, 0.2], [0.2, 0.7], [0.0, 0.0]]])
    problem = TableProblem([0.5, 0.5], table, 0.1)
    rng = np.random.default_rng(0)
    counts = np.zeros(4)
    for _ in range(50):
        parent, outcome, paths = SampledObservations(rng).branch(
            problem.initial_belief(2), np.array([600.0, 400.0]), np.arange(2)
        )
        assert np.bincount(parent, weights=paths).tolist() == [600, 400]
        np.add.at(counts, outcome, paths)
    assert counts[3] == 0
    np.testing.assert_allclose(counts / counts.sum(), [0.3, 0.25, 0.45, 0.0], atol=0.01)


@given(
    st.lists(st.floats(1e-12, 1e3), min_size=1, max_size=40),
    st.integers(1, 45),
    st.integers(0, 2**32 - 1),
)
def test_select_keeps_few_and_their_total_weight(weights, n, seed):
    weight = np.array(weights)
    chosen, new = select(weight, n, np.random.default_rng(seed))
    assert len(chosen) == len(new) == min(n, len(weight)) or len(chosen) == n - 1  # rounding at a tick
    assert (np.diff(chosen) > 0).all()
    assert (new >= weight[chosen]).all()
    if len(weight) <= n:
        np.testing.assert_array_equal(new, weight)
    else:
        heavy = new == weight[chosen]
        # the light ones share one weight, and whoever is heavier than that stays
        assert len(np.unique(new[~heavy])) <= 1
        if (~heavy).any():
            assert set(np.flatnonzero(weight > new[~heavy][0])) <= set(chosen.tolist())
        assert len(chosen) < n or new.sum() == pytest.approx(weight.sum(), rel=1e-9)


@pytest.mark.slow
def test_select_is_unbiased():
    rng = np.random.default_rng(0)
    weight = np.append(rng.dirichlet(np.full(11, 0.5)) * 0.6, 0.4)
    kept, total = np.zeros(12), np.zeros(12)
    for _ in range(4000):
        chosen, new = select(weight, 5, rng)
        assert len(chosen) == 5
        kept[chosen] += 1
        total[chosen] += new
    np.testing.assert_allclose(total / 4000, weight, atol=0.012)
    assert kept[weight.argmax()] == 4000


def test_histories_that_would_be_too_many_are_not_copied_first(monkeypatch):
    split = []

    def counted(info, row, question):
        split.append(row.size)
        return split_by_question(info, row, question)

    monkeypatch.setattr("seqclass.pomdp.walk.split_by_question", counted)
    rng = np.random.default_rng(0)
    yes = rng.uniform(0.3, 0.7, size=(40, 2))
    problem = TableProblem([0.5, 0.5], np.stack([yes, 1 - yes], axis=1), 1e-4, any_order=True)
    with pytest.raises(TooLarge, match="max_histories=20000"):
        optimal_cost(problem, max_histories=20_000)
    # 40 questions, then 39 after each answer; the third level, of 3120 histories with 38 questions, is too much
    assert split == [40, 80 * 39]


def test_rows_of_different_questions_go_together_where_each_has_few():
    tables = np.random.default_rng(0).dirichlet(np.ones(2), (2, 2)).transpose(0, 2, 1)
    belief = TableProblem([0.5, 0.5], tables, 0.1, any_order=True).initial_belief(128)
    for n, sizes in ((127, [127]), (128, [64, 64])):  # of two questions 64 rows are enough in the mean
        parts = split_by_question(belief, np.arange(n), np.arange(n) % 2)
        assert [len(rows) for rows, _ in parts] == sizes


def test_histories_are_counted_before_any_is_followed(monkeypatch):
    followed, update = [], BeliefState.update

    def counted(self, outcome, **how):
        followed.append(len(outcome))
        return update(self, outcome, **how)

    monkeypatch.setattr(BeliefState, "update", counted)
    yes = np.random.default_rng(0).uniform(0.3, 0.7, size=(9, 2))
    problem = TableProblem([0.5, 0.5], np.stack([yes, 1 - yes], axis=1), 1e-4, any_order=True)
    # what is asked last follows from the answers, so that the level falls into two parts
    policy = FunctionPolicy(problem, lambda b: b.stage + ((b.stage == 7) & (b.probabilities[:, 0] > 0.5)))
    with pytest.raises(TooLarge):
        evaluate(problem, policy, method="exact", max_histories=2**9 - 2)
    assert sum(followed) == 2**8 - 2


def test_a_hundred_thousand_histories_are_enumerated() -> None:
    tables = np.repeat([[[0.9, 0.2], [0.1, 0.8]]], 16, axis=0)  # 2^17 - 1 of them
    problem = TableProblem([0.5, 0.5], tables, prices=0.001)
    assert evaluate(problem, FunctionPolicy(problem, lambda belief: True), n_paths=10).method == "simulation"


@pytest.mark.parametrize("any_order", [False, True])
def test_an_enumeration_that_comes_to_too_much_is_seen_from_few_rows(any_order: bool) -> None:
    rng, n_asked = np.random.default_rng(0), []
    problem = TableProblem(
        [0.5, 0.5], rng.dirichlet(np.ones(50), (4, 2)).transpose(0, 2, 1), prices=0.0, any_order=any_order
    )

    def ask(belief: BeliefState) -> np.ndarray:
        n_asked.append(len(belief))
        return np.full(len(belief), belief.stage if belief.stage < belief.problem.n_stages else -1)

    # 1, 50 and 2,500 histories, of which each has 50 branches
    with pytest.raises(TooLarge, match="more than max_histories=10000 histories"):
        evaluate(problem, FunctionPolicy(problem, ask), method="exact", max_histories=10_000)
    assert sum(n_asked) < 300
    n_asked.clear()
    assert (
        evaluate(select_questions(problem, np.arange(2)), FunctionPolicy(problem, ask), max_histories=2551).method
        == "exact"
    )


@pytest.mark.slow
def test_one_history_is_asked_once_and_its_paths_are_drawn_without_bias(monkeypatch):
    """A draw that is thrown away if its paths part would let those that stay together come too often."""
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.7], [0.1, 0.3]]]), 0.01)
    policy, asked = FunctionPolicy(problem, lambda belief: np.full(len(belief), belief.stage < 1)), []
    draw = SampledObservations.branch

    def branch(self, belief, weight, rows):
        asked.append(belief.stage)
        return draw(self, belief, weight, rows)

    monkeypatch.setattr(SampledObservations, "branch", branch)
    costs = [evaluate(problem, policy, method="simulation", n_paths=2, random_state=seed) for seed in range(400)]
    assert asked == [0] * 400
    apart = np.mean([cost.n_histories == 3 for cost in costs])  # the first, and two after it
    assert apart == pytest.approx(2 * 0.8 * 0.2, abs=0.06)
