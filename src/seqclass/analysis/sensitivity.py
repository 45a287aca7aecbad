"""How the expected cost depends on prices and decision costs: derivatives, and changed problems solved again."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_costs, check_distribution, in_order, names_to_mapping
from seqclass.analysis._walk import MAX_HISTORIES, Level, Simulation, collect
from seqclass.pomdp import DECIDE, Policy, Solver
from seqclass.pomdp.account import pays_in_full, price_levels, prices_without_visits
from seqclass.pomdp.evaluation import Evaluation, evaluate_policy
from seqclass.pomdp.names import Names
from seqclass.pomdp.policy import BorrowedPolicy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, set_question
from seqclass.pomdp.solvers.base import policy_of
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.solvers.panel_policy import panel_prices
from seqclass.pomdp.sweeps.budget import within_budget
from seqclass.pomdp.ties import affords
from seqclass.pomdp.worlds import Asked, Game, game_and_policy

__all__ = ["HeldPolicy", "Sensitivity", "WhatIf", "sensitivity", "what_if"]


class HeldPolicy(BorrowedPolicy):
    """A policy that goes on asking what it asks in its own problem, run on one with other costs or another prior."""

    def panels(self, belief: BeliefState, least: int = 0) -> BoolArray | None:
        """What each row orders now, as the policy has it; see `Policy.panels`."""
        panels, most = super().panels(belief, least), self.problem.limits.max_cost
        if panels is None or most is None or self.problem.visits is None:
            return panels
        paid = belief.spent + panel_prices(belief, panels) + self.problem.visits.panel_costs(panels)
        return np.asarray(panels & affords(most, paid)[:, None])

    def _action(self, belief: BeliefState) -> IntArray:
        question = super()._action(belief)
        may = np.take_along_axis(belief.available, np.maximum(question, 0)[:, None], axis=1)[:, 0]
        if self.problem.limits.max_cost is not None and (panels := self.panels(belief)) is not None:
            may &= belief.account.waits | panels.any(axis=1)
        return np.where(may, question, DECIDE)  # what it has planned may be beyond the other problem's budget

    def _translate(self, belief: BeliefState) -> BeliefState:
        before, after = self.policy.problem.prior, self.problem.prior
        if np.array_equal(before, after):
            own = copy.copy(belief)
            own.problem = self.policy.problem
            own._cache = {}
        else:  # in each class the answers are as likely as they are there: it asks by what it would believe there
            weight = belief.probabilities * np.divide(before, after, out=np.zeros_like(before), where=after > 0)
            total = weight.sum(axis=1, keepdims=True)
            posterior = np.divide(weight, total, out=belief.probabilities.copy(), where=total > 0)
            own = belief.replace(problem=self.policy.problem, probabilities=posterior)
        own.__dict__["available"] = belief.available  # what the other problem's budget leaves
        return own


@dataclass(frozen=True, repr=False)
class WhatIf(Readable):
    """A problem with some of its numbers changed, and its new solution.

    Attributes
    ----------
    problem : AcquisitionProblem
        The changed problem.
    policy : Policy
        Its solution.
    before, held : Evaluation
        The old policy on the old problem, and on the changed problem, where it asks the same questions and its
        decisions adapt.
    after : Evaluation
        The new policy on the changed problem.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> result = what_if(problem, GridValueIteration().solve(problem), prices=[1.0])
    >>> result.after.n_features, round(result.saving_of_replanning, 3)
    (0.0, 0.65)
    """

    _in_summary = ("change", "saving_of_replanning")
    _axis = "policy"

    problem: AcquisitionProblem
    policy: Policy
    before: Evaluation
    held: Evaluation
    after: Evaluation

    def _table(self) -> Any:
        import pandas as pd

        names = ["before", "held", "after"]
        return pd.concat([getattr(self, name).to_frame() for name in names]).set_axis(names)

    @property
    def change(self) -> float:
        """Expected cost of the new policy after the change minus that of the old one before."""
        return self.after.cost - self.before.cost

    @property
    def saving_of_replanning(self) -> float:
        """What solving again saves after the change."""
        return self.held.cost - self.after.cost


def what_if(
    problem: Game,
    policy: Asked = None,
    *,
    prices: npt.ArrayLike | Mapping[int | str, float] | None = None,
    decision_costs: npt.ArrayLike | None = None,
    prior: npt.ArrayLike | None = None,
    solver: Solver | None = None,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> WhatIf:
    """Change prices, decision costs or the class prior, solve again, and compare.

    A hard budget, ``max_cost``, stays as it is, so at higher prices it cuts a fixed order shorter.

    Parameters
    ----------
    problem, policy
        As in `evaluate`: a fitted classifier stands for its problem and its policy.
    prices : array-like of shape (n_questions,) or mapping of str or int to float, optional
        New price of each question, or of some: of questions by their names in ``problem.names``, or of *features* by
        their numbers, which are those of ``problem.features`` and not places in ``problem.prices``. Where the order
        is 0, 2, 1, ``{1: 0.05}`` changes ``problem.prices[2]``. The full price in a group changes by the same amount.
        Of a price that depends on answers the least is meant, as in ``problem.prices``; the others change by as much.
        What pandas has by name, here and below, goes by the names.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        New cost of each decision when each class is true.
    prior : array-like of shape (n_classes,), optional
        New class prior.
    solver : Solver, optional
        By default as for `seqclass.pomdp.cost_sweep`.
    method, n_paths, max_histories, random_state
        See `reachable_beliefs`.

    Returns
    -------
    WhatIf

    Raises
    ------
    ValueError
        If a price is negative, a feature is not in the problem, a shape is wrong, or the rules of the problem can no
        longer be met within ``max_cost``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> result = what_if(problem, GridValueIteration().solve(problem), prices={1: 0.001})
    >>> round(result.before.n_features, 2), round(result.after.n_features, 2), round(result.change, 3)
    (1.55, 1.55, -0.021)
    """
    problem, _, policy = game_and_policy(problem, policy)
    changes = dict[str, FloatArray]()
    if prices is not None:
        alone = 0.0 if problem.visits is None else problem.visits.single_costs
        new = _new_prices(problem, prices) + alone
        changes = {"prices": new, "full_prices": np.maximum(problem.full_prices + new - problem.prices, new)}
    if decision_costs is not None:
        shape = (problem.n_classes, problem.n_decisions)
        named = in_order(decision_costs, "decision_costs", problem.names.classes, problem.names.decisions)
        changes["decision_costs"] = check_costs(named, "decision_costs", shape)
    if prior is not None:
        named = in_order(prior, "prior", problem.names.classes)
        changes["prior"] = check_distribution(named, problem.n_classes, "prior")
    whole = problem.replace(**changes)
    changed = within_budget(whole, max_cost=problem.limits.max_cost)
    old = HeldPolicy(policy, whole)  # which would not know the states of one cut shorter
    old.n_stages = min(old.n_stages, changed.n_stages)
    solved = policy_of(default_solver(changed, random_state) if solver is None else solver, changed)
    simulation = Simulation(method, n_paths, max_histories, random_state)
    pairs = ((problem, policy), (whole, old), (changed, solved))
    before, held, after = (evaluate_policy(where, who, simulation) for where, who in pairs)
    return WhatIf(changed, solved, before, held, after)


def _new_prices(problem: AcquisitionProblem, prices: Any) -> FloatArray:
    prices = names_to_mapping(prices, "prices")
    if not isinstance(prices, Mapping):
        return check_costs(prices, "prices", (problem.n_questions,))
    new = prices_without_visits(problem).copy()
    for feature, price in prices.items():
        named = isinstance(feature, str)
        stages = np.array([problem.names.number(feature)]) if named else np.flatnonzero(problem.features == feature)
        if not stages.size:
            raise ValueError(f"prices names feature {feature!r}, which the problem does not ask for.")
        new[stages] = price
    return check_costs(new, "prices")


@dataclass(frozen=True, repr=False)
class Sensitivity(Readable):
    """Derivatives of a policy's expected cost; for an optimal policy, also those of the optimal cost.

    Attributes
    ----------
    price : ndarray of shape (n_questions,)
        With respect to the price of each question, in the order of ``problem.prices``: the probability that it is
        bought at that price.
    full_price : ndarray of shape (n_questions,)
        With respect to the full price: the probability that the question is bought as the first one of its group, or in
        a visit as that of the first ones which adds least. 0 without groups.
    decision_cost : ndarray of shape (n_classes, n_decisions)
        With respect to each decision cost: P(class, decision).
    cost : float
        The expected cost itself; if visits cost nothing, it equals the sum of all costs times their derivatives.
    method : str
        ``"exact"`` or ``"simulation"``.
    names : object or None
        Names of questions, classes and decisions, as `AcquisitionProblem.names` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> sensitivity(problem, FirstK(None).solve(problem)).price
    array([1.])
    """

    _in_summary = ("cost", "price", "decision_cost", "method")

    price: FloatArray
    full_price: FloatArray
    decision_cost: FloatArray
    cost: float
    method: str
    names: Names | None = field(default=None, compare=False)

    def _table(self) -> Any:
        questions = self._labels("question", len(self.price))
        classes, decisions = (self._labels(kind, n) for kind, n in zip(("class", "decision"), self.decision_cost.shape))
        prices = {"price": self.price, "full_price": self.full_price}
        rows = [(kind, one, value) for kind, of in prices.items() for one, value in zip(questions, of.tolist())]
        rows += [
            ("decision_cost", f"{decisions[j]} where {classes[i]} is true", value)
            for (i, j), value in np.ndenumerate(self.decision_cost)
        ]
        return [dict(zip(("with_respect_to", "of", "derivative"), row)) for row in rows]


def sensitivity(
    problem: Game,
    policy: Asked = None,
    *,
    method: str = "auto",
    n_paths: int = 10_000,
    max_histories: int = MAX_HISTORIES,
    random_state: Any = 0,
) -> Sensitivity:
    """Compute the derivatives of the expected cost with respect to each price and each decision cost.

    Parameters
    ----------
    problem, policy, method, n_paths, max_histories, random_state
        As in `evaluate`: a fitted classifier stands for its problem and its policy.

    Returns
    -------
    Sensitivity

    Notes
    -----
    The derivatives are for the policy held fixed. A small change of prices or costs changes what the optimal policy
    does only where it is nearly indifferent. For an optimal policy they are therefore also the derivatives of the
    optimal cost (the envelope theorem), wherever that has derivatives. As the optimal cost is a minimum of linear
    functions, it never lies above this tangent.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> result = sensitivity(problem, GridValueIteration().solve(problem))
    >>> result.price.round(2), result.decision_cost.round(3).tolist()
    (array([1.  , 0.55]), [[0.405, 0.095], [0.02, 0.48]])
    """
    problem, _, policy = game_and_policy(problem, policy)
    simulation = Simulation(method, n_paths, max_histories, random_state)
    (price, full, joint, paid), served = collect(problem, policy, lambda levels: _shares(problem, levels), simulation)
    cost = float(paid + (joint * problem.decision_costs).sum())
    return Sensitivity(price, full, joint, cost, served, problem.names)


def _shares(problem: AcquisitionProblem, levels: Iterable[Level]) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """How often each question is paid for, less or in full, P(class, decision), and what is paid."""
    price, full = np.zeros((2, problem.n_questions))
    joint, paid = np.zeros((problem.n_classes, problem.n_decisions)), 0.0
    for level in levels:
        stop, on = np.flatnonzero(~level.go_on), np.flatnonzero(level.go_on)
        belief = level.belief.probabilities[stop]
        paid += float(level.weight[stop] @ level.belief.spent[stop])
        # ties are told apart by an absolute tolerance, under which the joint of a rare history would drown
        chosen = problem.decide(belief)[:, None] == np.arange(problem.n_decisions)
        joint += (belief * level.weight[stop, None]).T @ chosen
        if on.size:
            question, weight, n = level.question[on], level.weight[on], problem.n_questions
            first = np.bincount(question, weight * _first_of_group(level, on), n)
            price += np.bincount(question, weight, n) - first
            full += first
    return price, full, joint, paid


def _first_of_group(level: Level, on: IntArray) -> FloatArray:
    """Which of them pay in full for their group, or how much of it, where prices depend on answers."""
    belief = set_question(level.belief[on], level.question[on])
    if (after := price_levels(belief)) is None:
        return pays_in_full(belief).astype(np.float64)
    own = after[np.arange(len(belief)), level.question[on]]
    return np.where(np.isnan(own), pays_in_full(belief), own)
