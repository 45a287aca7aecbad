"""Running a policy on instances: one loop over stages, each distinct history computed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
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
    leaves = _Leaves(n, policy.problem.n_classes, record_beliefs)
    info, _ = policy.begin()
    rows, node = np.arange(n), np.zeros(n, dtype=np.intp)
    if len(info) > 1:
        drawn, node = np.unique(policy.draw(X if keys is None else keys), return_inverse=True)
        info = info[drawn]
    track = _Track.first(info, record_beliefs)
    while rows.size:
        feature = policy.act(info)
        stop = feature == DECIDE
        rows, node = leaves.add(info, policy, track, stop, rows, node)
        if not rows.size:
            break
        on = np.flatnonzero(~stop)
        info, track, feature = info[on], track.take(on), feature[on]
        column = feature if columns is None else columns[feature]
        if column.max() >= X.shape[1]:
            raise ValueError(f"X has {X.shape[1]} columns, and the policy asks for feature {column.max()}.")
        outcome = _outcomes(outcomes, rows, column[node])
        info._check_range(outcome)
        child, parent, seen = _group(node, outcome, int(policy.problem.n_outcomes[info.stage]))
        price = np.where((seen >= 0) | charge_missing, info.price[parent], 0.0)
        info = info.update(seen, parent, charge_missing=charge_missing)
        track = track.extend(parent, feature[parent], seen, price, info.belief)
        node = child
    return leaves.result()


def _outcomes(columns: Any, rows: IntArray, feature: IntArray) -> IntArray:
    """Outcome of each row's feature."""
    if isinstance(columns, np.ndarray):
        same = feature.size and (feature == feature[0]).all()
        return np.asarray(columns[rows, feature[0] if same else feature])
    outcome = np.zeros(len(rows), dtype=columns.dtype)
    for j in np.unique(feature):  # one a stage where the order is fixed
        start, end = columns.indptr[j], columns.indptr[j + 1]
        dense = np.zeros(columns.shape[0], dtype=columns.dtype)
        dense[columns.indices[start:end]] = columns.data[start:end]
        of = feature == j
        outcome[of] = dense[rows[of]]
    return outcome


def _group(node: IntArray, outcome: IntArray, n_outcomes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Number the distinct (history, outcome) pairs: child of each row, and parent and outcome of each child."""
    key = node * (n_outcomes + 1) + (outcome.astype(np.intp) + 1)
    n_keys = (int(node.max()) + 1) * (n_outcomes + 1)
    if n_keys <= 4 * key.size + 1024:
        present = np.zeros(n_keys, dtype=bool)
        present[key] = True
        distinct = np.flatnonzero(present)
        number = np.cumsum(present) - 1
        child = number[key]
    else:
        distinct, child = np.unique(key, return_inverse=True)
    return child, distinct // (n_outcomes + 1), distinct % (n_outcomes + 1) - 1


@dataclass(frozen=True)
class _Track:
    """What led to each history of the frontier."""

    path: IntArray
    outcome: IntArray
    price: FloatArray
    beliefs: FloatArray | None

    @classmethod
    def first(cls, info: InformationState, record: bool) -> _Track:
        empty = np.empty((len(info), 0), dtype=np.int32)
        return cls(empty, empty, np.zeros(len(info)), info.belief[:, None] if record else None)

    def take(self, on: IntArray) -> _Track:
        beliefs = None if self.beliefs is None else self.beliefs[on]
        return _Track(self.path[on], self.outcome[on], self.price[on], beliefs)

    def extend(
        self, parent: IntArray, feature: IntArray, seen: IntArray, price: FloatArray, belief: FloatArray
    ) -> _Track:
        path = np.column_stack([self.path[parent], feature.astype(np.int32)])
        outcome = np.column_stack([self.outcome[parent], seen.astype(np.int32)])
        beliefs = None
        if self.beliefs is not None:
            beliefs = np.concatenate([self.beliefs[parent], belief[:, None]], axis=1)
        return _Track(path, outcome, self.price[parent] + price, beliefs)


class _Leaves:
    """Collects the histories at which instances stop."""

    def __init__(self, n: int, n_classes: int, record: bool) -> None:
        self.leaf = np.zeros(n, dtype=np.intp)
        self.n_classes = n_classes
        self.count = 0
        self.beliefs = [np.empty((0, n_classes))]
        self.decisions: list[IntArray] = [np.empty(0, dtype=np.intp)]
        self.tracks: list[_Track] = []
        self.record = record

    def add(
        self,
        info: InformationState,
        policy: Policy,
        track: _Track,
        stop: Any,
        rows: IntArray,
        node: IntArray,
    ) -> tuple[IntArray, IntArray]:
        """Store the stopped histories; return the rows that go on and their histories, renumbered."""
        if not stop.any():
            return rows, node
        stopped = np.flatnonzero(stop)
        belief = info.belief[stopped]
        self.beliefs.append(belief)
        self.decisions.append(policy.decide(belief))
        self.tracks.append(track.take(stopped))
        number = np.where(stop, np.cumsum(stop) - 1 + self.count, np.cumsum(~stop) - 1)
        self.count += stopped.size
        if stopped.size == stop.size:
            self.leaf[rows] = number[node]
            return rows[:0], node[:0]
        done = stop[node]
        self.leaf[rows[done]] = number[node[done]]
        return rows[~done], number[node[~done]]

    def result(self) -> Acquisition:
        longest = max((t.path.shape[1] for t in self.tracks), default=0)
        beliefs = None
        if self.record:
            none = np.empty((0, longest + 1, self.n_classes))
            beliefs = np.concatenate([none, *(_pad_beliefs(t.beliefs, longest) for t in self.tracks)])
        return Acquisition(
            leaf=self.leaf,
            leaf_belief=np.concatenate(self.beliefs),
            leaf_decision=np.concatenate(self.decisions),
            leaf_price=np.concatenate([np.empty(0), *(t.price for t in self.tracks)]),
            leaf_path=_stack([t.path for t in self.tracks], longest),
            leaf_outcome=_stack([t.outcome for t in self.tracks], longest),
            leaf_beliefs=beliefs,
        )


def _stack(parts: list[IntArray], longest: int) -> IntArray:
    padded = [np.pad(p, ((0, 0), (0, longest - p.shape[1])), constant_values=-1) for p in parts]
    return np.concatenate([np.empty((0, longest), dtype=np.int32), *padded])


def _pad_beliefs(beliefs: FloatArray | None, longest: int) -> FloatArray:
    assert beliefs is not None
    return np.pad(beliefs, ((0, 0), (0, longest + 1 - beliefs.shape[1]), (0, 0)), mode="edge")
