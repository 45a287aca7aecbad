"""Likelihoods of many questions at once: what scores and costs of open questions are computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks, row_sums

if TYPE_CHECKING:
    from seqclass.pomdp.information import InformationState
    from seqclass.pomdp.problem import AcquisitionProblem

#: Products of beliefs and likelihoods are computed in pieces of this size, so that they stay in the cache.
CACHE_BYTES = 2**21


def padded(tables: FloatArray | Sequence[FloatArray], n_outcomes: IntArray) -> FloatArray:
    """Tables of all questions as one array, zero beyond a question's own outcomes.

    Parameters
    ----------
    tables : ndarray of shape (n_questions, V, d) or sequence of arrays of shape (n_outcomes, d)
        P(outcome | column).
    n_outcomes : ndarray of int of shape (n_questions,)
        Number of outcomes of each.

    Returns
    -------
    ndarray of shape (n_questions, V, d)

    Examples
    --------
    >>> padded([np.ones((1, 2)), np.full((2, 2), 0.5)], np.array([1, 2])).shape
    (2, 2, 2)
    """
    if isinstance(tables, np.ndarray):
        return tables
    width = tables[0].shape[-1] if tables else 1
    result = np.zeros((len(tables), int(n_outcomes.max(initial=1)), width))
    for row, table in zip(result, tables):
        row[: len(table)] = table
    return result


def together(problem: AcquisitionProblem, questions: IntArray) -> Iterator[IntArray]:
    """Positions of questions whose likelihoods are worth computing together.

    Bundles have many outcomes, for which the other questions need not make room: each comes by itself.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    questions : ndarray of int of shape (m,)
        The questions.

    Yields
    ------
    ndarray of int

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> list(together(problem, np.arange(2)))
    [array([0, 1])]
    """
    whole = np.array([problem.bundle(q) is not None for q in questions.tolist()], dtype=bool)
    for places in [np.flatnonzero(~whole), *np.flatnonzero(whole)[:, None]]:
        if places.size:
            yield places


def likelihood_parts(
    questions: IntArray, info: InformationState, n_columns: int
) -> Iterator[tuple[slice, IntArray, FloatArray]]:
    """Likelihoods of many questions for all rows, a part at a time, so that memory is bounded.

    Parameters
    ----------
    questions : ndarray of int of shape (m,)
        The questions.
    info : InformationState
        What is known of ``n`` instances.
    n_columns : int
        Numbers that are computed of each row, question and outcome.

    Yields
    ------
    rows : slice
        Rows that the part is about.
    places : ndarray of int
        Positions of its questions among the ``m``.
    likelihood : ndarray of shape (n_rows, n_places, V, n_classes)
        See `AcquisitionProblem.likelihoods_of`.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> [part[2].shape for part in likelihood_parts(np.arange(2), problem.begin(3), 2)]
    [(3, 2, 2, 2)]
    """
    problem = info.problem
    for places in together(problem, questions):
        asked = questions[places]
        widest = float(problem.n_outcomes[asked].max())
        for part in chunks(len(info), 8.0 * 3 * len(asked) * widest * max(problem.n_classes, n_columns)):
            whole = part.start == 0 and part.stop == len(info)
            state = info.state if whole else info.state[np.arange(part.start, part.stop)]
            yield part, places, problem.likelihoods_of(asked, state)


def common(likelihood: FloatArray) -> FloatArray | None:
    """Return the likelihoods that all rows share, (m, V, n_classes); None where they may differ.

    Examples
    --------
    >>> common(np.broadcast_to(np.ones((1, 2, 2)), (5, 1, 2, 2))).shape
    (1, 2, 2)
    """
    return likelihood[0] if len(likelihood) and likelihood.strides[0] == 0 else None


def table_costs(belief: FloatArray, table: FloatArray, vectors: FloatArray) -> FloatArray:
    """Expected cost of the best of some vectors after each question, by matrix products.

    Parameters
    ----------
    belief : ndarray of shape (n, d)
        P(column) of each row, such as its belief.
    table : ndarray of shape (m, V, d)
        P(outcome | column) of each question.
    vectors : ndarray of shape (k, d)
        What may be had after the answer, by column.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> sensor = np.array([[[0.9, 0.2], [0.1, 0.8]]])
    >>> table_costs(np.array([[0.5, 0.5]]), sensor, 1 - np.eye(2)).round(3)
    array([[0.15]])
    """
    shape = table.shape[:2]
    flat = table.reshape(-1, table.shape[2])
    cost = np.empty((len(belief), shape[0]))
    for part in chunks(len(belief), 8.0 * 3 * len(flat), CACHE_BYTES):
        # the successors' costs of one decision are one product of beliefs and weighted likelihoods
        best = belief[part] @ (flat * vectors[0]).T
        for vector in vectors[1:]:
            np.minimum(best, belief[part] @ (flat * vector).T, out=best)
        cost[part] = row_sums(best.reshape(-1, *shape))
    return cost
