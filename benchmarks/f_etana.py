"""F-ETANA beside ETANA: expected cost, features and training time, by number of classes; trajectories a second.

    python benchmarks/f_etana.py [--json FILE] [--quick] [--repeats N] [--data DIR]

Both solve the problem of the same fitted model; times are of the solver alone, no certificate. ``ours`` are
F-ETANA's seconds; the peers are ETANA as we run it (a grid up to three classes, Perseus beyond) and as published (a
nearest-point grid of 10 levels, up to five classes). Sets with 2, 3, 5 and 10 classes stand for those of Fig. 5;
those not embedded in scikit-learn come from ``--data``, or the variable SEQCLASS_DATA, or ``../shared/data``.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, best_of, parser, report, write_json
from _real import absent, add_data_option, data_folder
from sklearn.datasets import load_breast_cancer, load_digits

import seqclass
from seqclass.pomdp import AcquisitionProblem, GridValueIteration, LinearThresholdSPSA, Perseus, Solver, evaluate
from seqclass.pomdp.solvers.thresholds import SampledPaths, joint_gradient

PRICE = 0.01
EMBEDDED = {"breast_cancer": load_breast_cancer, "digits": load_digits}
SETS = ("breast_cancer", "colon_disc", "madelon", "mll", "mll split", "lung2_desouto1543", "digits")


def load(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Training rows of a set; None where it is absent."""
    if name in EMBEDDED:
        X, y = EMBEDDED[name](return_X_y=True)
        return X, y
    file = None if folder is None else folder / f"{name.split()[0]}.npz"
    if file is None or not file.exists():
        return None
    with np.load(file, allow_pickle=False) as data:
        rows = np.arange(2000) if name == "madelon" else np.arange(len(data["y"]))
        rows = data["train_idx"] if name == "mll split" else rows
        return data["X"][rows], data["y"][rows]


def solvers(n_classes: int) -> dict[str, Solver]:
    quiet: dict[str, Any] = {"certificate_paths": 0}
    made: dict[str, Solver] = {
        "F-ETANA": LinearThresholdSPSA(**quiet),
        "ETANA": GridValueIteration(**quiet) if n_classes <= 3 else Perseus(**quiet),
    }
    if n_classes <= 5:
        made["ETANA, published grid"] = GridValueIteration(10, interpolation="nearest", **quiet)
    return made


def compare(name: str, problem: AcquisitionProblem, repeats: int) -> list[dict[str, Any]]:
    lines = []
    for method, solver in solvers(problem.n_classes).items():
        seconds = best_of(lambda solver=solver: solver.solve(problem), repeats)
        policy = solver.solve(problem)
        run = evaluate(problem, policy, n_paths=20_000)
        lines.append(
            {
                "set": name,
                "classes": problem.n_classes,
                "method": method,
                "seconds": seconds,
                "cost": run.cost,
                "features": run.n_features,
                "stages": policy.n_stages,
                "size": policy.info.size,
            }
        )
    etana_s = next(line["seconds"] for line in lines if line["method"] == "ETANA")
    return [_row(line, etana_s) | line for line in lines]


def _row(line: dict[str, Any], etana_s: float) -> dict[str, Any]:
    """The columns that every benchmark has; F-ETANA's peer is ETANA."""
    beside = line["method"] == "F-ETANA"
    shown = f"{line['set']}, {line['classes']} classes: {line['method']}"
    ratio = etana_s / line["seconds"] if beside else None
    return asdict(Row(shown, line["seconds"], "ETANA" if beside else None, etana_s if beside else None, ratio, None))


def trajectories(name: str, problem: AcquisitionProblem, n_paths: int, repeats: int) -> list[Row]:
    """Seconds of simulating, and of one SPSA step (two perturbed evaluations, their gradient) on what was simulated."""
    n_stages = min(32, problem.n_stages)
    rng = np.random.default_rng(0)
    paths = SampledPaths(problem, n_stages, n_paths, rng)
    thresholds = np.tile(problem.decision_costs.T - 0.05, (n_stages, 1, 1))
    point = np.arcsinh(100 * thresholds)
    signs = rng.choice([-1.0, 1.0], size=point.shape)
    simulate = best_of(lambda: SampledPaths(problem, n_stages, n_paths, rng), repeats)
    step = best_of(lambda: joint_gradient(paths, point, 0.3, signs), repeats)
    shown = f"{name}, {problem.n_classes} classes, {n_paths:,} paths"
    return [
        Row(f"{shown}: simulate, {n_paths / simulate:,.0f}/s", simulate, None, None, None, None),
        Row(f"{shown}: SPSA step, {2 * n_paths / step:,.0f} trajectories/s", step, None, None, None, None),
    ]


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    arguments = made.parse_args()
    folder = data_folder(arguments)
    repeats = 1 if arguments.quick else arguments.repeats
    lines: list[dict[str, Any]] = []
    rows: list[Row] = []
    print(
        f"{'data':18} {'classes':>7} {'method':22} {'seconds':>8} {'cost':>7} {'features':>8} {'stages':>6} {'size':>7}"
    )
    for name in SETS[:1] if arguments.quick else SETS:
        data = load(name, folder)
        if data is None:
            absent(name)
            continue
        problem = seqclass.etana(PRICE).fit(*data).problem_
        for line in compare(name, problem, repeats):
            lines.append(line)
            print(
                f"{name:18} {line['classes']:7} {line['method']:22} {line['seconds']:8.3f} {line['cost']:7.4f} "
                f"{line['features']:8.2f} {line['stages']:6} {line['size']:7}",
                flush=True,
            )
        rows += trajectories(name, problem, 200 if arguments.quick else 1000, repeats)
    print()
    report(rows)
    if arguments.json:
        write_json([*lines, *(asdict(row) for row in rows)], arguments.json)


if __name__ == "__main__":
    main()
