"""A policy that asks what an ordering rule says, as long as its regressed values say that it pays."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import DECIDE, Policy, SolveInfo
from seqclass.pomdp.solvers.ordering.base import SCORE_BYTES
from seqclass.pomdp.solvers.ordering.values import NextQuestion, RuleValues


class RulePolicy(Policy):
    """Asks the question that an ordering rule puts first while going on is expected to cost less than deciding.

    Parameters
    ----------
    values : RuleValues
        The rule, and the cost of going on along it.
    info : SolveInfo, optional
        What the solver reports.

    Examples
    --------
    >>> from seqclass.pomdp import ExpectedSaving, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> RulePolicy(RuleValues(problem, ExpectedSaving(), 1)).act(problem.begin())
    array([0])
    """

    def __init__(self, values: RuleValues, info: SolveInfo | None = None) -> None:
        super().__init__(values.problem, values.n_stages, info)
        self.values = values

    def following(self, info: InformationState) -> IntArray:
        """Question that the rule puts first, (n,); -1 where nothing is left to ask."""
        if info.stage >= self.n_stages:
            return np.full(len(info), DECIDE)
        return self._of_parts(info, np.arange(len(info)))[0]

    def continuation_cost(self, info: InformationState) -> FloatArray:
        """Expected cost of going on along the rule, the next price included, (n,); inf where nothing can be asked."""
        if info.stage >= self.n_stages:
            return np.full(len(info), np.inf)
        return self._of_parts(info, np.arange(len(info)))[1]

    def _act(self, info: InformationState) -> IntArray:
        question = np.full(len(info), DECIDE)
        rows = np.flatnonzero(~info.settled)
        if rows.size:
            asked, cost = self._of_parts(info, rows)
            on = cost < info.to_beat[rows]
            question[rows[on]] = asked[on]
        return question

    def _of_parts(self, info: InformationState, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Question and cost of going on of some rows, a part at a time."""
        question, cost = np.full(len(rows), DECIDE), np.full(len(rows), np.inf)
        for part in chunks(len(rows), 8.0 * 6 * self.problem.n_questions, SCORE_BYTES):
            following = NextQuestion(self.values.rule, info[rows[part]])
            question[part], cost[part] = following.question, self.values.going_on(following)
        return question, cost
