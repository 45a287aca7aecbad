"""What the kinds of pictures share: panels, a legend for all of them, and how each source looks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from seqclass.plots._style import COLOURS, MARKERS, colour, open_frame

#: What the sources of a row are called in a legend.
SOURCES = {
    "paper": "the paper",
    "code": "the authors' code",
    "published": "ours, the paper's settings",
    "ours": "ours, our defaults",
}
#: How each looks: what is quoted has thin crosses, what is ours a line.
STYLES: Mapping[str, Mapping[str, Any]] = {
    "paper": {"marker": "x", "markersize": 7, "markeredgewidth": 1.8, "linestyle": ":", "linewidth": 1.0, "zorder": 5},
    "code": {"marker": "+", "markersize": 9, "markeredgewidth": 1.8, "linestyle": "none", "zorder": 5},
    "published": {
        **{"marker": "o", "markersize": 6.5, "markerfacecolor": "white", "markeredgewidth": 1.3},
        **{"linestyle": "--", "linewidth": 1.4, "zorder": 3},
    },
    "ours": {"marker": "s", "markersize": 3.8, "linestyle": "-", "linewidth": 1.7, "zorder": 4},
}
#: Colour of each where colours do not tell methods apart.
PAINT = {"paper": "black", "code": COLOURS[2], "published": COLOURS[0], "ours": COLOURS[1]}
#: Inches across: as wide as the text of a page, and of a single panel.
_WIDTH, _NARROW = 8.4, 6.4
#: Inches of a letter, and of the mark, in a legend.
_LETTER, _MARK = 0.072, 0.6


def panels(figure: Any, n_rows: int, n_columns: int, height: float = 2.1, **shared: Any) -> Any:
    """Axes of a figure, (n_rows, n_columns); a whole figure is made as large as they need."""
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(_WIDTH if n_columns > 1 else _NARROW, 0.95 + height * n_rows)
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **shared)
    for ax in axes.flat:
        open_frame(ax)
        ax.tick_params(labelsize=8)
    return axes


def legend(figure: Any, order: Sequence[str] = ()) -> None:
    """One legend below all panels, in an order if one is given; nothing where no line has a name."""
    found: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            found.setdefault(label, handle)
    found = {label: found[label] for label in (*order, *found) if label in found}
    if found:
        width = figure.bbox.width / figure.dpi
        columns = max(1, int(width / (_LETTER * max(map(len, found)) + _MARK)))
        columns = math.ceil(len(found) / math.ceil(len(found) / columns))  # rows of about the same length
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": columns}
        figure.legend(list(found.values()), list(found), fontsize=8.5, frameon=False, **place)


def label_panels(axes: Any, columns: Sequence[str], rows: Sequence[str], x: str) -> None:
    """Titles above the columns, what is measured beside the rows, and the axis across below."""
    for ax, name in zip(axes[0], columns):
        ax.set_title(name if len(columns) > 1 else "", fontsize=9.5)
    for ax, name in zip(axes[:, 0], rows):
        ax.set_ylabel(name, fontsize=9)
    for ax in axes[-1] if len(columns) > 1 else axes[:, 0]:
        ax.set_xlabel(x, fontsize=9)


def painted(i: int, source: str, several: bool, alone: bool = False) -> dict[str, Any]:
    """Style of a line: its colour tells methods apart where there are several, and sources where there is one."""
    if alone and several:
        return {**STYLES["ours"], "marker": MARKERS[i % len(MARKERS)], "markersize": 5.5, "color": colour(i)}
    return {**STYLES[source], "color": colour(i) if several else PAINT[source]}


def wide_apart(figure: Any, n_columns: int, spots: Sequence[float], labels: Sequence[str]) -> set[int]:
    """Numbers of the labels below an axis that do not touch each other, the first and the last among them."""
    width = (figure.bbox.width / figure.dpi - 0.7 * n_columns) / n_columns

    def fits(a: int, b: int) -> bool:
        return bool((spots[b] - spots[a]) * width >= _LETTER * (len(labels[a]) + len(labels[b])) / 2 + 0.06)

    last = len(spots) - 1
    kept = [0]
    for k in range(1, last):
        if fits(kept[-1], k) and fits(k, last):
            kept.append(k)
    return {*kept, last}
