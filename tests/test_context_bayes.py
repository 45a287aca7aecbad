"""Contexts in a classifier: found, named, bundled, planned for, saved, and asked live with numbers as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from seqclass import Costs, SequentialClassifier, load
from seqclass.agent.problem import acquisition_problem
from seqclass.bn import ContextBayes, InformationFilter, NaiveBayes
from seqclass.datasets.cube import make_cube_nm
from seqclass.discretize import Discretizer
from seqclass.persistence import ModelFileError, save
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ExactFreeOrder,
    FirstK,
    GridValueIteration,
    HiddenInformation,
    MixtureProblem,
    evaluate,
    optimal_cost,
)

QUICK = Adaptive(max_nodes=0, n_paths=300, n_cases=500, certificate_paths=300)


def wards(n=500, seed=0, missing=0.0):
    """Where somebody is, and two measurements, of which one tells the class there."""
    rng = np.random.default_rng(seed)
    ward, y = rng.integers(0, 2, (2, n))
    values = rng.normal(3.0, 1.0, (n, 2))
    values[np.arange(n), ward] = rng.normal(np.where(y, 4.5, 1.5), 1.0)
    data = pd.DataFrame({"fever": values[:, 0], "pulse": values[:, 1], "ward": np.where(ward, "south", "north")})
    data["ward"] = data["ward"].astype("category").mask(rng.random(n) < missing)
    return data.astype({"ward": "category"}), np.where(y, "ill", "well")


@pytest.fixture(scope="module")
def clf():
    settings = {"discretizer": Discretizer(24), "order": "adaptive", "feature_costs": 0.01}
    return SequentialClassifier(ContextBayes(), QUICK, **settings).fit(*wards())


def test_the_context_is_found_and_asked_for_first(clf):
    assert_array_equal(clf.model_.context_, [2])
    assert clf.model_.densities_[2] == "tables"
    assert isinstance(clf.problem_, MixtureProblem)
    X, y = wards(2000, seed=1)
    record = clf.acquire(X, record_beliefs=False)
    assert (record.decision == y).mean() > 0.91
    assert record.n_features.mean() < 2.3
    plain = SequentialClassifier(NaiveBayes(), discretizer=Discretizer(4), feature_costs=0.01).fit(*wards())
    assert plain.score(X, y) < 0.9


def test_a_number_stays_a_number(clf):
    """The belief is that of the density at the value, but for the width of a bin."""
    session = clf.session()
    session.observe("ward", "south")
    for value in (1.23456, 2.5, 3.25, 4.321):
        session.observe("pulse", value)
        assert session.history[-1].value == value
        ill, well = stats.norm.pdf(value, [4.5, 1.5])
        prior = dict(zip(clf.classes_, clf.model_.class_prior_))
        expected = prior["ill"] * ill / (prior["ill"] * ill + prior["well"] * well)
        assert session.posterior[0] == pytest.approx(expected, abs=0.08)
        session.undo()
    record = clf.acquire(wards(20, seed=1)[0])
    for row, (_, case) in enumerate(wards(20, seed=1)[0].iterrows()):
        session = clf.session()
        while session.next_feature is not None:
            session.observe(session.next_feature.name, case[session.next_feature.name])
        assert session.decision == record.decision[row]


@pytest.mark.parametrize("context", ["ward", 2, ["ward"], np.int64(2)])
def test_named_columns(context):
    X, y = wards(120)
    settings = {"discretizer": Discretizer(8), "order": "given"}
    clf = SequentialClassifier(ContextBayes(context, random_state=1), FirstK(0, certificate_paths=0), **settings)
    assert_array_equal(clf.fit(X, y).model_.context_, [2])
    other = SequentialClassifier(ContextBayes(context), QUICK, **settings, selector=InformationFilter(n_features=1))
    with pytest.raises(ValueError, match=r"none that the selector kept"):
        other.fit(X, y)


@pytest.mark.slow
def test_several_named_columns():
    X, y = wards(120)
    settings = {"discretizer": Discretizer(8), "order": "adaptive"}
    with pytest.raises(ValueError, match=r"context: 'room' is no column"):
        SequentialClassifier(ContextBayes(["room"]), QUICK, **settings).fit(X, y)
    both = SequentialClassifier(ContextBayes(["ward", "pulse"]), QUICK, **settings).fit(X, y)
    assert_array_equal(both.model_.context_, [1, 2])


def test_a_selector_moves_columns():
    X, y = wards(300)
    X.insert(0, "nothing", np.random.default_rng(0).normal(size=300))
    clf = SequentialClassifier(
        ContextBayes("ward"), QUICK, discretizer=Discretizer(8), order="adaptive", selector=_Last(), feature_costs=0.01
    ).fit(X, y)
    assert_array_equal(clf.support_, [1, 2, 3])
    assert_array_equal(clf.model_.context_, [2])


class _Last(InformationFilter):
    def _get_support_mask(self):
        return np.arange(self.n_features_in_) > 0


@pytest.mark.slow
def test_a_bundle_is_a_context_that_is_tried():
    train, test = make_cube_nm(600, random_state=5), make_cube_nm(1000, random_state=6)
    clf = SequentialClassifier(
        ContextBayes(),
        Adaptive([HiddenInformation()], max_rounds=0, n_paths=100, n_cases=200, certificate_paths=0),
        feature_costs=Costs(1e-6, bundles=train.bundles),
        discretizer=Discretizer(np.repeat([2, 12], [5, 50])),
        order="adaptive",
        max_features=5,
    ).fit(train.X, train.y)
    assert_array_equal(clf.model_.context_, range(5))
    record = clf.acquire(test.X)
    assert record.n_features.max() <= 9  # the bundle's five, and four more questions
    assert (record.decision == test.y).mean() > 0.55


@pytest.mark.slow_cells("0.0")
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_missing_contexts(missing):
    X, y = wards(600, seed=2, missing=missing)
    model = ContextBayes("ward")
    clf = SequentialClassifier(model, QUICK, discretizer=Discretizer(16), order="adaptive", feature_costs=0.01)
    clf.fit(X, y)
    assert (clf.model_.n_iter_ > 0) == (missing > 0)
    new, label = wards(1500, seed=3, missing=0.3)
    assert clf.score(new, label) > 0.87


def small():
    """A model of few outcomes, for enumeration."""
    X, y = wards(200)
    codes = np.column_stack([Discretizer(3).fit_transform(X[["fever", "pulse"]].to_numpy()), X["ward"].cat.codes])
    return ContextBayes(2).fit(codes, y, n_outcomes=[3, 3, 2])


def problem_of(model, order, any_order):
    n = model.n_features_in_
    return acquisition_problem(model, np.array(order), Costs(0.03).prices(n), 1 - np.eye(2), any_order=any_order)


def test_all_orders_and_fixed_ones_against_enumeration():
    model = small()
    any_order = problem_of(model, [0, 1, 2], True)
    best = optimal_cost(any_order)
    found = ExactFreeOrder().solve(any_order)
    assert found.info.upper == pytest.approx(best, rel=1e-9)
    chosen = Adaptive([HiddenInformation(), EC2()], max_nodes=0, certificate_paths=200).solve(any_order)
    assert evaluate(any_order, chosen).cost >= best - 1e-9
    first = problem_of(model, [2, 0, 1], False)
    assert first.structure.tables is not None
    assert not first.structure.tables.single
    policy = GridValueIteration().solve(first)
    assert evaluate(first, policy).cost == pytest.approx(optimal_cost(first), rel=1e-6)
    assert best < optimal_cost(first) + 1e-9


def test_saved_and_loaded(clf, tmp_path):
    X, _ = wards(100, seed=1)
    clf.save(tmp_path / "model.seq")
    again = load(tmp_path / "model.seq")
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.model_.candidates_ == clf.model_.candidates_
    assert again.model_.densities_ == clf.model_.densities_
    assert_array_equal(again.model_.context_values_, clf.model_.context_values_)
    assert again.session().to_json() == clf.session().to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"weights_": np.ones(4)},
        {"hidden_class_": np.zeros(4, dtype=np.intp)},
        {"tables_": np.ones((3, 3, 4))},
        {"context_": np.array([3])},
        {"context_": np.array([-1])},
        {"context_": np.array([0.0])},
        {"densities_": ["tables"]},
        {"context_values_": np.array([[0], [1], [2]])},
    ],
)
def test_loading_refuses_what_does_not_fit(change, tmp_path):
    model = small()
    other = clone(model)
    other.__dict__.update({**model.__dict__, **change})
    save(other, tmp_path / "model.seq")
    with pytest.raises(ModelFileError, match=r"wrong|other|not the array"):
        load(tmp_path / "model.seq")


def test_explained(clf):
    X, _ = wards(5, seed=1)
    record = clf.acquire(X)
    for explanation, n in zip(clf.explain(X), record.n_features):
        assert len(explanation.steps) == n


@pytest.mark.slow
def test_another_prior(clf):
    other = clf.with_prior([0.9, 0.1])
    assert_allclose(
        other.problem_.structure.latent.probability(other.problem_.initial_belief())[0] @ other.problem_.member,
        [0.9, 0.1],
    )
