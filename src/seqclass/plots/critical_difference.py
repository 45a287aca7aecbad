"""Average ranks of methods over data sets, with bars that join methods that do not differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass.plots._style import NEUTRAL, Display, shorten
from seqclass.stats import critical_difference
from seqclass.stats.friedman import CriticalDifference

#: Height between two bars.
_BAR = 0.45


class CriticalDifferenceDisplay(Display):
    """Critical-difference diagram: methods by average rank, the best on the left, bars joining those that do not
    differ.

    Make one with `from_scores` or from the record of `seqclass.stats.critical_difference` ([1]_).

    Parameters
    ----------
    result : CriticalDifference
        Average ranks, critical difference and groups.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, Fig. 1.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.6, 0.7, 0.5]]
    >>> display = CriticalDifferenceDisplay.from_scores(scores, names=["ours", "tree", "prior"])
    >>> display.ax_.get_xlabel()
    'average rank'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, result: CriticalDifference) -> None:
        self.result = result

    @classmethod
    def from_scores(
        cls, scores: Any, *, ax: Any = None, title: str | None = None, **settings: Any
    ) -> CriticalDifferenceDisplay:
        """Draw the diagram for a table of scores.

        Parameters
        ----------
        scores : array-like or DataFrame of shape (n_datasets, n_methods)
            Score of each method on each data set.
        ax, title : matplotlib Axes and str, optional
            Where to draw, by default a new figure; title, by default none.
        **settings
            Passed to `seqclass.stats.critical_difference`.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        return cls(critical_difference(scores, **settings)).plot(ax, title=title)

    def _inches(self) -> tuple[float, float]:
        return 7.5, 1.2 + 0.28 * (self._depths()[1] + 1.5)

    def _depths(self) -> tuple[float, float]:
        bars = _BAR * (len(self.result.groups) + 1)
        return bars, bars + (len(self.result.names) + 1) // 2

    def _draw(self, ax: Any) -> None:
        result, k = self.result, len(self.result.names)
        bars, depth = self._depths()
        # room beside the ranks for the names, which lead the lines
        margin = 0.42 * (k - 1)
        ax.set(xlim=(1 - margin, k + margin), ylim=(-depth, 1.9))
        self._scale(ax, k)
        self._methods(ax, k, bars)
        places = dict(zip(result.names, result.average_ranks.tolist()))
        for i, group in enumerate(result.groups, 1):
            ranks = [places[name] for name in group]
            reach = 0.012 * (k - 1)
            ends = [min(ranks) - reach, max(ranks) + reach]
            ax.plot(ends, [-_BAR * i] * 2, color="black", linewidth=4, solid_capstyle="butt")

    def _scale(self, ax: Any, k: int) -> None:
        """Draw the axis of ranks, and the critical difference above it."""
        ax.spines[["left", "right", "bottom", "top"]].set_visible(False)
        ax.set_yticks([])
        ax.set_xticks([])
        ax.xaxis.set_label_position("top")
        ax.set_xlabel("average rank", fontsize=9, labelpad=2)
        ax.plot([1, k], [0, 0], color="black", linewidth=1)
        for rank in range(1, k + 1):
            ax.plot([rank, rank], [0, 0.2], color="black", linewidth=1)
            ax.text(rank, 0.3, str(rank), ha="center", va="bottom", fontsize=9)
        reach = min(self.result.critical_difference, k - 1)
        text = f"critical difference {self.result.critical_difference:.2f}"
        if self.result.critical_difference > k - 1:
            text += ", beyond the axis"
        ax.plot([1, 1 + reach], [1.25, 1.25], color=NEUTRAL, linewidth=1.5, marker="|", markersize=8)
        ax.text(1 + reach + 0.03 * (k - 1), 1.25, text, ha="left", va="center", fontsize=9, color="#555555")

    def _methods(self, ax: Any, k: int, bars: float) -> None:
        """Draw a line from each rank to its name: the better half on the left, the others on the right."""
        order = np.argsort(self.result.average_ranks, kind="stable").tolist()
        left = (k + 1) // 2
        for place, method in enumerate(order):
            rank = float(self.result.average_ranks[method])
            on_left = place < left
            height = -bars - (place if on_left else k - 1 - place) - 0.1
            end = 1 - 0.05 * (k - 1) if on_left else k + 0.05 * (k - 1)
            ax.plot([rank, rank, end], [0, height, height], color="black", linewidth=0.8)
            label = f"{shorten(self.result.names[method], 24)}  {rank:.2f}"
            gap = 0.015 * (k - 1)
            ax.text(
                end - gap if on_left else end + gap,
                height,
                label,
                ha="right" if on_left else "left",
                va="center",
                fontsize=9,
            )
