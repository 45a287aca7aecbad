"""Data sets of OpenML, through scikit-learn, kept on disk once they were fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import numpy as np
from sklearn.datasets import fetch_openml

from seqclass._frames import is_frame
from seqclass._messages import sentence
from seqclass.datasets._dataset import Dataset
from seqclass.datasets._labels import encode_labels


def load_openml(
    name: str | int, *, version: int | str = "active", target: str | None = None, data_home: str | Path | None = None
) -> Dataset:
    """Return a data set of OpenML by its name or number.

    The first call fetches it, later ones read it from the disk.

    Parameters
    ----------
    name : str or int
        Name, or the number in the web address of the set; a text of digits is a number.
    version : int or "active"
        Version of a set that is given by name: OpenML has several of many.
    target : str, optional
        Column of the labels; by default the one that OpenML names.
    data_home : path, optional
        Where to keep fetched sets; by default scikit-learn's folder, which ``SCIKIT_LEARN_DATA`` names.

    Returns
    -------
    Dataset
        ``X`` is a data frame where columns are categories, otherwise an array, or sparse.

    Raises
    ------
    ConnectionError
        If the set is not on the disk and OpenML cannot be reached.
    ValueError
        If OpenML has no such set, or its target is no class.

    Examples
    --------
    >>> load_openml("credit-g", version=1)  # doctest: +SKIP
    Dataset('credit-g', 1000 x 20, 2 classes)
    """
    number = int(name) if isinstance(name, int) or name.isdecimal() else None
    which: dict[str, Any] = {"name": name, "version": version} if number is None else {"data_id": number}
    if target is not None:
        which["target_column"] = target
    home = None if data_home is None else str(data_home)
    shown = f"OpenML's {name!r}" if number is None else f"OpenML's number {number}"
    try:
        bunch = _fetch(which | {"data_home": home})
    except HTTPError as error:  # OpenML answers, and refuses
        raise ValueError(
            f"{shown} cannot be had: {sentence(error)} Check its name and version at www.openml.org."
        ) from error
    except OSError as error:
        raise ConnectionError(
            f"{shown} is not on this disk, and OpenML cannot be reached ({sentence(error).rstrip('.')}). "
            "Connect once and load it again, which keeps it; or copy the folder 'openml' of a machine that has it into "
            f"{home or 'the folder that SCIKIT_LEARN_DATA names'}; or save the table as a file and use load_file."
        ) from error
    return _from_bunch(bunch, shown, str(name))


def _fetch(settings: dict[str, Any]) -> Any:
    try:
        return fetch_openml(**settings, as_frame="auto", parser="auto")
    except TypeError:  # scikit-learn's quick parser with pandas 3, on categories that are numbers
        return fetch_openml(**settings, as_frame="auto", parser="liac-arff")


def _from_bunch(bunch: Any, shown: str, name: str) -> Dataset:
    if bunch.target is None or np.ndim(bunch.target) != 1:
        raise ValueError(f"{shown} names no single target column; pass target.")
    details = bunch.details if isinstance(bunch.details, dict) else {}
    X = bunch.data
    names = list(X.columns) if is_frame(X) else list(bunch.feature_names or [])
    if is_frame(X) and all(dtype.kind in "biuf" for dtype in X.dtypes):
        X = X.to_numpy(dtype=np.float64)
    y, class_names = encode_labels(bunch.target, f"the target of {shown}")
    title, version = str(details.get("name", name)), details.get("version", "?")
    return Dataset(
        name=title,
        X=X,
        y=y,
        class_names=class_names,
        feature_names=tuple(str(column) for column in names) or None,
        description=" ".join(str(bunch.DESCR or "").split())[:500],
        source=f"OpenML {details.get('id', '')} ({title}, version {version})".replace("  ", " "),
    )
