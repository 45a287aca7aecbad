"""What ``seqclass compare`` takes."""

from __future__ import annotations

import re

import click

from seqclass.cli.commands._shared import (
    PATH,
    Finite,
    costs_option,
    csv_options,
    dataset_costs_option,
    decision_costs_option,
    quiet_option,
    runs,
)

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
#: Options that may be followed by several numbers.
_SEVERAL = ("--price", "--budget", "--seeds")


class _Command(click.Command):
    """A command in which ``--seeds 0 1 2`` is short for ``--seeds 0 --seeds 1 --seeds 2``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        option = ""
        for i, argument in enumerate(args):
            if argument == "--":
                spread += args[i:]
                break
            first = i > 0 and args[i - 1] in _SEVERAL
            if option and not first and _NUMBER.fullmatch(argument):
                spread.append(option)
            elif not first:
                option = argument if argument in _SEVERAL else ""
            spread.append(argument)
        return super().parse_args(ctx, spread)


@click.command(cls=_Command)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--method",
    "-m",
    "methods",
    multiple=True,
    metavar="[NAME=]METHOD",
    help="adaptive, etana, f_etana, ifc2f, or sklearn:CLASS of a classifier, with steps before it joined by +; "
    "settings may follow in brackets. May be given more than once.  [default: etana, ifc2f]",
)
@click.option(
    "--price",
    "prices",
    type=Finite(min=0),
    multiple=True,
    metavar="PRICE...",
    help="Price of every feature; several are tried one by one. With --costs or --dataset-costs a factor of those.  "
    "[default: 0.01; 1 with these]",
)
@costs_option
@dataset_costs_option
@decision_costs_option
@click.option(
    "--budget",
    "budgets",
    type=click.IntRange(min=0),
    multiple=True,
    metavar="N...",
    help="Hard budget: so many features are asked of each case, whatever they cost; several are tried one by one. The "
    "price is then 0 unless given.",
)
@click.option(
    "--known", multiple=True, metavar="COLUMN", help="A column that is known at the start; may be given more than once."
)
@click.option("--missing-cost", type=Finite(min=0), help="Price where that file gives none, before --price.")
@click.option("--folds", type=click.IntRange(min=2), metavar="N", help="Stratified folds.  [default: 5]")
@click.option(
    "--split",
    type=click.Choice(["source", "60/20/20"]),
    help="In place of folds: the split that comes with the data, or a random one into training, validation and test.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    multiple=True,
    metavar="SEED...",
    help="Each shuffles anew.  [default: 0]",
)
@click.option("--target", "-t", metavar="COLUMN", help="Column of the labels, of data in files.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be given more than once.")
@click.option("--data-dir", type=PATH, metavar="DIR", help="Folder of your data sets.  [default: $SEQCLASS_DATA]")
@click.option("--jobs", "-j", type=int, default=1, show_default=True, help="Processes; -1 for one a processor.")
@click.option("--retry-failed", is_flag=True, help="Compute cells again that failed before.")
@click.option(
    "--keep-instances",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Most scored instances of a cell to keep with their decisions, evenly taken.",
)
@click.option(
    "--keep-explanations",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Most of them to explain, for 'seqclass report'.",
)
@click.option("--output", "-o", type=PATH, required=True, metavar="RUN", help="File of the run.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the whole table, a row a cell, as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the summary, and a row a cell.")
@csv_options
@quiet_option
@runs("compare")
def compare() -> None:
    """Compare methods on data sets at prices.

    DATA are names of data sets, such as breast_cancer, openml:NAME or the name of a file in --data-dir without its
    ending, or paths of files. Whatever is learnt is learnt from the training rows of a fold. Realised cost is what a
    case costs on the other rows, prices and wrong decisions together.

    Each result is kept in the file RUN as soon as it is there: the same command goes on where it was stopped, and one
    with more methods, prices or seeds computes only what is new.

    \b
    Example:
      seqclass compare breast_cancer wine -m etana -m "sklearn:StandardScaler+LogisticRegression" \\
          --price 0.01 0.05 --folds 5 --seeds 0 1 --jobs 2 -o run.db
    """  # noqa: D301 (click wants the character, not the two signs)
