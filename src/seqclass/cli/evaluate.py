"""``seqclass evaluate``: what a model does on rows whose labels are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from seqclass._shell import DecidingClassifier
from seqclass._utils.text import shown
from seqclass.cli._cases import acquire_parts, read_answers, read_cases, read_groups, unknown_cells
from seqclass.cli._describe import load_model
from seqclass.cli._errors import InputError, refused
from seqclass.cli._format import count, echo_json, wrapped
from seqclass.cli._scores import details_text, scores_text
from seqclass.cli._training import costs_file, read_decision_costs, read_prices
from seqclass.costs import Costs
from seqclass.deciding.decider import decider_of
from seqclass.deciding.record import joined, some_rows
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
        with refused():
            class_position(clf.classes_, positive, "--positive")
    group = None if groups is None else read_groups(data, groups)
    cases = read_cases(clf, data)
    answers = _answers(clf, data, target, drop_unlabelled)
    record = joined([record for _, record, _ in acquire_parts(clf, cases, data)])
    known = np.flatnonzero(answers != np.array(None))
    with refused(str(data)):
        if group is not None:
            other["groups"] = group[known]
        labelled, labels = some_rows(record, known), answers[known].astype(str)
        scores = score_rows(clf, None, labels, record=labelled, **other)
        test = None if drift is None else DriftTest.of(clf, margin=drift).update(labelled, labels)
    if as_json:
        more: dict[str, Any] = {"n_unlabelled": len(answers) - len(known), "n_unknown": unknown_cells(clf, cases)}
        if test is not None:
            found = {"alarm_row": test.alarm, "change_row": test.change}
            rows = {name: None if at is None else int(known[at]) + 1 for name, at in found.items()}
            more["drift"] = {"e_value": test.e_value, "margin": test.margin, "alpha": test.alpha, **rows}
        echo_json(scores.record() | more)
        return
    click.echo(f"{scores_text(scores, decider_of(clf).unit)}\n\n{details_text(scores, bool(thresholds))}")
    if test is not None:
        click.echo(f"\n{wrapped(f'Drift: {test}.')}")


def _answers(clf: DecidingClassifier, data: Path, target: str | None, drop_unlabelled: bool) -> Any:
    answers = read_answers(clf, data, target)
    if answers is None:
        name = clf.target_name_
        why = "the model does not say which column it was trained with" if name is None else f"it lacks {shown(name)}"
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


def _other_costs(clf: DecidingClassifier, costs: Path | None, decision_costs: Path | None) -> dict[str, Any]:
    """Prices and costs to judge by, in place of the model's."""
    found: dict[str, Any] = {}
    names = [clf.feature_name(j) for j in range(clf.n_features_in_)]
    settings = {} if costs is None else read_prices(costs, decider_of(clf).prices.full, names, clf.classes_)
    if costs is not None:
        with refused():
            found["prices"] = Costs(**settings).prices(len(names), names)
    settings |= read_decision_costs(decision_costs, clf.classes_)
    if "decision_costs" in settings:
        further = [str(label) for label in clf.decisions_[len(clf.classes_) :].tolist()]
        if list(settings.get("decisions") or []) != further:
            raise InputError(f"the costs must be of the model's decisions, {', '.join(map(str, clf.decisions_))}.")
        found["decision_costs"] = settings["decision_costs"]
    return found
