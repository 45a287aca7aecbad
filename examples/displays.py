"""Every display of `seqclass.plots` on public data: what it needs, and what it shows.

python examples/displays.py                                        (lists them)
python examples/displays.py BeliefPathDisplay -o belief.png        (draws one)
python examples/displays.py -o FOLDER                              (draws them all; needs matplotlib)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import seqclass
from seqclass import plots
from seqclass.bn import TreeNetwork
from seqclass.experiment import Experiment
from seqclass.pomdp import FirstK, Lookahead, Perseus, simulate
from seqclass.selection import FIRES, OFS, prequential


@cache
def tumours() -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Rows to learn from and to look at, and their labels."""
    data = load_breast_cancer(as_frame=True)
    y = np.asarray(data.target_names)[data.target]
    return data.data[::2], data.data[1::2], y[::2], y[1::2]


@cache
def classifier() -> seqclass.SequentialClassifier:
    """Naive Bayes in one order, 0.01 a measurement."""
    X, _, y, _ = tumours()
    return seqclass.etana(feature_costs=0.01).fit(X, y)


@cache
def wines() -> tuple[Any, np.ndarray]:
    """Wines of three cultivars, and which these are."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.array(["first", "second", "third"])[y]


@cache
def digits() -> tuple[Any, Any, np.ndarray]:
    """A classifier of digits by pixels, and digits that it has not seen."""
    data = load_digits(as_frame=True)
    return seqclass.etana(0.01).fit(data.data[::2], data.target[::2]), data.data[1::2], data.target[1::2].to_numpy()


@cache
def streams() -> dict[str, Any]:
    """Two selectors on a stream in which, from the middle on, other sensors tell."""
    rng = np.random.default_rng(0)
    X = rng.random((12_000, 200))
    telling = np.where(np.arange(len(X)) < 6000, 0, 100)[:, None] + np.arange(5)
    y = np.take_along_axis(X, telling, axis=1).sum(axis=1) + rng.normal(scale=0.1, size=len(X)) > 2.5
    selectors = {"FIRES, forgetting": FIRES(5, forgetting=0.05), "OFS": OFS(5)}
    return {name: prequential(selector, Perceptron(), X, y) for name, selector in selectors.items()}


def accuracy_features() -> Any:
    """Accuracy against the mean number of features, for a row of prices, beside methods that take all of them."""
    X, X_test, y, y_test = tumours()
    peers = {"tree": DecisionTreeClassifier(random_state=0).fit(X, y), "logistic regression": linear()}
    return plots.AccuracyFeaturesDisplay.from_costs(
        classifier(), X, y, X_test, y_test, feature_costs=[0.1, 0.03, 0.01, 0.003, 0.001], baselines=peers, name="ETANA"
    )


def acquisition_map() -> Any:
    """For which share of each class a feature is bought."""
    clf, X, y = digits()
    return plots.AcquisitionMapDisplay.from_estimator(clf, X, y, max_features=26)


@cache
def case() -> int:
    """A row that takes six measurements."""
    return int(np.argmax(classifier().acquire(tumours()[1]).n_features == 6))


def action_values() -> Any:
    """What each action was expected to cost at each step of one case, any question next."""
    X, y = wines()
    clf = seqclass.SequentialClassifier(order="adaptive", feature_costs=0.05).fit(X, y)
    return plots.ActionValuesDisplay.from_estimator(clf, X.iloc[int(np.argmax(clf.acquire(X).n_features == 5))])


def alpha_vectors() -> Any:
    """Where each of the alpha vectors of a stage is the lowest."""
    problem = seqclass.etana(0.05).fit(*wines()).problem_
    return Perseus(certificate_paths=0).solve(problem).values.plot(stage=1)


def belief_path() -> Any:
    """The belief of one case, before anything is asked and after each answer."""
    return plots.BeliefPathDisplay.from_estimator(classifier(), tumours()[1].iloc[[case()]])


def cost_plane() -> Any:
    """What decisions cost against the price paid for them; what is on one grey line costs the same in all."""
    methods = {"etana": seqclass.etana, "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0)}
    with TemporaryDirectory() as folder:
        experiment = Experiment(["iris", "wine"], methods, prices=[0.003, 0.01, 0.03], cv=3)
        return experiment.run(Path(folder) / "study.run", progress=False).plot()


def critical_difference() -> Any:
    """Average ranks of methods over data sets, and which of them chance may explain."""
    methods = {
        "tree": lambda: DecisionTreeClassifier(random_state=0),
        "ETANA at 0.1": lambda: seqclass.etana(0.1),
        "ETANA at 0.01": lambda: seqclass.etana(0.01),
        "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }
    sets = [load(return_X_y=True) for load in (load_breast_cancer, load_wine)]
    X, y = load_digits(return_X_y=True)
    sets += [(X[np.isin(y, pair)], y[np.isin(y, pair)]) for pair in ((1, 7), (3, 8), (4, 9), (5, 6))]
    scores = [[cross_val_score(make(), X, y, cv=3).mean() for make in methods.values()] for X, y in sets]
    return plots.CriticalDifferenceDisplay.from_scores(scores, names=list(methods))


def decision_curve() -> Any:
    """What is gained over treating none, by the probability from which on one treats."""
    _, X, _, y = tumours()
    return plots.DecisionCurveDisplay.from_estimator(
        classifier(), X, y, others={"all 30, linear": linear()}, positive="malignant"
    )


def entropy() -> Any:
    """How unsure the belief is along the order, by class."""
    return plots.EntropyDisplay.from_estimator(classifier())


def episode_paths() -> Any:
    """The beliefs of a thousand simulated cases, as paths through the triangle of three classes."""
    episodes = simulate(seqclass.etana(0.05).fit(*wines()), n=1000, random_state=0)
    return plots.EpisodePathsDisplay.from_episodes(episodes)


def explanation() -> Any:
    """What each answer told of one case, and what going on was expected to save."""
    return plots.ExplanationDisplay.from_estimator(classifier(), tumours()[1].iloc[case()])


def feature_counts() -> Any:
    """How many features each class takes."""
    clf, X, y = digits()
    return plots.FeatureCountDisplay.from_estimator(clf, X, y)


def feature_values() -> Any:
    """Who is asked each feature, and what it brings those who are."""
    return plots.FeatureValuesDisplay.from_estimator(classifier())


def group_scores() -> Any:
    """Cost and error of groups of cases, here of three ranges of age at which nothing differs but by chance."""
    _, X, _, y = tumours()
    ages = np.random.default_rng(0).choice(["under 50", "50 to 65", "over 65"], len(y))
    return plots.GroupScoresDisplay.from_estimator(classifier(), X, y, ages)


def missing_sweep() -> Any:
    """Accuracy and number of features by the share of cells that are missing."""
    _, X, _, y = tumours()
    return plots.MissingSweepDisplay.from_estimator(
        classifier(), X, y, shares=[0, 0.1, 0.2, 0.3, 0.5, 0.7], n_repeats=3
    )


def network() -> Any:
    """A tree network with what was seen of a case, and what all others would tell."""
    X, _, y, _ = tumours()
    clf = seqclass.SequentialClassifier(TreeNetwork(), feature_costs=0.01).fit(X, y)
    return plots.NetworkDisplay.from_estimator(clf, {"worst area": 1000.0, "mean texture": 20.0})


def policy_tree() -> Any:
    """What is asked after which answers, how often, what is believed there, and what it costs from there on."""
    X, _, y, _ = tumours()
    return plots.PolicyTreeDisplay.from_estimator(seqclass.etana(0.03).fit(X, y), max_depth=3)


def question_calibration() -> Any:
    """How sure the model was when it stopped and how often it was right, by the number of questions."""
    _, X, _, y = tumours()
    return plots.QuestionCalibrationDisplay.from_estimator(classifier(), X, y)


def reachable_beliefs() -> Any:
    """Which beliefs are met at each stage, and how often."""
    return plots.ReachableBeliefsDisplay.from_estimator(classifier())


def selection_map() -> Any:
    """Which features a selector holds along a stream."""
    return plots.SelectionMapDisplay.from_run(streams()["FIRES, forgetting"])


def stability() -> Any:
    """Accuracy, stability and changes of selectors along a stream."""
    return plots.StabilityDisplay.from_runs(streams())


def stagewise_calibration() -> Any:
    """Accuracy against confidence after so many features."""
    clf, X, y = digits()
    return plots.StagewiseCalibrationDisplay.from_estimator(clf, X, y, counts=[1, 4, 8, 12, 16])


def stopping_region() -> Any:
    """Where among the beliefs over three classes it goes on."""
    return plots.StoppingRegionDisplay.from_estimator(seqclass.etana(0.05).fit(*wines()), stage=1)


def thresholds() -> Any:
    """Between which probabilities it goes on, stage by stage."""
    return plots.ThresholdsDisplay.from_estimator(classifier())


def value_function() -> Any:
    """What three policies are expected to cost at every belief, and what they do there."""
    fitted = classifier()
    policies = {"ETANA": fitted.policy_, "one question ahead": Lookahead().solve(fitted.problem_)}
    policies["the first two, always"] = FirstK(2).solve(fitted.problem_)
    return plots.ValueFunctionDisplay.from_policies(policies)


def value_of_information() -> Any:
    """What each measurement is worth alone beside its price, where prices differ."""
    X, _, y, _ = tumours()
    prices = np.where(X.columns.str.startswith("worst"), 0.05, 0.01) * np.linspace(1, 3, X.shape[1])
    return plots.ValueOfInformationDisplay.from_estimator(seqclass.etana(prices).fit(X, y))


@cache
def linear() -> Any:
    """Logistic regression of all measurements."""
    X, _, y, _ = tumours()
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)


DISPLAYS: dict[str, Callable[[], Any]] = {
    "AccuracyFeaturesDisplay": accuracy_features,
    "AcquisitionMapDisplay": acquisition_map,
    "ActionValuesDisplay": action_values,
    "AlphaVectorsDisplay": alpha_vectors,
    "BeliefPathDisplay": belief_path,
    "CostPlaneDisplay": cost_plane,
    "CriticalDifferenceDisplay": critical_difference,
    "DecisionCurveDisplay": decision_curve,
    "EntropyDisplay": entropy,
    "EpisodePathsDisplay": episode_paths,
    "ExplanationDisplay": explanation,
    "FeatureCountDisplay": feature_counts,
    "FeatureValuesDisplay": feature_values,
    "GroupScoresDisplay": group_scores,
    "MissingSweepDisplay": missing_sweep,
    "NetworkDisplay": network,
    "PolicyTreeDisplay": policy_tree,
    "QuestionCalibrationDisplay": question_calibration,
    "ReachableBeliefsDisplay": reachable_beliefs,
    "SelectionMapDisplay": selection_map,
    "StabilityDisplay": stability,
    "StagewiseCalibrationDisplay": stagewise_calibration,
    "StoppingRegionDisplay": stopping_region,
    "ThresholdsDisplay": thresholds,
    "ValueFunctionDisplay": value_function,
    "ValueOfInformationDisplay": value_of_information,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the displays of seqclass.plots.")
    parser.add_argument("display", nargs="?", choices=DISPLAYS, metavar="DISPLAY", help="which one; by default all")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="file of the picture, or folder of all")
    arguments = parser.parse_args()

    if arguments.output is None:
        for name, draw in DISPLAYS.items():
            print(f"{name:28} {draw.__doc__}")
    elif arguments.display is None:
        import matplotlib.pyplot as plt

        arguments.output.mkdir(parents=True, exist_ok=True)
        for name, draw in DISPLAYS.items():
            figure = draw().figure_
            figure.savefig(arguments.output / f"{name}.png", dpi=100)
            plt.close(figure)
    else:
        DISPLAYS[arguments.display]().figure_.savefig(arguments.output, dpi=100)
    if arguments.output is not None:
        print(f"Written to {arguments.output}.")


if __name__ == "__main__":
    main()
