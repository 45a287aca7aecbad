"""A good order for everybody, built greedily by what questions promise on average."""

from __future__ import annotations

import numpy as np

from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.ordering.base import OrderingRule, smallest_price
from seqclass.pomdp.solvers.ordering.cases import Cases, unlimited
from seqclass.pomdp.solvers.ordering.given import GivenOrder


def greedy_order(
    problem: AcquisitionProblem, rule: OrderingRule, cases: Cases, n_cases: int = 500, longest: int = 100
) -> GivenOrder:
    """Order in which each question promises most on average, given the answers to those before it.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem in which any question may come next.
    rule : OrderingRule
        Says what a question promises.
    cases : Cases
        Cases of the model.
    n_cases : int
        Cases to average over.
    longest : int
        Most questions to order so; the others follow as they promise then.

    Returns
    -------
    GivenOrder

    Examples
    --------
    >>> from seqclass.pomdp import ClassInformation, TableProblem
    >>> from seqclass.pomdp.solvers.ordering.cases import model_cases
    >>> sensors = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.2], [0.1, 0.8]]])
    >>> problem = TableProblem([0.5, 0.5], sensors, prices=0.1, free=True)
    >>> cases = model_cases(problem, 100, np.random.default_rng(0))
    >>> greedy_order(problem, ClassInformation(), cases)
    GivenOrder(order=[1, 0])
    """
    answers, weight = cases.answers[:n_cases], cases.weight[:n_cases]
    info = unlimited(problem).begin(len(answers))
    order: list[int] = []
    while True:
        left = np.setdiff1d(np.arange(problem.n_questions), order)
        if not left.size:
            return GivenOrder(order)
        # where stopping is optimal for certain nothing is asked any more, whatever it promises
        some = np.flatnonzero(~info.settled)
        part, share = (info[some], weight[some]) if some.size else (info, weight)
        share = share / share.sum()
        promised = share @ rule.gains(part, left)
        price = share @ np.broadcast_to(part.prices, (len(part), problem.n_questions))[:, left]
        score = promised / np.maximum(price, smallest_price(problem))
        if len(order) >= longest or not some.size:
            return GivenOrder([*order, *left[np.argsort(-score, kind="stable")].tolist()])
        order.append(int(left[score.argmax()]))
        info = info.asking(order[-1]).update(answers[:, order[-1]])
