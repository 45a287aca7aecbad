"""A run as one HTML page: tables that sort, pictures, and instances to step through in any browser.

python examples/run_report.py [--page FILE]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import seqclass
from seqclass.datasets import load
from seqclass.experiment import Experiment
from seqclass.report import Explored, explore, write_report

METHODS = {
    "ETANA": seqclass.etana,
    "tree": DecisionTreeClassifier(min_samples_leaf=5),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}


def study(folder: Path, page: Path) -> None:
    experiment = Experiment(["breast_cancer", "wine", "iris"], METHODS, prices=[0.01, 0.05], cv=3)
    results = experiment.run(folder / "study.run", keep_explanations=30)

    # what the run kept of one of its classifiers: rows that it was scored on, with their true classes
    of_the_run = explore(results, "breast_cancer", "ETANA")

    # and one of your own, on cases that nobody has decided yet: half of what it may ask for is missing
    wine = load("wine")
    clf = seqclass.ifc2f(feature_costs=0.01, random_state=0).fit(wine.X, wine.labels)
    cases = wine.X[::30].copy()
    cases[:, ::2] = float("nan")
    own = Explored(
        clf.explain(cases, feature_names=wine.feature_names),
        rows=[f"bottle {i}" for i in range(1, len(cases) + 1)],
        note="IFC2F at price 0.01, fitted on all bottles; every other measurement is not to be had.",
    )

    write_report(
        results,
        page,
        title="Three data sets at two prices",
        explanations={"ETANA on breast_cancer": of_the_run, "IFC2F on wine": own},
    )
    wrong = sum(e.decision != truth for e, truth in zip(of_the_run.explanations, of_the_run.truth or ()))
    print(f"{len(results.to_frame())} cells in a page of {page.stat().st_size / 1024:.0f} kB that loads nothing else")
    print(f"{len(of_the_run.explanations)} patients to step through, {wrong} decided wrong; {len(cases)} bottles")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, metavar="FILE", help="keep the page in this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study(Path(folder), arguments.page or Path(folder) / "study.html")


if __name__ == "__main__":
    main()
