"""Checks of observation models."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.validation import SUM_TOLERANCE, check_real
from seqclass.bn import ObservationModel

#: Costs and probabilities closer than this are the same.
ROUNDING = 1e-9


def require(condition: bool | np.bool_, sentence: str) -> None:
    if not condition:
        raise AssertionError(f"{sentence.removesuffix('.')}.")


def equal(actual: npt.ArrayLike, expected: npt.ArrayLike, tolerance: float, sentence: str) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    require(actual.shape == expected.shape, f"{sentence} (shape {actual.shape}, expected {expected.shape})")
    if not np.allclose(actual, expected, rtol=tolerance, atol=tolerance):
        raise AssertionError(f"{sentence} (by up to {np.abs(actual - expected).max():g}).")


def raises(kind: type[Exception], words: Sequence[str], call: Callable[[], Any], sentence: str) -> None:
    try:
        call()
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        require(not missing, f"{sentence}: the message does not name {missing}: {error}")
    else:
        raise AssertionError(f"{sentence} must raise {kind.__name__}.")


def are_same(first: npt.ArrayLike, second: npt.ArrayLike) -> bool:
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))


def check_observation_model(
    model: ObservationModel, X: npt.ArrayLike, y: npt.ArrayLike, *, tolerance: float = 0.0
) -> None:
    """Check that a model keeps the promises of `ObservationModel`.

    Probabilities are distributions; they agree with Bayes's rule and with one another whatever the order of
    acquisition; the incremental form gives the same as the evidence form, and so do `tables`, where the model has such,
    and what is left of the evidence by `context_features`; fitting is repeatable, changes neither rows nor settings,
    takes missing cells for none of the outcomes, and heeds or refuses weights; and errors name the wrong input.

    Parameters
    ----------
    model : ObservationModel
        The model; it is cloned before it is fitted.
    X : array-like of int of shape (n_samples, n_features)
        Dense outcomes without missing cells; at least 2 and at most about 6 features, and a few dozen rows.
    y : array-like of shape (n_samples,)
        Labels.
    tolerance : float
        For approximate models: how far probabilities may differ that ought to agree, namely with Bayes's rule and after
        another order of acquisition. Such a model works, but certificates of its policy are then about the process that
        its likelihoods define step by step, and sessions that are answered in another order may end with a belief that
        differs by this much. Sums of probabilities may be off by at most .001, which `fit` tolerates too.

    Raises
    ------
    AssertionError
        At the first property that does not hold.

    Examples
    --------
    >>> from seqclass.bn import NaiveBayes
    >>> check_observation_model(NaiveBayes(), [[0, 1], [1, 0], [1, 2]], ["a", "b", "b"])
    """
    data, tolerance = np.array(X), check_real(tolerance, "tolerance", 0)
    fitted, again = clone(model), clone(model).fit(data, y)
    before = fitted.get_params()
    fitted.fit(data, y)
    require(are_same(data, X), "fit changed the rows that it was given")
    known = np.random.default_rng(0).random(data.shape) < 0.5
    evidence = np.where(known, data, -1).astype(data.dtype)
    try:
        sentence = "fitting the same data twice gives different posteriors"
        equal(again.posterior(data), fitted.posterior(data), 0, sentence)
        after = fitted.get_params()
        kept = all(after.get(name) is value for name, value in before.items())
        require(kept, "fit changed the constructor's parameters")
        _check_fitted(fitted, data, np.asarray(y))
        _check_probabilities(fitted, evidence, tolerance)
        _check_bayes(fitted, evidence, tolerance)
        _check_orders(fitted, data, tolerance)
        _check_increments(fitted, data, tolerance)
        _check_tables(fitted, data, tolerance)
        _check_gaps(model, data, y, fitted.n_outcomes_)
        _check_weights(model, data, np.asarray(y), fitted.n_outcomes_)
    except ValueError as error:  # by which likelihoods are refused
        raise AssertionError(str(error)) from error
    _check_messages(fitted, data)


def _check_fitted(model: ObservationModel, X: IntArray, y: npt.NDArray[Any]) -> None:
    require(model.n_features_in_ == X.shape[1], "n_features_in_ is not the number of columns")
    require(are_same(model.classes_, np.unique(y)), "classes_ are not the sorted labels")
    equal(model.class_prior_.sum(), 1, ROUNDING, "class_prior_ does not sum to 1")
    require(bool((model.n_outcomes_ > X.max(axis=0)).all()), "n_outcomes_ is too small for an outcome of X")


def _check_probabilities(model: ObservationModel, evidence: IntArray, tolerance: float) -> None:
    n, n_classes, sums = len(evidence), len(model.classes_), max(1e-11, min(tolerance, SUM_TOLERANCE))
    posterior = model.posterior(evidence)
    _distribution(posterior, (n, n_classes), 1, "posterior", sums)
    empty = np.full((2, evidence.shape[1]), -1)
    prior = np.tile(model.class_prior_, (2, 1))
    equal(model.posterior(empty), prior, max(ROUNDING, tolerance), "the posterior without evidence is not the prior")
    require(model.posterior(evidence[:0]).shape == (0, n_classes), "no rows must give a posterior of no rows")
    for feature, n_outcomes in enumerate(model.n_outcomes_):
        blank, full = evidence.copy(), evidence.copy()
        blank[:, feature], full[:, feature] = -1, 0
        likelihood = model.likelihood(feature, blank)
        _distribution(likelihood, (n, n_outcomes, n_classes), 1, f"likelihood of feature {feature}", sums)
        _distribution(model.predictive(feature, blank), (n, n_outcomes), 1, f"predictive of feature {feature}", sums)
        sentence = f"the likelihood of feature {feature} depends on its own entry in the evidence"
        equal(model.likelihood(feature, full), likelihood, 1e-13, sentence)
        require(bool((full[:, feature] == 0).all()), "likelihood changed the evidence in place")


def _distribution(P: FloatArray, shape: tuple[int, ...], axis: int, name: str, tolerance: float) -> None:
    require(P.shape == shape, f"{name} has shape {P.shape}, expected {shape}")
    require(bool((P >= 0).all()), f"{name} has negative entries")
    equal(P.sum(axis=axis), np.ones(np.delete(shape, axis)), tolerance, f"{name} does not sum to 1")


def _check_bayes(model: ObservationModel, evidence: IntArray, tolerance: float) -> None:
    """Acquiring a feature multiplies the posterior by its likelihood and divides by the predictive."""
    for feature, n_outcomes in enumerate(model.n_outcomes_):
        before = evidence.copy()
        before[:, feature] = -1
        likelihood, predictive = model.likelihood(feature, before), model.predictive(feature, before)
        joint = likelihood * model.posterior(before)[:, None, :]
        sentence = f"the predictive of feature {feature} is not its likelihood averaged over the posterior"
        equal(joint.sum(axis=2), predictive, max(1e-11, tolerance), sentence)
        for outcome in range(n_outcomes):
            after = before.copy()
            after[:, feature] = outcome
            possible: BoolArray = predictive[:, outcome] > 0
            expected = joint[possible, outcome] / predictive[possible, outcome, None]
            sentence = f"the posterior after outcome {outcome} of feature {feature} does not follow by Bayes's rule"
            equal(model.posterior(after[possible]), expected, max(ROUNDING, tolerance), sentence)


def _check_orders(model: ObservationModel, X: IntArray, tolerance: float) -> None:
    """The joint probability is the same whichever feature comes first, and sums to one."""
    first: FloatArray | None = None
    for order in itertools.islice(itertools.permutations(range(X.shape[1])), 24):
        seen = np.full_like(X, -1)
        joint = np.tile(model.class_prior_, (len(X), 1))
        for feature in order:
            joint = joint * model.likelihood(feature, seen)[np.arange(len(X)), X[:, feature]]
            seen[:, feature] = X[:, feature]
        first = joint if first is None else first
        require(
            np.allclose(joint, first, rtol=1e-8, atol=tolerance),
            f"the joint probability depends on the order of acquisition: {order} against the order of the columns",
        )


def _check_increments(model: ObservationModel, X: IntArray, tolerance: float = 0.0) -> None:
    rng = np.random.default_rng(1)
    rows = np.arange(len(X))
    seen = np.full_like(X, -1)
    state = model.start(len(X))
    for feature in map(int, rng.permutation(X.shape[1])):
        outcome = np.where(rng.random(len(rows)) < 0.8, X[rows, feature], -1)
        likelihood = model.stage_likelihood(feature, state)
        sentence = f"stage_likelihood of feature {feature} is not the likelihood given the same evidence"
        equal(likelihood, model.likelihood(feature, seen[rows]), max(ROUNDING, tolerance), sentence)
        together = model.stage_likelihoods(np.array([feature]), state)[:, 0, : likelihood.shape[1]]
        sentence = f"stage_likelihoods of feature {feature} are not its stage_likelihood"
        equal(together, likelihood, max(ROUNDING, tolerance), sentence)
        advanced = model.advance(feature, state, outcome)
        equal(model.stage_likelihood(feature, state), likelihood, 0, "advance changed the state it was given")
        seen[rows, feature] = outcome
        some = np.flatnonzero(rng.random(len(rows)) < 0.9)[::-1]
        state, rows = advanced[some], rows[some]


def _check_tables(model: ObservationModel, X: IntArray, tolerance: float) -> None:
    """What is planned with is what beliefs are updated by, in several orders, also of some features only."""
    rng, close = np.random.default_rng(2), max(ROUNDING, tolerance)
    for number in range(6):
        order = rng.permutation(X.shape[1])[: max(1, X.shape[1] - number // 3)]
        tables, contexts = model.tables(order), model.context_features(order)
        seen, where = np.full_like(X, -1), f"{order.tolist()}"
        require(tables is None or len(tables) == len(order), f"tables({where}) are not one a stage")
        require(len(contexts) == len(order), f"context_features({where}) is not one array a stage")
        for stage, feature in enumerate(order.tolist()):
            likelihood, size = model.likelihood(feature, seen), int(model.n_outcomes_[feature])
            if tables is not None:
                table = np.tile(np.asarray(tables[stage])[:size], (len(X), 1, 1))
                sentence = f"tables({where})[{stage}] is not the likelihood of feature {feature}, by which beliefs go"
                equal(table, likelihood, close, sentence)
            kept = np.where(np.isin(np.arange(X.shape[1]), contexts[stage]), seen, -1)
            sentence = (
                f"context_features({where})[{stage}] leaves out features on which the likelihood of feature "
                f"{feature} depends"
            )
            equal(model.likelihood(feature, kept), likelihood, close, sentence)
            seen[:, feature] = X[:, feature]


def _check_gaps(model: ObservationModel, X: IntArray, y: npt.ArrayLike, sizes: IntArray) -> None:
    """Missing cells are none of the outcomes; as an index, -1 would be the last one."""
    feature, last = int(sizes.argmax()), int(sizes.max()) - 1
    shows = []
    for instead in (-1, 0, last):
        rows = X.copy()
        rows[::2, feature] = instead
        fitted = clone(model).fit(rows, y, n_outcomes=sizes)
        shows.append(fitted.likelihood(feature, np.full((1, X.shape[1]), -1)))
        if instead < 0:
            _check_probabilities(fitted, rows, 1.0)
    for instead, counted in ((0, shows[1]), (last, shows[2])):
        alike = are_same(shows[0], counted) and not are_same(shows[1], shows[2])
        require(not alike, f"fit counts missing cells, which are -1, as outcome {instead}")


def _check_weights(model: ObservationModel, X: IntArray, y: npt.NDArray[Any], sizes: IntArray) -> None:
    """Weights, where they are taken, change what is learnt, if rows that stand there several times do."""
    times = 1 + 3 * (np.arange(len(X)) % 2)
    try:
        weighted = clone(model).fit(X, y, times, n_outcomes=sizes)
    except (ValueError, TypeError):
        return
    plain = clone(model).fit(X, y, n_outcomes=sizes)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times), n_outcomes=sizes)
    blank = np.full((1, X.shape[1]), -1)
    for feature in range(X.shape[1]):
        shows = [one.likelihood(feature, blank) for one in (plain, weighted, repeated)]
        heeded = not are_same(shows[0], shows[1]) or are_same(shows[0], shows[2])
        require(heeded, "fit learns the same whatever sample_weight is: heed it, or refuse it by a ValueError")


def _check_messages(model: ObservationModel, X: IntArray) -> None:
    beyond = int(model.n_outcomes_[1])
    wrong = X[:1].astype(np.int64)
    wrong[0, 1] = beyond
    names = ["feature 1", f"outcome {beyond}"]
    raises(ValueError, names, lambda: model.posterior(wrong), "posterior of an outcome out of range")
    raises(ValueError, names, lambda: model.likelihood(0, wrong), "likelihood given an outcome out of range")
    raises(ValueError, names, lambda: model.advance(1, model.start(1), np.array([beyond])), "advance out of range")
    below = np.where(np.arange(X.shape[1]) == 1, -2, X[:1])
    raises(ValueError, ["feature 1", "outcome -2"], lambda: model.posterior(below), "posterior of outcome -2")
    raises(ValueError, ["features"], lambda: model.posterior(X[:, :-1]), "evidence with a column too few")
    raises(TypeError, ["integer"], lambda: model.posterior(X.astype(float)), "evidence of floats")
    raises(ValueError, ["feature must be"], lambda: model.likelihood(X.shape[1], X), "a feature out of range")
