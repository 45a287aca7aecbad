"""Classify breast tumours with a few measurements each, and follow one case from the first question to the decision.

python examples/quickstart.py
python examples/quickstart.py --picture belief.png    (needs matplotlib)
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import seqclass
from seqclass.metrics import realised_cost


def main() -> None:
    parser = argparse.ArgumentParser(description="Classify breast tumours with a few measurements each.")
    parser.add_argument("--picture", metavar="FILE", help="draw the case's belief into FILE, such as belief.png")
    arguments = parser.parse_args()

    data = load_breast_cancer(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

    # a measurement costs as much as a hundredth of a wrong diagnosis
    clf = seqclass.etana(feature_costs=0.01).fit(X_train, y_train)
    info = clf.policy_.info
    print(f"Solved in {info.seconds:.2f} s ({info.status}); certified to be within {info.gap:.1%} of the best policy.")

    record = clf.acquire(X_test)
    print(f"{len(X_test)} patients that the model has not seen:")
    print(f"  accuracy             {np.mean(record.decision == y_test):.3f}")
    print(f"  measurements         {record.n_features.mean():.2f} a patient, of {X.shape[1]}")
    print(f"  prices paid          {record.paid.mean():.4f}")
    print(f"  prices plus errors   {realised_cost(y_test, record.decision, record.paid):.4f}")

    patient = X_test.iloc[int(np.flatnonzero(record.n_features == 3)[0])]
    print("\nOne of them, as a live case:")
    case = clf.session()
    while (question := case.next_feature) is not None:
        case.observe(question.name, patient[question.name])
        chances = ", ".join(f"{label} {p:.1%}" for label, p in zip(clf.classes_, case.posterior))
        print(f"  {question.name} = {patient[question.name]:.4g}: {chances}")
    print(f"  decision: {case.decision}, after {case.n_features} measurements and {case.paid:.2f} paid")

    if arguments.picture:
        from seqclass.plots import BeliefPathDisplay

        BeliefPathDisplay.from_estimator(clf, patient).figure_.savefig(arguments.picture, dpi=150)
        print(f"\nPicture written to {arguments.picture}.")


if __name__ == "__main__":
    main()
