"""Policies for several multipliers of the prices, which share a walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.repricing import RepricedPolicy
from seqclass.pomdp.walk import check_questions


@dataclass(frozen=True)
class Look:
    """What several policies see ahead at some histories.

    Attributes
    ----------
    rows : ndarray of int of shape (r,)
        The histories; the policies stop at all others.
    columns : ndarray of int of shape (m,)
        Numbers of the policies.
    go_on : ndarray of bool of shape (r, m)
        Whether each buys the next feature.
    ahead : ndarray of shape (r, n_outcomes, k)
        Values of the unnormalised successors.
    total : ndarray of shape (r, k)
        Their sum.
    weights : ndarray of shape (k, m) or None
        The policies' values as mixtures of these k; left out: they are theirs, one each.
    """

    rows: IntArray
    columns: IntArray
    go_on: BoolArray
    ahead: FloatArray
    total: FloatArray
    weights: FloatArray | None = None

    def add_surprise(self, to: FloatArray, history: IntArray, outcome: IntArray, probability: FloatArray) -> None:
        """Add to each branch the value of what it sees less its expectation, at the columns of these policies."""
        place = np.searchsorted(self.rows, history)
        place[place == len(self.rows)] = 0
        there = np.flatnonzero(self.rows[place] == history)
        place = place[there]
        step = self.ahead[place, outcome[there]]
        step /= probability[there, None]
        step -= self.total[place]
        if self.weights is not None:
            step = step @ self.weights
        if len(self.columns) == to.shape[1] and len(there) == len(to):
            to += step
        else:
            to[there[:, None], self.columns] += step


class SweepPolicies:
    """Policies for several multipliers, which share a walk.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    multipliers : ndarray of shape (n_multipliers,)
        Factors of all prices.
    policies : sequence of Policy
        Policy of each, on the problem at its prices.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem, scale_prices
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policies = [FirstK(1).solve(scale_prices(problem, m)) for m in (1.0, 2.0)]
    >>> SweepPolicies(problem, np.array([1.0, 2.0]), policies).goes_on(problem.begin(), np.array([[True, False]]))[0]
    array([[ True, False]])
    """

    #: Sampled paths for bounds on the optimal costs; 0 where the policies bring their own, or none are asked for.
    certificate_paths: int = 0

    def __init__(self, problem: AcquisitionProblem, multipliers: FloatArray, policies: Sequence[Policy]) -> None:
        self.problem = problem
        self.multipliers = multipliers
        self.horizon = np.array([policy.n_stages for policy in policies])
        self.policies = [RepricedPolicy(p, problem, float(m)) for p, m in zip(policies, multipliers)]

    def goes_on(self, info: InformationState, active: BoolArray) -> tuple[BoolArray, list[Look]]:
        """Which of the policies that are still active at each history ask the next question, (n, n_multipliers).

        Second comes what they saw ahead, where they can tell: it cancels most of what chance does to sampled paths.
        """
        go_on = np.zeros_like(active)
        for j, policy in enumerate(self.policies):
            rows = np.flatnonzero(active[:, j])
            if rows.size:
                question = policy.act(info[rows])
                on = question != DECIDE
                check_questions(info, rows[on], question[on])
                go_on[rows, j] = on
        return go_on, []

    def refined(self, price: FloatArray, decision_cost: FloatArray, std_error: FloatArray) -> SweepPolicies | None:
        """Return a team that does better, for what each policy was found to pay and cost; None: this is the best."""
        return None

    def undecided(self, info: InformationState) -> BoolArray:
        """Where stopping is not optimal for certain, and the horizon is not reached, (n, n_multipliers)."""
        return np.asarray((info.to_beat[:, None] > info.least(self.multipliers)) & (info.stage < self.horizon))

    def at_best(self, info: InformationState) -> FloatArray:
        """Cost of stopping; at a cut horizon, if less, of one more price and perfect knowledge, (n, n_multipliers)."""
        best = np.repeat(info.stopping_cost[:, None], len(self.multipliers), axis=1)
        cut = np.flatnonzero(self.horizon == info.stage)
        if cut.size:
            best[:, cut] = np.minimum(best[:, cut], info.least(self.multipliers[cut]))
        return best
