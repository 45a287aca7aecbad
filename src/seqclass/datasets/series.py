"""Time series in the files of the UCR archive and aeon."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray
from seqclass.datasets._tables import require_file


def load_series(path: str | Path) -> tuple[FloatArray, npt.NDArray[Any]]:
    r"""Return labelled time series of one variable and equal length, a row a series, a column a step in order of time.

    Parameters
    ----------
    path : path
        A .ts file of aeon or sktime (values, then a colon and the label), or a .tsv or .txt file of the UCR archive
        (the label, then the values, with tabs or blanks between). ``?`` and ``NaN`` are missing.

    Returns
    -------
    X : ndarray of shape (n, n_steps)
        Values, NaN where missing.
    y : ndarray of shape (n,)
        Labels, as text; ``1.0`` is the class ``1``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a line holds no number where one should be, several variables, or another number of steps than the first, or
        if labels are numbers to predict.

    See Also
    --------
    seqclass.early.EarlyClassifier : Decides such series before they end.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "toy.ts")
    ...     with open(path, "w") as file:
    ...         _ = file.write("@problemName toy\n@data\n0.5,1.5,?:up\n1,0,-1:down\n")
    ...     X, y = load_series(path)
    >>> X.tolist(), y.tolist()
    ([[0.5, 1.5, nan], [1.0, 0.0, -1.0]], ['up', 'down'])
    """
    path = Path(path)
    require_file(path)
    series: list[tuple[list[float], str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if line.lower().split() == ["@targetlabel", "true"]:
            raise ValueError(f"{path} has numbers to predict, not classes; name a file of classes.")
        if not line.strip() or line.lstrip().startswith(("#", "@", "%")):
            continue
        parts = line.rsplit(":", 1)[::-1] if path.suffix.lower() == ".ts" else line.split(maxsplit=1)
        if len(parts) < 2:
            raise ValueError(f"{path}: line {number} is no label and values, as in .ts, .tsv and .txt files.")
        try:
            row = [np.nan if text == "?" else float(text) for text in parts[1].replace(",", " ").split()]
        except ValueError as error:
            why = "it has several variables, or times beside values" if ":" in parts[1] else str(error)
            raise ValueError(f"{path}: line {number}: {why}; write '?' where a value is missing.") from error
        if series and len(row) != (n_steps := len(series[0][0])):
            why = f"line {number} has {len(row)} steps, the first series {n_steps}; cut or fill them up"
            raise ValueError(f"{path}: {why}.")
        series.append((row, re.sub(r"\.0+(e\+00)?$", "", parts[0].strip())))  # "1.0000000e+00" is the class "1"
    if not series:
        raise ValueError(f"{path} holds no series.")
    return np.array([row for row, _ in series]), np.array([label for _, label in series])
