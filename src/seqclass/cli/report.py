"""``seqclass report``: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from seqclass.cli._errors import InputError, check_input, check_output, refused
from seqclass.cli._format import count
from seqclass.experiment import Results
from seqclass.report import Explored, ExploredRun, explore, explore_run, write_report

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("run", type=_PATH)
@click.option("--output", "-o", type=_PATH, metavar="PAGE", help="Page to write.  [default: RUN with the ending .html]")
@click.option("--title", help="Title of the page.  [default: name of the run's file]")
@click.option(
    "--explore",
    "explored",
    nargs=2,
    multiple=True,
    metavar="DATA METHOD",
    help="Step through instances of this data set by this method, both by their names in the run; may be given more "
    "than once.  [default: every method that asks for features one by one, on every data set]",
)
@click.option("--no-explorer", is_flag=True, help="Leave out the instances to step through.")
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    metavar="N",
    help="Most instances of each to step through, evenly taken.  [default: all that the run keeps]",
)
@click.option(
    "--price",
    type=click.FloatRange(min=0),
    help="Price of the run at which to step through instances, and to draw what was acquired.  [default: the first]",
)
def report(
    run: Path,
    output: Path | None,
    title: str | None,
    explored: tuple[tuple[str, str], ...],
    no_explorer: bool,
    instances: int | None,
    price: float | None,
) -> None:
    """Write the RUN that 'seqclass compare' made as one HTML page.

    The page has the tables, which sort, with intervals, tests and pictures; what was acquired, of which class and when;
    instances that the reader can step through, to see what was asked, why, and how the belief moved; what failed;
    settings and versions. It needs neither a server nor a network: put it anywhere, send it to anybody.

    \b
    Example:
      seqclass report run.db -o page.html --explore breast_cancer etana --price 0.05
    """  # noqa: D301 (click wants the character, not the two signs)
    if no_explorer and (explored or instances):
        raise InputError("--no-explorer leaves out what --explore and --instances are for.")
    check_input(run)
    page = run.with_suffix(".html") if output is None else output
    check_output(page, read=[run])
    with refused():
        results = Results.load(run)
        found = ExploredRun({}) if no_explorer else _explored(results, explored, price, instances)
        written = write_report(results, page, title=title, explanations=found, price=price)
    told = "" if no_explorer else f", {count(found.n_instances, 'instance')} to step through"
    click.echo(f"Wrote {written}: {count(len(results.table()), 'cell')}{told}.")
    if found.note:
        click.echo(found.note)


def _explored(
    results: Results, chosen: tuple[tuple[str, str], ...], price: float | None, instances: int | None
) -> ExploredRun:
    """Instances of the methods that were chosen, or of all."""
    if not chosen:
        return explore_run(results, price=price, n_instances=instances)
    methods: dict[str, Explored] = {}
    for data, name in chosen:
        title = f"{name} on {data}"
        if title in methods:
            raise InputError(f"--explore: {title} is given twice.")
        methods[title] = explore(results, data, name, price=price, n_instances=instances)
    return ExploredRun(methods)
