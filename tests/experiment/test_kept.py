"""What cells keep of their instances: against the classifiers themselves, for every kind of method, and read back."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from run_files import read_parts
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import seqclass
from seqclass import Costs
from seqclass.adaptive_classifier import AdaptiveClassifier
from seqclass.datasets import Dataset, load
from seqclass.experiment import Experiment, Results, ShuffledSplit, SourceSplit, grid
from seqclass.experiment.explored import Explored, evenly
from seqclass.experiment.protocols import HoldOut, StratifiedFolds
from seqclass.plots import AcquisitionMapDisplay, FeatureCountDisplay, StagewiseCalibrationDisplay
from seqclass.pomdp.sweeps.budget import RandomisedPolicy

METHODS = {"etana": "etana", "tree": "sklearn:DecisionTreeClassifier(max_depth=2)", "fast": "sklearn:LinearSVC"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two sets of different classes, three kinds of methods, two prices."""
    path = tmp_path_factory.mktemp("kept") / "a.run"
    return Experiment(["iris", "breast_cancer"], METHODS, prices=[0.01, 0.1], cv=3, seeds=[0]).run(path)


def fitted(name: str, price: float, fold: int) -> tuple[Dataset, Any, Any]:
    data = load(name)
    train, test = StratifiedFolds(3).split(data, fold, 0)
    return data, seqclass.etana(price, random_state=0).fit(data.X[train], data.y[train]), np.sort(test)


def test_instances_are_those_of_the_classifier(results: Results) -> None:
    frame = results.instances("breast_cancer", "etana", 0.01, fold=1)
    data, clf, test = fitted("breast_cancer", 0.01, 1)
    record = clf.acquire(data.X[test])
    assert frame["row"].tolist() == test.tolist()
    assert frame["truth"].tolist() == data.labels[test].tolist()
    assert frame["decision"].tolist() == [data.class_names[c] for c in record.decision]
    assert frame["n_features"].tolist() == record.n_features.tolist()
    assert frame["paid"].tolist() == record.paid.tolist()
    proba = frame[["proba_malignant", "proba_benign"]].to_numpy()
    np.testing.assert_array_equal(proba, record.posterior.astype(np.float32))


@pytest.mark.slow
def test_the_table_of_instances_gives_back_the_figures_of_the_cells(results: Results) -> None:
    frame, table = results.instances(), results.to_frame()
    assert list(frame.columns[:6]) == ["data", "method", "price", "budget", "seed", "fold"]
    by = ["data", "method", "price", "seed", "fold"]
    frame["right"] = frame["truth"] == frame["decision"]
    means = frame.groupby(by, sort=False)[["right", "n_features", "paid"]].mean()
    cells = table.set_index(by)
    np.testing.assert_allclose(means["right"], cells["accuracy"])
    np.testing.assert_allclose(means["n_features"], cells["n_features_mean"])
    np.testing.assert_allclose(means["paid"], cells["paid_mean"])
    assert len(frame) == table["n_test"].sum()
    iris = frame[(frame["data"] == "iris") & (frame["method"] == "tree")]
    np.testing.assert_allclose(iris.filter(like="proba_").sum(axis=1), 1.0, rtol=1e-6)
    assert iris[["proba_malignant"]].isna().all(axis=None)
    assert frame.loc[frame["method"] == "fast"].filter(like="proba_").isna().all(axis=None)


def test_filters(results: Results) -> None:
    assert set(results.instances(method=["etana", "tree"], price=0.1)["method"]) == {"etana", "tree"}
    assert set(results.instances(price=np.array([0.1]))["price"]) == {0.1}
    assert set(results.instances(fold=(0, 2), seed=0)["fold"]) == {0, 2}
    with pytest.raises(ValueError, match="no method 'etanna': did you mean 'etana'"):
        results.instances(method="etanna")
    with pytest.raises(ValueError, match=r"no price 0\.5: it has \[0\.01, 0\.1\]"):
        results.instances(price=0.5)
    key = results.to_frame().index[0]
    mixed = Results(results.path, [key, results.to_frame().index[-1]])
    with pytest.raises(ValueError, match="no cell of data 'iris', method 'fast'"):
        mixed.instances("iris", "fast")


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_the_ways_are_those_of_the_classifier(results: Results, name: str) -> None:
    kept = results.record(name, "etana", fold=2)
    data, clf, test = fitted(name, 0.01, 2)
    record = clf.acquire(data.X[test], record_beliefs=True)
    assert kept.rows.tolist() == test.tolist()
    assert kept.truth.tolist() == data.labels[test].tolist()
    np.testing.assert_array_equal(kept.record.order, record.order)
    np.testing.assert_array_equal(kept.record.outcome, record.outcome)
    assert record.beliefs is not None
    np.testing.assert_array_equal(kept.record.beliefs, record.beliefs.astype(np.float32))
    for j in np.unique(record.order[record.order >= 0]):
        assert kept.names[j] == data.names()[j]


def test_folds_are_pooled(results: Results) -> None:
    kept = results.record("iris", "etana", 0.01)
    assert sorted(kept.rows.tolist()) == list(range(150))
    parts = [results.record("iris", "etana", 0.01, fold=fold) for fold in range(3)]
    assert [len(part) for part in parts] == [50, 50, 50]
    longest = max(part.record.order.shape[1] for part in parts)
    assert kept.record.order.shape == (150, longest)
    assert kept.record.beliefs is not None
    assert kept.record.beliefs.shape == (150, longest + 1, 3)
    for i, part in enumerate(parts):
        own = kept.record.order[50 * i : 50 * (i + 1)]
        wide = part.record.order.shape[1]
        np.testing.assert_array_equal(own[:, :wide], part.record.order)
        assert (own[:, wide:] == -1).all()
        assert part.record.beliefs is not None
        last = kept.record.beliefs[50 * i : 50 * (i + 1), -1]
        np.testing.assert_array_equal(last, part.record.posterior)
    with pytest.raises(ValueError, match="'tree' asks for no features one by one"):
        results.record("iris", "tree")


def test_pictures_are_drawn_from_a_run(results: Results) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    kept = results.record("breast_cancer", "etana")
    shown = AcquisitionMapDisplay.from_record(kept.record, kept.truth, names=kept.names)
    assert set(shown.features) <= set(load("breast_cancer").names())
    assert FeatureCountDisplay.from_record(kept.record, kept.truth).classes == ["benign", "malignant"]
    curves = StagewiseCalibrationDisplay.from_record(kept.record, kept.truth, classes=kept.classes)
    assert max(curves.error.values()) < 0.3
    pyplot.close("all")


@pytest.mark.slow
def test_few_are_taken_evenly(tmp_path: Path) -> None:
    experiment = Experiment(["iris"], ["etana"], cv=ShuffledSplit())
    some = experiment.run(tmp_path / "some.run", keep_instances=7, keep_explanations=3)
    everything = experiment.run(tmp_path / "all.run").instances()
    frame = some.instances()
    assert everything["row"].is_monotonic_increasing
    assert frame["row"].tolist() == everything["row"].iloc[evenly(30, 7)].tolist()
    pd.testing.assert_frame_equal(frame, everything.iloc[evenly(30, 7)].reset_index(drop=True))
    explored = some.read_explored(some.to_frame().index[0])
    assert explored is not None
    assert list(explored.rows or ()) == everything["row"].iloc[[0, 14, 29]].tolist()
    none = experiment.run(tmp_path / "none.run", keep_instances=0, keep_explanations=0)
    assert none.keys_with("instances") == none.keys_with("explanations") == []
    assert none.read_explored(none.to_frame().index[0]) is None
    with pytest.raises(ValueError, match="keep_instances=0"):
        none.record("iris", "etana")
    volatile = [name for name in some.to_frame() if name.startswith("seconds") or name == "peak_mb"]
    pd.testing.assert_frame_equal(none.to_frame().drop(columns=volatile), some.to_frame().drop(columns=volatile))
    for name in ("keep_instances", "keep_explanations"):
        settings: dict[str, Any] = {name: -1}
        with pytest.raises(ValueError, match=name):
            experiment.run(tmp_path / "not.run", **settings)
    assert not (tmp_path / "not.run").exists()


@given(st.integers(1, 300), st.integers(1, 40))
def test_evenly(n: int, most: int) -> None:
    taken = evenly(n, most)
    assert len(taken) == min(n, most)
    assert taken[0] == 0
    assert taken[-1] == (n - 1 if most > 1 or n == 1 else 0)
    assert np.ptp(np.diff(taken)) <= 1 if len(taken) > 1 else True


def test_explanations_are_those_of_the_classifier(results: Results) -> None:
    table = results.to_frame()
    key = table.index[(table["data"] == "breast_cancer") & (table["method"] == "etana") & (table["price"] == 0.1)][0]
    explored = results.read_explored(key)
    assert explored is not None
    data, clf, test = fitted("breast_cancer", 0.1, 0)
    rows = test[evenly(len(test), 20)]
    assert list(explored.rows or ()) == rows.tolist()
    assert list(explored.truth or ()) == data.labels[rows].tolist()
    for one, own in zip(explored.explanations, clf.explain(data.X[rows], feature_names=data.names()), strict=True):
        assert one.steps == own.steps
        assert (one.prior, one.posterior, one.not_asked, one.paid) == (
            *(own.prior, own.posterior, own.not_asked, own.paid),
        )
        assert one.decision == data.class_names[own.decision]
        assert list(one.decision_costs.values()) == list(own.decision_costs.values())
        assert one.classes == data.class_names
    assert results.keys_with("explanations") == table.index[table["method"] == "etana"].tolist()


def test_explored_goes_through_json(results: Results) -> None:
    explored = results.read_explored(results.keys_with("explanations")[0])
    assert explored is not None
    again = Explored.from_dict(json.loads(json.dumps(replace(explored, note="<x>").to_dict())))
    assert list(again.explanations) == list(explored.explanations)
    assert again.note == "<x>"
    few = explored.thin(3)
    assert list(few.explanations) == [explored.explanations[i] for i in (0, 10, 19)]
    assert list(few.rows or ()) == [(explored.rows or ())[i] for i in (0, 10, 19)]
    bare = Explored(explored.explanations)
    assert (bare.thin(2).rows, bare.thin(2).truth) == (None, None)
    with pytest.raises(ValueError, match="n_instances"):
        explored.thin(0)
    broken = explored.to_dict()
    del broken["explanations"][0]["prior"]
    with pytest.raises(ValueError, match="not that of an explanation: KeyError 'prior'"):
        Explored.from_dict(broken)


@pytest.mark.slow
def test_columns_behind_other_steps_go_by_their_names(tmp_path: Path) -> None:
    data = load("wine")
    shifted = FunctionTransformer(lambda X: X[:, ::-1])  # which has no names for what it gives
    inside = seqclass.SequentialClassifier()
    search = GridSearchCV(seqclass.SequentialClassifier(), {"order": ["information"]}, cv=2)
    methods = {"best": make_pipeline(SelectKBest(k=3), inside), "turned": make_pipeline(shifted, inside)}
    results = Experiment([data], methods | {"search": search, "alone": make_pipeline(inside)}, cv=2).run(
        tmp_path / "a.run"
    )
    assert (results.to_frame()[["error", "warnings"]] == "").all(axis=None)
    kept = results.record("wine", "best")
    assert set(kept.names) <= set(data.names())
    for fold in range(2):
        train, _ = StratifiedFolds(2).split(data, fold, 0)
        columns = SelectKBest(k=3).fit(data.X[train], data.y[train]).get_support(indices=True)
        own = results.record("wine", "best", fold=fold)
        asked = {own.names[j] for j in np.unique(own.record.order[own.record.order >= 0])}
        assert asked <= {data.names()[j] for j in columns}
        explored = results.read_explored(results.to_frame().query("method == 'best'").index[fold])
        assert explored is not None
        assert {step.name for one in explored.explanations for step in one.steps} <= asked
    assert set(results.record("wine", "turned").names) <= {f"x{j}" for j in range(13)}
    for name in ("search", "alone"):
        found = results.record("wine", name)
        assert all(own in (data.names()[j], f"x{j}") for j, own in enumerate(found.names))
        assert any(own == data.names()[j] for j, own in enumerate(found.names))


@pytest.mark.slow
def test_a_classifier_of_ways_behind_a_selector_pays_for_what_it_asks(tmp_path: Path) -> None:
    piped = make_pipeline(SelectKBest(k=3), AdaptiveClassifier(effort="quick"))
    results = Experiment([load("iris")], {"piped": piped}, prices=[0.05], cv=2).run(tmp_path / "a.run")
    assert results.record("iris", "piped").record.n_features.mean() < 3  # those of the selector were all charged


def test_a_classifier_behind_pipelines_and_searches_pays_for_what_it_asks(tmp_path: Path) -> None:
    one = seqclass.SequentialClassifier()
    search = GridSearchCV(one, {"max_features": [2]}, cv=2)
    nested = make_pipeline(SelectKBest(k=3), make_pipeline(SelectKBest(k=2), one))
    methods = {"nested": nested, "searched": make_pipeline(SelectKBest(k=2), search)}
    data = load("iris")
    results = Experiment([data], methods, prices=[0.05], cv=2).run(tmp_path / "a.run")
    for name in methods:
        kept = results.record("iris", name)
        assert kept.record.n_features.mean() < 2  # those of the selector were all charged
        assert set(kept.names) <= set(data.names())


@pytest.mark.slow
def test_columns_that_differ_from_fold_to_fold_are_pooled_by_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = Dataset("noise", rng.normal(size=(90, 12)), rng.integers(0, 2, 90), ("no", "yes"))
    piped = make_pipeline(SelectKBest(k=3), seqclass.SequentialClassifier())
    results = Experiment([noise], {"piped": piped}, prices=[0.0001], cv=3).run(tmp_path / "a.run")
    kept = results.record("noise", "piped")
    assert len(kept.names) == len(set(kept.names)) > 3
    parts = [results.record("noise", "piped", fold=fold) for fold in range(3)]
    asked = [[part.names[j] for j in part.record.order[part.record.order >= 0]] for part in parts]
    assert [kept.names[j] for j in kept.record.order[kept.record.order >= 0]] == [
        name for names in asked for name in names
    ]
    assert len({frozenset(names) for names in asked}) == 3


@pytest.mark.slow
def test_frames_sparse_data_and_missing_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 60)
    colour = np.where(rng.random(120) < 0.8, np.array(["red", "blue"])[y], "red").astype(object)
    frame = pd.DataFrame({"colour": colour, "size": y + rng.normal(0, 0.7, 120)})
    frame.loc[::5, "colour"] = None
    framed = Dataset("framed", frame, y, ("no", "yes"))
    sparse = Dataset("sparse", sp.coo_array(frame[["size"]].to_numpy()).tocsr(), y, ("no", "yes"))
    results = Experiment([framed, sparse], ["etana"], cv=2).run(tmp_path / "a.run")
    assert (results.to_frame()[["error", "warnings"]] == "").all(axis=None)
    kept = results.record("framed", "etana")
    assert set(kept.names) == {"colour", "size"}
    asked, missing = kept.record.order >= 0, kept.record.outcome < 0
    assert (asked & missing).any()
    np.testing.assert_array_equal((asked & ~missing).sum(axis=1), kept.record.n_features)
    colours = asked & (kept.record.order == kept.names.index("colour"))
    gone = frame["colour"].isna().to_numpy()[kept.rows]
    np.testing.assert_array_equal(missing[colours], gone[np.nonzero(colours)[0]])
    explored = results.read_explored(results.to_frame().index[0])
    assert explored is not None
    assert any(step.missing for one in explored.explanations for step in one.steps)
    assert results.record("sparse", "etana").names == ("x0",)


@pytest.mark.slow
def test_further_decisions_and_classes_that_the_training_rows_lack(tmp_path: Path) -> None:
    iris = load("iris")
    costs = np.hstack([1.0 - np.eye(3), np.full((3, 1), 0.02)])
    priced = replace(iris, name="priced", decision_costs=costs, decisions=("ask an expert",))
    own = seqclass.SequentialClassifier(feature_costs=Costs(decision_costs=costs, decisions=["refer"]))
    results = Experiment([priced], {"etana": "etana"}, cv=3).run(tmp_path / "a.run")
    frame = results.instances()
    assert "ask an expert" in set(frame["decision"])
    assert (results.record("priced", "etana").record.decision == frame["decision"]).all()
    explored = results.read_explored(results.to_frame().index[0])
    assert explored is not None
    assert list(explored.explanations[0].decision_costs) == [*iris.class_names, "ask an expert"]
    referred = Experiment([iris], {"own": own}, cv=3).run(tmp_path / "b.run")
    assert (referred.to_frame()["warnings"] == "").all()
    assert "refer" in set(referred.instances()["decision"])
    rows = np.arange(150)
    lacking = replace(iris, train_index=rows[:90], test_index=rows[90:])
    kept = Experiment([lacking], ["etana"], cv=SourceSplit()).run(tmp_path / "c.run").record("iris", "etana")
    assert kept.record.beliefs is not None
    assert kept.record.beliefs.shape[2] == len(kept.classes) == 3
    assert (kept.record.beliefs[:, :, 2] == 0).all()
    assert set(kept.truth) == {"versicolor", "virginica"}


def budgeted(feature_costs: float, random_state: int) -> seqclass.SequentialClassifier:
    """A policy that is drawn by lot, of a classifier that pays for missing features too."""
    return seqclass.SequentialClassifier(
        feature_costs=Costs(feature_costs, charge_missing=True), target_cost=0.025, random_state=random_state
    )


@pytest.mark.slow
def test_ways_of_a_policy_that_is_drawn_by_lot(tmp_path: Path) -> None:
    data = load("breast_cancer")
    gone = np.random.default_rng(0).random(data.X.shape) < 0.2
    data = replace(data, X=np.where(gone, np.nan, data.X))
    results = Experiment([data], {"budgeted": budgeted}, cv=HoldOut()).run(tmp_path / "a.run")
    assert (results.to_frame()[["error", "warnings"]] == "").all(axis=None)
    kept = results.record("breast_cancer", "budgeted")
    train, test = HoldOut().split(data, 0, 0)
    clf = budgeted(0.01, 0).fit(data.X[train], data.y[train])
    assert isinstance(clf.policy_, RandomisedPolicy)
    record = clf.acquire(data.X[np.sort(test)], record_beliefs=True)
    assert record.beliefs is not None
    np.testing.assert_array_equal(kept.record.order, record.order)
    np.testing.assert_array_equal(kept.record.beliefs, record.beliefs.astype(np.float32))
    np.testing.assert_array_equal(kept.record.paid, record.paid)
    explored = results.read_explored(results.to_frame().index[0])
    assert explored is not None
    own = clf.explain(data.X[np.array(explored.rows)], feature_names=data.names())
    assert [one.beliefs.tolist() for one in explored.explanations] == [one.beliefs.tolist() for one in own]


def test_nothing_is_asked_at_a_prohibitive_price(tmp_path: Path) -> None:
    results = Experiment(["iris"], ["etana"], prices=[10.0], cv=2).run(tmp_path / "a.run")
    kept = results.record("iris", "etana")
    assert kept.record.order.shape == (150, 0)
    assert kept.record.beliefs is not None
    assert kept.record.beliefs.shape == (150, 1, 3)
    assert kept.names == ()


class Odd(ClassifierMixin, BaseEstimator):
    """Decides what no data set knows."""

    def fit(self, X: Any, y: Any) -> Odd:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.where(np.arange(len(X)) % 2, 7, 1)


def test_decisions_that_the_data_set_does_not_know(tmp_path: Path) -> None:
    frame = Experiment(["iris"], {"odd": Odd()}, cv=2).run(tmp_path / "a.run").instances()
    assert set(frame["decision"]) == {"7", "versicolor"}


@pytest.mark.slow
def test_a_cell_that_failed_keeps_nothing(tmp_path: Path) -> None:
    methods = ["etana", "sklearn:LogisticRegression(C=-1.0)"]
    with pytest.warns(UserWarning, match="2 of 4 cells failed"):
        results = Experiment(["iris"], methods, cv=2).run(tmp_path / "a.run")
    assert results.keys_with("instances") == results.to_frame().index[:2].tolist()
    assert set(results.instances()["method"]) == {"etana"}
    with pytest.raises(ValueError, match="no instances are kept of these cells: they failed"):
        results.instances(method=methods[1])


def test_neither_seconds_nor_memory_have_the_keeping_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_: list[bool] = []
    peak_memory = grid.peak_memory

    def watched() -> Any:
        class Watched:
            def __enter__(self) -> Any:
                open_.append(True)
                self.inner = peak_memory()
                return self.inner.__enter__()

            def __exit__(self, *arguments: Any) -> Any:
                open_.append(False)
                return self.inner.__exit__(*arguments)

        return Watched()

    def keep_parts(keep: Any, data: Any, scored: Any) -> Any:
        assert open_ == [True, False]
        return {}, ["slept"]

    monkeypatch.setattr(grid, "peak_memory", watched)
    monkeypatch.setattr(grid, "keep_parts", keep_parts)
    row = Experiment(["iris"], ["etana"], cv=HoldOut()).run(tmp_path / "a.run").to_frame().iloc[0]
    assert row["warnings"] == "UserWarning: slept"


def test_what_is_kept_is_no_pickle(results: Results) -> None:
    key = results.to_frame().index[0]
    content = read_parts(results.path)[key, "instances"]
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        assert {"row", "truth", "decision", "n_features", "paid", "proba", "record.order", "record.outcome"} <= set(
            file.files
        )
        assert file["beliefs"].dtype == file["proba"].dtype == np.float32
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}
