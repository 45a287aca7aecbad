"""Pictures of decision curves, groups and calibration by questions: what is drawn is what was scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.evaluation.decision_curves import acquired_curve, decision_curve
from seqclass.metrics import score_rows
from seqclass.plots import (
    BeliefPathDisplay,
    DecisionCurveDisplay,
    ExplanationDisplay,
    GroupScoresDisplay,
    PolicyTreeDisplay,
    QuestionCalibrationDisplay,
)
from seqclass.plots.decision_curve import benefit_limits

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    y = np.array(["malignant", "benign"])[y]
    costs = [[0, 1], [2, 0]]
    return seqclass.etana(Costs(0.01, decision_costs=costs)).fit(X[::2, :8], y[::2]), X[1::2, :8], y[1::2]


def test_decision_curves(cancer: tuple[Any, Any, Any]) -> None:
    clf, X, y = cancer
    other = LogisticRegression(max_iter=5000).fit(X, y == "malignant")
    other.classes_ = np.array(["benign", "malignant"])
    settings: dict[str, Any] = {"others": {"all": other}, "prices": {"all": 0.08}}
    display = DecisionCurveDisplay.from_estimator(clf, X, y, **settings)
    expected = acquired_curve(clf, X, y)
    all_bought = decision_curve(y, other.predict_proba(X)[:, 1], positive="malignant", price=0.08, benefit=2)
    names = [line.get_label() for line in display.lines_]
    assert names == ["sequential", "all", "treat all", "treat none", "decide at once"]
    for line, curve in zip(display.lines_, (expected, all_bought, expected.treat_all(), expected.treat_none())):
        np.testing.assert_allclose(line.get_ydata(), curve.after_price)
    at_once = display.lines_[-1].get_ydata()  # all below the prior, none above
    prior = clf.problem_.prior[1]
    np.testing.assert_allclose(at_once, np.where(expected.thresholds <= prior, expected.treat_all().net_benefit, 0))
    low, high = display.ax_.get_ylim()
    assert low < 0
    assert high > max(c.upper[c.thresholds <= 0.9].max() for c in display.curves)  # intervals are inside the frame
    assert display.ax_.get_xlim() == (0, 1)
    assert "malignant" in display.ax_.get_xlabel()
    plain = display.plot(after_price=False)
    np.testing.assert_allclose(plain.lines_[0].get_ydata(), expected.net_benefit)
    assert "less prices" not in plain.ax_.get_ylabel()


def test_decision_curves_that_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one curve"):
        DecisionCurveDisplay([])
    curves = [decision_curve([0, 1], [0.1, 0.9]), decision_curve([1, 0], [0.1, 0.9], name="other")]
    with pytest.raises(ValueError, match="'other' is not"):
        DecisionCurveDisplay(curves)
    with pytest.raises(ValueError, match="no probabilities of 'b'"):
        DecisionCurveDisplay.from_predictions([0, 1], {"a": [0.1, 0.9]}, prices={"b": 1.0})


def test_groups(cancer: tuple[Any, Any, Any]) -> None:
    clf, X, y = cancer
    scores = score_rows(clf, X, y, groups=np.arange(len(y)) % 3)
    display = GroupScoresDisplay.from_scores(scores)
    prices, decisions = ([bar.get_width() for bar in bars] for bars in display.bars_)
    np.testing.assert_allclose(prices, [one.mean_price for one in scores.groups])
    np.testing.assert_allclose(np.add(prices, decisions), [one.realised_cost for one in scores.groups])
    assert {bar.get_x() for bar in display.bars_[0]} == {0.0}
    low, high = display.ax_.get_xlim()
    assert low == 0
    assert high > max(one.realised_cost_interval[1] for one in scores.groups)
    with pytest.raises(ValueError, match="give score_rows the groups"):
        GroupScoresDisplay.from_scores(score_rows(clf, X, y))


def test_calibration_by_questions(cancer: tuple[Any, Any, Any]) -> None:
    clf, X, y = cancer
    display = QuestionCalibrationDisplay.from_estimator(clf, X, y, title="by questions")
    assert tuple(display.stops) == score_rows(clf, X, y).calibration
    said, right = (line.get_ydata() for line in display.lines_)
    np.testing.assert_allclose(said, [one.confidence for one in display.stops])
    np.testing.assert_allclose(right, [one.accuracy for one in display.stops])
    low, high = display.ax_.get_ylim()
    assert low <= min(one.accuracy_interval[0] for one in display.stops)
    assert high >= 1
    assert display.ax_.get_xticklabels()[0].get_text().startswith(display.stops[0].questions)
    with pytest.raises(ValueError, match="at least one number"):
        QuestionCalibrationDisplay([])


def test_limits_of_the_axis_of_benefit() -> None:
    curve = decision_curve([0, 1], [0.2, 0.9], thresholds=[0.5])
    assert benefit_limits([curve], after_price=False) == pytest.approx((-0.125, 0.525))
    nobody = decision_curve([0, 0], [0.2, 0.9], classes=[0, 1], thresholds=[0.5])  # has it
    assert benefit_limits([nobody], after_price=False) == pytest.approx((-0.25, 0.05))


def test_pictures_name_the_unit_of_costs() -> None:
    X, y = np.array([[0.0, 5.0], [1.0, 4.0]] * 20), ["well", "ill"] * 20
    clf = SequentialClassifier(feature_costs=Costs([3, 1], decision_costs=[[0, 100], [400, 0]], unit="EUR")).fit(X, y)
    assert ExplanationDisplay.from_estimator(clf, X[0]).ax_[1].get_xlabel() == "expected cost (EUR)"
    assert BeliefPathDisplay.from_estimator(clf, X[0]).ax_.get_title() == "decided well after 1 feature, 1 EUR paid"
    assert PolicyTreeDisplay.from_estimator(clf).ax_[2].get_xlabel() == "expected cost\nfrom here (EUR)"
    assert GroupScoresDisplay.from_estimator(clf, X, y, y).ax_.get_xlabel() == "cost per row (EUR)"
    assert GroupScoresDisplay.from_estimator(clf, X, y, y, unit="").ax_.get_xlabel() == "cost per row"
