"""Whether the belief can be trusted before the stop, after each number of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.validation import check_integer, class_numbers
from seqclass.agent.record import AcquisitionRecord
from seqclass.plots._style import MARKERS, NEUTRAL, Display, OfRecord, colour, legend_beside, open_frame
from seqclass.plots.accuracy_features import wilson
from seqclass.plots.acquisition_map import labels_of


class StagewiseCalibrationDisplay(OfRecord, Display):
    """Confidence against accuracy, with a curve for each number of features acquired so far.

    Confidence is the largest class posterior, accuracy the share of instances whose label is that class. An instance
    counts at a number of features if it acquired at least that many, whether it stopped there or went on. On the
    diagonal the belief is calibrated; below it the model is too sure of itself. Make one with `from_record` or
    `from_estimator`.

    Parameters
    ----------
    beliefs : mapping of int to array-like of shape (n_k, n_classes)
        Class posteriors after ``k`` features, for each ``k`` to draw.
    correct : mapping of int to array-like of bool of shape (n_k,)
        Whether the most probable class is the true one.
    n_bins : int
        Most points per curve; each stands for about equally many instances, at least 20 if there are that many.

    Attributes
    ----------
    counts : list of int
        Numbers of features, ascending.
    confidence, accuracy : dict of int to ndarray of shape (n_points,)
        Means of each point.
    size : dict of int to ndarray of int of shape (n_points,)
        Number of instances behind each point.
    error : dict of int to float
        Calibration error: mean distance of accuracy from confidence over the points, weighted by ``size``.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        One line for each of ``counts``.

    Raises
    ------
    ValueError
        If there is nothing to draw or the lengths differ.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural networks", ICML 2017, eq. 3.

    Examples
    --------
    >>> sure = [[0.9, 0.1]] * 10
    >>> display = StagewiseCalibrationDisplay({1: sure}, {1: [True] * 8 + [False] * 2}).plot()
    >>> display.confidence[1].round(2), display.accuracy[1], round(display.error[1], 3)
    (array([0.9]), array([0.8]), 0.1)
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, beliefs: dict[int, npt.ArrayLike], correct: dict[int, npt.ArrayLike], *, n_bins: int = 8
    ) -> None:
        if not beliefs or set(beliefs) != set(correct):
            raise ValueError("beliefs and correct must have the same numbers of features as keys, at least one.")
        check_integer(n_bins, "n_bins", 1)
        self.counts = sorted(beliefs)
        self.confidence: dict[int, FloatArray] = {}
        self.accuracy: dict[int, FloatArray] = {}
        self.size: dict[int, IntArray] = {}
        self.error: dict[int, float] = {}
        for k in self.counts:
            belief, right = np.asarray(beliefs[k], dtype=np.float64), np.asarray(correct[k], dtype=bool)
            if belief.ndim != 2 or not len(belief) or right.shape != (len(belief),):
                raise ValueError(
                    f"beliefs[{k}] must have a row for each entry of correct[{k}], at least one; got shapes "
                    f"{belief.shape} and {right.shape}."
                )
            self._add(k, belief.max(axis=1), right, n_bins)

    def _add(self, k: int, confidence: FloatArray, right: BoolArray, n_bins: int) -> None:
        n_bins = max(1, min(n_bins, len(confidence) // 20))  # fewer instances say nothing
        inner = np.quantile(confidence, np.arange(1, n_bins) / n_bins)
        # equal confidences stay together: a few beliefs that many share are so many points
        edge = np.unique(inner.round(12))
        bin_ = np.searchsorted(edge, confidence.round(12), side="right")
        _, bin_, size = np.unique(bin_, return_inverse=True, return_counts=True)
        self.size[k] = size
        self.confidence[k] = np.bincount(bin_, weights=confidence) / size
        self.accuracy[k] = np.bincount(bin_, weights=right) / size
        self.error[k] = float(np.average(np.abs(self.accuracy[k] - self.confidence[k]), weights=size))

    @classmethod
    def from_record(
        cls,
        record: AcquisitionRecord,
        y: npt.ArrayLike,
        *,
        classes: npt.ArrayLike,
        counts: Sequence[int] | None = None,
        min_instances: int = 30,
        n_bins: int = 8,
        ax: Any = None,
        **settings: Any,
    ) -> StagewiseCalibrationDisplay:
        """Draw the beliefs recorded for labelled instances.

        Parameters
        ----------
        record : AcquisitionRecord
            What ``acquire(X, record_beliefs=True)`` returned.
        y : array-like of shape (n,)
            True labels.
        classes : array-like of shape (n_classes,)
            Label of each class of the beliefs, such as ``classes_`` of a classifier.
        counts : sequence of int, optional
            Numbers of features to draw; by default up to five, spread evenly from 1 to the most that
            ``min_instances`` acquired.
        min_instances, n_bins : int
            Numbers of features that fewer instances acquired are left out; most points per curve.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        StagewiseCalibrationDisplay

        Raises
        ------
        ValueError
            If the record has no beliefs, ``y`` or ``classes`` do not match, or there is no instance for a number in
            ``counts``.
        """
        truth = labels_of(record, y)
        labels = np.asarray(classes)
        if record.beliefs is None:
            raise ValueError("record has no beliefs: make it with acquire(X, record_beliefs=True).")
        if labels.shape != (record.beliefs.shape[2],):
            raise ValueError(f"classes must have {record.beliefs.shape[2]} labels, got shape {labels.shape}.")
        chosen = stages_of(record.n_features, counts, check_integer(min_instances, "min_instances", 1))
        return cls(*beliefs_after(record, labels, truth, chosen), n_bins=n_bins).plot(ax, **settings)

    _with_beliefs = True

    _size = (7.0, 4.4)

    def _draw(self, ax: Any) -> None:
        open_frame(ax)
        low = min(float(self.confidence[k].min()) for k in self.counts)
        low = max(0.0, np.floor(10 * low - 0.2) / 10)
        ideal = ax.plot([low, 1.0], [low, 1.0], color=NEUTRAL, linestyle="--", linewidth=1.2, label="calibrated")
        self.lines_ = []
        for i, k in enumerate(self.counts):
            x, y, n = self.confidence[k], self.accuracy[k], self.size[k]
            label = f"{k} feature{'' if k == 1 else 's'}: n = {n.sum():,}, error {self.error[k]:.3f}"
            style = {"color": colour(i), "marker": MARKERS[i % len(MARKERS)], "markersize": 5, "linewidth": 1.8}
            self.lines_ += ax.plot(x, y, label=label, zorder=3, **style)
            reach = np.abs(wilson(y, n.astype(np.float64)).T - y)
            ax.errorbar(x, y, yerr=reach, fmt="none", ecolor=colour(i), elinewidth=1, capsize=2, alpha=0.45)
        ax.set(xlim=(low - 0.02, 1.02), ylim=(None, 1.03))
        ax.set(xlabel="confidence: largest class posterior", ylabel="accuracy of that class")
        legend_beside(ax, [*self.lines_, *ideal], title="after")


def beliefs_after(
    record: AcquisitionRecord, labels: npt.NDArray[Any], truth: npt.NDArray[Any], counts: Sequence[int]
) -> tuple[dict[int, npt.ArrayLike], dict[int, npt.ArrayLike]]:
    """Beliefs after so many features, and whether their likeliest class is the true one."""
    paths: Any = record.beliefs
    label = class_numbers(labels, truth)
    beliefs: dict[int, npt.ArrayLike] = {}
    correct: dict[int, npt.ArrayLike] = {}
    acquired = (record.outcome >= 0).cumsum(axis=1)
    for k in counts:
        rows = np.flatnonzero(record.n_features >= k)
        # a feature that was missing moved nothing: what counts is when the k-th answer came
        step = (acquired[rows] >= k).argmax(axis=1) + 1 if k else np.zeros(len(rows), dtype=np.intp)
        belief = paths[rows, step]
        beliefs[k], correct[k] = belief, belief.argmax(axis=1) == label[rows]
    return beliefs, correct


def stages_of(acquired: IntArray, counts: Sequence[int] | None, min_instances: int) -> list[int]:
    """Numbers of features to draw: by default from 1 to the most that enough instances acquired, evenly apart."""
    if counts is not None:
        chosen = sorted({check_integer(k, "counts", 0) for k in counts})
        most = int(acquired.max())
        if not chosen or chosen[-1] > most:
            raise ValueError(f"counts must be numbers of features that some instance acquired, 0 to {most}.")
        return chosen
    enough = [k for k in range(1, int(acquired.max()) + 1) if (acquired >= k).sum() >= min_instances]
    if not enough:
        return [0]
    return sorted({int(k) for k in np.linspace(1, enough[-1], min(5, len(enough))).round()})
