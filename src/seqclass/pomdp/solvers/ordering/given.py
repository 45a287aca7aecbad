"""Ask in a given order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.pomdp.one_step import stopping_is_certain
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, set_question
from seqclass.pomdp.solvers.ordering.base import OrderingRule, best_question, gain_per_price, smallest_price
from seqclass.pomdp.solvers.ordering.cases import TrialCases, without_limits

__all__ = ["GivenOrder"]


class GivenOrder(OrderingRule):
    """The first question of a given order that is open; the same order for everybody."""

    per_price = False
    by_belief = True

    def __init__(self, order: Sequence[int]) -> None:
        self.order = order

    def check(self, problem: AcquisitionProblem) -> None:
        """Refuse an order that names a question twice, or one that there is not; see `OrderingRule.check`."""
        order = np.asarray(self.order, dtype=np.intp)
        known = order.ndim == 1 and order.min(initial=0) >= 0 and order.max(initial=-1) < problem.n_questions
        if not known or np.bincount(order).max(initial=0) > 1:
            raise ValueError(
                f"order must hold numbers of questions, 0..{problem.n_questions - 1}, each at most once, got "
                f"{list(self.order)}."
            )

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Minus the place in the order; see `OrderingRule.gains`."""
        place = np.full(belief.problem.n_questions, -np.inf)
        place[np.asarray(self.order, dtype=np.intp)] = -np.arange(float(len(self.order)))
        return np.tile(place[questions], (len(belief), 1))

    def _check_stored_for(self, problem: AcquisitionProblem) -> None:
        self.check(problem)


def greedy_order(
    problem: AcquisitionProblem, rule: OrderingRule, cases: TrialCases, n_cases: int = 500, longest: int = 100
) -> GivenOrder:
    """Order in which each question promises most on average, given the answers to those before it."""
    answers, weight = cases.answers[:n_cases], cases.weight[:n_cases]
    belief = cases.begin(without_limits(problem), 0, len(answers))
    order: list[int] = []
    while True:
        left = np.setdiff1d(np.arange(problem.n_questions), order)
        if not left.size:
            return GivenOrder(order)
        # where stopping is optimal for certain nothing is asked any more, whatever it promises
        some = np.flatnonzero(~stopping_is_certain(belief))
        part, share = (belief[some], weight[some]) if some.size else (belief, weight)
        share = share / share.sum()
        promised = share @ rule._gains(part, left)
        price = share @ np.broadcast_to(part.prices, (len(part), problem.n_questions))[:, left]
        score = gain_per_price(promised, np.maximum(price, smallest_price(problem)))
        if len(order) >= longest or not some.size:
            return GivenOrder([*order, *left[np.argsort(-score, kind="stable")].tolist()])
        order.append(int(left[max(int(best_question(score[None])[0]), 0)]))
        belief = set_question(belief, order[-1]).update(answers[:, order[-1]])
