"""Batches that are looked at in single precision first: they ask what small ones do, at the same costs."""

import numpy as np
import pytest

from seqclass.pomdp import Adaptive, ClassInformation, MixtureProblem


def states_apart(n_questions: int = 8, width: int = 5) -> np.ndarray:
    """P(outcome | hidden state) of questions of which the last tell by 1e-9 more than the first, or as much."""
    tables = np.random.default_rng(0).dirichlet(np.ones(width), size=(n_questions, 6)).transpose(0, 2, 1)
    sharper = np.clip(tables[:2], 1e-3, None) ** (1 + 1e-7)
    return np.concatenate([tables, sharper / sharper.sum(axis=1, keepdims=True), tables[2:4]])


@pytest.mark.parametrize("prices", [[0.0] + [0.01] * 5 + [0.02] * 6, [1e6] * 12], ids=["some free", "in money"])
def test_large_batches_ask_what_small_ones_do(prices):
    tables, money = states_apart(), 1e8 if max(prices) > 1 else 1.0
    problem = MixtureProblem(
        np.full(6, 1 / 6), [0, 0, 0, 1, 1, 2], tables, prices, money * (1 - np.eye(3)), any_order=True
    )
    solver = Adaptive([ClassInformation()], n_paths=50, n_cases=50, certificate_paths=0, max_rounds=0, search_nodes=0)
    policy = solver.solve(problem)
    belief, rng = problem.initial_belief(600), np.random.default_rng(1)
    for _ in range(2):
        question = rng.permuted(np.tile(np.arange(12), (600, 1)), axis=1)
        question = question[np.arange(600), belief.available[np.arange(600)[:, None], question].argmax(axis=1)]
        belief = belief.asking(question).update(rng.integers(5, size=600))
        parts = [belief.replace()[rows] for rows in np.split(np.arange(600), 6)]
        assert (policy.action(belief) == np.concatenate([policy.action(part) for part in parts])).all()
        costs = np.concatenate([policy.continuation_cost(part) for part in parts])
        np.testing.assert_allclose(policy.continuation_cost(belief), costs, rtol=1e-11, atol=1e-12)
        asked = policy.next_question(belief)
        assert len(set(asked.tolist())) > 2
