"""What going on along an ordering rule costs: a regression, stage by stage."""

from __future__ import annotations

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass._utils.model_files import register
from seqclass.pomdp.hidden import plogp
from seqclass.pomdp.policy import DECIDE, Policy, SolveInfo
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, InformationState
from seqclass.pomdp.solvers.ordering.base import SCORE_BYTES, OrderingRule, best

__all__ = ["NextQuestion", "RulePolicy", "RuleValues", "bounded"]

#: Up to so many questions the regression knows which of them have been asked.
_MOST_TOLD = 40
#: Up to so many classes it knows the belief in each of them.
_MOST_CLASSES = 10


class NextQuestion:
    """What a rule asks next of a batch of instances, and what it looks at to say what going on costs.

    Parameters
    ----------
    rule : OrderingRule
        The rule.
    info : InformationState
        What is known of ``n`` instances, at a stage before the last.

    Attributes
    ----------
    question : ndarray of int of shape (n,)
        What is asked next; -1 where nothing is.
    once : ndarray of shape (n,)
        Cost of asking it and deciding then; inf where nothing is asked.
    least_once : ndarray of shape (n,)
        Cost of asking the question that is best if one has to decide then, and deciding.
    ahead : ndarray of shape (n,)
        What the rule itself expects it to cost, if it looks further ahead; else `once`.

    Examples
    --------
    >>> from seqclass.pomdp import ExpectedSaving, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> NextQuestion(ExpectedSaving(), problem.begin()).once
    array([0.25])
    """

    def __init__(self, rule: OrderingRule, info: InformationState) -> None:
        self.info = info
        scores = rule.scores(info)
        self.question = best(scores)
        rows, place = np.arange(len(info)), np.maximum(self.question, 0)
        nothing = self.question == DECIDE
        self.once: FloatArray = np.where(nothing, np.inf, info.costs_once[rows, place])
        self.least_once: FloatArray = info.costs_once.min(axis=1)
        self.ahead = self.once
        if rule.saves:
            self.ahead = np.where(nothing, np.inf, info.stopping_cost - scores[rows, place])

    def __getitem__(self, rows: IntArray) -> NextQuestion:
        """Return that of some rows."""
        part = object.__new__(NextQuestion)
        part.info = self.info[rows]
        part.question, part.once, part.ahead = self.question[rows], self.once[rows], self.ahead[rows]
        part.least_once = self.least_once[rows]
        return part

    def features(self) -> FloatArray:
        """What the cost of going on is explained by, (n, n_features), where something is asked."""
        info, belief = self.info, self.info.belief
        stop = info.stopping_cost
        entropy = -plogp(belief).sum(axis=1)
        top = np.partition(belief, belief.shape[1] - 2, axis=1)[:, -2:] if belief.shape[1] > 1 else belief
        columns = [stop, self.once, self.least_once, self.ahead, entropy, *top.T, np.sqrt(stop)]
        columns += [*belief.T] if belief.shape[1] <= _MOST_CLASSES else []
        columns += [stop**2, stop * self.ahead, self.ahead**2, entropy**2, stop * entropy, self.ahead * entropy]
        told = np.column_stack(columns)
        if info.seen is None or info.problem.n_questions > _MOST_TOLD:
            return told
        asked = (info.seen != OPEN).astype(np.float64)
        return np.hstack([told, asked, asked * stop[:, None]])


@register
class RuleValues:
    """The cost of going on along an ordering rule, and of stopping along it when that is cheaper.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    rule : OrderingRule
        The rule.
    n_stages : int
        Horizon: from this stage on nothing is asked.

    Attributes
    ----------
    weights : list of ndarray or None
        Of each stage the intercept and the weight of every feature; None where none were fitted.

    References
    ----------
    .. [1] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.

    Examples
    --------
    >>> from seqclass.pomdp import ExpectedSaving, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> RuleValues(problem, ExpectedSaving(), 1).value(problem.begin())  # nothing fitted: as if one had to decide then
    array([0.25])
    """

    #: Whether there was no time for a horizon that all cases end before.
    limited = False

    def __init__(self, problem: AcquisitionProblem, rule: OrderingRule, n_stages: int) -> None:
        self.problem = problem
        self.rule = rule
        self.n_stages = n_stages
        self.weights: list[FloatArray | None] = [None] * n_stages

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(w.size for w in self.weights if w is not None)

    def going_on(self, following: NextQuestion) -> FloatArray:
        """Cost of asking what the rule asks next and going on as long as that pays, (n,); inf where nothing is asked.

        It lies between the bound of one more price and perfect knowledge, and the cost of deciding after the question.

        Parameters
        ----------
        following : NextQuestion
            What is asked next of ``n`` instances.

        Returns
        -------
        ndarray of shape (n,)
        """
        cost: FloatArray = following.once.copy()
        stage = following.info.stage
        weights = self.weights[stage] if stage < self.n_stages else None
        asks = np.flatnonzero(following.question != DECIDE)
        if weights is None or not asks.size:
            return cost
        some = following if asks.size == len(cost) else following[asks]
        cost[asks] = bounded(some.features() @ weights[1:] + weights[0], some)
        return cost

    def value(self, info: InformationState) -> FloatArray:
        """Cost of stopping or going on, whichever is lower, (n,).

        Parameters
        ----------
        info : InformationState
            What is known of ``n`` instances.

        Returns
        -------
        ndarray of shape (n,)
        """
        value: FloatArray = info.stopping_cost.copy()
        if info.stage < self.n_stages:
            rows = np.flatnonzero(~info.settled)
            if rows.size:
                going_on = self.going_on(NextQuestion(self.rule, info[rows]))
                value[rows] = np.minimum(value[rows], going_on)
        return value


def bounded(cost: FloatArray, following: NextQuestion) -> FloatArray:
    """Keep costs of going on between knowing the class after one more price, and deciding after the next question.

    Examples
    --------
    >>> from seqclass.pomdp import ExpectedSaving, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> bounded(np.array([0.5]), NextQuestion(ExpectedSaving(), problem.begin()))
    array([0.25])
    """
    return np.asarray(np.clip(cost, following.info.least(), following.once))


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
