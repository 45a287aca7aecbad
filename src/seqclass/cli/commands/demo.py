"""What ``seqclass demo`` takes."""

from __future__ import annotations

import click

from seqclass.cli.commands._shared import PATH, quiet_option, runs


@click.command()
@click.option(
    "--output",
    "-o",
    type=PATH,
    default="seqclass-demo.png",
    show_default=True,
    metavar="PICTURE",
    help="File for the picture: .png, .pdf or .svg.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the folds and methods.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@quiet_option
@runs("demo")
def demo() -> None:
    """See seqclass work on real data, beside ordinary classifiers.

    Diagnoses breast tumours (569 patients, 30 measurements; scikit-learn's copy of the Wisconsin data) at a price of
    0.01 a measurement: five-fold cross-validation of adaptive, ETANA and ordinary classifiers, then one held-out
    patient's story step by step, and a picture (which needs matplotlib). Takes half a minute and no network.
    """
