"""Pictures: what is drawn is what the classifier does, and nothing written covers anything else written."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

from seqclass import Costs, SequentialClassifier
from seqclass.agent.problem import acquisition_problem
from seqclass.bn import NaiveBayes, ObservationModel
from seqclass.plots import AccuracyFeaturesDisplay, BeliefPathDisplay, StoppingRegionDisplay
from seqclass.plots.accuracy_features import wilson
from seqclass.pomdp import DECIDE, GridValueIteration, Policy, StoppingValue, TableProblem
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.sweeps.budget import RandomisedPolicy

matplotlib.use("Agg")
import matplotlib.pyplot as plt

#: What is left of the name of a class of `three` in a corner.
CORNER = "class {0} wi…deed, no. {0}"
LONG = "a measurement whose name is rather long, number"
COARSE = GridValueIteration(100, certificate_paths=0)


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cancer() -> Any:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, np.array(["malignant", "benign"])[y]


@pytest.fixture(scope="module")
def two(cancer: Any) -> SequentialClassifier:
    return SequentialClassifier(solver=COARSE).fit(*cancer)


@pytest.fixture(scope="module")
def three() -> SequentialClassifier:
    X, y = load_iris(return_X_y=True)
    names = np.array([f"class {i} with a very long name indeed, no. {i}" for i in range(3)])
    return SequentialClassifier(feature_costs=0.02, solver=COARSE).fit(
        pd.DataFrame(X, columns=[f"{LONG} {j}" for j in range(4)]), names[y]
    )


def texts(figure: Any) -> list[Any]:
    """Visible written things of a figure, those of the legends included."""
    found = [t for t in figure.findobj(matplotlib.text.Text) if t.get_text() and t.get_visible()]
    return [t for t in found if t.get_window_extent().width > 0]


def assert_legible(figure: Any) -> None:
    """No text overlaps another, and none is cut by the border."""
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    drawn = {}
    for axes in figure.axes:  # ticks beyond the limits exist as objects, and are not drawn
        hidden = set()
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                    hidden |= {id(tick.label1), id(tick.label2)}
        if not axes.axison:
            hidden |= {id(t) for axis in (axes.xaxis, axes.yaxis) for t in axis.findobj(matplotlib.text.Text)}
        drawn |= {id(t): t for t in texts(axes) if id(t) not in hidden}
    shown = list(drawn.values())
    assert len(shown) > 3
    boxes = [text.get_window_extent() for text in shown]
    for i, (text, box) in enumerate(zip(shown, boxes)):
        assert box.x0 > -1, text
        assert box.y0 > -1, text
        assert box.x1 < width + 1, text
        assert box.y1 < height + 1, text
        inside = box.padded(-1)
        for other, its in zip(shown[i + 1 :], boxes[i + 1 :]):
            assert not inside.overlaps(its), (text, other)


class TestBeliefPath:
    def test_lines_are_the_beliefs_on_the_way(self, two: SequentialClassifier, cancer: Any) -> None:
        X, _ = cancer
        record = two.acquire(X, record_beliefs=True)
        i = int(np.flatnonzero((record.n_features == 3) & (record.decision == "malignant"))[0])
        display = BeliefPathDisplay.from_estimator(two, X.iloc[i : i + 1])
        assert [line.get_label() for line in display.lines_] == ["benign", "malignant"]
        for c, line in enumerate(display.lines_):
            np.testing.assert_array_equal(line.get_ydata(), record.beliefs[i, :4, c])
        columns = record.order[i, :3]
        assert display.names == [X.columns[j] for j in columns]
        assert display.values == [f"{X.iloc[i, j]:.4g}" for j in columns]
        assert display.decision == record.decision[i]
        assert display.paid == record.paid[i]
        assert str(record.decision[i]) in display.ax_.get_title()
        ring = [line for line in display.ax_.lines if line.get_fillstyle() == "none"]
        position = two.classes_.tolist().index(record.decision[i])
        assert ring[0].get_ydata()[0] == record.posterior[i, position]
        assert ring[0].get_xdata()[0] == 3

    @pytest.mark.parametrize("form", ["frame", "series", "list", "array", "matrix"])
    def test_an_instance_may_come_in_any_form(self, two: SequentialClassifier, cancer: Any, form: str) -> None:
        row = cancer[0].iloc[7]
        forms = {"frame": row.to_frame().T, "series": row, "list": row.tolist()}
        forms |= {"array": row.to_numpy(), "matrix": row.to_numpy()[None]}
        display = BeliefPathDisplay.from_estimator(two, forms[form])
        expected = BeliefPathDisplay.from_estimator(two, cancer[0].iloc[7:8])
        np.testing.assert_array_equal(display.beliefs, expected.beliefs)
        assert display.values == expected.values

    def test_categories_missing_cells_and_sparse_rows(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=200)
        frame = pd.DataFrame({"word": np.where(y, "yes", "no"), "noise": rng.normal(size=200)})
        frame.loc[rng.random(200) < 0.3, "word"] = None
        clf = SequentialClassifier(order=["word", "noise"], feature_costs=0.001).fit(frame, y)
        seen = BeliefPathDisplay.from_estimator(clf, pd.Series({"word": "yes", "noise": 0.1}))
        assert seen.values[0] == "yes"
        missing = BeliefPathDisplay.from_estimator(clf, [None, 0.1])
        assert missing.values[0] == "missing"
        np.testing.assert_array_equal(missing.beliefs[0], missing.beliefs[1])
        X = sp.csr_array(rng.integers(0, 3, size=(200, 4)) * y[:, None].astype(float))
        row = BeliefPathDisplay.from_estimator(SequentialClassifier().fit(X, y), X[[3]])
        assert row.names[0].startswith("x")

    @pytest.mark.slow_cells("10-16")
    @pytest.mark.covering(1)
    @pytest.mark.parametrize("n_asked", [1, 16, 17, 60])
    @pytest.mark.parametrize("n_classes", [2, 10])
    def test_many_classes_and_many_steps_stay_legible(self, n_classes: int, n_asked: int) -> None:
        beliefs = np.random.default_rng(0).dirichlet(np.full(n_classes, 0.5), size=n_asked + 1)
        display = BeliefPathDisplay(
            beliefs,
            names=[f"{LONG} {j}" for j in range(n_asked)],
            values=["a value that is long as well"] * n_asked,
            classes=[f"the class of number {i}" for i in range(n_classes)],
            decision=f"the class of number {n_classes - 1}",
            paid=0.123456,
        ).plot()
        assert len(display.lines_) == n_classes
        assert_legible(display.figure_)
        legend = [t.get_text().replace("\n", " ") for t in display.ax_.get_legend().get_texts()]
        assert ("others" in legend) == (n_classes > 7)
        assert f"the class of number {n_classes - 1}" in legend

    @pytest.mark.parametrize("n_asked, turned", [(3, 0), (4, 90), (16, 90), (17, None)])
    def test_up_to_sixteen_steps_are_named_and_up_to_three_upright(self, n_asked: int, turned: int | None) -> None:
        beliefs = np.tile([0.3, 0.7], (n_asked + 1, 1))
        names, more = [f"x{j}" for j in range(n_asked)], {"decision": "b", "paid": 0.1}
        display = BeliefPathDisplay(beliefs, names=names, values=["1"] * n_asked, classes=["a", "b"], **more).plot()
        ticks = [tick for tick in display.ax_.get_xticklabels() if "x0" in tick.get_text()]
        assert [tick.get_rotation() for tick in ticks] == ([] if turned is None else [turned])
        assert display.ax_.get_xlabel() == ("features asked for" if turned is None else "")

    def test_no_feature_and_a_decision_that_is_no_class(self, cancer: Any) -> None:
        clf = SequentialClassifier(
            feature_costs=Costs(decision_costs=[[0, 1, 0.001], [1, 0, 0.001]], decisions=["refer"])
        ).fit(*cancer)
        display = BeliefPathDisplay.from_estimator(clf, cancer[0].iloc[0])
        assert display.names == []
        assert display.beliefs.shape == (1, 2)
        assert "stop: refer" in [t.get_text() for t in display.ax_.get_legend().get_texts()]
        assert_legible(display.figure_)

    @pytest.mark.slow
    def test_long_names_stay_legible(self, three: SequentialClassifier) -> None:
        X = pd.DataFrame(load_iris().data, columns=three.feature_names_in_)
        counts = three.acquire(X).n_features
        for n in np.unique(counts):
            display = BeliefPathDisplay.from_estimator(three, X.iloc[int(np.flatnonzero(counts == n)[0])])
            assert_legible(display.figure_)

    def test_draws_where_it_is_told_to(self, two: SequentialClassifier, cancer: Any) -> None:
        figure, axes = plt.subplots(1, 2)
        display = BeliefPathDisplay.from_estimator(two, cancer[0].iloc[0], ax=axes[1], title="one")
        assert display.ax_ is axes[1]
        assert display.figure_ is figure
        assert axes[1].get_title() == "one"
        assert not axes[0].lines

    def test_wrong_input_is_refused(self, two: SequentialClassifier, cancer: Any) -> None:
        with pytest.raises(ValueError, match="x_row must be one instance"):
            BeliefPathDisplay.from_estimator(two, cancer[0].iloc[:2])
        with pytest.raises(ValueError, match="beliefs must have shape"):
            BeliefPathDisplay([[1, 0]], names=["a"], values=["1"], classes=[0, 1], decision=0, paid=0.1)
        with pytest.raises(ValueError, match="values must have one entry"):
            BeliefPathDisplay([[1, 0]], names=[], values=["1"], classes=[0, 1], decision=0, paid=0.1)


class TestAccuracyFeatures:
    @pytest.mark.quick
    def test_points_and_curves(self) -> None:
        names = ["ours", "ours", "forest", "ours"]
        x, y = [1.0, 2.0, 30.0, 4.0], [0.8, 0.9, 0.96, 0.95]
        intervals = np.column_stack([np.subtract(y, 0.02), np.add(y, 0.03)])
        display = AccuracyFeaturesDisplay.from_points(names, x, y, intervals, labels=["a", "b", "", "c"])
        assert [line.get_label() for line in display.lines_] == ["ours", "forest"]
        np.testing.assert_array_equal(display.lines_[0].get_xydata(), [[1, 0.8], [2, 0.9], [4, 0.95]])
        np.testing.assert_array_equal(display.lines_[1].get_xydata(), [[30, 0.96]])
        assert [t.get_text() for t in display.texts_] == ["a", "b", "c"]
        bars = [s for c in display.ax_.collections for s in np.asarray(c.get_segments())[:, :, 1].tolist()]
        np.testing.assert_allclose(sorted(bars), sorted(intervals.tolist()), rtol=1e-12)
        assert display.ax_.get_xscale() == "symlog"
        assert_legible(display.figure_)

    @pytest.mark.covering(1)
    @pytest.mark.parametrize("largest", [0, 1, 784, 1_355_191])
    @pytest.mark.parametrize("xscale", ["auto", "linear", "log"])
    def test_any_number_of_features_has_a_place(self, largest: int, xscale: str) -> None:
        display = AccuracyFeaturesDisplay.from_points(
            ["a", "b", "all"], [0, largest / 3, largest], [0.5, 0.9, 1], xscale=xscale
        )
        low, high = display.ax_.get_xlim()
        assert low <= 0 < largest * 1.001 + 1e-9 <= high
        if xscale != "linear":
            assert_legible(display.figure_)

    @pytest.mark.slow
    def test_notes_never_cover_one_another(self) -> None:
        rng = np.random.default_rng(0)
        x, y = rng.normal(5, 0.3, 30).clip(0), rng.normal(0.9, 0.01, 30).clip(0, 1)
        display = AccuracyFeaturesDisplay.from_points(["m"] * 30, x, y, labels=[f"cost {k}" for k in range(30)])
        assert 5 < len(display.texts_) < 30
        assert_legible(display.figure_)

    def test_estimators_are_measured(self, two: SequentialClassifier, cancer: Any) -> None:
        X, y = cancer
        tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        display = AccuracyFeaturesDisplay.from_estimators({"ours": two, "tree": tree}, X, y)
        record = two.acquire(X)
        np.testing.assert_array_equal(display.mean_features, [record.n_features.mean(), 30])
        np.testing.assert_array_equal(display.accuracy, [(record.decision == y).mean(), tree.score(X, y)])
        assert display.intervals is not None
        assert (display.intervals[:, 0] < display.accuracy).all()
        assert (display.intervals[:, 1] > display.accuracy).all()

    @pytest.mark.slow
    def test_costs_make_a_curve(self, cancer: Any) -> None:
        X, y = cancer
        tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[::2], y[::2])
        display = AccuracyFeaturesDisplay.from_costs(
            SequentialClassifier(solver=COARSE),
            *(X[::2], y[::2], X[1::2], y[1::2]),
            feature_costs=[0.1, 0.01],
            baselines={"tree": tree},
            name="ours",
        )
        assert display.names == ["ours", "ours", "tree"]
        for k, cost in enumerate([0.1, 0.01]):
            record = SequentialClassifier(feature_costs=cost, solver=COARSE).fit(X[::2], y[::2]).acquire(X[1::2])
            assert display.mean_features[k] == record.n_features.mean()
            assert display.accuracy[k] == (record.decision == y[1::2]).mean()
        assert display.labels == ["0.1", "0.01", ""]
        assert_legible(display.figure_)

    def test_wilson_interval(self) -> None:
        # E. B. Wilson, JASA 22, 1927: the ends solve (share - p)^2 = z^2 p (1 - p) / n
        share, n, z = np.array([0.0, 0.2, 1.0]), np.array([10.0, 57.0, 3.0]), 1.959964
        for p in wilson(share, n).T:
            np.testing.assert_allclose((share - p) ** 2, z**2 * p * (1 - p) / n, atol=1e-12)

    @pytest.mark.parametrize(
        "arguments, message",
        [
            (([], [], []), "names must hold at least one point"),
            ((["a"], [1, 2], [0.5]), "mean_features must have shape"),
            ((["a"], [-1], [0.5]), "mean_features must not be negative"),
            ((["a"], [1], [95]), "accuracy must be between 0 and 1"),
            ((["a"], [1], [0.5], [[0.6, 0.7]]), "intervals must hold the lower and the upper end"),
        ],
    )
    def test_wrong_input_is_refused(self, arguments: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            AccuracyFeaturesDisplay.from_points(*arguments)

    def test_wrong_settings_are_refused(self) -> None:
        with pytest.raises(ValueError, match="labels must have one entry"):
            AccuracyFeaturesDisplay.from_points(["a"], [1], [0.5], labels=[])
        with pytest.raises(ValueError, match="xscale must be"):
            AccuracyFeaturesDisplay.from_points(["a"], [1], [0.5], xscale="wide")


class Untabled(NaiveBayes):
    """Naive Bayes that hides its tables."""

    context_features = ObservationModel.context_features

    def tables(self, order: Any) -> None:
        return None


class AskOnce(Policy):
    """A policy that cannot tell what going on costs."""

    def _action(self, belief: BeliefState) -> Any:
        doubtful = belief.probabilities.max(axis=1) < 0.8
        return np.where(doubtful & (belief.stage == 0), belief.stage, DECIDE)


def two_stages(**more: Any) -> TableProblem:
    likelihood = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.3], [0.3, 0.7]]])
    return TableProblem([0.5, 0.5], likelihood, prices=[0.1, 0.05], **more)


class TestStoppingRegion:
    @pytest.mark.parametrize("stage", [0, 1])
    def test_thresholds_of_two_classes(self, stage: int) -> None:
        problem = two_stages()
        display = StoppingRegionDisplay.from_policy(GridValueIteration(4000).solve(problem), stage)
        p = display.beliefs[:, 1]
        stop = np.minimum(p, 1 - p)
        value = stop
        for k in reversed(range(stage, 2)):  # the recursion, by hand on the whole line
            following = np.zeros_like(p)
            for row in problem.likelihoods[k]:
                joint = np.column_stack([(1 - p) * row[0], p * row[1]])
                total = joint.sum(axis=1)
                following += total * np.interp(joint[:, 1] / total, p, value)
            going = problem.prices[k] + following
            value = np.minimum(stop, going)
        np.testing.assert_allclose(display.stopping_cost, stop, atol=1e-12)
        np.testing.assert_allclose(display.continuation_cost, going, atol=1e-3)
        clear = np.abs(going - stop) > 2e-3
        np.testing.assert_array_equal(display.go_on[clear], (going < stop)[clear])
        assert 0.1 < display.go_on.mean() < 0.9
        lines = {line.get_label(): line for line in display.ax_.lines}
        np.testing.assert_array_equal(lines["cost of stopping"].get_ydata(), display.stopping_cost)
        np.testing.assert_array_equal(lines["cost of going on"].get_ydata(), display.continuation_cost)
        assert ("prior" in lines) == (stage == 0)
        spans = [patch.get_extents().transformed(display.ax_.transData.inverted()) for patch in display.ax_.patches]
        assert len(spans) == 3
        np.testing.assert_allclose([spans[1].x0, spans[1].x1], p[display.go_on][[0, -1]], atol=1e-3)

    @pytest.mark.slow
    def test_every_stage_below_the_horizon(self, two: SequentialClassifier) -> None:
        for stage in (0, 1, two.policy_.n_stages - 1):
            display = StoppingRegionDisplay.from_estimator(two, stage, resolution=50)
            assert two.feature_name(two.order_[stage]) in display.ax_.get_title()
            assert_legible(display.figure_)
            plt.close(display.figure_)
        for wrong in (-1, two.policy_.n_stages):
            with pytest.raises(ValueError, match="stage must be between 0 and"):
                StoppingRegionDisplay.from_estimator(two, wrong)
        with pytest.raises(TypeError, match="stage must be an integer"):
            StoppingRegionDisplay.from_estimator(two, 0.5)  # type: ignore[arg-type]

    def test_three_classes_make_a_triangle(self, three: SequentialClassifier) -> None:
        display = StoppingRegionDisplay.from_estimator(three, 1, resolution=20)
        assert display.beliefs.shape == (400, 3)
        np.testing.assert_allclose(display.beliefs.sum(axis=1), 1)
        assert isinstance(three.policy_, LookaheadPolicy)
        for k in range(0, 400, 37):
            belief = BeliefState(three.problem_, 1, display.beliefs[[k]], np.zeros(1, dtype=int), None)
            assert display.go_on[k] == (three.policy_.action(belief)[0] != DECIDE)
            assert display.decision[k] == display.beliefs[k].argmax()
        mesh, borders = display.ax_.collections
        sides = np.linalg.norm(np.diff(borders.get_segments(), axis=1), axis=2)
        np.testing.assert_allclose(sides, 1 / 20)
        np.testing.assert_array_equal(mesh.get_array(), np.where(display.go_on, 0, display.decision + 1))
        corners = {t.get_text(): t.get_position() for t in display.ax_.texts}
        assert list(corners) == [CORNER.format(k) for k in range(3)]
        # each face lies where the barycentric coordinates of its belief say
        centres = np.array([path.vertices[:3].mean(axis=0) for path in mesh.get_paths()])
        expected = display.beliefs @ np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
        np.testing.assert_allclose(centres, expected, atol=1e-9)
        assert_legible(display.figure_)

    def test_the_prior_is_marked_before_the_first_feature(self, three: SequentialClassifier) -> None:
        three = three.with_prior([0.2, 0.3, 0.5])
        display = StoppingRegionDisplay.from_estimator(three, resolution=10)
        star = next(line for line in display.ax_.lines if line.get_label() == "prior")
        corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
        np.testing.assert_allclose(star.get_xydata()[0], three.problem_.prior @ corners)
        assert_legible(display.figure_)

    def test_further_decisions_have_regions(self) -> None:
        problem = two_stages(decision_costs=[[0, 1, 0.2], [1, 0, 0.2]])
        policy = GridValueIteration().solve(problem)
        display = StoppingRegionDisplay.from_policy(policy, 1, classes=["a", "b"], decisions=["a", "b", "refer"])
        assert (display.decision == 2).any()
        legend = [t.get_text() for t in display.ax_.get_legend().get_texts()]
        assert "stop: refer" in legend
        assert StoppingRegionDisplay(policy).decisions == ["class 0", "class 1", "decision 2"]

    def test_groups_of_earlier_features_are_paid_for(self) -> None:
        problem = two_stages(groups=[0, 0], full_prices=[0.1, 0.3])
        policy = GridValueIteration().solve(problem)
        grouped = StoppingRegionDisplay(policy, 1)
        alone = StoppingRegionDisplay(GridValueIteration().solve(two_stages()), 1)
        np.testing.assert_allclose(grouped.continuation_cost, alone.continuation_cost, atol=1e-9)

    def test_contexts_differ(self) -> None:
        # the second feature tells all after outcome 0 of the first, and nothing after outcome 1
        useful, useless = [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]
        problem = TableProblem(
            [0.5, 0.5],
            [[[[0.5, 0.5], [0.5, 0.5]]], [useful, useless]],
            prices=[0.1, 0.1],
            transitions=[[[0, 1, 1]], [[0, 0, 0], [0, 0, 0]]],
        )
        policy = GridValueIteration().solve(problem)
        assert StoppingRegionDisplay(policy, 1, context=0).go_on.mean() > 0.7
        assert not StoppingRegionDisplay(policy, 1, context=1).go_on.any()
        with pytest.raises(ValueError, match="context must be between 0 and 1"):
            StoppingRegionDisplay(policy, 1, context=2)

    def test_a_model_without_tables(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=300)
        X = (rng.random((300, 3)) < 0.3 + 0.4 * y[:, None]).astype(int)
        problems = [
            acquisition_problem(model.fit(X, y), np.arange(3), Costs(0.05).prices(3), 1 - np.eye(2))
            for model in (NaiveBayes(), Untabled())
        ]
        problems[1].max_contexts = 1
        assert [problem.structure.tables is not None for problem in problems] == [True, False]
        tabled, untabled = (
            StoppingRegionDisplay(LookaheadPolicy(StoppingValue(problem)), 2, resolution=100) for problem in problems
        )
        np.testing.assert_array_equal(untabled.go_on, tabled.go_on)
        np.testing.assert_allclose(untabled.continuation_cost, tabled.continuation_cost)
        assert 0.1 < tabled.go_on.mean() < 0.9

    def test_a_policy_that_does_not_know_its_costs(self) -> None:
        display = StoppingRegionDisplay.from_policy(AskOnce(two_stages()), 0)
        np.testing.assert_array_equal(display.go_on, display.beliefs.max(axis=1) < 0.8)
        assert np.isnan(display.continuation_cost).all()
        assert "cost of going on" not in [line.get_label() for line in display.ax_.lines]
        never = StoppingRegionDisplay.from_policy(AskOnce(two_stages()), 1)
        assert not never.go_on.any()

    def test_wrong_input_is_refused(self) -> None:
        four = TableProblem([0.25] * 4, np.full((1, 2, 4), 0.5), prices=0.1)
        with pytest.raises(ValueError, match="2 or 3 classes, here are 4"):
            StoppingRegionDisplay.from_policy(AskOnce(four))
        with pytest.raises(ValueError, match="classes must have 2 labels"):
            StoppingRegionDisplay.from_policy(AskOnce(two_stages()), classes=["a"])
        with pytest.raises(ValueError, match="horizon is 0"):
            StoppingRegionDisplay.from_policy(AskOnce(two_stages(), 0))


def test_long_texts_are_cut_in_the_middle() -> None:
    labels = ["short", "a name that differs from others at its end 17"]
    display = AccuracyFeaturesDisplay.from_points(["m", "m"], [1, 9], [0.5, 0.9], labels=labels)
    short, cut = (text.get_text() for text in display.texts_)
    assert short == "short"
    assert len(cut) == 16
    assert cut.startswith("a name")
    assert cut.endswith("17")
    words = [
        "several words that do not fit on one line, nor on two of them",
        "remarkable treatments afterwards something",
    ]
    path = BeliefPathDisplay([[0.5, 0.5]], names=[], values=[], classes=words, decision=words[0], paid=0.0)
    path.plot()
    label, fourth, stop = (text.get_text() for text in path.ax_.get_legend().get_texts())
    for wrapped in (label, fourth, stop):
        lines = wrapped.split("\n")
        assert max(map(len, lines)) <= 16
        assert 2 <= len(lines) <= 3
    assert label.endswith("them")
    assert stop.endswith("them")
    assert "…" in fourth  # no word is left out without a sign
    assert fourth.endswith("something")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"seqclass\[plot\]"):
        AccuracyFeaturesDisplay.from_points(["a"], [1], [0.5])


@pytest.mark.slow
def test_the_import_leaves_matplotlib_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is imported anew, by a process that seems to have neither it nor matplotlib as yet."""

    def loaded(package: str) -> list[str]:
        return [name for name in sys.modules if name.split(".")[0] == package]

    for name in loaded("seqclass") + loaded("matplotlib"):
        monkeypatch.delitem(sys.modules, name)
    try:
        again = importlib.import_module("seqclass.plots")
        assert again.AccuracyFeaturesDisplay is not AccuracyFeaturesDisplay
        assert not loaded("matplotlib")
    finally:
        for name in loaded("seqclass"):
            del sys.modules[name]


@pytest.mark.slow
def test_stopping_regions_of_a_classifier_that_draws_lots(cancer: Any) -> None:
    clf = SequentialClassifier(target_cost=0.015, feature_costs=0.01, solver=COARSE).fit(*cancer)
    assert isinstance(clf.policy_, RandomisedPolicy)
    probability = clf.policy_.probabilities
    for lot, part in enumerate(clf.policy_.policies):
        display = StoppingRegionDisplay.from_estimator(clf, lot=lot, resolution=50)
        alone = StoppingRegionDisplay.from_policy(part, resolution=50)
        np.testing.assert_array_equal(display.go_on, alone.go_on)
        np.testing.assert_array_equal(display.continuation_cost, alone.continuation_cost)
        assert np.isfinite(display.continuation_cost).all()
        wanted = f"lot {lot} of 2, drawn with probability {probability[lot]:.2g}"
        assert display.ax_.get_title().endswith(wanted)
        assert "lot" not in alone.ax_.get_title()
        assert_legible(display.figure_)
        plt.close("all")
    assert StoppingRegionDisplay.from_estimator(clf).lot == 0
    with pytest.raises(ValueError, match="lot must be between 0 and 1"):
        StoppingRegionDisplay.from_estimator(clf, lot=2)
