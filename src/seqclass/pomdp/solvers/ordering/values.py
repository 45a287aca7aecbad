"""What going on along an ordering rule costs: a regression, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.model_files import register
from seqclass._utils.progress import TimeUp
from seqclass.pomdp.answers import Answers, SampledAnswers, TooLarge
from seqclass.pomdp.bounds.optimum import asked_once
from seqclass.pomdp.hidden import plogp
from seqclass.pomdp.information import OPEN, InformationState
from seqclass.pomdp.policy import DECIDE, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.ordering.base import SCORE_BYTES, OrderingRule, best
from seqclass.pomdp.walk import ALL, Level, opened, walk

__all__ = ["RulePolicy", "RuleValues"]


#: Up to so many questions the regression knows which of them have been asked.
_MOST_TOLD = 40
#: Up to so many classes it knows the belief in each of them.
_MOST_CLASSES = 10


class NextQuestion:
    """What a rule asks next of a batch of instances, and what it looks at to say what going on costs.

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
            self.ahead = np.where(nothing, np.inf, info.deciding_cost - scores[rows, place])

    def __getitem__(self, rows: IntArray) -> NextQuestion:
        part = object.__new__(NextQuestion)
        part.info = self.info[rows]
        part.question, part.once, part.ahead = self.question[rows], self.once[rows], self.ahead[rows]
        part.least_once = self.least_once[rows]
        return part

    def features(self) -> FloatArray:
        """What the cost of going on is explained by, (n, n_features), where something is asked."""
        info, belief = self.info, self.info.belief
        stop = info.deciding_cost
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
        """
        cost: FloatArray = most(following).copy()
        stage = following.info.stage
        weights = self.weights[stage] if stage < self.n_stages else None
        asks = np.flatnonzero(following.question != DECIDE)
        if weights is None or not asks.size:
            return cost
        some = following if asks.size == len(cost) else following[asks]
        cost[asks] = bounded(some.features() @ weights[1:] + weights[0], some)
        return cost

    def value(self, info: InformationState) -> FloatArray:
        """Cost of stopping or going on, whichever is lower, (n,)."""
        value: FloatArray = info.finishing_cost.copy()
        if info.stage < self.n_stages:
            rows = np.flatnonzero(~info.settled)
            if rows.size:
                going_on = self.going_on(NextQuestion(self.rule, info[rows]))
                value[rows] = np.minimum(value[rows], going_on)
        return value


def bounded(cost: FloatArray, following: NextQuestion) -> FloatArray:
    """Keep costs of going on between knowing the class after one more price, and deciding after the next question."""
    return np.asarray(np.clip(cost, following.info.cost_floor(), most(following)))


def most(following: NextQuestion) -> FloatArray:
    """Going on costs no more, (n,): deciding after the next question, or where more has to be asked all of that."""
    info = following.info
    return np.where(info.closed, np.maximum(following.once, info.finishing_cost), following.once)


class RulePolicy(Policy):
    """Asks the question that an ordering rule puts first while going on is expected to cost less than deciding."""

    def __init__(self, values: RuleValues, info: SolveInfo | None = None) -> None:
        super().__init__(values.problem, values.n_stages, info)
        self.values = values

    def following(self, info: InformationState) -> IntArray:
        """Question that the rule puts first, (n,); -1 where nothing is left to ask."""
        if info.stage >= self.n_stages:
            return np.full(len(info), DECIDE)
        return self.values.rule.next(info)

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


#: Longest random beginning of an exploring walk, and the share of the paths that each length takes.
_LONGEST, _EXPLORING = 3, 0.25
#: The horizon is doubled until no more than this share of the cases comes to its end.
_CUT_OFF = 0.005
#: Ridge penalty, as a share of the variance of a column.
_RIDGE = 1e-3


@dataclass
class _Step:
    """One level of a walk: its histories, and those of them that go on along the rule."""

    weight: FloatArray
    parent: IntArray
    stop: FloatArray
    #: Rows that ask at random, and those that ask what the rule asks next.
    random: IntArray
    asks: IntArray
    following: NextQuestion | None
    #: Rows that go on by the fitted values.
    goes: IntArray

    @cached_property
    def told(self) -> FloatArray:
        """What the cost of going on is explained by."""
        assert self.following is not None
        return self.following.features()


class _Walk:
    """Cases along a rule, as far as they were followed, and the costs of the level that the backward pass is at."""

    def __init__(
        self, problem: AcquisitionProblem, rule: OrderingRule, n_cases: int, rng: Any, foresees: bool, random: Any = ()
    ) -> None:
        """Without a generator all cases, if they are few; ``random``: how many questions each begins with by chance."""
        self.rule, self.rng, self.foresees, self.random = rule, rng, foresees, np.asarray(random, dtype=np.intp)
        self.n_cases, self.total = n_cases, 1.0 if rng is None else float(n_cases)
        # cases that begin at random go each its own way
        if self.random.size:
            self.info, weight = drawn_starts(problem, self.random.size, rng), np.ones(self.random.size)
        else:
            self.info, weight = opened(problem, self.total, ALL if rng is None else SampledAnswers(rng))
        self.visited, n = 0, len(self.info)
        nothing, rows = np.empty(0, dtype=np.intp), np.arange(n)
        self.steps = [_Step(weight, rows, self.info.finishing_cost, nothing, nothing, None, nothing)]
        #: What each history costs from there on, and what the values say that it does.
        self.cost = self.value = self.steps[-1].stop

    def go_on(self, before: int, horizon: int) -> None:
        """Follow the cases from one horizon, where they come to it, to another one."""
        if len(self.steps) <= before:
            return
        wanted, first = self._wanted(before), self.steps.pop()
        answers: Answers = ALL if self.rng is None else SampledAnswers(self.rng)
        most = np.inf if self.rng is not None else float(self.n_cases - self.visited)
        for level in walk(self.info, first.weight, lambda level: self._ask(level, wanted, horizon), answers, most):
            self.info, visited = level.info, level.visited
        self.visited += visited
        self.steps[before].parent = first.parent

    def _ask(self, level: Level, wanted: BoolArray, horizon: int) -> IntArray:
        info, problem = level.info, level.info.problem
        question, nothing = np.full(len(info), DECIDE), np.empty(0, dtype=np.intp)
        if self.random.size:
            self.random = self.random[level.parent]
        asks = np.flatnonzero(~info.settled) if info.stage < horizon else nothing
        if level.visited == 1:  # the first of those that go on
            asks = asks[wanted[asks]]
        random, following = nothing, None
        if self.random.size:
            first = self.random[asks] > info.stage
            random, asks = asks[first], asks[~first]
            chance = self.rng.random((random.size, problem.n_questions))
            question[random] = np.where(info.open[random], chance, -1).argmax(axis=1)
        if asks.size:
            following = NextQuestion(self.rule, info[asks])
            question[asks] = following.question
            go = np.flatnonzero(following.question != DECIDE)
            asks, following = asks[go], following[go]  # which leaves the costs of all questions behind
        self.steps.append(_Step(level.weight, level.parent, info.finishing_cost, random, asks, following, nothing))
        return question

    def _reached(self, stage: int) -> BoolArray:
        """Histories of a stage that come to it when they stop as the values say."""
        reached = np.ones(len(self.steps[0].stop), dtype=bool)
        for step, after in zip(self.steps[:stage], self.steps[1:]):
            goes = np.zeros(len(step.stop), dtype=bool)
            goes[step.goes] = goes[step.random] = True
            reached = (reached & goes)[after.parent]
        return reached

    def _wanted(self, horizon: int) -> BoolArray:
        """Histories at a horizon that are worth following: of those that stop long before nothing more is learnt."""
        wanted = self._reached(horizon // 2)
        for step in self.steps[horizon // 2 + 1 :]:
            wanted = wanted[step.parent]
        return wanted

    def reaching(self, stage: int) -> float:
        """Share of the cases that come to a stage when they stop as the values say."""
        if stage >= len(self.steps):
            return 0.0
        return float(self.steps[stage].weight[self._reached(stage)].sum()) / self.total


def drawn_starts(problem: AcquisitionProblem, n: int, rng: Any) -> InformationState:
    """Cases as they begin, drawn at random where they differ."""
    info, weight = problem.opening()
    return info[np.zeros(n, dtype=np.intp) if len(weight) == 1 else rng.choice(len(weight), n, p=weight)]


def fitted_values(
    problem: AcquisitionProblem,
    rule: OrderingRule,
    n_stages: int,
    n_paths: int,
    rng: np.random.Generator,
    *,
    first_horizon: int = 16,
    exact_expectation: bool = True,
) -> RuleValues:
    """Fit the cost of going on along a rule, by regression on simulated cases."""
    few = max(1, int(_EXPLORING * n_paths))
    lengths = np.repeat(np.arange(1, min(_LONGEST, n_stages - 1) + 1), few)
    every = _Walk(problem, rule, n_paths, None, False)
    beside = [_Walk(problem, rule, few, rng, exact_expectation, lengths)] if lengths.size else []
    before, horizon, values = 0, min(first_horizon, n_stages), None
    while True:
        try:
            try:
                every.go_on(before, horizon)
            except TooLarge:
                every = _Walk(problem, rule, n_paths, rng, exact_expectation)
                every.go_on(0, horizon)
            for walk_ in beside:
                walk_.go_on(before, horizon)
            values = _fitted(RuleValues(problem, rule, horizon), [every, *beside])
        except TimeUp:
            if values is None:
                raise
            values.limited = True
            return values
        if horizon == n_stages or every.reaching(horizon) <= _CUT_OFF:
            return values
        before, horizon = horizon, min(2 * horizon, n_stages)


def _fitted(values: RuleValues, walks: list[_Walk]) -> RuleValues:
    """Fit the weights of all stages, the last one first."""
    for path in walks:
        path.cost = path.value = path.steps[-1].stop
    for stage in reversed(range(values.n_stages)):
        _fit(values, stage, [path for path in walks if stage + 1 < len(path.steps)])
    return values


def _fit(values: RuleValues, stage: int, walks: list[_Walk]) -> None:
    """Fit the weights of a stage to all walks, and bring the costs of their histories one stage back."""
    found: list[tuple[_Walk, NextQuestion, FloatArray, FloatArray]] = []
    for path in walks:
        step, after = path.steps[stage], path.steps[stage + 1]
        # by what a case costs more than the values say; what they expect of the next answer has no noise
        seen = path.cost - path.value if path.foresees else path.cost
        target = np.bincount(after.parent, after.weight * seen, minlength=len(step.stop)) / step.weight
        path.cost, path.value = step.stop.copy(), step.stop.copy()
        if step.following is not None and step.asks.size:
            target = target[step.asks] + _price(step.following)
            if path.foresees:
                target += _expected(values, step.following)
            found.append((path, step.following, step.told, target))
    if not found:
        return
    weight = [path.steps[stage].weight[path.steps[stage].asks] / path.total for path, *_ in found]
    features, targets = (np.concatenate(column) for column in list(zip(*found))[2:])
    values.weights[stage] = weights = ridge(features, targets, np.concatenate(weight))
    for path, following, told, target in found:
        step, value = path.steps[stage], bounded(told @ weights[1:] + weights[0], following)
        rows, goes = step.asks, (value < step.stop[step.asks]) | following.info.closed
        path.cost[rows[goes]], path.value[rows[goes]] = target[goes], value[goes]
        step.goes = rows[goes]


def _price(following: NextQuestion) -> FloatArray:
    info = following.info
    prices = np.broadcast_to(info.prices, (len(info), info.problem.n_questions))
    return np.asarray(prices[np.arange(len(info)), following.question])


def _expected(values: RuleValues, following: NextQuestion) -> FloatArray:
    """What the values of the next stage expect of the answer, (n,)."""
    n, result = len(following.question), np.empty(len(following.question))
    widest = float(values.problem.n_outcomes.max(initial=1))
    for part in chunks(n, 8.0 * 8 * widest * values.problem.n_questions):
        rows = np.arange(n)[part]
        some, asked = following.info[rows], following.question[rows]
        level = asked_once(some, np.arange(len(rows)), asked, merged=values.rule.by_belief)
        result[part] = np.bincount(level.entry, level.weight * values.value(level.info), minlength=len(rows))
    return result


def ridge(features: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Intercept and weights of a weighted ridge regression on standardised columns, (1 + n_features,)."""
    share = weight / weight.sum()
    middle, mean = share @ features, float(share @ target)
    centred = features - middle
    scale = np.sqrt(share @ centred**2)
    # a column that hardly varies explains nothing
    scale = np.where(scale > 1e-9 * np.abs(features).max(axis=0), scale, np.inf)
    design = centred / scale
    gram = design.T @ (share[:, None] * design)
    gram[np.diag_indices_from(gram)] += _RIDGE
    slope = np.linalg.solve(gram, design.T @ (share * (target - mean))) / scale
    return np.append(mean - middle @ slope, slope)
