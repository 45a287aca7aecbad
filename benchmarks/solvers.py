"""Solvers on random naive-Bayes problems and on real data: seconds, certified gaps, time to a gap of 1%.

    python benchmarks/solvers.py [--json FILE] [--quick] [--repeats N]

The random problems draw P(outcome | class) uniformly, prices are 0.01, a wrong class costs 1. The peers are the same
backups one belief, or one grid point, at a time; with 9 to 11 classes, the other solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _common import Row, measure, parser, peak_mb, report
from sklearn.datasets import load_breast_cancer, load_digits

import seqclass
from seqclass.pomdp import (
    AcquisitionProblem,
    FittedValueIteration,
    GridValueIteration,
    Perseus,
    Solver,
    TableProblem,
    certify,
)
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.alpha import BackupPoints, back_up_points, sample_beliefs
from seqclass.pomdp.solvers.grid import GridProgram
from seqclass.pomdp.ties import TIE

#: Classes, bins and features of the random problems.
SIZES = ((2, 2, 40), (3, 4, 10), (3, 10, 20), (5, 4, 20), (11, 4, 20), (11, 10, 20))
GAP = 0.01


def random_problem(n_classes: int, n_bins: int, n_features: int, concentration: float = 1.0) -> TableProblem:
    """The larger the concentration, the weaker the features."""
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(n_bins, concentration), (n_features, n_classes)).transpose(0, 2, 1)
    return TableProblem(np.full(n_classes, 1 / n_classes), np.ascontiguousarray(tables), prices=0.01)


def perseus_loop(problem: AcquisitionProblem, points: list[BackupPoints], tolerance: float) -> list[Any]:
    """Point-based value iteration a belief at a time; the same beliefs and rule as ours."""
    rng = np.random.default_rng(0)
    stopping = problem.decision_costs.T
    following, sets = stopping, []
    for stage in reversed(range(len(points))):
        likelihood = problem.structure.tables.likelihood(stage, np.zeros(1, dtype=int))[0]
        backed = []
        for belief in points[stage].belief:
            vector = np.full(problem.n_classes, problem.prices[stage])
            for outcome in likelihood:
                vector += outcome * following[(following @ (outcome * belief)).argmin()]
            backed.append(vector)
        kept: list[Any] = []
        todo = list(rng.permutation(len(backed)))
        while todo:
            kept.append(backed[todo[0]])
            todo = [i for i in todo if points[stage].belief[i] @ (kept[-1] - backed[i]) > tolerance + TIE]
        sets.append(kept)
        following = np.array([*stopping, *kept])
    return sets[::-1]


def grid_loop(problem: AcquisitionProblem, n_steps: int, stages: range) -> Any:
    """Two classes: a value a grid point, successors interpolated on the line."""
    line = np.linspace(0, 1, n_steps + 1)
    value = np.minimum(line, 1 - line)
    for stage in reversed(stages):
        likelihood = problem.structure.tables.likelihood(stage, np.zeros(1, dtype=int))[0]
        updated = value.copy()
        for i, p in enumerate(line):
            go_on = problem.prices[stage]
            for first, second in likelihood:
                total = first * (1 - p) + second * p
                go_on += total * np.interp(second * p / total, line, value)
            updated[i] = min(value_at_stop(p), go_on)
        value = updated
    return value


def value_at_stop(p: float) -> float:
    return min(p, 1 - p)


def backups(name: str, problem: TableProblem, n_beliefs: int, repeats: int) -> Row:
    """Our batched backups and the loop, on the same beliefs."""
    tolerance, stopping = Perseus().tolerance, problem.decision_costs.T
    points = sample_beliefs(problem, problem.n_stages, n_beliefs, np.random.default_rng(0))
    return measure(
        f"point-based backups, {name}, {n_beliefs} beliefs",
        lambda: back_up_points(problem, points, stopping, tolerance, np.random.default_rng(0)),
        peer="the same a belief at a time",
        peer_call=lambda: perseus_loop(problem, points, tolerance),
        repeats=repeats,
        peer_repeats=0,
    )


def solved(name: str, problem: AcquisitionProblem, solver: Solver, repeats: int) -> Row:
    """Seconds of the whole: horizon, rounds of beliefs and certificate."""
    info = solver.solve(problem).info
    gap = "" if np.isnan(info.gap) else f", {info.lower:.4f}..{info.upper:.4f}, gap {info.gap:.2%}"
    return measure(f"  {name}, horizon {info.n_stages}{gap}", lambda: solver.solve(problem), repeats=repeats)


def random_cases(sizes: Any, n_beliefs: int, repeats: int) -> list[Row]:
    rows = []
    for size in sizes:
        problem = random_problem(*size)
        rows.append(backups(f"random {size}", problem, n_beliefs, repeats))
        rows.append(solved("Perseus, defaults and certificate", problem, Perseus(), repeats))
        rows.append(solved("fitted, defaults and certificate", problem, FittedValueIteration(), repeats))
        if size[0] <= 3:
            rows.append(solved("grid, defaults and certificate", problem, GridValueIteration(), repeats))
    return rows


def large_cases(n_features: int, n_steps: int, repeats: int) -> list[Row]:
    """Features so weak that all stages matter."""
    three, two = (random_problem(n_classes, 4, n_features, 20.0) for n_classes in (3, 2))
    program = GridProgram(two, two.structure.tables, SimplexGrid(2, n_steps), "freudenthal", n_features)
    some = min(5, n_features)
    return [
        backups(f"{n_features} features, 4 bins, 3 classes", three, 100, repeats),
        solved("Perseus, 100 beliefs", three, Perseus(100, n_rounds=1, certificate_paths=0), repeats),
        measure(
            f"grid backups of {n_steps} levels, {n_features} features, 4 bins, 2 classes",
            lambda: program.run(np.arange(1), np.ones(1), 0.0, last=True),
            peer=f"the same a point at a time, {some} stages timed and scaled",
            peer_call=lambda: grid_loop(two, n_steps, range(some)),
            repeats=repeats,
            peer_repeats=0,
            peer_scale=n_features / some,
        ),
        solved(f"grid of {n_steps} levels", two, GridValueIteration(n_steps, certificate_paths=0), repeats),
    ]


def to_a_gap(name: str, problem: AcquisitionProblem, most: int, paths: int) -> Row:
    """Double the beliefs until the certified gap is small enough; the last solve and its certificate are timed."""
    n_beliefs = 125
    while True:
        solver = Perseus(n_beliefs, certificate_paths=paths)
        info = solver.solve(problem).info
        if info.gap < GAP or 2 * n_beliefs > most:
            break
        n_beliefs *= 2
    reached = f"to a gap of {GAP:.0%}" if info.gap < GAP else f"gap of {GAP:.0%} not reached"
    told = f"{reached}, {name}: {n_beliefs:,} beliefs, {info.lower:.4f}..{info.upper:.4f}, gap {info.gap:.2%}"
    seconds = info.seconds + info.certify_seconds
    return Row(told, seconds, None, None, None, peak_mb(lambda: solver.solve(problem)))


def real_problem(load: Any) -> AcquisitionProblem:
    """The problem that the recipe poses on a set that scikit-learn ships."""
    X, y = load(return_X_y=True)
    clf = seqclass.etana(feature_costs=0.01, solver=Perseus(10, n_rounds=1, certificate_paths=0)).fit(X, y)
    problem: AcquisitionProblem = clf.problem_
    return problem


def expressions(n_classes: int, price: float) -> AcquisitionProblem:
    """What the recipe makes of 3000 columns and 180 rows, of which 300 columns have a mean for each class."""
    rng = np.random.default_rng(1)
    y, means = rng.integers(0, n_classes, 180), np.zeros((n_classes, 3000))
    means[:, :300] = rng.normal(0, 1.2, (n_classes, 300))
    solver = Perseus(10, n_rounds=1, certificate_paths=0)
    problem: AcquisitionProblem = (
        seqclass.etana(price, solver=solver).fit(means[y] + rng.normal(size=(180, 3000)), y).problem_
    )
    return problem


def many_classes(name: str, problem: AcquisitionProblem) -> Row:
    """Regression beside alpha vectors, with gaps of the same kind on the same paths."""
    told, solvers = [], (FittedValueIteration(certificate_paths=0), Perseus(certificate_paths=0))
    for solver in solvers:
        policy = solver.solve(problem)
        found = certify(problem, policy, method="simulation", n_paths=10_000, paired=True, random_state=7)
        told.append(f"{type(solver).__name__}, horizon {policy.n_stages}, paired gap {found.gap:.2%}")
    return measure(
        f"{name}: {told[0]}",
        lambda: solvers[0].solve(problem),
        peer=told[1],
        peer_call=lambda: solvers[1].solve(problem),
        repeats=1,
        peer_repeats=0,
    )


def main() -> None:
    arguments = parser(__doc__).parse_args()
    if arguments.quick:
        rows = [
            *random_cases(SIZES[1:2], 50, 1),
            *large_cases(20, 50, 1),
            many_classes("random", random_problem(*SIZES[1])),
        ]
        rows.append(to_a_gap("breast_cancer", real_problem(load_breast_cancer), 250, 500))
    else:
        rows = random_cases(SIZES, 500, arguments.repeats) + large_cases(500, 1000, arguments.repeats)
        for load in (load_breast_cancer, load_digits):
            rows.append(to_a_gap(load.__name__.removeprefix("load_"), real_problem(load), 8000, 20_000))
        for n_classes, price in ((9, 0.01), (11, 0.01), (11, 0.001)):
            rows.append(many_classes(f"{n_classes} kinds, price {price:g}", expressions(n_classes, price)))
        rows.append(many_classes("digits", real_problem(load_digits)))
        rows += [to_a_gap(f"random {size}", random_problem(*size), 8000, 20_000) for size in SIZES]
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
