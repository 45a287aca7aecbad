"""A page in short: what holds and how far the rest is off, out of the page's own figures."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import Reproduced, Row, get_tables, markdown
from reproduction.digest import BEGIN, END, digest, with_digest
from reproduction.page_files import Pages

DOCS = Path(__file__).parents[2] / "docs" / "papers"


def page(**rows: tuple[Row, ...]) -> str:
    """A page of tables with these rows, by their names with "_" for the last "-"."""
    by_name = {"-".join(name.rsplit("_", 1)): found for name, found in rows.items()}
    return markdown([Reproduced(table, by_name[table.name], {}) for table in get_tables(by_name)])


def lines(text: str) -> list[str]:
    return [line for line in digest(text).splitlines() if line.startswith("| `")]


@pytest.mark.parametrize(
    "quantity, paper, here, holds",
    [
        ("accuracy", 0.9, 0.88, True),
        ("accuracy", 0.9, 0.925, False),
        ("stability", 0.5, 0.52, True),
        ("features", 3.0, 3.5, True),
        ("features", 3.0, 2.4, False),
        ("features", 200.0, 181.0, True),
        ("features", 200.0, 221.0, False),
    ],
)
def test_a_figure_holds_within_its_limit(quantity: str, paper: float, here: float, holds: bool) -> None:
    (line,) = lines(page(etana_2=(Row("MLL", "ETANA", quantity, paper, published=here),)))
    assert line.split(" | ")[2] == f"{holds:d} of 1"
    assert ("ETANA on MLL" in line) != holds


def test_those_that_are_farthest_off_are_named_and_defaults_counted() -> None:
    of = [("MLL", 0.5, 0.9), ("Madelon", 0.9, 0.89), ("Lung2", 0.7, 0.88), ("Car", 0.8, 0.7), ("Dexter", 0.9, 0.9)]
    rows = tuple(Row(data, "ETANA", "accuracy", 0.9, published=here, ours=ours) for data, here, ours in of)
    (line,) = lines(page(etana_2=rows))
    far = "ETANA on MLL: 0.9, here 0.5; ETANA on Lung2: 0.9, here 0.7"
    assert line == f"| `etana-2` | accuracy | 2 of 5 | 0.1 | {far} | 4 of 5 |"


def test_times_are_shares_and_figures_that_are_shown_again_are_counted_once() -> None:
    row = Row("MLL", "ETANA", "accuracy", 1.0, published=1.0)
    times = tuple(Row("MLL", f"m{k}", "train, s", 10.0, published=float(k)) for k in (1, 2, 3))
    first, second = lines(page(etana_2=(row,), etana_4a=times, etana_fig5=(row, *times)))
    assert first.startswith("| `etana-2` | accuracy | 1 of 1 | 0 |")
    assert second == "| `etana-4a` | times | - | x 0.2 | most x 0.12 to x 0.28 | - |"


def test_without_figures_of_the_paper_there_is_no_line() -> None:
    text = page(etana_2=(Row("MLL", "ETANA", "accuracy", published=0.9),), saola_2=())
    assert lines(text) == []
    assert "- **ETANA.** 6 of 9 tables and figures are made; in 3 there is nothing to compute." in digest(text)
    assert "GDFS" not in digest(text)
    assert lines("") == []


def test_intervals_and_spread_are_told() -> None:
    def rows(method: str, low: float, high: float) -> tuple[Row, ...]:
        ends = {"": (low + high) / 2, ", from": low, ", to": high}
        return tuple(Row("made", method, f"test error less RFS's{end}", published=v) for end, v in ends.items())

    nan = float("nan")
    found = (*rows("warm", -0.2, -0.1), *rows("slow", 0.01, 0.05), *rows("like", -0.1, 0.1), *rows("RFS", nan, nan))
    spread = tuple(Row("Madelon", f"m{k}", "accuracy, s.d. over seeds", published=k / 100) for k in (1, 3))
    text = digest(page(semi_rfs_fig3=found, saola_fig6=spread))
    assert "Test error lower than RFS's (95% intervals): warm (-0.2 to -0.1)." in text
    assert "Test error higher than RFS's (95% intervals): slow (0.01 to 0.05)." in text
    assert "No significant difference from RFS: 1 others." in text
    assert "Standard deviation over seeds: at most 0.03 (`saola-fig6`)." in text


def test_ranks_hold_within_a_tenth_and_p_values_are_not_judged() -> None:
    quantity = "accuracy, average rank"
    rows = [Row("here", m, quantity, 2.0, published=v) for m, v in (("A", 2.1), ("B", 2.2), ("-log10 of p", 9.0))]
    (line,) = lines(page(ifc2f_ranks=tuple(rows)))
    assert line.startswith(f"| `ifc2f-ranks` | {quantity} | 1 of 2 | 0.15 | B on here: 2, here 2.2 |")


def test_it_is_put_in_its_place_again_and_again() -> None:
    tables = page(etana_2=(Row("MLL", "ETANA", "accuracy", 1.0, published=1.0),))
    whole = f"# Title\n\n{BEGIN}\nof before\n{END}\n\n{tables}"
    once = with_digest(whole)
    assert once == f"# Title\n\n{BEGIN}\n\n{digest(tables)}\n{END}\n\n{tables}"
    assert with_digest(once) == once


def test_the_page_of_the_documentation_is_summed_up_by_its_own_tables() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    tables = Pages.read(DOCS, "", quick=False).before
    assert BEGIN in text
    assert with_digest(text, tables) == text, "run python -m reproduction with --markdown docs/papers again"
    assert len(text.partition(BEGIN)[2].partition(END)[0].splitlines()) < 80
