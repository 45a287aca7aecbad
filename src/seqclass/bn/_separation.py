"""Which of the acquired features bear on those that are still to come."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

import numpy as np
import numpy.typing as npt

from seqclass._arrays import IntArray


def moral_neighbours(parents: Sequence[IntArray]) -> list[list[int]]:
    """Neighbours of each feature: parents, children, and the children's other parents.

    Examples
    --------
    >>> moral_neighbours([np.array([], int), np.array([], int), np.array([0, 1])])
    [[1, 2], [0, 2], [0, 1]]
    """
    joined: list[set[int]] = [set() for _ in parents]
    for child, above in enumerate(parents):
        family = [child, *above.tolist()]
        for j in family:
            joined[j].update(family)
    for j, around in enumerate(joined):
        around.discard(j)
    return [sorted(around) for around in joined]


def boundaries(order: Sequence[int], neighbours: Sequence[Sequence[int]]) -> list[IntArray]:
    """For each stage, the acquired features that a path of unacquired ones joins to a feature still in the order.

    Examples
    --------
    In the line 0 - 1 - 2 with 1 never acquired, 0 still bears on 2.

    >>> [features.tolist() for features in boundaries([0, 2], [[1], [0, 2], [1]])]
    [[], [0]]
    """
    stage = {feature: k for k, feature in enumerate(order)}
    visited: set[int] = set()
    boundary: set[int] = set()
    result: list[IntArray] = []
    # from the last stage back: a feature that returns to the open ones joins its neighbours to what is to come
    for k in range(len(order) - 1, -1, -1):
        boundary.discard(order[k])
        stack = [order[k]]
        while stack:
            for j in neighbours[stack.pop()]:
                if j in stage:
                    if stage[j] < k:
                        boundary.add(j)
                elif j not in visited:
                    visited.add(j)
                    stack.append(j)
        result.append(np.array(sorted(boundary), dtype=np.intp))
    return result[::-1]


def shadowed(order: Sequence[int], nearest: Callable[[int, Container[int]], int]) -> list[IntArray]:
    """For each stage, the acquired features that are the nearest acquired ancestor of a feature at its stage.

    Parameters
    ----------
    order : sequence of int
    nearest : callable
        Nearest ancestor of a feature among some, -1 if there is none.

    Examples
    --------
    >>> [features.tolist() for features in shadowed([0, 1], lambda feature, known: 0 if 0 in known else -1)]
    [[], [0]]
    """
    stage = {feature: k for k, feature in enumerate(order)}
    above: list[int] = []
    known: set[int] = set()
    for feature in order:
        above.append(nearest(feature, known))
        known.add(feature)
    wanted: set[int] = set()
    result: list[IntArray] = []
    for k in range(len(order) - 1, -1, -1):
        if above[k] >= 0:
            wanted.add(above[k])
        wanted = {j for j in wanted if stage[j] < k}
        result.append(np.array(sorted(wanted), dtype=np.intp))
    return result[::-1]


def check_stages(order: npt.ArrayLike, n_features: int) -> list[int]:
    """Check an order of some features.

    Raises
    ------
    ValueError
        If a feature does not exist or occurs twice.

    Examples
    --------
    >>> check_stages([2, 0], 3)
    [2, 0]
    """
    given = np.asarray(order)
    if given.size == 0:
        return []
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError("order must be a one-dimensional array of feature numbers.")
    wrong = (given < 0) | (given >= n_features)
    if wrong.any():
        raise ValueError(f"order names feature {given[np.argmax(wrong)]}; they are 0..{n_features - 1}.")
    if len(np.unique(given)) < len(given):
        raise ValueError("order names a feature twice.")
    return [int(j) for j in given]
