"""What every observation model must do; import ``check_observation_model`` and hand it a model and data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone


def masked(X, rng, keep=0.5):
    return np.where(rng.random(X.shape) < keep, X, -1).astype(X.dtype)


def check_observation_model(model, X, y):
    """Run all checks on dense data without missing cells, at least 3 features, at most about 6."""
    X = np.asarray(X)
    before = model.get_params()
    fitted = clone(model).fit(X, y)
    assert_allclose(clone(model).fit(X, y).posterior(X), fitted.posterior(X), rtol=0, atol=0)
    assert model.get_params() == before
    evidence = masked(X, np.random.default_rng(0))
    _check_attributes(fitted, X, y)
    _check_probabilities(fitted, evidence)
    _check_own_entry_ignored(fitted, evidence)
    _check_bayes(fitted, evidence)
    _check_order(fitted, X)
    _check_stages(fitted, X)
    _check_total_probability(fitted)
    _check_errors(fitted, X)


def _check_attributes(model, X, y):
    assert model.n_features_in_ == X.shape[1]
    assert model.classes_.tolist() == np.unique(y).tolist()
    assert_allclose(model.class_prior_.sum(), 1)
    assert (model.n_outcomes_ > X.max(axis=0)).all()


def _check_probabilities(model, evidence):
    n, n_classes = len(evidence), len(model.classes_)
    posterior = model.posterior(evidence)
    assert posterior.shape == (n, n_classes)
    assert (posterior >= 0).all()
    assert_allclose(posterior.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(model.predict_proba(evidence), posterior, rtol=0, atol=0)
    assert set(model.predict(evidence)) <= set(model.classes_)
    for feature, n_outcomes in enumerate(model.n_outcomes_):
        likelihood = model.likelihood(feature, evidence)
        assert likelihood.shape == (n, n_outcomes, n_classes)
        assert (likelihood >= 0).all()
        assert_allclose(likelihood.sum(axis=1), 1, rtol=1e-12)
        predictive = model.predictive(feature, evidence)
        assert predictive.shape == (n, n_outcomes)
        assert_allclose(predictive.sum(axis=1), 1, rtol=1e-12)
    empty = np.full((2, evidence.shape[1]), -1)
    assert_allclose(model.posterior(empty), np.tile(model.class_prior_, (2, 1)), rtol=1e-12)
    assert model.posterior(evidence[:0]).shape == (0, n_classes)


def _check_own_entry_ignored(model, evidence):
    for feature in range(evidence.shape[1]):
        blank = evidence.copy()
        blank[:, feature] = -1
        full = blank.copy()
        full[:, feature] = 0
        assert_allclose(model.likelihood(feature, full), model.likelihood(feature, blank), rtol=1e-14)
        assert_allclose(model.predictive(feature, full), model.predictive(feature, blank), rtol=1e-14)
        assert (full[:, feature] == 0).all(), "evidence was changed in place"


def _check_bayes(model, evidence):
    """Acquiring a feature multiplies the posterior by its likelihood and divides by the predictive."""
    rows = np.arange(len(evidence))
    for feature, n_outcomes in enumerate(model.n_outcomes_):
        before = evidence.copy()
        before[:, feature] = -1
        likelihood, predictive = model.likelihood(feature, before), model.predictive(feature, before)
        prior = model.posterior(before)
        assert_allclose(np.einsum("nvc,nc->nv", likelihood, prior), predictive, rtol=1e-12)
        for outcome in range(n_outcomes):
            after = before.copy()
            after[:, feature] = outcome
            expected = prior * likelihood[rows, outcome] / predictive[:, [outcome]]
            assert_allclose(model.posterior(after), expected, rtol=1e-9, atol=1e-13)


def _check_order(model, X):
    """The joint probability is the same whichever feature comes first."""
    joints = []
    for order in itertools.islice(itertools.permutations(range(X.shape[1])), 24):
        seen = np.full_like(X, -1)
        joint = np.tile(np.log(model.class_prior_), (len(X), 1))
        for feature in order:
            likelihood = model.likelihood(feature, seen)
            joint += np.log(likelihood[np.arange(len(X)), X[:, feature]])
            seen[:, feature] = X[:, feature]
        joints.append(joint)
    for joint in joints[1:]:
        assert_allclose(joint, joints[0], rtol=1e-9)


def _check_stages(model, X):
    """The incremental form says what the evidence form says, for any rows of its state."""
    rng = np.random.default_rng(1)
    rows = np.arange(len(X))
    order = rng.permutation(X.shape[1])
    seen = np.full_like(X, -1)
    state = model.start(len(X))
    for feature in order:
        outcome = np.where(rng.random(len(rows)) < 0.8, X[rows, feature], -1)
        likelihood = model.stage_likelihood(feature, state)
        assert_allclose(likelihood, model.likelihood(feature, seen[rows]), rtol=1e-10)
        advanced = model.advance(feature, state, outcome)
        assert_allclose(model.stage_likelihood(feature, state), likelihood, rtol=0, atol=0)
        seen[rows, feature] = outcome
        some = np.flatnonzero(rng.random(len(rows)) < 0.9)[::-1]
        state, rows = advanced[some], rows[some]
        assert len(state) == len(rows)


def _check_total_probability(model):
    """The joint over all outcomes of the first features sums to one in each class."""
    first = min(3, model.n_features_in_)
    total = 0.0
    for outcomes in itertools.product(*(range(v) for v in model.n_outcomes_[:first])):
        seen = np.full((1, model.n_features_in_), -1)
        joint = np.ones(len(model.classes_))
        for feature, outcome in enumerate(outcomes):
            joint = joint * model.likelihood(feature, seen)[0, outcome]
            seen[0, feature] = outcome
        total = total + joint
    assert_allclose(total, 1, rtol=1e-10)


def _check_errors(model, X):
    wrong = X[:1].astype(np.int64)
    wrong[0, 1] = model.n_outcomes_[1]
    message = rf"feature 1 .*outcome {model.n_outcomes_[1]}"
    with pytest.raises(ValueError, match=message):
        model.posterior(wrong)
    with pytest.raises(ValueError, match=message):
        model.likelihood(0, wrong)
    with pytest.raises(ValueError, match=r"feature 1 .*outcome -2"):
        model.posterior(np.where(np.arange(X.shape[1]) == 1, -2, X[:1]))
    with pytest.raises(ValueError, match=message):
        model.advance(1, model.start(1), [model.n_outcomes_[1]])
    with pytest.raises(ValueError, match="features"):
        model.posterior(X[:, :-1])
    with pytest.raises(TypeError, match="integer"):
        model.posterior(X.astype(float))
    with pytest.raises(ValueError, match="feature must be"):
        model.likelihood(X.shape[1], X)
