"""What a policy would have cost the people in records that another rule made."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray, IntArray, as_generator
from seqclass._held_out import assign_folds
from seqclass._validation import check_choice, check_integer, check_real
from seqclass.bn import ObservationModel
from seqclass.classifier import SequentialClassifier
from seqclass.offpolicy._completions import Completions, fitted_model
from seqclass.offpolicy._estimating import Support, estimated, ratio_scores
from seqclass.offpolicy._recorder import Chances, declared, fitted
from seqclass.offpolicy._records import Records, read_records
from seqclass.offpolicy._replay import Replayer
from seqclass.offpolicy._robust import direct_scores, robust_scores
from seqclass.offpolicy.estimate import NAMES, Comparison, Estimate

#: The methods, the first by default.
METHODS = tuple(NAMES)


def evaluate(
    clf: SequentialClassifier,
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
    clf : SequentialClassifier
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
    clf: SequentialClassifier,
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
        clf: SequentialClassifier,
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
