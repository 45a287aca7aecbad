"""OSFS: features that stream in are kept unless others make them independent of the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.selection._base import FeatureStream
from seqclass.selection._dependence import Columns, blocks
from seqclass.selection._independence import ConditionalTest, LikelihoodRatioTest, PartialCorrelationTest

__all__ = ["OSFS", "FastOSFS"]

#: Relevant columns that are tested at once, at most.
_MOST = 1024


@dataclass(repr=False, eq=False)
class OSFS(FeatureStream):
    """Online streaming feature selection: keep what depends on the class and what no other kept features explain.

    Each feature that depends on the class is kept at first; then every kept one, from the oldest to the new one, is
    dropped if some set of at most `max_condition` of the others makes it independent of the class.

    Parameters
    ----------
    test : {"fisher_z", "g2"}, default="fisher_z"
        Test of independence: of the partial correlation of continuous features, or the likelihood ratio of discrete
        ones, in which rows with a missing cell (NaN in floats, -1 in integers) are left out.
    alpha : float, default=0.01
        Level of significance.
    max_condition : int, default=3
        Size of the largest conditioning sets.
    class_coding : {"groups", "codes"}, default="groups"
        With ``"fisher_z"`` and more than two classes: F-test of the feature with the indicators of the classes, which
        does not depend on how classes are numbered; or the class as a number, as published.
    rows_per_freedom : float, default=5
        With ``"g2"``: rows for each degree of freedom without which a test is not made, and the feature counts as
        independent.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept, in order of arrival.
    scores_ : ndarray of shape (n_features_in_,)
        Dependence of every feature with the class by itself: absolute correlation (or correlation ratio), or mutual
        information in bits.
    support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As of all feature streams.

    Notes
    -----
    The order of the steps and the tests are the papers'. The size 3 of the conditioning sets, the five rows for each
    degree of freedom, and degrees of freedom from all combinations of outcomes, also those that never occur, are taken
    from the authors' LOFS code, as the papers leave them open. Of the kept features, the outcomes are held dense.

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
        self._kept: list[int] = []

    def _absorb(self, X: Any) -> None:
        for start, stop in blocks(X):
            columns, relevance, relevant = self._test.prepare(X[:, start:stop], self.n_seen_ + start)
            self._scores.append(relevance)
            self._decide(columns, np.flatnonzero(relevant), self.n_seen_ + start)
        self.selected_ = np.array(self._kept, dtype=np.intp)

    def _decide(self, columns: Columns, relevant: IntArray, first: int) -> None:
        """Take the relevant ones of some columns, in order; those in a row that change nothing go together."""
        at, width = 0, 1
        while at < len(relevant):
            some = relevant[at : at + width]
            passed = 0
            if len(some) > 1:
                passed = self._test.passing(columns.take(some), self.max_condition, self._replaces)
                at += passed
            kept = list(self._kept)
            if passed < len(some):
                self._test.add(columns.take([relevant[at]]))
                self._kept.append(first + int(relevant[at]))
                self._prune()
                at += 1
            # columns behind one that changes something are tested again, so look no further than they came this time
            width = min(2 * width, _MOST) if self._kept == kept else max(1, passed)

    def _prune(self) -> None:
        """Drop what the new feature, the last one, makes redundant, or itself."""
        member = 0
        while member < len(self._kept):
            # sets without the new feature were tested when the last of them came
            new = len(self._kept) - 1
            if self._test.separated(member, self.max_condition, through=new if member < new else None):
                self._drop(member)
            else:
                member += 1

    def _drop(self, member: int) -> None:
        self._test.drop(member)
        del self._kept[member]


class FastOSFS(OSFS):
    """The faster form of `OSFS`: the new feature first, then the others by sets that hold it.

    A feature that depends on the class is dropped at once if some set of at most `max_condition` kept features makes it
    independent of the class. Otherwise it is kept, and each older one is dropped if such a set *with the new feature in
    it* makes that one independent.

    Parameters
    ----------
    test, alpha, max_condition, class_coding, rows_per_freedom
        As of `OSFS`.

    Attributes
    ----------
    selected_, scores_, support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As of `OSFS`.

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

    def _prune(self) -> None:
        new = len(self._kept) - 1
        if self._test.separated(new, self.max_condition):
            self._drop(new)
            return
        member = 0
        while member < len(self._kept) - 1:
            if self._test.separated(member, self.max_condition, through=len(self._kept) - 1):
                self._drop(member)
            else:
                member += 1
