"""Data sets: from scikit-learn and OpenML, generated ones with a known optimum, and your own files with their prices.

`load` finds any of them by name or path; ``print(load("breast_cancer").info())`` says what it is.
"""

from seqclass._utils.marks import split_marks
from seqclass.datasets.catalog import list_datasets, load
from seqclass.datasets.dataset import Dataset
from seqclass.datasets.interviews import load_interviews
from seqclass.datasets.missing import missing_mask
from seqclass.datasets.series import load_series
from seqclass.datasets.table import read_table

__all__ = ["Dataset", "list_datasets", "load", "load_interviews"]
__all__ += ["load_series", "missing_mask", "read_table", "split_marks"]
__dir__ = __all__.copy  # tab completion
