"""``seqclass evaluate``, the scores of ``predict``, and costs as `fit`, `compare` and `evaluate` take them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import SequentialClassifier
from seqclass.metrics import realised_cost, score_rows

FIT = ["fit", "data.csv", "--target", "the label", "--drop", "id", "-o", "other.seq"]
COSTS = {
    "feature_costs": {"colour": 0.2, "smokes": 0.1},
    "groups": {"colour": "desk", "smokes": "desk"},
    "discounted_costs": {"colour": 0.05, "smokes": 0.03},
    "decision_costs": [[0, 1, 1], [1, 0, 3], [1, 4, 0]],
}


def told(run: Any, *arguments: Any) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


def acquired(model: str, patients: pd.DataFrame) -> Any:
    clf = seqclass.load(model)
    return clf, clf.acquire(patients[clf.feature_names_in_.tolist()])


@pytest.mark.quick
def test_scores_are_those_of_what_is_acquired(model: str, run: Any, patients: pd.DataFrame) -> None:
    _, record = acquired(model, patients)
    y = patients["the label"].to_numpy()
    found = told(run, "evaluate", model, "data.csv")
    assert found["realised_cost"] == pytest.approx(realised_cost(y, record.decision, record.cost))
    assert found["accuracy"] == pytest.approx(float(np.mean(record.decision == y)))
    assert found["mean_features"] == pytest.approx(record.n_features.mean())
    assert found["mean_price"] == pytest.approx(record.cost.mean())
    assert found["realised_cost_interval"][0] < found["realised_cost"] < found["realised_cost_interval"][1]
    for one in found["classes"]:
        own = y == one["label"]
        assert one["n_rows"] == own.sum()
        assert one["sensitivity"] == pytest.approx(np.mean(record.decision[own] == one["label"]))
        assert one["realised_cost"] == pytest.approx(np.mean(record.cost[own] + (record.decision[own] != y[own])))
    text = run("evaluate", model, "data.csv").stdout
    assert f"{found['realised_cost']:.4f} (95% interval" in text
    # the same figures beside the decisions
    assert text.strip() in run("predict", model, "data.csv", "-o", "d.csv").stdout
    assert text.strip() in run("predict", model, "data.csv").stderr
    assert told(run, "predict", model, "data.csv")["scores"] == {k: v for k, v in found.items() if k[:2] != "n_"} | {
        "n_rows": 200
    }


@pytest.mark.parametrize("method", ["ifc2f", "adaptive", "sequential"])
def test_any_model(folder: Path, run: Any, method: str) -> None:
    if method == "sequential":
        np.savez("d.npz", X=np.repeat([[0.0, 1.0], [1.0, 1.0]], 20, axis=0), y=np.repeat([3, 7], 20))
        arrays = np.load("d.npz")
        seqclass.SequentialClassifier().fit(arrays["X"], arrays["y"]).save("other.seq")
        assert told(run, "evaluate", "other.seq", "d.npz")["accuracy"] == 1.0
        return
    quick = ["--effort", "quick"] if method == "adaptive" else []
    assert run(*FIT, "--method", method, *quick).exit_code == 0
    found = told(run, "evaluate", "other.seq", "data.csv")
    assert 0 < found["realised_cost"] < 1
    assert found["n_rows"] == 200


def test_labels_that_are_missing_unknown_or_elsewhere(model: str, run: Any, refuses: Any, patients: Any) -> None:
    some = patients.rename(columns={"the label": "truth"})
    some.loc[:4, "truth"] = None
    some.to_csv("some.csv", index=False)
    assert "it lacks 'the label'; name the column of the labels with --target" in refuses("evaluate", model, "some.csv")
    assert "missing in 5 rows, first in row 1" in refuses("evaluate", model, "some.csv", "--target", "truth")
    found = told(run, "evaluate", model, "some.csv", "--target", "truth", "--drop-unlabelled")
    assert (found["n_rows"], found["n_unlabelled"]) == (195, 5)
    assert "no column 'thruth'" in refuses("evaluate", model, "some.csv", "--target", "thruth")
    patients.assign(**{"the label": "never"}).to_csv("never.csv", index=False)
    assert "'never', which is no class of the model" in refuses("evaluate", model, "never.csv")
    result = run("predict", model, "never.csv", "-o", "d.csv")  # which goes on all the same
    assert result.exit_code == 0
    assert "There are no scores" in result.stdout
    patients.assign(**{"the label": None}).to_csv("none.csv", index=False)
    assert "no row has a label" in refuses("evaluate", model, "none.csv", "--drop-unlabelled")
    assert "scores" not in told(run, "predict", model, "none.csv")


def test_other_prices_and_costs(model: str, run: Any, refuses: Any, patients: pd.DataFrame) -> None:
    Path("data.costs.json").write_text(json.dumps(COSTS))
    clf, record = acquired(model, patients)
    names = np.array([*clf.feature_names_in_.tolist(), ""])
    cost = np.zeros(len(record))
    for row, (columns, outcomes) in enumerate(zip(record.order, record.outcome)):
        desk = False
        for name in names[columns[outcomes >= 0]]:
            in_desk = name in COSTS["groups"]
            cost[row] += COSTS["discounted_costs" if desk else "feature_costs"][name] if in_desk else 0.01
            desk |= in_desk
    matrix = np.array(COSTS["decision_costs"])
    y = patients["the label"].to_numpy()
    wrong = matrix[np.searchsorted(clf.classes_, y), np.searchsorted(clf.classes_, record.decision)]
    for option in (["--dataset-costs"], ["--costs", "data.costs.json"]):
        found = told(run, "evaluate", model, "data.csv", *option)
        assert found["mean_price"] == pytest.approx(cost.mean())
        assert found["realised_cost"] == pytest.approx((cost + wrong).mean())
    Path("wrong.csv").write_text("c,maybe,no,yes\nmaybe,0,1,1\nno,1,0,1\nyes,1,9,0\n")
    found = told(run, "evaluate", model, "data.csv", "--costs", "data.costs.json", "--decision-costs", "wrong.csv")
    assert found["mean_decision_cost"] != pytest.approx(wrong.mean())  # the table comes before the file
    Path("wrong.csv").write_text("c,maybe,no,yes,refer\nmaybe,0,1,1,.1\nno,1,0,1,.1\nyes,1,9,0,.1\n")
    assert "of the model's decisions" in refuses("evaluate", model, "data.csv", "--decision-costs", "wrong.csv")
    assert "exclude each other" in refuses("evaluate", model, "data.csv", "--dataset-costs", "--costs", "x.csv")
    Path("data.costs.json").unlink()
    assert "neither data.costs.csv nor data.costs.json" in refuses("evaluate", model, "data.csv", "--dataset-costs")


def test_fit_and_compare_take_the_same_file(folder: Path, run: Any, refuses: Any) -> None:
    whole = {**COSTS, "feature_costs": {**COSTS["feature_costs"], "age in years": 0.01, "empty": 0.5}}
    Path("data.costs.json").write_text(json.dumps(whole))
    assert run(*FIT, "--dataset-costs").exit_code == 0
    clf = seqclass.load("other.seq")
    assert clf._prices.full.tolist() == [0.2, 0.01, 0.5, 0.1]
    assert clf._prices.discounted.tolist() == [0.05, 0.01, 0.5, 0.03]
    assert clf.decision_costs_.tolist() == COSTS["decision_costs"]
    assert clf.target_name_ == "the label"
    where = ["compare", "data.csv", "--target", "the label", "--drop", "id", "-m", "etana", "--folds", "2"]
    found = [
        told(run, *where, *option, "-o", f"{i}.db")["summary"][0]["realised_cost"]
        for i, option in enumerate((["--dataset-costs"], ["--costs", "data.costs.json"], ["--price", "0.01"]))
    ]
    assert found[0] == found[1] != found[2]
    Path("wrong.csv").write_text("c,maybe,no,yes,refer\nmaybe,0,1,1,0\nno,1,0,1,0\nyes,1,9,0,0\n")
    free = told(run, *where, "--decision-costs", "wrong.csv", "-o", "free.db")["summary"][0]
    assert free["realised_cost"] == 0  # for it refers everybody
    assert "exclude each other" in refuses(*where, "--dataset-costs", "--costs", "data.costs.json", "-o", "x.db")
    Path("data.costs.json").write_text(json.dumps(COSTS))
    assert "no price for 'age in years'" in refuses(*FIT, "--dataset-costs")
    assert run(*FIT, "--dataset-costs", "--feature-cost", "0.3").exit_code == 0
    assert seqclass.load("other.seq")._prices.full.tolist() == [0.2, 0.3, 0.3, 0.1]


def test_a_selector_by_name(folder: Path, run: Any, refuses: Any) -> None:
    assert run(*FIT, "--select", "saola").exit_code == 0
    clf = seqclass.load("other.seq")
    assert type(clf.selector).__name__ == "SAOLA"
    assert len(clf.support_) < clf.n_features_in_
    assert run("evaluate", "other.seq", "data.csv").exit_code == 0
    assert "chooses such things itself" in refuses(*FIT, "--select", "saola", "--method", "adaptive")
    help_text = run("fit", "--help").stdout
    for name in ("alpha_investing", "fast_osfs", "fcbf", "fires", "ofs_a3m", "osfs", "saola"):
        assert name in help_text.replace("\n", "").replace(" ", "")


def test_labels_may_be_a_list() -> None:
    X, y = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0), ["a"] * 20 + ["b"] * 20
    clf = SequentialClassifier().fit(X, y)
    assert score_rows(clf, X, y) == score_rows(clf, X, np.array(y))
