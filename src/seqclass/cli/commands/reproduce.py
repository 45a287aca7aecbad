"""What ``seqclass reproduce`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, quiet_option, runs

_FORMATS = ["png", "svg"]


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--list", "listing", is_flag=True, help="List all tables, and which the data at hand allows.")
@click.option(
    "--data", "data_dir", type=PATH, metavar="DIR", help="Folder of the data sets.  [default: $SEQCLASS_DATA]"
)
@click.option("--jobs", "-j", type=int, default=1, show_default=True, help="Processes; -1 for one a processor.")
@click.option("--output", "-o", type=PATH, metavar="RUN", help="File of the run, which keeps what is computed.")
@click.option("--quick", is_flag=True, help="On little data: does it run? The figures then mean nothing.")
@click.option("--json", "json_file", type=PATH, metavar="FILE", help="Write the tables as JSON; - for standard output.")
@click.option("--markdown", "markdown_file", type=PATH, metavar="FILE", help="Write the tables as a Markdown page.")
@click.option("--pictures", type=PATH, metavar="DIR", help="Draw what is a figure of a paper into DIR/<table>.png.")
@click.option("--picture-format", type=click.Choice(_FORMATS), help=f"Kind of picture.  [default: {_FORMATS[0]}]")
@quiet_option
@runs("reproduce")
def reproduce() -> None:
    """Compute tables and figures of the papers: the paper's, the authors' code's and our figures side by side.

    TABLE is the name of a table, such as ifc2f-3, or of a paper for all of its tables: etana, fires, semi_rfs, ifc2f,
    saola, gdfs. Without one, all that the data allows are computed, which takes hours. What the data does not allow is
    listed with the reason.

    Each table is printed as soon as it is done, and the files of --json and --markdown are written anew. What is
    computed is kept in the file RUN piece by piece: the same command goes on where it was stopped. A table that fails
    does not end the others; the exit code is then 1.

    With --pictures each table that is a figure is drawn as soon as it is done, and the Markdown page shows it.

    In a Markdown page that has the lines "<!-- seqclass reproduce: begin -->" and "<!-- seqclass reproduce: end -->",
    tables between them that are computed anew are replaced, and the others stay; a quick run replaces all. Between
    "<!-- seqclass reproduce: digest -->" and "<!-- seqclass reproduce: end of digest -->" the tables are summed up.

    \b
    Examples:
      seqclass reproduce --list
      seqclass reproduce etana-2 etana-3 --data DIR -o run.db --markdown tables.md
      seqclass reproduce semi_rfs-fig3 --pictures images --markdown tables.md
    """  # noqa: D301 (click wants the character, not the two signs)
