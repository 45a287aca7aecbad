"""Reading tables for the commands: with signs of life, and what is wrong with a file as an `InputError`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click

from seqclass._messages import shown
from seqclass.cli._errors import InputError, near, refused
from seqclass.cli._progress import reading
from seqclass.cli.commands._shared import CSV_FORM
from seqclass.datasets import _tables
from seqclass.datasets._tables import Arrays as Arrays


def form() -> _tables.CsvForm:
    """How --sep and --decimal say that CSV and TSV files are written."""
    context = click.get_current_context(silent=True)
    given = {} if context is None else context.meta.get(CSV_FORM, {})
    with refused():
        return _tables.CsvForm(**given)


def kind(path: Path) -> str:
    """Kind of a file by its ending: ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"npz"``."""
    with refused():
        return _tables.kind(path)


def header(path: Path) -> list[str]:
    """Column names of a CSV, TSV or Parquet file."""
    with refused():
        return _tables.header(path, reading, form())


def read_frame(path: Path, columns: Sequence[str] | None = None, text: Collection[str] = (), **how: bool) -> Any:
    """Read a CSV, TSV or Parquet file; its rows are numbered from 1."""
    with refused():
        return _tables.read_frame(path, columns, text, reading, form(), **how)


def read_arrays(path: Path) -> Arrays:
    """Read an .npz file; nothing is unpickled."""
    with refused():
        return _tables.read_arrays(path)


def pick(name: str, names: list[str], path: Path, option: str) -> str:
    """Return a column's name if there is such a column.

    Raises
    ------
    InputError
        If not; the message lists the nearest.
    """
    if not name:
        raise InputError(f"{option}: the name is empty; {near(name, names)}")
    if name not in names:
        raise InputError(f"{option}: {path} has no column {shown(name)}; {near(name, names)}")
    return name
