"""Ask what tells most about the class."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.likelihoods import common, likelihood_parts, together
from seqclass.pomdp.solvers.ordering._information import information, information_by_row
from seqclass.pomdp.solvers.ordering.base import OrderingRule


class ClassInformation(OrderingRule):
    """The mutual information of the answer and the class, given what was seen, in nats per price.

    Unlike the expected saving it values an answer that changes no decision by itself. It says nothing for a question
    that only tells what to ask next.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> ClassInformation().scores(TableProblem([0.5, 0.5], sensors, prices=0.1, free=True).begin()).round(3)
    array([[0.   , 6.931]])
    """

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Mutual information in nats; see `OrderingRule.gains`."""
        result: FloatArray = np.empty((len(info), len(questions)))
        hidden = info.problem.hidden
        if hidden is not None:
            states = hidden.probability(info)
            for places in together(info.problem, questions):
                tables, at = hidden.tables_of(questions[places])
                result[:, places] = tables.class_information(states)[:, at]
            return result
        for part, places, likelihood in likelihood_parts(questions, info, info.problem.n_classes):
            belief, table = info.belief[part], common(likelihood)
            found = information_by_row(belief, likelihood) if table is None else information(belief, table)
            result[part, places] = found
        return result
