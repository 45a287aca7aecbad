"""How uncertain the belief still is after each number of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.validation import check_integer
from seqclass.analysis import entropy_path
from seqclass.analysis.beliefs import EntropyPath
from seqclass.plots._style import FAINT, NEUTRAL, Display, OfPolicy, colour, legend_below, open_frame
from seqclass.pomdp import Policy


class EntropyDisplay(OfPolicy, Display):
    """Expected entropy of the belief against the number of features, over all instances and those still going on.

    Make one with `from_estimator`, `from_policy` or from the record of `seqclass.analysis.entropy_path`.

    Parameters
    ----------
    path : EntropyPath
        The record.
    max_stages : int, optional
        Most features to show; by default up to where fewer than one instance in a hundred goes on.

    Attributes
    ----------
    n_stages : int
        Number of features shown.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        Lines for all instances, those going on, and those that stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> display = EntropyDisplay.from_policy(GridValueIteration().solve(problem))
    >>> display.lines_[0].get_ydata().round(2)
    array([0.69, 0.42, 0.32])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, path: EntropyPath, *, max_stages: int | None = None) -> None:
        self.path = path
        most = int((path.asked >= 1e-2).sum()) if max_stages is None else check_integer(max_stages, "max_stages", 0)
        self.n_stages = min(len(path.overall) - 1, most)

    @classmethod
    def _of_policy(cls, policy: Policy, n_paths: int, settings: Any) -> EntropyDisplay:
        return cls(entropy_path(policy.problem, policy, n_paths=n_paths), **settings)

    def _draw(self, ax: Any) -> None:
        open_frame(ax)
        k = slice(0, self.n_stages + 1)
        x = np.arange(self.n_stages + 1)
        path = self.path
        top = float(np.nanmax([path.overall[k], path.going_on[k], path.stopped[k]])) or 1.0
        # bars share the axis: the tallest is the share of all, at the height of the prior's entropy
        bars = ax.bar(x, path.asked[k] * top, color=FAINT, alpha=0.45, width=0.7, linewidth=0, zorder=0)
        bars.set_label("share of instances that go on (right axis)")
        self.lines_ = []
        series = [
            (path.overall, "all instances, the stopped ones as they stopped", "-", "o", "black"),
            (path.going_on, "those that go on, before they are asked", "--", "^", NEUTRAL),
            (path.stopped, "those that stop here", ":", "s", colour(1)),
        ]
        for values, label, line, marker, paint in series:
            style = {"linestyle": line, "marker": marker, "color": paint, "markersize": 5, "linewidth": 2}
            self.lines_ += ax.plot(x, values[k], label=label, zorder=3, **style)
        ax.set_ylim(0.0, top * 1.05)
        ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set(xlabel="features asked so far", ylabel="expected entropy of the belief, nats")
        share = ax.secondary_yaxis("right", functions=(lambda y: y / top, lambda s: s * top))
        share.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
        share.set_ylabel("share of instances", color=NEUTRAL)
        share.tick_params(colors=NEUTRAL)
        legend_below(ax, [*self.lines_, bars], columns=1)
