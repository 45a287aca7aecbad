"""Tests whether a feature is independent of the class, given some of the features kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy
from scipy.stats import chi2

from seqclass._arrays import FloatArray, IntArray
from seqclass.selection._information_dependence import InformationDependence
from seqclass.selection._measures import Columns

#: Conditioning sets tested at a time.
_SETS = 1024


class ConditionalTest(ABC):
    """Holds the features kept, and tests them; the features are counted in the order in which they were added."""

    n_members: int

    @abstractmethod
    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray, Any]:
        """Prepare columns; return them with their relevance and a mask of those that depend on the class."""

    @abstractmethod
    def add(self, column: Columns) -> None:
        """Add a feature."""

    @abstractmethod
    def drop(self, member: int) -> None:
        """Leave a feature out; later ones move up."""

    @abstractmethod
    def _independent(self, member: int, sets: IntArray) -> bool:
        """Whether a feature is independent of the class given any one of the sets, shape (n_sets, size)."""

    def passing(self, columns: Columns, largest: int, replaces: bool) -> int:
        """How many of the next columns leave the features as they are, up to one that has to be looked at by itself.

        Parameters
        ----------
        columns : Columns
            Columns that depend on the class, in order of arrival.
        largest : int
            Size of the largest conditioning sets.
        replaces : bool
            Whether a new column may drop older features though these explain it.

        Returns
        -------
        int
            Number of columns at the start that some set of features separates from the class, and that, with
            ``replaces``, separate no feature from it.
        """
        return 0

    def separated(self, member: int, largest: int, through: int | None = None) -> bool:
        """Whether some set of up to ``largest`` other features makes this one independent of the class.

        Parameters
        ----------
        member : int
            The feature.
        largest : int
            Size of the largest conditioning sets.
        through : int, optional
            A feature that the sets must hold.
        """
        sets = conditioning_sets(self.n_members, member, largest, through)
        return any(self._independent(member, batch) for batch in sets)


def conditioning_sets(n_members: int, member: int, largest: int, through: int | None = None) -> Iterator[IntArray]:
    """Batches of the sets of up to ``largest`` features other than one, the smallest first; all hold ``through``.

    Examples
    --------
    >>> [sets.tolist() for sets in conditioning_sets(4, 0, 2)]
    [[[1], [2], [3]], [[1, 2], [1, 3], [2, 3]]]
    >>> [sets.tolist() for sets in conditioning_sets(4, 0, 2, through=3)]
    [[[3]], [[3, 1], [3, 2]]]
    """
    others = [j for j in range(n_members) if j not in (member, through)]
    fixed = [] if through is None else [through]
    for size in range(1, largest + 1):
        subsets = combinations(others, size - len(fixed))
        while batch := [fixed + list(some) for some in islice(subsets, _SETS)]:
            yield np.array(batch, dtype=np.intp)


class LikelihoodRatioTest(ConditionalTest):
    """G-squared test of discrete features: 2 n I(feature; class | set) against chi-squared.

    Without ``rows_per_freedom`` rows for each degree of freedom a test is not made, and counts as independence.

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> x = np.where(np.arange(100) % 5 == 0, 1 - y, y)
    >>> copy = np.where(np.arange(100) % 7 == 0, 1 - x, x)
    >>> test = LikelihoodRatioTest(0.01, y, 2, 5)
    >>> columns, _, relevant = test.prepare(np.stack([x, copy], axis=1), 0)
    >>> for j in range(2):
    ...     test.add(columns.take([j]))
    >>> relevant, test.separated(0, 3), test.separated(1, 3)
    (array([ True,  True]), False, True)
    """

    def __init__(self, alpha: float, codes: IntArray, n_classes: int, rows_per_freedom: float) -> None:
        self.alpha, self.codes, self.n_classes = alpha, codes.astype(np.intp), n_classes
        self.rows_per_freedom = rows_per_freedom
        self.dependence = InformationDependence(False, 0.0, codes, n_classes)
        self.values: list[IntArray] = []
        self.sizes: list[int] = []

    @property
    def n_members(self) -> int:  # type: ignore[override]
        """Number of features held."""
        return len(self.values)

    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray, Any]:
        """Prepare columns, and test them against the class alone."""
        columns, relevance = self.dependence.prepare(X, first)
        values = columns.values
        if sp.issparse(values):
            missing = np.add.reduceat(np.append(values.data < 0, False), values.indptr[:-1], dtype=np.intp)
            missing = missing * (np.diff(values.indptr) > 0)
        else:
            missing = (values < 0).sum(axis=0)
        n = len(self.codes) - missing
        freedom = np.maximum((columns.stats[:, 0] - 1) * (self.n_classes - 1), 1)
        p_value = chi2.sf(2 * np.log(2) * n * relevance, freedom)
        return columns, relevance, (p_value < self.alpha) & (n >= self.rows_per_freedom * freedom)

    def add(self, column: Columns) -> None:
        """Add a feature."""
        values = column.values
        self.values.append((values.toarray() if sp.issparse(values) else values).ravel())
        self.sizes.append(int(column.stats[0, 0]))

    def drop(self, member: int) -> None:
        """Leave a feature out; later ones move up."""
        del self.values[member], self.sizes[member]

    def _independent(self, member: int, sets: IntArray) -> bool:
        return any(self.p_value(member, some) >= self.alpha for some in sets.tolist())

    def p_value(self, member: int, given: Sequence[int]) -> float:
        """Probability of so large a G-squared under independence; 1 where there are too few rows."""
        sizes = [self.sizes[j] for j in given]
        n_strata = int(np.prod(sizes, dtype=np.float64))
        freedom = max((self.sizes[member] - 1) * (self.n_classes - 1) * n_strata, 1)
        if len(self.codes) < self.rows_per_freedom * freedom:
            return 1.0
        present = self.values[member] >= 0
        strata = np.zeros(len(self.codes), dtype=np.intp)
        for j, size in zip(given, sizes):
            present &= self.values[j] >= 0
            strata = strata * size + self.values[j]
        index = (strata * self.sizes[member] + self.values[member]) * self.n_classes + self.codes
        index = index if present.all() else index[present]
        if len(index) < self.rows_per_freedom * freedom:
            return 1.0
        shape = (n_strata, self.sizes[member], self.n_classes)
        counts = np.bincount(index, minlength=int(np.prod(shape))).reshape(shape)
        total = _log_sum(counts) - _log_sum(counts.sum(axis=1)) - _log_sum(counts.sum(axis=2))
        return float(chi2.sf(2 * (total + _log_sum(counts.sum(axis=(1, 2)))), freedom))


def _log_sum(counts: npt.NDArray[Any]) -> float:
    return float(xlogy(counts, counts).sum())
