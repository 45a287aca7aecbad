"""Pictures of sequential classifiers, in scikit-learn's Display convention; they need the extra ``plot``."""

from __future__ import annotations

from seqclass.plots.accuracy_features import AccuracyFeaturesDisplay
from seqclass.plots.belief_path import BeliefPathDisplay
from seqclass.plots.stopping_region import StoppingRegionDisplay

__all__ = ["AccuracyFeaturesDisplay", "BeliefPathDisplay", "StoppingRegionDisplay"]
