"""What ``seqclass certify`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, Finite, csv_options, quiet_option, runs, unknown_option

#: As `RISKS` and `LADDERS` have them, which a test compares.
_RISKS = ["error", "sensitivity", "cost"]
_LADDERS = ["belief", "price"]
_SHARE = Finite(min=0, max=1, min_open=True, max_open=True)


@click.command()
@click.argument("model", type=PATH)
@click.argument("data", type=PATH)
@click.option("--target", "-t", metavar="COLUMN", help="Column of the labels (for .npz: the array, 'y' by default).")
@click.option(
    "--alpha",
    type=Finite(min=0, min_open=True),
    default=0.1,
    show_default=True,
    help="Highest error rate, or mean cost.",
)
@click.option("--delta", type=_SHARE, default=0.1, show_default=True, help="Chance that it may be higher.")
@click.option(
    "--metric",
    type=click.Choice(_RISKS),
    help="What ALPHA is about: rows decided for a wrong class; cases of a class that are missed; prices and decision "
    "costs.  [default: error, or sensitivity with --class]",
)
@click.option("--class", "label", metavar="LABEL", help="Class of which a share of at most ALPHA may be missed.")
@click.option("--groups", metavar="COLUMN", help="Column of groups, such as the sex: ALPHA is to hold in each.")
@click.option("--ladder", type=click.Choice(_LADDERS), default="belief", show_default=True, help="Rules to try.")
@click.option(
    "--also",
    type=PATH,
    multiple=True,
    metavar="MODEL",
    help="Another model, tried beside the first with an equal part of DELTA; may be given more than once.",
)
@click.option("--output", "-o", type=PATH, metavar="MODEL", help="File to write the certified classifier to.")
@click.option("--allow-seen", is_flag=True, help="Take rows that look like those that the model was fitted to.")
@unknown_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@csv_options
@quiet_option
@runs("certify")
def certify() -> None:
    """Certify an error rate of a MODEL on the labelled rows of DATA, by the cheapest stopping rule that has it.

    DATA must hold rows that the model was not fitted to, drawn like those it will meet. The rule that is found has an
    error rate of at most ALPHA, but for a chance of DELTA, whatever the model is worth; or it is said that there is
    none, and what these rows would certify. Nothing is written then, and the exit code is 3; nor, with exit code 4, if
    all that passes is a rule that decides alike for everybody, such as "ill".

    What is written with -o is a classifier for predict, explain, ask and show, with the rule that was certified.
    """
