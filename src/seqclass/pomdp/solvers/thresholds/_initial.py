"""Linear thresholds to start from: the stopping regions of one-step look-ahead."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.pomdp.repricing import unit
from seqclass.pomdp.solvers.thresholds.paths import SampledPaths
from seqclass.pomdp.solvers.thresholds.policy import close_corners

#: What the next price is multiplied by.
_PRICE_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
#: Where the value after the next feature lies between the stopping cost (0) and that of perfect knowledge (1).
_OPTIMISM = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
#: A stage with few beliefs leans on the fit over all stages by this share of the best-fed stage's weight.
_POOLING = 1e-3


class Start(NamedTuple):
    """Thresholds and what they cost.

    Attributes
    ----------
    cost : float
        Mean cost on the paths they were made from.
    thresholds : ndarray of shape (n_stages, n_decisions, n_classes)
        See `LinearThresholdPolicy`.

    Examples
    --------
    >>> import numpy as np
    >>> Start(0.3, np.zeros((1, 2, 2))).cost
    0.3
    """

    cost: float
    thresholds: FloatArray


def initial_thresholds(paths: SampledPaths, n_stages: int) -> list[Start]:
    """Linearised stopping regions of one-step look-ahead, the cheapest on the paths first.

    One-step look-ahead stops where ``g(b) <= price + E[next value]``. The next value is taken between the stopping
    cost, which gives the myopic rule, and the cost of perfect knowledge, which gives a threshold on ``g`` itself;
    the price between a quarter and four times its own.

    Parameters
    ----------
    paths : SampledPaths
        Simulated paths over at least ``n_stages``.
    n_stages : int
        Stages of the thresholds.

    Returns
    -------
    list of Start

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.02)
    >>> starts = initial_thresholds(SampledPaths(problem, 2, 1000, np.random.default_rng(0)), 2)
    >>> len(starts), starts[0].cost <= starts[-1].cost
    (40, True)
    """
    problem = paths.problem
    stopping, perfect = problem.decision_costs.T, problem.perfect_cost
    price = problem.planned_prices[:n_stages, None, None]
    after = _linear_next_cost(paths)[:n_stages]
    starts = []
    for factor in _PRICE_FACTORS:
        for optimism in _OPTIMISM:
            expected = factor * price + (1 - optimism) * after + optimism * perfect
            thresholds = close_corners(problem, stopping - expected)
            starts.append(Start(paths.cost(thresholds), thresholds))
    return sorted(starts, key=lambda start: start.cost)


def _linear_next_cost(paths: SampledPaths) -> FloatArray:
    """Expected stopping cost after one more feature, as a linear function of the belief for each stage and decision.

    Weighted least squares over the paths' beliefs: errors count relative to the stopping cost, for it is near the
    corners, where both are small, that the threshold runs.
    """
    problem = paths.problem
    n_classes, n_decisions = problem.n_classes, problem.n_decisions
    going = ~paths.closed
    belief, block, stop = paths.belief[going], paths.block[going], paths.stop_cost[going]
    price = problem.planned_prices[paths.stage[going]]
    weight = paths.share[going] / ((stop + price + 1e-3 * float(paths.stop_cost[0])) / unit(problem)) ** 2
    size = paths.n_stages * n_decisions
    target = np.empty((size, n_classes))
    moments = np.empty((size, n_classes, n_classes))
    for c in range(n_classes):
        weighted = weight * belief[:, c]
        target[:, c] = np.bincount(block, weighted * paths.next_cost[going], size)
        for d in range(c + 1):
            moments[:, c, d] = moments[:, d, c] = np.bincount(block, weighted * belief[:, d], size)
    # a decision that is nowhere the cheapest keeps its own cost
    pooled = _ridge(
        moments.reshape(-1, n_decisions, n_classes, n_classes).sum(axis=0),
        target.reshape(-1, n_decisions, n_classes).sum(axis=0),
        problem.decision_costs.T,
        1e-9,
    )
    fitted = _ridge(moments, target, np.tile(pooled, (paths.n_stages, 1)), _POOLING)
    return fitted.reshape(-1, n_decisions, n_classes)


def _ridge(moments: FloatArray, target: FloatArray, towards: FloatArray, share: float) -> FloatArray:
    strength = share * np.trace(moments, axis1=1, axis2=2).max(initial=0.0) + 1e-12
    regular = moments + strength * np.eye(moments.shape[1])
    return np.asarray(np.linalg.solve(regular, (target + strength * towards)[..., None])[..., 0])
