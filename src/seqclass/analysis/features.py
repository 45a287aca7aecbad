"""What each feature is worth along the way, and what each class costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.analysis._walk import MAX_HISTORIES, Effort, Level, collect, ratio
from seqclass.pomdp import Policy
from seqclass.pomdp.problem import AcquisitionProblem


@dataclass(frozen=True)
class FeatureValues:
    """What the feature of each stage is worth to those that get there; all arrays have shape (n_stages,).

    Costs are expectations per instance, in units of misclassification cost. Stages that nobody reaches are left out.

    Attributes
    ----------
    feature : ndarray of int
        The feature that the stage asks for.
    reached, asked : ndarray
        Probability of getting to the stage, and of being asked for its feature.
    price : ndarray
        Mean price among those that are asked; NaN where nobody is.
    gain : ndarray
        Mean fall of the cost of deciding that this feature alone brings those that are asked, its price not taken off.
    saving : ndarray
        Mean of the cost of deciding now minus the cost of going on as the policy does, among those that are asked.
    expected_saving : ndarray
        The same difference as the policy's own values see it, over all that get there: negative where most had better
        stop. NaN of a policy without values.
    method : str
        ``"exact"`` or ``"simulation"``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import AcquireAll, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> feature_values(problem, AcquireAll().solve(problem)).gain.round(3)
    array([0.35])
    """

    feature: IntArray
    reached: FloatArray
    asked: FloatArray
    price: FloatArray
    gain: FloatArray
    saving: FloatArray
    expected_saving: FloatArray
    method: str

    @property
    def total_saving(self) -> float:
        """Cost of deciding from the prior minus the policy's cost."""
        return float(self.asked[0] * self.saving[0]) if self.asked.size and self.asked[0] > 0 else 0.0


def feature_values(
    problem: AcquisitionProblem,
    policy: Policy,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> FeatureValues:
    """Value of the next feature at each stage, and how often it is asked.

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
    FeatureValues

    Notes
    -----
    The saving of a stage counts what later features bring as well. All that the policy saves is the sum over stages of
    ``asked * (gain - price)``, and it is ``asked[0] * saving[0]``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> values = feature_values(problem, GridValueIteration().solve(problem))
    >>> values.asked.round(2), values.gain.round(3), values.saving.round(3)
    (array([1.  , 0.55]), array([0.35 , 0.064]), array([0.323, 0.024]))
    """
    effort = Effort(method, n_paths, max_histories, random_state)
    tally, served = collect(problem, policy, lambda: _Features(policy), effort)
    reached, asked, price, before, after, expected = np.array(tally.rows).T
    # at the last level all stop: it only tells what the feature before it brought
    gain, used = before[:-1] - after[1:], slice(None, -1)
    saving = np.cumsum((gain - price[used])[::-1])[::-1]
    if reached.size <= policy.n_stages:  # unless it is a stage at which the policy had the choice
        gain, saving, used = np.append(gain, 0.0), np.append(saving, 0.0), slice(None)
    return FeatureValues(
        feature=problem.features[: len(gain)],
        reached=reached[used],
        asked=asked[used],
        price=ratio(price[used], asked[used]),
        gain=ratio(gain, asked[used]),
        saving=ratio(saving, asked[used]),
        expected_saving=ratio(expected[used], reached[used]),
        method=served,
    )


class _Features:
    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.rows: list[tuple[float, ...]] = []

    def add(self, level: Level) -> None:
        on = np.flatnonzero(level.go_on)
        weight, stop = level.weight, level.info.stopping_cost
        price = float(weight[on] @ level.info[on].price) if on.size else 0.0
        self.rows.append(
            (
                float(weight.sum()),
                float(weight[on].sum()),
                price,
                float(weight[on] @ stop[on]),
                float(weight @ stop),
                self._expected(level),
            )
        )

    def _expected(self, level: Level) -> float:
        if level.stage >= self.policy.n_stages:
            return float("nan")
        problem, info, total = self.policy.problem, level.info, 0.0
        row_bytes = 8.0 * 3 * float(problem.n_outcomes[level.stage]) * problem.n_classes
        for part in chunks(len(info), row_bytes):
            rows = np.arange(len(info))[part]
            saving = info.stopping_cost[rows] - self.policy.continuation_cost(info[rows])
            total += float(level.weight[rows] @ saving)
        return total


@dataclass(frozen=True)
class ClassProfile:
    """What happens to the instances of each class; NaN for a class that does not occur.

    Attributes
    ----------
    probability : ndarray of shape (n_classes,)
        P(class).
    n_features, price : ndarray of shape (n_classes,)
        Expected number of features, and prices paid, given the class.
    error : ndarray of shape (n_classes,)
        P(decision for another class | class); further decisions, such as "refer", are no error.
    decision_cost : ndarray of shape (n_classes,)
        Expected cost of the decision given the class.
    decision_given_class : ndarray of shape (n_classes, n_decisions)
        P(decision | class).
    stage_given_class : ndarray of shape (n_classes, n_stages + 1)
        P(number of features asked | class), as far as the longest history goes.
    method : str
        ``"exact"`` or ``"simulation"``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import AcquireAll, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> class_profile(problem, AcquireAll().solve(problem)).error.round(3)
    array([0.1, 0.2])
    """

    probability: FloatArray
    n_features: FloatArray
    price: FloatArray
    error: FloatArray
    decision_cost: FloatArray
    decision_given_class: FloatArray
    stage_given_class: FloatArray
    method: str

    @property
    def cost(self) -> FloatArray:
        """Expected prices paid plus decision cost given the class, (n_classes,)."""
        return np.asarray(self.price + self.decision_cost)


def class_profile(
    problem: AcquisitionProblem,
    policy: Policy,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> ClassProfile:
    """Expected features, price and error of each class, and P(decision | class).

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
    ClassProfile

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> profile = class_profile(problem, GridValueIteration().solve(problem))
    >>> profile.n_features.round(2), profile.decision_given_class.round(2).tolist()
    (array([1.9, 1.2]), [[0.81, 0.19], [0.04, 0.96]])
    """
    effort = Effort(method, n_paths, max_histories, random_state)
    tally, served = collect(problem, policy, lambda: _Classes(problem), effort)
    stages = np.column_stack(tally.stages)
    by_class = stages.sum(axis=1)
    joint = tally.joint
    n = problem.n_classes
    return ClassProfile(
        probability=by_class,
        n_features=ratio(stages @ np.arange(stages.shape[1]), by_class),
        price=ratio(tally.price, by_class),
        error=ratio((joint[:, :n] * (1 - np.eye(n, joint[:, :n].shape[1]))).sum(axis=1), by_class),
        decision_cost=ratio((joint * problem.decision_costs).sum(axis=1), by_class),
        decision_given_class=ratio(joint, by_class[:, None]),
        stage_given_class=ratio(stages, by_class[:, None]),
        method=served,
    )


class _Classes:
    def __init__(self, problem: AcquisitionProblem) -> None:
        self.problem = problem
        self.joint = np.zeros((problem.n_classes, problem.n_decisions))
        self.price = np.zeros(problem.n_classes)
        self.stages: list[FloatArray] = []

    def add(self, level: Level) -> None:
        stop = np.flatnonzero(~level.go_on)
        joint = level.info.belief[stop] * level.weight[stop, None]
        decided = self.problem.decide(level.info.belief[stop])[:, None] == np.arange(self.problem.n_decisions)
        self.joint += joint.T @ decided
        self.price += level.info.spent[stop] @ joint
        self.stages.append(joint.sum(axis=0))
