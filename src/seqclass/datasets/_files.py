"""Data sets from files of any common kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._frames import is_frame
from seqclass._messages import listed, near, sentence, shown
from seqclass.datasets._costs import beside, check_prices, read_costs
from seqclass.datasets._dataset import Dataset
from seqclass.datasets._labels import encode_labels
from seqclass.datasets._svmlight import SVMLIGHT, read_svmlight
from seqclass.datasets._tables import ENDINGS, CsvForm, header, kind, read_arrays, read_frame, without_header

#: Columns that hold the labels where no target is named.
_TARGETS = ("target", "class", "label", "y")
#: Names in an .npz file of the fields of a Dataset that hold rows.
_SPLITS = {"train_idx": "train_index", "valid_idx": "valid_index", "test_idx": "test_index"}


def load_file(
    path: str | Path,
    target: str | None = None,
    costs: str | Path | None = None,
    *,
    drop: Sequence[str] = (),
    name: str | None = None,
    sep: str | None = None,
    decimal: str = ".",
) -> Dataset:
    r"""Return the data set in a CSV, TSV, Parquet, .npz or svmlight file, with the prices beside it.

    Parameters
    ----------
    path : path
        The file. Of tables an empty cell, NA, NaN, null or ? is missing, columns of text are categories, and a first
        column without a name is left out. An .npz file holds ``X``, or a CSR matrix as ``data``, ``indices``,
        ``indptr`` and ``shape``; ``y``; and may hold ``class_names``, ``feature_names``, ``train_idx``, ``valid_idx``,
        ``test_idx``, ``cost``, ``discount_cost``, ``group`` and ``bundle``. Nothing is unpickled.
    target : str, optional
        Column of the labels, or the array of an .npz file; by default the one called target, class, label or y.
    costs : path, optional
        File of the prices; by default NAME.costs.csv or NAME.costs.json beside NAME.csv, if there is one. As CSV it has
        the columns feature and cost, and may have discounted, the price once another feature of the same group was
        acquired, group, and bundle, the question that shows several features at once. As JSON it is an object with
        feature_costs, discounted_costs, groups, bundles (each a list or an object by name), decision_costs (a row a
        class, in the order of ``class_names``) and decisions (names of columns beyond the classes). A price that is
        left empty is not known.
    drop : sequence of str
        Columns of a table to leave out.
    name : str, optional
        Name of the set; by default that of the file.
    sep : str, optional
        What parts the columns of CSV and TSV files, such as ``";"``, that of the prices among them; by default a comma
        in .csv and a tab in .tsv.
    decimal : {".", ","}
        What stands before decimals in these files.

    Returns
    -------
    Dataset
        ``X`` is a data frame where it comes from a table, sparse where it comes from a sparse matrix.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If something in it is wrong; the message names file, column and row or line.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "toy.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("size,colour,class\n1,red,a\n2,,b\n")
    ...     with open(os.path.join(folder, "toy.costs.csv"), "w") as file:
    ...         _ = file.write("feature,cost\nsize,2.5\ncolour,1\n")
    ...     data = load_file(path)
    >>> data, data.feature_costs.tolist(), data.labels.tolist()
    (Dataset('toy', 2 x 2, 2 classes), [2.5, 1.0], ['a', 'b'])
    """
    path, form = Path(path), CsvForm(sep, decimal)
    stem = file_stem(path)
    if is_svmlight(path):
        parts = _from_svmlight(path)
    elif kind(path) == "npz":
        parts = _from_arrays(path, "y" if target is None else target)
    else:
        parts = _from_table(path, target, drop, form)
    if drop and not is_frame(parts["X"]):
        raise ValueError(f"drop: {path} is no table of named columns.")
    names = parts["feature_names"] or tuple(f"x{j}" for j in range(parts["X"].shape[1]))
    costs_file = beside(path, stem) if costs is None else Path(costs)
    if costs_file is not None:
        parts |= read_costs(costs_file, list(names), parts["class_names"], form=form)
    try:
        return Dataset(name=stem if name is None else name, source=path.name, **parts)
    except ValueError as error:
        raise ValueError(f"{path}: {sentence(error)}") from error


def is_svmlight(path: Path) -> bool:
    """Whether a file's name is that of an svmlight file."""
    bare = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    return bare.endswith(SVMLIGHT)


def file_stem(path: Path) -> str:
    """Name of a file without the ending that says what kind it is."""
    for ending in [*ENDINGS, *(e + more for e in SVMLIGHT for more in (".gz", ".bz2", ""))]:
        if path.name.lower().endswith(ending):
            return path.name[: -len(ending)]
    return path.stem


def _from_svmlight(path: Path) -> dict[str, Any]:
    X, labels = read_svmlight(path)
    y, class_names = encode_labels(labels, f"{path}: the first column")
    return {"X": X, "y": y, "class_names": class_names, "feature_names": None}


def _from_table(path: Path, target: str | None, drop: Sequence[str], form: CsvForm) -> dict[str, Any]:
    columns = header(path, form=form)
    if target is None:
        usual = [column for column in columns if column.strip().lower() in _TARGETS]
        if len(usual) != 1:
            why = f"both {shown(usual[0])} and {shown(usual[1])} could hold" if usual else "no column is known to hold"
            raise ValueError(f"{path}: {why} the labels; name it as target.{without_header(columns)}")
        target = usual[0]
    for wanted in (target, *drop):
        if wanted not in columns:
            raise ValueError(f"{path} has no column {shown(wanted)}; {near(wanted, columns)}{without_header(columns)}")
    if target in drop:
        raise ValueError(f"drop: {shown(target)} is the target.")
    frame = read_frame(path, [column for column in columns if column not in drop], text=[target], form=form)
    y, class_names = encode_labels(frame.pop(target), f"{path}: column {shown(target)}")
    if not frame.shape[1]:
        raise ValueError(f"{path} has no feature: {shown(target)} is its only column.")
    _check_finite(frame, path)
    names = tuple(str(column) for column in frame.columns)
    return {"X": frame, "y": y, "class_names": class_names, "feature_names": names}


def _check_finite(frame: Any, path: Path) -> None:
    for column in frame.columns:
        values = frame[column].to_numpy()
        if values.dtype.kind == "f" and np.isinf(values).any():
            row = frame.index[int(np.isinf(values).argmax())]
            raise ValueError(
                f"{path}: column {shown(column)} holds infinity in row {row}; correct it or leave it empty."
            )


def _from_arrays(path: Path, target: str) -> dict[str, Any]:
    arrays = read_arrays(path)
    others, (n, m) = arrays.others, arrays.X.shape
    if target not in others:
        raise ValueError(f"{path} has no array {shown(target)} for the labels; it holds {listed(others) or 'X only'}.")
    labels = others[target]
    if labels.shape != (n,):
        raise ValueError(f"{path}: {target} must have one label for each of the {n} rows, it has shape {labels.shape}.")
    y, class_names = _classes(labels, others.get("class_names"), path, target)
    found: dict[str, Any] = {"X": arrays.X, "y": y, "class_names": class_names}
    found["feature_names"] = None if arrays.names is None else tuple(arrays.names)
    for key, field in _SPLITS.items():
        if key in others:
            found[field] = _rows(others[key], f"{path}: {key}")
    for key, field in {"cost": "feature_costs", "discount_cost": "discounted_costs"}.items():
        if key in others:
            found[field] = _costs(others[key], f"{path}: {key}", m)
    for key in ("group", "bundle"):
        if key in others:
            if others[key].shape != (m,):
                raise ValueError(f"{path}: {key} must have {m} entries, it has shape {others[key].shape}.")
            found[f"{key}s"] = tuple(None if label in ("", -1) else label for label in others[key].tolist())
    names = found["feature_names"] or [f"x{j}" for j in range(m)]
    return check_prices(found, list(names), str(path))


def _classes(
    labels: npt.NDArray[Any], names: npt.NDArray[Any] | None, path: Path, target: str
) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    if names is None:
        y, class_names = encode_labels(labels, f"{path}: {target}")
        return y.astype(np.int64), class_names
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= len(names):
        raise ValueError(f"{path}: {target} must hold 0 to {len(names) - 1}, the positions in class_names.")
    return labels.astype(np.int64), tuple(str(label) for label in names.tolist())


def _rows(rows: npt.NDArray[Any], what: str) -> npt.NDArray[np.int64]:
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(f"{what} must hold the numbers of rows, it holds {rows.dtype} of shape {rows.shape}.")
    return rows.astype(np.int64)


def _costs(costs: npt.NDArray[Any], what: str, n: int) -> npt.NDArray[np.float64]:
    if costs.shape != (n,) or costs.dtype.kind not in "biuf":
        raise ValueError(f"{what} must hold {n} numbers, it holds {costs.dtype} of shape {costs.shape}.")
    values = costs.astype(np.float64)
    if (values < 0).any() or np.isinf(values).any():
        j = int(((values < 0) | np.isinf(values)).argmax())
        raise ValueError(f"{what} must be finite and not negative, but feature {j} has {values[j]:g}.")
    return values
