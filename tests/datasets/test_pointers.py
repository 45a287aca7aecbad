"""The indicator problem and the sensors: recipes, true models and optima against enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from seqclass.datasets import Dataset
from seqclass.datasets.hidden import HiddenStates
from seqclass.datasets.pointer import make_indicator, make_sensors, make_xor_noisy_shortcut
from seqclass.datasets.world import World


def parts(data: Dataset) -> tuple[HiddenStates, World]:
    assert isinstance(data.truth, HiddenStates)
    assert data.world is not None
    return data.truth, data.world


@pytest.mark.quick
def test_the_index_says_which_bit_is_the_label() -> None:
    data = make_indicator(40_000, 6, random_state=0)
    assert data.names() == ["index", *(f"bit_{j}" for j in range(6))]
    assert data.X.dtype == np.int8
    assert (data.X[np.arange(40_000), 1 + data.X[:, 0]] == data.y).all()
    assert np.bincount(data.X[:, 0]) / 40_000 == pytest.approx(np.full(6, 1 / 6), abs=0.01)
    assert data.X[:, 1:].mean(axis=0) == pytest.approx(np.full(6, 0.5), abs=0.015)
    assert data.y.mean() == pytest.approx(0.5, abs=0.015)
    for j in range(6):  # P(bit = label) = 1/2 + 1/(2d)
        assert (data.X[:, 1 + j] == data.y).mean() == pytest.approx(0.5 + 1 / 12, abs=0.015)


def test_two_questions_settle_the_indicator() -> None:
    data = make_indicator(500, 10, random_state=1)
    truth, _ = parts(data)
    index = np.full((500, 11), np.nan)
    index[:, 0] = data.X[:, 0]
    assert truth.posterior(index) == pytest.approx(np.full((500, 2), 0.5))  # by itself it says nothing
    both = index.copy()
    both[np.arange(500), 1 + data.X[:, 0]] = data.y
    assert (truth.posterior(both) == np.eye(2)[data.y]).all()
    assert data.optimum is not None
    assert data.optimum.any_order == pytest.approx(0.02)


def test_the_sensor_of_the_complaint_shows_the_class() -> None:
    data = make_sensors(40_000, random_state=2)
    assert data.names()[:2] == ["complaint", "sensor_0"]
    right = data.X[np.arange(40_000), 1 + data.X[:, 0]] == data.y
    assert right.mean() == pytest.approx(0.97, abs=0.005)
    for j in range(8):
        others = data.X[:, 0] != j
        assert (data.X[others, 1 + j] == data.y[others]).mean() == pytest.approx(0.5, abs=0.015)
    assert data.optimum is not None
    assert data.optimum.any_order == pytest.approx(0.09)
    assert data.optimum.in_order == pytest.approx(0.195)


@pytest.mark.covering
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("accuracy", [0.5, 0.7, 0.97, 1.0])
@pytest.mark.parametrize("price", [0.0, 0.01, 0.06, 0.15, 0.24, 0.3, 0.6])
def test_the_optimum_is_that_of_enumeration(n: int, accuracy: float, price: float) -> None:
    data = make_sensors(1, n, accuracy=accuracy, feature_cost=price)
    _, world = parts(data)
    best, found = world.optimum(price), data.optimum
    assert found is not None
    for name in ("any_order", "in_order", "full", "prior"):
        assert getattr(found, name) == pytest.approx(getattr(best, name), abs=1e-12)


def test_the_optima_of_the_sets_as_they_are() -> None:
    for data, price in ((make_sensors(1), 0.03), (make_indicator(1, 7), 0.01)):
        best = data.world.optimum(price)  # type: ignore[union-attr]
        assert data.optimum.any_order == pytest.approx(best.any_order)  # type: ignore[union-attr]
        assert data.optimum.in_order == pytest.approx(best.in_order)  # type: ignore[union-attr]


@pytest.mark.parametrize("data", [make_indicator(1, 3), make_sensors(1, 3, accuracy=0.8)], ids=["indicator", "sensors"])
def test_the_true_model_and_the_tables_are_one_distribution(data: Dataset) -> None:
    truth, world = parts(data)
    joint = world.joint()
    tables, edges = truth.tables()
    assert edges.tolist() == [[1, 2], *[[1, np.inf]] * 3]
    states = [(index, *shown) for index in range(3) for shown in product((0, 1), repeat=3)]
    by_tables = np.zeros_like(joint)
    for x in states:
        weight = truth.hidden_prior * np.prod([tables[j, v] for j, v in enumerate(x)], axis=0)
        np.add.at(by_tables[x], truth.hidden_class, weight)
    assert by_tables == pytest.approx(joint)
    for known in product((False, True), repeat=4):
        axes = tuple(j for j in range(4) if not known[j])
        marginal = joint.sum(axis=axes, keepdims=True) * np.ones_like(joint)
        possible = [x for x in states if marginal[x].sum() > 0]
        rows = np.where(known, np.array(possible, dtype=float), np.nan)
        expected = np.array([marginal[x] / marginal[x].sum() for x in possible])
        assert truth.posterior(rows) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("make", [make_indicator, make_sensors, make_xor_noisy_shortcut])
def test_the_seed_tells(make: Any) -> None:
    first, again, other = (make(50, random_state=seed) for seed in (1, 1, 2))
    assert (first.X == again.X).all()
    assert (first.y == again.y).all()
    assert not (first.X == other.X).all()


def test_two_coins_are_the_class_and_the_shortcut_hardly_tells() -> None:
    data = make_xor_noisy_shortcut(40_000, shortcut_accuracy=0.6, random_state=3)
    truth, world = parts(data)
    assert data.feature_costs is not None
    assert data.feature_costs.tolist() == [0.01, 0.01, 0.02]
    assert ((data.X[:, 0] != data.X[:, 1]) == data.y).all()
    assert [(data.X[:, j] == data.y).mean() for j in range(3)] == pytest.approx([0.5, 0.5, 0.6], abs=0.01)
    rows = np.array(list(product((0.0, 1.0, np.nan), repeat=3)))
    joint = world.joint()
    for row, found in zip(rows, truth.posterior(rows)):
        seen = tuple(slice(None) if np.isnan(value) else slice(int(value), int(value) + 1) for value in row)
        weight = joint[seen].sum(axis=(0, 1, 2))
        assert found == pytest.approx(weight / weight.sum(), abs=1e-12)


def test_the_coins_are_asked_as_long_as_both_pay() -> None:
    for price, expected in ((0.01, 0.02), (0.3, 0.5)):
        best = make_xor_noisy_shortcut(1, feature_cost=price).optimum
        assert best is not None
        assert best.any_order == pytest.approx(expected)
    shortcut = make_xor_noisy_shortcut(1, shortcut_accuracy=0.9, cost_ratio=0.1, feature_cost=0.1).optimum
    assert shortcut is not None
    assert shortcut.any_order == pytest.approx(0.01 + 0.1)  # cheaper than two coins, wrong in a tenth


@pytest.mark.slow
def test_many_bits() -> None:
    data = make_indicator(20, 200)
    assert data.X.dtype == np.int16
    assert data.X[:, 0].max() > 20
    assert data.optimum is not None
    assert data.optimum.any_order == pytest.approx(0.02)
    truth, _ = parts(data)
    assert (truth.posterior(data.X).argmax(axis=1) == data.y).all()


@pytest.mark.parametrize(
    "make, settings, message",
    [
        (make_indicator, {"n_bits": 1}, "n_bits"),
        (make_indicator, {"n_bits": 1001}, "n_bits"),
        (make_indicator, {"feature_cost": -1}, "feature_cost"),
        (make_sensors, {"n_sensors": 1}, "n_sensors"),
        (make_sensors, {"accuracy": 0.4}, "accuracy"),
        (make_sensors, {"n_samples": 0}, "n_samples"),
        (make_xor_noisy_shortcut, {"shortcut_accuracy": 1.1}, "shortcut_accuracy"),
        (make_xor_noisy_shortcut, {"cost_ratio": -1}, "cost_ratio"),
        (make_xor_noisy_shortcut, {"feature_cost": -1}, "feature_cost"),
    ],
)
def test_wrong_settings(make: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**{"n_samples": 5, **settings})
