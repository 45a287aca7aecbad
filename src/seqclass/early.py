"""Early classification of time series: features come in order of time, each step has a price."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from seqclass._utils import stored
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks, unmask
from seqclass._utils.frames import frame_columns, is_frame
from seqclass._utils.model_files import Stored, save
from seqclass._utils.tables import Readable
from seqclass._utils.text import belief_text, money, short_repr
from seqclass._utils.validation import check_finite, check_integer, check_part, in_order, own_labels, plain_labels
from seqclass._utils.whole_fits import all_or_nothing

__all__ = ["EarlyClassifier", "EarlyDecisions", "EarlySession"]
__dir__ = __all__.copy  # tab completion


@dataclass(frozen=True, repr=False)
class EarlyDecisions(Readable):
    """What is decided of series, and when.

    Attributes
    ----------
    decision : ndarray of shape (n,)
        Class of each series.
    n_steps : ndarray of int, shape (n,)
        Steps that were seen of it.
    paid : ndarray of shape (n,)
        Prices paid for them.
    is_final : ndarray of bool, shape (n,)
        False where the series goes on beyond what was given and it pays to wait for more.
    index : pandas.Index of shape (n,) or None
        That of the data frame that was given, and of `to_frame`.

    Examples
    --------
    >>> import numpy as np
    >>> told = EarlyDecisions(np.array(["up"]), np.array([3]), np.array([0.03]), np.array([True]))
    >>> told.n_steps.tolist()
    [3]
    """

    decision: npt.NDArray[Any]
    n_steps: IntArray
    paid: FloatArray
    is_final: BoolArray
    index: Any = None

    def __str__(self) -> str:
        if not len(self.decision):
            return "no series"
        text = f"{len(self.decision):,} series, {self.n_steps.mean():.4g} steps"
        text += f" and {money(self.paid.mean())} paid on average"
        going_on = int((~self.is_final).sum())
        return f"{text}, {going_on:,} of which may wait for more" if going_on else text


@dataclass(eq=False)
class EarlyClassifier(Stored, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Decides each series as soon as waiting for its next steps costs more than it is expected to save.

    A probabilistic classifier is fitted to each prefix, and its P(class) on rows held out is calibrated by an exponent:
    logistic regression on the values of the steps; on patterns wherever they occur, which random kernels tell by how
    often and how strongly they respond up to that step [2]_; and the geometric mean of both. Then the belief and the
    rule are chosen whose realised cost, cross-validated on those rows, is least: deciding at once; a threshold on P of
    the likeliest class, the same at all steps; or the optimal stopping rule of a Markov chain over (step, likeliest
    class, bin of its P), by exact backward recursion [1]_, for 3, 5 and 8 bins. Naive Bayes would count what
    neighbouring steps repeat as new evidence.

    Parameters
    ----------
    step_cost : float or array-like of shape (n_steps,), optional
        Price of each step, in units of a wrong decision; by default 1 / n_steps, so that a whole series costs an error.
    estimator : scikit-learn classifier, optional
        Fitted to the values of each prefix, and no patterns are looked for; needs ``predict_proba``.
    n_patterns : int
        Number of random kernels; 0: values only.
    n_checkpoints : int
        At how many steps, evenly spread, a series may be decided.
    cv : int
        Number of folds.
    random_state : int
        Seed of the kernels and the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    checkpoints_ : ndarray of int, shape (n_checkpoints,)
        Numbers of steps after which a series may be decided.
    evidence_ : str
        What the belief goes by: ``"values"``, ``"patterns"`` or ``"both"``.
    rule_ : str
        The rule that was chosen: ``"at once"``, ``"threshold"``, ``"3 bins"``, ``"5 bins"`` or ``"8 bins"``.
    expected_cost_ : float
        Mean cost of a case by that rule, prices and errors, cross-validated; a little low, as it is the least of
        several.

    See Also
    --------
    seqclass.datasets.load_series : Reads the files of the UCR archive and aeon.

    References
    ----------
    .. [1] A. Achenchabe, A. Bondu, A. Cornuejols, A. Dachraoui, "Early classification of time series: cost-based
       optimization criterion and algorithms", Machine Learning 110, 2021.
    .. [2] A. Dempster, F. Petitjean, G. I. Webb, "ROCKET: exceptionally fast and accurate time series classification
       using random convolutional kernels", Data Mining and Knowledge Discovery 34, 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 10)).cumsum(axis=1) + np.outer(2 * y - 1, np.arange(10))
    >>> clf = EarlyClassifier(step_cost=0.05).fit(X[:40], y[:40])
    >>> seen = clf.decide(X[40:])
    >>> bool((seen.decision == y[40:]).mean() > 0.8), bool(seen.n_steps.mean() < 6)
    (True, True)
    """

    step_cost: Any = None
    estimator: Any = None
    _: KW_ONLY
    n_patterns: int = 300
    n_checkpoints: int = 20
    cv: int = 5
    random_state: int = 0

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> EarlyClassifier:
        """Learn from whole series.

        Parameters
        ----------
        X : array-like of shape (n, n_steps)
            Series, a column a step in order of time; of a data frame the names of the steps are kept, and steps told
            apart by them.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        EarlyClassifier

        Raises
        ------
        ValueError
            If data or settings are invalid, or a class has a single series.
        """
        step_cost = in_order(self.step_cost, "step_cost", frame_columns(X))
        X, y = validate_data(self, unmask(X), plain_labels(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_steps = int(X.shape[1])
        price = check_finite(1 / n_steps if step_cost is None else step_cost, "step_cost")
        if price.shape not in ((), (n_steps,)) or (price < 0).any():
            raise ValueError(f"step_cost must be a price of at least 0, or one for each of the {n_steps} steps.")
        if self.estimator is not None:
            check_part(self.estimator, "estimator", "a classifier with predict_proba", ("fit", "predict_proba"))
        cv, seed = check_integer(self.cv, "cv", 2), check_integer(self.random_state, "random_state", 0)
        if len(self.classes_) < 2 or (n_folds := min(cv, np.bincount(codes).min())) < 2:
            raise ValueError("y must have at least two classes, of at least two series each.")
        n = min(check_integer(self.n_checkpoints, "n_checkpoints", 1), n_steps)
        self.checkpoints_ = -(-np.arange(1, n + 1, dtype=np.intp) * n_steps // n)  # rounded up
        self._paid = np.broadcast_to(price, n_steps).cumsum()[self.checkpoints_ - 1]
        n_patterns = 0 if self.estimator is not None else check_integer(self.n_patterns, "n_patterns", 0)
        self._patterns = RandomKernels.draw(X, n_patterns, np.random.default_rng(seed))
        cuts = [StratifiedKFold(n_folds, shuffle=True, random_state=seed + k) for k in range(3)]
        beliefs = self._fit_beliefs(X, codes, cuts[0])
        self._prior = np.bincount(codes) / len(codes)
        losses = {("values", "at once"): float((codes != self._prior.argmax()).sum() * len(cuts))}
        for train, test in (pair for cut in cuts for pair in cut.split(codes, codes)):
            for (evidence, P), (name, make) in product(beliefs.items(), _RULES.items()):
                rule, key = make(P[:, train], codes[train], self._paid), (evidence, name)
                losses[key] = losses.get(key, 0.0) + float(_costs(rule, P[:, test], codes[test], self._paid).sum())
        self.evidence_, self.rule_ = best = min(losses, key=losses.__getitem__)
        self.expected_cost_ = losses[best] / (len(cuts) * len(y))
        make = _RULES.get(self.rule_)
        self._rule = None if make is None else make(beliefs[self.evidence_], codes, self._paid)
        return self

    def _fit_beliefs(self, X: FloatArray, codes: IntArray, folds: StratifiedKFold) -> dict[str, FloatArray]:
        """P(class) at each checkpoint of rows held out, calibrated, by what it goes by; keeps the classifiers."""
        base = make_pipeline(StandardScaler(), PCA(), LogisticRegression(max_iter=300))  # the PCA only turns
        base = base if self.estimator is None else self.estimator
        beliefs, self._classifiers = {}, {}
        for evidence, parts in self._inputs(X).items():
            held_out, fitted = [], []
            for part in parts:
                with np.errstate(invalid="ignore"):  # the PCA's shares of variance, where all series are alike so far
                    held_out.append(cross_val_predict(base, part, codes, cv=folds, method="predict_proba"))
                    last = clone(base).fit(part, codes)
                fitted.append(last if self.estimator is not None else LinearClassifier.from_pipeline(last))
            beliefs[evidence], self._classifiers[evidence] = np.array(held_out), fitted
        if len(beliefs) == 2:
            beliefs["both"] = _geometric_mean(*beliefs.values())
        self._exponents = {evidence: np.array([_exponent(one, codes) for one in P]) for evidence, P in beliefs.items()}
        return {evidence: _power(P, self._exponents[evidence][:, None, None]) for evidence, P in beliefs.items()}

    def _inputs(self, X: FloatArray) -> dict[str, Iterator[FloatArray]]:
        """What classifiers see at each checkpoint that X reaches."""
        reached = self.checkpoints_[self.checkpoints_ <= X.shape[1]]
        seen: dict[str, Iterator[FloatArray]] = {"values": (X[:, :t] for t in reached)}
        if self._patterns.groups:
            seen["patterns"] = self._patterns.responses(X, reached)
        return seen

    def _beliefs(self, X: FloatArray) -> Iterator[FloatArray]:
        """P(class) at each checkpoint that X reaches, which looks at no later step until the next one is asked for."""
        inputs = [
            zip(self._classifiers[evidence], parts)
            for evidence, parts in self._inputs(X).items()
            if self.evidence_ in (evidence, "both")
        ]
        for exponent, *pairs in zip(self._exponents[self.evidence_], *inputs):
            P = [model.predict_proba(part) for model, part in pairs]
            yield _power(P[0] if len(P) == 1 else _geometric_mean(*P), exponent)

    def decide(self, X: Any) -> EarlyDecisions:
        """Decide series, each after as few steps as pay; of series that still go on, as far as they are given.

        Parameters
        ----------
        X : array-like of shape (n, n_steps)
            Series, or their first steps: ``is_final`` then says which need not wait for more.

        Returns
        -------
        EarlyDecisions

        Raises
        ------
        ValueError
            If values are missing, there are more steps than in training, or steps of other names.
        """
        check_is_fitted(self, "rule_")
        index = X.index if is_frame(X) else None
        X = check_array(self._in_order(unmask(X)), ensure_min_features=0)
        if X.shape[1] > self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} steps, more than the {self.n_features_in_} of training.")
        n, rule = int((self.checkpoints_ <= X.shape[1]).sum()), self._rule
        if rule is None or not n:
            none = np.zeros(len(X), dtype=np.intp)
            likeliest = self.classes_[none + self._prior.argmax()]
            return EarlyDecisions(likeliest, none, np.zeros(len(X)), none < (rule is None), index)
        first, decision, stops = _first_stop(rule, np.array(list(self._beliefs(X))))
        is_final = stops | (n == len(self.checkpoints_))
        return EarlyDecisions(self.classes_[decision], self.checkpoints_[first], self._paid[first], is_final, index)

    def _in_order(self, X: Any) -> Any:
        """Series whose steps have names, as those of training had, in the order of those."""
        if not hasattr(X, "columns") or not hasattr(self, "feature_names_in_"):
            return X
        own = self.feature_names_in_[: len(X.columns)].tolist()
        if absent := [name for name in own if name not in set(X.columns)]:
            raise ValueError(
                f"X must have the first {len(own)} steps of training, by their names; it lacks {short_repr(absent[0])}."
            )
        return X[own] if len(own) == len(X.columns) else X

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of each series, decided early; see `decide`.

        Parameters
        ----------
        X : array-like of shape (n, n_steps)
            Series.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If values are missing, there are more steps than in training, or steps of other names.
        """
        return self.decide(X).decision

    def session(self, values: Any = ()) -> EarlySession:
        """Begin a live series, whose values come in one by one.

        Parameters
        ----------
        values : array-like of shape (n,)
            Those that have come already, such as `EarlySession.values` of a session that was kept.

        Returns
        -------
        EarlySession
        """
        return EarlySession(self, values)

    def save(self, path: Any) -> None:
        """Write the fitted classifier to a file, which `seqclass.load` reads; not with an ``estimator`` of others.

        Parameters
        ----------
        path : path
            The file.
        """
        check_is_fitted(self, "rule_")
        save(self, path)

    def _check_stored(self) -> None:
        if not stored.is_fitted(self):
            return
        n_classes = len(stored.require_array(self, "classes_", "OUSbiuf", None))
        n = len(at := stored.require_array(self, "checkpoints_", "i", None, low=1, high=10**7))
        own = n > 0 and at[-1] == self.n_features_in_ and (np.diff(at) > 0).all()
        names = getattr(self, "feature_names_in_", None)
        own &= names is None or np.shape(names) == (self.n_features_in_,)
        stored.require(own, "checkpoints_ are of other series")
        stored.require_part(self, "_patterns", RandomKernels)
        for name, size in (("_paid", n), ("_prior", n_classes)):
            stored.require_numbers(self, name, size, low=0)
        if isinstance(self._rule, tuple):
            n_bins, stop, decision = self._rule
            size = n_bins * (1 if n_classes == 2 else n_classes)
            stored.check_array(stop, "the rule", "b", n, size)
            stored.check_array(decision, "the rule", "i", n, size, low=0, high=n_classes - 1)
        if self._rule is not None:  # a rehearsal, which fails where parts do not fit together
            P = np.array(list(self._beliefs(np.zeros((1, self.n_features_in_)))))
            stored.require(P.shape == (n, 1, n_classes) and np.isfinite(P).all(), "classifiers are of other series")
            _first_stop(self._rule, P)


#: Steps seen, price, class, whether it is decided, P(class).
_Step = tuple[int, float, Any, bool, FloatArray]


class EarlySession(Readable):
    """A live series, whose values come in one by one; begin one with `EarlyClassifier.session`.

    It always stands where `EarlyClassifier.decide` does with the values so far.

    Parameters
    ----------
    classifier : EarlyClassifier
        The fitted classifier.
    values : array-like of shape (n,)
        Values that have come already.

    Attributes
    ----------
    decision, n_steps, paid, is_final
        As of `EarlyDecisions`.
    posterior : ndarray of shape (n_classes,)
        P(class) after ``n_steps``; before the first checkpoint the shares in training.
    values : ndarray of shape (n,)
        What has come, up to the step at which it was decided.
    next_step : int or None
        After how many values it may be decided next; None once it is.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 10)).cumsum(axis=1) + np.outer(2 * y - 1, np.arange(10))
    >>> case = EarlyClassifier(step_cost=0.05, n_patterns=0).fit(X[:40], y[:40]).session()
    >>> coming = iter(X[45])
    >>> while not case.is_final:
    ...     case.observe(next(coming))
    >>> int(case.decision), int(y[45]), case.n_steps < 10
    (1, 1, True)
    """

    def __init__(self, classifier: EarlyClassifier, values: Any = ()) -> None:
        check_is_fitted(classifier, "rule_")
        self._classifier, self._steps = classifier, list[_Step]()
        self._series = np.zeros((1, classifier.n_features_in_))
        self._beliefs, self.values = classifier._beliefs(self._series), self._series[0, :0]
        likeliest, prior = classifier.classes_[classifier._prior.argmax()], classifier._prior
        self._go_to((0, 0.0, likeliest, classifier._rule is None, prior))
        self.observe(() if self.is_final else values)

    def _go_to(self, step: _Step) -> None:
        self.n_steps, self.paid, self.decision, self.is_final, self.posterior = step
        self.next_step = None if self.is_final else int(self._classifier.checkpoints_[len(self._steps)])
        self._steps.append(step)

    def observe(self, values: Any) -> None:
        """Take what has come; where it is decided in the midst of several values, the later ones are not looked at.

        Parameters
        ----------
        values : float or array-like of shape (n,)
            The next value, or several in order of time.

        Raises
        ------
        ValueError
            If the series was decided before, or values are missing, no numbers or too many; nothing changes then.
        """
        new, own = np.array([np.nan]), self._classifier
        steps = getattr(own, "feature_names_in_", np.empty(0)).tolist()
        if not {*steps}.isdisjoint(own_labels(values) or ()):
            values = in_order(values, "values", steps[len(self.values) :][: len(values)])
        with suppress(TypeError, ValueError):
            new = np.atleast_1d(np.asarray(values, dtype=float))
        if new.ndim > 1 or not np.isfinite(new).all():
            raise ValueError(f"values must be numbers in order of time, none missing, got {short_repr(values)}.")
        if len(new) and self.is_final:
            decided = f"decided for {short_repr(self.decision)} after {self.n_steps} steps"
            raise ValueError(f"this series was {decided}: look at is_final, and begin another session().")
        if (n := len(self.values) + len(new)) > self._series.shape[1]:
            raise ValueError(f"these would be {n} steps, more than the {self._series.shape[1]} of training.")
        self._series[0, len(self.values) : n] = new
        while self.next_step is not None and self.next_step <= n:
            k, P = len(self._steps) - 1, next(self._beliefs)
            assert own._rule is not None  # or it was decided at once
            stop, decision = _follow(own._rule, P[None], k)
            is_final = bool(stop[0, 0]) or k + 1 == len(own.checkpoints_)
            self._go_to((self.next_step, float(own._paid[k]), own.classes_[decision[0, 0]], is_final, P[0]))
        self.values = self._series[0, : self.n_steps if self.is_final else n]

    def __reduce__(self) -> tuple[Any, ...]:
        return EarlySession, (self._classifier, self.values)

    def _table(self) -> list[dict[str, Any]]:
        beliefs = (f"P({label})" for label in self._classifier.classes_.tolist())
        names = ("step", "paid", "decision", "is_final", *beliefs)
        return [dict(zip(names, [*step[:-1], *step[-1].tolist()])) for step in self._steps]

    def __str__(self) -> str:
        belief = belief_text(self._classifier.classes_.tolist(), self.posterior.tolist(), most=3)
        after = f"after {self.n_steps} of {self._series.shape[1]} steps"
        going_on = f"decided for {self.decision}" if self.is_final else f"may be decided after {self.next_step}"
        return f"{belief} {after}; {going_on}"


@dataclass(frozen=True, eq=False)
class LinearClassifier(Stored):
    """Logistic regression of the values as they are."""

    center: FloatArray
    weights: FloatArray
    intercept: FloatArray

    @classmethod
    def from_pipeline(cls, fitted: Pipeline) -> LinearClassifier:
        """One that standardises and turns values first."""
        scaler, turn, model = (step for _, step in fitted.steps)
        weights, intercept = (model.coef_ @ turn.components_).T / scaler.scale_[:, None], model.intercept_
        if len(intercept) == 1:  # of two classes the second's alone
            weights, intercept = np.hstack([np.zeros_like(weights), weights]), np.append(0.0, intercept)
        return cls(scaler.mean_ + scaler.scale_ * turn.mean_, weights, intercept)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """P(class) of each row."""
        return np.asarray(softmax((X - self.center) @ self.weights + self.intercept, axis=1))


@dataclass(frozen=True, eq=False)
class RandomKernels(Stored):
    """Random kernels of different lengths and dilations."""

    #: Of each dilation and length: the dilation, weights and the levels of responses that are counted, a row a kernel.
    groups: list[tuple[int, FloatArray, FloatArray]]

    @classmethod
    def draw(cls, X: FloatArray, n: int, rng: np.random.Generator) -> RandomKernels:
        """Kernels spread over what fits into the series; levels are quantiles of what some series give."""
        powers = range(int(X.shape[1]).bit_length())
        shapes = [(2**k, length) for length in (3, 5, 7, 9) for k in powers if (length - 1) << k < X.shape[1]]
        some, groups = X[rng.permutation(len(X))[:20]], []
        for number, (dilation, length) in enumerate(shapes):
            weights = rng.normal(size=(len(range(number, n, len(shapes))), length))
            weights -= weights.mean(axis=1, keepdims=True)
            if len(weights):
                given = _convolve(some, dilation, weights).reshape(-1, len(weights))
                groups.append((dilation, weights, np.quantile(given, rng.random(3), axis=0).T))
        return cls(groups)

    def responses(self, X: FloatArray, checkpoints: IntArray) -> Iterator[FloatArray]:
        """At each checkpoint, of each kernel so far: the greatest response, and shares above its levels."""
        before = 0
        so_far = [
            (np.full((len(X), len(weights)), -np.inf), np.zeros((len(X), *levels.shape)))
            for _, weights, levels in self.groups
        ]
        for t in checkpoints.tolist():
            columns = []
            for (dilation, weights, levels), (greatest, above) in zip(self.groups, so_far):
                span = (weights.shape[1] - 1) * dilation
                if t > span:
                    for rows in chunks(len(X), 8 * (t - before + span) * (weights.size + levels.size)):
                        given = _convolve(X[rows, max(0, before - span) : t], dilation, weights)
                        np.maximum(greatest[rows], given.max(axis=1), out=greatest[rows])
                        above[rows] += (given[..., None] > levels).sum(axis=1)
                columns += [np.where(np.isfinite(greatest), greatest, 0), above / max(t - span, 1)]
            before = t
            yield np.hstack([column.reshape(len(X), -1) for column in columns])


def _convolve(X: FloatArray, dilation: int, weights: FloatArray) -> FloatArray:
    """Response of each kernel at each step where it fits, of shape (n, n_steps, n_kernels)."""
    n = X.shape[1] - (weights.shape[1] - 1) * dilation
    windows = np.stack([X[:, k * dilation : k * dilation + n] for k in range(weights.shape[1])], axis=2)
    return np.asarray(windows @ weights.T)


#: A threshold on P of the likeliest class; or bins of P, and by step and bin whether to stop, and the class then.
_Rule = float | tuple[int, BoolArray, IntArray]


def _follow(rule: _Rule, P: FloatArray, first: int = 0) -> tuple[BoolArray, IntArray]:
    """Whether each case would stop at each step, and its class then: of P(class) from the ``first`` step on."""
    if isinstance(rule, float):
        return P.max(axis=2) >= rule, P.argmax(axis=2)
    n_bins, stop, decision = rule
    at = np.arange(first, first + len(P))[:, None], _codes(P, n_bins)
    return stop[at], decision[at]


def _first_stop(rule: _Rule, P: FloatArray) -> tuple[IntArray, IntArray, BoolArray]:
    """Number of the step at which each case stops, at the latest the last, its class, and whether by the rule."""
    stop, decision = _follow(rule, P)
    stops = np.asarray(stop.any(axis=0))
    first = np.where(stops, stop.argmax(axis=0), len(P) - 1)
    return first, decision[first, np.arange(len(first))], stops


def _costs(rule: _Rule, P: FloatArray, codes: IntArray, paid: FloatArray) -> FloatArray:
    first, decision, _ = _first_stop(rule, P)
    return np.asarray(paid[first] + (decision != codes))


def _threshold_rule(P: FloatArray, codes: IntArray, paid: FloatArray) -> _Rule:
    """The threshold that costs least."""
    levels = np.quantile(P.max(axis=2), np.linspace(0, 1, 101))
    rules: list[_Rule] = [0.0, *levels.tolist(), 2.0]
    return min(rules, key=lambda rule: _costs(rule, P, codes, paid).mean())


def _chain_rule(P: FloatArray, codes: IntArray, paid: FloatArray, n_bins: int) -> _Rule:
    """Optimal stopping over (step, bin): counts, with one case's weight of what is expected without them."""
    bins, n_steps, n_classes = _codes(P, n_bins), len(P), P.shape[2]
    size = n_bins if n_classes == 2 else n_bins * n_classes
    stop, decision = np.ones((n_steps, size), dtype=bool), np.zeros((n_steps, size), dtype=np.intp)
    prior, value = np.bincount(codes, minlength=n_classes) / len(codes), np.zeros(size)
    for t in range(n_steps - 1, -1, -1):
        count, mean, follows = np.zeros((size, n_classes)), np.zeros((size, n_classes)), np.zeros((size, size))
        np.add.at(count, (bins[t], codes), 1)
        np.add.at(mean, bins[t], P[t])
        n = count.sum(axis=1, keepdims=True)
        posterior = (count + np.where(n > 0, mean / np.maximum(n, 1), prior)) / (n + 1)
        error, decision[t] = 1 - posterior.max(axis=1), posterior.argmax(axis=1)
        if t < n_steps - 1:
            np.add.at(follows, (bins[t], bins[t + 1]), 1)
            chance = (follows + np.bincount(bins[t + 1], minlength=size) / len(codes)) / (n + 1)
            going_on = paid[t + 1] - paid[t] + chance @ value
            stop[t], error = error <= going_on, np.minimum(error, going_on)
        value = error
    return n_bins, stop, decision


#: Rules to choose from.
_RULES: dict[str, Callable[..., _Rule]] = {"threshold": _threshold_rule}
_RULES |= {f"{n_bins} bins": partial(_chain_rule, n_bins=n_bins) for n_bins in (3, 5, 8)}


def _codes(P: FloatArray, n_bins: int) -> IntArray:
    """Bins of equal width: of P(second class), or of the likeliest class, and which that is."""
    n_classes = P.shape[-1]
    low, p = (0.0, P[..., 1]) if n_classes == 2 else (1 / n_classes, P.max(axis=-1))
    code = np.clip(((p - low) / (1 - low) * n_bins).astype(np.intp), 0, n_bins - 1)
    return code if n_classes == 2 else P.argmax(axis=-1) * n_bins + code


def _power(P: FloatArray, exponent: Any) -> FloatArray:
    raised = np.clip(P, 1e-6, 1) ** exponent
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _geometric_mean(one: FloatArray, other: FloatArray) -> FloatArray:
    return _power(np.sqrt(np.clip(one, 1e-6, 1) * np.clip(other, 1e-6, 1)), 1)


def _exponent(P: FloatArray, codes: IntArray) -> float:
    """Exponent by which rows held out are likeliest, drawn a little to 1."""
    rows = np.arange(len(codes))
    minimum = optimize.minimize_scalar(
        lambda a: 0.01 * a**2 - np.log(_power(P, np.exp(a))[rows, codes]).mean(), bounds=(-3, 2), method="bounded"
    )
    return float(np.exp(minimum.x))
