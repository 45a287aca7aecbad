"""Dependency of the class on a set of columns, by the neighbourhoods of the rows in these columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import CACHE_BYTES, TIE, BoolArray, FloatArray, IntArray, as_generator, chunks, mix_bits
from seqclass._utils.model_files import register
from seqclass._utils.validation import check_real
from seqclass.selection._base import FeatureStream
from seqclass.selection._dependence import TOLERANCE, moderate


@dataclass(frozen=True)
class NeighbourTuning:
    """How neighbours are found, and what is rounding."""

    n_nearest: int = 32  #: rows that are looked at first, and that are listed of each
    min_nearest_rows: int = 400  #: rows from which on they are
    distance_tie: float = 1e-9  #: relative difference of distances that is rounding


TUNING = NeighbourTuning()


class Neighbourhood(ABC):
    """Rule of a neighbourhood: from the nearest row on, until the next one is too far."""

    #: Whether all ranks are needed; else only those of the row's own place are given.
    ranked = True

    @abstractmethod
    def joins(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> BoolArray:
        """Whether each place but the first belongs to the neighbourhood if the one before does."""

    def limit(self, d: FloatArray, ranks: IntArray, farthest: FloatArray) -> FloatArray | None:
        """What `joins` needs of the whole row, given its largest distance."""
        return None

    def last(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> IntArray:
        """Last place of each row's neighbourhood; the last there is where no step ends it."""
        joined = self.joins(d, ranks, limit)
        return np.asarray(np.where(joined.all(axis=1), joined.shape[1], np.argmin(joined, axis=1)))


@register
class Gap(Neighbourhood):
    """Ends before a step of 1.5 times the mean step from the nearest to the farthest row, or more."""

    ranked = False

    def __init__(self, n: int) -> None:
        self.n = n

    def limit(self, d: FloatArray, ranks: IntArray, farthest: FloatArray) -> FloatArray:
        """Length of the step that ends it, which is more than rounding."""
        nearest = np.where(ranks[:, 0] > 0, 0.0, d[:, min(1, d.shape[1] - 1)])
        limit = 1.5 * (farthest - nearest) / max(self.n - 2, 1)
        return np.maximum(limit * (1 - TUNING.distance_tie), TUNING.distance_tie * farthest)

    def joins(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> BoolArray:
        """The step is shorter than the limit, or goes to the nearest row."""
        assert limit is not None
        joined = np.diff(d, axis=1) < limit[:, None]
        joined[:, 0] |= ranks[:, 0] == 0
        return joined


@register
class Density(Neighbourhood):
    """Goes on as long as distance over rank does not grow; rows at distance 0 always belong to it."""

    def joins(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> BoolArray:
        """Compare d / rank without dividing; the nearest row, and ties, come out by themselves."""
        before = ranks[:, :-1]
        return np.asarray(d[:, 1:] * before <= d[:, :-1] * (before + 1) * (1 + TUNING.distance_tie))


def reach(rule: Neighbourhood, squares: FloatArray, weights: IntArray | None = None) -> FloatArray:
    """Squared distance that each row's neighbourhood reaches, from those of all rows."""
    if weights is not None and not rule.ranked:
        own = weights[np.argmin(squares, axis=1)] - 1
        return _reach_of_all(rule, np.sort(squares, axis=1), own[:, None])
    if weights is not None:
        order = np.argsort(squares, axis=1)
        ranks = np.cumsum(weights[order], axis=1) - 1
        return _reach_of_all(rule, np.take_along_axis(squares, order, axis=1), ranks)
    m = squares.shape[1]
    if m < TUNING.min_nearest_rows:
        return _reach_of_all(rule, np.sort(squares, axis=1), np.arange(m)[None])
    # most neighbourhoods are small
    near = np.partition(squares, TUNING.n_nearest, axis=1)[:, : TUNING.n_nearest]
    farthest = squares.max(axis=1)
    reached, known = reach_of_lists(rule, near, np.full(len(squares), np.inf), (farthest, farthest))
    if not known.all():
        reached[~known] = _reach_of_all(rule, np.sort(squares[~known], axis=1), np.arange(m)[None])
    return reached


def _reach_of_all(rule: Neighbourhood, squares: FloatArray, ranks: IntArray) -> FloatArray:
    """Of distances that are sorted."""
    if squares.shape[1] == 1:
        return np.asarray(squares[:, 0])
    d = np.sqrt(squares)
    return np.asarray(take_one(squares, rule.last(d, ranks, rule.limit(d, ranks, d[:, -1]))))


def reach_of_lists(
    rule: Neighbourhood, squares: FloatArray, beyond: FloatArray, farthest: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, BoolArray]:
    """As `reach`, from the nearest rows alone, and whether these suffice."""
    squares = np.sort(squares, axis=1)
    d, ranks = np.sqrt(squares), np.arange(squares.shape[1])[None]
    low = rule.last(d, ranks, rule.limit(d, ranks, np.sqrt(farthest[0])))
    high = low
    if farthest[0] is not farthest[1]:
        high = rule.last(d, ranks, rule.limit(d, ranks, np.sqrt(farthest[1])))
    # the step that ends it must be known whole: what is not in the list lies beyond
    known = low < squares.shape[1] - 1
    end = take_one(squares, np.minimum(low + 1, squares.shape[1] - 1))
    return take_one(squares, low), known & (low == high) & (end <= beyond)


def take_one(values: Any, places: IntArray) -> Any:
    """One value of each row."""
    return values[np.arange(len(values)), places]


class DistinctRows:
    """Rows that are told apart, and how many of each class each stands for; all rows unless half as many suffice."""

    def __init__(self, first: IntArray | None, table: npt.NDArray[np.float32], out: IntArray | None) -> None:
        self.first, self.table, self.out = first, table, out
        self.weights = None if first is None else table.sum(axis=1).astype(np.intp)

    @classmethod
    def from_keys(cls, alike: npt.NDArray[np.uint64], codes: IntArray, n_classes: int, first_out: bool) -> DistinctRows:
        """Points of rows that have equal numbers if they are alike."""
        n = len(alike)
        _, first, point = np.unique(alike, return_index=True, return_inverse=True)
        if 2 * len(first) > n:
            table = (codes[:, None] == np.arange(n_classes)).astype(np.float32)
            return cls(None, table, codes[first[point]] if first_out else None)
        counts = np.bincount(point * n_classes + codes, minlength=len(first) * n_classes)
        table = counts.reshape(-1, n_classes).astype(np.float32)
        return cls(first, table, codes[first] if first_out else None)

    def __len__(self) -> int:
        return len(self.table)

    def rows(self, some: Any) -> Any:
        """Rows that stand for some of the points."""
        return some if self.first is None else self.first[some]

    def none(self, some: Any) -> Any:
        """How many rows of each class are no neighbours of the rows of that class at some points."""
        if self.out is None:
            return 1
        return self.out[some][:, None] == np.arange(self.table.shape[1])


def keys(column: FloatArray, salt: int) -> npt.NDArray[np.uint64]:
    """Numbers that stand for the values of a column, and those of several columns when added up."""
    # 0.0 and -0.0 are one
    return mix_bits((column + 0.0).view(np.uint64) + np.uint64((salt - 1) * 0x9E3779B97F4A7C15 % 2**64))


@dataclass(frozen=True)
class NearestRows:
    """Rows that are near to each row by the columns held; another column leaves the others no nearer than they are."""

    index: IntArray
    squares: FloatArray
    beyond: FloatArray
    farthest: FloatArray

    @staticmethod
    def by_one(x: FloatArray, m: int) -> NearestRows:
        """List rows by a column that is yet to be added: those beside each one when all are sorted."""
        order = np.argsort(x, kind="stable")
        n, place = len(x), np.arange(len(x))
        m = min(m, n)
        start = np.clip(place - m // 2, 0, n - m)
        stop, sorted_x = start + m, x[order]
        left = np.where(start > 0, x[order] - sorted_x[start - 1], np.inf)
        right = np.where(stop < n, sorted_x[np.minimum(stop, n - 1)] - sorted_x, np.inf)
        index, beyond = np.empty((n, m), dtype=np.intp), np.empty(n)
        index[order] = order[start[:, None] + np.arange(m)]
        beyond[order] = np.minimum(left, right) ** 2
        return NearestRows(index, np.zeros((n, m)), beyond, np.zeros(n))

    @staticmethod
    def by_blocks(n: int, m: int, blocks: Iterator[slice], squares: Callable[[slice], FloatArray]) -> NearestRows:
        """List rows by squared distances that are given block by block."""
        m = min(m, n)
        made = NearestRows(np.empty((n, m), dtype=np.intp), np.empty((n, m)), np.empty(n), np.empty(n))
        for rows in blocks:
            block = squares(rows)
            near = np.argpartition(block, m - 1, axis=1)[:, :m]
            made.index[rows], made.squares[rows] = near, np.take_along_axis(block, near, axis=1)
            made.beyond[rows] = made.squares[rows].max(axis=1)
            made.farthest[rows] = block.max(axis=1)
        return made

    def shares(
        self, rule: Neighbourhood, x: FloatArray, codes: IntArray, out: IntArray | None, blocks: Iterator[slice]
    ) -> tuple[FloatArray, BoolArray]:
        """Share of each row's neighbours that are of its class, with one more column, and whether the lists tell."""
        shares, known = np.empty(len(x)), np.empty(len(x), dtype=bool)
        none = np.ones(len(x), dtype=np.intp) if out is None else (out == codes).astype(np.intp)
        ends = x.min(), x.max()
        for rows in blocks:
            index = self.index[rows]
            squares = self.squares[rows] + (x[rows, None] - x[index]) ** 2
            added = np.maximum(x[rows] - ends[0], ends[1] - x[rows]) ** 2
            farthest = np.maximum(self.farthest[rows], added), self.farthest[rows] + added
            radius, known[rows] = reach_of_lists(rule, squares, self.beyond[rows], farthest)
            near = squares <= radius[:, None]
            same = (near & (codes[index] == codes[rows, None])).sum(axis=1) - none[rows]
            shares[rows] = same / np.maximum(near.sum(axis=1) - 1, 1)
        return shares, known


_ALL = slice(None)


@register
class Dependency:
    """Mean over rows of the share of neighbours that are of the row's class, in columns that are added and dropped."""

    def __init__(self, codes: IntArray, n_classes: int, rule: Neighbourhood, max_bytes: float, first_out: bool) -> None:
        self.codes, self.rule, self.max_bytes, self.first_out = codes, rule, max_bytes, first_out
        self.n_classes = n_classes
        self.columns: list[FloatArray] = []
        #: Numbers of the values of each column.
        self._keys: list[npt.NDArray[np.uint64]] = []
        self._n_added = 0
        #: Made from the columns: squared distances, nearest rows; and how often it was asked since.
        self._matrix: FloatArray | None = None
        self._nearest: NearestRows | None = None
        self._asked = 0

    @property
    def at_once(self) -> int:
        """Number of columns that `with_column` looks at together."""
        return max(1, CACHE_BYTES // (16 * len(self.codes) ** 2))

    def add(self, column: FloatArray) -> None:
        """Hold a column more."""
        self.columns.append(column)
        self._n_added += 1
        self._keys.append(keys(column, self._n_added))
        matrix = self._matrix
        self._forget()
        if matrix is not None:
            for rows in _blocks(len(column)):
                matrix[rows] += _share(column, rows, _ALL)
            self._matrix = matrix

    def drop(self, members: Sequence[int]) -> None:
        """Hold some columns no longer."""
        kept = [j for j in range(len(self.columns)) if j not in members]
        self.columns, self._keys = [self.columns[j] for j in kept], [self._keys[j] for j in kept]
        # taken off one after the other they would leave their rounding behind
        self._forget()

    def with_column(self, X: FloatArray, floor: float = -np.inf, enough: float = np.inf) -> FloatArray:
        """Dependency on the columns held and one more, for each of some."""
        if self.at_once > 1:
            starts = range(0, X.shape[1], self.at_once)
            return np.concatenate([self._together(X[:, s : s + self.at_once]) for s in starts])
        return np.array([self._with_one(x, _Sum(len(x), floor, enough)) for x in X.T])

    def without_members(self, members: Sequence[int], column: FloatArray, floor: float = -np.inf) -> float:
        """Dependency on the columns held but for some, and one more; -inf where it is seen to be below ``floor``."""
        if self.at_once > 1:
            squares = self._squares(_ALL, _ALL, members) + _share(column, _ALL, _ALL)
            return float(self._means(squares[None])[0])
        points = DistinctRows.from_keys(self._row_keys(column, members), self.codes, self.n_classes, self.first_out)
        return self._sum_shares(points, column, _Sum(len(column), floor, np.inf), members, None)

    def __getstate__(self) -> dict[str, Any]:
        # what can be made from the columns need not be in a file
        return {**self.__dict__, "_matrix": None, "_nearest": None, "_asked": 0}

    def _forget(self) -> None:
        """What was made from the columns holds no longer."""
        self._matrix, self._nearest, self._asked = None, None, 0

    def _row_keys(self, x: FloatArray, members: Sequence[int] = ()) -> npt.NDArray[np.uint64]:
        """Numbers that are equal for rows that are alike in the columns but for some members and in ``x``."""
        made = keys(x, 0)
        for j, column_keys in enumerate(self._keys):
            if j not in members:
                made = made + column_keys
        return made

    def _together(self, X: FloatArray) -> FloatArray:
        """Of few rows: several columns together."""
        squares = (X.T[:, :, None] - X.T[:, None, :]) ** 2
        if self.columns:
            squares += self._squares(_ALL, _ALL)
        return self._means(squares)

    def _means(self, squares: FloatArray) -> FloatArray:
        """Dependencies by whole matrices of squared distances, of shape (m, n, n)."""
        m, n, _ = squares.shape
        radius = reach(self.rule, squares.reshape(m * n, n)).reshape(m, n, 1)
        near = squares <= radius * (1 + TIE)
        same = np.count_nonzero(near & (self.codes[:, None] == self.codes), axis=2)
        out = np.argmin(squares, axis=2) if self.first_out else np.arange(n)
        shares = (same - (self.codes[out] == self.codes)) / (np.count_nonzero(near, axis=2) - 1)
        return np.asarray(shares.mean(axis=1))

    def _with_one(self, x: FloatArray, total: _Sum) -> float:
        """Of many rows: first by the lists of the nearest ones, and where these do not tell, by all."""
        points = DistinctRows.from_keys(self._row_keys(x), self.codes, self.n_classes, self.first_out)
        lists = self._lists(x) if points.weights is None else None
        which = None
        if lists is not None:
            blocks = _blocks(lists.index.shape[1], len(x))
            shares, known = lists.shares(self.rule, x, self.codes, points.out, blocks)
            total.take(float(shares[known].sum()), int(known.sum()))
            which = np.flatnonzero(~known)
        return self._sum_shares(points, x, total, (), which)

    def _lists(self, x: FloatArray) -> NearestRows | None:
        """Nearest rows by the columns held, from the second column on that is asked about; by ``x`` if none is held."""
        if len(x) < TUNING.min_nearest_rows:
            return None
        if not self.columns:
            return NearestRows.by_one(x, 2 * TUNING.n_nearest)
        self._asked += 1
        if self._nearest is None and self._asked > 1:
            blocks = _blocks(len(x))
            self._nearest = NearestRows.by_blocks(
                len(x), TUNING.n_nearest, blocks, lambda rows: self._squares(rows, _ALL)
            )
        return self._nearest

    def _sum_shares(
        self, points: DistinctRows, x: FloatArray, total: _Sum, members: Sequence[int], which: IntArray | None
    ) -> float:
        """Add up the shares of some points, or of all, in the columns but for some members and with ``x``."""
        for part in _blocks(len(points), len(points) if which is None else len(which)):
            if total.is_settled:
                break
            some = part if which is None else which[part]
            rows, others = points.rows(some), points.rows(_ALL)
            squares = self._squares(rows, others, members) + _share(x, rows, others)
            near = squares <= reach(self.rule, squares, points.weights)[:, None] * (1 + TIE)
            counts = (near.astype(np.float32) @ points.table).astype(np.float64)
            shares = (counts - points.none(some)) / (counts.sum(axis=1) - 1)[:, None]
            total.take(float((points.table[some] * shares).sum()), int(points.table[some].sum()))
        return total.mean

    def _squares(self, rows: Any, others: Any, members: Sequence[int] = ()) -> FloatArray:
        """Squared distances of some rows to others in the columns but for some members."""
        n = len(self.codes)
        if len(self.columns) - len(members) <= len(members) + 1 or 8 * n * n > self.max_bytes:
            left = [column for j, column in enumerate(self.columns) if j not in members]
            made = np.zeros((len(self.codes[rows]), len(self.codes[others])))
            for column in left:
                made += _share(column, rows, others)
            return made
        if self._matrix is None:
            self._matrix = np.zeros((n, n))
            for block in _blocks(n):
                for column in self.columns:
                    self._matrix[block] += _share(column, block, _ALL)
        cut: FloatArray = self._matrix[rows][:, others]
        if members:
            less = sum(_share(self.columns[j], rows, others) for j in members)
            cut = cut - less
            cut[cut < TIE * less] = 0.0  # the rest is rounding
        return cut


class _Sum:
    """Sum of shares of rows, and whether more of them could change what is asked."""

    def __init__(self, n: int, floor: float, enough: float) -> None:
        self.n, self.floor, self.enough = n, floor, enough
        self.total, self.left = 0.0, n

    def take(self, shares: float, n_rows: int) -> None:
        """Add the shares of some rows."""
        self.total += shares
        self.left -= n_rows

    @property
    def is_settled(self) -> bool:
        """Whether the mean is known to be below ``floor`` or above ``enough``."""
        return self.total + self.left < self.floor * self.n or self.total > self.enough * self.n

    @property
    def mean(self) -> float:
        """The mean, or -inf if it is below ``floor``."""
        return -np.inf if self.total + self.left < self.floor * self.n else self.total / self.n


def _blocks(width: int, height: int | None = None) -> Iterator[slice]:
    """Slices of rows of which a block of so many columns holds few cells."""
    height, step = width if height is None else height, max(1, CACHE_BYTES // (16 * width))
    return (slice(start, min(start + step, height)) for start in range(0, height, step))


def _share(column: FloatArray, rows: Any, others: Any) -> FloatArray:
    """What a column adds to the squared distances."""
    made = column[rows][:, None] - column[others]
    made *= made
    return np.asarray(made)


@dataclass(repr=False, eq=False)
class RoughSetStream(FeatureStream):
    """Base of the streams that keep a column if the class depends on it and on the set with it."""

    _accepts_sparse = True
    _min_rows = 2

    published: bool = False
    max_bytes: float = 2**30
    random_state: Any = None

    @property
    def dependency_(self) -> float:
        """Dependency of the class on the features kept, which new ones are held against."""
        if not hasattr(self, "_dependency"):
            raise AttributeError("dependency_ is there after fit or partial_fit_features.")
        return self._dependency

    @abstractmethod
    def _rule(self, n: int) -> Neighbourhood:
        """Where a neighbourhood ends."""

    @abstractmethod
    def _single_dependency(self, X: FloatArray) -> FloatArray:
        """Dependency on each column alone, as far as `_relevant` needs it."""

    @abstractmethod
    def _relevant(self, own: FloatArray) -> Any:
        """Whether columns of such own dependencies are looked at."""

    @abstractmethod
    def _least_dependency(self) -> float:
        """Dependency on the set with a column from which on the column is kept, though it adds nothing."""

    @abstractmethod
    def _redundant(self, without: float, dependency: float) -> bool:
        """Whether a column is dropped without which the dependency is as told."""

    def _prune(self, column: FloatArray, dependency: float, order: IntArray) -> tuple[list[int] | None, float]:
        """Which of the kept columns a new one, with which the dependency is no higher, makes redundant."""
        gone: list[int] = []
        for member in order.tolist():
            without = self._held.without_members([*gone, member], column, floor=dependency - TOLERANCE)
            if self._redundant(without, dependency):
                gone.append(member)
                dependency = without
        return gone, dependency

    def _follow(self) -> None:
        """Bring up to date what new columns must reach."""

    def _begin(self, codes: IntArray) -> None:
        max_bytes = check_real(self.max_bytes, "max_bytes", 0)
        self._seed = int(as_generator(self.random_state).integers(2**62))
        rule = self._rule(len(codes))
        self._single = Dependency(codes, len(self.classes_), rule, 0, self.published)
        self._held = Dependency(codes, len(self.classes_), rule, max_bytes, self.published)
        self._dependency, self._width = 0.0, 1
        #: Numbers of the features kept, and the dependency on each alone.
        self._selected: list[int] = []
        self._dependencies: list[float] = []

    def _absorb(self, X: Any) -> None:
        for start, columns in _scale_columns(X):
            first = self.n_seen_ + start
            known = np.flatnonzero(~np.isnan(columns[0]))
            step = self._single.at_once
            for at in range(0, len(known), step):
                some = known[at : at + step]
                self._decide(columns[:, some], first + some)
        self.selected_ = np.array(self._selected, dtype=np.intp)

    def _decide(self, X: FloatArray, numbers: IntArray) -> None:
        """Take some columns in order; those in a row that change nothing are looked at together."""
        own, at = self._single_dependency(X), 0
        while at < len(numbers):
            some = at + np.flatnonzero(self._relevant(own[at:]))[: self._width]
            if not some.size:
                break
            # beside nothing, a dependency above 0 is enough
            least = self._least_dependency() if self._selected else 2 * TOLERANCE
            dependency = self._held.with_column(X[:, some], floor=least)
            changes = np.flatnonzero(dependency >= least)
            if not changes.size:
                at, self._width = int(some[-1]) + 1, min(2 * self._width, self._held.at_once)
                continue
            j = int(some[changes[0]])
            self._keep(X[:, j].copy(), int(numbers[j]), float(own[j]), float(dependency[changes[0]]))
            at, self._width = j + 1, max(1, int(changes[0]))

    def _keep(self, column: FloatArray, number: int, own: float, dependency: float) -> None:
        """Keep a column, unless it lowers the dependency, and drop what it makes redundant."""
        gone: list[int] | None = []
        if dependency > self._dependency + TOLERANCE:
            self._dependency = dependency
        else:
            generator = np.random.default_rng([self._seed, number])
            gone, _ = self._prune(column, dependency, generator.permutation(len(self._selected)))
        if gone is None and not self.published:
            return
        if gone:
            self._held.drop(gone)
            self._selected = [k for j, k in enumerate(self._selected) if j not in gone]
            self._dependencies = [d for j, d in enumerate(self._dependencies) if j not in gone]
        self._held.add(column)
        self._selected.append(number)
        self._dependencies.append(own)
        if gone is not None:
            self._follow()


def _scale_columns(X: Any) -> Iterator[tuple[int, FloatArray]]:
    """Columns in standard deviations from their means, some at a time; NaN for constant ones, which have none."""
    n, m = X.shape
    for columns in chunks(m, 64.0 * n):
        part = X[:, columns]
        made = moderate((part.toarray() if sp.issparse(part) else part).astype(np.float64))
        squares = np.einsum("ij,ij->j", made, made)
        made = made - made.mean(axis=0)
        spread = np.einsum("ij,ij->j", made, made)
        constant = spread <= 1e-26 * squares
        yield columns.start, np.asfortranarray(made / np.sqrt(np.where(constant, np.nan, spread / n)))
