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


def test_one_row_says_nothing_of_chance(folder: Path, run: Any) -> None:
    y = np.arange(60) % 2
    np.savez("all.npz", X=y[:, None] + np.linspace(0, 0.5, 60)[:, None], y=y)
    np.savez("one.npz", X=[[0.2]], y=[0])
    assert run("fit", "all.npz", "-o", "two.seq").exit_code == 0
    result = run("evaluate", "two.seq", "one.npz")
    assert result.exit_code == 0, result.output
    assert "Decision curve" in result.stdout


def test_a_folder_is_not_for_evaluate(model: str, refuses: Any) -> None:
    Path("parts").mkdir()
    told = refuses("evaluate", model, "parts")
    assert "parts is a folder, not a file: name a file in it. Folders of Parquet files are for fit and predict" in told


@pytest.mark.quick
def test_scores_are_those_of_what_is_acquired(model: str, run: Any, patients: pd.DataFrame) -> None:
    _, record = acquired(model, patients)
    y = patients["the label"].to_numpy()
    found = told(run, "evaluate", model, "data.csv")
    assert found["realised_cost"] == pytest.approx(realised_cost(y, record.decision, record.paid))
    assert found["accuracy"] == pytest.approx(float(np.mean(record.decision == y)))
    assert found["mean_features"] == pytest.approx(record.n_features.mean())
    assert found["mean_price"] == pytest.approx(record.paid.mean())
    assert found["realised_cost_interval"][0] < found["realised_cost"] < found["realised_cost_interval"][1]
    for one in found["classes"]:
        own = y == one["label"]
        assert one["n_rows"] == own.sum()
        assert one["sensitivity"] == pytest.approx(np.mean(record.decision[own] == one["label"]))
        relied_on = y[record.decision == one["label"]] == one["label"]
        assert (one["n_decided"], one["predictive_value"]) == (len(relied_on), pytest.approx(relied_on.mean()))
        assert one["predictive_value_interval"][0] < one["predictive_value"] <= one["predictive_value_interval"][1]
        assert one["realised_cost"] == pytest.approx(np.mean(record.paid[own] + (record.decision[own] != y[own])))
    text = run("evaluate", model, "data.csv").stdout
    assert f"{found['realised_cost']:.4f} (95% interval" in text
    assert "decided for" in text
    assert f"{found['classes'][0]['predictive_value']:.4f} (" in text
    # the same figures beside the decisions, without the details
    short = text.partition("\n\nHow sure")[0]
    assert text.count("\n") > short.count("\n") + 3 > 9
    assert short in run("predict", model, "data.csv", "-o", "d.csv").stdout
    assert short in run("predict", model, "data.csv").stderr
    assert told(run, "predict", model, "data.csv")["scores"] == {k: v for k, v in found.items() if k[:2] != "n_"} | {
        "n_rows": 200
    }


@pytest.mark.slow_cells("adaptive")
@pytest.mark.parametrize("method", ["ifc2f", "adaptive", "sequential"])
def test_any_model(folder: Path, run: Any, method: str) -> None:
    if method == "sequential":
        np.savez("d.npz", X=np.repeat([[0.0, 1.0], [1.0, 1.0]], 20, axis=0), y=np.repeat([3, 7], 20))
        with np.load("d.npz") as arrays:
            seqclass.SequentialClassifier().fit(arrays["X"], arrays["y"]).save("other.seq")
        assert told(run, "evaluate", "other.seq", "d.npz")["accuracy"] == 1.0
        return
    quick = ["--effort", "quick"] if method == "adaptive" else []
    assert run(*FIT, "--method", method, *quick).exit_code == 0
    found = told(run, "evaluate", "other.seq", "data.csv")
    assert 0 < found["realised_cost"] < 1
    assert found["n_rows"] == 200


@pytest.mark.slow
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


@pytest.mark.slow_cells("bundle", "after", "visits", "delays")
@pytest.mark.parametrize(
    "table, visits",
    [
        pytest.param("group,discounted\na,.02,g,.002\nb,.02,g,.002\nc,.02,g,.002\nd,.01,,", [], id="group"),
        pytest.param("bundle\na,.02,B\nb,.02,B\nc,.01,\nd,.01,", [], id="bundle"),
        pytest.param("after\na,.02,\nb,.02,\nb,.001,a\nc,.02,\nd,.01,", [], id="after"),
        pytest.param("group\na,.02,\nb,.02,\nc,.02,\nd,.01,", ["--visit-cost", ".01"], id="visits"),
        pytest.param("delay\na,.02,1\nb,.02,3\nc,.02,1\nd,.01,2", ["--delay-cost", ".01"], id="delays"),
    ],
)
def test_what_a_file_of_prices_does_not_name_stays(folder: Path, run: Any, table: str, visits: list[str]) -> None:
    """Its discount, its bundle, its price after answers, and what visits cost."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    frame = pd.DataFrame({name: rng.normal(y, 1.4).round(3) for name in "abcd"}).assign(y=np.where(y, "ill", "well"))
    frame.to_csv("t.csv", index=False)
    Path("p.csv").write_text(f"feature,cost,{table}\n")
    Path("d.csv").write_text("feature,cost\nd,0.5\n")
    Path("decisions.json").write_text('{"decision_costs": [[0, 2], [2, 0]]}')
    assert run("fit", "t.csv", "-t", "y", "--costs", "p.csv", *visits, "-o", "m.seq").exit_code == 0
    record = seqclass.load("m.seq").acquire(frame[[*"abcd"]])
    asked = (record.order == 3).any(axis=1)
    assert asked.any()
    for file, more in (("d.csv", 0.49 * asked), ("decisions.json", 0), ("p.csv", 0)):
        found = told(run, "evaluate", "m.seq", "t.csv", "--costs", file)
        assert found["mean_price"] == pytest.approx(float((record.paid + more).mean()))


@pytest.mark.slow
def test_fit_and_compare_take_the_same_file(folder: Path, run: Any, refuses: Any) -> None:
    whole = {**COSTS, "feature_costs": {**COSTS["feature_costs"], "age in years": 0.01, "empty": 0.5}}
    Path("data.costs.json").write_text(json.dumps(whole))
    assert run(*FIT, "--dataset-costs").exit_code == 0
    clf = seqclass.load("other.seq")
    assert clf.agent_.prices.full.tolist() == [0.2, 0.01, 0.5, 0.1]
    assert clf.agent_.prices.discounted.tolist() == [0.05, 0.01, 0.5, 0.03]
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
    assert run(*FIT, "--dataset-costs", "--price", "0.3").exit_code == 0
    assert seqclass.load("other.seq").agent_.prices.full.tolist() == [0.2, 0.3, 0.3, 0.1]


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


@pytest.fixture
def two(folder: Path, run: Any, patients: pd.DataFrame) -> pd.DataFrame:
    """``two.csv`` of two classes with a group, ``two.npz`` likewise, and ``two.seq``, for which a miss costs 4."""
    frame = patients[patients["the label"] != "maybe"].drop(columns="empty").reset_index(drop=True)
    frame["clinic"] = np.where(np.arange(len(frame)) % 3, "north", "south")
    frame.to_csv("two.csv", index=False)
    Path("wrong.csv").write_text("c,no,yes\nno,0,1\nyes,4,0\n")
    costs = ["--decision-costs", "wrong.csv", "--price", "0.1"]
    arguments = ["fit", "two.csv", "--target", "the label", "--drop", "id", "--drop", "clinic", *costs, "-o", "two.seq"]
    assert run(*arguments).exit_code == 0
    return frame


@pytest.mark.slow
def test_curve_groups_and_calibration(two: pd.DataFrame, run: Any, refuses: Any) -> None:
    _, record = acquired("two.seq", two)
    y, price = two["the label"].to_numpy(), record.paid
    found = told(run, "evaluate", "two.seq", "two.csv", "--threshold", "0.2", "--groups", "clinic")
    curve = found["decision_curve"]
    assert (curve["positive"], curve["thresholds"], curve["benefit"]) == ("yes", [0.2], 4.0)
    treated = record.posterior[:, 1] >= 0.2
    net = np.mean(treated & (y == "yes")) - np.mean(treated & (y == "no")) / 4
    assert curve["net_benefit"][0] == pytest.approx(net)
    assert curve["after_price"][0] == pytest.approx(net - price.mean() / 4)
    # at the threshold of the costs it is what the model saves over treating none
    assert 4 * curve["after_price"][0] == pytest.approx(4 * np.mean(y == "yes") - found["realised_cost"])
    yes = next(one for one in found["classes"] if one["label"] == "yes")
    assert yes["specificity"] == pytest.approx(np.mean(record.decision[y == "no"] != "yes"))
    assert yes["mean_price"] == pytest.approx(price[y == "yes"].mean())
    wrong = np.where(record.decision == y, 0, np.where(y == "yes", 4, 1))
    for one in found["groups"]:
        own = (two["clinic"] == one["group"]).to_numpy()
        assert one["n_rows"] == own.sum()
        assert one["error"] == pytest.approx(np.mean((record.decision != y)[own]))
        assert one["realised_cost"] == pytest.approx((price + wrong)[own].mean())
        assert one["difference"] == pytest.approx((price + wrong)[own].mean() - (price + wrong)[~own].mean())
    assert [one["group"] for one in found["groups"]] == ["north", "south"]
    assert sum(one["n_rows"] for one in found["calibration"]) == len(two)
    text = run("evaluate", "two.seq", "two.csv", "--threshold", "0.2", "--groups", "clinic").stdout
    assert f"  0.2             {net:.4f}        {net - price.mean() / 4:.4f}" in text
    assert "Prices are divided by 4" in text
    assert " noise " in text  # what clinics are dealt at random differ by
    two.assign(ward=np.arange(len(two)) // 4).to_csv("wards.csv", index=False)
    text = run("evaluate", "two.seq", "wards.csv", "--groups", "ward").stdout
    assert text.count(" too few rows ") == len(two) // 4 + (len(two) % 4 > 0)
    rare = told(run, "evaluate", "two.seq", "two.csv", "--prevalence", "0.1", "--threshold", "0.2")["decision_curve"]
    share = [np.mean(treated[y == label]) for label in ("yes", "no")]
    assert rare["net_benefit"][0] == pytest.approx(0.1 * share[0] - 0.9 * share[1] / 4)
    other = told(run, "evaluate", "two.seq", "two.csv", "--positive", "no", "--decision-costs", "wrong.csv")
    assert (other["decision_curve"]["positive"], len(other["decision_curve"]["thresholds"])) == ("no", 99)
    assert "no class of the model; did you mean 'yes'" in refuses(
        "evaluate", "two.seq", "two.csv", "--positive", "yess"
    )
    assert "no column 'klinic'; did you mean 'clinic'" in refuses(
        "evaluate", "two.seq", "two.csv", "--groups", "klinic"
    )
    two.assign(clinic=None).to_csv("none.csv", index=False)
    assert f"has no 'clinic' in {len(two)} rows, first in row 1; fill it in" in refuses(
        "evaluate", "two.seq", "none.csv", "--groups", "clinic"
    )


def test_who_was_decided_for_what(folder: Path, patients: pd.DataFrame, run: Any) -> None:
    """Sensitivities do not tell how many were referred, nor what the others were taken for."""
    Path("wrong.csv").write_text("c,maybe,no,yes,refer\nmaybe,0,1,1,.3\nno,1,0,1,.3\nyes,1,9,0,.3\n")
    fit = (
        "fit",
        "data.csv",
        "--target",
        "the label",
        "--drop",
        "id",
        "--decision-costs",
        "wrong.csv",
        "-o",
        "refer.seq",
    )
    assert run(*fit).exit_code == 0
    _, record = acquired("refer.seq", patients.assign(smokes=patients["smokes"].map(str, na_action="ignore")))
    y, found = patients["the label"].to_numpy(), told(run, "evaluate", "refer.seq", "data.csv")
    assert found["decisions"] == ["maybe", "no", "yes", "refer"]
    by_hand = [
        [int(((y == a) & (record.decision == b)).sum()) for b in found["decisions"]] for a in ("maybe", "no", "yes")
    ]
    assert found["confusion"] == by_hand
    assert sum(row[-1] for row in by_hand) > 0
    referred, right, n = sum(row[-1] for row in by_hand), sum(by_hand[i][i] for i in range(3)), len(y)
    assert (found["referred"], found["accuracy"]) == pytest.approx((referred / n, right / n))
    assert found["error"] == pytest.approx(1 - (referred + right) / n)
    assert [one["referred"] for one in found["classes"]] == pytest.approx([row[-1] / sum(row) for row in by_hand])
    lines = run("evaluate", "refer.seq", "data.csv").stdout.splitlines()
    assert f"  referred       {referred / n:.4f}" in lines
    assert any(line.split()[-1:] == ["referred"] for line in lines)
    at = lines.index("Rows of each class (row) by what was decided (column):")
    assert lines[at + 1].split() == ["class", *found["decisions"]]
    assert [line.split() for line in lines[at + 2 : at + 5]] == [
        [name, *map(str, row)] for name, row in zip(found["decisions"], by_hand)
    ]


def test_one_class_against_the_rest(model: str, run: Any) -> None:
    assert told(run, "evaluate", model, "data.csv")["decision_curve"] is None
    assert "Decision curve" not in run("evaluate", model, "data.csv").stdout
    curve = told(run, "evaluate", model, "data.csv", "--positive", "maybe")["decision_curve"]
    assert curve["positive"] == "maybe"
    assert "Decision curve for 'maybe'" in run("evaluate", model, "data.csv", "--positive", "maybe").stdout


@pytest.mark.slow
def test_rows_that_no_longer_fit_are_noticed(model: str, run: Any, patients: pd.DataFrame) -> None:
    labels = patients["the label"]
    names = sorted(labels.unique())
    turned = labels.map(dict(zip(names, names[1:] + names[:1])))
    pd.concat([patients, patients.assign(**{"the label": turned})]).to_csv("later.csv", index=False)
    result = run("evaluate", model, "later.csv", "--drift", "0.05", "--json")
    found = json.loads(result.stdout)["drift"]
    assert result.exit_code == 6, "an alarm is seen without reading the text"
    assert len(patients) < found["alarm_row"] <= 2 * len(patients)
    assert abs(found["change_row"] - len(patients)) < 25
    result = run("evaluate", model, "later.csv", "--drift", "0.05")
    assert "noticed at case" in result.stdout
    assert result.exit_code == 6
    assert told(run, "evaluate", model, "data.csv", "--drift", "0.05")["drift"]["alarm_row"] is None
    assert "no drift in" in run("evaluate", model, "data.csv", "--drift", "0.05").stdout
    assert "drift" not in told(run, "evaluate", model, "data.csv")
