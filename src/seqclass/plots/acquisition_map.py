"""Which features are acquired when, and for which class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_integer, check_not_negative, in_order
from seqclass.agent.record import AcquisitionRecord
from seqclass.plots._style import Display, OfRecord, colour, draw, shorten

#: Most classes that are all named.
_NAMED = 40


class AcquisitionMapDisplay(OfRecord, Display):
    """Heat map of the share of instances of each class that acquired each feature.

    Columns are features in the order of acquisition, so that a column is also a step; rows are the true classes. Make
    one with `from_record` or `from_estimator`.

    Parameters
    ----------
    share : array-like of shape (n_classes, n_features)
        Share of the instances of each class that acquired each feature, between 0 and 1.
    features : sequence of str of length n_features
        The features, in the order of acquisition.
    classes : sequence of length n_classes
        Class labels.
    counts : array-like of int of shape (n_classes,), optional
        Number of instances of each class, written beside its label.
    max_features : int
        Most features to show, namely the first ones; the axis says how many there are in all.

    Attributes
    ----------
    n_features : int
        Number of features shown.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    image_ : matplotlib AxesImage
        The heat map.

    Raises
    ------
    ValueError
        If the shapes do not match, or a share is not between 0 and 1.

    Examples
    --------
    >>> display = AcquisitionMapDisplay([[1.0, 0.2], [1.0, 0.7]], ["pulse", "scan"], ["well", "ill"]).plot()
    >>> display.image_.get_array().tolist()
    [[1.0, 0.2], [1.0, 0.7]]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        share: npt.ArrayLike,
        features: Sequence[str],
        classes: Sequence[Any],
        *,
        counts: npt.ArrayLike | None = None,
        max_features: int = 20,
    ) -> None:
        self.features = [str(name) for name in features]
        self.classes = list(classes)
        if not self.classes:
            raise ValueError("classes must hold at least one class.")
        n_classes = len(self.classes)
        share = in_order(share, "share", self.classes, self.features)
        counts = in_order(counts, "counts", self.classes)
        self.share = np.asarray(share, dtype=np.float64)
        if self.features or self.share.size:
            self.share = check_not_negative(share, "share", (n_classes, len(self.features)))
            if self.share.max() > 1:
                raise ValueError(f"share must be between 0 and 1, got {self.share.max():g}.")
        self.counts = None if counts is None else check_not_negative(counts, "counts", (n_classes,)).astype(np.intp)
        self.n_features = min(check_integer(max_features, "max_features", 1), len(self.features))

    @classmethod
    def from_record(
        cls,
        record: AcquisitionRecord,
        y: npt.ArrayLike,
        *,
        names: Sequence[str] | None = None,
        **settings: Any,
    ) -> AcquisitionMapDisplay:
        """Draw what was acquired for labelled instances.

        Parameters
        ----------
        record : AcquisitionRecord
            Record of ``n`` instances; a feature that was asked for but missing does not count as acquired.
        y : array-like of shape (n,)
            True labels.
        names : sequence of str, optional
            Name of each column of ``X``; by default ``"x0"``, ``"x1"`` and so on.
        **settings
            Passed to the display itself, and to `plot`.

        Returns
        -------
        AcquisitionMapDisplay

        Raises
        ------
        ValueError
            If ``y`` does not have one label per instance, or there are no instances.
        """
        truth = labels_of(record, y)
        classes, row, counts = np.unique(truth, return_inverse=True, return_counts=True)
        columns, _, share = acquisition_shares(record, row.reshape(-1))
        labels = [f"x{j}" if names is None else str(names[j]) for j in columns.tolist()]
        return draw(cls, share, labels, classes.tolist(), counts=counts, **settings)

    @classmethod
    def _names_from(cls, estimator: BaseSequentialClassifier) -> dict[str, Any]:
        names = [estimator.feature_name(j) for j in range(estimator.n_features_in_)]
        columns = estimator.support_[estimator.problem_.features].tolist()
        for column, name in zip(columns, estimator.policy_.problem.names.questions):
            names[column] = name  # of a bundle its first column stands for all
        return {"names": names}

    def _inches(self) -> tuple[float, float]:
        return 3.4 + 0.42 * max(self.n_features, 6), 2.2 + 0.3 * min(max(len(self.classes), 4), _NAMED)

    def _draw(self, ax: Any) -> None:
        rows, columns = len(self.classes), self.n_features
        shown = self.share[:, :columns] if columns else np.zeros((rows, 1))
        edges = np.arange(columns + 1) - 0.5 if columns else [-0.5, 0.5], np.arange(rows + 1) - 0.5
        self.image_ = ax.pcolormesh(*edges, shown, cmap=_paler(), vmin=0.0, vmax=1.0)
        ax.invert_yaxis()
        names = [shorten(name, 24) for name in self.features[:columns]]
        ax.set_xticks(np.arange(columns), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=8)
        every = -(-rows // _NAMED)
        ticks = np.arange(0, rows, every)
        ax.set_yticks(ticks, [self._row_label(i) for i in ticks.tolist()], fontsize=8)
        ax.set(ylabel="true class", xlabel=self._column_label())
        if columns and rows * columns <= 120:  # else no figure can be read
            for (i, j), value in np.ndenumerate(shown):
                ax.text(j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=7)
        bar = ax.figure.colorbar(self.image_, ax=ax)
        bar.set_label("share of the class", fontsize=8)

    def _row_label(self, i: int) -> str:
        name = shorten(self.classes[i], 24)
        return name if self.counts is None else f"{name} (n = {self.counts[i]:,})"

    def _column_label(self) -> str:
        if not self.n_features:
            return "no feature was acquired"
        if self.n_features == len(self.features):
            return "features in order of acquisition"
        return f"features in order of acquisition, the first {self.n_features} of {len(self.features)}"


def _paler() -> Any:
    """Shades of a colour through which any page is seen, so that figures can be read on them."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    return LinearSegmentedColormap.from_list("share", [to_rgba(colour(0), alpha) for alpha in (0.0, 0.6)], 33)


def acquisition_shares(record: AcquisitionRecord, codes: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Which features the instances of each class acquired, in the order of their mean step."""
    instance, step = np.nonzero(record.outcome >= 0)
    columns, number = np.unique(record.order[instance, step], return_inverse=True)
    number = number.reshape(-1)
    counts = np.bincount(codes)
    cell = codes[instance] * len(columns) + number
    times = np.bincount(cell, minlength=len(counts) * len(columns)).reshape(len(counts), len(columns))
    steps = np.bincount(number, weights=step + 1.0, minlength=len(columns)) / np.maximum(times.sum(axis=0), 1)
    first = np.argsort(steps.round(9), kind="stable")
    return columns[first], steps[first], times[:, first] / counts[:, None]


def labels_of(record: AcquisitionRecord, y: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the true labels as an array, one for each instance of a record that has some."""
    truth = np.asarray(y)
    if truth.shape != (len(record),) or not len(record):
        raise ValueError(
            f"y must have one label for each of the record's {len(record)} instances (at least one), got shape "
            f"{truth.shape}."
        )
    return truth
