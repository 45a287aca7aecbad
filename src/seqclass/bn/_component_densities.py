"""Tables of components over fine bins: found on groups of the bins, then as smooth as the shares of rows allow."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from seqclass._arrays import FloatArray, IntArray
from seqclass._information import contingency_table
from seqclass.bn._checks import Codes
from seqclass.bn._choosing import FOLDS, state_likelihoods
from seqclass.bn._components import Components
from seqclass.bn._densities import Scales

#: Outcomes of a feature that components are found on, at most: more are grouped.
GROUPS = 5


def dense_tables(
    X: Codes,
    groups: Codes,
    codes: IntArray,
    weight: FloatArray,
    states: Components,
    n_outcomes: IntArray,
    allowed: tuple[str, ...],
    alpha: float,
) -> tuple[FloatArray, IntArray]:
    """Tables of hidden states over all outcomes, of components that were found on groups of them.

    Parameters
    ----------
    X, groups : ndarray or CSR matrix of int of shape (n, n_features)
        Outcomes, and the groups that they are in.
    codes : ndarray of int of shape (n,)
        Class of each row.
    weight : ndarray of shape (n,)
    states : Components
        With tables over the groups.
    n_outcomes : ndarray of int of shape (n_features,)
    allowed : tuple of str
        Families of densities to choose from.
    alpha : float
        Pseudo-count of every outcome in what the components of a class share.

    Returns
    -------
    tables : ndarray of shape (n_features, V, n_hidden)
    family : ndarray of int of shape (n_features,)
        Number of each feature's family.
    """
    n_folds = FOLDS if len(allowed) > 1 else 1
    nowhere = np.zeros(len(codes), dtype=np.intp)
    whole = contingency_table(X, nowhere, 1, n_outcomes, weight)[:, :, 0]
    counts = np.zeros((n_folds, *whole.shape, 1, len(states.classes)))
    for c in range(int(states.classes.max()) + 1):
        rows, own = np.flatnonzero(codes == c), np.flatnonzero(states.classes == c)
        joint = state_likelihoods(groups[rows], states.tables[:, :, own]) + np.log(states.weights[own])
        some, fold = X[rows], np.arange(len(rows)) % n_folds
        # a row is in every bag
        bags = joint.reshape(len(rows), -1, int(states.n_components[c]))
        for state, share in zip(own.tolist(), softmax(bags, axis=2).reshape(joint.shape).T):
            table = contingency_table(some, fold, n_folds, n_outcomes, weight[rows] * share)
            counts[:, :, :, 0, state] = table.transpose(2, 0, 1)
    scales = Scales(n_outcomes, whole, alpha)
    family = scales.suited(counts, allowed)
    total = counts.sum(axis=0)
    parts = [scales.tables(total[..., states.classes == c], family) for c in range(int(states.classes.max()) + 1)]
    return np.concatenate(parts, axis=3)[:, :, 0], family
