"""Linear support: the vectors of a stage found at the vertices of what is known of them so far."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.spatial import HalfspaceIntersection

from seqclass._arrays import BoolArray, FloatArray, chunks

_clock = time.perf_counter
#: Vertices that are looked at between two looks at the clock.
_BATCH = 4096
#: Gives the best vector at each of a batch of beliefs.
Plans = Callable[[FloatArray], FloatArray]


class Budget:
    """Vectors a stage and seconds that may be spent, and whether they are.

    Parameters
    ----------
    max_vectors : int
        Most vectors of a stage and context.
    max_seconds : float or None
        Seconds from now.

    Examples
    --------
    >>> budget = Budget(10, None)
    >>> budget.open(10), budget.open(11), budget.open(), budget.spent
    (True, False, False, True)
    """

    def __init__(self, max_vectors: int, max_seconds: float | None) -> None:
        self.max_vectors = max_vectors
        self.deadline = np.inf if max_seconds is None else _clock() + max_seconds
        self.spent = False

    def open(self, n_vectors: int = 0) -> bool:
        """Whether there is time left and ``n_vectors`` are allowed; once it is not, it never is again."""
        self.spent = self.spent or n_vectors > self.max_vectors or not self.in_time()
        return not self.spent

    def in_time(self) -> bool:
        """Whether there is time left."""
        return _clock() <= self.deadline


def values_of(belief: FloatArray, vectors: FloatArray) -> FloatArray:
    """Smallest product of each belief with one of many vectors, (n,).

    Examples
    --------
    >>> values_of(np.array([[0.3, 0.7]]), 1 - np.eye(2))
    array([0.3])
    """
    result = np.empty(len(belief))
    for part in chunks(len(belief), 8.0 * len(vectors), 2**21):
        result[part] = (belief[part] @ vectors.T).min(axis=1, initial=np.inf)
    return result


def distinct(vectors: FloatArray) -> FloatArray:
    """One of each group of equal vectors, in order of their first entries.

    Examples
    --------
    >>> distinct(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    array([[0., 1.],
           [1., 2.]])
    """
    return vectors[np.unique(vectors.round(14), axis=0, return_index=True)[1]]


def linear_support(vectors: FloatArray, stop: FloatArray, plans: Plans, tolerance: float, budget: Budget) -> FloatArray:
    """Complete the vectors of a stage, so that the lower envelope is the true value up to ``tolerance`` everywhere.

    The true value is concave and the envelope of some of its vectors is linear on each of its regions, so that the two
    differ most at a vertex of a region. Where they do, the best vector at that vertex is added.

    Parameters
    ----------
    vectors : ndarray of shape (m, n_classes)
        Vectors to start from.
    stop : ndarray of shape (n_decisions, n_classes)
        Vectors of stopping.
    plans : callable
        The best vector of going on at each of a batch of beliefs.
    tolerance : float
        Difference that may be left.
    budget : Budget
        Ends the search before it is complete; what has been found is returned.

    Returns
    -------
    ndarray of shape (m, n_classes)

    Raises
    ------
    scipy.spatial.QhullError
        If the vertices could not be computed.

    References
    ----------
    .. [1] H.-T. Cheng, "Algorithms for partially observable Markov decision processes", PhD thesis, University of
       British Columbia, 1988 (the linear support algorithm).

    Examples
    --------
    >>> likelihood = np.array([[0.9, 0.2, 0.1], [0.1, 0.8, 0.9]])
    >>> def plans(belief):
    ...     best = [(1 - np.eye(3))[np.argmax(belief * row, axis=1)] for row in likelihood]
    ...     return 0.1 + sum(row * vectors for row, vectors in zip(likelihood, best))
    >>> linear_support(np.empty((0, 3)), 1 - np.eye(3), plans, 1e-9, Budget(100, None)).round(3)
    array([[0.2, 0.3, 1.1],
           [0.2, 1.1, 0.2]])
    """
    for _ in range(2):
        vectors, corners = _complete(vectors, stop, plans, tolerance, budget)
        if budget.spent:
            break
        # ties at a vertex bring in vectors that win nowhere else; what is lost with them is found again
        useful = _useful(vectors, stop, corners, tolerance)
        if useful.all():
            break
        vectors = vectors[useful]
    return vectors


def _complete(
    vectors: FloatArray, stop: FloatArray, plans: Plans, tolerance: float, budget: Budget
) -> tuple[FloatArray, FloatArray]:
    seen: set[bytes] = set()
    corners = np.empty((0, stop.shape[1]))
    while budget.open(len(vectors)):
        known = np.vstack([stop, vectors])
        corners = vertices(known)
        # at a vertex that was looked at the best vector is there already
        new = np.array([row.tobytes() not in seen for row in corners.round(12) + 0.0])
        seen.update(row.tobytes() for row in corners[new].round(12) + 0.0)
        added = []
        for part in chunks(int(new.sum()), 1, _BATCH):
            belief = corners[new][part]
            found = plans(belief)
            better = np.einsum("nc,nc->n", found, belief) < values_of(belief, known) - tolerance
            added.append(found[better])
            if not budget.open():
                break
        if not any(len(found) for found in added):
            break
        vectors = distinct(np.vstack([vectors, *added]))
    return vectors, corners


def vertices(vectors: FloatArray) -> FloatArray:
    """Beliefs at the vertices of the regions in which one of the non-negative vectors is lowest, (n, n_classes).

    Examples
    --------
    >>> vertices(1 - np.eye(2)).round(3)
    array([[0. , 1. ],
           [0.5, 0.5],
           [1. , 0. ]])
    """
    n_classes = vectors.shape[1]
    scaled = vectors / max(float(vectors.max()), np.finfo(float).tiny)
    # the region below the envelope in the coordinates (b[1], ..., b[C - 1], value)
    below = np.column_stack([scaled[:, :1] - scaled[:, 1:], np.ones(len(scaled)), -scaled[:, 0]])
    sides = np.zeros((n_classes + 1, n_classes + 1))
    sides[: n_classes - 1, : n_classes - 1] = -np.eye(n_classes - 1)
    sides[n_classes - 1, : n_classes - 1], sides[n_classes - 1, -1] = 1, -1
    sides[n_classes, n_classes - 1], sides[n_classes, -1] = -1, -1
    inside = np.append(np.full(n_classes - 1, 1 / n_classes), -0.5)
    points = HalfspaceIntersection(np.vstack([below, sides]), inside).intersections[:, :-1]
    points = np.clip(points[np.isfinite(points).all(axis=1)], 0, 1)
    points = np.column_stack([np.maximum(1 - points.sum(axis=1), 0), points])
    return distinct(points / points.sum(axis=1, keepdims=True))


def _useful(vectors: FloatArray, stop: FloatArray, corners: FloatArray, tolerance: float) -> BoolArray:
    """Vectors that are lower than all others by more than ``tolerance`` somewhere, up to ties between vectors."""
    count = np.zeros(len(vectors))
    centre = np.zeros_like(vectors)
    known = np.vstack([stop, vectors])
    for part in chunks(len(corners), 8.0 * len(known), 2**21):
        scores = corners[part] @ known.T
        touches = scores <= scores.min(axis=1, keepdims=True) + 1e-12 * scores.max()
        touches = touches[:, len(stop) :].astype(np.float64)
        count += touches.sum(axis=0)
        centre += touches.T @ corners[part]
    rows = np.flatnonzero(count >= vectors.shape[1])
    useful = np.zeros(len(vectors), dtype=bool)
    if rows.size:
        centre = centre[rows] / count[rows, None]
        for part in chunks(len(rows), 8.0 * len(known), 2**21):
            scores = centre[part] @ known.T
            own = scores[np.arange(len(scores)), len(stop) + rows[part]]
            scores[np.arange(len(scores)), len(stop) + rows[part]] = np.inf
            # the advantage is concave on the region, so that at the centre it is at least the n-th part of the largest
            useful[rows[part]] = (scores.min(axis=1) - own) * count[rows[part]] > tolerance
    return useful
