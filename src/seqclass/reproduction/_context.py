"""How a reproduction is run: where the data is, where results are kept, how much is computed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from seqclass.datasets import Dataset, list_datasets, load

#: Columns and rows of a data set, and entries of a table, of a quick run.
QUICK_COLUMNS = 40
QUICK_ROWS = 300
QUICK_ENTRIES = 4

_T = TypeVar("_T")


@dataclass
class Context:
    """Settings of a run, and what its tables share.

    Attributes
    ----------
    path : Path
        File of the run, which keeps the cells of comparisons.
    data_dir : path or None
        Folder of the data; None for the one that SEQCLASS_DATA names.
    n_jobs : int
        Processes.
    quick : bool
        Whether to compute on little data, to see that it runs.
    shared : dict
        What one table leaves to those after it.

    Examples
    --------
    >>> context = Context(Path("run.db"), quick=True)
    >>> context.available("breast_cancer"), context.dataset("breast_cancer")
    (True, Dataset('breast_cancer', 569 x 30, 2 classes))
    """

    path: Path
    data_dir: str | Path | None = None
    n_jobs: int = 1
    quick: bool = False
    shared: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._files = list_datasets(self.data_dir)

    def available(self, file: str) -> bool:
        """Whether there is such a data set."""
        return file in self._files

    def dataset(self, file: str) -> Dataset:
        """Load a data set; of a quick run its first columns."""
        if ("dataset", file) not in self.shared:
            self.shared["dataset", file] = self._load(file)
        found: Dataset = self.shared["dataset", file]
        return found

    def thinned(self, entries: list[_T]) -> list[_T]:
        """All entries of a table; of a quick run a few from first to last."""
        return entries[:: -(-len(entries) // QUICK_ENTRIES)] if self.quick and entries else entries

    def _load(self, file: str) -> Dataset:
        data = load(file, self.data_dir)
        if sp.issparse(data.X) and data.X.indices.dtype != np.int32 and data.X.nnz < np.iinfo(np.int32).max:
            # trees of scikit-learn refuse wider ones
            parts = (data.X.data, data.X.indices.astype(np.int32), data.X.indptr.astype(np.int32))
            data = replace(data, X=sp.csr_array(parts, shape=data.X.shape))
        if not self.quick or data.X.shape[1] <= QUICK_COLUMNS:
            return data
        names = None if data.feature_names is None else data.feature_names[:QUICK_COLUMNS]
        return replace(data, X=data.X[:, :QUICK_COLUMNS], feature_names=names)
