"""Our solvers beside pomdp-py's, on the sizes that pomdp-py can do.

    python benchmarks/pomdp_py_peers.py [--json FILE] [--quick]

Random naive-Bayes problems, prices 0.03, a wrong class costs 1; one run each. `pomdp_py.value` and ValueIteration are
exact, so that the peers there are our enumeration, and Perseus with its certificate. POUCT plans for one belief; its
seconds are those of the first decision, of which an instance takes one a feature, and ours are the solve of the whole
policy. "alone" is POUCT with every decision in its tree and random rollouts, "guided" is how our bridge runs it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _common import Row, measure, needed, parser, report

from seqclass.pomdp import Perseus, PomdpPyPlanner, TableProblem, evaluate, optimal_cost, to_pomdp_py

pomdp_py = needed("pomdp_py")
#: Classes, features, outcomes.
VALUE_SIZES = ((2, 4, 2), (3, 3, 3), (3, 4, 3), (3, 5, 2), (5, 3, 3))
ITERATION_SIZES = ((2, 1, 4), (3, 1, 4), (2, 2, 2), (3, 2, 2))
SEARCH_SIZES = ((3, 4, 3), (3, 10, 4), (5, 20, 4), (11, 20, 4))


def random_problem(n_classes: int, n_features: int, n_outcomes: int) -> TableProblem:
    rng = np.random.default_rng(1)
    tables = rng.dirichlet(np.ones(n_outcomes), (n_features, n_classes)).transpose(0, 2, 1)
    return TableProblem(rng.dirichlet(np.full(n_classes, 5.0)), np.ascontiguousarray(tables), 0.03)


def value(problem: TableProblem) -> float:
    m = to_pomdp_py(problem)
    models = (m.transition_model, m.observation_model, m.reward_model)
    spaces = (m.states, m.actions, m.observations)
    return -float(pomdp_py.value(m.agent.belief, *spaces, *models, 1.0, horizon=m.horizon))


def named(size: tuple[int, int, int]) -> str:
    return "{} classes, {} features, {} outcomes".format(*size)


def once(name: str, ours: Any, peer: str, theirs: Any) -> Row:
    return measure(name, ours, peer=peer, peer_call=theirs, repeats=1, peer_repeats=0)


def exact_rows(size: tuple[int, int, int]) -> list[Row]:
    problem = random_problem(*size)
    name = named(size)
    costs: list[float] = []
    rows = [
        once(
            f"{name}: enumeration",
            lambda: optimal_cost(problem),
            "pomdp_py.value",
            lambda: costs.append(value(problem)),
        )
    ]
    assert abs(costs[0] - optimal_cost(problem)) < 1e-9
    solver = Perseus(random_state=0)
    executed = evaluate(problem, solver.solve(problem)).cost
    seconds = measure("", lambda: solver.solve(problem), repeats=1, memory=False).ours_s
    peer_s = rows[0].peer_s
    assert peer_s is not None
    title = f"  Perseus, certified, {abs(executed / costs[0] - 1):.2%} above it"
    return [*rows, Row(title, seconds, "pomdp_py.value", peer_s, peer_s / seconds, None)]


def iteration_row(size: tuple[int, int, int]) -> Row:
    problem = random_problem(*size)
    m = to_pomdp_py(problem)
    planner = pomdp_py.ValueIteration(horizon=m.horizon, discount_factor=1.0)
    return once(
        f"{named(size)}: enumeration",
        lambda: optimal_cost(problem),
        "ValueIteration, first decision",
        lambda: planner.plan(m.agent),
    )


def search_rows(size: tuple[int, int, int], n_simulations: int, n_paths: int) -> list[Row]:
    problem = random_problem(*size)
    solver = Perseus(random_state=0)
    cost = evaluate(problem, solver.solve(problem)).cost
    rows = []
    for guided in (False, True):
        settings = {"n_simulations": n_simulations, "guided": guided}
        # a fresh policy, which has not planned yet; the first call also imports
        planned = PomdpPyPlanner(**settings).solve(problem)
        policy = PomdpPyPlanner(**settings).solve(problem)
        peer = f"POUCT {'guided' if guided else 'alone'}, {n_simulations:,} simulations, first decision"
        row = once(
            named(size), lambda: solver.solve(problem), peer, lambda p=planned: p.action(problem.initial_belief())
        )
        result = evaluate(problem, policy, method="simulation", n_paths=n_paths)
        spread = f"{result.cost:.3f} +- {result.cost_std_error:.3f}"
        rows.append(Row(f"{row.name}: Perseus, cost {cost:.3f} against {spread}", *list(vars(row).values())[1:]))
    return rows


def main() -> None:
    arguments = parser(__doc__).parse_args()
    quick = arguments.quick
    rows: list[Row] = []
    for size in VALUE_SIZES[:1] if quick else VALUE_SIZES:
        rows += exact_rows(size)
    rows += [iteration_row(size) for size in (ITERATION_SIZES[:1] if quick else ITERATION_SIZES)]
    for size in SEARCH_SIZES[:1] if quick else SEARCH_SIZES:
        for n_simulations in (100,) if quick else (1000, 10_000):
            rows += search_rows(size, n_simulations, 20 if quick else 100_000 // n_simulations)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
