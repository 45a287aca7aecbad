"""Features for a learner of your choice: a randomised search, stopped and resumed, in front of a sequential classifier.

python examples/semi_rfs.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB

import seqclass
from seqclass.metrics import realised_cost
from seqclass.selection import SemiRFS


def progress(step: Any) -> None:
    """Told of each iteration; True would end the search."""
    if step.iteration % 10 == 0:
        print(
            f"  iteration {step.iteration:3}: {step.n_features} features, best score {step.best_score:.4f} "
            f"after {step.n_evaluations} evaluations"
        )


def negative_cost(classifier: Any, X: Any, y: Any) -> float:
    """What a sequential classifier saves: prices paid plus errors, with a minus, as a score is to be high."""
    record = classifier.acquire(X)
    return -realised_cost(y, record.decision, record.paid)


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    # the thirty measurements, and as many columns of noise
    X = np.c_[X, np.random.default_rng(0).normal(size=X.shape)]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

    print("Semi-randomised search around naive Bayes")
    settings: dict[str, Any] = {"cv": 3, "n_initial": 10, "adaptive": False, "cool_down": True, "random_state": 0}
    selector = SemiRFS(GaussianNB(), max_iter=20, callback=progress, **settings).fit(X_train, y_train)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "search"
        selector.save_state(state)
        print(f"stopped ({selector.stop_reason_}), saved; go on:")
        more = SemiRFS(GaussianNB(), max_iter=60, callback=progress, **settings)
        selector = more.resume(state, X_train, y_train)
    noise = int(selector.support_[30:].sum())
    print(f"kept {selector.n_features_} of 60 features, {noise} of them noise")
    everything = cross_val_score(GaussianNB(), X_train, y_train, cv=3).mean()
    held_out = GaussianNB().fit(selector.transform(X_train), y_train).score(selector.transform(X_test), y_test)
    print(f"cross-validated accuracy {everything:.4f} with all, {selector.best_score_:.4f} with these")
    print(f"accuracy on patients never seen {held_out:.4f}\n")

    # The best of many scores is optimistic: only the last two lines are fair.
    print("Search around a sequential classifier, for what it really costs")
    learner = seqclass.etana(feature_costs=0.01)
    budget: dict[str, Any] = {"max_evaluations": 25, "warm_start": True, "n_initial": 8, "random_state": 0}
    selector = SemiRFS(learner, scoring=negative_cost, cv=3, adaptive=False, **budget).fit(X_train, y_train)
    for title, columns in (("all features", np.ones(60, dtype=bool)), ("selected", selector.support_)):
        classifier = seqclass.etana(feature_costs=0.01).fit(X_train[:, columns], y_train)
        cost = -negative_cost(classifier, X_test[:, columns], y_test)
        print(f"{title:13} {columns.sum():3} on offer, realised cost {cost:.4f}")


if __name__ == "__main__":
    main()
