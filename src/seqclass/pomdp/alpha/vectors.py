"""Alpha vectors: piecewise linear concave value functions, their backup and their pruning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass.pomdp.problem import TIE, AcquisitionProblem, InformationState
from seqclass.pomdp.values import ValueFunction

#: Scores of a batch of beliefs are computed in pieces of this size, so that they stay in the cache.
_SCORE_BYTES = 2**19
#: From this many vectors on one is chosen among them in single precision.
_MANY_VECTORS = 256


class AlphaSet:
    """Alpha vectors of one stage, grouped by the context they are valid in.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, n_classes)
        The vectors; those of context ``i`` are the rows ``pointer[i]:pointer[i + 1]``.
    pointer : ndarray of int of shape (n_contexts + 1,), optional
        Left out: one context, all rows.
    everywhere : ndarray of shape (m, n_classes), optional
        Vectors valid in every context, such as those of stopping.

    Examples
    --------
    >>> import numpy as np
    >>> AlphaSet(np.array([[0.0, 1.0], [1.0, 0.0]])).value(np.array([[0.3, 0.7]]))
    array([0.3])
    """

    def __init__(
        self, vectors: FloatArray, pointer: IntArray | None = None, everywhere: FloatArray | None = None
    ) -> None:
        self.vectors = vectors
        self.pointer = pointer
        self.everywhere = np.empty((0, vectors.shape[1])) if everywhere is None else everywhere

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def precision(self) -> type[np.floating[Any]]:
        """What the choice among the vectors is made in."""
        # any choice gives the vector of some plan, so single precision may cost 1e-7 of value but never validity
        return np.float32 if len(self) >= _MANY_VECTORS else np.float64

    def of(self, context: int | None = None) -> FloatArray:
        """Vectors valid in a context, the ones valid everywhere first."""
        own = self.vectors
        if self.pointer is not None and context is not None:
            own = own[self.pointer[context] : self.pointer[context + 1]]
        return np.concatenate([self.everywhere, own])

    def value(self, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Smallest product of each belief with a vector valid in its context, (n,); inf where there is none."""
        value, _ = self.best(belief, context)
        return value

    def best(
        self,
        belief: FloatArray,
        context: IntArray | None = None,
        dtype: type[np.floating[Any]] = np.float64,
    ) -> tuple[FloatArray, FloatArray]:
        """Value of each belief, (n,), and the vector that attains it, (n, n_classes), chosen in precision ``dtype``."""
        if self.pointer is None or context is None:
            return _best(belief, self.of(), dtype)
        value = np.full(len(belief), np.inf)
        vector = np.zeros_like(belief)
        order = np.argsort(context, kind="stable")
        present, starts = np.unique(context[order], return_index=True)
        for number, rows in zip(present, np.split(order, starts[1:])):
            value[rows], vector[rows] = _best(belief[rows], self.of(int(number)), dtype)
        return value, vector


def _best(
    belief: FloatArray, vectors: FloatArray, dtype: type[np.floating[Any]] = np.float64
) -> tuple[FloatArray, FloatArray]:
    """Value and best vector of each belief; the choice is made in ``dtype``, the value is always in double."""
    n = len(belief)
    if len(vectors) == 0:
        return np.full(n, np.inf), np.zeros_like(belief)
    index = np.empty(n, dtype=np.intp)
    transposed = vectors.T.astype(dtype, copy=False)
    rows = belief.astype(dtype, copy=False)
    for part in chunks(n, transposed.itemsize * len(vectors), _SCORE_BYTES):
        index[part] = (rows[part] @ transposed).argmin(axis=1)
    chosen = vectors[index]
    return np.einsum("nc,nc->n", belief, chosen), chosen


def backup(
    belief: FloatArray,
    likelihood: FloatArray,
    following: AlphaSet,
    price: float,
    successors: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Back up a batch of beliefs: the best vector of going on, at each.

    ``alpha = price + sum_v P(v | .) * alpha_v`` (elementwise), ``alpha_v`` the best of the next stage's vectors at the
    unnormalised successor ``P(v | .) * belief``.

    Parameters
    ----------
    belief : ndarray of shape (n, n_classes)
        Beliefs, of any positive scale.
    likelihood : ndarray of shape (n or 1, n_outcomes, n_classes)
        P(outcome | context, class) of each belief's context.
    following : AlphaSet
        The next stage's vectors, stopping included.
    price : float
        Price of the stage's feature.
    successors : ndarray of int of shape (n, n_outcomes), optional
        Context after each outcome.

    Returns
    -------
    vectors : ndarray of shape (n, n_classes)
    values : ndarray of shape (n,)
        The product of each vector with its belief.

    References
    ----------
    .. [1] E. J. Sondik, "The optimal control of partially observable Markov processes", 1971.
    .. [2] M. T. J. Spaan and N. Vlassis, "Perseus: randomized point-based value iteration for POMDPs", JAIR 24, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> stop = AlphaSet(1 - np.eye(2))
    >>> vectors, values = backup(np.array([[0.5, 0.5]]), np.array([[[0.9, 0.2], [0.1, 0.8]]]), stop, 0.1)
    >>> values.round(3)
    array([0.25])
    """
    vectors = np.full(belief.shape, float(price))
    for v in range(likelihood.shape[1]):
        column = likelihood[:, v]
        _, best = following.best(belief * column, None if successors is None else successors[:, v], following.precision)
        vectors += column * best
    return vectors, np.einsum("nc,nc->n", vectors, belief)


def cover(belief: FloatArray, vectors: FloatArray, values: FloatArray, tolerance: float, order: IntArray) -> IntArray:
    """Choose few vectors that give each belief its own backed-up value, up to ``tolerance``.

    The randomised pass of Perseus, sound for stages: beliefs are visited in ``order`` a block at a time, the visited
    ones' vectors are kept, and a belief leaves the list only when a kept vector reaches the value of its *own* backup
    (never because another stage's value or a stopping vector already looks better). A block at least leaves the list
    each round, so it ends.

    Parameters
    ----------
    belief, vectors : ndarray of shape (n, n_classes)
        Beliefs and the backed-up vector of each.
    values : ndarray of shape (n,)
        Value of each belief under its own vector.
    tolerance : float
        How much above its own value a belief may stay, in units of cost for a normalised belief.
    order : ndarray of int of shape (n,)
        Order of the visits, a random permutation.

    Returns
    -------
    ndarray of int
        Rows of ``vectors`` to keep, in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> belief = np.array([[0.5, 0.5], [0.4, 0.6]])
    >>> vectors = np.array([[0.2, 0.3], [0.2, 0.3]])
    >>> cover(belief, vectors, (belief * vectors).sum(1), 0.0, np.array([1, 0]))
    array([1])
    """
    slack = values + (tolerance + TIE * float(np.abs(vectors).max(initial=0.0))) * belief.sum(axis=1)
    todo = order
    kept: list[IntArray] = []
    block = 1
    while todo.size:
        chosen, todo = todo[:block], todo[block:]
        if chosen.size > 1:  # of equal vectors one is enough
            chosen = chosen[_distinct(vectors[chosen])]
        kept.append(chosen)
        if todo.size:
            reached, _ = _best(belief[todo], vectors[chosen])
            todo = todo[reached > slack[todo]]
        block = min(2 * block, 64)
    return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.intp)


def _distinct(vectors: FloatArray) -> IntArray:
    """First row of each distinct vector, in increasing order; now and then a repetition passes."""
    rows = np.argsort(vectors @ np.sqrt(np.arange(2.0, vectors.shape[1] + 2)), kind="stable")
    ranked = vectors[rows]
    repeated = np.append(False, (ranked[1:] == ranked[:-1]).all(axis=1))[: len(rows)]
    return np.sort(rows[~repeated])


class AlphaVectors(ValueFunction):
    """A value function given by alpha vectors of going on, one set a stage.

    A vector is the cost, class by class, of a conditional plan, so the value is never below the optimal cost. Stopping
    vectors are valid at every stage and in every context and are not stored.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the vectors belong to.
    sets : sequence of AlphaSet
        Vectors of going on, for the stages ``0..n_stages-1``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, AlphaSet, AlphaVectors
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> values = AlphaVectors(problem, [AlphaSet(np.array([[0.2, 0.3]]))])
    >>> values.value(0, np.array([[0.5, 0.5], [0.9, 0.1]]))
    array([0.25, 0.1 ])
    """

    def __init__(self, problem: AcquisitionProblem, sets: Sequence[AlphaSet]) -> None:
        super().__init__(problem, len(sets))
        self.sets = list(sets)

    @property
    def size(self) -> int:
        """Number of vectors in all stages and contexts, stopping ones left out."""
        return sum(len(s) for s in self.sets)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.sets[stage].best(belief, context, self.sets[stage].precision)[0]

    def plan_cost(self, info: InformationState, rows: IntArray) -> FloatArray:
        """Cost of the best vector of going on; see `ValueFunction.plan_cost`."""
        context = None if info.context is None else info.context[rows]
        return self.sets[info.stage].value(info.belief[rows], context)


class SharedVectors(AlphaVectors):
    """Alpha vectors that are read in every context, though each was computed in one: the published approximation.

    The values are no plan's cost, and may be below the optimum; what a policy of theirs costs, its certificate says.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the vectors belong to.
    sets : sequence of AlphaSet
        Vectors of going on, for the stages ``0..n_stages-1``, not grouped by context.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE TAI 2021, section V.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, AlphaSet
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> SharedVectors(problem, [AlphaSet(np.array([[0.2, 0.3]]))]).plan_cost(problem.begin(), np.array([0]))
    array([inf])
    """

    def plan_cost(self, info: InformationState, rows: IntArray) -> FloatArray:
        """Infinite: no plan is known; see `ValueFunction.plan_cost`."""
        return np.full(len(rows), np.inf)
