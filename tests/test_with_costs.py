"""Planned again for other costs, without the rows: as a fit at these costs would plan."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kinds_of_cost import PRICES, TABLE, costs_of

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.pomdp import Adaptive, ClassInformation

RULE = Adaptive([ClassInformation()], max_rounds=0, n_paths=50, certificate_paths=20)


@functools.cache
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    X = (rng.random((160, 4)) < np.where(y[:, None] == 1, 0.75, 0.3)).astype(float)
    X[10::7, 1] = X[12::9, 3] = np.nan
    return pd.DataFrame(X, columns=list("abcd")), np.array(["ill", "well"])[y]


def fitted(costs: Any, **settings: Any) -> SequentialClassifier:
    return SequentialClassifier(feature_costs=costs, discretizer="precomputed", **settings).fit(*rows())


def assert_same(clf: Any, other: Any) -> None:
    X = rows()[0]
    record, wanted = clf.acquire(X), other.acquire(X)
    np.testing.assert_array_equal(record.order, wanted.order)
    np.testing.assert_allclose(record.paid, wanted.paid, atol=1e-12)
    assert record.decision.tolist() == wanted.decision.tolist()
    assert clf.decisions_.tolist() == other.decisions_.tolist()
    assert clf.policy_.info.upper == pytest.approx(other.policy_.info.upper, abs=1e-12)
    assert clf.agent_.unit == other.agent_.unit


@pytest.mark.slow_cells(*(f"{name}-given" for name in ("delay_cost", "delays", "max_panel", "visit_cost")))
@pytest.mark.covering(1)
@pytest.mark.parametrize("order", ["given", "adaptive"])
@pytest.mark.parametrize("name", TABLE)
def test_as_a_fit_at_these_costs(name: str, order: str, tmp_path: Any) -> None:
    visits = bool({"visit_cost", "delay_cost"} & TABLE[name].keys())
    settings: dict[str, Any] = {"order": order, "solver": RULE if order == "adaptive" and not visits else None}
    costs, before = Costs(**costs_of(name)), fitted(Costs([0.02, 0.01, 0.04, 0.03], unit="USD"), **settings)
    before.save(tmp_path / "before.seq")
    clf = seqclass.load(tmp_path / "before.seq").with_costs(costs)
    clf.save(tmp_path / "after.seq")
    assert_same(seqclass.load(tmp_path / "after.seq"), fitted(costs, **settings))


@pytest.mark.slow_cells("known0")
@pytest.mark.parametrize("known", [["a"], {"a": "b"}])
def test_cases_begin_as_the_training_rows_did(known: Any) -> None:
    settings = {"order": "adaptive", "solver": RULE, "known": known}
    clf, other = fitted(0.02, **settings).with_costs(0.05), fitted(0.05, **settings)
    assert_same(clf, other)
    starts, wanted = clf.problem_.structure.starts, other.problem_.structure.starts
    np.testing.assert_allclose(starts.weight, wanted.weight)
    np.testing.assert_allclose(starts.belief, wanted.belief)
    prior = [0.1, 0.9]
    assert_same(clf.with_prior(prior), fitted(0.02, **settings).with_prior(prior).with_costs(0.05))


def test_prices_alone_leave_all_else() -> None:
    costs = Costs(
        {"lab": 0.02, "c": 0.03, "d": 0.04}, bundles={"a": "lab", "b": "lab"}, decision_costs=[[0, 5], [1, 0]]
    )
    clf = fitted(costs, order="given")
    assert_same(clf.with_costs({"lab": 0.3}), clf.with_costs(pd.Series({"d": 0.04, "lab": 0.3})))
    assert clf.with_costs({"lab": 0.3}).agent_.prices.full.tolist() == [0.3, 0.3, 0.03, 0.04]
    assert clf.with_costs({2: 0.5}).agent_.prices.full.tolist() == [0.02, 0.02, 0.5, 0.04]
    assert clf.with_costs({"lab": 0.3}).problem_.decision_costs.tolist() == [[0, 5], [1, 0]]
    assert clf.with_costs(Costs(0.1)).problem_.decision_costs.tolist() == [[0, 1], [1, 0]]
    assert clf.agent_.prices.full.tolist() == [0.02, 0.02, 0.03, 0.04]
    for wrong, said in (({"e": 1.0}, "costs names 'e'"), ({"lab": -1.0}, "negative"), ([0.1], "one price for each")):
        with pytest.raises(ValueError, match=said):
            clf.with_costs(wrong)
    with pytest.raises(ValueError, match="differ in it"):
        clf.with_costs({"a": 0.5})
    with pytest.raises(ValueError, match="marks"):
        clf.with_costs(Costs(0.1, marks=["a"]))


def test_an_order_is_made_anew_where_prices_compare_otherwise() -> None:
    clf = fitted(0.01)
    assert_same(clf.with_costs(0.01), clf)
    assert clf.with_costs(0.02).order_.tolist() == clf.order_[: len(clf.with_costs(0.02).order_)].tolist()
    first = str(rows()[0].columns[clf.order_[0]])
    assert clf.with_costs({first: 0.2}).order_[0] != clf.order_[0]
    short = fitted(0.01, max_cost=0.02)
    assert len(short.order_) == 2 < len(short.with_costs(0.005).order_)


def test_figures_of_the_old_costs_go_and_further_rows_count_at_the_new_ones() -> None:
    X, y = rows()
    clf = SequentialClassifier(discretizer="precomputed").fit(X, y, held_out=2)
    other = clf.with_costs(0.1)
    assert hasattr(clf, "held_out_")
    assert not hasattr(other, "held_out_")
    assert other.policy_.info.gap < 0.1
    stream = SequentialClassifier(discretizer="precomputed").partial_fit(X, y, classes=["ill", "well"], n_outcomes=2)
    stream = stream.with_costs(0.1).partial_fit(X, y)
    assert stream.problem_.prices.tolist() == [0.1] * stream.problem_.n_questions
    budget = fitted(PRICES, target_cost=0.03).with_costs(0.01)
    assert budget.policy_.info.upper > 0
    assert budget.acquire(X).paid.mean() < 0.05


@pytest.mark.slow
def test_the_model_that_was_chosen_stays() -> None:
    X, y = rows()
    clf = seqclass.adaptive(0.01).fit(X, y)
    dear = clf.with_costs(Costs(0.03, visit_cost=0.01))
    assert dear.choice_ is clf.choice_
    assert not hasattr(dear, "held_out_")
    assert dear.problem_.visits is not None
    assert dear.acquire(X).visit.max() >= 0
    assert dear.acquire(X).paid.mean() < clf.with_costs(0.001).acquire(X).n_features.mean()
