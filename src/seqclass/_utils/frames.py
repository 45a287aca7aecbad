"""Data frames with categorical columns, turned into numbers."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, unmask
from seqclass._utils.model_files import register
from seqclass._utils.stored import check_array, is_fitted, require
from seqclass._utils.text import (
    MAX_EXACT,
    AnswerError,
    at_place,
    fold_text,
    join_names,
    raise_all,
    short_repr,
    spellings,
)

#: A column with more different texts than this, and than half of its rows, names rows: it is no category, and no class.
MAX_CATEGORIES = 50
#: Cells of a column that a message shows where they are wrong.
_MAX_EXAMPLES = 3
#: What is taken off the edges of categories; pages and C code take off the same.
BLANKS = " \t\n\r\f\v"


def is_frame(X: Any) -> bool:
    kind = type(X)  # which is soon asked: of a frame itself, dtypes are put together each time
    return hasattr(kind, "columns") and hasattr(kind, "dtypes") and hasattr(kind, "iloc")


def frame_columns(X: Any) -> list[Any] | None:
    """Names of the columns of a data frame of pandas or polars, or a table of Arrow; None of anything else."""
    names: Any = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None:
        return None
    return list(names.tolist() if hasattr(names, "tolist") else names)  # going through an index of texts takes longer


def text_columns(X: Any) -> list[str] | None:
    """Names of the columns of a data frame where all are texts; None of anything else."""
    names = frame_columns(X)
    return names if names and all(isinstance(name, str) for name in names) else None


def column_labels(names: npt.NDArray[Any] | None, encoder: FrameEncoder | None, columns: list[Any]) -> list[Any] | None:
    """What columns of the fit are called in a data frame with these ones; None where they go by their places."""
    if names is not None or encoder is None:
        return None if names is None else names.tolist()
    return encoder.columns_ if set(encoder.columns_) & set(columns) else None  # numbers, say


def take_columns(X: Any, names: npt.NDArray[Any] | None, encoder: FrameEncoder | None) -> Any:
    """The columns of the fit in a data frame, by name and in order, missing where they are not; no other is read."""
    columns = frame_columns(X) or []
    labels, there = column_labels(names, encoder, columns), set(columns)
    if labels is None or columns == labels:
        return X
    wanted = [label for label in labels if label in there]
    if not wanted and hasattr(X, "select"):  # polars and Arrow forget the rows with the last column
        return to_frame(np.full((len(X), len(labels)), np.nan)).set_axis(labels, axis=1)
    part = plain_data(X.select(wanted) if hasattr(X, "select") else X[wanted])
    check_names(part)
    return part.reindex(columns=labels)


def rows_as_frame(X: Any) -> Any:
    """Rows of a data frame in a list, of which each has the names, as a data frame; anything else as it is."""
    if not isinstance(X, (list, tuple)) or not X or not all(hasattr(row, "iloc") and row.ndim == 1 for row in X):
        return X
    import pandas as pd

    return pd.DataFrame(list(X)).infer_objects()


def plain_data(X: Any) -> Any:
    """Give data in a form that is read as it is meant: polars and Arrow as pandas, masked cells as missing."""
    X = rows_as_frame(X)
    if hasattr(X, "columns") and hasattr(X, "get_column"):
        import pandas as pd

        return pd.DataFrame({name: _of_polars(X.get_column(name)) for name in X.columns})
    if hasattr(X, "column_names") and hasattr(X, "to_pandas"):  # a table of Arrow
        X = X.to_pandas()
    if is_frame(X):
        if hasattr(X, "__dask_graph__"):
            raise TypeError(
                "X is a data frame of dask: give X.compute() where it fits in memory, or see seqclass.large: "
                "fit_chunks(from_dask(X, y)) fits to its partitions, predict_dask(clf, X) decides them."
            )
        return _without_arrow(X)
    if isinstance(X, (str, os.PathLike)):
        raise TypeError(
            f"X is {short_repr(X)}, a path or a text: read the table first, as by pandas.read_csv, and give that."
        )
    X = unmask(X)
    if isinstance(X, (np.ndarray, list, tuple)):
        array = X if isinstance(X, np.ndarray) else _as_objects(X)
        refuse_cells(array, "X")
        return to_frame(array) if array.ndim == 2 and array.dtype.kind in "OUT" and _needs_frame(array) else X
    return X


def _needs_frame(array: npt.NDArray[Any]) -> bool:
    """Whether an array holds what numpy would make no floats of, or wrong ones: texts, or large whole numbers."""
    if array.dtype.kind == "O" and any(isinstance(v, int) and abs(v) > MAX_EXACT for v in array.ravel().tolist()):
        return True
    try:
        array.astype(np.float64)
    except ValueError:
        return True
    except TypeError:  # neither texts nor numbers, which others will say
        pass
    return False


def to_frame(array: Any) -> Any:
    """An array as a data frame, each column of its own kind."""
    import pandas as pd

    frame = pd.DataFrame(np.asarray(array, dtype=object), dtype=object)
    try:
        return frame.infer_objects()
    except OverflowError:  # by pandas 2, of a whole number that no float can hold, which others refuse
        return frame


def _of_polars(column: Any) -> Any:
    import pandas as pd

    kind: Any = getattr(column, "dtype", None)
    values = column.to_numpy()
    return pd.Categorical(values, categories=kind.categories.to_list()) if type(kind).__name__ == "Enum" else values


def _without_arrow(X: Any) -> Any:
    """Data frame whose Arrow columns are as Arrow gives them to pandas, which itself takes Arrow's NaN for a value."""
    import pandas as pd

    arrow = getattr(pd, "ArrowDtype", ())
    if not any(isinstance(dtype, arrow) for dtype in X.dtypes):
        return X
    columns = {}
    for j, dtype in enumerate(X.dtypes):
        column = X.iloc[:, j]
        if isinstance(dtype, arrow):
            column = column.array.__arrow_array__().to_pandas().set_axis(X.index)
        columns[j] = column
    return pd.DataFrame(columns, index=X.index).set_axis(X.columns, axis=1)


def _as_objects(rows: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(rows, dtype=object)
    except ValueError:  # of several lengths, which others will say
        return np.empty(0)


def refuse_cells(values: Any, what: str) -> None:
    """Refuse cells that are neither numbers nor texts: bytes, complex numbers, lists and the like."""
    values = getattr(values.dtype, "categories", values)
    kind = getattr(values.dtype, "kind", "")
    mixed = kind == "O" and values.dtype.name not in ("str", "string")  # of pandas, which hold nothing else
    kinds = set(map(type, np.ravel(values))) if mixed else set()
    if kind == "S" or any(issubclass(one, bytes) for one in kinds):
        raise ValueError(f"{what} holds bytes: decode them into texts, or turn them into numbers.")
    if kind == "c" or any(issubclass(one, (complex, np.complexfloating)) for one in kinds):
        raise ValueError(f"{what} holds complex numbers. Complex data not supported: make two columns of them.")
    several = [one.__name__ for one in kinds if issubclass(one, Collection) and not issubclass(one, str)]
    if several and not isinstance(values, np.ndarray):  # of those in an array numpy makes no numbers anyway
        raise ValueError(
            f"{what} holds {min(several)} where one number or text belongs: give each value in it a column."
        )


def refuse_numbers(column: Any, name: Any) -> None:
    """Refuse infinity, and whole numbers of which floats make one."""
    import pandas as pd

    present = pd.Series(column).dropna()
    values = present.to_numpy()
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = present.index[int(np.isinf(values).argmax())]
        raise ValueError(f"column {short_repr(name)} holds infinity in row {row}: correct it, or leave it missing.")
    if values.dtype.kind in "iu" and values.size and (values.max() > MAX_EXACT or values.min() < -MAX_EXACT):
        known = np.unique(values)
        same = np.flatnonzero(np.diff(known.astype(np.float64)) == 0)
        if same.size:
            pair = " and ".join(map(str, known[same[0] : same[0] + 2].tolist()))
            raise ValueError(
                f"column {short_repr(name)} holds {pair}, which are one number to a float: take off what they share, "
                "or leave the column out if it numbers the rows."
            )


def spelt(value: Any) -> str:
    """How a category is written, wherever it comes from: without blanks at its edges, whole numbers without a point."""
    if isinstance(value, int) and value.bit_length() > 10_000:  # of which Python does not write the digits
        return short_repr(value)
    whole = isinstance(value, (float, np.floating)) and value == np.floor(value) and abs(value) < MAX_EXACT
    return str(int(value) if whole else value).strip(BLANKS)


def column_keys(column: Any) -> list[str | None]:
    """How each cell of a column is spelt; None where it is missing or blank."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        names = [spelt(value) or None for value in column.cat.categories.tolist()]
        return [None if code < 0 else names[code] for code in column.cat.codes.tolist()]
    values, gone = column.tolist(), column.isna().tolist()
    texts = {value: spelt(value) or None for value in _texts(values)}
    return [texts[v] if isinstance(v, str) else None if na else spelt(v) or None for v, na in zip(values, gone)]


def _present(column: Any) -> BoolArray:
    """Which cells are neither missing nor blank texts."""
    there: BoolArray = column.notna().to_numpy()
    if is_numeric(column) or column.dtype.kind == "b":
        return there
    if hasattr(column, "cat"):  # each category once, not each cell
        blank_ones = [isinstance(v, str) and not v.strip(BLANKS) for v in column.cat.categories.tolist()]
        filled: BoolArray = ~np.array([*blank_ones, False])
        return np.asarray(there & filled[column.cat.codes.to_numpy()])
    values = column.tolist()
    blank = {text for text in _texts(values) if not text.strip(BLANKS)}
    return there & [not isinstance(value, str) or value not in blank for value in values] if blank else there


def _texts(values: list[Any]) -> set[str]:
    return {value for value in values if isinstance(value, str)}


@dataclass
class Levels:
    """What the cells of a column hold: numbers, or texts (of which some may be numbers) or categories."""

    n_numbers: int = 0
    n_texts: int = 0
    n_numeric_texts: int = 0
    categorical: bool = False
    keys: set[str] = field(default_factory=set)
    others: list[tuple[Any, Any]] = field(default_factory=list)  # the first texts that are no numbers, and their rows
    wrong: str = ""

    @classmethod
    def from_column(cls, column: Any) -> Levels:
        try:
            return cls._from_column(column)
        except ValueError as error:
            return cls(wrong=str(error))

    @classmethod
    def _from_column(cls, column: Any) -> Levels:
        import pandas as pd

        refuse_cells(column, f"column {short_repr(column.name)}")
        refuse_dates(column)
        there = _present(column)
        if is_numeric(column):
            refuse_numbers(column, column.name)
            return cls(n_numbers=int(there.sum()))
        if is_boolean(column):
            return cls(n_texts=int(there.sum()), categorical=True, keys={"False", "True"})
        if isinstance(column.dtype, pd.CategoricalDtype):
            # those that no row shows are known as well
            declared = set(map(spelt, column.cat.categories.tolist())) - {""}
            return cls(n_texts=int(there.sum()), categorical=True, keys=declared)
        present = column[there]
        numbers = to_numeric(present)
        no_number = numbers.isna().to_numpy()
        if not no_number.any():
            refuse_numbers(numbers, column.name)
        others = [(present.iloc[at], present.index[at]) for at in np.flatnonzero(no_number)[:_MAX_EXAMPLES].tolist()]
        keys = {key for key in column_keys(present) if key is not None}
        return cls(0, len(present), len(present) - int(no_number.sum()), False, keys, others)

    def __add__(self, other: Levels) -> Levels:
        # of more texts, which are no categories, no further are remembered
        keys = self.keys if len(self.keys) > 100_000 else self.keys | other.keys
        return Levels(
            self.n_numbers + other.n_numbers,
            self.n_texts + other.n_texts,
            self.n_numeric_texts + other.n_numeric_texts,
            self.categorical or other.categorical,
            keys,
            (self.others + other.others)[:_MAX_EXAMPLES],
            self.wrong or other.wrong,
        )

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers, as far as is known."""
        return not self.categorical and self.n_texts == self.n_numeric_texts

    def categories(self, name: Any) -> Any:
        """Categories of the column, sorted; None where it holds numbers."""
        if self.wrong:
            raise ValueError(self.wrong)
        if self.numeric:
            return None
        if self.n_numbers:
            raise ValueError(
                f"column {short_repr(name)} holds numbers in some chunks and texts in others: read it as one of these."
            )
        if not self.categorical and 2 * self.n_numeric_texts > self.n_texts:
            _refuse_mixture(name, self.others, self.n_texts - self.n_numeric_texts)
        categories = np.array(sorted(self.keys), dtype=str)
        _refuse_many(name, categories, self.n_texts, self.categorical)
        return categories


def levels_of(X: Any) -> dict[Any, Levels]:
    """What each column of a data frame holds."""
    names = check_names(X)
    if all_numbers(X):
        values = X.to_numpy(dtype=np.float64)
        # what is larger is looked at column by column
        if np.fmax.reduce(values, axis=None, initial=0) < MAX_EXACT > -np.fmin.reduce(values, axis=None, initial=0):
            return {name: Levels(n) for name, n in zip(names, (~np.isnan(values)).sum(axis=0).tolist())}
    return {name: Levels.from_column(X[name]) for name in names}


def with_texts(rows: Any, X: Any, known: Any) -> Any:
    """Some rows, in which columns that hold texts somewhere in ``X`` have the categories of ``known``, be it none."""
    if not is_frame(X) or all_numbers(X):
        return rows
    import pandas as pd

    text_columns = [name for name in check_names(X) if not is_numeric(X[name]) and not hasattr(X[name], "cat")]
    text_columns = [name for name in text_columns if not Levels.from_column(X[name]).numeric]
    rows = rows.copy() if text_columns else rows
    for name in text_columns:
        levels_known = Levels.from_column(known[name])
        levels_known.categories(name)  # refuses what is none
        rows[name] = pd.Categorical(column_keys(rows[name]), categories=sorted(levels_known.keys))
    return rows


def numbers_of(X: Any, levels: dict[Any, Levels]) -> Any:
    """Give the numbers of a chunk whose columns hold this; columns of categories are missing."""
    import pandas as pd

    if all(is_numeric(X[name]) for name in X.columns):
        return X
    numbers = {name: to_numeric(X[name]) if column.numeric else np.nan for name, column in levels.items()}
    return pd.DataFrame(numbers, index=X.index, dtype=np.float64)


@register
class FrameEncoder:
    """Replaces the texts and categories of a data frame by the numbers of their categories."""

    categories_: dict[Any, npt.NDArray[Any]]
    columns_: list[Any]

    def fit(self, X: Any) -> FrameEncoder:
        """Learn the categories of the columns that do not hold numbers."""
        return self.fit_levels(levels_of(X))

    def fit_levels(self, levels: dict[Any, Levels]) -> FrameEncoder:
        """Learn the categories of columns that hold this; as `fit`."""
        for name in levels:
            for part in name if isinstance(name, tuple) else (name,):  # of several levels
                if not isinstance(part, (str, int, float, np.number, type(None))) or isinstance(part, Enum):
                    raise TypeError(
                        f"column {short_repr(name)} is called by a {type(part).__name__}, which no file can keep: call "
                        "columns by texts, X.columns = X.columns.astype(str)."
                    )
        self.columns_ = list(levels)
        vars(self).pop("_number_of", None)
        by_column = each_column(levels, lambda name: levels[name].categories(name))
        self.categories_ = {name: categories for name, categories in by_column.items() if categories is not None}
        return self

    def encode(self, X: Any, unknown: str = "error") -> Any:
        """Return a data frame of floats; NaN where missing."""
        import pandas as pd

        # taking columns out is what pandas is slowest at: those that are plain numbers stay together
        plain = [not own for own in map(self.categories_.__contains__, check_names(X))]
        plain = [own and is_plain_number(kind) for own, kind in zip(plain, X.dtypes.tolist())]
        if all(plain):
            return X
        columns = {name: X.iloc[:, j] for j, name in enumerate(X.columns.tolist()) if not plain[j]}
        each_column(columns, lambda name: refuse_cells(columns[name], f"column {short_repr(name)}"))
        if not self.categories_ and all(map(is_numeric, columns.values())):
            return X

        def encode(name: Any) -> FloatArray:
            if name in self.categories_:
                return self._encode_column(columns[name], name, unknown)
            return _numbers(columns[name], name)

        values = np.empty(X.shape)
        values[:, plain] = X.iloc[:, np.flatnonzero(plain)].to_numpy(dtype=np.float64)
        for j, numbers in zip(np.flatnonzero(np.logical_not(plain)).tolist(), each_column(columns, encode).values()):
            values[:, j] = numbers
        return pd.DataFrame(values, columns=X.columns, index=X.index)

    def code(self, name: Any, value: Any, unknown: str = "error") -> float:
        """Number of one value of a categorical column; NaN where it is unknown and that counts as missing."""
        key, numbers = spelt(value), self._number_of[name]
        if key not in numbers and unknown == "missing":
            return float("nan")
        if key not in numbers:
            raise _unknown(name, [value], self.categories_[name], "")
        return numbers[key]

    def numbers_by_text(self, name: Any) -> Mapping[str, float]:
        """Numbers of the categories of a column by all texts that stand for them."""
        return self._number_of[name]

    @cached_property
    def _number_of(self) -> dict[Any, dict[str, float]]:
        return {name: _number_categories(categories) for name, categories in self.categories_.items()}

    def n_unknown(self, X: Any) -> int:
        """How many cells hold a category that is not known, in a data frame of some of the columns."""
        known = {str(name): {None, *numbers} for name, numbers in self._number_of.items()}
        return sum(
            key not in known[name] for name in map(str, X.columns) if name in known for key in column_keys(X[name])
        )

    def _encode_column(self, column: Any, name: Any, unknown: str) -> FloatArray:
        categories: Mapping[Any, float] = self._number_of[name]
        at: IntArray | None = None
        if column.dtype.kind == "b" and {"False", "True"} <= categories.keys():  # each cell is soon told
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            return np.where(values == 1, categories["True"], np.where(values == 0, categories["False"], values))
        if (own := getattr(column.dtype, "categories", None)) is not None:  # each category once, not each cell
            at, keys = column.array.codes, [spelt(value) or None for value in own.tolist()]
            if not categories.keys() >= set(keys) - {None}:  # what no cell shows may be unknown
                seen = set(np.unique(at).tolist())
                keys = [key if number in seen else None for number, key in enumerate(keys)]
            keys.append(None)  # a missing cell's, which is numbered -1
        else:
            keys = column_keys(column)
        new = list(dict.fromkeys(key for key in keys if key is not None and key not in categories))
        if new and unknown != "missing":
            code = new[0] if at is None else keys.index(new[0])
            row = column.index[int(np.argmax([key == code for key in (keys if at is None else at)]))]
            raise _unknown(name, new, self.categories_[name], f" First in row {row}." if len(column) > 1 else "")
        numbers = np.array([categories.get(key, math.nan) for key in keys])
        return numbers if at is None else numbers[at]

    def _check_stored(self) -> None:
        if not is_fitted(self):
            return
        require(type(self.columns_) is list and type(self.categories_) is dict, "its columns are no list")
        require(len(set(self.columns_)) == len(self.columns_), "two columns are of one name")
        for name, categories in self.categories_.items():
            require(name in self.columns_, "there is a category of no column")
            values = check_array(categories, "categories", "U", None).tolist()
            require(len(set(values)) == len(values), "two categories are alike")
            require(all(spelt(value) == value for value in values), "categories have blanks at their edges")


def _number_categories(categories: npt.NDArray[Any]) -> dict[str, float]:
    """Numbers of categories by how they are spelt, those with a point, as states of networks are, also as floats are.

    Where several are the same float, only how they are spelt tells them apart.
    """
    known = {text: float(number) for number, text in enumerate(categories.tolist())}
    floats = [(spelt(float(text)), number) for text, number in known.items() if _POINTED.fullmatch(text)]
    several = Counter(text for text, _ in floats)
    truths = {text.lower() for text in known}
    if truths <= {"true", "false"} and len(truths) == len(known):
        known |= {other: number for text, number in known.items() for other in spellings(text)}
    return {text: number for text, number in floats if several[text] == 1} | known


def _unknown(name: Any, new: list[Any], categories: npt.NDArray[Any], more: str) -> AnswerError:
    alike = {fold_text(known): known for known in categories.tolist()}
    meant = [f"{value!a} for {alike[key]!a}" for value in new if (key := fold_text(str(value))) in alike]
    more += f" Unknown as well: {join_names(new[1:])}." if new[1:] else ""
    more += f" Perhaps {', '.join(meant[:_MAX_EXAMPLES])}." if meant else ""
    known = join_names(categories.tolist()) or "none"
    wrong = f"column {short_repr(name)} holds the unknown category {short_repr(new[0])}; known are {known}.{more}"
    return AnswerError(wrong, "category")


def take_rows(X: Any, rows: IntArray) -> Any:
    """Some rows of data in any form."""
    if is_frame(X):
        return X.iloc[rows]
    return X.tocsr()[rows] if sp.issparse(X) else np.asarray(X)[rows]


def array_if_empty(X: Any) -> Any:
    """An array in the place of a frame without columns, which has no type that scikit-learn could check."""
    return np.empty((len(X), 0)) if is_frame(X) and not len(X.columns) else X


def check_names(X: Any) -> list[Any]:
    names: list[Any] = X.columns.tolist()
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"X has more than one column named {short_repr(twice)}; rename or drop one.")
    return names


#: What pandas calls the kinds of objects that are no categories.
_DATES = {"datetime", "datetime64", "date", "timedelta", "timedelta64", "time", "period"}


def refuse_dates(column: Any) -> None:
    from pandas.api.types import infer_dtype

    objects = column.dtype.kind == "O" and not hasattr(column, "cat")
    if column.dtype.kind in "mM" or (objects and infer_dtype(column, skipna=True) in _DATES):
        raise ValueError(f"column {short_repr(column.name)} holds dates or durations; turn it into numbers first.")


def each_column(names: Iterable[Any], work: Callable[[Any], Any], place: str = "") -> dict[Any, Any]:
    """What comes of some work on each column; what is wrong with any of them is told at once."""
    made, wrong = {}, []
    for name in names:
        try:
            made[name] = work(name)
        except ValueError as error:
            wrong.append(at_place(error, place))
    raise_all(wrong)
    return made


def _refuse_mixture(name: Any, others: list[tuple[Any, Any]], n: int) -> None:
    cells = ", ".join(f"{short_repr(value)} in row {row}" for value, row in others)
    more = f" and {n - len(others)} more" if n > len(others) else ""
    one = "is not one; correct it or leave the cell empty"
    raise ValueError(
        f"column {short_repr(name)} holds numbers, but {cells}{more} "
        f"{one if n == 1 else 'are not; correct them or leave the cells empty'}."
        f"{as_if_numbers([str(value) for value, _ in others])}"
    )


def _refuse_many(name: Any, categories: npt.NDArray[Any], n_present: int, declared: bool) -> None:
    if len(categories) <= MAX_CATEGORIES:
        return
    hint = as_if_numbers(texts := categories.tolist())
    if len(categories) > n_present // 2 or (_match_mostly(_DATE, texts) and not declared):
        fewer = " or declare fewer, as cat.remove_unused_categories() of pandas does" if declared else ""
        raise ValueError(
            f"column {short_repr(name)} has {len(categories)} different texts in {n_present} rows, too many for a "
            f"category{hint and '.'}{hint or f'; drop it or group its values{fewer}.'}"
        )


_DECIMAL = re.compile(r"[+-]?\d+(\.\d{3})*,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_POINTED = re.compile(r"-?(\d+\.\d*|\.\d+)")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{2}|\d{4})|\d{1,2}[- ]?[A-Za-z]{3}[- ]?\d{2,4})([T ].*)?"
)
_TIME = re.compile(r"\d{1,2}:(\d{2}(:\d{2})?)")
_WITH_UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*([^\d\s.,:;/+-][^\d]*)")
#: Ways to write numbers that are read as texts, and what to do; some of a column may be plain numbers.
_WRITTEN = (
    (_THOUSANDS, "Take out the commas between the thousands."),
    (_DECIMAL, "Read the table with decimal=',' (--decimal , on the command line)."),
    (re.compile(r"[+-]?[1-9]\d{0,2}(['\u2019\u00a0\u202f ]\d{3})+([.,]\d+)?"), "Take out what parts the thousands."),
    (re.compile(r"[\u2010-\u2015\u2212\ufe63\uff0d]\d+([.,]\d+)?"), "Write their minus as '-'."),
    (re.compile(r"[^\w\s+\-.,:;/()'\"]+\s*[+-]?\d+([.,]\d+)?"), "Take off what stands before them."),
    (re.compile(r"\(\d+([.,]\d+)?\)"), "Write those in brackets with a minus."),
    (re.compile(r"\d+([.,]\d+)?/\d+([.,]\d+)?"), "Make a column of each of the two."),
)


def _match_mostly(pattern: re.Pattern[str], texts: Collection[str], plain: bool = False) -> bool:
    """Whether nine of ten texts are of a form, or are plain numbers if those may be, and not all of them are."""
    like = sum(pattern.fullmatch(text) is not None for text in texts)
    numbers = sum(_NUMBER.fullmatch(text) is not None for text in texts) if plain else 0
    return like > 0 and 10 * (like + numbers) >= 9 * len(texts)


def as_if_numbers(texts: Collection[str]) -> str:
    """Sentence, after a blank, that says how texts were read as the numbers or dates that they seem; else nothing."""
    for pattern, remedy in _WRITTEN:
        if _match_mostly(pattern, texts, plain=True):
            return f" Are they numbers? {remedy}"
    units = [match[1].strip() for text in texts if (match := _WITH_UNIT.fullmatch(text))]
    unit = max(set(units), key=units.count, default="")
    if units and 10 * units.count(unit) >= 9 * len(texts):
        return f" Are they numbers? Take the unit {short_repr(unit)} off."
    # the same minutes at every hour are rather names of hours
    if _match_mostly(_TIME, texts) and (len(texts) == 1 or len({text.partition(":")[2] for text in texts}) > 1):
        return " Are they times? Turn them into numbers, such as minutes."
    if _match_mostly(_DATE, texts):
        return " Are they dates? Turn them into numbers, such as days since one of them, or leave the column out."
    return ""


def is_numeric(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(column) and not is_bool_dtype(column))


def is_boolean(column: Any) -> bool:
    """Whether a column holds True and False, as its own kind, as categories or as objects."""
    from pandas.api.types import infer_dtype, is_bool_dtype

    return bool(is_bool_dtype(column) or (column.dtype == object and infer_dtype(column, skipna=True) == "boolean"))


def is_plain_number(kind: Any) -> bool:
    """Whether columns of this kind are numpy's own numbers: looking at each takes pandas long."""
    return isinstance(kind, np.dtype) and kind.kind in "fiu"


def all_numbers(X: Any) -> bool:
    """Whether all columns of a data frame are numpy's own numbers."""
    return all(map(is_plain_number, X.dtypes.tolist()))


def exact_floats() -> dict[str, Any]:
    """How pandas.read_csv takes a text for the float next to it, as it does by itself since 3.1 and another before."""
    import pandas as pd

    before = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    return {"float_precision": "round_trip"} if before else {}


def to_numeric(column: Any) -> Any:
    """Numbers of a column, NaN for texts that are none."""
    import pandas as pd

    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number that no float can hold
        column = column.map(lambda v: math.inf if isinstance(v, int) and abs(v) > 2**1000 else v)
        numbers = pd.to_numeric(column, errors="coerce")
    if exact_floats() and not is_numeric(column) and numbers.dtype.kind == "f":  # whole numbers are exact
        there, exact = numbers.notna().to_numpy(), np.full(len(column), np.nan)
        exact[there] = column.to_numpy(dtype=object)[there].astype(np.float64)
        numbers = pd.Series(exact, column.index, name=column.name)
    return numbers


def _numbers(column: Any, name: Any) -> FloatArray:
    if not is_numeric(column) and not is_boolean(column):
        present, logical = _present(column), {"True": 1.0, "False": 0.0}  # as files have them
        if present.any() and column[present].isin(logical).all():
            column = column.astype(object).map(logical)
        numbers = to_numeric(column)
        wrong = numbers.isna().to_numpy() & present
        if wrong.any():
            rows = np.flatnonzero(wrong).tolist()
            hint = as_if_numbers([str(column.iloc[row]) for row in rows[:_MAX_EXAMPLES]])
            examples = rows[: 1 if hint else _MAX_EXAMPLES]  # of a way to write them one example tells all
            cells = ", ".join(f"row {column.index[row]} has {short_repr(column.iloc[row])}" for row in examples)
            more = "" if hint or len(examples) == len(rows) else f" and {len(rows) - len(examples)} more have none"
            raise ValueError(f"column {short_repr(name)} must hold numbers, but {cells}{more}.{hint}")
        column = numbers
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
