"""Between which beliefs a policy for two classes goes on, against the stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass.analysis import Thresholds, thresholds
from seqclass.classifier import SequentialClassifier
from seqclass.plots._style import FAINT, NEUTRAL, PALE, legend_below, new_axes, open_frame, pale, shorten
from seqclass.plots.stopping_region import _lot_text
from seqclass.pomdp import Policy

#: With more stages than this the axis has numbers instead of feature names.
_NAMED = 24


class ThresholdsDisplay:
    """Where each stage goes on and where it stops: a case is asked while its belief is inside the grey interval.

    Make one with `from_estimator`, `from_policy` or from the record of `seqclass.analysis.thresholds`.

    Parameters
    ----------
    thresholds : Thresholds
        Intervals of the stages; of several contexts only those that go on are drawn, over each other.
    classes : sequence of length 2, optional
        Labels; by default numbers.
    names : sequence of str of length n_stages, optional
        Name of each stage's feature; by default numbers.
    decisions : sequence, optional
        Labels of all decisions; by default the classes, then numbers.
    prior : float, optional
        P(second class) before anything is asked, drawn as a line.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

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
        self.classes = [0, 1] if classes is None else list(classes)
        if len(self.classes) != 2:
            raise ValueError(f"classes must have 2 labels, got {len(self.classes)}.")
        most = int(thresholds.region.max(initial=1))
        given = self.classes if decisions is None else list(decisions)
        self.decisions = given + [f"decision {j}" for j in range(len(given), most + 1)]
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
            By default none, or which lot it is.
        max_stages : int, optional
            Stages to show; by default all up to the policy's horizon.
        lot : int
            The lot that was drawn, for policies that draw one: of a `RandomisedPolicy` the position in ``policies``.
        **settings
            Passed to `ThresholdsDisplay`; ``names`` may be longer than the stages shown.

        Returns
        -------
        ThresholdsDisplay
        """
        found = thresholds(policy, max_stages=max_stages, lot=lot, tolerance=1e-6)
        if title is None:
            title = _lot_text(policy, lot) or None
        if settings.get("names") is not None:
            settings["names"] = list(settings["names"])[: found.n_stages]
        settings.setdefault("prior", float(policy.problem.prior[1]))
        return cls(found, **settings).plot(ax, title=title)

    @classmethod
    def from_estimator(cls, estimator: SequentialClassifier, **settings: Any) -> ThresholdsDisplay:
        """Draw the intervals of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : SequentialClassifier
            A fitted classifier.
        **settings
            Passed to `from_policy`.

        Returns
        -------
        ThresholdsDisplay
        """
        names = [estimator.feature_name(int(column)) for column in estimator.order_]
        return cls.from_policy(
            estimator.policy_, classes=estimator.classes_, decisions=estimator.decisions_, names=names, **settings
        )

    def plot(self, ax: Any = None, *, title: str | None = None) -> ThresholdsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        title : str, optional
            By default none.

        Returns
        -------
        ThresholdsDisplay
            Itself.
        """
        from matplotlib.patches import Patch

        found, n = self.thresholds, self.thresholds.n_stages
        ax = new_axes(ax, float(np.clip(2 + 0.3 * n, 6.0, 11.0)), 4.4)
        self.ax_, self.figure_ = ax, ax.figure
        open_frame(ax)
        ax.grid(visible=False)
        several = bool(found.context.any())
        width = 0.86 if n <= 60 else 1.0
        handles: list[Any] = []
        for region in np.unique(found.region).tolist():
            rows = found.region == region
            label = "go on: ask" if region < 0 else f"stop: {shorten(self.decisions[region], 22)}"
            paint = PALE if region < 0 else pale(region, 0.3)
            if not several:
                height = found.upper[rows] - found.lower[rows]
                ax.bar(found.stage[rows], height, width, bottom=found.lower[rows], color=paint, linewidth=0)
                handles.append(Patch(color=paint, label=label))
            elif region < 0:  # each context a veil: the darker, the more of them go on
                for context in range(int(found.context.max()) + 1):
                    mine = rows & (found.context == context)
                    height, low = found.upper[mine] - found.lower[mine], found.lower[mine]
                    ax.bar(found.stage[mine], height, width, bottom=low, color=NEUTRAL, alpha=0.15, linewidth=0)
                handles.append(Patch(color=FAINT, label="go on: ask, in some contexts"))
        lower = found.lower[found.lower > 0]
        stage = found.stage[found.lower > 0]
        ax.hlines(lower, stage - width / 2, stage + width / 2, color="black", linewidth=0.6 if several else 1.2)
        if self.prior is not None:
            handles.append(ax.axhline(self.prior, color=NEUTRAL, linestyle=":", linewidth=1.5, label="prior"))
        self._axes(ax, n, title)
        place = self.figure_.legend if ax.get_subplotspec() is not None and len(self.figure_.axes) == 1 else None
        if place is None:
            legend_below(ax, handles)
        else:  # below the names, however long they are
            place(handles=handles, loc="outside lower center", ncols=2, fontsize=9, frameon=False)
        return self

    def _axes(self, ax: Any, n: int, title: str | None) -> None:
        ax.set_xlim(-0.6, n - 0.4)
        ax.set_ylim(0.0, 1.0)
        ax.set_ylabel(f"P({shorten(self.classes[1], 20)} | what was seen)")
        if n <= _NAMED:
            ax.set_xticks(range(n), [shorten(name, 24) for name in self.names], rotation=90, fontsize=8)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
            ax.set_xlabel("features asked so far")
        if title is not None:
            ax.set_title(title, fontsize=11)
