"""Instances drawn from a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks, smallest_int
from seqclass.bn._structure import topological


def draw(
    prior: FloatArray,
    parents: list[IntArray],
    cpds: Sequence[FloatArray | None],
    n: int,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Draw outcomes and classes.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
    parents : list of ndarray of int
        Feature parents of each feature.
    cpds : sequence of ndarray of shape (V, V_parent, ..., n_classes)
    n : int
        Number of instances.
    rng : numpy generator

    Returns
    -------
    X : ndarray of int of shape (n, n_features)
    codes : ndarray of int of shape (n,)

    Raises
    ------
    ValueError
        If a table is None.

    Examples
    --------
    >>> X, y = draw(np.array([1.0]), [np.array([], int)], [np.array([[0.0], [1.0]])], 2, np.random.default_rng(0))
    >>> X.ravel().tolist()
    [1, 1]
    """
    tables: list[FloatArray] = []
    for feature, table in enumerate(cpds):
        if table is None:
            raise ValueError(f"feature {feature} has {len(parents[feature])} parents, too many to keep its table.")
        tables.append(table)
    largest = max((len(table) for table in tables), default=1) - 1
    X = np.empty((n, len(tables)), dtype=smallest_int(largest), order="F")
    codes = _pick(np.cumsum(prior)[:, None], np.zeros(n, dtype=np.intp), rng)
    for feature in topological(parents).tolist():
        given = tuple(X[:, parent].astype(np.intp) for parent in parents[feature])
        table = np.cumsum(tables[feature], axis=0).reshape(len(tables[feature]), -1)
        state = np.ravel_multi_index((*given, codes), tables[feature].shape[1:])
        X[:, feature] = _pick(table, state, rng)
    return np.ascontiguousarray(X), codes


def _pick(cumulated: FloatArray, column: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw from the distribution in a column for each row; rounding never picks what has probability zero."""
    result = np.empty(len(column), dtype=np.intp)
    for rows in chunks(len(column), 8.0 * len(cumulated)):
        level = cumulated[:, column[rows]]
        result[rows] = (level <= rng.random(level.shape[1]) * level[-1]).sum(axis=0)
    return result
