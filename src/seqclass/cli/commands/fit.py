"""What ``seqclass fit`` takes."""

from __future__ import annotations

from typing import Any

import click

from seqclass._utils.text import shown
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

#: As `_METHODS`, `EFFORTS` and `_SELECTORS` have them, which a test compares.
_METHODS = ["etana", "f_etana", "ifc2f", "adaptive"]
_EFFORTS = ["quick", "normal", "thorough"]
_SELECTORS = [
    "alpha_investing",
    "efs",
    "fast_osfs",
    "fcbf",
    "fires",
    "fsds",
    "ofs",
    "ofs_a3m",
    "ofs_density",
    "osfs",
    "saola",
]
_METHOD_HELP = (
    "How to learn: naive Bayes with its best stopping rule (etana) or with linear thresholds (f_etana); or a filter, "
    "and a tree over features that depend on one another (ifc2f); or, tried on rows held out, class mixtures that let "
    "every answer decide what is asked next, unless another way costs less (adaptive).  [default: adaptive; etana for "
    "a folder, and where --select, --n-bins, --order, --calibrate or --published says how to learn]"
)
_RULES = ("auto", "n_classes", "sparsity")


def _bins(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """A number of bins, or the name of a rule for it."""
    if value is None or value in _RULES:
        return value
    if not value.isdecimal() or int(value) < 2:
        rules = " nor ".join(map(repr, _RULES))
        raise click.BadParameter(f"{shown(value)} is neither a whole number of at least 2 nor {rules}.")
    return int(value)


@click.command()
@click.argument("data", type=PATH)
@click.option("--target", "-t", metavar="COLUMN", help="Column of the labels (for .npz: the array, 'y' by default).")
@click.option("--output", "-o", type=PATH, required=True, metavar="MODEL", help="File to write the model to.")
@costs_option
@dataset_costs_option
@click.option(
    "--feature-cost",
    type=Finite(min=0),
    metavar="PRICE",
    help="Price of every feature, or of those that --costs leaves out.  [default: 0.01]",
)
@decision_costs_option
@click.option("--method", type=click.Choice(_METHODS), help=_METHOD_HELP)
@click.option(
    "--effort",
    type=click.Choice(_EFFORTS),
    help="How much --method adaptive tries: seconds to minutes.  [default: quick]",
)
@click.option(
    "--select",
    type=click.Choice(_SELECTORS),
    help="Model only the features that this selector keeps.  [default: none; with ifc2f its own filter]",
)
@click.option("--published", is_flag=True, help="The paper's own settings in place of ours, which do better.")
@click.option(
    "--order",
    type=click.Choice(["fixed", "adaptive"]),
    default="fixed",
    show_default=True,
    help="Ask in one order for everybody, or let what is asked next depend on what was seen.",
)
@click.option(
    "--n-bins",
    callback=_bins,
    metavar="N|auto|n_classes|sparsity",
    help="Bins of a numeric feature: a number, or by the number of rows (auto), of classes, or by whether most values "
    "are zero.  [default: auto; 4 with ifc2f]",
)
@click.option(
    "--calibrate",
    is_flag=True,
    help="Flatten what answers say as far as rows held out ask for, the later ones more: for honest expected costs, "
    "and where errors are dear. Takes ten fits or more.",
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be given more than once.")
@click.option("--drop-unlabelled", is_flag=True, help="Leave out rows without a label, rather than refuse them.")
@click.option(
    "--held-out",
    type=click.IntRange(min=0),
    metavar="N",
    help="Tell what the classifier costs on rows that it has not seen: fit it once more without each of N folds. 0 "
    "leaves it out.  [default: 5]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all that is random.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@csv_options
@quiet_option
@runs("fit")
def fit() -> None:
    """Learn a classifier from the table DATA and write it to a file.

    DATA is .csv, .tsv (both also .gz), .parquet, or .npz with arrays X and y, or with data, indices, indptr and
    shape of a sparse matrix. Columns of text are categories; an empty cell, NA, NaN, None, null or ? is missing; a
    first column without a name is a row index and left out. Rows are counted from 1, below the header. With --sep and
    --decimal CSV and TSV files, those of prices and costs too, are read as they say.

    DATA may be a folder of .parquet files as well, of any size: these are read in chunks, several times, so that memory
    does not grow with the rows. What looks at rows, such as --held-out, then looks at a sample of 20,000.

    Prices are in the unit of --decision-costs. Without these a wrong decision costs 1: at a price of 0.01, a feature
    is acquired where it is expected to spare more than one wrong decision in a hundred.

    \b
    Example:
      seqclass fit patients.csv --target diagnosis --drop patient_id -o model.seq
    """  # noqa: D301 (click wants the character, not the two signs)
