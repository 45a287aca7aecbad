"""Records to learn from: what was seen of each person, in what order, and what they turned out to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.text import listed
from seqclass.bn import check_order
from seqclass.deciding._coding import check_input
from seqclass.deciding.decider import decider_of
from seqclass.evaluation.certified import Cases

#: Rank of a cell that was never recorded.
NEVER = 2**30


@dataclass(frozen=True, eq=False)
class Records:
    """Rows as a classifier sees them; K columns of ``X``, of which m are features of its model."""

    values: FloatArray  # (n, K), NaN where not recorded
    codes: IntArray  # (n, m) outcomes, -1 where not recorded
    label: IntArray  # (n,) position in classes_
    seen: BoolArray  # (n, K)
    rank: IntArray  # (n, K) when the recorder came to each column
    stepwise: bool  # whether ranks are each row's own purchases, one after the other until the recorder stopped
    categories: dict[int, int]  # of columns that hold numbers of categories, how many
    asked: IntArray  # features of the model that the policy may ask for
    support: IntArray  # column of each feature of the model

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.label)

    @property
    def always(self) -> BoolArray:
        """Columns that were recorded of everybody, (K,)."""
        return np.asarray(self.seen.all(axis=0))


def read_records(clf: DecidingClassifier, X: Any, y: npt.ArrayLike, order: Any, allow_seen: bool) -> Records:
    """Check records, and that the classifier was not fitted to them."""
    if sp.issparse(X):
        raise TypeError("X must be dense: what a sparse matrix does not store is zero, not missing.")
    cases = Cases.of(clf, X, y, None, "error", None)
    if not len(cases.codes):
        raise ValueError("X has no row; bring records.")
    cases.check_fresh(clf, allow_seen)
    X = check_input(decider_of(clf).columns, cases.X, clf.encoder_, decider_of(clf).handle_unknown)
    codes = np.asarray(clf.coder_.transform(X))
    values = np.array(X, dtype=np.float64)
    seen = ~np.isnan(values)
    seen[:, clf.support_] &= codes[:, clf.support_] >= 0
    values[~seen] = np.nan
    codes = np.where(seen, codes, -1)[:, clf.support_]
    rank, stepwise = _ranks(clf, seen, order)
    asked = np.unique(decider_of(clf).asked())
    never = clf.support_[asked][~seen[:, clf.support_[asked]].any(axis=0)]
    if never.size:
        names = listed(clf.feature_name(j) for j in never.tolist())
        raise ValueError(
            f"the policy may ask for {names}, which no row of X has: these records say nothing about such a policy. "
            "Fit one to features that were recorded."
        )
    categories = dict(clf.coder_.categories)
    return Records(values, codes, cases.codes, seen, rank, stepwise, categories, asked, clf.support_)


def _ranks(clf: DecidingClassifier, seen: BoolArray, order: Any) -> tuple[IntArray, bool]:
    """When the recorder came to each cell: columns in one order for all, or each row's own purchases."""
    n, n_columns = seen.shape
    names = getattr(clf, "feature_names_in_", None)
    if order is None:  # what is recorded of most is taken to come first
        columns = np.argsort(-seen.mean(axis=0), kind="stable")
    elif np.ndim(order) == 2:
        return _own_ranks(np.asarray(order), seen), True
    else:
        given = check_order(list(order), n_columns, names, what="order")
        others = np.setdiff1d(np.arange(n_columns), given)
        first = seen[:, others].all(axis=0)  # of columns that are not named those that everybody has come first
        columns = np.concatenate([others[first], given, others[~first]])
    rank = np.empty(n_columns, dtype=np.intp)
    rank[columns] = np.arange(n_columns)
    return np.broadcast_to(rank, (n, n_columns)), False


def _own_ranks(order: npt.NDArray[Any], seen: BoolArray) -> IntArray:
    """Ranks of the purchases of each row, whose columns are listed first one first, -1 beyond the last."""
    n, n_columns = seen.shape
    if order.shape[0] != n or order.dtype.kind not in "iu":
        raise ValueError(
            f"order must list the columns of X that each of the {n} rows has, as numbers in the order of purchase and "
            f"-1 beyond the last; got an array of {order.dtype} of shape {order.shape}."
        )
    rows, place = np.nonzero(order >= 0)
    column = order[rows, place]
    if (order < -1).any() or (order >= n_columns).any():
        raise ValueError(f"order must hold columns 0 to {n_columns - 1}, or -1; got {order.min()} to {order.max()}.")
    rank = np.full((n, n_columns), NEVER)
    rank[rows, column] = place
    listed_once = np.bincount(rows, minlength=n) == (rank < NEVER).sum(axis=1)
    ends = ((order[:, 1:] >= 0) <= (order[:, :-1] >= 0)).all(axis=1)
    wrong = ((rank < NEVER) != seen).any(axis=1) | ~listed_once | ~ends
    if wrong.any():
        raise ValueError(
            f"order must list exactly the columns that a row has, each once, -1 after the last; row {wrong.argmax()} "
            "of X has others."
        )
    return rank
