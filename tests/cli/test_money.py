"""Where decisions cost money, no text counts in wrong decisions; where a wrong one costs 1, fits and plans do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

UNIT = "units of misclassification cost"
PAGE = "Prices and costs are in units of"
_NETWORK = """network n {}
variable label { type discrete [ 2 ] { no, yes }; }
variable test { type discrete [ 2 ] { neg, pos }; }
probability ( label ) { table 0.5, 0.5; }
probability ( test | label ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }
"""


def told_first(page: str) -> str:
    """The head of a page; all its words, said or not, are in it further down."""
    return Path(page).read_text(encoding="utf-8").split("</header>")[0]


@pytest.mark.parametrize("money", [True, False], ids=["money", "errors"])
def test_texts_of_the_commands(folder: Path, run: Any, money: bool) -> None:
    Path("net.bif").write_text(_NETWORK)
    Path("euros.csv").write_text("true,maybe,no,yes\nmaybe,0,90,90\nno,40,0,40\nyes,900,900,0\n")
    Path("two.csv").write_text("true,no,yes\nno,0,40\nyes,900,0\n")
    costs = (["--decision-costs", "euros.csv"], ["--decision-costs", "two.csv"]) if money else ([], [])
    told = [
        run("fit", "data.csv", "--target", "the label", "--drop", "id", *costs[0], "-o", "m.seq"),
        run("plan", "net.bif", "--target", "label", "--price", "0.01", *costs[1], "-o", "p.seq"),
    ]
    rest = [run("show", "m.seq"), run("explain", "m.seq", "data.csv"), run("evaluate", "m.seq", "data.csv")]
    assert {result.exit_code for result in (*told, *rest)} == {0}
    assert [UNIT in " ".join(result.output.split()) for result in told] == [not money] * 2
    priced = run("plan", "net.bif", "--target", "label", *costs[1], "--currency", "EUR", "-o", "p.seq")
    assert ("in EUR, where an error costs 1 EUR." in " ".join(priced.output.split())) is not money
    assert [result.output for result in rest if "misclassification" in result.output] == []
    assert run("export", "m.seq", "-o", "page.html").exit_code == 0
    assert (PAGE in told_first("page.html")) is not money


@pytest.mark.slow
def test_what_money_is_counted_in_is_said_everywhere(folder: Path, run: Any) -> None:
    """Kept in the model, and said anew for one command; wherever it is, no text counts in wrong decisions."""
    Path("net.bif").write_text(_NETWORK)
    fit = ["fit", "data.csv", "--target", "the label", "--drop", "id"]
    told = {
        "fit": run(*fit, "--currency", "EUR", "-o", "m.seq").output,
        "plan": run("plan", "net.bif", "--target", "label", "--currency", "EUR", "-o", "p.seq").output,
        **{name: run(name, "m.seq", "data.csv").output for name in ("explain", "evaluate")},
        "show": run("show", "m.seq").output,
        "predict": run("predict", "m.seq", "data.csv", "-o", "decided.csv").output,
        "ask": run("ask", "m.seq", answers="best\n?\n").output,
    }
    assert {name for name, text in told.items() if " EUR" not in text} == set()
    assert {name for name, text in told.items() if "misclassification" in text} == set()
    for name in ("fit", "plan"):  # nobody said what errors cost
        assert "in EUR, where an error costs 1 EUR." in " ".join(told[name].split())
    again = {"explain": run("explain", "m.seq", "data.csv", "--currency", "Fr.").output}
    again["ask"] = run("ask", "m.seq", "--currency", "Fr.", answers="").output
    for name, text in again.items():
        assert " Fr." in text, name
        assert "EUR" not in text, name
    for given, unit in (([], "EUR"), (["--currency", "Fr."], "Fr.")):
        assert run("export", "m.seq", "-o", "page.html", *given).exit_code == 0
        assert f"Prices and costs are in {unit}." in told_first("page.html")
        assert PAGE not in told_first("page.html")


def test_a_unit_is_a_text_of_one_line(folder: Path, model: str, refuses: Any) -> None:
    for wrong in ("", "  ", "E\nUR", "\x1b[31m"):
        assert "no unit" in refuses("explain", model, "data.csv", "--currency", wrong)


@pytest.mark.parametrize("name", ["fit", "plan", "show", "explain", "evaluate", "predict", "ask"])
def test_help_is_true_both_ways(run: Any, name: str) -> None:
    assert UNIT not in " ".join(run(name, "--help").output.split())


@pytest.mark.slow_cells("1000-2")
@pytest.mark.parametrize(("scale", "places"), [(1, 4), (1000, 2)])
def test_large_costs_have_the_decimals_of_money(folder: Path, run: Any, scale: int, places: int) -> None:
    Path("costs.csv").write_text(
        f"true,maybe,no,yes\nmaybe,0,{scale},{scale}\nno,{scale},0,{scale}\nyes,{scale},{scale},0\n"
    )
    rows = pd.read_csv("data.csv").assign(clinic=lambda frame: ["north", "south"] * (len(frame) // 2))
    rows.to_csv("data.csv", index=False)
    fitted = run(
        *("fit", "data.csv", "--target", "the label", "--drop", "id", "--drop", "clinic", "--price", str(scale / 100)),
        *("--decision-costs", "costs.csv", "-o", "m.seq"),
    )
    assert fitted.exit_code == 0, fitted.output
    told = run("evaluate", "m.seq", "data.csv", "--groups", "clinic").output
    costs = re.findall(r"(?:realised cost|north +\d+) +([\d.]+) \(", told)
    assert [len(cost.partition(".")[2]) for cost in costs] == [places, places], told
