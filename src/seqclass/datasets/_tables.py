"""Reading tables: CSV, TSV, Parquet and .npz; rows are numbered from 1, below the header."""

from __future__ import annotations

import bz2
import csv
import gzip
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.archive import read_npy
from seqclass._utils.arrays import IntArray, check_width
from seqclass._utils.files import check_regular
from seqclass._utils.frames import (
    BLANKS,
    MAX_CATEGORIES,
    exact_floats,
    is_boolean,
    is_numeric,
    plain_data,
    refuse_cells,
)
from seqclass._utils.text import NoRows, join_names, sentence, short_repr


def read_labels(labels: Any, column: str) -> npt.NDArray[Any]:
    """Labels as integers where all are, else as texts."""
    texts = [str(v) for v in labels.tolist()]
    numbers = np.array([number(text) for text in texts])
    known = set(texts)
    if len(known) == 1:
        raise ValueError(f"{column} holds a single class, {short_repr(texts[0])}; at least two are needed.")
    if np.isfinite(numbers).all():
        whole = (numbers == np.floor(numbers)).all() and np.abs(numbers).max() < 2**53
        if whole and all(str(int(float(t))) == t or "." in t for t in known):
            return np.asarray(numbers.astype(np.int64))
        if not whole and len(known) > max(10, len(texts) // 10):
            raise ValueError(f"{column} holds {len(known)} different decimal numbers: a quantity, not a class.")
    if len(known) > max(MAX_CATEGORIES, len(texts) // 2):
        raise ValueError(f"{column} holds {len(known)} different labels in {len(texts)} rows; is it the right one?")
    return np.array(texts)


def encode_labels(labels: Any, column: str) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of labels, and the label of each code: sorted, numbers by size."""
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


#: Opens a file for reading bytes; the command line passes one that shows how far it is.
Opener = Callable[[Path], AbstractContextManager[IO[bytes]]]

#: Endings of the files that can be read, and what they are.
_KINDS = {
    **dict.fromkeys([".csv", ".csv.gz"], "csv"),
    **dict.fromkeys([".tsv", ".tsv.gz"], "tsv"),
    **dict.fromkeys([".parquet", ".pq"], "parquet"),
    ".npz": "npz",
}
ENDINGS = tuple(_KINDS)
#: Further texts that mean "missing", besides the empty cell, NA, NaN, null and their like.
_MISSING = ["?"]
#: What may part columns in files that are taken for another kind.
_SIGNS = (";", "\t", "|")
_CSR = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True)
class CsvForm:
    """How CSV and TSV files are written: what parts their columns, by default as their names end, and so on."""

    sep: str | None = None
    decimal: str = "."
    #: Texts that are missing, besides the empty one; by default the usual ones.
    na_values: Sequence[str] | None = None

    def __post_init__(self) -> None:
        one = isinstance(self.sep, str) and len(self.sep) == 1 and self.sep.isascii() and self.sep not in '"\r\n'
        if self.sep is not None and not one:
            raise ValueError(f"sep must be one sign, such as ';', got {short_repr(self.sep)}.")
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {short_repr(self.decimal)}.")

    def number(self, text: str) -> float:
        """Value of a text, NaN where it is no number."""
        return number(self.with_decimal_point(text))

    def with_decimal_point(self, text: str) -> str:
        """A number with a point before its decimals and none between thousands; another text as it is."""
        if self.decimal == ".":
            return text
        made = (text.replace(".", "") if _GROUPED.fullmatch(text) else text).replace(",", ".")
        return made if np.isfinite(number(made)) else text

    def label(self, text: str) -> str | None:
        """A label as it is compared; None where nothing stands."""
        return self.with_decimal_point(text.strip(BLANKS)) or None


#: A whole number, or one with a decimal comma, with points between the thousands.
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
USUAL = CsvForm()


def open_file(path: Path) -> IO[bytes]:
    """Open a file for reading bytes."""
    return path.open("rb")


@dataclass(frozen=True)
class Arrays:
    """What an .npz file holds."""

    X: Any
    names: list[str] | None
    others: dict[str, npt.NDArray[Any]]


def require_file(path: Path) -> None:
    """Refuse an input file that is not there."""
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder, not a file: name a file in it. Folders of Parquet files are for fit and predict."
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")


def kind(path: Path) -> str:
    """Kind of a file by its ending: ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"npz"``."""
    require_file(path)
    check_regular(path)  # the header is read first, then the rows
    return kind_by_name(path)


def kind_by_name(path: Path) -> str:
    """Kind of a file by its ending, whether the file is there or not; see `kind`."""
    for ending, name in _KINDS.items():
        if path.name.lower().endswith(ending):
            return name
    raise ValueError(f"{path}: cannot tell what kind of table this is; its name must end in {', '.join(_KINDS)}.")


def header(path: Path, opener: Opener = open_file, form: CsvForm = USUAL) -> list[str]:
    """Column names of a CSV, TSV or Parquet file, without that of a row index."""
    names, has_index = _header(path, opener, form)
    return names[has_index:]


def _header(path: Path, opener: Opener, form: CsvForm) -> tuple[list[str], bool]:
    """Names of all columns, those without one called by their place, and whether the first is a row index."""
    if kind(path) == "parquet":
        names = [str(name) for name in _parquet(path).columns]
    else:
        first = _read_csv(path, opener, form, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0]
        names = [str(name) for name in first]
        sign = next((sign for sign in _SIGNS if sign in names[0]), None) if len(names) == 1 else None
        if sign is not None:
            raise ValueError(
                f"{path}: the columns are parted by {sign!r}: read it with sep={sign!r} (--sep {sign!r} on the command "
                "line), or save the file with commas as .csv, or with tabs as .tsv."
            )
    if not names:
        raise ValueError(f"{path} has no columns.")
    # names of our own for columns without one, which pandas would otherwise make up
    unique = [name or f"column {i + 1}" for i, name in enumerate(names)]
    if len(set(unique)) < len(unique):
        twice, times = Counter(unique).most_common(1)[0]
        raise ValueError(
            f"{path}: there are {times} columns named {short_repr(twice)}; give each its own "
            f"name.{without_header(names)}"
        )
    return unique, names[0] == ""


def without_header(names: Sequence[str]) -> str:
    """Sentence that asks for a header if the names look like values, else nothing."""
    values = sum(np.isfinite(number(name)) for name in names)
    if 2 * values <= len(names):
        return ""
    return " If the first line holds values already, put one with the names of the columns above it."


def read_frame(
    path: Path,
    columns: Sequence[str] | None = None,
    text: Collection[str] = (),
    opener: Opener = open_file,
    form: CsvForm = USUAL,
    *,
    labels: str | None = None,
    row_names: bool = False,
    names: Collection[str] = (),
    verbatim: bool = False,
) -> Any:
    """Read a CSV, TSV or Parquet file, labels as texts, and names, of which NA is one; rows are numbered from 1."""
    import pandas as pd

    unique, has_index = _header(path, opener, form)
    wanted = unique[has_index and not row_names :]
    names = {*names, unique[0]} if row_names else set(names)
    text = {*text, *names}
    text = text if labels is None else {*text, labels}
    if columns is not None:
        wanted = [name for name in wanted if name in set(columns)]
    if kind(path) == "parquet":
        frame = _parquet(path)
        frame.columns = unique
        frame = frame[wanted].copy()
        frame = as_cells(frame, path, text)
    else:
        types = {name: str for name in wanted if name in text}
        frame = _read_rows(path, opener, form, unique, types, verbatim)
        if not verbatim and frame[unique[-1]].isna().any():  # as it is in a row that is too short
            _refuse_uneven_lines(path, form, len(unique), "complete the line, or get the file again if it was cut off.")
        frame = frame[wanted]
        logical = [name for name in frame.columns if name not in types and is_boolean(frame[name])]
        if logical:
            # True and False are categories, in the very words of the file
            frame = _read_rows(path, opener, form, unique, types | dict.fromkeys(logical, str), verbatim)[wanted]
        if form.decimal == ",":
            for name in frame.columns.difference(list(types)):
                frame[name] = _parse_decimals(frame[name], form)
        if named := [name for name in wanted if name in names]:
            as_written = _read_rows(path, opener, form, unique, dict.fromkeys(named, str), True)[named]
            frame[named] = as_written.mask(as_written == "")
        if form.na_values is None and not verbatim:
            _warn_of_none(path, opener, form, unique, frame.drop(columns=named))
    if labels is not None:
        form = USUAL if kind(path) == "parquet" else form
        frame[labels] = frame[labels].map(form.label, na_action="ignore")
    if not len(frame):
        raise NoRows(f"{path} has a header but no rows.")
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    return frame


def _parse_decimals(column: Any, form: CsvForm) -> Any:
    """A column of numbers with decimal commas, which pandas reads as texts where a cell has points too or is none."""
    import pandas as pd

    texts = {text for text in column.tolist() if isinstance(text, str)}
    whole = all(_GROUPED.fullmatch(text) for text in texts if np.isfinite(number(text)) and "." in text)
    # else points are decimals somewhere
    decimals = {text: form.with_decimal_point(text) if whole or "," in text else text for text in texts}
    n_numbers = sum(np.isfinite(number(text)) for text in decimals.values())
    if 2 * n_numbers <= len(texts):
        return column
    column = column.map(lambda cell: decimals.get(cell, cell))
    return pd.to_numeric(column) if n_numbers == len(texts) else column


def _warn_of_none(path: Path, opener: Opener, form: CsvForm, unique: list[str], frame: Any) -> None:
    """Warn of the word None among texts, where it may be an answer or a class."""
    lacking = [name for name in frame if not is_numeric(frame[name]) and 0 < frame[name].isna().sum() < len(frame)]
    if lacking:
        as_written = _read_rows(path, opener, form, unique, dict.fromkeys(unique, str), True, usecols=lacking)
        if named := [name for name in lacking if (as_written[name] == "None").any()]:
            warnings.warn(
                f"{path}: the word None counts as missing, in {join_names(named)}; if it is an answer or a class, say "
                "what is missing, na_values=['NA'] (--na-values NA on the command line).",
                stacklevel=4,
            )


def warn_without_header(path: Path, names: Sequence[str]) -> None:
    """Warn where names look like values: most are numbers, and they do not count the columns or years."""
    values = [number(name) for name in names if np.isfinite(number(name))]
    counted = all(value == np.floor(value) for value in values) and values == sorted(values)
    if not counted and (hint := without_header(names)):
        warnings.warn(f"{path}: columns are named {join_names(names)}.{hint}", UserWarning, stacklevel=4)


def as_cells(frame: Any, path: Path, text: Collection[str] = ()) -> Any:
    """Columns of Parquet as those of other files are read: True and False, and what shall be text, as text."""
    frame = plain_data(frame)
    for name in frame.columns:
        refuse_cells(frame[name], f"{path}: column {short_repr(name)}")
        if name in text or is_boolean(frame[name]):
            frame[name] = frame[name].map(str, na_action="ignore").astype(object)
    return frame


def read_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays of an .npz file by name."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no .npz file, or a damaged one.")
    name, parts = "", dict[str, npt.NDArray[Any]]()
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                parts[name] = read_npy(archive, info)
    except MemoryError:
        raise
    except Exception as error:  # the ways in which zipfile, zlib and numpy fail have no end
        if "allow_pickle" in str(error):
            raise ValueError(
                f"{path}: {name} holds Python objects, which are never read; save texts as str."
            ) from error
        raise ValueError(f"{path} is no .npz file, or a damaged one: {sentence(error)}") from error
    return parts


def read_arrays(path: Path) -> Arrays:
    """Read an .npz file: ``X``, or a CSR matrix as ``data``, ``indices``, ``indptr``, ``shape``."""
    parts = read_npz(path)
    if "X" in parts:
        X: Any = parts.pop("X")
    elif all(name in parts for name in _CSR):
        data, indices, indptr, shape = (parts.pop(name) for name in _CSR)
        for what, part in zip(_CSR[1:], (indices, indptr, shape)):
            if part.dtype.kind not in "iu":  # scipy would cut off what follows the point
                raise ValueError(f"{path}: {what} must hold whole numbers, it holds {part.dtype}.")
        try:
            X = sp.csr_array((data, indices, indptr), shape=tuple(int(n) for n in shape.ravel()))
            X.check_format()
            check_width(X.shape[-1], path.stat().st_size)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(
                f"{path}: data, indices, indptr and shape make no CSR matrix: {sentence(error)}"
            ) from error
    else:
        raise ValueError(f"{path} holds {join_names(parts) or 'nothing'}; it needs X, or {', '.join(_CSR)}.")
    if X.ndim != 2 or not X.shape[0] or not X.shape[1]:
        raise ValueError(f"{path}: X must have rows and columns, it has shape {tuple(X.shape)}.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must hold numbers, it holds {X.dtype}.")
    if "class_names" in parts and parts["class_names"].ndim != 1:
        raise ValueError(f"{path}: class_names must be a list, it has shape {parts['class_names'].shape}.")
    return Arrays(X, _feature_names(path, parts, X.shape[1]), parts)


def _feature_names(path: Path, parts: dict[str, npt.NDArray[Any]], n_features: int) -> list[str] | None:
    if "feature_names" not in parts:
        return None
    names = [str(name) for name in parts.pop("feature_names").ravel().tolist()]
    if len(names) != n_features:
        raise ValueError(f"{path}: feature_names has {len(names)} names for {n_features} features.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"{path}: there are {names.count(twice)} features named {short_repr(twice)}; give each its own name."
        )
    return names


def _refuse_uneven_lines(path: Path, form: CsvForm, n: int, advice: str, more: bool = False) -> None:
    """Refuse a file of which a line has fewer cells than there are columns, as where it is cut off, or more."""
    separator = form.sep or ("\t" if kind(path) == "tsv" else ",")
    unpack: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with unpack(path, "rt", encoding="utf-8-sig", newline="") as file, suppress(csv.Error):  # what only pandas reads
        lines = csv.reader(file, delimiter=separator, skipinitialspace=True)
        for before, cells in enumerate(lines):
            if before and (len(cells) > n if more else len(cells) < n and cells not in ([], [""])):
                seen = f"expected {n} fields in line {lines.line_num}, saw {len(cells)}"
                raise ValueError(f"{path} is no regular table: {seen}; {advice}")


def _read_csv(path: Path, opener: Opener, form: CsvForm, **options: Any) -> Any:
    import pandas as pd

    separator = form.sep or ("\t" if kind(path) == "tsv" else ",")
    compression: Any = "gzip" if path.name.lower().endswith(".gz") else None
    try:
        with opener(path) as file, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                file,
                sep=separator,
                decimal=form.decimal,
                compression=compression,
                encoding="utf-8-sig",
                skipinitialspace=True,
                **exact_floats(),
                **options,
            )
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{path} is empty.") from error
    except pd.errors.ParserWarning as error:
        wrong = "rows have more cells than the header has names."
        _refuse_uneven_lines(path, form, len(options.get("names", ())), wrong, more=True)
        raise ValueError(f"{path}: {wrong}") from error
    except pd.errors.ParserError as error:
        detail = sentence(error).removeprefix("Error tokenizing data. C error: ")
        if detail.startswith("EOF inside string"):
            detail = 'A quotation mark (") is opened and never closed.'
        raise ValueError(f"{path} is no regular table: {detail[0].lower()}{detail[1:]}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not text in UTF-8; save it as CSV in UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {sentence(error)}") from error


def _read_rows(
    path: Path, opener: Opener, form: CsvForm, names: list[str], types: dict[str, Any], verbatim: bool, **options: Any
) -> Any:
    # all columns: with only some of them, pandas would not notice rows that are too long
    options |= {"names": names, "dtype": types}
    if verbatim:
        options |= {"keep_default_na": False, "na_filter": False}
    elif form.na_values is None:
        options["na_values"] = _MISSING
    else:
        options |= {"keep_default_na": False, "na_values": ["", *form.na_values]}
    return _read_csv(path, opener, form, header=0, index_col=False, low_memory=False, **options)


def _parquet(path: Path) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError as error:
        raise ValueError("reading Parquet needs pyarrow: run pip install 'seqclass[parquet]'.") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no Parquet file, or a damaged one.") from error
    stored = [] if isinstance(frame.index, pd.RangeIndex) else frame.index.names  # a range numbers the rows
    for level, name in enumerate(stored):
        if name is not None:  # a column that the index was made of
            frame.insert(frame.shape[1], name, frame.index.get_level_values(level), allow_duplicates=True)
    return frame


#: Endings of such files; each may be followed by .gz or .bz2.
SVMLIGHT = (".svmlight", ".libsvm", ".svm")


def read_svmlight(path: Path) -> tuple[Any, npt.NDArray[np.float64]]:
    """Read features and labels."""
    from sklearn.datasets import load_svmlight_file

    require_file(path)
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
                        f"line {i} has {short_repr(wrong)}; a line is a label, then number:value for each "
                        f"feature in order."
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
