"""Deciding for Parquet files part by part, so that what was cut short can be taken up."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._arrays import CHUNK_BYTES
from seqclass._chunks.parquet import folder_values, frames, parquet_file, parquet_files
from seqclass._decided import absent_asked, decided_frame, example_frame, full_frame
from seqclass._files import remove_leftovers, replacing
from seqclass._fingerprint import acting_fingerprint
from seqclass._messages import near, shown
from seqclass._validation import check_integer
from seqclass.classifier import SequentialClassifier

#: Entry in the metadata of a part.
_KEY = b"seqclass"
_MOST_ROWS = 100_000


@dataclass(frozen=True)
class DecidedParts:
    """Totals over the rows that were decided.

    Attributes
    ----------
    n_rows, n_parts : int
        Rows, and files they are in.
    n_skipped : int
        Files that were there already.
    n_features, cost : float
        Features acquired and prices paid, on average.
    decisions : dict of str to int
        Rows of each decision.

    Examples
    --------
    >>> DecidedParts(2, 1, 0, 1.5, 0.015, {"a": 2}).cost
    0.015
    """

    n_rows: int
    n_parts: int
    n_skipped: int
    n_features: float
    cost: float
    decisions: dict[str, int]


def decide_parts(
    clf: SequentialClassifier, path: Path, output: Path, keep: tuple[str, ...], chunk_rows: int | None
) -> DecidedParts:
    """Decide for the rows of Parquet files; see `seqclass.large.predict_parquet`."""
    files = parquet_files(path)
    root = path if path.is_dir() else path.parent
    _check_place(root if path.is_dir() else path, output)
    usual = max(1, min(_MOST_ROWS, CHUNK_BYTES // (8 * clf.n_features_in_)))
    rows = usual if chunk_rows is None else check_integer(chunk_rows, "chunk_rows", 1)
    model, skipped, total = acting_fingerprint(clf), 0, _Totals()
    targets = [output / file.relative_to(root) for file in files]
    marks = [_mark(file, model, keep) for file in files]
    whole = [_is_whole(target, mark) for target, mark in zip(targets, marks)]  # before anything is written
    remove_leftovers(targets)
    for file, target, mark, done in zip(files, targets, marks, whole):
        if done:
            skipped += 1
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as temporary:
                _write(clf, file, root, temporary, keep, rows, mark)
        total.add(target)
    return total.summary(len(files), skipped)


def _check_place(path: Path, output: Path) -> None:
    """Refuse to write among what is read."""
    inside = path.resolve() in (output.resolve(), *output.resolve().parents)
    if inside or (output.resolve() == path.resolve().parent and not path.is_dir()):
        raise ValueError(f"output: {output} holds what is read; name another folder.")
    if output.exists() and not output.is_dir():
        raise ValueError(f"output: {output} is a file; name a folder.")


def _mark(file: Path, model: str, keep: tuple[str, ...]) -> dict[str, Any]:
    """What a part says about itself: the model, and the file by its footer, which has sizes and places of all pages."""
    parquet_file(file)
    with file.open("rb") as opened:
        opened.seek(-8, 2)
        length = int.from_bytes(opened.read(4), "little")
        opened.seek(-8 - length, 2)
        footer = hashlib.sha256(opened.read(length)).hexdigest()
    return {"model": model, "file": footer, "keep": list(keep)}


def _is_whole(target: Path, mark: dict[str, Any]) -> bool:
    """Whether a part is there and as it would be written again.

    Raises
    ------
    ValueError
        If there is something else in its place.
    """
    if not target.exists():
        return False
    try:
        said = (parquet_file(target).schema_arrow.metadata or {}).get(_KEY)
    except ValueError:
        said = None
    if said is None:
        raise ValueError(f"{target} is there and was not written by this command; name another folder.")
    found = json.loads(said)
    if found["model"] != mark["model"]:
        raise ValueError(
            f"{target} was decided by another model; name another folder, or remove the parts that are there."
        )
    return bool(found == mark)


def _write(
    clf: SequentialClassifier, file: Path, root: Path, out: Path, keep: tuple[str, ...], rows: int, mark: dict[str, Any]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = parquet_file(file).schema_arrow
    names = [*source.names, *(name for name in folder_values(file, root) if name not in source.names)]
    for name in keep:
        if name not in names:
            raise ValueError(f"keep: {file} has no column {shown(name)}; {near(name, names)}")
    asked = [clf.feature_name(j) for j in clf.order_.tolist()]
    wanted = [name for name in asked if name in set(names)]
    if asked and not wanted:
        raise ValueError(f"{file} lacks the column {shown(asked[0])}; {near(asked[0], names)}")
    ours = pa.Schema.from_pandas(example_frame(clf), preserve_index=False)
    fields = [source.field(name) if name in source.names else pa.field(name, pa.string()) for name in keep]
    schema = pa.schema([*fields, *ours], metadata={_KEY: json.dumps(mark).encode()})
    with pq.ParquetWriter(out, schema) as writer:
        first = 1
        for frame, kept in frames(file, root, wanted or names[:1], rows, keep):
            record = clf.acquire(full_frame(clf, frame[wanted]))
            lacking = absent_asked(clf, record, set(names))
            if lacking is not None:
                column = shown(clf.feature_name(lacking[1]))
                raise ValueError(f"{file} lacks the column {column}, which row {first + lacking[0]} needs.")
            table = pa.Table.from_pandas(decided_frame(clf, record, None), ours, preserve_index=False)
            writer.write_table(pa.Table.from_arrays([*kept.columns, *table.columns], schema=schema))
            first += len(frame)


class _Totals:
    """What parts that are written add up to."""

    def __init__(self) -> None:
        self.rows, self.features, self.cost = 0, 0, 0.0
        self.decisions: Counter[str] = Counter()

    def add(self, part: Path) -> None:
        for batch in parquet_file(part).iter_batches(_MOST_ROWS, columns=["decision", "n_features", "cost"]):
            frame = batch.to_pandas()
            self.rows += len(frame)
            self.features += int(frame["n_features"].sum())
            self.cost += float(frame["cost"].sum())
            labels, counts = np.unique(frame["decision"].astype(str), return_counts=True)
            self.decisions.update(dict(zip(labels.tolist(), counts.tolist())))

    def summary(self, n_parts: int, n_skipped: int) -> DecidedParts:
        n = max(self.rows, 1)
        decisions = {label: self.decisions[label] for label in sorted(self.decisions)}
        return DecidedParts(self.rows, n_parts, n_skipped, self.features / n, self.cost / n, decisions)
