"""Dependency of the class on a set of columns, by the neighbourhoods of the rows in these columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass.selection._nearest_rows import NearestRows
from seqclass.selection._neighbourhoods import Neighbourhood, reach
from seqclass.selection._points import Points, keys

#: Distances that are worked on at a time.
_CELLS = 2**17
#: Rows up to which several columns are looked at together, and from which nearest rows are listed.
_FEW, _MANY = 256, 512
#: Share of what is taken off a squared distance below which the rest is rounding.
_REST = 1e-13
_ALL = slice(None)
#: Radii are compared with this allowance for rounding.
_SLACK = 1 + 1e-12


class Dependency:
    """Mean over rows of the share of neighbours that are of the row's class, in columns that are added and dropped.

    The squared distances in the columns held are kept as one matrix, to which a column's share is added or taken off,
    as long as it takes no more than ``max_bytes``; else they are made from the columns, block by block. Rows that are
    alike in all columns count as one point with a weight where there are many of them.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Classes.
    n_classes : int
        Number of classes.
    rule : Neighbourhood
        Where a neighbourhood ends.
    max_bytes : float
        Most bytes of the matrix.
    first_out : bool
        Whether the first of the rows that are alike is left out of the neighbourhoods of all of them, instead of each
        out of its own.

    Attributes
    ----------
    columns : list of ndarray of shape (n,)
        The columns held.

    Examples
    --------
    >>> from seqclass.selection._neighbourhoods import Density
    >>> held = Dependency(np.array([0, 0, 1, 1]), 2, Density(), 1e9, False)
    >>> told, noise = np.array([0.0, 1.0, 5.0, 6.0]), np.array([0.0, 2.0, 1.0, 3.5])
    >>> held.of(told[:, None]), held.of(noise[:, None]).round(3)
    (array([1.]), array([0.292]))
    >>> held.add(told)
    >>> held.of(noise[:, None])
    array([0.5])
    """

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
        """Number of columns that `of` looks at together."""
        n = len(self.codes)
        return max(1, _CELLS // n**2) if n <= _FEW else 1

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

    def of(self, X: FloatArray, floor: float = -np.inf, enough: float = np.inf) -> FloatArray:
        """Dependency on the columns held and one more, for each of some.

        Parameters
        ----------
        X : ndarray of shape (n, m)
            The columns.
        floor, enough : float
            As soon as it is seen that the dependency is below ``floor``, it is given as -inf; as soon as it is seen to
            be above ``enough``, as something between that and what it is.
        """
        if self.at_once > 1:
            starts = range(0, X.shape[1], self.at_once)
            return np.concatenate([self._together(X[:, s : s + self.at_once]) for s in starts])
        return np.array([self._alone(x, _Sum(len(x), floor, enough)) for x in X.T])

    def without(self, members: Sequence[int], column: FloatArray, floor: float = -np.inf) -> float:
        """Dependency on the columns held but for some, and one more; -inf where it is seen to be below ``floor``."""
        if len(column) <= _FEW:
            squares = self._squares(_ALL, _ALL, members) + _share(column, _ALL, _ALL)
            return float(self._means(squares[None])[0])
        points = Points.of(self._alike(column, members), self.codes, self.n_classes, self.first_out)
        return self._over(points, column, _Sum(len(column), floor, np.inf), members)

    def __getstate__(self) -> dict[str, Any]:
        # what can be made from the columns need not be in a file
        return {**self.__dict__, "_matrix": None, "_nearest": None, "_asked": 0}

    def _forget(self) -> None:
        """What was made from the columns holds no longer."""
        self._matrix, self._nearest, self._asked = None, None, 0

    def _alike(self, x: FloatArray, members: Sequence[int] = ()) -> npt.NDArray[np.uint64]:
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
        near = squares <= radius * _SLACK
        same = np.count_nonzero(near & (self.codes[:, None] == self.codes), axis=2)
        out = np.argmin(squares, axis=2) if self.first_out else np.arange(n)
        shares = (same - (self.codes[out] == self.codes)) / (np.count_nonzero(near, axis=2) - 1)
        return np.asarray(shares.mean(axis=1))

    def _alone(self, x: FloatArray, total: _Sum) -> float:
        """Of many rows: first by the lists of the nearest ones, and where these do not tell, by all."""
        points = Points.of(self._alike(x), self.codes, self.n_classes, self.first_out)
        lists = self._lists(x) if points.weights is None else None
        which = None
        if lists is not None:
            blocks = _blocks(lists.index.shape[1], len(x))
            shares, known = lists.shares(self.rule, x, self.codes, points.out, blocks)
            total.take(float(shares[known].sum()), int(known.sum()))
            which = np.flatnonzero(~known)
        return self._over(points, x, total, which=which)

    def _lists(self, x: FloatArray) -> NearestRows | None:
        """Nearest rows by the columns held, from the second column on that is asked about; by ``x`` if none is held."""
        if len(x) < _MANY:
            return None
        if not self.columns:
            return NearestRows.by_one(x, 2 * NearestRows.LISTED)
        self._asked += 1
        if self._nearest is None and self._asked > 1:
            blocks = _blocks(len(x))
            self._nearest = NearestRows.by_blocks(
                len(x), NearestRows.LISTED, blocks, lambda rows: self._squares(rows, _ALL)
            )
        return self._nearest

    def _over(
        self, points: Points, x: FloatArray, total: _Sum, members: Sequence[int] = (), which: IntArray | None = None
    ) -> float:
        """Add up the shares of some points, by default of all, in the columns but for some members and with ``x``."""
        for part in _blocks(len(points), len(points) if which is None else len(which)):
            if total.settled:
                break
            some = part if which is None else which[part]
            rows, others = points.rows(some), points.rows(_ALL)
            squares = self._squares(rows, others, members) + _share(x, rows, others)
            near = squares <= reach(self.rule, squares, points.weights)[:, None] * _SLACK
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
            cut[cut < _REST * less] = 0.0
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
    def settled(self) -> bool:
        """Whether the mean is known to be below ``floor`` or above ``enough``."""
        return self.total + self.left < self.floor * self.n or self.total > self.enough * self.n

    @property
    def mean(self) -> float:
        """The mean, or -inf if it is below ``floor``."""
        return -np.inf if self.total + self.left < self.floor * self.n else self.total / self.n


def _blocks(width: int, height: int | None = None) -> Iterator[slice]:
    """Slices of rows of which a block of so many columns holds few cells."""
    height, step = width if height is None else height, max(1, _CELLS // width)
    return (slice(start, min(start + step, height)) for start in range(0, height, step))


def _share(column: FloatArray, rows: Any, others: Any) -> FloatArray:
    """What a column adds to the squared distances."""
    made = column[rows][:, None] - column[others]
    made *= made
    return np.asarray(made)
