"""A table as features and labels, read as the command line reads it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.frames import MAX_CATEGORIES, Levels, as_if_numbers, each_column, is_numeric
from seqclass._utils.marks import split_marks
from seqclass._utils.text import ColumnError, join_names, near, sentence, short_repr
from seqclass.datasets._tables import (
    USUAL,
    Arrays,
    CsvForm,
    Opener,
    header,
    kind,
    number,
    open_file,
    read_arrays,
    read_frame,
    read_labels,
    warn_without_header,
    without_header,
)


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    drop_unlabelled: bool = False,
    marks: Sequence[str] = (),
    groups: str | None = None,
    sep: str | None = None,
    decimal: str = ".",
    na_values: Sequence[str] | None = None,
) -> Any:
    r"""Read a table of features, and if named labels and groups, as `seqclass fit` and its like read theirs.

    In CSV and TSV an empty or blank cell, NA, NaN, null, None, ? and their like are missing, columns of text are
    categories, and a first column without a name is left out. What cannot be learnt from is refused with the labels:
    names of rows, dates, infinity.

    Parameters
    ----------
    path : path
        File that ends in .csv or .tsv (also .gz), .parquet or .npz.
    target : str, optional
        Column of the labels (of .npz: the array); without it only features are read, as for new cases.
    drop : sequence of str
        Columns to leave out.
    drop_unlabelled : bool
        Leave out rows without a label instead of refusing them.
    marks : sequence of str
        Columns whose cells hold several marks; see `split_marks`. `Costs(marks=...)` of the same names makes one
        question of each.
    groups : str, optional
        Column of groups, such as sex, to return as well; it stays among the features unless ``drop`` names it.
    sep : str, optional
        Column separator of CSV and TSV files, such as ``";"``; by default a comma in .csv and a tab in .tsv.
    decimal : {".", ","}
        Decimal separator in these files. With a comma, points may stand between thousands, as in 1.234,5.
    na_values : sequence of str, optional
        Texts that are missing in these files, besides the empty cell, instead of the usual ones.

    Returns
    -------
    X : DataFrame, ndarray or csr_array of shape (n, n_features)
        A frame, its rows numbered from 1; of .npz without names of features an array.
    y : Series of shape (n,)
        Labels; with ``target`` only.
    groups : ndarray of shape (n,)
        Group of each row, as text; with ``groups`` only.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If something in the file is wrong; the message names file, column and row.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "toy.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("size;colour;class\n1,5;red;a\n2,0;?;b\n")
    ...     X, y = read_table(path, "class", sep=";", decimal=",")
    >>> X["size"].tolist(), int(X["colour"].isna().sum()), y.tolist()
    ([1.5, 2.0], 1, ['a', 'b'])
    """
    path, form = Path(path), CsvForm(sep, decimal, na_values)
    named = () if groups is None else (group_labels(path, groups, form=form),)
    if target is None:
        parts: tuple[Any, ...] = (_split(read_columns(path, drop, form=form)[0], marks, path), *named)
        return parts if named else parts[0]
    X, labels = read_columns(path, drop, target, form=form)
    X, y, kept = split_labels(X, labels, path, drop_unlabelled, marks)
    return (X, y, *(group[kept] for group in named))


def split_labels(
    X: Any, labels: Any, path: Path, drop_unlabelled: bool, marks: Sequence[str]
) -> tuple[Any, Any, npt.NDArray[np.bool_]]:
    """Features, labels that know the name of their column, which a classifier keeps, and the rows that have one."""
    import pandas as pd

    target, missing = labels.name, labels.isna().to_numpy()

    def check_labels() -> Any:
        if missing.any() and not drop_unlabelled:
            raise ValueError(
                f"column {short_repr(target)} has a missing label in {_rows(missing)}; fill it in, or leave such rows "
                "out with drop_unlabelled=True (--drop-unlabelled on the command line)."
            )
        if missing.all():
            raise ValueError(f"column {short_repr(target)} holds no label at all.")
        return read_labels(labels[~missing], f"column {short_repr(target)}")

    X = _split(X[~missing] if drop_unlabelled and missing.any() else X, marks, path)
    work = {target: check_labels} | {name: partial(check_learnable, X[name]) for name in getattr(X, "columns", ())}
    y = each_column(work, lambda name: work[name](), f"{path}: ")[target]
    return X, pd.Series(y, name=target, index=getattr(X, "index", None)), ~missing


def _split(X: Any, marks: Sequence[str], path: Path) -> Any:
    try:
        return split_marks(X, marks) if marks else X
    except ValueError as error:
        raise ValueError(f"{path}: {sentence(error)}") from error


def read_columns(
    path: Path,
    drop: Sequence[str],
    target: str | None = None,
    opener: Opener = open_file,
    form: CsvForm = USUAL,
    keep: bool = False,
) -> tuple[Any, Any]:
    """Features but some, which may be kept beside them, and labels if they are named."""
    import pandas as pd

    if kind(path) == "npz":
        arrays = read_arrays(path)
        labels = None if target is None else array_labels(path, arrays, target)
        X, names = _without(path, arrays, drop)
        X, names = (arrays.X, arrays.names) if keep else (X, names)
        # a sparse matrix stays one, and so goes without names
        dense = names is not None and isinstance(X, np.ndarray)
        return pd.DataFrame(X, columns=names, index=pd.RangeIndex(1, len(X) + 1)) if dense else X, labels
    names = header(path, opener, form)
    for name in () if target is None else (target,):
        check_column(name, names, path, "target")
    for name in drop:
        check_column(name, names, path, "drop")
    if target in drop:
        raise ColumnError("drop", f"{short_repr(target)} is the target.")
    warn_without_header(path, names)
    left = [name for name in names if name not in drop]
    if len(left) <= (target is not None):
        only = "drop names all columns" if target is None else f"{short_repr(target)} is its only column"
        raise ValueError(f"{path} has no feature: {only}.")
    frame = read_frame(path, names if keep else left, opener=opener, form=form, labels=target)
    return frame, None if target is None else frame.pop(target)


def _without(path: Path, arrays: Arrays, drop: Sequence[str]) -> tuple[Any, list[str] | None]:
    """Columns of an array but some."""
    names = arrays.names
    if not drop:
        return arrays.X, names
    if names is None:
        raise ColumnError("drop", f"{path} has no feature_names, so leave columns out of X itself.")
    for name in drop:
        check_column(name, names, path, "drop")
    stay = [j for j, name in enumerate(names) if name not in drop]
    return arrays.X[:, stay], [names[j] for j in stay]


def check_column(name: str, names: list[str], path: Path, parameter: str) -> None:
    """Refuse the name of a column that is not there."""
    if name not in names:
        empty = "the name is empty" if not name else f"{path} has no column {short_repr(name)}"
        raise ColumnError(parameter, f"{empty}; {near(name, names)}{without_header(names) if name else ''}")


def label_array(path: Path, arrays: Arrays, target: str) -> npt.NDArray[Any]:
    """Labels of an .npz file as they are."""
    if target not in arrays.others:
        raise ColumnError(
            "target", f"{path} has no array {short_repr(target)}; it holds {join_names(arrays.others) or 'X only'}."
        )
    labels = arrays.others[target]
    if labels.shape != (n := arrays.X.shape[0],):
        raise ValueError(f"{path}: {target} must have one label for each of the {n} rows, not {labels.shape}.")
    return labels


def array_labels(path: Path, arrays: Arrays, target: str) -> Any:
    """Labels of an .npz file as a series, by their names where these are given."""
    return class_labels(label_array(path, arrays, target), arrays.others.get("class_names")).rename(target)


def class_labels(y: npt.NDArray[Any], names: npt.NDArray[Any] | None) -> Any:
    """Labels of an array as a pandas series, by their names where these are given."""
    import pandas as pd

    if names is not None and len(y) and y.dtype.kind in "iu" and y.min() >= 0 and y.max() < len(names):
        return pd.Series(names.astype(str)[y])
    return pd.Series(y)


def group_labels(path: Path, column: str, opener: Opener = open_file, form: CsvForm = USUAL) -> npt.NDArray[Any]:
    """Group of each row, as text."""
    if kind(path) == "npz":
        raise ColumnError("groups", f"{path} is no table with columns.")
    check_column(column, header(path, opener, form), path, "groups")
    groups = read_frame(path, [column], text=[column], opener=opener, form=form)[column]
    if groups.isna().any():
        missing = groups.isna().to_numpy()
        raise ColumnError(
            "groups",
            f"{path} has no {short_repr(column)} in {_rows(missing)}; fill it in, say with 'unknown' if these are to "
            "be a group.",
        )
    return np.asarray(groups.astype(str), dtype=object)


def _rows(missing: npt.NDArray[np.bool_]) -> str:
    n = int(missing.sum())
    return f"{n:,} row{'s' if n > 1 else ''}, first in row {int(missing.argmax()) + 1}"


def check_learnable(column: Any) -> None:
    """Refuse a column of texts that name rows rather than sort them, and what no column can be."""
    present = column.dropna()
    if not is_numeric(column) and not hasattr(column, "cat"):
        texts = present.astype(str).unique().tolist()
        n, rows = len(texts), len(present)
        numbers = sum(np.isfinite(number(str(v))) for v in present.iloc[:200])
        # fewer than 8 rows do not tell an identifier from a category
        id_like = n > max(MAX_CATEGORIES, rows // 2) or (n == rows and rows >= 8)
        if id_like and numbers <= len(present.iloc[:200]) / 2:
            name = str(column.name)
            quoted = f'"{name}"' if not name.isidentifier() else name
            rest = (
                f", so it names rows rather than describing them; leave it out with drop=[{short_repr(name)}] "
                f"(--drop {quoted} on the command line)."
            )
            raise ValueError(
                f"column {short_repr(name)} has {n} different texts in {rows:,} row{'s' if rows > 1 else ''}"
                f"{f'.{hint}' if (hint := as_if_numbers(texts)) else rest}"
            )
    Levels.from_column(column).categories(column.name)
