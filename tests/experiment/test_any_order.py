"""Methods whose order differs by instance, in runs and on their pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seqclass import SequentialClassifier
from seqclass.datasets import load
from seqclass.experiment import Experiment, afabench_log
from seqclass.experiment.protocols import StratifiedFolds
from seqclass.pomdp import Lookahead
from seqclass.report import write_report

METHODS = {
    "one order": "etana",
    "any order": SequentialClassifier(order="adaptive", solver=Lookahead()),
}
RECIPES = ["etana(order='adaptive')", "adaptive(effort='quick')"]


@pytest.mark.slow
def test_a_run_of_them_is_kept_and_shown_as_it_was(tmp_path: Path) -> None:
    data = load("wine")
    results = Experiment(["wine"], METHODS, prices=[0.02], cv=2).run(tmp_path / "a.run")
    table = results.to_frame().set_index(["method", "fold"]).sort_index()
    assert (table["error"] == "").all()
    assert table.loc["one order", "scope"].tolist() == ["order"] * 2
    assert table.loc["any order", "scope"].tolist() == ["all orders"] * 2
    assert len(results.summary()) == len(METHODS)
    train, test = StratifiedFolds(2).split(data, 0, 0)
    clf = SequentialClassifier(order="adaptive", solver=Lookahead(certificate_paths=0), feature_costs=0.02)
    clf.fit(data.X[train], data.y[train])
    record = clf.acquire(data.X[test], record_beliefs=True)
    kept = results.record("wine", "any order", fold=0)
    assert len({*record.order[:, 1].tolist()} - {-1}) > 1  # the second question differs by instance
    assert kept.record.order.tolist() == record.order.tolist()
    np.testing.assert_allclose(kept.record.beliefs, record.beliefs, atol=1e-6)
    keys = results.to_frame().query("method == 'any order' and fold == 0").index
    explored = results.read_explored(keys[0])
    assert explored is not None
    place = {int(row): i for i, row in enumerate(test)}
    for row, one in zip(explored.rows or (), explored.explanations):
        asked = record.order[place[row]]
        assert [step.column for step in one.steps] == asked[asked >= 0].tolist()
    text = write_report(results, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Features by class, by the mean step of acquisition" in text
    assert "any order on wine" in text
    assert "over all orders" in text


@pytest.mark.slow
def test_recipes_that_may_choose_any_order(tmp_path: Path) -> None:
    results = Experiment(["iris"], RECIPES, prices=[0.02], cv=2).run(tmp_path / "a.run")
    assert (results.to_frame()["error"] == "").all()
    assert results.summary()["accuracy"].min() > 0.9
    assert len(results.keys_with("explanations")) == 4
    for name in RECIPES:
        assert len(results.record("iris", name)) == 150


def test_the_log_of_any_order_is_what_was_acquired() -> None:
    data = load("iris")
    clf = SequentialClassifier(order="adaptive", solver=Lookahead(), feature_costs=[0.01, 0.02, 0.03, 0.04])
    clf.fit(data.X[::2], data.y[::2])
    record, log = clf.acquire(data.X[1::2]), afabench_log(clf, data.X[1::2], data.y[1::2])
    asked = log[log["action_performed"] > 0].groupby("idx")["action_performed"].apply(list)
    for row, own in enumerate(record.order):
        assert (asked.get(row) or []) == (own[own >= 0] + 1).tolist()
    np.testing.assert_allclose(log.groupby("idx")["accumulated_cost"].max(), record.paid)
    assert not log["forced_stop"].any()
