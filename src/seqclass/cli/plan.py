"""``seqclass plan``: what to ask of a case, from a Bayesian network or a table of tests and without data."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.progress import DeadlineExceeded, time_limit
from seqclass._utils.validation import columns_of
from seqclass.agent.provenance import source_of
from seqclass.bn import DiscreteNetwork
from seqclass.classifier import SequentialClassifier
from seqclass.cli._banks import item_names, plan_score, read_bank
from seqclass.cli._describe import LIMITED, bound_text, describe, describe_cost, feature_lines
from seqclass.cli._errors import InputError, as_input_errors, check_input_file, check_output, refuse_options, sentence
from seqclass.cli._format import MOST, count, echo_json, wrap
from seqclass.cli._progress import open_with_progress, show_progress
from seqclass.cli._training import form, non_default_options, read_decision_costs, read_prices, read_rules
from seqclass.costs import Costs
from seqclass.diagnostic import TARGET, TestTable, read_tests
from seqclass.exams import ExposureControl
from seqclass.exams.exposure import ExposurePolicy
from seqclass.export import export_policy
from seqclass.fitting._fit import network_solver
from seqclass.pomdp import Panels, evaluate
from seqclass.pomdp.evaluation import Evaluation
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.problem import deciding_cost


def _command(
    file: Path,
    targets: tuple[str, ...],
    output: Path | None,
    page: Path | None,
    bank: bool,
    cuts: tuple[str, ...],
    levels: tuple[str, ...],
    score: str | None,
    standard_error: float | None,
    scale: str | None,
    areas: tuple[str, ...],
    max_exposure: float | None,
    drop: tuple[str, ...],
    prior: float | None,
    price: float | None,
    costs: Path | None,
    decision_costs: Path | None,
    visit_cost: float | None,
    delay_cost: float | None,
    max_panel: int | None,
    max_features: int | None,
    max_cost: float | None,
    currency: str | None,
    questions: tuple[str, ...],
    hidden: tuple[str, ...],
    known: tuple[str, ...],
    rules: Path | None,
    skip_logic: Path | None,
    seconds: float,
    max_cells: int,
    seed: int,
    as_json: bool,
) -> None:
    check_input_file(file)
    tests = not bank and file.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    output = file.with_suffix(".seq") if output is None else output
    given_page = page
    page = output.with_suffix(".html") if page is None and (tests or bank) and max_exposure is None else page
    check_output(output, read=[file, costs, decision_costs, rules, skip_logic])
    check_output(page, read=[file, costs, decision_costs, rules, skip_logic], written=[output])
    own = {"visit_cost": visit_cost, "delay_cost": delay_cost, "max_panel": max_panel, "unit": currency}
    kind = "a bank of items" if bank else "a table of tests" if tests else "a network"
    for_banks = {"--cut": cuts, "--level": levels, "--area": areas, "--max-exposure": max_exposure is not None}
    for_banks |= {"--drop": drop, "--score": score}
    for_networks = {"--question": questions, "--hidden": hidden, "--prior": prior is not None}
    other = for_networks if bank else for_banks
    refuse_options(other, f"is not for {kind}, which {file} is{'' if bank else '; give --bank'}.")
    if score is None:
        of_scores = {"--standard-error": standard_error is not None, "--scale": scale is not None}
        refuse_options(of_scores, "is of a score: say which with --score.")
    else:
        of_classes = {"--target": targets, "--cut": cuts, "--level": levels, "--max-exposure": max_exposure is not None}
        of_classes |= {"--decision-costs": decision_costs, "--costs": costs, "--known": known, "--max-cost": max_cost}
        of_classes |= {"--skip-logic": skip_logic, "--visit-cost": visit_cost, "--delay-cost": delay_cost}
        of_classes |= {"--max-panel": max_panel, "--currency": currency, "--page": given_page}
        refuse_options(of_classes, "is not for a score.")
        figures: dict[str, Any] = {"price": price, "max_features": max_features, "seed": seed, "as_json": as_json}
        plan_score(file, output, score, standard_error, scale, areas, drop, rules, **figures)
        return
    if max_exposure is not None and page is not None:
        raise InputError("--page and --max-exposure exclude each other: what is drawn by lot no page tells.")
    if bank:
        model, more, read = read_bank(file, targets, cuts, levels, areas, drop, rules, skip_logic)
        names, left_out = item_names(model), []
    elif tests:
        not_for = {"--target": targets, "--question": questions, "--hidden": hidden, "--costs": costs}
        refuse_options(not_for, f"is for networks: {file} is a table of tests, with their prices.")
        table = _read_tests(file, decision_costs, prior=prior, price=price, **non_default_options(**own))
        model, prices, target = DiscreteNetwork(table.network(), TARGET).fit(), table.costs, TARGET
        names = model.questions_
    else:
        refuse_options({"--prior": prior is not None}, "is for a table of tests: a network has its own.")
        model = _read_network(file, targets, questions, hidden)
        target, names = model.target, model.questions_
        left_out = [name for name in model.network_.names if name not in names]
    if not tests:
        given = read_prices(costs, price, names, model.classes_, left_out, known)
        given |= read_decision_costs(decision_costs, model.classes_) | non_default_options(**own)
        prices = Costs(**given)
    with as_input_errors():
        columns_of(known, len(names), names, "--known")
    settings: dict[str, Any] = {"feature_costs": prices, "random_state": seed}
    with as_input_errors():
        if not bank:
            model, more = DiscreteNetwork(model.network_, target, names, max_cells).fit(), read_rules(rules, skip_logic)
        calibrating = 0 if max_exposure is None else seconds / 3
        settings["solver"] = network_solver(seed, seconds - calibrating, 0 if bank else model.table_size)
        if max_exposure is not None:
            settings["solver"] = ExposureControl(
                settings["solver"],
                max_exposure=max_exposure,
                n_cases=2000,
                max_seconds=calibrating,
                certificate_paths=0,
                random_state=seed,
            )
    settings |= {"known": list(known)} | non_default_options(max_features=max_features, max_cost=max_cost) | more
    with as_input_errors():
        if prices.prices(len(names), names).visits is not None:
            if max_exposure is not None:
                raise InputError("--max-exposure asks one item at a time: leave --visit-cost and delays out.")
            settings["solver"] = Panels(solver=settings["solver"], random_state=seed)
    started = time.perf_counter()
    with as_input_errors(), show_progress("planning"):
        source, digest = source_of(file)
        if bank:
            clf = SequentialClassifier.from_model(model, **settings)
        else:
            clf = SequentialClassifier.from_network(
                model.network_, target, questions=names, max_cells=max_cells, **settings
            )
        clf.provenance_ = replace(clf.provenance_, source=source, digest=digest)
        page, unwritten = _write(clf, output, page, given_page is not None)
    taken = time.perf_counter() - started
    expected = None
    asked = "item" if bank else "test" if tests else "question"
    notes = [*(read if bank else []), *unwritten]
    exposed = ["How far exposure is kept was not worked out in --seconds."] if max_exposure is not None else []
    with show_progress("following the plan"), suppress(DeadlineExceeded), time_limit(seconds / 4):
        if max_exposure is not None:
            assert isinstance(clf.policy_, ExposurePolicy)
            exposed = [_exposure_text(clf.policy_, max_exposure, seed)]
        expected = evaluate(clf)
    notes += exposed
    _report(clf, expected, file, output, page, asked, taken, as_json, notes)


def _write(
    clf: BaseSequentialClassifier, output: Path, page: Path | None, wanted: bool
) -> tuple[Path | None, list[str]]:
    """Write a plan and its page, or say why there is none, unless it was asked for."""
    notes = []
    if page is not None:
        try:
            export_policy(clf, page, format="html")
        except ValueError as error:
            if wanted:
                raise
            page, notes = None, [f"No page is written: {sentence(error)}"]
    clf.save(output)
    return page, notes


def _exposure_text(policy: ExposurePolicy, most: float, seed: int, n_persons: int = 4000) -> str:
    """The largest exposure that a plan reaches."""
    most_asked = policy.simulate_shares(n_persons, np.random.default_rng([seed, n_persons])).max()
    text = f"Of {n_persons} further persons the most exposed item was asked of {most_asked:.1%}"
    chance = 2 * (most * (1 - most) / n_persons) ** 0.5
    if most_asked <= most:
        return f"{text}, where {most:.1%} are allowed."
    if most_asked <= most + chance:
        return f"{text}; {most:.1%} are allowed, and chance alone makes up to {chance:.1%} of difference."
    return f"{text}, above the {most:.1%} allowed: areas that need more take it. Allow more, or ask for less."


def _read_network(
    file: Path, targets: tuple[str, ...], questions: tuple[str, ...], hidden: tuple[str, ...]
) -> DiscreteNetwork:
    if not targets:
        raise InputError("name the node of the network to find out about with --target.")
    if questions and hidden:
        raise InputError("--question and --hidden exclude each other.")
    target = targets[0] if len(targets) == 1 else list(targets)
    with as_input_errors(), show_progress("reading"):
        model = DiscreteNetwork.from_file(file, target, list(questions) or None)
        if hidden:
            for name in hidden:
                model.network_.number(name, "--hidden")
            asked = [name for name in model.questions_ if name not in hidden]
            model = DiscreteNetwork(model.network_, target, asked).fit()
    return model


def _read_tests(file: Path, decision_costs: Path | None, **settings: Any) -> TestTable:
    with as_input_errors():
        frame = read_tests(file, form(), open_with_progress)
    prior = settings.get("prior")
    if prior is not None and not 0 <= prior <= 1:
        hint = f" ({prior:g}% is {prior / 100:g})" if 1 < prior <= 100 else ""
        raise InputError(f"--prior must lie between 0 and 1, got {prior:g}{hint}.")
    with as_input_errors(str(file)):
        table = TestTable.from_frame(frame, **settings)
    if decision_costs is None:
        return table
    given = read_decision_costs(decision_costs, np.array(table.classes))
    with as_input_errors(str(decision_costs)):
        return TestTable.from_frame(frame, **settings, **given)


def _report(
    clf: BaseSequentialClassifier,
    expected: Evaluation | None,
    file: Path,
    output: Path,
    page: Path | None,
    asked: str,
    seconds: float,
    as_json: bool,
    notes: list[str],
) -> None:
    content = describe(clf, most=None if as_json else MOST)
    n_features = None if expected is None else expected.n_features
    content |= {"expected_n_features": n_features, "seconds": seconds, "output": str(output)}
    content |= ({} if page is None else {"page": str(page)}) | ({"notes": notes} if notes else {})
    if as_json:
        echo_json(content)
        return
    network: Any = clf.model_
    n_questions = content["n_features"] - len(content["known"])
    nodes = f"{count(len(network.network_.names), 'node')}, " if asked == "question" else ""
    classes = count(len(content["classes"]), "class", "classes")
    click.echo(f"Planned for {file}: {nodes}{count(n_questions, asked)}, {classes}, in {seconds:.1f} s.")
    for note in notes:
        click.echo(wrap(note))
    by = {"item": "the bank", "test": "the table", "question": "the network"}[asked]
    click.echo(wrap(describe_cost(clf, by, f"{asked}s", expected)))
    if asked == "item" and expected is not None and np.array_equal(clf.decision_costs_, 1 - np.eye(len(clf.classes_))):
        click.echo(wrap(f"Of the decisions {clf.expected_cost_ - expected.price:.1%} are wrong."))
    begun, weight = initial_beliefs(clf.problem_)
    at_once = float(weight @ deciding_cost(begun))
    click.echo(wrap(f"Deciding at once costs {at_once:.4f}. {bound_text(content)}"))
    if content["status"] == "limit":
        click.echo(wrap(f"{LIMITED} --seconds allows for more."))
    if content["features"]:
        click.echo("\nMay be asked for, what tells most for its price first:")
        click.echo(feature_lines(content["features"]))
    rest = n_questions - len(content["features"])
    silent = ", those that by themselves tell nothing among them" if len(content["features"]) < MOST else ""
    if rest > 0:
        click.echo(f"  ... and {rest} more{silent}")
    export = f", or seqclass export {output} -o page.html" if page is None else f", or open {page}"
    export = "" if page is None and asked != "question" else export  # which has one by itself, where it can
    click.echo(f"\nWrote {output}{'' if page is None else f' and {page}'}. Next: seqclass ask {output}{export}")
