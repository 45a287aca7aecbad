"""What ``seqclass predict`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, csv_options, quiet_option, runs, unknown_option


@click.command()
@click.argument("model", type=PATH)
@click.argument("new", type=PATH)
@click.option(
    "--output",
    "-o",
    type=PATH,
    metavar="CSV|FOLDER",
    help="File to write to, whole or not at all; or, of Parquet, a folder.  [default: stdout]",
)
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="Copy a column of NEW, such as a case number, to the output."
)
@unknown_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: totals, and the rows unless -o is given.")
@csv_options
@quiet_option
@runs("predict")
def predict() -> None:
    """Decide for every row of the table NEW with a MODEL that 'seqclass fit' wrote.

    NEW is read as 'seqclass fit' reads its data. Columns may come in any order; further ones are ignored, and ones
    that no row asks for may be left out. A cell that is asked for and missing tells nothing.

    \b
    The output is CSV, a line a row:
      decision         the cheapest decision
      posterior_CLASS  probability of each class, given what was acquired
      n_features       features acquired
      cost             prices paid, in the unit of the model's prices
      asked            names of the features asked for, in order, joined by ";"; one that holds ; or " is in quotation
                       marks, those in it doubled, as in CSV

    Where NEW is a folder of Parquet files, or one such file and -o a folder, the output is a folder of Parquet files,
    one for each, decided in chunks whatever their size. Where that was cut short, the same command goes on: files that
    are whole, of this model and of files that have not changed, stay as they are. No scores follow.

    Where NEW has the column of the labels that the model was trained with, scores follow, as of 'seqclass evaluate';
    without -o they go to stderr.
    """  # noqa: D301 (click wants the character, not the two signs)
