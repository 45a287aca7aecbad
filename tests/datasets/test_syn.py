"""Syn1, Syn2, ...: the closed form of each against its formula, and the labels against the closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from seqclass.datasets import load
from seqclass.datasets.logit import SwitchedLogit
from seqclass.datasets.syn import make_syn

EVERY = [("sefa", number) for number in (1, 2, 3)] + [("invase", number) for number in range(1, 7)]
#: Logits by (recipe, number) below zero of the eleventh feature, and from there on.
RULES = {("sefa", 1): "12", ("sefa", 2): "13", ("sefa", 3): "23"} | {
    ("invase", number): rule for number, rule in enumerate(("11", "22", "33", "12", "13", "23"), 1)
}


def chance(recipe: str, number: int, x: list[float]) -> float:
    """P(class 1) as the papers' code has it, features counted from 1."""
    x = [math.nan, *x]
    squares = sum(x[j] ** 2 for j in (3, 4, 5, 6))
    logits = {
        "1": (4 if recipe == "sefa" else 1) * x[1] * x[2],
        "2": 1.2 * squares - 4.2 if recipe == "sefa" else squares - 4,
        "3": -10 * math.sin(0.2 * x[7]) + abs(x[8]) + x[9] + math.exp(-x[10]) - 2.4,
    }
    return 1 / (1 + math.exp(logits[RULES[recipe, number][0 if x[11] < 0 else 1]]))


@pytest.mark.parametrize("recipe, number", EVERY)
def test_the_closed_form(recipe: str, number: int) -> None:
    data = make_syn(number, 300, 13, recipe=recipe, random_state=0)
    assert data.name == f"syn{number}"
    expected = [chance(recipe, number, row) for row in data.X.tolist()]
    assert data.truth is not None
    assert data.truth.posterior(data.X) == pytest.approx(np.column_stack([1 - np.array(expected), expected]))


@pytest.mark.parametrize("recipe, number", EVERY)
def test_labels_follow_it(recipe: str, number: int) -> None:
    data = make_syn(number, 40_000, recipe=recipe, random_state=1)
    assert data.X.mean(axis=0) == pytest.approx(np.zeros(11), abs=0.03)
    assert np.cov(data.X.T) == pytest.approx(np.eye(11), abs=0.04)
    p = data.truth.posterior(data.X)[:, 1]  # type: ignore[union-attr]
    for low in np.arange(0, 1, 0.25):
        rows = (p >= low) & (p <= low + 0.25)
        assert data.y[rows].mean() == pytest.approx(p[rows].mean(), abs=4 * 0.5 / math.sqrt(rows.sum()))


@pytest.mark.parametrize("recipe, number", EVERY)
def test_what_matters_is_named_and_the_rest_may_be_missing(recipe: str, number: int) -> None:
    data = make_syn(number, 200, 12, recipe=recipe, random_state=2)
    truth = data.truth
    assert isinstance(truth, SwitchedLogit)
    assert data.informative is not None
    known = truth.posterior(data.X)
    X = np.full_like(data.X, np.nan)
    X[:, data.informative] = data.X[:, data.informative]
    assert (truth.posterior(X) == known).all()
    columns = {"1": [0, 1], "2": [2, 3, 4, 5], "3": [6, 7, 8, 9]}
    for i, below in enumerate(data.X[:, 10] < 0):  # what the logit of the row looks at, and nothing else
        used = columns[RULES[recipe, number][0 if below else 1]]
        row = np.full((1, 12), np.nan)
        row[0, [*used, 10]] = data.X[i, [*used, 10]]
        assert (truth.posterior(row) == known[i]).all()
    for j in data.informative:
        X = data.X.copy()
        X[:, j] = np.nan
        with pytest.raises(ValueError, match=f"lacks column {j}, which decides"):
            truth.posterior(X)


def test_names_and_seeds() -> None:
    assert make_syn(1, 3).names()[0] == "x1"
    first, again, other = (load("syn3", n_samples=60, random_state=seed) for seed in (1, 1, 2))
    assert (first.X == again.X).all()
    assert (first.y == again.y).all()
    assert not (first.X == other.X).all()
    assert load("syn2", n_samples=5, recipe="invase").truth.recipe == "invase"


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"number": 4}, "number must be between 1 and 3"),
        ({"number": 7, "recipe": "invase"}, "number must be between 1 and 6"),
        ({"recipe": "other"}, "recipe"),
        ({"n_features": 10}, "n_features"),
        ({"n_samples": 0}, "n_samples"),
        ({"feature_cost": -1}, "feature_cost"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_syn(**{"n_samples": 5, **settings})


def test_wrong_rows() -> None:
    with pytest.raises(ValueError, match="X must have 11 columns"):
        SwitchedLogit(1, "sefa").posterior(np.zeros((1, 12)))
