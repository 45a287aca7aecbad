"""What each question is worth alone, beside its price."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.validation import check_integer
from seqclass.analysis import value_of_information
from seqclass.analysis.information import ValueOfInformation
from seqclass.plots._style import FAINT, NEUTRAL, Display, OfPolicy, colour, legend_beside, open_frame, shorten
from seqclass.pomdp import Policy


class ValueOfInformationDisplay(OfPolicy, Display):
    """Value of each question alone against its price: above the line it is worth more than it costs.

    Make one with `from_estimator`, `from_policy` or from what `seqclass.analysis.value_of_information` returns, whose
    ``plot()`` does the same.

    Parameters
    ----------
    values : ValueOfInformation
        The record.
    max_names : int
        Most questions that are named, namely those of the highest net value, of those worth anything.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.analysis import value_of_information
    >>> from seqclass.pomdp import TableProblem
    >>> tests = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    >>> problem = TableProblem([0.5, 0.5], tests, prices=[0.1, 0.02], any_order=True)
    >>> display = value_of_information(problem).plot()
    >>> display.ax_.get_ylabel()
    'expected value alone'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, values: ValueOfInformation, *, max_names: int = 12) -> None:
        self.values = values
        self.max_names = check_integer(max_names, "max_names", 0)

    @classmethod
    def _of_policy(cls, policy: Policy, n_paths: int, settings: Any) -> ValueOfInformationDisplay:
        return cls(value_of_information(policy.problem, policy, max_pairs=0, n_paths=n_paths), **settings)

    def _draw(self, ax: Any) -> None:
        values = self.values
        price, value, net = values.price, values.value, values.net
        open_frame(ax)
        # a tenth of what perfect information is worth where nothing costs or is worth anything near it
        dearest = max(np.nanmax(price, initial=0.0), 0.1 * values.perfect)
        most, top = 1.25 * dearest or 1.0, 1.08 * max(np.nanmax(value, initial=0.0), values.perfect) or 1.0
        ax.fill_between([0, most], [0, most], max(most, top), color=FAINT, alpha=0.25, linewidth=0)
        ax.plot([0, most], [0, most], color=NEUTRAL, linewidth=1)
        pays = net > 0
        for some, number, marker, label in ((pays, 0, "o", "worth its price"), (~pays, 1, "s", "not alone")):
            known = some & np.isfinite(net)
            if known.any():
                ax.scatter(price[known], value[known], color=colour(number), marker=marker, s=30, label=label, zorder=3)
        ax.axhline(values.perfect, color="black", linewidth=1, linestyle="--", label="perfect information")
        self._name(ax, most, top)
        ax.set(xlim=(0, most), ylim=(0, top), xlabel="price", ylabel="expected value alone")
        legend_beside(ax)

    def _name(self, ax: Any, most: float, top: float) -> None:
        """Write names beside points, the highest net value first, where they cover neither points nor names."""
        values = self.values
        points = np.column_stack([values.price / most, values.value / top])
        # left, lower, right and upper end of what is there already, in shares of the axes
        boxes = np.column_stack([points, points])[np.isfinite(values.net)]
        most_boxes = len(boxes) + self.max_names
        order = np.argsort(-np.nan_to_num(values.net, nan=-np.inf), kind="stable")
        for q in [q for q in order.tolist() if values.value[q] > 0]:
            (x, y), text = points[q], shorten(values.names[q], 24)
            for side in (1, -1):
                ends = sorted([x + side * 0.01, x + side * (0.03 + 0.019 * len(text))])  # of a letter
                box = np.array([ends[0], y - 0.022, ends[1], y + 0.022])
                apart = np.column_stack([box[:2] > boxes[:, 2:], box[2:] < boxes[:, :2]]).any(axis=1).all()
                if apart and ends[0] >= 0 and ends[1] <= 1 and len(boxes) < most_boxes:
                    place = {"xytext": (6 * side, 0), "textcoords": "offset points", "va": "center"}
                    at, ha = (values.price[q], values.value[q]), "left" if side > 0 else "right"
                    ax.annotate(text, at, ha=ha, fontsize=8, **place)
                    boxes = np.vstack([boxes, box])
                    break
