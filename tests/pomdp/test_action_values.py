"""Values of beliefs and actions, against plain recursions of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seqclass.pomdp import (
    DECIDE,
    ExactFreeOrder,
    FirstK,
    FunctionPolicy,
    GridValueIteration,
    Lookahead,
    Panels,
    Perseus,
    Policy,
    TableProblem,
    Visits,
    evaluate,
    optimal_cost,
    optimal_values,
    solve_for_budget,
    with_names,
)
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.visits import with_visits


def random_problem(seed: int) -> TableProblem:
    """Two to four questions; by the seed in any order or one, with groups, a further decision, a limit."""
    rng = np.random.default_rng(seed)
    k, n_classes = int(rng.integers(2, 4 + (seed % 10 == 0))), int(rng.integers(2, 4))
    likelihoods = rng.dirichlet(np.ones(3) * 0.6, size=(k, n_classes)).transpose(0, 2, 1)
    costs = 1 - np.eye(n_classes)
    if seed % 3 == 0:
        costs = np.column_stack([costs, np.full(n_classes, 0.3)])
    any_order = seed % 2 == 0
    prices = rng.uniform(0.01, 0.1, k)
    groups = rng.integers(-1, 2, k) if seed % 5 == 0 else None
    return TableProblem(
        rng.dirichlet(np.ones(n_classes)),
        likelihoods,
        prices,
        costs,
        groups=groups,
        full_prices=None if groups is None else prices * 1.5,
        any_order=any_order,
        max_questions=k - 1 if any_order and seed % 4 == 0 else None,
    )


def go_on(policy: Any, one: BeliefState) -> float:
    """Cost from one case on, by plain recursion; where ``policy`` is None as well as can be."""
    stop = float(one.stopping_cost[0])
    if policy is None:
        return min([stop, *(ask(policy, one, q) for q in np.flatnonzero(one.available[0]).tolist())])
    question = int(policy.action(one)[0])
    return stop if question == DECIDE else ask(policy, one, question)


def ask(policy: Any, one: BeliefState, question: int) -> float:
    chances = one.asking(question).outcome_probabilities[0]
    total = 0.0
    for outcome in np.flatnonzero(chances > 0).tolist():
        after = one.asking(question).update(np.array([outcome]))
        total += chances[outcome] * (float(after.spent[0] - one.spent[0]) + go_on(policy, after))
    return total


def policies(problem: AcquisitionProblem, seed: int) -> Policy:
    if problem.any_order:
        return [Lookahead(1), Lookahead(2), ExactFreeOrder()][seed % 3].solve(problem)
    return FirstK(1, certificate_paths=0).solve(problem) if seed % 3 else Lookahead(1).solve(problem)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 10))])
def test_values_are_those_of_a_plain_recursion(part: int) -> None:
    for seed in range(20 * part, 20 * (part + 1)):
        problem = random_problem(seed)
        policy, start = policies(problem, seed), problem.initial_belief()
        beliefs = [start]
        question = int(np.flatnonzero(start.available[0])[0])
        beliefs.append(
            start.asking(question).update(np.array([int(start.asking(question).joint[0].sum(axis=1).argmax())]))
        )
        for one in beliefs:
            assert policy.value(one, method="exact")[0] == pytest.approx(go_on(policy, one), abs=1e-9)
            for frame, plan in (
                (policy.action_values(one, method="exact"), policy),
                (optimal_values(problem, one), None),
            ):
                open_ = np.flatnonzero(one.available[0]).tolist()
                wanted = [one.stopping_cost[0], *(ask(plan, one, q) for q in open_)]
                np.testing.assert_allclose(frame["total"], wanted, atol=1e-9)
                np.testing.assert_allclose(frame["price"] + frame["after"], frame["total"], atol=1e-12)
                assert list(frame.index) == ["decide", *(problem.names.question(q) for q in open_)]
        assert policy.value(start)[0] == pytest.approx(evaluate(problem, policy).cost, abs=1e-9)
        assert optimal_values(problem, start)["total"].min() == pytest.approx(optimal_cost(problem), abs=1e-9)


def test_a_batch_and_simulation_agree_with_one_by_one() -> None:
    problem = random_problem(4)
    policy = Lookahead(1).solve(problem)
    chances = np.array([[0.5, 0.5], [0.2, 0.8], [0.95, 0.05]]) if problem.n_classes == 2 else np.eye(3) * 0.7 + 0.1
    exact = policy.value(chances)
    np.testing.assert_allclose(exact, [policy.value(row)[0] for row in chances], atol=1e-12)
    frame = policy.action_values(chances)
    assert frame.index.names == ["case", "action"]
    np.testing.assert_allclose(frame.loc[1]["total"], policy.action_values(chances[1])["total"], atol=1e-12)
    drawn = policy.action_values(chances, method="simulation", n_paths=20_000)
    assert (np.abs(drawn["total"] - frame["total"]) <= 4 * drawn["std_error"] + 1e-9).all()
    assert drawn["std_error"].max() > 0
    best = frame.loc[0]["total"].idxmin()
    assert frame.loc[0]["adds"].idxmax() == best
    assert (frame.loc[0]["adds"] > 0).sum() == 1


def test_vectors_are_taken_where_a_belief_is_meant() -> None:
    likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.8, 0.3], [0.2, 0.7]]])
    problem = with_names(TableProblem([0.5, 0.5], likelihoods, prices=0.05), ["a", "b"])
    policy = GridValueIteration().solve(problem)
    assert policy.action([0.5, 0.5]).tolist() == [0]
    assert policy.action_values([0.5, 0.5], stage=1).index.tolist() == ["decide", "b"]
    first = problem.initial_belief().replace(stage=1)
    assert policy.value([0.5, 0.5], stage=1) == pytest.approx(policy.value(first))
    assert policy.value([0.5, 0.5], stage=2)[0] == 0.5
    for wrong, message in (
        ([0.5, 0.4], "one sums to 0.9"),
        ([0.5, 0.2, 0.3], "of shape \\(2,\\)"),
        ([-0.5, 1.5], "the least is -0.5"),
    ):
        with pytest.raises(ValueError, match=message):
            policy.value(wrong)
    with pytest.raises(ValueError, match="stage says enough only in a fixed order"):
        Lookahead(1).solve(TableProblem([0.5, 0.5], likelihoods, 0.05, any_order=True)).value([0.5, 0.5], stage=1)


def test_a_policy_that_draws_lots_has_their_mean() -> None:
    problem = random_problem(1)
    policy = solve_for_budget(problem, 0.6 * evaluate(problem, Lookahead(1).solve(problem)).price, Lookahead(1))
    assert policy.value(problem.initial_belief())[0] == pytest.approx(evaluate(problem, policy).cost, abs=1e-9)


def test_too_many_histories_are_said() -> None:
    problem = random_problem(2)
    ask_all = FunctionPolicy(problem, lambda b: np.where(b.available.any(axis=1), b.available.argmax(axis=1), DECIDE))
    with pytest.raises(ValueError, match="max_histories=3"):
        ask_all.value(problem.initial_belief(), method="exact", max_histories=3)
    with pytest.raises(ValueError, match="max_histories=3"):
        optimal_values(problem, problem.initial_belief(), max_histories=3)


def test_alpha_vectors_say_where_each_is_least() -> None:
    likelihoods = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 2)).transpose(0, 2, 1)
    problem = with_names(TableProblem([0.5, 0.5], likelihoods, prices=0.02), ["a", "b", "c"], classes=["ill", "well"])
    values = Perseus(certificate_paths=0).solve(problem).values
    assert repr(values).startswith("<AlphaVectors: ")
    assert "<table" in values._repr_html_()
    frame = values.to_frame()
    assert list(frame.columns) == ["stage", "context", "action", "ill", "well", "lower", "upper"]
    grid = np.linspace(0, 1, 101)
    for stage, one in frame.groupby("stage"):
        lines = one["ill"].to_numpy()[:, None] * grid + one["well"].to_numpy()[:, None] * (1 - grid)
        inside = (one["lower"].to_numpy()[:, None] <= grid) & (grid <= one["upper"].to_numpy()[:, None])
        assert (lines[inside] <= lines.min(axis=0)[np.nonzero(inside)[1]] + 1e-9).all()
        assert inside.any(axis=0).all()  # each belief has a vector
        np.testing.assert_allclose(
            lines.min(axis=0), values.value(int(stage), np.column_stack([grid, 1 - grid])), atol=1e-9
        )
        for number, (low, high) in enumerate(zip(one["lower"], one["upper"])):
            region = values.dominating_region(number, int(stage))
            assert (region is not None) == bool(high - low > 1e-12)
            assert region is None or low - 1e-9 <= region[0][0] <= high + 1e-9
    with pytest.raises(ValueError, match="vector"):
        values.dominating_region(10_000)


def test_a_plan_from_the_prior_on_takes_no_bare_probabilities() -> None:
    problem = random_problem(6)
    plan = ExactFreeOrder().solve(problem)
    cheaper = solve_for_budget(problem, 0.6 * evaluate(problem, plan).price, ExactFreeOrder())
    panels = Panels().solve(with_visits(problem, Visits(0.01, np.zeros(problem.n_questions), 0.0)))
    for call in (plan.value, plan.action, plan.action_values, cheaper.value, panels.value):
        with pytest.raises(ValueError, match="belief: this policy has a plan for partial answers from the fitted"):
            call(np.full(problem.n_classes, 1 / problem.n_classes))
    other = next(p for p in map(random_problem, range(20)) if p.n_classes != problem.n_classes)
    with pytest.raises(ValueError, match="belief is of a problem with"):
        plan.action(other.initial_belief())


def test_a_policy_that_goes_by_stage_is_told_what_it_meets() -> None:
    of = with_names(
        TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), 0.01, any_order=True), ["a", "b", "c"]
    )
    by_stage = FunctionPolicy(of, lambda belief: np.full(len(belief), belief.stage))
    with pytest.raises(ValueError, match=r"asks 'b' \(question 1\) at stage 1, which was asked before.*action_values"):
        by_stage.action_values(of.initial_belief())
    with pytest.raises(ValueError, match="asks question 9 at stage 0, which does not exist"):
        FunctionPolicy(of, lambda belief: np.full(len(belief), 9)).value(of.initial_belief())
    assert repr(by_stage) == "<FunctionPolicy: at most 3 of 3 questions in any order>"


def test_too_many_histories_of_optimal_values_are_said_in_its_own_words() -> None:
    of = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), 0.01, any_order=True)
    with pytest.raises(ValueError, match="max_histories=5 histories from 2 beliefs; raise it, give fewer") as error:
        optimal_values(of, [[0.5, 0.5], [0.4, 0.6]], max_histories=5)
    assert "method" not in str(error.value)


def test_deciding_has_a_row_of_its_own_beside_a_question_of_that_name() -> None:
    likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    problem = with_names(TableProblem([0.5, 0.5], likelihoods, prices=0.1, any_order=True), ["look", "decide"])
    frame = Lookahead(1).solve(problem).action_values(problem.initial_belief())
    assert list(frame.index) == ["(decide)", "look", "decide"]
    assert list(optimal_values(problem, [[0.5, 0.5], [0.9, 0.1]]).loc[1].index) == ["(decide)", "look", "decide"]
    assert frame.loc["(decide)", "total"] == 0.5
