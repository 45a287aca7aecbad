"""The data sets of the papers: which file stands for each, how its rows are cut, and what differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass.datasets import Dataset
from seqclass.experiment import ShuffledSplit, SourceSplit
from seqclass.experiment.protocols import Protocol, StratifiedFolds

_FOLDS = StratifiedFolds(5)


@dataclass(frozen=True)
class AllRows(Protocol):
    """Everything is learnt from and nothing is scored: for what is selected from a set, and how long it takes."""

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """All rows, and none."""
        return np.arange(len(data.y)), np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Source:
    """A data set of a paper, as we have it.

    Attributes
    ----------
    file : str
        Name for `seqclass.datasets.load`.
    protocol : Protocol
        How its rows are cut into training and test rows.
    seeds : tuple of int
        Seeds of the folds.
    differs : str
        How it differs from the paper's; empty where it does not.

    Examples
    --------
    >>> Source("breast_cancer").protocol
    StratifiedFolds(n_splits=5)
    """

    file: str
    protocol: Protocol = _FOLDS
    seeds: tuple[int, ...] = (0,)
    differs: str = ""


#: Comparisons of classifiers, by the names of the papers.
SOURCES = {
    "Madelon": Source("madelon", SourceSplit("valid")),
    "MLL": Source("mll", SourceSplit()),
    "MLL, 5 folds": Source(
        "mll", seeds=(0, 1, 2), differs="all 72 rows in folds, not the split of the source into 57 and 15"
    ),
    "Lung2": Source("lung2_desouto1543", differs="1543 of 3312 genes (another filter), from the same 203 samples"),
    "Spambase": Source("spambase"),
    "Spambase, GDFS's split": Source("spambase", ShuffledSplit()),
    "Dorothea": Source(
        "dorothea_train800", differs="5 folds of the 800 training rows, not the 350 validation rows, and 88119 columns"
    ),
    "Dorothea, all rows": Source(
        "dorothea_train800",
        AllRows(),
        differs="88119 of 100,000 columns, those that are not always 0",
    ),
    "colon, discrete": Source("colon_disc"),
    "breast cancer": Source("breast_cancer"),
    "digits": Source("digits"),
}
_NO_FILE = "no copy was available"
#: Sets of the papers that there is no file for, and why.
ABSENT = {
    **dict.fromkeys(["Lung Cancer", "Car", "Dexter", "Leukemia", "Prostate"], _NO_FILE),
    **dict.fromkeys(["breast-cancer", "hiva", "ohsumed", "apcj-etiology", "thrombin", "dexter"], _NO_FILE),
    **dict.fromkeys(["lung-cancer", "leukemia", "url1", "kdd2010", "webspam"], _NO_FILE),
    "News20": "the two-class set of 1.4 million columns was not available, and the 20-class set is a different one",
    "IMDB": _NO_FILE,
    **dict.fromkeys(["HAR", "Dota"], _NO_FILE),
    **dict.fromkeys(["RBF", "RTG"], "made by scikit-multiflow, which is no longer maintained, from a seed not given"),
    "polymers": "not public",
}


@dataclass(frozen=True)
class Stream:
    """A data set of a paper that is read as a stream, in the order of its rows.

    Attributes
    ----------
    file : str
        Name for `seqclass.datasets.load`.
    positive : int or None
        Class that is told from all others; None where there are two.
    n_rows : int or None
        Rows from the first on; None for all.
    differs : str
        How it differs from the paper's; empty where it does not.

    Examples
    --------
    >>> Stream("digits", positive=3).n_rows is None
    True
    """

    file: str
    positive: int | None = None
    n_rows: int | None = None
    differs: str = ""


#: Streams, by the names of the FIRES paper.
STREAMS = {
    "Spambase": Stream("spambase_pystreamfs"),
    "Usenet": Stream("usenet1", differs="usenet1, 1500 x 99, not the 5931 x 658 of the paper"),
    "Gisette": Stream("gisette_valid1000", differs="1000 of 7000 rows"),
    "Madelon": Stream("madelon"),
    "KDD": Stream("kdd_pystreamfs10k", differs="the authors' earlier sample of 10,000 rows, not of 100,000"),
    "MNIST": Stream("mnist", positive=3),
    "MNIST, 5000 rows": Stream("mnist", positive=3, n_rows=5000, differs="the first 5000 of 70,000 rows"),
}
