"""Scores of a cell, against their definitions written out; each cell has a single split and its own method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from seqclass.datasets import Dataset, load
from seqclass.evaluation.calibration_curves import calibration_error
from seqclass.experiment import Experiment
from seqclass.experiment.protocols import Protocol

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


@dataclass(frozen=True)
class LastRows(Protocol):
    """Scores so many rows at the end, after a fit to those before."""

    n: int

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[Any, Any]:
        rows = np.arange(len(data.y))
        return rows[: -self.n], rows[-self.n :]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[dict[str, Any], pd.DataFrame]]:
    """Figures of a method on the last rows of a set, and each row; a price is a power of two for each feature."""

    def cell(
        method: Any, X: Any, y: Any, n: int = 0, data: Dataset = IRIS, prices: Any = None, **costs: Any
    ) -> tuple[dict[str, Any], pd.DataFrame]:
        prices = 2.0 ** np.arange(X.shape[1]) if prices is None else np.array(prices, dtype=float)
        names = {"feature_names": tuple(f"f{j}" for j in range(X.shape[1])), "feature_costs": prices}
        known = costs.pop("known", ())
        data = replace(data, X=X, y=np.asarray(y), **(names | costs))
        experiment = Experiment(
            [data], {"own": method}, prices=[1.0], cv=LastRows(n or len(y) // 2), feature_costs="dataset", known=known
        )
        results = experiment.run(tmp_path / f"{len(list(tmp_path.iterdir()))}.run")
        figures = results.to_frame().iloc[0].to_dict()
        assert figures["error"] == ""
        return figures, results.instances()

    return cell


class Told(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Decides as it was told, for the row that the first column numbers."""

    def __init__(self, decision: list[int]) -> None:
        self.decision = decision

    def fit(self, X: Any, y: Any) -> Told:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.array(self.decision)[X[:, 0].astype(int)]


class ToldChances(Told):
    """The same that also says how sure it is."""

    def __init__(self, decision: list[int], proba: Any) -> None:
        super().__init__(decision)
        self.proba = proba

    def predict_proba(self, X: Any) -> Any:
        return np.array(self.proba)[X[:, 0].astype(int)]


def numbered(y: list[int], n_classes: int, n_missing: Any = 0) -> tuple[Any, Any]:
    """Rows with their number, and so many of three other cells missing, after one row of each class to learn from."""
    n = len(y)
    X = np.zeros((n_classes + n, 4))
    X[n_classes:, 0] = np.arange(n)
    X[n_classes:, 1:][np.arange(3) < np.broadcast_to(n_missing, n)[:, None]] = np.nan
    return X, np.r_[np.arange(n_classes), y]


def test_scores_by_hand(run: Any) -> None:
    proba = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]]
    X, y = numbered([0, 0, 1, 1], 2, n_missing=[3, 2, 1, 0])
    prices = [0.25, 0.5, 0.25, 0.25]
    found, rows = run(ToldChances([0, 1, 1, 0], proba), X, y, 4, load("breast_cancer"), prices)
    assert rows["paid"].tolist() == [0.25, 0.5, 0.75, 1.25]
    assert found["realised_cost"] == 0.5 + 0.6875
    assert found["accuracy"] == found["macro_f1"] == 0.5
    assert found["auroc"] == 0.75  # of four pairs one is the wrong way round
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.8, 0.3]).mean())
    assert (found["n_features_mean"], found["n_features_q50"], found["n_features_max"]) == (2.5, 2.5, 4.0)
    assert found["paid_q95"] == pytest.approx(1.25 - 0.15 * 0.5)


def test_what_is_not_defined_is_nan(run: Any) -> None:
    without, _ = run(Told([0, 1, 1]), *numbered([0, 1, 2], 3), 3)
    assert np.isnan([without[name] for name in ("auroc", "log_loss", "calibration_error")]).all()
    lacking, _ = run(ToldChances([0, 1, 1], np.eye(3)[[0, 1, 1]].tolist()), *numbered([0, 1, 1], 3), 3)
    assert np.isnan(lacking["auroc"])
    assert lacking["macro_f1"] == 1.0


def test_further_decisions_count_by_their_cost_and_as_misses(run: Any) -> None:
    costs = {"decision_costs": np.c_[5 * (1 - np.eye(3)), [0.5] * 3], "decisions": ("refer",)}
    found, _ = run(Told([0, 2, 3, 2]), *numbered([0, 1, 2, 2], 3), 4, prices=np.zeros(4), **costs)
    assert found["realised_cost"] == (0 + 5 + 0.5 + 0) / 4
    assert found["accuracy"] == 0.5
    assert found["macro_f1"] == pytest.approx((1 + 0 + 2 * (1 / 2) * (1 / 2)) / 3)


X = IRIS.X[IRIS.y < 2]
Y = IRIS.y[IRIS.y < 2]
TWICE = np.concatenate([X, X]), np.concatenate([Y, Y])


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
def test_needed_columns(run: Any, model: object, columns: list[int]) -> None:
    _, rows = run(model, *TWICE)
    assert set(rows["n_features"]) == {len(columns)}
    assert set(rows["paid"]) == {sum(2.0**j for j in columns)}


class FewWeights(LogisticRegression):  # type: ignore[misc]
    """Weighs the first and the last column only."""

    def fit(self, X: Any, y: Any) -> FewWeights:
        super().fit(X, y)
        self.coef_[0, 1:3] = 0
        return self


def test_zero_weights_are_not_paid_for(run: Any) -> None:
    _, rows = run(FewWeights(), *TWICE)
    assert (rows["n_features"] == 2).all()
    assert (rows["paid"] == 9).all()


def test_a_tree_pays_for_its_path_and_a_forest_for_all_it_asks(run: Any) -> None:
    data, y = np.concatenate([IRIS.X, IRIS.X]), np.concatenate([IRIS.y, IRIS.y])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(IRIS.X, IRIS.y)
    _, rows = run(DecisionTreeClassifier(max_depth=3, random_state=0), data, y)
    assert rows["row"].tolist() == list(range(150, 300))
    prices = 2.0 ** np.arange(4)
    for i in range(0, 150, 7):
        node, asked = 0, set()
        while tree.tree_.feature[node] >= 0:
            j = tree.tree_.feature[node]
            asked.add(int(j))
            go_left = np.float32(IRIS.X[i, j]) <= tree.tree_.threshold[node]
            node = tree.tree_.children_left[node] if go_left else tree.tree_.children_right[node]
        assert rows["n_features"][i] == len(asked)
        assert rows["paid"][i] == prices[list(asked)].sum()
    assert len(set(rows["n_features"].tolist())) > 1
    forest = RandomForestClassifier(2, max_depth=1, random_state=0)
    asked = {int(tree.tree_.feature[0]) for tree in forest.fit(IRIS.X, IRIS.y).estimators_}
    _, rows = run(forest, data, y)
    assert set(rows["paid"]) == {prices[sorted(asked)].sum()}


def test_a_tree_behind_other_steps_pays_for_its_path(run: Any) -> None:
    data, y = np.concatenate([IRIS.X, IRIS.X]), np.concatenate([IRIS.y, IRIS.y])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    _, alone = run(tree, data[:, [2, 3]], y, prices=[4.0, 8.0])
    assert len(set(alone["paid"].tolist())) > 1
    search = GridSearchCV(make_pipeline(StandardScaler(), tree), {"decisiontreeclassifier__max_depth": [3]}, cv=2)
    for behind in (
        make_pipeline(StandardScaler(), SelectKBest(k=2), tree),
        make_pipeline(SelectKBest(k=2), make_pipeline(MaxAbsScaler(), search)),
    ):
        _, rows = run(behind, data, y)
        np.testing.assert_array_equal(rows["paid"], alone["paid"])
        np.testing.assert_array_equal(rows["n_features"], alone["n_features"])
    gaps = np.concatenate([X, X])
    gaps[len(X) :, 2] = np.nan
    _, rows = run(make_pipeline(SimpleImputer(), SelectKBest(k=1), tree), gaps, TWICE[1])
    assert set(rows["paid"]) == {0.0}
    _, rows = run(make_pipeline(SelectKBest(k=2), Normalizer(), tree), *TWICE)  # which looks at whole rows
    assert set(rows["n_features"]) == {2}


class Whole(GaussianNB):  # type: ignore[misc]
    """Takes rows with gaps, whose cells are as good as zero."""

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(np.nan_to_num(X))

    def predict(self, X: Any) -> Any:
        return super().predict(np.nan_to_num(X))


def test_missing_cells_are_not_paid_for(run: Any) -> None:
    gaps = X.copy()
    gaps[0, [1, 2]] = np.nan
    _, rows = run(Whole(), np.concatenate([X, gaps]), TWICE[1])
    assert rows["n_features"][:2].tolist() == [2, 4]
    assert rows["paid"][:2].tolist() == [9, 15]


def test_missing_cells_on_the_way_through_a_tree(run: Any) -> None:
    tree = DecisionTreeClassifier(random_state=0)
    both, gaps = X[:, [2, 1]], X[:, [2, 1]].copy()
    gaps[:, 1] = np.nan  # never asked for
    _, rows = run(tree, np.concatenate([both, gaps]), TWICE[1], prices=[1, 1])
    assert rows["n_features"].tolist() == [1] * len(X)
    gaps[0, 0] = np.nan
    _, rows = run(tree, np.concatenate([both, gaps]), TWICE[1], prices=[1, 1])
    assert rows["paid"].tolist() == [0] + [1] * (len(X) - 1)


def test_groups_are_cheaper_together(run: Any) -> None:
    groups = {"groups": ("lab", "lab", None, "x"), "discounted_costs": np.array([1.0, 2.0, 3.0, 0.5])}
    gaps = np.array([[np.nan, np.nan, 1.0, np.nan], [1.0, np.nan, np.nan, np.nan]])
    data, y = np.concatenate([X, X[:1], gaps]), np.r_[Y, 0, 0, 0]
    _, rows = run(Whole(), data, y, 3, prices=[5, 4, 3, 1], **groups)
    # of the two in the lab the second one pays its full price, as its discount is the smaller: 4 + 1
    assert rows["paid"].tolist() == [5 + 3 + 1, 3, 5]


@pytest.mark.slow
def test_what_is_known_is_not_bought_by_others(run: Any) -> None:
    wine = load("wine")
    data, y = np.concatenate([wine.X, wine.X]), np.concatenate([wine.y, wine.y])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    root = int(tree.fit(wine.X, wine.y).tree_.feature[0])
    prices = np.full(13, 0.1)
    _, rows = run(tree, data, y, data=wine, prices=prices)
    _, fewer = run(tree, data, y, data=wine, prices=prices, known=[f"f{root}"])
    assert (fewer["n_features"] == rows["n_features"] - 1).all()
    np.testing.assert_allclose(fewer["paid"], rows["paid"] - 0.1)
    _, all_but_two = run(LogisticRegression(max_iter=9999), data, y, data=wine, prices=prices, known=["f0", "f3"])
    assert all_but_two["n_features"].max() == 11


def test_what_is_known_or_missing_on_the_way_of_a_tree_is_not_paid(run: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 160)
    X = rng.normal(y[:, None], 1.5, (160, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    search = GridSearchCV(tree, {"max_depth": [4]}, cv=2)
    fitted = tree.fit(X[:80], y[:80])
    for method in (tree, search):
        _, rows = run(method, X, y, prices=[1, 1, 1, 1], visit_cost=8.0, known=["f0"])
        asked = [
            len({j for j in fitted.tree_.feature[nodes].tolist() if j > 0 and not np.isnan(row[j])})
            for nodes, row in zip(fitted.decision_path(X[80:]).toarray() > 0, X[80:])
        ]
        assert rows["n_features"].tolist() == asked
        assert rows["paid"].tolist() == [n + 8.0 * (n > 0) for n in asked]
        assert 0 in asked
