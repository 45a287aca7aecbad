"""``seqclass predict``: decide for every row of a table."""

from __future__ import annotations

import gzip
import io
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._chunks.parquet import parquet_file, parquet_files
from seqclass._utils.files import remove_leftovers, replace_file
from seqclass._utils.tables import to_json_value
from seqclass._utils.text import join_names, money, percent, visible
from seqclass.agent.agent import agent_of, read_columns
from seqclass.agent.record import AcquisitionRecord, join_records, select_rows
from seqclass.agent.training_rows import is_outside_training
from seqclass.cli._cases import acquire_parts, check_known, read_answers, read_cases, unknown_cells
from seqclass.cli._describe import load_parts
from seqclass.cli._errors import InputError, NoRowsError, as_input_errors, check_output, is_folder, sentence
from seqclass.cli._format import MOST, count, echo_json, wrap
from seqclass.cli._progress import show_progress
from seqclass.cli._scores import scores_text
from seqclass.evaluation.scores import Scores
from seqclass.exams.estimates import score_plan_of
from seqclass.large import DecidedParts, DecidedRows, check_kept, decisions_frame, predict_parquet
from seqclass.metrics import score_rows

#: Endings of names that promise another format than what is written.
_OTHER = re.compile(
    r"(?i)\.(parquet|pq|np[yz]|xls[xm]?|ods|jsonl?|html?|feather|arrow|orc|h5|db|zip|bz2|xz|zst|tar|(?<!\.[ct]sv\.)gz)$"
)


@dataclass
class _Summary(DecidedRows):
    """What was done with all rows of a table."""

    unknown: int = 0
    #: How often each column has an answer outside of what training showed.
    outside: Counter[str] = field(default_factory=Counter)
    #: Standard errors of a plan for a score, and the unit of it.
    errors: list[float] = field(default_factory=list)
    unit: str = ""

    def add_record(self, clf: BaseSequentialClassifier, record: AcquisitionRecord, rows: Any) -> None:
        outside = is_outside_training(agent_of(clf), rows, record.order)
        names = map(clf.feature_name, read_columns(agent_of(clf)).tolist())
        self.outside += Counter(dict(zip(names, outside.sum(axis=0).tolist())))
        self.add(record.decision, record.n_features, record.paid, int(outside.any(axis=1).sum()))


def _command(
    model: Path,
    new: Path,
    output: Path | None,
    keep: tuple[str, ...],
    max_outside: float | None,
    unknown: str | None,
    as_json: bool,
) -> None:
    to_folder = _to_folder(new, output)
    if not to_folder:
        check_output(output, read=[model, new])
        if output is not None and _OTHER.search(output.name):
            how = "those for Parquet also as Parquet, into a folder."
            raise InputError(f"{output}: decisions are written as .csv or .tsv (both also .gz); {how}")
    import pandas as pd

    clf, held = load_parts(model, unknown)
    plan = score_plan_of(held)
    if plan is not None and to_folder:
        raise InputError(f"{model} plans for a score, which is estimated of a table in one file.")
    with as_input_errors():
        check_kept(clf, keep, "--keep")
    started = time.perf_counter()
    if to_folder and output is not None:
        done = _parts(clf, new, output, keep, as_json, started)
        _alarm(done.n_outside, done.n_rows, max_outside)
        return
    cases = read_cases(clf, new, keep)
    summary = _Summary(unknown=unknown_cells(clf, cases))
    answers = read_answers(clf, new, None)
    records = []
    rows: list[dict[str, Any]] = []
    sep = "\t" if output is not None and re.search(r"(?i)\.tsv(\.gz)?$", output.name) else ","
    with _target(output, as_json) as target:
        for part, record, features in acquire_parts(clf, cases, new):
            summary.add_record(clf, record, features)
            records += [] if answers is None else [record]
            frame = decisions_frame(clf, record, None if cases.kept is None else cases.kept.iloc[part])
            if plan is not None:
                scores = plan.acquire(features, record)
                summary.errors += scores.standard_error.tolist()
                summary.unit = scores.unit
                # in the place of the decision, which is a cell of a grid, and of the probabilities of such cells
                at, n = frame.columns.get_loc("decision"), 1 + len(clf.classes_)
                table = scores.to_frame().drop(columns="n_items").set_index(frame.index)
                frame = pd.concat([frame.iloc[:, :at], table, frame.iloc[:, at + n :]], axis=1)
            if target is None:
                rows.extend(frame.to_dict(orient="records"))
            else:
                form = {"sep": sep, "header": part.start == 0, "float_format": "%.6g", "lineterminator": "\n"}
                frame.to_csv(target, index=False, **form)
    seconds = time.perf_counter() - started
    scored, why = (None, "") if answers is None else _score(clf, join_records(records), answers)
    _report(clf, summary, seconds, output, rows, as_json, scored)
    text = why if scored is None else scores_text(scored, agent_of(clf).unit)
    if text and not as_json:
        click.echo(f"\n{text}" if output is not None else visible(text), err=output is None)
    _alarm(summary.n_outside, summary.n_rows, max_outside)


def _alarm(n_outside: int, n_rows: int, most: float | None) -> None:
    """Exit with the code of an alarm if so many rows are more than the share that is allowed."""
    if most is not None and n_outside > most * n_rows:
        click.echo(f"Alarm: {_outside(n_outside)}, more than {percent(most)} of {n_rows:,}.", err=True)
        click.get_current_context().exit(6)


def _score(clf: BaseSequentialClassifier, record: AcquisitionRecord, answers: Any) -> tuple[Scores | None, str]:
    """Scores of the rows that have a label; where they cannot be had, why: rows to predict need no right labels."""
    known = np.flatnonzero(answers != np.array(None))
    if not known.size:
        return None, ""
    try:
        labels = check_known(clf, answers[known].astype(str), clf.target_name_)
        return score_rows(clf, None, labels, record=select_rows(record, known)), ""
    except ValueError as error:
        return None, f"There are no scores: {sentence(error)}"


@contextmanager
def _target(output: Path | None, as_json: bool) -> Iterator[TextIO | None]:
    """Where the rows go: a file that appears once it is whole, stdout, or nowhere."""
    if output is None:
        yield None if as_json else getattr(sys.stdout, "data", sys.stdout)
        return
    remove_leftovers([output])
    try:
        with replace_file(output) as path, path.open("wb") as raw:
            # without a name and a time in it, so that the same rows are the same file
            zipped = output.suffix.lower() == ".gz"
            packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if zipped else nullcontext(raw)
            with packed as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as file:
                yield file
    except OSError as error:
        raise InputError(sentence(error)) from error


def _to_folder(new: Path, output: Path | None) -> bool:
    """Whether rows are decided part by part, from Parquet into a folder of Parquet."""
    if is_folder(new):
        with as_input_errors():
            parquet_files(new)
        if output is None or (output.suffix and not is_folder(output)):
            raise InputError(f"{new} is a folder: name a folder for what is decided, --output FOLDER.")
        return True
    is_parquet = new.suffix.lower() in (".parquet", ".pq")
    return is_parquet and output is not None and (is_folder(output) or not output.suffix)


def _parts(
    clf: BaseSequentialClassifier, new: Path, output: Path, keep: tuple[str, ...], as_json: bool, started: float
) -> DecidedParts:
    """Decide part by part; parts that are there already stay."""
    with as_input_errors(), show_progress("deciding"):
        if not any(parquet_file(file).metadata.num_rows for file in parquet_files(new)):
            raise NoRowsError(f"{new} holds no row.")
        done = predict_parquet(clf, new, output, keep=keep)
    seconds = time.perf_counter() - started
    if as_json:
        content: dict[str, Any] = {"n_rows": done.n_rows, "mean_features": done.n_features, "mean_paid": done.paid}
        content |= {"decisions": done.decisions, "n_parts": done.n_parts, "n_skipped": done.n_skipped}
        content |= {"n_outside": done.n_outside, "stale": list(done.stale)}
        echo_json(content | {"seconds": seconds, "output": str(output)})
        return done
    if done.n_skipped == done.n_parts:
        click.echo("Decided nothing now: all parts were there. They hold what this says.")
    click.echo(_decisions_text(f"{count(done.n_rows, 'row')} in {count(done.n_parts, 'part')}", seconds, done, clf))
    if done.n_outside:
        click.echo(f"{_outside(done.n_outside)}.")
    if done.n_skipped:
        click.echo(f"{count(done.n_skipped, 'part was', 'parts were')} there already.")
    if done.stale:
        files = count(len(done.stale), "file that was", "files that were")
        click.echo(wrap(f"{output} holds {files} not decided from {new} as it is now: {join_names(done.stale)}."))
    click.echo(f"Wrote {output}.")
    return done


def _outside(n_rows: int) -> str:
    return f"{count(n_rows, 'row has', 'rows have')} an answer outside of what training showed"


def _decisions_text(what: str, seconds: float, decided: Any, clf: BaseSequentialClassifier) -> str:
    """What was decided, and what it took on average."""
    price = money(decided.paid, agent_of(clf).unit, 4)
    sign = ":" if any(str(label)[-1:].isdigit() for label in decided.decisions) else ""  # 1: 11, not 1 11
    decisions = ", ".join(f"{label}{sign} {k:,}" for label, k in Counter(decided.decisions).most_common(MOST))
    more = len(decided.decisions) - MOST
    decisions += f" and {count(more, 'more decision')}" if more > 0 else ""
    done = "Decided"
    if errors := getattr(decided, "errors", None):
        mean, most = np.mean(errors), max(errors)
        done, decisions = "Estimated", f"a standard error of {mean:.4g}, at most {most:.4g}, in {decided.unit}"
    return wrap(
        f"{done} {what} in {seconds:.1f} s, with {decided.n_features:.2f} features at a price of {price} on average: "
        f"{decisions}."
    )


def _report(
    clf: BaseSequentialClassifier,
    summary: _Summary,
    seconds: float,
    output: Path | None,
    rows: list[dict[str, Any]],
    as_json: bool,
    scored: Scores | None,
) -> None:
    if as_json:
        content: dict[str, Any] = {
            "n_rows": summary.n_rows,
            "mean_features": summary.n_features,
            "mean_paid": summary.paid,
            "decisions": {} if summary.errors else dict(sorted(summary.decisions.items())),
            "n_unknown": summary.unknown,
            "n_outside": summary.n_outside,
            "outside": dict(summary.outside),
            "seconds": seconds,
            "output": None if output is None else str(output),
        }
        if scored is not None:
            content["scores"] = scored.record()
        if output is None:
            content["predictions"] = to_json_value(rows)
        echo_json(content)
        return
    if output is not None:
        click.echo(_decisions_text(count(summary.n_rows, "row"), seconds, summary, clf))
    if summary.unknown:
        cells = count(summary.unknown, "cell holds", "cells hold")
        click.echo(f"{cells} a category that training did not show, and counted as missing.", err=output is None)
    if summary.n_outside:
        columns = [f"{name} in {k:,}" for name, k in summary.outside.most_common(MOST)]
        columns += ["..."] if len(summary.outside) > MOST else []
        click.echo(wrap(f"{_outside(summary.n_outside)}: {', '.join(columns)}."), err=output is None)
    if output is not None:
        click.echo(f"Wrote {output}.")
