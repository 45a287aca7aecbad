"""Lines against what a table varies: bins, prices, missing cells, classes, budgets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.pictures._panels import (
    SOURCES,
    label_panels,
    legend,
    painted,
    panels,
    wide_apart,
)
from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.row import Drawn, Row
from seqclass._utils.arrays import FloatArray

__all__ = ["LinePicture"]

#: Beyond this ratio of the largest to the median number of features their axis is logarithmic above 1.
_WIDE = 8.0


@dataclass(frozen=True)
class LinePicture(Picture):
    """Lines of one or several methods against a number: a column of panels a data set, a row a quantity.

    Attributes
    ----------
    x : str
        What the axis across is called.
    at : mapping of str to (str, float)
        By method of a row, or by its data set: name of the line, and place on the axis across. By data set all sets lie
        in one panel, and the lines are methods, whatever is named.
    quantities : tuple of str
        What is drawn of the table's quantities, from top to bottom.
    log : bool
        Whether the axis across is logarithmic; 0 then stands apart, to the left.
    levels : tuple of str
        Methods that do not depend on the place: a level line each.
    quoted : str
        Name of the paper's figures where they are not those of the same methods, and so are drawn once.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> picture = LinePicture("bins", {f"ETANA, {n} bins": ("ETANA", n) for n in (2, 4)}, ("accuracy",))
    >>> rows = [Row("MLL", f"ETANA, {n} bins", "accuracy", published=0.9, ours=0.95) for n in (2, 4)]
    >>> figure = Figure(layout="constrained")
    >>> picture.draw(figure, rows, [])
    >>> [line.get_label() for line in figure.axes[0].lines]
    ["ours, the paper's settings", 'ours, our defaults']
    """

    x: str
    at: Mapping[str, tuple[str, float]]
    quantities: tuple[str, ...]
    log: bool = False
    levels: tuple[str, ...] = ()
    quoted: str = ""

    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw the rows."""
        rows = [row for row in rows if row.quantity in self.quantities]
        columns = list(dict.fromkeys(self._panel(row) for row in rows))
        known = [source for source in SOURCES if any(not math.isnan(getattr(row, source)) for row in rows)]
        if not known:
            raise NothingToDraw("figures")
        shown = [quantity for quantity in self.quantities if any(row.quantity == quantity for row in rows)]
        across = len(columns) == 1  # quantities then lie beside each other
        axes = panels(figure, 1, len(shown), 2.6) if across else panels(figure, len(shown), len(columns), sharex="col")
        axes = axes.reshape(len(shown), len(columns))
        names = list(dict.fromkeys(name for row in rows for name, _ in self._place(row)))
        for (i, j), ax in np.ndenumerate(axes):
            here = [row for row in rows if (row.quantity, self._panel(row)) == (shown[i], columns[j])]
            self._draw(ax, here, names, known)
            if shown[i].endswith(", s"):
                ax.set_yscale("log")
            elif shown[i] == "features":
                _count(ax)
        self._mark(figure, axes.reshape(1, -1) if across else axes, rows)
        told = [f"{quantity.removesuffix(', s')} (s)" if quantity.endswith(", s") else quantity for quantity in shown]
        label_panels(axes, columns, told, self.x)
        legend(figure, [self._label(name, source, names, known) for source in known for name in names])

    def _by_data(self, row: Row) -> bool:
        return row.data in self.at

    def _panel(self, row: Row) -> str:
        return "" if self._by_data(row) else row.data

    def _place(self, row: Row) -> Iterator[tuple[str, float]]:
        """Line and place of a row; none of a level."""
        if self._by_data(row):
            yield row.method, self.at[row.data][1]
        elif row.method in self.at:
            yield self.at[row.method]

    def _draw(self, ax: Any, rows: Sequence[Row], names: Sequence[str], known: Sequence[str]) -> None:
        for source in known:
            once = source == "paper" and bool(self.quoted)
            several = len(names) > 1 and not once
            for i, name in enumerate(names[:1] if once else names):
                x, y = self._points(rows, name, source)
                if np.isfinite(y).any():
                    label = self._label(name, source, names, known)
                    ax.plot(x, y, **painted(i, source, several, len(known) == 1), label=label)
        for row in rows:
            if row.method in self.levels:
                level = row.ours if math.isnan(row.published) else row.published
                ax.axhline(level, color="black", linestyle="-.", linewidth=1.2, label=row.method, zorder=2)

    def _label(self, name: str, source: str, names: Sequence[str], known: Sequence[str]) -> str:
        if source == "paper" and self.quoted:
            return self.quoted
        if len(names) == 1:
            return SOURCES[source]
        return name if len(known) == 1 else f"{name}, {SOURCES[source]}"

    def _points(self, rows: Sequence[Row], name: str, source: str) -> tuple[FloatArray, FloatArray]:
        """Places and figures of a line, by place."""
        found = [(place, getattr(row, source)) for row in rows for line, place in self._place(row) if line == name]
        points = np.array(sorted(found), dtype=np.float64).reshape(-1, 2)
        return points[:, 0], points[:, 1]

    def _mark(self, figure: Any, axes: Any, rows: Sequence[Row]) -> None:
        """Scale and ticks of the axes across."""
        names: dict[float, list[str]] = {}
        for row in rows:
            for _, place in self._place(row):
                told = names.setdefault(place, [f"{place:g}"])
                if self._by_data(row) and row.data not in told:
                    told.append(row.data)
        places = np.array(sorted(names))
        for ax in axes.flat:
            if self.log:
                ax.set_xscale("symlog", linthresh=float(places[places > 0].min()), linscale=0.4)
            spot = ax.xaxis.get_transform().transform(places)
            spot = (spot - spot[0]) / max(np.ptp(spot), 1e-300)
            kept = wide_apart(figure, axes.shape[1], spot, [max(names[p], key=len) for p in places])
            labels = ["\n".join(names[place]) if k in kept else "" for k, place in enumerate(places)]
            ax.set_xticks(places, labels)
            ax.set_xticks([], minor=True)
            ax.margins(x=0.08)


def _count(ax: Any) -> None:
    """Axis of a number of features: from 0, and logarithmic above 1 where the numbers are far from each other."""
    y = np.concatenate([line.get_ydata() for line in ax.lines]) if ax.lines else np.zeros(1)
    y = y[np.isfinite(y)]
    if y.size and y.max() > _WIDE * max(1.0, float(np.median(y))):
        ax.set_yscale("symlog", linthresh=1.0)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_ylim(bottom=0)
