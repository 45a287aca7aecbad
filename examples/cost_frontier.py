"""What does a given accuracy cost, and what does a given budget buy? The frontier, mean budgets and hard budgets.

python examples/cost_frontier.py [--picture FILE]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import seqclass
from seqclass.pomdp import FirstK, Lookahead, PosteriorThreshold, cost_sweep, evaluate


def draw(frontier: Any, path: str) -> None:
    """Draw expected prices against the probability of an error."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5))
    axes.plot(frontier.price, frontier.error, ".-")
    axes.set(xlabel="expected price paid", ylabel="expected error", title="what accuracy costs")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="The frontier between price and error.")
    parser.add_argument("--picture", metavar="FILE", help="draw the frontier")
    arguments = parser.parse_args()

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    clf = seqclass.etana(feature_costs=0.01).fit(X_train, y_train)

    # Forty prices at once: the policies of all are found in one sweep and evaluated on the same histories.
    frontier = cost_sweep(clf.problem_, np.geomspace(0.05, 50, 40))
    print("If a feature cost    one would pay   for features    and err (by the model)")
    for j in range(0, 40, 6):
        print(
            f"{0.01 * frontier.multipliers[j]:17.4f}{frontier.price[j]:17.4f}{frontier.n_features[j]:15.2f}"
            f"{frontier.error[j]:17.4f}"
        )
    if arguments.picture:
        draw(frontier, arguments.picture)

    print("\nSimple rules on the same problem: prices plus errors, by the model")
    rules = {
        "decide from the prior": FirstK(0),
        "all features": FirstK(None),
        "until 95% sure": PosteriorThreshold(0.95),
        "one step of look-ahead": Lookahead(1),
        "two steps of look-ahead": Lookahead(2),
    }
    problem = clf.problem_
    for title, rule in rules.items():
        result = evaluate(problem, rule.set_params(certificate_paths=0).solve(problem), n_paths=2000)
        print(f"  {title:24} {result.cost:.4f} with {result.n_features:.2f} features")
    print(f"  {'optimal':24} {clf.policy_.info.upper:.4f}, certified within {clf.policy_.info.gap:.2%}")

    print("\nBudgets on test data")
    settings = {
        "1.5 features on average": {"target_cost": 0.015},
        "2.5 features on average": {"target_cost": 0.025},
        "at most 2 for anybody": {"max_features": 2},
    }
    for title, setting in settings.items():
        record = seqclass.etana(feature_costs=0.01, **setting).fit(X_train, y_train).acquire(X_test)
        print(
            f"  {title:24} {record.n_features.mean():.2f} features, at most {record.n_features.max()}, "
            f"accuracy {np.mean(record.decision == y_test):.3f}"
        )


if __name__ == "__main__":
    main()
