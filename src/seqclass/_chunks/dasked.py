"""Collections of dask: each partition is worked on where it lies, and only statistics are gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from seqclass._chunks.source import Chunk, Chunks, add_up, n_rows, require_total
from seqclass._utils.text import near, short_repr

T = TypeVar("T")


def from_dask(X: Any, y: Any = None, *, target: str | None = None) -> DaskChunks:
    """Use a dask DataFrame or dask array as chunks, one for each partition.

    Statistics are computed where the partitions are and added up as a tree, eight at a time; only the statistics, and
    the sample of rows that was asked for, come to the client.

    Parameters
    ----------
    X : dask DataFrame or dask array
        Features; the target may be a column of a DataFrame. An array must be divided along its rows only.
    y : dask Series or dask array, optional
        Labels, in partitions of the same rows; not together with ``target``.
    target : str, optional
        Column of ``X`` that holds the labels.

    Returns
    -------
    DaskChunks

    Raises
    ------
    TypeError
        If ``X`` or ``y`` is not a dask collection.
    ValueError
        If labels are missing or given twice, or partitions do not match.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.large import from_dask
    >>> X, y = np.tile([[0.0, 5.0], [1.0, 5.0]], (50, 1)), np.tile(["a", "b"], 50)
    >>> chunks = from_dask(da.from_array(X, chunks=(20, 2)), da.from_array(y, chunks=20))
    >>> SequentialClassifier().fit_chunks(chunks).predict([[0.1, 5.0]]).tolist()
    ['a']
    """
    if not hasattr(X, "__dask_graph__") or (y is not None and not hasattr(y, "__dask_graph__")):
        raise TypeError("from_dask takes dask collections; of others give a list of pairs (X, y) to fit_chunks.")
    if (y is None) == (target is None):
        raise ValueError("from_dask: give the labels either as y or by target, the name of their column.")
    if target is not None:
        names = [str(name) for name in getattr(X, "columns", [])]
        if target not in names:
            raise ValueError(f"target: there is no column {short_repr(target)}; {near(target, names)}")
        return DaskChunks(_parts(X), None, target)
    parts, labels = _parts(X), _parts(y)
    if len(parts) != len(labels):
        raise ValueError(f"X has {len(parts)} partitions and y {len(labels)}; cut both in the same way.")
    return DaskChunks(parts, labels, getattr(y, "name", None) if hasattr(y, "dtypes") else None)


def _parts(collection: Any) -> list[Any]:
    if hasattr(collection, "chunks") and getattr(collection, "ndim", 1) == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    delayed_parts = collection.to_delayed()
    return list(delayed_parts.ravel()) if hasattr(delayed_parts, "ravel") else list(delayed_parts)


class DaskChunks(Chunks):
    """Partitions of a dask collection; see `from_dask`."""

    def __init__(self, parts: list[Any], labels: list[Any] | None, target: Any) -> None:
        self._x, self._y = parts, labels
        self.target_name = target if isinstance(target, str) else None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for number in range(len(self._x)):
            yield self._delay(_split, number).compute()

    def total(self, of: Callable[[Chunk], T], add: Callable[[T, T], T]) -> T:
        """Work out a statistic of each partition where it lies, and add them up as a tree; see `Chunks`."""
        from dask.base import compute
        from dask.delayed import delayed

        shared = delayed(of, pure=False, traverse=False)
        parts = [self._delay(_statistic, number, shared) for number in range(len(self._x))]
        added = delayed(add_up, pure=False)
        while len(parts) > 1:
            # eight statistics are added up at a time
            parts = [added(add, parts[at : at + 8]) for at in range(0, len(parts), 8)]
        total: T | None = compute(*parts)[0] if parts else None
        return require_total(total)

    def _delay(self, task: Callable[..., Any], number: int, *more: Any) -> Any:
        from dask.delayed import delayed

        y = self.target_name if self._y is None else self._y[number]
        return delayed(task, pure=False)(number, self._x[number], y, *more)


def _split(number: int, X: Any, y: Any) -> tuple[Any, Any]:
    if isinstance(y, str):
        X, y = X.drop(columns=[y]), X[y]
    if n_rows(X) != len(y):
        raise ValueError(f"partition {number} has {n_rows(X)} rows and {len(y)} labels; cut X and y in the same way.")
    return X, y


def _statistic(number: int, X: Any, y: Any, of: Callable[[Chunk], Any]) -> Any:
    """The statistic of a partition; None where it has no rows."""
    X, y = _split(number, X, y)
    return of(Chunk(number, X, y)) if n_rows(X) else None
