"""Ask what GeNIe's diagnosis ranks first."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.class_information import ClassInformation
from seqclass.pomdp.state_tables import plogp

_TINY = np.finfo(float).tiny


class CrossEntropy(OrderingRule):
    """The share of the entropy of the class that the answer is expected to take away.

    The diagnostic value by which GeNIe and SMILE rank observations, the myopic rule that practitioners know; a baseline
    to compare with. It knows no stopping rule; `Adaptive` with ``rules=[CrossEntropy()]`` gives it one.

    Parameters
    ----------
    per_price : bool
        Whether it is divided by the price of the question.

    References
    ----------
    .. [1] BayesFusion, "GeNIe Modeler: user manual", section on diagnosis.
    .. [2] M. J. Druzdzel, "SMILE: structural modeling, inference, and learning engine and GeNIe: a development
       environment for graphical decision-theoretic models", AAAI 1999.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> CrossEntropy().scores(TableProblem([0.5, 0.5], sensors, prices=0.1, free=True).begin()).round(3)
    array([[0., 1.]])
    """

    def __init__(self, per_price: bool = False) -> None:
        self.per_price = per_price

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Shares of the entropy; see `OrderingRule.gains`."""
        entropy = -plogp(info.belief).sum(axis=1)
        return np.asarray(ClassInformation().gains(info, questions) / np.maximum(entropy, _TINY)[:, None])
