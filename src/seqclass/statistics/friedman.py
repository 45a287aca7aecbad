"""Friedman's test: do any of several methods differ, over several data sets?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2, f

from seqclass._arrays import FloatArray
from seqclass.statistics._scores import TOLERANCE, check_table, complete_rows, ranks

#: p below this is no more than a bound.
_LEAST = 1e-15


@dataclass(frozen=True, eq=False)
class FriedmanTest:
    """Outcome of Friedman's test.

    Attributes
    ----------
    names : tuple of str
        The methods.
    average_ranks : ndarray of shape (n_methods,)
        Mean rank of each method over the data sets, 1 the best.
    n_datasets : int
        Data sets that were compared.
    chi_square, chi_square_p : float
        Friedman's statistic, with n_methods - 1 degrees of freedom, and its p.
    f, f_p : float
        Statistic of Iman and Davenport, with n_methods - 1 and (n_methods - 1) (n_datasets - 1) degrees of freedom,
        and its p; less conservative, and the one to report. Where all data sets rank the methods alike ``f`` is
        infinite, and ``f_p`` is how likely that is by chance.

    Examples
    --------
    >>> friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8]]).average_ranks.round(2)
    array([1.  , 2.33, 2.67])
    """

    names: tuple[str, ...]
    average_ranks: FloatArray
    n_datasets: int
    chi_square: float
    chi_square_p: float
    f: float
    f_p: float

    def __str__(self) -> str:
        said = f"{len(self.names)} methods on {self.n_datasets} data sets"
        if np.ptp(self.average_ranks) == 0:
            return f"Friedman: all average ranks are equal (p = 1), {said}"
        chi_square = f"Friedman: chi2 = {self.chi_square:.4g} ({_shown(self.chi_square_p)})"
        if np.isinf(self.f):
            return f"{chi_square}, the same ranks on all data sets: exact {_shown(self.f_p)}, {said}"
        return f"{chi_square}, Iman-Davenport: F = {self.f:.4g} ({_shown(self.f_p)}), {said}"


def _shown(p: float) -> str:
    return f"p = {p:.3g}" if p >= _LEAST else f"p < {_LEAST:g}"


def friedman_test(
    scores: Any,
    *,
    names: Sequence[str] | None = None,
    higher_is_better: bool = True,
    correct_ties: bool = True,
    tolerance: float = TOLERANCE,
    nan: str = "raise",
) -> FriedmanTest:
    """Test whether any of several methods differ over data sets, by their ranks.

    Parameters
    ----------
    scores : array-like or DataFrame of shape (n_datasets, n_methods)
        Score of each method on each data set.
    names : sequence of str, optional
        Names of the methods; by default the columns of the data frame, or numbers.
    higher_is_better : bool
        False for costs and losses.
    correct_ties : bool
        Whether to divide by what ties take from the variance of the ranks; Demsar ([1]_) leaves that out.
    tolerance : float
        Scores are compared in steps of it.
    nan : "raise" or "omit"
        What to do about missing scores; "omit" leaves out the data set for all methods.

    Returns
    -------
    FriedmanTest
        All average ranks equal, as where all methods tie: p is 1. The same ranks on all data sets: ``f`` is infinite,
        and ``f_p`` is m**(1 - n_datasets), the chance that data sets which know no difference agree so, where m is the
        number of orders of the methods with those ties.

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
        raise ValueError("scores must have three methods or more; compare two by wilcoxon_test.")
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
    f_p = float(f.sf(ratio, freedom, freedom * (n - 1))) if np.isfinite(ratio) else _chance_of_agreement(ranked)
    return FriedmanTest(
        names=labels,
        average_ranks=average,
        n_datasets=n,
        chi_square=statistic,
        chi_square_p=float(chi2.sf(statistic, freedom)),
        f=float(ratio),
        f_p=f_p,
    )


def _chance_of_agreement(ranked: FloatArray) -> float:
    """Chance that all rows of ranks come out as the first one does, if each is in random order."""
    ties = np.unique(ranked[0], return_counts=True)[1]
    log_orders = gammaln(ranked.shape[1] + 1) - gammaln(ties + 1).sum()
    return float(np.exp((1 - len(ranked)) * log_orders))
