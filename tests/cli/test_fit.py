"""``seqclass fit``: what it reads, what it says, what it refuses."""

from __future__ import annotations

import errno
import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass import SequentialClassifier
from seqclass.adaptive_classifier import EFFORTS, AdaptiveClassifier
from seqclass.cli import main

FIT = ("fit", "data.csv", "--target", "the label", "--drop", "id", "-o", "model.seq")
COSTS = "feature,cost,group,discounted\ncolour,0.05,lab,\nage in years,0.01,,\nsmokes,0.02,lab,0.01\nempty,0.3,,\n"


@pytest.mark.quick
def test_fit_says_what_it_learnt(folder: Path, run: Any) -> None:
    result = run(*FIT)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout.count("\n") <= 16
    for text in ("200 rows", "4 features", "3 classes (maybe, no, yes)", "colour", "0.01", "model.seq"):
        assert text in result.stdout
        assert text in (verbose := run(*FIT, "--verbose").stdout)
    assert "gap" in verbose
    assert "gap" not in result.stdout
    clf = seqclass.load("model.seq")
    assert clf.classes_.tolist() == ["maybe", "no", "yes"]
    assert clf.feature_names_in_.tolist() == ["colour", "age in years", "empty", "smokes"]


@pytest.mark.slow_cells("--max-cost 0.03-adaptive")
@pytest.mark.covering(1)
@pytest.mark.parametrize("how", ["etana", "f_etana", "etana --order adaptive", "adaptive"])
@pytest.mark.parametrize("limit", ["--max-features 1", "--max-cost 0.03"])
def test_of_no_case_more_is_asked_than_is_said(folder: Path, run: Any, how: str, limit: str) -> None:
    result = run(*FIT, "--price", "0.02", "--method", *how.split(), *limit.split())
    assert result.exit_code == 0, result.stderr
    clf, name = seqclass.load("model.seq"), limit[2:].split()[0].replace("-", "_")
    assert getattr(clf, name) == float(limit.split()[1])
    record = clf.acquire(pd.read_csv("data.csv").drop(columns=["id", "the label"]))
    assert record.n_features.max() == 1 < clf.n_features_in_


def test_the_most_that_a_case_may_cost_is_said(folder: Path, run: Any) -> None:
    told = run(*FIT, "--order", "adaptive", "--max-cost", "0.05", "--currency", "EUR").stdout
    assert "at most 4 features and 0.05 EUR a case" in " ".join(told.split())
    assert "horizon       at most 4 features and 0.05 EUR a case" in run("show", "model.seq").stdout


def test_where_nothing_may_be_asked_it_is_said(folder: Path, run: Any) -> None:
    told = [run(*FIT, "--max-cost", "0.001", *more).stdout for more in ((), ("--verbose",))]
    told += [run("show", "model.seq").stdout, run("show", "model.seq", "--card").stdout]
    assert all("Nothing is asked for: every case is decided at once." in text for text in told[:3])
    assert "It decides at once.\n\nMay be asked for: nothing." in told[3]
    assert "No feature is asked for. Costs of decisions" in told[3]
    assert not [text for text in told if "first: ;" in text or "outcomes\n\n" in text or "0 of 0" in text]


@pytest.mark.filterwarnings("default:the cheapest feature costs:UserWarning")
def test_what_to_do_about_prices_in_money_is_one_option(folder: Path, run: Any) -> None:
    assert "money; give --decision-costs, what errors cost" in run(*FIT, "--price", "20").stderr


@pytest.mark.slow
def test_a_limit_of_cost_where_visits_cost_something_needs_any_order(folder: Path, run: Any, refuses: Any) -> None:
    limit = ("--visit-cost", "0.01", "--max-cost", "0.05")
    assert "needs --order adaptive" in refuses(*FIT, *limit)
    assert run(*FIT, *limit, "--order", "adaptive").exit_code == 0
    assert run(*FIT, "--visit-cost", "0", "--max-cost", "0.05").exit_code == 0


def test_fit_json(folder: Path, run: Any) -> None:
    content = json.loads(run(*FIT, "--json").stdout)
    clf = seqclass.load("model.seq")
    assert content["n_rows"] == 200
    assert content["classes"] == clf.classes_.tolist()
    assert [f["name"] for f in content["features"]] == [clf.feature_name(j) for j in clf.order_]
    assert content["gap"] == clf.policy_.info.gap
    assert 0 < content["expected_cost"] < 1
    assert content["seconds"] > 0


def test_fit_tells_what_is_held_out(folder: Path, run: Any) -> None:
    result = run(*FIT, "--held-out", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    held = seqclass.load("model.seq").held_out_
    costs = [f"{one.cost:.4f}" for one in (held, held.deciding_at_once, held.linear)]
    for text in ("3 folds, 200 rows", "deciding at once", "linear model", *costs):
        assert text in result.stdout
        assert text in run("show", "model.seq").stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    for content in (run(*FIT, "--held-out", "3", "--json"), run("show", "model.seq", "--json")):
        told = json.loads(content.stdout)
        assert told["held_out"]["cost_interval"] == list(held.cost_interval)
        assert told["held_out"]["linear"]["difference"] == held.compare(held.linear).difference
        assert told["expected_cost"] == held.expected_cost


@pytest.mark.usefixtures("folder")
def test_show_tells_of_missing_features_that_are_paid_for(run: Any) -> None:
    costs = seqclass.Costs(charge_missing=True)
    seqclass.SequentialClassifier(feature_costs=costs).fit([[0.0], [1.0]] * 10, [0, 1] * 10).save("model.seq")
    assert "charge_missing = True" in " ".join(run("show", "model.seq").stdout.split("Settings:")[1].split())


@pytest.mark.usefixtures("folder")
def test_missing_is_an_outcome_of_few_values_too(run: Any) -> None:
    """Bins that no value falls into are left out of the table, but not what a missing answer is."""
    y = np.arange(120) % 2
    grade = np.where(np.arange(120) % 5 < 2 + y, np.nan, np.where(y, 9.0, np.arange(120) % 3))
    pd.DataFrame({"grade": grade, "y": y}).to_csv("few.csv", index=False)
    how = ["--target", "y", "--method", "etana", "--held-out", "0", "--missing", "informative", "-o", "few.seq"]
    fitted = run("fit", "few.csv", *how, "--verbose").stdout
    clf = seqclass.load("few.seq")
    values = clf.coder_.few_values(0)
    bins = {clf.coder_.code_value(0, value) for value in values}
    assert 0 < len(bins) < clf.coder_.n_value_outcomes[0]  # so that the table leaves some out
    for told in (fitted, run("show", "few.seq").stdout):
        (line,) = (line for line in told.splitlines() if line.split()[1:2] == ["grade"])
        assert line.split()[3] == str(len(bins) + 1)
        assert line.endswith("| missing")


@pytest.mark.slow
def test_five_folds_are_held_out_unless_told(folder: Path, patients: pd.DataFrame) -> None:
    patients[:60].to_csv("data.csv", index=False)
    result = CliRunner().invoke(main, [*FIT, "--method", "etana", "--json"])
    assert json.loads(result.stdout)["held_out"]["n_folds"] == 5
    result = CliRunner().invoke(main, [*FIT, "--method", "etana", "--held-out", "0", "--json"])
    assert json.loads(result.stdout)["held_out"] is None
    assert not hasattr(seqclass.load("model.seq"), "held_out_")


@pytest.mark.filterwarnings("default")
def test_what_cannot_be_held_out(folder: Path, run: Any, refuses: Any) -> None:
    """Unasked it is a warning, and the model is written all the same."""
    Path("data.csv").write_text("a,label\n1,x\n2,y\n")
    two = ("fit", "data.csv", "--target", "label", "-o", "model.seq")
    for method in ([], ["--method", "etana"]):
        result = CliRunner().invoke(main, [*two, *method])
        assert result.exit_code == 0
        assert result.stderr.startswith("Warning: there is no held-out cost: ")
        assert result.stderr.count("\n") == 1
        assert seqclass.load("model.seq").predict(pd.DataFrame({"a": [1.0]})).tolist() == ["x"]
        assert "two rows or more: give more rows" in result.stderr
    assert "two rows or more" in refuses(*two, "--held-out", "4")
    assert "--held-out must be" in refuses(*two, "--held-out", "1")


@pytest.mark.slow_cells("d.csv", "d.csv.gz", "d.tsv")
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.tsv", "d.parquet"])
def test_every_format_gives_the_same_model(folder: Path, run: Any, patients: pd.DataFrame, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
        patients.to_parquet(name)
    else:
        # with a row index, which is left out
        patients.to_csv(name, sep="\t" if "tsv" in name else ",")
    assert run(*FIT).exit_code == 0
    result = run("fit", name, *FIT[2:-1], "other.seq")
    assert result.exit_code == 0, result.stderr
    for command in (("predict", "model.seq", "data.csv"), ("predict", "other.seq", name)):
        assert run(*command).stdout == run("predict", "model.seq", "data.csv").stdout


@pytest.mark.slow
def test_arrays(folder: Path, run: Any) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    X = np.column_stack([rng.random((100, 2)), y + 0.1 * rng.random(100)])
    X[:, 0] *= X[:, 0] > 0.7
    names = np.array(["a", "b", "c"])
    np.savez("dense.npz", X=X, y=y, feature_names=names, class_names=np.array(["low", "high"]))
    csr = sp.csr_array(X)
    np.savez("sparse.npz", data=csr.data, indices=csr.indices, indptr=csr.indptr, shape=csr.shape, y=y)
    np.savez("turned.npz", X=X[:, ::-1], feature_names=names[::-1])
    pd.DataFrame(X, columns=names).to_csv("named.csv", index=False)
    assert "2 classes (high, low)" in run("fit", "dense.npz", "-o", "dense.seq").stdout
    assert "2 classes (0, 1)" in run("fit", "sparse.npz", "-o", "sparse.seq").stdout
    expected = run("predict", "dense.seq", "dense.npz").stdout
    assert expected.splitlines()[1].split(",")[0] == ["low", "high"][y[0]]
    assert run("predict", "dense.seq", "turned.npz").stdout == expected
    assert run("predict", "dense.seq", "named.csv").stdout == expected
    assert run("predict", "sparse.seq", "sparse.npz").exit_code == 0
    assert run("fit", "dense.npz", "--drop", "c", "-o", "less.seq").exit_code == 0
    assert seqclass.load("less.seq").n_features_in_ == 2


@pytest.mark.slow
def test_costs(folder: Path, run: Any) -> None:
    Path("costs.csv").write_text(COSTS)
    assert run(*FIT, "--costs", "costs.csv").exit_code == 0
    clf = seqclass.load("model.seq")
    assert clf.agent_.prices.full.tolist() == [0.05, 0.01, 0.3, 0.02]
    assert clf.agent_.prices.discounted.tolist() == [0.05, 0.01, 0.3, 0.01]
    assert clf.agent_.prices.groups.tolist() == [0, -1, -1, 0]
    Path("costs.csv").write_text("cost,feature\n0.05,colour\n1,id\n")
    assert run(*FIT, "--costs", "costs.csv", "--price", "0.5").exit_code == 0
    assert seqclass.load("model.seq").agent_.prices.full.tolist() == [0.05, 0.5, 0.5, 0.5]


@pytest.mark.slow
def test_names_of_features_in_a_table_of_prices_are_texts(run: Any, refuses: Any, tmp_path: Path) -> None:
    table = pd.DataFrame({"NA": [1, 2, 1, 3], "K": [2, 2, 3, 3], "y": list("abab")})
    table.to_csv(tmp_path / "salts.csv", index=False)
    prices, command = tmp_path / "p.csv", ("fit", tmp_path / "salts.csv", "-t", "y", "-o", tmp_path / "m.seq")
    prices.write_text("feature,cost,discounted,delay,after\nNA,0.02,,,\nK,0.1,,,\nK,0.05,,,NA\n,,,,\n")
    assert run(*command, "--costs", prices).exit_code == 0
    costs = seqclass.load(tmp_path / "m.seq").feature_costs
    assert costs.feature_costs.tolist() == [0.02, 0.1]
    assert dict(costs.prices_after) == {("K", "NA"): 0.05}
    prices.write_text("feature,cost\nNA,0.02\n,0.1\n")
    assert "p.csv: row 2 names no feature" in refuses(*command, "--costs", prices)


@pytest.mark.slow
def test_names_of_classes_in_a_table_of_costs_are_texts(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd.DataFrame({"x": [1, 2, 1, 3], "y": ["None", "ill"] * 2}).to_parquet(tmp_path / "d.parquet")
    (tmp_path / "c.csv").write_text("class,None,ill\nNone,0,1\nill,5,0\n")
    command = ("fit", tmp_path / "d.parquet", "-t", "y", "-o", tmp_path / "m.seq")
    told = run(*command, "--decision-costs", tmp_path / "c.csv")
    assert (told.exit_code, told.stderr) == (0, "")
    assert seqclass.load(tmp_path / "m.seq").decision_costs_.tolist() == [[0, 1], [5, 0]]


@pytest.mark.parametrize("corner", ["true", ""], ids=["named", "as pandas writes an index"])
def test_decision_costs(folder: Path, run: Any, corner: str) -> None:
    Path("wrong.csv").write_text(f"{corner},no,refer,yes,maybe\nyes,5,.3,0,1\nmaybe,1,.3,1,0\nno,0,.3,2,1\n")
    assert run(*FIT, "--decision-costs", "wrong.csv").exit_code == 0
    clf = seqclass.load("model.seq")
    assert clf.decisions_.tolist() == ["maybe", "no", "yes", "refer"]
    assert clf.decision_costs_.tolist() == [[0, 1, 1, 0.3], [1, 0, 2, 0.3], [1, 5, 0, 0.3]]


@pytest.mark.slow
def test_settings(folder: Path, run: Any) -> None:
    assert run(*FIT, "--published", "--seed", "3").exit_code == 0
    assert seqclass.load("model.seq").order == "error"
    assert run(*FIT, "--n-bins", "2").exit_code == 0
    clf = seqclass.load("model.seq")
    assert clf.coder_.n_outcomes_.tolist() == [3, 2, 1, 2]


@pytest.mark.slow
def test_true_and_false_are_categories(folder: Path, run: Any) -> None:
    lines = [f"{['true', 'false', ''][i % 3]},{i % 7},{'ab'[i % 2]}" for i in range(60)]
    Path("data.csv").write_text("yes no,n,label\n" + "\n".join(lines))
    assert run("fit", "data.csv", "-t", "label", "-o", "m.seq").exit_code == 0
    assert seqclass.load("m.seq").encoder_.categories_["yes no"].tolist() == ["false", "true"]
    assert run("predict", "m.seq", "data.csv").exit_code == 0


def test_labels_that_are_numbers(folder: Path, run: Any) -> None:
    Path("data.csv").write_text("a,y\n" + "".join(f"{i % 2},{9 + i % 2}\n" for i in range(20)) + "3,\n")
    assert run("fit", "data.csv", "-t", "y", "--drop-unlabelled", "-o", "m.seq").exit_code == 0
    assert seqclass.load("m.seq").classes_.tolist() == [9, 10]


WRONG = {
    "unknown target": (("--target", "the lable"), None, "did you mean 'the label'"),
    "target in other letters": (("--target", "The Label"), None, "did you mean 'the label'?"),
    "target dropped": (("--drop", "the label"), None, "is the target"),
    "unknown column to drop": (("--drop", "colr"), None, "did you mean 'colour'"),
    "id column": (("--target", "the label"), lambda f: f.assign(key=f["id"]), "--drop key"),
    "text for a number": (
        (),
        lambda f: put(f, "age in years", 4, "old"),
        "'age in years' holds numbers, but 'old' in row 5",
    ),
    "single class": ((), lambda f: f[f["the label"] == "yes"], "single class, 'yes'"),
    "missing label": ((), lambda f: put(f, "the label", 6, None), "missing label in 1 row, first in row 7"),
    "no labels": ((), lambda f: f.assign(**{"the label": None}), "missing label in 200 rows"),
    "quantity": ((), lambda f: f.assign(**{"the label": np.arange(len(f)) / 7}), "a quantity, not a class"),
    "many labels": ((), lambda f: f.assign(**{"the label": f["id"]}), "200 different labels"),
}


def put(frame: pd.DataFrame, column: str, row: int, value: object) -> pd.DataFrame:
    frame = frame.astype({column: object})
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize("case", WRONG)
def test_wrong_data(folder: Path, refuses: Any, patients: pd.DataFrame, case: str) -> None:
    arguments, change, words = WRONG[case]
    if change is not None:
        change(patients).to_csv("data.csv", index=False)
    assert words in refuses(*FIT, *arguments)
    assert not Path("model.seq").exists()


FILES = {
    "empty.csv": (b"", "is empty"),
    "blank.tsv": (b"\n\n", "is empty"),
    "dup.csv": (b"a,b,a\n1,2,3\n", "2 columns named 'a'"),
    "first.csv": (b"a,b\n1,2,3\n4,5\n", "expected 2 fields in line 2, saw 3; rows have more cells than the header"),
    "wide.csv": (b"a,b\n1,2,3\n4,5,6\n", "expected 2 fields in line 2, saw 3; rows have more cells than the header"),
    "ragged.csv": (b"a,b\n1,2\n1,2,3\n", "line 3"),
    "semicolons.csv": (b"a;b\n1;2\n", "parted by ';'"),
    "latin.csv": ("a,b\né,1\n".encode("latin-1"), "UTF-8"),
    "one.csv": (b"b\n1\n2\n", "only column"),
    "cut.csv.gz": (gzip.compress(b"a,b\n1,2\n" * 99)[:20], "cannot be read"),
    "plain.csv.gz": (b"a,b\n1,2\n", "cannot be read"),
    "bad.parquet": (b"PAR1 nothing", "no Parquet file"),
    "bad.npz": (b"nothing", "no .npz file"),
    "table.xlsx": (b"PK", "must end in .csv"),
}


@pytest.mark.parametrize("name", FILES)
def test_wrong_files(folder: Path, refuses: Any, name: str) -> None:
    content, words = FILES[name]
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    Path(name).write_bytes(content)
    message = refuses("fit", name, "--target", "b", "-o", "m.seq")
    assert words in message
    assert name in message


def test_wrong_arrays(folder: Path, refuses: Any) -> None:
    def refusal(*arguments: str, **arrays: Any) -> str:
        np.savez("a.npz", **arrays)
        return str(refuses("fit", "a.npz", "-o", "m.seq", *arguments))

    X, y = np.ones((4, 2)), np.array([0, 1, 0, 1])
    assert "needs X" in refusal(Z=X)
    assert "no array 'y'" in refusal(X=X)
    assert "one label for each of the 4 rows" in refusal(X=X, y=y[:3])
    assert "3 names for 2 features" in refusal(X=X, y=y, feature_names=np.array(["a", "b", "c"]))
    assert "named 'a'" in refusal(X=X, y=y, feature_names=np.array(["a", "a"]))
    assert "must hold numbers" in refusal(X=X.astype(str), y=y)
    assert "feature_names holds Python objects" in refusal(X=X, y=y, feature_names=np.array(["a", "b"], dtype=object))
    assert "no CSR matrix" in refusal(data=y, indices=y, indptr=y, shape=np.array([9, 1]), y=y)
    for name in ("indices", "indptr", "shape"):
        parts = {"data": y, "indices": y, "indptr": np.arange(5), "shape": np.array([4, 2])}
        for wrong in (np.full(4, np.inf), parts[name] + 0.5):
            assert f"{name} must hold whole numbers" in refusal(**parts | {name: wrong}, y=y)
    assert "rows and columns" in refusal(X=y, y=y)
    assert "no feature_names" in refusal("--drop", "x0", X=X, y=y)


WRONG_COSTS = {
    "feature,cost\ncolour,0.1\n": "no price for 'age in years'; fill it in, or give one for the rest",
    COSTS + "height,1,,\n": "'height', which is not a feature",
    COSTS + "colour,1,,\n": "'colour' a price for the second time",
    COSTS.replace("0.01,,", "-0.01,,"): "must hold numbers of at least 0, but row 2 (age in years) has '-0.01'",
    COSTS.replace("0.01,,", "cheap,,"): "must hold numbers of at least 0, but row 2 (age in years) has 'cheap'",
    COSTS.replace("0.01,,", "inf,,"): "has 'inf'",
    COSTS.replace("0.01,,", ",,"): "no price for 'age in years'",
    COSTS.replace("lab,0.01", "lab,0.5"): "above its full price",
    COSTS.replace(
        "group", "kind"
    ): "may have discounted, group, bundle, delay and after; it has 'feature', 'cost', 'kind', 'discounted'",
    "name,price\ncolour,1\n": "must have the columns feature and cost",
}


@pytest.mark.parametrize("text", WRONG_COSTS)
def test_wrong_costs(folder: Path, refuses: Any, text: str) -> None:
    Path("costs.csv").write_text(text)
    assert WRONG_COSTS[text] in refuses(*FIT, "--costs", "costs.csv")


@pytest.mark.parametrize(
    "text, words",
    [
        ("c,yes,no\nyes,0,1\nno,1,0\n", "no row for class 'maybe'"),
        ("c,yes,no\nyes,0,1\nno,1,0\nmaybe,1,1\n", "no column for class 'maybe'"),
        ("c,yes,no,maybe\nyes,0,1,1\nno,1,0,a\nmaybe,1,1,0\n", "row 2 (no) has 'a'"),
        ("c,yes,no,maybe\nyes,0,1,1\nno,1,0,1\nmaybe,1,1,0\nother,1,1,1\n", "'other' is no class"),
    ],
)
def test_wrong_decision_costs(folder: Path, refuses: Any, text: str, words: str) -> None:
    Path("wrong.csv").write_text(text)
    assert words in refuses(*FIT, "--decision-costs", "wrong.csv")


def test_what_is_not_listed_is_told_of(folder: Path, run: Any, patients: pd.DataFrame) -> None:
    said = run(*FIT).stdout
    assert "more (seqclass show" not in said
    more = {f"more {j}": np.random.default_rng(j).integers(0, 5, len(patients)) for j in range(5)}
    patients.assign(**more).to_csv("wide.csv", index=False)
    said = run(*("wide.csv" if text == "data.csv" else text for text in FIT), "--verbose").stdout
    assert "\n  ... and 1 more (seqclass show model.seq --all)\n" in said


def test_outputs_are_checked_before_the_work(folder: Path, refuses: Any) -> None:
    assert "no folder nowhere" in refuses(*FIT[:-1], "nowhere/model.seq")
    assert "is a folder" in refuses(*FIT[:-1], ".")
    assert "there is no file" in refuses("fit", "missing.csv", *FIT[2:])
    assert "--target" in refuses("fit", "data.csv", "-o", "model.seq")


def test_parquet_without_pyarrow(folder: Path, refuses: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("d.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'seqclass[parquet]'" in refuses("fit", "d.parquet", "--target", "a", "-o", "m.seq")


@pytest.mark.slow
def test_fit_ifc2f(folder: Path, run: Any) -> None:
    result = run(*FIT, "--method", "ifc2f", "--n-bins", "sparsity")
    assert result.exit_code == 0, result.stderr
    clf = seqclass.load("model.seq")
    assert type(clf.observation_model).__name__ == "TreeNetwork"
    assert clf.discretizer.n_bins == "sparsity"
    assert run("predict", "model.seq", "data.csv").exit_code == 0
    assert run("explain", "model.seq", "data.csv").exit_code == 0
    result = run(*FIT, "--n-bins", "many")
    assert result.exit_code != 0
    assert "'sparsity'" in result.stderr


def test_any_question_next_and_bundles(folder: Path, run: Any, refuses: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([y + rng.random(200), y + 2 * rng.random(200), rng.random(200)])
    np.savez("b.npz", X=X, y=y)
    Path("prices.csv").write_text("feature,cost,bundle\nx0,0.02,both\nx1,0.02,both\nx2,0.01,\n")
    result = run("fit", "b.npz", "-o", "b.seq", "--order", "adaptive", "--costs", "prices.csv", "--verbose")
    assert "best policy for this model, in any order" in result.stdout
    short = run("fit", "b.npz", "-o", "b.seq", "--order", "adaptive", "--costs", "prices.csv", "--held-out", "0").stdout
    assert "what tells most for its price first: both, x2; at most" in " ".join(short.split())
    assert "with both" in result.stdout
    clf = seqclass.load("b.seq")
    assert clf.problem_.any_order
    assert clf.problem_.n_questions == 2
    assert clf.ordering_ is not None
    assert "any of which may come next" in run("show", "b.seq").stdout
    for wrong in (["--published"], ["--method", "f_etana"]):
        assert "--order adaptive" in refuses("fit", "b.npz", "-o", "c.seq", "--order", "adaptive", *wrong)


@pytest.mark.slow
@pytest.mark.usefixtures("few_ways")
def test_fit_chooses_how_to_learn(folder: Path, run: Any, refuses: Any, patients: pd.DataFrame) -> None:
    patients.head(90).to_csv("data.csv", index=False)
    adaptive = (*FIT, "--method", "adaptive", "--effort", "quick", "--held-out", "3")
    result = run(*adaptive)
    assert result.exit_code == 0, result.stderr
    clf = seqclass.load("model.seq")
    assert isinstance(clf, AdaptiveClassifier)
    assert clf.effort == "quick"
    shown = run("show", "model.seq").stdout
    assert f"Chosen: {clf.choice_.chosen}." in " ".join(result.stdout.split())
    assert "tried on rows" not in result.stdout
    assert f"{clf.held_out_.cost:.4f}" in result.stdout
    assert str(clf.choice_) in shown
    assert f"{clf.held_out_.cost:.4f}" in shown
    tried = json.loads(run("show", "model.seq", "--json").stdout)["choice"]
    assert [row["cost"] for row in tried] == [c.cost for c in clf.choice_.candidates]
    assert [row["name"] for row in tried if row["chosen"]] == [clf.choice_.chosen]
    assert run("predict", "model.seq", "data.csv").exit_code == 0
    assert "--effort is for --method adaptive" in refuses(*FIT, "--effort", "quick")
    assert "--jobs is for --method adaptive" in refuses(*FIT, "--jobs", "2")
    assert "--jobs must not be 0" in refuses(*adaptive, "--jobs", "0")
    default = CliRunner().invoke(main, [*FIT, "--seed", "0", "--verbose"])
    assert str(clf.choice_).splitlines()[0] in default.stdout
    assert seqclass.load("model.seq").choice_.chosen == clf.choice_.chosen
    one_order = CliRunner().invoke(main, [*FIT, "--n-bins", "3", "--held-out", "0"])
    assert "tried on rows" not in one_order.stdout
    assert type(seqclass.load("model.seq")) is seqclass.SequentialClassifier
    for option in (["--published"], ["--order", "adaptive"], ["--n-bins", "3"]):
        refuses(f"{option[0]} is not for --method adaptive", *adaptive, *option)


@pytest.mark.slow
def test_missing_cells_may_be_answers(folder: Path, patients: pd.DataFrame, run: Any) -> None:
    names = sorted(patients["the label"].unique())
    rng = np.random.default_rng(0)
    numbers = [name for name in patients if name != "the label" and patients[name].dtype.kind == "f"]
    gone = (rng.random((len(patients), len(numbers))) < 0.8) & (patients["the label"] == names[0]).to_numpy()[:, None]
    gaps = patients.copy()
    gaps[numbers] = gaps[numbers].mask(gone)
    gaps.to_csv("gaps.csv", index=False)
    how = ["--target", "the label", "--drop", "id", "--method", "etana", "--held-out", "0", "-o", "gaps.seq"]
    fitted = run("fit", "gaps.csv", *how, "--missing", "informative")
    assert fitted.exit_code == 0
    assert fitted.stdout.endswith("seqclass ask gaps.seq, or seqclass predict gaps.seq NEW.csv\n")
    clf = seqclass.load("gaps.seq")
    assert clf.missing == "informative"
    told = json.loads(run("show", "gaps.seq", "--json").stdout)
    lacking = [one for one in told["features"] if one["name"] in numbers]
    assert lacking
    assert all(one["outcomes"][-1] == "missing" for one in lacking)
    assert all(one["outcomes"][one["missing"]] == "missing" for one in lacking)
    asked = run("ask", "gaps.seq", answers="?\n" * 20)
    assert asked.exit_code == 0
    assert f"decision: {names[0]}" in asked.stdout.lower() or names[0] in asked.stdout.splitlines()[-1]
    assert run("explain", "gaps.seq", "gaps.csv").exit_code == 0
    known = run("ask", "gaps.seq", "--known", f"{lacking[0]['name']}=?", answers="quit\n").stdout
    assert f"{lacking[0]['name']} = missing (counts as an answer)" in known
    assert "at a price of 0;" in known
    refused = run("fit", "gaps.csv", *how, "--missing", "mean")
    assert refused.exit_code == 2


@pytest.mark.slow
def test_advice_names_options(folder: Path, run: Any) -> None:
    """Whoever works on the command line has no settings of Python."""
    frame = load_breast_cancer(as_frame=True).frame.iloc[:400]
    frame.to_csv("tumours.csv", index=False)
    said = run(
        "fit", "tumours.csv", "--target", "target", "--method", "etana", "--held-out", "5", "-o", "tumours.seq"
    ).stdout
    assert "too sure of itself" in " ".join(said.split())
    advice = " ".join(said.partition("Worth trying")[2].partition("\n\n")[0].split())
    assert "--calibrate; --method ifc2f, which" in advice
    assert "=" not in advice


@pytest.mark.slow
def test_no_line_is_too_long_for_a_terminal(folder: Path, run: Any) -> None:
    """But for rows of tables, which stay whole."""
    results = [run(*FIT, "--method", "adaptive"), run("show", "model.seq")]
    results.append(run("predict", "model.seq", "data.csv", "-o", "decisions.csv"))
    for result in results:
        assert result.exit_code == 0, result.stderr
        assert [line for line in result.stdout.splitlines() if len(line) > 106] == []


@pytest.mark.covering(0)
@pytest.mark.parametrize("name", ["aside.csv", "aside.tsv.gz", "aside.parquet"])
def test_half_of_the_rows_is_set_aside(name: str, patients: pd.DataFrame, folder: Path, run: Any) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    patients.to_csv("table.csv", sep=";", decimal=",", index=False)
    how = ("--target", "the label", "--drop", "id", "--sep", ";", "--decimal", ",")
    result = run("fit", "table.csv", *how, "--method", "etana", "-o", "half.seq", "--set-aside", name)
    assert (result.exit_code, result.stderr) == (0, "")
    n = len(patients) // 2
    assert result.stdout.endswith(f"Set aside {n} rows in {name}, for seqclass evaluate or certify.\n")
    model = seqclass.load("half.seq")
    if name.endswith("parquet"):
        aside = pd.read_parquet(name)
    else:
        aside = pd.read_csv(name, sep=";", decimal=",")
    # what was dropped is there, in the rows that it is of: it names them, and groups that are compared
    assert sorted(aside.columns) == sorted(patients.columns)
    assert model.feature_names_in_.tolist() == [name for name in patients if name not in {"id", "the label"}]
    own = patients.set_index("id").loc[aside["id"].tolist()]
    assert np.allclose(own["age in years"], aside["age in years"], equal_nan=True)
    counts = patients["the label"].value_counts()
    put_aside = aside["the label"].value_counts()
    assert len(aside) == n
    assert ((counts - 2 * put_aside).abs() <= 1).all()
    assert (model.model_.class_count_ == (counts - put_aside)[model.classes_]).all()
    # each row of the file is one of the table, and none is there twice
    ages, found = (Counter(frame["age in years"].dropna().round(2)) for frame in (patients, aside))
    assert found <= ages
    assert run("evaluate", "half.seq", name, *how[:2], *how[4:], "--groups", "id").exit_code == 0
    again = Path(name).read_bytes() if name.endswith("csv") else None
    run("fit", "table.csv", *how, "--method", "etana", "-o", "half.seq", "--set-aside", name)
    assert again is None or Path(name).read_bytes() == again


def test_a_table_of_which_rows_are_set_aside_is_read_once(
    patients: pd.DataFrame, folder: Path, run: Any, refuses: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients.to_csv("table.csv", index=False)
    how = ("fit", "table.csv", "--target", "the label", "--method", "etana", "-o", "half.seq")
    read, times = pd.read_csv, list[int]()

    def counted(*args: Any, **settings: Any) -> Any:
        times.append(1)
        return read(*args, **settings)

    monkeypatch.setattr(pd, "read_csv", counted)
    assert run(*how, "--drop", "id").exit_code == 0
    once = len(times)
    assert run(*how, "--drop", "id", "--set-aside", "aside.csv").exit_code == 0
    assert len(times) == 2 * once
    assert "--drop: table.csv has no column 'no'" in refuses(*how, "--drop", "no", "--set-aside", "aside.csv")
    assert "is the target" in refuses(*how, "--drop", "the label", "--set-aside", "aside.csv")


@pytest.mark.slow
def test_a_model_and_the_rows_set_aside_are_written_both_or_not_at_all(
    patients: pd.DataFrame, folder: Path, refuses: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    patients.to_csv("table.csv", index=False)
    Path("half.seq").write_text("old")
    fit = ("fit", "table.csv", "--target", "the label", "--method", "etana", "--held-out", "0", "--drop", "id")
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    for owner, name in ((pd.DataFrame, "to_csv"), (SequentialClassifier, "save")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, full)
            assert "No space left" in refuses(*fit, "-o", "half.seq", "--set-aside", "aside.csv")
    assert sorted(path.name for path in Path().iterdir()) == ["data.csv", "half.seq", "table.csv"]
    assert Path("half.seq").read_text() == "old"


def test_what_cannot_be_set_aside_is_refused(patients: pd.DataFrame, folder: Path, refuses: Any) -> None:
    patients.drop(columns="id").to_csv("table.csv", index=False)
    fit = ("fit", "table.csv", "--target", "the label", "--method", "etana")
    assert "half.seq is written, too" in refuses(*fit, "-o", "half.seq", "--set-aside", "half.seq")
    assert "table.csv is read" in refuses(*fit, "-o", "half.seq", "--set-aside", "table.csv")
    assert "must end in .csv, .tsv or .parquet" in refuses(*fit, "-o", "half.seq", "--set-aside", "aside.npz")
    patients.drop(columns="id").assign(**{"the label": ["once", *["no", "yes"] * 99, "no"]}).to_csv(
        "table.csv", index=False
    )
    assert "class 'once' has one row only" in refuses(*fit, "-o", "half.seq", "--set-aside", "aside.csv")
    assert not Path("half.seq").exists()
    assert not Path("aside.csv").exists()


def test_errors_about_a_setting_name_its_option(folder: Path, refuses: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its name in Python is a word of English."""
    others = {name: effort for name, effort in EFFORTS.items() if name != "quick"}
    monkeypatch.setattr("seqclass.adaptive_classifier.EFFORTS", others)
    assert " --effort must be one of 'thorough'" in refuses(*FIT, "--method", "adaptive", "--effort", "quick")
