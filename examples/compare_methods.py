"""Methods on data sets at two prices: a table that stands up, a run that can be stopped and grown.

python examples/compare_methods.py [--run FILE] [--jobs N]
python examples/compare_methods.py --picture methods.png    (needs matplotlib)
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
from seqclass.datasets import load
from seqclass.experiment import Experiment, Results

DATA = ["breast_cancer", "wine", "iris"]
GENERATED = [
    load("naive_bayes_world", n_samples=500, random_state=0),
    load("tree_world", n_samples=500, random_state=0),
    load("madelon_like", n_samples=500, n_features=40, random_state=0),
]
METHODS = {
    "ETANA": seqclass.etana,
    "tree": DecisionTreeClassifier(min_samples_leaf=5),  # pays for the way to its leaf
    "logistic, 5 best": make_pipeline(StandardScaler(), SelectKBest(k=5), LogisticRegression()),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}


def study(path: Path, jobs: int) -> Results:
    experiment = Experiment(DATA, METHODS, prices=[0.01, 0.05], cv=3)
    results = experiment.run(path, n_jobs=jobs)

    # a further method and further data: only their cells are computed
    larger = METHODS | {"ETANA as published": "etana(published=True)"}
    done = len(results.to_frame())
    results = experiment.set_params(data=DATA + GENERATED, methods=larger).run(path, n_jobs=jobs)
    table = results.to_frame()
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
    print(f"Anyone can read the file: {Results.load(path).to_frame().shape[1]} columns for each cell.")
    return results


def draw(results: Results, path: Path) -> None:
    """Draw accuracy against features for one data set, and the ranks of the methods over all."""
    import matplotlib.pyplot as plt

    from seqclass.plots import AccuracyFeaturesDisplay, CriticalDifferenceDisplay

    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 7), height_ratios=[3, 2], layout="constrained")
    rows = results.summary(by=["data", "method", "price"])
    rows = rows[rows["data"] == "breast_cancer"]
    AccuracyFeaturesDisplay.from_points(
        rows["method"],
        rows["n_features_mean"],
        rows["accuracy"],
        rows[["accuracy_lower", "accuracy_upper"]],
        ax=top,
        title="Breast tumours, at 0.01 and at 0.05 a feature (95% intervals)",
    )
    ranks = results.compare("realised_cost").nemenyi
    CriticalDifferenceDisplay(ranks).plot(bottom, title="Six data sets, ranked by realised cost at both prices")
    figure.savefig(path, dpi=120)
    print(f"\nPicture written to {path}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, metavar="FILE", help="keep the run in this file, and go on with it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw two pictures into FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = study(arguments.run or Path(folder) / "study.run", arguments.jobs)
        if arguments.picture:
            draw(results, arguments.picture)


if __name__ == "__main__":
    main()
