"""Values for prices between two that were solved for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_real
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.values import ValueFunction


class InterpolatedValues(ValueFunction):
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
    >>> InterpolatedValues(scale_prices(problem, 1.5), *ends, share=0.5).value(0, problem.prior[None])
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
        return self._mean(lambda values: values.value(stage, belief, context))

    def plan_cost(self, info: InformationState, rows: IntArray) -> FloatArray:
        """Mean cost of the two plans where both have one; see `ValueFunction.plan_cost`."""
        if info.stage >= min(self.lower.n_stages, self.upper.n_stages):
            return np.full(len(rows), np.inf)
        return self._mean(lambda values: values.plan_cost(info, rows))

    def successor_values(self, info: InformationState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes); the sum is the expectation."""
        return self._mean(lambda values: values.successor_values(info))

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.value(stage, belief, context)

    def _mean(self, of: Callable[[ValueFunction], FloatArray]) -> FloatArray:
        first, second = of(self.lower), of(self.upper)
        if self.share in (0.0, 1.0):  # the other may be infinite
            return np.asarray(second if self.share else first)
        return np.asarray((1 - self.share) * first + self.share * second)
