"""Policies by values that were solved for at a few multipliers of the prices, and are blended between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import LookaheadPolicy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.repricing import scale_prices
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.sweeps._policies import Look, SweepPolicies
from seqclass.pomdp.sweeps.interpolated import InterpolatedValues

#: Values are blended between multipliers that are no further apart than this.
MAX_RATIO = 2.6
#: A blend is not trusted where another policy costs less by more than this share of it, and so many standard errors.
_WORSE, _SURE = 0.002, 3.0


def anchors(multipliers: FloatArray) -> IntArray:
    """Choose which multipliers are solved for: both ends, and few enough between that neighbours are close.

    Parameters
    ----------
    multipliers : ndarray of shape (n_multipliers,)
        Factors of all prices, in any order.

    Returns
    -------
    ndarray of int of shape (n_anchors,)
        Numbers of the chosen ones, by rising multiplier.

    Examples
    --------
    >>> anchors(np.array([1.0, 1.5, 2.0, 3.0, 100.0]))
    array([0, 2, 3, 4])
    """
    rising, number = np.unique(multipliers, return_index=True)
    chosen = [0]
    while chosen[-1] < len(rising) - 1:
        last = chosen[-1]
        far = int(np.searchsorted(rising, MAX_RATIO * rising[last], side="right")) - 1
        chosen.append(max(far, last + 1))
    return np.asarray(number[chosen])


class InterpolatedSweep(SweepPolicies):
    """Look-ahead policies whose values are those of the anchors, or blends of the two beside them.

    The anchors' values of what comes next are computed once for all policies.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    multipliers : ndarray of shape (n_multipliers,)
        Factors of all prices.
    solver : Solver
        Solves for the anchors; its certificates are not needed.
    certificate_paths : int
        See `SweepPolicies`.
    solved : dict of int to LookaheadPolicy, optional
        Anchors that are solved for already, by number of the multiplier.
    more : ndarray of int, optional
        Numbers of multipliers that are anchors besides those that `anchors` chooses.
    """

    def __init__(
        self,
        problem: AcquisitionProblem,
        multipliers: FloatArray,
        solver: Solver,
        certificate_paths: int,
        solved: dict[int, LookaheadPolicy] | None = None,
        more: IntArray | tuple[int, ...] = (),
    ) -> None:
        self.solver, self.certificate_paths = solver, certificate_paths
        self.solved = dict(solved or {})
        for column in [*anchors(multipliers).tolist(), *np.asarray(more).tolist()]:
            if column not in self.solved:
                policy: Any = solver.solve(scale_prices(problem, float(multipliers[column])))
                self.solved[column] = policy
        columns = sorted(self.solved, key=lambda column: multipliers[column])
        at, ends = multipliers[columns], [self.solved[column] for column in columns]
        self.values = [policy.values for policy in ends]
        self.weights = np.zeros((len(at), len(multipliers)))
        policies = []
        for column, multiplier in enumerate(multipliers):
            above = int(np.searchsorted(at, multiplier))
            if at[above] == multiplier:
                self.weights[above, column] = 1.0
                policies.append(ends[above])
                continue
            share = (multiplier - at[above - 1]) / (at[above] - at[above - 1])
            self.weights[[above - 1, above], column] = 1 - share, share
            scaled = scale_prices(problem, float(multiplier))
            policies.append(_between(scaled, ends[above - 1], ends[above], float(share)))
        super().__init__(problem, multipliers, policies)

    def refined(self, price: FloatArray, decision_cost: FloatArray, std_error: FloatArray) -> InterpolatedSweep | None:
        """Solve as well for the multipliers at which another member's policy would cost less; None where there is none.

        Parameters
        ----------
        price, decision_cost, std_error : ndarray of shape (n_multipliers,)
            What each policy pays and what its decisions cost, and how sure that is; see `CostFrontier`.

        Returns
        -------
        InterpolatedSweep or None
        """
        lines = self.multipliers[:, None] * price + decision_cost
        doubtful = np.diag(lines) - _SURE * std_error > lines.min(axis=1) * (1 + _WORSE)
        doubtful &= ~np.isin(self.multipliers, self.multipliers[list(self.solved)])
        more = np.unique(self.multipliers[doubtful], return_index=True)[1]
        if not more.size:
            return None
        columns = np.flatnonzero(doubtful)[more]
        return InterpolatedSweep(
            self.problem, self.multipliers, self.solver, self.certificate_paths, self.solved, columns
        )

    def goes_on(self, info: InformationState, active: BoolArray) -> tuple[BoolArray, list[Look]]:
        """Which policies buy the next feature, and what they saw ahead; see `SweepPolicies.goes_on`."""
        go_on = np.zeros_like(active)
        look = self.look(info, active & self.undecided(info))
        if look is None:
            return go_on, []
        go_on[look.rows] = look.go_on
        return go_on, [look]

    def look(self, info: InformationState, wanted: BoolArray) -> Look | None:
        """What policies see ahead where they are wanted, (n, n_multipliers); None where none is."""
        rows = np.flatnonzero(wanted.any(axis=1))
        if not rows.size:
            return None
        _ = info.joint  # once for all that follows
        part, wanted = info[rows], wanted[rows]
        ahead = np.zeros((len(rows), part.joint.shape[1], len(self.values)))
        needed = wanted.astype(np.float64) @ (self.weights.T > 0) > 0
        for number, values in enumerate(self.values):
            own = np.flatnonzero(needed[:, number])
            if own.size:
                ahead[own, :, number] = values.successor_values(part if own.size == rows.size else part[own])
        total = ahead.sum(axis=1)
        price = info.price[rows, None] * self.multipliers
        go_on = wanted & (price + total @ self.weights < part.to_beat[:, None])
        return Look(rows, np.arange(len(self.multipliers)), go_on, ahead, total, self.weights)


def _between(
    problem: AcquisitionProblem, lower: LookaheadPolicy, upper: LookaheadPolicy, share: float
) -> LookaheadPolicy:
    values = InterpolatedValues(problem, lower.values, upper.values, share)
    statuses: list[Any] = [policy.info.status for policy in (lower, upper)]
    status = next((status for status in statuses if status != "converged"), "converged")
    return LookaheadPolicy(values, SolveInfo(status, n_stages=values.n_stages, size=values.size))
