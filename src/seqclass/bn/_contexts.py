"""Contexts: columns whose outcomes, or a few groups of them, say which tables hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.information import contingency_table
from seqclass.bn._checks import Codes
from seqclass.bn._cpds import dense_columns

#: A single column of more outcomes is cut into groups, so many.
MOST_OUTCOMES, GROUPS = 12, 4
#: Of several columns one of more outcomes is cut in two.
_MOST_OF_SEVERAL = 3
#: Joint outcomes of several columns that are contexts: those of so many rows, and of these the most frequent.
LEAST_ROWS, MOST_CONTEXTS = 5, 32
#: Most columns that make contexts together.
MOST_COLUMNS = 16


@dataclass(frozen=True)
class Contexts:
    """Columns, and which of their outcomes make which context.

    Attributes
    ----------
    columns : ndarray of int of shape (m,)
    group : ndarray of int of shape (m, V)
        Group of each outcome of each column; -1 beyond its outcomes.
    patterns : ndarray of int of shape (n_contexts, m)
        Groups of the columns in each context.
    """

    columns: IntArray
    group: IntArray
    patterns: IntArray

    @property
    def is_exact(self) -> bool:
        """Whether a row has no other context than its columns say: there is one column."""
        return len(self.columns) == 1

    def of(self, X: Codes) -> IntArray:
        """Context of each row; -1 where a column is missing, or together they make none."""
        shown = dense_columns(X, self.columns).astype(np.intp)
        groups = np.where(shown >= 0, self.group[np.arange(len(self.columns)), shown], -1)
        width = self.group.max() + 2
        powers = int(width) ** np.arange(len(self.columns))
        keys, order = self.patterns @ powers, np.argsort(self.patterns @ powers)
        found = groups @ powers
        place = order[np.minimum(np.searchsorted(keys, found, sorter=order), len(keys) - 1)]
        return np.where((groups >= 0).all(axis=1) & (keys[place] == found), place, -1)

    def tables(self, counts: FloatArray, marginal: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
        """P(outcome | context, class) of the columns, and P(context | class).

        Parameters
        ----------
        counts : ndarray of shape (m, V, n_contexts, n_classes)
            Rows of the columns.
        marginal : ndarray of shape (m, V, n_classes)
            P(outcome | class) of the columns.
        alpha : float
            Pseudo-count of each context; rows that what all contexts share counts for.

        Returns
        -------
        tables : ndarray of shape (m, V, n_contexts, n_classes)
        share : ndarray of shape (n_contexts, n_classes)
        """
        if self.is_exact:  # what is known of the column is the same as without contexts
            inside = (self.group[0][:, None] == self.patterns[:, 0])[:, :, None] * marginal[0][:, None]
            share = inside.sum(axis=0)
            return (inside / share)[None], share
        in_context = counts.sum(axis=3, keepdims=True)
        overall = in_context.sum(axis=2, keepdims=True) + (self.group >= 0)[:, :, None, None]
        overall = overall / overall.sum(axis=1, keepdims=True)
        eased = max(alpha, 1e-3)
        tables = (in_context + eased * overall) / (in_context.sum(axis=1, keepdims=True) + eased)
        rows = counts[0].sum(axis=0) + eased
        return np.broadcast_to(tables, counts.shape), rows / rows.sum(axis=0)


def contexts_of(X: Codes, columns: IntArray, n_outcomes: IntArray, weight: FloatArray) -> Contexts | None:
    """Contexts that some columns make of the rows; None where they make fewer than two."""
    sizes, shown = n_outcomes[columns], dense_columns(X, columns).astype(np.intp)
    group = np.full((len(columns), int(sizes.max())), -1)
    for row, size, column in zip(group, sizes.tolist(), shown.T):
        rows = np.bincount(column[column >= 0], weight[column >= 0], size)
        row[:size] = _in_two(rows) if len(columns) > 1 else grouped(rows, MOST_OUTCOMES, GROUPS)
    if len(columns) == 1:
        patterns = np.unique(group[0][group[0] >= 0])[:, None]
        return Contexts(columns, group, patterns) if len(patterns) > 1 else None
    complete = (shown >= 0).all(axis=1)
    kinds, which = np.unique(group[np.arange(len(columns)), shown[complete]], axis=0, return_inverse=True)
    rows = np.bincount(which.reshape(-1), weight[complete], len(kinds))
    often = np.sort(np.argsort(-rows, kind="stable")[:MOST_CONTEXTS])
    patterns = kinds[often[rows[often] >= LEAST_ROWS]]
    return Contexts(columns, group, patterns) if len(patterns) > 1 else None


def grouped(rows: Any, most: int, n_groups: int) -> IntArray:
    """Group of each outcome of a column, of about as many rows each; its own where they are few."""
    size, total = len(rows), max(float(rows.sum()), 1e-12)
    if size <= most:
        return np.arange(size)
    if 2 * rows[0] > total:
        return np.append(0, 1 + grouped(rows[1:], n_groups - 1, n_groups - 1))
    share = (np.cumsum(rows) - rows / 2) / total
    quantile = np.minimum((share * n_groups).astype(np.intp), n_groups - 1)
    return np.asarray(np.unique(quantile, return_inverse=True)[1].reshape(-1))


def _in_two(rows: Any) -> IntArray:
    """Two groups whose means lie furthest apart (Otsu, 1979), where there are more than three outcomes."""
    size = len(rows)
    if size <= _MOST_OF_SEVERAL:
        return np.arange(size)
    below, sums = np.cumsum(rows)[:-1], np.cumsum(rows * np.arange(size))
    above, top = rows.sum() - below, sums[-1] - sums[:-1]
    apart = below * above * (sums[:-1] / np.maximum(below, 1e-12) - top / np.maximum(above, 1e-12)) ** 2
    return (np.arange(size) > np.argmax(apart)).astype(np.intp)


def coarse(X: Codes, n_outcomes: IntArray, weight: FloatArray, most: int, n_groups: int) -> tuple[Codes, IntArray]:
    """Rows whose columns of many outcomes are cut into groups, and the number of groups of each column."""
    if not (n_outcomes > most).any():
        return X, n_outcomes
    counts = contingency_table(X, np.zeros(X.shape[0], dtype=np.intp), 1, n_outcomes, weight)[:, :, 0]
    groups = np.zeros((len(n_outcomes), int(n_outcomes.max()) + 1), dtype=np.int32)
    groups[:, -1] = -1  # which -1 picks
    for row, size, rows in zip(groups, n_outcomes.tolist(), counts):
        row[:size] = grouped(rows[:size], most, n_groups)
    sizes = groups.max(axis=1).astype(np.intp) + 1
    if not sparse.issparse(X):
        return groups[np.arange(len(sizes)), X], sizes
    # outcome 0 is in group 0, and stays implicit
    return type(X)((groups[X.indices, X.data], X.indices, X.indptr), shape=X.shape), sizes
