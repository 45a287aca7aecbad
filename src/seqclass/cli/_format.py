"""How numbers, tables and records look."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lay a table out in columns: the first ``left`` flush left, the others flush right.

    Examples
    --------
    >>> print(table(["name", "n"], [["a", "10"], ["bcdef", "2"]]))
      name    n
      a      10
      bcdef   2
    """
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        return ("  " + "  ".join(cells)).rstrip()

    return "\n".join(line(row) for row in [header, *rows])


def count(n: int, noun: str, plural: str | None = None) -> str:
    """Give a number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1234, "class", "classes")
    ('1 row', '1,234 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def value_text(value: Any) -> str:
    """Write a raw value as a person would: six digits, no trailing zeros."""
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    return str(value)


def belief_text(labels: Sequence[Any], posterior: Sequence[float], most: int = 4) -> str:
    """Write the probabilities of the likeliest classes, best first where there are many.

    Examples
    --------
    >>> belief_text(["sick", "well"], [0.25, 0.75])
    'sick 25.0%, well 75.0%'
    """
    index = list(range(len(labels)))
    if len(index) > most:
        index = sorted(index, key=lambda i: -posterior[i])[:most]
    return ", ".join(f"{labels[i]} {percent(posterior[i])}" for i in index)


def percent(p: float) -> str:
    """Write a probability in percent, without calling anything certain that is not.

    Examples
    --------
    >>> percent(0.5), percent(0.99999), percent(1e-9), percent(1.0)
    ('50.0%', '>99.9%', '<0.1%', '100.0%')
    """
    if 0 < p < 0.0005:
        return "<0.1%"
    if 0.9995 <= p < 1:
        return ">99.9%"
    return f"{100 * p:.1f}%"


def gap_text(gap: float) -> str:
    """Write a certified gap in percent.

    Examples
    --------
    >>> gap_text(0.0123), gap_text(1e-6), gap_text(0.0)
    ('1.2%', 'less than 0.01%', '0%')
    """
    if math.isnan(gap):
        return "not certified"
    return "less than 0.01%" if 0 < gap < 1e-4 else f"{100 * gap:.2g}%"


def wrapped(text: str, indent: str = "") -> str:
    """Wrap a paragraph at 88 columns."""
    return click.wrap_text(text, width=88, initial_indent=indent, subsequent_indent=indent)


def echo_json(content: Any) -> None:
    """Print one JSON object; NaN and infinity become null."""
    click.echo(json.dumps(plain(content), indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """Turn numpy's things into what JSON has.

    Examples
    --------
    >>> plain({"a": np.float64("nan"), "b": np.arange(2)})
    {'a': None, 'b': [0, 1]}
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file beside ``path`` that takes its place at the end, or vanishes if anything fails."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".seqclass-{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
