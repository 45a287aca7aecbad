"""An error rate by contract: the cheapest stopping rule whose error rate is certified on rows of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray
from seqclass._certify_rows import Cases, Counts, RungSums, check_level, joined_sums, run_rungs
from seqclass._certifying import RISKS, Risk, made_ladder
from seqclass._contract import CertifiedError, GroupRisk, Rung
from seqclass._fitting import twin
from seqclass._messages import listed
from seqclass._treating import class_position
from seqclass._validation import check_choice, check_integer
from seqclass.classifier import SequentialClassifier
from seqclass.pomdp import Policy
from seqclass.statistics.risk import fallback_test, rows_needed, start_levels

__all__ = ["CertifiedError", "GroupRisk", "Rung", "certify_error"]


def certify_error(
    clf: SequentialClassifier,
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
    starts: int = 1,
    max_features: int | None = None,
    others: Sequence[SequentialClassifier] = (),
    allow_seen: bool = False,
) -> CertifiedError:
    """Find the cheapest stopping rule whose error rate is at most ``alpha``, but for a chance of ``delta``.

    A ladder of rules, all along the questions of ``clf``, is run on rows that it was not fitted to, and tested from the
    rule that asks most to the one that asks least (Learn then Test [1]_): each rule gets the p-value of "its error rate
    is above alpha", the exact binomial one, and testing goes on until one is not small enough. Of the rules that pass
    the one of the least price is taken; for the sensitivity, which says nothing of needless alarms, and for the mean
    cost the one of the least price and decision cost together, on these rows. A rule that decides alike for everybody
    is taken only where no other passes, but for the mean cost; `CertifiedError.trivial` says so.

    The chance, over draws of these rows, that a rule is returned whose error rate is above ``alpha`` is at most
    ``delta``, whatever the model is worth, as long as the rows are independent draws of what the classifier will meet.
    A worse model abstains or asks more; the promise holds all the same.

    With ``starts`` above 1 testing starts at several rules, spread over the ladder, each with its part of ``delta``; a
    part that was not used up goes on to the next start (`seqclass.statistics.fallback_test`). That pays where the rule
    that asks most is not the best, and costs rules near the limit elsewhere.

    What is cheapest where costs decide need not be what keeps to a contract most cheaply. ``others``, such as
    `seqclass.adaptive_classifier.AdaptiveClassifier.runners_up`, are tried beside ``clf``: each has a ladder of its own
    with an equal part of ``delta``, and of all rules that pass the cheapest is taken. Choose them by other rows.

    With ``groups`` the rate is to hold in each of them. A rule's p-value is then that of its worst group, which needs
    no correction for their number: what is rejected is that *some* group is above alpha ([2]_).

    Parameters
    ----------
    clf : SequentialClassifier
        A fitted classifier.
    X : array-like, data frame or sparse array of shape (n, n_features)
        Rows that it was not fitted to.
    y : array-like of shape (n,)
        Their labels.
    alpha : float
        Highest error rate, between 0 and 1; the highest mean cost with ``metric="cost"``.
    delta : float
        Chance that it may be higher, between 0 and 1.
    metric : {"error", "sensitivity", "cost"}
        What is meant: the share of rows decided for a wrong class, where a further decision such as "refer" is no
        error; the same among rows of the class ``target``, so that its sensitivity is at least ``1 - alpha``, a case
        that is referred not counted as missed; or the mean of prices and decision cost, by Hoeffding's and Bentkus's
        bounds.
    target : label, optional
        The class whose sensitivity is meant.
    groups : array-like of shape (n,), optional
        Group of each row, such as the sex. The rule is one for all groups, and need not know them.
    ladder : {"belief", "price"}
        Rules that stop once deciding is expected to cost little enough, from a tenth of ``alpha`` to what deciding at
        once is expected to cost; or the solver's own at multiples of the prices, each of which is solved for anew.
    n_rungs : int, optional
        Number of rules; by default 40 of beliefs, or 13 of prices between a sixteenth and 16 times theirs.
    starts : int
        Rules at which testing starts.
    max_features : int, optional
        Most questions of any rule of beliefs; by default 200.
    others : sequence of SequentialClassifier
        Further classifiers of the same classes and decisions, fitted to none of these rows either.
    allow_seen : bool
        Whether to take rows that look like those of the fit all the same.

    Returns
    -------
    CertifiedError

    Raises
    ------
    ValueError
        If rows were used in fitting; if there are too few to certify anything, of which the message says how many it
        takes; or if a setting, a class or the groups are wrong.

    Warns
    -----
    UserWarning
        If the classifier cannot tell which rows it was fitted to, as one that an older seqclass saved.

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
    classifiers = _alike(clf, others)
    check_choice(metric, "metric", tuple(RISKS))
    check_level(alpha, "alpha", np.inf)
    made = [made_ladder(one, ladder, n_rungs, max_features, alpha) for one in classifiers]
    # of several scales of cost the widest holds for all
    risk = max((RISKS[metric](one.problem_, m.longest) for one, m in zip(classifiers, made)), key=lambda r: r.highest)
    check_level(alpha, "alpha", risk.highest)
    check_level(delta, "delta", 1.0)
    check_integer(starts, "starts", 1, made[0].values.size)
    levels = np.concatenate([start_levels(m.values.size, delta / len(made), starts) for m in made])
    cases = Cases.of(clf, X, y, groups, metric, target)
    target = None if target is None else clf.classes_.tolist()[class_position(clf.classes_, target, "target")]
    cases.check_enough(alpha, delta, rows_needed(alpha / risk.highest, float(levels[0])))
    for one in classifiers:
        cases.check_fresh(one, allow_seen)
    found = joined_sums([run_rungs(one, m, risk, cases) for one, m in zip(classifiers, made)])
    values = np.concatenate([m.values for m in made])
    told = (values, risk, cases.counts, found, float(alpha), float(delta), levels)
    rungs, chosen, reachable = decided(*told, metric, clf.decisions_.tolist())
    ends = np.cumsum([0] + [m.values.size for m in made])
    which = np.searchsorted(ends, np.arange(values.size), side="right") - 1
    rungs = tuple(replace(rung, classifier=int(number)) for rung, number in zip(rungs, which))
    certified, number = rungs[chosen].certified, int(which[chosen])
    policy = made[number].policy(chosen - int(ends[number])) if certified else None
    fitted = None if policy is None else _with_policy(classifiers[number], policy)
    about = (float(alpha), float(delta), metric, target, reachable)
    return CertifiedError(certified, *about, chosen, rungs, fitted)


def _alike(clf: SequentialClassifier, others: Sequence[SequentialClassifier]) -> list[SequentialClassifier]:
    """All classifiers, of the same columns, classes and decisions."""
    for number, one in enumerate([clf, *others]):
        check_is_fitted(one, "policy_")
        for name in ("classes_", "decisions_", "n_features_in_"):
            own = np.atleast_1d(getattr(one, name)).tolist()
            if own != np.atleast_1d(getattr(clf, name)).tolist():
                raise ValueError(f"others[{number - 1}] has other {name}: {listed(own)}.")
    return [clf, *others]


def decided(
    values: FloatArray,
    risk: Risk,
    cases: Counts,
    found: RungSums,
    alpha: float,
    delta: float,
    levels: FloatArray,
    metric: str,
    decisions: list[Any],
) -> tuple[tuple[Rung, ...], int, float]:
    """Test the rungs, from what was seen of them; the rungs, the number of the chosen one, and what is reachable."""
    rungs = _tested(values, risk, cases, found, alpha, delta, levels, decisions)
    starting = np.flatnonzero(levels).tolist()
    reach = [max(_bounds(risk, cases, found.total[:, i], float(levels[i]))) for i in starting]
    passed = np.array([rung.certified for rung in rungs])
    chosen = starting[int(np.argmin(reach))]
    if passed.any():
        cost = found.price if metric == "error" else found.cost
        # what treats all alike is no rule to pay for, unless the mean cost itself is what is wanted
        alike = np.zeros(len(rungs), dtype=bool) if metric == "cost" else found.decides >= 0
        chosen = int(np.lexsort([found.n_features, cost, alike, ~passed])[0])
    return rungs, chosen, float(min(reach))


def _tested(
    values: FloatArray,
    risk: Risk,
    cases: Counts,
    found: RungSums,
    alpha: float,
    delta: float,
    levels: FloatArray,
    decisions: list[Any],
) -> tuple[Rung, ...]:
    """What was seen of each rule, and whether its test lets it pass."""
    totals = found.total.T.tolist()
    p_values = [max(risk.p_value(t, n, alpha) for t, n in zip(total, cases.sizes)) for total in totals]
    passed = fallback_test(p_values, levels)
    rungs = []
    for i, (value, total) in enumerate(zip(values.tolist(), totals)):
        bounds = _bounds(risk, cases, found.total[:, i], delta)
        seen = zip(cases.labels, cases.sizes, total, bounds)
        groups = tuple(GroupRisk(label, n, t / n, bound) for label, n, t, bound in seen)
        means = float(found.n_features[i]), float(found.price[i])
        alike = None if found.decides[i] < 0 else decisions[found.decides[i]]
        spared = None if found.specificity is None else float(found.specificity[i])
        rungs.append(Rung(value, p_values[i], bool(passed[i]), *means, groups, alike, spared))
    return tuple(rungs)


def _bounds(risk: Risk, cases: Counts, totals: FloatArray, delta: float) -> list[float]:
    """Upper bound of one rule's risk in each group."""
    return [risk.bound(total, n, delta) for total, n in zip(totals.tolist(), cases.sizes)]


def _with_policy(clf: SequentialClassifier, policy: Policy) -> SequentialClassifier:
    """The same classifier with another stopping rule of the same problem."""
    other: SequentialClassifier = twin(clf)
    other.policy_ = policy
    other.order_ = other.support_[other._asked()]
    other.ordering_ = policy.info.ordering
    return other
