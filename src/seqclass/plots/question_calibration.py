"""How sure and how often right beliefs are at the stop, by the number of questions asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.validation import class_numbers
from seqclass.agent.record import AcquisitionRecord
from seqclass.evaluation.calibration_curves import QuestionCalibration, calibration_by_questions
from seqclass.plots._style import NEUTRAL, Display, OfRecord, colour, legend_below, open_frame
from seqclass.plots.acquisition_map import labels_of


class QuestionCalibrationDisplay(OfRecord, Display):
    """Confidence and accuracy at the stop, by the number of questions asked.

    Accuracy has its 95% interval; if confidence lies outside, do not trust the belief of instances that stopped there.
    `StagewiseCalibrationDisplay` includes all instances that got that far, also those that went on. Make one with
    `from_record` or `from_estimator`.

    Parameters
    ----------
    stops : sequence of QuestionCalibration
        What `seqclass.evaluation.calibration_curves.calibration_by_questions` returns.

    Attributes
    ----------
    stops : list of QuestionCalibration
        The stops given.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        Confidence and accuracy.

    Raises
    ------
    ValueError
        If there is nothing to draw.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import seqclass
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = seqclass.etana(0.01).fit(X[::2], y[::2])
    >>> display = QuestionCalibrationDisplay.from_estimator(clf, X[1::2], y[1::2])
    >>> sum(one.n_rows for one in display.stops)
    75
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, stops: Sequence[QuestionCalibration]) -> None:
        if not stops:
            raise ValueError("stops must hold at least one number of questions.")
        self.stops = list(stops)

    @classmethod
    def from_record(
        cls,
        record: AcquisitionRecord,
        y: npt.ArrayLike,
        *,
        classes: npt.ArrayLike,
        least: int = 20,
        ax: Any = None,
        **settings: Any,
    ) -> QuestionCalibrationDisplay:
        """Draw what was acquired for labelled instances.

        Parameters
        ----------
        record : AcquisitionRecord
            Record of ``n`` instances.
        y : array-like of shape (n,)
            True labels.
        classes : array-like of shape (n_classes,)
            Label of each class, such as ``classes_`` of a classifier.
        least : int
            Neighbouring numbers of questions are merged until at least this many rows stopped after them.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        QuestionCalibrationDisplay
        """
        return cls(stops_of(record, labels_of(record, y), classes, least)).plot(ax, **settings)

    def _inches(self) -> tuple[float, float]:
        return max(5.0, 1.5 + 0.8 * len(self.stops)), 4.0

    def _draw(self, ax: Any) -> None:
        open_frame(ax, grid="y")
        place = np.arange(len(self.stops))
        sure = np.array([one.confidence for one in self.stops])
        right = np.array([one.accuracy for one in self.stops])
        ends = np.array([one.accuracy_interval for one in self.stops])
        reach = np.where(np.isnan(ends.T), 0.0, np.abs(ends.T - right))
        ax.errorbar(place, right, yerr=reach, fmt="none", ecolor=colour(0), elinewidth=1.2, capsize=3)
        style = {"linestyle": "none", "markersize": 7, "zorder": 3, "clip_on": False}
        self.lines_ = [
            *ax.plot(place, sure, marker="_", color=NEUTRAL, markeredgewidth=2.4, label="says", **style),
            *ax.plot(place, right, marker="o", color=colour(0), label="is right", **style),
        ]
        low = float(np.nanmin([*ends[:, 0], *right, *sure]))
        ax.set(ylim=(max(0.0, low - 0.04 * (1 - low)), 1.0 + 0.04 * (1 - low)), xlim=(-0.6, len(self.stops) - 0.4))
        size = 9 if len(self.stops) <= 12 else 6
        ax.set_xticks(place, [f"{one.questions}\nn = {one.n_rows:,}" for one in self.stops], fontsize=size)
        ax.set(xlabel="questions asked before it stopped", ylabel="probability of the likeliest class")
        legend_below(ax, self.lines_, offset=-0.26)


def stops_of(
    record: AcquisitionRecord, truth: npt.NDArray[Any], classes: npt.ArrayLike, least: int = 20
) -> tuple[QuestionCalibration, ...]:
    """Calibration at the stop of recorded instances."""
    asked = (record.order >= 0).sum(axis=1)
    return calibration_by_questions(class_numbers(np.asarray(classes), truth), record.posterior, asked, least=least)
