"""Nemenyi's test: which methods differ, over several data sets?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import studentized_range

from seqclass._arrays import FloatArray
from seqclass._validation import check_real
from seqclass.statistics._scores import TOLERANCE, check_table, complete_rows, ranks


@dataclass(frozen=True, eq=False)
class CriticalDifference:
    """Average ranks of methods, and by how much they have to differ.

    Attributes
    ----------
    names : tuple of str
        The methods.
    average_ranks : ndarray of shape (n_methods,)
        Mean rank of each method over the data sets, 1 the best.
    critical_difference : float
        Average ranks that differ by more are different at the level ``alpha``.
    alpha : float
        Level of significance, over all pairs together.
    n_datasets : int
        Data sets that were compared.
    p_values : ndarray of shape (n_methods, n_methods)
        p of each pair, over all pairs together; 1 on the diagonal.
    groups : tuple of tuple of str
        Largest sets of two or more methods among which no two differ, best first: the bars of a diagram.

    Examples
    --------
    >>> found = critical_difference([[0.9, 0.8, 0.3], [0.8, 0.9, 0.2]] * 4, names=["a", "b", "c"])
    >>> found.groups
    (('a', 'b'),)
    """

    names: tuple[str, ...]
    average_ranks: FloatArray
    critical_difference: float
    alpha: float
    n_datasets: int
    p_values: FloatArray
    groups: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        order = np.argsort(self.average_ranks, kind="stable")
        ranked = ", ".join(f"{self.names[j]} {self.average_ranks[j]:.3f}" for j in order)
        return f"{ranked}; critical difference {self.critical_difference:.3f} at {self.alpha:g}"


def critical_difference(
    scores: Any,
    *,
    names: Sequence[str] | None = None,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    tolerance: float = TOLERANCE,
    nan: str = "raise",
) -> CriticalDifference:
    """Compare all pairs of methods over data sets by Nemenyi's test, once Friedman's has found a difference.

    Average ranks differ where they are q sqrt(k (k + 1) / (6 N)) apart, for k methods, N data sets and q the quantile
    of the studentised range over sqrt(2) ([1]_, section 3.2.2).

    Parameters
    ----------
    scores : array-like or DataFrame of shape (n_datasets, n_methods)
        Score of each method on each data set.
    names : sequence of str, optional
        Names of the methods; by default the columns of the data frame, or numbers.
    alpha : float
        Level of significance, between 0 and 1.
    higher_is_better : bool
        False for costs and losses.
    tolerance : float
        Scores are compared in steps of it.
    nan : "raise" or "omit"
        What to do about missing scores; "omit" leaves out the data set for all methods.

    Returns
    -------
    CriticalDifference

    Raises
    ------
    ValueError
        If there are fewer than two methods or two complete data sets, or a score is missing.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.6, 0.7, 0.5]]
    >>> print(critical_difference(scores, names=["ours", "tree", "prior"]))
    ours 1.250, tree 2.000, prior 2.750; critical difference 1.657 at 0.05
    """
    table, labels = check_table(scores, names, nan)
    check_real(alpha, "alpha", 1e-9, 1 - 1e-9)
    ranked = ranks(complete_rows(table), higher_is_better, tolerance)
    n, k = ranked.shape
    average = ranked.mean(axis=0)
    unit = np.sqrt(k * (k + 1) / (12 * n))  # the quantile's sqrt(2) is in it
    difference = float(studentized_range.ppf(1 - alpha, k, np.inf) * unit)
    p_values = np.ones((k, k))
    i, j = np.triu_indices(k, 1)
    p_values[i, j] = p_values[j, i] = studentized_range.sf(np.abs(average[i] - average[j]) / unit, k, np.inf)
    groups = tuple(tuple(labels[m] for m in group) for group in _groups(average, difference))
    return CriticalDifference(labels, average, difference, float(alpha), n, p_values, groups)


def _groups(average: FloatArray, difference: float) -> list[list[int]]:
    """Largest runs of the sorted methods that are no more than the critical difference wide."""
    order = np.argsort(average, kind="stable")
    ends = np.searchsorted(average[order], average[order] + difference + 1e-9, side="right")
    found, last = [], 0
    for start, end in enumerate(ends.tolist()):
        if end > max(last, start + 1):
            found.append(order[start:end].tolist())
            last = end
    return found
