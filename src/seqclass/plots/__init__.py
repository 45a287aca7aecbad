"""Pictures of sequential classifiers, in scikit-learn's Display convention; they need the extra ``plot``."""

from seqclass.plots.accuracy_features import AccuracyFeaturesDisplay
from seqclass.plots.acquisition_map import AcquisitionMapDisplay
from seqclass.plots.action_values import ActionValuesDisplay
from seqclass.plots.alpha_vectors import AlphaVectorsDisplay
from seqclass.plots.belief_path import BeliefPathDisplay
from seqclass.plots.cost_plane import CostPlaneDisplay
from seqclass.plots.critical_difference import CriticalDifferenceDisplay
from seqclass.plots.decision_curve import DecisionCurveDisplay
from seqclass.plots.entropy import EntropyDisplay
from seqclass.plots.episode_paths import EpisodePathsDisplay
from seqclass.plots.explanation import ExplanationDisplay
from seqclass.plots.feature_counts import FeatureCountDisplay
from seqclass.plots.feature_values import FeatureValuesDisplay
from seqclass.plots.group_scores import GroupScoresDisplay
from seqclass.plots.information_value import ValueOfInformationDisplay
from seqclass.plots.missing import MissingSweepDisplay
from seqclass.plots.network import NetworkDisplay
from seqclass.plots.policy_tree import PolicyTreeDisplay
from seqclass.plots.question_calibration import QuestionCalibrationDisplay
from seqclass.plots.reachable_beliefs import ReachableBeliefsDisplay
from seqclass.plots.selection_map import SelectionMapDisplay
from seqclass.plots.stability import StabilityDisplay
from seqclass.plots.stagewise_calibration import StagewiseCalibrationDisplay
from seqclass.plots.stopping_region import StoppingRegionDisplay, ThresholdsDisplay
from seqclass.plots.value_function import ValueFunctionDisplay

__all__ = [
    "AccuracyFeaturesDisplay",
    "AcquisitionMapDisplay",
    "ActionValuesDisplay",
    "AlphaVectorsDisplay",
    "BeliefPathDisplay",
    "CostPlaneDisplay",
    "CriticalDifferenceDisplay",
    "DecisionCurveDisplay",
    "EntropyDisplay",
    "EpisodePathsDisplay",
    "ExplanationDisplay",
    "FeatureCountDisplay",
    "FeatureValuesDisplay",
    "GroupScoresDisplay",
    "MissingSweepDisplay",
    "NetworkDisplay",
    "PolicyTreeDisplay",
    "QuestionCalibrationDisplay",
    "ReachableBeliefsDisplay",
    "SelectionMapDisplay",
    "StabilityDisplay",
    "StagewiseCalibrationDisplay",
    "StoppingRegionDisplay",
    "ThresholdsDisplay",
    "ValueFunctionDisplay",
    "ValueOfInformationDisplay",
]
__dir__ = __all__.copy  # tab completion
