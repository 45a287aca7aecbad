"""Real cases, whose class is known: stopping along an order made on them, beside the policy that a model prefers."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass.pomdp.acquisition import acquire
from seqclass.pomdp.policy import Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import OrderingChoice, SolveInfo
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive
from seqclass.pomdp.solvers.ordering.cases import TriedPolicy, mean_and_error
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.values import RulePolicy, fit_values
from seqclass.pomdp.solvers.training import TrainingCases
from seqclass.pomdp.ties import beyond

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
    began, info = time.perf_counter(), policy.info
    along = TriedPolicy(ON_ROWS, along_order(policy.problem, order, solver), seconds=time.perf_counter() - began)
    choice = info.ordering or OrderingChoice("", ())
    own = TriedPolicy(choice.chosen, policy, seconds=info.seconds)
    taken, choice = choose_on_rows(own, [own, along], choice, rows)
    if taken.policy is along.policy:
        policy = solver.certify(with_info(along.policy, certify_seconds=info.certify_seconds))
    return with_info(policy, ordering=choice, seconds=info.seconds + along.seconds)


def choose_on_rows(
    chosen: TriedPolicy, tried: list[TriedPolicy], choice: OrderingChoice, rows: TrainingCases
) -> tuple[TriedPolicy, OrderingChoice]:
    """What costs least on real cases, if by more than a standard error, and a report of all that were tried."""
    begun, mean_on_rows = rows.begin(rows.outcomes), partial(mean_and_error, weight=rows.weight)
    on_rows = [TriedPolicy(one.name, one.policy, *row_costs(one.policy, rows, begun), one.seconds) for one in tried]
    best, own = min(on_rows, key=lambda one: mean_on_rows(one.costs)[0]), on_rows[tried.index(chosen)]
    saved, error = mean_on_rows(own.differs(best))
    taken = best if saved > beyond(error) else own
    observed = tuple(one.report(mean_on_rows, taken) for one in on_rows)
    return taken, replace(choice, chosen=taken.name, observed=observed)


def along_order(problem: AcquisitionProblem, order: IntArray, solver: Adaptive) -> RulePolicy:
    """Stopping along a fixed order, by regression; not certified."""
    n_stages = min(solver.max_stages, problem.n_stages)
    rng = as_generator(solver.random_state)
    rule = ObservedOrder(order.tolist())
    values = fit_values(problem, rule, n_stages, solver.n_paths, rng, exact_expectation=solver.exact_expectation)
    return RulePolicy(values, SolveInfo("converged", n_stages=n_stages, size=values.size))


def row_costs(
    policy: Policy, rows: TrainingCases, begun: tuple[BeliefState, IntArray] | None
) -> tuple[FloatArray, FloatArray]:
    """What real cases cost, and how many questions each is asked."""
    acquired = acquire(policy, rows.outcomes, charge_missing=rows.charge_missing, start=begun)
    asked, leaf = (acquired.leaf_question >= 0).sum(axis=1).astype(float), acquired.leaf
    errors = policy.problem.decision_costs[rows.classes, acquired.leaf_decision[leaf]]
    return acquired.leaf_price[leaf] + errors, asked[leaf]
