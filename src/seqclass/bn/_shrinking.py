"""Tables of classes in contexts from counts, each drawn to what is shared as strongly as the counts themselves say."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from seqclass._arrays import BoolArray, FloatArray, IntArray

#: Rows that what is shared may count for; the last is all but certain of it.
_ROWS = (2.0, 8.0, 32.0, 128.0, 1e6)
#: Rows that a shared mean may count for.
_MEAN_ROWS = (0.5, 2.0, 8.0, 32.0, 128.0, 1e6)
#: Rows that a shared variance counts for.
_SPREAD_ROWS = 10.0
#: Smallest variance, in squared widths of bins or of normal scores.
_LEAST = 0.02
#: Smallest parameter of a Dirichlet distribution, so that what is shared rules nothing out.
_TINY = 1e-12


def shrunk(
    counts: FloatArray, bases: Iterable[tuple[FloatArray, FloatArray]], rows: Iterable[float] = _ROWS
) -> FloatArray:
    """Tables drawn to one of some bases, with the strength that makes the counts of all classes most probable.

    In each feature and context the base and its strength a are those of greatest Dirichlet-multinomial likelihood; then
    P(v | class, context) = (S_v + a base_v) / (S + a).

    Parameters
    ----------
    counts : ndarray of shape (n_features, V, n_contexts, n_classes)
    bases : iterable of (FloatArray, FloatArray), each to be broadcast to the shape of counts
        What the counts are scored by, and what the tables are drawn to.
    rows : iterable of float
        Strengths to choose from.

    Returns
    -------
    ndarray of shape (n_features, V, n_contexts, n_classes)

    Examples
    --------
    >>> counts, half = np.array([[30.0, 3.0], [3.0, 30.0]]).reshape(1, 2, 1, 2), np.full((1, 2, 1, 1), 0.5)
    >>> shrunk(counts, [(half, half)])[0, :, 0].round(2)
    array([[0.89, 0.11],
           [0.11, 0.89]])
    """
    total = counts.sum(axis=1)
    best = np.full(total.shape[:2], -np.inf)
    result = np.empty(counts.shape)
    for scored, target in bases:
        for a in rows:
            prior = np.maximum(a * scored, _TINY)
            fit = (gammaln(a) - gammaln(a + total)).sum(axis=2)
            fit += np.where(counts > 0, gammaln(prior + counts) - gammaln(prior), 0.0).sum(axis=(1, 3))
            better = (fit > best)[:, None, :, None]
            best = np.maximum(best, fit)
            np.copyto(result, (counts + a * target) / (total + a)[:, None], where=better)
    return result


def count_tables(counts: FloatArray, n_outcomes: IntArray, alpha: float) -> FloatArray:
    """Tables from counts, drawn to those of the context in all classes or of the class in all contexts.

    Parameters
    ----------
    counts : ndarray of shape (n_features, V, n_contexts, n_classes)
    n_outcomes : ndarray of int of shape (n_features,)
    alpha : float
        Pseudo-count of every outcome in what is shared.

    Returns
    -------
    ndarray of shape (n_features, V, n_contexts, n_classes)

    Examples
    --------
    >>> counts = np.array([[8.0, 0.0], [0.0, 8.0]]).reshape(1, 2, 1, 2)
    >>> count_tables(counts, np.array([2]), 1.0)[0, :, 0].round(1)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    real = (np.arange(counts.shape[1]) < n_outcomes[:, None])[:, :, None, None]
    in_context = _normalised(counts.sum(axis=3, keepdims=True) + alpha * real)
    bases = [(in_context, in_context)]
    if counts.shape[2] > 1:
        of_class = counts.sum(axis=2, keepdims=True)
        # a context is held against the others alone: its own rows would speak for themselves
        bases.append((_normalised(of_class - counts + alpha * real), _normalised(of_class + alpha * real)))
    return shrunk(counts, bases)


def normal_tables(counts: FloatArray, edges: FloatArray, centres: FloatArray) -> FloatArray:
    """Probabilities of the bins of normal distributions, whose means and variances are drawn to what is shared.

    Means are drawn to that of the context in all classes or of the class in all contexts: to the one, and as strongly
    as, makes the means of the cells most probable. Variances are drawn to that of the context and of the feature.

    Parameters
    ----------
    counts : ndarray of shape (n_features, V, n_contexts, n_classes)
    edges : ndarray of shape (n_features, V + 1)
        Between which each outcome lies, infinite at the ends.
    centres : ndarray of shape (n_features, V)
        What the rows of an outcome count as.

    Returns
    -------
    ndarray of shape (n_features, V, n_contexts, n_classes)

    Examples
    --------
    >>> counts = np.array([10.0, 20.0, 10.0]).reshape(1, 3, 1, 1)
    >>> normal_tables(counts, np.array([[-np.inf, 1, 2, np.inf]]), np.array([[0.5, 1.5, 2.5]])).ravel().round(2)
    array([0.24, 0.52, 0.24])
    """
    n = counts.sum(axis=1)
    sums = np.einsum("jvzc,jv->jzc", counts, centres)
    squares = np.einsum("jvzc,jv->jzc", counts, centres**2)
    mean = _over(sums, n)
    within = np.maximum(squares - sums * mean, 0.0)
    mean = _shrunk_means(n, sums, _pooled(within, np.maximum(n - 1, 0.0)))
    # about the means in use
    within = np.maximum(squares - 2 * mean * sums + n * mean**2, 0.0)
    shared = _pooled(within, n)[:, :, None]
    variance = (within + _SPREAD_ROWS * shared) / (n + _SPREAD_ROWS)
    deviation = np.sqrt(np.maximum(variance, _LEAST))
    below = ndtr((edges[:, :, None, None] - mean[:, None]) / deviation[:, None])
    return np.asarray(np.diff(below, axis=1))


def _pooled(within: FloatArray, n: FloatArray) -> FloatArray:
    """Variance of a feature in each context, (n_features, n_contexts), drawn to that in all contexts."""
    overall = _over(within.sum(axis=(1, 2)), n.sum(axis=(1, 2)))[:, None]
    pooled = (within.sum(axis=2) + _SPREAD_ROWS * overall) / (n.sum(axis=2) + _SPREAD_ROWS)
    return np.asarray(np.maximum(pooled, _LEAST))


def _shrunk_means(n: FloatArray, sums: FloatArray, variance: FloatArray) -> FloatArray:
    """Means of the cells, (n_features, n_contexts, n_classes)."""
    mean, result = _over(sums, n), np.zeros(sums.shape)
    best = np.full(variance.shape, -np.inf)
    seen, spread = n > 0, variance[:, :, None]
    of_class, n_class = sums.sum(axis=1, keepdims=True), n.sum(axis=1, keepdims=True)
    in_context = _over(sums.sum(axis=2), n.sum(axis=2))[:, :, None]
    for by_class in (False, True) if n.shape[1] > 1 else (False,):
        for k in _MEAN_ROWS:
            noise = _over(spread, n) + spread / k
            if by_class:  # against the other contexts alone
                n_others = n_class - n
                others = np.where(n_others > 0, _over(of_class - sums, n_others), in_context)
                noise = noise + spread / np.maximum(n_others, 1.0)
                target, lost = np.broadcast_to(_over(of_class, n_class), n.shape), 0.0
            else:
                share = np.where(seen, 1 / noise, 0.0)
                others = target = _over((share * mean).sum(axis=2), share.sum(axis=2))[:, :, None]
                lost = np.log(np.maximum(share.sum(axis=2), _TINY)) / 2  # what estimating the target takes
            fit = -np.where(seen, np.log(noise) + (mean - others) ** 2 / noise, 0.0).sum(axis=2) / 2 - lost
            better = (fit > best)[:, :, None]
            best = np.maximum(best, fit)
            np.copyto(result, (sums + k * target) / (n + k), where=better)
    return result


def scale(counts: FloatArray, n_outcomes: IntArray, atom: BoolArray, *, rank: bool) -> tuple[FloatArray, FloatArray]:
    """Where outcomes lie on a scale: bins of width one, or normal scores of their ranks.

    Parameters
    ----------
    counts : ndarray of shape (n_features, V)
        Rows of each outcome.
    n_outcomes : ndarray of int of shape (n_features,)
    atom : ndarray of bool of shape (n_features,)
        Whether outcome 0 is a value by itself, and so not on the scale.
    rank : bool
        Whether to take normal scores.

    Returns
    -------
    edges : ndarray of shape (n_features, V + 1)
    centres : ndarray of shape (n_features, V)

    Examples
    --------
    >>> edges, centres = scale(np.array([[5.0, 10.0, 5.0]]), np.array([3]), np.array([False]), rank=False)
    >>> edges, centres
    (array([[-inf,   1.,   2.,  inf]]), array([[0.5, 1.5, 2.5]]))
    """
    place = np.arange(counts.shape[1] + 1.0)
    lowest, highest = atom.astype(float)[:, None], n_outcomes[:, None]
    if not rank:
        edges = np.where(place <= lowest, -np.inf, np.where(place >= highest, np.inf, place))
        return edges, np.broadcast_to(place[:-1] + 0.5, counts.shape)
    # half a row each: no edge is infinitely far
    rows = np.where((place[:-1] >= lowest) & (place[:-1] < highest), counts + 0.5, 0.0)
    below = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1) / rows.sum(axis=1)[:, None]
    edges = np.where(place <= lowest, -np.inf, np.where(place >= highest, np.inf, ndtri(np.clip(below, 0, 1))))
    # the mean of a normal score in its bin
    density = np.where(np.isfinite(edges), np.exp(-(np.where(np.isfinite(edges), edges, 0.0) ** 2) / 2), 0.0)
    return edges, _over((density[:, :-1] - density[:, 1:]) / np.sqrt(2 * np.pi), np.diff(below, axis=1))


def _over(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Quotient; by zero, zero of what is zero and else something large."""
    return np.asarray(top / np.maximum(bottom, _TINY))


def _normalised(counts: FloatArray) -> FloatArray:
    return _over(counts, counts.sum(axis=1, keepdims=True))
