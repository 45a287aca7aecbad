"""Rows that are alike in all columns, as one point with a weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray


class Points:
    """Rows that are told apart, and how many of each class each stands for; all rows unless half as many suffice.

    Attributes
    ----------
    table : ndarray of float32 of shape (n_points, n_classes)
        Rows of each class.
    weights : ndarray of int of shape (n_points,) or None
        Rows in all; None for one each.
    out : ndarray of int of shape (n_points,) or None
        Class of the row that is left out of the neighbourhoods of all rows of a point; None: each is left out of its
        own.

    Examples
    --------
    >>> alike = np.array([7, 7, 9, 7, 7], dtype=np.uint64)
    >>> points = Points.of(alike, np.array([0, 1, 1, 1, 1]), 2, first_out=True)
    >>> points.table.tolist(), points.out.tolist(), points.rows(slice(None)).tolist()
    ([[1.0, 3.0], [0.0, 1.0]], [0, 1], [0, 2])
    """

    def __init__(self, first: IntArray | None, table: npt.NDArray[np.float32], out: IntArray | None) -> None:
        self.first, self.table, self.out = first, table, out
        self.weights = None if first is None else table.sum(axis=1).astype(np.intp)

    @classmethod
    def of(cls, alike: npt.NDArray[np.uint64], codes: IntArray, n_classes: int, first_out: bool) -> Points:
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
    """Numbers that stand for the values of a column, and those of several columns when added up.

    Rows that are alike have equal sums; others differ but for one pair in 2^64, as the numbers are as good as random.

    Parameters
    ----------
    column : ndarray of shape (n,)
        The values.
    salt : int
        Tells columns apart.

    Examples
    --------
    >>> a, b = np.array([0.5, 0.5, 1.0, 0.0]), np.array([1.0, 1.0, 0.5, -0.0])
    >>> (keys(a, 1) + keys(b, 2) == (keys(a, 1) + keys(b, 2))[0]).tolist()
    [True, True, False, False]
    """
    # the finaliser of splitmix64; 0.0 and -0.0 are one
    z = (column + 0.0).view(np.uint64) + np.uint64(salt * 0x9E3779B97F4A7C15 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
