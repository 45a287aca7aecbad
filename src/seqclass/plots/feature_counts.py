"""How many features the instances of each class need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.validation import check_not_negative
from seqclass.agent.record import AcquisitionRecord
from seqclass.plots._style import Display, OfRecord, colour, open_frame, shorten
from seqclass.plots.acquisition_map import labels_of


class FeatureCountDisplay(OfRecord, Display):
    """Histograms of the number of features acquired, one above the other for each true class.

    All have the same scale, the share of the instances of the class. A dot on each base line marks the mean of the
    class. Make one with `from_record` or `from_estimator`.

    Parameters
    ----------
    n_features : array-like of int of shape (n,)
        Number of features acquired for each instance.
    y : array-like of shape (n,)
        True labels.

    Attributes
    ----------
    classes : list
        The labels that occur, sorted; the first one is drawn at the top.
    edges : ndarray of int of shape (n_bars + 1,)
        Edges of the bars; each bar holds the counts from its edge up to, but not including, the next.
    share : ndarray of shape (n_classes, n_bars)
        Share of the instances of each class in each bar.
    mean : ndarray of shape (n_classes,)
        Mean number of features of each class.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : list of matplotlib BarContainer
        One container per class.

    Raises
    ------
    ValueError
        If lengths differ, nothing is given, or a number is negative.

    Examples
    --------
    >>> display = FeatureCountDisplay([1, 1, 2, 4], ["a", "a", "a", "b"]).plot()
    >>> display.classes, display.mean.round(2), display.share.round(2).tolist()
    (['a', 'b'], array([1.33, 4.  ]), [[0.0, 0.67, 0.33, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, n_features: npt.ArrayLike, y: npt.ArrayLike) -> None:
        truth = np.asarray(y)
        if truth.ndim != 1 or not truth.size:
            raise ValueError(f"y must be a vector of at least one label, got shape {truth.shape}.")
        number = check_not_negative(n_features, "n_features", truth.shape).astype(np.intp)
        classes, row, counts = np.unique(truth, return_inverse=True, return_counts=True)
        self.classes: Sequence[Any] = classes.tolist()
        width = int(number.max()) // 40 + 1  # so many bars a class
        n_bars = int(number.max()) // width + 1
        self.edges = width * np.arange(n_bars + 1)
        self.share = np.zeros((len(classes), n_bars))
        np.add.at(self.share, (row, number // width), 1.0)
        self.share /= counts[:, None]
        self.mean = np.bincount(row, weights=number) / counts

    @classmethod
    def from_record(
        cls, record: AcquisitionRecord, y: npt.ArrayLike, *, ax: Any = None, **settings: Any
    ) -> FeatureCountDisplay:
        """Draw what was acquired for labelled instances.

        Parameters
        ----------
        record : AcquisitionRecord
            Record of ``n`` instances.
        y : array-like of shape (n,)
            True labels.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        FeatureCountDisplay

        Raises
        ------
        ValueError
            If ``y`` does not have one label per instance, or there are no instances.
        """
        return cls(record.n_features, labels_of(record, y)).plot(ax, **settings)

    @classmethod
    def _names_from(cls, estimator: BaseSequentialClassifier) -> dict[str, Any]:
        return {}

    def _inches(self) -> tuple[float, float]:
        return 6.0, 1.4 + min(0.62 * max(len(self.classes), 3), 14.0)

    def _draw(self, ax: Any) -> None:
        rows = len(self.classes)
        open_frame(ax, grid="x")
        width = int(self.edges[1])
        centre = self.edges[:-1] + (width - 1) / 2
        top = float(self.share.max())
        self.bars_ = []
        for i in range(rows):
            base = rows - 1 - i
            heights = self.share[i] / top * 0.82  # the tallest bar, where the classes' base lines are 1 apart
            self.bars_.append(ax.bar(centre, heights, 0.9 * width, bottom=base, color=colour(i), linewidth=0))
            ax.axhline(base, color=colour(i), linewidth=0.8)
        dots = {"color": "white", "edgecolor": "black", "s": 28, "zorder": 4, "clip_on": False}
        ax.scatter(self.mean, np.arange(rows)[::-1], **dots)
        names = [f"{shorten(name, 24)}\nmean {mean:.1f}" for name, mean in zip(self.classes, self.mean)]
        ax.set_yticks(np.arange(rows)[::-1] + 0.35, names, fontsize=8 if rows <= 24 else 5)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(-0.12, rows)
        ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set_xlabel(f"number of features acquired\n(dot: mean; tallest bar: {100 * top:.0f}% of its class)")
        ax.set_ylabel("true class")
