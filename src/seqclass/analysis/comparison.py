"""How much more one policy costs than another, and where the difference arises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass.analysis._walk import MAX_HISTORIES, Simulation
from seqclass.pomdp import DECIDE, Policy
from seqclass.pomdp.needs import require_fixed_order, require_no_visits
from seqclass.pomdp.observations import ObservationSource
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.policy import as_policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, deciding_cost, with_component
from seqclass.pomdp.walk import ALL, Level, check_questions, walk_to_end
from seqclass.pomdp.worlds import Game, game_of


@dataclass(frozen=True, repr=False)
class Regret(Readable):
    """Expected cost of a policy minus that of another, by the stage at which they part.

    In a fixed order, two policies act alike on an instance until one of them stops, so the whole difference belongs to
    that stage. Costs are per instance, in units of misclassification cost.

    Attributes
    ----------
    cost, other_cost : float
        Expected prices paid plus decision cost of each.
    regret : float
        ``cost - other_cost``.
    std_error : float
        Standard error of `regret`; 0 if exact.
    stopped_early : ndarray of shape (n_stages + 1,)
        Part of the regret from instances on which the policy stops at this stage and the other goes on.
    stopped_late : ndarray of shape (n_stages + 1,)
        Part of the regret from instances on which the other stops at this stage and the policy goes on.
    p_early, p_late : ndarray of shape (n_stages + 1,)
        Probability of parting in these ways.
    method : str
        ``"exact"`` or ``"simulation"``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(regret(problem, FirstK(0).solve(problem), FirstK(None).solve(problem)).regret, 3)
    0.25
    """

    _in_summary = ("cost", "other_cost", "regret", "std_error", "p_differ", "method")
    _axis = "stage"
    _costs = ("stopped_early", "stopped_late")

    cost: float
    other_cost: float
    regret: float
    std_error: float
    stopped_early: FloatArray
    stopped_late: FloatArray
    p_early: FloatArray
    p_late: FloatArray
    method: str

    @property
    def by_stage(self) -> FloatArray:
        """Regret by the stage at which the two part, (n_stages + 1,); it sums to `regret`."""
        return np.asarray(self.stopped_early + self.stopped_late)

    @property
    def p_differ(self) -> float:
        """Probability that the two act differently on an instance."""
        return float(self.p_early.sum() + self.p_late.sum())


def regret(
    problem: Game,
    policy: Policy | Callable[[BeliefState], Any],
    other: Policy | Callable[[BeliefState], Any],
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Regret:
    """Compute how much more a policy is expected to cost than another, and at which stages the difference arises.

    Both run on the same histories, so that in a simulation what they have in common adds no noise.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        The problem, or a classifier for its problem.
    policy, other : Policy or callable
        The policies, such as a simple one and the optimal one. Two randomised policies draw their lots independently.
    method, n_paths, max_histories, random_state
        See `reachable_beliefs`.

    Returns
    -------
    Regret
        Up to the last stage at which either goes on.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> result = regret(problem, FirstK(None).solve(problem), GridValueIteration().solve(problem))
    >>> result.stopped_late.round(3)  # it buys the second feature even where the first one settled the matter
    array([0.   , 0.018, 0.   ])
    """
    simulation = Simulation(method, n_paths, max_histories, random_state)
    problem, _ = game_of(problem)
    pair = as_policy(policy, problem), as_policy(other, problem, "other")

    def run(answers: ObservationSource, limit: float) -> Regret:
        return _Pair(problem, pair, answers, simulation.total(answers)).run(limit)

    require_fixed_order(problem, "regret", "evaluate for each of the two")
    require_no_visits(problem, "regret", "evaluate for each of the two")
    return simulation.run(run)


class _Pair:
    """Two policies on the same histories; a row is dropped once both have stopped."""

    def __init__(
        self, problem: AcquisitionProblem, policies: tuple[Policy, Policy], answers: ObservationSource, total: float
    ) -> None:
        self.problem, self.policies, self.answers, self.total = problem, policies, answers, total
        self.cost = np.zeros(2)
        self.square = 0.0
        self.part: list[list[float]] = []  # a stage's early and late regret, and their weights

    def run(self, max_histories: float) -> Regret:
        belief, weight, self.lots = self._begin()
        n = len(belief)
        self.settled, self.parted = np.zeros(n), np.full(n, -1)
        self.alive = self.go_on = np.ones((n, 2), dtype=bool)
        walk_to_end(belief, weight, self._ask, self.answers, max_histories)
        return self._result()

    def _ask(self, level: Level) -> IntArray:
        belief = level.belief
        if self.part:
            rows = level.parent
            self.alive, self.lots = self.go_on[rows], self.lots[rows]
            self.parted, self.settled = self.parted[rows], self.settled[rows]
        self.part.append([0.0] * 4)
        self.go_on = np.column_stack([self._goes_on(k, belief) for k in (0, 1)])
        cost = belief.spent + deciding_cost(belief)
        self._settle(level.weight, cost)
        apart = (self.alive.all(axis=1)) & (self.go_on[:, 0] != self.go_on[:, 1])
        self.parted[apart], self.settled[apart] = belief.stage, cost[apart]
        return np.where(self.go_on.any(axis=1), belief.stage, DECIDE)

    def _begin(self) -> tuple[BeliefState, FloatArray, IntArray]:
        chances = [policy.initial_belief()[1] for policy in self.policies]
        probability = np.outer(*chances).ravel()
        pairs = np.stack(np.divmod(np.arange(probability.size), len(chances[1])), axis=1)
        first, share = initial_beliefs(self.problem)
        row, pair = np.divmod(np.arange(share.size * probability.size), probability.size)
        weight = self.answers.spread(self.total, share[row] * probability[pair])
        drawn = np.flatnonzero(weight)
        return first[row[drawn]], weight[drawn], pairs[pair[drawn]]

    def _goes_on(self, k: int, belief: BeliefState) -> BoolArray:
        go_on = np.zeros(len(belief), dtype=bool)
        rows = np.flatnonzero(self.alive[:, k])
        if rows.size:
            asking = with_component(belief[rows], self.lots[rows, k])
            question = self.policies[k].action(asking)
            on = question != DECIDE
            go_on[rows] = on
            check_questions(belief, rows[on], question[on])
        return go_on

    def _settle(self, weight: FloatArray, cost: FloatArray) -> None:
        """Book what stops here; the difference goes to the stage where the two parted."""
        alive, parted, settled = self.alive, self.parted, self.settled
        stops = alive & ~self.go_on
        self.cost += weight @ (stops * cost[:, None])
        for late, k in ((1, 0), (0, 1)):  # the policy itself stops last: it went on where the other stopped
            last = np.flatnonzero(stops[:, k] & ~alive[:, 1 - k])
            difference = (cost - settled)[last] * (1 if late else -1)
            self.square += float(weight[last] @ difference**2)
            for stage in np.unique(parted[last]).tolist():
                rows = parted[last] == stage
                self.part[stage][late] += float(weight[last][rows] @ difference[rows])
                self.part[stage][2 + late] += float(weight[last][rows].sum())

    def _result(self) -> Regret:
        early, late, p_early, p_late = np.array(self.part).T / self.total
        cost, other_cost = (self.cost / self.total).tolist()
        difference = float((early + late).sum())
        variance = max(self.square / self.total - difference**2, 0.0)
        return Regret(
            cost=cost,
            other_cost=other_cost,
            regret=difference,
            std_error=0.0 if self.answers is ALL else float(np.sqrt(variance / self.total)),
            stopped_early=early,
            stopped_late=late,
            p_early=p_early,
            p_late=p_late,
            method="exact" if self.answers is ALL else "simulation",
        )
