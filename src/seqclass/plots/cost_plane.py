"""What decisions cost against the price paid for them, for several methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seqclass._utils.text import join_names
from seqclass._utils.validation import check_real
from seqclass.experiment import Results
from seqclass.experiment._summary import over_data
from seqclass.experiment.comparison import ALL
from seqclass.plots._style import MARKERS, NEUTRAL, MultiAxesDisplay, colour, in_unit, legend_name, open_frame, shorten


class CostPlaneDisplay(MultiAxesDisplay):
    """Decision cost against price paid, for each data set and for all: down and to the left is better.

    What two points on one grey line cost in all is the same, namely what the line says where it meets an axis. A
    method's points at several prices or hard budgets are joined, and labelled where there is room. Make one with
    `from_results`.

    Parameters
    ----------
    points : pandas.DataFrame
        A row a point: ``data``, ``method``, ``paid_mean`` (price paid) and ``realised_cost`` (price and decision), both
        a case. Points of a method are joined in the order of the rows, and labelled by ``price`` or ``budget`` where
        there are several.
    unit : str
        What costs are counted in, such as ``"EUR"``.
    width : float, optional
        Width of a new figure in inches, which has as many pictures in a row as fit, and more and smaller ones where it
        would else be higher than a page; by default at most three.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        One for each data set, then empty ones up to a full row.
    figure_ : matplotlib Figure
        Where it was drawn.

    Raises
    ------
    ValueError
        If there is no point.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = ["data", "method", "paid_mean", "realised_cost"]
    >>> points = pd.DataFrame([["iris", "a", 0.02, 0.08], ["iris", "b", 0.03, 0.05]], columns=columns)
    >>> display = CostPlaneDisplay(points).plot()
    >>> [line.get_label() for line in display.ax_[0].lines[:2]]
    ['a', 'b']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    _across = 3  # pictures in a row
    _wide, _least, _page = 2.6, 1.5, 9.0  # inches: width of a picture with large text, the least, height of a page

    def __init__(self, points: Any, *, unit: str = "", width: float | None = None) -> None:
        self.points = points[points[["paid_mean", "realised_cost"]].notna().all(axis=1)]
        if not len(self.points):
            raise ValueError("points must hold at least one method with a realised cost and a price paid.")
        self.unit = unit
        self.names = list(dict.fromkeys(self.points["data"]))
        n = len(self.names)
        self.width = width if width is None else check_real(width, "width", 1)
        across = self._pictures_in_a_row()
        self._legend_columns = 4 if width is None else max(1, int(width / 1.6))
        self._grid: dict[str, Any] = {"ncols": across, "nrows": math.ceil(n / across)}
        more = "; with overall=False the last is left out" if ALL in self.names else ""
        self._needed = f"{math.ceil(n / across) * across} matplotlib Axes, for {join_names(self.names)}{more}"

    @classmethod
    def from_results(
        cls,
        results: Results,
        *,
        ax: Any = None,
        width: float | None = None,
        overall: bool = True,
        **settings: Any,
    ) -> CostPlaneDisplay:
        """Draw the results of a run.

        Parameters
        ----------
        results : Results
            The run. All data sets together come last, where there are several: means in which each counts once, of the
            methods that have a score on each of them.
        ax : array of matplotlib Axes, optional
            Where to draw, one for each picture up to full rows; by default a new figure.
        width : float, optional
            Width of a new figure in inches, such as 3.5 for a column of a page that has two.
        overall : bool
            Whether all data sets together have a picture.
        **settings
            Passed to `plot`.

        Returns
        -------
        CostPlaneDisplay
        """
        import pandas as pd

        summary = results.summary(metrics=["paid_mean", "realised_cost"])
        axes = [name for name in ("method", "price", "budget") if name in summary]
        scored = summary[summary["realised_cost"].notna()]
        if (n := summary["data"].nunique()) > 1 and overall:
            means = over_data(scored, n, axes, ["paid_mean", "realised_cost"])
            scored = pd.concat([scored, means.assign(data=ALL)])
        places = {name: {v: i for i, v in enumerate([*summary[name].unique(), ALL])} for name in ("data", "method")}
        key = lambda column: column.map(places[column.name]) if column.name in places else column  # noqa: E731
        points = scored.sort_values(["data", *axes], kind="stable", key=key)
        return cls(points, unit=results.unit, width=width).plot(ax, **settings)

    def _pictures_in_a_row(self) -> int:
        n = len(self.names)
        if self.width is None:
            return min(n, self._across)
        few, many = (min(n, max(1, int(self.width / each))) for each in (self._wide, self._least))
        return next((k for k in range(few, many) if self._height(self.width / k, math.ceil(n / k)) <= self._page), many)

    @staticmethod
    def _height(width: float, n_rows: int) -> float:
        """Of a figure with pictures of this width."""
        return 0.85 * width * n_rows + 0.5

    def _inches(self) -> tuple[float, float]:
        if self.width is not None:
            return self.width, self._height(self.width / self._grid["ncols"], self._grid["nrows"])
        return 3.3 * self._grid["ncols"] + 0.7 * (self._grid["ncols"] == 1), 2.9 * self._grid["nrows"] + 0.5

    def _draw(self, *axes: Any) -> None:
        methods = {name: i for i, name in enumerate(dict.fromkeys(self.points["method"]))}
        small = self.width is not None and self.width / self._grid["ncols"] < self._wide
        title, label, ticks, mark = (8, 7, 6, 4) if small else (10, 10, 10, 6)
        for ax, name in zip(axes, self.names):
            open_frame(ax)
            own = self.points[self.points["data"] == name]
            x, whole = own["paid_mean"].to_numpy(float), own["realised_cost"].to_numpy(float)
            for method, i in methods.items():
                at = (own["method"] == method).to_numpy()
                style = {"color": colour(i), "marker": MARKERS[i % len(MARKERS)], "markersize": mark, "linewidth": 1.4}
                if at.any():
                    ax.plot(x[at], (whole - x)[at], label=legend_name(shorten(method, 34)), zorder=3, **style)
            ax.set(xlim=(0, 1.08 * x.max() or 1), ylim=(0, 1.12 * (whole - x).max() or 1))
            ax.grid(visible=False)
            ax.locator_params(axis="x", nbins=5)
            ends = ax.get_xlim()[1], ax.get_ylim()[1]
            step = max(np.diff(marks[:2])[0] for marks in (ax.get_xticks(), ax.get_yticks()))
            for level in np.arange(1, math.ceil(sum(ends) / step)) * step:
                ax.plot([0, level], [level, 0], color=NEUTRAL, linewidth=0.7, alpha=0.5, zorder=1)
            ax.set(xlim=(0, ends[0]), ylim=(0, ends[1]))
            for at in ("price", "budget"):
                if at in own and own[at].nunique() > 1:
                    _label(ax, [f"{value:g}" for value in own[at]], x, whole - x)
            ax.set_title(shorten(name, 34), fontsize=title)
            ax.set_xlabel(in_unit("price paid a case", self.unit), fontsize=label)
            ax.set_ylabel(in_unit("decision cost a case", self.unit), fontsize=label)
            ax.tick_params(labelsize=ticks)
        for ax in axes[len(self.names) :]:
            ax.set_axis_off()


def _label(ax: Any, texts: list[str], x: Any, y: Any) -> None:
    """Label points from the right to the left, each where none that has a label is in the way."""
    points = ax.transData.transform(np.column_stack([x, y])) * 72 / ax.figure.dpi
    lengths, taken = np.array([5.5 * len(text) for text in texts]), np.zeros(len(texts), dtype=bool)
    for i in np.argsort(-points[:, 0], kind="stable"):
        apart = points[taken] - points[i]
        after, before = apart[:, 0] > lengths[i], -apart[:, 0] > lengths[taken]
        if np.all(after | before | (abs(apart[:, 1]) > 10)):
            taken[i] = True
            offset = {"xytext": (4, 3), "textcoords": "offset points", "fontsize": 7, "color": NEUTRAL}
            ax.annotate(texts[i], (x[i], y[i]), zorder=4, **offset)
