"""What ``seqclass ask`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, runs, unknown_option


@click.command()
@click.argument("model", type=PATH)
@click.option("--resume", type=PATH, metavar="FILE", help="Go on with a case that --save wrote.")
@click.option("--save", type=PATH, metavar="FILE", help="Keep the case in a file, up to date after every answer.")
@click.option("--known", multiple=True, metavar="NAME=VALUE", help="What is known and costs nothing; once or more.")
@click.option("--first", multiple=True, metavar="NAME", help="What is asked in any case and first; once or more.")
@unknown_option
@click.option("--strict", is_flag=True, help="Refuse a number outside of the range of training, rather than warn.")
@runs("ask")
def ask() -> None:
    """Work through one live case: the MODEL asks only for what it needs.

    Each question comes with its price and with what it is expected to save beyond that price, both in the
    unit of the model's prices. Answer with a number or a category; "?" if the feature cannot be had,
    "undo" to take the last answer back, "quit" to stop; NAME = VALUE answers another feature than the one that is
    asked for, and "best" shows the questions that promise most. The case ends with the decision and what it cost.

    What is known at the start costs nothing: --known age=63 --known sex=f. What has to be asked anyway comes first:
    --first pulse.

    A number outside of the range of training is taken with a warning, as it may be a slip of the pen, and refused with
    --strict. To go on with a case and keep it in the same file, give --resume and --save that file.

    Answers may be piped in, one a line. Where they end before the case does, its state is printed, and the exit
    code is 0, as it is for "quit".
    """
