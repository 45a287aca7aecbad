"""The least squares behind corrected values: the sparse design, and the iterative solution of wide ones."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.deciding.problem import ModelProblem
from seqclass.pomdp import ProjectedValueIteration, evaluate
from seqclass.pomdp.solvers import correlated as corrected


def dense_design(functions, shared, answers, n_codes):
    """Row by row and cell by cell, as the docstring of `CorrectedValues` puts it."""
    n, m = answers.shape
    width = shared.shape[1]
    blocks = np.zeros((n, m, n_codes, width))
    for i in range(n):
        for f in range(m):
            if answers[i, f] >= 0:
                blocks[i, f, answers[i, f]] = shared[i]
    return np.hstack([functions, blocks.reshape(n, -1)])


@pytest.mark.parametrize(("n_answers", "width"), [(0, 2), (1, 5), (4, 2), (3, 5)])
def test_the_regression_is_that_of_every_cell(n_answers, width, monkeypatch):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        functions = rng.random((60, 5)) * (rng.random((60, 5)) < 0.8)
        answers = rng.integers(-1, 3, (60, n_answers)).astype(np.int8)
        answers[5] = -1
        design = corrected._design(functions, functions[:, -width:], answers, 3)
        dense = dense_design(functions, functions[:, -width:], answers, 3)
        monkeypatch.setattr(corrected, "_DENSE", np.inf)
        sparse = corrected._design(functions, functions[:, -width:], answers, 3)
        monkeypatch.undo()
        np.testing.assert_array_equal(design, dense)
        np.testing.assert_array_equal(sparse.toarray(), dense)
        target = rng.normal(size=60)
        penalty = corrected._RIDGE * (dense**2).sum() / dense.shape[1]
        stacked = np.vstack([dense, np.sqrt(penalty) * np.eye(dense.shape[1])])
        oracle = np.linalg.lstsq(stacked, np.append(target, np.zeros(dense.shape[1])))[0]
        for made in (design, sparse):
            np.testing.assert_allclose(corrected._ridge(made, target), oracle, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_iterative_solution_acts_as_the_direct_one(n_classes, make_tree, monkeypatch):
    for seed in range(2):
        tree = make_tree(seed, n_features=6, n_outcomes=4, n_classes=n_classes, spread=0.7)
        n = len(tree.order)
        problem = ModelProblem(
            tree.model, tree.prior, tree.order, np.full(n, 0.02), 1 - np.eye(n_classes), max_contexts=1
        )
        solver = ProjectedValueIteration(n_beliefs=1000, certificate_paths=0)
        direct = solver.solve(problem)
        with monkeypatch.context() as patch:
            patch.setattr(corrected, "_DIRECT", 0)
            iterative = solver.solve(problem)
        assert any(
            w is not None and not np.array_equal(w, v) for w, v in zip(iterative.values.weights, direct.values.weights)
        )
        here, there = (evaluate(problem, policy, max_histories=10**5) for policy in (iterative, direct))
        assert here.method == "exact"
        assert here.cost == pytest.approx(there.cost, rel=5e-4)
        agree, total = 0, 0
        info, rng = problem.begin(300), np.random.default_rng(seed)
        for _ in range(n):
            costs = [policy.continuation_cost(info) for policy in (iterative, direct)]
            np.testing.assert_allclose(*costs, atol=5e-3)
            agree += int((iterative.act(info) == direct.act(info)).sum())
            total += len(info)
            shares = info.predictive.cumsum(axis=1)
            info = info.update((rng.random((300, 1)) * shares[:, -1:] > shares).sum(axis=1))
        assert agree > 0.99 * total


def test_answers_change_all_functions_as_long_as_columns_are_few(make_tree, monkeypatch):
    tree = make_tree(1, n_features=6, n_classes=3, spread=0.7)
    prices = np.full(len(tree.order), 0.01)
    problem = ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(3), max_contexts=1)
    columns = [(len(w) - 1) * (w.shape[1] - 1) * w.shape[2] for w in weights_of(problem)]
    few = max(columns) - 1  # one too few for the widest stage
    monkeypatch.setattr(corrected, "_MOST_COLUMNS", few)
    of_classes = [bool(w[1:, :, :-2].any()) for w in weights_of(problem)]
    assert of_classes == [0 < n <= few for n in columns]
    assert len(set(of_classes)) == 2


def weights_of(problem):
    policy = ProjectedValueIteration(n_beliefs=500, certificate_paths=0).solve(problem)
    return [w for w in policy.values.weights if w is not None]
