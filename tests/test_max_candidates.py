"""Problems of very many questions keep those that are worth scoring again after every answer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from seqclass import SequentialClassifier
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.datasets.pointer import make_sensors
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation, MixtureProblem, TableProblem, optimal_cost
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.solvers.ordering.rules import screen_by_information
from seqclass.pomdp.table_problem import select_questions

POINTER = [[1, 0, 1, 0], [0, 1, 0, 1]]
USELESS = np.full((2, 4), 0.5)


def sensors(n, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(3), size=(n, 2)).transpose(0, 2, 1)


def wide(n_rows=200, n_columns=220):
    """Column 217 says most about the class, 5 a little, the others nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    X = rng.integers(3, size=(n_rows, n_columns))
    X[:, 217] = np.where(rng.random(n_rows) < 0.8, y * 2, X[:, 217])
    X[:, 5] = np.where(rng.random(n_rows) < 0.5, y * 2, X[:, 5])
    return X, y


def test_some_questions_are_a_problem_of_their_own():
    tables, prices = sensors(4), np.array([0.03, 0.05, 0.02, 0.04])
    groups, features = np.array([0, -1, 0, -1]), [3, 1, 7, 5]
    full = prices + np.where(groups >= 0, 0.05, 0.0)
    whole = TableProblem(
        [0.4, 0.6], tables, prices, features=features, groups=groups, full_prices=full, any_order=True, max_questions=2
    )
    chosen = np.array([2, 3, 0])
    alone = TableProblem(
        [0.4, 0.6],
        tables[chosen],
        prices[chosen],
        features=[7, 5, 3],
        groups=groups[chosen],
        full_prices=full[chosen],
        any_order=True,
        max_questions=2,
    )
    part = select_questions(whole, chosen)
    assert part.features.tolist() == [7, 5, 3]
    assert optimal_cost(part) == pytest.approx(optimal_cost(alone), abs=1e-12)


def test_the_most_telling_stay_in_their_order():
    problem = TableProblem([0.5, 0.5], sensors(12), prices=np.linspace(0.01, 0.1, 12), any_order=True)
    score = ClassInformation().scores(problem.initial_belief())[0]
    kept = screen_by_information(problem, 5)
    assert kept.features.tolist() == sorted(np.argsort(-score)[:5].tolist())
    assert screen_by_information(problem, 12) is problem


def test_what_says_nothing_of_the_class_but_of_the_hidden_state_is_kept():
    weak = [[0.52, 0.52, 0.48, 0.48], [0.48, 0.48, 0.52, 0.52]]
    questions = [weak, weak, weak, USELESS, POINTER]
    bundles = [None, None, Bundle([2], [2]), None, Bundle([4], [2])]
    problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], questions, prices=0.1, any_order=True, bundles=bundles)
    kept = screen_by_information(problem, 2)
    assert kept.features.tolist() == [0, 4]
    assert kept.structure.bundle(1).features.tolist() == [4]


@pytest.mark.parametrize("model, most", [(NaiveBayes(), 200), (TreeNetwork("forest"), 40)])
def test_a_classifier_of_many_columns(model, most):
    X, y = wide()
    X = X if most == 200 else X[:, np.r_[:30, 200:220]]
    tells = X.shape[1] - 3
    quick = Adaptive(
        n_paths=20, n_cases=50, max_rounds=0, max_stages=4, max_seconds=0, search_nodes=0, certificate_paths=0
    )
    settings = {"discretizer": "precomputed", "order": "adaptive", "feature_costs": 0.02}
    clf = SequentialClassifier(model, quick, **settings, **({} if most == 200 else {"max_candidates": most}))
    clf.fit(X, y)
    assert clf.problem_.n_questions == len(clf.order_) == most
    assert {5, tells} <= set(clf.order_.tolist())
    record = clf.acquire(X)
    assert (record.decision == y).mean() > 0.8
    assert record.n_features.mean() < 5
    # a case takes facts that are not open, and they count
    closed = int(np.setdiff1d(np.arange(X.shape[1]), clf.order_)[0])
    case = clf.session(known={clf.feature_name(closed): 2, clf.feature_name(tells): 0})
    alone = clf.session(known={clf.feature_name(tells): 0})
    assert not np.allclose(case.posterior, alone.posterior, atol=1e-12)
    assert case.next_feature is None or case.next_feature.column in clf.order_


def test_how_many_are_open_can_be_said():
    X, y = wide(100)
    quick = Adaptive(
        n_paths=5, n_cases=5, max_rounds=0, max_stages=2, max_seconds=0, search_nodes=0, certificate_paths=0
    )
    settings = {"discretizer": "precomputed", "order": "adaptive", "feature_costs": 0.02}
    for most, left in ((7, 7), (None, 220), (1000, 220)):
        clf = SequentialClassifier(solver=quick, max_candidates=most, **settings).fit(X, y)
        assert clf.problem_.n_questions == left
        assert {5, 217} <= set(clf.order_.tolist())
    for wrong in (0, -3, 2.5, "all"):
        with pytest.raises((TypeError, ValueError), match="max_candidates"):
            SequentialClassifier(solver=quick, max_candidates=wrong, **settings).fit(X, y)


def test_thousands_of_questions_do_not_overflow():
    problem = TableProblem([0.5, 0.5], np.repeat(sensors(1), 700, axis=0), prices=0.05, any_order=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings = {"n_paths": 5, "n_cases": 5, "max_rounds": 0, "max_stages": 3}
        policy = Adaptive([ClassInformation()], certificate_paths=0, **settings).solve(problem)
    assert policy.info.status == "converged"


@pytest.mark.slow
def test_rules_that_look_once_are_tried_however_many_questions_there_are():
    # of four classes, for which no bounds are gone by
    tables = np.random.default_rng(0).dirichlet(np.ones(3), size=(20, 4)).transpose(0, 2, 1)
    problem = TableProblem(np.full(4, 0.25), tables, prices=0.05, any_order=True)
    found = Adaptive(max_work=1.0, n_paths=10, n_cases=20, max_rounds=0, certificate_paths=0).solve(problem).info
    assert [c.name for c in found.ordering.candidates][:3] == ["ExpectedSaving()", "ClassInformation()", "EC2()"]
    assert any(name.startswith("LookaheadSaving") for name in found.ordering.skipped)


@pytest.mark.slow
def test_where_questions_are_few_look_ahead_tries_them_all():
    # a tree offers no hidden states; the complaint says nothing by itself, and is the last by its own saving
    data = make_sensors(2000, 6, random_state=0)
    solver = Adaptive(max_nodes=0, max_stages=3, n_paths=30, n_cases=60, max_rounds=0, certificate_paths=0)
    clf = SequentialClassifier(TreeNetwork(), solver, discretizer=Discretizer(6), order="adaptive", feature_costs=0.03)
    clf.fit(data.X, data.y)
    assert clf.ordering_.chosen == "LookaheadSaving()"
    assert clf.order_[clf.policy_.next_question(clf.problem_.initial_belief())].tolist() == [0]
