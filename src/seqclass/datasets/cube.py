"""The CUBE set of the acquisition literature and its variants, with two prices or with contexts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.datasets.conditional import Conditional, normal
from seqclass.datasets.dataset import Dataset
from seqclass.datasets.generated import draw_set
from seqclass.datasets.hidden import HiddenStates

__all__ = ["make_cube", "make_cube_nm", "make_cube_nm_ar", "make_cube_nuc"]

#: Corners of the cube, and so classes.
CORNERS = 8
#: Features of a block, of which each class has three of its own.
BLOCK = 10


def make_cube(
    n_samples: int = 20000,
    n_features: int = 20,
    *,
    noise_std: float = 0.3,
    background: str = "uniform",
    background_std: float = 0.3,
    feature_cost: float = 0.01,
    random_state: Any = 0,
) -> Dataset:
    """Draw the CUBE set: eight classes, each of which shows in three features of its own.

    Class c is a corner of the unit cube, whose coordinates are the bits of c, the lowest first. Features c, c+1 and c+2
    (counted from 0) hold these bits, each with normal noise; all other features of the row are background. So only the
    first ten features matter, and which three of them depends on the class.

    Parameters
    ----------
    n_samples : int
        Number of rows; classes are drawn with equal probability.
    n_features : int
        Number of features, at least 10.
    noise_std : float
        Standard deviation of the noise on the corners: 0.3 in [2]_; 0.1 makes the set nearly free of errors.
    background : {"uniform", "normal"}
        ``"uniform"``: on [0, 1], as in [1]_ and [2]_. ``"normal"``: around 0.5, as in the code of [3]_ and [4]_.
    background_std : float
        Standard deviation of a normal background.
    feature_cost : float
        Price of each feature, in units of misclassification cost.
    random_state : None, int or numpy generator
        Seed.

    Returns
    -------
    Dataset
        ``informative`` holds the first ten features; with ``truth``, which has one hidden state per class.

    Raises
    ------
    ValueError
        If ``n_features`` is below 10, or another number is out of range.

    References
    ----------
    .. [1] T. Rueckstiess, C. Osendorfer, P. van der Smagt, "Minimizing data consumption with sequential online feature
       selection", International Journal of Machine Learning and Cybernetics 4, 2013.
    .. [2] H. Shim, S. J. Hwang, E. Yang, "Joint active feature acquisition and classification with variable-size set
       encoding", NeurIPS 2018.
    .. [3] A. Norcliffe, C. Lee, F. Imrie, M. van der Schaar, P. Lio, "Stochastic encodings for active feature
       acquisition", ICML 2025, arXiv 2508.01957 (noise 0.1, background 0.3).
    .. [4] "AFABench: a generic framework for benchmarking active feature acquisition", arXiv 2508.14734.

    Examples
    --------
    >>> data = make_cube(500, noise_std=0.0)
    >>> row = data.X[data.y == 6][0]  # 6 is 110 in binary: the bits are 0, 1, 1
    >>> row[6:9].tolist()
    [0.0, 1.0, 1.0]
    """
    check_integer(n_features, "n_features", BLOCK)
    check_real(noise_std, "noise_std", 0)
    check_choice(background, "background", ("uniform", "normal"))
    other = stats.uniform(0, 1)
    if background == "normal":
        other = normal(0.5, check_real(background_std, "background_std", 0))
    classes = np.arange(CORNERS)
    rest = [Conditional((other,), np.zeros(CORNERS, dtype=np.int64))] * (n_features - BLOCK)
    return draw_set(
        "cube",
        HiddenStates(np.full(CORNERS, 1 / CORNERS), classes, (*cube_block(classes, True, noise_std, other), *rest)),
        n_samples,
        random_state,
        feature_names=tuple(f"x{j}" for j in range(n_features)),
        feature_costs=np.full(n_features, check_real(feature_cost, "feature_cost", 0)),
        informative=np.arange(BLOCK),
        description=f"CUBE: class c is a corner of the unit cube, seen in features c to c+2 with noise {noise_std:g}.",
    )


def make_cube_nuc(
    n_samples: int = 20000,
    *,
    noise_std: float = 0.1,
    background_std: float = 0.1,
    cost_ratio: float = 2.0,
    feature_cost: float = 0.01,
    random_state: Any = 0,
) -> Dataset:
    """Draw CUBE-NUC, which is CUBE with non-uniform costs: its ten features occur twice, with independent noise.

    The second ten cost more and tell as much, so a method that considers prices asks for the first ten before the
    others. The numbers are those of AFABench's configuration ([1]_).

    Parameters
    ----------
    n_samples : int
        Number of rows; classes are drawn with equal probability.
    noise_std : float
        Standard deviation of the noise on the corners.
    background_std : float
        Standard deviation of the other features around 0.5.
    cost_ratio : float
        Price of a feature among the second ten over that of one among the first ten.
    feature_cost : float
        Mean price of the features, in units of misclassification cost.
    random_state : None, int or numpy generator
        Seed.

    Returns
    -------
    Dataset
        With ``truth``, which has one hidden state per class.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    .. [1] "AFABench: a generic framework for benchmarking active feature acquisition", arXiv 2508.14734, and its code,
       github.com/Linusaronsson/AFA-Benchmark (``CubeNonUniformCostsDataset``).

    Examples
    --------
    >>> data = make_cube_nuc(100)
    >>> [round(data.feature_names.index(name) / 10) for name in ("cheap_0", "dear_0")]
    [0, 1]
    >>> data.feature_costs[[0, 10]].round(4).tolist()
    [0.0067, 0.0133]
    """
    check_real(noise_std, "noise_std", 0)
    other = normal(0.5, check_real(background_std, "background_std", 0))
    ratio = check_real(cost_ratio, "cost_ratio", 0)
    classes = np.arange(CORNERS)
    block = cube_block(classes, True, noise_std, other)
    mean = check_real(feature_cost, "feature_cost", 0)
    return draw_set(
        "cube_nuc",
        HiddenStates(np.full(CORNERS, 1 / CORNERS), classes, (*block, *block)),
        n_samples,
        random_state,
        feature_names=tuple(f"{kind}_{k}" for kind in ("cheap", "dear") for k in range(BLOCK)),
        feature_costs=np.repeat([1.0, ratio], BLOCK) * (2 * mean / (1 + ratio)),
        informative=np.arange(2 * BLOCK),
        description=f"CUBE-NUC: the ten features of CUBE twice, the second ten at {ratio:g} times the price.",
    )


def cube_block(classes: IntArray, active: BoolArray | bool, noise_std: float, background: Any) -> list[Conditional]:
    """Ten features that show three bits of the class from its own place on, in the hidden states that are active."""
    shapes = (background, normal(0, noise_std), normal(1, noise_std))
    block = []
    for k in range(BLOCK):
        place = (k - classes) % BLOCK
        bit = classes >> np.minimum(place, 2) & 1
        block.append(Conditional(shapes, np.where(active & (place < 3), 1 + bit, 0)))
    return block


#: Features of a block of CUBE-NM-AR: three bits and one that never tells anything.
_AR_BLOCK = 4


def make_cube_nm(
    n_samples: int = 20000,
    n_contexts: int = 5,
    *,
    noise_std: float = 0.3,
    background_std: float = 0.3,
    context_std: float = 0.1,
    cheap_context: bool = True,
    feature_cost: float = 0.01,
    random_state: Any = 0,
) -> Dataset:
    """Draw CUBE-NM: a block of CUBE for each context, where only the block of the row's context shows the class.

    The context is uniform and independent of the class, so it says nothing about it; it is seen as a noisy one-hot
    vector, all of it in one question. In the block of the context the bits of class c, the lowest first, are at
    positions c, c+1 and c+2, each with normal noise; everything else is normal around 0.5.

    Parameters
    ----------
    n_samples : int
        Rows; classes and contexts are drawn evenly.
    n_contexts : int
        Number of contexts, at least 2: 5 in CUBE-NM, 3 in CUBE-NM-3ctx.
    noise_std : float
        Standard deviation of the noise on the bits.
    background_std : float
        Standard deviation of the features that are not informative.
    context_std : float
        Standard deviation of the noise on the one-hot context.
    cheap_context : bool
        Whether the whole context costs as much as one feature; otherwise each of its columns does, as in CUBE-NM-3ctx.
    feature_cost : float
        Price of a feature of a block, in units of misclassification cost.
    random_state : None, int or numpy generator
        Seed.

    Returns
    -------
    Dataset
        With ``truth``, whose hidden states are the pairs of class and context, the class first; the columns of the
        context are one bundle, ``"context"``.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    AFABench ([1]_) was released with 0.3, 0.3 and 0.1 for the three deviations, the default here, and with 0.1, 0.1
    and 0; its noiseless variant has 0 for all of them.

    References
    ----------
    .. [1] "AFABench: a generic framework for benchmarking active feature acquisition", arXiv 2508.14734, and its code,
       github.com/Linusaronsson/AFA-Benchmark (``CubeNMDataset``).

    Examples
    --------
    >>> data = make_cube_nm(2000)
    >>> data.X.shape, data.bundles[:6]
    ((2000, 55), ('context', 'context', 'context', 'context', 'context', None))
    >>> float(data.truth.posterior(data.X).max(axis=1).mean().round(2))  # accuracy of the best decision, all known
    0.86
    """
    n = check_integer(n_contexts, "n_contexts", 2)
    classes, contexts = np.divmod(np.arange(CORNERS * n), n)
    other = normal(0.5, check_real(background_std, "background_std", 0))
    check_real(noise_std, "noise_std", 0)
    blocks = [feature for c in range(n) for feature in cube_block(classes, contexts == c, noise_std, other)]
    return draw_set(
        "cube_nm",
        _in_context(classes, contexts, check_real(context_std, "context_std", 0), blocks),
        n_samples,
        random_state,
        feature_names=_names(n, BLOCK),
        feature_costs=check_real(feature_cost, "feature_cost", 0) * _units(n, n * BLOCK, cheap_context),
        bundles=("context",) * n + (None,) * (n * BLOCK),
        informative=np.arange(n + n * BLOCK),
        description=f"CUBE-NM: {n} blocks of CUBE, of which the context says which one tells the class.",
    )


def make_cube_nm_ar(
    n_samples: int = 20000,
    n_contexts: int = 5,
    n_safe: int = 2,
    *,
    noise_std: float = 0.02,
    background_std: float = 0.02,
    context_std: float = 0.0,
    rescue_std: float = 0.001,
    rescue_cost: float = 4.0,
    cheap_context: bool = True,
    feature_cost: float = 0.01,
    random_state: Any = 0,
) -> Dataset:
    """Draw CUBE-NM-AR: in some contexts the block leaves the last bit open, and an expensive feature shows it.

    As in CUBE-NM, a context says which block shows the class, but the bits are at the same positions for every class.
    In the safe contexts the first three of the four features in a block are the three bits, the lowest first; in the
    other contexts only the first two are. The last column, the rescue, is the highest bit in every context. The numbers
    are those of AFABench's configuration ([1]_), which in training also hides the rescue from some rows; here nothing
    is missing.

    Parameters
    ----------
    n_samples : int
        Rows; classes and contexts are drawn evenly.
    n_contexts, n_safe : int
        Number of contexts, at least 2, and how many of them, namely the first ones, are safe.
    noise_std, background_std, context_std, rescue_std : float
        Standard deviation of the noise on the bits, of the features that are not informative around 0.5, of the noise
        on the one-hot context and on the rescue.
    rescue_cost : float
        Price of the rescue over that of a feature in a block.
    cheap_context, feature_cost, random_state
        As in `make_cube_nm`.

    Returns
    -------
    Dataset
        With ``truth`` and a bundle as in `make_cube_nm`.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    .. [1] "AFABench: a generic framework for benchmarking active feature acquisition", arXiv 2508.14734, and its code,
       github.com/Linusaronsson/AFA-Benchmark (``CubeNMARDataset``).

    Examples
    --------
    >>> data = make_cube_nm_ar(100)
    >>> data.feature_names[-1], float(data.feature_costs[-1])
    ('rescue', 0.04)
    >>> bool(((data.X[:, -1] > 0.5) == (data.y >= 4)).all())
    True
    """
    n = check_integer(n_contexts, "n_contexts", 2)
    shown = [3] * check_integer(n_safe, "n_safe", 1, n) + [2] * (n - n_safe)
    classes, contexts = np.divmod(np.arange(CORNERS * n), n)
    other, std = normal(0.5, check_real(background_std, "background_std", 0)), check_real(noise_std, "noise_std", 0)
    shapes = (other, normal(0, std), normal(1, std))
    features = [
        Conditional(shapes, np.where((contexts == c) & (k < shown[c]), 1 + (classes >> min(k, 2) & 1), 0))
        for c, k in np.ndindex(n, _AR_BLOCK)
    ]
    check_real(rescue_std, "rescue_std", 0)
    features.append(Conditional((normal(0, rescue_std), normal(1, rescue_std)), classes >> 2))
    units = _units(n, len(features), cheap_context)
    units[-1] = check_real(rescue_cost, "rescue_cost", 0)
    silent = [n + c * _AR_BLOCK + k for c, k in np.ndindex(n, _AR_BLOCK) if k >= shown[c]]
    return draw_set(
        "cube_nm_ar",
        _in_context(classes, contexts, check_real(context_std, "context_std", 0), features),
        n_samples,
        random_state,
        feature_names=(*_names(n, _AR_BLOCK), "rescue"),
        feature_costs=check_real(feature_cost, "feature_cost", 0) * units,
        bundles=("context",) * n + (None,) * len(features),
        informative=np.setdiff1d(np.arange(len(units)), silent),
        description=f"CUBE-NM-AR: {n} blocks of 4; outside of the first {n_safe} contexts the last bit is dear.",
    )


def _in_context(classes: IntArray, contexts: IntArray, std: float, features: list[Conditional]) -> HiddenStates:
    """Classes and contexts, evenly, the one-hot context before the other features."""
    shapes = (normal(0, std), normal(1, std))
    one_hot = [Conditional(shapes, (contexts == c).astype(np.int64)) for c in range(int(contexts.max()) + 1)]
    return HiddenStates(np.full(len(classes), 1 / len(classes)), classes, (*one_hot, *features))


def _names(n_contexts: int, size: int) -> tuple[str, ...]:
    blocks = [f"block_{c}_{k}" for c in range(n_contexts) for k in range(size)]
    return (*(f"context_{c}" for c in range(n_contexts)), *blocks)


def _units(n_contexts: int, n_others: int, cheap: bool) -> FloatArray:
    """Prices in units of a feature of a block; the context as a whole costs one, or one a column."""
    return np.append(np.full(n_contexts, 1 / n_contexts if cheap else 1.0), np.ones(n_others))
