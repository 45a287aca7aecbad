"""Policies for several multipliers of the prices, each solved for and evaluated by itself."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, another_stream
from seqclass.pomdp.bounds.dual import CONFIDENCE, quantile
from seqclass.pomdp.execution.evaluation import evaluate
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.repricing import RepricedPolicy, scale_prices
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.sweeps.points import CostFrontier


def separate_sweep(
    problem: AcquisitionProblem, factors: FloatArray, solver: Solver, random_state: Any, **effort: Any
) -> CostFrontier:
    """Frontier of a free problem, in which policies ask different questions and so share no histories.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    factors : ndarray of shape (n_multipliers,)
        The multipliers.
    solver : Solver
        The solver.
    random_state : int, generator or None
        Seed of the simulation.
    **effort
        ``method``, ``n_paths`` and ``max_histories`` of `evaluate`.

    Returns
    -------
    CostFrontier

    Examples
    --------
    >>> from seqclass.pomdp import Lookahead, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1, free=True)
    >>> settings = {"method": "exact", "n_paths": 2, "max_histories": 100}
    >>> separate_sweep(problem, np.array([0.1, 10.0]), Lookahead(2), 0, **settings).price.round(3)
    array([0.155, 0.   ])
    """
    started, columns, policies, exact = time.perf_counter(), [], [], True
    seed = another_stream(random_state)
    for multiplier in factors.tolist():
        priced = scale_prices(problem, multiplier)
        solved = solver.solve(priced)
        policy = RepricedPolicy(solved, problem, multiplier)
        found = evaluate(problem, policy, random_state=seed, **effort)
        exact = exact and found.method == "exact"
        cost, deviation = multiplier * found.price + found.cost - found.price, 0.0
        if found.method != "exact":
            at_prices = evaluate(priced, solved, random_state=seed, **effort)
            cost, deviation = at_prices.cost, at_prices.cost_std_error
        info = solved.info
        known = np.isfinite(info.upper)
        upper = info.upper if known else cost + quantile(CONFIDENCE) * deviation
        lower = min(max(info.lower, 0.0), upper)
        confidence = info.confidence if known else (1.0 if deviation == 0 else CONFIDENCE)
        gap = (upper - lower) / upper if upper > 0 else 0.0
        policies.append(policy.with_info(upper=upper, lower=lower, gap=gap, confidence=confidence))
        columns.append(
            (found.price, cost - multiplier * found.price, found.error, found.n_features, cost)
            + (upper, lower, confidence, deviation)
        )
    price, decision, error, features, costs, uppers, lowers, trust, deviations = np.array(columns, dtype=float).T
    return CostFrontier(
        multipliers=factors,
        price=price,
        decision_cost=np.maximum(decision, 0.0),
        error=error,
        n_features=features,
        cost=costs,
        upper=uppers,
        lower=lowers,
        confidence=trust,
        std_error=deviations,
        policies=tuple(policies),
        method="exact" if exact else "simulation",
        seconds=time.perf_counter() - started,
    )
