"""What ``seqclass plan`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import (
    PATH,
    Finite,
    costs_option,
    csv_options,
    decision_costs_option,
    quiet_option,
    runs,
)


@click.command()
@click.argument("file", type=PATH)
@click.option(
    "--target",
    "-t",
    "targets",
    multiple=True,
    required=True,
    metavar="NODE",
    help="What is to be found out. Given more than once, such as for several faults, it is the joint state of all.",
)
@click.option("--output", "-o", type=PATH, required=True, metavar="PLAN", help="File to write the plan to.")
@click.option(
    "--price",
    type=Finite(min=0),
    metavar="PRICE",
    help="Price of every question, or of those that --costs leaves out.  [default: 0.01]",
)
@costs_option
@decision_costs_option
@click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="NODE",
    help="What may be asked; once or more.  [default: all nodes but the targets]",
)
@click.option("--hidden", multiple=True, metavar="NODE", help="What may not be asked; once or more.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="S",
    help="Longest time of planning: the best that was found by then is taken.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all that is random.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@csv_options
@quiet_option
@runs("plan")
def plan() -> None:
    """Plan what to ask of a case, from the Bayesian network in FILE and without data.

    FILE is .bif, .xmlbif or .xml, .xdsl (of GeNIe) or .uai, each also with .gz. The nodes of a UAI file, which has no
    names, are x0, x1, ... and their states 0, 1, ... Nothing in the file is run.

    Any question may come next, and what is best to ask depends on the answers so far. The plan is worked through by
    'seqclass ask', whose --known takes what is known at no price, and whose --first what has to be asked anyway.

    \b
    Example:
      seqclass plan hepar2.bif --target Cirrhosis --price 0.01 -o plan.seq
      seqclass ask plan.seq --known sex=female --first fatigue
    """  # noqa: D301 (click wants the character, not the two signs)
