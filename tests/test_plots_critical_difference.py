"""The critical-difference diagram draws what its record says."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from seqclass.plots import CriticalDifferenceDisplay
from seqclass.stats import critical_difference

SCORES = np.random.default_rng(0).normal(size=(20, 7)) + np.arange(7) * 0.5
NAMES = ["first", "second", "third", "fourth", "fifth", "sixth", "a method whose name is far too long to be shown"]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def bars(display: CriticalDifferenceDisplay) -> list[tuple[float, float]]:
    return [tuple(line.get_xdata()) for line in display.ax_.lines if line.get_linewidth() == 4]


def test_every_method_stands_at_its_rank() -> None:
    display = CriticalDifferenceDisplay.from_scores(SCORES, names=NAMES, title="Ranks")
    texts = [text.get_text() for text in display.ax_.texts]
    leads = [line.get_xdata()[0] for line in display.ax_.lines if len(line.get_xdata()) == 3]
    assert sorted(leads) == pytest.approx(sorted(display.result.average_ranks))
    for name, rank in zip(NAMES[:6], display.result.average_ranks):
        assert f"{name}  {rank:.2f}" in texts
    assert display.ax_.get_title() == "Ranks"
    assert any(f"{display.result.critical_difference:.2f}" in text for text in texts)


def test_a_bar_for_each_group() -> None:
    display = CriticalDifferenceDisplay.from_scores(SCORES, names=NAMES)
    rank = dict(zip(NAMES, display.result.average_ranks))
    drawn = bars(display)
    assert len(drawn) == len(display.result.groups) > 1
    for (left, right), group in zip(drawn, display.result.groups):
        ranks = [rank[name] for name in group]
        assert left == pytest.approx(min(ranks), abs=0.1)
        assert right == pytest.approx(max(ranks), abs=0.1)


def test_names_do_not_overlap() -> None:
    display = CriticalDifferenceDisplay.from_scores(SCORES, names=NAMES)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    overlaps = [(i, j) for i, a in enumerate(boxes) for j, b in enumerate(boxes[:i]) if a.overlaps(b)]
    assert overlaps == []
    width, height = display.figure_.canvas.get_width_height()
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= width and b.y1 <= height for b in boxes)


def test_on_given_axes_and_without_groups() -> None:
    _, ax = plt.subplots()
    result = critical_difference(np.tile([3.0, 2.0, 1.0], (60, 1)))
    display = CriticalDifferenceDisplay(result).plot(ax)
    assert display.ax_ is ax
    assert bars(display) == []


def test_a_difference_beyond_the_axis_says_so() -> None:
    display = CriticalDifferenceDisplay.from_scores([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert any("beyond the axis" in text.get_text() for text in display.ax_.texts)
