"""Fitting a classifier to rows that come in chunks: a few passes, each of which adds up a statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import partial
from operator import add
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._chunks.source import Chunk, Chunks, Drawn, keys, number_labels, sample_candidates, shares, sizes_sum
from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import FrameEncoder, Levels, is_frame, levels_of, numbers_of, plain_data
from seqclass._utils.information import contingency_table
from seqclass._utils.model_files import register
from seqclass._utils.text import join_names, raise_all, short_repr
from seqclass._utils.validation import decay_weights
from seqclass.agent._coding import (
    OutcomeCoder,
    category_counts,
    check_features,
    check_fitted_bins,
    check_input,
    value_range,
)
from seqclass.agent._row_fingerprints import RowFingerprints, both_marks, cells_of, least_marks, least_of_both
from seqclass.agent.agent import Agent, Classifier, require_columns, to_numbers
from seqclass.agent.training_rows import fingerprint_columns
from seqclass.bn import NaiveBayes, ObservationModel
from seqclass.bn._checks import check_n_outcomes
from seqclass.bn.base import CodedChunks
from seqclass.discretize import Discretizer
from seqclass.discretize._sums import ColumnSums, choose_better
from seqclass.fitting._data_quality import warn_of_doubts
from seqclass.fitting._fit import Fit, new_model, plan, resolve_costs, take_states, without_policy
from seqclass.fitting._planning import with_prior
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import check_fitted_model, fit_model, take_prefit_model, time_step


def fixes_bins(discretizer: Any) -> bool:
    """Whether a setting fixes the bins before any row is seen."""
    fitted = hasattr(discretizer, "n_outcomes_") or hasattr(discretizer, "n_bins_")
    return fitted or (isinstance(discretizer, str) and discretizer == "precomputed")


@register
@dataclass(frozen=True, eq=False)
class Kept:
    """Rows that were added and are kept, with the lots by which they are, and in how many calls they came.

    Where rows fade, the lots are their numbers in order of time. ``prior`` is what `with_prior` was given, if it was.
    """

    codes: Any
    classes: IntArray
    lot: FloatArray
    calls: int
    prior: FloatArray | None = None

    @property
    def age(self) -> FloatArray:
        """How many rows came after each, where lots are their numbers."""
        return np.asarray(self.lot[-1] - self.lot)


def add_rows(
    settings: Settings, before: tuple[Agent, Kept] | None, X: Any, y: npt.ArrayLike, classes: Any, n_outcomes: Any
) -> tuple[Fit, Kept]:
    """Count further rows, and plan anew; see `SequentialClassifier.partial_fit`."""
    _check(settings)
    X, (distinct, at) = plain_data(X), number_labels(y)
    labels, timings = distinct[at], {"filter": 0.0, "structure": 0.0}
    stated = None if classes is None else number_labels(classes, "classes")[0]
    if before is None:
        if stated is None:
            raise ValueError("the first call of partial_fit needs classes, all labels that there will be.")
        settings.check()
        view, codes = _begin_rows(settings, X, stated, n_outcomes, timings)
    else:
        settings.check()
        if stated is not None and not np.array_equal(stated, known := before[0].classes):
            raise ValueError(
                f"classes: those of the first call were {join_names(known.tolist())}, and they stay; leave classes "
                "out, or begin with partial_fit on a clone."
            )
        view, codes = _continue_rows(settings, before[0], X, timings)
    agent, kept = _learn_rows(settings, view, codes, labels, before, timings)
    weight = None if settings.half_life is None else decay_weights(kept.age, settings.half_life)
    y = agent.classes[kept.classes]
    agent = plan(settings, agent, kept.codes, y, timings, weight, certify=kept.prior is None)
    if kept.prior is not None:
        with time_step(timings, "solve", without="certify"):
            agent = with_prior(settings, agent, kept.prior)
            timings["certify"] = agent.policy.info.certify_seconds
    return Fit(settings, replace(agent, seen=None), None, timings, n_rows=len(labels)), kept


def _check(settings: Settings) -> None:
    model = settings.observation_model
    if model is not None and type(model) is not NaiveBayes and settings.half_life is None:
        raise ValueError(
            f"observation_model: {type(model).__name__} learns from all rows at once, and takes no "
            "further ones: use NaiveBayes, half_life, which keeps the last rows, or fit or fit_chunks to all rows."
        )
    for name in ("selector", "calibrate", "prefit"):
        if getattr(settings, name):
            raise ValueError(f"{name}: partial_fit does not see all rows, which it needs; leave it out, or use fit.")


def _begin_rows(
    settings: Settings, X: Any, classes: npt.NDArray[Any], n_outcomes: Any, timings: dict[str, float]
) -> tuple[View, Any]:
    """Take columns, classes and bins as they are; beside it the outcomes of the first rows."""
    encoder = FrameEncoder().fit(X) if is_frame(X) else None
    if encoder is not None and encoder.categories_:
        name = next(iter(encoder.categories_))
        raise ValueError(
            f"column {name!r} is categorical, and the first rows need not show all categories: encode it as numbers, "
            "or fit or fit_chunks to all rows."
        )
    columns = Classifier()
    X = check_features(columns, X if encoder is None else encoder.encode(X))
    if len(classes) < 2:
        raise ValueError("classes must hold two labels at least.")
    names = getattr(columns, "feature_names_in_", None)
    coder = OutcomeCoder(_nameless(settings.discretizer, columns, encoder), names=names).as_fitted(X)
    if isinstance(settings.discretizer, str):
        if n_outcomes is None:
            raise ValueError('the first call of partial_fit needs n_outcomes with discretizer="precomputed".')
        coder.n_outcomes_ = check_n_outcomes(n_outcomes, columns.n_features_in_).copy()
    if settings.missing == "informative":  # the first rows need not show where cells are missing
        coder.missing_as_outcome(np.ones(columns.n_features_in_, dtype=bool))
    with time_step(timings, "discretize"):
        return View(columns, encoder, coder, classes), coder.transform(X)


def _nameless(bins: Any, columns: Classifier, encoder: FrameEncoder | None) -> Any:
    """Bins that may be fitted, without the names of their columns, if these are ours: they are given arrays."""
    names, own = getattr(bins, "feature_names_in_", None), getattr(columns, "feature_names_in_", None)
    if names is None:
        return bins
    numeric = [] if own is None else [name for name in own if encoder is None or name not in encoder.categories_]
    if own is not None and list(names) != numeric:
        raise ValueError(
            f"discretizer was fitted to the columns {join_names(names)}, and the columns of numbers here are "
            f"{join_names(numeric)}: give it the same in the same order."
        )
    bins = copy(bins)
    del bins.feature_names_in_
    return bins


def _continue_rows(settings: Settings, agent: Agent, X: Any, timings: dict[str, float]) -> tuple[View, Any]:
    """Columns, classes and bins of the rows before, and the outcomes of further ones."""
    require_columns(agent, X, agent.support)
    X, coder = to_numbers(agent, X), agent.coder
    if (settings.missing == "informative") != (coder.missing_ is not None):
        raise ValueError("missing: rows before came with another setting; begin with partial_fit on a clone.")
    if coder.range_ is not None:
        low, high = coder.range_, value_range(X)
        coder.range_ = np.array([np.fmin(low[0], high[0]), np.fmax(low[1], high[1])])
    with time_step(timings, "discretize"):
        return View(agent.columns, agent.encoder, coder, agent.classes), coder.transform(X)


def _learn_rows(
    settings: Settings,
    view: View,
    codes: Any,
    labels: npt.NDArray[Any],
    before: tuple[Agent, Kept] | None,
    timings: dict[str, float],
) -> tuple[Agent, Kept]:
    """Learn from further rows, some of which are kept beside, or from those that are kept, by their age."""
    columns, encoder, coder, classes = view.columns, view.encoder, view.coder, view.classes
    support = np.arange(columns.n_features_in_)
    prices, costs, decisions = resolve_costs(settings, columns, classes, warn=before is None)
    counted, rows_before = np.zeros(len(classes)), None
    if before is not None:
        counted, rows_before = vars(before[0].model).get("class_count_", counted), before[1]
    kept = _keep_sample(settings, codes, _numbers(labels, classes), counted, rows_before)
    model: Any = new_model(settings, columns, prices, support, coder)  # settings may have changed since
    if type(model) is NaiveBayes and before is not None:
        if type(before[0].model) is not NaiveBayes:
            raise ValueError("observation_model: rows before were for another; begin with partial_fit on a clone.")
        model = deepcopy(before[0].model).set_params(**model.get_params())  # copies of the classifier may share it
    with time_step(timings, "parameters"):
        if type(model) is NaiveBayes:
            model.partial_fit(codes, labels, classes, coder.n_outcomes_, half_life=settings.half_life)
        else:
            model = _fit_kept_rows(settings, model, view, kept)
    return without_policy(settings, columns, encoder, coder, support, model, prices, costs, decisions, None), kept


def _numbers(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> IntArray:
    """Number of the class of each label, if all are known."""
    at = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    if (unknown := classes[at] != labels).any():
        label = short_repr(labels.tolist()[np.argmax(unknown)])
        raise ValueError(f"y has the label {label}, which is not among classes: {join_names(classes.tolist())}.")
    return np.asarray(at)


def _fit_kept_rows(settings: Settings, model: Any, view: View, kept: Kept) -> Any:
    """A model fitted to the rows that are kept, by their age."""
    assert settings.half_life is not None  # `_check` has looked
    if absent := np.setdiff1d(np.arange(len(view.classes)), kept.classes).tolist():
        raise ValueError(
            f"y: class {short_repr(view.classes.tolist()[absent[0]])} has no row yet, and a {type(model).__name__} "
            "cannot learn it from none: give rows of every class in the first call, or use NaiveBayes."
        )
    weight = decay_weights(kept.age, settings.half_life)
    return fit_model(model, kept.codes, view.classes[kept.classes], view.coder.n_outcomes_, {}, weight)


def _keep_sample(settings: Settings, codes: Any, classes: IntArray, counted: FloatArray, before: Kept | None) -> Kept:
    """Keep some rows for what looks at rows: of every class the same share of all there were, by lot; or the last."""
    sizes = counted.astype(np.int64) + np.bincount(classes, minlength=len(counted))
    calls = 0 if before is None else before.calls
    if settings.half_life is None:
        lot = keys(settings.seed, calls, codes.shape[0])
    else:
        if before is not None and (before.lot[1:] <= before.lot[:-1]).any():
            raise ValueError("half_life: rows before came without it; begin with partial_fit on a clone.")
        first = 0 if before is None else int(before.lot[-1]) + 1
        lot = np.arange(first, first + codes.shape[0], dtype=np.float64)
    if before is not None:
        join = sp.vstack if sp.issparse(codes) else np.concatenate
        codes = join([before.codes, codes])
        classes, lot = np.concatenate([before.classes, classes]), np.concatenate([before.lot, lot])
    if sp.issparse(codes):
        codes = sp.csr_array(codes)
    every = Kept(codes, classes, lot, calls + 1, None if before is None else before.prior)
    if settings.half_life is not None:
        last = len(classes) - 1 - np.unique(classes[::-1], return_index=True)[1]
        # of ten half-lives models other than naive Bayes learn
        recent = np.flatnonzero(every.age < 10 * settings.half_life)
        return _pick_kept(every, np.union1d(recent, last))
    # an order is found on them: `seqclass.bn.ordering.conditional_order` looks at no more
    most = shares(dict(enumerate(sizes.tolist())), 20_000)
    own = [np.flatnonzero(classes == c) for c in most]
    rows = np.sort(np.concatenate([at[np.argsort(lot[at], kind="stable")[: most[c]]] for c, at in enumerate(own)]))
    return _pick_kept(every, rows)


def _pick_kept(kept: Kept, rows: IntArray) -> Kept:
    return replace(kept, codes=kept.codes[rows], classes=kept.classes[rows], lot=kept.lot[rows])


@dataclass
class FirstPass:
    """What the first pass tells of some rows."""

    sizes: dict[Any, int]
    dtype: np.dtype[Any]
    columns: Classifier
    levels: dict[Any, Levels] | None
    sums: ColumnSums
    sparse: bool
    first: FloatArray

    def __add__(self, other: FirstPass) -> FirstPass:
        self._check_columns(other)
        levels = self.levels
        if levels is not None and other.levels is not None:
            levels = {name: column + other.levels[name] for name, column in levels.items()}
        sizes, dtype = sizes_sum(self.sizes, other.sizes), np.promote_types(self.dtype, other.dtype)
        return replace(self, sizes=sizes, dtype=dtype, levels=levels, sums=self.sums + other.sums)

    def _check_columns(self, other: FirstPass) -> None:
        if self.sparse != other.sparse or (self.levels is None) != (other.levels is None):
            raise ValueError("chunks must be alike: all data frames, all arrays, or all sparse.")
        if self.columns.n_features_in_ != other.columns.n_features_in_:
            n, m = self.columns.n_features_in_, other.columns.n_features_in_
            raise ValueError(f"chunks must have the same columns: one has {n} and another {m}.")
        if self.levels is not None and other.levels is not None and list(self.levels) != list(other.levels):
            pairs = zip(self.levels, other.levels)
            one, another = next(pair for pair in pairs if pair[0] != pair[1])
            raise ValueError(
                f"chunks must have the same columns in the same order: where one has {short_repr(one)}, another has "
                f"{short_repr(another)}."
            )

    def classes(self) -> npt.NDArray[Any]:
        """Labels in rising order."""
        if len(self.sizes) < 2:
            only = short_repr(next(iter(self.sizes)))
            raise ValueError(f"y holds only one class, {only}; a classifier needs at least two.")
        return np.array(sorted(self.sizes), dtype=self.dtype)


def look(sketch: bool, chunk: Any) -> FirstPass:
    """Look at a chunk, with sketches of its quantiles if wanted."""
    labels, at = number_labels(chunk.y)
    X = plain_data(chunk.X)
    levels = levels_of(X) if is_frame(X) else None
    raise_all([column.wrong for column in (levels or {}).values() if column.wrong])
    columns = Classifier()
    numbers = check_features(columns, X if levels is None else numbers_of(X, levels))
    first = numbers[[0]]
    return FirstPass(
        dict(zip(labels.tolist(), np.bincount(at).tolist())),
        labels.dtype,
        columns,
        levels,
        ColumnSums.from_rows(numbers, sketch),
        bool(sp.issparse(numbers)),
        np.asarray(first.toarray() if sp.issparse(first) else first),
    )


T = TypeVar("T")


@dataclass(frozen=True)
class View:
    """How a classifier sees a chunk: what turns its columns into numbers and outcomes, and its labels into codes."""

    columns: Classifier
    encoder: FrameEncoder | None
    coder: OutcomeCoder
    classes: npt.NDArray[Any]

    def numbers(self, chunk: Chunk) -> Any:
        """Features as numbers."""
        return check_input(self.columns, chunk.X, self.encoder)

    def labels(self, chunk: Chunk) -> IntArray:
        """Numbers of the classes."""
        distinct, at = number_labels(chunk.y)
        codes = np.minimum(np.searchsorted(self.classes, distinct), len(self.classes) - 1)
        if (self.classes[codes] != distinct).any():
            raise _change_error("labels that they had not before")
        return np.asarray(codes[at])


def _change_error(what: str) -> ValueError:
    return ValueError(
        f"chunks changed between two passes: gone through again, they have {what}. They must be the same each time, in "
        "any order."
    )


class ViewedChunks(CodedChunks):
    """Chunks as outcome codes, with what every model needs of them: counts, and a sample of rows."""

    def __init__(self, source: Chunks, view: View, sizes: dict[Any, int], sample_rows: int, seed: int) -> None:
        self.source, self.view = source, view
        drawn: Drawn
        part = partial(_count, view, sample_candidates(sizes, sample_rows, seed))
        self.counts, self.class_count, drawn = source.total(part, partial(_join_each, add))
        if self.class_count.sum() != sum(sizes.values()):
            raise _change_error(f"{int(self.class_count.sum()):,} rows after {sum(sizes.values()):,}")
        #: Sampled rows as they came.
        self.rows = drawn.cut(sizes, sample_rows).rows()
        chunk = Chunk(0, *self.rows)
        self.numbers = view.numbers(chunk)
        self.sample = view.coder.transform(self.numbers), view.labels(chunk)

    def total(self, of: Callable[[Any, IntArray], T], add: Callable[[T, T], T]) -> T:
        """Work out a statistic of each chunk's codes and classes, and add them up."""
        return self.source.total(partial(_code_chunk, self.view, of), add)


def _code_chunk(view: View, of: Callable[[Any, IntArray], T], chunk: Chunk) -> T:
    return of(view.coder.transform(view.numbers(chunk)), view.labels(chunk))


def _count(view: View, draw: Callable[[Chunk], Drawn], chunk: Chunk) -> tuple[FloatArray, FloatArray, Drawn]:
    n_classes = len(view.classes)
    counts = _code_chunk(
        view, partial(contingency_table, n_classes=n_classes, n_outcomes=view.coder.n_outcomes_), chunk
    )
    sizes = np.bincount(view.labels(chunk), minlength=n_classes).astype(np.float64)
    return counts, sizes, draw(chunk)


def _join_each(join: Callable[[Any, Any], Any], one: Sequence[Any], other: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(join, one, other))


def _mark(view: View, columns: IntArray, cells: list[FloatArray | None], chunk: Chunk) -> Any:
    X, codes = view.numbers(chunk), view.labels(chunk)
    return [least_marks(X, columns, codes, width) for width in cells]


def fit_chunks(settings: Settings, source: Chunks, sample_rows: int) -> Fit:
    """Fit to all chunks; the rows of the fit are those sampled. See `SequentialClassifier.fit_chunks`."""
    settings.check()
    if settings.prefit:
        settings = settings.replace(observation_model=check_fitted_model(settings.observation_model))
    model, bins = settings.observation_model, settings.discretizer
    if not settings.prefit and getattr(type(model), "_fit_chunks", None) is ObservationModel._fit_chunks:
        raise ValueError(
            f"observation_model: {type(model).__name__} learns from all rows at once. From chunks learn NaiveBayes, "
            "ClassMixture and TreeNetwork; or fit to a sample of the rows, clf.fit(*chunks.sample(100_000))."
        )
    if not (bins is None or isinstance(bins, str) or type(bins) is Discretizer):
        check_fitted_bins(bins)
    if settings.missing != "ignored":
        raise ValueError(
            'missing="informative": where cells are missing has to be known before rows are counted; use fit on a '
            "sample of the rows, clf.fit(*chunks.sample(100_000)), or leave missing out."
        )
    timings: dict[str, float] = {}
    with time_step(timings, "discretize"):
        first_pass = source.total(partial(look, getattr(settings.discretizer, "_needs_ranks", False)), add)
        view = _view(settings, source, first_pass, sample_rows)
    columns, encoder, coder, classes = view.columns, view.encoder, view.coder, view.classes
    timings["filter"], support = 0.0, np.arange(columns.n_features_in_)
    prices, costs, decisions = resolve_costs(settings, columns, classes)
    with time_step(timings, "count"):
        chunks = ViewedChunks(source, view, first_pass.sizes, sample_rows, settings.seed)
    if settings.prefit:
        names = getattr(columns, "feature_names_in_", None)
        model = take_prefit_model(settings.observation_model, coder, names, support, classes, timings)
        prices, costs, decisions = resolve_costs(settings, columns, model.classes_, warn=False)
    else:
        timings["structure"] = 0.0
        with time_step(timings, "parameters"):
            model = new_model(settings, columns, prices, support, coder)._learn_chunks(
                chunks, classes, coder.n_outcomes_
            )
    name = source.target_name
    agent = without_policy(settings, columns, encoder, coder, support, model, prices, costs, decisions, name)
    sizes = np.array([first_pass.sizes[label] for label in classes.tolist()])
    warn_of_doubts(agent, np.empty((0, agent.n_features)), classes, sizes, chunks.numbers)
    rows = (*chunks.rows, None)
    agent = plan(settings, agent, chunks.sample[0], classes[chunks.sample[1]], timings, rows=rows)
    with time_step(timings, "mark"):
        marked = fingerprint_columns(agent)
        part = partial(_mark, view, marked, cells_of(agent.coder.range_, marked))
        least = source.total(part, partial(_join_each, least_of_both))
        seen = both_marks([RowFingerprints.from_counts(*one) for one in least])
    return Fit(settings, replace(agent, seen=seen), None, timings, rows, n_rows=int(sizes.sum()))


def _sets_values_apart(discretizer: Any) -> bool:
    """Whether a frequent value that is not zero gets a bin of its own, from counts of all rows."""
    kind = Discretizer() if discretizer is None else discretizer
    return type(kind) is Discretizer and kind.zero_bin == "auto" and kind.strategy != "mdlp"


def _sums(view: View, sketch: bool, value: FloatArray, chunk: Chunk) -> ColumnSums:
    return ColumnSums.from_rows(view.numbers(chunk), sketch, value)


def _view(settings: Settings, source: Chunks, first_pass: FirstPass, sample_rows: int) -> View:
    """Learn columns, categories, classes and bins."""
    encoder = None if first_pass.levels is None else take_states(settings, FrameEncoder().fit_levels(first_pass.levels))
    classes = first_pass.classes()
    bins = settings.discretizer
    if type(bins) is not Discretizer:  # which is fitted anew
        bins = _nameless(bins, first_pass.columns, encoder)
    names = getattr(first_pass.columns, "feature_names_in_", None)
    coder = OutcomeCoder(bins, category_counts(encoder), names=names)
    first = View(first_pass.columns, encoder, coder, classes)

    sums, frequent = first_pass.sums, np.where(first_pass.sums.ahead > 0, first_pass.sums.voted, 0.0)
    frequent[list(coder.categories)] = 0.0
    if not first_pass.sparse and frequent.any() and _sets_values_apart(settings.discretizer):
        sums = source.total(partial(_sums, first, getattr(settings.discretizer, "_needs_ranks", False), frequent), add)

    def sample() -> tuple[Any, Any]:
        chunk = Chunk(0, *source._draw_rows(first_pass.sizes, sample_rows, settings.seed).rows())
        return first.numbers(chunk), first.labels(chunk)

    ways = coder.fit_sums(sums, first_pass.first, len(classes), first_pass.sparse, sample)
    views = [View(first_pass.columns, encoder, way, classes) for way in ways]
    if len(views) == 2:
        counts = [source.total(partial(_numeric_counts, view), add) for view in views]
        bins = choose_better(*(way.discretizer_ for way in ways), *counts)
        views = [View(first_pass.columns, encoder, coder.with_bins(bins), classes)]
    return views[0]


def _numeric_counts(view: View, chunk: Chunk) -> FloatArray:
    coder = view.coder
    counts = partial(contingency_table, n_classes=len(view.classes), n_outcomes=coder.n_outcomes_)
    return np.asarray(_code_chunk(view, counts, chunk)[coder.numeric_])
