"""How many components suit the classes: as many as predict held-out rows best, but for chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from seqclass._arrays import FloatArray, IntArray
from seqclass.bn._checks import Codes
from seqclass.bn._components import Settings, fit_components
from seqclass.bn._design import Design
from seqclass.bn._em import MIN_ROWS
from seqclass.bn._temperature import stratified_folds

#: Numbers of components that are tried, from below.
CANDIDATES = (1, 2, 4, 8, 16, 32)
#: Folds that are held out in turn, and the most rows that are looked at.
FOLDS, MOST_ROWS = 3, 10_000
#: Smallest probability that is scored.
_TINY = 1e-300


def choose_components(
    X: Codes,
    codes: IntArray,
    weight: FloatArray,
    n_outcomes: IntArray,
    n_classes: int,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[int, dict[int, float]]:
    """Choose by the held-out likelihood of rows given their class: the fewest within a standard error of the best.

    The likelihood is that of all features and not of the class: it tells structure from noise at far fewer rows, and of
    a class's posterior after all features, which is close to certain, what can be told is not what decides after a few.

    Parameters
    ----------
    X : ndarray or CSR matrix of int of shape (n, n_features)
    codes : ndarray of int of shape (n,)
        Class of each row.
    weight : ndarray of shape (n,)
    n_outcomes : ndarray of int of shape (n_features,)
    n_classes : int
    settings : Settings
    rng : numpy generator

    Returns
    -------
    n_components : int
        The same for all classes.
    scores : dict of int to float
        Mean log-likelihood of a held-out row, in nats, of each number that was tried; once it is clearly falling no more
        are.

    Examples
    --------
    >>> kind = np.arange(200) % 2
    >>> X = np.repeat(kind[:, None], 6, axis=1)
    >>> settings = Settings(1.0, 0.5, 1, 100, 1e-6)
    >>> rng = np.random.default_rng(0)
    >>> choose_components(X, np.zeros(200, dtype=int), np.ones(200), np.full(6, 2), 1, settings, rng)[0]
    2
    """
    settings = replace(settings, n_bags=1)
    if len(codes) > MOST_ROWS:
        some = np.sort(rng.choice(len(codes), MOST_ROWS, replace=False))
        X, codes, weight = X[some], codes[some], weight[some]
    folds, seed = stratified_folds(codes, n_classes, FOLDS, rng), rng.integers(2**63)
    scored = np.flatnonzero((folds >= 0) & (weight > 0))
    heaviest = np.bincount(codes, weight, n_classes).max() * (FOLDS - 1) / FOLDS
    found: dict[int, FloatArray] = {}
    share = weight[scored] / weight[scored].sum() if scored.size else weight[:0]
    best = 1
    for n in CANDIDATES:
        if not scored.size or (found and n >= 2 * max(1, heaviest // MIN_ROWS)):
            break  # all classes have had as many as they may have
        found[n] = _held_out(X, codes, weight, n_outcomes, np.full(n_classes, n), settings, folds, seed)[scored]
        above, error = _difference(found[n], found[best], share, weight[scored])
        if above > 0:
            best = n
        elif above < -error:
            break
    for n, score in found.items():
        above, error = _difference(found[best], score, share, weight[scored])
        if above <= error:
            return n, {m: float(share @ s) for m, s in found.items()}
    return best, {}


def _difference(one: FloatArray, other: FloatArray, share: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Mean difference of two scores, and its standard error."""
    difference = one - other
    mean = float(share @ difference)
    return mean, float(np.sqrt(share @ (difference - mean) ** 2 / weight.sum()))


def _held_out(
    X: Codes,
    codes: IntArray,
    weight: FloatArray,
    n_outcomes: IntArray,
    sizes: IntArray,
    settings: Settings,
    folds: IntArray,
    seed: int,
) -> FloatArray:
    """Log-likelihood of each row given its class, by mixtures of the other folds; 0 of rows in none."""
    result = np.zeros(len(codes))
    for fold in range(FOLDS):
        kept, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        rng = np.random.default_rng(seed)
        states = fit_components(X[kept], codes[kept], weight[kept], n_outcomes, sizes, settings, rng)
        for c in range(len(sizes)):
            own, rows = states.classes == c, held[codes[held] == c]
            if rows.size:
                result[rows] = row_likelihoods(X[rows], states.weights[own], states.tables[:, :, own])
    return result


def row_likelihoods(codes: Codes, weights: FloatArray, tables: FloatArray) -> FloatArray:
    """Logarithm of P(row) in a mixture, (n,).

    Parameters
    ----------
    codes : ndarray or CSR matrix of int of shape (n, n_features)
    weights : ndarray of shape (n_components,)
    tables : ndarray of shape (n_features, V_max, n_components)

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> np.exp(row_likelihoods(np.array([[0], [1], [-1]]), np.ones(1), np.array([[[0.25], [0.75]]]))).round(2)
    array([0.25, 0.75, 1.  ])
    """
    design, logs = Design(codes, tables.shape[1]), np.log(np.maximum(tables, _TINY))
    zero = logs[:, 0]
    columns = np.concatenate([logs[design.feature, design.level] - zero[design.feature], -zero[design.missing]])
    joint = design.times(columns) + zero.sum(axis=0) + np.log(weights)
    return np.asarray(logsumexp(joint, axis=1))
