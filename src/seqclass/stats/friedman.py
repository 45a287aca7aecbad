"""Friedman's test: do any of several methods differ, over several data sets?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln

from seqclass._utils.arrays import FloatArray
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_real
from seqclass.stats._scores import TOLERANCE, check_table, complete_rows, ranks


@dataclass(frozen=True, eq=False, repr=False)
class CriticalDifference(Readable):
    """Average ranks of methods, and by how much they have to differ to be significant.

    Attributes
    ----------
    names : tuple of str
        The methods.
    average_ranks : ndarray of shape (n_methods,)
        Mean rank of each method over the data sets, 1 the best.
    critical_difference : float
        Average ranks that differ by more than this differ significantly at the level ``alpha``.
    alpha : float
        Level of significance, over all pairs together.
    n_datasets : int
        Number of data sets that were compared.
    p_values : ndarray of shape (n_methods, n_methods)
        P-value of each pair, over all pairs together; 1 on the diagonal.
    groups : tuple of tuple of str
        Largest sets of two or more methods among which no two differ, best first: the bars of a diagram.

    Examples
    --------
    >>> found = critical_difference([[0.9, 0.8, 0.3], [0.8, 0.9, 0.2]] * 4, names=["a", "b", "c"])
    >>> found.groups
    (('a', 'b'),)
    """

    _columns = ("average_ranks", "p_values")
    _spread = {"p_values": "p against {method}"}
    _axis = "method"

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

    Average ranks differ significantly if they are q sqrt(k (k + 1) / (6 N)) apart, for k methods, N data sets and q the
    quantile of the studentised range divided by sqrt(2) ([1]_, section 3.2.2).

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
        Step to which scores are rounded before they are compared.
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
    difference = float(stats.studentized_range.ppf(1 - alpha, k, np.inf) * unit)
    p_values = np.ones((k, k))
    i, j = np.triu_indices(k, 1)
    p_values[i, j] = p_values[j, i] = stats.studentized_range.sf(np.abs(average[i] - average[j]) / unit, k, np.inf)
    groups = tuple(tuple(labels[m] for m in group) for group in _groups(average, difference))
    return CriticalDifference(labels, average, difference, float(alpha), n, p_values, groups)


def _groups(average: FloatArray, difference: float) -> list[list[int]]:
    """Largest runs of the sorted methods that are no more than the critical difference wide."""
    order = np.argsort(average, kind="stable")
    ends = np.searchsorted(average[order], average[order] + difference + 1e-9, side="right")
    groups, last = [], 0
    for start, end in enumerate(ends.tolist()):
        if end > max(last, start + 1):
            groups.append(order[start:end].tolist())
            last = end
    return groups


@dataclass(frozen=True, eq=False, repr=False)
class FriedmanTest(Readable):
    """Outcome of Friedman's test.

    Attributes
    ----------
    names : tuple of str
        The methods.
    average_ranks : ndarray of shape (n_methods,)
        Mean rank of each method over the data sets, 1 the best.
    n_datasets : int
        Number of data sets that were compared.
    chi_square, chi_square_p : float
        Friedman's statistic, with n_methods - 1 degrees of freedom, and its p-value.
    f, f_p : float
        Statistic of Iman and Davenport, with n_methods - 1 and (n_methods - 1) (n_datasets - 1) degrees of freedom, and
        its p-value; less conservative, and the one to report. If all data sets rank the methods in the same way, ``f``
        is infinite, and ``f_p`` is how likely that is by chance.

    Examples
    --------
    >>> friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8]]).average_ranks.round(2)
    array([1.  , 2.33, 2.67])
    """

    _columns = ("average_ranks",)
    _axis = "method"

    names: tuple[str, ...]
    average_ranks: FloatArray
    n_datasets: int
    chi_square: float
    chi_square_p: float
    f: float
    f_p: float

    def __str__(self) -> str:
        heading = f"{len(self.names)} methods on {self.n_datasets} data sets"
        if np.ptp(self.average_ranks) == 0:
            return f"Friedman: all average ranks are equal (p = 1), {heading}"
        chi_square = f"Friedman: chi2 = {self.chi_square:.4g} ({_p_value_text(self.chi_square_p)})"
        if np.isinf(self.f):
            return f"{chi_square}, the same ranks on all data sets: exact {_p_value_text(self.f_p)}, {heading}"
        return f"{chi_square}, Iman-Davenport: F = {self.f:.4g} ({_p_value_text(self.f_p)}), {heading}"


def _p_value_text(p: float) -> str:
    return f"p = {p:.3g}" if p >= 1e-15 else "p < 1e-15"  # below which p is no more than a bound


def friedman_test(
    scores: Any,
    *,
    names: Sequence[str] | None = None,
    higher_is_better: bool = True,
    correct_ties: bool = True,
    tolerance: float = TOLERANCE,
    nan: str = "raise",
) -> FriedmanTest:
    """Test by ranks whether any of several methods differ over data sets.

    Parameters
    ----------
    scores, names, higher_is_better, tolerance, nan
        As in `critical_difference`.
    correct_ties : bool
        Whether to correct the statistic for the variance of ranks that is lost to ties; Demsar ([1]_) does not.

    Returns
    -------
    FriedmanTest
        If all average ranks are equal, such as when all methods tie, p is 1. If the ranks are the same on all data
        sets, ``f`` is infinite, and ``f_p`` is m**(1 - n_datasets), the chance that data sets agree in this way if
        methods do not differ, where m is the number of orders of the methods with those ties.

    Raises
    ------
    ValueError
        If there are fewer than three methods or two complete data sets, or a score is missing.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, section 3.2.2.
    .. [2] R. L. Iman, J. M. Davenport, "Approximations of the critical region of the Friedman statistic",
       Communications in Statistics 9, 1980.

    Examples
    --------
    >>> print(friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.6, 0.7, 0.5]]))
    Friedman: chi2 = 4.5 (p = 0.105), Iman-Davenport: F = 3.857 (p = 0.0837), 3 methods on 4 data sets
    >>> print(friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.8, 0.7]]))
    Friedman: chi2 = 6 (p = 0.0498), the same ranks on all data sets: exact p = 0.0278, 3 methods on 3 data sets
    """
    table, labels = check_table(scores, names, nan)
    n_methods = table.shape[1]
    if n_methods < 3:
        raise ValueError("scores must have three methods or more; compare two by scipy.stats.wilcoxon.")
    ranked = ranks(complete_rows(table), higher_is_better, tolerance)
    n = len(ranked)
    average = ranked.mean(axis=0)
    spread = np.sum((average - (n_methods + 1) / 2) ** 2)
    # the variance of a row's ranks is that of 1..n_methods, less what its ties take away
    variance = n_methods * (n_methods + 1) / 12
    if correct_ties:
        variance = float(ranked.var(axis=1).sum()) * n_methods / (n * (n_methods - 1))
    statistic = float(n * spread / variance) if variance > 0 else 0.0
    statistic = min(statistic, float(n * (n_methods - 1)))
    rest = n * (n_methods - 1) - statistic
    ratio = (n - 1) * statistic / rest if rest > 1e-9 * n else float("inf")
    freedom = n_methods - 1
    f_p = float(stats.f.sf(ratio, freedom, freedom * (n - 1))) if np.isfinite(ratio) else _chance_of_agreement(ranked)
    return FriedmanTest(
        names=labels,
        average_ranks=average,
        n_datasets=n,
        chi_square=statistic,
        chi_square_p=float(stats.chi2.sf(statistic, freedom)),
        f=float(ratio),
        f_p=f_p,
    )


def _chance_of_agreement(ranked: FloatArray) -> float:
    """Chance that all rows of ranks come out as the first one does, if each is in random order."""
    ties = np.unique(ranked[0], return_counts=True)[1]
    log_orders = gammaln(ranked.shape[1] + 1) - gammaln(ties + 1).sum()
    return float(np.exp((1 - len(ranked)) * log_orders))
