"""Prices and decision costs as users write them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import seqclass
from seqclass import Costs
from seqclass.agent.agent import agent_of
from seqclass.bn import NaiveBayes
from seqclass.costs import first_of_groups
from seqclass.drift import DriftTest
from seqclass.evaluation.decision_curves import acquired_curve
from seqclass.metrics import realised_cost, score_rows
from seqclass.pomdp import GridValueIteration


def test_prices_in_every_form():
    np.testing.assert_array_equal(Costs(0.5).prices(3).full, [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(Costs([1, 2, 3]).prices(3).full, [1, 2, 3])
    np.testing.assert_array_equal(Costs({"b": 2, "a": 1}).prices(2, ["a", "b"]).full, [1, 2])
    np.testing.assert_array_equal(Costs({1: 2, 0: 1}).prices(2).full, [1, 2])
    series = pd.Series({"b": 2, "a": 1})  # by its index, not by position
    np.testing.assert_array_equal(Costs(series).prices(2, ["a", "b"]).full, [1, 2])


def test_groups_in_every_form():
    names = ["a", "b", "c", "d"]
    as_list = Costs(1.0, groups=["x", None, "x", float("nan")], discounted_costs=0.5).prices(4, names)
    as_dict = Costs(1.0, groups={"a": "x", "c": "x"}, discounted_costs={"a": 0.5, "c": 0.5}).prices(4, names)
    np.testing.assert_array_equal(as_list.groups, [0, -1, 0, -1])
    np.testing.assert_array_equal(as_dict.groups, as_list.groups)
    np.testing.assert_array_equal(as_dict.discounted, [0.5, 1, 0.5, 1])
    with pytest.warns(UserWarning, match="groups change nothing without discounted_costs"):
        np.testing.assert_array_equal(Costs(1.0, groups=[7, -1, 7, ""]).prices(4).groups, [0, -1, 0, -1])


def test_prices_along_an_order():
    prices = Costs([4, 3, 2, 1], groups=[0, 0, -1, 0], discounted_costs=[0.4, 0.3, 0.2, 0.1]).prices(4)
    stage, full, groups = prices.for_order(np.array([3, 2, 0, 1]))
    np.testing.assert_array_equal(stage, [1, 2, 0.4, 0.3])
    np.testing.assert_array_equal(full, [1, 2, 4, 3])
    np.testing.assert_array_equal(groups, [0, -1, 0, 0])
    taken = prices.take(np.array([1, 2]))
    np.testing.assert_array_equal(taken.full, [3, 2])
    assert Costs(1.0).prices(2).for_order(np.array([1, 0]))[2] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"a": 1}, 2, ["a", "b"]), "no price for 'b'"),
        (({"z": 1}, 2, ["a", "b"]), "'z', which is not a feature; the features are 'a', 'b'"),
        (({5: 1}, 2), "names 5, which is not a feature; they are 0..1"),
        (({"a": "x", "b": 1}, 2, ["a", "b"]), r"feature_costs\['a'\] must be a number"),
        ((np.inf, 2), "finite"),
        (([[1, 2]], 2), "one price for each of the 2 features"),
        ((1.0, 2, None, [1]), "2 features, got 1"),
        ((1.0, 2, None, [1, 1], 2.0), "feature 0 is 2, above its full price 1"),
        ((1.0, 2, None, None, 0.5), "needs groups"),
    ],
)
def test_wrong_prices(arguments, message):
    prices, n, *rest = arguments
    costs = Costs(prices, **dict(zip(("groups", "discounted_costs"), rest[1:])))
    with pytest.raises(ValueError, match=message):
        costs.prices(n, *rest[:1])


def test_decisions():
    costs, labels = Costs().of_decisions(np.array([3, 5]))
    np.testing.assert_array_equal(costs, [[0, 1], [1, 0]])
    assert labels.tolist() == [3, 5]
    _, labels = Costs(decision_costs=[[0, 1, 0.2], [1, 0, 0.2]], decisions=["refer"]).of_decisions(np.array([3, 5]))
    assert labels.tolist() == [3, 5, "refer"]
    _, labels = Costs(decision_costs=[[0, 1, 0.2], [1, 0, 0.2]], decisions=["refer"]).of_decisions(np.array(["a", "b"]))
    assert labels.dtype.kind == "U"
    with pytest.raises(ValueError, match="must differ"):
        Costs(decision_costs=[[0, 1, 0.2], [1, 0, 0.2]], decisions=["a"]).of_decisions(np.array(["a", "b"]))
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        Costs(decision_costs=[[0, 1], [1, 0]], decisions=["refer"]).of_decisions(np.array(["a", "b"]))


def test_realised_cost():
    y, decision = ["a", "b", "b"], ["a", "refer", "a"]
    matrix = [[0, 1, 0.3], [2, 0, 0.3]]
    cost = realised_cost(y, decision, [0.1, 0.2, 0.3], decision_costs=matrix, decisions=["a", "b", "refer"])
    assert cost == pytest.approx((0.1 + 0.5 + 2.3) / 3)
    weighted = realised_cost([0, 1], [0, 0], 0.5, sample_weight=[3, 1])
    assert weighted == pytest.approx(0.75)
    with pytest.raises(ValueError, match="'c'"):
        realised_cost(["c"], ["a"], 0, decision_costs=matrix, classes=["a", "b"], decisions=["a", "b", "refer"])
    with pytest.raises(ValueError, match="one length"):
        realised_cost([1], [1, 2], 0)
    with pytest.raises(ValueError, match="entry an instance"):
        realised_cost([1, 2], [1, 2], [0])
    assert realised_cost([0, 1], ["refer", "refer"], 0) == realised_cost(["a"], ["refer"], 0) == 1
    for truth, codes in ((["a", "b"], [0, 1]), ([0, 1], ["a", "b"])):
        with pytest.raises(ValueError, match=r"decision holds .* cannot be compared with the labels of y_true"):
            realised_cost(truth, codes, 0)


def test_a_discount_is_for_what_is_in_a_group():
    prices = Costs([1.0, 0.2, 3.0], groups=["g", None, "g"], discounted_costs=0.5).prices(3)
    np.testing.assert_array_equal(prices.discounted, [0.5, 0.2, 0.5])
    listed = Costs([1.0, 0.2, 3.0], groups=["g", None, "g"], discounted_costs=[0.5, 9.0, 0.5]).prices(3)
    np.testing.assert_array_equal(listed.discounted, [0.5, 0.2, 0.5])
    with pytest.raises(ValueError, match="discounted_costs of feature 2 is 4, above its full price 3"):
        Costs([5.0, 0.2, 3.0], groups=["g", None, "g"], discounted_costs=4.0).prices(3)


def test_groups_that_do_nothing_are_told():
    with pytest.warns(UserWarning, match="groups change nothing without discounted_costs"):
        Costs(1.0, groups=["g", "g"]).prices(2)
    Costs(1.0, groups=[None, ""]).prices(2)  # there is no group: nothing to tell


@pytest.mark.parametrize("cost", [1e-320, 1e-101, 2e100])
def test_costs_beyond_reckoning(cost):
    with pytest.raises(ValueError, match="feature_costs must be 0 or between"):
        Costs([1.0, cost]).prices(2)
    with pytest.raises(ValueError, match="decision_costs must be 0 or between"):
        Costs(decision_costs=[[0, cost], [1, 0]]).of_decisions(np.array(["a", "b"]))
    assert Costs([0.0, 1e-100, 1e100]).prices(3).full.tolist() == [0.0, 1e-100, 1e100]


def test_long_names_are_cut():
    with pytest.raises(ValueError) as caught:
        Costs({"x" * 70_000: 1.0}).prices(1, ["y" * 70_000])
    assert len(str(caught.value)) < 300


def test_prices_that_look_like_money_are_told() -> None:
    X = np.repeat([[0.0, 1.0], [1.0, 1.0]], 20, axis=0)
    y = np.repeat(["a", "b"], 20)
    with pytest.warns(UserWarning, match="cheapest feature costs 20 and the dearest error 1, .* give decision_costs"):
        seqclass.SequentialClassifier(feature_costs=[20.0, 35.0]).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = seqclass.SequentialClassifier(feature_costs=Costs([20.0, 35.0], decision_costs=[[0, 500], [900, 0]])).fit(
            X, y
        )
        seqclass.SequentialClassifier(feature_costs=[20.0, 0.1]).fit(X, y)
        seqclass.SequentialClassifier(feature_costs=0.0).fit(X, y)
    assert clf.acquire(X).n_features.mean() == 1


def test_a_unit_is_kept_and_changes_no_number(tmp_path):
    """In get_params, clones, grids and files; a text that is none is refused wherever costs are used."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0], [1]], 30, axis=0), np.repeat(["a", "b"], 30)
    solver = GridValueIteration(20, certificate_paths=0)
    clf = seqclass.SequentialClassifier(feature_costs=Costs(0.02, unit=" EUR "), solver=solver).fit(X, y)
    plain = seqclass.SequentialClassifier(feature_costs=0.02, solver=solver).fit(X, y)
    assert clf.get_params()["feature_costs__unit"] == " EUR "
    assert clf.expected_cost_ == plain.expected_cost_
    clf.save(tmp_path / "model.seq")
    search = GridSearchCV(clf, {"feature_costs__unit": ["CHF"]}, cv=2).fit(X, y)
    texts = {"EUR": [clf, seqclass.load(tmp_path / "model.seq"), clone(clf).fit(X, y)], "CHF": [search.best_estimator_]}
    for unit, classifiers in texts.items():
        for one in classifiers:
            [told] = one.explain(X[:1])
            assert told.unit == agent_of(one).unit == unit
            assert f"price 0.02 {unit}" in str(told)
            assert f" {unit} paid." in str(told)
            assert str(seqclass.Explanation.from_dict(told.to_dict())) == str(told)
            assert f"price 0.02 {unit}" in str(one.session())
            assert one.session().to_json() == plain.session().to_json()  # sessions go on, whatever the unit
    assert "EUR" not in str(plain.explain(X[:1])[0])
    with pytest.raises(ValueError, match="unit must be a text"):
        clf.set_params(feature_costs__unit=3).save(tmp_path / "model.seq")
    for wrong in ("", "E\nUR", 3):
        with pytest.raises(ValueError, match="unit must be a text of one line"):
            seqclass.SequentialClassifier(feature_costs=Costs(0.02, unit=wrong)).fit(X, y)


NAMED = pd.DataFrame([[0, 5, 0.3], [1, 0, 0.3]], index=["m", "b"], columns=["m", "b", "refer"])


def test_costs_of_decisions_go_by_their_names():
    """Classes are sorted, and a table that a person writes need not be: its names were ignored."""
    classes = np.array(["b", "m"])
    costs, labels = Costs(decision_costs=NAMED, decisions=["refer"]).of_decisions(classes)
    assert costs.tolist() == [[0, 1, 0.3], [5, 0, 0.3]]
    assert labels.tolist() == ["b", "m", "refer"]
    plain = Costs(decision_costs=NAMED.to_numpy(), decisions=["refer"]).of_decisions(classes)[0]
    assert plain.tolist() == NAMED.to_numpy().tolist()
    nameless = pd.DataFrame(NAMED.to_numpy())
    assert Costs(decision_costs=nameless, decisions=["refer"]).of_decisions(classes)[0].tolist() == plain.tolist()
    for own, wanted in (([True, False], [False, True]), ([2, 1], [1.0, 2.0]), ([1, 0], [0, 1]), (["2", "1"], [1, 2])):
        frame = pd.DataFrame([[0, 5], [1, 0]], index=own, columns=own)
        assert Costs(decision_costs=frame).of_decisions(np.array(wanted))[0].tolist() == [[0, 1], [5, 0]]
    with pytest.raises(ValueError, match="its columns are called 'm', 'b', 'refer', which should be 'b', 'm'; call"):
        Costs(decision_costs=NAMED).of_decisions(classes)
    with pytest.raises(ValueError, match=r"or name further decisions, decisions=\['refer'\]\.$"):
        Costs(decision_costs=NAMED).of_decisions(classes)
    with pytest.raises(ValueError, match="its rows are called 'mal', 'b', which should be 'b', 'm'; call them so"):
        Costs(decision_costs=NAMED.rename(index={"m": "mal"}), decisions=["refer"]).of_decisions(classes)


def test_named_costs_and_priors_are_the_same_everywhere():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.3, "m", "b")
    X = rng.normal((y == "m")[:, None], 1, (300, 3))
    clf = seqclass.etana(Costs(0.01, decision_costs=NAMED, decisions=["refer"])).fit(X[:200], y[:200])
    record, label = clf.acquire(X[200:]), y[200:]
    about = {"classes": clf.classes_, "decisions": clf.decisions_}
    expected = realised_cost(label, record.decision, record.paid, decision_costs=clf.decision_costs_, **about)
    assert realised_cost(label, record.decision, record.paid, decision_costs=NAMED, **about) == expected
    assert score_rows(clf, X[200:], label, decision_costs=NAMED).realised_cost == pytest.approx(expected)
    curves = [
        acquired_curve(clf, X[200:], label, positive="m", decision_costs=costs).after_price
        for costs in (NAMED, clf.decision_costs_)
    ]
    np.testing.assert_array_equal(*curves)
    test = DriftTest(NAMED, clf.classes_, clf.decisions_)
    np.testing.assert_array_equal(test.decision_costs, clf.decision_costs_)
    for prior in ({"m": 0.2, "b": 0.8}, pd.Series([0.2, 0.8], index=["m", "b"]), [0.8, 0.2]):
        np.testing.assert_allclose(clf.with_prior(prior).problem_.prior, [0.8, 0.2])
        np.testing.assert_allclose(NaiveBayes(prior=prior).fit((X > 0).astype(int), y).class_prior_, [0.8, 0.2])
    with pytest.raises(ValueError, match="prior: its entries are called 'm', 'x', which should be 'b', 'm'"):
        clf.with_prior({"m": 0.2, "x": 0.8})
    # a dict has names, also where they are numbers; pandas numbers what has none
    with pytest.raises(ValueError, match="prior: its entries are called 0, 1, which should be 'b', 'm'"):
        clf.with_prior({0: 0.2, 1: 0.8})
    np.testing.assert_allclose(clf.with_prior(pd.Series([0.8, 0.2])).problem_.prior, [0.8, 0.2])


def test_the_first_of_each_group_and_nothing_outside():
    assert first_of_groups(np.array([1, -1, 1, 0])).tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ([None], "must name every further decision, got .None"),
        ([np.nan], "must name every further decision, got .nan"),
        (["1"], "must differ from each other and from the classes"),
    ],
)
def test_a_further_decision_can_be_told_from_classes_and_missing_cells(extra, words):
    costs = Costs(decision_costs=[[0, 1, 0.2], [1, 0, 0.2]], decisions=extra)
    with pytest.raises(ValueError, match=f"decisions {words}"):
        costs.of_decisions(np.array([0, 1]))
