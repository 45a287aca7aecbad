"""Alpha vectors of a stage: lines and their lower envelope for two classes, regions for three."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.tables import count_text
from seqclass._utils.validation import check_integer, check_kind
from seqclass.plots import _simplex as simplex
from seqclass.plots._style import FAINT, NEUTRAL, Display, draw, legend_below, open_frame, shorten
from seqclass.pomdp import Policy
from seqclass.pomdp.alpha import AlphaVectors


class AlphaVectorsDisplay(Display):
    """Alpha vectors of a stage, each the cost of a plan by class, and where each is the lowest.

    For two classes vectors are lines over P(second class), of which the lower envelope is the value before the policy
    looks one question ahead; the area below has the colour of what the lowest vector does first. For three the regions
    of a triangle have that colour, in shades where several vectors do the same. Make one with `from_policy`, or by
    `AlphaVectors.plot`.

    Parameters
    ----------
    values : AlphaVectors
        Value function of a policy, such as ``policy.values``.
    stage, context : int
        Stage, and context there.
    resolution : int, optional
        Number of steps along an edge of the simplex; by default 1000 for two classes and 150 for three.

    Attributes
    ----------
    beliefs : ndarray of shape (n, n_classes)
        Where vectors were compared; for three classes the centres of a triangular mesh.
    vectors : ndarray of shape (n_vectors, n_classes)
        The vectors, those of deciding first.
    lowest : ndarray of int of shape (n,)
        Number of the lowest vector at each belief.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Raises
    ------
    TypeError
        If these are no alpha vectors.
    ValueError
        If vectors are not of two or three classes, or the stage or context does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Perseus, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> display = Perseus(certificate_paths=0).solve(problem).values.plot()
    >>> display.lowest[[0, 500, 1000]].tolist()  # to decide for the first class, the question, the second class
    [0, 2, 1]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, values: AlphaVectors, stage: int = 0, *, context: int = 0, resolution: int | None = None
    ) -> None:
        such = "AlphaVectors, such as those of Perseus().solve(problem).values (ValueFunctionDisplay shows any policy)"
        check_kind(values, AlphaVectors, "values", such)
        self.vectors = values._all_vectors(stage, context)
        n = self.vectors.shape[1]
        simplex.require_few_classes(n, "alpha vectors", "see values.to_frame()")
        self.values, self.stage, self.classes = values, stage, values._state_names
        steps = {2: 1000, 3: 150}[n] if resolution is None else resolution
        self.resolution = check_integer(steps, "resolution", 1)
        self.beliefs = simplex.simplex_points(n, self.resolution)
        costs = self.beliefs @ self.vectors.T
        self.lowest = costs.argmin(axis=1)
        self.cost = costs.min(axis=1)

    @classmethod
    def from_policy(cls, policy: Policy, **settings: Any) -> AlphaVectorsDisplay:
        """Draw the alpha vectors of a policy.

        Parameters
        ----------
        policy : Policy
            A policy with alpha vectors, such as of `Perseus`.
        **settings
            ``ax`` and ``title`` as of `plot`, all others as of `AlphaVectorsDisplay`.

        Returns
        -------
        AlphaVectorsDisplay
        """
        return draw(cls, getattr(policy, "values", policy), **settings)

    _size = (6.0, 4.5)

    def _title(self) -> str:
        shown = len(np.unique(self.lowest))
        after = f"after {count_text(self.stage, 'questions')}" if self.stage else "before anything is asked"
        return f"{shown:,} of {len(self.vectors):,} vectors are lowest somewhere, {after}"

    def _draw(self, ax: Any) -> None:
        from matplotlib.colors import to_rgb

        problem, three = self.values.problem, len(self.classes) == 3
        asks = "go on" if problem.any_order else f"ask {problem.names.question(self.stage)}"
        names = [*(f"decide {name}" for name in problem.names.decisions), asks]
        present = np.unique(self.lowest)
        action = np.minimum(present, problem.n_decisions)
        paints = simplex.action_paints(np.unique(action).tolist(), problem.n_decisions, 1)
        if three:
            shades = [np.array(to_rgb(paints[a])) for a in action.tolist()]
            for k, j in enumerate(np.flatnonzero(action == problem.n_decisions)):  # of neighbours one is darker
                shades[j] = shades[j] + (1 - shades[j]) * (k % 4) / 5
            simplex.fill_regions(ax, self.resolution, np.searchsorted(present, self.lowest), shades)
            simplex.frame_triangle(ax, self.classes)
        else:
            self._draw_lines(ax, paints)
        handles = [*ax.get_legend_handles_labels()[0], *simplex.key_actions(ax, paints, names)]
        if three:
            ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 1.0), fontsize=9, frameon=False)
        else:
            legend_below(ax, handles)

    def _draw_lines(self, ax: Any, paints: dict[int, Any]) -> None:
        from matplotlib.collections import LineCollection

        open_frame(ax, grid="")
        p, n_decisions = self.beliefs[:, 1], self.values.problem.n_decisions
        ends, lowest = simplex.edges_of(self.lowest, p)
        cost = np.interp(ends, p, self.cost)
        for k, vector in enumerate(np.minimum(lowest, n_decisions).tolist()):
            ax.fill_between(ends[k : k + 2], cost[k : k + 2], color=paints[vector], linewidth=0)
        ax.vlines(ends[1:-1], 0.0, cost[1:-1], color="white", linewidth=0.8)
        used = np.isin(np.arange(len(self.vectors)), self.lowest)
        for some, paint, label in ((~used, FAINT, "vectors that are never lowest"), (used, NEUTRAL, "vectors")):
            lines = [[(0.0, first), (1.0, second)] for first, second in self.vectors[some].tolist()]
            if lines:
                ax.add_collection(LineCollection(lines, colors=paint, linewidths=0.7, label=label))
        ax.plot(p, self.cost, color="black", linewidth=2, label="their lower envelope")
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.4 * float(self.cost.max()) or 1.0))
        ax.set(xlabel=f"P({shorten(self.classes[1], 30)} | what was seen)", ylabel="expected cost from here on")
