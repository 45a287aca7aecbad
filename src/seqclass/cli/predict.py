"""``seqclass predict``: decide for every row of a table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

from seqclass._arrays import IntArray
from seqclass._record import AcquisitionRecord
from seqclass.classifier import SequentialClassifier
from seqclass.cli._describe import load_model
from seqclass.cli._errors import InputError, check_output, near, refused
from seqclass.cli._format import count, echo_json, plain, replacing
from seqclass.cli._progress import progress
from seqclass.cli._tables import header, kind, pick, read_arrays, read_frame

_PATH = click.Path(path_type=Path)
#: Numbers that are classified at once.
_CELLS = 8_000_000
_MAX_ROWS = 100_000


@dataclass
class _Summary:
    """Totals over all rows."""

    rows: int = 0
    features: int = 0
    cost: float = 0.0
    decisions: Counter[str] = field(default_factory=Counter)

    def add(self, record: AcquisitionRecord) -> None:
        self.rows += len(record)
        self.features += int(record.n_features.sum())
        self.cost += float(record.cost.sum())
        labels, counts = np.unique(record.decision.astype(str), return_counts=True)
        self.decisions.update(dict(zip(labels.tolist(), counts.tolist())))


@click.command()
@click.argument("model", type=_PATH)
@click.argument("new", type=_PATH)
@click.option("--output", "-o", type=_PATH, metavar="CSV", help="File to write to, whole or not at all.  [default: stdout]")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a column of NEW, such as a case number, to the output.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: totals, and the rows unless -o is given.")
def predict(model: Path, new: Path, output: Path | None, keep: tuple[str, ...], as_json: bool) -> None:
    """Decide for every row of the table NEW with a MODEL that 'seqclass fit' wrote.

    NEW is read as 'seqclass fit' reads its data. Columns may come in any order; further ones are ignored, and ones
    that are never asked for may be left out. A cell that is asked for and missing is not paid for and tells nothing.

    \b
    The output is CSV, a line a row:
      decision         the cheapest decision
      posterior_CLASS  probability of each class, given what was acquired
      n_features       features acquired
      cost             prices paid, in units of misclassification cost
      asked            names of the features asked for, in order, joined by ";"
    """
    check_output(output)
    clf = load_model(model)
    started = time.perf_counter()
    X, kept = _read(clf, new, keep)
    summary = _Summary()
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        target: TextIO | None = None
        if output is not None:
            stack.enter_context(refused(f"cannot write {output}"))
            path = stack.enter_context(replacing(output))
            target = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
        elif not as_json:
            target = click.get_text_stream("stdout")
        for part, record in _acquire(clf, X, new):
            summary.add(record)
            frame = _frame(clf, record, {name: values[part] for name, values in kept.items()})
            if target is None:
                rows.extend(frame.to_dict(orient="records"))
            else:
                frame.to_csv(target, index=False, header=part.start == 0, float_format="%.6g", lineterminator="\n")
    _report(summary, time.perf_counter() - started, output, rows, as_json)


def _read(clf: SequentialClassifier, path: Path, keep: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """What the classifier looks at, and the columns to be copied to the output."""
    asked = [clf.feature_name(j) for j in clf.order_.tolist()]
    if kind(path) == "npz":
        if keep:
            raise InputError(f"--keep: {path} is no table with columns.")
        arrays = read_arrays(path)
        if arrays.names is None or not hasattr(clf, "feature_names_in_"):
            if arrays.X.shape[1] != clf.n_features_in_:
                raise InputError(
                    f"{path} has {count(arrays.X.shape[1], 'feature')}, the model {clf.n_features_in_:,}; without names "
                    "they must be the same, in the same order."
                )
            if clf.encoder_ is not None and clf.encoder_.categories_:
                raise InputError(f"{path}: the model has categorical columns, so it needs a table such as CSV.")
            return arrays.X, {}
        _check_columns(asked, arrays.names, path)
        position = {name: j for j, name in enumerate(arrays.names)}
        return _Named(arrays.X, position), {}
    names = header(path)
    _check_columns(asked, names, path)
    for name in keep:
        pick(name, names, path, "--keep")
    categorical = set() if clf.encoder_ is None else {str(name) for name in clf.encoder_.categories_}
    frame = read_frame(path, [*asked, *keep], text=categorical | (set(keep) - set(asked)))
    return frame, {name: frame[name] for name in keep}


@dataclass(frozen=True)
class _Named:
    """An array whose columns have names."""

    X: Any
    position: dict[str, int]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.X.shape)


def _check_columns(asked: list[str], names: list[str], path: Path) -> None:
    known = set(names)
    absent = [name for name in asked if name not in known]
    if absent:
        others = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
        raise InputError(f"{path} lacks the column {absent[0]!r}{others}, which the model may ask for; {near(absent[0], names)}")


def _acquire(clf: SequentialClassifier, X: Any, path: Path) -> Iterator[tuple[slice, AcquisitionRecord]]:
    """Decide in parts, so that columns the model has and never asks for take no memory."""
    n = int(X.shape[0])
    size = max(1, min(_MAX_ROWS, _CELLS // clf.n_features_in_))
    for start in progress(range(0, n, size), "deciding"):
        part = slice(start, min(n, start + size))
        with refused(str(path)):
            record = clf.acquire(_full(clf, X, part))
        yield part, record


def _full(clf: SequentialClassifier, X: Any, part: slice) -> Any:
    """Rows of all the columns that the classifier knows; those never asked for are missing."""
    if not (hasattr(X, "columns") or isinstance(X, _Named)):
        rows = X[part]
        return rows if clf.encoder_ is None else _as_frame(clf, rows.toarray() if hasattr(rows, "toarray") else rows)
    asked = clf.order_
    if hasattr(X, "columns"):
        rows = X.iloc[part]
        if clf.encoder_ is not None:
            return rows[[clf.feature_name(j) for j in asked.tolist()]].reindex(columns=clf.encoder_.columns_)
        values = rows[[clf.feature_name(j) for j in asked.tolist()]].to_numpy()
    else:
        chosen = X.X[part][:, [X.position[clf.feature_name(j)] for j in asked.tolist()]]
        values = chosen.toarray() if hasattr(chosen, "toarray") else chosen
    full = np.full((values.shape[0], clf.n_features_in_), np.nan)
    with refused():
        full[:, asked] = values
    return full if clf.encoder_ is None else _as_frame(clf, full)


def _as_frame(clf: SequentialClassifier, values: Any) -> Any:
    import pandas as pd

    assert clf.encoder_ is not None
    return pd.DataFrame(values, columns=clf.encoder_.columns_)


def _frame(clf: SequentialClassifier, record: AcquisitionRecord, kept: dict[str, Any]) -> Any:
    """The output of some rows."""
    import pandas as pd

    columns = {name: values.to_numpy() for name, values in kept.items()}
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
    text = {key: ";".join(clf.feature_name(j) for j in rows[i].tolist() if j >= 0) for key, i in first.items()}
    return [text[key] for key in keys]


def _report(summary: _Summary, seconds: float, output: Path | None, rows: list[dict[str, Any]], as_json: bool) -> None:
    n = summary.rows
    if as_json:
        content: dict[str, Any] = {
            "n_rows": n,
            "mean_features": summary.features / n,
            "mean_cost": summary.cost / n,
            "decisions": dict(sorted(summary.decisions.items())),
            "seconds": seconds,
            "output": None if output is None else str(output),
        }
        if output is None:
            content["predictions"] = plain(rows)
        echo_json(content)
    elif output is not None:
        decisions = ", ".join(f"{label} {k:,}" for label, k in summary.decisions.most_common(8))
        click.echo(
            f"Decided {count(n, 'row')} in {seconds:.1f} s, with {summary.features / n:.2f} features at a price of "
            f"{summary.cost / n:.4f} on average: {decisions}."
        )
        click.echo(f"Wrote {output}.")
