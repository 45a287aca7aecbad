"""Incremental pruning: cross-sums of alpha vectors, pruned by dominance and linear programs as they grow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog

from seqclass._arrays import BoolArray, FloatArray, chunks
from seqclass.pomdp.solvers.exact._vertices import Budget, distinct, values_of

#: Sums of two sets that are looked at one by one; more of them spend the budget.
_MAX_SUMS = 2_000_000
#: HiGHS works to this precision at best.
_PROGRAM_TOLERANCE = 1e-10


def pruned_sum(
    sets: Sequence[FloatArray], price: float, stop: FloatArray, points: FloatArray, tolerance: float, budget: Budget
) -> FloatArray:
    """Vectors of ``price`` plus one vector of each set that are lowest somewhere, stopping included.

    The sets are added one at a time and pruned after each (Zhang and Liu; Cassandra, Littman and Zhang).

    Parameters
    ----------
    sets : sequence of ndarray of shape (n_v, n_classes)
        One set an outcome: the next stage's vectors times the likelihood of the outcome.
    price : float
        Price of the feature.
    stop : ndarray of shape (n_decisions, n_classes)
        Vectors of stopping.
    points : ndarray of shape (n, n_classes)
        Beliefs at which winners are sought first; each winner found there saves a linear program.
    tolerance : float
        How much the value may rise anywhere.
    budget : Budget
        Ends the search before it is complete: only winners at ``points`` are then kept.

    Returns
    -------
    ndarray of shape (m, n_classes)

    References
    ----------
    .. [1] A. Cassandra, M. L. Littman and N. L. Zhang, "Incremental pruning: a simple, fast, exact method for
       partially observable Markov decision processes", UAI 1997.
    .. [2] N. L. Zhang and W. Liu, "Planning in stochastic domains: problem characteristics and approximation", 1996.

    Examples
    --------
    >>> likelihood = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> stop = 1 - np.eye(2)
    >>> sets = [row * stop for row in likelihood]
    >>> pruned_sum(sets, 0.1, stop, np.eye(2), 1e-9, Budget(100, None)).round(3)
    array([[0.2, 0.3]])
    """
    result = np.full((1, stop.shape[1]), float(price))
    # whatever the outcomes still to be added cost, it is no less than this
    rest = np.sum([vectors.min(axis=0) for vectors in sets], axis=0)
    for vectors in sorted(sets, key=len):
        vectors = distinct(vectors)
        rest = np.maximum(rest - vectors.min(axis=0), 0)
        # no sum is of use where even so it is not below stopping
        result = _add(result, vectors, stop - rest, points, tolerance / len(sets), budget)
        if not len(result):
            break
    return result


def _add(
    first: FloatArray, second: FloatArray, rival: FloatArray, points: FloatArray, tolerance: float, budget: Budget
) -> FloatArray:
    kept = _winners(first, second, rival, points)
    if not budget.open(len(kept)):
        return kept
    if len(first) * len(second) > _MAX_SUMS:
        budget.spent = True
        return kept
    sums = (first[:, None] + second[None]).reshape(-1, first.shape[1])
    sums = sums[~_dominated(sums, np.vstack([rival, kept]), tolerance)]
    while len(sums) and budget.open(len(kept)):
        belief = _witness(sums[0], np.vstack([rival, kept]), tolerance)
        if belief is None:
            sums = sums[1:]
            continue
        best = _winners(first, second, rival, belief[None])
        if not len(best) or (np.abs(kept - best).max(axis=1, initial=0) < 1e-15).any():
            # the program's precision is worse than the tolerance: nothing is gained there
            sums = sums[1:]
            continue
        kept = np.vstack([kept, best])
        sums = sums[~_dominated(sums, best, tolerance)]
    return kept


def _winners(first: FloatArray, second: FloatArray, rival: FloatArray, points: FloatArray) -> FloatArray:
    """Best sum at each point where it is below the rivals; the best of a sum is the sum of the bests."""
    parts = []
    for part in chunks(len(points), 8.0 * (len(first) + len(second)), 2**22):
        rows = points[part]
        sums = first[(rows @ first.T).argmin(axis=1)] + second[(rows @ second.T).argmin(axis=1)]
        parts.append(sums[np.einsum("nc,nc->n", sums, rows) < values_of(rows, rival)])
    return distinct(np.concatenate(parts)) if parts else np.empty((0, first.shape[1]))


def _dominated(vectors: FloatArray, by: FloatArray, tolerance: float) -> BoolArray:
    """Vectors no entry of which is below that of some other by more than ``tolerance``."""
    result = np.zeros(len(vectors), dtype=bool)
    for part in chunks(len(vectors), 8.0 * by.size, 2**23):
        no_better = vectors[part, None] >= by[None] - tolerance
        result[part] = np.any(np.all(no_better, axis=2), axis=1)
    return result


def _witness(vector: FloatArray, others: FloatArray, tolerance: float) -> FloatArray | None:
    """Belief at which a vector is lower than the others by most, None if by no more than ``tolerance``."""
    n_classes = vector.size
    scale = max(float(np.abs(others - vector).max()), np.finfo(float).tiny)
    # maximise the advantage: (vector - other) @ belief + advantage <= 0
    table = np.column_stack([(vector - others) / scale, np.ones(len(others))])
    result = linprog(
        np.append(np.zeros(n_classes), -1.0),
        A_ub=table,
        b_ub=np.zeros(len(others)),
        A_eq=np.append(np.ones(n_classes), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n_classes + [(None, None)],
        method="highs",
        options={
            "primal_feasibility_tolerance": _PROGRAM_TOLERANCE,
            "dual_feasibility_tolerance": _PROGRAM_TOLERANCE,
            "presolve": False,
        },
    )
    if result.x is None:
        return None
    belief = np.maximum(result.x[:-1], 0)
    belief /= belief.sum()
    if np.min((others - vector) @ belief) <= tolerance:
        return None
    return np.asarray(belief)
