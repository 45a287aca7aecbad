"""A better rule from any rule with values: one step of look-ahead on them."""

from __future__ import annotations

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp.bounds.optimum import asked_once, distinct
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.savings import branches
from seqclass.pomdp.solvers.ordering.values import RuleValues

#: Working memory of one step of look-ahead.
_BYTES = 2**26


class ImprovedRule(OrderingRule):
    """Asks the question after which going on along another rule is expected to cost least.

    Parameters
    ----------
    values : RuleValues
        The other rule, and the cost of going on along it.
    n_candidates : int
        Questions that are tried: the other rule's own, and those after which deciding is expected to cost least.

    References
    ----------
    .. [1] D. P. Bertsekas and D. A. Castanon, "Rollout algorithms for stochastic scheduling problems", Journal of
       Heuristics 5, 1999 (one step of look-ahead on a policy's own values is no worse than the policy).

    Examples
    --------
    >>> from seqclass.pomdp import MixtureProblem, ClassInformation
    >>> pointer = [[1, 0, 1, 0], [0, 1, 0, 1]]
    >>> first, second = [[1, 0.5, 0, 0.5], [0, 0.5, 1, 0.5]], [[0.5, 1, 0.5, 0], [0.5, 0, 0.5, 1]]
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [first, second, pointer], prices=0.05, free=True)
    >>> values = RuleValues(problem, ClassInformation(), 3)
    >>> ClassInformation().next(problem.begin()), ImprovedRule(values).next(problem.begin())
    (array([0]), array([2]))
    """

    per_price = False
    saves = True

    def __init__(self, values: RuleValues, n_candidates: int = 4) -> None:
        self.values = values
        self.n_candidates = n_candidates

    def work(self, problem: AcquisitionProblem) -> float:
        """Products that scoring all questions of one instance takes, roughly; see `OrderingRule.work`."""
        return (1 + branches(problem, self.n_candidates + 1)) * self.values.rule.work(problem)

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Savings over deciding now, prices counted; -inf where a question was not tried. See `OrderingRule.gains`."""
        problem = info.problem
        result: FloatArray = np.empty((len(info), problem.n_questions))
        for part, some in info.parts(8.0 * 4 * branches(problem, self.n_candidates + 1) * problem.n_questions, _BYTES):
            result[part] = self._savings(some)
        return result[:, questions]

    def _savings(self, info: InformationState) -> FloatArray:
        row, question = np.nonzero(self._candidates(info))
        savings = np.full((len(info), info.problem.n_questions), -np.inf)
        if not row.size:
            return savings
        level = asked_once(info, row, question)
        kept, branch = distinct(level.info, level.parent)
        value = self.values.value(level.info[kept])
        expected = np.bincount(level.entry, level.weight * value[branch], minlength=row.size)
        prices = np.broadcast_to(info.prices, savings.shape)
        savings[row, question] = info.stopping_cost[row] - prices[row, question] - expected
        return savings

    def _candidates(self, info: InformationState) -> BoolArray:
        once = info.costs_once
        tried: BoolArray = np.zeros(once.shape, dtype=bool)
        n = min(self.n_candidates, once.shape[1])
        np.put_along_axis(tried, np.argsort(once, axis=1, kind="stable")[:, :n], True, axis=1)
        own = self.values.rule.next(info)
        asks = np.flatnonzero(own != DECIDE)
        tried[asks, own[asks]] = True
        return tried & np.isfinite(once)
