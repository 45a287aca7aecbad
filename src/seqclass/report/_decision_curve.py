"""Decision curves of the methods on one data set, as SVG."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.decision_curves import DecisionCurve
from seqclass.plots.decision_curve import benefit_limits
from seqclass.report._axes import N_COLOURS, Scale, frame, sample, shortened
from seqclass.report._frame import NARROW, figure
from seqclass.report._markup import Markup, element
from seqclass.report._tables import Number, number, with_interval

_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, NARROW - 12, 30.0, 250.0
#: Thresholds whose figures stand in the table below.
_LISTED = tuple(k / 10 for k in range(1, 10))


def curves_figure(key: str, data: str, curves: Mapping[int, DecisionCurve]) -> Markup:
    """Net benefit less prices against threshold probability.

    Parameters
    ----------
    key : str
        Ends the ids of the picture's parts.
    data : str
        The data set.
    curves : mapping of int to DecisionCurve
        Curve of each method, by the number of its colour.

    Returns
    -------
    Markup
        A ``figure`` element.
    """
    first = next(iter(curves.values()))
    low, high = benefit_limits(list(curves.values()))
    x, y = Scale(0.0, 1.0, _LEFT, _RIGHT), Scale(low, high, _BOTTOM, _TOP)
    marks = [(k / 5, f"{k / 5:g}") for k in range(6)]
    clip = element("rect", x=_LEFT, y=_TOP, width=_RIGHT - _LEFT, height=_BOTTOM - _TOP)
    label = f"threshold probability of {shortened(first.positive, 24)}"
    parts = [
        element("defs", element("clipPath", clip, id=f"clip-{key}")),
        frame(x, y, marks, label, "net benefit less prices"),
    ]
    inside, legend = [], []
    listed: list[list[str | Number]] = []
    for i, one in curves.items():
        inside += [_area(one, i, x, y), _line(one.thresholds, one.after_price, x, y, f"s{i % N_COLOURS} curve")]
        legend.append(element("li", sample(i), one.name))
    every = first.treat_all()
    inside.append(_line(every.thresholds, every.net_benefit, x, y, "ideal none"))
    inside.append(element("line", x1=x(0.0), x2=x(1.0), y1=y(0.0), y2=y(0.0), class_="axis"))
    parts.append(element("g", *inside, clip_path=f"url(#clip-{key})"))
    legend.append(element("li", "dashed: treat all; line at 0: treat none"))
    for at in _LISTED:
        place = int(np.argmin(np.abs(first.thresholds - at)))
        figures = [with_interval(c.after_price[place], c.lower[place], c.upper[place], 3) for c in curves.values()]
        listed.append([f"{at:g}", *figures, number(float(every.net_benefit[place]), 3)])
    header = ["threshold", *(one.name for one in curves.values()), "treat all"]
    title = f"{data}: decision curves for {first.positive}"
    below = element("ul", *legend, class_="legend")
    return figure(key, title, "The figures are in the table below.", parts, (NARROW, 300.0), header, listed, below)


def _line(at: FloatArray, values: FloatArray, x: Scale, y: Scale, style: str) -> Markup:
    steps = " L".join(f"{x(float(a)):.2f},{_place(y, float(v)):.2f}" for a, v in zip(at, values))
    return element("path", d=f"M{steps}", class_=style)


def _area(one: DecisionCurve, i: int, x: Scale, y: Scale) -> Markup:
    ends = [(a, v) for a, v in zip(one.thresholds, one.lower)] + list(zip(one.thresholds[::-1], one.upper[::-1]))
    steps = " L".join(f"{x(float(a)):.2f},{_place(y, float(v)):.2f}" for a, v in ends)
    return element("path", d=f"M{steps} Z", class_=f"s{i % N_COLOURS} area")


def _place(y: Scale, value: float) -> float:
    """Place on the picture, not far beyond it: treating all falls without end."""
    return min(max(y(value), -1e3), 2e3)
