"""What ``seqclass export`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, Finite, runs

_FORMATS = ["html", "json", "c"]


@click.command()
@click.argument("model", type=PATH)
@click.option(
    "--output", "-o", type=PATH, metavar="FILE", help="File to write.  [default: MODEL with the format's ending]"
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(_FORMATS),
    default="html",
    show_default=True,
    help="A page to work through cases with, the policy as data, or C99 that allocates nothing.",
)
@click.option("--title", help="Title of the page.  [default: name of the file]")
@click.option(
    "--max-nodes",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    help="Most nodes, where the policy has to be written as a graph.",
)
@click.option(
    "--min-probability",
    type=Finite(0, 1),
    default=0.0,
    show_default=True,
    help="Cases of such a graph that are rarer are not followed further: it decides as things stand, and says so.",
)
@runs("export")
def export() -> None:
    """Write what the MODEL asks and decides to a file that needs no Python.

    The page works offline, on a phone, too: it asks one question after the other, says why and at what price, and
    decides. With naive Bayes and a fixed order any feature may be answered at any time; any other policy becomes a
    graph of all cases that it can meet, and takes answers in the order in which it asks.

    \b
    Example:
      seqclass export model.seq -o page.html --min-probability 0.001
    """  # noqa: D301 (click wants the character, not the two signs)
