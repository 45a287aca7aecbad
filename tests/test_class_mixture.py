"""Class mixtures in a classifier: in any order and in fixed ones, saved, explained, asked live."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from seqclass import SequentialClassifier, load
from seqclass._model_problem import ModelProblem
from seqclass._staging import acquisition_problem
from seqclass.bn import ClassMixture, NaiveBayes
from seqclass.costs import resolve_prices
from seqclass.discretize import Discretizer
from seqclass.persistence import ModelFileError, save
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ClassInformation,
    Hidden,
    HiddenInformation,
    Lookahead,
    MixtureProblem,
    TableProblem,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.likelihoods import table_costs


def indicator(n=400, n_bits=4, seed=0):
    """Bits, and last the number of the one that tells the class."""
    rng = np.random.default_rng(seed)
    bits, which = rng.integers(0, 2, (n, n_bits)), rng.integers(0, n_bits, n)
    return np.column_stack([bits, which]).astype(float), bits[np.arange(n), which]


def problem_of(model, free, bundles=None, price=0.03):
    n = model.n_features_in_
    costs = 1 - np.eye(len(model.classes_))
    return acquisition_problem(model, np.arange(n), resolve_prices(price, n), costs, free=free, bundles=bundles)


@pytest.fixture(scope="module")
def model():
    X, y = indicator()
    return ClassMixture(6, random_state=1).fit(X.astype(int), y)


@pytest.fixture(scope="module")
def adaptive():
    X, y = indicator()
    solver = Adaptive(max_nodes=0, n_paths=500, n_cases=1000, certificate_paths=500)
    model, settings = ClassMixture(6, random_state=1), {"discretizer": Discretizer(4), "feature_costs": 0.03}
    return SequentialClassifier(model, solver, order="adaptive", **settings).fit(X, y)


def test_the_kind_of_problem(model):
    assert isinstance(problem_of(model, free=True), MixtureProblem)
    assert isinstance(problem_of(model, free=False), ModelProblem)
    X, y = indicator()
    naive = ClassMixture(1).fit(X.astype(int), y)
    assert isinstance(problem_of(naive, free=True), TableProblem)
    assert isinstance(problem_of(naive, free=False), TableProblem)


def test_the_mixture_problem_is_the_model(model):
    ours, theirs = problem_of(model, free=True), problem_of(model, free=False)
    plain = ModelProblem(model, model.class_prior_, ours.features, ours.prices, ours.decision_costs, free=True)
    assert_allclose(optimal_cost(ours), optimal_cost(plain), rtol=1e-9)
    assert optimal_cost(ours) < optimal_cost(theirs)
    policy = Lookahead(2, certificate_paths=0).solve(ours)
    assert_allclose(evaluate(ours, policy).cost, evaluate(plain, Lookahead(2, certificate_paths=0).solve(plain)).cost)


def test_bundles_show_several_features(model):
    bundles = np.array([0, 0, -1, 1, 1])
    ours = problem_of(model, free=True, bundles=bundles)
    assert isinstance(ours, MixtureProblem)
    plain = ModelProblem(
        model,
        model.class_prior_,
        ours.features,
        ours.prices,
        ours.decision_costs,
        free=True,
        bundles=ours.bundles,
    )
    assert_allclose(optimal_cost(ours), optimal_cost(plain), rtol=1e-9)


def test_any_question_next_asks_what_says_what_to_ask(adaptive):
    X, y = indicator(seed=1)
    record = adaptive.acquire(X)
    assert adaptive.score(X, y) > 0.97
    assert record.n_features.mean() < 3.2
    assert adaptive.ordering_ is not None
    fixed = SequentialClassifier(NaiveBayes(), discretizer=Discretizer(4), feature_costs=0.03).fit(*indicator())
    assert fixed.score(X, y) < 0.85


@pytest.mark.parametrize("order", ["conditional", "information", [4, 0, 1, 2, 3]])
def test_fixed_orders(order):
    X, y = indicator()
    clf = SequentialClassifier(
        ClassMixture(6, random_state=1), order=order, discretizer=Discretizer(4), feature_costs=0.02
    ).fit(X, y)
    assert clf.policy_.info.gap < 0.05
    assert clf.score(X, y) > 0.9


def test_saved_and_loaded(adaptive, tmp_path):
    X, _ = indicator(seed=1)
    for clf in (
        adaptive,
        SequentialClassifier(ClassMixture(3), Lookahead(1), discretizer=Discretizer(4)).fit(*indicator(n=80)),
    ):
        clf.save(tmp_path / "model.seq")
        again = load(tmp_path / "model.seq")
        assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
        assert_array_equal(again.model_.posterior(X.astype(int)), clf.model_.posterior(X.astype(int)))


@pytest.mark.parametrize(
    "change",
    [
        {"weights_": np.full(12, 0.5)},
        {"weights_": np.ones(3)},
        {"hidden_class_": np.zeros(12, dtype=np.intp)},
        {"tables_": np.ones((5, 4, 12))},
        {"tables_": np.full((5, 4, 12), 0.25)},
        {"n_components_": np.array([0, 6])},
    ],
)
def test_loading_refuses_what_does_not_fit(model, change, tmp_path):
    other = clone(model)
    other.__dict__.update({**model.__dict__, **change})
    save(other, tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match=r"wrong|other|not the array"):
        load(tmp_path / "model.seq")


def test_explained_and_asked_live(adaptive):
    X, _ = indicator(seed=1)
    record = adaptive.acquire(X[:20])
    for row, explanation, n in zip(X, adaptive.explain(X[:5]), record.n_features):
        assert len(explanation.steps) == n
        session = adaptive.session()
        while session.next_feature is not None:
            session.observe(session.next_feature.name, row[int(session.next_feature.name[1:])])
        assert session.decision == adaptive.predict(row[None])[0]


def test_another_prior(adaptive):
    other = adaptive.with_prior([0.9, 0.1])
    assert_allclose(other.problem_.hidden.probability(other.problem_.begin())[0] @ other.problem_.member, [0.9, 0.1])


def test_what_is_known_of_tables_is_kept_and_right():
    """States of a class are summed up before decisions are weighed; tables that were laid out before serve again."""
    rng = np.random.default_rng(0)
    classes, tables = np.repeat([0, 1, 2], 20), rng.dirichlet(np.ones(4), (8, 60)).transpose(0, 2, 1)
    weights, costs, seen = rng.dirichlet(np.ones(60)), rng.random((3, 4)), rng.integers(-1, 4, 50)

    def known(problem):
        return problem.begin(50).asking(0).update(seen)

    problem = MixtureProblem(weights, classes, tables, 0.1, costs, free=True)
    info, kept = known(problem), []
    states, rules = problem.hidden.probability(info), (ClassInformation(), HiddenInformation(), EC2())
    for questions in ([1, 2, 3, 4, 5, 6, 7], [1, 3, 4, 6], [6, 5, 4, 3], [1, 5], [1], [5, 1], [7, 2, 4, 5, 6]):
        asked = np.array(questions)
        expected = table_costs(states, tables[asked], costs.T[:, classes])
        alone = known(MixtureProblem(weights, classes, tables[[0, *asked]], 0.1, costs, free=True))
        for who, where in ((info, asked), (alone, np.arange(1, len(asked) + 1))):
            assert_allclose(who.problem.costs_after(where, who), expected, rtol=1e-12)
        for rule in rules:
            found = rule.gains(alone, np.arange(1, len(asked) + 1))
            assert_allclose(rule.gains(info, asked), found, rtol=1e-9, atol=1e-15)
        kept_or_new = problem.hidden.tables_of(asked), Hidden.tables_of(problem.hidden, asked)
        ours, theirs = (part.class_costs(states, costs.T)[:, at] for part, at in kept_or_new)
        assert_allclose(ours, theirs, rtol=1e-12)
        kept.append(len(problem._tables._kept))
    assert kept == [1, 1, 1, 2, 2, 2, 2]
    for first in range(1, 8):  # what is kept does not grow without end
        problem.costs_after(np.array([first]), info)
        assert sum(part.size for part in problem._tables._kept) <= 2 * tables.size
    few = known(problem.among(np.array([0, 2, 4, 6])))
    expected = table_costs(states, tables[[2, 4, 6]], costs.T[:, classes])
    assert_allclose(few.problem.costs_after(np.arange(1, 4), few), expected, rtol=1e-12)
