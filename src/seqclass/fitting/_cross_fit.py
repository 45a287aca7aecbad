"""Cross-fitting: what a classifier does on rows that were left out of its fit, and beside it two yardsticks."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import plain_data, take_rows
from seqclass._utils.progress import report_progress
from seqclass._utils.validation import plain_labels
from seqclass._utils.warned import HeldOutWarning, warn_caller
from seqclass.agent.agent import Agent, acquire_rows, to_numbers
from seqclass.fitting._baselines import FoldDecisions, deciding_at_once, linear, score_decisions
from seqclass.fitting._calibration import CalibrationFold, exponents_of
from seqclass.fitting._fit import Fit, Found, asking_without, fit_without, replan
from seqclass.fitting._folds import mask_unseen, recent_folds, recent_rows
from seqclass.fitting._settings import Settings
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import FirstK
from seqclass.pomdp.solvers.ordering.observed import order_from_rows


class AtBudgets(NamedTuple):
    """An agent without a fold, what it does with the fold's rows at each budget, and seconds."""

    agent: Agent
    acted: list[FoldDecisions]
    seconds: float


class FoldFit(NamedTuple):
    """A fit without a fold, what it does with the fold's rows as it is, if that is wanted, and seconds."""

    fit: Fit
    acted: FoldDecisions | None
    seconds: float


def start_folds(
    step: str,
    settings: Settings,
    how: tuple[bool, Found | None] | None,
    X: Any,
    y: Any,
    fold: IntArray,
    number: int,
    weight: Any,
) -> FoldFit:
    """Fit without a fold, and act, calibrated or not by what is found already, if it is said how; in whatever process.

    What others find is nearly what it would find itself: enough to tell what is hopeless.
    """
    started, settings = perf_counter(), deepcopy(settings)
    with report_progress(step):
        fit, acted = asking_without(settings, X, y, fold, number, weight), None
        if how is not None:
            with report_progress(f"fold {number + 1} of {int(fold.max()) + 1}"):
                again = replan(fit, settings.replace(calibrate=how[0]), X, y, fold, number, how[1])
                acted = act_on_fold(again, X, fold, number)
    return FoldFit(fit, acted, perf_counter() - started)


def with_shares(settings: Settings, fit: Fit) -> Settings:
    """Settings that take the numbers of components of a fit to nearly the same rows, which take time to find."""
    shares = getattr(fit.agent.model, "shares_", None)
    if not shares:
        return settings
    return settings.replace(observation_model=clone(settings.observation_model).set_params(n_components=shares))


def refit_calibrated(
    step: str, settings: Settings, fit: Fit, found: Found, X: Any, y: Any, fold: IntArray, number: int
) -> tuple[FoldDecisions, float]:
    """Calibrate a fit without a fold by what the other folds ask for, plan it and act; beside it seconds."""
    started, settings = perf_counter(), deepcopy(settings)
    with report_progress(step), report_progress(f"fold {number + 1} of {int(fold.max()) + 1}"):
        acted = act_on_fold(replan(fit, settings, X, y, fold, number, found), X, fold, number)
    return acted, perf_counter() - started


def calibrate_folds(
    step: str, fits: Sequence[Fit], X: Any, y: npt.NDArray[Any], fold: IntArray, weight: FloatArray | None
) -> tuple[list[Found], float]:
    """What all folds but one ask for, for each of them, and last what all do; beside it seconds."""
    started = perf_counter()
    with report_progress(step):
        parts = [CalibrationFold.from_fold(fit.agent, X, y, fold, n, weight) for n, fit in enumerate(fits)]
        calibrations = exponents_of([*(parts[:n] + parts[n + 1 :] for n in range(len(parts))), parts], 1)
    return calibrations, perf_counter() - started


def at_budgets(
    step: str, settings: Settings, budgets: Sequence[int], X: Any, y: Any, fold: IntArray, number: int, weight: Any
) -> AtBudgets:
    """Fit without a fold, and act at each budget."""
    started, settings, decisions = perf_counter(), deepcopy(settings), []
    with report_progress(step):
        fit = fit_without(settings, X, y, fold, number, weight=weight, again=False)
        for budget in budgets:
            policy = clone(settings.solver).set_params(k=budget).solve(fit.agent.problem)
            fit.agent = replace(fit.agent, policy=policy)
            decisions.append(act_on_fold(fit, X, fold, number))
    return AtBudgets(fit.agent, decisions, perf_counter() - started)


def act_on_fold(fit: Fit, X: Any, fold: IntArray, number: int) -> FoldDecisions:
    """Let a fit without a fold act on its rows."""
    acquired = acquire_rows(fit.agent, mask_unseen(fit.agent, take_rows(X, np.flatnonzero(fold == number))))
    leaf, counts = acquired.leaf, (acquired.leaf_outcome >= 0).sum(axis=1)
    return FoldDecisions(acquired.leaf_price[leaf], acquired.leaf_decision[leaf], counts[leaf])


def first_losses(fit: Fit, acted: FoldDecisions, y: Any, fold: IntArray, *, on_decisions: bool) -> FloatArray:
    """What each row of the first fold costs, by what was done with it."""
    label = np.searchsorted(fit.agent.classes, plain_labels(y)[fold == 0])
    wrong = fit.agent.problem.decision_costs[label, acted.decided]
    return np.asarray(wrong if on_decisions else wrong + acted.prices)


def collect_folds(
    name: str, agent: Agent, y: Any, fold: IntArray, decisions: Sequence[FoldDecisions], weight: FloatArray | None
) -> HeldOut:
    """What all folds did, by an agent of any of them; nothing is summed up yet."""
    order = np.argsort(np.argsort(fold[fold >= 0], kind="stable"))
    acted = FoldDecisions(*(np.concatenate(column)[order] for column in zip(*decisions)))
    label = np.searchsorted(agent.classes, plain_labels(y))  # every training part has every class
    costs = agent.problem.decision_costs
    return score_decisions(name or "Classifier", costs, label, fold, acted, weight)


def cross_fit(
    fits: Sequence[Fit], X: Any, y: Any, fold: IntArray, name: str = "", weight: FloatArray | None = None
) -> HeldOut:
    """Acquire and decide every row by the fit without its fold; nothing is summed up yet."""
    acted = [act_on_fold(fit, X, fold, number) for number, fit in enumerate(fits)]
    return collect_folds(name, fits[0].agent, y, fold, acted, weight)


def yardsticks(
    fit: Fit, X: Any, y: npt.ArrayLike, fold: IntArray, weight: FloatArray | None
) -> tuple[HeldOut, HeldOut]:
    """Deciding at once and the linear model on the folds; the fit gives prices, costs and settings."""
    agent = fit.agent
    numbers = to_numbers(agent, X)
    label = np.searchsorted(agent.classes, plain_labels(y))
    with report_progress("linear model beside it"):
        at_once = deciding_at_once(agent.problem.decision_costs, label, fold, weight)
        return at_once, linear(fit, numbers, label, fold, weight)


def complete_held_out(
    held: HeldOut, agent: Agent, beside: tuple[HeldOut, HeldOut], worth_trying: tuple[str, ...]
) -> HeldOut:
    """Held-out figures with what the fit to all rows expects, and the baselines."""
    at_once, line = (replace(one, unit=agent.unit) for one in beside)
    held = replace(held, deciding_at_once=at_once, linear=line, unit=agent.unit)
    return replace(held, expected_cost=agent.expected_cost, remedies=worth_trying)


def hold_out(fit: Fit, n_folds: int) -> HeldOut:
    """Everything about a fit to all its rows: folds, cross-fit, yardsticks; warns where it buys in vain."""
    assert fit.rows is not None
    X, y, weight = fit.rows
    X, y, half_life = plain_data(X), plain_labels(y), fit.settings.half_life
    fold = recent_folds(y, half_life, n_folds, fit.settings.random_state)
    parts = [fit_without(fit.settings, X, y, fold, number, weight=weight) for number in range(int(fold.max()) + 1)]
    held = cross_fit(parts, X, y, fold, weight=weight)
    rows = recent_rows(y, half_life, n_folds)
    recent = take_rows(X, rows), y[rows], fold[rows], None if weight is None else weight[rows]
    at_once, line = (replace(one, fold=fold) for one in yardsticks(fit, *recent))
    # deciding at once is by what is known, and after what rules ask for in any case
    if fit.agent.known.size or fit.agent.problem.limits.rules is not None:
        at_once = cross_fit([_at_once(part) for part in parts], X, y, fold, at_once.name, weight)
    held = complete_held_out(held, fit.agent, (at_once, line), remedies(fit))
    if (warning := held.against_deciding()) and fit.settings.target_cost is None:
        warn_caller(warning, HeldOutWarning)
    return held


def _at_once(fit: Fit) -> Fit:
    """A copy of a fit that decides as soon as it may, by what is known at the start."""
    policy = FirstK(0, certificate_paths=0).solve(fit.agent.problem)
    return replace(fit, agent=replace(fit.agent, policy=policy))


def remedies(fit: Fit) -> tuple[str, ...]:
    """What is worth trying where a classifier is too sure of itself."""
    agent = fit.agent
    worth_trying = [] if fit.settings.calibrate or fit.settings.prefit else ["calibrate=True"]
    if agent.problem.any_order and order_from_rows(agent.policy) is None:
        worth_trying.append('a fixed order, order="conditional"')
    if agent.model._is_naive:
        worth_trying.append("seqclass.ifc2f, which models how features depend on one another")
    return (*worth_trying, "more rows")
