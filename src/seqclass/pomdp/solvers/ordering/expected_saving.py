"""Ask what saves most if one has to decide after it."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.repricing import unit
from seqclass.pomdp.solvers.ordering.base import OrderingRule


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
