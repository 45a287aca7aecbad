"""What a problem costs at many multipliers of its prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.pomdp.policy import Policy


@dataclass(frozen=True)
class CostFrontier:
    """Expected price paid against expected decision cost, a point for each multiplier of the prices.

    All arrays have shape (n_multipliers,) and are expectations per instance under the model.

    Attributes
    ----------
    multipliers : ndarray
        Factors of all prices.
    price : ndarray
        Prices paid, as they are: not multiplied.
    decision_cost : ndarray
        Cost of the decisions.
    error : ndarray
        Probability of deciding for a wrong class.
    n_features : ndarray
        Number of features.
    cost : ndarray
        ``multipliers * price + decision_cost``: what the policy of that multiplier minimises.
    upper, lower : ndarray
        The policy's `cost` is at most `upper`, no policy's is less than `lower`; NaN where no bound was asked for.
    confidence : ndarray
        1.0 where both bounds are exact, else their confidence.
    std_error : ndarray
        Standard error of `cost`; 0 where exact.
    policies : tuple of Policy
        The policies, to be run on the problem itself.
    method : str
        ``"exact"`` or ``"simulation"``: how the expectations were computed.
    seconds : float
        Wall-clock time.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, cost_sweep
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> frontier = cost_sweep(problem, [1.0, 10.0])
    >>> len(frontier), frontier.policies[0].act(problem.begin())
    (2, array([0]))
    """

    multipliers: FloatArray
    price: FloatArray
    decision_cost: FloatArray
    error: FloatArray
    n_features: FloatArray
    cost: FloatArray
    upper: FloatArray
    lower: FloatArray
    confidence: FloatArray
    std_error: FloatArray
    policies: tuple[Policy, ...]
    method: str
    seconds: float

    def __len__(self) -> int:
        return len(self.multipliers)

    @property
    def gap(self) -> FloatArray:
        """``(upper - lower) / upper``; 0 where `upper` is 0."""
        upper = np.where(self.upper == 0, 1.0, self.upper)
        return np.where(self.upper == 0, 0.0, (self.upper - self.lower) / upper)
