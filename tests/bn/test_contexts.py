"""Contexts of the stages: nested, reachable, a process of their own, and exact where nothing is left out."""

from __future__ import annotations

import numpy as np
import pytest
from two_threads import answers_of_two, interrupted

from seqclass.bn import NaiveBayes
from seqclass.bn.contexts import StageContexts, group_outcomes, likelihood_of_rows, stage_contexts, strongest


def by_hand(joint, feature, given):
    """P(feature, class | the given outcomes) normalised over outcomes, from the joint array."""
    at = [slice(None)] * joint.ndim
    for other, value in given.items():
        if value >= 0:
            at[other] = slice(value, value + 1)
    axes = tuple(axis for axis in range(joint.ndim - 1) if axis != feature)
    table = joint[tuple(at)].sum(axis=axes)
    return table / table.sum(axis=0)


@pytest.mark.parametrize("max_contexts", [1, 4, 16, 10**6])
@pytest.mark.parametrize("seed", range(4))
def test_a_nested_process(make_tree, seed, max_contexts):
    tree = make_tree(seed, n_features=6)
    contexts = stage_contexts(tree.model, tree.order, max_contexts=max_contexts)
    memory = tree.model.context_features(tree.order)
    assert contexts.exact == all(4 ** len(kept) <= max_contexts for kept in memory)
    for stage, asked in enumerate(tree.order):
        kept = contexts.features(stage)
        assert set(kept) <= set(memory[stage])
        if contexts.exact:
            assert set(kept) == set(memory[stage])
        assert contexts.n_contexts(stage) <= max_contexts
        assert set(contexts.features(stage + 1)) <= {*kept, asked}
        rows, moves = contexts.rows(stage), contexts.transitions(stage)
        assert (rows[0] == -1).all()
        assert (contexts.number(stage, rows) == np.arange(len(rows))).all()
        for row, table, after in zip(rows, contexts.likelihood(stage), moves):
            given = dict(zip(kept.tolist(), row.tolist()))
            np.testing.assert_allclose(table, by_hand(tree.joint, asked, given), atol=1e-12)
            for outcome in (0, 1, 2, -1):
                following = {**given, int(asked): outcome}
                expected = [following[int(f)] for f in contexts.features(stage + 1)]
                assert contexts.rows(stage + 1)[after[outcome]].tolist() == expected
    assert contexts.n_contexts(contexts.n_stages) == 1


def test_exact_contexts_say_all_that_counts(make_tree):
    tree = make_tree(3, n_features=6)
    contexts = stage_contexts(tree.model, tree.order, max_contexts=10**6)
    X, _ = tree.model.sample(40, random_state=0)
    for stage, asked in enumerate(tree.order):
        seen = np.full_like(X, -1)
        seen[:, tree.order[:stage]] = X[:, tree.order[:stage]]
        number = contexts.number(stage, X[:, contexts.features(stage)])
        np.testing.assert_allclose(
            contexts.likelihood(stage)[number], tree.model.likelihood(int(asked), seen), atol=1e-12
        )


def test_only_what_can_be_reached_is_numbered():
    class Copies(NaiveBayes):
        """Features 0 and 1 never show 2; all that was asked counts for ever."""

        def context_features(self, order):
            return [np.array(order[:k], dtype=int) for k in range(len(order))]

    X = np.array([[0, 0, 2], [1, 1, 0], [0, 1, 1]])
    model = Copies(alpha=0.0).fit(X, [0, 1, 1], n_outcomes=3)
    contexts = stage_contexts(model, [0, 1, 2], max_contexts=100)
    # a 1 at feature 0 is of class 1, which shows nothing but 1 at feature 1; any answer may be missing
    assert [contexts.n_contexts(k) for k in range(4)] == [1, 3, 8, 1]
    assert [1, 0] not in contexts.rows(2).tolist()


def test_the_strongest_features_stay(make_tree):
    tree = make_tree(1)

    class Star(type(tree.model)):  # type: ignore[misc]
        """Feature 2 repeats feature 0, whatever feature 1 is."""

        def likelihood(self, feature, evidence):
            if feature != 2:
                return super().likelihood(feature, evidence)
            known = np.eye(3)[np.maximum(evidence[:, 0], 0)]
            table = np.where(evidence[:, [0]] < 0, 1 / 3, known)
            return np.repeat(table[:, :, None], 3, axis=2)

    model = Star()
    model.__dict__.update(tree.model.__dict__)
    rows = np.array([(a, b) for a in range(3) for b in range(3)])
    kept = strongest(model, np.array([0, 1]), rows, np.full((9, 3), 1 / 9), np.array([2]), 4)
    assert kept.tolist() == [0]
    assert strongest(model, np.array([1, 0]), rows[:, ::-1], np.full((9, 3), 1 / 9), np.array([2]), 4).tolist() == [1]


@pytest.mark.slow
def test_thousands_of_stages_are_not_worked_out_at_once(make_tree):
    asked = []

    class Counting(NaiveBayes):
        def context_features(self, order):
            return [order[max(k - 1, 0) : k] for k in range(len(order))]

        def likelihood(self, feature, evidence):
            asked.append(feature)
            return super().likelihood(feature, evidence)

    rng = np.random.default_rng(0)
    model = Counting().fit(rng.integers(0, 2, size=(20, 3000)), rng.integers(0, 2, size=20))
    contexts = stage_contexts(model, np.arange(3000))
    assert contexts.exact
    assert contexts.n_contexts(10) == 3
    assert len(asked) <= 11


def test_rows_that_cannot_be_reached_count_as_unknown(make_tree):
    tree = make_tree(0)
    contexts = StageContexts(tree.model, tree.order, 1)
    assert contexts.number(2, np.empty((3, 0), dtype=np.int8)).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="stage"):
        contexts.rows(6)
    with pytest.raises(ValueError, match="max_contexts"):
        stage_contexts(tree.model, tree.order, max_contexts=0)
    with pytest.raises(ValueError, match="order"):
        stage_contexts(tree.model, [0, 0])


def test_memory_of_wide_evidence_is_bounded(make_tree, monkeypatch):
    tree = make_tree(2)
    rows = np.array([[0, 1], [2, -1], [-1, -1]], dtype=np.int8)
    whole = likelihood_of_rows(tree.model, 4, np.array([0, 2]), rows)
    monkeypatch.setattr("seqclass.bn.contexts.chunks", lambda n, size: (slice(i, i + 1) for i in range(n)))
    np.testing.assert_allclose(likelihood_of_rows(tree.model, 4, np.array([0, 2]), rows), whole, atol=1e-14)


def test_outcomes_of_which_each_has_more_rows_than_all_after_it():
    """The most frequent ones stand alone, as far as there are groups; what is left is one group."""
    assert group_outcomes(2.0 ** -np.arange(17), 12, 4).tolist() == [0, 1, 2, *[3] * 14]


def test_stages_are_worked_out_once_whoever_asks(make_tree):
    tree = make_tree(3, n_features=2)

    def make():
        return StageContexts(tree.model, tree.order, 8)

    def told(contexts):
        return [contexts.rows(1).tolist(), contexts.transitions(0).tolist()]

    expected = told(make())
    answers = [*answers_of_two(make, told, told, {"_step"})]
    assert len(answers) > 10
    assert answers == [(expected, expected)] * len(answers)
    after = [told(contexts) for contexts in interrupted(make, told, {"_step"})]
    assert len(after) > 10
    assert after == [expected] * len(after)
