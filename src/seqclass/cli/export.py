"""``seqclass export``: a policy as a page, JSON or C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seqclass.cli._describe import load_contract
from seqclass.cli._errors import as_input_errors, check_output
from seqclass.cli._format import count
from seqclass.export import cut_share, export_policy, format_of


def _command(model: Path, output: Path | None, kind: str | None, currency: str | None, **settings: Any) -> None:
    path = model.with_suffix(f".{kind or 'html'}") if output is None else output
    check_output(path, read=[model, settings["labels"]])
    with as_input_errors():
        kind = format_of(path, kind)
    clf, contract = load_contract(model, currency=currency)
    with as_input_errors():
        data = export_policy(contract or clf, path, format=kind, **settings)
    nodes = f", {count(len(data['nodes']), 'node')}" if data["kind"] == "graph" else ""
    click.echo(f"Wrote {path}: {count(len(data['features']), 'feature')}{nodes}.")
    if data["kind"] == "graph" and data["cut"]:
        click.echo(f"For about {cut_share(data['cut'])} it stops asking early, since their answers are so rare.")
