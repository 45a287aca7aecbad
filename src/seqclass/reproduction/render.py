"""Reproduced tables as text: for a terminal, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from seqclass.reproduction.run import PAPERS, Reproduced
from seqclass.reproduction.table import Row

__all__ = ["cells", "markdown"]

HEADER = ("data", "method", "quantity", "paper", "code", "published", "ours")
_TITLES = ("data", "method", "quantity", "paper", "authors' code", "ours, published", "ours")


def number(value: float) -> str:
    """Figure of a table: four digits that count, at most four decimals; a dash for NaN.

    Examples
    --------
    >>> number(0.87204), number(1167.5), number(5), number(float("nan"))
    ('0.872', '1168', '5', '-')
    """
    if math.isnan(value):
        return "-"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{round(value, 4):.4g}"


def cells(row: Row) -> list[str]:
    """Cells of a row: names, then the four figures.

    Examples
    --------
    >>> cells(Row("MLL", "ETANA", "accuracy", paper=1.0, ours=0.9333))
    ['MLL', 'ETANA', 'accuracy', '1', '-', '-', '0.9333']
    """
    return [str(getattr(row, name)) if i < 3 else number(getattr(row, name)) for i, name in enumerate(HEADER)]


def notes(found: Reproduced) -> list[str]:
    """Sentences below a table: its note, how sets differ, what failed, what is left out.

    Examples
    --------
    >>> from seqclass.reproduction import get_tables
    >>> (table,) = get_tables(["semi_rfs-2"])
    >>> notes(Reproduced(table, (), table.left_out()))
    ['The data are not public.', 'Left out: polymers (not public).']
    """
    lines = [found.table.note] if found.table.note else []
    by_note: dict[str, list[str]] = {}
    for row in found.rows:
        for note in filter(None, row.note.split("; ")):
            by_note.setdefault(note, []).append(row.data)
    lines += [f"{', '.join(dict.fromkeys(names))}: {note}." for note, names in by_note.items()]
    reasons: dict[str, list[str]] = {}
    for name, reason in found.left_out.items():
        reasons.setdefault(reason, []).append(name)
    left = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
    return [*lines, f"Left out: {left}."] if left else lines


def markdown(found: Sequence[Reproduced], lead: str = "") -> str:
    """Write reproduced tables as a Markdown page.

    Parameters
    ----------
    found : sequence of Reproduced
        What `reproduce` gave.
    lead : str
        Text before the tables, such as the command that made them.

    Returns
    -------
    str

    Examples
    --------
    >>> from seqclass.reproduction import Reproduced, Row, get_tables
    >>> (table,) = get_tables(["etana-2"])
    >>> text = markdown([Reproduced(table, (Row("MLL", "ETANA", "accuracy", 1.0),), {})])
    >>> text.splitlines()[-1]
    '| MLL | ETANA | accuracy | 1 | - | - | - |'
    """
    lines = [lead.rstrip(), ""] if lead else []
    paper = ""
    for part in found:
        if part.table.name.rpartition("-")[0] != paper:
            paper = part.table.name.rpartition("-")[0]
            lines += [f"## {PAPERS[paper]}", ""]
        lines += [f"### {part.table.title}", "", " ".join([f"`{part.table.name}`.", *notes(part)]), ""]
        if part.rows:
            lines += [_line(_TITLES), _line(["---"] * 3 + ["---:"] * 4)]
            lines += [_line(cells(row)) for row in part.rows]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _line(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"
