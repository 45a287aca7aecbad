"""What ``seqclass report`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, Finite, runs


@click.command()
@click.argument("run", type=PATH)
@click.option("--output", "-o", type=PATH, metavar="PAGE", help="Page to write.  [default: RUN with the ending .html]")
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
    type=Finite(min=0),
    help="Price of the run at which to step through instances, and to draw what was acquired.  [default: the first]",
)
@click.option(
    "--positive",
    multiple=True,
    metavar="LABEL",
    help="Class of the decision curves; may be given more than once, for data sets of different classes.  [default: "
    "the last of two classes in order]",
)
@runs("report")
def report() -> None:
    """Write the RUN that 'seqclass compare' made as one HTML page.

    The page has the tables, which sort, with intervals, tests and pictures; what was acquired, of which class and when;
    instances that the reader can step through, to see what was asked, why, and how the belief moved; what failed;
    settings and versions. It needs neither a server nor a network: put it anywhere, send it to anybody.

    \b
    Example:
      seqclass report run.db -o page.html --explore breast_cancer etana --price 0.05
    """  # noqa: D301 (click wants the character, not the two signs)
