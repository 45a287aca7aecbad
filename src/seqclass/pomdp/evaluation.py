"""What a policy costs: exactly by enumeration where histories are few, else by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.progress import DeadlineExceeded, remaining_seconds
from seqclass._utils.tables import Readable
from seqclass.pomdp.observations import ObservationSource
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import ALL, MAX_HISTORIES, Simulation, walk_policy
from seqclass.pomdp.worlds import Asked, Game, game_and_policy

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, repr=False)
class Evaluation(Readable):
    """Expected cost of a policy under its problem's own model.

    Attributes
    ----------
    cost : float
        Expected prices paid plus decision cost, per instance.
    n_features : float
        Expected number of features.
    price : float
        Expected prices paid.
    error : float
        Probability of deciding for a class that is not the true one (further decisions, such as "refer", do not count).
    stage : ndarray of shape (n_stages + 1,)
        Probability of stopping at each stage.
    decision_given_class : ndarray of shape (n_classes, n_decisions)
        P(decision | class); rows of classes with prior 0 are 0.
    cost_std_error : float
        Standard error of `cost`; 0 where exact.
    method : str
        ``"exact"`` or ``"simulation"``.
    n_histories : int
        Distinct histories visited.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, StoppingValue, evaluate
    >>> from seqclass.pomdp.policy import LookaheadPolicy
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> evaluate(problem, LookaheadPolicy(StoppingValue(problem))).stage
    array([0., 1.])
    """

    _in_summary = _columns = ("cost", "cost_std_error", "price", "n_features", "error", "method", "n_histories")

    cost: float
    n_features: float
    price: float
    error: float
    stage: FloatArray
    decision_given_class: FloatArray
    cost_std_error: float
    method: str
    n_histories: int


def evaluate(
    problem: Game,
    policy: Asked = None,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Evaluation:
    """Expected cost, number of features and error of a policy under the model.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        By what is believed and paid.
    policy : Policy or callable, optional
        The policy to run on it, or a function of the belief; see `FunctionPolicy`. By default that of the classifier.
    method : {"auto", "exact", "simulation"}
        Enumerate every history the policy can meet, sample them, or enumerate if they are at most ``max_histories``.
    n_paths : int
        Sampled instances, for simulation.
    max_histories : int
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the simulation.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If ``method="exact"`` meets more than ``max_histories`` histories.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> result = evaluate(problem, GridValueIteration().solve(problem))
    >>> round(result.cost, 3), result.n_features, round(result.error, 3)
    (0.25, 1.0, 0.15)
    """
    problem, _, policy = game_and_policy(problem, policy)
    return evaluate_policy(problem, policy, Simulation(method, n_paths, max_histories, random_state))


def evaluate_policy(problem: AcquisitionProblem, policy: Policy, simulation: Simulation) -> Evaluation:
    """Expected cost, number of features and error of a policy; see `evaluate`."""
    n_paths = simulation.n_paths

    def run(answers: ObservationSource, most: float) -> Evaluation:
        if answers is ALL:
            return _follow(problem, policy, 1.0, answers, most)
        # where time is limited, as many paths as it is enough for: each time others, twice as many
        number, result = n_paths if remaining_seconds() == np.inf else min(250, n_paths), None
        while True:
            try:
                result = _follow(problem, policy, float(number), answers)
            except DeadlineExceeded:
                if result is None:
                    raise
                return result
            if number == n_paths:
                return result
            number = min(2 * number, n_paths)

    return simulation.run(run)


def _follow(
    problem: AcquisitionProblem, policy: Policy, total: float, answers: ObservationSource, most: float = np.inf
) -> Evaluation:
    sums, stage = np.zeros(3), np.zeros(problem.n_stages + 1)
    joint = np.zeros((problem.n_classes, problem.n_decisions))
    for level in walk_policy(problem, policy, total, answers, most):
        stop = ~level.go_on
        belief, weight = level.belief[stop], level.weight[stop]
        cost = belief.spent + belief.stopping_cost
        sums += np.stack([cost, cost**2, belief.spent]) @ weight
        stage[level.stage] += weight.sum()
        decision = problem.decide(belief.probabilities)
        joint += belief.probabilities.T @ (weight[:, None] * np.eye(problem.n_decisions)[decision])
    (cost, square, price), stage, joint = sums / total, stage / total, joint / total
    by_class = joint.sum(axis=1, keepdims=True)
    own, exact = joint[:, : problem.n_classes], answers is ALL
    variance = max(float(square - cost**2), 0.0)
    error_of_cost = float(np.sqrt(variance / (total - 1))) if total > 1 else np.nan
    return Evaluation(
        cost=float(cost),
        n_features=float(stage @ np.arange(len(stage))),
        price=float(price),
        error=float(own.sum() - np.trace(own)),
        stage=stage,
        decision_given_class=np.divide(joint, by_class, out=np.zeros_like(joint), where=by_class > 0),
        cost_std_error=0.0 if exact else error_of_cost,
        method="exact" if exact else "simulation",
        n_histories=level.visited,
    )
