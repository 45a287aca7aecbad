"""Critical-difference diagram: methods on an axis of average ranks, bars over those that do not differ."""

from __future__ import annotations

import numpy as np

from seqclass.report._axes import Scale
from seqclass.report._markup import Markup, element
from seqclass.statistics import CriticalDifference

_WIDTH = 680.0
_AXIS = 60.0
_LINE, _BAR = 24.0, 12.0
_LONGEST = 28


def rank_diagram(result: CriticalDifference, key: str, title: str) -> Markup:
    """Draw a critical-difference diagram.

    Parameters
    ----------
    result : CriticalDifference
        Average ranks, critical difference and groups.
    key : str
        Ends the ids of the picture's parts.
    title : str
        What it shows.

    Returns
    -------
    Markup
        An ``svg`` element.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, Fig. 1.
    """
    k = len(result.names)
    scale = Scale(1.0, float(k), 210.0, _WIDTH - 210.0)
    bars = _AXIS + 8 + _BAR * (len(result.groups) + 1)
    parts = [*_axis(result, scale, k), *_methods(result, scale, k, bars)]
    ranks = dict(zip(result.names, result.average_ranks.tolist()))
    for i, group in enumerate(result.groups, 1):
        ends = [scale(ranks[name]) for name in group]
        y = _AXIS + 4 + _BAR * i
        parts.append(element("line", x1=min(ends) - 4, x2=max(ends) + 4, y1=y, y2=y, class_="bar"))
    height = bars + _LINE * ((k + 1) // 2) + 4
    return element(
        "svg",
        element("title", title, id=f"title-{key}"),
        element("desc", _told(result), id=f"desc-{key}"),
        *parts,
        viewBox=f"0 0 {_WIDTH:g} {height:g}",
        role="img",
        class_="wide",
        aria_labelledby=f"title-{key} desc-{key}",
    )


def _told(result: CriticalDifference) -> str:
    groups = "; ".join(", ".join(group) for group in result.groups)
    return f"Average ranks: {result}. " + (f"Not told apart: {groups}." if groups else "All are told apart.")


def _axis(result: CriticalDifference, scale: Scale, k: int) -> list[Markup]:
    """Draw the axis of ranks, and the critical difference above it."""
    parts = [element("line", x1=scale.start, x2=scale.end, y1=_AXIS, y2=_AXIS, class_="axis")]
    step = -(-k // 12)
    for rank in range(1, k + 1, step):
        at = scale(float(rank))
        parts.append(element("line", x1=at, x2=at, y1=_AXIS - 6, y2=_AXIS, class_="axis"))
        parts.append(element("text", str(rank), x=at, y=_AXIS - 11, text_anchor="middle", class_="small"))
    width, beyond = result.critical_difference, result.critical_difference > k - 1
    end = scale(1 + min(width, k - 1.0))
    parts.append(element("path", d=f"M{scale.start:.2f},14 v8 m0,-4 H{end:.2f} m0,-4 v8", class_="axis"))
    text = f"critical difference {width:.2f}{', beyond the axis' if beyond else ''}"
    # to the right of the bar there may be no room
    parts.append(element("text", text, x=scale.start, y=10.0, class_="small"))
    return parts


def _methods(result: CriticalDifference, scale: Scale, k: int, bars: float) -> list[Markup]:
    """Draw a line from each rank to its name: the better half on the left, the others on the right."""
    parts = []
    left = (k + 1) // 2
    for place, method in enumerate(np.argsort(result.average_ranks, kind="stable").tolist()):
        rank = float(result.average_ranks[method])
        on_left = place < left
        y = bars + _LINE * (place if on_left else k - 1 - place) + 4
        end, gap = (scale.start - 14, -6) if on_left else (scale.end + 14, 6)
        parts.append(element("path", d=f"M{scale(rank):.2f},{_AXIS:g} V{y:.2f} H{end:.2f}", class_="axis"))
        name = result.names[method]
        shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        inside = f"{shown}  {rank:.2f}"
        anchor = "end" if on_left else "start"
        parts.append(element("text", inside, x=end + gap, y=y + 4, text_anchor=anchor))
    return parts
