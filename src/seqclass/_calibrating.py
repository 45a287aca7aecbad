"""Exponents of answers that rows held out ask for, along the questions that the classifier asks them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass._fitting import rows_of, twin
from seqclass._frames import plain
from seqclass._held_out import assign_folds, fitted_without
from seqclass._listening import Listener, Part, Walk
from seqclass._staging import is_free
from seqclass._validation import plain_labels
from seqclass.calibrated import Calibration
from seqclass.pomdp import AcquisitionProblem, Adaptive, DecideNow, Policy, RulePolicy, RuleValues, Solver
from seqclass.pomdp.solvers.base import uncertified

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

#: So many answers, one after the other, have an exponent in common; those beyond have the last.
_BLOCKS = (1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16)
_MOST = sum(_BLOCKS)
#: Exponents that are tried; the mean of their weights lies between.
_GRID = np.linspace(0.0, 1.0, 21)
#: What the exponent before is worth, in rows.
_STRENGTH = 4.0
#: Folds, which up to so many rows are drawn twice, each time for half; and where any question may come next.
_FOLDS, _FEW_ROWS, _FREE_FOLDS = 10, 500, 5


#: Questions that each answer was to, as columns of the data, and how often each.
Asked = list[tuple[IntArray, IntArray]]


def calibrate(
    clf: SequentialClassifier, X: Any, y: npt.ArrayLike, weight: FloatArray | None = None
) -> tuple[Calibration, Asked]:
    """Exponents by answer, and what each answer was about."""
    X, labels = plain(X), plain_labels(y)
    repeats = 2 if len(labels) <= _FEW_ROWS and not clf.problem_.free else 1
    parts = [part for repeat in range(repeats) for part in _parts(clf, X, labels, repeat, weight)]
    return _exponents([parts], repeats)[0]


class Folds:
    """Classifiers that were fitted without a fold each, to be planned with and without calibration."""

    def __init__(self, clf: SequentialClassifier, X: Any, y: npt.ArrayLike, fold: IntArray, weight: Any) -> None:
        self._clf, self._X, self._y, self._fold, self._asking = clf, plain(X), plain_labels(y), fold, _asking(clf)
        self._fitted = [
            fitted_without(clf, self._X, self._y, fold, number, weight=weight, **self._asking)
            for number in range(int(fold.max()) + 1)
        ]

    @cached_property
    def _parts(self) -> list[Part]:
        return [Part.without(clf, self._X, self._y, self._fold, number) for number, clf in enumerate(self._fitted)]

    @cached_property
    def _others(self) -> list[tuple[Calibration, Asked]]:
        """What all folds but one ask for, for each of them."""
        parts = self._parts
        return _exponents([parts[:number] + parts[number + 1 :] for number in range(len(parts))], 1)

    def planned(self, calibrate: bool) -> list[SequentialClassifier]:
        """Twins of the classifiers, solved; each is calibrated by what the other folds ask for."""
        settings = {name: getattr(self._clf, name) for name in self._asking} | {"calibrate": calibrate}
        found = []
        for number, fitted in enumerate(self._fitted):
            clf = twin(fitted).set_params(**settings)
            clf._found = self._others[number] if calibrate else None
            rows = np.flatnonzero(self._fold != number)
            clf._replan(rows_of(self._X, rows), self._y[rows])
            found.append(clf)
        return found

    def found(self) -> tuple[Calibration, Asked]:
        """What all folds together ask for."""
        return _exponents([self._parts], 1)[0]


def _parts(
    clf: SequentialClassifier, X: Any, y: npt.NDArray[Any], repeat: int, weight: FloatArray | None
) -> list[Part]:
    seed = clf.random_state if isinstance(clf.random_state, (int, np.integer)) else 0
    free = clf.problem_.free
    fold = assign_folds(y, _FREE_FOLDS if free else _FOLDS, int(seed) + 7919 * repeat)
    most = _MOST if clf.max_features is None else min(_MOST, clf.max_features)
    settings = _asking(clf) | ({} if free else {"max_features": most})
    fitted = (
        fitted_without(clf._to_refit(), X, y, fold, number, "calibrate", weight, **settings)
        for number in range(int(fold.max()) + 1)
    )
    return [Part.without(part, X, y, fold, number) for number, part in enumerate(fitted)]


def _asking(clf: SequentialClassifier) -> dict[str, Any]:
    """Settings for a fit that is only asked for the next question, for which most need not be solved."""
    solver = DecideNow() if not is_free(clf.order) else clf.solver
    if isinstance(solver, Adaptive) and solver.rules is not None and len(solver.rules) == 1 and not solver.max_rounds:
        solver = _Following(solver)
    changed = {} if solver is clf.solver else {"solver": solver, "target_cost": None}
    return {"calibrate": False} | changed


class _Following(Solver):
    """Asks what a rule says, without the values that tell when to stop."""

    def __init__(self, adaptive: Adaptive) -> None:
        self.adaptive = adaptive

    def solve(self, problem: AcquisitionProblem) -> Policy:
        if self.adaptive.enumerates(problem):
            return uncertified(self.adaptive).solve(problem)
        assert self.adaptive.rules is not None
        return RulePolicy(RuleValues(problem, self.adaptive.rules[0], min(_MOST, problem.n_stages)))


def _exponents(groups: list[list[Part]], repeats: int) -> list[tuple[Calibration, Asked]]:
    """What groups of parts ask for; each part is asked once, whatever groups it is of."""
    parts = {id(part): part for group in groups for part in group}
    walks = {number: Walk(part) for number, part in parts.items()}
    courses = [_Course([Listener(walks[id(part)]) for part in group], repeats) for group in groups]
    going = courses
    for length in _BLOCKS:
        for walk in walks.values():
            walk.go_on(length)
        going = [course for course in going if course.learn()]
        if not going:
            break
    return [course.found() for course in courses]


class _Course:
    """Exponents that listeners find together, a block of answers at a time."""

    def __init__(self, listeners: list[Listener], repeats: int) -> None:
        self.listeners, self.repeats, self.exponent = listeners, repeats, 1.0
        self.rows: list[tuple[float, float, float, float]] = []
        self.asked: Asked = []

    def learn(self) -> bool:
        """Find the exponent of the answers that were just given; whether there were any."""
        self.listeners = [listener for listener in self.listeners if listener.listen()]
        if not self.listeners:
            return False
        tried = np.sum([one.losses(_GRID).mean(axis=1) for one in self.listeners], axis=0)
        n = sum(len(one.rows) for one in self.listeners)
        self.exponent = _posterior_mean(tried / self.repeats, self.exponent, n / self.repeats)
        losses = [(one, one.losses(np.array([self.exponent]))[0], one.losses(None)[0]) for one in self.listeners]
        for answer in range(max(len(one.heard) for one in self.listeners)):
            having = [found for found in losses if answer < len(found[0].heard)]
            n = sum(len(one.rows) for one, _, _ in having)
            loss = sum(float(after[answer]) for _, after, _ in having) / n
            before = sum(float(model[answer]) for _, _, model in having) / n
            self.rows.append((self.exponent, n / self.repeats, loss, before))
            self.asked.append(_counted([one.columns(answer) for one, _, _ in having]))
        for one in self.listeners:
            one.believe(self.exponent)
        return True

    def found(self) -> tuple[Calibration, Asked]:
        return Calibration(*np.array(self.rows, dtype=np.float64).reshape(-1, 4).T), self.asked


def _posterior_mean(loss: FloatArray, before: float, n: float) -> float:
    """Mean of the exponent under what the rows say, and a few more that say it is the one before."""
    curvature = max(0.0, float(loss[0] - 2 * loss[len(_GRID) // 2] + loss[-1]) * 4)
    energy = loss + _STRENGTH * curvature / n / 2 * (_GRID - before) ** 2
    weight = np.exp(energy.min() - energy)
    return float(weight @ _GRID / weight.sum())


def _counted(columns: list[IntArray]) -> tuple[IntArray, IntArray]:
    return np.unique(np.concatenate(columns), return_counts=True)


def by_column(clf: SequentialClassifier, exponents: FloatArray, asked: Asked) -> FloatArray:
    """Exponents by column of the data, as far as a fixed or an adaptive order asks for it."""
    problem, columns = clf.problem_, clf.n_features_in_
    if not len(exponents):
        return np.ones(columns)
    if not problem.free:
        found = np.full(columns, exponents[-1])
        for question in range(min(problem.n_questions, len(exponents))):
            found[clf.support_[problem.members(question)]] = exponents[question]
        return found
    times = np.array([counts.sum() for _, counts in asked], dtype=np.float64)
    # what was never asked is as what is asked on average, by as much as one row weighs
    total, weight = np.full(columns, float(times @ exponents / times.sum())), np.ones(columns)
    for exponent, (column, counts) in zip(exponents, asked):
        total[column] += exponent * counts
        weight[column] += counts
    return np.asarray(total / weight)
