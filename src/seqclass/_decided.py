"""What is written down of decided rows: one table for the command line, for files and for dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqclass._arrays import IntArray
from seqclass._frames import FrameEncoder, Levels, plain
from seqclass._messages import shown
from seqclass._record import AcquisitionRecord
from seqclass.classifier import SequentialClassifier


def check_kept(clf: SequentialClassifier, keep: Sequence[str], what: str = "keep") -> None:
    """Refuse columns to copy that would share their name with another column of the output; raises a ValueError."""
    ours = ["decision", *(f"posterior_{label}" for label in clf.classes_.tolist()), "n_features", "cost", "asked"]
    for i, name in enumerate(keep):
        if name in ours:
            raise ValueError(
                f"{what}: the output has a column {shown(name)} of its own; give the one to keep another name."
            )
        if name in keep[:i]:
            raise ValueError(f"{what}: {shown(name)} is given twice.")


def decided_frame(clf: SequentialClassifier, record: AcquisitionRecord, kept: Any) -> Any:
    """Decisions, posteriors and what was bought, a row each, beside columns that were kept."""
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


def example_frame(clf: SequentialClassifier) -> Any:
    """The same of one row, whose types are those of all."""
    none = np.empty((1, 0), dtype=np.intp)
    posterior = np.full((1, len(clf.classes_)), 1 / len(clf.classes_))
    record = AcquisitionRecord(clf.decisions_[:1], posterior, np.zeros(1, np.intp), np.zeros(1), none, none)
    return decided_frame(clf, record, None)


def full_frame(clf: SequentialClassifier, frame: Any) -> Any:
    """Rows of all the columns that a classifier knows, from a data frame that may lack some and have others.

    What is not there is missing.
    """
    if clf.encoder_ is not None:
        return frame.reindex(columns=clf.encoder_.columns_)
    position = {str(name): i for i, name in enumerate(frame.columns)}
    present = [j for j in clf.order_.tolist() if clf.feature_name(j) in position]
    values = FrameEncoder().fit_levels(dict.fromkeys(frame.columns, Levels())).encode(plain(frame)).to_numpy()
    full = np.full((len(frame), clf.n_features_in_), np.nan)
    full[:, present] = values[:, [position[clf.feature_name(j)] for j in present]]
    return full


def absent_asked(clf: SequentialClassifier, record: AcquisitionRecord, names: Any) -> tuple[int, int] | None:
    """First row, and column, that was asked for and is not among the names; None where there is none."""
    absent = [j for j in clf.order_.tolist() if clf.feature_name(j) not in names]
    row, step = np.nonzero(np.isin(record.order, absent))
    return (int(row[0]), int(record.order[row[0], step[0]])) if row.size else None
