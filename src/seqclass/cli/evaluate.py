"""``seqclass evaluate``: what a model does on rows whose labels are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.text import short_repr
from seqclass.agent.agent import agent_of
from seqclass.agent.record import join_records, select_rows
from seqclass.cli._cases import acquire_parts, check_known, read_answers, read_cases, read_groups, unknown_cells
from seqclass.cli._describe import load_model
from seqclass.cli._errors import InputError, as_input_errors
from seqclass.cli._format import count, echo_json, wrap
from seqclass.cli._scores import details_text, scores_text
from seqclass.cli._training import costs_file, form, read_decision_costs
from seqclass.costs import Costs, Prices
from seqclass.datasets._costs import read_costs
from seqclass.drift import DriftTest
from seqclass.evaluation.decision_curves import class_position
from seqclass.metrics import score_rows


def _command(
    model: Path,
    data: Path,
    target: str | None,
    costs: Path | None,
    dataset_costs: bool,
    decision_costs: Path | None,
    positive: str | None,
    prevalence: float | None,
    thresholds: tuple[float, ...],
    groups: str | None,
    drift: float | None,
    drop_unlabelled: bool,
    unknown: str | None,
    as_json: bool,
) -> None:
    costs = costs_file(data, costs, dataset_costs)
    clf = load_model(model, unknown)
    other = _other_costs(clf, costs, decision_costs)
    other |= {"positive": positive, "thresholds": sorted(set(thresholds)) or None, "prevalence": prevalence}
    if positive is not None:
        with as_input_errors():
            class_position(clf.classes_, positive, "--positive")
    group = None if groups is None else read_groups(data, groups)
    cases = read_cases(clf, data)
    answers = _answers(clf, data, target, drop_unlabelled)
    record = join_records([record for _, record, _ in acquire_parts(clf, cases, data)])
    known = np.flatnonzero(answers != np.array(None))
    with as_input_errors(str(data)):
        if group is not None:
            other["groups"] = group[known]
        labelled = select_rows(record, known)
        labels = check_known(clf, answers[known].astype(str), target or clf.target_name_)
        scores = score_rows(clf, None, labels, record=labelled, **other)
        test = None if drift is None else DriftTest.from_classifier(clf, margin=drift).update(labelled, labels)
    if as_json:
        more: dict[str, Any] = {"n_unlabelled": len(answers) - len(known), "n_unknown": unknown_cells(clf, cases)}
        if test is not None:
            change = {"alarm_row": test.alarm, "change_row": test.change}
            rows = {name: None if at is None else int(known[at]) + 1 for name, at in change.items()}
            more["drift"] = {"e_value": test.e_value, "margin": test.margin, "alpha": test.alpha, **rows}
        echo_json(scores.record() | more)
    else:
        click.echo(f"{scores_text(scores, agent_of(clf).unit)}\n\n{details_text(scores, bool(thresholds))}")
        if test is not None:
            click.echo(f"\n{wrap(f'Drift: {test}.')}")
    if test is not None and test.alarm is not None:
        click.get_current_context().exit(6)


def _answers(clf: BaseSequentialClassifier, data: Path, target: str | None, drop_unlabelled: bool) -> Any:
    answers = read_answers(clf, data, target)
    if answers is None:
        unknown = "the model does not say which column it was trained with"
        why = unknown if clf.target_name_ is None else f"it lacks {short_repr(clf.target_name_)}"
        raise InputError(f"{data}: {why}; name the column of the labels with --target.")
    missing = answers == np.array(None)
    if missing.all():
        raise InputError(f"{data}: no row has a label.")
    if missing.any() and not drop_unlabelled:
        raise InputError(
            f"{data}: the label is missing in {count(int(missing.sum()), 'row')}, first in row "
            f"{int(missing.argmax()) + 1}; fill it in, or leave such rows out with --drop-unlabelled."
        )
    return answers


def _other_costs(clf: BaseSequentialClassifier, costs: Path | None, decision_costs: Path | None) -> dict[str, Any]:
    """Prices and costs to judge by, in place of the model's."""
    other_costs: dict[str, Any] = {}
    names = [clf.feature_name(j) for j in range(clf.n_features_in_)]
    settings: dict[str, Any] = {}
    with as_input_errors():
        if costs is not None:
            classes = tuple(map(str, clf.classes_.tolist()))
            settings = read_costs(costs, names, classes, rest=np.full(len(names), np.nan), form=form())
        if settings.keys() - {"decision_costs", "decisions"}:
            other_costs["prices"] = _prices(agent_of(clf).prices, settings, names)
    settings |= read_decision_costs(decision_costs, clf.classes_)
    if "decision_costs" in settings:
        further = [str(label) for label in clf.decisions_[len(clf.classes_) :].tolist()]
        if list(settings.get("decisions") or []) != further:
            raise InputError(f"the costs must be of the model's decisions, {', '.join(map(str, clf.decisions_))}.")
        other_costs["decision_costs"] = settings["decision_costs"]
    return other_costs


def _prices(own: Prices, given: dict[str, Any], names: list[str]) -> Prices:
    """The prices of a file; what it does not name keeps the model's, with its group, and so do visits."""
    n = len(names)
    full = given.get("feature_costs", np.full(n, np.nan))
    told, less = ~np.isnan(full), given.get("discounted_costs", full)
    groups: list[Any] = [None] * n if own.groups is None else [k if k >= 0 else None for k in own.groups.tolist()]
    for j, group in enumerate(given.get("groups", [None] * n)):
        if told[j]:  # as a text, which is no number of the model's
            groups[j] = None if group is None else str(group)
    visits: dict[str, Any] = {}
    if own.visits is not None:
        visits = {"visit_cost": own.visits.cost, "max_panel": own.visits.max_panel}
        visits |= {"delays": own.visits.delays, "delay_cost": own.visits.delay_cost}
    visits |= {key: given[key] for key in ("visit_cost", "delay_cost", "max_panel", "delays") if key in given}
    prices = Costs(
        np.where(told, full, own.full),
        discounted_costs=np.where(told, np.where(np.isnan(less), full, less), own.discounted),
        groups=groups,
        bundles=None if own.bundles is None else [own.bundle_names[k] if k >= 0 else None for k in own.bundles],
        prices_after=given.get("prices_after"),
        **visits,
    ).prices(n, names)
    return replace(prices, after=(*(one for one in own.after if not told[one.question]), *prices.after))
