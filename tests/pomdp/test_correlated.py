"""ProjectedValueIteration: values of a projection, corrected by least squares, on problems without tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqclass.agent.problem import ModelProblem
from seqclass.bn import TreeNetwork
from seqclass.pomdp import (
    AcquisitionProblem,
    FirstK,
    GridValueIteration,
    Lookahead,
    Perseus,
    ProjectedValueIteration,
    TableProblem,
    certify,
    evaluate,
)
from seqclass.pomdp.alpha import ALWAYS
from seqclass.pomdp.solvers import correlated as corrected
from seqclass.pomdp.solvers.correlated import CorrectedValues
from seqclass.pomdp.solvers.defaults import default_solver

PRICE = 0.03


def problem_of(tree, price=PRICE):
    """The problem of a tree that is told to have no tables."""
    n_classes = len(tree.prior)
    prices = np.full(len(tree.order), price)
    return ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(n_classes), max_contexts=1)


def loss(tree, solver, price=PRICE):
    """How far the executed policy is above the optimum, as a share."""
    problem = problem_of(tree, price)
    truth = tree.optimum(problem.prices, problem.decision_costs)
    policy = solver.solve(problem)
    cost = evaluate(problem, policy).cost
    assert policy.info.lower <= truth + 1e-9
    assert policy.info.upper >= cost - 1e-9
    assert cost >= truth - 1e-9
    return cost / truth - 1


@pytest.mark.slow_cells("3", "4")
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_contexts_and_corrections_close_the_gap(make_tree, n_classes):
    trees = [make_tree(seed, n_classes=n_classes, spread=0.7) for seed in range(2)]
    plain = np.mean([loss(tree, ProjectedValueIteration(max_contexts=1, n_beliefs=0)) for tree in trees])
    few = np.mean([loss(tree, ProjectedValueIteration(max_contexts=16, n_beliefs=0)) for tree in trees])
    corrected = np.mean([loss(tree, ProjectedValueIteration(max_contexts=1)) for tree in trees])
    assert few < plain
    assert corrected < plain
    assert corrected < 0.01
    assert np.mean([loss(tree, ProjectedValueIteration()) for tree in trees]) < 0.01


def test_sampled_bounds_are_tighter_with_corrections(make_tree):
    tree = make_tree(3, n_features=7, n_classes=2, spread=0.7)
    problem = problem_of(tree)
    truth = tree.optimum(problem.prices, problem.decision_costs)
    gaps = []
    for n_beliefs in (0, 2000):
        policy = ProjectedValueIteration(max_contexts=1, n_beliefs=n_beliefs, certificate_paths=0).solve(problem)
        found = certify(problem, policy, method="simulation", n_paths=4000, random_state=7)
        assert found.lower <= truth <= found.upper
        gaps.append(found.gap)
    assert gaps[1] < gaps[0] / 2


def test_nothing_is_claimed_of_a_plan(make_tree):
    problem = problem_of(make_tree(0))
    values = ProjectedValueIteration(certificate_paths=0).solve(problem).values
    assert isinstance(values, CorrectedValues)
    assert np.isinf(values.plan_cost(problem.initial_belief(), np.arange(1))).all()
    assert values.size > values.values.size
    assert np.isfinite(values.value(1, problem.prior[None])).all()


def test_a_problem_with_tables_is_left_to_the_solver_within(make_case):
    problem = make_case(1, contexts=True, n_classes=3, n_stages=4).problem
    for solver in (None, Perseus(500, random_state=3), GridValueIteration(20)):
        inside = solver or GridValueIteration()
        assert ProjectedValueIteration(solver).solve(problem).info.upper == inside.solve(problem).info.upper


@pytest.mark.slow
def test_values_are_corrected_where_cases_come(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 300)
    X = (rng.random((600, 40)) < np.where(y == 1, 0.8, 0.2)[:, None]).astype(int)
    repeats = rng.random((600, 39)) < 0.3
    X[:, 1:][repeats] = X[:, :-1][repeats]
    model = TreeNetwork("line").fit(X, y)
    order = rng.permutation(40)
    problem = ModelProblem(model, [0.5, 0.5], order, np.full(40, 0.01), 1 - np.eye(2), max_contexts=1)
    found = []
    for least in (0.0, corrected._TUNING.min_reach):
        monkeypatch.setattr(corrected, "_TUNING", replace(corrected._TUNING, min_reach=least))
        policy = ProjectedValueIteration(certificate_paths=1000).solve(problem)
        found.append((policy.info, [k for k in range(policy.n_stages) if policy.values.is_corrected(k)]))
    (all_info, everywhere), (info, some) = found
    assert some == list(range(1, len(some) + 1))
    assert ALWAYS - 1 <= len(some) < len(everywhere)
    assert info.upper == pytest.approx(all_info.upper, rel=2e-3)
    assert info.gap < all_info.gap + 1e-3


@pytest.mark.parametrize("n_classes", [2, 5])
def test_dense_and_sparse_regressions_agree(n_classes, monkeypatch):
    rng = np.random.default_rng(0)
    functions = rng.random((200, n_classes + 2))
    design = corrected._design(functions, functions[:, -2:], rng.integers(-1, 3, (200, 6)), 3)
    target = rng.random(200)
    weights = []
    for least in (0.0, 1.0):
        monkeypatch.setattr(corrected, "_TUNING", replace(corrected._TUNING, dense_share=least))
        weights.append(corrected._ridge(design, target))
    np.testing.assert_allclose(*weights, rtol=1e-6, atol=1e-9)


def test_what_it_refuses(make_tree):
    class Bare(AcquisitionProblem):
        def start(self, n):
            return np.zeros(n)

        def likelihood(self, stage, state):
            return np.tile([[0.9, 0.2], [0.1, 0.8]], (len(state), 1, 1))

        def advance(self, stage, state, outcome):
            return state

    bare = Bare([0.5, 0.5], [0.1], [2], 1 - np.eye(2))
    with pytest.raises(ValueError, match="use Lookahead"):
        ProjectedValueIteration().solve(bare)
    assert isinstance(default_solver(bare), Lookahead)
    assert default_solver(bare).solve(bare).info.upper == pytest.approx(0.25)
    with pytest.raises(ValueError, match="works out values"):
        ProjectedValueIteration(FirstK(2)).solve(problem_of(make_tree(0)))
    for name in ("max_contexts", "n_beliefs", "certificate_paths"):
        with pytest.raises(ValueError, match=name):
            ProjectedValueIteration(**{name: -1}).solve(problem_of(make_tree(0)))


def test_defaults(make_tree):
    assert isinstance(default_solver(problem_of(make_tree(0))), ProjectedValueIteration)
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]])
    assert isinstance(default_solver(TableProblem([0.5, 0.5], table, 0.1)), GridValueIteration)
    four = np.full((1, 2, 4), 0.5)
    assert isinstance(default_solver(TableProblem(np.full(4, 0.25), four, 0.1)), Perseus)


def test_rules_without_values_are_certified_by_the_projection(make_tree):
    tree = make_tree(2, n_features=7, n_classes=2, spread=0.7)
    problem = problem_of(tree)
    truth = tree.optimum(problem.prices, problem.decision_costs)
    policy = FirstK(0, certificate_paths=0).solve(problem)
    found = certify(problem, policy, method="simulation", n_paths=4000, random_state=3)
    assert 0.5 * truth < found.lower <= truth


def test_same_seed_same_policy(make_tree):
    problem = problem_of(make_tree(4))
    first, second = (ProjectedValueIteration(random_state=5).solve(problem) for _ in range(2))
    assert first.info.upper == second.info.upper
    for a, b in zip(first.values.weights, second.values.weights):
        assert (a is None and b is None) or (a == b).all()


# the least squares: the sparse design, and the iterative solution of wide ones


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
        monkeypatch.setattr(corrected, "_TUNING", replace(corrected._TUNING, dense_share=np.inf))
        sparse = corrected._design(functions, functions[:, -width:], answers, 3)
        monkeypatch.undo()
        np.testing.assert_array_equal(design, dense)
        np.testing.assert_array_equal(sparse.toarray(), dense)
        target = rng.normal(size=60)
        penalty = 1e-4 * (dense**2).sum() / dense.shape[1]
        stacked = np.vstack([dense, np.sqrt(penalty) * np.eye(dense.shape[1])])
        oracle = np.linalg.lstsq(stacked, np.append(target, np.zeros(dense.shape[1])))[0]
        for made in (design, sparse):
            np.testing.assert_allclose(corrected._ridge(made, target), oracle, atol=1e-7)


@pytest.mark.slow_cells("4")
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
            patch.setattr(corrected, "_TUNING", replace(corrected._TUNING, max_direct=0))
            iterative = solver.solve(problem)
        assert any(
            w is not None and not np.array_equal(w, v) for w, v in zip(iterative.values.weights, direct.values.weights)
        )
        here, there = (evaluate(problem, policy, max_histories=10**5) for policy in (iterative, direct))
        assert here.method == "exact"
        assert here.cost == pytest.approx(there.cost, rel=5e-4)
        agree, total = 0, 0
        belief, rng = problem.initial_belief(300), np.random.default_rng(seed)
        for _ in range(n):
            costs = [policy.continuation_cost(belief) for policy in (iterative, direct)]
            np.testing.assert_allclose(*costs, atol=5e-3)
            agree += int((iterative.action(belief) == direct.action(belief)).sum())
            total += len(belief)
            shares = belief.outcome_probabilities.cumsum(axis=1)
            belief = belief.update((rng.random((300, 1)) * shares[:, -1:] > shares).sum(axis=1))
        assert agree > 0.99 * total


def test_answers_change_all_functions_as_long_as_columns_are_few(make_tree, monkeypatch):
    tree = make_tree(1, n_features=6, n_classes=3, spread=0.7)
    prices = np.full(len(tree.order), 0.01)
    problem = ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(3), max_contexts=1)
    columns = [(len(w) - 1) * (w.shape[1] - 1) * w.shape[2] for w in weights_of(problem)]
    few = max(columns) - 1  # one too few for the widest stage
    monkeypatch.setattr(corrected, "_TUNING", replace(corrected._TUNING, max_columns=few))
    of_classes = [bool(w[1:, :, :-2].any()) for w in weights_of(problem)]
    assert of_classes == [0 < n <= few for n in columns]
    assert len(set(of_classes)) == 2


@pytest.mark.parametrize("n_classes, widest", [(95, 388), (70, 432)])
def test_answers_change_all_functions_of_up_to_400_columns(n_classes, widest):
    rng = np.random.default_rng(0)
    y = np.arange(n_classes).repeat(30)
    X = (rng.random((len(y), 6)) < rng.random((n_classes, 6))[y]).astype(int)
    for column in range(1, 6):
        same = rng.random(len(y)) < 0.5
        X[same, column] = X[same, column - 1]
    prior, order = np.full(n_classes, 1 / n_classes), [0, 2, 4, 1, 3, 5]
    model = TreeNetwork("line").fit(X, y)
    problem = ModelProblem(model, prior, order, np.full(6, 0.01), 1 - np.eye(n_classes), max_contexts=1)
    weights = weights_of(problem, 50)
    columns = [(len(w) - 1) * (w.shape[1] - 1) * w.shape[2] for w in weights]
    assert max(columns) == widest
    assert [bool(w[1:, :, :-2].any()) for w in weights] == [0 < n <= 400 for n in columns]


def weights_of(problem, n_beliefs=500):
    policy = ProjectedValueIteration(n_beliefs=n_beliefs, certificate_paths=0).solve(problem)
    return [w for w in policy.values.weights if w is not None]


def test_corrections_are_the_same_in_any_currency(make_tree):
    """What they add for a class is a cost; answers and costs weigh alike."""
    tree = make_tree(1, n_features=6, n_classes=3, spread=0.7)
    plain, dear = (
        ModelProblem(tree.model, tree.prior, tree.order, np.full(6, 0.01 * k), k * (1 - np.eye(3)), max_contexts=1)
        for k in (1.0, 1e6)
    )
    for one, other in zip(weights_of(plain), weights_of(dear), strict=True):
        np.testing.assert_allclose(other[..., :-2], 1e6 * one[..., :-2], rtol=1e-5, atol=1)
        np.testing.assert_allclose(other[..., -2:], one[..., -2:], rtol=1e-5, atol=1e-6)


def test_of_no_question_the_best_decision_is_left():
    problem = TableProblem([0.4, 0.3, 0.2, 0.1], np.empty((0, 2, 4)), prices=[])
    policy = ProjectedValueIteration(certificate_paths=0).solve(problem)
    assert evaluate(problem, policy).cost == pytest.approx(0.6)
