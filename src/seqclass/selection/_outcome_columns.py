"""Columns of discrete data as outcomes 0..V-1, whatever integers they hold."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._arrays import IntArray, chunks, smallest_int
from seqclass._information import canonical

#: A column whose values reach further is recoded to those that it has.
_WIDEST = 64


def outcome_columns(X: Any, first: int = 0) -> Any:
    """Recode columns of integers to outcomes 0..V-1, -1 where missing.

    Parameters
    ----------
    X : ndarray of shape (n, m) or CSC matrix
        Numbers; missing are NaN in floats, and -1 in columns of integers that have nothing below it. A zero of a sparse
        matrix that is not stored is outcome 0.
    first : int
        Number of the first column, for messages.

    Returns
    -------
    ndarray (in Fortran order) or CSC array of int

    Raises
    ------
    ValueError
        If a value is not an integer.

    Examples
    --------
    >>> outcome_columns(np.array([[-1, -2], [0, -1], [1, 0]])).tolist()
    [[-1, 0], [0, 1], [1, 2]]
    >>> outcome_columns(np.array([[-2.0, 500.0], [0.0, 1000.0], [2.0, np.nan]])).tolist()
    [[0, 0], [2, 1], [4, -1]]
    """
    if sp.issparse(X):
        X = canonical(X)
        values, column = X.data, np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    else:
        values, column = X, np.broadcast_to(np.arange(X.shape[1]), X.shape)
    missing = _missing(values, column, first)
    lowest, highest = _range(X, values, missing)
    # without negative values and without leaps the numbers are outcomes already
    offenders = np.flatnonzero((lowest < 0) | (highest >= _WIDEST))
    wide = np.zeros(X.shape[1], dtype=bool)
    wide[offenders] = True
    plain = values if missing is None else np.where(missing, -1, values)
    if offenders.size:
        plain = np.where(wide[column], 0, plain)
    top = max(_WIDEST, int(X.shape[0])) if offenders.size else int(highest.max(initial=0))
    codes = plain.astype(smallest_int(top))
    if not sp.issparse(X):
        codes = np.asfortranarray(codes)
        for j in offenders:
            codes[:, j] = _recode(X[:, j], None if missing is None else missing[:, j], zero=False)
        return codes
    for j in offenders:
        part = slice(X.indptr[j], X.indptr[j + 1])
        codes[part] = _recode(X.data[part], None if missing is None else missing[part], zero=True)
    return sp.csc_array((codes, X.indices, X.indptr), shape=X.shape)


def check_whole_numbers(X: Any, first: int = 0) -> None:
    """Refuse numbers that are no integers (NaN may be); the error names the column.

    Parameters
    ----------
    X : ndarray, CSR or CSC matrix of shape (n, m)
        Numbers.
    first : int
        Number of the first column, for messages.

    Raises
    ------
    ValueError
        If a value is not an integer.

    Examples
    --------
    >>> check_whole_numbers(np.array([[0.0, np.nan], [2.0, 1.0]]))
    """
    if X.dtype.kind != "f":
        return
    X = canonical(X) if sp.issparse(X) else X
    values = X.data if sp.issparse(X) else X
    for part in chunks(len(values), 24.0 * max(1, values[:1].size)):
        some = values[part]
        bad = (some != np.floor(some)) & ~np.isnan(some)
        if bad.any():
            where = X.tocoo().col[part] if sp.issparse(X) else np.broadcast_to(np.arange(X.shape[1]), some.shape)
            _refuse(first + int(where[bad][0]), some[bad][0])


def _refuse(column: int, value: Any) -> NoReturn:
    raise ValueError(
        f"column {column} of X holds {value:g}: mutual information and symmetric uncertainty need discrete data. "
        "Discretise X first (seqclass.discretize.Discretizer), or use a measure for continuous data "
        "(measure='fisher_z')."
    )


def _missing(values: npt.NDArray[Any], column: IntArray, first: int) -> npt.NDArray[np.bool_] | None:
    """Which cells are missing, or None if none is; refuses what is no outcome."""
    if values.dtype.kind == "f":
        missing = np.isnan(values)
        bad = (values != np.floor(values)) & ~missing
        if bad.any():
            _refuse(first + int(column[bad][0]), values[bad][0])
    else:
        missing = values == -1
        if missing.any() and values.min() < -1:
            # no codes with missing ones: a column that goes below -1 holds -1 as a value
            wide = np.zeros(int(column.max()) + 1, dtype=bool)
            wide[column[values < -1]] = True
            missing &= ~wide[column]
    return missing if missing.any() else None


def _range(X: Any, values: Any, missing: npt.NDArray[np.bool_] | None) -> tuple[Any, Any]:
    """Smallest and largest value of each column; zero counts as one of them."""
    present = values if missing is None else np.where(missing, 0, values)
    if not sp.issparse(X):
        return present.min(axis=0, initial=0), present.max(axis=0, initial=0)
    lowest, highest = np.zeros((2, X.shape[1]), dtype=values.dtype)
    full = np.flatnonzero(np.diff(X.indptr))
    if full.size:
        lowest[full] = np.minimum(np.minimum.reduceat(present, X.indptr[full]), 0)
        highest[full] = np.maximum(np.maximum.reduceat(present, X.indptr[full]), 0)
    return lowest, highest


def _recode(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None, zero: bool) -> IntArray:
    """Rank each value among those of its column; ``zero`` says that zero must be outcome 0."""
    codes = np.full(len(values), -1)
    present = slice(None) if missing is None else ~missing
    if not zero:
        low = values[present].min(initial=np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).max)
        span = float(values[present].max(initial=low)) - float(low)
        if span < _WIDEST:
            codes[present] = (values[present] - low).astype(np.intp)
            return codes
    kinds, code = np.unique(values[present], return_inverse=True)
    if zero:
        # a zero that is stored is the same outcome as one that is not
        code = np.where(kinds == 0, 0, np.cumsum(kinds != 0))[code]
    codes[present] = code
    return codes
