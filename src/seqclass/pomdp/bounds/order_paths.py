"""What a policy costs above lower bounds of all orders: enumerated where it matters, sampled where it hardly does."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.along import begin
from seqclass.pomdp.answers import AllAnswers, Branches
from seqclass.pomdp.bounds.repeats import RepeatValues
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.walk import Fork, Level, walk

#: Histories of less than this share of a path's weight are followed one outcome at a time; of less in later rounds.
_SHARE, _FINER, _FINEST = 1.0, 0.1, 1e-10


class ThinnedAnswers(AllAnswers):
    """Every outcome of histories that weigh enough, and of all others one that is drawn, which keeps their weight.

    Parameters
    ----------
    least : float
        Weight below which one outcome is drawn.
    rng : numpy.random.Generator
        Source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> info = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1).begin(2)
    >>> ThinnedAnswers(0.1, np.random.default_rng(0)).branch(info, np.array([0.9, 0.05]), np.arange(2)).weight.round(3)
    array([0.495, 0.405, 0.05 ])
    """

    def __init__(self, least: float, rng: np.random.Generator) -> None:
        super().__init__()
        self.least, self.rng = least, rng

    def branch(self, info: InformationState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `Answers.branch`."""
        share = weight[:, None] * info.predictive
        light = np.flatnonzero(weight < self.least)
        if light.size:
            cumulative = np.cumsum(info.predictive[light], axis=1)
            below = cumulative < self.rng.random((light.size, 1)) * cumulative[:, -1:]
            drawn = np.minimum(below.sum(axis=1), share.shape[1] - 1)
            share[light] = 0
            share[light, drawn] = weight[light]
        parent, outcome = np.nonzero(share > 0)
        return Branches(parent, outcome, share[parent, outcome])


def cost_above(
    policy: Policy, values: RepeatValues, n_paths: int, rng: np.random.Generator, confidence: float = 0.99
) -> tuple[float, float]:
    """How much more a policy costs than ``values.value``: an estimate, and what it is at most.

    The martingale of the values is a control variate: what is left of each history is what its questions cost more, in
    expectation over their answers, than the values there, and deciding in the end. None of it is negative. Histories
    are enumerated as long as they weigh enough, and from there on followed by one path each; what such paths cost is
    a sum of independent terms between zero and a largest one, of which the chance to come out far too low is bounded
    [1]_, however rare the dear ones are.

    Parameters
    ----------
    policy : Policy
        A policy of the values' problem.
    values : RepeatValues
        The bounds.
    n_paths : int
        About so many histories are followed, or several times as many.
    rng : numpy.random.Generator
        Where the paths come from.
    confidence : float
        Probability that the second number holds.

    Returns
    -------
    mean, most : float

    References
    ----------
    .. [1] A. Maurer, "A bound on the deviation probability for sums of non-negative random variables", Journal of
       Inequalities in Pure and Applied Mathematics 4, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ExactFreeOrder, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.02, free=True)
    >>> policy, values = ExactFreeOrder().solve(problem), RepeatValues(problem, 3)
    >>> [round(values.value + above, 3) for above in cost_above(policy, values, 100, np.random.default_rng(0))]
    [0.111, 0.111]
    """
    least = _SHARE / n_paths
    while True:
        certain, sampled, visited = _followed(policy, values, least, rng)
        # how many histories there were says nothing about what was drawn
        if least <= _FINEST or visited > n_paths:
            break
        least = max(least * _FINER, _FINEST)
    problem = values.problem
    dearest = float(problem.full_prices.sum() + problem.decision_costs.max(axis=0).min())
    # E >= sampled mean, and the chance of E - mean > t is below exp(-t^2 / (2 least dearest E))
    spread = sqrt(2 * least * dearest * -log(1 - confidence)) if visited else 0.0
    most = ((spread + sqrt(spread**2 + 4 * sampled)) / 2) ** 2
    return certain + sampled, certain + most


def _followed(policy: Policy, values: RepeatValues, least: float, rng: np.random.Generator) -> tuple[float, float, int]:
    """Sums over histories that weigh at least so much, and over all others, and how many of these there were."""
    answers = ThinnedAnswers(least, rng)
    info, weight = begin(values.problem, policy, 1.0, answers)
    sums, n_light = np.zeros(2), 0

    def ask(level: Level) -> Fork:
        nonlocal n_light
        known, question = values.lower(level.info), policy.act(level.info)
        above = level.info.stopping_cost - known
        row = np.flatnonzero(question != DECIDE)
        asked = question[row]
        for at, part in level.split(row, asked) if row.size else []:
            above[row[at]] = part.price + values.after(part) - known[row[at]]
        light = level.weight < least
        n_light += int(light.sum())
        # rounding aside nothing is negative
        cost = level.weight * np.maximum(above, 0.0)
        sums[:] += cost[~light].sum(), cost[light].sum()
        return Fork(row, asked, level.weight[row])

    for _ in walk(info, weight, ask, answers):
        pass
    return float(sums[0]), float(sums[1]), n_light
