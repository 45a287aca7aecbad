"""Labels of classes as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import IntArray
from seqclass._messages import shown

#: A column of this many different labels, or fewer, may be a class whatever the number of rows.
_MANY = 50


def read_labels(labels: Any, column: str) -> npt.NDArray[Any]:
    """Labels as integers where all are, else as texts.

    Parameters
    ----------
    labels : Series
        The labels, none of them missing.
    column : str
        Where they come from, for the message.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If there is a single class, or the labels are quantities or names of rows rather than classes.
    """
    texts = [str(v) for v in labels.tolist()]
    numbers = np.array([number(text) for text in texts])
    known = set(texts)
    if len(known) == 1:
        raise ValueError(f"{column} holds a single class, {shown(texts[0])}; at least two are needed.")
    if np.isfinite(numbers).all():
        whole = (numbers == np.floor(numbers)).all() and np.abs(numbers).max() < 2**53
        if whole and all(str(int(float(t))) == t or "." in t for t in known):
            return np.asarray(numbers.astype(np.int64))
        if not whole and len(known) > max(10, len(texts) // 10):
            raise ValueError(f"{column} holds {len(known)} different decimal numbers: a quantity, not a class.")
    if len(known) > max(_MANY, len(texts) // 2):
        raise ValueError(f"{column} holds {len(known)} different labels in {len(texts)} rows; is it the right one?")
    return np.array(texts)


def encode_labels(labels: Any, column: str) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of labels, and the label of each code: sorted, numbers by size.

    Parameters
    ----------
    labels : Series or ndarray of shape (n,)
        The labels.
    column : str
        Where they come from, for the message.

    Returns
    -------
    codes : ndarray of int of shape (n,)
    class_names : tuple of str

    Raises
    ------
    ValueError
        If a label is missing; or as `read_labels`.
    """
    import pandas as pd

    series = pd.Series(labels)
    missing = series.isna().to_numpy()
    if not len(series) or missing.any():
        where = f"a missing label in row {int(missing.argmax()) + 1}" if len(series) else "no row"
        raise ValueError(f"{column} has {where}; every row needs one.")
    known, codes = np.unique(read_labels(series, column), return_inverse=True)
    return codes.astype(np.int64), tuple(str(label) for label in known.tolist())


def number(text: str) -> float:
    """Value of a text, NaN where it is no number."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
