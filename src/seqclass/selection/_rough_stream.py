"""What OFS-A3M and OFS-Density share: a stream of columns kept by the dependency of the class on them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._arrays import FloatArray, IntArray, as_generator
from seqclass._validation import check_real
from seqclass.selection._measures import TOLERANCE, moderate
from seqclass.selection._neighbourhoods import Neighbourhood
from seqclass.selection._rough_set import Dependency
from seqclass.selection._stream import FeatureStream

#: Values that are made dense and scaled at a time.
_CELLS = 2**20


class RoughSetStream(FeatureStream):
    """Base of the streams that keep a column if the class depends on it and on the set with it."""

    _accepts_sparse = True
    _min_rows = 2

    def __init__(self, published: bool = False, max_bytes: float = 2**30, random_state: Any = None) -> None:
        self.published = published
        self.max_bytes = max_bytes
        self.random_state = random_state

    @property
    def dependency_(self) -> float:
        """Dependency of the class on the features kept, which new ones are held against."""
        if not hasattr(self, "_dependency"):
            raise AttributeError("dependency_ is there after fit or partial_fit_features.")
        return self._dependency

    @abstractmethod
    def _rule(self, n: int) -> Neighbourhood:
        """Where a neighbourhood ends."""

    @abstractmethod
    def _own(self, X: FloatArray) -> FloatArray:
        """Dependency on each column alone, as far as `_relevant` needs it."""

    @abstractmethod
    def _relevant(self, own: FloatArray) -> Any:
        """Whether columns of such own dependencies are looked at."""

    @abstractmethod
    def _least(self) -> float:
        """Dependency on the set with a column from which on the column is kept, though it adds nothing."""

    @abstractmethod
    def _prune(self, column: FloatArray, dependency: float, order: IntArray) -> list[int] | None:
        """Which of the kept columns a new one, with which the dependency is no higher, makes redundant.

        None: even without these the dependency is too low.
        """

    def _follow(self) -> None:
        """Bring up to date what new columns must reach."""

    def _begin(self, codes: IntArray) -> None:
        max_bytes = check_real(self.max_bytes, "max_bytes", 0)
        self._seed = int(as_generator(self.random_state).integers(2**62))
        rule = self._rule(len(codes))
        self._single = Dependency(codes, len(self.classes_), rule, 0, self.published)
        self._held = Dependency(codes, len(self.classes_), rule, max_bytes, self.published)
        self._dependency, self._width = 0.0, 1
        #: Numbers of the features kept, and the dependency on each alone.
        self._kept: list[int] = []
        self._own_kept: list[float] = []

    def _absorb(self, X: Any) -> None:
        for start, columns in _scaled(X):
            first = self.n_seen_ + start
            known = np.flatnonzero(~np.isnan(columns[0]))
            step = self._single.at_once
            for at in range(0, len(known), step):
                some = known[at : at + step]
                self._decide(columns[:, some], first + some)
        self.selected_ = np.array(self._kept, dtype=np.intp)

    def _decide(self, X: FloatArray, numbers: IntArray) -> None:
        """Take some columns in order; those in a row that change nothing are looked at together."""
        own, at = self._own(X), 0
        while at < len(numbers):
            some = at + np.flatnonzero(self._relevant(own[at:]))[: self._width]
            if not some.size:
                break
            # beside nothing, a dependency above 0 is enough
            least = self._least() if self._kept else 2 * TOLERANCE
            found = self._held.of(X[:, some], floor=least)
            changes = np.flatnonzero(found >= least)
            if not changes.size:
                at, self._width = int(some[-1]) + 1, min(2 * self._width, self._held.at_once)
                continue
            j = int(some[changes[0]])
            self._keep(X[:, j].copy(), int(numbers[j]), float(own[j]), float(found[changes[0]]))
            at, self._width = j + 1, max(1, int(changes[0]))

    def _keep(self, column: FloatArray, number: int, own: float, dependency: float) -> None:
        """Keep a column, unless it lowers the dependency, and drop what it makes redundant."""
        gone: list[int] | None = []
        if dependency > self._dependency + TOLERANCE:
            self._dependency = dependency
        else:
            generator = np.random.default_rng([self._seed, number])
            gone = self._prune(column, dependency, generator.permutation(len(self._kept)))
        if gone is None and not self.published:
            return
        if gone:
            self._held.drop(gone)
            self._kept = [k for j, k in enumerate(self._kept) if j not in gone]
            self._own_kept = [d for j, d in enumerate(self._own_kept) if j not in gone]
        self._held.add(column)
        self._kept.append(number)
        self._own_kept.append(own)
        if gone is not None:
            self._follow()


def _scaled(X: Any) -> Iterator[tuple[int, FloatArray]]:
    """Columns in standard deviations from their means, some at a time; NaN for constant ones, which have none."""
    n, m = X.shape
    for start in range(0, m, max(1, _CELLS // n)):
        part = X[:, start : start + max(1, _CELLS // n)]
        made = moderate((part.toarray() if sp.issparse(part) else part).astype(np.float64))
        squares = np.einsum("ij,ij->j", made, made)
        made = made - made.mean(axis=0)
        spread = np.einsum("ij,ij->j", made, made)
        constant = spread <= 1e-26 * squares
        yield start, np.asfortranarray(made / np.sqrt(np.where(constant, np.nan, spread / n)))
