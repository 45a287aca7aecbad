from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB

from seqclass.bn import NaiveBayes


def random_data(seed, n=200, n_features=12, n_classes=3, largest=5):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, n_features)
    y = rng.integers(0, n_classes, n)
    X = (rng.integers(0, largest, (n, n_features)) + y[:, None] * (rng.random((n, n_features)) < 0.4)) % sizes
    return X.astype(np.int16), y, sizes


def with_missing(X, seed, share=0.3):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, -1, X)


def loop_posterior(X, y, sizes, evidence, alpha=1.0, prior=None):
    """Naive Bayes by the book, one cell at a time."""
    classes = np.unique(y)
    if prior is None:
        prior = [np.mean(y == c) for c in classes]
    out = np.zeros((len(evidence), len(classes)))
    for i, row in enumerate(evidence):
        for k, c in enumerate(classes):
            p = prior[k]
            for j, v in enumerate(row):
                if v >= 0:
                    column = X[(y == c) & (X[:, j] >= 0), j]
                    p *= (np.sum(column == v) + alpha) / (len(column) + alpha * sizes[j])
            out[i, k] = p
    return out / out.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n", [1, 7, 3000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("largest", [2, 5, 70])
def test_equals_scikit_learn(n, weighted, largest):
    X, y, sizes = random_data(1, largest=largest)
    weight = np.random.default_rng(2).random(len(y)) if weighted else None
    peer = CategoricalNB(alpha=1, min_categories=sizes).fit(X, y, sample_weight=weight)
    model = NaiveBayes().fit(X, y, weight, n_outcomes=sizes)
    new = np.random.default_rng(3).integers(0, 10**6, (n, X.shape[1])) % sizes
    assert_allclose(model.posterior(new), peer.predict_proba(new), rtol=0, atol=1e-12)
    assert_array_equal(model.predict(new), peer.predict(new))
    assert_allclose(model.class_prior_, np.exp(peer.class_log_prior_), rtol=1e-13)


@pytest.mark.parametrize("n", [5, 2000])
@pytest.mark.parametrize("n_features", [1, 12, 150])
def test_equals_scikit_learn_whatever_the_width(n, n_features):
    X, y, sizes = random_data(4, n=n, n_features=n_features)
    peer = CategoricalNB(min_categories=sizes).fit(X, y)
    model = NaiveBayes().fit(X, y, n_outcomes=sizes)
    assert_allclose(model.posterior(X), peer.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [6, 700])
def test_missing_cells_against_a_plain_loop(n):
    X, y, sizes = random_data(5, n=120)
    X = with_missing(X, 6)
    evidence = with_missing(np.resize(X, (n, X.shape[1])), 7)
    model = NaiveBayes(alpha=0.5).fit(X, y, n_outcomes=sizes)
    some = np.r_[:6, n - 6 : n]
    expected = loop_posterior(X, y, sizes, evidence[some], alpha=0.5)
    assert_allclose(model.posterior(evidence)[some], expected, rtol=1e-11)


def test_partial_fit_equals_fit():
    X, y, sizes = random_data(8)
    X = with_missing(X, 9)
    weight = np.random.default_rng(10).random(len(y))
    whole = NaiveBayes().fit(X, y, weight, n_outcomes=sizes)
    model = NaiveBayes()
    for k, rows in enumerate(np.array_split(np.arange(len(y)), 4)):
        first = {"classes": [2, 1, 0], "n_outcomes": sizes} if k == 0 else {}
        model.partial_fit(X[rows], y[rows], sample_weight=weight[rows], **first)
    assert_allclose(model.counts_, whole.counts_, rtol=1e-12)
    assert_allclose(model.posterior(X), whole.posterior(X), rtol=1e-11)


def test_partial_fit_after_fit_goes_on():
    X, y, sizes = random_data(11)
    model = NaiveBayes().fit(X[:90], y[:90], n_outcomes=sizes).partial_fit(X[90:], y[90:])
    assert_allclose(model.posterior(X), NaiveBayes().fit(X, y, n_outcomes=sizes).posterior(X), rtol=1e-12)


@pytest.mark.parametrize("cuts", [[], [1], [30, 31, 77]])
def test_rows_fade_by_age_however_they_are_cut(cuts):
    X, y, sizes = random_data(12)
    X = with_missing(X, 13)
    whole = NaiveBayes().fit(X, y, 0.5 ** (np.arange(len(y))[::-1] / 20.0), n_outcomes=sizes)
    model = NaiveBayes()
    for rows in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[rows], y[rows], whole.classes_, sizes, half_life=20)
    assert_allclose(model.counts_, whole.counts_, atol=1e-12)
    assert_allclose(model.class_prior_, whole.class_prior_)
    with pytest.raises(ValueError, match="half_life must be a number of rows above 0"):
        model.partial_fit(X, y, half_life=0)


def test_partial_fit_names_what_is_wrong():
    with pytest.raises(ValueError, match=r"first call .* classes and n_outcomes"):
        NaiveBayes().partial_fit([[0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match="calibrate=True"):
        NaiveBayes(temperature="fit").partial_fit([[0]], [0], classes=[0, 1], n_outcomes=2)
    model = NaiveBayes().partial_fit([[0]], ["a"], classes=["a", "b"], n_outcomes=2)
    with pytest.raises(ValueError, match=r"'c'.* not in classes"):
        model.partial_fit([[0]], ["c"])
    with pytest.raises(ValueError, match="feature 0 has outcome 2"):
        model.partial_fit([[2]], ["a"])
    with pytest.raises(ValueError, match="classes differ"):
        model.partial_fit([[0]], ["a"], classes=["a"])
    with pytest.raises(ValueError, match="n_outcomes differ"):
        model.partial_fit([[0]], ["a"], n_outcomes=3)
    with pytest.raises(ValueError, match="2 features"):
        model.partial_fit([[0, 1]], ["a"])
    assert model.counts_.sum() == 1


def test_a_failed_first_partial_fit_leaves_nothing_behind():
    model = NaiveBayes()
    with pytest.raises(ValueError, match="outcome 5"):
        model.partial_fit([[5]], [0], classes=[0, 1], n_outcomes=2)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("temperature", [None, 3.0])
def test_sparse_equals_dense(kind, temperature):
    X, y, sizes = random_data(12, n_features=40)
    rng = np.random.default_rng(13)
    X = with_missing(np.where(rng.random(X.shape) < 0.7, 0, X), 14, share=0.1)
    weight = rng.random(len(y))
    dense = NaiveBayes(temperature=temperature).fit(X, y, weight, n_outcomes=sizes)
    model = NaiveBayes(temperature=temperature).fit(kind(X), y, weight, n_outcomes=sizes)
    assert_allclose(model.counts_, dense.counts_, rtol=1e-12, atol=1e-12)
    assert_allclose(model.posterior(kind(X)), dense.posterior(X), rtol=1e-10)
    assert_allclose(model.predictive(3, kind(X)), dense.predictive(3, X), rtol=1e-10)
    assert model.likelihood(3, kind(X)).shape == (len(y), sizes[3], 3)
    assert_array_equal(NaiveBayes().fit(kind(X), y).n_outcomes_, NaiveBayes().fit(X, y).n_outcomes_)


def test_sparse_with_unsummed_duplicates():
    model = NaiveBayes().fit([[0], [1], [2]], [0, 1, 1])
    twice = sparse.csr_array((np.array([1, 1]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert_array_equal(model.posterior(twice), model.posterior(sparse.csr_array(np.array([[2]]))))
    assert twice.nnz == 2


def test_codes_that_do_not_fit_int8_with_sparse():
    X = np.array([[0], [126], [127], [0]], dtype=np.int8)
    model = NaiveBayes().fit(X, [0, 1, 1, 0])
    assert_allclose(model.posterior(sparse.csr_array(X)), model.posterior(X), rtol=1e-12)


def test_prior():
    X, y, sizes = random_data(17)
    given_prior = np.array([0.7, 0.1, 0.2])
    for prior, expected in [(given_prior.tolist(), given_prior), ("uniform", np.full(3, 1 / 3))]:
        model = NaiveBayes(prior=prior).fit(X, y, n_outcomes=sizes)
        assert_allclose(model.class_prior_, expected)
        assert_allclose(model.posterior(X[:9]), loop_posterior(X, y, sizes, X[:9], prior=expected), rtol=1e-11)


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"prior": [0.5, 0.5, 0.0, 0.0]}, "prior must have shape"),
        ({"prior": [1.5, -0.5, 0.0]}, "prior must not be negative"),
        ({"prior": [0.5, 0.1, 0.1]}, "prior must sum to 1, it sums to 0.7"),
        ({"prior": [0.5, np.nan, 0.5]}, "prior must be finite"),
        ({"prior": "flat"}, "prior must be one of 'uniform'"),
        ({"alpha": -1}, "alpha must be between 0"),
        ({"temperature": 0.5}, "temperature must be between 1"),
        ({"temperature": np.nan}, "temperature must be between 1"),
        ({"temperature": "auto"}, "temperature must be a number"),
    ],
)
def test_settings_name_what_is_wrong(setting, message):
    X, y, _ = random_data(18, n=30)
    with pytest.raises(ValueError, match=message):
        NaiveBayes(**setting).fit(X, y)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n", [1, 500])
def test_impossible_evidence_is_named(kind, n):
    model = NaiveBayes(alpha=0).fit([[0, 0, 1], [0, 1, 0]], ["a", "b"])
    evidence = np.tile([0, 0, -1], (n, 1))
    assert_array_equal(model.posterior(kind(evidence)), np.tile([1.0, 0.0], (n, 1)))
    evidence[-1] = [0, 0, 0]
    with pytest.raises(ValueError, match="outcome 0 of feature 2 has probability zero"):
        model.posterior(kind(evidence))


def test_zero_prior_stays_zero_and_can_be_impossible():
    model = NaiveBayes(alpha=0, prior=[1, 0]).fit([[0], [1]], ["a", "b"])
    assert model.posterior([[0], [-1]]).tolist() == [[1, 0], [1, 0]]
    with pytest.raises(ValueError, match="outcome 1 of feature 0"):
        model.posterior([[1]])


def test_nothing_counted_is_uniform():
    model = NaiveBayes(alpha=0).fit([[-1, 0], [1, 1]], ["a", "b"], n_outcomes=[3, 2])
    assert_allclose(model.likelihood_table()[0, :, 0], 1 / 3)


def test_table_is_padded_with_zeros():
    X, y, sizes = random_data(19)
    table = NaiveBayes(temperature=2).fit(X, y, n_outcomes=sizes).likelihood_table()
    beyond = np.arange(sizes.max()) >= sizes[:, None]
    assert beyond.any()
    assert (table[beyond] == 0).all()
    assert_allclose(table.sum(axis=1), 1, rtol=1e-12)


def test_table_of_some_features():
    X, y, sizes = random_data(20)
    model = NaiveBayes(temperature=2).fit(X, y, n_outcomes=sizes)
    assert_array_equal(model.likelihood_table([5, 2]), model.likelihood_table()[[5, 2]])
    assert_array_equal(model.likelihood_table(slice(3, 6)), model.likelihood_table()[3:6])
    assert model.likelihood_table([]).shape == (0, sizes.max(), 3)
    with pytest.raises(ValueError, match="no feature 12"):
        model.likelihood_table([12])
    with pytest.raises(TypeError, match="feature indices"):
        model.tables(np.ones(12, dtype=bool))


@given(
    st.integers(0, 1000),
    st.sampled_from([None, 1.7]),
    st.permutations(range(6)),
    st.integers(0, 6),
    st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_posterior_does_not_depend_on_the_order_of_acquisition(seed, temperature, order, length, missing):
    X, y, sizes = random_data(seed, n=40, n_features=6)
    model = NaiveBayes(temperature=temperature).fit(X, y, n_outcomes=sizes)
    instance = np.where(missing, -1, X[seed % 40])
    belief, state = model.class_prior_, model.start(1)
    evidence = np.full((1, 6), -1)
    for feature in order[:length]:
        if instance[feature] >= 0:
            belief = belief * model.stage_likelihood(feature, state)[0, instance[feature]]
        state = model.advance(feature, state, instance[[feature]])
        evidence[0, feature] = instance[feature]
    assert_allclose(model.posterior(evidence)[0], belief / belief.sum(), rtol=1e-11)


def test_no_underflow_with_many_features():
    rng = np.random.default_rng(21)
    X = rng.integers(0, 4, (20, 5000))
    y = np.arange(20) % 2
    posterior = NaiveBayes().fit(X, y).posterior(X)
    assert np.isfinite(posterior).all()
    assert_array_equal(posterior.argmax(axis=1), y)


def test_get_params_and_clone():
    model = NaiveBayes(alpha=0.3, prior=[0.2, 0.8], temperature=2.0)
    assert clone(model).get_params() == model.get_params()


def test_likelihood_is_not_a_way_to_change_the_model():
    model = NaiveBayes().fit([[0], [1]], [0, 1])
    before = model.likelihood_table()
    likelihood = model.likelihood(0, [[-1], [-1]])
    with pytest.raises(ValueError, match="read-only"):
        likelihood[0] = 0
    assert_array_equal(model.likelihood_table(), before)
