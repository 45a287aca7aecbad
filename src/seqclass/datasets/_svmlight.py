"""Reading svmlight files, also those of LIBSVM."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from seqclass._arrays import check_width
from seqclass._messages import sentence, shown
from seqclass.datasets._tables import check_input

#: Endings of such files; each may be followed by .gz or .bz2.
SVMLIGHT = (".svmlight", ".libsvm", ".svm")


def read_svmlight(path: Path) -> tuple[Any, npt.NDArray[np.float64]]:
    """Read features and labels.

    Parameters
    ----------
    path : path
        The file; feature numbers start at 1, or at 0 if one is 0.

    Returns
    -------
    X : csr_array of shape (n, n_features)
        As many features as the highest number in the file.
    y : ndarray of shape (n,)
        Labels.

    Raises
    ------
    ValueError
        If a line is not ``label number:value number:value ...``; the message names it.
    """
    check_input(path)
    try:
        X, y = load_svmlight_file(str(path), zero_based="auto")
    except (ValueError, IndexError, OverflowError, OSError, EOFError) as error:
        raise ValueError(f"{path}: {_bad_line(path) or sentence(error)}") from error
    if not X.shape[0] or not X.shape[1]:
        raise ValueError(f"{path} holds no row with a feature.")
    try:
        check_width(X.shape[1], path.stat().st_size)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return sp.csr_array(X), np.asarray(y, dtype=np.float64)


def _bad_line(path: Path) -> str | None:
    """What is wrong with the first line that cannot be read."""
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    try:
        with openers.get(path.suffix.lower(), open)(path, "rt", encoding="utf-8") as file:
            for i, line in enumerate(file, 1):
                wrong = _wrong_part(line.split("#")[0].split())
                if wrong is not None:
                    return (
                        f"line {i} has {shown(wrong)}; a line is a label, then number:value for each feature in order."
                    )
    except (OSError, EOFError, UnicodeDecodeError) as error:
        return f"it is no text: {sentence(error)}"
    return None


def _wrong_part(parts: list[str]) -> str | None:
    last = -1
    for k, part in enumerate(parts):
        index, colon, value = part.partition(":")
        if index == "qid" and k == 1:
            continue
        try:
            float(value if k else part)
            if k and (not colon or int(index) <= last):
                return part
            last = int(index) if k else -1
        except ValueError:
            return part
    return None
