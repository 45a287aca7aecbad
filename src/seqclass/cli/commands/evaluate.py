"""What ``seqclass evaluate`` takes."""

from __future__ import annotations

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
    unknown_option,
)


@click.command()
@click.argument("model", type=PATH)
@click.argument("data", type=PATH)
@click.option(
    "--target", "-t", metavar="COLUMN", help="Column of the labels.  [default: the one the model was trained with]"
)
@costs_option
@dataset_costs_option
@decision_costs_option
@click.option(
    "--positive",
    metavar="LABEL",
    help="Class of the decision curve.  [default: the last of two classes in order; of more, none]",
)
@click.option(
    "--prevalence",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Share of that class where the decision curve is to hold.  [default: its share of DATA]",
)
@click.option(
    "--threshold",
    "thresholds",
    type=Finite(0, 1, min_open=True, max_open=True),
    multiple=True,
    metavar="P",
    help="Threshold probability of the decision curve; may be given more than once.  [default: 0.01 to 0.99]",
)
@click.option("--groups", metavar="COLUMN", help="Scores of each group that this column names, such as the sex.")
@click.option("--drop-unlabelled", is_flag=True, help="Leave out rows without a label, rather than refuse them.")
@unknown_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@csv_options
@quiet_option
@runs("evaluate")
def evaluate() -> None:
    """Tell what a MODEL costs on the rows of the table DATA, whose labels are known.

    DATA is read as 'seqclass predict' reads its rows. The realised cost of a row is what was paid for its features
    and what its decision cost; a wrong one costs 1 unless costs of decisions were given. Intervals are at 95%, and mean
    something for rows that the model was not fitted to.

    By class follow sensitivity and specificity; with --groups the cost and error of each group, and whether it differs
    from the others by more than noise; the decision curve, which tells what the model is worth to whoever treats from
    some probability on, beside treating all or none; and whether it was as sure as it was right, by the number of
    questions asked.

    Prices and costs are the model's. With --costs, --dataset-costs or --decision-costs the model asks and decides as
    before, and is judged at those; features that the file does not name keep the model's price.

    \b
    Example:
      seqclass evaluate model.seq later.csv
    """  # noqa: D301 (click wants the character, not the two signs)
