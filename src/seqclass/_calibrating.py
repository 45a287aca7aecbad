"""Exponents of answers that rows held out ask for, along the questions that the classifier asks them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from seqclass._arrays import FloatArray, IntArray
from seqclass._fitting import rows_of, twin
from seqclass._frames import plain
from seqclass._held_out import assign_folds, fitted_without, known_to
from seqclass._staging import is_free
from seqclass._validation import plain_labels
from seqclass.calibrated import Calibration
from seqclass.pomdp import (
    DECIDE,
    AcquisitionProblem,
    Adaptive,
    DecideNow,
    InformationState,
    Policy,
    RulePolicy,
    RuleValues,
    Solver,
)
from seqclass.pomdp.solvers.base import uncertified
from seqclass.pomdp.walk import parted

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
_TINY = 1e-12


#: Questions that each answer was to, as columns of the data, and how often each.
Asked = list[tuple[IntArray, IntArray]]


def calibrate(
    clf: SequentialClassifier, X: Any, y: npt.ArrayLike, weight: FloatArray | None = None
) -> tuple[Calibration, Asked]:
    """Exponents by answer, and what each answer was about."""
    X, labels = plain(X), plain_labels(y)
    repeats = 2 if len(labels) <= _FEW_ROWS and not clf.problem_.free else 1
    return _exponents([part for repeat in range(repeats) for part in _parts(clf, X, labels, repeat, weight)], repeats)


class Folds:
    """Classifiers that were fitted without a fold each, to be planned with and without calibration."""

    def __init__(self, clf: SequentialClassifier, X: Any, y: npt.ArrayLike, fold: IntArray, weight: Any) -> None:
        self._clf, self._X, self._y, self._fold, self._asking = clf, plain(X), plain_labels(y), fold, _asking(clf)
        self._fitted = [
            fitted_without(clf, self._X, self._y, fold, number, weight=weight, **self._asking)
            for number in range(int(fold.max()) + 1)
        ]

    @cached_property
    def _parts(self) -> list[_Part]:
        return [_Part.without(clf, self._X, self._y, self._fold, number) for number, clf in enumerate(self._fitted)]

    def planned(self, calibrate: bool) -> list[SequentialClassifier]:
        """Twins of the classifiers, solved; each is calibrated by what the other folds ask for."""
        settings = {name: getattr(self._clf, name) for name in self._asking} | {"calibrate": calibrate}
        found = []
        for number, fitted in enumerate(self._fitted):
            parts = self._parts[:number] + self._parts[number + 1 :] if calibrate else []
            clf = twin(fitted).set_params(**settings)
            clf._found = _exponents(parts, 1) if calibrate else None
            rows = np.flatnonzero(self._fold != number)
            clf._replan(rows_of(self._X, rows), self._y[rows])
            found.append(clf)
        return found

    def found(self) -> tuple[Calibration, Asked]:
        """What all folds together ask for."""
        return _exponents(self._parts, 1)


def _parts(
    clf: SequentialClassifier, X: Any, y: npt.NDArray[Any], repeat: int, weight: FloatArray | None
) -> list[_Part]:
    seed = clf.random_state if isinstance(clf.random_state, (int, np.integer)) else 0
    free = clf.problem_.free
    fold = assign_folds(y, _FREE_FOLDS if free else _FOLDS, int(seed) + 7919 * repeat)
    most = _MOST if clf.max_features is None else min(_MOST, clf.max_features)
    settings = _asking(clf) | ({} if free else {"max_features": most})
    fitted = (
        fitted_without(clf._to_refit(), X, y, fold, number, "calibrate", weight, **settings)
        for number in range(int(fold.max()) + 1)
    )
    return [_Part.without(part, X, y, fold, number) for number, part in enumerate(fitted)]


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


def _exponents(parts: list[_Part], repeats: int) -> tuple[Calibration, Asked]:
    asked: Asked = []
    rows: list[tuple[float, float, float, float]] = []
    exponent = 1.0
    for length in _BLOCKS:
        parts = [ahead for part in parts if (ahead := part.ahead(length)).asked]
        if not parts:
            break
        tried = np.sum([part.losses(_GRID).mean(axis=1) for part in parts], axis=0)
        exponent = _posterior_mean(tried / repeats, exponent, sum(len(part.label) for part in parts) / repeats)
        losses = [(part, part.losses(np.array([exponent]))[0], part.losses(None)[0]) for part in parts]
        for answer in range(max(len(part.asked) for part in parts)):
            having = [found for found in losses if answer < len(found[0].asked)]
            n = sum(len(part.label) for part, _, _ in having)
            loss = sum(float(after[answer]) for _, after, _ in having) / n
            before = sum(float(model[answer]) for _, _, model in having) / n
            rows.append((exponent, n / repeats, loss, before))
            asked.append(_counted([part.columns(answer) for part, _, _ in having]))
        parts = [part.after(exponent) for part in parts]
    return Calibration(*np.array(rows, dtype=np.float64).reshape(-1, 4).T), asked


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


class _Part:
    """A classifier that was fitted without a fold, and the rows of the fold so far as they go on."""

    def __init__(
        self, clf: SequentialClassifier, info: InformationState, codes: Any, label: IntArray, log_belief: FloatArray
    ) -> None:
        self.clf, self.info, self.codes, self.label, self.log_belief = clf, info, codes, label, log_belief
        self.asked: list[list[_Asked]] = []
        self._first = info

    @classmethod
    def without(cls, clf: SequentialClassifier, X: Any, y: npt.NDArray[Any], fold: IntArray, number: int) -> _Part:
        """The rows of a fold, which the classifier has not seen."""
        rows = np.flatnonzero(fold == number)
        label = np.searchsorted(clf.classes_, y[rows])
        encoded = clf._encoded(known_to(clf, rows_of(X, rows)), np.arange(clf.support_.size))
        codes = encoded.codes[:, encoded.columns]
        prior = np.log(np.maximum(clf.problem_.prior, _TINY))
        return cls(clf, clf.problem_.begin(len(label)), codes, label, np.tile(prior, (len(label), 1)))

    def ahead(self, length: int) -> _Part:
        """Rows that are not settled by what is believed so far, and the next answers of each."""
        problem, n = self.clf.problem_, len(self.label)
        question, belief = self._next(self.info), np.exp(self.log_belief)
        prices = np.broadcast_to(self.info.prices, (n, problem.n_questions))
        price = prices[np.arange(n), question] if problem.n_questions else np.zeros(n)
        pays = (belief @ problem.decision_costs).min(axis=1) > price + belief @ problem.perfect_cost
        rows = np.flatnonzero((question != DECIDE) & pays)
        part = _Part(self.clf, self.info[rows], self.codes[rows], self.label[rows], self.log_belief[rows])
        while len(rows) and len(part.asked) < length:
            question = part._next(part.info)
            if (question == DECIDE).any():
                break
            together = parted(part.info, np.arange(len(rows)), question)
            asked = [_Asked(at, info, part.codes[at], problem.prior) for at, info in together]
            part.asked.append(asked)
            told = InformationState.concatenate([one.info.update(one.outcome) for one in asked])
            part.info = told[np.argsort(np.concatenate([one.at for one in asked]))]
        return part

    def _next(self, info: InformationState) -> IntArray:
        if self.clf.problem_.free:
            return self.clf.policy_.following(info)
        return np.full(len(info), info.stage if info.stage < self.clf.problem_.n_questions else DECIDE)

    def columns(self, answer: int) -> IntArray:
        """Columns of the data that rows are asked for, as often as they are."""
        found = []
        for asked in self.asked[answer]:
            questions, counts = np.unique(np.broadcast_to(asked.info.question, len(asked.at)), return_counts=True)
            for question, count in zip(questions.tolist(), counts.tolist()):
                found.append(np.repeat(self.clf.support_[self.clf.problem_.members(question)], count))
        return np.concatenate(found)

    def losses(self, exponents: FloatArray | None) -> FloatArray:
        """Log loss of each exponent, summed over the rows, after each answer; None: as the model has it, one row."""
        joint = self.log_belief if exponents is not None else np.log(np.maximum(self._first.belief, _TINY))
        exponents = np.ones(1) if exponents is None else exponents
        joint, found = np.repeat(joint[None], len(exponents), axis=0), []
        for asked in self.asked:
            joint = _told(joint, asked, exponents)
            found.append(-joint[:, np.arange(len(self.label)), self.label].sum(axis=1))
        return np.transpose(found)

    def after(self, exponent: float) -> _Part:
        """The rows once they know the answers."""
        joint = self.log_belief[None]
        for asked in self.asked:
            joint = _told(joint, asked, np.array([exponent]))
        return _Part(self.clf, self.info, self.codes, self.label, joint[0])


def _told(log_belief: FloatArray, asked: list[_Asked], exponents: FloatArray) -> FloatArray:
    """Log beliefs of each exponent, (n_exponents, n, n_classes), once the answers are known."""
    joint = log_belief.copy()
    for one in asked:
        joint[:, one.at] += one.gained(exponents)
    above = joint - joint.max(axis=-1, keepdims=True)
    return np.asarray(above - np.log(np.exp(above).sum(axis=-1, keepdims=True)))


class _Asked:
    """Rows that ask together, and what they are told."""

    def __init__(self, at: IntArray, info: InformationState, codes: Any, prior: FloatArray) -> None:
        self.at, self.info = at, info
        table = info.likelihood
        table = table[:1] if table.strides[0] == 0 else table  # the same for all rows
        self.outcome = _outcomes(info, codes)
        row = np.arange(len(at)) if len(table) > 1 else 0
        shown = table[row, self.outcome]
        self.outcome[shown.max(axis=1) <= 0] = -1  # what the training part takes as impossible says nothing
        self.marginal = (table @ prior)[:, :, None]
        self.ratio = np.log(np.maximum(table, _TINY)) - np.log(np.maximum(self.marginal, _TINY))
        self.shown = self.ratio[row, self.outcome]

    def gained(self, exponents: FloatArray) -> FloatArray:
        """What the answers add to log P(class), (n_exponents, n, n_classes), up to what all classes share."""
        factor = exponents[:, None, None]
        total = np.log((self.marginal * np.exp(factor[..., None] * self.ratio)).sum(axis=-2))
        return np.where(self.outcome[:, None] >= 0, factor * self.shown - total, 0.0)


def _outcomes(info: InformationState, codes: Any) -> IntArray:
    """Outcome of what each row asks; -1 where it is missing, or part of a bundle is."""
    problem, question = info.problem, info.question
    if np.ndim(question):
        shown = codes[np.arange(len(info)), problem.features[question]]
        return np.array(shown, dtype=np.intp).ravel()
    bundle = problem.bundle(question)
    shown = codes[:, problem.members(question)]
    values: IntArray = np.asarray(shown.toarray() if sparse.issparse(shown) else shown, dtype=np.intp)
    if bundle is None:
        return np.array(values[:, 0])
    whole = (values >= 0).all(axis=1) & (not info.is_sampled)
    return np.asarray(np.where(whole, bundle.encode(np.maximum(values, 0)), -1), dtype=np.intp)
