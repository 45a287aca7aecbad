"""Points between two classes that are even in the log-odds, and interpolation in the probability."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray, row_sums
from seqclass.pomdp.problem import AcquisitionProblem

#: Log-odds beyond which nothing is told apart.
_FURTHEST = 18.0


class LogOddsLine:
    """Beliefs of two classes, dense where deciding may be worth putting off; reads as `SimplexGrid` does.

    Parameters
    ----------
    first, last : float
        Range of the log-odds of the second class; 0 and 1 are points as well.
    n_points : int
        Number of points.

    Examples
    --------
    >>> LogOddsLine(-1.0, 1.0, 5).points[:, 1].round(3)
    array([0.   , 0.269, 0.5  , 0.731, 1.   ])
    """

    def __init__(self, first: float, last: float, n_points: int) -> None:
        odds = np.linspace(first, last, n_points - 2)
        share = np.concatenate([[0.0], 1 / (1 + np.exp(-odds)), [1.0]])
        self.points: FloatArray = np.column_stack([1 - share, share])

    @classmethod
    def of(cls, problem: AcquisitionProblem, distance: float) -> LogOddsLine:
        """Points where one more price may be worth paying."""
        odds = np.linspace(-_FURTHEST, _FURTHEST, 6001)
        share = 1 / (1 + np.exp(-odds))
        belief = np.column_stack([1 / (1 + np.exp(odds)), share])
        least = problem.prices.min(initial=np.inf) + belief @ problem.perfect_cost
        worth = np.flatnonzero(problem.stopping_cost(belief) > least)
        if not worth.size:
            return cls(-1.0, 1.0, 5)
        step = float(odds[1] - odds[0])
        first, last = float(odds[worth[0]]) - step, float(odds[worth[-1]]) + step
        return cls(first, last, 3 + int(np.ceil((last - first) / distance)))

    def weights(self, belief: FloatArray) -> tuple[IntArray, FloatArray]:
        """Points on both sides of normalised beliefs and their weights, (n, 2) each."""
        share = self.points[:, 1]
        left = np.clip(np.searchsorted(share, belief[:, 1], side="right") - 1, 0, len(share) - 2)
        right_weight = (belief[:, 1] - share[left]) / (share[left + 1] - share[left])
        right_weight = np.clip(right_weight, 0.0, 1.0)
        return np.column_stack([left, left + 1]), np.column_stack([1 - right_weight, right_weight])

    def read(
        self, values: FloatArray, belief: FloatArray, interpolation: str, context: IntArray | None = None
    ) -> FloatArray:
        """Values of unnormalised beliefs, which scale with them; see `SimplexGrid.read`."""
        total = row_sums(belief)
        vertices, weights = self.weights(belief / np.where(total > 0, total, 1.0)[:, None])
        if context is not None:
            vertices = vertices + (context * len(self.points))[:, None]
        return np.asarray(total * (values[vertices] * weights).sum(axis=1))
