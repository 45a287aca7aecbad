"""``seqclass reproduce``: the papers' tables and figures beside ours."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from seqclass import __version__
from seqclass._files import replacing
from seqclass.cli._errors import InputError, check_output, refused
from seqclass.cli._format import echo_json, plain, table
from seqclass.reproduction import Reproduced, Table, get_tables, markdown, status
from seqclass.reproduction import reproduce as run_tables
from seqclass.reproduction.render import HEADER, cells, notes

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--list", "listing", is_flag=True, help="List the tables, and which of them the data at hand allows.")
@click.option(
    "--data", "data_dir", type=_PATH, metavar="DIR", help="Folder of the data sets.  [default: $SEQCLASS_DATA]"
)
@click.option("--jobs", "-j", type=int, default=1, show_default=True, help="Processes; -1 for one a processor.")
@click.option("--output", "-o", type=_PATH, metavar="RUN", help="File of the run, which keeps what is computed.")
@click.option("--quick", is_flag=True, help="On little data: does it run? The figures then mean nothing.")
@click.option(
    "--json", "json_file", type=_PATH, metavar="FILE", help="Write the tables as JSON; - for standard output."
)
@click.option("--markdown", "markdown_file", type=_PATH, metavar="FILE", help="Write the tables as a Markdown page.")
def reproduce(
    tables: tuple[str, ...],
    listing: bool,
    data_dir: Path | None,
    jobs: int,
    output: Path | None,
    quick: bool,
    json_file: Path | None,
    markdown_file: Path | None,
) -> None:
    """Compute tables and figures of the papers: the paper's, the authors' code's and our figures side by side.

    TABLE is the name of a table, such as ifc2f-3, or of a paper for all of its tables: etana, fires, semi_rfs, ifc2f,
    saola, gdfs. Without one, all that the data allows are computed, which takes an hour or so. What the data does not
    allow is listed with the reason.

    Comparisons of classifiers are kept in the file RUN cell by cell: the same command goes on where it was stopped.
    Streams (fires) and searches (semi_rfs) are computed anew.

    \b
    Examples:
      seqclass reproduce --list
      seqclass reproduce etana-2 etana-3 --data DIR -o run.db --markdown tables.md
    """  # noqa: D301 (click wants the character, not the two signs)
    if jobs == 0:
        raise InputError("--jobs must not be 0.")
    to_stdout = json_file is not None and str(json_file) == "-"
    for path in (output, markdown_file, None if to_stdout else json_file):
        check_output(path)
    with refused():
        chosen = get_tables(tables)
        if listing:
            _list(chosen, data_dir)
            return
        found = run_tables(
            tables, path=output, data_dir=data_dir, n_jobs=jobs, quick=quick, on_table=None if to_stdout else _announce
        )
    content = {"version": __version__, "quick": quick, "tables": [part.as_dict() for part in found]}
    if to_stdout:
        echo_json(content)
    else:
        _print(found)
    if json_file is not None and not to_stdout:
        _write(json_file, _json(content))
    if markdown_file is not None:
        _write(markdown_file, markdown(found, _lead(quick)))
    if not any(part.rows for part in found):
        raise InputError("nothing could be computed; seqclass reproduce --list says why.")


def _announce(chosen: Table) -> None:
    click.echo(f"{chosen.name}: {chosen.title}", err=True)


def _list(chosen: list[Table], data_dir: Path | None) -> None:
    rows = [[part.name, part.title, status(part, data_dir)] for part in chosen]
    click.echo(table(["table", "what it shows", "status"], rows, left=3))


def _print(found: list[Reproduced]) -> None:
    for part in found:
        click.echo(f"\n{part.table.name}: {part.table.title}")
        if part.rows:
            click.echo(table(HEADER, [cells(row) for row in part.rows], left=3))
        for line in notes(part):
            click.echo(click.wrap_text(line, 100, "  ", "  "))


def _lead(quick: bool) -> str:
    command = shlex.join(["seqclass", *sys.argv[1:]])
    warning = "\n\nA quick run on little data: the figures mean nothing." if quick else ""
    return f"# Reproduction\n\nMade by seqclass {__version__}:\n\n```bash\n{command}\n```{warning}"


def _json(content: dict[str, Any]) -> str:
    return json.dumps(plain(content), indent=2, allow_nan=False) + "\n"


def _write(path: Path, text: str) -> None:
    with refused(), replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
