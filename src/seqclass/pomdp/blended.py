"""Values for prices between two that were solved for."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_real
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.values import ValueFunction


class BlendedValues(ValueFunction):
    """Weighted mean of the values at two multipliers of the prices, for a multiplier between them.

    The optimal cost of a belief is concave in the multiplier, for each policy's is linear; so its chord is below it, by
    a share that falls with the square of the logarithm of the two multipliers' ratio: less than 1% at a ratio of 2.6,
    nearly the same at all beliefs, so that look-ahead chooses almost alike.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem at the prices between.
    lower, upper : ValueFunction
        Values at the smaller and the larger prices.
    share : float
        Weight of ``upper``, between 0 and 1: ``(m - m_lower) / (m_upper - m_lower)`` for the multiplier ``m``.

    Raises
    ------
    ValueError
        If ``share`` is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, scale_prices
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> ends = [GridValueIteration().solve(scale_prices(problem, m)).values for m in (1.0, 2.0)]
    >>> BlendedValues(scale_prices(problem, 1.5), *ends, share=0.5).value(0, problem.prior[None])
    array([0.3])
    """

    def __init__(self, problem: AcquisitionProblem, lower: ValueFunction, upper: ValueFunction, share: float) -> None:
        super().__init__(problem, max(lower.n_stages, upper.n_stages))
        self.lower, self.upper = lower, upper
        self.share = check_real(share, "share", 0, 1)
        self.limited = lower.limited or upper.limited

    @property
    def size(self) -> int:
        """Number of vectors or grid values of both."""
        return self.lower.size + self.upper.size

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go; see `ValueFunction.value`."""
        return self._mean("value", stage, belief, context)

    def plan_cost(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Mean cost of the two plans where both have one; see `ValueFunction.plan_cost`."""
        if stage >= min(self.lower.n_stages, self.upper.n_stages):
            return np.full(len(belief), np.inf)
        return self._mean("plan_cost", stage, belief, context)

    def successor_values(self, info: InformationState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes); the sum is the expectation."""
        return self._mean("successor_values", info)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray | None) -> FloatArray:
        return self.value(stage, belief, context)

    def _mean(self, name: str, *arguments: Any) -> FloatArray:
        first, second = (getattr(values, name)(*arguments) for values in (self.lower, self.upper))
        if self.share in (0.0, 1.0):  # the other may be infinite
            return np.asarray(second if self.share else first)
        return np.asarray((1 - self.share) * first + self.share * second)
