"""What a policy would have cost the people in records that another rule made."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student
from sklearn.utils.validation import check_is_fitted

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator, chunks
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.bn import ObservationModel
from seqclass.fitting._folds import assign_folds
from seqclass.offpolicy._completions import Completions, fitted_model
from seqclass.offpolicy._recorder import Chances, declared, fitted
from seqclass.offpolicy._records import NEVER, Records, read_records
from seqclass.offpolicy._replay import PARTS, Replayer
from seqclass.offpolicy.estimate import NAMES, Comparison, Estimate, Part

#: People of each class by whom the expected costs along a policy's paths are estimated.
_POOL = 1000


def direct_scores(
    records: Records, rows: IntArray, label: IntArray, completions: Completions, replayer: Replayer
) -> FloatArray:
    """Expected parts of some rows given all that was seen of each, and its class, (len(rows), n_parts)."""
    result = np.empty((len(rows), len(PARTS)))
    for part in chunks(len(rows), completions.n_samples * (16.0 * completions.asked.size + 200)):
        some = rows[part]
        drawn = completions.draw(records.codes[some], label[part], np.arange(len(some)))
        who = np.repeat(some, completions.n_samples)
        parts = replayer.run(drawn.reshape(len(who), -1), who).parts(records.label[who])
        result[part] = parts.reshape(len(some), completions.n_samples, -1).mean(axis=1)
    return result


def robust_scores(
    records: Records,
    rows: IntArray,
    label: IntArray,
    completions: Completions,
    replayer: Replayer,
    chances: Chances,
) -> FloatArray:
    """Doubly robust scores of some rows, (len(rows), n_parts)."""
    step, count = _steps(records, completions)
    pool, pool_label = _pool(completions, records, label, rows)
    result = np.empty((len(rows), len(PARTS)))
    longest = int(count[rows].max(initial=0)) + 1
    row_bytes = completions.asked.size * (100.0 + 40.0 * len(replayer.clf.classes_)) + 200
    for part in chunks(len(rows), longest * completions.n_samples * row_bytes):
        some = rows[part]
        n_steps = count[some] + 1
        first = np.cumsum(n_steps) - n_steps
        person = np.repeat(np.arange(len(some)), n_steps)
        at = np.arange(person.size) - np.repeat(first, n_steps)
        row = some[person]
        evidence = np.where(step[row] <= at[:, None], records.codes[row], -1)
        drawn = completions.draw(evidence, label[part][person], person).reshape(-1, records.asked.size)
        who = np.append(np.arange(len(pool)) % records.n, np.repeat(row, completions.n_samples))
        replay = replayer.run(np.concatenate([pool, drawn]), who)
        leaf = replay.leaf[len(pool) :].reshape(len(row), -1)
        increments = replay.increments(slice(len(pool)), pool_label)
        ranks = _ranks_by_step(records, step, some, longest)
        paths = replay.question[leaf]
        now = chances.along(row, paths, replayer.shows, ranks[person, at])
        later = chances.along(row, paths, replayer.shows, ranks[person, at + 1])
        last = at == n_steps[person] - 1
        change = np.where(last[:, None, None], now, now - later)
        change = np.concatenate([np.broadcast_to(last[:, None, None], (*leaf.shape, 1)), change], axis=2)
        value = increments[leaf, :, records.label[row][:, None]]
        terms = np.einsum("emt,emtp->ep", change, value) / completions.n_samples
        result[part] = np.add.reduceat(terms, first)
    return result


def _pool(completions: Completions, records: Records, label: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """People that the model makes up, of each class of some rows: outcomes of what may be asked for, and classes."""
    classes, at = np.unique(records.label[rows], return_index=True)
    nothing = np.full((classes.size, records.codes.shape[1]), -1, dtype=records.codes.dtype)
    drawn = completions.draw(nothing, label[at], np.arange(classes.size), _POOL)
    return drawn.reshape(-1, records.asked.size), np.repeat(classes, _POOL)


def _steps(records: Records, completions: Completions) -> tuple[IntArray, IntArray]:
    """Step at which each feature of the model was revealed, (n, m), 0 at once, NEVER if not; and how many steps."""
    seen, rank = records.seen[:, records.support], records.rank[:, records.support]
    moving = seen if records.stepwise else seen & ~records.always[records.support]
    if completions.independent:  # what the policy does not ask for changes nothing
        moving = moving & np.isin(np.arange(len(records.support)), records.asked)
    order = np.argsort(np.where(moving, rank, NEVER), axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(order.shape[1])[None, :], axis=1)
    return np.where(moving, place + 1, np.where(seen, 0, NEVER)), moving.sum(axis=1)


def _ranks_by_step(records: Records, step: IntArray, rows: IntArray, longest: int) -> IntArray:
    """The recorder's rank at each step of some rows, (len(rows), longest + 1); -1 before the first."""
    ranks = np.full((len(rows), longest + 1), -1)
    who, feature = np.nonzero((step[rows] > 0) & (step[rows] < NEVER))
    ranks[who, step[rows][who, feature]] = records.rank[rows][who, records.support[feature]]
    return ranks


#: Parameters of a rule are allowed for in standard errors while there are so many rows to each.
_ROWS_A_PARAMETER = 4
#: Methods whose weights have a mean of one, where everybody had a chance.
_OF_ONE = ("ipw", "ipw_plain", "doubly_robust")


@dataclass(frozen=True)
class Support:
    """How far records reach: rows, the share that can be replayed, and the share that nothing is known about."""

    n_rows: int
    replayed: float
    unsupported: float

    @classmethod
    def of(cls, records: Records, missing: BoolArray, chances: Chances, min_chance: float) -> Support:
        """Look at what the policy asks for and was not recorded: the chance that all of it is."""
        chance = np.where(missing, chances.chance[:, records.support[records.asked]], 1.0).prod(axis=1)
        unsupported = missing.any(axis=1) & (chance < min_chance)
        return cls(records.n, float((~missing.any(axis=1)).mean()), float(unsupported.mean()))

    def check(self, weights: FloatArray) -> None:
        """Refuse records of which nothing counts."""
        if not weights.any():
            raise ValueError(
                f"none of the {self.n_rows} rows of X has all that the policy asks for: these records say nothing "
                'about it without a model (method="direct"). Judge one that asks less, or bring more records.'
            )


def ratio_scores(parts: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted means, and scores of the rows whose variance is that of the means."""
    means = weights @ parts / weights.sum()
    share = np.minimum(weights / weights.sum(), 0.5)
    return means, means + (weights / (1 - share))[:, None] * (parts - means) / weights.mean()


def estimated(
    method: str,
    means: FloatArray,
    scores: FloatArray,
    weights: FloatArray,
    gradients: FloatArray | None,
    level: float,
    support: Support,
) -> Estimate:
    """Means with t intervals from scores of the rows; the rule's fit takes off what its own scores explain."""
    n, effective = len(scores), float(weights.sum() ** 2 / (weights**2).sum())
    errors = _standard_errors(scores - scores.mean(axis=0), gradients)
    reach = float(student.ppf(0.5 + level / 2, effective - 1)) if effective > 1 else np.nan
    ends = np.maximum([means, means - reach * errors, means + reach * errors], 0.0)  # prices and errors are no less
    parts = tuple(
        Part(name, float(mean), float(error), float(low), float(high))
        for name, mean, error, low, high in zip(PARTS, ends[0], errors, *ends[1:])
    )
    about = (support.replayed, support.unsupported, effective, float(weights.max() / weights.mean()))
    counted = int((weights > 0).sum())
    # plain weights have a mean of one over what the recorder may do; twice their standard error is chance
    lacking = float(1 - weights.mean() - 2 * weights.std() / np.sqrt(n)) if method in _OF_ONE else 0.0
    return Estimate(method, parts, float(level), n, counted, *about, max(0.0, lacking))


def _standard_errors(residuals: FloatArray, gradients: FloatArray | None) -> FloatArray:
    n, used = len(residuals), 1
    if n < 2:
        return np.full(residuals.shape[1], np.nan)
    if gradients is not None and gradients.size and _ROWS_A_PARAMETER * gradients.shape[1] <= n:
        explained, _, rank, _ = np.linalg.lstsq(gradients, residuals, rcond=None)
        residuals, used = residuals - gradients @ explained, 1 + int(rank)
    return np.asarray(np.sqrt((residuals**2).sum(axis=0) / (n * (n - used))))


__all__ = ["METHODS", "compare", "evaluate"]


#: The methods, the first by default.
METHODS = tuple(NAMES)


def evaluate(
    clf: DecidingClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    method: str = "doubly_robust",
    recording: Any = None,
    order: Any = None,
    model: ObservationModel | None = None,
    level: float = 0.95,
    n_folds: int = 5,
    n_samples: int = 50,
    min_chance: float = 0.01,
    random_state: Any = 0,
    allow_seen: bool = False,
) -> Estimate:
    """Estimate what a policy would have cost the people in records, whose cells are missing for a reason.

    Somebody's rule decided what was recorded of whom. A cell that is missing is taken as unknown, not as unavailable:
    the policy would have been told it. What the estimate rests on is that what was recorded next depended on nothing
    but what had been seen until then (and the class, which the fitted rule looks at as well), that everybody had a
    chance to have recorded what the policy asks of them, and that values do not depend on when they were asked for. So
    a row on which all is recorded that the policy asks for can be replayed, whatever else was recorded, and in
    whatever order.

    Parameters
    ----------
    clf : SequentialClassifier or AdaptiveClassifier
        A fitted classifier, whose policy is to be judged.
    X : array-like or data frame of shape (n, n_features)
        Records that it was not fitted to, NaN where nothing was recorded.
    y : array-like of shape (n,)
        Their labels, known of everybody.
    method : str
        ``"doubly_robust"``: the model's expectation, corrected by weighted surprises; right if either the rule or the
        model is. ``"ipw"``: rows that can be replayed, by the inverse of their chance, self-normalised (Hajek);
        ``"ipw_plain"``: divided by the number of rows instead. ``"direct"``: missing cells drawn from the model.
        ``"complete"`` (rows that have all that the policy may ask for) and ``"blocked"`` (what is missing was not
        available) are common, and biased.
    recording : array-like of shape (n, n_features), callable, classifier or None
        The rule: the probability of each cell to be recorded, given whatever it depended on, unseen values and the
        label included; a function of (X as numbers, y) that gives such an array; or a scikit-learn classifier that is
        fitted for each column to what comes before it, to other rows than those it tells of unless it is linear. None:
        logistic regression, or gradient boosting where rows held out are likelier by it beyond chance.
    order : array-like, optional
        Columns, as numbers or names, in the order in which the recorder came to them; by default those that are
        recorded most come first. Or an integer array of shape (n, most), the columns that each row has in the order of
        purchase and -1 beyond the last: the rule then is whether the recorder went on, and probabilities in
        ``recording`` are those of going on before each cell that was bought, and at the stop of any other.
    model : ObservationModel, optional
        Unfitted model for what was not recorded; by default of the classifier's kind. It is fitted to the records of
        other folds.
    level : float
        Coverage of the intervals.
    n_folds : int
        Folds in which rule and model are fitted for ``"doubly_robust"``, the model for ``"direct"``.
    n_samples : int
        Draws of what is missing, of each row at each step of the recorder. Few add noise, and no bias.
    min_chance : float
        Chance of what is missing to be recorded below which such people count as ones of whom it could not be; see
        `Estimate.unsupported`.
    random_state : int, generator or None
        Seed of folds and draws.
    allow_seen : bool
        Whether to take rows that look like those of the fit all the same.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If rows were used in fitting, no row has what the policy asks for, a feature that it may ask for was recorded of
        nobody, or rule, order or labels do not fit the records.

    Notes
    -----
    A row's weight is the product of 1 / P(recorded | what had been seen) over what the policy asks of it. Its mean over
    what the recorder does is one whatever the values are, which is all that unbiasedness takes; rows that cannot be
    replayed have weight 0. The doubly robust score is E[weight x cost] before anything is seen, under the model, plus
    the change of this expectation at every cell that was revealed. Standard errors allow for a fitted logistic rule.

    References
    ----------
    .. [1] H. von Kleist, A. Zamanian, I. Shpitser and N. Ahmidi, "Evaluation of active feature acquisition methods for
       static feature settings", arXiv 2312.03619, 2023.
    .. [2] H. von Kleist, A. Zamanian, I. Shpitser and N. Ahmidi, "Evaluation of active feature acquisition methods for
       time-varying feature settings", arXiv 2312.01530, 2023.
    .. [3] J. M. Robins, A. Rotnitzky and L. P. Zhao, "Estimation of regression coefficients when some regressors are
       not always observed", Journal of the American Statistical Association 89, 1994.

    Examples
    --------
    The second feature was recorded only of some, mostly where the first one was high:

    >>> import numpy as np
    >>> import seqclass
    >>> from seqclass import offpolicy
    >>> from seqclass.metrics import score_rows
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> X = (rng.random((2000, 2)) < np.where(y == 1, 0.8, 0.3)[:, None]).astype(float)
    >>> clf = seqclass.SequentialClassifier(feature_costs=0.05).fit(X[:1000], y[:1000])
    >>> records = X[1000:].copy()
    >>> records[rng.random(1000) > np.where(records[:, 0] == 1, 0.8, 0.3), 1] = np.nan
    >>> found = offpolicy.evaluate(clf, records, y[1000:])
    >>> truth = score_rows(clf, X[1000:], y[1000:]).realised_cost
    >>> found.interval[0] < truth < found.interval[1]
    True
    """
    check_choice(method, "method", METHODS)
    return compare(
        clf,
        X,
        y,
        methods=(method,),
        recording=recording,
        order=order,
        model=model,
        level=level,
        n_folds=n_folds,
        n_samples=n_samples,
        min_chance=min_chance,
        random_state=random_state,
        allow_seen=allow_seen,
    )[method]


def compare(
    clf: DecidingClassifier,
    X: Any,
    y: npt.ArrayLike,
    *,
    methods: Sequence[str] = METHODS,
    recording: Any = None,
    order: Any = None,
    model: ObservationModel | None = None,
    level: float = 0.95,
    n_folds: int = 5,
    n_samples: int = 50,
    min_chance: float = 0.01,
    random_state: Any = 0,
    allow_seen: bool = False,
) -> Comparison:
    """Estimate what a policy would have cost by several methods; see `evaluate`.

    Parameters
    ----------
    clf, X, y, recording, order, model, level, n_folds, n_samples, min_chance, random_state, allow_seen
        See `evaluate`.
    methods : sequence of str
        The methods, by default all.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        As `evaluate` does.

    Examples
    --------
    >>> import numpy as np
    >>> import seqclass
    >>> from seqclass import offpolicy
    >>> X, y = np.repeat([[0.0, 5.0], [1.0, 5.0]], 40, axis=0), np.repeat(["a", "b"], 40)
    >>> clf = seqclass.SequentialClassifier().fit(X[::2], y[::2])
    >>> found = offpolicy.compare(clf, X[1::2], y[1::2], methods=["ipw", "complete"], allow_seen=True)
    >>> round(found["ipw"].cost, 6), round(found["complete"].cost, 6)
    (0.01, 0.01)
    """
    check_is_fitted(clf, "policy_")
    for method in methods:
        check_choice(method, "methods", METHODS)
    check_real(level, "level", 0, 1)
    check_integer(n_folds, "n_folds", 2)
    check_integer(n_samples, "n_samples", 1)
    check_real(min_chance, "min_chance", 0, 1)
    records = read_records(clf, X, y, order, allow_seen)
    rng = as_generator(random_state, "off-policy")
    study = _Study(clf, records, recording, model, n_folds, n_samples, rng)
    support = Support.of(records, study.missing, study.chances, min_chance)
    found = Comparison(tuple(study.estimate(method, level, support) for method in methods))
    for text in dict.fromkeys(text for estimate in found.estimates for text in estimate.warnings):
        warnings.warn(text, UserWarning, stacklevel=2)
    return found


class _Study:
    """Records, the policy's replay of them, and the recorder's rule, from which every method estimates."""

    def __init__(
        self,
        clf: DecidingClassifier,
        records: Records,
        recording: Any,
        model: ObservationModel | None,
        n_folds: int,
        n_samples: int,
        rng: np.random.Generator,
    ) -> None:
        self.clf, self.records, self.recording, self.model = clf, records, recording, model
        self.n_samples, self.rng = n_samples, rng
        self.replayer = Replayer(clf, records.asked, records.n, rng)
        self.n_folds, self.seed = n_folds, int(rng.integers(2**31))
        self.given = recording is not None and not hasattr(recording, "fit")
        self.labels = clf.classes_[records.label]
        self.chances = (
            declared(records, recording, self.labels) if self.given else fitted(records, recording, seed=self.seed)
        )
        everyone = np.arange(records.n)
        codes = records.codes[:, records.asked]
        replay = self.replayer.run(codes, everyone)
        self.parts, self.missing = replay.parts(records.label), self.replayer.missing(replay, codes)
        paths = replay.question[replay.leaf][:, None]
        ends = self.chances.along(everyone, paths, self.replayer.shows)[:, 0]
        self.weights: FloatArray = ends[:, -1] if ends.shape[1] else np.ones(records.n)

    def estimate(self, method: str, level: float, support: Support) -> Estimate:
        """Estimate by one method."""
        parts = self.parts
        weights = self.weights
        if method in ("ipw", "ipw_plain", "complete"):
            weights = self._complete() if method == "complete" else weights
            support.check(weights)
            plain = method == "ipw_plain"
            means, scores = (parts * weights[:, None]).mean(axis=0), parts * weights[:, None]
            if not plain:
                means, scores = ratio_scores(parts, weights)
            gradients = self.chances.scores if method != "complete" else None
            return estimated(method, means, scores, weights, gradients, level, support)
        ones = np.ones(self.records.n)
        if method == "blocked":
            return estimated(method, parts.mean(axis=0), parts, ones, None, level, support)
        scores = self._crossed(method)
        weights = weights if method == "doubly_robust" else ones
        return estimated(method, scores.mean(axis=0), scores, weights, None, level, support)

    def _complete(self) -> FloatArray:
        """Weight 1 of the rows that have all that the policy may ask for."""
        return np.asarray((self.records.codes[:, self.records.asked] >= 0).all(axis=1), dtype=np.float64)

    def _crossed(self, method: str) -> FloatArray:
        """Scores of every row, by a rule and a model that were fitted to the other folds."""
        records, everyone = self.records, np.arange(self.records.n)
        scores: FloatArray = self.parts.copy()
        if not (self.missing.any() or (method == "doubly_robust" and (self.weights != 1).any())):
            return scores
        fold = assign_folds(self.labels, self.n_folds, self.seed) if np.bincount(records.label).max() > 1 else -1
        fold = np.broadcast_to(fold, records.n)
        for number in np.unique(fold).tolist():
            rows = np.flatnonzero(fold == number)
            train = everyone if number < 0 else np.flatnonzero(fold != number)
            model = fitted_model(self.clf, self.model, records, train)
            label = np.searchsorted(model.classes_, self.labels[rows])
            completions = Completions(model, records.asked, self.n_samples, self.rng)
            if method == "direct":
                scores[rows] = direct_scores(records, rows, label, completions, self.replayer)
            else:
                chances = self._chances(train)
                scores[rows] = robust_scores(records, rows, label, completions, self.replayer, chances)
        return scores

    def _chances(self, train: IntArray) -> Chances:
        return self.chances if self.given else fitted(self.records, self.recording, train, self.chances)
