"""Ask what saves most within the next few questions."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_integer
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.rules.lookahead import lookahead_costs


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
    """Most answers that one step of look-ahead at so many questions has to go through.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> branches(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 5), prices=0.1), 3)
    6.0
    """
    sizes = np.sort(problem.n_outcomes)
    return float(sizes[0 if n_candidates is None else -min(n_candidates, len(sizes)) :].sum())
