"""Cross-fitting: what a classifier does on rows that were left out of its fit, and beside it two yardsticks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import plain
from seqclass._utils.progress import telling
from seqclass._utils.validation import plain_labels
from seqclass.bn import NaiveBayes
from seqclass.deciding.decider import Decider
from seqclass.deciding.record import AcquisitionRecord
from seqclass.fitting._fit import Fit, Folds, Found, asking_without, fitted_without, replanned
from seqclass.fitting._folds import known_to, recent_folds, recent_rows
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import rows_of
from seqclass.fitting._yardsticks import deciding_at_once, linear, scored
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp import FirstK
from seqclass.pomdp.solvers.ordering.observed import ON_ROWS


class Acted(NamedTuple):
    """What a classifier does with the rows of a fold."""

    prices: FloatArray
    decided: IntArray
    counts: IntArray


class AtBudgets(NamedTuple):
    """A decider without a fold, what it does with the fold's rows at each budget, and seconds."""

    decider: Decider
    acted: list[Acted]
    seconds: float


class Begun(NamedTuple):
    """A fit without a fold, what it does with the fold's rows as it is, if that is wanted, and seconds."""

    fit: Fit
    acted: Acted | None
    seconds: float


def begun(
    step: str, settings: Settings, as_it_is: bool, X: Any, y: Any, fold: IntArray, number: int, weight: Any
) -> Begun:
    """Fit without a fold, and act, in whatever process."""
    started, settings = perf_counter(), deepcopy(settings)
    with telling(step):
        fit, acted = asking_without(settings, X, y, fold, number, weight), None
        if as_it_is:
            with telling(f"fold {number + 1} of {int(fold.max()) + 1}"):
                acted = acting(replanned(fit, settings.but(calibrate=False), X, y, fold, number), X, fold, number)
    return Begun(fit, acted, perf_counter() - started)


def recalibrated(
    step: str, settings: Settings, fit: Fit, found: Found, X: Any, y: Any, fold: IntArray, number: int
) -> tuple[Acted, float]:
    """Calibrate a fit without a fold by what the other folds ask for, plan it and act; beside it seconds."""
    started, settings = perf_counter(), deepcopy(settings)
    with telling(step), telling(f"fold {number + 1} of {int(fold.max()) + 1}"):
        acted = acting(replanned(fit, settings, X, y, fold, number, found), X, fold, number)
    return acted, perf_counter() - started


def by_others(step: str, folds: Folds) -> tuple[list[Found], float]:
    """What all folds but one ask for, for each of them; beside it seconds."""
    started = perf_counter()
    with telling(step):
        others = folds.others
    return others, perf_counter() - started


def at_budgets(
    step: str, settings: Settings, budgets: Sequence[int], X: Any, y: Any, fold: IntArray, number: int, weight: Any
) -> AtBudgets:
    """Fit without a fold, and act at each budget."""
    started, settings, found = perf_counter(), deepcopy(settings), []
    with telling(step):
        fit = fitted_without(settings, X, y, fold, number, weight=weight, again=False)
        for budget in budgets:
            policy = clone(settings.solver).set_params(k=budget).solve(fit.decider.problem)
            fit.decider = replace(fit.decider, policy=policy)
            found.append(acting(fit, X, fold, number))
    return AtBudgets(fit.decider, found, perf_counter() - started)


def acting(fit: Fit, X: Any, fold: IntArray, number: int) -> Acted:
    """Let a fit without a fold act on its rows."""
    record = _acquired(fit.decider, rows_of(X, np.flatnonzero(fold == number)))
    return Acted(record.cost, record.decision, record.n_features)


def gathered(
    name: str, decider: Decider, y: Any, fold: IntArray, found: Sequence[Acted], weight: FloatArray | None
) -> HeldOut:
    """What all folds did, by a decider of any of them; nothing is summed up yet."""
    order = np.argsort(np.argsort(fold[fold >= 0], kind="stable"))
    prices, decided, counts = (np.concatenate(column)[order] for column in zip(*found))
    label = np.searchsorted(decider.classes, plain_labels(y))  # every training part has every class
    return scored(name or "Classifier", decider.decision_costs, label, fold, decided, prices, counts, weight)


def cross_fit(
    fits: Sequence[Fit], X: Any, y: Any, fold: IntArray, name: str = "", weight: FloatArray | None = None
) -> HeldOut:
    """Acquire and decide every row by the fit without its fold; nothing is summed up yet."""
    acted = [acting(fit, X, fold, number) for number, fit in enumerate(fits)]
    return gathered(name, fits[0].decider, y, fold, acted, weight)


def yardsticks(
    fit: Fit, X: Any, y: npt.ArrayLike, fold: IntArray, weight: FloatArray | None
) -> tuple[HeldOut, HeldOut]:
    """Deciding at once and the linear model on the folds; the fit gives prices, costs and settings."""
    decider = fit.decider
    numbers = decider.numbers(X)
    label = np.searchsorted(decider.classes, plain_labels(y))
    with telling("linear model beside it"):
        at_once = deciding_at_once(decider.decision_costs, label, fold, weight)
        return at_once, linear(fit, numbers, label, fold, weight)


def completed(
    held: HeldOut, decider: Decider, beside: tuple[HeldOut, HeldOut], worth_trying: tuple[str, ...]
) -> HeldOut:
    """The same with what the fit to all rows expects, and the yardsticks."""
    at_once, line = beside
    return replace(
        held, expected_cost=decider.expected_cost, remedies=worth_trying, deciding_at_once=at_once, linear=line
    )


def hold_out(fit: Fit, n_folds: int) -> HeldOut:
    """Everything about a fit to all its rows: folds, cross-fit, yardsticks; warns where it buys in vain."""
    assert fit.rows is not None
    X, y, weight = fit.rows
    X, y, half_life = plain(X), plain_labels(y), fit.settings.half_life
    fold = recent_folds(y, half_life, n_folds, fit.settings.random_state)
    parts = [fitted_without(fit.settings, X, y, fold, number, weight=weight) for number in range(int(fold.max()) + 1)]
    held = cross_fit(parts, X, y, fold, weight=weight)
    rows = recent_rows(y, half_life, n_folds)
    recent = rows_of(X, rows), y[rows], fold[rows], None if weight is None else weight[rows]
    at_once, line = (replace(one, fold=fold) for one in yardsticks(fit, *recent))
    # deciding at once is by what is known, and after what rules ask for in any case
    if fit.decider.known.size or fit.decider.problem.rules is not None:
        at_once = cross_fit([_at_once(part) for part in parts], X, y, fold, at_once.name, weight)
    held = completed(held, fit.decider, (at_once, line), remedies(fit))
    if (told := held.against_deciding()) and fit.settings.target_cost is None:
        warnings.warn(told, UserWarning, stacklevel=3)
    return held


def _at_once(fit: Fit) -> Fit:
    """The same fit that decides as soon as it may, by what is known at the start."""
    policy = FirstK(0, certificate_paths=0).solve(fit.decider.problem)
    return replace(fit, decider=replace(fit.decider, policy=policy))


def remedies(fit: Fit) -> tuple[str, ...]:
    """What is worth trying where a classifier is too sure of itself."""
    decider, ordering = fit.decider, fit.decider.policy.info.ordering
    found = [] if fit.settings.calibrate or fit.settings.prefit else ["calibrate=True"]
    if decider.problem.free and (ordering is None or ordering.chosen != ON_ROWS):
        found.append('a fixed order, order="conditional"')
    if isinstance(decider.model, NaiveBayes):
        found.append("seqclass.ifc2f, which models how features depend on one another")
    return (*found, "more rows")


def _acquired(decider: Decider, X: Any) -> AcquisitionRecord:
    """What a fold's record does, decisions by number."""
    acquired = decider.run(known_to(decider, X))
    return AcquisitionRecord.from_acquisition(
        acquired, np.arange(len(decider.decisions)), decider.support, decider.prices.visits
    )
