"""Checks of what enters an observation model: outcome codes, labels, weights, priors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from seqclass._utils.arrays import FloatArray, IntArray, unmask_codes
from seqclass._utils.frames import frame_columns
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_choice, check_distribution, in_order, plain_labels
from seqclass.discretize._edges import TUNING

#: A discretised matrix: integer ndarray or scipy CSR of outcome codes, -1 where nothing is known.
Codes = Any


@contextmanager
def explain_memory(n_outcomes: IntArray, names: Sequence[Any] | None = None) -> Iterator[None]:
    """Where memory ends, name the feature, or the column, of so many outcomes that this is why."""
    try:
        yield
    except MemoryError as error:
        if n_outcomes.max(initial=0) < 1000:  # something else is too large
            raise
        widest = int(n_outcomes.argmax())
        called = f"feature {widest}" if names is None else f"column {short_repr(names[widest])}"
        text = (
            f"{called} has {n_outcomes[widest]:,} outcomes, whose tables do not fit in memory: cut it into fewer bins, "
            "group its values, or leave it out."
        )
        raise (MemoryError if names is None else ValueError)(text) from error


def check_codes(X: Any, *, n_outcomes: Any = None, fitted: IntArray | None = None, name: str = "X") -> Codes:
    """Check a discretised matrix and give it as a dense array or a canonical CSR matrix.

    ``n_outcomes`` is as a user says it, and ``fitted`` what a model has, which is checked.
    """
    names = frame_columns(X)
    if sparse.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    else:
        X = np.asarray(unmask_codes(X))
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (rows, features), got shape {X.shape}")
    if X.dtype.kind not in "iub":
        raise TypeError(f"{name} must hold integer outcome codes, got {X.dtype}; discretise it first")
    if X.dtype.kind in "ub":
        X = X.astype(np.int64 if X.dtype.itemsize == 8 else np.promote_types(X.dtype, np.int8))
    if fitted is not None and X.shape[1] != len(fitted):
        raise ValueError(f"{name} has {X.shape[1]} features, but the model was fitted with {len(fitted)}")
    _check_range(X, fitted if n_outcomes is None else check_n_outcomes(n_outcomes, X.shape[1]), name, names)
    return X


def _check_range(X: Codes, n_outcomes: IntArray | None, name: str, names: list[Any] | None) -> None:
    end = np.full(X.shape[1], TUNING.max_outcomes) if n_outcomes is None else n_outcomes
    if sparse.issparse(X):
        bad = (X.data < -1) | (X.data >= end[X.indices])
        columns, rows = X.indices[bad], np.searchsorted(X.indptr, np.flatnonzero(bad), side="right") - 1
    else:
        low, high = (X[0], X[0]) if len(X) == 1 else (X.min(axis=0, initial=0), X.max(axis=0, initial=0))
        outside = (low < -1) | (high >= end)
        columns = np.flatnonzero(outside) if outside.any() else np.arange(0)
    if columns.size:
        if not sparse.issparse(X):
            rows = np.flatnonzero((X[:, columns[0]] < -1) | (X[:, columns[0]] >= end[columns[0]]))
        column, row = int(columns[0]), int(rows[0])
        allowed = (
            f"outcomes are 0..{TUNING.max_outcomes - 1} at most"
            if n_outcomes is None
            else f"its outcomes are 0..{end[column] - 1}"
        )
        feature = column if names is None else short_repr(names[column])
        raise ValueError(
            f"{name}: feature {feature} has outcome {int(X[row, column])} in row {row}, but {allowed} (-1 where "
            "nothing is known)"
        )


def check_n_outcomes(n_outcomes: Any, n_features: int) -> IntArray:
    """Check the number of outcomes of each feature; a scalar is for all of them."""
    sizes = np.asarray(n_outcomes)
    if sizes.dtype.kind not in "iu":
        raise TypeError(f"n_outcomes must be integers, got {sizes.dtype}")
    if sizes.ndim == 0:
        sizes = np.full(n_features, sizes)
    if sizes.shape != (n_features,):
        raise ValueError(f"n_outcomes has shape {sizes.shape}, but X has {n_features} features")
    if (wrong := (sizes < 1) | (sizes > TUNING.max_outcomes)).any():
        column = int(wrong.argmax())
        raise ValueError(
            f"n_outcomes of feature {column} is {int(sizes[column])}; it must be 1 to {TUNING.max_outcomes:,}"
        )
    return sizes.astype(np.intp, copy=False)


def count_outcomes(X: Codes) -> IntArray:
    """Count outcomes of each feature as its largest code plus one, at least 1."""
    largest = X.max(axis=0)
    if sparse.issparse(largest):
        largest = largest.toarray()
    return np.maximum(np.asarray(largest).ravel().astype(np.intp) + 1, 1)


def check_labels(y: Any, n_rows: int) -> Any:
    """Check class labels and give them as a one-dimensional array."""
    labels = plain_labels(y)
    if getattr(labels, "ndim", 0) != 1:
        labels = column_or_1d(labels)
    if len(labels) != n_rows:
        raise ValueError(f"y has {len(labels)} labels, but X has {n_rows} rows")
    if n_rows == 0:
        raise ValueError("X has no rows: nothing to fit")
    check_classification_targets(labels)
    return labels


def resolve_prior(prior: Any, class_count: FloatArray, classes: Any = None) -> FloatArray:
    """Give the class prior: from counts (None), ``"uniform"``, or as given, by name where it has names."""
    n_classes = len(class_count)
    if prior is None:
        return np.asarray(class_count / class_count.sum(), dtype=np.float64)
    if isinstance(prior, str):
        check_choice(prior, "prior", ("uniform",))
        return np.full(n_classes, 1.0 / n_classes)
    return check_distribution(prior if classes is None else in_order(prior, "prior", classes), n_classes, "prior")


def blank(evidence: Codes, feature: int) -> Codes:
    if not sparse.issparse(evidence):
        if (evidence[:, feature] >= 0).any():
            evidence = evidence.copy()
            evidence[:, feature] = -1
        return evidence
    n = evidence.shape[0]
    stored = evidence.tocoo()
    keep = stored.col != feature
    data = np.concatenate([stored.data[keep], np.full(n, -1, evidence.dtype)])
    row = np.concatenate([stored.row[keep], np.arange(n)])
    column = np.concatenate([stored.col[keep], np.full(n, feature)])
    return type(evidence)((data, (row, column)), shape=evidence.shape)


def check_outcome(feature: int, outcome: npt.ArrayLike, n_outcomes: int) -> IntArray:
    """Check what instances showed of a feature: its outcomes, or -1 where it is missing."""
    seen = np.asarray(outcome)
    if seen.dtype.kind not in "iu":
        raise TypeError(f"outcomes of feature {feature} must be integers, got {seen.dtype}")
    wrong = (seen < -1) | (seen >= n_outcomes)
    if wrong.any():
        raise ValueError(
            f"feature {feature} has no outcome {int(seen[np.argmax(wrong)])}; "
            f"its outcomes are 0..{n_outcomes - 1} (-1 where it is missing)"
        )
    return seen


def raise_impossible(feature: int, outcome: int) -> NoReturn:
    """Say which outcome leaves no class."""
    raise ValueError(
        f"outcome {outcome} of feature {feature} has probability zero under every class "
        "that is still possible; smooth the likelihoods (alpha > 0) and leave no class a prior of zero."
    )
