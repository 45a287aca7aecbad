"""Options that several commands take, and the way from a declared command to the code that runs it."""

from __future__ import annotations

import functools
import math
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from seqclass._utils.text import shown


class _Path(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "\0" in str(value):
            self.fail(f"{shown(str(value))} holds a NUL, which no name of a file can.", param, ctx)
        return super().convert(value, param, ctx)


PATH = _Path(path_type=Path)
#: How `fit`, `compare` and `evaluate` take prices and costs.
costs_option = click.option(
    "--costs",
    type=PATH,
    metavar="FILE",
    help="Prices: CSV with the columns feature,cost[,group][,discounted][,bundle], or JSON with feature_costs, groups, "
    "discounted_costs, bundles, decision_costs, decisions.",
)
dataset_costs_option = click.option(
    "--dataset-costs", is_flag=True, help="Take the prices from NAME.costs.csv or NAME.costs.json beside the data."
)
decision_costs_option = click.option(
    "--decision-costs",
    type=PATH,
    metavar="CSV",
    help="Cost of each decision (a column) for each true class (a row, its label in the first column); further "
    "columns, such as 'refer', are further decisions.  [default: as the file of prices says, else 1 for a wrong class]",
)
#: Where --quiet is noted, among what click keeps of a run.
QUIET = "seqclass.quiet"
quiet_option = click.option(
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, given: context.meta.update({QUIET: given}),
    help="Show no progress.",
)
#: Where --sep and --decimal are noted.
CSV_FORM = "seqclass.csv_form"


def _note_form(context: click.Context, param: click.Parameter, given: str | None) -> None:
    if given is not None and param.name is not None:
        context.meta.setdefault(CSV_FORM, {})[param.name] = "\t" if given == "\\t" else given


def csv_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of all commands that read CSV: how the files are written, of prices and costs too."""
    command = click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        expose_value=False,
        callback=_note_form,
        help="What stands before decimals in CSV and TSV files.  [default: .]",
    )(command)
    return click.option(
        "--sep",
        metavar="SIGN",
        expose_value=False,
        callback=_note_form,
        help="What parts the columns of CSV and TSV files, such as ';'.  [default: a comma; in .tsv a tab]",
    )(command)


class Finite(click.FloatRange):
    """A number in a range, and a number it is: neither infinity nor nan."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number.", param, ctx)
        return number


#: What to do about categories that training did not show, for the commands that meet new data.
unknown_option = click.option(
    "--unknown",
    type=click.Choice(["error", "missing"]),
    help="Refuse a category that training did not show, or take it as missing.  [default: as the model, mostly error]",
)


def runs(name: str) -> Callable[[Callable[[], None]], Callable[..., None]]:
    """Have a declared command run `_command` of that module of `seqclass.cli`, which is loaded only then."""

    def declared(command: Callable[[], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**options: Any) -> None:
            pkgutil.resolve_name(f"seqclass.cli.{name}:_command")(**options)

        return run

    return declared
