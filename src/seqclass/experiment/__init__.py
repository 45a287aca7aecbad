"""Experiments: methods by data sets by prices by folds by seeds, one tidy row a cell, in one file that can be resumed.

Whatever is fitted is fitted on the training rows of its fold: a cell hands its method nothing else, and the rows it is
scored on only to classify them.
"""

from __future__ import annotations

from seqclass.evaluation.calibration_curves import calibration_error
from seqclass.experiment.acquisition_logs import AFABENCH_COLUMNS, ShuffledSplit, action_table, afabench_log
from seqclass.experiment.explored import Explored
from seqclass.experiment.grid import Experiment
from seqclass.experiment.methods import parse_method
from seqclass.experiment.protocols import HoldOut, Protocol, SourceSplit, StratifiedFolds
from seqclass.experiment.records import LabelledRecord
from seqclass.experiment.results import Comparison, Results

__all__ = [
    "AFABENCH_COLUMNS",
    "Comparison",
    "Experiment",
    "Explored",
    "HoldOut",
    "LabelledRecord",
    "Protocol",
    "Results",
    "ShuffledSplit",
    "SourceSplit",
    "StratifiedFolds",
    "action_table",
    "afabench_log",
    "calibration_error",
    "parse_method",
]
