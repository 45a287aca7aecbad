"""Early classification of time series: features come in order of time, each step has a price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer

__all__ = ["EarlyClassifier", "EarlyDecisions"]
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
    cost : ndarray of shape (n,)
        Prices paid for them.
    is_final : ndarray of bool, shape (n,)
        False where the series goes on beyond what was given and it pays to wait for more.

    Examples
    --------
    >>> import numpy as np
    >>> told = EarlyDecisions(np.array(["up"]), np.array([3]), np.array([0.03]), np.array([True]))
    >>> told.n_steps.tolist()
    [3]
    """

    decision: npt.NDArray[Any]
    n_steps: IntArray
    cost: FloatArray
    is_final: npt.NDArray[np.bool_]

    def __str__(self) -> str:
        if not len(self.decision):
            return "no series"
        told = f"{len(self.decision):,} series, {self.n_steps.mean():.4g} steps"
        told += f" and {self.cost.mean():.4g} paid on average"
        going_on = int((~self.is_final).sum())
        return f"{told}, {going_on:,} of which may wait for more" if going_on else told


@dataclass(eq=False)
class EarlyClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Decides each series as soon as waiting for its next steps costs more than it is expected to save.

    A probabilistic classifier is fitted to each prefix, and its P(class) on rows held out is calibrated by an exponent.
    Then the rule is chosen whose realised cost, cross-validated on those rows, is least: deciding at once; a threshold
    on P of the likeliest class, the same at all steps; or the optimal stopping rule of a Markov chain over (step,
    likeliest class, bin of its P), by exact backward recursion [1]_, for 3, 5 and 8 bins. Naive Bayes would count what
    neighbouring steps repeat as new evidence.

    Parameters
    ----------
    step_cost : float or array-like of shape (n_steps,), optional
        Price of each step, in units of a wrong decision; by default 1 / n_steps, so that a whole series costs an error.
    estimator : scikit-learn classifier, optional
        Fitted to each prefix; needs ``predict_proba``. By default logistic regression on standardised steps.
    n_checkpoints : int
        At how many steps, evenly spread, a series may be decided.
    cv : int
        Number of folds.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    checkpoints_ : ndarray of int, shape (n_checkpoints,)
        Numbers of steps after which a series may be decided.
    rule_ : str
        The rule that was chosen: ``"at once"``, ``"threshold"``, ``"3 bins"``, ``"5 bins"`` or ``"8 bins"``.
    expected_cost_ : float
        Mean cost of a case by that rule, prices and errors, cross-validated.

    See Also
    --------
    seqclass.datasets.load_series : Reads the files of the UCR archive and aeon.

    References
    ----------
    .. [1] A. Achenchabe, A. Bondu, A. Cornuejols, A. Dachraoui, "Early classification of time series: cost-based
       optimization criterion and algorithms", Machine Learning 110, 2021.

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
    n_checkpoints: int = 20
    cv: int = 5
    random_state: int = 0

    def fit(self, X: Any, y: Any) -> EarlyClassifier:
        """Learn from whole series.

        Parameters
        ----------
        X : array-like of shape (n, n_steps)
            Series, a column a step in order of time.
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
        X, y = check_X_y(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = n_steps = int(X.shape[1])
        price = np.asarray(1 / n_steps if self.step_cost is None else self.step_cost, dtype=float)
        if price.shape not in ((), (n_steps,)) or not (np.isfinite(price) & (price >= 0)).all():
            raise ValueError(f"step_cost must be a price of at least 0, or one for each of the {n_steps} steps.")
        if len(self.classes_) < 2 or (n_folds := min(self.cv, np.bincount(codes).min())) < 2:
            raise ValueError("y must have at least two classes, of at least two series each.")
        n = min(check_integer(self.n_checkpoints, "n_checkpoints", 1), n_steps)
        self.checkpoints_ = np.ceil(np.linspace(1 / n, 1, n) * n_steps).astype(np.intp)
        self._paid = np.broadcast_to(price, n_steps).cumsum()[self.checkpoints_ - 1]
        base = make_pipeline(StandardScaler(), PCA(), LogisticRegression(max_iter=300))  # the PCA only turns
        base = base if self.estimator is None else self.estimator
        cuts = [StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state + k) for k in range(3)]
        parts = [X[:, :t] for t in self.checkpoints_]
        P = np.array([cross_val_predict(base, part, codes, cv=cuts[0], method="predict_proba") for part in parts])
        self.estimators_ = [clone(base).fit(part, codes) for part in parts]
        self._exponents = np.array([_exponent(one, codes) for one in P])[:, None, None]
        P = _power(P, self._exponents)
        self._likeliest = int(np.bincount(codes).argmax())
        losses = {"at once": float((codes != self._likeliest).sum() * len(cuts))}
        for train, test in (pair for cut in cuts for pair in cut.split(codes, codes)):
            for name, make in _RULES.items():
                rule = make(P[:, train], codes[train], self._paid)
                losses[name] = losses.get(name, 0.0) + float(_costs(rule, P[:, test], codes[test], self._paid).sum())
        self.rule_ = min(losses, key=losses.__getitem__)
        self.expected_cost_ = losses[self.rule_] / (len(cuts) * len(y))
        self._rule = None if self.rule_ == "at once" else _RULES[self.rule_](P, codes, self._paid)
        return self

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
            If values are missing, or there are more steps than in training.
        """
        check_is_fitted(self, "rule_")
        X = check_array(X, ensure_min_features=0)
        if X.shape[1] > self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} steps, more than the {self.n_features_in_} of training.")
        n, rule = int((self.checkpoints_ <= X.shape[1]).sum()), self._rule
        if rule is None or not n:
            none = np.zeros(len(X), dtype=np.intp)
            return EarlyDecisions(self.classes_[none + self._likeliest], none, np.zeros(len(X)), none < (rule is None))
        models = zip(self.estimators_, self.checkpoints_[:n])
        P = _power(np.array([model.predict_proba(X[:, :t]) for model, t in models]), self._exponents[:n])
        first, decision, stops = _first_stop(rule, P)
        is_final = stops | (n == len(self.checkpoints_))
        return EarlyDecisions(self.classes_[decision], self.checkpoints_[first], self._paid[first], is_final)

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
            If values are missing, or there are more steps than in training.
        """
        return self.decide(X).decision


#: Whether each case would stop at each step, and its class then: of P(class) by step, case and class.
_Rule = Callable[[FloatArray], tuple[npt.NDArray[np.bool_], IntArray]]


def _first_stop(rule: _Rule, P: FloatArray) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """Number of the step at which each case stops, at the latest the last, its class, and whether by the rule."""
    stop, decision = rule(P)
    stops = np.asarray(stop.any(axis=0))
    first = np.where(stops, stop.argmax(axis=0), len(P) - 1)
    return first, decision[first, np.arange(len(first))], stops


def _costs(rule: _Rule, P: FloatArray, codes: IntArray, paid: FloatArray) -> FloatArray:
    first, decision, _ = _first_stop(rule, P)
    return np.asarray(paid[first] + (decision != codes))


def _by_threshold(P: FloatArray, level: float) -> tuple[npt.NDArray[np.bool_], IntArray]:
    return P.max(axis=2) >= level, P.argmax(axis=2)


def _by_bin(
    P: FloatArray, n_bins: int, stop: npt.NDArray[np.bool_], decision: IntArray
) -> tuple[npt.NDArray[np.bool_], IntArray]:
    at = np.arange(len(P))[:, None], _codes(P, n_bins)
    return stop[at], decision[at]


def _threshold_rule(P: FloatArray, codes: IntArray, paid: FloatArray) -> _Rule:
    """The threshold that costs least."""
    levels = np.quantile(P.max(axis=2), np.linspace(0, 1, 101))
    rules = [partial(_by_threshold, level=level) for level in (0.0, *levels, 2.0)]
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
    return partial(_by_bin, n_bins=n_bins, stop=stop, decision=decision)


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


def _exponent(P: FloatArray, codes: IntArray) -> float:
    """Exponent by which rows held out are likeliest, drawn a little to 1."""
    rows = np.arange(len(codes))
    found = minimize_scalar(
        lambda a: 0.01 * a**2 - np.log(_power(P, np.exp(a))[rows, codes]).mean(), bounds=(-3, 2), method="bounded"
    )
    return float(np.exp(found.x))
