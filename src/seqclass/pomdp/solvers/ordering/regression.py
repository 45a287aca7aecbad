"""Fitting the cost of going on along an ordering rule to simulated cases, backward over stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass._utils.progress import TimeUp
from seqclass.pomdp.answers import Answers, SampledAnswers, TooLarge
from seqclass.pomdp.bounds.optimum import asked_once
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.values import NextQuestion, RuleValues, bounded
from seqclass.pomdp.walk import ALL, Level, walk

__all__: list[str] = []


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
    asks: IntArray
    following: NextQuestion | None
    #: Rows that go on by the fitted values.
    goes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))


class _Walk:
    """A walk, and what is known of the costs of the level that the backward pass has come to."""

    def __init__(self, steps: list[_Step], foresees: bool) -> None:
        self.steps, self.foresees = steps, foresees
        self.total = float(steps[0].weight.sum())
        #: What each history costs from there on, and what the values say that it does.
        self.cost, self.value = steps[-1].stop, steps[-1].stop

    def reaching(self, stage: int) -> float:
        """Share of the cases that come to a stage when they stop as the values say."""
        if stage >= len(self.steps):
            return 0.0
        reached = np.ones(len(self.steps[0].stop), dtype=bool)
        for step, after in zip(self.steps[:stage], self.steps[1:]):
            goes = np.zeros(len(step.stop), dtype=bool)
            goes[step.goes] = True
            reached = (reached & goes)[after.parent]
        return float(self.steps[stage].weight[reached].sum()) / self.total


def fitted_values(
    problem: AcquisitionProblem,
    rule: OrderingRule,
    n_stages: int,
    n_paths: int,
    rng: np.random.Generator,
    *,
    first_horizon: int = 16,
    foresee: bool = True,
) -> RuleValues:
    """Fit the cost of going on along a rule, by regression on simulated cases."""
    horizon, values = min(first_horizon, n_stages), None
    while True:
        try:
            values, reaching = _fitted(problem, rule, horizon, n_paths, rng, foresee)
        except TimeUp:
            if values is None:
                raise
            values.limited = True
            return values
        if horizon == n_stages or reaching <= _CUT_OFF:
            return values
        horizon = min(2 * horizon, n_stages)


def _fitted(
    problem: AcquisitionProblem,
    rule: OrderingRule,
    n_stages: int,
    n_paths: int,
    rng: np.random.Generator,
    foresee: bool,
) -> tuple[RuleValues, float]:
    """Values over a horizon, and the share of the cases that come to its end."""
    values = RuleValues(problem, rule, n_stages)
    every, sampled = _every_case(problem, rule, n_stages, n_paths, rng)
    few = max(1, int(_EXPLORING * n_paths))
    beside = [_followed(problem, rule, n_stages, few, rng, n) for n in range(1, min(_LONGEST, n_stages - 1) + 1)]
    walks = [_Walk(every, sampled and foresee), *(_Walk(steps, foresee) for steps in beside)]
    for stage in reversed(range(n_stages)):
        _fit(values, stage, [walk for walk in walks if stage + 1 < len(walk.steps)])
    return values, walks[0].reaching(n_stages)


def _every_case(
    problem: AcquisitionProblem, rule: OrderingRule, n_stages: int, n_paths: int, rng: Any
) -> tuple[list[_Step], bool]:
    """All cases along the rule, or a sample where they are more; and whether it is one."""
    try:
        return _followed(problem, rule, n_stages, n_paths, None), False
    except TooLarge:
        return _followed(problem, rule, n_stages, n_paths, rng), True


def _followed(
    problem: AcquisitionProblem, rule: OrderingRule, n_stages: int, n_paths: int, rng: Any, n_random: int = 0
) -> list[_Step]:
    """Walk along the rule, after a few questions at random; without a generator all cases, if they are few."""
    steps: list[_Step] = []

    def ask(level: Level) -> IntArray:
        info = level.info
        question = np.full(len(info), DECIDE)
        following, on = None, np.empty(0, dtype=np.intp)
        asks = np.flatnonzero(~info.settled) if info.stage < n_stages else on
        if asks.size and info.stage < n_random:
            question[asks] = np.where(info.open[asks], rng.random((asks.size, problem.n_questions)), -1).argmax(axis=1)
        elif asks.size:
            following = NextQuestion(rule, info[asks])
            question[asks] = following.question
            go = np.flatnonzero(following.question != DECIDE)
            on, following = asks[go], following[go]  # which leaves the costs of all questions behind
        steps.append(_Step(level.weight, level.parent, info.stopping_cost, on, following))
        return question

    answers: Answers = ALL if rng is None else SampledAnswers(rng)
    # cases that begin at random go each its own way
    start = problem.begin(n_paths if n_random else 1)
    weight = np.full(len(start), 1.0 if rng is None or n_random else float(n_paths))
    for _ in walk(start, weight, ask, answers, float(n_paths) if rng is None else np.inf):
        pass
    return steps


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
            found.append((path, step.following, step.following.features(), target))
    if not found:
        return
    weight = [path.steps[stage].weight[path.steps[stage].asks] / path.total for path, *_ in found]
    features, targets = (np.concatenate(column) for column in list(zip(*found))[2:])
    values.weights[stage] = weights = ridge(features, targets, np.concatenate(weight))
    for path, following, told, target in found:
        step, value = path.steps[stage], bounded(told @ weights[1:] + weights[0], following)
        rows, goes = step.asks, value < step.stop[step.asks]
        path.cost[rows[goes]], path.value[rows[goes]] = target[goes], value[goes]
        step.following, step.goes = None, rows[goes]  # what was asked has served


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
        level = asked_once(following.info[rows], np.arange(len(rows)), following.question[rows])
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
