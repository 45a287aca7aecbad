"""Friedman's test: do any of several methods differ, over several data sets?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2, f

from seqclass._arrays import FloatArray
from seqclass.statistics._scores import TOLERANCE, check_table, complete_rows, ranks


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
        and its p; less conservative, and the one to report.

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
        return (
            f"Friedman: chi2 = {self.chi_square:.4g} (p = {self.chi_square_p:.3g}), Iman-Davenport: F = {self.f:.4g} "
            f"(p = {self.f_p:.3g}), {len(self.names)} methods on {self.n_datasets} data sets"
        )


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
        All methods tied on all data sets: p is 1. The same order on all data sets: ``f`` is infinite, its p 0.

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
    return FriedmanTest(
        names=labels,
        average_ranks=average,
        n_datasets=n,
        chi_square=statistic,
        chi_square_p=float(chi2.sf(statistic, freedom)),
        f=float(ratio),
        f_p=float(f.sf(ratio, freedom, freedom * (n - 1))),
    )
