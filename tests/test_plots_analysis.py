"""Pictures of the analyses: what is drawn is what the record says, and nothing written covers anything else written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from seqclass import Costs, SequentialClassifier
from seqclass.analysis import entropy_path, feature_values, missing_sweep, reachable_beliefs, thresholds
from seqclass.plots import (
    EntropyDisplay,
    ExplanationDisplay,
    FeatureValuesDisplay,
    MissingSweepDisplay,
    ReachableBeliefsDisplay,
    ThresholdsDisplay,
)
from seqclass.pomdp import FirstK, GridValueIteration, Panels, Perseus, PosteriorThreshold, TableProblem
from seqclass.pomdp.sweeps.budget import RandomisedPolicy

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PathCollection

LONG = "a measurement whose name is rather long, number"
COARSE = GridValueIteration(100, certificate_paths=0)
COIN = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def two() -> SequentialClassifier:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return SequentialClassifier(solver=COARSE).fit(X, np.array(["malignant", "benign"])[y])


@pytest.fixture(scope="module")
def three() -> SequentialClassifier:
    X, y = load_iris(return_X_y=True)
    names = np.array([f"class {i} with a very long name indeed, no. {i}" for i in range(3)])
    return SequentialClassifier(feature_costs=0.02, solver=COARSE).fit(
        pd.DataFrame(X, columns=[f"{LONG} {j}" for j in range(4)]), names[y]
    )


@pytest.fixture(scope="module")
def ten() -> SequentialClassifier:
    X, y = load_digits(return_X_y=True)
    return SequentialClassifier(feature_costs=0.05, solver=Perseus(100, certificate_paths=0)).fit(X[:600], y[:600])


def assert_legible(figure: Any) -> None:
    """No text overlaps another, and none is cut by the border."""
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                    hidden |= {id(tick.label1), id(tick.label2)}
    found = [t for t in figure.findobj(matplotlib.text.Text) if t.get_text() and t.get_visible()]
    boxes = [(t.get_text(), t.get_window_extent()) for t in found if id(t) not in hidden]
    boxes = [(text, box) for text, box in boxes if box.width > 0]
    assert len(boxes) > 3
    for i, (text, box) in enumerate(boxes):
        assert min(box.x0, box.y0) > -1, text
        assert box.x1 < width + 1, text
        assert box.y1 < height + 1, text
        inside = box.padded(-1)
        for other, its in boxes[i + 1 :]:
            assert not inside.overlaps(its), (text, other)


def problem(**settings: Any) -> TableProblem:
    return TableProblem([0.5, 0.5], COIN, 0.04, **settings)


class TestReachableBeliefs:
    def test_discs_have_the_area_of_their_probability(self) -> None:
        policy = GridValueIteration().solve(problem())
        display = ReachableBeliefsDisplay.from_policy(policy)
        beliefs = reachable_beliefs(policy.problem, policy)
        discs = [c for c in display.ax_.collections if isinstance(c, PathCollection)]
        places = np.concatenate([c.get_offsets() for c in discs])
        areas = np.concatenate([c.get_sizes() for c in discs])
        np.testing.assert_allclose(areas.sum(), 420 * beliefs.probability.sum())
        for stage, p, share in zip(beliefs.stage, beliefs.belief[:, 1], beliefs.probability):
            here = np.abs(places - [stage, p]).max(axis=1) < 1e-9
            np.testing.assert_allclose(areas[here].sum(), 420 * share)
        legend = [t.get_text() for t in display.ax_.get_legend().get_texts()]
        assert legend == ["where it goes on", "goes on", "stops: class 0", "stops: class 1"]
        assert_legible(display.figure_)

    def test_the_other_class_is_the_mirror(self) -> None:
        policy = GridValueIteration().solve(problem())
        one, other = (ReachableBeliefsDisplay.from_policy(policy, class_index=k) for k in (1, 0))
        for a, b in zip(one.ax_.collections, other.ax_.collections):
            np.testing.assert_allclose(np.sort(a.get_offsets()[:, 1]), np.sort(1 - b.get_offsets()[:, 1]), atol=0.02)
        for a, b in zip(one.ax_.patches, other.ax_.patches):
            np.testing.assert_allclose(a.get_y(), 1 - b.get_y() - b.get_height())

    @pytest.mark.slow
    def test_two_three_and_ten_classes(
        self, two: SequentialClassifier, three: SequentialClassifier, ten: SequentialClassifier
    ) -> None:
        for clf, label in ((two, "malignant"), (three, "class 2"), (ten, "likeliest class")):
            display = ReachableBeliefsDisplay.from_estimator(clf, n_paths=500)
            assert label in display.ax_.get_ylabel()
            assert_legible(display.figure_)
        display = ReachableBeliefsDisplay.from_estimator(ten, n_paths=500, class_index=3, max_stages=2)
        assert (display.n_stages, display.ax_.get_ylabel()) == (2, "P(3 | what was seen)")

    def test_where_several_are_ordered_together_no_limits_are_drawn(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=200)
        clf = SequentialClassifier(solver=Panels(100, certificate_paths=0), feature_costs=Costs(0.01, visit_cost=0.02))
        display = ReachableBeliefsDisplay.from_estimator(clf.fit(rng.normal(size=(200, 4)) + y[:, None], y))
        assert "where it goes on" not in [t.get_text() for t in display.ax_.get_legend().get_texts()]

    def test_wrong_input_is_refused(self) -> None:
        beliefs = reachable_beliefs(problem())
        with pytest.raises(ValueError, match="class_index must be between 0 and 1"):
            ReachableBeliefsDisplay(beliefs, class_index=2)
        with pytest.raises(ValueError, match="classes must have 2 labels"):
            ReachableBeliefsDisplay(beliefs, classes=["a"])


class TestThresholds:
    def test_bars_are_the_intervals(self) -> None:
        policy = GridValueIteration().solve(problem(decision_costs=[[0, 1, 0.1], [1, 0, 0.1]]))
        display = ThresholdsDisplay.from_policy(policy, classes=["a", "b"], decisions=["a", "b", "refer"])
        found = thresholds(policy, tolerance=1e-6)
        bars = {(round(b.get_x() + b.get_width() / 2), b.get_y()): b.get_height() for b in display.ax_.patches}
        assert len(bars) == len(found.stage)
        for stage, low, high in zip(found.stage, found.lower, found.upper):
            np.testing.assert_allclose(bars[stage, low], high - low, atol=1e-6)
        legend = [t.get_text() for t in display.figure_.legends[0].get_texts()]
        assert legend == ["go on: ask", "stop: a", "stop: b", "stop: refer", "prior"]
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_classifiers(self, two: SequentialClassifier, three: SequentialClassifier) -> None:
        display = ThresholdsDisplay.from_estimator(two, max_stages=10)
        assert [t.get_text() for t in display.ax_.get_xticklabels()] == [two.feature_name(j) for j in two.order_[:10]]
        assert_legible(display.figure_)
        assert_legible(ThresholdsDisplay.from_estimator(two).figure_)
        with pytest.raises(ValueError, match="two classes"):
            ThresholdsDisplay.from_estimator(three)

    def test_contexts_lie_over_each_other(self) -> None:
        useful, useless = [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]
        staged = TableProblem(
            [0.5, 0.5],
            [[[[0.5, 0.5], [0.5, 0.5]]], [useful, useless]],
            prices=[0.1, 0.1],
            transitions=[[[0, 1, 1]], [[0, 0, 0], [0, 0, 0]]],
        )
        policy = GridValueIteration().solve(staged)
        _, ax = plt.subplots(layout="constrained")
        display = ThresholdsDisplay.from_policy(policy, ax=ax)
        found = thresholds(policy)
        assert len(ax.patches) == found.go_on.sum()
        assert_legible(display.figure_)

    def test_wrong_input_is_refused(self) -> None:
        found = thresholds(GridValueIteration().solve(problem()))
        with pytest.raises(ValueError, match="classes must have 2 labels"):
            ThresholdsDisplay(found, classes=["a"])
        with pytest.raises(ValueError, match="names must have one entry a stage, 3, got 1"):
            ThresholdsDisplay(found, names=["a"])


class TestFeatureValues:
    @pytest.mark.slow
    def test_bars_are_the_record(self, two: SequentialClassifier) -> None:
        display = FeatureValuesDisplay.from_estimator(two, n_paths=500)
        values, n = display.values, display.n_stages
        left, right = display.ax_
        np.testing.assert_allclose([b.get_width() for b in left.patches], values.asked[:n])
        np.testing.assert_allclose([b.get_width() for b in right.patches], values.gain[:n])
        np.testing.assert_allclose(right.lines[0].get_xdata(), values.saving[:n])
        names = [t.get_text() for t in left.get_yticklabels()]
        assert names == [two.feature_name(j) for j in two.order_[:n]]
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_few_and_many(self, three: SequentialClassifier, ten: SequentialClassifier) -> None:
        assert_legible(FeatureValuesDisplay.from_estimator(three).figure_)
        display = FeatureValuesDisplay.from_estimator(ten, n_paths=500, max_stages=6, title="digits")
        assert display.n_stages == 6
        assert_legible(display.figure_)
        _, ax = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
        assert_legible(FeatureValuesDisplay.from_estimator(three, ax=ax).figure_)

    def test_nothing_to_draw(self) -> None:
        never = FirstK(0).solve(problem())
        with pytest.raises(ValueError, match="asks for no feature"):
            FeatureValuesDisplay.from_policy(never)
        values = feature_values(problem(), GridValueIteration().solve(problem()))
        with pytest.raises(ValueError, match="names must have one entry for each of the values"):
            FeatureValuesDisplay(values, names=["a"])


class TestEntropy:
    def test_lines_are_the_record(self, three: SequentialClassifier) -> None:
        display = EntropyDisplay.from_estimator(three)
        path = entropy_path(three.problem_, three.policy_)
        n = display.n_stages + 1
        for line, values in zip(display.lines_, (path.overall, path.going_on, path.stopped)):
            np.testing.assert_array_equal(line.get_ydata(), values[:n])
        top = max(np.nanmax(v[:n]) for v in (path.overall, path.going_on, path.stopped))
        np.testing.assert_allclose([b.get_height() / top for b in display.ax_.patches], path.asked[:n])
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_more_classifiers(self, two: SequentialClassifier, ten: SequentialClassifier) -> None:
        for clf in (two, ten):
            assert_legible(EntropyDisplay.from_estimator(clf, n_paths=500, title="a title").figure_)

    def test_a_policy_that_never_asks_and_a_class_that_is_certain(self) -> None:
        assert EntropyDisplay.from_policy(FirstK(0).solve(problem())).n_stages == 0
        certain = TableProblem([1.0, 0.0], COIN, 0.04)
        display = EntropyDisplay.from_policy(FirstK(0).solve(certain))
        assert display.lines_[0].get_ydata().tolist() == [0.0]


@pytest.mark.slow
def test_thresholds_of_a_classifier_that_draws_lots() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    clf = SequentialClassifier(target_cost=0.015, feature_costs=0.01, solver=COARSE).fit(X, y)
    assert isinstance(clf.policy_, RandomisedPolicy)
    for lot, part in enumerate(clf.policy_.policies):
        display = ThresholdsDisplay.from_estimator(clf, lot=lot, max_stages=4)
        alone = thresholds(part, max_stages=4, tolerance=1e-6)
        np.testing.assert_array_equal(display.thresholds.lower, alone.lower)
        np.testing.assert_array_equal(display.thresholds.region, alone.region)
        assert display.ax_.get_title().startswith(f"lot {lot} of 2, drawn with probability 0.")
        assert_legible(display.figure_)
    assert ThresholdsDisplay.from_estimator(clf, max_stages=2, title="mine").ax_.get_title() == "mine"


def test_feature_values_need_two_axes(two: Any) -> None:
    figure, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax must be two axes"):
        FeatureValuesDisplay.from_estimator(two, ax=ax)
    plt.close(figure)


class TestExplanation:
    def test_bars_are_the_record(self, two: SequentialClassifier) -> None:
        X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
        row = X.iloc[3].copy()
        row.iloc[two.order_[1]] = np.nan
        display = ExplanationDisplay.from_estimator(two, row)
        [told] = two.explain(row)
        assert display.explanation == told
        left, right = display.ax_
        for i, bars in enumerate(display.bars_):
            np.testing.assert_allclose([bar.get_width() for bar in bars], told.beliefs[:, i])
            np.testing.assert_allclose([bar.get_x() for bar in bars], told.beliefs[:, :i].sum(axis=1))
        assert told.not_asked is not None
        savings = [*(step.expected_saving for step in told.steps), told.not_asked.expected_saving]
        np.testing.assert_allclose([bar.get_width() for bar in right.patches], savings)
        assert [t.get_text() for t in right.texts] == [f"{saving:+.4f}" for saving in savings]
        labels = [t.get_text() for t in left.get_yticklabels()]
        assert len(labels) == len(told) + 2
        assert labels[2].endswith("missing")
        assert labels[-1].startswith("not asked: ")
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_long_names_many_classes_and_many_steps(
        self, three: SequentialClassifier, ten: SequentialClassifier
    ) -> None:
        X, _ = load_iris(return_X_y=True)
        assert_legible(ExplanationDisplay.from_estimator(three, X[60]).figure_)
        digits, _ = load_digits(return_X_y=True)
        told = max(ten.explain(digits[600:800]), key=len)
        display = ExplanationDisplay(told, max_steps=4).plot(title="one digit")
        assert len(display.bars_) == 7
        np.testing.assert_allclose(np.sum([[bar.get_width() for bar in bars] for bars in display.bars_], axis=0), 1)
        assert f"and {len(told) - 4} more, up to" in [t.get_text() for t in display.ax_[0].get_yticklabels()]
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_nothing_asked_nothing_expected_and_axes_of_ones_own(self) -> None:
        X, y = load_iris(return_X_y=True)
        dear = SequentialClassifier(feature_costs=2.0).fit(X, y)
        assert_legible(ExplanationDisplay.from_estimator(dear, X[0]).figure_)
        blind = SequentialClassifier(solver=PosteriorThreshold(0.9)).fit(X, y)
        _, ax = plt.subplots(1, 2, figsize=(9, 5), layout="constrained", sharey=True)
        display = ExplanationDisplay.from_estimator(blind, X[0], ax=ax)
        assert not display.ax_[1].patches
        assert_legible(display.figure_)

    def test_wrong_input_is_refused(self, two: SequentialClassifier) -> None:
        X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
        with pytest.raises(ValueError, match="x_row must be one instance, got 2"):
            ExplanationDisplay.from_estimator(two, X[:2])
        with pytest.raises(ValueError, match="ax must be two axes"):
            ExplanationDisplay.from_estimator(two, X[:1], ax=plt.subplots()[1])
        with pytest.raises(ValueError, match="max_steps"):
            ExplanationDisplay(two.explain(X[:1])[0], max_steps=0)


class TestMissingSweep:
    @pytest.mark.slow
    def test_lines_are_the_record(self, two: SequentialClassifier) -> None:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        labels = np.array(["malignant", "benign"])[y]
        sweep = missing_sweep(two, X, labels, [0, 0.01, 0.1, 0.5], n_repeats=3)
        display = MissingSweepDisplay.from_estimator(
            two, X, labels, shares=[0, 0.01, 0.1, 0.5], n_repeats=3, measures=["cost", "n_asked"], title="tumours"
        )
        for ax, values in zip(display.ax_, (sweep.cost, sweep.n_asked)):
            line, caps = ax.containers[0].lines[0], ax.containers[0].lines[1]
            np.testing.assert_allclose(line.get_xdata(), [1, 10, 50])
            np.testing.assert_allclose(line.get_ydata(), values[1:])
            assert len(caps) == 2
            assert any(np.allclose(other.get_ydata(), values[0]) for other in ax.lines)
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_the_axis_names_what_was_tried(self, two: SequentialClassifier) -> None:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        labels = np.array(["malignant", "benign"])[y]
        shares = [0, 0.1, 0.2, 0.21, 0.5, 0.7]
        display = MissingSweepDisplay.from_estimator(two, X[:50], labels[:50], shares=shares, n_repeats=1)
        display.figure_.canvas.draw()
        for ax in display.ax_:
            assert [tick.get_text() for tick in ax.get_xticklabels()] == ["10", "20", "50", "70"]
            assert [tick.get_text() for tick in ax.get_xticklabels(minor=True)] == []

    @pytest.mark.slow
    def test_several_by_name(self, two: SequentialClassifier) -> None:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        labels = np.array(["malignant", "benign"])[y]
        sweeps = {name: missing_sweep(two, X, labels, [0.01, 0.5], k) for k, name in ((1, "one"), (2, "two"))}
        display = MissingSweepDisplay(sweeps).plot()
        assert [t.get_text() for t in display.figure_.legends[0].get_texts()] == ["one", "two"]
        assert_legible(display.figure_)
        _, ax = plt.subplots(layout="constrained")
        assert_legible(MissingSweepDisplay(sweeps, measures="log_loss").plot(ax).figure_)

    def test_wrong_input_is_refused(self, two: SequentialClassifier) -> None:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        some = X[:9], np.array(["malignant", "benign"])[y][:9]
        with pytest.raises(ValueError, match="measures holds 'speed'"):
            MissingSweepDisplay(missing_sweep(two, *some, [0.1], 1), measures=["speed"])
        with pytest.raises(ValueError, match="at least one each"):
            MissingSweepDisplay({})
        sweep = missing_sweep(two, *some, [0.1], 1)
        with pytest.raises(ValueError, match="one axes for each of the 2"):
            MissingSweepDisplay(sweep).plot(plt.subplots()[1])

    def test_nothing_missing_at_all(self, two: SequentialClassifier) -> None:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        labels = np.array(["malignant", "benign"])[y]
        display = MissingSweepDisplay.from_estimator(two, X[:20], labels[:20], shares=[0], n_repeats=1)
        display.figure_.canvas.draw()
        assert display.ax_[0].get_xscale() == "linear"
