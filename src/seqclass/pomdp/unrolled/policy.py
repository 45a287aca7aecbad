"""One step of look-ahead on vectors at the nodes of a free problem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqclass._arrays import FloatArray, IntArray, lower_envelope
from seqclass.pomdp.alpha.vectors import AlphaSet, AlphaVectors
from seqclass.pomdp.information import TIE, InformationState
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, SolveInfo
from seqclass.pomdp.unrolled.nodes import FreeNodes


class NodeVectors(AlphaVectors):
    """Alpha vectors of going on at the nodes of a free problem, each the cost of a plan by hidden state.

    Parameters
    ----------
    nodes : FreeNodes
        The nodes.
    sets : sequence of AlphaSet
        Vectors of going on after each number of questions, grouped by node.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> nodes = FreeNodes(problem.begin(), 1, "a file")
    >>> NodeVectors(nodes, [AlphaSet(np.array([[0.2, 0.3]]), np.array([0, 1]))]).value(0, problem.prior[None])
    array([0.25])
    """

    def __init__(self, nodes: FreeNodes, sets: Sequence[AlphaSet]) -> None:
        super().__init__(nodes.problem, sets)
        self.nodes = nodes

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go of beliefs in the hidden states, the context being the node; -1 where there is none.

        See `ValueFunction.value`.
        """
        value: FloatArray = lower_envelope(belief, self.nodes.costs.T)
        if stage >= self.n_stages:
            return value
        node: IntArray = np.zeros(len(belief), dtype=np.intp) if context is None else context
        rows = np.flatnonzero(node >= 0)
        value[rows] = np.minimum(value[rows], self._continuation(stage, belief[rows], node[rows]))
        return value

    def plan_cost(self, info: InformationState, rows: IntArray) -> FloatArray:
        """Cost of the best vector of going on; see `ValueFunction.plan_cost`."""
        some = info[rows]
        node, cost = self.nodes.find(some), np.full(len(rows), np.inf)
        known = np.flatnonzero(node >= 0)
        cost[known] = self._continuation(info.stage, self.nodes.belief(some)[known], node[known])
        return cost

    def question_costs(self, info: InformationState) -> FloatArray:
        """Price of each question and the expected value after it, (n, n_questions); inf where it is not open."""
        nodes, stage = self.nodes, info.stage
        costs: FloatArray = np.where(info.open, info.prices, np.inf)
        node, belief = nodes.find(info), nodes.belief(info)
        following = nodes.following[stage][node]
        following[node < 0] = -1
        for question in np.flatnonzero(info.open.any(axis=0)).tolist():
            joint = belief[:, None] * nodes.likelihood(question, info)
            after = np.broadcast_to(following[:, question, : joint.shape[1]], joint.shape[:2])
            value = self.value(stage + 1, joint.reshape(-1, joint.shape[2]), after.reshape(-1))
            costs[:, question] += value.reshape(after.shape).sum(axis=1)
        return costs


class NodePolicy(LookaheadPolicy):
    """Asks what one step of look-ahead on vectors says.

    Where a missing answer leads to no node, it looks one question ahead as if one had to decide then.

    Parameters
    ----------
    values : NodeVectors
        The vectors.
    info : SolveInfo, optional
        What the solver reports.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> values = NodeVectors(FreeNodes(problem.begin(), 1, "a file"), [AlphaSet(np.array([[0.2, 0.3]]))])
    >>> NodePolicy(values).act(problem.begin())
    array([0])
    """

    values: NodeVectors

    def __init__(self, values: NodeVectors, info: SolveInfo | None = None) -> None:
        super().__init__(values, info)

    def following(self, info: InformationState) -> IntArray:
        """The most promising question, worth its price or not, (n,); see `Policy.following`."""
        return self._best(info)[0]

    def continuation_cost(self, info: InformationState) -> FloatArray:
        """Cost of the most promising question, (n,); inf where nothing is open."""
        return self._best(info)[1]

    def _act(self, info: InformationState) -> IntArray:
        question = np.full(len(info), DECIDE)
        rows = np.flatnonzero(~info.settled)
        if rows.size:
            best, cost = self._best(info[rows])
            on = cost < info.to_beat[rows]
            question[rows[on]] = best[on]
        return question

    def _best(self, info: InformationState) -> tuple[IntArray, FloatArray]:
        """Most promising question, of equals the one of lowest number, and its cost."""
        question, cost = np.full(len(info), DECIDE), np.full(len(info), np.inf)
        if info.stage >= self.n_stages or not self.problem.n_questions:
            return question, cost
        row_bytes = 8.0 * (3 * float(self.problem.n_outcomes.max()) * self.values.nodes.n_hidden)
        for part, some in info.parts(row_bytes + 8.0 * self.values.nodes.following[info.stage][0].size):
            costs = self.values.question_costs(some)
            cost[part] = costs.min(axis=1)
            found = (costs <= cost[part, None] * (1 + TIE)).argmax(axis=1)
            question[part] = np.where(np.isfinite(cost[part]), found, DECIDE)
        return question, cost
