"""An order that avoids features which repeat one another: conditional mutual information maximisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from seqclass._arrays import FloatArray, IntArray, as_generator, chunks, row_sums
from seqclass._information import contingency_table
from seqclass._validation import check_costs, check_integer
from seqclass.bn._checks import Codes, check_codes, check_labels, check_n_outcomes, seen_outcomes
from seqclass.bn._ranking import ABSOLUTE, RELATIVE, rank_by_rate

#: So many features are searched for; the rest follows by what each says alone.
SEARCHED = 256


def conditional_order(
    X: Any,
    y: npt.ArrayLike,
    n: int = SEARCHED,
    *,
    costs: Any = None,
    n_outcomes: Any = None,
    n_candidates: int = 4096,
    max_rows: int = 20_000,
    random_state: Any = 0,
) -> IntArray:
    """Order greedily by what a feature says about the class that no chosen one has said (CMIM).

    The next feature f is the one with the largest min over the chosen features s of I(f; class | s), per unit
    of cost [1]_. Information is estimated with the bias of small samples taken off (Miller and Madow), so
    that noise does not pass for news; the search ends early when no candidate says anything new. All other
    features follow in the order of their information per cost.

    Parameters
    ----------
    X : discretised matrix of shape (n_rows, n_features)
        Integer outcome codes, dense or scipy sparse; -1 is missing. A missing cell of a candidate is left
        out; a missing cell of a chosen feature is a value of its own.
    y : array-like of shape (n_rows,)
        Class labels.
    n : int
        Features to choose before the rest follows.
    costs : array-like of shape (n_features,) or float, optional
        Price of each feature; by default all the same. Free features come first.
    n_outcomes : int or array-like of shape (n_features,), optional
        Number of outcomes of each feature; by default the largest code plus one.
    n_candidates : int
        Only so many features, the best by information per cost, are looked at in the search.
    max_rows : int
        Only so many rows, drawn at random, are used in the search.
    random_state : None, int or numpy generator
        Draws the rows.

    Returns
    -------
    ndarray of int of shape (n_features,)
        Features, best first.

    References
    ----------
    .. [1] F. Fleuret, "Fast binary feature selection with conditional mutual information", JMLR 5, 2004.

    Examples
    --------
    Column 1 repeats column 0; column 2 is weaker but says something new.

    >>> y = np.repeat([0, 1], 200)
    >>> strong = np.where(np.arange(400) % 7 == 0, 1 - y, y)
    >>> weak = np.where(np.arange(400) % 5 < 1, 1 - y, y)
    >>> conditional_order(np.column_stack([strong, strong, weak]), y).tolist()
    [0, 2, 1]
    """
    X = check_codes(X, n_outcomes=n_outcomes)
    labels = check_labels(y, X.shape[0])
    check_integer(n, "n", 0)
    check_integer(n_candidates, "n_candidates", 1)
    check_integer(max_rows, "max_rows", 1)
    n_features = X.shape[1]
    sizes = seen_outcomes(X) if n_outcomes is None else check_n_outcomes(n_outcomes, n_features)
    prices = np.broadcast_to(check_costs(1.0 if costs is None else costs, "costs"), (n_features,))
    classes, codes = np.unique(labels, return_inverse=True)

    plain = _information(X, codes, np.zeros_like(codes), len(classes), 1, sizes)
    rest = rank_by_rate(plain, prices)
    candidates = np.sort(rest[:n_candidates])
    if X.shape[0] > max_rows:
        rows = np.sort(as_generator(random_state, "some rows").choice(X.shape[0], max_rows, replace=False))
        X, codes = X[rows], codes[rows]
    X = X[:, candidates]
    chosen = candidates[_search(X, codes, len(classes), sizes[candidates], prices[candidates], n)]
    return np.concatenate([chosen, rest[~np.isin(rest, chosen)]])


def _search(X: Codes, codes: IntArray, n_classes: int, sizes: IntArray, prices: FloatArray, n: int) -> IntArray:
    by_column = X.tocsc() if sparse.issparse(X) else np.asfortranarray(X)
    gains = _information(X, codes, np.zeros_like(codes), n_classes, 1, sizes)
    negligible = 1e-9 * max(float(gains.max(initial=0.0)), 1e-300)
    chosen: list[int] = []
    while len(chosen) < n:
        best = _best(gains, prices, negligible)
        if best < 0:
            break
        chosen.append(best)
        gains[best] = -np.inf
        seen: Any = by_column[:, [best]]
        given = (seen.toarray() if sparse.issparse(seen) else seen).ravel().astype(np.intp)
        # a candidate that says nothing new will not say more later
        alive = np.flatnonzero(gains > negligible)
        if len(alive) == 0:
            break
        part = X if len(alive) > 0.8 * len(gains) else X[:, alive]
        at = np.arange(len(gains)) if part is X else alive
        strata = int(sizes[best]) + 1
        news = _information(part, codes, given % strata, n_classes, strata, sizes[at])
        gains[at] = np.minimum(gains[at], news)
    return np.array(chosen, dtype=np.intp)


def _best(gains: FloatArray, prices: FloatArray, negligible: float) -> int:
    """Find the largest gain per price, at the lowest index; -1 where nothing is gained."""
    gaining = gains > negligible
    if not gaining.any():
        return -1
    free = gaining & (prices == 0)
    if free.any():
        rate = np.where(free, gains, -np.inf)
    else:
        rate = np.where(gaining, gains / np.where(prices == 0, 1.0, prices), -np.inf)
    top = float(rate.max())
    return int(np.argmax(rate >= top * (1 - RELATIVE) - ABSOLUTE * top))


def _information(
    X: Codes, codes: IntArray, given: IntArray, n_classes: int, n_strata: int, sizes: IntArray
) -> FloatArray:
    """I(feature; class | given) of every feature in nats, less its expectation where there is none."""
    joint = given * n_classes + codes
    largest = int(sizes.max(initial=1))
    scores = np.empty(X.shape[1])
    for cols in chunks(X.shape[1], 8.0 * 5 * largest * n_strata * n_classes):
        part = X if cols.stop - cols.start == X.shape[1] else X[:, cols]
        counts = contingency_table(part, joint, n_strata * n_classes, sizes[cols])
        counts = counts.reshape(counts.shape[0], counts.shape[1], n_strata, n_classes)
        outcomes, classes = row_sums(counts), counts.sum(axis=1)
        totals = row_sums(classes)
        entropies = _n_log_n(counts) - _n_log_n(outcomes) - _n_log_n(classes) + _n_log_n(totals)
        # Miller and Madow: in each stratum the plug-in estimate is too large by (rows - 1)(columns - 1) / 2n
        freedom = ((outcomes > 0).sum(axis=1) - 1.0) * (row_sums((classes > 0).astype(np.float64)) - 1.0)
        freedom = row_sums(np.where(totals > 0, freedom, 0.0))
        scores[cols] = (entropies - freedom / 2) / np.maximum(row_sums(totals), 1.0)
    return np.maximum(scores, 0.0)


def _n_log_n(counts: FloatArray) -> FloatArray:
    """Sum of n log n of each feature."""
    terms = counts * np.log(np.maximum(counts, 1.0))
    return row_sums(terms.reshape(len(counts), -1))
