"""What `seqclass fit` learns from: features, labels, prices and costs of decisions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._chunks.parquet import frames
from seqclass._utils.files import replace_file
from seqclass._utils.frames import each_column
from seqclass._utils.text import short_repr
from seqclass.cli._errors import InputError, as_input_errors, check_input_file, is_folder
from seqclass.cli._options import CSV_FORM
from seqclass.cli._progress import open_with_progress
from seqclass.datasets import _tables
from seqclass.datasets._costs import find_costs_file, read_costs
from seqclass.datasets._tables import Arrays as Arrays
from seqclass.datasets._tables import read_labels
from seqclass.datasets.files import file_stem
from seqclass.datasets.table import array_labels, check_column, check_learnable, read_columns, split_labels
from seqclass.fitting._folds import assign_folds
from seqclass.large import read_parquet
from seqclass.pomdp.rules import Rules
from seqclass.pomdp.skips import SkipLogic


def form() -> _tables.CsvForm:
    """How --sep and --decimal say that CSV and TSV files are written."""
    context = click.get_current_context(silent=True)
    given = {} if context is None else context.meta.get(CSV_FORM, {})
    with as_input_errors():
        return _tables.CsvForm(**given)


#: As the library has them, with errors as those of the command line.
kind = as_input_errors()(_tables.kind)
read_arrays = as_input_errors()(_tables.read_arrays)
pick = as_input_errors()(check_column)


def header(path: Path) -> list[str]:
    """Column names of a CSV, TSV or Parquet file."""
    with as_input_errors():
        return _tables.header(path, open_with_progress, form())


def read_frame(path: Path, columns: Sequence[str] | None = None, text: Collection[str] = (), **how: Any) -> Any:
    """Read a CSV, TSV or Parquet file; its rows are numbered from 1."""
    with as_input_errors():
        return _tables.read_frame(path, columns, text, open_with_progress, form(), **how)


def _require_target(path: Path, target: str | None) -> None:
    if target is None and (path.is_dir() or kind(path) != "npz"):
        raise InputError(f"{path}: name the column of the labels with --target.")


def read_labels_of(path: Path, target: str | None) -> npt.NDArray[Any]:
    """Read labels alone, one for each row."""
    _require_target(path, target)
    if kind(path) == "npz":
        target = "y" if target is None else target
        with as_input_errors():
            labels = array_labels(path, read_arrays(path), target)
    else:
        assert target is not None
        pick(target, header(path), path, "target")
        labels = read_frame(path, [target], labels=target)[target]
    missing = labels.isna().to_numpy()
    if missing.any():
        raise InputError(
            f"{path}: column {short_repr(target)} has a missing label, first in row {int(missing.argmax()) + 1}; leave "
            "such rows out."
        )
    with as_input_errors():
        return read_labels(labels, f"{path}: column {short_repr(target)}")


def read_prices(
    path: Path | None,
    price: float | None,
    names: list[str],
    classes: npt.NDArray[Any],
    left_out: Sequence[str] = (),
    known: Sequence[str] = (),
) -> dict[str, Any]:
    """Read a file of costs as the settings of a `Costs`; what is known at the start needs no price."""
    usual = 0.01 if price is None else price
    if path is None:
        return {"feature_costs": usual}
    with as_input_errors():
        rest = np.nan if price is None else price  # which is told apart below, in the words of the command
        settings = read_costs(path, names, tuple(map(str, classes.tolist())), rest=rest, others=left_out, form=form())
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}
    prices = settings.setdefault("feature_costs", np.full(len(names), usual))
    prices[np.isnan(prices) & np.isin(names, known)] = 0.0
    unknown = np.isnan(prices)
    if unknown.any():
        raise InputError(
            f"{path} has no price for {short_repr(names[int(unknown.argmax())])}; fill it in, or give one for the rest "
            "with --price."
        )
    if (discounted := settings.get("discounted_costs")) is not None:
        settings["discounted_costs"] = np.where(np.isnan(discounted), prices, discounted)
    if "decisions" in settings:
        settings["decisions"] = settings["decisions"] or None
    return settings


def non_default_options(**options: Any) -> dict[str, Any]:
    """Those of some settings of which something was said."""
    return {name: value for name, value in options.items() if value is not None}


def costs_file(data: Path, costs: Path | None, dataset_costs: bool) -> Path | None:
    """The file of costs that was asked for: one that was named, or the one beside the data."""
    if not dataset_costs:
        return costs
    if costs is not None:
        raise InputError("--costs and --dataset-costs exclude each other.")
    with as_input_errors():
        file = find_costs_file(data, file_stem(data))
    if file is None:
        stem = file_stem(data)
        raise InputError(f"--dataset-costs: there is neither {stem}.costs.csv nor {stem}.costs.json beside {data}.")
    return file


def read_decision_costs(path: Path | None, classes: npt.NDArray[Any]) -> dict[str, Any]:
    """Read the costs of decisions: a row a class (its label first), a column a decision."""
    if path is None:
        return {}
    frame = read_frame(path, text=header(path), row_names=True)
    rows = [str(label) for label in frame.iloc[:, 0]]
    labels = [str(label) for label in classes.tolist()]
    columns = [str(name) for name in frame.columns[1:]]
    for what, labels_there in (("row", rows), ("column", columns)):
        absent = [label for label in labels if label not in labels_there]
        if absent:
            raise InputError(
                f"{path} has no {what} for class {short_repr(absent[0])}; it needs a row and a column for each class."
            )
    if len(rows) != len(labels):
        unknown = next((r for r in rows if r not in labels), None)
        why = f"row {short_repr(unknown)} is no class" if unknown else "a class has two rows"
        raise InputError(f"{path}: {why}; it needs one row for each of the {len(labels)} classes.")
    decisions = labels + [name for name in columns if name not in labels]
    costs = np.empty((len(labels), len(decisions)))
    for j, name in enumerate(decisions):
        column = _numbers(frame.set_axis([frame.columns[0], *columns], axis=1), name, path, frame.columns[0])
        costs[:, j] = [column[label] for label in labels]
    return {"decision_costs": costs, "decisions": decisions[len(labels) :] or None}


def _numbers(frame: Any, column: str, path: Path, key: str) -> dict[str, float]:
    """Costs of a column by what stands in the column ``key``; finite and not negative."""
    costs = {}
    for row, name, text in zip(frame.index, frame[key], frame[column]):
        value = form().number(str(text))
        if not np.isfinite(value):
            there = "nothing" if isinstance(text, float) else short_repr(text)
            raise InputError(
                f"{path}: column {short_repr(column)} must hold numbers, but row {row} ({name}) has {there}."
            )
        if value < 0:
            raise InputError(
                f"{path}: column {short_repr(column)} must not be negative, but row {row} ({name}) has {text}."
            )
        costs[str(name)] = value
    return costs


@dataclass(frozen=True)
class TrainingTable:
    """Rows to learn from.

    Attributes
    ----------
    X : DataFrame, ndarray, csr_array or ParquetChunks
    y : Series or None
        Labels, which chunks have with them.
    names : list of str
        Names of the features.
    classes : ndarray of shape (n_classes,)
        Labels that occur; none where nobody asked for them and they are not known yet.
    dropped : DataFrame or None
        Columns that nothing is learnt from, where they are kept.
    """

    X: Any
    y: Any
    names: list[str]
    classes: npt.NDArray[Any]
    dropped: Any = None

    def fit(self, clf: BaseSequentialClassifier, **how: int) -> None:
        """Fit a classifier to them."""
        if self.y is None:
            clf.fit_chunks(self.X, **how)
        else:
            clf.fit(self.X, self.y, **how)

    def count(self, clf: Any) -> int:
        """Number of rows that a classifier was fitted to."""
        return int(clf.model_.class_count_.sum()) if self.y is None else int(self.X.shape[0])


def read_rows(
    path: Path,
    target: str | None,
    drop: Sequence[str],
    drop_unlabelled: bool,
    classes: bool,
    marks: Sequence[str] = (),
    keep: bool = False,
) -> TrainingTable:
    """Read rows, or get ready to read them in chunks; whether their classes are needed at once is said.

    With ``keep`` columns of ``drop`` are kept beside them.
    """
    folder = is_folder(path)
    _require_target(path, target)
    if not folder:
        with as_input_errors():
            label = "y" if target is None else target
            X, labels = read_columns(path, drop, label, open_with_progress, form(), keep)
            dropped = X[[*dict.fromkeys(drop)]] if keep and drop else None
            X = X if dropped is None else X.drop(columns=dropped.columns)
            X, y, _ = split_labels(X, labels, path, drop_unlabelled, marks)
        names = [str(name) for name in getattr(X, "columns", [])] or [f"x{j}" for j in range(X.shape[1])]
        return TrainingTable(X, y, names, np.unique(y), dropped)
    assert target is not None
    if marks:
        raise InputError(f"--marks: {path} is a folder; make columns of marks by seqclass.datasets.split_marks first.")
    with as_input_errors():
        chunks = read_parquet(path, target, drop=drop, drop_unlabelled=drop_unlabelled)
        first, _ = next(frames(chunks.files[0], path, chunks.columns, chunks.chunk_rows), (chunks.columns, None))
    if len(first) >= min(1000, chunks.n_rows()) and not isinstance(first, list):  # fewer of many rows may mislead
        with as_input_errors(str(chunks.files[0])):
            each_column(first, lambda name: check_learnable(first[name]))
    with as_input_errors():
        return TrainingTable(chunks, None, chunks.columns, chunks.labels() if classes else np.empty(0))


@dataclass(frozen=True)
class Aside:
    """Rows that a classifier is not to learn from, and the others."""

    frame: Any
    path: Path
    others: TrainingTable

    @classmethod
    def from_rows(cls, rows: TrainingTable, path: Path, seed: int) -> Aside:
        """Half of the rows of a table, of each class alike; what nothing is learnt from is there to tell them apart."""
        if not hasattr(rows.X, "columns") or rows.y is None:
            raise InputError("--set-aside is for one table: of a folder put files aside, of arrays without names rows.")
        with as_input_errors():
            if _tables.kind_by_name(path) == "npz":
                raise InputError(f"--set-aside: {path} must end in .csv, .tsv or .parquet.")
        counts = rows.y.value_counts()
        if counts.min() < 2:
            raise InputError(
                f"--set-aside: class {short_repr(counts.idxmin())} has one row only, so that one half would lack it."
            )
        aside = assign_folds(rows.y.to_numpy(), 2, seed) == 1
        frame = rows.X[aside].assign(**{str(rows.y.name): rows.y[aside].to_numpy()})
        frame = frame if rows.dropped is None else rows.dropped.loc[frame.index].join(frame)
        return cls(frame, path, TrainingTable(rows.X[~aside], rows.y[~aside], rows.names, rows.classes))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write them to the file, as tables of its kind are read; it is there once what follows is done."""
        wanted, named = form(), _tables.kind_by_name(self.path)
        sep = wanted.sep or ("\t" if named == "tsv" else ",")
        packed = "gzip" if self.path.suffix.lower() == ".gz" else None
        with replace_file(self.path) as temporary:
            if named == "parquet":
                self.frame.to_parquet(temporary, index=False)
            else:
                self.frame.to_csv(temporary, sep=sep, decimal=wanted.decimal, index=False, compression=packed)
            yield


def read_rules(rules: Path | None, skip_logic: Path | None) -> dict[str, Any]:
    """What files say of what may be asked, as a setting."""
    if rules is None and skip_logic is None:
        return {}
    for path in filter(None, (rules, skip_logic)):
        check_input_file(path)
    with as_input_errors():
        own = Rules() if rules is None else Rules.read(rules)
        return {"rules": own if skip_logic is None else replace(own, skip=SkipLogic.read(skip_logic))}
