"""Scores as they come in: vectors, pairs, and tables of data sets by methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqclass._utils.arrays import FloatArray, unmask
from seqclass._utils.validation import check_choice, check_real, in_order, own_labels

NAN = ("raise", "omit")
#: Scores that differ by less are equal: sums in another order must not change a rank.
TOLERANCE = 1e-9


def check_vector(scores: npt.ArrayLike, name: str, nan: str) -> FloatArray:
    """Scores of any shape as a vector, without the missing ones."""
    values = _numbers(scores, name).ravel()
    return values[~_missing_values(values, name, nan)]


def check_pairs(a: npt.ArrayLike, b: npt.ArrayLike, nan: str) -> tuple[FloatArray, FloatArray]:
    """Two sets of scores of the same rows, without the pairs in which one is missing; of the same labels, by these."""
    first, second = _numbers(a, "a"), _numbers(like_rows(b, a), "b")
    if first.shape != second.shape:
        raise ValueError(f"a and b must be scores of the same folds, got shapes {first.shape} and {second.shape}.")
    first, second = first.ravel(), second.ravel()
    keep = ~(_missing_values(first, "a", nan) | _missing_values(second, "b", nan))
    if keep.sum() < 2:
        raise ValueError(f"a and b must have at least two pairs of scores, got {int(keep.sum())}.")
    return first[keep], second[keep]


def like_rows(values: Any, scores: Any) -> Any:
    """Values of the rows of scores: where pandas has the same labels for both, in the order of those of the scores."""
    labels: Any = [getattr(one, "index", None) for one in (scores, values)]
    if all(hasattr(index, "is_unique") and index.is_unique for index in labels) and set(labels[0]) == set(labels[1]):
        return values.reindex(labels[0])
    return values


def check_table(scores: Any, names: Sequence[str] | None, nan: str) -> tuple[FloatArray, tuple[str, ...]]:
    """Scores of data sets (rows) by methods (columns), NaN where allowed, and the names of the methods."""
    columns = own_labels(scores, 1) if hasattr(scores, "columns") else None
    if names is not None and columns is not None and {*map(str, columns)} == {*names}:
        scores = in_order(scores, "scores", None, names)
    table = _numbers(scores, "scores")
    if table.ndim != 2 or not len(table) or table.shape[1] < 2:
        raise ValueError(f"scores must have a row a data set and a column a method, two or more; got {table.shape}.")
    if names is None:
        names = [str(column) for column in getattr(scores, "columns", range(table.shape[1]))]
    if len(names) != table.shape[1] or len(set(names)) != len(names):
        raise ValueError(f"names must be {table.shape[1]} different names, one a method, got {list(names)!r}.")
    _missing_values(table, "scores", nan)
    return table, tuple(str(name) for name in names)


def complete_rows(table: FloatArray) -> FloatArray:
    """The data sets for which every method has a score."""
    rows = table[~np.isnan(table).any(axis=1)]
    if len(rows) < 2:
        raise ValueError(f"scores must be complete for at least two data sets, they are for {len(rows)}.")
    return rows


def ranks(table: FloatArray, higher_is_better: bool, tolerance: float) -> FloatArray:
    """Ranks of the methods on each data set, 1 the best; equal scores share the mean of their ranks."""
    step = check_real(tolerance, "tolerance", 0)
    rounded = np.rint(table / step) if step else table
    return np.asarray(stats.rankdata(-rounded if higher_is_better else rounded, axis=1), dtype=np.float64)


def _numbers(scores: Any, name: str) -> FloatArray:
    try:
        values = np.asarray(unmask(scores), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only: {error}.") from error
    if np.isinf(values).any():
        raise ValueError(f"{name} must not hold infinity.")
    return values


def _missing_values(values: FloatArray, name: str, nan: str) -> npt.NDArray[np.bool_]:
    missing = np.isnan(values)
    if check_choice(nan, "nan", NAN) == "raise" and missing.any():
        where = ", ".join(str(i) for i in np.argwhere(missing)[0])
        raise ValueError(f"{name} is missing at [{where}]; put it right, or pass nan='omit' to leave such cases out.")
    return missing
