"""Costs as they are in practice: prices by name, discounts, unequal errors, "refer", a rare class, missing cells.

python examples/custom_costs.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import seqclass
from seqclass import Costs
from seqclass.metrics import realised_cost
from seqclass.pomdp import evaluate


def show(title: str, clf: Any, X: pd.DataFrame, y: np.ndarray) -> None:
    """Print what a classifier does on test data."""
    record = clf.acquire(X)
    taken = ", ".join(f"{label} {np.mean(record.decision == label):.1%}" for label in clf.decisions_)
    costs = {"decision_costs": clf.decision_costs_, "classes": clf.classes_, "decisions": clf.decisions_}
    total = realised_cost(y, record.decision, record.paid, **costs)
    missed = np.mean(record.decision[y == "malignant"] == "benign")
    print(f"{title}\n  decisions: {taken}; malignant ones called benign: {missed:.1%}")
    print(f"  {record.n_features.mean():.2f} features, {record.paid.mean():.4f} paid, {total:.4f} in all\n")


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

    # Prices by feature name: the extremes ("worst ...") take longer to find than means.
    prices = {name: 0.02 if name.startswith("worst") else 0.01 for name in X}
    clf = seqclass.etana(feature_costs=prices).fit(X_train, y_train)
    show("Prices by name", clf, X_test, y_test)

    # Groups: once one statistic of a property (radius, texture, ...) is acquired, its others cost a tenth.
    groups = {name: name.replace("mean ", "").replace("worst ", "").replace(" error", "") for name in X}
    discounted = {name: price / 10 for name, price in prices.items()}
    together = {"groups": groups, "discounted_costs": discounted}
    clf = seqclass.etana(Costs(prices, **together)).fit(X_train, y_train)
    show("... and discounts within a property", clf, X_test, y_test)

    # A missed tumour is ten times as bad as a false alarm, and an expert may be asked for 0.15.
    # Rows are the classes in sorted order (benign, malignant); columns are benign, malignant, refer.
    costs = Costs(prices, **together, decision_costs=[[0, 1, 0.15], [10, 0, 0.15]], decisions=["refer"])
    clf = seqclass.etana(costs).fit(X_train, y_train)
    show("... and unequal errors, with the decision to refer", clf, X_test, y_test)

    # Where errors are dear, naive Bayes' over-confidence is: flatten what answers say, as rows held out advise.
    clf = seqclass.etana(costs, calibrate=True).fit(X_train, y_train)
    show("... and calibrated", clf, X_test, y_test)

    # Screening: one case in a hundred is malignant. Only the stopping rule is solved again.
    print("What the model expects a case to cost")
    for title, other in (("as trained", clf), ("in screening", clf.with_prior([0.99, 0.01]))):
        expected = evaluate(other.problem_, other.policy_)
        share = other.problem_.prior[1]
        print(f"  {title}, {share:.0%} malignant: {expected.cost:.4f} with {expected.n_features:.2f} features")
    print()

    # Missing cells, in training and later: an answer that cannot be had costs nothing, and the next feature is asked.
    rng = np.random.default_rng(0)
    holes = [frame.mask(rng.random(frame.shape) < 0.3) for frame in (X_train, X_test)]
    clf = seqclass.etana(costs, calibrate=True).fit(holes[0], y_train)
    show("... and with 30% of all cells missing", clf, holes[1], y_test)


if __name__ == "__main__":
    main()
