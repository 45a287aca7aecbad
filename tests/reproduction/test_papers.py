"""The papers' own list of tables and figures: complete, true to the papers, and each with what has become of it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import get_tables, paper_items
from reproduction.papers import PaperItem
from reproduction.table import Impossible

#: Tables and figures of each paper, counted in the papers, and how the text of each is found.
COUNTS = {"etana": (4, 5), "fires": (4, 6), "semi_rfs": (3, 6), "ifc2f": (9, 5), "saola": (14, 8)}
FILES = {"etana": "000", "fires": "001", "semi_rfs": "002", "ifc2f": "003", "saola": "004"}
ITEMS = paper_items()


@pytest.mark.quick
def test_every_table_and_figure_is_listed_once() -> None:
    kinds = Counter((item.paper, item.number.split()[0]) for item in ITEMS)
    assert {paper: (kinds[paper, "Table"], kinds[paper, "Fig."]) for paper in COUNTS} == COUNTS
    assert len({item.key for item in ITEMS}) == len(ITEMS)
    assert all(item.shows for item in ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_each_is_made_or_named_with_its_reason(item: PaperItem) -> None:
    kind, _, reason = item.state.partition(": ")
    assert kind in ("made", "impossible", "nothing to compute")
    assert reason
    assert (kind == "made") == bool(item.tables)


def test_tables_that_are_numbered_are_of_the_papers() -> None:
    made = {name for item in ITEMS for name in item.tables}
    numbered = [t for t in get_tables() if re.fullmatch(r"(?!gdfs).*-(fig)?\d+[ab]?", t.name)]
    assert {t.name for t in numbered if not isinstance(t, Impossible)} == made
    reasons = {t.note.rstrip(".") for t in numbered if isinstance(t, Impossible)}
    assert reasons <= {item.state.removeprefix("impossible: ") for item in ITEMS}


def test_a_table_that_is_missing_is_not_yet_there() -> None:
    assert PaperItem("saola", "Table XV", "one that there is not").state == "not yet"


@pytest.fixture
def texts(data_dir: Path) -> dict[str, str]:
    folder = data_dir.parent / "papers"
    found = {paper: list(folder.glob(f"{start}_*.txt")) for paper, start in FILES.items()}
    if not all(found.values()):
        pytest.skip(f"the papers' text is not in {folder}")
    return {paper: files[0].read_text(encoding="utf-8") for paper, files in found.items()}


def test_the_list_is_that_of_the_papers(texts: dict[str, str]) -> None:
    """What the papers speak of is listed, and what is listed they speak of."""
    pattern = re.compile(r"\b(Table|Fig(?:ure|\.)?s?\.?)\s*([IVX]+|\d+)\b", re.IGNORECASE)
    for paper, text in texts.items():
        spoken = {("Fig." if kind[0] in "Ff" else "Table", number) for kind, number in pattern.findall(text)}
        listed = {tuple(item.number.split()) for item in paper_items(paper)}
        assert listed - spoken <= {("Table", "X"), ("Table", "2")}
        roman = paper in ("ifc2f", "saola")
        of_tables = {number for kind, number in spoken if kind == "Table" and number.isdigit() != roman}
        assert of_tables <= {number for kind, number in listed if kind == "Table"}
        assert {n for kind, n in spoken if kind == "Fig." and n.isdigit()} <= {
            n for kind, n in listed if kind == "Fig."
        }
