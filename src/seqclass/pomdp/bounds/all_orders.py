"""The two ends of a certificate over all orders."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seqclass._time_limit import TimeUp, left, look, within
from seqclass.pomdp.answers import TooLarge
from seqclass.pomdp.bounds.dual import quantile
from seqclass.pomdp.bounds.optimum import optimal_cost
from seqclass.pomdp.bounds.order_paths import cost_above
from seqclass.pomdp.bounds.repeats import RepeatValues, has_repeats
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.execution.evaluation import evaluate
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem

#: Partial answers that a search for the lower end may know.
_NODES = 3000


class OrderEnds(NamedTuple):
    """Both ends: the policy costs at most ``upper``, no policy over all orders less than ``lower``.

    Examples
    --------
    >>> OrderEnds(0.2, 0.19, 0.18, 0.99, "mixed", 4000).lower
    0.18
    """

    upper: float
    upper_mean: float
    lower: float
    confidence: float
    method: str
    n_paths: int


class OverOrders(NamedTuple):
    """How a certificate over all orders is to be found; its settings are those of `certify`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import DecideNow, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> policy = DecideNow(certificate_paths=0).solve(problem)
    >>> ends = OverOrders("auto", 1000, 0.99, 1000).ends(problem, problem, policy, np.random.default_rng(0))
    >>> ends.upper, round(ends.lower, 3), ends.method
    (0.5, 0.25, 'exact')
    """

    method: str
    n_paths: int
    confidence: float
    max_histories: int

    def ends(
        self, problem: AcquisitionProblem, free: AcquisitionProblem, policy: Policy, rng: np.random.Generator
    ) -> OrderEnds:
        """Both ends: what the policy costs in a problem, and what none costs in another one, the same but free."""
        upper = lower = None
        try:
            with within(left() / 4 if self.method != "exact" else np.inf):
                if self.method != "simulation":
                    upper = evaluate(problem, policy, method="exact", max_histories=self.max_histories).cost
                if self.method in ("auto", "exact"):
                    lower = optimal_cost(free, max_histories=self.max_histories)
        except (TooLarge, TimeUp):
            if self.method == "exact":
                raise
            look()
        if upper is not None and lower is not None:
            return OrderEnds(upper, upper, lower, 1.0, "exact", 0)
        values = RepeatValues(free) if has_repeats(free) and not free.samples else None
        if lower is None:
            lower = lowest(free) if values is None else values.value
        if upper is not None:
            return OrderEnds(upper, upper, lower, 1.0, "deterministic", 0)
        if values is not None and problem.free:
            mean, high = (
                values.value + above for above in cost_above(policy, values, self.n_paths, rng, self.confidence)
            )
        else:
            found = evaluate(problem, policy, method="simulation", n_paths=self.n_paths, random_state=rng)
            # one end alone is sampled
            mean, high = found.cost, found.cost + quantile(2 * self.confidence - 1) * found.cost_std_error
        return OrderEnds(high, mean, lower, self.confidence, "mixed", self.n_paths)


def lowest(problem: AcquisitionProblem) -> float:
    """No policy of a free problem costs less: a short search, or where questions are sampled one price and knowledge.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.02, free=True)
    >>> round(lowest(problem), 3)
    0.111
    """
    if not problem.samples:
        search = OrderSearch(problem)
        search.run(_NODES, left() / 3)
        return search.low
    begun = problem.begin()
    return float(np.minimum(begun.stopping_cost, begun.least())[0])
