"""Courses over time: selectors on a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.pictures._panels import SOURCES, label_panels, legend, panels
from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.row import Curve, Drawn, Row
from seqclass._utils.validation import check_integer
from seqclass.plots._style import COLOURS, MARKERS, colour
from seqclass.plots.stability import smooth

__all__ = ["CoursePicture"]

#: Markers a line.
_MARKERS = 5


@dataclass(frozen=True)
class CoursePicture(Picture):
    """Curves of several methods against what was seen so far: a column of panels a source, a row a quantity.

    Attributes
    ----------
    x : str
        What the axis across is called.
    quantities : tuple of str
        What is drawn, from top to bottom.
    window : int
        Points of which a line shows the mean: one and those before it, fewer at the start.

    Raises
    ------
    ValueError
        If ``window`` is below 1.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curves = [Curve("KDD", "OFS", "accuracy", "ours", (25.0, 50.0, 75.0), (0.5, 0.7, 0.9))]
    >>> figure = Figure(layout="constrained")
    >>> CoursePicture("rows", ("accuracy",), window=2).draw(figure, [], curves)
    >>> figure.axes[0].lines[0].get_ydata().round(2).tolist()
    [0.5, 0.6, 0.8]
    """

    x: str
    quantities: tuple[str, ...]
    window: int = 5

    def __post_init__(self) -> None:
        check_integer(self.window, "window", 1)

    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw the curves; of several data sets, one after the other in the legend."""
        wanted = [c for c in curves if isinstance(c, Curve) and c.quantity in self.quantities]
        if not wanted:
            raise NothingToDraw("curves")
        sources = [source for source in SOURCES if any(c.source == source for c in wanted)]
        names = list(dict.fromkeys(_name(c, wanted) for c in wanted))
        axes = panels(figure, len(self.quantities), len(sources), 2.3, sharex=True, sharey="row")
        for (i, j), ax in np.ndenumerate(axes):
            for curve in wanted:
                if (curve.quantity, curve.source) == (self.quantities[i], sources[j]):
                    self._draw(ax, curve, names, _name(curve, wanted))
        x = self.x if self.window == 1 else f"{self.x} (means of {self.window} points)"
        label_panels(axes, [SOURCES[source] for source in sources], self.quantities, x)
        legend(figure)

    def _draw(self, ax: Any, curve: Curve, names: Sequence[str], name: str) -> None:
        i = names.index(name)
        y = smooth(np.array(curve.y), self.window)
        every = max(1, len(y) // _MARKERS)
        style = {"color": colour(i), "linestyle": "-" if i < len(COLOURS) else "--", "linewidth": 1.5}
        first = int(every * (i + 0.5) / len(names))  # not all at the same place: lines may cover each other
        mark = {"marker": MARKERS[i % len(MARKERS)], "markersize": 4.5, "markevery": (first, every)}
        ax.plot(curve.x, y, **style, **mark, label=name)


def _name(curve: Curve, among: Sequence[Curve]) -> str:
    """What tells a curve from the others: the method, and the data set where there are several."""
    return curve.method if len({c.data for c in among}) == 1 else f"{curve.method}, {curve.data}"
