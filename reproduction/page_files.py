"""Files of tables in Markdown: one page, or a folder with a page a paper; what else stands in them stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reproduction.digest import with_digest
from reproduction.pages import merged, parted
from reproduction.render import QUICK_WARNING, markdown
from reproduction.run import Reproduced
from seqclass._utils.files import replace_file
from seqclass.cli._errors import InputError, as_input_errors

__all__ = ["BEGIN", "END", "Pages", "write"]

#: What the tables stand between in a page that has more than them.
BEGIN, END = "<!-- python -m reproduction: begin -->", "<!-- python -m reproduction: end -->"
#: The page of a folder that has the digest.
_OVERVIEW = "index.md"


@dataclass(frozen=True)
class Pages:
    """A page, or a folder of them, that is written anew after each table.

    Attributes
    ----------
    path : Path
        The page, or the folder.
    before : str
        The tables that it had, without those of a quick run.
    command : str
        The command that makes the new ones.
    quick : bool
        Whether that is a quick run, which replaces all tables.
    """

    path: Path
    before: str
    command: str
    quick: bool

    @classmethod
    def read(cls, path: Path, command: str, quick: bool) -> Pages:
        """Take up what there is at a path."""
        files = sorted(path.glob("*.md")) if path.is_dir() else [path]
        files.sort(key=lambda file: file.stem != "run")  # what was run comes first
        tables = "\n".join(_parts(file)[1] for file in files)
        return cls(path, "" if QUICK_WARNING in tables else tables, command, quick)

    @property
    def folder(self) -> Path:
        """Where the pages are."""
        return self.path if self.path.is_dir() else self.path.parent

    def write(self, found: Sequence[Reproduced], pictures: Mapping[str, str]) -> None:
        """Write them anew with the tables so far; pictures are paths as seen from the folder."""
        text = markdown(found, self.command, quick=self.quick, pictures=pictures)
        tables = text if self.quick else merged(text, self.before)
        if not self.path.is_dir():
            whole = tables.join(_around(self.path, ("# Reproduction\n\n", "")))
            write(self.path, whole if self.quick else with_digest(whole))
            return
        for name, (title, part) in parted(tables).items():
            page = self.path / f"{name}.md"
            write(page, part.join(_around(page, (f"# {title}\n\n{BEGIN}\n\n", f"\n{END}\n"))))
        overview = self.path / _OVERVIEW
        if overview.is_file() and not self.quick:
            write(overview, with_digest(overview.read_text(encoding="utf-8"), tables))


def write(path: Path, content: str) -> None:
    """Write a file, whole or not at all."""
    with as_input_errors(), replace_file(path) as temporary:
        temporary.write_text(content, encoding="utf-8")


def _parts(page: Path) -> tuple[str, str, str]:
    """What stands before, between and after the marks of a page; empty if it has none or is not there."""
    if not page.is_file():
        return "", "", ""
    with as_input_errors(str(page)):
        before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    tables, end, after = rest.partition(END)
    if begin and not end:
        raise InputError(f"{page} has a line {BEGIN!r} but none {END!r} after it; add it.")
    return (f"{before}{BEGIN}\n\n", tables, f"\n{END}{after}") if begin else ("", "", "")


def _around(page: Path, new: tuple[str, str]) -> tuple[str, str]:
    """What stands around the tables of a page, or what is to stand around those of a new one."""
    before, _, after = _parts(page)
    return (before, after) if before else new
