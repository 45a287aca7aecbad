"""Error of searches against evaluations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reproduction.pictures._panels import panels
from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.row import Curve, Drawn, Row
from seqclass.plots._style import NEUTRAL, colour

__all__ = ["SearchPicture"]


@dataclass(frozen=True)
class SearchPicture(Picture):
    """Means over runs as lines, their range as areas; the baseline is grey in every panel.

    Attributes
    ----------
    groups : mapping of str to tuple of str
        Title of each panel, and the methods whose curves it shows.
    baseline : str
        Method that is shown in all panels.
    quantity : str
        What the curves show.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curves = [
    ...     Curve("made", name, "CV error", "published", (1.0, 2.0), (0.5, 0.4), (0.4, 0.3), (0.6, 0.5))
    ...     for name in ("RFS", "static")
    ... ]
    >>> figure = Figure(layout="constrained")
    >>> SearchPicture({"Groups of two": ("static",)}).draw(figure, [], curves)
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['RFS', 'static']
    """

    groups: Mapping[str, tuple[str, ...]]
    baseline: str = "RFS"
    quantity: str = "CV error"

    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw the curves."""
        found = {c.method: c for c in curves if isinstance(c, Curve) and c.quantity == self.quantity}
        groups = {title: names for title, names in self.groups.items() if any(name in found for name in names)}
        if not groups:
            raise NothingToDraw("curves")
        n_columns = 1 if len(groups) == 1 else 2
        axes = panels(figure, math.ceil(len(groups) / n_columns), n_columns, 2.4, sharex=True, sharey=True)
        for ax, (title, names) in zip(axes.flat, groups.items()):
            shown = [self.baseline, *(name for name in names if name != self.baseline)]
            for i, name in enumerate(name for name in shown if name in found):
                _draw(ax, found[name], NEUTRAL if name == self.baseline else colour(i - 1))
            ax.set_title(title, fontsize=9.5)
            ax.legend(loc="upper right", fontsize=8, frameon=False)
        for ax in list(axes.flat)[len(groups) :]:
            ax.set_axis_off()
        for ax in axes[-1]:
            ax.set_xlabel("evaluations (areas: range over the runs)", fontsize=9)
        for ax in axes[:, 0]:
            ax.set_ylabel(self.quantity, fontsize=9)


def _draw(ax: Any, curve: Curve, paint: str) -> None:
    ax.plot(curve.x, curve.y, color=paint, linewidth=1.6, label=curve.method, zorder=3)
    if curve.low:
        ax.fill_between(curve.x, curve.low, curve.high, color=paint, alpha=0.18, linewidth=0, zorder=2)
