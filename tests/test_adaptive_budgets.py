"""The classifier that chooses how to learn, where hard budgets are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass import SequentialClassifier, load
from seqclass.adaptive_classifier import EFFORTS, at_budget
from seqclass.persistence import save
from seqclass.pomdp import FirstK

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:300, :12], Y[:300]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("loose_mixtures")]


@pytest.fixture(scope="module")
def fitted() -> Any:
    return seqclass.adaptive(effort="quick", budget=[3, 1]).fit(X, Y)


def test_what_is_chosen_costs_least_on_average_over_the_budgets(fitted: Any) -> None:
    fold, costs = fitted.held_out_.fold, {}
    assert fold.max() == 2
    for name, way in at_budget(EFFORTS["quick"], 0, True, False, 3).items():
        found = np.zeros((2, len(Y)))
        for k in range(3):
            clf = SequentialClassifier(feature_costs=0.01, **way).fit(X[fold != k], Y[fold != k])
            for row, budget in zip(found, (1, 3)):
                row[fold == k] = clf.acquire(X[fold == k], budget=budget).decision != Y[fold == k]
        costs[name] = found.mean()
    table = fitted.choice_.to_frame()
    assert table["cost"].to_dict() == pytest.approx(costs)
    assert table["error"].to_dict() == pytest.approx(costs)
    assert list(table["n_features"]) == [2.0] * len(costs)
    assert costs[fitted.choice_.chosen] <= costs["mixture of densities"]


def test_a_tree_is_taken_where_columns_repeat_one_another(tmp_path: Any) -> None:
    """Ten weak signals, three noisy columns of each: who takes columns for independent counts a signal thrice."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    signals = np.where(rng.random((900, 10)) < 0.65, y[:, None], 1 - y[:, None])
    X = np.where(rng.random((900, 30)) < 0.02, 1, 0) ^ np.tile(signals, 3)
    clf = seqclass.adaptive(effort="quick", budget=10).fit(X.astype(float), y)
    costs = clf.choice_.to_frame()["cost"]
    assert clf.choice_.chosen == "tree"
    assert costs["tree"] < costs["mixture, cuts by labels"] - 0.05
    assert costs["mixture of densities"] < costs["mixture, cuts by labels"] - 0.02  # many kinds in many samples
    assert (clf.acquire(X).n_features == 10).all()
    save(clf, tmp_path / "a.model")
    assert (load(tmp_path / "a.model").predict(X) == clf.predict(X)).all()


def test_what_came_next_is_one_of_the_ways_that_were_tried(fitted: Any) -> None:
    """It once looked among those of prices, where some of these names are not."""
    others = fitted.runners_up(20)
    assert len(others) == len(fitted.choice_.candidates) - 1
    assert all(one.solver.k == 3 for one in others)


def test_it_asks_so_many(fitted: Any, tmp_path: Any) -> None:
    record = fitted.acquire(X)
    assert (record.n_features == 3).all()
    assert isinstance(fitted.solver, FirstK)
    assert (fitted.acquire(X, budget=5).order[:, :3] == record.order).all()
    assert (fitted.acquire(X, budget=1).order[:, 0] == record.order[:, 0]).all()
    assert fitted.held_out_.n_features == 3
    assert fitted.held_out_.price == pytest.approx(0.03)
    save(fitted, tmp_path / "a.model")
    assert (load(tmp_path / "a.model").predict(X) == record.decision).all()
    assert clone(fitted).budget == [3, 1]
    assert isinstance(fitted.chosen_classifier(), SequentialClassifier)
    case = fitted.session()
    assert case.next_feature.name == f"x{record.order[0, 0]}"


def test_one_budget_and_nothing_held_out() -> None:
    clf = seqclass.adaptive(effort="quick", budget=2).fit(X, Y, held_out=0)
    assert clf.choice_ is None
    assert (clf.acquire(X).n_features == 2).all()
    assert (seqclass.adaptive(effort="quick", budget=50).fit(X, Y, held_out=0).acquire(X).n_features == 12).all()


def test_refusals() -> None:
    for budget, told in (([], "one number"), (0, "budget"), (2.5, "budget"), ([3, "x"], "budget")):
        with pytest.raises((ValueError, TypeError), match=told):
            seqclass.adaptive(budget=budget).fit(X, Y)
    for name in ("max_features", "max_cost", "target_cost"):
        with pytest.raises(ValueError, match=f"leave out {name}"):
            seqclass.adaptive(budget=2, **{name: 1}).fit(X, Y)
