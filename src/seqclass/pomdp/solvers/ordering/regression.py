"""Fitting the cost of going on along an ordering rule to simulated cases, backward over stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.answers import Answers, SampledAnswers, TooLarge
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.values import NextQuestion, RuleValues
from seqclass.pomdp.walk import ALL, Level, walk

#: Longest random beginning of an exploring walk, and the share of the paths that each length takes.
_LONGEST, _EXPLORING = 3, 0.25
#: Ridge penalty, as a share of the variance of a column.
_RIDGE = 1e-3


@dataclass
class _Step:
    """One level of a walk: its histories, and of those that go on along the rule what the regression needs."""

    weight: FloatArray
    parent: IntArray
    stop: FloatArray
    asks: IntArray
    price: FloatArray
    features: FloatArray
    #: Bounds on the cost of going on, (2, n).
    bounds: FloatArray


def fitted_values(
    problem: AcquisitionProblem, rule: OrderingRule, n_stages: int, n_paths: int, rng: np.random.Generator
) -> RuleValues:
    """Fit the cost of going on along a rule, by regression on simulated cases.

    Cases are followed along the rule until stopping is optimal for certain, all of them where they are few, and some
    from a few questions at random on, so that the values hold beside the rule's own way too. Backward over stages, the
    target of a history is what going on cost its cases when they stop as the later stages' values say [1]_.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem in which any question may come next.
    rule : OrderingRule
        The rule.
    n_stages : int
        Most questions asked.
    n_paths : int
        Cases along the rule; as many histories at most are enumerated.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    RuleValues

    References
    ----------
    .. [1] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.

    Examples
    --------
    >>> from seqclass.pomdp import ExpectedSaving, TableProblem
    >>> sensors = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)
    >>> problem = TableProblem([0.5, 0.5], sensors, prices=0.03, free=True)
    >>> values = fitted_values(problem, ExpectedSaving(), 3, 100, np.random.default_rng(0))
    >>> values.value(problem.begin()).round(4)  # the optimum, for all histories are followed
    array([0.1335])
    """
    values = RuleValues(problem, rule, n_stages)
    walks = [_every_case(problem, rule, n_stages, n_paths, rng)]
    few = max(1, int(_EXPLORING * n_paths))
    walks += [_followed(problem, rule, n_stages, few, rng, n) for n in range(1, min(_LONGEST, n_stages - 1) + 1)]
    costs = [steps[-1].stop for steps in walks]
    for stage in reversed(range(n_stages)):
        values.weights[stage] = _carried_back(stage, walks, costs)
    return values


def _every_case(problem: AcquisitionProblem, rule: OrderingRule, n_stages: int, n_paths: int, rng: Any) -> list[_Step]:
    try:
        return _followed(problem, rule, n_stages, n_paths, None)
    except TooLarge:
        return _followed(problem, rule, n_stages, n_paths, rng)


def _followed(
    problem: AcquisitionProblem, rule: OrderingRule, n_stages: int, n_paths: int, rng: Any, n_random: int = 0
) -> list[_Step]:
    """Steps of a walk along the rule, after a few questions at random; without a generator all cases, if few."""
    steps: list[_Step] = []

    def ask(level: Level) -> IntArray:
        info = level.info
        question, n = np.full(len(info), DECIDE), len(info)
        features, bounds, on = np.empty((0, 0)), np.empty((2, 0)), np.empty(0, dtype=np.intp)
        asks = np.flatnonzero(~info.settled) if info.stage < n_stages else on
        if asks.size and info.stage < n_random:
            question[asks] = np.where(info.open[asks], rng.random((asks.size, problem.n_questions)), -1).argmax(axis=1)
        elif asks.size:
            following = NextQuestion(rule, info[asks])
            question[asks] = following.question
            go = np.flatnonzero(following.question != DECIDE)
            on, following = asks[go], following[go]
            features, bounds = following.features(), np.stack([following.info.least(), following.once])
        price = np.broadcast_to(info.prices, (n, problem.n_questions))[on, question[on]]
        steps.append(_Step(level.weight, level.parent, info.stopping_cost, on, price, features, bounds))
        return question

    answers: Answers = ALL if rng is None else SampledAnswers(rng)
    start, most = (1.0, float(n_paths)) if rng is None else (float(n_paths), np.inf)
    for _ in walk(problem.begin(), np.array([start]), ask, answers, most):
        pass
    return steps


def _carried_back(stage: int, walks: list[list[_Step]], costs: list[FloatArray]) -> FloatArray | None:
    """Weights of a stage, fitted to all walks; ``costs`` of each walk's histories go one stage back."""
    found: list[tuple[int, _Step, FloatArray]] = []
    for number, steps in enumerate(walks):
        if stage + 1 < len(steps):
            step, after = steps[stage], steps[stage + 1]
            total = np.bincount(after.parent, after.weight * costs[number], minlength=len(step.stop))
            costs[number] = step.stop.copy()
            if step.asks.size:
                found.append((number, step, step.price + total[step.asks] / step.weight[step.asks]))
    if not found:
        return None
    features = np.concatenate([step.features for _, step, _ in found])
    weight = np.concatenate([step.weight[step.asks] / walks[n][0].weight.sum() for n, step, _ in found])
    weights = ridge(features, np.concatenate([target for *_, target in found]), weight)
    for number, step, target in found:
        cost = np.clip(step.features @ weights[1:] + weights[0], *step.bounds)
        goes = cost < step.stop[step.asks]
        costs[number][step.asks[goes]] = target[goes]
    return weights


def ridge(features: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Intercept and weights of a weighted ridge regression on standardised columns, (1 + n_features,).

    Examples
    --------
    >>> ridge(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), np.ones(3)).round(2)
    array([1., 2.])
    """
    share = weight / weight.sum()
    middle, mean = share @ features, float(share @ target)
    centred = features - middle
    scale = np.sqrt(share @ centred**2)
    # a column that hardly varies explains nothing
    scale = np.where(scale > 1e-9 * (1 + np.abs(middle)), scale, np.inf)
    design = centred / scale
    gram = design.T @ (share[:, None] * design)
    gram[np.diag_indices_from(gram)] += _RIDGE
    slope = np.linalg.solve(gram, design.T @ (share * (target - mean))) / scale
    return np.append(mean - middle @ slope, slope)
