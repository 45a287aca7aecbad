"""Running a policy on instances: one loop over stages, each distinct history computed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import InformationState


@dataclass(frozen=True)
class Acquisition:
    """What a policy acquired for each instance, and what it decided.

    Instances that share a history share its row in the arrays of leaves; `leaf` says which.

    Attributes
    ----------
    leaf : ndarray of int of shape (n,)
        History at which each instance stopped.
    leaf_belief : ndarray of shape (n_leaves, n_classes)
        Posterior there.
    leaf_decision : ndarray of int of shape (n_leaves,)
        Index of the decision taken there.
    leaf_price : ndarray of shape (n_leaves,)
        Prices paid.
    leaf_path : ndarray of int of shape (n_leaves, longest)
        Features asked, in order; -1 beyond the stop.
    leaf_outcome : ndarray of int of shape (n_leaves, longest)
        Outcomes seen; -1 where missing or beyond the stop.
    leaf_beliefs : ndarray of shape (n_leaves, longest + 1, n_classes) or None
        Posterior before anything and after each answer; after the stop the last one is repeated. Only if recorded.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, GridValueIteration, acquire
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> acquired = acquire(GridValueIteration().solve(problem), np.array([[0], [1], [0]]))
    >>> acquired.leaf, acquired.leaf_outcome.ravel()
    (array([0, 1, 0]), array([0, 1], dtype=int32))
    """

    leaf: IntArray
    leaf_belief: FloatArray
    leaf_decision: IntArray
    leaf_price: FloatArray
    leaf_path: IntArray
    leaf_outcome: IntArray
    leaf_beliefs: FloatArray | None = field(default=None)


def acquire(
    policy: Policy,
    X: Any,
    *,
    columns: IntArray | None = None,
    charge_missing: bool = False,
    record_beliefs: bool = False,
    keys: Any = None,
) -> Acquisition:
    """Run a policy on rows of outcomes.

    Parameters
    ----------
    policy : Policy
        The policy.
    X : ndarray or sparse array of int of shape (n, n_features)
        Outcome of every feature, -1 where missing; only what the policy asks for is read. In a sparse array what is
        not stored is outcome 0.
    columns : ndarray of int of shape (n_features,), optional
        Column of ``X`` that holds each feature; by default the one of the same number.
    charge_missing : bool
        Whether a feature that is asked for and missing is paid for all the same.
    record_beliefs : bool
        Keep the beliefs on the way.
    keys : ndarray or sparse array of shape (n, m), optional
        Numbers that tell the instances apart, from which a randomised policy draws each one's lot; by default ``X``.

    Returns
    -------
    Acquisition

    Raises
    ------
    ValueError
        If an outcome is out of range or impossible under the model.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, acquire
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> result = acquire(GridValueIteration().solve(problem), np.array([[0], [1], [0]]))
    >>> result.leaf_decision[result.leaf]
    array([0, 1, 0])
    """
    n = X.shape[0]
    outcomes = X if isinstance(X, np.ndarray) else X.tocsc()
    info, _ = policy.begin()
    rows, node = np.arange(n), np.zeros(n, dtype=np.intp)
    if len(info) > 1:
        drawn, node = np.unique(policy.draw(X if keys is None else keys), return_inverse=True)
        info = info[drawn]
    tree, paid = _Tree(policy, n, record_beliefs), np.zeros(len(info))
    while rows.size:
        feature = policy.act(info)
        rows, node = tree.level(info, feature, paid, rows, node)
        if not rows.size:
            break
        outcome = _outcomes(outcomes, rows, node, feature, columns)
        info._check_range(outcome)
        node, parent, seen = _group(node, outcome, int(policy.problem.n_outcomes[info.stage]))
        tree.branch(parent, seen)
        paid = paid[parent] + np.where((seen >= 0) | charge_missing, info.price[parent], 0.0)
        info = _advance(info, feature != DECIDE, parent, seen, charge_missing)
    return tree.result()


def _advance(
    info: InformationState, go_on: BoolArray, parent: IntArray, seen: IntArray, charge_missing: bool
) -> InformationState:
    """Update each history with what was seen after it."""
    on = np.flatnonzero(go_on)
    if 4 * on.size < 3 * len(info):  # else a copy costs more than the likelihoods of histories that have stopped
        info, parent = info[on], (np.cumsum(go_on) - 1)[parent]
    return info.update(seen, parent, charge_missing=charge_missing)


def _outcomes(X: Any, rows: IntArray, node: IntArray, feature: IntArray, columns: IntArray | None) -> IntArray:
    """Outcome of the feature that each row's history asks for."""
    asked = feature[feature != DECIDE]
    one = bool((asked == asked[0]).all())  # wherever the order is fixed
    column = asked[:1] if one else feature[node]
    if columns is not None:
        column = columns[column]
    if column.max() >= X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, and the policy asks for feature {column.max()}.")
    if isinstance(X, np.ndarray):
        return np.asarray(X[rows, column[0] if one else column])
    outcome = np.zeros(len(rows), dtype=X.dtype)
    for j in np.unique(column):
        start, end = X.indptr[j], X.indptr[j + 1]
        dense = np.zeros(X.shape[0], dtype=X.dtype)
        dense[X.indices[start:end]] = X.data[start:end]
        of = slice(None) if one else column == j
        outcome[of] = dense[rows[of]]
    return outcome


def _group(node: IntArray, outcome: IntArray, n_outcomes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Number the distinct (history, outcome) pairs: child of each row, and parent and outcome of each child."""
    width = n_outcomes + 1
    key = outcome.astype(np.intp)
    key += node * width + 1
    n_keys = (int(node.max()) + 1) * width
    if n_keys <= 16 * key.size + 1024:
        present = np.zeros(n_keys, dtype=bool)
        present[key] = True
        distinct = np.flatnonzero(present)
        number = np.empty(n_keys, dtype=np.intp)
        number[distinct] = np.arange(distinct.size)
        child = number[key]
    else:
        distinct, child = np.unique(key, return_inverse=True)
    parent = distinct // width
    return child, parent, distinct - parent * width - 1


class _Tree:
    """The histories that instances go through, level by level, and where they end."""

    def __init__(self, policy: Policy, n: int, record: bool) -> None:
        self.policy = policy
        self.record = record
        self.leaf = np.zeros(n, dtype=np.intp)
        self.count = 0
        #: Of each level: the histories that end there, the features of all, and their branches' parents and outcomes.
        self.ends: list[IntArray] = []
        self.features: list[IntArray] = []
        self.parents: list[IntArray] = []
        self.seen: list[IntArray] = []
        self.beliefs: list[FloatArray] = []
        self.prices = [np.empty(0)]
        self.last = [np.empty((0, policy.problem.n_classes))]
        self.decisions: list[IntArray] = [np.empty(0, dtype=np.intp)]

    def level(
        self, info: InformationState, feature: IntArray, paid: FloatArray, rows: IntArray, node: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Add a level of histories; return the rows that go on and their histories."""
        stop = feature == DECIDE
        ends = np.flatnonzero(stop)
        self.ends.append(ends)
        self.features.append(feature.astype(np.int32))
        if self.record:
            self.beliefs.append(info.belief)
        if not ends.size:
            return rows, node
        belief = info.belief[ends]
        self.last.append(belief)
        self.decisions.append(self.policy.decide(belief))
        self.prices.append(paid[ends])
        done = stop[node]
        number = np.cumsum(stop) + (self.count - 1)
        self.count += ends.size
        if ends.size == stop.size:
            self.leaf[rows] = number[node]
            return rows[:0], node[:0]
        at = np.flatnonzero(done)
        self.leaf[rows[at]] = number[node[at]]
        on = np.flatnonzero(~done)
        return rows[on], node[on]

    def branch(self, parent: IntArray, seen: IntArray) -> None:
        """Add the branches of the last level."""
        # every level is kept until the end; there are never more histories than instances
        self.parents.append(parent.astype(np.int32 if self.leaf.size < 2**31 else np.intp))
        self.seen.append(seen.astype(np.int32))

    def result(self) -> Acquisition:
        path, outcome, beliefs = self._trace()
        return Acquisition(
            leaf=self.leaf,
            leaf_belief=np.concatenate(self.last),
            leaf_decision=np.concatenate(self.decisions),
            leaf_price=np.concatenate(self.prices),
            leaf_path=path,
            leaf_outcome=outcome,
            leaf_beliefs=beliefs,
        )

    def _trace(self) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Follow every leaf back to the root: features, outcomes and beliefs on its way."""
        longest = len(self.parents)
        path = np.full((longest, self.count), -1, dtype=np.int32)
        outcome = path.copy()
        beliefs = np.empty((longest + 1, self.count, self.last[0].shape[1])) if self.record else None
        start = self.count
        at: IntArray = np.empty(0, dtype=np.intp)
        for level in range(len(self.ends) - 1, -1, -1):
            # leaves are numbered level by level: those that go through this one are the last of them
            if level < longest:
                outcome[level, start:] = self.seen[level][at]
                at = self.parents[level][at]
                path[level, start:] = self.features[level][at]
            start -= self.ends[level].size
            at = np.concatenate([self.ends[level], at])
            if beliefs is not None:
                beliefs[level, start:] = self.beliefs[level][at]
                ending = slice(start, start + self.ends[level].size)
                beliefs[level + 1 :, ending] = beliefs[level, ending]
        row_major = None if beliefs is None else np.ascontiguousarray(beliefs.transpose(1, 0, 2))
        return np.ascontiguousarray(path.T), np.ascontiguousarray(outcome.T), row_major
