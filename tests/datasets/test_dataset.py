"""The record of a data set, and the figures that it tells."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from seqclass import SequentialClassifier
from seqclass.datasets import Dataset, load
from seqclass.datasets.generated import make_naive_bayes_world
from seqclass.datasets.text import make_sparse_text

X = np.array([[0.0, 1.0], [2.0, np.nan], [0.0, 3.0]])
TOY = Dataset("toy", X, np.array([0, 1, 1]), ("no", "yes"), feature_costs=np.array([4.0, 6.0]))


def test_the_record_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        TOY.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("X", np.zeros(3), "rows and columns"),
        ("y", np.array([0, 1]), "integer for each of the 3 rows"),
        ("y", np.array([0.0, 1.0, 1.0]), "integer"),
        ("y", np.array([0, 1, 2]), "between 0 and 1"),
        ("y", np.array([0, 1, -1]), "between 0 and 1"),
        ("class_names", "no", "class_names of 'toy' must be a list of names, got the text 'no'"),
        ("class_names", ("no", "no"), "class_names of 'toy': two classes or decisions are called 'no'"),
        ("decisions", ("refer", "no"), "two classes or decisions are called 'no'"),
        ("decisions", "refer", "decisions of 'toy' must be a list of names"),
        ("feature_names", "ab", "feature_names of 'toy' must be a list of names"),
        ("groups", "ab", "groups of 'toy' must be a list of names"),
        ("bundles", "ab", "bundles of 'toy' must be a list of names"),
        ("feature_names", ("a",), "feature_names of 'toy' must have 2"),
        ("feature_costs", np.ones(3), "feature_costs of 'toy' must have 2"),
        ("groups", ("a",), "groups"),
        ("bundles", ("a",), "bundles of 'toy' must have 2"),
        ("test_index", np.array([3]), "test_index"),
        ("train_index", np.array([-1]), "train_index"),
        ("decision_costs", np.eye(3), "decision_costs"),
    ],
)
def test_parts_that_do_not_fit(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TOY, **{field: value})


def test_labels_of_a_shuffled_frame_go_by_position() -> None:
    rows = pd.DataFrame({"a": [0.0, 1.0, 2.0], "y": [0, 1, 1]}).iloc[[2, 0, 1]]
    data = Dataset("shuffled", rows[["a"]], rows["y"], ("well", "ill"), train_index=[0, 2], test_index=pd.Series([1]))
    assert data.labels.tolist() == ["ill", "well", "ill"]
    assert data.y[data.train_index].tolist() == [1, 1]
    assert data.take(data.test_index).y.tolist() == [0]


def test_costs_go_by_their_names() -> None:
    rows, prices = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}), {"b": 0.1, "a": 0.9}
    costs = pd.DataFrame([[0, 5], [1, 0]], index=["ill", "well"], columns=["ill", "well"])
    for given in (prices, pd.Series(prices), [0.9, 0.1]):
        data = Dataset("toy", rows, [0, 1], ("well", "ill"), feature_costs=given, decision_costs=costs)
        assert data.names() == ["a", "b"]
        assert data.costs().feature_costs.tolist() == [0.9, 0.1]
        assert data.decision_costs.tolist() == [[0, 1], [5, 0]]
    with pytest.raises(ValueError, match="feature_costs: its entries are called 'a', 'c', which should be 'a', 'b'"):
        Dataset("toy", rows, [0, 1], ("well", "ill"), feature_costs={"a": 1.0, "c": 2.0})


def test_labels_instead_of_numbers_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"place of its class .* np\.unique\(labels, return_inv"):
        Dataset("toy", np.eye(2), np.array(["ill", "well"]), ("ill", "well"))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_positions_of_a_sparse_set_are_narrow_where_they_fit(form: str) -> None:
    wide = sp.random_array((30, 20), density=0.2, format=form, rng=np.random.default_rng(0))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    data = Dataset("wide", wide, np.arange(30) % 2, ("a", "b"))
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    assert type(data.X) is type(wide)
    assert (data.X.toarray() == wide.toarray()).all()
    assert data.X.data is wide.data or np.shares_memory(data.X.data, wide.data)
    assert wide.indices.dtype == np.int64  # what was given stays
    huge = sp.csr_array((np.ones(1), np.array([2**40]), np.array([0, 1, 1])), shape=(2, 2**40 + 1))
    assert Dataset("huge", huge, np.array([0, 1]), ("a", "b")).X.indices[0] == 2**40


def test_labels_names_and_rows() -> None:
    assert TOY.labels.tolist() == ["no", "yes", "yes"]
    assert TOY.names() == ["x0", "x1"]
    part = replace(TOY, train_index=np.array([0, 1])).take([False, True, True])
    assert part.y.tolist() == [1, 1]
    assert part.train_index is None
    assert TOY.frame().columns.tolist() == ["x0", "x1"]
    frame = replace(TOY, X=pd.DataFrame(X, columns=["a", "b"]))
    assert frame.frame() is frame.X
    assert frame.take([2]).X["b"].tolist() == [3.0]


def test_a_sparse_set_as_a_frame() -> None:
    data = make_sparse_text(5, 30, random_state=0)
    frame = data.frame()
    assert frame.shape == (5, 30)
    assert (frame.to_numpy() == data.X.toarray()).all()


@pytest.mark.parametrize("form", ["dense", "sparse", "data frame"])
def test_the_figures(form: str) -> None:
    forms = {"dense": X, "sparse": sp.csr_array(X), "data frame": pd.DataFrame(X, columns=["a", "b"])}
    info = replace(TOY, X=forms[form]).info()
    assert (info.kind, info.n_samples, info.n_features, info.n_classes) == (form, 3, 2, 2)
    assert info.zero_share == pytest.approx(2 / 6)
    assert info.missing_share == pytest.approx(1 / 6)
    assert info.class_counts == {"no": 1, "yes": 2}
    assert (info.cost_range, info.total_cost, info.n_unpriced) == ((4.0, 6.0), 10.0, 0)
    assert "16.7% missing" in str(info)
    assert "prices    4 to 6, 10 in all" in str(info)


def test_integers_and_categories() -> None:
    assert replace(TOY, X=np.array([[0, 1], [2, 3], [0, 0]])).info().zero_share == 0.5
    frame = pd.DataFrame({"a": [0, 1, 2], "b": ["red", None, "blue"]})
    info = replace(TOY, X=frame).info()
    assert info.dtype == "1 numeric, 1 categorical"
    assert info.missing_share == pytest.approx(1 / 6)


def test_the_text_tells_what_is_there() -> None:
    data = replace(
        TOY,
        feature_costs=np.array([4.0, np.nan]),
        discounted_costs=np.array([1.0, np.nan]),
        groups=("blood", None),
        decision_costs=np.array([[0.0, 1.0, 0.3], [1.0, 0.0, 0.3]]),
        decisions=("refer",),
        train_index=np.array([0, 1]),
        test_index=np.array([2]),
        source="made up",
    )
    text = str(data.info())
    assert "4 each; 1 unknown; 1 group with a discount" in text
    assert "split     train 2, test 1" in text
    assert "decisions 3, 1 beyond the classes" in text
    assert text.endswith("source    made up")
    assert "optimum" in str(make_naive_bayes_world(10).info())
    crowd = Dataset("crowd", np.zeros((40, 1)), np.arange(40) // 2, tuple(map(str, range(20))))
    assert "20, of 2 to 2 rows each" in str(crowd.info())


def test_settings_for_a_classifier() -> None:
    data = replace(
        TOY,
        feature_costs=np.array([4.0, np.nan]),
        discounted_costs=np.array([1.0, np.nan]),
        groups=("blood", None),
    )
    with pytest.raises(ValueError, match=r"gives no price for 'x1'; pass missing_cost"):
        data.costs()
    found = data.costs(scale=0.01, missing_cost=2.0)
    assert found.feature_costs.tolist() == [0.04, 0.02]
    assert found.discounted_costs.tolist() == [0.01, 0.02]
    assert found.groups == ["blood", None]
    assert load("iris").costs().non_default_params() == {"feature_costs": 0.01}


def test_a_classifier_takes_the_settings() -> None:
    costs = np.array([[0.0, 1.0, 0.3], [1.0, 0.0, 0.3]])
    data = make_naive_bayes_world(300, n_features=4, decision_costs=costs, random_state=0)
    data = replace(data, groups=("g", "g", None, None), discounted_costs=np.array([0.05, 0.01, 0.05, 0.05]))
    clf = SequentialClassifier(feature_costs=data.costs(scale=0.5)).fit(data.X, data.y)
    assert clf.decisions_.tolist() == [0, 1, 2]
    assert set(clf.predict(data.X)) <= {0, 1, 2}
