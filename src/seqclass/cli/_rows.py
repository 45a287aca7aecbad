"""The rows that `seqclass fit` learns from: a table in memory, or a folder of Parquet files in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._chunks.parquet import ParquetChunks
from seqclass.classifier import SequentialClassifier
from seqclass.cli._errors import InputError, is_folder, refused
from seqclass.cli._training import read_training
from seqclass.large import read_parquet


@dataclass(frozen=True)
class Rows:
    """Rows to learn from.

    Attributes
    ----------
    X : DataFrame, ndarray, csr_array or ParquetChunks
    y : Series or None
        Labels, which chunks have with them.
    names : list of str
        Names of the features.
    classes : ndarray of shape (n_classes,)
        Labels that occur; none where nobody asked for them and they are not known yet.
    """

    X: Any
    y: Any
    names: list[str]
    classes: npt.NDArray[Any]

    def fit(self, clf: SequentialClassifier, **how: int) -> None:
        """Fit a classifier to them."""
        if isinstance(self.X, ParquetChunks):
            clf.fit_chunks(self.X, **how)
        else:
            clf.fit(self.X, self.y, **how)

    def count(self, clf: Any) -> int:
        """Number of rows that a classifier was fitted to."""
        return int(clf.model_.class_count_.sum()) if isinstance(self.X, ParquetChunks) else int(self.X.shape[0])


def read_rows(path: Path, target: str | None, drop: Sequence[str], drop_unlabelled: bool, classes: bool) -> Rows:
    """Read rows, or get ready to read them in chunks; whether their classes are needed at once is said."""
    import pandas as pd

    if not is_folder(path):
        X, y = read_training(path, target, drop, drop_unlabelled)
        names = [str(name) for name in getattr(X, "columns", [])] or [f"x{j}" for j in range(X.shape[1])]
        # labels that know the name of their column, which the classifier keeps
        return Rows(X, pd.Series(y, name="y" if target is None else target), names, np.unique(y))
    if target is None:
        raise InputError(f"{path}: name the column of the labels with --target.")
    with refused():
        chunks = read_parquet(path, target, drop=drop, drop_unlabelled=drop_unlabelled)
        return Rows(chunks, None, chunks.columns, chunks.labels() if classes else np.empty(0))
