"""What becomes of a classifier when measurements are missing at test time, from 0.01% to 50% of them.

python examples/missing_features.py
python examples/missing_features.py --picture missing.png    (needs matplotlib)
"""

from __future__ import annotations

import argparse
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import seqclass
from seqclass.analysis import missing_sweep

SHARES = (0, 0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5)


def show(title: str, sweep: Any) -> None:
    """Print a sweep, a line for each share of missing cells."""
    print(f"{title}\n   missing   accuracy          acquired   asked   realised cost")
    for i, share in enumerate(sweep.share):
        print(
            f"{share:10.2%}   {sweep.accuracy[i]:.3f} +- {sweep.accuracy_error[i]:.3f}   {sweep.n_features[i]:8.2f}"
            f"{sweep.n_asked[i]:8.2f}{sweep.cost[i]:16.4f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Remove measurements of the test data at random.")
    parser.add_argument("--picture", metavar="FILE", help="draw accuracy and features into FILE")
    arguments = parser.parse_args()

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

    # a measurement that is asked for and missing tells nothing and costs nothing; the next one is asked for instead
    sweeps = {}
    for title, recipe in {"naive Bayes (ETANA)": seqclass.etana, "tree network (IFC2F)": seqclass.ifc2f}.items():
        clf = recipe(feature_costs=0.01).fit(X_train, y_train)
        sweeps[title] = missing_sweep(clf, X_test, y_test, SHARES, n_repeats=10)
        show(title, sweeps[title])

    if arguments.picture:
        from seqclass.plots import MissingSweepDisplay

        MissingSweepDisplay(sweeps).plot().figure_.savefig(arguments.picture, dpi=150)
        print(f"\nPicture written to {arguments.picture}.")


if __name__ == "__main__":
    main()
