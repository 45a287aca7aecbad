"""Data of any size: fit classifiers to, and decide for, Parquet files and dask collections in chunks of rows.

`SequentialClassifier.fit_chunks` takes what `read_parquet` and `from_dask` return; `predict_parquet` and `predict_dask`
decide part by part.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._chunks.dasked import from_dask
from seqclass._chunks.parquet import folder_values, frames, parquet_file, parquet_files, read_parquet, usual_rows
from seqclass._chunks.source import Chunks
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.files import remove_leftovers, replace_file
from seqclass._utils.frames import FrameEncoder, Levels, plain_data
from seqclass._utils.tables import Readable, plain_figures
from seqclass._utils.text import at_place, near, short_repr
from seqclass._utils.validation import check_integer
from seqclass.agent._fingerprint import acting_fingerprint
from seqclass.agent.agent import (
    agent_of,
    check_classifier,
    make_record,
    marks_of,
    question_names,
    read_columns,
    refuse_absent,
    split_rows,
)
from seqclass.agent.differential import labels_of
from seqclass.agent.record import AcquisitionRecord, record_columns
from seqclass.agent.training_rows import is_outside_training
from seqclass.pomdp.acquisition import Acquisition

__all__ = ["Chunks", "from_dask", "predict_dask", "predict_parquet", "read_parquet"]
__dir__ = __all__.copy  # tab completion


def check_kept(clf: BaseSequentialClassifier, keep: Sequence[str], what: str = "keep") -> None:
    """Refuse columns to copy that would share their name with another column of the output; raises a ValueError."""
    ours = example_frame(clf).columns if keep else ()
    for i, name in enumerate(keep):
        if name in ours:
            raise ValueError(
                f"{what}: the output has a column {short_repr(name)} of its own; give the one to keep another name."
            )
        if name in keep[:i]:
            raise ValueError(f"{what}: {short_repr(name)} is given twice.")


def decisions_frame(clf: BaseSequentialClassifier, record: AcquisitionRecord, kept: Any) -> Any:
    """Decisions, posteriors and what was bought, a row each, beside columns that were kept."""
    import pandas as pd

    columns: dict[str, Any] = {} if kept is None else {name: kept[name].to_numpy() for name in kept.columns}
    # labels that are numbers, beside a named decision, are texts as that is: a column holds one kind
    mixed = clf.decisions_.dtype.kind == "O" and len(set(map(type, clf.decisions_.tolist()))) > 1
    columns |= record_columns(
        record,
        decision=lambda decision: {"decision": decision.astype(str) if mixed else decision},
        posterior=lambda posterior: {f"posterior_{c}": posterior[:, i] for i, c in enumerate(clf.classes_.tolist())},
        order=lambda order: {"asked": _join_question_names(clf, order, record.visit)},
        differential=lambda sets: {"differential": _sets(clf, sets, record.posterior)},
    )
    return pd.DataFrame(columns)


#: What parts names in files, and those that were ordered in one visit.
_PARTS, _TOGETHER = ";", "+"


def _join_question_names(clf: BaseSequentialClassifier, order: IntArray, visit: IntArray | None) -> list[str]:
    """Names of the features asked for in each row, joined, by visit; each distinct row is spelt out once."""
    if not order.shape[1]:
        return [""] * len(order)
    begins = np.ones(order.shape, dtype=bool) if visit is None else np.diff(visit, axis=1, prepend=0) != 0
    rows = np.ascontiguousarray(np.where(begins, order, -2 - order))
    keys = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
    first = {key: i for i, key in enumerate(keys)}
    # a name with a sign that parts names is quoted, so that the names can be told apart again
    signs = {_PARTS, '"'} if visit is None else {_PARTS, '"', _TOGETHER}
    columns = question_names(agent_of(clf))
    named = {} if columns is None else {j: name for j, name in enumerate(columns.tolist()) if isinstance(name, str)}
    names = {j: _quote_name(named.get(j, clf.feature_name(j)), signs) for j in np.unique(order[order >= 0]).tolist()}
    text = {}
    for key, i in first.items():
        asked = [(_PARTS if j >= 0 else _TOGETHER) + names[max(j, -2 - j)] for j in rows[i].tolist() if j != -1]
        text[key] = "".join(asked)[1:]
    return [text[key] for key in keys]


def _sets(clf: BaseSequentialClassifier, held: BoolArray, posterior: FloatArray) -> list[str]:
    """Labels of the classes that may still be true in each row, joined, the most probable first."""
    labels = np.array([_quote_name(str(label), {_PARTS, '"'}) for label in clf.classes_.tolist()], dtype=object)
    return [_PARTS.join(one) for one in labels_of(held, labels, posterior)]


def _quote_name(name: str, signs: set[str]) -> str:
    return '"' + name.replace('"', '""') + '"' if signs & set(name) else name


def example_frame(clf: BaseSequentialClassifier) -> Any:
    """What `decisions_frame` gives of one row, whose types are those of all."""
    agent, none, zero = agent_of(clf), np.empty((1, 0), dtype=np.intp), np.zeros(1, dtype=np.intp)
    posterior = np.full((1, len(clf.classes_)), 1 / len(clf.classes_))
    visit = None if agent.prices.visits is None else none.astype(np.int32)
    acquired = Acquisition(zero, posterior, zero, np.zeros(1), none, none, none[0], leaf_visit=visit)
    return decisions_frame(clf, make_record(agent, acquired), None)


def full_frame(clf: BaseSequentialClassifier, frame: Any, columns: IntArray | None = None) -> Any:
    """Rows of all the columns that a classifier knows, from a data frame that may lack some and have others.

    The ``columns`` are those that are read, by default what it may ask for and what is known at the start.
    """
    if clf.encoder_ is not None:
        own = {clf.feature_name(j): name for j, name in enumerate(clf.encoder_.columns_)}  # of numbers "x0" and so on
        return frame.rename(columns=own).reindex(columns=own.values())
    position = {str(name): i for i, name in enumerate(frame.columns)}
    read = read_columns(agent_of(clf)) if columns is None else columns
    present = [j for j in read.tolist() if clf.feature_name(j) in position]
    values = FrameEncoder().fit_levels(dict.fromkeys(frame.columns, Levels())).encode(plain_data(frame)).to_numpy()
    full = np.full((len(frame), clf.n_features_in_), np.nan)
    full[:, present] = values[:, [position[clf.feature_name(j)] for j in present]]
    return under_names(clf, full)


def under_names(clf: BaseSequentialClassifier, values: Any) -> Any:
    """Rows of all columns as a data frame, where these have names."""
    import pandas as pd

    names = getattr(clf, "feature_names_in_", None) if clf.encoder_ is None else clf.encoder_.columns_
    return values if names is None else pd.DataFrame(values, columns=names)


#: Entries in the metadata of a part: what it says about itself, and how many rows answer outside of training.
_KEY, _OUTSIDE = b"seqclass", b"seqclass outside"


@dataclass(frozen=True, repr=False)
class DecidedParts(Readable):
    """Totals over the rows that `predict_parquet` decided.

    Attributes
    ----------
    n_rows, n_parts : int
        Number of rows, and of the files they are in.
    n_skipped : int
        Number of files that had been written before.
    n_features, paid : float
        Features acquired and prices paid per row, on average.
    decisions : dict of str to int
        Number of rows with each decision.
    n_outside : int
        Number of rows with an answer outside of what training showed: a number that was known or asked for.
    stale : tuple of str
        Parquet files in the output that come from none of the files of the folder: what they came from may be gone.

    Examples
    --------
    >>> DecidedParts(2, 1, 0, 1.5, 0.015, {"a": 2}).paid
    0.015
    """

    n_rows: int
    n_parts: int
    n_skipped: int
    n_features: float
    paid: float
    decisions: dict[str, int]
    n_outside: int = 0
    stale: tuple[str, ...] = ()

    def _table(self) -> Any:
        return [plain_figures(vars(self)) | self.decisions]


def decide_parts(
    clf: BaseSequentialClassifier, path: Path, output: Path, keep: tuple[str, ...], chunk_rows: int | None
) -> DecidedParts:
    """Decide for the rows of Parquet files; see `seqclass.large.predict_parquet`."""
    files = parquet_files(path)
    root = path if path.is_dir() else path.parent
    _check_place(root if path.is_dir() else path, output)
    rows = usual_rows(clf.n_features_in_) if chunk_rows is None else check_integer(chunk_rows, "chunk_rows", 1)
    model, skipped, total = acting_fingerprint(agent_of(clf)), 0, DecidedRows()
    targets = [output / file.relative_to(root) for file in files]
    marks = [_mark(file, model, keep) for file in files]
    whole = [_is_whole(target, mark) for target, mark in zip(targets, marks)]  # before anything is written
    remove_leftovers(targets)
    for file, target, mark, done in zip(files, targets, marks, whole):
        if done:
            skipped += 1
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            with replace_file(target) as temporary:
                _write(clf, file, root, temporary, keep, rows, mark)
        _add_part(total, target)
    others = set(parquet_files(output)).difference(targets) if path.is_dir() else ()
    means, decisions = (total.n_features, total.paid), dict(sorted(total.decisions.items()))
    stale = tuple(sorted(str(f.relative_to(output)) for f in others))
    return DecidedParts(total.n_rows, len(files), skipped, *means, decisions, total.n_outside, stale)


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
    """Whether a part is there and as it would be written again."""
    if not target.exists():
        return False
    try:
        marker = (parquet_file(target).schema_arrow.metadata or {}).get(_KEY)
    except ValueError:
        marker = None
    if marker is None:
        raise ValueError(f"{target} is there and was not written by this command; name another folder.")
    metadata = json.loads(marker)
    if metadata["model"] != mark["model"]:
        raise ValueError(
            f"{target} was decided by another model; name another folder, or remove the parts that are there."
        )
    return bool(metadata == mark)


def _write(
    clf: BaseSequentialClassifier,
    file: Path,
    root: Path,
    out: Path,
    keep: tuple[str, ...],
    rows: int,
    mark: dict[str, Any],
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = parquet_file(file).schema_arrow
    names = [*source.names, *(name for name in folder_values(file, root) if name not in source.names)]
    for name in keep:
        if name not in names:
            raise ValueError(f"keep: {file} has no column {short_repr(name)}; {near(name, names)}")
    needed = [clf.feature_name(j) for j in read_columns(agent_of(clf)).tolist()]
    wanted = [name for name in (*needed, *marks_of(agent_of(clf))) if name in set(names)]
    if needed and not wanted:
        raise ValueError(f"{file} lacks the column {short_repr(needed[0])}; {near(needed[0], names)}")
    ours = pa.Schema.from_pandas(example_frame(clf), preserve_index=False)
    fields = [source.field(name) if name in source.names else pa.field(name, pa.string()) for name in keep]
    schema = pa.schema([*fields, *ours], metadata={_KEY: json.dumps(mark).encode()})
    with pq.ParquetWriter(out, schema) as writer:
        outside = 0
        for frame, kept in frames(file, root, wanted or names[:1], rows, keep):
            try:
                told = split_rows(agent_of(clf), frame[wanted])
                record = clf.acquire(features := full_frame(clf, told))
            except ValueError as error:
                raise at_place(error, f"{file}: ") from error
            refuse_absent(agent_of(clf), record.order, [*names, *told.columns], file, frame.index)
            table = pa.Table.from_pandas(decisions_frame(clf, record, None), preserve_index=False).cast(ours)
            writer.write_table(pa.Table.from_arrays([*kept.columns, *table.columns], schema=schema))
            outside += int(is_outside_training(agent_of(clf), features, record.order).any(axis=1).sum())
        writer.add_key_value_metadata({_OUTSIDE: str(outside)})


@dataclass
class DecidedRows:
    """What decided rows add up to, a part of them after the other."""

    n_rows: int = 0
    #: Rows with an answer outside of what training showed.
    n_outside: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    _features: int = 0
    _paid: float = 0.0

    def add(self, decision: Any, n_features: Any, paid: Any, n_outside: int) -> None:
        """Add some rows."""
        self.n_rows, self.n_outside = self.n_rows + len(decision), self.n_outside + n_outside
        self._features, self._paid = self._features + int(n_features.sum()), self._paid + float(paid.sum())
        labels, counts = np.unique(decision.astype(str), return_counts=True)
        self.decisions.update(dict(zip(labels.tolist(), counts.tolist())))

    @property
    def n_features(self) -> float:
        """Mean number of features acquired."""
        return self._features / max(self.n_rows, 1)

    @property
    def paid(self) -> float:
        """Mean price paid."""
        return self._paid / max(self.n_rows, 1)


def _add_part(total: DecidedRows, part: Path) -> None:
    """Add the rows of a file that is written."""
    total.n_outside += int((parquet_file(part).metadata.metadata or {}).get(_OUTSIDE, 0))
    for batch in parquet_file(part).iter_batches(usual_rows(3), columns=["decision", "n_features", "paid"]):
        frame = batch.to_pandas()
        total.add(frame["decision"], frame["n_features"], frame["paid"], 0)


def predict_parquet(
    classifier: BaseSequentialClassifier,
    path: str | Path,
    output: str | Path,
    *,
    keep: Sequence[str] = (),
    chunk_rows: int | None = None,
) -> DecidedParts:
    """Decide for every row of a Parquet file, or of a folder of them, and write the decisions to a folder of such
    files.

    For each file, one of the same name and place is written below ``output``, completely or not at all. If a call was
    cut short, call again: parts that were already written by this classifier, from files that have not changed since,
    are left as they are. Memory is bounded by the size of a chunk of rows.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    path : path
        File or folder, as in `read_parquet`. Columns may be in any order; others are ignored, and columns that no row
        asks for may be left out, unless they are known at the start.
    output : path
        Folder to write to; it is created if needed.
    keep : sequence of str
        Columns to copy to the output, such as a case number.
    chunk_rows : int, optional
        Number of rows that are decided at once.

    Returns
    -------
    DecidedParts
        Totals over all parts, including those written by earlier calls.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file in ``output`` was written by another classifier or is not such a part, a file is damaged, or a column
        is missing.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from seqclass import SequentialClassifier
    >>> frame = pd.DataFrame({"dose": [0.1, 0.9] * 50, "case": range(100)})
    >>> clf = SequentialClassifier().fit(frame[["dose"]], ["no", "yes"] * 50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(os.path.join(folder, "new.parquet"))
    ...     done = predict_parquet(clf, os.path.join(folder, "new.parquet"), os.path.join(folder, "out"), keep=["case"])
    ...     pd.read_parquet(os.path.join(folder, "out", "new.parquet")).columns.tolist()
    ['case', 'decision', 'posterior_no', 'posterior_yes', 'n_features', 'paid', 'asked']
    >>> done.n_rows, done.decisions
    (100, {'no': 50, 'yes': 50})
    """
    check_classifier(classifier)
    check_kept(classifier, keep)
    return decide_parts(classifier, Path(path), Path(output), tuple(keep), chunk_rows)


def predict_dask(classifier: BaseSequentialClassifier, X: Any, *, keep: Sequence[str] = ()) -> Any:
    """Decide for every row of a dask DataFrame or dask array, partition by partition; nothing is computed yet.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    X : dask DataFrame or dask array
        Rows to decide for; an array has the columns of the training data.
    keep : sequence of str
        Columns of a DataFrame to copy to the output.

    Returns
    -------
    dask DataFrame
        ``decision``, ``posterior_...`` of each class, ``n_features``, ``paid`` and ``asked``, a row each, as
        `predict_parquet` writes them.

    Raises
    ------
    TypeError
        If ``X`` is not a dask collection.
    ValueError
        If a column to keep does not exist, or has the name of a column of the output.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0)
    >>> clf = SequentialClassifier().fit(X, np.repeat(["a", "b"], 20))
    >>> predict_dask(clf, da.from_array(X, chunks=(10, 2)))["decision"].compute().value_counts().to_dict()
    {'a': 20, 'b': 20}
    """
    import dask.dataframe as dd
    from dask.delayed import delayed

    check_classifier(classifier)
    if not hasattr(X, "__dask_graph__"):
        raise TypeError(f"X must be a dask DataFrame or dask array, got {type(X).__name__}; of others use acquire.")
    check_kept(classifier, keep)
    shared = delayed(classifier, traverse=False)
    if hasattr(X, "columns"):
        absent = next((name for name in keep if name not in X.columns), None)
        if absent is not None:
            raise ValueError(f"keep: X has no column {short_repr(absent)}.")
        meta = _decide_partition(X._meta, classifier, tuple(keep))
        return X.map_partitions(_decide_partition, shared, tuple(keep), meta=meta)
    if keep:
        raise ValueError("keep: an array has no columns to copy.")
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    decide = delayed(_decide_partition)
    parts = [decide(block, shared, ()) for block in X.to_delayed().ravel()]
    return dd.from_delayed(parts, meta=example_frame(classifier).iloc[:0])


def _decide_partition(X: Any, clf: BaseSequentialClassifier, keep: tuple[str, ...]) -> Any:
    """What is decided for a partition."""
    kept = X[list(keep)] if keep else None
    X = split_rows(agent_of(clf), X)
    if not len(X):
        decisions = example_frame(clf).iloc[:0]
        for at, name in enumerate(keep):
            decisions.insert(at, name, X[name].to_numpy())
        return decisions.set_index(X.index) if hasattr(X, "index") else decisions
    record = clf.acquire(full_frame(clf, X) if hasattr(X, "columns") else X)
    if hasattr(X, "columns"):
        refuse_absent(agent_of(clf), record.order, list(map(str, X.columns)), "X", X.index)
    decisions = decisions_frame(clf, record, kept)
    return decisions.set_index(X.index) if hasattr(X, "index") else decisions
