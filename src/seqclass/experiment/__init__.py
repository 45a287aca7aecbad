"""Experiments: methods by data sets by prices by folds by seeds, one tidy row per cell, in a file that can be resumed.

Everything is fitted on the training rows of its fold only: a cell gives its method nothing else, and gives it the rows
to score only to classify them.
"""

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
__dir__ = __all__.copy  # tab completion
