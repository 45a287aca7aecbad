"""Rows that ask different questions, taken together, fare as they do by themselves."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from seqclass.pomdp import (
    AcquisitionProblem,
    Adaptive,
    ClassInformation,
    MixtureProblem,
    TableProblem,
    acquire,
    evaluate,
)
from seqclass.pomdp import walk as walking
from seqclass.pomdp.account import price_of_question
from seqclass.pomdp.bounds.repeats import RepeatValues
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.observations import AllObservations, ObservationSource, SampledObservations
from seqclass.pomdp.one_step import latent_posterior
from seqclass.pomdp.problem import outcome_likelihood
from seqclass.pomdp.solvers.ordering.values import RulePolicy
from seqclass.pomdp.walk import Level, walk

SIZES = [2, 4, 3, 2, 3]


def problem(kind: str, sizes: list[int] = SIZES, **settings: Any) -> AcquisitionProblem:
    rng = np.random.default_rng(len(sizes))
    prices = rng.uniform(0.01, 0.05, len(sizes))
    settings = {"groups": [0, -1, 0, 1, 1], "full_prices": prices + 0.02, "any_order": True} | settings
    if kind == "table":
        tables = [rng.dirichlet(np.ones(size), 3).T for size in sizes]
        return TableProblem(rng.dirichlet(np.ones(3)), tables, prices, **settings)
    tables = [rng.dirichlet(np.ones(size), 6).T for size in sizes]
    return MixtureProblem(rng.dirichlet(np.ones(6)), [0, 0, 1, 2, 2, 2], tables, prices, **settings)


def ask_at_random(seed: int, stop: float = 0.1) -> Any:
    """Each row asks an open question of its own; the same for the same levels."""

    def ask(level: Level) -> Any:
        rng = np.random.default_rng((seed, level.stage))
        scores = np.where(level.belief.available, rng.random(level.belief.available.shape), -1)
        question = np.where(scores.max(axis=1) >= 0, scores.argmax(axis=1), -1)
        return np.where(rng.random(len(question)) < stop, -1, question)

    return ask


@pytest.mark.parametrize("kind", ["table", "mixture"])
def test_what_is_known_of_rows_with_questions_of_their_own(kind: str) -> None:
    made = problem(kind)
    rng = np.random.default_rng(1)
    belief = made.initial_belief(40)
    for _ in range(2):
        question = np.where(belief.available, rng.random(belief.available.shape), -1).argmax(axis=1)
        outcome = np.where(rng.random(40) < 0.2, -1, rng.integers(0, made.n_outcomes[question]))
        for charged in (False, True):
            mixed = belief.asking(question)
            after = mixed.update(outcome, charge_missing=charged)
            for row in range(40):
                alone = belief[np.array([row])].asking(int(question[row]))
                own = int(made.n_outcomes[question[row]])
                assert outcome_likelihood(mixed)[row, :own] == pytest.approx(outcome_likelihood(alone)[0], abs=1e-14)
                assert (outcome_likelihood(mixed)[row, own:] == 0).all()
                assert mixed.outcome_probabilities[row, :own] == pytest.approx(
                    alone.outcome_probabilities[0], abs=1e-14
                )
                assert price_of_question(mixed)[row] == price_of_question(alone)[0]
                then = alone.update(outcome[row : row + 1], charge_missing=charged)
                assert after.probabilities[row] == pytest.approx(then.probabilities[0], abs=1e-14)
                assert after.state[row] == pytest.approx(then.state[0], abs=1e-14)
                assert after.spent[row] == then.spent[0]
                assert after.account.groups_paid is not None
                assert then.account.groups_paid is not None
                assert (after.account.groups_paid[row] == then.account.groups_paid[0]).all()
                assert after.observed is not None
                assert then.observed is not None
                assert (after.observed[row] == then.observed[0]).all()
            some = rng.permutation(40)[:7]
            assert (mixed[some].question == question[some]).all()
            assert mixed[some].outcome_probabilities == pytest.approx(mixed.outcome_probabilities[some], abs=1e-14)
            repeated = mixed.update(outcome[some], rows=some, charge_missing=charged)
            assert repeated.probabilities == pytest.approx(after.probabilities[some], abs=1e-14)
        belief = after


@pytest.mark.parametrize("kind", ["table", "mixture"])
@pytest.mark.parametrize("source", ["all", "missing", "sampled"])
def test_a_walk_is_the_same(kind: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # the sampler draws once for each outcome but the last: its stream is the same where questions have equally many
    made = problem(kind, [3] * 5 if source == "sampled" else SIZES)
    sources: dict[str, Any] = {
        "all": AllObservations,
        "missing": lambda: AllObservations(0.2, charge_missing=True),
        "sampled": lambda: SampledObservations(np.random.default_rng(5)),
    }
    ways: list[list[Level]] = []
    for few in (64, 0):
        monkeypatch.setattr(walking, "_FEW", few)
        answers: ObservationSource = sources[source]()
        weight = np.array([500.0]) if source == "sampled" else np.ones(1)
        ways.append(list(walk(made.initial_belief(), weight, ask_at_random(3), answers)))
    assert len(ways[0]) == len(ways[1]) > 3
    for mixed, apart in zip(*ways):
        assert (mixed.parent == apart.parent).all()
        assert (mixed.entry == apart.entry).all()
        assert (mixed.outcome == apart.outcome).all()
        assert mixed.weight == pytest.approx(apart.weight, abs=1e-14)
        assert mixed.belief.probabilities == pytest.approx(apart.belief.probabilities, abs=1e-13)
        assert mixed.belief.spent == pytest.approx(apart.belief.spent)
        assert mixed.visited == apart.visited


@pytest.mark.parametrize("kind", ["table", "mixture"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_instances_are_asked_the_same(kind: str, form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = problem(kind)
    policy = Adaptive(
        [ClassInformation()], max_nodes=0, max_rounds=0, n_paths=100, n_cases=50, certificate_paths=0
    ).solve(made)
    assert isinstance(policy, RulePolicy)
    rng = np.random.default_rng(2)
    X = np.stack([rng.integers(-1 if form is np.asarray else 0, size, 300) for size in SIZES], axis=1)
    found, used = [], []
    every = lambda structure, questions: used.append(questions) or True  # noqa: E731
    monkeypatch.setattr(type(made.structure), "supports_mixed_batches", every)
    for few in (64, 0):
        monkeypatch.setattr(walking, "_FEW", few)
        found.append(acquire(policy, form(X), record_beliefs=True))
    assert used
    mixed, apart = found
    for name in ("leaf", "leaf_decision", "leaf_question", "leaf_outcome"):
        assert (getattr(mixed, name) == getattr(apart, name)).all(), name
    assert mixed.leaf_belief == pytest.approx(apart.leaf_belief, abs=1e-13)
    assert mixed.leaf_price == pytest.approx(apart.leaf_price)


def test_bundles_are_asked_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(size), 2).T for size in (4, 2, 2)]
    bundles = [Bundle([0, 1], [2, 2]), None, None]
    made = TableProblem([0.5, 0.5], tables, [0.02] * 3, features=[0, 2, 3], bundles=bundles, any_order=True)
    assert not made.structure.supports_mixed_batches(np.array([0, 1]))
    policy = Adaptive([ClassInformation()], max_nodes=0, max_rounds=0, n_paths=50, certificate_paths=0).solve(made)
    costs = []
    for few in (64, 0):
        monkeypatch.setattr(walking, "_FEW", few)
        costs.append(evaluate(made, policy, method="exact").cost)
    assert costs[0] == pytest.approx(costs[1], abs=1e-14)


@pytest.mark.parametrize("kind", ["table", "mixture"])
def test_errors_name_the_feature_of_the_row(kind: str) -> None:
    made = problem(kind, features=[10, 11, 12, 13, 14])
    mixed = made.initial_belief(3).asking(np.array([1, 0, 4]))
    with pytest.raises(ValueError, match=r"feature 10: outcome 2 is not in 0\.\.1"):
        mixed.update(np.array([3, 2, 2]))
    sure = [np.array([[1.0, 0.5], [0.0, 0.5]])] * 2
    never = (
        TableProblem([1.0, 0.0], sure, [0.1] * 2, features=[7, 8], any_order=True)
        .initial_belief(2)
        .asking(np.array([0, 1]))
    )
    with pytest.raises(ValueError, match="feature 8: outcome 1 has probability zero"):
        never.update(np.array([0, 1]))


#: One question of many more outcomes than the others have, so that tables of all would be padding for the most part.
WIDE = [2, 40, 3, 2, 3]


@pytest.mark.parametrize("kind", ["table", "mixture"])
def test_a_question_of_many_outcomes_changes_nothing_for_the_others(kind: str) -> None:
    """And is not laid out for them: what is computed at once is what is, question by question."""
    wide = problem(kind, WIDE)
    level = list(walk(wide.initial_belief(), np.ones(1), ask_at_random(1, stop=0.0)))[1].belief
    every = np.arange(len(WIDE))
    for vectors in (wide.decision_costs.T, np.random.default_rng(0).random((300, 3))):  # of many vectors another way
        apart = [wide.structure.costs_after(every[q : q + 1], level, vectors) for q in every]
        np.testing.assert_allclose(wide.structure.costs_after(every, level, vectors), np.hstack(apart), rtol=1e-12)
    if wide.structure.latent is None:
        return
    states = wide.structure.latent.probability(level)
    together, *alone = [wide.structure.latent.tables_of(some)[0] for some in (every, *every[:, None])]
    assert together.by_class[0].shape[1] == sum(WIDE)
    for name in ("class_information", "latent_information", "separation"):
        apart = [getattr(tables, name)(states) for tables in alone]
        np.testing.assert_allclose(getattr(together, name)(states), np.hstack(apart), rtol=1e-9, atol=1e-12)


def test_bounds_after_a_question_of_many_outcomes() -> None:
    wide = problem("table", WIDE, groups=None, full_prices=None)
    bounds, belief = RepeatValues(wide), wide.initial_belief()
    tables = [wide.likelihoods[q] for q in range(len(WIDE))]
    plain = [
        bounds.decision_bounds(belief, (table * latent_posterior(belief)[:, None]), np.array([q])).sum()
        for q, table in enumerate(tables)
    ]
    np.testing.assert_allclose(bounds.question_bounds(belief)[0] - belief.prices[0], plain, rtol=1e-12)


def test_what_is_impossible_is_told_by_other_processes_too() -> None:
    certain = TableProblem([0.5, 0.5], [np.array([[1.0, 1.0], [0.0, 0.0]])], [0.1])
    with pytest.raises(ValueError, match="feature 0: outcome 1 has probability zero") as found:
        certain.initial_belief().asking(0).update(np.array([1]))
    other = pickle.loads(pickle.dumps(found.value))
    assert (str(other), other.feature, other.outcome) == (str(found.value), 0, 1)
