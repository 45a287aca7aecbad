"""A page of tables, of which some are computed anew while the others stay."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reproduction.catalog import PAPERS, get_tables, paper_of

__all__ = ["Page", "merged", "parted"]

_SECTION = re.compile(
    r"^#{2,3} (.*\n\n`python -m reproduction ([\w-]+) --data DIR`.*\n(?:.*\n)*?)(?=^#{2,3} |\Z)", re.MULTILINE
)
_ROW = re.compile(r"^\| `([\w-]+)` \|.*\n", re.MULTILINE)
_COMMANDS = re.compile(r"(?<=^```text\n)(?:.*\n)*?(?=^```$)", re.MULTILINE)
_MADE = re.compile(r"(?<=^Made with ).*?(?=\. A table's time)", re.MULTILINE)
#: Where a paper's second page begins, of those whose tables are too long for one.
_SECOND = {"etana": "etana-fig3", "ifc2f": "ifc2f-fig3", "saola": "saola-6"}
_FIRST_ROW = re.compile(r"^\| --- \| --- \| ---: \|\n", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """Parts of what `markdown` wrote, by the names of tables.

    Attributes
    ----------
    commands : str
        Commands that made the tables, each with its line breaks.
    made : str
        Versions and cores that they were made with.
    rows : dict of str to str
        Line of each table in the list of the run.
    sections : dict of str to str
        Each table with its title.

    Examples
    --------
    >>> Page.read("nothing that was written here").sections
    {}
    """

    commands: str
    made: str
    rows: dict[str, str]
    sections: dict[str, str]

    @classmethod
    def read(cls, text: str) -> Page:
        """Take a page apart."""
        commands, made = _COMMANDS.search(text), _MADE.search(text)
        return cls(
            commands[0] if commands else "",
            made[0] if made else "",
            {found[1]: found[0] for found in _ROW.finditer(text)},
            {found[2]: f"### {found[1]}" for found in _SECTION.finditer(text)},
        )


def merged(new: str, old: str) -> str:
    """Put tables that were computed anew in the place of those of an earlier page; what else it has stays.

    Parameters
    ----------
    new : str
        What `markdown` gave of the new tables.
    old : str
        What it gave before, of any tables; anything else is dropped.

    Returns
    -------
    str
        A page like these, of the tables of both, with the commands and versions of both.

    Examples
    --------
    >>> from reproduction import Reproduced, Row, get_tables, markdown
    >>> def page(name, value):
    ...     (table,) = get_tables([name])
    ...     return markdown([Reproduced(table, (Row("MLL", "ETANA", "accuracy", ours=value),), {})], f"of {name}")
    >>> both = merged(page("etana-2", 0.9), merged(page("etana-3", 4.8), page("etana-2", 0.1)))
    >>> [line for line in both.splitlines() if line.startswith(("of", "| MLL", "###"))]
    ['of etana-3', 'of etana-2', '### Table 2: accuracy at price 0.01', '| MLL | ETANA | **0.9** |', \
'### Table 3: mean number of features at price 0.01', '| MLL | ETANA | **4.8** |']
    """
    before, after = Page.read(old), Page.read(new)
    kept = [name for name in before.sections if name not in after.sections]
    if not kept:
        return new
    sections, rows = before.sections | after.sections, before.rows | after.rows
    names = [table.name for table in get_tables() if table.name in sections]
    lead = new.partition("\n## ")[0] + "\n"
    lead = lead[: _start_of_rows(lead)] + "".join(rows.get(name, "") for name in names) + "\n"
    lead = _COMMANDS.sub(lambda _: _joined(before.commands, after.commands), lead)
    lead = _MADE.sub(lambda _: "; ".join(dict.fromkeys([*before.made.split("; "), *after.made.split("; ")])), lead)
    lead = re.sub(r" Added up: .*?\.$", " Tables of a later command replace earlier ones.", lead, flags=re.M)
    text, paper = lead, ""
    for table in get_tables(names):
        if paper_of(table) != paper:
            paper = paper_of(table)
            text += f"## {PAPERS[paper]}\n\n"
        text += sections[table.name].rstrip() + "\n\n"
    return text.rstrip() + "\n"


def parted(text: str) -> dict[str, tuple[str, str]]:
    """Part a page of tables into one of the run and one or two a paper.

    Parameters
    ----------
    text : str
        What `markdown` or `merged` gave.

    Returns
    -------
    dict of str to tuple of str
        Title and text of each page by its name, ``"run"`` first; `Page.read` finds the tables in them put together.

    Examples
    --------
    >>> from reproduction import Reproduced, get_tables, markdown
    >>> found = [Reproduced(table, (), {}) for table in get_tables(["etana-2", "saola-5", "saola-6"])]
    >>> [(name, title.partition(":")[0]) for name, (title, _) in parted(markdown(found)).items()]
    [('run', 'The run'), ('etana', 'ETANA'), ('saola', 'SAOLA'), ('saola-2', 'SAOLA, second page')]
    """
    sections = Page.read(text).sections
    parts = {"run": ("The run", text.partition("\n## ")[0] + "\n")}
    for table in get_tables(sections) if sections else ():
        paper = paper_of(table)
        names = [other.name for other in get_tables([paper])]
        second = paper in _SECOND and names.index(table.name) >= names.index(_SECOND[paper])
        short, _, rest = PAPERS[paper].partition(":")
        name, title = (f"{paper}-2", f"{short}, second page:{rest}") if second else (paper, PAPERS[paper])
        before = parts.get(name, ("", ""))[1]
        section = sections[table.name].rstrip().removeprefix("#")  # of the second level, below the title
        parts[name] = title, f"{before}\n{section}\n".lstrip("\n")
    return parts


def _start_of_rows(lead: str) -> int:
    found = _FIRST_ROW.search(lead)
    assert found is not None
    return found.end()


def _joined(old: str, new: str) -> str:
    """Commands of both, an equal one once and at the end."""
    parted = [re.findall(r"(?:.*\\\n)*.+\n", text) for text in (old, new)]
    return "".join([one for one in parted[0] if one not in parted[1]] + parted[1])
