"""scikit-learn's own checks of the estimator contract, and its searches."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass import SequentialClassifier, certify_differential, certify_error, etana, offpolicy
from seqclass.analysis import missing_sweep
from seqclass.bn import NaiveBayes
from seqclass.drift import DriftTest
from seqclass.metrics import realised_cost, realised_cost_scorer, score_rows
from seqclass.pomdp import Perseus

#: An order by the training rows sees a row of weight 2 once, and two rows twice.
NOT_REPEATED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "an order by the data takes every row as one"
    for kind in ("dense", "sparse")
}


@pytest.mark.slow_cells(
    "SequentialClassifier()-check_estimator_sparse_matrix",
    "SequentialClassifier()-check_sample_weight_equivalence_on_dense_data",
)
@pytest.mark.covering(1)
@parametrize_with_checks(
    [
        SequentialClassifier(),
        etana(published=True).set_params(solver__certificate_paths=0),
    ],
    expected_failed_checks=lambda estimator: NOT_REPEATED if estimator.order == "conditional" else {},
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([SequentialClassifier(solver=Perseus(20, certificate_paths=0), order="information")])
def test_estimator_of_other_parts(estimator, check):
    check(estimator)


def test_the_scorer_goes_to_the_end_of_pipelines() -> None:
    """Of one step, too, and where a pipeline ends with one."""
    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(feature_costs=0.05)
    wanted = realised_cost_scorer(clf.fit(X, y), X, y)
    for piped in (
        make_pipeline(clf),
        make_pipeline(make_pipeline(clf)),
        make_pipeline("passthrough", make_pipeline(clf)),
    ):
        assert realised_cost_scorer(piped.fit(X, y), X, y) == wanted


def test_a_realised_cost_needs_rows_and_weights() -> None:
    with pytest.raises(ValueError, match="y_true must have at least one label"):
        realised_cost([], [], [])
    with pytest.raises(ValueError, match="sample_weight must not be zero for all rows"):
        realised_cost([0, 1], [0, 1], 0.1, sample_weight=[0, 0])


@pytest.mark.slow
def test_a_search_by_realised_cost() -> None:

    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(feature_costs=0.05).fit(X, y)
    record = clf.acquire(X)
    assert realised_cost_scorer(clf, X, y) == -realised_cost(y, record.decision, record.paid)
    heavy = np.where(record.decision == y, 0.0, 1.0)
    assert realised_cost_scorer(clf, X, y, heavy) <= -1
    search = GridSearchCV(
        SequentialClassifier(feature_costs=0.05), {"max_features": [0, 3]}, scoring=realised_cost_scorer, cv=3
    )
    assert search.fit(X, y).best_params_ == {"max_features": 3}
    scaled = make_pipeline(StandardScaler(), SequentialClassifier(feature_costs=0.05))
    assert (cross_val_score(scaled, X, y, scoring=realised_cost_scorer, cv=3, error_score="raise") > -0.4).all()
    with pytest.raises(TypeError, match="GaussianNB does not say what it acquires"):
        realised_cost_scorer(GaussianNB().fit(X, y), X, y)


def test_logarithms_of_probabilities() -> None:
    """Also of a class that an answer rules out, without a warning."""
    X, y = np.array([[0], [1]] * 20), np.array(["a", "b"] * 20)
    clf = SequentialClassifier(NaiveBayes(alpha=0), discretizer="precomputed").fit(X, y)
    np.testing.assert_array_equal(clf.predict_log_proba(X[:2]), [[0, -np.inf], [-np.inf, 0]])
    blurred = SequentialClassifier().fit(*load_iris(return_X_y=True))
    rows = load_iris().data[::10]
    np.testing.assert_array_equal(blurred.predict_log_proba(rows), np.log(blurred.predict_proba(rows)))


def test_what_is_no_classifier_is_told_what_to_give() -> None:
    """A pipeline was called not fitted, and a contract was printed whole as no estimator, or lacked an attribute."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + y[:, None]
    clf = SequentialClassifier(feature_costs=0.02).fit(X[:100], y[:100])
    pipeline = make_pipeline(StandardScaler(), clone(clf)).fit(X[:100], y[:100])
    search = GridSearchCV(clone(clf), {"order": ["given"]}, cv=2).fit(X[:100], y[:100])
    contract = certify_error(clf, X[100:], y[100:], alpha=0.4)
    functions = (score_rows, certify_error, certify_differential, offpolicy.estimate_cost, DriftTest.from_classifier)
    for function in (*functions, missing_sweep):
        for other, words in ((pipeline, r"Pipeline: .*pipeline\[-1\]"), (search, "best_estimator_"), (3, "got int")):
            with pytest.raises(TypeError, match=f"a fitted SequentialClassifier .* wanted, .*{words}"):
                function(other, X[100:], y[100:])
        with pytest.raises(TypeError, match=r"contract\.classifier"):
            function(contract, X[100:], y[100:])
        with pytest.raises(NotFittedError):
            function(clone(clf), X[100:], y[100:])
