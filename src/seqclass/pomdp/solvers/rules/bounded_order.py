"""Any question next by one step of look-ahead on bounds of all orders."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.bounds.over_orders import OrderBounds
from seqclass.pomdp.information import TIE, InformationState
from seqclass.pomdp.policy import DECIDE, Policy, SolveInfo


class OrderBoundPolicy(Policy):
    """Asks the question that promises most if what follows costs no more than its lower bound.

    Parameters
    ----------
    bounds : OrderBounds
        Bounds of a free problem, over all orders.
    info : SolveInfo, optional
        What the solver reports.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> from seqclass.pomdp.bounds.repeats import RepeatValues
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=[0.1, 0.02], free=True)
    >>> OrderBoundPolicy(RepeatValues(problem)).act(problem.begin())
    array([1])
    """

    def __init__(self, bounds: OrderBounds, info: SolveInfo | None = None) -> None:
        super().__init__(bounds.problem, info=info)
        self.bounds = bounds

    def _act(self, info: InformationState) -> IntArray:
        question = np.full(len(info), DECIDE)
        rows = np.flatnonzero(~info.settled)
        if rows.size:
            some = info[rows]
            costs = self.bounds.asking(some)
            best = costs.min(axis=1)
            on = best < some.to_beat
            question[rows[on]] = (costs <= best[:, None] * (1 + TIE)).argmax(axis=1)[on]
        return question

    def following(self, info: InformationState) -> IntArray:
        """The most promising question, worth its price or not, (n,); see `Policy.following`."""
        if info.stage >= self.n_stages:
            return np.full(len(info), DECIDE)
        costs = self.bounds.asking(info)
        best = costs.min(axis=1)
        return np.where(np.isfinite(best), (costs <= best[:, None] * (1 + TIE)).argmax(axis=1), DECIDE)

    def continuation_cost(self, info: InformationState) -> FloatArray:
        """Bound of the most promising question, (n,); inf where nothing is open."""
        if info.stage >= self.n_stages:
            return np.full(len(info), np.inf)
        return np.asarray(self.bounds.asking(info).min(axis=1))
