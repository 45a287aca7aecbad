"""Orders in which a sequential classifier asks for features: permutations, best first.

A score that depends on one feature at a time is worked out from the table of P(outcome | class) of every
feature; :func:`conditional_order` looks at the training data and avoids features that repeat one another,
:func:`blanket_order` at the graph of a network. Ties go to the lowest index, and scores that differ by rounding
only are ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from seqclass._utils.arrays import TIE, BoolArray, FloatArray, IntArray, as_generator, chunks, row_sums
from seqclass._utils.information import contingency_table
from seqclass._utils.text import short_repr
from seqclass._utils.validation import columns_of
from seqclass.bn._checks import Codes, check_codes
from seqclass.bn._structure import child_lists

if TYPE_CHECKING:
    from seqclass.bn.base import ObservationModel


@dataclass(frozen=True)
class OrderTuning:
    """Which scores are equal, and how many features an order is searched for."""

    relative_tie: float = 1e-10  #: relative to the scores themselves
    max_searched: int = 256  #: features; the rest follows by what each says alone
    max_candidates: int = 4096  #: features among which these are looked for: those that say most alone
    max_rows: int = 20_000  #: rows that a search looks at


TUNING = OrderTuning()


def rank(*scores: FloatArray) -> IntArray:
    """Order by increasing score; ties by the next score, and at last by the lowest index."""
    # lexsort is stable, and its last key decides first
    return np.lexsort([_levels(score) for score in reversed(scores)])


def rank_by_rate(gains: FloatArray, prices: FloatArray) -> IntArray:
    """Order by decreasing gain per price: what is free first, by its gain, what gains nothing last, by its price."""
    free = prices == 0
    rate = np.where(free, np.inf, gains / np.where(free, 1.0, prices))
    return rank(-rate, -gains, prices)


def _levels(score: FloatArray) -> IntArray:
    """Number the distinct values of a score in increasing order, chains of near-equal ones counting once."""
    order = np.argsort(score, kind="stable")
    values = score[order]
    finite = np.abs(values[np.isfinite(values)])
    with np.errstate(invalid="ignore"):
        gap = values[1:] - values[:-1]
        apart = gap > np.maximum(TUNING.relative_tie * np.abs(values[1:]), TIE * finite.max(initial=0.0))
    # between an infinity and a finite number the tolerance itself is infinite, and the rule above fails
    apart |= np.isinf(gap)
    levels = np.zeros(len(score), dtype=np.intp)
    levels[order[1:]] = np.cumsum(apart)
    return levels


def error_scores(likelihood: FloatArray, prior: FloatArray) -> FloatArray:
    """Sum over outcomes of min(P(v | c), P(v | not c)), what the best test on each feature errs, over all classes c.

    The rule of ETANA (Y. W. Liyanage, D.-S. Zois, C. Chelmis, "On-the-fly joint feature selection and classification",
    2020, section 5.1), times the price. The paper leaves open how one feature decides; the authors' code sorts by
    `variance_scores`.
    """
    n_classes = len(prior)
    mix = np.repeat(prior[:, None], n_classes, axis=1)
    np.fill_diagonal(mix, 0.0)
    # where the others have no weight at all, they count equally
    mix[:, mix.sum(axis=0) == 0] = 1.0
    np.fill_diagonal(mix, 0.0)
    mix /= np.maximum(mix.sum(axis=0), np.finfo(float).tiny)
    return np.asarray(np.minimum(likelihood, likelihood @ mix).sum(axis=(1, 2)))


def information_scores(likelihood: FloatArray, prior: FloatArray) -> FloatArray:
    """Mutual information of each feature and the class in nats."""
    marginal = np.broadcast_to((likelihood @ prior)[:, :, None], likelihood.shape)
    ratio = np.divide(likelihood, marginal, out=np.ones_like(likelihood), where=(likelihood > 0) & (marginal > 0))
    scores: FloatArray = ((likelihood * np.log(ratio)) @ prior).sum(axis=1)
    return np.maximum(scores, 0.0)


def variance_scores(likelihood: FloatArray) -> FloatArray:
    """Variance between classes summed over outcomes, by which the published code of ETANA sorts."""
    return np.asarray(likelihood.var(axis=2).sum(axis=1))


def check_order(order: Any, n_features: int, feature_names: Any = None, *, what: str = "order") -> IntArray:
    """Resolve a list of features, best first, into their indices."""
    chosen = np.asarray(order)
    if chosen.ndim != 1 or chosen.size == 0:
        got = short_repr(order) if chosen.ndim == 0 else f"shape {chosen.shape}"
        raise ValueError(f"{what} must be a list of at least one feature, got {got}.")
    if chosen.dtype.kind not in "iuUO":
        raise ValueError(f"{what} must hold feature indices or names, got {chosen.dtype}.")
    return columns_of(list(order), n_features, feature_names, what)


def order_by_name(
    name: str, model: ObservationModel, prices: FloatArray, X: Any = None, y: Any = None, most: int | None = None
) -> IntArray:
    """The order that a name stands for, from the training data where it looks at these."""
    prior = model.class_prior_
    if name == "given":
        return np.arange(model.n_features_in_)
    if name == "conditional":
        if X is None or y is None:
            raise ValueError("order 'conditional' needs the training data X and y")
        n = TUNING.max_searched if most is None else min(most, TUNING.max_searched)
        return conditional_order(X, y, prices, model.n_outcomes_, n)
    if name == "error":
        errors = _model_scores(model, lambda part: error_scores(part, prior))
        return rank(errors * prices, errors)
    if name == "variance":
        return rank(-_model_scores(model, variance_scores))
    if name not in ("information", "blanket", "blanket_only"):
        names = "'error', 'information', 'variance', 'conditional', 'blanket', 'blanket_only', 'given'"
        raise ValueError(
            f"order {name!r} is unknown: it may be {names}, a list of features, or in classifiers 'adaptive'"
        )
    scores = _model_scores(model, lambda part: information_scores(part, prior))
    if name == "information":
        return rank_by_rate(scores, prices)
    parents = getattr(model, "parents_", None)
    if parents is None:
        raise ValueError(
            f"order {name!r} follows the graph of a network, and {type(model).__name__} has none (no parents_): "
            "take a TreeNetwork, or another order"
        )
    return blanket_order(scores, parents, prices, go_on=name == "blanket")


def _model_scores(model: ObservationModel, score: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Score a slice of features at a time, so that the table of a million is never whole."""
    size = int(model.n_outcomes_.max(initial=1)) * len(model.classes_)
    scores = [score(model.likelihood_table(part)) for part in chunks(model.n_features_in_, 8.0 * 6 * size)]
    return np.concatenate(scores) if scores else np.empty(0)


def conditional_order(
    X: Codes, y: npt.ArrayLike, prices: FloatArray, n_outcomes: IntArray, n: int = TUNING.max_searched
) -> IntArray:
    """Order greedily by what a feature says about the class that no chosen one has said (CMIM).

    The next feature f is the one with the largest min over the chosen features s of I(f; class | s), per unit of cost
    (F. Fleuret, "Fast binary feature selection with conditional mutual information", JMLR 5, 2004). Information is
    estimated with the bias of small samples taken off (Miller and Madow), so that noise does not pass for news; the
    search ends early when no candidate says anything new. All other features follow in the order of their information
    per cost. A missing cell of a candidate is left out, one of a chosen feature is a value of its own.
    """
    X = check_codes(X)
    classes, codes = np.unique(y, return_inverse=True)
    plain = _information(X, codes, np.zeros_like(codes), len(classes), 1, n_outcomes)
    rest = rank_by_rate(plain, prices)
    candidates = np.sort(rest[: TUNING.max_candidates])
    if X.shape[0] > TUNING.max_rows:
        rows = np.sort(as_generator(0, "some rows").choice(X.shape[0], TUNING.max_rows, replace=False))
        X, codes = X[rows], codes[rows]
    X = X[:, candidates]
    chosen = candidates[_search(X, codes, len(classes), n_outcomes[candidates], prices[candidates], n)]
    return np.concatenate([chosen, rest[~np.isin(rest, chosen)]])


def _search(X: Codes, codes: IntArray, n_classes: int, sizes: IntArray, prices: FloatArray, n: int) -> IntArray:
    by_column = X.tocsc() if sparse.issparse(X) else np.asfortranarray(X)
    gains = _information(X, codes, np.zeros_like(codes), n_classes, 1, sizes)
    negligible = 1e-9 * max(float(gains.max(initial=0.0)), 1e-300)
    chosen: list[int] = []
    while len(chosen) < n:
        best = _best_rate(gains, prices, negligible)
        if best < 0:
            break
        chosen.append(best)
        gains[best] = -np.inf
        seen: Any = by_column[:, [best]]
        rows = (seen.toarray() if sparse.issparse(seen) else seen).ravel().astype(np.intp)
        # a candidate that says nothing new will not say more later
        alive = np.flatnonzero(gains > negligible)
        if len(alive) == 0:
            break
        part = X if len(alive) > 0.8 * len(gains) else X[:, alive]
        at = np.arange(len(gains)) if part is X else alive
        strata = int(sizes[best]) + 1
        news = _information(part, codes, rows % strata, n_classes, strata, sizes[at])
        gains[at] = np.minimum(gains[at], news)
    return np.array(chosen, dtype=np.intp)


def _best_rate(gains: FloatArray, prices: FloatArray, negligible: float) -> int:
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
    return int(np.argmax(rate >= top * (1 - TUNING.relative_tie) - TIE * top))


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


def blanket_order(
    scores: FloatArray, parents: Sequence[npt.ArrayLike], prices: FloatArray, *, go_on: bool = True
) -> IntArray:
    """Order by score, leaving out the Markov blanket of every feature that was taken.

    The feature of the highest score comes first; it and its blanket leave the pool; then the best of what is left in
    the pool follows, until the pool is empty (Y. W. Liyanage, D.-S. Zois, C. Chelmis, "Dynamic instance-wise
    classification in correlated feature spaces", IEEE Transactions on Artificial Intelligence 2, 2021, section III).
    Features that share much, given the class, are neighbours in the network, so that what comes next repeats little of
    what is known. With ``go_on`` the same rule is then applied to those that left the pool, and so on; the paper ends
    with it. `conditional_order` mostly predicts better from as many features.
    """
    above = _check_parents(parents)
    below = child_lists(above)
    ranked = rank_by_rate(scores, prices)
    rest = np.ones(len(above), dtype=bool)
    order: list[int] = []
    while len(order) < len(above):
        taken = _pool(ranked[rest[ranked]], above, below, rest.copy())
        order += taken
        rest[taken] = False
        if not go_on:
            break
    return np.array(order, dtype=np.intp)


def _pool(ranked: IntArray, above: list[IntArray], below: list[list[int]], present: BoolArray) -> list[int]:
    """Take the best until the pool, at first all that are present, is empty."""
    pool = present.copy()
    taken = []
    for feature in ranked.tolist():
        if pool[feature]:
            taken.append(feature)
            pool[feature] = False
            pool[_blanket(above, below, feature, present)] = False
    return taken


def _blanket(above: list[IntArray], below: list[list[int]], node: int, present: BoolArray) -> list[int]:
    children = [child for child in below[node] if present[child]]
    near = {*above[node].tolist(), *children}.union(*(above[child].tolist() for child in children))
    return [other for other in near if other != node and present[other]]


def _check_parents(parents: Sequence[npt.ArrayLike]) -> list[IntArray]:
    above = [np.asarray(nodes) if np.size(nodes) else np.empty(0, dtype=np.intp) for nodes in parents]
    for feature, nodes in enumerate(above):
        if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
            raise ValueError(f"parents of feature {feature} must be a list of feature numbers, got {nodes.tolist()}.")
        wrong = nodes[(nodes < 0) | (nodes >= len(above)) | (nodes == feature)]
        if wrong.size:
            raise ValueError(
                f"feature {feature} has the parent {int(wrong[0])}, which is none of the other features "
                f"0..{len(above) - 1}."
            )
    return above
