"""``seqclass certify``: an error rate by contract."""

from __future__ import annotations

import copy
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from seqclass._certifying import LADDERS, RISKS
from seqclass._messages import listed, shown
from seqclass.certified import CertifiedError, certify_error
from seqclass.classifier import SequentialClassifier
from seqclass.cli._cases import full_rows, lacks, read_cases, read_groups
from seqclass.cli._describe import contract_text, load_model, unknown_option
from seqclass.cli._errors import InputError, check_output, refused
from seqclass.cli._format import echo_json
from seqclass.cli._progress import working
from seqclass.cli._training import read_labels_of

_PATH = click.Path(path_type=Path)
_SHARE = click.FloatRange(min=0, max=1, min_open=True, max_open=True)


@click.command()
@click.argument("model", type=_PATH)
@click.argument("data", type=_PATH)
@click.option("--target", "-t", metavar="COLUMN", help="Column of the labels (for .npz: the array, 'y' by default).")
@click.option(
    "--alpha",
    type=click.FloatRange(min=0, min_open=True),
    default=0.1,
    show_default=True,
    help="Highest error rate, or mean cost.",
)
@click.option("--delta", type=_SHARE, default=0.1, show_default=True, help="Chance that it may be higher.")
@click.option(
    "--metric",
    type=click.Choice(list(RISKS)),
    help="What ALPHA is about: rows decided for a wrong class; cases of a class that are missed; prices and decision "
    "costs.  [default: error, or sensitivity with --class]",
)
@click.option("--class", "label", metavar="LABEL", help="Class of which a share of at most ALPHA may be missed.")
@click.option("--groups", metavar="COLUMN", help="Column of groups, such as the sex: ALPHA is to hold in each.")
@click.option("--ladder", type=click.Choice(list(LADDERS)), default="belief", show_default=True, help="Rules to try.")
@click.option("--output", "-o", type=_PATH, metavar="MODEL", help="File to write the certified classifier to.")
@click.option("--allow-seen", is_flag=True, help="Take rows that look like those that the model was fitted to.")
@unknown_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def certify(
    model: Path,
    data: Path,
    target: str | None,
    alpha: float,
    delta: float,
    metric: str | None,
    label: str | None,
    groups: str | None,
    ladder: str,
    output: Path | None,
    allow_seen: bool,
    unknown: str | None,
    as_json: bool,
) -> None:
    """Certify an error rate of a MODEL on the labelled rows of DATA, by the cheapest stopping rule that has it.

    DATA must hold rows that the model was not fitted to, drawn like those it will meet. The rule that is found has an
    error rate of at most ALPHA, but for a chance of DELTA, whatever the model is worth; or it is said that there is
    none, and what these rows would certify. Nothing is written then, and the exit code is 3.

    What is written with -o is a classifier for predict, explain, ask and show, with the rule that was certified.
    """
    check_output(output, read=[model, data])
    clf = load_model(model, unknown)
    started = time.perf_counter()
    settings: dict[str, Any] = {"alpha": alpha, "delta": delta, "ladder": ladder, "allow_seen": allow_seen}
    settings["metric"] = metric or ("error" if label is None else "sensitivity")
    settings["target"] = None if label is None else _class(clf, label)
    X = _rows(clf, data)
    y = _labels(clf, data, target)
    if groups is not None:
        settings["groups"] = read_groups(data, groups)
    with working(lambda: "certifying"), refused(str(data)):
        contract = certify_error(clf, X, y, **settings)
    if output is not None and contract.certified:
        with refused():
            contract.save(output)
    _report(contract, time.perf_counter() - started, output, as_json)
    if not contract.certified:
        click.get_current_context().exit(3)


def _rows(clf: SequentialClassifier, path: Path) -> Any:
    """All that any rule may ask for, whatever the model's own rule does."""
    whole = copy.copy(clf)
    whole.order_ = clf.support_[clf._asked(whole=True)]
    cases = read_cases(whole, path)
    if cases.position is not None:
        absent = [j for j in whole.order_.tolist() if clf.feature_name(j) not in cases.position]
        if absent:
            raise InputError(lacks(clf, path, list(cases.position), absent[0]))
    return full_rows(whole, cases, slice(0, int(cases.X.shape[0])))


def _labels(clf: SequentialClassifier, path: Path, target: str | None) -> Any:
    """Labels as the classes of the model, whatever they look like in a table of few rows."""
    found = read_labels_of(path, target)
    classes = clf.classes_.tolist()
    by_name = {str(label): label for label in classes}
    values = [by_name.get(str(label), label) for label in found.tolist()]
    unknown = next((row for row, label in enumerate(values, 1) if label not in classes), None)
    if unknown is not None:
        raise InputError(
            f"{path}: row {unknown} has the label {shown(values[unknown - 1])}, which is no class of the model; they "
            f"are {listed(map(str, classes))}."
        )
    return np.array(values, dtype=clf.classes_.dtype)


def _class(clf: SequentialClassifier, label: str) -> Any:
    by_name = {str(known): known for known in clf.classes_.tolist()}
    if label not in by_name:
        raise InputError(f"--class: {shown(label)} is no class of the model; they are {listed(by_name)}.")
    return by_name[label]


def _report(contract: CertifiedError, seconds: float, output: Path | None, as_json: bool) -> None:
    written = str(output) if output is not None and contract.certified else None
    if as_json:
        echo_json(contract.record() | {"seconds": seconds, "output": written})
        return
    click.echo(contract_text(contract))
    if written is not None:
        click.echo(f"\nWrote {written}. Next: seqclass predict {written} NEW.csv, or seqclass ask {written}")
