"""The first pass over chunks: labels, kinds of columns, and what bins are cut by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from seqclass._arrays import FloatArray
from seqclass._chunks.drawing import sizes_sum, told_apart
from seqclass._column_sums import ColumnSums
from seqclass._frames import Levels, is_frame, levels_of, numbers_of, plain
from seqclass._inputs import check_features
from seqclass._messages import shown


@dataclass
class Look:
    """What the first pass tells of some rows.

    Attributes
    ----------
    sizes : dict of label to int
        Rows of each class.
    dtype : dtype
        Of the labels.
    columns : BaseEstimator
        Knows the number of the columns, and their names.
    levels : dict of name to Levels, or None
        Of a data frame, what its columns hold.
    sums : ColumnSums
    sparse : bool
    first : ndarray of shape (1, n_features)
        The first row, as numbers.
    """

    sizes: dict[Any, int]
    dtype: np.dtype[Any]
    columns: Any
    levels: dict[Any, Levels] | None
    sums: ColumnSums
    sparse: bool
    first: FloatArray

    def __add__(self, other: Look) -> Look:
        self._check_columns(other)
        levels = self.levels
        if levels is not None and other.levels is not None:
            levels = {name: column + other.levels[name] for name, column in levels.items()}
        return Look(
            sizes_sum(self.sizes, other.sizes),
            np.promote_types(self.dtype, other.dtype),
            self.columns,
            levels,
            self.sums + other.sums,
            self.sparse,
            self.first,
        )

    def _check_columns(self, other: Look) -> None:
        if self.sparse != other.sparse or (self.levels is None) != (other.levels is None):
            raise ValueError("chunks must be alike: all data frames, all arrays, or all sparse.")
        if self.columns.n_features_in_ != other.columns.n_features_in_:
            n, m = self.columns.n_features_in_, other.columns.n_features_in_
            raise ValueError(f"chunks must have the same columns: one has {n} and another {m}.")
        if self.levels is not None and other.levels is not None and list(self.levels) != list(other.levels):
            pairs = zip(self.levels, other.levels)
            one, another = next(pair for pair in pairs if pair[0] != pair[1])
            raise ValueError(
                f"chunks must have the same columns in the same order: where one has {shown(one)}, another has "
                f"{shown(another)}."
            )

    def classes(self) -> npt.NDArray[Any]:
        """Labels in rising order.

        Raises
        ------
        ValueError
            If there is only one.
        """
        if len(self.sizes) < 2:
            only = shown(next(iter(self.sizes)))
            raise ValueError(f"y holds only one class, {only}; a classifier needs at least two.")
        return np.array(sorted(self.sizes), dtype=self.dtype)


def look(sketch: bool, chunk: Any) -> Look:
    """Look at a chunk, with sketches of its quantiles if wanted."""
    labels, at = told_apart(chunk.y)
    X = plain(chunk.X)
    levels = levels_of(X) if is_frame(X) else None
    columns = BaseEstimator()
    numbers = check_features(columns, X if levels is None else numbers_of(X, levels))
    first = numbers[[0]]
    return Look(
        dict(zip(labels.tolist(), np.bincount(at).tolist())),
        labels.dtype,
        columns,
        levels,
        ColumnSums.of(numbers, sketch),
        bool(sp.issparse(numbers)),
        np.asarray(first.toarray() if sp.issparse(first) else first),
    )
