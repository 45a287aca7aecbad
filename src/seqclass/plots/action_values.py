"""What each action was expected to cost at each step of one case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.text import digits_text
from seqclass._utils.validation import check_integer
from seqclass.plots._style import Display, draw, shorten
from seqclass.pomdp import Policy
from seqclass.pomdp.action_values import action_names
from seqclass.pomdp.episodes import Episodes, Step, stepthrough
from seqclass.pomdp.policy import as_policy


class ActionValuesDisplay(Display):
    """Heat map of what deciding, and each open question, is expected to cost in all, at each step of one case.

    A column is a step, with what was seen there below it; a row is an action. Numbers are expected costs from there on,
    prices included, colours how much dearer that is than the cheapest of the step, and a frame is around what was done.
    Make one with `from_estimator` or `from_episodes`.

    Parameters
    ----------
    steps : iterable of Step
        Steps of one case, as `seqclass.pomdp.stepthrough` or `Episodes.replay` give them.
    policy : Policy
        By which one goes on after each action.
    max_actions : int
        Most rows: deciding and what was asked always, and of the other questions those that come nearest to the best.
    n_paths : int
        Number of paths to sample of each action, if there are too many histories to enumerate.

    Attributes
    ----------
    names : list of str
        Name of each action, deciding first.
    total : ndarray of shape (n_actions, n_steps)
        Expected cost; NaN where a question was not open.
    chosen : ndarray of int of shape (n_steps,)
        Row of the action that was taken.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    image_ : matplotlib AxesImage
        The heat map.

    Raises
    ------
    TypeError
        If ``policy`` is none.
    ValueError
        If there is no step.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Lookahead, TableProblem, simulate, with_names
    >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    >>> problem = with_names(TableProblem([0.5, 0.5], likelihoods, prices=0.1, any_order=True), ["test", "look"])
    >>> episodes = simulate(problem, Lookahead().solve(problem), 5, random_state=0)
    >>> display = ActionValuesDisplay.from_episodes(episodes, case=0)
    >>> display.names, display.total[:, 0].round(3)
    (['decide', 'test', 'look'], array([0.5 , 0.25, 0.35]))
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, steps: Iterable[Step], policy: Policy, *, max_actions: int = 16, n_paths: int = 10_000) -> None:
        as_policy(policy)
        self.steps = list(steps)
        if not self.steps:
            raise ValueError("steps must hold at least one step.")
        names = action_names(self.steps[0].belief.problem.names.questions)
        table = np.full((len(names), len(self.steps)), np.nan)
        for k, step in enumerate(self.steps):
            values = policy.action_values(step.belief, n_paths=n_paths, random_state=0)["total"]
            table[[0, *(np.flatnonzero(step.belief.available[0]) + 1)], k] = values
        chosen = np.array([step.action + 1 for step in self.steps])
        dearer = table - np.min(table, axis=0, where=np.isfinite(table), initial=np.inf)
        nearest = np.min(dearer, axis=1, where=~np.isnan(table), initial=np.inf)
        nearest[[0, *chosen]] = -np.inf
        # in the order in which they were asked, then the nearest first
        asked = list(dict.fromkeys([0, *chosen[chosen > 0].tolist()]))
        others = [j for j in np.argsort(nearest, kind="stable").tolist() if j not in asked and nearest[j] < np.inf]
        order = [*asked, *others[: max(check_integer(max_actions, "max_actions", 1) - len(asked), 0)]]
        self.n_left_out = len(asked) + len(others) - len(order)
        self.names, self.total = [names[action] for action in order], table[order]
        self.chosen = np.array([order.index(action) for action in chosen.tolist()])

    @classmethod
    def from_episodes(cls, episodes: Episodes, case: int = 0, **settings: Any) -> ActionValuesDisplay:
        """Draw one of several episodes.

        Parameters
        ----------
        episodes : Episodes
            What `seqclass.pomdp.simulate` gives.
        case : int
            Number of the episode.
        **settings
            ``ax`` and ``title`` as of `plot`, all others as of `ActionValuesDisplay`.

        Returns
        -------
        ActionValuesDisplay
        """
        return draw(cls, episodes.replay(case), episodes.policy, **settings)

    @classmethod
    def from_estimator(cls, estimator: BaseSequentialClassifier, x_row: Any, **settings: Any) -> ActionValuesDisplay:
        """Draw what a fitted classifier does with an instance.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        x_row : array-like of shape (n_features,), or a row of a data frame
            The instance, in the form of the training data.
        **settings
            ``ax`` and ``title`` as of `plot`, all others as of `ActionValuesDisplay`.

        Returns
        -------
        ActionValuesDisplay
        """
        return draw(cls, stepthrough(estimator, case=x_row), estimator.policy_, **settings)

    def _inches(self) -> tuple[float, float]:
        return 3.6 + 0.62 * max(len(self.steps), 4), 2.6 + 0.3 * max(len(self.names), 3)

    def _title(self) -> str | None:
        n = len(self.names) - 1
        return f"{n} of {n + self.n_left_out} questions" if self.n_left_out else None

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import Rectangle

        finite = np.where(np.isfinite(self.total), self.total, np.nan)
        dearer = finite - np.nanmin(finite, axis=0)
        # deciding early costs so much more that all questions would look alike
        questions = dearer[1:][np.isfinite(dearer[1:])]
        most = float(questions.max(initial=0.0) or np.nanmax(dearer) or 1.0)
        ax.set_facecolor("#F4F4F4")
        self.image_ = ax.imshow(dearer, cmap="Blues_r", vmin=0.0, vmax=most, aspect="auto")
        for (row, k), total in np.ndenumerate(self.total):
            if not np.isnan(total):
                paint = "white" if dearer[row, k] <= 0.4 * most else "black"
                ax.text(k, row, digits_text(total), ha="center", va="center", fontsize=8, color=paint)
        for k, row in enumerate(self.chosen):
            ax.add_patch(Rectangle((k - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2.5))
        seen = [shorten(str(step.outcome if step.outcome is not None else "decides"), 20) for step in self.steps]
        ax.set_xticks(range(len(seen)), seen, rotation=45, ha="right", rotation_mode="anchor", fontsize=8)
        ax.set_yticks(range(len(self.names)), [shorten(name, 30) for name in self.names], fontsize=8)
        ax.set_xlabel("what was then seen, step by step")
        extend = "max" if np.nanmax(dearer) > most else "neither"
        ax.figure.colorbar(self.image_, ax=ax, extend=extend).set_label("dearer than the cheapest by", fontsize=8)
