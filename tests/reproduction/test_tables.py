"""The descriptions of the tables: complete, consistent, and honest about what cannot be made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seqclass.experiment.methods import check_methods

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import ComparisonTable, StreamTable, get_tables, status
from reproduction._sets import ABSENT, SOURCES, STREAMS
from reproduction.comparison import QUANTITIES
from reproduction.table import figures

#: What there has to be; a table that is shown in two parts counts by either.
WANTED = [
    *("etana-2", "etana-3", "etana-4a", "etana-4b", "etana-fig3", "etana-fig4", "etana-fig5"),
    *("fires-3", "fires-4", "fires-fig4", "fires-fig5", "fires-fig6"),
    *("semi_rfs-fig3", "semi_rfs-fig4", "semi_rfs-fig5", "semi_rfs-fig6"),
    *("ifc2f-3", "ifc2f-4", "ifc2f-6", "ifc2f-7", "ifc2f-8a", "ifc2f-8b", "ifc2f-fig3", "ifc2f-fig4", "ifc2f-fig5"),
    *("saola-2", "saola-3", "saola-4", "saola-5", "saola-12", "saola-13", "saola-14", "saola-fig6"),
    "gdfs-spambase",
]
TABLES = {table.name: table for table in get_tables()}


@pytest.mark.quick
def test_all_tables_are_there() -> None:
    assert set(WANTED) <= set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_consistent(name: str, tmp_path: Path) -> None:
    table = TABLES[name]
    assert table.title
    assert set(table.absent) <= set(ABSENT)
    assert not set(table.absent) & set(table.files())
    assert set(table.left_out()) == {*table.absent, *table.not_computed}
    assert not set(table.not_computed) & {*table.absent, *table.files()}
    if isinstance(table, ComparisonTable):
        assert set(table.quantities) <= set(QUANTITIES)
        for entry in table.entries:
            quoted = [*entry.paper.values(), *entry.code.values()]
            assert all(np.isnan(v) or 0 <= v < 1e5 for v in quoted)
            for method in filter(None, (entry.published, entry.ours)):
                check_methods({"method": method})
        cells = [(e.data, e.method, e.price) for e in table.entries]
        assert len(set(cells)) == len(cells)
    if isinstance(table, StreamTable):
        assert {e.data for e in table.entries} <= set(STREAMS)


def test_names_of_papers_stand_for_their_tables() -> None:
    assert [t.name for t in get_tables(["saola-fig6", "saola"])] == [
        *("saola-fig6", "saola-2", "saola-3", "saola-4", "saola-5", "saola-12", "saola-13", "saola-14"),
        *("saola-6", "saola-7", "saola-8", "saola-fig1", "saola-9", "saola-10", "saola-fig2", "saola-fig3", "saola-11"),
        *("saola-fig4", "saola-fig5", "saola-fig8", "saola-ranks"),
    ]
    assert [t.name for t in get_tables(["semi_rfs-fig3", "semi_rfs-fig3"])] == ["semi_rfs-fig3"]
    assert [t.name for t in get_tables(["ifc2f-8", "etana-4b"])] == ["ifc2f-8a", "ifc2f-8b", "etana-4b"]
    with pytest.raises(ValueError, match=r"there is no table 'etana-22'.*etana-2"):
        get_tables(["etana-22"])


def test_status_says_what_is_missing(tmp_path: Path) -> None:
    told = {name: status(table, tmp_path) for name, table in TABLES.items()}
    assert told["etana-2"].startswith("data absent: madelon (Madelon), mll (MLL), lung2_desouto1543 (Lung2)")
    assert told["etana-code"].startswith("part: data absent: mll (MLL)")  # breast cancer is embedded
    assert told["semi_rfs-fig5"] == "available"
    assert told["ifc2f-fig4"].startswith("not possible")
    (tmp_path / "mll.npz").touch()
    now = status(TABLES["etana-2"], tmp_path)
    assert "mll" not in now
    assert now.startswith("part: data absent: madelon (Madelon)")
    assert "no data of Lung Cancer, Dexter, Car, News20" in now
    assert now.endswith("differs: Lung2")


def test_sources_name_how_they_differ() -> None:
    assert "1543 of 3312" in SOURCES["Lung2"].differs
    assert "800 training rows" in SOURCES["Dorothea"].differs
    assert SOURCES["Madelon"].differs == ""


def test_figures_refuses_a_short_line() -> None:
    with pytest.raises(ValueError, match="fewer than 2 numbers"):
        figures("MLL 1.0", ["a", "b"])
