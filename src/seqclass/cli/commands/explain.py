"""What ``seqclass explain`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, csv_options, quiet_option, runs, unknown_option


@click.command()
@click.argument("model", type=PATH)
@click.argument("data", type=PATH)
@click.option(
    "--row", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Number of the row, from 1."
)
@unknown_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@csv_options
@quiet_option
@runs("explain")
def explain() -> None:
    """Tell why a row of the table DATA is decided as it is, by a MODEL that 'seqclass fit' wrote.

    DATA is read as 'seqclass predict' reads its table. For each feature that is asked for: what it showed, the belief
    after it, its price, and what asking it was expected to save beyond that price; then why no more was asked, and
    what each decision is expected to cost. Prices and costs are in the unit of the model's costs of decisions; a wrong
    one costs 1 unless they were given.
    """
