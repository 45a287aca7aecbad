"""Prices and decision costs as users write them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass.costs import resolve_decisions, resolve_prices
from seqclass.metrics import realised_cost


def test_prices_in_every_form():
    np.testing.assert_array_equal(resolve_prices(0.5, 3).full, [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(resolve_prices([1, 2, 3], 3).full, [1, 2, 3])
    np.testing.assert_array_equal(resolve_prices({"b": 2, "a": 1}, 2, ["a", "b"]).full, [1, 2])
    np.testing.assert_array_equal(resolve_prices({1: 2, 0: 1}, 2).full, [1, 2])
    series = pd.Series({"b": 2, "a": 1})  # by its index, not by position
    np.testing.assert_array_equal(resolve_prices(series, 2, ["a", "b"]).full, [1, 2])


def test_groups_in_every_form():
    names = ["a", "b", "c", "d"]
    as_list = resolve_prices(1.0, 4, names, ["x", None, "x", float("nan")], 0.5)
    as_dict = resolve_prices(1.0, 4, names, {"a": "x", "c": "x"}, {"a": 0.5, "c": 0.5})
    np.testing.assert_array_equal(as_list.groups, [0, -1, 0, -1])
    np.testing.assert_array_equal(as_dict.groups, as_list.groups)
    np.testing.assert_array_equal(as_dict.discounted, [0.5, 1, 0.5, 1])
    with pytest.warns(UserWarning, match="groups change nothing without discounted_costs"):
        np.testing.assert_array_equal(resolve_prices(1.0, 4, None, [7, -1, 7, ""]).groups, [0, -1, 0, -1])


def test_prices_along_an_order():
    prices = resolve_prices([4, 3, 2, 1], 4, None, [0, 0, -1, 0], [0.4, 0.3, 0.2, 0.1])
    stage, full, groups = prices.along(np.array([3, 2, 0, 1]))
    np.testing.assert_array_equal(stage, [1, 2, 0.4, 0.3])
    np.testing.assert_array_equal(full, [1, 2, 4, 3])
    np.testing.assert_array_equal(groups, [0, -1, 0, 0])
    taken = prices.take(np.array([1, 2]))
    np.testing.assert_array_equal(taken.full, [3, 2])
    assert resolve_prices(1.0, 2).along(np.array([1, 0]))[2] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"a": 1}, 2, ["a", "b"]), "no price for 'b'"),
        (({"z": 1}, 2, ["a", "b"]), "'z', which is not a feature; the features are 'a', 'b'"),
        (({5: 1}, 2), "columns are numbered from 0"),
        (({"a": "x", "b": 1}, 2, ["a", "b"]), r"feature_costs\['a'\] must be a number"),
        ((np.inf, 2), "finite"),
        (([[1, 2]], 2), "one price for each of the 2 features"),
        ((1.0, 2, None, [1]), "2 features, got 1"),
        ((1.0, 2, None, [1, 1], 2.0), "feature 0 is 2, above its full price 1"),
        ((1.0, 2, None, None, 0.5), "needs groups"),
    ],
)
def test_wrong_prices(arguments, message):
    with pytest.raises(ValueError, match=message):
        resolve_prices(*arguments)


def test_decisions():
    costs, labels = resolve_decisions(None, np.array([3, 5]))
    np.testing.assert_array_equal(costs, [[0, 1], [1, 0]])
    assert labels.tolist() == [3, 5]
    _, labels = resolve_decisions([[0, 1, 0.2], [1, 0, 0.2]], np.array([3, 5]), ["refer"])
    assert labels.tolist() == [3, 5, "refer"]
    _, labels = resolve_decisions([[0, 1, 0.2], [1, 0, 0.2]], np.array(["a", "b"]), ["refer"])
    assert labels.dtype.kind == "U"
    with pytest.raises(ValueError, match="must differ"):
        resolve_decisions([[0, 1, 0.2], [1, 0, 0.2]], np.array(["a", "b"]), ["a"])
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        resolve_decisions([[0, 1], [1, 0]], np.array(["a", "b"]), ["refer"])


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


def test_a_discount_is_for_what_is_in_a_group():
    prices = resolve_prices([1.0, 0.2, 3.0], 3, groups=["g", None, "g"], discounted_costs=0.5)
    np.testing.assert_array_equal(prices.discounted, [0.5, 0.2, 0.5])
    listed = resolve_prices([1.0, 0.2, 3.0], 3, groups=["g", None, "g"], discounted_costs=[0.5, 9.0, 0.5])
    np.testing.assert_array_equal(listed.discounted, [0.5, 0.2, 0.5])
    with pytest.raises(ValueError, match="discounted_costs of feature 2 is 4, above its full price 3"):
        resolve_prices([5.0, 0.2, 3.0], 3, groups=["g", None, "g"], discounted_costs=4.0)


def test_groups_that_do_nothing_are_told():
    with pytest.warns(UserWarning, match="groups change nothing without discounted_costs"):
        resolve_prices(1.0, 2, groups=["g", "g"])
    resolve_prices(1.0, 2, groups=[None, ""])  # there is no group: nothing to tell


@pytest.mark.parametrize("cost", [1e-320, 1e-101, 2e100])
def test_costs_beyond_reckoning(cost):
    with pytest.raises(ValueError, match="feature_costs must be 0 or between"):
        resolve_prices([1.0, cost], 2)
    with pytest.raises(ValueError, match="decision_costs must be 0 or between"):
        resolve_decisions([[0, cost], [1, 0]], np.array(["a", "b"]))
    assert resolve_prices([0.0, 1e-100, 1e100], 3).full.tolist() == [0.0, 1e-100, 1e100]


def test_long_names_are_cut():
    with pytest.raises(ValueError) as caught:
        resolve_prices({"x" * 70_000: 1.0}, 1, ["y" * 70_000])
    assert len(str(caught.value)) < 300


def test_prices_that_look_like_money_are_told() -> None:
    X = np.repeat([[0.0, 1.0], [1.0, 1.0]], 20, axis=0)
    y = np.repeat(["a", "b"], 20)
    with pytest.warns(UserWarning, match="cheapest feature costs 20 and the dearest error 1, .* give decision_costs"):
        seqclass.SequentialClassifier(feature_costs=[20.0, 35.0]).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = seqclass.SequentialClassifier(feature_costs=[20.0, 35.0], decision_costs=[[0, 500], [900, 0]]).fit(X, y)
        seqclass.SequentialClassifier(feature_costs=[20.0, 0.1]).fit(X, y)
        seqclass.SequentialClassifier(feature_costs=0.0).fit(X, y)
    assert clf.acquire(X).n_features.mean() == 1
