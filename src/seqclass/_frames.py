"""Data frames with categorical columns, turned into numbers."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, unmasked
from seqclass._messages import listed, shown

#: A text column with more different values than this, and than half of its rows, is no category.
_MANY_CATEGORIES = 50


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a pandas data frame.

    Examples
    --------
    >>> is_frame([[1.0]])
    False
    """
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "iloc")


def plain(X: Any) -> Any:
    """Give data in a form that is read as it is meant: frames of polars as of pandas, masked cells as missing.

    Raises
    ------
    ValueError
        If an array holds bytes, complex numbers or lists.
    """
    if hasattr(X, "columns") and hasattr(X, "get_column"):
        import pandas as pd

        return pd.DataFrame({name: X.get_column(name).to_numpy() for name in X.columns})
    X = unmasked(X)
    if isinstance(X, (np.ndarray, list, tuple)):
        refuse_cells(X if isinstance(X, np.ndarray) else _as_objects(X), "X")
    return X


def _as_objects(rows: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(rows, dtype=object)
    except ValueError:  # of several lengths, which others will say
        return np.empty(0)


def refuse_cells(values: Any, what: str) -> None:
    """Refuse cells that are neither numbers nor texts: bytes, complex numbers, lists and the like.

    Raises
    ------
    ValueError
        If there are some; the message begins with ``what``.
    """
    kind = getattr(values.dtype, "kind", "")
    kinds = set(map(type, np.ravel(values))) if kind == "O" else set()
    if kind == "S" or any(issubclass(one, bytes) for one in kinds):
        raise ValueError(f"{what} holds bytes: decode them into texts, or turn them into numbers.")
    if kind == "c" or any(issubclass(one, (complex, np.complexfloating)) for one in kinds):
        raise ValueError(f"{what} holds complex numbers. Complex data not supported: make two columns of them.")
    several = [one.__name__ for one in kinds if issubclass(one, Collection) and not issubclass(one, str)]
    if several and not isinstance(values, np.ndarray):  # of those in an array numpy makes no numbers anyway
        raise ValueError(
            f"{what} holds {min(several)} where one number or text belongs: give each value in it a column."
        )


class FrameEncoder:
    """Replaces the texts and categories of a data frame by the numbers of their categories.

    Attributes
    ----------
    columns_ : list
        Names of all columns, in order.
    categories_ : dict of str to ndarray
        The categories of each categorical column, sorted; category ``i`` is encoded as ``i``.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": ["red", "blue", None], "size": [1.0, 2.0, 3.0]})
    >>> FrameEncoder().fit(frame).encode(frame)["colour"].tolist()
    [1.0, 0.0, nan]
    """

    categories_: dict[Any, npt.NDArray[Any]]
    columns_: list[Any]

    def fit(self, X: Any) -> FrameEncoder:
        """Learn the categories of the columns that do not hold numbers.

        Raises
        ------
        ValueError
            If a column mixes numbers with texts, holds dates, has too many different texts to be a category, or shares
            its name with another.
        """
        self.columns_ = check_names(X)
        self.categories_ = {}
        for name in X.columns:
            refuse_cells(X[name], f"column {shown(name)}")
            column = _as_numbers(X[name])
            if is_numeric(column):
                continue
            refuse_dates(column)
            self.categories_[name] = _categories(column, name)
        return self

    def encode(self, X: Any, unknown: str = "error") -> Any:
        """Return a data frame of floats; NaN where missing.

        Parameters
        ----------
        X : DataFrame
            Rows.
        unknown : {"error", "missing"}
            Whether to refuse a category that `fit` did not see, or to take it as missing.

        Raises
        ------
        ValueError
            If a category is unknown, a text stands where a number belongs, or two columns have one name; the message
            names column and value.
        """
        import pandas as pd

        check_names(X)
        for name in X.columns:
            refuse_cells(X[name], f"column {shown(name)}")
        if not self.categories_ and all(is_numeric(X[name]) for name in X.columns):
            return X
        encoded = {}
        for name in X.columns:
            if name in self.categories_:
                encoded[name] = self._encode_column(X[name], name, unknown)
            else:
                encoded[name] = _numbers(X[name], name)
        return pd.DataFrame(encoded, columns=X.columns, index=X.index)

    def code(self, name: Any, value: Any, unknown: str = "error") -> float:
        """Number of one value of a categorical column; NaN where it is unknown and that counts as missing.

        Raises
        ------
        ValueError
            If the category is unknown.
        """
        categories = self.categories_[name].tolist()
        key = value if value in categories else str(value)
        if key not in categories and unknown == "missing":
            return float("nan")
        if key not in categories:
            raise ValueError(_unknown(name, value, self.categories_[name]))
        return float(categories.index(key))

    def _encode_column(self, column: Any, name: Any, unknown: str) -> FloatArray:
        categories = {value: i for i, value in enumerate(self.categories_[name].tolist())}
        missing = column.isna().to_numpy()
        codes = np.full(len(column), np.nan)
        values = column_keys(column[~missing])
        found = np.array([categories.get(v, np.nan) for v in values], dtype=np.float64)
        new = np.isnan(found)
        if new.any() and unknown != "missing":
            raise ValueError(_unknown(name, values[int(new.argmax())], self.categories_[name]))
        codes[~missing] = found
        return codes


def _unknown(name: Any, value: Any, categories: npt.NDArray[Any]) -> str:
    return f"column {shown(name)} holds the unknown category {shown(value)}; known are {listed(categories.tolist())}."


def check_names(X: Any) -> list[Any]:
    """Names of the columns of a data frame.

    Raises
    ------
    ValueError
        If two are the same.
    """
    names = list(X.columns)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"X has more than one column named {shown(twice)}; rename or drop one.")
    return names


def refuse_dates(column: Any) -> None:
    """Refuse a column of dates or durations; raises a ValueError."""
    if column.dtype.kind in "mM":
        raise ValueError(f"column {shown(column.name)} holds dates or durations; turn it into numbers first.")


def refuse_mixture(name: Any, value: Any, row: Any) -> None:
    """Refuse a column of numbers that holds a text; raises a ValueError."""
    raise ValueError(
        f"column {shown(name)} holds numbers, but {shown(value)} in row {row} is not one; correct it or leave the cell "
        "empty."
    )


def refuse_many(name: Any, n_categories: int, n_present: int) -> None:
    """Refuse a column of too many texts; raises a ValueError."""
    if n_categories > max(_MANY_CATEGORIES, n_present // 2):
        raise ValueError(
            f"column {shown(name)} has {n_categories} different texts in {n_present} rows, too many for a category; "
            "drop it or group its values."
        )


def is_numeric(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(column) or is_bool_dtype(column))


def _as_numbers(column: Any) -> Any:
    """Give the column as numbers if it is a text column in which every value is one."""
    import pandas as pd

    if is_numeric(column) or column.dtype.kind in "mM" or isinstance(column.dtype, pd.CategoricalDtype):
        return column
    present = column.dropna()
    numbers = to_numeric(present)
    share = numbers.notna().mean() if len(present) else 1.0
    if share == 1.0:
        return to_numeric(column)
    if share > 0.5:
        row = int(numbers.isna().to_numpy().argmax())
        refuse_mixture(column.name, present.iloc[row], present.index[row])
    return column


def to_numeric(column: Any) -> Any:
    """Numbers of a column, NaN for texts that are none."""
    import pandas as pd

    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number that no float can hold
        return pd.to_numeric(
            column.map(lambda v: math.inf if isinstance(v, int) and abs(v) > 2**1000 else v), errors="coerce"
        )


def _numbers(column: Any, name: Any) -> FloatArray:
    if not is_numeric(column):
        numbers = to_numeric(column)
        wrong = (numbers.isna() & column.notna()).to_numpy()
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"column {shown(name)} must hold numbers, but row {column.index[row]} has {shown(column.iloc[row])}."
            )
        column = numbers
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def column_keys(column: Any) -> list[Any]:
    """Give plain values that survive saving: texts as texts, other things as their text."""
    return [v if isinstance(v, str) else str(v) for v in column.tolist()]


def _categories(column: Any, name: Any) -> npt.NDArray[Any]:
    present = column.dropna()
    categories = np.array(sorted(set(column_keys(present))), dtype=str)
    refuse_many(name, len(categories), len(present))
    return categories
