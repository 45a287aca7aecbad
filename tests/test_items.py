"""Tests that end early: banks of items and skills planned without data, and all that is done with such plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import clone

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, NaiveBayes
from seqclass.cli import main
from seqclass.evaluation.certified import certify_error
from seqclass.exams import ItemResponse, SkillProfile
from seqclass.export import export_policy
from seqclass.pomdp import Adaptive, ClassInformation, certify, evaluate

BANK = pd.DataFrame(
    {
        "item": ["fractions", "roots", "powers", "logs", "sums", "limits"],
        "a1": [1.6, 2.0, 0.8, 1.4, 1.1, 1.8],
        "d": [0.8, -0.5, 0.0, -1.4, 1.5, np.nan],
        "g": [0.2, 0.25, 0.2, 0.1, 0.2, np.nan],
        "d1": [np.nan] * 5 + [1.0],
        "d2": [np.nan] * 5 + [-1.2],
    }
)
Q = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]])
QUICK = Adaptive([ClassInformation()], n_paths=100, n_cases=200, max_nodes=0, max_rounds=0, certificate_paths=0)
MODELS: dict[str, Any] = {
    "items": lambda: ItemResponse.from_items(BANK, [-0.5, 0.7], labels=["novice", "able", "expert"], points=15),
    "skill": lambda: SkillProfile.from_items(Q, 0.2, 0.1, target=1),
    "profile": lambda: SkillProfile.from_items(Q[[0, 1, 3], :2], 0.2, 0.1, kind="DINO"),
}


def all_orders(model: Any, price: float) -> float:
    """Least expected cost over all policies, by recursion over partial answers and plain sums over hidden states."""
    n, cost = model.n_features_in_, 1 - np.eye(len(model.classes_))
    start = model.class_prior_[model.hidden_class_] * model.weights_

    def value(mass: Any, asked: frozenset[int]) -> float:
        by_class = np.bincount(model.hidden_class_, mass, len(cost))
        best = float((by_class @ cost).min())
        for j in range(n):
            if j not in asked and price * mass.sum() < best:
                parts = [model.tables_[j, v] * mass for v in range(model.n_outcomes_[j])]
                best = min(best, price * float(mass.sum()) + sum(value(part, asked | {j}) for part in parts))
        return best

    return value(start, frozenset())


@pytest.mark.slow_cells("items")
@pytest.mark.parametrize("name", MODELS)
def test_the_optimum_of_a_small_bank(name: str) -> None:
    model = MODELS[name]()
    clf = SequentialClassifier.from_model(model, feature_costs=0.03)
    best = all_orders(model, 0.03)
    assert clf.policy_.info.scope == "all orders"
    assert clf.expected_cost_ == pytest.approx(best, abs=1e-9)
    quick = SequentialClassifier.from_model(model, feature_costs=0.03, solver=QUICK)
    assert best - 1e-9 <= evaluate(quick.problem_, quick.policy_).cost <= 1.1 * best
    bounds = certify(quick.problem_, quick.policy_, n_paths=200)
    assert bounds.lower <= best + 1e-9
    assert bounds.upper >= best - 1e-9


@pytest.mark.slow_cells("items-adaptive", "items-conditional", "items-information", "items-order3")
@pytest.mark.parametrize(
    ("name", "order"),
    [
        pytest.param(name, order, marks=() if order == "adaptive" or name == "items" else pytest.mark.slow)
        for name in MODELS
        for order in ("adaptive", "information", "conditional", [2, 0, 1])
    ],
)
def test_plans_without_data(name: str, order: Any, tmp_path: Path) -> None:
    model = MODELS[name]()
    solver = QUICK if order == "adaptive" else None
    clf = SequentialClassifier.from_model(model, feature_costs=0.02, order=order, solver=solver)
    assert clf.model_ is model
    assert clone(clf).get_params()["prefit"] is True
    X, y = model.sample(200, 0)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    if name == "items":
        X = pd.DataFrame(X, columns=BANK["item"])
    record = clf.acquire(X)
    assert (record.decision == y).mean() > np.unique(y, return_counts=True)[1].max() / 200 - 0.05
    assert clf.acquire(X, budget=2).n_features.max() == 2
    clf.save(tmp_path / "plan.seq")
    again = seqclass.load(tmp_path / "plan.seq")
    np.testing.assert_array_equal(again.acquire(X).posterior, record.posterior)
    for row in range(3):
        session, told = again.session(), np.full((1, model.n_features_in_), -1)
        values = np.asarray(X, dtype=float)[row]
        while (question := session.next_feature) is not None:
            value = values[question.column]
            if np.isnan(value):
                session.unavailable(question.name)
            else:
                session.observe(question.name, value)
                told[0, question.column] = int(value)
        np.testing.assert_allclose(session.posterior, model.posterior(told)[0], atol=1e-12)
        assert session.decision == record.decision[row]
    assert "Decision" in str(clf.explain(X[:1])[0])
    with pytest.warns(UserWarning, match="made without rows"):
        contract = certify_error(clf, X, y, alpha=0.75)
    assert contract.certified
    for ending, format in ((".html", "html"), (".json", "json"), (".c", "c")):
        export_policy(clf, tmp_path / f"plan{ending}", format=format)
        assert (tmp_path / f"plan{ending}").stat().st_size > 1000


def test_names_of_items_are_names_of_questions(tmp_path: Path) -> None:
    prices = dict.fromkeys(BANK["item"], 0.02) | {"roots": 0.0}
    clf = SequentialClassifier.from_model(MODELS["items"](), feature_costs=prices, solver=QUICK)
    session = clf.session(known={"fractions": 1})
    session.observe("roots", 0)
    told = np.array([[1, 0, -1, -1, -1, -1]])
    np.testing.assert_allclose(session.posterior, clf.model_.posterior(told)[0])
    with pytest.raises(ValueError, match="not an outcome"):
        session.observe("limits", 3)  # which has three outcomes
    clf.save(tmp_path / "plan.seq")
    done = CliRunner().invoke(main, ["ask", str(tmp_path / "plan.seq")], input="1\n" * 6)
    assert done.exit_code == 0, done.stderr
    assert "Decision" in done.stdout
    bundled = Costs(0.05, bundles=["sheet", "sheet", "sheet", -1, -1, -1])
    panel = SequentialClassifier.from_model(MODELS["items"](), feature_costs=bundled, solver=QUICK)
    assert panel.problem_.n_questions == 4


@pytest.mark.slow
def test_learnt_from_rows_with_folds_calibration_and_weights() -> None:
    true = MODELS["items"]()
    X, band = true.sample(300, 1)
    y = np.where(band == "expert", "pass", "fail")
    settings: dict[str, Any] = {"discretizer": "precomputed", "order": "adaptive", "solver": QUICK}
    clf = SequentialClassifier(ItemResponse(points=15), **settings).fit(X, y, np.ones(300), held_out=2)
    assert clf.model_.n_outcomes_.tolist() == [2] * 5 + [3]
    assert 0 < clf.held_out_.cost < 0.5
    frame = pd.DataFrame(X, columns=BANK["item"])
    named = SequentialClassifier(ItemResponse(points=15), **settings).fit(frame, y)
    assert named.model_.feature_names_ == BANK["item"].tolist()
    np.testing.assert_array_equal(named.model_.posterior(X), clf.model_.posterior(X))
    calibrated = SequentialClassifier(ItemResponse(points=9), calibrate=True, **settings).fit(X, y)
    assert (calibrated.calibration_.exponents <= 1).all()
    bands = ItemResponse(cuts=[-0.5, 0.7], labels=["novice", "able", "expert"], points=15)
    clf = SequentialClassifier(bands, **settings).fit(X, band)
    assert clf.classes_.tolist() == ["able", "expert", "novice"]
    with pytest.raises(ValueError, match="give rows of every class"):
        SequentialClassifier(bands, **settings).fit(X, y)
    with pytest.raises(ValueError, match="ItemResponse learns from all rows at once"):
        SequentialClassifier(bands, **settings).fit_chunks([(X[:150], band[:150]), (X[150:], band[150:])])


def test_skills_learnt_from_rows() -> None:
    X, y = MODELS["skill"]().sample(400, 0)
    clf = SequentialClassifier(SkillProfile(Q, target=1), discretizer="precomputed", order="adaptive", solver=QUICK)
    clf.fit(X, y)
    assert clf.classes_.tolist() == [0, 1]
    assert clf.score(X, y) > 0.7


@pytest.mark.parametrize(
    "model, order, words",
    [
        (ItemResponse(), "adaptive", "must be an observation model that is fitted"),
        (3, "adaptive", "must be an observation model that is fitted"),
    ],
)
def test_what_cannot_be_planned_for(model: Any, order: str, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        SequentialClassifier.from_model(model, order=order)


def test_an_order_is_made_on_cases_of_any_model() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    model = NaiveBayes().fit((rng.random((400, 3)) < np.where(y[:, None] == 1, [0.6, 0.9, 0.7], 0.4)).astype(int), y)
    for order in ("information", "conditional", "error"):
        clf = SequentialClassifier.from_model(model, order=order, feature_costs=0.001)
        assert clf.order_.tolist() == [1, 2, 0]


def test_other_models_are_planned_for_too() -> None:
    X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 10)
    model = ClassMixture(2).fit(X, np.array(["same", "same", "other", "other"] * 10))
    clf = SequentialClassifier.from_model(model, feature_costs=0.01)
    assert clf.expected_cost_ == pytest.approx(all_orders(model, 0.01), abs=1e-9)
