"""``seqclass predict``: decide for every row of a table."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

from seqclass._arrays import IntArray
from seqclass._files import replacing
from seqclass._messages import shown
from seqclass._record import AcquisitionRecord
from seqclass._record_rows import joined, rows_of
from seqclass.classifier import SequentialClassifier
from seqclass.cli._cases import acquire_parts, read_answers, read_cases, unknown_cells
from seqclass.cli._describe import load_model
from seqclass.cli._errors import InputError, check_output, sentence
from seqclass.cli._format import count, echo_json, plain
from seqclass.cli._scores import scores_text
from seqclass.metrics import Scores, score_rows


@dataclass
class _Summary:
    """Totals over all rows."""

    rows: int = 0
    features: int = 0
    cost: float = 0.0
    decisions: Counter[str] = field(default_factory=Counter)
    unknown: int = 0

    def add(self, record: AcquisitionRecord) -> None:
        self.rows += len(record)
        self.features += int(record.n_features.sum())
        self.cost += float(record.cost.sum())
        labels, counts = np.unique(record.decision.astype(str), return_counts=True)
        self.decisions.update(dict(zip(labels.tolist(), counts.tolist())))


def _command(
    model: Path, new: Path, output: Path | None, keep: tuple[str, ...], unknown: str | None, as_json: bool
) -> None:
    """Decide for every row of a table."""
    check_output(output, read=[model, new])
    clf = load_model(model, unknown)
    _check_kept(keep, clf)
    started = time.perf_counter()
    cases = read_cases(clf, new, keep)
    summary = _Summary(unknown=unknown_cells(clf, cases))
    answers = read_answers(clf, new, None)
    records = []
    rows: list[dict[str, Any]] = []
    with _target(output, as_json) as target:
        for part, record in acquire_parts(clf, cases, new):
            summary.add(record)
            records += [] if answers is None else [record]
            frame = _frame(clf, record, None if cases.kept is None else cases.kept.iloc[part])
            if target is None:
                rows.extend(frame.to_dict(orient="records"))
            else:
                frame.to_csv(target, index=False, header=part.start == 0, float_format="%.6g", lineterminator="\n")
    seconds = time.perf_counter() - started
    scored, why = (None, "") if answers is None else _scored(clf, joined(records), answers)
    _report(summary, seconds, output, rows, as_json, scored)
    told = why if scored is None else scores_text(scored)
    if told and not as_json:
        click.echo(f"\n{told}" if output is not None else told, err=output is None)


def _scored(clf: SequentialClassifier, record: AcquisitionRecord, answers: Any) -> tuple[Scores | None, str]:
    """Scores of the rows that have a label; where they cannot be had, why: rows to predict need no right labels."""
    known = np.flatnonzero(answers != np.array(None))
    if not known.size:
        return None, ""
    try:
        return score_rows(clf, None, answers[known].astype(str), record=rows_of(record, known)), ""
    except ValueError as error:
        return None, f"There are no scores: {sentence(error)}"


@contextmanager
def _target(output: Path | None, as_json: bool) -> Iterator[TextIO | None]:
    """Where the rows go: a file that appears once it is whole, stdout, or nowhere."""
    if output is None:
        yield None if as_json else sys.stdout
        return
    try:
        with replacing(output) as path, path.open("w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot write {output}: {sentence(error)}") from error


def _check_kept(keep: tuple[str, ...], clf: SequentialClassifier) -> None:
    """Refuse columns to copy that would share their name with another column of the output."""
    ours = ["decision", *(f"posterior_{label}" for label in clf.classes_.tolist()), "n_features", "cost", "asked"]
    for i, name in enumerate(keep):
        if name in ours:
            raise InputError(
                f"--keep: the output has a column {shown(name)} of its own; give the one to keep another name."
            )
        if name in keep[:i]:
            raise InputError(f"--keep: {shown(name)} is given twice.")


def _frame(clf: SequentialClassifier, record: AcquisitionRecord, kept: Any) -> Any:
    """The output of some rows."""
    import pandas as pd

    columns: dict[str, Any] = {} if kept is None else {name: kept[name].to_numpy() for name in kept.columns}
    columns["decision"] = record.decision
    for i, label in enumerate(clf.classes_.tolist()):
        columns[f"posterior_{label}"] = record.posterior[:, i]
    columns |= {"n_features": record.n_features, "cost": record.cost, "asked": _asked(clf, record.order)}
    return pd.DataFrame(columns)


def _asked(clf: SequentialClassifier, order: IntArray) -> list[str]:
    """Names of the features asked for in each row, joined; each distinct row is spelt out once."""
    if not order.shape[1]:
        return [""] * len(order)
    rows = np.ascontiguousarray(order)
    keys = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
    first = {key: i for i, key in enumerate(keys)}
    # a name with the sign that parts names is quoted, so that the names can be told apart again
    names = {j: _quoted(clf.feature_name(j)) for j in np.unique(order[order >= 0]).tolist()}
    text = {key: ";".join(names[j] for j in rows[i].tolist() if j >= 0) for key, i in first.items()}
    return [text[key] for key in keys]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if ";" in name or '"' in name else name


def _report(
    summary: _Summary,
    seconds: float,
    output: Path | None,
    rows: list[dict[str, Any]],
    as_json: bool,
    scored: Scores | None,
) -> None:
    n = summary.rows
    if as_json:
        content: dict[str, Any] = {
            "n_rows": n,
            "mean_features": summary.features / n,
            "mean_cost": summary.cost / n,
            "decisions": dict(sorted(summary.decisions.items())),
            "n_unknown": summary.unknown,
            "seconds": seconds,
            "output": None if output is None else str(output),
        }
        if scored is not None:
            content["scores"] = scored.record()
        if output is None:
            content["predictions"] = plain(rows)
        echo_json(content)
    elif output is not None:
        decisions = ", ".join(f"{label} {k:,}" for label, k in summary.decisions.most_common(8))
        click.echo(
            f"Decided {count(n, 'row')} in {seconds:.1f} s, with {summary.features / n:.2f} features at a price of "
            f"{summary.cost / n:.4f} on average: {decisions}."
        )
        if summary.unknown:
            cells = count(summary.unknown, "cell holds", "cells hold")
            click.echo(f"{cells} a category that training did not show, and counted as missing.")
        click.echo(f"Wrote {output}.")
