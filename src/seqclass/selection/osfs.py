"""OSFS: features that stream in are kept unless others make them independent of the class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import stats
from scipy.special import xlogy

from seqclass._utils.arrays import CACHE_BYTES, CHUNK_BYTES, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.model_files import register
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.selection._base import MOST_TOGETHER, FeatureStream
from seqclass.selection._dependence import (
    Columns,
    CorrelationDependence,
    InformationDependence,
    blocks,
    critical_correlation,
)

__all__ = ["OSFS", "FastOSFS"]


#: Share of the variance of a feature that remains where others do not explain it.
_UNEXPLAINED = 1e-9


class ConditionalTest(ABC):
    """Holds the features kept, and tests them; the features are counted in the order in which they were added."""

    n_members: int

    @abstractmethod
    def prepare(self, X: Any) -> tuple[Columns, FloatArray, Any]:
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

    def count_passing(self, columns: Columns, largest: int, replaces: bool) -> int:
        """How many of the next columns leave the features as they are, up to one that has to be looked at by itself."""
        return 0

    def is_separated(self, member: int, largest: int, through: int | None = None) -> bool:
        """Whether some set of up to ``largest`` other features makes this one independent of the class."""
        sets = conditioning_sets(self.n_members, member, largest, through)
        return any(self._independent(member, batch) for batch in sets)


def conditioning_sets(n_members: int, member: int, largest: int, through: int | None = None) -> Iterator[IntArray]:
    """Batches of the sets of up to ``largest`` features other than one, the smallest first; all hold ``through``."""
    others = [j for j in range(n_members) if j not in (member, through)]
    fixed = [] if through is None else [through]
    for size in range(1, largest + 1):
        subsets = combinations(others, size - len(fixed))
        while batch := [fixed + list(some) for some in islice(subsets, CACHE_BYTES // 128)]:
            yield np.array(batch, dtype=np.intp)


@register
class LikelihoodRatioTest(ConditionalTest):
    """G-squared test of discrete features: 2 n I(feature; class | set) against chi-squared."""

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

    def prepare(self, X: Any) -> tuple[Columns, FloatArray, Any]:
        """Prepare columns, and test them against the class alone."""
        columns, relevance, kinds = self.dependence.count_kinds(X)
        values = columns.values
        if sp.issparse(values):
            missing = np.add.reduceat(np.append(values.data < 0, False), values.indptr[:-1], dtype=np.intp)
            missing = missing * (np.diff(values.indptr) > 0)
        else:
            missing = (values < 0).sum(axis=0)
        n = len(self.codes) - missing
        freedom = np.maximum((kinds - 1) * (self.n_classes - 1), 1)
        p_value = stats.chi2.sf(2 * np.log(2) * n * relevance, freedom)
        return columns, relevance, (p_value < self.alpha) & (n >= self.rows_per_freedom * freedom)

    def add(self, column: Columns) -> None:
        values = column.values
        # without the outcomes that do not occur: freedom must not depend on what numbers stand for them
        kinds, codes = np.unique((values.toarray() if sp.issparse(values) else values).ravel(), return_inverse=True)
        self.values.append(codes - int(kinds[0] < 0))
        self.sizes.append(int((kinds >= 0).sum()))

    def drop(self, member: int) -> None:
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
        return float(stats.chi2.sf(2 * (total + _log_sum(counts.sum(axis=(1, 2)))), freedom))


def _log_sum(counts: npt.NDArray[Any]) -> float:
    return float(xlogy(counts, counts).sum())


@dataclass(frozen=True)
class Joint:
    """Correlations among some features, for each of several alternatives."""

    gram: FloatArray
    with_class: FloatArray

    def rows(self, which: Any) -> Joint:
        """Some of the alternatives."""
        return Joint(self.gram[which], self.with_class[which])

    def partial(self, member: int, sets: IntArray) -> FloatArray:
        """Multiple correlation of a feature with the class given each set, shape (n, n_sets)."""
        gram = self.gram[:, sets[:, :, None], sets[:, None, :]] + 1e-12 * np.eye(sets.shape[1])
        with_member, with_class = self.gram[:, sets, member][..., None], self.with_class[:, sets]
        solved = np.linalg.solve(gram, np.concatenate([with_member, with_class], axis=3))
        left = 1 - np.einsum("nijk,nijk->ni", with_member, solved[..., :1])
        shared = self.with_class[:, None, member] - (with_member.swapaxes(2, 3) @ solved[..., 1:])[:, :, 0]
        rest = np.eye(with_class.shape[3]) - with_class.swapaxes(2, 3) @ solved[..., 1:]
        # a direction of the class that the set explains in full has no part in it
        size, axes = np.linalg.eigh(rest)
        along = (shared[:, :, None] @ axes)[:, :, 0] ** 2
        explained = np.divide(along, size, out=np.zeros_like(along), where=size > _UNEXPLAINED).sum(axis=2)
        square = np.divide(explained, left, out=np.zeros_like(left), where=left > _UNEXPLAINED)
        return np.asarray(np.sqrt(np.minimum(square, 1.0)))


@register
class PartialCorrelationTest(ConditionalTest):
    """Fisher's Z-test of the partial correlation with the class; an F-test where the class is more than one number."""

    def __init__(self, alpha: float, codes: IntArray, values: FloatArray | None, n_classes: int) -> None:
        self.alpha, self.n = alpha, len(codes)
        self.dependence = CorrelationDependence(alpha, codes, values, n_classes)
        self.n_members = 0
        self.members: Columns | None = None
        self.gram = np.empty((0, 0))
        self.with_class = np.empty((0, self.dependence.basis.shape[1]))

    def prepare(self, X: Any) -> tuple[Columns, FloatArray, Any]:
        """Prepare columns, and test them against the class alone."""
        columns, relevance = self.dependence.prepare(X)
        return columns, relevance, self.dependence.relevant(relevance)

    def add(self, column: Columns) -> None:
        self.with_class = np.concatenate([self.with_class, self.dependence.with_class(column)])
        self.members = column if self.members is None or not self.n_members else self.members.join(column)
        row = self.dependence.correlations(column, self.members)
        gram = np.ones((self.n_members + 1, self.n_members + 1))
        gram[:-1, :-1], gram[-1], gram[:, -1] = self.gram, row, row
        self.gram = gram
        self.n_members += 1

    def drop(self, member: int) -> None:
        rest = np.delete(np.arange(self.n_members), member)
        self.gram, self.with_class = self.gram[np.ix_(rest, rest)], self.with_class[rest]
        self.members = None if self.members is None else self.members.take(rest)
        self.n_members -= 1

    def count_passing(self, columns: Columns, largest: int, replaces: bool) -> int:
        if not self.n_members or self.members is None:
            return 0
        some = columns.take(slice(0, max(1, CHUNK_BYTES // (32 * (self.n_members + 1) ** 2))))
        joint = self._with_new_column(
            self.dependence.with_class(some), self.dependence.correlations(some, self.members)
        )
        n = self._count_explained(joint, largest)
        for member in range(self.n_members) if replaces else ():
            if n:
                n = self._harmless(joint, n, member, largest)
        return n

    def _with_new_column(self, with_class: FloatArray, correlations: FloatArray) -> Joint:
        """The features, and after them one of the new columns."""
        n, new = correlations.shape
        joint = Joint(np.ones((n, new + 1, new + 1)), np.empty((n, new + 1, with_class.shape[1])))
        joint.gram[:, :new, :new], joint.with_class[:, :new] = self.gram, self.with_class
        joint.gram[:, new, :new] = joint.gram[:, :new, new] = correlations
        joint.with_class[:, new] = with_class
        return joint

    def _count_explained(self, joint: Joint, largest: int) -> int:
        """How many of the first new columns the others separate from the class."""
        new = self.n_members
        left = np.arange(len(joint.gram))
        for sets in conditioning_sets(new + 1, new, largest):
            for part in list(chunks(len(left), 128.0 * len(sets), CACHE_BYTES))[::-1]:
                explained = self._below(joint.rows(left[part]), new, sets).any(axis=1)
                left = np.delete(left, part.start + np.flatnonzero(explained))
            if not left.size:
                return len(joint.gram)
        return int(left[0])

    def _harmless(self, joint: Joint, n: int, member: int, largest: int) -> int:
        """How many of the first ``n`` new columns separate a feature from the class in no set that holds them."""
        new = self.n_members
        for sets in conditioning_sets(new + 1, member, largest, through=new):
            for part in chunks(n, 128.0 * len(sets), CACHE_BYTES):
                separated = self._below(joint.rows(part), member, sets).any(axis=1)
                if separated.any():
                    n = part.start + int(separated.argmax())
                    break
        return n

    def _independent(self, member: int, sets: IntArray) -> bool:
        return bool(self._below(Joint(self.gram[None], self.with_class[None]), member, sets).any())

    def _below(self, joint: Joint, member: int, sets: IntArray) -> BoolArray:
        q = self.with_class.shape[1]
        free = self.n - sets.shape[1] - (3 if q == 1 else 1 + q)
        return np.asarray(joint.partial(member, sets) < critical_correlation(self.alpha, free, q))


@dataclass(repr=False, eq=False)
class OSFS(FeatureStream):
    """Online streaming feature selection: keep what depends on the class and what no other kept features explain.

    Each feature that depends on the class is kept at first. Then every kept feature, from the oldest to the new one, is
    dropped if some set of at most `max_condition` of the others makes it independent of the class.

    Parameters
    ----------
    test : {"fisher_z", "g2"}, default="fisher_z"
        Test of independence. ``"fisher_z"``: on the partial correlation of continuous features. ``"g2"``: on the
        likelihood ratio of discrete features, leaving out rows with a missing cell (NaN in floats, -1 in integers).
    alpha : float, default=0.01
        Level of significance.
    max_condition : int, default=3
        Size of the largest conditioning sets.
    class_coding : {"groups", "codes"}, default="groups"
        With ``"fisher_z"`` and more than two classes. ``"groups"``: an F-test of the feature with the indicators of the
        classes, which does not depend on how classes are numbered. ``"codes"``: the class as a number, as published.
    rows_per_freedom : float, default=5
        With ``"g2"``: fewest rows per degree of freedom for a test; with fewer it is not made, and the feature counts
        as independent.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept, in order of arrival.
    scores_ : ndarray of shape (n_features_in_,)
        Dependence of every feature with the class by itself: absolute correlation (or correlation ratio), or mutual
        information in bits.
    support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As in all feature streams.

    Notes
    -----
    The order of the steps and the tests are the papers'. The size 3 of the conditioning sets, the five rows for each
    degree of freedom, and degrees of freedom from all combinations of the outcomes that features have, also those that
    never occur together, are taken from the authors' LOFS code, as the papers leave them open. Of the kept features,
    the outcomes are held dense.

    References
    ----------
    X. Wu, K. Yu, H. Wang, W. Ding, "Online streaming feature selection", ICML 2010, and X. Wu, K. Yu, W. Ding, H. Wang,
    X. Zhu, "Online feature selection with streaming features", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 35, 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> cause = y + 0.8 * rng.normal(size=600)
    >>> X = np.stack([cause + rng.normal(size=600), rng.normal(size=600), cause], axis=1)
    >>> OSFS().fit(X, y).get_support(indices=True)
    array([2])
    """

    _accepts_sparse = True
    #: Whether a feature that others explain may still drop older ones before it goes.
    _replaces = True

    test: str = "fisher_z"
    alpha: float = 0.01
    max_condition: int = 3
    class_coding: str = "groups"
    rows_per_freedom: float = 5

    @property
    def _discrete(self) -> bool:  # type: ignore[override]
        return self.test != "fisher_z"

    @property
    def scores_(self) -> FloatArray:
        """Dependence of every feature seen so far with the class."""
        if not hasattr(self, "_scores"):
            raise AttributeError("scores_ is there after fit or partial_fit_features.")
        return np.concatenate(self._scores) if self._scores else np.empty(0)

    def _begin(self, codes: IntArray) -> None:
        check_choice(self.test, "test", ("fisher_z", "g2"))
        check_choice(self.class_coding, "class_coding", ("groups", "codes"))
        check_integer(self.max_condition, "max_condition", 0)
        alpha = check_real(self.alpha, "alpha", 0, 1)
        rows = check_real(self.rows_per_freedom, "rows_per_freedom", 0)
        self._test: ConditionalTest
        if self.test == "g2":
            self._test = LikelihoodRatioTest(alpha, codes, len(self.classes_), rows)
        else:
            values = self._class_values(codes) if self.class_coding == "codes" else None
            self._test = PartialCorrelationTest(alpha, codes, values, len(self.classes_))
        self._scores: list[FloatArray] = []
        self._selected: list[int] = []

    def _absorb(self, X: Any) -> None:
        for start, stop in blocks(X):
            columns, relevance, relevant = self._test.prepare(X[:, start:stop])
            self._scores.append(relevance)
            self._decide(columns, np.flatnonzero(relevant), self.n_seen_ + start)
        self.selected_ = np.array(self._selected, dtype=np.intp)

    def _decide(self, columns: Columns, relevant: IntArray, first: int) -> None:
        """Take the relevant ones of some columns, in order; those in a row that change nothing go together."""
        at, width = 0, 1
        while at < len(relevant):
            some = relevant[at : at + width]
            passed = 0
            if len(some) > 1:
                passed = self._test.count_passing(columns.take(some), self.max_condition, self._replaces)
                at += passed
            kept = list(self._selected)
            if passed < len(some):
                self._test.add(columns.take([relevant[at]]))
                self._selected.append(first + int(relevant[at]))
                self._prune()
                at += 1
            # columns behind one that changes something are tested again, so look no further than they came this time
            width = min(2 * width, MOST_TOGETHER) if self._selected == kept else max(1, passed)

    def _prune(self) -> None:
        """Drop what the new feature, the last one, makes redundant, and itself, last or first of all."""
        if not self._replaces and self._drop_if_separated(len(self._selected) - 1):
            return
        member = 0
        while member < len(self._selected) - 1:
            # sets without the new feature were tested when the last of them came
            if not self._drop_if_separated(member, through=len(self._selected) - 1):
                member += 1
        if self._replaces:
            self._drop_if_separated(member)

    def _drop_if_separated(self, member: int, through: int | None = None) -> bool:
        separated = self._test.is_separated(member, self.max_condition, through)
        if separated:
            self._test.drop(member)
            del self._selected[member]
        return separated


class FastOSFS(OSFS):
    """A faster form of `OSFS`: tests the new feature first, then the others given sets that contain it.

    A feature that depends on the class is dropped at once if some set of at most `max_condition` kept features makes it
    independent of the class. Otherwise it is kept, and each older one is dropped if such a set *with the new feature in
    it* makes that one independent.

    Parameters
    ----------
    test, alpha, max_condition, class_coding, rows_per_freedom
        As in `OSFS`.

    Attributes
    ----------
    selected_, scores_, support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As in `OSFS`.

    Notes
    -----
    The authors' LOFS code tests the new feature a second time, against a part of the sets, along with the older ones;
    here it is tested once, against all sets, as the papers describe.

    References
    ----------
    X. Wu, K. Yu, W. Ding, H. Wang, X. Zhu, "Online feature selection with streaming features", IEEE Transactions on
    Pattern Analysis and Machine Intelligence 35, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> cause = y + 0.8 * rng.normal(size=600)
    >>> X = np.stack([cause + rng.normal(size=600), rng.normal(size=600), cause], axis=1)
    >>> FastOSFS().fit(X, y).get_support(indices=True)
    array([2])
    """

    _replaces = False
