"""Tables as text: what lies beside what, what is left out, and what is escaped."""

from __future__ import annotations

import pytest

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import Reproduced, Row, get_tables, markdown, text
from reproduction._sheets import sheets
from reproduction.render import duration, machine, notes, number


def reproduced(*rows: Row, left_out: dict[str, str] | None = None, error: str = "") -> Reproduced:
    (table,) = get_tables(["etana-2"])
    return Reproduced(table, rows, left_out or {}, 1.5, 75.0, error)


def test_markdown_puts_quantities_beside_each_other() -> None:
    found = reproduced(
        Row("Lung2", "ETANA", "accuracy", 0.872, ours=0.91234, note="other genes"),
        Row("Lung2", "ETANA", "features", 13.77, published=9.812, ours=7.426),
        Row("Lung2", "SAOLA", "accuracy", 0.8817),
        Row("MLL", "ETANA", "accuracy"),
    )
    lines = markdown([found], "python -m reproduction etana-2").splitlines()
    header = "| data | method | accuracy<br>paper | accuracy<br>ours | features<br>paper | features<br>published | "
    start = lines.index(f"{header}features<br>ours |")
    assert lines[start + 2 : start + 5] == [
        "| Lung2 | ETANA | 0.872 | **0.9123** | 13.77 | 9.812 | **7.426** |",
        "|  | SAOLA | 0.8817 | - | - | - | - |",
        "| MLL | ETANA | - | - | - | - | - |",
    ]
    assert lines[0] == "## The run"
    assert "python -m reproduction etana-2" in lines
    assert "| `etana-2` | Table 2: accuracy at price 0.01 | 1 min 15 s |" in lines
    assert any(machine() in line for line in lines)
    assert "- Lung2: other genes." in lines


def test_figures_of_one_source_each_have_a_column_a_quantity() -> None:
    rows = [Row("made", "RFS", q, published=v) for q, v in (("error", 0.3), ("features", 20.0))]
    rows += [Row("made", "ours", q, ours=v) for q, v in (("error", 0.2), ("features", 10.0))]
    (sheet,) = sheets(rows)
    assert sheet.groups == (("error", ("",)), ("features", ("",)))
    assert sheet.rows == (("made", "RFS", (0.3, 20.0)), ("made", "ours", (0.2, 10.0)))
    assert text(reproduced(*rows)).splitlines()[0].split() == ["data", "method", "error", "features"]


def test_wide_tables_are_cut() -> None:
    rows = [Row("a", "m", f"quantity {k}", 1.0, 2.0, 3.0, 4.0) for k in range(5)]
    found = sheets(rows)
    assert len(found) > 1
    assert [quantity for sheet in found for quantity, _ in sheet.groups] == [f"quantity {k}" for k in range(5)]
    assert all(len(line) <= 100 for line in text(reproduced(*rows)).splitlines())


def test_nothing_to_show() -> None:
    assert sheets([]) == []
    assert text(reproduced()) == ""


def test_notes_and_failures() -> None:
    found = reproduced(Row("MLL", "ETANA", "accuracy"), left_out={"Car": "gone", "Dexter": "gone"}, error="Bad: *x*")
    assert notes(found)[0] == "Failed: Bad: *x*."
    assert notes(found)[-1] == "Left out: Car, Dexter (gone)."
    page = markdown([found], quick=True)
    assert r"Failed: Bad: \*x\*." in page
    assert "| failed |" in page
    assert "the figures mean nothing" in page


def test_numbers() -> None:
    values = (0.0, 1.0, 0.00012, 28.2, 1234.5, float("nan"))
    assert [number(value) for value in values] == ["0", "1", "0.0001", "28.2", "1234", "-"]


@pytest.mark.parametrize(
    "seconds, shown", [(0.04, "0.0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.6, "1 h 0 min"), (7325, "2 h 2 min")]
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
