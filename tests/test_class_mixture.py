"""Class mixtures in a classifier: in any order and in fixed ones, saved, explained, asked live."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from seqclass import Costs, SequentialClassifier, load
from seqclass.agent.problem import ModelProblem, acquisition_problem
from seqclass.bn import ClassMixture, NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.persistence import ModelFileError, save
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ClassInformation,
    ExpectedSaving,
    FunctionPolicy,
    HiddenInformation,
    Lookahead,
    MixtureProblem,
    TableProblem,
    acquire,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.latent import Hidden
from seqclass.pomdp.problem import outcome_likelihood
from seqclass.pomdp.table_problem import select_questions


def indicator(n=400, n_bits=4, seed=0):
    """Bits, and last the number of the one that tells the class."""
    rng = np.random.default_rng(seed)
    bits, which = rng.integers(0, 2, (n, n_bits)), rng.integers(0, n_bits, n)
    return np.column_stack([bits, which]).astype(float), bits[np.arange(n), which]


def plain_costs(states, tables, vectors):
    """Expected cost of the best of some vectors after each question."""
    return np.einsum("nh,mvh,kh->nmvk", states, tables, vectors).min(axis=3).sum(axis=2)


def problem_of(model, any_order, bundles=None, price=0.03):
    n = model.n_features_in_
    costs = 1 - np.eye(len(model.classes_))
    return acquisition_problem(model, np.arange(n), Costs(price).prices(n), costs, any_order=any_order, bundles=bundles)


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
    assert isinstance(problem_of(model, any_order=True), MixtureProblem)
    assert isinstance(problem_of(model, any_order=False), ModelProblem)
    X, y = indicator()
    naive = ClassMixture(1).fit(X.astype(int), y)
    assert isinstance(problem_of(naive, any_order=True), TableProblem)
    assert isinstance(problem_of(naive, any_order=False), TableProblem)


def test_the_mixture_problem_is_the_model(model):
    ours, theirs = problem_of(model, any_order=True), problem_of(model, any_order=False)
    plain = ModelProblem(model, model.class_prior_, ours.features, ours.prices, ours.decision_costs, any_order=True)
    assert_allclose(optimal_cost(ours), optimal_cost(plain), rtol=1e-9)
    assert optimal_cost(ours) < optimal_cost(theirs)
    policy = Lookahead(2, certificate_paths=0).solve(ours)
    assert_allclose(evaluate(ours, policy).cost, evaluate(plain, Lookahead(2, certificate_paths=0).solve(plain)).cost)


def test_bundles_show_several_features(model):
    bundles = np.array([0, 0, -1, 1, 1])
    ours = problem_of(model, any_order=True, bundles=bundles)
    assert isinstance(ours, MixtureProblem)
    plain = ModelProblem(
        model,
        model.class_prior_,
        ours.features,
        ours.prices,
        ours.decision_costs,
        any_order=True,
        bundles=ours.bundles,
    )
    assert_allclose(optimal_cost(ours), optimal_cost(plain), rtol=1e-9)


def large(any_order, n_components=3, price=0.03):
    """A bundle of seven columns, of more joint outcomes than are listed, and two columns by themselves."""
    rng = np.random.default_rng(0)
    y, kind = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    X = (rng.random((300, 9)) < 0.3 + 0.2 * y[:, None]).astype(int) + (rng.random((300, 9)) < 0.3 * kind[:, None])
    X[rng.random(X.shape) < 0.05] = -1
    model = ClassMixture(n_components, random_state=0).fit(X, y)
    return model, X, problem_of(model, any_order, np.repeat([0, -1], [7, 2]), price)


@pytest.mark.parametrize("any_order", [True, False])
@pytest.mark.parametrize("n_components", [1, 3])
def test_a_bundle_too_large_to_list_is_believed_exactly(n_components, any_order):
    model, X, problem = large(any_order, n_components)
    assert isinstance(problem, MixtureProblem)
    assert problem.structure.is_sampled(0)
    bundle, some = problem.structure.bundle(0), np.where(np.arange(9) < 7, X, -1)
    after = problem.initial_belief(len(X)).asking(0).update(bundle.encode(some[:, :7]))
    assert_allclose(after.probabilities, model.posterior(some), atol=1e-10)
    assert_allclose(outcome_likelihood(after.asking(1)), model.likelihood(7, some), atol=1e-10)
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    found = acquire(policy, X, columns=np.arange(9))
    assert set(found.leaf_question.ravel().tolist()) <= {-1, 0, 1, 2}


def test_what_stands_for_a_large_bundle_tells_what_the_bundle_tells():
    _, _, problem = large(any_order=True)
    info = problem.initial_belief()
    assert_allclose(outcome_likelihood(info.asking(0)).sum(axis=1), 1.0)
    ask = FunctionPolicy(problem, lambda belief: np.full(len(belief), 0 if belief.stage == 0 else -1))
    simulated = evaluate(problem, ask, n_paths=50_000)
    expected = problem.structure.costs_after(np.array([0]), info)[0, 0]
    assert expected + 0.03 == pytest.approx(simulated.cost, abs=0.02)
    # as it does once something is known
    later = info.asking(1).update(np.array([2]))
    drawn = problem.structure.sample_outcomes(0, later, np.zeros(50_000, dtype=int), np.random.default_rng(0))
    cost = later.asking(0).update(drawn, rows=np.zeros(50_000, dtype=int)).stopping_cost.mean()
    assert problem.structure.costs_after(np.array([0]), later)[0, 0] == pytest.approx(cost, abs=0.02)
    rules = [ClassInformation(), HiddenInformation(), EC2()]
    assert all(np.isfinite(rule.scores(later)[0, [0, 2]]).all() for rule in rules)


def test_classes_of_one_state_each_are_scored_by_one_product():
    """As are those of two states that answer alike, one by one."""
    rng = np.random.default_rng(0)
    tables, costs = rng.dirichlet(np.ones(4), size=(5, 3)).transpose(0, 2, 1), rng.random((3, 3)) * (1 - np.eye(3))
    prior = np.array([0.5, 0.3, 0.2])
    one = MixtureProblem(prior, [0, 1, 2], tables, 0.01, costs, any_order=True)
    two = MixtureProblem(np.tile(prior / 2, 2), np.tile([0, 1, 2], 2), np.tile(tables, 2), 0.01, costs, any_order=True)
    table = TableProblem(prior, tables, 0.01, costs, any_order=True)
    asked = [problem.initial_belief(3).asking(1).update(np.array([0, 2, -1])) for problem in (one, two, table)]
    for rule in (ClassInformation(), HiddenInformation(), ExpectedSaving(), EC2()):
        scores = [rule.scores(belief) for belief in asked[: 2 if isinstance(rule, HiddenInformation) else 3]]
        assert_allclose(scores[0], scores[1], atol=1e-9)
        assert_allclose(scores[0], scores[-1], atol=1e-9)


@pytest.mark.parametrize("any_order", [True, False])
def test_a_large_bundle_is_planned_for_without_the_model_row_by_row(any_order, monkeypatch):
    rows = []
    for name in ("stage_likelihood", "advance"):
        kept = getattr(ClassMixture, name)

        def noted(self, feature, state, *more, kept=kept):
            rows.append(len(state))
            return kept(self, feature, state, *more)

        monkeypatch.setattr(ClassMixture, name, noted)
    _, _, problem = large(any_order)
    solver = Adaptive([ClassInformation()], n_paths=200, n_cases=100, max_rounds=0) if any_order else Lookahead(1)
    solver.solve(problem)
    assert sum(rows) == 0


def test_work_counts_what_is_drawn_anew_for_each_instance():
    model, _, problem = large(any_order=True)
    plain = ModelProblem(
        model,
        model.class_prior_,
        np.array([0, 7, 8]),
        problem.prices,
        problem.decision_costs,
        any_order=True,
        bundles=[Bundle(np.arange(7), np.full(7, 3)), None, None],
    )
    rule = ClassInformation()
    # a class each against a hidden state each, and 256 joint outcomes of seven columns of three
    fewer = len(model.classes_) / len(problem.structure.latent.classes)
    assert rule.work(plain) / rule.work(problem) == pytest.approx(fewer * (256 * 21 + 6) / (256 + 6))


def test_large_bundles_are_saved(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), rng.integers(0, 2, 200)
    X += y[:, None] * (1 + rng.integers(0, 2, (200, 1)))
    solver = Adaptive([HiddenInformation()], n_paths=100, n_cases=50, max_rounds=0, certificate_paths=0)
    bundles = ["a", "a", "a", "a", "a", None]
    clf = SequentialClassifier(
        ClassMixture(2, random_state=0), solver, feature_costs=Costs(bundles=bundles), order="adaptive"
    )
    clf.fit(X, y)
    assert clf.problem_.structure.is_sampled(0)
    save(clf, tmp_path / "a.model")
    assert_array_equal(load(tmp_path / "a.model").predict(X), clf.predict(X))
    clf.problem_.bundles[0].tables[0, 0, 0] += 0.1
    save(clf, tmp_path / "b.model")
    with pytest.raises(ModelFileError, match="tables"):
        load(tmp_path / "b.model")


def test_parts_of_a_listed_bundle_are_summed_once_for_all_rows():
    rng = np.random.default_rng(0)
    bundle, table = Bundle(np.arange(5), np.full(5, 3)), rng.dirichlet(np.ones(243), size=3).T
    values = rng.integers(-1, 3, (4000, 5))
    codes = bundle.encode(values[(values >= 0).any(axis=1)])
    shared = np.broadcast_to(table, (len(codes), *table.shape))
    tracemalloc.start()
    found = bundle.marginal(shared, codes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < shared.size * 8 / 10
    assert_allclose(found, bundle.marginal(np.array(shared), codes), rtol=1e-12)


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


@pytest.mark.slow
def test_another_prior(adaptive):
    other = adaptive.with_prior([0.9, 0.1])
    assert_allclose(
        other.problem_.structure.latent.probability(other.problem_.initial_belief())[0] @ other.problem_.member,
        [0.9, 0.1],
    )


def test_what_is_known_of_tables_is_kept_and_right():
    """States of a class are summed up before decisions are weighed; tables that were laid out before serve again."""
    rng = np.random.default_rng(0)
    classes, tables = np.repeat([0, 1, 2], 20), rng.dirichlet(np.ones(4), (8, 60)).transpose(0, 2, 1)
    weights, costs, seen = rng.dirichlet(np.ones(60)), rng.random((3, 4)), rng.integers(-1, 4, 50)

    def known(problem):
        return problem.initial_belief(50).asking(0).update(seen)

    problem = MixtureProblem(weights, classes, tables, 0.1, costs, any_order=True)
    info, kept = known(problem), []
    states, rules = problem.structure.latent.probability(info), (ClassInformation(), HiddenInformation(), EC2())
    for questions in ([1, 2, 3, 4, 5, 6, 7], [1, 3, 4, 6], [6, 5, 4, 3], [1, 5], [1], [5, 1], [7, 2, 4, 5, 6]):
        asked = np.array(questions)
        expected = plain_costs(states, tables[asked], costs.T[:, classes])
        alone = known(MixtureProblem(weights, classes, tables[[0, *asked]], 0.1, costs, any_order=True))
        for who, where in ((info, asked), (alone, np.arange(1, len(asked) + 1))):
            assert_allclose(who.problem.structure.costs_after(where, who), expected, rtol=1e-12)
        for rule in rules:
            found = rule.gains(alone, np.arange(1, len(asked) + 1))
            assert_allclose(rule.gains(info, asked), found, rtol=1e-9, atol=1e-15)
        kept_or_new = (
            kept.tables_of(asked) for kept in (problem.structure.latent, Hidden(classes, tables, problem.n_outcomes))
        )
        ours, theirs = (part.class_costs(states, costs.T)[:, at] for part, at in kept_or_new)
        assert_allclose(ours, theirs, rtol=1e-12)
        kept.append(len(problem.structure.latent._table_cache))
    assert kept == [1, 1, 1, 2, 2, 2, 2]
    for first in range(1, 8):  # what is kept does not grow without end
        problem.structure.costs_after(np.array([first]), info)
        assert sum(part.size for part in problem.structure.latent._table_cache) <= 2 * tables.size
    few = known(select_questions(problem, np.array([0, 2, 4, 6])))
    expected = plain_costs(states, tables[[2, 4, 6]], costs.T[:, classes])
    assert_allclose(few.problem.structure.costs_after(np.arange(1, 4), few), expected, rtol=1e-12)
