"""An error rate by contract: the cheapest stopping rule whose error rate is certified on rows kept aside for it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.frames import plain_data, take_rows
from seqclass._utils.tables import count_text
from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import check_choice, check_integer, class_numbers, group_numbers
from seqclass.agent.agent import agent_of, check_classifier, copy_fitted, encode_rows, initial_row_beliefs, to_numbers
from seqclass.agent.record import EncodedRows
from seqclass.agent.training_rows import mark_rows
from seqclass.costs import Costs, Prices
from seqclass.evaluation.contract import CertifiedError, GroupRisk, Rung
from seqclass.evaluation.decision_curves import class_position
from seqclass.fitting._planning import solver_of
from seqclass.pomdp import AcquisitionProblem, Policy, acquire
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.problem import deciding_cost
from seqclass.pomdp.solvers.base import without_certificate
from seqclass.pomdp.sweeps.ladder import LadderRun, StopWhenSure, run_ladder
from seqclass.pomdp.sweeps.solving import solve_sweep
from seqclass.stats.risk import (
    binomial_p_value,
    binomial_upper_bound,
    fallback_test,
    hoeffding_bentkus_p_value,
    hoeffding_bentkus_upper_bound,
    rows_needed,
    start_levels,
)

__all__ = ["CertifiedError", "GroupRisk", "Rung", "certify_error"]


@dataclass(frozen=True)
class ThresholdTuning:
    """Thresholds of the stopping rules that are tested."""

    n_cost_starts: int = 5  #: rules at which testing starts where a mean cost is limited
    n_beliefs: int = 40  #: thresholds of expected cost
    surest: float = 0.1  #: the strictest stops where the model expects this part of the errors that are allowed
    n_prices: int = 13  #: factors of prices
    max_factor: float = 16.0  #: by which prices are divided and multiplied
    max_questions: int = 200  #: of the safest rule, unless the user says so


TUNING = ThresholdTuning()


class Ladder(ABC):
    """Stopping rules along one policy's questions, those that ask most first."""

    #: What tells the rules apart.
    values: FloatArray
    #: Most questions that any of them asks.
    longest: int

    @abstractmethod
    def run(self, rows: EncodedRows) -> LadderRun:
        """Run all rules on encoded rows."""

    @abstractmethod
    def policy(self, rung: int) -> Policy:
        """One of the rules."""


class BeliefLadder(Ladder):
    """Stops once deciding is expected to cost little enough: a row a walk, and all rules in it."""

    def __init__(
        self, clf: BaseSequentialClassifier, n_rungs: int | None, most: int | None, alpha: float, metric: str = "error"
    ) -> None:
        self.clf, self.most = clf, TUNING.max_questions if most is None else most
        if not clf.problem_.any_order:  # whoever is never sure would pay for constant columns, which come last, in vain
            telling = np.flatnonzero(clf.problem_.n_outcomes > 1)
            self.most = min(self.most, int(telling.max(initial=-1)) + 1)
        self.longest = min(self.most, clf.problem_.n_stages)
        costs = clf.problem_.decision_costs
        begun, weight = initial_beliefs(clf.problem_)
        at_once = max(float(weight @ deciding_cost(begun)), np.finfo(float).tiny)
        # a surer rule asks for more on the word of the model alone, which then is mostly too sure of itself
        allowed = alpha if metric == "cost" else alpha * float(costs[costs > 0].min(initial=np.inf))
        surest = min(TUNING.surest * allowed, at_once / 2)
        self.values = np.geomspace(surest, at_once, TUNING.n_beliefs if n_rungs is None else n_rungs)

    def run(self, rows: EncodedRows) -> LadderRun:
        how = {"columns": rows.columns, "charge_missing": agent_of(self.clf).charge_missing, "keys": rows.keys}
        start = initial_row_beliefs(agent_of(self.clf), rows)
        return run_ladder(self.clf.policy_, rows.codes, self.values, max_questions=self.most, start=start, **how)

    def policy(self, rung: int) -> Policy:
        return StopWhenSure(self.clf.policy_, float(self.values[rung]), self.most)


class PriceLadder(Ladder):
    """Solves for multiples of the prices."""

    def __init__(
        self, clf: BaseSequentialClassifier, n_rungs: int | None, most: int | None, alpha: float, metric: str = "error"
    ) -> None:
        self.clf, problem = clf, clf.problem_
        n, widest = TUNING.n_prices if n_rungs is None else n_rungs, TUNING.max_factor
        self.values = np.geomspace(1 / widest, widest, n)
        solver = without_certificate(solver_of(clf.settings(), problem))
        self.policies: list[Policy] = list(solve_sweep(solver, problem, self.values).policies)
        self.longest = max(policy.n_stages for policy in self.policies)

    def run(self, rows: EncodedRows) -> LadderRun:
        how = {"columns": rows.columns, "charge_missing": agent_of(self.clf).charge_missing, "keys": rows.keys}
        columns = []
        for policy in self.policies:
            done = acquire(policy, rows.codes, start=initial_row_beliefs(agent_of(self.clf), rows, policy), **how)
            answered = (done.leaf_outcome >= 0).sum(axis=1)
            columns.append([values[done.leaf] for values in (done.leaf_decision, done.leaf_price, answered)])
        decision, price, answered = (np.stack(kind, axis=1) for kind in zip(*columns))
        return LadderRun(decision, price, answered)

    def policy(self, rung: int) -> Policy:
        return self.policies[rung]


#: What a ladder may go by.
LADDERS: dict[str, Callable[..., Ladder]] = {"belief": BeliefLadder, "price": PriceLadder}


def make_ladder(
    clf: BaseSequentialClassifier, ladder: str, n_rungs: int | None, max_features: int | None, alpha: float, metric: str
) -> Ladder:
    """Check the settings of a ladder, and make it."""
    check_choice(ladder, "ladder", tuple(LADDERS))
    if n_rungs is not None:
        check_integer(n_rungs, "n_rungs", 1, 10_000)
    if max_features is not None:
        check_integer(max_features, "max_features", 1)
        if ladder != "belief":
            raise ValueError('max_features is for ladder="belief"; fit with max_features for a ladder of prices.')
    return LADDERS[ladder](clf, n_rungs, max_features, alpha, metric)


class ErrorRisk:
    """A mean loss of rows, here the share that are decided for a wrong class, and what a number of them says of it."""

    #: Highest loss that a row can have.
    highest = 1.0

    def __init__(self, problem: AcquisitionProblem, longest: int) -> None:
        self.n_classes = problem.n_classes

    def losses(self, codes: IntArray, run: LadderRun) -> FloatArray:
        """Loss of each row under each rule, (n, n_rules), between 0 and 1 once divided by `highest`."""
        wrong = (run.decision != codes[:, None]) & (run.decision < self.n_classes)
        return np.asarray(wrong, dtype=np.float64)

    def p_value(self, total: float, n: int, alpha: float) -> float:
        """P-value of "the mean is above alpha"."""
        return binomial_p_value(round(total), n, alpha)

    def bound(self, total: float, n: int, delta: float) -> float:
        """Upper confidence bound of the mean."""
        return binomial_upper_bound(round(total), n, delta)


class CostRisk:
    """Prices paid and the cost of the decision; of the form of `ErrorRisk`."""

    def __init__(self, problem: AcquisitionProblem, longest: int) -> None:
        self.costs = problem.decision_costs
        dearest = float(np.sort(problem.full_prices)[::-1][:longest].sum())
        if problem.any_order and problem.limits.max_cost is not None:
            dearest = min(dearest, float(problem.limits.max_cost))
        self.highest = float(self.costs.max()) + dearest

    def losses(self, codes: IntArray, run: LadderRun) -> FloatArray:
        return np.asarray(run.price + self.costs[codes[:, None], run.decision])

    def p_value(self, total: float, n: int, alpha: float) -> float:
        return hoeffding_bentkus_p_value(self._mean(total, n), n, min(1.0, alpha / self.highest))

    def bound(self, total: float, n: int, delta: float) -> float:
        return self.highest * hoeffding_bentkus_upper_bound(self._mean(total, n), n, delta)

    def _mean(self, total: float, n: int) -> float:
        return min(1.0, max(0.0, total / n / self.highest))


Risk = ErrorRisk | CostRisk
#: What may be certified; of the sensitivity it is the share of the class that is missed.
RISKS: dict[str, type[Risk]] = {"error": ErrorRisk, "sensitivity": ErrorRisk, "cost": CostRisk}


def certify_error(
    clf: BaseSequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    alpha: float = 0.1,
    delta: float = 0.1,
    *,
    metric: str = "error",
    target: Any = None,
    groups: npt.ArrayLike | None = None,
    ladder: str = "belief",
    n_rungs: int | None = None,
    starts: int | None = None,
    max_features: int | None = None,
    others: Sequence[BaseSequentialClassifier] = (),
    allow_seen: bool = False,
) -> CertifiedError:
    """Find the cheapest stopping rule with an error rate of at most ``alpha``, except with a chance of ``delta``.

    A ladder of rules, which all ask the questions of ``clf`` but stop at different points, is run on rows that it was
    not fitted to. The rules are tested from the one that asks most to the one that asks least (Learn then Test [1]_):
    each gets the exact binomial p-value of "its error rate is above alpha", and testing goes on until one is not small
    enough.

    Among the rules that pass, the one with the least price on these rows is taken, where the price includes the cost of
    further decisions such as "refer". For the sensitivity, which says nothing about needless alarms, and for the mean
    cost, it is the one with the least price and decision cost together. A rule that decides the same for everybody is
    taken only if no other passes, except for the mean cost; `CertifiedError.trivial` says so.

    The chance, over draws of these rows, that the returned rule has an error rate above ``alpha`` is at most ``delta``,
    however good or bad the model is, as long as the rows are independent draws from what the classifier will meet. With
    a worse model nothing may be certified, or the rule asks more; the promise still holds.

    With ``starts`` above 1, as by default with ``metric="cost"``, testing starts at several rules spread over the
    ladder, each with its share of ``delta``; a share that was not used up goes to the next start
    (`seqclass.stats.fallback_test`). This pays if the rule that asks most is not the best; otherwise it loses rules
    near the limit.

    The classifier that costs least is not always the one that keeps to a contract most cheaply. ``others``, such as
    `seqclass.adaptive_classifier.AdaptiveClassifier.runners_up`, are tried besides ``clf``: each has a ladder of its
    own with an equal share of ``delta``, and the cheapest of all rules that pass is taken. Choose them on other rows.

    With ``groups``, the rate has to hold in each of them. The p-value of a rule is then that of its worst group, which
    needs no correction for the number of groups, as the rejected hypothesis is that *some* group is above alpha ([2]_).

    Parameters
    ----------
    clf : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    X : array-like, data frame or sparse array of shape (n, n_features)
        Rows that it was not fitted to.
    y : array-like of shape (n,)
        Labels of these rows.
    alpha : float
        Highest error rate, between 0 and 1; with ``metric="cost"`` the highest mean cost.
    delta : float
        Chance with which it may be higher after all, between 0 and 1.
    metric : {"error", "sensitivity", "cost"}
        What ``alpha`` limits. ``"error"``: the share of rows decided for a wrong class; a further decision such as
        "refer" is not an error. ``"sensitivity"``: the same among rows of the class ``target``, so that its sensitivity
        is at least ``1 - alpha``; a case that is referred does not count as missed. ``"cost"``: the mean of prices plus
        decision cost, by Hoeffding's and Bentkus's bounds.
    target : label or list of labels, optional
        The class whose sensitivity is certified. Of several, such as all severe diseases, a case is missed if it
        has one of them and is decided for a class that is none of them.
    groups : array-like of shape (n,), optional
        Group of each row, such as the sex. There is one rule for all groups, and it need not know the group.
    ladder : {"belief", "price"}
        ``"belief"``: rules that stop once deciding is expected to cost little enough, from a tenth of ``alpha`` up to
        what deciding at once is expected to cost. ``"price"``: the solver's own rules at multiples of the prices, each
        of which is solved for again.
    n_rungs : int, optional
        Number of rules; by default 40 for beliefs, or 13 for prices, from a sixteenth to 16 times the prices.
    starts : int, optional
        Number of rules at which testing starts. By default one, the rule that asks most; with ``metric="cost"`` five,
        since that rule may then cost most.
    max_features : int, optional
        Most questions that a rule of ``ladder="belief"`` asks; by default 200.
    others : sequence of SequentialClassifier
        Further classifiers with the same classes, decisions and prices, which were not fitted to these rows either.
        Decision costs have to be the same too; with ``metric="error"`` only those of decisions beyond the classes.
    allow_seen : bool
        Whether to accept rows that look like rows of the fit.

    Returns
    -------
    CertifiedError

    Raises
    ------
    ValueError
        If rows were used in fitting; if there are too few to certify anything (the message says how many it takes); or
        if a setting, a class or the groups are invalid.

    Warns
    -----
    UserWarning
        If the classifier does not know which rows it was fitted to: it was made without rows, or by ``partial_fit``.

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, E. J. Candes, M. I. Jordan and L. Lei, "Learn then test: calibrating predictive
       algorithms to achieve risk control", Annals of Applied Statistics 19, 2025.
    .. [2] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24, 1982.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import seqclass
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = seqclass.etana(0.01).fit(X[:300], y[:300])
    >>> print(seqclass.certify_error(clf, X[300:], y[300:], alpha=0.1))  # doctest: +ELLIPSIS
    Certified: an error rate of at most 10.0%, with 90% confidence. Seen: ...
    """
    check_choice(metric, "metric", tuple(RISKS))
    classifiers = _check_alike(clf, others, metric)
    check_level(alpha, "alpha", np.inf)
    made = [make_ladder(one, ladder, n_rungs, max_features, alpha, metric) for one in classifiers]
    # of several numbers of questions the most holds for all
    risk = max((RISKS[metric](one.problem_, m.longest) for one, m in zip(classifiers, made)), key=lambda r: r.highest)
    check_level(alpha, "alpha", risk.highest)
    check_level(delta, "delta", 1.0)
    starts = min(TUNING.n_cost_starts if metric == "cost" else 1, made[0].values.size) if starts is None else starts
    check_integer(starts, "starts", 1, made[0].values.size)
    levels = np.concatenate([start_levels(m.values.size, delta / len(made), starts) for m in made])
    cases = LabelledCases.from_labels(clf, X, y, groups, metric, target)
    cases.check_enough(alpha, delta, rows_needed(alpha / risk.highest, float(levels[0])))
    for one in classifiers:
        cases.check_fresh(one, allow_seen)
    sums = join_sums([run_rungs(one, m, risk, cases) for one, m in zip(classifiers, made)])
    values = np.concatenate([m.values for m in made])
    evidence = (values, risk, cases.counts, sums, float(alpha), float(delta), levels)
    rungs, chosen, reachable = choose_rung(*evidence, metric, clf.decisions_.tolist())
    ends = np.cumsum([0] + [m.values.size for m in made])
    which = np.searchsorted(ends, np.arange(values.size), side="right") - 1
    rungs = tuple(replace(rung, classifier=int(number)) for rung, number in zip(rungs, which))
    certified, number = rungs[chosen].certified, int(which[chosen])
    fitted, own = None, classifiers[number]
    if certified:
        policy = made[number].policy(chosen - int(ends[number]))
        fitted = copy_fitted(own, replace(agent_of(own), policy=policy, differential=None))
    about = (float(alpha), float(delta), metric, cases.target, reachable)
    return CertifiedError(certified, *about, chosen, rungs, fitted, agent_of(clf).unit)


def _check_alike(
    clf: BaseSequentialClassifier, others: Sequence[BaseSequentialClassifier], metric: str
) -> list[BaseSequentialClassifier]:
    """All classifiers, of the same columns, classes, decisions and costs, as far as these are compared."""
    for number, one in enumerate([clf, *others]):
        check_classifier(one)
        for name in ("classes_", "decisions_", "n_features_in_"):
            own = np.atleast_1d(getattr(one, name)).tolist()
            if own != np.atleast_1d(getattr(clf, name)).tolist():
                raise ValueError(f"others[{number - 1}] has other {name}: {join_names(own)}.")
        mine, theirs = agent_of(one).prices, agent_of(clf).prices
        # of other bins the same answers have other outcomes
        after = mine.after == theirs.after or _prices_after(one) == _prices_after(clf)
        same = {"prices": after and np.array_equal(_price_table(mine), _price_table(theirs))}
        first = len(clf.classes_) if metric == "error" else 0  # what errors cost is not compared there
        same["decision_costs"] = np.array_equal(one.decision_costs_[:, first:], clf.decision_costs_[:, first:])
        if unlike := [name for name, equal in same.items() if not equal]:
            raise ValueError(
                f"others[{number - 1}] has other {unlike[0]}, so that which rule is cheapest cannot be told: fit it "
                'with the same ones. For rules that ask more or less take ladder="price".'
            )
    return [clf, *others]


def _prices_after(clf: BaseSequentialClassifier) -> Any:
    """Prices that depend on answers as they were given."""
    return Costs.from_value(clf.get_params(deep=False).get("feature_costs")).prices_after


def _price_table(prices: Prices) -> FloatArray:
    """What each feature costs: by itself, after another of its group, and for a visit."""
    visits = 0.0 if prices.visits is None else prices.visits.single_costs
    return np.stack([prices.full, prices.discounted, np.broadcast_to(visits, prices.full.shape)])


def choose_rung(
    values: FloatArray,
    risk: Risk,
    cases: Counts,
    sums: RungSums,
    alpha: float,
    delta: float,
    levels: FloatArray,
    metric: str,
    decisions: list[Any],
) -> tuple[tuple[Rung, ...], int, float]:
    """Test the rungs, from what was seen of them; the rungs, the number of the chosen one, and what is reachable."""
    totals = sums.total.T.tolist()
    p_values = [max(risk.p_value(t, n, alpha) for t, n in zip(total, cases.sizes)) for total in totals]
    passed = fallback_test(p_values, levels)
    rungs = []
    for i, (value, total) in enumerate(zip(values.tolist(), totals)):
        seen = zip(cases.labels, cases.sizes, total, _bounds(risk, cases, total, delta))
        groups = tuple(GroupRisk(label, n, t / n, bound) for label, n, t, bound in seen)
        means = float(sums.n_features[i]), float(sums.price[i])
        alike = None if sums.decides[i] < 0 else decisions[sums.decides[i]]
        spared = None if sums.specificity is None else float(sums.specificity[i])
        rung = Rung(value, p_values[i], bool(passed[i]), *means, groups, alike, spared)
        rungs.append(replace(rung, referred=float(sums.referred[i]), referral_cost=float(sums.referral_cost[i])))
    starting = np.flatnonzero(levels).tolist()
    reach = [max(_bounds(risk, cases, totals[i], float(levels[i]))) for i in starting]
    chosen = starting[int(np.argmin(reach))]
    if passed.any():
        cost = sums.price + sums.referral_cost if metric == "error" else sums.cost
        # what treats all alike is no rule to pay for, unless the mean cost itself is what is wanted
        trivial = np.zeros(len(rungs), dtype=bool) if metric == "cost" else sums.decides >= 0
        chosen = int(np.lexsort([sums.n_features, cost, trivial, ~passed])[0])
    return tuple(rungs), chosen, float(min(reach))


def _bounds(risk: Risk, cases: Counts, totals: list[float], delta: float) -> list[float]:
    """Upper bound of one rule's risk in each group."""
    return [risk.bound(total, n, delta) for total, n in zip(totals, cases.sizes)]


def check_level(value: Any, name: str, high: float) -> None:
    """Refuse what is not strictly between 0 and ``high``."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, got {short_repr(value)}.")
    if not 0 < value < high:
        raise ValueError(f"{name} must be above 0 and below {high:.4g}, got {value:g}.")


class Counts(NamedTuple):
    """Groups of rows."""

    labels: list[Any]
    sizes: list[int]


@dataclass(frozen=True, eq=False)
class LabelledCases:
    """Labelled rows, and which of them count."""

    X: Any
    codes: IntArray
    counted: BoolArray
    group: IntArray
    labels: list[Any]
    target: Any  #: the class that may not be missed, of several a tuple, or None
    alike: IntArray  #: the class that stands for each decision, where some may be taken for one another

    @classmethod
    def from_labels(
        cls, clf: BaseSequentialClassifier, X: Any, y: Any, groups: Any, metric: str, target: Any
    ) -> LabelledCases:
        """Check rows, labels and groups."""
        X, classes = plain_data(X), clf.classes_.tolist()
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        codes = class_numbers(clf.classes_, y, n=n)
        if (metric == "sensitivity") == (target is None):
            wanted = "target must name the class whose sensitivity is meant; the classes are"
            if target is not None:
                wanted = f'target={short_repr(target)} is for metric="sensitivity" only, with one of the classes'
            raise ValueError(f"{wanted} {join_names(classes)}.")
        alike, several = np.arange(len(clf.decisions_)), isinstance(target, (list, tuple, set, frozenset, np.ndarray))
        counted = np.ones(n, dtype=bool)
        if target is not None:
            named = [class_position(clf.classes_, one, "target") for one in (target if several else [target])]
            if len(set(named)) < len(named) or not named:
                raise ValueError(f"target must name each class once, and one at least; got {short_repr(target)}.")
            if len(named) == len(classes):
                raise ValueError("target names all classes, so that no case of them can be missed: leave some out.")
            counted, alike[named] = np.isin(codes, named), named[0]
            target = tuple(classes[one] for one in named) if several else classes[named[0]]
        number, labels = (np.zeros(n, dtype=np.intp), [None]) if groups is None else group_numbers(groups, n)
        return cls(X, codes, counted, number, labels, target, alike)

    @property
    def counts(self) -> Counts:
        """Rows of each group that count."""
        sizes = np.bincount(self.group[self.counted], minlength=len(self.labels))
        return Counts(self.labels, [int(n) for n in sizes])

    def check_enough(self, alpha: float, delta: float, least: int) -> None:
        """Refuse rows on which nothing could be certified, even if no rule made an error."""
        for label, n in zip(*self.counts):
            if n < least:
                where = "" if label is None else f" of group {short_repr(label)}"
                raise ValueError(
                    f"X has {count_text(n, 'rows')}{where} that count{'s' if n == 1 else ''}, too few for "
                    f"alpha={alpha:g} and delta={delta:g}: it takes at least {least}, and so many only if not one "
                    "error is made."
                )

    def check_fresh(self, clf: BaseSequentialClassifier, allowed: bool) -> None:
        """Refuse rows that the classifier was fitted to."""
        agent = agent_of(clf)
        seen = agent.seen
        if allowed:
            return
        if seen is None:
            warnings.warn(
                "the classifier cannot tell which rows it was fitted to (it was made without rows, or by partial_fit): "
                "see to it that X holds none of them.",
                stacklevel=4,
            )
            return
        X = to_numbers(agent, self.X)
        familiar = seen.recognise(mark_rows(agent, X, agent.classes[self.codes]))
        if familiar is not None:
            rows, n = familiar
            named = self.X.index[rows] if hasattr(self.X, "iloc") else rows  # as errors of columns name rows
            raise ValueError(
                f"X holds rows that the classifier was fitted to, as they were or rounded ({rows.size} of the {n} that "
                f"could be compared: rows {join_names(named.tolist())}), by which nothing can be certified: leave rows "
                "out of the fit and give them here. If they are others that happen to be equal, say allow_seen=True."
            )


class RungSums(NamedTuple):
    """What the rules of a ladder do with all rows."""

    total: FloatArray
    n_features: FloatArray
    price: FloatArray
    cost: FloatArray
    referral_cost: FloatArray
    specificity: FloatArray | None
    decides: IntArray
    referred: FloatArray


def run_rungs(clf: BaseSequentialClassifier, ladder: Ladder, risk: Risk, cases: LabelledCases) -> RungSums:
    """Run every rule on every row, a part of the rows at a time."""
    m, n = ladder.values.size, len(cases.codes)
    costs, target = clf.decision_costs_, -1 if cases.target is None else int(cases.alike[cases.codes[cases.counted][0]])
    total, sums = np.zeros((len(cases.labels), m)), np.zeros((5, m))
    counts = np.zeros((costs.shape[1], m))
    agent, whole = agent_of(clf), clf.problem_.n_questions
    for part in chunks(n, 8.0 * (6 * m + whole)):
        rows = np.arange(n)[part]
        codes, counted = cases.codes[rows], cases.counted[rows]
        run = ladder.run(encode_rows(agent, take_rows(cases.X, rows), whole=True, complete=True))
        alike = replace(run, decision=cases.alike[run.decision])
        losses = risk.losses(cases.alike[codes], alike)
        for group in range(len(cases.labels)):
            total[group] += losses[counted & (cases.group[rows] == group)].sum(axis=0)
        spared = (alike.decision[~counted] != target).sum(axis=0)
        decided = costs[codes[:, None], run.decision]
        beyond = np.where(run.decision < len(clf.classes_), 0.0, decided)
        sums += [*(each.sum(axis=0) for each in (run.n_features, run.price, decided, beyond)), spared]
        counts += [(run.decision == decision).sum(axis=0) for decision in range(len(counts))]
    n_features, price, decided, beyond, spared = sums
    others = n - int(cases.counted.sum())
    specificity = spared / others if others else None
    decides = np.where(counts.max(axis=0) == n, counts.argmax(axis=0), -1)
    referred = counts[len(clf.classes_) :].sum(axis=0) / n
    paid = (n_features / n, price / n, (price + decided) / n, beyond / n)
    return RungSums(total, *paid, specificity, decides, referred)


def join_sums(parts: Sequence[RungSums]) -> RungSums:
    """Several ladders' sums, one's rules after the other's."""
    joined = [
        None if columns[0] is None else np.concatenate([np.atleast_1d(one) for one in columns], axis=-1)
        for columns in zip(*parts)
    ]
    return RungSums(*joined)  # type: ignore[arg-type]
