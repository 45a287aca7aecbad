"""Ten simple figures in the right half of a noisy image, in the shape of MNIST."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray
from seqclass._utils.validation import check_real
from seqclass.datasets.conditional import Conditional, Values, truncate_normal
from seqclass.datasets.dataset import Dataset
from seqclass.datasets.generated import draw_set
from seqclass.datasets.hidden import HiddenStates

_SIDE = 28


def make_synthetic_mnist(
    n_samples: int = 10000,
    *,
    noise_std: float = 0.1,
    pattern_intensity: float = 0.8,
    feature_cost: float = 0.01,
    random_state: Any = 0,
) -> Dataset:
    """Draw AFABench's synthetic MNIST: ten figures, each class its own, in the right half of an image.

    Images have 28 x 28 pixels, numbers from 0 to 1. All of them are noise around 0, cut off there; the figure of the
    class adds its intensity to some on the right, or covers them: ring, upright and lying bar, diagonal, filled square,
    cross, triangle, L, two diagonals that cross, and twelve dots.

    Parameters
    ----------
    n_samples : int
        Rows; classes are drawn evenly.
    noise_std, pattern_intensity : float
        Standard deviation of the noise before it is cut off; what a figure adds, 0 to 1.
    feature_cost, random_state
        As in `make_cube`.

    Returns
    -------
    Dataset
        Columns row by row, ``r0c0`` to ``r27c27``; with ``truth``, a hidden state a class.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    .. [1] "AFABench: a generic framework for benchmarking active feature acquisition", arXiv 2508.14734, and its code,
       github.com/Linusaronsson/AFA-Benchmark (``SyntheticMNISTDataset``): 10,000 rows, noise 0.1, intensity 0.8.

    Examples
    --------
    >>> data = make_synthetic_mnist(200)
    >>> data, len(data.informative)
    (Dataset('synthetic_mnist', 200 x 784, 10 classes), 249)
    >>> bool((data.truth.posterior(data.X).argmax(axis=1) == data.y).all())
    True
    """
    noise_std = check_real(noise_std, "noise_std", 0)
    intensity = check_real(pattern_intensity, "pattern_intensity", 0, 1)
    masks = _figures()
    # background, figure over noise, figure that covers it
    shapes: tuple[Any, ...] = (
        truncate_normal(0, noise_std),
        truncate_normal(intensity, noise_std),
        Values.certain(intensity),
    )
    # figures that are laid over the noise; those of the other classes are added to it
    covers = np.isin(np.arange(len(masks)), [4, 5, 7])
    which = np.where(masks, np.where(covers, 2, 1)[:, None, None], 0).reshape(len(masks), -1)
    pixels = tuple(Conditional(shapes, column) for column in which.T)
    truth = HiddenStates(np.full(len(masks), 1 / len(masks)), np.arange(len(masks)), pixels)
    return draw_set(
        "synthetic_mnist",
        truth,
        n_samples,
        random_state,
        feature_names=tuple(f"r{row}c{column}" for row in range(_SIDE) for column in range(_SIDE)),
        feature_costs=np.full(_SIDE**2, check_real(feature_cost, "feature_cost", 0)),
        informative=np.flatnonzero(which.any(axis=0)),
        description="Images of 28 x 28: the left half is noise, the right one shows one of ten figures.",
    )


def _figures() -> BoolArray:
    """Pixels of each class's figure, (10, 28, 28)."""
    row, column = np.indices((_SIDE, _SIDE))
    middle = column - 21
    away = np.hypot(row - 14, middle)
    upright, lying = (column >= 19) & (column < 23), (row >= 12) & (row < 16) & (column >= 14)
    falling = column - row == 14
    tall = (row >= 6) & (row < 22)
    foot = (row >= 18) & (row < 22) & (column >= 16) & (column < 26)
    dots = (row >= 6) & (row < 20) & (row % 4 >= 2) & (column >= 16) & (column < 26) & (column % 4 < 2)
    figures = [
        (away >= 4) & (away <= 6),
        upright,
        lying,
        falling,
        (row >= 8) & (row < 20) & (column >= 16) & (column < 26),
        upright | lying,
        tall & (np.abs(middle) <= (row - 6) // 2),
        tall & (column >= 16) & (column < 20) | foot,
        falling | (column + row == 27) & (column >= 14),
        dots,
    ]
    return np.array(figures)
