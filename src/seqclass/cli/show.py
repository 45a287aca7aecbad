"""``seqclass show``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seqclass.cli._describe import contract_text, describe, feature_lines, held_out_text, load_contract
from seqclass.cli._format import belief_text, count, echo_json, gap_text, table, wrapped
from seqclass.pomdp.bounds.certificate import SCOPES

_MOST = 20


def _command(model: Path, all_features: bool, as_json: bool) -> None:
    """Tell what is in a model file."""
    clf, contract = load_contract(model)
    content = describe(clf, None if all_features or as_json else _MOST)
    if contract is not None:
        content["contract"] = contract.record()
    if as_json:
        echo_json(content)
        return
    click.echo(
        f"{model}: {count(len(content['classes']), 'class', 'classes')}, {count(content['n_features'], 'feature')}"
    )
    click.echo(wrapped(f"prior         {belief_text(content['classes'], content['prior'], most=12)}"))
    if contract is None:
        _certificate(content)
    else:
        click.echo(contract_text(contract))
        click.echo(f"cost a case   {content['expected_cost']:.4f} by the model itself")
    if content["advice"]:
        click.echo(click.wrap_text(content["advice"], width=88, initial_indent=14 * " ", subsequent_indent=14 * " "))
    click.echo(f"horizon       at most {count(content['horizon'], 'feature')} a case")
    if choice := getattr(clf, "choice_", None):
        click.echo(f"\n{choice}")
    if held_out := vars(clf).get("held_out_"):
        click.echo("\n" + held_out_text(held_out))
    click.echo("\nCost of each decision (column) for each true class (row):")
    rows = [
        [label, *(f"{c:.4g}" for c in costs)] for label, costs in zip(content["classes"], content["decision_costs"])
    ]
    click.echo(table(["", *content["decisions"]], rows))
    free = "any of which may come next, what tells most for its price first"
    click.echo(f"\nFeatures, {free if clf.problem_.free else 'in the order they are asked for'}:")
    click.echo(feature_lines(content["features"]))
    rest = len(clf.order_) - len(content["features"])
    if rest > 0:
        click.echo(f"  ... and {rest} more (--all)")
    click.echo("\nSettings:")
    for name, text in content["settings"].items():
        click.echo(f"  {name} = {text}")


def _certificate(content: dict[str, Any]) -> None:
    if content["confidence"] == 1.0:
        sure = "exactly"
    else:
        sure = f"with {100 * content['confidence']:.0f}% confidence"
    lower, upper = (f"{content[end]:.4f}" for end in ("lower", "upper"))
    among = SCOPES[content["scope"]]
    click.echo(f"cost a case   between {lower} (the best {among}) and {upper} (this model), {sure}")
    click.echo(f"gap           {gap_text(content['gap'])}, solver {content['status']}")
