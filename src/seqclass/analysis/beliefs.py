"""Which beliefs a policy meets, how often, and how uncertain they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import entr

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import Readable, count_text
from seqclass._utils.validation import check_real
from seqclass.analysis._walk import MAX_HISTORIES, Level, Simulation, collect, ratio
from seqclass.pomdp.names import Names
from seqclass.pomdp.policy import as_policy
from seqclass.pomdp.solvers.simple import FixedLengthPolicy
from seqclass.pomdp.worlds import Asked, Game, game_and_policy, game_of


@dataclass(frozen=True, repr=False)
class ReachableBeliefs(Readable):
    """Beliefs that a policy can meet, stage by stage; equal beliefs of a stage are merged.

    Attributes
    ----------
    stage : ndarray of int of shape (n,)
        Number of features asked so far, ascending.
    belief : ndarray of shape (n, n_classes)
        The belief.
    probability : ndarray of shape (n,)
        Probability of reaching that stage with that belief; within a stage they sum to P(the stage is reached).
    asked : ndarray of shape (n,)
        Probability of getting there and being asked for the next feature; the others stop there.
    decision : ndarray of int of shape (n,)
        The cheapest decision at the belief.
    method : str
        ``"exact"`` or ``"simulation"``.
    names : object or None
        Names of questions, classes and decisions, as `AcquisitionProblem.names` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> beliefs = reachable_beliefs(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1))
    >>> beliefs.n_stages, beliefs.at_stage(1).probability.round(2)
    (1, array([0.55, 0.45]))
    """

    _spread = {"belief": "P({class})"}
    _coded = {"decision": "decision"}

    stage: IntArray
    belief: FloatArray
    probability: FloatArray
    asked: FloatArray
    decision: IntArray
    method: str
    names: Names | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.stage)

    @property
    def n_stages(self) -> int:
        """Most features that can be asked for."""
        return int(self.stage[-1])

    def _summary(self) -> str:
        beliefs, classes = count_text(len(self), "beliefs"), count_text(self.belief.shape[1], "classes")
        return f"{beliefs} of {classes} at stages 0 to {self.n_stages}, method {self.method}"

    def at_stage(self, stage: int) -> ReachableBeliefs:
        """Return the beliefs of one stage."""
        rows = self.stage == stage
        own = {name: each[rows] for name, each in vars(self).items() if name not in ("method", "names")}
        return replace(self, **own)


def reachable_beliefs(
    problem: Game,
    policy: Asked = None,
    *,
    tolerance: float = 1e-9,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> ReachableBeliefs:
    """Find the beliefs that can be met at each stage, with their probabilities.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        The problem, or a classifier for its problem.
    policy : Policy or callable, optional
        The policy that says when to stop, such as ``policy_`` of a fitted classifier, or a function of the belief. By
        default every feature is asked for.
    tolerance : float
        Beliefs of a stage that differ by less than this, in every class, may be merged into their mean.
    method : {"auto", "exact", "simulation"}
        ``"exact"`` enumerates every history, ``"simulation"`` samples them, and ``"auto"`` enumerates if there are at
        most ``max_histories``.
    n_paths, max_histories : int
        Number of sampled instances in a simulation; most histories to enumerate.
    random_state : int, generator or None
        Seed of the simulation.

    Returns
    -------
    ReachableBeliefs

    Raises
    ------
    ValueError
        If there are more than ``max_histories`` histories with ``method="exact"``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> beliefs = reachable_beliefs(problem)  # the order of two outcomes does not matter: three beliefs, not four
    >>> beliefs.at_stage(2).belief[:, 1].round(2), beliefs.at_stage(2).probability.round(3)
    (array([0.05, 0.64, 0.98]), array([0.425, 0.25 , 0.325]))
    >>> beliefs = reachable_beliefs(problem, GridValueIteration().solve(problem))
    >>> beliefs.at_stage(1).asked.round(2)  # one of the two beliefs after the first feature is not sure enough yet
    array([0.55, 0.  ])
    """
    check_real(tolerance, "tolerance", 1e-15, 1.0)
    simulation = Simulation(method, n_paths, max_histories, random_state)
    problem, _ = game_of(problem)
    policy = FixedLengthPolicy(problem) if policy is None else as_policy(policy, problem)
    merged, served = collect(problem, policy, lambda levels: list(_merge_equal(levels, tolerance)), simulation)
    stage, belief, probability, asked, decision = (np.concatenate(column) for column in zip(*merged))
    return ReachableBeliefs(stage, belief, probability, asked, decision, served, problem.names)


def _merge_equal(
    levels: Iterable[Level], tolerance: float
) -> Iterator[tuple[IntArray, FloatArray, FloatArray, FloatArray, IntArray]]:
    """Stages, beliefs, probabilities, the parts of these that are asked, and decisions; a stage at a time."""
    for level in levels:
        # the offset keeps round beliefs, such as 1/2 or 0.3, off the borders of the cells that merge them
        cell = np.floor(level.belief.probabilities[:, ::-1] / tolerance + 0.3819660112501051)
        _, number = np.unique(cell, axis=0, return_inverse=True)
        number = number.reshape(-1)
        size = int(number.max()) + 1
        joint, (probability, asked) = np.zeros((size, level.belief.problem.n_classes)), np.zeros((2, size))
        np.add.at(joint, number, level.belief.probabilities * level.weight[:, None])
        np.add.at(probability, number, level.weight)
        np.add.at(asked, number, level.weight * level.go_on)
        belief = joint / joint.sum(axis=1, keepdims=True)
        yield np.full(size, level.stage), belief, probability, asked, level.belief.problem.decide(belief)


@dataclass(frozen=True, repr=False)
class EntropyPath(Readable):
    """Expected entropy of the belief after each stage, in nats; all arrays have shape (n_stages + 1,).

    Attributes
    ----------
    overall : ndarray
        Over all instances, after at most that many features; instances that have stopped keep their last belief. Never
        rises.
    going_on : ndarray
        Among those that are asked for one more feature, before they answer; NaN where there are none.
    stopped : ndarray
        Among those that stop there; NaN where there are none.
    asked : ndarray
        Probability of being asked for one more feature.
    method : str
        ``"exact"`` or ``"simulation"``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(entropy_path(problem, FirstK(None).solve(problem)).information, 3)
    0.275
    """

    _in_summary = ("overall", "information", "method")
    _axis = "stage"
    _units = dict.fromkeys(("overall", "going_on", "stopped"), "nats")

    overall: FloatArray
    going_on: FloatArray
    stopped: FloatArray
    asked: FloatArray
    method: str

    @property
    def information(self) -> float:
        """Mutual information of the class and everything that is acquired, in nats."""
        return float(self.overall[0] - self.overall[-1])


def entropy_path(
    problem: Game,
    policy: Asked = None,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> EntropyPath:
    """Compute the expected entropy of the belief after each stage, overall and among instances that go on or stop.

    Parameters
    ----------
    problem, policy, method, n_paths, max_histories, random_state
        As in `evaluate`: a fitted classifier stands for its problem and its policy.

    Returns
    -------
    EntropyPath
        Up to the length of the longest history.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> path = entropy_path(problem, GridValueIteration().solve(problem))
    >>> path.overall.round(3), path.going_on.round(3)  # the less certain ones go on
    (array([0.693, 0.418, 0.319]), array([0.693, 0.474,   nan]))
    """
    problem, _, policy = game_and_policy(problem, policy)
    sums, served = collect(problem, policy, _sum_entropies, Simulation(method, n_paths, max_histories, random_state))
    asked, going_on, ended, stopped = sums.T
    overall = going_on + np.cumsum(stopped)
    return EntropyPath(overall, ratio(going_on, asked), ratio(stopped, ended), asked, served)


def _sum_entropies(levels: Iterable[Level]) -> FloatArray:
    """Probability and entropy of what goes on at each stage, and of what stops, (n_stages + 1, 4)."""
    sums = []
    for level in levels:
        nats = entr(level.belief.probabilities).sum(axis=1)
        on, off = level.weight[level.go_on], level.weight[~level.go_on]
        sums.append((on.sum(), on @ nats[level.go_on], off.sum(), off @ nats[~level.go_on]))
    return np.array(sums)
