"""Columns of numbers for transformers, and errors that name the column that does not hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from seqclass._frames import plain
from seqclass._messages import shown


def name_of(estimator: Any, j: int) -> Any:
    """Name of a column, or its number."""
    names = getattr(estimator, "feature_names_in_", None)
    return j if names is None else names[j]


def check_numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Validate `X`; a column that does not hold numbers is named."""
    X = plain(X)
    try:
        checked = validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        frame = X if hasattr(X, "columns") else None
        # a complex matrix is refused as a whole
        searchable = not sp.issparse(X) and np.ndim(X) == 2 and not np.iscomplexobj(X)
        columns = np.asarray(X, dtype=object).T if searchable else []
        for j, column in enumerate(columns):
            try:
                column.astype(np.float64)
            except (TypeError, ValueError) as reason:
                name = j if frame is None else frame.columns[j]
                raise type(reason)(
                    f"column {shown(name)} does not hold numbers: {reason}. Encode it first, for example with "
                    "OrdinalEncoder."
                ) from error
        raise
    if checked.dtype.kind not in "biuf":
        raise TypeError(f"X must hold numbers, got {checked.dtype}.")
    return checked
