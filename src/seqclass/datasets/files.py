"""Data sets from files of the common kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import numpy as np
import numpy.typing as npt

from seqclass._utils.frames import each_column, is_frame, is_numeric, refuse_numbers
from seqclass._utils.text import sentence, short_repr
from seqclass.datasets._costs import check_prices, find_costs_file, read_costs
from seqclass.datasets._tables import (
    ENDINGS,
    SVMLIGHT,
    CsvForm,
    encode_labels,
    header,
    kind,
    read_arrays,
    read_svmlight,
    without_header,
)
from seqclass.datasets.dataset import Dataset
from seqclass.datasets.table import label_array, read_columns

_TEXTS = {
    "breast_cancer": "Wisconsin diagnostic: measures of cell nuclei, malignant or benign.",
    "digits": "Handwritten digits, 8 x 8 pixels of 0 to 16.",
    "iris": "Sepals and petals of three kinds of iris.",
    "wine": "Chemical analysis of wines of three growers.",
}
#: Names of the embedded sets.
EMBEDDED = tuple(_TEXTS)


def load_embedded(name: str) -> Dataset:
    """Return one of scikit-learn's own sets: breast_cancer, digits, iris or wine."""
    from sklearn import datasets

    if name not in EMBEDDED:
        raise ValueError(f"name must be one of {', '.join(map(repr, EMBEDDED))}, got {name!r}.")
    bunch = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        X=bunch.data,
        y=np.asarray(bunch.target, dtype=np.int64),
        class_names=tuple(str(label) for label in bunch.target_names),
        feature_names=tuple(str(feature) for feature in bunch.feature_names),
        description=_TEXTS[name],
        source=f"scikit-learn, load_{name}",
    )


def load_openml(
    name: str | int, *, version: int | str = "active", target: str | None = None, data_home: str | Path | None = None
) -> Dataset:
    """Return a data set of OpenML by its name or number.

    The first call downloads it; later ones read it from disk.

    Parameters
    ----------
    name : str or int
        Name, or the number in the web address of the set; a text of digits is a number.
    version : int or "active"
        Version of a set that is given by name, as OpenML often has several.
    target : str, optional
        Column of the labels; by default the one that OpenML names.
    data_home : path, optional
        Where to keep downloaded sets; by default scikit-learn's folder, which ``SCIKIT_LEARN_DATA`` names.

    Returns
    -------
    Dataset
        ``X`` is a data frame if columns are categories, otherwise an array, dense or sparse.

    Raises
    ------
    ConnectionError
        If the set is not on the disk and OpenML cannot be reached.
    ValueError
        If OpenML has no such set, or its target is not a class.

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
    source = f"OpenML's {name!r}" if number is None else f"OpenML's number {number}"
    try:
        bunch = _fetch(which | {"data_home": home})
    except HTTPError as error:  # OpenML answers, and refuses
        raise ValueError(
            f"{source} cannot be had: {sentence(error)} Check its name and version at www.openml.org."
        ) from error
    except OSError as error:
        raise ConnectionError(
            f"{source} is not on this disk, and OpenML cannot be reached ({sentence(error).rstrip('.')}). "
            "Connect once and load it again, which keeps it; or copy the folder 'openml' of a machine that has it into "
            f"{home or 'the folder that SCIKIT_LEARN_DATA names'}; or save the table as a file, and load that."
        ) from error
    return _from_bunch(bunch, source, str(name))


def _fetch(settings: dict[str, Any]) -> Any:
    from sklearn.datasets import fetch_openml

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
    na_values: Sequence[str] | None = None,
) -> Dataset:
    r"""Return the data set in a CSV, TSV, Parquet, .npz or svmlight file, with the prices in a file next to it.

    Parameters
    ----------
    path : path
        The file. In tables an empty cell, NA, NaN, null or ? is missing, columns of text are categories, and a first
        column without a name is left out. An .npz file holds ``X``, or a CSR matrix as ``data``, ``indices``,
        ``indptr`` and ``shape``; ``y``; and may hold ``class_names``, ``feature_names``, ``train_idx``, ``valid_idx``,
        ``test_idx``, ``cost``, ``discount_cost``, ``group`` and ``bundle``. Nothing is unpickled.
    target : str, optional
        Column of the labels, or the array of an .npz file; by default the one called target, class, label or y.
    costs : path, optional
        File of the prices; by default NAME.costs.csv or NAME.costs.json next to NAME.csv, if there is one. A CSV file
        has the columns feature and cost, and may have discounted (the price once another feature of the same group has
        been acquired), group, and bundle (the question that shows several features at once). A JSON file holds an
        object with feature_costs, discounted_costs, groups, bundles (each a list or an object by name), decision_costs
        (one row per class, in the order of ``class_names``) and decisions (names of columns beyond the classes). A
        price that is left empty is unknown.
    drop : sequence of str
        Columns of a table to leave out.
    name : str, optional
        Name of the set; by default that of the file.
    sep : str, optional
        Column separator of CSV and TSV files, such as ``";"``, including the file of prices; by default a comma in .csv
        and a tab in .tsv.
    decimal : {".", ","}
        Decimal separator in these files. With a comma, points may stand between thousands, as in 1.234,5.
    na_values : sequence of str, optional
        Texts that are missing in these files, besides the empty cell, instead of NA, NaN, null, None, ? and their like.

    Returns
    -------
    Dataset
        ``X`` is a data frame if it comes from a table, and sparse if it comes from a sparse matrix.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If something in a file is wrong; the message names file, column and row or line.

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
    path, form = Path(path), CsvForm(sep, decimal, na_values)
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
    costs_file = find_costs_file(path, stem) if costs is None else Path(costs)
    if costs_file is not None:
        others = [*drop, *([] if target is None else [target])]
        parts |= read_costs(costs_file, list(names), parts["class_names"], others=others, form=form)
        if parts.pop("prices_after", None):
            raise ValueError(
                f"{costs_file}: a data set, and so seqclass compare, has no prices that depend on answers (after): "
                "leave them out of its file of prices; Costs(prices_after=...) and seqclass fit take them."
            )
    try:
        return Dataset(name=stem if name is None else name, source=path.name, **parts)
    except ValueError as error:
        raise ValueError(f"{path}: {sentence(error)}") from error


def is_svmlight(path: Path) -> bool:
    """Whether a file's name is that of an svmlight file."""
    return path.name.lower().removesuffix(".gz").removesuffix(".bz2").endswith(SVMLIGHT)


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
            both = " and ".join(map(short_repr, usual[:2]))
            why = f"both {both} could hold" if usual else "no column is known to hold"
            raise ValueError(f"{path}: {why} the labels; name it as target.{without_header(columns)}")
        target = usual[0]
    frame, labels = read_columns(path, drop, target, form=form)
    work = {target: lambda: encode_labels(labels, f"column {short_repr(target)}")}
    work |= {name: partial(refuse_numbers, frame[name], name) for name in frame if is_numeric(frame[name])}
    y, class_names = each_column(work, lambda name: work[name](), f"{path}: ")[target]
    names = tuple(str(column) for column in frame.columns)
    return {"X": frame, "y": y, "class_names": class_names, "feature_names": names}


def _from_arrays(path: Path, target: str) -> dict[str, Any]:
    arrays = read_arrays(path)
    others, m = arrays.others, arrays.X.shape[1]
    labels = label_array(path, arrays, target)
    if (names := others.get("class_names")) is None:
        y, class_names = encode_labels(labels, f"{path}: {target}")
    elif labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < len(names):
        y, class_names = labels.astype(np.int64), tuple(str(label) for label in names.tolist())
    else:
        raise ValueError(f"{path}: {target} must hold 0 to {len(names) - 1}, the positions in class_names.")
    fields: dict[str, Any] = {"X": arrays.X, "y": y, "class_names": class_names}
    fields["feature_names"] = None if arrays.names is None else tuple(arrays.names)
    for key, field in _SPLITS.items():
        if key in others:
            fields[field] = _rows(others[key], f"{path}: {key}")
    for key, field in {"cost": "feature_costs", "discount_cost": "discounted_costs"}.items():
        if key in others:
            fields[field] = _costs(others[key], f"{path}: {key}", m)
    for key in ("group", "bundle"):
        if key in others:
            if others[key].shape != (m,):
                raise ValueError(f"{path}: {key} must have {m} entries, it has shape {others[key].shape}.")
            fields[f"{key}s"] = tuple(None if label in ("", -1) else label for label in others[key].tolist())
    features = fields["feature_names"] or [f"x{j}" for j in range(m)]
    return check_prices(fields, list(features), str(path))


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
