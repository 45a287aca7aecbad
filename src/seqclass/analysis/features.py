"""What each question is worth, and what the instances of each class cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass._utils.tables import Readable
from seqclass.analysis._walk import MAX_HISTORIES, Level, Simulation, collect, ratio
from seqclass.pomdp import DECIDE, Policy
from seqclass.pomdp.names import Names
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, deciding_cost
from seqclass.pomdp.worlds import Asked, Game, game_and_policy


@dataclass(frozen=True, repr=False)
class FeatureValues(Readable):
    """What each question is worth to instances that get there; all arrays have one entry per question.

    Costs are expectations per instance, in units of misclassification cost. Questions that no instance gets to are left
    out. They are in the order in which they are asked; if any question may come next, the most asked come first.

    Attributes
    ----------
    feature : ndarray of int
        The feature that is asked for; for a bundle, its first.
    reached, asked : ndarray
        Probability that the question comes next, asked or not, and that it is asked.
    price : ndarray
        Mean price among instances that are asked; NaN if none is.
    gain : ndarray
        Mean reduction in the cost of deciding that this feature alone brings to instances that are asked, before its
        price.
    saving : ndarray
        Mean of the cost of deciding now minus the cost of going on as the policy does, among instances that are asked.
    expected_saving : ndarray
        The same difference by the policy's own values, over all instances that get there: negative if stopping is
        better for most. NaN for a policy without values.
    method : str
        ``"exact"`` or ``"simulation"``.
    names : tuple of str or None
        Names of the questions.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> feature_values(problem, FirstK(None).solve(problem)).gain.round(3)
    array([0.35])
    """

    _in_summary = ("names", "asked", "total_saving", "method")
    _axis = "question"

    feature: IntArray
    reached: FloatArray
    asked: FloatArray
    price: FloatArray
    gain: FloatArray
    saving: FloatArray
    expected_saving: FloatArray
    method: str
    names: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def total_saving(self) -> float:
        """Cost of deciding on the prior minus the policy's cost."""
        return float(np.nansum(self.asked * (self.gain - self.price)))


def feature_values(
    problem: Game,
    policy: Asked = None,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> FeatureValues:
    """Compute what each question is worth, and how often it is asked.

    Parameters
    ----------
    problem, policy, method, n_paths, max_histories, random_state
        As in `evaluate`: a fitted classifier stands for its problem and its policy.

    Returns
    -------
    FeatureValues

    Notes
    -----
    The saving of a question includes what later questions bring. The total saving of the policy is the sum over
    questions of ``asked * (gain - price)``; in a fixed order it also is ``asked[0] * saving[0]``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> values = feature_values(problem, GridValueIteration().solve(problem))
    >>> values.asked.round(2), values.gain.round(3), values.saving.round(3)
    (array([1.  , 0.55]), array([0.35 , 0.064]), array([0.323, 0.024]))
    """
    problem, _, policy = game_and_policy(problem, policy)
    simulation = Simulation(method, n_paths, max_histories, random_state)
    sums, served = collect(problem, policy, lambda levels: _sum_by_question(policy, levels), simulation)
    reached, asked, price, gain, saving, expected = sums
    question = np.flatnonzero(reached > 0)
    if problem.any_order:  # the most asked first
        question = question[np.lexsort((question, -asked[question]))]
    asked, reached = asked[question], reached[question]
    return FeatureValues(
        feature=problem.features[question],
        reached=reached,
        asked=asked,
        price=ratio(price[question], asked),
        gain=ratio(gain[question], asked),
        saving=ratio(saving[question], asked),
        expected_saving=ratio(expected[question], reached),
        method=served,
        names=tuple(map(problem.names.question, question.tolist())),
    )


class _Histories(NamedTuple):
    """All histories of a stage: probability, parent, cost of deciding, what is asked or would be, and its price."""

    weight: FloatArray
    parent: IntArray
    stop: FloatArray
    question: IntArray
    following: IntArray
    price: FloatArray
    expected: FloatArray


def _histories_of(policy: Policy, level: Level) -> _Histories:
    belief, question = level.belief, level.question
    following, stopped = question.copy(), np.flatnonzero(question == DECIDE)
    following[stopped] = policy.next_question(belief[stopped])
    prices = np.broadcast_to(belief.prices, (len(belief), belief.problem.n_questions))
    price = np.where(question == DECIDE, 0.0, prices[np.arange(len(belief)), question]) if prices.size else 0.0
    price = np.broadcast_to(price, len(belief))
    expected = _expected_saving(policy, belief)
    return _Histories(level.weight, level.parent, deciding_cost(belief), question, following, price, expected)


def _expected_saving(policy: Policy, belief: BeliefState) -> FloatArray:
    """What the policy expects to save by going on."""
    saving = np.empty(len(belief))
    row_bytes = 8.0 * 3 * float(belief.problem.n_outcomes.max(initial=1)) * belief.problem.n_classes
    for part in chunks(len(belief), row_bytes):
        rows = np.arange(len(belief))[part]
        saving[rows] = deciding_cost(belief)[rows] - policy.continuation_cost(belief[rows])
    return saving


def _sum_by_question(policy: Policy, levels: Iterable[Level]) -> FloatArray:
    """Sums by question, from the end: reached, asked, prices, gain, saving and expected saving."""
    stages = [_histories_of(policy, level) for level in levels]
    sums = np.zeros((6, policy.problem.n_questions))
    # of the level after: cost of deciding at once, and of going on as the policy does, by the history before
    at_once: FloatArray = np.empty(0)
    going_on: FloatArray = np.empty(0)
    for number, here in reversed(list(enumerate(stages))):
        stop, on = here.weight * here.stop, here.question != DECIDE
        n = len(stop)
        paid = here.weight * here.price
        at_once, going_on = (np.append(v, np.zeros(n - len(v))) for v in (at_once, going_on))
        asked = here.question[on]
        for row, value in enumerate((here.weight, paid, stop - at_once, stop - paid - going_on), 1):
            sums[row] += np.bincount(asked, value[on], sums.shape[1])
        known = here.following != DECIDE
        for row, value in ((0, here.weight), (5, here.weight * here.expected)):
            sums[row] += np.bincount(here.following[known], value[known], sums.shape[1])
        cost = np.where(on, paid + going_on, stop)
        before = len(stages[number - 1].weight) if number else 0
        at_once, going_on = (np.asarray(np.bincount(here.parent, v, before)[:before], float) for v in (stop, cost))
    return sums


@dataclass(frozen=True, repr=False)
class ClassProfile(Readable):
    """What happens to the instances of each class; NaN for a class that does not occur.

    Attributes
    ----------
    probability : ndarray of shape (n_classes,)
        P(class).
    n_features, price : ndarray of shape (n_classes,)
        Expected number of features, and prices paid, given the class.
    error : ndarray of shape (n_classes,)
        P(decision for another class | class); further decisions, such as "refer", do not count.
    decision_cost : ndarray of shape (n_classes,)
        Expected cost of the decision given the class.
    decision_given_class : ndarray of shape (n_classes, n_decisions)
        P(decision | class).
    stage_given_class : ndarray of shape (n_classes, n_stages + 1)
        P(number of features asked | class), up to the length of the longest history.
    method : str
        ``"exact"`` or ``"simulation"``.
    names : object or None
        Names of questions, classes and decisions, as `AcquisitionProblem.names` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> class_profile(problem, FirstK(None).solve(problem)).error.round(3)
    array([0.1, 0.2])
    """

    _spread = {"decision_given_class": "P(decide {decision})", "stage_given_class": "P({stage} asked)"}
    _in_summary = ("probability", "n_features", "cost", "error", "method")
    _axis = "class"

    probability: FloatArray
    n_features: FloatArray
    price: FloatArray
    error: FloatArray
    decision_cost: FloatArray
    decision_given_class: FloatArray
    stage_given_class: FloatArray
    method: str
    names: Names | None = field(default=None, compare=False)

    @property
    def cost(self) -> FloatArray:
        """Expected prices paid plus decision cost, given the class, (n_classes,)."""
        return np.asarray(self.price + self.decision_cost)


def class_profile(
    problem: Game,
    policy: Asked = None,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> ClassProfile:
    """Compute expected features, price and error of each class, and P(decision | class).

    Parameters
    ----------
    problem, policy, method, n_paths, max_histories, random_state
        As in `evaluate`: a fitted classifier stands for its problem and its policy.

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
    problem, _, policy = game_and_policy(problem, policy)
    simulation = Simulation(method, n_paths, max_histories, random_state)
    (joint, price, stages), served = collect(problem, policy, lambda levels: _sum_by_class(problem, levels), simulation)
    by_class, n = stages.sum(axis=1), problem.n_classes
    return ClassProfile(
        probability=by_class,
        n_features=ratio(stages @ np.arange(stages.shape[1]), by_class),
        price=ratio(price, by_class),
        error=ratio((joint[:, :n] * (1 - np.eye(n, joint[:, :n].shape[1]))).sum(axis=1), by_class),
        decision_cost=ratio((joint * problem.decision_costs).sum(axis=1), by_class),
        decision_given_class=ratio(joint, by_class[:, None]),
        stage_given_class=ratio(stages, by_class[:, None]),
        method=served,
        names=problem.names,
    )


def _sum_by_class(problem: AcquisitionProblem, levels: Iterable[Level]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each class the decisions, (n_classes, n_decisions), prices, and how many stop at each stage."""
    decisions, price = np.zeros((problem.n_classes, problem.n_decisions)), np.zeros(problem.n_classes)
    stages: list[FloatArray] = []
    for level in levels:
        stop = np.flatnonzero(~level.go_on)
        joint = level.belief.probabilities[stop] * level.weight[stop, None]
        decided = problem.decide(level.belief.probabilities[stop])[:, None] == np.arange(problem.n_decisions)
        decisions += joint.T @ decided
        price += level.belief.spent[stop] @ joint
        stages.append(joint.sum(axis=0))
    return decisions, price, np.column_stack(stages)
