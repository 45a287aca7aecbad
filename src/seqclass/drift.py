"""Streams whose rows change: a test of whether a model still holds, and fitting again when it does not."""

from __future__ import annotations

import time
import warnings
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize
from sklearn.base import clone

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import TIE, FloatArray, IntArray
from seqclass._utils.frames import plain_data, take_rows, with_texts
from seqclass._utils.tables import Readable
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_decision_costs, check_integer, check_real, class_numbers, plain_labels
from seqclass.agent.agent import agent_of
from seqclass.agent.record import AcquisitionRecord
from seqclass.agent.session import Session

__all__ = ["DriftTest", "follow"]
__dir__ = __all__.copy  # tab completion

#: Stakes, as parts of the highest that cannot lose all.
_STAKES = np.array([1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8])
#: Cases from one start to the next.
_APART = 32


class _Bets:
    """Capital of bets that numbers, none below ``-most``, are above 0 on average; see `DriftTest`."""

    def __init__(self, most: float, alpha: float) -> None:
        self.stakes, self.alpha, self.n, self.capital = _STAKES / most, alpha, 0, 1.0
        self.alarm: int | None = None
        self.change: int | None = None
        # logarithms of capital by stake, of what stakes have won since they had least, and when that was
        n = len(_STAKES)
        self._won, self._rise, self._since = np.full(n, -np.inf), np.zeros(n), np.zeros(n, dtype=np.intp)

    def put(self, values: FloatArray) -> None:
        """Bet on further numbers."""
        if not values.size:
            return
        number = self.n + np.arange(len(values))
        gain = np.log1p(values[:, None] * self.stakes)
        total = np.cumsum(gain, axis=0)
        begun = number // _APART + 1
        share = np.where(number % _APART == 0, -np.log(begun * (begun + 1.0)), -np.inf)
        staked = np.concatenate([self._won[None], share[:, None] - (total - gain)])
        won = total + np.logaddexp.accumulate(staked, axis=0)[1:]
        worth = np.logaddexp(np.logaddexp.reduce(won, axis=1) - np.log(len(_STAKES)), -np.log(begun + 1.0))
        if self.alarm is None and (over := worth >= -np.log(self.alpha)).any():
            at = int(over.argmax())
            self.alarm = int(number[at])
            self._turn(total[: at + 1], number[: at + 1])
            self.change = int(self._since[self._rise.argmax()])
            total, number = total[at + 1 :] - total[at], number[at + 1 :]
        self._turn(total, number)
        self._won, self.n = won[-1], self.n + len(values)
        self.capital = float(np.exp(min(worth[-1], 700.0)))

    def _turn(self, total: FloatArray, number: IntArray) -> None:
        """Note by stake when it last had least, but for rounding, and what it has won since."""
        if not len(total):
            return
        least, columns = total.min(axis=0), np.arange(total.shape[1])
        lowest = len(total) - 1 - (total <= least + TIE)[::-1].argmax(axis=0)
        fell = least <= TIE - self._rise
        self._since = np.where(fell, number[lowest] + 1, self._since)
        self._rise = np.where(fell, total[-1] - total[lowest, columns], self._rise + total[-1])


@dataclass(eq=False, repr=False)
class DriftTest(Readable):
    """Tests case by case whether decisions cost more than beliefs expect; a false alarm has at most chance ``alpha``.

    When a case stops it has a belief, and the expected cost of its decision j is e = sum_i belief_i M_ij. Once the
    label y is known, the decision turns out to cost M_yj. If the model is true, the difference d = M_yj - e is zero on
    average, whatever was seen before. The test bets against that: from case to case, capital is multiplied by 1 + s (d
    - margin), for several stakes s. Bets begin at the first case and again at every 32nd case after it; the b-th
    beginning has the share 1 / (b (b + 1)) of the capital, which lies idle until then.

    As long as the mean of d, given the past, is at most ``margin``, the capital is a non-negative supermartingale that
    starts at 1. The chance that it ever reaches 1 / ``alpha`` is then at most ``alpha`` (Ville's inequality; [1]_,
    [2]_), however long and however often one looks. The later beginnings find a change after a long quiet time; the
    evidence that they need grows with the logarithm of that time.

    The test looks only at beliefs at the stop. It does not notice if features are distributed differently while the
    beliefs that follow from them stay right, nor if decisions cost less than expected. Beliefs of naive Bayes are too
    sure from the start: a margin says how much of that is tolerated, and `from_classifier` learns it from rows.

    Parameters
    ----------
    decision_costs : array-like of shape (n_classes, n_decisions)
        M: cost of each decision when each class is true.
    classes : array-like of shape (n_classes,)
        Labels of the rows of ``decision_costs``.
    decisions : array-like of shape (n_decisions,), optional
        Labels of the columns of ``decision_costs``; by default the classes.
    alpha : float
        Chance of ever raising an alarm although the model is true, above 0 and below 1.
    margin : float
        How much more than expected a decision may cost, on average, with the model still counting as true.

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
    >>> test = DriftTest.from_classifier(clf, X[200:350], y[200:350])
    >>> test.update(clf.acquire(X[350:]), y[350:]).alarm is None
    True
    >>> print(test)  # doctest: +ELLIPSIS
    no drift in 219 cases: the evidence that decisions cost more than expected plus 0.1 is 0..., and 200 would be ...
    >>> test.update(clf.acquire(X[350:]), 1 - y[350:]).alarm >= 219  # what was benign is malignant
    True
    """

    _columns = ("n_cases", "e_value", "alarm", "change", "alpha", "margin")

    decision_costs: npt.ArrayLike
    classes: npt.ArrayLike
    decisions: npt.ArrayLike | None = None
    _: KW_ONLY
    alpha: float = 0.01
    margin: float = 0.0

    def __post_init__(self) -> None:
        rows = np.asarray(self.classes)
        self.decisions = rows if self.decisions is None else np.asarray(self.decisions)
        self.decision_costs = check_decision_costs(self.decision_costs, rows, self.decisions)
        if not 0 < check_real(self.alpha, "alpha") < 1:
            raise ValueError(f"alpha must be above 0 and below 1, got {self.alpha}.")
        check_real(self.margin, "margin", 0)
        self._most = _greatest_expected_cost(self.decision_costs)
        self._bets = _Bets(self._most + self.margin, self.alpha)

    @classmethod
    def from_classifier(
        cls,
        classifier: BaseSequentialClassifier,
        X: Any = None,
        y: Any = None,
        *,
        alpha: float = 0.01,
        margin: float = 0.0,
    ) -> DriftTest:
        """Make a test for a classifier that takes its beliefs to be as good as they are on rows that it has not seen.

        Parameters
        ----------
        classifier : SequentialClassifier or AdaptiveClassifier
            A fitted classifier.
        X : array-like, data frame or sparse array of shape (n, n_features), optional
            Rows that it was not fitted to. ``margin`` is then an upper bound on how much more their decisions cost than
            expected, which holds with a chance of at least ``1 - alpha / 2``. The test uses the other half of
            ``alpha``, so that the chance of a false alarm is at most ``alpha`` if future cases are independent and
            distributed as these rows.
        y : array-like of shape (n,), optional
            Labels of these rows.
        alpha : float
            Chance of a false alarm.
        margin : float
            How much more than expected a decision may cost; only if no rows are given.

        Returns
        -------
        DriftTest

        Raises
        ------
        ValueError
            If rows are given without labels or together with a margin, or ``alpha`` or ``margin`` is out of range.
        """
        agent = agent_of(classifier)
        costs = (agent.problem.decision_costs, agent.classes, agent.decisions)
        test = cls(*costs, alpha=alpha, margin=margin)
        if X is None and y is None:
            return test
        if X is None or y is None:
            raise ValueError("X and y: give both, the rows and their labels, or neither.")
        if margin:
            raise ValueError("margin: rows say what it is; leave one of the two out.")
        excess = test._excess(agent.acquire(X), y)
        return cls(*costs, alpha=alpha / 2, margin=max(0.0, _upper_bound(excess, -test._most, test._worst, alpha / 2)))

    def update(self, record: AcquisitionRecord | Session, y: Any) -> DriftTest:
        """Update the test with further cases, in order of time.

        Parameters
        ----------
        record : AcquisitionRecord or Session
            What ``acquire`` returned, or a live case that is decided. Classifiers may change from case to case, as long
            as each decides before it learns the label.
        y : array-like of shape (n,)
            Labels; of a live case, its label.

        Returns
        -------
        DriftTest
            The test itself.

        Raises
        ------
        ValueError
            If there are not as many labels as cases, or a label or a decision is unknown.
        """
        self._bets.put(self._excess(record, y) - self.margin)
        return self

    @property
    def n_cases(self) -> int:
        """Number of cases so far."""
        return self._bets.n

    @property
    def e_value(self) -> float:
        """Capital after the last case."""
        return self._bets.capital

    @property
    def alarm(self) -> int | None:
        """Number of the case, from 0, at which the capital first reached 1 / ``alpha``; None before an alarm."""
        return self._bets.alarm

    @property
    def change(self) -> int | None:
        """Number of the case from which on decisions seem to cost more; None before an alarm."""
        return self._bets.change

    def __str__(self) -> str:
        beyond = f" plus {self.margin:.3g}" if self.margin else ""
        if self.alarm is None:
            return (
                f"no drift in {self.n_cases} cases: the evidence that decisions cost more than expected{beyond} is "
                f"{self.e_value:.3g}, and {1 / self.alpha:.4g} would be an alarm"
            )
        return (
            f"decisions cost more than expected{beyond}: noticed at case {self.alarm + 1}, and so from about case "
            f"{(self.change or 0) + 1} on; a false alarm has a chance of {self.alpha:.3g} at most"
        )

    @property
    def _worst(self) -> float:
        return float(np.max(self.decision_costs))  # an expected cost may be 0

    def _excess(self, record: AcquisitionRecord | Session, y: Any) -> FloatArray:
        """What decisions have cost beyond what was expected, (n,)."""
        if not hasattr(record, "decision"):
            raise TypeError(f"record must be what clf.acquire(X) gave, or a session, got {type(record).__name__}.")
        costs, decisions = np.asarray(self.decision_costs), np.asarray(self.decisions)
        y = [y] if np.ndim(record.decision) == 0 else y
        posterior, decision = np.atleast_2d(record.posterior), np.atleast_1d(record.decision)
        label = class_numbers(np.asarray(self.classes), y, n=len(posterior))
        decided = class_numbers(decisions, decision, "decision")
        expected = (posterior * costs[:, decided].T).sum(axis=1)
        if (expected > self._most * 1.01).any():
            raise ValueError(
                "record: decisions must be the best ones by the beliefs at the stop, as those of acquire are; of row "
                f"{int(expected.argmax())} that is not so."
            )
        return np.asarray(costs[label, decided] - expected)


def _greatest_expected_cost(costs: FloatArray) -> float:
    """The most that the best decision can be expected to cost, over all beliefs."""
    n, m = costs.shape
    solution = optimize.linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-costs.T, np.ones(m)]),
        b_ub=np.zeros(m),
        A_eq=[np.append(np.ones(n), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return float(-solution.fun) * (1 + 1e-9) + 1e-12


def _upper_bound(values: FloatArray, low: float, high: float, delta: float) -> float:
    """Upper bound of the mean of independent values in a range, which fails by a chance of ``delta`` ([1] of the test).

    Whoever bets that the mean is lower multiplies 1 - s (value - mean), which cannot lose all whatever the mean may be.
    """
    stakes = _STAKES / (high - low)

    def capital(mean: float) -> float:
        won = np.log1p(stakes * (mean - values)[:, None]).sum(axis=0)
        return float(np.logaddexp.reduce(won) - np.log(len(stakes)) + np.log(delta))

    return high if capital(high) <= 0 else float(optimize.brentq(capital, low, high))


@dataclass(frozen=True, repr=False)
class Followed(Readable):
    """What happened, case by case, while a classifier followed a stream.

    Attributes
    ----------
    first : int
        First row of the stream that was decided; the rows before it were only learnt from.
    prices : ndarray of shape (n_cases,)
        Prices paid for each case.
    decision_costs : ndarray of shape (n_cases,)
        Cost of each decision.
    n_features : ndarray of int of shape (n_cases,)
        Features acquired.
    alarms, changes : ndarray of int
        Rows at which the test raised an alarm, and the rows from which on it judged the model to be no longer true.
    switches : ndarray of int
        Rows just before which the challenger took over.
    fits : ndarray of int
        Rows just before which a classifier or a challenger was fitted.
    seconds : float
        Time taken by fits and decisions.
    classifier : SequentialClassifier or AdaptiveClassifier
        The classifier in use at the end.

    Examples
    --------
    >>> import numpy as np
    >>> none, prices, costs = np.array([], dtype=int), np.array([0.01, 0.03]), np.array([0.0, 1.0])
    >>> Followed(100, prices, costs, np.array([1, 3]), none, none, none, none, 0.1, None).cost
    0.52
    """

    _in_summary = ("first", "cost", "n_features", "alarms", "changes", "switches", "fits", "seconds")
    _axis = "row"

    first: int
    prices: FloatArray
    decision_costs: FloatArray
    n_features: IntArray
    alarms: IntArray
    changes: IntArray
    switches: IntArray
    fits: IntArray
    seconds: float
    classifier: Any = field(repr=False)

    def _table(self) -> Any:
        import pandas as pd

        rows = self.first + np.arange(len(self.prices))
        marks = {"alarm": self.alarms, "change": self.changes, "switch": self.switches, "fit": self.fits}
        columns = {"price": self.prices, "decision_cost": self.decision_costs, "n_features": self.n_features}
        return pd.DataFrame(columns | {name: np.isin(rows, at) for name, at in marks.items()}, index=rows)

    @property
    def cost(self) -> float:
        """Mean realised cost of a case: prices plus decision cost."""
        return float((self.prices + self.decision_costs).mean())


def follow(
    classifier: BaseSequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    start: int = 200,
    batch_size: int = 50,
    alpha: float = 0.01,
    margin: float = 0.05,
    growth: float = 1.5,
    recent: int | None = 300,
    window: int | None = None,
) -> Followed:
    """Decide for a stream case by case, and fit again when the model no longer holds or there is more to learn from.

    The classifier is fitted to the first rows. Then each batch is decided, its labels become known, and `DriftTest`
    looks at them. If it finds that decisions cost more than expected, all rows before the change that it estimates are
    forgotten, and the classifier is fitted to the rows since then. Without an alarm, it is fitted again whenever there
    are ``growth`` times as many rows to learn from as in the last fit: fits take most of the time, and further rows
    teach less and less.

    If rows change slowly, an old model may still hold and yet say little. So a challenger, fitted to the latest rows
    only, decides for each case as well, and the same kind of bets are placed on its costing less, prices included. If
    they win, fitting again has paid: the challenger takes over, and the rows before its own are forgotten.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        Classifier of which clones are fitted. With ``half_life``, rows in a fit also count less the older they are.
    X : array-like, data frame or sparse array of shape (n, n_features)
        The stream, in order of time.
    y : array-like of shape (n,)
        Labels; all classes must occur in the first ``start`` rows.
    start : int
        Number of rows to learn from at first, at least 2.
    batch_size : int
        Number of cases that are decided before their labels are looked at.
    alpha : float
        Chance of a false alarm; it starts anew after each alarm and each change of the classifier.
    margin : float
        How much more than expected a decision may cost, on average, without an alarm; see `DriftTest`.
    growth : float
        The classifier is fitted again once it could learn from this many times as many rows as in its last fit; above
        1. With infinity this alone never leads to another fit.
    recent : int, optional
        Number of rows that the challenger is fitted to; it is fitted again after half as many further rows. None: there
        is no challenger.
    window : int, optional
        Most rows that are learnt from, namely the latest; half as many new rows lead to another fit as well.

    Returns
    -------
    Followed

    Raises
    ------
    ValueError
        If a setting is out of range, the stream has no row beyond ``start``, or its first rows lack a class.

    See Also
    --------
    seqclass.SequentialClassifier.partial_fit : Lets counts decay while the bins stay the same.

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
    for name, rows in (("recent", recent), ("window", window)):
        if rows is not None:
            check_integer(rows, name, 2)
    X, labels = plain_data(X), plain_labels(y)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if X.shape[0] != len(labels) or len(labels) <= start:
        raise ValueError(f"X must have as many rows as y, more than start={start}; got {X.shape[0]} and {len(labels)}.")
    if len(late := np.setdiff1d(labels, labels[:start])):
        raise ValueError(
            f"y: the first {start} rows lack the class {short_repr(late.tolist()[0])}; take a larger start."
        )
    stream = _Stream(classifier, X, labels, start, window, recent)
    stream.begin(DriftTest.from_classifier(stream.fit(start), alpha=alpha, margin=margin), start)
    for at in range(start, len(labels), batch_size):
        stream.step(np.arange(at, min(at + batch_size, len(labels))), growth)
    return stream.result()


class _Stream:
    """Where a classifier that follows a stream stands."""

    def __init__(
        self, classifier: Any, X: Any, y: npt.NDArray[Any], start: int, window: int | None, recent: int | None
    ) -> None:
        self.began, self.classifier, self.X, self.y = time.perf_counter(), classifier, X, y
        self.most = np.inf if window is None else window
        self.start, self.recent, self.since, self.learnt = start, recent, 0, 0
        self.kept: list[tuple[FloatArray, FloatArray, IntArray]] = []
        self.events: dict[str, list[int]] = {name: [] for name in ("alarms", "changes", "switches", "fits")}

    def begin(self, test: DriftTest, offset: int) -> None:
        """Look at cases from a row on, and at none before."""
        self.test, self.offset = test, offset
        self.challenger: Any = None
        prices = agent_of(self.fitted).prices
        visits = 0.0 if prices.visits is None else float(prices.visits.single_costs.sum())
        full = prices.full.copy()
        for one in prices.after:  # of which some may be dearer than the usual ones
            full[one.question] = max(full[one.question], one.price)
        self.challenged, highest = offset, test._worst + float(full.sum()) + visits
        self.duel = _Bets(max(highest, 1e-12), test.alpha)

    def fit(self, end: int) -> Any:
        """Fit to the rows since the last change."""
        first = int(max(self.since, end - self.most))
        self.learnt = end - first
        self.events["fits"].append(end)
        self.fitted = self._fit_rows(first, end)
        return self.fitted

    def _fit_rows(self, first: int, end: int) -> Any:
        """A classifier of some rows, and of the last row of each class that they lack."""
        last = end - 1 - np.unique(self.y[:end][::-1], return_index=True)[1]
        at = np.union1d(np.arange(first, end), last)
        with warnings.catch_warnings():
            if self.kept:
                warnings.simplefilter("ignore")  # what the first fit has warned of
            # all categories that there were are known, also those that these rows lack
            rows = with_texts(take_rows(self.X, at), self.X, take_rows(self.X, np.arange(end)))
            return clone(self.classifier).fit(rows, self.y[at])

    def _acquire_rows(self, clf: Any, rows: IntArray) -> tuple[AcquisitionRecord, FloatArray]:
        """What a classifier does with some rows, and what its decisions cost."""
        record = clf.acquire(take_rows(self.X, rows))
        decided = class_numbers(clf.decisions_, record.decision, "decision")
        return record, clf.decision_costs_[class_numbers(clf.classes_, self.y[rows]), decided]

    def step(self, rows: IntArray, growth: float) -> None:
        """Decide for a batch, learn its labels, and fit again if that is called for."""
        test, end = self.test, int(rows[-1]) + 1
        record, costs = self._acquire_rows(self.fitted, rows)
        self.kept.append((record.paid, costs, record.n_features))
        test.update(record, self.y[rows])
        if self.challenger is not None:
            other, others = self._acquire_rows(self.challenger, rows)
            self.duel.put(record.paid + costs - other.paid - others)
        if test.alarm is not None and test.change is not None:
            self.since = self.offset + test.change
            self.events["alarms"].append(self.offset + test.alarm)
            self.events["changes"].append(self.since)
        elif self.duel.alarm is not None:
            self.events["switches"].append(end)
            self.since = self.learns
        more = (
            min(end - self.since, self.most) >= growth * self.learnt or end - self.events["fits"][-1] >= self.most / 2
        )
        new = test.alarm is not None or self.duel.alarm is not None
        if new or more:
            self.fit(end)
        if new:
            self.begin(DriftTest.from_classifier(self.fitted, alpha=test.alpha, margin=test.margin), end)
        self._challenge(end)

    def _challenge(self, end: int) -> None:
        """Fit the challenger where that is due, and the classifier in place has learnt from older rows, too."""
        recent = self.recent
        if recent is None or end - max(self.challenged, self.offset) < recent / 2 or end == len(self.y):
            return
        self.challenged = end
        if end - recent > self.since:
            self.learns, self.challenger = end - recent, self._fit_rows(end - recent, end)
            self.events["fits"].append(end)

    def result(self) -> Followed:
        prices, costs, counts = (np.concatenate(part) for part in zip(*self.kept))
        events = {name: np.array(rows, dtype=np.intp) for name, rows in self.events.items()}
        seconds = time.perf_counter() - self.began
        return Followed(self.start, prices, costs, counts, **events, seconds=seconds, classifier=self.fitted)
