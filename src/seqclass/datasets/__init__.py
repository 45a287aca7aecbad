"""Data sets: scikit-learn's own, generated ones with a known optimum, OpenML's, and your files with their prices.

`load` finds any of them by name or path; ``print(load("breast_cancer").info())`` says what it is.
"""

from __future__ import annotations

from seqclass.datasets.catalog import list_datasets, load
from seqclass.datasets.conditional import Conditional
from seqclass.datasets.cube import make_cube, make_cube_nm, make_cube_nm_ar, make_cube_nuc
from seqclass.datasets.dataset import Dataset, DatasetInfo
from seqclass.datasets.files import load_embedded, load_file, load_openml
from seqclass.datasets.generated import make_naive_bayes_world, make_tree_world
from seqclass.datasets.hidden import HiddenStates
from seqclass.datasets.interviews import Interviews, load_interviews
from seqclass.datasets.logit import SwitchedLogit
from seqclass.datasets.missing import missing_mask
from seqclass.datasets.pointer import make_indicator, make_sensors, make_xor_noisy_shortcut
from seqclass.datasets.syn import make_madelon_like, make_syn
from seqclass.datasets.synthetic_mnist import make_synthetic_mnist
from seqclass.datasets.text import make_sparse_text
from seqclass.datasets.world import Optimum, World

__all__ = [
    "Conditional",
    "Dataset",
    "DatasetInfo",
    "HiddenStates",
    "Interviews",
    "Optimum",
    "SwitchedLogit",
    "World",
    "list_datasets",
    "load",
    "load_embedded",
    "load_file",
    "load_interviews",
    "load_openml",
    "make_cube",
    "make_cube_nm",
    "make_cube_nm_ar",
    "make_cube_nuc",
    "make_indicator",
    "make_madelon_like",
    "make_naive_bayes_world",
    "make_sensors",
    "make_sparse_text",
    "make_syn",
    "make_synthetic_mnist",
    "make_tree_world",
    "make_xor_noisy_shortcut",
    "missing_mask",
]
