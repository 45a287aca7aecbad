"""What going on along an ordering rule costs: a regression, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import CHUNK_BYTES, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.model_files import register
from seqclass._utils.progress import DeadlineExceeded
from seqclass._utils.stored import check_numbers, require, require_list, require_part, require_whole
from seqclass.pomdp.bounds.optimum import ask_once
from seqclass.pomdp.latent import plogp
from seqclass.pomdp.observations import ObservationSource, SampledObservations, TooLarge
from seqclass.pomdp.one_step import (
    finishing_cost,
    initial_beliefs,
    least_cost_of_going_on,
    stopping_is_certain,
    stopping_threshold,
)
from seqclass.pomdp.policy import DECIDE, ChoosingPolicy
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, BeliefState, deciding_cost, has_requirements, must_continue
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.walk import ALL, Level, initial_histories, join_beliefs, walk

__all__ = ["RulePolicy", "RuleValues"]


class NextQuestion:
    """What a rule asks next of a batch of instances, and what going on costs; see `OrderingRule.leading`."""

    #: Column of `ahead` among the features.
    place_of_ahead = 3

    def __init__(self, rule: OrderingRule, belief: BeliefState) -> None:
        self.info = belief
        self.question, self.once, self.least_once, self.ahead = rule.leading(belief)

    def __getitem__(self, rows: IntArray) -> NextQuestion:
        part = object.__new__(NextQuestion)
        part.info = self.info[rows]
        part.question, part.once, part.ahead = self.question[rows], self.once[rows], self.ahead[rows]
        part.least_once = self.least_once[rows]
        return part

    def features(self) -> FloatArray:
        """What the cost of going on is explained by, (n, n_features), where something is asked."""
        told, asked = self._of_beliefs(), self._of_questions()
        return told.T if asked is None else np.concatenate([told.T, asked, asked * told[0][:, None]], axis=1)

    def weigh(self, weights: FloatArray) -> FloatArray:
        """What an intercept and weights of all features make of them, (n,)."""
        if len(self.info) == 1:
            return np.asarray(self.features() @ weights[1:] + weights[0])
        # of many rows the products of what was asked would take longer to write than all else
        told, asked = self._of_beliefs(), self._of_questions()
        cost: FloatArray = weights[0] + weights[1 : 1 + len(told)] @ told
        if asked is not None:
            alone, beside_stop = (asked @ weights[1 + len(told) :].reshape(2, -1).T).T
            cost += alone + beside_stop * told[0]
        return cost

    def _of_beliefs(self) -> FloatArray:
        """Features that do not depend on which questions were asked, one a row, the cost of deciding first."""
        belief, posterior = self.info, self.info.probabilities
        stop = deciding_cost(belief)
        entropy = -plogp(posterior).sum(axis=1)
        top = [*posterior.T]
        if len(top) == 2:  # quicker than by sorting
            top = [np.minimum(*top), np.maximum(*top)]
        elif len(top) > 2:
            top = [*np.partition(posterior, posterior.shape[1] - 2, axis=1)[:, -2:].T]
        columns = [stop, self.once, self.least_once, self.ahead, entropy, *top, np.sqrt(stop)]
        # up to so many classes it knows the belief in each of them
        columns += [*posterior.T] if posterior.shape[1] <= 10 else []
        columns += [stop**2, stop * self.ahead, self.ahead**2, entropy**2, stop * entropy, self.ahead * entropy]
        return np.array(columns)

    def _of_questions(self) -> FloatArray | None:
        """Which questions were asked, (n, n_questions); None of more than the regression is to know of."""
        if self.info.observed is None or self.info.problem.n_questions > 40:
            return None
        return np.asarray(self.info.observed != OPEN, dtype=np.float64)


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
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, any_order=True)
    >>> RuleValues(problem, ExpectedSaving(), 1).value(problem.initial_belief())  # nothing was fitted
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
        most, stage = cost_upper_bound(following), following.info.stage
        weights = self.weights[stage] if stage < self.n_stages else None
        asks = (following.question != DECIDE).nonzero()[0]
        if weights is None or not asks.size:
            return most
        if asks.size == len(most):
            return clip_to_bounds(following.weigh(weights), following, most)
        some, cost = following[asks], np.array(most)
        cost[asks] = clip_to_bounds(some.weigh(weights), some, most[asks])
        return cost

    def value(self, belief: BeliefState) -> FloatArray:
        """Cost of stopping or going on, whichever is lower, (n,)."""
        value: FloatArray = finishing_cost(belief).copy()
        if belief.stage < self.n_stages:
            rows = np.flatnonzero(~stopping_is_certain(belief))
            if rows.size:
                going_on = self.going_on(NextQuestion(self.rule, belief[rows]))
                value[rows] = np.minimum(value[rows], going_on)
        return value

    def _check_stored(self) -> None:
        require(require_part(self, "problem", AcquisitionProblem).any_order, "values are of a problem in a fixed order")
        for weights in require_list(self, "weights", require_whole(self, "n_stages", 0)):
            require(weights is None or check_numbers(weights, "weights", None) is weights, "weights are wrong")
        require_part(self, "rule", OrderingRule)._check_stored_for(self.problem)


def expected_values(problem: AcquisitionProblem, rule: OrderingRule, n_stages: int) -> RuleValues:
    """What a rule that looks ahead expects by itself, as values: nothing is fitted to it."""
    values = RuleValues(problem, rule, n_stages)
    with np.errstate(invalid="ignore"):  # of features only the number counts
        weights = np.zeros(1 + NextQuestion(rule, initial_beliefs(problem)[0]).features().shape[1])
    weights[1 + NextQuestion.place_of_ahead] = 1.0
    values.weights = [weights] * n_stages
    return values


def clip_to_bounds(cost: FloatArray, following: NextQuestion, most: FloatArray | None = None) -> FloatArray:
    """Keep costs of going on between knowing the class after one more price, and deciding after the next question."""
    most = cost_upper_bound(following) if most is None else most
    return np.asarray(np.minimum(np.maximum(cost, least_cost_of_going_on(following.info)), most))


def cost_upper_bound(following: NextQuestion) -> FloatArray:
    """Going on costs no more, (n,): deciding after the next question, or where more has to be asked all of that."""
    belief = following.info
    if not has_requirements(belief.problem):
        return following.once
    return np.where(must_continue(belief), np.maximum(following.once, finishing_cost(belief)), following.once)


class RulePolicy(ChoosingPolicy):
    """Asks the question that an ordering rule puts first while going on is expected to cost less than deciding."""

    def __init__(self, values: RuleValues, info: SolveInfo | None = None) -> None:
        super().__init__(values.problem, values.n_stages, info)
        self.values = values

    def next_question(self, belief: BeliefState) -> IntArray:
        """Question that the rule puts first, (n,); -1 where nothing is left to ask."""
        if belief.stage >= self.n_stages:
            return np.full(len(belief), DECIDE)
        return self.values.rule.next(belief)

    def _question_scores(self, belief: BeliefState) -> FloatArray:
        return self.values.rule.scores(belief)

    def _choose(self, belief: BeliefState, rows: IntArray) -> tuple[IntArray, FloatArray]:
        if len(rows) == len(belief) == 1:  # a live case asks for both, and what one finds serves the other
            known: Any = belief._cache.get("continuation_cost")
            if known is None or known[0] is not self:
                following = NextQuestion(self.values.rule, belief)
                known = self, following.question, self.values.going_on(following)
                belief._cache["continuation_cost"] = known
            return known[1], known[2]
        question, cost = np.full(len(rows), DECIDE), np.full(len(rows), np.inf)
        for part in chunks(len(rows), 8.0 * 6 * self.problem.n_questions, CHUNK_BYTES // 8):
            following = NextQuestion(self.values.rule, belief[rows[part]])
            question[part], cost[part] = following.question, self.values.going_on(following)
        return question, cost

    def _check_stored(self) -> None:
        values = require_part(self, "values", RuleValues)
        require(values.problem is self.problem, "values are of another problem")
        require(values.n_stages == self.n_stages, "values are of other stages")


@dataclass
class _WalkLevel:
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
    def regressors(self) -> FloatArray:
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
            self.info, weight = draw_starts(problem, self.random.size, rng), np.ones(self.random.size)
        else:
            answers: ObservationSource = ALL if rng is None else SampledObservations(rng)
            self.info, weight = initial_histories(problem, None, self.total, answers)
        self.visited, n = 0, len(self.info)
        nothing, rows = np.empty(0, dtype=np.intp), np.arange(n)
        self.steps = [_WalkLevel(weight, rows, finishing_cost(self.info), nothing, nothing, None, nothing)]
        #: What each history costs from there on, and what the values say that it does.
        self.cost = self.value = self.steps[-1].stop

    def go_on(self, before: int, horizon: int) -> None:
        """Follow the cases from one horizon, where they come to it, to another one."""
        if len(self.steps) <= before:
            return
        wanted, first = self._is_worth_following(before), self.steps.pop()
        answers: ObservationSource = ALL if self.rng is None else SampledObservations(self.rng)
        most = np.inf if self.rng is not None else float(self.n_cases - self.visited)
        for level in walk(self.info, first.weight, lambda level: self._ask(level, wanted, horizon), answers, most):
            self.info, visited = level.belief, level.visited
        self.visited += visited
        self.steps[before].parent = first.parent

    def _ask(self, level: Level, wanted: BoolArray, horizon: int) -> IntArray:
        belief, problem = level.belief, level.belief.problem
        question, nothing = np.full(len(belief), DECIDE), np.empty(0, dtype=np.intp)
        if self.random.size:
            self.random = self.random[level.parent]
        asks = np.flatnonzero(~stopping_is_certain(belief)) if belief.stage < horizon else nothing
        if level.visited == 1:  # the first of those that go on
            asks = asks[wanted[asks]]
        random, following = nothing, None
        if self.random.size:
            first = self.random[asks] > belief.stage
            random, asks = asks[first], asks[~first]
            chance = self.rng.random((random.size, problem.n_questions))
            question[random] = np.where(belief.available[random], chance, -1).argmax(axis=1)
        if asks.size:
            following = NextQuestion(self.rule, belief[asks])
            question[asks] = following.question
            go = np.flatnonzero(following.question != DECIDE)
            asks, following = asks[go], following[go]  # which leaves the costs of all questions behind
        self.steps.append(
            _WalkLevel(level.weight, level.parent, finishing_cost(belief), random, asks, following, nothing)
        )
        return question

    def _is_reached(self, stage: int) -> BoolArray:
        """Histories of a stage that come to it when they stop as the values say."""
        reached = np.ones(len(self.steps[0].stop), dtype=bool)
        for step, after in zip(self.steps[:stage], self.steps[1:]):
            goes = np.zeros(len(step.stop), dtype=bool)
            goes[step.goes] = goes[step.random] = True
            reached = (reached & goes)[after.parent]
        return reached

    def _is_worth_following(self, horizon: int) -> BoolArray:
        """Histories at a horizon that are worth following: of those that stop long before nothing more is learnt."""
        wanted = self._is_reached(horizon // 2)
        for step in self.steps[horizon // 2 + 1 :]:
            wanted = wanted[step.parent]
        return wanted

    def fraction_reaching(self, stage: int) -> float:
        """Share of the cases that come to a stage when they stop as the values say."""
        if stage >= len(self.steps):
            return 0.0
        return float(self.steps[stage].weight[self._is_reached(stage)].sum()) / self.total


def draw_starts(problem: AcquisitionProblem, n: int, rng: Any) -> BeliefState:
    """Cases as they begin, drawn at random where they differ."""
    belief, weight = initial_beliefs(problem)
    return belief[np.zeros(n, dtype=np.intp) if len(weight) == 1 else rng.choice(len(weight), n, p=weight)]


def fit_values(
    problem: AcquisitionProblem,
    rule: OrderingRule,
    n_stages: int,
    n_paths: int,
    rng: np.random.Generator,
    *,
    first_horizon: int = 16,
    exact_expectation: bool = True,
    negligible: float = 0.005,
) -> RuleValues:
    """Fit the cost of going on along a rule, by regression on simulated cases, until so few of them come further."""
    few = max(1, int(0.25 * n_paths))
    # random beginnings of up to three questions
    lengths = np.repeat(np.arange(1, min(3, n_stages - 1) + 1), few)
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
            values = _fit_stages(RuleValues(problem, rule, horizon), [every, *beside])
        except DeadlineExceeded:
            if values is None:
                raise
            values.limited = True
            return values
        # so few of the cases come to its end that more stages make no difference
        if horizon == n_stages or every.fraction_reaching(horizon) <= negligible:
            return values
        before, horizon = horizon, min(2 * horizon, n_stages)


def _fit_stages(values: RuleValues, walks: list[_Walk]) -> RuleValues:
    """Fit the weights of all stages, the last one first."""
    for path in walks:
        path.cost = path.value = path.steps[-1].stop
    for stage in reversed(range(values.n_stages)):
        _fit(values, stage, [path for path in walks if stage + 1 < len(path.steps)])
    return values


def _fit(values: RuleValues, stage: int, walks: list[_Walk]) -> None:
    """Fit the weights of a stage to all walks, and bring the costs of their histories one stage back."""
    parts: list[tuple[_Walk, NextQuestion, FloatArray, FloatArray]] = []
    # in one lot: of few cases it is the number of calls that takes time
    ahead = [f for path in walks if path.foresees and (f := path.steps[stage].following) is not None and len(f.info)]
    expected = iter(np.split(*_expected_values(values, ahead)) if ahead else ())
    for path in walks:
        step, after = path.steps[stage], path.steps[stage + 1]
        # by what a case costs more than the values say; what they expect of the next answer has no noise
        seen = path.cost - path.value if path.foresees else path.cost
        target = np.bincount(after.parent, after.weight * seen, minlength=len(step.stop)) / step.weight
        path.cost, path.value = step.stop.copy(), step.stop.copy()
        if step.following is not None and step.asks.size:
            target = target[step.asks] + _price(step.following)
            if path.foresees:
                target += next(expected)
            parts.append((path, step.following, step.regressors, target))
    if not parts:
        return
    weight = [path.steps[stage].weight[path.steps[stage].asks] / path.total for path, *_ in parts]
    features, targets = (np.concatenate(column) for column in list(zip(*parts))[2:])
    values.weights[stage] = weights = ridge(features, targets, np.concatenate(weight))
    for path, following, told, target in parts:
        step, value = path.steps[stage], clip_to_bounds(told @ weights[1:] + weights[0], following)
        # free questions that change no decision cost as much as deciding, but for rounding
        rows, goes = step.asks, (value < stopping_threshold(following.info)) | must_continue(following.info)
        path.cost[rows[goes]], path.value[rows[goes]] = target[goes], value[goes]
        step.goes = rows[goes]


def _price(following: NextQuestion) -> FloatArray:
    belief = following.info
    prices = np.broadcast_to(belief.prices, (len(belief), belief.problem.n_questions))
    return np.asarray(prices[np.arange(len(belief)), following.question])


def _expected_values(values: RuleValues, lots: list[NextQuestion]) -> tuple[FloatArray, IntArray]:
    """What the values of the next stage expect of the answer, of all lots, and where one ends and the next begins."""
    info = join_beliefs([lot.info for lot in lots])
    question = np.concatenate([lot.question for lot in lots])
    n, result = len(question), np.empty(len(question))
    widest = float(values.problem.n_outcomes.max(initial=1))
    for part in chunks(n, 8.0 * 8 * widest * values.problem.n_questions):
        rows = np.arange(n)[part]
        some, asked = info[rows], question[rows]
        level = ask_once(some, np.arange(len(rows)), asked, merged=values.rule.by_belief)
        result[part] = np.bincount(level.entry, level.weight * values.value(level.belief), minlength=len(rows))
    return result, np.cumsum([len(lot.question) for lot in lots])[:-1]


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
    # ridge penalty, as a share of the variance of a column
    gram[np.diag_indices_from(gram)] += 1e-3
    slope = np.linalg.solve(gram, design.T @ (share * (target - mean))) / scale
    return np.append(mean - middle @ slope, slope)
