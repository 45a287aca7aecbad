"""The temperature of naive Bayes that predicts held-out rows best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass._information import contingency_table
from seqclass.bn._checks import Codes, resolve_prior
from seqclass.bn._ranking import rank
from seqclass.bn._tables import smooth, temper
from seqclass.bn.ordering import information_scores

#: Numbers of features after which the posterior is judged: those at which a sequential classifier stops.
PREFIXES = (1, 2, 3, 5, 8, 13, 21)
#: Largest temperature considered.
LARGEST = 32.0
#: Held-out rows that are scored, over all folds; more would not settle one number any better.
MAX_ROWS = 20_000
#: Smallest probability that is scored, so that an impossible outcome costs much but not everything.
_TINY = 1e-300


class HeldOut(NamedTuple):
    """A fold: the model of the other folds, and the rows to score it on."""

    table: FloatArray
    """P(outcome | class) of the most informative features in order, (n_prefix, V_max, n_classes)."""
    prior: FloatArray
    """Class prior, (n_classes,)."""
    outcomes: IntArray
    """Held-out outcomes of those features, (n_prefix, n_rows), -1 where missing."""
    codes: IntArray
    """True classes, (n_rows,)."""
    weight: FloatArray
    """Weights of the rows, (n_rows,)."""


def fit_temperature(
    X: Codes,
    codes: IntArray,
    weight: FloatArray | None,
    counts: FloatArray,
    n_outcomes: IntArray,
    *,
    alpha: float,
    prior: Any,
    cv: int,
    rng: np.random.Generator,
) -> float:
    """Find the temperature of least held-out log loss, averaged over the prefixes of the information order.

    Parameters
    ----------
    X : discretised matrix of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        Classes.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.
    counts : ndarray of shape (n_features, V_max, n_classes)
        Contingency table of all rows; that of a training fold is this less the held-out rows'.
    n_outcomes : ndarray of shape (n_features,)
    alpha, prior, cv
        As in ``NaiveBayes``.
    rng : numpy.random.Generator
        Draws the folds.

    Returns
    -------
    float
        Between 1 and 32; 1 where no class has two rows, so that nothing can be held out.

    Examples
    --------
    Ten copies of a feature: one of them says it all.

    >>> codes = np.repeat([0, 1], 50)
    >>> column = np.where(np.arange(100) % 5 == 0, 1 - codes, codes)
    >>> X = np.repeat(column[:, None], 10, axis=1)
    >>> counts, n_outcomes = contingency_table(X, codes, 2, np.full(10, 2)), np.full(10, 2)
    >>> rng = np.random.default_rng(0)
    >>> T = fit_temperature(X, codes, None, counts, n_outcomes, alpha=1.0, prior=None, cv=5, rng=rng)
    >>> T > 2
    True
    """
    weights = np.ones(len(codes)) if weight is None else weight
    folds = stratified_folds(codes, counts.shape[2], cv, rng)
    parts = []
    for fold in range(cv):
        rows = np.flatnonzero((folds == fold) & (weights > 0))
        if len(rows):
            training = _without(counts, X, codes, weights, rows, n_outcomes)
            kept = np.delete(np.arange(len(codes)), rows)
            class_count = np.bincount(codes[kept], weights[kept], counts.shape[2]).astype(np.float64)
            if len(rows) > MAX_ROWS // cv:
                rows = np.sort(rng.choice(rows, MAX_ROWS // cv, replace=False))
            parts.append(
                _hold_out(X, codes, weights, rows, training, n_outcomes, alpha, resolve_prior(prior, class_count))
            )
    return _minimise(parts) if parts else 1.0


def stratified_folds(codes: IntArray, n_classes: int, cv: int, rng: np.random.Generator) -> IntArray:
    """Spread the rows of each class over the folds; the row of a class that has only one is in none (-1).

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 0, 0, 1]), 2, 2, np.random.default_rng(0))[4]
    np.int64(-1)
    """
    folds = np.full(len(codes), -1)
    offset = 0
    for c in range(n_classes):
        rows = rng.permutation(np.flatnonzero(codes == c))
        if len(rows) > 1:
            folds[rows] = (offset + np.arange(len(rows))) % cv
            offset += len(rows)
    return folds


def _without(
    counts: FloatArray, X: Codes, codes: IntArray, weights: FloatArray, rows: IntArray, n_outcomes: IntArray
) -> FloatArray:
    held_out = contingency_table(X[rows], codes[rows], counts.shape[2], n_outcomes, weights[rows])
    np.subtract(counts, held_out, out=held_out)
    return np.maximum(held_out, 0.0, out=held_out)


def _hold_out(
    X: Codes,
    codes: IntArray,
    weights: FloatArray,
    rows: IntArray,
    training: FloatArray,
    n_outcomes: IntArray,
    alpha: float,
    prior: FloatArray,
) -> HeldOut:
    scores = np.empty(len(training))
    for cols in chunks(len(training), 8.0 * 8 * training[:1].size):
        scores[cols] = information_scores(smooth(training[cols], n_outcomes[cols], alpha), prior)
    best = rank(-scores)[: max(PREFIXES)]
    table = smooth(training[best], n_outcomes[best], alpha)
    outcomes = X[rows][:, best]
    if sparse.issparse(outcomes):
        outcomes = outcomes.toarray()
    return HeldOut(
        np.maximum(table, _TINY),
        np.maximum(prior, _TINY),
        np.ascontiguousarray(outcomes.T).astype(np.intp),
        codes[rows],
        weights[rows],
    )


def _loss(part: HeldOut, temperature: float) -> float:
    """Weighted log loss, the mean over prefixes."""
    table = np.log(temper(part.table, part.prior, temperature)).transpose(0, 2, 1)
    # the last level is what a missing outcome (-1) picks
    levels = np.concatenate([table, np.zeros_like(table[:, :, :1])], axis=2)
    joint = np.repeat(np.log(part.prior)[:, None], len(part.codes), axis=1)
    losses = []
    for k, (level, outcome) in enumerate(zip(levels, part.outcomes), start=1):
        joint += level[:, outcome]
        if k in PREFIXES:
            largest = joint.max(axis=0)
            evidence = largest + np.log(np.exp(joint - largest).sum(axis=0))
            truth = joint[part.codes, np.arange(len(part.codes))]
            losses.append(part.weight @ (evidence - truth))
    return float(np.mean(losses))


def _minimise(parts: list[HeldOut]) -> float:
    """Search a grid of log T, and again between the neighbours of the best, four times."""
    low, high = 0.0, float(np.log(LARGEST))
    best = 0.0
    for _ in range(4):
        grid = np.linspace(low, high, 9)
        losses = [sum(_loss(part, float(np.exp(t))) for part in parts) for t in grid]
        at = int(np.argmin(losses))
        best, low, high = float(grid[at]), float(grid[max(at - 1, 0)]), float(grid[min(at + 1, 8)])
    return float(np.exp(best))
