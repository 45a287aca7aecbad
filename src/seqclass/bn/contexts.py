"""What a staged problem remembers of the answers: the context of each stage, whole or its strongest part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import xlogy

from seqclass._utils.arrays import CHUNK_BYTES, TIE, BoolArray, FloatArray, IntArray, chunks, smallest_int
from seqclass._utils.information import contingency_table
from seqclass._utils.model_files import register
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_integer
from seqclass.bn._checks import Codes
from seqclass.bn._cpds import dense_columns
from seqclass.bn.base import ObservationModel
from seqclass.bn.ordering import check_order

T = TypeVar("T")


@dataclass(frozen=True)
class GroupTuning:
    """How columns make contexts, and which are remembered stage by stage."""

    max_outcomes: int = 12  #: a single column of more is cut into groups
    n_groups: int = 4  #: that it is cut into
    max_outcomes_of_several: int = 3  #: of several columns one of more is cut in two
    min_rows: int = 5  #: of joint outcomes of several columns that are a context
    max_contexts: int = 32  #: the most frequent ones
    max_columns: int = 16  #: that make contexts together
    window: int = 6  #: stages ahead that a feature is asked about
    discount: float = 0.8  #: each of them counts so much less than the one before


TUNING = GroupTuning()
#: A further stage is worked out by one thread at a time, which asks for earlier ones.
_STEPPING = RLock()


@dataclass(frozen=True)
class Contexts:
    """Columns, and which of their outcomes make which context.

    Attributes
    ----------
    columns : ndarray of int of shape (m,)
    group : ndarray of int of shape (m, V)
        Group of each outcome of each column; -1 beyond its outcomes.
    patterns : ndarray of int of shape (n_contexts, m)
        Groups of the columns in each context.
    """

    columns: IntArray
    group: IntArray
    patterns: IntArray

    def assign(self, X: Codes) -> IntArray:
        """Context of each row; -1 where a column is missing, or together they make none."""
        shown = dense_columns(X, self.columns).astype(np.intp)
        groups = np.where(shown >= 0, self.group[np.arange(len(self.columns)), shown], -1)
        width = self.group.max() + 2
        powers = int(width) ** np.arange(len(self.columns))
        keys, order = self.patterns @ powers, np.argsort(self.patterns @ powers)
        key = groups @ powers
        place = order[np.minimum(np.searchsorted(keys, key, sorter=order), len(keys) - 1)]
        return np.where((groups >= 0).all(axis=1) & (keys[place] == key), place, -1)

    def tables(self, counts: FloatArray, marginal: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
        """P(outcome | context, class) of the columns, and P(context | class)."""
        if len(self.columns) == 1:  # what is known of the column is the same as without contexts
            inside = (self.group[0][:, None] == self.patterns[:, 0])[:, :, None] * marginal[0][:, None]
            share = inside.sum(axis=0)
            return (inside / share)[None], share
        in_context = counts.sum(axis=3, keepdims=True)
        overall = in_context.sum(axis=2, keepdims=True) + (self.group >= 0)[:, :, None, None]
        overall = overall / overall.sum(axis=1, keepdims=True)
        eased = max(alpha, 1e-3)
        tables = (in_context + eased * overall) / (in_context.sum(axis=1, keepdims=True) + eased)
        rows = counts[0].sum(axis=0) + eased
        return np.broadcast_to(tables, counts.shape), rows / rows.sum(axis=0)


def contexts_of(X: Codes, columns: IntArray, n_outcomes: IntArray, weight: FloatArray) -> Contexts | None:
    """Contexts that some columns make of the rows; None where they make fewer than two."""
    sizes, shown = n_outcomes[columns], dense_columns(X, columns).astype(np.intp)
    group = np.full((len(columns), int(sizes.max())), -1)
    for row, size, column in zip(group, sizes.tolist(), shown.T):
        rows = np.bincount(column[column >= 0], weight[column >= 0], size)
        row[:size] = _in_two(rows) if len(columns) > 1 else group_outcomes(rows, TUNING.max_outcomes, TUNING.n_groups)
    if len(columns) == 1:
        patterns = np.unique(group[0][group[0] >= 0])[:, None]
        return Contexts(columns, group, patterns) if len(patterns) > 1 else None
    complete = (shown >= 0).all(axis=1)
    kinds, which = np.unique(group[np.arange(len(columns)), shown[complete]], axis=0, return_inverse=True)
    rows = np.bincount(which.reshape(-1), weight[complete], len(kinds))
    often = np.sort(np.argsort(-rows, kind="stable")[: TUNING.max_contexts])
    patterns = kinds[often[rows[often] >= TUNING.min_rows]]
    return Contexts(columns, group, patterns) if len(patterns) > 1 else None


def group_outcomes(rows: Any, most: int, n_groups: int) -> IntArray:
    """Group of each outcome of a column, of about as many rows each; its own where they are few."""
    size, total = len(rows), max(float(rows.sum()), 1e-12)
    if size <= most:
        return np.arange(size)
    if n_groups > 1 and 2 * rows[0] > total:
        return np.append(0, 1 + group_outcomes(rows[1:], n_groups - 1, n_groups - 1))
    share = (np.cumsum(rows) - rows / 2) / total
    quantile = np.minimum((share * n_groups).astype(np.intp), n_groups - 1)
    return np.asarray(np.unique(quantile, return_inverse=True)[1].reshape(-1))


def _in_two(rows: Any) -> IntArray:
    """Two groups whose means lie furthest apart (Otsu, 1979), where there are more than three outcomes."""
    size = len(rows)
    if size <= TUNING.max_outcomes_of_several:
        return np.arange(size)
    below, sums = np.cumsum(rows)[:-1], np.cumsum(rows * np.arange(size))
    above, top = rows.sum() - below, sums[-1] - sums[:-1]
    apart = below * above * (sums[:-1] / np.maximum(below, 1e-12) - top / np.maximum(above, 1e-12)) ** 2
    return (np.arange(size) > np.argmax(apart)).astype(np.intp)


def halve(X: Codes, n_outcomes: IntArray, weight: FloatArray) -> tuple[Codes, IntArray]:
    """Rows whose columns of more than three outcomes are cut in two, and the number of outcomes of each column."""
    return _regroup(X, n_outcomes, weight, _in_two, None)


def coarse(
    X: Codes, n_outcomes: IntArray, weight: FloatArray, most: int, n_groups: int, apart: BoolArray | None = None
) -> tuple[Codes, IntArray]:
    """Rows whose columns of many outcomes are cut into groups, and the number of groups of each column.

    The last outcome of columns that are ``apart`` is a group of its own.
    """
    if not (n_outcomes > most).any():
        return X, n_outcomes
    return _regroup(X, n_outcomes, weight, lambda rows: group_outcomes(rows, most, n_groups), apart)


def _regroup(
    X: Codes, n_outcomes: IntArray, weight: FloatArray, group: Callable[[FloatArray], IntArray], apart: BoolArray | None
) -> tuple[Codes, IntArray]:
    counts = contingency_table(X, np.zeros(X.shape[0], dtype=np.intp), 1, n_outcomes, weight)[:, :, 0]
    groups = np.zeros((len(n_outcomes), int(n_outcomes.max()) + 1), dtype=np.int32)
    groups[:, -1] = -1  # which -1 picks
    own = n_outcomes if apart is None else n_outcomes - apart
    for row, size, values, rows in zip(groups, n_outcomes.tolist(), own.tolist(), counts):
        row[:values] = group(rows[:values])
        row[values:size] = row[:values].max() + 1
    sizes = groups.max(axis=1).astype(np.intp) + 1
    if not sparse.issparse(X):
        return groups[np.arange(len(sizes)), X], sizes
    # outcome 0 is in group 0, and stays implicit
    return type(X)((groups[X.indices, X.data], X.indices, X.indptr), shape=X.shape), sizes


def likelihood_of_rows(model: ObservationModel, feature: int, features: IntArray, rows: IntArray) -> FloatArray:
    """P(outcome of the feature | values of some others, class), a row a combination of values."""
    n_features = model.n_features_in_
    table = np.empty((len(rows), int(model.n_outcomes_[feature]), len(model.classes_)))
    for part in chunks(len(rows), 4.0 * rows.itemsize * n_features):
        evidence = np.full((len(rows[part]), n_features), -1, dtype=rows.dtype)
        evidence[:, features] = rows[part]
        table[part] = model.likelihood(feature, evidence)
    return table


def strongest(
    model: ObservationModel, features: IntArray, rows: IntArray, weight: FloatArray, ahead: IntArray, most: int
) -> IntArray:
    """Forget features one by one, each time the one that says least about those to come beside the others."""
    known = weight.any(axis=1)
    rows, weight = _merge_rows(rows[known], weight[known])
    kept = np.arange(len(features))
    while kept.size and np.prod(model.n_outcomes_[features[kept]] + 1.0) > most:
        lost = np.zeros(kept.size)
        groups = [_numbers(np.delete(rows, position, axis=1)) for position in range(kept.size)]
        for distance, j in enumerate(ahead[: TUNING.window]):
            joint = likelihood_of_rows(model, int(j), features[kept], rows) * weight[:, None]
            # I(row; outcome | class, group of the row), summed over classes, from P(row, outcome | class)
            news = np.array([_entropy(_sums(joint, group)) for group in groups]) - _entropy(joint)
            lost += TUNING.discount**distance * news
        weakest = int((lost <= lost.min() + TIE).argmax())
        kept = np.delete(kept, weakest)
        rows, weight = _merge_rows(np.delete(rows, weakest, axis=1), weight)
    return kept


def _entropy(joint: FloatArray) -> float:
    """H(outcome | row, class), summed over classes."""
    total = joint.sum(axis=1)
    return float(xlogy(total, total).sum() - xlogy(joint, joint).sum())


def _numbers(rows: IntArray) -> IntArray:
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).ravel()


def _sums(values: FloatArray, group: IntArray) -> FloatArray:
    total = np.zeros((int(group.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(total, group, values)
    return total


def _merge_rows(rows: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    distinct, group = np.unique(rows, axis=0, return_inverse=True)
    return distinct, _sums(weight, np.asarray(group).ravel())


def stage_contexts(model: ObservationModel, order: npt.ArrayLike, *, max_contexts: int = 256) -> StageContexts:
    """Contexts of the stages of an order: the answers that the likelihoods still to come look at.

    Where a stage has more than ``max_contexts`` of them, only the features are kept whose values say most about those
    still to come, and the stages become those of a *projected* process: at each, P(outcome | kept answers, class).

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    order : array-like of int of shape (n_stages,)
        Features in the order in which they are asked for.
    max_contexts : int
        Most contexts of a stage. A feature of V outcomes counts V + 1 times, since it may be missing.

    Returns
    -------
    StageContexts
        Nothing is tabulated yet: a stage is worked out when it is first asked for.

    Raises
    ------
    ValueError
        If the order repeats a feature or names one that the model does not have, or ``max_contexts`` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> model = NaiveBayes().fit(np.array([[0, 0], [1, 0], [1, 1]]), [0, 1, 1])
    >>> contexts = stage_contexts(model, [1, 0])
    >>> contexts.exact, contexts.n_contexts(1)
    (True, 1)
    """
    check_integer(max_contexts, "max_contexts", 1)
    # a budget of nothing leaves no stage
    stages = check_order(order, model.n_features_in_) if np.size(order) else np.empty(0, dtype=np.intp)
    return StageContexts(model, stages, max_contexts)


@register
class StageContexts:
    """The contexts of each stage, their likelihoods and what leads from one to the next.

    A context is one row of values of the features that are kept at its stage, -1 where the answer was missing; only
    those that can be reached are numbered. Context 0 is the one in which nothing is known.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    order : ndarray of int of shape (n_stages,)
        Feature of each stage.
    max_contexts : int
        Most contexts of a stage, as of `stage_contexts`.

    Attributes
    ----------
    exact : bool
        Whether every stage keeps all that its likelihood and later ones depend on.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> class Chain(NaiveBayes):  # as if the second feature depended on the first
    ...     def context_features(self, order):
    ...         return [order[max(k - 1, 0) : k] for k in range(len(order))]
    >>> model = Chain().fit(np.array([[0, 0], [1, 0], [1, 1]]), [0, 1, 1])
    >>> contexts = StageContexts(model, np.array([0, 1]), 8)
    >>> contexts.features(1), contexts.rows(1).ravel(), contexts.transitions(0)
    (array([0]), array([-1,  0,  1], dtype=int8), array([[1, 2, 0]]))
    """

    def __init__(self, model: ObservationModel, order: IntArray, max_contexts: int) -> None:
        self.model = model
        self.order = order
        self.max_contexts = max_contexts
        self.exact = all(_fits(model.n_outcomes_, kept, max_contexts) for kept in self.memory)
        nothing = np.empty((1, 0), dtype=smallest_int(int(model.n_outcomes_.max(initial=1)) - 1))
        # of the stages worked out so far; all that a saved policy needs to find its context
        self._features: list[IntArray] = [np.empty(0, dtype=np.intp)]
        self._rows: list[IntArray] = [nothing]
        self._transitions: list[IntArray] = []
        # P(context | class) in the projected process, and whether a class can be there at all
        self._weights: FloatArray = np.ones((1, len(model.classes_)))
        self._possible: Any = np.ones((1, len(model.classes_)), dtype=bool)

    @cached_property
    def memory(self) -> list[IntArray]:
        """For each stage the features asked before whose values its likelihood and later ones depend on."""
        by_stage, n = self.model.context_features(self.order), self.model.n_features_in_
        memory = [np.asarray(features) for features in by_stage] if isinstance(by_stage, Sequence) else []
        memory = [features if features.size else features.astype(np.intp) for features in memory]
        known = all(some.dtype.kind in "iu" and not np.setdiff1d(some, np.arange(n)).size for some in memory)
        if len(memory) != self.n_stages or not known:
            raise ValueError(
                f"{type(self.model).__name__}.context_features must give a list of {self.n_stages} arrays, one a "
                f"stage, of numbers of features, 0..{n - 1}; it gave {short_repr(by_stage)}."
            )
        return memory

    @property
    def n_stages(self) -> int:
        """Number of stages."""
        return len(self.order)

    def features(self, stage: int) -> IntArray:
        """Features whose values make up the contexts of a stage, in the order in which they were asked."""
        self._reach(stage)
        return self._features[stage]

    def rows(self, stage: int) -> IntArray:
        """Values of the stage's `features` in each context, (n_contexts, n_features); -1 where missing."""
        self._reach(stage)
        return self._rows[stage]

    def n_contexts(self, stage: int) -> int:
        """Number of contexts of a stage."""
        return len(self.rows(stage))

    def likelihood(self, stage: int) -> FloatArray:
        """P(outcome of the stage's feature | context, class), (n_contexts, n_outcomes, n_classes)."""
        self._reach(stage)
        if (table := self._tables.get(stage)) is None:
            table = likelihood_of_rows(self.model, int(self.order[stage]), self._features[stage], self._rows[stage])
            # those of further stages are computed whenever they are asked for
            if sum(kept.nbytes for kept in [*self._tables.values()]) + table.nbytes <= 8 * CHUNK_BYTES:
                self._tables[stage] = table
        return table

    def transitions(self, stage: int) -> IntArray:
        """Context of the next stage after each outcome, the last column after a missing one.

        Shape (n_contexts, n_outcomes + 1). An outcome that is impossible leads to the context 0.
        """
        self._reach(stage + 1)
        return self._transitions[stage]

    def number(self, stage: int, values: IntArray) -> IntArray:
        """Number of the context of each row of values."""
        self._reach(stage)
        strides, numbers = self._once("numbers", stage, lambda: self._make_lookup(stage))
        return np.asarray(numbers[_keys(values, strides)])

    def next_positions(self, stage: int) -> IntArray:
        """Where the next stage's `memory` is among that of a stage and its own feature, which comes last."""
        memory, asked = self.memory, self.order[stage]
        return self._once("next", stage, lambda: _positions(memory[stage + 1], np.append(memory[stage], asked)))

    def places(self, stage: int) -> IntArray:
        """Where the `features` of a stage are among its `memory`."""
        return self._once("places", stage, lambda: _positions(self.features(stage), self.memory[stage]))

    def _once(self, what: str, stage: int, make: Callable[[], T]) -> T:
        """What is worked out for a stage when it is first asked for."""
        # read once, as is all that is kept: from Python 3.12 on, threads may each make a dictionary
        if (made := self._made_by_stage.get((what, stage))) is None:
            made = self._made_by_stage[what, stage] = make()
        return made

    @cached_property
    def _made_by_stage(self) -> dict[tuple[str, int], Any]:
        return {}

    @cached_property
    def _tables(self) -> dict[int, FloatArray]:
        return {}

    def _make_lookup(self, stage: int) -> tuple[IntArray, IntArray]:
        """Strides by which values make a key, and the number of the context of each key."""
        sizes, rows = self.model.n_outcomes_[self._features[stage]].astype(np.intp) + 1, self._rows[stage]
        products = np.cumprod(np.append(sizes, 1)[::-1])[::-1]
        numbers = np.zeros(int(products[0]), dtype=np.intp)
        numbers[_keys(rows, products[1:])] = np.arange(len(rows))
        return products[1:], numbers

    def _reach(self, stage: int) -> None:
        if not 0 <= stage <= self.n_stages:
            raise ValueError(f"stage must be in 0..{self.n_stages}, got {stage}.")
        if len(self._rows) <= stage:
            with _STEPPING:
                while len(self._rows) <= stage:
                    self._step(len(self._rows) - 1)

    def _step(self, stage: int) -> None:
        table, rows = self.likelihood(stage), self._rows[stage]
        asked = int(self.order[stage])
        candidates = np.append(self._features[stage], asked)
        n_outcomes = table.shape[1]
        # every context with every outcome that some class can show there, and with none
        possible = self._possible[:, None] & (table > 0)
        seen = np.concatenate([possible, self._possible[:, None]], axis=1)
        weight = np.concatenate([self._weights[:, None] * table, np.zeros_like(self._weights)[:, None]], axis=1)
        context, outcome = np.nonzero(seen.any(axis=2))
        value = np.where(outcome == n_outcomes, -1, outcome).astype(rows.dtype)
        longer = np.column_stack([rows[context], value])
        kept = self._keep_relevant(stage + 1, candidates, longer, weight[context, outcome])
        following, number = np.unique(longer[:, kept], axis=0, return_inverse=True)
        number = number.ravel()
        transitions = np.zeros((len(rows), n_outcomes + 1), dtype=np.intp)
        transitions[context, outcome] = number
        can_be: BoolArray = np.zeros((len(following), table.shape[2]), dtype=bool)
        np.logical_or.at(can_be, number, seen[context, outcome])
        weights = np.zeros(can_be.shape)
        np.add.at(weights, number, weight[context, outcome])
        features, steps = [*self._features, candidates[kept]], [*self._transitions, transitions]
        after = can_be, weights, features, steps, [*self._rows, following]
        # all at once, or nothing; the rows, which tell other threads how far it is, last
        self._possible, self._weights, self._features, self._transitions, self._rows = after

    def _keep_relevant(self, stage: int, candidates: IntArray, rows: IntArray, weight: FloatArray) -> IntArray:
        if stage == self.n_stages:
            return np.empty(0, dtype=np.intp)
        relevant = np.flatnonzero(np.isin(candidates, self.memory[stage]))
        if _fits(self.model.n_outcomes_, candidates[relevant], self.max_contexts):
            return relevant
        if self.max_contexts == 1:
            return relevant[:0]
        ahead = self.order[stage:]
        chosen = strongest(self.model, candidates[relevant], rows[:, relevant], weight, ahead, self.max_contexts)
        return relevant[chosen]


def _fits(n_outcomes: IntArray, features: IntArray, max_contexts: int) -> bool:
    """Whether the features have no more combinations of values than that."""
    # a factor is at least two
    return len(features) <= 64 and float(np.prod(n_outcomes[features] + 1.0)) <= max_contexts


def _positions(features: IntArray, among: IntArray) -> IntArray:
    """Position of each feature in a list that has all of them."""
    order = np.argsort(among)
    return np.asarray(order[np.searchsorted(among, features, sorter=order)])


def _keys(values: IntArray, strides: IntArray) -> IntArray:
    return np.asarray((values.astype(np.intp) + 1) @ strides)
