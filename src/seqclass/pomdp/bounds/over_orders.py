"""Bounds that hold whatever is asked next, and the keys by which partial answers are told apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.pomdp.problem import AcquisitionProblem, InformationState

#: What to do after partial answers: of each number of questions asked, sorted keys and the question that each asks.
Plan = list[tuple[npt.NDArray[np.bytes_], IntArray]]


def evidence(info: InformationState, *columns: FloatArray | IntArray) -> npt.NDArray[np.bytes_]:
    """Key of what each row of a free problem has seen, in whatever order, (n,): equal where all that follows is.

    Rows differ also where one of the further ``columns`` does, (n,) each.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1, free=True)
    >>> one = problem.begin().asking(0).update(np.array([1])).asking(1).update(np.array([0]))
    >>> two = problem.begin().asking(1).update(np.array([0])).asking(0).update(np.array([1]))
    >>> bool((evidence(one) == evidence(two)).all())
    True
    """
    assert info.seen is not None  # of a free problem it always is
    # numpy drops zeros at the end of such keys, which are all of one width: no two of them mix
    parts: list[Any] = [info.seen, *(column[:, None] for column in columns)]
    if info.paid is not None and info.paid.shape[1]:  # what was known or missing was seen, and paid for by nobody
        parts.append(info.paid)
    if info.problem.max_cost is not None:  # which of a group came first decides what is left to spend
        parts.append(np.round(info.spent, 12)[:, None])
    bytes_ = [np.ascontiguousarray(part).view(np.uint8) for part in parts]
    whole = np.ascontiguousarray(np.concatenate(bytes_, axis=1))
    if not whole.size:
        return np.zeros(len(info), dtype="S1")
    return np.asarray(whole.view(f"S{whole.shape[1]}").reshape(-1))


class OrderBounds(ABC):
    """Lower bounds on what going on costs in a free problem, over all orders.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1, free=True)
    >>> OnePriceBounds(problem).lower(problem.begin()).round(3)
    array([0.2])
    """

    def __init__(self, problem: AcquisitionProblem) -> None:
        self.problem = problem

    @abstractmethod
    def asking(self, info: InformationState) -> FloatArray:
        """No way of asking each question and going on costs less, (n, n_questions); inf where it is not open."""

    def lower(self, info: InformationState) -> FloatArray:
        """No way on costs less, (n,)."""
        least: FloatArray = self.asking(info).min(axis=1, initial=np.inf)
        return np.minimum(info.stopping_cost, least)


class OnePriceBounds(OrderBounds):
    """After one answer either decide, or pay the cheapest price once more and know the class.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1, free=True)
    >>> OnePriceBounds(problem).asking(problem.begin()).round(3)
    array([[0.2, 0.2]])
    """

    def asking(self, info: InformationState) -> FloatArray:
        """See `OrderBounds.asking`."""
        problem = self.problem
        vectors = problem.decision_costs.T
        if info.stage + 1 < problem.n_stages:
            vectors = np.vstack([vectors, problem.prices.min() + problem.perfect_cost])
        after = problem.costs_after(np.arange(problem.n_questions), info, vectors)
        return np.where(info.open, info.prices + after, np.inf)


def asking_once(info: InformationState) -> FloatArray:
    """Cost of asking each question and then deciding, (n, n_questions); inf where it is not open.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> asking_once(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), 0.1, free=True).begin()).round(3)
    array([[0.25]])
    """
    after = info.problem.costs_after(np.arange(info.problem.n_questions), info)
    return np.where(info.open, info.prices + after, np.inf)
