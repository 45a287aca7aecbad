"""CUBE-NM, in which a context says where to look, and its variant in which the last bit is dear."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_integer, check_real
from seqclass.datasets._conditional import Conditional, normal
from seqclass.datasets._cube import BLOCK, CORNERS, cube_block, drawn
from seqclass.datasets._dataset import Dataset
from seqclass.datasets._hidden import HiddenStates

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
    """Draw CUBE-NM: a block of CUBE for each context, and only the block of the row's context tells the class.

    The context is drawn evenly and independently of the class, about which it says nothing; it is seen as a noisy
    one-hot vector, all of it in one question. In the block of the context the bits of class c, the lowest first, stand
    at the places c, c+1 and c+2, each with normal noise; everything else is normal around 0.5.

    Parameters
    ----------
    n_samples : int
        Rows; classes and contexts are drawn evenly.
    n_contexts : int
        Contexts, at least 2: 5 in CUBE-NM, 3 in CUBE-NM-3ctx.
    noise_std : float
        Standard deviation of the noise on the bits.
    background_std : float
        Standard deviation of the features that are not informative.
    context_std : float
        Standard deviation of the noise on the one-hot context.
    cheap_context : bool
        Whether the whole context costs what one feature does; else each of its columns does, as in CUBE-NM-3ctx.
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
    return drawn(
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
    """Draw CUBE-NM-AR: in some contexts the block leaves the last bit open, and a dear feature tells it.

    As in CUBE-NM a context says which block tells the class, but bits stand at the same places for every class: in the
    safe contexts the first three of a block's four features are the three bits, the lowest first; in the others only
    the first two are. The last column, the rescue, is the highest bit in every context. The numbers are those of
    AFABench's configuration ([1]_), which in training also hides the rescue from some rows; here nothing is missing.

    Parameters
    ----------
    n_samples : int
        Rows; classes and contexts are drawn evenly.
    n_contexts, n_safe : int
        Contexts, at least 2, and how many of them, the first ones, are safe.
    noise_std, background_std, context_std, rescue_std : float
        Standard deviation of the noise on the bits, of the features that are not informative around 0.5, of the noise
        on the one-hot context and on the rescue.
    rescue_cost : float
        Price of the rescue over that of a feature of a block.
    cheap_context : bool
        Whether the whole context costs what one feature does; else each of its columns does.
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
    return drawn(
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
