"""Sets of classes that contain the true one, certified on rows kept aside for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.text import short_repr
from seqclass.agent.agent import agent_of, check_classifier, copy_fitted
from seqclass.agent.differential import Differential, prediction_sets
from seqclass.evaluation.certified import LabelledCases, check_level
from seqclass.stats.risk import rows_needed

Clf = TypeVar("Clf", bound=BaseSequentialClassifier)


def certify_differential(
    clf: Clf,
    X: Any,
    y: npt.ArrayLike,
    alpha: float = 0.05,
    delta: float = 0.1,
    *,
    by_class: bool = False,
    allow_seen: bool = False,
) -> Clf:
    """Return a copy of a classifier that says which classes may still be true once it has decided.

    For rows that the classifier was not fitted to, we take the probability of the true class at the stop. A set holds
    the most probable class and all others whose probability reaches a limit, which is the r-th smallest of these, with
    r the largest number for which P(Binomial(n, ``alpha``) < r) is at most ``delta`` (a tolerance limit, Wilks [1]_;
    for sets of predictions, Vovk [2]_). So the true class is missing from the set in at most a share ``alpha`` of the
    cases, except with a chance of ``delta`` over draws of these rows. This holds however good or bad the model is: a
    worse one has larger sets.

    It holds for cases that answer what the policy asks, as these rows do. Records of other cases, at hard budgets or
    with more known at the start, have no sets.

    Parameters
    ----------
    clf, X, y, allow_seen
        See `certify_error`.
    alpha : float
        Highest share of cases whose set does not contain the true class, between 0 and 1.
    delta : float
        Chance with which it may be higher after all, between 0 and 1.
    by_class : bool
        Whether the share has to hold among the cases of each class. Each class then has a limit of its own and an equal
        share of ``delta``. A class with too few rows is in every set.

    Returns
    -------
    SequentialClassifier or AdaptiveClassifier
        A copy whose records, sessions and files of decisions include the sets: ``record.differential``,
        ``case.differential``. ``agent_.differential`` holds the limits.

    Raises
    ------
    ValueError
        If rows were used in fitting; if they are too few for any set to be smaller than all classes (the message says
        how many it takes); or if a setting or a class is invalid.

    Warns
    -----
    UserWarning
        If the classifier does not know which rows it was fitted to.

    References
    ----------
    .. [1] S. S. Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical Statistics
       12, 1941.
    .. [2] V. Vovk, "Conditional validity of inductive conformal predictors", Machine Learning 92, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> import seqclass
    >>> X, y = load_digits(return_X_y=True)
    >>> train, fresh, new = np.split(np.random.default_rng(0).permutation(len(y)), [900, 1350])
    >>> clf = seqclass.etana(0.02).fit(X[train], y[train])
    >>> told = seqclass.certify_differential(clf, X[fresh], y[fresh], alpha=0.1)
    >>> sets = told.acquire(X[new]).differential
    >>> sets.shape, bool(1 - sets[np.arange(447), y[new]].mean() < 0.1)
    ((447, 10), True)
    """
    check_classifier(clf)
    agent = agent_of(clf)
    check_level(alpha, "alpha", 1.0)
    check_level(delta, "delta", 1.0)
    cases = LabelledCases.from_labels(clf, X, y, None, "error", None)
    n, n_classes = len(cases.codes), len(agent.classes)
    if not by_class:
        cases.check_enough(alpha, delta, rows_needed(alpha, delta))
    cases.check_fresh(clf, allow_seen)
    posterior = agent.acquire(cases.X).posterior
    own = posterior[np.arange(n), cases.codes]
    if by_class:
        limits = np.array([_limit(own[cases.codes == c], alpha, delta / n_classes) for c in range(n_classes)])
        if not limits.any():
            label = short_repr(agent.classes.tolist()[int(np.bincount(cases.codes).argmax())])
            least = rows_needed(alpha, delta / n_classes)
            raise ValueError(
                f"X has too few rows of every class for alpha={alpha:g} and delta={delta:g}, of {label} the most: a "
                f"class takes at least {least}."
            )
    else:
        limits = np.full(n_classes, _limit(own, alpha, delta))
    held = prediction_sets(posterior, limits)
    missed = float(1 - held[np.arange(n), cases.codes].mean())
    differential = Differential(float(alpha), float(delta), limits, n, missed, float(held.sum(axis=1).mean()), by_class)
    return copy_fitted(clf, replace(agent, differential=differential), keep_held_out=True)  # it asks what it asked


def _limit(own: FloatArray, alpha: float, delta: float) -> float:
    """A probability that no more than alpha of the cases are below, but for a chance of delta; 0 of too few."""
    rank = int(np.searchsorted(stats.binom.cdf(np.arange(len(own)), len(own), alpha), delta, side="right"))
    # a little below the probability that it was found at: rounding never leaves a class out
    return float(np.sort(own)[rank - 1]) * (1 - 1e-9) if rank else 0.0
