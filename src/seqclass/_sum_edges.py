"""Bins of rows that come in chunks: the same as of the rows in memory, up to the ranks of quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass._bin_choice import left_out_by_counts
from seqclass._column_sums import ColumnSums
from seqclass._edges import (
    bins_by_rule,
    check_cuts,
    given_bins,
    has_own_bin,
    own_bins,
    quantile_edges,
    uniform_edges,
)
from seqclass.discretize import Discretizer

#: More bins than this are bounded by the number of distinct values, which chunks do not tell.
_MOST_BINS = 32


def number_of_bins(n_bins: Any, sums: ColumnSums, n_classes: int) -> IntArray:
    """Outcomes of each feature that a setting asks for.

    Raises
    ------
    ValueError
        If these are more than 32.

    Examples
    --------
    >>> number_of_bins("auto", ColumnSums.of(np.zeros((200, 1))), 2)
    array([5])
    """
    n_features = len(sums.low)
    if isinstance(n_bins, str):
        mostly_zero = bool(2 * sums.n_zero.sum() > sums.n_known.sum())
        return np.full(n_features, bins_by_rule(n_bins, sums.n_rows, n_classes, lambda: mostly_zero), dtype=np.int64)
    found = given_bins(n_bins, n_features)
    if (found > _MOST_BINS).any():
        raise ValueError(
            f"n_bins beyond {_MOST_BINS} are bounded by the number of distinct values, which chunks do not tell: give "
            f"{_MOST_BINS} at most, or fit to a sample of the rows."
        )
    return found


def fit_to_sums(
    discretizer: Discretizer, sums: ColumnSums, n_classes: int, sparse: bool, sample: Callable[[], tuple[Any, Any]]
) -> list[Discretizer]:
    """Fit a discretiser to what is known of the columns; with ``strategy="auto"`` both of which the labels choose.

    Parameters
    ----------
    discretizer : Discretizer
        Its settings count.
    sums : ColumnSums
        With sketches unless widths are equal.
    n_classes : int
    sparse : bool
        Whether the data are.
    sample : function
        Gives columns and labels of some rows, for ``strategy="mdlp"``.

    Returns
    -------
    list of Discretizer

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> fit_to_sums(Discretizer(4), ColumnSums.of(X), 2, False, lambda: (X, [0, 0, 1, 1]))[0].bin_edges_
    array([[1., 2., 3.]])
    """
    check_cuts(discretizer.strategy, discretizer.zero_bin)
    if discretizer.strategy == "mdlp":
        part = clone(discretizer).fit(*sample())
        part.few_values_ = sums.few
        return [part]
    n_bins = number_of_bins(discretizer.n_bins, sums, n_classes)
    often = np.ones(len(n_bins), dtype=bool) if sparse else 2 * sums.n_own > sums.n_known
    low, high = sums.range
    constant = ~(low < high)
    own = has_own_bin(discretizer.zero_bin, often, n_bins) & ~constant
    kinds = {"uniform": (False,), "quantile": (True,), "auto": (False, True)}[discretizer.strategy]
    found = []
    for quantile in kinds:
        part = clone(discretizer)
        part.n_features_in_ = len(n_bins)
        part.own_bins_ = own_bins(own, sums.value, sums.distance)
        part.zero_first_, part.few_values_ = sparse, sums.few
        part._cut(_edges(sums, own, n_bins, quantile), constant)
        found.append(part)
    return found


def _edges(sums: ColumnSums, own: BoolArray, n_bins: IntArray, quantile: bool) -> FloatArray:
    parts, width = n_bins - own, int(n_bins.max(initial=1)) - 1
    if quantile:
        size = sums.n_known - np.where(own, sums.n_own, 0)
        return quantile_edges(lambda position: sums.at(position, ~own), size, parts, width)
    low, high = sums.range
    return uniform_edges(np.where(own, sums.low, low), np.where(own, sums.high, high), parts, width)


def better(one: Discretizer, other: Discretizer, counts: FloatArray, other_counts: FloatArray) -> Discretizer:
    """Of each feature the bins, of two discretisers, that say more of labels left out of the count."""
    takes = left_out_by_counts(other_counts) > left_out_by_counts(counts)
    width = max(one.bin_edges_.shape[1], other.bin_edges_.shape[1])
    padded = [
        np.pad(part.bin_edges_, ((0, 0), (0, width - part.bin_edges_.shape[1])), constant_values=np.inf)
        for part in (one, other)
    ]
    constant = (one.n_outcomes_ == 1) & ~one._own & (other.n_outcomes_ == 1)
    one._cut(np.where(takes[:, None], padded[1], padded[0]), constant)
    return one
