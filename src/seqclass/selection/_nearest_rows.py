"""Lists of the rows nearest to each row: most neighbourhoods are known from these alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.selection._neighbourhoods import Neighbourhood, reach_of_lists


@dataclass(frozen=True)
class NearestRows:
    """Rows that are near to each row by the columns held; another column leaves the others no nearer than they are.

    Attributes
    ----------
    index : ndarray of int of shape (n, m)
        The rows, the row itself among them.
    squares : ndarray of shape (n, m)
        Their squared distances.
    beyond : ndarray of shape (n,)
        What the squared distances of the other rows are at least.
    farthest : ndarray of shape (n,)
        Squared distance of the farthest row.

    Examples
    --------
    >>> x = np.array([0.0, 3.0, 1.0, 9.0])
    >>> near = NearestRows.by_one(x, 3)
    >>> near.index.tolist(), near.beyond.tolist()
    ([[0, 2, 1], [2, 1, 3], [0, 2, 1], [2, 1, 3]], [81.0, 9.0, 64.0, 81.0])
    """

    index: IntArray
    squares: FloatArray
    beyond: FloatArray
    farthest: FloatArray

    #: Rows that are listed of each.
    LISTED: ClassVar[int] = 32

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
        """Share of each row's neighbours that are of its class, with one more column, and whether the lists tell.

        The row itself is left out of its neighbourhood, or one of the class in ``out``.
        """
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
