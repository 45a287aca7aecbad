"""Two classes: piecewise linear concave functions of the odds, merged piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp.alpha.vectors import AlphaSet


class Envelope(NamedTuple):
    """A piecewise linear concave function of a two-class belief, pieces in order of the odds ``b[1] / b[0]``.

    Attributes
    ----------
    vectors : ndarray of shape (m, 2)
        The vector that is lowest on each piece.
    starts : ndarray of shape (m,)
        Odds at which each piece begins, increasing from 0.

    Examples
    --------
    >>> import numpy as np
    >>> Envelope(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 1.0])).starts
    array([0., 1.])
    """

    vectors: FloatArray
    starts: FloatArray


class LineSet(AlphaSet):
    """Alpha vectors of two classes, found by bisection of the odds instead of by trying all.

    Parameters
    ----------
    parts : sequence of Envelope
        Pieces on which going on is best, one function a context; where stopping is best any piece serves.
    many : bool
        Whether there are several contexts.

    Examples
    --------
    >>> import numpy as np
    >>> LineSet([Envelope(1 - np.eye(2)[::-1], np.array([0.0, 1.0]))], False).value(np.array([[0.3, 0.7], [1.0, 0.0]]))
    array([0.7, 1. ])
    """

    def __init__(self, parts: Sequence[Envelope], many: bool) -> None:
        pointer = np.cumsum([0, *(len(part.starts) for part in parts)]) if many else None
        super().__init__(np.concatenate([part.vectors for part in parts]), pointer)
        self.starts = np.concatenate([part.starts for part in parts])

    def best(
        self,
        belief: FloatArray,
        context: IntArray | None = None,
        dtype: type[np.floating[Any]] = np.float64,
    ) -> tuple[FloatArray, FloatArray]:
        """Value of each belief and the vector that attains it; see `AlphaSet.best`."""
        value, vector = np.full(len(belief), np.inf), np.zeros_like(belief)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            odds = belief[:, 1] / belief[:, 0]
        pointer, number = self.pointer, context
        if pointer is None or number is None:
            pointer, number = np.array([0, len(self)]), np.zeros(len(belief), dtype=np.intp)
        for present in np.unique(number):
            rows, begin, end = number == present, pointer[present], pointer[present + 1]
            if end > begin:
                index = np.searchsorted(self.starts[begin:end], odds[rows], side="right") - 1
                chosen = self.vectors[begin:end][np.maximum(index, 0)]
                value[rows], vector[rows] = np.einsum("nc,nc->n", belief[rows], chosen), chosen
        return value, vector


def envelope_of(vectors: FloatArray) -> Envelope:
    """Lower envelope of a few vectors, (m, 2).

    Examples
    --------
    >>> envelope_of(np.array([[1.0, 0.0], [0.9, 0.9], [0.0, 1.0]])).vectors
    array([[0., 1.],
           [1., 0.]])
    """
    single = [Envelope(vector[None], np.zeros(1)) for vector in vectors]
    return reduce(lambda first, second: lower(first, second)[0], single)


def total(envelopes: Sequence[Envelope], likelihood: FloatArray, price: float) -> Envelope:
    """Price plus the sum over outcomes of the next stage's function at the unnormalised successors.

    Bayes's rule multiplies the odds, so the breakpoints of each outcome's function move by a factor; between two
    neighbours of all these breakpoints one vector serves.

    Parameters
    ----------
    envelopes : sequence of Envelope
        The next stage's function after each outcome.
    likelihood : ndarray of shape (n_outcomes, 2)
        P(outcome | class).
    price : float
        Price of the feature.

    Returns
    -------
    Envelope

    Examples
    --------
    >>> after = envelope_of(1 - np.eye(2))
    >>> total([after, after], np.array([[0.9, 0.2], [0.1, 0.8]]), 0.1).vectors.round(3)
    array([[0.1, 1.1],
           [0.2, 0.3],
           [1.1, 0.1]])
    """
    moved = []
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        for envelope, (first, second) in zip(envelopes, likelihood):
            ratio = float(first) / float(second) if second > 0 else np.inf
            # an outcome that one class never gives settles the odds whatever they were
            if ratio == 0:
                moved.append(np.zeros(len(envelope.starts) - 1))
            elif ratio == np.inf:
                moved.append(np.full(len(envelope.starts) - 1, np.inf))
            else:
                moved.append(envelope.starts[1:] * ratio)
    starts = np.unique(np.concatenate([np.zeros(1), *moved]))
    starts = starts[np.isfinite(starts)]
    vectors = np.full((len(starts), 2), float(price))
    for envelope, breaks, row in zip(envelopes, moved, likelihood):
        vectors += row * envelope.vectors[np.searchsorted(breaks, starts, side="right")]
    return Envelope(vectors, starts)


def lower(first: Envelope, second: Envelope) -> tuple[Envelope, BoolArray]:
    """Lower of two functions, and which of its pieces come from the second one; a tie goes to the first.

    Examples
    --------
    >>> stop = envelope_of(1 - np.eye(2))
    >>> both, second = lower(stop, envelope_of(np.array([[0.2, 0.3]])))
    >>> second, both.starts.round(3)
    (array([False,  True, False]), array([0.   , 0.286, 2.667]))
    """
    starts = np.union1d(first.starts, second.starts)
    difference = second.vectors[_piece(second, starts)] - first.vectors[_piece(first, starts)]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossing = -difference[:, 0] / difference[:, 1]
    inside = (crossing > starts) & (crossing < np.append(starts[1:], np.inf))
    starts = np.union1d(starts, crossing[inside])
    one, other = first.vectors[_piece(first, starts)], second.vectors[_piece(second, starts)]
    weight = _belief(_middle(starts))
    takes = np.einsum("nc,nc->n", other - one, weight) < 0
    vectors = np.where(takes[:, None], other, one)
    # neighbours with the same vector are one piece
    new = np.append(True, (vectors[1:] != vectors[:-1]).any(axis=1) | (takes[1:] != takes[:-1]))
    return Envelope(vectors[new], starts[new]), takes[new]


def thin(envelope: Envelope, tolerance: float) -> tuple[Envelope, IntArray]:
    """Leave out pieces as long as no value rises by more than ``tolerance``; also the numbers of those that stay.

    Of three neighbours without the middle one, the value rises most where the outer two cross. Every other piece is
    tried at a time, so that the neighbours of each stay.

    Examples
    --------
    >>> full = envelope_of(np.array([[0.0, 1.0], [0.4999, 0.4999], [1.0, 0.0]]))
    >>> len(thin(full, 1e-3)[1]), len(thin(full, 1e-6)[1])
    (2, 3)
    """
    vectors, starts = envelope.vectors, envelope.starts.copy()
    kept: IntArray = np.arange(len(vectors))
    begin, idle = 1, 0
    while idle < 2 and len(kept) > 2:
        middle = np.arange(begin, len(kept) - 1, 2)
        before, after = vectors[kept[middle - 1]], vectors[kept[middle + 1]]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            crossing = (after[:, 0] - before[:, 0]) / (before[:, 1] - after[:, 1])
        crossing = np.clip(np.nan_to_num(crossing, nan=0.0), starts[middle], starts[middle + 1])
        belief = _belief(crossing)
        outer = np.maximum(np.einsum("nc,nc->n", before, belief), np.einsum("nc,nc->n", after, belief))
        rise = outer - np.einsum("nc,nc->n", vectors[_piece(envelope, crossing)], belief)
        out = rise <= tolerance
        starts[middle[out] + 1] = crossing[out]
        kept, starts = np.delete(kept, middle[out]), np.delete(starts, middle[out])
        idle = 0 if out.any() else idle + 1
        begin = 3 - begin
    return Envelope(vectors[kept], starts), kept


def _piece(envelope: Envelope, odds: FloatArray) -> IntArray:
    return np.asarray(np.searchsorted(envelope.starts, odds, side="right") - 1)


def _belief(odds: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", over="ignore"):
        return np.stack([1 / (1 + odds), 1 / (1 + 1 / odds)], axis=1)


def _middle(starts: FloatArray) -> FloatArray:
    """Odds inside each piece."""
    last = 2 * starts[-1] + 1
    return np.asarray(starts + np.append(np.diff(starts), last - starts[-1]) / 2)
