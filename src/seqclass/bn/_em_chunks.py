"""Expectation maximisation that goes on over rows which come in chunks: each iteration is a pass that adds up sums."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, xlogy

from seqclass._arrays import FloatArray, IntArray
from seqclass.bn._checks import Codes
from seqclass.bn._choosing import TINY, state_likelihoods
from seqclass.bn._chunked import CodedChunks
from seqclass.bn._components import Components, Settings
from seqclass.bn._design import Design
from seqclass.bn._em import SPARE
from seqclass.bn._tables import smooth


class Shares(NamedTuple):
    """Sums over rows of the components' shares in them.

    Attributes
    ----------
    likelihood : float
        Logarithm of P(rows | their classes).
    counts : ndarray of shape (n_features, V, n_hidden)
    totals : ndarray of shape (n_hidden,)
    """

    likelihood: float
    counts: FloatArray
    totals: FloatArray


def added(one: Shares, other: Shares) -> Shares:
    """Sums over the rows of both."""
    return Shares(one.likelihood + other.likelihood, one.counts + other.counts, one.totals + other.totals)


def shares(codes: Codes, y: IntArray, states: Components) -> Shares:
    """Shares of the components in some rows, summed up.

    Parameters
    ----------
    codes : ndarray or CSR matrix of int of shape (n, n_features)
    y : ndarray of int of shape (n,)
        Class of each row.
    states : Components

    Examples
    --------
    >>> table = np.array([[[0.9, 0.1], [0.1, 0.9]]])
    >>> states = Components(np.array([0, 0]), np.full(2, 0.5), table, np.array([2]), np.array([1]))
    >>> shares(np.array([[0], [1], [-1]]), np.zeros(3, int), states).counts[0].round(2)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    counts: FloatArray = np.zeros(states.tables.shape)
    likelihood, totals = 0.0, np.zeros(len(states.weights))
    for c in np.unique(y).tolist():
        own, rows = states.classes == c, codes[np.flatnonzero(y == c)]
        joint = state_likelihoods(rows, states.tables[:, :, own]) + np.log(np.maximum(states.weights[own], TINY))
        top = logsumexp(joint, axis=1, keepdims=True)
        share = np.exp(joint - top)
        likelihood += float(top.sum())
        totals[own] = share.sum(axis=0)
        counts[:, :, own] = _counted(Design(rows, counts.shape[1]), counts.shape[1], share)
    return Shares(likelihood, counts, totals)


def _counted(design: Design, n_outcomes: int, share: FloatArray) -> FloatArray:
    sums, m, n_states = design.sums(share), len(design.feature), share.shape[1]
    found = np.zeros((design.n_features, n_outcomes, n_states))
    found[design.feature, design.level] = sums[:m]
    known: FloatArray = np.tile(share.sum(axis=0), (design.n_features, 1))
    known[design.missing] -= sums[m:]
    found[:, 0] = np.maximum(known - found.sum(axis=1), 0.0)
    return found


def go_on(chunks: CodedChunks, states: Components, n_outcomes: IntArray, settings: Settings) -> Components:
    """Go on from components that were fitted to a sample, over all rows, until their objective rises no more.

    Parameters
    ----------
    chunks : CodedChunks
    states : Components
        One bag in each class.
    n_outcomes : ndarray of int of shape (n_features,)
    settings : Settings

    Returns
    -------
    Components
        Each iteration is a pass over the chunks.
    """
    marginal = smooth(chunks.counts, n_outcomes, settings.alpha)[:, :, states.classes]
    strength = settings.shrinkage * n_outcomes[:, None, None] * marginal
    alone = np.bincount(states.classes)[states.classes] == 1
    before = -np.inf
    for _ in range(settings.max_iter):
        found: Shares = chunks.total(partial(shares, states=states), added)
        spread = states.weights[~alone]
        objective = found.likelihood + float(xlogy(strength, states.tables)[:, :, ~alone].sum())
        objective += SPARE * float(np.log(np.maximum(spread, TINY)).sum())
        states = _maximised(states, found, strength, np.where(alone, marginal, np.nan))
        if objective - before <= settings.tol * abs(objective):
            break
        before = objective
    return states


def _maximised(states: Components, found: Shares, strength: FloatArray, fixed: FloatArray) -> Components:
    """Parameters that are most probable given the shares; a class of one component has its own table."""
    tables = found.counts + strength
    tables /= tables.sum(axis=1, keepdims=True)
    total = found.totals + SPARE
    weights = total / np.bincount(states.classes, total)[states.classes]
    tables = np.where(np.isnan(fixed), tables, fixed)
    return replace(states, weights=weights, tables=tables, n_iter=states.n_iter + 1)
