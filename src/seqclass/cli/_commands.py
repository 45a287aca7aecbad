"""What each command takes: declared here without loading what it runs, so that help is there at once."""

from __future__ import annotations

import functools
import gc
import pkgutil
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import click

from seqclass._utils.text import short_repr
from seqclass.cli._options import (
    File,
    Finite,
    bank_options,
    costs_option,
    csv_options,
    currency_option,
    dataset_costs_option,
    decision_costs_option,
    drop_option,
    json_option,
    known_option,
    labels_option,
    limit_options,
    marks_option,
    price_option,
    quiet_option,
    repeatable,
    rules_options,
    seed_option,
    unknown_option,
    unlabelled_option,
    visit_options,
)

#: Commands that read a model, and begin no threads.
_READERS = ("show", "explain", "predict")


def _load(name: str) -> Callable[..., None]:
    """What a command runs; of what it imports nothing is looked through for garbage, nor at the end of Python."""
    module = f"seqclass.cli.{name}"
    loaded, collecting = module in sys.modules, gc.isenabled()
    if not loaded:
        gc.disable()
    try:
        command: Callable[..., None] = pkgutil.resolve_name(f"{module}:_command")
    finally:
        if collecting:
            gc.enable()
    if not loaded:
        gc.freeze()
    if click.get_current_context().obj:  # who ended it while a library was loaded that went on without what it needs
        raise KeyboardInterrupt
    return command


def runs(name: str) -> Callable[[Callable[[], None]], Callable[..., None]]:
    """Have a declared command run `_command` of that module of `seqclass.cli`, which is loaded only then."""

    def declare(command: Callable[[], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**options: Any) -> None:
            late = pkgutil.resolve_name("seqclass.cli._imports:late_imports") if name in _READERS else nullcontext
            with late():
                _load(name)(**options)

        return run

    return declare


@click.command()
@click.option(
    "--output",
    "-o",
    type=File("picture"),
    default="seqclass-demo.png",
    help="File for the picture: .png, .pdf or .svg.",
)
@click.option(
    "--write",
    "table",
    type=File("table"),
    help="Only write a made-up table to try the other commands on: 600 patients in NAME.csv, and in "
    "NAME.costs.csv beside it what each test costs.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the folds and methods, or of the table.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@quiet_option
@runs("demo")
def demo() -> None:
    """See seqclass work on real data, beside ordinary classifiers.

    It diagnoses breast tumours (569 patients, 30 measurements; scikit-learn's copy of the Wisconsin data) at a price of
    0.01 per measurement. First come five-fold costs of adaptive, ETANA and ordinary classifiers, then the story of one
    held-out patient, step by step, and a picture (which needs matplotlib). It takes less than a minute and no network.
    With --write it makes a table for you to try the other commands on instead.
    """


#: As `_METHODS`, `EFFORTS` and `_SELECTORS` have them, which a test compares.
_METHODS = ["etana", "f_etana", "ifc2f", "adaptive"]
_EFFORTS = ["quick", "thorough"]
_SELECTORS = [
    *("alpha_investing", "efs", "fast_osfs", "fcbf", "fires"),
    *("fsds", "ofs", "ofs_a3m", "ofs_density", "osfs", "saola"),
]
_METHOD_HELP = (
    "How to learn. etana: naive Bayes with its best stopping rule. f_etana: the same with linear thresholds. ifc2f: a "
    "filter, and a tree over features that depend on one another. adaptive: class mixtures in which every answer "
    "decides what is asked next, unless another way costs less on held-out rows.  [default: adaptive; etana for a "
    "folder, or if --select, --n-bins, --order, --calibrate or --published says how to learn]"
)
_RULES = ("auto", "n_classes", "sparsity")


def _bins(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """A number of bins, or the name of a rule for it."""
    if value is None or value in _RULES:
        return value
    if not value.isdecimal() or int(value) < 2:
        rules = " nor ".join(map(repr, _RULES))
        raise click.BadParameter(f"{short_repr(value)} is neither a whole number of at least 2 nor {rules}.")
    return int(value)


@click.command()
@click.argument("data", type=File())
@click.option("--target", "-t", metavar="COLUMN", help="Column of the labels (for .npz: the array, 'y' by default).")
@click.option("--output", "-o", type=File("model"), required=True, help="File to write the model to.")
@costs_option
@dataset_costs_option
@price_option("--price", help="Price of every feature, or of those that --costs leaves out.  [default: 0.01]")
@decision_costs_option
@visit_options
@limit_options
@currency_option
@click.option("--method", type=click.Choice(_METHODS), help=_METHOD_HELP)
@click.option(
    "--effort",
    type=click.Choice(_EFFORTS),
    help="How much --method adaptive tries: seconds to minutes.  [default: quick]",
)
@click.option("--jobs", "-j", type=int, help="Processes for --method adaptive; -1 for one per processor.  [default: 1]")
@click.option(
    "--select",
    type=click.Choice(_SELECTORS),
    help="Model only the features that this selector keeps.  [default: none; with ifc2f its own filter]",
)
@click.option("--published", is_flag=True, help="Use the paper's own settings instead of ours, which do better.")
@click.option(
    "--order",
    type=click.Choice(["fixed", "adaptive"]),
    default="fixed",
    help="Ask in the same order for everybody, or let the next question depend on the answers so far.",
)
@click.option(
    "--n-bins",
    callback=_bins,
    metavar="N|auto|n_classes|sparsity",
    help="Number of bins of a numeric feature, or what it depends on: the number of rows (auto), the number of "
    "classes, or whether most values are zero (sparsity).  [default: auto; 4 with ifc2f]",
)
@click.option(
    "--calibrate",
    is_flag=True,
    help="Weaken the evidence of answers where held-out rows show that the model trusts it too much: for honest "
    "expected costs, and where errors are expensive. Takes ten fits or more.",
)
@click.option(
    "--missing",
    type=click.Choice(["ignored", "informative"]),
    default="ignored",
    help="Whether a missing cell says nothing, or is an answer of its own that is learnt and paid for.",
)
@known_option
@marks_option
@rules_options
@drop_option
@unlabelled_option
@click.option(
    "--held-out",
    type=click.IntRange(min=0),
    metavar="N",
    help="Tell what the classifier costs on rows that it has not seen, by fitting it again without each of N folds; 0: "
    "do not.  [default: 5; of adaptive 3, or 10 with --effort thorough]",
)
@click.option(
    "--set-aside",
    type=File("table"),
    help="Learn from half of the rows, and write the others to this file, with the columns of --drop.",
)
@seed_option
@click.option("--verbose", is_flag=True, help="Say what was tried, the bound and the outcomes too, as show does.")
@json_option
@csv_options
@runs("fit")
def fit() -> None:
    """Learn a classifier from the table DATA and write it to a file.

    DATA is .csv or .tsv (also .gz), .parquet, or .npz with arrays X and y, or with data, indices, indptr and shape of a
    sparse matrix. Columns of text are categories. In CSV and TSV an empty cell, NA, NaN, None, null or ? is missing,
    and a first column without a name is taken as a row index and left out. Rows are counted from 1, below the header.
    --sep, --decimal and --na-values apply to all CSV and TSV files that are read, those of prices and costs too.

    DATA may also be a folder of .parquet files of any size, which are read in chunks, several times, so that memory
    does not grow with the number of rows. Steps that look at single rows, such as --held-out, then use a sample of
    20,000.

    Prices are in the unit of --decision-costs. Without these a wrong decision costs 1: at a price of 0.01, a feature is
    acquired if it is expected to prevent more than one wrong decision in a hundred.

    \b
    Example:
      seqclass fit patients.csv --target diagnosis --drop patient_id -o model.seq

    Exit codes: 0 done, 2 a wrong input or option, 7 no rows, 1 a fault of seqclass, 130 interrupted. The model is
    written with 0 only.
    """  # noqa: D301 (click wants the character, not the two signs)


@click.command()
@click.argument("file", type=File())
@repeatable(
    "--target",
    "-t",
    "targets",
    metavar="NODE",
    help="Node of a network to find out about, or skill of a bank. If given more than once, such as for several "
    "faults, their joint state is found out.",
)
@click.option(
    "--output", "-o", type=File("plan"), help="File to write the plan to.  [default: FILE with the ending .seq]"
)
@click.option(
    "--page",
    type=File("page"),
    help="Also write the page that 'seqclass export' writes.  [default: of a table of tests or a bank, the "
    "plan's file with the ending .html]",
)
@bank_options
@drop_option
@click.option(
    "--prior",
    type=Finite(),
    metavar="P",
    help="P(disease), of a table of tests.  [default: the table's row 'prior']",
)
@price_option(
    "--price",
    help="Price of every question, or of those that --costs or the table leaves out.  [default: 0.01; of a table none]",
)
@costs_option
@decision_costs_option
@visit_options
@limit_options
@currency_option
@repeatable(
    "--question",
    "questions",
    metavar="NODE",
    help="Node that may be asked for; may be repeated.  [default: all nodes but the targets]",
)
@repeatable("--hidden", metavar="NODE", help="Node not to ask for; may be repeated.")
@known_option
@rules_options
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    metavar="S",
    help="Longest time to plan for, the bounds included; the best plan found by then is used.",
)
@click.option(
    "--max-cells",
    type=click.IntRange(min=1),
    default=2**20,
    show_default=True,
    metavar="N",
    help="Most numbers in a table that inference may make. If that is too few, the message says how many it needs.",
)
@seed_option
@json_option
@csv_options
@runs("plan")
def plan() -> None:
    """Plan what to ask in a case from the network, table of tests or bank of items in FILE, without data.

    A network is .bif, .xmlbif or .xml, .xdsl (of GeNIe) or .uai, each also with .gz. The nodes of a UAI file, which has
    no names, are x0, x1, ... and their states 0, 1, ... Nothing in the file is run.

    A table of tests is .csv or .tsv: a row a test with the columns test, price, sensitivity and specificity (or
    lr_positive and lr_negative, or P(positive) for each class in a column of its name), and if wanted group, discounted
    and delay. A row 'prior' has P(disease), a row 'wrong' what a missed disease (under sensitivity) and a false alarm
    (under specificity) cost. Results are taken to be independent given the class.

    A bank of items (--bank) is .csv or .tsv as mirt, TAM, catR, TestDesign or PROMIS write it: a row an item, with its
    name (in a column item or id), its parameters (a, b, c; PAR1, ... with MODEL; CB1, ...) and, if wanted, its area.
    Other columns of numbers, such as counts and standard errors, are left out by --drop. With the columns guess and
    slip, its other numbers are 1 where an item needs the skill of that column: skills are found out, or one (--target).

    Any question may come next; which is best depends on the answers so far. 'seqclass ask' works through the plan: its
    --known takes what is known at no price, its --first what has to be asked in any case.

    \b
    Example:
      seqclass plan hepar2.bif --target Cirrhosis --price 0.01 -o plan.seq
      seqclass ask plan.seq --known sex=female --first fatigue
      seqclass plan tests.csv
      seqclass plan bank.csv --bank --cut 0 --area algebra=2:4 --max-exposure 0.3 --drop n_used
      seqclass plan bank.csv --bank --score ability --standard-error 0.3
    """  # noqa: D301 (click wants the character, not the two signs)


@click.command()
@click.argument("model", type=File())
@click.argument("new", type=File())
@click.option(
    "--output", "-o", type=File("csv|folder"), help="File to write, or for Parquet a folder.  [default: stdout]"
)
@repeatable("--keep", metavar="COLUMN", help="Copy a column of NEW, such as a case number, to the output.")
@click.option("--max-outside", type=Finite(0, 1), metavar="SHARE", help="Exit with 6 if more of the rows are outside.")
@unknown_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: totals, and the rows unless -o is given.")
@csv_options
@runs("predict")
def predict() -> None:
    """Decide for every row of the table NEW with a MODEL that 'seqclass fit' wrote.

    NEW is read as 'seqclass fit' reads its data. Columns may be in any order, others are ignored, and columns that no
    row asks for and that are not --known may be left out. A cell that is asked for but missing says nothing.

    \b
    The output is CSV, or TSV if -o ends in .tsv, compressed if .gz follows, a line a row:
      decision         the cheapest decision
      posterior_CLASS  probability of each class, given what was acquired
      n_features       features acquired
      paid             prices paid, in the unit of the model's prices
      asked            names of the features or bundles asked for, in order, joined by ";";
                       one that holds ; or " is in quotation marks, those in it doubled, as
                       in CSV
      n_visits         visits made, and in asked + joins what one ordered; if visits cost
      time             time that the answers took, in the unit of the delays; if visits cost
      differential     classes that may still be true, joined by ";"; of a certified model

    Of a plan for a score (seqclass.exams.estimate), estimate, standard_error, lower and upper, in the unit of the
    score, stand in the place of decision and posteriors.

    If NEW is a folder of Parquet files, or one such file and -o a folder, the output is a folder with one Parquet file
    for each, decided in chunks whatever their size. If this was cut short, the same command continues: complete files
    of this model are kept, unless their source has changed. There are no scores then.

    If NEW has the column of labels that the model was trained with, scores follow, as from 'seqclass evaluate'; without
    -o they go to stderr.

    Rows with an answer outside of what training showed (another unit, a broken device) are counted. No labels are
    needed for this: --max-outside 0.1 raises an alarm if these are more than a tenth.

    Exit codes: 0 done, 6 done, and the alarm of --max-outside, 2 a wrong input or option, 7 no rows (a header alone, an
    empty folder), 1 a fault of seqclass, 130 interrupted. A file is written with 0 and 6; in folders, whole files stay.
    """  # noqa: D301 (click wants the character, not the two signs)


@click.command()
@click.argument("model", type=File())
@click.argument("data", type=File())
@click.option(
    "--target", "-t", metavar="COLUMN", help="Column of the labels.  [default: the one the model was trained with]"
)
@costs_option
@dataset_costs_option
@decision_costs_option
@click.option(
    "--positive",
    metavar="LABEL",
    help="Class to find in the decision curve.  [default: the last of two in order; with more classes, no curve]",
)
@click.option(
    "--prevalence",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Share of that class among the cases that the decision curve is meant for.  [default: its share of DATA]",
)
@repeatable(
    "--threshold",
    "thresholds",
    type=Finite(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Threshold probability of the decision curve; may be given more than once.  [default: 0.01 to 0.99]",
)
@click.option("--groups", metavar="COLUMN", help="Column of groups, such as sex, to score separately.")
@click.option("--drift", type=Finite(0), metavar="MARGIN", help="Do decisions cost over MARGIN more than expected?")
@unlabelled_option
@unknown_option
@json_option
@csv_options
@runs("evaluate")
def evaluate() -> None:
    """Tell what a MODEL costs on the rows of the table DATA, whose labels are known.

    DATA is read as 'seqclass predict' reads its rows. The realised cost of a row is what was paid for its features plus
    what its decision cost; a wrong one costs 1 unless decision costs were given. Intervals are at 95%, and are valid
    only for rows that the model was not fitted to.

    Then come sensitivity and specificity for each class and, with --groups, the cost and error of each group and
    whether it differs from the others by more than noise. The decision curve tells what the model is worth if cases are
    treated from some probability on, compared with treating all or none. The last table tells whether the model was as
    often right as it was sure, by the number of questions asked.

    Prices and costs are the model's. With --costs, --dataset-costs or --decision-costs the model asks and decides as
    before, but is judged by those; features that the file does not name keep the model's price.

    With --drift a last line says whether rows in order of time still fit the model; a false alarm has a 1% chance at
    most. In --json it is under drift: alarm_row and change_row (null without an alarm), e_value, margin and alpha.

    \b
    Example:
      seqclass evaluate model.seq later.csv

    Exit codes: 0 done, 6 done, and --drift raised an alarm, 2 a wrong input or option, 7 no rows, 1 a fault of
    seqclass, 130 interrupted.
    """  # noqa: D301 (click wants the character, not the two signs)


@click.command()
@click.argument("model", type=File())
@click.argument("data", type=File())
@click.option("--row", type=click.IntRange(min=1), default=1, metavar="N", help="Number of the row, from 1.")
@unknown_option
@currency_option
@labels_option
@json_option
@csv_options
@runs("explain")
def explain() -> None:
    """Tell why a row of the table DATA is decided as it is, by a MODEL that 'seqclass fit' wrote.

    DATA is read as 'seqclass predict' reads its table. For each feature that was asked for you see its value, the
    belief after it, its price, what going on was expected to save, and how much of that by it. Then comes why no more
    was asked, and what each decision is expected to cost. Prices and costs are in the unit of the decision costs; a
    wrong decision costs 1 unless these were given.
    """


@click.command()
@click.argument("model", type=File())
@click.option("--resume", type=File("file"), help="Continue a case that --save wrote.")
@click.option("--save", type=File("file"), help="Keep the case in this file, updated after every answer.")
@repeatable("--known", metavar="NAME=VALUE", help="What is known at no price (? if missing); repeat.")
@repeatable("--first", metavar="NAME", help="Feature to ask first and in any case; may be repeated.")
@unknown_option
@currency_option
@labels_option
@click.option("--strict", is_flag=True, help="Refuse a number outside the range seen in training instead of warning.")
@runs("ask")
def ask() -> None:
    """Work through one live case: the MODEL asks only for what it needs.

    Each question comes with its price, what going on is expected to save, how much of that by it, in the unit of the
    model's prices. Answer with a number or a category; "?" if the value is not available, "undo" to take back the last
    answer, "quit" to stop. NAME = VALUE answers a feature other than the one asked for, and "best" shows the most
    promising questions. The case ends with the decision and what it cost.

    With --labels, questions and answers are shown in those words; an answer may be given in words or by its name.

    What is known at the start costs nothing: --known age=63 --known sex=f. What has to be asked in any case comes
    first: --first pulse.

    A number outside the range seen in training is accepted with a warning, as it may be a typing error, and refused
    with --strict. To continue a case and keep it in the same file, give that file to both --resume and --save.

    Answers may be piped in, one per line. If they end before the case does, its state is printed and the exit code is
    0, as after "quit".
    """


_FORMATS = ["html", "json", "c"]


@click.command()
@click.argument("model", type=File())
@click.option("--output", "-o", type=File("file"), help="File to write.  [default: MODEL with the format's ending]")
@click.option(
    "--format",
    "kind",
    type=click.Choice(_FORMATS),
    help="A page to work through cases with, the policy as data, or C99 code that allocates nothing.  [default: by the "
    "ending of the file, else html]",
)
@click.option("--title", help="Title of the page.  [default: name of the target, and the decisions]")
@labels_option
@click.option(
    "--language",
    type=click.Choice(["en", "de", "fr", "es"]),
    default="en",
    help="Language of the page's own words; in Python you can supply others.",
)
@click.option(
    "--respondent",
    type=click.Choice(["end", "decision", "record"]),
    help="Make the page one for the person who is asked: without beliefs and prices. At the end it says just that, the "
    "decision, or the record too.",
)
@click.option(
    "--max-nodes",
    type=click.IntRange(min=1),
    default=20_000,
    help="Most nodes, if the policy has to be written as a graph.",
)
@currency_option
@click.option(
    "--min-probability",
    type=Finite(0, 1),
    help="In a graph, cases rarer than this are not followed further: it decides as things stand, and says so. By "
    "default as small as the nodes allow, with 99% of cases followed to their end.",
)
@runs("export")
def export() -> None:
    """Write what the MODEL asks and decides to a file that needs no Python.

    The page works offline, also on a phone: it asks one question after the other, says why and at what price, and
    decides. Any feature may be answered at any time. Only large networks, and rules, become a graph of all cases that
    can occur, which takes answers in the order in which it asks.

    \b
    Example:
      seqclass export model.seq -o page.html
    """  # noqa: D301 (click wants the character, not the two signs)


@click.command()
@click.argument("models", metavar="[NAME=]MODEL...", nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 for all, best with a --token-file.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, help="Port to listen on.")
@click.option("--page/--no-page", default=True, help="Whether / is the page to work through cases with.")
@click.option("--token-file", type=File(), help="File with the token that clients must send as bearer token.")
@repeatable("--labels", metavar="[NAME=]FILE", help="Words, units and codes for the page and for FHIR.")
@click.option("--key-file", type=File(), help="File with the key that signs cases, so that clients cannot change them.")
@runs("serve")
def serve() -> None:
    """Answer over HTTP what to ask next about a case, by one MODEL file or several with names.

    POST /next says what to ask of a case of which some answers are known; /cases begins one that the client keeps, and
    /cases/answer goes on with it; /explain says why. GET /model, /metrics, /healthz and /openapi.json tell of the
    service, / is the page, and /fhir speaks FHIR. A file that changes is taken without a gap. Needs the extra 'serve'.

    \b
    Examples:
      seqclass serve model.seq
      seqclass serve tumour=model.seq iris=iris.seq --host 0.0.0.0 --token-file token
    """  # noqa: D301 (click wants the character, not the two signs)


@click.command()
@click.argument("model", type=File())
@click.option("--all", "all_features", is_flag=True, help="List every feature, not only the first 20.")
@click.option("--card", is_flag=True, help="Print the model's card in Markdown: use, data, costs, limits, contract.")
@json_option
@runs("show")
def show() -> None:
    """Tell what is in a MODEL file: where it comes from, classes, features in the order asked for, costs, settings.

    Prices and costs are in the unit of the decision costs, which are shown; a wrong decision costs 1 unless they were
    given.
    """


#: As `RISKS` and `LADDERS` have them, which a test compares.
_RISKS = ["error", "sensitivity", "cost", "differential"]
_SHARE = Finite(min=0, max=1, min_open=True, max_open=True)


@click.command()
@click.argument("model", type=File())
@click.argument("data", type=File())
@click.option("--target", "-t", metavar="COLUMN", help="Column of the labels.  [default: the model's; of .npz 'y']")
@click.option("--alpha", type=Finite(min=0, min_open=True), default=0.1, help="Highest error rate or mean cost.")
@click.option("--delta", type=_SHARE, default=0.1, help="Highest chance that it is exceeded after all.")
@click.option(
    "--metric",
    type=click.Choice(_RISKS),
    help="What ALPHA limits: rows decided for a wrong class; missed cases of a class; prices and decision costs; cases "
    "whose set of possible classes lacks the true one.  [default: error, or sensitivity with --class]",
)
@click.option("--by-class", is_flag=True, help="With --metric differential: ALPHA has to hold in each class.")
@repeatable(
    "--class",
    "label",
    metavar="LABEL",
    help="Class of which at most a share ALPHA may be missed. May be "
    "repeated: a case of one of them is missed if it is decided for none of them.",
)
@click.option("--groups", metavar="COLUMN", help="Column of groups, such as sex: ALPHA has to hold in each.")
@click.option("--ladder", type=click.Choice(["belief", "price"]), default="belief", help="What the rules differ in.")
@repeatable("--also", type=File("model"), help="Another model to try, with a share of DELTA.")
@click.option("--output", "-o", type=File("model"), help="File to write the certified classifier to.")
@click.option("--allow-seen", is_flag=True, help="Accept rows that look like those that the model was fitted to.")
@unknown_option
@json_option
@csv_options
@runs("certify")
def certify() -> None:
    """Certify an error rate of a MODEL on the labelled rows of DATA, with the cheapest stopping rule that keeps it.

    DATA must hold rows that the model was not fitted to, drawn like those it will meet. However bad the model is, the
    rule that is found has an error rate above ALPHA only with a chance of DELTA. If there is no such rule, you are told
    so, and what these rows would certify; nothing is written and the exit code is 3. If only a rule passes that decides
    the same for everybody, such as "ill", nothing is written either, and the exit code is 4.

    -o writes a classifier with the certified rule, for predict, explain, ask and show; with --metric differential it
    keeps the model's own rule, and tells which classes are still possible.

    Exit codes: 0 certified, 3 nothing certified, 4 only a rule that decides the same for everybody, 2 a wrong input or
    option, 7 no rows, 1 a fault of seqclass, 130 interrupted.
    """


_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
#: Options that may be followed by several numbers.
_SEVERAL = ("--price", "--budget", "--seeds")


class _Command(click.Command):
    """A command in which ``--seeds 0 1 2`` is short for ``--seeds 0 --seeds 1 --seeds 2``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        option = ""
        for i, argument in enumerate(args):
            if argument == "--":
                spread += args[i:]
                break
            first = i > 0 and args[i - 1] in _SEVERAL
            if option and not first and _NUMBER.fullmatch(argument):
                spread.append(option)
            elif not first:
                option = argument if argument in _SEVERAL else ""
            spread.append(argument)
        return super().parse_args(ctx, spread)


@click.command(cls=_Command)
@click.argument("data", nargs=-1, required=True)
@repeatable(
    "--method",
    "-m",
    "methods",
    metavar="[NAME=]METHOD",
    help="adaptive, etana, f_etana, ifc2f, or sklearn:CLASS for a classifier, with steps before it joined by +; "
    "settings may follow in brackets. May be given more than once.  [default: adaptive, as of fit, and etana]",
)
@repeatable(
    "--price",
    "prices",
    type=Finite(min=0),
    metavar="PRICE...",
    help="Price of every feature; several are tried one by one. With --costs or --dataset-costs, a factor for the "
    "prices there.  [default: 0.01; 1 as a factor]",
)
@costs_option
@dataset_costs_option
@decision_costs_option
@visit_options
@repeatable(
    "--budget",
    "budgets",
    type=click.IntRange(min=0),
    metavar="N...",
    help="Hard budget: this many features are asked for in each case, whatever they cost; several are tried one by "
    "one. The price is then 0 unless given.",
)
@repeatable(
    "--known",
    metavar="COLUMN",
    help="Column that is known at the start, at no price, which our classifiers plan for; may be given more than once.",
)
@click.option("--missing-cost", type=Finite(min=0), help="Price where those files give none, before --price.")
@click.option("--folds", type=click.IntRange(min=2), metavar="N", help="Stratified folds.  [default: 5]")
@click.option(
    "--split",
    type=click.Choice(["source", "60/20/20"]),
    help="Instead of folds: the split that comes with the data, or a random one into training, validation and test.",
)
@repeatable("--seeds", type=click.IntRange(min=0), metavar="SEED...", help="Each shuffles anew.  [default: 0]")
@click.option("--target", "-t", metavar="COLUMN", help="Column of the labels, for data in files.")
@drop_option
@click.option("--data-dir", type=File("dir"), help="Folder of your data sets.  [default: $SEQCLASS_DATA]")
@click.option("--jobs", "-j", type=int, default=1, help="Processes; -1 for one per processor.")
@click.option("--retry-failed", is_flag=True, help="Compute again the cells that failed before.")
@click.option(
    "--keep-instances",
    type=click.IntRange(min=0),
    default=10_000,
    metavar="N",
    help="Most scored instances of a cell to keep with their decisions, evenly spaced.",
)
@click.option(
    "--keep-explanations",
    type=click.IntRange(min=0),
    default=20,
    metavar="N",
    help="Most of these to explain, for 'seqclass report'.",
)
@currency_option
@click.option("--output", "-o", type=File("run"), required=True, help="File of the run.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the whole table as CSV, one row per cell.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the summary, and one row per cell.")
@csv_options
@runs("compare")
def compare() -> None:
    """Compare methods on data sets at given prices.

    DATA are names of data sets, such as breast_cancer, openml:NAME or the name of a file in --data-dir without its
    ending, or paths of files. Everything is learnt from the training rows of a fold. Realised cost is the mean cost of
    a case among the other rows, prices and wrong decisions together.

    Each result is written to the file RUN as soon as it is there: the same command continues where it was stopped, and
    one with more methods, prices or seeds computes only what is new. If some cells fail, the exit code is 5.

    \b
    Example:
      seqclass compare breast_cancer wine -m etana -m "sklearn:StandardScaler+LogisticRegression" \\
          --price 0.01 0.05 --folds 5 --seeds 0 1 --jobs 2 -o run.db
    """  # noqa: D301 (click wants the character, not the two signs)


@click.command()
@click.argument("run", type=File())
@click.option("--output", "-o", type=File("page"), help="Page to write.  [default: RUN with the ending .html]")
@click.option("--title", help="Title of the page.  [default: its methods and data sets]")
@repeatable(
    "--explore",
    "explored",
    nargs=2,
    metavar="DATA METHOD",
    help="Step through instances of this data set with this method, both by their names in the run; may be given more "
    "than once.  [default: every method that asks for features one by one, on every data set]",
)
@click.option("--no-explorer", is_flag=True, help="Leave out the instances to step through.")
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    metavar="N",
    help="Most instances of each to step through, evenly spaced.  [default: all that the run keeps]",
)
@click.option(
    "--price",
    type=Finite(min=0),
    help="Price at which to step through instances, and to draw what was acquired.  [default: the first of the run]",
)
@repeatable(
    "--positive",
    metavar="LABEL",
    help="Class to find in the decision curves; may be given more than once, for data sets with different classes.  "
    "[default: the last of two classes in order]",
)
@currency_option
@labels_option
@runs("report")
def report() -> None:
    """Write the RUN that 'seqclass compare' made as one HTML page.

    The page has sortable tables with intervals, tests and pictures. It shows what was acquired, for which class and
    when, what failed, settings and versions. The reader can step through instances to see what was asked, why, and how
    the belief moved. It needs neither a server nor a network: put it anywhere, send it to anybody.

    \b
    Example:
      seqclass report run.db -o page.html --explore breast_cancer etana --price 0.05
    """  # noqa: D301 (click wants the character, not the two signs)
