"""``seqclass plan``: what to ask of a case, from a Bayesian network and without data."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.progress import DeadlineExceeded, time_limit
from seqclass._utils.validation import columns_of
from seqclass.bn import DiscreteNetwork
from seqclass.classifier import SequentialClassifier
from seqclass.cli._describe import LIMITED, bound_text, describe, expected_text, feature_lines
from seqclass.cli._errors import InputError, as_input_errors, check_input, check_output
from seqclass.cli._format import count, echo_json, wrap
from seqclass.cli._progress import show_progress
from seqclass.cli._training import non_default_options, read_decision_costs, read_prices
from seqclass.costs import Costs
from seqclass.fitting._fit import network_solver
from seqclass.pomdp import Panels, evaluate
from seqclass.pomdp.evaluation import Evaluation
from seqclass.pomdp.one_step import deciding_cost
from seqclass.pomdp.problem import initial_beliefs
from seqclass.pomdp.rules import Rules

#: Questions that are listed.
_MOST = 8


def _command(
    file: Path,
    targets: tuple[str, ...],
    output: Path,
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
    seconds: float,
    max_cells: int,
    seed: int,
    as_json: bool,
) -> None:
    check_input(file)
    check_output(output, read=[file, costs, decision_costs, rules])
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
    left_out = [name for name in model.network_.names if name not in model.questions_]
    with as_input_errors():
        columns_of(known, len(model.questions_), model.questions_, "--known")
    given = read_prices(costs, price, model.questions_, model.classes_, left_out, known, "--price")
    given |= read_decision_costs(decision_costs, model.classes_)
    given |= non_default_options(visit_cost=visit_cost, delay_cost=delay_cost, max_panel=max_panel)
    prices = Costs(**given, unit=currency)
    settings: dict[str, Any] = {
        "feature_costs": prices,
        "random_state": seed,
    }
    with as_input_errors():
        model = DiscreteNetwork(model.network_, target, model.questions_, max_cells).fit()
        settings["solver"] = network_solver(seed, seconds, model.table_size)
    settings |= {"known": list(known)} | non_default_options(max_features=max_features, max_cost=max_cost)
    if rules is not None:
        with as_input_errors():
            settings["rules"] = Rules.read(rules)
    with as_input_errors():
        if prices.prices(len(model.questions_), model.questions_).visits is not None:
            settings["solver"] = Panels(solver=settings["solver"], random_state=seed)
    started = time.perf_counter()
    with as_input_errors(), show_progress("planning"):
        clf = SequentialClassifier.from_network(
            model.network_, target, questions=model.questions_, max_cells=max_cells, **settings
        )
        clf.save(output)
    taken = time.perf_counter() - started
    expected = None
    with show_progress("following the plan"), suppress(DeadlineExceeded), time_limit(seconds / 4):
        expected = evaluate(clf.problem_, clf.policy_)
    _report(clf, expected, file, output, taken, as_json)


def _report(
    clf: BaseSequentialClassifier, expected: Evaluation | None, file: Path, output: Path, seconds: float, as_json: bool
) -> None:
    content = describe(clf, most=None if as_json else _MOST)
    n_features = None if expected is None else expected.n_features
    content |= {"expected_n_features": n_features, "seconds": seconds, "output": str(output)}
    if as_json:
        echo_json(content)
        return
    network: Any = clf.model_
    n_questions = content["n_features"] - len(content["known"])
    click.echo(
        f"Planned for {file}: {count(len(network.network_.names), 'node')}, {count(n_questions, 'question')}, "
        f"{count(len(content['classes']), 'class', 'classes')}, in {seconds:.1f} s."
    )
    click.echo(wrap(expected_text(clf, "the network", "questions", expected)))
    begun, weight = initial_beliefs(clf.problem_)
    at_once = float(weight @ deciding_cost(begun))
    click.echo(wrap(f"Deciding at once costs {at_once:.4f}. {bound_text(content)}"))
    if content["status"] == "limit":
        click.echo(wrap(f"{LIMITED} --seconds allows for more."))
    if content["features"]:
        click.echo("\nMay be asked for, what tells most for its price first:")
        click.echo(feature_lines(content["features"]))
    rest = n_questions - len(content["features"])
    silent = ", those that by themselves tell nothing among them" if len(content["features"]) < _MOST else ""
    if rest > 0:
        click.echo(f"  ... and {rest} more{silent}")
    click.echo(f"\nWrote {output}. Next: seqclass ask {output}, or seqclass export {output} -o page.html")
