"""How far the neighbourhood of a row reaches, by the distances of the other rows alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray

#: Nearest rows that are looked at first, where there are at least so many rows.
_NEAR, _SHORT = 48, 400
#: Relative differences of distances that are rounding.
_ROUNDING = 1e-9


class Neighbourhood(ABC):
    """Rule of a neighbourhood: from the nearest row on, until the next one is too far.

    Distances ``d`` are those of a row (a line each), from its own, 0, upward. ``ranks`` are the numbers of other rows
    up to each, so that a place may stand for several rows that are alike.
    """

    #: Whether all ranks are needed; else only those of the row's own place are given.
    ranked = True

    @abstractmethod
    def joined(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> BoolArray:
        """Whether each place but the first belongs to the neighbourhood if the one before does."""

    def limit(self, d: FloatArray, ranks: IntArray, farthest: FloatArray) -> FloatArray | None:
        """What `joined` needs of the whole row, given its largest distance."""
        return None

    def last(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> IntArray:
        """Last place of each row's neighbourhood; the last there is where no step ends it."""
        joined = self.joined(d, ranks, limit)
        return np.asarray(np.where(joined.all(axis=1), joined.shape[1], np.argmin(joined, axis=1)))


class Gap(Neighbourhood):
    """Ends before a step of 1.5 times the mean step from the nearest to the farthest row, or more.

    Where all others are equally far away, all of them belong to it.

    Examples
    --------
    >>> d, ranks = np.array([[0.0, 1.0, 1.1, 1.3, 4.0]]), np.arange(5)[None]
    >>> Gap(5).last(d, ranks, Gap(5).limit(d, ranks, d[:, -1]))
    array([3])
    """

    ranked = False

    def __init__(self, n: int) -> None:
        self.n = n

    def limit(self, d: FloatArray, ranks: IntArray, farthest: FloatArray) -> FloatArray:
        """Length of the step that ends it, which is more than rounding."""
        nearest = np.where(ranks[:, 0] > 0, 0.0, d[:, min(1, d.shape[1] - 1)])
        limit = 1.5 * (farthest - nearest) / max(self.n - 2, 1)
        return np.maximum(limit * (1 - _ROUNDING), _ROUNDING * farthest)

    def joined(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> BoolArray:
        """The step is shorter than the limit, or goes to the nearest row."""
        assert limit is not None
        joined = np.diff(d, axis=1) < limit[:, None]
        joined[:, 0] |= ranks[:, 0] == 0
        return joined


class Density(Neighbourhood):
    """Goes on as long as distance over rank does not grow; rows at distance 0 always belong to it.

    Examples
    --------
    >>> d, ranks = np.array([[0.0, 1.0, 1.1, 2.0, 2.1]]), np.arange(5)[None]
    >>> Density().last(d, ranks, None)
    array([2])
    """

    def joined(self, d: FloatArray, ranks: IntArray, limit: FloatArray | None) -> BoolArray:
        """Compare d / rank without dividing; the nearest row, and ties, come out by themselves."""
        before = ranks[:, :-1]
        return np.asarray(d[:, 1:] * before <= d[:, :-1] * (before + 1) * (1 + _ROUNDING))


def reach(rule: Neighbourhood, squares: FloatArray, weights: IntArray | None = None) -> FloatArray:
    """Squared distance that each row's neighbourhood reaches, from those of all rows.

    Parameters
    ----------
    rule : Neighbourhood
        Where it ends.
    squares : ndarray of shape (p, m)
        Squared distances, the row's own among them.
    weights : ndarray of int of shape (m,), optional
        Number of rows that each place stands for; by default one each.

    Examples
    --------
    >>> reach(Density(), np.array([[4.0, 0.0, 1.0, 1.21]]))
    array([1.21])
    """
    if weights is not None and not rule.ranked:
        own = weights[np.argmin(squares, axis=1)] - 1
        return _reach_of_all(rule, np.sort(squares, axis=1), own[:, None])
    if weights is not None:
        order = np.argsort(squares, axis=1)
        ranks = np.cumsum(weights[order], axis=1) - 1
        return _reach_of_all(rule, np.take_along_axis(squares, order, axis=1), ranks)
    m = squares.shape[1]
    if m < _SHORT:
        return _reach_of_all(rule, np.sort(squares, axis=1), np.arange(m)[None])
    # most neighbourhoods are small
    near = np.partition(squares, _NEAR, axis=1)[:, :_NEAR]
    farthest = squares.max(axis=1)
    found, known = reach_of_lists(rule, near, np.full(len(squares), np.inf), (farthest, farthest))
    if not known.all():
        found[~known] = _reach_of_all(rule, np.sort(squares[~known], axis=1), np.arange(m)[None])
    return found


def _reach_of_all(rule: Neighbourhood, squares: FloatArray, ranks: IntArray) -> FloatArray:
    """Of distances that are sorted."""
    if squares.shape[1] == 1:
        return np.asarray(squares[:, 0])
    d = np.sqrt(squares)
    return np.asarray(taken(squares, rule.last(d, ranks, rule.limit(d, ranks, d[:, -1]))))


def reach_of_lists(
    rule: Neighbourhood, squares: FloatArray, beyond: FloatArray, farthest: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, BoolArray]:
    """As `reach`, from the nearest rows alone, and whether these suffice.

    Parameters
    ----------
    rule : Neighbourhood
        Where it ends.
    squares : ndarray of shape (p, m)
        Squared distances of some rows, the row's own among them.
    beyond : ndarray of shape (p,)
        Squared distance that all other rows have at least.
    farthest : tuple of ndarray of shape (p,)
        Bounds of the squared distance of the farthest row.

    Examples
    --------
    >>> near = np.array([[0.0, 1.0, 1.21, 4.0]])
    >>> reach_of_lists(Density(), near, np.array([9.0]), (np.array([16.0]), np.array([16.0])))
    (array([1.21]), array([ True]))
    """
    squares = np.sort(squares, axis=1)
    d, ranks = np.sqrt(squares), np.arange(squares.shape[1])[None]
    low = rule.last(d, ranks, rule.limit(d, ranks, np.sqrt(farthest[0])))
    high = low
    if farthest[0] is not farthest[1]:
        high = rule.last(d, ranks, rule.limit(d, ranks, np.sqrt(farthest[1])))
    # the step that ends it must be known whole: what is not in the list lies beyond
    known = low < squares.shape[1] - 1
    end = taken(squares, np.minimum(low + 1, squares.shape[1] - 1))
    return taken(squares, low), known & (low == high) & (end <= beyond)


def taken(values: Any, places: IntArray) -> Any:
    """One value of each row."""
    return values[np.arange(len(values)), places]
