"""Tests and upper bounds of a risk from losses of fresh rows, and testing along a sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize, stats
from scipy.special import rel_entr

from seqclass._utils.arrays import BoolArray, FloatArray
from seqclass._utils.validation import check_real


def binomial_p_value(n_errors: int, n: int, alpha: float) -> float:
    """P-value of "the error rate is above alpha", exact."""
    return float(stats.binom.cdf(n_errors, n, alpha))


def binomial_upper_bound(n_errors: int, n: int, delta: float) -> float:
    """Upper confidence bound of an error rate, exact (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934)."""
    return 1.0 if n_errors == n else float(stats.beta.ppf(1 - delta, n_errors + 1, n - n_errors))


def hoeffding_bentkus_p_value(mean: float, n: int, alpha: float) -> float:
    """P-value of "the mean loss is above alpha", for losses between 0 and 1.

    A. N. Angelopoulos, S. Bates, E. J. Candes, M. I. Jordan and L. Lei, "Learn then test: calibrating predictive
    algorithms to achieve risk control", Annals of Applied Statistics 19, 2025, proposition 1.
    """
    # a sum of losses is a whole number of errors but for rounding, where they are all 0 or 1
    bentkus = float(np.e * stats.binom.cdf(np.ceil(n * mean - 1e-9), n, alpha))
    low = min(mean, alpha)
    divergence = rel_entr([low, 1 - low], [alpha, 1 - alpha]).sum()  # of a coin of chance low from one of chance alpha
    return min(1.0, float(np.exp(-n * divergence)), bentkus)


def hoeffding_bentkus_upper_bound(mean: float, n: int, delta: float) -> float:
    """Upper confidence bound of a mean loss between 0 and 1, by `hoeffding_bentkus_p_value`."""
    if delta == 0 or hoeffding_bentkus_p_value(mean, n, 1.0) > delta:
        return 1.0
    if hoeffding_bentkus_p_value(mean, n, mean) <= delta:
        return mean
    return float(
        optimize.brentq(lambda alpha: hoeffding_bentkus_p_value(mean, n, alpha) - delta, mean, 1.0, xtol=1e-12)
    )


def rows_needed(alpha: float, delta: float) -> int:
    """Fewest rows on which, without one error, an error rate of ``alpha`` is certified at ``1 - delta``."""
    tiny = np.finfo(float).tiny
    check_real(alpha, "alpha", tiny, 1 - 2**-53)
    check_real(delta, "delta", tiny, 1 - 2**-53)
    n = int(np.ceil(np.log(delta) / np.log1p(-alpha)))
    return max(1, n - 1 if n > 1 and (1 - alpha) ** (n - 1) <= delta else n)


def rows_to_certify(rate: float, alpha: float, delta: float) -> int | None:
    """Rows on which an error rate of ``rate`` certifies ``alpha`` at ``1 - delta``; None if a million do not."""
    few, many = 0, 1_000_000
    if binomial_upper_bound(int(np.ceil(rate * many)), many, delta) > alpha:
        return None
    while many - few > 1:
        n = (few + many) // 2
        few, many = (few, n) if binomial_upper_bound(int(np.ceil(rate * n - 1e-9)), n, delta) <= alpha else (n, many)
    return many


def fallback_test(p_values: Sequence[float], levels: FloatArray) -> BoolArray:
    """Test hypotheses in an order that was fixed before the data were seen.

    Each hypothesis has a level of its own, and inherits that of the one before it if that was rejected (the fallback
    procedure: B. L. Wiens and A. Dmitrienko, "The fallback procedure for evaluating a single family of hypotheses",
    Journal of Biopharmaceutical Statistics 15, 2005). With the whole level on the first one this is fixed-sequence
    testing: it goes on until a first hypothesis is not rejected. With parts of it on several there are several starts.
    The chance to reject any true hypothesis is at most the sum of the levels, whatever the dependence between the
    p-values.
    """
    rejected, inherited = [], 0.0
    for p, level in zip(p_values, levels):
        have = inherited + level
        rejected.append(have > 0 and p <= have)
        inherited = have if rejected[-1] else 0.0
    return np.array(rejected, dtype=bool)


def start_levels(m: int, delta: float, starts: int) -> FloatArray:
    """Levels of ``m`` hypotheses for `fallback_test`: ``delta`` in equal parts at starts evenly from the first."""
    levels = np.zeros(m)
    places: Sequence[int] = np.unique(np.linspace(0, m, starts, endpoint=False).astype(int)).tolist()
    levels[places] = delta / len(places)
    return levels
