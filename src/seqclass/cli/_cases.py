"""The cases that a table holds, in the columns of a classifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._chunks.parquet import usual_rows
from seqclass._utils.arrays import IntArray
from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import class_numbers
from seqclass.agent.agent import agent_of, column_categories, marks_of, read_columns, refuse_absent, split_rows
from seqclass.agent.record import AcquisitionRecord
from seqclass.cli._errors import InputError, as_input_errors, near
from seqclass.cli._format import count, wrap
from seqclass.cli._progress import open_with_progress, progress
from seqclass.cli._training import form, header, kind, pick, read_arrays, read_frame
from seqclass.datasets.table import class_labels, group_labels
from seqclass.large import full_frame, under_names


@dataclass(frozen=True)
class InputRows:
    """The rows to decide for, and the columns of the classifier that are read of them."""

    X: Any
    position: dict[str, int] | None
    columns: IntArray
    kept: Any = None
    #: All columns that the file has.
    names: list[str] | None = None


def read_cases(
    clf: BaseSequentialClassifier, path: Path, keep: tuple[str, ...] = (), columns: IntArray | None = None
) -> InputRows:
    """Read what a classifier may ask for and is known at the start, unless told which columns."""
    columns = read_columns(agent_of(clf)) if columns is None else columns
    if kind(path) == "npz":
        if keep:
            raise InputError(f"--keep: {path} is no table with columns.")
        return _from_arrays(clf, path, columns)
    names = header(path)
    for name in keep:
        pick(name, names, path, "keep")
    needed = [clf.feature_name(j) for j in columns.tolist()]
    categorical = set() if clf.encoder_ is None else {str(name) for name in clf.encoder_.categories_}
    wanted, marks = [name for name in needed if name in set(names)], [n for n in marks_of(agent_of(clf)) if n in names]
    if needed and not wanted and not marks:
        refuse_lacking(clf, path, columns[None], names)
    # a model that asks for nothing still has rows to decide
    frame = read_frame(path, [*wanted, *marks] or names[:1], text=categorical | {*marks})
    if marks:
        with as_input_errors(str(path)):
            frame = split_rows(agent_of(clf), frame)
        wanted = [name for name in needed if name in set(frame.columns)]
    _tell_empty(clf, frame[wanted], path)
    # what is copied is read once more, as it stands
    kept = read_frame(path, keep, text=keep, verbatim=True)[list(keep)] if keep else None
    return InputRows(
        frame[wanted], {name: i for i, name in enumerate(wanted)}, columns, kept, [*dict.fromkeys([*names, *wanted])]
    )


def _tell_empty(clf: BaseSequentialClassifier, frame: Any, path: Path) -> None:
    """Say which columns have no value in any of several rows, though they had some in training."""
    agent = agent_of(clf)
    seen = {
        clf.feature_name(j): column_categories(agent, j) or agent.coder.training_range(j)
        for j in read_columns(agent).tolist()
    }
    empty = [name for name in frame if len(frame) > 1 and seen.get(name) and frame[name].isna().all()]
    if empty:
        message = f"{path}: no row has a value in {join_names(empty)}; what is empty counts as not available."
        click.echo(wrap(message), err=True)


def _from_arrays(clf: BaseSequentialClassifier, path: Path, columns: IntArray) -> InputRows:
    arrays = read_arrays(path)
    if clf.encoder_ is not None and clf.encoder_.categories_:
        raise InputError(f"{path}: the model has categorical columns, so it needs a table such as CSV.")
    if arrays.names is not None and hasattr(clf, "feature_names_in_"):
        return InputRows(arrays.X, {name: j for j, name in enumerate(arrays.names)}, columns, None, arrays.names)
    if arrays.X.shape[1] != clf.n_features_in_:
        raise InputError(
            f"{path} has {count(arrays.X.shape[1], 'feature')}, the model {clf.n_features_in_:,}; without names they "
            "must be the same, in the same order."
        )
    return InputRows(arrays.X, None, columns)


def read_answers(clf: BaseSequentialClassifier, path: Path, target: str | None) -> Any:
    """True labels beside the cases, as texts, None where missing; None without such a column, unless it was named."""
    name = clf.target_name_ if target is None else target
    if kind(path) == "npz":
        arrays = read_arrays(path)
        name = "y" if name is None else name
        if name in arrays.others and arrays.others[name].shape == (arrays.X.shape[0],):
            return _texts(class_labels(arrays.others[name], arrays.others.get("class_names")))
        there = list(arrays.others)
    else:
        there = header(path)
        if name in there:
            return _texts(read_frame(path, [name], labels=name)[name])
    if target is not None:
        raise InputError(f"--target: {path} has no column {short_repr(target)}; {near(target, there)}")
    return None


def check_known(clf: BaseSequentialClassifier, labels: Any, column: str | None) -> Any:
    """Labels that the model knows; others are refused by the name of their column."""
    class_numbers(clf.classes_, labels, "y" if column is None else f"column {short_repr(column)}")
    return labels


def read_groups(path: Path, column: str) -> Any:
    """Group of each row, as text."""
    with as_input_errors():
        return group_labels(path, column, open_with_progress, form())


def _texts(labels: Any) -> Any:
    texts = [None if label != label or label is None else str(label) for label in labels.tolist()]
    return np.array(texts, dtype=object)


def unknown_cells(clf: BaseSequentialClassifier, cases: InputRows) -> int:
    """How many cells hold a category that training did not show."""
    if clf.encoder_ is None or not hasattr(cases.X, "columns"):
        return 0
    return int(clf.encoder_.n_unknown(cases.X))


def refuse_lacking(
    clf: BaseSequentialClassifier, path: Path, order: IntArray, names: list[str] | None, first: int = 1
) -> None:
    """Refuse rows, from a number on, that ask for a column which is not among the names of a file, if there are any."""
    with as_input_errors():
        if names is not None:
            refuse_absent(agent_of(clf), order, names, path, range(first, first + len(order)))


def full_rows(clf: BaseSequentialClassifier, cases: InputRows, part: slice) -> Any:
    """Rows of all the columns that the classifier knows; those that are not there or never read are missing."""
    if cases.position is None:
        rows = cases.X[part]
        return rows if clf.encoder_ is None else under_names(clf, rows.toarray() if hasattr(rows, "toarray") else rows)
    if hasattr(cases.X, "columns"):
        return full_frame(clf, cases.X.iloc[part], cases.columns)
    present = [j for j in cases.columns.tolist() if clf.feature_name(j) in cases.position]
    columns = [cases.position[clf.feature_name(j)] for j in present]
    values = cases.X[part][:, columns]
    values = values.toarray() if hasattr(values, "toarray") else values
    full = np.full((values.shape[0], clf.n_features_in_), np.nan)
    full[:, present] = values
    return under_names(clf, full)


def acquire_parts(
    clf: BaseSequentialClassifier, cases: InputRows, path: Path
) -> Iterator[tuple[slice, AcquisitionRecord, Any]]:
    """Decide in parts, so that columns the model has and never asks for take no memory; the rows are given as well."""
    n = int(cases.X.shape[0])
    size = usual_rows(clf.n_features_in_)
    for start in progress(range(0, n, size), "deciding"):
        part = slice(start, min(n, start + size))
        with as_input_errors(f"{path}, from row {start + 1} on" if start else str(path)):
            rows = full_rows(clf, cases, part)
            record = clf.acquire(rows)
        # a column that is not there may stay away as long as no case asks for it
        refuse_lacking(clf, path, record.order, cases.names, start + 1)
        yield part, record, rows
