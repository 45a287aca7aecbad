"""Problems with some of their numbers changed: the old policy held, and a new one."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_costs, check_distribution
from seqclass.analysis._walk import MAX_HISTORIES
from seqclass.pomdp import Evaluation, InformationState, Policy, Solver, evaluate
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.defaults import default_solver


class HeldPolicy(Policy):
    """A policy that goes on asking what it asks in its own problem, run on one with other costs or another prior.

    Parameters
    ----------
    policy : Policy
        The policy.
    problem : AcquisitionProblem
        The problem to run it on: the same features and classes.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, evaluate, scale_prices
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> dear = scale_prices(problem, 100.0)
    >>> evaluate(dear, HeldPolicy(GridValueIteration().solve(problem), dear)).price
    10.0
    """

    def __init__(self, policy: Policy, problem: AcquisitionProblem) -> None:
        super().__init__(problem, policy.n_stages, policy.info)
        self.policy = policy

    def begin(self) -> tuple[InformationState, FloatArray]:
        """Return the lots of the policy; see `Policy.begin`."""
        lots, probability = self.policy.begin()
        info = self.problem.begin(len(lots))
        info.lot = lots.lot
        return info, probability

    def draw(self, keys: Any) -> IntArray:
        """Lot of each instance, as the policy draws it; see `Policy.draw`."""
        return self.policy.draw(keys)

    def following(self, info: InformationState) -> IntArray:
        """Question that comes next wherever it goes on, (n,); see `Policy.following`."""
        return self.policy.following(self._own(info))

    def _act(self, info: InformationState) -> IntArray:
        return self.policy.act(self._own(info))

    def _own(self, info: InformationState) -> InformationState:
        own = copy.copy(info)
        own.problem = self.policy.problem
        for name in ("stopping_cost", "context"):
            own.__dict__.pop(name, None)
        own.__dict__["open"] = info.open  # what the other problem's budget leaves
        return own


@dataclass(frozen=True)
class WhatIf:
    """A problem with some of its numbers changed, and solved again.

    Attributes
    ----------
    problem : AcquisitionProblem
        The changed problem.
    policy : Policy
        Its solution.
    before : Evaluation
        The old policy on the old problem.
    held : Evaluation
        The old policy on the changed problem.
    after : Evaluation
        The new policy on the changed problem.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> result = what_if(problem, GridValueIteration().solve(problem), prices=[1.0])
    >>> result.after.n_features, round(result.adapting, 3)
    (0.0, 0.65)
    """

    problem: AcquisitionProblem
    policy: Policy
    before: Evaluation
    held: Evaluation
    after: Evaluation

    @property
    def change(self) -> float:
        """Expected cost of the new policy after the change minus that of the old one before."""
        return self.after.cost - self.before.cost

    @property
    def adapting(self) -> float:
        """What solving again saves after the change."""
        return self.held.cost - self.after.cost


def what_if(
    problem: AcquisitionProblem,
    policy: Policy,
    *,
    prices: npt.ArrayLike | Mapping[int, float] | None = None,
    decision_costs: npt.ArrayLike | None = None,
    prior: npt.ArrayLike | None = None,
    solver: Solver | None = None,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> WhatIf:
    """Change prices, decision costs or the class prior, solve again, and compare.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem; of a fitted classifier ``problem_``.
    policy : Policy
        Its policy; of a fitted classifier ``policy_``.
    prices : array-like of shape (n_questions,) or mapping of int to float, optional
        New price of each question, or of some features by their number in the problem. A feature's full price
        in a group moves by as much.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        New cost of each decision when each class is true.
    prior : array-like of shape (n_classes,), optional
        New class prior.
    solver : Solver, optional
        By default a grid for two or three classes and Perseus beyond.
    method, n_paths, max_histories, random_state
        See `reachable_beliefs`.

    Returns
    -------
    WhatIf

    Raises
    ------
    ValueError
        If a price is negative, a feature is not in the problem, or a shape does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> result = what_if(problem, GridValueIteration().solve(problem), prices={1: 0.001})
    >>> round(result.before.n_features, 2), round(result.after.n_features, 2), round(result.change, 3)
    (1.55, 1.55, -0.021)
    """
    changes: dict[str, FloatArray] = {}
    if prices is not None:
        new = _new_prices(problem, prices)
        changes = {"prices": new, "full_prices": np.maximum(problem.full_prices + new - problem.prices, new)}
    if decision_costs is not None:
        shape = (problem.n_classes, problem.n_decisions)
        changes["decision_costs"] = check_costs(decision_costs, "decision_costs", shape)
    if prior is not None:
        changes["prior"] = check_distribution(prior, problem.n_classes, "prior")
    changed = problem.replace(**changes)
    solved = (default_solver(changed, random_state) if solver is None else solver).solve(changed)
    pairs = ((problem, policy), (changed, HeldPolicy(policy, changed)), (changed, solved))
    before, held, after = (
        evaluate(where, who, method=method, n_paths=n_paths, max_histories=max_histories, random_state=random_state)
        for where, who in pairs
    )
    return WhatIf(changed, solved, before, held, after)


def _new_prices(problem: AcquisitionProblem, prices: npt.ArrayLike | Mapping[int, float]) -> FloatArray:
    if not isinstance(prices, Mapping):
        return check_costs(prices, "prices", (problem.n_questions,))
    new = problem.prices.copy()
    for feature, price in prices.items():
        stages = np.flatnonzero(problem.features == feature)
        if not stages.size:
            raise ValueError(f"prices names feature {feature!r}, which the problem does not ask for.")
        new[stages] = price
    return check_costs(new, "prices")
