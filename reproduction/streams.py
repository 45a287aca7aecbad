"""Tables of selectors on streams: test on each batch, then learn from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.linear_model import Perceptron

from reproduction._context import QUICK_ROWS, Context
from reproduction._pieces import Piece, Result, compute
from reproduction._sets import STREAMS, Stream
from reproduction.row import Curve, Row
from reproduction.table import Table, failure
from seqclass._utils.arrays import FloatArray
from seqclass.selection import prequential
from seqclass.selection.prequential import Prequential
from seqclass.selection.stability import windowed_stability

__all__ = ["StreamEntry", "StreamTable", "stream_data", "stream_figures"]

#: Supports over which stability is taken, as in the paper.
_WINDOW = 10
#: Rows that the perceptron learns with all features before the stream, in the authors' code.
_WARM_UP = 100
#: Points of a course over time, at most: it is kept of a single run, one batch size and one share.
_POINTS = 200
_COURSES = ("accuracy", "stability")


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
    published : selector, optional
        The selector as the authors ran it, where that is another one.

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
    published: Any = None


@dataclass(frozen=True)
class StreamTable(Table):
    """Selectors on streams, a perceptron behind each; means over batch sizes and shares of features.

    As published, that is as in the authors' public code, a selector learns from a batch before the batch is tested, the
    perceptron has learnt 100 rows with all features before, and stability is a mean over all batches: zero at the
    first, then over as many as there are up to ten. With our defaults a batch is tested before anything learns from it,
    nothing is learnt before, and only full windows count.

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
        entries = context.thinned([e for e in self.entries if context.readable(STREAMS[e.data].file)])
        results = compute([self._piece(e, theirs, context) for e in entries for theirs in (True, False)], context)
        for k, entry in enumerate(entries):
            both = dict(zip(("published", "ours"), results[2 * k : 2 * k + 2]))
            failed = [failure(f"{entry.method}, {name},", result.error) for name, result in both.items()]
            note = "; ".join(filter(None, [STREAMS[entry.data].differs, *failed]))
            context.curves += [c for name, result in both.items() for c in _curves(entry, name, result)]
            for quantity in self.quantities:
                paper = entry.paper.get(quantity, np.nan)
                found = {name: result[quantity] for name, result in both.items()}
                yield Row(entry.data, entry.method, quantity, paper, **found, note=note)

    def _piece(self, entry: StreamEntry, published: bool, context: Context) -> Piece:
        stream = STREAMS[entry.data]
        selector = entry.published if published and entry.published is not None else entry.selector
        batches, shares = (self.batches[-1:], self.shares[:1]) if context.quick else (self.batches, self.shares)
        depends_on = {
            **{"data": context.fingerprint(stream.file), "positive": stream.positive, "rows": _n_rows(stream, context)},
            **{"selector": selector, "learner": Perceptron(), "select_first": published},
            **({"warm_up": _WARM_UP, "stability": "from the first batch"} if published else {}),
            **{"batches": batches, "shares": shares, "window": _WINDOW},
            **({"course": _POINTS} if len(batches) == len(shares) == 1 else {}),
        }
        return Piece(
            f"{entry.method} on {entry.data}{'' if published else ', ours'}",
            stream_figures,
            lambda: (selector, *stream_data(entry.data, context), published, batches, shares),
            depends_on,
        )


def _n_rows(stream: Stream, context: Context) -> int | None:
    return QUICK_ROWS if context.quick else stream.n_rows


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
    n_rows = _n_rows(stream, context)
    X, y = np.asarray(data.X[:n_rows], dtype=np.float64), data.y[:n_rows]
    width = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(width > 0, width, 1), y if stream.positive is None else y == stream.positive


def stream_figures(
    selector: Any,
    X: FloatArray,
    y: npt.NDArray[Any],
    published: bool,
    batches: Sequence[int],
    shares: Sequence[float],
) -> dict[str, Any]:
    """Figures of a selector on a stream by quantity, means over batch sizes and shares of features.

    Of one batch size and one share also the course: ``"course"``, with ``"rows"`` seen, ``"accuracy"`` and
    ``"stability"`` as ndarrays of shape (n_points,), of which there are at most 200, means of batches side by side.

    Parameters
    ----------
    selector : selector
        Its settings but for the number of features.
    X : ndarray of shape (n, n_features)
        The stream, in order.
    y : ndarray of shape (n,)
        Labels.
    published : bool
        Whether it is done as in the authors' code; see `StreamTable`.
    batches : sequence of int
        Rows of a batch.
    shares : sequence of float
        Share of the features that is selected.

    Examples
    --------
    >>> from seqclass.selection import FIRES
    >>> X = np.random.default_rng(0).normal(size=(1000, 4))
    >>> found = stream_figures(FIRES(), X, X[:, 2] > 0, False, (25,), (0.25,))
    >>> found["accuracy"] > 0.8, found["stability"] > 0.8
    (True, True)
    """
    runs = [
        _run(clone(selector).set_params(n_features_to_select=share), X, y, published, batch)
        for batch, share in itertools.product(batches, shares)
    ]
    before = _WARM_UP if published else 0
    found: dict[str, Any] = {
        "accuracy": float(np.mean([run.mean_accuracy for run in runs])),
        "accuracy, variance": float(np.mean([np.nanvar(run.accuracy) for run in runs])),
        "stability": float(np.mean([run.mean_stability for run in runs])),
        "ms a batch": 1e3 * float(np.mean([run.mean_seconds for run in runs])),
    }
    for what in _COURSES:
        for k in range(3):
            parts = [_mean(np.array_split(getattr(run, what), 3)[k]) for run in runs]
            found[f"{what}, third {k + 1}"] = float(np.mean(parts))
    return found | {"course": _course(runs[0], batches[0], before, len(y))} if len(runs) == 1 else found


def _run(selector: Any, X: FloatArray, y: npt.NDArray[Any], published: bool, batch: int) -> Prequential:
    settings: dict[str, Any] = {"batch_size": batch, "window": _WINDOW}
    if not published:
        return prequential(selector, Perceptron(), X, y, **settings)
    run = prequential(selector, Perceptron(), X, y, select_first=True, warm_up=_WARM_UP, **settings)
    stability = windowed_stability(run.selected, _WINDOW, X.shape[1], min_supports=2)
    return replace(run, stability=np.nan_to_num(stability))  # zero at the first


def _course(run: Prequential, batch: int, before: int, n_rows: int) -> dict[str, FloatArray]:
    """Means over batches side by side, so many that there are few points, and the rows seen at the last of each."""
    n = len(run.accuracy)
    parts = np.array_split(np.arange(n), min(n, _POINTS))
    found = {"rows": np.array([min(before + batch * (part[-1] + 1), n_rows) for part in parts], dtype=np.float64)}
    return found | {what: np.array([_mean(getattr(run, what)[part]) for part in parts]) for what in _COURSES}


def _curves(entry: StreamEntry, source: str, result: Result) -> Iterator[Curve]:
    course = result.figures.get("course", {})
    for what in _COURSES if course else ():
        yield Curve(entry.data, entry.method, what, source, tuple(course["rows"]), tuple(course[what]))


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
