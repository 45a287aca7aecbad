"""``seqclass report``: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seqclass.cli._errors import InputError, as_input_errors, check_input_file, check_output
from seqclass.cli._format import count
from seqclass.experiment import Results
from seqclass.report import Explored, explore, write_report
from seqclass.report.explore import ExploredRun, explore_run


def _command(
    run: Path,
    output: Path | None,
    title: str | None,
    explored: tuple[tuple[str, str], ...],
    no_explorer: bool,
    instances: int | None,
    price: float | None,
    positive: tuple[str, ...],
    currency: str | None,
    labels: Path | None,
) -> None:
    if no_explorer and (explored or instances):
        raise InputError("--no-explorer leaves out what --explore and --instances are for.")
    check_input_file(run)
    page = run.with_suffix(".html") if output is None else output
    check_output(page, read=[run, labels])
    with as_input_errors():
        results = Results.load(run)
        explored_run = ExploredRun({}) if no_explorer else _explore(results, explored, price, instances)
        settings: dict[str, Any] = {
            "explanations": explored_run,
            "price": price,
            "positive": positive,
            "labels": labels,
            "unit": currency,
        }
        written = write_report(results, page, title=title, **settings)
    also = "" if no_explorer else f", {count(explored_run.n_instances, 'instance')} to step through"
    click.echo(f"Wrote {written}: {count(len(results.to_frame()), 'cell')}{also}.")
    if explored_run.note:
        click.echo(explored_run.note)


def _explore(
    results: Results, chosen: tuple[tuple[str, str], ...], price: float | None, instances: int | None
) -> ExploredRun:
    """Instances of the methods that were chosen, or of all."""
    if not chosen:
        return explore_run(results, price=price, n_instances=instances)
    methods: dict[str, Explored] = {}
    for data, name in chosen:
        title = f"{name} on {data}"
        if title in methods:
            raise InputError(f"--explore: {title} is given twice.")
        methods[title] = explore(results, data, name, price=price, n_instances=instances)
    return ExploredRun(methods)
