"""AFABench's protocol: hard budgets, and columns that are known at the start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import seqclass
from seqclass import SequentialClassifier
from seqclass.cli import main
from seqclass.datasets import load
from seqclass.experiment import Experiment, Results, ShuffledSplit, afabench_log
from seqclass.experiment.protocols import StratifiedFolds
from seqclass.pomdp import Lookahead
from seqclass.report import write_report

KNOWN = ["malic_acid", "hue"]
ADAPTIVE = SequentialClassifier(order="adaptive", solver=Lookahead(certificate_paths=0))
METHODS = {
    "etana": "etana",
    "adaptive": ADAPTIVE,
    "picked": make_pipeline(SelectKBest(k=3), LogisticRegression(max_iter=5000)),
    "behind": make_pipeline(SelectKBest(k=6), SequentialClassifier()),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    path = tmp_path_factory.mktemp("budgets") / "a.run"
    with pytest.warns(
        UserWarning, match="2 of 16 cells failed.*2 of 'picked', the first on 'wine': ValueError: the method"
    ):
        return Experiment(["wine"], METHODS, cv=2, budgets=[2, 4], known=KNOWN).run(path)


def test_a_hard_budget_is_used_up_and_not_exceeded(results: Results) -> None:
    table = results.to_frame().set_index(["method", "budget", "fold"]).sort_index()
    assert (table["price"] == 0).all()
    for name in ("etana", "adaptive", "behind"):
        for budget in (2, 4):
            for column in ("n_features_mean", "n_features_max"):
                assert table.loc[(name, budget), column].tolist() == [budget] * 2
    # what a model expects and certifies is of its policy alone, from nothing to its own stop
    assert table[["expected_cost", "upper", "gap"]].isna().all(axis=None)
    assert table.loc[("picked", 2), "error"].str.contains("acquires 3 features, more than the hard budget of 2").all()
    assert (table.loc[("picked", 4), "error"] == "").all()
    data = load("wine")
    train, test = StratifiedFolds(2).split(data, 1, 0)
    clf = seqclass.etana(0, max_features=2 + 2, random_state=0).fit(data.X[train], data.y[train])
    known = [data.names().index(name) for name in KNOWN]
    record = clf.acquire(data.X[test], known=known, budget=2)
    assert table.loc[("etana", 2, 1), "accuracy"] == np.mean(record.decision == data.y[test])


@pytest.mark.slow
def test_what_is_kept_and_shown_is_of_the_budget(results: Results, tmp_path: Path) -> None:
    summary = results.summary()
    assert summary[["method", "budget"]].values.tolist()[:3] == [["etana", 2], ["etana", 4], ["adaptive", 2]]
    assert set(results.instances(budget=4)["budget"]) == {4}
    assert results.compare("accuracy", budget=4).left_out == ()
    kept = results.record("wine", "adaptive", budget=4)
    assert set(kept.record.n_features) == {4}
    assert not set(KNOWN) & {kept.names[j] for j in np.unique(kept.record.order)}
    np.testing.assert_allclose(kept.record.beliefs[:, -1], kept.record.posterior, atol=1e-6)
    # those who were asked and saw the same may have begun with other beliefs
    assert len(np.unique(kept.record.beliefs[:, 0], axis=0)) > 2
    text = write_report(results, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "2 hard budgets" in text
    assert "etana at price 0, hard budget 2: accuracy" in text
    assert "realised cost against price" not in text
    assert "it was run under a hard budget" in text
    assert "malic_acid, hue" in text


@pytest.mark.slow
def test_cells_are_told_apart_by_budget_and_by_what_is_known(tmp_path: Path) -> None:
    (plain, *_), _ = Experiment(["wine"], ["etana"], cv=2)._cells(seqclass.experiment.grid.Keep())
    results = Experiment(["wine"], ["etana"], cv=2).run(tmp_path / "a.run")
    assert results.to_frame()["budget"].isna().all()
    assert "budget" not in results.summary()
    cells = Experiment(["wine"], ["etana"], cv=2, budgets=[2, 3], known=["hue"])._cells(plain.keep)[0]
    warm = Experiment(["wine"], ["etana"], cv=2, known=["hue"])._cells(plain.keep)[0]
    assert len({cell.key for cell in [plain, *cells, *warm]}) == 1 + 4 + 2


def test_refusals(tmp_path: Path) -> None:
    for settings, message in (
        ({"known": ["hua"]}, "known of 'wine' names 'hua', which is not a feature; did you mean 'hue'"),
        ({"budgets": [2, 2]}, "budgets must differ"),
        ({"budgets": [-1]}, "budgets must be"),
    ):
        with pytest.raises(ValueError, match=message):
            Experiment(["wine"], ["etana"], **settings).run(tmp_path / "a.run")
    turned = make_pipeline(PCA(3), SequentialClassifier())
    with pytest.warns(UserWarning, match="2 of 2 cells failed"):
        results = Experiment(["wine"], {"turned": turned}, cv=2, known=["hue"]).run(tmp_path / "b.run")
    assert results.to_frame()["error"].str.contains("of which nobody can tell").all()


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path) -> None:
    arguments = ["compare", "iris", "-m", "etana", "--folds", "2", "--budget", "1", "2"]
    arguments += ["--known", "sepal length (cm)", "-o", str(tmp_path / "a.run")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].split()[:4] == ["data", "method", "price", "budget"]
    cells: Any = Results.load(tmp_path / "a.run").to_frame()
    assert cells[["budget", "n_features_mean"]].values.tolist() == [[1, 1], [1, 1], [2, 2], [2, 2]]


def test_the_log_of_a_hard_budget_and_a_warm_start() -> None:
    data = load("wine")
    train, test = ShuffledSplit().split(data, 0, 0)
    clf = seqclass.etana(0.01).fit(data.X[train], data.y[train])
    log = afabench_log(clf, data.X[test], data.y[test], 3, hard=True, known=[10])
    assert log.groupby("idx")["action_performed"].apply(list).map(len).eq(4).all()
    assert not log["action_performed"].eq(11).any()
    short = seqclass.etana(0.0001, max_features=2).fit(data.X[train], data.y[train])
    first, second = (int(column) for column in short.order_)
    log = afabench_log(short, data.X[test], data.y[test], known=[first])
    asked = log.loc[log["action_performed"] > 0].groupby("idx").size()
    ends = log[log["action_performed"] == 0].set_index("idx")["forced_stop"]
    assert set(log["action_performed"]) == {0, second + 1}
    assert ends.sum() == len(asked) > 0
    log = afabench_log(clf, data.X[test], data.y[test], 3, hard=True, known=[10])
    assert log.loc[log["action_performed"] == 0, "forced_stop"].all()
    assert log.groupby("idx")["accumulated_cost"].max().eq(3).all()


def test_the_log_says_where_an_adaptive_order_ran_out_of_money() -> None:
    data = load("wine")
    clf = SequentialClassifier(
        order="adaptive", solver=Lookahead(certificate_paths=0), feature_costs=0.01, max_cost=0.03
    )
    clf.fit(data.X[::2], data.y[::2])
    log = afabench_log(clf, data.X[1::2], data.y[1::2])
    ends = log[log["action_performed"] == 0]
    assert (ends["forced_stop"] == np.isclose(ends["accumulated_cost"], 0.03)).all()
    assert 0 < ends["forced_stop"].mean() < 1


def test_which_columns_are_known_is_part_of_a_cell() -> None:
    data = load("wine")
    names = data.names()
    turned = replace(data, feature_names=(*names[1:], names[0]))
    keep = seqclass.experiment.grid.Keep()
    keys = [
        {cell.key for cell in Experiment([one], ["sklearn:GaussianNB"], cv=2, known=known)._cells(keep)[0]}
        for known in ([], ["hue"])
        for one in (data, turned)
    ]
    assert keys[0] == keys[1]  # names alone change nothing
    assert not keys[2] & keys[3]
