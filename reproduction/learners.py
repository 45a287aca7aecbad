"""Tables of classifiers on streams with all features: test on each batch, then learn from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from reproduction._context import QUICK_ROWS, Context
from reproduction._pieces import Piece, Result, compute
from reproduction._sets import STREAMS
from reproduction.row import Row
from reproduction.streams import stream_data
from reproduction.table import Table, failure
from seqclass._utils.arrays import FloatArray
from seqclass.selection import prequential

__all__ = ["LearnerEntry", "LearnerTable", "learner_figures"]


@dataclass(frozen=True)
class LearnerEntry:
    """One classifier on one stream.

    Attributes
    ----------
    data : str
        Stream, by the name of the paper.
    method : str
        Classifier.
    make : callable or None
        Importable; makes the classifier, which has ``partial_fit`` and ``predict``. What it needs beyond the package is
        imported by it. None: it is not run.
    paper : mapping
        Figures of the paper by quantity.

    Examples
    --------
    >>> from sklearn.linear_model import Perceptron
    >>> LearnerEntry("Spambase", "perceptron", Perceptron).method
    'perceptron'
    """

    data: str
    method: str
    make: Callable[[], Any] | None
    paper: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class LearnerTable(Table):
    """Classifiers on streams, with all features; means over batch sizes.

    Attributes
    ----------
    entries : tuple of LearnerEntry
        What is run, in order.
    quantities : tuple of str
        Of "accuracy" and "ms a batch".
    batches : tuple of int
        Rows of a batch.

    Examples
    --------
    >>> from sklearn.linear_model import Perceptron
    >>> LearnerTable("toy-1", "One stream", entries=(LearnerEntry("KDD", "perceptron", Perceptron),)).files()
    {'KDD': 'kdd_pystreamfs10k'}
    """

    entries: tuple[LearnerEntry, ...] = ()
    quantities: tuple[str, ...] = ("accuracy", "ms a batch")
    batches: tuple[int, ...] = (25, 50, 75, 100)

    def files(self) -> Mapping[str, str]:
        """Files of data that it takes, by the names of their sets."""
        return {entry.data: STREAMS[entry.data].file for entry in self.entries if entry.make is not None}

    def differs(self) -> dict[str, str]:
        """Streams that are not quite the paper's, and how they differ."""
        return {name: STREAMS[name].differs for name in self.files() if STREAMS[name].differs}

    def rows(self, context: Context) -> Iterator[Row]:
        """Run each entry on each batch size, and give a row a quantity."""
        entries = context.thinned([e for e in self.entries if context.readable(STREAMS[e.data].file)])
        run = [(e, e.make) for e in entries if e.make is not None]
        results = compute([self._piece(e, make, context) for e, make in run], context)
        found = {id(entry): result for (entry, _), result in zip(run, results)}
        for entry in entries:
            result = found.get(id(entry), Result())
            failed = failure(f"{entry.method}, published,", result.error)
            note = "; ".join(filter(None, [STREAMS[entry.data].differs, failed]))
            for quantity in self.quantities:
                paper = entry.paper.get(quantity, np.nan)
                yield Row(entry.data, entry.method, quantity, paper, published=result[quantity], note=note)

    def _piece(self, entry: LearnerEntry, make: Callable[[], Any], context: Context) -> Piece:
        stream = STREAMS[entry.data]
        batches = self.batches[-1:] if context.quick else self.batches
        depends_on = {
            **{"data": context.fingerprint(stream.file), "positive": stream.positive},
            **{"rows": QUICK_ROWS if context.quick else stream.n_rows},
            **{"make": f"{make.__module__}.{make.__qualname__}", "batches": batches},
        }
        return Piece(
            f"{entry.method} on {entry.data}",
            learner_figures,
            lambda: (make, *stream_data(entry.data, context), batches),
            depends_on,
        )


def learner_figures(
    make: Callable[[], Any], X: FloatArray, y: npt.NDArray[Any], batches: Sequence[int]
) -> dict[str, float]:
    """Accuracy and milliseconds a batch, means over batch sizes.

    Parameters
    ----------
    make : callable
        Makes the classifier.
    X : ndarray of shape (n, n_features)
        The stream, in order.
    y : ndarray of shape (n,)
        Labels.
    batches : sequence of int
        Rows of a batch.

    Examples
    --------
    >>> from sklearn.linear_model import Perceptron
    >>> X = np.random.default_rng(0).normal(size=(1000, 4))
    >>> learner_figures(Perceptron, X, X[:, 2] > 0, (25,))["accuracy"] > 0.9
    True
    """
    runs = [prequential(None, make(), X, y, batch_size=batch) for batch in batches]
    return {
        "accuracy": float(np.mean([run.mean_accuracy for run in runs])),
        "ms a batch": 1e3 * float(np.mean([run.mean_seconds for run in runs])),
    }
