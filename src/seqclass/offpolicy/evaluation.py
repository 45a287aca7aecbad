"""Estimates of what a policy would have cost the people in records that another rule made."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.base import clone

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator, chunks, draw_columns
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.agent.agent import agent_of, check_classifier
from seqclass.bn import ObservationModel
from seqclass.fitting._folds import assign_folds
from seqclass.offpolicy._records import (
    NEVER,
    Chances,
    Records,
    chances_in_order,
    check_chances,
    fit_chances,
    read_records,
)
from seqclass.offpolicy.estimate import NAMES, Estimate, Estimates, MeanEstimate
from seqclass.pomdp import acquire

#: What is estimated of a policy, the last axis of `Replay.leaf_parts`.
PARTS = ("cost", "price", "decision_cost", "error", "n_features")


@dataclass(frozen=True, eq=False)
class Replay:
    """What a policy did with N rows, which end at L leaves."""

    leaf: IntArray  # (N,)
    question: IntArray  # (L, T) asked in turn, -1 beyond the stop
    outcome: IntArray  # (L, T) what was shown
    leaf_parts: FloatArray  # (L, n_classes, n_parts) given the class

    def parts(self, label: IntArray) -> FloatArray:
        """What each row costs, (N, n_parts)."""
        return np.asarray(self.leaf_parts[self.leaf, label])

    def increments(self, pool: slice, label: IntArray) -> FloatArray:
        """How each answer changes what a policy is expected to cost given the class, (L, T + 1, n_classes, n_parts)."""
        n_leaves, n_classes = self.leaf_parts.shape[:2]
        count = np.zeros((n_leaves, n_classes))
        np.add.at(count, (self.leaf[pool], label), 1.0)
        node: IntArray = np.zeros(n_leaves, dtype=np.intp)
        expected = [self._means(node, count, np.zeros((1, 1, 1)))]
        for question, outcome in zip(self.question.T, self.outcome.T):
            key = np.stack([node, question, outcome], axis=1)
            node = np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
            expected.append(self._means(node, count, expected[-1]))
        expected[-1] = self.leaf_parts
        made = np.stack(expected, axis=1)
        made[:, 1:] = np.diff(made, axis=1)
        return made

    def _means(self, node: IntArray, count: FloatArray, otherwise: FloatArray) -> FloatArray:
        total = np.zeros((int(node.max(initial=0)) + 1, *self.leaf_parts.shape[1:]))
        number = np.zeros(total.shape[:2])
        np.add.at(total, node, self.leaf_parts * count[:, :, None])
        np.add.at(number, node, count)
        with np.errstate(invalid="ignore"):
            mean = total / number[:, :, None]
        return np.where(number[node][:, :, None] > 0, mean[node], otherwise)


class Replayer:
    """Runs the policy of a classifier, with a lot for each person where it draws lots."""

    def __init__(self, clf: BaseSequentialClassifier, asked: IntArray, n: int, rng: np.random.Generator) -> None:
        if agent_of(clf).known.size:
            raise ValueError(
                "the classifier knows columns at the start (known), which evaluation from logs does not read; fit one "
                "without known, with a price of 0 for these columns."
            )
        if (clf.coder_.missing_code >= 0).any():
            raise ValueError(
                'the classifier learns from missing cells (missing="informative"), and in records a cell is also '
                'missing where nobody asked; fit one with missing="ignored".'
            )
        self.clf = clf
        self.keys = rng.random((n, 1))
        self.column = np.zeros(clf.support_.size, dtype=np.intp)
        self.column[asked] = np.arange(asked.size)
        problem = clf.problem_
        members = [self.column[np.intersect1d(problem.structure.members(q), asked)] for q in range(problem.n_questions)]
        #: Which features each question shows, among those that may be asked for, (n_questions, n_asked).
        self.shows: BoolArray = np.array([np.isin(np.arange(asked.size), some) for some in members]).reshape(
            problem.n_questions, asked.size
        )

    def run(self, codes: IntArray, person: IntArray) -> Replay:
        """Run it on outcomes (N, n_asked) of the features that it may ask for."""
        clf, keys = self.clf, self.keys[person]
        acquired = acquire(
            clf.policy_, codes, columns=self.column, charge_missing=agent_of(clf).charge_missing, keys=keys
        )
        decision, classes = acquired.leaf_decision, np.arange(len(clf.classes_))
        price = np.broadcast_to(acquired.leaf_price[:, None], (len(decision), classes.size))
        decided = clf.decision_costs_.T[decision]
        wrong = (decision[:, None] != classes) & (decision[:, None] < classes.size)
        count = np.broadcast_to((acquired.leaf_outcome >= 0).sum(axis=1)[:, None], price.shape)
        parts = np.stack([price + decided, price, decided, wrong, count], axis=2).astype(np.float64)
        return Replay(acquired.leaf, acquired.leaf_question, acquired.leaf_outcome, parts)

    def missing_answers(self, replay: Replay, codes: IntArray) -> BoolArray:
        """Whether each feature was asked for of a row and not there, (N, n_asked)."""
        asked = np.zeros((len(replay.question), self.shows.shape[1]), dtype=bool)
        for questions in replay.question.T:
            some = questions >= 0
            asked[some] |= self.shows[questions[some]]
        return np.asarray(asked[replay.leaf] & (codes < 0))


def fit_model(
    clf: BaseSequentialClassifier, model: ObservationModel | None, records: Records, train: IntArray
) -> ObservationModel:
    """A model of the classifier's kind, or the one given, fitted to some of the records."""
    if model is None and getattr(clf, "prefit", False):  # adaptive never is
        return clf.model_
    bundles = agent_of(clf).prices.take(records.support).bundles
    if model is None:  # what it names are features of the model already
        unfitted = clone(clf.model_)._note_columns(np.arange(records.support.size), None, bundles)
    else:
        names = getattr(clf, "feature_names_in_", None)
        unfitted = clone(model)._note_columns(records.support, names, bundles)
    labels = clf.classes_[records.label[train]]
    fitted: ObservationModel = unfitted.fit(
        records.codes[train], labels, n_outcomes=clf.coder_.n_outcomes_[records.support]
    )
    return fitted


class Completions:
    """Draws of the features that a policy may ask for, given some that were seen and the class."""

    def __init__(self, model: ObservationModel, asked: IntArray, n_samples: int, rng: np.random.Generator) -> None:
        self.model = model
        self.asked = asked
        self.n_samples = n_samples
        self.rng = rng
        #: Whether features are independent given the class, so that one draw serves whatever was seen.
        self.independent = not any(features.size for features in model.context_features(asked))

    def draw(self, evidence: IntArray, label: IntArray, person: IntArray, n_samples: int | None = None) -> IntArray:
        """Draw ``n_samples`` completions of each row of evidence, (n_rows, n_samples, n_asked).

        ``label`` are positions in the model's classes, ``person`` says whose evidence each row is: one person's draws
        rest on the same random numbers.
        """
        uniforms = self.rng.random((int(person.max(initial=-1)) + 1, n_samples or self.n_samples, self.asked.size))
        made = self._independent if self.independent else self._sequential
        return made(evidence, label, person, uniforms)

    def _independent(self, evidence: IntArray, label: IntArray, person: IntArray, uniforms: FloatArray) -> IntArray:
        seen = evidence[:, None, self.asked]
        cumulated = self.model.likelihood_table(self.asked).cumsum(axis=1)  # (n_asked, V, n_classes)
        of_person = np.zeros(len(uniforms), dtype=np.intp)
        of_person[person] = label
        drawn = np.zeros(uniforms.shape, dtype=evidence.dtype)
        for outcome in range(cumulated.shape[1] - 1):
            level = cumulated[:, outcome][:, of_person].T[:, None]
            more = level <= uniforms * cumulated[:, -1][:, of_person].T[:, None]
            drawn += more & (outcome + 1 < self.model.n_outcomes_[self.asked])
        return np.where(seen >= 0, seen, drawn[person])

    def _sequential(self, evidence: IntArray, label: IntArray, person: IntArray, uniforms: FloatArray) -> IntArray:
        state = self.model.start(len(evidence))
        for feature in range(evidence.shape[1]):
            state = self.model.advance(feature, state, evidence[:, feature])
        row = np.repeat(np.arange(len(evidence)), uniforms.shape[1])
        state, label, levels = state[row], label[row], uniforms[person].reshape(len(row), -1)
        values = evidence[:, self.asked][row]
        for place, feature in enumerate(self.asked.tolist()):
            at = np.flatnonzero(values[:, place] < 0)
            shown = np.full(len(row), -1)
            if at.size:
                likelihood = self.model._check_stage_likelihood(feature, state[at])
                shown[at] = draw_columns(likelihood[np.arange(at.size), :, label[at]], levels[at, place])
                values[at, place] = shown[at]
            state = self.model.advance(feature, state, shown)
        return values.reshape(len(evidence), uniforms.shape[1], -1)


def robust_scores(
    records: Records,
    rows: IntArray,
    label: IntArray,
    completions: Completions,
    replayer: Replayer,
    chances: Chances,
) -> FloatArray:
    """Doubly robust scores of some rows, (len(rows), n_parts)."""
    step, count = _steps(records, completions, chances)
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
        now = chances.inverse_probability(row, paths, replayer.shows, ranks[person, at])
        later = chances.inverse_probability(row, paths, replayer.shows, ranks[person, at + 1])
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
    n_people = 1000  # of each class, by whom the expected costs along a policy's paths are estimated
    drawn = completions.draw(nothing, label[at], np.arange(classes.size), n_people)
    return drawn.reshape(-1, records.asked.size), np.repeat(classes, n_people)


def _steps(records: Records, completions: Completions, chances: Chances) -> tuple[IntArray, IntArray]:
    """Step at which each feature of the model was revealed, (n, m), 0 at once, NEVER if not; and how many steps."""
    seen, rank = records.seen[:, records.support], records.rank[:, records.support]
    moving = seen if records.stepwise else seen & ~chances.certain[records.support]
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


#: Methods whose weights have a mean of one, where everybody had a chance.
_OF_ONE = ("ipw", "ipw_plain", "doubly_robust")


def ratio_scores(parts: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted means, and scores of the rows whose variance is that of the means."""
    means = weights @ parts / weights.sum()
    share = np.minimum(weights / weights.sum(), 0.5)
    return means, means + (weights / (1 - share))[:, None] * (parts - means) / weights.mean()


def _standard_errors(residuals: FloatArray, gradients: FloatArray | None) -> FloatArray:
    n, used = len(residuals), 1
    if n < 2:
        return np.full(residuals.shape[1], np.nan)
    # parameters of a rule are allowed for where there are four rows to each
    if gradients is not None and gradients.size and 4 * gradients.shape[1] <= n:
        explained, _, rank, _ = np.linalg.lstsq(gradients, residuals, rcond=None)
        residuals, used = residuals - gradients @ explained, 1 + int(rank)
    return np.asarray(np.sqrt((residuals**2).sum(axis=0) / (n * (n - used))))


#: The methods, the first by default.
METHODS = tuple(NAMES)


def estimate_cost(
    clf: BaseSequentialClassifier,
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

    Somebody's rule decided what was recorded about whom. A missing cell is taken as unknown rather than unavailable:
    the policy would have got its value. The estimate rests on three assumptions. What was recorded next depended only
    on what had been seen until then (and on the class, which the fitted rule looks at as well). For everybody there was
    a chance that what the policy asks of them was recorded. Values do not depend on when they were asked for. A row in
    which everything is recorded that the policy asks for can therefore be replayed, whatever else was recorded and in
    whatever order.

    Parameters
    ----------
    clf : SequentialClassifier or AdaptiveClassifier
        A fitted classifier, whose policy is to be evaluated.
    X : array-like or data frame of shape (n, n_features)
        Records that it was not fitted to, NaN where nothing was recorded.
    y : array-like of shape (n,)
        Labels of these rows, known for everybody.
    method : str
        ``"doubly_robust"``: the model's expectation, corrected by weighted surprises; right if either the rule or the
        model is. ``"ipw"``: rows that can be replayed, weighted by the inverse of their chance and self-normalised
        (Hajek); ``"ipw_plain"``: the same divided by the number of rows instead. ``"direct"``: missing cells are drawn
        from the model. ``"complete"`` (only rows that have everything the policy may ask for) and ``"blocked"`` (what
        is missing counts as not available) are common, but biased.
    recording : array-like of shape (n, n_features), callable, classifier or None
        The rule: an array with the probability that each cell of ``X`` was recorded (a data frame by its names), given
        whatever that depended on, unseen values and the label included; a function of (X as numbers, y) that returns
        such an array, in the columns of the fit; or a scikit-learn classifier. The classifier is fitted for each column
        to what comes before it and, unless it is linear, on other rows than those it predicts. None: logistic
        regression, or gradient boosting if that makes held-out rows likelier, beyond chance.
    order : array-like, optional
        Columns of ``X``, as numbers or names, in the order in which the recorder came to them; by default the most
        recorded columns come first. Or an integer array of shape (n, most): the columns of each row in the order in
        which they were bought, and -1 beyond the last. The rule then is whether the recorder went on: probabilities in
        ``recording`` are those of going on, before each cell that was bought and, in all other cells, at the stop.
    model : ObservationModel, optional
        Unfitted model for what was not recorded; by default of the same kind as the classifier's. It is fitted to the
        records of other folds.
    level : float
        Coverage of the intervals.
    n_folds : int
        Number of folds in which rule and model are fitted for ``"doubly_robust"``, and the model for ``"direct"``.
    n_samples : int
        Number of draws of what is missing, for each row at each step of the recorder. Few draws add noise but no bias.
    min_chance : float
        People whose missing cells had a chance of being recorded below this count as unsupported; see
        `Estimate.unsupported`.
    random_state : int, generator or None
        Seed of folds and draws.
    allow_seen : bool
        Whether to accept rows that look like rows of the fit.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If rows were used in fitting, no row has what the policy asks for, a feature that it may ask for was recorded
        for nobody, or rule, order or labels do not match the records.

    Notes
    -----
    The weight of a row is the product of 1 / P(recorded | what had been seen) over what the policy asks of it; rows
    that cannot be replayed have weight 0. Averaged over what the recorder may do it is one, whatever the values are,
    and no more is needed for unbiasedness. The doubly robust score is E[weight x cost] under the model before anything
    is seen, plus the change of this expectation at every cell that was revealed. Standard errors allow for a fitted
    logistic rule.

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
    The second feature was recorded only for some people, mostly where the first one was high:

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
    >>> found = offpolicy.estimate_cost(clf, records, y[1000:])
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
    clf: BaseSequentialClassifier,
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
) -> Estimates:
    """Estimate by several methods what a policy would have cost; see `estimate_cost`.

    Parameters
    ----------
    clf, X, y, recording, order, model, level, n_folds, n_samples, min_chance, random_state, allow_seen
        See `estimate_cost`.
    methods : sequence of str
        Names of the methods; by default all.

    Returns
    -------
    Estimates

    Raises
    ------
    ValueError
        As `estimate_cost` does.

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
    check_classifier(clf)
    for method in methods:
        check_choice(method, "methods", METHODS)
    check_real(level, "level", 0, 1)
    check_integer(n_folds, "n_folds", 2)
    check_integer(n_samples, "n_samples", 1)
    check_real(min_chance, "min_chance", 0, 1)
    records = read_records(clf, X, y, order, allow_seen)
    if recording is not None and not callable(recording) and not hasattr(recording, "fit"):
        recording = chances_in_order(clf, X, recording)
    rng = as_generator(random_state, "off-policy")
    study = _Study(clf, records, recording, model, level, n_folds, n_samples, min_chance, rng)
    estimates = Estimates(tuple(map(study.estimate, methods)))
    for text in dict.fromkeys(text for estimate in estimates.estimates for text in estimate.warnings):
        warnings.warn(text, UserWarning, stacklevel=2)
    return estimates


@dataclass(eq=False)
class _Study:
    """Records, the policy's replay of them, and the recorder's rule, from which every method estimates."""

    clf: BaseSequentialClassifier
    records: Records
    recording: Any
    model: ObservationModel | None
    level: float
    n_folds: int
    n_samples: int
    min_chance: float
    rng: np.random.Generator

    def __post_init__(self) -> None:
        clf, records = self.clf, self.records
        self.replayer = Replayer(clf, records.asked, records.n, self.rng)
        self.seed = int(self.rng.integers(2**31))
        self.given = self.recording is not None and not hasattr(self.recording, "fit")
        self.labels = clf.classes_[records.label]
        if self.given:
            self.chances = check_chances(records, self.recording, self.labels)
        else:
            self.chances = fit_chances(records, self.recording, seed=self.seed)
        everyone = np.arange(records.n)
        codes = records.codes[:, records.asked]
        replay = self.replayer.run(codes, everyone)
        self.parts, self.missing = replay.parts(records.label), self.replayer.missing_answers(replay, codes)
        paths = replay.question[replay.leaf][:, None]
        ends = self.chances.inverse_probability(everyone, paths, self.replayer.shows)[:, 0]
        price, decided = float(clf.problem_.full_prices.sum()), float(clf.decision_costs_.max())
        #: What no part of a mean can be above.
        self.most: FloatArray = np.array([price + decided, price, decided, 1.0, clf.problem_.n_questions])
        self.weights: FloatArray = ends[:, -1] if ends.shape[1] else np.ones(records.n)

    def estimate(self, method: str) -> Estimate:
        """Estimate by one method."""
        weights, gradients = self.weights, None
        if method == "complete":  # weight 1 of the rows that have all that the policy may ask for
            weights = np.asarray((self.records.codes[:, self.records.asked] >= 0).all(axis=1), dtype=np.float64)
        elif method in ("ipw", "ipw_plain"):
            gradients = self.chances.scores
        elif method != "doubly_robust":
            weights = np.ones(self.records.n)
        if method in ("ipw", "ipw_plain", "complete"):
            if not weights.any():
                raise ValueError(
                    "no row of X has all that the policy asks for: these records say nothing about it without a model "
                    '(method="direct"). Judge one that asks less, or bring more records.'
                )
            scores = self.parts * weights[:, None]
        else:
            scores = self.parts if method == "blocked" else self._cross_fit_scores(method)
        means = np.asarray(scores.mean(axis=0))
        if method in ("ipw", "complete"):
            means, scores = ratio_scores(self.parts, weights)
        errors = _standard_errors(scores - scores.mean(axis=0), gradients)
        return self._with_intervals(method, means, errors, weights)

    def _with_intervals(self, method: str, means: FloatArray, errors: FloatArray, weights: FloatArray) -> Estimate:
        """Means with t intervals, and how far the records support them."""
        n, effective = self.records.n, float(weights.sum() ** 2 / (weights**2).sum())
        reach = float(stats.t.ppf(0.5 + self.level / 2, effective - 1)) if effective > 1 else np.nan
        # no interval holds less often for ends within what can be; an estimate that was cut would be biased
        low = np.fmin(np.fmax(means - reach * errors, 0.0), self.most)
        high = np.fmax(np.fmin(means + reach * errors, self.most), 0.0)
        parts = tuple(
            MeanEstimate(name, float(mean), float(error), float(least), float(top))
            for name, mean, error, least, top in zip(PARTS, means, errors, low, high)
        )
        # what the policy asks for and was not recorded, and the chance that all of it is
        chance = np.where(self.missing, self.chances.chance[:, self.records.support[self.records.asked]], 1.0)
        lacks = self.missing.any(axis=1)
        support = float((~lacks).mean()), float((lacks & (chance.prod(axis=1) < self.min_chance)).mean())
        largest, counted = float(weights.max() / weights.mean()), int((weights > 0).sum())
        # plain weights have a mean of one over what the recorder may do; twice their standard error is chance
        lacking = float(1 - weights.mean() - 2 * weights.std() / np.sqrt(n)) if method in _OF_ONE else 0.0
        return Estimate(method, parts, float(self.level), n, counted, *support, effective, largest, max(0.0, lacking))

    def _cross_fit_scores(self, method: str) -> FloatArray:
        """Scores of every row, by a rule and a model that were fitted to the other folds."""
        records, everyone = self.records, np.arange(self.records.n)
        scores: FloatArray = self.parts.copy()
        if not (self.missing.any() or (method == "doubly_robust" and (self.weights != 1).any())):
            return scores
        fold = assign_folds(self.labels, self.n_folds, self.seed) if np.bincount(records.label).max() > 1 else -1
        fold, rng = np.broadcast_to(fold, records.n), copy.deepcopy(self.rng)  # whichever methods came before
        for number in np.unique(fold).tolist():
            rows = np.flatnonzero(fold == number)
            train = everyone if number < 0 else np.flatnonzero(fold != number)
            model = fit_model(self.clf, self.model, records, train)
            label = np.searchsorted(model.classes_, self.labels[rows])
            completions = Completions(model, records.asked, self.n_samples, rng)
            if method == "direct":
                scores[rows] = self._direct_scores(rows, label, completions)
            else:
                chances = self.chances if self.given else fit_chances(records, self.recording, train, self.chances)
                scores[rows] = robust_scores(records, rows, label, completions, self.replayer, chances)
        return scores

    def _direct_scores(self, rows: IntArray, label: IntArray, completions: Completions) -> FloatArray:
        """Expected parts of some rows given all that was seen of each, and its class, (len(rows), n_parts)."""
        records, result = self.records, np.empty((len(rows), len(PARTS)))
        for part in chunks(len(rows), self.n_samples * (16.0 * records.asked.size + 200)):
            some = rows[part]
            drawn = completions.draw(records.codes[some], label[part], np.arange(len(some)))
            who = np.repeat(some, self.n_samples)
            parts = self.replayer.run(drawn.reshape(len(who), -1), who).parts(records.label[who])
            result[part] = parts.reshape(len(some), self.n_samples, -1).mean(axis=1)
        return result
