"""How much one policy costs beyond another, and where the difference arises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.analysis._walk import MAX_HISTORIES, Effort
from seqclass.pomdp import DECIDE, InformationState, Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import TooLarge, branch, check_feature


@dataclass(frozen=True)
class Regret:
    """Expected cost of a policy minus that of another, by the stage at which they part.

    In a fixed order two policies act alike on an instance until one of them stops: the whole difference belongs to
    that stage. Costs are per instance, in units of misclassification cost.

    Attributes
    ----------
    cost, other_cost : float
        Expected prices paid plus decision cost of each.
    regret : float
        ``cost - other_cost``.
    std_error : float
        Standard error of `regret`; 0 where exact.
    stopped_early : ndarray of shape (n_stages + 1,)
        Part of the regret from instances on which the policy stops at this stage and the other goes on.
    stopped_late : ndarray of shape (n_stages + 1,)
        Part from those on which the other stops at this stage and the policy goes on.
    p_early, p_late : ndarray of shape (n_stages + 1,)
        Probability of parting in these ways.
    method : str
        ``"exact"`` or ``"simulation"``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import AcquireAll, DecideNow, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(regret(problem, DecideNow().solve(problem), AcquireAll().solve(problem)).regret, 3)
    0.25
    """

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
    problem: AcquisitionProblem,
    policy: Policy,
    other: Policy,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Regret:
    """Expected cost of a policy beyond that of another, and at which stages it arises.

    Both run on the same histories, so that where they are sampled what the two have in common adds no noise.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem; of a fitted classifier ``problem_``.
    policy, other : Policy
        The policies, such as a simple one and the optimal one. Two randomised ones draw their lots independently.
    method, n_paths, max_histories, random_state
        See `reachable_beliefs`.

    Returns
    -------
    Regret
        Up to the last stage at which either goes on.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import AcquireAll, GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> result = regret(problem, AcquireAll().solve(problem), GridValueIteration().solve(problem))
    >>> result.stopped_late.round(3)  # it buys the second feature even where the first one settled the matter
    array([0.   , 0.018, 0.   ])
    """
    effort = Effort(method, n_paths, max_histories, random_state)

    def walk(rng: np.random.Generator | None, limit: float) -> Regret:
        return _Pair(problem, policy, other, rng, effort.n_paths).run(limit)

    result, _ = effort.run(walk)
    return result


class _Pair:
    """Two policies on the same histories; a row is dropped once both have stopped."""

    def __init__(
        self,
        problem: AcquisitionProblem,
        policy: Policy,
        other: Policy,
        rng: np.random.Generator | None,
        n_paths: int,
    ) -> None:
        self.problem, self.policies, self.rng = problem, (policy, other), rng
        self.total = 1.0 if rng is None else float(n_paths)
        self.cost = np.zeros(2)
        self.square = 0.0
        self.part: list[list[float]] = []  # a stage's early and late regret, and their weights

    def run(self, max_histories: float) -> Regret:
        info, weight, lots = self._begin()
        n, visited = len(info), 1
        paid, settled = np.zeros(n), np.zeros(n)
        alive = np.ones((n, 2), dtype=bool)
        parted = np.full(n, -1)
        while len(info):
            self.part.append([0.0] * 4)
            go_on = np.column_stack([self._goes_on(k, info, lots[:, k], alive[:, k]) for k in (0, 1)])
            cost = paid + info.stopping_cost
            self._settle(alive, go_on, weight, cost, parted, settled)
            apart = (alive.all(axis=1)) & (go_on[:, 0] != go_on[:, 1])
            parted[apart], settled[apart] = info.stage, cost[apart]
            on = np.flatnonzero(go_on.any(axis=1))
            if not on.size:
                break
            info = info[on]
            parent, outcome, share = branch(info, weight[on], self.rng)
            visited += parent.size
            if visited > max_histories:
                raise TooLarge(max_histories)
            rows = on[parent]
            paid = paid[rows] + info.price[parent]
            alive, lots, parted, settled = go_on[rows], lots[rows], parted[rows], settled[rows]
            info, weight = info.update(outcome, parent), share
        return self._result()

    def _begin(self) -> tuple[InformationState, FloatArray, IntArray]:
        chances = [policy.begin()[1] for policy in self.policies]
        probability = np.outer(*chances).ravel()
        pairs = np.stack(np.divmod(np.arange(probability.size), len(chances[1])), axis=1)
        if self.rng is None or probability.size == 1:
            weight = self.total * probability
        else:
            weight = self.rng.multinomial(int(self.total), probability).astype(np.float64)
        drawn = np.flatnonzero(weight)
        return self.problem.begin(drawn.size), weight[drawn], pairs[drawn]

    def _goes_on(self, k: int, info: InformationState, lot: IntArray, alive: BoolArray) -> BoolArray:
        go_on = np.zeros(len(info), dtype=bool)
        rows = np.flatnonzero(alive)
        if rows.size:
            asked = info[rows]
            asked.lot = lot[rows]
            feature = self.policies[k].act(asked)
            go_on[rows] = feature != DECIDE
            check_feature(self.problem, info.stage, feature[go_on[rows]])
        return go_on

    def _settle(
        self,
        alive: BoolArray,
        go_on: BoolArray,
        weight: FloatArray,
        cost: FloatArray,
        parted: IntArray,
        settled: FloatArray,
    ) -> None:
        """Book what stops here; the difference goes to the stage where the two parted."""
        stops = alive & ~go_on
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
            std_error=0.0 if self.rng is None else float(np.sqrt(variance / self.total)),
            stopped_early=early,
            stopped_late=late,
            p_early=p_early,
            p_late=p_late,
            method="exact" if self.rng is None else "simulation",
        )
