"""Tables as other countries write them: --sep and --decimal, of every command that reads any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import datasets

FORM = ("--sep", ";", "--decimal", ",")


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a table, prices and costs of decisions in both ways."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.choice(["ill", "well"], 160)
    age = (rng.normal(50, 6, 160) + 12 * (y == "ill")).round(1)
    frame = pd.DataFrame({"age": age, "sex": rng.choice(["F", "M"], 160), "y": y})
    costs = pd.DataFrame({"feature": ["age", "sex"], "cost": [0.025, 0.5]})
    decisions = pd.DataFrame({"": ["ill", "well"], "ill": [0, 0.5], "well": [2.5, 0]})
    for name, table in (("d", frame), ("d.costs", costs), ("decisions", decisions)):
        table.to_csv(f"{name}.csv", index=False, sep=";", decimal=",")
        table.to_csv(f"plain-{name}.csv", index=False)
    return tmp_path


FIT = ("--target", "y", "--method", "etana", "--json")


@pytest.mark.slow
def test_every_command_reads_them(german: Path, run: Any) -> None:
    outputs = []
    for before, form in (("", FORM), ("plain-", ())):
        data, costs, decisions = f"{before}d.csv", f"{before}d.costs.csv", f"{before}decisions.csv"
        model, out = f"{before}m.seq", []

        def done(*arguments: str, form: Any = form) -> str:
            result = run(*arguments, *form)
            assert result.exit_code in (0, 3), result.output
            return str(result.stdout)

        done("fit", data, *FIT, "--costs", costs, "--decision-costs", decisions, "-o", model)
        out.append(done("predict", model, data, "-o", f"{before}out.csv", "--json").split('"seconds"')[0])
        out.append((german / f"{before}out.csv").read_text(encoding="utf-8"))
        out.append(done("evaluate", model, data, "--costs", costs, "--decision-costs", decisions, "--json"))
        out.append(done("explain", model, data, "--row", "3", "--json"))
        certified = json.loads(
            done("certify", model, data, "--target", "y", "--allow-seen", "--alpha", "0.4", "--json")
        )
        out.append({key: value for key, value in certified.items() if key not in ("seconds", "output")})
        told = done(
            "compare", data, "-m", "etana", "--target", "y", "--folds", "2", "--costs", costs, "-o", f"{before}r.db"
        )
        out.append(told.splitlines()[1].split()[-7:])
        outputs.append(out)
    for ours, plain in zip(*outputs, strict=True):
        assert ours == plain
    assert seqclass.load("m.seq").agent_.prices.full.tolist() == [0.025, 0.5]
    assert seqclass.load("m.seq").decision_costs_.tolist() == [[0.0, 2.5], [0.5, 0.0]]


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("labels, classes", [((1.0, 2.0), [1, 2]), ((0.5, 1.5), ["0.5", "1.5"])])
def test_labels_are_numbers_as_columns_are(labels: tuple[float, float], classes: list[Any], run: Any) -> None:
    frame = pd.read_csv("plain-d.csv").assign(y=lambda frame: np.where(frame["y"] == "ill", *labels))
    frame.to_csv("numbers.csv", index=False, sep=";", decimal=",")
    assert run("fit", "numbers.csv", *FIT, "-o", "m.seq", *FORM).exit_code == 0
    assert seqclass.load("m.seq").classes_.tolist() == classes
    told = json.loads(run("evaluate", "m.seq", "numbers.csv", "--json", *FORM).stdout)
    assert told["accuracy"] > 0.8
    frame.iloc[::2].to_csv("plain-numbers.csv", index=False)  # however the file is written
    assert json.loads(run("evaluate", "m.seq", "plain-numbers.csv", "--json").stdout)["accuracy"] > 0.8
    loaded = datasets.load("numbers.csv", target="y", sep=";", decimal=",")
    assert loaded.class_names == tuple(map(str, classes))


@pytest.mark.filterwarnings("default:column 'age':UserWarning")
def test_what_is_read_otherwise_is_told(german: Path, run: Any, refuses: Any) -> None:
    assert "read it with --sep ';', or save" in refuses("fit", "d.csv", *FIT, "-o", "m.seq")
    result = run("fit", "d.csv", *FIT, "-o", "m.seq", *FORM)
    assert result.exit_code == 0
    assert result.stderr == ""
    message = refuses("predict", "m.seq", "d.csv", "--sep", ";")
    assert "column 'age' must hold numbers, but row 1 has '" in message
    assert message.rstrip().endswith("Read the table with --decimal ,.")
    whole = pd.read_csv("plain-d.csv").assign(age=lambda frame: frame["age"].round().map("{:.0f},0".format))
    whole.to_csv("quoted.csv", index=False)
    result = run("fit", "quoted.csv", *FIT, "-o", "m.seq")
    assert result.exit_code == 0
    assert result.stderr.count("Warning") == 1
    assert "column 'age': texts such as '" in result.stderr
    result = run("fit", "quoted.csv", *FIT, "-o", "m.seq", "--decimal", ",")
    assert (result.exit_code, result.stderr) == (0, "")
    many = pd.read_csv("plain-d.csv").assign(age=lambda frame: [f"{i},5" for i in range(len(frame))])
    many.to_csv("many.csv", index=False)
    message = refuses("fit", "many.csv", *FIT, "-o", "m.seq")
    assert (
        "column 'age' has 160 different texts in 160 rows. Are they numbers? Read the table with --decimal ,."
        in message
    )
    assert "--drop" not in message


def test_signs_that_part_columns(german: Path, run: Any, refuses: Any) -> None:
    pd.read_csv("plain-d.csv").to_csv("tabs.csv", index=False, sep="\t")
    assert run("fit", "tabs.csv", *FIT, "-o", "m.seq", "--sep", "\\t").exit_code == 0
    for sign in ("", ";;", '"', "\N{MIDDLE DOT}"):
        assert "sep must be one sign, such as ';'" in refuses("fit", "d.csv", *FIT, "-o", "m.seq", "--sep", sign)


def test_in_python(german: Path) -> None:
    ours, plain = (
        datasets.load("d.csv", sep=";", decimal=",", target="y"),
        datasets.load("plain-d.csv", target="y"),
    )
    pd.testing.assert_frame_equal(ours.X, plain.X)
    assert ours.feature_costs.tolist() == plain.feature_costs.tolist() == [0.025, 0.5]
    with pytest.raises(ValueError, match=r"decimal must be '.' or ','"):
        datasets.load("d.csv", decimal=";")


@pytest.mark.parametrize("price", ["inf", "nan"])
def test_prices_that_are_no_numbers(german: Path, refuses: Any, price: str) -> None:
    message = refuses("fit", "plain-d.csv", *FIT, "-o", "m.seq", "--price", price)
    assert f"Invalid value for '--price': {price} is not a finite number." in message
    assert "d.csv" not in message
    message = refuses("compare", "iris", "--price", price, "-o", "r.db")
    assert f"Invalid value for '--price': {price} is not a finite number." in message
