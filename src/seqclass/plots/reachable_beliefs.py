"""The beliefs that a policy meets, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_integer
from seqclass.analysis import reachable_beliefs, thresholds
from seqclass.analysis.beliefs import ReachableBeliefs
from seqclass.analysis.regions import Thresholds
from seqclass.plots._style import NEUTRAL, PALE, Display, OfPolicy, colour, legend_below, open_frame, shorten
from seqclass.pomdp import Policy


class ReachableBeliefsDisplay(OfPolicy, Display):
    """Beliefs that a policy meets, drawn as discs by stage and P(class), with areas in proportion to probability.

    Discs are grey for instances that go on, and have the colour of the decision for those that stop. Make one with
    `from_estimator`, `from_policy` or from the records of `seqclass.analysis`.

    Parameters
    ----------
    beliefs : ReachableBeliefs
        What `seqclass.analysis.reachable_beliefs` found.
    thresholds : Thresholds, optional
        For two classes: intervals in which the policy goes on, drawn behind the discs.
    class_index : int, optional
        Class whose probability is shown; by default the last of two or three classes, and with more classes the
        likeliest one of each belief.
    classes, decisions : sequence, optional
        Labels; by default the names that the problem has.
    max_stages : int, optional
        Most stages to show; by default as far as one instance in a hundred gets.

    Attributes
    ----------
    n_stages : int
        Last stage that is shown.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> display = ReachableBeliefsDisplay.from_policy(GridValueIteration().solve(problem))
    >>> display.n_stages
    2
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        beliefs: ReachableBeliefs,
        thresholds: Thresholds | None = None,
        *,
        class_index: int | None = None,
        classes: Sequence[Any] | npt.NDArray[Any] | None = None,
        decisions: Sequence[Any] | npt.NDArray[Any] | None = None,
        max_stages: int | None = None,
    ) -> None:
        n_classes = beliefs.belief.shape[1]
        self.beliefs, self.thresholds = beliefs, thresholds
        if class_index is None:
            class_index = n_classes - 1 if n_classes <= 3 else None
        else:
            check_integer(class_index, "class_index", 0, n_classes - 1)
        self.class_index = class_index
        known = beliefs.names
        if classes is None and known is not None:
            classes, decisions = known.classes, known.decisions if decisions is None else decisions
        self.classes = list(range(n_classes) if classes is None else classes)
        if len(self.classes) != n_classes:
            raise ValueError(f"classes must have {n_classes} labels, got {len(self.classes)}.")
        self.decisions = self.classes if decisions is None else list(decisions)
        if max_stages is None:
            share = np.bincount(beliefs.stage, beliefs.probability)
            self.n_stages = int(np.flatnonzero(share >= 1e-2)[-1])
        else:
            self.n_stages = min(check_integer(max_stages, "max_stages", 0), beliefs.n_stages)

    @classmethod
    def _of_policy(cls, policy: Policy, n_paths: int, settings: Any) -> ReachableBeliefsDisplay:
        problem = policy.problem
        beliefs = reachable_beliefs(problem, policy, n_paths=n_paths)
        intervals = None
        single = problem.structure.tables is not None and problem.structure.tables.single and problem.visits is None
        if problem.n_classes == 2 and single:
            shown = cls(beliefs, **settings).n_stages
            intervals = thresholds(policy, max_stages=shown + 1, tolerance=1e-4)
        return cls(beliefs, intervals, **settings)

    _size = (6.4, 4.4)

    def _draw(self, ax: Any) -> None:
        open_frame(ax, grid="")
        handles = self._draw_intervals(ax) + self._draw_discs(ax)
        margin = max(0.6, 0.035 * self.n_stages)
        ax.set(xlim=(-margin, self.n_stages + margin), ylim=(-0.04, 1.04))
        ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set_xlabel("features asked so far")
        shown = "likeliest class" if self.class_index is None else shorten(self.classes[self.class_index], 20)
        ax.set_ylabel(f"P({shown} | what was seen)")
        legend_below(ax, handles, columns=2)

    def _draw_intervals(self, ax: Any) -> list[Any]:
        if self.thresholds is None or not self.thresholds.go_on.any():
            return []
        from matplotlib.patches import Patch

        intervals = self.thresholds
        rows = intervals.go_on & (intervals.stage <= self.n_stages)
        low, high = intervals.lower[rows], intervals.upper[rows]
        if self.class_index == 0:
            low, high = 1 - high, 1 - low
        ax.bar(intervals.stage[rows], high - low, bottom=low, width=0.9, color=PALE, linewidth=0, zorder=0)
        return [Patch(color=PALE, label="where it goes on")]

    def _draw_discs(self, ax: Any) -> list[Any]:
        from matplotlib.lines import Line2D

        handles = []
        for label, paint, share in self._series():
            stage, p, area = self._discs(share)
            if stage.size:
                ax.scatter(stage, p, s=area, color=paint, alpha=0.8, linewidth=0, zorder=3)
                style: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 8, "markeredgewidth": 0}
                handles.append(Line2D([], [], label=label, color=paint, alpha=0.8, **style))
        return handles

    def _series(self) -> list[tuple[str, str, FloatArray]]:
        """Label, colour and share of each belief, of what goes on and of what stops."""
        beliefs = self.beliefs
        stopped = beliefs.probability - beliefs.asked
        series = [("goes on", NEUTRAL, beliefs.asked)]
        if len(self.decisions) <= 4:  # of more none has a colour of its own
            labels = [(j, f"stops: {shorten(label, 22)}") for j, label in enumerate(self.decisions)]
            series += [(label, colour(j), stopped * (beliefs.decision == j)) for j, label in labels]
        elif self.class_index is None:
            series.append(("stops", colour(0), stopped))
        else:
            mine = beliefs.decision == self.class_index
            series.append((f"stops: {shorten(self.classes[self.class_index], 22)}", colour(0), stopped * mine))
            series.append(("stops for another decision", colour(1), stopped * ~mine))
        return series

    def _discs(self, share: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Stage, probability and area of each disc: beliefs that one could not tell apart are one."""
        beliefs = self.beliefs
        p = beliefs.belief.max(axis=1) if self.class_index is None else beliefs.belief[:, self.class_index]
        width, whole = 0.02, 420.0  # of a cell; and the area of the disc of all instances, in square points
        n_cells = int(1 / width) + 1
        cell = beliefs.stage * n_cells + np.floor(p / width).astype(np.intp)
        size = (self.n_stages + 1) * n_cells
        rows = (share > 0) & (beliefs.stage <= self.n_stages)
        total = np.bincount(cell[rows], share[rows], size)
        kept = np.flatnonzero(whole * total >= 1)
        centre = np.bincount(cell[rows], (share * p)[rows], size)[kept] / total[kept]
        return kept // n_cells, np.asarray(centre), np.asarray(whole * total[kept])
