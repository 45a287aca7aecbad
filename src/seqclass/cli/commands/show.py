"""What ``seqclass show`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, runs


@click.command()
@click.argument("model", type=PATH)
@click.option("--all", "all_features", is_flag=True, help="List every feature, not only the first 20.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@runs("show")
def show() -> None:
    """Tell what is in a MODEL file: classes, features in the order asked for, certificate, settings.

    Prices and costs are in the unit of the costs of decisions, which are shown; a wrong one costs 1 unless they were
    given.
    """
