"""A quantity seed by seed: a box and its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.pictures._panels import PAINT, SOURCES, label_panels, legend, panels
from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.row import Curve, Drawn, Row
from seqclass.plots._style import COLOURS, FAINT, wrap

__all__ = ["SeedPicture"]

#: Share of the distance between two boxes that their points are spread over.
_WIDTH = 0.36


@dataclass(frozen=True)
class SeedPicture(Picture):
    """Boxes of a quantity over seeds, with a point a seed: a panel a data set, a box a method and source.

    Attributes
    ----------
    quantity : str
        What is drawn.
    seeds : str
        What the seeds are, for the legend.
    dropped : str
        End of the methods' names that all have, and that need not be told again.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curve = Curve("Madelon", "SAOLA", "accuracy", "published", (0.0, 1.0, 2.0), (0.5, 0.6, 0.55))
    >>> figure = Figure(layout="constrained")
    >>> SeedPicture("accuracy", "one order").draw(figure, [], [curve])
    >>> len(figure.axes[0].collections[0].get_offsets())
    3
    """

    quantity: str
    seeds: str
    dropped: str = ""

    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw the curves."""
        wanted = [c for c in curves if isinstance(c, Curve) and c.quantity == self.quantity]
        wanted = [c for c in wanted if np.isfinite(c.y).any()]
        sets = list(dict.fromkeys(c.data for c in wanted))
        if not sets:
            raise NothingToDraw("figures by seed")
        axes = panels(figure, 1, len(sets), 2.8)
        for ax, name in zip(axes[0], sets):
            here = [c for c in wanted if c.data == name]
            for place, curve in enumerate(here):
                self._draw(ax, place, curve)
            told = [wrap(c.method.removesuffix(self.dropped), 14) for c in here]
            ax.set_xticks(range(len(here)), told, fontsize=8.5)
            ax.set_xlim(-0.6, len(here) - 0.4)
            ax.grid(visible=False, axis="x")
        label_panels(axes, sets, [self.quantity], "")
        legend(figure)

    def _draw(self, ax: Any, place: int, curve: Curve) -> None:
        y = np.array(curve.y)
        y = y[~np.isnan(y)]
        box = {"widths": 0.5, "showfliers": False, "medianprops": {"color": COLOURS[-1], "linewidth": 1.6}}
        lines = {name: {"color": FAINT, "linewidth": 1.2} for name in ("boxprops", "whiskerprops", "capprops")}
        ax.boxplot([y], positions=[place], manage_ticks=False, zorder=2, **box, **lines)
        across = place + _WIDTH * ((np.arange(len(y)) + 0.5) / max(1, len(y)) - 0.5)
        label = f"{self.seeds}, {SOURCES[curve.source]}"
        ax.scatter(across, y, s=22, color=PAINT[curve.source], edgecolor="white", linewidth=0.5, label=label, zorder=3)
