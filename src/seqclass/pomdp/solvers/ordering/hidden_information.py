"""Ask what tells most about the hidden state."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.likelihoods import together
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.class_information import ClassInformation


class HiddenInformation(OrderingRule):
    """The mutual information of the answer and the hidden state, of which each class may have several, per price.

    A question that says nothing about the class may say which other question does: it tells much about the hidden
    state. Only for problems that offer hidden states (`AcquisitionProblem.hidden`), such as `MixtureProblem`, and for
    those whose answers are independent given the class, where it is `ClassInformation`: the classes are the states.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import MixtureProblem
    >>> pointer, useless = [[1, 0, 1, 0], [0, 1, 0, 1]], np.full((2, 4), 0.5)
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [useless, pointer], prices=0.1, free=True)
    >>> HiddenInformation().scores(problem.begin()).round(3)
    array([[0.   , 6.931]])
    """

    def check(self, problem: AcquisitionProblem) -> None:
        """Refuse a problem without hidden states; see `OrderingRule.check`."""
        if problem.hidden is None and problem.class_tables is None:
            raise ValueError(
                f"HiddenInformation needs a problem with hidden states, and this {type(problem).__name__} has none; "
                "use ClassInformation."
            )

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Mutual information in nats; see `OrderingRule.gains`."""
        self.check(info.problem)
        hidden = info.problem.hidden
        if hidden is None:
            return ClassInformation().gains(info, questions)
        states = hidden.probability(info)
        result: FloatArray = np.empty((len(info), len(questions)))
        for places in together(info.problem, questions):
            tables, at = hidden.tables_of(questions[places])
            result[:, places] = tables.hidden_information(states)[:, at]
        return result
