"""How a classifier does when more and more features are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass.analysis import missing_sweep
from seqclass.analysis.missing import MissingSweep
from seqclass.plots._style import MARKERS, MultiAxesDisplay, check_measures, colour, legend_name, open_frame, shorten

#: What can be drawn, and what its axis is called.
_LABELS = {
    "accuracy": "accuracy",
    "n_features": "mean features acquired",
    "n_asked": "mean features asked for",
    "cost": "realised cost",
    "log_loss": "log loss, nats",
}


class MissingSweepDisplay(MultiAxesDisplay):
    """Measures against the share of missing cells, with one axes per measure and one line per classifier.

    Bars show one standard error to either side. A dotted line marks the value with nothing missing. Make one with
    `from_estimator`, or from the records of `seqclass.analysis.missing_sweep`.

    Parameters
    ----------
    sweeps : MissingSweep or mapping of str to MissingSweep
        The record, or several by name.
    measures : sequence of str
        Measures to draw: ``"accuracy"``, ``"n_features"``, ``"n_asked"``, ``"cost"``, ``"log_loss"``.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes of shape (n_measures,)
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure.

    Raises
    ------
    ValueError
        If a measure is unknown, or there are no sweeps.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE TAI 2021, Fig. 5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SequentialClassifier().fit(X[::2], y[::2])
    >>> display = MissingSweepDisplay.from_estimator(clf, X[1::2], y[1::2], shares=[0, 0.01, 0.1, 0.5], n_repeats=2)
    >>> [ax.get_ylabel() for ax in display.ax_]
    ['accuracy', 'mean features acquired']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        sweeps: MissingSweep | Mapping[str, MissingSweep],
        *,
        measures: Sequence[str] = ("accuracy", "n_features"),
    ) -> None:
        self.sweeps = dict(sweeps) if isinstance(sweeps, Mapping) else {"": sweeps}
        self.measures = check_measures(self.sweeps, "sweeps", measures, _LABELS)
        self._grid = {"nrows": 1, "ncols": len(self.measures)}
        self._needed = f"one axes for each of the {len(self.measures)} measures"

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseSequentialClassifier,
        X: Any,
        y: npt.ArrayLike,
        *,
        ax: Any = None,
        title: str | None = None,
        measures: Sequence[str] = ("accuracy", "n_features"),
        **settings: Any,
    ) -> MissingSweepDisplay:
        """Remove cells of test data at random, and draw how the classifier does.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        X : array-like, data frame or sparse array of shape (n, n_features)
            Test data.
        y : array-like of shape (n,)
            Labels.
        ax : sequence of matplotlib Axes, optional
            Where to draw, one axes per measure; by default a new figure.
        title : str, optional
            Title; by default none.
        measures : sequence of str
            What to draw.
        **settings
            Passed to `seqclass.analysis.missing_sweep`, such as ``shares``.

        Returns
        -------
        MissingSweepDisplay
        """
        return cls(missing_sweep(estimator, X, y, **settings), measures=measures).plot(ax, title=title)

    def _inches(self) -> tuple[float, float]:
        return 4.1 * len(self.measures), 3.6

    def _draw(self, *axes: Any) -> None:
        for ax, measure in zip(axes, self.measures):
            self._draw_measure(ax, measure)

    def _scale(self, ax: Any) -> None:
        """A logarithmic axis that names what was tried, where there is room for it."""
        ticks: list[float] = []
        for share in sorted({100 * float(s) for sweep in self.sweeps.values() for s in sweep.share if s > 0}):
            if not ticks or share > 1.25 * ticks[-1]:
                ticks.append(share)
        if ticks:
            ax.set_xscale("log")
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.minorticks_off()

    def _draw_measure(self, ax: Any, measure: str) -> None:
        open_frame(ax)
        whole = False
        for number, (name, sweep) in enumerate(self.sweeps.items()):
            some = sweep.share > 0
            value, error = getattr(sweep, measure), getattr(sweep, f"{measure}_error")
            style = {"color": colour(number), "marker": MARKERS[number % len(MARKERS)], "markersize": 5, "capsize": 3}
            label = legend_name(shorten(name, 24)) if name else None
            ax.errorbar(100 * sweep.share[some], value[some], np.nan_to_num(error[some]), label=label, **style)
            for level in value[~some]:
                whole = True
                ax.axhline(level, color=colour(number), linestyle=":", linewidth=1.5)
        if whole:
            ax.plot([], [], color="black", linestyle=":", linewidth=1.5, label="nothing missing")
        self._scale(ax)
        ax.set(xlabel="missing cells, %", ylabel=_LABELS[measure])
