"""Ask what saves most if one has to decide after it."""

from __future__ import annotations

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_integer
from seqclass.pomdp.policy import unit
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.simple import lookahead_costs

__all__ = ["ExpectedSaving", "LookaheadSaving"]


class LookaheadSaving(OrderingRule):
    """The cost of deciding now less that of asking and then doing the best of at most ``depth - 1`` further questions.

    What the questions cost is counted within, so that the saving is not divided by a price. It sees a question that
    only says what to ask next, which `ExpectedSaving` does not.

    Parameters
    ----------
    depth : int
        Questions it looks ahead.
    n_candidates : int or None
        Look further only at so many questions of each history, those of least expected cost if one has to decide after
        them. None: at all that a bound does not rule out.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=[0.1, 0.05], free=True)
    >>> LookaheadSaving().next(problem.begin())
    array([1])
    """

    per_price = False
    saves = True

    def __init__(self, depth: int = 2, n_candidates: int | None = None) -> None:
        self.depth = depth
        self.n_candidates = n_candidates

    def work(self, problem: AcquisitionProblem) -> float:
        """Products that scoring all questions of one instance takes, roughly; see `OrderingRule.work`."""
        return super().work(problem) * branches(problem, self.n_candidates) ** (self.depth - 1)

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Savings, prices counted; -inf where a question was not followed. See `OrderingRule.gains`."""
        depth = check_integer(self.depth, "depth", 1)
        costs = lookahead_costs(info, depth, self.n_candidates)[:, questions]
        return info.stopping_cost[:, None] - costs


def branches(problem: AcquisitionProblem, n_candidates: int | None) -> float:
    """Most answers that one step of look-ahead at so many questions has to go through."""
    sizes = np.sort(problem.n_outcomes)
    return float(sizes[0 if n_candidates is None else -min(n_candidates, len(sizes)) :].sum())


class ExpectedSaving(OrderingRule):
    """The cost of deciding now less the expected cost of deciding after the answer, per price.

    Quick, and the right thing where one question is all that will be asked. It sees nothing in a question whose answer
    alone changes no decision.

    References
    ----------
    .. [1] D. J. Spiegelhalter and R. P. Knill-Jones, "Statistical and knowledge-based approaches to clinical
       decision-support systems", JRSS A 147, 1984; D. Heckerman, E. Horvitz and B. Middleton, "An approximate
       nonmyopic computation for value of information", IEEE PAMI 15, 1993 (the myopic value of information).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.2], [0.1, 0.8]]])
    >>> ExpectedSaving().scores(TableProblem([0.5, 0.5], sensors, prices=[0.1, 0.2], free=True).begin()).round(3)
    array([[1.  , 1.75]])
    """

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Expected savings as parts of the dearest decision, prices left out; see `OrderingRule.gains`."""
        prices = np.broadcast_to(info.prices, info.costs_once.shape)
        saved = info.stopping_cost[:, None] - (info.costs_once - prices)[:, questions]
        return np.asarray(saved / unit(info.problem))
