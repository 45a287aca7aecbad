"""What a run kept of its instances, read back: a tidy table, and the ways of a sequential classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import IntArray
from seqclass.deciding.record import AcquisitionRecord
from seqclass.experiment._columns import LABELS
from seqclass.experiment._keeping import Arrays, spread, unpack, unpacking

__all__ = ["LabelledRecord"]


@dataclass(frozen=True, eq=False)
class LabelledRecord:
    """What a method of a run acquired for ``n`` instances that it was scored on, whose classes are known.

    Attributes
    ----------
    record : AcquisitionRecord
        Decisions by label; posteriors and beliefs of all classes, in single precision; ``order`` in columns of
        ``names``. Outcomes are those of each fold's own discretiser: between folds only -1, missing, means the same.
    truth : ndarray of str of shape (n,)
        True classes.
    rows : ndarray of int of shape (n,)
        Rows of the data set, the first one 0.
    classes : tuple of str of length n_classes
        Labels of the classes.
    names : tuple of str
        Name of each column that ``record.order`` may hold.

    Examples
    --------
    >>> import os, tempfile
    >>> from seqclass.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Experiment(["iris"], ["etana"], cv=3).run(os.path.join(folder, "iris.run"))
    ...     kept = results.record("iris", "etana")
    >>> len(kept.record), kept.record.beliefs.shape[2]
    (150, 3)
    >>> from seqclass.plots import AcquisitionMapDisplay
    >>> display = AcquisitionMapDisplay.from_record(kept.record, kept.truth, names=kept.names)
    >>> display.features[:2]
    ['petal width (cm)', 'petal length (cm)']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    record: AcquisitionRecord
    truth: npt.NDArray[np.str_]
    rows: IntArray
    classes: tuple[str, ...]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.record)


def instance_table(kept: Iterable[tuple[Mapping[str, Any], bytes]]) -> Any:
    """Tidy table of the instances of some cells."""
    import pandas as pd

    def frame(labels: Mapping[str, Any], content: bytes) -> Any:
        arrays, about = unpack(content)
        columns: dict[str, Any] = {name: labels[name] for name in LABELS}
        columns |= {
            "row": arrays["row"].astype(np.int64),
            "truth": np.array(about["classes"], dtype=object)[arrays["truth"]],
            "decision": np.array(about["decisions"], dtype=object)[arrays["decision"]],
            "n_features": arrays["n_features"].astype(np.int64),
            "cost": arrays["cost"],
        }
        if "proba" in arrays:
            columns |= {f"proba_{label}": arrays["proba"][:, i] for i, label in enumerate(about["classes"])}
        return pd.DataFrame(columns)

    with unpacking():
        return pd.concat([frame(labels, content) for labels, content in kept], ignore_index=True)


def pooled(contents: Sequence[bytes]) -> LabelledRecord | None:
    """Ways that some cells of one data set kept, one cell's instances after the other's."""
    with unpacking():
        cells = [(arrays, about) for arrays, about in map(unpack, contents) if "history" in arrays]
        return _pooled(cells) if cells else None


def _pooled(cells: Sequence[tuple[Arrays, Any]]) -> LabelledRecord:
    # columns behind other steps differ from fold to fold: they go by their names
    of_data = all(about["of_data"] for _, about in cells)
    names, columns = _columns([about["columns"] for _, about in cells], of_data)
    longest = max(int(arrays["n_asked"].max(initial=0)) for arrays, _ in cells)
    classes = tuple(cells[0][1]["classes"])
    parts = [_spread_out(arrays, own, longest, len(classes)) for (arrays, _), own in zip(cells, columns)]
    order, outcome, beliefs = (np.concatenate([part[i] for part in parts]) for i in range(3))
    decision = [np.array(about["decisions"])[arrays["decision"]] for arrays, about in cells]
    record = AcquisitionRecord(
        decision=np.concatenate(decision),
        posterior=_joined(cells, "proba"),
        n_features=_joined(cells, "n_features"),
        cost=_joined(cells, "cost"),
        order=order,
        outcome=outcome,
        beliefs=beliefs,
    )
    truth = np.array(classes)[_joined(cells, "truth")]
    return LabelledRecord(record, truth, _joined(cells, "row"), classes, names)


def _joined(cells: Sequence[tuple[Arrays, Any]], name: str) -> npt.NDArray[Any]:
    values = np.concatenate([arrays[name] for arrays, _ in cells])
    return values.astype(np.intp) if values.dtype.kind == "i" else values


def _columns(named: Sequence[Mapping[str, str]], of_data: bool) -> tuple[tuple[str, ...], list[dict[int, int]]]:
    """Names of all columns that were asked for, and the number that each cell's columns have among them."""
    if of_data:
        known = {int(j): name for own in named for j, name in own.items()}
        last = max(known, default=-1)
        return tuple(known.get(j, f"x{j}") for j in range(last + 1)), [{int(j): int(j) for j in own} for own in named]
    names = {name: i for i, name in enumerate(dict.fromkeys(name for own in named for name in own.values()))}
    return tuple(names), [{int(j): names[name] for j, name in own.items()} for own in named]


def _spread_out(
    arrays: Arrays, columns: Mapping[int, int], longest: int, n_classes: int
) -> tuple[IntArray, IntArray, npt.NDArray[np.float32]]:
    """Columns asked, outcomes and beliefs of each instance of a cell, as an `AcquisitionRecord` has them."""
    n_asked = arrays["n_asked"].astype(np.intp)
    step = np.arange(longest)
    there = step < n_asked[:, None]
    number = np.full(max(columns, default=0) + 1, -1)
    number[list(columns)] = list(columns.values())
    order, outcome = np.full((2, len(n_asked), longest), -1)
    order[there], outcome[there] = number[arrays["asked"]], arrays["outcome"]
    # after the stop the last belief is repeated
    first = np.cumsum(n_asked + 1) - n_asked - 1
    at = first[:, None] + np.minimum(np.arange(longest + 1), n_asked[:, None])
    beliefs = spread(arrays["beliefs"], arrays["known"], n_classes)[at]
    history = arrays["history"]
    return order[history], outcome[history], beliefs[history]
