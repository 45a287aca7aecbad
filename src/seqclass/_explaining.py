"""How explanations are made: histories are followed once more, and the policy is asked what it expected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass._frames import is_frame, plain
from seqclass.explanation import Explanation, ExplanationStep, named
from seqclass.pomdp import Policy, acquire
from seqclass.session import Question, expected_saving

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


def explain(
    classifier: SequentialClassifier, X: Any, feature_names: Sequence[str] | Mapping[int, str] | None = None
) -> list[Explanation]:
    """Explain the decisions of a fitted classifier; see `SequentialClassifier.explain`.

    Parameters
    ----------
    classifier : SequentialClassifier
        A fitted classifier.
    X : array-like, data frame or sparse array of shape (n, n_features) or (n_features,)
        Instances in the form of the training data.
    feature_names : sequence of str of length n_features or mapping of column to str, optional
        What to call the features; by default as in training.

    Returns
    -------
    list of Explanation of length n

    Raises
    ------
    ValueError
        If a feature that is asked for has no name in ``feature_names``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> [first] = explain(SequentialClassifier().fit(X, y), X[:1])
    >>> first.steps[0].name, first.decision
    ('worst concave points', 0)
    """
    rows = _as_rows(classifier, X)
    codes, columns, keys = classifier._prepare(rows)
    policy, charged = classifier.policy_, classifier.charge_missing
    acquired = acquire(policy, codes, columns=columns, charge_missing=charged, keys=keys)
    lot = np.zeros(len(acquired.leaf), dtype=np.intp) if keys is None else policy.draw(keys)
    # instances that share a history share its expected savings
    distinct, history = np.unique(np.column_stack([acquired.leaf, lot]), axis=0, return_inverse=True)
    leaf = distinct[:, 0]
    trace = _retrace(policy, acquired.leaf_path[leaf], acquired.leaf_outcome[leaf], distinct[:, 1], charged)
    tell = _Teller(classifier, rows, trace, feature_names)
    decision = acquired.leaf_decision[acquired.leaf]
    return [tell(i, int(h), int(decision[i])) for i, h in enumerate(history.reshape(-1))]


@dataclass(frozen=True)
class _Trace:
    """What was known and expected along each of ``h`` histories; NaN beyond the stop."""

    path: IntArray
    outcome: IntArray
    belief: FloatArray
    price: FloatArray
    saving: FloatArray
    charged: bool


def _retrace(policy: Policy, path: IntArray, outcome: IntArray, lot: IntArray, charged: bool) -> _Trace:
    """Follow histories once more, and ask the policy at each step what it expects."""
    n, longest = path.shape
    problem = policy.problem
    belief = np.full((n, longest + 1, problem.n_classes), np.nan)
    price, saving = np.full((2, n, longest + 1), np.nan)
    begun, _ = policy.begin()
    widest = int(problem.n_outcomes[: longest + 1].max(initial=1))
    for part in chunks(n, 8.0 * 4 * widest * problem.n_classes):
        alive = np.arange(n)[part]
        info = begun[lot[part]]
        for stage in range(longest + 1):
            belief[alive, stage] = info.belief
            if stage < policy.n_stages:
                price[alive, stage], saving[alive, stage] = info.price, expected_saving(policy, info)
            if stage == longest:
                break
            on = np.flatnonzero(path[alive, stage] >= 0)
            alive = alive[on]
            info = info.update(outcome[alive, stage], on, charge_missing=charged)
    return _Trace(path, outcome, belief, price, saving, charged)


class _Teller:
    """Puts the explanation of each instance together."""

    def __init__(self, classifier: SequentialClassifier, rows: Any, trace: _Trace, names: Any) -> None:
        self.classifier, self.rows, self.trace, self.names = classifier, rows, trace, names
        self.classes = tuple(classifier.classes_.tolist())
        self.labels: dict[int, list[str]] = {}

    def __call__(self, row: int, history: int, decision: int) -> Explanation:
        clf, trace = self.classifier, self.trace
        n_asked = int((trace.path[history] >= 0).sum())
        beliefs = [tuple(p.tolist()) for p in trace.belief[history, : n_asked + 1]]
        steps = tuple(self._step(row, history, k, beliefs[k], beliefs[k + 1]) for k in range(n_asked))
        decisions = clf.decisions_.tolist()
        costs = (trace.belief[history, n_asked] @ clf.problem_.decision_costs).tolist()
        return Explanation(
            classes=self.classes,
            prior=beliefs[0],
            posterior=beliefs[-1],
            steps=steps,
            not_asked=self._not_asked(history, n_asked),
            decision=decisions[decision],
            decision_costs=dict(zip(decisions, costs)),
            cost=float(sum(step.paid for step in steps)),
        )

    def _step(
        self, row: int, history: int, k: int, before: tuple[float, ...], after: tuple[float, ...]
    ) -> ExplanationStep:
        clf, trace = self.classifier, self.trace
        column = int(clf._support[trace.path[history, k]])
        outcome, price = int(trace.outcome[history, k]), float(trace.price[history, k])
        seen = outcome >= 0
        return ExplanationStep(
            name=self._name(column),
            column=column,
            value=_value(clf, self.rows, row, column) if seen else None,
            outcome=outcome,
            label=self._labels(column)[outcome] if seen else None,
            price=price,
            paid=price if seen or trace.charged else 0.0,
            expected_saving=float(trace.saving[history, k]),
            before=before,
            after=after,
        )

    def _not_asked(self, history: int, stage: int) -> Question | None:
        clf, saving = self.classifier, float(self.trace.saving[history, stage])
        # at a horizon of its own a policy answers that going on costs infinitely much
        if stage >= clf.policy_.n_stages or saving == -math.inf:
            return None
        column = int(clf._support[clf.problem_.features[stage]])
        categories = () if clf.encoder_ is None else tuple(clf.encoder_.categories_.get(_key(clf, column), ()))
        price = float(self.trace.price[history, stage])
        return Question(self._name(column), column, price, saving, tuple(map(str, categories)))

    def _name(self, column: int) -> str:
        return self.classifier.feature_name(column) if self.names is None else named(self.names, column)

    def _labels(self, column: int) -> list[str]:
        if column not in self.labels:
            self.labels[column] = outcome_labels(self.classifier, column)
        return self.labels[column]


def outcome_labels(classifier: SequentialClassifier, column: int) -> list[str]:
    """Describe what a feature may show: its categories, or its bins.

    Parameters
    ----------
    classifier : SequentialClassifier
        A fitted classifier.
    column : int
        Column of the training data.

    Returns
    -------
    list of str
        One description an outcome.

    Examples
    --------
    >>> from seqclass import SequentialClassifier
    >>> outcome_labels(SequentialClassifier().fit([[0.0], [0.0], [3.0], [3.0]], [0, 0, 1, 1]), 0)
    ['< 1', '[1, 2)', '>= 2']
    """
    encoder = classifier.encoder_
    if encoder is not None and _key(classifier, column) in encoder.categories_:
        return [str(c) for c in encoder.categories_[_key(classifier, column)].tolist()]
    return classifier.coder_.labels(column)


def _key(classifier: SequentialClassifier, column: int) -> Any:
    """Name of a column in the data frame of the training data."""
    assert classifier.encoder_ is not None
    return classifier.encoder_.columns_[column]


def _as_rows(classifier: SequentialClassifier, X: Any) -> Any:
    """Return one instance or several as a matrix, a data frame where the classifier was fitted on one."""
    X = plain(X)
    if hasattr(X, "to_frame") and not hasattr(X, "columns"):
        return X.to_frame().T.infer_objects()
    if sp.issparse(X):
        X = X.reshape(1, -1) if X.ndim == 1 else X
        return X if X.format in ("csr", "csc") else X.tocsr()
    if hasattr(X, "columns") or np.ndim(X) != 1:
        return X if hasattr(X, "shape") else np.asarray(X)
    row = np.empty((1, len(X)), dtype=object)
    row[0] = X
    if classifier.encoder_ is None or row.shape[1] != len(classifier.encoder_.columns_):
        return np.asarray(X)[None]
    import pandas as pd

    return pd.DataFrame(row, columns=classifier.encoder_.columns_).infer_objects()


def _value(classifier: SequentialClassifier, rows: Any, row: int, column: int) -> float | str:
    encoder = classifier.encoder_
    value = rows.iloc[row, column] if is_frame(rows) else rows[row, column]
    return str(value) if encoder is not None and _key(classifier, column) in encoder.categories_ else float(value)
