from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seqclass.datasets import Dataset, load
from seqclass.datasets.conditional import Conditional, Values, truncate_normal
from seqclass.datasets.hidden import HiddenStates
from seqclass.datasets.synthetic_mnist import make_synthetic_mnist


def figure(label: int) -> np.ndarray:
    """Pixels of a class's figure, drawn stroke by stroke."""
    image = np.zeros((28, 28), dtype=bool)
    if label == 0:
        for row in range(28):
            for column in range(14, 28):
                image[row, column] = 16 <= (row - 14) ** 2 + (column - 21) ** 2 <= 36
    if label in (1, 5):
        image[:, 19:23] = True
    if label in (2, 5):
        image[12:16, 14:] = True
    if label in (3, 8):
        for k in range(14):
            image[k, 14 + k] = True
    if label == 4:
        image[8:20, 16:26] = True
    if label == 6:
        for row in range(6, 22):
            half = (row - 6) // 2
            image[row, max(14, 21 - half) : min(28, 22 + half)] = True
    if label == 7:
        image[6:22, 16:20] = True
        image[18:22, 16:26] = True
    if label == 8:
        for k in range(14):
            image[k, 27 - k] = True
    if label == 9:
        for row in (6, 10, 14, 18):
            for column in (16, 20, 24):
                image[row : row + 2, column : column + 2] = True
    return image


@pytest.fixture(scope="module")
def faint() -> Dataset:
    return make_synthetic_mnist(400, noise_std=0.02, pattern_intensity=0.7, random_state=2)


@pytest.mark.parametrize("label", range(10))
def test_the_figure_of_each_class(label: int, faint: Dataset) -> None:
    data = faint
    images = data.X[data.y == label].reshape(-1, 28, 28)
    assert (images[:, ~figure(label)] < 0.2).all()
    shown = images[:, figure(label)]
    assert (abs(shown - 0.7) < 0.2).all()
    # the square, the cross and the L cover the noise
    assert (shown == 0.7).all() == (label in (4, 5, 7))


@pytest.mark.slow
def test_what_is_known_of_it() -> None:
    data = load("synthetic_mnist", n_samples=2000, random_state=4)
    touched = np.any([figure(label) for label in range(10)], axis=0)
    assert data.informative is not None
    assert data.informative.tolist() == np.flatnonzero(touched).tolist()
    assert data.feature_names is not None
    assert [data.feature_names[j] for j in (0, 27, 28, 783)] == ["r0c0", "r0c27", "r1c0", "r27c27"]
    assert (data.X >= 0).all()
    assert (data.X <= 1).all()
    assert (data.X == 0).mean(axis=0)[~touched.ravel()] == pytest.approx(0.5, abs=0.05)
    assert np.bincount(data.y) == pytest.approx(200, abs=65)
    assert isinstance(data.truth, HiddenStates)
    assert (data.truth.posterior(data.X[:500]).argmax(axis=1) == data.y[:500]).all()
    again, other = make_synthetic_mnist(5, random_state=1), make_synthetic_mnist(5, random_state=2)
    assert (make_synthetic_mnist(5, random_state=1).X == again.X).all()
    assert (other.X != again.X).any()


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"noise_std": -1}, "noise_std"),
        ({"pattern_intensity": 1.5}, "pattern_intensity"),
        ({"feature_cost": -1}, "feature_cost"),
        ({"n_samples": 0}, "n_samples"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_synthetic_mnist(**{"n_samples": 5, **settings})


@pytest.mark.parametrize("mean, std", [(0.0, 0.1), (0.8, 0.1), (0.5, 2.0)])
def test_a_normal_that_is_cut_off(mean: float, std: float) -> None:
    shape, rng = truncate_normal(mean, std), np.random.default_rng(0)
    drawn = np.clip(rng.normal(mean, std, 200_000), 0, 1)
    edges = np.array([-0.5, 0.0, 0.1, 0.5, 0.9, 1.0, 1.5])
    found = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=8) / len(drawn)
    assert shape.masses(edges) == pytest.approx(found, abs=0.005)
    assert shape.cdf(edges) == pytest.approx([(drawn <= edge).mean() for edge in edges], abs=0.005)
    assert np.quantile(drawn, [0.1, 0.6]) == pytest.approx([shape.ppf(0.1), shape.ppf(0.6)], abs=0.02)
    fine = np.linspace(0, 1, 20_001)[1:-1]
    whole = np.exp(shape.logpdf(fine)).mean() + np.exp(shape.logpdf(np.array([0.0, 1.0]))).sum()
    assert whole == pytest.approx(1, abs=1e-3)
    assert np.isneginf(shape.logpdf(np.array([-0.1, 1.1]))).all()


def test_a_number_of_its_own_beside_densities() -> None:
    """What is exactly 0.8 was covered; what is exactly 0 or 1 was cut off, and has no density there."""
    feature = Conditional((truncate_normal(0.5, 0.5), Values.certain(0.8)), np.array([0, 1]))
    low, middle, own, high = np.exp(feature.log_likelihood([0.0, 0.5, 0.8, 1.0])).T
    cut = float(truncate_normal(0.5, 0.5).probabilities[0])
    assert low == pytest.approx([cut, 0])
    assert high == pytest.approx([cut, 0])
    assert own == pytest.approx([0, 1])
    assert middle[0] > 0
    assert middle[1] == 0
    assert truncate_normal(2.0, 0.0).values.tolist() == [1.0]


@pytest.mark.slow
def test_so_little_noise_that_no_pixel_is_cut_off_at_one() -> None:
    data = make_synthetic_mnist(20, noise_std=0.01)
    assert data.truth is not None
    assert (data.truth.posterior(data.X).argmax(axis=1) == data.y).all()
    assert np.isneginf(truncate_normal(0.0, 0.01).logpdf(np.ones(1))).all()
