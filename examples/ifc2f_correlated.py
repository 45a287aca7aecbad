"""Features that repeat one another: naive Bayes counts them twice and grows too sure, a tree network does not.

python examples/ifc2f_correlated.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import seqclass
from seqclass.metrics import realised_cost
from seqclass.pomdp import evaluate

N_GROUPS, N_COPIES, N_OUTCOMES = 4, 4, 3


def sensors(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Four quantities that depend on the class, each read by a chain of four sensors: nine in ten repeat the last."""
    y = rng.integers(2, size=n)
    readings = []
    for group in range(N_GROUPS):
        table = np.random.default_rng(group).dirichlet(np.full(N_OUTCOMES, 2.0), size=2)
        last = None
        for _ in range(N_COPIES):
            new = (rng.random((n, 1)) > np.cumsum(table[y], axis=1)[:, :-1]).sum(axis=1)
            last = new if last is None else np.where(rng.random(n) < 0.9, last, new)
            readings.append(last)
    return np.column_stack(readings), y


def main() -> None:
    rng = np.random.default_rng(0)
    X_train, y_train = sensors(2000, rng)
    X_test, y_test = sensors(4000, rng)

    # readings are outcomes already: nothing is to be binned
    settings: dict[str, Any] = {"feature_costs": 0.01, "discretizer": "precomputed"}
    methods = {
        "ETANA (naive Bayes)": seqclass.etana(**settings),
        "IFC2F (tree network)": seqclass.ifc2f(**settings),
        "IFC2F as published": seqclass.ifc2f(published=True, **settings),
    }
    print("method                  expects to pay   pays   accuracy   features      gap")
    for title, clf in methods.items():
        clf.fit(X_train, y_train)
        record = clf.acquire(X_test)
        expected = evaluate(clf, n_paths=5000).cost
        paid = realised_cost(y_test, record.decision, record.paid)
        accuracy, gap = np.mean(record.decision == y_test), f"{clf.policy_.info.gap:.2%}"
        print(f"{title:24s}{expected:14.3f}{paid:7.3f}{accuracy:11.3f}{record.n_features.mean():11.2f}{gap:>9s}")

    clf = methods["IFC2F (tree network)"]
    edges = [edge for edge in clf.model_.graph_.edges if "class" not in edge]
    inside = sum(parent // N_COPIES == child // N_COPIES for parent, child in edges)
    print(f"\nThe tree has {len(edges)} edges between sensors, {inside} of them within a chain, as it should.")
    print("Seconds: " + ", ".join(f"{step} {seconds:.3f}" for step, seconds in clf.timings_.items()))


if __name__ == "__main__":
    main()
