"""Markov blankets, and the order that avoids features which the acquired ones are joined to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import BoolArray, IntArray
from seqclass._validation import check_finite, check_integer
from seqclass.bn._ranking import check_prices, rank_by_rate

__all__ = ["blanket_order", "markov_blanket"]


def markov_blanket(parents: Sequence[npt.ArrayLike], node: int) -> IntArray:
    """Features that, with the class, shield a feature from all others.

    These are its feature parents, its children, and its children's other feature parents. The class is a parent of
    every feature, hence in every blanket, and is not listed.

    Parameters
    ----------
    parents : sequence of array-like of int
        Feature parents of each feature, such as ``parents_`` of `TreeNetwork`.
    node : int
        The feature.

    Returns
    -------
    ndarray of int
        Features in increasing order.

    Raises
    ------
    ValueError
        If a feature does not exist or is its own parent.

    References
    ----------
    .. [1] J. Pearl, "Probabilistic reasoning in intelligent systems", 1988, section 3.3.

    Examples
    --------
    In 0 -> 1 -> 2 <- 3 the blanket of 1 holds its parent, its child and that child's other parent.

    >>> markov_blanket([[], [0], [1, 3], []], 1)
    array([0, 2, 3])
    """
    node = check_integer(node, "node", 0, len(parents) - 1)
    above = _check_parents(parents)
    present = np.ones(len(above), dtype=bool)
    return _blanket(above, _children(above), node, present)


def blanket_order(
    scores: npt.ArrayLike, parents: Sequence[npt.ArrayLike], costs: Any = None, *, go_on: bool = True
) -> IntArray:
    """Order by score, leaving out the Markov blanket of every feature that was taken.

    The feature of the highest score comes first; it and its blanket leave the pool; then the best of what is left in
    the pool follows, until the pool is empty ([1]_, section III). Features that share much, given the class, are
    neighbours in the network, so that what comes next repeats little of what is known.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Information of each feature about the class.
    parents : sequence of array-like of int, of length n_features
        Feature parents of each feature, such as ``parents_`` of `TreeNetwork`. The graph is the one over the features
        given here: what a filter has dropped is in nobody's blanket.
    costs : array-like of shape (n_features,) or float, optional
        Price of each feature, all the same by default; the best is the one of the highest score per price, and free
        ones come first.
    go_on : bool
        Whether the features that left the pool follow: the same rule is applied to them, in the graph that they
        induce, and so on until none is left. The paper ends with the pool.

    Returns
    -------
    ndarray of int of shape (n_stages,)
        Features, best first; all of them with ``go_on``.

    Raises
    ------
    ValueError
        If shapes disagree, or a parent does not exist.

    Notes
    -----
    The rule looks at the graph, not at how much neighbours share: `conditional_order`, which does, mostly predicts
    better from as many features (breast_cancer, spambase, MLL, digits, under the tree network itself). Whether the
    rest follows by this rule or simply by score made no difference there.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois, C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE Transactions on Artificial Intelligence 2, 2021, section III.

    Examples
    --------
    In the chain 0 -> 1 -> 2 the best feature is 1, and both of the others are its neighbours.

    >>> blanket_order([0.2, 0.5, 0.3], [[], [0], [1]], go_on=False)
    array([1])
    >>> blanket_order([0.2, 0.5, 0.3], [[], [0], [1]])
    array([1, 2, 0])
    """
    values = check_finite(scores, "scores")
    if values.ndim != 1 or len(values) != len(parents):
        raise ValueError(f"scores must have one number for each of the {len(parents)} features, got {values.shape}.")
    prices = check_prices(costs, len(values))
    above = _check_parents(parents)
    below = _children(above)
    ranked = rank_by_rate(values, prices)
    rest = np.ones(len(above), dtype=bool)
    order: list[int] = []
    while len(order) < len(above):
        taken = _pool(ranked[rest[ranked]], above, below, rest.copy())
        order += taken
        rest[taken] = False
        if not go_on:
            break
    return np.array(order, dtype=np.intp)


def _pool(ranked: IntArray, above: list[IntArray], below: list[IntArray], present: BoolArray) -> list[int]:
    """Take the best until the pool, at first all that are present, is empty."""
    pool = present.copy()
    taken = []
    for feature in ranked.tolist():
        if pool[feature]:
            taken.append(feature)
            pool[feature] = False
            pool[_blanket(above, below, feature, present)] = False
    return taken


def _blanket(above: list[IntArray], below: list[IntArray], node: int, present: BoolArray) -> IntArray:
    """Blanket in the graph that the present features induce."""
    children = below[node][present[below[node]]]
    near = np.unique(np.concatenate([above[node], children, *[above[child] for child in children.tolist()]]))
    return np.asarray(near[present[near] & (near != node)])


def _children(above: list[IntArray]) -> list[IntArray]:
    """Children of each feature, in increasing order."""
    parent, child = _edges(above)
    if not len(parent):
        return list(above)
    child = child[np.argsort(parent, kind="stable")]
    return np.split(child, np.cumsum(np.bincount(parent, minlength=len(above)))[:-1])


def _edges(above: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Parent and child of every edge."""
    child = np.repeat(np.arange(len(above)), [len(given) for given in above])
    return np.concatenate([np.empty(0, dtype=np.intp), *above]), child


def _check_parents(parents: Sequence[npt.ArrayLike]) -> list[IntArray]:
    above = [np.asarray(given) if np.size(given) else np.empty(0, dtype=np.intp) for given in parents]
    for feature, given in enumerate(above):
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ValueError(f"parents of feature {feature} must be a list of feature numbers, got {given.tolist()}.")
    parent, child = _edges(above)
    wrong = (parent < 0) | (parent >= len(above)) | (parent == child)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"feature {int(child[at])} has the parent {int(parent[at])}, "
            f"which is none of the other features 0..{len(above) - 1}."
        )
    return above
