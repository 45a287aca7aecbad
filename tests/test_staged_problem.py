"""The staged problem of a model of correlated features: exact tables, projections, missing values, and what follows."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass import SequentialClassifier, ifc2f, load
from seqclass.agent.problem import ModelProblem, acquisition_problem
from seqclass.analysis import stopping_regions, thresholds
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.costs import Costs
from seqclass.pomdp import (
    DECIDE,
    ExactValueIteration,
    GridValueIteration,
    Lookahead,
    Perseus,
    ProjectedValueIteration,
    TableProblem,
    acquire,
    certify,
    cost_sweep,
    evaluate,
    optimal_cost,
    solve_for_budget,
    write_pomdp,
)
from seqclass.pomdp.bounds.certificate import grid_lower_bound, sawtooth_lower_bound
from seqclass.pomdp.one_step import context_of
from seqclass.pomdp.problem import BeliefState, outcome_likelihood
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.sweeps.budget import within_budget

pytestmark = pytest.mark.usefixtures("whole_certificates")

PRICE = 0.03


def problem_of(tree, *, max_contexts=256, price=PRICE, costs=None):
    n_classes = len(tree.prior)
    costs = 1 - np.eye(n_classes) if costs is None else costs
    prices = np.full(len(tree.order), price)
    return ModelProblem(tree.model, tree.prior, tree.order, prices, costs, max_contexts=max_contexts)


def truth_of(tree, price=PRICE):
    return tree.optimum(np.full(len(tree.order), price), 1 - np.eye(len(tree.prior)))


def as_tables(problem):
    """The same problem as plain tables."""
    stages, contexts = range(problem.n_stages), problem._contexts
    return TableProblem(
        problem.prior,
        [contexts.likelihood(stage) for stage in stages],
        problem.prices,
        problem.decision_costs,
        transitions=[contexts.transitions(stage) for stage in stages],
        features=problem.features,
    )


@pytest.mark.parametrize("seed", range(3))
def test_likelihoods_given_all_that_was_seen(make_tree, seed):
    tree = make_tree(seed)
    X, _ = tree.model.sample(30, random_state=0)
    X[::3, 1] = -1
    for max_contexts in (1, 256):
        problem = problem_of(tree, max_contexts=max_contexts)
        info = problem.initial_belief(len(X))
        seen = np.full_like(X, -1)
        for feature in tree.order:
            np.testing.assert_allclose(outcome_likelihood(info), tree.model.likelihood(int(feature), seen), atol=1e-12)
            seen[:, feature] = X[:, feature]
            info = info.update(X[:, feature])
            np.testing.assert_allclose(info.probabilities, tree.model.posterior(seen), atol=1e-10)


@pytest.mark.slow_cells("1-3")
@pytest.mark.parametrize("seed, n_classes", [(0, 2), (1, 2), (1, 3), (1, 4)])
def test_tables_reach_the_optimum(make_tree, seed, n_classes):
    tree = make_tree(seed, n_features=3 + (n_classes < 4), n_classes=n_classes)
    problem, truth = problem_of(tree), truth_of(tree)
    assert problem.structure.tables is not None
    assert optimal_cost(problem) == pytest.approx(truth, abs=1e-12)
    solvers = [Perseus(10**6, n_rounds=1, tolerance=0.0), ExactValueIteration(max_vectors=2000)]
    for solver in solvers:
        policy = solver.set_params(certificate_paths=0).solve(problem)
        assert policy.values.value(0, problem.prior[None], np.zeros(1, int))[0] == pytest.approx(truth, abs=1e-9)
        assert evaluate(problem, policy).cost == pytest.approx(truth, abs=1e-9)
    if n_classes < 4:
        assert evaluate(problem, GridValueIteration(certificate_paths=0).solve(problem)).cost <= truth + 1e-3
        assert truth - 0.01 < grid_lower_bound(problem) <= truth + 1e-9
    assert sawtooth_lower_bound(problem) <= truth + 1e-9


@pytest.mark.slow_cells("256", "4")
@pytest.mark.parametrize("max_contexts", [1, 4, 256])
def test_certificates_hold_with_and_without_tables(make_tree, max_contexts):
    for seed in range(2):
        tree = make_tree(seed)
        problem, truth = problem_of(tree, max_contexts=max_contexts), truth_of(tree)
        policy = default_solver(problem).solve(problem)
        cost = evaluate(problem, policy).cost
        for method in ("auto", "simulation"):
            found = certify(problem, policy, method=method, n_paths=2000, random_state=seed + 10)
            assert found.lower <= truth + 1e-9
            assert found.upper >= cost - 1e-9
        myopic = Lookahead(1, certificate_paths=0).solve(problem)
        assert certify(problem, myopic, method="simulation").lower <= truth + 1e-9


def test_coarse_contexts_are_never_taken_for_exact(make_tree):
    problem = problem_of(make_tree(3), max_contexts=1)
    assert problem.structure.tables is None
    assert context_of(problem.initial_belief()) is None
    for bound in (grid_lower_bound, sawtooth_lower_bound):
        with pytest.raises(ValueError, match="tables"):
            bound(problem)
    for solver in (GridValueIteration(), Perseus(), ExactValueIteration()):
        with pytest.raises(ValueError, match="ProjectedValueIteration"):
            solver.solve(problem)
    assert problem.structure.projection(1).structure.tables.single


def test_the_projection_is_a_process_of_its_own(make_tree):
    problem = problem_of(make_tree(3), max_contexts=1)
    projection = problem.structure.projection(4)
    tables = projection.structure.tables
    info, own = problem.initial_belief(1), projection.initial_belief(1)
    for stage, outcome in enumerate((2, -1, 1, 0)):
        assert tables.contexts(stage, info.state) == tables.contexts(stage, own.state)
        after = tables.successors(stage, context_of(own))
        info, own = info.update(np.array([outcome])), own.update(np.array([outcome]))
        if outcome >= 0:
            assert after[0, outcome] == context_of(own)[0]
        assert (outcome_likelihood(own) == tables.likelihood(stage + 1, context_of(own))).all()
    assert projection.structure.projection(1) is projection


def test_answers_are_those_that_count(make_tree):
    problem = problem_of(make_tree(3), max_contexts=1)
    info = problem.initial_belief(3)
    for stage, outcome in enumerate(([0, 1, 2], [2, 2, -1], [1, 0, 1], [0, 0, 0])):
        ahead = problem.structure.successor_answers(stage, problem.structure.answers(stage, info.state))
        info = info.update(np.array(outcome))
        seen = np.flatnonzero(np.array(outcome) >= 0)
        after = problem.structure.answers(stage + 1, info.state)
        np.testing.assert_array_equal(after[seen], ahead[seen, np.array(outcome)[seen]])
        memory = problem.model.context_features(problem.features)[stage + 1]
        assert after.shape == (3, len(memory))


@pytest.mark.slow
def test_missing_answers_leave_a_sensible_policy(make_tree):
    tree = make_tree(5, n_features=5)
    X, y = tree.model.sample(1000, random_state=1)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = -1
    stop_now = 1 - tree.prior.max()
    for max_contexts in (1, 10**6):
        problem = problem_of(tree, max_contexts=max_contexts)
        for solver in (default_solver(problem), ProjectedValueIteration(Perseus(200), max_contexts=4)):
            policy = solver.set_params(certificate_paths=0).solve(problem)
            done = acquire(policy, X)
            cost = done.leaf_price[done.leaf] + (done.leaf_decision[done.leaf] != y)
            assert cost.mean() < stop_now - 0.02
    nothing = acquire(policy, np.full((5, 5), -1))
    np.testing.assert_allclose(nothing.leaf_belief[nothing.leaf], np.tile(tree.prior, (5, 1)), atol=1e-12)


def test_replaced_arrays_share_the_tables(make_tree):
    tree = make_tree(2)
    for max_contexts in (1, 256):
        problem = problem_of(tree, max_contexts=max_contexts)
        other = problem.replace(prior=np.array([0.8, 0.1, 0.1]), prices=problem.prices * 2)
        assert other._contexts is problem._contexts
        assert other.structure.projection(4).kept is problem.structure.projection(4).kept
        assert other.structure.projection(4).prices[0] == 2 * PRICE
        short = within_budget(problem, max_features=3)
        policy = default_solver(short).solve(short)
        truth = tree.optimum(np.full(3, PRICE), 1 - np.eye(3), tree.order[:3])
        assert evaluate(short, policy).cost == pytest.approx(truth, rel=0.02)
        assert policy.info.lower <= truth + 1e-9


@pytest.mark.slow
def test_frontier_and_budget(make_tree):
    tree = make_tree(1, n_features=4)
    truths = [truth_of(tree, PRICE * m) for m in (0.5, 1.0, 2.0)]
    for max_contexts in (1, 256):
        problem = problem_of(tree, max_contexts=max_contexts)
        frontier = cost_sweep(problem, [0.5, 1.0, 2.0])
        assert (frontier.lower <= np.array(truths) + 1e-9).all()
        np.testing.assert_allclose(frontier.cost, truths, rtol=0.02)
        policy = solve_for_budget(problem, 0.03)
        assert evaluate(problem, policy).price <= 0.03 + 1e-9


def test_naive_bayes_keeps_plain_tables():
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(rng.integers(0, 3, size=(40, 4)), rng.integers(0, 2, size=40))
    problem = acquisition_problem(model, np.arange(4), Costs(0.01).prices(4), 1 - np.eye(2))
    assert not isinstance(problem, ModelProblem)
    assert problem.structure.tables.single


@pytest.mark.slow_cells("no tables")
@pytest.mark.parametrize("order", [[0, 1, 2], [1, 3, 5, 7, 0, 2, 4, 6]], ids=["tables", "no tables"])
def test_a_classifier_is_saved_with_its_contexts(tmp_path, order):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=300)
    X = np.cumsum(rng.normal(size=(300, len(order))), axis=1) + 1.2 * y[:, None]
    fitted = SequentialClassifier(TreeNetwork(), order=order, feature_costs=0.02).fit(X, y)
    assert isinstance(fitted.problem_, ModelProblem)
    assert (fitted.problem_.structure.tables is not None) == (len(order) == 3)
    fitted.save(tmp_path / "model.seq")
    read = load(tmp_path / "model.seq")
    new = X + rng.normal(scale=0.3, size=X.shape)
    new[rng.random(X.shape) < 0.1] = np.nan
    np.testing.assert_array_equal(read.predict(new), fitted.predict(new))
    np.testing.assert_allclose(read.predict_proba(new), fitted.predict_proba(new))
    other = read.with_prior([0.9, 0.1])
    assert other.policy_.info.upper < fitted.policy_.info.upper


@pytest.mark.slow_cells("2")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_pictures_and_files_of_a_context(make_tree, n_classes, tmp_path):
    problem = problem_of(make_tree(1, n_features=3, n_classes=n_classes))
    assert max(problem.structure.tables.n_contexts(stage) for stage in range(problem.n_stages)) > 2
    tables = as_tables(problem)
    policy, plain = (default_solver(p).solve(p) for p in (problem, tables))
    for stage in range(problem.n_stages):
        for context in range(problem.structure.tables.n_contexts(stage)):
            state = problem.structure.tables.state_in(stage, context)
            assert problem.structure.tables.contexts(stage, state).tolist() == [context]
            expected = tables.structure.tables.likelihood(stage, np.array([context]))
            np.testing.assert_allclose(problem.likelihood(stage, state), expected, atol=1e-12)
            found = stopping_regions(policy, stage, context=context, resolution=5)
            assert np.array_equal(found.region, stopping_regions(plain, stage, context=context, resolution=5).region)
    if n_classes == 2:
        np.testing.assert_array_equal(thresholds(policy).lower, thresholds(plain).lower)
    for kind in ("pomdp", "pomdpx"):
        for number, written in enumerate((problem, tables)):
            write_pomdp(written, tmp_path / f"{number}.{kind}")
        assert (tmp_path / f"0.{kind}").read_text() == (tmp_path / f"1.{kind}").read_text()


def test_state_in_no_context(make_tree):
    problem = problem_of(make_tree(1), max_contexts=1)
    assert problem.structure.tables is None
    policy, info, regions = default_solver(problem).solve(problem), problem.initial_belief(), []
    for stage in range(policy.n_stages):
        found = stopping_regions(policy, stage, resolution=200)
        rows = np.zeros(len(found.belief), dtype=int)  # nothing was seen by any of them
        at = BeliefState(problem, stage, found.belief, info.state[rows], None)
        np.testing.assert_array_equal(found.region == DECIDE, policy.action(at) != DECIDE)
        regions.append(found.go_on_share)
        info = info.update(np.array([-1]))
    assert len(regions) > 1
    assert len(set(regions)) > 1


@pytest.mark.parametrize("max_contexts", [1, 256])
def test_a_budget_of_nothing(make_tree, max_contexts):
    problem = within_budget(problem_of(make_tree(0), max_contexts=max_contexts), max_features=0)
    stop = float(problem.stopping_cost(problem.prior))
    for solver in (default_solver(problem), ProjectedValueIteration(), Perseus(), Perseus.from_paper(), Lookahead(2)):
        info = solver.solve(problem).info
        assert info.lower == pytest.approx(stop)
        assert info.upper == pytest.approx(stop)
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    for settings in ({"max_features": 0}, {"max_cost": 0.0}, {"max_features": 0, "published": True}):
        assert ifc2f(**settings).fit(X, y).acquire(X).n_features.tolist() == [0] * 60


def test_stages_between_two_trees_that_have_nothing_to_remember():
    """Once a tree of the forest has been asked in full, its answers count no more."""
    fork = np.array([[[0.8, 0.3], [0.4, 0.2]], [[0.2, 0.7], [0.6, 0.8]]])
    root = np.array([[0.7, 0.4], [0.3, 0.6]])
    model = TreeNetwork.from_cpds([0, 1], [0.5, 0.5], [[], [0], [], [2]], [root, fork, root, fork])
    order = np.arange(4)
    problem = ModelProblem(model, [0.5, 0.5], order, np.full(4, 0.02), 1 - np.eye(2), max_contexts=1)
    assert [len(kept) for kept in model.context_features(order)] == [0, 1, 0, 1]
    info = ProjectedValueIteration(GridValueIteration(), max_contexts=1, n_beliefs=50).solve(problem).info
    exact = (
        ProjectedValueIteration().solve(ModelProblem(model, [0.5, 0.5], order, np.full(4, 0.02), 1 - np.eye(2))).info
    )
    assert info.lower - 1e-9 <= exact.upper <= info.upper + 1e-9
