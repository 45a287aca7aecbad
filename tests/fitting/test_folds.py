"""Which rows a fit is given: folds, some of many, and what a fit without a fold knows of the rows in it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

import seqclass
from seqclass import SequentialClassifier, adaptive_classifier, etana
from seqclass.adaptive_classifier import EFFORTS, NOTHING, AdaptiveClassifier, candidates
from seqclass.fitting._chunked import keys
from seqclass.fitting._cross_fit import cross_fit
from seqclass.fitting._fit import fit_rows
from seqclass.fitting._folds import assign_folds, mask_unseen, recent_rows, sample_rows

X, Y = load_iris(return_X_y=True)
N = 5000
pytestmark = pytest.mark.usefixtures("loose_mixtures")


@pytest.fixture(scope="module")
def fitted() -> AdaptiveClassifier:
    return seqclass.adaptive(0.05, effort="quick").fit(X, Y)


def fair(share: float, expected: float, n: int) -> bool:
    return abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n)


def test_candidates_on_the_same_folds_without_a_fit_of_their_own(without_folds: SimpleNamespace) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150, :5], y[:150]
    held = etana(0.01).fit(X, y, held_out=4).held_out_
    fold = assign_folds(y, 4, 0)
    np.testing.assert_array_equal(without_folds.acting(etana(0.01), X, y, fold).costs, held.costs)


def test_an_outcome_next_to_those_of_a_training_part_is_missing() -> None:
    agent = SimpleNamespace(coder=SimpleNamespace(discretizer="precomputed", n_value_outcomes=np.array([2, 3])))
    X = np.array([[1, 2], [2, 3], [0, -1]])
    for form in (np.asarray, sp.csr_array):
        known = mask_unseen(agent, form(X))
        np.testing.assert_array_equal(known.toarray() if sp.issparse(known) else known, [[1, 2], [-1, -1], [0, -1]])


@pytest.mark.slow
def test_every_candidate_is_held_out_on_the_same_folds(
    fitted: AdaptiveClassifier, without_folds: SimpleNamespace
) -> None:
    fold = assign_folds(Y, 3, 0)
    ways = candidates(EFFORTS["quick"], 0, 150, 4)
    tried = [c.name for c in fitted.choice_.candidates]
    left = [told.split(", on more")[0] for told in fitted.choice_.skipped]
    assert sorted([*tried, *left]) == sorted(ways)
    assert tried == [name for name in ways if name in tried]
    for candidate in fitted.choice_.candidates[1:]:
        clf = SequentialClassifier(feature_costs=0.05, **ways[candidate.name])
        fits = without_folds.planned(without_folds.asking(clf, X, Y, fold), clf, clf.calibrate)
        assert cross_fit(fits, X, Y, fold).cost == candidate.cost
    assert fitted.choice_.candidates[0].n_features == 0
    assert fitted.held_out_.n_folds == 3
    assert fitted.held_out_.deciding_at_once.cost == pytest.approx(fitted.choice_.candidates[0].cost)
    assert fitted.held_out_.expected_cost == fitted.expected_cost_
    assert fitted.held_out_.remedies == ("more rows",)


def test_what_is_chosen_is_fitted_to_all_rows(fitted: AdaptiveClassifier) -> None:
    way = candidates(EFFORTS["quick"], 0, 150, 4)[fitted.choice_.chosen]
    alone = fitted.chosen_classifier()
    assert type(alone) is SequentialClassifier
    assert repr(alone) == repr(SequentialClassifier(feature_costs=0.05, **way))
    with pytest.raises(NotFittedError):
        seqclass.adaptive().chosen_classifier()
    agent = fit_rows(alone.settings(), X, Y).agent
    np.testing.assert_array_equal(fitted.predict_proba(X), agent.acquire(X).posterior)
    assert fitted.expected_cost_ == agent.expected_cost
    assert repr(fitted.observation_model) == repr(way["observation_model"])


@pytest.mark.slow
def test_many_rows_are_chosen_on_some_of_them(monkeypatch: pytest.MonkeyPatch, without_folds: SimpleNamespace) -> None:
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], most_rows=60))
    name = "naive Bayes, one order"
    ways = {name: candidates(EFFORTS["quick"], 0, 150, 4)[name] for name in (NOTHING, name)}
    monkeypatch.setattr(adaptive_classifier, "candidates", lambda *_: ways)
    monkeypatch.setattr(adaptive_classifier, "INCUMBENT", name)
    clf = seqclass.adaptive(0.05, effort="quick").fit(X, Y)
    rows = sample_rows(Y, 60, 0)
    assert np.bincount(Y[rows]).tolist() == [20, 20, 20]
    assert clf.held_out_.n_rows == 60
    fold = assign_folds(Y[rows], 3, 0)
    alone = without_folds.acting(SequentialClassifier(feature_costs=0.05, **ways[name]), X[rows], Y[rows], fold)
    assert clf.choice_.candidates[1].cost == alone.cost
    assert clf.model_.class_count_.tolist() == [50, 50, 50]  # the final fit is to all


def test_some_rows_are_of_every_class() -> None:
    y = np.array(["a"] * 97 + ["b"] * 2 + ["c"])
    rows = sample_rows(y, 10, 0)
    assert sorted(set(y[rows])) == ["a", "b", "c"]
    assert len(rows) == len(set(rows)) == 12
    np.testing.assert_array_equal(sample_rows(y, 100, 0), np.arange(100))
    np.testing.assert_array_equal(sample_rows(y, 10, 0), rows)
    assert sample_rows(y, 10, 1).tolist() != rows.tolist()
    assert len(sample_rows(np.repeat(["a", "b", "c"], [6000, 2995, 5]), 900, 0)) == 901


def test_the_rows_kept_of_many_calls_are_drawn_by_no_label() -> None:
    y = np.random.default_rng(0).random(N) < 0.3
    assert fair(y[keys(0, 0, N) < 0.2].mean(), 0.3, N // 5)


def test_rows_marked_by_a_permutation_are_not_the_ones_looked_at() -> None:
    marked = np.zeros(N, dtype=bool)
    marked[np.random.default_rng(0).permutation(N)[: N // 5]] = True
    some = sample_rows(np.arange(N) % 2, N // 5, 0)
    assert fair(marked[some].mean(), 0.2, len(some))


def test_rows_of_three_half_lives_are_recent() -> None:
    y = np.arange(100) % 2
    assert recent_rows(y, 5.0, 3).tolist() == list(range(85, 100))
    y[:70] = 2  # and so many last ones of each class
    assert recent_rows(y, 5.0, 3).tolist() == [67, 68, 69, *range(85, 100)]
