"""Where on the belief simplex a policy stops and where it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import IntArray
from seqclass._utils.text import digits_text
from seqclass._utils.validation import check_integer
from seqclass.analysis import thresholds
from seqclass.analysis.regions import Thresholds, n_contexts, one_row, spread
from seqclass.plots._simplex import (
    edges_of,
    fill_regions,
    frame_triangle,
    places,
    require_few_classes,
    simplex_points,
)
from seqclass.plots._style import (
    FAINT,
    NEUTRAL,
    PALE,
    Display,
    OfPolicy,
    draw,
    legend_below,
    open_frame,
    pale,
    shorten,
)
from seqclass.pomdp import DECIDE, Policy
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.needs import require_fixed_order, require_no_visits
from seqclass.pomdp.policy import as_policy

#: Steps along an edge of the simplex, by number of classes.
_RESOLUTION = {2: 1000, 3: 250}


class StoppingRegionDisplay(Display):
    """Where on the belief simplex a policy stops, and for which decision, and where it goes on.

    For two classes: the costs of stopping and of going on against the belief. For three: a triangle with a class at
    each corner. Make one with `from_estimator` or `from_policy`.

    Parameters
    ----------
    policy : Policy
        The policy of a problem with two or three classes.
    stage : int
        Number of features asked so far, below the policy's horizon.
    classes, decisions : sequence, optional
        Labels; by default the names that the problem has.
    feature : str, optional
        Name of the feature that this stage asks for; by default the problem's.
    context : int
        Context at this stage, for problems whose likelihoods depend on what was seen before.
    lot : int
        The lot that was drawn, for a policy that draws one: the position in ``policies`` of a `RandomisedPolicy`.
    resolution : int, optional
        Number of steps along an edge of the simplex; by default 1000 for two classes and 250 for three.

    Attributes
    ----------
    beliefs : ndarray of shape (n, n_classes)
        Beliefs at which the policy was asked; for three classes the centres of a triangular mesh.
    go_on : ndarray of bool of shape (n,)
        Where it goes on.
    decision : ndarray of int of shape (n,)
        The cheapest decision at each belief.
    stopping_cost, continuation_cost : ndarray of shape (n,)
        Expected cost of deciding now, and of going on. The latter is NaN if the policy does not know it, and counts
        prices as the policy does (`RepricedPolicy`).
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Raises
    ------
    ValueError
        If there are more than three classes, or stage, context or lot do not exist.

    Notes
    -----
    For the discounts of groups, features of earlier stages count as acquired. A model without tables is shown as if all
    earlier features had been missing: the belief is then all it knows.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> display = StoppingRegionDisplay.from_policy(GridValueIteration().solve(problem), classes=["no", "yes"])
    >>> display.beliefs[display.go_on, 1].round(2)[[0, -1]].tolist()  # it asks if P(yes) is between these
    [0.22, 0.73]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        policy: Policy,
        stage: int = 0,
        *,
        classes: Sequence[Any] | npt.NDArray[Any] | None = None,
        decisions: Sequence[Any] | npt.NDArray[Any] | None = None,
        feature: str | None = None,
        context: int = 0,
        lot: int = 0,
        resolution: int | None = None,
    ) -> None:
        problem = as_policy(policy).problem
        n_classes = problem.n_classes
        instead = "BeliefPathDisplay shows single instances of any number of classes"
        require_few_classes(n_classes, "stopping regions", instead)
        instead = "decision_graph, or ValueFunctionDisplay for a picture over beliefs"
        require_fixed_order(problem, "StoppingRegionDisplay", instead)
        require_no_visits(problem, "StoppingRegionDisplay", "decision_graph")
        self.policy = policy
        if policy.n_stages < 1:
            raise ValueError("the policy never asks for a feature: its horizon is 0 stages.")
        self.stage = check_integer(stage, "stage", 0, policy.n_stages - 1)
        self.context = check_integer(context, "context", 0, n_contexts(problem, self.stage) - 1)
        self.lot = lot
        self.resolution = check_integer(_RESOLUTION[n_classes] if resolution is None else resolution, "resolution", 1)
        names = problem.names
        self.classes = _labels(classes, "classes", names.classes)
        own = names.decisions if classes is None else [*self.classes, *names.decisions[n_classes:]]
        self.decisions = _labels(decisions, "decisions", own)
        self.feature = names.question(self.stage) if feature is None else feature
        self.beliefs = simplex_points(n_classes, self.resolution)
        belief = spread(one_row(policy, self.stage, self.context, lot), self.beliefs)
        self.go_on = policy.action(belief) != DECIDE
        self.decision = problem.decide(self.beliefs)
        self.stopping_cost = belief.stopping_cost
        self.continuation_cost = policy.continuation_cost(belief)
        self._shown_decisions = [j for j in range(problem.n_decisions) if ((self.decision == j) & ~self.go_on).any()]

    @classmethod
    def from_policy(cls, policy: Policy, stage: int = 0, **settings: Any) -> StoppingRegionDisplay:
        """Draw a policy at one stage.

        Parameters
        ----------
        policy : Policy
            The policy of a problem with two or three classes.
        stage : int
            Number of features asked so far, below the policy's horizon.
        **settings
            Passed to the display itself, and to `plot`.

        Returns
        -------
        StoppingRegionDisplay
        """
        return draw(cls, policy, stage, **settings)

    @classmethod
    def from_estimator(
        cls, estimator: BaseSequentialClassifier, stage: int = 0, **settings: Any
    ) -> StoppingRegionDisplay:
        """Draw the policy of a fitted classifier at one stage.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier with two or three classes.
        stage : int
            Number of features asked so far, below the policy's horizon.
        **settings
            Passed to `from_policy`.

        Returns
        -------
        StoppingRegionDisplay
        """
        return cls.from_policy(estimator.policy_, stage, **settings)

    _title_pad = 10.0

    _size = (6.0, 4.5)

    def _draw(self, ax: Any) -> None:
        three = len(self.classes) == 3
        handles = self._draw_triangle(ax) if three else self._draw_line(ax)
        handles += self._draw_prior(ax)
        if three:  # beside the tip of the triangle
            ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 1.0), fontsize=9, frameon=False)
        else:
            legend_below(ax, handles, -0.17, columns=2)

    def _title(self) -> str:
        price = planned_prices(self.policy.problem)[self.stage]
        seen = ["Before any feature", "After 1 feature"]
        when = seen[self.stage] if self.stage < 2 else f"After {self.stage} features"
        title = f"{when}: ask {shorten(self.feature, 30)} for {digits_text(price)}?"
        which = _lot_text(self.policy, self.lot)
        return f"{title}\n{which}" if which else title

    def _region(self) -> IntArray:
        """Number of the region of each belief: 0 to go on, else one more than the decision."""
        return np.where(self.go_on, 0, self.decision + 1)

    def _patches(self) -> list[Any]:
        from matplotlib.patches import Patch

        stops = [Patch(color=pale(j), label=f"stop: {shorten(self.decisions[j], 22)}") for j in self._shown_decisions]
        more = [Patch(facecolor=PALE, edgecolor=NEUTRAL, label="go on: ask")] if self.go_on.any() else []
        return [*more, *stops]

    def _draw_line(self, ax: Any) -> list[Any]:
        open_frame(ax)
        p, region = self.beliefs[:, 1], self._region()
        edges, regions = edges_of(region, p)
        for left, right, r in zip(edges, edges[1:], regions):
            ax.axvspan(left, right, color=PALE if r == 0 else pale(int(r) - 1, 0.3), linewidth=0, zorder=0)
        style = {"color": "black", "linewidth": 2}
        lines = ax.plot(p, self.stopping_cost, label="cost of stopping", **style)
        if np.isfinite(self.continuation_cost).any():
            lines += ax.plot(p, self.continuation_cost, linestyle="--", label="cost of going on", **style)
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, None))
        ax.grid(visible=False)
        ax.set(xlabel=f"P({shorten(self.classes[1], 30)} | what was seen)", ylabel="expected cost from here on")
        return [*lines, *self._patches()]

    def _draw_triangle(self, ax: Any) -> list[Any]:
        paints: list[Any] = [PALE, *map(pale, range(len(self.decisions)))]
        fill_regions(ax, self.resolution, self._region(), paints)
        frame_triangle(ax, self.classes)
        return self._patches()

    def _draw_prior(self, ax: Any) -> list[Any]:
        """Where the case starts, at the first stage."""
        if self.stage > 0:
            return []
        prior = self.policy.problem.prior
        if len(prior) == 2:
            return [ax.axvline(prior[1], color="black", linestyle=":", linewidth=1.5, label="prior")]
        x, y = places(prior)
        style = {"linestyle": "none", "marker": "*", "markersize": 13, "color": "black"}
        return list(ax.plot([x], [y], label="prior", **style))


def _lot_text(policy: Policy, lot: int) -> str:
    """Say which of several lots is shown; nothing where there is one."""
    probability = policy.initial_belief()[1]
    if len(probability) == 1:
        return ""
    return f"lot {lot} of {len(probability)}, drawn with probability {probability[lot]:.2g}"


def _labels(labels: Any, name: str, default: Sequence[Any]) -> list[Any]:
    own = list(default if labels is None else labels)
    if len(own) != len(default):
        raise ValueError(f"{name} must have {len(default)} labels, got {len(own)}.")
    return own


class ThresholdsDisplay(OfPolicy, Display):
    """Where each stage goes on and where it stops: a case is asked as long as its belief is inside the grey interval.

    Make one with `from_estimator`, `from_policy` or from the record of `seqclass.analysis.thresholds`.

    Parameters
    ----------
    thresholds : Thresholds
        Intervals of the stages; with several contexts only the intervals that go on are drawn, on top of each other.
    classes : sequence of length 2, optional
        Labels; by default the names that the problem has.
    names : sequence of str of length n_stages, optional
        Name of the feature at each stage; by default the problem's.
    decisions : sequence, optional
        Labels of all decisions; by default the problem's, or if ``classes`` are given these, then numbers.
    prior : float, optional
        P(second class) before anything is asked, drawn as a line.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> display = ThresholdsDisplay.from_policy(GridValueIteration().solve(problem), classes=["no", "yes"])
    >>> display.ax_.get_ylabel()
    'P(yes | what was seen)'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        thresholds: Thresholds,
        *,
        classes: Sequence[Any] | npt.NDArray[Any] | None = None,
        names: Sequence[str] | None = None,
        decisions: Sequence[Any] | npt.NDArray[Any] | None = None,
        prior: float | None = None,
    ) -> None:
        self.thresholds = thresholds
        known = thresholds.names
        self.classes = list(classes if classes is not None else [0, 1] if known is None else known.classes)
        if len(self.classes) != 2:
            raise ValueError(f"classes must have 2 labels, got {len(self.classes)}.")
        if decisions is None and classes is None and known is not None:
            decisions = known.decisions
        own = self.classes if decisions is None else list(decisions)
        self.decisions = own + [f"decision {j}" for j in range(len(own), int(thresholds.region.max(initial=1)) + 1)]
        if names is None and known is not None:
            names = known.questions[: thresholds.n_stages]
        self.names = [f"feature {j}" for j in thresholds.feature] if names is None else [str(name) for name in names]
        if len(self.names) != thresholds.n_stages:
            raise ValueError(f"names must have one entry a stage, {thresholds.n_stages}, got {len(self.names)}.")
        self.prior = prior

    @classmethod
    def from_policy(
        cls,
        policy: Policy,
        *,
        ax: Any = None,
        title: str | None = None,
        max_stages: int | None = None,
        lot: int = 0,
        **settings: Any,
    ) -> ThresholdsDisplay:
        """Draw the intervals of a policy.

        Parameters
        ----------
        policy : Policy
            A policy for two classes.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        title : str, optional
            Title; by default none, or which lot it is.
        max_stages : int, optional
            Most stages to show; by default all up to the policy's horizon.
        lot : int
            The lot that was drawn, for a policy that draws one: the position in ``policies`` of a `RandomisedPolicy`.
        **settings
            Passed to `ThresholdsDisplay`; ``names`` may be longer than the stages shown.

        Returns
        -------
        ThresholdsDisplay
        """
        intervals = thresholds(policy, max_stages=max_stages, lot=lot, tolerance=1e-6)
        if title is None:
            title = _lot_text(policy, lot) or None
        if settings.get("names") is not None:
            settings["names"] = list(settings["names"])[: intervals.n_stages]
        settings.setdefault("prior", float(policy.problem.prior[1]))
        return cls(intervals, **settings).plot(ax, title=title)

    def _inches(self) -> tuple[float, float]:
        return float(np.clip(2 + 0.3 * self.thresholds.n_stages, 6.0, 11.0)), 4.4

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import Patch

        intervals, n = self.thresholds, self.thresholds.n_stages
        open_frame(ax, grid="")
        several = bool(intervals.context.any())
        width = 0.86 if n <= 60 else 1.0
        handles: list[Any] = []
        for region in np.unique(intervals.region).tolist():
            rows = intervals.region == region
            label = "go on: ask" if region < 0 else f"stop: {shorten(self.decisions[region], 22)}"
            paint = PALE if region < 0 else pale(region, 0.3)
            if not several:
                height = intervals.upper[rows] - intervals.lower[rows]
                ax.bar(intervals.stage[rows], height, width, bottom=intervals.lower[rows], color=paint, linewidth=0)
                handles.append(Patch(color=paint, label=label))
            elif region < 0:  # each context a veil: the darker, the more of them go on
                for context in range(int(intervals.context.max()) + 1):
                    mine = rows & (intervals.context == context)
                    height, low = intervals.upper[mine] - intervals.lower[mine], intervals.lower[mine]
                    ax.bar(intervals.stage[mine], height, width, bottom=low, color=NEUTRAL, alpha=0.15, linewidth=0)
                handles.append(Patch(color=FAINT, label="go on: ask, in some contexts"))
        lower = intervals.lower[intervals.lower > 0]
        stage = intervals.stage[intervals.lower > 0]
        ax.hlines(lower, stage - width / 2, stage + width / 2, color="black", linewidth=0.6 if several else 1.2)
        if self.prior is not None:
            handles.append(ax.axhline(self.prior, color=NEUTRAL, linestyle=":", linewidth=1.5, label="prior"))
        self._axes(ax, n)
        place = self.figure_.legend if ax.get_subplotspec() is not None and len(self.figure_.axes) == 1 else None
        if place is None:
            legend_below(ax, handles)
        else:  # below the names, however long they are
            place(handles=handles, loc="outside lower center", ncols=2, fontsize=9, frameon=False)

    def _axes(self, ax: Any, n: int) -> None:
        ax.set(xlim=(-0.6, n - 0.4), ylim=(0.0, 1.0), ylabel=f"P({shorten(self.classes[1], 20)} | what was seen)")
        if n <= 24:  # else there are numbers
            ax.set_xticks(range(n), [shorten(name, 24) for name in self.names], rotation=90, fontsize=8)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
            ax.set_xlabel("features asked so far")
