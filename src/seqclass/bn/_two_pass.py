"""Conditional distributions of all features at once: messages up the forest, then down."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import CHUNK_BYTES, FloatArray, chunks
from seqclass.bn._messages import Forest, Product, normalised
from seqclass.bn._rows import Columns


def all_conditionals(forest: Forest, codes: Columns, n: int) -> FloatArray:
    """P(outcome | evidence on the other features, class) of every feature.

    Parameters
    ----------
    forest : Forest
    codes : dict of int to ndarray of shape (n,)
        Outcomes, -1 where unknown.
    n : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n, n_features, V_max, n_classes)
        Zero beyond V of a feature.

    Examples
    --------
    >>> copy = np.array([[[0.9], [0.1]], [[0.1], [0.9]]])
    >>> forest = Forest(np.array([-1, 0]), [np.full((2, 1), 0.5), copy])
    >>> all_conditionals(forest, {0: np.array([1])}, 1)[0, :, :, 0].tolist()
    [[0.5, 0.5], [0.1, 0.9]]
    """
    order = sorted(range(len(forest.parent)), key=forest.rank.__getitem__)
    largest = max((len(cpd) for cpd in forest.cpds), default=1)
    result = np.zeros((len(order), forest.n_classes, largest, n))
    # three messages a feature are kept until the chunk is done
    for rows in chunks(n, 8.0 * 4 * len(order) * largest * forest.n_classes, CHUNK_BYTES // 4):
        some: Columns = {j: column[rows].astype(np.intp) for j, column in codes.items()}
        _up_and_down(forest, order, some, result[..., rows])
    return np.asarray(result.transpose(3, 0, 2, 1))


def _up_and_down(forest: Forest, order: list[int], codes: Columns, out: FloatArray) -> None:
    own = {j: forest.evidence(j, codes) for j in order}
    received: dict[int, Product] = {}
    sent: dict[int, Product] = {}
    for j in reversed(order):
        product = _times(received.get(j), own[j])
        above = forest.parent[j]
        if product is not None and above >= 0:
            sent[j], _ = product.send(forest.step(j, above))
            received[above] = sent[j] if above not in received else received[above].times(sent[j])
    arriving: dict[int, Product] = {}
    for j in order:
        if forest.parent[j] < 0:
            arriving[j] = forest.prior(j)
        here = arriving.pop(j)
        belief, _ = (here if j not in received else here.times(received[j])).linear()
        out[j, :, : belief.shape[1]] = normalised(belief)
        _send_down(forest, j, _times(here, own[j]), sent, arriving)


def _send_down(
    forest: Forest, j: int, here: Product | None, sent: dict[int, Product], arriving: dict[int, Product]
) -> None:
    """Tell each child what is known from elsewhere: from above, from here and from its siblings."""
    speaking = [child for child in forest.children[j] if child in sent]
    # products of what comes before and after each of them, as nothing can be divided out where it may be zero
    after: list[Product | None] = [None]
    for child in reversed(speaking[1:]):
        after.append(_times(after[-1], sent[child]))
    before = here
    for child, rest in zip(speaking, reversed(after)):
        both = _times(before, rest)
        assert both is not None
        arriving[child], _ = both.send(forest.step(j, child))
        before = _times(before, sent.pop(child))
    assert before is not None
    for child in forest.children[j]:
        if child not in arriving:
            arriving[child], _ = before.send(forest.step(j, child))


def _times(first: Product | None, second: Product | None) -> Product | None:
    if first is None or second is None:
        return second if first is None else first
    return first.times(second)
