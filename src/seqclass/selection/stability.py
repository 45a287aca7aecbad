"""Stability of feature selection: Nogueira's measure with its confidence interval, and over a sliding window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._utils.arrays import BoolArray, FloatArray
from seqclass._utils.frames import is_frame
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, check_real, in_order, own_labels


@dataclass(frozen=True, repr=False)
class Stability(Readable):
    """How much several selections agree, beyond chance.

    Attributes
    ----------
    value : float
        Stability: 1 if all supports are the same, about 0 if they agree as much as random ones of the same sizes.
    lower, upper : float
        Ends of the confidence interval, from the asymptotic normal distribution; neither is clipped at 1.
    variance : float
        Estimated variance of `value`.
    confidence : float
        Level of the interval.
    n_supports, n_features : int
        Number of supports, and of features to select from.

    Examples
    --------
    >>> Stability(1.0, 1.0, 1.0, 0.0, 0.95, 2, 5).value
    1.0
    """

    value: float
    lower: float
    upper: float
    variance: float
    confidence: float
    n_supports: int
    n_features: int

    def __float__(self) -> float:
        return self.value


def nogueira_stability(
    supports: npt.ArrayLike | Iterable[npt.ArrayLike], n_features: int | None = None, *, confidence: float = 0.95
) -> Stability:
    """Compute the stability of a list of selections, with its confidence interval.

    It is 1 - mean_f s_f^2 / (k/d (1 - k/d)), where s_f^2 is the unbiased variance of the selection of feature f, k the
    mean size of the supports and d the number of features.

    Parameters
    ----------
    supports : array-like of shape (n_supports, n_features), or iterable of array-like
        Masks, of booleans or of 0 and 1; or lists of the numbers of selected features if ``n_features`` is given.
        Boolean arrays always count as masks.
    n_features : int, optional
        Number of features to select from; has to be given with lists of numbers.
    confidence : float
        Level of the interval, between 0 and 1.

    Returns
    -------
    Stability
        If all supports are empty, or all are full, the measure is 0/0; as they are the same, the value is then 1, with
        variance 0.

    Raises
    ------
    ValueError
        If there are fewer than two supports, their lengths differ, or they hold anything but masks or features.

    References
    ----------
    Nogueira, Sechidis and Brown, "On the Stability of Feature Selection Algorithms", JMLR 18(174), 2018: Definition 4,
    Theorem 7 and Corollary 9.

    Examples
    --------
    >>> nogueira_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value
    0.333...
    >>> nogueira_stability([[0, 1], [1, 0], [0, 1]], n_features=4).value
    1.0
    """
    check_real(confidence, "confidence", 0, 1)
    Z = as_masks(supports, n_features).astype(np.float64)
    n, d = Z.shape
    if n < 2:
        raise ValueError(f"stability takes at least two supports, got {n}.")
    frequency, sizes = Z.mean(axis=0), Z.sum(axis=1)
    share = sizes.mean() / d
    chance = share * (1 - share)
    if chance <= 0:
        return Stability(1.0, 1.0, 1.0, 0.0, float(confidence), n, d)
    value = 1 - n / (n - 1) * np.mean(frequency * (1 - frequency)) / chance
    own = sizes / d
    phi = (Z @ frequency / d - own * share + value / 2 * (2 * share * own - own - share + 1)) / chance
    variance = float(4 / n**2 * np.sum((phi - phi.mean()) ** 2))
    half = float(stats.norm.ppf((1 + confidence) / 2)) * np.sqrt(variance) if variance else 0.0
    value = float(value)
    return Stability(value, float(value - half), float(value + half), variance, float(confidence), n, d)


def windowed_stability(
    supports: npt.ArrayLike | Iterable[npt.ArrayLike],
    window: int = 10,
    n_features: int | None = None,
    *,
    min_supports: int | None = None,
) -> FloatArray:
    """Stability of each run of ``window`` supports in a row, as they come from a stream."""
    window = check_integer(window, "window", 2)
    fewest = window if min_supports is None else check_integer(min_supports, "min_supports", 2, window)
    Z = as_masks(supports, n_features)
    result = np.full(len(Z), np.nan)
    for stop in range(fewest, len(Z) + 1):
        result[stop - 1] = nogueira_stability(Z[max(0, stop - window) : stop]).value
    return result


def as_masks(supports: Any, n_features: int | None = None) -> BoolArray:
    """One mask a row, from masks or from lists of features."""
    if n_features is not None:
        check_integer(n_features, "n_features", 1)
    supports = supports.to_numpy() if is_frame(supports) else list(supports)
    features = own_labels(supports[0]) if len(supports) and n_features is None else None
    rows = [np.asarray(in_order(support, f"support {i}", features)) for i, support in enumerate(supports)]
    if not rows:
        raise ValueError("supports is empty: there is nothing to compare.")
    masks = [_as_mask(row, n_features, f"support {i}") for i, row in enumerate(rows)]
    lengths = sorted({len(mask) for mask in masks})
    if len(lengths) > 1:
        raise ValueError(f"supports must be of one length, got {lengths}; give n_features with lists of numbers.")
    if lengths[0] == 0:
        raise ValueError("supports have no features to select from.")
    return np.stack(masks)


def _as_mask(row: npt.NDArray[Any], n_features: int | None, name: str) -> BoolArray:
    if row.ndim != 1:
        raise ValueError(f"{name} must be a mask or a list of features, got shape {row.shape}.")
    if row.dtype == bool:
        if n_features is not None and len(row) != n_features:
            raise ValueError(f"{name} is a mask of {len(row)} features, n_features is {n_features}.")
        return row
    if n_features is None:
        if row.size and (row.dtype.kind not in "iuf" or not np.isin(row, (0, 1)).all()):
            raise ValueError(f"{name} must hold 0 and 1 only; give n_features with lists of numbers.")
        return row.astype(bool)
    mask = np.zeros(n_features, dtype=bool)
    if row.size:
        if row.dtype.kind not in "iu" or row.min() < 0 or row.max() >= n_features:
            raise ValueError(f"{name} must hold feature numbers from 0 to {n_features - 1}.")
        mask[row] = True
        if np.count_nonzero(mask) != len(row):
            raise ValueError(f"{name} names a feature twice; masks have to be of booleans where n_features is given.")
    return mask
