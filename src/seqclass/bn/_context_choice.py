"""Which columns make contexts: those given which held-out rows are most probable, but for chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import entr, log_softmax

from seqclass._arrays import FloatArray, IntArray
from seqclass._information import mutual_information
from seqclass.bn._checks import Codes
from seqclass.bn._choosing import FOLDS, MOST_ROWS, class_likelihoods, difference, rows_looked_at, state_likelihoods
from seqclass.bn._context_states import Rows, States, states_of
from seqclass.bn._contexts import GROUPS, MOST_OUTCOMES, Contexts, coarse, contexts_of
from seqclass.bn._densities import Scales
from seqclass.bn._folds import stratified_folds
from seqclass.bn._structure import pair_weights

#: So many single columns are looked at, and of no more than so many features.
SHORT_LIST, MOST_FEATURES = 6, 1000
#: Rows that are looked at to see whether contexts are worth a try.
MOST_TESTED = 3000
#: A context says little itself: this share of what the best column says, and not much more than by chance.
_LITTLE, _BY_CHANCE = 0.1, 2.0
#: Standard errors, and share of their entropy, that classes of held-out rows have to be more probable by.
_CLEARLY, _LEAST_GAIN = 3.0, 0.02


def choose_context(
    rows: Rows, scales: Scales, family: IntArray, bundles: Sequence[IntArray], rng: np.random.Generator
) -> tuple[Contexts | None, list[tuple[tuple[int, ...], float]]]:
    """Choose the columns given which held-out rows of the other columns are most probable, or none.

    They have to gain more than a standard error over no context, and must not tell the classes of held-out rows worse.

    Parameters
    ----------
    rows : Rows
    scales : Scales
    family : ndarray of int of shape (n_features,)
    bundles : sequence of ndarray of int
        Columns that are tried together.
    rng : numpy generator

    Returns
    -------
    contexts : Contexts or None
    gains : list of (tuple of int, float)
        The columns that were tried, and the mean gain in the log-likelihood of a held-out row, in nats.
    """
    if len(rows) > MOST_ROWS:
        rows = rows[rows_looked_at(len(rows), MOST_ROWS, rng)]
    folds = stratified_folds(rows.codes, rows.n_classes, FOLDS, rng)
    scored = np.flatnonzero((folds >= 0) & (rows.weight > 0))
    best, gains, most = None, list[tuple[tuple[int, ...], float]](), 0.0
    if not scored.size:
        return best, gains
    single, weight = rows.counts(folds=folds), rows.weight[scored]
    for columns in [*bundles, *_short_list(rows)]:
        contexts = contexts_of(rows.X, columns, rows.n_outcomes, rows.weight)
        if contexts is None:
            continue
        others, classes = _gains(rows, folds, single, contexts, scales, family)[:, scored]
        gain, error = difference(others, np.zeros(len(scored)), weight)
        told, told_error = difference(classes, np.zeros(len(scored)), weight)
        gains.append((tuple(columns.tolist()), gain))
        if gain > max(error, most) and told >= -told_error:
            best, most = contexts, gain
    return best, gains


def changes_what_others_tell(
    X: Codes, codes: IntArray, weight: FloatArray, n_outcomes: IntArray, bundles: Sequence[IntArray]
) -> bool:
    """Whether columns that say next to nothing about the class themselves change what the others say of it.

    Held-out rows tell: their classes have to be more probable by the tables of each context, beyond chance, than by
    naive Bayes, and their other columns too. Where the column itself tells the class, or none stands out, questions
    need no context: mixtures see to what depends on what there.

    Parameters
    ----------
    X : ndarray or CSR matrix of int of shape (n, n_features)
    codes : ndarray of int of shape (n,)
        Class of each row.
    weight : ndarray of shape (n,)
    n_outcomes : ndarray of int of shape (n_features,)
        Few each.
    bundles : sequence of ndarray of int
        Columns that are tried together.

    Returns
    -------
    bool

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (400, 3))
    >>> pointed, plain = np.where(X[:, 0] == 1, X[:, 2], X[:, 1]), X[:, 1]
    >>> of = (np.ones(400), np.full(3, 2), [])
    >>> changes_what_others_tell(X, pointed, *of), changes_what_others_tell(X, plain, *of)
    (True, False)
    """
    rng, rows = np.random.default_rng(0), Rows(X, codes, weight, int(codes.max()) + 1, n_outcomes)
    if len(rows) > MOST_TESTED:
        rows = rows[np.sort(rng.choice(len(rows), MOST_TESTED, replace=False))]
    folds = stratified_folds(rows.codes, rows.n_classes, FOLDS, rng)
    scored = np.flatnonzero((folds >= 0) & (rows.weight > 0))
    if not scored.size:
        return False
    said = mutual_information(rows.X, rows.codes, n_outcomes=n_outcomes, sample_weight=rows.weight)
    chance = (rows.n_classes - 1) / (2 * rows.weight.sum())
    little = _LITTLE * float((said - chance * (n_outcomes - 1)).max(initial=0.0))
    share = np.bincount(rows.codes, rows.weight) / rows.weight.sum()
    entropy = float(entr(share).sum())
    family, scales = np.zeros(len(n_outcomes), dtype=np.intp), None
    single = None
    for columns in [*bundles, *_short_list(rows)]:
        contexts = contexts_of(rows.X, columns, n_outcomes, rows.weight)
        if contexts is None or len(columns) == len(n_outcomes):
            continue
        context, n_contexts = contexts.of(rows.X)[:, None], len(contexts.patterns)
        own = mutual_information(context, rows.codes, n_outcomes=n_contexts, sample_weight=rows.weight)[0]
        if own > little + _BY_CHANCE * chance * (n_contexts - 1):
            continue
        if single is None or scales is None:
            single = rows.counts(folds=folds)
            scales = Scales(n_outcomes, single.sum(axis=(0, 3, 4)), 1.0)
        gains = _gains(rows, folds, single, contexts, scales, family)[:, scored]
        (others, error), (told, told_error) = (
            difference(gain, np.zeros(len(scored)), rows.weight[scored]) for gain in gains
        )
        if others > error and told > max(_CLEARLY * told_error, _LEAST_GAIN * entropy):
            return True
    return False


def _short_list(rows: Rows) -> list[IntArray]:
    """Single columns that say most about the others given the class, beyond what chance would let them say."""
    if len(rows.n_outcomes) > MOST_FEATURES:
        return []
    X, sizes = coarse(rows.X, rows.n_outcomes, rows.weight, MOST_OUTCOMES, GROUPS)
    said = np.asarray(pair_weights(X, rows.codes, sizes, rows.n_classes, rows.weight))
    free = (sizes - 1.0)[:, None] * (sizes - 1.0)
    beyond = said - free * rows.n_classes / (2 * rows.weight.sum())
    np.fill_diagonal(beyond, 0.0)
    total = beyond.sum(axis=1)
    order = np.argsort(-total, kind="stable")[:SHORT_LIST]
    return [np.array([j]) for j in order.tolist() if total[j] > 0 and sizes[j] > 1]


def _gains(
    rows: Rows, folds: IntArray, single: FloatArray, contexts: Contexts, scales: Scales, family: IntArray
) -> FloatArray:
    """What contexts add to the log-likelihood of each row's other columns, and of its class, (2, n)."""
    result, context, n_contexts = np.zeros((2, len(rows))), contexts.of(rows.X), len(contexts.patterns)
    split = rows.counts(context, n_contexts, folds)
    for fold in range(FOLDS):
        held, kept = np.flatnonzero(folds == fold), np.arange(len(single)) != fold
        by_class, by_context = single[kept].sum(axis=0), split[kept].sum(axis=0)
        without = states_of(None, by_class, by_class, scales, family)
        within = states_of(contexts, by_context, by_class, scales, family)
        known = held[context[held] >= 0]
        codes, columns = rows.codes[known], contexts.columns
        result[0, known] = _of_state(rows.X[known], within, columns, codes * n_contexts + context[known])
        result[0, known] -= _of_state(rows.X[known], without, columns, codes)
        prior = np.log(by_class[0].sum(axis=(0, 1)) + 1.0)
        result[1, held] = _of_class(rows[held], within, prior) - _of_class(rows[held], without, prior)
    return result


def _of_state(X: Codes, states: States, left_out: IntArray, own: IntArray) -> FloatArray:
    """Log-likelihood of all but some columns of each row in its own hidden state."""
    tables = np.array(states.tables)
    tables[left_out] = 1.0
    return np.asarray(state_likelihoods(X, tables)[np.arange(len(own)), own])


def _of_class(rows: Rows, states: States, prior: FloatArray) -> FloatArray:
    """Log-probability of each row's class."""
    joint = class_likelihoods(rows.X, states.classes, states.weights, states.tables) + prior[:, None]
    return np.asarray(log_softmax(joint, axis=0)[rows.codes, np.arange(len(rows))])
