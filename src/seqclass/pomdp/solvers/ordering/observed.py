"""Real cases, whose class is known: stopping along an order made on them, beside the policy that a model prefers."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass.pomdp.acquisition import acquire
from seqclass.pomdp.policy import Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import OrderingCandidate, OrderingChoice, SolveInfo
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive
from seqclass.pomdp.solvers.ordering.cases import mean_and_error
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.values import RulePolicy, fit_values
from seqclass.pomdp.solvers.training import TrainingCases

#: Name of stopping along the order that was made on the cases, for people.
ON_ROWS = "fixed order of the training rows"


class ObservedOrder(GivenOrder):
    """An order that was made on real cases."""


def order_from_rows(policy: Policy) -> IntArray | None:
    """The order made on real cases that a policy follows; None where it follows no such order."""
    rule = policy.values.rule if isinstance(policy, RulePolicy) else None
    return np.asarray(rule.order, dtype=np.intp) if isinstance(rule, ObservedOrder) else None


def select_on_rows(policy: Policy, order: IntArray, solver: Adaptive, rows: TrainingCases) -> Policy:
    """Return the policy, or stopping along a fixed order where that costs less on real cases."""
    began = time.perf_counter()
    fixed = along_order(policy.problem, order, solver)
    seconds = time.perf_counter() - began
    begun, weight = rows.begin(rows.outcomes), rows.weight
    free_cost, free_asked = row_costs(policy, rows, begun)
    cost, asked = row_costs(fixed, rows, begun)
    saved, error = mean_and_error(free_cost - cost, weight)
    better = saved > error
    choice = policy.info.ordering or OrderingChoice("", ())
    least = cost if better else free_cost
    observed = (
        candidate_on_rows(choice.chosen, free_cost, least, free_asked, policy.info.seconds, weight),
        candidate_on_rows(ON_ROWS, cost, least, asked, seconds, weight),
    )
    choice = replace(choice, chosen=ON_ROWS if better else choice.chosen, observed=observed)
    if not better:
        return with_info(policy, ordering=choice, seconds=policy.info.seconds + seconds)
    certified = solver.certify(with_info(fixed, certify_seconds=policy.info.certify_seconds))
    return with_info(certified, ordering=choice, seconds=policy.info.seconds + seconds)


def along_order(problem: AcquisitionProblem, order: IntArray, solver: Adaptive) -> RulePolicy:
    """Stopping along a fixed order, by regression; not certified."""
    n_stages = min(solver.max_stages, problem.n_stages)
    rng = as_generator(solver.random_state)
    rule = ObservedOrder(order.tolist())
    values = fit_values(problem, rule, n_stages, solver.n_paths, rng, exact_expectation=solver.exact_expectation)
    return RulePolicy(values, SolveInfo("converged", n_stages=n_stages, size=values.size))


def candidate_on_rows(
    name: str, cost: FloatArray, least: FloatArray, asked: FloatArray, seconds: float, weight: FloatArray | None
) -> OrderingCandidate:
    """A candidate on real cases, beside one of the costs ``least``."""
    above = (0.0, 0.0) if cost is least else mean_and_error(cost - least, weight)
    asked_on_average = mean_and_error(asked, weight)[0]
    return OrderingCandidate(name, *mean_and_error(cost, weight), *above, asked_on_average, len(cost), seconds)


def row_costs(
    policy: Policy, rows: TrainingCases, begun: tuple[BeliefState, IntArray] | None
) -> tuple[FloatArray, FloatArray]:
    """What real cases cost, and how many questions each is asked."""
    acquired = acquire(policy, rows.outcomes, charge_missing=rows.charge_missing, start=begun)
    asked = (acquired.leaf_question >= 0).sum(axis=1).astype(float)
    decided = np.asarray(acquired.leaf_decision)[acquired.leaf]
    return acquired.leaf_price[acquired.leaf] + policy.problem.decision_costs[rows.classes, decided], asked[
        acquired.leaf
    ]
