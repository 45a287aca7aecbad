"""Episodes as paths of the belief, over the simplex of three classes or step by step for two."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.tables import count_text
from seqclass._utils.validation import check_integer, check_kind
from seqclass.plots._simplex import frame_triangle, places, require_few_classes
from seqclass.plots._style import Display, colour, draw, legend_below, open_frame, shorten
from seqclass.pomdp.episodes import Episodes


class EpisodePathsDisplay(Display):
    """Beliefs of episodes from the first to the last one, as paths that have the colour of the decision.

    For three classes the paths go through a triangle with a class at each corner; for two they are P(second class)
    against the number of questions. Cases with the same history share a path, which is the wider the more they are.
    Make one with `from_episodes`.

    Parameters
    ----------
    episodes : Episodes
        What `seqclass.pomdp.simulate` gives.
    max_paths : int
        Most paths to show, namely the most frequent ones; the title says what share of the cases they are.

    Attributes
    ----------
    paths : ndarray of shape (n_paths, n_steps + 1, n_classes)
        The beliefs of each path; from its end on the last one.
    share : ndarray of shape (n_paths,)
        Share of the cases that took each, the largest first.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Raises
    ------
    TypeError
        If these are no episodes.
    ValueError
        If there are no cases, or not two or three classes.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, simulate
    >>> problem = TableProblem([0.4, 0.3, 0.3], np.array([[[0.8, 0.2, 0.1], [0.2, 0.8, 0.9]]] * 2), prices=0.05)
    >>> episodes = simulate(problem, Lookahead(2).solve(problem), 100, random_state=0)
    >>> display = EpisodePathsDisplay.from_episodes(episodes)
    >>> display.paths.shape, float(display.share.sum())
    ((3, 3, 3), 1.0)
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, episodes: Episodes, *, max_paths: int = 200) -> None:
        check_kind(episodes, Episodes, "episodes", "what simulate(...) gives")
        if not len(episodes):
            raise ValueError("episodes must hold at least one case.")
        n_classes, acquired = episodes.problem.n_classes, episodes.acquired
        require_few_classes(n_classes, "paths", "BeliefPathDisplay shows single cases, episodes.to_frame() all of them")
        self.episodes = episodes
        count = np.bincount(acquired.leaf, minlength=len(acquired.leaf_decision))
        leaf = np.argsort(-count, kind="stable")[: check_integer(max_paths, "max_paths", 1)]
        leaf = leaf[count[leaf] > 0]
        self.n_in_all = int((count > 0).sum())
        self.share, self.decision = count[leaf] / len(episodes), acquired.leaf_decision[leaf]
        self.n_asked = (acquired.leaf_question[leaf] >= 0).sum(axis=1)
        beliefs = acquired.leaf_beliefs
        assert beliefs is not None  # episodes record them
        self.paths: FloatArray = beliefs[leaf]

    @classmethod
    def from_episodes(cls, episodes: Episodes, **settings: Any) -> EpisodePathsDisplay:
        """Draw the paths of episodes.

        Parameters
        ----------
        episodes : Episodes
            What `seqclass.pomdp.simulate` gives.
        **settings
            ``ax`` and ``title`` as of `plot`, all others as of `EpisodePathsDisplay`.

        Returns
        -------
        EpisodePathsDisplay
        """
        return draw(cls, episodes, **settings)

    _size = (6.0, 4.6)

    def _title(self) -> str:
        cases, n, n_in_all = count_text(len(self.episodes), "cases"), len(self.share), self.n_in_all
        if n == n_in_all:
            return f"{cases} on {count_text(n, 'paths')}"
        return f"{100 * self.share.sum():.0f}% of {cases}, on the {n:,} most frequent of {n_in_all:,} paths"

    def _draw(self, ax: Any) -> None:
        from matplotlib.collections import LineCollection

        names, three = self.episodes.problem.names, self.paths.shape[2] == 3
        steps = np.minimum(np.arange(self.paths.shape[1]), self.n_asked[:, None])
        points = places(self.paths) if three else np.stack([steps, self.paths[:, :, 1]], axis=2)
        handles = []
        for decision in np.unique(self.decision).tolist():
            own, style = self.decision == decision, dict[str, Any](color=colour(decision), alpha=0.4)
            width = 0.6 + 6 * np.sqrt(self.share[own])
            ax.add_collection(LineCollection(list(points[own]), linewidths=width, capstyle="round", **style))
            size = 12 + 240 * self.share[own]
            ax.scatter(*points[own, -1].T, s=size, color=colour(decision), edgecolor="white", zorder=3)
            label = f"decides {shorten(names.decisions[decision], 22)}"
            handles.append(ax.scatter([], [], color=colour(decision), label=label))
        starts = np.unique(points[:, 0].round(9), axis=0)
        handles.append(ax.scatter(*starts.T, marker="*", s=160, color="black", zorder=4, label="start"))
        if three:
            frame_triangle(ax, names.classes)
            ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 1.0), fontsize=9, frameon=False)
        else:
            open_frame(ax)
            ax.set_ylim(-0.03, 1.03)
            ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
            ax.set(xlabel="questions asked so far", ylabel=f"P({shorten(names.classes[1], 30)} | what was seen)")
            legend_below(ax, handles)
