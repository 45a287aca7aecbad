"""How far a semi-randomised search has come, and what follows: group sizes, acceptance, cool-down factors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray

#: Scores closer than this, relative to their size, are equal.
TOLERANCE = 1e-12


def is_better(score: float, than: float) -> bool:
    """Whether a score is higher by more than rounding; minus infinity stands for a subset that cannot be scored.

    Examples
    --------
    >>> is_better(0.1 + 0.2, 0.3), is_better(0.4, 0.3), is_better(0.0, -np.inf)
    (False, True, True)
    """
    if not math.isfinite(than):
        return math.isfinite(score)
    return score > than + TOLERANCE * max(1.0, abs(than))


def first_best(scores: FloatArray) -> int:
    """Position of the highest score, the first of those that differ by rounding only.

    Examples
    --------
    >>> first_best(np.array([0.3, 0.1 + 0.2, 0.1]))
    0
    """
    top = float(scores.max())
    if not math.isfinite(top):
        return 0
    return int(np.argmax(scores >= top - TOLERANCE * max(1.0, abs(top))))


def group_size(pool: int, alpha: float, beta: float, n_no_improvement: float, share_improving: float = 0.0) -> int:
    """Number of features to try out of a pool, eqs. (1) and (3).

    The share is ``I / (beta I + exp(alpha N))`` with ``I = 1 / (1 - PCT)``; without a warm start PCT is 0 and I is 1.
    Rounded to the nearest integer, at least 1 and at most the pool.

    Parameters
    ----------
    pool : int
        Number of features that could be tried, at least 1.
    alpha, beta : float
        Weight of the stage, and size of the first group.
    n_no_improvement : float
        N_ni of eq. (2).
    share_improving : float
        PCT_imp of eq. (5), from 0 to 1.

    Returns
    -------
    int

    Examples
    --------
    >>> [group_size(480, 1.0, 5.0, n) for n in (0, 1, 2, 10)]
    [80, 62, 39, 1]
    """
    # numerator and denominator are divided by I, which is infinite where every candidate was better
    divisor = beta + math.exp(min(alpha * n_no_improvement, 700.0)) * (1.0 - share_improving)
    wanted = pool / divisor if divisor > 0 else math.inf
    return pool if wanted >= pool else max(1, math.floor(wanted + 0.5))


def removal_size(n_selected: int, n_relevant: int) -> int:
    """Number of features to remove at a time when ``n_relevant`` of those selected matter.

    k random features are all irrelevant with probability C(n - r, k) / C(n, k), and the product of that with k, the
    features removed an evaluation, is largest at ``floor((n + 1) / (r + 1))``.

    Examples
    --------
    >>> removal_size(500, 30), removal_size(40, 30), removal_size(20, 30)
    (16, 1, 1)
    """
    return min(n_selected, max(1, (n_selected + 1) // (n_relevant + 1)))


def acceptance_probability(score: float, than: float, c: float) -> float:
    """Probability of going on from a candidate: 1 if it is no worse, else exp(c (score - than)), eq. (7).

    Examples
    --------
    >>> acceptance_probability(0.9, 0.8, 10.0), round(acceptance_probability(0.8, 0.9, 10.0), 3)
    (1.0, 0.368)
    """
    if not is_better(than, score):
        return 1.0
    if math.isinf(c) or not math.isfinite(score):
        return 0.0
    return math.exp(c * (score - than))


@dataclass
class Stage:
    """Estimate of how far the search has come: N_ni of eq. (2) and PCT_imp of eq. (5), before iteration ``k``."""

    k: int = 0
    n_ni: int = 0  # iterations without improvement, up to now
    smoothed_n: float = 0.0  # N_ni
    smoothed_share: float = 0.0  # PCT_imp

    def update(self, improved: bool, share_improving: float, w: float, w_prime: float) -> None:
        """Count the iteration that has just ended, in which this share of the candidates was better."""
        self.k += 1
        self.n_ni = 0 if improved else self.n_ni + 1
        self.smoothed_n = w * self.n_ni + (1 - w) * self.smoothed_n
        first = self.k == 1
        self.smoothed_share = share_improving if first else _mix(share_improving, self.smoothed_share, w_prime)


def _mix(new: float, old: float, weight: float) -> float:
    return weight * new + (1 - weight) * old


class CoolDown:
    """Cool-down factors: features that did badly when they were tried are drawn less often for a while, eq. (6).

    All start at the square root of their pool's size (the selected features, or the others), and every iteration
    takes 1 off those above 1. A feature that was tried gets 1 if the score rose, and otherwise
    ``sqrt(pool) (1 + min(cooling, drop / scale))``; one that has just been added or removed, the largest of these.

    Parameters
    ----------
    selected : ndarray of bool of shape (n_features,)
        The initial subset.
    cooling : float
        By how much a bad feature is cooler than one never tried.
    scale : float
        Drop of the score that counts as large; a standard deviation of the score.
    """

    def __init__(self, selected: BoolArray, cooling: float, scale: float) -> None:
        self.cooling = cooling
        self.scale = scale
        n_selected = int(selected.sum())
        self.factors: FloatArray = np.where(selected, math.sqrt(n_selected), math.sqrt(len(selected) - n_selected))
        np.maximum(self.factors, 1.0, out=self.factors)

    def probabilities(self, pool: IntArray) -> FloatArray:
        """Probability of each feature of a pool to be drawn, eq. (6)."""
        inverse = 1.0 / self.factors[pool]
        return np.asarray(inverse / inverse.sum())

    def warm_up(self) -> None:
        """One iteration on."""
        np.maximum(self.factors - 1.0, 1.0, out=self.factors)

    def tried(self, features: IntArray, change: float, pool: int) -> None:
        """Note how the score changed with these features of a pool of that size."""
        if change > 0:
            self.factors[features] = 1.0
            return
        drop = min(self.cooling, -change / self.scale) if self.scale > 0 else self.cooling * (change < 0)
        self.factors[features] = max(1.0, math.sqrt(pool) * (1.0 + drop))

    def moved(self, features: IntArray, pool: int) -> None:
        """Note that these features have just joined a pool of that size."""
        self.factors[features] = max(1.0, math.sqrt(pool) * (1.0 + self.cooling))
