"""Batches that are looked at in single precision first: they ask what small ones do, at the same costs."""

import numpy as np
import pytest

from seqclass.pomdp import Adaptive, ClassInformation, MixtureProblem


def states_apart(n_questions: int = 8, width: int = 5) -> np.ndarray:
    """P(outcome | hidden state) of questions of which the last tell by 1e-9 more than the first, or as much."""
    tables = np.random.default_rng(0).dirichlet(np.ones(width), size=(n_questions, 6)).transpose(0, 2, 1)
    sharper = np.clip(tables[:2], 1e-3, None) ** (1 + 1e-7)
    return np.concatenate([tables, sharper / sharper.sum(axis=1, keepdims=True), tables[2:4]])


def check_large_batches(problem: MixtureProblem, n_answers: int = 2) -> int:
    """A batch of 600 asks what parts of 100 do, which are all in double, at the same costs; how many questions."""
    solver = Adaptive([ClassInformation()], n_paths=50, n_cases=50, certificate_paths=0, max_rounds=0, search_nodes=0)
    policy, n = solver.solve(problem), problem.n_questions
    belief, rng = problem.initial_belief(600), np.random.default_rng(1)
    for _ in range(n_answers):
        question = rng.permuted(np.tile(np.arange(n), (600, 1)), axis=1)
        question = question[np.arange(600), belief.available[np.arange(600)[:, None], question].argmax(axis=1)]
        belief = belief.asking(question).update(rng.integers(5, size=600))
        parts = [belief.replace()[rows] for rows in np.split(np.arange(600), 6)]
        assert (policy.action(belief) == np.concatenate([policy.action(part) for part in parts])).all()
        costs = np.concatenate([policy.continuation_cost(part) for part in parts])
        np.testing.assert_allclose(policy.continuation_cost(belief), costs, rtol=1e-11, atol=1e-12)
        for batch, some in zip(ClassInformation().leading(belief), zip(*map(ClassInformation().leading, parts))):
            np.testing.assert_allclose(batch, np.concatenate(some), rtol=1e-11, atol=1e-12)
    return len(set(policy.next_question(belief).tolist()))


@pytest.mark.parametrize("prices", [[0.0] + [0.01] * 5 + [0.02] * 6, [1e6] * 12], ids=["some free", "in money"])
def test_large_batches_ask_what_small_ones_do(prices):
    tables, money = states_apart(), 1e8 if max(prices) > 1 else 1.0
    costs = money * (1 - np.eye(3))
    problem = MixtureProblem(np.full(6, 1 / 6), [0, 0, 0, 1, 1, 2], tables, prices, costs, any_order=True)
    assert check_large_batches(problem) > 2


@pytest.mark.slow_cells("0.5 of a class-a mistake costs 1", "0.5 of a class-may refer", "0.5 of a class-one costs more")
@pytest.mark.parametrize(
    "costs",
    [[[0, 1], [1, 0]], [[0, 0.2], [5, 0]], [[0, 1, 0.1], [1, 0, 0.1]]],
    ids=["a mistake costs 1", "one costs more", "may refer"],
)
@pytest.mark.parametrize("likely", [0.5, 0.97, 1.0], ids="{} of a class".format)
def test_answers_that_change_no_decision_cost_what_it_does(costs, likely):
    tables = np.round(states_apart(), 7)  # which sum up to no more than about 1
    assert np.abs(tables.sum(axis=1) - 1).max() > 1e-8
    of_class = np.array([1, 0, 1, 0, 0, 1])
    prior = np.where(of_class == 1, likely, 1 - likely) / 3
    groups = {"groups": [0, 0, 0] + [-1] * 9, "full_prices": [0.01] * 3 + [0.002] * 9}
    problem = MixtureProblem(prior, of_class, tables, 0.002, costs, any_order=True, **groups)
    assert check_large_batches(problem, 4) > 2 or likely == 1
