"""Methods on data sets at two prices: a table that stands up, a run that can be stopped and grown.

python examples/compare_methods.py [--run FILE] [--jobs N]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import seqclass
from seqclass.experiment import Experiment, Results

METHODS = {
    "ETANA": seqclass.etana,
    "tree": DecisionTreeClassifier(min_samples_leaf=5),  # pays for the way to its leaf
    "logistic, 5 best": make_pipeline(StandardScaler(), SelectKBest(k=5), LogisticRegression()),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}


def study(path: Path, jobs: int) -> None:
    experiment = Experiment(["breast_cancer", "wine", "iris"], METHODS, prices=[0.01, 0.05], cv=3)
    results = experiment.run(path, n_jobs=jobs)

    # a further method and seed: only their cells are computed
    larger = METHODS | {"ETANA as published": "etana(published=True)"}
    done = len(results.table())
    results = experiment.set_params(methods=larger, seeds=[0, 1]).run(path, n_jobs=jobs)
    table = results.table()
    print(f"{done} cells, then {len(table)}; failed: {(table['error'] != '').sum()}")

    print("\nprice  method                realised cost, 95% interval   accuracy   features")
    for row in results.summary(by=["price", "method"]).to_dict("records"):
        interval = f"{row['realised_cost']:.3f} [{row['realised_cost_lower']:.3f}, {row['realised_cost_upper']:.3f}]"
        print(
            f"{row['price']:<7g}{row['method']:22s}{interval:>26s}{row['accuracy']:13.3f}{row['n_features_mean']:11.2f}"
        )

    print(f"\nAt 0.01 a feature, {results.compare('realised_cost', price=0.01)}")

    etana = table[table["method"] == "ETANA"]
    optimism = (etana["realised_cost"] - etana["expected_cost"]).mean()
    gap = etana["gap"].max()
    print(f"\nETANA costs {optimism:.3f} more than its model expects; the worst certified gap is {gap:.1%}.")
    print(f"Anyone can read the file: {Results.load(path).table().shape[1]} columns for each cell.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, metavar="FILE", help="keep the run in this file, and go on with it")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study(arguments.run or Path(folder) / "study.run", arguments.jobs)


if __name__ == "__main__":
    main()
