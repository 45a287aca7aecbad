"""``seqclass export``: a policy as a page, JSON or C."""

from __future__ import annotations

from pathlib import Path

import click

from seqclass.cli._describe import load_model
from seqclass.cli._errors import check_output, refused
from seqclass.cli._format import count
from seqclass.export import MAX_NODES, export_policy

_PATH = click.Path(path_type=Path)
_FORMATS = {"html": ".html", "json": ".json", "c": ".c"}


@click.command()
@click.argument("model", type=_PATH)
@click.option(
    "--output", "-o", type=_PATH, metavar="FILE", help="File to write.  [default: MODEL with the format's ending]"
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(list(_FORMATS)),
    default="html",
    show_default=True,
    help="A page to work through cases with, the policy as data, or C99 that allocates nothing.",
)
@click.option("--title", help="Title of the page.  [default: name of the file]")
@click.option(
    "--max-nodes",
    type=click.IntRange(min=1),
    default=MAX_NODES,
    show_default=True,
    help="Most nodes, where the policy has to be written as a graph.",
)
@click.option(
    "--min-probability",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Cases of such a graph that are rarer are not followed further: it decides as things stand, and says so.",
)
def export(
    model: Path, output: Path | None, kind: str, title: str | None, max_nodes: int, min_probability: float
) -> None:
    """Write what the MODEL asks and decides to a file that needs no Python.

    The page works offline, on a phone, too: it asks one question after the other, says why and at what price, and
    decides. With naive Bayes and a fixed order any feature may be answered at any time; any other policy becomes a
    graph of all cases that it can meet, and takes answers in the order in which it asks.

    \b
    Example:
      seqclass export model.seq -o page.html
    """  # noqa: D301 (click wants the character, not the two signs)
    path = model.with_suffix(_FORMATS[kind]) if output is None else output
    clf = load_model(model)
    check_output(path, read=[model])
    with refused():
        data = export_policy(clf, path, format=kind, title=title, max_nodes=max_nodes, min_probability=min_probability)
    told = f", {count(len(data['nodes']), 'node')}" if data["kind"] == "graph" else ""
    click.echo(f"Wrote {path}: {count(len(data['features']), 'feature')}{told}.")
    if data["kind"] == "graph" and data["cut"]:
        click.echo(
            f"Rare cases are not followed to their end: {100 * data['cut']:.2g}% of all, were 5% of answers missing."
        )
