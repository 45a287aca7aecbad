"""Whether the belief can be trusted on the way, as curves of confidence against accuracy."""

from __future__ import annotations

import math

from seqclass.plots import StagewiseCalibrationDisplay
from seqclass.plots.accuracy_features import wilson
from seqclass.report._axes import N_COLOURS, Scale, cross, frame, marker, round_ticks, sample
from seqclass.report._frame import NARROW, features, figure
from seqclass.report._markup import Markup, element
from seqclass.report._tables import Number, count, number


def calibration_curves(key: str, found: StagewiseCalibrationDisplay) -> Markup:
    """Confidence against accuracy, a curve for each number of features.

    Parameters
    ----------
    key : str
        Ends the ids of the picture's parts.
    found : StagewiseCalibrationDisplay
        The curves.

    Returns
    -------
    Markup
        A ``figure`` element.
    """
    low = min(float(found.confidence[k].min()) for k in found.counts)
    low = max(0.0, math.floor(10 * low - 0.2) / 10)
    ends = [wilson(found.accuracy[k], found.size[k].astype(float)) for k in found.counts]
    bottom = min(low, *(float(reach.min()) - 0.02 for reach in ends))
    x, y = Scale(low, 1.0, 52.0, NARROW - 12), Scale(max(bottom, 0.0), 1.0, 250.0, 30.0)
    marks = [(value, f"{value:g}") for value in round_ticks(low, 1.0)]
    parts = [frame(x, y, marks, "confidence: probability of the likeliest class", "accuracy of that class")]
    parts.append(element("line", x1=x(low), y1=y(max(low, y.low)), x2=x(1.0), y2=y(1.0), class_="ideal"))
    legend, told = [], []
    listed: list[list[str | Number]] = []
    for i, k in enumerate(found.counts):
        parts += _curve(i, k, found, x, y)
        said = f"after {features(k)}: {int(found.size[k].sum()):,} instances, error {found.error[k]:.3f}"
        legend.append(element("li", sample(i), said))
        told.append(said)
        listed += [[count(k), number(c, 4), number(a, 4), count(m)] for c, a, m in _points(found, k)]
    header = ["features", "confidence", "accuracy", "instances"]
    below = element("ul", *legend, class_="legend")
    return figure(key, "Calibration along the way", "; ".join(told), parts, (NARROW, 300.0), header, listed, below)


def _points(found: StagewiseCalibrationDisplay, k: int) -> list[tuple[float, float, int]]:
    return list(zip(found.confidence[k].tolist(), found.accuracy[k].tolist(), found.size[k].tolist()))


def _curve(i: int, k: int, found: StagewiseCalibrationDisplay, x: Scale, y: Scale) -> list[Markup]:
    """Curve after ``k`` features, with 95% intervals of each accuracy."""
    points = _points(found, k)
    steps = " L".join(f"{x(c):.2f},{y(a):.2f}" for c, a, _ in points)
    parts = [element("path", d=f"M{steps}", class_=f"s{i % N_COLOURS} way")]
    ends = wilson(found.accuracy[k], found.size[k].astype(float)).tolist()
    for (c, a, m), (least, most) in zip(points, ends):
        parts.append(cross(i, (x(c), math.nan, math.nan), (y(a), y(least), y(most))))
        parts.append(marker(i, x(c), y(a), f"after {features(k)}: {c:.3f} sure, {a:.3f} right, {m:,} instances"))
    return parts
