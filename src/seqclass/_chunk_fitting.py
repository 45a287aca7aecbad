"""Fitting a classifier to rows that come in chunks: a few passes, each of which adds up a statistic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from seqclass._arrays import FloatArray, IntArray
from seqclass._chunks.drawing import Drawn, draw, told_apart
from seqclass._chunks.looking import Look, look
from seqclass._chunks.source import Chunk, Chunks
from seqclass._coding import OutcomeCoder
from seqclass._column_sums import ColumnSums
from seqclass._doubts import warn_of_doubts
from seqclass._fitting import prefitted, timed
from seqclass._frames import FrameEncoder
from seqclass._held_out import hold_out
from seqclass._inputs import category_counts, check_input
from seqclass._seen_rows import SeenRows, both_marks, least_marks, least_of_both, marked_cells, marked_columns
from seqclass._sum_edges import better
from seqclass.bn._chunked import CodedChunks, count_outcomes
from seqclass.discretize import Discretizer

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

T = TypeVar("T")


@dataclass(frozen=True)
class View:
    """How a classifier sees a chunk: what turns its columns into numbers and outcomes, and its labels into codes."""

    columns: BaseEstimator
    encoder: FrameEncoder | None
    coder: OutcomeCoder
    classes: npt.NDArray[Any]

    def numbers(self, chunk: Chunk) -> Any:
        """Features as numbers."""
        return check_input(self.columns, chunk.X, self.encoder)

    def labels(self, chunk: Chunk) -> IntArray:
        """Numbers of the classes."""
        found, at = told_apart(chunk.y)
        codes = np.minimum(np.searchsorted(self.classes, found), len(self.classes) - 1)
        if (self.classes[codes] != found).any():
            raise _changed("labels that they had not before")
        return np.asarray(codes[at])


def _changed(what: str) -> ValueError:
    return ValueError(
        f"chunks changed between two passes: gone through again, they have {what}. They must be the same each time, in "
        "any order."
    )


class ViewedChunks(CodedChunks):
    """Chunks as outcome codes, with what every model needs of them: counts, and a sample of rows."""

    def __init__(self, source: Chunks, view: View, sizes: dict[Any, int], sample_rows: int, seed: int) -> None:
        self.source, self.view = source, view
        drawn: Drawn
        part = partial(_count, view, draw(sizes, sample_rows, seed))
        self.counts, self.class_count, drawn = source.total(part, _add_each)
        if self.class_count.sum() != sum(sizes.values()):
            raise _changed(f"{int(self.class_count.sum()):,} rows after {sum(sizes.values()):,}")
        #: Sampled rows as they came.
        self.rows = drawn.cut(sizes, sample_rows).rows()
        chunk = Chunk(0, *self.rows)
        self.sample = view.coder.transform(view.numbers(chunk)), view.labels(chunk)

    def total(self, of: Callable[[Any, IntArray], T], add: Callable[[T, T], T]) -> T:
        """Work out a statistic of each chunk's codes and classes, and add them up."""
        return self.source.total(partial(_coded, self.view, of), add)


def _coded(view: View, of: Callable[[Any, IntArray], T], chunk: Chunk) -> T:
    return of(view.coder.transform(view.numbers(chunk)), view.labels(chunk))


def _count(view: View, draw: Callable[[Chunk], Drawn], chunk: Chunk) -> tuple[FloatArray, FloatArray, Drawn]:
    n_classes = len(view.classes)
    counts = _coded(view, partial(count_outcomes, n_classes=n_classes, n_outcomes=view.coder.n_outcomes_), chunk)
    sizes = np.bincount(view.labels(chunk), minlength=n_classes).astype(np.float64)
    return counts, sizes, draw(chunk)


def _add_each(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(add, one, other))


def _mark(view: View, columns: IntArray, cells: list[FloatArray | None], chunk: Chunk) -> Any:
    X, codes = view.numbers(chunk), view.labels(chunk)
    return [least_marks(X, columns, codes, width) for width in cells]


def _least(one: list[Any], other: list[Any]) -> list[Any]:
    return list(map(least_of_both, one, other))


def fit_from(clf: SequentialClassifier, source: Chunks, sample_rows: int, n_folds: int) -> None:
    """Fit a classifier; see `SequentialClassifier.fit_chunks`."""
    clf._forget()
    clf.timings_ = {}
    seed = int(clf.random_state) if isinstance(clf.random_state, (int, np.integer)) else 0
    with timed(clf.timings_, "discretize"):
        found = source.total(partial(look, _needs_ranks(clf.discretizer)), add)
        view = _view(clf, source, found, sample_rows, seed)
    clf.target_name_ = source.target_name
    clf.timings_["filter"], clf.selector_, clf.support_ = 0.0, None, np.arange(clf.n_features_in_)
    clf._settle()
    with timed(clf.timings_, "count"):
        chunks = ViewedChunks(source, view, found.sizes, sample_rows, seed)
    if clf.prefit:
        clf.model_ = prefitted(clf.observation_model, clf.coder_, clf.support_, clf.classes_, clf.timings_)
        clf.classes_ = clf.model_.classes_
    else:
        clf.timings_["structure"] = 0.0
        with timed(clf.timings_, "parameters"):
            clf.model_ = clf._unfitted()._learn_chunks(chunks, clf.classes_, clf.coder_.n_outcomes_)
    if clf._certify:
        names = getattr(clf, "feature_names_in_", None)
        sizes = np.array([found.sizes[label] for label in view.classes.tolist()])
        warn_of_doubts(clf.encoder_, clf.coder_, np.empty((0, clf.n_features_in_)), view.classes, sizes, names)
    clf._plan(chunks.sample[0], view.classes[chunks.sample[1]], (*chunks.rows, None))
    clf._seen = None
    if clf._certify:
        with timed(clf.timings_, "mark"):
            part = partial(_mark, view, marked_columns(clf), marked_cells(clf))
            clf._seen = both_marks([SeenRows.counted(*least) for least in source.total(part, _least)])
    if n_folds:
        with timed(clf.timings_, "held_out"):
            clf.held_out_ = hold_out(clf, *chunks.rows, None, n_folds=n_folds)


def _needs_ranks(discretizer: Any) -> bool:
    return isinstance(discretizer, Discretizer) and discretizer.strategy in ("quantile", "auto")


def _sets_values_apart(discretizer: Any) -> bool:
    """Whether a frequent value that is not zero gets a bin of its own, from counts of all rows."""
    given = Discretizer() if discretizer is None else discretizer
    return type(given) is Discretizer and given.zero_bin == "auto" and given.strategy != "mdlp"


def _sums(view: View, sketch: bool, value: FloatArray, chunk: Chunk) -> ColumnSums:
    return ColumnSums.of(view.numbers(chunk), sketch, value)


def _view(clf: SequentialClassifier, source: Chunks, found: Look, sample_rows: int, seed: int) -> View:
    """Learn columns, categories, classes and bins."""
    for name in ("n_features_in_", "feature_names_in_"):
        clf.__dict__.pop(name, None)
    clf.__dict__.update(vars(found.columns))
    clf.encoder_ = None if found.levels is None else FrameEncoder().fit_levels(found.levels)
    clf.classes_ = found.classes()
    coder = OutcomeCoder(clf.discretizer, category_counts(clf.encoder_))
    first = View(found.columns, clf.encoder_, coder, clf.classes_)

    sums, frequent = found.sums, np.where(found.sums.ahead > 0, found.sums.voted, 0.0)
    frequent[list(coder.categories)] = 0.0
    if not found.sparse and frequent.any() and _sets_values_apart(clf.discretizer):
        sums = source.total(partial(_sums, first, _needs_ranks(clf.discretizer), frequent), add)

    def sample() -> tuple[Any, Any]:
        chunk = Chunk(0, *source._drawn(found.sizes, sample_rows, seed).rows())
        return first.numbers(chunk), first.labels(chunk)

    ways = coder.fit_sums(sums, found.first, len(clf.classes_), found.sparse, sample)
    views = [View(found.columns, clf.encoder_, way, clf.classes_) for way in ways]
    if len(views) == 2:
        counts = [source.total(partial(_numeric_counts, view), add) for view in views]
        bins = better(*(way.discretizer_ for way in ways), *counts)
        views = [View(found.columns, clf.encoder_, coder.with_bins(bins), clf.classes_)]
    clf.coder_ = views[0].coder
    return views[0]


def _numeric_counts(view: View, chunk: Chunk) -> FloatArray:
    coder = view.coder
    counts = partial(count_outcomes, n_classes=len(view.classes), n_outcomes=coder.n_outcomes_)
    return np.asarray(_coded(view, counts, chunk)[coder.numeric_])
