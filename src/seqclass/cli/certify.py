"""``seqclass certify``: an error rate by contract."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.text import short_repr
from seqclass.agent.agent import agent_of
from seqclass.agent.training_rows import fingerprint_columns
from seqclass.cli._cases import full_rows, read_cases, read_groups, refuse_lacking
from seqclass.cli._describe import contract_text, differential_record, load_model
from seqclass.cli._errors import InputError, as_input_errors, check_output
from seqclass.cli._format import echo_json, next_text, wrap
from seqclass.cli._progress import show_progress
from seqclass.cli._training import header, kind, read_labels_of
from seqclass.evaluation.certified import certify_error
from seqclass.evaluation.decision_curves import class_position
from seqclass.evaluation.differential import certify_differential


def _command(
    model: Path,
    data: Path,
    target: str | None,
    metric: str | None,
    label: tuple[str, ...],
    by_class: bool,
    groups: str | None,
    also: tuple[Path, ...],
    output: Path | None,
    unknown: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    check_output(output, read=[model, *also, data])
    clf = load_model(model, unknown)
    others = [load_model(path, unknown) for path in also]
    if target is None and kind(data) != "npz" and clf.target_name_ in header(data):
        target = clf.target_name_
    started = time.perf_counter()
    if metric == "differential" or by_class:
        others_told = label or groups is not None or also or settings["ladder"] != "belief"
        if metric != "differential" or others_told:
            raise InputError(
                "--metric differential goes with --by-class, and without --class, --groups, --also and --ladder: it "
                "tells what classes are possible, and leaves the rule as it is."
            )
        del settings["ladder"]
        _differential(clf, data, target, output, as_json, by_class=by_class, **settings)
        return
    settings["others"] = others
    settings["metric"] = metric or ("sensitivity" if label else "error")
    if label and settings["metric"] != "sensitivity":
        raise InputError(f"--class is for --metric sensitivity, and --metric is {metric}: leave one of them out.")
    if settings["metric"] == "sensitivity" and not label:
        raise InputError("--metric sensitivity needs --class, the class of which at most a share ALPHA may be missed.")
    with as_input_errors():
        named = [clf.classes_[class_position(clf.classes_, one, "--class")] for one in label]
    settings["target"] = named if len(named) > 1 else next(iter(named), None)
    X = _rows([clf, *others], data, also)
    y = read_labels_of(data, target)
    if groups is not None:
        settings["groups"] = read_groups(data, groups)
    with show_progress("certifying"), as_input_errors(str(data)):
        contract = certify_error(clf, X, y, **settings)
    useful = contract.certified and not contract.trivial
    if output is not None and useful:
        with as_input_errors():
            contract.save(output)
    record = contract.record() | {"seconds": time.perf_counter() - started}
    _report(contract_text(contract), record, output if useful else None, as_json)
    if not useful:
        click.get_current_context().exit(4 if contract.certified else 3)


def _differential(
    clf: BaseSequentialClassifier, data: Path, target: str | None, output: Path | None, as_json: bool, **settings: Any
) -> None:
    X, y = _rows([clf], data, ()), read_labels_of(data, target)
    with show_progress("certifying"), as_input_errors(str(data)):
        certified = certify_differential(clf, X, y, **settings)
    sets = agent_of(certified).differential
    assert sets is not None
    if output is not None:
        with as_input_errors():
            certified.save(output)
    _report(wrap(str(sets)), differential_record(clf, sets), output, as_json)


def _rows(classifiers: list[BaseSequentialClassifier], path: Path, also: tuple[Path, ...]) -> Any:
    """All that any rule may ask for, whatever the models' own rules do, and what is known at the start."""
    clf, read = classifiers[0], [fingerprint_columns(agent_of(one)) for one in classifiers]
    number = {clf.feature_name(j): j for j in range(clf.n_features_in_)}
    for file, one, own in zip(also, classifiers[1:], read[1:]):
        names = [one.feature_name(j) for j in own.tolist()]
        if unknown := [name for name in names if name not in number]:
            raise InputError(f"--also: {file} reads {short_repr(unknown[0])}, which the model does not know.")
        own[:] = [number[name] for name in names]
    columns = np.unique(np.concatenate(read))
    cases = read_cases(clf, path, columns=columns)
    refuse_lacking(clf, path, columns[None], cases.names)
    return full_rows(clf, cases, slice(0, int(cases.X.shape[0])))


def _report(text: str, record: dict[str, Any], output: Path | None, as_json: bool) -> None:
    written = None if output is None else str(output)
    if as_json:
        echo_json(record | {"output": written})
        return
    click.echo(text)
    if written is not None:
        click.echo("\n" + next_text(written))
