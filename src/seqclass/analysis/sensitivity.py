"""How the expected cost answers to prices and decision costs: derivatives, and their check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass._validation import check_real
from seqclass.analysis._walk import MAX_HISTORIES, Effort, Level, collect
from seqclass.analysis.changes import HeldPolicy
from seqclass.pomdp import Evaluation, Policy, evaluate
from seqclass.pomdp.problem import AcquisitionProblem


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of a policy's expected cost; of an optimal policy also those of the optimal cost.

    Attributes
    ----------
    price : ndarray of shape (n_questions,)
        With respect to the price of each stage's feature: the probability that it is bought at that price.
    full_price : ndarray of shape (n_questions,)
        With respect to the full price: the probability that it is bought as the first one of its group. 0 without
        groups.
    decision_cost : ndarray of shape (n_classes, n_decisions)
        With respect to each decision cost: P(class, decision).
    cost : float
        The expected cost itself; it equals the sum of all costs times their derivatives.
    method : str
        ``"exact"`` or ``"simulation"``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import AcquireAll, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> sensitivity(problem, AcquireAll().solve(problem)).price
    array([1.])
    """

    price: FloatArray
    full_price: FloatArray
    decision_cost: FloatArray
    cost: float
    method: str


def sensitivity(
    problem: AcquisitionProblem,
    policy: Policy,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Sensitivity:
    """Derivative of the expected cost to each price and each decision cost.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem; of a fitted classifier ``problem_``.
    policy : Policy
        The policy; of a fitted classifier ``policy_``.
    method, n_paths, max_histories, random_state
        See `reachable_beliefs`.

    Returns
    -------
    Sensitivity

    Notes
    -----
    The derivatives are those of the policy held as it is. A small change of prices or costs changes what the optimal
    policy does only where it is nearly indifferent, so that for an optimal policy they are the derivatives of the
    optimal cost as well (the envelope theorem), wherever that has derivatives. Being a minimum of linear functions, the
    optimal cost never lies above this tangent.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> result = sensitivity(problem, GridValueIteration().solve(problem))
    >>> result.price.round(2), result.decision_cost.round(3).tolist()
    (array([1.  , 0.55]), [[0.405, 0.095], [0.02, 0.48]])
    """
    effort = Effort(method, n_paths, max_histories, random_state)
    tally, served = collect(problem, policy, lambda: _Shares(problem), effort)
    cost = float(
        problem.prices @ tally.price + problem.full_prices @ tally.full + (tally.joint * problem.decision_costs).sum()
    )
    return Sensitivity(tally.price, tally.full, tally.joint, cost, served)


class _Shares:
    def __init__(self, problem: AcquisitionProblem) -> None:
        self.problem = problem
        self.price, self.full = np.zeros(problem.n_questions), np.zeros(problem.n_questions)
        self.joint = np.zeros((problem.n_classes, problem.n_decisions))

    def add(self, level: Level) -> None:
        stop, on = np.flatnonzero(~level.go_on), np.flatnonzero(level.go_on)
        belief = level.info.belief[stop]
        # ties are told apart by an absolute tolerance, under which the joint of a rare history would drown
        chosen = self.problem.decide(belief)[:, None] == np.arange(self.problem.n_decisions)
        self.joint += (belief * level.weight[stop, None]).T @ chosen
        if on.size:
            question, weight, n = level.question[on], level.weight[on], self.problem.n_questions
            first = np.bincount(question, weight * self._first(level, on), n)
            self.price += np.bincount(question, weight, n) - first
            self.full += first

    def _first(self, level: Level, on: IntArray) -> BoolArray:
        """Which of them have not paid for the group yet."""
        groups, paid = self.problem.groups, level.info.paid
        if groups is None or paid is None or not paid.shape[1]:
            return np.zeros(len(on), dtype=bool)
        group = groups[level.question[on]]
        return np.asarray((group >= 0) & ~paid[on, group])


def finite_differences(
    problem: AcquisitionProblem,
    policy: Policy,
    *,
    step: float = 1e-5,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Sensitivity:
    """Derivatives of `sensitivity` the long way, as a check: change each cost a little, and evaluate.

    The policy keeps asking what it asks; decisions are the cheapest ones at the changed costs. It takes two evaluations
    for each price and each decision cost.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    policy : Policy
        The policy.
    step : float
        Change of each cost, up and (as far as it stays positive) down.
    method, n_paths, max_histories, random_state
        See `reachable_beliefs`; sampled paths are the same for all changes.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> finite_differences(problem, GridValueIteration().solve(problem)).price.round(2)
    array([1.  , 0.55])
    """
    check_real(step, "step", 1e-12, np.finfo(float).max)
    effort = Effort(method, n_paths, max_histories, random_state)

    def run(changed: AcquisitionProblem) -> Evaluation:
        held = HeldPolicy(policy, changed)
        return evaluate(
            changed,
            held,
            method=effort.method,
            n_paths=effort.n_paths,
            max_histories=effort.max_histories,
            random_state=effort.random_state,
        )

    base = run(problem)
    slopes: dict[str, FloatArray] = {}
    for name in ("prices", "full_prices", "decision_costs"):
        values = np.asarray(getattr(problem, name))
        slope = np.zeros(values.shape)
        for place in np.ndindex(*values.shape):
            ends = []
            down = min(step, float(values[place]))
            for change in (step, -down):
                moved = values.copy()
                moved[place] += change
                ends.append(run(problem.replace(**{name: moved})).cost)
            slope[place] = (ends[0] - ends[1]) / (step + down)
        slopes[name] = slope
    return Sensitivity(slopes["prices"], slopes["full_prices"], slopes["decision_costs"], base.cost, base.method)
