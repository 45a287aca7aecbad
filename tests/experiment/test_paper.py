"""Tables for a paper: their figures are those of the summary, and they are written so that they can be read."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from run_files import write_cells

from seqclass.experiment import Experiment, Results
from seqclass.plots import CostPlaneDisplay
from seqclass.stats import mean_interval

METHODS = ("a_b & c|d", "50% {x}", r"\input{~}")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Two sets, three methods with names that mean something to some program, two prices, three folds."""
    rng = np.random.default_rng(0)
    cells = []
    for data in ("wine_1", "iris"):
        for price in (0.01, 0.5):
            for i, method in enumerate(METHODS):
                for fold in range(3):
                    labels = {"data": data, "method": method, "price": price, "seed": 0, "fold": fold}
                    cost = [0.1, 0.1, 0.3][i] + (0.01 * rng.random() if i == 2 else 0.01 * fold)
                    figures = {"realised_cost": cost, "paid_mean": price, "error": "", "n_train": 20, "n_test": 10}
                    cells.append((labels, figures))
    write_cells(tmp_path / "a.run", cells)
    monkeypatch.setattr(Results, "settings", lambda self, key: {})  # which these cells have not
    return Results.load(tmp_path / "a.run", unit="EUR")


def body(table: str) -> list[list[str]]:
    """Cells of a table in Markdown, without its rule."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for i, row in enumerate(rows) if i != 1]


def test_a_table_has_the_figures_of_the_summary(results: Results) -> None:
    table = results.table()
    head, *rows = body(table)
    assert head == ["data set", "price", r"a\_b & c\|d", "50% {x}", r"\\input{\~}"]
    assert [row[:2] for row in rows] == [[d, p] for d in (r"wine\_1", "iris") for p in ("0.01", "0.5")]
    summary = results.summary().set_index(["data", "price", "method"])
    for row, (data, price) in zip(rows, [(d, p) for d in ("wine_1", "iris") for p in (0.01, 0.5)]):
        for cell, method in zip(row[2:], METHODS):
            m = summary.loc[(data, price, method)]
            lower, upper = m["realised_cost_lower"], m["realised_cost_upper"]
            bold = "**" if method != METHODS[2] else ""  # the two that are written alike
            assert cell == f"{bold}{m['realised_cost']:.3f}{bold} [{lower:.3f}, {upper:.3f}]"
    assert "realised cost in EUR: means over the folds of all seeds, in brackets 95% intervals: over folds" in table


@pytest.mark.slow
def test_the_note_says_what_intervals_are(tmp_path: Path) -> None:
    """As `summary` makes them: `mean_interval` with bounds over folds, or over rows where these are kept and wider."""
    kept = Experiment(["iris", "wine"], ["sklearn:GaussianNB"], cv=2).run(tmp_path / "kept.run")
    bare = Experiment(["iris", "wine"], ["sklearn:GaussianNB"], cv=2).run(tmp_path / "bare.run", keep_instances=0)
    folds = "in brackets 95% intervals: over folds, corrected for the training rows that these share"
    cost, share = (f"Wilson's, which stay {at} and are not symmetric." for at in ("at 0 or above", "within 0 and 1"))
    assert f"{folds}, or over rows where that is wider; {cost} Bold" in kept.table()
    assert f"{folds}; {cost} Bold" in bare.table()
    assert f"{folds}; {share} Bold" in kept.table("macro_f1")
    assert f"in brackets 95% intervals: over data sets; {share} Bold" in kept.table("accuracy", rows="price")
    assert f"in brackets 95% intervals: over rows; {share} Bold" in kept.table("accuracy", rows=["dataset", "fold"])
    assert "interval" not in kept.table(interval=False)


def test_what_is_pooled_is_said(results: Results) -> None:
    table = results.table("paid_mean", "price", "method", interval=False, best=None, decimals=1)
    assert body(table)[1:] == [["0.01", "0.0", "0.0", "0.0"], ["0.5", "0.5", "0.5", "0.5"]]
    assert table.endswith("means over 2 data sets, each of which counts once and the folds of all seeds.")
    head = body(results.table(columns=["method", "price"]))[0]
    assert head[1:3] == [r"a\_b & c\|d, price 0.01", r"a\_b & c\|d, price 0.5"]
    assert body(results.table(price=0.5, rows="data"))[0][:2] == ["data set", r"a\_b & c\|d"]


def test_latex_can_be_set(results: Results) -> None:
    """No LaTeX is needed to see that braces close, rows are as wide as the table, and no sign is left to mean more."""
    table = results.table(to="latex")
    assert table.count(r"\begin{") == table.count(r"\end{") == 1
    (form,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", table)
    inside = table.partition(r"\toprule")[2].partition(r"\bottomrule")[0].replace(r"\midrule", "")
    rows = [row for row in inside.split("\\\\\n") if row.strip()]
    assert len(rows) == 5
    assert all(len(re.findall(r"(?<!\\)&", row)) == len(form) - 1 == 4 for row in rows)
    plain = re.sub(r"\\[&%$#_{}]", "", table.partition("\n")[2])
    assert re.findall(r"[$#_~^%]", plain) == []
    depth = 0
    for sign in plain:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    known = {"begin", "end", "toprule", "midrule", "bottomrule", "textbf", "scriptsize", "par", "smallskip"}
    assert set(re.findall(r"\\([a-z]+)", plain)) <= known | {
        "footnotesize",
        "textbackslash",
        "textasciitilde",
        "textbar",
    }
    assert not re.search(r"\\\\\s*\[", table)  # which would be a distance between rows


def test_html_is_whole(results: Results) -> None:
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    table = results.table(to="html")
    Reader().feed(table)
    assert opened == []
    assert "a_b &amp; c|d" in table


def test_what_a_table_refuses(results: Results) -> None:
    for wrong, settings in {
        "there is no 'x'": {"metric": "x"},
        "rows: there is no 'sets'": {"rows": "sets"},
        "must differ": {"rows": "method"},
        "to must be": {"to": "word"},
        "best must be": {"best": "star"},
        "the run has no price": {"price": 7.0},
    }.items():
        with pytest.raises(ValueError, match=wrong):
            results.table(**settings)


@pytest.mark.slow
def test_intervals_are_over_rows_as_well(tmp_path: Path) -> None:
    one = Experiment(["iris"], ["sklearn:GaussianNB"], cv=2, seeds=[0]).run(tmp_path / "a.run")
    split = Results(one.path, one.to_frame().index[:1].tolist())
    row, right = split.summary().iloc[0], split.instances()
    expected = mean_interval((right["truth"] == right["decision"]).to_numpy(float), bounds=(0, 1))
    assert [row["accuracy_lower"], row["accuracy_upper"]] == pytest.approx([expected.lower, expected.upper])
    assert row["accuracy_se"] == pytest.approx(expected.standard_error)
    assert np.isnan(row["paid_mean_lower"])  # all rows pay the same, which says nothing of others
    both, folds = one.summary().iloc[0], mean_interval(one.to_frame()["accuracy"], test_to_train=1, bounds=(0, 1))
    assert both["accuracy_lower"] <= folds.lower
    assert both["accuracy_upper"] >= folds.upper


def test_prices_that_are_factors_are_called_so(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = [["feature_costs", {"mapping": [["a", 1.0]]}]]
    monkeypatch.setattr(Results, "settings", lambda self, key: {"costs": {"mapping": costs}})
    assert body(results.table())[0][:2] == ["data set", "price factor"]


def test_units_of_the_frame(results: Results) -> None:
    units = results.to_frame().attrs["units"]
    assert units["realised_cost"] == units["lower"] == "EUR"
    assert (units["seconds_fit"], units["peak_mb"]) == ("seconds", "MB")
    assert "accuracy" not in units


def test_the_plot_has_all_sets_and_their_mean(results: Results) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    display = results.plot()
    assert [ax.get_title() for ax in display.ax_] == ["wine_1", "iris", "all data sets"]
    summary = results.summary().groupby(["method", "price"])[["realised_cost", "paid_mean"]].mean()
    line = next(line for line in display.ax_[2].lines if line.get_label() == METHODS[2])
    mean = summary.loc[METHODS[2]]
    np.testing.assert_allclose(line.get_xdata(), mean["paid_mean"])
    np.testing.assert_allclose(line.get_ydata(), mean["realised_cost"] - mean["paid_mean"])
    slanting = [one for one in display.ax_[0].lines if one.get_label().startswith("_")]
    assert slanting
    assert all(sum(x) == sum(y) and x[0] == 0 == y[1] for x, y in (one.get_data() for one in slanting))
    plt.close(display.figure_)


def test_intervals_below_take_less_width(results: Results) -> None:
    beside, below = results.table(to="latex", price=0.5), results.table(to="latex", price=0.5, interval="below")
    assert below.count(r"\shortstack[r]{") == 6
    assert below.count(r"\tabcolsep") == 1
    figures = re.sub(r"\\shortstack\[r\]\{(.*?)\\\\(\{\\scriptsize .*?\]\})\}", r"\1 \2", below)
    assert figures.replace("{\\setlength{\\tabcolsep}{3pt}%\n", "").replace("tabular}}", "tabular}") == beside
    assert "<br>[" in results.table(interval="below")
    with pytest.raises(ValueError, match="interval must be"):
        results.table(interval="under")


def test_standard_errors_in_place_of_intervals(results: Results) -> None:
    cells = results.to_frame().query("data == 'iris' and price == 0.5 and method == @METHODS[0]")
    error = mean_interval(cells["realised_cost"], test_to_train=1 / 2).standard_error
    table = results.table(interval="error", price=0.5, decimals=5)
    assert f"{cells['realised_cost'].mean():.5f} \N{PLUS-MINUS SIGN} {error:.5f}" in table.replace("**", "")
    assert table.endswith(
        "standard errors: over folds, corrected for the training rows that these share. Bold: the best."
    )
    assert r" {\scriptsize $\pm$ 0." in results.table(interval="error", to="latex")


@pytest.mark.parametrize("width", [None, 3.5])
def test_no_label_of_a_price_lies_on_another(width: float | None) -> None:
    prices = np.array([0.001, 0.003, 0.01, 0.03])
    rows = [
        {"data": "one", "method": str(i), "price": price, "paid_mean": n * price, "realised_cost": n * price + wrong}
        for i, (n, wrong) in enumerate([(30, 0.06), (30, 0.061), (2, 0.04), (1.5, 0.041)])
        for price in prices
    ]
    display = CostPlaneDisplay(pd.DataFrame(rows), width=width).plot()
    display.figure_.draw_without_rendering()
    (ax,) = display.ax_
    boxes = [label.get_window_extent() for label in ax.texts]
    assert {label.get_text() for label in ax.texts} >= {"0.01", "0.03"}
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


@pytest.mark.slow_cells("3.5-3-2", "3.5-7-2", "7.1-7-3")
@pytest.mark.parametrize(
    ("width", "n", "across"),
    [(3.5, 2, 1), (3.5, 3, 2), (3.5, 7, 2), (7.1, 7, 3), pytest.param(3.5, 40, 2, marks=pytest.mark.slow)],
)
def test_a_plot_of_a_given_width_fits_a_page(width: float, n: int, across: int) -> None:
    """As far as pictures can be read: forty of them in a column are higher than any page."""
    plt = pytest.importorskip("matplotlib.pyplot")
    rows = [{"data": str(i), "method": "a", "paid_mean": 0.1, "realised_cost": 0.2} for i in range(n)]
    display = CostPlaneDisplay(pd.DataFrame(rows), width=width).plot()
    assert display.ax_[0].get_subplotspec().get_gridspec().ncols == across
    high = display.figure_.get_figheight()
    assert (high <= 9) == (n < 40)
    display.figure_.draw_without_rendering()
    space = display.ax_[0].get_window_extent()
    assert space.width > 0.5 * width / across * display.figure_.dpi  # most of it is picture, not labels
    plt.close(display.figure_)


@pytest.mark.slow
def test_a_narrow_plot_has_prices_at_its_points(results: Results) -> None:
    import matplotlib.pyplot as plt

    drawn = results.plot(width=3.5)
    assert (drawn.figure_.get_figwidth(), len(drawn.ax_)) == (3.5, 4)  # two rows of two
    assert {text.get_text() for text in drawn.ax_[0].texts} == {"0.01", "0.5"}
    assert len(results.plot(overall=False).names) == 2
    with pytest.raises(
        ValueError, match=r"ax must be 3 matplotlib Axes, for 'wine_1', 'iris', 'all data sets'; .*overall"
    ):
        results.plot(ax=plt.subplots(1, 2)[1])
    plt.close("all")
