"""Tables of selectors on streams: test on each batch, then learn from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.linear_model import Perceptron

from seqclass._arrays import FloatArray
from seqclass.reproduction._context import QUICK_ROWS, Context
from seqclass.reproduction._sets import STREAMS
from seqclass.reproduction.table import Row, Table
from seqclass.selection import prequential

__all__ = ["StreamEntry", "StreamTable", "stream_data"]


@dataclass(frozen=True)
class StreamEntry:
    """One selector on one stream.

    Attributes
    ----------
    data : str
        Stream, by the name of the paper.
    method : str
        Selector, and the settings that the table varies.
    selector : selector
        Its settings but for the number of features.
    paper : mapping
        Figures of the paper by quantity.

    Examples
    --------
    >>> from seqclass.selection import FIRES
    >>> StreamEntry("Spambase", "FIRES-GLM", FIRES(), {"accuracy": 0.742}).data
    'Spambase'
    """

    data: str
    method: str
    selector: Any
    paper: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StreamTable(Table):
    """Selectors on streams, a perceptron behind each; means over batch sizes and shares of features.

    As published, a selector learns from a batch before the batch is tested; with our defaults after.

    Attributes
    ----------
    entries : tuple of StreamEntry
        What is run, in order.
    quantities : tuple of str
        Of "accuracy", "stability", "ms a batch", "accuracy, variance", and for a course over time "accuracy, third 1"
        to 3 and "stability, third 1" to 3.
    batches : tuple of int
        Rows of a batch.
    shares : tuple of float
        Share of the features that is selected.

    Examples
    --------
    >>> from seqclass.selection import FIRES
    >>> StreamTable("toy-1", "One stream", entries=(StreamEntry("KDD", "FIRES", FIRES()),)).files()
    {'KDD': 'kdd_pystreamfs10k'}
    """

    entries: tuple[StreamEntry, ...] = ()
    quantities: tuple[str, ...] = ("accuracy",)
    batches: tuple[int, ...] = (25, 50, 75, 100)
    shares: tuple[float, ...] = (0.1, 0.15, 0.2)

    def files(self) -> Mapping[str, str]:
        """Files of data that it takes, by the names of their sets."""
        return {entry.data: STREAMS[entry.data].file for entry in self.entries}

    def differs(self) -> dict[str, str]:
        """Streams that are not quite the paper's, and how they differ."""
        return {name: STREAMS[name].differs for name in self.files() if STREAMS[name].differs}

    def rows(self, context: Context) -> Iterator[Row]:
        """Run each entry on each batch size and share, both ways, and give a row a quantity."""
        entries = context.thinned([e for e in self.entries if context.available(STREAMS[e.data].file)])
        batches, shares = (self.batches[-1:], self.shares[:1]) if context.quick else (self.batches, self.shares)
        todo = [(e, first) for e in entries for first in (True, False)]
        keys = [("stream", e.data, repr(e.selector), first, batches, shares) for e, first in todo]
        missing = [i for i, key in enumerate(keys) if key not in context.shared]
        jobs = (
            delayed(_figures)(todo[i][0].selector, *stream_data(todo[i][0].data, context), todo[i][1], batches, shares)
            for i in missing
        )
        for i, found in zip(missing, Parallel(context.n_jobs)(jobs)):
            context.shared[keys[i]] = found
        for k, entry in enumerate(entries):
            published, ours = (context.shared[key] for key in keys[2 * k : 2 * k + 2])
            for quantity in self.quantities:
                paper = entry.paper.get(quantity, np.nan)
                both = {"published": published[quantity], "ours": ours[quantity]}
                yield Row(entry.data, entry.method, quantity, paper, **both, note=STREAMS[entry.data].differs)


def stream_data(name: str, context: Context) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Rows of a stream, scaled to [0, 1] column by column, and their two classes.

    Parameters
    ----------
    name : str
        Stream, by the name of the paper.
    context : Context
        Where the data is.

    Returns
    -------
    X : ndarray of shape (n, n_features)
    y : ndarray of shape (n,)

    Examples
    --------
    >>> sorted(STREAMS)[:2]
    ['Gisette', 'KDD']
    """
    stream = STREAMS[name]
    data = context.dataset(stream.file)
    n_rows = QUICK_ROWS if context.quick else stream.n_rows
    X, y = np.asarray(data.X[:n_rows], dtype=np.float64), data.y[:n_rows]
    width = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(width > 0, width, 1), y if stream.positive is None else y == stream.positive


def _figures(
    selector: Any, X: FloatArray, y: npt.NDArray[Any], select_first: bool, batches: Any, shares: Any
) -> dict[str, float]:
    runs = [
        prequential(
            clone(selector).set_params(n_features_to_select=share),
            Perceptron(),
            X,
            y,
            batch_size=batch,
            select_first=select_first,
        )
        for batch, share in itertools.product(batches, shares)
    ]
    found = {
        "accuracy": float(np.mean([run.mean_accuracy for run in runs])),
        "accuracy, variance": float(np.mean([np.nanvar(run.accuracy) for run in runs])),
        "stability": float(np.mean([run.mean_stability for run in runs])),
        "ms a batch": 1e3 * float(np.mean([run.mean_seconds for run in runs])),
    }
    for what in ("accuracy", "stability"):
        for k in range(3):
            parts = [_mean(np.array_split(getattr(run, what), 3)[k]) for run in runs]
            found[f"{what}, third {k + 1}"] = float(np.mean(parts))
    return found


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
