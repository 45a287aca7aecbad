"""``seqclass show``: what is in a model file."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import click

from seqclass._utils.text import money, range_text
from seqclass.agent.agent import agent_of
from seqclass.cli._describe import (
    LIMITED,
    NOTHING_ASKED,
    bound_text,
    contract_text,
    describe,
    describe_held_out,
    differential_record,
    feature_lines,
    load_contract,
    most_text,
)
from seqclass.cli._errors import InputError
from seqclass.cli._format import belief_text, count, echo_json, table, wrap
from seqclass.fitting.held_out import HeldOut

_MOST, _MOST_CLASSES = 20, 12


def _command(model: Path, all_features: bool, card: bool, as_json: bool) -> None:
    if card and as_json:
        raise InputError("--card and --json exclude each other: a card is Markdown.")
    clf, contract = load_contract(model)
    if card:
        write_card = pkgutil.resolve_name("seqclass.export:model_card")  # which few ask for, and loads much
        click.echo(write_card(contract or clf), nl=False)
        return
    content = describe(clf, None if all_features or as_json else _MOST)
    if contract is not None:
        content["contract"] = contract.record()
    if (sets := agent_of(clf).differential) is not None:
        content["differential"] = differential_record(clf, sets)
    if as_json:
        echo_json(content)
        return
    click.echo(
        f"{model}: {count(len(content['classes']), 'class', 'classes')}, {count(content['n_features'], 'feature')}"
    )
    if (origin := vars(clf).get("provenance_")) is not None:
        _item("learnt" if origin.n_rows else "planned", str(origin))
    click.echo(wrap(f"prior         {belief_text(content['classes'], content['prior'], most=12)}"))
    if contract is not None:
        click.echo(contract_text(contract))
    if sets is not None:
        click.echo(wrap(str(sets)))
    held_out: HeldOut | None = vars(clf).get("held_out_")  # which certifying leaves out, as it was of another rule
    by_model = f"{content['expected_cost']:.4f} by the model itself"
    if held_out is not None:
        ends = range_text(held_out.cost_interval, "{:.4f}".format)
        cost = f"{held_out.cost:.4f} on rows that the fit had not seen ({ends}); {by_model}"
    else:
        cost = by_model
    if content["unit"]:
        _item("money", f"prices and costs are in {content['unit']}")
    _item("cost a case", cost)
    if contract is None:
        _item("by the model", bound_text(content))
    if content["status"] == "limit":
        _item("", LIMITED)
    elif content["status"] == "truncated":
        _item("", content["advice"])
    if content["visits"]:
        _item("visits", content["visits"])
    if content["known"]:
        _item("known", f"{', '.join(content['known'])}: before the first question, at no price")
    _item("horizon", most_text(clf))
    if choice := getattr(clf, "choice_", None):
        by_another = "" if contract is None else "\nBefore it was certified, with the stopping rules that were learnt:"
        click.echo(f"{by_another}\n{choice}")
    if held_out is not None:
        click.echo("\n" + describe_held_out(held_out, content["unit"]))
    click.echo("\nCost of each decision (column) for each true class (row):")
    rows = [[label, *map(money, costs)] for label, costs in zip(content["classes"], content["decision_costs"])]
    wide = max(map(len, (rows, content["decisions"]))) > _MOST_CLASSES and not all_features
    sizes = f"  {len(rows)} classes by {len(content['decisions'])} decisions, in --all and --json"
    click.echo(sizes if wide else table(["", *content["decisions"]], rows))
    any_order = "any of which may come next, what tells most for its price first"
    heading = f"Features, {any_order if clf.problem_.any_order else 'in the order they are asked for'}:"
    click.echo(f"\n{heading}\n{feature_lines(content['features'])}" if content["features"] else f"\n{NOTHING_ASKED}")
    rest = len(clf.order_) - len(content["features"])
    if rest > 0:
        click.echo(f"  ... and {rest} more (--all)")
    if content["rules"]:
        click.echo("\nRules:")
        for rule in content["rules"]:
            click.echo(wrap(rule, "  ", hanging="    "))
    click.echo("\nSettings:")
    for name, text in content["settings"].items():
        click.echo(wrap(f"{name} = {text}", "  ", hanging="    "))


def _item(name: str, text: str) -> None:
    click.echo(click.wrap_text(text, width=88, initial_indent=name.ljust(14), subsequent_indent=14 * " "))
