"""Reproduced tables as text: for a terminal, and as Markdown."""

from __future__ import annotations

import math
import os
import platform
import textwrap
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import numpy as np

from reproduction._sheets import Sheet, sheets
from reproduction.catalog import PAPERS, paper_of
from reproduction.run import Reproduced
from seqclass import __version__

#: Least width, in characters, that the name of a quantity is wrapped to.
_NARROWEST = 12
#: What a page of a quick run says of itself.
QUICK_WARNING = "**A quick run on little data: the figures mean nothing.**"

__all__ = ["duration", "machine", "markdown", "notes", "number", "text"]


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


def duration(seconds: float) -> str:
    """Write a time in the units that suit it.

    Examples
    --------
    >>> duration(0.234), duration(75.3), duration(7260)
    ('0.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def notes(found: Reproduced) -> list[str]:
    """Sentences below a table: what went wrong, its note, how sets differ, what failed, what is left out.

    Examples
    --------
    >>> from reproduction import get_tables
    >>> (table,) = get_tables(["semi_rfs-2"])
    >>> notes(Reproduced(table, (), table.left_out()))
    ['The data are not public.', 'Left out: polymers (not public).']
    """
    lines = [f"Failed: {found.error}."] if found.error else []
    lines += [found.table.note] if found.table.note else []
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


def text(found: Reproduced) -> str:
    """Write the figures of a reproduced table for a terminal, quantities beside each other.

    Parameters
    ----------
    found : Reproduced
        What `iter_reproduced` gave.

    Returns
    -------
    str
        Empty if there are no figures.

    Examples
    --------
    >>> from reproduction import Row, get_tables
    >>> (table,) = get_tables(["etana-2"])
    >>> rows = (
    ...     Row("MLL", "ETANA", "accuracy", 1.0, ours=0.9333),
    ...     Row("MLL", "ETANA", "features", 5.07, ours=4.8),
    ...     Row("MLL", "SAOLA", "accuracy", 0.8667),
    ... )
    >>> print(text(Reproduced(table, rows, {})))
                       accuracy       features
      data  method   paper    ours  paper  ours
      MLL   ETANA        1  0.9333   5.07   4.8
      MLL   SAOLA   0.8667       -      -     -
    """
    return "\n\n".join(_text(sheet) for sheet in sheets(found.rows))


def _text(sheet: Sheet) -> str:
    single = not any(name for _, shown in sheet.groups for name in shown)
    names = ["" if single else name for _, shown in sheet.groups for name in shown]
    body = [["data", "method", *names], *([data, method, *map(number, f)] for data, method, f in sheet.rows)]
    widths = [max(len(row[i]) for row in body) for i in range(len(body[0]))]
    spans, start = [], 2
    for quantity, shown in sheet.groups:
        end = start + len(shown)
        gaps = 2 * (len(shown) - 1)
        width = max(_NARROWEST, sum(widths[start:end]) + gaps, *map(len, quantity.split()))
        spans.append(textwrap.wrap(quantity, width))
        widths[start] += max(0, max(map(len, spans[-1])) - sum(widths[start:end]) - gaps)
        spans[-1] = [line.center(sum(widths[start:end]) + gaps) for line in spans[-1]]
        start = end
    height = max(map(len, spans))
    spans = [[" " * len(span[0])] * (height - len(span)) + span for span in spans]
    lines = [" " * (sum(widths[:2]) + 6) + "  ".join(parts) for parts in zip(*spans)]
    if single:  # nothing stands below the quantities but figures
        first = body.pop(0)
        lines[-1] = f"  {first[0].ljust(widths[0])}  {first[1].ljust(widths[1])}" + lines[-1][sum(widths[:2]) + 4 :]
    for row in body:
        cells = [cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        lines.append("  " + "  ".join(cells))
    return "\n".join(line.rstrip() for line in lines)


def machine() -> str:
    """What the seconds of a run hang on: versions of seqclass, Python and numpy, and the number of cores.

    Examples
    --------
    >>> machine().startswith("seqclass ")
    True
    """
    known = getattr(os, "sched_getaffinity", None)
    n_cores = len(known(0)) if known is not None else os.cpu_count() or 1
    cores = f"{n_cores} {'core' if n_cores == 1 else 'cores'}"
    return f"seqclass {__version__}, Python {platform.python_version()}, numpy {np.__version__}, {cores}"


def markdown(
    found: Sequence[Reproduced],
    command: str = "",
    *,
    quick: bool = False,
    pictures: Mapping[str, str] | None = None,
) -> str:
    """Write reproduced tables as Markdown: how they were made, how long each took, and the tables by paper.

    Parameters
    ----------
    found : sequence of Reproduced
        What `reproduce` gave.
    command : str
        The command that made them.
    quick : bool
        Whether it was a quick run, of which the page then warns.
    pictures : mapping of str to str, optional
        Pictures of tables, by name, each a path as seen from the page; they stand below the titles.

    Returns
    -------
    str
        Sections of the second level, without a title.

    Examples
    --------
    >>> from reproduction import Reproduced, Row, get_tables
    >>> (table,) = get_tables(["etana-2"])
    >>> page = markdown([Reproduced(table, (Row("MLL", "ETANA", "accuracy", 1.0, ours=0.9333),), {})])
    >>> [line for line in page.splitlines() if "MLL" in line]
    ['| MLL | ETANA | 1 | **0.9333** |']
    """
    lines = _lead(found, command, quick)
    paper = ""
    for part in found:
        if paper_of(part.table) != paper:
            paper = paper_of(part.table)
            lines += [f"## {PAPERS[paper]}", ""]
        taken = f", {duration(part.work)}" if part.rows else ""
        lines += [f"### {part.table.title}", "", f"`python -m reproduction {part.table.name} --data DIR`{taken}", ""]
        if pictures and part.table.name in pictures:
            alt = _safe(f"{part.table.title}: a picture of the figures below").replace("]", "\\]")
            lines += [f"![{alt}]({quote(pictures[part.table.name])})", ""]
        for sheet in sheets(part.rows):
            lines += [*_markdown(sheet), ""]
        said = [_safe(note) for note in notes(part)]
        lines += [*(said if len(said) == 1 else [f"- {note}" for note in said]), *([""] if said else [])]
    return "\n".join(lines).rstrip() + "\n"


def _lead(found: Sequence[Reproduced], command: str, quick: bool) -> list[str]:
    lines = ["## The run", ""]
    if quick:
        lines += [QUICK_WARNING, ""]
    if command:
        folded = textwrap.wrap(command, 96, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        lines += ["```text", " \\\n".join(folded), "```", ""]
    total = duration(math.fsum(part.work for part in found))
    lines += [
        f"Made with {machine()}. A table's time is that of all its computations, whenever they were done; those "
        f"that tables share count for each. Added up: {total}.",
        "",
        _line(["table", "what it shows", "time"]),
        _line(["---", "---", "---:"]),
    ]
    for part in found:
        time = duration(part.work) if part.rows else "-"
        lines.append(_line([f"`{part.table.name}`", part.table.title, "failed" if part.error else time]))
    return [*lines, ""]


def _markdown(sheet: Sheet) -> list[str]:
    """Lines of a table; a data set is named in the first of its rows, and our figures are bold."""
    columns = [(quantity, source) for quantity, shown in sheet.groups for source in shown]
    titles = [f"{quantity}<br>{source}" if source else quantity for quantity, source in columns]
    lines = [_line(["data", "method", *titles]), _line(["---", "---", *["---:"] * len(columns)])]
    before = ""
    for data, method, figures in sheet.rows:
        shown = [
            f"**{number(value)}**" if source == "ours" and not math.isnan(value) else number(value)
            for value, (_, source) in zip(figures, columns)
        ]
        lines.append(_line(["" if data == before else data, method, *shown]))
        before = data
    return lines


def _safe(note: str) -> str:
    """A note in which Markdown finds nothing to set."""
    return "".join(f"\\{c}" if c in "\\`*_<|[" else c for c in note)


def _line(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"
