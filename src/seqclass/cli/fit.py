"""``seqclass fit``: learn a classifier from a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.marks import mark_columns
from seqclass._utils.model_files import parts
from seqclass._utils.validation import columns_of
from seqclass._utils.warned import HeldOutWarning
from seqclass.adaptive_classifier import adaptive
from seqclass.agent.provenance import source_of
from seqclass.classifier import SequentialClassifier
from seqclass.cli._describe import NOTHING_ASKED, describe, describe_cost, describe_held_out, feature_lines, most_text
from seqclass.cli._errors import InputError, as_input_errors, check_output, first_given_option, refuse_options
from seqclass.cli._format import count, echo_json, gap_text, next_text, wrap
from seqclass.cli._progress import show_progress
from seqclass.cli._training import (
    Aside,
    TrainingTable,
    costs_file,
    non_default_options,
    read_decision_costs,
    read_prices,
    read_rows,
    read_rules,
)
from seqclass.costs import Costs
from seqclass.fitting.choice import Choice
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import evaluate
from seqclass.pomdp.bounds.certificate import SCOPES
from seqclass.pomdp.walk import MAX_HISTORIES
from seqclass.recipes import etana, f_etana, ifc2f
from seqclass.selection import Selector

_METHODS: dict[str, Callable[..., SequentialClassifier]] = {
    "etana": etana,
    "f_etana": f_etana,
    "ifc2f": ifc2f,
    "adaptive": adaptive,
}


_SELECTORS: dict[str, Any] = {
    name: cls
    for name, cls in parts("fit", "get_support").items()
    if issubclass(cls, Selector) and "estimator" not in cls._get_param_names()  # which no command line can tell
}


def _command(
    data: Path,
    target: str | None,
    output: Path,
    costs: Path | None,
    dataset_costs: bool,
    price: float | None,
    decision_costs: Path | None,
    visit_cost: float | None,
    delay_cost: float | None,
    max_panel: int | None,
    max_features: int | None,
    max_cost: float | None,
    currency: str | None,
    method: str | None,
    effort: str | None,
    jobs: int | None,
    select: str | None,
    published: bool,
    order: str,
    n_bins: Any,
    calibrate: bool,
    missing: str,
    known: tuple[str, ...],
    marks: tuple[str, ...],
    rules: Path | None,
    skip_logic: Path | None,
    drop: tuple[str, ...],
    drop_unlabelled: bool,
    held_out: int | None,
    set_aside: Path | None,
    seed: int,
    verbose: bool,
    as_json: bool,
) -> None:
    costs = costs_file(data, costs, dataset_costs)
    check_output(output, read=[data, costs, decision_costs, rules, skip_logic])
    check_output(set_aside, read=[data, costs, decision_costs, rules, skip_logic], written=[output])
    classes = costs is not None or decision_costs is not None
    rows = read_rows(data, target, drop, drop_unlabelled, classes, marks, set_aside is not None)
    aside = None if set_aside is None else Aside.from_rows(rows, set_aside, seed)
    rows = rows if aside is None else aside.others
    left_out = [*drop, target] if target else list(drop)
    known = tuple(mark_columns(known, marks, rows.names))
    with as_input_errors():
        columns_of(known, len(rows.names), rows.names, "--known")
    given = read_prices(costs, price, rows.names, rows.classes, left_out, known)
    given |= read_decision_costs(decision_costs, rows.classes)
    given |= non_default_options(visit_cost=visit_cost, delay_cost=delay_cost, max_panel=max_panel)
    given |= {"marks": list(marks)} if marks else {}
    settings: dict[str, Any] = {"feature_costs": Costs(**given, unit=currency), "missing": missing}
    settings |= non_default_options(max_features=max_features, max_cost=max_cost)
    if known:
        settings["known"] = list(known)
    settings |= read_rules(rules, skip_logic)
    how = {"--published": published, "--order": order == "adaptive", "--n-bins": n_bins is not None}
    how |= {"--select": select is not None, "--calibrate": calibrate}
    because = None
    if method is None:
        said = first_given_option(how)
        because = f"{said} is not for adaptive" if said else "a folder is read in chunks" if data.is_dir() else None
        method = "adaptive" if because is None else "etana"
    if n_bins is not None:
        settings["n_bins"] = n_bins
    if order == "adaptive":
        settings["order"] = order
        if method == "f_etana" or published:
            raise InputError("--order adaptive is for etana and ifc2f with our settings: the papers' go by one order.")
    elif max_cost is not None and method != "adaptive" and (given.get("visit_cost") or given.get("delay_cost")):
        raise InputError("where visits cost something --max-cost needs --order adaptive; or give --max-features.")
    if select is not None:
        settings["selector"] = _SELECTORS[select]()
    if calibrate:
        settings["calibrate"] = True
    if data.is_dir():
        _check_chunks(method, select, missing)
    if held_out == 1:
        raise InputError("--held-out must be a number of folds, at least 2, or 0 for none.")
    if method == "adaptive":
        refuse_options(how, "is not for --method adaptive, which chooses such things itself.")
        if jobs == 0:
            raise InputError("--jobs must not be 0.")
        settings |= non_default_options(effort=effort)
        clf = adaptive(random_state=seed, n_jobs=jobs, **settings)
    elif effort is not None or jobs is not None:
        raise InputError(f"--{'jobs' if effort is None else 'effort'} is for --method adaptive.")
    else:
        clf = _METHODS[method](published=published, random_state=seed, **settings)
    started = time.perf_counter()
    with as_input_errors(str(data)), show_progress("fitting"):
        source, digest = source_of(data)  # before the fit, in the minutes of which the file may change, or go
        _fit(clf, rows, held_out)
    seconds = time.perf_counter() - started
    with as_input_errors(), nullcontext() if aside is None else aside.writing():
        clf.provenance_ = replace(clf.provenance_, source=source, digest=digest)
        clf.save(output)
    _report(clf, rows.count(clf), seconds, output, verbose, as_json, because)
    if aside is not None and not as_json:
        n = count(len(aside.frame), "row")
        click.echo(wrap(f"Set aside {n} in {aside.path}, for seqclass evaluate or certify."))


def _check_chunks(method: str, select: str | None, missing: str) -> None:
    """Refuse what needs all rows at once, of a folder that is read in chunks."""
    given = "--select" if select is not None else f"--method {method}" if method in ("ifc2f", "adaptive") else None
    given = given or ("--missing informative" if missing == "informative" else None)
    if given is not None:
        raise InputError(
            f"{given} needs all rows in memory, and a folder is read in chunks: give one file, or choose "
            "etana or f_etana without --select and --missing."
        )


def _fit(clf: BaseSequentialClassifier, rows: TrainingTable, held_out: int | None) -> None:
    """Fit, and hold out; where that was not asked for and cannot be done, say so and do without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldOutWarning)  # which the report says
        folds = {} if clf._holds_out else {"held_out": 5}
        try:
            rows.fit(clf, **(folds if held_out is None else {"held_out": held_out}))
        except ValueError as error:
            if held_out is not None:
                raise
            rows.fit(clf, held_out=0)  # which says what is wrong, if it is not that
            warnings.warn(f"there is no held-out cost: {error}", UserWarning, stacklevel=2)


def _report(
    clf: BaseSequentialClassifier,
    n_rows: int,
    seconds: float,
    output: Path,
    verbose: bool,
    as_json: bool,
    because: str | None,
) -> None:
    # of more histories in any order those that are drawn tell as much, in a fraction of the time
    expected = evaluate(clf, max_histories=30_000 if clf.problem_.any_order else MAX_HISTORIES)
    held_out: HeldOut | None = vars(clf).get("held_out_")
    content = describe(clf, most=None)
    content |= {"n_rows": n_rows, "expected_n_features": expected.n_features}
    content |= {"seconds": seconds, "timings": clf.timings_, "output": str(output)}
    if as_json:
        echo_json(content)
        return
    classes = ", ".join(content["classes"][:8]) + (", ..." if len(content["classes"]) > 8 else "")
    learnt = (
        f"Learnt from {count(n_rows, 'row')}, {count(content['n_features'], 'feature')}, "
        f"{count(len(content['classes']), 'class', 'classes')} ({classes}) in {seconds:.1f} s"
    )
    choice: Choice | None = vars(clf).get("choice_")
    how = "" if because is None else f" By etana, naive Bayes, since {because}."
    click.echo(wrap(learnt + ("." if choice is None or verbose else f". Chosen: {choice.chosen}.") + how))
    note = "" if held_out else " Held-out data tell what it really costs."
    click.echo(wrap(describe_cost(clf, "its own model", "features", expected) + note))
    if choice and verbose:
        click.echo(f"\n{choice}")
    if held_out:
        click.echo("\n" + describe_held_out(held_out, content["unit"]) + "\n")
    begins = "May be asked for, what tells most for its price first" if clf.problem_.any_order else "Asked for first"
    most = most_text(clf)
    if verbose:
        features = content["features"]
        more = f"\n  ... and {len(features) - 8} more (seqclass show {output} --all)" if len(features) > 8 else ""
        click.echo(wrap(_gap(content["scope"], content["gap"])))
        asked = f"{begins}; {most}:\n{feature_lines(features[:8])}{more}" if features else NOTHING_ASKED
        click.echo(f"\n{asked}\n")
    else:
        names = list(dict.fromkeys(feature.get("bundle", feature["name"]) for feature in content["features"]))
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        asked = f"{begins}: {', '.join(names[:5])}{more}; {most}." if names else NOTHING_ASKED
        click.echo(wrap(asked))
    click.echo(next_text(str(output)))


def _gap(scope: str, gap: float) -> str:
    if scope == "order":
        return f"Certified gap to the best stopping rule for this model and order: {gap_text(gap)}."
    among = "in any order" if scope == "all orders" else SCOPES[scope]
    text = f"Certified gap to the best policy for this model, {among}: {gap_text(gap)}"
    wide = f"; a bound {SCOPES[scope]} is wide where features are many, and what counts is the held-out cost."
    return text + (wide if gap > 0.05 else ".")  # larger gaps say more of the bound than of the policy
