"""How the exact solver, Perseus and the grid grow with features, bins and classes.

    python benchmarks/growth.py [--json FILE] [--quick] [--repeats N] [--seconds S]

Random naive-Bayes problems, cost 0.01 a feature, 0/1 loss. Each line names status, horizon, size and certified gap; the
certificate's time is left out of the seconds. The exact solver stops at its budget: where it says "limit", its seconds
are those of the budget and not of the problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _common import Row, best_of, parser, report

from seqclass.pomdp import ExactValueIteration, GridValueIteration, Perseus, Solver, TableProblem, certify

#: Beyond, a grid fine enough to be of use does not fit into memory.
GRID_CLASSES = 4


def problem(n_classes: int, n_bins: int, n_features: int) -> TableProblem:
    rng = np.random.default_rng([n_classes, n_bins, n_features])
    tables = rng.dirichlet(np.ones(n_bins), size=(n_features, n_classes)).transpose(0, 2, 1)
    return TableProblem(np.full(n_classes, 1 / n_classes), np.ascontiguousarray(tables), 0.01)


def line(solver: Solver, name: str, given: TableProblem, repeats: int) -> Row:
    kept: list[Any] = []

    def call() -> None:
        kept[:] = [solver.solve(given)]

    call()
    # what takes long is timed once
    first = kept[0].info.seconds
    seconds = first if first > 2 else best_of(call, repeats)
    info = kept[0].info
    gap = certify(given, kept[0], n_paths=2000, random_state=1).gap
    text = f"{name}: {type(solver).__name__}, {info.status}, horizon {info.n_stages}, size {info.size:,}, gap {gap:.2%}"
    return Row(text, seconds, None, None, None, None)


def solvers(given: TableProblem, seconds: float) -> list[Solver]:
    made: list[Solver] = [
        ExactValueIteration(max_seconds=seconds, certificate_paths=0),
        Perseus(certificate_paths=0),
    ]
    if given.n_classes <= GRID_CLASSES:
        made.append(GridValueIteration(certificate_paths=0))
    return made


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--seconds", type=float, default=20.0, help="budget of the exact solver (default 20)")
    arguments = made.parse_args()
    quick = arguments.quick
    repeats = 1 if quick else arguments.repeats
    seconds = 0.5 if quick else arguments.seconds
    # (classes, bins, features)
    sizes = [(2, 4, n) for n in ((5, 10) if quick else (5, 10, 20, 40, 100, 200, 500))]
    sizes += [(3, 3, n) for n in ((3,) if quick else (3, 4, 5, 10, 50, 500))]
    sizes += [(2, n, 10) for n in ((2,) if quick else (2, 4, 8, 12, 20))]
    sizes += [(3, n, 4) for n in ((2,) if quick else (2, 4, 8, 20))]
    sizes += [(n, 2, 4) for n in ((4,) if quick else (2, 3, 4, 5, 6, 7, 9, 11))]
    rows = []
    for n_classes, n_bins, n_features in sizes:
        given = problem(n_classes, n_bins, n_features)
        name = f"{n_classes} classes, {n_bins} bins, {n_features} features"
        rows += [line(solver, name, given, repeats) for solver in solvers(given, seconds)]
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
