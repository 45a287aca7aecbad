"""Axes of pictures drawn as SVG: scales, ticks, marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seqclass.report._markup import Markup, element, together

#: From this factor on a scale goes by logarithms.
FAR = 8.0
#: Colours there are in the style sheet.
N_COLOURS = 7
_SHAPES = (
    "M-4.5,0 a4.5,4.5 0 1,0 9,0 a4.5,4.5 0 1,0 -9,0 z",
    "M-4,-4 h8 v8 h-8 z",
    "M0,-5 l5,9 h-10 z",
    "M0,-5.5 l5.5,5.5 l-5.5,5.5 l-5.5,-5.5 z",
    "M0,5 l5,-9 h-10 z",
    "M-1.5,-5 h3 v3.5 h3.5 v3 h-3.5 v3.5 h-3 v-3.5 h-3.5 v-3 h3.5 z",
)


@dataclass(frozen=True)
class Scale:
    """Values to places on the picture, evenly or by their logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:  # what has no logarithm lies far off
            low, high, at = math.log(low), math.log(high), math.log(max(at, 1e-3 * low))
        return self.start + (self.end - self.start) * (at - low) / (high - low)


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values between two ends."""
    step = (high - low) / most
    power = 10.0 ** math.floor(math.log10(step))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= step * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def ticks(scale: Scale) -> list[float]:
    """Round values on a scale; by a logarithm 1, 2 and 5 of each power of ten."""
    if not scale.log:
        return round_ticks(scale.low, scale.high)
    powers = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
    steps = (1, 2, 5) if len(powers) < 5 else (1,)
    found = [float(f"{k}e{power}") for power in powers for k in steps]
    return [value for value in found if scale.low <= value <= scale.high]


def fitted(
    points: Sequence[tuple[float, float, float]],
    start: float,
    end: float,
    *,
    may_log: bool = False,
    low: float = 0.0,
    high: float = math.inf,
    zero: bool = False,
) -> Scale:
    """Scale for means and the ends of their intervals, all of them inside; by logarithms where they are far apart."""
    values = [value for point in points for value in point if not math.isnan(value)]
    means = [point[0] for point in points]
    if may_log and min(means) > 0 and max(means) >= FAR * min(means) and FAR * min(values) >= min(means):
        bottom, top = limits([math.log(value) for value in values])
        return Scale(math.exp(bottom), math.exp(top), start, end, log=True)
    bottom, top = limits([low, *values] if zero else values)
    return Scale(max(bottom, low), min(top, high), start, end)


def limits(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds all values, with some room."""
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or max(0.05 * abs(high), 1e-3)
    return low - room, high + room


def marker(number: int, x: float, y: float, title: str = "") -> Markup:
    """Mark of a method, told by its shape as well as by its colour."""
    inside = element("title", title) if title else ""
    place = f"translate({x:.2f},{y:.2f})"
    shape = _SHAPES[number % len(_SHAPES)]
    return element("path", inside, d=shape, transform=place, class_=f"s{number % N_COLOURS}")


def sample(number: int) -> Markup:
    """Mark of a method or a curve, for a legend."""
    return element("svg", marker(number, 12.0, 8.0), viewBox="0 0 24 16", aria_hidden="true")


def cross(number: int, x: tuple[float, float, float], y: tuple[float, float, float]) -> Markup:
    """Intervals of a point, along and across; NaN where there is none."""
    style = {"class_": f"s{number % N_COLOURS} spread"}
    lines = Markup("")
    if not math.isnan(x[1] + x[2]):
        lines += element("line", x1=x[1], x2=x[2], y1=y[0], y2=y[0], **style)
    if not math.isnan(y[1] + y[2]):
        lines += element("line", x1=x[0], x2=x[0], y1=y[1], y2=y[2], **style)
    return lines


def frame(x: Scale, y: Scale, x_ticks: Sequence[tuple[float, str]], x_label: str, y_label: str) -> Markup:
    """Axes with ticks and labels; of the ticks below, those that have room."""
    parts = []
    for value in ticks(y):
        parts.append(element("line", x1=x.start, x2=x.end, y1=y(value), y2=y(value), class_="grid"))
        parts.append(_text(f"{value:g}", x.start - 6, y(value) + 4, "end"))
    reached = -math.inf
    for value, label in x_ticks:
        half = 4.0 * len(label)
        if x(value) - half > reached:
            reached = x(value) + half + 6
            parts.append(element("line", x1=x(value), x2=x(value), y1=y.start, y2=y.start + 4, class_="axis"))
            parts.append(_text(label, x(value), y.start + 18, "middle"))
    parts.append(element("path", d=f"M{x.start:.2f},{y.end:.2f} V{y.start:.2f} H{x.end:.2f}", class_="axis"))
    parts.append(element("text", _scaled(x_label, x), x=(x.start + x.end) / 2, y=y.start + 38, text_anchor="middle"))
    parts.append(element("text", _scaled(y_label, y), x=4.0, y=y.end - 12, text_anchor="start"))
    return together(*parts)


def _text(text: str, x: float, y: float, anchor: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, class_="small")


def _scaled(label: str, scale: Scale) -> str:
    return f"{label} (log scale)" if scale.log else label
