"""Accuracy against the mean number of features, for several methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.validation import check_finite, check_not_negative, in_order
from seqclass.metrics import realised_cost
from seqclass.plots._style import MARKERS, Display, colour, draw, legend_below, legend_name, open_frame, shorten

#: Where a note may stand, in points from its point: dx, dy, and the side that is anchored there.
_PLACES = ((7, -4, "left", "top"), (7, 4, "left", "bottom"), (-7, -4, "right", "top"), (-7, 4, "right", "bottom"))


class AccuracyFeaturesDisplay(Display):
    """Accuracy against the mean number of features, for several methods: up and to the left is better.

    Points that share a name form one curve, joined in the order given. Make one with `from_points`, `from_estimators`
    or `from_costs`.

    Parameters
    ----------
    names : sequence of str of length n
        Method of each point.
    mean_features, accuracy : array-like of shape (n,)
        Mean number of features acquired at each point; accuracy there, between 0 and 1.
    intervals : array-like of shape (n, 2), optional
        Lower and upper end of an interval around each accuracy.
    labels : sequence of str of length n, optional
        Note beside each point, such as the feature cost; "" for none. A note that would cover another is left out.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        One line per method.
    texts_ : list of matplotlib Text
        The notes that are shown.

    Raises
    ------
    ValueError
        If lengths differ, an accuracy is not between 0 and 1, or a number of features is negative.

    Examples
    --------
    >>> display = AccuracyFeaturesDisplay.from_points(
    ...     ["etana", "etana", "forest"], [2.1, 3.4, 30], [0.93, 0.95, 0.96]
    ... )
    >>> [line.get_label() for line in display.lines_]
    ['etana', 'forest']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        names: Sequence[str],
        mean_features: npt.ArrayLike,
        accuracy: npt.ArrayLike,
        *,
        intervals: npt.ArrayLike | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        self.names = [str(name) for name in names]
        n = len(self.names)
        if n == 0:
            raise ValueError("names must hold at least one point.")
        features = in_order(mean_features, "mean_features", self.names)
        self.mean_features = check_not_negative(features, "mean_features", (n,))
        self.accuracy = _check_share(in_order(accuracy, "accuracy", self.names), "accuracy", (n,))
        ends = in_order(intervals, "intervals", self.names, None)
        self.intervals = None if intervals is None else _check_share(ends, "intervals", (n, 2))
        if self.intervals is not None:
            low, high = self.intervals.T
            if (low > self.accuracy + 1e-9).any() or (high < self.accuracy - 1e-9).any():
                raise ValueError("intervals must hold the lower and the upper end around each accuracy.")
        self.labels = [""] * n if labels is None else [str(label) for label in labels]
        if len(self.labels) != n:
            raise ValueError(f"labels must have one entry for each of the {n} points, got {len(self.labels)}.")

    @classmethod
    def from_points(
        cls,
        names: Sequence[str],
        mean_features: npt.ArrayLike,
        accuracy: npt.ArrayLike,
        intervals: npt.ArrayLike | None = None,
        **settings: Any,
    ) -> AccuracyFeaturesDisplay:
        """Draw given points.

        Parameters
        ----------
        names, mean_features, accuracy, intervals
            See `AccuracyFeaturesDisplay`.
        **settings
            Passed to the display itself, and to `plot`.

        Returns
        -------
        AccuracyFeaturesDisplay
        """
        return draw(cls, names, mean_features, accuracy, intervals=intervals, **settings)

    @classmethod
    def from_estimators(
        cls, estimators: Mapping[str, Any], X: Any, y: npt.ArrayLike, *, ax: Any = None, **settings: Any
    ) -> AccuracyFeaturesDisplay:
        """Measure fitted classifiers on labelled data, and draw them with 95% intervals.

        Parameters
        ----------
        estimators : mapping of str to classifier
            Fitted classifiers by name; those that are not sequential count as using all their features.
        X : array-like of shape (n, n_features)
            Data.
        y : array-like of shape (n,)
            True labels.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        AccuracyFeaturesDisplay
        """
        points = [_measure(estimator, X, y) for estimator in estimators.values()]
        return cls._from_measures(list(estimators), points, ax=ax, **settings)

    @classmethod
    def from_costs(
        cls,
        estimator: BaseSequentialClassifier,
        X_train: Any,
        y_train: npt.ArrayLike,
        X_test: Any,
        y_test: npt.ArrayLike,
        *,
        feature_costs: Sequence[Any],
        baselines: Mapping[str, Any] | None = None,
        name: str = "sequential",
        ax: Any = None,
        **settings: Any,
    ) -> AccuracyFeaturesDisplay:
        """Fit a sequential classifier at several feature costs, and draw its results on test data as a curve.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            Classifier of which a clone is fitted at each cost.
        X_train, X_test : array-like of shape (n, n_features)
            Data to learn from and to measure on.
        y_train, y_test : array-like of shape (n,)
            Labels.
        feature_costs : sequence
            Values of the classifier's ``feature_costs``.
        baselines : mapping of str to classifier, optional
            Fitted classifiers to compare with.
        name : str
            Name of the curve.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        AccuracyFeaturesDisplay
            The display, with 95% intervals.
        """
        others = {} if baselines is None else dict(baselines)
        points = []
        for cost in feature_costs:
            fitted = clone(estimator).set_params(feature_costs=cost).fit(X_train, y_train)
            points.append(_measure(fitted, X_test, y_test))
        points += [_measure(other, X_test, y_test) for other in others.values()]
        labels = [f"{cost:g}" if np.ndim(cost) == 0 and not isinstance(cost, Mapping) else "" for cost in feature_costs]
        names = [name] * len(labels) + list(others)
        return cls._from_measures(names, points, labels=labels + [""] * len(others), ax=ax, **settings)

    @classmethod
    def _from_measures(
        cls, names: list[str], points: list[tuple[float, float, int]], **settings: Any
    ) -> AccuracyFeaturesDisplay:
        features, accuracy, n = np.array(points).reshape(-1, 3).T
        return draw(cls, names, features, accuracy, intervals=wilson(accuracy, n), **settings)

    def plot(self, ax: Any = None, *, title: str | None = None, xscale: str = "auto") -> AccuracyFeaturesDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax, title : matplotlib Axes and str, optional
            Where to draw, by default a new figure; title, by default none.
        xscale : {"auto", "linear", "log"}
            Scale of the axis of features; ``"log"`` is linear up to 1, so that 0 has a place. ``"auto"`` chooses it if
            the numbers differ much.

        Returns
        -------
        AccuracyFeaturesDisplay
            The display itself.
        """
        if xscale not in ("auto", "linear", "log"):
            raise ValueError(f'xscale must be "auto", "linear" or "log", got {xscale!r}.')
        return self._draw_on(ax, title, xscale=xscale)

    def _draw(self, ax: Any, xscale: str) -> None:
        open_frame(ax)
        self._scale(ax, xscale)
        self.lines_ = []
        for i, name in enumerate(dict.fromkeys(self.names)):
            rows = [k for k, other in enumerate(self.names) if other == name]
            style: dict[str, Any] = {"color": colour(i), "marker": MARKERS[i % len(MARKERS)], "markersize": 7}
            style["linestyle"] = "-" if len(rows) > 1 else "none"
            x, y = self.mean_features[rows], self.accuracy[rows]
            self.lines_.append(ax.plot(x, y, label=legend_name(shorten(name, 34)), linewidth=2, zorder=3, **style)[0])
            if self.intervals is not None:
                reach = np.abs(self.intervals[rows].T - y)
                ax.errorbar(x, y, yerr=reach, fmt="none", ecolor=colour(i), elinewidth=1, capsize=2, alpha=0.6)
        ax.set(xlabel="mean number of features acquired", ylabel="accuracy")
        legend_below(ax, columns=2)
        self.texts_ = self._write_labels(ax)

    def _scale(self, ax: Any, xscale: str) -> None:
        top = float(self.mean_features.max())
        wide = top > 4 * max(float(np.median(self.mean_features)), 1.0)
        if xscale == "linear" or (xscale == "auto" and not wide):
            ax.set_xlim(-0.03 * max(1.0, top), max(1.0, top) * 1.08)
            return
        from matplotlib.ticker import NullLocator

        ax.set_xscale("symlog", linthresh=1.0, linscale=0.3)
        low = float(self.mean_features.min())
        first = 0 if low < 1 else 1
        decades = [m * 10**k for k in range(8) for m in (1, 2, 5)]
        ticks = [t for t in [0, *decades] if first <= t <= max(top, 1) * 2.5]
        if len(ticks) > 9:
            ticks = [t for t in ticks if t == 0 or str(t)[0] == "1"]
        ax.set_xticks(ticks, [f"{t:,}" for t in ticks])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlim(-0.3 if first == 0 else 0.9, max(top, 1.0) * 1.5)

    def _write_labels(self, ax: Any) -> list[Any]:
        """Write the notes beside their points; leave out those for which there is no room."""
        points = list(zip(self.mean_features.tolist(), self.accuracy.tolist(), self.labels))
        if not any(self.labels):
            return []
        from matplotlib.transforms import Bbox

        ax.figure.draw_without_rendering()
        half = 4.5 * ax.figure.dpi / 72  # half the room that a point takes, in points
        centres = ax.transData.transform([(x, y) for x, y, _ in points])
        taken = [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in centres]
        bottom = ax.bbox.y0 + half
        kept = []
        for x, y, label in points:
            for dx, dy, ha, va in _PLACES if label else ():
                style = {"xytext": (dx, dy), "textcoords": "offset points", "ha": ha, "va": va, "fontsize": 8}
                text = ax.annotate(shorten(label, 16), (x, y), zorder=4, **style)
                box = text.get_window_extent()
                if box.y0 > bottom and not box.count_overlaps(taken):
                    taken.append(box)
                    kept.append(text)
                    break
                text.remove()
        return kept


def _check_share(value: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> FloatArray:
    array = check_finite(value, name, shape)
    if array.min() < 0 or array.max() > 1:
        raise ValueError(f"{name} must be between 0 and 1, got {array.min():g} to {array.max():g}.")
    return array


def _measure(estimator: Any, X: Any, y: npt.ArrayLike) -> tuple[float, float, int]:
    """Mean number of features, accuracy, and the number of instances."""
    n_features, n = float(np.shape(X)[1]), len(np.asarray(y))
    if isinstance(estimator, BaseSequentialClassifier):
        record = estimator.acquire(X)
        n_features, decided = float(record.n_features.mean()), record.decision
    else:
        decided = estimator.predict(X)
    return n_features, 1 - realised_cost(y, decided, 0.0), n


def wilson(share: FloatArray, n: FloatArray) -> FloatArray:
    """Return the 95% interval of E. B. Wilson (1927) for shares of ``n`` instances, (m, 2)."""
    z = 1.959964
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.clip(np.column_stack([centre - half, centre + half]), 0.0, 1.0)
