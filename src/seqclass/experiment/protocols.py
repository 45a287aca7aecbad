"""Protocols: which rows a method learns from, and on which it is scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from seqclass._utils.arrays import IntArray
from seqclass._utils.text import sentence, short_repr
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.datasets import Dataset


class Protocol(ABC):
    """A rule that splits a data set into training rows and rows to score; a frozen dataclass of settings.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from seqclass.datasets import load
    >>> @dataclass(frozen=True)
    ... class FirstHalf(Protocol):
    ...     def split(self, data, fold, seed):
    ...         rows = np.arange(len(data.y))
    ...         return rows[::2], rows[1::2]
    >>> FirstHalf().n_folds
    1
    """

    @property
    def n_folds(self) -> int:
        """Number of splits for each seed."""
        return 1

    @abstractmethod
    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """Split a data set.

        Parameters
        ----------
        data : Dataset
            The data set.
        fold, seed : int
            Number of the split, below ``n_folds``; seed of the shuffling.

        Returns
        -------
        train, scored : ndarray of int
            Rows to learn from, and rows to score.

        Raises
        ------
        ValueError
            If the data set cannot be split in this way.
        """

    def check(self, data: Dataset) -> None:
        """Refuse a data set that cannot be split in this way.

        Raises
        ------
        ValueError
            If so.
        """
        self.split(data, 0, 0)


@dataclass(frozen=True)
class StratifiedFolds(Protocol):
    """Stratified k-fold cross-validation; each seed shuffles anew, so that several seeds repeat it.

    Attributes
    ----------
    n_splits : int
        Number of folds.

    Examples
    --------
    >>> from seqclass.datasets import load
    >>> train, test = StratifiedFolds(5).split(load("iris"), fold=0, seed=0)
    >>> len(train), len(test)
    (120, 30)
    """

    n_splits: int = 5

    def __post_init__(self) -> None:
        check_integer(self.n_splits, "n_splits", 2)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return self.n_splits

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """Rows of all folds but one, and of that one."""
        return OfSplitter(StratifiedKFold(self.n_splits, shuffle=True)).split(data, fold, seed)

    def check(self, data: Dataset) -> None:
        """Refuse a data set none of whose classes has a row for each fold."""
        largest = int(np.bincount(data.y).max(initial=0))
        if largest < self.n_splits:
            raise ValueError(f"{data.name!r} has at most {largest} rows of a class, too few for {self.n_splits} folds.")


@dataclass(frozen=True)
class SourceSplit(Protocol):
    """The split that comes with the data set, ``train_index`` and ``test_index``; nothing is learnt from validation
    rows.

    Attributes
    ----------
    score : {"test", "valid"}
        Which rows to score. Choose settings on the validation rows, and report the test rows.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from seqclass.datasets import load
    >>> rows = np.arange(150)
    >>> data = replace(load("iris"), train_index=rows[::2], test_index=rows[1::2])
    >>> SourceSplit().split(data, fold=0, seed=0)[1][:3].tolist()
    [1, 3, 5]
    """

    score: str = "test"

    def __post_init__(self) -> None:
        check_choice(self.score, "score", ("test", "valid"))

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """Training rows of the source, and its rows to score."""
        self.check(data)
        scored: Any = data.test_index if self.score == "test" else data.valid_index
        train: Any = data.train_index
        return np.asarray(train), np.asarray(scored)

    def check(self, data: Dataset) -> None:
        """Refuse a data set that comes without these parts, or with parts that share rows."""
        parts = {"train_index": data.train_index, f"{self.score}_index": getattr(data, f"{self.score}_index")}
        for name, rows in parts.items():
            if rows is None or not rows.size:
                raise ValueError(f"{data.name!r} comes without {name}; use another cv, such as cv=5.")
        train, scored = parts.values()
        shared = np.intersect1d(train, scored)
        if shared.size:
            raise ValueError(f"{data.name!r}: row {shared[0]} is both in train_index and in {self.score}_index.")


@dataclass(frozen=True)
class HoldOut(Protocol):
    """A stratified random split into training, validation and test rows, by default 60/20/20; each seed splits anew.

    Attributes
    ----------
    valid_size, test_size : float
        Shares of the rows.
    score : {"test", "valid"}
        Which rows to score. Choose settings on the validation rows, and report the test rows.

    Examples
    --------
    >>> from seqclass.datasets import load
    >>> train, test = HoldOut().split(load("iris"), fold=0, seed=0)
    >>> len(train), len(test)
    (90, 30)
    """

    valid_size: float = 0.2
    test_size: float = 0.2
    score: str = "test"

    def __post_init__(self) -> None:
        check_choice(self.score, "score", ("test", "valid"))
        check_real(self.valid_size, "valid_size", 0)
        check_real(self.test_size, "test_size", 0)
        if self.valid_size + self.test_size >= 1 or getattr(self, f"{self.score}_size") == 0:
            raise ValueError(
                f"valid_size {self.valid_size} and test_size {self.test_size} must leave rows to learn from, and rows "
                f"to score as {self.score!r}."
            )

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """Training rows, and rows to score."""
        rest, test = _cut(data.y, np.arange(len(data.y)), self.test_size, seed)
        train, valid = _cut(data.y, rest, self.valid_size / (1 - self.test_size), seed)
        return train, test if self.score == "test" else valid


def _cut(y: IntArray, rows: IntArray, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Rows that stay, and a share that is cut off; stratified as far as every class has two rows."""
    if share == 0:
        return rows, rows[:0]
    counts = np.bincount(y[rows])
    stratify = y[rows] if counts[counts > 0].min() > 1 else None
    stay, off = train_test_split(rows, test_size=share, random_state=seed, stratify=stratify)
    return np.sort(stay), np.sort(off)


@dataclass(frozen=True)
class OfSplitter(Protocol):
    """A cross-validator of scikit-learn; if it shuffles, each seed shuffles anew.

    Attributes
    ----------
    splitter : object
        Has ``split(X, y)`` and ``get_n_splits()``.

    Examples
    --------
    >>> from sklearn.model_selection import RepeatedStratifiedKFold
    >>> from seqclass.datasets import load
    >>> protocol = OfSplitter(RepeatedStratifiedKFold(n_splits=5, n_repeats=2))
    >>> train, test = protocol.split(load("iris"), fold=9, seed=0)
    >>> protocol.n_folds, len(train), len(test)
    (10, 120, 30)
    """

    splitter: Any

    @property
    def n_folds(self) -> int:
        """Number of splits for each seed."""
        return int(self.splitter.get_n_splits())

    def split(self, data: Dataset, fold: int, seed: int) -> tuple[IntArray, IntArray]:
        """Rows of the splitter's cut of this number."""
        splitter = copy(self.splitter)
        if getattr(splitter, "shuffle", True) and hasattr(splitter, "random_state"):
            splitter.random_state = seed
        train, test = next(islice(splitter.split(np.zeros(len(data.y)), data.y), fold, None))
        return np.asarray(train), np.asarray(test)

    def check(self, data: Dataset) -> None:
        """Refuse what needs more than rows and labels, such as groups, and what does not split them."""
        try:
            for fold in {0, self.n_folds - 1}:
                self.split(data, fold, 0)
        except (TypeError, ValueError, StopIteration) as error:
            name, why = type(self.splitter).__name__, sentence(error).rstrip(".")
            raise ValueError(
                f"cv: {name} does not split {data.name!r} by its rows and labels alone ({why}); "
                "use another cv, such as cv=5."
            ) from error


def as_protocol(cv: Any) -> Protocol:
    """Turn a number of folds into `StratifiedFolds`, and a cross-validator of scikit-learn into a protocol."""
    if isinstance(cv, Protocol):
        return cv
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return StratifiedFolds(check_integer(cv, "cv", 2))
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits") and not isinstance(cv, type):
        return OfSplitter(cv)
    raise TypeError(
        "cv must be a number of folds, SourceSplit(), ShuffledSplit(), or a cross-validator of scikit-learn, "
        f"got {short_repr(cv)}."
    )
