"""What is paid and decided for each group of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass.agent.agent import agent_of
from seqclass.evaluation.scores import GroupScores, Scores, score_rows
from seqclass.plots._style import Display, colour, in_unit, legend_below, open_frame, pale, shorten


class GroupScoresDisplay(Display):
    """Cost of each group, with prices and decision costs stacked, and the 95% interval of their sum.

    Make one with `from_scores` or `from_estimator`.

    Parameters
    ----------
    groups : sequence of GroupScores
        Scores of the groups; the first one is drawn at the top.
    unit : str
        Unit of costs, such as ``"EUR"``.

    Attributes
    ----------
    groups : list of GroupScores
        The groups given.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : list of matplotlib BarContainer
        Bars of the prices and of the decision costs, one per group.

    Raises
    ------
    ValueError
        If there are no groups.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import seqclass
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = seqclass.etana(0.05).fit(X[::2], y[::2])
    >>> display = GroupScoresDisplay.from_estimator(clf, X[1::2], y[1::2], ["north", "south", "west"] * 25)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['north (n = 25)', 'south (n = 25)', 'west (n = 25)']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, groups: Sequence[GroupScores], *, unit: str = "") -> None:
        if not groups:
            raise ValueError("groups must hold at least one group; give score_rows the groups of the rows.")
        self.groups, self.unit = list(groups), unit

    @classmethod
    def from_scores(cls, scores: Scores, *, unit: str = "", ax: Any = None, **settings: Any) -> GroupScoresDisplay:
        """Draw given scores.

        Parameters
        ----------
        scores : Scores
            What `seqclass.metrics.score_rows` returned with ``groups``.
        unit : str
            Unit of costs, such as ``"EUR"``.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        GroupScoresDisplay
        """
        return cls(scores.groups, unit=unit).plot(ax, **settings)

    @classmethod
    def from_estimator(
        cls, estimator: BaseSequentialClassifier, X: Any, y: npt.ArrayLike, groups: npt.ArrayLike, **settings: Any
    ) -> GroupScoresDisplay:
        """Run a fitted classifier on labelled data and draw what each group costs.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        X : array-like of shape (n, n_features)
            Data that it was not fitted to.
        y, groups : array-like of shape (n,)
            True labels; group of each row.
        **settings
            Passed to `from_scores`; costs are in the classifier's unit.

        Returns
        -------
        GroupScoresDisplay
        """
        scores = score_rows(estimator, X, y, groups=groups)
        return cls.from_scores(scores, **{"unit": agent_of(estimator).unit} | settings)

    def _inches(self) -> tuple[float, float]:
        return 6.4, 1.5 + min(0.45 * len(self.groups), 14.0)

    def _draw(self, ax: Any) -> None:
        open_frame(ax, grid="x")
        place = np.arange(len(self.groups))
        price = np.array([one.mean_price for one in self.groups])
        total = np.array([one.realised_cost for one in self.groups])
        ends = np.array([one.realised_cost_interval for one in self.groups])
        self.bars_ = [
            ax.barh(place, price, 0.6, color=colour(0), label="prices"),
            ax.barh(place, total - price, 0.6, left=price, color=pale(0), label="decisions"),
        ]
        reach = np.abs(ends.T - total)
        ax.errorbar(total, place, xerr=reach, fmt="none", ecolor="black", elinewidth=1.2, capsize=3, zorder=4)
        ax.set_xlim(0, 1.05 * float(np.nanmax([*ends[:, 1], *total])) or 1.0)
        ax.set_yticks(place, [f"{shorten(one.group, 24)} (n = {one.n_rows:,})" for one in self.groups])
        ax.invert_yaxis()
        ax.set_xlabel(in_unit("cost per row", self.unit))
        legend_below(ax, self.bars_, points=34)
