"""What can be gone through again and again, in chunks of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.frames import is_frame, plain_data, take_rows
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_integer, check_n_classes, plain_labels


@dataclass
class Drawn:
    """Candidates of a sample: their keys, chunks, places there, and rows; the least keys of a class are drawn."""

    key: FloatArray
    at: IntArray  # (n, 2), chunk and place
    X: list[Any]
    y: list[Any]

    def __add__(self, other: Drawn) -> Drawn:
        key, at = np.concatenate([self.key, other.key]), np.concatenate([self.at, other.at])
        return Drawn(key, at, self.X + other.X, self.y + other.y)

    def cut(self, sizes: dict[Any, int], n: int) -> Drawn:
        """Keep those of each class with the least keys, in the order of the data."""
        y = np.concatenate(self.y)
        kept = []
        for label, most in shares(sizes, n).items():
            own = np.flatnonzero(y == label)
            kept.append(own[np.argsort(self.key[own], kind="stable")[:most]])
        rows = np.concatenate(kept)
        rows = rows[np.lexsort(self.at[rows, ::-1].T)]
        return Drawn(self.key[rows], self.at[rows], [_pick_rows(self.X, rows)], [y[rows]])

    def rows(self) -> tuple[Any, Any]:
        return self.X[0], self.y[0]


def shares(sizes: dict[Any, int], n: int) -> dict[Any, int]:
    """How many rows of each class: the same share, and one at least."""
    total = sum(sizes.values())
    return {label: size if total <= n else int(np.ceil(size * n / total)) for label, size in sizes.items()}


def keys(seed: int, chunk: int, n: int) -> FloatArray:
    """Numbers between 0 and 1, one for each row of a chunk."""
    return as_generator([seed, chunk], "keys of rows").random(n)


def sample_candidates(sizes: dict[Any, int], n: int, random_state: int) -> Callable[[Any], Drawn]:
    """What gives the candidates of a chunk: somewhat more than will be needed of each class."""
    check_integer(n, "sample_rows", 1)
    # six standard deviations, and 20 rows, beyond what is wanted are drawn, and then cut off
    below = {
        label: 1.0 if most == sizes[label] else (most + 6 * np.sqrt(most) + 20) / sizes[label]
        for label, most in shares(sizes, n).items()
    }
    return partial(_draw_of_chunk, below, random_state)


def _draw_of_chunk(below: dict[Any, float], seed: int, chunk: Any) -> Drawn:
    distinct, at = number_labels(chunk.y)
    key = keys(seed, chunk.number, len(at))
    limit = np.array([below.get(label, 0.0) for label in distinct.tolist()])
    place = np.flatnonzero(key < limit[at])
    rows = take_rows(plain_data(chunk.X), place)
    where = np.column_stack([np.full(len(place), chunk.number), place])
    return Drawn(key[place], where, [rows], [distinct[at[place]]])


def _pick_rows(parts: list[Any], rows: IntArray) -> Any:
    if is_frame(parts[0]):
        import pandas as pd

        return (
            pd.concat([part[parts[0].columns] for part in parts], ignore_index=True).iloc[rows].reset_index(drop=True)
        )
    joined = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    return joined[rows]


def label_counts(chunk: Any) -> dict[Any, int]:
    """Rows of each label."""
    distinct, at = number_labels(chunk.y)
    return dict(zip(distinct.tolist(), np.bincount(at).tolist()))


def sizes_sum(one: dict[Any, int], other: dict[Any, int]) -> dict[Any, int]:
    kinds = {isinstance(next(iter(some)), str) for some in (one, other) if some}
    if len(kinds) > 1:
        raise ValueError("y holds numbers in some chunks and texts in others: give all labels as one kind.")
    total = {label: one.get(label, 0) + other.get(label, 0) for label in {**one, **other}}
    check_n_classes(len(total))
    return total


def number_labels(y: Any, name: str = "y") -> tuple[npt.NDArray[Any], IntArray]:
    """Labels of a chunk that differ, in rising order, and which of them each row has."""
    import pandas as pd

    labels = np.asarray(plain_labels(y, name))
    if labels.ndim != 1:
        each = "row" if name == "y" else "class"
        raise ValueError(f"{name} must hold one label for each {each}, got shape {labels.shape}.")
    if labels.dtype.kind == "S":
        raise ValueError(f"{name} holds bytes: decode them into texts, or turn them into numbers.")
    if labels.dtype.kind == "f" and (wrong := labels[~np.isfinite(labels) | (labels != np.floor(labels))]).size:
        rows = "leave out the rows without a label" if name == "y" else "leave it out"
        why = rows if np.isnan(wrong[0]) else "labels are classes, not quantities"
        raise ValueError(f"{name} holds {wrong[0]:g}: {why}.")
    if labels.dtype.kind not in "OU":
        distinct, codes = np.unique(labels, return_inverse=True)
        return distinct, codes.ravel()
    # by hashing: to sort millions of texts takes longer than to read them
    codes, distinct = pd.factorize(labels)
    order = np.argsort(distinct)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return np.asarray(distinct[order], dtype=labels.dtype), rank[codes]


T = TypeVar("T")


class Chunk(NamedTuple):
    """Some rows: their number among the chunks, features, and labels."""

    number: int
    X: Any
    y: Any


class Chunks(ABC):
    """Rows in chunks that can be iterated over any number of times, as `SequentialClassifier.fit_chunks` takes them.

    `seqclass.large.read_parquet` and `seqclass.large.from_dask` make them. A list of pairs ``(X, y)``, or a function
    without arguments that returns a new iterator over such pairs, may be given instead.

    Attributes
    ----------
    target_name : str or None
        Name of the labels, if they have one.

    Examples
    --------
    >>> class Twice(Chunks):
    ...     def __iter__(self):
    ...         yield [[0.0], [1.0]], ["a", "b"]
    ...         yield [[0.5]], ["a"]
    >>> sum(len(X) for X, y in Twice())
    3
    """

    target_name: str | None = None

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Chunks of features and labels, from the first one; as often as asked for, and always the same."""

    def total(self, of: Callable[[Chunk], T], add: Callable[[T, T], T]) -> T:
        """Compute a statistic of each chunk that has rows, and add them up.

        Parameters
        ----------
        of : callable
            Returns the statistic of a chunk, which has a number, ``X`` and ``y``.
        add : callable
            Returns the sum of two statistics.

        Returns
        -------
        object

        Raises
        ------
        ValueError
            If there are no rows at all.
        """
        return require_total(add_up(add, (of(Chunk(k, X, y)) for k, (X, y) in enumerate(self) if n_rows(X))))

    def sample(self, n: int = 20_000, random_state: int = 0) -> tuple[Any, Any]:
        """Draw rows at random: the same share of every class, and at least one row of each.

        Parameters
        ----------
        n : int
            Number of rows to draw, which may come out a few larger; if there are no more rows than that, all of them,
            in their order.
        random_state : int
            Seed; the rows depend on it, and on how the rows are cut into chunks.

        Returns
        -------
        X : data frame, ndarray or sparse array of shape (n, n_features)
        y : ndarray of shape (n,)
        """
        return self._draw_rows(self.total(label_counts, sizes_sum), n, random_state).rows()

    def _draw_rows(self, sizes: dict[Any, int], n: int, random_state: int) -> Drawn:
        return self.total(sample_candidates(sizes, n, random_state), Drawn.__add__).cut(sizes, n)


class IteratedChunks(Chunks):
    """Pairs that a list holds, or that a function gives anew each time."""

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for number, pair in enumerate(self._make()):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"chunk {number} must be a pair (X, y), got {type(pair).__name__}.")
            X, y = pair
            if not hasattr(X, "shape"):
                X = made if is_frame(made := plain_data(X)) else np.asarray(X)
            if n_rows(X) != len(y):
                raise ValueError(f"chunk {number} has {n_rows(X)} rows and {len(y)} labels; give one for each row.")
            self.target_name = named if isinstance(named := getattr(y, "name", None), str) else self.target_name
            yield X, y


def as_chunks(given: Any) -> Chunks:
    if isinstance(given, Chunks):
        return given
    if hasattr(given, "__dask_graph__"):
        raise TypeError(
            "chunks is a dask collection, which does not say which are the labels: give "
            "seqclass.large.from_dask(X, y), or from_dask(frame, target=...)."
        )
    if is_frame(given) or hasattr(given, "dtype") or isinstance(given, (str, dict)):
        raise TypeError(
            f"chunks must be a list of pairs (X, y), a function that gives them, or what seqclass.large.read_parquet "
            f"or from_dask gives, got {short_repr(given) if isinstance(given, str) else type(given).__name__}."
        )
    if isinstance(given, Iterator):
        raise TypeError(
            f"chunks is a {type(given).__name__}, which can be gone through only once, and fitting takes several "
            "passes: give a function that makes it anew, such as fit_chunks(lambda: read(path)), or a list."
        )
    if callable(given):
        return IteratedChunks(given)
    if isinstance(given, Iterable):
        return IteratedChunks(lambda: given)
    raise TypeError(f"chunks must be a list of pairs (X, y) or a function that gives them, got {type(given).__name__}.")


def n_rows(X: Any) -> int:
    return int(X.shape[0])


def add_up(add: Callable[[T, T], T], parts: Iterable[T | None]) -> T | None:
    """The sum of statistics, None where there are none; parts without rows have none."""
    there = (part for part in parts if part is not None)
    first = next(there, None)
    return None if first is None else reduce(add, there, first)


def require_total(total: T | None) -> T:
    """Give a total, if there was anything to add up."""
    if total is None:
        raise ValueError("the chunks hold no rows: a function has to make a new iterator each time it is called.")
    return total
