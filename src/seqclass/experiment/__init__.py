"""Experiments: methods by data sets by prices by folds by seeds, one tidy row a cell, in one file that can be resumed.

Whatever is fitted is fitted on the training rows of its fold: a cell hands its method nothing else, and the rows it is
scored on only to classify them.
"""

from __future__ import annotations

from seqclass.experiment.acquisition_logs import ShuffledSplit, action_table, afabench_log
from seqclass.experiment.grid import Experiment
from seqclass.experiment.protocols import SourceSplit
from seqclass.experiment.results import Results

__all__ = [
    "Experiment",
    "Results",
    "ShuffledSplit",
    "SourceSplit",
    "action_table",
    "afabench_log",
]
