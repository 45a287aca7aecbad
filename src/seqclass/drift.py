"""Streams whose rows change: a test of whether a model is still true, and fitting again where it is not."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq, linprog
from sklearn.base import clone

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.frames import plain
from seqclass._utils.text import shown
from seqclass._utils.validation import check_costs, check_integer, check_real, class_numbers, plain_labels
from seqclass.deciding.decider import decider_of
from seqclass.deciding.record import AcquisitionRecord
from seqclass.fitting._steps import rows_of

__all__ = ["DriftTest", "Followed", "follow"]

#: Stakes, as parts of the highest that cannot lose all; and cases from one start to the next.
_STAKES, _APART = np.array([1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8]), 32


@dataclass
class DriftTest:
    """Tests case by case whether decisions cost more than beliefs expect, and says so at most falsely by ``alpha``.

    At its stop a case has a belief, and its decision j an expected cost e = sum_i belief_i M_ij; once the label y is
    known it has cost M_yj. If the model is true the difference d = M_yj - e is zero on average, whatever was seen
    before. The test bets on the contrary: capital is multiplied by 1 + s (d - margin) from case to case, with several
    stakes s, and of several beginnings, the first case and every 32nd thereafter, the b-th of which has a part
    1 / (b (b + 1)) of the capital, which lies idle until then. As long as d is ``margin`` on average at most, given
    the past, the capital is a non-negative supermartingale that starts at 1, and the chance that it ever reaches
    1 / ``alpha`` is at most ``alpha`` (Ville's inequality; [1]_, [2]_), however long one looks, and however often.
    Beginnings later than the first find a change after a long quiet time; the evidence that they need grows with the
    logarithm of that time.

    What is tested are beliefs at the stop: that features come otherwise than expected, while beliefs that follow from
    them stay right, is not noticed, nor that decisions cost less than expected. Beliefs of naive Bayes are too sure
    from the start: a margin says how much is tolerated, and `of` learns it from rows.

    Parameters
    ----------
    decision_costs : array-like of shape (n_classes, n_decisions)
        M: cost of each decision when each class is true.
    classes : array-like of shape (n_classes,)
        Labels of its rows.
    decisions : array-like of shape (n_decisions,), optional
        Labels of its columns; by default the classes.
    alpha : float
        Chance of ever saying that the model is not true although it is, above 0 and below 1.
    margin : float
        By how much a decision may cost more than expected, on average, for the model to count as true.

    Attributes
    ----------
    n_cases : int
        Cases so far.
    e_value : float
        Capital after the last of them.
    alarm : int or None
        Number of the case, from 0, at which the capital reached 1 / ``alpha`` first.
    change : int or None
        Number of the case from which on decisions cost more, as far as one can tell; only after an alarm.

    References
    ----------
    .. [1] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the
       Royal Statistical Society B 86, 2024.
    .. [2] J. Shin, A. Ramdas and A. Rinaldo, "E-detectors: a nonparametric framework for sequential change detection",
       New England Journal of Statistics in Data Science 2, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.drift import DriftTest
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SequentialClassifier().fit(X[:200], y[:200])
    >>> test = DriftTest.of(clf, X[200:350], y[200:350])
    >>> test.update(clf.acquire(X[350:]), y[350:]).alarm is None
    True
    >>> test.update(clf.acquire(X[350:]), 1 - y[350:]).alarm >= 219  # what was benign is malignant
    True
    """

    decision_costs: npt.ArrayLike
    classes: npt.ArrayLike
    decisions: npt.ArrayLike | None = None
    _: KW_ONLY
    alpha: float = 0.01
    margin: float = 0.0
    n_cases: int = field(default=0, init=False)
    e_value: float = field(default=1.0, init=False)
    alarm: int | None = field(default=None, init=False)
    change: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        rows = np.asarray(self.classes)
        self.decisions = rows if self.decisions is None else np.asarray(self.decisions)
        self.decision_costs = check_costs(self.decision_costs, "decision_costs", (len(rows), len(self.decisions)))
        if not 0 < check_real(self.alpha, "alpha") < 1:
            raise ValueError(f"alpha must be above 0 and below 1, got {self.alpha}.")
        check_real(self.margin, "margin", 0)
        self._most = _most_expected(self.decision_costs)
        n = len(_STAKES)
        # logarithms of capital by stake, of what stakes have won since they had least, and when that was
        self._capital, self._rise, self._since = np.full(n, -np.inf), np.zeros(n), np.zeros(n, dtype=np.intp)

    @classmethod
    def of(cls, classifier: DecidingClassifier, X: Any = None, y: Any = None, *, alpha: float = 0.01) -> DriftTest:
        """Test a classifier, whose beliefs need not be truer than they are on rows that it has not seen.

        Parameters
        ----------
        classifier : SequentialClassifier or AdaptiveClassifier
            A fitted classifier.
        X : array-like, data frame or sparse array of shape (n, n_features), optional
            Rows that it was not fitted to. ``margin`` is then an upper bound of how much more their decisions cost than
            expected, which holds but for a chance of ``alpha / 2``; the test has the other half, so that the chance of
            a false alarm is at most ``alpha`` where cases to come are independent and distributed as these rows. By
            default the margin is 0.
        y : array-like of shape (n,), optional
            Their labels.
        alpha : float
            Chance of a false alarm.

        Returns
        -------
        DriftTest

        Raises
        ------
        ValueError
            If rows come without labels, or ``alpha`` is out of range.
        """
        decider = decider_of(classifier)
        given = (decider.decision_costs, decider.classes, decider.decisions)
        test = cls(*given, alpha=alpha)
        if X is None and y is None:
            return test
        if X is None or y is None:
            raise ValueError("X and y: give both, the rows and their labels, or neither.")
        excess = test._excess(decider.acquire(X), y)
        return cls(*given, alpha=alpha / 2, margin=max(0.0, _upper_bound(excess, -test._most, test._worst, alpha / 2)))

    def update(self, record: AcquisitionRecord, y: npt.ArrayLike) -> DriftTest:
        """Take in further cases, in order of time.

        Parameters
        ----------
        record : AcquisitionRecord
            What was decided, of ``acquire``. Classifiers may change from case to case, as long as each decides before
            it learns of the label.
        y : array-like of shape (n,)
            Labels.

        Returns
        -------
        DriftTest
            Itself.

        Raises
        ------
        ValueError
            If there are not as many labels as cases, or a label or a decision is unknown.
        """
        excess = self._excess(record, y)
        if excess.size:
            self._bet(excess - self.margin)
        return self

    @property
    def _worst(self) -> float:
        return float(np.max(self.decision_costs))  # an expected cost may be 0

    def _excess(self, record: AcquisitionRecord, y: npt.ArrayLike) -> FloatArray:
        """What decisions have cost beyond what was expected, (n,)."""
        costs, decisions = np.asarray(self.decision_costs), np.asarray(self.decisions)
        label = class_numbers(np.asarray(self.classes), y, n=len(record))
        decided = class_numbers(decisions, record.decision, "decision")
        expected = (record.posterior * costs[:, decided].T).sum(axis=1)
        if (expected > self._most * 1.01).any():
            raise ValueError(
                "record: decisions must be the best ones by the beliefs at the stop, as those of acquire are; of row "
                f"{int(expected.argmax())} that is not so."
            )
        return np.asarray(costs[label, decided] - expected)

    def _bet(self, excess: FloatArray) -> None:
        number = self.n_cases + np.arange(len(excess))
        gain = np.log1p(excess[:, None] * (_STAKES / (self._most + self.margin)))
        total = np.cumsum(gain, axis=0)
        begun = number // _APART + 1
        share = np.where(number % _APART == 0, -np.log(begun * (begun + 1.0)), -np.inf)
        put = np.concatenate([self._capital[None], share[:, None] - (total - gain)])
        capital = total + np.logaddexp.accumulate(put, axis=0)[1:]
        worth = np.logaddexp(np.logaddexp.reduce(capital, axis=1) - np.log(len(_STAKES)), -np.log(begun + 1.0))
        if self.alarm is None and (over := worth >= -np.log(self.alpha)).any():
            at = int(over.argmax())
            self.alarm = int(number[at])
            self._turn(total[: at + 1], number[: at + 1])
            self.change = int(self._since[self._rise.argmax()])
            total, number = total[at + 1 :] - total[at], number[at + 1 :]
        self._turn(total, number)
        self._capital, self.n_cases = capital[-1], self.n_cases + len(excess)
        self.e_value = float(np.exp(min(worth[-1], 700.0)))

    def _turn(self, total: FloatArray, number: IntArray) -> None:
        """Note by stake when it had least, and what it has won since."""
        if not len(total):
            return
        lowest, columns = total.argmin(axis=0), np.arange(total.shape[1])
        fell = total[lowest, columns] <= -self._rise
        self._since = np.where(fell, number[lowest] + 1, self._since)
        self._rise = np.where(fell, total[-1] - total[lowest, columns], self._rise + total[-1])


def _most_expected(costs: FloatArray) -> float:
    """The most that the best decision can be expected to cost, over all beliefs."""
    n, m = costs.shape
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-costs.T, np.ones(m)]),
        b_ub=np.zeros(m),
        A_eq=[np.append(np.ones(n), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return float(-found.fun) * (1 + 1e-9) + 1e-12


def _upper_bound(values: FloatArray, low: float, high: float, delta: float) -> float:
    """Upper bound of the mean of independent values in a range, which fails by a chance of ``delta`` ([1] of the test).

    Whoever bets that the mean is lower multiplies 1 - s (value - mean), which cannot lose all whatever the mean may be.
    """
    stakes = _STAKES / (high - low)

    def capital(mean: float) -> float:
        won = np.log1p(stakes * (mean - values)[:, None]).sum(axis=0)
        return float(np.logaddexp.reduce(won) - np.log(len(stakes)) + np.log(delta))

    return high if capital(high) <= 0 else float(brentq(capital, low, high))


@dataclass(frozen=True)
class Followed:
    """What a classifier that followed a stream did, case by case.

    Attributes
    ----------
    first : int
        Row of the stream that was decided first; the rows before it were learnt from alone.
    prices : ndarray of shape (n_cases,)
        Prices paid for each case.
    decision_costs : ndarray of shape (n_cases,)
        Cost of each decision.
    n_features : ndarray of int of shape (n_cases,)
        Features acquired.
    alarms, changes : ndarray of int
        Rows at which the test said that the model is no longer true, and from which on it took it to be so.
    fits : ndarray of int
        Rows before which a classifier was fitted.
    seconds : float
        Time of fits and decisions.
    classifier : SequentialClassifier or AdaptiveClassifier
        The last one.

    Examples
    --------
    >>> import numpy as np
    >>> none = np.array([], dtype=int)
    >>> Followed(100, np.array([0.01, 0.03]), np.array([0.0, 1.0]), np.array([1, 3]), none, none, none, 0.1, None).cost
    0.52
    """

    first: int
    prices: FloatArray
    decision_costs: FloatArray
    n_features: IntArray
    alarms: IntArray
    changes: IntArray
    fits: IntArray
    seconds: float
    classifier: Any = field(repr=False)

    @property
    def cost(self) -> float:
        """Mean realised cost of a case: prices and decision."""
        return float((self.prices + self.decision_costs).mean())


def follow(
    classifier: DecidingClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    start: int = 200,
    batch_size: int = 50,
    alpha: float = 0.01,
    margin: float = 0.05,
    growth: float = 1.5,
    window: int | None = None,
) -> Followed:
    """Decide for a stream case by case, and fit again when the model is no longer true, or there is more to learn from.

    The first rows are learnt from. Then each batch is decided, its labels become known, and `DriftTest` looks at them.
    Where it says that decisions cost more than expected, all rows from before the change that it puts its finger on are
    forgotten, and the classifier is fitted to those since. Without an alarm it is fitted again whenever the rows that
    it may learn from have become ``growth`` times those that it has learnt from: a fit takes most of the time, and
    what more rows teach falls with their number.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        What to fit; clones are. With ``half_life`` the rows of a fit count less with their age, too.
    X : array-like, data frame or sparse array of shape (n, n_features)
        The stream, in order of time.
    y : array-like of shape (n,)
        Labels, of all classes in the first ``start`` rows.
    start : int
        Rows to begin with, at least 2.
    batch_size : int
        Cases that are decided before their labels are looked at.
    alpha : float
        Chance of a false alarm, anew after each one.
    margin : float
        By how much a decision may cost more than expected, on average, without an alarm; see `DriftTest`.
    growth : float
        How many times as many rows call for another fit, above 1; infinity: only an alarm does.
    window : int, optional
        Most rows that are learnt from, the last ones; half as many new ones call for another fit, too.

    Returns
    -------
    Followed

    Raises
    ------
    ValueError
        If a setting is out of range, the stream has no row beyond ``start``, or its first rows lack a class.

    See Also
    --------
    seqclass.SequentialClassifier.partial_fit : Counts that decay, where the bins stay.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.drift import follow
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> y = np.where(np.arange(2000) < 1000, X[:, 0], X[:, 1]) > 0  # the second half asks for another column
    >>> done = follow(SequentialClassifier(), X, y)
    >>> len(done.alarms), bool(1000 < done.alarms[0] < 1100), bool(done.cost < 0.15)
    (1, True, True)
    """
    check_integer(start, "start", 2)
    check_integer(batch_size, "batch_size", 1)
    if not check_real(growth, "growth") > 1:
        raise ValueError(f"growth must be above 1, got {growth}.")
    if window is not None:
        check_integer(window, "window", 2)
    X, labels = plain(X), plain_labels(y)
    if X.shape[0] != len(labels) or len(labels) <= start:
        raise ValueError(f"X must have as many rows as y, more than start={start}; got {X.shape[0]} and {len(labels)}.")
    if len(late := np.setdiff1d(labels, labels[:start])):
        raise ValueError(f"y: the first {start} rows lack the class {shown(late.tolist()[0])}; take a larger start.")
    stream = _Stream(classifier, X, labels, start, window)
    clf = stream.fit(start)
    test = DriftTest(clf.decision_costs_, clf.classes_, clf.decisions_, alpha=alpha, margin=margin)
    stream.test = test
    for rows in _batches(start, len(labels), batch_size):
        stream.step(rows, growth)
    return stream.result()


def _batches(first: int, end: int, size: int) -> Iterator[IntArray]:
    for at in range(first, end, size):
        yield np.arange(at, min(at + size, end))


class _Stream:
    """Where a classifier that follows a stream stands."""

    test: DriftTest

    def __init__(self, classifier: Any, X: Any, y: npt.NDArray[Any], start: int, window: int | None) -> None:
        self.began, self.classifier, self.X, self.y, self.window = time.perf_counter(), classifier, X, y, window
        self.start, self.since, self.learnt, self.offset = start, 0, 0, start
        self.kept: list[tuple[FloatArray, FloatArray, IntArray]] = []
        self.alarms: list[int] = []
        self.changes: list[int] = []
        self.fits: list[int] = []

    def fit(self, end: int) -> Any:
        """Fit to the rows since the last change, with the last row of each class that they lack."""
        first = self.since if self.window is None else max(self.since, end - self.window)
        rows: BoolArray = np.zeros(len(self.y), dtype=bool)
        rows[first:end] = True
        last = end - 1 - np.unique(self.y[:end][::-1], return_index=True)[1]
        rows[last] = True
        self.learnt = end - first
        self.fits.append(end)
        at = np.flatnonzero(rows)
        self.fitted = clone(self.classifier).fit(rows_of(self.X, at), self.y[at])
        return self.fitted

    def step(self, rows: IntArray, growth: float) -> None:
        """Decide for a batch, learn its labels, and fit again if that is called for."""
        record, y, test, end = self.fitted.acquire(rows_of(self.X, rows)), self.y[rows], self.test, int(rows[-1]) + 1
        label = class_numbers(self.fitted.classes_, y)
        decided = class_numbers(self.fitted.decisions_, record.decision, "decision")
        self.kept.append((record.cost, self.fitted.decision_costs_[label, decided], record.n_features))
        test.update(record, y)
        if test.alarm is not None and test.change is not None:
            self.alarms.append(self.offset + test.alarm)
            self.since = self.offset + test.change
            self.changes.append(self.since)
            self.test = DriftTest(
                test.decision_costs, test.classes, test.decisions, alpha=test.alpha, margin=test.margin
            )
            self.offset = end
        most = np.inf if self.window is None else self.window
        more = min(end - self.since, most) >= growth * self.learnt or end - self.fits[-1] >= most / 2
        if test.alarm is not None or more:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what the first fit has warned of
                self.fit(end)

    def result(self) -> Followed:
        prices, costs, counts = (np.concatenate(part) for part in zip(*self.kept))
        alarms, changes, fits = (np.array(rows, dtype=np.intp) for rows in (self.alarms, self.changes, self.fits))
        seconds = time.perf_counter() - self.began
        return Followed(self.start, prices, costs, counts, alarms, changes, fits, seconds, self.fitted)
