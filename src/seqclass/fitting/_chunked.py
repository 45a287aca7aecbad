"""Fitting a classifier to rows that come in chunks: a few passes, each of which adds up a statistic."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, update_wrapper
from operator import add
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from seqclass._chunks.source import Chunk, Chunks, Drawn, as_chunks, draw, keys, shares, sizes_sum, told_apart
from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import FrameEncoder, Levels, is_frame, levels_of, numbers_of, plain
from seqclass._utils.information import contingency_table
from seqclass._utils.text import shown
from seqclass._utils.validation import check_integer
from seqclass.bn import NaiveBayes
from seqclass.bn._checks import check_n_outcomes
from seqclass.bn.base import CodedChunks
from seqclass.deciding._coding import OutcomeCoder, category_counts, check_features, check_input, value_range
from seqclass.deciding._seen_rows import SeenRows, both_marks, least_marks, least_of_both, marked_cells, marked_columns
from seqclass.discretize import Discretizer
from seqclass.discretize._sums import ColumnSums, better
from seqclass.fitting._cross_fit import check_folds, hold_out
from seqclass.fitting._doubts import warn_of_doubts
from seqclass.fitting._steps import prefitted, timed

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


#: Rows that are kept to find an order on: `seqclass.bn.conditional_order` looks at no more.
_KEPT = 20_000


def fixed(discretizer: Any) -> bool:
    """Whether a setting fixes the bins before any row is seen."""
    fitted = hasattr(discretizer, "n_outcomes_") or hasattr(discretizer, "n_bins_")
    return fitted or (isinstance(discretizer, str) and discretizer == "precomputed")


def add_rows(clf: SequentialClassifier, X: Any, y: npt.ArrayLike, classes: Any, n_outcomes: Any) -> None:
    """Count further rows, and plan anew; see `SequentialClassifier.partial_fit`."""
    _check(clf)
    X, (found, at) = plain(X), told_apart(y)
    labels = found[at]
    first = not hasattr(clf, "_kept")
    if first:
        if hasattr(clf, "policy_"):
            raise ValueError(
                "partial_fit: the classifier was fitted to rows that it has not kept; begin with partial_fit on a "
                "clone, or fit_chunks to all rows."
            )
        if classes is None:
            raise ValueError("the first call of partial_fit needs classes, all labels that there will be.")
        clf._forget()
        X = _begin(clf, X, np.unique(classes), n_outcomes)
    else:
        X = check_input(clf, X, clf.encoder_)
        if clf.coder_.range_ is not None:
            low, high = clf.coder_.range_, value_range(X)
            clf.coder_.range_ = np.array([np.fmin(low[0], high[0]), np.fmax(low[1], high[1])])
    clf.timings_ = {}
    with timed(clf.timings_, "discretize"):
        codes = clf.coder_.transform(X)
    with timed(clf.timings_, "parameters"):
        model: Any = clf._unfitted() if first else deepcopy(clf.model_)  # copies of the classifier may share it
        clf.model_ = model.partial_fit(codes, labels, clf.classes_, clf.coder_.n_outcomes_)
    clf.timings_ |= {"filter": 0.0, "structure": 0.0}
    _keep(clf, codes, np.searchsorted(clf.classes_, labels))
    clf._plan(clf._kept["codes"], clf.classes_[clf._kept["classes"]])
    clf._seen = None


def _check(clf: SequentialClassifier) -> None:
    if clf.observation_model is not None and type(clf.observation_model) is not NaiveBayes:
        raise ValueError(
            f"observation_model: {type(clf.observation_model).__name__} learns from all rows at once, and takes no "
            "further ones: use NaiveBayes, or fit or fit_chunks to all rows."
        )
    for name in ("selector", "calibrate", "prefit"):
        if getattr(clf, name):
            raise ValueError(f"{name}: partial_fit does not see all rows, which it needs; leave it out, or use fit.")


def _begin(clf: SequentialClassifier, X: Any, classes: npt.NDArray[Any], n_outcomes: Any) -> Any:
    """Take columns, classes and bins as they are; the rows as numbers."""
    clf.encoder_ = FrameEncoder().fit(X) if is_frame(X) else None
    if clf.encoder_ is not None and clf.encoder_.categories_:
        name = next(iter(clf.encoder_.categories_))
        raise ValueError(
            f"column {name!r} is categorical, and the first rows need not show all categories: encode it as numbers, "
            "or fit or fit_chunks to all rows."
        )
    X = check_features(clf, X if clf.encoder_ is None else clf.encoder_.encode(X))
    if len(classes) < 2:
        raise ValueError("classes must hold two labels at least.")
    clf.classes_, clf.target_name_ = classes, None
    clf.selector_, clf.support_ = None, np.arange(clf.n_features_in_)
    clf._settle()
    coder = OutcomeCoder(clf.discretizer)
    clf.coder_ = coder.as_fitted(X)
    if isinstance(clf.discretizer, str):
        if n_outcomes is None:
            raise ValueError('the first call of partial_fit needs n_outcomes with discretizer="precomputed".')
        coder.n_outcomes_ = check_n_outcomes(n_outcomes, clf.n_features_in_).copy()
    return X


def _keep(clf: SequentialClassifier, codes: Any, classes: IntArray) -> None:
    """Keep some rows for what looks at rows: of every class the same share of all there were, by lot."""
    seed = clf.random_state if isinstance(clf.random_state, (int, np.integer)) else 0
    before: dict[str, Any] = getattr(clf, "_kept", None) or {"calls": 0}
    lot = keys(int(seed), before["calls"], codes.shape[0])
    if before["calls"]:
        join = sp.vstack if sp.issparse(codes) else np.concatenate
        codes = join([before["codes"], codes])
        classes, lot = np.concatenate([before["classes"], classes]), np.concatenate([before["lot"], lot])
    if sp.issparse(codes):
        codes = sp.csr_array(codes)
    size = clf.model_.class_count_.astype(np.int64)
    most = shares({c: int(n) for c, n in enumerate(size.tolist())}, _KEPT)
    own = [np.flatnonzero(classes == c) for c in most]
    rows = np.sort(np.concatenate([at[np.argsort(lot[at], kind="stable")[: most[c]]] for c, at in enumerate(own)]))
    clf._kept = {"codes": codes[rows], "classes": classes[rows], "lot": lot[rows], "calls": before["calls"] + 1}


@dataclass
class Look:
    """What the first pass tells of some rows."""

    sizes: dict[Any, int]
    dtype: np.dtype[Any]
    columns: Any
    levels: dict[Any, Levels] | None
    sums: ColumnSums
    sparse: bool
    first: FloatArray

    def __add__(self, other: Look) -> Look:
        self._check_columns(other)
        levels = self.levels
        if levels is not None and other.levels is not None:
            levels = {name: column + other.levels[name] for name, column in levels.items()}
        return Look(
            sizes_sum(self.sizes, other.sizes),
            np.promote_types(self.dtype, other.dtype),
            self.columns,
            levels,
            self.sums + other.sums,
            self.sparse,
            self.first,
        )

    def _check_columns(self, other: Look) -> None:
        if self.sparse != other.sparse or (self.levels is None) != (other.levels is None):
            raise ValueError("chunks must be alike: all data frames, all arrays, or all sparse.")
        if self.columns.n_features_in_ != other.columns.n_features_in_:
            n, m = self.columns.n_features_in_, other.columns.n_features_in_
            raise ValueError(f"chunks must have the same columns: one has {n} and another {m}.")
        if self.levels is not None and other.levels is not None and list(self.levels) != list(other.levels):
            pairs = zip(self.levels, other.levels)
            one, another = next(pair for pair in pairs if pair[0] != pair[1])
            raise ValueError(
                f"chunks must have the same columns in the same order: where one has {shown(one)}, another has "
                f"{shown(another)}."
            )

    def classes(self) -> npt.NDArray[Any]:
        """Labels in rising order."""
        if len(self.sizes) < 2:
            only = shown(next(iter(self.sizes)))
            raise ValueError(f"y holds only one class, {only}; a classifier needs at least two.")
        return np.array(sorted(self.sizes), dtype=self.dtype)


def look(sketch: bool, chunk: Any) -> Look:
    """Look at a chunk, with sketches of its quantiles if wanted."""
    labels, at = told_apart(chunk.y)
    X = plain(chunk.X)
    levels = levels_of(X) if is_frame(X) else None
    columns = BaseEstimator()
    numbers = check_features(columns, X if levels is None else numbers_of(X, levels))
    first = numbers[[0]]
    return Look(
        dict(zip(labels.tolist(), np.bincount(at).tolist())),
        labels.dtype,
        columns,
        levels,
        ColumnSums.of(numbers, sketch),
        bool(sp.issparse(numbers)),
        np.asarray(first.toarray() if sp.issparse(first) else first),
    )


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
    counts = _coded(view, partial(contingency_table, n_classes=n_classes, n_outcomes=view.coder.n_outcomes_), chunk)
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
    counts = partial(contingency_table, n_classes=len(view.classes), n_outcomes=coder.n_outcomes_)
    return np.asarray(_coded(view, counts, chunk)[coder.numeric_])


class _WhereBinsAreFixed:
    """A method that only those classifiers have whose settings fix the bins, as scikit-learn's checks expect."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)  # type: ignore[arg-type]
        self.function = function

    def __get__(self, clf: Any, owner: Any = None) -> Any:
        if clf is None:
            return self.function
        if not fixed(clf.discretizer) or not clf._grows:
            raise AttributeError(
                f"{type(clf).__name__}.partial_fit needs bins that are fixed: give a discretizer that is fitted "
                'already (such as another classifier\'s coder_.discretizer_) or "precomputed"; or use fit_chunks.'
            )
        return MethodType(self.function, clf)


class Growing:
    """Fits a `SequentialClassifier`, which says what its parts are, without having all rows in memory."""

    selector: Any
    discretizer: Any
    _grows: ClassVar[bool] = True

    def fit_chunks(self, chunks: Any, *, sample_rows: int = 20_000, held_out: int = 0) -> Any:
        """Learn from rows that come in chunks, of which a few passes are made; memory is bounded by a chunk.

        Bins, counts and what models learn are statistics of chunks that add up. With bins of equal widths, the default,
        naive Bayes is the same as after `fit` to all rows at once; with quantiles ranks of edges are right to 0.14% of
        the rows (KLL sketches, which draw random bits of their own and need the extra ``large``). A
        `seqclass.bn.ClassMixture` is fitted to the sample, from where EM goes on over all chunks; a
        `seqclass.bn.TreeNetwork` is learnt from counts of all pairs. What else looks at rows looks at a sample of them:
        ``order="conditional"``, the choice between an adaptive and a fixed order, ``calibrate`` and ``held_out``, whose
        figures are those of a classifier fitted to the sample.

        Parameters
        ----------
        chunks : Chunks, list of pairs (X, y), or function
            What `seqclass.large.read_parquet` or `seqclass.large.from_dask` gives; or a list of chunks of features and
            labels, or a function without arguments that gives a new iterator of such pairs.
        sample_rows : int
            Size of the sample: of every class the same share and one row at least, drawn by ``random_state``. All rows
            where there are no more; the classifier is then the same as after `fit`.
        held_out : int
            Folds for ``held_out_``, of the sample; see `fit`.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        TypeError
            If chunks can be gone through only once.
        ValueError
            If data, prices, costs or settings are wrong, the chunks change between passes, or a part needs all rows at
            once: a selector, a discretiser of another package that is not fitted, or another model than those named.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = SequentialClassifier().fit_chunks([(X[:300], y[:300]), (X[300:], y[300:])])
        >>> clf.order_.tolist() == SequentialClassifier().fit(X, y).order_.tolist()
        True
        """
        n_folds = check_folds(held_out)
        check_integer(sample_rows, "sample_rows", 1)
        source = as_chunks(chunks)
        if self.selector is not None:
            raise ValueError(
                f"selector: {type(self.selector).__name__} needs all rows at once. Fit it to a sample of the rows, "
                "chunks.sample(100_000), read the columns that it keeps (read_parquet(columns=...)), and give "
                "selector=None."
            )
        fit_from(self, source, sample_rows, n_folds)  # type: ignore[arg-type]
        return self

    @_WhereBinsAreFixed
    def partial_fit(self, X: Any, y: npt.ArrayLike, classes: Any = None, n_outcomes: Any = None) -> Any:
        """Add rows to what naive Bayes has counted, and plan anew.

        Only where bins are fixed: with ``discretizer="precomputed"``, or one that is fitted already, which then stays
        as it is. The result is that of counting all rows so far at once. Each call solves for the policy again: give
        rows by the thousand rather than one by one.

        Parameters
        ----------
        X : array-like, data frame or sparse array of shape (n, n_features)
            Numbers, NaN where missing.
        y : array-like of shape (n,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All classes there will be; needed in the first call.
        n_outcomes : int or array-like of shape (n_features,), optional
            Number of outcomes of each feature; needed in the first call with ``discretizer="precomputed"``.

        Returns
        -------
        SequentialClassifier

        Raises
        ------
        AttributeError
            If the settings do not fix the bins.
        ValueError
            If the model is not naive Bayes, a label or an outcome is new, a column is categorical, or a setting needs
            all rows: a selector or ``calibrate``.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass import SequentialClassifier
        >>> clf = SequentialClassifier(discretizer="precomputed")
        >>> _ = clf.partial_fit([[0, 1], [1, 1]], ["a", "b"], classes=["a", "b"], n_outcomes=2)
        >>> clf.partial_fit([[1, 0]] * 8, ["b"] * 8).model_.class_count_.tolist()
        [1.0, 9.0]
        """
        add_rows(self, X, y, classes, n_outcomes)  # type: ignore[arg-type]
        return self
