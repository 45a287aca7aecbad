"""One quantity against another, a mark a method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.pictures._panels import SOURCES, label_panels, legend, panels
from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.row import Drawn, Row
from seqclass.plots._style import MARKERS, colour

__all__ = ["ScatterPicture"]


@dataclass(frozen=True)
class ScatterPicture(Picture):
    """Marks of methods, with bars of one standard deviation: a column of panels a source, a row a data set.

    Attributes
    ----------
    x, y : str
        Quantities across and upwards.
    variance : str
        Quantity that is the variance of ``y``; empty for none.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [Row("KDD", "OFS", "stability", ours=0.9), Row("KDD", "OFS", "accuracy", ours=0.8)]
    >>> figure = Figure(layout="constrained")
    >>> ScatterPicture("stability", "accuracy").draw(figure, rows, [])
    >>> figure.axes[0].get_ylabel()
    'accuracy'
    """

    x: str
    y: str
    variance: str = ""

    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw the rows."""
        found = {(row.data, row.method, row.quantity): row for row in rows}
        of_x = [row for row in rows if row.quantity == self.x]
        sets, names = (list(dict.fromkeys(getattr(row, what) for row in of_x)) for what in ("data", "method"))
        sources = [source for source in SOURCES if any(not math.isnan(getattr(row, source)) for row in of_x)]
        if not sources:
            raise NothingToDraw(self.x)
        axes = panels(figure, len(sets), len(sources), 2.9, sharex="row", sharey="row")
        for (i, j), ax in np.ndenumerate(axes):
            for k, name in enumerate(names):
                keys = [(sets[i], name, quantity) for quantity in (self.x, self.y, self.variance)]
                x, y, variance = (float(getattr(found[key], sources[j])) if key in found else math.nan for key in keys)
                self._mark(ax, k, name, (x, y), variance)
        bars = " (bars: one s.d.)" if self.variance else ""
        told = [f"{self.y}{bars}" if len(sets) == 1 else f"{name}\n{self.y}{bars}" for name in sets]
        label_panels(axes, [SOURCES[source] for source in sources], told, self.x)
        legend(figure)

    def _mark(self, ax: Any, k: int, name: str, at: tuple[float, float], variance: float) -> None:
        error = math.sqrt(variance) if variance > 0 else None
        style = {"color": colour(k), "elinewidth": 1.1, "capsize": 3.0, "markersize": 7.0}
        ax.errorbar([at[0]], [at[1]], yerr=error, fmt=MARKERS[k % len(MARKERS)], label=name, zorder=3, **style)
