"""Cross-fitting: what a classifier does on rows that were left out of its fit, and beside it two yardsticks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import plain
from seqclass._utils.progress import telling
from seqclass._utils.validation import plain_labels
from seqclass.bn import NaiveBayes
from seqclass.deciding.decider import Decider
from seqclass.deciding.record import AcquisitionRecord
from seqclass.fitting._fit import Fit, fitted_without
from seqclass.fitting._folds import assign_folds, known_to
from seqclass.fitting._settings import Settings
from seqclass.fitting._steps import rows_of
from seqclass.fitting._yardsticks import deciding_at_once, linear, scored
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp.solvers.ordering.observed import ON_ROWS


def cross_fit(
    settings: Settings,
    X: Any,
    y: Any,
    fold: IntArray,
    name: str = "",
    weight: FloatArray | None = None,
    parts: Sequence[Fit] = (),
) -> HeldOut:
    """Acquire and decide every row by a clone, or the part given, fitted without its fold; nothing is summed up yet."""
    X, y = plain(X), plain_labels(y)
    n = int((fold >= 0).sum())
    place = np.cumsum(fold >= 0) - 1
    prices, decided, counts = np.empty(n), np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    for number in range(int(fold.max()) + 1):
        test = np.flatnonzero(fold == number)
        fit = parts[number] if parts else fitted_without(settings, X, y, fold, number, weight=weight)
        record = _acquired(fit.decider, rows_of(X, test))
        at = place[test]
        prices[at], decided[at], counts[at] = record.cost, record.decision, record.n_features
    label = np.searchsorted(fit.decider.classes, y)  # every training part has every class
    return scored(name or "Classifier", fit.decider.decision_costs, label, fold, decided, prices, counts)


def yardsticks(fit: Fit, X: Any, y: npt.ArrayLike, fold: IntArray) -> tuple[HeldOut, HeldOut]:
    """Deciding at once and the linear model on the folds; the fit gives prices, costs and settings."""
    decider = fit.decider
    numbers = decider.numbers(X)
    label = np.searchsorted(decider.classes, plain_labels(y))
    with telling("linear model beside it"):
        return deciding_at_once(decider.decision_costs, label, fold), linear(fit, numbers, label, fold)


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
    fold = assign_folds(plain_labels(y), n_folds, fit.settings.random_state)
    held = cross_fit(fit.settings, X, y, fold, weight=weight)
    held = completed(held, fit.decider, yardsticks(fit, X, y, fold), remedies(fit))
    if (told := held.against_deciding()) and fit.settings.target_cost is None:
        warnings.warn(told, UserWarning, stacklevel=3)
    return held


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
    return AcquisitionRecord.from_acquisition(acquired, np.arange(len(decider.decisions)), decider.support)
