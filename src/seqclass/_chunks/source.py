"""What can be gone through again and again, in chunks of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from seqclass._chunks.drawing import Drawn, draw, label_counts, sizes_sum
from seqclass._frames import is_frame
from seqclass._messages import shown

T = TypeVar("T")


class Chunk(NamedTuple):
    """Some rows: their number among the chunks, features, and labels."""

    number: int
    X: Any
    y: Any


class Chunks(ABC):
    """Rows that come in chunks, and can be gone through again and again: what `SequentialClassifier.fit_chunks` takes.

    `seqclass.large.read_parquet` and `seqclass.large.from_dask` make such; a list of pairs ``(X, y)``, or a function
    without arguments that gives a new iterator of such pairs, may be given in its place.

    Attributes
    ----------
    target_name : str or None
        Name of the labels, where they have one.

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
        """Work out a statistic of each chunk that has rows, and add them up.

        Parameters
        ----------
        of : callable
            Gives the statistic of a chunk: number, ``X`` and ``y``.
        add : callable
            Gives the sum of two.

        Returns
        -------
        object

        Raises
        ------
        ValueError
            If there are no rows at all.
        """
        total: T | None = None
        for number, (X, y) in enumerate(self):
            if n_rows(X):
                part = of(Chunk(number, X, y))
                total = part if total is None else add(total, part)
        return some(total)

    def sample(self, n: int = 20_000, random_state: int = 0) -> tuple[Any, Any]:
        """Draw rows at random, of every class the same share, and one at least.

        Parameters
        ----------
        n : int
            So many rows, or a few more; all of them in their order where there are no more.
        random_state : int
            Seed; the rows depend on it, and on how the rows are cut into chunks.

        Returns
        -------
        X : data frame, ndarray or sparse array of shape (n, n_features)
        y : ndarray of shape (n,)
        """
        return self._drawn(self.total(label_counts, sizes_sum), n, random_state).rows()

    def _drawn(self, sizes: dict[Any, int], n: int, random_state: int) -> Drawn:
        return self.total(draw(sizes, n, random_state), Drawn.__add__).cut(sizes, n)


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
                X = np.asarray(X)
            if n_rows(X) != len(y):
                raise ValueError(f"chunk {number} has {n_rows(X)} rows and {len(y)} labels; give one for each row.")
            self.target_name = named if isinstance(named := getattr(y, "name", None), str) else self.target_name
            yield X, y


def as_chunks(given: Any) -> Chunks:
    """Take what a user gives as chunks.

    Raises
    ------
    TypeError
        If it is no such thing, or can be gone through only once.
    """
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
            f"or from_dask gives, got {shown(given) if isinstance(given, str) else type(given).__name__}."
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
    """Number of rows of data in any form."""
    return int(X.shape[0])


def some(total: T | None) -> T:
    """Give a total, if there was anything to add up.

    Raises
    ------
    ValueError
        If not.
    """
    if total is None:
        raise ValueError("the chunks hold no rows: a function has to make a new iterator each time it is called.")
    return total
