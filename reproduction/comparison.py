"""Tables that compare classifiers: each cell is one of an experiment's, kept in the file of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from reproduction._context import Context
from reproduction._sets import SOURCES
from reproduction.row import Curve, Row
from reproduction.table import Table, failure
from seqclass._utils.arrays import IntArray
from seqclass.datasets import Dataset
from seqclass.experiment import Experiment, SourceSplit
from seqclass.experiment.protocols import Protocol, StratifiedFolds

__all__ = ["ComparisonTable", "Entry", "SameFolds"]

#: Column of an experiment's table for each quantity.
QUANTITIES = {
    "accuracy": "accuracy",
    "features": "n_features_mean",
    "select + classify, s": "seconds_classify",
    "classify, s": "seconds_classify",
    "train, s": "seconds_solve",
    "preprocess, s": "seconds_preprocess",
    "select + train, s": "seconds_fit",
}


@dataclass(frozen=True)
class SameFolds(StratifiedFolds):
    """Stratified folds that are the same for every seed: what varies is the method.

    Examples
    --------
    >>> from seqclass.datasets import load
    >>> a, b = (SameFolds(5).split(load("iris"), 0, seed)[1].tolist() for seed in (0, 1))
    >>> a == b
    True
    """

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """Rows of all folds but one, and of that one."""
        return super().split(data, fold, 0)


@dataclass(frozen=True)
class Entry:
    """One method on one set of a table.

    Attributes
    ----------
    data : str
        Data set, by the name of the paper.
    method : str
        Method and the settings that the table varies; also the name of the cells in the run.
    published, ours : method of an `Experiment` or None
        With the settings of the paper, and with our defaults; None: not run.
    price : float
        Price of every feature.
    paper, code : mapping
        Figures of the paper and of the authors' code, by quantity.
    seeds : tuple of int or None
        Seeds of the method, on folds that stay the same; None for those of the data set, which shuffle its folds.

    Examples
    --------
    >>> Entry("MLL", "ETANA", "etana(published=True)", "etana", paper={"accuracy": 1.0}).price
    0.01
    """

    data: str
    method: str
    published: Any
    ours: Any = None
    price: float = 0.01
    paper: Mapping[str, float] = field(default_factory=dict)
    code: Mapping[str, float] = field(default_factory=dict)
    seeds: tuple[int, ...] | None = None


@dataclass(frozen=True)
class ComparisonTable(Table):
    """A table that compares classifiers.

    Attributes
    ----------
    entries : tuple of Entry
        What is run, in order.
    quantities : tuple of str
        What is shown of each, of the keys of ``QUANTITIES``.
    spread : bool
        Whether to show also the standard deviation of the first quantity over seeds.

    Examples
    --------
    >>> entry = Entry("breast cancer", "ETANA", "etana(published=True)", "etana")
    >>> ComparisonTable("toy-1", "One method", entries=(entry,)).files()
    {'breast cancer': 'breast_cancer'}
    """

    entries: tuple[Entry, ...] = ()
    quantities: tuple[str, ...] = ("accuracy", "features")
    spread: bool = False

    def files(self) -> Mapping[str, str]:
        """Files of data that it takes, by the names of their sets."""
        return {entry.data: SOURCES[entry.data].file for entry in self.entries}

    def differs(self) -> dict[str, str]:
        """Sets that are not quite the paper's, and how they differ."""
        return {name: SOURCES[name].differs for name in self.files() if SOURCES[name].differs}

    def rows(self, context: Context) -> Iterator[Row]:
        """Run what is missing, and give a row a quantity of each entry."""
        entries = context.thinned([e for e in self.entries if context.readable(SOURCES[e.data].file)])
        means = _run(entries, context)
        for entry in entries:
            cells = {what: means.get((id(entry), what)) for what in ("published", "ours")}
            for quantity in self.quantities:
                yield _row(entry, quantity, cells)
            if self.spread:
                yield self._over_seeds(entry, cells, context)

    def _over_seeds(self, entry: Entry, cells: Mapping[str, Any], context: Context) -> Row:
        """Standard deviation of the first quantity over seeds; the quantity seed by seed is noted for the picture."""
        quantity, spreads = self.quantities[0], {}
        for what, table in cells.items():
            if table is not None:
                of_seed = table.groupby("seed")[QUANTITIES[quantity]].mean()
                points = tuple(of_seed.index.astype(float)), tuple(of_seed.tolist())
                context.curves.append(Curve(entry.data, entry.method, quantity, what, *points))
                spreads[what] = float(of_seed.std())
        return Row(entry.data, entry.method, f"{quantity}, s.d. over seeds", **spreads, note=_note(entry, cells))


def _row(entry: Entry, quantity: str, cells: Mapping[str, Any]) -> Row:
    column = QUANTITIES[quantity]
    quoted = {"paper": entry.paper.get(quantity, np.nan), "code": entry.code.get(quantity, np.nan)}
    ours = {what: np.nan if t is None else float(t[column].mean()) for what, t in cells.items()}
    return Row(entry.data, entry.method, quantity, **quoted, **ours, note=_note(entry, cells))


def _note(entry: Entry, cells: Mapping[str, Any]) -> str:
    parts = [SOURCES[entry.data].differs] if SOURCES[entry.data].differs else []
    for what, table in cells.items():
        failed = [] if table is None else table["error"][table["error"] != ""].tolist()
        if failed:
            parts.append(failure(f"{len(failed)} of {len(table)} cells of {entry.method}, {what},", failed[0]))
    return "; ".join(parts)


#: Data set, price and seeds of an experiment.
_Key: TypeAlias = tuple[str, float, "tuple[int, ...] | None"]


def _run(entries: Iterable[Entry], context: Context) -> dict[tuple[Any, str], Any]:
    """Cells of each entry, as published and ours: one experiment a data set, price and seeds."""
    grids: dict[_Key, dict[str, Any]] = {}
    for entry in entries:
        methods = grids.setdefault((entry.data, entry.price, entry.seeds), {})
        for what in ("published", "ours"):
            if getattr(entry, what) is not None:
                methods[_cells_name(entry, what)] = getattr(entry, what)
    tables = _tables(grids, context)
    found = {}
    for entry in entries:
        table = tables[entry.data, entry.price, entry.seeds]
        for what in ("published", "ours"):
            if getattr(entry, what) is not None:
                found[id(entry), what] = table[table["method"] == _cells_name(entry, what)]
    return found


def _cells_name(entry: Entry, what: str) -> str:
    """Name of a method in the run: one given as text has its own, so that tables share its cells."""
    method = getattr(entry, what)
    return method if isinstance(method, str) else f"{entry.method}, {what}"


def _tables(grids: Mapping[_Key, dict[str, Any]], context: Context) -> dict[_Key, Any]:
    """Cells of each experiment, and how far they are."""
    sizes = {}
    for key, methods in grids.items():
        protocol, seeds = _protocol(key, context)
        sizes[key] = len(methods) * len(seeds) * protocol.n_folds
    done, total = 0, sum(sizes.values())
    tables = {}
    for key, methods in grids.items():
        context.tell(done, total, f"{key[0]} at price {key[1]:g}")
        tables[key] = _experiment(key, methods, context)
        context.note_work(tables[key]["seconds_total"])
        done += sizes[key]
    context.tell(done, total)
    return tables


def _experiment(key: _Key, methods: dict[str, Any], context: Context) -> Any:
    data, (protocol, seeds) = context.dataset(SOURCES[key[0]].file), _protocol(key, context)
    experiment = Experiment([data], methods, prices=[key[1]], cv=protocol, seeds=seeds)
    settings: dict[str, Any] = {"n_jobs": context.n_jobs, "retry_failed": True}
    # a table needs the means only
    return experiment.run(context.path, keep_instances=0, keep_explanations=0, **settings).to_frame()


def _protocol(key: _Key, context: Context) -> tuple[Protocol, tuple[int, ...]]:
    """How rows are cut, and the seeds."""
    name, _, seeds = key
    protocol, chosen = SOURCES[name].protocol, SOURCES[name].seeds if seeds is None else seeds
    if context.quick:
        protocol, chosen = protocol if isinstance(protocol, SourceSplit) else StratifiedFolds(2), chosen[:1]
    if seeds is not None and isinstance(protocol, StratifiedFolds):
        protocol = SameFolds(protocol.n_splits)
    return protocol, chosen
