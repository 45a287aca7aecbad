"""``seqclass demo``: the main job on real data, beside ordinary classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seqclass.cli._demo_picture import draw
from seqclass.cli._demo_run import PRICE, Comparison, compare
from seqclass.cli._demo_story import Story, tell
from seqclass.cli._describe import held_out_text
from seqclass.cli._errors import InputError, check_output, refused
from seqclass.cli._format import echo_json, gap_text, table, wrapped

_PICTURES = (".png", ".pdf", ".svg")


def _command(output: Path, seed: int, as_json: bool) -> None:
    """See it work on real data: a table, one patient's story, a picture."""
    check_output(output)
    if output.suffix.lower() not in _PICTURES:
        raise InputError(f"cannot draw {output}: its name must end in {', '.join(_PICTURES)}.")
    comparison = compare(seed)
    story = tell(comparison)
    with refused(f"cannot write {output}"):
        drawn = draw(comparison, story, output)
    if as_json:
        echo_json(_record(comparison, story, output if drawn else None))
        if not drawn:
            click.echo(_NO_PICTURE, err=True)
        return
    _print_table(comparison)
    _print_story(story)
    click.echo(f"\nPicture written to {output}." if drawn else f"\n{_NO_PICTURE}")


_NO_PICTURE = "No picture, as matplotlib is not installed: run pip install 'seqclass[plot]'."


def _record(comparison: Comparison, story: Story, picture: Path | None) -> dict[str, Any]:
    return {
        "data": "breast_cancer",
        "feature_cost": PRICE,
        "results": [vars(result) for result in comparison.results],
        "chosen": comparison.chosen,
        "gap": comparison.gap,
        "expected_cost": comparison.held_out.expected_cost,
        "held_out": comparison.held_out.record(),
        "story": story.record(),
        "picture": None if picture is None else str(picture),
    }


def _print_table(comparison: Comparison) -> None:
    click.echo(
        wrapped(
            "Breast tumours: 569 patients, 30 measurements, 5-fold cross-validation. A measurement costs "
            f"{PRICE:g} and a wrong diagnosis 1; the realised cost, what is paid for measurements plus what wrong "
            "diagnoses cost, is what counts."
        )
    )
    head = ["method", "accuracy", "features", "price paid", "realised cost", "fit s", "predict s"]
    rows = [
        [
            r.method,
            f"{r.accuracy:.3f}",
            f"{r.mean_features:.2f}",
            f"{r.mean_cost:.4f}",
            f"{r.realised_cost:.4f}",
            f"{r.fit_seconds:.3f}",
            f"{r.predict_seconds:.4f}",
        ]
        for r in comparison.results
    ]
    click.echo("\n" + table(head, rows))
    click.echo(
        "\n"
        + wrapped(
            "Means per patient; seconds per fold. Adaptive chooses how to learn, here by a "
            f"{comparison.chosen}: the patients of each fold are decided by what the other folds choose, and its "
            "seconds are of one fit to all patients, with all that it tries. The tree is charged for the measurements "
            "on each patient's path, the classifiers below ETANA for all 30. Certified gap of ETANA's stopping rule to "
            f"the best one for its model and order, largest over the folds: {gap_text(comparison.gap)}."
        )
    )
    click.echo("\nWhat clf.held_out_ tells of adaptive\n")
    click.echo(held_out_text(comparison.held_out))


def _print_story(story: Story) -> None:
    click.echo("\nOne patient that the model has not seen\n")
    rows = [["", "prior", "", "", *(f"{100 * p:.1f}%" for p in story.prior)]]
    for i, step in enumerate(story.steps, 1):
        rows.append(
            [
                f"{i}",
                step.feature,
                f"{step.value:.4g}",
                f"{step.expected_saving:.4f}",
                *(f"{100 * p:.1f}%" for p in step.belief),
            ]
        )
    widths = [max(len(r[i]) for r in rows) for i in (0, 1)]
    rows = [[r[0].rjust(widths[0]), r[1].ljust(widths[1]), *r[2:]] for r in rows]
    head = [" " * widths[0], "asked".ljust(widths[1]), "got", "saving expected", *(f"P({c})" for c in story.classes)]
    click.echo(table(head, rows, left=2))
    right = "which is right" if story.decision == story.truth else f"but it was {story.truth}"
    click.echo(
        "\n"
        + wrapped(
            f"Then no measurement was expected to be worth its price: the decision is {story.decision}, {right}, after "
            f"{len(story.steps)} of 30 measurements and {story.cost:g} paid."
        )
    )
