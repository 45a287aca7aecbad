"""Pictures of what was acquired: what is drawn is what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from seqclass import SequentialClassifier
from seqclass.agent.record import AcquisitionRecord
from seqclass.plots import AcquisitionMapDisplay, FeatureCountDisplay, StagewiseCalibrationDisplay
from seqclass.plots.acquisition_map import acquisition_shares
from seqclass.plots.stagewise_calibration import stages_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cancer() -> tuple[SequentialClassifier, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.array(["malignant", "benign"])[y]
    return SequentialClassifier(feature_costs=0.003).fit(X[::2], y[::2]), X[1::2], y[1::2]


@pytest.fixture
def record() -> AcquisitionRecord:
    """Three instances; the second one's first feature is missing."""
    return AcquisitionRecord(
        decision=np.array(["a", "b", "b"]),
        posterior=np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]),
        n_features=np.array([1, 1, 2]),
        paid=np.array([0.1, 0.1, 0.2]),
        order=np.array([[4, -1], [4, 1], [4, 1]]),
        outcome=np.array([[0, -1], [-1, 1], [1, 1]]),
        beliefs=np.array([[[0.5, 0.5], [0.9, 0.1], [0.9, 0.1]], [[0.5, 0.5]] * 2 + [[0.3, 0.7]]] * 2)[:3],
    )


def test_map_by_hand(record: AcquisitionRecord) -> None:
    display = AcquisitionMapDisplay.from_record(record, ["a", "b", "b"])
    assert display.features == ["x4", "x1"]
    assert display.classes == ["a", "b"]
    np.testing.assert_allclose(display.share, [[1.0, 0.0], [0.5, 1.0]])
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a (n = 1)", "b (n = 2)"]


@pytest.mark.parametrize("n_classes, every", [(40, 1), (41, 2)])
def test_map_names_forty_classes_and_of_more_every_second(n_classes: int, every: int) -> None:
    classes = [f"c{i:02d}" for i in range(n_classes)]
    display = AcquisitionMapDisplay(np.ones((n_classes, 1)), ["x0"], classes).plot()
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == classes[::every]


def test_map_of_classifier_says_what_it_leaves_out(cancer: tuple[SequentialClassifier, Any, Any]) -> None:
    clf, X, y = cancer
    record = clf.acquire(X)
    display = AcquisitionMapDisplay.from_estimator(clf, X, y, max_features=2)
    for j, name in enumerate(display.features):
        column = list(X.columns).index(name)
        for i, label in enumerate(display.classes):
            assert display.share[i, j] == pytest.approx((record.order[y == label] == column).any(axis=1).mean())
    assert display.features == [X.columns[c] for c in clf.order_[: len(display.features)]]
    assert display.image_.get_array().shape == (2, 2)
    display.figure_.draw_without_rendering()
    for text in display.figure_.findobj(matplotlib.text.Text):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent()
            assert min(box.x0, box.y0) > -1, text
            assert box.x1 < display.figure_.bbox.width + 1, text
            assert box.y1 < display.figure_.bbox.height + 1, text
    assert f"the first 2 of {len(display.features)}" in display.ax_.get_xlabel()


def test_nothing_acquired() -> None:
    empty = np.empty((2, 0), dtype=int)
    nothing = AcquisitionRecord(np.array([0, 1]), np.full((2, 2), 0.5), np.zeros(2, int), np.zeros(2), empty, empty)
    assert AcquisitionMapDisplay.from_record(nothing, [0, 1]).ax_.get_xlabel() == "no feature was acquired"
    assert FeatureCountDisplay.from_record(nothing, [0, 1]).share.tolist() == [[1.0], [1.0]]


def test_map_and_labels_refuse_what_does_not_fit(record: AcquisitionRecord) -> None:
    with pytest.raises(ValueError, match="one label for each of the record's 3"):
        AcquisitionMapDisplay.from_record(record, ["a"])
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        AcquisitionMapDisplay([[1.5]], ["x"], ["a"])
    with pytest.raises(ValueError, match="share"):
        AcquisitionMapDisplay([[1.0]], ["x", "y"], ["a"])


def test_counts_are_the_classes_histograms(cancer: tuple[SequentialClassifier, Any, Any]) -> None:
    clf, X, y = cancer
    number = clf.acquire(X).n_features
    display = FeatureCountDisplay.from_estimator(clf, X, y)
    for i, label in enumerate(display.classes):
        mine = number[y == label]
        np.testing.assert_allclose(display.share[i] * mine.size, np.bincount(mine, minlength=number.max() + 1))
        assert display.mean[i] == pytest.approx(mine.mean())
        heights = [bar.get_height() for bar in display.bars_[i]]
        np.testing.assert_allclose(heights, display.share[i] / display.share.max() * 0.82)


def test_many_counts_share_bars() -> None:
    display = FeatureCountDisplay(np.arange(100), np.zeros(100))
    assert display.edges[1] == 3
    assert display.share.shape == (1, 34)
    assert display.share.sum() == pytest.approx(1.0)


def test_calibration_takes_the_belief_after_the_kth_answer(record: AcquisitionRecord) -> None:
    settings: dict[str, Any] = {"classes": ["a", "b"], "counts": [0, 1, 2], "n_bins": 1}
    display = StagewiseCalibrationDisplay.from_record(record, ["a", "b", "a"], **settings)
    np.testing.assert_allclose(display.confidence[1], (0.9 + 0.7 + 0.9) / 3)  # the second's first answer was missing
    np.testing.assert_allclose(display.accuracy[1], 1.0)
    assert display.size[2].tolist() == [1]
    np.testing.assert_allclose(display.accuracy[0], 2 / 3)


def test_calibration_of_a_true_model_is_good() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=20_000)
    X = (rng.random((len(y), 6)) < np.where(y, 0.8, 0.25)[:, None]).astype(int)
    clf = SequentialClassifier(discretizer="precomputed", feature_costs=0.005).fit(X, y)
    display = StagewiseCalibrationDisplay.from_estimator(clf, X, y)
    assert len(display.lines_) == len(display.counts) > 2
    assert max(display.error.values()) < 0.02


def test_calibration_points_stand_for_enough_instances() -> None:
    belief = np.linspace(0.5, 1.0, 65)
    display = StagewiseCalibrationDisplay({3: np.column_stack([belief, 1 - belief])}, {3: belief > 0.6}, n_bins=8)
    assert display.size[3].min() >= 20
    assert display.size[3].sum() == 65


def test_calibration_refuses(record: AcquisitionRecord, cancer: tuple[SequentialClassifier, Any, Any]) -> None:
    clf, X, y = cancer
    with pytest.raises(ValueError, match="record_beliefs=True"):
        StagewiseCalibrationDisplay.from_record(clf.acquire(X), y, classes=clf.classes_)
    with pytest.raises(ValueError, match="classes must have 2 labels"):
        StagewiseCalibrationDisplay.from_record(record, ["a"] * 3, classes=["a"])
    with pytest.raises(ValueError, match="0 to 2"):
        StagewiseCalibrationDisplay.from_record(record, ["a"] * 3, classes=["a", "b"], counts=[3])


def test_shares_are_in_the_order_of_steps_from_one(cancer: Any) -> None:
    clf, X, y = cancer
    _, steps, share = acquisition_shares(clf.acquire(X), (y == "benign").astype(int))
    assert steps[0] == 1.0
    assert (np.diff(steps.round(9)) >= 0).all()
    assert share[:, 0].min() == 1.0


def test_stages_end_where_too_few_acquired_more() -> None:
    assert stages_of(np.array([1, 2, 2, 3, 9]), None, 2) == [1, 2, 3]
    assert stages_of(np.array([0, 1]), None, 2) == [0]
