"""How numbers, tables and records look."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Collection, Sequence
from typing import Any

import click

from seqclass._utils.tables import to_json_value
from seqclass._utils.text import belief_text as belief_text
from seqclass._utils.text import percent as percent
from seqclass._utils.text import visible
from seqclass.cli._options import CSV_FORM

#: So many of a list are named, where it may be long.
MOST = 8


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Lay a table out in columns: those in ``left`` flush left, the others flush right."""
    header, *rows = ([visible(cell, keep="") for cell in row] for row in (header, *rows))
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        return ("  " + "  ".join(cells)).rstrip()

    return "\n".join(line(row) for row in [header, *rows])


def count(n: int, noun: str, plural: str | None = None) -> str:
    """Give a number with its noun."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def gap_text(gap: float) -> str:
    """Write a certified gap in percent."""
    if math.isnan(gap):
        return "not certified"
    return "less than 0.01%" if 0 < gap < 1e-4 else f"{100 * gap:.2g}%"


def wrap(text: str, indent: str = "", hanging: str | None = None) -> str:
    """Wrap a paragraph at 88 columns, lines beyond the first with an indent of their own if one is given."""
    beyond = indent if hanging is None else hanging
    return click.wrap_text(visible(text, keep=""), width=88, initial_indent=indent, subsequent_indent=beyond)


def next_text(model: str) -> str:
    """Say what may be done with a model that was written."""
    given = click.get_current_context().meta.get(CSV_FORM, {})
    texts = {key: ",".join(value) if isinstance(value, list) else value for key, value in given.items()}
    form = "".join(f" --{key.replace('_', '-')} {shlex.quote(text)}" for key, text in texts.items())
    file = f"NEW.csv{form}"
    return f"Wrote {model}.\nNext: seqclass show {model}, seqclass ask {model}, or seqclass predict {model} {file}"


def echo_json(content: Any) -> None:
    """Print one JSON object; NaN and infinity become null."""
    click.echo(json.dumps(to_json_value(content), indent=2, allow_nan=False))
