"""``seqclass report``: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seqclass.cli._errors import InputError, check_input, check_output, refused
from seqclass.cli._format import count
from seqclass.cli._progress import working
from seqclass.cli.compare import _named
from seqclass.datasets import load
from seqclass.experiment import Results
from seqclass.report import Explored, explore, write_report

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
    metavar="DATA [NAME=]METHOD",
    help="Step through instances of this data set by this method, both written as for 'seqclass compare'; may be given "
    "more than once.",
)
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Instances of each to explain, taken evenly from the rows scored.",
)
@click.option("--price", type=click.FloatRange(min=0), help="Price at which to explore.  [default: the run's first]")
@click.option("--missing-cost", type=click.FloatRange(min=0), help="As the run had it, for what is explored.")
@click.option("--target", "-t", metavar="COLUMN", help="As the run had it, for what is explored.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="As the run had it, for what is explored.")
@click.option("--data-dir", type=_PATH, metavar="DIR", help="Folder of your data sets.  [default: $SEQCLASS_DATA]")
def report(
    run: Path,
    output: Path | None,
    title: str | None,
    explored: tuple[tuple[str, str], ...],
    instances: int,
    price: float | None,
    missing_cost: float | None,
    target: str | None,
    drop: tuple[str, ...],
    data_dir: Path | None,
) -> None:
    """Write the RUN that 'seqclass compare' made as one HTML page.

    The page has the tables, which sort, with intervals, tests and pictures; what failed; settings and versions. It
    needs neither a server nor a network: put it anywhere, send it to anybody.

    A run keeps no classifiers. With --explore one is fitted once more, on the run's own settings and rows, and the
    reader of the page can step through what it asked, why, and how the belief moved.

    \b
    Example:
      seqclass report run.db -o page.html --explore breast_cancer etana --instances 50
    """  # noqa: D301 (click wants the character, not the two signs)
    page = run.with_suffix(".html") if output is None else output
    check_input(run)
    check_output(page)
    settings: dict[str, Any] = {"target": target} if target else {}
    settings |= {"drop": drop} if drop else {}
    explanations: dict[str, Explored] = {}
    with refused():
        results = Results.load(run)
        for data, text in explored:
            [(name, method)] = _named((text,)).items()
            dataset = load(data, data_dir, **settings)
            title_of = f"{name} on {dataset.name}"
            if title_of in explanations:
                raise InputError(f"--explore: {title_of} is given twice.")
            with working(lambda: f"fitting {name}"):  # noqa: B023 (it is called inside the loop only)
                explanations[title_of] = explore(
                    results, dataset, name, method, price=price, n_instances=instances, missing_cost=missing_cost
                )
        written = write_report(results, page, title=title, explanations=explanations)
    n = sum(len(one.explanations) for one in explanations.values())
    click.echo(f"Wrote {written}: {count(len(results.table()), 'cell')}, {count(n, 'instance')} to step through.")
