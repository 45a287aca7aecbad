"""What a policy costs: exactly by enumeration where histories are few, else by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.progress import TimeUp, left
from seqclass._utils.text import shown
from seqclass._utils.validation import check_choice, check_integer
from seqclass.pomdp.answers import Answers
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import ALL, along, enumerated_or_sampled

__all__ = ["Evaluation", "evaluate"]


#: Histories that an enumeration may visit before ``method="auto"`` turns to simulation.
MAX_HISTORIES = 100_000
#: Paths that a simulation begins with where time is limited.
_FEWEST = 250


@dataclass(frozen=True)
class Evaluation:
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
    problem: AcquisitionProblem,
    policy: Policy,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Evaluation:
    """Expected cost, number of features and error of a policy under the model.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    policy : Policy
        The policy to run on it.
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
    if not isinstance(policy, Policy):
        raise TypeError(
            f"policy must be a Policy, such as clf.policy_ or what solver.solve(problem) returns, got {shown(policy)}."
        )
    check_choice(method, "method", ("auto", "exact", "simulation"))
    check_integer(n_paths, "n_paths", 1)
    check_integer(max_histories, "max_histories", 1)

    def run(answers: Answers, most: float) -> Evaluation:
        if answers is ALL:
            return _followed(problem, policy, 1.0, answers, most)
        # where time is limited, as many paths as it is enough for: each time others, twice as many
        number, found = n_paths if left() == np.inf else min(_FEWEST, n_paths), None
        while True:
            try:
                found = _followed(problem, policy, float(number), answers)
            except TimeUp:
                if found is None:
                    raise
                return found
            if number == n_paths:
                return found
            number = min(2 * number, n_paths)

    return enumerated_or_sampled(run, method, max_histories, random_state)


def _followed(
    problem: AcquisitionProblem, policy: Policy, total: float, answers: Answers, most: float = np.inf
) -> Evaluation:
    tally = _Tally(problem, total)
    for level in along(problem, policy, total, answers, most):
        stop = ~level.go_on
        tally.add(level.info[stop], level.weight[stop])
    return tally.result("exact" if answers is ALL else "simulation", level.visited)


class _Tally:
    """Sums over stopped histories."""

    def __init__(self, problem: AcquisitionProblem, total: float) -> None:
        self.problem = problem
        self.total = total
        self.cost = self.square = self.price = self.features = 0.0
        self.stage = np.zeros(problem.n_stages + 1)
        self.joint = np.zeros((problem.n_classes, problem.n_decisions))

    def add(self, info: InformationState, weight: FloatArray) -> None:
        if not len(info):
            return
        cost = info.spent + info.stopping_cost
        self.cost += float(weight @ cost)
        self.square += float(weight @ cost**2)
        self.price += float(weight @ info.spent)
        self.features += float(weight.sum()) * info.stage
        self.stage[info.stage] += weight.sum()
        chosen = np.zeros((len(info), self.problem.n_decisions))
        chosen[np.arange(len(info)), self.problem.decide(info.belief)] = weight
        self.joint += info.belief.T @ chosen

    def result(self, method: str, visited: int) -> Evaluation:
        joint = self.joint / self.total
        by_class = joint.sum(axis=1, keepdims=True)
        given = np.divide(joint, by_class, out=np.zeros_like(joint), where=by_class > 0)
        n_classes = self.problem.n_classes
        error = joint[:, :n_classes].sum() - np.trace(joint[:, :n_classes])
        cost = self.cost / self.total
        variance = max(self.square / self.total - cost**2, 0.0)
        return Evaluation(
            cost=cost,
            n_features=self.features / self.total,
            price=self.price / self.total,
            error=float(error),
            stage=self.stage / self.total,
            decision_given_class=given,
            cost_std_error=0.0 if method == "exact" else float(np.sqrt(variance / self.total)),
            method=method,
            n_histories=visited,
        )
