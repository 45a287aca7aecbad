"""Classes that are mixtures of hidden states: what the states show together, and how answers move them."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray


def within_classes(state: FloatArray, table: FloatArray, members: list[IntArray]) -> FloatArray:
    """P(outcome | class) from P(hidden state | class) and P(outcome | hidden state).

    Parameters
    ----------
    state : ndarray of shape (n, n_hidden)
        P(hidden state | its class) of each row.
    table : ndarray of shape (..., n_hidden)
        P(outcome | hidden state).
    members : list of ndarray of int
        Hidden states of each class.

    Returns
    -------
    ndarray of shape (n, ..., n_classes)

    Examples
    --------
    >>> table = np.array([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]])
    >>> within_classes(np.array([[1.0, 0.5, 0.5]]), table, [np.array([0]), np.array([1, 2])])
    array([[[0.  , 0.75],
            [1.  , 0.25]]])
    """
    flat = table.reshape(-1, table.shape[-1])
    result = np.empty((len(state), len(flat), len(members)))
    for c, states in enumerate(members):
        result[:, :, c] = state[:, states] @ flat[:, states].T
    return result.reshape(len(state), *table.shape[:-1], len(members))


def conditioned(state: FloatArray, shown: FloatArray, hidden_class: IntArray, member: FloatArray) -> FloatArray:
    """P(hidden state | class) after an answer of the given probability in each hidden state.

    Parameters
    ----------
    state, shown : ndarray of shape (n, n_hidden)
        P(hidden state | its class) before, and P(what was shown | hidden state).
    hidden_class : ndarray of int of shape (n_hidden,)
        Class of each hidden state.
    member : ndarray of shape (n_hidden, n_classes)
        One where the state belongs to the class, else zero.

    Returns
    -------
    ndarray of shape (n, n_hidden)
        A class that is ruled out keeps what it had.

    Examples
    --------
    >>> conditioned(np.array([[0.5, 0.5]]), np.array([[0.3, 0.1]]), np.array([0, 0]), np.ones((2, 1)))
    array([[0.75, 0.25]])
    """
    joint = state * shown
    total = joint @ member
    ruled_out = total <= 0
    if ruled_out.any():
        scale = 1 / np.where(ruled_out, 1.0, total)
        return np.where(ruled_out[:, hidden_class], state, joint * scale[:, hidden_class])
    # a product is faster than picking columns
    joint *= (1 / total) @ member.T
    return np.asarray(joint)
