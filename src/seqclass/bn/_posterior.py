"""Posteriors of states given which the features are independent: classes, or components of classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from seqclass._arrays import FloatArray
from seqclass.bn._checks import Codes, raise_impossible
from seqclass.bn._tables import log_table, sum_dense, sum_sparse


def state_posterior(evidence: Codes, prior: FloatArray, table_of: Callable[[slice], FloatArray]) -> FloatArray:
    """P(state | evidence), (n_states, n_rows).

    Parameters
    ----------
    evidence : ndarray or CSR matrix of int of shape (n_rows, n_features)
        Outcomes, -1 where nothing is known.
    prior : ndarray of shape (n_states,)
        P(state).
    table_of : callable
        P(outcome | state) of a slice of features, shape (slice, V_max, n_states); 1 beyond V_j.

    Returns
    -------
    ndarray of shape (n_states, n_rows)

    Raises
    ------
    ValueError
        If evidence has probability zero in every state; the message names the feature and the value.

    Examples
    --------
    >>> table = np.array([[[0.9, 0.3], [0.1, 0.7]]])
    >>> state_posterior(np.array([[0], [-1]]), np.array([0.5, 0.5]), lambda part: table[part])
    array([[0.75, 0.5 ],
           [0.25, 0.5 ]])
    """
    joint = log_joint(evidence, prior, table_of)
    largest = joint.max(axis=0)
    if np.isneginf(largest).any():
        _explain_impossible(evidence[[int(np.argmin(largest))]], prior, table_of)
    joint -= largest
    np.exp(joint, out=joint)
    joint /= joint.sum(axis=0)
    return joint


def log_joint(evidence: Codes, prior: FloatArray, table_of: Callable[[slice], FloatArray]) -> FloatArray:
    """Logarithm of P(state, evidence), (n_states, n_rows), of sparse evidence up to a constant per row.

    Parameters
    ----------
    evidence, prior, table_of
        As in `state_posterior`.

    Returns
    -------
    ndarray of shape (n_states, n_rows)

    Examples
    --------
    >>> table = np.array([[[0.9, 0.3], [0.1, 0.7]]])
    >>> np.exp(log_joint(np.array([[0], [-1]]), np.array([0.5, 0.5]), lambda part: table[part])).round(2)
    array([[0.45, 0.5 ],
           [0.15, 0.5 ]])
    """
    n_rows, n_features = evidence.shape
    joint = np.empty((len(prior), n_rows))
    joint[:] = log_table(prior)[:, None]
    n_outcomes = table_of(slice(0, 1)).shape[1] if n_features else 1
    if sparse.issparse(evidence):
        sum_sparse(evidence, lambda part: log_table(table_of(part)), joint, n_outcomes)
        return joint
    # whole blocks of 48 features keep the blocks of joint codes whole
    step = max(48, 48 * int(2**26 // (48 * 8 * 6 * max(1, n_outcomes * len(prior)))))
    for start in range(0, n_features, step):
        part = slice(start, min(start + step, n_features))
        codes = evidence[:, part]
        known = (codes >= 0).any(axis=0)
        if known.all():
            sum_dense(codes, log_table(table_of(part)), joint)
        elif known.any():
            sum_dense(codes[:, known], log_table(table_of(part)[known]), joint)
    return joint


def _explain_impossible(evidence: Codes, prior: FloatArray, table_of: Callable[[slice], FloatArray]) -> None:
    """Raise the error that names the feature whose outcome leaves no state."""
    outcomes = (evidence.toarray() if sparse.issparse(evidence) else evidence)[0].astype(np.intp)
    possible = prior > 0
    for feature in np.flatnonzero(outcomes >= 0).tolist():
        possible = possible & (table_of(slice(feature, feature + 1))[0, outcomes[feature]] > 0)
        if not possible.any():
            raise_impossible(feature, int(outcomes[feature]))
