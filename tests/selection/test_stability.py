"""Nogueira's measure: its properties, its interval, and its window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqclass.selection import nogueira_stability
from seqclass.selection.stability import Stability, windowed_stability

masks = st.tuples(st.integers(2, 6), st.integers(1, 7)).flatmap(lambda shape: arrays(np.bool_, shape))


def by_hand(Z: Any) -> float:
    """The measure by its definition, feature by feature."""
    n, d = Z.shape
    k = sum(int(row.sum()) for row in Z) / n
    spread = sum(np.var(Z[:, f].astype(float), ddof=1) for f in range(d)) / d
    return float(1 - spread / (k / d * (1 - k / d)))


@given(masks)
def test_it_is_the_definition(Z: Any) -> None:
    result = nogueira_stability(Z)
    if 0 < Z.sum() < Z.size:
        assert result.value == pytest.approx(by_hand(Z))
        assert -1 / (len(Z) - 1) - 1e-9 <= result.value <= 1 + 1e-12
    else:
        assert (result.value, result.variance) == (1.0, 0.0)
    assert result.lower <= result.value <= result.upper
    assert (result.n_supports, result.n_features) == Z.shape


@given(masks, st.randoms())
def test_order_does_not_matter(Z: Any, random: Any) -> None:
    rows, columns = list(range(len(Z))), list(range(Z.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one, other = nogueira_stability(Z), nogueira_stability(Z[rows][:, columns])
    assert other.value == pytest.approx(one.value)
    assert other.variance == pytest.approx(one.variance)
    # what is left out is as stable as what is kept
    assert nogueira_stability(~Z).value == pytest.approx(one.value)
    assert nogueira_stability(~Z).variance == pytest.approx(one.variance)


@pytest.mark.quick
def test_known_values() -> None:
    assert nogueira_stability([[1, 0, 1], [1, 0, 1]]) == Stability(1.0, 1.0, 1.0, 0.0, 0.95, 2, 3)
    assert nogueira_stability([[1, 0], [0, 1]]).value == -1
    assert nogueira_stability([[], []], n_features=4).value == 1
    assert nogueira_stability(np.ones((3, 2))).value == 1
    assert nogueira_stability([[], [0, 1]], n_features=2).value == -1
    assert float(nogueira_stability([[1, 0], [1, 0]])) == 1.0


def test_random_selection_is_worth_nothing() -> None:
    rng = np.random.default_rng(0)
    values = [nogueira_stability(rng.random((20, 50)) < 0.2).value for _ in range(200)]
    assert np.mean(values) == pytest.approx(0, abs=0.003)


def test_the_interval_covers_the_truth() -> None:
    rng = np.random.default_rng(1)
    p = np.repeat([0.9, 0.1], [10, 40])
    truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
    runs = [nogueira_stability(rng.random((100, 50)) < p, confidence=0.9) for _ in range(400)]
    covered = np.mean([run.lower <= truth <= run.upper for run in runs])
    assert covered == pytest.approx(0.9, abs=0.04)
    assert np.sqrt(np.mean([run.variance for run in runs])) == pytest.approx(np.std([r.value for r in runs]), rel=0.1)
    widths = [run.upper - run.lower for run in (runs[0], nogueira_stability(np.eye(50)[:9], confidence=0.0))]
    assert widths[0] > 0
    assert widths[1] == 0


def test_forms_of_supports() -> None:
    Z = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])
    expected = nogueira_stability(Z)
    forms: list[tuple[Any, int | None]] = [
        (Z.astype(bool), None),
        (Z.tolist(), None),
        (list(Z.astype(float)), None),
        (iter(Z), None),
        ([[0, 1], [2, 0], np.array([0, 1])], 4),
        ([np.array([True, True, False, False]), [0, 2], (1, 0)], 4),
    ]
    for supports, n_features in forms:
        assert nogueira_stability(supports, n_features) == expected


@pytest.mark.parametrize(
    "supports, n_features, word",
    [
        ([[1, 0]], None, "at least two"),
        ([], None, "empty"),
        ([[1, 0], [1, 0, 1]], None, "one length"),
        ([[0, 5], [1, 2]], None, "0 and 1 only"),
        ([["a"], ["b"]], None, "0 and 1 only"),
        ([[0, 5], [1, 2]], 4, "support 0 must hold feature numbers"),
        ([[0, 1], [-1]], 4, "support 1 must hold feature numbers"),
        ([[0, 1], [1.5]], 4, "support 1 must hold feature numbers"),
        ([[0, 0], [1]], 4, "twice"),
        ([[True, False], [0]], 4, "mask of 2"),
        ([[[1]], [[1]]], None, "shape"),
        ([[], []], None, "no features"),
    ],
)
def test_bad_supports(supports: Any, n_features: int | None, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        nogueira_stability(supports, n_features)


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match="confidence"):
        nogueira_stability([[1, 0], [1, 0]], confidence=95)
    with pytest.raises(ValueError, match="window"):
        windowed_stability([[1, 0], [1, 0]], window=1)


@given(arrays(np.bool_, (8, 5)), st.integers(2, 9))
def test_the_window_slides(Z: Any, window: int) -> None:
    found = windowed_stability(Z, window)
    assert np.isnan(found[: window - 1]).all()
    for t in range(window - 1, 8):
        assert found[t] == pytest.approx(nogueira_stability(Z[t - window + 1 : t + 1]).value)


def test_windows_may_be_shorter_at_the_start():
    supports = np.random.default_rng(0).random((12, 6)) < 0.5
    short = windowed_stability(supports, window=5, min_supports=2)
    expected = [np.nan, *(nogueira_stability(supports[max(0, t - 4) : t + 1]).value for t in range(1, 12))]
    np.testing.assert_allclose(short, expected)
    np.testing.assert_allclose(windowed_stability(supports, window=5)[4:], expected[4:])
    assert np.isnan(windowed_stability(supports, window=5)[:4]).all()
    for wrong in (1, 6):
        with pytest.raises(ValueError, match="min_supports"):
            windowed_stability(supports, window=5, min_supports=wrong)
