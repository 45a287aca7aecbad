"""What a picture or a table calls things: names stand beside their own numbers, and are shown letter for letter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.analysis import feature_values
from seqclass.evaluation.scores import score_rows
from seqclass.plots import (
    AccuracyFeaturesDisplay,
    AcquisitionMapDisplay,
    BeliefPathDisplay,
    CriticalDifferenceDisplay,
    DecisionCurveDisplay,
    ExplanationDisplay,
    FeatureCountDisplay,
    FeatureValuesDisplay,
    GroupScoresDisplay,
    PolicyTreeDisplay,
    SelectionMapDisplay,
    StoppingRegionDisplay,
    ThresholdsDisplay,
)
from seqclass.pomdp import Lookahead, TableProblem, with_names
from seqclass.selection.prequential import Prequential

matplotlib.use("Agg")
import matplotlib.pyplot as plt

#: The last column tells most, the first nothing.
NAMES = ["use$less$", "some $ or $ other", "best_$x$"]


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    number = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) + number[:, None] * np.array([0.0, 0.9, 2.0])
    return pd.DataFrame(X, columns=NAMES), np.array(["$5 or $6", "$7 or more, $"])[number]


@pytest.fixture(scope="module")
def adaptive(rows: tuple[pd.DataFrame, Any]) -> Any:
    return SequentialClassifier(feature_costs=0.02, order="adaptive", solver=Lookahead()).fit(*rows)


@pytest.fixture(scope="module")
def bundled(rows: tuple[pd.DataFrame, Any]) -> SequentialClassifier:
    costs = Costs(0.02, bundles=dict.fromkeys(NAMES[1:], "both"))
    return SequentialClassifier(feature_costs=costs, order="adaptive", solver=Lookahead()).fit(*rows)


def test_bars_of_any_order_have_their_own_names(adaptive: Any) -> None:
    display = FeatureValuesDisplay.from_estimator(adaptive)
    values = display.values
    assert values.feature.tolist() != sorted(values.feature)  # they are asked in another order than they stand
    assert display.names == [adaptive.feature_name(adaptive.support_[j]) for j in values.feature]
    shown = [text.get_text() for text in display.ax_[0].get_yticklabels()]
    assert (shown[0], display.ax_[0].patches[0].get_width()) == (NAMES[2], values.asked.max())
    own = FeatureValuesDisplay.from_policy(adaptive.policy_, names=["a", "b", "c"])
    assert own.names == [["a", "b", "c"][j] for j in values.feature]


def test_bundles_have_their_names(bundled: SequentialClassifier, rows: tuple[pd.DataFrame, Any]) -> None:
    values = feature_values(bundled.problem_, bundled.policy_)
    names = FeatureValuesDisplay.from_estimator(bundled).names
    assert names[0] == "both"
    assert len(names) == len(values.feature)
    assert "both" in AcquisitionMapDisplay.from_estimator(bundled, *rows).features


def test_missing_answers_are_no_features(adaptive: Any, rows: tuple[pd.DataFrame, Any]) -> None:
    case = rows[0].iloc[:1].copy()
    case[NAMES[2]] = np.nan
    path, told = (one.from_estimator(adaptive, case) for one in (BeliefPathDisplay, ExplanationDisplay))
    assert path.values[0] == "missing"
    assert path.n_features == adaptive.acquire(case).n_features[0] == len(path.names) - 1
    assert path.ax_.get_title() == told.figure_.get_suptitle()


def run() -> Prequential:
    times = np.zeros(3)
    return Prequential(times, times, (np.array([1, 2]),) * 3, times, times, 3)


DISPLAYS: dict[str, Callable[[Any, pd.DataFrame, Any], Any]] = {
    "values": lambda clf, X, y: FeatureValuesDisplay.from_estimator(clf),
    "path": lambda clf, X, y: BeliefPathDisplay.from_estimator(clf, X[:1]),
    "explanation": lambda clf, X, y: ExplanationDisplay.from_estimator(clf, X[:1]),
    "map": lambda clf, X, y: AcquisitionMapDisplay.from_estimator(clf, X, y),
    "groups": lambda clf, X, y: GroupScoresDisplay.from_estimator(clf, X, y, y),
    "counts": lambda clf, X, y: FeatureCountDisplay.from_estimator(clf, X, y),
    "region": lambda clf, X, y: StoppingRegionDisplay.from_estimator(seqclass.etana(0.02).fit(X, y)),
    "thresholds": lambda clf, X, y: ThresholdsDisplay.from_estimator(seqclass.etana(0.02).fit(X, y)),
    "accuracy": lambda clf, X, y: AccuracyFeaturesDisplay.from_estimators({"$a$": clf, "$b": clf}, X, y),
    "ranks": lambda clf, X, y: CriticalDifferenceDisplay.from_scores(pd.DataFrame(np.eye(3), columns=NAMES)),
    "selection": lambda clf, X, y: SelectionMapDisplay(run(), names=NAMES).plot(events={1: "at $1, then at $2"}),
}


@pytest.mark.parametrize("display", DISPLAYS)
def test_a_dollar_is_a_dollar(display: str, adaptive: Any, rows: tuple[pd.DataFrame, Any]) -> None:
    figure = DISPLAYS[display](adaptive, *rows).figure_
    written = [text for text in figure.findobj(matplotlib.text.Text) if "$" in text.get_text()]
    assert written
    assert not any(text.get_parse_math() for text in written)


UNDERSCORED: dict[str, Callable[[list[str]], Any]] = {
    "points": lambda two: AccuracyFeaturesDisplay.from_points(two, [1, 2], [0.5, 0.9]),
    "curve": lambda two: DecisionCurveDisplay.from_predictions([0, 1], dict.fromkeys(two, (0.1, 0.9))),
    "beliefs": lambda two: BeliefPathDisplay(
        [[0.5, 0.5]], names=[], values=[], classes=two, decision="refer", paid=0.0
    ).plot(),
    "bars": lambda two: PolicyTreeDisplay.from_policy(
        Lookahead().solve(with_names(TableProblem([0.5, 0.5], np.full((1, 2, 2), 0.5), prices=0.1), classes=two))
    ),
}


@pytest.mark.parametrize("display", UNDERSCORED)
def test_names_that_begin_with_an_underscore_stand_in_the_legend(display: str) -> None:
    figure = UNDERSCORED[display](["_x", "_y"]).figure_
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend() is not None)]
    assert {"_x", "_y"} <= {text.get_text().strip() for legend in legends for text in legend.get_texts()}


def test_formulas_of_the_user_stay(adaptive: Any, rows: tuple[pd.DataFrame, Any]) -> None:
    _, ax = plt.subplots()
    own = ax.text(0, 0, "$x^2$")
    display = BeliefPathDisplay.from_estimator(adaptive, rows[0][:1], ax=ax, title="$y^2$")
    assert own.get_parse_math()
    assert display.ax_.title.get_parse_math()


@pytest.mark.parametrize("n_groups", [1, 2, 12])
def test_the_legend_of_groups_is_not_cut(n_groups: int, adaptive: Any, rows: tuple[pd.DataFrame, Any]) -> None:
    X, y = rows
    figure = GroupScoresDisplay.from_scores(score_rows(adaptive, X, y, groups=np.arange(len(y)) % n_groups)).figure_
    figure.draw_without_rendering()
    axes = figure.axes[0]
    legend, label = axes.get_legend().get_window_extent(), axes.xaxis.label.get_window_extent()
    assert legend.y0 >= 0
    assert legend.y1 <= label.y0
