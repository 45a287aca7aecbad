"""Any question next by bounds over all orders, where they are close."""

from __future__ import annotations

import time
from typing import Any

from seqclass._arrays import another_stream, as_generator
from seqclass._telling import telling
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.bounds.order_paths import cost_above
from seqclass.pomdp.bounds.repeats import RepeatValues, has_repeats
from seqclass.pomdp.ordering_choice import OrderingChoice
from seqclass.pomdp.policy import Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.rules.bounded_order import OrderBoundPolicy

#: Of more questions most are weak, and bounds that let them be asked again are far off.
_MOST_QUESTIONS = 100
_FEWEST_PATHS = 2000


@telling("bounds over all orders")
def by_bounds(problem: AcquisitionProblem, n_paths: int, random_state: Any) -> Policy | None:
    """Policy of one step on bounds over all orders, certified; None where there are no such bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.02, free=True)
    >>> by_bounds(problem, 2000, 0).info.gap < 0.02
    True
    """
    if not has_repeats(problem) or problem.n_questions > _MOST_QUESTIONS:
        return None
    began = time.perf_counter()
    values = RepeatValues(problem)
    policy = OrderBoundPolicy(values)
    solved = time.perf_counter()
    rng = as_generator(another_stream(random_state))
    upper = values.value + cost_above(policy, values, max(n_paths, _FEWEST_PATHS), rng, CONFIDENCE)[1]
    gap = (upper - values.value) / upper if upper > 0 else 0.0
    info = SolveInfo(
        "converged",
        n_stages=problem.n_stages,
        upper=upper,
        lower=values.value,
        gap=gap,
        confidence=CONFIDENCE,
        seconds=solved - began,
        certify_seconds=time.perf_counter() - solved,
        size=values.values.size,
        scope="all orders",
        ordering=OrderingChoice("one step on bounds over all orders", ()),
    )
    return policy.with_info(**vars(info))
