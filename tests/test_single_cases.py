"""One case at a time: a live case, `predict` of a row, and the same row among many."""

from __future__ import annotations

import numpy as np
import pytest
from two_threads import answers_of_two

from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, ContextBayes, NaiveBayes, TreeNetwork
from seqclass.pomdp import Adaptive, ClassInformation, FunctionPolicy, TableProblem
from seqclass.pomdp.single_cases import KeptHistories

MODELS = {
    "naive Bayes": NaiveBayes(),
    "mixture": ClassMixture(2, random_state=0),
    "tree": TreeNetwork(),
    "contexts": ContextBayes(),
}
QUICK = Adaptive([ClassInformation()], n_paths=40, n_cases=40, certificate_paths=0, search_nodes=0, max_rounds=0)
COSTS = Costs(0.02, discounted_costs=[0.01, 0.01, 0.02, 0.02, 0.02], groups=[0, 0, -1, -1, -1], charge_missing=True)


@pytest.mark.parametrize("order", ["given", "adaptive"])
@pytest.mark.parametrize("name", MODELS)
def test_alone_and_among_many(name, order):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150)
    X = rng.normal(size=(150, 5)) + y[:, None]
    settings = {"solver": QUICK} if order == "adaptive" else {}
    clf = SequentialClassifier(MODELS[name], feature_costs=COSTS, order=order, **settings).fit(X, y)
    rows = X[:40].copy()
    rows[rng.random(rows.shape) < 0.15] = np.nan
    batch = clf.acquire(rows)  # too many to go one by one
    assert len(set(batch.n_features.tolist())) > 1
    some, few = np.arange(0, 40, 5), clf.acquire(rows[:40:5])
    for found, wanted in ((few.order, batch.order[some]), (few.outcome, batch.outcome[some])):
        assert np.array_equal(found, wanted[:, : found.shape[1]])
        assert (wanted[:, found.shape[1] :] == -1).all()
    assert np.allclose(few.posterior, batch.posterior[some], rtol=0, atol=1e-9)
    assert np.allclose(few.paid, batch.paid[some], rtol=0, atol=1e-9)
    for i in some.tolist():
        assert clf.predict(rows[i : i + 1]).tolist() == [batch.decision[i]]
        case, asked = clf.session(), []
        while (question := case.next_feature) is not None:
            value = rows[i, question.column]
            case.unavailable(question.name) if np.isnan(value) else case.observe(question.name, value)
            asked.append(question.column)
        assert asked == batch.order[i][batch.order[i] >= 0].tolist()
        assert np.allclose(case.posterior, batch.posterior[i], rtol=0, atol=1e-9)
        assert case.paid == pytest.approx(batch.paid[i], abs=1e-9)
        assert case.decision == batch.decision[i]
        facts = case._cases[-1].facts  # which nobody asked for on the way
        assert np.allclose(facts.probabilities, case.belief.probabilities, rtol=0, atol=1e-9)
        assert facts.spent[0] == pytest.approx(case.paid, abs=1e-9)


@pytest.mark.parametrize("costs", ["errors alike", "errors unlike"])
def test_many_classes_alone_and_among_many(costs):
    rng = np.random.default_rng(1)
    n, likelihoods = 17, rng.dirichlet([0.3, 0.3, 0.3], size=(8, 17)).transpose(0, 2, 1)
    unlike = None if costs == "errors alike" else rng.uniform(0.5, 1.0, (n, n)) * (1 - np.eye(n))
    problem = TableProblem(np.full(n, 1 / n), likelihoods, 0.01, unlike, any_order=True)
    many = problem.initial_belief(100)
    for question in (3, 5):
        many = many.asking(question).update(rng.integers(3, size=100))
    every, alone = np.arange(8), many[np.array([7])]
    decide = (
        np.einsum("nc,qoc,cd->nqod", many.probabilities, likelihoods, problem.decision_costs).min(axis=3).sum(axis=2)
    )
    np.testing.assert_allclose(problem.structure.costs_after(every, many), decide, atol=1e-12)
    np.testing.assert_allclose(problem.structure.costs_after(every, alone), decide[7:8], atol=1e-12)
    joint = np.einsum("nc,qoc->nqoc", many.probabilities, likelihoods)
    seen, known = joint.sum(axis=3, keepdims=True), many.probabilities[:, None, None]
    told = (joint * (np.log(np.maximum(joint, 1e-300)) - np.log(np.maximum(seen * known, 1e-300)))).sum(axis=(2, 3))
    np.testing.assert_allclose(ClassInformation().gains(many, every), told, atol=1e-12)
    np.testing.assert_allclose(ClassInformation().gains(alone, every), told[7:8], atol=1e-12)


def counting_policy():
    """A policy that asks all of four questions, and how often it was asked."""
    calls = []

    def ask(belief):
        calls.append(belief.stage)
        return np.full(len(belief), belief.stage)

    problem = TableProblem([0.5, 0.5], np.array([[[0.7, 0.4], [0.3, 0.6]]] * 4), prices=0.01)
    return FunctionPolicy(problem, ask), calls


def test_each_history_is_worked_out_once():
    policy, calls = counting_policy()
    kept, rows = KeptHistories(policy), np.array([[0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 0]])
    acquired = kept.acquire(rows, None, None, False)
    assert calls == [0, 1, 2, 3]
    assert acquired.leaf.tolist() == [0, 1, 0]
    assert acquired.leaf_outcome.tolist() == [[0, 0, 1, 0], [0, 0, 1, 1]]
    kept.acquire(rows, None, None, False)
    assert calls == [0, 1, 2, 3]


def test_as_many_histories_are_kept_as_there_is_room_for():
    policy, calls = counting_policy()
    kept = KeptHistories(policy, max_bytes=20_000)
    rows = np.array([[0, 0, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
    for _ in range(5):
        kept.acquire(rows, None, None, False)
    first, n = kept.first(), 0
    waiting = [first]
    while waiting:
        history = waiting.pop()
        waiting += history.after.values()
        n += 1
    assert n - 1 <= kept.most < 11
    assert len(calls) > 10
    assert kept.first() is first


def test_histories_may_go_while_another_thread_begins_one():
    problem = TableProblem([0.5, 0.5], np.full((2, 2, 2), 0.5), 0.1, any_order=True)
    policy = FunctionPolicy(problem, lambda belief: np.full(len(belief), -1))

    def make():
        kept = KeptHistories(policy, max_bytes=0)
        kept.first()
        return kept

    answers = [
        *answers_of_two(make, lambda kept: kept.note(), lambda kept: kept._first.update({1: kept.first()}), {"note"})
    ]
    assert len(answers) > 4
