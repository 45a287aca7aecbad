"""Scores of a cell, against their definitions written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from seqclass.costs import Costs
from seqclass.datasets import load
from seqclass.experiment import calibration_error
from seqclass.experiment._keeping import Decided, needed, purchases
from seqclass.experiment._scores import scores

IRIS = load("iris")


def test_calibration_error_by_its_definition() -> None:
    rng = np.random.default_rng(0)
    proba, y = rng.dirichlet(np.ones(3), 500), rng.integers(3, size=500)
    expected = 0.0
    for b in range(10):
        inside = [i for i in range(500) if b / 10 < proba[i].max() <= (b + 1) / 10]
        if inside:
            right = np.mean([proba[i].argmax() == y[i] for i in inside])
            expected += len(inside) / 500 * abs(right - np.mean([proba[i].max() for i in inside]))
    assert calibration_error(y, proba, n_bins=10) == pytest.approx(expected)
    assert calibration_error([0, 1], np.eye(2)) == 0
    assert calibration_error([1, 0], np.eye(2)) == 1
    with pytest.raises(ValueError, match="row for each label"):
        calibration_error([0], np.eye(2))


def decided(decision: list[int], proba: object = None, cost: float = 0.0) -> Decided:
    n = len(decision)
    return Decided(np.array(decision), proba, np.arange(n), np.full(n, cost))  # type: ignore[arg-type]


def test_scores_by_hand() -> None:
    data = load("breast_cancer")
    proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]])
    found = scores(data, np.array([0, 0, 1, 1]), decided([0, 1, 1, 0], proba, 0.25))
    assert found["realised_cost"] == 0.75
    assert found["accuracy"] == found["macro_f1"] == 0.5
    assert found["auroc"] == 0.75  # of four pairs one is the wrong way round
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.8, 0.3]).mean())
    assert (found["n_features_mean"], found["n_features_q50"], found["n_features_max"]) == (1.5, 1.5, 3.0)
    assert found["cost_q95"] == 0.25


def test_what_is_not_defined_is_nan() -> None:
    without = scores(IRIS, np.array([0, 1, 2]), decided([0, 1, 1]))
    assert np.isnan([without[name] for name in ("auroc", "log_loss", "calibration_error")]).all()
    lacking = scores(IRIS, np.array([0, 1, 1]), decided([0, 1, 1], np.eye(3)[[0, 1, 1]]))
    assert np.isnan(lacking["auroc"])
    assert lacking["macro_f1"] == 1.0


def test_further_decisions_count_by_their_cost_and_as_misses() -> None:
    data = replace(IRIS, decision_costs=np.c_[5 * (1 - np.eye(3)), [0.5] * 3], decisions=("refer",))
    found = scores(data, np.array([0, 1, 2, 2]), decided([0, 2, 3, 2]))
    assert found["realised_cost"] == (0 + 5 + 0.5 + 0) / 4
    assert found["accuracy"] == 0.5
    assert found["macro_f1"] == pytest.approx((1 + 0 + 2 * (1 / 2) * (1 / 2)) / 3)


X = IRIS.X[IRIS.y < 2]
Y = IRIS.y[IRIS.y < 2]


@pytest.mark.parametrize(
    "model, columns",
    [
        (GaussianNB(), [0, 1, 2, 3]),
        (LogisticRegression(), [0, 1, 2, 3]),
        (make_pipeline(SelectKBest(k=2), LogisticRegression()), [2, 3]),
        (make_pipeline(StandardScaler(), SimpleImputer(), SelectKBest(k=1), GaussianNB()), [2]),
        (make_pipeline(SelectKBest(k=2), StandardScaler(), GaussianNB()), [2, 3]),
        (make_pipeline(Normalizer(), SelectKBest(k=2), GaussianNB()), [0, 1, 2, 3]),  # it looks at whole rows
        (make_pipeline(SelectKBest(k=1), DecisionTreeClassifier()), [2]),
        (BaggingClassifier(DecisionTreeClassifier(), 2, max_features=2, random_state=0), [0, 1, 2, 3]),
        (VotingClassifier([("t", DecisionTreeClassifier()), ("n", GaussianNB())]), [0, 1, 2, 3]),
    ],
)
def test_needed_columns(model: object, columns: list[int]) -> None:
    fitted = model.fit(X, Y)  # type: ignore[attr-defined]
    assert np.flatnonzero(needed(fitted, 4)).tolist() == columns


def test_zero_weights_are_not_paid_for() -> None:
    model = LogisticRegression().fit(X, Y)
    model.coef_[0, 1:3] = 0
    n_features, cost = purchases(model, X, Costs([1.0, 2.0, 4.0, 8.0]).prices(4))
    assert (n_features == 2).all()
    assert (cost == 9).all()


def test_a_tree_pays_for_its_path_and_a_forest_for_all_it_asks() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(IRIS.X, IRIS.y)
    prices = np.array([1.0, 2.0, 4.0, 8.0])
    n_features, cost = purchases(tree, IRIS.X, Costs(prices).prices(4))
    for i in range(0, 150, 7):
        node, asked = 0, set()
        while tree.tree_.feature[node] >= 0:
            j = tree.tree_.feature[node]
            asked.add(int(j))
            go_left = np.float32(IRIS.X[i, j]) <= tree.tree_.threshold[node]
            node = tree.tree_.children_left[node] if go_left else tree.tree_.children_right[node]
        assert n_features[i] == len(asked)
        assert cost[i] == prices[list(asked)].sum()
    assert len(set(n_features.tolist())) > 1
    forest = RandomForestClassifier(2, max_depth=1, random_state=0).fit(IRIS.X, IRIS.y)
    asked = {int(tree.tree_.feature[0]) for tree in forest.estimators_}
    assert np.flatnonzero(needed(forest, 4)).tolist() == sorted(asked)


def test_missing_cells_are_not_paid_for() -> None:
    gaps = X.copy()
    gaps[0, [1, 2]] = np.nan
    n_features, cost = purchases(GaussianNB().fit(X, Y), gaps, Costs([1.0, 2.0, 4.0, 8.0]).prices(4))
    assert n_features[:2].tolist() == [2, 4]
    assert cost[:2].tolist() == [9, 15]


def test_missing_cells_on_the_way_through_a_tree() -> None:
    gaps = X.copy()
    gaps[:, 1] = np.nan  # never asked for
    tree = DecisionTreeClassifier(random_state=0).fit(X[:, [2, 1]], Y)
    assert purchases(tree, gaps[:, [2, 1]], Costs(1.0).prices(2))[0].tolist() == [1] * len(X)
    gaps[0, 2] = np.nan
    assert purchases(tree, gaps[:, [2, 1]], Costs(1.0).prices(2))[1].tolist() == [0] + [1] * (len(X) - 1)


def test_groups_are_cheaper_together() -> None:
    prices = Costs(
        [5.0, 4.0, 3.0, 1.0], groups=["lab", "lab", None, "x"], discounted_costs={0: 1.0, 1: 2.0, 3: 0.5}
    ).prices(4)
    _, cost = purchases(GaussianNB().fit(X, Y), X, prices)
    # of the two in the lab the second one pays its full price, as its discount is the smaller: 4 + 1
    assert cost[0] == 5 + 3 + 1
    gaps = np.array([[np.nan, np.nan, 1.0, np.nan], [1.0, np.nan, np.nan, np.nan]])
    assert purchases(GaussianNB().fit(X, Y), gaps, prices)[1].tolist() == [3, 5]


def test_what_is_known_is_not_bought_by_others() -> None:
    data = load("wine")
    prices = Costs(0.1).prices(13)
    tree = DecisionTreeClassifier(max_depth=3).fit(data.X, data.y)
    n_features, cost = purchases(tree, data.X, prices)
    root = int(tree.tree_.feature[0])
    fewer, less = purchases(tree, data.X, prices, [root])
    assert (fewer == n_features - 1).all()
    np.testing.assert_allclose(less, cost - 0.1)
    assert purchases(LogisticRegression(max_iter=9999).fit(data.X, data.y), data.X, prices, [0, 3])[0].max() == 11
