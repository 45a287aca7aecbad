"""What a policy costs above lower bounds of all orders, along sampled paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.pomdp.along import begin
from seqclass.pomdp.answers import SampledAnswers
from seqclass.pomdp.bounds.repeats import RepeatValues
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.walk import Fork, Level, walk


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float


def cost_above(policy: Policy, values: RepeatValues, n_paths: int, rng: np.random.Generator) -> Estimate:
    """How much more a policy costs than ``values.value``, from sampled paths.

    The martingale of the values is a control variate: what is left of each path is what its questions cost more, in
    expectation over their answers, than the values there, and deciding in the end. Where policy and values are good
    that is little, and so is its error.

    Parameters
    ----------
    policy : Policy
        A policy of the values' problem.
    values : RepeatValues
        The bounds.
    n_paths : int
        Sampled paths.
    rng : numpy.random.Generator
        Where they come from.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ExactFreeOrder, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.02, free=True)
    >>> policy, values = ExactFreeOrder().solve(problem), RepeatValues(problem, 3)
    >>> above = cost_above(policy, values, 100, np.random.default_rng(0))
    >>> round(values.value + above.mean, 3), round(above.error, 3)
    (0.111, 0.0)
    """
    answers = SampledAnswers(rng)
    info, weight = begin(values.problem, policy, float(n_paths), answers)
    above = np.zeros(len(info))
    ended: list[FloatArray] = []

    def ask(level: Level) -> Fork:
        nonlocal above
        above = above[level.parent] if level.stage else above
        known, question = values.lower(level.info), policy.act(level.info)
        stop = question == DECIDE
        ended.append(np.stack([level.weight, above + level.info.stopping_cost - known])[:, stop])
        row = np.flatnonzero(~stop)
        asked = question[row]
        for at, part in level.split(row, asked) if row.size else []:
            above[row[at]] += part.price + values.after(part) - known[row[at]]
        return Fork(row, asked, level.weight[row])

    for _ in walk(info, weight, ask, answers):
        pass
    share, cost = np.concatenate(ended, axis=1)
    share = share / n_paths
    mean = float(share @ cost)
    return Estimate(mean, float(np.sqrt(share @ (cost - mean) ** 2 / max(n_paths - 1, 1))))
