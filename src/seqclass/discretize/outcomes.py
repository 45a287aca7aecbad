"""Outcomes from other transformers, brought into the form of a discretised matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, IntArray, chunks, smallest_int, unmask
from seqclass._utils.information import canonical
from seqclass._utils.text import short_repr
from seqclass.discretize._edges import TUNING


def check_outcomes(
    X: Any, n_outcomes: int | npt.ArrayLike | None = None, *, n_features: int | None = None, names: Any = None
) -> Any:
    """Bring the output of any transformer to outcomes into the form of a discretised matrix."""
    names = getattr(X, "columns", names)
    if sp.issparse(X):
        X = canonical(X.tocsr())
    else:
        frame, X = X, np.asarray(unmask(X))
        if X.dtype == object and hasattr(frame, "to_numpy"):
            X = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        if X.ndim != 2:
            raise ValueError(f"outcomes must be a matrix of shape (n, n_features), got shape {X.shape}.")
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(
            f"the discretiser turned {n_features} features into {X.shape[1]} columns; it must give one "
            'column of outcomes a feature (not a one-hot encoding: KBinsDiscretizer needs encode="ordinal").'
        )
    limit = None if n_outcomes is None else np.broadcast_to(np.asarray(n_outcomes), (X.shape[1],))
    if not sp.issparse(X):
        return _to_codes(X, limit, None, names)
    codes = _to_codes(X.data, limit, X.indices, names)
    if codes is X.data:
        return X
    return type(X)((codes, X.indices, X.indptr), shape=X.shape)


def _to_codes(values: Any, limit: Any, columns: Any, names: Any) -> IntArray:
    """Turn whole numbers into codes; `columns` are those of sparse entries, None if `values` is a matrix."""

    def refuse(bad: BoolArray, problem: str, start: int = 0) -> None:
        if bad.any():
            where = np.unravel_index(int(np.argmax(bad)), bad.shape)
            j = int(where[-1] if columns is None else columns[start + where[0]])
            column = j if names is None else names[j]
            row = f" (row {start + where[0] + 1}, counted from 1)" if columns is None and len(values) > 1 else ""
            most = int(limit[j]) - 1 if problem.endswith(" to ") else ""
            raise ValueError(f"column {short_repr(column)} holds {values[start:][where]!s}, {problem}{most}{row}.")

    if values.dtype.kind not in "biuf":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"outcomes must be whole numbers: {error}.") from error
    largest = np.fmax.reduce(values, axis=None, initial=0)
    if np.fmin.reduce(values, axis=None, initial=0) < -1:
        refuse(values < -1, "below 0: outcomes are 0, 1, ..., and -1 or NaN where missing")
    if largest >= TUNING.max_outcomes:
        refuse(
            values == largest,
            f"too large for an outcome, of which a column may have {TUNING.max_outcomes:,}, from 0 on",
        )
    if limit is not None and largest >= limit.min(initial=np.iinfo(np.int64).max):
        bound = limit if columns is None else limit[columns]
        refuse(values >= bound, "not an outcome of the model: those are 0 to ")
    dtype = smallest_int(int(largest))
    if values.dtype.kind != "f":
        return np.ascontiguousarray(values, dtype=dtype)
    codes = np.empty(values.shape, dtype=dtype)
    for rows in chunks(len(values), 8 * max(1, values[:1].size), budget=CACHE_BYTES):
        missing = np.isnan(values[rows])
        codes[rows] = np.where(missing, -1, values[rows])
        refuse((codes[rows] != values[rows]) & ~missing, "which is not a whole number", rows.start)
    return codes
