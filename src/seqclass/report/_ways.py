"""Figures behind the pictures of acquisition: who acquired what and when, and whether the belief could be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass.experiment import LabelledRecord
from seqclass.plots import FeatureCountDisplay, StagewiseCalibrationDisplay

#: Fewest instances that a curve of calibration stands for, where there are so many, and most curves.
_LEAST, _CURVES = 30, 5


@dataclass(frozen=True, eq=False)
class Shares:
    """Which features the instances of each class acquired.

    Attributes
    ----------
    features : list of str
        Features that were acquired, in the order of their mean step.
    steps : ndarray of shape (n_features,)
        Mean step at which each was acquired, the first step 1.
    share : ndarray of shape (n_classes, n_features)
        Share of the instances of each class that acquired each feature.
    """

    features: list[str]
    steps: FloatArray
    share: FloatArray


def codes_of(kept: LabelledRecord) -> tuple[list[str], IntArray]:
    """Classes that occur, in the order of the data set, and the number of each instance's class among them."""
    present, codes = np.unique(kept.truth, return_inverse=True)
    place = {label: i for i, label in enumerate(kept.classes)}
    order = sorted(range(len(present)), key=lambda i: place[str(present[i])])
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return [str(present[i]) for i in order], rank[codes.reshape(-1)]


def acquired_shares(kept: LabelledRecord, codes: IntArray) -> Shares:
    """Share of each class that acquired each feature; one that was asked for and missing is not acquired."""
    record, n_classes = kept.record, int(codes.max()) + 1
    instance, step = np.nonzero(record.outcome >= 0)
    columns, number = np.unique(record.order[instance, step], return_inverse=True)
    number = number.reshape(-1)
    cell = codes[instance] * len(columns) + number
    times = np.bincount(cell, minlength=n_classes * len(columns)).reshape(n_classes, len(columns))
    steps = np.bincount(number, weights=step + 1.0, minlength=len(columns)) / np.maximum(times.sum(axis=0), 1)
    first = np.argsort(steps.round(9), kind="stable")
    share = times[:, first] / np.bincount(codes)[:, None]
    return Shares([kept.names[j] for j in columns[first].tolist()], steps[first], share)


def feature_counts(kept: LabelledRecord, codes: IntArray) -> FeatureCountDisplay:
    """Histograms of the number of features by class, of which no picture is drawn here."""
    return FeatureCountDisplay(kept.record.n_features, codes)


def calibration(kept: LabelledRecord) -> StagewiseCalibrationDisplay:
    """Confidence against accuracy after so many features, of which no picture is drawn here."""
    record: Any = kept.record
    belief: dict[int, npt.ArrayLike] = {}
    right: dict[int, npt.ArrayLike] = {}
    labels = np.array(kept.classes)
    acquired = (record.outcome >= 0).cumsum(axis=1)
    for k in _stages(record.n_features):
        rows = np.flatnonzero(record.n_features >= k)
        # what counts is when the k-th answer came: a missing one moves nothing
        step = (acquired[rows] >= k).argmax(axis=1) + 1 if k else 0
        beliefs = record.beliefs[rows, step]
        belief[k], right[k] = beliefs, labels[beliefs.argmax(axis=1)] == kept.truth[rows]
    return StagewiseCalibrationDisplay(belief, right)


def _stages(n_features: IntArray) -> list[int]:
    """Numbers of features to draw: spread evenly from 1 to the most that enough instances acquired."""
    beyond = len(n_features) - np.bincount(n_features).cumsum()
    enough = beyond >= min(_LEAST, max(len(n_features) // 4, 1))
    most = int(enough.sum())  # how many go beyond k falls with k
    return sorted({int(k) for k in np.linspace(min(1, most), most, min(_CURVES, max(most, 1))).round()})
