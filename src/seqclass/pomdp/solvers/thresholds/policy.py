"""Linear stopping thresholds: a policy that needs no values, only a few products a stage."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_finite
from seqclass.pomdp.policy import DECIDE, Policy, SolveInfo
from seqclass.pomdp.problem import TIE, AcquisitionProblem, InformationState


def close_corners(problem: AcquisitionProblem, thresholds: FloatArray) -> FloatArray:
    """Thresholds that stop at the simplex's corners, where the class is known.

    The entry of each class in the threshold of that class's own best decision is made at most zero; all others stay.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    thresholds : ndarray of shape (n_stages, n_decisions, n_classes)
        The thresholds.

    Returns
    -------
    ndarray of the same shape

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification",
       theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> close_corners(problem, np.ones((1, 2, 2))).tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    closed = thresholds.copy()
    corner = np.arange(problem.n_classes)
    decision = problem.decide(np.eye(problem.n_classes))
    closed[:, decision, corner] = np.minimum(closed[:, decision, corner], 0.0)
    return np.asarray(closed)


def normalised(thresholds: FloatArray) -> FloatArray:
    """Thresholds scaled to a largest entry of one, which changes no decision; zeros stay.

    Examples
    --------
    >>> import numpy as np
    >>> normalised(np.array([[[-0.1, 0.2], [0.0, 0.0]]])).tolist()
    [[[-0.5, 1.0], [0.0, 0.0]]]
    """
    largest = np.abs(thresholds).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(np.divide(thresholds, largest, out=np.zeros_like(thresholds), where=largest > 0))


class LinearThresholdPolicy(Policy):
    """Stops where the belief is on the stopping side of a linear threshold.

    At stage ``k``, where decision ``j`` is the cheapest, it stops if ``thresholds[k, j] @ belief <= 0``, and takes
    decision ``j``. It stops too where one more price would cost more than knowing the class can save, for there
    stopping is optimal for certain; so the simplex's corners always stop.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem it acts on.
    thresholds : array-like of shape (n_stages, n_decisions, n_classes)
        The thresholds, of any scale; after their last stage it stops.
    info : SolveInfo, optional
        What the solver reports.

    Attributes
    ----------
    thresholds : ndarray of shape (n_stages, n_decisions, n_classes)
        With the corners closed, see `close_corners`, and scaled to a largest entry of one.

    Raises
    ------
    ValueError
        If the shape does not fit the problem, or an entry is not finite.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification",
       theorem 3 and eq. (15).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, LinearThresholdPolicy, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.02)
    >>> policy = LinearThresholdPolicy(problem, [[[-1, 7], [7, -1]]] * 2)  # goes on where both classes exceed 1/8
    >>> evaluate(problem, policy).stage.round(3)
    array([0.  , 0.45, 0.55])
    """

    def __init__(self, problem: AcquisitionProblem, thresholds: npt.ArrayLike, info: SolveInfo | None = None) -> None:
        array = check_finite(thresholds, "thresholds")
        expected = (problem.n_decisions, problem.n_classes)
        if array.ndim != 3 or array.shape[1:] != expected or len(array) > problem.n_stages:
            raise ValueError(
                f"thresholds must have shape (n_stages, {expected[0]}, {expected[1]}), at most {problem.n_stages} "
                f"stages, one vector for each stage and decision; got {array.shape}."
            )
        super().__init__(problem, len(array), info)
        self.thresholds = normalised(close_corners(problem, array))

    def _act(self, info: InformationState) -> IntArray:
        vectors = self.thresholds[info.stage][self.decide(info.belief)]
        stop = info.settled | (np.einsum("nc,nc->n", vectors, info.belief) <= TIE)
        return np.where(stop, DECIDE, info.stage)
