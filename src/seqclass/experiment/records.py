"""What a run kept of its instances, read back: a table, the ways of a sequential classifier, and what each cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass.agent.record import CLASSES, STEPS, AcquisitionRecord, axes_of, join_records, row_fields
from seqclass.evaluation.decision_curves import DecisionCurve, class_position, decision_curve, miss_cost
from seqclass.evaluation.scores import ClassScores, LabelledDecisions
from seqclass.experiment._columns import LABELS
from seqclass.experiment._keeping import COSTS, INSTANCES, RECORD, Arrays, as_damaged_part, spread, unpack
from seqclass.experiment._store import open_store, parts_of


@dataclass(frozen=True, eq=False, repr=False)
class LabelledRecord(Readable):
    """What a method of a run acquired for ``n`` instances that it was scored on, with their true classes.

    Attributes
    ----------
    record : AcquisitionRecord
        Decisions by label; posteriors and beliefs of all classes, in single precision; ``order`` in columns of
        ``names``. Outcomes are those of the discretiser of each fold, so that across folds only -1, missing, means the
        same.
    truth : ndarray of str of shape (n,)
        True classes.
    rows : ndarray of int of shape (n,)
        Rows of the data set, counted from 0.
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

    def _summary(self) -> str:
        return self.record._summary()

    def _table(self) -> Any:
        frame = self.record.to_frame(self.classes, self.names)
        frame.insert(0, "truth", self.truth)
        return frame.set_axis(self.rows).rename_axis("row")


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
            "paid": arrays["paid"],
        }
        if "proba" in arrays:
            columns |= {f"proba_{label}": arrays["proba"][:, i] for i, label in enumerate(about["classes"])}
        return pd.DataFrame(columns)

    with as_damaged_part():
        return pd.concat([frame(labels, content) for labels, content in kept], ignore_index=True)


def pool_ways(contents: Sequence[bytes]) -> LabelledRecord | None:
    """Ways that some cells of one data set kept, one cell's instances after the other's."""
    with as_damaged_part():
        cells = [(arrays, about) for arrays, about in map(unpack, contents) if "history" in arrays]
        return _pool(cells) if cells else None


def _pool(cells: Sequence[tuple[Arrays, Any]]) -> LabelledRecord:
    # columns behind other steps differ from fold to fold: they go by their names
    of_data = all(about["of_data"] for _, about in cells)
    names, columns = _columns([about["columns"] for _, about in cells], of_data)
    classes = tuple(cells[0][1]["classes"])
    record = join_records([_record(*cell, own, len(classes)) for cell, own in zip(cells, columns)])
    truth = np.array(classes)[_concatenate(cells, "truth")]
    return LabelledRecord(record, truth, _concatenate(cells, "row"), classes, names)


def _concatenate(cells: Sequence[tuple[Arrays, Any]], name: str) -> npt.NDArray[Any]:
    return _widen(np.concatenate([arrays[name] for arrays, _ in cells]))


def _widen(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(np.intp) if values.dtype.kind == "i" else values


def _columns(named: Sequence[Mapping[str, str]], of_data: bool) -> tuple[tuple[str, ...], list[dict[int, int]]]:
    """Names of all columns that were asked for, and the number that each cell's columns have among them."""
    if of_data:
        known = {int(j): name for own in named for j, name in own.items()}
        last = max(known, default=-1)
        return tuple(known.get(j, f"x{j}") for j in range(last + 1)), [{int(j): int(j) for j in own} for own in named]
    names = {name: i for i, name in enumerate(dict.fromkeys(name for own in named for name in own.values()))}
    return tuple(names), [{int(j): names[name] for j, name in own.items()} for own in named]


def _record(arrays: Arrays, about: Any, columns: Mapping[int, int], n_classes: int) -> AcquisitionRecord:
    """The record of a cell, all of its fields that were kept."""
    n_asked, history, known = arrays["n_asked"].astype(np.intp), arrays["history"], arrays["known"]
    step = np.arange(int(n_asked.max(initial=0)) + 1)
    there = step[:-1] < n_asked[:, None]
    number = np.full(max(columns, default=0) + 1, -1)
    number[list(columns)] = list(columns.values())
    # after the stop the last belief is repeated
    at = (np.cumsum(n_asked + 1) - n_asked - 1)[:, None] + np.minimum(step, n_asked[:, None])
    kept: dict[str, Any] = {name: _widen(arrays[name]) for name in ("n_features", "paid")}
    kept |= {"decision": np.array(about["decisions"])[arrays["decision"]], "posterior": arrays["proba"]}
    kept["beliefs"] = spread(arrays["beliefs"], known, n_classes)[at][history]
    for held in row_fields(AcquisitionRecord):
        if (name := f"{RECORD}{held.name}") in arrays:
            values = _widen(arrays[name])
            if axes_of(held) == (STEPS,):
                steps = np.full(there.shape, -1, dtype=values.dtype)
                steps[there] = number[values] if held.name == "order" else values
                values = steps[history]
            kept[held.name] = spread(values, known, n_classes) if axes_of(held) == (CLASSES,) else values
    return AcquisitionRecord(**kept)


@dataclass(frozen=True, eq=False)
class Judged:
    """Instances that some cells of one method on one data set kept, one cell's after the other's.

    Attributes
    ----------
    classes : list of str
        Labels of the classes.
    rows : ndarray of int of shape (n,)
        Rows of the data set.
    decisions : LabelledDecisions
        Labels, decisions, prices paid, costs of decisions, and features.
    proba : ndarray of shape (n, n_classes) or None
        Class probabilities, where the method has them.
    n_train : float
        Mean number of training rows.
    """

    classes: list[str]
    rows: IntArray
    decisions: LabelledDecisions
    proba: FloatArray | None
    n_train: float

    @property
    def costs(self) -> FloatArray:
        """Price paid plus decision cost of each instance, (n,)."""
        return self.decisions.paid + self.decisions.wrong

    def curve(self, name: str, positive: Any = None, **settings: Any) -> DecisionCurve:
        """Decision curve of the pooled instances, each of which was held out of its own fit; see `decision_curve`."""
        if self.proba is None:
            raise ValueError(f"{name!r} gives no class probabilities, and so has no decision curve.")
        column = class_position(np.array(self.classes), positive)
        labels = np.array(self.classes)[self.decisions.label]
        return decision_curve(
            labels,
            self.proba[:, column],
            positive=self.classes[column],
            classes=self.classes,
            price=self.decisions.paid,
            benefit=miss_cost(self.decisions.decision_costs, column),
            name=name,
            shared=1 / self.n_train,
            **settings,
        )

    def scores(self) -> tuple[ClassScores, ...]:
        """Scores class by class."""
        return self.decisions.classes(self.classes)


def read_judged(path: Path, cells: Any) -> Judged:
    """Read what some cells of one method on one data set kept."""
    kept = parts_of(path, cells, INSTANCES)
    with as_damaged_part():
        parts = [unpack(content) for _, content in kept]
    with open_store(path) as store:
        priced = any("decision_costs" in name for name, _ in store.settings(cells.index[0])["costs"]["mapping"])
    classes, decisions = list(parts[0][1]["classes"]), max((about["decisions"] for _, about in parts), key=len)
    proba = [arrays.get("proba") for arrays, _ in parts]
    labelled = LabelledDecisions(
        _concatenate(parts, "truth"),
        _concatenate(parts, "decision"),
        _concatenate(parts, "paid"),
        _decision_costs(parts[0][1], priced, len(classes), len(decisions)),
        _concatenate(parts, "n_features"),
    )
    there = [one for one in proba if one is not None]
    pooled = np.concatenate(there).astype(np.float64) if len(there) == len(proba) else None
    return Judged(classes, _concatenate(parts, "row"), labelled, pooled, float(cells["n_train"].mean()))


def _decision_costs(about: dict[str, Any], priced: bool, n_classes: int, n_decisions: int) -> FloatArray:
    if not priced:
        return np.ones((n_classes, n_decisions)) - np.eye(n_classes, n_decisions)
    if COSTS not in about:
        raise ValueError("these instances were kept without the costs of decisions, which are too many.")
    return np.array(about[COSTS], dtype=np.float64)


#: Scores that are means over cases, so that cases can be paired.
BY_CASE = ("realised_cost", "accuracy", "n_features_mean", "paid_mean")


def case_scores(path: Path, cells: Any, metrics: Sequence[str]) -> dict[str, FloatArray] | None:
    """Scores of each case by one method on one data set, in the order of its rows, means over prices."""
    by_price: dict[str, list[FloatArray]] = {metric: [] for metric in metrics}
    for _, group in cells.groupby(["price", "budget"], sort=False, dropna=False):
        try:
            kept = read_judged(path, group)
        except ValueError:
            return None
        if len(kept.rows) != int(group["n_test"].sum()):
            return None
        order, decisions = np.argsort(kept.rows, kind="stable"), kept.decisions
        scores = dict(zip(BY_CASE, (kept.costs, decisions.right, decisions.n_features, decisions.paid), strict=True))
        for metric in metrics:
            by_price[metric].append(np.asarray(scores[metric], dtype=np.float64)[order])
    if any(len({len(part) for part in parts}) > 1 for parts in by_price.values()):
        return None
    return {metric: np.mean(parts, axis=0) for metric, parts in by_price.items()}
