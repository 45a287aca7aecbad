"""Tables of what selectors keep of the training rows of a set, and how long they take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from reproduction._context import Context
from reproduction._pieces import Piece, compute
from reproduction._sets import SOURCES
from reproduction.comparison import Entry
from reproduction.row import Row
from reproduction.table import Table, failure

__all__ = ["SelectionTable", "selection_figures"]


@dataclass(frozen=True)
class SelectionTable(Table):
    """Features that selectors keep, and their seconds, where no classifier follows.

    Attributes
    ----------
    entries : tuple of Entry
        What is run, in order; ``published`` is a selector.
    quantities : tuple of str
        Of "features" and "select, s".

    Examples
    --------
    >>> from seqclass.selection import SAOLA
    >>> SelectionTable("toy-1", "One", entries=(Entry("Madelon", "SAOLA", SAOLA("fisher_z")),)).files()
    {'Madelon': 'madelon'}
    """

    entries: tuple[Entry, ...] = ()
    quantities: tuple[str, ...] = ("features",)

    def files(self) -> Mapping[str, str]:
        """Files of data that it takes, by the names of their sets."""
        return {entry.data: SOURCES[entry.data].file for entry in self.entries}

    def differs(self) -> dict[str, str]:
        """Sets that are not quite the paper's, and how they differ."""
        return {name: SOURCES[name].differs for name in self.files() if SOURCES[name].differs}

    def rows(self, context: Context) -> Iterator[Row]:
        """Run each selector on the training rows, and give a row a quantity."""
        entries = context.thinned([e for e in self.entries if context.readable(SOURCES[e.data].file)])
        for entry, result in zip(entries, compute([_piece(entry, context) for entry in entries], context)):
            note = "; ".join(filter(None, [SOURCES[entry.data].differs, failure(entry.method, result.error)]))
            for quantity in self.quantities:
                paper = entry.paper.get(quantity, np.nan)
                yield Row(entry.data, entry.method, quantity, paper, published=result[quantity], note=note)


def _piece(entry: Entry, context: Context) -> Piece:
    source = SOURCES[entry.data]
    depends_on = {"data": context.fingerprint(source.file), "rows": source.protocol, "selector": entry.published}

    def arguments() -> tuple[Any, ...]:
        data = context.dataset(source.file)
        rows, _ = source.protocol.split(data, 0, 0)
        return entry.published, data.X[rows], data.y[rows]

    return Piece(f"{entry.method} on {entry.data}", selection_figures, arguments, depends_on)


def selection_figures(selector: Any, X: Any, y: Any) -> dict[str, float]:
    """Number of features that a selector keeps, and its seconds.

    Parameters
    ----------
    selector : selector
        Its settings; a clone is fitted.
    X : ndarray or sparse array of shape (n, n_features)
        The training rows.
    y : ndarray of shape (n,)
        Their classes.

    Examples
    --------
    >>> from seqclass.selection import SAOLA
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> selection_figures(SAOLA("fisher_z"), X, X[:, 2] > 0)["features"]
    1.0
    """
    started = time.perf_counter()
    made = clone(selector).fit(X, y)
    return {"select, s": time.perf_counter() - started, "features": float(made.get_support().sum())}
