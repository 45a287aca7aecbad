"""How many features the instances of each class need, as histograms."""

from __future__ import annotations

from collections.abc import Sequence

from seqclass.plots import FeatureCountDisplay
from seqclass.report._axes import Scale, round_ticks, shortened
from seqclass.report._frame import CLASSES, LEFT, NARROW, features, figure, label, of_all
from seqclass.report._markup import Markup, element
from seqclass.report._tables import Number, count, number

_TOP, _TALL, _APART = 22.0, 30.0, 40.0


def histograms(key: str, classes: Sequence[str], n: Sequence[int], counts: FeatureCountDisplay) -> Markup:
    """Histograms of the number of features, one class above the other on the same scale.

    Parameters
    ----------
    key : str
        Ends the ids of the picture's parts.
    classes : sequence of str
        The classes.
    n : sequence of int
        Instances of each.
    counts : FeatureCountDisplay
        The histograms.

    Returns
    -------
    Markup
        A ``figure`` element.
    """
    rows, last = min(len(classes), CLASSES), float(counts.edges[-1]) - 1
    x = Scale(-0.6, last + 0.6, LEFT, NARROW - 12)
    end = _TOP + _APART * rows
    said = f"share of the class, the tallest bar {100 * float(counts.share.max()):.0f}%; a dot is the mean"
    parts = [element("text", said, x=4.0, y=12.0, class_="small")]
    for i, name in enumerate(classes[:rows]):
        base = _TOP + _APART * (i + 1)
        parts.append(label(shortened(name, 16), LEFT - 6, base - 8, "end"))
        parts.append(element("line", x1=x.start, x2=x.end, y1=base, y2=base, class_="axis"))
        parts += _bars(name, i, counts, x, base)
        parts.append(element("circle", cx=x(float(counts.mean[i])), cy=base, r=4.0, class_="dot"))
    for value in round_ticks(0.0, last, 8) if last > 0 else [0.0]:
        if value == int(value):
            parts.append(label(f"{value:g}", x(value), end + 18, "middle"))
    middle = (x.start + x.end) / 2
    parts.append(element("text", "number of features acquired", x=middle, y=end + 36, text_anchor="middle"))
    means = counts.mean.tolist()
    listed: list[list[str | Number]] = [
        [name, count(n[i]), number(means[i], 2)] for i, name in enumerate(classes[:rows])
    ]
    told = "Means: " + "; ".join(f"{name} {mean:.2f}" for name, mean in zip(classes[:rows], means))
    more = of_all(rows, len(classes), "classes")
    title = f"Number of features by class{', ' if more else ''}{more}"
    return figure(key, title, told, parts, (NARROW, end + 44), ["class", "instances", "mean"], listed)


def _bars(name: str, i: int, counts: FeatureCountDisplay, x: Scale, base: float) -> list[Markup]:
    top, width = float(counts.share.max()), int(counts.edges[1])
    parts: list[Markup] = []
    for edge, share in zip(counts.edges.tolist(), counts.share[i].tolist()):
        if share:
            told = element("title", f"{name}: {100 * share:.1f}% with {features(edge, width)}")
            high = share / top * _TALL
            sides = {"x": x(edge - 0.4), "y": base - high, "width": x(edge + width - 0.6) - x(edge - 0.4)}
            parts.append(element("rect", told, **sides, height=high, class_="solid"))
    return parts
