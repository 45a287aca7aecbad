"""``python -m reproduction``: the papers' tables and figures beside ours."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from reproduction import Progress, Reproduced, get_tables, iter_reproduced, status, text
from reproduction._context import error_text
from reproduction.catalog import PAPERS, paper_of
from reproduction.page_files import Pages, write
from reproduction.papers import paper_items
from reproduction.picture_files import FORMATS, check_matplotlib, save_picture
from reproduction.pictures import NothingToDraw
from reproduction.render import duration, notes
from seqclass import __version__
from seqclass.cli import CONTEXT, Answering
from seqclass.cli._commands import File, quiet_option
from seqclass.cli._errors import InputError, as_input_errors, check_output, sentence
from seqclass.cli._format import echo_json, to_json_value
from seqclass.cli._progress import is_quiet, is_shown
from seqclass.datasets.catalog import data_files

#: Seconds between signs of life where there is no terminal.
_QUIET = 60.0
_WIDTH = 100


@click.command(cls=Answering, context_settings=CONTEXT)
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--list", "listing", is_flag=True, help="List all tables, and which the data at hand allows.")
@click.option("--data", "data_dir", type=File("dir"), help="Folder of the data sets.  [default: $SEQCLASS_DATA]")
@click.option("--jobs", "-j", type=int, default=1, help="Processes; -1 for one a processor.")
@click.option("--output", "-o", type=File("run"), help="File of the run, which keeps what is computed.")
@click.option("--quick", is_flag=True, help="On little data: does it run? The figures then mean nothing.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write the tables as JSON; - for standard output.",
)
@click.option(
    "--markdown",
    "markdown_file",
    type=File("file"),
    help="Write the tables as a Markdown page; in a folder, as a page a paper.",
)
@click.option("--pictures", type=File("dir"), help="Draw what is a figure of a paper into DIR/<table>.png.")
@click.option("--picture-format", type=click.Choice(FORMATS), help=f"Kind of picture.  [default: {FORMATS[0]}]")
@quiet_option
def main(
    tables: tuple[str, ...],
    listing: bool,
    data_dir: Path | None,
    jobs: int,
    output: Path | None,
    quick: bool,
    json_file: Path | None,
    markdown_file: Path | None,
    pictures: Path | None,
    picture_format: str | None,
) -> None:
    """Compute tables and figures of the papers: the paper's, the authors' code's and our figures side by side.

    TABLE is the name of a table, such as ifc2f-3, or of a paper for all of its tables: etana, fires, semi_rfs, ifc2f,
    saola, gdfs. Without one, all that the data allows are computed, which takes hours. What the data does not allow is
    listed with the reason.

    Each table is printed as soon as it is done, and the files of --json and --markdown are written anew. What is
    computed is kept in the file RUN piece by piece: the same command goes on where it was stopped. A table that fails
    does not end the others; the exit code is then 1.

    With --pictures each table that is a figure is drawn as soon as it is done, and the Markdown page shows it.

    In a Markdown page that has the lines "<!-- python -m reproduction: begin -->" and
    "<!-- python -m reproduction: end -->", tables between them that are computed anew are replaced, and the others
    stay; a quick run replaces all. Between "<!-- python -m reproduction: digest -->" and
    "<!-- python -m reproduction: end of digest -->" the tables are summed up. If --markdown names a folder that is
    there, its run.md has what was run, and etana.md and so on the tables; the digest is in its index.md, if it has one.

    \b
    Examples:
      python -m reproduction --list
      python -m reproduction etana-2 etana-3 --data DIR -o run.db --markdown tables.md
      python -m reproduction semi_rfs-fig3 --pictures images --markdown tables.md
    """  # noqa: D301 (click wants the character, not the two signs)
    if jobs == 0:
        raise InputError("--jobs must not be 0.")
    if picture_format is not None and pictures is None:
        raise InputError("--picture-format says how to draw what --pictures asks for; give a folder by --pictures.")
    to_stdout = json_file is not None and str(json_file) == "-"
    with as_input_errors():
        read = data_files(None, data_dir)
    one_page = None if markdown_file is not None and markdown_file.is_dir() else markdown_file
    outputs = [output, one_page, None if to_stdout else json_file]
    for i, path in enumerate(outputs):
        check_output(path, read, written=outputs[:i])
    if listing:
        _list(tables, data_dir)
        return
    command = _command_line(tables, data_dir, jobs, output, quick, json_file, markdown_file, pictures, picture_format)
    pages = None if markdown_file is None else Pages.read(markdown_file, command, quick)
    found: list[Reproduced] = []
    settings: dict[str, Any] = {"path": output, "data_dir": data_dir, "n_jobs": jobs, "quick": quick}
    with closing(_Watch(to_stdout or is_quiet())) as watch:
        with as_input_errors():
            running = iter_reproduced(tables, **settings, on_progress=watch)
        album = None if pictures is None else _Album(pictures, picture_format or FORMATS[0])
        for part in running:
            watch.close()
            found.append(part)
            if not to_stdout:
                _print(part)
            if json_file is not None and not to_stdout:
                write(json_file, json.dumps(to_json_value(_content(found, quick)), indent=2, allow_nan=False) + "\n")
            if album is not None:
                album.add(part)
            if pages is not None:
                pages.write(found, {} if album is None else album.links(pages.folder))
    if to_stdout:
        echo_json(_content(found, quick))
    _conclude(found, album)


def _conclude(found: list[Reproduced], album: _Album | None) -> None:
    failed = [f"{part.table.name} ({part.error})" for part in found if part.error]
    said = [f"{len(failed)} of {len(found)} tables failed: {'; '.join(failed)}."] if failed else []
    if album is not None and album.failed:
        undrawn = [f"{name} ({error})" for name, error in album.failed.items()]
        said.append(f"{len(undrawn)} of {len(album.drawn) + len(undrawn)} pictures failed: {'; '.join(undrawn)}.")
    if said:
        raise click.ClickException(" ".join(said))
    if not any(part.rows for part in found):
        raise InputError("nothing could be computed; python -m reproduction --list says why.")


class _Album:
    """Pictures of the tables so far; one that fails ends neither the run nor the others."""

    def __init__(self, folder: Path, file_format: str) -> None:
        self.folder, self.file_format = folder, file_format
        self.drawn: dict[str, Path] = {}
        self.failed: dict[str, str] = {}
        try:
            check_matplotlib()
        except ImportError as error:
            raise InputError(sentence(error)) from error
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is not a folder; --pictures takes one.")
        with as_input_errors():
            folder.mkdir(parents=True, exist_ok=True)

    def add(self, part: Reproduced) -> None:
        """Draw a table, if it is a figure."""
        if not part.has_picture:
            return
        try:
            self.drawn[part.table.name] = save_picture(part, self.folder, self.file_format)
        except NothingToDraw:
            pass  # what is absent or failed is told below the table
        except Exception as error:
            self.failed[part.table.name] = error_text(error)

    def links(self, folder: Path) -> dict[str, str]:
        """Paths of the pictures as seen from a folder."""
        beside = folder.resolve()
        return {name: Path(os.path.relpath(path.resolve(), beside)).as_posix() for name, path in self.drawn.items()}


class _Watch:
    """Tells which table is computed and how far it is: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self, silent: bool) -> None:
        self.silent = silent
        self.bar: Any = None

    def __call__(self, progress: Progress) -> None:
        """Take the news in."""
        if not progress.total:
            self._begin(progress)
        elif is_shown():
            self._draw(progress)
        else:
            self._say(progress)

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None

    def _begin(self, progress: Progress) -> None:
        self.close()
        self.at_start: tuple[float, int] | None = None
        self.said = time.monotonic()
        if not self.silent:
            place = f"[{progress.number + 1} of {progress.n_tables}]"
            click.echo(f"{place} {progress.table.name}: {progress.table.title}", err=True)

    def _draw(self, progress: Progress) -> None:
        from tqdm import tqdm

        if self.bar is None:
            name = progress.table.name
            self.bar = tqdm(total=progress.total, initial=progress.done, desc=name, leave=False, file=sys.stderr)
        self.bar.n = progress.done
        self.bar.set_postfix_str(progress.latest)

    def _say(self, progress: Progress) -> None:
        now = time.monotonic()
        if self.at_start is None:
            self.at_start = now, progress.done
        if self.silent or now - self.said < _QUIET:
            return
        self.said = now
        since, before = self.at_start
        new = progress.done - before
        left = f", {duration((progress.total - progress.done) * (now - since) / new)} left" if new else ""
        latest = f" ({progress.latest})" if progress.latest else ""
        click.echo(f"{progress.table.name}: {progress.done} of {progress.total}{latest}{left}", err=True)


def _list(tables: tuple[str, ...], data_dir: Path | None) -> None:
    """Show tables by paper, each with what it shows and below whether it can be made."""
    with as_input_errors():
        told = [(part, status(part, data_dir)) for part in get_tables(tables)]
    width = max(len(part.name) for part, _ in told) + 4
    lines = []
    for paper, group in itertools.groupby(told, lambda pair: paper_of(pair[0])):
        lines += ["", PAPERS[paper]]
        for part, said in group:
            lines.append(click.wrap_text(part.title, _WIDTH, f"  {part.name}".ljust(width), " " * width))
            lines.append(click.wrap_text(said, _WIDTH, " " * width, " " * width))
        if not tables or paper in tables:
            lines += _items(paper)
    click.echo("\n".join(lines[1:]))


def _items(paper: str) -> list[str]:
    """Every table and figure of a paper, and what has become of it."""
    items = paper_items(paper)
    width = max((len(item.number) for item in items), default=0) + 6
    told = [click.wrap_text(item.state, _WIDTH, f"    {item.number}".ljust(width), " " * width) for item in items]
    return ["", "  Every table and figure of the paper:", *told] if told else []


def _print(part: Reproduced) -> None:
    click.echo(f"\n{part.table.name}: {part.table.title} ({duration(part.seconds)})")
    if part.rows:
        click.echo(text(part))
    for line in notes(part):
        click.echo(click.wrap_text(line, _WIDTH, "  ", "  "))


def _command_line(
    tables: tuple[str, ...],
    data_dir: Path | None,
    jobs: int,
    output: Path | None,
    quick: bool,
    json_file: Path | None,
    markdown_file: Path | None,
    pictures: Path | None,
    picture_format: str | None,
) -> str:
    """The command, without the folders of this machine."""
    words = ["python", "-m", "reproduction", *tables]
    words += ["--data", "DIR"] if data_dir is not None else []
    words += ["--jobs", str(jobs)] if jobs != 1 else []
    words += ["--quick"] if quick else []
    named = {"--output": output, "--json": json_file, "--markdown": markdown_file, "--pictures": pictures}
    for option, path in named.items():
        words += [option, path.name] if path is not None else []
    words += ["--picture-format", picture_format] if picture_format is not None else []
    return shlex.join(words)


def _content(found: list[Reproduced], quick: bool) -> dict[str, Any]:
    return {"version": __version__, "quick": quick, "tables": [part.as_dict() for part in found]}


if __name__ == "__main__":
    main()
