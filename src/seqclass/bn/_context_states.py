"""The hidden states that contexts make of classes, and rows whose context is not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from seqclass._arrays import FloatArray, IntArray
from seqclass._information import contingency_table
from seqclass.bn._checks import Codes
from seqclass.bn._choosing import state_likelihoods
from seqclass.bn._contexts import Contexts
from seqclass.bn._densities import Scales

#: Iterations for rows whose context is not seen, and the change of a probability that ends them.
MAX_ITER, _TOL = 20, 1e-3


@dataclass(frozen=True)
class States:
    """Hidden states, class by class, and within a class context by context.

    Attributes
    ----------
    classes : ndarray of int of shape (n_hidden,)
    weights : ndarray of shape (n_hidden,)
        P(hidden state | class).
    tables : ndarray of shape (n_features, V, n_hidden)
    """

    classes: IntArray
    weights: FloatArray
    tables: FloatArray


def states_of(
    contexts: Contexts | None, counts: FloatArray, by_class: FloatArray, scales: Scales, family: IntArray
) -> States:
    """Tables and weights of the hidden states from counts.

    Parameters
    ----------
    contexts : Contexts or None
    counts : ndarray of shape (n_features, V, n_contexts, n_classes)
    by_class : ndarray of shape (n_features, V, 1, n_classes)
        Counts that leave contexts aside, of all rows.
    scales : Scales
    family : ndarray of int of shape (n_features,)

    Returns
    -------
    States
    """
    n_features, n_outcomes, n_contexts, n_classes = counts.shape
    tables, share = scales.tables(counts, family), np.ones((1, n_classes))
    if contexts is not None:
        columns = contexts.columns
        marginal = scales.some(columns).tables(by_class[columns], family[columns])[:, :, 0]
        width = contexts.group.shape[1]
        own, share = contexts.tables(counts[columns][:, :width], marginal[:, :width], scales.alpha)
        tables[columns] = 0.0
        tables[columns, :width] = own
    flat = tables.transpose(0, 1, 3, 2).reshape(n_features, n_outcomes, -1)
    return States(np.repeat(np.arange(n_classes), n_contexts), share.T.reshape(-1), np.ascontiguousarray(flat))


@dataclass(frozen=True)
class Rows:
    """Training rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of int of shape (n, n_features)
    codes : ndarray of int of shape (n,)
        Class of each.
    weight : ndarray of shape (n,)
    n_classes : int
    n_outcomes : ndarray of int of shape (n_features,)
    """

    X: Codes
    codes: IntArray
    weight: FloatArray
    n_classes: int
    n_outcomes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, some: IntArray) -> Rows:
        return Rows(self.X[some], self.codes[some], self.weight[some], self.n_classes, self.n_outcomes)

    def counts(self, context: IntArray | None = None, n_contexts: int = 1, folds: IntArray | None = None) -> FloatArray:
        """Rows of each outcome by fold, context and class, (n_folds, n_features, V, n_contexts, n_classes).

        Rows of fold -1, which is none, come last; rows of context -1 are left out.
        """
        rows = np.arange(len(self)) if context is None else np.flatnonzero(context >= 0)
        n_folds = 1 if folds is None else int(folds.max(initial=-1)) + 2
        at = np.zeros(len(rows), dtype=np.intp) if folds is None else folds[rows] % n_folds
        at = (at * n_contexts + (0 if context is None else context[rows])) * self.n_classes + self.codes[rows]
        size = n_folds * n_contexts * self.n_classes
        table = contingency_table(self.X[rows], at, size, self.n_outcomes, self.weight[rows])
        shape = (*table.shape[:2], n_folds, n_contexts, self.n_classes)
        return np.ascontiguousarray(table.reshape(shape).transpose(2, 0, 1, 3, 4))

    def shared_out(self, share: FloatArray) -> FloatArray:
        """Rows of each outcome, each in every context by a share, (n_features, V, n_contexts, n_classes)."""
        parts = [
            Rows(self.X, self.codes, self.weight * p, self.n_classes, self.n_outcomes).counts()[0] for p in share.T
        ]
        return np.concatenate(parts, axis=2)


def fit_states(rows: Rows, contexts: Contexts | None, scales: Scales, family: IntArray) -> tuple[States, int]:
    """Fit the hidden states; where a row's context is not seen, by expectation maximisation.

    Parameters
    ----------
    rows : Rows
    contexts : Contexts or None
    scales : Scales
    family : ndarray of int of shape (n_features,)

    Returns
    -------
    states : States
    n_iter : int
        Iterations; 0 where all contexts are seen.
    """
    by_class = rows.counts()[0]
    if contexts is None:
        return states_of(None, by_class, by_class, scales, family), 0
    context, n_contexts = contexts.of(rows.X), len(contexts.patterns)
    seen = rows.counts(context, n_contexts)[0]
    states = states_of(contexts, seen, by_class, scales, family)
    unseen = rows[np.flatnonzero((context < 0) & (rows.weight > 0))]
    before, step = np.zeros((len(unseen), n_contexts)), 0
    while len(unseen) and step < MAX_ITER:
        step += 1
        joint = state_likelihoods(unseen.X, states.tables) + np.log(states.weights)
        own = joint.reshape(-1, rows.n_classes, n_contexts)[np.arange(len(unseen)), unseen.codes]
        share = softmax(own, axis=1)
        states = states_of(contexts, seen + unseen.shared_out(share), by_class, scales, family)
        if np.abs(share - before).max() < _TOL:
            break
        before = share
    return states, step
