"""What beliefs are expected to cost, and which action is taken at them, over the simplex of two or three classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import count_text
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_choice, check_integer
from seqclass.plots import _simplex as simplex
from seqclass.plots._style import (
    COLOURS,
    NEUTRAL,
    MultiAxesDisplay,
    OfPolicy,
    draw,
    legend_below,
    legend_name,
    open_frame,
    shorten,
)
from seqclass.pomdp import DECIDE, Policy
from seqclass.pomdp.policy import as_policy
from seqclass.pomdp.problem import as_belief


class ValueFunctionDisplay(OfPolicy, MultiAxesDisplay):
    """Expected cost of policies at every belief, and below it what each of them does there.

    For two classes a line for each policy, with the cost of deciding at once, and a strip of its actions; for three a
    triangle for each. Make one with `from_estimator`, `from_policy` or `from_policies`.

    Parameters
    ----------
    policies : mapping of str to Policy
        Policies of problems with the same two or three classes, by the names that are shown.
    stage : int
        Number of questions asked so far, in a fixed order of questions that are independent given the class; else 0.
    show : {"both", "values", "actions"}
        What is drawn; a policy that draws lots has no actions that go by the belief alone.
    relative_to : str, optional
        Name of a policy to which the others are compared: what they cost more than it is drawn instead of what they
        cost, and it has no picture of its own.
    resolution : int, optional
        Number of steps along an edge of the simplex; by default 200 for two classes and 40 for three, which are 1,600
        beliefs.
    n_paths : int
        Number of paths to sample from each belief, if there are too many histories to enumerate. Where questions have
        hundreds of outcomes these take minutes: 1,000 take about ten seconds, for lines that are less smooth.
    cmap : str or matplotlib Colormap
        Colours of the values over three classes; white lines are at the ticks of their bar.

    Attributes
    ----------
    beliefs : ndarray of shape (n, n_classes)
        Where the policies were asked; for three classes the centres of a triangular mesh.
    values : ndarray of shape (n_policies, n) or None
        Expected cost from there on, of all policies; None where actions alone are shown.
    actions : ndarray of int of shape (n_policies, n) or None
        What is done, by its place in ``names``; None where values alone are shown.
    names : list of str
        Decisions, then all questions of the policies.
    ax_ : ndarray of matplotlib Axes
        Two for two classes, the lower one for actions; for three a row of values and one of actions. Axes of your own
        need a figure with ``layout="constrained"``, so that there is room for the bar and the legend.
    figure_ : matplotlib Figure
        The figure.

    Raises
    ------
    ValueError
        If classes are not two or three and the same for all, a policy does not go by the belief, or what it is
        relative to is none of the policies or the only one.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, Lookahead, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> policies = {"exact": GridValueIteration().solve(problem), "one step": Lookahead().solve(problem)}
    >>> display = ValueFunctionDisplay.from_policies(policies)
    >>> display.values[:, 100].round(3)  # at a half, the middle of 201 beliefs
    array([0.177, 0.177])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        policies: Mapping[str, Policy],
        *,
        stage: int = 0,
        show: Literal["both", "values", "actions"] = "both",
        relative_to: str | None = None,
        resolution: int | None = None,
        n_paths: int = 10_000,
        cmap: Any = "cividis",
    ) -> None:
        if not isinstance(policies, Mapping) or not policies:
            raise TypeError(f"policies must be a dict of policies by name, got {short_repr(policies)}.")
        check_choice(show, "show", ("both", "values", "actions"))
        self.policies, self.cmap, self.relative_to, valued = dict(policies), cmap, relative_to, show != "actions"
        if relative_to is not None and (relative_to not in policies or len(policies) == 1 or not valued):
            raise ValueError(
                f"relative_to must be the name of one of several policies whose values are shown, "
                f"{', '.join(map(repr, policies))}; got {relative_to!r}."
            )
        self.problem = as_policy(next(iter(policies.values()))).problem
        names, n_classes = self.problem.names, self.problem.n_classes
        instead = "policy.value gives numbers for any number of classes"
        simplex.require_few_classes(n_classes, "value functions", instead)
        for name, policy in policies.items():
            own = as_policy(policy).problem.names
            if (own.classes, own.decisions) != (names.classes, names.decisions):
                raise ValueError(f"policies: {name!r} has other classes or decisions than the first one.")
            if show != "values" and len(policy.initial_belief()[1]) > 1:
                alone = 'show values alone (show="values")'
                raise ValueError(f"policies: {name!r} draws a lot for each case, and has no one action; {alone}.")
        self.stage = check_integer(stage, "stage", 0, self.problem.n_stages)
        steps = {2: 200, 3: 40}[n_classes] if resolution is None else resolution
        self.resolution = check_integer(steps, "resolution", 1)
        self.beliefs = simplex.simplex_points(n_classes, self.resolution)
        self.values: FloatArray | None = None
        if valued:
            values = [policy.value(self.beliefs, stage=stage, n_paths=n_paths) for policy in policies.values()]
            self.values = np.array(values)
        questions = [name for policy in policies.values() for name in policy.problem.names.questions]
        self.names = [*(f"decide {name}" for name in names.decisions), *(f"ask {q}" for q in dict.fromkeys(questions))]
        self.actions: IntArray | None = None
        if show != "values":
            self.actions = np.array([self._actions(policy) for policy in policies.values()])
        self._shown = [i for i, name in enumerate(policies) if name != relative_to]
        n, parts = len(self._shown), ("values", "actions") if show == "both" else (show,)
        self._grid: dict[str, Any] = {"nrows": len(parts), "ncols": n}
        if n_classes == 2:
            self._grid |= {"ncols": 1, "sharex": True}
            self._grid |= {"height_ratios": (4, 0.25 + 0.3 * n)} if show == "both" else {}
        self._legend_columns = 2 if n_classes == 2 or n < 2 else 3
        several = f"in {len(parts)} rows: " if len(parts) > 1 else "for "
        self._needed = f"{len(parts) * self._grid['ncols']} axes {several}{', then '.join(parts)}"

    @classmethod
    def from_policies(cls, policies: Mapping[str, Policy], **settings: Any) -> ValueFunctionDisplay:
        """Draw several policies.

        Parameters
        ----------
        policies : mapping of str to Policy
            Policies by name.
        **settings
            ``ax`` and ``title`` as of `plot`, all others as of `ValueFunctionDisplay`.

        Returns
        -------
        ValueFunctionDisplay
        """
        return draw(cls, policies, **settings)

    @classmethod
    def _of_policy(cls, policy: Policy, n_paths: int, settings: Any) -> ValueFunctionDisplay:
        return cls({type(policy).__name__: policy}, n_paths=n_paths, **settings)

    def _actions(self, policy: Policy) -> IntArray:
        question = policy.action(as_belief(policy.problem, self.beliefs, self.stage))
        place = np.array([self.names.index(f"ask {name}") for name in policy.problem.names.questions] or [0])
        return np.where(question == DECIDE, policy.problem.decide(self.beliefs), place[question])

    def _inches(self) -> tuple[float, float]:
        n, strip = len(self._shown), 0.9 + 0.3 * len(self._shown)
        if self.problem.n_classes == 2:
            return 6.4, (0.0 if self.values is None else 4.0) + (0.0 if self.actions is None else strip)
        return (0.4 if self.values is None else 1.4) + 3.0 * n, 1.2 + 2.7 * self._grid["nrows"]

    def _title(self) -> str:
        return f"After {count_text(self.stage, 'questions')}" if self.stage else "Before anything is asked"

    def _legends(self) -> None:
        for ax in self.ax_:
            if ax.get_legend_handles_labels()[1]:
                legend_below(ax)

    def _draw(self, *axes: Any) -> None:
        names, classes = [shorten(list(self.policies)[i], 24) for i in self._shown], self.problem.names.classes
        paints: dict[int, Any] = {}
        if self.actions is not None:
            n_decisions = self.problem.n_decisions
            taken, count = np.unique(self.actions, return_counts=True)
            order = taken[np.argsort(-count, kind="stable")].tolist()
            paints = simplex.action_paints(order, n_decisions, len(self.names) - n_decisions)
        if self.problem.n_classes == 3:
            first = 0 if self.values is None else len(names)
            if self.values is not None:
                self._draw_triangles(axes[:first], self.values)
            for ax, i in zip(axes[first:], self._shown):
                if self.actions is not None:
                    paint = [paints.get(action, "white") for action in range(len(self.names))]
                    simplex.fill_regions(ax, self.resolution, self.actions[i], paint)
            for k, ax in enumerate(axes):
                simplex.frame_triangle(ax, classes, 0.1, 14)
                if k < len(names) and len(self.policies) > 1:
                    ax.set_title(names[k], fontsize=10, pad=14, parse_math=False)
        else:
            if self.values is not None:
                self._draw_lines(axes[0], names, self.values)
            if self.actions is not None:
                self._draw_strips(axes[-1], names, self.actions, paints)
            axes[-1].set_xlabel(f"P({shorten(classes[1], 30)} | what was seen)")
        if paints:
            simplex.key_actions(axes[-1], paints, self.names)

    @property
    def _cost_label(self) -> str:
        if self.relative_to is None:
            return "expected cost from here on"
        return f"expected cost above {shorten(self.relative_to, 24)}"

    def _compare(self, values: FloatArray) -> FloatArray:
        """What is drawn of those shown: their values, or how far these are above those they are compared to."""
        shown = values[self._shown]
        return shown if self.relative_to is None else shown - values[list(self.policies).index(self.relative_to)]

    def _draw_strips(self, ax: Any, names: list[str], actions: IntArray, paints: dict[int, Any]) -> None:
        for row, i in enumerate(self._shown):
            ends, regions = simplex.edges_of(actions[i], self.beliefs[:, 1])
            ax.barh(row, np.diff(ends), left=ends[:-1], height=0.8, color=[paints[r] for r in regions])
        ax.set_yticks(range(len(names)), names, fontsize=9)
        ax.set(ylim=(len(names) - 0.5, -0.5), xlim=(0.0, 1.0))
        ax.spines[["top", "right"]].set_visible(False)

    def _draw_lines(self, ax: Any, names: list[str], values: FloatArray) -> None:
        open_frame(ax)
        p, compared = self.beliefs[:, 1], self._compare(values)
        if self.relative_to is None:
            stop = self.problem.stopping_cost(self.beliefs)
            ax.plot(p, stop, color=NEUTRAL, linewidth=1.5, linestyle="--", label="deciding at once")
            ax.set_ylim(0.0, min(1.05 * float(stop.max()), 1.8 * float(compared.max())) or 1.0)
        for i, (name, own) in enumerate(zip(names, compared)):
            style = ("-", "--", "-.", ":")[i % 4]  # where lines cover one another, both are seen
            ax.plot(p, own, color=COLOURS[-1 - i % len(COLOURS)], linewidth=2, linestyle=style, label=legend_name(name))
        if not self.stage:
            ax.axvline(self.problem.prior[1], color="black", linestyle=":", linewidth=1, label="prior")
        ax.set(xlim=(0.0, 1.0), ylabel=self._cost_label)

    def _draw_triangles(self, axes: Any, values: FloatArray) -> None:
        from matplotlib.ticker import MaxNLocator

        compared = self._compare(values)
        low, top = min(float(compared.min()), 0.0), float(compared.max())
        ticks = np.asarray(MaxNLocator(7).tick_values(low, top))
        inside = ticks[(ticks > low) & (ticks < top)]
        for ax, own in zip(axes, compared):
            image = simplex.fill_triangle(ax, self.resolution, own, cmap=self.cmap, vmin=low, vmax=top or 1.0)
            levels = inside[(inside > own.min()) & (inside < own.max())]
            if levels.size:
                ax.tricontour(*simplex.places(self.beliefs).T, own, levels=levels, colors="white", linewidths=0.6)
        bar = axes[0].figure.colorbar(image, ax=list(axes), shrink=0.85, ticks=ticks[(ticks >= low) & (ticks <= top)])
        bar.set_label(self._cost_label, fontsize=9)
