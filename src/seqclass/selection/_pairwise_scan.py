"""The scan of SAOLA: each relevant feature against those kept so far, exactly as one by one, but in batches."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.selection._measures import TOLERANCE, Columns, Dependence
from seqclass.selection._reasons import ReasonLog

#: Kept features compared at a time; candidates that one of them makes redundant go no further.
_FIRST_TILE, _TILE = 32, 256
#: Batches begin small and grow while few features are kept.
_SMALLEST, _LARGEST = 32, 4096
#: Candidates of a batch that may be taken one by one before batches get smaller.
_BUSY = 12
#: Pairs that are compared at once sooner than one feature after the other.
_FEW = 2**11
#: Numbers that a batch of comparisons may hold.
_PAIRS = 2**22


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
    >>> from seqclass.selection._measures import CorrelationDependence
    >>> X = np.array([[1.0, 1.1], [2.0, 2.0], [3.0, 3.5], [4.0, 3.9], [5.0, 5.0]])
    >>> measure = CorrelationDependence(0.05, np.array([0, 0, 0, 1, 1]), None, 2)
    >>> columns, relevance = measure.prepare(X, 0)
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
        self._batch = _SMALLEST

    def __getstate__(self) -> dict[str, Any]:
        # tiles are made of the members
        return self.__dict__ | {"_tiles": []}

    def take(self, columns: Columns, numbers: IntArray, relevance: FloatArray) -> None:
        """Scan relevant features in order."""
        start = 0
        while start < len(columns):
            limit = _PAIRS // max(1, len(self.numbers))
            stop = min(len(columns), start + max(_SMALLEST, min(self._batch, limit)))
            part = slice(start, stop)
            batch = _Batch(self, columns.take(part), numbers[part], relevance[part])
            busy = batch.run()
            self._update(batch)
            if busy <= _BUSY:
                self._batch = min(2 * self._batch, _LARGEST)
            elif busy > 2 * _BUSY:
                self._batch = max(_SMALLEST, self._batch // 2)
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
            edges = [0, *range(_FIRST_TILE, len(self.numbers), _TILE), len(self.numbers)]
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
        self.scan.log.dropped(self.numbers[silent], self.scan.numbers[by], self.distance[silent, by])
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
            found = first < len(tile)
            self.first[pending[found]] = span.start + first[found]
            self.compared[pending[found]] = span.stop
            pending = pending[~found]
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
            scan.log.dropped(numbers[gone], np.full(len(gone), self.numbers[i]), distance[gone])
            if end < len(kept):
                scan.log.dropped(self.numbers[[i]], numbers[[end]], distance[[end]])
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
        if orphans.size * waiting.size <= _FEW:
            self._relate(orphans, waiting)
        if self.added:
            among = self.scan.dependence.pairs(self.columns.take(orphans), self.columns.take(self.added))
            for distance, column in zip(self.to_added, among.T):
                distance[orphans] = column

    def _relate(self, some: IntArray, others: IntArray) -> None:
        left = self.columns.take(some)
        right = left if some is others else self.columns.take(others)
        self.among.append((some, others, self.scan.dependence.pairs(left, right)))
