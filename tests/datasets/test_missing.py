"""Cells that are hidden: how many, and depending on what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from seqclass.datasets import missing_mask

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20_000, 6)) * [1, 10, 100, 1, 1, 1] + [0, 5, -300, 0, 0, 0]
MECHANISMS = ("mcar", "mar", "mnar_logistic", "mnar_self")


def separation(mask: Any, values: Any) -> float:
    """Mean of the values that are missing less that of those there, in standard deviations."""
    return float((values[mask].mean() - values[~mask].mean()) / values.std())


@pytest.mark.covering(1)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_each_column_lacks_its_share(mechanism: str, share: float) -> None:
    found = missing_mask(X, share, mechanism, inputs=0.5).mean(axis=0)
    always = found == 0
    assert always.sum() == (3 if mechanism == "mar" else 0)
    assert found[~always] == pytest.approx(np.full((~always).sum(), share), abs=0.015)


def test_at_random_depends_on_nothing() -> None:
    mask = missing_mask(X, 0.3)
    for j in range(6):
        for k in range(6):
            assert abs(separation(mask[:, j], X[:, k])) < 0.08


@pytest.mark.parametrize("mechanism", ["mar", "mnar_logistic"])
def test_others_depend_on_the_inputs_alone(mechanism: str) -> None:
    mask = missing_mask(X, 0.5, mechanism, inputs=0.2, random_state=4)
    # one column is the input: of a logistic function of a standard normal score the means are so far apart
    score = np.linspace(-8, 8, 10_001)
    weight = norm.pdf(score)
    expected = 4 * np.sum(score * weight / (1 + np.exp(-score))) / np.sum(weight)
    apart = np.array(
        [[separation(mask[:, j], X[:, k]) if mask[:, j].any() else 0.0 for k in range(6)] for j in range(6)]
    )
    shown = int(np.argmax(np.abs(apart).sum(axis=0)))
    others = np.arange(6) != shown
    assert np.abs(apart[others, shown]) == pytest.approx(np.full(5, expected), abs=0.06)
    assert np.abs(apart[np.ix_(others, others)]).max() < 0.08
    assert mask[:, shown].any() == (mechanism == "mnar_logistic")
    assert abs(apart[shown, shown]) < 0.08


def test_a_cell_may_depend_on_itself() -> None:
    mask = missing_mask(X, 0.5, "mnar_self")
    apart = np.array([separation(mask[:, j], X[:, j]) for j in range(6)])
    assert np.abs(apart) == pytest.approx(np.full(6, np.abs(apart[0])), abs=0.06)
    assert np.abs(apart).min() > 0.6
    assert {-1, 1} == set(np.sign(apart))
    assert abs(separation(mask[:, 0], X[:, 1])) < 0.08


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_units_do_not_matter_and_the_seed_does(mechanism: str) -> None:
    part = X[:500]
    mask = missing_mask(part, 0.4, mechanism)
    assert (mask == missing_mask(1000 * part - 7, 0.4, mechanism)).all()
    assert (mask == missing_mask(part.tolist(), 0.4, mechanism)).all()
    assert (mask != missing_mask(part, 0.4, mechanism, random_state=1)).any()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_ends_and_columns_that_say_nothing(mechanism: str) -> None:
    assert not missing_mask(X[:50], 0, mechanism).any()
    assert missing_mask(X[:50], 1, mechanism).any(axis=0).sum() == (5 if mechanism == "mar" else 6)
    constant = np.full((20_000, 3), 0.1)
    constant[:100, 0] = np.nan
    found = missing_mask(constant, 0.3, mechanism).mean(axis=0)
    assert found[found > 0] == pytest.approx(np.full((found > 0).sum(), 0.3), abs=0.015)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((X, 1.5), "share"),
        ((X, 0.3, "mnar"), "mechanism"),
        ((X[:, :1], 0.3, "mar"), "X has 1"),
        ((X[0], 0.3), "table"),
        ((X[:0], 0.3), "table"),
        ((np.full((2, 2), np.inf), 0.3), "finite"),
        (([["a", "b"]], 0.3), "text"),
    ],
)
def test_refusals(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        missing_mask(*arguments)
