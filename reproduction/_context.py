"""How a reproduction is run: where the data is, where results are kept, how much is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from reproduction.row import Drawn
from seqclass.datasets import Dataset, list_datasets, load
from seqclass.experiment._keys import fingerprint

#: Columns and rows of a data set, and entries of a table, of a quick run.
QUICK_COLUMNS = 40
QUICK_ROWS = 300
QUICK_ENTRIES = 4

_T = TypeVar("_T")


def error_text(error: BaseException) -> str:
    """Name and words of an error on one line, without a full stop."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(".: ")


@dataclass
class Context:
    """Settings of a run, and what its tables share."""

    path: Path
    data_dir: str | Path | None = None
    n_jobs: int = 1
    quick: bool = False
    on_progress: Callable[[int, int, str], None] | None = None
    unreadable: dict[str, str] = field(default_factory=dict)
    work: float = 0.0
    curves: list[Drawn] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._files = list_datasets(self.data_dir)
        self._datasets: dict[str, Dataset] = {}
        self._fingerprints: dict[str, str] = {}

    def available(self, file: str) -> bool:
        """Whether there is such a data set."""
        return file in self._files

    def readable(self, file: str) -> bool:
        """Whether there is such a data set and it can be read; why not is noted."""
        if not self.available(file) or file in self.unreadable:
            return False
        try:
            self.dataset(file)
        except Exception as error:
            self.unreadable[file] = error_text(error)
        return file not in self.unreadable

    def dataset(self, file: str) -> Dataset:
        """Load a data set; of a quick run its first columns."""
        if file not in self._datasets:
            self._datasets[file] = self._load(file)
        return self._datasets[file]

    def fingerprint(self, file: str) -> str:
        """Hash of what `dataset` gives."""
        if file not in self._fingerprints:
            self._fingerprints[file] = fingerprint(self.dataset(file))
        return self._fingerprints[file]

    def tell(self, done: int, total: int, latest: str = "") -> None:
        """Tell how far the table is."""
        if self.on_progress is not None and total:
            self.on_progress(done, total, latest)

    def note_work(self, seconds: Iterable[float]) -> None:
        """Add to the seconds that the table took; NaN is left out."""
        self.work += math.fsum(s for s in seconds if math.isfinite(s))

    def thinned(self, entries: list[_T]) -> list[_T]:
        """All entries of a table; of a quick run a few from first to last."""
        return entries[:: -(-len(entries) // QUICK_ENTRIES)] if self.quick and entries else entries

    def _load(self, file: str) -> Dataset:
        data = load(file, self.data_dir)
        if not self.quick or data.X.shape[1] <= QUICK_COLUMNS:
            return data
        names = None if data.feature_names is None else data.feature_names[:QUICK_COLUMNS]
        return replace(data, X=data.X[:, :QUICK_COLUMNS], feature_names=names)
