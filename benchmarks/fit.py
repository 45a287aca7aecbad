"""Fitting a small-sample, many-feature array: 57 rows x 12,533 features, 3 classes (the shape of the MLL gene data).

    python benchmarks/fit.py [--json FILE] [--quick]

The peers: scikit-learn's discretiser and naive Bayes, which neither order features nor solve for a stopping rule; and
ETANA's dynamic program, its equation (12) written out in loops over the points of a grid of 10 levels.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from _common import Row, measure, parser, report
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import KBinsDiscretizer

import seqclass
from seqclass.pomdp import AcquisitionProblem, GridValueIteration

N_CLASSES, LEVELS = 3, 10


def expression_levels(n: int, n_features: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Continuous columns, of which one in fifty tells classes apart, more or less."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % N_CLASSES
    X = rng.normal(size=(n, n_features))
    informative = rng.choice(n_features, n_features // 50, replace=False)
    centre = rng.normal(size=(N_CLASSES, len(informative))) * rng.uniform(0.3, 1.5, len(informative))
    X[:, informative] += centre[y]
    return np.exp(X), y


def loops(problem: AcquisitionProblem, stages: range) -> dict[tuple[int, ...], float]:
    """J_k of equation (12) for the given stages, point by point; a successor is read at the nearest point."""
    points = [p for p in product(range(LEVELS + 1), repeat=problem.n_classes) if sum(p) == LEVELS]
    beliefs = np.array(points) / LEVELS
    value = {p: min(b @ problem.decision_costs) for p, b in zip(points, beliefs)}
    for stage in reversed(stages):
        likelihood = problem.structure.tables.likelihood(stage, np.zeros(1, dtype=int))[0]
        following, value = value, {}
        for point, belief in zip(points, beliefs):
            go_on = problem.prices[stage]
            for outcome in likelihood:
                predictive = outcome @ belief
                nearest = points[np.abs(beliefs - outcome * belief / predictive).sum(axis=1).argmin()]
                go_on += predictive * following[nearest]
            value[point] = min(min(belief @ problem.decision_costs), go_on)
    return value


def fits(X: Any, y: Any, published: bool, repeats: int) -> tuple[list[Row], seqclass.SequentialClassifier]:
    clf = seqclass.etana(feature_costs=0.01, published=published)
    n_bins = 3 if published else 4

    def peer() -> None:
        bins = KBinsDiscretizer(n_bins, encode="ordinal", strategy="uniform")
        CategoricalNB(min_categories=n_bins).fit(bins.fit_transform(X), y)

    name = "published" if published else "defaults"
    whole = measure(
        f"fit + solve + certify, {name}",
        lambda: clf.fit(X, y),
        peer="KBinsDiscretizer.fit_transform, CategoricalNB.fit",
        peer_call=peer,
        repeats=repeats,
    )
    info = clf.policy_.info
    notes = {"solve": f" (horizon {info.n_stages})", "certify": f" (gap {info.gap:.2%})"}
    steps = [Row(f"  {k}{notes.get(k, '')}", s, None, None, None, None) for k, s in clf.timings_.items() if s]
    return [whole, *steps], clf


def solves(clf: seqclass.SequentialClassifier, n_stages: int, repeats: int) -> list[Row]:
    """The dynamic program alone: over all stages as published, and over the horizon that matters."""
    problem = clf.problem_
    whole = GridValueIteration(LEVELS, interpolation="nearest", certificate_paths=0, horizon_tolerance=0.0)
    short = GridValueIteration(LEVELS, interpolation="nearest", certificate_paths=0)
    return [
        measure(
            f"solve, grid of {LEVELS} levels, {name}",
            lambda solver=solver: solver.solve(problem),  # type: ignore[misc]
            peer=f"eq. (12) in loops, all {problem.n_stages:,} stages ({n_stages} timed and scaled)",
            peer_call=lambda: loops(problem, range(n_stages)),
            repeats=repeats,
            peer_repeats=0,
            peer_scale=problem.n_stages / n_stages,
        )
        for name, solver in (("all stages if need be", whole), ("horizon to 0.1%", short))
    ]


def main() -> None:
    arguments = parser(__doc__).parse_args()
    n_features, repeats = (40, 1) if arguments.quick else (12_533, arguments.repeats)
    X, y = expression_levels(57, n_features)
    print(f"57 rows x {n_features:,} features, {N_CLASSES} classes")
    rows, _ = fits(X, y, False, repeats)
    more, clf = fits(X, y, True, repeats)
    report([*rows, *more, *solves(clf, min(20, n_features), repeats)], arguments.json)


if __name__ == "__main__":
    main()
