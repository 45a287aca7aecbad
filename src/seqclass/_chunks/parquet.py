"""A Parquet file, or a folder of them, in chunks of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._chunks.source import Chunks, number_labels
from seqclass._utils.arrays import CHUNK_BYTES
from seqclass._utils.frames import is_numeric
from seqclass._utils.text import NoRows, near, short_repr
from seqclass._utils.validation import check_integer
from seqclass.datasets._tables import USUAL, as_cells

#: What pandas calls a row index without a name.
_NAMELESS = re.compile(r"__index_level_\d+__")


def usual_rows(n_columns: int) -> int:
    """Rows of a chunk, in which all columns are numbers."""
    return max(1, min(2**17, CHUNK_BYTES // (8 * n_columns)))


def read_parquet(
    path: str | Path,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    drop: Collection[str] = (),
    drop_unlabelled: bool = False,
    chunk_rows: int | None = None,
) -> ParquetChunks:
    """Read a Parquet file, or a folder of them, in chunks of rows; nothing is read until chunks are asked for.

    Parameters
    ----------
    path : path
        A file, or a folder with files that end in .parquet or .pq, in subfolders of any depth; folders named
        ``key=value`` give a column ``key``.
    target : str, optional
        Column that holds the labels; fitting needs it.
    columns : sequence of str, optional
        Columns that are features; by default all but the target.
    drop : collection of str
        Columns to leave out.
    drop_unlabelled : bool
        Whether to leave out rows without a label; otherwise they raise an error.
    chunk_rows : int, optional
        Number of rows in a chunk; by default as many as take 16 MB as numbers, and at most 131,072. Memory is bounded
        by this and by the size of the pages in the files, not by the number of rows or the size of row groups.

    Returns
    -------
    ParquetChunks

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file is damaged or lacks a column, or pyarrow is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.large import read_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         frame = pd.DataFrame({"dose": [0.1, 0.9] * 50, "ill": ["no", "yes"] * 50})
    ...         frame.to_parquet(os.path.join(folder, f"{part}.parquet"))
    ...     clf = SequentialClassifier().fit_chunks(read_parquet(folder, target="ill"))
    >>> clf.model_.class_count_.tolist(), clf.predict(pd.DataFrame({"dose": [0.8]})).tolist()
    ([150.0, 150.0], ['yes'])
    """
    return ParquetChunks(Path(path), target, columns, drop, drop_unlabelled, chunk_rows)


class ParquetChunks(Chunks):
    """Chunks of Parquet files; see `read_parquet`."""

    def __init__(
        self,
        path: Path,
        target: str | None,
        columns: Sequence[str] | None,
        drop: Collection[str],
        drop_unlabelled: bool,
        chunk_rows: int | None,
    ) -> None:
        self.path, self.files, self.target_name = path, parquet_files(path), target
        self.drop_unlabelled = drop_unlabelled
        names = parquet_names(self.files[0], path)
        for name in (*([] if target is None else [target]), *(columns or ()), *drop):
            if name not in names:
                raise ValueError(f"{path} has no column {short_repr(name)}; {near(name, names)}")
        wanted = [name for name in names if name not in {target, *drop}] if columns is None else list(columns)
        self.columns = [name for name in wanted if name != target]
        if not self.columns:
            raise ValueError(f"{path} has no feature: no column is left.")
        # the pages of all columns, which are read beside it, take more
        usual = usual_rows(4 * len(self.columns))
        self.chunk_rows = usual if chunk_rows is None else check_integer(chunk_rows, "chunk_rows", 1)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        if self.target_name is None:
            raise ValueError("read_parquet: name the column of the labels, target=...")
        for file in self.files:
            for frame, labels in frames(file, self.path, self.columns, self.chunk_rows, [self.target_name]):
                y = labels_of(labels, self.target_name)
                missing = y.isna().to_numpy()
                if missing.any() and self.drop_unlabelled:
                    frame, y = frame[~missing], y[~missing]
                elif missing.any():
                    raise ValueError(
                        f"{file}: column {short_repr(self.target_name)} has a missing label in row "
                        f"{frame.index[int(missing.argmax())]}; fill it in, or leave such rows out."
                    )
                yield frame, y

    def labels(self) -> npt.NDArray[Any]:
        """Labels that occur, in rising order; only their column is read."""
        target, parts = [self.target_name or ""], []
        for file in self.files:
            for _, labels in frames(file, self.path, target, usual_rows(1), target):
                parts.append(number_labels(labels_of(labels, target[0]).dropna())[0])
        return np.unique(np.concatenate(parts))

    def n_rows(self) -> int:
        return sum(parquet_file(file).metadata.num_rows for file in self.files)


def labels_of(batch: Any, target: str) -> Any:
    """Labels without blanks at their edges, as those of other tables."""
    y = batch.to_pandas()[target]
    return y if is_numeric(y) else y.map(lambda v: USUAL.label(v) if isinstance(v, str) else v, na_action="ignore")


def parquet_files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if not path.is_dir():
        return [path]
    hidden = (".", "_")
    paths = sorted(
        file
        for ending in ("parquet", "pq")
        for file in path.rglob(f"*.{ending}")
        if file.is_file() and not any(part.startswith(hidden) for part in file.relative_to(path).parts)
    )
    if not paths:
        kind = FileNotFoundError if any(path.iterdir()) else NoRows
        raise kind(f"{path} holds no file that ends in .parquet or .pq; only folders of Parquet files are read.")
    return paths


def parquet_file(file: Path) -> Any:
    """Open a file so that it is read page by page."""
    try:
        import pyarrow.parquet as pq

        return pq.ParquetFile(file, buffer_size=2**18, pre_buffer=False)  # bytes of each column that are read at a time
    except ImportError as error:
        raise ValueError("reading Parquet needs pyarrow: run pip install 'seqclass[parquet]'.") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} is no Parquet file, or a damaged one.") from error


def folder_values(file: Path, root: Path) -> dict[str, str]:
    """Columns that folders between a root and a file stand for, by ``key=value``."""
    parts = file.relative_to(root).parts[:-1] if file != root else ()
    return {key: value for key, sign, value in (part.partition("=") for part in parts) if sign}


def parquet_names(file: Path, root: Path) -> list[str]:
    """Columns of a file, without a row index that pandas has written and that has no name."""
    names = [name for name in parquet_file(file).schema_arrow.names if not _NAMELESS.fullmatch(name)]
    return [*names, *(key for key in folder_values(file, root) if key not in names)]


def frames(
    file: Path, root: Path, columns: Sequence[str], chunk_rows: int, more: Sequence[str] = ()
) -> Iterator[tuple[Any, Any]]:
    """Data frames of a file, a chunk each, with cells as `seqclass.datasets.load_file` reads them, rows from 1."""
    import pandas as pd
    import pyarrow as pa

    opened, given = parquet_file(file), folder_values(file, root)
    names = set(opened.schema_arrow.names)
    absent = next((name for name in (*columns, *more) if name not in names and name not in given), None)
    if absent is not None:
        raise ValueError(f"{file} lacks the column {short_repr(absent)}, which other files have.")
    read = [name for name in dict.fromkeys((*columns, *more)) if name in names]
    written = {**(opened.schema_arrow.metadata or {})}
    if b"pandas" in written:  # of whose columns none is to become an index again
        written[b"pandas"] = json.dumps({**opened.schema_arrow.pandas_metadata, "index_columns": []}).encode()
    first = 1
    try:
        for batch in opened.iter_batches(chunk_rows, columns=read, use_threads=False):
            batch = batch.replace_schema_metadata(written)
            for name in (name for name in given if name not in names):
                batch = batch.append_column(name, pa.array([given[name]] * batch.num_rows, pa.string()))
            frame = batch.select(list(columns)).to_pandas()
            frame.index = pd.RangeIndex(first, first + batch.num_rows)
            first += batch.num_rows
            yield as_cells(frame, file), batch.select(list(more))
    except OSError as error:
        raise ValueError(f"{file} is no Parquet file, or a damaged one.") from error
