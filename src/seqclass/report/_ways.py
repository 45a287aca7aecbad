"""Figures behind the pictures of acquisition: who acquired what and when, and whether the belief could be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.experiment import LabelledRecord
from seqclass.plots import FeatureCountDisplay, StagewiseCalibrationDisplay
from seqclass.plots.acquisition_map import acquired_shares
from seqclass.plots.stagewise_calibration import beliefs_after

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


def shares_of(kept: LabelledRecord, codes: IntArray) -> Shares:
    """Share of each class that acquired each feature; one that was asked for and missing is not acquired."""
    columns, steps, share = acquired_shares(kept.record, codes)
    return Shares([kept.names[j] for j in columns.tolist()], steps, share)


def feature_counts(kept: LabelledRecord, codes: IntArray) -> FeatureCountDisplay:
    """Histograms of the number of features by class, of which no picture is drawn here."""
    return FeatureCountDisplay(kept.record.n_features, codes)


def calibration(kept: LabelledRecord) -> StagewiseCalibrationDisplay:
    """Confidence against accuracy after so many features, of which no picture is drawn here."""
    stages = _stages(kept.record.n_features)
    return StagewiseCalibrationDisplay(*beliefs_after(kept.record, np.array(kept.classes), kept.truth, stages))


def _stages(n_features: IntArray) -> list[int]:
    """Numbers of features to draw: spread evenly from 1 to the most that enough instances acquired."""
    beyond = len(n_features) - np.bincount(n_features).cumsum()
    enough = beyond >= min(_LEAST, max(len(n_features) // 4, 1))
    most = int(enough.sum())  # how many go beyond k falls with k
    return sorted({int(k) for k in np.linspace(min(1, most), most, min(_CURVES, max(most, 1))).round()})
