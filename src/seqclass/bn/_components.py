"""Mixtures of all classes, and how many components suit them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._information import contingency_table
from seqclass.bn._checks import Codes
from seqclass.bn._em import fit_mixture
from seqclass.bn._tables import smooth


@dataclass(frozen=True)
class Settings:
    """How mixtures are fitted: the parameters of `ClassMixture`, checked."""

    alpha: float
    shrinkage: float
    n_bags: int
    max_iter: int
    tol: float


@dataclass(frozen=True)
class Components:
    """The hidden states of all classes, class by class.

    Attributes
    ----------
    classes : ndarray of int of shape (n_hidden,)
    weights : ndarray of shape (n_hidden,)
        P(hidden state | class).
    tables : ndarray of shape (n_features, V_max, n_hidden)
    n_components : ndarray of int of shape (n_classes,)
        Components of each class in each bag.
    n_iter : ndarray of int of shape (n_classes,)
        Iterations until the last bag was done.
    """

    classes: IntArray
    weights: FloatArray
    tables: FloatArray
    n_components: IntArray
    n_iter: IntArray


def fit_components(
    X: Codes,
    codes: IntArray,
    weight: FloatArray,
    n_outcomes: IntArray,
    sizes: IntArray,
    settings: Settings,
    rng: np.random.Generator,
) -> Components:
    """Fit a mixture to each class.

    Parameters
    ----------
    X : ndarray or CSR matrix of int of shape (n, n_features)
    codes : ndarray of int of shape (n,)
        Class of each row.
    weight : ndarray of shape (n,)
    n_outcomes : ndarray of int of shape (n_features,)
    sizes : ndarray of int of shape (n_classes,)
        Most components of each class.
    settings : Settings
    rng : numpy generator

    Returns
    -------
    Components

    Examples
    --------
    >>> X, codes = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 20), np.tile([0, 0, 1, 1], 20)
    >>> settings, rng = Settings(1.0, 0.5, 1, 100, 1e-6), np.random.default_rng(0)
    >>> found = fit_components(X, codes, np.ones(80), np.array([2, 2]), np.array([2, 2]), settings, rng)
    >>> found.classes
    array([0, 0, 1, 1])
    """
    marginals = smooth(contingency_table(X, codes, len(sizes), n_outcomes, weight), n_outcomes, settings.alpha)
    strength: FloatArray = settings.shrinkage * n_outcomes.astype(np.float64)
    mixtures = []
    for c, seed in enumerate(rng.integers(2**63, size=len(sizes))):
        rows = np.flatnonzero(codes == c)
        marginal = np.ascontiguousarray(marginals[:, :, c])
        mixture = fit_mixture(
            X[rows],
            weight[rows],
            marginal,
            strength,
            int(sizes[c]),
            settings.n_bags,
            np.random.default_rng(seed),
            max_iter=settings.max_iter,
            tol=settings.tol,
        )
        mixtures.append(mixture)
    return Components(
        np.repeat(np.arange(len(sizes)), [len(m.weights) for m in mixtures]),
        np.concatenate([m.weights for m in mixtures]),
        np.concatenate([m.tables for m in mixtures], axis=2),
        np.array([m.n_components for m in mixtures]),
        np.array([len(m.history) for m in mixtures]),
    )
