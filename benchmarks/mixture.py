"""Class mixtures: EM beside a plain loop over features and components, and its growth with rows and components.

The loop does the same steps, a feature and a component at a time, all rows at once. That it is the same is checked: one
of its iterations turns our tables after 4 iterations into ours after 5. Real sets are read from ``--data`` or
SEQCLASS_DATA.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, measure, parser, report
from _real import absent, add_data_option, data_folder, load
from scipy.special import logsumexp

from seqclass.bn import ClassMixture
from seqclass.discretize import Discretizer


def kinds(rng: np.random.Generator, n: int, n_features: int, n_outcomes: int = 5) -> tuple[Any, Any]:
    """Rows of ten kinds in each of two classes."""
    y, kind = rng.integers(0, 2, n), rng.integers(0, 10, n)
    centres = rng.integers(0, n_outcomes, (2, 10, n_features))
    noise = rng.integers(0, n_outcomes, (n, n_features))
    X = np.where(rng.random((n, n_features)) < 0.6, centres[y, kind], noise)
    return X.astype(np.int8), y


def loop_step(X: Any, weights: Any, tables: Any, marginal: Any, strength: float) -> tuple[Any, Any]:
    """One iteration, a feature and a component at a time."""
    joint = np.tile(np.log(weights), (len(X), 1))
    for j, column in enumerate(X.T):
        for k in range(len(weights)):
            joint[:, k] += np.log(tables[j, column, k])
    share = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    found = np.empty_like(tables)
    for j, column in enumerate(X.T):
        for k in range(len(weights)):
            counts = np.bincount(column, share[:, k], tables.shape[1])
            found[j, :, k] = (counts + strength * marginal[j]) / (counts.sum() + strength)
    total = share.sum(axis=0) + 1
    return total / total.sum(), found


def loop_fit(X: Any, y: Any, model: ClassMixture, n_iter: int) -> list[tuple[Any, Any]]:
    """So many iterations of both classes from a model's tables."""
    naive = ClassMixture(1).fit(X, y, n_outcomes=model.n_outcomes_)
    found = []
    for c in range(len(model.classes_)):
        own, rows = model.hidden_class_ == c, X[y == c]
        weights, tables = model.weights_[own], model.tables_[:, :, own]
        marginal, strength = naive.tables_[:, :, c], 0.5 * tables.shape[1]
        for _ in range(n_iter):
            weights, tables = loop_step(rows, weights, tables, marginal, strength)
        found.append((weights, tables))
    return found


def beside_a_loop(rng: np.random.Generator, n: int, n_features: int, n_components: int, repeats: int) -> Row:
    X, y = kinds(rng, n, n_features)
    some, more = (ClassMixture(n_components, max_iter=m, tol=0).fit(X, y, n_outcomes=5) for m in (4, 5))
    for c, (weights, tables) in enumerate(loop_fit(X, y, some, 1)):
        own = more.hidden_class_ == c
        worst = max(np.abs(weights - more.weights_[own]).max(), np.abs(tables - more.tables_[:, :, own]).max())
        if worst > 1e-9:
            raise AssertionError(f"an iteration differs from the loop's by {worst:g}")
    return measure(
        f"20 iterations, {n:,} rows, {n_features} features, 2 x {n_components} components",
        lambda: ClassMixture(n_components, max_iter=20, tol=0).fit(X, y, n_outcomes=5),
        peer="a loop over features and components, 2 iterations timed and scaled",
        peer_call=lambda: loop_fit(X, y, some, 2),
        repeats=repeats,
        peer_repeats=1,
        peer_scale=10,
    )


def growth(rng: np.random.Generator, sizes: list[int], components: list[int], repeats: int) -> list[Row]:
    rows = []
    for n, n_components in [*((n, components[0]) for n in sizes), *((sizes[0], m) for m in components[1:])]:
        X, y = kinds(rng, n, 50)
        rows.append(
            measure(
                f"20 iterations, {n:,} rows, 50 features, 2 x {n_components} components",
                lambda X=X, y=y, m=n_components: ClassMixture(m, max_iter=20, tol=0).fit(X, y, n_outcomes=5),
                repeats=repeats,
            )
        )
    return rows


def real(settings: list[tuple[str, str, dict[str, Any]]], repeats: int, folder: Path | None) -> list[Row]:
    rows = []
    for name, strategy, given in settings:
        data = load(name, folder)
        if data is None:
            absent(name)
            continue
        X, y, _ = data
        codes = Discretizer(5, strategy=strategy).fit_transform(X)
        model = ClassMixture(**given).fit(codes, y)
        told = ", ".join(f"{key}={value!r}" for key, value in given.items())
        rows.append(
            measure(
                f"{name}, {X.shape[0]:,} x {X.shape[1]}, {told}: {len(model.weights_)} hidden states",
                lambda codes=codes, y=y, given=given: ClassMixture(**given).fit(codes, y),
                repeats=repeats,
            )
        )
    return rows


def main() -> None:
    options = parser(__doc__)
    add_data_option(options)
    arguments = options.parse_args()
    quick, repeats = arguments.quick, 1 if arguments.quick else arguments.repeats
    rng = np.random.default_rng(0)
    rows = [beside_a_loop(rng, *((60, 5, 2) if quick else (4000, 50, 20)), repeats)]
    rows += growth(rng, *(([60, 120], [2, 4]) if quick else ([2000, 8000, 32_000], [5, 20, 80])), repeats)
    sets: list[tuple[str, str, dict[str, Any]]] = [
        ("breast_cancer", "quantile", {"n_components": 4 if quick else "auto"}),
        ("digits", "uniform", {"n_components": 20}),
        ("digits", "uniform", {"n_components": "auto"}),
        ("spambase", "quantile", {"n_components": 20, "n_bags": 5}),
    ]
    rows += real(sets[:1] if quick else sets, repeats, data_folder(arguments))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
