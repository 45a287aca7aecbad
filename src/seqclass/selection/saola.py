"""SAOLA: features that stream in are kept by pairwise comparisons alone."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from seqclass._utils.arrays import CHUNK_BYTES, BoolArray, FloatArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.validation import check_choice, check_real
from seqclass.selection._base import FeatureStream
from seqclass.selection._dependence import (
    TOLERANCE,
    Columns,
    CorrelationDependence,
    Dependence,
    InformationDependence,
    relevant_columns,
)
from seqclass.selection._reasons import FeatureReasons, ReasonLog


@dataclass(frozen=True)
class SaolaTuning:
    """What is compared at a time."""

    tile: int = 256  #: kept features compared at a time; candidates that one of them makes redundant go no further
    min_batch: int = 32  #: batches begin small, and grow while few features are kept
    busy: int = 12  #: candidates of a batch taken one by one, beyond twice which batches get smaller
    few_pairs: int = 2**11  #: that are compared at once sooner than one feature after the other


TUNING = SaolaTuning()


@register
class PairwiseScan:
    """Relevant features go through one after the other; kept ones are in ``members``.

    A candidate that some kept feature makes redundant, and that removes none before it meets that one, changes nothing:
    such quiet candidates are settled by the batch. The others, and those whose better one was removed meanwhile, are
    taken one by one, in order.

    Parameters
    ----------
    dependence : Dependence
        The measure between features.
    larger_bound : bool
        Whether the dependence must reach the larger of the two relevances (SAOLA-max), not the smaller.
    drop_ties : bool
        Whether of two equally relevant dependent features the later one goes.
    log : ReasonLog
        Takes down who dropped whom.

    Attributes
    ----------
    members : Columns or None
        Kept features, in order of arrival.
    numbers, relevance : ndarray of shape (n_members,)
        Their numbers and relevances.

    Examples
    --------
    >>> from seqclass.selection._dependence import CorrelationDependence
    >>> X = np.array([[1.0, 1.1], [2.0, 2.0], [3.0, 3.5], [4.0, 3.9], [5.0, 5.0]])
    >>> measure = CorrelationDependence(0.05, np.array([0, 0, 0, 1, 1]), None, 2)
    >>> columns, relevance = measure.prepare(X)
    >>> scan = PairwiseScan(measure, False, False, ReasonLog())
    >>> scan.take(columns, np.array([0, 1]), relevance)
    >>> scan.numbers
    array([0])
    """

    def __init__(self, dependence: Dependence, larger_bound: bool, drop_ties: bool, log: ReasonLog) -> None:
        self.dependence = dependence
        self.larger_bound, self.drop_ties = larger_bound, drop_ties
        self.log = log
        self.members: Columns | None = None
        self.numbers: IntArray = np.empty(0, dtype=np.intp)
        self.relevance: FloatArray = np.empty(0)
        self._tiles: list[Columns] = []
        self._batch = TUNING.min_batch

    def __getstate__(self) -> dict[str, Any]:
        # tiles are made of the members
        return self.__dict__ | {"_tiles": []}

    def take(self, columns: Columns, numbers: IntArray, relevance: FloatArray) -> None:
        """Scan relevant features in order."""
        start = 0
        while start < len(columns):
            # what a batch has of numbers must fit, with the members and among themselves
            limit = min(math.isqrt(CHUNK_BYTES // 8), CHUNK_BYTES // (16 * max(1, len(self.numbers))))
            stop = min(len(columns), start + max(TUNING.min_batch, min(self._batch, limit)))
            part = slice(start, stop)
            batch = _Batch(self, columns.take(part), numbers[part], relevance[part])
            busy = batch.run()
            self._update(batch)
            if busy <= TUNING.busy:
                self._batch = min(2 * self._batch, limit)
            elif busy > 2 * TUNING.busy:
                self._batch = max(TUNING.min_batch, self._batch // 2)
            start = stop

    def rules(self, new: FloatArray, kept: FloatArray, dependence: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Say whether the new feature is redundant beside the kept one, and whether the kept one is beside the new."""
        bound = np.maximum(new, kept) if self.larger_bound else np.minimum(new, kept)
        dependent = dependence >= bound - TOLERANCE
        ahead = kept >= new - TOLERANCE if self.drop_ties else kept > new + TOLERANCE
        return dependent & ahead, dependent & (new > kept + TOLERANCE)

    def tiles(self) -> list[Columns]:
        """Members in blocks, kept while they stay the same."""
        if not self._tiles and self.members is not None:
            edges = [*range(0, len(self.numbers), TUNING.tile), len(self.numbers)]
            self._tiles = [self.members.take(slice(*edge)) for edge in pairwise(edges)]
        return self._tiles

    def _update(self, batch: _Batch) -> None:
        added = np.array(batch.added, dtype=np.intp)
        if not added.size and batch.alive.all():
            return
        self._tiles = []
        self.numbers = np.concatenate([self.numbers[batch.alive], batch.numbers[added]])
        self.relevance = np.concatenate([self.relevance[batch.alive], batch.relevance[added]])
        new = batch.columns.take(added)
        if self.members is None:
            self.members = new
        else:
            old = self.members if batch.alive.all() else self.members.take(np.flatnonzero(batch.alive))
            self.members = old.join(new)


class _Batch:
    """Some candidates and what becomes of them."""

    def __init__(self, scan: PairwiseScan, columns: Columns, numbers: IntArray, relevance: FloatArray) -> None:
        self.scan = scan
        self.columns, self.numbers, self.relevance = columns, numbers, relevance
        #: Which members are still there, and the candidates kept, with their distances to candidates where known.
        self.alive = np.ones(len(scan.numbers), dtype=bool)
        self.added: list[int] = []
        self.to_added: list[FloatArray] = []
        #: Distances among candidates that wait: of some to others.
        self.among: list[tuple[IntArray, IntArray, FloatArray]] = []

    def run(self) -> int:
        """Settle all candidates, and return how many had to be taken one by one."""
        loud = self._compare()
        self._relate(loud, loud)
        queue: list[int] = loud.tolist()
        waiting = np.zeros(len(self.numbers), dtype=bool)
        waiting[loud] = True
        quiet = ~waiting
        n_busy = 0
        while queue:
            i = heapq.heappop(queue)
            n_busy += 1
            waiting[i] = False
            kept, removed = self._take(i)
            if kept:
                self._add(i, waiting)
            if removed.size:
                # quiet ones yet to come that relied on a feature now gone
                later = i + 1 + np.flatnonzero(quiet[i + 1 :])
                orphans = later[~self.alive[self.first[later]]]
                quiet[orphans], waiting[orphans] = False, True
                self._adopt(orphans, np.flatnonzero(waiting))
                for orphan in orphans.tolist():
                    heapq.heappush(queue, orphan)
        silent = np.flatnonzero(quiet)
        by = self.first[silent]
        self.scan.log.note_dropped(self.numbers[silent], self.scan.numbers[by], self.distance[silent, by])
        return n_busy

    def _compare(self) -> IntArray:
        """Compare with the members, and return the candidates that are not quiet."""
        scan, n_members, n = self.scan, len(self.alive), len(self.numbers)
        self.distance = np.full((n, n_members), np.nan)
        self.first = np.full(n, n_members)
        self.compared = np.full(n, n_members)
        removes = np.zeros(n, dtype=bool)
        pending = np.arange(n)
        stop = 0
        for tile in scan.tiles():
            if not pending.size:
                break
            span = slice(stop, stop := stop + len(tile))
            some = self.columns if len(pending) == n else self.columns.take(pending)
            distance = scan.dependence.pairs(some, tile)
            self.distance[pending, span] = distance
            redundant, better = scan.rules(self.relevance[pending, None], scan.relevance[span], distance)
            first = np.where(redundant.any(axis=1), redundant.argmax(axis=1), len(tile))
            removes[pending] |= better.any(axis=1) & (better.argmax(axis=1) < first)
            loud = first < len(tile)
            self.first[pending[loud]] = span.start + first[loud]
            self.compared[pending[loud]] = span.stop
            pending = pending[~loud]
        return np.flatnonzero((self.first == n_members) | removes)

    def _take(self, i: int) -> tuple[bool, IntArray]:
        """Take candidate ``i`` as Algorithm 1 does: whether it is kept, and the positions of the members it removed."""
        scan, n_members = self.scan, len(self.alive)
        new = self.relevance[i]
        to_added = np.array([to[i] for to in self.to_added])
        distance = np.concatenate([np.where(self.alive, self.distance[i], -1.0), to_added])
        kept = np.concatenate([scan.relevance, self.relevance[self.added]])
        redundant, better = scan.rules(new, kept, distance)
        if self.compared[i] < n_members and not redundant[:n_members].any():
            # its better ones are gone: look further than the comparison went
            rest = self.compared[i] + np.flatnonzero(self.alive[self.compared[i] :])
            if rest.size and scan.members is not None:
                distance[rest] = scan.dependence.pairs(self.columns.take([i]), scan.members.take(rest))[0]
                redundant, better = scan.rules(new, kept, distance)
        end = int(redundant.argmax()) if redundant.any() else len(kept)
        gone = np.flatnonzero(better[:end])
        if gone.size or end < len(kept):
            numbers = np.concatenate([scan.numbers, self.numbers[self.added]])
            scan.log.note_dropped(numbers[gone], np.full(len(gone), self.numbers[i]), distance[gone])
            if end < len(kept):
                scan.log.note_dropped(self.numbers[[i]], numbers[[end]], distance[[end]])
        old = gone[gone < n_members]
        self.alive[old] = False
        for position in sorted((gone[gone >= n_members] - n_members).tolist(), reverse=True):
            self.added.pop(position)
            self.to_added.pop(position)
        return end == len(kept), old

    def _add(self, i: int, waiting: BoolArray) -> None:
        """Keep candidate ``i``, and work out its dependence with those that wait, as far as it is not known."""
        distance = np.full(len(self.numbers), np.nan)
        for some, others, among in self.among:
            for left, right, values in ((some, others, among), (others, some, among.T)):
                at = int(np.searchsorted(left, i))
                if at < len(left) and left[at] == i:
                    distance[right] = values[at]
        unknown = np.flatnonzero(waiting & np.isnan(distance))
        if unknown.size:
            distance[unknown] = self.scan.dependence.pairs(self.columns.take(unknown), self.columns.take([i]))[:, 0]
        self.added.append(i)
        self.to_added.append(distance)

    def _adopt(self, orphans: IntArray, waiting: IntArray) -> None:
        """Work out the dependence of candidates, so far quiet, with those kept since, and if these are few with all."""
        if not orphans.size:
            return
        if orphans.size * waiting.size <= TUNING.few_pairs:
            self._relate(orphans, waiting)
        if self.added:
            among = self.scan.dependence.pairs(self.columns.take(orphans), self.columns.take(self.added))
            for distance, column in zip(self.to_added, among.T):
                distance[orphans] = column

    def _relate(self, some: IntArray, others: IntArray) -> None:
        left = self.columns.take(some)
        right = left if some is others else self.columns.take(others)
        self.among.append((some, others, self.scan.dependence.pairs(left, right)))


@dataclass(repr=False, eq=False)
class SAOLA(FeatureStream):
    """Scalable and accurate online feature selection: each new feature is compared with those kept so far, in pairs.

    A feature that is not relevant to the class is dropped. A relevant one meets the kept ones in the order in which
    they came. It is dropped at the first one that is more relevant and with which its dependence reaches the bound.
    Less relevant features with such a dependence are removed on the way, even if the new feature is itself dropped
    later. The result is the same however the stream is divided into blocks.

    Parameters
    ----------
    measure : {"mi", "su", "fisher_z"}, default="mi"
        Dependence: mutual information in bits or symmetric uncertainty, 2 I / (H + H), of discrete data, in which
        missing cells (NaN in floats; -1 in columns of integers that have nothing below it) are left out of the counts;
        or the absolute correlation of continuous data, relevant by Fisher's Z-test.
    delta_1 : float, default=0.0
        With ``"mi"`` and ``"su"``: a feature is relevant if its measure with the class is above this. At zero, a
        feature without any information is still dropped.
    alpha : float, default=0.01
        With ``"fisher_z"``: level of significance at which a feature is relevant.
    bound : {"min", "max"}, default="min"
        What the dependence of two features must reach for one to be redundant: the smaller of their relevances (SAOLA)
        or the larger (SAOLA-max, which keeps more).
    class_coding : {"groups", "codes"}, default="groups"
        With ``"fisher_z"`` and more than two classes: relevance by the correlation ratio (the multiple correlation of
        the feature with the indicators of the classes; F-test with C - 1 and n - C degrees of freedom), which does not
        depend on how classes are numbered; or the correlation with the class as a number, as published: the labels
        themselves where they are numbers, else their ranks. For two classes both are the same.
    drop_ties : bool, default=False
        Whether to drop the later of two equally relevant features if one makes the other redundant. Algorithm 1 keeps
        both, and so keeps every copy of a kept feature.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept, in order of arrival.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance of all features.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which features are kept.
    classes_, n_features_in_, feature_names_in_, n_seen_
        As in all selectors.

    Notes
    -----
    Memory besides the input is that of a block of columns and of the kept columns; sparse columns are never made dense.
    Comparisons allow for rounding of 1e-11.

    Line 3 of Algorithm 1 drops a feature whose relevance is *below* ``delta_1``; at the default of zero that would keep
    those without any information, so here, as in the text of section III.B, it has to be *above*.

    The paper writes mutual information; the 63 features of its Table IV on dorothea are those of ``measure="su"``.

    The authors' LOFS code, on the same data, selects the same features: with ``measure="su"`` for its discrete version
    (which cuts values down to integers, skips columns that sum to zero, and takes the dependence as strictly above the
    bound), with ``measure="fisher_z", class_coding="codes"`` for its continuous one.

    References
    ----------
    K. Yu, X. Wu, W. Ding, J. Pei, "Towards scalable and accurate online feature selection for big data", ICDM 2014,
    Algorithm 1, equations (12) and (14).

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> noisy, noisier = y ^ [1, 0, 0, 0, 0, 0, 0, 0], y ^ [1, 1, 0, 0, 0, 0, 0, 0]
    >>> useless = y ^ [1, 1, 0, 0, 1, 1, 0, 0]
    >>> selector = SAOLA().partial_fit_features(np.stack([noisier, useless], axis=1), y, ["noisier", "useless"])
    >>> selector.get_feature_names_out().tolist()
    ['noisier']
    >>> selector = selector.partial_fit_features(noisy[:, None], y, ["noisy"])
    >>> selector.get_feature_names_out().tolist()
    ['noisy']
    >>> print(selector.explain().describe(0))
    'noisier' (relevance 0.3113) was kept until it was replaced by 'noisy' (relevance 0.5488, dependence 0.4669)
    """

    _accepts_sparse = True

    measure: str = "mi"
    delta_1: float = 0.0
    alpha: float = 0.01
    bound: str = "min"
    class_coding: str = "groups"
    drop_ties: bool = False

    @property
    def _discrete(self) -> bool:  # type: ignore[override]
        return self.measure != "fisher_z"

    @property
    def scores_(self) -> FloatArray:
        """Relevance of every feature seen so far."""
        if not hasattr(self, "_log"):
            raise AttributeError("scores_ is there after fit or partial_fit_features.")
        return self._log.relevance()

    def explain(self) -> FeatureReasons:
        """Return what became of each feature, and because of which other one.

        Returns
        -------
        FeatureReasons
            Arrays with an entry for each feature seen so far; ``describe(j)`` puts one into words.
        """
        return self._log.reasons(self.get_support(indices=True), getattr(self, "feature_names_in_", None))

    def _begin(self, codes: IntArray) -> None:
        check_choice(self.bound, "bound", ("min", "max"))
        check_choice(self.class_coding, "class_coding", ("groups", "codes"))
        self._log = ReasonLog()
        self._scan = PairwiseScan(self._dependence(codes), self.bound == "max", bool(self.drop_ties), self._log)

    def _dependence(self, codes: IntArray) -> Dependence:
        measure = check_choice(self.measure, "measure", ("mi", "su", "fisher_z"))
        delta_1 = check_real(self.delta_1, "delta_1", 0)
        alpha = check_real(self.alpha, "alpha", 0, 1)
        if measure != "fisher_z":
            return InformationDependence(measure == "su", delta_1, codes, len(self.classes_))
        values = self._class_values(codes) if self.class_coding == "codes" else None
        return CorrelationDependence(alpha, codes, values, len(self.classes_))

    def _absorb(self, X: Any) -> None:
        for part in relevant_columns(self._scan.dependence, X, self._log, self.n_seen_):
            self._scan.take(*part)
        self.selected_ = self._scan.numbers
