"""True models by hidden states: posteriors and tables against plain enumeration and quadrature."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, uniform

from seqclass.datasets import load
from seqclass.datasets.conditional import Conditional
from seqclass.datasets.generated import make_naive_bayes_world
from seqclass.datasets.hidden import HiddenStates
from seqclass.discretize import Discretizer

#: Five hidden states of two classes; a normal, a mixed and a discrete feature.
PRIOR, CLASSES = np.array([0.1, 0.3, 0.2, 0.25, 0.15]), np.array([0, 1, 1, 0, 1])
TABLE = np.array([[0.5, 0.0, 0.2, 1.0, 0.2], [0.25, 0.9, 0.3, 0.0, 0.3], [0.25, 0.1, 0.5, 0.0, 0.5]])
NORMALS = [(0.0, 1.0), (1.0, 0.5), (-1.0, 2.0)]
TRUTH = HiddenStates(
    PRIOR,
    CLASSES,
    (
        Conditional(tuple(norm(*pair) for pair in NORMALS), np.array([0, 1, 2, 1, 0])),
        Conditional((uniform(0, 1), norm(0.5, 0.3)), np.array([0, 1, 1, 0, 1])),
        Conditional.from_table([3.0, -1.0, 7.0], TABLE),
    ),
)


def bell(x: float, mean: float, std: float) -> float:
    return math.exp(-(((x - mean) / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi))


def joint(row: Any, h: int) -> float:
    """P(hidden state, what was seen) in plain Python."""
    weight = float(PRIOR[h])
    if not math.isnan(row[0]):
        weight *= bell(row[0], *NORMALS[(0, 1, 2, 1, 0)[h]])
    if not math.isnan(row[1]):
        flat = 1.0 if 0 <= row[1] <= 1 else 0.0
        weight *= bell(row[1], 0.5, 0.3) if h in (1, 2, 4) else flat
    if not math.isnan(row[2]):
        weight *= float(TABLE[[3.0, -1.0, 7.0].index(row[2]), h])
    return weight


@pytest.mark.quick
def test_posteriors_are_those_of_enumeration() -> None:
    X, _ = TRUTH.sample(200, random_state=0)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    X[0] = np.nan
    weights = np.array([[joint(row, h) for h in range(5)] for row in X])
    weights /= weights.sum(axis=1, keepdims=True)
    assert TRUTH.hidden_posterior(X) == pytest.approx(weights, abs=1e-12)
    classes = np.column_stack([weights[:, c == CLASSES].sum(axis=1) for c in range(2)])
    assert TRUTH.posterior(X) == pytest.approx(classes, abs=1e-12)
    assert TRUTH.hidden_posterior(X)[0] == pytest.approx(PRIOR)


def test_samples_have_the_moments_of_the_model() -> None:
    X, y = TRUTH.sample(100_000, random_state=3)
    means = [sum(PRIOR * np.array([0, 1, -1, 1, 0])), 0.5, float(np.array([3, -1, 7]) @ TABLE @ PRIOR)]
    assert X.mean(axis=0) == pytest.approx(means, abs=0.03)
    assert y.mean() == pytest.approx(PRIOR[CLASSES == 1].sum(), abs=0.01)
    assert np.unique(X[:, 2]).tolist() == [-1, 3, 7]
    inside = X[(X[:, 2] == 3) & (y == 0), 1]  # states 0 and 3: uniform
    assert (inside.min() >= 0, inside.max() <= 1) == (True, True)
    again, labels = TRUTH.sample(100_000, random_state=3)
    assert (again == X).all()
    assert (labels == y).all()


def test_the_posterior_is_calibrated() -> None:
    X, y = TRUTH.sample(100_000, random_state=4)
    p = TRUTH.posterior(X)[:, 1]
    for low in np.arange(0, 1, 0.2):
        rows = (p >= low) & (p < low + 0.2)
        assert y[rows].mean() == pytest.approx(p[rows].mean(), abs=4 * 0.5 / math.sqrt(rows.sum()))


def test_a_point_counts_more_than_any_density() -> None:
    exact, broad = Conditional.from_table([1.0], [[1.0]]).shapes[0], norm(1, 0.001)
    truth = HiddenStates(np.array([0.01, 0.99]), np.array([0, 1]), (Conditional((exact, broad), np.array([0, 1])),))
    assert truth.posterior([[1.0], [1.0001], [np.nan]]).tolist() == [[1, 0], [0, 1], [0.01, 0.99]]


def test_tables_are_those_of_quadrature() -> None:
    edges = [[-1.0, 0.3, 2.0], [0.2, 0.9], [0.0, 3.0]]
    tables, used = TRUTH.tables(edges)
    assert tables.shape == (3, 4, 5)
    assert used.tolist() == [[-1, 0.3, 2], [0.2, 0.9, np.inf], [0, 3, np.inf]]
    seen = (lambda x: [x, np.nan, np.nan], lambda x: [np.nan, x, np.nan])
    for j in range(2):
        cuts = [-12.0, *edges[j], 12.0]
        for v in range(len(cuts) - 1):
            for h in range(5):
                breaks = [x for x in (0.0, 1.0) if cuts[v] < x < cuts[v + 1]]
                density = partial(lambda row, h, x: joint(row(x), h), seen[j], h)
                area = quad(density, cuts[v], cuts[v + 1], points=breaks or None, limit=400)[0]
                assert tables[j, v, h] == pytest.approx(area / PRIOR[h], abs=1e-6)
    # -1 below 0; nothing between; 3, which belongs to the bin above the edge, and 7
    assert tables[2, :3] == pytest.approx(np.array([TABLE[1], np.zeros(5), TABLE[0] + TABLE[2]]))
    assert tables.sum(axis=1) == pytest.approx(np.ones((3, 5)))
    assert (tables[1:, 3] == 0).all()


def test_small_probabilities_keep_their_digits() -> None:
    feature = Conditional((norm(0, 1),), np.array([0]))
    rare = feature.bin_probabilities([-20.0, -10.0, 10.0, 20.0]).ravel()
    assert rare[1] == pytest.approx(rare[3], rel=1e-9)
    assert rare[4] == pytest.approx(norm.sf(20), rel=1e-9)
    assert 0 < rare[3] < 1e-22


@pytest.mark.slow
def test_coarse_bins_are_sums_of_fine_ones() -> None:
    truth = load("cube_nm", n_samples=1).truth
    fine = np.linspace(-0.4, 1.4, 13)[1:-1]
    many, few = truth.tables([fine] * 55)[0], truth.tables([fine[3::4]] * 55)[0]
    assert many.reshape(55, 3, 4, 40).sum(axis=2) == pytest.approx(few, abs=1e-14)


def test_bins_of_equal_width() -> None:
    _, edges = TRUTH.tables(6)
    assert edges.shape == (3, 5)
    assert edges[2].tolist() == [3, 7, np.inf, np.inf, np.inf]  # every value has a bin of its own
    for j in range(2):
        steps = np.diff(edges[j])
        assert steps == pytest.approx(np.full(4, steps[0]))
        low, high = edges[j][0] - steps[0], edges[j][-1] + steps[0]
        outer = TRUTH.tables([[low, high], [low, high], []])[0][j, [0, 2]] @ PRIOR
        assert outer == pytest.approx([0.005, 0.005], abs=1e-9)
    assert TRUTH.tables()[1].shape == (3, 7)


def test_bins_reach_as_far_as_a_value_of_some_probability() -> None:
    point = Conditional.from_table([10.0], [[1.0]]).shapes[0]
    feature = Conditional((norm(0, 1), point), np.array([0, 1]))
    edges = feature.edges(4, np.array([0.9, 0.1]))
    assert edges[-1] + edges[1] - edges[0] == pytest.approx(10)
    assert edges[0] * 2 - edges[1] == pytest.approx(norm.ppf(0.005 / 0.9))


def test_the_edges_of_a_discretiser_serve() -> None:
    X, _ = TRUTH.sample(2000, random_state=5)
    X[0, 1] = np.nan
    fitted = Discretizer([5, 4, 3], zero_bin=False).fit(X)
    tables, edges = TRUTH.tables(fitted.bin_edges_)
    assert (edges == fitted.bin_edges_).all()
    outcomes = TRUTH.outcomes(X, edges)
    assert (outcomes == fitted.transform(X)).all()
    shares = np.array([[(outcomes[1:, j] == v).mean() for v in range(5)] for j in range(3)])
    assert shares == pytest.approx(tables @ PRIOR, abs=0.05)


def test_tables_of_a_naive_bayes_world_are_its_own() -> None:
    data = make_naive_bayes_world(50, n_features=3, n_classes=3, n_outcomes=4, prior=[0.2, 0.3, 0.5])
    assert isinstance(data.truth, HiddenStates)
    assert data.world is not None
    assert data.truth.tables()[0] == pytest.approx(np.array(data.world.tables))
    x = data.X[7]
    weights = data.world.joint()[tuple(x)]
    assert data.truth.posterior(data.X)[7] == pytest.approx(weights / weights.sum())
    assert load("tree_world", n_samples=5).truth is None


def test_rows_that_cannot_be() -> None:
    X = np.full((3, 3), np.nan)
    X[1] = [0.0, 1.5, 3.0]  # beyond the uniform, and state 1 has no 3: states 2 and 4 are left
    assert TRUTH.hidden_posterior(X)[1, [0, 1, 3]].tolist() == [0, 0, 0]
    X[2, 2] = 4
    with pytest.raises(ValueError, match="row 2 cannot be: 4 in column 2"):
        TRUTH.posterior(X)
    flat = HiddenStates(np.ones(1), np.array([0]), (Conditional((uniform(0, 1),), np.array([0])),))
    with pytest.raises(ValueError, match=r"1\.5 in column 0"):
        flat.posterior([[1.5]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "edges, message",
    [
        (1, "edges must be at least 2"),
        (2.5, "edges must be an integer"),
        ([[0.0]], "edges must have a row for each of the 3 features, got 1"),
        ([[1.0, 0.0], [], []], "edges of feature 0 must be numbers that increase"),
        ([[], [np.nan], []], "edges of feature 1"),
        ([[], [], [np.inf, 1.0]], "edges of feature 2"),
        ([np.arange(2.0**24), [], []], "more than a gigabyte"),
    ],
)
def test_wrong_edges(edges: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        TRUTH.tables(edges)


def test_wrong_rows() -> None:
    with pytest.raises(ValueError, match="X must have 3 columns"):
        TRUTH.posterior(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="edges must have a row"):
        TRUTH.outcomes(np.zeros((2, 3)), np.zeros(3))


@pytest.mark.parametrize(
    "parts, message",
    [
        ({"hidden_prior": np.full(5, 0.3)}, "hidden_prior must sum to 1"),
        ({"hidden_class": np.array([0, 1])}, "hidden_class"),
        ({"hidden_class": np.array([0, 1, 1, 0, -1])}, "hidden_class"),
        ({"features": (Conditional((norm(),), np.zeros(4, dtype=int)),)}, r"features\[0\] is for 4"),
    ],
)
def test_parts_that_do_not_fit(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HiddenStates(**{"hidden_prior": PRIOR, "hidden_class": CLASSES, "features": TRUTH.features, **parts})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Conditional((norm(),), np.array([0, 1])), "between 0 and 0"),
        (lambda: Conditional((norm(),), np.array([0.0])), "an integer for each hidden state"),
        (lambda: Conditional.from_table([0, 0], np.full((2, 1), 0.5)), "values must be different"),
        (lambda: Conditional.from_table([0, 1], np.full((3, 1), 0.5)), "a row for each of the 2 values"),
        (lambda: Conditional.from_table([0, 1], [[0.5], [0.6]]), "a column of table must sum to 1"),
    ],
)
def test_conditionals_that_are_none(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
