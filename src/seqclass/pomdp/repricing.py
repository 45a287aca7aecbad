"""Problems at other prices, and policies that were made for them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_real
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState


def scale_prices(problem: AcquisitionProblem, multiplier: float) -> AcquisitionProblem:
    """Return the same problem with every price multiplied.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    multiplier : float
        Factor of all prices, not negative.

    Returns
    -------
    AcquisitionProblem
        Shares everything but the prices.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> scale_prices(problem, 3.0).prices.round(3)
    array([0.3])
    """
    check_real(multiplier, "multiplier", 0, np.finfo(float).max)
    changes: dict[str, Any] = {"prices": problem.prices * multiplier, "full_prices": problem.full_prices * multiplier}
    if problem.max_cost is not None:  # the same may be afforded
        changes["max_cost"] = problem.max_cost * multiplier
    return problem.replace(**changes)


def unit(problem: AcquisitionProblem) -> float:
    """The dearest decision, of which tolerances are parts: then prices and costs may be in any unit of money.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> unit(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), 0.1, [[0, 5], [1, 0]]))
    5.0
    """
    return float(problem.decision_costs.max(initial=0.0)) or 1.0


class RepricedPolicy(Policy):
    """A policy made for other prices, run on the problem itself.

    Parameters
    ----------
    policy : Policy
        Policy of ``scale_prices(problem, multiplier)``.
    problem : AcquisitionProblem
        The problem to run it on.
    multiplier : float
        Factor of the prices it was made for; `info` has its bounds at those prices.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, evaluate, scale_prices
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = GridValueIteration().solve(scale_prices(problem, 2.0))
    >>> evaluate(problem, RepricedPolicy(policy, problem, 2.0)).price
    0.1
    """

    def __init__(self, policy: Policy, problem: AcquisitionProblem, multiplier: float) -> None:
        super().__init__(problem, policy.n_stages, policy.info)
        self.policy = policy
        self.multiplier = multiplier

    def begin(self) -> tuple[InformationState, FloatArray]:
        """Return the lots of the policy; see `Policy.begin`."""
        lots, probability = self.policy.begin()
        info = self.problem.begin(len(lots))
        info.lot = lots.lot
        return info, probability

    def draw(self, keys: Any) -> IntArray:
        """Lot of each instance, as the policy draws it; see `Policy.draw`."""
        return self.policy.draw(keys)

    def following(self, info: InformationState) -> IntArray:
        """Question that comes next wherever it goes on, (n,); see `Policy.following`."""
        return self.policy.following(self._scaled(info))

    def continuation_cost(self, info: InformationState) -> FloatArray:
        """Expected cost of going on at the prices the policy was made for, (n,); NaN where it cannot tell.

        Prices count `multiplier` times and decisions as they are, so that ``info.stopping_cost`` less this is what the
        policy expects to save by going on: it goes on where that is positive.

        Parameters
        ----------
        info : InformationState
            What is known of ``n`` instances.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.policy.continuation_cost(self._scaled(info))

    def _act(self, info: InformationState) -> IntArray:
        return self.policy.act(self._scaled(info))

    def _scaled(self, info: InformationState) -> InformationState:
        scaled = copy.copy(info)  # and with it what was computed of it, none of which depends on prices
        scaled.problem = self.policy.problem
        scaled.spent = info.spent * self.multiplier
        return scaled
