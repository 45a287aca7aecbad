"""Options that several commands share, each declared once, and the types of their values."""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from seqclass._utils.text import is_unit, short_repr

#: Where paths are noted that end in a slash, which they then have no longer.
FOLDERS = "seqclass.folders"


class File(click.Path):
    """A path, by the name that it has in the help."""

    def __init__(self, name: str = "file") -> None:
        super().__init__(path_type=Path)
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "\0" in str(value):
            self.fail(f"{short_repr(str(value))} holds a NUL, which no name of a file can.", param, ctx)
        if str(value) == "-":
            self.fail("'-' stands for no stream here: name a file, ./- if it is called so.", param, ctx)
        path = super().convert(value, param, ctx)
        if ctx is not None and str(value).endswith(("/", os.sep)):
            ctx.meta.setdefault(FOLDERS, []).append(path)
        return path


#: How `fit`, `compare` and `evaluate` take prices and costs.
costs_option = click.option(
    "--costs",
    type=File("file"),
    help="Prices: CSV with the columns feature,cost[,group][,discounted][,bundle][,delay][,after], or JSON with "
    "feature_costs, groups, discounted_costs, bundles, delays, visit_cost, delay_cost, max_panel, prices_after, "
    "decision_costs, decisions.",
)


dataset_costs_option = click.option(
    "--dataset-costs", is_flag=True, help="Take the prices from NAME.costs.csv or NAME.costs.json next to the data."
)
decision_costs_option = click.option(
    "--decision-costs",
    type=File("csv"),
    help="Cost of each decision (a column) for each true class (a row, its label in the first column); further "
    "columns, such as 'refer', are further decisions.  [default: as in --costs, else the model's, else 1 if wrong]",
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
#: Where --sep, --decimal and --na-values are noted.
CSV_FORM = "seqclass.csv_form"


def _note_form(context: click.Context, param: click.Parameter, given: str | None) -> None:
    if given is not None and param.name is not None:
        value = given.split(",") if param.name == "na_values" else "\t" if given == "\\t" else given
        context.meta.setdefault(CSV_FORM, {})[param.name] = value


#: An option that may be given more than once.
repeatable = functools.partial(click.option, multiple=True)


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda command: functools.reduce(lambda made, option: option(made), reversed(options), command)


_csv = functools.partial(click.option, expose_value=False, callback=_note_form)
#: The last options of all commands that read CSV: how the files are written, of prices and costs too.
csv_options = _options(
    _csv("--sep", metavar="SIGN", help="Column separator of CSV and TSV files.  [default: a comma; in .tsv a tab]"),
    _csv("--decimal", type=click.Choice([".", ","]), help="Decimal separator of CSV and TSV files.  [default: .]"),
    _csv(
        "--na-values",
        metavar="TEXTS",
        help="Texts that are missing in CSV and TSV files, besides the empty cell, with commas between.  [default: NA, "
        "NaN, null, None, ? and their like]",
    ),
    quiet_option,
)


class Finite(click.FloatRange):
    """A number in a range, and a number it is: neither infinity nor nan. A share may be written in percent."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if self.max == 1 and str(value).endswith("%"):
            with contextlib.suppress(ValueError):
                value = float(value[:-1]) / 100
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


#: An option that is a price.
price_option = functools.partial(click.option, type=Finite(min=0), metavar="PRICE")


#: How `fit`, `plan` and `compare` take what visits cost.
visit_options = _options(
    price_option(
        "--visit-cost",
        help="Cost of each visit, whatever is asked in it; which questions to order together is then planned.",
    ),
    price_option(
        "--delay-cost",
        help="Cost of one unit of waiting time; the column delay of --costs says how long each answer takes.",
    ),
    click.option("--max-panel", type=click.IntRange(min=1), metavar="N", help="Most questions in one visit."),
)
#: How `fit` and `plan` take what a case may take at most; what to ask within that is planned.
limit_options = _options(
    click.option("--max-features", type=click.IntRange(min=1), metavar="N", help="Most features to ask for per case."),
    price_option("--max-cost", help="Most to pay for features per case."),
)


#: How `plan` takes what is to be found out by a bank of items.
bank_options = _options(
    click.option("--bank", is_flag=True, help="FILE is a bank of test items, with a column for each parameter."),
    repeatable(
        "--cut",
        "cuts",
        metavar="C",
        help="Cut score of a bank: the ability at which the next class begins, or the share of all items that is "
        "expected to be right there, such as 60%; may be repeated.",
    ),
    repeatable(
        "--level",
        "levels",
        metavar="NAME",
        help="Class of a bank, the lowest first; repeated.  [default: by the cuts, such as 'below 0' and '0 or above']",
    ),
    click.option(
        "--score",
        type=click.Choice(["ability", "accuracy"]),
        help="Estimate a number instead of a class: ability, or accuracy over all items of the bank, until --price, "
        "--max-features or --standard-error says that it is enough.",
    ),
    click.option(
        "--standard-error", type=Finite(min=0, min_open=True), metavar="S", help="Of a score, at which asking ends."
    ),
    click.option(
        "--scale",
        metavar="MEAN:SD",
        help="Scale that abilities are reported on, such as 500:100, where they are 0 and 1 in the bank.",
    ),
    repeatable(
        "--area",
        "areas",
        metavar="NAME=LEAST:MOST",
        help="How many items of an area are asked, by the bank's column 'area'; either number may lack. May be "
        "repeated.",
    ),
    click.option(
        "--max-exposure",
        type=Finite(0, 1),
        metavar="SHARE",
        help="Largest share of the persons that an item of a bank is asked of; what is asked is then partly drawn by "
        "lot.",
    ),
)


known_option = repeatable(
    "--known",
    metavar="NAME",
    help="Feature known for every case before the first question, at no price; plans start from it. May be repeated.",
)
marks_option = repeatable(
    "--marks",
    metavar="NAME",
    help="Column whose cells hold several marks, ; between, which one question shows together. May be repeated.",
)
#: How `fit` and `plan` take what may be asked, and what has to be.
rules_options = _options(
    click.option(
        "--rules",
        type=File(),
        metavar="FILE",
        help="JSON file of what may and must be asked: areas, enemies, first, mandatory. Needs an adaptive order.",
    ),
    click.option(
        "--skip-logic",
        type=File(),
        metavar="FILE",
        help="CSV or JSON file of follow-ups: question, after, answers; and answers that follow from others: implied.",
    ),
)
#: What to do about categories that training did not show, for the commands that meet new data.
unknown_option = click.option(
    "--unknown",
    type=click.Choice(["error", "missing"]),
    help="Refuse a category not seen in training, or treat it as missing.  [default: as the model says, mostly error]",
)


def _unit(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A unit, which is read in the midst of texts."""
    if value is not None and not is_unit(value):
        raise click.BadParameter(f"{short_repr(value)} is no unit; give a short text, such as EUR.")
    return value


#: What prices and costs are counted in, for the commands that tell them or write a model.
currency_option = click.option(
    "--currency",
    callback=_unit,
    metavar="UNIT",
    help="Unit of prices and costs, such as EUR.  [default: that of the model; none in a new one]",
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of everything that is random.")
drop_option = repeatable("--drop", metavar="COLUMN", help="Leave a column out; may be given more than once.")
unlabelled_option = click.option(
    "--drop-unlabelled", is_flag=True, help="Leave out rows without a label instead of refusing them."
)
labels_option = click.option(
    "--labels",
    type=File("file"),
    help="File of words to use instead of the names in the data, for questions, answers, classes and decisions: CSV "
    "with the columns feature[,answer][,text][,help][,unit][,url][,code], or JSON; see the documentation of export.",
)
