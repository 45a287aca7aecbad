"""Policies drawn by lot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._validation import check_distribution
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import DECIDE, Policy, SolveInfo
from seqclass.pomdp.repricing import RepricedPolicy


class RandomisedPolicy(Policy):
    """Draws for each instance, before anything is acquired, which of several policies it follows.

    The lot is a hash of the seed and of numbers that tell instances apart (`draw`), so that it depends neither on the
    other rows nor on their order: the same instance always draws the same. Under the model, lots and outcomes are
    independent.

    Parameters
    ----------
    policies : sequence of Policy
        Policies of one problem.
    probabilities : array-like of shape (n_policies,)
        Probability of each.
    random_state : int, generator or None
        Seed of the lots.
    info : SolveInfo, optional
        What the solver reports.

    Raises
    ------
    ValueError
        If there is no policy, one draws lots itself, or the probabilities are none.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import AcquireAll, DecideNow, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> both = [solver.solve(problem) for solver in (DecideNow(), AcquireAll())]
    >>> evaluate(problem, RandomisedPolicy(both, [0.3, 0.7])).n_features
    0.7
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        probabilities: npt.ArrayLike,
        random_state: Any = 0,
        info: SolveInfo | None = None,
    ) -> None:
        if not policies:
            raise ValueError("policies must name at least one policy.")
        for number, policy in enumerate(policies):
            if _draws(policy):
                raise ValueError(
                    f"policies[{number}] draws lots itself, and an instance draws one only; give the policies inside "
                    "it in its place, their probabilities multiplied by its own."
                )
        super().__init__(policies[0].problem, max(policy.n_stages for policy in policies), info)
        self.policies = tuple(policies)
        self.probabilities = check_distribution(probabilities, len(policies), "probabilities")
        self.seed = int(as_generator(random_state).integers(2**62))

    def begin(self) -> tuple[InformationState, FloatArray]:
        """Return a row for each policy, and their probabilities; see `Policy.begin`."""
        info = self.problem.begin(len(self.policies))
        info.lot = np.arange(len(self.policies))
        return info, self.probabilities

    def draw(self, keys: Any) -> IntArray:
        """Policy of each instance; see `Policy.draw`."""
        bounds = np.cumsum(self.probabilities)[:-1]
        return np.asarray(np.searchsorted(bounds, uniforms(keys, self.seed), side="right"))

    def following(self, info: InformationState) -> IntArray:
        """Question that comes next wherever the policy that each row drew goes on, (n,); see `Policy.following`."""
        return self._asked(info, "following")

    def continuation_cost(self, info: InformationState) -> FloatArray:
        """Expected cost of going on under the policy that each row drew, (n,); NaN where that cannot tell.

        A `RepricedPolicy` counts prices as often as its multiplier says, see there.

        Parameters
        ----------
        info : InformationState
            What is known of ``n`` instances, their lots drawn.

        Returns
        -------
        ndarray of shape (n,)
        """
        cost = np.full(len(info), np.nan)
        for policy, rows in self._drawn(info):
            cost[rows] = policy.continuation_cost(info[rows])
        return cost

    def _act(self, info: InformationState) -> IntArray:
        return self._asked(info, "act")

    def _asked(self, info: InformationState, method: str) -> IntArray:
        question = np.full(len(info), DECIDE)
        for policy, rows in self._drawn(info):
            question[rows] = getattr(policy, method)(info[rows])
        return question

    def _drawn(self, info: InformationState) -> list[tuple[Policy, IntArray]]:
        """Each policy with the rows that drew it."""
        if info.lot is None:
            raise ValueError("a randomised policy acts once lots are drawn: start from its begin().")
        pairs = [(policy, np.flatnonzero(info.lot == number)) for number, policy in enumerate(self.policies)]
        return [(policy, rows) for policy, rows in pairs if rows.size]


def _draws(policy: Policy) -> bool:
    while isinstance(policy, RepricedPolicy):
        policy = policy.policy
    return isinstance(policy, RandomisedPolicy)


def uniforms(keys: Any, seed: int) -> FloatArray:
    """Numbers in [0, 1) that are a hash of each row: equal rows give equal numbers, different ones independent ones.

    Parameters
    ----------
    keys : ndarray or sparse array of numbers of shape (n, m)
        The rows; what a sparse array does not store is zero, and NaN equals NaN.
    seed : int
        Another seed gives other numbers.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> keys = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]])
    >>> first, second, third = uniforms(keys, 0)
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    n, width = keys.shape
    total = np.zeros(n, dtype=np.uint64)
    salt = _mix(np.arange(1, width + 1, dtype=np.uint64))
    if isinstance(keys, np.ndarray):
        for part in chunks(n, 8.0 * 6 * width):
            bits = _bits(keys[part])
            # zeros add nothing, so that sparse and dense rows agree
            total[part] = np.where(bits == 0, np.uint64(0), _mix(bits ^ salt)).sum(axis=1, dtype=np.uint64)
    else:
        rows = keys.tocsr()
        bits = _bits(rows.data)
        cells = np.where(bits == 0, np.uint64(0), _mix(bits ^ salt[rows.indices]))
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(cells, dtype=np.uint64)])
        total = sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]
    lots = _mix(total ^ _mix(np.array([seed], dtype=np.uint64)))
    return np.asarray((lots >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    number = values.astype(np.float64) + 0.0  # negative zero becomes zero
    number[np.isnan(number)] = np.nan
    return np.ascontiguousarray(number).view(np.uint64)


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Finaliser of the generator splitmix64 (Steele, Lea and Flood, 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
