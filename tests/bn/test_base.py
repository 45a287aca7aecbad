from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from seqclass.bn import ClassMixture, NaiveBayes, ObservationModel, TreeNetwork
from seqclass.testing import check_observation_model


class Chain(ObservationModel):
    """Each feature depends on the class and, where that was seen, on the feature before it."""

    def _fit(self, X, codes, sample_weight):
        shape = (X.shape[1], int(self.n_outcomes_.max()) + 1, int(self.n_outcomes_.max()), len(self.classes_))
        counts = np.zeros(shape)
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        for row, c, w in zip(X, codes, weight):
            for j, v in enumerate(row):
                counts[j, row[j - 1] if j else -1, v, c] += w * (v >= 0)
        real = np.arange(shape[2]) < self.n_outcomes_[:, None]
        counts += real[:, None, :, None]
        self.pair_ = counts / counts.sum(axis=2, keepdims=True)

    def _likelihood(self, feature, evidence):
        """By enumeration of all features: slow and plainly right."""
        codes = np.indices(self.n_outcomes_).reshape(len(self.n_outcomes_), -1).T
        joint = np.ones((len(codes), len(self.classes_)))
        for j in range(len(self.n_outcomes_)):
            before = codes[:, j - 1] if j else np.full(len(codes), -1)
            joint = joint * self.pair_[j, before, codes[:, j]]
        out = np.empty((len(evidence), self.n_outcomes_[feature], len(self.classes_)))
        for row, known in zip(out, np.asarray(evidence)):
            fits = ((known < 0) | (codes == known)).all(axis=1)
            for v in range(len(row)):
                row[v] = joint[fits & (codes[:, feature] == v)].sum(axis=0)
            row /= row.sum(axis=0)
        return out


class Broken(Chain):
    """Forgets to normalise."""

    def _likelihood(self, feature, evidence):
        return super()._likelihood(feature, evidence) * 0.9


class OrderDependent(Chain):
    """Looks only at features with a lower index, and wrongly at none above."""

    def _likelihood(self, feature, evidence):
        known = np.array(evidence)
        known[:, feature:] = -1
        return super()._likelihood(feature, known)


@pytest.mark.slow_cells("chain")
@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayes(alpha=0.1, prior="uniform"),
        NaiveBayes(temperature=2.5),
        Chain(),
    ],
    ids=["plain", "uniform", "tempered", "chain"],
)
def test_conformance(model, data):
    X, y = data
    check_observation_model(model, X[:25], y[:25])


@pytest.mark.parametrize("broken", [Broken(), OrderDependent()])
def test_conformance_finds_what_is_broken(broken, data):
    X, y = data
    with pytest.raises(AssertionError):
        check_observation_model(broken, X[:25], y[:25])


def test_default_table_is_the_likelihood_of_nothing_known(data):
    X, y = data
    model = NaiveBayes().fit(X, y)
    np.testing.assert_array_equal(ObservationModel._likelihood_table(model, slice(None)), model.likelihood_table())
    np.testing.assert_array_equal(ObservationModel._likelihood_table(model, [3, 1]), model.tables([3, 1]))
    assert Chain().fit(X, y).tables([0, 1]) is None


@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork()], ids=["independent", "dependent"])
def test_default_posterior_is_the_chain_of_likelihoods(model, data):
    X, y = data
    model = model.fit(X, y)
    evidence = np.where(np.random.default_rng(3).random(X.shape) < 0.5, X, -1).astype(X.dtype)
    np.testing.assert_allclose(ObservationModel._posterior(model, evidence), model.posterior(evidence), rtol=1e-12)


def test_default_posterior_names_what_is_impossible():
    model = NaiveBayes(alpha=0).fit([[0, 0], [1, 1]], ["a", "b"])
    with pytest.raises(ValueError, match="outcome 1 of feature 1"):
        ObservationModel._posterior(model, np.array([[0, -1], [0, 1]]))


def test_sparse_evidence_is_refused_where_it_would_have_to_be_dense(data):
    X, y = data
    with pytest.raises(TypeError, match="Chain takes dense evidence"):
        Chain().fit(X, y).posterior(sparse.csr_array(X))
    with pytest.raises(TypeError, match="Chain learns from dense rows only"):
        Chain().fit(sparse.csr_array(X), y)


def test_predict_breaks_ties_to_the_first_class():
    model = NaiveBayes().fit([[0], [0]], ["b", "a"])
    assert model.predict([[0], [-1]]).tolist() == ["a", "a"]


def test_not_fitted():
    for call in (
        lambda m: m.posterior([[0]]),
        lambda m: m.likelihood(0, [[0]]),
        lambda m: m.start(1),
        lambda m: m.likelihood_table(),
    ):
        with pytest.raises(NotFittedError):
            call(NaiveBayes())


@pytest.mark.parametrize(
    "X, y, settings, error, message",
    [
        ([[0.5]], [0], {}, TypeError, "integer outcome codes"),
        ([0, 1], [0, 1], {}, ValueError, "two dimensions"),
        ([[0], [-2]], [0, 1], {}, ValueError, "feature 0 has outcome -2 in row 1"),
        ([[0, 1], [0, 4]], [0, 1], {"n_outcomes": [2, 3]}, ValueError, "feature 1 has outcome 4 in row 1"),
        ([[0], [1]], [0], {}, ValueError, "y has 1 labels"),
        ([[0], [1]], [0.5, 1.2], {}, ValueError, "[Cc]ontinuous"),
        ([[0], [1]], [0, 1], {"n_outcomes": [2, 2]}, ValueError, "n_outcomes has shape"),
        ([[0], [1]], [0, 1], {"n_outcomes": [0]}, ValueError, "n_outcomes of feature 0 is 0"),
        ([[0], [1]], [0, 1], {"n_outcomes": [2.5]}, TypeError, "n_outcomes must be integers"),
        ([[0], [1]], [0, 1], {"sample_weight": [1]}, ValueError, "sample_weight must have shape"),
        ([[0], [1]], [0, 1], {"sample_weight": [1, -1]}, ValueError, "sample_weight must not be negative"),
        ([[0], [1]], [0, 1], {"sample_weight": [0, 0]}, ValueError, "sample_weight must not be zero"),
        (np.empty((0, 2), int), [], {}, ValueError, "no rows"),
    ],
)
def test_fit_names_what_is_wrong(X, y, settings, error, message):
    with pytest.raises(error, match=message):
        NaiveBayes().fit(X, y, **settings)


def test_sparse_code_out_of_range_is_named():
    model = NaiveBayes().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(ValueError, match="feature 1 has outcome 3 in row 1"):
        model.posterior(sparse.csr_array(np.array([[1, 1], [0, 3]])))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint64, np.int64])
def test_any_integer_type(dtype, data):
    X, y = data
    X = (X > 0).astype(dtype)
    model = NaiveBayes().fit(X, y)
    expected = NaiveBayes().fit(X.astype(np.int8), y)
    np.testing.assert_array_equal(model.posterior(X), expected.posterior(X.astype(np.int8)))
    np.testing.assert_array_equal(model.likelihood(0, X), expected.likelihood(0, X.astype(np.int8)))


@pytest.mark.parametrize("model", [NaiveBayes(), ClassMixture(2), TreeNetwork()])
def test_features_of_a_table_are_refused_by_all_models_alike(model, data):
    X, y = data
    model.fit(X, y)
    last = X.shape[1] - 1
    np.testing.assert_array_equal(model.likelihood_table(slice(0, 1)), model.likelihood_table([0]))
    np.testing.assert_array_equal(model.likelihood_table([last, 0]), model.likelihood_table()[[last, 0]])
    for features, error, text in (
        ([-1], ValueError, "there is no feature -1"),
        ([last + 1], ValueError, f"there is no feature {last + 1}"),
        (np.ones(last + 1, dtype=bool), TypeError, "array of feature indices"),
        (0, TypeError, "array of feature indices"),
    ):
        with pytest.raises(error, match=text):
            model.likelihood_table(features)
