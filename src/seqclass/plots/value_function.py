"""What beliefs are expected to cost, and which action is taken at them, over the simplex of two or three classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import count_text
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_integer
from seqclass.plots import _simplex as simplex
from seqclass.plots._style import COLOURS, NEUTRAL, MultiAxesDisplay, OfPolicy, drawn, legend_below, open_frame, shorten
from seqclass.pomdp import DECIDE, Policy
from seqclass.pomdp.one_step import as_belief


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
    actions : bool
        Whether actions are shown; a policy that draws lots has none that go by the belief alone.
    resolution : int, optional
        Number of steps along an edge of the simplex; by default 200 for two classes and 40 for three.
    n_paths : int
        Number of paths to sample from each belief, if there are too many histories to enumerate.

    Attributes
    ----------
    beliefs : ndarray of shape (n, n_classes)
        Where the policies were asked; for three classes the centres of a triangular mesh.
    values : ndarray of shape (n_policies, n)
        Expected cost from there on.
    actions : ndarray of int of shape (n_policies, n) or None
        What is done, by its place in ``names``.
    names : list of str
        Decisions, then all questions of the policies.
    ax_ : ndarray of matplotlib Axes
        Two for two classes, the lower one for actions; for three a row of values and one of actions.
    figure_ : matplotlib Figure
        The figure.

    Raises
    ------
    ValueError
        If classes are not two or three and the same for all, or a policy does not go by the belief.

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
        actions: bool = True,
        resolution: int | None = None,
        n_paths: int = 10_000,
    ) -> None:
        if not isinstance(policies, Mapping) or not policies:
            raise TypeError(f"policies must be a dict of policies by name, got {short_repr(policies)}.")
        self.policies = dict(policies)
        self.problem = next(iter(policies.values())).problem
        names, n_classes = self.problem.names, self.problem.n_classes
        simplex.require_few_classes(
            n_classes, "value functions", "policy.value gives numbers for any number of classes"
        )
        for name, policy in policies.items():
            own = policy.problem.names
            if (own.classes, own.decisions) != (names.classes, names.decisions):
                raise ValueError(f"policies: {name!r} has other classes or decisions than the first one.")
            if actions and len(policy.initial_belief()[1]) > 1:
                alone = "show values alone (actions=False)"
                raise ValueError(f"policies: {name!r} draws a lot for each case, and has no one action; {alone}.")
        self.stage = check_integer(stage, "stage", 0, self.problem.n_stages)
        steps = {2: 200, 3: 40}[n_classes] if resolution is None else resolution
        self.resolution = check_integer(steps, "resolution", 1)
        self.beliefs = simplex.simplex_points(n_classes, self.resolution)
        values = [policy.value(self.beliefs, stage=stage, n_paths=n_paths) for policy in policies.values()]
        self.values: FloatArray = np.array(values)
        questions = [name for policy in policies.values() for name in policy.problem.names.questions]
        self.names = [*(f"decide {name}" for name in names.decisions), *(f"ask {q}" for q in dict.fromkeys(questions))]
        self.actions = np.array([self._actions(policy) for policy in policies.values()]) if actions else None
        n, rows = len(policies), 2 if actions else 1
        if n_classes == 2:
            self._grid = {"nrows": rows, "ncols": 1, "sharex": True}
            self._grid |= {"height_ratios": (4, 0.25 + 0.3 * n)} if actions else {}
        else:
            self._grid = {"nrows": rows, "ncols": n}
        self._legend_columns = 2 if n_classes == 2 or n < 2 else 3
        self._needed = f"{rows * self._grid['ncols']} axes in {rows} rows: values, then actions"

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
        return drawn(cls, policies, **settings)

    @classmethod
    def _of_policy(cls, policy: Policy, n_paths: int, settings: Any) -> ValueFunctionDisplay:
        return cls({type(policy).__name__: policy}, n_paths=n_paths, **settings)

    def _actions(self, policy: Policy) -> IntArray:
        question = policy.action(as_belief(policy.problem, self.beliefs, self.stage))
        place = np.array([self.names.index(f"ask {name}") for name in policy.problem.names.questions] or [0])
        return np.where(question == DECIDE, policy.decide(self.beliefs), place[question])

    def _inches(self) -> tuple[float, float]:
        n = len(self.policies)
        if self.problem.n_classes == 2:
            return 6.4, 4.0 + (0.9 + 0.3 * n if self.actions is not None else 0.0)
        return 1.4 + 3.4 * n, 1.2 + 3.0 * self._grid["nrows"]

    def _title(self) -> str:
        return f"After {count_text(self.stage, 'questions')}" if self.stage else "Before anything is asked"

    def _legends(self) -> None:
        for ax in self.ax_:
            if ax.get_legend_handles_labels()[1]:
                legend_below(ax)

    def _draw(self, *axes: Any) -> None:
        n, names = len(self.policies), [shorten(name, 24) for name in self.policies]
        paints: dict[int, Any] = {}
        if self.actions is not None:
            taken, count = np.unique(self.actions, return_counts=True)
            paints = simplex.action_paints(taken[np.argsort(-count, kind="stable")].tolist(), self.problem.n_decisions)
        if self.problem.n_classes == 3:
            self._draw_triangles(axes, names)
            for ax, region in zip(axes[n:], () if self.actions is None else self.actions):
                paint = [paints.get(action, "white") for action in range(len(self.names))]
                simplex.fill_regions(ax, self.resolution, region, paint)
                simplex.frame_triangle(ax, self.problem.names.classes, 0.1, 14)
        else:
            self._draw_lines(axes[0], names)
            for row, region in enumerate(() if self.actions is None else self.actions):
                ends, regions = simplex.edges_of(region, self.beliefs[:, 1])
                axes[1].barh(row, np.diff(ends), left=ends[:-1], height=0.8, color=[paints[r] for r in regions])
            if paints:
                axes[1].set_yticks(range(n), names, fontsize=9)
                axes[1].set_ylim(n - 0.5, -0.5)
                axes[1].spines[["top", "right"]].set_visible(False)
            axes[-1].set_xlabel(f"P({shorten(self.problem.names.classes[1], 30)} | what was seen)")
        if paints:
            simplex.key_actions(axes[-1], paints, self.names)

    def _draw_lines(self, ax: Any, names: list[str]) -> None:
        open_frame(ax)
        p, stop = self.beliefs[:, 1], self.problem.stopping_cost(self.beliefs)
        ax.plot(p, stop, color=NEUTRAL, linewidth=1.5, linestyle="--", label="deciding at once")
        for i, (name, values) in enumerate(zip(names, self.values)):
            style = ("-", "--", "-.", ":")[i % 4]  # where lines cover one another, both are seen
            ax.plot(p, values, color=COLOURS[-1 - i % len(COLOURS)], linewidth=2, linestyle=style, label=name)
        if not self.stage:
            ax.axvline(self.problem.prior[1], color="black", linestyle=":", linewidth=1, label="prior")
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(0.0, min(1.05 * float(stop.max()), 1.8 * float(self.values.max())) or 1.0)
        ax.set_ylabel("expected cost from here on")

    def _draw_triangles(self, axes: Any, names: list[str]) -> None:
        top = float(self.values.max())
        for ax, name, values in zip(axes, names, self.values):
            image = simplex.fill_triangle(ax, self.resolution, values, cmap="cividis", vmin=0.0, vmax=top)
            if top > 0:
                levels = np.linspace(0.0, top, 9)[1:-1]
                ax.tricontour(*simplex.places(self.beliefs).T, values, levels=levels, colors="white", linewidths=0.6)
            simplex.frame_triangle(ax, self.problem.names.classes, 0.1, 14)
            if len(names) > 1:
                ax.set_title(name, fontsize=10, parse_math=False)
        bar = axes[0].figure.colorbar(image, ax=list(axes), shrink=0.8 / self._grid["nrows"], anchor=(0.0, 0.9))
        bar.set_label("expected cost from here on", fontsize=9)
