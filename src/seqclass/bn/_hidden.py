"""Hidden states beside the class."""

from __future__ import annotations

from typing import NamedTuple

from seqclass._arrays import FloatArray, IntArray


class HiddenTables(NamedTuple):
    """Hidden states, each of a class, given which the features are independent.

    Attributes
    ----------
    weights : ndarray of shape (n_hidden,)
        P(hidden state | its class).
    classes : ndarray of int of shape (n_hidden,)
        Class of each hidden state.
    tables : ndarray of shape (m, V_max, n_hidden)
        P(outcome | hidden state), zero beyond V_j of a feature.

    Examples
    --------
    >>> import numpy as np
    >>> HiddenTables(np.ones(2), np.arange(2), np.full((1, 2, 2), 0.5)).classes
    array([0, 1])
    """

    weights: FloatArray
    classes: IntArray
    tables: FloatArray
