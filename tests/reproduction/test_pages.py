"""Pages of which some tables are computed anew: the others stay, and so do their commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import Reproduced, Row, get_tables, markdown
from reproduction.__main__ import main
from reproduction.digest import BEGIN as DIGEST
from reproduction.digest import END as DIGEST_END
from reproduction.page_files import BEGIN, END, Pages
from reproduction.pages import Page, merged, parted
from reproduction.render import machine

COMMAND = "python -m reproduction {} --data DIR --output run.db --markdown page.md --pictures images --json tables.json"


def page(names: list[str], value: float, pictures: dict[str, str] | None = None) -> str:
    """A page of tables that all show one value."""
    found = [
        Reproduced(
            table, (Row("MLL", "ETANA", "accuracy", 1.0, ours=value, note="a note"),), table.left_out(), 1.0, 2.0
        )
        for table in get_tables(names)
    ]
    return markdown(found, COMMAND.format(" ".join(names)), pictures=pictures)


def values(text: str) -> dict[str, float]:
    """The value that each table shows."""
    sections = Page.read(text).sections
    return {
        name: float(line.split("**")[1])
        for name, section in sections.items()
        for line in section.splitlines()
        if line.startswith("| MLL | ETANA |")
    }


def test_named_tables_are_replaced_and_the_others_stay() -> None:
    old = page(["etana-2", "ifc2f-3", "saola", "gdfs-spambase"], 0.25, {"saola-fig6": "images/saola-fig6.png"})
    both = merged(page(["saola-4", "fires-3"], 0.75), old)
    found = values(both)
    changed = {"saola-4", "fires-3"}
    assert {name for name, value in found.items() if value == 0.75} == changed
    assert {name for name, value in found.items() if value == 0.25} == set(values(old)) - changed
    order = [table.name for table in get_tables() if table.name in found]
    assert list(found) == order
    assert list(Page.read(both).rows) == order
    assert [line for line in both.splitlines() if line.startswith("## ")] == [
        "## The run",
        *(line for line in page(order, 0).splitlines() if line.startswith("## ") and line != "## The run"),
    ]
    assert "](images/saola-fig6.png)" in both
    assert both.count(f"Made with {machine()}. ") == 1  # the same machine twice is told once
    assert "Added up" not in both
    assert both.count("\npython -m reproduction") == 2  # the commands; each table has its own besides
    assert both.index("gdfs-spambase --data") < both.index("saola-4 fires-3 --data")
    unchanged = Page.read(old).sections["saola-5"]
    assert Page.read(both).sections["saola-5"].strip() == unchanged.strip()


def test_merging_again_changes_nothing_and_tells_a_command_once() -> None:
    new, old = page(["saola-4"], 0.75), page(["etana-2", "saola-4"], 0.25)
    once = merged(new, old)
    assert merged(new, once) == once
    other = old.replace(machine(), "seqclass 0.0.1, Python 3.0, numpy 2.0, 8 cores")
    assert f"Made with seqclass 0.0.1, Python 3.0, numpy 2.0, 8 cores; {machine()}. " in merged(new, other)


def test_a_page_of_the_same_tables_or_of_none_is_new() -> None:
    new = page(["saola-4", "saola-5"], 0.75)
    assert merged(new, page(["saola-4"], 0.25)) == new
    assert merged(new, "") == new
    assert merged(new, "\nold\n") == new


@pytest.mark.parametrize("quick", [False, True])
def test_the_command_keeps_other_tables_unless_it_is_a_quick_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    def computed(names: Any, **settings: Any) -> Any:
        for table in get_tables(names):
            yield Reproduced(table, (Row("MLL", "ETANA", "accuracy", ours=0.75),), {}, 1.0, 1.0)

    monkeypatch.setattr("reproduction.__main__.iter_reproduced", computed)
    target = tmp_path / "page.md"
    target.write_text(f"# Mine\n\n{BEGIN}\n\n{page(['etana-2', 'saola-4'], 0.25)}\n{END}\n\nThe end.\n")
    arguments = ["saola-4", "--markdown", str(target), *(["--quick"] if quick else [])]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    text = target.read_text()
    assert text.startswith(f"# Mine\n\n{BEGIN}\n\n## The run\n")
    assert text.endswith(f"\n\n{END}\n\nThe end.\n")
    assert values(text) == ({"saola-4": 0.75} if quick else {"etana-2": 0.25, "saola-4": 0.75})
    # what a quick run wrote does not stay
    result = CliRunner().invoke(main, ["saola-5", "--markdown", str(target)])
    assert result.exit_code == 0, result.output
    assert ("saola-4" in values(target.read_text())) == (not quick)


def test_a_folder_has_a_page_a_paper_and_keeps_what_stands_there(tmp_path: Path) -> None:
    names = ["etana-2", "semi_rfs-fig3", "saola-4", "saola-6"]
    (tmp_path / "etana.md").write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nThe end.\n")
    (tmp_path / "index.md").write_text(f"# All\n\n{DIGEST}\n{DIGEST_END}\n")

    def write(names: list[str], value: float, **settings: Any) -> None:
        found = [
            Reproduced(table, (Row("MLL", "ETANA", "accuracy", 1.0, ours=value),), {}, 1.0, 2.0)
            for table in get_tables(names)
        ]
        Pages.read(tmp_path, f"of {names[0]}", **{"quick": False} | settings).write(found, {})

    write(names, 0.25)
    assert {file.name for file in tmp_path.iterdir()} == {
        *("index.md", "run.md", "etana.md", "semi_rfs.md", "saola.md", "saola-2.md")
    }
    own = (tmp_path / "etana.md").read_text()
    assert own.startswith(f"# Mine\n\n{BEGIN}\n\n## Table 2: ")
    assert own.endswith(f"\n\n{END}\n\nThe end.\n")
    assert "\nold\n" not in own
    assert (tmp_path / "saola-2.md").read_text().startswith("# SAOLA, second page: ")
    write(["saola-4"], 0.75)
    tables = Pages.read(tmp_path, "", quick=False).before
    assert values(tables) == {**dict.fromkeys(names, 0.25), "saola-4": 0.75}
    assert "of etana-2\nof saola-4\n" in tables
    assert "`etana-2`, `saola-4`" not in (tmp_path / "index.md").read_text()
    assert "| `saola-4` | accuracy | 0 of 1 |" in (tmp_path / "index.md").read_text()


def test_parting_and_putting_together_again_loses_nothing() -> None:
    whole = page(["etana", "ifc2f", "saola", "gdfs-spambase"], 0.5)
    again = Page.read("".join(f"{text}\n" for _, text in parted(whole).values()))
    before = Page.read(whole)
    assert (again.rows, again.commands, again.made) == (before.rows, before.commands, before.made)
    assert {k: v.strip() for k, v in again.sections.items()} == {k: v.strip() for k, v in before.sections.items()}
