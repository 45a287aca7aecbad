"""A frontier of 40 prices in one sweep: against one solve, and against as many solves with their evaluations.

    python benchmarks/frontier.py [--json FILE] [--quick] [--repeats N]

The problems are those of benchmarks/solvers.py, and that of `ifc2f` on a set, which has no tables. "One solve" includes
its certificate, as the sweep includes bounds and evaluation of every point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _common import Row, measure, parser, report
from sklearn.datasets import load_breast_cancer, load_wine
from solvers import random_problem, real_problem

from seqclass import ifc2f
from seqclass.pomdp import (
    AcquisitionProblem,
    GridValueIteration,
    Perseus,
    ProjectedValueIteration,
    Solver,
    cost_sweep,
    evaluate,
    solve_for_budget,
)
from seqclass.pomdp.policy import scale_prices

#: Classes, bins, features and concentration of the random problems.
SIZES = ((2, 2, 40, 1.0), (2, 4, 500, 20.0), (3, 4, 10, 1.0), (3, 4, 60, 1.0))
N_PATHS = 5000


def one_by_one(problem: AcquisitionProblem, multipliers: Any, solver: Solver) -> None:
    for multiplier in multipliers:
        scaled = scale_prices(problem, float(multiplier))
        evaluate(scaled, solver.solve(scaled), n_paths=N_PATHS, max_histories=20_000)


def tree_problem() -> AcquisitionProblem:
    """The problem of a tree network whose stages depend on too many answers for tables."""
    X, y = load_breast_cancer(return_X_y=True)
    problem: AcquisitionProblem = (
        ifc2f(0.01, solver=ProjectedValueIteration(n_beliefs=0, certificate_paths=0)).fit(X, y).problem_
    )
    return problem


def swept(name: str, problem: AcquisitionProblem, multipliers: Any, solver: Solver, repeats: int) -> list[Row]:
    frontier = cost_sweep(problem, multipliers, solver, n_paths=N_PATHS)
    title = f"{name}, {len(multipliers)} prices, largest gap {frontier.gap.max():.1%}"

    def sweep() -> None:
        cost_sweep(problem, multipliers, solver, n_paths=N_PATHS)

    return [
        measure(title, sweep, peer="one solve", peer_call=lambda: solver.solve(problem), repeats=repeats),
        measure(
            "  the same",
            sweep,
            peer="solve and evaluate each",
            peer_call=lambda: one_by_one(problem, multipliers, solver),
            repeats=repeats,
            peer_repeats=0,
            memory=False,
        ),
    ]


def main() -> None:
    arguments = parser(__doc__).parse_args()
    grid, repeats = GridValueIteration(), 0 if arguments.quick else arguments.repeats
    multipliers = np.geomspace(0.1, 10, 2 if arguments.quick else 40)
    rows = []
    for size in SIZES[2:3] if arguments.quick else SIZES:
        rows += swept(f"grid {size[:3]}", random_problem(*size), multipliers, grid, repeats)
    if not arguments.quick:
        for load in (load_breast_cancer, load_wine):
            name = load.__name__.removeprefix("load_")
            rows += swept(f"grid, {name}", real_problem(load), multipliers, grid, repeats)
    few = Perseus(100 if arguments.quick else 1000, certificate_paths=2000)
    rows += swept(f"Perseus (5, 4, 10), {few.n_beliefs} beliefs", random_problem(5, 4, 10), multipliers, few, 0)
    if not arguments.quick:
        rows += swept("Perseus (11, 4, 20), defaults", random_problem(11, 4, 20), multipliers, Perseus(), 0)
    tree = tree_problem()
    steered = (
        ProjectedValueIteration(n_beliefs=100, certificate_paths=100) if arguments.quick else ProjectedValueIteration()
    )
    rows += swept("ProjectedValueIteration, breast_cancer", tree, multipliers, steered, repeats)
    rows.append(
        measure(
            "ProjectedValueIteration, breast_cancer, a mean budget of 0.05",
            lambda: solve_for_budget(tree, 0.05, steered),
            peer="one solve",
            peer_call=lambda: steered.solve(tree),
            repeats=repeats,
        )
    )
    problem = random_problem(*SIZES[2])
    rows.append(
        measure(
            "grid (3, 4, 10), a mean budget of 0.03",
            lambda: solve_for_budget(problem, 0.03),
            peer="one solve",
            peer_call=lambda: grid.solve(problem),
            repeats=repeats,
        )
    )
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
