"""Differences of methods: paired by fold, by case of a single split, by data set; curves and classes of kept rows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import write_cells

from seqclass.datasets import load
from seqclass.evaluation.decision_curves import decision_curve
from seqclass.experiment import Experiment, Results
from seqclass.experiment.protocols import HoldOut
from seqclass.metrics import realised_cost
from seqclass.stats import paired_t_test

METHODS = {"etana": "etana", "tree": "sklearn:DecisionTreeClassifier(max_depth=2, random_state=0)"}


def drawn(seed: int, method: int, data: int, noise: float) -> Any:
    rng = np.random.default_rng(100 * seed + data)  # the folds' own ups and downs are the same for all methods
    return 0.5 + 0.2 * rng.random(10) + 0.02 * method + noise * np.random.default_rng((seed, method, data)).random(10)


@pytest.fixture
def made(tmp_path: Path) -> Results:
    """Three methods on two sets, two seeds of five folds, two prices; c equals b on the second set."""
    cells = []
    for price, data, method, i in itertools.product(range(2), range(2), range(3), range(10)):
        labels = {"data": f"d{data}", "method": "abc"[method], "price": [0.1, 0.2][price]}
        same = 1 if data == 1 and method == 2 else method
        score = float(drawn(price, same, data, 0.001)[i])
        figures = {"accuracy": score, "realised_cost": 1 - score, "n_train": 80, "n_test": 20, "error": ""}
        cells.append((labels | {"seed": i // 5, "fold": i % 5}, figures))
    write_cells(tmp_path / "made.run", cells)
    return Results.load(tmp_path / "made.run")


@pytest.mark.parametrize("metric", ["accuracy", "realised_cost"])
def test_differences_are_paired_by_fold(made: Results, metric: str) -> None:
    found = made.compare(metric)
    table = found.differences
    assert table["data"].tolist() == ["all data sets"] * 3 + ["d0", "d1"] * 3
    units = made.to_frame().groupby(["data", "method", "seed", "fold"])[metric].mean()
    for row in table[table["data"] != "all data sets"].to_dict("records"):
        a, b = (units[row["data"]][row[name]].to_numpy() for name in ("method", "against"))
        test = paired_t_test(a, b, test_to_train=0.25)
        assert (row["difference"], row["p_value"]) == pytest.approx((test.difference, test.p_value))
        assert (row["lower"], row["upper"]) == pytest.approx(test.interval)
        assert (row["n"], row["paired_by"]) == (10, "fold")
        means = found.scores.loc[row["data"]]
        assert row["difference"] == pytest.approx(means[row["method"]] - means[row["against"]])
        worse = "worse" if row["data"] == "d0" or row["method"] == "a" else "the same"
        assert row["verdict"] == worse  # by 0.02, much less than folds differ by
    over = table[table["data"] == "all data sets"].iloc[0]
    test = paired_t_test(found.scores["a"], found.scores["b"])
    assert (over["lower"], over["upper"], over["p_value"]) == pytest.approx((*test.interval, test.p_value))
    assert over["paired_by"] == "data set"
    assert found.friedman is not None  # three methods on two data sets are enough for ranks
    text = str(found)
    assert f"a minus b on d0: {table['difference'].iloc[3]:+.4f} [" in text
    assert "(10 folds): worse" in text


def write_scoped(path: Path) -> Results:
    """Gaps of a method in its own order, which are small, and of one over all orders."""
    cells = []
    for fold, (method, scope, gap) in itertools.product(range(3), [("one", "order", 0.0), ("any", "all orders", 0.2)]):
        figures = {
            "gap": gap + 0.02 * fold * (method == "any"),
            "scope": scope,
            "expected_cost": 0.1 + gap,
            "lower": 0.1,
        }
        figures |= {"expected_n_features": 2.0 + gap, "lower": 0.1, "n_train": 80, "n_test": 20, "error": ""}
        cells.append(({"data": "d", "method": method, "price": 0.1, "seed": 0, "fold": fold}, figures))
    write_cells(path, cells)
    return Results.load(path)


@pytest.mark.parametrize("metric", ["gap", "lower", "upper", "expected_cost", "expected_n_features"])
def test_nobody_is_ranked_by_what_its_own_model_says(tmp_path: Path, metric: str, monkeypatch: Any) -> None:
    results = write_scoped(tmp_path / "a.run")
    monkeypatch.setattr(Results, "settings", lambda self, key: {})
    text = results.table(metric)
    assert "**" not in text
    assert "Bold" not in text
    scopes = "certified over the method's own order (one) and over all orders (any)."
    assert text.endswith(f"Not to be ranked: by each method's own model, {scopes}")
    with pytest.raises(ValueError, match=f"{metric} is by each method's own model, .*own order.*compare realised_cost"):
        results.compare(metric)


def test_intervals_of_gaps_stay_where_gaps_are(tmp_path: Path) -> None:
    cells = []
    for fold, gap in enumerate([0.0, 0.0, 0.03]):
        labels = {"data": "d", "method": "a", "price": 0.1, "seed": 0, "fold": fold}
        cells.append((labels, {"gap": gap, "lower": gap, "n_train": 80, "n_test": 40, "error": ""}))
    write_cells(tmp_path / "a.run", cells)
    summary = Results.load(tmp_path / "a.run").summary(metrics=["gap", "lower"])
    assert (summary[["gap_lower", "lower_lower"]] >= 0).all(axis=None)
    assert summary["gap_upper"].item() <= 1


def test_differences_are_written_for_a_paper(made: Results) -> None:
    comparison = made.compare("realised_cost")
    row = comparison.differences.iloc[3]
    assert (row["data"], row["difference"] < 0 or row["lower"] < 0) == ("d0", False)
    text = comparison.table("latex")
    ends = f"{row['difference']:.3f} {{\\scriptsize [{row['lower']:.3f}, {row['upper']:.3f}]}}"
    assert row["p_value"] < 0.0005
    assert rf"d0 & a minus b & {ends} & \textless{{}}0.001 & 10 folds & worse \\" in text
    assert text.splitlines()[3] == r"data set & methods & difference & p & pairs & verdict \\"
    assert "_" not in text
    assert "means over the prices 0.1, 0.2" in text
    assert "command line" not in text
    assert r"$-$0." in made.compare("accuracy").table("latex")
    assert "$" not in comparison.table("html")
    assert str(comparison).startswith("Each fold of each seed counts the same, and each data set once. All of this")
    assert repr(comparison) == ("<Comparison: realised_cost of 'a', 'b', 'c' on 2 data sets, prices [0.1, 0.2]>")
    with pytest.raises(ValueError, match="to must be"):
        comparison.table("word")


def test_a_table_of_differences_may_be_of_one_data_set(made: Results) -> None:
    comparison = made.compare("realised_cost")
    everything = comparison.table().splitlines()
    parts = {name: comparison.table(data=name).splitlines() for name in ("all data sets", "d0", "d1")}
    assert [line for part in parts.values() for line in part[2:5]] == sorted(everything[2:-2], key=lambda row: row[:5])
    assert all((len(part), part[:2], part[-1]) == (7, everything[:2], everything[-1]) for part in parts.values())
    with pytest.raises(ValueError, match="data must be one of 'all data sets', 'd0', 'd1', got 'd2'"):
        comparison.table(data="d2")


def test_no_p_value_is_written_as_zero(made: Results) -> None:
    comparison = made.compare("realised_cost")
    comparison.differences["p_value"] = 0.0004
    assert r"& \textless{}0.001 &" in comparison.table("latex")
    assert "<td>&lt;0.001</td>" in comparison.table("html")
    comparison.differences["p_value"] = 0.0005
    assert "& 0.001 &" in comparison.table("latex")


def test_a_difference_by_chance_is_called_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cells = []
    for i, score in enumerate(rng.random(10).tolist()):
        labels = {"data": "d", "method": "ab"[i % 2], "price": 0.1, "seed": 0, "fold": i // 2}
        cells.append((labels, {"accuracy": score, "n_train": 80, "n_test": 20, "error": ""}))
    write_cells(tmp_path / "noise.run", cells)
    found = Results.load(tmp_path / "noise.run").compare("accuracy")
    assert found.differences["verdict"].tolist() == ["not beyond chance"]
    assert "wins/ties/losses" not in str(found)  # of one data set


def test_folds_that_are_alike_have_no_interval(tmp_path: Path) -> None:
    cells = []
    for fold, method in itertools.product(range(2), "abc"):
        labels = {"data": "d", "method": method, "price": 0.1, "seed": 0, "fold": fold}
        score = {"a": 0.86, "b": 0.84, "c": 0.1 * (fold + 1)}[method]
        cells.append((labels, {"accuracy": score, "n_train": 80, "n_test": 20, "error": ""}))
    write_cells(tmp_path / "alike.run", cells)
    found = Results.load(tmp_path / "alike.run")
    ends = found.summary(metrics=["accuracy"])[["accuracy_lower", "accuracy_upper"]].to_numpy()
    assert np.isnan(ends).tolist() == [[True, True], [True, True], [False, False]]
    differences = found.compare("accuracy").differences  # by 0.02 twice is not for certain, either
    assert differences["verdict"].tolist()[0] == "folds alike"
    assert differences[["lower", "upper", "p_value"]].iloc[0].isna().all()
    assert "folds alike" in str(found.compare("accuracy"))


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two methods on one split of two classes, at two prices, with costs of decisions."""
    data = load("breast_cancer")
    columns = [0, 1, 20, 21, 22, 27]
    few = replace(data, name="few", X=data.X[:, columns], feature_names=None)
    costs = np.array([[0.0, 3.0, 0.7], [1.0, 0.0, 0.7]])
    few = replace(few, decision_costs=costs, decisions=("refer",))
    path = tmp_path_factory.mktemp("split") / "split.run"
    return Experiment([few], METHODS, prices=[0.01, 0.05], cv=HoldOut()).run(path)


@pytest.mark.slow
def test_a_single_split_is_paired_by_case(split: Results) -> None:
    assert (split.to_frame()["error"] == "").all()
    frame = split.instances()
    costs = {"malignant": {"benign": 3.0}, "benign": {"malignant": 1.0}}
    wrong = [0.7 if d == "refer" else costs[t].get(d, 0.0) for t, d in zip(frame["truth"], frame["decision"])]
    frame = frame.assign(total=frame["paid"] + wrong, right=frame["truth"] == frame["decision"])
    for metric, column in (("realised_cost", "total"), ("accuracy", "right")):
        (row,) = split.compare(metric).differences.to_dict("records")
        by_row = frame.groupby(["method", "row"])[column].mean()
        test = paired_t_test(by_row["etana"].to_numpy(), by_row["tree"].to_numpy())
        assert row["difference"] == pytest.approx(test.difference)
        assert (row["lower"], row["upper"]) == pytest.approx(test.interval)
        assert (row["n"], row["paired_by"]) == (test.n, "case")
    (row,) = split.compare("macro_f1").differences.to_dict("records")  # which is no mean over cases
    assert np.isnan(row["lower"])
    assert row["verdict"] == "one fold"
    scores = split.compare("realised_cost").scores.iloc[0]
    (row,) = split.compare("realised_cost").differences.to_dict("records")
    assert row["difference"] == pytest.approx(scores["etana"] - scores["tree"])


@pytest.mark.slow
def test_curves_and_classes_of_kept_rows(split: Results) -> None:
    frame = split.instances("few", "etana", 0.05)
    found = split.decision_curve("few", "etana", 0.05, positive="malignant", thresholds=[0.3])
    paid = frame["paid"].to_numpy()
    expected = decision_curve(
        frame["truth"], frame["proba_malignant"], positive="malignant", thresholds=[0.3], price=paid, benefit=3.0
    )
    np.testing.assert_allclose(found.after_price, expected.after_price)
    assert found.benefit == 3  # what a missed malignant case costs
    assert found.upper[0] > expected.upper[0]  # corrected for what fits share
    scores = {one.label: one for one in split.class_scores("few", "etana", 0.05)}
    ill = frame["truth"] == "malignant"
    assert scores["malignant"].sensitivity == pytest.approx((frame["decision"][ill] == "malignant").mean())
    assert scores["malignant"].specificity == pytest.approx((frame["decision"][~ill] != "malignant").mean())
    assert scores["malignant"].mean_price == pytest.approx(frame["paid"][ill].mean())
    row = split.to_frame().query("method == 'etana' and price == 0.05").iloc[0]
    assert row["sensitivity"] == pytest.approx(scores["benign"].sensitivity)  # the second of two classes
    assert row["specificity"] == pytest.approx(scores["benign"].specificity)
    costs = split.compare("realised_cost", price=0.05).scores["etana"].iloc[0]
    n = [one.n_rows for one in scores.values()]
    assert np.average([one.realised_cost for one in scores.values()], weights=n) == pytest.approx(costs)
    assert costs != pytest.approx(realised_cost(frame["truth"], frame["decision"], paid))
    with pytest.raises(ValueError, match="'malign' is no class of the model; did you mean 'malignant'"):
        split.decision_curve("few", "etana", positive="malign")


@pytest.mark.slow
def test_kept_rows_without_costs_of_decisions_are_told(tmp_path: Path) -> None:
    many = 3400  # further decisions: their costs are too many to be kept
    costs = np.column_stack([5 * (1 - np.eye(3)), np.full((3, many), 4.0)])
    iris = replace(load("iris"), decision_costs=costs, decisions=tuple(f"refer to {i}" for i in range(many)))
    found = Experiment([iris], {"tree": METHODS["tree"]}, cv=HoldOut()).run(tmp_path / "old.run")
    with pytest.raises(ValueError, match="without the costs of decisions"):
        found.class_scores("iris", "tree")
    plain = Experiment(["iris"], {"tree": METHODS["tree"]}, cv=2).run(tmp_path / "plain.run")
    assert len(plain.class_scores("iris", "tree")) == 3
    assert plain.decision_curve("iris", "tree").positive == "virginica"
    of_three = plain.class_scores("iris", "tree")
    assert plain.to_frame()["sensitivity"].mean() == pytest.approx(
        np.mean([one.sensitivity for one in of_three]), abs=0.02
    )


def test_an_experiment_says_what_it_runs() -> None:
    said = "<Experiment: 'etana', 'tree' on 'iris'; prices [0.1], seeds (0,), cv 3>"
    assert repr(Experiment(["iris"], METHODS, prices=[0.1], cv=3)) == said
