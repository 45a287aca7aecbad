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
from seqclass.bn._folds import stratified_folds

#: Numbers of components that are tried, from below.
CANDIDATES = (1, 2, 4, 8, 16, 32, 64)
#: Folds that are held out in turn, and the most rows that are looked at.
FOLDS, MOST_ROWS = 3, 5_000
#: So many candidates in a row that are clearly worse than the best end the search.
_PATIENCE = 2
#: Smallest probability that is scored.
TINY = 1e-300


def rows_looked_at(n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Some of n rows, by a stream apart: the rows themselves may have been drawn by that of the same seed."""
    return np.sort(np.random.default_rng(rng.integers(2**63)).choice(n, most, replace=False))


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

    One, where what was chosen tells the classes worse than one does by more than a standard error: then what it has
    found in the rows has no bearing on the class. The likelihood of the class alone is too noisy on few rows.

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
        Mean log-likelihood of a held-out row given its class, in nats, of each number that was tried; after two in a
        row that are clearly worse no more are.

    Examples
    --------
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 50)
    >>> settings, rng = Settings(1.0, 0.5, 1, 100, 1e-6), np.random.default_rng(0)
    >>> choose_components(X, np.array([0, 0, 1, 1] * 50), np.ones(200), np.full(2, 2), 2, settings, rng)[0]
    2
    """
    settings = replace(settings, n_bags=1)
    if len(codes) > MOST_ROWS:
        some = rows_looked_at(len(codes), MOST_ROWS, rng)
        X, codes, weight = X[some], codes[some], weight[some]
    folds, seed = stratified_folds(codes, n_classes, FOLDS, rng), int(rng.integers(2**63))
    scored = np.flatnonzero((folds >= 0) & (weight > 0))
    whole = weight
    heaviest = np.bincount(codes, weight, n_classes).max() * (FOLDS - 1) / FOLDS
    found: dict[int, FloatArray] = {}
    weight, best, worse = weight[scored], 1, 0
    for n in CANDIDATES:
        if not scored.size or (found and n >= 2 * max(1, heaviest // MIN_ROWS)):
            break  # all classes have had as many as they may have
        found[n] = _held_out(X, codes, whole, n_outcomes, np.full(n_classes, n), settings, folds, seed)[:, scored]
        above, error = difference(found[n][0], found[best][0], weight)
        best = n if above > 0 else best
        worse = worse + 1 if above < -error else 0
        if worse == _PATIENCE:
            break
    return _fewest(found, best, weight), {
        n: float(np.average(score, weights=weight)) for n, (score, _) in found.items()
    }


def _fewest(found: dict[int, FloatArray], best: int, weight: FloatArray) -> int:
    """Choose among those that were tried."""
    for n, (rows, classes) in found.items():
        above, error = difference(found[best][0], rows, weight)
        if above <= error:
            better, error = difference(found[1][1], classes, weight)
            return 1 if better > error else n
    return best


def difference(one: FloatArray, other: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Mean difference of two scores of weighted rows, and its standard error."""
    difference = one - other
    mean = float(np.average(difference, weights=weight))
    return mean, float(np.sqrt(np.average((difference - mean) ** 2, weights=weight) / weight.sum()))


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
    """Log-likelihoods of each row given its class, and of its class, by the other folds, (2, n); 0 of rows in none."""
    result, n_classes = np.zeros((2, len(codes))), len(sizes)
    for fold in range(FOLDS):
        kept, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        rng = np.random.default_rng(seed)
        states = fit_components(X[kept], codes[kept], weight[kept], n_outcomes, sizes, settings, rng)
        prior = np.bincount(codes[kept], weight[kept], n_classes) / weight[kept].sum()
        joint = class_likelihoods(X[held], states.classes, states.weights, states.tables)
        own_class = codes[held], np.arange(len(held))
        result[0, held] = joint[own_class]
        joint += np.log(np.maximum(prior, TINY))[:, None]
        result[1, held] = joint[own_class] - logsumexp(joint, axis=0)
    return result


def class_likelihoods(codes: Codes, classes: IntArray, weights: FloatArray, tables: FloatArray) -> FloatArray:
    """Logarithm of P(row | class), (n_classes, n).

    Parameters
    ----------
    codes : ndarray or CSR matrix of int of shape (n, n_features)
    classes : ndarray of int of shape (n_hidden,)
        Class of each hidden state.
    weights : ndarray of shape (n_hidden,)
        P(hidden state | class).
    tables : ndarray of shape (n_features, V_max, n_hidden)

    Returns
    -------
    ndarray of shape (n_classes, n)

    Examples
    --------
    >>> codes, table = np.array([[0], [1], [-1]]), np.array([[[0.25], [0.75]]])
    >>> np.exp(class_likelihoods(codes, np.array([0]), np.ones(1), table)).round(2)
    array([[0.25, 0.75, 1.  ]])
    """
    joint = state_likelihoods(codes, tables) + np.log(np.maximum(weights, TINY))
    members = [classes == c for c in range(int(classes.max()) + 1)]
    return np.array([logsumexp(joint[:, own], axis=1) for own in members])


def state_likelihoods(codes: Codes, tables: FloatArray) -> FloatArray:
    """Logarithm of P(row | hidden state), (n, n_hidden).

    Parameters
    ----------
    codes : ndarray or CSR matrix of int of shape (n, n_features)
    tables : ndarray of shape (n_features, V_max, n_hidden)

    Returns
    -------
    ndarray of shape (n, n_hidden)

    Examples
    --------
    >>> np.exp(state_likelihoods(np.array([[0], [1], [-1]]), np.array([[[0.25], [0.75]]]))).round(2).ravel()
    array([0.25, 0.75, 1.  ])
    """
    design, logs = Design(codes, tables.shape[1]), np.log(np.maximum(tables, TINY))
    zero = logs[:, 0]
    columns = np.concatenate([logs[design.feature, design.level] - zero[design.feature], -zero[design.missing]])
    return np.asarray(design.times(columns) + zero.sum(axis=0))
