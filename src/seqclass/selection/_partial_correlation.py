"""Test of the partial correlation of continuous features with the class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import norm

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass.selection._independence import ConditionalTest, conditioning_sets
from seqclass.selection._measures import Columns, CorrelationDependence

#: Tests made, and correlations held, at a time.
_TESTS, _CELLS = 2**14, 2**21
#: What remains of a feature, as a share of its variance, when others explain it.
_EXPLAINED = 1e-9


@dataclass(frozen=True)
class Joint:
    """Correlations among some features, for each of several alternatives.

    Attributes
    ----------
    gram : ndarray of shape (n, n_members, n_members)
        With one another.
    with_class : ndarray of shape (n, n_members, q)
        With each direction of the class.
    """

    gram: FloatArray
    with_class: FloatArray

    def rows(self, which: Any) -> Joint:
        """Some of the alternatives."""
        return Joint(self.gram[which], self.with_class[which])

    def partial(self, member: int, sets: IntArray) -> FloatArray:
        """Multiple correlation of a feature with the class given each set, shape (n, n_sets).

        Zero where the set leaves nothing of the feature to explain.
        """
        gram = self.gram[:, sets[:, :, None], sets[:, None, :]] + 1e-12 * np.eye(sets.shape[1])
        with_member, with_class = self.gram[:, sets, member][..., None], self.with_class[:, sets]
        solved = np.linalg.solve(gram, np.concatenate([with_member, with_class], axis=3))
        left = 1 - np.einsum("nijk,nijk->ni", with_member, solved[..., :1])
        shared = self.with_class[:, None, member] - (with_member.swapaxes(2, 3) @ solved[..., 1:])[:, :, 0]
        rest = np.eye(with_class.shape[3]) - with_class.swapaxes(2, 3) @ solved[..., 1:]
        # a direction of the class that the set explains in full has no part in it
        size, axes = np.linalg.eigh(rest)
        along = (shared[:, :, None] @ axes)[:, :, 0] ** 2
        explained = np.divide(along, size, out=np.zeros_like(along), where=size > _EXPLAINED).sum(axis=2)
        square = np.divide(explained, left, out=np.zeros_like(left), where=left > _EXPLAINED)
        return np.asarray(np.sqrt(np.minimum(square, 1.0)))


class PartialCorrelationTest(ConditionalTest):
    """Fisher's Z-test of the partial correlation with the class; an F-test where the class is more than one number.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> cause = y + 0.8 * rng.normal(size=600)
    >>> test = PartialCorrelationTest(0.01, y, None, 2)
    >>> columns, _, relevant = test.prepare(np.stack([cause, cause + rng.normal(size=600)], axis=1), 0)
    >>> for j in range(2):
    ...     test.add(columns.take([j]))
    >>> relevant, test.separated(0, 3), test.separated(1, 3)
    (array([ True,  True]), False, True)
    """

    def __init__(self, alpha: float, codes: IntArray, values: FloatArray | None, n_classes: int) -> None:
        self.alpha, self.n = alpha, len(codes)
        self.dependence = CorrelationDependence(alpha, codes, values, n_classes)
        self.n_members = 0
        self.members: Columns | None = None
        self.gram = np.empty((0, 0))
        self.with_class = np.empty((0, self.dependence.basis.shape[1]))

    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray, Any]:
        """Prepare columns, and test them against the class alone."""
        columns, relevance = self.dependence.prepare(X, first)
        return columns, relevance, self.dependence.relevant(relevance)

    def add(self, column: Columns) -> None:
        """Add a feature."""
        self.with_class = np.concatenate([self.with_class, self.dependence.with_class(column)])
        self.members = column if self.members is None or not self.n_members else self.members.join(column)
        row = self.dependence.correlations(column, self.members)
        gram = np.ones((self.n_members + 1, self.n_members + 1))
        gram[:-1, :-1], gram[-1], gram[:, -1] = self.gram, row, row
        self.gram = gram
        self.n_members += 1

    def drop(self, member: int) -> None:
        """Leave a feature out; later ones move up."""
        rest = np.delete(np.arange(self.n_members), member)
        self.gram, self.with_class = self.gram[np.ix_(rest, rest)], self.with_class[rest]
        self.members = None if self.members is None else self.members.take(rest)
        self.n_members -= 1

    def passing(self, columns: Columns, largest: int, replaces: bool) -> int:
        """How many of the next columns leave the features as they are; all columns go through a test at once."""
        if not self.n_members or self.members is None:
            return 0
        some = columns.take(slice(0, max(1, _CELLS // (self.n_members + 1) ** 2)))
        joint = self._beside(self.dependence.with_class(some), self.dependence.correlations(some, self.members))
        n = self._explained(joint, largest)
        for member in range(self.n_members) if replaces else ():
            if n:
                n = self._harmless(joint, n, member, largest)
        return n

    def _beside(self, with_class: FloatArray, correlations: FloatArray) -> Joint:
        """The features, and after them one of the new columns."""
        n, new = correlations.shape
        joint = Joint(np.ones((n, new + 1, new + 1)), np.empty((n, new + 1, with_class.shape[1])))
        joint.gram[:, :new, :new], joint.with_class[:, :new] = self.gram, self.with_class
        joint.gram[:, new, :new] = joint.gram[:, :new, new] = correlations
        joint.with_class[:, new] = with_class
        return joint

    def _explained(self, joint: Joint, largest: int) -> int:
        """How many of the first new columns the others separate from the class."""
        new = self.n_members
        left = np.arange(len(joint.gram))
        for sets in conditioning_sets(new + 1, new, largest):
            for part in list(chunks(len(left), len(sets), _TESTS))[::-1]:
                found = self._below(joint.rows(left[part]), new, sets).any(axis=1)
                left = np.delete(left, part.start + np.flatnonzero(found))
            if not left.size:
                return len(joint.gram)
        return int(left[0])

    def _harmless(self, joint: Joint, n: int, member: int, largest: int) -> int:
        """How many of the first ``n`` new columns separate a feature from the class in no set that holds them."""
        new = self.n_members
        for sets in conditioning_sets(new + 1, member, largest, through=new):
            for part in chunks(n, len(sets), _TESTS):
                found = self._below(joint.rows(part), member, sets).any(axis=1)
                if found.any():
                    n = part.start + int(found.argmax())
                    break
        return n

    def _independent(self, member: int, sets: IntArray) -> bool:
        return bool(self._below(Joint(self.gram[None], self.with_class[None]), member, sets).any())

    def _below(self, joint: Joint, member: int, sets: IntArray) -> BoolArray:
        q = self.with_class.shape[1]
        free = self.n - sets.shape[1] - (3 if q == 1 else 1 + q)
        return np.asarray(joint.partial(member, sets) < _critical(self.alpha, free, q))


@lru_cache(maxsize=64)
def _critical(alpha: float, free: int, q: int) -> float:
    """Correlation below which a test does not reject; above one where there are too few rows for any."""
    if free <= 0:
        return 2.0
    if q == 1:
        return float(np.tanh(norm.isf(alpha / 2) / np.sqrt(free)))
    critical = q / free * f_distribution.isf(alpha, q, free)
    return float(np.sqrt(critical / (1 + critical)))
