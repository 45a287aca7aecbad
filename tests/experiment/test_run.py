"""Running an experiment: leakage, errors, resumption, parallel workers."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from run_files import read_parts
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import seqclass
from seqclass.cli import main
from seqclass.datasets import Dataset, load
from seqclass.experiment import Experiment, Results, SourceSplit, grid
from seqclass.experiment.grid import SizedDataset
from seqclass.experiment.protocols import HoldOut, Protocol, StratifiedFolds
from seqclass.metrics import realised_cost
from seqclass.pomdp import evaluate

METHODS = {"etana": "etana", "tree": DecisionTreeClassifier(max_depth=2)}
#: Columns of a table of results, in order.
COLUMNS = [
    "data",
    "method",
    "price",
    "budget",
    "seed",
    "fold",
    "realised_cost",
    "accuracy",
    "referred",
    "macro_f1",
    "sensitivity",
    "specificity",
    "auroc",
    "log_loss",
    "calibration_error",
    "n_features_mean",
    "n_features_q05",
    "n_features_q25",
    "n_features_q50",
    "n_features_q75",
    "n_features_q95",
    "n_features_max",
    "paid_mean",
    "paid_q05",
    "paid_q25",
    "paid_q50",
    "paid_q75",
    "paid_q95",
    "paid_max",
    "expected_cost",
    "expected_n_features",
    "lower",
    "upper",
    "gap",
    "seconds_discretize",
    "seconds_filter",
    "seconds_structure",
    "seconds_parameters",
    "seconds_order",
    "seconds_solve",
    "seconds_certify",
    "seconds_preprocess",
    "seconds_learn",
    "seconds_fit",
    "seconds_classify",
    "seconds_total",
    "peak_mb",
    "n_train",
    "n_test",
    "n_columns",
    "status",
    "scope",
    "version_seqclass",
    "version_numpy",
    "version_sklearn",
    "version_python",
    "warnings",
    "error",
]


def small(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {"data": ["iris"], "methods": METHODS, "prices": [0.01, 0.1], "cv": 2, "seeds": [0, 1]}
    return Experiment(**settings | changes)


def stable(results: Results) -> pd.DataFrame:
    """What must not differ from run to run."""
    table = results.to_frame()
    return table.drop(columns=[name for name in table if name.startswith("seconds_") or name == "peak_mb"])


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return small().run(tmp_path_factory.mktemp("run") / "a.run")


def test_a_row_a_cell_and_its_figures(undisturbed: Results) -> None:
    table = undisturbed.to_frame()
    assert table.columns.tolist() == COLUMNS
    assert len(table) == 2 * 2 * 2 * 2
    assert table.index.is_unique
    assert (table["error"] == "").all()
    cell = table.iloc[3]
    assert cell[["data", "method", "price", "seed", "fold"]].tolist() == ["iris", "etana", 0.01, 1, 1]
    data = load("iris")
    train, test = StratifiedFolds(2).split(data, 1, 1)
    clf = seqclass.etana(0.01, random_state=1).fit(data.X[train], data.y[train])
    record = clf.acquire(data.X[test])
    assert cell["realised_cost"] == realised_cost(data.y[test], record.decision, record.paid)
    assert cell["accuracy"] == np.mean(record.decision == data.y[test])
    assert cell["n_features_mean"] == record.n_features.mean()
    assert cell["expected_cost"] == pytest.approx(evaluate(clf.problem_, clf.policy_, random_state=1).cost)
    assert (cell["gap"], cell["status"]) == (clf.policy_.info.gap, clf.policy_.info.status)
    assert (cell["n_train"], cell["n_test"], cell["n_columns"]) == (75, 75, 4)
    assert cell["version_seqclass"].startswith(f"{seqclass.__version__}+")
    assert cell["version_numpy"] == np.__version__
    steps = [f"seconds_{step}" for step in ("discretize", "filter", "structure", "parameters", "order")]
    assert cell["seconds_preprocess"] == pytest.approx(cell[steps].sum())
    assert 0 < cell["seconds_solve"] < cell["seconds_fit"] < cell["seconds_total"]
    assert cell["seconds_classify"] > 0
    tree = table[table["method"] == "tree"]
    assert tree[["expected_cost", "gap", "seconds_solve"]].isna().all(axis=None)
    assert tree["seconds_fit"].gt(0).all()
    assert sys.platform != "linux" or table["peak_mb"].ge(0).all()


class Watch(BaseEstimator):
    """Notes the rows that it meets, by the number in their first column."""

    seen: list[tuple[str, list[int]]] = []

    def note(self, what: str, X: Any) -> None:
        Watch.seen.append((what, np.asarray(X)[:, 0].astype(int).tolist()))


class WatchedStep(TransformerMixin, Watch):
    def fit(self, X: Any, y: Any = None) -> Any:
        self.note("fit", X)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        return X


class WatchedClassifier(ClassifierMixin, Watch):
    def fit(self, X: Any, y: Any) -> Any:
        self.note("fit", X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        self.note("predict", X)
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize("protocol", [StratifiedFolds(3), HoldOut(), HoldOut(score="valid"), SourceSplit()])
def test_methods_learn_from_the_training_rows_and_nothing_else(protocol: Any, tmp_path: Path) -> None:
    rows = np.arange(150)
    data = replace(load("iris"), train_index=rows[::2], valid_index=rows[1::4], test_index=rows[3::4])
    data = replace(data, X=np.column_stack([rows, data.X]), feature_names=None)
    Watch.seen.clear()
    table = Experiment([data], {"watch": make_pipeline(WatchedStep(), WatchedClassifier())}, cv=protocol).run(
        tmp_path / "a.run"
    )
    assert (table.to_frame()["error"] == "").all()
    for fold in range(protocol.n_folds):
        train, test = protocol.split(data, fold, 0)
        fitted = [set(numbers) for what, numbers in Watch.seen[3 * fold : 3 * fold + 3] if what == "fit"]
        assert fitted == [set(train.tolist())] * 2
        assert Watch.seen[3 * fold + 2] == ("predict", test.tolist())


@pytest.mark.slow
def test_what_is_learnt_does_not_hang_on_the_rows_that_are_scored(tmp_path: Path) -> None:
    data = load("wine")
    methods = {"a": "etana(temperature='fit')", "b": seqclass.SequentialClassifier(selector=SelectKBest(k=3))}
    _, test = HoldOut().split(data, 0, 0)
    X = data.X.copy()
    X[test] = 1e6
    one, other = (
        Experiment([d], methods, cv=HoldOut()).run(tmp_path / name).to_frame()
        for name, d in (("a.run", data), ("b.run", replace(data, X=X)))
    )
    learnt = ["expected_cost", "expected_n_features", "lower", "upper", "gap"]
    pd.testing.assert_frame_equal(one[learnt].reset_index(drop=True), other[learnt].reset_index(drop=True))
    assert (one["accuracy"].to_numpy() > other["accuracy"].to_numpy()).all()


@dataclass(frozen=True)
class Leaks(Protocol):
    def split(self, data: Dataset, fold: int, seed: int) -> Any:
        return np.arange(150), np.arange(100, 150)


def test_a_protocol_of_ones_own_must_not_leak(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="cells failed"):
        table = small(cv=Leaks(), seeds=[0], prices=[0.01]).run(tmp_path / "a.run").to_frame()
    assert (
        table["error"].str.contains(r"Leaks\(\) puts row 100 both into the training rows and into those scored").all()
    )


class Fails(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Any:
        raise RuntimeError("no\nluck")


def test_a_cell_that_fails_is_a_row_with_its_error(tmp_path: Path) -> None:
    methods = {"bad": Fails(), "good": DummyClassifier(), "slow": LogisticRegression(max_iter=1)}
    experiment = Experiment(["iris"], methods, cv=3)
    told = "^3 of 9 cells failed and are left out of all means: 3 of 'bad', the first on 'iris': RuntimeError: no luck"
    with pytest.warns(UserWarning, match=told):
        results = experiment.run(tmp_path / "a.run")
    assert "9 cells, 0 missing, 3 failed" in repr(results)
    with pytest.warns(UserWarning, match=told):  # what failed before is missing now, too
        experiment.run(tmp_path / "a.run")
    table = results.to_frame()
    assert table["error"].tolist() == ["RuntimeError: no luck"] * 3 + [""] * 6
    assert table["accuracy"].isna().tolist() == [True] * 3 + [False] * 6
    assert table["warnings"].str.startswith("ConvergenceWarning").tolist() == [False] * 6 + [True] * 3
    assert (table["version_python"] != "").all()


def test_failed_cells_are_tried_again_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Experiment(["iris"], {"bad": Fails()}, cv=3)
    with pytest.warns(UserWarning, match="3 of 3 cells failed"):
        experiment.run(tmp_path / "a.run")
    monkeypatch.setattr(Fails, "fit", lambda self, X, y: setattr(self, "classes_", np.unique(y)) or self)
    monkeypatch.setattr(Fails, "predict", lambda self, X: np.zeros(len(X), dtype=int), raising=False)
    with pytest.warns(UserWarning, match="3 of 3 cells failed"):
        assert (experiment.run(tmp_path / "a.run").to_frame()["error"] != "").all()
    table = experiment.run(tmp_path / "a.run", retry_failed=True).to_frame()
    assert len(table) == 3
    assert (table["error"] == "").all()
    assert table["accuracy"].tolist() == pytest.approx([1 / 3] * 3, abs=0.02)
    assert len(Results.load(tmp_path / "a.run").instances()) == 150


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the cells that are computed."""
    computed: list[str] = []
    run_cell = grid.run_cell

    def counted(cell: Any, held: Any) -> Any:
        computed.append(cell.key)
        return run_cell(cell, held)

    monkeypatch.setattr(grid, "run_cell", counted)
    return computed


@pytest.mark.slow
def test_only_what_is_missing_is_computed(tmp_path: Path, calls: list[str], undisturbed: Results) -> None:
    path = tmp_path / "a.run"
    small(seeds=[1]).run(path)
    assert len(calls) == 8
    results = small().run(path)
    assert len(calls) == len(set(calls)) == 16
    pd.testing.assert_frame_equal(stable(results), stable(undisturbed))
    assert read_parts(results.path) == read_parts(undisturbed.path)
    assert len(read_parts(results.path)) == 16 + 8
    small().run(path, keep_instances=1, keep_explanations=1)  # which does not change what a cell is
    assert read_parts(results.path) == read_parts(undisturbed.path)
    small().run(path)
    assert len(calls) == 16
    changed = [
        small(prices=[0.02], seeds=[0]),
        small(cv=HoldOut()),
        small(methods={"etana": "etana(published=True)"}, prices=[0.1], seeds=[0]),
        small(methods={"other name": "etana"}, prices=[0.1], seeds=[0]),
        small(data=[replace(load("iris"), X=load("iris").X + 1)], prices=[0.1], seeds=[0]),
    ]
    for experiment in changed:
        before = len(calls)
        added = experiment.run(path)
        assert len(calls) - before == len(added.to_frame())
    with pytest.warns(UserWarning, match="14 cells are named as others are"):
        loaded = Results.load(path)
    assert len(calls) == len(set(calls)) == len(loaded.to_frame())
    assert len(small().run(path).to_frame()) == 16  # its own cells, not all there are in the file


def test_an_interrupted_run_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: Results
) -> None:
    path = tmp_path / "a.run"
    run_cell = grid.run_cell
    left = iter(range(5))

    def interrupted(cell: Any, held: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return run_cell(cell, held)

    monkeypatch.setattr(grid, "run_cell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        small().run(path)
    loaded = Results.load(path)
    assert len(loaded.to_frame()) == 5
    assert loaded.n_missing == 11
    monkeypatch.undo()
    assert loaded.keys_with("instances") == loaded.to_frame().index.tolist()
    resumed = small().run(path)
    pd.testing.assert_frame_equal(stable(resumed), stable(undisturbed))
    assert read_parts(resumed.path) == read_parts(undisturbed.path)


#: Stops for good in the middle of the fifth cell.
STUCK = """
import sys, time
from seqclass.cli import main
from seqclass.experiment import grid
run_cell, left = grid.run_cell, iter(range(4))
def stuck(cell, held):
    if next(left, None) is None:
        time.sleep(10**6)
    return run_cell(cell, held)
grid.run_cell = stuck
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_killed_in_the_middle(tmp_path: Path) -> None:
    command = ["compare", "iris", "-m", "etana", "--price", "0.01", "0.1", "--folds", "2", "--seeds", "0", "1", "-o"]
    path = tmp_path / "killed.run"
    process = subprocess.Popen([sys.executable, "-c", STUCK, *command, str(path)], env=os.environ)
    try:
        while not path.is_file() or count_done(path) < 4:
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = Results.load(path).to_frame()
    assert len(kept) == 4
    again = CliRunner().invoke(main, [*command, str(path)])
    assert again.exit_code == 0, again.output
    resumed = Results.load(path)
    assert resumed.n_missing == 0
    assert len(resumed.to_frame()) == resumed.to_frame().index.nunique() == 8
    pd.testing.assert_frame_equal(resumed.to_frame().iloc[:4], kept)  # seconds and all: they were not computed again
    other = tmp_path / "undisturbed.run"
    undisturbed = CliRunner().invoke(main, [*command, str(other)])
    pd.testing.assert_frame_equal(stable(resumed), stable(Results.load(other)))
    assert read_parts(resumed.path) == read_parts(other)
    assert len(read_parts(path)) == 2 * len(resumed.to_frame())
    assert again.stdout.replace(str(path), str(other)) == undisturbed.stdout


def count_done(path: Path) -> int:
    try:
        return len(Results.load(path).to_frame())
    except ValueError:  # it is being made
        return 0


@pytest.mark.slow
def test_two_workers_and_one_give_the_same(tmp_path: Path, undisturbed: Results) -> None:
    results = small().run(tmp_path / "a.run", n_jobs=2)
    pd.testing.assert_frame_equal(stable(results), stable(undisturbed))
    stored = Results.load(tmp_path / "a.run")  # in the order of the grid, not in that of getting done
    pd.testing.assert_frame_equal(stable(stored), stable(undisturbed))
    assert read_parts(stored.path) == read_parts(undisturbed.path) != {}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_cell_that_takes_its_process_down_is_a_row_and_the_rest_goes_on(tmp_path: Path) -> None:
    class Deadly(DummyClassifier):  # in here, so that it travels to the workers whole
        def __init__(self, spared: int = 0, random_state: int = 0) -> None:
            super().__init__()
            self.spared, self.random_state = spared, random_state

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            if self.random_state == 1 and os.getpid() != self.spared:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().fit(X, y)

    methods = {"deadly": Deadly(spared=os.getpid()), "tree": DecisionTreeClassifier(max_depth=2)}
    with pytest.warns(UserWarning, match="2 of 8 cells failed.*2 of 'deadly', the first on .*BrokenProcessPool"):
        table = small(methods=methods, prices=[0.01]).run(tmp_path / "a.run", n_jobs=2).to_frame()
    dead = (table["method"] == "deadly") & (table["seed"] == 1)
    assert len(table) == 8
    assert dead.sum() == 2
    assert table["error"].str.startswith("BrokenProcessPool: its process was killed").tolist() == dead.tolist()
    assert table["accuracy"].isna().tolist() == dead.tolist()
    assert table["version_seqclass"].str.startswith(f"{seqclass.__version__}+").all()


class Sleeper(DummyClassifier):
    """Notes how many of its kind are being fitted, and warns."""

    active: list[int] = [0]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Sleeper.active.append(Sleeper.active[-1] + 1)
        time.sleep(0.02)
        warnings.warn(f"seed {self.random_state}", stacklevel=1)
        Sleeper.active.append(Sleeper.active[-1] - 1)
        return super().fit(X, y)


@pytest.mark.slow
def test_cells_in_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    before = list(warnings.filters)
    with joblib.parallel_config(backend="threading", n_jobs=4):
        table = small(methods={"sleeper": Sleeper()}, seeds=range(3)).run(tmp_path / "a.run").to_frame()
    assert set(Sleeper.active) == {0, 1}
    assert table["warnings"].tolist() == [f"UserWarning: seed {seed}" for seed in table["seed"]]
    assert warnings.filters == before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of dask are its own
def test_a_dask_cluster_gives_the_same(tmp_path: Path, undisturbed: Results) -> None:
    distributed = pytest.importorskip("distributed")
    settings = {"processes": False, "dashboard_address": None, "local_directory": str(tmp_path)}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, **settings) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        results = small().run(tmp_path / "a.run")
    pd.testing.assert_frame_equal(stable(results), stable(undisturbed))
    assert read_parts(results.path) == read_parts(undisturbed.path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_of_processes_gives_the_same(tmp_path: Path, undisturbed: Results) -> None:
    distributed = pytest.importorskip("distributed")
    settings = {"processes": True, "dashboard_address": None, "local_directory": str(tmp_path)}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **settings) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        results = small().run(tmp_path / "a.run")
    pd.testing.assert_frame_equal(stable(results), stable(undisturbed))
    assert read_parts(results.path) == read_parts(undisturbed.path)


def test_probabilities_of_single_precision_and_long_warnings(tmp_path: Path) -> None:
    class Talks(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            warnings.warn("word " * 1000, stacklevel=1)
            return super().fit(X, y)

    data = replace(load("iris"), X=load("iris").X.astype(np.float32))
    row = Experiment([data], {"talks": Talks(max_iter=1000)}, cv=HoldOut()).run(tmp_path / "a.run").to_frame().iloc[0]
    assert row["warnings"].startswith("UserWarning: word word")
    assert len(row["warnings"]) < 600
    assert row["warnings"].count("Warning") == 1


def test_a_cluster_is_told_how_large_a_data_set_is() -> None:
    data = load("iris")
    assert sys.getsizeof(SizedDataset(data)) > data.X.nbytes
    assert sys.getsizeof(SizedDataset(replace(data, X=sp.csr_array(data.X)))) > data.X.nbytes
    assert sys.getsizeof(SizedDataset(replace(data, X=data.frame()))) > data.X.nbytes


def test_prices_and_costs_of_the_data_set(tmp_path: Path) -> None:
    data = load("iris")
    data = replace(data, feature_costs=np.array([1.0, 2.0, np.nan, 4.0]), decision_costs=2 * (1 - np.eye(3)))
    experiment = Experiment(
        [data], {"etana": "etana", "all": LogisticRegression(max_iter=1000)}, prices=[0.01], cv=HoldOut(),
        feature_costs="dataset", missing_cost=3.0,
    )  # fmt: skip
    etana, everything = (row for _, row in experiment.run(tmp_path / "a.run").to_frame().iterrows())
    assert everything["paid_mean"] == pytest.approx(0.1)
    assert everything["realised_cost"] == pytest.approx(0.1 + 2 * (1 - everything["accuracy"]))
    assert etana["realised_cost"] == pytest.approx(etana["paid_mean"] + 2 * (1 - etana["accuracy"]))
    assert etana["paid_mean"] < 0.1


def test_a_category_that_only_the_scored_rows_have_is_missing(tmp_path: Path) -> None:
    y = np.tile([0, 1], 30)
    frame = pd.DataFrame({"colour": np.where(y == 1, "red", "blue")})
    frame.loc[59, "colour"] = "green"
    rows = np.arange(60)
    data = Dataset("toy", frame, y, ("a", "b"), train_index=rows[:40], test_index=rows[40:])
    row = Experiment([data], ["etana"], cv=SourceSplit()).run(tmp_path / "a.run").to_frame().iloc[0]
    assert row["error"] == ""
    assert row["n_features_mean"] == pytest.approx(19 / 20)
    assert row["accuracy"] >= 19 / 20


def test_a_class_that_the_training_rows_lack(tmp_path: Path) -> None:
    data = load("iris")
    rows = np.arange(150)
    data = replace(data, train_index=rows[:100], test_index=rows[50:][::-1][:60])
    data = replace(data, train_index=rows[:90])
    table = Experiment([data], METHODS, cv=SourceSplit()).run(tmp_path / "a.run").to_frame()
    assert (table["error"] == "").all()
    assert table["accuracy"].between(0.1, 0.2).all()  # 10 of 60
    assert table["log_loss"].gt(20).all()


def test_sequential_classifiers_inside_others(tmp_path: Path, undisturbed: Results) -> None:
    methods = {"piped": make_pipeline(SelectKBest(k=4), seqclass.SequentialClassifier())}
    piped = small(methods=methods, prices=[0.01], seeds=[0]).run(tmp_path / "a.run").to_frame()
    assert (piped["error"] == "").all()
    alone = undisturbed.to_frame().iloc[:2]
    for name in ("realised_cost", "n_features_mean", "expected_cost"):
        assert piped[name].tolist() == pytest.approx(alone[name].tolist(), abs=0.05)


#: Rows and labels as they come first to mind.
OWN_TABLES = [{"iris": (np.eye(4), [0, 1, 0, 1])}, pd.DataFrame({"a": [0.0, 1.0]}), [(np.eye(4), [0, 1, 0, 1])]]


def test_wrong_settings_are_refused_before_any_work(tmp_path: Path) -> None:
    iris = load("iris")
    for error, message, experiment in [
        (ValueError, "prices must be", small(prices=[-1])),
        (ValueError, "prices must differ", small(prices=[0.1, 0.1])),
        (ValueError, "seeds must hold", small(seeds=[])),
        (TypeError, "seeds must be", small(seeds=[0.5])),
        (ValueError, "two sets are called 'iris'", small(data=["iris", iris])),
        (ValueError, "no data set 'irys'", small(data="irys")),
        *((TypeError, r"got \w+; data of your own are .*Dataset\(", small(data=data)) for data in OWN_TABLES),
        (ValueError, "has no prices of its own", small(feature_costs="dataset")),
        (ValueError, "missing_cost is for", small(missing_cost=1.0)),
        (ValueError, "comes without train_index", small(cv=SourceSplit())),
        (TypeError, "cv must be", small(cv="5")),
    ]:
        with pytest.raises(error, match=message):
            experiment.run(tmp_path / "a.run")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        small().run(tmp_path / "none" / "a.run")


def test_cells_of_another_version_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Experiment(["iris"], {"dummy": DummyClassifier()}, cv=2)
    experiment.run(tmp_path / "a.run")
    monkeypatch.setattr(grid, "code_version", lambda: "99.0")
    version = re.escape(seqclass.__version__)
    with pytest.warns(UserWarning, match=rf"computed by seqclass {version}\+\w+ and are kept, this is 99\.0"):
        experiment.run(tmp_path / "a.run")


@pytest.mark.slow
def test_cells_of_changed_sources_are_told(tmp_path: Path) -> None:
    """Of the same version: each run is one of a copy of the package, of which one has a line more."""
    code = (
        "from sklearn.dummy import DummyClassifier; from seqclass.experiment import Experiment; "
        f"Experiment(['iris'], {{'dummy': DummyClassifier()}}, cv=2).run({str(tmp_path / 'a.run')!r}, progress=False)"
    )
    copy = tmp_path / "copy" / "seqclass"
    shutil.copytree(Path(seqclass.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": str(copy.parent)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stderr)
        with open(copy / "costs.py", "a") as file:
            file.write("# changed\n")
    assert "are kept" not in said[0]
    assert "are kept, this is" in said[1]


def test_progress_is_shown_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = Experiment(["iris"], {"dummy": DummyClassifier()}, cv=2)
    experiment.run(tmp_path / "a.run")
    assert capsys.readouterr().err == ""  # it is no terminal
    experiment.set_params(prices=[0.1]).run(tmp_path / "a.run", progress=True)
    assert "0/2" in capsys.readouterr().err


def test_settings_tell_all_of_a_cell(undisturbed: Results) -> None:
    settings = undisturbed.settings(undisturbed.to_frame().index[0])
    assert (settings["price"], settings["fold"], settings["method"]) == (0.01, 0, "etana")
    assert "SequentialClassifier" in settings["estimator"]["class"]
    with pytest.raises(ValueError, match="no cell 'x'"):
        undisturbed.settings("x")
