from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chi2_contingency, false_discovery_control
from sklearn.base import clone
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import seqclass
from seqclass import SequentialClassifier
from seqclass.bn import InformationFilter
from seqclass.bn import filter as filter_module


def not_claimed(estimator):
    return {"check_positive_only_tag_during_fit": "of negative numbers only -1, missing, is an outcome"}


@parametrize_with_checks([InformationFilter()], expected_failed_checks=not_claimed)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([InformationFilter(n_features=0.5)], expected_failed_checks=not_claimed)
def test_sklearn_checks_of_a_share(estimator, check):
    check(estimator)


def graded_data(n=300, n_features=80, n_classes=3, seed=0):
    """Features that follow the class less and less, some cells missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    follows = rng.random((n, n_features)) < np.linspace(1, 0, n_features)
    X = np.where(follows, y[:, None], rng.integers(0, 4, (n, n_features)))
    X[rng.random(X.shape) < 0.02] = -1
    return X.astype(np.int8), y


def plain_halving(scores, wanted):
    """The paper's loop, and its end where it would have none."""
    if sum(score > 1e-12 for score in scores) < wanted:
        passing = [score > 1e-12 for score in scores]
        if not any(passing):
            passing[int(np.argmax(np.round(scores, 9)))] = True
        return passing
    eta = 1.0
    while sum(score >= eta * (1 - 1e-10) for score in scores) < wanted:
        eta /= 2
    return [score >= eta * (1 - 1e-10) for score in scores]


@pytest.mark.slow
def test_scores_are_adjusted_mutual_information_of_the_rows_present():
    X, y = graded_data()
    expected = [adjusted_mutual_info_score(y[x >= 0], x[x >= 0]) for x in X.T]
    assert_allclose(InformationFilter().fit(X, y).scores_, expected, atol=1e-12)


@pytest.mark.parametrize("wanted", [1, 2, 30, 60, 80, 500])
def test_halving_is_the_papers_loop(wanted):
    X, y = graded_data()
    fitted = InformationFilter(min_features=wanted).fit(X, y)
    assert_array_equal(fitted.support_, plain_halving(fitted.scores_, wanted))
    if wanted <= 60:
        assert fitted.support_.sum() >= wanted
        assert np.log2(fitted.threshold_) == round(np.log2(fitted.threshold_))
        assert (fitted.scores_ >= 2 * fitted.threshold_).sum() < wanted or fitted.threshold_ == 1


@pytest.mark.slow
@given(
    st.lists(st.one_of(st.floats(-0.3, 1), st.sampled_from([0.0, 1e-15, -1e-15, 0.5, 1.0])), min_size=1, max_size=12),
    st.integers(1, 14),
)
@example(scores=[0.0, 1e-15], wanted=1)
def test_halving_of_any_scores(scores, wanted):
    scores = np.array(scores)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(filter_module, "adjusted_mutual_information", lambda *_: scores)
        fitted = InformationFilter(min_features=wanted).fit(np.zeros((2, len(scores)), dtype=int), [0, 1])
    assert fitted.support_.any()
    assert fitted.support_.tolist() == plain_halving(scores.tolist(), wanted)
    assert (fitted.threshold_ == 0) == ((scores > 1e-12).sum() < wanted)


def test_where_nothing_tells_the_best_one_stays():
    X, y = np.zeros((20, 4), dtype=int), np.repeat([0, 1], 10)
    fitted = InformationFilter().fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [0]
    assert fitted.threshold_ == 0
    X[:, 2] = y
    assert InformationFilter().fit(X, y).get_support(indices=True).tolist() == [2]
    assert InformationFilter().fit(X, np.zeros(20)).get_support(indices=True).tolist() == [0]


def test_a_number_is_the_threshold():
    X, y = graded_data()
    fitted = InformationFilter(0.25).fit(X, y)
    assert_array_equal(fitted.support_, fitted.scores_ >= 0.25)
    assert fitted.threshold_ == 0.25
    # a perfect feature passes the largest threshold there is, whatever the rounding
    assert InformationFilter(1.0).fit(np.column_stack([y, y * 0]), y).support_.tolist() == [True, False]
    assert InformationFilter(-1).fit(X, y).support_.all()
    assert not InformationFilter(0.9).fit(X[:, 70:], y).support_.any()


@pytest.mark.parametrize("n_features, number", [(1, 1), (7, 7), (200, 80), (0.1, 8), (1.0, 80), (0.001, 1)])
def test_a_number_of_features(n_features, number):
    X, y = graded_data()
    fitted = InformationFilter(n_features=n_features).fit(X, y)
    assert fitted.support_.sum() == number
    assert fitted.scores_[fitted.support_].min() == fitted.threshold_
    assert fitted.scores_[~fitted.support_].max(initial=-9) <= fitted.threshold_


def test_ties_go_to_the_lowest_index():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 90)
    x = np.where(rng.random(90) < 0.2, 1 - y, y)
    X = np.column_stack([x * 0, x, 1 - x, x, x])
    assert InformationFilter(n_features=3).fit(X, y).get_support(indices=True).tolist() == [1, 2, 3]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.float32])
def test_whatever_the_form(form):
    X, y = graded_data()
    expected = InformationFilter(min_features=5).fit(X, y)
    fitted = InformationFilter(min_features=5).fit(form(X), y.astype(str))
    assert_allclose(fitted.scores_, expected.scores_, atol=1e-12)
    assert_array_equal(fitted.support_, expected.support_)


def test_nan_is_missing():
    X, y = graded_data()
    expected = InformationFilter().fit(X, y).scores_
    assert_array_equal(InformationFilter().fit(np.where(X < 0, np.nan, X), y).scores_, expected)


def test_names_go_through():
    X, y = graded_data(n_features=3)
    fitted = InformationFilter(n_features=2).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert fitted.get_feature_names_out().tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"threshold": "quarter"}, ValueError, "threshold must be one of 'halving'"),
        ({"threshold": 1.5}, ValueError, "threshold must be between"),
        ({"threshold": None}, TypeError, "threshold must be a number"),
        ({"threshold": 0.1, "n_features": 3}, ValueError, "exclude each other"),
        ({"min_features": 0}, ValueError, "min_features must be at least 1"),
        ({"n_features": 0}, ValueError, "n_features must be at least 1"),
        ({"n_features": 1.5}, ValueError, "n_features as a share"),
        ({"n_features": "all"}, TypeError, "n_features must be an integer"),
    ],
)
def test_settings_are_checked(settings, error, message):
    with pytest.raises(error, match=message):
        InformationFilter(**settings).fit([[0], [1]], [0, 1])


def test_raw_numbers_are_refused():
    with pytest.raises(ValueError, match=r"column 1 holds 0\.5, which is not a whole number"):
        InformationFilter().fit([[0, 0.5], [1, 0.5]], [0, 1])
    with pytest.raises(ValueError, match="column 0 holds -2"):
        InformationFilter().fit([[-2], [1]], [0, 1])


def test_in_a_classifier(tmp_path):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 40))
    X[:, [3, 17]] += 2 * y[:, None]
    clf = SequentialClassifier(selector=InformationFilter(n_features=2)).fit(X, y)
    assert sorted(clf.order_) == [3, 17]
    clf.save(tmp_path / "model")
    back = seqclass.load(tmp_path / "model")
    assert_array_equal(back.predict(X), clf.predict(X))
    assert_array_equal(back.selector_.support_, clf.selector_.support_)
    assert clone(clf).selector.n_features == 2


@pytest.mark.slow
def test_sparse_input_of_very_many_columns_stays_sparse():
    rng = np.random.default_rng(3)
    n, n_features, nnz = 500, 200_000, 400_000
    X = sparse.coo_array(
        (np.ones(nnz, dtype=np.int8), (rng.integers(0, n, nnz), rng.integers(0, n_features, nnz))),
        shape=(n, n_features),
    ).tocsr()
    X.data[:] = 1
    y = rng.integers(0, 2, n)
    column = sparse.csr_array((y[:, None] == 1).astype(np.int8))
    fitted = InformationFilter(min_features=1).fit(sparse.hstack([X, column], format="csr"), y)
    assert fitted.get_support(indices=True).tolist() == [n_features]


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1, 0.5])
def test_features_that_chance_explains_are_left_out(rate: float) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=200)
    X = rng.integers(4, size=(200, 60))
    for j in range(8):
        X[:, j] = np.where(rng.random(200) < 0.1 + 0.06 * j, y, X[:, j])
    tables = [np.array([[np.sum((X[:, j] == v) & (y == c)) for c in range(3)] for v in range(4)]) for j in range(60)]
    p = [chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue for table in tables]
    all_that_pass = InformationFilter(min_features=40).fit(X, y)
    kept = InformationFilter(min_features=40, false_discovery_rate=rate).fit(X, y)
    expected = all_that_pass.support_ & (false_discovery_control(p) <= rate)
    if not expected.any():
        expected[np.argmax(kept.scores_)] = True
    assert kept.get_support().tolist() == expected.tolist()
    assert 1 <= kept.support_.sum() < all_that_pass.support_.sum()


def test_a_rate_out_of_range() -> None:
    with pytest.raises(ValueError, match="false_discovery_rate"):
        InformationFilter(false_discovery_rate=1.5).fit([[0], [1]], [0, 1])
