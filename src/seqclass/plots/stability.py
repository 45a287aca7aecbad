"""How selectors do on a stream: accuracy and stability batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.validation import check_integer, check_kind
from seqclass.plots._style import (
    MARKERS,
    MultiAxesDisplay,
    check_measures,
    colour,
    draw,
    legend_below,
    legend_name,
    open_frame,
    shorten,
)
from seqclass.selection.prequential import Prequential

#: What can be drawn, and what its axis is called.
_LABELS = {
    "accuracy": "accuracy",
    "stability": "stability",
    "changed": "new features",
    "n_selected": "features selected",
    "seconds": "seconds a batch",
}


class StabilityDisplay(MultiAxesDisplay):
    """Measures of selectors over the batches of a stream, with one axes per measure and one line per selector.

    Lines are means over a sliding window of batches; the values themselves are drawn faintly behind them. Make one from
    the records of `seqclass.selection.prequential`, or with `from_runs`.

    Parameters
    ----------
    runs : Prequential or mapping of str to Prequential
        The record, or several by name.
    measures : sequence of str
        What to draw, from top to bottom: ``"accuracy"``, ``"stability"`` (over the window that the run was given),
        ``"changed"`` (features that were not selected after the batch before), ``"n_selected"`` and ``"seconds"``
        (selecting and learning).
    window : int
        Number of batches over which a line averages: a batch and those before it, fewer at the start. 1 draws the
        values as they are.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes of shape (n_measures,)
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure.
    lines_ : list of list of matplotlib Line2D
        For each measure, one line per run.

    Raises
    ------
    TypeError
        If a run is not a `Prequential`.
    ValueError
        If a measure is unknown, there are no runs, or ``window`` is below 1.

    References
    ----------
    .. [1] J. Haug, M. Pawelczyk, K. Broelemann and G. Kasneci, "Leveraging model inherent variable importance for
       stable online feature selection", KDD 2020, Fig. 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Perceptron
    >>> from seqclass.selection import FIRES, OFS, prequential
    >>> X = np.random.default_rng(0).normal(size=(3000, 20))
    >>> y = X[:, 7] > X[:, 12]
    >>> runs = {str(s): prequential(s, Perceptron(), X, y) for s in (FIRES(2), OFS(2))}
    >>> display = StabilityDisplay.from_runs(runs)
    >>> [ax.get_ylabel() for ax in display.ax_]
    ['accuracy', 'stability', 'new features']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        runs: Prequential | Mapping[str, Prequential],
        *,
        measures: Sequence[str] = ("accuracy", "stability", "changed"),
        window: int = 5,
    ) -> None:
        self.runs = dict(runs) if isinstance(runs, Mapping) else {"": runs}
        for run in self.runs.values():
            check_kind(run, Prequential, "runs", "a result of prequential or a dict of them")
        self.measures = check_measures(self.runs, "runs", measures, _LABELS)
        self._grid = {"nrows": len(self.measures), "ncols": 1, "sharex": True}
        self._needed = f"one axes for each of the {len(self.measures)} measures"
        self.window = check_integer(window, "window", 1)

    @classmethod
    def from_runs(cls, runs: Prequential | Mapping[str, Prequential], **settings: Any) -> StabilityDisplay:
        """Draw results of `seqclass.selection.prequential`.

        Parameters
        ----------
        runs : Prequential or mapping of str to Prequential
            Results, by name if there are several.
        **settings
            Passed to the display itself, and to `plot`.

        Returns
        -------
        StabilityDisplay
        """
        return draw(cls, runs, **settings)

    def plot(
        self, ax: Any = None, *, title: str | None = None, events: Mapping[int, str] | None = None
    ) -> StabilityDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            Where to draw, one axes per measure; by default a new figure.
        title : str, optional
            Title; by default none.
        events : mapping of int to str, optional
            Batches to mark by a dotted line, and what happened there, such as ``{60: "drift"}``.

        Returns
        -------
        StabilityDisplay
            The display itself.

        Raises
        ------
        ValueError
            If ``ax`` is not one axes for each measure.
        """
        return self._draw_on(ax, title, events=events)

    def _inches(self) -> tuple[float, float]:
        return 7.0, 0.9 + 1.75 * len(self.measures)

    def _legends(self) -> None:
        legend_below(self.ax_[-1], offset=-0.3)

    def _draw(self, *axes: Any, events: Mapping[int, str] | None) -> None:
        self.lines_ = [self._draw_measure(ax, measure) for ax, measure in zip(axes, self.measures)]
        mark_events(axes, events)
        axes[-1].set_xlabel("batch" if self.window == 1 else f"batch (lines: mean of {self.window} batches)")

    def _draw_measure(self, ax: Any, measure: str) -> list[Any]:
        open_frame(ax)
        lines = []
        for i, (name, run) in enumerate(self.runs.items()):
            value = _series(run, measure)
            batch = np.arange(len(value))
            if self.window > 1:
                ax.plot(batch, value, color=colour(i), linewidth=0.8, alpha=0.25, zorder=2)
            every = max(1, len(value) // 8)
            first = int(every * (i + 0.5) / len(self.runs))  # not all at the same batch: lines may cover each other
            marker = {"marker": MARKERS[i % len(MARKERS)], "markersize": 5, "markevery": (first, every)}
            style: dict[str, Any] = {"color": colour(i), "linewidth": 1.8, "zorder": 3}
            style["label"] = legend_name(shorten(name, 30)) if name else None
            lines += ax.plot(batch, smooth(value, self.window), **marker, **style)
        ax.set(ylabel=_LABELS[measure], xlim=(0, max(1, *(len(run.accuracy) - 1 for run in self.runs.values()))))
        if measure in ("changed", "n_selected", "seconds"):
            ax.set_ylim(bottom=0)
        return lines


def mark_events(axes: Any, events: Mapping[int, str] | None, paint: str = "black") -> None:
    """Draw a dotted line at each event into every axes, its name into the uppermost."""
    for batch, what in (events or {}).items():
        for ax in axes:
            ax.axvline(batch, color=paint, linestyle=":", linewidth=1.2, zorder=1)
        place = axes[0].get_xaxis_transform()
        axes[0].text(batch, 1.0, f" {shorten(what, 40)}", transform=place, ha="left", va="bottom", fontsize=8)


def _series(run: Prequential, measure: str) -> FloatArray:
    """Value of a measure after each batch; NaN where there is none."""
    if measure == "seconds":
        return run.selection_seconds + run.learning_seconds
    if measure == "n_selected":
        return np.array([len(chosen) for chosen in run.selected], dtype=np.float64)
    if measure == "changed":
        pairs = zip(run.selected, run.selected[1:])
        return np.array([np.nan, *(len(np.setdiff1d(new, old)) for old, new in pairs)], dtype=np.float64)
    return np.asarray(getattr(run, measure))


def smooth(value: FloatArray, window: int) -> FloatArray:
    """Mean of each value and the ``window`` - 1 before it, as far as they are known; NaN where the value is not."""
    import pandas as pd

    series = pd.Series(value)
    return np.asarray(series.rolling(window, min_periods=1).mean().where(series.notna()))
