"""Selection over time: what is drawn is what the runs say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import Perceptron

mpl.use("Agg")
import matplotlib.pyplot as plt

from seqclass.plots import SelectionMapDisplay, StabilityDisplay
from seqclass.plots.stability import mark_events, smooth
from seqclass.selection import FIRES, OFS, prequential
from seqclass.selection.prequential import Prequential


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def made(selected: list[list[int]], n_features: int, **values: Any) -> Prequential:
    n = len(selected)
    supports = tuple(np.array(chosen, dtype=np.intp) for chosen in selected)
    seconds = np.full(n, 0.5)
    accuracy, stability = (np.array(values.get(name, np.full(n, np.nan))) for name in ("accuracy", "stability"))
    return Prequential(accuracy, stability, supports, seconds, 2 * seconds, n_features)


@pytest.fixture(scope="module")
def runs() -> dict[str, Prequential]:
    X = np.random.default_rng(0).normal(size=(3000, 30))
    y = np.where((X[:, 7] > X[:, 12]) == (np.arange(3000) < 1500), "yes", "no")
    selectors = {"FIRES": FIRES(2), "OFS": OFS(2), "all": None}
    return {name: prequential(selector, Perceptron(), X, y) for name, selector in selectors.items()}


@pytest.mark.slow
def test_lines_are_sliding_means_of_the_runs(runs: dict[str, Prequential]) -> None:
    display = StabilityDisplay.from_runs(runs, window=4, title="A stream", events={15: "drift"})
    assert [ax.get_ylabel() for ax in display.ax_] == ["accuracy", "stability", "new features"]
    assert [line.get_label() for line in display.lines_[0]] == ["FIRES", "OFS", "all"]
    for lines, measure in zip(display.lines_, ("accuracy", "stability")):
        for line, run in zip(lines, runs.values()):
            value, drawn = getattr(run, measure), line.get_ydata()
            assert np.isnan(drawn).tolist() == np.isnan(value).tolist()
            for t in np.flatnonzero(~np.isnan(value)):
                assert drawn[t] == pytest.approx(np.nanmean(value[max(0, t - 3) : t + 1]))
    assert display.figure_.get_suptitle() == "A stream"
    assert display.ax_[0].texts[0].get_text().strip() == "drift"
    assert display.ax_[2].get_xlabel() == "batch (lines: mean of 4 batches)"
    faint = [line for line in display.ax_[0].lines if line.get_alpha() == 0.25]
    np.testing.assert_array_equal(faint[1].get_ydata(), runs["OFS"].accuracy)
    display.figure_.canvas.draw()


def test_new_features_sizes_and_seconds_by_hand() -> None:
    run = made([[0, 1], [0, 2], [0, 2], [], [3, 4, 5]], 6)
    display = StabilityDisplay(run, measures=["changed", "n_selected", "seconds"], window=1).plot()
    changed, sizes, seconds = (lines[0].get_ydata().tolist() for lines in display.lines_)
    assert np.isnan(changed[0])
    assert changed[1:] == [1, 0, 0, 3]
    assert sizes == [2, 2, 2, 0, 3]
    assert seconds == [1.5] * 5
    assert display.ax_[2].get_xlabel() == "batch"
    assert len(display.ax_[0].lines) == 1  # nothing faint behind values as they are
    assert display.figure_.legends == []


@pytest.mark.slow
def test_nothing_known_is_drawn_as_nothing() -> None:
    run = made([[0]], 2)
    display = StabilityDisplay.from_runs({"short": run})
    assert all(np.isnan(lines[0].get_ydata()).all() for lines in display.lines_)
    display.figure_.canvas.draw()


def test_smoothing_skips_what_is_not_known() -> None:
    value = np.array([np.nan, 1.0, np.nan, 3.0, 8.0])
    np.testing.assert_allclose(smooth(value, 3), [np.nan, 1.0, np.nan, 2.0, 5.5])
    np.testing.assert_allclose(smooth(value, 1), value)
    np.testing.assert_allclose(smooth(value, 100), [np.nan, 1.0, np.nan, 2.0, 4.0])
    assert smooth(np.empty(0), 3).shape == (0,)


@pytest.mark.slow
def test_axes_that_are_given(runs: dict[str, Prequential]) -> None:
    figure, ax = plt.subplots(2, 1)
    display = StabilityDisplay.from_runs(runs, measures=["accuracy", "stability"], ax=ax)
    assert display.figure_ is figure
    assert ax[1].get_legend() is not None
    with pytest.raises(ValueError, match="one axes for each of the 3 measures"):
        StabilityDisplay.from_runs(runs, ax=ax)


def test_refusals(runs: dict[str, Prequential]) -> None:
    with pytest.raises(ValueError, match="'speed'; they may be 'accuracy'"):
        StabilityDisplay(runs, measures=["speed"])
    with pytest.raises(ValueError, match="name at least one each"):
        StabilityDisplay({})
    with pytest.raises(TypeError, match=r"a dict of them, got \[0.5"):
        StabilityDisplay({"OFS": [0.5, 0.6]})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="window"):
        StabilityDisplay(runs, window=0)
    with pytest.raises(TypeError, match="run must be a result of prequential, got"):
        SelectionMapDisplay(runs)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no batches"):
        SelectionMapDisplay(made([], 3))
    with pytest.raises(ValueError, match="each of the 30 features, got 1"):
        SelectionMapDisplay(runs["OFS"], names=["a"])


def test_map_by_hand() -> None:
    run = made([[5, 1], [5], [2, 5], [2]], 7)
    display = SelectionMapDisplay.from_run(run, names=list("abcdefg"), title="Held", events={2: "drift"})
    assert display.features.tolist() == [1, 5, 2]  # by their mean time: 0, 1 and 2.5
    assert display.share.tolist() == [[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]]
    assert [text.get_text() for text in display.ax_.get_yticklabels() if text.get_text()] == ["b", "f", "c"]
    assert display.ax_.get_ylabel() == "features selected"
    fewer = SelectionMapDisplay.from_run(run, max_features=2)
    assert fewer.features.tolist() == [5, 2]
    assert fewer.ax_.get_ylabel() == "2 of 3 features selected"
    display.figure_.canvas.draw()


def test_map_of_a_stream_says_what_the_run_says(runs: dict[str, Prequential]) -> None:
    run = runs["OFS"]
    display = SelectionMapDisplay(run, max_features=1000)
    assert display.n_selected == len(np.unique(np.concatenate(run.selected)))
    for row, feature in zip(display.share, display.features):
        assert row.tolist() == [float(feature in chosen) for chosen in run.selected]
    assert SelectionMapDisplay(runs["all"]).share.min() == 1.0


def test_long_streams_are_drawn_in_groups() -> None:
    run = made([[t // 500, 9] for t in range(1001)], 10)
    display = SelectionMapDisplay.from_run(run)
    assert display.batches == 3
    assert display.share.shape == (4, 334)
    shares = dict(zip(display.features.tolist(), display.share))
    assert shares[9].tolist() == [1.0] * 334
    assert shares[0][:168].tolist() == [1.0] * 166 + [pytest.approx(2 / 3), 0.0]  # batches 498, 499, 500
    assert shares[2][-1] == 0.5  # the last group has two
    assert display.ax_.get_xlabel() == "batch (a column: share of 3 batches)"
    assert display.ax_.get_xlim() == (-0.5, 1000.5)


def test_map_of_nothing() -> None:
    display = SelectionMapDisplay.from_run(made([[], []], 4))
    assert display.share.shape == (0, 2)
    assert display.ax_.get_ylabel() == "no feature was selected"
    display.figure_.canvas.draw()


def test_what_is_no_record_is_told() -> None:
    wrong: object = []
    with pytest.raises(TypeError, match=r"a dict of them, got \[\]"):
        StabilityDisplay(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a dict of them, got \[\]"):
        StabilityDisplay({"one": wrong})  # type: ignore[dict-item]


def test_events_stand_at_their_batch() -> None:
    _, axes = plt.subplots(2)
    mark_events(axes, {3: "drift"})
    assert [list(np.unique(ax.lines[0].get_xdata())) for ax in axes] == [[3], [3]]
    assert [(text.get_text().strip(), text.get_position()[0]) for text in axes[0].texts] == [("drift", 3)]
    assert not axes[1].texts
