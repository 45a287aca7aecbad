"""Look-ahead that evaluates outcomes as far as needed, held against plain look-ahead on the same values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass.agent.problem import ModelProblem
from seqclass.pomdp import DECIDE, Perseus, ProjectedValueIteration, acquire
from seqclass.pomdp.one_step import stopping_is_certain, stopping_threshold
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.solvers.correlated import BoundedLookaheadPolicy


def solved(tree, price=0.03, solver=None, *, costs=None, groups=None, full_prices=None, n_beliefs=400):
    n = len(tree.order)
    costs = 1 - np.eye(len(tree.prior)) if costs is None else costs
    problem = ModelProblem(
        tree.model, tree.prior, tree.order, np.full(n, price), costs, groups, full_prices, max_contexts=1
    )
    policy = ProjectedValueIteration(solver, n_beliefs=n_beliefs, certificate_paths=0).solve(problem)
    assert type(policy) is BoundedLookaheadPolicy
    return policy


def walk(problem, n, rng, missing=0.2):
    """Information states of sampled instances at every stage, some answers missing."""
    info = problem.initial_belief(n)
    for _ in range(problem.n_stages):
        yield info
        shares = info.outcome_probabilities.cumsum(axis=1)
        outcome = (rng.random((n, 1)) * shares[:, -1:] > shares).sum(axis=1)
        outcome[rng.random(n) < missing] = DECIDE
        info = info.update(outcome)


def acts_alike(policy, rng, n=120):
    """Compare with plain look-ahead; return how many actions were compared, and how many of each kind there were."""
    plain = LookaheadPolicy(policy.values)
    bought = stopped = 0
    for info in walk(policy.problem, n, rng):
        expected = plain.continuation_cost(info) < stopping_threshold(info)
        acted = policy.action(info)
        np.testing.assert_array_equal(acted != DECIDE, expected & ~stopping_is_certain(info))
        assert (acted[acted != DECIDE] == info.stage).all()
        bought += int(expected.sum())
        stopped += int((~expected).sum())
    return bought, stopped


@pytest.mark.slow
@given(
    seed=st.integers(0, 30),
    n_classes=st.integers(2, 4),
    price=st.sampled_from([0.0, 0.001, 0.01, 0.05]),
    decisions=st.booleans(),
)
def test_acts_as_plain_look_ahead_on_the_same_values(make_tree, seed, n_classes, price, decisions):
    rng = np.random.default_rng(seed)
    costs = rng.random((n_classes, n_classes + 1)) if decisions else None
    tree = make_tree(seed, n_features=5, n_classes=n_classes, spread=0.7)
    acts_alike(solved(tree, price, costs=costs, n_beliefs=100), rng, 60)


@pytest.mark.parametrize("solver", [None, Perseus(100)])
def test_both_actions_occur(make_tree, solver):
    counts = [
        acts_alike(solved(make_tree(seed, n_features=7), 0.02, solver), np.random.default_rng(seed)) for seed in (0, 1)
    ]
    assert np.sum(counts, axis=0).min() > 100


def test_a_surcharge_counts(make_tree):
    tree = make_tree(2, n_features=6, n_classes=3, spread=0.7)
    n = len(tree.order)
    groups, full = np.arange(n) % 2, np.full(n, 0.2)
    policy = solved(tree, 0.01, groups=groups, full_prices=full)
    bought, stopped = acts_alike(policy, np.random.default_rng(0))
    assert min(bought, stopped) > 0


def test_most_evaluations_are_spared(make_tree, monkeypatch):
    tree = make_tree(1, n_features=8, n_classes=3, n_outcomes=4, spread=0.7)
    policy = solved(tree, 0.005)
    done = 0
    going_on = type(policy.values).going_on

    def counted(self, stage, belief, *rest):
        nonlocal done
        done += len(belief)
        return going_on(self, stage, belief, *rest)

    monkeypatch.setattr(type(policy.values), "going_on", counted)
    total = 0
    for info in walk(policy.problem, 500, np.random.default_rng(0)):
        if policy.values.is_corrected(info.stage + 1):
            policy.action(info)
            total += info.joint.shape[0] * info.joint.shape[1]
    assert 0 < done < total / 2


def test_same_record_as_plain_look_ahead(make_tree):
    policy = solved(make_tree(3, n_features=6, n_classes=3), 0.01)
    X, _ = policy.problem.model.sample(300, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = -1
    pruned_record = acquire(policy, X, record_beliefs=True)
    record = acquire(LookaheadPolicy(policy.values), X, record_beliefs=True)
    for name in ("leaf", "leaf_decision", "leaf_path", "leaf_outcome"):
        np.testing.assert_array_equal(getattr(pruned_record, name), getattr(record, name))
    for name in ("leaf_belief", "leaf_price", "leaf_beliefs"):
        np.testing.assert_allclose(getattr(pruned_record, name), getattr(record, name), atol=1e-12)


def test_answers_after_an_outcome_are_those_of_the_problem(make_tree):
    for seed in range(4):
        policy = solved(make_tree(seed, n_features=7), 0.02)
        rng = np.random.default_rng(seed)
        for info in walk(policy.problem, 40, rng):
            if info.stage + 1 == policy.problem.n_stages:
                break
            answers = policy.problem.structure.answers(info.stage, info.state)
            every = policy.problem.structure.successor_answers(info.stage, answers)
            outcome = rng.integers(0, every.shape[1], len(info))
            after = policy.values.answers_after(info.stage, answers, outcome)
            np.testing.assert_array_equal(after, every[np.arange(len(info)), outcome])


def test_another_thread_may_replace_what_is_kept_on_the_way(make_tree, monkeypatch):
    policy = solved(make_tree(0, n_features=7), 0.02)
    monkeypatch.setattr(type(policy.values), "_sources", property(lambda self: {}))
    acts_alike(policy, np.random.default_rng(0))


@pytest.mark.slow
def test_saved_and_loaded_it_classifies_alike(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, ::2]
    fitted = seqclass.ifc2f(0.002).fit(X, y)
    assert type(fitted.policy_) is BoundedLookaheadPolicy
    before = fitted.predict_proba(X)  # whatever is kept on the way must not enter the file
    fitted.save(tmp_path / "model")
    loaded = seqclass.load(tmp_path / "model")
    assert type(loaded.policy_) is BoundedLookaheadPolicy
    np.testing.assert_array_equal(loaded.predict_proba(X), before)
